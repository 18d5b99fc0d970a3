/* SPDX-License-Identifier: Apache-2.0
 *
 * Rule text: each form of it as the rule of an op that is registered here, with the rows that follow, and texts that
 * are refused when an op is registered.
 */
#include "rules/calls.h"

#include <stdlib.h>

/* Shapes of outputs as text, "5,3|5": the shape function of all ops here returns them. */
static const char *output_shapes;

static dt_status shape_given(dt_op_call *call) {
    for (const char *at = output_shapes; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        int64_t sizes[DT_SPEC_MAX_DIMS];
        int n = 0;
        for (const char *c = at; *c && *c != '|'; c += *c == ',') {
            char *end;
            sizes[n++] = strtoll(c, &end, 10);
            c = end;
        }
        dt_status status = dt_op_add_output(call, call->inputs[0].dtype, n, sizes);
        if (status != DT_OK)
            return status;
    }
    return DT_OK;
}

/* The rows of a call of an op of this rule, joined by blanks. */
static void assert_rows(const char *schema, const char *rule, const char *text, const char *outputs,
                        const char *expected) {
    test_calls self = calls_open("2");
    dt_op op = {.schema = schema, .rule = rule, .shape = shape_given};
    output_shapes = outputs;
    if (dt_op_register(self.ctx, &op) != DT_OK)
        fail_msg("%s", dt_error_text(self.ctx));
    dt__placed_call made = calls_parse(&self, text);
    dt__row_list rows;
    assert_int_equal(dt__op_call_rows(&self.arena, &made.call, &rows), DT_OK);
    dt__text joined = dt__text_new(self.ctx);
    for (int r = 0; r < rows.n_rows; r++) {
        dt__text_add(&joined, r ? " " : "");
        dt__row_query_text(&made.call, &rows.rows[r], &joined);
        dt__text_add(&joined, rows.rows[r].flags & DT_ROW_OFFSET ? "@" : "");
    }
    if (strcmp(dt__text_chars(&joined), expected) != 0)
        fail_msg("%s of %s:\n  got      %s\n  expected %s", text, rule, dt__text_chars(&joined), expected);
    dt__text_free(&joined);
    calls_close(&self);
}

#define REDUCE "mine(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor"

static void brackets__reduced_dims_are_removed_or_kept(void **state) {
    (void)state;
    const char *rule = "...[dim] -> ...[dim:1?]";
    assert_rows(REDUCE, rule, "mine(f32[5,3]; 0)", "3", "S(1)->S(0) S(0)->P(sum)");
    assert_rows(REDUCE, rule, "mine(f32[5,3]; 0; true)", "1,3", "S(1)->S(1) S(0)->P(sum)");
    assert_rows(REDUCE, rule, "mine(f32[5,3,2]; [0,-1])", "3", "S(1)->S(0) S(0)->P(sum) S(2)->P(sum)");
    assert_rows(REDUCE, rule, "mine(f32[5,3])", "", "S(0)->P(sum) S(1)->P(sum)");
    assert_rows(REDUCE, rule, "mine(f32[5,3]; keepdim=true)", "1,1", "S(0)->P(sum) S(1)->P(sum)");
    assert_rows(REDUCE, rule, "mine(f32[]; 0)", "", "");
    assert_rows(REDUCE, "...[dim] -> ...[dim:1?] P(max)", "mine(f32[5,3]; 0)", "3", "S(1)->S(0) S(0)->P(max)");
    assert_rows(REDUCE, "...[dim!] -> ...[dim:1?]", "mine(f32[5,3]; 0)", "3", "S(1)->S(0)");
    assert_rows(REDUCE, rule, "mine(bool[5,3]; 0)", "3", "S(1)->S(0)"); /* a sum of booleans is none */
}

static void brackets__dims_stay_whole_or_change_size(void **state) {
    (void)state;
    const char *schema = "mine(Tensor self, int dim) -> Tensor";
    assert_rows(schema, "...[dim!] -> ...[dim]", "mine(f32[5,3,2]; 1)", "5,3,2", "S(0)->S(0) S(2)->S(2)");
    assert_rows(schema, "...[dim] -> ...[dim]", "mine(f32[5,3]; 0)", "5,3", "S(0)->S(0) S(1)->S(1)");
    assert_rows(schema, "...[dim] -> ...[dim]", "mine(f32[5,3]; 0)", "2,3", "S(1)->S(1)"); /* a dim of size k */
    assert_rows(schema, "...[dim] -> ...[dim]", "mine(f32[5,3]; 0)", "1,3", "S(1)->S(1)");
    assert_rows(schema, "...[dim:k@] -> ...", "mine(f32[5,3]; -1)", "5", "S(0)->S(0) S(1)->P(sum)@");
    assert_rows(schema, "... -> ...[dim:1]", "mine(f32[5,3]; 1)", "5,1,3", "S(0)->S(0) S(1)->S(2)");
    assert_rows(schema, "... -> ...[dim:1]", "mine(f32[5,3]; -1)", "5,3,1", "S(0)->S(0) S(1)->S(1)");
    assert_rows(schema, "... -> ...[dim]", "mine(f32[5,3]; 9)", "5,3", ""); /* does not fit */
}

