/* SPDX-License-Identifier: Apache-2.0
 *
 * Systems of small matrices: of triangles, by given LU factors, and with their factorization.
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

/* A triangle, or that of the transpose: elements are as far apart as the steps. */
typedef struct SMALL_NAME(triangle) {
    const NUMBER *a;
    int n, row_step, column_step;
    bool is_lower, is_unit;
} SMALL_NAME(triangle);

/* Row number `at` in the order of the substitution. */
INLINE int SMALL_NAME(row_at)(const SMALL_NAME(triangle) * of, int at) { return of->is_lower ? at : of->n - 1 - at; }

static void SMALL_NAME(substitute_four)(const SMALL_NAME(triangle) * of, NUMBER *b, int row_step, int column_step) {
    for (int at = 0; at < of->n; at++) {
        const int i = SMALL_NAME(row_at)(of, at);
        const NUMBER *row = of->a + i * of->row_step;
        NUMBER sums[4], *out = b + i * row_step;
        for (int c = 0; c < 4; c++)
            sums[c] = out[c * column_step];
        for (int before = 0; before < at; before++) {
            const int k = SMALL_NAME(row_at)(of, before);
            for (int c = 0; c < 4; c++)
                sums[c] =
                    SMALL_NAME(less_product)(sums[c], row[k * of->column_step], b[k * row_step + c * column_step]);
        }
        for (int c = 0; c < 4; c++)
            out[c * column_step] = of->is_unit ? sums[c] : SMALL_NAME(quotient)(sums[c], row[i * of->column_step]);
    }
}

/* The operations of each number are the same as with four columns; here those of the rows below do not wait for one
 * another. */
static void SMALL_NAME(substitute_one)(const SMALL_NAME(triangle) * of, NUMBER *b, int row_step) {
    for (int at = 0; at < of->n; at++) {
        const int i = SMALL_NAME(row_at)(of, at);
        const NUMBER *column = of->a + i * of->column_step;
        if (!of->is_unit)
            b[i * row_step] = SMALL_NAME(quotient)(b[i * row_step], column[i * of->row_step]);
        const NUMBER x = b[i * row_step];
        for (int after = at + 1; after < of->n; after++) {
            const int k = SMALL_NAME(row_at)(of, after);
            b[k * row_step] = SMALL_NAME(less_product)(b[k * row_step], column[k * of->row_step], x);
        }
    }
}

/* X of A X = B in place of B. */
static void SMALL_NAME(substitute)(const SMALL_NAME(triangle) * of, int n_columns, NUMBER *b, int row_step,
                                   int column_step) {
    int c = 0;
    for (; c + 4 <= n_columns; c += 4)
        SMALL_NAME(substitute_four)(of, b + c * column_step, row_step, column_step);
    for (; c < n_columns; c++)
        SMALL_NAME(substitute_one)(of, b + c * column_step, row_step);
}

/* X A = B is Aᵀ Xᵀ = Bᵀ. */
static void SMALL_NAME(solve_triangles)(const dt__small_matrices *self, const NUMBER *a, const VMASK *pivots,
                                        int n_columns, NUMBER *b) {
    const int n = self->n, row_step = self->right ? 1 : n_columns, column_step = self->right ? n : 1;
    const bool transposed = self->right != self->adjoint;
    SMALL_NAME(triangle) of = {.a = a, .n = n, .row_step = transposed ? 1 : n, .column_step = transposed ? n : 1};
    if (self->kind == DT__SMALL_TRIANGULAR) {
        of.is_lower = self->upper == transposed;
        of.is_unit = self->unit;
        SMALL_NAME(substitute)(&of, n_columns, b, row_step, column_step);
        return;
    }
    for (int k = 0; k < n && !transposed; k++)
        SMALL_NAME(swap_rows)(n, n_columns, k, pivots[k], b, row_step, column_step);
    for (int i = 0; i < 2; i++) { /* L U, or Uᵀ Lᵀ */
        of.is_lower = i == 0;
        of.is_unit = of.is_lower != transposed;
        SMALL_NAME(substitute)(&of, n_columns, b, row_step, column_step);
    }
    for (int k = n - 1; k >= 0 && transposed; k--)
        SMALL_NAME(swap_rows)(n, n_columns, k, pivots[k], b, row_step, column_step);
}

/* Without B its place has the unit matrix. With A on the right, B is transposed, and solved after A is factored. */
static void SMALL_NAME(solve)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n, n_rhs = self->n_rhs;
    const int64_t size = (int64_t)n * n, size_b = (int64_t)n * n_rhs;
    NUMBER *a = memory, *b = a + size;
    SMALL_NAME(elimination) of = SMALL_NAME(elimination_of)(n, n, a, self->right ? 0 : n_rhs, b, b + size_b);
    SMALL_NAME(pack)(size, n_matrices, SMALL_NAME(read_at)(self->a, first * size), a);
    if (self->b)
        SMALL_NAME(pack)(size_b, n_matrices, SMALL_NAME(read_at)(self->b, first * size_b), b);
    for (int64_t e = 0; !self->b && e < size; e++)
        b[e] = e % (n + 1) == 0 ? SMALL_NAME(one)() : SMALL_NAME(zero)();
    of.pivots = self->right ? of.pivots : NULL;
    const VMASK info = SMALL_NAME(eliminate)(&of);
    const SMALL_NAME(triangle) upper = {.a = a, .n = n, .row_step = n, .column_step = 1};
    if (self->right)
        SMALL_NAME(solve_triangles)(self, a, of.pivots, n_rhs, b);
    else
        SMALL_NAME(substitute)(&upper, n_rhs, b, n_rhs, 1);
    SMALL_NAME(unpack)(size_b, n_matrices, b, SMALL_NAME(write_at)(self->out, first * size_b));
    for (int l = 0; l < n_matrices; l++)
        self->infos[first + l] = (int32_t)info[l];
}

