/* SPDX-License-Identifier: Apache-2.0 */
#include "layout/layouts.h"

#include <stdio.h>
#include <string.h>

static int64_t crd2idx(fixture *b, const char *coord, const char *layout) {
    dt__layout l = layout_of(b, layout);
    dt_tuple c = tuple_of(b, coord);
    int64_t value = -1;
    assert_int_equal(dt__layout_crd2idx(&b->arena, &l, &c, &value), DT_OK);
    return value;
}

static void crd2idx__multiplies_coordinates_with_strides(void **state) {
    (void)state;
    static const struct {
        const char *coord, *layout;
        int64_t expected;
    } cases[] = {
        {"2", "5:1", 2},
        {"0", "5:1", 0},
        {"4", "5:1", 4},
        {"2", "5:3", 6},
        {"1", "5:3", 3}, /* INT-005 */
        {"(1,2)", "(3,4)", 6},
        {"(0,0)", "(3,4)", 0},
        {"(2,3)", "(3,4)", 11},
        {"(1,0,2)", "(2,3,4)", 14},                        /* INT-006 */
        {"(1,2)", "(3,4):(8,2)", 12},                      /* INT-007 */
        {"4", "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", 8}, /* INT-013 */
        {"0", "():()", 0},                                 /* INT-014 */
        {"(1,5)", "(2,(2,3)):(6,(3,1))", 11},              /* an integer for a nested mode */
        {"7", "(2,3):(3,1)", 7},                           /* beyond the size: the first mode continues */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_i64(crd2idx(&b, cases[i].coord, cases[i].layout), cases[i].expected, cases[i].layout);
    fixture_end(&b);
}

static void crd2idx__missing_coordinate_is_zero(void **state) {
    (void)state;
    fixture b;
    fixture_begin(&b);
    static const char *const layouts[] = {"5", "(3,4)"}; /* INT-008 */
    for (int i = 0; i < 2; i++) {
        dt__layout layout = layout_of(&b, layouts[i]);
        int64_t value = -1;
        assert_int_equal(dt__layout_crd2idx(&b.arena, &layout, NULL, &value), DT_OK);
        assert_int_equal(value, 0);
    }
    fixture_end(&b);
}

static void crd2idx__integer_over_a_list_is_unravelled_row_major(void **state) {
    (void)state;
    static const struct {
        const char *layout;
        int64_t expected[8];
        int n;
    } cases[] = {
        {"(2,2):(2,1)", {0, 1, 2, 3}, 4},                    /* INT-009 */
        {"(2,3):(6,2)", {0, 2, 4, 6, 8, 10}, 6},             /* INT-010 */
        {"(3,2):(10,5)", {0, 5, 10, 15, 20, 25}, 6},         /* INT-011 */
        {"(2,2,2):(8,4,2)", {0, 2, 4, 6, 8, 10, 12, 14}, 8}, /* INT-012 */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int index = 0; index < cases[i].n; index++) {
            char coord[16];
            snprintf(coord, sizeof coord, "%d", index);
            assert_i64(crd2idx(&b, coord, cases[i].layout), cases[i].expected[index], cases[i].layout);
            dt__layout layout = layout_of(&b, cases[i].layout);
            assert_i64(dt__layout_at(&layout, index), cases[i].expected[index], cases[i].layout);
        }
    fixture_end(&b);
}

static void crd2idx__refuses_coordinates_of_another_structure(void **state) {
    (void)state;
    static const struct {
        const char *coord, *layout;
        dt_status status;
        const char *message;
    } cases[] = {
        {"(0,1,2)", "(2,3)", DT_ERR_SHAPE, "expected 2, got 3"},
        {"(1,(0,0))", "(2,3)", DT_ERR_SHAPE, "expected 1, got 2"},
        {"(1,-1)", "(2,3)", DT_ERR_VALUE, "expected at least 0, got -1"},
        {"(0,9223372036854775807)", "(2,3):(1,2)", DT_ERR_VALUE, "63 bits"},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i].layout);
        dt_tuple coord = tuple_of(&b, cases[i].coord);
        int64_t value = 77;
        assert_int_equal(dt__layout_crd2idx(&b.arena, &layout, &coord, &value), cases[i].status);
        assert_error_contains(b.ctx, cases[i].status, cases[i].message);
        assert_int_equal(value, 77);
        dt_error_clear(b.ctx);
    }
    fixture_end(&b);
}

