/* SPDX-License-Identifier: Apache-2.0 */
#include "layout/layouts.h"

#include <stdlib.h>
#include <string.h>

/* Layout and complement have no value in common except 0. */
static void check_disjoint(const dt__layout *layout, const dt__layout *rest, const char *label) {
    int64_t cosize = dt__layout_cosize(layout);
    bool *reached = calloc((size_t)cosize, 1);
    for (int64_t i = 0; i < dt__layout_size(layout); i++)
        reached[evaluate(layout, i)] = true;
    for (int64_t i = 0; i < dt__layout_size(rest); i++) {
        int64_t value = evaluate(rest, i);
        if (value != 0 && value < cosize && reached[value])
            fail_msg("%s: layout and complement both have the value %lld", label, (long long)value);
    }
    free(reached);
}

static void complement__has_the_values_that_the_layout_skips(void **state) {
    (void)state;
    static const struct {
        const char *layout;
        int64_t size;
        const char *expected;
    } cases[] = {
        {"1:0", 1, "1:0"},                                   /* CPL-001 */
        {"1:1", 1, "1:0"},                                   /* CPL-002 */
        {"4:0", 1, "1:0"},                                   /* CPL-003 */
        {"(2,4):(1,2)", 1, "1:0"},                           /* CPL-004 */
        {"(2,3):(1,2)", 1, "1:0"},                           /* CPL-005 */
        {"(2,4):(1,4)", 1, "2:2"},                           /* CPL-006 */
        {"(2,4,8):(8,1,64)", 1, "(4,2):(16,4)"},             /* CPL-007 */
        {"((2,2),(2,2)):((1,4),(8,32))", 1, "(2,2):(16,2)"}, /* CPL-008 */
        {"(2,(3,4)):(3,(1,6))", 1, "1:0"},                   /* CPL-009 */
        {"(4,6):(1,6)", 1, "1:0"},                           /* CPL-010 */
        {"(4,10):(1,10)", 1, "2:4"},                         /* CPL-011 */
        {"6:1", 64, "11:6"},                                 /* rounded up to a multiple of 6 */
        {"2:0", 8, "8:1"},
        {"((4,8),2):((8,1),32)", 256, "4:64"},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i].layout), got;
        assert_int_equal(dt__layout_complement(&b.arena, &layout, cases[i].size, &got), DT_OK);
        assert_layout(&b, &got, cases[i].expected);
        check_disjoint(&layout, &got, cases[i].layout);
    }
    fixture_end(&b);
}

static void complement__overlapping_modes_are_refused(void **state) {
    (void)state;
    fixture b;
    fixture_begin(&b);
    static const char *const layouts[] = {"(8,(3),3):(2,(8),3)", "(2,2):(1,1)", "((8,4),(6,2)):((12,3),(4,6))"};
    for (int i = 0; i < 3; i++) {
        dt__layout layout = layout_of(&b, layouts[i]), got = {.shape = dt_tuple_int(77)};
        assert_int_equal(dt__layout_complement(&b.arena, &layout, 120, &got), DT_ERR_VALUE);
        assert_error_contains(b.ctx, DT_ERR_VALUE, layouts[i]);
        assert_int_equal(got.shape.value, 77);
        dt_error_clear(b.ctx);
    }
    dt__layout layout = layout_of(&b, "2:1"), got;
    assert_int_equal(dt__layout_complement(&b.arena, &layout, 0, &got), DT_ERR_VALUE);
    fixture_end(&b);
}

static void check_composition(const dt__layout *a, const dt__layout *b, const dt__layout *got, const char *label) {
    assert_i64(dt__layout_size(got), dt__layout_size(b), label);
    for (int64_t i = 0; i < dt__layout_size(b); i++)
        assert_i64(evaluate(got, i), evaluate(a, evaluate(b, i)), label);
}

