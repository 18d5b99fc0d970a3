/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of small steps of training on one rank, besides their arithmetic: forward and backward of four linear
 * layers with relu between, x and weights f32 [4,4], and a sum; add with its backward; one step of AdamW over 100
 * parameters of [4,4]; clipping their gradients; one step of every optimizer over these and over 100 of [256,256]; and
 * placing 1,000 named parameters of [4,4] by 20 rules. Plain and distributed, S(0), each with its decisions in the
 * cache. Limits are those of a distributed call: 25 µs, 0.5 µs over plain, 30 µs, and 5 ms for the parameters. The
 * fastest of many repeats (settle.h).
 *
 *     bench_gradients [--quick]
 */
#include <dtensor/dtensor.h>

#include "settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAYERS = 4, PARAMS = 100, CALLS = 20, SMALL = 4, LARGE = 256 };

/* Every optimizer, with its defaults; SGD with momentum. */
static dt_optimizer *new_adam(dt_ctx *ctx) { return dt_adam_new(ctx, 1e-3); }
static dt_optimizer *new_adamw(dt_ctx *ctx) { return dt_adamw_new(ctx, 1e-3); }
static dt_optimizer *new_sgd(dt_ctx *ctx) { return dt_sgd_new(ctx, 1e-3, .momentum = DT_REAL(0.9)); }
static dt_optimizer *new_adagrad(dt_ctx *ctx) { return dt_adagrad_new(ctx, 1e-3); }
static dt_optimizer *new_rmsprop(dt_ctx *ctx) { return dt_rmsprop_new(ctx, 1e-3); }
static dt_optimizer *new_adamax(dt_ctx *ctx) { return dt_adamax_new(ctx, 1e-3); }
static dt_optimizer *new_nadam(dt_ctx *ctx) { return dt_nadam_new(ctx, 1e-3); }
static dt_optimizer *new_radam(dt_ctx *ctx) { return dt_radam_new(ctx, 1e-3); }
static dt_optimizer *new_lion(dt_ctx *ctx) { return dt_lion_new(ctx, 1e-3); }
static const struct {
    const char *name;
    dt_optimizer *(*make)(dt_ctx *ctx);
} methods[] = {{"adam", new_adam},       {"adamw", new_adamw},     {"sgd", new_sgd},
               {"adagrad", new_adagrad}, {"rmsprop", new_rmsprop}, {"adamax", new_adamax},
               {"nadam", new_nadam},     {"radam", new_radam},     {"lion", new_lion}};
enum { METHODS = sizeof methods / sizeof *methods };

typedef struct tensors {
    dt_ctx *ctx;
    dt_mesh *mesh; /* of named parameters */
    dt_tensor *x, *y, *grad, *weights[LAYERS], *params[PARAMS];
    dt_tensor *large[PARAMS];
    dt_optimizer *adamw;
    dt_optimizer *method; /* of a row of optimizers */
} tensors;

static dt_tensors layers(const tensors *t) { return (dt_tensors){LAYERS, t->weights}; }
static dt_tensors params(const tensors *t) { return (dt_tensors){PARAMS, t->params}; }

static void run_mlp(const tensors *t) {
    dt_tensor *h = t->x;
    for (int i = 0; i < LAYERS; i++) {
        h = dt_linear(h, t->weights[i]);
        h = i + 1 < LAYERS ? dt_relu(h) : h;
    }
    dt_zero_grad(layers(t));
    dt_backward(dt_sum(h));
}

static void run_add(const tensors *t) {
    dt_zero_grad(DT_TENSORS(t->weights[0]));
    dt_backward(dt_add(t->weights[0], t->y), .grad = t->grad);
}

static void run_adamw(const tensors *t) { dt_optimizer_step(t->adamw, .parameters = params(t)); }
static void run_small(const tensors *t) { dt_optimizer_step(t->method, .parameters = params(t)); }
static void run_large(const tensors *t) {
    dt_optimizer_step(t->method, .parameters = ((dt_tensors){PARAMS, t->large}));
}
static void run_clip(const tensors *t) { dt_clip_grad_norm(params(t), 1); }

/* 100 layers of ten parameters; each rule decides for some, and the last one for all. */
static void run_place(const tensors *t) {
    static const char rules[] =
        "*.wq.weight tp=S(0)*2\n*.wk.weight tp=S(0)*2\n*.wv.weight tp=S(0)*2\n*.wo.weight tp=row\n"
        "*.w[qkv].bias tp=S(0)*2\n*.up.weight tp=col\n*.up.bias tp=col\n*.down.weight tp=row\n"
        "h.0.* lr=0.5\nh.1.* lr=0.6\nh.2.* lr=0.7\nh.3.* lr=0.8\nh.[4-9].* lr=0.9\nh.97.* freeze\n"
        "h.98.* freeze\nh.99.* freeze\n*.bias decay=0\n*norm* decay=0\nhead.*? tp=vocab\n* fsdp=free\n";
    static const char *const names[] = {"wq.weight", "wk.weight", "wv.weight",   "wo.weight", "wq.bias",
                                        "up.weight", "up.bias",   "down.weight", "down.bias", "norm.weight"};
    dt_params *p = dt_params_new(t->ctx, .mesh = t->mesh, .rules = rules);
    for (int i = 0; i < 1000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "h.%d.%s", i / 10, names[i % 10]);
        dt_param(p, name, DT_SHAPE(SMALL, SMALL));
    }
    dt_params_check(p);
    for (int i = 0; i < dt_params_n(p); i++)
        dt_drop(dt_params_tensor(p, i));
    dt_params_free(p);
}

