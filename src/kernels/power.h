/* SPDX-License-Identifier: Apache-2.0
 *
 * pow and fmod, without branches, so that loops over them become vector loops with the same bits in every instruction
 * set.
 *
 * pow is e^(y log |x|). f32 is computed in f64. For f64 the logarithm is a sum of two doubles with an error below 2^-64
 * of it, so that the error before the last rounding stays below half a unit and exact powers are exact. fmod is exact:
 * r - q d is computed without rounding for quotients of up to 2^51 (f32, in f64: 2^29); larger ones take several steps.
 */
#ifndef DT_KERNELS_POWER_H
#define DT_KERNELS_POWER_H

#include "kernels/vector_math.h"

DT__INLINE double_pair product_of_pairs(double_pair a, double_pair b) {
    double_pair p = product_of(a.high, b.high);
    return sum_of(p.high, p.low + (a.high * b.low + a.low * b.high));
}

/* sum of 2 / (2k + 5) z^k for z up to 0.02945; off by 1.9e-18 at most. */
DT__INLINE double log_pair_rest(double z) {
    double y = 0x1.e02e6fff27908p-4;
    y = y * z + 0x1.df7cc8e5fa539p-4;
    y = y * z + 0x1.1118c7e4b0917p-3;
    y = y * z + 0x1.3b1395d2190c1p-3;
    y = y * z + 0x1.745d177a96056p-3;
    y = y * z + 0x1.c71c71c6eaa1p-3;
    y = y * z + 0x1.2492492492521p-2;
    y = y * z + 0x1.999999999999ap-2;
    return y;
}

/* log x for finite positive x: with s = (m - 1) / (m + 1), 2 s + s^3 (2/3 + s^2 rest(s^2)). */
DT__INLINE double_pair log_pair(double x) {
    double is_small = x < 0x1p-1022 ? 1 : 0;
    split p = split_of(is_small != 0 ? x * 0x1p54 : x);
    double exponent = p.exponent - 54 * is_small, f = p.m - 1, d = 2 + f, d_low = f - (d - 2);
    double s = f / d;
    double_pair back = product_of(s, d);
    double s_low = (((f - back.high) - back.low) - s * d_low) / d;
    double_pair z = product_of_pairs((double_pair){s, s_low}, (double_pair){s, s_low});
    double rest = log_pair_rest(z.high), w = z.high * rest;
    double_pair c = sum_of(0x1.5555555555555p-1, w);
    c.low += 0x1.5555555555555p-55 + z.low * rest;
    double_pair u = product_of_pairs((double_pair){s, s_low}, product_of_pairs(z, c));
    double_pair m = sum_of(2 * s, u.high);
    double_pair all = sum_of(exponent * LN2_HIGH, m.high);
    return sum_of(all.high, all.low + (m.low + (2 * s_low + u.low) + exponent * LN2_LOW));
}

/* e^(high + low), for high from -800 to 800. */
DT__INLINE double exp_pair(double_pair x) {
    double n = nearest_integer(x.high * LOG2_E), half = nearest_integer(n * 0.5);
    double_pair r = sum_of(x.high - n * LN2_HIGH, x.low - n * LN2_LOW), one = sum_of(1, r.high);
    double y = one.high + (one.low + (r.low + r.high * r.high * exp_rest_long(r.high)));
    return y * power_of_two(half) * power_of_two(n - half);
}

/* C's special cases around |x|^y. Flags are doubles, 0 or 1, and conditions are not short-circuited: the compiler makes
 * vectors of these. */
DT__INLINE double pow_of_special(double x, double y, double power) {
    double size = magnitude_of(y), half = 0.5 * size, minus_one = -1, nan = (double)NAN;
    double is_integer = (size + 0x1p52) - 0x1p52 == size ? 1 : 0;
    is_integer = size >= 0x1p52 ? 1 : is_integer;
    double is_odd = (half + 0x1p52) - 0x1p52 == half ? 0 : is_integer;
    is_odd = size >= 0x1p53 ? 0 : is_odd; /* infinity, too */
    double sign = with_sign_of(1, x), is_finite = x > -INFINITY ? 1 : 0;
    double z = is_odd != 0 ? power * sign : power;
    double invalid = x < 0 ? is_finite : 0;
    invalid = is_integer != 0 ? 0 : invalid;
    z = invalid != 0 ? nan : z;
    double one = y == 0 ? 1 : 0, is_minus_one = x == minus_one ? 1 : 0;
    one = x == 1 ? 1 : one;
    one = size == INFINITY ? one + is_minus_one : one;
    return one != 0 ? 1 : z;
}

