/* SPDX-License-Identifier: Apache-2.0
 *
 * An MPI code that was there before dtensor, and what it takes to use dtensor in it: the temperature of a plate by
 * Jacobi's iteration, on blocks with ghost cells, which neighbors exchange by messages. The arrays stay where they are;
 * dtensor computes norms of the whole plate and saves it. The last process is no worker: it prints what it is sent.
 *
 *     jacobi ROWS COLUMNS STEPS FILE
 */
#include <dtensor/dtensor.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EVERY = 20, DONE = -1 };

/* A worker's block: rows x columns cells, and a frame of ghost cells around them. */
struct block {
    MPI_Comm comm;
    int blocks[2], at[2];            /* of the plate; this one's place */
    int above, below, before, after; /* neighbors */
    int sizes[2], rows, columns;     /* of the plate; of this block */
    double *old, *new;               /* [rows + 2, columns + 2] */
    MPI_Datatype column;
};

static int first_of(int size, int n_blocks, int i) { return (int)((long)size * i / n_blocks); }

static double *cell(const struct block *b, double *u, int row, int column) {
    return u + (size_t)row * (size_t)(b->columns + 2) + column;
}

static void make_block(struct block *b, MPI_Comm workers) {
    int n, rank, periodic[2] = {0, 0};
    MPI_Comm_size(workers, &n);
    MPI_Dims_create(n, 2, b->blocks);
    MPI_Cart_create(workers, 2, b->blocks, periodic, 0, &b->comm);
    MPI_Comm_rank(b->comm, &rank);
    MPI_Cart_coords(b->comm, rank, 2, b->at);
    MPI_Cart_shift(b->comm, 0, 1, &b->above, &b->below);
    MPI_Cart_shift(b->comm, 1, 1, &b->before, &b->after);
    b->rows = first_of(b->sizes[0], b->blocks[0], b->at[0] + 1) - first_of(b->sizes[0], b->blocks[0], b->at[0]);
    b->columns = first_of(b->sizes[1], b->blocks[1], b->at[1] + 1) - first_of(b->sizes[1], b->blocks[1], b->at[1]);
    size_t n_cells = (size_t)(b->rows + 2) * (size_t)(b->columns + 2);
    b->old = calloc(n_cells, sizeof *b->old);
    b->new = calloc(n_cells, sizeof *b->new);
    for (int column = 0; b->at[0] == 0 && column < b->columns + 2; column++) /* the upper edge is hot */
        *cell(b, b->old, 0, column) = *cell(b, b->new, 0, column) = 1;
    MPI_Type_vector(b->rows, 1, b->columns + 2, MPI_DOUBLE, &b->column);
    MPI_Type_commit(&b->column);
}

