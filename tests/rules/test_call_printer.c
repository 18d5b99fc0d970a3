/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls as text: printed calls parse to the same call, for every sample of every op.
 */
#include "support/check.h"

#include "ops/ops.h"
#include "rules/literal.h"
#include "rules/rules.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *print_call(dt__arena *arena, const char *call, dt__text *out) {
    dt__placed_call placed;
    dt__text_clear(out);
    if (dt__placed_call_parse(arena, call, 0, NULL, &placed) != DT_OK)
        fail_msg("%s: %s", call, dt_error_text(arena->ctx));
    dt__call_form_text(placed.info, placed.call.overload, placed.call.args, placed.call.inputs, NULL, 0, out);
    return dt__text_chars(out);
}

static int check_samples(dt__arena *arena, const char *samples, dt__text *first, dt__text *second) {
    int n = 0;
    for (const char *at = samples; at && *at; n++) {
        size_t n_chars = strcspn(at, "\n");
        const char *sample = dt__arena_copy_chars(arena, at, n_chars);
        const char *printed = dt__arena_copy_text(arena, print_call(arena, sample, first));
        const char *again = print_call(arena, printed, second);
        if (strcmp(printed, again) != 0)
            fail_msg("%s is printed as %s, which parses to %s", sample, printed, again);
        at += n_chars + (at[n_chars] == '\n');
    }
    return n;
}

static void printed_call__parses_to_the_same_call(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text first = dt__text_new(ctx), second = dt__text_new(ctx);
    int n = 0;
    assert_int_equal(dt__ops_open(ctx), DT_OK);
    for (int i = 0; i < dt__op_count(ctx); i++) {
        dt__arena arena = dt__arena_new(ctx);
        n += check_samples(&arena, dt__op_at(ctx, i)->op->samples, &first, &second);
        dt__arena_free(&arena);
    }
    assert_true(n > 100);
    dt__text_free(&first);
    dt__text_free(&second);
    dt__ctx_free(ctx);
}

static void printed_call__omits_defaults(void **state) {
    (void)state;
    static const struct {
        const char *call, *printed;
    } rows[] = {
        {"sum(f32[4,3]; 1; true)", "sum(f32[4,3]; dim=[1]; keepdim=true)"},
        {"argmax(f32[4,3]; keepdim=false)", "argmax(f32[4,3])"},
        {"sum(f32[4,3]; dim=[0,1]; dtype=f64)", "sum(f32[4,3]; dim=[0,1]; dtype=f64)"},
        {"transpose(f32[4,3]; dim1=1; dim0=0)", "transpose(f32[4,3]; dim0=0; dim1=1)"},
        {"reshape(f32[4,3]; [3,-1])", "reshape(f32[4,3]; shape=[3,-1])"},
        {"cat({f32[4,3]; f32[4,3]}; 1)", "cat({f32[4,3]; f32[4,3]}; dim=1)"},
        {"add(f32[4]; f32[4]; alpha=2)", "add(f32[4]; f32[4]; alpha=2)"},
        {"add(f32[4]; 2.0)", "add(f32[4]; 2.0)"},
        {"clamp(f32[4]; max=inf)", "clamp(f32[4]; max=inf)"},
        {"gelu(f32[4]; approximate=tanh)", "gelu(f32[4]; approximate=\"tanh\")"},
    };
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__text text = dt__text_new(ctx);
    dt__arena arena = dt__arena_new(ctx);
    assert_int_equal(dt__ops_open(ctx), DT_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(print_call(&arena, rows[i].call, &text), rows[i].printed);
    dt__text_free(&text);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static void assert_printed(dt_ctx *ctx, dt_arg value, const char *expected) {
    dt__text text = dt__text_new(ctx);
    dt__literal_text(&value, &text);
    assert_string_equal(dt__text_chars(&text), expected);
    dt__text_free(&text);
}

/* Every floating-point number parses to the same bits, and to a floating-point number. */
static void printed_number__is_exact(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    uint64_t random = test_seed(1);
    for (int i = 0; i < 20000; i++) {
        dt_arg value = {.type = DT_ARG_FLOAT}, read;
        uint64_t bits = test_random(&random);
        memcpy(&value.as.f, &bits, sizeof bits);
        if (isnan(value.as.f))
            continue;
        dt__text text = dt__text_new(ctx);
        dt__literal_text(&value, &text);
        dt__cursor cursor = dt__cursor_new(ctx, DT_ERR_VALUE, "value", dt__text_chars(&text));
        assert_int_equal(dt__literal_read(&cursor, &arena, &read), DT_OK);
        if (read.type != DT_ARG_FLOAT || memcmp(&read.as.f, &value.as.f, sizeof bits) != 0 || *cursor.at)
            fail_msg("%a is printed as %s", value.as.f, dt__text_chars(&text));
        dt__text_free(&text);
    }
    assert_printed(ctx, (dt_arg){.type = DT_ARG_FLOAT, .as.f = 0.1}, "0.1");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_FLOAT, .as.f = -2}, "-2.0");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_FLOAT, .as.f = -INFINITY}, "-inf");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_FLOAT, .as.f = NAN}, "nan");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_FLOAT, .as.f = DBL_TRUE_MIN}, "4.94066e-324");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_INT, .as.i = INT64_MIN}, "-9223372036854775808");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_COMPLEX, .as.c = {1, -2}}, "1-2j");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_TEXT, .as.text = "say \"x\""}, "'say \"x\"'");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_FLOATS, .n = 2, .as.floats = (double[]){0.5, 3}}, "[0.5,3.0]");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_INTS, .n = 0}, "[]");
    assert_printed(ctx, (dt_arg){.type = DT_ARG_NONE}, "none");
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_call__parses_to_the_same_call),
        cmocka_unit_test(printed_call__omits_defaults),
        cmocka_unit_test(printed_number__is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