static const struct step {
    const char *name;
    void (*run)(const tensors *t);
    double limit_us;        /* 0: none */
    bool limits_difference; /* to plain */
} steps[] = {
    {"mlp", run_mlp, 25, false},
    {"add", run_add, 0.5, true},
    {"adamw_100", run_adamw, 30, false},
    {"clip_grad_norm_100", run_clip, 0, false},
    {"place_1000", run_place, 5000, false},
};

static dt_tensor *square(dt_ctx *ctx, dt_mesh *mesh, const char *place, int64_t size, bool requires_grad) {
    return dt_randn(ctx, DT_SHAPE(size, size), .mesh = mesh, .place = place, .requires_grad = requires_grad);
}

static void make(dt_ctx *ctx, dt_mesh *mesh, tensors *t) {
    const char *shards = mesh ? "S(0)" : NULL, *copies = mesh ? "R" : NULL;
    t->ctx = ctx;
    t->mesh = mesh ? dt_mesh_new(ctx, "fsdp=1,tp=1") : NULL;
    t->x = square(ctx, mesh, shards, SMALL, false);
    t->y = square(ctx, mesh, copies, SMALL, false);
    t->grad = square(ctx, mesh, copies, SMALL, false);
    t->adamw = dt_adamw_new(ctx, 1e-3);
    for (int i = 0; i < LAYERS; i++)
        t->weights[i] = square(ctx, mesh, copies, SMALL, true);
    for (int i = 0; i < PARAMS; i++) {
        t->params[i] = square(ctx, mesh, shards, SMALL, true);
        t->large[i] = square(ctx, mesh, shards, LARGE, true);
        dt_scope scope = dt_scope_begin(ctx);
        dt_backward(dt_sum(t->params[i]));
        dt_backward(dt_sum(t->large[i]));
        dt_scope_end(scope);
    }
}

typedef struct measured {
    const tensors *on;
    const struct step *step;
} measured;

static double repeat(void *user) {
    const measured *m = user;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < CALLS; i++) {
        dt_scope scope = dt_scope_begin(m->on->ctx);
        m->step->run(m->on);
        dt_scope_end(scope);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (dt_failed(m->on->ctx))
        return -1;
    return ((double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec)) / CALLS;
}

static bool report(const struct step *step, const tensors *plain, const tensors *placed, double budget_s) {
    bench_repeat *const repeats[2] = {repeat, repeat};
    measured on[2] = {{plain, step}, {placed, step}};
    double best[2];
    if (!bench_settle_pair(budget_s, repeats, (void *const[]){&on[0], &on[1]}, best))
        return false;
    const double us = best[1] * 1e6, plain_us = best[0] * 1e6;
    printf("{\"bench\":\"gradients\",\"config\":{\"step\":\"%s\"},\"ours\":%.3f,\"unit\":\"us\",\"peer\":\"plain\","
           "\"theirs\":%.3f,\"limit\":%.1f}\n",
           step->name, us, plain_us, step->limit_us);
    printf("%-20s %10.2f %12.2f %10.2f ", step->name, plain_us, us, us - plain_us);
    if (step->limit_us > 0)
        printf("%8.1f%s\n", step->limit_us, step->limits_difference ? " added" : "");
    else
        printf("%8s\n", "-");
    return true;
}

/* One step of every optimizer over 100 small and over 100 large parameters. */
static bool report_methods(dt_ctx *ctx, tensors *plain, tensors *placed, double budget_s) {
    for (int m = 0; m < METHODS; m++)
        for (int large = 0; large < 2; large++) {
            char name[32];
            (void)snprintf(name, sizeof name, "%s_100%s", methods[m].name, large ? "_large" : "_small");
            plain->method = methods[m].make(ctx);
            placed->method = methods[m].make(ctx);
            const struct step step = {name, large ? run_large : run_small, 0, false};
            bool done = report(&step, plain, placed, budget_s);
            dt_optimizer_free(plain->method);
            dt_optimizer_free(placed->method);
            if (!done)
                return false;
        }
    return true;
}

int main(int argc, char **argv) {
    const bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    dt_ctx *ctx = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "1");
    tensors plain, placed;
    make(ctx, NULL, &plain);
    make(ctx, mesh, &placed);
    printf("%-20s %10s %12s %10s %8s\n", "step, µs", "plain", "distributed", "added", "limit");
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !dt_failed(ctx); i++)
        if (!report(&steps[i], &plain, &placed, quick ? 0.05 : 0.5))
            break;
    if (!dt_failed(ctx))
        (void)report_methods(ctx, &plain, &placed, quick ? 0.05 : 0.5);
    dt_mesh_release(placed.mesh);
    dt_mesh_release(mesh);
    return dt_close(ctx);
}
