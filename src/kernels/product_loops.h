/* SPDX-License-Identifier: Apache-2.0
 *
 * Small matrix products for the instruction set of the including file, for which a call of a BLAS would take longer
 * than the product. Each element of the result is summed over k in order; lanes are columns of the result.
 */
#ifndef DT_KERNELS_PRODUCT_LOOPS_H
#define DT_KERNELS_PRODUCT_LOOPS_H

#include "kernels/element_types.h"
#include "kernels/loops.h"

/* n_rows rows of the result from row i on, in columns j to j + lanes. */
#define TILE(type, lanes, n_rows)                                                                                    \
    do {                                                                                                             \
        typedef type tile __attribute__((vector_size((lanes) * sizeof(type))));                                      \
        typedef type tile_in_memory __attribute__((vector_size((lanes) * sizeof(type)), aligned(1), may_alias));     \
        tile sums[n_rows] = {{0}};                                                                                   \
        for (int64_t l = 0; l < p->k; l++) {                                                                         \
            const tile y = *(const tile_in_memory *)(b + l * p->b_row + j);                                          \
            for (int r = 0; r < (n_rows); r++)                                                                       \
                sums[r] += a[(i + r) * p->a_row + l * p->a_column] * y;                                              \
        }                                                                                                            \
        for (int r = 0; r < (n_rows); r++) {                                                                         \
            tile_in_memory *to = (tile_in_memory *)(c + (i + r) * p->c_row + j);                                     \
            tile sum = alpha == 1 ? sums[r] : alpha * sums[r];                                                       \
            *to = beta == 0 ? sum : sum + beta * *to;                                                                \
        }                                                                                                            \
    } while (0)

#define SMALL_ROWS(type, wide, narrow, n_rows)                                                                       \
    do {                                                                                                             \
        int64_t j = 0;                                                                                               \
        for (; j + (wide) <= p->n; j += (wide))                                                                      \
            TILE(type, wide, n_rows);                                                                                \
        for (; j + (narrow) <= p->n; j += (narrow))                                                                  \
            TILE(type, narrow, n_rows);                                                                              \
        for (; j < p->n; j++)                                                                                        \
            for (int r = 0; r < (n_rows); r++) {                                                                     \
                type sum = 0;                                                                                        \
                for (int64_t l = 0; l < p->k; l++)                                                                   \
                    sum += a[(i + r) * p->a_row + l * p->a_column] * b[l * p->b_row + j];                            \
                sum = alpha == 1 ? sum : alpha * sum;                                                                \
                c[(i + r) * p->c_row + j] = beta == 0 ? sum : sum + beta * c[(i + r) * p->c_row + j];                \
            }                                                                                                        \
    } while (0)

#define SMALL(name, memory, type, scalar, wide, narrow)                                                              \
    static void small_##name(const dt__small_product *p) {                                                           \
        const memory *a = p->a, *b = p->b;                                                                           \
        memory *c = p->c;                                                                                            \
        const type alpha = (type)p->alpha.scalar, beta = (type)p->beta.scalar;                                       \
        int64_t i = 0;                                                                                               \
        for (; i + 4 <= p->m; i += 4)                                                                                \
            SMALL_ROWS(type, wide, narrow, 4);                                                                       \
        for (; i < p->m; i++)                                                                                        \
            SMALL_ROWS(type, wide, narrow, 1);                                                                       \
    }
SMALL(f32, dt__f32, float, f.re, 16, 4)
SMALL(f64, dt__f64, double, f.re, 8, 2)
typedef uint64_t dt__u64 DT__IN_MEMORY;
SMALL(i64, dt__u64, uint64_t, i, 8, 2)

#define SMALL_COMPLEX(name, memory, part)                                                                            \
    static void small_##name(const dt__small_product *p) {                                                           \
        const memory *a = p->a, *b = p->b;                                                                           \
        memory *c = p->c;                                                                                            \
        const memory alpha = {(part)p->alpha.f.re, (part)p->alpha.f.im};                                             \
        const memory beta = {(part)p->beta.f.re, (part)p->beta.f.im};                                                \
        for (int64_t i = 0; i < p->m; i++)                                                                           \
            for (int64_t j = 0; j < p->n; j++) {                                                                     \
                memory sum = {0, 0}, *to = &c[i * p->c_row + j];                                                     \
                for (int64_t l = 0; l < p->k; l++) {                                                                 \
                    const memory x = a[i * p->a_row + l * p->a_column], y = b[l * p->b_row + j];                     \
                    sum.re += x.re * y.re - x.im * y.im;                                                             \
                    sum.im += x.re * y.im + x.im * y.re;                                                             \
                }                                                                                                    \
                sum = (memory){alpha.re * sum.re - alpha.im * sum.im, alpha.re * sum.im + alpha.im * sum.re};        \
                if (beta.re != 0 || beta.im != 0) {                                                                  \
                    sum.re += beta.re * to->re - beta.im * to->im;                                                   \
                    sum.im += beta.re * to->im + beta.im * to->re;                                                   \
                }                                                                                                    \
                *to = sum;                                                                                           \
            }                                                                                                        \
    }
SMALL_COMPLEX(c64, dt__c64, float)
SMALL_COMPLEX(c128, dt__c128, double)

static dt__small_loop *const small_loops[DT_N_DTYPES] = {
    [DT_F32] = small_f32, [DT_F64] = small_f64, [DT_I64] = small_i64, [DT_C64] = small_c64, [DT_C128] = small_c128,
};

#endif
