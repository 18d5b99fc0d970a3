/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of the first propagation of a call, uncached: from parsed placements to the selected ones, shapes
 * and rows included. Calls with sizes as programs have them, with seeded random placements of all inputs on meshes of
 * 1 to 4 dims, which is harder than in programs. Of each call the fastest of several repeats counts; of each mesh
 * the median over all calls and the slowest call are shown. Limits: a median of 20 us on up to 3 mesh dims, of 100
 * us on 4.
 *
 *     bench_rules [--quick] [--json]
 */
#include "ops/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench_mesh {
    const char *name;
    int n_mesh_dims;
    int64_t mesh[4];
    double limit_us;
} bench_mesh;

static const bench_mesh meshes[] = {
    {"8", 1, {8}, 20},
    {"4x8", 2, {4, 8}, 20},
    {"2x4x8", 3, {2, 4, 8}, 20},
    {"2x2x4x4", 4, {2, 2, 4, 4}, 100},
};

static const char *const calls[] = {
    "add(f32[1024,512,64]; f32[512,64])",
    "mul(f32[1024,512,64]; f32[1024,512,64])",
    "gelu(f32[1024,512,64])",
    "where(bool[1024,512]; f32[1024,512]; f32[1024,512])",
    "sum(f32[1024,512,64]; [1])",
    "mean(f32[1024,512,64])",
    "amax(f32[1024,512]; [0])",
    "cumsum(f32[1024,512]; 0)",
    "matmul(f32[64,512,256]; f32[256,1024])",
    "matmul(f32[64,512,256]; f32[64,256,512])",
    "mm(f32[1024,512]; f32[512,2048])",
    "addmm(f32[2048]; f32[1024,512]; f32[512,2048])",
    "linear(f32[64,512,256]; f32[1024,256]; f32[1024])",
    "view(f32[64,512,256]; [64,512,16,16])",
    "reshape(f32[64,512,256]; [32768,256])",
    "transpose(f32[64,512,256]; 1; 2)",
    "cat({f32[1024,512]; f32[1024,512]; f32[1024,512]}; 1)",
    "split(f32[1024,512]; 256)",
    "softmax(f32[64,512,256]; -1)",
    "layer_norm(f32[64,512,256]; [256]; f32[256]; f32[256])",
    "embedding(i64[64,512]; f32[32768,256])",
    "gather(f32[1024,512]; 1; i64[1024,16])",
    "index_select(f32[1024,512]; 0; i64[256])",
    "dropout(f32[64,512,256]; 0.1)",
};
enum { N_CALLS = sizeof calls / sizeof *calls, MAX_TIMES = N_CALLS * 256 };

static uint64_t seed;

static int below(int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Plain shards, Replicate and, on floating-point tensors, partial sums. */
static dt_status scatter(dt__arena *arena, dt__placed_call *made) {
    const dt__sharding **inputs = DT__NEW_ARRAY(arena, const dt__sharding *, made->call.n_inputs);
    if (!inputs)
        return DT_ERR_MEMORY;
    for (int i = 0; i < made->call.n_inputs; i++) {
        const dt_op_value *value = &made->call.inputs[i];
        dt_placement placements[4];
        for (int m = 0; m < made->n_mesh_dims; m++) {
            int dice = below(value->n_dims + 2);
            placements[m] = dice < value->n_dims ? dt_placement_shard(dice) : dt_placement_replicate();
            if (dice == value->n_dims + 1 && value->dtype == DT_F32)
                placements[m] = dt_placement_partial(DT_SUM);
        }
        dt__sharding *placed = DT__NEW(arena, dt__sharding);
        dt__sharding_desc desc = {made->n_mesh_dims, made->mesh,        value->n_dims,
                                  value->shape,      made->n_mesh_dims, placements};
        if (!placed)
            return DT_ERR_MEMORY;
        DT__TRY(dt__sharding_new(arena, &desc, placed));
        inputs[i] = placed;
    }
    made->inputs = inputs;
    return DT_OK;
}

/* Fastest of the repeats; negative after an error. */
static double propagate_us(dt_ctx *ctx, const dt__placed_call *made, int repeats) {
    double best = 1e30;
    for (int i = 0; i < repeats; i++) {
        dt__arena arena = dt__arena_new(ctx);
        dt_op_call call = made->call;
        dt__candidate choice;
        dt__placed_inputs on = {made->n_mesh_dims, made->mesh, made->inputs, &dt__machine_builtin};
        double before = now_us();
        dt_status status = dt__op_call_infer(&arena, &call);
        if (status == DT_OK)
            status = dt__select_placements(&arena, &call, &on, &choice);
        double took = now_us() - before;
        dt__arena_free(&arena);
        if (status != DT_OK)
            return -1;
        best = took < best ? took : best;
    }
    return best;
}

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(const bench_mesh *on, int n_draws, bool json) {
    static double times[MAX_TIMES];
    int n = 0;
    double slowest = 0;
    const char *slow = "";
    dt_ctx *ctx = dt__ctx_new(NULL);
    bool fine = ctx && dt__ops_open(ctx) == DT_OK;
    seed = 7;
    for (int c = 0; c < N_CALLS && fine; c++)
        for (int draw = 0; draw < n_draws && fine; draw++) {
            dt__arena arena = dt__arena_new(ctx);
            dt__placed_call made;
            double us = -1;
            if (dt__placed_call_parse(&arena, calls[c], on->n_mesh_dims, on->mesh, &made) == DT_OK &&
                scatter(&arena, &made) == DT_OK)
                us = propagate_us(ctx, &made, 3);
            fine = us >= 0;
            times[n++] = us;
            if (us > slowest) {
                slowest = us;
                slow = calls[c];
            }
            dt__arena_free(&arena);
        }
    if (!fine)
        fprintf(stderr, "bench_rules: %s\n", ctx ? dt_error_text(ctx) : "no memory");
    dt__ctx_free(ctx);
    if (!fine)
        return false;
    qsort(times, (size_t)n, sizeof *times, by_time);
    double median = times[n / 2];
    if (json)
        printf("{\"bench\":\"rules\",\"mesh\":\"%s\",\"calls\":%d,\"median_us\":%.3f,\"slowest_us\":%.3f,"
               "\"limit_us\":%g,\"ratio\":%.2f}\n",
               on->name, n, median, slowest, on->limit_us, on->limit_us / median);
    else
        printf("%-10s %6d %10.2f %10.2f %8.0f %8.2f  %s\n", on->name, n, median, slowest, on->limit_us,
               on->limit_us / median, slow);
    return true;
}

int main(int argc, char **argv) {
    bool quick = false, json = false;
    for (int i = 1; i < argc; i++) {
        quick |= !strcmp(argv[i], "--quick");
        json |= !strcmp(argv[i], "--json");
    }
    if (!json)
        printf("%-10s %6s %10s %10s %8s %8s  %s\n", "mesh", "calls", "median us", "slowest us", "limit", "ratio",
               "slowest call");
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        if (!measure(&meshes[i], quick ? 4 : 64, json))
            return 1;
    return 0;
}
