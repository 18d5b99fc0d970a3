/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers one element at a time, as dtensor/random.h defines them.
 */
#include "kernels/random_plain.h"

#include "base/dtype.h"
#include "kernels/philox.h"

enum { MAX_ATTEMPTS = 1 << 16 };

double dt__truncated_attempts(const dt__draw *draw, uint64_t index, uint32_t first) {
    for (uint32_t attempt = first; attempt < MAX_ATTEMPTS; attempt++) {
        philox_block block = random_block(draw->key, index, attempt);
        double z = propose_truncated(draw, draw->proposal, block_u64(&block, 0), block_u64(&block, 1));
        if (z == z)
            return z;
    }
    return draw->alpha; /* practically unreachable: probability 0.9^65536 */
}

/* 16-bit floats are rounded twice, from f64 to f32 and from there. */
void dt__random_store(dt_dtype dtype, double value, int64_t i, void *dst) {
    dt__write_f64(dtype, dtype == DT_F64 ? value : (double)(float)value,
                  (char *)dst + i * (int64_t)dt_dtype_size(dtype));
}

static uint32_t word_of(dt__philox_key key, uint64_t index, philox_block *block) {
    *block = random_block(key, index / 64 * 16 + index % 16, 0);
    return (uint32_t)(index % 64 / 16);
}

static uint64_t u64_of(dt__philox_key key, uint64_t index) {
    philox_block block = random_block(key, index / 32 * 16 + index % 16, 0);
    return block_u64(&block, (int)(index % 32 / 16));
}

static float normal_f32(const philox_block *block, uint32_t word) {
    uint32_t pair = word & ~1u;
    cos_sin_f32 turn = random_turn_f32(block->w[pair + 1]);
    return sqrtf(-2 * random_log_f32(random_positive_f32(block->w[pair]))) * (word & 1 ? turn.sin : turn.cos);
}

static double normal_f64(dt__philox_key key, uint64_t index) {
    philox_block block = random_block(key, index / 32 * 16 + index % 16, 0);
    cos_sin_f64 turn = random_turn_f64(block_u64(&block, 1));
    return sqrt(-2 * random_log_f64(random_positive_f64(block_u64(&block, 0)))) *
           (index % 32 / 16 ? turn.sin : turn.cos);
}

static float value_f32(const dt__draw *draw, uint64_t index) {
    philox_block block;
    uint32_t word = word_of(draw->key, index, &block);
    float x = draw->distribution == DT__UNIFORM       ? random_unit_f32(block.w[word])
              : draw->distribution == DT__EXPONENTIAL ? -random_log_f32(random_positive_f32(block.w[word]))
                                                      : normal_f32(&block, word);
    x = x * (float)draw->scale + (float)draw->shift;
    return x < (float)draw->high ? x : (float)draw->high;
}

static double value_f64(const dt__draw *draw, uint64_t index) {
    uint64_t word = u64_of(draw->key, index);
    double x = draw->distribution == DT__UNIFORM       ? random_unit_f64(word)
               : draw->distribution == DT__EXPONENTIAL ? -random_log_f64(random_positive_f64(word))
                                                       : normal_f64(draw->key, index);
    x = x * draw->scale + draw->shift;
    return x < draw->high ? x : draw->high;
}

static void write_element(const dt__draw *draw, uint64_t index, int64_t i, void *dst) {
    char *to = (char *)dst + i * (int64_t)dt_dtype_size(draw->dtype);
    philox_block block;
    switch (draw->distribution) {
    case DT__TRUNCATED_NORMAL:
        dt__random_store(draw->dtype, truncated_value(draw, dt__truncated_attempts(draw, index, 0)), i, dst);
        break;
    case DT__RANDINT: {
        uint64_t below = unbiased_below_range(draw, index, u64_of(draw->key, index));
        dt__write_i64(draw->dtype, (int64_t)((uint64_t)draw->from + below), to);
        break;
    }
    case DT__BERNOULLI:
    case DT__DROPOUT: {
        uint32_t word = word_of(draw->key, index, &block);
        bool hit = block.w[word] < draw->threshold;
        if (dt__is_float(draw->dtype))
            dt__random_store(draw->dtype, hit ? draw->scale : 0, i, dst);
        else
            dt__write_i64(draw->dtype, hit, to);
        break;
    }
    default:
        dt__random_store(draw->dtype, draw->dtype == DT_F64 ? value_f64(draw, index) : (double)value_f32(draw, index),
                         i, dst);
    }
}

void dt__random_groups_plain(const dt__draw *draw, uint64_t group, int64_t n, void *dst) {
    for (int64_t i = 0; i < n * draw->group; i++)
        write_element(draw, group * (uint64_t)draw->group + (uint64_t)i, i, dst);
}

void dt__random_words_plain(dt__philox_key key, uint64_t group, uint64_t *dst) {
    for (uint64_t i = 0; i < 2 * DT__GROUP_BLOCKS; i++) {
        philox_block block = random_block(key, group * DT__GROUP_BLOCKS + i % DT__GROUP_BLOCKS, 0);
        dst[i] = block_u64(&block, (int)(i / DT__GROUP_BLOCKS));
    }
}
