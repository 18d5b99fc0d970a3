/* SPDX-License-Identifier: Apache-2.0
 *
 * The properties of each dtype, and access to single elements.
 */
#include "base/dtype.h"

#include "base/half_float.h"

#include <float.h>
#include <math.h>

static const struct {
    int64_t min, max;
} integer_limits[DT_N_DTYPES] = {
    [DT_I8] = {INT8_MIN, INT8_MAX},    [DT_I16] = {INT16_MIN, INT16_MAX}, [DT_I32] = {INT32_MIN, INT32_MAX},
    [DT_I64] = {INT64_MIN, INT64_MAX}, [DT_U8] = {0, UINT8_MAX},          [DT_BOOL] = {0, 1},
};

void dt__integer_limits(dt_dtype dtype, int64_t *min, int64_t *max) {
    *min = integer_limits[dtype].min;
    *max = integer_limits[dtype].max;
}

bool dt__is_within(double value, int64_t min, int64_t max) {
    double above = 2 * (double)(max / 2 + 1), integer = trunc(value); /* max itself may not be a double */
    return integer >= (double)min && integer < above;
}

int64_t dt__wrap_integer(dt_dtype dtype, int64_t value) {
    const int unused = 64 - 8 * (int)dt_dtype_size(dtype);
    const uint64_t top = (uint64_t)value << unused;
    if (dtype == DT_BOOL)
        return value != 0;
    return dt__is_unsigned(dtype) ? (int64_t)(top >> unused) : (int64_t)top >> unused;
}

bool dt__keeps_order(dt_dtype from, dt_dtype to) {
    int64_t min, max, to_min, to_max;
    if (from == to)
        return true;
    if (dt__is_complex(from) || dt__is_complex(to))
        return false;
    if (!dt__is_integral(from) || !dt__is_integral(to))
        return true;
    dt__integer_limits(from, &min, &max);
    dt__integer_limits(to, &to_min, &to_max);
    return to_min <= min && max <= to_max;
}

double dt__dtype_epsilon(dt_dtype dtype) {
    static const double epsilon[DT_N_DTYPES] = {
        [DT_F32] = (double)FLT_EPSILON, [DT_F64] = DBL_EPSILON,         [DT_F16] = 1.0 / 1024,
        [DT_BF16] = 1.0 / 128,          [DT_C64] = (double)FLT_EPSILON, [DT_C128] = DBL_EPSILON,
    };
    return epsilon[dtype];
}

/* Categories of promotion, from the lowest. */
enum category { CATEGORY_BOOL, CATEGORY_INTEGER, CATEGORY_FLOAT, CATEGORY_COMPLEX };

static enum category category_of(dt_dtype dtype) {
    if (dtype == DT_BOOL)
        return CATEGORY_BOOL;
    return dt__is_complex(dtype) ? CATEGORY_COMPLEX : dt__is_float(dtype) ? CATEGORY_FLOAT : CATEGORY_INTEGER;
}

dt_dtype dt__promote(dt_dtype a, dt_dtype b) {
    const enum category category_a = category_of(a), category_b = category_of(b);
    const size_t size_a = dt_dtype_size(a), size_b = dt_dtype_size(b);
    if (a == b)
        return a;
    if (category_a != category_b) {
        dt_dtype higher = category_a > category_b ? a : b, lower = category_a > category_b ? b : a;
        return dt__is_complex(higher) && lower == DT_F64 ? DT_C128 : higher;
    }
    if (size_a == size_b) /* u8 and i8, or f16 and bf16 */
        return dt__is_integer(a) ? DT_I16 : DT_F32;
    return size_a > size_b ? a : b;
}

/* Truncates and saturates; NaN becomes 0. */
static int64_t saturate(dt_dtype dtype, double value) {
    if (isnan(value))
        return 0;
    if (value <= (double)integer_limits[dtype].min)
        return integer_limits[dtype].min;
    return value >= (double)integer_limits[dtype].max ? integer_limits[dtype].max : (int64_t)value;
}

