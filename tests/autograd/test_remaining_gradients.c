/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of inputs first and of parameters later: together they are those of dt_backward, bit by bit, and what is
 * computed when.
 */
#include "autograd/backward.h"

enum { LAYERS = 4, WIDTH = 6 };

typedef struct stage {
    dt_tensor *w[LAYERS], *b[LAYERS], *scale; /* the scale is used by every layer */
} stage;

static stage make_stage(dt_ctx *ctx, dt_mesh *mesh) {
    stage s;
    for (int i = 0; i < LAYERS; i++) {
        s.w[i] = calls_distribute(calls_counting(ctx, DT_F32, DT_SHAPE(WIDTH, WIDTH), -0.4, 0.02 + 0.003 * i), mesh,
                                  i % 2 ? "S(1)" : "S(0)");
        s.b[i] = calls_distribute(calls_counting(ctx, DT_F32, DT_SHAPE(WIDTH), -0.1, 0.03), mesh, "R");
        (void)dt_set_requires_grad(s.w[i], true);
        (void)dt_set_requires_grad(s.b[i], true);
    }
    s.scale = calls_distribute(calls_counting(ctx, DT_F32, DT_SHAPE(WIDTH), 0.9, 0.05), mesh, "R");
    (void)dt_set_requires_grad(s.scale, true);
    return s;
}

static dt_tensor *forward(const stage *s, dt_tensor *x) {
    for (int i = 0; i < LAYERS; i++)
        x = dt_mul(dt_tanh(dt_linear(x, s->w[i], .bias = s->b[i])), dt_exp(s->scale)); /* exp leads to a leaf only */
    return x;
}

static dt_tensor *grad_at(const stage *s, int i) {
    return dt_grad(i < LAYERS ? s->w[i] : i < 2 * LAYERS ? s->b[i - LAYERS] : s->scale);
}

static bool same_bits(dt_tensor *a, dt_tensor *b) {
    return a && b && a->spec == b->spec &&
           (!a->data || !memcmp(a->data, b->data, (size_t)dt_tensor_local_elements(a) * dt_dtype_size(a->dtype)));
}

static int check_bits(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    stage together = make_stage(ctx, mesh), apart = make_stage(ctx, mesh);
    dt_tensor *full = calls_counting(ctx, DT_F32, DT_SHAPE(5, WIDTH), -1, 0.07), *inputs[2], *grads[1];
    for (int i = 0; i < 2; i++) {
        inputs[i] = calls_distribute(full, mesh, "S(0)");
        CHECK_OK(ctx, dt_set_requires_grad(inputs[i], true));
    }
    for (int step = 0; step < 3; step++) { /* micro batches: gradients of parameters add up */
        dt_tensor *y = forward(&together, inputs[0]), *z = forward(&apart, inputs[1]);
        dt_tensor *grad = dt_ones(ctx, DT_SHAPE(5, WIDTH), .mesh = mesh, .place = "S(0)");
        CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(inputs[0])));
        CHECK_OK(ctx, dt_backward(y, .grad = grad));
        dt_rest *rest = NULL;
        dt_tensor *before = step ? NULL : dt_grad(apart.w[0]);
        CHECK_OK(ctx,
                 dt_gradients(DT_TENSORS(z), DT_TENSORS(inputs[1]), grads, .output_grads = &grad, .rest = &rest));
        CHECK(rest && !before && (step || !dt_grad(apart.w[0])), "nothing of the parameters yet");
        CHECK(same_bits(dt_grad(inputs[0]), grads[0]) && !dt_grad(inputs[1]), "the gradient of the input");
        CHECK_OK(ctx, dt_backward_rest(rest));
        for (int i = 0; i <= 2 * LAYERS; i++)
            CHECK(same_bits(grad_at(&together, i), grad_at(&apart, i)), "step %d: parameter %d", step, i);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void rest__has_the_bits_of_one_walk(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, check_bits, NULL);
}

static int n_products;
static dt_tensor *count(dt_tensor *grad, void *user) {
    (void)user;
    n_products++;
    return grad;
}

