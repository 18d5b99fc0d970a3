/* SPDX-License-Identifier: Apache-2.0
 *
 * Philox-4x32-10, one block at a time, and the mapping of words to integers below a range. random_loops.h computes the
 * same blocks in vector registers.
 */
#ifndef DT_KERNELS_PHILOX_H
#define DT_KERNELS_PHILOX_H

#include "kernels/random_draw.h"

#define PHILOX_M0 0xd2511f53u
#define PHILOX_M1 0xcd9e8d57u
#define PHILOX_W0 0x9e3779b9u
#define PHILOX_W1 0xbb67ae85u
enum { PHILOX_ROUNDS = 10 };

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

static inline philox_block random_block(dt__philox_key key, uint64_t block, uint32_t attempt) {
    philox_block counter = {
        {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)key.draw, (uint32_t)(key.draw >> 32) | attempt << 16}};
    return philox(counter, key.seed);
}

static inline uint64_t block_u64(const philox_block *block, int half) {
    return block->w[2 * half] | (uint64_t)block->w[2 * half + 1] << 32;
}

/* Element `index` of a draw of integers below draw->range, from its word. Words that would bias the result are
 * rejected, and the word of the next attempt is used. */
static inline uint64_t unbiased_below_range(const dt__draw *draw, uint64_t index, uint64_t word) {
    unsigned __int128 product = (unsigned __int128)word * draw->range;
    for (uint32_t attempt = 1; (uint64_t)product < draw->n_rejected; attempt++) {
        philox_block block = random_block(draw->key, index / 32 * 16 + index % 16, attempt);
        product = (unsigned __int128)block_u64(&block, (int)(index % 32 / 16)) * draw->range;
    }
    return (uint64_t)(product >> 64);
}

#endif
