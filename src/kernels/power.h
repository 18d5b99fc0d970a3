/* SPDX-License-Identifier: Apache-2.0
 *
 * pow and fmod, without branches, so that loops over them become vector loops with the same bits in every instruction
 * set.
 *
 * pow is 2^(y log2 |x|). f32 is computed in f64. For f64 the logarithm is a sum of two doubles, so that the error
 * before the last rounding stays below half a unit and exact powers are exact. fmod is exact: r - q d is computed
 * without rounding for quotients of up to 2^51 (f32, in f64: 2^29); larger ones take several steps.
 */
#ifndef DT_KERNELS_POWER_H
#define DT_KERNELS_POWER_H

#include "kernels/vector_math.h"

/* The upper 21 bits: products of two of these are exact. */
DT__INLINE double head_of(double x) { return dt__f64_from_bits(dt__f64_bits(x) & ~0xffffffffull); }

/* sum of 3 / (2k + 5) z^k for z up to 0.0103; off by 1.0e-16 at most. Here and below, parts of the polynomials are
 * computed side by side, because the operations of one element wait for each other. */
DT__INLINE double log2_rest(double z) {
    double z2 = z * z;
    return (0x1.3333333333332p-1 + 0x1.b6db6db6de8c5p-2 * z) +
           ((0x1.555555476ce06p-2 + 0x1.1745e81d782e9p-2 * z) +
            (0x1.d87c33cd2d6f8p-3 + 0x1.a4de4b8a4d537p-3 * z) * z2) *
               z2;
}

/* exp_rest_long, computed in parts. */
DT__INLINE double exp_pair_rest(double r) {
    double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    double a = (0x1p-1 + 0x1.5555555555557p-3 * r) + (0x1.5555555555556p-5 + 0x1.11111111100dfp-7 * r) * r2;
    double b = (0x1.6c16c16c162d6p-10 + 0x1.a01a01abe6327p-13 * r) +
               (0x1.a01a01a6d7833p-16 + 0x1.71de0237479e4p-19 * r) * r2;
    double c = (0x1.27e4db67abc75p-22 + 0x1.af4ddda32bea9p-26 * r) + 0x1.1f72fc848c527p-29 * r2;
    return a + (b * r4 + c * r8);
}

/* log2 x for finite positive x, as a sum whose first term has 21 bits. x = m 2^exponent with m from sqrt(3)/2 to
 * sqrt(3); with c = 1 or 3/2, whichever is nearer, and s = (m - c) / (m + c) in two parts, log m/c = 2/3 s (3 + s^2 +
 * s^4 rest(s^2)). The head of each product is exact, after fdlibm. */
DT__INLINE double_pair log2_pair(double x) {
    const uint64_t root = 0x3febb67a00000000, one = 0x3ff0000000000000;
    double is_small = x < 0x1p-1022 ? 1 : 0;
    uint64_t bits = dt__f64_bits(is_small != 0 ? x * 0x1p54 : x) + (one - root);
    double exponent = u52_to_f64(bits >> 52) - 1023 - 54 * is_small;
    double m = dt__f64_from_bits((bits & 0x000fffffffffffff) + root);
    double c = m < 0x1.3988e1409212ep0 ? 1 : 1.5;                                        /* sqrt(3/2) */
    double c_head = c == 1 ? 0 : 0x1.2b803p-1, c_low = c == 1 ? 0 : 0x1.1cfdeb43cfdp-23; /* log2 c */
    double f = m - c, d = m + c, inverse = 1 / d, s = f * inverse;
    double s_head = head_of(s), d_head = head_of(d), d_low = m - (d_head - c);
    double s_low = inverse * ((f - s_head * d_head) - s_head * d_low);
    double z = s * s, square = s_head * s_head, rest = z * z * log2_rest(z) + s_low * (s_head + s);
    double t_head = head_of(3 + square + rest), t_low = rest - ((t_head - 3) - square);
    double u = s_head * t_head, v = s_low * t_head + t_low * s, head = head_of(u + v), low = v - (head - u);
    double a = 0x1.ec709p-1 * head, b = 0x1.b87407fae93f8p-22 * head + low * 0x1.ec709dc3a03fdp-1; /* 2 / (3 ln 2) */
    double sum = head_of(a + b + c_head + exponent);
    return (double_pair){sum, b + c_low - (((sum - exponent) - c_head) - a)};
}

/* 2^(high + low), for a high part of 42 bits from -1100 to 1040. */
DT__INLINE double exp2_pair(double_pair x) {
    double n = nearest_integer(x.high + x.low), half = nearest_integer(n * 0.5), fraction = x.high - n;
    double head = head_of(fraction + x.low), low = x.low - (head - fraction);
    double u = head * 0x1.62e4200000000p-1, v = low * LN2 + head * 0x1.fdf473de6af28p-22;
    double_pair r = sum_of(u, v), one = sum_of(1, r.high);
    double y = one.high + (one.low + (r.low + r.high * r.high * exp_pair_rest(r.high)));
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

/* log x of a positive f32, subnormal or not, off by 1e-13 of it at most. */
DT__INLINE double log_for_pow_f32(double x) {
    split p = split_of(x);
    double s = (p.m - 1) / (p.m + 1), z = s * s, z2 = z * z;
    double rest = (0x1.5555555564eb7p-1 + 0x1.999998cae671fp-2 * z) +
                  (0x1.249323f5fe0a4p-2 + 0x1.c67ad18010d25p-3 * z + 0x1.8c8cb725e2db5p-3 * z2) * z2;
    return p.exponent * LN2 + (2 * s + s * z * rest);
}

/* e^x as exp_short has it. */
DT__INLINE double exp_for_pow_f32(double x) {
    x = limit_below(limit_above(x, 710), -709.2);
    double n = nearest_integer(x * LOG2_E), r = x - n * LN2, r2 = r * r;
    double rest = (0x1.0000000b8f674p-1 + 0x1.5555555a78252p-3 * r) +
                  (0x1.5554e9113266fp-5 + 0x1.1110e0f719b4bp-7 * r) * r2 +
                  (0x1.6d43152c31aa9p-10 + 0x1.a124e4145af9fp-13 * r) * (r2 * r2);
    return (1 + (r + r2 * rest)) * power_of_two(n);
}

DT__INLINE float pow_f32(float x, float y) {
    double base = (double)x, size = magnitude_of(base), exponent = (double)y;
    return (float)pow_of_special(base, exponent,
                                 exp_for_pow_f32(exponent * log_of_special(size, log_for_pow_f32(size))));
}

/* Beyond 2^64 in magnitude, all y have the same result: 0, infinity or, with |x| = 1, 1. */
DT__INLINE double pow_f64(double x, double y) {
    double size = magnitude_of(x), limited = limit_below(limit_above(y, 0x1p64), -0x1p64);
    double inside = size > 0 ? size : 1;
    inside = size < INFINITY ? inside : 1;
    double_pair log = log2_pair(inside);
    double y_head = head_of(limited), low = (limited - y_head) * log.high + limited * log.low;
    double high = y_head * log.high, all = high + low;
    double exponent = size == 0 ? -INFINITY * y : all;
    exponent = size == INFINITY ? INFINITY * y : exponent;
    double is_inside = magnitude_of(exponent) < 1100 ? 1 : 0;
    double z = exp2_pair((double_pair){is_inside != 0 ? high : 0, is_inside != 0 ? low : 0});
    z = exponent >= 1100 ? (double)INFINITY : z;
    z = exponent <= -1100 ? 0 : z;
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

/* For numbers of 24 bits and a quotient below 2^29: the product is exact. */
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
