/* SPDX-License-Identifier: Apache-2.0
 *
 * Householder reflectors H = 1 - tau v vᴴ of small matrices, with v[0] = 1 and the signs of LAPACK, and QR factors.
 */
#ifndef SMALL_REAL
#include "kernels/small_matrix_loops.h"
#else

/* Makes n numbers that are `step` apart a reflector, Hᴴ x = (beta, 0, …), with beta in place of the first, which is
 * real, and the rest of v after it; returns tau. Squares are those of the numbers divided by a power of 2, since a
 * reflector whose squares underflow is not unitary. */
static NUMBER SMALL_NAME(reflect)(int n, int step, NUMBER *x) {
    VREAL largest = SMALL_NAME(largest_part)(x[0]), squares = {0};
    VMASK is_zero = (VMASK)(SMALL_NAME(imaginary_square)(x[0]) == 0);
    for (int i = 1; i < n; i++) {
        is_zero &= SMALL_NAME(is_zero)(x[i * step]);
        largest = LANE_NAME(larger)(SMALL_NAME(largest_part)(x[i * step]), largest);
    }
    const LANE_NAME(powers) powers = LANE_NAME(powers_of)(largest);
    const NUMBER first = SMALL_NAME(scaled)(x[0], powers.down);
    for (int i = 1; i < n; i++)
        squares += SMALL_NAME(square)(SMALL_NAME(scaled)(x[i * step], powers.down));
    const VREAL real = SMALL_NAME(real_part)(first), one = LANE_NAME(all)(1);
    is_zero &= (VMASK)(SMALL_NAME(imaginary_square)(first) == 0);
    VREAL beta = LANE_NAME(root)(SMALL_NAME(square)(first) + squares);
    beta = LANE_NAME(select)((VMASK)(real >= 0), -beta, beta);
    const NUMBER distance = SMALL_NAME(sum)(first, SMALL_NAME(of_real)(-beta));
    const NUMBER inverse =
        SMALL_NAME(quotient)(SMALL_NAME(one)(), SMALL_NAME(choose)(is_zero, SMALL_NAME(one)(), distance));
    for (int i = 1; i < n; i++)
        x[i * step] = SMALL_NAME(product)(SMALL_NAME(scaled)(x[i * step], powers.down), inverse);
    x[0] = SMALL_NAME(choose)(is_zero, x[0], SMALL_NAME(of_real)(beta * powers.up));
    const NUMBER tau = SMALL_NAME(scaled)(distance, -1 / LANE_NAME(select)(is_zero, one, beta));
    return SMALL_NAME(choose)(is_zero, SMALL_NAME(zero)(), tau);
}

/* Columns of B from row k on: less tau times v and its products with them. v has 1 in row k. */
INLINE void SMALL_NAME(reflect_some)(int m, int k, const NUMBER *v, int v_step, NUMBER tau, int n_columns, NUMBER *b,
                                     int width) {
    NUMBER sums[4];
    for (int c = 0; c < n_columns; c++)
        sums[c] = b[k * width + c];
    for (int i = k + 1; i < m; i++)
        for (int c = 0; c < n_columns; c++)
            sums[c] = SMALL_NAME(add_product)(sums[c], SMALL_NAME(conj)(v[i * v_step]), b[i * width + c]);
    for (int c = 0; c < n_columns; c++) {
        sums[c] = SMALL_NAME(negative)(SMALL_NAME(product)(sums[c], tau));
        b[k * width + c] = SMALL_NAME(sum)(b[k * width + c], sums[c]);
    }
    for (int i = k + 1; i < m; i++)
        for (int c = 0; c < n_columns; c++)
            b[i * width + c] = SMALL_NAME(add_product)(b[i * width + c], sums[c], v[i * v_step]);
}

static void SMALL_NAME(reflect_columns)(int m, int k, const NUMBER *v, int v_step, NUMBER tau, int begin, int width,
                                        NUMBER *b) {
    int c = begin;
    for (; c + 4 <= width; c += 4)
        SMALL_NAME(reflect_some)(m, k, v, v_step, tau, 4, b + c, width);
    for (; c < width; c++)
        SMALL_NAME(reflect_some)(m, k, v, v_step, tau, 1, b + c, width);
}

