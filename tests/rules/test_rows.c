/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows: factors, classes of partials, and rows that must not be derived. Golden cases have the rows of many calls;
 * these tests have the mechanisms, and arguments and dtypes that are not in those.
 */
#include "rules/calls.h"

/* All rows of a call, joined by blanks; unlisted ones left out. */
static void rows_of(const char *call, char *out, size_t capacity) {
    test_calls self = calls_open("2");
    dt__placed_call placed = calls_parse(&self, call);
    dt__row_list rows;
    assert_int_equal(dt__op_call_rows(&self.arena, &placed.call, &rows), DT_OK);
    dt__text text = dt__text_new(self.ctx);
    for (int r = 0; r < rows.n_rows; r++) {
        if (rows.rows[r].flags & DT_ROW_UNLISTED)
            continue;
        dt__text_add(&text, "%s", text.n_chars ? " " : "");
        dt__row_query_text(&placed.call, &rows.rows[r], &text);
    }
    snprintf(out, capacity, "%s", dt__text_chars(&text));
    dt__text_free(&text);
    calls_close(&self);
}

static void assert_rows(const char *call, const char *expected) {
    char got[4096];
    rows_of(call, got, sizeof got);
    if (strcmp(got, expected) != 0)
        fail_msg("%s:\n  expected %s\n  got      %s", call, expected, got);
}

/* Rows over the dims that are not normalized; the others meet. */
static void rows__of_norms(void **state) { /* STR-026 STR-027 STR-028 */
    (void)state;
    assert_rows("rms_norm(f32[4,8]; [8]; f32[8])", "S(0),R->S(0) S(1),S(0)->S(1) R,P(sum)->P(sum) R,P(avg)->P(avg)");
    assert_rows("rms_norm(f32[4,8]; [8])", "S(0)->S(0) S(1)->S(1)");
    assert_rows("native_layer_norm_backward(f32[4,8]; f32[4,8]; [8]; f32[4]; f32[4]; f32[8]; [1,1,1])",
                "S(0),S(0),S(0),S(0),R->S(0),P(sum),P(sum) S(1),S(1),R,R,S(0)->S(1),S(0),S(0) "
                "P(sum),R,R,R,R->P(sum),P(sum),P(sum) P(avg),R,R,R,R->P(avg),P(avg),P(avg) "
                "R,R,R,R,P(sum)->P(sum),R,R R,R,R,R,P(avg)->P(avg),R,R");
    assert_rows("_fused_rms_norm_backward(f32[4,8]; f32[4,8]; [8]; f32[4]; f32[8]; [1,1])",
                "S(0),S(0),S(0),R->S(0),P(sum) S(1),S(1),R,S(0)->S(1),S(0) P(sum),R,R,R->P(sum),P(sum) "
                "P(avg),R,R,R->P(avg),P(avg) R,R,R,P(sum)->P(sum),R R,R,R,P(avg)->P(avg),R");
}

static void factors__of_products(void **state) { /* STR-002 STR-003 CMR-002 */
    (void)state;
    assert_rows("mm(i32[4,5]; i32[5,6])",
                "S(0),R->S(0) R,S(1)->S(1) S(1),S(0)->P(sum) P(sum),R->P(sum) R,P(sum)->P(sum)");
    assert_rows("bmm(i32[2,4,5]; i32[2,5,6])", "S(0),S(0)->S(0) S(1),R->S(1) R,S(2)->S(2) S(2),S(1)->P(sum) "
                                               "P(sum),R->P(sum) R,P(sum)->P(sum)");
    assert_rows("matmul(i32[3]; i32[3])", "S(0),S(0)->P(sum) P(sum),R->P(sum) R,P(sum)->P(sum)");
    assert_rows("matmul(i32[3]; i32[7,3,4])",
                "R,S(0)->S(0) R,S(2)->S(1) S(0),S(1)->P(sum) P(sum),R->P(sum) R,P(sum)->P(sum)");
    assert_rows("matmul(i32[2,1,5,3]; i32[4,3,6])", "S(0),R->S(0) R,S(0)->S(1) S(2),R->S(2) R,S(2)->S(3) "
                                                    "S(3),S(1)->P(sum) P(sum),R->P(sum) R,P(sum)->P(sum)");
}

