/* SPDX-License-Identifier: Apache-2.0
 *
 * Factorizations of small matrices of one dtype, a register of matrices at once: element [i,j] of all of them is one
 * register. small_matrix_loops.h includes this file for each dtype, with SMALL_REAL, its name, and the vectors of it.
 * The result of a matrix does not depend on the other lanes: where matrices need different numbers of steps, masks keep
 * finished lanes unchanged, to the bit.
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

enum { LANES_OF(REAL_NAME) = VEC_BYTES / sizeof(SMALL_REAL) };
#define N_LANES LANES_OF(REAL_NAME)

INLINE VREAL SMALL_NAME(select)(VMASK mask, VREAL x, VREAL y) {
    return (VREAL)(((VMASK)x & mask) | ((VMASK)y & ~mask));
}
INLINE VMASK SMALL_NAME(select_mask)(VMASK mask, VMASK x, VMASK y) { return (x & mask) | (y & ~mask); }
INLINE VREAL SMALL_NAME(all)(SMALL_REAL x) { return (VREAL){0} + x; }
INLINE VREAL SMALL_NAME(magnitude)(VREAL x) { return (VREAL)((VMASK)x & MAGNITUDE_BITS); }
INLINE VREAL SMALL_NAME(root)(VREAL x) {
    VREAL y = x; /* all lanes are replaced */
    for (int l = 0; l < N_LANES; l++)
        y[l] = REAL_ROOT(x[l]);
    return y;
}
INLINE bool SMALL_NAME(any)(VMASK mask) {
    bool any = false;
    for (int l = 0; l < N_LANES; l++)
        any |= mask[l] != 0;
    return any;
}

/* Rows become columns of a square of registers. */
INLINE void SMALL_NAME(transpose)(VREAL *x) {
    VREAL y[N_LANES];
    for (int stage = 1; stage < N_LANES; stage *= 2) {
        for (int i = 0; i < N_LANES / 2; i++) {
            y[2 * i] = INTERLEAVE_LOW(x[i], x[i + N_LANES / 2]);
            y[2 * i + 1] = INTERLEAVE_HIGH(x[i], x[i + N_LANES / 2]);
        }
        memcpy(x, y, sizeof y);
    }
}

/* Matrices of `size` elements that follow one another, from the first of a group on; in a group that is not full, the
 * last one fills the remaining lanes. */
static void SMALL_NAME(pack)(int64_t size, int n_matrices, const SMALL_REAL *from, VREAL *to) {
    int64_t e = 0;
    for (; e + N_LANES <= size; e += N_LANES) {
        VREAL x[N_LANES];
        for (int l = 0; l < N_LANES; l++)
            x[l] = (VREAL)vec_load(from + (l < n_matrices ? l : n_matrices - 1) * size + e);
        SMALL_NAME(transpose)(x);
        memcpy(to + e, x, sizeof x);
    }
    for (; e < size; e++)
        for (int l = 0; l < N_LANES; l++)
            to[e][l] = from[(l < n_matrices ? l : n_matrices - 1) * size + e];
}

static void SMALL_NAME(unpack)(int64_t size, int n_matrices, const VREAL *from, SMALL_REAL *to) {
    int64_t e = 0;
    for (; e + N_LANES <= size; e += N_LANES) {
        VREAL x[N_LANES];
        memcpy(x, from + e, sizeof x);
        SMALL_NAME(transpose)(x);
        for (int l = 0; l < n_matrices; l++)
            vec_store(to + l * size + e, (vec)x[l]);
    }
    for (; e < size; e++)
        for (int l = 0; l < n_matrices; l++)
            to[l * size + e] = from[e][l];
}

static void SMALL_NAME(swap_triangles)(int n, VREAL *a) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const VREAL x = a[i * n + j];
            a[i * n + j] = a[j * n + i];
            a[j * n + i] = x;
        }
}

/* L of A = L Lᵀ in place of the lower triangle, a column at a time. */
static VMASK SMALL_NAME(factor)(int n, VREAL *a) {
    VMASK info = {0};
    for (int j = 0; j < n; j++) {
        const VREAL *row = a + j * n;
        VREAL pivot = row[j];
        for (int k = 0; k < j; k++)
            pivot -= row[k] * row[k];
        info = SMALL_NAME(select_mask)((VMASK)(info == 0) & ~(VMASK)(pivot > 0), (VMASK){0} + (j + 1), info);
        const VREAL root = SMALL_NAME(root)(pivot), inverse = 1 / root;
        a[j * n + j] = root;
        int i = j + 1;
        for (; i + 4 <= n; i += 4) {
            VREAL sums[4], *rows = a + i * n;
            for (int r = 0; r < 4; r++)
                sums[r] = rows[r * n + j];
            for (int k = 0; k < j; k++)
                for (int r = 0; r < 4; r++)
                    sums[r] -= rows[r * n + k] * row[k];
            for (int r = 0; r < 4; r++)
                rows[r * n + j] = sums[r] * inverse;
        }
        for (; i < n; i++) {
            VREAL sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * row[k];
            a[i * n + j] = sum * inverse;
        }
    }
    return info;
}