static void composition__applies_the_right_layout_first(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"1:0", "1:0", "1:0"},
        {"1:0", "1:1", "1:0"},
        {"1:1", "1:0", "1:0"},
        {"1:1", "1:1", "1:0"}, /* CMP-001 */
        {"4:1", "4:1", "4:1"}, /* CMP-002 */
        {"4:2", "4:1", "4:2"}, /* CMP-003 */
        {"4:1", "4:2", "4:2"}, /* CMP-004 */
        {"4:0", "4:1", "4:0"}, /* CMP-005 */
        {"4:1", "4:0", "4:0"}, /* CMP-006 */
        {"1:0", "4:1", "4:0"}, /* CMP-007 */
        {"4:1", "1:0", "1:0"}, /* CMP-008 */
        {"4:1", "2:1", "2:1"}, /* CMP-009 */
        {"4:2", "2:1", "2:2"}, /* CMP-010 */
        {"4:1", "2:2", "2:2"}, /* CMP-011 */
        {"4:2", "2:2", "2:4"}, /* CMP-012 */
        {"12:1", "(4,3)", "(4,3):(3,1)"},
        {"12:1", "(4,3):(3,1)", "(4,3):(3,1)"}, /* CMP-013 */
        {"12:2", "(4,3)", "(4,3):(6,2)"},
        {"12:2", "(4,3):(3,1)", "(4,3):(6,2)"},        /* CMP-014 */
        {"12:1", "(2,3):(2,4)", "(2,3):(2,4)"},        /* CMP-015 */
        {"(4,3):(3,1)", "(4,3):(3,1)", "(4,3):(3,1)"}, /* CMP-016 */
        {"(4,3):(3,1)", "12:1", "12:1"},               /* CMP-017 */
        {"(4,3):(3,1)", "6:2", "6:2"},                 /* CMP-018 */
        {"(4,3):(3,1)", "(6,2):(2,1)", "(6,2):(2,1)"}, /* CMP-019 */
        {"(8,8):(8,1)", "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))",
         "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))"},                            /* CMP-020 */
        {"((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", "8:4", "(2,2,2):(16,4,8)"}, /* CMP-021 */
        {"(4,2):(1,16)", "(4,2):(2,1)", "(4,2):(1,16)"},                      /* CMP-022 */
        {"(2,2):(2,1)", "(2,2):(2,1)", "(2,2):(2,1)"},                        /* CMP-023 */
        {"(4,8,2):(16,2,1)", "(2,2,2):(2,8,1)", "(2,2,2):(2,8,1)"},           /* CMP-024 */
        {"(4,8,2):(2,8,1)", "(2,2,2):(1,8,2)", "(2,2,2):(1,32,8)"},           /* CMP-025 */
        {"(4,8,2):(2,8,1)", "(4,2,2):(2,8,1)", "(4,2,2):(8,32,1)"},           /* CMP-026 */
        {"(4,6,8):(1,4,7)", "6:1", "6:7"},                                    /* CMP-027 */
        {"(8,6,4):(7,4,1)", "6:1", "6:1"},                                    /* CMP-028 */
        {"(10,8,6,4):(7,5,3,2)", "6:12", "(3,2):(5,9)"},                      /* CMP-030 */
        {"(4):(3)", "(6):(2)", "(6):(6)"},                                    /* CMP-031 */
        {"((8),(2,3)):((1),(8,0))", "((3,8)):((1,3))", "((3,(4,2))):((0,(1,8)))"},
        {"():()", "4:1", "4:0"},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout left = layout_of(&b, cases[i][0]), right = layout_of(&b, cases[i][1]), got;
        assert_int_equal(dt__layout_composition(&b.arena, &left, &right, &got), DT_OK);
        assert_layout(&b, &got, cases[i][2]);
        check_composition(&left, &right, &got, cases[i][0]);
    }
    fixture_end(&b);
}

/* The published values of some compositions. */
static void composition__has_the_published_values(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int64_t expected[8];
        int n;
    } cases[] = {
        {"12:1", "(2,3):(2,4)", {0, 4, 8, 2, 6, 10}, 6},                                    /* CMP-015 */
        {"((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", "8:4", {0, 8, 4, 12, 16, 24, 20, 28}, 8}, /* CMP-021 */
        {"(4,2):(1,16)", "(4,2):(2,1)", {0, 16, 1, 17, 2, 18, 3, 19}, 8},                   /* CMP-022 */
        {"(4,8,2):(16,2,1)", "(2,2,2):(2,8,1)", {0, 1, 8, 9, 2, 3, 10, 11}, 8},             /* CMP-024 */
        {"(4,8,2):(2,8,1)", "(2,2,2):(1,8,2)", {0, 8, 32, 40, 1, 9, 33, 41}, 8},            /* CMP-025 */
        {"(4,6,8):(1,4,7)", "6:1", {0, 7, 14, 21, 28, 35}, 6},                              /* CMP-027 */
        {"(10,8,6,4):(7,5,3,2)", "6:12", {0, 9, 5, 14, 10, 19}, 6},                         /* CMP-030 */
        {"(4):(3)", "(6):(2)", {0, 6, 12, 18, 24, 30}, 6},                                  /* CMP-031 */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout left = layout_of(&b, cases[i].a), right = layout_of(&b, cases[i].b), got;
        assert_int_equal(dt__layout_composition(&b.arena, &left, &right, &got), DT_OK);
        for (int k = 0; k < cases[i].n; k++)
            assert_i64(dt__layout_at(&got, k), cases[i].expected[k], cases[i].a);
    }
    fixture_end(&b);
}

