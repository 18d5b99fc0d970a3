/* SPDX-License-Identifier: Apache-2.0
 *
 * What running an op costs besides its arithmetic: each op on [4,4] tensors, once plain and once distributed, with its
 * decision in the cache. The difference is what distribution adds to a call; limits are 100 ns for it, and 150 ns for a
 * whole plain call. The outputs are dropped within the time. The fastest of many short runs counts.
 *
 *     bench_dispatch [--quick]
 *     bench_dispatch --run OP plain|distributed N     N calls and nothing else, for programs that count instructions
 */
#include "dispatch/dispatch.h"
#include "dtensor/dispatch.h"
#include "rules/call_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 200, LIMIT_NS = 100, PLAIN_LIMIT_NS = 150 };

static const struct {
    const char *op, *call;
} cases[] = {
    {"add", "add(f32[4,4] S(0); f32[4,4] S(0))"},
    {"mul", "mul(f32[4,4] S(0); f32[4,4] S(0))"},
    {"mul_scalar", "mul(f32[4,4] S(0); 2.5)"},
    {"relu", "relu(f32[4,4] S(0))"},
    {"mm", "mm(f32[4,4] S(0); f32[4,4] R)"},
    {"linear", "linear(f32[4,4] S(0); f32[4,4] R; f32[4] R)"},
    {"sum", "sum(f32[4,4] S(0); [1])"},
    {"softmax", "softmax(f32[4,4] S(0); -1)"},
    {"layer_norm", "layer_norm(f32[4,4] S(0); [4]; f32[4] R; f32[4] R)"},
    {"view", "view(f32[4,4] S(0); [4,2,2])"},
    {"transpose", "transpose(f32[4,4] S(0); 0; 1)"},
    {"add_", "add_(f32[4,4] S(0); f32[4,4] S(0))"},
};
enum { N_CASES = sizeof cases / sizeof *cases };

/* A call that is ready to be made. */
typedef struct job {
    dt_ctx *ctx;
    dt__placed_call parsed;
    dt_tensor *inputs[DT__MAX_INPUTS];
    dt__invocation call;
} job;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool prepare(dt_ctx *ctx, dt__arena *arena, dt_mesh *mesh, const char *text, job *out) {
    const int64_t sizes[] = {1};
    *out = (job){.ctx = ctx};
    if (dt__call_parse(arena, text, 1, sizes, &out->parsed) != DT_OK)
        return false;
    for (int i = 0; i < out->parsed.call.n_inputs; i++) {
        const dt_op_value *value = &out->parsed.call.inputs[i];
        char place[64];
        (void)dt_placements_text(1, out->parsed.inputs[i]->placements, sizeof place, place);
        dt_shape shape = {value->n_dims, value->shape};
        out->inputs[i] = mesh ? dt_full(ctx, shape, 0.5, .dtype = value->dtype, .mesh = mesh, .place = place)
                              : dt_full(ctx, shape, 0.5, .dtype = value->dtype);
        if (!out->inputs[i])
            return false;
    }
    out->call = (dt__invocation){.info = out->parsed.info,
                                 .overload = out->parsed.bound.overload,
                                 .args = out->parsed.bound.args,
                                 .n_inputs = out->parsed.call.n_inputs,
                                 .inputs = out->inputs};
    return true;
}

/* Not inlined: counting programs look for it by name. */
static bool __attribute__((noinline)) bench_calls(job *self, int n) {
    bool keeps = self->call.info->op->flags & DT_OP_INPLACE;
    for (int i = 0; i < n; i++) {
        dt_tensor *outputs[DT__MAX_OUTPUTS];
        int n_outputs;
        if (dt__dispatch(self->ctx, &self->call, outputs, &n_outputs) != DT_OK)
            return false;
        if (!keeps)
            dt_drop(outputs[0]);
    }
    return true;
}

