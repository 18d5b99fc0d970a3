/* SPDX-License-Identifier: Apache-2.0
 *
 * A random order of 0 … size - 1, by exchanging each entry, from the last one down, with one that is not after it. All
 * orders are equally likely but for 2^-64. Each rank makes the whole and keeps its part: an order is 8 bytes per entry,
 * and what it orders is bigger.
 */
#include "base/size.h"
#include "random/kernels.h"
#include "random/scalar.h"

static void shuffle(dt_generator_state state, const dt__random_kernels *kernels, int64_t size, int64_t *order) {
    enum { PER_GROUP = 2 * DT__GROUP_BLOCKS };
    uint64_t words[PER_GROUP];
    for (int64_t i = size - 1, made = -1; i > 0; i--) {
        if (i / PER_GROUP != made)
            kernels->words(state, (uint64_t)(made = i / PER_GROUP), words);
        const uint64_t other = below_range(words[i % PER_GROUP], (uint64_t)i + 1);
        const int64_t entry = order[i];
        order[i] = order[other];
        order[other] = entry;
    }
}

dt_status dt__permutation(dt_generator *generator, int64_t size, int64_t begin, int64_t n, int64_t *dst) {
    if (!generator)
        return DT_ERR_VALUE;
    dt_ctx *ctx = dt__generator_ctx(generator);
    dt_generator_state state;
    int64_t end;
    size_t bytes;
    if (size < 0 || begin < 0 || n < 0 || !dt__add_i64(begin, n, &end) || end > size)
        return dt__fail(ctx, DT_ERR_VALUE, "permutation: entries %lld … of %lld, %lld of them: they must exist",
                        (long long)begin, (long long)size, (long long)n);
    if (!dt__mul_size((size_t)size, sizeof *dst, &bytes))
        return dt__fail(ctx, DT_ERR_VALUE, "permutation: %lld entries are more than memory can hold",
                        (long long)size);
    int64_t *order = n < size && n > 0 ? dt__alloc(ctx, bytes) : dst;
    if (n > 0 && !order)
        return dt__fail_memory(ctx, bytes, "a permutation");
    dt_status status = dt__generator_next(generator, &state);
    if (status == DT_OK && n > 0) {
        for (int64_t i = 0; i < size; i++)
            order[i] = i;
        shuffle(state, dt__generator_kernels(generator), size, order);
        if (order != dst)
            memcpy(dst, order + begin, (size_t)n * sizeof *dst);
    }
    if (n > 0 && order != dst)
        dt__free(ctx, order, bytes);
    return status;
}