static void brackets__positions_have_other_factors(void **state) {
    (void)state;
    const char *swap = "mine(Tensor self, int dim0, int dim1) -> Tensor",
               *to = "...[dim0:a][dim1:b] -> ...[dim0:b][dim1:a]";
    assert_rows(swap, to, "mine(f32[2,3,4]; 0; -1)", "4,3,2", "S(2)->S(0) S(1)->S(1) S(0)->S(2)");
    assert_rows(swap, to, "mine(f32[2,3]; 1; 1)", "2,3", "S(0)->S(0) S(1)->S(1)");
    assert_rows("mine(Tensor self, int[] dims) -> Tensor", "[dims] -> [#dims]", "mine(f32[2,3,4]; [2,0,1])", "4,2,3",
                "S(2)->S(0) S(0)->S(1) S(1)->S(2)");
    assert_rows("mine(Tensor self, int[] shape, Tensor? w=None) -> Tensor", "...[#shape!], [#shape] -> ...[#shape]",
                "mine(f32[2,3,4]; [3,4]; f32[3,4])", "2,3,4", "S(0),R->S(0)");
}

static void optional__letters_follow_the_dims(void **state) {
    (void)state;
    const char *schema = "mine(Tensor a, Tensor b) -> Tensor", *rule = "...m?k, ...kn? -> ...m?n?";
    assert_rows(schema, rule, "mine(f32[3]; f32[3])", "", "S(0),S(0)->P(sum)");
    assert_rows(schema, rule, "mine(f32[5,3]; f32[3])", "5", "S(0),R->S(0) S(1),S(0)->P(sum)");
    assert_rows(schema, rule, "mine(f32[3]; f32[3,4])", "4", "R,S(1)->S(0) S(0),S(0)->P(sum)");
    assert_rows(schema, rule, "mine(f32[2,5,3]; f32[3,4])", "2,5,4",
                "S(0),R->S(0) S(1),R->S(1) R,S(1)->S(2) S(2),S(0)->P(sum)");
    const char *pick = "mine(Tensor self, int dim, Tensor index) -> Tensor";
    assert_rows(pick, "...[dim:s@], i? -> ...[dim:i]", "mine(f32[5,3]; 0; f32[])", "1,3",
                "S(1),R->S(1) S(0),R->P(sum)@");
    assert_rows(pick, "...[dim:s@], i? -> ...[dim:i]", "mine(f32[]; 0; f32[1])", "", ""); /* i has no place */
}

static void lists__members_have_one_term(void **state) {
    (void)state;
    const char *schema = "mine(Tensor[] tensors, int dim=0) -> Tensor";
    assert_rows(schema, "...[dim] -> ...[dim]", "mine({f32[2,3]; f32[4,3]; f32[1,3]})", "7,3",
                "S(1),S(1),S(1)->S(1)");
    assert_rows(schema, "...[dim] -> ...[dim]", "mine({f32[0]; f32[4,3]})", "4,3", "R,S(0)->S(0) R,S(1)->S(1)");
    assert_rows(schema, "... -> ...[dim:n!]", "mine({f32[2,3]; f32[2,3]}; 1)", "2,2,3",
                "S(0),S(0)->S(0) S(1),S(1)->S(2)");
    assert_rows("mine(Tensor self, int dim=0) -> Tensor[]", "...[dim!] -> ...[dim]", "mine(f32[5,4])", "2,4|2,4|1,4",
                "S(1)->S(1),S(1),S(1)");
}

/* A factor that is missing in one output only makes that one partial. */
static void outputs__have_terms_of_their_own(void **state) {
    (void)state;
    const char *schema = "mine(Tensor a, Tensor b) -> (Tensor x, Tensor y)";
    assert_rows(schema, "mn, n -> mn, n", "mine(f32[5,3]; f32[3])", "5,3|3",
                "S(0),R->S(0),P(sum) S(1),S(0)->S(1),S(0)");
    assert_rows(schema, "mn, n -> mn, m P(max)", "mine(f32[5,3]; f32[3])", "5,3|5",
                "S(0),R->S(0),S(0) S(1),S(0)->S(1),P(max)");
    assert_rows(schema, "mk, kn -> mn, k", "mine(f32[5,3]; f32[3,4])", "5,4|3",
                "S(0),R->S(0),P(sum) R,S(1)->S(1),P(sum) S(1),S(0)->P(sum),S(0)");
    assert_rows(schema, "mn, n -> mn, n", "mine(bool[5,3]; bool[3])", "5,3|3", "S(1),S(0)->S(1),S(0)");
}

