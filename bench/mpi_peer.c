/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of MPI's collectives, measured by the same loops as in bench_comm.c. Run it under mpirun. With --start
 * it only initializes and finalizes MPI.
 */
#include "collectives.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void *take(void *user, size_t bytes) {
    (void)user;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void give(void *user, void *memory) {
    (void)user;
    free(memory);
}

static MPI_Comm world(void *user) { return *(MPI_Comm *)user; }

static bool max(void *user, double *values, size_t n) {
    return MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_DOUBLE, MPI_MAX, world(user)) == MPI_SUCCESS;
}

static bool all_reduce(void *user, const bench_call *call) {
    return MPI_Allreduce(call->src, call->dst, (int)call->count, MPI_FLOAT, MPI_SUM, world(user)) == MPI_SUCCESS;
}

static bool all_gather(void *user, const bench_call *call) {
    return MPI_Allgather(call->src, (int)call->count, MPI_FLOAT, call->dst, (int)call->count, MPI_FLOAT,
                         world(user)) == MPI_SUCCESS;
}

static bool reduce_scatter(void *user, const bench_call *call) {
    return MPI_Reduce_scatter_block(call->src, call->dst, (int)call->count, MPI_FLOAT, MPI_SUM, world(user)) ==
           MPI_SUCCESS;
}

static bool all_to_all(void *user, const bench_call *call) {
    return MPI_Alltoall(call->src, (int)call->count, MPI_FLOAT, call->dst, (int)call->count, MPI_FLOAT,
                        world(user)) == MPI_SUCCESS;
}

static bool broadcast(void *user, const bench_call *call) {
    return MPI_Bcast(call->dst, (int)call->count, MPI_FLOAT, 0, world(user)) == MPI_SUCCESS;
}

static bool barrier(void *user, const bench_call *call) {
    (void)call;
    return MPI_Barrier(world(user)) == MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Comm all = MPI_COMM_WORLD;
    bench_options options;
    bench_side side = {
        .user = &all,
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
    bool empty = argc > 1 && !strcmp(argv[1], "--start");
    if (!empty && !bench_options_read(&options, argc, argv))
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(all, &side.rank);
    MPI_Comm_size(all, &side.n_ranks);
    if (!empty)
        bench_bind(side.rank, side.n_ranks);
    bool fine = empty || bench_collectives(&side, &options);
    MPI_Finalize();
    return fine ? 0 : 1;
}
