/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of redistributions among ranks that are forked here, and times to compare them with: for each large
 * redistribution the memory bound (docs/performance.md), as copies measured in the same run; for the small ones a
 * pair of barriers. mpi_redistribute_peer.c measures MPI; scripts/bench_redistribute.sh runs both in turn.
 *
 *     bench_redistribute [--ranks N] [--quick]
 */
#include "kernels/kernels.h"
#include "ours.h"
#include "settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGEST_PART = 4 * BENCH_LARGE * BENCH_LARGE, COPY_PIECE = 1 << 18, BARRIER_PAIRS = 1000 };

struct options {
    int n_ranks;
    bool quick;
    char *shared; /* LARGEST_PART for each rank */
};

/* A way to copy: in pieces from all ranks in turn, or one rank's part after the other; plain or streaming stores. */
struct copy_way {
    size_t piece; /* 0: a whole part */
    dt__store store;
};

/* As many bytes as the move must read and write: from what each rank holds of the source, which it has just written,
 * in turn, to as much private memory as this rank will hold of the result. A replica reads its own. */
static void copy_as_much(const bench_job *job, const char *shared, char *dst, const struct copy_way *way) {
    const dt__kernels *kernels = dt__kernels_best();
    size_t src_bytes = 4 * (size_t)bench_block_count(&job->src), dst_bytes = 4 * (size_t)bench_block_count(&job->dst);
    size_t bytes = (size_t)(bench_bytes_touched(job) / (2 * job->n_ranks));
    size_t n = job->move->from[0] == 'R' ? 1 : (size_t)job->n_ranks, k = 0;
    size_t most = dst_bytes < src_bytes ? dst_bytes : src_bytes, piece = way->piece ? way->piece : most;
    for (size_t at = 0; at < bytes; at += piece, k++) {
        size_t owner = ((size_t)job->rank + k % n) % (size_t)job->n_ranks, left = bytes - at;
        kernels->copy(dst + at % dst_bytes, shared + owner * LARGEST_PART + at % src_bytes,
                      left < piece ? left : piece, way->store);
    }
}

/* The time of the fastest kind of copy, on all ranks at once, each once per batch; negative after a failure. */
static double measure_bound(const bench_mover *mover, const bench_job *job, char *shared, double budget_s) {
    static const struct copy_way ways[] = {
        {COPY_PIECE, DT__CACHED}, {COPY_PIECE, DT__STREAM}, {0, DT__CACHED}, {0, DT__STREAM}};
    enum { N_WAYS = sizeof ways / sizeof *ways };
    size_t src_bytes = 4 * (size_t)bench_block_count(&job->src), dst_bytes = 4 * (size_t)bench_block_count(&job->dst);
    char *dst = malloc(dst_bytes);
    bench_settle settle = bench_settle_new(budget_s);
    double seconds[N_WAYS];
    bool fine = dst;
    if (fine)
        memset(dst, 1, dst_bytes);
    do {
        for (int i = 0; i < N_WAYS && fine; i++) {
            memset(shared + (size_t)job->rank * LARGEST_PART, i, src_bytes);
            fine = mover->barrier(mover->user);
            double start = bench_now();
            copy_as_much(job, shared, dst, &ways[i]);
            seconds[i] = bench_span(mover, start, bench_now());
            fine = fine && seconds[i] > 0;
        }
    } while (fine && bench_settle_continues(&settle, seconds, N_WAYS));
    free(dst);
    return fine ? settle.best : -1;
}

static bool measure_bounds(const bench_mover *mover, char *shared, double budget_s) {
    for (int k = 0; k < bench_n_moves(mover->n_ranks); k++) {
        bench_job job = bench_job_of(mover, k, BENCH_LARGE);
        double seconds = measure_bound(mover, &job, shared, budget_s);
        if (seconds < 0)
            return false;
        bench_move_row(mover, "limit", &job, seconds);
    }
    return true;
}

static bool measure_barriers(const bench_mover *mover, double budget_s) {
    static double seconds[BENCH_MAX_BATCH];
    bench_settle settle = bench_settle_new(budget_s);
    int n;
    do {
        n = bench_settle_batch(&settle);
        for (int i = 0; i < n; i++) {
            bool fine = mover->barrier(mover->user);
            double start = bench_now();
            for (int k = 0; k < 2 * BARRIER_PAIRS && fine; k++)
                fine = mover->barrier(mover->user);
            seconds[i] = bench_span(mover, start, bench_now());
            if (!fine || seconds[i] < 0)
                return false;
        }
    } while (bench_settle_continues(&settle, seconds, n));
    bench_job none = {.rows = BENCH_SMALL, .columns = BENCH_SMALL, .n_ranks = mover->n_ranks};
    bench_move_row(mover, "barriers", &none, settle.best / BARRIER_PAIRS);
    return true;
}

static int rank_main(dt_ctx *ctx, void *arg) {
    const struct options *options = arg;
    bench_ours ours;
    bench_mover mover = bench_our_mover(&ours, ctx);
    bench_bind(mover.rank, mover.n_ranks);
    double budget_s = options->quick ? 0.1 : 0.5;
    bool fine = bench_measure_moves(&mover, budget_s) && measure_bounds(&mover, options->shared, budget_s) &&
                (mover.n_ranks > 2 || measure_barriers(&mover, budget_s));
    return fine ? 0 : 1;
}

int main(int argc, char **argv) {
    struct options options = {.n_ranks = 2};
    char *error = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            options.quick = true;
        else if (!strcmp(argv[i], "--ranks") && i + 1 < argc)
            options.n_ranks = atoi(argv[++i]);
        else
            options.n_ranks = 0;
    }
    if (options.n_ranks != 2 && options.n_ranks != 4) {
        fprintf(stderr, "usage: bench_redistribute [--ranks 2|4] [--quick]\n");
        return 2;
    }
    options.shared =
        mmap(NULL, (size_t)options.n_ranks * LARGEST_PART, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (options.shared == MAP_FAILED)
        return 1;
    if (dt_spawn(options.n_ranks, rank_main, &options, &error) == DT_OK)
        return 0;
    fprintf(stderr, "bench_redistribute: %s\n", error ? error : "out of memory");
    free(error);
    return 1;
}
