/* SPDX-License-Identifier: Apache-2.0
 *
 * First and second derivatives of elementwise functions and losses at NaN, infinities, zeros and corners: the numbers
 * that PyTorch has there.
 */
#include "autograd/backward.h"

#include <math.h>

#define N ((double)NAN)
#define I ((double)INFINITY)

static dt_tensor *leaf(dt_ctx *ctx, double value) {
    return dt_full(ctx, DT_SHAPE(1), value, .dtype = DT_F64, .requires_grad = true);
}

static void assert_value(const char *what, int i, double got, double expected) {
    bool is_equal =
        got == expected || (isnan(got) && isnan(expected)) || fabs(got - expected) <= 1e-10 * fabs(expected);
    if (!is_equal)
        fail_msg("%s %d: expected %g, got %g", what, i, expected, got);
}

enum { MAX_INPUTS = 2 };
typedef struct point {
    double x[MAX_INPUTS], first[MAX_INPUTS], second[MAX_INPUTS * MAX_INPUTS]; /* second: of each first by each x */
} point;

/* The derivatives of one element of a gradient; zeros where it does not depend on the inputs. */
static void derive(dt_tensor *of, int n, dt_tensor *const *inputs, double *out) {
    dt_tensor *grads[MAX_INPUTS] = {NULL};
    if (dt_requires_grad(of))
        assert_int_equal(dt_gradients(DT_TENSORS(of), ((dt_tensors){n, inputs}), grads, .allow_unused = true,
                                      .retain_graph = true),
                         DT_OK);
    for (int i = 0; i < n; i++)
        out[i] = grads[i] ? at(grads[i], 0) : 0;
}

static void check_point(const char *name, dt_tensor *(*f)(dt_tensor *const *), int n, const point *at_point,
                        int row) {
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *inputs[MAX_INPUTS], *grads[MAX_INPUTS];
    char what[64];
    for (int i = 0; i < n; i++)
        inputs[i] = leaf(ctx, at_point->x[i]);
    assert_int_equal(
        dt_gradients(DT_TENSORS(dt_sum(f(inputs))), ((dt_tensors){n, inputs}), grads, .create_graph = true), DT_OK);
    for (int i = 0; i < n; i++) {
        double second[MAX_INPUTS];
        snprintf(what, sizeof what, "%s: point %d: first derivative", name, row);
        assert_value(what, i, at(grads[i], 0), at_point->first[i]);
        derive(grads[i], n, inputs, second);
        snprintf(what, sizeof what, "%s: point %d: second derivative %d", name, row, i);
        for (int j = 0; j < n; j++)
            assert_value(what, j, second[j], at_point->second[i * n + j]);
    }
    assert_int_equal(dt_close(ctx), 0);
}

