/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of random numbers, for the instruction set of the including file. The blocks of a group are computed in
 * registers and stored as words; loops over the words, which the compiler vectorizes, turn them into values with the
 * functions of vector_math.h, in the operations and the order of random_plain.c.
 *
 * A block's words are in 64-bit lanes, where the products are computed; the bits above the low 32 of a lane are not
 * cleared, because the next product ignores them.
 */
#ifndef DT_KERNELS_RANDOM_LOOPS_H
#define DT_KERNELS_RANDOM_LOOPS_H

#include "base/dtype.h"
#include "kernels/element_types.h"
#include "kernels/kernel_table.h"
#include "kernels/philox.h"
#include "kernels/random_plain.h"
#include "kernels/simd.h"
#include "kernels/vector_math.h"

enum {
    LANES_32 = VEC_BYTES / 4,
    LANES_64 = VEC_BYTES / 8,
    BLOCKS = DT__GROUP_BLOCKS,
};

#if VEC_BYTES == 16
#define LANE_NUMBERS 0, 1
#elif VEC_BYTES == 32
#define LANE_NUMBERS 0, 1, 2, 3
#else
#define LANE_NUMBERS 0, 1, 2, 3, 4, 5, 6, 7
#endif

typedef struct philox_lanes {
    vu64 w[4];
} philox_lanes;

/* Blocks first, first + step … of a group. A group never crosses a multiple of 2^32, so that only the lowest counter
 * word differs. */
INLINE philox_lanes compute_philox(dt__philox_key key, uint64_t group, uint32_t first, uint32_t step) {
    const uint64_t block = group * BLOCKS;
    const vu64 zero = {0}, lane = {LANE_NUMBERS};
    vu64 c0 = lane * step + (uint64_t)((uint32_t)block + first), c1 = zero + (block >> 32);
    vu64 c2 = zero + (uint64_t)(uint32_t)key.draw, c3 = zero + (key.draw >> 32);
    uint32_t k0 = (uint32_t)key.seed, k1 = (uint32_t)(key.seed >> 32);
    for (int round = 0; round < PHILOX_ROUNDS; round++, k0 += PHILOX_W0, k1 += PHILOX_W1) {
        vu64 p0 = HW_MULTIPLY_U32(c0, zero + PHILOX_M0), p1 = HW_MULTIPLY_U32(c2, zero + PHILOX_M1);
        c0 = (p1 >> 32) ^ c1 ^ (zero + (uint64_t)k0);
        c2 = (p0 >> 32) ^ c3 ^ (zero + (uint64_t)k1);
        c1 = p1;
        c3 = p0;
    }
    return (philox_lanes){{c0, c1, c2, c3}};
}

/* Two words of 32 bits, given in 64-bit lanes, side by side. */
INLINE vu64 join(vu64 low, vu64 high) { return (low & 0xffffffffu) | high << 32; }

/* Word r of block b of a group of a 32-bit draw is w[BLOCKS * r + b]. */
INLINE void words_32(dt__philox_key key, uint64_t group, uint32_t w[4 * BLOCKS]) {
    for (int b = 0; b < BLOCKS; b += LANES_32) {
        philox_lanes even = compute_philox(key, group, (uint32_t)b, 2);
        philox_lanes odd = compute_philox(key, group, (uint32_t)b + 1, 2);
        for (int r = 0; r < 4; r++)
            vec_store(&w[BLOCKS * r + b], (vec)join(even.w[r], odd.w[r]));
    }
}

/* For a 64-bit draw. */
INLINE void words_64(dt__philox_key key, uint64_t group, uint64_t w[2 * BLOCKS]) {
    for (int b = 0; b < BLOCKS; b += LANES_64) {
        philox_lanes words = compute_philox(key, group, (uint32_t)b, 1);
        vec_store(&w[b], (vec)join(words.w[0], words.w[1]));
        vec_store(&w[BLOCKS + b], (vec)join(words.w[2], words.w[3]));
    }
}

