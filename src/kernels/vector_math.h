/* SPDX-License-Identifier: Apache-2.0
 *
 * The vector mathematics of all kernels, random numbers included: functions of one element without branches, so that
 * loops over them become vector loops, with the same bits in every instruction set. Most functions of f32 are computed
 * in f64 and rounded once, which makes their error at most 0.51 ULP; the most used ones (exp, sigmoid, silu, erf and
 * both forms of gelu) are computed in f32, twice as fast, with a few ULP, as sigmoid, silu and gelu of f64 have. tests/
 * kernels/test_maths.c states the bound of each; docs/performance.md compares them with SLEEF.
 */
#ifndef DT_KERNELS_VECTOR_MATH_H
#define DT_KERNELS_VECTOR_MATH_H

#include "kernels/polynomials.h"

#include <math.h>

/* Adding it to a number below 2^51 rounds that to an integer, which is then in the low bits. */
#define ROUNDER      0x1.8p52
#define ROUNDER_F32  0x1.8p23f /* the same for f32, below 2^22 */
#define LOG2_E       0x1.71547652b82fep0
#define LN2          0x1.62e42fefa39efp-1
#define LN2_HIGH     0x1.62e42feep-1 /* times an integer below 2^20 is exact */
#define LN2_LOW      0x1.a39ef35793c76p-33
#define LN2_HIGH_F32 0x1.63p-1f
#define LN2_LOW_F32  -0x1.bd0106p-13f
#define SQRT_HALF    0.70710678118654752440
#define SQRT_2_PI    0.79788456080286535588 /* sqrt(2 / pi) */
#define INV_SQRT_2PI 0.39894228040143267794 /* 1 / sqrt(2 pi) */

/* Half of pi in three parts; the first two are exact times an integer below 2^20. */
#define HALF_PI_1      0x1.921fb544p0
#define HALF_PI_2      0x1.0b4611a6p-34
#define HALF_PI_3      0x1.3198a2e037073p-69
#define TWO_OVER_PI    0x1.45f306dc9c883p-1
#define NEAR_ANGLE_MAX 1e6 /* larger arguments of sin and cos are reduced with more bits of pi */

DT__INLINE double nearest_integer(double x) { return (x + ROUNDER) - ROUNDER; }

/* 2^n for an integer n from -1023 to 1024; the first is 0 and the last infinity. */
DT__INLINE double power_of_two(double n) { return dt__f64_from_bits(dt__f64_bits(n + (ROUNDER + 1023)) << 52); }

DT__INLINE double magnitude_of(double x) { return dt__f64_from_bits(dt__f64_bits(x) & ~(1ull << 63)); }
DT__INLINE double with_sign_of(double size, double x) {
    return dt__f64_from_bits(dt__f64_bits(size) | (dt__f64_bits(x) & (1ull << 63)));
}
/* NaN stays NaN. */
DT__INLINE double limit_above(double x, double most) { return x > most ? most : x; }
DT__INLINE double limit_below(double x, double least) { return x < least ? least : x; }

/* Integers below 2^52, and below 2^53, as doubles, without the conversion that only AVX-512 has: they are put into the
 * fractions of 2^52 and 2^84, which are then subtracted. */
DT__INLINE double u52_to_f64(uint64_t x) { return dt__f64_from_bits(x | 0x4330000000000000u) - 0x1p52; }
DT__INLINE double u53_to_f64(uint64_t x) {
    return (dt__f64_from_bits((x >> 32) | 0x4530000000000000u) - 0x1p84) + u52_to_f64(x & 0xffffffffu);
}

/* A sum of two doubles; the second is below the last bit of the first. Products that must be exact are split
 * into halves, because fused products are not available everywhere. */
typedef struct double_pair {
    double high, low;
} double_pair;

DT__INLINE double_pair sum_of(double large, double small) {
    double sum = large + small;
    return (double_pair){sum, small - (sum - large)};
}

/* The upper 26 bits. */
DT__INLINE double upper_half(double x) { return dt__f64_from_bits(dt__f64_bits(x) & ~0x7ffffffull); }

