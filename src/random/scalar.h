/* SPDX-License-Identifier: Apache-2.0
 *
 * The definition, one number at a time: the generator's block function, the functions that turn its words into
 * values, and how values are rounded to their dtype. tuned.h does the same operations in the same order on registers;
 * since each is rounded by itself (no fused products), the bits are the same.
 *
 * log: of v = 2^e m with m around 1, as e log 2 + 2 atanh(s), s = (m - 1) / (m + 1), by the series of atanh. sin and
 * cos: of an angle that is given as an integer fraction of a turn, so that the reduction to an eighth of a turn is
 * exact, by their series there. The series stop where the next term is below half a unit in the last place.
 */
#ifndef DT_RANDOM_SCALAR_H
#define DT_RANDOM_SCALAR_H

#include "base/dtype.h"
#include "base/half_float.h"
#include "random/random.h"

#include <math.h>
#include <string.h>

/* Constants of Philox-4x32. */
#define PHILOX_M0 0xd2511f53u
#define PHILOX_M1 0xcd9e8d57u
#define PHILOX_W0 0x9e3779b9u
#define PHILOX_W1 0xbb67ae85u
enum { PHILOX_ROUNDS = 10 };

#define SQRT_HALF_F32 0x3f3504f3u /* the bits of sqrt(1/2): m lies from it to its double */
#define SQRT_HALF_F64 0x3fe6a09e667f3bcdu
#define LN2           0.693147180559945309417
#define TURN_F32      0x1.921fb54442d18p-30f /* the angle of one step: a quarter turn over 2^30, or over 2^52 */
#define TURN_F64      0x1.921fb54442d18p-52

/* The series after their leading terms, by Horner's rule, for numbers and for registers of them. */
#define LOG_F32(x) (((2 / 9.0f * (x) + 2 / 7.0f) * (x) + 2 / 5.0f) * (x) + 2 / 3.0f)
#define SIN_F32(x) (((1 / 362880.0f * (x)-1 / 5040.0f) * (x) + 1 / 120.0f) * (x)-1 / 6.0f)
#define COS_F32(x) (((1 / 40320.0f * (x)-1 / 720.0f) * (x) + 1 / 24.0f) * (x)-1 / 2.0f)
#define LOG_F64(x)                                                                                                   \
    ((((((((((2 / 23.0 * (x) + 2 / 21.0) * (x) + 2 / 19.0) * (x) + 2 / 17.0) * (x) + 2 / 15.0) * (x) + 2 / 13.0) *   \
             (x) +                                                                                                   \
         2 / 11.0) *                                                                                                 \
            (x) +                                                                                                    \
        2 / 9.0) *                                                                                                   \
           (x) +                                                                                                     \
       2 / 7.0) *                                                                                                    \
          (x) +                                                                                                      \
      2 / 5.0) *                                                                                                     \
         (x) +                                                                                                       \
     2 / 3.0)
#define SIN_F64(x)                                                                                                   \
    ((((((-1 / 1307674368000.0 * (x) + 1 / 6227020800.0) * (x)-1 / 39916800.0) * (x) + 1 / 362880.0) * (x)-1 /       \
       5040.0) *                                                                                                     \
          (x) +                                                                                                      \
      1 / 120.0) *                                                                                                   \
     (x)-1 / 6.0)
#define COS_F64(x)                                                                                                   \
    (((((((1 / 20922789888000.0 * (x)-1 / 87178291200.0) * (x) + 1 / 479001600.0) * (x)-1 / 3628800.0) * (x) +       \
        1 / 40320.0) *                                                                                               \
       (x)-1 / 720.0) *                                                                                              \
          (x) +                                                                                                      \
      1 / 24.0) *                                                                                                    \
     (x)-1 / 2.0)

typedef struct philox_block {
    uint32_t w[4];
} philox_block;

static inline philox_block philox(philox_block counter, uint64_t seed) {
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32), *c = counter.w;
    for (int round = 0; round < PHILOX_ROUNDS; round++, k0 += PHILOX_W0, k1 += PHILOX_W1) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c[0], p1 = (uint64_t)PHILOX_M1 * c[2];
        philox_block next = {
            {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c[3] ^ k1, (uint32_t)p0}};
        counter = next;
    }
    return counter;
}

static inline philox_block random_block(dt_generator_state state, uint64_t block, uint32_t attempt) {
    philox_block counter = {{(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)state.draw,
                             (uint32_t)(state.draw >> 32) | attempt << 16}};
    return philox(counter, state.seed);
}

static inline uint64_t block_u64(const philox_block *block, int half) {
    return block->w[2 * half] | (uint64_t)block->w[2 * half + 1] << 32;
}

/* The product's upper half: a number below range. */
static inline uint64_t below_range(uint64_t word, uint64_t range) {
    return (uint64_t)(((unsigned __int128)word * range) >> 64);
}

