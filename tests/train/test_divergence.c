/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks whose optimizers, clips or parameters differ: every rank gets an error in the next transfer on the mesh, and
 * with DTENSOR_CHECK_CALLS in the call itself, that names the option or the parameter with both values.
 */
#include "support/launch.h"

#include <dtensor/dtensor.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a training program does: two clipped steps over three parameters. */
typedef struct settings {
    bool is_adam, amsgrad, nesterov, maximize, error_if_nonfinite;
    double lr, weight_decay, beta1, beta2, eps, momentum, dampening, max_norm, norm_type;
    double later_lr, later_scale; /* of the second step */
    dt_scaler scaler;             /* of both losses */
    int n_parameters, n_steps;
    bool swaps;       /* the first two parameters, when they are stepped for the second time */
    bool loses_first; /* the gradient of the last parameter, before the first clip */
    bool loses_later; /* and before the second step */
    bool clips_other; /* in place of the last parameter, one with the same spec */
    bool steps_other;
} settings;

static const settings common = {.lr = 0.1,
                                .beta1 = 0.9,
                                .beta2 = 0.999,
                                .eps = 1e-8,
                                .momentum = 0.9,
                                .max_norm = 1,
                                .norm_type = 2,
                                .later_lr = 0.1,
                                .later_scale = 1,
                                .scaler = {.scale = 8, .growth = 2, .backoff = 0.5, .interval = 1},
                                .n_parameters = 3,
                                .n_steps = 4};

static void set_weight_decay(settings *s) { s->weight_decay = 0.5; }
static void set_beta1(settings *s) { s->beta1 = 0.5; }
static void set_beta2(settings *s) { s->beta2 = 0.5; }
static void set_eps(settings *s) { s->eps = 0.1; }
static void set_amsgrad(settings *s) { s->amsgrad = true; }
static void set_maximize(settings *s) { s->maximize = true; }
static void set_rate(settings *s) { s->lr = 0.01; }
static void set_momentum(settings *s) { s->momentum = 0.8; }
static void set_nesterov(settings *s) { s->nesterov = true; }
static void set_norm_type(settings *s) { s->norm_type = 3; }
static void set_max_norm(settings *s) { s->max_norm = 0.5; }
static void set_refusal(settings *s) { s->error_if_nonfinite = true; }
static void set_count(settings *s) { s->n_parameters = 2; }
static void set_steps(settings *s) { s->n_steps = 5; }
static void swap(settings *s) { s->swaps = true; }
static void lose_first(settings *s) { s->loses_first = true; }
static void lose_later(settings *s) { s->loses_later = true; }
static void clip_other(settings *s) { s->clips_other = true; }
static void step_other(settings *s) { s->steps_other = true; }
static void set_later_rate(settings *s) { s->later_lr = dt_lr_linear(1, 0.1, 0, 0, 10); }
static void set_later_scale(settings *s) { s->later_scale = 0.5; }
static void set_growth(settings *s) { s->scaler.growth = 4; }

/* What rank 1 does differently, and what the errors contain. */
typedef struct variant {
    const char *name;
    bool is_adam;
    void (*change)(settings *s);
    const char *part, *differing_part;
} variant;
static const variant variants[] = {
    {"weight decay", true, set_weight_decay, "; weight_decay=0)", "; weight_decay=0.5)"},
    {"beta1", true, set_beta1, "; beta1=0.9)", "; beta1=0.5)"},
    {"beta2", true, set_beta2, "; beta2=0.999)", "; beta2=0.5)"},
    {"eps", true, set_eps, "; eps=1e-08)", "; eps=0.1)"},
    {"amsgrad", true, set_amsgrad, "; amsgrad=0)", "; amsgrad=1)"},
    {"maximize", true, set_maximize, "; maximize=0)", "; maximize=1)"},
    {"rate", false, set_rate, "optimizer_step(f32[2,2] R on mesh(tp=", "; lr=0.01)"},
    {"weight decay of SGD", false, set_weight_decay, "; weight_decay=0)", "; weight_decay=0.5)"},
    {"momentum", false, set_momentum, "; momentum=0.9)", "; momentum=0.8)"},
    {"nesterov", false, set_nesterov, "; nesterov=0)", "; nesterov=1)"},
    {"maximize of SGD", false, set_maximize, "; maximize=0)", "; maximize=1)"},
    {"norm type", false, set_norm_type, "clip_grad_norm(f32[2,2] R on mesh(tp=", "; norm_type=3)"},
    {"largest norm", false, set_max_norm, "; max_norm=1)", "; max_norm=0.5)"},
    {"refusal of NaN", false, set_refusal, "; error_if_nonfinite=0)", "; error_if_nonfinite=1)"},
    {"a shorter list", false, set_count, "; parameters=3)", "; parameters=2)"},
    {"another order", false, swap, "; parameters with a gradient=3)", "; parameter with a gradient=1)"},
    {"no gradient", false, lose_first, "; parameters with a gradient=3)", "; parameters with a gradient=2)"},
    {"no gradient later", false, lose_later, "; parameters with a gradient=3)", "; parameter without a gradient=3)"},
    {"steps", false, set_steps, "; n_steps=4)", "; n_steps=5)"},
    {"another parameter in a clip", false, clip_other,
     "; hash of the parameters with a gradient=", " and clip_grad_norm("},
    {"another parameter", false, step_other, "; call that made it=3)", "; call that made it=4)"},
    {"schedule", true, set_later_rate, "; lr=0.1)", "; lr=0.09)"},
    {"scale of gradients", true, set_later_scale, "; grad_scale=0.0625)", "; grad_scale=0.03125)"},
    {"growth of a scaler", true, set_growth, "mul(f32[] R) with 16", "mul(f32[] R) with 32"},
};

