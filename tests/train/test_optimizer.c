/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimizers on sharded parameters against the same steps on one rank, and against the formulas of the methods in f64.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <math.h>

/* Numbers of a method, which makes an optimizer. */
typedef struct method {
    enum { ADAM, ADAMW, SGD } kind;
    double lr, beta1, beta2, eps, decay, momentum, dampening;
    bool amsgrad, maximize, nesterov;
} method;

static dt_optimizer *optimizer_of(dt_ctx *ctx, const method *with) {
    if (with->kind == SGD)
        return dt_sgd_new(ctx, with->lr, .momentum = DT_REAL(with->momentum), .dampening = DT_REAL(with->dampening),
                          .weight_decay = DT_REAL(with->decay), .nesterov = with->nesterov,
                          .maximize = with->maximize);
    return (with->kind == ADAM ? dt_adam_new_sized
                               : dt_adamw_new_sized)(ctx, with->lr,
                                                     &(dt_adam_new_options){.beta1 = DT_REAL(with->beta1),
                                                                            .beta2 = DT_REAL(with->beta2),
                                                                            .eps = DT_REAL(with->eps),
                                                                            .weight_decay = DT_REAL(with->decay),
                                                                            .amsgrad = with->amsgrad,
                                                                            .maximize = with->maximize},
                                                     sizeof(dt_adam_new_options));
}

