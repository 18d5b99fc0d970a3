/* SPDX-License-Identifier: Apache-2.0
 *
 * What it costs to add a call to the history of its mesh (src/comm/call_history.h): cached local calls on f32[4,4] S(0)
 * on one of two ranks, recorded, and between dt_apart_begin and dt_apart_end, where the same call is not. Both in
 * turn, the fastest of many short runs of each (settle.h); the other rank sleeps. The limit is 5 ns.
 *
 *     bench_history [--quick]
 *     bench_history --run CALL recorded|apart N     N calls and nothing else, for programs that count instructions
 */
#include <dtensor/dtensor.h>

#include "settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 200, LIMIT_NS = 5 };

typedef struct operands {
    dt_tensor *x, *y;
} operands;

#define CASE(name, call)                                                                                             \
    static dt_tensor *run_##name(const operands *o) { return call; }
CASE(add, dt_add(o->x, o->y))
CASE(relu, dt_relu(o->x))
CASE(add_, dt_add_(o->x, o->y))
CASE(mul_scalar_, dt_mul_scalar_(o->x, 1.0))
CASE(fill_, dt_fill_(o->x, 2.5))
CASE(clamp, dt_clamp(o->x, .min = DT_NUMBER(0), .max = DT_NUMBER(1)))

static const struct {
    const char *call;
    dt_tensor *(*run)(const operands *);
} cases[] = {
    {"add", run_add},     {"relu", run_relu},
    {"add_", run_add_},   {"mul_scalar_", run_mul_scalar_}, /* one number that varies */
    {"fill_", run_fill_}, {"clamp", run_clamp},             /* two */
};
enum { N_CASES = sizeof cases / sizeof *cases };

typedef struct run_options {
    bool quick;
    const char *call; /* NULL: all are measured */
    bool apart;
    int n;
} run_options;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Not inlined: counting programs look for it by name. */
static bool __attribute__((noinline)) bench_calls(int which, const operands *o, int n) {
    for (int i = 0; i < n; i++) {
        dt_tensor *result = cases[which].run(o);
        if (!result)
            return false;
        if (result != o->x)
            dt_drop(result);
    }
    return true;
}

struct calls {
    dt_ctx *ctx;
    int which;
    operands operands;
};

static double repeat_recorded(void *user) {
    const struct calls *calls = user;
    double start = now_s();
    return bench_calls(calls->which, &calls->operands, CALLS) ? now_s() - start : -1;
}

static double repeat_apart(void *user) {
    const struct calls *calls = user;
    dt_apart_begin(calls->ctx);
    double seconds = repeat_recorded(user);
    dt_apart_end(calls->ctx);
    return seconds;
}

static bool make_operands(dt_ctx *ctx, dt_mesh *mesh, operands *out) {
    *out = (operands){.x = dt_full(ctx, DT_SHAPE(4, 4), 0.5, .mesh = mesh, .place = "S(0)"),
                      .y = dt_full(ctx, DT_SHAPE(4, 4), 0.0, .mesh = mesh, .place = "S(0)")};
    return out->x && out->y;
}

static bool measure(dt_ctx *ctx, dt_mesh *mesh, int which, double budget_s) {
    dt_scope scope = dt_scope_begin(ctx);
    struct calls calls = {.ctx = ctx, .which = which};
    double best[2] = {0};
    bool fine = make_operands(ctx, mesh, &calls.operands) &&
                bench_settle_pair(budget_s, (bench_repeat *[]){repeat_recorded, repeat_apart},
                                  (void *[]){&calls, &calls}, best);
    dt_scope_end(scope);
    if (!fine)
        return false;
    double recorded = best[0] * 1e9 / CALLS, apart = best[1] * 1e9 / CALLS;
    printf("%-12s %9.1f %12.1f %11.1f %7d\n", cases[which].call, apart, recorded, recorded - apart, LIMIT_NS);
    printf("{\"bench\":\"history\",\"config\":{\"call\":\"%s\"},\"ours\":%.1f,\"unit\":\"ns\",\"peer\":\"limit\","
           "\"theirs\":%d}\n",
           cases[which].call, recorded - apart, LIMIT_NS);
    return true;
}

static bool measure_all(dt_ctx *ctx, dt_mesh *mesh, bool quick) {
    bool fine = true;
    printf("%-12s %9s %12s %11s %7s\n", "call", "apart ns", "recorded", "added ns", "limit");
    for (int i = 0; i < N_CASES && fine; i++)
        fine = measure(ctx, mesh, i, quick ? 0.02 : 0.2);
    fflush(stdout);
    return fine;
}

static bool run_one(dt_ctx *ctx, dt_mesh *mesh, const run_options *options) {
    operands o;
    for (int i = 0; i < N_CASES; i++) {
        if (strcmp(cases[i].call, options->call) != 0)
            continue;
        bool fine = make_operands(ctx, mesh, &o) && bench_calls(i, &o, 3);
        if (options->apart)
            dt_apart_begin(ctx);
        fine = fine && bench_calls(i, &o, options->n);
        if (options->apart)
            dt_apart_end(ctx);
        return fine;
    }
    return false;
}

/* The calls of rank 0 differ from those of rank 1: nothing meets on the mesh, the group of all ranks compares no
 * history. */
static int rank_main(dt_ctx *ctx, void *arg) {
    const run_options *options = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "2");
    bool fine = mesh;
    if (fine && dt_rank(ctx) == 0)
        fine = options->call ? run_one(ctx, mesh, options) : measure_all(ctx, mesh, options->quick);
    fine = dt_comm_barrier(dt_group_world(ctx)) == DT_OK && fine;
    dt_mesh_release(mesh);
    return !fine;
}

int main(int argc, char **argv) {
    run_options options = {.quick = argc == 2 && !strcmp(argv[1], "--quick")};
    if (argc == 5 && !strcmp(argv[1], "--run"))
        options =
            (run_options){.call = argv[2], .apart = !strcmp(argv[3], "apart"), .n = (int)strtol(argv[4], NULL, 10)};
    else if (argc > 1 && !options.quick) {
        fprintf(stderr, "usage: bench_history [--quick] | --run CALL recorded|apart N\n");
        return 2;
    }
    char *error = NULL;
    if (dt_spawn(2, rank_main, &options, &error) == DT_OK)
        return 0;
    fprintf(stderr, "bench_history: %s\n", error ? error : "out of memory");
    free(error);
    return 1;
}
