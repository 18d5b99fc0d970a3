/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk over records: accumulation, graphs that are kept or freed, hooks, changed values, and where gradients are
 * brought and how often.
 */
#include "autograd/backward.h"

static dt_ctx *open_alone(void) {
    dt_ctx *ctx = dt_init(NULL);
    assert_non_null(ctx);
    return ctx;
}

static void backward__adds_to_the_gradients_of_leaves(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_full(ctx, DT_SHAPE(3), 2, .requires_grad = true), *c = dt_ones(ctx, DT_SHAPE(3));
    assert_null(dt_grad(x));
    assert_int_equal(dt_backward(dt_sum(dt_mul(x, x))), DT_OK);
    dt_tensor *grad = dt_grad(x);
    assert_true(at(grad, 0) == 4 && !dt_requires_grad(grad) && dt_is_leaf(grad));
    assert_int_equal(dt_backward(dt_sum(dt_mul(x, c))), DT_OK);
    assert_true(dt_grad(x) == grad && at(grad, 2) == 5 && !dt_grad(c));
    assert_int_equal(dt_zero_grad(DT_TENSORS(x, c)), DT_OK);
    assert_null(dt_grad(x));
    /* A gradient outlives the scope of the step. */
    dt_scope scope = dt_scope_begin(ctx);
    assert_int_equal(dt_backward(dt_sum(dt_add(x, x))), DT_OK);
    dt_scope_end(scope);
    assert_true(at(dt_grad(x), 1) == 2);
    /* Two leaves have memory of their own. */
    dt_tensor *y = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true);
    assert_int_equal(dt_zero_grad(DT_TENSORS(x)), DT_OK);
    assert_int_equal(dt_backward(dt_sum(dt_add(x, y))), DT_OK);
    assert_false(dt_tensor_shares(dt_grad(x), dt_grad(y)));
    assert_int_equal(dt_close(ctx), 0);
}

static void backward__refuses_with_a_reason(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true), *grads[1];
    assert_int_equal(dt_backward(dt_detach(x)), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "requires no gradient");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_backward(dt_mul(x, x)), DT_ERR_SHAPE);
    assert_error_contains(ctx, DT_ERR_SHAPE,
                          "expected one element, got 3; reduce it first (dt_sum, dt_mean), or give the gradient of "
                          "the tensor with .grad");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_backward(dt_mul(x, x), .grad = dt_ones(ctx, DT_SHAPE(4))), DT_ERR_SHAPE);
    assert_error_contains(ctx, DT_ERR_SHAPE, "expected f32[3], got f32[4]");
    (void)dt_error_clear(ctx);
    dt_tensor *other = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true);
    assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(x)), DT_TENSORS(other), grads), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "input 1 is not used by the outputs");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(x)), DT_TENSORS(other), grads, .allow_unused = true), DT_OK);
    assert_null(grads[0]);
    assert_int_equal(dt_close(ctx), 0);
}

/* Of an op that a program registers without a gradient. */
static dt_status shape_same(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}
static dt_status leave(dt_op_call *call) {
    (void)call;
    return DT_OK;
}
static const dt_op mystery = {.schema = "mystery(Tensor self) -> Tensor", .shape = shape_same, .kernel = leave};

static void backward__names_an_op_without_a_gradient(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    assert_int_equal(dt_op_register(ctx, &mystery), DT_OK);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true);
    assert_int_equal(dt_backward(dt_sum(dt_call(ctx, "mystery", dt_exp(x)))), DT_ERR_UNSUPPORTED);
    assert_error_contains(ctx, DT_ERR_UNSUPPORTED, "backward: f32[]: mystery has no gradient");
    (void)dt_error_clear(ctx);
    /* Nothing of it remains: the next walk is right. */
    assert_int_equal(dt_backward(dt_sum(dt_mul(x, x))), DT_OK);
    assert_true(at(dt_grad(x), 0) == 2);
    assert_int_equal(dt_close(ctx), 0);
}