static void factors__broadcast(void **state) { /* CMR-004 CMR-005 CMR-006 CMR-012 SDS-027 */
    (void)state;
    assert_rows("eq(f32[4,8]; f32[4,8])", "S(0),S(0)->S(0) S(1),S(1)->S(1)");
    assert_rows("eq(f32[4,8]; f32[8])", "S(0),R->S(0) S(1),S(0)->S(1)");
    assert_rows("eq(f32[4,1]; f32[1,8])", "S(0),R->S(0) R,S(1)->S(1)");
    assert_rows("eq(f32[1]; f32[1])", "S(0),S(0)->S(0)");
    assert_rows("eq(f32[]; f32[])", "");
    assert_rows("where(bool[8]; i32[]; i32[1,1])", "R,R,S(0)->S(0) S(0),R,R->S(1) R,P(sum),P(sum)->P(sum) "
                                                   "R,P(avg),P(avg)->P(avg) R,P(product),P(product)->P(product) "
                                                   "R,P(min),P(min)->P(min) R,P(max),P(max)->P(max)");
}

/* The placements of a row in their order, as texts: "P(sum),R->P(sum)" has three. */
static int split_row(char *row, char **out) {
    int n = 0, depth = 0;
    out[n++] = row;
    for (char *at = row; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0 && (*at == ',' || *at == '-')) {
            *at = '\0';
            at += at[1] == '>';
            out[n++] = at + 1;
        }
    }
    return n;
}

/* MAT-010: a bias is partial as the result is. MAT-012: no product of partials is partial. */
static void factors__bias_and_result_are_partial_alike(void **state) {
    (void)state;
    static const char *const calls[] = {"addmm(f32[12,4]; f32[12,8]; f32[8,4])", "addmm(f32[4]; f32[12,8]; f32[8,4])",
                                        "mm(f32[12,8]; f32[8,4])"};
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        char rows[4096], *entries[8], *rest = rows;
        int n_partial = 0;
        rows_of(calls[c], rows, sizeof rows);
        for (char *row; (row = strtok_r(rest, " ", &rest));) {
            const int n = split_row(row, entries);
            assert_int_equal(n, c == 2 ? 3 : 4);
            if (entries[n - 1][0] != 'P')
                continue;
            n_partial++;
            if (n == 4)
                assert_string_equal(entries[0], entries[3]);
            assert_false(entries[n - 3][0] == 'P' && entries[n - 2][0] == 'P');
        }
        assert_true(n_partial >= 3);
    }
}

static void factors__addends_join_the_sum(void **state) {
    (void)state;
    assert_rows("addmm(i32[1,6]; i32[8,4]; i32[4,6]; beta=0)",
                "R,S(0),R->S(0) S(1),R,S(1)->S(1) P(sum),S(1),S(0)->P(sum) "
                "P(sum),P(sum),R->P(sum) P(sum),R,P(sum)->P(sum)");
    assert_rows("addmm(i32[6]; i32[8,4]; i32[4,6]; beta=-1)", /* no order: integers wrap around */
                "R,S(0),R->S(0) S(0),R,S(1)->S(1) P(sum),S(1),S(0)->P(sum) "
                "P(sum),P(sum),R->P(sum) P(sum),R,P(sum)->P(sum)");
    assert_rows("addmm(f32[1]; f32[1,1]; f32[1,1]; beta=-1)",
                "R,S(0),R->S(0) S(0),R,S(1)->S(1) P(sum),S(1),S(0)->P(sum) "
                "P(max),R,R->P(min) P(min),R,R->P(max) P(sum),P(sum),R->P(sum) P(avg),P(avg),R->P(avg) "
                "P(sum),R,P(sum)->P(sum) P(avg),R,P(avg)->P(avg)");
}

/* Dtypes decide which partials exist: no order on complex numbers, no averages of integers, no sums of booleans, and
 * no sums where integers are converted to floating point or back. */
