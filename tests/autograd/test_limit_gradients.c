/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients where a function has a limit or a corner, or nothing to average: the numbers that PyTorch has there.
 */
#include "autograd/backward.h"

#include <math.h>

static dt_tensor *leaf(dt_ctx *ctx, double value) {
    return dt_full(ctx, DT_SHAPE(1), value, .dtype = DT_F64, .requires_grad = true);
}

static void assert_near(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-15))
        fail_msg("expected %g, got %g", expected, got);
}

static double slope(dt_tensor *result, dt_tensor *of) {
    dt_tensor *grads[1];
    assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(result)), DT_TENSORS(of), grads), DT_OK);
    return at(grads[0], 0);
}

static void xlogy__has_the_logarithm_as_gradient_at_zero(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = leaf(ctx, 0), *y = leaf(ctx, 2), *none = leaf(ctx, 0);
    assert_near(slope(dt_xlogy(x, y), x), log(2));
    assert_near(slope(dt_xlogy_scalar_other(x, DT_NUMBER(2)), x), log(2));
    assert_near(slope(dt_xlogy(x, none), x), 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void logaddexp__has_a_gradient_at_infinity(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = leaf(ctx, (double)INFINITY), *y = leaf(ctx, 2), *sum = dt_logaddexp(x, y);
    assert_near(slope(sum, x), 1);
    assert_near(slope(dt_logaddexp(x, y), y), 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void limits__have_no_gradient(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const double limits[] = {0, 6, -1, 1};
    for (int i = 0; i < 4; i++) {
        dt_tensor *x = leaf(ctx, limits[i]);
        assert_near(slope(i < 2 ? dt_relu6(x) : dt_hardtanh(x), x), 0);
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* The loss is NaN, but no logit changes it. */
static void nll_loss__of_ignored_classes_only_has_no_gradient(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, 3), .requires_grad = true);
    dt_tensor *target = dt_full(ctx, DT_SHAPE(2), -100, .dtype = DT_I64);
    dt_tensor *loss = dt_nll_loss(x, target);
    assert_true(isnan(dt_item(loss)));
    dt_tensor *grads[1];
    assert_int_equal(dt_gradients(DT_TENSORS(loss), DT_TENSORS(x), grads), DT_OK);
    for (int64_t i = 0; i < 6; i++)
        assert_near(at(dt_flatten(grads[0]), i), 0);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xlogy__has_the_logarithm_as_gradient_at_zero),
        cmocka_unit_test(logaddexp__has_a_gradient_at_infinity),
        cmocka_unit_test(limits__have_no_gradient),
        cmocka_unit_test(nll_loss__of_ignored_classes_only_has_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