static void idx2crd__is_quotient_and_remainder_by_the_strides(void **state) {
    (void)state;
    static const struct {
        int64_t index;
        const char *layout, *expected;
    } cases[] = {
        {2, "5:1", "2"},
        {0, "5:1", "0"},
        {4, "5:1", "4"},
        {6, "5:3", "2"},
        {3, "5:3", "1"}, /* INT-015 */
        {6, "(3,4)", "(1,2)"},
        {0, "(3,4)", "(0,0)"},
        {11, "(3,4)", "(2,3)"},
        {14, "(2,3,4)", "(1,0,2)"}, /* INT-016 */
        {178, "((5,1,8),6):((48,48,6),1)", "((3,0,5),4)"},
        {3, "(4,2):(0,1)", "(0,1)"},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i].layout);
        dt_tuple got;
        assert_int_equal(dt__layout_idx2crd(&b.arena, &layout, cases[i].index, &got), DT_OK);
        assert_tuple(&b, &got, cases[i].expected);
    }
    dt__layout layout = layout_of(&b, "(3,4)");
    dt_tuple got;
    assert_int_equal(dt__layout_idx2crd(&b.arena, &layout, -1, &got), DT_ERR_VALUE);
    fixture_end(&b);
}

static void coordinates__round_trip(void **state) {
    (void)state;
    static const char *const layouts[] = {"5", "(3,4)", "(2,3,4)", "(2,2,2,2)"}; /* INT-017 */
    static const char *const coords[][2] = {{"5", "0"},
                                            {"5", "4"},
                                            {"(3,4)", "(0,0)"},
                                            {"(3,4)", "(1,2)"},
                                            {"(3,4)", "(2,3)"},
                                            {"(2,3,4)", "(0,0,0)"},
                                            {"(2,3,4)", "(1,2,3)"}}; /* INT-018 */
    fixture b;
    fixture_begin(&b);
    for (int i = 0; i < 4; i++) {
        dt__layout layout = layout_of(&b, layouts[i]);
        for (int64_t index = 0; index < dt__layout_size(&layout); index++) {
            dt_tuple coord;
            int64_t back = -1;
            assert_int_equal(dt__layout_idx2crd(&b.arena, &layout, index, &coord), DT_OK);
            assert_int_equal(dt__layout_crd2idx(&b.arena, &layout, &coord, &back), DT_OK);
            assert_i64(back, index, layouts[i]);
        }
    }
    for (int i = 0; i < 7; i++) {
        dt__layout layout = layout_of(&b, coords[i][0]);
        dt_tuple coord;
        assert_int_equal(dt__layout_idx2crd(&b.arena, &layout, crd2idx(&b, coords[i][1], coords[i][0]), &coord),
                         DT_OK);
        assert_tuple(&b, &coord, coords[i][1]);
    }
    fixture_end(&b);
}