static void composition__indivisible_modes_are_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"(4,6,8,10):(2,3,5,7)", "6:12"}, /* CMP-029 */
        {"(4,2):(4,1)", "2:3"},           /* DM-096 */
        {"(8,5):(80,4)", "3:4"},
        {"(4,6):(1,10)", "(9,2):(1,2)"}, /* 9 steps of 1 through modes of 6 */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout left = layout_of(&b, cases[i][0]), right = layout_of(&b, cases[i][1]);
        dt__layout got = {.shape = dt_tuple_int(77)};
        assert_int_equal(dt__layout_composition(&b.arena, &left, &right, &got), DT_ERR_VALUE);
        assert_error_contains(b.ctx, DT_ERR_VALUE, "does not divide");
        assert_int_equal(got.shape.value, 77);
        dt_error_clear(b.ctx);
    }
    dt__layout two = layout_of(&b, "(2,2):(1,8)"), ones = layout_of(&b, "(2,2):(1,1)"), none;
    assert_int_equal(dt__layout_composition(&b.arena, &two, &ones, &none), DT_ERR_VALUE); /* 1 + 1 is 2, not 16 */
    assert_error_contains(b.ctx, DT_ERR_VALUE, "carries");
    dt_error_clear(b.ctx);
    dt__layout left = layout_of(&b, "4:2305843009213693951"), right = layout_of(&b, "2:1000"), got;
    assert_int_equal(dt__layout_composition(&b.arena, &left, &right, &got), DT_ERR_VALUE);
    assert_error_contains(b.ctx, DT_ERR_VALUE, "63 bits");
    fixture_end(&b);
}

static void right_inverse__composes_to_the_identity_on_the_right(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"1:0", "1:0"},                          /* RIN-001 */
        {"(1,1):(0,0)", "1:0"},                  /* RIN-002 */
        {"(3,7):(0,0)", "1:0"},                  /* RIN-003 */
        {"1:1", "1:0"},                          /* RIN-004 */
        {"4:0", "1:0"},                          /* RIN-005 */
        {"4:1", "4:1"},                          /* RIN-006 */
        {"4:2", "1:0"},                          /* RIN-007 */
        {"(2,4):(0,2)", "1:0"},                  /* RIN-008 */
        {"(8,4):(1,8)", "(4,8):(1,4)"},          /* RIN-009 */
        {"(8,4):(4,1)", "32:1"},                 /* RIN-010 */
        {"(2,4,6):(1,2,8)", "(6,4,2):(1,6,24)"}, /* RIN-011 */
        {"(2,4,6):(4,1,8)", "(6,8):(1,6)"},      /* RIN-012 */
        {"(4,2):(1,16)", "4:2"},                 /* RIN-013 */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i][0]), got;
        assert_int_equal(dt__layout_right_inverse(&b.arena, &layout, &got), DT_OK);
        assert_layout(&b, &got, cases[i][1]);
        for (int64_t k = 0; k < dt__layout_size(&got); k++)
            assert_i64(evaluate(&layout, evaluate(&got, k)), k, cases[i][0]);
    }
    fixture_end(&b);
}

