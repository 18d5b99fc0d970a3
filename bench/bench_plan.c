/* SPDX-License-Identifier: Apache-2.0
 *
 * The time to plan a redistribution, uncached, from parsed placements to the plan: seeded random moves between plain
 * shards, orders, partials and Replicate on meshes of 1 to 6 dims, and on meshes of 16,384 ranks. On more than 4 dims
 * only min_cost is measured. The time of a redistribution is that of the fastest of several repeats, and the time of
 * a mesh that of its slowest redistribution. The limits are a millisecond for a small mesh, ten for one of 6 dims,
 * and a second for a large one; a ratio above 1 is within the limit.
 *
 *     bench_plan [--quick] [--json]
 */
#include "dtensor/ops.h"
#include "dtensor/redistribute.h"
#include "plan/plan.h"
#include "spec/spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_MESH_DIMS = 6 };

typedef struct bench_mesh {
    const char *name;
    int n_mesh_dims, n_dims;
    int64_t mesh[MOST_MESH_DIMS], shape[4];
    double limit_us;
} bench_mesh;

static const bench_mesh meshes[] = {
    {"8", 1, 3, {8}, {4096, 4096, 64}, 1e3},
    {"4x8", 2, 3, {4, 8}, {4096, 4096, 64}, 1e3},
    {"2x4x8", 3, 3, {2, 4, 8}, {4096, 4096, 64}, 1e3},
    {"2x2x2x2", 4, 2, {2, 2, 2, 2}, {4096, 4096}, 1e3},
    {"2x2x4x4", 4, 4, {2, 2, 4, 4}, {4096, 4096, 64, 30}, 1e3},
    {"2x2x2x2x2", 5, 3, {2, 2, 2, 2, 2}, {4096, 4096, 64}, 1e3},
    {"2x2x2x2x2x2", 6, 3, {2, 2, 2, 2, 2, 2}, {4096, 4096, 64}, 1e4},
    {"8x8x16x16", 4, 3, {8, 8, 16, 16}, {4096, 4096, 64}, 1e6},
    {"16384", 1, 3, {16384}, {4096, 4096, 64}, 1e6},
    {"128x128", 2, 3, {128, 128}, {4096, 4096, 64}, 1e6},
    {"16x32x32", 3, 3, {16, 32, 32}, {4096, 4096, 64}, 1e6},
};

static uint64_t seed;