#define CHECK_POINTS(f, n, ...)                                                                                      \
    do {                                                                                                             \
        static const point points_[] = {__VA_ARGS__};                                                                \
        for (int i_ = 0; i_ < (int)(sizeof points_ / sizeof *points_); i_++)                                         \
            check_point(#f, f, n, &points_[i_], i_);                                                                 \
    } while (0)

static dt_tensor *power(dt_tensor *const *x) { return dt_pow(x[0], x[1]); }
static dt_tensor *power_0(dt_tensor *const *x) { return dt_pow_scalar_exponent(x[0], 0); }
static dt_tensor *power_1(dt_tensor *const *x) { return dt_pow_scalar_exponent(x[0], 1); }
static dt_tensor *power_2(dt_tensor *const *x) { return dt_pow_scalar_exponent(x[0], 2); }
static dt_tensor *root(dt_tensor *const *x) { return dt_pow_scalar_exponent(x[0], 0.5); }
static dt_tensor *of_zero(dt_tensor *const *x) { return dt_pow_scalar_self(0.0, x[0]); }
static dt_tensor *of_negative(dt_tensor *const *x) { return dt_pow_scalar_self(-1.0, x[0]); }

static void pow__has_derivatives_at_limits(void **state) {
    (void)state;
    CHECK_POINTS(power, 2, {{0, 0}, {0, 0}, {N, N, N, N}}, {{0, 1}, {1, 0}, {0, 1, N, N}},
                 {{0, 2}, {0, 0}, {2, 0, N, N}}, {{0, 0.5}, {I, 0}, {-I, N, N, N}}, {{0, -1}, {-I, -I}, {I, I, I, I}},
                 {{I, 0}, {0, I}, {0, N, 0, I}}, {{I, 2}, {I, I}, {2, I, N, I}}, {{N, 0}, {0, N}, {N, N, N, N}},
                 {{-1, 2}, {-2, N}, {2, N, N, N}}, {{-2, 0}, {0, N}, {0, N, -0.5, N}}, {{1, I}, {I, 0}, {I, N, N, 0}},
                 {{2, 0}, {0, 0.6931471805599453}, {0, 0, 0.5, 0.4804530139182014}});
    CHECK_POINTS(power_0, 1, {{0}, {0}, {0}}, {{I}, {0}, {0}}, {{N}, {0}, {0}});
    CHECK_POINTS(power_1, 1, {{0}, {1}, {0}}, {{I}, {1}, {0}}, {{N}, {1}, {0}});
    CHECK_POINTS(power_2, 1, {{0}, {0}, {2}}, {{-I}, {-I}, {2}}, {{N}, {N}, {2}});
    CHECK_POINTS(root, 1, {{0}, {I}, {-I}}, {{-0.0}, {-I}, {-I}}, {{I}, {0}, {0}}, {{N}, {N}, {N}});
    CHECK_POINTS(of_zero, 1, {{0}, {0}, {N}}, {{1}, {0}, {N}}, {{-1}, {-I}, {I}}, {{I}, {0}, {N}});
    CHECK_POINTS(of_negative, 1, {{0}, {N}, {N}}, {{-1}, {N}, {N}});
}

static dt_tensor *angle(dt_tensor *const *x) { return dt_atan2(x[0], x[1]); }
static dt_tensor *quotient(dt_tensor *const *x) {
    return dt_addcdiv(dt_zeros_like(x[0]), x[0], x[1], .value = DT_NUMBER(-2));
}

static void quotients__have_derivatives_at_limits(void **state) {
    (void)state;
    CHECK_POINTS(angle, 2, {{0, 0}, {0, 0}, {N, N, N, N}}, {{1e-300, 0}, {0, 0}, {N, N, N, N}},
                 {{I, 1}, {0, N}, {N, 0, N, N}}, {{1, I}, {N, 0}, {N, N, 0, N}}, {{1e200, 1}, {0, 0}, {0, 0, 0, 0}},
                 {{N, 1}, {N, N}, {N, N, N, N}});
    CHECK_POINTS(quotient, 2, {{1, 0}, {-I, I}, {0, I, I, N}}, {{0, 0}, {-I, N}, {0, I, I, N}},
                 {{I, 2}, {-1, I}, {0, 0.5, 0.5, -I}}, {{2, I}, {0, 0}, {0, 0, 0, N}},
                 {{N, 1}, {-2, N}, {0, 2, 2, N}});
}

static dt_tensor *entropy(dt_tensor *const *x) { return dt_binary_cross_entropy(x[0], x[1]); }
static dt_tensor *entropy_of_logits(dt_tensor *const *x) {
    dt_tensor *three = dt_full_like(dt_detach(x[0]), 3);
    return dt_binary_cross_entropy_with_logits(x[0], x[1], .pos_weight = three);
}

static void binary_cross_entropy__has_derivatives_at_limits(void **state) {
    (void)state;
    CHECK_POINTS(entropy, 2, {{0, 0.5}, {-5e11, I}, {5e23, -1e12, -I, 0}},
                 {{1, 0.5}, {5e11, -I}, {5e23, -1e12, -I, 0}}, {{0.5, 1}, {-2, 0}, {4, -4, -4, 0}});
    CHECK_POINTS(entropy_of_logits, 2, {{I, 0.5}, {0.5, -I}, {0, -1, -1, 0}}, {{-I, 0.5}, {-1.5, I}, {0, -3, -3, 0}},
                 {{0, 0.5}, {-0.5, 1.3862943611198904}, {0.5, -2, -2, 0}}, {{N, 0.5}, {N, N}, {N, N, N, 0}});
}

static dt_tensor *softplus(dt_tensor *const *x) { return dt_softplus(x[0]); }

static void softplus__has_derivatives_above_its_threshold(void **state) {
    (void)state;
    CHECK_POINTS(softplus, 1, {{20.5}, {1}, {0}}, {{I}, {1}, {0}}, {{-I}, {0}, {0}}, {{N}, {N}, {N}});
}

/* In f16, 1.2 is above the threshold 1.2 of f64. */
static void softplus__compares_with_its_threshold_in_full_precision(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_full(ctx, DT_SHAPE(1), 1.2, .dtype = DT_F16, .requires_grad = true), *grads[1];
    dt_tensor *y = dt_softplus(x, .threshold = DT_NUMBER(1.2));
    assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(y)), DT_TENSORS(x), grads), DT_OK);
    assert_value("the gradient", 0, at(grads[0], 0), 1);
    assert_int_equal(dt_close(ctx), 0);
}

