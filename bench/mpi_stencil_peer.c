/* SPDX-License-Identifier: Apache-2.0
 *
 * Sweeps of stencil.h as MPI programs do them: two arrays with space for the halo, which neighbors send straight into,
 * columns by a vector type. Arrays are allocated before the measurement. Run it under mpirun on 2 or 4 ranks.
 *
 *     mpi_stencil_peer [--quick]
 */
#include "stencil.h"

#include <mpi.h>

typedef struct block {
    MPI_Comm comm;
    MPI_Datatype column;
    int above, below, left, right; /* neighbors */
    int64_t rows, columns, stride;
    double *from, *to; /* with a border of one element */
} block;

static void exchange(const block *self) {
    double *u = self->from;
    int columns = (int)self->columns;
    MPI_Request requests[8];
    MPI_Irecv(u + 1, columns, MPI_DOUBLE, self->above, 0, self->comm, &requests[0]);
    MPI_Irecv(u + (self->rows + 1) * self->stride + 1, columns, MPI_DOUBLE, self->below, 1, self->comm, &requests[1]);
    MPI_Irecv(u + self->stride, 1, self->column, self->left, 2, self->comm, &requests[2]);
    MPI_Irecv(u + self->stride + self->columns + 1, 1, self->column, self->right, 3, self->comm, &requests[3]);
    MPI_Isend(u + self->rows * self->stride + 1, columns, MPI_DOUBLE, self->below, 0, self->comm, &requests[4]);
    MPI_Isend(u + self->stride + 1, columns, MPI_DOUBLE, self->above, 1, self->comm, &requests[5]);
    MPI_Isend(u + self->stride + self->columns, 1, self->column, self->right, 2, self->comm, &requests[6]);
    MPI_Isend(u + self->stride + 1, 1, self->column, self->left, 3, self->comm, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static double repeat(void *user) {
    block *self = user;
    MPI_Barrier(self->comm);
    double start = bench_now();
    exchange(self);
    bench_sweep(self->to + self->stride + 1, self->stride, self->from, self->stride, self->rows, self->columns);
    double *from = self->to, seconds = bench_now() - start;
    self->to = self->from;
    self->from = from;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, self->comm);
    return seconds;
}

static double sum_of(const block *self) {
    double sum = 0;
    for (int64_t i = 1; i <= self->rows; i++)
        for (int64_t j = 1; j <= self->columns; j++)
            sum += self->from[i * self->stride + j];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, self->comm);
    return sum;
}

static int measure(MPI_Comm comm, int64_t grid, double budget_s) {
    int coordinate[2], rank, dims[2], periods[2];
    block self = {.comm = comm};
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_get(comm, 2, dims, periods, coordinate);
    MPI_Cart_shift(comm, 0, 1, &self.above, &self.below);
    MPI_Cart_shift(comm, 1, 1, &self.left, &self.right);
    self.rows = grid / dims[0];
    self.columns = grid / dims[1];
    self.stride = self.columns + 2;
    size_t n = (size_t)((self.rows + 2) * self.stride);
    self.from = calloc(n, sizeof(double));
    self.to = calloc(n, sizeof(double));
    if (!self.from || !self.to)
        return 1;
    for (int64_t i = 0; i < self.rows; i++)
        for (int64_t j = 0; j < self.columns; j++)
            self.from[(i + 1) * self.stride + j + 1] =
                bench_initial(i + coordinate[0] * self.rows, j + coordinate[1] * self.columns);
    MPI_Type_vector((int)self.rows, 1, (int)self.stride, MPI_DOUBLE, &self.column);
    MPI_Type_commit(&self.column);
    (void)repeat(&self);
    double sum = sum_of(&self), seconds = bench_settle_sweep(budget_s, repeat, &self);
    if (rank == 0)
        bench_print_sweep("openmpi", dims[0] * dims[1], grid, seconds, sum);
    MPI_Type_free(&self.column);
    free(self.from);
    free(self.to);
    return 0;
}

int main(int argc, char **argv) {
    int size, rank, status = 0;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, size / 2}, (int[]){0, 0}, 0, &grid);
    bench_bind(rank, size);
    double budget_s = argc > 1 && !strcmp(argv[1], "--quick") ? 0.1 : 0.5;
    for (int g = 0; g < BENCH_N_GRIDS && !status; g++)
        status = measure(grid, bench_grids[g], budget_s);
    MPI_Finalize();
    return status;
}
