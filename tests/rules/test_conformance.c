/* SPDX-License-Identifier: Apache-2.0
 *
 * Published behaviors of rules, their expansion and placement selection, by id. Ids of mechanisms with tests of their
 * own are in those; deviations are in tests/conformance_deviations.md.
 */
#include "rules/calls.h"

#include <math.h>

static dt_status shape_first(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, call->inputs[0].n_dims, call->inputs[0].shape);
}
static dt_status shape_last(dt_op_call *call) {
    const dt_op_value *last = &call->inputs[call->n_inputs - 1];
    return dt_op_add_output(call, last->dtype, last->n_dims, last->shape);
}
static dt_status shape_bm(dt_op_call *call) {
    return dt_op_add_output(call, call->inputs[0].dtype, 2, call->inputs[0].shape);
}
static dt_status shape_bmn(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    return dt_op_add_output(call, a->dtype, 3, (int64_t[]){a->shape[0], a->shape[1], b->shape[b->n_dims - 1]});
}

/* The number of rows of a rule of factors with a class of partials, on integers, plus the implied row. */
static int count_rows(const char *rule, dt_status (*shape)(dt_op_call *), unsigned partial, const char *inputs) {
    dt_op op = {.schema = "f(Tensor a, Tensor b) -> Tensor", .rule = rule, .partial = partial, .shape = shape};
    test_calls self = calls_open("4");
    char text[100];
    dt__row_list rows;
    assert_int_equal(dt_op_register(self.ctx, &op), DT_OK);
    snprintf(text, sizeof text, "f(%s)", inputs);
    dt__placed_call placed = calls_parse(&self, text);
    assert_int_equal(dt__op_call_rows(&self.arena, &placed.call, &rows), DT_OK);
    calls_close(&self);
    return rows.n_rows + 1;
}

static void factors__counts(void **state) { /* STR-001 STR-004 STR-005 STR-006 STR-007 */
    (void)state;
    assert_int_equal(count_rows("mk,kn->mn", shape_first, 0, "i32[4,4]; i32[4,4]"), 4);
    assert_int_equal(count_rows("bmk,bkn->bmn", shape_bmn, 0, "i32[2,4,5]; i32[2,5,6]"), 5);
    assert_int_equal(count_rows("bmk,kn->bmn", shape_bmn, 0, "i32[2,4,5]; i32[5,6]"), 5);
    assert_int_equal(count_rows("bmk,k->bm", shape_bm, 0, "i32[2,4,5]; i32[5]"), 4);
    assert_int_equal(count_rows("abcd,abcd->abcd", shape_first, 0, "i32[2,3,4,5]; i32[2,3,4,5]"), 5);
    assert_int_equal(count_rows("bcd,abcd->abcd", shape_last, 0, "i32[3,4,5]; i32[2,3,4,5]"), 5);
    assert_int_equal(count_rows("bcd,abcd->abcd", shape_last, DT_PARTIAL_LINEAR, "i32[3,4,5]; i32[2,3,4,5]"), 6);
}

static void factors__marked_letters_are_not_sharded(void **state) {
    (void)state;
    assert_int_equal(count_rows("m!k,k!n->m!n", shape_first, 0, "i32[4,4]; i32[4,4]"), 2);
}

static double cost(const char *mesh, const char *from, const char *to) {
    test_calls self = calls_open(mesh);
    char texts[2][100];
    double us;
    snprintf(texts[0], sizeof texts[0], "neg(%s)", from);
    snprintf(texts[1], sizeof texts[1], "neg(%s)", to);
    dt__placed_call a = calls_parse(&self, texts[0]), b = calls_parse(&self, texts[1]);
    dt__move move = {.from = a.inputs[0], .to = b.inputs[0], .item_bytes = 4};
    assert_int_equal(dt__plan_price(&self.arena, &move, &dt__machine_builtin, NULL, INFINITY, NULL, &us), DT_OK);
    calls_close(&self);
    return us;
}

static void cost__orders_redistributions(void **state) { /* STR-008 STR-009 STR-011 STR-012 STR-013 */
    (void)state;
    static const char *const same[] = {"S(0)", "R", "P(sum)"};
    for (int i = 0; i < 3; i++) {
        char spec[50];
        snprintf(spec, sizeof spec, "f32[10,10] %s", same[i]);
        assert_true(cost("4", spec, spec) == 0);
    }
    assert_true(cost("4", "f32[10,10] P(sum)", "f32[10,10] R") + 1 <
                cost("4", "f32[10,10] S(0)", "f32[10,10] R") + cost("4", "f32[10,10] P(sum)", "f32[10,10] S(0)"));
    assert_true(isinf(cost("4", "f32[10,10] S(0)", "f32[10,10] P(sum)")));
    assert_true(isinf(cost("4", "f32[10,10] P(sum)", "f32[10,10] P(avg)")));
    assert_true(cost("2,2", "f32[8,8] P(sum),P(sum)", "f32[8,8] R,R") >
                cost("2,2", "f32[8,8] S(0),S(0)", "f32[8,8] R,R"));
    assert_true(cost("2,2", "f32[8,8] P(sum),P(sum)", "f32[8,8] R,R") >
                cost("2,2", "f32[8,8] P(sum),P(sum)", "f32[8,8] S(0),S(0)"));
    assert_true(cost("2,2", "f32[4,4] S(0),S(0)", "f32[4,4] R,S(0)") >
                cost("2,2", "f32[4,4] S(0),S(0)", "f32[4,4] S(0),R"));
}

