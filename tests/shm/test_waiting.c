/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting ranks yield their core: more ranks than cores get through thousands of small calls, and a rank that
 * waits long uses almost no CPU time, and allocates nothing: memory that fails then would fail a call that needs none.
 */
#include "support/launch.h"

#include <sys/resource.h>
#include <unistd.h>

enum { N_CALLS = 1000, WAIT_US = 1000000, LATE_US = 200000, ALLOWED_CPU_MS = 100 };

static int many_small_calls(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t n = dt_world(ctx);
    for (int64_t i = 0; i < N_CALLS; i++) {
        int64_t value = dt_rank(ctx) + i, sum;
        CHECK_OK(ctx, dt_comm_all_reduce(dt_group_world(ctx), &value, &sum, 1, DT_I64, DT_SUM));
        CHECK(sum == n * (n - 1) / 2 + n * i, "call %lld: %lld", (long long)i, (long long)sum);
    }
    return 0;
}

static long cpu_ms(void) {
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

static int wait_for_a_slow_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t value = 7;
    long before = cpu_ms();
    if (dt_rank(ctx) == 0) {
        usleep(WAIT_US);
        CHECK_OK(ctx, dt_comm_send(dt_group_world(ctx), &value, 1, DT_I64, 1));
    } else if (dt_rank(ctx) == 1) {
        CHECK_OK(ctx, dt_comm_recv(dt_group_world(ctx), &value, 1, DT_I64, 0));
    }
    long used = cpu_ms() - before;
    CHECK(used < ALLOWED_CPU_MS, "waiting %d ms took %ld ms of processor time", WAIT_US / 1000, used);
    return 0;
}

/* The second of two barriers, which the last rank reaches late. */
static int wait_without_allocating(dt_ctx *ctx, void *arg) {
    const test_memory *memory = arg;
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    long before = memory->n_calls;
    if (dt_rank(ctx) == dt_world(ctx) - 1)
        usleep(LATE_US);
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    CHECK(memory->n_calls == before, "rank %lld: %ld allocations", (long long)dt_rank(ctx), memory->n_calls - before);
    return 0;
}

static void waiting__more_ranks_than_cores(void **state) {
    (void)state;
    run_ranks(8, many_small_calls, NULL);
    run_ranks(16, many_small_calls, NULL);
}

static void waiting__sleeps(void **state) {
    (void)state;
    run_ranks(2, wait_for_a_slow_rank, NULL);
    run_ranks(5, wait_for_a_slow_rank, NULL);
}

static void waiting__allocates_nothing(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 4; n++) {
        test_memory memory;
        run_ranks_with(&(test_ranks){.n = n, .counted = &memory}, wait_without_allocating, &memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting__more_ranks_than_cores),
        cmocka_unit_test(waiting__sleeps),
        cmocka_unit_test(waiting__allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
