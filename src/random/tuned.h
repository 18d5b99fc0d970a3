/* SPDX-License-Identifier: Apache-2.0
 *
 * The tuned table, for whatever instruction set the including file is compiled for. That file includes its simd_x.h
 * and says what a product of 32-bit halves and a square root are (HW_PRODUCT, HW_SQRT_F32, HW_SQRT_F64); everything
 * else here is static to it. Operations and their order are those of scalar.h.
 *
 * A block's words lie in 64-bit lanes, where the products are made; what is above 32 bits of a lane is left as it
 * comes, since the next product does not look at it.
 */
#ifndef DT_RANDOM_TUNED_H
#define DT_RANDOM_TUNED_H

#include "base/dtype.h"
#include "kernels/simd.h"
#include "random/kernels.h"
#include "random/scalar.h"

enum {
    LANES_32 = VEC_BYTES / 4,
    LANES_64 = VEC_BYTES / 8,
    PARTS_32 = DT__GROUP_BLOCKS / LANES_32,
    PARTS_64 = DT__GROUP_BLOCKS / LANES_64,
};

#if VEC_BYTES == 16
#define LANE_NUMBERS 0, 1
#elif VEC_BYTES == 32
#define LANE_NUMBERS 0, 1, 2, 3
#else
#define LANE_NUMBERS 0, 1, 2, 3, 4, 5, 6, 7
#endif

/* The low 32 bits of each lane times m. */
#ifndef HW_PRODUCT
#define HW_PRODUCT(x, m) (((x)&0xffffffffu) * (m))
#endif
#ifndef HW_SQRT_F32
INLINE vf32 each_sqrt_f32(vf32 x) {
    for (int i = 0; i < LANES_32; i++)
        x[i] = sqrtf(x[i]);
    return x;
}
INLINE vf64 each_sqrt_f64(vf64 x) {
    for (int i = 0; i < LANES_64; i++)
        x[i] = sqrt(x[i]);
    return x;
}
#define HW_SQRT_F32(x) each_sqrt_f32(x)
#define HW_SQRT_F64(x) each_sqrt_f64(x)
#endif

typedef struct blocks {
    vu64 w[4];
} blocks;

/* Blocks of a group: first, first + step … of its 16. A group never crosses a multiple of 2^32, so that only the
 * lowest counter word differs. */
INLINE blocks philox_lanes(dt_generator_state state, uint64_t group, uint32_t first, uint32_t step) {
    const uint64_t block = group * DT__GROUP_BLOCKS;
    const vu64 zero = {0}, lane = {LANE_NUMBERS};
    vu64 c0 = lane * step + (uint64_t)((uint32_t)block + first), c1 = zero + (block >> 32);
    vu64 c2 = zero + (uint64_t)(uint32_t)state.draw, c3 = zero + (state.draw >> 32);
    uint32_t k0 = (uint32_t)state.seed, k1 = (uint32_t)(state.seed >> 32);
    for (int round = 0; round < PHILOX_ROUNDS; round++, k0 += PHILOX_W0, k1 += PHILOX_W1) {
        vu64 p0 = HW_PRODUCT(c0, zero + PHILOX_M0), p1 = HW_PRODUCT(c2, zero + PHILOX_M1);
        c0 = (p1 >> 32) ^ c1 ^ (zero + (uint64_t)k0);
        c2 = (p0 >> 32) ^ c3 ^ (zero + (uint64_t)k1);
        c1 = p1;
        c3 = p0;
    }
    return (blocks){{c0, c1, c2, c3}};
}

/* Two words of 32 bits, given in 64-bit lanes, side by side. */
INLINE vu64 join(vu64 low, vu64 high) { return (low & 0xffffffffu) | high << 32; }

INLINE vf32 log_lanes_f32(vf32 v) {
    vi32 e = (vi32)((vu32)v - SQRT_HALF_F32) >> 23;
    vf32 m = (vf32)((vu32)v - ((vu32)e << 23));
    vf32 s = (m - 1.0f) / (m + 1.0f), x = s * s;
    return __builtin_convertvector(e, vf32) * (float)LN2 + (s + s + s * (x * LOG_F32(x)));
}

/* Integers below 2^53 and, of them, those below 2^52, as doubles, without the conversion that only AVX-512 has: they
 * are put into the fractions of 2^84 and 2^52, which are then taken away. */
