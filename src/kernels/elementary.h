/* SPDX-License-Identifier: Apache-2.0
 *
 * Further elementary functions, without branches, so that loops over them become vector loops: inverse trigonometric
 * and hyperbolic functions, logarithms and exponentials of other bases, erfc. All are computed in f64, and rounded
 * once for f32. tests/kernels/test_maths.c states the bound of each.
 */
#ifndef DT_KERNELS_ELEMENTARY_H
#define DT_KERNELS_ELEMENTARY_H

#include "kernels/complex_math.h"
#include "kernels/power.h"

DT__INLINE double atan2_long(double y, double x) { return any_angle_of((complex_value){x, y}); }
DT__INLINE double atan_long(double x) { return any_angle_of((complex_value){1, x}); }
DT__INLINE double asin_long(double x) { return atan2_long(x, sqrt((1 - x) * (1 + x))); }
DT__INLINE double acos_long(double x) { return atan2_long(sqrt((1 - x) * (1 + x)), x); }

/* e^x - 1; from 700 on e^x, whose square root is in range. */
DT__INLINE double expm1_any(double x) {
    double y = expm1_long(limit_below(limit_above(x, 700), -50)), large = exp_long(x);
    y = x > 700 ? large : y;
    return x == 0 ? x : y;
}

/* By e^(|x|/2), which does not overflow before the result does, and for small x by e^x - 1. */
DT__INLINE double sinh_long(double x) {
    double size = magnitude_of(x), root = exp_long(0.5 * size), large = 0.5 * root * root;
    double e = expm1_long(limit_above(size, 30)), small = 0.5 * (e + e / (e + 1));
    return with_sign_of(size > 30 ? large : small, x);
}
DT__INLINE double cosh_long(double x) {
    double root = exp_long(0.5 * magnitude_of(x));
    return 0.5 * root * root + 0.5 / root / root;
}

/* 1 + x as an exact sum; log_of_pair is its logarithm. */
DT__INLINE double log1p_long(double x) {
    double limited = x > -1 ? x : 0;
    limited = limited < INFINITY ? limited : 0;
    double y = log_of_special(1 + x, log_of_pair(exact_sum_of(1, limited), 0));
    return x == 0 ? x : y;
}

/* log2 of a number in range, else of 1. */
DT__INLINE double_pair log2_in_range(double x) {
    double inside = x > 0 ? x : 1;
    return log2_pair(inside < INFINITY ? inside : 1);
}
DT__INLINE double log2_long(double x) {
    double_pair log = log2_in_range(x);
    return log_of_special(x, log.high + log.low);
}
/* log10 2 in two parts; the first is exact times the head of the logarithm. */
DT__INLINE double log10_long(double x) {
    double_pair log = log2_in_range(x);
    double high = log.high * 0x1.34413p-2, low = log.high * 0x1.427de7fbcc47cp-24 + log.low * 0x1.34413509f79ffp-2;
    return log_of_special(x, high + low);
}
/* The high part has 42 bits. */
DT__INLINE double exp2_long(double x) {
    double limited = limit_below(limit_above(x, 1040), -1100);
    double high = dt__f64_from_bits(dt__f64_bits(limited) & ~0x7ffull);
    return exp2_pair((double_pair){high, limited - high});
}

/* (1 + 2x) e^(x^2) erfc(x) of t = (x - 4) / (x + 4), for x from 0.45 to 28; off by 4.5e-18 at most. */
DT__INLINE double erfc_rest_long(double t) {
    double y = -0x1.70be526c23573p-27;
    y = y * t + -0x1.a5e22cb77c1ecp-27;
    y = y * t + 0x1.c935ed14f9ef4p-24;
    y = y * t + 0x1.2080af3ce8f12p-24;
    y = y * t + -0x1.ba258f4ae94a7p-21;
    y = y * t + 0x1.4177223a40005p-22;
    y = y * t + 0x1.7f2643c92dd4dp-18;
    y = y * t + -0x1.78a2ca33db1ecp-17;
    y = y * t + -0x1.995a3c1460d3ap-16;
    y = y * t + 0x1.3be0d0726b1d5p-13;
    y = y * t + -0x1.a1df1591806ffp-13;
    y = y * t + -0x1.8d4aa11b5bdc2p-11;
    y = y * t + 0x1.49c67268fdc06p-8;
    y = y * t + -0x1.0962387e0d2a4p-6;
    y = y * t + 0x1.3079edf6f5ae3p-5;
    y = y * t + -0x1.0fb06dfe6930bp-4;
    y = y * t + 0x1.7fee004e0ea67p-4;
    y = y * t + -0x1.9ddb23c3e7e3cp-4;
    y = y * t + 0x1.16ecefcfa5541p-4;
    y = y * t + 0x1.f7f5df66fd59ep-7;
    y = y * t + -0x1.1df1ad154a290p-3;
    y = y * t + 0x1.3ba5916e9fd7fp+0;
    return y;
}
/* Up to 1/2 by erf; beyond, the square in the exponent is exact. */
DT__INLINE double erfc_long(double x) {
    double size = limit_below(limit_above(x, 28), 0.45);
    double_pair square = product_of(size, size);
    double e = exp_long(-square.high),
           far = (e - e * square.low) * erfc_rest_long((size - 4) / (size + 4)) / (1 + 2 * size);
    return x > 0.5 ? far : 1 - erf_long(x);
}

/* log(e^x + e^y), by the larger one. */
DT__INLINE double logaddexp_long(double x, double y) {
    double distance = x == y ? 0 : -magnitude_of(x - y), larger = x > y ? x : y;
    larger = x == x ? larger : x;
    return larger + log1p_long(exp_long(distance));
}

/* log(1 + e^(x beta)) / beta; x itself where x beta is above the threshold. */
DT__INLINE double softplus_long(double x, double beta, double threshold) {
    double product = x * beta, y = (limit_below(product, 0) + log1p_long(exp_long(-magnitude_of(product)))) / beta;
    return product > threshold ? x : y;
}

/* x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2); x from 40 on. */
DT__INLINE double mish_long(double x) {
    double e = exp_long(limit_above(x, 40)), n = e * (e + 2);
    return x > 40 ? x : x * (n / (n + 2));
}

#define OF_ONE(name, compute)                                                                                        \
    DT__INLINE float name##_f32(float x) { return (float)compute((double)x); }                                       \
    DT__INLINE double name##_f64(double x) { return compute(x); }
OF_ONE(acos, acos_long)
OF_ONE(asin, asin_long)
OF_ONE(atan, atan_long)
OF_ONE(cosh, cosh_long)
OF_ONE(erfc, erfc_long)
OF_ONE(exp2, exp2_long)
OF_ONE(expm1, expm1_any)
OF_ONE(log10, log10_long)
OF_ONE(log1p, log1p_long)
OF_ONE(log2, log2_long)
OF_ONE(mish, mish_long)
OF_ONE(sinh, sinh_long)
#undef OF_ONE

/* Near and far arguments, as of sine and cosine. */
DT__INLINE double tan_of(reduced_angle a) { return sine_long(a, 0) / sine_long(a, 1); }
DT__INLINE float tan_near_f32(float x) { return (float)tan_of(reduce_angle((double)x)); }
DT__INLINE double tan_near_f64(double x) { return tan_of(reduce_angle(x)); }
DT__INLINE float tan_far_f32(float x) { return (float)tan_of(reduce_far_angle((double)x)); }
DT__INLINE double tan_far_f64(double x) { return tan_of(reduce_far_angle(x)); }

#endif
