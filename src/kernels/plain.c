/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference table: every function processes one element at a time, as kernel_table.h specifies. Tuned tables are
 * tested against it, so it shares no loops with them.
 */
#include "base/dtype.h"
#include "kernels/kernel_table.h"
#include "kernels/random_plain.h"

#include <math.h>
#include <string.h>

static float combine_f32(dt_reduce op, float a, float b) {
    switch (op) {
    case DT_PRODUCT:
        return a * b;
    case DT_MIN:
        return isnan(a) || isnan(b) ? NAN : a < b || (a == b && signbit(a)) ? a : b;
    case DT_MAX:
        return isnan(a) || isnan(b) ? NAN : a > b || (a == b && signbit(b)) ? a : b;
    default:
        return a + b;
    }
}

static double combine_f64(dt_reduce op, double a, double b) {
    switch (op) {
    case DT_PRODUCT:
        return a * b;
    case DT_MIN:
        return isnan(a) || isnan(b) ? NAN : a < b || (a == b && signbit(a)) ? a : b;
    case DT_MAX:
        return isnan(a) || isnan(b) ? NAN : a > b || (a == b && signbit(b)) ? a : b;
    default:
        return a + b;
    }
}

/* Wraps at 64 bits; the store wraps further. */
static int64_t combine_integer(dt_reduce op, int64_t a, int64_t b) {
    switch (op) {
    case DT_PRODUCT:
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case DT_MIN:
        return a < b ? a : b;
    case DT_MAX:
        return a > b ? a : b;
    default:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    }
}

/* Each operation on f32 is rounded separately; the conversion of f32 to f64 and back is exact. */
static dt__element combine_complex(bool is_f32, dt_reduce op, dt__element a, dt__element b) {
    if (op != DT_PRODUCT)
        return is_f32 ? (dt__element){.re = (double)((float)a.re + (float)b.re),
                                      .im = (double)((float)a.im + (float)b.im)}
                      : (dt__element){.re = a.re + b.re, .im = a.im + b.im};
    if (!is_f32)
        return (dt__element){.re = a.re * b.re - a.im * b.im, .im = a.re * b.im + a.im * b.re};
    const float ar = (float)a.re, ai = (float)a.im, br = (float)b.re, bi = (float)b.im;
    return (dt__element){.re = (double)(ar * br - ai * bi), .im = (double)(ar * bi + ai * br)};
}

static dt__element combine(dt_dtype dtype, dt_reduce op, dt__element a, dt__element b) {
    if (dtype == DT_BOOL)
        return (dt__element){.i = op == DT_SUM || op == DT_MAX ? a.i | b.i : a.i & b.i};
    if (dt__is_integer(dtype))
        return (dt__element){.i = combine_integer(op, a.i, b.i)};
    if (dt__is_complex(dtype))
        return combine_complex(dtype == DT_C64, op, a, b);
    if (dtype == DT_F64)
        return (dt__element){.re = combine_f64(op, a.re, b.re)};
    return (dt__element){.re = (double)combine_f32(op, (float)a.re, (float)b.re)};
}

static dt__element divide(dt_dtype dtype, dt__element sum, int64_t divisor) {
    if (dt__is_double_precision(dtype))
        return (dt__element){.re = sum.re / (double)divisor, .im = sum.im / (double)divisor};
    return (dt__element){.re = (double)((float)sum.re / (float)divisor),
                         .im = (double)((float)sum.im / (float)divisor)};
}

/* The exact sum of integers, divided. */
static dt__element integer_average(dt_dtype dtype, const void *const *srcs, int n_srcs, size_t at, int64_t divisor) {
    __extension__ __int128 sum = 0;
    for (int k = 0; k < n_srcs; k++)
        sum += dt__read_i64(dtype, (const char *)srcs[k] + at);
    return (dt__element){.i = (int64_t)(sum / divisor)};
}

static void reduce(dt_dtype dtype, dt_reduce op, void *dst, const void *const *srcs, int n_srcs, size_t n,
                   int64_t divisor, dt__store store) {
    (void)store;
    size_t size = dt_dtype_size(dtype);
    for (size_t i = 0; i < n; i++) {
        dt__element all = dt__element_read(dtype, (const char *)srcs[0] + i * size);
        for (int k = 1; k < n_srcs; k++)
            all = combine(dtype, op, all, dt__element_read(dtype, (const char *)srcs[k] + i * size));
        if (op == DT_AVG)
            all = dt__is_integer(dtype) ? integer_average(dtype, srcs, n_srcs, i * size, divisor)
                                        : divide(dtype, all, divisor);
        dt__element_write(dtype, all, (char *)dst + i * size);
    }
}

static void accumulate(dt_dtype dtype, dt_reduce op, void *dst, const void *src, size_t n) {
    reduce(dtype, op == DT_AVG ? DT_SUM : op, dst, (const void *[]){dst, src}, 2, n, 1, DT__CACHED);
}

static void copy(void *dst, const void *src, size_t bytes, dt__store store) {
    (void)store;
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)dst)[i] = ((const unsigned char *)src)[i];
}

static void copy_rows(int64_t n, void *const *dsts, const void *const *srcs, size_t bytes, dt__store store) {
    for (int64_t r = 0; r < n; r++)
        for (size_t i = 0; i < bytes; i++)
            copy((char *)dsts[r] + i, srcs[r] ? (const char *)srcs[r] + i : "", 1, store);
}

static void fill(void *dst, const void *from, size_t value_bytes, size_t n, dt__store store) {
    for (size_t i = 0; i < n; i++)
        copy((char *)dst + i * value_bytes, from, value_bytes, store);
}

static void copy_strided(const dt__strided *args, dt__store store) {
    int64_t n = 1;
    for (int d = 0; d < args->n_dims && n > 0; d++)
        n *= args->sizes[d];
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, dst_at = 0, src_at = 0;
        for (int d = args->n_dims - 1; d >= 0; d--) {
            dst_at += rest % args->sizes[d] * args->dst_strides[d];
            src_at += rest % args->sizes[d] * args->src_strides[d];
            rest /= args->sizes[d];
        }
        copy((char *)args->dst + dst_at * (int64_t)args->element_bytes,
             (const char *)args->src + src_at * (int64_t)args->element_bytes, args->element_bytes, store);
    }
}

const dt__kernels dt__kernels_plain = {
    .name = "plain",
    .copy = copy,
    .copy_rows = copy_rows,
    .reduce = reduce,
    .accumulate = accumulate,
    .fill = fill,
    .copy_strided = copy_strided,
    .random_groups = dt__random_groups_plain,
    .random_words = dt__random_words_plain,
    .loops = &dt__loops_baseline,
};