DT__INLINE double_pair product_of(double a, double b) {
    double product = a * b, a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1;
    return (double_pair){product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

/* As a f32 needs it: infinite from 2^1023.5 on, and 0 below 2^-1022.5. */
DT__INLINE double exp_short(double x) {
    x = limit_below(limit_above(x, 710), -709.2);
    double n = nearest_integer(x * LOG2_E), r = x - n * LN2;
    return (1 + (r + r * r * exp_rest_short(r))) * power_of_two(n);
}

DT__INLINE double exp_long(double x) {
    x = limit_below(limit_above(x, 710), -750);
    double n = nearest_integer(x * LOG2_E), half = nearest_integer(n * 0.5);
    double r = (x - n * LN2_HIGH) - n * LN2_LOW;
    /* In two steps, because 2^n alone may be out of range where the result is not. */
    return (1 + (r + r * r * exp_rest_long(r))) * power_of_two(half) * power_of_two(n - half);
}

/* e^x - 1, for x from 0 to 100. */
DT__INLINE double expm1_short(double x) {
    double n = nearest_integer(x * LOG2_E), r = x - n * LN2, power = power_of_two(n);
    return power * (r + r * r * exp_rest_short(r)) + (power - 1);
}
DT__INLINE double expm1_long(double x) {
    double n = nearest_integer(x * LOG2_E), r = (x - n * LN2_HIGH) - n * LN2_LOW, power = power_of_two(n);
    return power * (r + r * r * exp_rest_long(r)) + (power - 1);
}

DT__INLINE double tanh_short(double x) {
    double e = expm1_short(2 * limit_above(magnitude_of(x), 22));
    return with_sign_of(e / (e + 2), x);
}
DT__INLINE double tanh_long(double x) {
    double e = expm1_long(2 * limit_above(magnitude_of(x), 22));
    return with_sign_of(e / (e + 2), x);
}

/* x = m 2^exponent with m from sqrt(1/2) to sqrt(2), for normal positive x. */
typedef struct split {
    double m, exponent;
} split;

DT__INLINE split split_of(double x) {
    const uint64_t root = 0x3fe6a09e00000000, one = 0x3ff0000000000000;
    uint64_t bits = dt__f64_bits(x) + (one - root);
    double exponent = dt__f64_from_bits((bits >> 52) | dt__f64_bits(0x1p52)) - (0x1p52 + 1023);
    return (split){dt__f64_from_bits((bits & 0x000fffffffffffff) + root), exponent};
}

DT__INLINE double log_of_special(double x, double otherwise) {
    double y = x == INFINITY ? x : otherwise;
    y = x == 0 ? -INFINITY : y;
    y = x < 0 ? NAN : y;
    return x == x ? y : x;
}

/* A subnormal f32 is a normal double. */
DT__INLINE double log_short(double x) {
    split p = split_of(x);
    double s = (p.m - 1) / (p.m + 1), z = s * s;
    return log_of_special(x, p.exponent * LN2 + (2 * s + s * z * log_rest_short(z)));
}

DT__INLINE double log_long(double x) {
    double is_small = x < 0x1p-1022 ? 1 : 0;
    split p = split_of(is_small != 0 ? x * 0x1p54 : x);
    double exponent = p.exponent - 54 * is_small;
    double f = p.m - 1, s = f / (2 + f), z = s * s, half_square = 0.5 * f * f;
    /* 2 s is f - f^2/2 + s f^2/2: written so, the large terms are exact. */
    double rest = s * (half_square + z * log_rest_long(z)) + exponent * LN2_LOW;
    return log_of_special(x, exponent * LN2_HIGH - ((half_square - rest) - f));
}

DT__INLINE double erf_short(double x) {
    double size = limit_above(magnitude_of(x), 6), z = size * size;
    double near = size * erf_near_short(z);
    double far = 1 - exp_short(-z) * erf_far_short((size - 2) / (size + 2));
    return with_sign_of(size > 1 ? far : near, x);
}

DT__INLINE double erf_long(double x) {
    double size = limit_above(magnitude_of(x), 6), z = size * size;
    double near = size * erf_near_long(z);
    double far = 1 - exp_long(-z) * erf_far_long((size - 3) / (size + 3));
    return with_sign_of(size > 1 ? far : near, x);
}

/* An angle minus its nearest multiple of a quarter turn: the rest, from -pi/4 to pi/4, in two parts, and that multiple
 * modulo 4. */
typedef struct reduced_angle {
    double rest, low;
    uint64_t quarters;
} reduced_angle;

/* As f32 needs it: the low part is not computed. */
DT__INLINE reduced_angle reduce_angle_short(double x) {
    double rounded = x * TWO_OVER_PI + ROUNDER, n = rounded - ROUNDER;
    return (reduced_angle){((x - n * HALF_PI_1) - n * HALF_PI_2) - n * HALF_PI_3, 0, dt__f64_bits(rounded) & 3};
}

DT__INLINE reduced_angle reduce_angle(double x) {
    double rounded = x * TWO_OVER_PI + ROUNDER, n = rounded - ROUNDER;
    double_pair r = sum_of(x - n * HALF_PI_1, -(n * HALF_PI_2));
    double low = r.low - n * HALF_PI_3, rest = r.high + low;
    return (reduced_angle){rest, (r.high - rest) + low, dt__f64_bits(rounded) & 3};
}

/* 2/pi in 32-bit digits, after two zeros. */
static const uint32_t two_over_pi[] = {
    0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
    0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b,
    0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea,
    0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20,
};

/* For arguments above NEAR_ANGLE_MAX, after Payne and Hanek: x = m 2^e times the 192 bits of 2/pi that begin with the
 * weight 2^(1 - e), modulo 4. Earlier bits make multiples of 4; later ones are below 2^-138. A vector may have other
 * arguments in some lanes, whose result is not used: they read the first digits. */
DT__INLINE reduced_angle reduce_far_angle(double x) {
    const uint64_t bits = dt__f64_bits(x), digit = 0xffffffff;
    const uint64_t exponent = bits >> 52 & 0x7ff, least = 1023 + 52 - 62;
    const uint64_t is_finite = 0 - (uint64_t)(exponent < 0x7ff), is_far = 0 - (uint64_t)(exponent >= least);
    const uint64_t at = (exponent - least) & is_finite & is_far, first = at >> 5, shift = 32 - (at & 31);
    const uint64_t m = (bits & 0xfffffffffffff) | 1ull << 52, m_low = m & digit, m_high = m >> 32;
    uint64_t d[7], p[6], carry = 0;
    for (int i = 0; i < 7; i++)
        d[i] = two_over_pi[first + (uint64_t)i];
    for (int i = 0; i < 6; i++)
        d[i] = (d[i] << 32 | d[i + 1]) >> shift & digit;
    for (int i = 5; i >= 0; i--, carry >>= 32) {
        carry += m_low * d[i];
        p[i] = carry & digit;
    }
    carry = 0;
    for (int i = 4; i >= 0; i--, carry >>= 32) {
        carry += m_high * d[i + 1] + p[i];
        p[i] = carry & digit;
    }
    /* p[0] counts 2^-30 quarters; the nearest integer is taken off. */
    const uint64_t quarters = (p[0] + (1u << 29)) >> 30 & 3;
    const double a = (double)(int32_t)(uint32_t)(p[0] - (quarters << 30)) * 0x1p-30;
    double_pair f = sum_of(a, u52_to_f64(p[1]) * 0x1p-62);
    const double_pair g =
        sum_of(u52_to_f64(p[2]) * 0x1p-94, u52_to_f64(p[3]) * 0x1p-126 + u52_to_f64(p[4]) * 0x1p-158);
    const double_pair h = sum_of(f.high, g.high);
    f = sum_of(h.high, h.low + (f.low + g.low));
    const double_pair product = product_of(f.high, 0x1.921fb54442d18p0);
    const double_pair r =
        sum_of(product.high, product.low + (f.high * 0x1.1a62633145c07p-54 + f.low * 0x1.921fb54442d18p0));
    const double sign = with_sign_of(1, x);
    return (reduced_angle){is_finite ? sign * r.high : (double)NAN, sign * r.low,
                           (bits >> 63 ? 0 - quarters : quarters) & 3};
}

/* The sine of the rest after an even number of quarters, its cosine after an odd one, minus after two more. */
DT__INLINE double sine_of(uint64_t quarters, double sine, double cosine) {
    uint64_t odd = 0 - (quarters & 1), bits = (dt__f64_bits(cosine) & odd) | (dt__f64_bits(sine) & ~odd);
    return dt__f64_from_bits(bits ^ (quarters & 2) << 62);
}

/* The sum loses the sign of zero, which is put back. */
DT__INLINE double sine_short(reduced_angle a, uint64_t turn) {
    double z = a.rest * a.rest;
    return sine_of(a.quarters + turn, with_sign_of(a.rest + a.rest * z * sin_rest_short(z), a.rest),
                   1 - 0.5 * z + z * z * cos_rest_short(z));
}
DT__INLINE double sine_long(reduced_angle a, uint64_t turn) {
    double z = a.rest * a.rest, half = 0.5 * z, most = 1 - half;
    double sine = a.rest + (a.rest * z * sin_rest_long(z) + a.low);
    double cosine = most + ((1 - most - half) + (z * z * cos_rest_long(z) - a.rest * a.low));
    return sine_of(a.quarters + turn, with_sign_of(sine, a.rest), cosine);
}

DT__INLINE float nearest_integer_f32(float x) { return (x + ROUNDER_F32) - ROUNDER_F32; }
/* For an integer n from -126 to 127. */
DT__INLINE float power_of_two_f32(float n) { return dt__f32_from_bits(dt__f32_bits(n + (ROUNDER_F32 + 127)) << 23); }

DT__INLINE float exp_f32(float x) {
    x = x > 89 ? 89 : x;
    x = x < -104.5f ? -104.5f : x;
    float n = nearest_integer_f32(x * (float)LOG2_E), half = nearest_integer_f32(n * 0.5f);
    float r = (x - n * LN2_HIGH_F32) - n * LN2_LOW_F32;
    return (1 + (r + r * r * exp_rest_f32(r))) * power_of_two_f32(half) * power_of_two_f32(n - half);
}
DT__INLINE double exp_f64(double x) { return exp_long(x); }
/* With fewer operations, for numbers up to 72. By 2^(n + 24), which is a normal number, or infinite from 71.8
 * on, and 2^-24, which rounds where the result is subnormal. */
DT__INLINE float exp_below_f32(float x) {
    x = x < -104 ? -104 : x;
    float n = nearest_integer_f32(x * (float)LOG2_E), r = (x - n * LN2_HIGH_F32) - n * LN2_LOW_F32;
    return ((1 + (r + r * r * exp_rest_f32(r))) * power_of_two_f32(n + 24)) * 0x1p-24f;
}
DT__INLINE double exp_below_f64(double x) { return exp_long(x); }
DT__INLINE float exp_shifted_f32(float x) { return exp_below_f32(x > 72 ? 72 : x); }
DT__INLINE double exp_shifted_f64(double x) { return exp_long(x); }
DT__INLINE float log_f32(float x) { return (float)log_short((double)x); }
DT__INLINE double log_f64(double x) { return log_long(x); }
DT__INLINE float tanh_f32(float x) { return (float)tanh_short((double)x); }
DT__INLINE double tanh_f64(double x) { return tanh_long(x); }
DT__INLINE float erf_f32(float x) {
    uint32_t bits = dt__f32_bits(x);
    float size = dt__f32_from_bits(bits & 0x7fffffff);
    size = size > 6 ? 6 : size;
    float z = size * size, near = size * erf_near_f32(z);
    float far = 1 - exp_f32(-z) * erf_far_f32((size - 2) / (size + 2));
    return dt__f32_from_bits(dt__f32_bits(size > 1 ? far : near) | (bits & 0x80000000));
}
DT__INLINE double erf_f64(double x) { return erf_long(x); }
/* By e^-|x|, which does not overflow. */
DT__INLINE float sigmoid_f32(float x) {
    float e = exp_f32(x < 0 ? x : -x);
    return (x < 0 ? e : 1) / (1 + e);
}
DT__INLINE double sigmoid_f64(double x) {
    double e = exp_long(x < 0 ? x : -x);
    return (x < 0 ? e : 1) / (1 + e);
}
DT__INLINE float silu_f32(float x) {
    float e = exp_f32(x < 0 ? x : -x);
    return (x < 0 ? x * e : x) / (1 + e);
}
DT__INLINE double silu_f64(double x) {
    double e = exp_long(x < 0 ? x : -x);
    return (x < 0 ? x * e : x) / (1 + e);
}

/* s (1 + x (1 - s)), with s = sigmoid(x); 1 - s is sigmoid(-x), so that nothing cancels in it. */
DT__INLINE float silu_slope_f32(float x) {
    float e = exp_f32(x < 0 ? x : -x), large = 1 / (1 + e), small = e * large;
    return (x < 0 ? small : large) * (1 + x * (x < 0 ? large : small));
}
DT__INLINE double silu_slope_f64(double x) {
    double e = exp_long(x < 0 ? x : -x), large = 1 / (1 + e), small = e * large;
    return (x < 0 ? small : large) * (1 + x * (x < 0 ? large : small));
}

/* Arguments up to NEAR_ANGLE_MAX in size are near; the others are far. */
DT__INLINE float sin_near_f32(float x) { return (float)sine_short(reduce_angle_short((double)x), 0); }
DT__INLINE double sin_near_f64(double x) { return sine_long(reduce_angle(x), 0); }
DT__INLINE float cos_near_f32(float x) { return (float)sine_short(reduce_angle_short((double)x), 1); }
DT__INLINE double cos_near_f64(double x) { return sine_long(reduce_angle(x), 1); }
DT__INLINE float sin_far_f32(float x) { return (float)sine_short(reduce_far_angle((double)x), 0); }
DT__INLINE double sin_far_f64(double x) { return sine_long(reduce_far_angle(x), 0); }
DT__INLINE float cos_far_f32(float x) { return (float)sine_short(reduce_far_angle((double)x), 1); }
DT__INLINE double cos_far_f64(double x) { return sine_long(reduce_far_angle(x), 1); }

/* 2^x for x up to 127, by adding the integer part to the exponent; off by at most 2^-126 where it is subnormal, and 0
 * from -127 down. For NaN, any number: its users multiply the result by x. */
DT__INLINE float exp2_below_f32(float x) {
    x = x < -127 ? -127 : x;
    float shifted = x + ROUNDER_F32, n = shifted - ROUNDER_F32;
    return dt__f32_from_bits(dt__f32_bits(exp2_near_f32(x - n)) + (dt__f32_bits(shifted) << 23));
}
DT__INLINE float magnitude_of_f32(float x) { return dt__f32_from_bits(dt__f32_bits(x) & 0x7fffffff); }

/* x N(x) with the normal distribution function N, by its tail: no terms cancel for negative x. */
DT__INLINE float gelu_f32(float x) {
    float u = magnitude_of_f32(x);
    u = u > 16 ? 16 : u;
    float tail = exp2_below_f32(log2_normal_tail_f32(u));
    return x * (x > 0 ? 1 - tail : tail);
}
DT__INLINE double gelu_f64(double x) { return 0.5 * x * (1 + erf_long(x * SQRT_HALF)); }

DT__INLINE double gelu_argument(double x) { return SQRT_2_PI * (x + 0.044715 * x * x * x); }
/* e^(-|2 a(x)|) with a the argument of tanh: x (1 + tanh a(x)) / 2 is x sigmoid(2 a(x)), in which nothing cancels. */
DT__INLINE float gelu_tanh_power_f32(float x) {
    float t = x * ((float)(2 * SQRT_2_PI * LOG2_E) + (float)(2 * SQRT_2_PI * LOG2_E * 0.044715) * (x * x));
    return exp2_below_f32(-magnitude_of_f32(t));
}
DT__INLINE float gelu_tanh_f32(float x) {
    float e = gelu_tanh_power_f32(x);
    return (x < 0 ? x * e : x) / (1 + e);
}
DT__INLINE double gelu_tanh_f64(double x) { return 0.5 * x * (1 + tanh_long(gelu_argument(x))); }

/* Derivatives. */
DT__INLINE float gelu_slope_f32(float x) {
    float power = exp2_below_f32(x * x * (float)(-0.5 * LOG2_E));
    float tail = normal_tail_ratio_f32(1 / (1 + 0x1.1eb852p-2f * magnitude_of_f32(x))) * power;
    return (x > 0 ? 1 - tail : tail) + x * ((float)INV_SQRT_2PI * power);
}
DT__INLINE double gelu_slope_f64(double x) {
    return 0.5 * (1 + erf_long(x * SQRT_HALF)) + x * INV_SQRT_2PI * exp_long(-0.5 * x * x);
}
/* s + 2 x s (1 - s) a'(x) with s = sigmoid(2 a(x)): tanh in its place would cancel for negative arguments. e is
 * e^(-|2 a(x)|). Of f32, the slope is 0 or 1 from 16 on, where squares might overflow later. */
DT__INLINE float gelu_tanh_slope_f32(float x) {
    x = x > 16 ? 16 : x;
    x = x < -16 ? -16 : x;
    float e = gelu_tanh_power_f32(x), large = 1 / (1 + e), small = e * large;
    float inner = (float)(2 * SQRT_2_PI) + (float)(6 * SQRT_2_PI * 0.044715) * (x * x);
    return (x < 0 ? small : large) * (1 + x * (x < 0 ? large : small) * inner);
}
DT__INLINE double gelu_tanh_slope_f64(double x) {
    double e = exp_long(-2 * magnitude_of(gelu_argument(x)));
    double inner = SQRT_2_PI * (1 + 3 * 0.044715 * x * x);
    double large = 1 / (1 + e), small = e * large;
    return (x < 0 ? small : large) * (1 + 2 * x * (x < 0 ? large : small) * inner);
}

/* The functions of random numbers. Their bits are part of the public contract (dtensor/random.h) and never change: a
 * faster or more accurate log, sin or cos must not replace them.
 *
 * random_log: of v = 2^e m with m around 1, as e log 2 + 2 atanh(s), s = (m - 1) / (m + 1), by the series of atanh.
 * random_turn: cos and sin of an angle given as an integer fraction of a turn, so that the reduction to an eighth of a
 * turn is exact, by their series there. The series end where the next term is below half a unit in the last place. */
#define RANDOM_LN2          0.693147180559945309417
#define RANDOM_ANGLE_F32    0x1.921fb54442d18p-30f /* of one step: a quarter turn over 2^30, or over 2^52 */
#define RANDOM_ANGLE_F64    0x1.921fb54442d18p-52
#define RANDOM_SQRT_HALF_32 0x3f3504f3u /* the bits of sqrt(1/2): m is in [sqrt(1/2), sqrt(2)) */
#define RANDOM_SQRT_HALF_64 0x3fe6a09e667f3bcdu

/* [0,1), and the argument of log, in (0,1]. */
DT__INLINE float random_unit_f32(uint32_t w) { return (float)(int32_t)(w >> 8) * 0x1p-24f; }
DT__INLINE double random_unit_f64(uint64_t w) { return u53_to_f64(w >> 11) * 0x1p-53; }
DT__INLINE float random_positive_f32(uint32_t w) { return ((float)(int32_t)(w >> 1) + 0.5f) * 0x1p-31f; }
DT__INLINE double random_positive_f64(uint64_t w) { return (u53_to_f64(w >> 11) + 0.5) * 0x1p-53; }

DT__INLINE float random_log_f32(float v) {
    int32_t e = (int32_t)(dt__f32_bits(v) - RANDOM_SQRT_HALF_32) >> 23;
    float m = dt__f32_from_bits(dt__f32_bits(v) - ((uint32_t)e << 23));
    float s = (m - 1) / (m + 1), x = s * s;
    float series = ((2 / 9.0f * x + 2 / 7.0f) * x + 2 / 5.0f) * x + 2 / 3.0f;
    return (float)e * (float)RANDOM_LN2 + (s + s + s * (x * series));
}

/* The biased exponent is never negative, so that no instruction set needs an arithmetic shift of 64 bits. */
DT__INLINE double random_log_f64(double v) {
    uint64_t e = (dt__f64_bits(v) + (0x3ff0000000000000u - RANDOM_SQRT_HALF_64)) >> 52;
    double m = dt__f64_from_bits(dt__f64_bits(v) - (e << 52) + 0x3ff0000000000000u);
    double s = (m - 1) / (m + 1), x = s * s, y = 2 / 23.0;
    y = y * x + 2 / 21.0;
    y = y * x + 2 / 19.0;
    y = y * x + 2 / 17.0;
    y = y * x + 2 / 15.0;
    y = y * x + 2 / 13.0;
    y = y * x + 2 / 11.0;
    y = y * x + 2 / 9.0;
    y = y * x + 2 / 7.0;
    y = y * x + 2 / 5.0;
    y = y * x + 2 / 3.0;
    return (u52_to_f64(e) - 1023.0) * RANDOM_LN2 + (s + s + s * (x * y));
}

typedef struct cos_sin_f32 {
    float cos, sin;
} cos_sin_f32;

/* The angle is w / 2^32 turns. */
DT__INLINE cos_sin_f32 random_turn_f32(uint32_t w) {
    uint32_t shifted = w + (1u << 29), quadrant = shifted >> 30, odd = 0 - (quadrant & 1);
    float angle = (float)((int32_t)(shifted & 0x3fffffff) - (1 << 29)) * RANDOM_ANGLE_F32, x = angle * angle;
    float sine = angle + angle * (x * (((1 / 362880.0f * x - 1 / 5040.0f) * x + 1 / 120.0f) * x - 1 / 6.0f));
    float cosine = 1 + x * (((1 / 40320.0f * x - 1 / 720.0f) * x + 1 / 24.0f) * x - 1 / 2.0f);
    uint32_t s = dt__f32_bits(sine), c = dt__f32_bits(cosine);
    uint32_t first = (odd & s) | (~odd & c), second = (odd & c) | (~odd & s);
    return (cos_sin_f32){dt__f32_from_bits(first ^ ((quadrant + 1) & 2) << 30),
                         dt__f32_from_bits(second ^ (quadrant & 2) << 30)};
}

typedef struct cos_sin_f64 {
    double cos, sin;
} cos_sin_f64;

/* The angle is w / 2^64 turns. */
DT__INLINE cos_sin_f64 random_turn_f64(uint64_t w) {
    uint64_t shifted = w + (1ull << 61), quadrant = shifted >> 62, odd = 0 - (quadrant & 1);
    double angle = (u52_to_f64(shifted << 2 >> 12) - 0x1p51) * RANDOM_ANGLE_F64, x = angle * angle;
    double p = -1 / 1307674368000.0, q = 1 / 20922789888000.0;
    p = p * x + 1 / 6227020800.0;
    p = p * x - 1 / 39916800.0;
    p = p * x + 1 / 362880.0;
    p = p * x - 1 / 5040.0;
    p = p * x + 1 / 120.0;
    p = p * x - 1 / 6.0;
    q = q * x - 1 / 87178291200.0;
    q = q * x + 1 / 479001600.0;
    q = q * x - 1 / 3628800.0;
    q = q * x + 1 / 40320.0;
    q = q * x - 1 / 720.0;
    q = q * x + 1 / 24.0;
    q = q * x - 1 / 2.0;
    uint64_t s = dt__f64_bits(angle + angle * (x * p)), c = dt__f64_bits(1 + x * q);
    uint64_t first = (odd & s) | (~odd & c), second = (odd & c) | (~odd & s);
    return (cos_sin_f64){dt__f64_from_bits(first ^ ((quadrant + 1) & 2) << 62),
                         dt__f64_from_bits(second ^ (quadrant & 2) << 62)};
}

#endif
