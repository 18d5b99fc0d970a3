/* SPDX-License-Identifier: Apache-2.0
 *
 * The test support itself: when a rank fails, its text is in the output of the test, whatever the rank did to its
 * standard error and however soon it dies. Each way to fail is a run of this program with the name of that way.
 */
#include "support/launch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *way;
static bool is_way(const char *name) { return strcmp(way, name) == 0; }

static int complain(void) {
    CHECK(1 + 1 == 3, "the sum of rank 1 is %d", 2);
    return 0;
}

/* Rank 1 fails in the way that is tested. */
static int fail_in_rank(dt_ctx *ctx, void *arg) {
    (void)arg;
    if (dt_rank(ctx) != 1)
        return 0;
    if (is_way("assertion"))
        assert_string_equal("the text of rank 1", "another text");
    if (is_way("redirected") && !freopen("/dev/null", "w", stderr))
        return 2;
    if (is_way("closed"))
        close(STDERR_FILENO);
    if (is_way("buffered"))
        printf("printed before, without a newline");
    int code = complain();
    if (is_way("killed"))
        kill(getpid(), SIGKILL);
    if (is_way("buffered"))
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

/* Runs this program to fail in one way; its output. */
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

static void failing_text__survives(void **state) {
    (void)state;
    static const struct {
        const char *way, *text;
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
        int status = output_of(rows[i].way, out, sizeof out);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 2) /* both tests that start ranks */
            fail_msg("%s: ends with %d and prints:\n%s", rows[i].way, status, out);
        const char *first = strstr(out, rows[i].text), *second = first ? strstr(first + 1, rows[i].text) : NULL;
        if (!second) /* of dt_spawn and of test_launch */
            fail_msg("%s: expected twice '%s' in:\n%s", rows[i].way, rows[i].text, out);
        const char *next_test = strstr(out, "the next test in process");
        if (!next_test || strstr(next_test + 1, "the next test in process"))
            fail_msg("%s: a rank goes on with the tests behind its own:\n%s", rows[i].way, out);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest failing[] = {cmocka_unit_test(spawned), cmocka_unit_test(launched),
                                         cmocka_unit_test(next)};
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_text__survives)};
    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    way = argv[1];
    return cmocka_run_group_tests(failing, NULL, NULL);
}
