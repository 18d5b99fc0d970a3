/* SPDX-License-Identifier: Apache-2.0
 *
 * Mistakes of a program that uses MPI itself, one per launch: what is named in the first argument. Each rank prints how
 * its calls ended, and the program ends with 0 where the mistake is an error and not a crash.
 */
#include <dtensor/dtensor.h>

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int rank, n_ranks;

static dt_ctx *init(const MPI_Comm *comm, int threads, double timeout_s) {
    static char error[1024];
    dt_init_options options = {
        .mpi_comm = comm, .error = error, .error_bytes = sizeof error, .threads = threads, .timeout_s = timeout_s};
    dt_ctx *ctx = dt_init(&options);
    if (!ctx)
        printf("rank %d: %s\n", rank, error);
    return ctx;
}

/* MPI_Finalize before dt_close, with a collective in between or without. */
static int finalize_early(const char *how) {
    dt_ctx *ctx = init(NULL, 0, 5);
    int64_t one = 1, sum = 0;
    dt_comm_all_reduce(dt_group_world(ctx), &one, &sum, 1, DT_I64, DT_SUM);
    MPI_Finalize();
    if (!strcmp(how, "finalize_then_call"))
        dt_comm_all_reduce(dt_group_world(ctx), &one, &sum, 1, DT_I64, DT_SUM);
    printf("rank %d: closed with %d\n", rank, dt_close(ctx));
    return 0;
}

static void print_world(dt_ctx *ctx) {
    int world = (int)dt_world(ctx);
    printf("rank %d: world of %d, closed with %d\n", rank, world, dt_close(ctx));
}

/* Communicators that cannot be a world. */
static int pass_null(void) {
    MPI_Comm others;
    MPI_Comm_split(MPI_COMM_WORLD, rank ? 1 : MPI_UNDEFINED, rank, &others);
    dt_ctx *ctx = init(&others, 0, 0);
    if (ctx)
        print_world(ctx);
    return MPI_Finalize();
}

static int pass_two_groups(void) {
    MPI_Comm half, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 7, &both);
    (void)init(&both, 0, 0);
    return MPI_Finalize();
}

static int use_threads(int n_threads) {
    dt_ctx *ctx = init(NULL, n_threads, 0);
    printf("rank %d: closed with %d\n", rank, dt_close(ctx));
    return MPI_Finalize();
}

static void *close_in_thread(void *unused) {
    (void)unused;
    dt_ctx *ctx = init(NULL, 1, 0);
    printf("rank %d: closed with %d\n", rank, dt_close(ctx));
    return NULL;
}

static int use_another_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, close_in_thread, NULL);
    pthread_join(thread, NULL);
    return MPI_Finalize();
}

/* The last rank waits in MPI for a message that rank 0 sends after its barrier has failed. */
static int wait_in_mpi(void) {
    dt_ctx *ctx = init(NULL, 1, 1);
    int message = 0;
    if (rank == n_ranks - 1)
        MPI_Recv(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        dt_comm_barrier(dt_group_world(ctx));
    printf("rank %d: %s\n", rank, dt_error_text(ctx));
    if (rank == 0)
        MPI_Send(&message, 1, MPI_INT, n_ranks - 1, 0, MPI_COMM_WORLD);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    dt_close(ctx);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int level;
    MPI_Init_thread(&argc, &argv, !strcmp(how, "single") ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (!strncmp(how, "finalize", 8))
        return finalize_early(how);
    if (!strcmp(how, "null"))
        return pass_null();
    if (!strcmp(how, "two_groups"))
        return pass_two_groups();
    if (!strcmp(how, "single") || !strcmp(how, "funneled"))
        return use_threads(3);
    if (!strcmp(how, "thread"))
        return use_another_thread();
    if (!strcmp(how, "in_mpi"))
        return wait_in_mpi();
    return 2;
}
