/* SPDX-License-Identifier: Apache-2.0
 *
 * Redistributions between meshes of random ranks, against sets of indices: received bytes, the lower bound, the peak,
 * and that flows send every rank exactly the elements that it needs. The shards follow the definition in spec/brute.h.
 */
#include "spec/brute.h"

#include "mesh/mesh.h"
#include "plan/plan.h"

enum { N_MOVES = 600, WORLD = 16 };

/* A case on random ranks. */
typedef struct side {
    brute_case c;
    int64_t ranks[WORLD], position[WORLD]; /* rank at a position; position of a rank, or -1 outside the mesh */
    dt_mesh *mesh;
    dt__sharding sharding;
} side;

static void draw_ranks(uint64_t *random, dt_ctx *ctx, side *out) {
    for (int64_t i = 0; i < WORLD; i++) {
        int64_t j = brute_below(random, (int)i + 1);
        out->ranks[i] = out->ranks[j];
        out->ranks[j] = i;
        out->position[i] = -1;
    }
    for (int64_t i = 0; i < brute_world(&out->c); i++)
        out->position[out->ranks[i]] = i;
    out->mesh = dt_mesh_from_ranks(ctx, out->ranks, out->c.mesh, out->c.n_mesh_dims, NULL);
    assert_non_null(out->mesh);
}

/* Random placements without partials on a random mesh, for the shape of another case. */
static void draw_placements(uint64_t *random, const brute_case *like, brute_case *c) {
    brute_case drawn;
    brute_random_case(random, WORLD, &drawn);
    *c = (brute_case){.n_mesh_dims = drawn.n_mesh_dims, .n_dims = like->n_dims};
    memcpy(c->mesh, drawn.mesh, sizeof c->mesh);
    memcpy(c->shape, like->shape, sizeof c->shape);
    for (int m = 0; m < c->n_mesh_dims; m++)
        do
            c->placements[m] = brute_random_placement(random, c->n_dims, DT_SUM);
        while (dt_placement_is_partial(c->placements[m]));
    for (int d = 0; d < c->n_dims; d++) {
        brute_random_order(random, c, d);
        brute_random_extents(random, c, d);
    }
    brute_name(c);
}

static bool holds(const side *s, int64_t position, const int64_t *index) {
    int64_t coordinate[BRUTE_MAX_DIMS];
    brute_coordinate(&s->c, position, coordinate);
    for (int d = 0; d < s->c.n_dims; d++) {
        brute_list list = brute_shard(&s->c, d, coordinate);
        bool found = false;
        for (int i = 0; i < list.n; i++)
            found |= list.items[i] == index[d];
        if (!found)
            return false;
    }
    return true;
}

static int64_t n_elements(const brute_case *c) {
    int64_t n = 1;
    for (int d = 0; d < c->n_dims; d++)
        n *= c->shape[d];
    return n;
}

/* The elements that a rank holds, as one flag per element. */
static void find_held(const side *s, int64_t rank, int64_t elements, bool *out) {
    memset(out, 0, (size_t)elements);
    if (s->position[rank] < 0)
        return;
    for (int64_t e = 0; e < elements; e++) {
        int64_t index[BRUTE_MAX_DIMS];
        for (int64_t left = e, d = s->c.n_dims - 1; d >= 0; left /= s->c.shape[d--])
            index[d] = left % s->c.shape[d];
        out[e] = holds(s, s->position[rank], index);
    }
}

typedef struct reference {
    int64_t elements, reduced;
    bool *before[WORLD], *after[WORLD];
    int64_t received, n_needed, peak;
} reference;

static int64_t count(const bool *a, const bool *b, int64_t n) {
    int64_t total = 0;
    for (int64_t e = 0; e < n; e++)
        total += a[e] && b[e];
    return total;
}

static void compute_reference(const side *from, const side *to, reference *out) {
    *out = (reference){.elements = n_elements(&from->c), .reduced = 1};
    for (int m = 0; m < from->c.n_mesh_dims; m++)
        out->reduced *= dt_placement_is_partial(from->c.placements[m]) ? from->c.mesh[m] : 1;
    for (int64_t r = 0; r < WORLD; r++) {
        bool *a = out->before[r] = calloc((size_t)out->elements + 1, 1);
        bool *b = out->after[r] = calloc((size_t)out->elements + 1, 1);
        find_held(from, r, out->elements, a);
        find_held(to, r, out->elements, b);
        int64_t held = count(a, a, out->elements), held_after = count(b, b, out->elements);
        int64_t common = count(a, b, out->elements), n_needed = out->reduced > 1 ? held_after : held_after - common;
        int64_t n = (out->reduced - 1) * common + out->reduced * (held_after - common);
        out->received = n > out->received ? n : out->received;
        out->n_needed = n_needed > out->n_needed ? n_needed : out->n_needed;
        out->peak = held + held_after > out->peak ? held + held_after : out->peak;
    }
}

