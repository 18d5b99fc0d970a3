/* SPDX-License-Identifier: Apache-2.0 */
#include "layout/layouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void product__multiplies_all_integers(void **state) {
    (void)state;
    static const struct {
        const char *tuple;
        int64_t expected;
    } cases[] = {{"2", 2}, {"(3,2)", 6}, {"((2,3),4)", 24}, {"()", 1}, {"(5)", 5}, {"(7,(),0)", 0}}; /* INT-001 */
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tuple tuple = tuple_of(&b, cases[i].tuple);
        int64_t got;
        assert_int_equal(dt__tuple_product(b.ctx, &tuple, &got), DT_OK);
        assert_i64(got, cases[i].expected, cases[i].tuple);
    }
    fixture_end(&b);
}

static void product__overflow_is_an_error(void **state) {
    (void)state;
    fixture b;
    fixture_begin(&b);
    dt_tuple tuple = tuple_of(&b, "(4294967296,(2147483648,2))");
    int64_t got = 77;
    assert_int_equal(dt__tuple_product(b.ctx, &tuple, &got), DT_ERR_VALUE);
    assert_int_equal(got, 77);
    assert_error_contains(b.ctx, DT_ERR_VALUE, "63 bits");
    fixture_end(&b);
}

static void inner_product__adds_products_of_matching_integers(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int64_t expected;
    } cases[] = {{"2", "3", 6}, {"(1,2)", "(3,2)", 7}, {"((2,3),4)", "((2,1),2)", 15}}; /* INT-002 */
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tuple left = tuple_of(&b, cases[i].a), right = tuple_of(&b, cases[i].b);
        int64_t got;
        assert_int_equal(dt__tuple_inner_product(b.ctx, &left, &right, &got), DT_OK);
        assert_i64(got, cases[i].expected, cases[i].a);
    }
    dt_tuple left = tuple_of(&b, "(1,(2,3))"), right = tuple_of(&b, "((1,2),3)");
    int64_t got = 77;
    assert_int_equal(dt__tuple_inner_product(b.ctx, &left, &right, &got), DT_ERR_SHAPE);
    assert_int_equal(got, 77);
    fixture_end(&b);
}

static void shape_div__consumes_the_divisor_from_the_left(void **state) {
    (void)state;
    static const struct {
        const char *shape;
        int64_t divisor;
        const char *expected;
    } cases[] = {{"(3,4)", 6, "(1,2)"},
                 {"(3,4)", 12, "(1,1)"},
                 {"(3,4)", 36, "(1,1)"},
                 {"((3,4),6)", 36, "((1,1),2)"},
                 {"(6,(3,4))", 36, "(1,(1,2))"}}; /* INT-003 */
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tuple shape = tuple_of(&b, cases[i].shape), got;
        assert_int_equal(dt__tuple_shape_div(&b.arena, &shape, cases[i].divisor, &got), DT_OK);
        assert_tuple(&b, &got, cases[i].expected);
    }
    dt_tuple shape = tuple_of(&b, "(3,4)"), got;
    assert_int_equal(dt__tuple_shape_div(&b.arena, &shape, 2, &got), DT_ERR_VALUE);
    assert_error_contains(b.ctx, DT_ERR_VALUE, "3 and 2");
    dt_error_clear(b.ctx);
    assert_int_equal(dt__tuple_shape_div(&b.arena, &shape, 0, &got), DT_ERR_VALUE);
    fixture_end(&b);
}

static void suffix_product__is_the_row_major_stride(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"2", "1"},
                                           {"(3,2)", "(2,1)"},
                                           {"(3,2,4)", "(8,4,1)"},
                                           {"((2,3),4)", "((12,4),1)"},
                                           {"((2,3),(2,1,2),(5,2,1))", "((120,40),(20,20,10),(2,1,1))"},
                                           {"()", "()"}}; /* INT-004 */
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tuple shape = tuple_of(&b, cases[i][0]), got;
        assert_int_equal(dt__tuple_suffix_product(&b.arena, &shape, &got), DT_OK);
        assert_tuple(&b, &got, cases[i][1]);
    }
    dt_tuple shape = tuple_of(&b, "(2,4294967296,4294967296)"), got;
    assert_int_equal(dt__tuple_suffix_product(&b.arena, &shape, &got), DT_ERR_VALUE);
    fixture_end(&b);
}

