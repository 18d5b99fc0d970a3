/* SPDX-License-Identifier: Apache-2.0
 *
 * Every optimizer over 20 steps against recorded values (optimizer_steps.h, record_optimizers.py), plain and sharded,
 * in f64 and f32; optimizers over named parameters with the factors of rules; schedules and the scale of losses. Ranks
 * 1, 2, 3, 5 and 7 on shm.
 */
#include "support/ranks.h"
#include "train/optimizer_steps.h"

#include "dtensor/dtensor.h"

#include <math.h>
#include <string.h>

/* As in record_optimizers.py. */
static double start_of(int64_t i) { return 0.25 * (double)i - 0.6; }
static double gradient_of(int64_t i, int t) {
    return i == 5 && t % 3 == 0 ? 0 : sin(0.7 * t + 1.3 * (double)i) * pow(10, (double)i - 3);
}

static dt_tensor *vector_of(dt_ctx *ctx, dt_dtype dtype, dt_mesh *mesh, int t, double scale) {
    dt_tensor *full = dt_zeros(ctx, DT_SHAPE(N_ELEMENTS), .dtype = DT_F64);
    for (int64_t i = 0; i < N_ELEMENTS; i++)
        ((double *)dt_data(full))[i] = t ? scale * gradient_of(i, t) : start_of(i);
    full = dtype == DT_F64 ? full : dt_to(full, dtype);
    return mesh ? dt_distribute_tensor(full, mesh, "S(0)") : full;
}

/* The parameter after all steps; the gradient of sum(p * c) is c. */
static dt_tensor *train(dt_ctx *ctx, dt_optimizer *opt, dt_dtype dtype, dt_mesh *mesh, double scale) {
    dt_tensor *p = vector_of(ctx, dtype, mesh, 0, 1);
    dt_set_requires_grad(p, true);
    for (int t = 1; t <= N_STEPS; t++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_backward(dt_sum(dt_mul(p, vector_of(ctx, dtype, mesh, t, scale))));
        dt_optimizer_step(opt, .parameters = DT_TENSORS(p), .grad_scale = DT_REAL(1 / scale));
        dt_zero_grad(DT_TENSORS(p));
        dt_scope_end(scope);
    }
    dt_optimizer_free(opt);
    return p;
}

static int compare(dt_ctx *ctx, const char *call, dt_tensor *p, const double *expected, double tolerance) {
    dt_tensor *full = dt_to(dt_tensor_spec(p) ? dt_full_tensor(p) : dt_detach(p), DT_F64);
    const double *got = dt_data(full);
    CHECK(got, "%s: %s", call, dt_error_text(ctx));
    for (int i = 0; i < N_ELEMENTS; i++)
        CHECK(fabs(got[i] - expected[i]) <= tolerance * fmax(1, fabs(expected[i])),
              "%s: element %d: expected %.17g, got %.17g", call, i, expected[i], got[i]);
    return 0;
}

