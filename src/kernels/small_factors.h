/* SPDX-License-Identifier: Apache-2.0
 *
 * Cholesky and LU factors of small matrices.
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

/* L of A = L Lᴴ in place of the lower triangle, a column at a time. */
static VMASK SMALL_NAME(factor)(int n, NUMBER *a) {
    VMASK info = {0};
    for (int j = 0; j < n; j++) {
        const NUMBER *row = a + j * n;
        VREAL pivot = SMALL_NAME(real_part)(row[j]);
        for (int k = 0; k < j; k++)
            pivot -= SMALL_NAME(square)(row[k]);
        info = LANE_NAME(select_mask)((VMASK)(info == 0) & ~(VMASK)(pivot > 0), (VMASK){0} + (j + 1), info);
        const VREAL root = LANE_NAME(root)(pivot), inverse = 1 / root;
        a[j * n + j] = SMALL_NAME(of_real)(root);
        int i = j + 1;
        for (; i + 4 <= n; i += 4) {
            NUMBER sums[4], *rows = a + i * n;
            for (int r = 0; r < 4; r++)
                sums[r] = rows[r * n + j];
            for (int k = 0; k < j; k++)
                for (int r = 0; r < 4; r++)
                    sums[r] = SMALL_NAME(less_product)(sums[r], rows[r * n + k], SMALL_NAME(conj)(row[k]));
            for (int r = 0; r < 4; r++)
                rows[r * n + j] = SMALL_NAME(scaled)(sums[r], inverse);
        }
        for (; i < n; i++) {
            NUMBER sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum = SMALL_NAME(less_product)(sum, a[i * n + k], SMALL_NAME(conj)(row[k]));
            a[i * n + j] = SMALL_NAME(scaled)(sum, inverse);
        }
    }
    return info;
}

static void SMALL_NAME(cholesky)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n;
    const int64_t size = (int64_t)n * n;
    NUMBER *a = memory;
    SMALL_NAME(pack)(size, n_matrices, SMALL_NAME(read_at)(self->a, first * size), a);
    if (self->upper)
        SMALL_NAME(adjoin)(n, a);
    const VMASK info = SMALL_NAME(factor)(n, a);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            a[i * n + j] = SMALL_NAME(zero)();
    if (self->upper)
        SMALL_NAME(adjoin)(n, a);
    SMALL_NAME(unpack)(size, n_matrices, a, SMALL_NAME(write_at)(self->out, first * size));
    for (int l = 0; l < n_matrices; l++)
        self->infos[first + l] = (int32_t)info[l];
}

INLINE void SMALL_NAME(swap_some)(int m, int k, VMASK other, int n_columns, NUMBER *a, int row_step,
                                  int column_step) {
    NUMBER *row = a + k * row_step, top[4], found[4];
    for (int c = 0; c < n_columns; c++)
        top[c] = found[c] = row[c * column_step];
    for (int i = k + 1; i < m; i++) {
        const VMASK mask = (VMASK)(other == i);
        NUMBER *below = a + i * row_step;
        for (int c = 0; c < n_columns; c++) {
            const NUMBER x = below[c * column_step];
            found[c] = SMALL_NAME(choose)(mask, x, found[c]);
            below[c * column_step] = SMALL_NAME(choose)(mask, top[c], x);
        }
    }
    for (int c = 0; c < n_columns; c++)
        row[c * column_step] = found[c];
}

/* Swaps row k of m with another below it, a different one for each lane; elements are as far apart as the steps. */
static void SMALL_NAME(swap_rows)(int m, int n, int k, VMASK other, NUMBER *a, int row_step, int column_step) {
    int c = 0;
    for (; c + 4 <= n; c += 4)
        SMALL_NAME(swap_some)(m, k, other, 4, a + c * column_step, row_step, column_step);
    for (; c < n; c++)
        SMALL_NAME(swap_some)(m, k, other, 1, a + c * column_step, row_step, column_step);
}

/* Rows [A | B] while they are eliminated. */
typedef struct SMALL_NAME(elimination) {
    int m, n, n_rhs; /* A is [m,n], B [m,n_rhs] */
    NUMBER *a, *b;
    VMASK *pivots;   /* (optional) they count from 0; without them L is not kept */
    VMASK *is_pivot; /* of each row, in one step */
    NUMBER *top;     /* the pivot row from its column on, and that of B */
} SMALL_NAME(elimination);

INLINE void SMALL_NAME(take_some)(const SMALL_NAME(elimination) * self, int k, int n_columns, const NUMBER *row,
                                  int width, NUMBER *top) {
    NUMBER found[4];
    for (int c = 0; c < n_columns; c++)
        found[c] = row[c];
    for (int i = k + 1; i < self->m; i++)
        for (int c = 0; c < n_columns; c++)
            found[c] = SMALL_NAME(choose)(self->is_pivot[i], row[(i - k) * width + c], found[c]);
    for (int c = 0; c < n_columns; c++)
        top[c] = found[c];
}

/* The numbers of the pivot row, in the columns where `row` begins in row k. */
static void SMALL_NAME(take_row)(const SMALL_NAME(elimination) * self, int k, int n_columns, const NUMBER *row,
                                 int width, NUMBER *top) {
    int c = 0;
    for (; c + 4 <= n_columns; c += 4)
        SMALL_NAME(take_some)(self, k, 4, row + c, width, top + c);
    for (; c < n_columns; c++)
        SMALL_NAME(take_some)(self, k, 1, row + c, width, top + c);
}

