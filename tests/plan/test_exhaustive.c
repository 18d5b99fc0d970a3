/* SPDX-License-Identifier: Apache-2.0
 *
 * The minimum-cost planner against a search that leaves nothing out: every state of the mesh and the tensor, every
 * step from each to each that one collective can do, and one exchange. Prices come from the machine model, as the
 * planner's do; that they describe what a step does is tested elsewhere.
 */
#include "spec/brute.h"

#include "plan/placement_state.h"

#include <math.h>

enum { MOST_STATES = 8000, MOST_MESH_DIMS = 4 };

typedef struct space {
    const dt__alphabet *alphabet;
    int n;
    dt__rank_position (*states)[MOST_MESH_DIMS];
    double *bytes;
    dt__rank_position now[MOST_MESH_DIMS];
} space;

/* Whether cuts of each dim have places 0, 1, … and explicit extents are alone. */
static bool is_state(const dt__alphabet *alphabet, const dt__rank_position *state) {
    for (int d = 0; d < alphabet->n_dims; d++) {
        int n = 0, seen = 0;
        bool extents = false;
        for (int m = 0; m < alphabet->n_mesh_dims; m++) {
            const dt_placement *token = &alphabet->tokens[state[m].token];
            if (!dt__is_cut(token) || token->dim != d)
                continue;
            extents |= token->n_extents > 0;
            seen |= 1 << state[m].position;
            n++;
        }
        if (seen != (1 << n) - 1 || (extents && n > 1))
            return false;
    }
    return true;
}

static bool may_have(const dt__alphabet *alphabet, int m, int token) {
    int from = alphabet->from[m].token, to = alphabet->to[m].token;
    if (dt__token_is_partial(alphabet, to))
        return token == to;
    return token == from || token == to || token <= alphabet->n_dims;
}

static void list(space *self, int m) {
    const dt__alphabet *alphabet = self->alphabet;
    if (m == alphabet->n_mesh_dims) {
        if (!is_state(alphabet, self->now))
            return;
        assert_true(self->n < MOST_STATES);
        memcpy(self->states[self->n], self->now, sizeof self->now);
        self->bytes[self->n++] = dt__state_bytes(alphabet, self->now);
        return;
    }
    for (int token = 0; token < alphabet->n_tokens; token++)
        for (int position = 0; position < (dt__token_is_cut(alphabet, token) ? alphabet->n_mesh_dims : 1); position++)
            if (may_have(alphabet, m, token)) {
                self->now[m] = (dt__rank_position){(uint8_t)token, (uint8_t)position};
                list(self, m + 1);
            }
}

static double step_us(const space *self, int a, int b) {
    dt__change change;
    dt__state_change(self->alphabet, self->states[a], self->states[b], &change);
    if (change.reduced > 1 && !change.only_reduces && !change.only_scatters)
        return INFINITY;
    return dt__change_price(self->alphabet, &change, self->bytes[a], self->bytes[b]);
}

static int find(const space *self, const dt__rank_position *state) {
    for (int i = 0; i < self->n; i++)
        if (!memcmp(self->states[i], state, (size_t)self->alphabet->n_mesh_dims * sizeof *state))
            return i;
    return -1;
}

/* Dijkstra's search over all pairs. */
static double cheapest(const dt__alphabet *alphabet) {
    space self = {.alphabet = alphabet};
    self.states = calloc(MOST_STATES, sizeof *self.states);
    self.bytes = calloc(MOST_STATES, sizeof *self.bytes);
    list(&self, 0);
    int source = find(&self, alphabet->from), target = find(&self, alphabet->to);
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

/* Another side on the case's mesh and shape; sizes come from a few that make prices differ in kind. */
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

/* A link that may be good for anything or nothing. */
static void change_link(uint64_t *random, dt__link *link) {
    link->start_us *= random_factor(random);
    link->peer_us *= random_factor(random);
    link->bytes_per_us *= random_factor(random);
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
    return machine;
}

/* Plans the move and searches over everything; returns the collectives of the plan. */
static int check_move(dt_ctx *ctx, const brute_case *from, const brute_case *to, const dt__machine *machine) {
    dt__arena arena = dt__arena_new(ctx);
    dt__alphabet alphabet;
    dt__plan plan, direct;
    dt__sharding a = brute_sharding(&arena, from), b = brute_sharding(&arena, to);
    dt__move move = {.from = &a, .to = &b, .item_bytes = 4};
    if (dt__plan_new(&arena, &move, DT__PLANNER_MIN_COST, machine, &plan) != DT_OK ||
        dt__plan_new(&arena, &move, DT__PLANNER_DIRECT, machine, &direct) != DT_OK)
        fail_msg("%s to %s: %s", from->text, to->text, dt_error_text(ctx));
    dt__alphabet_new(&move, machine, &alphabet);
    double want = cheapest(&alphabet);
    if (direct.n_steps && direct.steps[0].collective == DT__STEP_ALL_TO_ALL)
        want = fmin(want, direct.cost_us);
    if (fabs(plan.cost_us - want) > 1e-6 * want)
        fail_msg("%s to %s, %d ranks per host: %.9g us, but %.9g can be had", from->text, to->text,
                 (int)machine->ranks_per_host, plan.cost_us, want);
    dt__arena_free(&arena);
    return plan.n_collectives;
}

/* Random moves on meshes of `least` to `most` dims, of tensors of 1 to `most_dims` dims. */
static void check_moves(uint64_t random, int n_moves, int least, int most, int most_dims) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    int n_collectives = 0;
    for (int i = 0; i < n_moves; i++) {
        static brute_case from, to;
        int n_mesh_dims = least + brute_below(&random, most - least + 1),
            n_dims = 1 + brute_below(&random, most_dims);
        random_move(&random, n_mesh_dims, n_dims, &from, &to);
        dt__machine machine = random_machine(&random);
        n_collectives += check_move(ctx, &from, &to, &machine);
    }
    assert_true(2 * n_collectives > n_moves);
    dt__ctx_free(ctx);
}

static void min_cost__is_as_cheap_as_a_search_over_everything(void **state) {
    (void)state;
    check_moves(test_seed(77003), 2000, 1, 3, 3);
}

static void min_cost__is_as_cheap_on_meshes_of_four_dims(void **state) {
    (void)state;
    check_moves(test_seed(77004), 200, 4, 4, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(min_cost__is_as_cheap_as_a_search_over_everything),
        cmocka_unit_test(min_cost__is_as_cheap_on_meshes_of_four_dims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
