/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting and ending: worlds of one, fake worlds, valid, stale and malformed launches;
 * options and environment variables; starting again after closing; ranks forked from inside a program.
 *
 * mpi: no: it is about launches without MPI
 */
#include "support/collectives.h"
#include "support/launch.h"

#include "base/ctx.h"
#include "launch/launch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What fn writes to standard error, truncated to the buffer. */
static void capture(void (*fn)(void *arg), void *arg, char *text, size_t capacity) {
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int saved = dup(2);
    assert_true(dup2(fileno(file), 2) == 2);
    fn(arg);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(file);
    size_t n = fread(text, 1, capacity - 1, file);
    text[n] = 0;
    fclose(file);
}

static void assert_contains(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("expected '%s' in: %s", part, text);
}

struct attempt {
    const dt_init_options *options;
    dt_ctx *ctx;
};

static void try_init(void *arg) {
    struct attempt *attempt = arg;
    attempt->ctx = dt_init(attempt->options);
}

/* dt_init fails and prints the reason. */
static void assert_refused(const dt_init_options *options, const char *part) {
    char text[2048];
    struct attempt attempt = {.options = options};
    capture(try_init, &attempt, text, sizeof text);
    assert_null(attempt.ctx);
    assert_contains(text, "init: ");
    assert_contains(text, part);
}

static void init__alone_is_a_world_of_one(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        dt_ctx *ctx = dt_init(k == 1 ? &(dt_init_options){.transport = "self"} : NULL);
        assert_non_null(ctx);
        assert_int_equal(dt_rank(ctx), 0);
        assert_int_equal(dt_world(ctx), 1);
        assert_int_equal(dt_threads(ctx), dt__usable_cores());
        uint64_t random = test_seed((uint64_t)k);
        for (int i = 0; i < 200; i++) {
            test_case collective = test_random_case(&random, 1, 10000);
            assert_int_equal(test_run_once(ctx, dt_group_world(ctx), &collective), 0);
        }
        assert_int_equal(dt_close(ctx), 0);
    }
    assert_int_equal(dt_close(NULL), 1);
    assert_int_equal(dt_rank(NULL), 0);
    assert_int_equal(dt_world(NULL), 0);
}

static void init__self_receives_what_was_sent(void **state) {
    (void)state;
    dt_ctx *ctx = dt_init(NULL);
    dt_group *world = dt_group_world(ctx);
    int64_t sent = 5, got = 0;
    assert_int_equal(dt_comm_recv(world, &got, 1, DT_I64, 0), DT_ERR_STATE);
    assert_error_contains(ctx, DT_ERR_STATE, "nothing was sent");
    ctx->status = DT_OK;
    assert_int_equal(dt_comm_send(world, &sent, 1, DT_I64, 0), DT_OK);
    assert_int_equal(dt_comm_recv(world, &got, 2, DT_I32, 0), DT_ERR_MISMATCH);
    assert_error_contains(ctx, DT_ERR_MISMATCH, "send of i64 x 1");
    ctx->status = DT_OK;
    assert_int_equal(dt_comm_recv(world, &got, 1, DT_I64, 0), DT_OK);
    assert_int_equal(got, 5);
    assert_int_equal(dt_comm_send(world, &sent, 1, DT_I64, 0), DT_OK); /* never received: freed with the group */
    assert_int_equal(dt_close(ctx), 0);
}

/* Fake worlds. */

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double use_fake_worlds(int64_t n_worlds, int64_t world, test_memory *memory) {
    double start = cpu_seconds();
    for (int64_t k = 0; k < n_worlds; k++) {
        dt_init_options options = {.transport = "fake",
                                   .world = world,
                                   .rank = world - 1,
                                   .heap_bytes = (size_t)1 << 20,
                                   .allocator = test_memory_allocator(memory)};
        dt_ctx *ctx = dt_init(&options);
        assert_non_null(ctx);
        assert_int_equal(dt_rank(ctx), world - 1);
        assert_int_equal(dt_world(ctx), world);
        dt_group *all = dt_group_world(ctx);
        assert_int_equal(dt_group_size(all), world);
        assert_int_equal(dt_group_world_rank(all, world / 2), world / 2);
        dt_group *three_ranks = dt_group_new(ctx, (int64_t[]){world - 1, 0, world / 2}, 3);
        float value = 3, result = 4;
        for (int i = 0; i < 10; i++) {
            assert_int_equal(dt_comm_all_reduce(all, &value, &result, 1, DT_F32, DT_SUM), DT_OK);
            assert_int_equal(dt_comm_all_gather(three_ranks, &value, (float[3]){0}, 1, DT_F32), DT_OK);
            assert_int_equal(dt_comm_barrier(all), DT_OK);
            assert_int_equal(dt_comm_send(all, &value, 1, DT_F32, 0), DT_OK);
            dt_work *work = dt_comm_start(three_ranks, &(dt_comm_call){.op = DT_BARRIER});
            assert_int_equal(dt_work_wait(work), DT_OK);
        }
        assert_true(result == 4); /* no data moves */
        dt_group_release(three_ranks);
        assert_int_equal(dt_close(ctx), 0);
    }
    return cpu_seconds() - start;
}