INLINE vf64 to_f64_below_52(vu64 x) { return (vf64)(x | 0x4330000000000000u) - 0x1p52; }
INLINE vf64 to_f64(vu64 x) {
    vf64 high = (vf64)((x >> 32) | 0x4530000000000000u) - 0x1p84;
    return high + to_f64_below_52(x & 0xffffffffu);
}

/* e stays positive, so that no instruction set needs an arithmetic shift of 64 bits. */
INLINE vf64 log_lanes_f64(vf64 v) {
    vu64 e = ((vu64)v + (0x3ff0000000000000u - SQRT_HALF_F64)) >> 52;
    vf64 m = (vf64)((vu64)v - (e << 52) + 0x3ff0000000000000u);
    vf64 s = (m - 1.0) / (m + 1.0), x = s * s;
    return (to_f64_below_52(e) - 1023.0) * LN2 + (s + s + s * (x * LOG_F64(x)));
}

INLINE vf32 positive_lanes_f32(vu32 w) { return (__builtin_convertvector((vi32)(w >> 1), vf32) + 0.5f) * 0x1p-31f; }
INLINE vf64 positive_lanes_f64(vu64 w) { return (to_f64(w >> 11) + 0.5) * 0x1p-53; }

/* From two words, the two normal numbers in their places. */
INLINE void normal_lanes_f32(vu32 w[2], vf32 out[2]) {
    vu32 shifted = w[1] + (1u << 29), quadrant = shifted >> 30;
    vf32 angle = __builtin_convertvector((vi32)(shifted & 0x3fffffff) - (1 << 29), vf32) * TURN_F32;
    vf32 x = angle * angle;
    vf32 sine = angle + angle * (x * SIN_F32(x));
    vf32 cosine = 1.0f + x * COS_F32(x);
    vu32 odd = -(quadrant & 1);
    vu32 a = (odd & (vu32)sine) | (~odd & (vu32)cosine), b = (odd & (vu32)cosine) | (~odd & (vu32)sine);
    vf32 r = HW_SQRT_F32(log_lanes_f32(positive_lanes_f32(w[0])) * -2.0f);
    out[0] = r * (vf32)(a ^ ((quadrant + 1) & 2) << 30);
    out[1] = r * (vf32)(b ^ (quadrant & 2) << 30);
}

INLINE void normal_lanes_f64(vu64 w[2], vf64 out[2]) {
    vu64 shifted = w[1] + (1ull << 61), quadrant = shifted >> 62;
    vf64 angle = (to_f64_below_52(shifted << 2 >> 12) - 0x1p51) * TURN_F64;
    vf64 x = angle * angle;
    vf64 sine = angle + angle * (x * SIN_F64(x));
    vf64 cosine = 1.0 + x * COS_F64(x);
    vu64 odd = -(quadrant & 1);
    vu64 a = (odd & (vu64)sine) | (~odd & (vu64)cosine), b = (odd & (vu64)cosine) | (~odd & (vu64)sine);
    vf64 r = HW_SQRT_F64(log_lanes_f64(positive_lanes_f64(w[0])) * -2.0);
    out[0] = r * (vf64)(a ^ ((quadrant + 1) & 2) << 62);
    out[1] = r * (vf64)(b ^ (quadrant & 2) << 62);
}

/* One part of a group: the values of four registers of words. */
INLINE void values_f32(const dt__draw *draw, dt__distribution distribution, vu32 w[4], vf32 x[4]) {
    if (distribution == DT__NORMAL) {
        normal_lanes_f32(w, x);
        normal_lanes_f32(w + 2, x + 2);
    }
    for (int r = 0; r < 4; r++) {
        if (distribution == DT__UNIFORM)
            x[r] = __builtin_convertvector((vi32)(w[r] >> 8), vf32) * 0x1p-24f;
        else if (distribution == DT__EXPONENTIAL)
            x[r] = -log_lanes_f32(positive_lanes_f32(w[r]));
        x[r] = x[r] * (float)draw->scale + (float)draw->shift;
        x[r] = (vf32)HW_MIN_F32(x[r], (vf32){0} + (float)draw->high);
    }
}

INLINE void values_f64(const dt__draw *draw, dt__distribution distribution, vu64 w[2], vf64 x[2]) {
    if (distribution == DT__NORMAL)
        normal_lanes_f64(w, x);
    for (int r = 0; r < 2; r++) {
        if (distribution == DT__UNIFORM)
            x[r] = to_f64(w[r] >> 11) * 0x1p-53;
        else if (distribution == DT__EXPONENTIAL)
            x[r] = -log_lanes_f64(positive_lanes_f64(w[r]));
        x[r] = x[r] * draw->scale + draw->shift;
        x[r] = (vf64)HW_MIN_F64(x[r], (vf64){0} + draw->high);
    }
}

