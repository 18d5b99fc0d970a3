/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks as threads of one process. The driver exists so that a race detector sees what ranks do to each other: built
 * with one, every test that runs ranks runs them in this way. Here it is tested itself, in every build, together with
 * small collectives in tight succession, where ranks interleave most closely.
 *
 * mpi: no: ranks are threads of one process
 */
#include "support/collectives.h"
#include "support/launch.h"

#include "base/ctx.h"
#include "launch/launch.h"

#include <string.h>

static const dt_init_options small = {.heap_bytes = (size_t)128 << 20, .timeout_s = 60};

static void run_threads(int64_t n, dt_rank_fn *fn, void *arg) {
    int codes[TEST_MAX_RANKS] = {0};
    assert_true(dt__run_threads(n, &small, fn, arg, codes));
    for (int64_t rank = 0; rank < n; rank++)
        if (codes[rank])
            fail_msg("rank %lld of %lld failed", (long long)rank, (long long)n);
    assert_nothing_leaks();
}

/* Every op on small sizes, one after the other without a pause, on the world and on its ranks in reverse order; in
 * each pair of calls the second is started before the first runs. */
static int overlap_calls(dt_ctx *ctx, void *arg) {
    int n_calls = *(int *)arg;
    int64_t n = dt_world(ctx), ranks[TEST_MAX_RANKS];
    for (int64_t i = 0; i < n; i++)
        ranks[i] = n - 1 - i;
    dt_group *groups[2] = {dt_group_world(ctx), dt_group_new(ctx, ranks, n)};
    uint64_t random = test_seed(17);
    for (int k = 0; k < n_calls; k++) {
        test_run first, second;
        test_case collective[2] = {test_random_case(&random, n, 300), test_random_case(&random, n, 30000)};
        dt_group *a = groups[test_below(&random, 2)], *b = groups[test_below(&random, 2)];
        CHECK(!test_prepare(&first, ctx, a, &collective[0]) && !test_prepare(&second, ctx, b, &collective[1]), "%s",
              dt_error_text(ctx));
        dt_work *work = dt_comm_start(b, &second.call);
        CHECK_OK(ctx, dt_comm_run(a, &first.call));
        CHECK_OK(ctx, dt_work_wait(work));
        if (test_finish(&first) || test_finish(&second))
            return 1;
    }
    dt_group_release(groups[1]);
    return 0;
}

static void threads__compute_the_expected_values(void **state) {
    (void)state;
    static const int64_t n_ranks[] = {1, 2, 3, 5, 8};
    for (size_t i = 0; i < sizeof n_ranks / sizeof *n_ranks; i++)
        run_threads(n_ranks[i], overlap_calls, &(int){200});
}

/* The smallest messages, whose data is in the header, many times more than there are header slots. */
static int run_small_calls(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *world = dt_group_world(ctx);
    int64_t n = dt_world(ctx), own_rank = dt_rank(ctx);
    for (int64_t k = 0; k < 500; k++) {
        int64_t value = k + own_rank, sum = 0, root = k % n, shared = own_rank == root ? k : -1;
        CHECK_OK(ctx, dt_comm_all_reduce(world, &value, &sum, 1, DT_I64, DT_SUM));
        CHECK(sum == n * k + n * (n - 1) / 2, "step %lld: the sum is %lld", (long long)k, (long long)sum);
        CHECK_OK(ctx, dt_comm_broadcast(world, &shared, &shared, 1, DT_I64, root));
        CHECK(shared == k, "step %lld: the value is %lld", (long long)k, (long long)shared);
        if (k % 50 == 0)
            CHECK_OK(ctx, dt_comm_barrier(world));
    }
    return 0;
}

static void threads__run_small_calls(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 4; n++)
        run_threads(n, run_small_calls, NULL);
}

static int return_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    return (int)dt_rank(ctx) * 3;
}

static void threads__return_what_their_functions_return(void **state) {
    (void)state;
    int codes[4] = {-1, -1, -1, -1};
    assert_true(dt__run_threads(4, &small, return_rank, NULL, codes));
    for (int i = 0; i < 4; i++)
        assert_int_equal(codes[i], i * 3);
    assert_true(dt__run_threads(2, &small, return_rank, NULL, NULL));
}

static int leave_early(dt_ctx *ctx, void *arg) {
    (void)arg;
    if (dt_rank(ctx) == 1)
        return 0;
    dt_status status = dt_comm_barrier(dt_group_world(ctx));
    CHECK(status == DT_ERR_PEER, "%s", dt_status_name(status));
    CHECK(strstr(dt_error_text(ctx), "rank 1 has closed its context"), "%s", dt_error_text(ctx));
    ctx->status = DT_OK;
    return 0;
}

static void threads__detect_a_rank_that_leaves(void **state) {
    (void)state;
    run_threads(3, leave_early, NULL);
}

static void threads__need_at_least_one(void **state) {
    (void)state;
    assert_false(dt__run_threads(0, &small, return_rank, NULL, NULL));
    assert_false(dt__run_threads(-1, &small, return_rank, NULL, NULL));
    assert_false(dt__run_threads(DT__MAX_RANKS + 1, &small, return_rank, NULL, NULL));
    assert_nothing_leaks();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads__compute_the_expected_values),
        cmocka_unit_test(threads__run_small_calls),
        cmocka_unit_test(threads__return_what_their_functions_return),
        cmocka_unit_test(threads__detect_a_rank_that_leaves),
        cmocka_unit_test(threads__need_at_least_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
