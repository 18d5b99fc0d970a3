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

static void assert_value(double got, double expected) {
    if (!(got == expected || (isnan(got) && isnan(expected))))
        fail_msg("expected %g, got %g", expected, got);
}

/* d/dx and d2/dx2 of f at x. */
static void assert_slopes(dt_ctx *ctx, dt_tensor *(*of)(dt_tensor *), double x, double first, double second) {
    dt_tensor *at_x = leaf(ctx, x), *grads[1], *seconds[1];
    assert_int_equal(dt_gradients(DT_TENSORS(of(at_x)), DT_TENSORS(at_x), grads, .create_graph = true), DT_OK);
    assert_value(at(grads[0], 0), first);
    if (!dt_requires_grad(grads[0])) { /* a gradient that does not depend on x */
        assert_value(0, second);
        return;
    }
    assert_int_equal(dt_gradients(DT_TENSORS(grads[0]), DT_TENSORS(at_x), seconds), DT_OK);
    assert_value(at(seconds[0], 0), second);
}

static dt_tensor *elu(dt_tensor *x) { return dt_elu(x); }
static dt_tensor *celu(dt_tensor *x) { return dt_celu(x); }
static dt_tensor *selu(dt_tensor *x) { return dt_selu(x); }
static dt_tensor *hardswish(dt_tensor *x) { return dt_hardswish(x); }
static dt_tensor *gelu(dt_tensor *x) { return dt_gelu(x); }
static dt_tensor *gelu_by_tanh(dt_tensor *x) { return dt_gelu(x, .approximate = "tanh"); }
static dt_tensor *threshold(dt_tensor *x) { return dt_threshold(x, 0.5, -1); }
static dt_tensor *hardshrink(dt_tensor *x) { return dt_hardshrink(x); }
static dt_tensor *unlimited_hardshrink(dt_tensor *x) { return dt_hardshrink(x, .lambd = DT_NUMBER(-0.5)); }

/* exp(x) overflows from 710 on; its part of the gradient must not become 0 times infinity. */
static void activations__have_slopes_at_corners_and_far_away(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    static const double far_away[] = {1000, (double)INFINITY};
    for (int i = 0; i < 2; i++) {
        assert_slopes(ctx, elu, far_away[i], 1, 0);
        assert_slopes(ctx, celu, far_away[i], 1, 0);
        assert_slopes(ctx, selu, far_away[i], 1.0507009873554804934, 0);
        assert_slopes(ctx, hardswish, far_away[i], 1, 0);
    }
    assert_slopes(ctx, gelu, 1e200, 1, 0);
    assert_slopes(ctx, gelu_by_tanh, 1e100, 1, 0);
    assert_slopes(ctx, elu, 0, 1, 0);
    assert_slopes(ctx, hardshrink, 0.5, 0, 0);
    assert_slopes(ctx, unlimited_hardshrink, 0, 1, 0);
    assert_slopes(ctx, hardswish, -3, 0, 0);
    assert_slopes(ctx, hardswish, 3, 1, 0);
    assert_slopes(ctx, threshold, (double)NAN, 1, 0);
    assert_int_equal(dt_close(ctx), 0);
}

static void remainder__has_a_second_derivative_at_zero(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = leaf(ctx, 0), *y = leaf(ctx, 0.5), *grads[1], *seconds[2];
    assert_int_equal(dt_gradients(DT_TENSORS(dt_remainder(x, y)), DT_TENSORS(y), grads, .create_graph = true), DT_OK);
    assert_int_equal(dt_gradients(DT_TENSORS(grads[0]), DT_TENSORS(x, y), seconds, .allow_unused = true), DT_OK);
    for (int i = 0; i < 2; i++)
        assert_value(seconds[i] ? at(seconds[i], 0) : 0, 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* The squares of the coordinates neither wrap around nor are a divisor of 0. */
static void atan2__has_gradients_beside_integers_and_at_zero(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = leaf(ctx, 0), *y = dt_full(ctx, DT_SHAPE(1), 20, .dtype = DT_U8);
    assert_value(slope(dt_atan2(leaf(ctx, 0), x), x), 0);
    assert_near(slope(dt_atan2(y, x), x), -1.0 / 20);
    assert_int_equal(dt_close(ctx), 0);
}

/* What a comparison has overwritten does not change its result. */
static void comparisons__in_place_end_the_gradient(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = leaf(ctx, 1), *y = leaf(ctx, 2);
    assert_value(slope(dt_lt_(dt_clone(x), y), x), 0);
    assert_value(slope(dt_logical_not_(dt_clone(x)), x), 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* The gradient does not depend on rows of the padding index, so that its own gradient is 0 there. */
static void embedding__has_no_second_derivative_at_padding(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    const int64_t indices[] = {2, 0}, paddings[] = {2, -1};
    dt_tensor *index = dt_from_memory(ctx, indices, DT_SHAPE(2), DT_I64), *grads[1], *seconds[1];
    for (int i = 0; i < 2; i++) {
        dt_tensor *weight = dt_ones(ctx, DT_SHAPE(3, 1), .requires_grad = true);
        dt_tensor *given = dt_ones(ctx, DT_SHAPE(2, 1), .requires_grad = true);
        dt_tensor *out = dt_embedding(index, weight, .padding_idx = DT_INT(paddings[i]));
        assert_int_equal(
            dt_gradients(DT_TENSORS(out), DT_TENSORS(weight), grads, .output_grads = &given, .create_graph = true),
            DT_OK);
        assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(grads[0])), DT_TENSORS(given), seconds), DT_OK);
        assert_value(at(dt_flatten(seconds[0]), 0), 0);
        assert_value(at(dt_flatten(seconds[0]), 1), 1);
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* The mean of nothing is NaN, but no gradient is. */
static void mean_loss__of_nothing_has_second_derivatives(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(0, 3), .requires_grad = true), *y = dt_zeros(ctx, DT_SHAPE(0, 3));
    dt_tensor *losses[] = {dt_mean(x), dt_mse_loss(x, y), dt_cross_entropy(x, y)};
    for (int i = 0; i < 3; i++) {
        dt_tensor *given = dt_ones(ctx, DT_SHAPE(), .requires_grad = true), *grads[1], *seconds[1];
        assert_int_equal(
            dt_gradients(DT_TENSORS(losses[i]), DT_TENSORS(x), grads, .output_grads = &given, .create_graph = true),
            DT_OK);
        assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(grads[0])), DT_TENSORS(given), seconds), DT_OK);
        assert_value(at(seconds[0], 0), 0);
    }
    assert_int_equal(dt_close(ctx), 0);
}