/* Senders hold what they send, and each rank receives the elements that it needs. */
static void check_flows(dt__arena *arena, const side *from, const side *to, const dt__plan *plan,
                        const reference *ref) {
    const dt__transfer *transfer = plan->steps[0].transfer;
    for (int64_t position = 0; position < brute_world(&to->c); position++) {
        int64_t rank = to->ranks[position], total = 0;
        dt__flows flows;
        int64_t n_flows = -1;
        assert_int_equal(dt__flows_new(arena, transfer, position, &flows), DT_OK);
        assert_int_equal(dt__flows_count(arena, transfer, position, &n_flows), DT_OK);
        assert_int_equal(n_flows, flows.n);
        for (int64_t i = 0; i < flows.n; i++) {
            int64_t sender = from->ranks[flows.items[i].sender];
            assert_true(sender != rank);
            check_equal(to->c.text, flows.items[i].elements,
                        count(ref->before[sender], ref->after[rank], ref->elements));
            total += flows.items[i].elements;
        }
        int64_t held_after = count(ref->after[rank], ref->after[rank], ref->elements);
        int64_t common = count(ref->before[rank], ref->after[rank], ref->elements);
        check_equal(to->c.text, flows.kept, common);
        check_equal(to->c.text, total, (ref->reduced - 1) * common + ref->reduced * (held_after - common));
    }
}

static void check_move(dt__arena *arena, const side *from, const side *to) {
    reference ref;
    dt__plan plan;
    dt__move move = {&from->sharding, &to->sharding, 4, from->mesh, to->mesh, NULL};
    if (dt__plan_new(arena, &move, DT__PLANNER_DIRECT, &dt__machine_builtin, &plan) != DT_OK)
        fail_msg("%s to %s: %s", from->c.text, to->c.text, dt_error_text(arena->ctx));
    compute_reference(from, to, &ref);
    check_equal(to->c.text, plan.bytes, 4 * ref.received);
    check_equal(to->c.text, plan.lower_bound_bytes, 4 * ref.n_needed);
    check_equal(to->c.text, plan.peak_bytes, 4 * ref.peak);
    check_equal(to->c.text, plan.n_collectives, ref.received > 0);
    assert_true(ref.received == 0 || plan.cost_us > dt__machine_builtin.within.start_us);
    check_flows(arena, from, to, &plan, &ref);
    for (int64_t r = 0; r < WORLD; r++) {
        free(ref.before[r]);
        free(ref.after[r]);
    }
}

static void random_moves_between_meshes__match_the_definitions(void **state) {
    uint64_t random = test_seed(3100);
    (void)state;
    for (int i = 0; i < N_MOVES; i++) {
        static side from, to;
        dt_ctx *ctx = dt__ctx_new(NULL);
        ctx->world = WORLD;
        dt__arena arena = dt__arena_new(ctx);
        brute_random_case(&random, WORLD, &from.c);
        draw_placements(&random, &from.c, &to.c);
        draw_ranks(&random, ctx, &from);
        draw_ranks(&random, ctx, &to);
        from.sharding = brute_sharding(&arena, &from.c);
        to.sharding = brute_sharding(&arena, &to.c);
        check_move(&arena, &from, &to);
        dt__arena_free(&arena);
        dt_mesh_release(from.mesh);
        dt_mesh_release(to.mesh);
        dt__ctx_free(ctx);
    }
}

/* Two specs as text, and the redistribution between them. */
typedef struct spec_pair {
    dt_ctx *ctx;
    dt__arena arena;
    dt_spec *from, *to;
    dt__move move;
} spec_pair;

static void pair_begin(spec_pair *self, const char *from, const char *to) {
    self->ctx = dt__ctx_new(NULL);
    self->ctx->world = DT__MESH_MAX_RANKS;
    self->arena = dt__arena_new(self->ctx);
    self->from = dt_spec_parse(self->ctx, from);
    self->to = dt_spec_parse(self->ctx, to);
    if (!self->from || !self->to || dt__move_of_specs(self->from, self->to, &self->move) != DT_OK)
        fail_msg("%s", dt_error_text(self->ctx));
}