/* OPT-004, OPT-005, OPT-007, OPT-008, OPT-009 */
static int steps_as_recorded(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
#define RECORDED(optimizer, ...)                                                                                     \
    {                                                                                                                \
        static const double expected[N_ELEMENTS] = {__VA_ARGS__};                                                    \
        dt_scope scope = dt_scope_begin(ctx);                                                                        \
        CHECK(!compare(ctx, #optimizer, train(ctx, optimizer, DT_F64, NULL, 1), expected, 1e-12), "plain");          \
        CHECK(!compare(ctx, #optimizer, train(ctx, optimizer, DT_F64, mesh, 1), expected, 1e-12), "sharded");        \
        CHECK(!compare(ctx, #optimizer, train(ctx, optimizer, DT_F64, mesh, 1024), expected, 1e-12), "scaled");      \
        CHECK(!compare(ctx, #optimizer, train(ctx, optimizer, DT_F32, mesh, 1), expected, 2e-4), "in f32");          \
        dt_scope_end(scope);                                                                                         \
    }
    RECORDED_STEPS(RECORDED)
    dt_mesh_release(mesh);
    return 0;
}

static void methods__step_as_recorded(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 5};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], steps_as_recorded, NULL);
}

/* State continues: 10 steps, the state copied to another optimizer with the number of steps, 10 more. */
static void methods__continue_from_their_state(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    dt_optimizer *all[] = {dt_nadam_new(ctx, 0.1), dt_nadam_new(ctx, 0.1)};
    dt_tensor *p[2] = {vector_of(ctx, DT_F64, NULL, 0, 1), vector_of(ctx, DT_F64, NULL, 0, 1)};
    for (int k = 0; k < 2; k++) {
        dt_set_requires_grad(p[k], true);
        for (int t = 1; t <= N_STEPS; t++) {
            if (k == 1 && t == 11) { /* as from a checkpoint */
                dt_optimizer *again = dt_nadam_new(ctx, 0.1);
                assert_int_equal(dt_optimizer_set_n_steps(again, p[k], 10), DT_OK);
                static const char *const names[] = {"exp_avg", "exp_avg_sq"};
                for (int s = 0; s < 2; s++)
                    dt_copy_(dt_optimizer_state(again, p[k], names[s]), dt_optimizer_state(all[k], p[k], names[s]));
                all[k] = again;
            }
            dt_backward(dt_sum(dt_mul(p[k], vector_of(ctx, DT_F64, NULL, t, 1))));
            dt_optimizer_step(all[k], .parameters = DT_TENSORS(p[k]));
            dt_zero_grad(DT_TENSORS(p[k]));
        }
    }
    assert_memory_equal(dt_data(p[0]), dt_data(p[1]), N_ELEMENTS * sizeof(double));
    assert_int_equal(dt_close(ctx), 0);
}

/* Factors of the rules: a parameter with lr=0.5 and decay=0 steps as alone with those numbers. */
static int steps_named_parameters(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_params *p = dt_params_new(ctx, .mesh = mesh, .rules = "a.* tp=S(0)\n*.slow lr=0.5 decay=0\n*.still freeze\n",
                                 .dtype = DT_F64);
    static const char *const names[] = {"a.plain", "a.slow", "a.still", "b.slow"};
    dt_optimizer *opt = dt_adamw_new(ctx, 0.1, .weight_decay = DT_REAL(0.2), .params = p);
    for (int i = 0; i < 4; i++)
        dt_param(p, names[i], DT_SHAPE(N_ELEMENTS), .value = DT_REAL(2));
    for (int t = 1; t <= 5; t++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *loss = NULL;
        for (int i = 0; i < 4; i++) {
            dt_tensor *w = dt_params_tensor(p, i), *c = vector_of(ctx, DT_F64, mesh, t, 1);
            dt_tensor *term = dt_sum(dt_mul(w, i == 3 ? dt_redistribute(c, "R") : c));
            loss = loss ? dt_add(loss, term) : term;
        }
        dt_backward(loss);
        CHECK_OK(ctx, dt_optimizer_step(opt));
        CHECK(dt_grad(dt_params_tensor(p, 0)) != NULL, "gradients stay");
        dt_zero_grad(dt_params_list(p, NULL));
        dt_scope_end(scope);
    }
    for (int i = 0; i < 4; i++) {
        const bool slow = i == 1 || i == 3;
        dt_tensor *w = dt_full(ctx, DT_SHAPE(N_ELEMENTS), 2, .dtype = DT_F64, .requires_grad = true);
        dt_optimizer *alone = dt_adamw_new(ctx, slow ? 0.05 : 0.1, .weight_decay = DT_REAL(slow ? 0 : 0.2));
        for (int t = 1; t <= 5 && i != 2; t++) {
            dt_backward(dt_sum(dt_mul(w, vector_of(ctx, DT_F64, NULL, t, 1))));
            dt_optimizer_step(alone, .parameters = DT_TENSORS(w));
            dt_zero_grad(DT_TENSORS(w));
        }
        CHECK(!compare(ctx, names[i], dt_params_tensor(p, i), dt_data(w), 0), "rank %lld", (long long)dt_rank(ctx));
        CHECK(dt_optimizer_n_steps(opt, dt_params_tensor(p, i)) == (i == 2 ? 0 : 5), "%s", names[i]);
    }
    CHECK(dt_optimizer_step(opt, .parameters = DT_TENSORS(dt_params_tensor(p, 0))) == DT_ERR_VALUE, "both lists");
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void optimizer__steps_named_parameters_by_their_rules(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 7};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], steps_named_parameters, NULL);
}

static void optimizer__refuses_rules_without_effect(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    dt_params *p = dt_params_new(ctx, .rules = "*.wieght decay=0");
    dt_optimizer *opt = dt_sgd_new(ctx, 0.1, .params = p); /* the list is still empty */
    assert_non_null(opt);
    dt_tensor *w = dt_param(p, "a.weight", DT_SHAPE(3), .value = DT_REAL(1));
    assert_null(dt_sgd_new(ctx, 0.1, .params = p));
    assert_error_contains(ctx, DT_ERR_VALUE, "sgd_new: rules: line 1: '*.wieght' matches none of the 1 parameters");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    dt_backward(dt_sum(w));
    assert_int_equal(dt_optimizer_step(opt), DT_ERR_VALUE);
    assert_error_contains(ctx, DT_ERR_VALUE, "did you mean a.weight?");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_true(*(const float *)dt_data(w) == 1);
    dt_params_free(p);
    assert_int_equal(dt_optimizer_step(opt), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "list of parameters");
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_int_equal(dt_close(ctx), 0);
}

/* Ranks whose new options differ get an error that names the option. */
typedef struct divergence {
    dt_optimizer *(*make)(dt_ctx *ctx, bool differs);
    const char *part;
} divergence;
static dt_optimizer *differing_alpha(dt_ctx *ctx, bool differs) {
    return dt_rmsprop_new(ctx, 0.1, .alpha = DT_REAL(differs ? 0.5 : 0.9));
}
static dt_optimizer *differing_centered(dt_ctx *ctx, bool differs) {
    return dt_rmsprop_new(ctx, 0.1, .centered = differs);
}
static dt_optimizer *differing_lr_decay(dt_ctx *ctx, bool differs) {
    return dt_adagrad_new(ctx, 0.1, .lr_decay = DT_REAL(differs ? 0.5 : 0));
}
static dt_optimizer *differing_accumulator(dt_ctx *ctx, bool differs) {
    return dt_adagrad_new(ctx, 0.1, .initial_accumulator_value = DT_REAL(differs ? 0.5 : 0));
}
static dt_optimizer *differing_momentum_decay(dt_ctx *ctx, bool differs) {
    return dt_nadam_new(ctx, 0.1, .momentum_decay = DT_REAL(differs ? 0.5 : 0));
}
static dt_optimizer *differing_decoupling(dt_ctx *ctx, bool differs) {
    return dt_radam_new(ctx, 0.1, .decoupled_weight_decay = differs);
}
static dt_optimizer *same_lion(dt_ctx *ctx, bool differs) {
    (void)differs;
    return dt_lion_new(ctx, 0.1);
}

static int diverge(dt_ctx *ctx, void *arg) {
    const divergence *d = arg;
    const bool differs = dt_rank(ctx) == 1;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(3), .mesh = mesh, .requires_grad = true);
    dt_optimizer *opt = d->make(ctx, differs);
    dt_backward(dt_sum(w));
    dt_optimizer_step(opt, .parameters = DT_TENSORS(w),
                      .grad_scale = DT_REAL(d->make == same_lion && differs ? 0.5 : 0.25));
    dt_item(dt_sum(dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)")));
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(dt_error_text(ctx), d->part), "expected %s, got %s",
          d->part, dt_error_text(ctx));
    CHECK(dt_error_clear(ctx) == DT_OK, "%s", dt_error_text(ctx));
    return 0;
}

static void optimizer__numbers_that_differ_between_ranks_are_named(void **state) {
    (void)state;
    static const divergence all[] = {
        {differing_alpha, "; alpha=0.5)"},
        {differing_centered, "; centered=1)"},
        {differing_lr_decay, "; lr_decay=0.5)"},
        {differing_accumulator, "; initial_accumulator_value=0.5)"},
        {differing_momentum_decay, "; momentum_decay=0.5)"},
        {differing_decoupling, "; decoupled_weight_decay=1)"},
        {same_lion, "; grad_scale=0.5)"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        run_ranks(2 + (int64_t)(i % 2), diverge, (void *)&all[i]);
}

static void assert_near(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-15))
        fail_msg("expected %.17g, got %.17g", expected, got);
}

static void schedules__are_pure_functions(void **state) {
    (void)state;
    assert_near(dt_lr_constant(0, 0.4, 4), 0.1);
    assert_near(dt_lr_constant(3, 0.4, 4), 0.4);
    assert_near(dt_lr_constant(1000, 0.4, 0), 0.4);
    assert_near(dt_lr_linear(1, 1, 0.2, 4, 12), 0.5);
    assert_near(dt_lr_linear(4, 1, 0.2, 4, 12), 1);
    assert_near(dt_lr_linear(8, 1, 0.2, 4, 12), 0.6);
    assert_near(dt_lr_linear(12, 1, 0.2, 4, 12), 0.2);
    assert_near(dt_lr_linear(99, 1, 0.2, 4, 12), 0.2);
    assert_near(dt_lr_cosine(4, 1, 0.2, 4, 12), 1);
    assert_near(dt_lr_cosine(8, 1, 0.2, 4, 12), 0.6);
    assert_near(dt_lr_cosine(6, 1, 0, 4, 12), 0.5 * (1 + cos(acos(-1) / 4)));
    assert_near(dt_lr_cosine(12, 1, 0.2, 4, 12), 0.2);
    assert_near(dt_lr_cosine(7, 1, 0.2, 0, 0), 0.2);
    assert_near(dt_lr_wsd(7, 1, 0, 2, 4, 12), 1);
    assert_near(dt_lr_wsd(10, 1, 0, 2, 4, 12), 0.5);
    assert_near(dt_lr_wsd(12, 1, 0, 2, 4, 12), 0);
    assert_near(dt_lr_step(9, 1, 0.5, 10), 1);
    assert_near(dt_lr_step(20, 1, 0.5, 10), 0.25);
    assert_near(dt_lr_step(20, 1, 0.5, 0), 1);
}

/* A step that overflows on one rank is skipped on all, and changes nothing. */
static int skips_together(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");
    dt_scaler scaler = dt_scaler_default();
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(5), .mesh = mesh, .place = "S(0)", .requires_grad = true);
    dt_optimizer *opt = dt_sgd_new(ctx, 0.5);
    scaler.interval = 2;
    for (int t = 0; t < 4; t++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *c = dt_full(ctx, DT_SHAPE(5), t == 1 ? 1e36 : 1, .mesh = mesh, .place = "S(0)");
        dt_backward(dt_mul_scalar(dt_sum(dt_mul(w, c)), scaler.scale));
        const double scale = scaler.scale, norm = dt_item(dt_clip_grad_norm(DT_TENSORS(w), 1e9 * scale));
        const bool steps = dt_scaler_update(&scaler, norm);
        CHECK(steps == (t != 1), "step %d: norm %g", t, norm);
        if (steps)
            CHECK_OK(ctx, dt_optimizer_step(opt, .parameters = DT_TENSORS(w), .grad_scale = DT_REAL(1 / scale)));
        dt_zero_grad(DT_TENSORS(w));
        dt_scope_end(scope);
    }
    CHECK(scaler.scale == 65536 && scaler.n_finite == 0, "halved, then doubled after two: %g", scaler.scale);
    CHECK(dt_item(dt_sum(w)) == 5 * (1 - 3 * 0.5), "%g", dt_item(dt_sum(w)));
    dt_mesh_release(mesh);
    return 0;
}

static void scaler__skips_a_step_on_all_ranks(void **state) {
    (void)state;
    static const int64_t worlds[] = {1, 2, 3, 7};
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], skips_together, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods__step_as_recorded),
        cmocka_unit_test(methods__continue_from_their_state),
        cmocka_unit_test(optimizer__steps_named_parameters_by_their_rules),
        cmocka_unit_test(optimizer__refuses_rules_without_effect),
        cmocka_unit_test(optimizer__numbers_that_differ_between_ranks_are_named),
        cmocka_unit_test(schedules__are_pure_functions),
        cmocka_unit_test(scaler__skips_a_step_on_all_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