static void SMALL_NAME(cholesky)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n;
    const int64_t size = (int64_t)n * n;
    VREAL *a = memory;
    SMALL_NAME(pack)(size, n_matrices, (const SMALL_REAL *)self->a + first * size, a);
    if (self->upper)
        SMALL_NAME(swap_triangles)(n, a);
    const VMASK info = SMALL_NAME(factor)(n, a);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            a[i * n + j] = (VREAL){0};
    if (self->upper)
        SMALL_NAME(swap_triangles)(n, a);
    SMALL_NAME(unpack)(size, n_matrices, a, (SMALL_REAL *)self->out + first * size);
    for (int l = 0; l < n_matrices; l++)
        self->infos[first + l] = (int32_t)info[l];
}

/* Column k below row k: less the products of the columns of L and the rows of U so far. */
static void SMALL_NAME(update_column)(int m, int n, int k, VREAL *a) {
    int i = k;
    for (; i + 4 <= m; i += 4) {
        VREAL sums[4], *rows = a + i * n;
        for (int r = 0; r < 4; r++)
            sums[r] = rows[r * n + k];
        for (int j = 0; j < k; j++)
            for (int r = 0; r < 4; r++)
                sums[r] -= rows[r * n + j] * a[j * n + k];
        for (int r = 0; r < 4; r++)
            rows[r * n + k] = sums[r];
    }
    for (; i < m; i++) {
        VREAL sum = a[i * n + k];
        for (int j = 0; j < k; j++)
            sum -= a[i * n + j] * a[j * n + k];
        a[i * n + k] = sum;
    }
}

/* Row k after the diagonal, likewise. */
static void SMALL_NAME(update_row)(int n, int k, VREAL *a) {
    const VREAL *row = a + k * n;
    int c = k + 1;
    for (; c + 4 <= n; c += 4) {
        VREAL sums[4], *columns = a + c;
        for (int r = 0; r < 4; r++)
            sums[r] = columns[k * n + r];
        for (int j = 0; j < k; j++)
            for (int r = 0; r < 4; r++)
                sums[r] -= row[j] * columns[j * n + r];
        for (int r = 0; r < 4; r++)
            columns[k * n + r] = sums[r];
    }
    for (; c < n; c++) {
        VREAL sum = a[k * n + c];
        for (int j = 0; j < k; j++)
            sum -= row[j] * a[j * n + c];
        a[k * n + c] = sum;
    }
}

/* Swaps row k of m with another below it, a different one for each lane; elements are as far apart as the steps. */
static void SMALL_NAME(swap_rows)(int m, int n, int k, VMASK other, VREAL *a, int row_step, int column_step) {
    for (int i = k + 1; i < m; i++) {
        const VMASK mask = (VMASK)(other == i);
        VREAL *row = a + i * row_step, *top = a + k * row_step;
        for (int j = 0; j < n && SMALL_NAME(any)(mask); j++) {
            const VREAL x = row[j * column_step], y = top[j * column_step];
            row[j * column_step] = SMALL_NAME(select)(mask, y, x);
            top[j * column_step] = SMALL_NAME(select)(mask, x, y);
        }
    }
}

/* Column k below the diagonal by the pivot: by its reciprocal, unless that has lost bits, and not by 0. */
static void SMALL_NAME(scale_column)(int m, int n, int k, VREAL *a) {
    const VREAL pivot = a[k * n + k], one = SMALL_NAME(all)(1);
    const VREAL divisor = SMALL_NAME(select)((VMASK)(pivot == 0), one, pivot), inverse = one / divisor;
    const VREAL size = SMALL_NAME(magnitude)(inverse);
    const VMASK divides = ~((VMASK)(size >= REAL_MIN) & (VMASK)(size <= REAL_MAX));
    if (SMALL_NAME(any)(divides))
        for (int i = k + 1; i < m; i++) {
            const VREAL x = a[i * n + k];
            a[i * n + k] = SMALL_NAME(select)(divides, x / divisor, x * inverse);
        }
    else
        for (int i = k + 1; i < m; i++)
            a[i * n + k] *= inverse;
}

/* L and U of [m,n] in place of A, a column and a row at a time. Pivots count from 0: the first largest element. */
static VMASK SMALL_NAME(factor_general)(int m, int n, VREAL *a, VMASK *pivots) {
    VMASK info = {0};
    for (int k = 0; k < m && k < n; k++) {
        SMALL_NAME(update_column)(m, n, k, a);
        VREAL largest = SMALL_NAME(magnitude)(a[k * n + k]);
        VMASK at = (VMASK){0} + k;
        for (int i = k + 1; i < m; i++) {
            const VREAL size = SMALL_NAME(magnitude)(a[i * n + k]);
            const VMASK more = (VMASK)(size > largest);
            largest = SMALL_NAME(select)(more, size, largest);
            at = SMALL_NAME(select_mask)(more, (VMASK){0} + i, at);
        }
        info = SMALL_NAME(select_mask)((VMASK)(info == 0) & (VMASK)(largest == 0), (VMASK){0} + (k + 1), info);
        pivots[k] = at;
        SMALL_NAME(swap_rows)(m, n, k, at, a, n, 1);
        SMALL_NAME(update_row)(n, k, a);
        SMALL_NAME(scale_column)(m, n, k, a);
    }
    return info;
}

