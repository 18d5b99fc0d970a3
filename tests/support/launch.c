/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting and monitoring ranks, and detecting processes, files and memory that they leave behind.
 */
#include "support/launch.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#elif __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif

#if defined(WITH_TSAN)
const bool test_with_tsan = true;
const double test_slowness = 10;
#elif defined(WITH_ASAN)
const bool test_with_tsan = false;
const double test_slowness = 4;
#else
const bool test_with_tsan = false;
const double test_slowness = 1;
#endif

bool test_ranks_are_threads(void) { return test_with_tsan || getenv("DTENSOR_TEST_RANK_THREADS"); }

double test_seconds(void) { return (double)dt__now_ns() * 1e-9; }

void test_sleep(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static _Noreturn void run_rank(const test_launch *launch, int64_t rank, const dt_init_options *options,
                               dt_rank_fn *fn, void *arg) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    test_become_child();
    dt__ticket ticket = dt__segment_ticket(launch->segment, launch->fd, rank, dt__usable_cores());
    dt__segment_unmap(launch->segment);
    if (launch->bare) {
        char text[128];
        dt__ticket_print(&ticket, text, sizeof text);
        setenv("DTENSOR_LAUNCH", text, 1);
    }
    dt_ctx *ctx = launch->bare ? NULL : dt__init_with_ticket(options, &ticket, NULL);
    int code = ctx || launch->bare ? fn(ctx, arg) : 99;
    if (!code && test_leaks())
        code = 98;
    fflush(NULL);
    _exit(code);
}

void test_launch_begin(test_launch *launch, int64_t n, const dt_init_options *options, dt_rank_fn *fn, void *arg) {
    static const dt_init_options defaults;
    char error[256] = "";
    assert_true(n <= TEST_MAX_RANKS);
    if (test_started_ranks())
        test_skip("these ranks are forked by the test itself");
    launch->n = n;
    launch->segment = dt__segment_new(n, options ? options->heap_bytes : 0, &launch->fd, error, sizeof error);
    if (!launch->segment)
        fail_msg("%s", error);
    fflush(NULL);
    for (int64_t rank = 0; rank < n; rank++) {
        launch->statuses[rank] = 0;
        launch->pids[rank] = fork();
        assert_true(launch->pids[rank] >= 0);
        if (launch->pids[rank] == 0)
            run_rank(launch, rank, options ? options : &defaults, fn, arg);
        dt__segment_set_pid(launch->segment, rank, launch->pids[rank]);
    }
}

int64_t test_launch_poll(test_launch *launch) {
    int64_t running = 0;
    for (int64_t rank = 0; rank < launch->n; rank++) {
        pid_t pid = launch->pids[rank];
        if (!pid)
            continue;
        if (waitpid(pid, &launch->statuses[rank], WNOHANG) != pid) {
            running++;
            continue;
        }
        launch->pids[rank] = 0;
        if (launch->notifies)
            dt__segment_set_ended(launch->segment, rank, launch->statuses[rank]);
    }
    return running;
}

/* Prints what each rank is doing. */
static void describe_running(const test_launch *launch) {
    for (int64_t rank = 0; rank < launch->n; rank++) {
        char doing[1400];
        dt__segment_describe(launch->segment, rank, doing, sizeof doing);
        print_error("rank %lld (%s): %s\n", (long long)rank, launch->pids[rank] ? "running" : "ended", doing);
    }
}

void test_launch_end(test_launch *launch, double seconds) {
    double deadline = test_seconds() + seconds;
    bool is_overdue = false;
    while (test_launch_poll(launch)) {
        if (!is_overdue && test_seconds() > deadline) {
            is_overdue = true;
            describe_running(launch);
            for (int64_t rank = 0; rank < launch->n; rank++)
                if (launch->pids[rank])
                    kill(launch->pids[rank], SIGKILL);
        }
        test_sleep(0.001);
    }
    dt__segment_unmap(launch->segment);
    close(launch->fd);
    if (is_overdue)
        fail_msg("ranks did not end within %g s", seconds);
    assert_nothing_leaks();
}

struct counted_body {
    dt_rank_fn *fn;
    void *arg;
    const test_memory *counted;
};

static int run_and_close(dt_ctx *ctx, void *arg) {
    const struct counted_body *body = arg;
    int code = body->fn(ctx, body->arg);
    int closed = dt_close(ctx);
    if (code || closed)
        return code ? code : closed;
    if (body->counted)
        CHECK(!body->counted->n_live && !body->counted->wrong_size, "%ld blocks leak%s", body->counted->n_live,
              body->counted->wrong_size ? ", and a size was wrong" : "");
    return 0;
}

void run_ranks_with(const test_ranks *ranks, dt_rank_fn *fn, void *arg) {
    int codes[TEST_MAX_RANKS] = {0};
    dt_init_options options = ranks->options;
    struct counted_body body = {fn, arg, ranks->counted};
    if (ranks->counted && !test_ranks_are_threads()) {
        *ranks->counted = (test_memory){0};
        options.allocator = test_memory_allocator(ranks->counted);
    }
    if (test_started_ranks()) {
        if (test_is_started(ranks->n))
            assert_int_equal(test_run_started(&options, run_and_close, &body), 0);
        return;
    }
    if (test_ranks_are_threads()) {
        if (!options.heap_bytes)
            options.heap_bytes = (size_t)1 << 30;
        assert_true(dt__run_threads(ranks->n, &options, fn, arg, codes));
    } else {
        test_launch launch = {.notifies = true};
        test_launch_begin(&launch, ranks->n, &options, run_and_close, &body);
        test_launch_end(&launch, 300);
        memcpy(codes, launch.statuses, sizeof codes);
    }
    for (int64_t rank = 0; rank < ranks->n; rank++)
        if (codes[rank]) {
            char ending[64];
            dt__describe_wait_status(codes[rank], ending, sizeof ending);
            fail_msg("rank %lld of %lld: %s", (long long)rank, (long long)ranks->n,
                     test_with_tsan ? "failed" : ending);
        }
}

/* Calls fn with the target of each link in /proc/self/fd. */
static void for_each_file(void (*fn)(const char *target, void *arg), void *arg) {
    DIR *files = opendir("/proc/self/fd");
    assert_non_null(files);
    for (const struct dirent *entry; (entry = readdir(files));) {
        char path[300], target[256];
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n <= 0)
            continue;
        target[n] = 0;
        fn(target, arg);
    }
    closedir(files);
}

static void count_file(const char *target, void *arg) {
    (void)target;
    ++*(int *)arg;
}

int test_open_files(void) {
    int n = 0;
    for_each_file(count_file, &n);
    return n;
}

static void assert_no_segment(const char *target, void *arg) {
    (void)arg;
    if (strstr(target, "memfd:dtensor"))
        fail_msg("%s is still open", target);
}

void assert_nothing_leaks(void) {
    char line[512];
    int status;
    if (waitpid(-1, &status, WNOHANG) >= 0)
        fail_msg("a child process is still running");
    for_each_file(assert_no_segment, NULL);
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:dtensor"))
            fail_msg("still mapped: %s", line);
    fclose(maps);
}
