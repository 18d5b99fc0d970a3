/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "dtensor/json_text.h"
#include "dtensor/query_answer.h"

#include <string.h>

static const char *const requests[] = {
    "{\"q\":\"shard\",\"mesh\":[2,2],\"shape\":[10,5],\"placements\":\"S(0),S(0)\",\"order\":{\"0\":[1,0]}}",
    "{\"q\":\"shard\",\"mesh\":[3],\"shape\":[10],\"placements\":\"S(0)\",\"extents\":{\"0\":[3,5,2]}}",
    "{\"q\":\"mesh\",\"world\":8,\"rank\":3,\"shape\":[2,2,2],\"names\":[\"dp\",\"cp\",\"tp\"],"
    "\"do\":[[\"slice\",\"dp\",\"tp\"],[\"flatten\",\"x\"],[\"root\"],[\"unflatten\",\"cp\",[2,1],[\"a\",\"b\"]],"
    "[\"concatenate\",[\"tp\"],[\"dp\"]]]}",
    "{\"q\":\"mesh\",\"world\":9,\"rank\":5,\"ranks\":[[5,1],[2,3]]}",
    "{\"q\":\"layout\",\"do\":\"composition\",\"a\":{\"shape\":[4,[2,3]]},\"b\":{\"shape\":[6,2],\"stride\":[2,1]}}",
    "{\"q\":\"layout\",\"do\":\"idx2crd\",\"a\":{\"shape\":[4,[2,3]]},\"index\":7}",
    "{\"q\":\"nonsense\"}",
    "{",
};

/* Either the whole answer or an error: nothing in between, and nothing is left behind. */
static void answer__any_allocation_may_fail(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        char whole[4096] = "";
        for (long fail_at = 0;; fail_at++) {
            test_memory memory = {.fail_at = 0};
            dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
            dt__text answer = dt__text_new(ctx);
            json_add_string(&answer, "room for an error that says what is wrong, so that memory is never out for it: "
                                     "field 'q': there is no request 'nonsense'; known are layout, mesh, shard, "
                                     "redistribute, rules, propagate, run");
            memory.fail_at = fail_at ? memory.n_calls + fail_at : 0;
            long n_before = memory.n_calls;
            query_answer(requests[i], strlen(requests[i]), &answer);
            bool failed = fail_at && memory.n_calls - n_before >= fail_at;
            if (!fail_at)
                snprintf(whole, sizeof whole, "%s", dt__text_chars(&answer));
            else if (!failed)
                assert_string_equal(dt__text_chars(&answer), whole);
            else if (strcmp(dt__text_chars(&answer), whole) != 0 && !strstr(dt__text_chars(&answer), "memory"))
                fail_msg("allocation %ld of '%s' failed: '%s'", fail_at, requests[i], dt__text_chars(&answer));
            dt__text_free(&answer);
            dt__ctx_free(ctx);
            assert_int_equal(memory.n_live, 0);
            assert_false(memory.wrong_size);
            if (fail_at && !failed)
                break;
        }
    }
}

static void json_string__escapes_what_json_does_not_allow(void **state) {
    (void)state;
    static const struct {
        const char *chars, *json;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\n\t\x01\x7f", "\"\\u000a\\u0009\\u0001\\u007f\""},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xff", "\"\\ufffd\""},
        {"\xc3", "\"\\ufffd\""},                                    /* cut off */
        {"\xc0\x80", "\"\\ufffd\\ufffd\""},                         /* overlong */
        {"\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\""},              /* overlong */
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},              /* a surrogate */
        {"\xf4\x90\x80\x80x", "\"\\ufffd\\ufffd\\ufffd\\ufffdx\""}, /* beyond U+10FFFF */
    };
    dt_ctx *ctx = dt__ctx_new(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__text text = dt__text_new(ctx);
        json_add_string(&text, cases[i].chars);
        assert_string_equal(dt__text_chars(&text), cases[i].json);
        dt__text_free(&text);
    }
    dt__ctx_free(ctx);
}

static void json_int__writes_every_size(void **state) {
    (void)state;
    static const int64_t values[] = {0, 7, -7, 10, 1234567890123, INT64_MAX, INT64_MIN};
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text text = dt__text_new(ctx);
    json_add_ints(&text, values, sizeof values / sizeof *values);
    assert_string_equal(dt__text_chars(&text), "[0,7,-7,10,1234567890123,9223372036854775807,-9223372036854775808]");
    dt__text_free(&text);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answer__any_allocation_may_fail),
        cmocka_unit_test(json_string__escapes_what_json_does_not_allow),
        cmocka_unit_test(json_int__writes_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
