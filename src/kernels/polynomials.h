/* SPDX-License-Identifier: Apache-2.0
 *
 * The polynomials of functions.h: Chebyshev fits, computed with 60 digits and rounded. "Short" ones serve f32, whose
 * values are computed in double; "long" ones serve f64. The stated error holds for the rounded coefficients.
 */
#ifndef DT_KERNELS_POLYNOMIALS_H
#define DT_KERNELS_POLYNOMIALS_H

#include "kernels/element_types.h"

/* (e^r - 1 - r) / r^2 for |r| up to ln(2)/2; off by 1.4e-9 at most. */
DT__INLINE double exp_rest_short(double r) {
    double y = 0x1.a124e4145af9fp-13;
    y = y * r + 0x1.6d43152c31aa9p-10;
    y = y * r + 0x1.1110e0f719b4bp-7;
    y = y * r + 0x1.5554e9113266fp-5;
    y = y * r + 0x1.5555555a78252p-3;
    y = y * r + 0x1.0000000b8f674p-1;
    return y;
}

/* The longer form; off by 2.6e-18 at most. */
DT__INLINE double exp_rest_long(double r) {
    double y = 0x1.1f72fc848c527p-29;
    y = y * r + 0x1.af4ddda32bea9p-26;
    y = y * r + 0x1.27e4db67abc75p-22;
    y = y * r + 0x1.71de0237479e4p-19;
    y = y * r + 0x1.a01a01a6d7833p-16;
    y = y * r + 0x1.a01a01abe6327p-13;
    y = y * r + 0x1.6c16c16c162d6p-10;
    y = y * r + 0x1.11111111100dfp-7;
    y = y * r + 0x1.5555555555556p-5;
    y = y * r + 0x1.5555555555557p-3;
    y = y * r + 0x1p-1;
    return y;
}

/* 2 (atanh(s)/s - 1) / s^2 of z = s^2, for s up to (sqrt(2) - 1) / (sqrt(2) + 1); off by 1.1e-9 at most. */
DT__INLINE double log_rest_short(double z) {
    double y = 0x1.ddcee66d5b7c3p-3;
    y = y * z + 0x1.245c433ab58b7p-2;
    y = y * z + 0x1.9999eb5e28627p-2;
    y = y * z + 0x1.5555554bb2993p-1;
    return y;
}

/* The longer form; off by 3.7e-17 at most. */
DT__INLINE double log_rest_long(double z) {
    double y = 0x1.0c03af318d9a9p-3;
    y = y * z + 0x1.0fbe940847ce7p-3;
    y = y * z + 0x1.3b1c356bd77a5p-3;
    y = y * z + 0x1.745cf9043c834p-3;
    y = y * z + 0x1.c71c720159da5p-3;
    y = y * z + 0x1.2492492476cc5p-2;
    y = y * z + 0x1.9999999999a38p-2;
    y = y * z + 0x1.5555555555555p-1;
    return y;
}

/* erf(x) / x of z = x^2, for x up to 1; off by 1.2e-9 at most. */
DT__INLINE double erf_near_short(double z) {
    double y = 0x1.4a5690869d13fp-14;
    y = y * z + -0x1.a45087f1a200ap-11;
    y = y * z + 0x1.541270c79ca2cp-8;
    y = y * z + -0x1.b7faba961c85ap-6;
    y = y * z + 0x1.ce2d10ed44e09p-4;
    y = y * z + -0x1.81273e7a02443p-2;
    y = y * z + 0x1.20dd74fece72p0;
    return y;
}

/* The longer form; off by 1.6e-17 at most. */
DT__INLINE double erf_near_long(double z) {
    double y = 0x1.05ffd737fb32ep-34;
    y = y * z + -0x1.389d4f2641625p-30;
    y = y * z + 0x1.f7b4bf3b13964p-27;
    y = y * z + -0x1.5f1ecb6f0764cp-23;
    y = y * z + 0x1.b9df224ca4b97p-20;
    y = y * z + -0x1.f4d1e3183f7aep-17;
    y = y * z + 0x1.f9a321d5b8e1ep-14;
    y = y * z + -0x1.c02db3dac435fp-11;
    y = y * z + 0x1.565bcd0dbaa38p-8;
    y = y * z + -0x1.b82ce31284ep-6;
    y = y * z + 0x1.ce2f21a042b3p-4;
    y = y * z + -0x1.812746b0379e6p-2;
    y = y * z + 0x1.20dd750429b6dp0;
    return y;
}

