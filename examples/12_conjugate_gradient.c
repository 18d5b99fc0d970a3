/* SPDX-License-Identifier: Apache-2.0
 *
 * 12: a solver as an MPI programmer would write it. The program owns its memory and decides how many rows each rank
 * holds; the library borrows both. Dot products and products with the matrix are ops, and the solution ends up in the
 * program's own array. What would be MPI_Allgatherv and MPI_Allreduce in the original is marked. The rows have
 * different scales: dividing by the diagonal, a preconditioner, saves steps. A direct solution has the same result.
 *
 *     $ dtrun -n 4 ./12_conjugate_gradient        # any number of ranks computes the same
 */
#include <dtensor/dtensor.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 60, MAX_STEPS = 100 };

/* A symmetric positive definite matrix, and the right-hand side whose solution is 1, 2, 3, … */
static double scale(int64_t i) { return 1 + (double)i / 10; }
static double matrix(int64_t i, int64_t j) {
    return scale(i) * scale(j) * ((i == j ? 2.0 : 0.0) + 1.0 / (double)(1 + llabs(i - j)));
}
static double right_hand_side(int64_t i) {
    double sum = 0;
    for (int64_t j = 0; j < N; j++)
        sum += matrix(i, j) * (double)(j + 1);
    return sum;
}

/* Reading the sum adds up what the ranks have: MPI_Allreduce of one number. */
static double dot(dt_tensor *u, dt_tensor *v) { return dt_item(dt_sum(dt_mul(u, v))); }

/* Steps until the residual is small, or -1 after an error. x, zeros at first, is changed in place. Residuals are
 * divided by `diagonal`, unless that is NULL. */
static int solve(dt_tensor *a, dt_tensor *b, dt_tensor *diagonal, dt_tensor *x) {
    dt_ctx *ctx = dt_tensor_ctx(a);
    dt_scope all = dt_scope_begin(ctx);
    dt_tensor *r = dt_clone(b), *p = diagonal ? dt_div(r, diagonal) : dt_clone(b);
    double rz = dot(r, p), first = rz;
    int step = 0;
    for (; step < MAX_STEPS && rz > 1e-22 * first && !dt_failed(ctx); step++) {
        dt_scope scope = dt_scope_begin(ctx);       /* temporaries of a step are freed with it */
        dt_tensor *whole = dt_redistribute(p, "R"); /* MPI_Allgatherv */
        dt_tensor *ap = dt_matmul(a, whole);        /* rows of a stay where they are: S(0) */
        double alpha = rz / dot(p, ap);
        dt_add_(x, p, .alpha = DT_NUMBER(alpha)); /* local, as all of x, r, p and ap are sharded alike */
        dt_add_(r, ap, .alpha = DT_NUMBER(-alpha));
        dt_tensor *z = diagonal ? dt_div(r, diagonal) : r;
        double next = dot(r, z);
        dt_add_(dt_mul_scalar_(p, DT_NUMBER(next / rz)), z);
        rz = next;
        dt_scope_end(scope);
    }
    dt_scope_end(all);
    return dt_failed(ctx) ? -1 : step;
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    int64_t n = dt_world(ctx), rank = dt_rank(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, "*");

    /* The program's own decomposition: later ranks hold more rows. */
    int64_t *rows_of = malloc((size_t)n * sizeof *rows_of), from = 0;
    for (int64_t r = 0, begin = 0; r < n; r++) {
        int64_t end = N * (r + 1) * (r + 2) / (n * (n + 1));
        from = r == rank ? begin : from;
        rows_of[r] = end - begin;
        begin = end;
    }
    int64_t rows = rows_of[rank];
    double *a = malloc((size_t)(rows * N) * sizeof *a), *b = malloc((size_t)rows * sizeof *b);
    double *x = calloc((size_t)rows, sizeof *x), *d = malloc((size_t)rows * sizeof *d);
    for (int64_t i = 0; i < rows; i++) {
        d[i] = matrix(from + i, from + i);
        b[i] = right_hand_side(from + i);
        for (int64_t j = 0; j < N; j++)
            a[i * N + j] = matrix(from + i, j);
    }

    /* The program's arrays, seen as distributed tensors. */
    dt_tensor *ta =
        dt_from_local(ctx, dt_borrow(ctx, a, DT_SHAPE(rows, N), DT_F64), mesh, "S(0)", .extents = rows_of);
    dt_tensor *tb = dt_from_local(ctx, dt_borrow(ctx, b, DT_SHAPE(rows), DT_F64), mesh, "S(0)", .extents = rows_of);
    dt_tensor *tx = dt_from_local(ctx, dt_borrow(ctx, x, DT_SHAPE(rows), DT_F64), mesh, "S(0)", .extents = rows_of);
    dt_tensor *td = dt_from_local(ctx, dt_borrow(ctx, d, DT_SHAPE(rows), DT_F64), mesh, "S(0)", .extents = rows_of);
    int plain = solve(ta, tb, NULL, dt_zeros_like(tb)), steps = solve(ta, tb, td, tx);
    /* Factors need the whole matrix: it is gathered. */
    double difference = dt_item(dt_max(dt_abs(dt_sub(dt_linalg_solve(ta, tb), tx))));

    double error = 0, largest = 0;
    for (int64_t i = 0; i < rows; i++)
        error = fmax(error, fabs(x[i] - (double)(from + i + 1)));
    dt_comm_all_reduce(dt_group_world(ctx), &error, &largest, 1, DT_F64, DT_MAX);
    if (rank == 0 && !dt_failed(ctx))
        printf("solved in %d steps, without the preconditioner in %s times as many; the largest error is %s 1e-8\n"
               "a direct solution differs by %s than 1e-8\n",
               steps, plain > 3 * steps ? "more than three" : "at most three", largest < 1e-8 ? "below" : "above",
               difference < 1e-8 ? "less" : "more");
    int code = dt_close(ctx); /* before the memory that it borrows is freed */
    free(a), free(b), free(x), free(d), free(rows_of);
    return code;
}