static void graph__is_walked_twice_if_it_is_retained(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_full(ctx, DT_SHAPE(2), 3, .requires_grad = true), *y = dt_sum(dt_mul(x, x));
    assert_int_equal(dt_backward(y, .retain_graph = true), DT_OK);
    assert_int_equal(dt_backward(y), DT_OK);
    assert_true(at(dt_grad(x), 0) == 12);
    assert_int_equal(dt_backward(y), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "the values that the gradient of mul needs were freed");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static void gradients__are_those_of_the_inputs_only(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_full(ctx, DT_SHAPE(2), 3, .requires_grad = true),
              *w = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true);
    dt_tensor *h = dt_mul(x, x), *y = dt_mul(h, w), *z = dt_mul(h, h), *grads[2];
    assert_int_equal(dt_gradients(DT_TENSORS(dt_sum(y), dt_sum(z)), DT_TENSORS(h, x), grads, .retain_graph = true),
                     DT_OK);
    assert_true(at(grads[0], 0) == 19 && at(grads[1], 0) == 19 * 6 && !dt_grad(x) && !dt_grad(w));
    /* Given gradients, and the same tensor twice. */
    dt_tensor *ones[] = {dt_full(ctx, DT_SHAPE(2), 2), NULL};
    assert_int_equal(dt_gradients(DT_TENSORS(y), DT_TENSORS(w, w), grads, .output_grads = ones), DT_OK);
    assert_true(at(grads[0], 0) == 18 && at(grads[1], 1) == 18);
    /* The third derivative of x^4 is 24 x. */
    dt_tensor *power = dt_mul(dt_mul(x, x), dt_mul(x, x)), *of[1] = {dt_sum(power)};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dt_gradients(DT_TENSORS(of[0]), DT_TENSORS(x), grads, .create_graph = true), DT_OK);
        of[0] = dt_sum(grads[0]);
    }
    assert_true(at(grads[0], 1) == 72 && dt_requires_grad(grads[0]));
    assert_int_equal(dt_close(ctx), 0);
}

static dt_tensor *twice(dt_tensor *grad, void *user) {
    ++*(int *)user;
    return dt_add(grad, grad);
}
static dt_tensor *look(dt_tensor *grad, void *user) {
    *(double *)user = at(grad, 0);
    return NULL;
}
static dt_tensor *again(dt_tensor *grad, void *user) {
    (void)dt_backward(user);
    (void)grad;
    return NULL;
}

static void hook__may_replace_a_gradient(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    int n = 0;
    double seen = 0;
    dt_tensor *x = dt_full(ctx, DT_SHAPE(2), 3, .requires_grad = true), *h = dt_mul(x, x);
    int64_t id = dt_grad_hook_add(h, twice, &n);
    assert_true(id > 0 && dt_grad_hook_add(h, look, &seen) > id);
    assert_int_equal(dt_retain_grad(h), DT_OK);
    assert_int_equal(dt_backward(dt_sum(h), .retain_graph = true), DT_OK);
    assert_true(n == 1 && seen == 2 && at(dt_grad(h), 0) == 2 && at(dt_grad(x), 0) == 12);
    assert_int_equal(dt_grad_hook_remove(h, id), DT_OK);
    assert_int_equal(dt_backward(dt_sum(h)), DT_OK);
    assert_true(n == 1 && seen == 1 && at(dt_grad(x), 0) == 18);
    assert_int_equal(dt_grad_hook_remove(h, id), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "the tensor has no hook");
    (void)dt_error_clear(ctx);
    /* On a leaf, before the gradient is stored; and no walk within a walk. */
    dt_tensor *y = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true);
    assert_true(dt_grad_hook_add(y, twice, &n) > 0);
    assert_int_equal(dt_backward(dt_sum(y)), DT_OK);
    assert_true(at(dt_grad(y), 0) == 2);
    dt_tensor *loss = dt_sum(dt_mul(y, y));
    assert_true(dt_grad_hook_add(y, again, loss) > 0);
    assert_int_equal(dt_backward(loss), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "gradients are being computed");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static void count_end(void *user) { ++*(int *)user; }

