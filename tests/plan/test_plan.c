/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of all planners: published traces, kinds and numbers of collectives, invalid targets, large meshes and
 * tensors, and failing allocations.
 */
#include "support/check.h"
#include "support/random.h"

#include "mesh/mesh.h"
#include "plan/plan.h"
#include "spec/spec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A redistribution as text. */
typedef struct plan_case {
    const char *mesh, *shape, *from, *to; /* sizes "2,2", "8,8" */
    dt__planner planner;
} plan_case;

static int parse_sizes(const char *text, int64_t *out) {
    int n = 0, used = 0;
    for (; *text && sscanf(text, "%" SCNd64 "%n", &out[n], &used) == 1; n++)
        text += used + (text[used] == ',');
    return n;
}

static dt_status parse_sharding(dt__arena *arena, const plan_case *c, const char *text, dt__sharding *out) {
    int64_t mesh[DT_SPEC_MAX_DIMS], shape[DT_SPEC_MAX_DIMS];
    dt_placement *placements;
    dt__sharding_desc desc = {.mesh = mesh, .shape = shape};
    desc.n_mesh_dims = parse_sizes(c->mesh, mesh);
    desc.n_dims = parse_sizes(c->shape, shape);
    DT__TRY(dt__placements_parse(arena, text, &desc.n_placements, &placements));
    desc.placements = placements;
    return dt__sharding_new(arena, &desc, out);
}

static dt_status make_plan(dt__arena *arena, const plan_case *c, dt__plan *out) {
    dt__sharding from, to;
    DT__TRY(parse_sharding(arena, c, c->from, &from));
    DT__TRY(parse_sharding(arena, c, c->to, &to));
    return dt__plan_new(arena, &(dt__move){.from = &from, .to = &to, .item_bytes = 4}, c->planner,
                        &dt__machine_builtin, out);
}

/* Makes the plan and calls check with it. */
static void check_plan_of(const plan_case *c, void (*check)(dt__arena *, const dt__plan *, const void *),
                          const void *user) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    dt__plan plan;
    if (make_plan(&arena, c, &plan) != DT_OK)
        fail_msg("%s to %s: %s", c->from, c->to, dt_error_text(ctx));
    check(&arena, &plan, user);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static void check_trace(dt__arena *arena, const dt__plan *plan, const void *expected) {
    dt__text text = dt__text_new(arena->ctx);
    dt__plan_trace(plan, &text);
    assert_string_equal(dt__text_chars(&text), expected);
    dt__text_free(&text);
}

static void assert_trace(const char *mesh, const char *shape, const char *from, const char *to, dt__planner planner,
                         const char *expected) {
    check_plan_of(&(plan_case){mesh, shape, from, to, planner}, check_trace, expected);
}

static void check_collectives(dt__arena *arena, const dt__plan *plan, const void *expected) {
    char got[256] = "";
    (void)arena;
    for (int i = 0; i < plan->n_steps; i++) {
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%s", i ? " " : "", dt__step_kind_name(plan->steps[i].collective));
    }
    assert_string_equal(got, expected);
}

static void assert_collectives(const char *mesh, const char *shape, const char *from, const char *to,
                               dt__planner planner, const char *expected) {
    check_plan_of(&(plan_case){mesh, shape, from, to, planner}, check_collectives, expected);
}

static void check_count(dt__arena *arena, const dt__plan *plan, const void *expected) {
    (void)arena;
    assert_int_equal(plan->n_collectives, *(const int *)expected);
}

static void assert_count(const char *mesh, const char *shape, const char *from, const char *to, dt__planner planner,
                         int expected) {
    check_plan_of(&(plan_case){mesh, shape, from, to, planner}, check_count, &expected);
}

static void assert_refused(const char *mesh, const char *from, const char *to, const char *message) {
    for (int planner = 0; planner < DT__N_PLANNERS; planner++) {
        dt_ctx *ctx = dt__ctx_new(NULL);
        dt__arena arena = dt__arena_new(ctx);
        dt__plan plan = {.n_steps = -7};
        assert_int_equal(make_plan(&arena, &(plan_case){mesh, "8,8", from, to, (dt__planner)planner}, &plan),
                         DT_ERR_PLACEMENT);
        assert_error_contains(ctx, DT_ERR_PLACEMENT, message);
        assert_int_equal(plan.n_steps, -7);
        dt__arena_free(&arena);
        dt__ctx_free(ctx);
    }
}

