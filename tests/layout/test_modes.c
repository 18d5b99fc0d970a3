/* SPDX-License-Identifier: Apache-2.0
 *
 * Flat layouts as a mesh uses them: one coalesced list of modes per mesh dim, complements within a world, groups.
 */
#include "layout/layouts.h"

#include <stdio.h>
#include <string.h>

enum { MAX_MODES = 16 };

/* The modes of a layout and their number. */
static int64_t modes_of(fixture *b, const char *text, dt__mode out[MAX_MODES]) {
    dt__layout layout = layout_of(b, text);
    int64_t n = dt_tuple_count(&layout.shape);
    assert_in_range(n, 0, MAX_MODES);
    dt__layout_modes(&layout, out);
    return n;
}

/* The coalesced modes of a layout, as "[(6,1)]". */
static void assert_coalesced(fixture *b, const char *layout, const char *expected) {
    dt__mode modes[MAX_MODES];
    char got[256] = "[";
    int64_t n = dt__modes_coalesce(modes, modes_of(b, layout, modes));
    for (int64_t i = 0; i < n; i++) {
        char part[64];
        snprintf(part, sizeof part, "%s(%lld,%lld)", i ? "," : "", (long long)modes[i].size,
                 (long long)modes[i].stride);
        strcat(got, part);
    }
    strcat(got, "]");
    assert_string_equal(got, expected);
}

static void coalesce__yields_the_canonical_list(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"(3,2):(2,1)", "[(6,1)]"},                                         /* DM-082 */
        {"(2,3,4):(12,4,1)", "[(24,1)]"},                                   /* DM-082 */
        {"(3,2):(4,1)", "[(3,4),(2,1)]"},                                   /* DM-083 */
        {"(1,3,1,5,1):(0,10,17,2,1)", "[(15,2)]"},                          /* DM-084 */
        {"(1,1,1):(1,42,0)", "[]"},                                         /* DM-084 */
        {"((7,(5,3)),2):((900,(36,4)),1)", "[(7,900),(5,36),(3,4),(2,1)]"}, /* DM-085 */
        {"((7,(5,3)),2):((30,(6,2)),1)", "[(210,1)]"},                      /* DM-085 */
        {"(7,5,3,2)", "[(210,1)]"},                                         /* DM-086 */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_coalesced(&b, cases[i][0], cases[i][1]);
    fixture_end(&b);
}

static void structure__must_match(void **state) {
    (void)state;
    static const char *const cases[] = {"42:(1)", "(3,2):1", "(5,3,2):(2,1)", "(5,(3,2)):((5,3),2)"}; /* DM-087 */
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout;
        assert_int_equal(dt__layout_parse(&b.arena, cases[i], &layout), DT_ERR_SHAPE);
        assert_error_contains(b.ctx, DT_ERR_SHAPE, "nest alike");
        dt_error_clear(b.ctx);
    }
    fixture_end(&b);
}

/* "0 2 4 6|1 3 5 7": the copies of a list of modes that together cover a world, one group each. */
static void assert_groups(const dt__mode *modes, int64_t n, int64_t world, const char *expected) {
    dt__mode copy[16], rest[17];
    int64_t n_rest, n_groups, size;
    char got[512] = "";
    memcpy(copy, modes, (size_t)n * sizeof *copy);
    assert_true(dt__modes_complement(copy, n, world, rest, &n_rest));
    assert_true(dt__modes_size(rest, n_rest, &n_groups));
    assert_true(dt__modes_size(modes, n, &size));
    for (int64_t i = 0; i < n_groups; i++)
        for (int64_t k = 0; k < size; k++) {
            char part[32];
            snprintf(part, sizeof part, "%s%lld",
                     k   ? " "
                     : i ? "|"
                         : "",
                     (long long)(dt__modes_at(rest, n_rest, i) + dt__modes_at(modes, n, k)));
            strcat(got, part);
        }
    assert_string_equal(got, expected);
}