static const method methods[] = {
    /* OPT-001 */
    {ADAM, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
    {ADAM, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.05},
    {ADAM, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.05, .amsgrad = true},
    {ADAM, .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.05, .amsgrad = true, .maximize = true},
    /* OPT-002 */
    {ADAMW, .lr = 0.1, .beta1 = 0.6, .beta2 = 0.66, .eps = 1e-6},
    {ADAMW, .lr = 0.1, .beta1 = 0.6, .beta2 = 0.66, .eps = 1e-6, .decay = 0.05},
    {ADAMW, .lr = 0.1, .beta1 = 0.6, .beta2 = 0.66, .eps = 1e-6, .decay = 0.05, .amsgrad = true},
    {ADAMW, .lr = 0.1, .beta1 = 0.6, .beta2 = 0.66, .eps = 1e-6, .decay = 0.05, .amsgrad = true, .maximize = true},
    /* OPT-003 */
    {SGD, .lr = 0.1},
    {SGD, .lr = 0.1, .momentum = 0.05},
    {SGD, .lr = 0.1, .momentum = 0.06, .dampening = 0.07},
    {SGD, .lr = 0.1, .momentum = 0.08, .decay = 0.05, .nesterov = true, .maximize = true},
};
enum { N_METHODS = sizeof methods / sizeof *methods, N_PARAMS = 4 };

/* 10 -> 16 -> 10, with values that follow from the index; plain without a mesh. */
typedef struct mlp {
    dt_tensor *params[N_PARAMS], *x;
} mlp;

static dt_tensor *filled(dt_ctx *ctx, dt_shape shape, double phase, dt_mesh *mesh, const char *place) {
    dt_tensor *full = dt_zeros(ctx, shape);
    float *values = dt_data(full);
    for (int64_t i = 0; i < dt_tensor_elements(full); i++)
        values[i] = (float)(0.3 * sin(phase + 0.7 * (double)i));
    return mesh ? dt_distribute_tensor(full, mesh, place) : full;
}

static mlp mlp_new(dt_ctx *ctx, dt_mesh *first, const char *first_place, dt_mesh *second, const char *second_place) {
    mlp m = {{filled(ctx, DT_SHAPE(16, 10), 1, first, first_place), filled(ctx, DT_SHAPE(16), 2, first, first_place),
              filled(ctx, DT_SHAPE(10, 16), 3, second, second_place),
              filled(ctx, DT_SHAPE(10), 4, second, second_place)},
             filled(ctx, DT_SHAPE(8, 10), 5, first, first && dt_mesh_n_dims(first) == 2 ? "S(0),R" : "S(0)")};
    for (int i = 0; i < N_PARAMS; i++)
        dt_set_requires_grad(m.params[i], true);
    return m;
}

/* Two steps; the second adds to the gradients of the first. The layers may be on meshes of their own. */
static dt_status train(dt_ctx *ctx, const method *with, const mlp *m) {
    dt_optimizer *opt = optimizer_of(ctx, with);
    const dt_tensors params = {N_PARAMS, m->params};
    for (int s = 0; s < 2; s++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *h = dt_relu(dt_linear(m->x, m->params[0], m->params[1]));
        if (dt_tensor_mesh(h) != dt_tensor_mesh(m->params[2]))
            h = dt_distribute_tensor(dt_full_tensor(h), dt_tensor_mesh(m->params[2]), NULL);
        dt_backward(dt_sum(dt_linear(h, m->params[2], m->params[3])));
        dt_optimizer_step(opt, .parameters = params);
        dt_scope_end(scope);
    }
    dt_optimizer_free(opt);
    return dt_error_status(ctx);
}

static int compare(dt_ctx *ctx, const mlp *got, const mlp *expected, int n) {
    for (int i = 0; i < N_PARAMS; i++) {
        const float *a = dt_data(dt_full_tensor(got->params[i])), *b = dt_data(expected->params[i]);
        CHECK(a, "%s", dt_error_text(ctx));
        for (int64_t k = 0; k < dt_tensor_elements(expected->params[i]); k++)
            CHECK(fabsf(a[k] - b[k]) <= 1e-5F + 1.3e-6F * fabsf(b[k]), "method %d, parameter %d[%lld]: %g, got %g", n,
                  i, (long long)k, (double)b[k], (double)a[k]);
    }
    return 0;
}

/* OPT-012: lists of distributed tensors are stepped in one call. PW-025: they keep their shards, with amsgrad, too. */
static int steps_on_shards(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    for (int n = 0; n < N_METHODS; n++) {
        dt_scope scope = dt_scope_begin(ctx);
        mlp plain = mlp_new(ctx, NULL, NULL, NULL, NULL), sharded = mlp_new(ctx, mesh, "S(0)", mesh, "S(0)");
        CHECK_OK(ctx, train(ctx, &methods[n], &plain));
        CHECK_OK(ctx, train(ctx, &methods[n], &sharded));
        for (int i = 0; i < N_PARAMS; i++)
            CHECK(dt_placement_is_shard(dt_spec_placements(dt_tensor_spec(sharded.params[i]))[0]), "parameter %d", i);
        if (compare(ctx, &sharded, &plain, n))
            return 1;
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void steps__on_shards_are_those_on_one_rank(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n++)
        run_ranks(n, steps_on_shards, NULL);
}

/* OPT-011: the parameters of one step are on a flattened mesh and on the mesh of two dims. */
static int steps_across_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *grid = dt_mesh_new(ctx, dt_world(ctx) == 4 ? "x=2,y=2" : "x=1,y=3");
    dt_mesh *flat = dt_mesh_flatten(grid, "xy");
    for (int n = 4; n < 8; n++) {
        dt_scope scope = dt_scope_begin(ctx);
        mlp plain = mlp_new(ctx, NULL, NULL, NULL, NULL), placed = mlp_new(ctx, flat, "S(0)", grid, "R,S(0)");
        const dt_tensors first = {2, placed.params}, second = {2, placed.params + 2}, all = {4, placed.params};
        CHECK_OK(ctx, train(ctx, &methods[n], &plain));
        dt_optimizer *opt = optimizer_of(ctx, &methods[n]);
        for (int s = 0; s < 2; s++) { /* the chain rule by hand where the activations change their mesh */
            dt_tensor *h = dt_relu(dt_linear(placed.x, placed.params[0], placed.params[1])), *grad;
            dt_tensor *moved = dt_distribute_tensor(dt_full_tensor(dt_detach(h)), grid, NULL);
            dt_set_requires_grad(moved, true);
            dt_backward(dt_sum(dt_linear(moved, placed.params[2], placed.params[3])));
            grad = dt_distribute_tensor(dt_full_tensor(dt_grad(moved)), flat, "S(0)");
            dt_backward(h, .grad = grad);
            CHECK(dt_grad(first.list[1]) && dt_grad(second.list[1]), "%s", dt_error_text(ctx));
            CHECK_OK(ctx, dt_optimizer_step(opt, .parameters = all));
        }
        if (compare(ctx, &placed, &plain, n))
            return 1;
        dt_scope_end(scope);
    }
    dt_mesh_release(flat);
    dt_mesh_release(grid);
    return 0;
}

static void steps__take_parameters_of_several_meshes(void **state) {
    (void)state;
    run_ranks(4, steps_across_meshes, NULL);
    run_ranks(3, steps_across_meshes, NULL);
}

/* The formula of PyTorch's documentation for AMSGrad, in f64; the others are in tests/ops/test_optimizers.c. */
static void amsgrad__follows_the_formula(void **state) {
    (void)state;
    enum { N = 7, STEPS = 6 };
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *p = dt_ones(ctx, DT_SHAPE(N), .dtype = DT_F64, .requires_grad = true);
    dt_tensor *g = dt_zeros(ctx, DT_SHAPE(N), .dtype = DT_F64);
    dt_optimizer *opt = dt_adam_new(ctx, 0.1, .beta2 = DT_REAL(0.5), .amsgrad = true);
    double expected[N], m[N] = {0}, v[N] = {0}, largest[N] = {0}, *values = dt_data(g);
    for (int i = 0; i < N; i++)
        expected[i] = 1;
    for (int s = 1; s <= STEPS; s++) {
        for (int i = 0; i < N; i++) {
            double grad = values[i] = sin(i + 1.0) / s; /* shrinks, so that the largest counts */
            m[i] = 0.9 * m[i] + 0.1 * grad;
            v[i] = 0.5 * v[i] + 0.5 * grad * grad;
            largest[i] = fmax(largest[i], v[i]);
            expected[i] -= 0.1 * (m[i] / (1 - pow(0.9, s))) / (sqrt(largest[i] / (1 - pow(0.5, s))) + 1e-8);
        }
        dt_zero_grad(DT_TENSORS(p));
        dt_backward(dt_sum(dt_mul(p, g)));
        assert_int_equal(dt_optimizer_step(opt, .parameters = DT_TENSORS(p)), DT_OK);
    }
    for (int i = 0; i < N; i++) {
        assert_float_equal(((double *)dt_data(p))[i], expected[i], 1e-12);
        assert_float_equal(((double *)dt_data(dt_optimizer_state(opt, p, "max_exp_avg_sq")))[i], largest[i], 1e-15);
    }
    assert_int_equal(dt_close(ctx), 0);
}

/* A parameter without a gradient keeps its value and its state; each has its own number of steps. */
static void states__belong_to_parameters(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true),
              *b = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true);
    dt_tensor *half = dt_ones(ctx, DT_SHAPE(2), .dtype = DT_BF16, .requires_grad = true);
    dt_optimizer *opt = dt_adamw_new(ctx, 0.1), *alone = dt_adamw_new(ctx, 0.1);
    dt_tensor *same = dt_ones(ctx, DT_SHAPE(2), .requires_grad = true);
    for (int s = 0; s < 4; s++) {
        dt_zero_grad(DT_TENSORS(a, b, same, half));
        dt_backward(dt_sum(a));
        if (s % 2) {
            dt_backward(dt_sum(dt_mul(b, b)));
            dt_backward(dt_sum(dt_mul(same, same)));
            dt_backward(dt_sum(half));
        }
        /* in another order each time */
        assert_int_equal(
            dt_optimizer_step(opt, .parameters = s < 2 ? DT_TENSORS(a, half, b) : DT_TENSORS(b, a, half)), DT_OK);
        assert_int_equal(dt_optimizer_step(alone, .parameters = DT_TENSORS(same)), DT_OK);
    }
    assert_int_equal(dt_optimizer_n_steps(opt, a), 4);
    assert_int_equal(dt_optimizer_n_steps(opt, b), 2);
    assert_int_equal(dt_optimizer_n_steps(opt, same), 0);
    assert_memory_equal(dt_data(b), dt_data(same), 2 * sizeof(float));
    assert_int_equal(dt_tensor_dtype(dt_optimizer_state(opt, half, "exp_avg")), DT_F32);
    assert_null(dt_optimizer_state(opt, a, "momentum_buffer"));
    assert_null(dt_optimizer_state(opt, same, "exp_avg"));
    assert_int_equal(dt_optimizer_set_lr(opt, 0), DT_OK);
    assert_float_equal(dt_optimizer_lr(opt), 0, 0);
    dt_optimizer_free(alone); /* the other one is freed with the context */
    assert_int_equal(dt_close(ctx), 0);
}

