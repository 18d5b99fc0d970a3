/* SPDX-License-Identifier: Apache-2.0
 *
 * Thousands of random redistributions: meshes, orders, strided shards, explicit extents, dtypes, planners, memory.
 * DTENSOR_TEST_RUNS is their number for each number of ranks.
 *
 * ctest: labels=long timeout=1800 processors=2
 */
#include "move/moves.h"

static int64_t setting(const char *variable, int64_t otherwise) {
    const char *text = getenv(variable);
    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

static int run_many(dt_ctx *ctx, void *arg) {
    (void)arg;
    static _Thread_local moves_case test;
    int64_t n = setting("DTENSOR_TEST_RUNS", 4000);
    uint64_t random = test_seed((uint64_t)dt_world(ctx));
    for (int64_t i = 0; i < n; i++) {
        moves_any(&random, dt_world(ctx), i % 40 == 0, &test);
        if (moves_check(ctx, &test))
            return 1;
    }
    return 0;
}

static void redistribute__has_the_values_of_thousands_of_random_moves(void **state) {
    (void)state;
    static const int64_t n_ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
    for (size_t i = 0; i < sizeof n_ranks / sizeof *n_ranks; i++)
        run_ranks(n_ranks[i], run_many, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redistribute__has_the_values_of_thousands_of_random_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
