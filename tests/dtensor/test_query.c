/* SPDX-License-Identifier: Apache-2.0 */
#include "support/check.h"

#include "dtensor/json.h"
#include "dtensor/query.h"

#include <math.h>
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

/* Either the full answer or an error, and no memory leaks. */
static void answer__any_allocation_may_fail(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        char full[4096] = "";
        for (long fail_at = 0;; fail_at++) {
            test_memory memory = {.fail_at = 0};
            dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
            dt__text answer = dt__text_new(ctx);
            dt__text_add(&answer, "%*s", 512, ""); /* enough capacity for an error */
            memory.fail_at = fail_at ? memory.n_calls + fail_at : 0;
            long n_before = memory.n_calls;
            query_answer(requests[i], strlen(requests[i]), &answer);
            bool failed = fail_at && memory.n_calls - n_before >= fail_at;
            if (!fail_at)
                snprintf(full, sizeof full, "%s", dt__text_chars(&answer));
            else if (!failed)
                assert_string_equal(dt__text_chars(&answer), full);
            else if (strcmp(dt__text_chars(&answer), full) != 0 && !strstr(dt__text_chars(&answer), "memory"))
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

static void json__strings_and_numbers_are_always_valid(void **state) {
    (void)state;
    static const struct {
        const char *chars, *json;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\n\t\x01", "\"\\n\\t\\u0001\""},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xff", "\"\xef\xbf\xbd\""},
        {"\xc3", "\"\xef\xbf\xbd\""},                                                 /* cut off */
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                                 /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},                 /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* beyond U+10FFFF */
    };
    static const struct {
        double value;
        const char *json;
    } numbers[] = {
        {0, "0"},
        {-7, "-7"},
        {0.1, "0.1"},
        {-0.0, "-0.0"},
        {1e300, "1e300"},
        {1234567.0, "1234567"},
        {(double)NAN, "\"nan\""},
        {-(double)INFINITY, "\"-inf\""},
    };
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text text = dt__text_new(ctx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__text_clear(&text);
        assert_int_equal(json_write(ctx, string_json(cases[i].chars), 9, &text), DT_OK);
        assert_string_equal(dt__text_chars(&text), cases[i].json);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        dt__text_clear(&text);
        assert_int_equal(json_write(ctx, number_json(numbers[i].value), 9, &text), DT_OK);
        assert_string_equal(dt__text_chars(&text), numbers[i].json);
    }
    dt__text_free(&text);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answer__any_allocation_may_fail),
        cmocka_unit_test(json__strings_and_numbers_are_always_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
