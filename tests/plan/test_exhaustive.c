/* SPDX-License-Identifier: Apache-2.0
 *
 * The minimum-cost planner against an exhaustive search: every state of the mesh and the tensor, every step between
 * two of them that is one collective, and one all-to-all. Costs are those of the machine model, as in the planner;
 * other tests check the costs of steps.
 */
#include "spec/brute.h"

#include "plan/placement_state.h"

#include <math.h>

enum { MAX_STATES = 8000, MAX_MESH_DIMS = 4 };

/* All states of a move. */
typedef struct state_list {
    const dt__state_space *space;
    int n;
    dt__dim_state (*states)[MAX_MESH_DIMS];
    double *bytes;
    dt__dim_state current[MAX_MESH_DIMS];
} state_list;

/* Whether the shards of each dim have positions 0, 1, …, and a shard with explicit extents is the only one. */
static bool is_state(const dt__state_space *space, const dt__dim_state *state) {
    for (int d = 0; d < space->n_dims; d++) {
        int n = 0, positions = 0;
        bool extents = false;
        for (int m = 0; m < space->n_mesh_dims; m++) {
            const dt_placement *token = &space->tokens[state[m].token];
            if (!dt__is_cut(token) || token->dim != d)
                continue;
            extents |= token->n_extents > 0;
            positions |= 1 << state[m].position;
            n++;
        }
        if (positions != (1 << n) - 1 || (extents && n > 1))
            return false;
    }
    return true;
}

static bool is_candidate(const dt__state_space *space, int m, int token) {
    int from = space->from[m].token, to = space->to[m].token;
    if (dt__token_is_partial(space, to))
        return token == to;
    return token == from || token == to || token <= space->n_dims;
}

static void list_states(state_list *self, int m) {
    const dt__state_space *space = self->space;
    if (m == space->n_mesh_dims) {
        if (!is_state(space, self->current))
            return;
        assert_true(self->n < MAX_STATES);
        memcpy(self->states[self->n], self->current, sizeof self->current);
        self->bytes[self->n++] = dt__state_bytes(space, self->current);
        return;
    }
    for (int token = 0; token < space->n_tokens; token++)
        for (int position = 0; position < (dt__token_is_cut(space, token) ? space->n_mesh_dims : 1); position++)
            if (is_candidate(space, m, token)) {
                self->current[m] = (dt__dim_state){(uint8_t)token, (uint8_t)position};
                list_states(self, m + 1);
            }
}

/* No collective makes a tensor partial. */
static bool becomes_partial(const state_list *self, int a, int b) {
    for (int m = 0; m < self->space->n_mesh_dims; m++)
        if (dt__token_is_partial(self->space, self->states[b][m].token) &&
            self->states[a][m].token != self->states[b][m].token)
            return true;
    return false;
}

static double step_us(const state_list *self, int a, int b) {
    dt__change change;
    if (becomes_partial(self, a, b))
        return INFINITY;
    dt__state_change(self->space, self->states[a], self->states[b], &change);
    if (change.reduced > 1 && !change.only_reduces && !change.only_scatters)
        return INFINITY;
    return dt__change_price(self->space, &change, self->bytes[a], self->bytes[b]);
}

static int find_state(const state_list *self, const dt__dim_state *state) {
    for (int i = 0; i < self->n; i++)
        if (!memcmp(self->states[i], state, (size_t)self->space->n_mesh_dims * sizeof *state))
            return i;
    return -1;
}

/* Dijkstra's algorithm over all pairs. */
static double min_cost_us(const dt__state_space *space) {
    state_list self = {.space = space};
    self.states = calloc(MAX_STATES, sizeof *self.states);
    self.bytes = calloc(MAX_STATES, sizeof *self.bytes);
    list_states(&self, 0);
    int source = find_state(&self, space->from), target = find_state(&self, space->to);
    assert_true(source >= 0 && target >= 0);
    double *cost = calloc((size_t)self.n, sizeof *cost);
    bool *closed = calloc((size_t)self.n, sizeof *closed);
    for (int i = 0; i < self.n; i++)
        cost[i] = i == source ? 0 : INFINITY;
    for (int at = source; at != target;) {
        closed[at] = true;
        for (int i = 0; i < self.n; i++)
            if (!closed[i] && cost[i] > cost[at])
                cost[i] = fmin(cost[i], cost[at] + step_us(&self, at, i));
        at = -1;
        for (int i = 0; i < self.n; i++)
            if (!closed[i] && (at < 0 || cost[i] < cost[at]))
                at = i;
    }
    double us = cost[target];
    free(cost);
    free(closed);
    free(self.states);
    free(self.bytes);
    return us;
}