static dt_optimizer *optimizer_of(dt_ctx *ctx, const settings *s) {
    return s->is_adam
               ? dt_adamw_new(ctx, s->lr, .weight_decay = DT_REAL(s->weight_decay), .beta1 = DT_REAL(s->beta1),
                              .beta2 = DT_REAL(s->beta2), .eps = DT_REAL(s->eps), .amsgrad = s->amsgrad,
                              .maximize = s->maximize)
               : dt_sgd_new(ctx, s->lr, .weight_decay = DT_REAL(s->weight_decay), .momentum = DT_REAL(s->momentum),
                            .dampening = DT_REAL(s->dampening), .nesterov = s->nesterov, .maximize = s->maximize);
}

static void train(dt_ctx *ctx, dt_mesh *mesh, const settings *s) {
    dt_tensor *p[4] = {dt_ones(ctx, DT_SHAPE(2, 2), .mesh = mesh, .requires_grad = true),
                       dt_ones(ctx, DT_SHAPE(2, 2), .mesh = mesh, .requires_grad = true),
                       dt_ones(ctx, DT_SHAPE(3), .mesh = mesh, .requires_grad = true),
                       dt_ones(ctx, DT_SHAPE(3), .mesh = mesh, .requires_grad = true)};
    dt_optimizer *optimizer = optimizer_of(ctx, s);
    dt_scaler scaler = s->scaler;
    dt_optimizer_set_n_steps(optimizer, p[0], s->n_steps);
    for (int i = 0; i < 2; i++) {
        const bool swaps = i == 1 && s->swaps;
        dt_tensors clipped = {s->n_parameters, (dt_tensor *[]){p[0], p[1], p[s->clips_other ? 3 : 2]}};
        dt_tensors stepped = {s->n_parameters, (dt_tensor *[]){p[swaps], p[!swaps], p[s->steps_other ? 3 : 2]}};
        const double scale = scaler.scale;
        dt_zero_grad(DT_TENSORS(p[0], p[1], p[2], p[3]));
        dt_tensor *loss = dt_add(dt_sum(dt_mul(p[0], p[1])), dt_sum(dt_mul(dt_exp(p[2]), dt_exp(p[3]))));
        dt_backward(dt_mul_scalar(loss, DT_NUMBER(scale)));
        if (s->loses_first)
            dt_zero_grad(DT_TENSORS(p[2]));
        dt_tensor *norm = dt_clip_grad_norm(clipped, s->max_norm, .norm_type = DT_REAL(s->norm_type),
                                            .error_if_nonfinite = s->error_if_nonfinite);
        dt_scaler_update(&scaler, norm ? dt_item(norm) : INFINITY);
        if (s->loses_later && i == 1)
            dt_zero_grad(DT_TENSORS(p[2]));
        if (i == 1)
            dt_optimizer_set_lr(optimizer, s->later_lr);
        dt_optimizer_step(optimizer, .parameters = stepped, .grad_scale = DT_REAL((i ? s->later_scale : 1) / scale));
    }
}

