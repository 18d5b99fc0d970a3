/* SPDX-License-Identifier: Apache-2.0
 *
 * The redistributions of the conformance list by every planner, element by element. tests/plan checks the number of
 * collectives.
 *
 * ctest: processors=2
 */
#include "move/moves.h"

typedef struct row {
    int n_dims;
    int64_t shape[4];
    const char *from, *to;
} row;

typedef struct table {
    int n_mesh_dims;
    int64_t mesh[4];
    const row *rows;
    size_t n_rows;
} table;

#define TABLE(name, n, ...) static const table name = {n, __VA_ARGS__, name##_rows, sizeof name##_rows / sizeof(row)}

/* One side of a row; the shards of a dim are listed in their order. */
static int parse_side(dt_ctx *ctx, const table *on, const row *test, const char *text, brute_case *out) {
    int n;
    dt_placement *placements = dt_placements_parse(ctx, text, &n);
    CHECK(placements && n == on->n_mesh_dims, "%s: %s", text, dt_error_text(ctx));
    *out = (brute_case){.n_mesh_dims = n, .n_dims = test->n_dims};
    memcpy(out->mesh, on->mesh, sizeof out->mesh);
    memcpy(out->shape, test->shape, sizeof out->shape);
    for (int m = 0; m < n; m++) {
        dt_placement *p = &placements[m];
        if (!dt__is_cut(p)) {
            out->placements[m] = *p;
            continue;
        }
        p->dim += p->dim < 0 ? test->n_dims : 0;
        out->order[p->dim][p->ordered ? p->position : out->n_order[p->dim]] = m;
        out->n_order[p->dim]++;
        out->placements[m] = *p;
    }
    dt_placements_free(ctx, placements);
    brute_name(out);
    return 0;
}

enum { ALL_PLANNERS = (1 << DT__N_PLANNERS) - 1 };

static int run_row(dt_ctx *ctx, const table *on, const row *test, dt_dtype dtype, int planners) {
    static _Thread_local moves_case c;
    memset(&c, 0, sizeof c);
    moves_defaults(&c);
    c.dtype = dtype;
    if (parse_side(ctx, on, test, test->from, &c.from) || parse_side(ctx, on, test, test->to, &c.to))
        return 1;
    for (int planner = 0; planner < DT__N_PLANNERS; planner++) {
        if (!(planners >> planner & 1))
            continue;
        c.planner = (dt__planner)planner;
        moves_name(&c);
        if (moves_run(ctx, &c))
            return 1;
    }
    return 0;
}

static int run_table(dt_ctx *ctx, void *arg) {
    const table *on = arg;
    for (size_t i = 0; i < on->n_rows; i++)
        if (run_row(ctx, on, &on->rows[i], DT_F32, ALL_PLANNERS) ||
            run_row(ctx, on, &on->rows[i], DT_C64, ALL_PLANNERS))
            return 1;
    return 0;
}

static void run_on_ranks(const table *on) {
    int64_t n = 1;
    for (int m = 0; m < on->n_mesh_dims; m++)
        n *= on->mesh[m];
    table copy = *on;
    run_ranks(n, run_table, &copy);
}

/* RED-001 RED-005 RED-006 RED-011 */
#define SIX(from0, to0, from1, to1)                                                                                  \
    {2, {12, 3}, from0, to0}, {2, {13, 3}, from0, to0}, {2, {14, 3}, from0, to0}, {2, {3, 12}, from1, to1},          \
        {2, {3, 13}, from1, to1}, {                                                                                  \
        2, {3, 14}, from1, to1                                                                                       \
    }
/* RED-017 */
#define FIVE(from, to)                                                                                               \
    {2, {8, 8}, from, to}, {3, {8, 8, 8}, from, to}, {2, {8, 5}, from, to}, {2, {5, 8}, from, to}, {                 \
        2, {5, 5}, from, to                                                                                          \
    }

