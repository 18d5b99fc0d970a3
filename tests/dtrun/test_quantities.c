/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts, times and sizes of command lines and environment variables, and how dtrun passes a duration to the library.
 */
#include "support/check.h"

#include "dtrun/environment.h"

#include "base/quantity.h"

static void count__is_an_integer_within_bounds(void **state) {
    (void)state;
    static const char *const texts[] = {
        "", "0", "-1", "+1", " 1", "1 ", "1.5", "1e3", "0x1", "4097", "99999999999999999999"};
    int64_t n = 77;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (dt__count_parse(texts[i], 4096, &n))
            fail_msg("'%s': expected an error, got %lld", texts[i], (long long)n);
        assert_int_equal(n, 77);
    }
    assert_true(dt__count_parse("4096", 4096, &n));
    assert_int_equal(n, 4096);
    assert_true(dt__count_parse("007", 4096, &n));
    assert_int_equal(n, 7);
}

static void duration__has_units(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
        const char *variable;
    } cases[] = {
        {"30s", 30000, "30"},
        {"30", 30000, "30"},
        {"500ms", 500, "0.5"},
        {"2m", 120000, "120"},
        {"1h", 3600000, "3600"},
        {"1.5s", 1500, "1.5"},
        {"0.25m", 15000, "15"},
        {"1ms", 1, "0.001"},
        {"1050ms", 1050, "1.05"},
        {"0.0001s", 1, "0.001"},
        {"off", DT__DURATION_OFF, "-1"},
        {"100000h", 360000000000, "360000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t ms = 0;
        char variable[32];
        assert_true(dt__duration_parse(cases[i].text, &ms));
        assert_int_equal(ms, cases[i].ms);
        environment_print_timeout(ms, variable, sizeof variable);
        assert_string_equal(variable, cases[i].variable);
    }
}

static void duration__invalid_texts_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "s",
                                        "-1s",
                                        "0",
                                        "0ms",
                                        "1 s",
                                        "1S",
                                        "3x",
                                        "1h30m",
                                        "inf",
                                        "nan",
                                        "0x1",
                                        "1e3s",
                                        "..",
                                        "on",
                                        "+1s",
                                        "9999999999999999h"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int64_t ms = 77;
        if (dt__duration_parse(texts[i], &ms))
            fail_msg("'%s': expected an error, got %lld ms", texts[i], (long long)ms);
        assert_int_equal(ms, 77);
    }
}

static void size__has_units(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {
        {"1", 1},
        {"65536", 65536},
        {"4K", 4096},
        {"512M", (size_t)512 << 20},
        {"8G", (size_t)8 << 30},
        {"1.5G", (size_t)3 << 29},
        {"2T", (size_t)2 << 40},
        {"8GiB", (size_t)8 << 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t bytes = 0;
        assert_true(dt__size_parse(cases[i].text, &bytes));
        assert_int_equal(bytes, cases[i].bytes);
    }
}

static void size__invalid_texts_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", "G", "0", "-4K", "4k", "8GB", "1 G", "99999999999T", "0x10", "1e9"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t bytes = 77;
        if (dt__size_parse(texts[i], &bytes))
            fail_msg("'%s': expected an error, got %zu bytes", texts[i], bytes);
        assert_int_equal(bytes, 77);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count__is_an_integer_within_bounds),  cmocka_unit_test(duration__has_units),
        cmocka_unit_test(duration__invalid_texts_are_refused), cmocka_unit_test(size__has_units),
        cmocka_unit_test(size__invalid_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