static void graph__has_the_published_traces(void **state) {
    (void)state;
    const char *m = "2,2,2", *s = "8,8,8";
    /* RED-028 */
    assert_trace(m, s, "S(0),S(0),S(0)", "R,S(0),S(0)", DT__PLANNER_GRAPH,
                 "S(0)[0]S(0)[1]S(0)[2]->S(0)[0]S(0)[1]R->S(0)RR->RRR->RS(0)R->RS(0)[0]S(0)[1]");
    /* RED-029 */
    assert_trace(m, s, "S(0)[1],S(0)[0],S(0)[2]", "R,S(0),S(0)", DT__PLANNER_GRAPH,
                 "S(0)[1]S(0)[0]S(0)[2]->S(0)[1]S(0)[0]R->RS(0)R->RS(0)[0]S(0)[1]");
    /* RED-030 */
    assert_trace(m, s, "S(0)[1],S(0)[0],S(0)[2]", "S(0),S(0),R", DT__PLANNER_GRAPH,
                 "S(0)[1]S(0)[0]S(0)[2]->S(0)[1]S(0)[0]R->RS(0)R->RRR->S(0)RR->S(0)[0]S(0)[1]R");
    /* RED-031 */
    assert_trace(m, s, "S(0),S(0),R", "R,S(1),S(0)", DT__PLANNER_GRAPH,
                 "S(0)[0]S(0)[1]R->S(0)RR->S(0)S(1)R->RS(1)R->RS(1)S(0)");
    /* RED-033 */
    assert_trace(m, s, "S(0),S(0),S(0)", "S(1),S(1),S(1)", DT__PLANNER_GRAPH,
                 "S(0)[0]S(0)[1]S(0)[2]->S(0)[0]S(0)[1]R->S(0)RR->RRR->S(1)RR->S(1)[0]S(1)[1]R->S(1)[0]S(1)[1]S(1)"
                 "[2]");
}

static void greedy__has_the_published_traces(void **state) {
    (void)state;
    /* RED-034 */
    assert_trace("2,2,2", "8,8,8", "S(0),S(0),S(0)", "S(1),S(1),S(1)", DT__PLANNER_GREEDY,
                 "S(0)[0]S(0)[1]S(0)[2]->S(0)[0]S(0)[1]R->S(0)RR->S(1)RR->S(1)[0]S(1)[1]R->S(1)[0]S(1)[1]S(1)[2]");
    /* RED-029: an order that does not ascend is searched */
    assert_trace("2,2,2", "8,8,8", "S(0)[1],S(0)[0],S(0)[2]", "R,S(0),S(0)", DT__PLANNER_GREEDY,
                 "S(0)[1]S(0)[0]S(0)[2]->S(0)[1]S(0)[0]R->RS(0)R->RS(0)[0]S(0)[1]");
    /* splits by mesh dims of size 1 stay first, and later splits follow them */
    assert_trace("2,1", "16", "R,S(0)", "S(0),S(0)", DT__PLANNER_GREEDY, "RS(0)->S(0)[1]S(0)[0]");
    assert_trace("2,1,2", "2,16", "R,S(1),R", "S(1),S(1),S(1)", DT__PLANNER_GREEDY,
                 "RS(1)R->S(1)[1]S(1)[0]R->S(1)[1]S(1)[0]S(1)[2]");
}

