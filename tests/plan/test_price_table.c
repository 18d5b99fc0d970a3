/* SPDX-License-Identifier: Apache-2.0
 *
 * Prices from a table of one source, against the plans that the minimum-cost planner makes for each target by itself.
 */
#include "support/check.h"

#include "plan/plan.h"
#include "spec/spec.h"

#include <inttypes.h>
#include <math.h>

typedef struct setting {
    int n_mesh_dims, n_dims;
    int64_t mesh[4], shape[3];
} setting;

static const setting settings[] = {
    {1, 2, {3}, {7, 5}},
    {2, 1, {2, 3}, {13}},
    {2, 2, {4, 8}, {1024, 512}},
    {3, 2, {2, 1, 3}, {9, 2}},
    {3, 3, {2, 4, 8}, {1024, 512, 64}},
    {3, 2, {2, 2, 5}, {0, 4}},
    {4, 3, {2, 2, 4, 4}, {64, 512, 256}},
    {4, 2, {3, 2, 2, 2}, {17, 6}},
};

/* Plain shards, Replicate and sums; a target keeps a sum or has none. */
static void random_placements(uint64_t *seed, const setting *on, const dt_placement *source, dt_placement *out) {
    for (int m = 0; m < on->n_mesh_dims; m++) {
        int kind = (int)test_below(seed, on->n_dims + 2);
        bool may_be_partial = !source || dt_placement_is_partial(source[m]);
        out[m] = kind < on->n_dims                          ? dt_placement_shard(kind)
                 : kind == on->n_dims + 1 && may_be_partial ? dt_placement_partial(DT_SUM)
                                                            : dt_placement_replicate();
    }
}

static void build(dt__arena *arena, const setting *on, const dt_placement *placements, dt__sharding *out) {
    dt__sharding_desc desc = {on->n_mesh_dims, on->mesh, on->n_dims, on->shape, on->n_mesh_dims, placements};
    assert_int_equal(dt__sharding_new(arena, &desc, out), DT_OK);
}

/* Measured steps of every kind, unrelated to each other. */
static dt__machine measured_model(uint64_t *seed) {
    dt__machine machine = dt__machine_builtin;
    for (int kind = 0; kind < DT__N_STEP_KINDS; kind++)
        for (int64_t group = kind ? 2 : 1; group <= (kind ? 8 : 1); group *= 2)
            machine.measured[machine.n_measured++] =
                (dt__measured_step){.kind = (dt__step_kind)kind,
                                    .group = group,
                                    .ranks = 8,
                                    .start_us = (double)(1 + test_below(seed, 1000)) / 10,
                                    .bytes_per_us = (double)(1000 + test_below(seed, 50000))};
    dt__machine_derive(&machine);
    return machine;
}

/* The route has the cost of the plan that the planner makes, and the same collectives. */
static void check_route(dt__arena *arena, const dt__move *move, const dt__machine *machine, const dt__route *route) {
    dt__plan planned, along;
    assert_int_equal(dt__plan_new(arena, move, DT__PLANNER_MIN_COST, machine, &planned), DT_OK);
    assert_int_equal(dt__plan_along(arena, move, machine, route, &along), DT_OK);
    assert_true(fabs(along.cost_us - planned.cost_us) <= 1e-9 * (1 + planned.cost_us));
    dt__step_counts expected = dt__plan_count(&planned), got = dt__route_count(move, machine, route);
    for (int kind = DT__STEP_NONE + 1; kind < DT__N_STEP_KINDS; kind++)
        if (got.of[kind] != expected.of[kind]) {
            dt__text text = dt__text_new(arena->ctx);
            dt__plan_trace(&planned, &text);
            dt__text_add(&text, " and ");
            dt__plan_trace(&along, &text);
            fail_msg("%s: expected %" PRId64 " of %s, got %" PRId64, dt__text_chars(&text), expected.of[kind],
                     dt__step_kind_name((dt__step_kind)kind), got.of[kind]);
        }
}