static void SMALL_NAME(lu)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int m = self->m, n = self->n, n_pivots = m < n ? m : n;
    const int64_t size = (int64_t)m * n;
    VREAL *a = memory;
    VMASK *pivots = (VMASK *)(a + size);
    SMALL_NAME(pack)(size, n_matrices, (const SMALL_REAL *)self->a + first * size, a);
    const VMASK info = SMALL_NAME(factor_general)(m, n, a, pivots);
    SMALL_NAME(unpack)(size, n_matrices, a, (SMALL_REAL *)self->out + first * size);
    for (int l = 0; l < n_matrices; l++) {
        int32_t *out = (int32_t *)self->values + (first + l) * n_pivots;
        for (int i = 0; i < n_pivots; i++)
            out[i] = (int32_t)pivots[i][l] + 1;
        self->infos[first + l] = (int32_t)info[l];
    }
}

static void SMALL_NAME(diagonal)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n;
    const int64_t size = (int64_t)n * n;
    VREAL *a = memory, *diagonal = a + size;
    VMASK *pivots = (VMASK *)(diagonal + n);
    SMALL_NAME(pack)(size, n_matrices, (const SMALL_REAL *)self->a + first * size, a);
    (void)SMALL_NAME(factor_general)(n, n, a, pivots);
    for (int i = 0; i < n; i++)
        diagonal[i] = SMALL_NAME(select)((VMASK)(pivots[i] == i), a[i * n + i], -a[i * n + i]);
    SMALL_NAME(unpack)(n, n_matrices, diagonal, (SMALL_REAL *)self->out + first * n);
}

/* Swaps row k with the row below that has the largest element, and eliminates column k, in rows [A | B]. `pivots` has
 * memory for the masks of the rows, and `top` for a row. */
static void SMALL_NAME(eliminate)(int n, int n_rhs, int k, VREAL *a, VREAL *b, VMASK *is_pivot, VREAL *top,
                                  VMASK *info) {
    VREAL largest = SMALL_NAME(magnitude)(a[k * n + k]);
    VMASK at = (VMASK){0} + k;
    for (int i = k + 1; i < n; i++) {
        const VREAL size = SMALL_NAME(magnitude)(a[i * n + k]);
        const VMASK more = (VMASK)(size > largest);
        largest = SMALL_NAME(select)(more, size, largest);
        at = SMALL_NAME(select_mask)(more, (VMASK){0} + i, at);
    }
    *info = SMALL_NAME(select_mask)((VMASK)(*info == 0) & (VMASK)(largest == 0), (VMASK){0} + (k + 1), *info);
    for (int i = k + 1; i < n; i++)
        is_pivot[i] = (VMASK)(at == i);
    const int n_columns = n - k + n_rhs; /* from column k on, then those of B */
    for (int j = 0; j < n_columns; j++) {
        VREAL x = j < n - k ? a[k * n + k + j] : b[k * n_rhs + j - (n - k)];
        for (int i = k + 1; i < n; i++)
            x = SMALL_NAME(select)(is_pivot[i], j < n - k ? a[i * n + k + j] : b[i * n_rhs + j - (n - k)], x);
        top[j] = x;
    }
    VREAL *row = a + k * n + k, *right = b + k * n_rhs;
    for (int i = k + 1; i < n; i++) {
        const VMASK mask = is_pivot[i];
        VREAL *own = a + i * n + k, *own_right = b + i * n_rhs;
        const VREAL factor = SMALL_NAME(select)(mask, row[0], own[0]) / top[0];
        for (int j = 1; j < n - k; j++)
            own[j] = SMALL_NAME(select)(mask, row[j], own[j]) - factor * top[j];
        for (int j = 0; j < n_rhs; j++)
            own_right[j] = SMALL_NAME(select)(mask, right[j], own_right[j]) - factor * top[n - k + j];
    }
    memcpy(row, top, (size_t)(n - k) * sizeof *top);
    memcpy(right, top + (n - k), (size_t)n_rhs * sizeof *top);
}

/* X of A X = B in place of B. */
static VMASK SMALL_NAME(solve_group)(int n, int n_rhs, VREAL *a, VREAL *b, void *memory) {
    VMASK info = {0}, *is_pivot = memory;
    VREAL *top = (VREAL *)(is_pivot + n);
    for (int k = 0; k < n; k++)
        SMALL_NAME(eliminate)(n, n_rhs, k, a, b, is_pivot, top, &info);
    for (int i = n - 1; i >= 0; i--)
        for (int r = 0; r < n_rhs; r++) {
            VREAL x = b[i * n_rhs + r];
            for (int j = i + 1; j < n; j++)
                x -= a[i * n + j] * b[j * n_rhs + r];
            b[i * n_rhs + r] = x / a[i * n + i];
        }
    return info;
}

