/* SPDX-License-Identifier: Apache-2.0
 *
 * The default eps of rms_norm: that of the dtype that is computed in, which is f32 for half-precision numbers. And a
 * whole input with a sharded weight: each rank makes its part of the rows, and nothing moves.
 */
#include "dispatch/calls.h"

#include "support/ranks.h"

#include <math.h>

static void rms_norm__of_small_half_precision_numbers_has_a_mean_square_of_one(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const dt_dtype dtypes[] = {DT_F16, DT_BF16, DT_F32, DT_F64};
    for (int i = 0; i < 4; i++) {
        dt_tensor *x = dt_full(ctx, DT_SHAPE(2, 4), 0x1p-6, .dtype = dtypes[i]);
        const double got = calls_element(dt_rms_norm(x, DT_SHAPE(4)), 0);
        if (!(got > 0.99 && got < 1.01))
            fail_msg("%s: expected 1, got %g", dt_dtype_name(dtypes[i]), got);
    }
    assert_int_equal(dt_close(ctx), 0);
}

enum { ROWS = 3, SIZE = 4 };

/* Result and gradients of a product of the norm with numbers; plain without a mesh. */
static dt_tensor *norm_of(dt_ctx *ctx, dt_mesh *mesh, const char *place, const char *weight_place,
                          dt_tensor **grads) {
    dt_tensor *x = dt_reshape(dt_sin(dt_arange(ctx, 1, 1 + ROWS * SIZE, 1, .dtype = DT_F64)), DT_SHAPE(ROWS, SIZE));
    dt_tensor *w = dt_cos(dt_arange(ctx, 0, SIZE, 1, .dtype = DT_F64)), *by = dt_exp(x);
    if (mesh) {
        x = dt_distribute_tensor(x, mesh, place);
        w = dt_distribute_tensor(w, mesh, weight_place);
        by = dt_distribute_tensor(by, mesh, "R,R");
    }
    dt_set_requires_grad(x, true);
    dt_set_requires_grad(w, true);
    dt_tensor *y = dt_rms_norm(x, DT_SHAPE(SIZE), .weight = w);
    dt_backward(dt_sum(dt_mul(y, by)));
    grads[0] = dt_grad(x);
    grads[1] = dt_grad(w);
    return y;
}

static int check_near(dt_tensor *got, dt_tensor *expected, const char *what) {
    dt_tensor *full = dt_contiguous(dt_full_tensor(got));
    CHECK(full, "%s", dt_error_text(got->ctx));
    for (int64_t i = 0; i < dt_tensor_elements(expected); i++)
        CHECK(fabs(calls_element(full, i) - calls_element(expected, i)) < 1e-13, "%s, element %lld: %g, expected %g",
              what, (long long)i, calls_element(full, i), calls_element(expected, i));
    return 0;
}

/* Weights of four elements on more ranks, too: some have none, and the same statistics. */
static int compare_parts(dt_ctx *ctx, void *arg) {
    const char *const *places = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, places[0]);
    dt_tensor *expected[2], *grads[2], *plain = norm_of(ctx, NULL, NULL, NULL, expected);
    CHECK_OK(ctx, dt_comm_stats_begin(ctx));
    dt_tensor *y = dt_rms_norm(dt_ones(ctx, DT_SHAPE(ROWS, SIZE), .mesh = mesh), DT_SHAPE(SIZE),
                               .weight = dt_ones(ctx, DT_SHAPE(SIZE), .mesh = mesh, .place = places[2]));
    int64_t n = dt_comm_stats(ctx, &(dt_comm_filter){0}).n;
    dt_comm_stats_end(ctx);
    CHECK(y && n == 0, "expected no collective, got %lld: %s", (long long)n, dt_error_text(ctx));
    y = norm_of(ctx, mesh, places[1], places[2], grads);
    CHECK(y, "%s", dt_error_text(ctx));
    return check_near(y, plain, "result") || check_near(grads[0], expected[0], "gradient of the input") ||
           check_near(grads[1], expected[1], "gradient of the weight");
}

static void rms_norm__of_a_whole_input_with_a_sharded_weight_moves_nothing(void **state) {
    (void)state;
    static const char *const places[][3] = {
        {"2,1", "R,R", "S(0),R"}, {"3,1", "R,R", "S(0),R"},       {"7,1", "R,R", "S(0),R"},
        {"2,2", "R,R", "R,S(0)"}, {"2,3", "S(1),R", "S(0),S(0)"}, {"2,3", "S(0),R", "R,S(0)"},
    };
    static const int64_t n_ranks[] = {2, 3, 7, 4, 6, 6};
    for (int i = 0; i < 6; i++)
        run_ranks(n_ranks[i], compare_parts, (void *)places[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rms_norm__of_small_half_precision_numbers_has_a_mean_square_of_one),
        cmocka_unit_test(rms_norm__of_a_whole_input_with_a_sharded_weight_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