static void strided_shards__stay_in_traces_unless_they_express_an_order(void **state) {
    (void)state;
    const char *m = "2,2,2", *s = "31,13,11";
    /* RED-047 */
    assert_trace(m, s, "S(0),S(0),_S(0,3)", "R,S(0),S(0)", DT__PLANNER_GRAPH,
                 "S(0)[0]S(0)[1]_S(0,3)[2]->S(0)[0]S(0)[1]R->S(0)RR->RRR->RS(0)R->RS(0)[0]S(0)[1]");
    /* RED-048 */
    assert_trace(m, s, "S(0)[1],S(0)[0],S(0)[2]", "R,S(0),_S(0,3)", DT__PLANNER_GRAPH,
                 "S(0)[1]S(0)[0]S(0)[2]->S(0)[1]S(0)[0]R->RS(0)R->RS(0)[0]_S(0,3)[1]");
    /* RED-049 */
    assert_trace(m, s, "S(0)[1],_S(0,3)[0],S(0)[2]", "_S(0,3),S(0),R", DT__PLANNER_GRAPH,
                 "S(0)[1]_S(0,3)[0]S(0)[2]->S(0)[1]_S(0,3)[0]R->R_S(0,3)R->RRR->_S(0,3)RR->_S(0,3)[0]S(0)[1]R");
    /* RED-050 */
    assert_trace(m, s, "S(0),S(0),R", "R,_S(1,5),S(0)", DT__PLANNER_GRAPH,
                 "S(0)[0]S(0)[1]R->S(0)[0]S(0)[1]_S(1,5)->S(0)R_S(1,5)->S(0)RR->S(0)_S(1,5)R->S(0)_S(1,5)[0]_S(1,5)"
                 "[1]->R_S(1,5)[0]_S(1,5)[1]->R_S(1,5)R->R_S(1,5)S(0)");
    /* RED-046: no shard order has a factor of 3 here, so that the default planner makes one step */
    assert_trace("4,2", "24,8", "_S(0,3),R", "R,R", DT__PLANNER_GREEDY, "_S(0,3)R->RR");
    /* RED-041: the same shards in two notations; they differ if sizes do not divide evenly */
    assert_trace("4,2", "8,4", "_S(0,2),S(0)", "S(0)[1],S(0)[0]", DT__PLANNER_MIN_COST, "S(0)[1]S(0)[0]");
    assert_trace("2,2", "5", "_S(0,2),S(0)", "S(0)[1],S(0)[0]", DT__PLANNER_DIRECT,
                 "_S(0,2)[0]S(0)[1]->S(0)[1]S(0)[0]");
}

static void steps__have_the_kind_of_their_change(void **state) {
    (void)state;
    for (int i = 0; i < DT__N_PLANNERS; i++) { /* RED-054, RED-055, RED-001, RED-005, RED-006, RED-011, RED-017 */
        dt__planner planner = (dt__planner)i;
        assert_collectives("4", "16,12", "P(sum)", "R", planner, "all_reduce");
        assert_collectives("4", "16,12", "P(max)", "R", planner, "all_reduce");
        assert_collectives("4", "16,12", "P(sum)", "S(0)", planner, "reduce_scatter");
        assert_collectives("4", "16,12", "S(1)", "R", planner, "all_gather");
        assert_collectives("4", "16,12", "R", "S(0)", planner, "none");
        assert_collectives("4", "16,12", "_S(0,2)", "R", planner, "all_gather");
        assert_collectives("4", "16,12", "R", "R", planner, "");           /* RED-002 */
        assert_collectives("4", "16,12", "P(sum)", "P(sum)", planner, ""); /* RED-003 */
        if (planner == DT__PLANNER_GRAPH)
            continue; /* in its cost model a small all-to-all costs more than an all-gather */
        assert_collectives("4", "16,12", "S(0)", "S(1)", planner, "all_to_all");
        assert_collectives("4", "16,12", "S(0)", "S(-1)", planner, "all_to_all"); /* RED-014 */
        assert_collectives("4", "16,12", "_S(0,2)", "S(1)", planner, "all_to_all");
        assert_collectives("4", "16,12", "_S(0,2)", "_S(1,2)", planner, "all_to_all");
        assert_collectives("4", "16,12", "P(sum)", "_S(0,2)", planner, "reduce_scatter");
    }
}

