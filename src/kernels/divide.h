/* SPDX-License-Identifier: Apache-2.0
 *
 * Division of integers in place, rounding toward zero: the second half of an integer average. There is no vector
 * division of integers, but the quotient of two integers of up to p bits, rounded to a float of more than p bits and
 * then cut to an integer, is the right one: if it is not whole, it lies farther from the next whole number than the
 * rounding reaches. So 8 and 16 bits divide as f32, 32 bits as f64; the compiler makes vectors of these loops. A
 * divisor that f32 or f64 must round is larger than any dividend, before and after.
 */
#ifndef DT_KERNELS_DIVIDE_H
#define DT_KERNELS_DIVIDE_H

#include "dtensor/base.h"

#define IN_MEMORY __attribute__((aligned(1), may_alias))

static void divide_all_i8(void *at, size_t n, int64_t divisor) {
    int8_t *x = at;
    for (size_t i = 0; i < n; i++)
        x[i] = (int8_t)(int32_t)((float)x[i] / (float)divisor);
}

static void divide_all_u8(void *at, size_t n, int64_t divisor) {
    uint8_t *x = at;
    for (size_t i = 0; i < n; i++)
        x[i] = (uint8_t)(int32_t)((float)x[i] / (float)divisor);
}

static void divide_all_i16(void *at, size_t n, int64_t divisor) {
    typedef int16_t element IN_MEMORY;
    element *x = at;
    for (size_t i = 0; i < n; i++)
        x[i] = (int16_t)(int32_t)((float)x[i] / (float)divisor);
}

static void divide_all_i32(void *at, size_t n, int64_t divisor) {
    typedef int32_t element IN_MEMORY;
    element *x = at;
    for (size_t i = 0; i < n; i++)
        x[i] = (int32_t)((double)x[i] / (double)divisor);
}

static void divide_all_i64(void *at, size_t n, int64_t divisor) {
    typedef int64_t element IN_MEMORY;
    element *x = at;
    for (size_t i = 0; i < n; i++)
        x[i] /= divisor;
}

/* NULL for dtypes that are not integers. */
static void (*const divide_loops[DT_N_DTYPES])(void *at, size_t n, int64_t divisor) = {
    [DT_I8] = divide_all_i8,   [DT_U8] = divide_all_u8,   [DT_I16] = divide_all_i16,
    [DT_I32] = divide_all_i32, [DT_I64] = divide_all_i64,
};

#endif
