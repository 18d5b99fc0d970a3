/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks whose optimizers, clips or parameters differ: every rank gets an error in the next transfer on the mesh, and
 * with DTENSOR_CHECK_CALLS in the call itself, that names the option or the parameter with both values.
 */
/* ctest: timeout=300 */
#include "support/launch.h"

#include <dtensor/dtensor.h>

#include <stdlib.h>
#include <string.h>

/* What a training program does: two clipped steps over three parameters. */
typedef struct settings {
    bool is_adam, amsgrad, nesterov, maximize, error_if_nonfinite;
    double lr, weight_decay, beta1, beta2, eps, momentum, dampening, max_norm, norm_type;
    int n_parameters, n_steps;
    bool swaps;       /* the first two parameters, in the second step */
    bool loses_first; /* the gradient of the last parameter, before the first clip */
    bool loses_later; /* and before the second step */
} settings;

static const settings common = {.lr = 0.1,
                                .beta1 = 0.9,
                                .beta2 = 0.999,
                                .eps = 1e-8,
                                .momentum = 0.9,
                                .max_norm = 1,
                                .norm_type = 2,
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
    dt_tensor *p[3] = {dt_ones(ctx, DT_SHAPE(2, 2), .mesh = mesh, .requires_grad = true),
                       dt_ones(ctx, DT_SHAPE(2, 2), .mesh = mesh, .requires_grad = true),
                       dt_ones(ctx, DT_SHAPE(3), .mesh = mesh, .requires_grad = true)};
    dt_optimizer *optimizer = optimizer_of(ctx, s);
    dt_optimizer_set_n_steps(optimizer, p[0], s->n_steps);
    for (int i = 0; i < 2; i++) {
        const bool swaps = i == 1 && s->swaps;
        dt_tensors list = {s->n_parameters, (dt_tensor *[]){p[swaps], p[!swaps], p[2]}};
        dt_zero_grad(DT_TENSORS(p[0], p[1], p[2]));
        dt_backward(dt_add(dt_sum(dt_mul(p[0], p[1])), dt_sum(dt_exp(p[2]))));
        if (s->loses_first)
            dt_zero_grad(DT_TENSORS(p[2]));
        dt_clip_grad_norm(list, s->max_norm, .norm_type = DT_REAL(s->norm_type),
                          .error_if_nonfinite = s->error_if_nonfinite);
        if (s->loses_later && i == 1)
            dt_zero_grad(DT_TENSORS(p[2]));
        dt_optimizer_step(optimizer, .parameters = list);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergence__of_training_names_what_differs),
        cmocka_unit_test(divergence__of_training_is_found_at_once_when_calls_are_checked),
        cmocka_unit_test(training__alike_is_no_divergence),
        cmocka_unit_test(training__on_several_meshes_compares_the_members_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
