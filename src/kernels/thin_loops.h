/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of a few rows with a large matrix, for the instruction set of the including file (loops.h: dt__thin_loop).
 * The matrix is read once, and converted as it is read. Sums have an order that depends on k only: a dot product has
 * 64 bytes of partial sums, element l in lane l modulo their number; otherwise products of four or eight rows of the
 * matrix are added to one another first, then to the sum.
 */
#ifndef DT_KERNELS_THIN_LOOPS_H
#define DT_KERNELS_THIN_LOOPS_H

#include "kernels/lanes.h"
#include "kernels/loops.h"

enum { LINE_PARTS = 64 / VEC_BYTES }; /* registers of 64 bytes */

typedef uint16_t halves_in_memory __attribute__((vector_size(VEC_BYTES / 2), aligned(1), may_alias));

/* One register of numbers from as many elements. */
INLINE vf32 thin_load_f32(const float *from) { return (vf32)vec_load(from); }
INLINE vf64 thin_load_f64(const double *from) { return (vf64)vec_load(from); }
INLINE vu32 thin_load_halves(const uint16_t *from) {
    return __builtin_convertvector(*(const halves_in_memory *)from, vu32);
}
INLINE vf32 thin_load_bf16(const uint16_t *from) { return (vf32)(thin_load_halves(from) << 16); }
#ifdef HW_LOAD_F16
INLINE vf32 thin_load_f16(const uint16_t *from) { return HW_LOAD_F16(from); }
#else
INLINE vf32 thin_load_f16(const uint16_t *from) { return (vf32)widen_f16(thin_load_halves(from)); }
#endif

/* The sum of 64 bytes of numbers, in halves. */
#define THIN_TOTAL(type, lanes)                                                                                      \
    INLINE type thin_total_##type(const void *parts) {                                                               \
        type sums[lanes];                                                                                            \
        memcpy(sums, parts, sizeof sums);                                                                            \
        for (int n = (lanes) / 2; n > 0; n /= 2)                                                                     \
            for (int i = 0; i < n; i++)                                                                              \
                sums[i] += sums[i + n];                                                                              \
        return sums[0];                                                                                              \
    }
THIN_TOTAL(float, 16)
THIN_TOTAL(double, 8)

/* 64 bytes of x in every row, times as many elements of n_w rows of the matrix. */
#define THIN_DOT_STEP(type, vector, load, n_x, n_w, w_at)                                                            \
    for (int part = 0; part < LINE_PARTS; part++) {                                                                  \
        const int64_t offset = part * (VEC_BYTES / (int64_t)sizeof(type));                                           \
        vector y[n_w];                                                                                               \
        for (int q = 0; q < (n_w); q++)                                                                              \
            y[q] = load((w_at) + offset);                                                                            \
        for (int r = 0; r < (n_x); r++) {                                                                            \
            const vector x_part = (vector)vec_load(x + r * p->x_row + l + offset);                                   \
            for (int q = 0; q < (n_w); q++)                                                                          \
                sums[r][q][part] += x_part * y[q];                                                                   \
        }                                                                                                            \
    }

/* Where fewer than n_w rows are left, the last one is read again. x is 0 from k on. */
#define THIN_DOTS(name, type, vector, memory, load, n_x, n_w)                                                        \
    static void name(const dt__thin_product *p) {                                                                    \
        enum { LANES = 64 / sizeof(type) };                                                                          \
        const type *x = p->x;                                                                                        \
        for (int64_t j = 0; j < p->n; j += (n_w)) {                                                                  \
            vector sums[n_x][n_w][LINE_PARTS] = {{{{0}}}};                                                           \
            const memory *w[n_w];                                                                                    \
            int64_t l = 0;                                                                                           \
            for (int q = 0; q < (n_w); q++)                                                                          \
                w[q] = (const memory *)p->w + (j + q < p->n ? j + q : p->n - 1) * p->w_row;                          \
            for (; l + LANES <= p->k; l += LANES)                                                                    \
                THIN_DOT_STEP(type, vector, load, n_x, n_w, w[q] + l)                                                \
            if (l < p->k) {                                                                                          \
                memory last[n_w][LANES] = {{0}};                                                                     \
                for (int q = 0; q < (n_w); q++)                                                                      \
                    memcpy(last[q], w[q] + l, (size_t)(p->k - l) * sizeof(memory));                                  \
                THIN_DOT_STEP(type, vector, load, n_x, n_w, last[q])                                                 \
            }                                                                                                        \
            for (int q = 0; q < (n_w) && j + q < p->n; q++)                                                          \
                for (int r = 0; r < (n_x); r++)                                                                      \
                    ((type *)p->sums)[r * p->sums_row + j + q] += thin_total_##type(sums[r][q]);                     \
        }                                                                                                            \
    }

/* n_w rows of the matrix, each times a number of x, are added to the sums of columns j to j + LANES. Short rows end
 * before the CPU has begun to read ahead: `ahead` is how many rows later to fetch. */
