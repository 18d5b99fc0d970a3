/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_error_clear: a program whose ranks got an error, each its own, continues on all of them. Broken groups stay
 * broken, new groups work, and no rank waits for one that is about to clear.
 */
#include "support/collectives.h"
#include "support/launch.h"

#include "base/ctx.h"
#include "comm/comm.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RANKS = 8 };
static const int64_t worlds[] = {1, 2, 3, 5};

static dt_group *new_world_group(dt_ctx *ctx) {
    int64_t ranks[MAX_RANKS];
    for (int64_t i = 0; i < dt_world(ctx); i++)
        ranks[i] = i;
    return dt_group_new(ctx, ranks, dt_world(ctx));
}

static int run_collectives(dt_ctx *ctx, dt_group *group, uint64_t stream, int n) {
    uint64_t random = test_seed(stream);
    for (int i = 0; i < n; i++) {
        test_case collective = test_random_case(&random, dt_group_size(group), 50000);
        if (test_run_once(ctx, group, &collective))
            return 1;
    }
    return 0;
}

/* One rank gets a local error, the others wait for it in a call; all clear and continue. */
static int fail_and_continue(dt_ctx *ctx, void *arg) {
    (void)arg;
    uint64_t random = test_seed(1);
    int64_t own_rank = dt_rank(ctx);
    dt_group *pair = dt_world(ctx) > 2 ? dt_group_new(ctx, (int64_t[]){1, 0}, 2) : NULL;
    for (int k = 0; k < 20; k++) {
        dt_group *group = new_world_group(ctx);
        int64_t victim = test_below(&random, dt_world(ctx));
        if (run_collectives(ctx, group, (uint64_t)k, 5) ||
            (pair && own_rank < 2 && run_collectives(ctx, pair, (uint64_t)k, 5)))
            return 1;
        double start = test_seconds();
        if (own_rank == victim && k % 3)
            test_sleep(0.002);
        dt_status status =
            own_rank == victim ? dt_error_set(ctx, DT_ERR_SYSTEM, "disk full") : dt_comm_barrier(group);
        CHECK(status == (own_rank == victim ? DT_ERR_SYSTEM : DT_ERR_PEER), "%s: %s", dt_status_name(status),
              dt_error_text(ctx));
        CHECK(own_rank != victim || !pair || dt_comm_barrier(pair) == (own_rank < 2 ? DT_ERR_SYSTEM : DT_ERR_STATE),
              "expected an error for a call of a rank with a local error");
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(test_seconds() - start < 10 * test_slowness, "it took %g s", test_seconds() - start);
        CHECK(!dt_failed(ctx) && !*dt_error_text(ctx), "the error is still set: %s", dt_error_text(ctx));
        status = dt_comm_barrier(group);
        CHECK(status == DT_ERR_GROUP, "expected group, got %s: %s", dt_status_name(status), dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
        dt_group_release(group);
        if (run_collectives(ctx, dt_group_world(ctx), (uint64_t)k, 3))
            return 1;
    }
    dt_group_release(pair);
    return 0;
}

static void clear__lets_new_groups_of_the_same_ranks_work(void **state) {
    (void)state;
    test_memory memory;
    for (int64_t n = 2; n <= 5; n++)
        run_ranks_with(&(test_ranks){.n = n, .counted = &memory, .options = {.heap_bytes = (size_t)64 << 20}},
                       fail_and_continue, NULL);
}

/* A rank that did not see the failure, because it did not wait or was not in the call, gets it afterwards. */
static int fail_unnoticed(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t own_rank = dt_rank(ctx), values[200] = {0};
    dt_group *group = new_world_group(ctx), *unused = new_world_group(ctx), *world = dt_group_world(ctx);
    for (int64_t k = 1; k < 12; k++) {
        values[0] = own_rank == 0 ? k : -1;
        CHECK_OK(ctx, dt_comm_broadcast(k % 2 ? group : world, values, values, 200, DT_I64, 0));
        CHECK(values[0] == k, "expected %lld, got %lld", (long long)k, (long long)values[0]);
    }
    /* Rank 1 gets a local error and skips a broadcast, which the root and the others complete. */
    values[0] = own_rank == 0 ? 100 : -1;
    dt_status status = own_rank == 1 ? dt_error_set(ctx, DT_ERR_SYSTEM, "disk full")
                                     : dt_comm_broadcast(group, values, values, 200, DT_I64, 0);
    CHECK(status == (own_rank == 1 ? DT_ERR_SYSTEM : DT_OK), "%s: %s", dt_status_name(status), dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    /* Rank 1 must not take that broadcast for the next one. */
    values[0] = own_rank == 0 ? 101 : -1;
    status = dt_comm_broadcast(group, values, values, 200, DT_I64, 0);
    CHECK(status == DT_ERR_GROUP, "%s with value %lld: %s", dt_status_name(status), (long long)values[0],
          dt_error_text(ctx));
    ctx->status = DT_OK;
    /* A group that was created before and is used for the first time now is broken on all ranks. */
    status = dt_comm_barrier(unused);
    CHECK(status == DT_ERR_GROUP || status == DT_ERR_MISMATCH, "%s: %s", dt_status_name(status), dt_error_text(ctx));
    ctx->status = DT_OK;
    dt_group_release(unused);
    dt_group_release(group);
    values[0] = own_rank == 0 ? 102 : -1;
    CHECK_OK(ctx, dt_comm_broadcast(world, values, values, 200, DT_I64, 0));
    CHECK(values[0] == 102, "expected 102, got %lld", (long long)values[0]);
    group = new_world_group(ctx);
    if (run_collectives(ctx, group, 5, 20))
        return 1;
    dt_group_release(group);
    return 0;
}

static void clear__breaks_groups_whose_call_counts_differ(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 5; n++)
        run_ranks(n, fail_unnoticed, NULL);
}

/* A rank that clears at once must not leave the others waiting for it: they cannot clear while they wait. */
static int clear_at_once(dt_ctx *ctx, void *arg) {
    (void)arg;
    uint64_t random = test_seed(77);
    for (int k = 0; k < 60; k++) {
        dt_group *group = new_world_group(ctx);
        int64_t clearing_rank = test_below(&random, dt_world(ctx)), delay = test_below(&random, 300);
        bool has_error = test_below(&random, 2);
        double start = test_seconds();
        if (dt_rank(ctx) == clearing_rank) {
            test_sleep((double)delay * 1e-6);
            if (has_error)
                dt_error_set(ctx, DT_ERR_SYSTEM, "disk full");
        } else {
            dt_status status = dt_comm_barrier(group);
            CHECK(status == DT_ERR_PEER, "%s: %s", dt_status_name(status), dt_error_text(ctx));
        }
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(test_seconds() - start < 10 * test_slowness, "it took %g s", test_seconds() - start);
        dt_group_release(group);
    }
    return 0;
}

static void clear__does_not_wait_for_ranks_that_wait(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 5; n++)
        run_ranks(n, clear_at_once, NULL);
}