/* Element `index` of a draw of numbers below draw->range, from its word. Some words would give the first numbers once
 * more often; they are refused, and the next attempt's word is taken. */
static inline uint64_t fair_below_range(const dt__draw *draw, uint64_t index, uint64_t word) {
    unsigned __int128 product = (unsigned __int128)word * draw->range;
    for (uint32_t attempt = 1; (uint64_t)product < draw->n_refused; attempt++) {
        philox_block block = random_block(draw->state, index / 32 * 16 + index % 16, attempt);
        product = (unsigned __int128)block_u64(&block, (int)(index % 32 / 16)) * draw->range;
    }
    return (uint64_t)(product >> 64);
}

/* [0,1), and what log gets: above 0, up to 1. */
static inline float unit_f32(uint32_t w) { return (float)(w >> 8) * 0x1p-24f; }
static inline double unit_f64(uint64_t w) { return (double)(w >> 11) * 0x1p-53; }
static inline float positive_f32(uint32_t w) { return ((float)(int32_t)(w >> 1) + 0.5f) * 0x1p-31f; }
static inline double positive_f64(uint64_t w) { return ((double)(w >> 11) + 0.5) * 0x1p-53; }

static inline float log_f32(float v) {
    int32_t e = (int32_t)(dt__f32_bits(v) - SQRT_HALF_F32) >> 23;
    float m = dt__f32_from_bits(dt__f32_bits(v) - ((uint32_t)e << 23));
    float s = (m - 1) / (m + 1), x = s * s;
    return (float)e * (float)LN2 + (s + s + s * (x * LOG_F32(x)));
}

static inline double log_f64(double v) {
    int64_t e = (int64_t)(dt__f64_bits(v) - SQRT_HALF_F64) >> 52;
    double m = dt__f64_from_bits(dt__f64_bits(v) - ((uint64_t)e << 52));
    double s = (m - 1) / (m + 1), x = s * s;
    return (double)e * LN2 + (s + s + s * (x * LOG_F64(x)));
}

typedef struct sine_f32 {
    float cos, sin;
} sine_f32;

/* Of w / 2^32 turns. */
static inline sine_f32 turn_f32(uint32_t w) {
    uint32_t shifted = w + (1u << 29), quadrant = shifted >> 30;
    float angle = (float)((int32_t)(shifted & 0x3fffffff) - (1 << 29)) * TURN_F32;
    float x = angle * angle;
    float sine = angle + angle * (x * SIN_F32(x));
    float cosine = 1 + x * COS_F32(x);
    sine_f32 turned = quadrant & 1 ? (sine_f32){sine, cosine} : (sine_f32){cosine, sine};
    turned.cos = (quadrant + 1) & 2 ? -turned.cos : turned.cos;
    turned.sin = quadrant & 2 ? -turned.sin : turned.sin;
    return turned;
}

typedef struct sine_f64 {
    double cos, sin;
} sine_f64;

/* Of w / 2^64 turns. */
static inline sine_f64 turn_f64(uint64_t w) {
    uint64_t shifted = w + (1ull << 61), quadrant = shifted >> 62;
    double angle = (double)((int64_t)(shifted << 2 >> 12) - (1ll << 51)) * TURN_F64;
    double x = angle * angle;
    double sine = angle + angle * (x * SIN_F64(x));
    double cosine = 1 + x * COS_F64(x);
    sine_f64 turned = quadrant & 1 ? (sine_f64){sine, cosine} : (sine_f64){cosine, sine};
    turned.cos = (quadrant + 1) & 2 ? -turned.cos : turned.cos;
    turned.sin = quadrant & 2 ? -turned.sin : turned.sin;
    return turned;
}

/* Writes element i of an array; the value fits the dtype (integers) or is rounded to it (floats). */
static inline void store_float(dt_dtype dtype, void *dst, int64_t i, float value) {
    uint16_t half = dtype == DT_F16 ? dt__f32_to_f16(value) : dt__f32_to_bf16(value);
    if (dtype == DT_F32)
        memcpy((char *)dst + 4 * i, &value, 4);
    else
        memcpy((char *)dst + 2 * i, &half, 2);
}

static inline void store_double(dt_dtype dtype, void *dst, int64_t i, double value) {
    if (dtype == DT_F64)
        memcpy((char *)dst + 8 * i, &value, 8);
    else
        store_float(dtype, dst, i, (float)value);
}

/* Little-endian, as all machines are that this library runs on: the low bytes of an integer are the smaller integer. */
static inline void store_integer(dt_dtype dtype, void *dst, int64_t i, int64_t value) {
    size_t bytes = dt_dtype_size(dtype);
    if (dt__is_float(dtype))
        store_double(dtype, dst, i, dtype == DT_F64 ? (double)value : (double)(float)value);
    else
        memcpy((char *)dst + i * (int64_t)bytes, &value, bytes);
}

#endif
