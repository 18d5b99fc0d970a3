/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference table: every function does one element at a time, in the words of kernels.h. Tuned tables are tested
 * against it, so it shares no code with them; in particular the 16-bit floats are converted by arithmetic here and by
 * bit tricks or instructions there.
 */
#include "kernels/loops.h"
#include "kernels/tables.h"

#include <math.h>
#include <string.h>

/* An element as the arithmetic sees it. Integers and bool live in i, f16 and bf16 in f. */
typedef union value {
    int64_t i;
    float f;
    double d;
    struct {
        float re, im;
    } c;
    struct {
        double re, im;
    } z;
} value;

/* A binary floating-point format of 16 bits: the value of a normal number is 1.fraction * 2^e with e in
 * [e_min, e_max]. */
typedef struct format {
    int fraction_bits, e_min, e_max;
} format;

static const format f16 = {10, -14, 15}, bf16 = {7, -126, 127};

static float widen(const format *as, uint16_t bits) {
    int fraction = bits & ((1 << as->fraction_bits) - 1);
    int exponent = (bits & 0x7fff) >> as->fraction_bits;
    float size;
    if (exponent == as->e_max - as->e_min + 2)
        size = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        size = ldexpf((float)fraction, as->e_min - as->fraction_bits);
    else
        size = ldexpf((float)(fraction + (1 << as->fraction_bits)), as->e_min - 1 + exponent - as->fraction_bits);
    return bits >> 15 ? -size : size;
}

/* To nearest, ties to even: rint on the number scaled so that its last kept bit is worth 1. A fraction that rounds up
 * to the next power of two carries into the exponent, and from the largest number into infinity. */
static uint16_t narrow(const format *as, float x) {
    int sign = signbit(x) ? 0x8000 : 0;
    int infinity = (as->e_max - as->e_min + 2) << as->fraction_bits;
    if (isnan(x))
        return (uint16_t)(sign | infinity | 1 << (as->fraction_bits - 1));
    int e = x == 0 ? as->e_min : isinf(x) ? as->e_max + 1 : ilogbf(x);
    if (e > as->e_max)
        return (uint16_t)(sign | infinity);
    if (e < as->e_min)
        e = as->e_min;
    int scaled = (int)rint(ldexp(fabs((double)x), as->fraction_bits - e));
    return (uint16_t)(sign | (((e - as->e_min) << as->fraction_bits) + scaled));
}

static value load(dt_dtype dtype, const void *from) {
    value v = {0};
    uint16_t bits;
    int16_t i16;
    int32_t i32;
    switch (dtype) {
    case DT_F32:
        memcpy(&v.f, from, 4);
        break;
    case DT_F64:
        memcpy(&v.d, from, 8);
        break;
    case DT_F16:
        memcpy(&bits, from, 2);
        v.f = widen(&f16, bits);
        break;
    case DT_BF16:
        memcpy(&bits, from, 2);
        v.f = widen(&bf16, bits);
        break;
    case DT_I8:
        v.i = *(const int8_t *)from;
        break;
    case DT_I16:
        memcpy(&i16, from, 2);
        v.i = i16;
        break;
    case DT_I32:
        memcpy(&i32, from, 4);
        v.i = i32;
        break;
    case DT_I64:
        memcpy(&v.i, from, 8);
        break;
    case DT_U8:
        v.i = *(const uint8_t *)from;
        break;
    case DT_BOOL:
        v.i = *(const uint8_t *)from != 0;
        break;
    case DT_C64:
        memcpy(&v.c, from, 8);
        break;
    case DT_C128:
        memcpy(&v.z, from, 16);
        break;
    case DT_NO_DTYPE:
    case DT_N_DTYPES:
        break;
    }
    return v;
}

static void store_bits16(void *to, uint16_t bits) { memcpy(to, &bits, 2); }

/* The first bytes of an integer are the integer wrapped, because the machines that we run on are little-endian. */
static void store(dt_dtype dtype, void *to, value v) {
    switch (dtype) {
    case DT_F16:
        store_bits16(to, narrow(&f16, v.f));
        break;
    case DT_BF16:
        store_bits16(to, narrow(&bf16, v.f));
        break;
    default:
        memcpy(to, &v, dt_dtype_size(dtype));
    }
}

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