INLINE float limit_f32(float x, float scale, float shift, float high) {
    x = x * scale + shift;
    return x < high ? x : high;
}
INLINE double limit_f64(double x, double scale, double shift, double high) {
    x = x * scale + shift;
    return x < high ? x : high;
}

INLINE void group_f32(const dt__draw *draw, dt__distribution distribution, uint64_t group, dt__f32 *dst) {
    const float scale = (float)draw->scale, shift = (float)draw->shift, high = (float)draw->high;
    uint32_t words[4 * BLOCKS];
    words_32(draw->key, group, words);
    for (int r = 0; r < 4; r++) {
        const uint32_t *w = words + BLOCKS * r;
        dt__f32 *to = dst + BLOCKS * r;
        if (distribution == DT__UNIFORM)
            DT__EACH for (int b = 0; b < BLOCKS; b++) to[b] = limit_f32(random_unit_f32(w[b]), scale, shift, high);
        else if (distribution == DT__EXPONENTIAL)
            DT__EACH for (int b = 0; b < BLOCKS; b++) to[b] =
                limit_f32(-random_log_f32(random_positive_f32(w[b])), scale, shift, high);
        else if (r % 2 == 0)
            DT__EACH for (int b = 0; b < BLOCKS; b++) {
                const float radius = sqrtf(-2 * random_log_f32(random_positive_f32(w[b])));
                const cos_sin_f32 turn = random_turn_f32(w[BLOCKS + b]);
                to[b] = limit_f32(radius * turn.cos, scale, shift, high);
                to[b + BLOCKS] = limit_f32(radius * turn.sin, scale, shift, high);
            }
    }
}

INLINE void group_f64(const dt__draw *draw, dt__distribution distribution, uint64_t group, dt__f64 *dst) {
    const double scale = draw->scale, shift = draw->shift, high = draw->high;
    uint64_t w[2 * BLOCKS];
    words_64(draw->key, group, w);
    if (distribution == DT__UNIFORM)
        DT__EACH for (int i = 0; i < 2 * BLOCKS; i++) dst[i] = limit_f64(random_unit_f64(w[i]), scale, shift, high);
    else if (distribution == DT__EXPONENTIAL)
        DT__EACH for (int i = 0; i < 2 * BLOCKS; i++) dst[i] =
            limit_f64(-random_log_f64(random_positive_f64(w[i])), scale, shift, high);
    else
        DT__EACH for (int b = 0; b < BLOCKS; b++) {
            const double radius = sqrt(-2 * random_log_f64(random_positive_f64(w[b])));
            const cos_sin_f64 turn = random_turn_f64(w[BLOCKS + b]);
            dst[b] = limit_f64(radius * turn.cos, scale, shift, high);
            dst[b + BLOCKS] = limit_f64(radius * turn.sin, scale, shift, high);
        }
}

/* Rounds a group to 16 bits. */
INLINE void round_group(dt_dtype dtype, const float *values, void *dst) {
    dt__f16 *to = dst;
    if (dtype == DT_F16)
        DT__EACH for (int i = 0; i < 4 * BLOCKS; i++) to[i] = dt__f32_to_f16(values[i]);
    else
        DT__EACH for (int i = 0; i < 4 * BLOCKS; i++) to[i] = dt__f32_to_bf16(values[i]);
}

INLINE void groups_f32(const dt__draw *draw, dt__distribution distribution, uint64_t group, int64_t n, char *dst) {
    const size_t bytes = 4 * BLOCKS * dt_dtype_size(draw->dtype);
    float values[4 * BLOCKS];
    for (int64_t i = 0; i < n; i++, dst += bytes) {
        if (draw->dtype == DT_F32) {
            group_f32(draw, distribution, group + (uint64_t)i, (dt__f32 *)dst);
        } else {
            group_f32(draw, distribution, group + (uint64_t)i, values);
            round_group(draw->dtype, values, dst);
        }
    }
}