/* Without B its place has the unit matrix. */
static void SMALL_NAME(solve)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n, n_rhs = self->n_rhs;
    const int64_t size = (int64_t)n * n, size_b = (int64_t)n * n_rhs;
    VREAL *a = memory, *b = a + size;
    SMALL_NAME(pack)(size, n_matrices, (const SMALL_REAL *)self->a + first * size, a);
    if (self->b)
        SMALL_NAME(pack)(size_b, n_matrices, (const SMALL_REAL *)self->b + first * size_b, b);
    for (int64_t e = 0; !self->b && e < size; e++)
        b[e] = SMALL_NAME(all)(e % (n + 1) == 0);
    const VMASK info = SMALL_NAME(solve_group)(n, n_rhs, a, b, b + size_b);
    SMALL_NAME(unpack)(size_b, n_matrices, b, (SMALL_REAL *)self->out + first * size_b);
    for (int l = 0; l < n_matrices; l++)
        self->infos[first + l] = (int32_t)info[l];
}

/* A triangle, or that of the transpose: elements are as far apart as the steps. */
typedef struct SMALL_NAME(triangle) {
    const VREAL *a;
    int n, row_step, column_step;
    bool is_lower, is_unit;
} SMALL_NAME(triangle);

INLINE void SMALL_NAME(substitute_columns)(const SMALL_NAME(triangle) * of, int n_columns, VREAL *b, int row_step,
                                           int column_step) {
    for (int at = 0; at < of->n; at++) {
        const int i = of->is_lower ? at : of->n - 1 - at, begin = of->is_lower ? 0 : i + 1;
        const int end = of->is_lower ? i : of->n;
        const VREAL *row = of->a + i * of->row_step;
        VREAL sums[4], *out = b + i * row_step;
        for (int c = 0; c < n_columns; c++)
            sums[c] = out[c * column_step];
        for (int k = begin; k < end; k++)
            for (int c = 0; c < n_columns; c++)
                sums[c] -= row[k * of->column_step] * b[k * row_step + c * column_step];
        for (int c = 0; c < n_columns; c++)
            out[c * column_step] = of->is_unit ? sums[c] : sums[c] / row[i * of->column_step];
    }
}

/* X of A X = B in place of B. */
static void SMALL_NAME(substitute)(const SMALL_NAME(triangle) * of, int n_columns, VREAL *b, int row_step,
                                   int column_step) {
    int c = 0;
    for (; c + 4 <= n_columns; c += 4)
        SMALL_NAME(substitute_columns)(of, 4, b + c * column_step, row_step, column_step);
    for (; c < n_columns; c++)
        SMALL_NAME(substitute_columns)(of, 1, b + c * column_step, row_step, column_step);
}

/* X A = B is Aᵀ Xᵀ = Bᵀ. */
static void SMALL_NAME(solve_triangles)(const dt__small_matrices *self, const VREAL *a, const VMASK *pivots,
                                        int n_columns, VREAL *b) {
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

/* Pivots that are out of range swap nothing. */
static void SMALL_NAME(pack_pivots)(int n, int n_matrices, const int32_t *from, VMASK *to) {
    for (int i = 0; i < n; i++)
        for (int l = 0; l < N_LANES; l++) {
            const int32_t pivot = from[(l < n_matrices ? l : n_matrices - 1) * n + i];
            to[i][l] = pivot < 1 || pivot > n ? i : pivot - 1;
        }
}

/* Right sides of one matrix as lanes: columns of B, or its rows. */
static void SMALL_NAME(copy_lanes)(const dt__small_matrices *self, bool back, SMALL_REAL *numbers, VREAL *b) {
    const int n = self->n, n_rhs = self->n_rhs, n_groups = (n_rhs + N_LANES - 1) / N_LANES;
    for (int g = 0; g < n_groups; g++) {
        const int first = g * N_LANES, n_lanes = n_rhs - first < N_LANES ? n_rhs - first : N_LANES;
        if (self->right && back)
            SMALL_NAME(unpack)(n, n_lanes, b + g * n, numbers + (int64_t)first * n);
        else if (self->right)
            SMALL_NAME(pack)(n, n_lanes, numbers + (int64_t)first * n, b + g * n);
        for (int i = 0; !self->right && i < n; i++) {
            VREAL *group = b + i * n_groups + g;
            SMALL_REAL *row = numbers + (int64_t)i * n_rhs + first;
            if (back)
                memcpy(row, group, (size_t)n_lanes * sizeof *row);
            else
                memcpy(group, row, (size_t)n_lanes * sizeof *row);
            for (int l = n_lanes; l < N_LANES && !back; l++)
                (*group)[l] = row[0];
        }
    }
}

/* With few matrices that have many right sides, these are the lanes, one matrix after the other: the operations of a
 * number are the same. */
static void SMALL_NAME(substitutions)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n, n_rhs = self->n_rhs, n_groups = (n_rhs + N_LANES - 1) / N_LANES;
    const bool by_matrix = n_matrices * n_groups < n_rhs;
    const int64_t size = (int64_t)n * n, size_b = (int64_t)n * n_rhs;
    VREAL *a = memory, *b = a + size + n;
    VMASK *pivots = (VMASK *)(a + size);
    for (int at = 0; at < n_matrices; at += by_matrix ? 1 : n_matrices) {
        const int64_t matrix = first + at;
        const int n_lanes = by_matrix ? 1 : n_matrices;
        SMALL_NAME(pack)(size, n_lanes, (const SMALL_REAL *)self->a + matrix * size, a);
        if (self->values)
            SMALL_NAME(pack_pivots)(n, n_lanes, (const int32_t *)self->values + matrix * n, pivots);
        if (by_matrix)
            SMALL_NAME(copy_lanes)(self, false, (SMALL_REAL *)self->b + matrix * size_b, b);
        else
            SMALL_NAME(pack)(size_b, n_lanes, (const SMALL_REAL *)self->b + matrix * size_b, b);
        SMALL_NAME(solve_triangles)(self, a, pivots, by_matrix ? n_groups : n_rhs, b);
        if (by_matrix)
            SMALL_NAME(copy_lanes)(self, true, (SMALL_REAL *)self->out + matrix * size_b, b);
        else
            SMALL_NAME(unpack)(size_b, n_lanes, b, (SMALL_REAL *)self->out + matrix * size_b);
    }
}