static const row line_rows[] = {
    SIX("S(0)", "R", "S(1)", "R"),
    SIX("R", "S(0)", "R", "S(1)"),
    SIX("P(sum)", "S(0)", "P(sum)", "S(1)"),
    {2, {12, 3}, "R", "R"},           /* RED-002 */
    {2, {12, 3}, "P(sum)", "P(sum)"}, /* RED-003 */
    {2, {12, 3}, "P(sum)", "R"},
    {2, {12, 3}, "R", "S(-1)"}, /* RED-014 */
    /* RED-015 */
    {3, {4, 13, 8}, "R", "S(1)"},
    {3, {4, 13, 8}, "S(1)", "R"},
    {3, {4, 14, 8}, "R", "S(1)"},
    {3, {4, 14, 8}, "S(1)", "R"},
    {3, {4, 15, 8}, "S(1)", "R"},
    {3, {3, 31, 10}, "S(1)", "R"},
    {3, {4, 8, 13}, "S(2)", "R"},
    {2, {13, 8}, "S(0)", "R"},
    {2, {8, 13}, "S(1)", "R"},
    FIVE("S(0)", "S(1)"),
    FIVE("S(1)", "S(0)"),
    {2, {2, 8}, "S(0)", "R"}, /* RED-024 */
    {2, {2, 8}, "S(0)", "S(1)"},
    /* RED-045 RED-051 RED-052 */
    {2, {16, 13}, "_S(0,2)", "R"},
    {2, {16, 13}, "_S(0,2)", "S(0)"},
    {2, {16, 13}, "_S(0,2)", "S(1)"},
    {2, {16, 13}, "S(0)", "_S(0,2)"},
    {2, {16, 13}, "P(sum)", "_S(0,2)"},
};
TABLE(line, 1, {4});

static const row square_rows[] = {
    /* RED-016 */
    {2, {10, 5}, "S(0),S(0)", "R,R"},
    {2, {9, 5}, "S(0),S(0)", "R,R"},
    {2, {3, 5}, "S(0),S(0)", "R,R"},
    {2, {10, 5}, "S(0),S(1)", "R,R"},
    {2, {9, 5}, "S(0),S(1)", "R,R"},
    {2, {3, 5}, "S(0),S(1)", "R,R"},
    {2, {1, 3}, "S(0),S(0)", "R,R"},
    {2, {1, 3}, "S(0),S(1)", "R,R"},
    /* RED-018 */
    FIVE("S(0),S(1)", "S(0),S(0)"),
    FIVE("S(0),S(1)", "S(1),S(0)"),
    FIVE("S(0),S(0)", "S(1),S(1)"),
    {3, {8, 8, 8}, "S(0),S(2)", "S(1),S(0)"},
    {3, {8, 8, 8}, "S(1),S(1)", "S(1),S(2)"},
    /* RED-021 */
    {2, {8, 6}, "P(sum),S(0)", "P(sum),S(1)"},
    {2, {8, 6}, "S(0),P(sum)", "R,P(sum)"},
    {2, {8, 6}, "S(0),P(product)", "R,P(product)"},
};
TABLE(square, 2, {2, 2});

static const row tall_rows[] = {
    /* RED-020 */
    {2, {16, 8}, "S(0),S(1)", "S(0),S(0)"},   {2, {16, 8}, "S(0),S(1)", "S(0),S(1)"},
    {2, {16, 8}, "S(0),S(1)", "S(0),R"},      {2, {16, 8}, "S(0),R", "S(0),S(0)"},
    {2, {16, 8}, "S(0),R", "S(0),S(1)"},      {2, {16, 8}, "S(0),R", "S(0),R"},
    {2, {16, 8}, "S(0),P(sum)", "S(0),S(0)"}, {2, {16, 8}, "S(0),P(sum)", "S(0),S(1)"},
    {2, {16, 8}, "S(0),P(sum)", "S(0),R"},
};
TABLE(tall, 2, {4, 1});

