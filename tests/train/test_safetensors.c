/* SPDX-License-Identifier: Apache-2.0
 *
 * Headers of safetensors files and indexes: what a good one holds, and the reason for which each bad one is refused.
 */
#include "support/check.h"

#include "base/half_float.h"
#include "train/safetensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parses a header in front of this many bytes of data; the reason is copied, "" if there is none. */
static void parse(const char *header, int64_t data_bytes, dt__safetensors *out, dt__arena *arena, char reason[600]) {
    const size_t n = strlen(header);
    const char *error =
        dt__safetensors_parse(arena, header, n, DT__SAFETENSORS_LENGTH_BYTES + (int64_t)n + data_bytes, out);
    (void)snprintf(reason, 600, "%s", error ? error : "");
}

static void parse__lists_tensors_and_texts(void **state) {
    (void)state;
    char reason[600];
    dt__safetensors st;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    parse("{\"b\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[4,28]},\n"
          " \"__metadata__\" : {\"format\":\"pt\", \"step\":\"6\\u00e4\\ud83d\\ude00\\n\"},"
          " \"a.\\u0062\":{\"data_offsets\":[0,4],\"shape\":[],\"dtype\":\"I32\"},"
          " \"none\":{\"dtype\":\"BF16\",\"shape\":[0,7],\"data_offsets\":[4,4]}}   ",
          28, &st, &arena, reason);
    assert_string_equal(reason, "");
    assert_int_equal(st.n, 3);
    assert_string_equal(st.tensors[0].name, "a.b");
    assert_string_equal(st.tensors[1].name, "none");
    assert_string_equal(st.tensors[2].name, "b");
    const dt__stored_tensor *b = dt__safetensors_find(&st, "b");
    assert_true(b && b->n_dims == 2 && b->shape[1] == 3 && b->begin == 4 && b->dtype->dtype == DT_F32);
    assert_null(dt__safetensors_find(&st, "c"));
    assert_string_equal(dt__safetensors_text(&st, "format"), "pt");
    assert_string_equal(dt__safetensors_text(&st, "step"), "6\xc3\xa4\xf0\x9f\x98\x80\n");
    assert_null(dt__safetensors_text(&st, "seed"));
    parse("{}", 0, &st, &arena, reason);
    assert_string_equal(reason, "");
    assert_null(dt__safetensors_find(&st, "a"));
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

#define U8(name, shape, begin, end)                                                                                  \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static void parse__refuses_with_the_reason(void **state) {
    (void)state;
    static const struct {
        const char *header;
        int64_t data_bytes;
        const char *reason; /* a part of it */
    } rows[] = {
        {"", 0, "does not begin with '{'"},
        {" {}", 0, "does not begin with '{'"},
        {"[]", 0, "does not begin with '{'"},
        {"{", 0, "expected a string, got the end of the text"},
        {"{}}", 0, "text follows the value"},
        {"{\"a\"}", 0, "expected ':'"},
        {"{\"a\":1}", 0, "'a' is not an object"},
        {"{\"a\":null}", 0, "'a' is not an object"},
        {"{\"a\":{}}", 0, "'a' lacks a key"},
        {"{" U8("a", "[2]", "0", "2") ",}", 2, "expected a string, got '}'"},
        {"{" U8("a", "[2]", "0", "2") " " U8("b", "[]", "2", "3") "}", 3, "expected ',' or '}'"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"x\":1}}", 2, "the unknown key 'x'"},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2, "occurs twice"},
        {"{\"a\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "the unknown dtype 'F33'"},
        {"{\"a\":{\"dtype\":8,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "expected a string, got '8'"},
        {"{" U8("a", "2", "0", "2") "}", 2, "expected a list, got '2'"},
        {"{" U8("a", "[-2]", "0", "2") "}", 2, "a dim of size -2"},
        {"{" U8("a", "[2.0]", "0", "2") "}", 2, "expected an integer of 64 bits, got 2.0"},
        {"{" U8("a", "[02]", "0", "2") "}", 2, "a number begins with 0"},
        {"{" U8("a", "[9223372036854775808]", "0", "2") "}", 2, "expected an integer of 64 bits"},
        {"{" U8("a", "[4294967296,4294967296]", "0", "2") "}", 2, "do not fit in 63 bits"},
        {"{" U8("a", "[0,4294967296,4294967296]", "0", "0") "}", 0, "do not fit in 63 bits"},
        {"{" U8("a", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "0", "1") "}", 1,
         "too many dims"},
        {"{" U8("a", "[3]", "0", "2") "}", 2, "span 2 bytes: expected 3 for its shape in U8"},
        {"{" U8("a", "[]", "0", "0") "}", 0, "span 0 bytes: expected 1"},
        {"{" U8("a", "[2]", "2", "0") "}", 2, "expected 0 <= begin <= end"},
        {"{" U8("a", "[2]", "-2", "0") "}", 2, "expected 0 <= begin <= end"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0]}}", 2, "expected two numbers"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2,4]}}", 2, "expected two numbers"},
        {"{" U8("a", "[2]", "0", "2") "," U8("a", "[2]", "2", "4") "}", 4, "the name 'a' occurs twice"},
        {"{" U8("a", "[2]", "0", "2") "," U8("\\u0061", "[2]", "2", "4") "}", 4, "the name 'a' occurs twice"},
        {"{" U8("a", "[2]", "0", "2") "," U8("b", "[2]", "1", "3") "}", 3, "'b' overlaps that of 'a'"},
        {"{" U8("a", "[2]", "0", "2") "," U8("b", "[2]", "0", "2") "}", 2, "'b' overlaps that of 'a'"},
        {"{" U8("a", "[2]", "0", "2") "," U8("b", "[2]", "3", "5") "}", 5, "a hole of 1 bytes before 'b'"},
        {"{" U8("a", "[2]", "1", "3") "}", 3, "a hole of 1 bytes before 'a'"},
        {"{" U8("a", "[2]", "0", "2") "}", 3, "1 bytes follow the data"},
        {"{" U8("a", "[2]", "0", "2") "}", 1, "the file is cut off: expected 2 bytes of data, got 1"},
        {"{}", 4, "4 bytes follow the data"},
        {"{\"__metadata__\":{\"step\":6}}", 0, "'step' is not a string"},
        {"{\"__metadata__\":{\"step\":null}}", 0, "'step' is not a string"},
        {"{\"__metadata__\":\"pt\"}", 0, "expected an object"},
        {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, "'a' occurs twice"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "'__metadata__' occurs twice"},
        {"{\"a\\x\":{}}", 0, "an unknown escape"},
        {"{\"a\\u12\":{}}", 0, "without four hexadecimal digits"},
        {"{\"a\\ud800\":{}}", 0, "half of a surrogate pair"},
        {"{\"a\\udc00\":{}}", 0, "half of a surrogate pair"},
        {"{\"a\\u0000\":{}}", 0, "a string has a NUL"},
        {"{\"a\n\":{}}", 0, "a control character"},
        {"{\"\xff\":{}}", 0, "not UTF-8"},
        {"{\"\xc0\x80\":{}}", 0, "not UTF-8"},
        {"{\"\xed\xa0\x80\":{}}", 0, "not UTF-8"},
        {"{\"a", 0, "expected the end of a string, got the end of the text"},
        {"{} \xc2\xa0", 0, "text follows the value"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char reason[600];
        dt__safetensors st;
        dt_ctx *ctx = dt__ctx_new(NULL);
        dt__arena arena = dt__arena_new(ctx);
        parse(rows[i].header, rows[i].data_bytes, &st, &arena, reason);
        if (!strstr(reason, rows[i].reason))
            fail_msg("%s: expected '%s', got '%s'", rows[i].header, rows[i].reason, reason);
        dt__arena_free(&arena);
        dt__ctx_free(ctx);
    }
}

