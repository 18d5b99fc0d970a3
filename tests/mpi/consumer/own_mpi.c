/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that uses MPI itself, and dtensor on one half of its processes at a time: communicators of its own, in
 * reverse order, are the worlds of contexts, two of them one after the other. MPI works before, between and after.
 */
#include <dtensor/dtensor.h>

#include <mpi.h>
#include <stdio.h>

static int add_up(MPI_Comm comm, int64_t *sum) {
    dt_ctx *ctx = dt_init(&(dt_init_options){.mpi_comm = &comm});
    if (!ctx)
        return 1;
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (dt_rank(ctx) != rank)
        fprintf(stderr, "expected rank %d, got %lld\n", rank, (long long)dt_rank(ctx));
    *sum = 100 + dt_rank(ctx);
    dt_comm_all_reduce(dt_group_world(ctx), sum, sum, 1, DT_I64, DT_SUM);
    return dt_close(ctx);
}

int main(int argc, char **argv) {
    int level, rank, n, finalized = 1, failed = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    int64_t sums[2] = {0, 0};
    failed += add_up(half, &sums[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    failed += add_up(MPI_COMM_WORLD, &sums[1]);
    MPI_Finalized(&finalized);
    MPI_Comm_free(&half);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sums %lld %lld, %d failed, MPI is %s\n", (long long)sums[0], (long long)sums[1], failed,
               finalized ? "finalized" : "ours");
    MPI_Finalize();
    return failed != 0;
}