/* Pivots that are out of range swap nothing. */
static void SMALL_NAME(pack_pivots)(int n, int n_matrices, const int32_t *from, VMASK *to) {
    for (int i = 0; i < n; i++)
        for (int l = 0; l < N_LANES; l++) {
            const int32_t pivot = from[(l < n_matrices ? l : n_matrices - 1) * n + i];
            to[i][l] = pivot < 1 || pivot > n ? i : pivot - 1;
        }
}

/* Right sides of one matrix as lanes, from a row of B. */
static void SMALL_NAME(pack_row)(int n_lanes, const SMALL_REAL *row, NUMBER *group) {
    SMALL_REAL parts[N_PARTS][N_LANES];
    for (int l = 0; l < N_LANES; l++)
        for (int part = 0; part < N_PARTS; part++)
            parts[part][l] = row[(l < n_lanes ? l : 0) * N_PARTS + part];
    memcpy(group, parts, sizeof parts);
}

static void SMALL_NAME(unpack_row)(int n_lanes, const NUMBER *group, SMALL_REAL *row) {
    SMALL_REAL parts[N_PARTS][N_LANES];
    memcpy(parts, group, sizeof parts);
    for (int l = 0; l < n_lanes; l++)
        for (int part = 0; part < N_PARTS; part++)
            row[l * N_PARTS + part] = parts[part][l];
}

/* Right sides of one matrix as lanes: columns of B, or its rows. */
static void SMALL_NAME(copy_lanes)(const dt__small_matrices *self, bool back, SMALL_REAL *numbers, NUMBER *b) {
    const int n = self->n, n_rhs = self->n_rhs, n_groups = (n_rhs + N_LANES - 1) / N_LANES;
    for (int g = 0; g < n_groups; g++) {
        const int first = g * N_LANES, n_lanes = n_rhs - first < N_LANES ? n_rhs - first : N_LANES;
        if (self->right && back)
            SMALL_NAME(unpack)(n, n_lanes, b + g * n, SMALL_NAME(write_at)(numbers, (int64_t)first * n));
        else if (self->right)
            SMALL_NAME(pack)(n, n_lanes, SMALL_NAME(read_at)(numbers, (int64_t)first * n), b + g * n);
        for (int i = 0; !self->right && i < n; i++) {
            SMALL_REAL *row = SMALL_NAME(write_at)(numbers, (int64_t)i * n_rhs + first);
            if (back)
                SMALL_NAME(unpack_row)(n_lanes, b + i * n_groups + g, row);
            else
                SMALL_NAME(pack_row)(n_lanes, row, b + i * n_groups + g);
        }
    }
}

/* With few matrices that have many right sides, these are the lanes, one matrix after the other: the operations of a
 * number are the same. */
static void SMALL_NAME(substitutions)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n, n_rhs = self->n_rhs, n_groups = (n_rhs + N_LANES - 1) / N_LANES;
    const bool by_matrix = n_matrices * n_groups < n_rhs;
    const int64_t size = (int64_t)n * n, size_b = (int64_t)n * n_rhs;
    NUMBER *a = memory, *b = a + size + n;
    VMASK *pivots = (VMASK *)(a + size);
    for (int at = 0; at < n_matrices; at += by_matrix ? 1 : n_matrices) {
        const int64_t matrix = first + at;
        const int n_lanes = by_matrix ? 1 : n_matrices;
        SMALL_NAME(pack)(size, n_lanes, SMALL_NAME(read_at)(self->a, matrix * size), a);
        for (int64_t e = 0; N_PARTS > 1 && self->adjoint && e < size; e++)
            a[e] = SMALL_NAME(conj)(a[e]);
        if (self->values)
            SMALL_NAME(pack_pivots)(n, n_lanes, (const int32_t *)self->values + matrix * n, pivots);
        if (by_matrix)
            SMALL_NAME(copy_lanes)(self, false, SMALL_NAME(write_at)((void *)self->b, matrix * size_b), b);
        else
            SMALL_NAME(pack)(size_b, n_lanes, SMALL_NAME(read_at)(self->b, matrix * size_b), b);
        SMALL_NAME(solve_triangles)(self, a, pivots, by_matrix ? n_groups : n_rhs, b);
        if (by_matrix)
            SMALL_NAME(copy_lanes)(self, true, SMALL_NAME(write_at)(self->out, matrix * size_b), b);
        else
            SMALL_NAME(unpack)(size_b, n_lanes, b, SMALL_NAME(write_at)(self->out, matrix * size_b));
    }
}

#endif
