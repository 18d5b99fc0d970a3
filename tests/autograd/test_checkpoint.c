/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints: the bits of gradients with and without them, what memory they take, and what they refuse.
 */
#include "autograd/backward.h"

enum { LAYERS = 6, WIDTH = 12, ROWS = 7 };

typedef struct model {
    dt_tensor *weights[LAYERS];
    dt_generator *generator; /* of numbers other than dropout's, or NULL */
    int uses;                /* checkpoints: 0 none, 1 for each layer, 2 for each, inside one for all */
    int n_runs, fails_at;    /* of layers; the run that fails */
    int kind;                /* 1: makes another call, 2: fewer, in a later run */
} model;

typedef struct layer {
    model *of;
    int i;
} layer;

static dt_tensor *run_layer(dt_tensor *const *x, void *user) {
    const layer *self = user;
    model *m = self->of;
    if (++m->n_runs == m->fails_at)
        return dt_mul(x[0], dt_ones(x[0]->ctx, DT_SHAPE(5, 5, 5)));
    dt_tensor *h = dt_linear(x[0], m->weights[self->i]);
    if (m->kind == 1 && m->n_runs > LAYERS)
        h = dt_exp(h);
    h = m->kind == 2 && m->n_runs > LAYERS ? h : dt_gelu(h);
    if (m->generator)
        h = dt_mul(h, dt_rand_like(h, .generator = m->generator));
    return dt_add(dt_tanh(dt_dropout(h, .p = DT_REAL(0.25))), x[0]);
}

static dt_tensor *run_layers(dt_tensor *const *x, void *user) {
    model *m = user;
    static _Thread_local layer layers[LAYERS]; /* which outlive the results */
    dt_tensor *h = x[0];
    for (int i = 0; i < LAYERS && h; i++) {
        layers[i] = (layer){m, i};
        h = m->uses ? dt_checkpoint(run_layer, &layers[i], DT_TENSORS(h)) : run_layer(&h, &layers[i]);
    }
    return h;
}

static dt_tensor *run_model(model *m, dt_tensor *x) {
    m->n_runs = 0;
    dt_tensor *y = m->uses == 2 ? dt_checkpoint(run_layers, m, DT_TENSORS(x)) : run_layers(&x, m);
    return dt_sum(dt_mul(y, y));
}

static void make_model(model *m, dt_ctx *ctx, dt_mesh *mesh) {
    for (int i = 0; i < LAYERS; i++) {
        dt_tensor *full = calls_counting(ctx, DT_F32, DT_SHAPE(WIDTH, WIDTH), -0.3, 0.004 * (i + 1));
        m->weights[i] = mesh ? calls_distribute(full, mesh, "R") : full;
        (void)dt_set_requires_grad(m->weights[i], true);
    }
}

static bool same_bits(dt_tensor *a, dt_tensor *b) {
    return a && b && a->spec == b->spec && dt_tensor_local_elements(a) == dt_tensor_local_elements(b) &&
           (!a->data || !memcmp(a->data, b->data, (size_t)dt_tensor_local_elements(a) * dt_dtype_size(a->dtype)));
}

/* Runs with equal weights, data and seeds, without and with checkpoints. */
static int check_bits(dt_ctx *ctx, void *arg) {
    const bool *draws_apart = arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    dt_tensor *grads[LAYERS + 1] = {NULL}, *losses[3];
    dt_generator_state after = {0};
    for (int uses = 0; uses < 3; uses++) {
        model m = {.uses = uses, .generator = *draws_apart ? dt_generator_new(ctx, 5) : NULL};
        make_model(&m, ctx, mesh);
        dt_tensor *x = calls_distribute(calls_counting(ctx, DT_F32, DT_SHAPE(ROWS, WIDTH), -1, 0.02), mesh, "S(0)");
        CHECK_OK(ctx, dt_set_requires_grad(x, true));
        dt_generator *generator = m.generator ? m.generator : dt_generator_default(ctx);
        CHECK_OK(ctx, dt_generator_seed(dt_generator_default(ctx), 11));
        for (int again = 0; again < 2; again++) { /* the second time with what is cached */
            CHECK_OK(ctx, dt_zero_grad(((dt_tensors){LAYERS, m.weights})));
            CHECK_OK(ctx, dt_zero_grad(DT_TENSORS(x)));
            losses[uses] = run_model(&m, x);
            CHECK(losses[uses], "%s", dt_error_text(ctx));
            dt_generator_state state = dt_generator_save(generator);
            CHECK_OK(ctx, dt_backward(losses[uses]));
            CHECK(dt_generator_save(generator).draw == state.draw, "a walk draws nothing");
            after = uses ? after : state;
        }
        CHECK(dt_generator_save(generator).draw == after.draw, "as many draws");
        CHECK(m.n_runs == LAYERS * (uses + 1), "%d runs", m.n_runs);
        for (int i = 0; i <= LAYERS; i++) {
            dt_tensor *grad = dt_grad(i < LAYERS ? m.weights[i] : x);
            CHECK(!uses || same_bits(grads[i], grad), "uses %d: gradient %d", uses, i);
            grads[i] = grad;
        }
        CHECK(!uses || same_bits(losses[0], losses[uses]), "the loss");
    }
    dt_mesh_release(mesh);
    return 0;
}

