/* SPDX-License-Identifier: Apache-2.0
 *
 * Thousands of random redistributions: meshes, shard orders, strided shards, explicit extents, dtypes, planners,
 * memory. DTENSOR_TEST_RUNS is their number for each number of ranks.
 *
 * ctest: labels=long timeout=1800 processors=2
 */
#include "move/moves.h"

static int64_t setting(const char *variable, int64_t default_value) {
    const char *text = getenv(variable);
    return text && *text ? strtoll(text, NULL, 10) : default_value;
}

static int run_random_cases(dt_ctx *ctx, void *arg) {
    (void)arg;
    static _Thread_local moves_case test;
    int64_t n = setting("DTENSOR_TEST_RUNS", 4000);
    uint64_t random = test_seed((uint64_t)dt_world(ctx));
    for (int64_t i = 0; i < n; i++) {
        moves_random(&random, dt_world(ctx), i % 40 == 0, &test);
        if (moves_run(ctx, &test))
            return 1;
    }
    return 0;
}

static void redistribute__has_the_values_of_thousands_of_random_moves(void **state) {
    (void)state;
    static const int64_t n_ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
    for (size_t i = 0; i < sizeof n_ranks / sizeof *n_ranks; i++)
        run_ranks(n_ranks[i], run_random_cases, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redistribute__has_the_values_of_thousands_of_random_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