static void complement__numbers_the_groups(void **state) {
    (void)state;
    static const struct {
        const char *layout;
        int64_t world;
        const char *complement, *groups;
    } cases[] = {
        {"4:2", 8, "2:1", "0 2 4 6|1 3 5 7"},                                        /* DM-088 */
        {"4:2", 16, "(2,2):(8,1)", "0 2 4 6|1 3 5 7|8 10 12 14|9 11 13 15"},         /* DM-089 */
        {"(2,2):(4,1)", 16, "(2,2):(8,2)", "0 1 4 5|2 3 6 7|8 9 12 13|10 11 14 15"}, /* DM-090 */
        {"(2,2):(4,2)", 16, "(2,2):(8,1)", "0 2 4 6|1 3 5 7|8 10 12 14|9 11 13 15"}, /* DM-091 */
        {"(2,2):(2,4)", 16, "(2,2):(8,1)", "0 4 2 6|1 5 3 7|8 12 10 14|9 13 11 15"}, /* DM-092 */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__layout layout = layout_of(&b, cases[i].layout), rest;
        assert_int_equal(dt__layout_complement(&b.arena, &layout, cases[i].world, &rest), DT_OK);
        assert_layout(&b, &rest, cases[i].complement);
        dt__mode modes[MAX_MODES];
        int64_t n = dt__modes_coalesce(modes, modes_of(&b, cases[i].layout, modes));
        assert_groups(modes, n, cases[i].world, cases[i].groups);
    }
    fixture_end(&b);
}

static void composition__splits_a_dim(void **state) {
    (void)state;
    static const struct {
        const char *dim;
        dt__mode by, expected;
        const char *groups;
    } cases[] = {
        {"(4,2):(2,1)", {2, 1}, {2, 1}, "0 1|2 3|4 5|6 7"}, /* DM-093 */
        {"4:2", {2, 1}, {2, 2}, "0 2|1 3|4 6|5 7"},         /* DM-094 */
        {"4:2", {2, 2}, {2, 4}, "0 4|1 5|2 6|3 7"},         /* DM-095, first axis; the second is DM-094's */
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__mode modes[MAX_MODES], got[MAX_MODES + 1];
        int64_t n = dt__modes_coalesce(modes, modes_of(&b, cases[i].dim, modes)), n_got = 0;
        assert_int_equal(dt__modes_compose_one(modes, n, cases[i].by, NULL, got, &n_got), DT__COMPOSE_OK);
        assert_true(dt__modes_equal(got, n_got, &cases[i].expected, 1));
        assert_groups(got, n_got, 8, cases[i].groups);
    }
    dt__layout dim = layout_of(&b, "4:2"), by = layout_of(&b, "(2,2):(2,1)"), got;
    assert_int_equal(dt__layout_composition(&b.arena, &dim, &by, &got), DT_OK);
    assert_layout(&b, &got, "(2,2):(4,2)"); /* DM-095 */
    fixture_end(&b);
}

static void orthogonal__strides_exceed_the_extents_of_smaller_ones(void **state) {
    (void)state;
    static const struct {
        const char *layout;
        bool expected;
    } cases[] = {
        {"(2,3):(6,1)", true},     {"4:1", true},
        {"(2,3):(3,1)", true},     {"(2,2,2):(8,4,1)", true},
        {"(2,2,2):(4,1,2)", true}, {"(2,(11,3),7):(1,(210,2),30)", true},
        {"(2,3):(2,1)", false},    {"(2,3):(1,1)", false},
        {"(3,2):(2,3)", false}, /* DM-097 */
        {"(1,1):(0,0)", true},     {"2:0", false},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__mode modes[MAX_MODES];
        bool got = dt__modes_orthogonal(modes, modes_of(&b, cases[i].layout, modes));
        if (got != cases[i].expected)
            fail_msg("%s: expected %d, got %d", cases[i].layout, cases[i].expected, got);
    }
    fixture_end(&b);
}

static void tile__needs_integer_multiples(void **state) {
    (void)state;
    static const struct {
        const char *layout;
        int64_t size;
        bool expected;
    } cases[] = {
        {"(2,3):(3,1)", 6, true},  {"2:3", 6, true},          {"3:1", 6, true},   {"(2,2):(3,1)", 6, false},
        {"2:4", 12, false},        {"(2,2):(2,1)", 12, true}, {"1:0", 7, true},   {"7:1", 7, true},
        {"(2,2):(1,1)", 4, false}, {"4:2", 8, true},          {"4:2", 12, false}, {"2:0", 4, false},
    };
    fixture b;
    fixture_begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dt__mode modes[MAX_MODES];
        bool got = dt__modes_tile(modes, modes_of(&b, cases[i].layout, modes), cases[i].size);
        if (got != cases[i].expected)
            fail_msg("%s in %lld: expected %d, got %d", cases[i].layout, (long long)cases[i].size, cases[i].expected,
                     got);
    }
    fixture_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coalesce__yields_the_canonical_list),
        cmocka_unit_test(structure__must_match),
        cmocka_unit_test(complement__numbers_the_groups),
        cmocka_unit_test(composition__splits_a_dim),
        cmocka_unit_test(orthogonal__strides_exceed_the_extents_of_smaller_ones),
        cmocka_unit_test(tile__needs_integer_multiples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