static int diverge(dt_ctx *ctx, void *arg) {
    const variant *v = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    settings s = common;
    s.is_adam = v->is_adam;
    if (dt_rank(ctx) == 1 && v->change)
        v->change(&s);
    train(ctx, mesh, &s);
    double sum = dt_item(dt_sum(dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)")));
    const char *text = dt_error_text(ctx);
    if (!v->change) {
        CHECK(sum == 8, "%s", text);
        return 0;
    }
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH, "%s: rank %lld: expected mismatch, got %s: %s", v->name,
          (long long)dt_rank(ctx), dt_status_name(dt_error_status(ctx)), text);
    CHECK(strstr(text, v->part) && strstr(text, v->differing_part), "%s: expected %s and %s, got: %s", v->name,
          v->part, v->differing_part, text);
    CHECK(dt_error_clear(ctx) == DT_OK, "%s: %s", v->name, dt_error_text(ctx));
    return 0;
}

static void run_variants(void) {
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        run_ranks(2 + (int64_t)(i % 2), diverge, (void *)&variants[i]);
}

static void divergence__of_training_names_what_differs(void **state) {
    (void)state;
    run_variants();
}

static void divergence__of_training_is_found_at_once_when_calls_are_checked(void **state) {
    (void)state;
    setenv("DTENSOR_CHECK_CALLS", "1", 1);
    run_variants();
    unsetenv("DTENSOR_CHECK_CALLS");
}

static void training__alike_is_no_divergence(void **state) {
    (void)state;
    static const variant alike[] = {{.name = "adam", .is_adam = true}, {.name = "sgd"}};
    for (int64_t n = 1; n <= 4; n++)
        for (int i = 0; i < 2; i++)
            run_ranks(n, diverge, (void *)&alike[i]);
}

/* Optimizers and rules that differ on rank 1, by the methods of all optimizers and the options that only some have. */
typedef struct made {
    const char *name;
    dt_optimizer *(*make)(dt_ctx *ctx, bool differs);
    const char *part, *differing_part;
} made;