/* Columns of B from row k on: less tau times v and its products with them. v has 1 in row k. */
INLINE void SMALL_NAME(reflect_some)(int m, int k, const VREAL *v, int v_step, VREAL tau, int n_columns, VREAL *b,
                                     int width) {
    VREAL sums[4];
    for (int c = 0; c < n_columns; c++)
        sums[c] = b[k * width + c];
    for (int i = k + 1; i < m; i++)
        for (int c = 0; c < n_columns; c++)
            sums[c] += v[i * v_step] * b[i * width + c];
    for (int c = 0; c < n_columns; c++) {
        sums[c] *= tau;
        b[k * width + c] -= sums[c];
    }
    for (int i = k + 1; i < m; i++)
        for (int c = 0; c < n_columns; c++)
            b[i * width + c] -= sums[c] * v[i * v_step];
}

static void SMALL_NAME(reflect_columns)(int m, int k, const VREAL *v, int v_step, VREAL tau, int begin, int width,
                                        VREAL *b) {
    int c = begin;
    for (; c + 4 <= width; c += 4)
        SMALL_NAME(reflect_some)(m, k, v, v_step, tau, 4, b + c, width);
    for (; c < width; c++)
        SMALL_NAME(reflect_some)(m, k, v, v_step, tau, 1, b + c, width);
}

/* Makes column k of [m,n] a reflector and the diagonal of R, with LAPACK's sign; returns tau. Squares are
 * those of the column divided by a power of 2. */
static VREAL SMALL_NAME(reflect_column)(int m, int n, int k, VREAL *a) {
    VREAL *alpha = a + k * n + k, largest = SMALL_NAME(magnitude)(*alpha), squares = {0};
    VMASK is_zero = (VMASK){0} == 0;
    for (int i = k + 1; i < m; i++) {
        const VREAL x = a[i * n + k], size = SMALL_NAME(magnitude)(x);
        is_zero &= (VMASK)(x == 0);
        largest = SMALL_NAME(select)((VMASK)(size > largest), size, largest);
    }
    VMASK exponent = (VMASK)largest >> FRACTION_BITS;
    exponent = SMALL_NAME(select_mask)((VMASK)(exponent < 1), (VMASK){0} + 1, exponent);
    exponent =
        SMALL_NAME(select_mask)((VMASK)(exponent > MAX_EXPONENT - 1), (VMASK){0} + (MAX_EXPONENT - 1), exponent);
    const VREAL down = (VREAL)((MAX_EXPONENT - exponent) << FRACTION_BITS);
    const VREAL up = (VREAL)(exponent << FRACTION_BITS), one = SMALL_NAME(all)(1), first = *alpha * down;
    for (int i = k + 1; i < m; i++) {
        const VREAL x = a[i * n + k] * down;
        squares += x * x;
    }
    VREAL beta = SMALL_NAME(root)(first * first + squares);
    beta = SMALL_NAME(select)((VMASK)(first >= 0), -beta, beta);
    const VREAL inverse = one / SMALL_NAME(select)(is_zero, one, first - beta);
    for (int i = k + 1; i < m; i++)
        a[i * n + k] = a[i * n + k] * down * inverse;
    *alpha = SMALL_NAME(select)(is_zero, *alpha, beta * up);
    return SMALL_NAME(select)(is_zero, (VREAL){0}, (beta - first) / SMALL_NAME(select)(is_zero, one, beta));
}

static void SMALL_NAME(qr)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int m = self->m, n = self->n, k = self->n_rhs, n_reflectors = m < n ? m : n;
    const int64_t size = (int64_t)m * n, size_q = (int64_t)m * k, size_r = (int64_t)k * n;
    VREAL *a = memory, *r = a + size, *tau = r + size_r, *q = tau + n_reflectors;
    SMALL_NAME(pack)(size, n_matrices, (const SMALL_REAL *)self->a + first * size, a);
    for (int j = 0; j < n_reflectors; j++) {
        tau[j] = SMALL_NAME(reflect_column)(m, n, j, a);
        SMALL_NAME(reflect_columns)(m, j, a + j, n, tau[j], j + 1, n, a);
    }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < n; j++)
            r[i * n + j] = j < i ? (VREAL){0} : a[i * n + j];
    SMALL_NAME(unpack)(size_r, n_matrices, r, (SMALL_REAL *)self->values + first * size_r);
    if (!self->out)
        return;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < k; j++)
            q[i * k + j] = SMALL_NAME(all)(i == j);
    for (int j = n_reflectors - 1; j >= 0; j--)
        SMALL_NAME(reflect_columns)(m, j, a + j, n, tau[j], j, k, q);
    SMALL_NAME(unpack)(size_q, n_matrices, q, (SMALL_REAL *)self->out + first * size_q);
}