/* (1 - erf(x)) e^(x^2) of t = (x - 2) / (x + 2), for x from 1 to 6; off by 1.7e-9 at most. */
DT__INLINE double erf_far_short(double t) {
    double y = -0x1.bbffbe7fbceedp-11;
    y = y * t + -0x1.bbf2bf3d5ec6bp-11;
    y = y * t + 0x1.c904a00c3fb32p-8;
    y = y * t + 0x1.e95f0e0896117p-9;
    y = y * t + -0x1.437d8b7cc2a3ep-4;
    y = y * t + 0x1.eeea7a235ca2bp-3;
    y = y * t + -0x1.b570367594a1dp-2;
    y = y * t + 0x1.058671b5f9068p-2;
    return y;
}

/* (1 - erf(x)) e^(x^2) of t = (x - 3) / (x + 3), for x from 1 to 6; off by 1.9e-17 at most. */
DT__INLINE double erf_far_long(double t) {
    double y = 0x1.57a5fe2b9b75ep-20;
    y = y * t + 0x1.0f9a79cee3e31p-19;
    y = y * t + -0x1.0cb4611cc29f6p-17;
    y = y * t + -0x1.af2329d757293p-17;
    y = y * t + 0x1.0cb1db32e0c9fp-14;
    y = y * t + 0x1.7b9fc8eb630e9p-15;
    y = y * t + -0x1.39085a31b18abp-11;
    y = y * t + 0x1.73101ea8fe252p-11;
    y = y * t + 0x1.17c838fea5806p-8;
    y = y * t + -0x1.8fa58eb5bd68fp-6;
    y = y * t + 0x1.258b13b0139fep-4;
    y = y * t + -0x1.336ffbef08cbbp-3;
    y = y * t + 0x1.f6ff20410599bp-3;
    y = y * t + -0x1.4e102b9cf8512p-2;
    y = y * t + 0x1.6e9827d229d2dp-3;
    return y;
}

/* (sin(x)/x - 1) / x^2 of z = x^2, for |x| up to pi/4; off by 2.8e-11 at most. */
DT__INLINE double sin_rest_short(double z) {
    double y = 0x1.6dbe0588322e6p-19;
    y = y * z + -0x1.a013a78b6dd37p-13;
    y = y * z + 0x1.11110def27f81p-7;
    y = y * z + -0x1.555555545e084p-3;
    return y;
}

/* The longer form; off by 9.3e-18 at most. */
DT__INLINE double sin_rest_long(double z) {
    double y = -0x1.ab17d1cbf6cbbp-41;
    y = y * z + 0x1.61217f07baf4p-33;
    y = y * z + -0x1.ae645412c09efp-26;
    y = y * z + 0x1.71de3a546092fp-19;
    y = y * z + -0x1.a01a01a019938p-13;
    y = y * z + 0x1.111111111111p-7;
    y = y * z + -0x1.5555555555555p-3;
    return y;
}

/* (cos(x) - 1 + x^2/2) / x^4 of z = x^2, for |x| up to pi/4; off by 2.0e-9 at most. */
DT__INLINE double cos_rest_short(double z) {
    double y = 0x1.9bd898fc7d4f5p-16;
    y = y * z + -0x1.6c12d2ea14d5cp-10;
    y = y * z + 0x1.555554417666p-5;
    return y;
}

/* The longer form; off by 2.3e-18 at most. */
DT__INLINE double cos_rest_long(double z) {
    double y = -0x1.907da16179583p-37;
    y = y * z + 0x1.1eeb68e66c2eap-29;
    y = y * z + -0x1.27e4fa17d757bp-22;
    y = y * z + 0x1.a01a019f4eadfp-16;
    y = y * z + -0x1.6c16c16c16967p-10;
    y = y * z + 0x1.5555555555555p-5;
    return y;
}

