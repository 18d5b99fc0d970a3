/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "dtrun/ending.h"

#include <signal.h>
#include <string.h>

#define EXITED(code) ((code) << 8)

static struct rank_end ended(int status) { return (struct rank_end){.has_ended = true, .status = status}; }

static void assert_summary(const struct rank_end *ends, int64_t n, int64_t first, const char *expected) {
    char text[4096];
    bool has_any = ending_summarize(ends, n, first, text, sizeof text);
    assert_int_equal(has_any, expected != NULL);
    if (expected)
        assert_string_equal(text, expected);
}

static void ending__code_is_that_of_a_shell(void **state) {
    (void)state;
    assert_int_equal(ending_code(EXITED(0)), 0);
    assert_int_equal(ending_code(EXITED(3)), 3);
    assert_int_equal(ending_code(SIGKILL), 137);
    assert_int_equal(ending_code(SIGSEGV | 0x80), 139); /* with a core file */
}

static void ending__groups_ranks_that_ended_alike(void **state) {
    (void)state;
    struct rank_end ends[8];
    for (int i = 0; i < 8; i++)
        ends[i] = ended(EXITED(1));
    ends[2] = ended(SIGKILL);
    ends[4] = ended(0);
    ends[7] = (struct rank_end){.has_ended = true, .by_us = true, .status = SIGTERM};
    assert_summary(ends, 8, 2, "ranks 0-1,3,5-6 ended with exit code 1; dtrun ended rank 7");
    ends[6] = (struct rank_end){.has_ended = true, .by_us = true, .status = SIGKILL};
    assert_summary(ends, 8, 0,
                   "ranks 1,3,5 ended with exit code 1; rank 2 ended with signal 9 (SIGKILL); "
                   "dtrun ended ranks 6-7");
}

static void ending__omits_ranks_that_succeeded_or_are_running(void **state) {
    (void)state;
    struct rank_end ends[4] = {ended(0), ended(EXITED(1)), {0}, ended(0)};
    assert_summary(ends, 4, 1, NULL);
}

static void ending__stays_short_for_many_ranks(void **state) {
    (void)state;
    static struct rank_end ends[4096];
    char text[256];
    for (int i = 0; i < 4096; i++)
        ends[i] = ended(EXITED(1 + i % 200));
    for (int i = 0; i < 4096; i += 2)
        ends[i] = ended(EXITED(255));
    assert_true(ending_summarize(ends, 4096, 1, text, sizeof text));
    assert_true(strlen(text) < sizeof text);
    assert_non_null(strstr(text, ",… (2048 in all) ended with exit code 255"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ending__code_is_that_of_a_shell),
        cmocka_unit_test(ending__groups_ranks_that_ended_alike),
        cmocka_unit_test(ending__omits_ranks_that_succeeded_or_are_running),
        cmocka_unit_test(ending__stays_short_for_many_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