#define OPTIMIZER(NAME, A, B)                                                                                        \
    static dt_optimizer *NAME(dt_ctx *ctx, bool differs) { return differs ? dt_##B : dt_##A; }
OPTIMIZER(method, adamw_new(ctx, 0.1, .weight_decay = DT_REAL(0.1)), adam_new(ctx, 0.1, .weight_decay = DT_REAL(0.1)))
OPTIMIZER(method_without_decay, adamax_new(ctx, 0.1), adam_new(ctx, 0.1))
OPTIMIZER(dampening, sgd_new(ctx, 0.1, .momentum = DT_REAL(0.9)),
          sgd_new(ctx, 0.1, .momentum = DT_REAL(0.9), .dampening = DT_REAL(0.5)))
OPTIMIZER(lr_decay, adagrad_new(ctx, 0.1), adagrad_new(ctx, 0.1, .lr_decay = DT_REAL(0.5)))
OPTIMIZER(initial_accumulator_value, adagrad_new(ctx, 0.1),
          adagrad_new(ctx, 0.1, .initial_accumulator_value = DT_REAL(0.5)))
OPTIMIZER(alpha, rmsprop_new(ctx, 0.1), rmsprop_new(ctx, 0.1, .alpha = DT_REAL(0.5)))
OPTIMIZER(centered, rmsprop_new(ctx, 0.1), rmsprop_new(ctx, 0.1, .centered = true))
OPTIMIZER(momentum_of_rmsprop, rmsprop_new(ctx, 0.1), rmsprop_new(ctx, 0.1, .momentum = DT_REAL(0.5)))
OPTIMIZER(beta1_of_adamax, adamax_new(ctx, 0.1), adamax_new(ctx, 0.1, .beta1 = DT_REAL(0.5)))
OPTIMIZER(momentum_decay, nadam_new(ctx, 0.1), nadam_new(ctx, 0.1, .momentum_decay = DT_REAL(0.5)))
OPTIMIZER(decoupled_decay_of_nadam, nadam_new(ctx, 0.1, .weight_decay = DT_REAL(0.1)),
          nadam_new(ctx, 0.1, .weight_decay = DT_REAL(0.1), .decoupled_weight_decay = true))
OPTIMIZER(decoupled_decay_of_radam, radam_new(ctx, 0.1, .weight_decay = DT_REAL(0.1)),
          radam_new(ctx, 0.1, .weight_decay = DT_REAL(0.1), .decoupled_weight_decay = true))
OPTIMIZER(beta2_of_lion, lion_new(ctx, 0.1), lion_new(ctx, 0.1, .beta2 = DT_REAL(0.5)))

static const made optimizers[] = {
    {"method", method, "; method=AdamW)", "; method=Adam)"},
    {"method without decay", method_without_decay, "; method=Adamax)", "; method=Adam)"},
    {"dampening", dampening, "; dampening=0)", "; dampening=0.5)"},
    {"lr_decay", lr_decay, "; lr_decay=0)", "; lr_decay=0.5)"},
    {"initial value", initial_accumulator_value, "_accumulator_value=0)", "_accumulator_value=0.5)"},
    {"alpha", alpha, "; alpha=0.99)", "; alpha=0.5)"},
    {"centered", centered, "; centered=0)", "; centered=1)"},
    {"momentum of RMSprop", momentum_of_rmsprop, "; momentum=0)", "; momentum=0.5)"},
    {"beta1 of Adamax", beta1_of_adamax, "; beta1=0.9)", "; beta1=0.5)"},
    {"momentum_decay", momentum_decay, "; momentum_decay=0.004)", "; momentum_decay=0.5)"},
    {"decoupled decay of NAdam", decoupled_decay_of_nadam, "weight_decay=0)", "weight_decay=1)"},
    {"decoupled decay of RAdam", decoupled_decay_of_radam, "weight_decay=0)", "weight_decay=1)"},
    {"beta2 of Lion", beta2_of_lion, "; beta2=0.99)", "; beta2=0.5)"},
};

/* Every rank has an error of a mismatch with both parts. */
static int check_mismatch(dt_ctx *ctx, const char *name, const char *part, const char *differing_part) {
    const char *text = dt_error_text(ctx);
    CHECK(dt_error_status(ctx) == DT_ERR_MISMATCH && strstr(text, part) && strstr(text, differing_part),
          "%s: rank %lld: expected a mismatch of %s and %s, got %s: %s", name, (long long)dt_rank(ctx), part,
          differing_part, dt_status_name(dt_error_status(ctx)), text);
    CHECK(dt_error_clear(ctx) == DT_OK, "%s: %s", name, dt_error_text(ctx));
    return 0;
}

static int step_with(dt_ctx *ctx, void *arg) {
    const made *of = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(2, 2), .mesh = mesh, .requires_grad = true);
    dt_optimizer *optimizer = of->make(ctx, dt_rank(ctx) == 1);
    dt_backward(dt_sum(dt_square(w)));
    dt_optimizer_step(optimizer, .parameters = DT_TENSORS(w));
    dt_item(dt_sum(dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)")));
    return check_mismatch(ctx, of->name, of->part, of->differing_part);
}

static void divergence__of_optimizers_names_the_method_or_the_option(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
        run_ranks(2 + (int64_t)(i % 2), step_with, (void *)&optimizers[i]);
}

/* Rules of rank 0 and of rank 1, and what the errors have. */
typedef struct ruled {
    const char *rules, *differing_rules, *part, *differing_part;
} ruled;
#define PARAM "param(f32[2,2] "
static const ruled ruled_variants[] = {
    {"* tp=R", "* tp=R lr=0.5", PARAM "R on mesh(tp=2); w)", PARAM "R on mesh(tp=2); w; lr=0.5)"},
    {"* tp=R", "* tp=R decay=0", PARAM "R on mesh(tp=2); w)", PARAM "R on mesh(tp=2); w; decay=0)"},
    {"* tp=R", "w tp=R freeze\n* tp=R", PARAM "R on mesh(tp=2); w)", PARAM "R on mesh(tp=2); w; freeze)"},
    {"* tp=R", "* tp=S(0)", PARAM "R on mesh(tp=2); w)", PARAM "S(0) on mesh(tp=2); w)"},
    {"* tp=S(0)", "w tp=free\n* tp=S(0)", "S(0) on mesh(tp=2); w)", "S(0) on mesh(tp=2); w; use f32[2,2] R on mesh"},
    {"* tp=R", "w tp=R use=bf16\n* tp=R", PARAM "R on mesh(tp=2); w)", "w; use bf16[2,2] R on mesh"},
};

static int step_ruled(dt_ctx *ctx, void *arg) {
    const ruled *of = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_params *params =
        dt_params_new(ctx, .mesh = mesh, .rules = dt_rank(ctx) == 1 ? of->differing_rules : of->rules);
    dt_tensor *w = dt_param(params, "w", DT_SHAPE(2, 2), .value = DT_REAL(1));
    dt_tensor *v = dt_param(params, "v", DT_SHAPE(2, 2), .value = DT_REAL(1));
    dt_optimizer *optimizer = dt_adamw_new(ctx, 0.1, .params = params);
    dt_backward(dt_sum(dt_mul(w, v)));
    dt_optimizer_step(optimizer);
    dt_item(dt_sum(dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)")));
    int code = check_mismatch(ctx, of->differing_rules, of->part, of->differing_part);
    dt_optimizer_free(optimizer);
    dt_params_free(params);
    return code;
}

static void divergence__of_rules_names_what_they_have(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ruled_variants / sizeof *ruled_variants; i++)
        run_ranks(2, step_ruled, (void *)&ruled_variants[i]);
}

/* Rank 0 is in the first mesh, rank 2 in the second, rank 1 in both: ranks outside a mesh have no gradients on it. */
static int train_on_two_meshes(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *world = dt_mesh_new(ctx, "*");
    dt_mesh *meshes[] = {dt_mesh_new(ctx, "[0,1]"), dt_mesh_new(ctx, "[1,2]"), world};
    dt_optimizer *optimizer = dt_adamw_new(ctx, 0.1);
    dt_tensor *p[3];
    for (int k = 0; k < 3; k++)
        p[k] = dt_ones(ctx, DT_SHAPE(5), .mesh = meshes[k], .place = "S(0)", .requires_grad = true);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            if (k == 2 || dt_mesh_coordinate(meshes[k], (int64_t[DT_MESH_MAX_DIMS]){0}))
                dt_backward(dt_sum(dt_square(p[k])));
        CHECK_OK(ctx, dt_optimizer_step(optimizer, .parameters = ((dt_tensors){3, p})));
        CHECK(dt_full_tensor(p[2]), "%s", dt_error_text(ctx));
    }
    return 0;
}