/* Swaps the pivot row with row k, and makes column k below it that of L. */
static void SMALL_NAME(eliminate_column)(const SMALL_NAME(elimination) * self, int k) {
    const int n_columns = self->n - k, n_rhs = self->n_rhs;
    NUMBER *row = self->a + k * self->n + k, *right = self->b + k * n_rhs, *top = self->top,
           *top_right = top + n_columns;
    SMALL_NAME(take_row)(self, k, n_columns, row, self->n, top);
    SMALL_NAME(take_row)(self, k, n_rhs, right, n_rhs, top_right);
    const VMASK is_zero = SMALL_NAME(is_zero)(top[0]);
    const SMALL_NAME(reciprocal) pivot =
        SMALL_NAME(reciprocal_of)(SMALL_NAME(choose)(is_zero, SMALL_NAME(one)(), top[0]));
    for (int i = 1; i < self->m - k; i++) {
        const VMASK mask = self->is_pivot[k + i];
        NUMBER *own = row + i * self->n, *own_right = right + i * n_rhs;
        const NUMBER factor = SMALL_NAME(times)(SMALL_NAME(choose)(mask, row[0], own[0]), &pivot);
        own[0] = factor;
        for (int c = 1; c < n_columns; c++)
            own[c] = SMALL_NAME(less_product)(SMALL_NAME(choose)(mask, row[c], own[c]), factor, top[c]);
        for (int c = 0; c < n_rhs; c++)
            own_right[c] =
                SMALL_NAME(less_product)(SMALL_NAME(choose)(mask, right[c], own_right[c]), factor, top_right[c]);
    }
    memcpy(row, top, (size_t)n_columns * sizeof *top);
    memcpy(right, top_right, (size_t)n_rhs * sizeof *top);
}

/* Where the first largest element of column k is, from row k on; info is the first column of zeros. */
static VMASK SMALL_NAME(find_pivot)(const SMALL_NAME(elimination) * self, int k, VMASK *info) {
    const NUMBER *column = self->a + k;
    VREAL largest = SMALL_NAME(size)(column[k * self->n]);
    VMASK at = (VMASK){0} + k;
    for (int i = k + 1; i < self->m; i++) {
        const VREAL size = SMALL_NAME(size)(column[i * self->n]);
        const VMASK more = (VMASK)(size > largest);
        largest = LANE_NAME(select)(more, size, largest);
        at = LANE_NAME(select_mask)(more, (VMASK){0} + i, at);
    }
    *info = LANE_NAME(select_mask)((VMASK)(*info == 0) & (VMASK)(largest == 0), (VMASK){0} + (k + 1), *info);
    return at;
}

/* L and U in place of A, and L⁻¹ P B in place of B. */
static VMASK SMALL_NAME(eliminate)(const SMALL_NAME(elimination) * self) {
    const int m = self->m, n = self->n;
    VMASK info = {0};
    for (int k = 0; k < m && k < n; k++) {
        const VMASK at = SMALL_NAME(find_pivot)(self, k, &info);
        for (int i = k + 1; i < m; i++)
            self->is_pivot[i] = (VMASK)(at == i);
        if (self->pivots) {
            self->pivots[k] = at;
            SMALL_NAME(swap_rows)(m, k, k, at, self->a, n, 1);
        }
        SMALL_NAME(eliminate_column)(self, k);
    }
    return info;
}

/* The memory is for pivots, a mask of each row, and one row. */
static SMALL_NAME(elimination)
    SMALL_NAME(elimination_of)(int m, int n, NUMBER *a, int n_rhs, NUMBER *b, void *memory) {
    VMASK *masks = memory;
    return (SMALL_NAME(elimination)){m, n, n_rhs, a, b, masks, masks + n, (NUMBER *)(masks + n + m)};
}

static void SMALL_NAME(lu)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int m = self->m, n = self->n, n_pivots = m < n ? m : n;
    const int64_t size = (int64_t)m * n;
    NUMBER *a = memory;
    const SMALL_NAME(elimination) of = SMALL_NAME(elimination_of)(m, n, a, 0, a, a + size);
    SMALL_NAME(pack)(size, n_matrices, SMALL_NAME(read_at)(self->a, first * size), a);
    const VMASK info = SMALL_NAME(eliminate)(&of);
    SMALL_NAME(unpack)(size, n_matrices, a, SMALL_NAME(write_at)(self->out, first * size));
    for (int l = 0; l < n_matrices; l++) {
        int32_t *out = (int32_t *)self->values + (first + l) * n_pivots;
        for (int i = 0; i < n_pivots; i++)
            out[i] = (int32_t)of.pivots[i][l] + 1;
        self->infos[first + l] = (int32_t)info[l];
    }
}

static void SMALL_NAME(diagonal)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int n = self->n;
    const int64_t size = (int64_t)n * n;
    NUMBER *a = memory, *diagonal = a + size;
    const SMALL_NAME(elimination) of = SMALL_NAME(elimination_of)(n, n, a, 0, a, diagonal + n);
    SMALL_NAME(pack)(size, n_matrices, SMALL_NAME(read_at)(self->a, first * size), a);
    (void)SMALL_NAME(eliminate)(&of);
    for (int i = 0; i < n; i++) {
        const NUMBER x = a[i * n + i];
        diagonal[i] = SMALL_NAME(choose)((VMASK)(of.pivots[i] == i), x, SMALL_NAME(negative)(x));
    }
    SMALL_NAME(unpack)(n, n_matrices, diagonal, SMALL_NAME(write_at)(self->out, first * n));
}

#endif
