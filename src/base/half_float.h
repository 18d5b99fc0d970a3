/* SPDX-License-Identifier: Apache-2.0
 *
 * The 16-bit floating-point formats f16 (IEEE binary16) and bf16, to and from f32 and f64, and the bits of f32 and f64.
 * Rounding is to nearest, ties to even, once; NaN stays NaN. Every branch is one that a compiler can turn into a
 * selection, so loops over these functions become vector loops, with the same bits in every instruction set.
 */
#ifndef DT_BASE_HALF_FLOAT_H
#define DT_BASE_HALF_FLOAT_H

#include <stdint.h>
#include <string.h>

#define DT__INLINE static inline __attribute__((always_inline))

DT__INLINE uint32_t dt__f32_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}
DT__INLINE float dt__f32_from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
DT__INLINE uint64_t dt__f64_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}
DT__INLINE double dt__f64_from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

DT__INLINE float dt__bf16_to_f32(uint16_t h) { return dt__f32_from_bits((uint32_t)h << 16); }

DT__INLINE float dt__f16_to_f32(uint16_t h) {
    const uint32_t exponent_step = 1u << 23, infinity = 0x7c00u << 13;
    uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13; /* exponent and fraction at their f32 positions */
    uint32_t normal = magnitude + (127 - 15) * exponent_step;
    uint32_t special = magnitude + (255 - 31) * exponent_step;
    /* A subnormal has no hidden bit: add one, and subtract it in floating point, which normalizes. */
    float subnormal = dt__f32_from_bits(normal + exponent_step) - dt__f32_from_bits((127 - 14) * exponent_step);
    uint32_t bits = magnitude < exponent_step ? dt__f32_bits(subnormal) : magnitude >= infinity ? special : normal;
    return dt__f32_from_bits(bits | (uint32_t)(h & 0x8000) << 16);
}

DT__INLINE uint16_t dt__f32_to_bf16(float x) {
    uint32_t bits = dt__f32_bits(x);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

DT__INLINE uint16_t dt__f32_to_f16(float x) {
    const uint32_t exponent_step = 1u << 23;
    uint32_t bits = dt__f32_bits(x), magnitude = bits & 0x7fffffff;
    /* Half of the last kept bit, minus one if the last kept bit is even: ties stay with the even one. */
    uint32_t normal = (magnitude - (127 - 15) * exponent_step + 0xfff + (magnitude >> 13 & 1)) >> 13;
    /* The last bit of 0.5f is worth as much as the last bit of a subnormal f16, so the addition rounds. */
    uint32_t subnormal = dt__f32_bits(dt__f32_from_bits(magnitude) + 0.5f) - dt__f32_bits(0.5f);
    uint32_t h = magnitude < (127 - 14) * exponent_step ? subnormal : normal;
    h = magnitude >= (127 + 16) * exponent_step ? 0x7c00 : h;
    h = magnitude > 0x7f800000 ? 0x7e00 : h;
    return (uint16_t)(h | (bits >> 16 & 0x8000));
}

/* To f32 toward zero, with the last bit set if that was inexact ("round to odd"): rounding the result again, to a
 * shorter format, is the same as rounding x once. */
DT__INLINE float dt__f64_to_odd_f32(double x) {
    float nearest = (float)x;
    uint32_t bits = dt__f32_bits(nearest), sign = bits & 0x80000000, magnitude = bits & 0x7fffffff;
    double rounded = (double)dt__f32_from_bits(magnitude), exact = dt__f64_from_bits(dt__f64_bits(x) & ~(1ull << 63));
    uint32_t odd = (rounded > exact ? magnitude - 1 : magnitude) | 1;
    bits = rounded != exact && x == x ? sign | odd : bits;
    return dt__f32_from_bits(bits);
}

DT__INLINE uint16_t dt__f64_to_f16(double x) { return dt__f32_to_f16(dt__f64_to_odd_f32(x)); }
DT__INLINE uint16_t dt__f64_to_bf16(double x) { return dt__f32_to_bf16(dt__f64_to_odd_f32(x)); }

#endif
