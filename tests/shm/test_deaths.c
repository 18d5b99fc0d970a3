/* SPDX-License-Identifier: Apache-2.0
 *
 * Deaths of ranks, and errors that are reported after their rank has ended: a death is detected while another rank is
 * late or stopped, the headline names the rank that died and not one that closed because of it, the cause of a
 * failure is still reported after the rank has closed its context, and dt_close waits for no peer.
 *
 * mpi: no: ranks are killed; mpi.faults kills some
 */
#include "support/launch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RANKS = 5, TIMEOUT_S = 30 };

/* Shared by the ranks and the test. */
struct board {
    _Atomic int32_t n_reported; /* survivors that have got their error */
    _Atomic int32_t stage;
};
static struct board *board;

static void begin_test(test_launch *launch, int64_t n, dt_rank_fn *fn, void *arg) {
    if (!board)
        board = test_shared_memory(sizeof *board);
    memset(board, 0, sizeof *board);
    dt_init_options options = {.timeout_s = TIMEOUT_S * test_slowness, .heap_bytes = (size_t)64 << 20};
    test_launch_begin(launch, n, &options, fn, arg);
}

static void end_test(test_launch *launch) {
    test_launch_end(launch, 2 * TIMEOUT_S * test_slowness);
    for (int64_t rank = 0; rank < launch->n; rank++)
        if (launch->statuses[rank] && !WIFSIGNALED(launch->statuses[rank]))
            fail_msg("rank %lld failed", (long long)rank);
}

static void wait_until(const _Atomic int32_t *word, int32_t value) {
    while (atomic_load(word) < value)
        test_sleep(0.001);
}