static void clamp__by_a_tensor_has_no_gradient_at_nan(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = leaf(ctx, (double)NAN), *bound = leaf(ctx, 1);
    assert_value(slope(dt_clamp_min_tensor(x, bound), bound), 0);
    assert_value(slope(dt_clamp_max_tensor(x, bound), bound), 0);
    assert_int_equal(dt_close(ctx), 0);
}

/* log_softmax of a row with an infinite logit is NaN, and so are all its gradients. */
static void cross_entropy__of_an_infinite_logit_is_nan(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    const double logits[] = {1, (double)INFINITY, 2};
    const int64_t class = 0;
    dt_tensor *target = dt_from_memory(ctx, &class, DT_SHAPE(), DT_I64), *grads[1];
    for (int recorded = 0; recorded < 2; recorded++) {
        dt_tensor *x = dt_from_memory(ctx, logits, DT_SHAPE(3), DT_F64);
        assert_int_equal(dt_set_requires_grad(x, true), DT_OK);
        assert_int_equal(
            dt_gradients(DT_TENSORS(dt_cross_entropy(x, target)), DT_TENSORS(x), grads, .create_graph = recorded),
            DT_OK);
        for (int64_t i = 0; i < 3; i++)
            assert_value(at(grads[0], i), (double)NAN);
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* Keys that are all masked: the result and all derivatives are 0. */
static void attention__without_keys_has_second_derivatives(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *q = dt_ones(ctx, DT_SHAPE(2, 3), .requires_grad = true), *k = dt_ones(ctx, DT_SHAPE(4, 3)), *grads[1];
    dt_tensor *mask = dt_full(ctx, DT_SHAPE(2, 4), -INFINITY), *seconds[1];
    dt_tensor *out = dt_scaled_dot_product_attention(q, k, k, .attn_mask = mask);
    assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(out)), DT_TENSORS(q), grads, .create_graph = true), DT_OK);
    assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(grads[0])), DT_TENSORS(q), seconds, .allow_unused = true), DT_OK);
    for (int64_t i = 0; i < 6; i++) {
        assert_value(at(dt_flatten(grads[0]), i), 0);
        assert_value(seconds[0] ? at(dt_flatten(seconds[0]), i) : 0, 0);
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* Statistics of f16 rows are f64 numbers, whether the gradient is recorded or not. */
static void layer_norm__of_half_precision_has_one_gradient(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    const double values[] = {0, 1, 2, 3, 4, 5, 6};
    dt_tensor *numbers = dt_to(dt_from_memory(ctx, values, DT_SHAPE(7), DT_F64), DT_F16), *grads[2];
    dt_tensor *x = dt_add_scalar(numbers, 100), *weights = dt_mul(numbers, numbers);
    assert_int_equal(dt_set_requires_grad(x, true), DT_OK);
    for (int recorded = 0; recorded < 2; recorded++) {
        dt_tensor *out = dt_layer_norm(x, DT_SHAPE(7));
        assert_int_equal(dt_gradients(DT_TENSORS(out), DT_TENSORS(x), &grads[recorded], .output_grads = &weights,
                                      .create_graph = recorded),
                         DT_OK);
    }
    for (int64_t i = 0; i < 7; i++)
        assert_value(at(grads[1], i), at(grads[0], i));
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xlogy__has_the_logarithm_as_gradient_at_zero),
        cmocka_unit_test(logaddexp__has_a_gradient_at_infinity),
        cmocka_unit_test(limits__have_no_gradient),
        cmocka_unit_test(nll_loss__of_ignored_classes_only_has_no_gradient),
        cmocka_unit_test(activations__have_slopes_at_corners_and_far_away),
        cmocka_unit_test(remainder__has_a_second_derivative_at_zero),
        cmocka_unit_test(atan2__has_gradients_beside_integers_and_at_zero),
        cmocka_unit_test(comparisons__in_place_end_the_gradient),
        cmocka_unit_test(embedding__has_no_second_derivative_at_padding),
        cmocka_unit_test(mean_loss__of_nothing_has_second_derivatives),
        cmocka_unit_test(clamp__by_a_tensor_has_no_gradient_at_nan),
        cmocka_unit_test(cross_entropy__of_an_infinite_logit_is_nan),
        cmocka_unit_test(attention__without_keys_has_second_derivatives),
        cmocka_unit_test(layer_norm__of_half_precision_has_one_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
