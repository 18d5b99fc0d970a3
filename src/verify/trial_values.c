/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums: all terms but the last are random, and the last is the remainder. Products: all factors but the last are
 * powers of two with a sign (or times the imaginary unit). Max and min: one rank, which varies by element, holds the
 * value; the others hold less extreme ones, sometimes by more than values differ, so that ranks disagree on where it
 * is.
 */
#include "verify/trial_values.h"

#include "base/dtype.h"
#include "base/hash.h"

#include <math.h>

static uint64_t bits_at(const dt__element_id *spot, int64_t salt) {
    uint64_t hash = dt__hash_u64((uint64_t)spot->input + 1, spot->seed);
    return dt__hash_u64((uint64_t)salt, dt__hash_u64((uint64_t)spot->element, hash));
}

/* Numbers are multiples of this: sums of a few are not rounded. */
static double step_of(dt_dtype dtype) { return dtype == DT_BF16 ? 1.0 / 4 : 1.0 / 16; }

/* From -max to max, not 0. */
static double small(dt_dtype dtype, uint64_t bits, double max) {
    double n = max / step_of(dtype), size = (double)(1 + (bits >> 8) % (uint64_t)n) * step_of(dtype);
    return bits & 1 ? -size : size;
}

static double number_at(dt_dtype dtype, dt__value_kind kind, uint64_t bits) {
    double value = small(dtype, bits, 4);
    unsigned chance = bits >> 40 & 7;
    if (kind == DT__VALUES_FEW)
        return (double)((bits >> 8) % 3) - 1;
    if (kind == DT__VALUES_POSITIVE)
        return fabs(value);
    if (kind == DT__VALUES_NAN && chance < 2)
        return (double)NAN;
    if (kind == DT__VALUES_INFINITE && chance < 3)
        return chance == 0 ? -(double)INFINITY : (double)INFINITY;
    return value;
}

static int64_t integer_at(dt_dtype dtype, dt__value_kind kind, uint64_t bits) {
    int64_t value = (int64_t)((bits >> 8) % 11) - 5;
    if (dtype == DT_BOOL)
        return (int64_t)(bits >> 8 & 1);
    if (kind == DT__VALUES_FEW)
        value = (int64_t)((bits >> 8) % 3) - 1;
    if (kind == DT__VALUES_POSITIVE && value <= 0)
        value = 1 - value;
    return dt__is_unsigned(dtype) && value < 0 ? -value : value;
}

dt__element dt__trial_value(dt_dtype dtype, dt__value_kind kind, const dt__element_id *spot) {
    uint64_t bits = bits_at(spot, -1);
    bool complex = dt__is_complex(dtype);
    if (dt__is_integral(dtype))
        return (dt__element){.i = integer_at(dtype, kind, bits)};
    if (complex && kind > DT__VALUES_POSITIVE)
        kind = DT__VALUES_MIXED;
    return (dt__element){.re = number_at(dtype, kind, bits),
                         .im = complex ? number_at(dtype, kind, bits_at(spot, -2)) : 0};
}

int64_t dt__trial_index(const dt__element_id *spot, int64_t n) { return (int64_t)(bits_at(spot, -1) % (uint64_t)n); }

/* The rank that holds the max or min, or a value that is not finite. */
static int holder(const dt__element_id *spot, int n) { return (int)(bits_at(spot, -3) % (uint64_t)n); }

static dt__element add_scaled(dt__element a, double factor, dt__element b) {
    return (dt__element){.re = a.re + factor * b.re, .im = a.im + factor * b.im};
}

static dt__element part_of_sum(dt_dtype dtype, double times, const dt__element_id *spot, dt__element value, int n,
                               int r) {
    dt__element rest = add_scaled((dt__element){0}, times, value);
    bool finite = isfinite(value.re) && isfinite(value.im);
    int last = finite ? n - 1 : holder(spot, n);
    for (int other = 0; other < n; other++) {
        uint64_t bits = bits_at(spot, other);
        dt__element part = {.re = small(dtype, bits, 2),
                            .im = dt__is_complex(dtype) ? small(dtype, bits >> 20, 2) : 0};
        if (other == last)
            continue;
        if (other == r)
            return part;
        rest = add_scaled(rest, -1, part);
    }
    return rest;
}

static dt__element part_of_product(dt_dtype dtype, const dt__element_id *spot, dt__element value, int n, int r) {
    dt__element rest = value;
    for (int other = 0; other < n - 1; other++) {
        uint64_t bits = bits_at(spot, other);
        double factor = (bits & 1 ? -1 : 1) * (bits & 2 ? 2 : 0.5);
        bool turn = dt__is_complex(dtype) && bits & 4;
        if (other == r)
            return turn ? (dt__element){.im = factor} : (dt__element){.re = factor};
        rest = turn ? (dt__element){.re = rest.im / factor, .im = -rest.re / factor}
                    : (dt__element){.re = rest.re / factor, .im = rest.im / factor};
    }
    return rest;
}