static void checkpoint__changes_no_bit(void **state) {
    (void)state;
    for (int apart = 0; apart < 2; apart++)
        for (int64_t n = 1; n <= 5; n++)
            run_ranks(n, check_bits, &(bool){apart != 0});
}

/* A sharded weight is gathered in the forward pass, and once for the second run and the gradients together. */
static int check_gathers(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    model m = {.uses = 1};
    dt_tensor *x = calls_distribute(calls_counting(ctx, DT_F32, DT_SHAPE(ROWS, WIDTH), -1, 0.02), mesh, "S(0)");
    for (int i = 0; i < LAYERS; i++) {
        m.weights[i] = dt_full(ctx, DT_SHAPE(WIDTH, WIDTH), DT_NUMBER(0.1), .mesh = mesh, .place = "S(0)", .use = "R",
                               .requires_grad = true);
        CHECK(m.weights[i], "%s", dt_error_text(ctx));
    }
    CHECK_OK(ctx, dt_set_requires_grad(x, true));
    counting counts = count_begin(ctx);
    dt_tensor *loss = run_model(&m, x);
    CHECK_COUNT(&counts, "all_gather 6");
    CHECK_OK(ctx, dt_backward(loss));
    CHECK_COUNT(&counts, "all_gather 6, reduce_scatter 1");
    dt_mesh_release(mesh);
    return 0;
}

static void checkpoint__gathers_weights_twice(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 4; n++)
        run_ranks(n, check_gathers, NULL);
}

/* A chain of tanh: what is kept is one value per checkpoint, and the values of one of them at a time. */
enum { CHAIN = 8, BYTES = 1 << 16 };
static dt_tensor *run_chain(dt_tensor *const *x, void *user) {
    (void)user;
    dt_tensor *y = x[0];
    for (int i = 0; i < CHAIN; i++)
        y = dt_tanh(y);
    return y;
}

static dt_tensor *run_chains(dt_tensor *const *x, void *user) {
    dt_tensor *y = x[0];
    for (int i = 0; i < CHAIN; i++)
        y = dt_checkpoint(run_chain, user, DT_TENSORS(y));
    return y;
}

/* Peaks in values of BYTES: without checkpoints, with them, and with one around them. */
static int64_t peak_of(int uses, dt_tensor **grad) {
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(BYTES / 4), .requires_grad = true), *y = x;
    int64_t before = (int64_t)dt_heap_stats(ctx).live_bytes;
    dt_scope scope = dt_scope_begin(ctx);
    for (int i = 0; i < CHAIN && uses < 2; i++)
        y = uses ? dt_checkpoint(run_chain, NULL, DT_TENSORS(y)) : run_chain(&y, NULL);
    if (uses == 2)
        y = dt_checkpoint(run_chains, NULL, DT_TENSORS(x));
    dt_tensor *loss = dt_keep(dt_sum(y));
    dt_scope_end(scope);
    int64_t held = ((int64_t)dt_heap_stats(ctx).live_bytes - before) / BYTES;
    assert_int_equal(held, uses == 0 ? CHAIN * CHAIN : uses == 1 ? CHAIN - 1 : 0);
    assert_int_equal(dt_backward(loss), DT_OK);
    int64_t peak = ((int64_t)dt_heap_stats(ctx).peak_bytes - before) / BYTES;
    dt_drop(loss);
    assert_int_equal(((int64_t)dt_heap_stats(ctx).live_bytes - before) / BYTES, 1); /* the gradient */
    *grad = NULL;
    assert_int_equal(dt_close(ctx), 0);
    return peak;
}