static void length__is_bounded_by_file_and_limit(void **state) {
    (void)state;
    dt__safetensors st;
    int64_t n = 0;
    assert_non_null(dt__safetensors_length((const unsigned char *)"\2\0\0\0\0\0\0", 7, &st, &n));
    assert_non_null(dt__safetensors_length((const unsigned char *)"\3\0\0\0\0\0\0\0", 10, &st, &n));
    const char *error = dt__safetensors_length((const unsigned char *)"\1\xe1\xf5\5\0\0\0\0", INT64_MAX, &st, &n);
    assert_string_equal(error, "the header is too long: expected at most 100000000 bytes, got 100000001");
    assert_non_null(
        dt__safetensors_length((const unsigned char *)"\xff\xff\xff\xff\xff\xff\xff\xff", INT64_MAX, &st, &n));
    assert_null(dt__safetensors_length((const unsigned char *)"\2\0\0\0\0\0\0\0", 10, &st, &n));
    assert_int_equal(n, 2);
}

/* Text of n repetitions after a start. */
static char *repeated(const char *start, const char *of, size_t n) {
    const size_t begin = strlen(start), each = strlen(of);
    char *text = malloc(begin + n * each + 1);
    assert_non_null(text);
    memcpy(text, start, begin + 1);
    for (size_t i = 0; i < n; i++)
        memcpy(text + begin + i * each, of, each + 1);
    return text;
}

