/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of our collectives among ranks that are forked here, with buffers in the shared heap, and of plain and
 * streaming copies of private memory by one rank and by all at once, from which the bounds of large collectives are
 * computed (docs/performance.md). mpi_peer.c measures those of MPI; scripts/bench_comm.sh runs both in turn.
 */
#include "collectives.h"
#include "dtensor/comm.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 64 << 20, COPY_LEAST = 4, COPY_MOST = 100 };

struct ours {
    dt_ctx *ctx;
    dt_group *world;
};

static void *take(void *user, size_t bytes) { return dt_heap_alloc(((struct ours *)user)->ctx, bytes); }
static void give(void *user, void *memory) { dt_heap_free(((struct ours *)user)->ctx, memory); }
static dt_group *world(void *user) { return ((struct ours *)user)->world; }

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

/* The first n_copying ranks copy private memory, all at once. */
static bool measure_copy(const bench_side *side, const bench_options *options, int n_copying, dt__store store,
                         char *dst, const char *src) {
    const dt__kernels *kernels = dt__kernels_best();
    double seconds[COPY_MOST], end = bench_now() + 2 * options->budget_s;
    int n = 0;
    for (double go_on = 1; n < COPY_MOST && go_on > 0; n++) {
        if (!barrier(side->user, NULL))
            return false;
        double start = bench_now();
        if (side->rank < n_copying)
            kernels->copy(dst, src, COPY_BYTES, store);
        seconds[n] = side->rank < n_copying ? bench_now() - start : 0;
        go_on = n < COPY_LEAST || bench_now() < end;
        if (!max(side->user, &go_on, 1))
            return false;
    }
    if (!max(side->user, seconds, (size_t)n))
        return false;
    if (side->rank == 0)
        bench_row(options, store == DT__STREAM ? "copy_stream" : "copy", n_copying, COPY_BYTES, false,
                  bench_summary(seconds, n));
    return true;
}

static bool measure_copies(const bench_side *side, const bench_options *options) {
    char *src = malloc(COPY_BYTES), *dst = malloc(COPY_BYTES);
    bool fine = src && dst;
    if (fine) {
        memset(src, 1, COPY_BYTES);
        memset(dst, 2, COPY_BYTES);
    }
    for (int n = 1; n <= side->n_ranks && fine; n += side->n_ranks > 1 ? side->n_ranks - 1 : 1)
        fine = measure_copy(side, options, n, DT__CACHED, dst, src) &&
               measure_copy(side, options, n, DT__STREAM, dst, src);
    free(src);
    free(dst);
    return fine;
}

static int rank_main(dt_ctx *ctx, void *arg) {
    const bench_options *options = arg;
    struct ours ours = {ctx, dt_group_world(ctx)};
    bench_side side = {
        .rank = (int)dt_rank(ctx),
        .n_ranks = (int)dt_world(ctx),
        .user = &ours,
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
    bench_bind(side.rank, side.n_ranks);
    bool fine = bench_collectives(&side, options) && (!options->copies || measure_copies(&side, options));
    return fine ? 0 : 1;
}

int main(int argc, char **argv) {
    bench_options options;
    char *error = NULL;
    if (!bench_options_read(&options, argc, argv))
        return 2;
    if (dt_spawn(options.n_ranks, rank_main, &options, &error) == DT_OK)
        return 0;
    fprintf(stderr, "bench_comm: %s\n", error ? error : "out of memory");
    free(error);
    return 1;
}
