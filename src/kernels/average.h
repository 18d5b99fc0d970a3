/* SPDX-License-Identifier: Apache-2.0
 *
 * Averages of integers: the exact sum divided by the count, rounded toward zero. Sums are wider than the elements, so
 * that the average of equal values is that value. The sources are summed block by block; a block of all sources is
 * read before it is written, so dst may be a source.
 *
 * There is no vector division of integers, but for integers of up to 53 bits the f64 quotient, truncated, is exact:
 * a quotient that is not an integer is farther from the next integer than the rounding error. Sums of up to 2^21
 * elements of 32 bits fit 53 bits.
 */
#ifndef DT_KERNELS_AVERAGE_H
#define DT_KERNELS_AVERAGE_H

#include "dtensor/base.h"

enum { AVERAGE_BLOCK = 512 };

__extension__ typedef __int128 wide_integer;

#define IN_MEMORY __attribute__((aligned(1), may_alias))

#define NARROW_QUOTIENT(sum, divisor) ((int64_t)((double)(sum) / (double)(divisor)))
#define WIDE_QUOTIENT(sum, divisor)   ((int64_t)((sum) / (divisor)))

#define AVERAGE(name, type, sum_type, quotient)                                                                      \
    static void average_##name(void *dst, const void *const *srcs, int n_srcs, size_t n, int64_t divisor) {          \
        typedef type element IN_MEMORY;                                                                              \
        sum_type sums[AVERAGE_BLOCK];                                                                                \
        for (size_t first = 0; first < n; first += AVERAGE_BLOCK) {                                                  \
            const size_t size = n - first < AVERAGE_BLOCK ? n - first : AVERAGE_BLOCK;                               \
            element *out = (element *)dst + first;                                                                   \
            for (int k = 0; k < n_srcs; k++) {                                                                       \
                const element *in = (const element *)srcs[k] + first;                                                \
                for (size_t i = 0; i < size; i++)                                                                    \
                    sums[i] = (k ? sums[i] : 0) + in[i];                                                             \
            }                                                                                                        \
            for (size_t i = 0; i < size; i++)                                                                        \
                out[i] = (type)quotient(sums[i], divisor);                                                           \
        }                                                                                                            \
    }
AVERAGE(i8, int8_t, int64_t, NARROW_QUOTIENT)
AVERAGE(i16, int16_t, int64_t, NARROW_QUOTIENT)
AVERAGE(i32, int32_t, int64_t, NARROW_QUOTIENT)
AVERAGE(i64, int64_t, wide_integer, WIDE_QUOTIENT)
AVERAGE(u8, uint8_t, int64_t, NARROW_QUOTIENT)
#undef AVERAGE
#undef NARROW_QUOTIENT
#undef WIDE_QUOTIENT

/* NULL for dtypes that are not integers. */
static void (*const average_loops[DT_N_DTYPES])(void *dst, const void *const *srcs, int n_srcs, size_t n,
                                                int64_t divisor) = {
    [DT_I8] = average_i8,   [DT_I16] = average_i16, [DT_I32] = average_i32,
    [DT_I64] = average_i64, [DT_U8] = average_u8,
};

#endif