/* The words of a part of a group of a 32-bit draw. */
INLINE void words_32(dt_generator_state state, uint64_t group, int part, vu32 w[4]) {
    blocks even = philox_lanes(state, group, (uint32_t)(part * LANES_32), 2);
    blocks odd = philox_lanes(state, group, (uint32_t)(part * LANES_32 + 1), 2);
    for (int r = 0; r < 4; r++)
        w[r] = (vu32)join(even.w[r], odd.w[r]);
}

/* The same of a 64-bit draw. */
INLINE void words_64(dt_generator_state state, uint64_t group, int part, vu64 w[2]) {
    blocks b = philox_lanes(state, group, (uint32_t)(part * LANES_64), 1);
    w[0] = join(b.w[0], b.w[1]);
    w[1] = join(b.w[2], b.w[3]);
}

INLINE void group_f32(const dt__draw *draw, dt__distribution distribution, uint64_t group, char *dst) {
    for (int part = 0; part < PARTS_32; part++) {
        vu32 w[4];
        vf32 x[4];
        words_32(draw->state, group, part, w);
        values_f32(draw, distribution, w, x);
        for (int r = 0; r < 4; r++)
            vec_store(dst + 4 * (DT__GROUP_BLOCKS * r + LANES_32 * part), (vec)x[r]);
    }
}

INLINE void group_f64(const dt__draw *draw, dt__distribution distribution, uint64_t group, char *dst) {
    for (int part = 0; part < PARTS_64; part++) {
        vu64 w[2];
        vf64 x[2];
        words_64(draw->state, group, part, w);
        values_f64(draw, distribution, w, x);
        for (int r = 0; r < 2; r++)
            vec_store(dst + 8 * (DT__GROUP_BLOCKS * r + LANES_64 * part), (vec)x[r]);
    }
}

/* Rounds a group to 16 bits. */
INLINE void round_group(dt_dtype dtype, const float *values, char *dst) {
    uint16_t rounded[4 * DT__GROUP_BLOCKS];
    for (int i = 0; i < 4 * DT__GROUP_BLOCKS; i++)
        rounded[i] = dtype == DT_F16 ? dt__f32_to_f16(values[i]) : dt__f32_to_bf16(values[i]);
    memcpy(dst, rounded, sizeof rounded);
}

INLINE void groups_f32(const dt__draw *draw, dt__distribution distribution, uint64_t group, int64_t n, char *dst) {
    const size_t bytes = 4 * DT__GROUP_BLOCKS * dt_dtype_size(draw->dtype);
    for (int64_t i = 0; i < n; i++, dst += bytes) {
        float values[4 * DT__GROUP_BLOCKS];
        bool rounds = draw->dtype != DT_F32;
        group_f32(draw, distribution, group + (uint64_t)i, rounds ? (char *)values : dst);
        if (rounds && draw->dtype == DT_F16)
            round_group(DT_F16, values, dst);
        else if (rounds)
            round_group(DT_BF16, values, dst);
    }
}

INLINE void groups_f64(const dt__draw *draw, dt__distribution distribution, uint64_t group, int64_t n, char *dst) {
    for (int64_t i = 0; i < n; i++, dst += 2 * DT__GROUP_BLOCKS * 8)
        group_f64(draw, distribution, group + (uint64_t)i, dst);
}

static void words(dt_generator_state state, uint64_t group, uint64_t *dst) {
    for (int part = 0; part < PARTS_64; part++) {
        vu64 w[2];
        words_64(state, group, part, w);
        for (int r = 0; r < 2; r++)
            vec_store(dst + DT__GROUP_BLOCKS * r + LANES_64 * part, (vec)w[r]);
    }
}

/* Writes n integers, 4 * DT__GROUP_BLOCKS at most, as elements of the dtype, with one loop for each size. */
static void store_integers(dt_dtype dtype, const int64_t *values, int n, char *dst) {
    uint8_t bytes[4 * DT__GROUP_BLOCKS];
    uint16_t shorts[4 * DT__GROUP_BLOCKS];
    uint32_t ints[4 * DT__GROUP_BLOCKS];
    const size_t size = dt_dtype_size(dtype);
    if (dt__is_float(dtype)) {
        for (int i = 0; i < n; i++)
            store_integer(dtype, dst, i, values[i]);
    } else if (size == 1) {
        for (int i = 0; i < n; i++)
            bytes[i] = (uint8_t)values[i];
        memcpy(dst, bytes, (size_t)n);
    } else if (size == 2) {
        for (int i = 0; i < n; i++)
            shorts[i] = (uint16_t)values[i];
        memcpy(dst, shorts, (size_t)n * size);
    } else if (size == 4) {
        for (int i = 0; i < n; i++)
            ints[i] = (uint32_t)values[i];
        memcpy(dst, ints, (size_t)n * size);
    } else {
        memcpy(dst, values, (size_t)n * size);
    }
}