static const row wide_rows[] = {
    /* RED-041 RED-046 RED-051 RED-052 RED-072 */
    {2, {8, 4}, "_S(-2,2),S(-2)", "S(0)[1],S(0)[0]"},
    {2, {24, 8}, "_S(0,3),R", "R,R"},
    {2, {24, 8}, "_S(0,3),R", "S(0),R"},
    {2, {24, 8}, "_S(0,2),S(1)", "S(0),S(1)"},
    {2, {24, 8}, "S(0),R", "_S(0,3),R"},
    {2, {24, 8}, "S(0),S(1)", "_S(0,2),S(1)"},
    {2, {24, 8}, "P(sum),R", "_S(0,3),R"},
    {3, {16, 16, 16}, "P(sum),P(sum)", "R,R"},
    {3, {16, 16, 16}, "P(sum),P(sum)", "S(0),S(0)"},
    {3, {16, 16, 16}, "P(sum),P(sum)", "S(0),S(1)"},
    {3, {16, 16, 16}, "S(0),S(0)", "R,R"},
    {3, {16, 16, 16}, "S(0),S(1)", "R,R"},
};
TABLE(wide, 2, {4, 2});

static const row cube_rows[] = {
    /* RED-027 */
    {3, {8, 8, 8}, "S(0),S(0),S(0)", "S(1),S(1),S(1)"},
    {3, {8, 8, 8}, "S(0),S(1),S(0)", "S(1),S(0),S(0)"},
    {3, {8, 8, 8}, "S(0),S(1),S(2)", "S(2),S(1),S(0)"},
    {3, {8, 8, 8}, "S(1),S(0),S(0)", "R,S(0),S(0)"},
    {3, {8, 8, 8}, "S(1),R,S(0)", "R,S(0),S(0)"},
    {3, {8, 8, 8}, "S(0),S(0),S(1)", "S(0),S(1),S(2)"},
    /* RED-028 to RED-034 */
    {3, {8, 8, 8}, "S(0),S(0),S(0)", "R,S(0),S(0)"},
    {3, {8, 8, 8}, "S(0)[1],S(0)[0],S(0)[2]", "R,S(0),S(0)"},
    {3, {8, 8, 8}, "S(0)[1],S(0)[0],S(0)[2]", "S(0),S(0),R"},
    {3, {8, 8, 8}, "S(0),S(0),R", "R,S(1),S(0)"},
    /* RED-042 RED-043 */
    {3, {8, 8, 8}, "S(0),S(0),S(0)", "R,R,R"},
    {3, {8, 8, 8}, "S(0)[1],S(0)[0],S(0)[2]", "R,R,R"},
    /* RED-047 to RED-051 */
    {3, {31, 13, 11}, "S(0),S(0),_S(0,3)", "R,S(0),S(0)"},
    {3, {31, 13, 11}, "S(0)[1],S(0)[0],S(0)[2]", "R,S(0),_S(0,3)"},
    {3, {31, 13, 11}, "S(0)[1],_S(0,3)[0],S(0)[2]", "_S(0,3),S(0),R"},
    {3, {31, 13, 11}, "S(0),S(0),R", "R,_S(1,5),S(0)"},
    {3, {31, 13, 11}, "S(0),S(0),_S(0,3)", "S(0),S(0),S(0)"},
    /* RED-073 */
    {3, {16, 16, 16}, "P(sum),P(sum),S(0)", "S(0),S(0),S(0)"},
    {3, {16, 16, 16}, "P(sum),P(sum),P(sum)", "R,R,R"},
    {3, {16, 16, 16}, "P(sum),S(0),P(sum)", "R,R,R"},
    {3, {16, 16, 16}, "P(sum),R,P(sum)", "R,R,R"},
    {3, {16, 16, 16}, "P(sum),P(sum),R", "S(0),S(1),R"},
    {3, {16, 16, 16}, "P(sum),P(sum),P(sum)", "S(0),S(0),S(1)"},
    /* RED-074 RED-075 */
    {1, {16}, "P(avg),P(avg),P(sum)", "R,R,R"},
    {1, {16}, "P(avg),P(avg),P(sum)", "S(0),S(0),S(0)"},
    {2, {8, 8}, "P(sum),P(sum),P(sum)", "R,R,R"},
    {2, {8, 8}, "P(sum),P(sum),R", "R,R,R"},
    {2, {8, 8}, "P(sum),R,P(sum)", "R,R,R"},
    {2, {16, 8}, "P(sum),S(0),P(sum)", "R,R,R"},
};
TABLE(cube, 3, {2, 2, 2});