/* A gradient of 1 goes to self, min or max, or to none of them. */
static void clamp__has_the_gradient_of_what_it_returns(void **state) {
    (void)state;
    static const struct {
        double x, min, max, grads[3];
    } rows[] = {
        {0, 1, 2, {0, 1, 0}}, {1, 1, 2, {1, 0, 0}}, {1.5, 1, 2, {1, 0, 0}}, {2, 1, 2, {1, 0, 0}},
        {3, 1, 2, {0, 0, 1}}, {0, 2, 1, {0, 0, 1}}, {1, 2, 1, {0, 0, 1}},   {1.5, 2, 1, {0, 0, 1}},
        {2, 2, 1, {0, 0, 1}}, {3, 2, 1, {0, 0, 1}}, {N, 2, 1, {0, 0, 1}},   {0, 1, 1, {0, 0, 0}},
        {1, 1, 1, {1, 0, 0}}, {2, 1, 1, {0, 0, 1}}, {N, 1, 2, {0, 0, 0}},   {0, N, 2, {0, 0, 0}},
        {1, 1, N, {0, 0, 0}},
    };
    dt_ctx *ctx = dt_init(NULL);
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        dt_tensor *inputs[] = {leaf(ctx, rows[i].x), leaf(ctx, rows[i].min), leaf(ctx, rows[i].max)}, *grads[3];
        for (int in_place = 0; in_place < 2; in_place++) {
            dt_tensor *y = in_place ? dt_clamp_tensor_(dt_clone(inputs[0]), .min = inputs[1], .max = inputs[2])
                                    : dt_clamp_tensor(inputs[0], .min = inputs[1], .max = inputs[2]);
            assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(y)), ((dt_tensors){3, inputs}), grads), DT_OK);
            for (int k = 0; k < 3; k++)
                assert_value("clamp by tensors", i, at(grads[k], 0), rows[i].grads[k]);
        }
        dt_tensor *y = dt_clamp(inputs[0], .min = DT_NUMBER(rows[i].min), .max = DT_NUMBER(rows[i].max));
        assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(y)), DT_TENSORS(inputs[0]), grads), DT_OK);
        assert_value("clamp by numbers", i, at(grads[0], 0), rows[i].grads[0]);
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* 1.5625 / -0.1738 is -8.99, which bf16 rounds to -9. */
static void div__truncates_the_quotient_before_it_is_rounded(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_full(ctx, DT_SHAPE(3), 1.5625, .dtype = DT_BF16);
    dt_tensor *y = dt_full(ctx, DT_SHAPE(3), -0.173828125, .dtype = DT_BF16);
    assert_value("div", 0, at(dt_div(x, y, .rounding_mode = "trunc"), 0), -8);
    assert_int_equal(dt_close(ctx), 0);
}

/* Logits that are large and near each other: what is saved for the gradient must not be rounded to f16. */
static void cross_entropy__is_precise_for_large_logits(void **state) {
    (void)state;
    static const double logits[] = {1000, 1000, -3};
    static const int64_t class = 0;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *target = dt_from_memory(ctx, &class, DT_SHAPE(), DT_I64), *grads[1];
    for (int recorded = 0; recorded < 2; recorded++) {
        dt_tensor *x = dt_to(dt_from_memory(ctx, logits, DT_SHAPE(3), DT_F64), DT_F16);
        assert_int_equal(dt_set_requires_grad(x, true), DT_OK);
        dt_tensor *loss = dt_cross_entropy(x, target);
        assert_value("the loss", recorded, at(loss, 0), 0.693359375); /* log(2) in f16 */
        assert_int_equal(dt_gradients(DT_TENSORS(loss), DT_TENSORS(x), grads, .create_graph = recorded), DT_OK);
        for (int64_t i = 0; i < 2; i++)
            if (!(fabs(at(grads[0], i) - (i == 0 ? -0.5 : 0.5)) <= 0x1p-11))
                fail_msg("the gradient %lld: got %g", (long long)i, at(grads[0], i));
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* One class has no loss, whatever its logit, its probability and its weight are. */
static void cross_entropy__of_one_class_is_0(void **state) {
    (void)state;
    static const double numbers[] = {2.3, 0.7, 1.9, -17.3};
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_to(dt_from_memory(ctx, numbers, DT_SHAPE(4, 1), DT_F64), DT_F32);
    dt_tensor *weight = dt_full(ctx, DT_SHAPE(1), 1.7), *class = dt_zeros(ctx, DT_SHAPE(4), .dtype = DT_I64);
    dt_tensor *losses[] = {
        dt_cross_entropy(x, dt_abs(x), .weight = weight, .reduction = "sum"),
        dt_cross_entropy(x, class, .weight = weight, .label_smoothing = DT_REAL(0.25), .reduction = "sum"),
    };
    for (int i = 0; i < 2; i++)
        assert_true(at(losses[i], 0) == 0);
    assert_int_equal(dt_close(ctx), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pow__has_derivatives_at_limits),
        cmocka_unit_test(quotients__have_derivatives_at_limits),
        cmocka_unit_test(binary_cross_entropy__has_derivatives_at_limits),
        cmocka_unit_test(softplus__has_derivatives_above_its_threshold),
        cmocka_unit_test(softplus__compares_with_its_threshold_in_full_precision),
        cmocka_unit_test(clamp__has_the_gradient_of_what_it_returns),
        cmocka_unit_test(div__truncates_the_quotient_before_it_is_rounded),
        cmocka_unit_test(cross_entropy__is_precise_for_large_logits),
        cmocka_unit_test(cross_entropy__of_one_class_is_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