/* Random placements on the mesh and shape of another case. */
static void random_side(uint64_t *random, const brute_case *like, bool strided, bool partial, brute_case *c) {
    *c = (brute_case){.n_mesh_dims = like->n_mesh_dims, .n_dims = like->n_dims};
    memcpy(c->mesh, like->mesh, sizeof c->mesh);
    memcpy(c->shape, like->shape, sizeof c->shape);
    for (int m = 0; m < c->n_mesh_dims; m++) {
        do
            c->placements[m] = brute_random_placement(random, c->n_dims, DT_SUM);
        while ((dt_placement_is_partial(c->placements[m]) && !partial) ||
               (dt_placement_is_strided(c->placements[m]) && !strided));
        if (!partial && dt_placement_is_partial(like->placements[m]) && brute_below(random, 4) == 0)
            c->placements[m] = like->placements[m];
    }
    for (int d = 0; d < c->n_dims; d++) {
        brute_random_order(random, c, d);
        brute_random_extents(random, c, d);
    }
    brute_name(c);
}

/* Sizes are drawn from a few, with which different costs dominate. */
static void random_move(uint64_t *random, int n_mesh_dims, int n_dims, brute_case *from, brute_case *to) {
    static const int64_t sizes[] = {1, 2, 2, 2, 3, 4, 8, 16};
    static const int64_t shapes[] = {1, 5, 7, 16, 48, 250, 1024, 4096};
    brute_case drawn = {.n_mesh_dims = n_mesh_dims, .n_dims = n_dims};
    for (int m = 0; m < drawn.n_mesh_dims; m++)
        drawn.mesh[m] = sizes[brute_below(random, sizeof sizes / sizeof *sizes)];
    for (int d = 0; d < drawn.n_dims; d++)
        drawn.shape[d] = shapes[brute_below(random, sizeof shapes / sizeof *shapes)];
    bool strided = brute_below(random, 4) == 0;
    random_side(random, &drawn, strided, true, from);
    random_side(random, from, strided, false, to);
}

static double random_factor(uint64_t *random) {
    static const double factors[] = {0.01, 0.3, 1, 3, 100};
    return factors[brute_below(random, sizeof factors / sizeof *factors)];
}

/* A link with a random ratio of latency to bandwidth. */
static void change_link(uint64_t *random, dt__link *link) {
    link->start_us *= random_factor(random);
    link->peer_us *= random_factor(random);
    link->bytes_per_us *= random_factor(random);
}

static dt__measured_step random_step(uint64_t *random, dt__step_kind kind, int64_t group, int64_t ranks) {
    dt__measured_step step = {.kind = kind, .strided = brute_below(random, 2), .group = group, .ranks = ranks};
    step.start_us = 5 * random_factor(random);
    step.bytes_per_us = 1e4 * random_factor(random);
    if (brute_below(random, 2)) {
        step.cache_bytes = 1e4 * random_factor(random);
        step.memory_bytes_per_us = step.bytes_per_us / (1 + random_factor(random));
    }
    return step;
}

/* Measured steps of some kinds, for some sizes of groups and numbers of ranks, unrelated to each other. */
static void add_measured(uint64_t *random, dt__machine *machine) {
    for (int kind = 0; kind < DT__N_STEP_KINDS; kind++)
        for (int64_t ranks = 2; ranks <= 32 && brute_below(random, 4); ranks *= 2)
            for (int64_t group = kind ? 2 : 1; group <= (kind ? ranks : 1); group *= 2)
                if (brute_below(random, 4))
                    machine->measured[machine->n_measured++] = random_step(random, (dt__step_kind)kind, group, ranks);
}

static dt__machine random_machine(uint64_t *random) {
    static const int64_t hosts[] = {0, 2, 4, 8, 8};
    dt__machine machine = dt__machine_builtin;
    machine.ranks_per_host = hosts[brute_below(random, sizeof hosts / sizeof *hosts)];
    if (brute_below(random, 4) == 0)
        machine.copy_bytes_per_us /= 4;
    if (brute_below(random, 4) == 0) {
        change_link(random, &machine.within);
        change_link(random, &machine.between);
    }
    if (brute_below(random, 3) == 0)
        add_measured(random, &machine);
    dt__machine_derive(&machine);
    return machine;
}

