/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "base/cursor.h"

static dt__cursor cursor_of(dt_ctx *ctx, const char *text) {
    return dt__cursor_new(ctx, DT_ERR_PLACEMENT, "form", text);
}

#define TEN "0123456789"

/* The first line is the message; the caret below the text is at the column in the message. */
static void fail__points_at_the_character(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t at; /* in bytes */
        const char *message;
    } rows[] = {
        {"", 0, "form: column 1: no 7\n    \n    ^"},
        {"a,b", 0, "form: column 1: no 7\n    a,b\n    ^"},
        {"a,b", 2, "form: column 3: no 7\n    a,b\n      ^"},
        {"a,b", 3, "form: column 4: no 7\n    a,b\n       ^"},
        {"a,\t!", 3, "form: column 4: no 7\n    a, !\n       ^"},
        {"a\nb!", 3, "form: column 4: no 7\n    a b!\n       ^"},
        {"a,\xc3\xa4!", 2, "form: column 3: no 7\n    a,\xc3\xa4!\n      ^"},
        {"a,\xc3\xa4!", 4, "form: column 4: no 7\n    a,\xc3\xa4!\n       ^"},
        {TEN TEN TEN TEN TEN TEN "!", 60, /* the longest text before the column that is shown whole */
         "form: column 61: no 7\n    " TEN TEN TEN TEN TEN TEN "!\n    "
         "                                                            ^"},
        {"x" TEN TEN TEN TEN TEN TEN "!", 61, /* one character more */
         "form: column 62: no 7\n    ..." TEN TEN TEN TEN TEN TEN "!\n    "
         "                                                               ^"},
        {TEN TEN TEN, 0, "form: column 1: no 7\n    " TEN TEN TEN "\n    ^"},
        {TEN TEN TEN "x", 0, "form: column 1: no 7\n    " TEN TEN TEN "...\n    ^"},
        {"012345678901234567890123456789\xc3\xa4", 1, /* a character is not split at the end */
         "form: column 2: no 7\n    " TEN TEN TEN "...\n     ^"},
        {"\xc3\xa4" TEN TEN TEN TEN TEN "012345678!", 61, /* nor at the beginning */
         "form: column 61: no 7\n    ..." TEN TEN TEN TEN TEN "012345678!\n    "
         "                                                              ^"},
        {"\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4"
         "\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4",
         1, "form: column 1: no 7\n    ......\n       ^"}, /* continuation bytes only: nothing is shown */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        dt__cursor cursor = cursor_of(ctx, rows[i].text);
        cursor.at += rows[i].at;
        assert_int_equal(dt__cursor_fail(&cursor, "no %d", 7), DT_ERR_PLACEMENT);
        assert_string_equal(dt_error_text(ctx), rows[i].message);
        assert_int_equal(dt_error_status(ctx), DT_ERR_PLACEMENT);
        dt__ctx_free(ctx);
    }
}

static void skip__matches_the_exact_text(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__cursor cursor = cursor_of(ctx, "2x4 of 8");
    assert_false(dt__cursor_skip(&cursor, "x"));
    assert_true(dt__cursor_skip(&cursor, "2"));
    assert_true(dt__cursor_skip(&cursor, "x"));
    assert_false(dt__cursor_skip(&cursor, "4 off"));
    assert_string_equal(cursor.at, "4 of 8");
    assert_true(dt__cursor_skip(&cursor, "4"));
    assert_false(dt__cursor_skip(&cursor, "of "));
    assert_true(dt__cursor_skip(&cursor, " of "));
    assert_false(dt__cursor_skip(&cursor, "8 and more than there is"));
    assert_true(dt__cursor_skip(&cursor, "8"));
    assert_true(dt__cursor_skip(&cursor, ""));
    assert_false(dt__cursor_skip(&cursor, "8"));
    assert_false(dt_failed(ctx));
    dt__ctx_free(ctx);
}