static value combine(dt_dtype dtype, dt_reduce op, value a, value b) {
    switch (dtype) {
    case DT_F32:
    case DT_F16:
    case DT_BF16:
        return (value){.f = combine_f32(op, a.f, b.f)};
    case DT_F64:
        return (value){.d = combine_f64(op, a.d, b.d)};
    case DT_BOOL:
        return (value){.i = op == DT_SUM || op == DT_MAX ? a.i | b.i : a.i & b.i};
    case DT_C64:
        if (op == DT_PRODUCT)
            return (value){.c = {a.c.re * b.c.re - a.c.im * b.c.im, a.c.re * b.c.im + a.c.im * b.c.re}};
        return (value){.c = {a.c.re + b.c.re, a.c.im + b.c.im}};
    case DT_C128:
        if (op == DT_PRODUCT)
            return (value){.z = {a.z.re * b.z.re - a.z.im * b.z.im, a.z.re * b.z.im + a.z.im * b.z.re}};
        return (value){.z = {a.z.re + b.z.re, a.z.im + b.z.im}};
    default:
        return (value){.i = combine_integer(op, a.i, b.i)};
    }
}

static value divide(dt_dtype dtype, value sum, int64_t divisor) {
    switch (dtype) {
    case DT_F32:
    case DT_F16:
    case DT_BF16:
        return (value){.f = sum.f / (float)divisor};
    case DT_F64:
        return (value){.d = sum.d / (double)divisor};
    case DT_C64:
        return (value){.c = {sum.c.re / (float)divisor, sum.c.im / (float)divisor}};
    case DT_C128:
        return (value){.z = {sum.z.re / (double)divisor, sum.z.im / (double)divisor}};
    default:
        return sum;
    }
}

/* The exact sum of integers, divided. */
static value integer_average(dt_dtype dtype, const void *const *srcs, int n_srcs, size_t at, int64_t divisor) {
    __extension__ __int128 sum = 0;
    for (int k = 0; k < n_srcs; k++)
        sum += load(dtype, (const char *)srcs[k] + at).i;
    return (value){.i = (int64_t)(sum / divisor)};
}

static bool is_integer(dt_dtype dtype) { return dtype >= DT_I8 && dtype <= DT_U8; }

static void reduce(dt_dtype dtype, dt_reduce op, void *dst, const void *const *srcs, int n_srcs, size_t n,
                   int64_t divisor, dt__store how) {
    (void)how;
    size_t size = dt_dtype_size(dtype);
    for (size_t i = 0; i < n; i++) {
        value all = load(dtype, (const char *)srcs[0] + i * size);
        for (int k = 1; k < n_srcs; k++)
            all = combine(dtype, op, all, load(dtype, (const char *)srcs[k] + i * size));
        if (op == DT_AVG)
            all = is_integer(dtype) ? integer_average(dtype, srcs, n_srcs, i * size, divisor)
                                    : divide(dtype, all, divisor);
        store(dtype, (char *)dst + i * size, all);
    }
}

static void accumulate(dt_dtype dtype, dt_reduce op, void *dst, const void *src, size_t n) {
    reduce(dtype, op == DT_AVG ? DT_SUM : op, dst, (const void *[]){dst, src}, 2, n, 1, DT__CACHED);
}

static void copy(void *dst, const void *src, size_t bytes, dt__store how) {
    (void)how;
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)dst)[i] = ((const unsigned char *)src)[i];
}

static void fill(void *dst, const void *from, size_t value_bytes, size_t n, dt__store how) {
    for (size_t i = 0; i < n; i++)
        copy((char *)dst + i * value_bytes, from, value_bytes, how);
}

static void copy_strided(const dt__strided *what, dt__store how) {
    int64_t n = 1;
    for (int d = 0; d < what->n_dims && n > 0; d++)
        n *= what->sizes[d];
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, dst_at = 0, src_at = 0;
        for (int d = what->n_dims - 1; d >= 0; d--) {
            dst_at += rest % what->sizes[d] * what->dst_strides[d];
            src_at += rest % what->sizes[d] * what->src_strides[d];
            rest /= what->sizes[d];
        }
        copy((char *)what->dst + dst_at * (int64_t)what->element_bytes,
             (const char *)what->src + src_at * (int64_t)what->element_bytes, what->element_bytes, how);
    }
}

const dt__kernels dt__kernels_table_plain = {
    .name = "plain",
    .copy = copy,
    .reduce = reduce,
    .accumulate = accumulate,
    .fill = fill,
    .copy_strided = copy_strided,
    .loops = &dt__loops_baseline,
};