INLINE void groups_f64(const dt__draw *draw, dt__distribution distribution, uint64_t group, int64_t n, char *dst) {
    for (int64_t i = 0; i < n; i++, dst += 2 * BLOCKS * 8)
        group_f64(draw, distribution, group + (uint64_t)i, (dt__f64 *)dst);
}

static void random_words(dt__philox_key key, uint64_t group, uint64_t *dst) { words_64(key, group, dst); }

/* Writes n integers, 4 * BLOCKS at most, as elements of the dtype, with one loop for each size. */
static void store_integers(dt_dtype dtype, const int64_t *values, int n, void *dst) {
    dt__u8 *bytes = dst;
    dt__i16 *shorts = dst;
    dt__i32 *ints = dst;
    const size_t size = dt_dtype_size(dtype);
    if (dt__is_float(dtype))
        for (int i = 0; i < n; i++)
            dt__write_i64(dtype, values[i], (char *)dst + (size_t)i * size);
    else if (size == 1)
        DT__EACH for (int i = 0; i < n; i++) bytes[i] = (uint8_t)values[i];
    else if (size == 2)
        DT__EACH for (int i = 0; i < n; i++) shorts[i] = (int16_t)values[i];
    else if (size == 4)
        DT__EACH for (int i = 0; i < n; i++) ints[i] = (int32_t)values[i];
    else
        memcpy(dst, values, (size_t)n * size);
}

/* Rejected words are rare, unless the range is wide: a group is searched only if it has one. */
static void randint_group(const dt__draw *draw, uint64_t group, char *dst) {
    const uint64_t first = group * 2 * BLOCKS;
    uint64_t w[2 * BLOCKS], n_rejected = 0;
    int64_t values[2 * BLOCKS];
    random_words(draw->key, group, w);
    for (int i = 0; i < 2 * BLOCKS; i++)
        n_rejected += w[i] * draw->range < draw->n_rejected;
    for (int i = 0; i < 2 * BLOCKS; i++)
        values[i] = (int64_t)((uint64_t)draw->from + dt__scale_word(w[i], draw->range));
    for (int i = 0; n_rejected && i < 2 * BLOCKS; i++)
        values[i] = (int64_t)((uint64_t)draw->from + unbiased_below_range(draw, first + (uint64_t)i, w[i]));
    store_integers(draw->dtype, values, 2 * BLOCKS, dst);
}

/* A group of elements that are `one` where the word is a hit and 0 elsewhere. */
typedef uint32_t unaligned_u32 DT__IN_MEMORY;
INLINE void hits(const dt__draw *draw, uint64_t group, uint32_t one, unaligned_u32 *out) {
    const uint32_t always = 0 - (uint32_t)(draw->threshold > UINT32_MAX);
    const uint32_t flip = 1u << 31; /* turns unsigned into signed comparisons, which every instruction set has */
    const int32_t limit = (int32_t)((uint32_t)draw->threshold ^ flip);
    uint32_t w[4 * BLOCKS];
    words_32(draw->key, group, w);
    DT__EACH for (int i = 0; i < 4 * BLOCKS; i++) out[i] =
        (always | (0 - (uint32_t)((int32_t)(w[i] ^ flip) < limit))) & one;
}

static void mask_group(const dt__draw *draw, uint64_t group, char *dst) {
    uint32_t out[4 * BLOCKS];
    if (draw->dtype == DT_F32) {
        hits(draw, group, dt__f32_bits((float)draw->scale), (unaligned_u32 *)dst);
        return;
    }
    if (dt__is_half(draw->dtype)) {
        float values[4 * BLOCKS];
        hits(draw, group, dt__f32_bits((float)draw->scale), out);
        memcpy(values, out, sizeof values);
        round_group(draw->dtype, values, dst);
        return;
    }
    hits(draw, group, 1, out);
    if (draw->dtype == DT_F64) {
        for (int i = 0; i < 4 * BLOCKS; i++)
            ((dt__f64 *)dst)[i] = out[i] ? draw->scale : 0;
    } else if (dt_dtype_size(draw->dtype) == 1) {
        DT__EACH for (int i = 0; i < 4 * BLOCKS; i++)((dt__u8 *)dst)[i] = (uint8_t)out[i];
    } else {
        int64_t values[4 * BLOCKS];
        for (int i = 0; i < 4 * BLOCKS; i++)
            values[i] = out[i];
        store_integers(draw->dtype, values, 4 * BLOCKS, dst);
    }
}