static void selection__of_known_calls(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"2,2", "add(f32[12,1,1,8] S(0),S(3); f32[12,4,8] S(0),S(2))",
         "R,S(3); S(0),S(2) -> S(1),S(3)"},                                  /* CMR-015 */
        {"4", "where(bool[8] S(0); f32[]; f32[1,1])", "S(0); R; R -> S(1)"}, /* CMR-012 */
        {"2,2,2", "add(f32[8,8,8] P(sum),P(sum),P(avg); f32[8,8,8] R,P(sum),P(sum))",
         "P(sum),P(sum),P(avg); P(sum),P(sum),P(avg) -> P(sum),P(sum),P(avg)"}, /* SDS-003 */
        {"2,2,2", "cat({f32[8,8,8] R,R,S(1); f32[8,8,8] S(1),S(1),S(1)})",
         "S(1),S(1),S(1); S(1),S(1),S(1) -> S(1),S(1),S(1)"}, /* SDS-004 */
        {"2,2,2", "cat({f32[8,8,8] P(sum),R,S(1); f32[8,8,8] P(sum),S(1),S(1)})",
         "P(sum),S(1),S(1); P(sum),S(1),S(1) -> P(sum),S(1),S(1)"},        /* SDS-004 */
        {"2,2", "sum(f32[8,8] S(0),S(1); 0)", "S(0),S(1) -> P(sum),S(0)"}, /* STR-017 */
        {"4", "expand(f32[16,1] P(min); [16,4])", "P(min) -> P(min)"},     /* DEC-004 */
        {"4", "split(f32[8,8,8] S(2); 4; 1)", "S(2) -> S(2); S(2)"},       /* DEC-007 */
        {"4", "add(f32[4,8] S(1); f32[8] S(0))", "S(1); S(0) -> S(1)"},    /* SDS-027 */
        {"4", "constant_pad_nd(f32[8,4] S(0); [1,1])", "S(0) -> S(0)"},    /* STR-029 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_selection(cases[i][0], cases[i][1], cases[i][2]);
}

/* An output never has reductions that cannot be mixed; sum and avg can. */
static void expansion__mixes_sum_and_avg_only(void **state) { /* SDS-002 SDS-017 */
    (void)state;
    test_calls self = calls_open("2,2");
    dt__placed_call placed = calls_parse(&self, "add(f32[8,8] P(sum),P(avg); f32[8,8] P(sum),P(avg))");
    dt__placed_inputs inputs = calls_inputs(&self, &placed);
    dt__candidate candidates[64];
    int n;
    bool mixed = false;
    assert_int_equal(dt__list_candidates(&self.arena, &placed.call, &inputs, 64, candidates, &n), DT_OK);
    for (int c = 0; c < n; c++) {
        const dt_placement *out = candidates[c].outputs[0];
        if (!dt_placement_is_partial(out[0]) || !dt_placement_is_partial(out[1]) || out[0].reduce == out[1].reduce)
            continue;
        bool linear = (out[0].reduce == DT_SUM || out[0].reduce == DT_AVG) &&
                      (out[1].reduce == DT_SUM || out[1].reduce == DT_AVG);
        assert_true(linear);
        mixed = true;
    }
    assert_true(mixed);
    calls_close(&self);
}

/* An op without rows runs on Replicate. */
static void expansion__of_no_rows_is_replicate(void **state) { /* STR-018 SDS-030 */
    (void)state;
    dt_op op = {.schema = "f(Tensor a, Tensor b) -> Tensor", .shape = shape_first};
    test_calls self = calls_open("2,2");
    assert_int_equal(dt_op_register(self.ctx, &op), DT_OK);
    dt__placed_call placed = calls_parse(&self, "f(f32[8,16,32] S(0),S(1); f32[8,16,32] S(0),S(1))");
    dt__placed_inputs inputs = calls_inputs(&self, &placed);
    dt__candidate selected;
    char text[50];
    assert_int_equal(dt__select_placements(&self.arena, &placed.call, &inputs, &selected), DT_OK);
    assert_string_equal(calls_placements(2, selected.outputs[0], text, sizeof text), "R,R");
    double us = cost("2,2", "f32[8,16,32] S(0),S(1)", "f32[8,16,32] R,R");
    assert_true(fabs(selected.input_us[0] - us) < 1e-9 && fabs(selected.input_us[1] - us) < 1e-9);
    calls_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors__counts),
        cmocka_unit_test(factors__marked_letters_are_not_sharded),
        cmocka_unit_test(cost__orders_redistributions),
        cmocka_unit_test(selection__of_known_calls),
        cmocka_unit_test(expansion__mixes_sum_and_avg_only),
        cmocka_unit_test(expansion__of_no_rows_is_replicate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