static int clear_without_error(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *group = new_world_group(ctx);
    for (int k = 0; k < 50; k++) {
        CHECK_OK(ctx, dt_error_clear(ctx));
        if (run_collectives(ctx, k % 2 ? group : dt_group_world(ctx), (uint64_t)k, 3))
            return 1;
    }
    dt_group_release(group);
    return 0;
}

static void clear__without_an_error_changes_nothing(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 5; n += 2)
        run_ranks(n, clear_without_error, NULL);
    dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
    assert_int_equal(dt_error_set(ctx, DT_ERR_SYSTEM, "mine"), DT_ERR_SYSTEM);
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    assert_false(dt_failed(ctx));
    assert_int_equal(dt_error_clear(NULL), DT_ERR_STATE);
    assert_int_equal(dt_close(ctx), 0);
}

/* An error that every rank detects for itself. */
static int fail_agreed(dt_ctx *ctx) {
    CHECK(!dt_group_new(ctx, (int64_t[]){dt_world(ctx)}, 1),
          "expected an error for a rank outside the world, got a group");
    CHECK(dt_error_status(ctx) == DT_ERR_VALUE, "expected value, got %s: %s", dt_status_name(dt_error_status(ctx)),
          dt_error_text(ctx));
    return 0;
}

/* Rank 0 clears its agreed error before the others get theirs: nothing can have been exchanged. */
static int clear_agreed(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *world = dt_group_world(ctx);
    const struct dt__rank_block *own = dt__runtime_of(ctx)->board->own;
    int32_t token = 1;
    for (int k = 0; k < 20; k++) {
        CHECK_OK(ctx, dt_comm_barrier(world));
        if (dt_rank(ctx) > 0)
            CHECK_OK(ctx, dt_comm_recv(world, &token, 1, DT_I32, 0));
        uint32_t n_events = atomic_load(dt__runtime_of(ctx)->board->n_events);
        uint64_t n_calls = atomic_load(&own->n_calls);
        if (fail_agreed(ctx))
            return 1;
        CHECK_OK(ctx, dt_error_clear(ctx));
        CHECK(!dt_failed(ctx) && !*dt_error_text(ctx), "the error is still recorded: %s", dt_error_text(ctx));
        CHECK(atomic_load(dt__runtime_of(ctx)->board->n_events) == n_events, "expected %u events, got %u", n_events,
              atomic_load(dt__runtime_of(ctx)->board->n_events));
        CHECK(atomic_load(&own->n_calls) == n_calls, "expected %llu calls, got %llu", (unsigned long long)n_calls,
              (unsigned long long)atomic_load(&own->n_calls));
        for (int64_t rank = 1; dt_rank(ctx) == 0 && rank < dt_world(ctx); rank++)
            CHECK_OK(ctx, dt_comm_send(world, &token, 1, DT_I32, rank));
        if (run_collectives(ctx, world, (uint64_t)k, 3))
            return 1;
    }
    CHECK_OK(ctx, dt_comm_barrier(world)); /* closing is an event */
    return 0;
}