/* The first attempt of all elements, then further ones of those that were rejected, which are few. */
static void truncated_group(const dt__draw *draw, uint64_t group, char *dst) {
    uint64_t w[2 * BLOCKS];
    double z[BLOCKS];
    words_64(draw->key, group, w);
    if (draw->proposal == DT__PROPOSE_NORMAL)
        DT__EACH for (int b = 0; b < BLOCKS; b++) z[b] =
            propose_truncated(draw, DT__PROPOSE_NORMAL, w[b], w[BLOCKS + b]);
    else if (draw->proposal == DT__PROPOSE_UNIFORM)
        DT__EACH for (int b = 0; b < BLOCKS; b++) z[b] =
            propose_truncated(draw, DT__PROPOSE_UNIFORM, w[b], w[BLOCKS + b]);
    else
        DT__EACH for (int b = 0; b < BLOCKS; b++) z[b] =
            propose_truncated(draw, DT__PROPOSE_TAIL, w[b], w[BLOCKS + b]);
    for (int b = 0; b < BLOCKS; b++)
        if (z[b] != z[b])
            z[b] = dt__truncated_attempts(draw, group * BLOCKS + (uint64_t)b, 1);
    DT__EACH for (int b = 0; b < BLOCKS; b++) z[b] = truncated_value(draw, z[b]);
    if (draw->dtype == DT_F64)
        memcpy(dst, z, sizeof z);
    else if (draw->dtype == DT_F32)
        DT__EACH for (int b = 0; b < BLOCKS; b++)((dt__f32 *)dst)[b] = (float)z[b];
    else if (draw->dtype == DT_F16)
        DT__EACH for (int b = 0; b < BLOCKS; b++)((dt__f16 *)dst)[b] = dt__f32_to_f16((float)z[b]);
    else
        DT__EACH for (int b = 0; b < BLOCKS; b++)((dt__bf16 *)dst)[b] = dt__f32_to_bf16((float)z[b]);
}

static void each_group(const dt__draw *draw, void (*compute)(const dt__draw *, uint64_t, char *), uint64_t group,
                       int64_t n, char *dst) {
    const int64_t bytes = draw->group * (int64_t)dt_dtype_size(draw->dtype);
    for (int64_t i = 0; i < n; i++)
        compute(draw, group + (uint64_t)i, dst + i * bytes);
}

static void random_groups(const dt__draw *draw, uint64_t group, int64_t n, void *dst) {
    const bool f64 = draw->dtype == DT_F64;
    switch (draw->distribution) {
    case DT__UNIFORM:
        f64 ? groups_f64(draw, DT__UNIFORM, group, n, dst) : groups_f32(draw, DT__UNIFORM, group, n, dst);
        break;
    case DT__NORMAL:
        f64 ? groups_f64(draw, DT__NORMAL, group, n, dst) : groups_f32(draw, DT__NORMAL, group, n, dst);
        break;
    case DT__EXPONENTIAL:
        f64 ? groups_f64(draw, DT__EXPONENTIAL, group, n, dst) : groups_f32(draw, DT__EXPONENTIAL, group, n, dst);
        break;
    case DT__RANDINT:
        each_group(draw, randint_group, group, n, dst);
        break;
    case DT__TRUNCATED_NORMAL:
        each_group(draw, truncated_group, group, n, dst);
        break;
    default:
        each_group(draw, mask_group, group, n, dst);
    }
}

#endif