static void partials__follow_dtypes(void **state) {
    (void)state;
    assert_rows("neg(f32[])", "P(sum)->P(sum) P(avg)->P(avg) P(max)->P(min) P(min)->P(max)");
    assert_rows("neg(i32[])", "P(sum)->P(sum)"); /* the smallest integer is its own negative */
    assert_rows("neg(c64[])", "P(sum)->P(sum) P(avg)->P(avg)");
    assert_rows("div(i32[]; 2)", "P(max)->P(max) P(min)->P(min)");
    assert_rows("sum(i32[])", ""); /* i64: contributions to an i32 sum may have wrapped around */
    assert_rows("sum(i64[])", "P(sum)->P(sum)");
    assert_rows("sum(f32[]; dtype=i64)", "");
    assert_rows("sum(f32[]; dtype=f64)", "P(sum)->P(sum) P(avg)->P(avg)");
    assert_rows("to(f32[]; i64)", "P(max)->P(max) P(min)->P(min)");
    assert_rows("to(f32[]; bool)", "");
    assert_rows("to(bool[]; bool)", "P(sum)->P(sum) P(product)->P(product) P(min)->P(min) P(max)->P(max)");
    assert_rows("mul(i32[]; 1.5)", "P(max)->P(max) P(min)->P(min)");
    assert_rows("add(bool[]; bool[])",
                "P(max),R->P(max) P(min),R->P(min) R,P(max)->P(max) R,P(min)->P(min) P(max),P(max)->P(max)");
}

/* An integer without dims wraps around in the dtype of a result that is narrower: it has no order there. */
static void partials__of_integers_that_wrap_are_not_kept(void **state) {
    (void)state;
    static const char *const ops[] = {"maximum", "minimum", "fmax", "fmin", "max", "min", "clamp_min", "clamp_max"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        static const char *const wraps[] = {"u8[1]; i64[]", "i8[1]; u8[]", "u8[1]; i8[]", "i32[1]; i64[]"};
        static const char *const fits[] = {"i64[1]; u8[]", "i16[1]; u8[]", "i8[1]; bool[]", "f32[1]; i64[]"};
        char call[64], rows[4096];
        for (int k = 0; k < 4; k++) {
            snprintf(call, sizeof call, "%s(%s)", ops[i], wraps[k]);
            rows_of(call, rows, sizeof rows);
            if (strstr(rows, "R,P(") || strstr(rows, "),P("))
                fail_msg("%s: expected no row with a partial second operand, got %s", call, rows);
            snprintf(call, sizeof call, "%s(%s)", ops[i], fits[k]);
            rows_of(call, rows, sizeof rows);
            if (!strstr(rows, "R,P("))
                fail_msg("%s: expected a row with a partial second operand, got %s", call, rows);
        }
    }
    assert_rows("maximum(i64[]; u8[1])", "R,S(0)->S(0) R,P(max)->P(max) R,P(min)->P(min)");
    assert_rows("where(bool[1]; u8[1]; i64[])", "S(0),S(0),R->S(0)");
    assert_rows("where(bool[1]; i64[1]; u8[])", "S(0),S(0),R->S(0) R,P(min),P(min)->P(min) R,P(max),P(max)->P(max)");
}

static void partials__follow_arguments(void **state) {
    (void)state;
    assert_rows("mul(f32[]; 0)", "");
    assert_rows("mul(f32[]; inf)", "");
    assert_rows("div(f32[]; 0)", "");
    assert_rows("div(f32[]; -2)", "P(sum)->P(sum) P(avg)->P(avg) P(max)->P(min) P(min)->P(max)");
    assert_rows("div(f32[]; f32[]; rounding_mode=trunc)", "");
    assert_rows("clamp(f32[]; nan)", "");
    assert_rows("sub(f32[]; f32[]; alpha=-1)",
                "P(max),R->P(max) P(min),R->P(min) P(sum),P(sum)->P(sum) P(avg),P(avg)->P(avg) R,P(max)->P(max) "
                "R,P(min)->P(min)");
    assert_rows("where(bool[]; f32[]; 0)", "R,P(sum)->P(sum) R,P(avg)->P(avg) R,P(product)->P(product) "
                                           "R,P(min)->P(min) R,P(max)->P(max)");
    assert_rows("where(bool[]; f32[]; 3)", "R,P(avg)->P(avg) R,P(min)->P(min) R,P(max)->P(max)");
    assert_rows("dropout(f32[]; 0.5)", "P(sum)->P(sum) P(avg)->P(avg)");
    assert_rows("layer_norm(f32[3]; [3]; bias=f32[3])",
                "S(0),S(0)->S(0) R,P(avg)->P(avg) R,P(max)->P(max) R,P(min)->P(min)");
}