static void clear__of_an_agreed_error_exchanges_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], clear_agreed, NULL);
}

/* Clears until a barrier of the world succeeds, as a program does that repeats a failed step. The text of an error
 * that a rank gets from a peer is the peer's. */
static int clear_and_repeat(dt_ctx *ctx, const char *text, int *n_repeats) {
    for (*n_repeats = 0;; ++*n_repeats) {
        CHECK_OK(ctx, dt_error_clear(ctx));
        dt_status status = dt_comm_barrier(dt_group_world(ctx));
        if (status == DT_OK)
            return 0;
        CHECK(status == DT_ERR_PEER, "expected peer, got %s: %s", dt_status_name(status), dt_error_text(ctx));
        CHECK(strstr(dt_error_text(ctx), text), "expected '%s', got: %s", text, dt_error_text(ctx));
        CHECK(*n_repeats < 1, "the same error twice: %s", dt_error_text(ctx));
    }
}

/* All ranks have an agreed error, one a local error besides, before or after it. */
static int clear_agreed_and_local(dt_ctx *ctx, void *arg) {
    (void)arg;
    uint64_t random = test_seed(3);
    int n_repeats;
    for (int k = 0; k < 60; k++) {
        int64_t victim = test_below(&random, dt_world(ctx)), delay = test_below(&random, 200);
        bool local_first = test_below(&random, 2);
        double start = test_seconds();
        if (dt_rank(ctx) == victim && local_first)
            dt_error_set(ctx, DT_ERR_SYSTEM, "disk %d is full", k);
        else if (fail_agreed(ctx))
            return 1;
        if (dt_rank(ctx) == victim) {
            test_sleep((double)delay * 1e-6);
            dt_error_set(ctx, DT_ERR_SYSTEM, "disk %d is full", k);
            CHECK(dt_error_status(ctx) == (local_first ? DT_ERR_SYSTEM : DT_ERR_VALUE), "the first error is kept: %s",
                  dt_error_text(ctx));
        }
        char text[64];
        snprintf(text, sizeof text, "system: disk %d is full", k);
        if (clear_and_repeat(ctx, text, &n_repeats) || run_collectives(ctx, dt_group_world(ctx), (uint64_t)k, 2))
            return 1;
        CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
        /* Far below the deadline of 300 s: no rank waited for it. On a loaded machine clearing takes seconds. */
        CHECK(test_seconds() - start < 20 * test_slowness, "it took %g s", test_seconds() - start);
    }
    return 0;
}

static void clear__of_an_agreed_error_does_not_lose_a_local_one(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], clear_agreed_and_local, NULL);
}