static dt_tensor *keep_gradient(dt_tensor *grad, void *user) {
    (void)grad;
    (void)user;
    return NULL;
}

static void hook__ends_what_it_owns_once(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    int ended[4] = {0};
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true);
    int64_t id = dt_grad_hook_add_owner(x, keep_gradient, &ended[0], count_end);
    assert_true(id > 0 && ended[0] == 0);
    assert_int_equal(dt_grad_hook_remove(x, id), DT_OK);
    assert_int_equal(ended[0], 1);
    dt_tensor *y = dt_mul(x, x);
    assert_true(dt_grad_hook_add_owner(y, keep_gradient, &ended[1], count_end) > 0);
    assert_true(dt_grad_hook_add_owner(x, keep_gradient, &ended[2], count_end) > 0);
    assert_int_equal(dt_backward(dt_sum(y)), DT_OK);
    assert_int_equal(ended[1], 0);
    dt_drop(y);
    dt_drop_newer(ctx, x);
    assert_int_equal(ended[1], 1);
    assert_int_equal(dt_grad_hook_add_owner(dt_detach(x), keep_gradient, &ended[3], count_end), 0);
    assert_int_equal(ended[3], 1);
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
    assert_int_equal(ended[2], 0);
}

static void change__of_a_saved_value_names_both_calls(void **state) {
    (void)state;
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_full(ctx, DT_SHAPE(2), 3, .requires_grad = true), *e = dt_exp(x), *y = dt_sum(e);
    assert_non_null(dt_fill_(e, 1));
    assert_int_equal(dt_backward(y), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "output 1 of exp (at ");
    assert_error_contains(ctx, DT_ERR_STATE, "has been changed by fill_ (at ");
    (void)dt_error_clear(ctx);
    /* What an op overwrites itself is copied where its gradient needs it. */
    dt_tensor *a = dt_mul(x, x), *b = dt_full(ctx, DT_SHAPE(2), 5, .requires_grad = true);
    assert_non_null(dt_mul_(a, b));
    assert_int_equal(dt_backward(dt_sum(a)), DT_OK);
    assert_true(at(dt_grad(b), 0) == 9 && at(dt_grad(x), 0) == 30);
    assert_int_equal(dt_close(ctx), 0);
}

/* A chain of n ops keeps n results, and frees each when its gradient is done. */
static void saved__is_freed_as_the_walk_proceeds(void **state) {
    (void)state;
    enum { N = 16, BYTES = 1 << 16 };
    dt_ctx *ctx = open_alone();
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(BYTES / 4), .requires_grad = true), *y = x;
    int64_t before = (int64_t)dt_heap_stats(ctx).live_bytes;
    dt_scope scope = dt_scope_begin(ctx);
    for (int i = 0; i < N; i++)
        y = dt_tanh(y);
    dt_tensor *loss = dt_keep(dt_sum(y));
    dt_scope_end(scope);
    int64_t forward = (int64_t)dt_heap_stats(ctx).live_bytes - before;
    assert_in_range(forward, N * BYTES, N * BYTES + 4096);
    assert_int_equal(dt_backward(loss), DT_OK);
    int64_t peak = (int64_t)dt_heap_stats(ctx).peak_bytes - before;
    assert_in_range(peak, forward, forward + 4 * BYTES);
    dt_drop(loss);
    assert_in_range((int64_t)dt_heap_stats(ctx).live_bytes - before, BYTES, BYTES + 4096); /* the gradient of x */
    assert_int_equal(dt_close(ctx), 0);
}