DT__INLINE float pow_f32(float x, float y) {
    double base = (double)x, size = magnitude_of(base), exponent = (double)y;
    return (float)pow_of_special(base, exponent, exp_short(exponent * log_long(size)));
}

/* Beyond 2^64 in magnitude, all y have the same result: 0, infinity or, with |x| = 1, 1. */
DT__INLINE double pow_f64(double x, double y) {
    double size = magnitude_of(x), limited = limit_below(limit_above(y, 0x1p64), -0x1p64);
    double inside = size > 0 ? size : 1;
    inside = size < INFINITY ? inside : 1;
    double_pair log = log_pair(inside), power = product_of(limited, log.high);
    power = sum_of(power.high, power.low + limited * log.low);
    double exponent = size == 0 ? -INFINITY * y : power.high;
    exponent = size == INFINITY ? INFINITY * y : exponent;
    double z = exp_pair((double_pair){limit_below(limit_above(exponent, 720), -760), power.low});
    z = exponent > 720 ? (double)INFINITY : z;
    z = exponent < -760 ? 0 : z;
    z = x == x ? z : x;
    return pow_of_special(x, y, y == y ? z : y);
}

/* A quotient that is not negative and below 2^52, without its fraction. */
DT__INLINE double cut_quotient(double q) {
    double nearest = (q + 0x1p52) - 0x1p52;
    return nearest > q ? nearest - 1 : nearest;
}

/* r mod d, exactly, for r >= 0, d > 0 and a quotient below 2^51; r itself if it is below d. The quotient may have been
 * rounded up to the next integer, which makes the rest negative. */
DT__INLINE double mod_step_f64(double r, double d) {
    const double scale = r >= 0x1p1000 ? 0x1p-60 : 1; /* the product must not overflow */
    double dividend = r * scale, divisor = d * scale;
    double_pair p = product_of(cut_quotient(dividend / divisor), divisor);
    double rest = (dividend - p.high) - p.low;
    rest = rest < 0 ? rest + divisor : rest;
    return r < d ? r : rest * (r >= 0x1p1000 ? 0x1p60 : 1);
}

/* The same for numbers of 24 bits and a quotient below 2^29: the product is exact. */
DT__INLINE double mod_step_f32(double r, double d) {
    double q = cut_quotient(r / d), rest = r - q * d;
    rest = rest < 0 ? rest + d : rest;
    return r < d ? r : rest;
}

/* NaN where C's fmod has it: for an infinite dividend and for the divisor 0. */
DT__INLINE double mod_of_special(double x, double y, double rest) {
    return magnitude_of(x) < INFINITY && y != 0 && y == y ? with_sign_of(rest, x) : (double)NAN;
}

/* Whether one step does, and that step. */
DT__INLINE bool is_near_f32(float x, float y) { return magnitude_of((double)x) < magnitude_of((double)y) * 0x1p28; }
DT__INLINE bool is_near_f64(double x, double y) { return magnitude_of(x) < magnitude_of(y) * 0x1p50; }
DT__INLINE float mod_near_f32(float x, float y) {
    return (float)mod_of_special((double)x, (double)y,
                                 mod_step_f32(magnitude_of((double)x), magnitude_of((double)y)));
}
DT__INLINE double mod_near_f64(double x, double y) {
    return mod_of_special(x, y, mod_step_f64(magnitude_of(x), magnitude_of(y)));
}

/* The exponent of a positive number, subnormal or not. */
DT__INLINE double exponent_of(double x) {
    double is_small = x < 0x1p-1022 ? 1 : 0;
    uint64_t bits = dt__f64_bits(is_small != 0 ? x * 0x1p54 : x) >> 52;
    return dt__f64_from_bits(bits | dt__f64_bits(0x1p52)) - (0x1p52 + 1023) - 54 * is_small;
}

/* d 2^k, for k from 0 to 2100. */
DT__INLINE double scale_up(double d, double k) {
    double third = nearest_integer(k * (1 / 3.0));
    return d * power_of_two(third) * power_of_two(third) * power_of_two(k - 2 * third);
}

/* One of several steps: by how much the divisor is scaled up, at least 0, so that the quotient stays in range. */
DT__INLINE double far_scale(double r, double d, double bits) {
    double k = exponent_of(r) - exponent_of(d) - bits;
    return k > 0 && r < INFINITY && d > 0 ? k : 0;
}

#endif