static void step_by(dt_optimizer *opt, dt_tensor *p) {
    dt_zero_grad(DT_TENSORS(p));
    dt_backward(dt_sum(dt_mul(p, p)));
    assert_int_equal(dt_optimizer_step(opt, .parameters = DT_TENSORS(p)), DT_OK);
}

/* An optimizer that gets the state and the number of steps of another one continues as that would. */
static void states__are_restored(void **state) {
    (void)state;
    static const char *const names[] = {"exp_avg", "exp_avg_sq"};
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *a = dt_linspace(ctx, -1, 2, 5, .requires_grad = true);
    dt_optimizer *first = dt_adamw_new(ctx, 0.1), *second = dt_adamw_new(ctx, 0.1);
    step_by(first, a);
    step_by(first, a);
    dt_tensor *b = dt_clone(dt_detach(a));
    dt_set_requires_grad(b, true);
    assert_int_equal(dt_optimizer_set_n_steps(second, b, dt_optimizer_n_steps(first, a)), DT_OK);
    for (int i = 0; i < 2; i++)
        assert_non_null(dt_copy_(dt_optimizer_state(second, b, names[i]), dt_optimizer_state(first, a, names[i])));
    step_by(first, a);
    step_by(second, b);
    assert_int_equal(dt_optimizer_n_steps(second, b), 3);
    assert_memory_equal(dt_data(a), dt_data(b), 5 * sizeof(float));
    assert_int_equal(dt_optimizer_set_n_steps(second, b, -1), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "optimizer_set_n_steps: n_steps: expected at least 0, got -1");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

/* OPT-013: numbers that change with each step add no decisions. */
static void steps__add_no_decisions(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    mlp m = mlp_new(ctx, mesh, "S(0)", mesh, "S(0)");
    const dt_tensors params = {N_PARAMS, m.params};
    dt_optimizer *opt = dt_adamw_new(ctx, 0.1);
    int64_t n_misses = 0;
    for (int s = 0; s < 13; s++) {
        dt_scope scope = dt_scope_begin(ctx);
        if (s == 3)
            n_misses = dt_cache_stats(ctx).n_misses;
        dt_zero_grad(params);
        dt_backward(dt_sum(dt_linear(dt_relu(dt_linear(m.x, m.params[0], m.params[1])), m.params[2], m.params[3])));
        dt_clip_grad_norm(params, 0.5);
        dt_optimizer_step(opt, .parameters = params);
        dt_optimizer_set_lr(opt, 0.1 / (s + 1));
        dt_scope_end(scope);
    }
    assert_int_equal(dt_cache_stats(ctx).n_misses, n_misses);
    dt_mesh_release(mesh);
    assert_int_equal(dt_close(ctx), 0);
}

static void errors__name_what_is_wrong(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_tensor *p = dt_ones(ctx, DT_SHAPE(3), .requires_grad = true);
    dt_optimizer *opt = dt_sgd_new(ctx, 0.1);
    dt_backward(dt_sum(p));
    assert_null(dt_adamw_new(ctx, -1));
    assert_error_contains(ctx, DT_ERR_VALUE, "adamw_new: lr: expected a finite number >= 0, got -1");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_adam_new(ctx, 0.1, .beta2 = DT_REAL(1)));
    assert_error_contains(ctx, DT_ERR_VALUE, "beta2: expected 0 <= beta2 < 1, got 1");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_null(dt_sgd_new(ctx, 0.1, .nesterov = true));
    assert_error_contains(ctx, DT_ERR_VALUE, "nesterov: expected a momentum and no dampening, got 0 and 0");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_optimizer_step(opt), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE,
                          "optimizer_step: expected .parameters, or an optimizer that was made with");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_optimizer_step(opt, .parameters = DT_TENSORS(p), .grad_scale = DT_REAL(INFINITY)),
                     DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "grad_scale: expected a finite number, got inf");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_optimizer_step(opt, .parameters = DT_TENSORS(p, p)), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "optimizer_step: parameter 2 is in the list twice");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_optimizer_step(opt, .parameters = DT_TENSORS(p)),
                     DT_OK); /* and what was refused left no trace */
    assert_int_equal(dt_optimizer_n_steps(opt, p), 1);
    dt_optimizer_free(opt);
    assert_int_equal(dt_optimizer_step(opt, .parameters = DT_TENSORS(p)), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "was freed at");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

