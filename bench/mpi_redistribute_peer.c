/* SPDX-License-Identifier: Apache-2.0
 *
 * The moves of bench_redistribute.c as MPI programs do them: the collective that fits, and explicit packing if it
 * needs contiguous blocks. Buffers are allocated before the measurement. Run it under mpirun.
 *
 *     mpi_redistribute_peer [--quick|--shard-to-shard]
 */
#include "moves.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct theirs {
    MPI_Comm world, line[2]; /* the ranks along either dim of 2x2 */
    float *src, *packed, *dst;
};

static float *take(int64_t count) { return aligned_alloc(64, ((size_t)count * sizeof(float) + 63) / 64 * 64); }

static float *open_move(void *user, const bench_job *job) {
    struct theirs *t = user;
    int64_t whole = job->rows * job->columns;
    t->src = take(bench_block_count(&job->src));
    t->packed = take(whole);
    t->dst = take(bench_block_count(&job->dst));
    if (!t->src || !t->packed || !t->dst)
        return NULL;
    memset(t->packed, 0, (size_t)whole * sizeof(float));
    memset(t->dst, 0, (size_t)bench_block_count(&job->dst) * sizeof(float));
    return t->src;
}

static void close_move(void *user, const bench_job *job) {
    struct theirs *t = user;
    (void)job;
    free(t->src);
    free(t->packed);
    free(t->dst);
}

/* n blocks of whole rows of `width`, side by side in one buffer and contiguous in the other. */
static void pack(const float *src, float *dst, int64_t rows, int64_t width, int n) {
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < rows; i++, dst += width)
            memcpy(dst, src + (i * n + k) * width, (size_t)width * sizeof(float));
}

static void unpack(const float *src, float *dst, int64_t rows, int64_t width, int n) {
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < rows; i++, src += width)
            memcpy(dst + (i * n + k) * width, src, (size_t)width * sizeof(float));
}

/* S(0) to S(1) along a communicator of n ranks: src of so many rows and columns; the result is in dst. */
static void shard_to_shard(MPI_Comm comm, int n, const float *src, float *packed, float *dst, int64_t rows,
                           int64_t columns) {
    pack(src, packed, rows, columns / n, n);
    int count = (int)(rows * (columns / n));
    MPI_Alltoall(packed, count, MPI_FLOAT, dst, count, MPI_FLOAT, comm);
}

static void run_line(struct theirs *t, const bench_job *job) {
    int src = (int)bench_block_count(&job->src), dst = (int)bench_block_count(&job->dst), n = job->n_ranks;
    char from = job->move->from[0], to = job->move->to[0];
    if (from == 'P' && to == 'R') {
        MPI_Allreduce(t->src, t->dst, dst, MPI_FLOAT, MPI_SUM, t->world);
    } else if (from == 'P') {
        MPI_Reduce_scatter_block(t->src, t->dst, dst, MPI_FLOAT, MPI_SUM, t->world);
    } else if (from == 'R') {
        memcpy(t->dst, t->src + job->dst.row * job->columns, (size_t)dst * sizeof(float));
    } else if (to == '1') {
        shard_to_shard(t->world, n, t->src, t->packed, t->dst, job->src.rows, job->columns);
    } else if (from == '0') {
        MPI_Allgather(t->src, src, MPI_FLOAT, t->dst, src, MPI_FLOAT, t->world);
    } else {
        MPI_Allgather(t->src, src, MPI_FLOAT, t->packed, src, MPI_FLOAT, t->world);
        unpack(t->packed, t->dst, job->rows, job->columns / n, n);
    }
}

static void run_grid(struct theirs *t, const bench_job *job) {
    int src = (int)bench_block_count(&job->src), dst = (int)bench_block_count(&job->dst);
    if (!strcmp(job->move->from, "PP")) {
        MPI_Allreduce(t->src, t->dst, dst, MPI_FLOAT, MPI_SUM, t->world);
    } else if (!strcmp(job->move->from, "01")) { /* blocks change places across the diagonal */
        int peer = job->coordinate[1] * 2 + job->coordinate[0];
        if (peer == job->rank)
            memcpy(t->dst, t->src, (size_t)src * sizeof(float));
        else
            MPI_Sendrecv(t->src, src, MPI_FLOAT, peer, 0, t->dst, dst, MPI_FLOAT, peer, 0, t->world,
                         MPI_STATUS_IGNORE);
    } else if (!strcmp(job->move->from, "00")) { /* columns along dim 1, then all rows along dim 0 */
        float *columns = t->packed + src;
        shard_to_shard(t->line[1], 2, t->src, t->packed, columns, job->src.rows, job->columns);
        MPI_Allgather(columns, src, MPI_FLOAT, t->dst, src, MPI_FLOAT, t->line[0]);
    } else { /* P0 to R1 */
        float *columns = t->packed + src;
        shard_to_shard(t->line[1], 2, t->src, t->packed, columns, job->src.rows, job->columns);
        MPI_Allreduce(columns, t->dst, dst, MPI_FLOAT, MPI_SUM, t->line[0]);
    }
}

static const float *run_move(void *user, const bench_job *job) {
    struct theirs *t = user;
    if (job->mesh[1])
        run_grid(t, job);
    else
        run_line(t, job);
    return t->dst;
}

static bool barrier(void *user) { return MPI_Barrier(((struct theirs *)user)->world) == MPI_SUCCESS; }

static bool max(void *user, double *values, size_t n) {
    MPI_Comm world = ((struct theirs *)user)->world;
    return MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_DOUBLE, MPI_MAX, world) == MPI_SUCCESS;
}

int main(int argc, char **argv) {
    struct theirs t = {.world = MPI_COMM_WORLD};
    bench_mover mover = {.name = "openmpi",
                         .user = &t,
                         .open = open_move,
                         .run = run_move,
                         .close = close_move,
                         .barrier = barrier,
                         .max = max};
    bool quick = argc > 1 && !strcmp(argv[1], "--quick"), one = argc > 1 && !strcmp(argv[1], "--shard-to-shard");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(t.world, &mover.rank);
    MPI_Comm_size(t.world, &mover.n_ranks);
    MPI_Comm_split(t.world, mover.rank % 2, mover.rank, &t.line[0]);
    MPI_Comm_split(t.world, mover.rank / 2, mover.rank, &t.line[1]);
    bench_bind(mover.rank, mover.n_ranks);
    bool fine = one ? bench_measure_move(&mover, BENCH_SHARD_TO_SHARD, BENCH_LARGE, 1)
                    : bench_measure_moves(&mover, quick ? 0.1 : 0.5);
    MPI_Finalize();
    return fine ? 0 : 1;
}