static void take__matches_whole_words(void **state) {
    (void)state;
    static const struct {
        const char *text, *word, *rest; /* NULL: no match */
    } rows[] = {
        {"on mesh", "on", " mesh"}, {" \t on", "on", ""}, {"one", "on", NULL},  {"on_", "on", NULL},
        {"on2", "on", NULL},        {"on(", "on", "("},   {"o", "on", NULL},    {"", "on", NULL},
        {"(2", "(", "2"},           {"((", "(", "("},     {"\non", "on", NULL}, {"ON", "on", NULL},
    };
    dt_ctx *ctx = dt__ctx_new(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt__cursor cursor = cursor_of(ctx, rows[i].text);
        assert_int_equal(dt__cursor_take(&cursor, rows[i].word), rows[i].rest != NULL);
        assert_string_equal(cursor.at, rows[i].rest ? rows[i].rest : rows[i].text);
    }
    assert_false(dt_failed(ctx));
    dt__ctx_free(ctx);
}

static void expect__reports_the_expected_token(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__cursor cursor = cursor_of(ctx, "a  b");
    assert_int_equal(dt__cursor_expect(&cursor, "a", "at first"), DT_OK);
    assert_int_equal(dt__cursor_peek(&cursor), 'b');
    assert_int_equal(dt__cursor_expect(&cursor, "c", "after a"), DT_ERR_PLACEMENT);
    assert_string_equal(dt_error_text(ctx), "form: column 4: expected 'c' after a\n    a  b\n       ^");
    assert_string_equal(cursor.at, "b");
    dt__ctx_free(ctx);
}

static void number__is_parsed_within_its_bounds(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t min, max, value;
        const char *rest;
    } rows[] = {
        {"0", 0, 0, 0, ""},
        {" \t42x", 0, 99, 42, "x"},
        {"007", 7, 7, 7, ""},
        {"-0", -1, 1, 0, ""},
        {"-32,", -32, 31, -32, ","},
        {"00000000000000000000000000000000000001", 0, 1, 1, ""},
        {"9223372036854775807", 0, INT64_MAX, INT64_MAX, ""},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN, ""},
        {"-9223372036854775807", INT64_MIN, INT64_MAX, -INT64_MAX, ""},
    };
    dt_ctx *ctx = dt__ctx_new(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt__cursor cursor = cursor_of(ctx, rows[i].text);
        int64_t value = 77;
        assert_int_equal(dt__cursor_number(&cursor, rows[i].min, rows[i].max, "a count", &value), DT_OK);
        if (value != rows[i].value)
            fail_msg("%s: expected %lld, got %lld", rows[i].text, (long long)rows[i].value, (long long)value);
        assert_string_equal(cursor.at, rows[i].rest);
    }
    dt__ctx_free(ctx);
}

static void number__errors_point_at_its_beginning(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t min, max;
        const char *message;
    } rows[] = {
        {"", 0, 9, "column 1: expected a count"},
        {"  x", 0, 9, "column 3: expected a count"},
        {"-", -1, 9, "column 1: expected a count"},
        {"- 1", -1, 9, "column 1: expected a count"},
        {"--1", -1, 9, "column 1: expected a count"},
        {"+1", -1, 9, "column 1: expected a count"},
        {"-1", 0, 9, "column 1: expected a count"},
        {" 10", 0, 9, "column 2: a count must be from 0 to 9"},
        {"0", 1, 9, "column 1: a count must be from 1 to 9"},
        {"-3", -2, 9, "column 1: a count must be from -2 to 9"},
        {"9223372036854775808", 0, INT64_MAX, "column 1: a count must be from 0 to 9223372036854775807"},
        {"9223372036854775808", INT64_MIN, INT64_MAX, "column 1: a count must be from -9223372036854775808 to"},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, "column 1: a count must be from -9223372036854775808 to"},
        {"18446744073709551617", 0, 9, "column 1: a count must be from 0 to 9"},
        {"99999999999999999999999999999999999999999999", 0, 9, "column 1: a count must be from 0 to 9"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        dt__cursor cursor = cursor_of(ctx, rows[i].text);
        int64_t value = 77;
        assert_int_equal(dt__cursor_number(&cursor, rows[i].min, rows[i].max, "a count", &value), DT_ERR_PLACEMENT);
        assert_error_contains(ctx, DT_ERR_PLACEMENT, rows[i].message);
        assert_int_equal(value, 77);
        dt__ctx_free(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail__points_at_the_character),
        cmocka_unit_test(skip__matches_the_exact_text),
        cmocka_unit_test(take__matches_whole_words),
        cmocka_unit_test(expect__reports_the_expected_token),
        cmocka_unit_test(number__is_parsed_within_its_bounds),
        cmocka_unit_test(number__errors_point_at_its_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