static void rows__depend_on_dims(void **state) { /* STR-024 STR-025 */
    (void)state;
    assert_rows("argmax(f32[8,4]; 1)", "S(0)->S(0) S(1)->R");
    assert_rows("argmax(f32[8,4]; -2)", "S(1)->S(0) S(0)->R");
    assert_rows("argmax(f32[8,4])", "S(0)->R S(1)->R");
    assert_rows("argmax(f32[8,4]; 0; true)", "S(1)->S(1) S(0)->R");
    assert_rows("layer_norm(f32[4,8]; [8])", "S(0)->S(0) S(1)->S(1)");
    assert_rows("max(f32[8,4]; 1)", "S(0)->S(0),S(0)");
    assert_rows("max(f32[8,4]; 0)", "S(1)->S(0),S(0)");
    assert_rows("layer_norm(f32[4,8]; [4,8])", "S(0)->S(0) S(1)->S(1)");
    assert_rows("gather(f32[8,4]; 0; i64[5,3])",
                "R,S(0)->S(0) S(0),R->P(sum) P(sum),R->P(sum) P(avg),R->P(avg) P(product),R->P(product) "
                "P(min),R->P(min) P(max),R->P(max)"); /* the index is smaller in dim 1 */
}

static void rows__of_empty_tensors_are_few(void **state) {
    (void)state;
    assert_rows("view(i64[0,4]; [2,0])",
                "P(sum)->P(sum) P(avg)->P(avg) P(product)->P(product) P(min)->P(min) P(max)->P(max)");
    assert_rows("eq(f32[0,3]; f32[0,3])", "S(0),S(0)->S(0) S(1),S(1)->S(1)");
}

static void rows__expanded(void **state) { /* SDS-029 */
    (void)state;
    test_calls self = calls_open("2");
    dt__placed_call placed = calls_parse(&self, "add(f32[4,8]; f32[4,8])");
    dt__row_list rows;
    bool found[2] = {false};
    assert_int_equal(dt__op_call_rows(&self.arena, &placed.call, &rows), DT_OK);
    int before = rows.n_rows;
    assert_int_equal(dt__rows_expand(&self.arena, &placed.call, DT_ROW_UNLISTED, &rows), DT_OK);
    assert_int_equal(rows.n_rows, before + 2);
    for (int r = 0; r < rows.n_rows; r++) {
        const dt_row_entry *e = rows.rows[r].entries;
        found[0] |= e[0] == DT_ROW_R && e[1] == DT_ROW_P(DT_AVG) && e[2] == DT_ROW_P(DT_AVG);
        found[1] |= e[1] == DT_ROW_R && e[0] == DT_ROW_P(DT_AVG) && e[2] == DT_ROW_P(DT_AVG);
    }
    assert_true(found[0] && found[1]);
    calls_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors__of_products),
        cmocka_unit_test(factors__broadcast),
        cmocka_unit_test(factors__bias_and_result_are_partial_alike),
        cmocka_unit_test(factors__addends_join_the_sum),
        cmocka_unit_test(partials__follow_dtypes),
        cmocka_unit_test(partials__of_integers_that_wrap_are_not_kept),
        cmocka_unit_test(partials__follow_arguments),
        cmocka_unit_test(rows__depend_on_dims),
        cmocka_unit_test(rows__of_norms),
        cmocka_unit_test(rows__of_empty_tensors_are_few),
        cmocka_unit_test(rows__expanded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