static void flatten__keeps_integers_in_order(void **state) {
    (void)state;
    fixture b;
    fixture_begin(&b);
    dt_tuple tuple = tuple_of(&b, "((1,(2)),(),3,((4,5)))"), flat, back;
    assert_int_equal(dt__tuple_flatten(&b.arena, &tuple, &flat), DT_OK);
    assert_tuple(&b, &flat, "(1,2,3,4,5)");
    assert_int_equal(dt__tuple_like(&b.arena, &tuple, (int64_t[]){9, 8, 7, 6, 5}, &back), DT_OK);
    assert_tuple(&b, &back, "((9,(8)),(),7,((6,5)))");
    assert_true(dt_tuple_congruent(&tuple, &back));
    assert_false(dt_tuple_equal(&tuple, &back));
    fixture_end(&b);
}

static void equality__distinguishes_an_integer_from_a_list_of_one(void **state) {
    (void)state;
    fixture b;
    fixture_begin(&b);
    dt_tuple one = tuple_of(&b, "6"), list = tuple_of(&b, "(6)"), nested = tuple_of(&b, "((6))");
    assert_false(dt_tuple_equal(&one, &list));
    assert_false(dt_tuple_congruent(&one, &list));
    assert_false(dt_tuple_congruent(&list, &nested));
    assert_true(dt_tuple_equal(&list, &list));
    fixture_end(&b);
}

/* TYP-001: only integers are modes. */
static void parse__points_at_the_character(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "column 1: expected a number or '('"},
        {"(2,x)", "column 4: expected a number or '('"},
        {"(2,3", "column 5: expected ',' or ')'"},
        {"(2,)", "column 4: expected a number or '('"},
        {"(2;3)", "column 3: expected ',' or ')'"},
        {"(,2)", "column 2: expected a number or '('"},
        {"(true,2)", "column 2: expected a number or '('"},
        {"(2.5)", "column 3: expected ',' or ')'"},
        {"-", "column 1: expected a number"},
        {"(1,99999999999999999999)", "column 4: a number must be from"},
        {"9223372036854775808", "column 1: a number must be from"},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt_tuple out;
        dt__cursor cursor = dt__cursor_new(b.ctx, DT_ERR_MESH, "mesh", cases[i].text);
        assert_int_equal(dt__tuple_parse(&b.arena, &cursor, &out), DT_ERR_VALUE);
        assert_error_contains(b.ctx, DT_ERR_VALUE, cases[i].message);
        assert_ptr_equal(cursor.at, cases[i].text);
        dt_error_clear(b.ctx);
    }
    dt_tuple min = tuple_of(&b, "-9223372036854775808"), max = tuple_of(&b, "9223372036854775807");
    assert_true(min.value == INT64_MIN && max.value == INT64_MAX);
    fixture_end(&b);
}

static void depth__is_bounded_in_parser_and_constructors(void **state) {
    (void)state;
    fixture b;
    fixture_begin(&b);
    enum { N = 100000 };
    char *text = malloc(N + 1);
    memset(text, '(', N);
    text[N] = 0;
    dt_tuple out;
    dt__cursor cursor = dt__cursor_new(b.ctx, DT_ERR_VALUE, "tuple", text);
    assert_int_equal(dt__tuple_parse(&b.arena, &cursor, &out), DT_ERR_VALUE);
    assert_error_contains(b.ctx, DT_ERR_VALUE, "column 65: a tuple may nest 64 levels deep, not more");
    dt_error_clear(b.ctx);
    free(text);
    dt_tuple tuple = dt_tuple_int(1);
    for (int i = 0; i < DT_TUPLE_MAX_DEPTH; i++)
        assert_int_equal(dt__tuple_list(&b.arena, &tuple, 1, &tuple), DT_OK);
    assert_int_equal(dt__tuple_list(&b.arena, &tuple, 1, &tuple), DT_ERR_VALUE);
    assert_int_equal(tuple.depth, DT_TUPLE_MAX_DEPTH);
    dt__text print = dt__text_new(b.ctx);
    dt__tuple_print(&print, &tuple);
    dt_tuple back = tuple_of(&b, dt__text_chars(&print));
    assert_true(dt_tuple_equal(&back, &tuple));
    dt__text_free(&print);
    fixture_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product__multiplies_all_integers),
        cmocka_unit_test(product__overflow_is_an_error),
        cmocka_unit_test(inner_product__adds_products_of_matching_integers),
        cmocka_unit_test(shape_div__consumes_the_divisor_from_the_left),
        cmocka_unit_test(suffix_product__is_the_row_major_stride),
        cmocka_unit_test(flatten__keeps_integers_in_order),
        cmocka_unit_test(equality__distinguishes_an_integer_from_a_list_of_one),
        cmocka_unit_test(parse__points_at_the_character),
        cmocka_unit_test(depth__is_bounded_in_parser_and_constructors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