/* Rank 0 has cleared its agreed error and waits in a collective when the last rank gets a local error. */
static int clear_before_local(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *world = dt_group_world(ctx);
    int64_t own_rank = dt_rank(ctx), last = dt_world(ctx) - 1;
    int32_t token = 1;
    for (int k = 0; k < 20; k++) {
        int n_repeats = 0;
        if (fail_agreed(ctx))
            return 1;
        if (own_rank == 0) {
            CHECK_OK(ctx, dt_error_clear(ctx));
            CHECK_OK(ctx, dt_comm_send(world, &token, 1, DT_I32, last));
            dt_status status = dt_comm_barrier(world);
            CHECK(status == DT_ERR_PEER, "expected peer, got %s: %s", dt_status_name(status), dt_error_text(ctx));
            CHECK(strstr(dt_error_text(ctx), "system: disk full"), "got: %s", dt_error_text(ctx));
        } else if (own_rank == last) {
            CHECK_OK(ctx, dt_comm_recv(world, &token, 1, DT_I32, 0));
            if (k % 2)
                test_sleep(0.002);
            dt_error_set(ctx, DT_ERR_SYSTEM, "disk full");
        }
        if (clear_and_repeat(ctx, "system: disk full", &n_repeats) || run_collectives(ctx, world, (uint64_t)k, 3))
            return 1;
        CHECK(n_repeats == 0 || (own_rank != 0 && own_rank != last), "rank %lld repeated its step",
              (long long)own_rank);
        CHECK_OK(ctx, dt_comm_barrier(world));
    }
    return 0;
}

static void clear__of_an_agreed_error_may_precede_a_local_one(void **state) {
    (void)state;
    for (size_t i = 1; i < sizeof worlds / sizeof *worlds; i++)
        run_ranks(worlds[i], clear_before_local, NULL);
}

/* How the last rank is absent. */
enum absence { DEAD, CLOSED, N_ABSENCES };

static int clear_without_one(dt_ctx *ctx, void *arg) {
    enum absence absence = *(enum absence *)arg;
    if (dt_rank(ctx) == dt_world(ctx) - 1) {
        if (absence == DEAD)
            kill(getpid(), SIGKILL);
        int code = dt_close(ctx);
        test_sleep(1.5 * test_slowness);
        return code;
    }
    double start = test_seconds();
    dt_status status = dt_error_clear(ctx);
    CHECK(status == DT_ERR_PEER, "%s: %s", dt_status_name(status), dt_error_text(ctx));
    CHECK(strstr(dt_error_text(ctx), "rank 2"), "%s", dt_error_text(ctx));
    CHECK(test_seconds() - start < 10 * test_slowness, "it took %g s", test_seconds() - start);
    /* The program may still continue without that rank. */
    dt_group *rest = dt_group_new(ctx, (int64_t[]){0, 1}, 2);
    if (run_collectives(ctx, rest, 9, 10))
        return 1;
    ctx->status = DT_OK;
    return dt_close(ctx);
}

static void clear__reports_a_rank_that_is_gone(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    for (enum absence absence = DEAD; absence < N_ABSENCES; absence++) {
        test_launch launch = {.notifies = absence == CLOSED};
        test_launch_begin(&launch, 3, NULL, clear_without_one, &absence);
        test_launch_end(&launch, 60 * test_slowness);
        for (int rank = 0; rank < 3; rank++)
            assert_int_equal(launch.statuses[rank], rank == 2 && absence == DEAD ? SIGKILL : 0);
    }
}

/* Memory for what arrives early. The last rank broadcasts ahead of the others; the n-th allocation of rank 0, which is
 * late, fails. Between nodes that is a local error, as any other: all ranks clear it and continue. */
struct early {
    test_memory memory;
    long n;
};