static void greedy__counts_collectives_as_published(void **state) {
    (void)state;
    const dt__planner greedy = DT__PLANNER_GREEDY;
    /* RED-018 */
    assert_count("2,2", "8,8", "S(0),S(1)", "S(0),S(0)", greedy, 1);
    assert_count("2,2", "8,8", "S(0),S(1)", "S(1),S(0)", greedy, 2);
    assert_count("2,2", "8,8", "S(0),S(0)", "S(1),S(1)", greedy, 2);
    assert_count("2,2", "8,8,8", "S(0),S(2)", "S(1),S(0)", greedy, 2);
    assert_count("2,2", "8,8,8", "S(1),S(1)", "S(1),S(2)", greedy, 1);
    /* RED-027 */
    assert_count("2,2,2", "8,8,8", "S(0),S(0),S(0)", "S(1),S(1),S(1)", greedy, 3);
    assert_count("2,2,2", "8,8,8", "S(0),S(1),S(0)", "S(1),S(0),S(0)", greedy, 3);
    assert_count("2,2,2", "8,8,8", "S(0),S(1),S(2)", "S(2),S(1),S(0)", greedy, 2);
    assert_count("2,2,2", "8,8,8", "S(1),S(0),S(0)", "R,S(0),S(0)", greedy, 1);
    assert_count("2,2,2", "8,8,8", "S(1),R,S(0)", "R,S(0),S(0)", greedy, 2);
    assert_count("2,2,2", "8,8,8", "S(0),S(0),S(1)", "S(0),S(1),S(2)", greedy, 2);
}

static void mesh_dims_of_one_rank__communicate_nothing(void **state) {
    static const char *const from[] = {"S(0),S(1)", "S(0),R", "S(0),P(sum)"};
    static const char *const to[] = {"S(0),S(0)", "S(0),S(1)", "S(0),R"};
    (void)state;
    for (int planner = 0; planner < DT__N_PLANNERS; planner++) /* RED-020 */
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                assert_count("4,1", "64,8", from[i], to[j], (dt__planner)planner, 0);
}

static void min_cost__joins_steps_over_mesh_dims(void **state) {
    const dt__planner min_cost = DT__PLANNER_MIN_COST;
    (void)state;
    assert_trace("4,2", "16,16,16", "S(0),S(0)", "R,R", min_cost, "S(0)[0]S(0)[1]->RR");      /* RED-044, RED-066 */
    assert_collectives("2,2,2", "16,16", "S(0),S(0),S(0)", "R,R,R", min_cost, "all_gather");  /* RED-042 */
    assert_collectives("2,2,2", "16,16", "P(sum),P(sum),R", "R,R,R", min_cost, "all_reduce"); /* RED-057 */
    assert_collectives("2,2,2", "16,16", "P(sum),P(sum),P(sum)", "R,R,R", min_cost, "all_reduce"); /* RED-059 */
    assert_collectives("2,2,2", "16,16", "P(sum),R,P(sum)", "R,R,R", min_cost, "all_reduce");      /* RED-073 */
    assert_collectives("2,2", "16,16", "P(sum),P(avg)", "R,R", min_cost, "all_reduce");            /* RED-068 */
    assert_collectives("2,2", "16,16", "P(sum),P(avg)", "S(0),S(0)", min_cost, "reduce_scatter");  /* RED-069 */
    assert_count("4,2", "16,16,16", "P(sum),P(sum)", "S(0),S(0)", min_cost, 1);                    /* RED-072 */
    assert_count("2,3", "4,1", "P(sum),P(sum)", "S(0),S(0)", min_cost, 1); /* RED-076: also for uneven shards */
}