/* Words that are refused are rare, unless the range is wide: a group is looked through only where there is one. */
static void randint_group(const dt__draw *draw, uint64_t group, char *dst) {
    const uint64_t first = group * 2 * DT__GROUP_BLOCKS;
    uint64_t w[2 * DT__GROUP_BLOCKS], n_refused = 0;
    int64_t values[2 * DT__GROUP_BLOCKS];
    words(draw->state, group, w);
    for (int i = 0; i < 2 * DT__GROUP_BLOCKS; i++)
        n_refused += w[i] * draw->range < draw->n_refused;
    for (int i = 0; i < 2 * DT__GROUP_BLOCKS; i++)
        values[i] = (int64_t)((uint64_t)draw->from + below_range(w[i], draw->range));
    for (int i = 0; n_refused && i < 2 * DT__GROUP_BLOCKS; i++)
        values[i] = (int64_t)((uint64_t)draw->from + fair_below_range(draw, first + (uint64_t)i, w[i]));
    store_integers(draw->dtype, values, 2 * DT__GROUP_BLOCKS, dst);
}

/* A group of elements that are `one` where the word is a hit and 0 where not. */
INLINE void hits(const dt__draw *draw, uint64_t group, uint32_t one, uint32_t *out) {
    const bool always = draw->threshold > UINT32_MAX;
    const uint32_t flip = 1u << 31; /* turns unsigned into signed comparisons, which every instruction set has */
    const vi32 limit = (vi32)((vu32){0} + ((uint32_t)draw->threshold ^ flip));
    for (int part = 0; part < PARTS_32; part++) {
        vu32 w[4];
        words_32(draw->state, group, part, w);
        for (int r = 0; r < 4; r++) {
            vu32 hit = always ? ~(vu32){0} : (vu32)((vi32)(w[r] ^ flip) < limit);
            vec_store(out + DT__GROUP_BLOCKS * r + LANES_32 * part, (vec)(hit & one));
        }
    }
}

static void mask_group(const dt__draw *draw, uint64_t group, char *dst) {
    uint32_t out[4 * DT__GROUP_BLOCKS];
    if (dt__is_float(draw->dtype) && draw->dtype != DT_F64) {
        float values[4 * DT__GROUP_BLOCKS];
        hits(draw, group, dt__f32_bits((float)draw->scale), out);
        memcpy(values, out, sizeof values);
        if (draw->dtype == DT_F32)
            memcpy(dst, values, sizeof values);
        else if (draw->dtype == DT_F16)
            round_group(DT_F16, values, dst);
        else
            round_group(DT_BF16, values, dst);
        return;
    }
    int64_t values[4 * DT__GROUP_BLOCKS];
    hits(draw, group, 1, out);
    for (int i = 0; i < 4 * DT__GROUP_BLOCKS; i++)
        if (draw->dtype == DT_F64)
            store_double(DT_F64, dst, i, out[i] ? draw->scale : 0);
        else
            values[i] = out[i];
    if (draw->dtype != DT_F64)
        store_integers(draw->dtype, values, 4 * DT__GROUP_BLOCKS, dst);
}

static void truncated_group(const dt__draw *draw, uint64_t group, char *dst) {
    for (int i = 0; i < DT__GROUP_BLOCKS; i++)
        store_double(draw->dtype, dst, i, dt__truncated_normal(draw, group * DT__GROUP_BLOCKS + (uint64_t)i));
}

static void each_group(const dt__draw *draw, void (*make)(const dt__draw *, uint64_t, char *), uint64_t group,
                       int64_t n, char *dst) {
    const int64_t bytes = draw->group * (int64_t)dt_dtype_size(draw->dtype);
    for (int64_t i = 0; i < n; i++)
        make(draw, group + (uint64_t)i, dst + i * bytes);
}

static void groups(const dt__draw *draw, uint64_t group, int64_t n, void *dst) {
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

#define TUNED_TABLE                                                                                                  \
    { .name = ISA_NAME, .groups = groups, .words = words }

#endif
