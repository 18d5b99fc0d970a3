/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of our collectives among ranks that are forked here, with buffers in the shared heap, and of plain and
 * streaming copies of private memory by one rank and by all at once, from which the bounds of large collectives are
 * computed (docs/performance.md). mpi_peer.c measures those of MPI; scripts/bench_comm.sh runs both in turn.
 */
#include "collectives.h"
#include "kernels/kernels.h"
#include "ours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 64 << 20, COPY_LEAST = 4, COPY_MOST = 100 };

/* The first n_copying ranks copy private memory, all at once. */
static bool measure_copy(const bench_side *side, const bench_options *options, int n_copying, dt__store store,
                         char *dst, const char *src) {
    const dt__kernels *kernels = dt__kernels_best();
    double seconds[COPY_MOST], end = bench_now() + 2 * options->budget_s;
    int n = 0;
    for (double go_on = 1; n < COPY_MOST && go_on > 0; n++) {
        if (!side->run[BENCH_BARRIER](side->user, NULL))
            return false;
        double start = bench_now();
        if (side->rank < n_copying)
            kernels->copy(dst, src, COPY_BYTES, store);
        seconds[n] = side->rank < n_copying ? bench_now() - start : 0;
        go_on = n < COPY_LEAST || bench_now() < end;
        if (!side->max(side->user, &go_on, 1))
            return false;
    }
    if (!side->max(side->user, seconds, (size_t)n))
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
    bench_ours ours;
    bench_side side = bench_our_side(&ours, ctx);
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