static void init__fake_worlds_cost_nothing(void **state) {
    (void)state;
    test_memory small = {0}, large = {0};
    double small_cpu_s = use_fake_worlds(300, 7, &small), large_cpu_s = use_fake_worlds(300, 1000000, &large);
    assert_int_equal(small.n_calls, large.n_calls);
    if (large_cpu_s > 10 * small_cpu_s + 0.05 * test_slowness)
        fail_msg("a world of 7 takes %g s of CPU time, one of 1,000,000 takes %g s", small_cpu_s, large_cpu_s);
    assert_refused(&(dt_init_options){.transport = "fake", .world = 5, .rank = 5}, "rank 5 of a world of 5");
    assert_refused(&(dt_init_options){.transport = "fake", .world = -1}, "a world of -1");
    assert_refused(&(dt_init_options){.transport = "fake", .world = 3, .rank = -1}, "rank -1");
}

static void init__contexts_live_side_by_side(void **state) {
    (void)state;
    dt_ctx *self = dt_init(NULL);
    dt_ctx *fake = dt_init(&(dt_init_options){.transport = "fake", .world = 64, .rank = 9});
    dt_ctx *other = dt_init(&(dt_init_options){.transport = "fake", .world = 8, .rank = 1});
    assert_int_equal(dt_world(self), 1);
    assert_int_equal(dt_world(fake), 64);
    assert_int_equal(dt_rank(other), 1);
    int64_t one = 1, sum = 0;
    assert_int_equal(dt_comm_all_reduce(dt_group_world(fake), &one, &sum, 1, DT_I64, DT_SUM), DT_OK);
    assert_int_equal(sum, 0);
    assert_int_equal(dt_comm_all_reduce(dt_group_world(self), &one, &sum, 1, DT_I64, DT_SUM), DT_OK);
    assert_int_equal(sum, 1);
    dt_error_set(fake, DT_ERR_SYSTEM, "of the fake one");
    assert_false(dt_failed(self) || dt_failed(other));
    assert_int_equal(dt_error_clear(fake), DT_OK);
    assert_int_equal(dt_close(fake) + dt_close(self) + dt_close(other), 0);
}

/* Options and environment. */

static void init__options_override_the_environment(void **state) {
    (void)state;
    setenv("DTENSOR_TIMEOUT", "2.5", 1);
    setenv("DTENSOR_HEAP", "64M", 1);
    setenv("DTENSOR_THREADS", "3", 1);
    dt_ctx *ctx = dt_init(NULL);
    assert_true(dt__runtime_of(ctx)->timeout_s == 2.5);
    assert_int_equal(dt__runtime_of(ctx)->heap.bytes, 64 << 20);
    assert_int_equal(dt_threads(ctx), 3);
    assert_int_equal(dt_close(ctx), 0);
    ctx = dt_init(&(dt_init_options){.timeout_s = -1, .heap_bytes = 4 << 20, .threads = 5});
    assert_true(dt__runtime_of(ctx)->timeout_s == -1);
    assert_int_equal(dt__runtime_of(ctx)->heap.bytes, 4 << 20);
    assert_int_equal(dt_threads(ctx), 5);
    assert_int_equal(dt_close(ctx), 0);
    unsetenv("DTENSOR_TIMEOUT");
    unsetenv("DTENSOR_HEAP");
    unsetenv("DTENSOR_THREADS");
    ctx = dt_init(NULL);
    assert_true(dt__runtime_of(ctx)->timeout_s == 300);
    assert_int_equal(dt_close(ctx), 0);
}