static void checkpoint__lowers_the_peak(void **state) {
    (void)state;
    dt_tensor *grad;
    int64_t without = peak_of(0, &grad), each = peak_of(1, &grad), nested = peak_of(2, &grad);
    assert_in_range(without, CHAIN * CHAIN, CHAIN * CHAIN + 3);
    assert_in_range(each, 2 * CHAIN - 1, 2 * CHAIN + 4);
    assert_in_range(nested, 2 * CHAIN - 1, 2 * CHAIN + 5);
}

static void checkpoint__refuses_what_differs(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    for (int uses = 1; uses < 3; uses++)
        for (int kind = 1; kind <= 4; kind++) {
            model m = {.uses = uses, .kind = kind <= 2 ? kind : 0};
            make_model(&m, ctx, NULL);
            dt_tensor *source = dt_ones(ctx, DT_SHAPE(ROWS, WIDTH)), *x = dt_mul(source, source);
            dt_tensor *loss = run_model(&m, x);
            assert_non_null(loss);
            dt_no_grad_begin(ctx);
            if (kind == 3)
                assert_non_null(dt_fill_(x, 0));
            if (kind == 4)
                assert_non_null(dt_fill_(m.weights[2], 0));
            assert_int_equal(dt_no_grad_end(ctx), DT_OK);
            assert_int_equal(dt_backward(loss), DT_ERR_STATE);
            assert_error_contains(ctx, DT_ERR_STATE,
                                  kind == 1 ? "made other calls when it ran again: call 2: expected gelu, got exp"
                                  : kind == 2
                                      ? "made other calls when it ran again: call 2: expected gelu, got dropout"
                                  : kind == 3 ? "input 1 of checkpoint (at "
                                              : "input 2 of linear (at ");
            if (kind >= 3)
                assert_error_contains(ctx, DT_ERR_STATE, "has been changed by fill_ (at ");
            (void)dt_error_clear(ctx);
        }
    assert_null(dt_checkpoint(NULL, NULL, DT_TENSORS(dt_ones(ctx, DT_SHAPE(1)))));
    assert_error_contains(ctx, DT_ERR_VALUE, "expected a function, got NULL");
    (void)dt_error_clear(ctx);
    assert_int_equal(dt_close(ctx), 0);
}

static dt_tensor *return_null(dt_tensor *const *x, void *user) {
    (void)x, (void)user;
    return NULL;
}
static dt_tensor *return_input(dt_tensor *const *x, void *user) {
    (void)user;
    return x[1];
}