static void coalesce__joins_contiguous_modes(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"1:0", "1:0"},                                           /* COA-001 */
        {"1:1", "1:0"},                                           /* COA-002 */
        {"(1,1):(42,3)", "1:0"},                                  /* COA-003 */
        {"(1,1,1):(17,4,3)", "1:0"},                              /* COA-004 */
        {"(2,4)", "8:1"},                                         /* COA-005 */
        {"(2,4,6)", "48:1"},                                      /* COA-006 */
        {"(2,4,6):(1,6,2)", "(2,4,6):(1,6,2)"},                   /* COA-007 */
        {"(2,1,6):(1,7,2)", "(2,6):(1,2)"},                       /* COA-008 */
        {"(2,1,6):(4,7,8)", "(2,6):(4,8)"},                       /* COA-009 */
        {"(2,(4,6))", "48:1"},                                    /* COA-010 */
        {"(1,2):(8,1)", "2:1"},                                   /* COA-011 */
        {"(2,4):(4,1)", "8:1"},                                   /* COA-012 */
        {"(2,4,6):(24,6,1)", "48:1"},                             /* COA-013 */
        {"(2,1,3):(2,4,4)", "(2,3):(2,4)"},                       /* COA-014 */
        {"((2,2),(2,2)):((1,4),(8,32))", "(2,2,2,2):(1,4,8,32)"}, /* COA-015 */
        {"((2,2),(2,2)):((32,8),(4,1))", "(2,4,2):(32,4,1)"},     /* COA-016 */
        {"():()", "1:0"},
        {"(3,2):(0,0)", "6:0"},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i][0]), got;
        assert_int_equal(dt__layout_coalesce(&b.arena, &layout, &got), DT_OK);
        assert_layout(&b, &got, cases[i][1]);
        assert_i64(dt__layout_size(&got), dt__layout_size(&layout), cases[i][0]);
        for (int64_t index = 0; index < dt__layout_size(&layout); index++)
            assert_i64(dt__layout_at(&got, index), evaluate(&layout, index), cases[i][0]);
    }
    fixture_end(&b);
}

static void flatten__keeps_every_mode(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"((2,(1,2)),3):((7,(5,3)),1)", "(2,1,2,3):(7,5,3,1)"}, {"6:2", "6:2"}, {"((6)):((2))", "(6):(2)"}};
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i][0]), got;
        assert_int_equal(dt__layout_flatten(&b.arena, &layout, &got), DT_OK);
        assert_layout(&b, &got, cases[i][1]);
    }
    fixture_end(&b);
}

static void splice__replaces_modes(void **state) {
    (void)state;
    fixture b;
    fixture_begin(&b);
    static const struct {
        const char *layout;
        int64_t from, to;
        const char *by, *expected;
    } cases[] = {
        {"(4,2):(2,1)", 0, 1, "(2,2):(4,2)", "(2,2,2):(4,2,1)"},
        {"(4,2):(2,1)", 1, 2, "2:1", "(4,2):(2,1)"},
        {"(4,2):(2,1)", 2, 2, "3:8", "(4,2,3):(2,1,8)"},
        {"(4,2):(2,1)", 0, 2, "():()", "():()"},
        {"8:1", 0, 1, "(4,2):(2,1)", "(4,2):(2,1)"},
        {"(4,(2,3)):(6,(3,1))", 1, 2, "((2),3):((3),1)", "(4,(2),3):(6,(3),1)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i].layout), by = layout_of(&b, cases[i].by), got;
        assert_int_equal(dt__layout_splice(&b.arena, &layout, cases[i].from, cases[i].to, &by, &got), DT_OK);
        assert_layout(&b, &got, cases[i].expected);
    }
    static const int64_t wrong[][2] = {{-1, 1}, {1, 0}, {0, 3}};
    for (int i = 0; i < 3; i++) {
        dt__layout layout = layout_of(&b, "(4,2)"), got;
        assert_int_equal(dt__layout_splice(&b.arena, &layout, wrong[i][0], wrong[i][1], &layout, &got), DT_ERR_VALUE);
        dt_error_clear(b.ctx);
    }
    fixture_end(&b);
}

static void size_and_cosize__follow_the_definition(void **state) {
    (void)state;
    static const struct {
        const char *layout;
        int64_t size, cosize;
    } cases[] = {
        {"5:1", 5, 5}, {"(2,4):(1,2)", 8, 8}, {"((8,6,5),4):((1,320,8),80)", 960, 1880},
        {"4:0", 4, 1}, {"():()", 1, 1},       {"(4611686018427387904):(1)", INT64_C(1) << 62, INT64_C(1) << 62},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i].layout);
        assert_i64(dt__layout_size(&layout), cases[i].size, cases[i].layout);
        assert_i64(dt__layout_cosize(&layout), cases[i].cosize, cases[i].layout);
    }
    fixture_end(&b);
}