static void init__refuses_garbage_in_the_environment(void **state) {
    (void)state;
    static const struct {
        const char *variable, *value;
    } cases[] = {
        {"DTENSOR_TIMEOUT", "soon"},
        {"DTENSOR_TIMEOUT", "3x"},
        {"DTENSOR_TIMEOUT", "nan"},
        {"DTENSOR_TIMEOUT", "0"},
        {"DTENSOR_TIMEOUT", "1e3"},
        {"DTENSOR_HEAP", "much"},
        {"DTENSOR_HEAP", "-1"},
        {"DTENSOR_HEAP", "12Q"},
        {"DTENSOR_HEAP", "1e30"},
        {"DTENSOR_HEAP", "8GG"},
        {"DTENSOR_HEAP", "1e9"},
        {"DTENSOR_THREADS", "two"},
        {"DTENSOR_THREADS", "0"},
        {"DTENSOR_THREADS", "-3"},
        {"DTENSOR_THREADS", "2.7"},
        {"DTENSOR_THREADS", "5000"},
        {"DTENSOR_LOG", "loud"},
        {"DTENSOR_KEEP_FREED", "yes"},
        {"DTENSOR_HEAP_IDLE", "long"},
        {"DTENSOR_HEAP_IDLE", "0"},
        {"DTENSOR_CHECK_CALLS", "yes"},
        {"DTENSOR_KERNELS", "fast"},
        {"DTENSOR_LAUNCH", "shm:"},
        {"DTENSOR_LAUNCH", "garbage"},
        {"DTENSOR_LAUNCH", "shm:3:zz:0:1"},
        {"DTENSOR_LAUNCH", "shm:3:1:0:1 and more"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv(cases[i].variable, cases[i].value, 1);
        assert_refused(NULL, cases[i].variable);
        assert_refused(NULL, cases[i].value);
        unsetenv(cases[i].variable);
    }
    setenv("DTENSOR_LOG", "inof", 1);
    assert_refused(NULL, "expected off, error, warn, info or debug, got \"inof\"; did you mean info?");
    unsetenv("DTENSOR_LOG");
    setenv("DTENSOR_KERNELS", "plane", 1);
    assert_refused(NULL, "got \"plane\"; did you mean plain?");
    unsetenv("DTENSOR_KERNELS");
    assert_refused(&(dt_init_options){.transport = "carrier pigeon"},
                   "self, shm, mpi or fake, got \"carrier pigeon\"");
    assert_refused(&(dt_init_options){.transport = "fkae"},
                   "self, shm, mpi or fake, got \"fkae\"; did you mean fake?");
    assert_refused(&(dt_init_options){.transport = "shm"}, "dtrun -n");
    assert_refused(&(dt_init_options){.world = 4}, "world: expected 1 for a process started alone, got 4");
    assert_refused(&(dt_init_options){.transport = "self", .world = -1}, "got -1");
}

static void init__writes_its_error_into_the_buffer_of_the_caller(void **state) {
    (void)state;
    static const char expected[] =
        "init: DTENSOR_TIMEOUT: expected a duration such as 30 or 500ms, or off, got \"soon\" (at ";
    static const char truncated[] = "init: DTENSOR_TI...";
    char error[256] = "", printed[256];
    setenv("DTENSOR_TIMEOUT", "soon", 1);
    dt_init_options options = {.error = error, .error_bytes = sizeof error};
    struct attempt attempt = {.options = &options};
    capture(try_init, &attempt, printed, sizeof printed);
    assert_null(attempt.ctx);
    assert_int_equal(strncmp(error, expected, strlen(expected)), 0);
    assert_string_equal(printed, "");
    options.error_bytes = sizeof truncated;
    assert_null(dt_init(&options));
    assert_string_equal(error, truncated);
    options.error_bytes = 1;
    assert_null(dt_init(&options));
    assert_string_equal(error, "");
    options.error_bytes = 0; /* as without a buffer */
    assert_refused(&options, expected);
    unsetenv("DTENSOR_TIMEOUT");

    options.error_bytes = sizeof error;
    setenv("DTENSOR_LAUNCH", "garbage", 1);
    assert_null(dt_init(&options));
    assert_contains(error, "DTENSOR_LAUNCH: expected a value set by dtrun, got \"garbage\"");
    unsetenv("DTENSOR_LAUNCH");

    test_memory memory = {.fail_at = 1};
    options.allocator = test_memory_allocator(&memory);
    assert_null(dt_init(&options));
    assert_contains(error, "init: out of memory");
    memory = (test_memory){.fail_at = 2};
    assert_null(dt_init(&options));
    assert_contains(error, "init: out of memory");
    assert_int_equal(memory.n_live, 0);

    memory = (test_memory){0};
    strcpy(error, "as before");
    dt_ctx *ctx = dt_init(&options);
    assert_non_null(ctx);
    assert_string_equal(error, "as before");
    assert_int_equal(dt_close(ctx), 0);
}

static void init__parses_the_environment_as_dtrun_does(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } times[] = {{"3s", 3},   {"500ms", 0.5}, {"2m", 120},  {"0.25", 0.25},
                 {"off", -1}, {"-1", -1},     {"-0.5", -1}, {"", 300}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        setenv("DTENSOR_TIMEOUT", times[i].text, 1);
        dt_ctx *ctx = dt_init(NULL);
        assert_non_null(ctx);
        if (dt__runtime_of(ctx)->timeout_s != times[i].seconds)
            fail_msg("'%s': expected %g s, got %g s", times[i].text, times[i].seconds,
                     dt__runtime_of(ctx)->timeout_s);
        assert_int_equal(dt_close(ctx), 0);
    }
    unsetenv("DTENSOR_TIMEOUT");
    setenv("DTENSOR_HEAP", "0.5GiB", 1);
    dt_ctx *ctx = dt_init(NULL);
    assert_non_null(ctx);
    assert_int_equal(dt__runtime_of(ctx)->heap.bytes, 512 << 20);
    assert_int_equal(dt_close(ctx), 0);
    unsetenv("DTENSOR_HEAP");
}