static void compare_targets(dt__arena *arena, const setting *on, const dt__machine *machine, uint64_t *seed,
                            int n_targets) {
    dt_placement source[4], target[4];
    dt__sharding from, to;
    dt__price_table *table;
    random_placements(seed, on, NULL, source);
    build(arena, on, source, &from);
    assert_int_equal(dt__price_table_new(arena, &from, 4, machine, &table), DT_OK);
    assert_int_equal(table == NULL, on->shape[0] == 0);
    for (int t = 0; t < n_targets; t++) {
        random_placements(seed, on, source, target);
        build(arena, on, target, &to);
        dt__move move = {.from = &from, .to = &to, .item_bytes = 4};
        dt__route route;
        double alone, us, below;
        assert_int_equal(dt__plan_price(arena, &move, machine, NULL, INFINITY, NULL, &alone), DT_OK);
        double limit = t % 3 == 0 ? alone * 0.5 : t % 3 == 1 ? alone * 1.01 + 1 : INFINITY;
        assert_int_equal(dt__plan_price(arena, &move, machine, table, limit, &route, &below), DT_OK);
        assert_true(below < limit || route.n_states == 0);
        assert_int_equal(dt__plan_price(arena, &move, machine, NULL, alone * 1.01 + 1, &route, &us), DT_OK);
        check_route(arena, &move, machine, &route);
        assert_int_equal(dt__plan_price(arena, &move, machine, table, INFINITY, &route, &us), DT_OK);
        check_route(arena, &move, machine, &route);
        char texts[2][100];
        dt_placements_text(on->n_mesh_dims, source, sizeof texts[0], texts[0]);
        dt_placements_text(on->n_mesh_dims, target, sizeof texts[1], texts[1]);
        if (fabs(us - alone) > 1e-9 * (1 + alone))
            fail_msg("%s to %s: expected %.12g us, got %.12g us", texts[0], texts[1], alone, us);
        if (below < limit ? fabs(below - alone) > 1e-9 * (1 + alone) : alone < limit * (1 - 1e-9))
            fail_msg("%s to %s below %g us: expected %.12g us, got %.12g us", texts[0], texts[1], limit, alone,
                     below);
    }
}

static void table__has_the_prices_of_plans(void **state) {
    (void)state;
    uint64_t seed = test_seed(11);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++)
        for (int round = 0; round < (settings[s].n_mesh_dims < 4 ? 20 : 5); round++) {
            dt_ctx *ctx = dt__ctx_new(NULL);
            dt__arena arena = dt__arena_new(ctx);
            dt__machine measured = measured_model(&seed);
            compare_targets(&arena, &settings[s], round % 2 ? &measured : &dt__machine_builtin, &seed, 40);
            dt__arena_free(&arena);
            dt__ctx_free(ctx);
        }
}

/* From strided shards and explicit extents there is no table; to them, plans are made one by one. */
static void table__is_for_plain_placements(void **state) {
    (void)state;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    setting on = {2, 1, {2, 3}, {13}};
    dt_placement strided[] = {dt_placement_strided(0, 3), dt_placement_replicate()},
                 plain[] = {dt_placement_shard(0), dt_placement_replicate()};
    dt__sharding from, to;
    dt__price_table *table;
    double us, alone;
    build(&arena, &on, strided, &from);
    assert_int_equal(dt__price_table_new(&arena, &from, 4, &dt__machine_builtin, &table), DT_OK);
    assert_null(table);
    build(&arena, &on, plain, &to);
    assert_int_equal(dt__price_table_new(&arena, &to, 4, &dt__machine_builtin, &table), DT_OK);
    assert_non_null(table);
    dt__move move = {.from = &to, .to = &from, .item_bytes = 4};
    assert_int_equal(dt__plan_price(&arena, &move, &dt__machine_builtin, NULL, INFINITY, NULL, &alone), DT_OK);
    assert_int_equal(dt__plan_price(&arena, &move, &dt__machine_builtin, table, INFINITY, NULL, &us), DT_OK);
    assert_true(us == alone && us > 0);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__has_the_prices_of_plans),
        cmocka_unit_test(table__is_for_plain_placements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