static int below(int n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* What two readings of the clock take themselves: the clock of a thread is a system call. */
static double clock_us(void) {
    double best = 1e30;
    for (int i = 0; i < 1000; i++) {
        double before = now_us(), took = now_us() - before;
        best = took < best ? took : best;
    }
    return best;
}

/* Placements without an order, or with a random one on the first tensor dim. */
static dt_status random_side(dt__arena *arena, const bench_mesh *on, bool partials, dt__sharding *out) {
    dt_placement placements[MOST_MESH_DIMS];
    for (int m = 0; m < on->n_mesh_dims; m++) {
        int dice = below(on->n_dims + 2);
        placements[m] = dice < on->n_dims ? dt_placement_shard(dice) : dt_placement_replicate();
        if (partials && dice == on->n_dims + 1)
            placements[m] = dt_placement_partial(DT_SUM);
    }
    int cuts[MOST_MESH_DIMS], n_cuts = 0;
    for (int m = 0; m < on->n_mesh_dims; m++)
        if (dt_placement_is_shard(placements[m]) && placements[m].dim == 0)
            cuts[n_cuts++] = m;
    if (below(2) && n_cuts) {
        int turned = below(n_cuts);
        for (int i = 0; i < n_cuts; i++) {
            placements[cuts[i]].ordered = true;
            placements[cuts[i]].position = (i + turned) % n_cuts;
        }
    }
    return dt__sharding_new(
        arena, &(dt__sharding_desc){on->n_mesh_dims, on->mesh, on->n_dims, on->shape, on->n_mesh_dims, placements},
        out);
}

/* Fastest of the repeats, without the clock; negative after an error. */
static double plan_us(dt_ctx *ctx, const dt__move *move, dt__planner planner, int repeats) {
    const double clock = clock_us();
    double best = 1e30;
    for (int i = 0; i < repeats; i++) {
        dt__arena arena = dt__arena_new(ctx);
        dt__plan plan;
        double before = now_us();
        dt_status status = dt__plan_new(&arena, move, planner, &dt__machine_builtin, &plan);
        double took = now_us() - before;
        dt__arena_free(&arena);
        if (status != DT_OK)
            return -1;
        best = took < best ? took : best;
    }
    return best > clock ? best - clock : 0;
}

static int measure(const bench_mesh *on, dt__planner planner, bool quick, bool json) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    const int moves = quick ? 20 : 300, repeats = quick ? 3 : 7;
    double slowest = 0, sum = 0;
    seed = 5;
    for (int i = 0; i < moves; i++) {
        dt__arena arena = dt__arena_new(ctx);
        dt__sharding from, to;
        double took = -1;
        if (random_side(&arena, on, true, &from) == DT_OK && random_side(&arena, on, false, &to) == DT_OK)
            took = plan_us(ctx, &(dt__move){.from = &from, .to = &to, .item_bytes = 4}, planner, repeats);
        slowest = took > slowest ? took : slowest;
        sum += took;
        dt__arena_free(&arena);
    }
    int failed = dt_report(ctx);
    dt__ctx_free(ctx);
    if (json)
        printf("{\"bench\":\"plan\",\"config\":{\"planner\":\"%s\",\"mesh\":\"%s\",\"dims\":%d},\"ours\":%.3f,"
               "\"unit\":\"us\",\"peer\":\"limit\",\"theirs\":%.0f,\"ratio\":%.2f}\n",
               dt__planner_name(planner), on->name, on->n_dims, slowest, on->limit_us, on->limit_us / slowest);
    else
        printf("%-9s %-11s %4d %10.1f %10.1f %10.0f %8.2f\n", dt__planner_name(planner), on->name, on->n_dims,
               sum / moves, slowest, on->limit_us, on->limit_us / slowest);
    return failed;
}

/* The first redistribution of its kind in a fake world of 65,536 ranks: plans, groups and blocks. */
static int measure_first(bool json) {
    static const char mesh_text[] = "pp=16,dp=128,tp=32";
    const double limit_us = 1000;
    double best = 1e30;
    for (int i = 0; i < 5; i++) {
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "fake", .world = 65536});
        dt_mesh *mesh = ctx ? dt_mesh_new(ctx, mesh_text) : NULL;
        dt_tensor *src =
            mesh ? dt_empty(ctx, DT_SHAPE(256, 2048, 8192), .mesh = mesh, .place = "P(sum),P(sum),P(sum)") : NULL;
        double before = now_us();
        dt_tensor *dst = src ? dt_redistribute(src, "S(1),S(1),S(1)") : NULL;
        double took = now_us() - before;
        best = took < best ? took : best;
        if (dt_close(ctx) || !dst)
            return 1;
    }
    if (json)
        printf("{\"bench\":\"plan\",\"config\":{\"first\":\"redistribute\",\"mesh\":\"%s\"},\"ours\":%.3f,\"unit\":"
               "\"us\","
               "\"peer\":\"limit\",\"theirs\":%.0f,\"ratio\":%.2f}\n",
               mesh_text, best, limit_us, limit_us / best);
    else
        printf("first redistribution on %s: %.1f us (limit %.0f)\n", mesh_text, best, limit_us);
    return 0;
}

int main(int argc, char **argv) {
    bool json = false, quick = false;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        json |= !strcmp(argv[i], "--json");
        quick |= !strcmp(argv[i], "--quick");
    }
    if (!json)
        printf("%-9s %-11s %4s %10s %10s %10s %8s\n", "planner", "mesh", "dims", "mean us", "worst us", "limit us",
               "ratio");
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        for (int planner = 0; planner < DT__N_PLANNERS; planner++)
            if (planner == DT__PLANNER_MIN_COST || meshes[i].n_mesh_dims <= 4)
                failed |= measure(&meshes[i], (dt__planner)planner, quick, json);
    failed |= measure_first(json);
    return failed;
}