static void parse__bounds_depth_and_time(void **state) {
    (void)state;
    char reason[600];
    dt__safetensors st;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    dt__safetensors_index index;
    char *deep = repeated("{\"a\":", "[", 1000000);
    const char *error = dt__safetensors_parse_index(&arena, deep, strlen(deep), &index);
    assert_non_null(error);
    assert_non_null(strstr(error, "nested too deeply: expected at most 64 levels"));
    free(deep);
    /* A hundred thousand empty tensors under one name: found by sorting. */
    char *many = repeated("{", U8("same", "[0]", "0", "0") ",", 100000);
    many[strlen(many) - 1] = '}';
    parse(many, 0, &st, &arena, reason);
    assert_string_equal(reason, "the name 'same' occurs twice");
    free(many);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static void index__lists_files_and_refuses_others(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason; /* NULL: none */
    } rows[] = {
        {"{\"metadata\":{\"total_size\":5,\"x\":[1e5,-0.5,true,false,null,{}]},"
         "\"weight_map\":{\"b\":\"2.safetensors\",\"a\":\"1.safetensors\",\"c\":\"2.safetensors\"}}",
         NULL},
        {"{\"weight_map\":{\"b\":\"/etc/passwd\"}}", "got an absolute path"},
        {"{\"weight_map\":{\"b\":\"../x.safetensors\"}}", "names the file '../x.safetensors': expected a name"},
        {"{\"weight_map\":{\"b\":\"sub/x.safetensors\"}}", "expected a name in its own folder"},
        {"{\"weight_map\":{\"b\":\"..\"}}", "expected a name in its own folder"},
        {"{\"weight_map\":{\"b\":\"\"}}", "expected a name in its own folder"},
        {"{\"weight_map\":{\"b\":1}}", "'b' is not a string"},
        {"{\"weight_map\":{\"b\":\"x\",\"b\":\"y\"}}", "'b' occurs twice"},
        {"{\"weight_map\":{},\"weight_map\":{}}", "'weight_map' occurs twice"},
        {"{\"weight_map\":[]}", "expected an object"},
        {"{}", "has no weight_map"},
        {"{\"x\":01}", "a number begins with 0"},
        {"{\"x\":1.}", "expected a digit"},
        {"{\"x\":-}", "expected a digit"},
        {"{\"x\":nul}", "expected null"},
        {"{\"x\":[1,]}", "expected a value"},
        {"{\"x\":[1}}", "expected ',' or ']'"},
        {"[]", "expected an object"},
        {"", "expected an object, got the end of the text"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        dt__arena arena = dt__arena_new(ctx);
        dt__safetensors_index index;
        const char *error = dt__safetensors_parse_index(&arena, rows[i].text, strlen(rows[i].text), &index);
        if (!error != !rows[i].reason || (error && !strstr(error, rows[i].reason)))
            fail_msg("%s: expected '%s', got '%s'", rows[i].text, rows[i].reason, error);
        if (!error) {
            assert_int_equal(index.n, 3);
            assert_string_equal(index.entries[2].key, "c");
            assert_int_equal(index.n_files, 2);
            assert_string_equal(index.files[1], "2.safetensors");
        }
        dt__arena_free(&arena);
        dt__ctx_free(ctx);
    }
}

static void dtypes__decode_to_what_holds_them(void **state) {
    (void)state;
    unsigned char all[256];
    uint16_t small[256];
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    assert_true(dt__stored_dtype_named("F8_E4M3")->decode(256, all, small));
    assert_true(dt__bf16_to_f32(small[0x7e]) == 448 && dt__bf16_to_f32(small[0xfe]) == -448);
    assert_true(isnan(dt__bf16_to_f32(small[0x7f])) && isnan(dt__bf16_to_f32(small[0xff])));
    assert_true(dt__bf16_to_f32(small[0x38]) == 1 && dt__bf16_to_f32(small[0x01]) == 0x1p-9f);
    assert_true(dt__bf16_to_f32(small[0x08]) == 0x1p-6f && dt__bf16_to_f32(small[0x80]) == 0);
    assert_true(dt__stored_dtype_named("F8_E5M2")->decode(256, all, small));
    assert_true(dt__bf16_to_f32(small[0x7b]) == 57344 && isinf(dt__bf16_to_f32(small[0x7c])));
    assert_true(dt__bf16_to_f32(small[0x3c]) == 1 && dt__bf16_to_f32(small[0x01]) == 0x1p-16f);
    int64_t wide[1];
    int32_t middle[1];
    assert_true(dt__stored_dtype_named("U16")->decode(1, all + 254, middle) && middle[0] == 0xfffe);
    assert_true(dt__stored_dtype_named("U32")->decode(1, all + 252, wide) && wide[0] == 0xfffefdfc);
    assert_true(dt__stored_dtype_named("U64")->decode(1, all, wide) && wide[0] == 0x0706050403020100);
    assert_false(dt__stored_dtype_named("U64")->decode(1, all + 248, wide));
    for (int dtype = DT_NO_DTYPE + 1; dtype < DT_N_DTYPES; dtype++) {
        const dt__stored_dtype *stored = dt__stored_dtype_of((dt_dtype)dtype);
        assert_true(dtype == DT_C128 ? !stored : stored && stored->bytes == (int)dt_dtype_size((dt_dtype)dtype));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse__lists_tensors_and_texts),        cmocka_unit_test(parse__refuses_with_the_reason),
        cmocka_unit_test(length__is_bounded_by_file_and_limit),  cmocka_unit_test(parse__bounds_depth_and_time),
        cmocka_unit_test(index__lists_files_and_refuses_others), cmocka_unit_test(dtypes__decode_to_what_holds_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