/* Heaps of default size leave address space for the rest of the program. */
static void init__default_heaps_keep_within_the_limit(void **state) {
    (void)state;
    struct rlimit before, low;
    size_t unlimited = dt__heap_bytes_default(1);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    low = before;
    low.rlim_cur = (rlim_t)8 << 20;
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    size_t one = dt__heap_bytes_default(1), four = dt__heap_bytes_default(4);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(one, 4 << 20);
    assert_int_equal(four, 1 << 20);
    assert_true(unlimited > one);
}

/* The variable of a launch whose descriptor was not inherited, or is another file. */
static void init__refuses_a_stale_launch(void **state) {
    (void)state;
    char text[128], error[256];
    int fd, other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct dt__segment *segment = dt__segment_new(2, (size_t)2 << 20, &fd, error, sizeof error);
    assert_non_null(segment);
    const dt__ticket stale[] = {
        {.fd = 987, .nonce = segment->nonce, .rank = 0, .n_cores = 1},    /* not open */
        {.fd = other, .nonce = segment->nonce, .rank = 0, .n_cores = 1},  /* another file */
        {.fd = fd, .nonce = segment->nonce + 1, .rank = 0, .n_cores = 1}, /* of another launch */
        {.fd = fd, .nonce = segment->nonce, .rank = 2, .n_cores = 1},     /* a rank too many */
        {.fd = fd, .nonce = segment->nonce, .rank = -1, .n_cores = 1},
        {.fd = -1, .nonce = segment->nonce, .rank = 0, .n_cores = 1},
    };
    int files = test_open_files();
    for (size_t i = 0; i < sizeof stale / sizeof *stale; i++) {
        dt__ticket_print(&stale[i], text, sizeof text);
        setenv("DTENSOR_LAUNCH", text, 1);
        assert_refused(NULL, "start ranks with dtrun");
        /* A program that requests a world of its own ignores it. */
        dt_ctx *ctx = dt_init(&(dt_init_options){.transport = "self"});
        assert_non_null(ctx);
        assert_int_equal(dt_close(ctx), 0);
    }
    /* A segment whose header has wrong sizes. */
    segment->heap_bytes *= 2;
    dt__ticket_print(&(dt__ticket){.fd = fd, .nonce = segment->nonce, .n_cores = 1}, text, sizeof text);
    setenv("DTENSOR_LAUNCH", text, 1);
    assert_refused(NULL, "start ranks with dtrun");
    unsetenv("DTENSOR_LAUNCH");
    assert_int_equal(test_open_files(), files);
    dt__segment_unmap(segment);
    close(fd);
    close(other);
    assert_nothing_leaks();
}

/* The log. */

struct lines {
    int n;
    char last[256];
};

static void keep_line(void *user, dt_log_level level, const char *line) {
    struct lines *lines = user;
    lines->n += level >= DT_LOG_ERROR;
    snprintf(lines->last, sizeof lines->last, "%s", line);
}

static void init_and_close(void *arg) {
    dt_ctx *ctx = dt_init(arg);
    assert_int_equal(dt_close(ctx), 0);
}

