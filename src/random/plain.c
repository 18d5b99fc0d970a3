/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference: one element at a time, as dtensor/random.h defines it.
 */
#include "base/dtype.h"
#include "random/kernels.h"
#include "random/scalar.h"

static uint32_t word_of(dt_generator_state state, uint64_t index, philox_block *block) {
    *block = random_block(state, index / 64 * 16 + index % 16, 0);
    return (uint32_t)(index % 64 / 16);
}

static uint64_t u64_of(dt_generator_state state, uint64_t index) {
    philox_block block = random_block(state, index / 32 * 16 + index % 16, 0);
    return block_u64(&block, (int)(index % 32 / 16));
}

static float normal_f32(const philox_block *block, uint32_t word) {
    uint32_t pair = word & ~1u;
    sine_f32 turned = turn_f32(block->w[pair + 1]);
    return sqrtf(-2 * log_f32(positive_f32(block->w[pair]))) * (word & 1 ? turned.sin : turned.cos);
}

static double normal_f64(dt_generator_state state, uint64_t index) {
    philox_block block = random_block(state, index / 32 * 16 + index % 16, 0);
    sine_f64 turned = turn_f64(block_u64(&block, 1));
    return sqrt(-2 * log_f64(positive_f64(block_u64(&block, 0)))) * (index % 32 / 16 ? turned.sin : turned.cos);
}

static float value_f32(const dt__draw *draw, uint64_t index) {
    philox_block block;
    uint32_t word = word_of(draw->state, index, &block);
    float x = draw->distribution == DT__UNIFORM       ? unit_f32(block.w[word])
              : draw->distribution == DT__EXPONENTIAL ? -log_f32(positive_f32(block.w[word]))
                                                      : normal_f32(&block, word);
    x = x * (float)draw->scale + (float)draw->shift;
    return x < (float)draw->high ? x : (float)draw->high;
}

static double value_f64(const dt__draw *draw, uint64_t index) {
    uint64_t word = u64_of(draw->state, index);
    double x = draw->distribution == DT__UNIFORM       ? unit_f64(word)
               : draw->distribution == DT__EXPONENTIAL ? -log_f64(positive_f64(word))
                                                       : normal_f64(draw->state, index);
    x = x * draw->scale + draw->shift;
    return x < draw->high ? x : draw->high;
}

static void element(const dt__draw *draw, uint64_t index, void *dst, int64_t i) {
    philox_block block;
    switch (draw->distribution) {
    case DT__TRUNCATED_NORMAL:
        store_double(draw->dtype, dst, i, dt__truncated_normal(draw, index));
        break;
    case DT__RANDINT:
        store_integer(draw->dtype, dst, i,
                      (int64_t)((uint64_t)draw->from + fair_below_range(draw, index, u64_of(draw->state, index))));
        break;
    case DT__BERNOULLI:
    case DT__DROPOUT: {
        uint32_t word = word_of(draw->state, index, &block);
        bool hit = block.w[word] < draw->threshold;
        if (dt__is_float(draw->dtype))
            store_double(draw->dtype, dst, i, hit ? draw->scale : 0);
        else
            store_integer(draw->dtype, dst, i, hit);
        break;
    }
    default:
        if (draw->dtype == DT_F64)
            store_double(draw->dtype, dst, i, value_f64(draw, index));
        else
            store_float(draw->dtype, dst, i, value_f32(draw, index));
    }
}

static void groups(const dt__draw *draw, uint64_t group, int64_t n, void *dst) {
    for (int64_t i = 0; i < n * draw->group; i++)
        element(draw, group * (uint64_t)draw->group + (uint64_t)i, dst, i);
}

static void words(dt_generator_state state, uint64_t group, uint64_t *dst) {
    for (uint64_t i = 0; i < 2 * DT__GROUP_BLOCKS; i++) {
        philox_block block = random_block(state, group * DT__GROUP_BLOCKS + i % DT__GROUP_BLOCKS, 0);
        dst[i] = block_u64(&block, (int)(i / DT__GROUP_BLOCKS));
    }
}

const dt__random_kernels dt__random_plain = {.name = "plain", .groups = groups, .words = words};