/* Compares the plan with the exhaustive search; returns the number of collectives of the plan. */
static int check_move(dt_ctx *ctx, const brute_case *from, const brute_case *to, const dt__machine *machine) {
    dt__arena arena = dt__arena_new(ctx);
    dt__state_space space;
    dt__plan plan, direct;
    dt__sharding a = brute_sharding(&arena, from), b = brute_sharding(&arena, to);
    dt__move move = {.from = &a, .to = &b, .item_bytes = 4};
    if (dt__plan_new(&arena, &move, DT__PLANNER_MIN_COST, machine, &plan) != DT_OK ||
        dt__plan_new(&arena, &move, DT__PLANNER_DIRECT, machine, &direct) != DT_OK)
        fail_msg("%s to %s: %s", from->text, to->text, dt_error_text(ctx));
    dt__state_space_new(&move, machine, &space);
    double expected = min_cost_us(&space);
    if (direct.n_steps && direct.steps[0].collective == DT__STEP_ALL_TO_ALL)
        expected = fmin(expected, direct.cost_us);
    if (fabs(plan.cost_us - expected) > 1e-6 * expected)
        fail_msg("%s to %s, %d ranks per host: expected %.9g us, got %.9g", from->text, to->text,
                 (int)machine->ranks_per_host, expected, plan.cost_us);
    dt__arena_free(&arena);
    return plan.n_collectives;
}

/* Random moves on meshes of min to max dims, of tensors of 1 to max_dims dims. */
static void check_moves(uint64_t random, int n_moves, int min, int max, int max_dims) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    int n_collectives = 0;
    for (int i = 0; i < n_moves; i++) {
        static brute_case from, to;
        int n_mesh_dims = min + brute_below(&random, max - min + 1), n_dims = 1 + brute_below(&random, max_dims);
        random_move(&random, n_mesh_dims, n_dims, &from, &to);
        dt__machine machine = random_machine(&random);
        n_collectives += check_move(ctx, &from, &to, &machine);
    }
    assert_true(2 * n_collectives > n_moves);
    dt__ctx_free(ctx);
}

static void min_cost__is_as_cheap_as_an_exhaustive_search(void **state) {
    (void)state;
    check_moves(test_seed(77003), 2000, 1, 3, 3);
}

static void min_cost__is_as_cheap_as_an_exhaustive_search_on_four_mesh_dims(void **state) {
    (void)state;
    check_moves(test_seed(77004), 200, 4, 4, 3);
}

/* By a measured model a copy may take longer than an all-to-all that does the same and changes one mesh dim more. */
static void min_cost__finds_a_collective_that_is_cheaper_than_a_copy(void **state) {
    (void)state;
    static const int64_t extents[] = {2177, 1919};
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__machine machine = dt__machine_builtin;
    machine.within = (dt__link){.start_us = 1.98, .peer_us = 0.18, .bytes_per_us = 942};
    static const dt__measured_step steps[] = {
        {DT__STEP_NONE, false, 1, 2, 500, 30000, 10000, 29703},
        {DT__STEP_ALL_GATHER, false, 4, 4, 1.5, 30000, 100, 15000},
        {DT__STEP_ALL_GATHER, false, 8, 8, 15, 100, 0, 0},
        {DT__STEP_ALL_REDUCE, false, 2, 4, 0.05, 3000, 3000, 1500},
        {DT__STEP_ALL_REDUCE, false, 8, 8, 5, 30000, 100, 15000},
        {DT__STEP_ALL_TO_ALL, false, 2, 4, 1.5, 1e+06, 0, 0},
        {DT__STEP_ALL_TO_ALL, false, 4, 4, 5, 1e+06, 0, 0},
        {DT__STEP_ALL_TO_ALL, false, 4, 16, 1.5, 1e+06, 0, 0},
        {DT__STEP_ALL_TO_ALL, false, 8, 16, 500, 10000, 3000, 99.01},
    };
    memcpy(machine.measured, steps, sizeof steps);
    machine.n_measured = sizeof steps / sizeof *steps;
    dt__machine_derive(&machine);
    brute_case from = {.n_mesh_dims = 2, .mesh = {2, 3}, .n_dims = 3, .shape = {7, 7, 4096}}, to = from;
    from.placements[0] = dt_placement_partial(DT_SUM);
    from.placements[1] = to.placements[1] = dt_placement_shard(0);
    to.placements[0] = dt_placement_shard(2);
    to.placements[0].extents = extents;
    to.placements[0].n_extents = 2;
    brute_name(&from);
    brute_name(&to);
    assert_int_equal(check_move(ctx, &from, &to, &machine), 5);
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(min_cost__is_as_cheap_as_an_exhaustive_search),
        cmocka_unit_test(min_cost__is_as_cheap_as_an_exhaustive_search_on_four_mesh_dims),
        cmocka_unit_test(min_cost__finds_a_collective_that_is_cheaper_than_a_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
