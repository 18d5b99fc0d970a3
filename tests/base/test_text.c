/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static void text__without_content_is_the_empty_string(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text text = dt__text_new(ctx);
    assert_string_equal(dt__text_chars(&text), "");
    dt__text_add_chars(&text, NULL, 0);
    dt__text_add(&text, "%s", "");
    assert_string_equal(dt__text_chars(&text), "");
    assert_int_equal(dt__text_status(&text), DT_OK);
    dt__text_free(&text);
    dt__text_free(&text);
    dt__ctx_free(ctx);
}

/* Pieces of lengths around that of the internal buffer, added by both functions, against one large array. */
static void text__is_the_concatenation_of_its_pieces(void **state) {
    (void)state;
    enum { MAX_LENGTH = 600 };
    static char expected[600 * MAX_LENGTH + 1];
    char piece[MAX_LENGTH + 1];
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text text = dt__text_new(ctx);
    uint64_t random = test_seed(3);
    for (int round = 0; round < 3; round++) {
        size_t n = 0;
        for (int i = 0; i < 600; i++) {
            size_t length = (size_t)test_below(&random, i % 10 ? 20 : MAX_LENGTH + 1);
            memset(piece, 'a' + i % 26, length);
            piece[length] = 0;
            if (i % 2)
                dt__text_add(&text, "%s", piece);
            else
                dt__text_add_chars(&text, piece, length);
            memcpy(expected + n, piece, length + 1);
            n += length;
        }
        assert_int_equal(text.n_chars, n);
        assert_string_equal(dt__text_chars(&text), expected);
        dt__text_clear(&text);
        assert_string_equal(dt__text_chars(&text), "");
    }
    dt__text_free(&text);
    dt__ctx_free(ctx);
}

static void text__formats_of_every_length_fit(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    for (int width = 1; width < 600; width++) {
        char expected[601];
        snprintf(expected, sizeof expected, "%*d", width, 7);
        dt__text text = dt__text_new(ctx);
        dt__text_add(&text, "%*d", width, 7);
        assert_string_equal(dt__text_chars(&text), expected);
        dt__text_free(&text);
    }
    dt__ctx_free(ctx);
}

static void text__chars_may_be_any_bytes(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text text = dt__text_new(ctx);
    dt__text_add_chars(&text, "a\0%s", 4);
    assert_int_equal(text.n_chars, 4);
    assert_memory_equal(dt__text_chars(&text), "a\0%s", 5);
    dt__text_free(&text);
    dt__ctx_free(ctx);
}

static void text__a_format_that_fails_adds_nothing(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text text = dt__text_new(ctx);
    dt__text_add(&text, "before");
    dt__text_add(&text, "%ls", L"\x20ac"); /* not in the character set of the C locale */
    dt__text_add(&text, ", after");
    assert_string_equal(dt__text_chars(&text), "before, after");
    dt__text_free(&text);
    dt__ctx_free(ctx);
}

static bool write_text(dt_ctx *ctx, void *user) {
    (void)user;
    dt__text text = dt__text_new(ctx);
    for (int i = 0; i < 2000; i++)
        dt__text_add(&text, "%d,", i);
    assert_memory_equal(dt__text_chars(&text), "0,1,2,3", text.n_chars < 7 ? text.n_chars : 7);
    assert_int_equal(strlen(dt__text_chars(&text)), text.n_chars);
    dt_status status = dt__text_status(&text);
    assert_int_equal(dt__text_status(&text), status);
    dt__text_free(&text);
    return status == DT_OK;
}

static void text__out_of_memory_is_reported_at_the_end_and_keeps_the_beginning(void **state) {
    (void)state;
    assert_in_range(assert_survives_failing_allocations(write_text, NULL), 5, 20);
}

static void text__is_usable_again_after_clearing_an_error(void **state) {
    (void)state;
    test_memory memory = {.fail_at = 2};
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
    dt__text text = dt__text_new(ctx);
    dt__text_add(&text, "lost");
    assert_string_equal(dt__text_chars(&text), "");
    dt__text_clear(&text);
    dt__text_add(&text, "kept");
    assert_string_equal(dt__text_chars(&text), "kept");
    assert_int_equal(dt__text_status(&text), DT_OK);
    dt__text_free(&text);
    dt__ctx_free(ctx);
    assert_int_equal(memory.n_live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__without_content_is_the_empty_string),
        cmocka_unit_test(text__is_the_concatenation_of_its_pieces),
        cmocka_unit_test(text__formats_of_every_length_fit),
        cmocka_unit_test(text__chars_may_be_any_bytes),
        cmocka_unit_test(text__a_format_that_fails_adds_nothing),
        cmocka_unit_test(text__out_of_memory_is_reported_at_the_end_and_keeps_the_beginning),
        cmocka_unit_test(text__is_usable_again_after_clearing_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