static void min_cost__joins_steps_into_one_collective(void **state) {
    const dt__planner min_cost = DT__PLANNER_MIN_COST;
    const char *m = "2,2,2", *s = "16,16,16";
    (void)state;
    /* RED-058, RED-073, RED-075: reductions are joined, also if mesh dims between them are gathered */
    assert_collectives(m, s, "P(sum),S(0),P(sum)", "R,R,R", min_cost, "all_reduce all_gather");
    assert_collectives(m, s, "P(sum),P(sum),P(sum)", "R,R,R", min_cost, "all_reduce");            /* RED-075 */
    assert_collectives("2,2", "8,8", "P(sum),R", "R,R", min_cost, "all_reduce");                  /* RED-060 */
    assert_collectives("2,2,1,2", "8,8", "R,R,P(sum),P(sum)", "R,R,R,R", min_cost, "all_reduce"); /* RED-061 */
    assert_collectives("2,4,1", "8", "P(sum),S(0),P(sum)", "S(0)[1],S(0)[0],S(0)[2]", min_cost,
                       "reduce_scatter");                                                            /* RED-062 */
    assert_collectives(m, "24", "S(0),P(sum),P(sum)", "S(0),S(0),S(0)", min_cost, "reduce_scatter"); /* RED-063 */
    assert_collectives("2,3", "10", "P(sum),P(sum)", "S(0),S(0)", min_cost, "reduce_scatter");       /* RED-064 */
    assert_collectives("2,2", "8,8", "S(0),R", "S(0),R", min_cost, "");                              /* RED-065 */
    assert_collectives("2,2", "16,16", "P(sum),S(0)", "R,R", min_cost, "all_reduce all_gather");     /* RED-067 */
    assert_collectives("2,4", "8", "P(sum),P(sum)", "S(0)[1],S(0)[0]", min_cost, "reduce_scatter");  /* RED-070 */
    assert_collectives("4,2", s, "P(sum),P(sum)", "S(0),S(1)", min_cost, "reduce_scatter");          /* RED-072 */
    assert_collectives("4,2", s, "S(0),S(1)", "R,R", min_cost, "all_gather");                        /* RED-072 */
    assert_collectives(m, s, "P(sum),P(sum),P(sum)", "S(0),S(0),S(1)", min_cost, "reduce_scatter");  /* RED-073 */
    assert_collectives(m, s, "S(0)[1],S(0)[0],S(0)[2]", "R,R,R", min_cost, "all_gather");            /* RED-043 */
    assert_collectives(m, s, "S(0)[1],S(0)[0],S(0)[2]", "R,R,R", DT__PLANNER_GREEDY,
                       "all_gather all_gather all_gather"); /* RED-043 */
}

/* In a transposition every rank exchanges a block with one peer: start-up, one peer, the block, and two copies of it.
 * */
static void check_transposition(dt__arena *arena, const dt__plan *plan, const void *user) {
    const dt__machine *machine = &dt__machine_builtin;
    double block = 4 * 32 * 32;
    (void)arena;
    (void)user;
    assert_int_equal(plan->bytes, plan->lower_bound_bytes);
    assert_int_equal(plan->bytes, (int64_t)block);
    assert_int_equal(plan->peak_bytes, 2 * (int64_t)block);
    double expected = machine->between.start_us + machine->between.peer_us + block / machine->between.bytes_per_us +
                      2 * block / machine->copy_bytes_per_us;
    assert_true(plan->cost_us > expected * (1 - 1e-12) && plan->cost_us < expected * (1 + 1e-12));
}

static void exchanges__cost_depends_on_the_peers_of_a_rank(void **state) {
    (void)state;
    plan_case c = {"128,128", "4096,4096", "S(0),S(1)", "S(1),S(0)", DT__PLANNER_DIRECT};
    check_plan_of(&c, check_transposition, NULL);
    c.planner = DT__PLANNER_MIN_COST;
    check_plan_of(&c, check_transposition, NULL);
}

static double price(const dt__machine *machine, dt__step_kind kind, int64_t group, int64_t ranks, double bytes) {
    return dt__machine_price(machine, &(dt__step_desc){kind, group, ranks, false, bytes, bytes, false, 0});
}

static void assert_price(double got, double expected) {
    if (!(fabs(got - expected) <= 1e-12 * fabs(expected)))
        fail_msg("expected %.17g us, got %.17g", expected, got);
}

