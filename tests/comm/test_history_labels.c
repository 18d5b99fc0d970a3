/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels of the calls of a mesh: ranks that make the same calls may have other labels at other places.
 */
#include "comm/comm.h"
#include "support/launch.h"

#include <dtensor/dtensor.h>

#include <unistd.h>

static const int64_t worlds[] = {2, 3, 5};

/* Rank 0 has more labels than the others: the label of a call that all make is close to the end of its memory. */
static int call_with_nearly_full_labels(dt_ctx *ctx, void *arg) {
    const dt__board *board = dt__runtime_of(ctx)->board;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    (void)arg;
    for (uint64_t i = 0; dt_rank(ctx) == 0 && board->label_bytes < DT__LABEL_BYTES - DT__MAX_LABEL; i++)
        CHECK(dt__label_new(ctx, i, "a call of another program that only rank 0 has a label of"), "%zu",
              board->label_bytes);
    dt_tensor *y = dt_relu(x);
    if (dt_rank(ctx) > 0)
        usleep(400000); /* meanwhile rank 0 waits, and compares the calls */
    CHECK(dt_redistribute(y, "R"), "%s", dt_error_text(ctx));
    CHECK(dt_rank(ctx) > 0 || board->label_bytes > DT__LABEL_BYTES - DT__MAX_LABEL, "%zu", board->label_bytes);
    return 0;
}

static void labels__need_not_be_equal(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], call_with_nearly_full_labels, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels__need_not_be_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