/* Checks the status, and that the headline contains `part` and the text `part2`. */
static int check_error(const dt_ctx *ctx, dt_status status, const char *part, const char *part2) {
    CHECK(dt_error_status(ctx) == status, "rank %lld: got %s: %s", (long long)dt_rank(ctx),
          dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
    const char *end = strstr(dt_error_text(ctx), "\n  rank"); /* the state of each rank follows the headline */
    size_t headline = end ? (size_t)(end - dt_error_text(ctx)) : strlen(dt_error_text(ctx));
    const char *found = strstr(dt_error_text(ctx), part);
    CHECK(found && (size_t)(found - dt_error_text(ctx)) < headline, "expected a headline with \"%s\", got: %s", part,
          dt_error_text(ctx));
    CHECK(strstr(dt_error_text(ctx), part2), "expected \"%s\", got: %s", part2, dt_error_text(ctx));
    return 0;
}

/* Rank 0 is late, rank 1 is killed inside the call, the others wait in it. */

struct late {
    int64_t count;  /* elements of an all_reduce; 0: a barrier */
    bool is_tested; /* dt_work_test instead of a blocking call */
    bool stop;      /* rank 0 is stopped in an earlier call; otherwise it sleeps outside the library */
};

static dt_status run_late_call(dt_ctx *ctx, const struct late *late) {
    dt_group *world = dt_group_world(ctx);
    dt_comm_call call = {.op = late->count ? DT_ALL_REDUCE : DT_BARRIER, .dtype = DT_F32, .count = late->count};
    if (late->count) {
        call.src = call.dst = dt_heap_alloc(ctx, (size_t)late->count * 4);
        memset(call.dst, 0, (size_t)late->count * 4);
    }
    if (!late->is_tested)
        return dt_comm_run(world, &call);
    dt_work *work = dt_comm_start(world, &call);
    while (dt_work_test(work) == DT_IN_PROGRESS)
        test_sleep(0.0005);
    return dt_work_wait(work);
}

static int run_with_late_rank(dt_ctx *ctx, void *arg) {
    const struct late *late = arg;
    if (dt_rank(ctx) == 0) {
        if (late->stop)
            raise(SIGSTOP);
        atomic_store(&board->stage, 1);
        wait_until(&board->n_reported, (int32_t)dt_world(ctx) - 2);
        dt_close(ctx);
        return 0;
    }
    run_late_call(ctx, late);
    int code = check_error(ctx, DT_ERR_PEER, "rank 1 is dead", "rank 0");
    atomic_fetch_add(&board->n_reported, 1);
    freopen("/dev/null", "w", stderr);
    dt_close(ctx);
    return code;
}

static bool is_inside_a_call(const test_launch *launch, int64_t rank) {
    const struct dt__rank_block *block = &launch->segment->ranks[rank];
    return atomic_load(&block->n_calls) == 1 && atomic_load(&block->recent[0].start_ns);
}

static void run_late(int64_t n, const struct late *late, bool notifies) {
    test_launch launch = {.notifies = notifies};
    begin_test(&launch, n, run_with_late_rank, (void *)late);
    for (int64_t rank = 1; rank < n; rank++)
        while (!is_inside_a_call(&launch, rank))
            test_sleep(0.001);
    kill(launch.pids[1], SIGKILL);
    while (atomic_load(&board->n_reported) < n - 2 && test_launch_poll(&launch))
        test_sleep(0.001);
    while (late->stop && !atomic_load(&board->stage) && test_launch_poll(&launch) && launch.pids[0]) {
        kill(launch.pids[0], SIGCONT); /* until it continues: it may not have stopped yet */
        test_sleep(0.001);
    }
    end_test(&launch);
}

static void death__is_not_hidden_by_a_late_rank(void **state) {
    (void)state;
    for (int64_t n = 3; n <= MAX_RANKS; n++)
        for (int i = 0; i < 12; i++)
            run_late(n, &(struct late){(int64_t[]){0, 100, 200000}[i % 3], i / 3 % 2, i / 6}, i % 2);
}

/* Rank 0 dies; rank 1 is in a group with it, gets the error and closes; rank 2 waits for rank 1 and so on. */

static int wait_for_previous_rank(dt_ctx *ctx, void *arg) {
    int64_t own_rank = dt_rank(ctx);
    dt_group *before = own_rank > 0 ? dt_group_new(ctx, (int64_t[]){own_rank - 1, own_rank}, 2) : NULL;
    dt_group *after = own_rank + 1 < dt_world(ctx) ? dt_group_new(ctx, (int64_t[]){own_rank, own_rank + 1}, 2) : NULL;
    int code = 0;
    (void)after;
    if (own_rank == 0) {
        if (arg) {
            dt_error_set(ctx, DT_ERR_SYSTEM, "weights.npy: Permission denied");
            freopen("/dev/null", "w", stderr);
            dt_close(ctx);
            atomic_store(&board->stage, 1);
            return 0;
        }
        wait_until(&board->stage, 1);
        raise(SIGKILL);
    }
    if (arg)
        wait_until(&board->stage, (int32_t)own_rank);
    else if (own_rank == 1)
        atomic_store(&board->stage, 1);
    dt_comm_barrier(before);
    code = arg ? check_error(ctx, DT_ERR_PEER, "Permission denied", "rank 0")
               : check_error(ctx, DT_ERR_PEER, "rank 0 is dead", "");
    freopen("/dev/null", "w", stderr);
    dt_close(ctx);
    atomic_store(&board->stage, (int32_t)own_rank + 1);
    return code;
}

static void death__is_the_headline_where_survivors_have_closed(void **state) {
    (void)state;
    for (int notifies = 0; notifies < 2; notifies++) {
        test_launch launch = {.notifies = notifies};
        begin_test(&launch, MAX_RANKS, wait_for_previous_rank, NULL);
        end_test(&launch);
    }
}

static void cause__is_reported_after_its_rank_has_closed(void **state) {
    (void)state;
    test_launch launch = {0};
    begin_test(&launch, MAX_RANKS, wait_for_previous_rank, "fails");
    end_test(&launch);
}

/* Rank 1 dies, rank 0 closes because of it, rank 2 clears its error. */
static int clear_after_a_death(dt_ctx *ctx, void *arg) {
    (void)arg;
    int code = 0;
    if (dt_rank(ctx) == 1) {
        wait_until(&board->stage, 1);
        raise(SIGKILL);
    }
    if (dt_rank(ctx) == 0) {
        atomic_store(&board->stage, 1);
        dt_comm_barrier(dt_group_new(ctx, (int64_t[]){0, 1}, 2));
        freopen("/dev/null", "w", stderr);
        dt_close(ctx);
        atomic_store(&board->stage, 2);
        return 0;
    }
    wait_until(&board->stage, 2);
    CHECK(dt_error_clear(ctx) == DT_ERR_PEER, "%s", dt_error_text(ctx));
    code = check_error(ctx, DT_ERR_PEER, "rank 1 is dead", "");
    freopen("/dev/null", "w", stderr);
    dt_close(ctx);
    return code;
}

static void death__is_the_headline_of_error_clear(void **state) {
    (void)state;
    test_launch launch = {0};
    begin_test(&launch, 3, clear_after_a_death, NULL);
    end_test(&launch);
}

/* Rank 0 closes with a started operation for which rank 1 has not arrived, and does not wait for it. */
static int close_with_a_started_operation(dt_ctx *ctx, void *arg) {
    (void)arg;
    static float value[100000];
    dt_comm_call call = {.op = DT_ALL_REDUCE, .dtype = DT_F32, .count = 100000, .src = value, .dst = value};
    if (dt_rank(ctx) == 0) {
        CHECK(dt_comm_start(dt_group_world(ctx), &call), "%s", dt_error_text(ctx));
        freopen("/dev/null", "w", stderr);
        CHECK(dt_close(ctx) == 1, "expected an error for the unfinished operation");
        atomic_store(&board->stage, 1);
        return 0;
    }
    wait_until(&board->stage, 1); /* forever, if rank 0 waits for this rank */
    dt_comm_run(dt_group_world(ctx), &call);
    int code = check_error(ctx, DT_ERR_PEER, "rank 0 has closed its context", "all_reduce");
    freopen("/dev/null", "w", stderr);
    dt_close(ctx);
    return code;
}

static void close__waits_for_no_peer(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 3; n++) {
        test_launch launch = {0};
        begin_test(&launch, n, close_with_a_started_operation, NULL);
        end_test(&launch);
    }
}

