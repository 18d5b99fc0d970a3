/* SPDX-License-Identifier: Apache-2.0
 *
 * Random orders of 0 … size - 1.
 *
 * A short one is computed completely, by a Fisher-Yates shuffle: all orders are equally likely up to 2^-64.
 *
 * A long one is never stored: entry i is computed on its own, so that a rank needs memory for its own entries only. The
 * numbers are arranged in a table of `rows` times `columns`, which is nearly square and has at most `rows` unused
 * positions. One round rotates every column by an amount of its own, the next one every row; each round is invertible,
 * so that all of them together permute the positions (a Feistel network with sums instead of exclusive or). A result
 * beyond the size is passed through the rounds again until it is below (cycle walking). The amounts are
 *
 *     mix(place + key of the round) (rows or columns) >> 64,
 *     mix(x): three times x = (x ^ x >> 32) M, then x ^ x >> 32
 *
 * and the keys are the first words of the draw as 64-bit numbers.
 */
#include "base/size.h"
#include "random/random.h"

#include <math.h>
#include <string.h>

#define MIX UINT64_C(0xd6e8feb86659fd93)

static void shuffle(dt__philox_key key, const dt__kernels *kernels, int64_t size, uint16_t *order) {
    enum { PER_GROUP = 2 * DT__GROUP_BLOCKS };
    uint64_t words[PER_GROUP];
    for (int64_t i = 0; i < size; i++)
        order[i] = (uint16_t)i;
    for (int64_t i = size - 1, made = -1; i > 0; i--) {
        if (i / PER_GROUP != made)
            kernels->random_words(key, (uint64_t)(made = i / PER_GROUP), words);
        const uint64_t other = dt__scale_word(words[i % PER_GROUP], (uint64_t)i + 1);
        const uint16_t entry = order[i];
        order[i] = order[other];
        order[other] = entry;
    }
}

/* The smallest integer whose square is at least x; x is below 2^63. */
static uint64_t root_above(uint64_t x) {
    uint64_t root = (uint64_t)sqrt((double)x);
    while (root * root >= x)
        root--;
    while (root * root < x)
        root++;
    return root;
}

static uint64_t mix(uint64_t x) {
    for (int i = 0; i < 3; i++)
        x = (x ^ x >> 32) * MIX;
    return x ^ x >> 32;
}

void dt__order_of(dt__philox_key key, const dt__kernels *kernels, int64_t size, dt__order *out) {
    out->size = size;
    if (size <= DT__ORDER_TABLE) {
        shuffle(key, kernels, size, out->table);
        return;
    }
    uint64_t words[2 * DT__GROUP_BLOCKS];
    kernels->random_words(key, 0, words);
    memcpy(out->keys, words, sizeof out->keys);
    out->rows = root_above((uint64_t)size);
    out->columns = ((uint64_t)size + out->rows - 1) / out->rows;
}

dt_status dt__order_begin(dt_generator *generator, int64_t size, dt__order *out) {
    if (!generator)
        return DT_ERR_VALUE;
    dt__philox_key key;
    if (size < 0)
        return dt__fail(dt__generator_ctx(generator), DT_ERR_VALUE,
                        "randperm: expected a size of at least 0, got %lld", (long long)size);
    DT__TRY(dt__generator_next(generator, &key));
    dt__order_of(key, dt__generator_kernels(generator), size, out);
    return DT_OK;
}

static uint64_t turn(uint64_t place, uint64_t by, uint64_t n) {
    const uint64_t sum = place + by;
    return sum < n ? sum : sum - n;
}

/* The number of entries that are computed together, to hide the latency of the multiplications. */
enum { LANES = 8 };

static void walk(const dt__order *order, uint64_t x[LANES]) {
    uint64_t row[LANES], column[LANES];
    for (int i = 0; i < LANES; i++) {
        row[i] = x[i] / order->columns;
        column[i] = x[i] % order->columns;
    }
    for (int round = 0; round < DT__ORDER_ROUNDS; round += 2) {
        for (int i = 0; i < LANES; i++)
            row[i] = turn(row[i], dt__scale_word(mix(column[i] + order->keys[round]), order->rows), order->rows);
        for (int i = 0; i < LANES; i++)
            column[i] =
                turn(column[i], dt__scale_word(mix(row[i] + order->keys[round + 1]), order->columns), order->columns);
    }
    for (int i = 0; i < LANES; i++)
        x[i] = row[i] * order->columns + column[i];
}

/* The n entries from `begin` on, at most LANES. A result beyond the size, which is rare, is recomputed on its own. */
static void some_entries(const dt__order *order, int64_t begin, int64_t n, int64_t *dst) {
    uint64_t x[LANES];
    for (int i = 0; i < LANES; i++)
        x[i] = (uint64_t)(begin + (i < n ? i : 0));
    walk(order, x);
    for (int i = 0; i < n; i++) {
        uint64_t alone[LANES] = {x[i]};
        while (alone[0] >= (uint64_t)order->size)
            walk(order, alone);
        dst[i] = (int64_t)alone[0];
    }
}

void dt__order_range(const dt__order *order, int64_t begin, int64_t n, int64_t *dst) {
    if (order->size <= DT__ORDER_TABLE) {
        for (int64_t i = 0; i < n; i++)
            dst[i] = order->table[begin + i];
        return;
    }
    for (int64_t i = 0; i < n; i += LANES)
        some_entries(order, begin + i, dt__min_i64(LANES, n - i), dst + i);
}
