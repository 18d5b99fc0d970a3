/* SPDX-License-Identifier: Apache-2.0
 *
 * Drivers for tests that need ranks.
 */
#include "support/ranks.h"
#include "support/launch.h"

#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Present when the program is built with a leak detector: forked ranks leave without the usual check. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

struct body {
    dt_rank_fn *fn;
    void *arg;
};

enum { SAVED_FD = 200 }; /* above those that a test opens and counts on */
static int saved_stderr = -1;

__attribute__((constructor)) static void save_stderr(void) {
    saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, SAVED_FD);
}

static bool write_all(int fd, const char *text, size_t n) {
    while (n > 0) {
        ssize_t written = write(fd, text, n);
        if (written < 0 && errno != EINTR)
            return false;
        text += written > 0 ? written : 0;
        n -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

void test_report_failure(const char *file, int line, const char *condition, const char *format, ...) {
    char text[8192];
    va_list args;
    int n = snprintf(text, sizeof text, "%s:%d: %s: ", file, line, condition);
    size_t at = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    va_start(args, format);
    vsnprintf(text + at, sizeof text - at, format, args);
    va_end(args);
    at = strlen(text);
    text[at < sizeof text - 1 ? at : at - 1] = '\n';
    fflush(NULL); /* earlier output comes first, and is not lost with the process */
    size_t n_chars = at < sizeof text - 1 ? at + 1 : at;
    if (!write_all(saved_stderr, text, n_chars))
        (void)write_all(STDERR_FILENO, text, n_chars);
}

void test_become_child(void) {
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
}

bool test_leaks(void) { return __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check(); }

static int run_forked_rank(dt_ctx *ctx, void *arg) {
    const struct body *body = arg;
    test_become_child();
    int code = body->fn(ctx, body->arg);
    return !code && test_leaks() ? 2 : code;
}

static void run_as_threads(int64_t n, dt_rank_fn *fn, void *arg) {
    int codes[64] = {0};
    assert_true(n <= 64);
    assert_true(dt__run_threads(n, &(dt_init_options){.heap_bytes = (size_t)1 << 30}, fn, arg, codes));
    for (int64_t i = 0; i < n; i++)
        if (codes[i])
            fail_msg("rank %lld of %lld failed", (long long)i, (long long)n);
}

static int run_started_rank(dt_ctx *ctx, void *arg) {
    const struct body *body = arg;
    int code = body->fn(ctx, body->arg), closed = dt_close(ctx);
    return code ? code : closed;
}

void run_ranks(int64_t n, dt_rank_fn *fn, void *arg) {
    if (test_started_ranks()) {
        if (test_is_started(n))
            assert_int_equal(test_run_started(NULL, run_started_rank, &(struct body){fn, arg}), 0);
        return;
    }
    if (test_ranks_are_threads()) {
        run_as_threads(n, fn, arg);
        return;
    }
    char *error;
    struct body body = {fn, arg};
    if (dt_spawn(n, run_forked_rank, &body, &error) != DT_OK) {
        print_error("%lld ranks: %s\n", (long long)n, error);
        free(error);
        fail();
    }
}

int test_count_groups(dt_ctx *ctx) {
    int n = 0;
    for (const dt_group *group = dt__runtime_of(ctx)->groups; group; group = group->next)
        n++;
    return n;
}

bool test_share_channel(const dt_group *a, const dt_group *b) { return a->channel == b->channel; }