static void init__logs_to_the_callback_or_standard_error(void **state) {
    (void)state;
    char text[2048];
    struct lines lines = {0};
    dt_init_options options = {.log = keep_line, .log_user = &lines, .log_level = DT_LOG_DEBUG};
    capture(init_and_close, &options, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(lines.n, 2);
    assert_contains(lines.last, "close: 0 collectives with results of 0 B, at most 0 B of the heap in use");
    capture(init_and_close, NULL, text, sizeof text);
    assert_string_equal(text, "");
    setenv("DTENSOR_LOG", "info", 1);
    capture(init_and_close, NULL, text, sizeof text);
    assert_contains(text, "rank 0: info: dtensor ");
    assert_contains(text, dt_version_text());
    assert_contains(text, ": rank 0 of 1, 1 per host, transport self, heap ");
    assert_contains(text, " thread");
    assert_contains(text, "rank 0: info: close: ");
    setenv("DTENSOR_LOG", "warn", 1);
    capture(init_and_close, NULL, text, sizeof text);
    assert_string_equal(text, "");
    unsetenv("DTENSOR_LOG");
}

/* Launches. */

static int use_world(dt_ctx *ctx, uint64_t stream, int n) {
    uint64_t random = test_seed(stream);
    for (int i = 0; i < n; i++) {
        test_case collective = test_random_case(&random, dt_world(ctx), 50000);
        if (test_run_once(ctx, dt_group_world(ctx), &collective))
            return 1;
    }
    return 0;
}

enum { ROUNDS = 12 };

/* How a round ends before closing. */
enum ending { WELL, WITH_LOCAL_ERROR, WITH_MISMATCH, WITH_EARLY_CLOSE, N_ENDINGS };

static int start_repeatedly(dt_ctx *none, void *arg) {
    (void)none;
    (void)arg;
    for (int k = 0; k < ROUNDS; k++) {
        dt_ctx *ctx = dt_init(&(dt_init_options){.timeout_s = 20});
        CHECK(ctx, "round %d: dt_init failed", k);
        CHECK(!dt_failed(ctx) && dt_world(ctx) == 4, "round %d: %s", k, dt_error_text(ctx));
        dt_heap_statistics heap = dt_heap_stats(ctx);
        CHECK(heap.live_bytes == 0 && heap.held_bytes == 0, "the heap is not empty: %zu", heap.held_bytes);
        double start = test_seconds();
        if (use_world(ctx, (uint64_t)k, 10))
            return 1;
        bool first = dt_rank(ctx) == k % 4;
        dt_status status = DT_OK;
        if (k % N_ENDINGS == WITH_LOCAL_ERROR)
            status = first ? dt_error_set(ctx, DT_ERR_SYSTEM, "disk full") : dt_comm_barrier(dt_group_world(ctx));
        if (k % N_ENDINGS == WITH_MISMATCH)
            status = first ? dt_comm_broadcast(dt_group_world(ctx), &k, &(int){0}, 1, DT_I32, 0)
                           : dt_comm_barrier(dt_group_world(ctx));
        if (k % N_ENDINGS == WITH_EARLY_CLOSE && !first)
            status = dt_comm_barrier(dt_group_world(ctx));
        bool may_succeed = k % N_ENDINGS == WELL || (k % N_ENDINGS == WITH_EARLY_CLOSE && first) ||
                           (k % N_ENDINGS == WITH_MISMATCH && first);
        CHECK(may_succeed || status != DT_OK, "round %d: expected an error, got none", k);
        CHECK(test_seconds() - start < 10 * test_slowness, "round %d took %g s", k, test_seconds() - start);
        ctx->status = DT_OK;
        CHECK(dt_close(ctx) == 0, "round %d: dt_close failed", k);
        if (k % 3 == 0 && first)
            test_sleep(0.01);
    }
    return 0;
}

static void run_bare(int64_t n, dt_rank_fn *fn, void *arg, const int *statuses) {
    test_launch launch = {.bare = true, .notifies = true};
    test_launch_begin(&launch, n, NULL, fn, arg);
    test_launch_end(&launch, 60 * test_slowness);
    for (int64_t rank = 0; rank < n; rank++)
        assert_int_equal(launch.statuses[rank], statuses ? statuses[rank] : 0);
}

static void init__works_again_after_closing(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    run_bare(4, start_repeatedly, NULL, NULL);
}

/* A rank that runs programs one after the other; each starts and ends the library. */
static int run_programs(dt_ctx *none, void *arg) {
    (void)none;
    (void)arg;
    for (uint64_t k = 0; k < 4; k++) {
        int status;
        pid_t program = fork();
        if (program == 0) {
            dt_ctx *ctx = dt_init(&(dt_init_options){.timeout_s = 20});
            _exit(!ctx || use_world(ctx, k, 5) || dt_close(ctx));
        }
        CHECK(waitpid(program, &status, 0) == program && status == 0, "program %d ends with %d", (int)k, status);
    }
    return 0;
}

static void init__works_again_in_another_process(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    run_bare(3, run_programs, NULL, NULL);
}

/* The last rank of three does not start again: for a while, or not at all. */
static int start_without_the_last(dt_ctx *none, void *arg) {
    (void)none;
    bool exits = *(bool *)arg;
    dt_ctx *ctx = dt_init(&(dt_init_options){.timeout_s = 20});
    CHECK(ctx && !use_world(ctx, 1, 5), "the first start failed");
    bool last = dt_rank(ctx) == dt_world(ctx) - 1;
    CHECK(dt_close(ctx) == 0, "dt_close failed");
    if (last && exits)
        return 0;
    double start = test_seconds();
    if (!last) {
        ctx = dt_init(&(dt_init_options){.timeout_s = 0.3});
        CHECK(!ctx, "expected an error because a rank is missing, got a context");
        CHECK(test_seconds() - start < 10 * test_slowness, "it took %g s", test_seconds() - start);
    }
    if (exits)
        return 0;
    if (last)
        test_sleep(1 * test_slowness);
    ctx = dt_init(&(dt_init_options){.timeout_s = 20});
    CHECK(ctx && !use_world(ctx, 2, 5), "starting after a failed start failed");
    return dt_close(ctx);
}

static void init__reports_a_rank_that_does_not_return(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    for (int exits = 0; exits < 2; exits++)
        run_bare(3, start_without_the_last, &(bool){exits}, NULL);
}

static int init_twice(dt_ctx *none, void *arg) {
    (void)none;
    (void)arg;
    dt_ctx *ctx = dt_init(&(dt_init_options){.timeout_s = 1e300});
    CHECK(ctx, "dt_init failed");
    if (dt_rank(ctx) == 0)
        test_sleep(0.2); /* the others wait, also with a deadline that overflows */
    CHECK_OK(ctx, dt_comm_barrier(dt_group_world(ctx)));
    CHECK(!dt_init(NULL), "expected an error for a second context of the rank");
    CHECK(!dt_init(&(dt_init_options){.world = 7}), "expected an error for a world of 7");
    dt_ctx *fake = dt_init(&(dt_init_options){.transport = "fake", .world = 9, .rank = 8});
    dt_ctx *self = dt_init(&(dt_init_options){.transport = "self"});
    CHECK(fake && dt_rank(fake) == 8 && self && dt_world(self) == 1,
          "expected contexts in addition to that of the launch");
    CHECK(dt_close(fake) == 0 && dt_close(self) == 0, "dt_close failed");
    if (use_world(ctx, 3, 5))
        return 1;
    return dt_close(ctx);
}

static void init__takes_a_rank_once(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    run_bare(2, init_twice, NULL, NULL);
}

/* Calls that were started and not waited for fail when the context is closed. */

static void close_with_error(void *arg) { assert_int_equal(dt_close(arg), 1); }

static int close_with_a_call_in_progress(dt_ctx *none, void *arg) {
    (void)none;
    (void)arg;
    char text[4096];
    static double values[100000], sums[100000];
    dt_ctx *ctx = dt_init(&(dt_init_options){.timeout_s = 20});
    CHECK(ctx, "dt_init failed");
    if (dt_rank(ctx) == 0)
        return dt_close(ctx);
    dt_comm_call call = {
        .op = DT_ALL_REDUCE, .dtype = DT_F64, .reduce = DT_SUM, .src = values, .dst = sums, .count = 100000};
    CHECK(dt_comm_start(dt_group_world(ctx), &call), "the call did not start");
    CHECK(!dt_failed(ctx), "%s", dt_error_text(ctx));
    capture(close_with_error, ctx, text, sizeof text);
    CHECK(strstr(text, "all_reduce of f64 x 100000"), "%s", text);
    return 0;
}

static void init__closing_reports_errors_of_calls_in_progress(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    run_bare(2, close_with_a_call_in_progress, NULL, NULL);
}

static void report(void *arg) { assert_int_equal(dt_report(arg), 1); }

static void init__closing_prints_an_error_that_was_not_reported(void **state) {
    (void)state;
    char text[4096];
    dt_ctx *ctx = dt_init(NULL);
    dt_error_set(ctx, DT_ERR_VALUE, "the first");
    capture(report, ctx, text, sizeof text);
    assert_contains(text, "rank 0: value: ");
    assert_contains(text, "the first");
    capture(close_with_error, ctx, text, sizeof text);
    assert_string_equal(text, "");
    ctx = dt_init(NULL);
    dt_error_set(ctx, DT_ERR_VALUE, "the first");
    capture(report, ctx, text, sizeof text);
    assert_int_equal(dt_error_clear(ctx), DT_OK);
    dt_error_set(ctx, DT_ERR_VALUE, "the second");
    capture(close_with_error, ctx, text, sizeof text);
    assert_contains(text, "the second");
}

/* dt_comm_dump. */

static void dump(void *arg) { dt_comm_dump(arg); }

static int dump_calls(dt_ctx *ctx, void *arg) {
    (void)arg;
    char *text = calloc(1, 100000), part[100];
    float values[3] = {0};
    dt_group *world = dt_group_world(ctx);
    for (int i = 0; i < 40; i++)
        CHECK_OK(ctx, dt_comm_all_reduce(world, values, values, 3, DT_F32, DT_MAX));
    CHECK_OK(ctx, dt_comm_broadcast(world, values, values, 2, DT_F32, 1));
    CHECK_OK(ctx, dt_comm_barrier(world));
    if (dt_rank(ctx) == 0) {
        capture(dump, ctx, text, 100000);
        for (int rank = 0; rank < 3; rank++) {
            snprintf(part, sizeof part, "rank %d: ", rank);
            CHECK(strstr(text, part), "expected '%s' in: %s", part, text);
        }
        static const char *const parts[] = {"call 42: barrier, #42 of ranks 0-2: ok (comm_barrier at ",
                                            "call 41: broadcast of f32 x 2 from 1, #41 of ranks 0-2: ok",
                                            "call 40: all_reduce of f32 x 3, max, #40 of ranks 0-2: ok",
                                            "call 11: all_reduce"};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            CHECK(strstr(text, parts[i]), "expected '%s' in: %s", parts[i], text);
        CHECK(!strstr(text, "call 10:"), "expected the last 32 calls: %s", text);
    }
    CHECK_OK(ctx, dt_comm_barrier(world));
    free(text);
    return 0;
}

static void init__dump_shows_the_last_calls(void **state) {
    (void)state;
    run_ranks(3, dump_calls, NULL);
    dt_comm_dump(NULL);
}

/* Ranks forked from inside. */

static int exit_with_code(dt_ctx *ctx, void *arg) {
    const int *codes = arg;
    if (codes[dt_rank(ctx)] < 0)
        raise(-codes[dt_rank(ctx)]);
    return codes[dt_rank(ctx)];
}

static void assert_spawn_fails(int64_t n, dt_rank_fn *fn, void *arg, const char *part) {
    char *error = NULL;
    int files = test_open_files();
    double start = test_seconds();
    assert_int_equal(dt_spawn(n, fn, arg, &error), DT_ERR_PEER);
    assert_non_null(error);
    assert_contains(error, part);
    free(error);
    assert_int_equal(dt_spawn(n, fn, arg, NULL), DT_ERR_PEER);
    assert_true(test_seconds() - start < 20 * test_slowness);
    assert_int_equal(test_open_files(), files);
    assert_nothing_leaks();
}

static int never_end(dt_ctx *ctx, void *arg) {
    if (dt_rank(ctx) == 1)
        return *(int *)arg;
    dt_comm_barrier(dt_group_world(ctx));
    ctx->status = DT_OK;
    for (;;) /* ignores the failure, and is killed */
        test_sleep(1);
}

static int spawn_inside(dt_ctx *ctx, void *arg) {
    char *error = NULL;
    if (use_world(ctx, 1, 3))
        return 1;
    dt_status status = dt_spawn(2, exit_with_code, arg, &error);
    CHECK(status == DT_OK, "%s", error);
    return use_world(ctx, 2, 3);
}

/* The rank that starts ranks is stopped while rank 2 dies and rank 0 fails because of it. */
static int die_unseen(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_group *world = dt_group_world(ctx);
    if (dt_rank(ctx) == 0) {
        const pid_t parent = getppid(), helper = fork();
        CHECK(helper >= 0, "fork");
        if (helper == 0) {
            test_sleep(0.5);
            kill(parent, SIGCONT);
            _exit(0);
        }
        kill(parent, SIGSTOP);
    }
    CHECK_OK(ctx, dt_comm_barrier(world));
    if (dt_rank(ctx) == 2)
        raise(SIGKILL);
    CHECK(dt_comm_barrier(world) == DT_ERR_PEER, "a barrier with a dead rank");
    return 3;
}

static void spawn__names_the_rank_that_died_first(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    char *error = NULL;
    assert_int_equal(dt_spawn(3, die_unseen, NULL, &error), DT_ERR_PEER);
    assert_contains(error, "rank 2 ended with signal 9 (SIGKILL)");
    free(error);
    assert_nothing_leaks();
}

static void *sleep_briefly(void *arg) {
    test_sleep(0.3);
    return arg;
}

static void spawn__reports_rank_and_exit_status(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    assert_int_equal(dt_spawn(3, exit_with_code, (int[]){0, 0, 0}, NULL), DT_OK);
    assert_spawn_fails(3, exit_with_code, (int[]){0, 7, 0}, "rank 1 ended with exit code 7");
    assert_spawn_fails(2, exit_with_code, (int[]){0, -SIGKILL}, "rank 1 ended with signal 9 (SIGKILL)");
    assert_spawn_fails(1, exit_with_code, (int[]){-SIGTERM}, "rank 0 ended with signal 15 (SIGTERM)");
    assert_int_equal(dt_spawn(2, spawn_inside, (int[]){0, 0}, NULL), DT_OK);
}

static void spawn__ends_ranks_that_do_not_end(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    char *error = NULL;
    double start = test_seconds();
    assert_int_equal(dt_spawn(3, never_end, &(int){4}, &error), DT_ERR_PEER);
    assert_contains(error, "rank 1 ended with exit code 4");
    assert_true(test_seconds() - start < 15 * test_slowness);
    free(error);
    assert_nothing_leaks();
}

static void spawn__refuses_invalid_arguments(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    assert_spawn_fails(0, exit_with_code, NULL, "spawn: number of ranks: expected 1 to 4096, got 0");
    assert_spawn_fails(-1, exit_with_code, NULL, "got -1");
    assert_spawn_fails(DT__MAX_RANKS + 1, exit_with_code, NULL, "got 4097");
    assert_spawn_fails(INT64_MAX, exit_with_code, NULL, "expected 1 to 4096");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sleep_briefly, NULL), 0);
    assert_spawn_fails(2, exit_with_code, (int[]){0, 0}, "got 2 threads");
    pthread_join(thread, NULL);
    assert_int_equal(dt_spawn(2, exit_with_code, (int[]){0, 0}, NULL), DT_OK);
}

