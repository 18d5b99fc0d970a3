/* SPDX-License-Identifier: Apache-2.0
 *
 * The test support: the text of a rank that fails is in the output of the test, also if the rank has redirected its
 * standard error or is killed. This program is run once for each kind of failure, with its name.
 *
 * mpi: no: its tests fail on purpose
 */
#include "support/launch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *kind;
static bool is_kind(const char *name) { return strcmp(kind, name) == 0; }

static int fail_check(void) {
    CHECK(1 + 1 == 3, "the sum of rank 1 is %d", 2);
    return 0;
}

/* Rank 1 fails. */
static int fail_in_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    if (dt_rank(ctx) != 1)
        return 0;
    if (is_kind("assertion"))
        assert_string_equal("the text of rank 1", "another text");
    if (is_kind("redirected") && !freopen("/dev/null", "w", stderr))
        return 2;
    if (is_kind("closed"))
        close(STDERR_FILENO);
    if (is_kind("buffered"))
        printf("printed before, without a newline");
    int code = fail_check();
    if (is_kind("killed"))
        kill(getpid(), SIGKILL);
    if (is_kind("buffered"))
        _exit(code);
    return code;
}

static void spawned(void **state) {
    (void)state;
    run_ranks(3, fail_in_rank, NULL);
}

static void launched(void **state) {
    (void)state;
    run_ranks_with(&(test_ranks){.n = 3}, fail_in_rank, NULL);
}

static void next(void **state) {
    (void)state;
    printf("the next test in process %d\n", (int)getpid());
}

/* Runs this program with a kind of failure, and reads its output. */
static int output_of(const char *name, char *out, size_t capacity) {
    char command[512], path[256];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = 0;
    snprintf(command, sizeof command, "'%s' %s 2>&1", path, name);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t read = fread(out, 1, capacity - 1, pipe);
    out[read] = 0;
    return pclose(pipe);
}

static void failing_text__is_printed(void **state) {
    (void)state;
    static const struct {
        const char *kind, *text;
    } rows[] = {
        {"check", "1 + 1 == 3: the sum of rank 1 is 2\n"},
        {"killed", "1 + 1 == 3: the sum of rank 1 is 2\n"},
        {"redirected", "1 + 1 == 3: the sum of rank 1 is 2\n"},
        {"closed", "1 + 1 == 3: the sum of rank 1 is 2\n"},
        {"buffered", "printed before, without a newline"},
        {"buffered", "1 + 1 == 3: the sum of rank 1 is 2\n"},
        {"assertion", "\"the text of rank 1\" != \"another text\""},
    };
    if (test_with_tsan)
        test_skip("ranks are threads with the thread sanitizer");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static char out[1 << 16];
        int status = output_of(rows[i].kind, out, sizeof out);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 2) /* both tests that start ranks */
            fail_msg("%s: expected exit code 2, got status %d:\n%s", rows[i].kind, status, out);
        const char *first = strstr(out, rows[i].text), *second = first ? strstr(first + 1, rows[i].text) : NULL;
        if (!second) /* of dt_spawn and of test_launch */
            fail_msg("%s: expected twice '%s' in:\n%s", rows[i].kind, rows[i].text, out);
        const char *next_test = strstr(out, "the next test in process");
        if (!next_test || strstr(next_test + 1, "the next test in process"))
            fail_msg("%s: a rank continued with the following tests:\n%s", rows[i].kind, out);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest failing[] = {cmocka_unit_test(spawned), cmocka_unit_test(launched),
                                         cmocka_unit_test(next)};
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_text__is_printed)};
    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    kind = argv[1];
    return cmocka_run_group_tests(failing, NULL, NULL);
}