static void measured_steps__replace_the_formula(void **state) {
    (void)state;
    dt__machine machine = dt__machine_builtin;
    static const dt__measured_step steps[] = {
        {DT__STEP_ALL_GATHER, false, 2, 2, 10, 100, 0, 0}, {DT__STEP_ALL_GATHER, false, 2, 4, 20, 50, 0, 0},
        {DT__STEP_ALL_GATHER, false, 4, 4, 40, 25, 0, 0},  {DT__STEP_ALL_REDUCE, false, 2, 2, 5, 10, 0, 0},
        {DT__STEP_NONE, false, 1, 2, 1, 1000, 0, 0},       {DT__STEP_ALL_REDUCE, true, 2, 2, 7, 5, 200, 4},
    };
    machine.ranks_per_host = 16;
    machine.n_measured = sizeof steps / sizeof *steps;
    memcpy(machine.measured, steps, sizeof steps);
    dt__machine_derive(&machine);
    assert_price(price(&machine, DT__STEP_ALL_GATHER, 2, 2, 1000), 10 + 10);
    assert_price(price(&machine, DT__STEP_ALL_GATHER, 2, 4, 1000), 20 + 20);
    assert_price(price(&machine, DT__STEP_ALL_GATHER, 4, 4, 1000), 40 + 40);
    assert_price(price(&machine, DT__STEP_ALL_GATHER, 3, 4, 1000), 30 + 30);  /* between two groups, */
    assert_price(price(&machine, DT__STEP_ALL_GATHER, 2, 3, 1000), 15 + 15);  /* between two numbers of ranks, */
    assert_price(price(&machine, DT__STEP_ALL_GATHER, 2, 8, 1000), 40 + 40);  /* and beyond: as the last two grow */
    assert_price(price(&machine, DT__STEP_ALL_GATHER, 2, 64, 1000), 80 + 80); /* no more than are on the host */
    assert_price(price(&machine, DT__STEP_ALL_REDUCE, 4, 8, 1000), 5 + 100);  /* one measurement serves all */
    assert_price(price(&machine, DT__STEP_NONE, 4, 8, 1000), 1 + 1);
    assert_price(price(&machine, DT__STEP_ALL_TO_ALL, 4, 8, 1000),
                 price(&dt__machine_builtin, DT__STEP_ALL_TO_ALL, 4, 8, 1000)); /* not measured */
    dt__step_desc far = {DT__STEP_ALL_GATHER, 4, 64, true, 1000, 1000, false, 0};
    assert_price(dt__machine_price(&machine, &far), dt__machine_price(&dt__machine_builtin, &far));
    dt__step_desc reduction = {DT__STEP_ALL_REDUCE, 2, 2, false, 1000, 1000, false, 0};
    assert_price(dt__machine_reduction_us(&machine, &reduction), 100); /* without start-up */
    reduction.strided = true;
    assert_price(dt__machine_price(&machine, &reduction), 7 + 40 + 200); /* 800 bytes are not in the cache */
    reduction.after_bytes = 100;
    assert_price(dt__machine_price(&machine, &reduction), 7 + 20);
    dt__machine links = {.within = {1, 2, 100}, .between = {10, 20, 1}, .copy_bytes_per_us = 1000};
    dt__machine_derive(&links);
    dt__step_desc nodes = {DT__STEP_ALL_REDUCE, 6, 6, true, 1200, 1200, false, 2}; /* two nodes of three ranks */
    assert_price(dt__machine_price(&links, &nodes), (10 + 2 * 20) + (1 + 2 * 2 * 2) + 400 + 16 + 1.2);
    nodes.kind = DT__STEP_ALL_GATHER;
    assert_price(dt__machine_price(&links, &nodes), (10 + 20) + (1 + 2 * 2) + 200 + 8 + 1.2);
    nodes.kind =
        DT__STEP_REDUCE_SCATTER; /* of 7200 bytes: two thirds of them within a node, a share of half between */
    assert_price(dt__machine_price(&links, &nodes), (10 + 20) + (1 + 2 * 2) + 1200 + 48 + 1.2);
    nodes.kind = DT__STEP_ALL_TO_ALL;
    assert_price(dt__machine_price(&links, &nodes), (10 + 20) + (1 + 2 * 2) + 600 + 4 + 2 * 1.2);
    dt__step_desc gather = {DT__STEP_ALL_GATHER, 2, 2, false, 1000, 1000, true, 0};
    assert_price(dt__machine_price(&machine, &gather), 10 + 10); /* not measured: as without strides */
}