/* Eigenvalues: memory of one group. */
typedef struct SMALL_NAME(eigen) {
    int n;
    bool has_vectors;
    VREAL *a, *z; /* z: vectors, one after the other */
    VREAL *d, *e; /* diagonal and off-diagonal elements */
    VREAL *v, *w, *tau;
    SMALL_REAL *keys; /* of one lane, sorted */
    int32_t *order;
} SMALL_NAME(eigen);

/* Divides by powers of 2 so that the largest element is near 1, and returns these; a matrix that is not finite becomes
 * zeros, and *is_finite has no bits. */
static VREAL SMALL_NAME(scale)(SMALL_NAME(eigen) * self, VMASK *is_finite) {
    VREAL largest = {0};
    VMASK finite = (VMASK){0} == 0;
    for (int i = 0; i < self->n; i++)
        for (int j = 0; j <= i; j++) {
            const VREAL x = self->a[i * self->n + j], size = SMALL_NAME(magnitude)(x);
            finite &= (VMASK)(x - x == 0);
            largest = SMALL_NAME(select)((VMASK)(size > largest), size, largest);
        }
    VMASK exponent = (VMASK)largest >> FRACTION_BITS;
    exponent = SMALL_NAME(select_mask)((VMASK)(exponent < 1), (VMASK){0} + 1, exponent);
    exponent =
        SMALL_NAME(select_mask)((VMASK)(exponent > MAX_EXPONENT - 1), (VMASK){0} + (MAX_EXPONENT - 1), exponent);
    const VREAL down = (VREAL)((MAX_EXPONENT - exponent) << FRACTION_BITS);
    for (int i = 0; i < self->n; i++)
        for (int j = 0; j <= i; j++) {
            VREAL *x = &self->a[i * self->n + j];
            *x = SMALL_NAME(select)(finite, *x * down, (VREAL){0});
        }
    *is_finite = finite;
    return (VREAL)(exponent << FRACTION_BITS);
}

/* The reflector of column k: v with v[k + 1] = 1 that makes it (d, e, 0, …). Sets v, tau and e[k]. */
static void SMALL_NAME(reflector)(SMALL_NAME(eigen) * self, int k) {
    const int n = self->n;
    const VREAL alpha = self->a[(k + 1) * n + k];
    VREAL squares = {0};
    for (int i = k + 2; i < n; i++)
        squares += self->a[i * n + k] * self->a[i * n + k];
    const VMASK is_zero = (VMASK)(squares == 0);
    VREAL beta = SMALL_NAME(root)(alpha * alpha + squares);
    beta = SMALL_NAME(select)((VMASK)(alpha > 0), -beta, beta);
    const VREAL one = SMALL_NAME(all)(1), divisor = SMALL_NAME(select)(is_zero, one, alpha - beta);
    self->tau[k] = SMALL_NAME(select)(is_zero, (VREAL){0}, (beta - alpha) / SMALL_NAME(select)(is_zero, one, beta));
    self->e[k] = SMALL_NAME(select)(is_zero, alpha, beta);
    self->v[k + 1] = one;
    for (int i = k + 2; i < n; i++)
        self->v[i] = self->a[i * n + k] /= divisor;
}

/* A := H A H of the rows and columns after k: A - v wᵀ - w vᵀ with w = tau A v - (tau² vᵀ A v / 2) v. */
static void SMALL_NAME(reflect_both_sides)(SMALL_NAME(eigen) * self, int k) {
    const int n = self->n;
    const VREAL tau = self->tau[k];
    VREAL *v = self->v, *w = self->w, product = {0};
    for (int i = k + 1; i < n; i++)
        w[i] = (VREAL){0};
    for (int i = k + 1; i < n; i++) {
        const VREAL *row = self->a + i * n;
        VREAL sum = w[i] + row[i] * v[i];
        for (int j = k + 1; j < i; j++) {
            sum += row[j] * v[j];
            w[j] += row[j] * v[i];
        }
        w[i] = sum;
    }
    for (int i = k + 1; i < n; i++) {
        w[i] *= tau;
        product += w[i] * v[i];
    }
    const VREAL half = product * tau * SMALL_NAME(all)((SMALL_REAL)0.5);
    for (int i = k + 1; i < n; i++)
        w[i] -= half * v[i];
    for (int i = k + 1; i < n; i++)
        for (int j = k + 1; j <= i; j++)
            self->a[i * n + j] -= v[i] * w[j] + w[i] * v[j];
}

/* The product of all reflectors, by columns. */
static void SMALL_NAME(form_vectors)(SMALL_NAME(eigen) * self) {
    const int n = self->n;
    for (int i = 0; i < n * n; i++)
        self->z[i] = SMALL_NAME(all)(i % (n + 1) == 0);
    for (int k = n - 3; k >= 0; k--) {
        const VREAL tau = self->tau[k];
        self->v[k + 1] = SMALL_NAME(all)(1);
        for (int i = k + 2; i < n; i++)
            self->v[i] = self->a[i * n + k];
        for (int c = k + 1; c < n; c++) {
            VREAL *column = self->z + c * n, product = {0};
            for (int i = k + 1; i < n; i++)
                product += self->v[i] * column[i];
            product *= tau;
            for (int i = k + 1; i < n; i++)
                column[i] -= product * self->v[i];
        }
    }
}