/* An error in the first run, and in the second one; nothing of either remains. */
static void checkpoint__fails_half_way(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    for (int uses = 1; uses < 3; uses++) {
        model m = {.uses = uses, .fails_at = 3};
        make_model(&m, ctx, NULL);
        dt_tensor *x = dt_ones(ctx, DT_SHAPE(ROWS, WIDTH), .requires_grad = true);
        assert_null(run_model(&m, x));
        assert_error_contains(ctx, DT_ERR_SHAPE, "mul");
        (void)dt_error_clear(ctx);
        m.fails_at = LAYERS + 2;
        dt_tensor *loss = run_model(&m, x);
        assert_non_null(loss);
        assert_int_equal(dt_backward(loss), DT_ERR_SHAPE);
        (void)dt_error_clear(ctx);
        m.fails_at = 0;
        loss = run_model(&m, x);
        assert_int_equal(dt_backward(loss, .retain_graph = true), DT_OK);
        int n_runs = m.n_runs;
        assert_int_equal(dt_backward(loss), DT_OK); /* with the values of the walk before */
        assert_int_equal(m.n_runs, n_runs);
        assert_int_equal(dt_backward(loss), DT_ERR_STATE);
        assert_error_contains(ctx, DT_ERR_STATE, "were freed by an earlier walk");
        (void)dt_error_clear(ctx);
    }
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true), *y = dt_exp(x);
    assert_null(dt_checkpoint(return_null, NULL, DT_TENSORS(x)));
    assert_error_contains(ctx, DT_ERR_VALUE, "the function returned NULL");
    (void)dt_error_clear(ctx);
    assert_ptr_equal(dt_checkpoint(return_input, NULL, DT_TENSORS(x, y)), y);
    dt_no_grad_begin(ctx);
    assert_false(dt_requires_grad(dt_checkpoint(run_chain, NULL, DT_TENSORS(x))));
    assert_int_equal(dt_no_grad_end(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

static dt_tensor *run_cube(dt_tensor *const *x, void *user) {
    (void)user;
    return dt_mul(x[0], dt_mul(x[0], x[0]));
}

static void checkpoint__has_second_derivatives(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *x = dt_full(ctx, DT_SHAPE(3), 2, .requires_grad = true), *grads[1];
    dt_tensor *y = dt_sum(dt_checkpoint(run_cube, NULL, DT_TENSORS(x)));
    assert_int_equal(dt_gradients(DT_TENSORS(y), DT_TENSORS(x), grads, .create_graph = true), DT_OK);
    assert_true(at(grads[0], 0) == 12);
    assert_int_equal(dt_backward(dt_sum(grads[0])), DT_OK);
    assert_true(at(dt_grad(x), 1) == 12); /* 6 x */
    assert_int_equal(dt_close(ctx), 0);
}

static bool train(dt_ctx *ctx, void *user) {
    (void)user;
    model m = {.uses = 2};
    make_model(&m, ctx, NULL);
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(2, WIDTH));
    for (int i = 0; i < LAYERS; i++)
        if (!m.weights[i])
            return false;
    dt_tensor *loss = x ? run_model(&m, x) : NULL;
    return loss && dt_backward(loss) == DT_OK;
}

static void count_end(void *user) { ++*(int *)user; }

static dt_tensor *cube(dt_tensor *const *x, void *user) {
    (void)user;
    return dt_mul(dt_mul(x[0], x[0]), x[0]);
}

static dt_tensor *multiply_wrongly(dt_tensor *const *x, void *user) {
    (void)user;
    return dt_mul(x[0], dt_ones(x[0]->ctx, DT_SHAPE(5, 5, 5)));
}

/* With records when the last of them is freed, otherwise when the call returns. */
static void checkpoint__ends_what_it_owns_once(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    int ended[4] = {0};
    dt_tensor *x = dt_full(ctx, DT_SHAPE(2), 3, .requires_grad = true);
    dt_tensor *y = dt_checkpoint_owner(cube, &ended[0], count_end, DT_TENSORS(x));
    assert_int_equal(dt_backward(dt_sum(y)), DT_OK);
    assert_int_equal(ended[0], 0);
    dt_drop_newer(ctx, x);
    assert_int_equal(ended[0], 1);
    assert_non_null(dt_checkpoint_owner(cube, &ended[1], count_end, DT_TENSORS(dt_detach(x))));
    dt_drop_newer(ctx, x);
    assert_int_equal(ended[1], 1);
    assert_null(dt_checkpoint_owner(multiply_wrongly, &ended[2], count_end, DT_TENSORS(x)));
    (void)dt_error_clear(ctx);
    assert_null(dt_checkpoint_owner(NULL, &ended[3], count_end, DT_TENSORS(x)));
    (void)dt_error_clear(ctx);
    dt_drop_newer(ctx, x);
    assert_true(ended[2] == 1 && ended[3] == 1);
    assert_int_equal(dt_close(ctx), 0);
}

static void checkpoint__survives_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_recovers_from_failing_allocations(train, NULL, 3) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoint__changes_no_bit),
        cmocka_unit_test(checkpoint__gathers_weights_twice),
        cmocka_unit_test(checkpoint__lowers_the_peak),
        cmocka_unit_test(checkpoint__refuses_what_differs),
        cmocka_unit_test(checkpoint__fails_half_way),
        cmocka_unit_test(checkpoint__has_second_derivatives),
        cmocka_unit_test(checkpoint__ends_what_it_owns_once),
        cmocka_unit_test(checkpoint__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