/* The value at an address that may be unaligned. */
#define VALUE_AT(type, from) (*(const type *)memcpy(&(type){0}, from, sizeof(type)))

double dt__read_f64(dt_dtype dtype, const void *from) {
    switch (dtype) {
    case DT_F32:
    case DT_C64:
        return (double)VALUE_AT(float, from);
    case DT_F64:
    case DT_C128:
        return VALUE_AT(double, from);
    case DT_F16:
        return (double)dt__f16_to_f32(VALUE_AT(uint16_t, from));
    case DT_BF16:
        return (double)dt__bf16_to_f32(VALUE_AT(uint16_t, from));
    default:
        return dt__is_integral(dtype) ? (double)dt__read_i64(dtype, from) : (double)NAN;
    }
}

int64_t dt__read_i64(dt_dtype dtype, const void *from) {
    switch (dtype) {
    case DT_I8:
        return VALUE_AT(int8_t, from);
    case DT_I16:
        return VALUE_AT(int16_t, from);
    case DT_I32:
        return VALUE_AT(int32_t, from);
    case DT_I64:
        return VALUE_AT(int64_t, from);
    case DT_U8:
        return VALUE_AT(uint8_t, from);
    case DT_BOOL:
        return VALUE_AT(uint8_t, from) != 0;
    default:
        return saturate(DT_I64, dt__read_f64(dtype, from));
    }
}

void dt__write_i64(dt_dtype dtype, int64_t value, void *to) {
    if (dt__is_integral(dtype)) {
        /* Little-endian, as all supported machines are: the low bytes are the wrapped integer. */
        value = dtype == DT_BOOL ? value != 0 : value;
        memcpy(to, &value, dt_dtype_size(dtype));
    } else {
        dt__write_f64(dtype, dt__is_half(dtype) ? (double)(float)value : (double)value, to);
    }
}

static void write_float(dt_dtype dtype, double value, unsigned char *to) {
    const float f32 = (float)value;
    const uint16_t half = dtype == DT_F16 ? dt__f64_to_f16(value) : dt__f64_to_bf16(value);
    if (dt__is_double_precision(dtype))
        memcpy(to, &value, sizeof value);
    else if (dt__is_half(dtype))
        memcpy(to, &half, sizeof half);
    else
        memcpy(to, &f32, sizeof f32);
}

void dt__write_f64(dt_dtype dtype, double value, void *to) {
    dt__element_write(dtype, (dt__element){.i = dtype == DT_BOOL ? value != 0 : saturate(dtype, value), .re = value},
                      to);
}

dt__element dt__element_read(dt_dtype dtype, const void *from) {
    const char *imaginary = (const char *)from + dt_dtype_size(dtype) / 2;
    if (dt__is_integral(dtype))
        return (dt__element){.i = dt__read_i64(dtype, from)};
    return (dt__element){.re = dt__read_f64(dtype, from),
                         .im = dt__is_complex(dtype) ? dt__read_f64(dtype, imaginary) : 0};
}

void dt__element_write(dt_dtype dtype, dt__element value, void *to) {
    if (dt__is_integral(dtype)) {
        dt__write_i64(dtype, value.i, to);
    } else if (dt__is_inexact(dtype)) {
        write_float(dtype, value.re, to);
        if (dt__is_complex(dtype))
            write_float(dtype, value.im, (unsigned char *)to + dt_dtype_size(dtype) / 2);
    }
}

void dt__write_identity(dt_dtype dtype, dt_reduce reduce, void *to) {
    static const double identity[DT_N_REDUCES] = {
        [DT_PRODUCT] = 1, [DT_MIN] = (double)INFINITY, [DT_MAX] = -(double)INFINITY};
    dt__write_f64(dtype, dtype == DT_BOOL && reduce == DT_MAX ? 0 : identity[reduce], to);
}