/* A started operation that all ranks have made needs no wait before the close. */
static int close_with_a_finished_operation(dt_ctx *ctx, void *arg) {
    (void)arg;
    static float value[4];
    CHECK(dt_comm_start(dt_group_world(ctx),
                        &(dt_comm_call){.op = DT_BROADCAST, .dtype = DT_F32, .count = 4, .src = value, .dst = value}),
          "%s", dt_error_text(ctx));
    atomic_fetch_add(&board->stage, 1);
    wait_until(&board->stage, (int32_t)dt_world(ctx));
    CHECK(dt_close(ctx) == 0, "expected no error for a finished operation");
    return 0;
}

static void close__finishes_what_needs_no_peer(void **state) {
    (void)state;
    test_launch launch = {0};
    begin_test(&launch, 3, close_with_a_finished_operation, NULL);
    end_test(&launch);
}

/* Rank 0 gathers to rank 1, which waits for no rank, and ends with a code; when that is known, rank 1 waits for the
 * others, which are late. */
static int gather_from_dead_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    int64_t own = 10 + dt_rank(ctx), all[MAX_RANKS] = {0};
    if (dt_rank(ctx) > 0)
        wait_until(&board->stage, 1);
    if (dt_rank(ctx) > 1)
        test_sleep(0.3); /* rank 1 should be waiting by now */
    CHECK_OK(ctx, dt_comm_gather(dt_group_world(ctx), &own, all, 1, DT_I64, 1));
    if (dt_rank(ctx) == 0)
        _exit(7);
    for (int64_t i = 0; dt_rank(ctx) == 1 && i < dt_world(ctx); i++)
        CHECK(all[i] == 10 + i, "got %lld from rank %lld", (long long)all[i], (long long)i);
    return dt_close(ctx);
}

static void death__does_not_undo_what_the_rank_has_finished(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 4; n++) {
        test_launch launch = {.notifies = true};
        begin_test(&launch, n, gather_from_dead_rank, NULL);
        while (launch.pids[0] && test_launch_poll(&launch))
            test_sleep(0.001);
        atomic_store(&board->stage, 1);
        assert_int_equal(WEXITSTATUS(launch.statuses[0]), 7);
        launch.statuses[0] = 0;
        end_test(&launch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(death__is_not_hidden_by_a_late_rank),
        cmocka_unit_test(death__is_the_headline_where_survivors_have_closed),
        cmocka_unit_test(cause__is_reported_after_its_rank_has_closed),
        cmocka_unit_test(death__is_the_headline_of_error_clear),
        cmocka_unit_test(death__does_not_undo_what_the_rank_has_finished),
        cmocka_unit_test(close__waits_for_no_peer),
        cmocka_unit_test(close__finishes_what_needs_no_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
