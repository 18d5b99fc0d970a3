/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "base/text.h"

#include <string.h>

static void text__grows_and_keeps_what_was_added(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text text = dt__text_new(ctx);
    assert_string_equal(dt__text_chars(&text), "");
    char longer[1000];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    dt__text_add(&text, "%d-", 7);
    dt__text_add(&text, "%s", longer);
    assert_int_equal(text.n_chars, 2 + 999);
    assert_memory_equal(dt__text_chars(&text), "7-xxx", 5);
    assert_int_equal(dt__text_status(&text), DT_OK);
    dt__text_free(&text);
    dt__ctx_free(ctx);
}

static void text__out_of_memory_is_told_once_at_the_end(void **state) {
    (void)state;
    test_memory memory = {.fail_at = 3};
    dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
    dt__text text = dt__text_new(ctx);
    for (int i = 0; i < 100; i++)
        dt__text_add(&text, "%d,", i);
    assert_int_equal(dt__text_status(&text), DT_ERR_MEMORY);
    assert_error_says(ctx, DT_ERR_MEMORY, "a text");
    dt__text_free(&text);
    dt__ctx_free(ctx);
    assert_int_equal(memory.n_live, 0);
    assert_false(memory.wrong_size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__grows_and_keeps_what_was_added),
        cmocka_unit_test(text__out_of_memory_is_told_once_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