/* However the program handles its children. */

static void take_any_child(int number) {
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

static void spawn__reports_how_ranks_end_whatever_the_sigchld_action(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    static const struct sigaction actions[] = {
        {.sa_handler = SIG_IGN}, {.sa_handler = take_any_child}, {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT}};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        struct sigaction before, after;
        sigset_t mask;
        sigaction(SIGCHLD, &actions[i], &before);
        assert_int_equal(dt_spawn(3, exit_with_code, (int[]){0, 0, 0}, NULL), DT_OK);
        assert_spawn_fails(3, exit_with_code, (int[]){0, 7, 0}, "rank 1 ended with exit code 7");
        sigaction(SIGCHLD, &before, &after);
        assert_true(after.sa_handler == actions[i].sa_handler);
        sigprocmask(SIG_SETMASK, NULL, &mask);
        assert_false(sigismember(&mask, SIGCHLD));
    }
}

static void spawn__needs_few_descriptors(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = before;
    low.rlim_cur = 8;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    dt_status succeeding = dt_spawn(12, exit_with_code, (int[12]){0}, NULL),
              failing = dt_spawn(12, exit_with_code, (int[12]){1}, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(succeeding, DT_OK);
    assert_int_equal(failing, DT_ERR_PEER);
}

/* The system would send SIGXFSZ. */
static void spawn__reports_the_file_size_limit(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    struct rlimit before, low;
    char *error = NULL;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low = before;
    low.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    dt_status status = dt_spawn(2, exit_with_code, (int[]){0, 0}, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, DT_ERR_PEER);
    assert_contains(error, "ulimit -f");
    free(error);
}

static int check_heap_size(dt_ctx *ctx, void *arg) {
    (void)arg;
    return dt__runtime_of(ctx)->heap.bytes != (size_t)64 << 20;
}

static void spawn__takes_the_heap_from_the_environment(void **state) {
    (void)state;
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    setenv("DTENSOR_HEAP", "64M", 1);
    assert_int_equal(dt_spawn(2, check_heap_size, NULL, NULL), DT_OK);
    setenv("DTENSOR_HEAP", "much", 1);
    assert_spawn_fails(2, check_heap_size, NULL, "DTENSOR_HEAP: expected a size such as 512M or 8G, got \"much\"");
    unsetenv("DTENSOR_HEAP");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init__alone_is_a_world_of_one),
        cmocka_unit_test(init__self_receives_what_was_sent),
        cmocka_unit_test(init__fake_worlds_cost_nothing),
        cmocka_unit_test(init__contexts_live_side_by_side),
        cmocka_unit_test(init__options_override_the_environment),
        cmocka_unit_test(init__refuses_garbage_in_the_environment),
        cmocka_unit_test(init__writes_its_error_into_the_buffer_of_the_caller),
        cmocka_unit_test(init__parses_the_environment_as_dtrun_does),
        cmocka_unit_test(init__default_heaps_keep_within_the_limit),
        cmocka_unit_test(init__refuses_a_stale_launch),
        cmocka_unit_test(init__logs_to_the_callback_or_standard_error),
        cmocka_unit_test(init__works_again_after_closing),
        cmocka_unit_test(init__works_again_in_another_process),
        cmocka_unit_test(init__reports_a_rank_that_does_not_return),
        cmocka_unit_test(init__takes_a_rank_once),
        cmocka_unit_test(init__closing_reports_errors_of_calls_in_progress),
        cmocka_unit_test(init__closing_prints_an_error_that_was_not_reported),
        cmocka_unit_test(init__dump_shows_the_last_calls),
        cmocka_unit_test(spawn__reports_rank_and_exit_status),
        cmocka_unit_test(spawn__ends_ranks_that_do_not_end),
        cmocka_unit_test(spawn__names_the_rank_that_died_first),
        cmocka_unit_test(spawn__refuses_invalid_arguments),
        cmocka_unit_test(spawn__reports_how_ranks_end_whatever_the_sigchld_action),
        cmocka_unit_test(spawn__needs_few_descriptors),
        cmocka_unit_test(spawn__reports_the_file_size_limit),
        cmocka_unit_test(spawn__takes_the_heap_from_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