#define THIN_SUM_STEP(type, vector, load, n_x, n_w, w_at, ahead)                                                     \
    for (int part = 0; part < LINE_PARTS; part++) {                                                                  \
        const int64_t offset = part * (VEC_BYTES / (int64_t)sizeof(type));                                           \
        vector y[n_w];                                                                                               \
        for (int q = 0; q < (n_w); q++) {                                                                            \
            y[q] = load((w_at) + offset);                                                                            \
            if (ahead)                                                                                               \
                __builtin_prefetch(w + (q + (ahead)) * p->w_row + j + offset, 0, 2);                                 \
        }                                                                                                            \
        for (int r = 0; r < (n_x); r++) {                                                                            \
            type *to = (type *)p->sums + r * p->sums_row + j + offset;                                               \
            vector sum = y[0] * x[r * p->x_row];                                                                     \
            for (int q = 1; q < (n_w); q++)                                                                          \
                sum += y[q] * x[r * p->x_row + q];                                                                   \
            vec_store(to, (vec)((vector)vec_load(to) + sum));                                                        \
        }                                                                                                            \
    }

#define THIN_SUM_ROWS(type, vector, memory, load, n_x, n_w, ahead)                                                   \
    do {                                                                                                             \
        enum { LANES = 64 / sizeof(type) };                                                                          \
        const type *x = (const type *)p->x + l;                                                                      \
        const memory *w = (const memory *)p->w + l * p->w_row;                                                       \
        int64_t j = 0;                                                                                               \
        for (; j + LANES <= p->n; j += LANES)                                                                        \
            THIN_SUM_STEP(type, vector, load, n_x, n_w, w + q * p->w_row + j, ahead)                                 \
        if (j < p->n) {                                                                                              \
            memory last[n_w][LANES] = {{0}};                                                                         \
            for (int q = 0; q < (n_w); q++)                                                                          \
                memcpy(last[q], w + q * p->w_row + j, (size_t)(p->n - j) * sizeof(memory));                          \
            THIN_SUM_STEP(type, vector, load, n_x, n_w, last[q], 0)                                                  \
        }                                                                                                            \
    } while (0)

#define THIN_SUMS(name, type, vector, memory, load, n_x, n_w, ahead)                                                 \
    static void name(const dt__thin_product *p) {                                                                    \
        int64_t l = 0;                                                                                               \
        for (; l + (n_w) <= p->k; l += (n_w))                                                                        \
            THIN_SUM_ROWS(type, vector, memory, load, n_x, n_w, ahead);                                              \
        for (; l < p->k; l++)                                                                                        \
            THIN_SUM_ROWS(type, vector, memory, load, n_x, 1, 0);                                                    \
    }

/* As many rows of the matrix as registers suffice for. */
#if VEC_BYTES == 64
enum { DOTS_OF_1 = 4, DOTS_OF_4 = 4, DOTS_OF_8 = 2 };
#elif VEC_BYTES == 32
enum { DOTS_OF_1 = 4, DOTS_OF_4 = 1, DOTS_OF_8 = 1 };
#else
enum { DOTS_OF_1 = 2, DOTS_OF_4 = 1, DOTS_OF_8 = 1 };
#endif

#define THIN(name, type, vector, memory, load, n_w, ahead)                                                           \
    THIN_DOTS(thin_dots_1_##name, type, vector, memory, load, 1, DOTS_OF_1)                                          \
    THIN_DOTS(thin_dots_4_##name, type, vector, memory, load, 4, DOTS_OF_4)                                          \
    THIN_DOTS(thin_dots_8_##name, type, vector, memory, load, 8, DOTS_OF_8)                                          \
    THIN_SUMS(thin_sums_1_##name, type, vector, memory, load, 1, n_w, ahead)                                         \
    THIN_SUMS(thin_sums_4_##name, type, vector, memory, load, 4, 4, ahead)                                           \
    THIN_SUMS(thin_sums_8_##name, type, vector, memory, load, 8, 4, ahead)
THIN(f32, float, vf32, float, thin_load_f32, 8, 0)
THIN(f64, double, vf64, double, thin_load_f64, 8, 0)
THIN(bf16, float, vf32, uint16_t, thin_load_bf16, 8, 8)
THIN(f16, float, vf32, uint16_t, thin_load_f16, 8, 8)

#define THIN_ROW(name)                                                                                               \
    {                                                                                                                \
        {thin_dots_1_##name, thin_dots_4_##name, thin_dots_8_##name}, {                                              \
            thin_sums_1_##name, thin_sums_4_##name, thin_sums_8_##name                                               \
        }                                                                                                            \
    }
static const dt__thin_loops thin_loops[DT_N_DTYPES] = {
    [DT_F32] = THIN_ROW(f32),
    [DT_F64] = THIN_ROW(f64),
    [DT_BF16] = THIN_ROW(bf16),
    [DT_F16] = THIN_ROW(f16),
};

#endif