static void terms__moved_elements_keep_partials(void **state) {
    (void)state;
    assert_rows("mine(Tensor table, Tensor index) -> Tensor", "=v@d, ... -> ...d", "mine(i32[7,3]; i32[5])", "5,3",
                "R,S(0)->S(0) S(1),R->S(1) S(0),R->P(sum)@ P(sum),R->P(sum) P(avg),R->P(avg) "
                "P(product),R->P(product) P(min),R->P(min) P(max),R->P(max)");
}

static void refusals__point_at_the_text(void **state) {
    (void)state;
    static const struct {
        const char *rule, *text;
    } cases[] = {
        {"ij-ij", "column 3: expected '->' after the inputs"},
        {"..->...", "column 1: expected '...'"},
        {"ii->i", "column 2: expected each factor once in a term"},
        {"......->...", "column 4: expected each factor once in a term"},
        {"...l?s?,...->...", "column 6: expected at most one optional factor in a term"},
        {"...[dim:1?]k?,...->...", "column 12: expected at most one optional factor in a term"},
        {"...,...->...[dim:1?][other:1?]", "column 21: expected at most one optional factor in a term"},
        {"...[axis]->...", "column 5: mine has no argument 'axis'"},
        {"...[other]->...", "column 5: argument 'other' of mine is no dim: expected an int or a list of them"},
        {"...[dim->...", "column 8: expected ']' after the name of an argument"},
        {"...[]->...", "column 5: expected the name of an argument"},
        {"...[dim:K]->...", "column 9: expected a letter or 1"},
        {"...,...->... P(largest)", "column 16: expected the name of a reduction, such as max"},
        {"...,...->+...", "column 10: expected a factor, a comma or the end of the rule"},
        {"...->...", "mine: expected a term for each of 2 tensors, got 1"},
        {"...,...->...;", "column 13: expected a factor, a comma or the end of the rule"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_calls self = calls_open("2");
        dt_op op = {.schema = "mine(Tensor self, Tensor other, int dim=0) -> Tensor",
                    .rule = cases[i].rule,
                    .shape = shape_given};
        assert_int_equal(dt_op_register(self.ctx, &op), DT_ERR_VALUE);
        assert_error_contains(self.ctx, DT_ERR_VALUE, cases[i].text);
        calls_close(&self);
    }
}

static void arguments__are_found_once_per_signature(void **state) {
    (void)state;
    test_calls self = calls_open("2");
    dt_op op = {.schema =
                    "mine.a(Tensor self, int dim, bool keepdim=False) -> Tensor | mine.b(Tensor self) -> Tensor",
                .arguments = "keepdim,dim",
                .shape = shape_given};
    output_shapes = "5";
    assert_int_equal(dt_op_register(self.ctx, &op), DT_OK);
    dt__placed_call with = calls_parse(&self, "mine(f32[5]; 7; true)"), without = calls_parse(&self, "mine(f32[5])");
    assert_true(dt_op_arg_at(&with.call, 0)->as.b);
    assert_int_equal(dt_op_arg_at(&with.call, 1)->as.i, 7);
    assert_null(dt_op_arg_at(&with.call, 2));
    assert_null(dt_op_arg_at(&with.call, -1));
    assert_null(dt_op_arg_at(&without.call, 0));
    dt_op wrong = {.schema = "other(Tensor self) -> Tensor", .arguments = "self,dim", .shape = shape_given};
    assert_int_equal(dt_op_register(self.ctx, &wrong), DT_ERR_VALUE);
    assert_error_contains(self.ctx, DT_ERR_VALUE, "other: arguments: no signature has an argument 'dim'");
    calls_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brackets__reduced_dims_are_removed_or_kept),
        cmocka_unit_test(brackets__dims_stay_whole_or_change_size),
        cmocka_unit_test(brackets__positions_have_other_factors),
        cmocka_unit_test(optional__letters_follow_the_dims),
        cmocka_unit_test(lists__members_have_one_term),
        cmocka_unit_test(outputs__have_terms_of_their_own),
        cmocka_unit_test(terms__moved_elements_keep_partials),
        cmocka_unit_test(refusals__point_at_the_text),
        cmocka_unit_test(arguments__are_found_once_per_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
