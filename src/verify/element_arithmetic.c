/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduction, comparison and printing of single elements.
 */
#include "verify/element_arithmetic.h"

#include <inttypes.h>
#include <math.h>

/* On booleans, sum and max are "or", product and min are "and". */
static int64_t reduce_two_integers(dt_dtype dtype, dt_reduce reduce, int64_t a, int64_t b) {
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

/* NaN propagates. */
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
        if (dt__is_integral(dtype))
            all.i = reduce_two_integers(dtype, reduce, all.i, parts[r].i);
        else if (dt__is_complex(dtype))
            all = reduce_two(reduce, all, parts[r]);
        else
            all = reduce_two_real(reduce, all, parts[r]);
    if (reduce == DT_AVG) {
        all.i /= n;
        all.re /= n;
        all.im /= n;
    }
    all.i = dt__is_integral(dtype) ? dt__wrap_integer(dtype, all.i) : 0;
    return all;
}

bool dt__element_is_nan(dt_dtype dtype, dt__element value) {
    return !dt__is_integral(dtype) && (isnan(value.re) || isnan(value.im));
}

bool dt__element_is_infinite(dt_dtype dtype, dt__element value) {
    return !dt__is_integral(dtype) && (isinf(value.re) || isinf(value.im));
}

double dt__element_magnitude(dt_dtype dtype, dt__element value) {
    if (dt__is_integral(dtype))
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
    if (dt__is_integral(dtype))
        return a.i == b.i;
    return close_numbers(a.re, b.re, allowed) && close_numbers(a.im, b.im, allowed);
}

void dt__element_text(dt_dtype dtype, dt__element value, dt__text *out) {
    if (dtype == DT_BOOL)
        dt__text_add(out, "%s", value.i ? "true" : "false");
    else if (dt__is_integral(dtype))
        dt__text_add(out, "%" PRId64, value.i);
    else if (dt__is_complex(dtype))
        dt__text_add(out, "(%g,%g)", value.re, value.im);
    else
        dt__text_add(out, "%g", value.re);
}
