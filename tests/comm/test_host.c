/* SPDX-License-Identifier: Apache-2.0
 *
 * What a binding for an interpreter provides (dt_host): the line of the program, which is requested only where a text
 * needs it; notice of long waits; an interruption, after which no rank waits. And which errors a rank clears alone.
 *
 * mpi: no: the ranks set the functions of the context themselves, before anything else
 */
#include "support/collectives.h"
#include "support/launch.h"

#include "base/ctx.h"
#include "comm/comm.h"

#include "dtensor/dtensor.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

typedef struct calls {
    int n_sites, n_begins, n_ends, n_checks;
    bool interrupts;
    atomic_int *n_waiting; /* ranks that wait, for all of them to see; or NULL */
} calls;

static bool site(void *user, dt_site *out) {
    ((calls *)user)->n_sites++;
    *out = (dt_site){"program.py", 17};
    return true;
}

static void wait_begin(void *user) {
    calls *self = user;
    if (self->n_begins++ == 0 && self->n_waiting)
        atomic_fetch_add(self->n_waiting, 1);
}
static void wait_end(void *user) { ((calls *)user)->n_ends++; }

static bool is_interrupted(void *user) {
    ((calls *)user)->n_checks++;
    return ((calls *)user)->interrupts;
}

static dt_host host_of(calls *to) { return (dt_host){to, site, wait_begin, wait_end, is_interrupted}; }

static void error__has_the_line_of_the_host(void **state) {
    (void)state;
    calls made = {0};
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .host = host_of(&made)});
    assert_non_null(ctx);
    dt_tensor *a = dt_ones_sized(ctx, DT_SHAPE(2, 3), NULL, 0);
    dt_tensor *b = dt_add_sized(a, a, NULL, 0);
    assert_non_null(b);
    assert_int_equal(made.n_sites, 0);
    assert_null(dt_matmul_sized(a, b, NULL, 0));
    assert_non_null(strstr(dt_error_text(ctx), "(at program.py:17)"));
    assert_int_equal(made.n_sites, 1);
    assert_true(dt_error_is_agreed(ctx));
    assert_int_equal(dt_error_clear_site(ctx, NULL), DT_OK);
    assert_false(dt_error_is_agreed(ctx));
    assert_null(dt_matmul(a, b)); /* a call with a site of its own */
    assert_null(strstr(dt_error_text(ctx), "program.py"));
    assert_int_equal(made.n_sites, 1);
    dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

/* Until n ranks wait, but for at most 30 seconds; then some more, for their checks. */
static void be_late(atomic_int *n_waiting, int64_t n) {
    for (int i = 0; i < 3000 && atomic_load(n_waiting) < n; i++)
        test_sleep(0.01);
    test_sleep(0.1);
}

/* Rank 0 is late, so that the others sleep. */
static int wait_for_rank_0(dt_ctx *ctx, void *arg) {
    calls made = {.n_waiting = arg};
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx))); /* they start together */
    ctx->host = host_of(&made);
    if (dt_rank(ctx) == 0)
        be_late(arg, dt_world(ctx) - 1);
    CHECK_OK(ctx, dt_comm_barrier_site(dt_group_world(ctx), NULL));
    CHECK(made.n_begins == made.n_ends, "%d waits began, %d ended", made.n_begins, made.n_ends);
    CHECK(dt_rank(ctx) == 0 || dt_world(ctx) == 1 || (made.n_begins == 1 && made.n_checks > 0 && made.n_sites == 1),
          "%d waits, %d checks, %d sites", made.n_begins, made.n_checks, made.n_sites);
    return 0;
}

/* The last rank does not come: rank 0 is interrupted, and no rank waits any longer. */
static int interrupt_rank_0(dt_ctx *ctx, void *arg) {
    calls made = {.interrupts = dt_rank(ctx) == 0, .n_waiting = arg};
    ctx->host = host_of(&made);
    if (dt_rank(ctx) < dt_world(ctx) - 1) {
        dt_status status = dt_comm_barrier_site(dt_group_world(ctx), NULL);
        CHECK(status != DT_OK, "%s", dt_error_text(ctx));
        CHECK(strstr(dt_error_text(ctx), "rank 0 was interrupted"), "%s", dt_error_text(ctx));
        CHECK(!dt_error_is_agreed(ctx), "%s", dt_error_text(ctx));
    } else {
        be_late(arg, dt_world(ctx) - 1);
    }
    made.interrupts = false;
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    CHECK(made.n_begins == made.n_ends, "%d waits began, %d ended", made.n_begins, made.n_ends);
    return 0;
}

static void run_waiting(int64_t n, dt_rank_fn *body) {
    atomic_int *n_waiting = mmap(NULL, sizeof *n_waiting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(n_waiting != MAP_FAILED);
    run_ranks(n, body, n_waiting);
    munmap(n_waiting, sizeof *n_waiting);
}

static void wait__notifies_the_host(void **state) {
    (void)state;
    run_waiting(1, wait_for_rank_0);
    run_waiting(3, wait_for_rank_0);
}

static void interruption__ends_the_wait_of_all(void **state) {
    (void)state;
    run_waiting(2, interrupt_rank_0);
    run_waiting(3, interrupt_rank_0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error__has_the_line_of_the_host),
        cmocka_unit_test(wait__notifies_the_host),
        cmocka_unit_test(interruption__ends_the_wait_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