static int clear_after_exhausted_memory(dt_ctx *ctx, void *arg) {
    struct early *test = arg;
    int64_t n = dt_world(ctx);
    float value = 1;
    dt_status status = DT_OK;
    CHECK_OK(ctx, dt_comm_all_reduce(dt_group_world(ctx), &value, &value, 1, DT_F32, DT_SUM));
    if (dt_rank(ctx) == 0) {
        test_sleep(0.05);
        test->memory.fail_at = test->memory.n_calls + test->n;
    }
    for (int i = 0; i < 100 && status == DT_OK; i++)
        status = dt_comm_broadcast(dt_group_world(ctx), &value, &value, 1, DT_F32, n - 1);
    if (status == DT_OK)
        status = dt_comm_barrier(dt_group_world(ctx));
    if (dt_rank(ctx) == 0) {
        bool has_failed = test->memory.n_calls >= test->memory.fail_at;
        test->memory.fail_at = 0;
        CHECK(status == (has_failed ? DT_ERR_MEMORY : DT_OK), "%s: %s", dt_status_name(status), dt_error_text(ctx));
    }
    CHECK_OK(ctx, dt_error_clear(ctx));
    for (int i = 0; i < 3; i++) {
        value = 1;
        CHECK_OK(ctx, dt_comm_all_reduce(dt_group_world(ctx), &value, &value, 1, DT_F32, DT_SUM));
        CHECK(value == (float)n, "expected %lld, got %g", (long long)n, (double)value);
    }
    return 0;
}

static void clear__continues_after_exhausted_memory(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 4; n++)
        for (long k = 1; k <= 3; k++) {
            struct early test = {.n = k};
            run_ranks_with(&(test_ranks){.n = n, .counted = &test.memory}, clear_after_exhausted_memory, &test);
        }
}

/* The next permutation of six ranks. */
static void permute(int64_t *ranks) {
    int i = 4, j = 5;
    while (i >= 0 && ranks[i] > ranks[i + 1])
        i--;
    while (i >= 0 && ranks[j] < ranks[i])
        j--;
    int64_t first = i >= 0 ? ranks[i] : 0;
    if (i >= 0) {
        ranks[i] = ranks[j];
        ranks[j] = first;
    }
    for (int a = i + 1, b = 5; a < b; a++, b--) {
        int64_t last = ranks[b];
        ranks[b] = ranks[a];
        ranks[a] = last;
    }
}

/* Rank 0 sends one message to rank 1 in a group of each of so many orders: each order has a channel of its own. */
static int send_in_many_orders(dt_ctx *ctx, int n) {
    int64_t ranks[] = {0, 1, 2, 3, 4, 5}, value = 0;
    for (int i = 0; i < n; i++, permute(ranks)) {
        dt_group *group = dt_group_new(ctx, ranks, 6);
        CHECK(group, "%s", dt_error_text(ctx));
        int64_t places[2] = {0, 0}, sent = i;
        for (int64_t k = 0; k < 6; k++)
            if (ranks[k] < 2)
                places[ranks[k]] = k;
        if (dt_rank(ctx) == 0)
            CHECK_OK(ctx, dt_comm_send(group, &sent, 1, DT_I64, places[1]));
        if (dt_rank(ctx) == 1)
            CHECK_OK(ctx, dt_comm_recv(group, &value, 1, DT_I64, places[0]));
        CHECK(dt_rank(ctx) != 1 || value == i, "expected %d, got %lld", i, (long long)value);
        dt_group_release(group);
    }
    return 0;
}

static int clear_with_many_channels(dt_ctx *ctx, void *arg) {
    enum { N = 330 }; /* more than keep their blocks */
    (void)arg;
    for (int round = 0; round < 3; round++) {
        if (send_in_many_orders(ctx, N))
            return 1;
        CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
        if (dt_rank(ctx) == round)
            CHECK(!dt_heap_alloc(ctx, SIZE_MAX / 2), "half of all addresses were allocated");
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    return send_in_many_orders(ctx, N);
}

/* Clearing claims a block for each channel, which must not take those of channels that have published their state. */
static void clear__of_more_channels_than_keep_their_blocks(void **state) {
    (void)state;
    run_ranks(6, clear_with_many_channels, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clear__lets_new_groups_of_the_same_ranks_work),
        cmocka_unit_test(clear__breaks_groups_whose_call_counts_differ),
        cmocka_unit_test(clear__does_not_wait_for_ranks_that_wait),
        cmocka_unit_test(clear__without_an_error_changes_nothing),
        cmocka_unit_test(clear__of_an_agreed_error_exchanges_nothing),
        cmocka_unit_test(clear__of_an_agreed_error_does_not_lose_a_local_one),
        cmocka_unit_test(clear__of_an_agreed_error_may_precede_a_local_one),
        cmocka_unit_test(clear__reports_a_rank_that_is_gone),
        cmocka_unit_test(clear__continues_after_exhausted_memory),
        cmocka_unit_test(clear__of_more_channels_than_keep_their_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
