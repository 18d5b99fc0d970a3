/* SPDX-License-Identifier: Apache-2.0
 *
 * Whom errors of passed deadlines name: of ranks that wait for each other, the one at the end of the chain.
 *
 * mpi: no: ranks must begin to wait at different times before one deadline
 */
#include "support/ranks.h"

#include "base/ctx.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rank 0 waits for rank 1, which waits for rank 2, which is busy. Rank 0's deadline passes first. */
static int wait_in_a_chain(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t rank = dt_rank(ctx);
    dt_group *first = dt_group_new(ctx, (int64_t[]){0, 1}, 2), *second = dt_group_new(ctx, (int64_t[]){1, 2}, 2);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    if (rank > 0)
        usleep(rank == 1 ? 700000 : 4000000);
    if (rank == 2)
        return 0;
    dt_status status = dt_comm_barrier(rank == 0 ? first : second);
    CHECK(status == DT_ERR_TIMEOUT, "%s: %s", dt_status_name(status), dt_error_text(ctx));
    const char *expected = rank == 0 ? ": rank 2 did not arrive within 2 s, for which rank 1 waits;"
                                     : ": rank 2 did not arrive within 2 s;";
    CHECK(strstr(dt_error_text(ctx), expected), "expected \"%s\", got %s", expected, dt_error_text(ctx));
    ctx->status = DT_OK; /* the error is expected */
    return 0;
}

static void deadline__names_the_rank_at_the_end_of_the_chain(void **state) {
    (void)state;
    setenv("DTENSOR_TIMEOUT", "2", 1);
    run_ranks(3, wait_in_a_chain, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadline__names_the_rank_at_the_end_of_the_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