static void pair_end(spec_pair *self) {
    dt__arena_free(&self->arena);
    dt_spec_release(self->from);
    dt_spec_release(self->to);
    dt__ctx_free(self->ctx);
}

static void other_planners__refuse_and_suggest_direct(void **state) {
    static const struct {
        dt__planner planner;
        const char *message;
    } cases[] = {{DT__PLANNER_GREEDY, "planner greedy: the meshes differ; direct can do it"},
                 {DT__PLANNER_GRAPH, "planner graph: the meshes differ"},
                 {DT__PLANNER_MIN_COST, "planner min_cost: the meshes differ"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spec_pair pair;
        dt__plan plan = {.n_steps = -7};
        pair_begin(&pair, "f32[8] S(0) on mesh(2)", "f32[8] S(0) on mesh(3)");
        assert_int_equal(dt__plan_new(&pair.arena, &pair.move, cases[i].planner, &dt__machine_builtin, &plan),
                         DT_ERR_MESH);
        assert_error_contains(pair.ctx, DT_ERR_MESH, cases[i].message);
        assert_int_equal(plan.n_steps, -7);
        pair_end(&pair);
    }
}

static void meshes_that_differ_in_names_only__are_the_same(void **state) {
    spec_pair pair;
    (void)state;
    pair_begin(&pair, "f32[8] S(0) on mesh(a=2)", "f32[8] R on mesh(b=2)");
    assert_null(pair.move.from_mesh);
    pair_end(&pair);
    pair_begin(&pair, "f32[8] S(0) on mesh([0,1])", "f32[8] R on mesh([1,0])");
    assert_non_null(pair.move.from_mesh);
    pair_end(&pair);
}

static void partial_targets__stay_on_their_mesh(void **state) {
    spec_pair pair;
    dt__plan plan;
    (void)state;
    pair_begin(&pair, "f32[8] P(sum) on mesh(2)", "f32[8] P(sum) on mesh(3)");
    assert_int_equal(dt__plan_new(&pair.arena, &pair.move, DT__PLANNER_DIRECT, &dt__machine_builtin, &plan),
                     DT_ERR_PLACEMENT);
    assert_error_contains(pair.ctx, DT_ERR_PLACEMENT, "may not be partial");
    pair_end(&pair);
}

/* Traces and collectives of some redistributions. */
static void step_kinds__follow_from_the_transfer(void **state) {
    static const struct {
        const char *from, *to, *trace, *collective;
        int64_t bytes;
    } cases[] = {
        {"f32[8] S(0) on mesh(2)", "f32[8] S(0),R on mesh(2x2)", "S(0)->S(0)R", "all_to_all", 16},
        {"f32[8] R on mesh(4)", "f32[8] S(0) on mesh(2)", "R->S(0)", "none", 0},
        {"f32[8] P(sum) on mesh(2)", "f32[8] R on mesh(3)", "P(sum)->R", "all_reduce", 64},
        {"f32[8] P(sum) on mesh(2)", "f32[8] S(0) on mesh([2,3])", "P(sum)->S(0)", "reduce_scatter", 32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spec_pair pair;
        dt__plan plan;
        pair_begin(&pair, cases[i].from, cases[i].to);
        assert_int_equal(dt__plan_new(&pair.arena, &pair.move, DT__PLANNER_DIRECT, &dt__machine_builtin, &plan),
                         DT_OK);
        dt__text trace = dt__text_new(pair.ctx);
        dt__plan_trace(&plan, &trace);
        assert_string_equal(dt__text_chars(&trace), cases[i].trace);
        assert_string_equal(dt__step_kind_name(plan.steps[0].collective), cases[i].collective);
        check_equal(cases[i].trace, plan.bytes, cases[i].bytes);
        dt__text_free(&trace);
        pair_end(&pair);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_moves_between_meshes__match_the_definitions),
        cmocka_unit_test(other_planners__refuse_and_suggest_direct),
        cmocka_unit_test(meshes_that_differ_in_names_only__are_the_same),
        cmocka_unit_test(partial_targets__stay_on_their_mesh),
        cmocka_unit_test(step_kinds__follow_from_the_transfer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