static dt__element part_of_extreme(dt_dtype dtype, dt_reduce reduce, dt__partial_style style,
                                   const dt__element_id *spot, dt__element value, int n, int r) {
    double way = reduce == DT_MAX ? -1 : 1;
    uint64_t bits = bits_at(spot, r);
    if (r == holder(spot, n))
        return value;
    if (style == DT__STYLE_IDENTITY)
        return (dt__element){.re = way * (double)INFINITY};
    double beyond = fabs(small(dtype, bits, 2)) + (bits >> 50 & 1 ? 16 : 0);
    if (isnan(value.re)) /* any number, as NaN propagates */
        return (dt__element){.re = small(dtype, bits, 2)};
    if (bits >> 52 & 1)
        beyond = 0; /* a tie */
    return (dt__element){.re = isinf(value.re) && (value.re > 0) == (way < 0) ? small(dtype, bits, 2)
                                                                              : value.re + way * beyond};
}

static int64_t bool_part(dt_reduce reduce, dt__partial_style style, const dt__element_id *spot, int64_t value, int n,
                         int r) {
    bool any = reduce == DT_SUM || reduce == DT_MAX;
    if ((value != 0) != any)
        return value; /* the same on all ranks */
    if (r == holder(spot, n))
        return value;
    return style == DT__STYLE_IDENTITY ? !value : (int64_t)(bits_at(spot, r) & 1);
}

static int64_t integer_extreme(dt_dtype dtype, dt_reduce reduce, dt__partial_style style, const dt__element_id *spot,
                               int64_t value, int n, int r) {
    int64_t low, high, beyond = (int64_t)(bits_at(spot, r) % 20);
    dt__integer_limits(dtype, &low, &high);
    if (r == holder(spot, n))
        return value;
    if (reduce == DT_MAX)
        return style == DT__STYLE_IDENTITY || value < low + beyond ? low : value - beyond;
    return style == DT__STYLE_IDENTITY || value > high - beyond ? high : value + beyond;
}

/* Terms of sums have any size: they wrap around. */
static int64_t integer_sum(const dt__element_id *spot, int64_t value, int n, int r) {
    uint64_t rest = (uint64_t)value;
    for (int other = 0; other < n - 1; other++) {
        if (other == r)
            return (int64_t)bits_at(spot, other);
        rest -= bits_at(spot, other);
    }
    return (int64_t)rest;
}

/* Terms of an average do not, and the remainder is dropped. */
static int64_t integer_average(dt_dtype dtype, const dt__element_id *spot, int64_t value, int n, int r) {
    int64_t over = (int64_t)(bits_at(spot, -4) % (uint64_t)n), rest = value * n + (value < 0 ? -over : over);
    for (int other = 0; other < n - 1; other++) {
        uint64_t bits = bits_at(spot, other);
        int64_t part = dt__is_unsigned(dtype) ? (int64_t)(bits % (uint64_t)(value + 1)) : 1 + (int64_t)(bits % 3);
        if (other == r)
            return part;
        rest -= part;
    }
    return rest;
}

/* Signs; zero is also made of factors whose product wraps around to 0. */
static int64_t integer_product(dt_dtype dtype, const dt__element_id *spot, int64_t value, int n, int r) {
    int bits_in_all = (int)dt_dtype_size(dtype) * 8, half = bits_in_all / 2;
    if (value == 0 && bits_at(spot, -4) & 1)
        return r == 0 ? (int64_t)1 << half : r == n - 1 ? (int64_t)1 << (bits_in_all - half) : 1;
    int64_t rest = value;
    for (int other = 0; other < n - 1; other++) {
        int64_t part = bits_at(spot, other) & 1 && !dt__is_unsigned(dtype) ? -1 : 1;
        if (other == r)
            return part;
        rest *= part;
    }
    return rest;
}

static int64_t integer_part(dt_dtype dtype, dt_reduce reduce, const dt__element_id *spot, int64_t value, int n,
                            int r) {
    if (reduce == DT_AVG)
        return integer_average(dtype, spot, value, n, r);
    return reduce == DT_PRODUCT ? integer_product(dtype, spot, value, n, r) : integer_sum(spot, value, n, r);
}

/* As each rank makes it from a Replicate input. */
static dt__element part_from_replicate(dt_reduce reduce, dt__element value, int r) {
    if (r == 0 || (reduce != DT_SUM && reduce != DT_PRODUCT))
        return value;
    return reduce == DT_SUM ? (dt__element){0} : (dt__element){.i = 1, .re = 1};
}

dt__element dt__partial_value(dt_dtype dtype, dt_reduce reduce, dt__partial_style style, const dt__element_id *spot,
                              dt__element value, int n, int r) {
    bool extreme = reduce == DT_MIN || reduce == DT_MAX;
    if (n == 1)
        return value;
    if (style == DT__STYLE_FROM_REPLICATE)
        return part_from_replicate(reduce, value, r);
    if (dtype == DT_BOOL)
        return (dt__element){.i = bool_part(reduce, style, spot, value.i, n, r)};
    if (dt__is_integral(dtype))
        return (dt__element){.i = extreme ? integer_extreme(dtype, reduce, style, spot, value.i, n, r)
                                          : integer_part(dtype, reduce, spot, value.i, n, r)};
    if (extreme)
        return part_of_extreme(dtype, reduce, style, spot, value, n, r);
    if (reduce == DT_PRODUCT)
        return part_of_product(dtype, spot, value, n, r);
    return part_of_sum(dtype, reduce == DT_AVG ? n : 1, spot, value, n, r);
}