/* Nanoseconds of one call; negative after an error. */
static double fastest(job *self, int repeats) {
    double best = 1e30;
    if (!bench_calls(self, 3))
        return -1;
    for (int r = 0; r < repeats; r++) {
        double start = now_ns();
        if (!bench_calls(self, CALLS))
            return -1;
        double took = (now_ns() - start) / CALLS;
        best = took < best ? took : best;
    }
    return best;
}

/* Times of both kinds, in turn, so that a disturbance meets both. */
static bool measure(dt_ctx *ctx, dt_mesh *mesh, int which, int repeats) {
    dt__arena arena = dt__arena_new(ctx);
    dt_scope scope = dt_scope_begin(ctx);
    job plain, spread;
    double a = 1e30, b = 1e30;
    bool fine = prepare(ctx, &arena, NULL, cases[which].call, &plain) &&
                prepare(ctx, &arena, mesh, cases[which].call, &spread);
    for (int turn = 0; turn < 5 && fine; turn++) {
        double t = fastest(&plain, repeats), u = fastest(&spread, repeats);
        fine = t >= 0 && u >= 0;
        a = t < a ? t : a;
        b = u < b ? u : b;
    }
    dt_scope_end(scope);
    dt__arena_free(&arena);
    if (!fine)
        return false;
    printf("%-12s %9.1f %12.1f %11.1f %7d %8d\n", cases[which].op, a, b, b - a, LIMIT_NS, PLAIN_LIMIT_NS);
    printf("{\"bench\":\"dispatch\",\"config\":{\"op\":\"%s\",\"what\":\"added\"},\"ours\":%.1f,\"unit\":\"ns\","
           "\"peer\":\"limit\",\"theirs\":%d}\n",
           cases[which].op, b - a, LIMIT_NS);
    printf("{\"bench\":\"dispatch\",\"config\":{\"op\":\"%s\",\"what\":\"plain\"},\"ours\":%.1f,\"unit\":\"ns\","
           "\"peer\":\"limit\",\"theirs\":%d}\n",
           cases[which].op, a, PLAIN_LIMIT_NS);
    return true;
}

static bool run_one(dt_ctx *ctx, dt_mesh *mesh, const char *op, int n) {
    dt__arena arena = dt__arena_new(ctx);
    job self;
    bool fine = false;
    for (int i = 0; i < N_CASES; i++)
        if (!strcmp(cases[i].op, op)) {
            fine = prepare(ctx, &arena, mesh, cases[i].call, &self);
            dt_tensor *outputs[DT__MAX_OUTPUTS];
            int n_outputs;
            for (int warm = 0; warm < 3 && fine; warm++) /* not in the function that is counted */
                fine = dt__dispatch(ctx, &self.call, outputs, &n_outputs) == DT_OK;
            fine = fine && bench_calls(&self, n);
        }
    dt__arena_free(&arena);
    return fine;
}

int main(int argc, char **argv) {
    bool quick = argc == 2 && !strcmp(argv[1], "--quick"), one = argc == 5 && !strcmp(argv[1], "--run");
    const int64_t sizes[] = {1};
    if (argc > 1 && !quick && !one) {
        fprintf(stderr, "usage: bench_dispatch [--quick] | --run OP plain|distributed N\n");
        return 2;
    }
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self", .heap_bytes = (size_t)64 << 20, .threads = 1});
    dt_mesh *mesh = ctx ? dt_mesh_from_shape(ctx, sizes, 1, NULL) : NULL;
    bool fine = mesh;
    if (fine && one)
        fine = run_one(ctx, strcmp(argv[3], "plain") ? mesh : NULL, argv[2], atoi(argv[4]));
    else if (fine) {
        printf("%-12s %9s %12s %11s %7s %8s\n", "op", "plain ns", "distributed", "added ns", "limit", "plain's");
        for (int i = 0; i < N_CASES; i++)
            if (!measure(ctx, mesh, i, quick ? 50 : 500)) {
                printf("%-12s skipped: %s\n", cases[i].op, dt_error_text(ctx));
                (void)dt_error_clear(ctx);
            }
    }
    dt_mesh_free(mesh);
    return dt_close(ctx) || !fine;
}