/* (atan(q)/q - 1) / q^2 of z = q^2, for |q| up to tan(pi/8); off by 1.9e-17 at most. */
DT__INLINE double atan_rest_long(double z) {
    double y = 0x1.0acd9e91a5a35p-6;
    y = y * z + -0x1.1b311bb48c215p-5;
    y = y * z + 0x1.74dccfb93fff0p-5;
    y = y * z + -0x1.ac7a5a79b3f26p-5;
    y = y * z + 0x1.e19a0bfa3eef9p-5;
    y = y * z + -0x1.110e87b4357d2p-4;
    y = y * z + 0x1.3b1392d519db1p-4;
    y = y * z + -0x1.745d165dc9713p-4;
    y = y * z + 0x1.c71c71c303dbbp-4;
    y = y * z + -0x1.249249248d7dcp-3;
    y = y * z + 0x1.9999999999953p-3;
    y = y * z + -0x1.5555555555555p-2;
    return y;
}

/* The short ones of exp and erf, rounded to f32 for where that is enough. */
DT__INLINE float exp_rest_f32(float r) {
    float y = 0x1.a124e4p-13f;
    y = y * r + 0x1.6d4316p-10f;
    y = y * r + 0x1.1110ep-7f;
    y = y * r + 0x1.5554eap-5f;
    y = y * r + 0x1.555556p-3f;
    y = y * r + 0x1p-1f;
    return y;
}

/* The form for f32. */
DT__INLINE float erf_near_f32(float z) {
    float y = 0x1.4a569p-14f;
    y = y * z + -0x1.a45088p-11f;
    y = y * z + 0x1.54127p-8f;
    y = y * z + -0x1.b7fabap-6f;
    y = y * z + 0x1.ce2d1p-4f;
    y = y * z + -0x1.81273ep-2f;
    y = y * z + 0x1.20dd74p0f;
    return y;
}

/* The form for f32. */
DT__INLINE float erf_far_f32(float t) {
    float y = -0x1.bbffbep-11f;
    y = y * t + -0x1.bbf2cp-11f;
    y = y * t + 0x1.c904ap-8f;
    y = y * t + 0x1.e95f0ep-9f;
    y = y * t + -0x1.437d8cp-4f;
    y = y * t + 0x1.eeea7ap-3f;
    y = y * t + -0x1.b57036p-2f;
    y = y * t + 0x1.058672p-2f;
    return y;
}

/* 2^r for |r| up to 1/2; off by 2.0e-9 at most, relative to it, before rounding. Terms are summed in groups, here
 * and below, so that fewer operations wait for each other: gelu is as fast as they are. */
DT__INLINE float exp2_near_f32(float r) {
    float z = r * r, even = 0x1.41fbbap-13f, odd = 0x1.5f3e54p-10f;
    even = even * z + 0x1.3b2d4cp-7f;
    odd = odd * z + 0x1.c6aee8p-5f;
    even = even * z + 0x1.ebfbdcp-3f;
    odd = odd * z + 0x1.62e43p-1f;
    return (even * z + odd * r) + 1;
}

/* log2 of the normal distribution function of -u, for u from 0 to 16; two to its power is off by 7.6e-9 at most. */
DT__INLINE float log2_normal_tail_f32(float u) {
    float z = u * u, w = z * z;
    float first = (-0x1.ae1f06p-5f * u + -0x1.d639dp-2f) * z + (-0x1.26aedep0f * u + -1);
    float next = (0x1.43f95ep-15f * u + -0x1.7ed46cp-13f) * z + (-0x1.31e9a2p-13f * u + 0x1.cfb2bap-8f);
    return (-0x1.740ed2p-19f * w + next) * w + first;
}

/* The normal distribution function of -u divided by exp(-u^2/2), of t = 1 / (1 + 0x1.1eb852p-2 u), u from 0 on; times
 * that exponential it is off by 9.3e-9 at most. */
DT__INLINE float normal_tail_ratio_f32(float t) {
    float y = -0x1.b16488p-4f;
    y = y * t + 0x1.8f3baep-2f;
    y = y * t + -0x1.e55e96p-3f;
    y = y * t + 0x1.135dep-2f;
    y = y * t + 0x1.147662p-4f;
    y = y * t + 0x1.dd451p-4f;
    return y * t;
}

#endif