static void SMALL_NAME(make_tridiagonal)(SMALL_NAME(eigen) * self) {
    const int n = self->n;
    for (int k = 0; k < n - 2; k++) {
        SMALL_NAME(reflector)(self, k);
        SMALL_NAME(reflect_both_sides)(self, k);
    }
    for (int i = 0; i < n; i++)
        self->d[i] = self->a[i * n + i];
    if (n > 1)
        self->e[n - 2] = self->a[(n - 1) * n + n - 2];
    self->e[n - 1] = (VREAL){0};
    if (self->has_vectors)
        SMALL_NAME(form_vectors)(self);
}

/* Where the block that begins at l ends: at the first off-diagonal element that counts as 0. */
static VMASK SMALL_NAME(block_end)(const SMALL_NAME(eigen) * self, int l) {
    VMASK end = (VMASK){0} + (self->n - 1);
    for (int i = self->n - 2; i >= l; i--) {
        const VREAL size = SMALL_NAME(magnitude)(self->d[i]) + SMALL_NAME(magnitude)(self->d[i + 1]);
        const VMASK is_small = (VMASK)(SMALL_NAME(magnitude)(self->e[i]) <= REAL_EPSILON * size + NEGLIGIBLE);
        end = SMALL_NAME(select_mask)(is_small, (VMASK){0} + i, end);
    }
    return end;
}

/* Rotates vectors i and i + 1 in the lanes of the mask. */
static void SMALL_NAME(rotate)(SMALL_NAME(eigen) * self, int i, VMASK mask, VREAL c, VREAL s) {
    VREAL *y = self->z + i * self->n, *x = y + self->n;
    if (!SMALL_NAME(any)(~mask)) {
        for (int k = 0; k < self->n; k++) {
            const VREAL old_x = x[k], old_y = y[k];
            x[k] = s * old_y + c * old_x;
            y[k] = c * old_y - s * old_x;
        }
        return;
    }
    for (int k = 0; k < self->n; k++) {
        const VREAL old_x = x[k], old_y = y[k];
        x[k] = SMALL_NAME(select)(mask, s * old_y + c * old_x, old_x);
        y[k] = SMALL_NAME(select)(mask, c * old_y - s * old_x, old_y);
    }
}

/* One step of the implicit QL iteration in the lanes whose block [l, end] has more than one element. */
static void SMALL_NAME(ql_step)(SMALL_NAME(eigen) * self, int l, VMASK end) {
    VREAL *d = self->d, *e = self->e, at_end = {0};
    const VREAL one = SMALL_NAME(all)(1), none = {0};
    const VMASK active = (VMASK)(end > l);
    VMASK live = active;
    for (int i = l; i < self->n; i++)
        at_end = SMALL_NAME(select)((VMASK)(end == i), d[i], at_end);
    VREAL g = (d[l + 1] - d[l]) / SMALL_NAME(select)(active, 2 * e[l], one);
    const VREAL root = SMALL_NAME(root)(g * g + one);
    g = at_end - d[l] + e[l] / SMALL_NAME(select)(active, g + SMALL_NAME(select)((VMASK)(g < 0), -root, root), one);
    VREAL s = one, c = one, p = none;
    for (int i = self->n - 2; i >= l; i--) {
        VMASK on = live & (VMASK)(end > i);
        if (!SMALL_NAME(any)(on))
            continue;
        const VREAL f = s * e[i], b = c * e[i], r = SMALL_NAME(root)(f * f + g * g);
        e[i + 1] = SMALL_NAME(select)(on, r, e[i + 1]);
        const VMASK breaks = on & (VMASK)(r == 0);
        d[i + 1] = SMALL_NAME(select)(breaks, d[i + 1] - p, d[i + 1]);
        live &= ~breaks;
        on &= ~breaks;
        const VREAL divisor = SMALL_NAME(select)(on, r, one);
        const VREAL new_s = f / divisor, new_c = g / divisor, left = d[i + 1] - p;
        const VREAL turned = (d[i] - left) * new_s + 2 * new_c * b, shift = new_s * turned;
        d[i + 1] = SMALL_NAME(select)(on, left + shift, d[i + 1]);
        s = SMALL_NAME(select)(on, new_s, s);
        c = SMALL_NAME(select)(on, new_c, c);
        p = SMALL_NAME(select)(on, shift, p);
        g = SMALL_NAME(select)(on, new_c * turned - b, g);
        if (self->has_vectors)
            SMALL_NAME(rotate)(self, i, on, new_c, new_s);
    }
    d[l] = SMALL_NAME(select)(live, d[l] - p, d[l]);
    e[l] = SMALL_NAME(select)(live, g, e[l]);
    for (int i = l; i < self->n; i++)
        e[i] = SMALL_NAME(select)(active & (VMASK)(end == i), none, e[i]);
}