static void parse__reports_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        dt_status status;
        const char *message;
    } cases[] = {
        {"(2,4):", DT_ERR_VALUE, "column 7: expected a number or '('"},
        {"(2,4):(4,1)x", DT_ERR_VALUE, "column 12: expected the end"},
        {"(2,4);(4,1)", DT_ERR_VALUE, "layout: column 6: expected ':' or the end\n    (2,4);(4,1)\n         ^"},
        {"(2,4):(4)", DT_ERR_SHAPE, "(2,4):(4): shape and stride do not nest alike"},
        {"42:(1)", DT_ERR_SHAPE, "do not nest alike"},
        {"(0,4)", DT_ERR_VALUE, "at least 1"},
        {"(-2,4):(4,1)", DT_ERR_VALUE, "at least 1"},
        {"(2,4):(4,-1)", DT_ERR_VALUE, "expected a size of at least 1 and a stride of at least 0, got 4:-1"},
        {"(4294967296,4294967296):(1,1)", DT_ERR_VALUE, "63 bits"},
        {"(4294967296):(4294967296)", DT_ERR_VALUE, "63 bits"},
        {"(3,3):(3074457345618258602,3074457345618258602)", DT_ERR_VALUE, "63 bits"},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = {.shape = dt_tuple_int(77)};
        dt_status status = dt__layout_parse(&b.arena, cases[i].text, &layout);
        assert_error_contains(b.ctx, cases[i].status, cases[i].message);
        assert_int_equal(status, cases[i].status);
        assert_int_equal(layout.shape.value, 77);
        dt_error_clear(b.ctx);
    }
    fixture_end(&b);
}

static void modes__many_of_size_one_are_removed(void **state) {
    (void)state;
    fixture b;
    fixture_begin(&b);
    enum { N = 100000 };
    dt__mode *modes = DT__NEW_ARRAY(&b.arena, dt__mode, N);
    for (int i = 0; i < N; i++)
        modes[i] = (dt__mode){i % 20000 ? 1 : 2, i};
    dt__layout layout, got;
    bool injective;
    assert_int_equal(dt__layout_of_modes(&b.arena, modes, N, true, &layout), DT_OK);
    assert_int_equal(dt__layout_coalesce(&b.arena, &layout, &got), DT_OK);
    assert_layout(&b, &got, "(2,2,2,2,2):(0,20000,40000,60000,80000)");
    assert_int_equal(dt__layout_complement(&b.arena, &layout, 1, &got), DT_ERR_VALUE);
    dt_error_clear(b.ctx);
    assert_int_equal(dt__layout_is_injective(&b.arena, &layout, &injective), DT_OK);
    assert_false(injective);
    fixture_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crd2idx__multiplies_coordinates_with_strides),
        cmocka_unit_test(crd2idx__missing_coordinate_is_zero),
        cmocka_unit_test(crd2idx__integer_over_a_list_is_unravelled_row_major),
        cmocka_unit_test(crd2idx__refuses_coordinates_of_another_structure),
        cmocka_unit_test(idx2crd__is_quotient_and_remainder_by_the_strides),
        cmocka_unit_test(coordinates__round_trip),
        cmocka_unit_test(coalesce__joins_contiguous_modes),
        cmocka_unit_test(flatten__keeps_every_mode),
        cmocka_unit_test(splice__replaces_modes),
        cmocka_unit_test(size_and_cosize__follow_the_definition),
        cmocka_unit_test(parse__reports_errors),
        cmocka_unit_test(modes__many_of_size_one_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