static void measured_steps__are_never_cheaper_than_the_minima(void **state) {
    (void)state;
    dt__machine machine = dt__machine_builtin;
    uint64_t random = test_seed(55);
    for (int kind = 1; kind < DT__N_STEP_KINDS; kind++)
        for (int64_t ranks = 2; ranks <= 16; ranks *= 2)
            for (int64_t group = 2; group <= ranks; group *= 2)
                machine.measured[machine.n_measured++] = (dt__measured_step){(dt__step_kind)kind,
                                                                             false,
                                                                             group,
                                                                             ranks,
                                                                             (double)test_below(&random, 50),
                                                                             100 + (double)test_below(&random, 5000),
                                                                             (double)test_below(&random, 3000),
                                                                             100};
    dt__machine_derive(&machine);
    for (int kind = 1; kind < DT__N_STEP_KINDS; kind++)
        for (int64_t ranks = 2; ranks <= 40; ranks++)
            for (int64_t group = 2; group <= ranks; group++) {
                double us = price(&machine, (dt__step_kind)kind, group, ranks, 4096);
                double least = machine.min_within.start_us + 4096 / machine.min_copy_bytes_per_us;
                assert_true(us >= least * (1 - 1e-12));
            }
}

static void targets__new_partials_are_refused(void **state) {
    (void)state;
    assert_refused("4", "R", "P(sum)", "can not redistribute R to P(sum)"); /* RED-009 */
    /* RED-021 */
    assert_refused("2,2", "S(0),R", "S(0),P(sum)", "mesh dim 1");
    assert_refused("2,2", "S(0),R", "R,P(sum)", "mesh dim 1");
    assert_refused("2,2", "S(0),S(1)", "R,P(sum)", "S(1) to P(sum)");
    assert_refused("2,2", "S(0),P(product)", "R,P(sum)", "P(product) to P(sum)");
    assert_refused("2", "P(sum)", "P(avg)", "P(sum) to P(avg)");   /* RED-040 */
    assert_refused("2", "_S(0,2)", "P(sum)", "_S(0,2) to P(sum)"); /* RED-053 */
    assert_refused("2,2", "_S(0,2),R", "R,P(sum)", "R to P(sum)");
    for (int planner = 0; planner < DT__N_PLANNERS; planner++) {
        assert_count("2,2", "8,8", "P(sum),S(0)", "P(sum),S(0)", (dt__planner)planner, 0);
        assert_count("2,2", "8,8", "S(0),P(product)", "R,P(product)", (dt__planner)planner, 1);
    }
    assert_trace("2,2", "8,8", "P(sum),S(0)", "P(sum),S(1)", DT__PLANNER_GREEDY, "P(sum)S(0)->P(sum)S(1)");
}

static void explicit_extents__are_the_only_shard_of_their_dim(void **state) {
    (void)state;
    assert_trace("2,2,1", "6,6,1", "P(max),R,S(2)", "P(max),S(2:0,1),_S(0,5)", DT__PLANNER_GREEDY,
                 "P(max)RS(2)->P(max)R_S(0,5)->P(max)S(2:0,1)_S(0,5)");
    assert_trace("2,2", "8", "S(0:3,5),R", "S(0),S(0)", DT__PLANNER_GREEDY, "S(0:3,5)R->S(0)R->S(0)[0]S(0)[1]");
}

/* On 16,384 ranks a shard of the target is [2^20,64], and some ranks have none of its columns in the source. */
static void check_large(dt__arena *arena, const dt__plan *plan, const void *user) {
    (void)arena;
    (void)user;
    assert_int_equal(plan->lower_bound_bytes, INT64_C(4) * 64 * (1 << 20));
    assert_true(plan->bytes >= plan->lower_bound_bytes);
}

static void large_meshes__are_planned(void **state) {
    (void)state;
    for (int planner = 0; planner < DT__N_PLANNERS; planner++)
        check_plan_of(
            &(plan_case){"64,128,2", "1048576,16384", "S(0),S(0),S(1)", "R,S(1),S(1)", (dt__planner)planner},
            check_large, NULL);
}