/* Bits in lanes that did not converge. */
static VMASK SMALL_NAME(iterate)(SMALL_NAME(eigen) * self) {
    enum { MAX_STEPS = 60 };
    VMASK failed = {0};
    for (int l = 0; l < self->n; l++) {
        VMASK end = SMALL_NAME(block_end)(self, l);
        for (int step = 0; step < MAX_STEPS && SMALL_NAME(any)((VMASK)(end > l)); step++) {
            SMALL_NAME(ql_step)(self, l, end);
            end = SMALL_NAME(block_end)(self, l);
        }
        failed |= (VMASK)(end > l);
    }
    return failed;
}

/* Writes the values of a lane in ascending order, and as columns the vectors, with their largest component positive. */
static void SMALL_NAME(write_lane)(const SMALL_NAME(eigen) * self, int lane, VREAL unit, SMALL_REAL *values,
                                   SMALL_REAL *out) {
    const int n = self->n;
    SMALL_REAL *keys = self->keys;
    int32_t *order = self->order;
    for (int i = 0; i < n; i++) {
        const SMALL_REAL value = self->d[i][lane];
        int at = i;
        for (; at > 0 && keys[at - 1] > value; at--) {
            keys[at] = keys[at - 1];
            order[at] = order[at - 1];
        }
        keys[at] = value;
        order[at] = i;
    }
    for (int j = 0; j < n; j++)
        values[j] = keys[j] * unit[lane];
    for (int j = 0; j < n && self->has_vectors; j++) {
        const VREAL *vector = self->z + order[j] * n;
        SMALL_REAL largest = 0, sign = 1;
        for (int i = 0; i < n; i++) {
            const SMALL_REAL x = vector[i][lane], size = x < 0 ? -x : x;
            sign = size > largest ? (x < 0 ? -1 : 1) : sign;
            largest = size > largest ? size : largest;
        }
        for (int i = 0; i < n; i++)
            out[i * n + j] = vector[i][lane] * sign;
    }
}

static void SMALL_NAME(eigh)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n;
    const int64_t size = (int64_t)n * n;
    SMALL_NAME(eigen) group = {.n = n, .has_vectors = self->out != NULL, .a = memory};
    group.z = group.a + size;
    group.d = group.z + size;
    group.e = group.d + n;
    group.v = group.e + n;
    group.w = group.v + n;
    group.tau = group.w + n;
    group.keys = (SMALL_REAL *)(void *)(group.tau + n);
    group.order = (int32_t *)(void *)(group.keys + n);
    VMASK is_finite;
    SMALL_NAME(pack)(size, n_matrices, (const SMALL_REAL *)self->a + first * size, group.a);
    if (self->upper)
        SMALL_NAME(swap_triangles)(n, group.a);
    const VREAL unit = SMALL_NAME(scale)(&group, &is_finite);
    SMALL_NAME(make_tridiagonal)(&group);
    const VMASK failed = SMALL_NAME(iterate)(&group);
    for (int l = 0; l < n_matrices; l++) {
        SMALL_REAL *values = (SMALL_REAL *)self->values + (first + l) * n;
        SMALL_REAL *out = group.has_vectors ? (SMALL_REAL *)self->out + (first + l) * size : NULL;
        SMALL_NAME(write_lane)(&group, l, unit, values, out);
        const bool is_bad = !is_finite[l] || failed[l];
        for (int i = 0; is_bad && i < n; i++)
            values[i] = (SMALL_REAL)NAN;
        for (int64_t i = 0; is_bad && out && i < size; i++)
            out[i] = (SMALL_REAL)NAN;
        self->infos[first + l] = !is_finite[l] ? -1 : failed[l] ? 1 : 0;
    }
}

static void SMALL_NAME(run)(const dt__small_matrices *self, int64_t begin, int64_t end, void *memory) {
    static void (*const runs[DT__N_SMALL])(const dt__small_matrices *, int64_t, int, void *) = {
        [DT__SMALL_CHOLESKY] = SMALL_NAME(cholesky),
        [DT__SMALL_SOLVE] = SMALL_NAME(solve),
        [DT__SMALL_EIGH] = SMALL_NAME(eigh),
        [DT__SMALL_LU] = SMALL_NAME(lu),
        [DT__SMALL_DIAGONAL] = SMALL_NAME(diagonal),
        [DT__SMALL_TRIANGULAR] = SMALL_NAME(substitutions),
        [DT__SMALL_LU_SOLVE] = SMALL_NAME(substitutions),
        [DT__SMALL_QR] = SMALL_NAME(qr),
    };
    for (int64_t i = begin; i < end; i++)
        self->infos[i] = 0;
    for (int64_t first = begin; self->n && first < end; first += N_LANES)
        runs[self->kind](self, first, end - first < N_LANES ? (int)(end - first) : N_LANES, memory);
}

#undef N_LANES
#undef SMALL_REAL
#undef REAL_NAME
#undef REAL_ROOT
#undef REAL_EPSILON
#undef REAL_MIN
#undef REAL_MAX
#undef NEGLIGIBLE
#undef VREAL
#undef VMASK
#undef MAGNITUDE_BITS
#undef FRACTION_BITS
#undef MAX_EXPONENT
#undef INTERLEAVE_LOW
#undef INTERLEAVE_HIGH
#endif