/* RED-076: the dim is split twice, not once */
static const row uneven_rows[] = {{2, {4, 1}, "P(sum),P(sum)", "S(0),S(0)"}};
TABLE(uneven, 2, {2, 3});

static void conformance__moves_have_the_values_of_direct_distribution(void **state) {
    (void)state;
    run_on_ranks(&line);
    run_on_ranks(&square);
    run_on_ranks(&tall);
    run_on_ranks(&wide);
    run_on_ranks(&cube);
    run_on_ranks(&uneven);
}

/* RED-026: every input to every output on (4,2) */
static int run_exhaustive(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const char *const names[] = {"R", "S(0)", "S(1)", "P(sum)"};
    const table on = {.n_mesh_dims = 2, .mesh = {4, 2}};
    for (int i = 0; i < 16 * 9; i++) {
        char from[20], to[20];
        snprintf(from, sizeof from, "%s,%s", names[i / 9 / 4], names[i / 9 % 4]);
        snprintf(to, sizeof to, "%s,%s", names[i % 9 / 3], names[i % 3]);
        const row test = {2, {16, 24}, from, to};
        if (run_row(ctx, &on, &test, DT_F32, ALL_PLANNERS))
            return 1;
    }
    return 0;
}

static void conformance__every_pair_on_two_mesh_dims(void **state) {
    (void)state;
    run_ranks(8, run_exhaustive, NULL);
}

enum { MAX_ORDERS = 200 };

/* All shard orders of three mesh dims, as texts. */
static int list_orders(int n_dims, char (*texts)[64]) {
    int n = 0, dims[3];
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < n_dims * n_dims * n_dims; i++) {
        dims[0] = i / n_dims / n_dims;
        dims[1] = i / n_dims % n_dims;
        dims[2] = i % n_dims;
        for (int k = 0; k < 6; k++) {
            int position[3];
            for (int m = 0; m < 3; m++) {
                position[m] = 0;
                for (int other = 0; other < 3; other++)
                    position[m] += dims[other] == dims[m] && orders[k][other] < orders[k][m];
            }
            snprintf(texts[n], sizeof texts[n], "S(%d)[%d],S(%d)[%d],S(%d)[%d]", dims[0], position[0], dims[1],
                     position[1], dims[2], position[2]);
            int same = 0;
            while (strcmp(texts[same], texts[n]) != 0)
                same++;
            n += same == n;
        }
    }
    return n;
}

/* RED-032 RED-036 RED-037: from every order to the next one, and to and from the full tensor. */
static int run_orders(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const row shapes[] = {
        {2, {16, 8}, "", ""}, {3, {8, 16, 32}, "", ""}, {2, {17, 5}, "", ""}, {4, {33, 16, 8, 1}, "", ""}};
    static const int n_orders[] = {24, 60, 24, 120}; /* RED-035 */
    static _Thread_local char texts[MAX_ORDERS][64];
    const table on = {.n_mesh_dims = 3, .mesh = {2, 2, 2}};
    for (int s = 0; s < 4; s++) {
        int n = list_orders(shapes[s].n_dims, texts);
        CHECK(n == n_orders[s], "%d orders of %d dims", n, shapes[s].n_dims);
        for (int i = 0; i < n; i++) {
            row test = shapes[s];
            const char *moves[][2] = {{"R,R,R", texts[i]}, {texts[i], "R,R,R"}, {texts[i], texts[(i + 1) % n]}};
            for (int k = 0; k < 3; k++) {
                test.from = moves[k][0];
                test.to = moves[k][1];
                if (run_row(ctx, &on, &test, DT_F32, 1 << DT__PLANNER_DIRECT | (k == 2) << i % DT__N_PLANNERS))
                    return 1;
            }
        }
    }
    return 0;
}

static void conformance__every_shard_order(void **state) {
    (void)state;
    run_ranks(8, run_orders, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conformance__moves_have_the_values_of_direct_distribution),
        cmocka_unit_test(conformance__every_pair_on_two_mesh_dims),
        cmocka_unit_test(conformance__every_shard_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