static void left_inverse__composes_to_the_identity_on_the_left(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"1:0", "1:0"},                                             /* LIN-001 */
        {"(1,1):(0,0)", "1:0"},                                     /* LIN-002 */
        {"1:1", "1:0"},                                             /* LIN-003 */
        {"4:1", "4:1"},                                             /* LIN-004 */
        {"4:2", "(4,2):(1,4)"},                                     /* LIN-005 */
        {"(8,4):(1,8)", "(4,8):(1,4)"},                             /* LIN-006 */
        {"(8,4):(4,1)", "32:1"},                                    /* LIN-007 */
        {"(2,4,6):(1,2,8)", "(6,4,2):(1,6,24)"},                    /* LIN-008 */
        {"(2,4,6):(4,1,8)", "(6,8):(1,6)"},                         /* LIN-009 */
        {"(4,2):(1,16)", "(2,16):(1,2)"},                           /* LIN-010 */
        {"((8,6,6)):((18,432,1))", "(6,3,8,3,6):(6,864,36,288,1)"}, /* two gaps */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i][0]), got;
        assert_int_equal(dt__layout_left_inverse(&b.arena, &layout, &got), DT_OK);
        assert_layout(&b, &got, cases[i][1]);
        for (int64_t k = 0; k < dt__layout_size(&layout); k++)
            assert_i64(evaluate(&got, evaluate(&layout, k)), k, cases[i][0]);
    }
    static const char *const wrong[][2] = {
        {"(2,2):(1,1)", "overlap"}, {"4:0", "overlap"}, {"(4,6):(1,6)", "multiple"}, {"(3,2):(2,3)", "overlap"}};
    for (int i = 0; i < 4; i++) {
        dt__layout layout = layout_of(&b, wrong[i][0]), got;
        assert_int_equal(dt__layout_left_inverse(&b.arena, &layout, &got), DT_ERR_VALUE);
        assert_error_contains(b.ctx, DT_ERR_VALUE, wrong[i][1]);
        dt_error_clear(b.ctx);
    }
    fixture_end(&b);
}

static void injective__is_exact(void **state) {
    (void)state;
    static const struct {
        const char *layout;
        bool expected;
    } cases[] = {
        {"1:0", true},
        {"(1,1):(0,0)", true},
        {"4:0", false},
        {"(2,3):(6,1)", true},
        {"(2,3):(2,1)", false},
        {"(3,2):(2,3)", true}, /* modes overlap, but no value repeats */
        {"(4,2):(2,3)", true},
        {"(4,3):(2,3)", false}, /* 3*2 = 2*3 */
        {"(5,5,5):(1,5,7)", false},
        {"(3,3,3):(7,9,11)", false}, /* 7 + 11 = 9 + 9 */
        {"(2,2,2,2,2):(3,5,6,7,100)", true},
        {"(2,2,2,2):(3,5,6,8)", false}, /* 3 + 5 = 8 */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i].layout);
        bool got = !cases[i].expected;
        assert_int_equal(dt__layout_is_injective(&b.arena, &layout, &got), DT_OK);
        if (got != cases[i].expected)
            fail_msg("%s: expected %d, got %d", cases[i].layout, cases[i].expected, got);
    }
    fixture_end(&b);
}

/* Conway-Guy sets: all sums of distinct members differ although the members are far smaller than powers of 2, so that
 * only the exhaustive search can prove it. */
static dt_status sums_differ(fixture *b, int n, bool *out) {
    int64_t u[64] = {0, 1};
    for (int i = 1; i < n; i++) {
        int r = 0; /* 2i rounded to the nearest square */
        while ((2 * r + 1) * (2 * r + 1) < 8 * i)
            r++;
        u[i + 1] = 2 * u[i] - u[i - r];
    }
    dt__mode modes[64];
    for (int i = 0; i < n; i++)
        modes[i] = (dt__mode){2, u[n] - u[n - 1 - i]};
    dt__layout layout;
    assert_int_equal(dt__layout_of_modes(&b->arena, modes, n, true, &layout), DT_OK);
    return dt__layout_is_injective(&b->arena, &layout, out);
}

static void injective__bounds_its_search(void **state) {
    (void)state;
    fixture b;
    fixture_begin(&b);
    for (int n = 2; n <= 12; n++) {
        bool got = false;
        assert_int_equal(sums_differ(&b, n, &got), DT_OK);
        assert_true(got);
    }
    bool got = true;
    assert_int_equal(sums_differ(&b, 40, &got), DT_ERR_UNSUPPORTED);
    assert_error_contains(b.ctx, DT_ERR_UNSUPPORTED, "injective");
    fixture_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complement__has_the_values_that_the_layout_skips),
        cmocka_unit_test(complement__overlapping_modes_are_refused),
        cmocka_unit_test(composition__applies_the_right_layout_first),
        cmocka_unit_test(composition__has_the_published_values),
        cmocka_unit_test(composition__indivisible_modes_are_refused),
        cmocka_unit_test(right_inverse__composes_to_the_identity_on_the_right),
        cmocka_unit_test(left_inverse__composes_to_the_identity_on_the_left),
        cmocka_unit_test(injective__is_exact),
        cmocka_unit_test(injective__bounds_its_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