/* Vectors of m numbers, the columns of the unit matrix and one after the other, become those of the product of n
 * reflectors; number j is in column j of [m,n], from row j + first on. v has memory for m numbers. */
static void SMALL_NAME(form_vectors)(int m, int n_vectors, int n, int first, const NUMBER *reflectors, int row_step,
                                     int column_step, const NUMBER *tau, NUMBER *v, NUMBER *vectors) {
    for (int i = 0; i < m * n_vectors; i++)
        vectors[i] = i % (m + 1) == 0 ? SMALL_NAME(one)() : SMALL_NAME(zero)();
    for (int j = n - 1; j >= 0; j--) {
        const int begin = j + first;
        v[begin] = SMALL_NAME(one)();
        for (int i = begin + 1; i < m; i++)
            v[i] = reflectors[i * row_step + j * column_step];
        for (int c = begin; c < n_vectors; c++) {
            NUMBER *vector = vectors + c * m, product = SMALL_NAME(zero)();
            for (int i = begin; i < m; i++)
                product = SMALL_NAME(add_product)(product, SMALL_NAME(conj)(v[i]), vector[i]);
            product = SMALL_NAME(product)(product, tau[j]);
            for (int i = begin; i < m; i++)
                vector[i] = SMALL_NAME(less_product)(vector[i], product, v[i]);
        }
    }
}

/* R on and above the diagonal of [m,n], and the reflectors below it. */
static void SMALL_NAME(factor_qr)(int m, int n, NUMBER *a, NUMBER *tau) {
    for (int j = 0; j < m && j < n; j++) {
        tau[j] = SMALL_NAME(reflect)(m - j, n, a + j * n + j);
        SMALL_NAME(reflect_columns)(m, j, a + j, n, SMALL_NAME(conj)(tau[j]), j + 1, n, a);
    }
}

static void SMALL_NAME(qr)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int m = self->m, n = self->n, k = self->n_rhs, n_reflectors = m < n ? m : n;
    const int64_t size = (int64_t)m * n, size_q = (int64_t)m * k, size_r = (int64_t)k * n;
    NUMBER *a = memory, *r = a + size, *tau = r + size_r, *q = tau + n_reflectors;
    SMALL_NAME(pack)(size, n_matrices, SMALL_NAME(read_at)(self->a, first * size), a);
    SMALL_NAME(factor_qr)(m, n, a, tau);
    for (int i = 0; i < k; i++)
        for (int j = 0; j < n; j++)
            r[i * n + j] = j < i ? SMALL_NAME(zero)() : a[i * n + j];
    SMALL_NAME(unpack)(size_r, n_matrices, r, SMALL_NAME(write_at)(self->values, first * size_r));
    if (!self->out)
        return;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < k; j++)
            q[i * k + j] = i == j ? SMALL_NAME(one)() : SMALL_NAME(zero)();
    for (int j = n_reflectors - 1; j >= 0; j--)
        SMALL_NAME(reflect_columns)(m, j, a + j, n, tau[j], j, k, q);
    SMALL_NAME(unpack)(size_q, n_matrices, q, SMALL_NAME(write_at)(self->out, first * size_q));
}

static void SMALL_NAME(geqrf)(const dt__small_matrices *self, int64_t first, int n_matrices, void *memory) {
    const int m = self->m, n = self->n, n_reflectors = m < n ? m : n;
    const int64_t size = (int64_t)m * n;
    NUMBER *a = memory, *tau = a + size;
    SMALL_NAME(pack)(size, n_matrices, SMALL_NAME(read_at)(self->a, first * size), a);
    SMALL_NAME(factor_qr)(m, n, a, tau);
    SMALL_NAME(unpack)(size, n_matrices, a, SMALL_NAME(write_at)(self->out, first * size));
    SMALL_NAME(unpack)(n_reflectors, n_matrices, tau, SMALL_NAME(write_at)(self->values, first * n_reflectors));
}

#endif