static void training__on_several_meshes_compares_the_members_of_each(void **state) {
    (void)state;
    run_ranks(3, train_on_two_meshes, NULL);
}

/* Rank 1 computes the norm of parameters on more meshes than a rank keeps calls of, with another type. */
static int norm_on_many_meshes(dt_ctx *ctx, void *arg) {
    enum { N = 40 };
    const bool differs = arg && dt_rank(ctx) == 1;
    dt_mesh *meshes[N];
    dt_tensor *p[N];
    for (int k = 0; k < N; k++) {
        char text[16];
        snprintf(text, sizeof text, "d%d=*", k);
        meshes[k] = dt_mesh_new(ctx, text);
        p[k] = dt_ones(ctx, DT_SHAPE(5), .mesh = meshes[k], .requires_grad = true);
        dt_backward(dt_sum(dt_square(p[k])));
    }
    dt_grad_norm(((dt_tensors){N, p}), .norm_type = DT_REAL(differs ? 3 : 2));
    dt_full_tensor(dt_ones(ctx, DT_SHAPE(8), .mesh = meshes[N - 1], .place = "S(0)"));
    CHECK(dt_error_status(ctx) == (arg ? DT_ERR_MISMATCH : DT_OK), "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    return 0;
}

static void divergence__is_found_on_every_mesh_of_a_norm(void **state) {
    (void)state;
    run_ranks(3, norm_on_many_meshes, (void *)"differs");
    run_ranks(3, norm_on_many_meshes, NULL);
}

/* Rank 1 has failed, while the others make calls and a leaf before they learn of it. */
static int train_after_an_error(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(2, 2), .mesh = mesh);
    dt_optimizer *optimizer = dt_adamw_new(ctx, 0.1);
    if (dt_rank(ctx) == 1)
        dt_error_set(ctx, DT_ERR_SYSTEM, "of one rank");
    dt_relu(w);
    dt_set_requires_grad(w, true);
    CHECK(dt_comm_barrier(dt_group_world(ctx)) != DT_OK, "the error did not reach this rank");
    CHECK_OK(ctx, dt_error_clear(ctx));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ctx, dt_set_requires_grad(w, true));
        CHECK_OK(ctx, dt_backward(dt_sum(dt_square(w))));
        CHECK(dt_clip_grad_norm(DT_TENSORS(w), 1.0), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_optimizer_step(optimizer, .parameters = DT_TENSORS(w)));
        CHECK(dt_item(dt_sum(dt_ones(ctx, DT_SHAPE(8), .mesh = mesh, .place = "S(0)"))) == 8, "%s",
              dt_error_text(ctx));
    }
    return 0;
}

static void training__after_an_error_of_one_rank_is_no_divergence(void **state) {
    (void)state;
    run_ranks(3, train_after_an_error, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergence__of_training_names_what_differs),
        cmocka_unit_test(divergence__of_training_is_found_at_once_when_calls_are_checked),
        cmocka_unit_test(divergence__of_optimizers_names_the_method_or_the_option),
        cmocka_unit_test(divergence__of_rules_names_what_they_have),
        cmocka_unit_test(training__alike_is_no_divergence),
        cmocka_unit_test(training__on_several_meshes_compares_the_members_of_each),
        cmocka_unit_test(divergence__is_found_on_every_mesh_of_a_norm),
        cmocka_unit_test(training__after_an_error_of_one_rank_is_no_divergence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