/* PW-026: parameters in strided shards on a mesh of two dims keep them. */
static int strided_steps(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");
    mlp plain = mlp_new(ctx, NULL, NULL, NULL, NULL);
    mlp strided = mlp_new(ctx, mesh, "_S(0,2),S(0)", mesh, "_S(0,2),S(0)");
    const dt_spec *before[N_PARAMS];
    for (int i = 0; i < N_PARAMS; i++)
        before[i] = dt_tensor_spec(strided.params[i]);
    for (int n = 4; n < 8; n++) { /* AdamW */
        CHECK_OK(ctx, train(ctx, &methods[n], &plain));
        CHECK_OK(ctx, train(ctx, &methods[n], &strided));
        for (int i = 0; i < N_PARAMS; i++)
            CHECK(dt_tensor_spec(strided.params[i]) == before[i], "PW-026: parameter %d moved", i);
        if (compare(ctx, &strided, &plain, n))
            return 1;
    }
    dt_mesh_release(mesh);
    return 0;
}

static void steps__keep_strided_shards(void **state) {
    (void)state;
    run_ranks(4, strided_steps, NULL);
}

/* DTC-025: the local tensor of a parameter is a view of columns of a matrix, that of its gradient one of a vector. */
static int steps_on_views(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_from_shape(ctx, (int64_t[]){dt_world(ctx)}, 1, NULL);
    dt_tensor *matrix = filled(ctx, DT_SHAPE(3, 5), 1, NULL, NULL), *vector = filled(ctx, DT_SHAPE(9), 2, NULL, NULL);
    dt_tensor *before = dt_clone(matrix);
    dt_tensor *local = dt_slice(matrix, 1, 1, 3, 1),
              *local_grad = dt_view(dt_slice(vector, 0, 2, 8, 1), DT_SHAPE(3, 2));
    dt_tensor *p = dt_from_local(ctx, local, mesh, "S(0)"), *grad = dt_from_local(ctx, local_grad, mesh, "S(0)");
    CHECK(p && grad, "%s", dt_error_text(ctx));
    CHECK(dt_sgd_(p, grad, 0.5), "%s", dt_error_text(ctx));
    const float *now = dt_data(matrix), *was = dt_data(before), *g = dt_data(vector);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 5; c++) {
            float expected = was[r * 5 + c] - (c == 1 || c == 2 ? 0.5F * g[2 + r * 2 + c - 1] : 0);
            CHECK(fabsf(now[r * 5 + c] - expected) <= 1e-7F, "DTC-025: [%d,%d]: expected %g, got %g", r, c,
                  (double)expected, (double)now[r * 5 + c]);
        }
    dt_mesh_release(mesh);
    return 0;
}

static void steps__write_through_views(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 3; n++)
        run_ranks(n, steps_on_views, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps__on_shards_are_those_on_one_rank),
        cmocka_unit_test(steps__take_parameters_of_several_meshes),
        cmocka_unit_test(steps__keep_strided_shards),
        cmocka_unit_test(steps__write_through_views),
        cmocka_unit_test(amsgrad__follows_the_formula),
        cmocka_unit_test(states__belong_to_parameters),
        cmocka_unit_test(states__are_restored),
        cmocka_unit_test(steps__add_no_decisions),
        cmocka_unit_test(errors__name_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
