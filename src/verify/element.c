/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements, one at a time.
 */
#include "verify/element.h"

#include "tensor/tensor.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void dt__element_range(dt_dtype dtype, int64_t *low, int64_t *high) {
    int bits = (int)dt_dtype_size(dtype) * 8;
    bool is_unsigned = dtype == DT_U8 || dtype == DT_BOOL;
    *high = dtype == DT_BOOL ? 1 : is_unsigned ? UINT8_MAX : (int64_t)(UINT64_MAX >> (65 - bits));
    *low = is_unsigned ? 0 : -*high - 1;
}

dt__element dt__element_get(dt_dtype dtype, const void *from) {
    dt__element value = {0};
    if (dtype == DT_I64)
        memcpy(&value.i, from, sizeof value.i);
    else if (dt__element_is_whole(dtype))
        value.i = (int64_t)dt__get_number(dtype, from);
    else
        value.re = dt__get_number(dtype, from);
    if (dtype == DT_C64)
        value.im = dt__get_number(DT_F32, (const unsigned char *)from + 4);
    else if (dtype == DT_C128)
        value.im = dt__get_number(DT_F64, (const unsigned char *)from + 8);
    return value;
}

static int64_t wrap(dt_dtype dtype, int64_t value) {
    int bits = (int)dt_dtype_size(dtype) * 8;
    if (dtype == DT_BOOL)
        return value != 0;
    if (dtype == DT_U8)
        return value & UINT8_MAX;
    uint64_t up = (uint64_t)value << (64 - bits);
    return (int64_t)up >> (64 - bits);
}

void dt__element_put(dt_dtype dtype, dt__element value, void *to) {
    int64_t whole = dt__element_is_whole(dtype) ? wrap(dtype, value.i) : 0;
    if (dtype == DT_I64)
        memcpy(to, &whole, sizeof whole);
    else
        dt__put_number(dtype, dt__element_is_whole(dtype) ? (double)whole : value.re, to);
    if (dtype == DT_C64)
        dt__put_number(DT_F32, value.im, (unsigned char *)to + 4);
    else if (dtype == DT_C128)
        dt__put_number(DT_F64, value.im, (unsigned char *)to + 8);
}

/* On truth values, sum and max are "or", product and min are "and". */
static int64_t reduce_two_whole(dt_dtype dtype, dt_reduce reduce, int64_t a, int64_t b) {
    bool any = reduce == DT_SUM || reduce == DT_MAX;
    if (dtype == DT_BOOL)
        return any ? (a || b) : (a && b);
    switch (reduce) {
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

/* NaN is handed on. */
static dt__element reduce_two(dt_reduce reduce, dt__element a, dt__element b) {
    switch (reduce) {
    case DT_PRODUCT:
        return (dt__element){.re = a.re * b.re - a.im * b.im, .im = a.re * b.im + a.im * b.re};
    case DT_MIN:
        return isnan(a.re) || a.re < b.re ? a : b;
    case DT_MAX:
        return isnan(a.re) || a.re > b.re ? a : b;
    default:
        return (dt__element){.re = a.re + b.re, .im = a.im + b.im};
    }
}

/* A complex product with infinite parts would make NaN of zeros that no real number has. */
static dt__element reduce_two_real(dt_reduce reduce, dt__element a, dt__element b) {
    return reduce == DT_PRODUCT ? (dt__element){.re = a.re * b.re} : reduce_two(reduce, a, b);
}

dt__element dt__element_reduce(dt_dtype dtype, dt_reduce reduce, int n, const dt__element *parts) {
    dt__element all = parts[0];
    for (int r = 1; r < n; r++)
        if (dt__element_is_whole(dtype))
            all.i = reduce_two_whole(dtype, reduce, all.i, parts[r].i);
        else if (dt__element_is_complex(dtype))
            all = reduce_two(reduce, all, parts[r]);
        else
            all = reduce_two_real(reduce, all, parts[r]);
    if (reduce == DT_AVG) {
        all.i /= n;
        all.re /= n;
        all.im /= n;
    }
    all.i = dt__element_is_whole(dtype) ? wrap(dtype, all.i) : 0;
    return all;
}

bool dt__element_is_nan(dt_dtype dtype, dt__element value) {
    return !dt__element_is_whole(dtype) && (isnan(value.re) || isnan(value.im));
}

bool dt__element_is_infinite(dt_dtype dtype, dt__element value) {
    return !dt__element_is_whole(dtype) && (isinf(value.re) || isinf(value.im));
}

double dt__element_size(dt_dtype dtype, dt__element value) {
    if (dt__element_is_whole(dtype))
        return fabs((double)value.i);
    double size = fmax(fabs(value.re), fabs(value.im));
    return isfinite(size) ? size : 0;
}

static bool close_numbers(double a, double b, double allowed) {
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= allowed;
}

bool dt__element_close(dt_dtype dtype, dt__element a, dt__element b, double allowed) {
    if (dt__element_is_whole(dtype))
        return a.i == b.i;
    return close_numbers(a.re, b.re, allowed) && close_numbers(a.im, b.im, allowed);
}

double dt__element_epsilon(dt_dtype dtype) {
    static const double epsilon[DT_N_DTYPES] = {
        [DT_F32] = (double)FLT_EPSILON, [DT_F64] = DBL_EPSILON,         [DT_F16] = 1.0 / 1024,
        [DT_BF16] = 1.0 / 128,          [DT_C64] = (double)FLT_EPSILON, [DT_C128] = DBL_EPSILON,
    };
    return epsilon[dtype];
}

void dt__element_text(dt_dtype dtype, dt__element value, dt__text *out) {
    if (dtype == DT_BOOL)
        dt__text_add(out, "%s", value.i ? "true" : "false");
    else if (dt__element_is_whole(dtype))
        dt__text_add(out, "%" PRId64, value.i);
    else if (dt__element_is_complex(dtype))
        dt__text_add(out, "(%g,%g)", value.re, value.im);
    else
        dt__text_add(out, "%g", value.re);
}
