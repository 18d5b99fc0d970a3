/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's collectives and redistributions, called as collectives.h and moves.h ask for them.
 */
#include "ours.h"

#include "dtensor/redistribute.h"

#include <stdio.h>

static void *take(void *user, size_t bytes) { return dt_heap_alloc(((bench_ours *)user)->ctx, bytes); }
static void give(void *user, void *memory) { dt_heap_free(((bench_ours *)user)->ctx, memory); }
static dt_group *world(void *user) { return ((bench_ours *)user)->world; }

static bool max(void *user, double *values, size_t n) {
    return dt_comm_all_reduce(world(user), values, values, (int64_t)n, DT_F64, DT_MAX) == DT_OK;
}

static bool all_reduce(void *user, const bench_call *call) {
    return dt_comm_all_reduce(world(user), call->src, call->dst, call->count, DT_F32, DT_SUM) == DT_OK;
}

static bool all_gather(void *user, const bench_call *call) {
    return dt_comm_all_gather(world(user), call->src, call->dst, call->count, DT_F32) == DT_OK;
}

static bool reduce_scatter(void *user, const bench_call *call) {
    return dt_comm_reduce_scatter(world(user), call->src, call->dst, call->count, DT_F32, DT_SUM) == DT_OK;
}

static bool all_to_all(void *user, const bench_call *call) {
    return dt_comm_all_to_all(world(user), call->src, call->dst, call->count, DT_F32) == DT_OK;
}

static bool broadcast(void *user, const bench_call *call) {
    return dt_comm_broadcast(world(user), call->dst, call->dst, call->count, DT_F32, 0) == DT_OK;
}

static bool barrier(void *user, const bench_call *call) {
    (void)call;
    return dt_comm_barrier(world(user)) == DT_OK;
}

bench_side bench_our_side(bench_ours *ours, dt_ctx *ctx) {
    *ours = (bench_ours){.ctx = ctx, .world = dt_group_world(ctx)};
    return (bench_side){
        .rank = (int)dt_rank(ctx),
        .n_ranks = (int)dt_world(ctx),
        .user = ours,
        .take = take,
        .give = give,
        .max = max,
        .run = {[BENCH_ALL_REDUCE] = all_reduce,
                [BENCH_ALL_GATHER] = all_gather,
                [BENCH_REDUCE_SCATTER] = reduce_scatter,
                [BENCH_ALL_TO_ALL] = all_to_all,
                [BENCH_BROADCAST] = broadcast,
                [BENCH_BARRIER] = barrier},
    };
}

static float *open_move(void *user, const bench_job *job) {
    bench_ours *ours = user;
    char text[16], from[32];
    snprintf(text, sizeof text, job->mesh[1] ? "%dx%d" : "%d", job->mesh[0], job->mesh[1]);
    ours->mesh = dt_mesh_new(ours->ctx, text);
    bench_place(job->move->to, ours->to);
    ours->dst = NULL;
    ours->src = dt_empty(ours->ctx, DT_SHAPE(job->rows, job->columns), .mesh = ours->mesh,
                         .place = bench_place(job->move->from, from));
    return dt_data(ours->src);
}

static const float *run_move(void *user, const bench_job *job) {
    bench_ours *ours = user;
    (void)job;
    dt_drop(ours->dst);
    ours->dst = dt_redistribute(ours->src, ours->to);
    return dt_data(ours->dst);
}

static void close_move(void *user, const bench_job *job) {
    bench_ours *ours = user;
    (void)job;
    dt_drop(ours->dst);
    dt_drop(ours->src);
    dt_mesh_release(ours->mesh);
}

static bool meet(void *user) { return barrier(user, NULL); }

bench_mover bench_our_mover(bench_ours *ours, dt_ctx *ctx) {
    *ours = (bench_ours){.ctx = ctx, .world = dt_group_world(ctx)};
    return (bench_mover){
        .rank = (int)dt_rank(ctx),
        .n_ranks = (int)dt_world(ctx),
        .name = "ours",
        .user = ours,
        .open = open_move,
        .run = run_move,
        .close = close_move,
        .barrier = meet,
        .max = max,
    };
}