/* Redistributions. Where x is gathered and its gradient is partial, one reduce-scatter. */
static int check_redistribute(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    counting counts = count_begin(ctx);
    dt_tensor *ones = dt_ones(ctx, DT_SHAPE(12, 3), .mesh = mesh, .place = "R");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(12, 3), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    dt_tensor *y = dt_redistribute(x, "R");
    CHECK_COUNT(&counts, "all_gather 1"); /* RED-001 */
    CHECK_OK(ctx, dt_backward(y, .grad = ones));
    CHECK_GRAD(x, "S(0)", 1);
    CHECK_COUNT(&counts, "");
    dt_tensor *r = dt_ones(ctx, DT_SHAPE(12, 3), .mesh = mesh, .place = "R", .requires_grad = true);
    CHECK_OK(ctx, dt_backward(dt_redistribute(r, "R"), .grad = ones)); /* RED-002 */
    CHECK_GRAD(r, "R", 1);
    CHECK_COUNT(&counts, "");
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(r)));
    CHECK_OK(ctx, dt_backward(dt_redistribute(r, "S(0)"), .grad = dt_redistribute(ones, "S(0)"))); /* RED-005 */
    CHECK_GRAD(r, "R", 1);
    CHECK_COUNT(&counts, "all_gather 1");
    dt_tensor *p = dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(12, 3)), mesh, "P(sum)");
    CHECK_OK(ctx, dt_set_requires_grad(p, true));
    dt_tensor *reduced = dt_redistribute(p, "R");
    CHECK_COUNT(&counts, "all_reduce 1"); /* RED-006 */
    CHECK_OK(ctx, dt_backward(reduced, .grad = ones));
    CHECK_GRAD(p, "R", 1);
    CHECK_COUNT(&counts, "");
    /* A weight that is sharded and used whole on shards of the data. */
    dt_tensor *data = dt_ones(ctx, DT_SHAPE(4 * n, 12), .mesh = mesh, .place = "S(0)");
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x)));
    dt_tensor *loss = dt_sum(dt_matmul(data, dt_redistribute(x, "R")));
    CHECK_COUNT(&counts, "all_gather 1");
    CHECK_OK(ctx, dt_backward(loss));
    CHECK_GRAD(x, "S(0)", 4.0 * (double)n);
    CHECK_COUNT(&counts, "reduce_scatter 1");
    dt_mesh_release(mesh);
    return 0;
}

/* Uneven and empty shards as well. */
static void redistribute__is_undone_in_one_step(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, check_redistribute, NULL);
}

static int check_local(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    counting counts = count_begin(ctx);
    static const struct {
        const char *place, *grad, *collectives;
        bool times_world;
    } cases[] = {
        {"S(0)", "S(0)", "", false},                /* DT-008 */
        {"R", "R", "", false},                      /* DT-009 */
        {"R", "P(sum)", "all_reduce 1", true},      /* DT-010 */
        {"P(sum)", "P(sum)", "all_reduce 1", true}, /* DT-011 */
        {"P(sum)", "R", "", false},                 /* DT-012 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tensor *local = dt_ones(ctx, DT_SHAPE(3, 3), .requires_grad = true);
        dt_tensor *x = dt_from_local(ctx, dt_mul_scalar(local, 2), mesh, cases[i].place);
        CHECK(x && !dt_is_leaf(x), "%s", dt_error_text(ctx));
        dt_tensor *grad = dt_from_local(ctx, dt_ones(ctx, DT_SHAPE(3, 3)), mesh, cases[i].grad);
        CHECK_OK(ctx, dt_backward(x, .grad = grad));
        CHECK_GRAD(local, "", cases[i].times_world ? 2.0 * (double)n : 2.0);
        CHECK_COUNT(&counts, cases[i].collectives);
    }
    /* DT-006 */
    dt_tensor *t = dt_ones(ctx, DT_SHAPE(3, 3), .requires_grad = true);
    dt_tensor *d = dt_from_local(ctx, dt_mul_scalar(t, 3), mesh, "S(0)");
    CHECK(d && !dt_is_leaf(d) && dt_requires_grad(d), "%s", dt_error_text(ctx));
    dt_tensor *of_d = dt_ones(ctx, DT_SHAPE(3 * n, 3), .mesh = mesh, .place = "S(0)");
    CHECK_OK(ctx, dt_backward(dt_mul_scalar(d, 3), .grad = of_d));
    CHECK_GRAD(t, "", 9);
    /* DT-017 */
    dt_tensor *leaf = dt_ones(ctx, DT_SHAPE(3 * n, 3), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    CHECK_OK(ctx, dt_backward(dt_sum(dt_add(dt_to_local(dt_mul_scalar(leaf, 3)), dt_ones(ctx, DT_SHAPE(3, 3))))));
    CHECK_GRAD(leaf, "S(0)", 3);
    /* DT-027 */
    CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(t)));
    d = dt_mul_scalar(dt_from_local(ctx, dt_add_scalar(t, 8), mesh, "S(0)"), 6);
    CHECK(all_are(dt_to_local(d), 54), "DT-027");
    CHECK_OK(ctx, dt_backward(dt_sum(dt_add(dt_to_local(d), dt_ones(ctx, DT_SHAPE(3, 3))))));
    CHECK_GRAD(t, "", 6);
    CHECK_COUNT(&counts, "");
    /* DT-024: from a sum to its local value and back is not multiplied. */
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4 * n), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    dt_tensor *sum = dt_from_local(ctx, dt_to_local(dt_sum(x)), mesh, "P(sum)");
    CHECK_OK(ctx, dt_backward(dt_full_tensor(sum)));
    CHECK_GRAD(x, "S(0)", 1);
    dt_mesh_release(mesh);
    return 0;
}