static void rest__is_computed_later(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3, 4), .requires_grad = true), *grads[1];
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(2, 4), .requires_grad = true), *y = dt_sum(dt_linear(x, w));
    dt_tensor *v = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true), *other = dt_sum(dt_exp(v));
    assert_true(dt_grad_hook_add(w, count, NULL) > 0);
    dt_rest *rest = NULL;
    /* Of two outputs, where one does not lead to the input. */
    assert_int_equal(dt_gradients(DT_TENSORS(y, other), DT_TENSORS(x), grads, .rest = &rest), DT_OK);
    assert_true(n_products == 0 && at(grads[0], 0) == 2 && !dt_grad(w) && !dt_grad(v));
    assert_int_equal(dt_backward_rest(rest), DT_OK);
    assert_true(n_products == 1 && at(dt_grad(w), 0) == 3 && !dt_grad(x) && at(dt_grad(v), 0) > 2.7);
    /* The graph is freed by both together. */
    assert_int_equal(dt_gradients(DT_TENSORS(y), DT_TENSORS(x), grads), DT_ERR_STATE);
    (void)dt_error_clear(ctx);
    y = dt_sum(dt_linear(x, w));
    assert_int_equal(dt_gradients(DT_TENSORS(y), DT_TENSORS(x), grads, .rest = &rest, .retain_graph = true), DT_OK);
    assert_int_equal(dt_backward_rest(rest), DT_OK);
    assert_int_equal(dt_gradients(DT_TENSORS(y), DT_TENSORS(x), grads, .rest = &rest), DT_OK);
    dt_rest_free(rest);
    dt_rest_free(NULL);
    assert_true(at(dt_grad(w), 0) == 6);
    assert_int_equal(dt_close(ctx), 0);
}

static void rest__refuses_with_a_reason(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3, 4), .requires_grad = true), *grads[1];
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(2, 4), .requires_grad = true), *y = dt_sum(dt_linear(dt_exp(x), w));
    dt_rest *rest = (dt_rest *)ctx;
    assert_int_equal(dt_gradients(DT_TENSORS(y), DT_TENSORS(x), grads, .rest = &rest, .create_graph = true),
                     DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "rest: expected no create_graph");
    assert_null(rest);
    (void)dt_error_clear(ctx);
    dt_tensor *h = dt_exp(x);
    y = dt_sum(dt_linear(h, w));
    assert_int_equal(dt_gradients(DT_TENSORS(y), DT_TENSORS(h), grads, .rest = &rest), DT_OK);
    dt_no_grad_begin(ctx);
    assert_non_null(dt_fill_(h, 0)); /* which the gradient of w needs */
    assert_int_equal(dt_no_grad_end(ctx), DT_OK);
    assert_int_equal(dt_backward_rest(rest), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "input 1 of linear (at ");
    (void)dt_error_clear(ctx);
    assert_null(dt_grad(w));
    assert_int_equal(dt_backward_rest(rest), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "backward_rest: the rest of gradients made at ");
    (void)dt_error_clear(ctx);
    dt_rest_free(rest);
    assert_error_contains(ctx, DT_ERR_STATE, " was freed by dt_backward_rest at ");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static bool train(dt_ctx *ctx, void *user) {
    (void)user;
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3, 4), .requires_grad = true), *grads[1];
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(2, 4), .requires_grad = true), *y = dt_sum(dt_tanh(dt_linear(x, w)));
    dt_rest *rest = NULL;
    return y && dt_gradients(DT_TENSORS(y), DT_TENSORS(x), grads, .rest = &rest) == DT_OK &&
           dt_backward_rest(rest) == DT_OK && dt_grad(w);
}

static void rest__survives_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_recovers_from_failing_allocations(train, NULL, 1) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest__has_the_bits_of_one_walk),
        cmocka_unit_test(rest__is_computed_later),
        cmocka_unit_test(rest__refuses_with_a_reason),
        cmocka_unit_test(rest__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
