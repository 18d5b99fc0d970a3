/* SPDX-License-Identifier: Apache-2.0
 *
 * Every collective against arithmetic by definition: ranks 1 2 3 4 5 8; all dtypes and reductions; sizes around each
 * internal threshold; equal and unequal blocks; in place and not; memory in the heap, outside, and mixed.
 */
/* ctest: timeout=900 */
#include "support/collectives.h"
#include "support/launch.h"

#include "shm/shm.h"

static const int64_t rank_counts[] = {1, 2, 3, 4, 5, 8};
enum { N_RANK_COUNTS = 6 };

/* Large cases run one of the variants per kind of memory, in rotation; with a race detector, which is slow, small cases
 * do so, and large ones run one of all. */
enum { LARGE_BYTES = 100000, BLOCK_LIMIT = (1 << 20) + 4 };

static int run_all_variants(dt_ctx *ctx, test_case collective) {
    bool large = (size_t)collective.count * dt_dtype_size(collective.dtype) > LARGE_BYTES;
    uint64_t turn = collective.seed / 16;
    for (int memory = TEST_HEAP; memory <= TEST_MIXED; memory++)
        for (int in_place = 0; in_place < 2; in_place++)
            for (int unequal = 0; unequal < 2; unequal++) {
                uint64_t variant = (uint64_t)(in_place * 2 + unequal);
                if ((large || test_with_tsan) && turn % 4 != variant)
                    continue;
                if (large && test_with_tsan && turn % 3 != (uint64_t)(memory - TEST_HEAP))
                    continue;
                collective.memory = (enum test_memory_kind)memory;
                collective.in_place = in_place;
                collective.unequal = unequal;
                collective.root = (int64_t)(collective.seed % (uint64_t)dt_world(ctx));
                collective.seed = collective.seed / 16 * 16 + (collective.seed + 1) % 16;
                if (test_run_once(ctx, dt_group_world(ctx), &collective))
                    return 1;
            }
    return 0;
}

/* A race detector gets some dtypes of each op: how ranks synchronize does not depend on the dtype. */
static bool is_left_out(int op, int dtype) { return test_with_tsan && (op + dtype) % 5; }

static int every_dtype_and_reduction(dt_ctx *ctx, void *arg) {
    (void)arg;
    uint64_t seed = test_seed(1);
    for (int op = DT_BARRIER; op < DT_SEND; op++)
        for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++)
            for (int reduce = 0; reduce < DT_N_REDUCES; reduce++) {
                bool reduces = op == DT_ALL_REDUCE || op == DT_REDUCE_SCATTER;
                if (reduces ? !dt_reduce_allowed((dt_dtype)dtype, (dt_reduce)reduce) : reduce > 0)
                    continue;
                if (is_left_out(op, dtype))
                    continue;
                const int64_t counts[] = {1, 7, 1500};
                for (int i = 0; i < 3; i++)
                    if (run_all_variants(ctx, (test_case){.op = (dt_collective)op,
                                                          .dtype = (dt_dtype)dtype,
                                                          .reduce = (dt_reduce)reduce,
                                                          .count = counts[i],
                                                          .seed = seed += 16}))
                        return 1;
            }
    return 0;
}

static int sizes_around_thresholds(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    const int64_t bytes[] = {0,
                             4,
                             12,
                             DT__INLINE_BYTES,
                             DT__INLINE_BYTES + 4,
                             DT__INLINE_BYTES / n / 4 * 4,
                             DT__COPIED_BYTES,
                             DT__COPIED_BYTES + 4,
                             DT__COPIED_BYTES / n / 4 * 4,
                             DT__COPIED_BYTES / n / 4 * 4 + 4,
                             DT__EAGER_BYTES - 4,
                             DT__EAGER_BYTES,
                             DT__EAGER_BYTES + 4,
                             DT__EAGER_BYTES / n / 4 * 4,
                             DT__EAGER_BYTES / n / 4 * 4 + 4,
                             DT__STAGING_BYTES / 2,
                             DT__STAGING_BYTES / 2 + 4,
                             DT__STAGING_BYTES / n / 4 * 4,
                             DT__STAGING_BYTES / n / 4 * 4 + 4,
                             DT__STAGING_BYTES - 4,
                             DT__STAGING_BYTES + 12,
                             (1 << 20) + 4,
                             DT__REDUCE_STAGING_BYTES / 2 + 4,
                             DT__AT_ONCE_BYTES,
                             DT__AT_ONCE_BYTES + 4,
                             DT__STREAM_ABOVE + 4};
    uint64_t seed = test_seed(77);
    for (int op = DT_BARRIER; op < DT_SEND; op++)
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes && (bytes[i] <= BLOCK_LIMIT || op == DT_ALL_REDUCE); i++)
            if (run_all_variants(
                    ctx,
                    (test_case){.op = (dt_collective)op, .dtype = DT_F32, .count = bytes[i] / 4, .seed = seed += 16}))
                return 1;
    return 0;
}

static void collectives__every_dtype_and_reduction(void **state) {
    (void)state;
    for (int i = 0; i < N_RANK_COUNTS; i++)
        run_ranks(rank_counts[i], every_dtype_and_reduction, NULL);
}

static void collectives__sizes_around_every_threshold(void **state) {
    (void)state;
    for (int i = 0; i < N_RANK_COUNTS; i++)
        run_ranks(rank_counts[i], sizes_around_thresholds, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives__every_dtype_and_reduction),
        cmocka_unit_test(collectives__sizes_around_every_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
