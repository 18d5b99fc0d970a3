/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of our collectives and of S(0) to S(1) among the ranks that mpirun started. mpi_peer.c and
 * mpi_redistribute_peer.c measure those of MPI; scripts/bench_mpi.sh runs them in turn.
 *
 *     mpirun -n 4 bench_mpi [options of bench_comm] | --shard-to-shard | --start
 *
 * --start only opens and closes a context, for measuring the start.
 */
#include "ours.h"

#include <string.h>

int main(int argc, char **argv) {
    bool one = argc > 1 && !strcmp(argv[1], "--shard-to-shard"), empty = argc > 1 && !strcmp(argv[1], "--start");
    bool fine = true;
    bench_options options;
    if (!one && !empty && !bench_options_read(&options, argc, argv))
        return 2;
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bench_ours ours;
    if (one) {
        bench_mover mover = bench_our_mover(&ours, ctx);
        fine = bench_measure_move(&mover, BENCH_SHARD_TO_SHARD, BENCH_LARGE, 1);
    } else if (!empty) {
        bench_side side = bench_our_side(&ours, ctx);
        bench_bind(side.rank, side.n_ranks);
        fine = bench_collectives(&side, &options);
    }
    return dt_close(ctx) || !fine;
}