static void sizes__beyond_64_bits_are_refused(void **state) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    dt__plan plan;
    (void)state;
    assert_int_equal(
        make_plan(&arena, &(plan_case){"2", "4611686018427387904,1", "S(0)", "R", DT__PLANNER_DIRECT}, &plan),
        DT_ERR_SHAPE);
    assert_error_contains(ctx, DT_ERR_SHAPE, "2^63");
    dt_error_clear(ctx);
    assert_int_equal(
        make_plan(&arena, &(plan_case){"8", "1152921504606846976", "P(sum)", "S(0)", DT__PLANNER_DIRECT}, &plan),
        DT_OK);
    assert_int_equal(plan.bytes, 7 * (INT64_C(1) << 59));
    assert_int_equal(
        make_plan(&arena, &(plan_case){"8,2", "1152921504606846976", "P(sum),R", "S(0),S(0)", DT__PLANNER_DIRECT},
                  &plan),
        DT_OK);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

static bool run_all_planners(dt_ctx *ctx, void *user) {
    dt__arena arena = dt__arena_new(ctx);
    bool ok = true;
    (void)user;
    for (int planner = 0; planner < DT__N_PLANNERS && ok; planner++) {
        dt__plan plan;
        plan_case c = {"2,3,2", "12,7,5", "S(0)[1],P(sum),S(0)[0]", "S(1),S(0),_S(0,3)", (dt__planner)planner};
        ok = make_plan(&arena, &c, &plan) == DT_OK;
    }
    dt__arena_free(&arena);
    return ok;
}

static void plans__survive_failing_allocations(void **state) {
    (void)state;
    assert_true(assert_survives_failing_allocations(run_all_planners, NULL) > 4);
}

static dt_spec *parse(dt_ctx *ctx, const char *text) {
    dt_spec *spec = dt_spec_parse(ctx, text);
    if (!spec)
        fail_msg("%s: %s", text, dt_error_text(ctx));
    return spec;
}

static void assert_specs_refused(const char *from_text, const char *to_text, dt_status status, const char *message) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = DT__MESH_MAX_RANKS;
    dt_spec *from = parse(ctx, from_text), *to = parse(ctx, to_text);
    dt__move move;
    assert_int_equal(dt__move_of_specs(from, to, &move), status);
    assert_error_contains(ctx, status, message);
    dt_spec_release(from);
    dt_spec_release(to);
    dt__ctx_free(ctx);
}

static void specs__must_agree_in_shape_and_dtype(void **state) {
    (void)state;
    assert_specs_refused("f32[8] S(0) on mesh(2)", "f64[8] R on mesh(2)", DT_ERR_DTYPE, "the dtypes differ");
    assert_specs_refused("f32[8] S(0) on mesh(2)", "f32[9] R on mesh(2)", DT_ERR_SHAPE, "the shapes differ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph__has_the_published_traces),
        cmocka_unit_test(greedy__has_the_published_traces),
        cmocka_unit_test(strided_shards__stay_in_traces_unless_they_express_an_order),
        cmocka_unit_test(steps__have_the_kind_of_their_change),
        cmocka_unit_test(greedy__counts_collectives_as_published),
        cmocka_unit_test(mesh_dims_of_one_rank__communicate_nothing),
        cmocka_unit_test(min_cost__joins_steps_over_mesh_dims),
        cmocka_unit_test(min_cost__joins_steps_into_one_collective),
        cmocka_unit_test(exchanges__cost_depends_on_the_peers_of_a_rank),
        cmocka_unit_test(measured_steps__replace_the_formula),
        cmocka_unit_test(measured_steps__are_never_cheaper_than_the_minima),
        cmocka_unit_test(targets__new_partials_are_refused),
        cmocka_unit_test(explicit_extents__are_the_only_shard_of_their_dim),
        cmocka_unit_test(large_meshes__are_planned),
        cmocka_unit_test(sizes__beyond_64_bits_are_refused),
        cmocka_unit_test(plans__survive_failing_allocations),
        cmocka_unit_test(specs__must_agree_in_shape_and_dtype),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
