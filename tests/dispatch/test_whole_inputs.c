/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows whose kernel makes a part of the output from a whole input, with rows of other mesh dims that shard this
 * input along the same dim: every pair of placements of two matrices on meshes of two dims, with uneven and empty
 * shards, has the values of plain tensors.
 */
#include "dispatch/calls.h"
#include "support/ranks.h"

#include <math.h>

enum { ROWS = 5, COLUMNS = 3, N_CALLS = 4, N_PLACES = 9 };

static const char *const places[N_PLACES] = {"R,R",       "R,S(0)", "R,S(1)",    "S(0),R",   "S(0),S(0)",
                                             "S(0),S(1)", "S(1),R", "S(1),S(0)", "S(1),S(1)"};

static dt_tensor *run_call(int i, dt_tensor *x, dt_tensor *y) {
    const dt_shape sizes = DT_SHAPE(ROWS, COLUMNS);
    if (i == 0)
        return dt_layer_norm(x, sizes, .bias = y);
    if (i == 1)
        return dt_rms_norm(x, sizes, .weight = y);
    if (i == 2)
        return dt_slice_scatter(x, y, 0, 0, ROWS, 1);
    return dt_slice_scatter(x, dt_narrow(y, 1, 0, 2), 1, 1, COLUMNS, 1);
}

static int check_call(int i, dt_mesh *mesh, const char *place, const char *other, dt_tensor *x, dt_tensor *y) {
    dt_tensor *expected = dt_contiguous(run_call(i, x, y));
    dt_tensor *made = run_call(i, calls_distribute(x, mesh, place), calls_distribute(y, mesh, other));
    dt_tensor *full = dt_contiguous(dt_full_tensor(made));
    CHECK(full && expected, "call %d of %s and %s: %s", i, place, other, dt_error_text(x->ctx));
    for (int64_t e = 0; e < ROWS * COLUMNS; e++)
        CHECK(fabs(calls_element(full, e) - calls_element(expected, e)) < 1e-13,
              "call %d of %s and %s gives %s, whose element %d is %.17g, expected %.17g", i, place, other,
              calls_placements(made), (int)e, calls_element(full, e), calls_element(expected, e));
    return 0;
}

static int compare_all(dt_ctx *ctx, void *arg) {
    dt_mesh *mesh = dt_mesh_new(ctx, arg);
    const dt_shape sizes = DT_SHAPE(ROWS, COLUMNS);
    dt_tensor *x = dt_reshape(dt_sin(dt_arange(ctx, 1, 1 + ROWS * COLUMNS, 1, .dtype = DT_F64)), sizes);
    dt_tensor *y = dt_cos(dt_mul_scalar(x, 7));
    for (int k = 0; k < N_CALLS * N_PLACES * N_PLACES; k++) {
        dt_scope scope = dt_scope_begin(ctx);
        const int failed =
            check_call(k / (N_PLACES * N_PLACES), mesh, places[k / N_PLACES % N_PLACES], places[k % N_PLACES], x, y);
        if (failed)
            return failed;
        dt_scope_end(scope);
    }
    return 0;
}

static void parts__of_whole_inputs_fit_shards_of_other_mesh_dims(void **state) {
    (void)state;
    run_ranks(4, compare_all, (void *)"2,2");
    run_ranks(6, compare_all, (void *)"3,2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts__of_whole_inputs_fit_shards_of_other_mesh_dims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