static void local__tensors_pass_gradients(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, check_local, NULL);
}

/* q, k and v of one activation: the gradients are summed before the one all-reduce. */
static int check_consumers(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, 4), .mesh = mesh, .place = "R", .requires_grad = true), *w[3],
              *sum = NULL;
    dt_tensor *h = dt_mul_scalar(x, 1);
    for (int i = 0; i < 3; i++) {
        w[i] = dt_ones(ctx, DT_SHAPE(2 * n, 4), .mesh = mesh, .place = "S(0)", .requires_grad = true);
        dt_tensor *part = dt_linear(h, w[i]);
        sum = sum ? dt_add(sum, part) : part;
    }
    dt_tensor *loss = dt_sum(sum);
    counting counts = count_begin(ctx);
    CHECK_OK(ctx, dt_backward(loss));
    CHECK_COUNT(&counts, "all_reduce 1");
    CHECK_GRAD(x, "R", 6.0 * (double)n);
    for (int i = 0; i < 3; i++)
        CHECK_GRAD(w[i], "S(0)", 2);
    dt_mesh_release(mesh);
    return 0;
}

/* Gradients of a product whose factors are on several ranks are themselves products of parts: their sums are not. */
static int check_products(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    double sums[2] = {0};
    for (int sharded = 0; sharded < 2; sharded++) {
        const char *place = sharded ? "S(0)" : "R";
        dt_tensor *term = dt_full(ctx, DT_SHAPE(3), sharded ? 2 / (double)dt_world(ctx) : 2, .dtype = DT_F64);
        dt_tensor *x = dt_from_local(ctx, term, mesh, sharded ? "P(sum)" : "R");
        CHECK_OK(ctx, dt_set_requires_grad(x, true));
        dt_tensor *index = dt_zeros(ctx, DT_SHAPE(5), .dtype = DT_I64, .mesh = mesh, .place = place);
        dt_tensor *source =
            dt_full(ctx, DT_SHAPE(5), 3, .dtype = DT_F64, .mesh = mesh, .place = place, .requires_grad = true);
        dt_tensor *weights = dt_full(ctx, DT_SHAPE(3), 2, .dtype = DT_F64, .mesh = mesh, .requires_grad = true);
        dt_tensor *result = dt_scatter_reduce(x, 0, index, source, "prod"), *grads[2], *second[3];
        CHECK_OK(ctx, dt_gradients(DT_TENSORS(result), DT_TENSORS(x, source), grads, .output_grads = &weights,
                                   .create_graph = true));
        CHECK_OK(ctx, dt_gradients(DT_TENSORS(grads[0], grads[1]), DT_TENSORS(x, source, weights), second,
                                   .output_grads = (dt_tensor *[]){dt_ones_like(x), dt_ones_like(source)}));
        for (int i = 0; i < 3; i++)
            sums[sharded] += dt_item(dt_sum(second[i]));
    }
    CHECK(sums[0] > 0 && sums[1] > sums[0] * (1 - 1e-12) && sums[1] < sums[0] * (1 + 1e-12), "expected %g, got %g",
          sums[0], sums[1]);
    dt_mesh_release(mesh);
    return 0;
}