static void exchange_ghosts(struct block *b, double *u) {
    MPI_Sendrecv(cell(b, u, 1, 1), b->columns, MPI_DOUBLE, b->above, 0, cell(b, u, b->rows + 1, 1), b->columns,
                 MPI_DOUBLE, b->below, 0, b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(cell(b, u, b->rows, 1), b->columns, MPI_DOUBLE, b->below, 1, cell(b, u, 0, 1), b->columns,
                 MPI_DOUBLE, b->above, 1, b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(cell(b, u, 1, 1), 1, b->column, b->before, 2, cell(b, u, 1, b->columns + 1), 1, b->column, b->after,
                 2, b->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(cell(b, u, 1, b->columns), 1, b->column, b->after, 3, cell(b, u, 1, 0), 1, b->column, b->before, 3,
                 b->comm, MPI_STATUS_IGNORE);
}

static void iterate(struct block *b) {
    double *swapped = b->old;
    exchange_ghosts(b, b->old);
    for (int i = 1; i <= b->rows; i++)
        for (int j = 1; j <= b->columns; j++)
            *cell(b, b->new, i, j) = 0.25 * (*cell(b, b->old, i - 1, j) + *cell(b, b->old, i + 1, j) +
                                             *cell(b, b->old, i, j - 1) + *cell(b, b->old, i, j + 1));
    b->old = b->new;
    b->new = swapped;
}

/* From here on dtensor. "S(0:7,6),S(1:4,4,3)": the sizes of the blocks along both dims, which are those of the code. */
static void print_placements(const struct block *b, char *text, size_t capacity) {
    size_t n = 0;
    for (int d = 0; d < 2; d++) {
        n += (size_t)snprintf(text + n, capacity - n, "%sS(%d:", d ? "," : "", d);
        for (int i = 0; i < b->blocks[d]; i++)
            n +=
                (size_t)snprintf(text + n, capacity - n, "%s%d", i ? "," : "",
                                 first_of(b->sizes[d], b->blocks[d], i + 1) - first_of(b->sizes[d], b->blocks[d], i));
        n += (size_t)snprintf(text + n, capacity - n, ")");
    }
}

/* The plate as one tensor: each rank's shard is the inside of its block, in the memory of the code. */
static dt_tensor *plate(dt_ctx *ctx, dt_mesh *mesh, const struct block *b, double *u) {
    char place[1024];
    print_placements(b, place, sizeof place);
    dt_tensor *whole = dt_borrow(ctx, u, DT_SHAPE(b->rows + 2, b->columns + 2), DT_F64);
    dt_tensor *inside = dt_narrow(dt_narrow(whole, 0, 1, b->rows), 1, 1, b->columns);
    return dt_from_local(ctx, inside, mesh, place, .shape = DT_SHAPE(b->sizes[0], b->sizes[1]));
}

static int work(struct block *b, int n_steps, int observer, const char *file) {
    char shape[64];
    int rank, code;
    dt_ctx *ctx = dt_init(&(dt_init_options){.mpi_comm = &b->comm});
    snprintf(shape, sizeof shape, "y=%d,x=%d", b->blocks[0], b->blocks[1]);
    dt_mesh *mesh = dt_mesh_new(ctx, shape); /* numbers its ranks as MPI_Cart_create does */
    dt_tensor *u = plate(ctx, mesh, b, b->old), *v = plate(ctx, mesh, b, b->new);
    MPI_Comm_rank(b->comm, &rank);
    for (int step = 1; step <= n_steps && !dt_failed(ctx); step++) {
        iterate(b);
        if (step % EVERY)
            continue;
        dt_scope scope = dt_scope_begin(ctx);
        double change = dt_item(dt_norm(dt_sub(u, v)));
        dt_scope_end(scope);
        if (rank == 0) /* messages of the code in between */
            MPI_Send(&change, 1, MPI_DOUBLE, observer, 0, MPI_COMM_WORLD);
    }
    dt_tensor *result = n_steps % 2 ? v : u; /* the array in which the last step has left it */
    double mean = dt_item(dt_mean(result));
    dt_save_npy(result, file);
    if (rank == 0 && !dt_failed(ctx))
        printf("mean %.12f\n", mean);
    code = dt_close(ctx); /* before MPI_Finalize, and before the memory that tensors borrow is freed */
    double done = DONE;
    if (rank == 0)
        MPI_Send(&done, 1, MPI_DOUBLE, observer, 0, MPI_COMM_WORLD);
    return code;
}

static void observe(void) {
    for (double change = 0; change >= 0;) {
        MPI_Recv(&change, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (change >= 0)
            printf("change %.12f\n", change);
    }
}

int main(int argc, char **argv) {
    struct block b = {.blocks = {0, 0}};
    int level, rank, n, code = 0;
    MPI_Comm workers;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level); /* dtensor may compute with threads */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc < 5 || n < 2)
        return MPI_Finalize() || 2;
    b.sizes[0] = atoi(argv[1]);
    b.sizes[1] = atoi(argv[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank < n - 1 ? 0 : MPI_UNDEFINED, rank, &workers);
    if (workers == MPI_COMM_NULL) {
        observe(); /* no context: it is not in the world of the workers */
    } else {
        make_block(&b, workers);
        code = work(&b, atoi(argv[3]), n - 1, argv[4]);
        free(b.old);
        free(b.new);
        MPI_Type_free(&b.column);
        MPI_Comm_free(&b.comm);
        MPI_Comm_free(&workers);
    }
    MPI_Finalize();
    return code;
}