static void products__of_parts_are_not_added_by_parts(void **state) {
    (void)state;
    run_ranks(1, check_products, NULL);
    run_ranks(2, check_products, NULL);
    run_ranks(7, check_products, NULL);
}

static void consumers__are_summed_before_one_all_reduce(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, check_consumers, NULL);
}

static int check_policy(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4 * n, 4), .mesh = mesh, .place = "S(0)");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(4, 4), .mesh = mesh, .place = "R", .requires_grad = true);
    dt_tensor *v = dt_ones(ctx, DT_SHAPE(1024, 64 * n), .mesh = mesh, .place = "S(1)", .requires_grad = true);
    dt_tensor *before = dt_softmax(v, 1); /* exchanges states, and so does its gradient */
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
    dt_tensor *loss = dt_sum(dt_matmul(x, w)); /* UTL-048 */
    CHECK(loss, "%s", dt_error_text(ctx));
    counting counts = count_begin(ctx);
    CHECK_OK(ctx, dt_backward(loss)); /* the gradient of w is a partial sum, which is brought to R */
    CHECK_COUNT(&counts, "all_reduce 1");
    CHECK_GRAD(w, "R", 4.0 * (double)n);
    dt_scope scope = dt_scope_begin(ctx);
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ALLOW));
    dt_tensor *after = dt_keep(dt_softmax(v, 1));
    dt_scope_end(scope);
    CHECK_OK(ctx, dt_backward(after, .grad = after)); /* the call was allowed to communicate: so is its gradient */
    CHECK(dt_backward(before, .grad = before) == DT_ERR_PLACEMENT, "the gradient of softmax exchanges what it sums");
    CHECK(strstr(dt_error_text(ctx), "which the communication policy forbids"), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void policy__covers_gradients(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 3; n++)
        run_ranks(n, check_policy, NULL);
}

static bool train(dt_ctx *ctx, void *user) {
    (void)user;
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(4, 3)), *w = dt_ones(ctx, DT_SHAPE(5, 3), .requires_grad = true), *grads[1];
    dt_tensor *h = dt_relu(dt_linear(x, w)), *loss = dt_sum(dt_mul(h, h));
    bool ok = loss && dt_backward(loss, .retain_graph = true) == DT_OK && dt_grad(w) &&
              dt_gradients(DT_TENSORS(loss), DT_TENSORS(w), grads, .create_graph = true) == DT_OK && grads[0];
    return ok;
}

static void walk__survives_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_recovers_from_failing_allocations(train, NULL, 1) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backward__adds_to_the_gradients_of_leaves),
        cmocka_unit_test(backward__refuses_with_a_reason),
        cmocka_unit_test(backward__names_an_op_without_a_gradient),
        cmocka_unit_test(graph__is_walked_twice_if_it_is_retained),
        cmocka_unit_test(gradients__are_those_of_the_inputs_only),
        cmocka_unit_test(hook__may_replace_a_gradient),
        cmocka_unit_test(hook__ends_what_it_owns_once),
        cmocka_unit_test(change__of_a_saved_value_names_both_calls),
        cmocka_unit_test(saved__is_freed_as_the_walk_proceeds),
        cmocka_unit_test(redistribute__is_undone_in_one_step),
        cmocka_unit_test(local__tensors_pass_gradients),
        cmocka_unit_test(consumers__are_summed_before_one_all_reduce),
        cmocka_unit_test(products__of_parts_are_not_added_by_parts),
        cmocka_unit_test(policy__covers_gradients),
        cmocka_unit_test(walk__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
