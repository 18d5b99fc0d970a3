/* SPDX-License-Identifier: Apache-2.0
 *
 * Random redistributions on meshes of up to 4 dims, by every planner, against sets of indices: plans begin at the
 * source and end at the target; in every step the members of each rank's group hold what it needs; received bytes,
 * the lower bound and the peak follow their definitions. The shards follow the definition in spec/brute.h.
 */
#include "spec/brute.h"

#include "plan/plan.h"

enum { N_MOVES = 1500, MAX_RANKS = 24 };

typedef struct pair {
    brute_case from, to;
    char text[1200];
} pair;

/* Placements on the mesh and shape of another case. */
static void random_side(uint64_t *random, const brute_case *like, brute_case *c) {
    *c = (brute_case){.n_mesh_dims = like->n_mesh_dims, .n_dims = like->n_dims};
    memcpy(c->mesh, like->mesh, sizeof c->mesh);
    memcpy(c->shape, like->shape, sizeof c->shape);
    for (int m = 0; m < c->n_mesh_dims; m++) {
        do
            c->placements[m] = brute_random_placement(random, c->n_dims, DT_SUM);
        while (dt_placement_is_partial(c->placements[m]));
        if (dt_placement_is_partial(like->placements[m]) && brute_below(random, 3) == 0)
            c->placements[m] = like->placements[m];
        bool is_sharded = dt_placement_is_shard(like->placements[m]) || dt_placement_is_strided(like->placements[m]);
        if (is_sharded && brute_below(random, 4) == 0) {
            c->placements[m] = like->placements[m];
            c->placements[m].ordered = false;
            c->placements[m].n_extents = 0;
        }
    }
    for (int d = 0; d < c->n_dims; d++) {
        brute_random_order(random, c, d);
        brute_random_extents(random, c, d);
    }
    brute_name(c);
}

static void random_pair(uint64_t *random, pair *out) {
    brute_random_case(random, MAX_RANKS, &out->from);
    random_side(random, &out->from, &out->to);
    snprintf(out->text, sizeof out->text, "%s to %s", out->from.text, out->to.text);
}

/* A state of a plan as a case. */
static void state_case(const brute_case *like, const dt_placement *placements, brute_case *out) {
    *out = (brute_case){.n_mesh_dims = like->n_mesh_dims, .n_dims = like->n_dims};
    memcpy(out->mesh, like->mesh, sizeof out->mesh);
    memcpy(out->shape, like->shape, sizeof out->shape);
    memcpy(out->placements, placements, (size_t)like->n_mesh_dims * sizeof *placements);
    for (int m = 0; m < out->n_mesh_dims; m++)
        if (dt__is_cut(&placements[m])) {
            out->order[placements[m].dim][placements[m].position] = m;
            out->n_order[placements[m].dim]++;
        }
}

/* The indices of each dim that each rank holds, as flags. */
typedef struct holdings {
    int64_t n_ranks;
    struct {
        bool has[BRUTE_MAX_DIMS][32];
        int64_t n[BRUTE_MAX_DIMS];
    } rank[MAX_RANKS];
} holdings;

static void find_holdings(const brute_case *c, holdings *out) {
    memset(out, 0, sizeof *out);
    out->n_ranks = brute_world(c);
    for (int64_t r = 0; r < out->n_ranks; r++) {
        int64_t coordinate[BRUTE_MAX_DIMS];
        brute_coordinate(c, r, coordinate);
        for (int d = 0; d < c->n_dims; d++) {
            brute_list list = brute_shard(c, d, coordinate);
            out->rank[r].n[d] = list.n;
            for (int i = 0; i < list.n; i++)
                out->rank[r].has[d][list.items[i]] = true;
        }
    }
}

static int64_t n_held(const brute_case *c, const holdings *h, int64_t r) {
    int64_t n = 1;
    for (int d = 0; d < c->n_dims; d++)
        n *= h->rank[r].n[d];
    return n;
}

static int64_t n_common(const brute_case *c, const holdings *a, const holdings *b, int64_t r) {
    int64_t n = 1;
    for (int d = 0; d < c->n_dims; d++) {
        int64_t common = 0;
        for (int64_t i = 0; i < c->shape[d]; i++)
            common += a->rank[r].has[d][i] && b->rank[r].has[d][i];
        n *= common;
    }
    return n;
}

static void assert_same_holdings(const char *name, const brute_case *c, const holdings *got,
                                 const holdings *expected) {
    for (int64_t r = 0; r < expected->n_ranks; r++)
        for (int d = 0; d < c->n_dims; d++)
            for (int64_t i = 0; i < c->shape[d]; i++)
                check_equal(name, got->rank[r].has[d][i], expected->rank[r].has[d][i]);
}

static bool holds(const brute_case *c, const holdings *h, int64_t r, const int64_t *index) {
    for (int d = 0; d < c->n_dims; d++)
        if (!h->rank[r].has[d][index[d]])
            return false;
    return true;
}

/* The role of each mesh dim in a step. */
typedef struct step_roles {
    bool changes[BRUTE_MAX_DIMS], reduces[BRUTE_MAX_DIMS], replicates[BRUTE_MAX_DIMS];
    int64_t reduced;  /* contributions to an element */
    int64_t replicas; /* ranks of the group with the same result */
} step_roles;

static step_roles roles_of(const brute_case *c, const dt_placement *before, const dt_placement *after, int n,
                           const int *mesh_dims) {
    step_roles out = {.reduced = 1, .replicas = 1};
    for (int i = 0; i < n; i++) {
        int m = mesh_dims[i];
        out.changes[m] = true;
        out.reduces[m] = dt_placement_is_partial(before[m]);
        out.replicates[m] = dt_placement_is_replicate(after[m]);
        out.reduced *= out.reduces[m] ? c->mesh[m] : 1;
        out.replicas *= out.replicates[m] ? c->mesh[m] : 1;
    }
    return out;
}

/* Every contribution to the element is held by some member of the rank's group. */
static void assert_reachable(const char *name, const brute_case *c, const step_roles *roles, const holdings *before,
                             int64_t r, const int64_t *index) {
    bool found[MAX_RANKS] = {false};
    int64_t n_found = 0, own[BRUTE_MAX_DIMS], other[BRUTE_MAX_DIMS];
    brute_coordinate(c, r, own);
    for (int64_t peer = 0; peer < before->n_ranks; peer++) {
        int64_t contribution = 0;
        bool member = holds(c, before, peer, index);
        brute_coordinate(c, peer, other);
        for (int m = 0; m < c->n_mesh_dims; m++) {
            member = member && (roles->changes[m] || own[m] == other[m]);
            contribution = roles->reduces[m] ? contribution * c->mesh[m] + other[m] : contribution;
        }
        if (member && !found[contribution]) {
            found[contribution] = true;
            n_found++;
        }
    }
    check_equal(name, n_found, roles->reduced);
}

static void assert_all_reachable(const char *name, const brute_case *c, const step_roles *roles,
                                 const holdings *before, const holdings *after) {
    int64_t elements = 1;
    for (int d = 0; d < c->n_dims; d++)
        elements *= c->shape[d];
    for (int64_t r = 0; r < after->n_ranks; r++)
        for (int64_t e = 0; e < elements; e++) {
            int64_t index[BRUTE_MAX_DIMS];
            for (int64_t left = e, d = c->n_dims - 1; d >= 0; left /= c->shape[d--])
                index[d] = left % c->shape[d];
            if (holds(c, after, r, index))
                assert_reachable(name, c, roles, before, r, index);
        }
}

/* Bytes of an element: large in every other redistribution, so that shards of few elements take two phases, too. */
static int64_t item_bytes = 4;

/* Whether a replica reduces only its portion: shards above 8 KiB, or 4 MiB for two values and two replicas. */
static bool in_portions(const brute_case *c, const step_roles *roles, const holdings *after) {
    int64_t largest[BRUTE_MAX_DIMS] = {0}, bytes = item_bytes;
    for (int d = 0; d < c->n_dims; d++) {
        for (int64_t r = 0; r < after->n_ranks; r++)
            largest[d] = after->rank[r].n[d] > largest[d] ? after->rank[r].n[d] : largest[d];
        bytes *= largest[d];
    }
    if (roles->reduced == 1 || roles->replicas == 1)
        return false;
    return bytes > (roles->reduced == 2 && roles->replicas == 2 ? 4194304 : 8192);
}

/* The dim that is portioned: the first with eight indices per replica, else the longest. */
static int portioned_dim(const brute_case *c, const holdings *after, int64_t r, int64_t replicas) {
    int longest = 0;
    for (int d = 0; d < c->n_dims; d++)
        if (after->rank[r].n[d] >= 8 * replicas)
            return d;
    for (int d = 0; d < c->n_dims; d++)
        longest = after->rank[r].n[d] > after->rank[r].n[longest] ? d : longest;
    return longest;
}

static int64_t replica_of(const brute_case *c, const step_roles *roles, int64_t r) {
    int64_t coordinate[BRUTE_MAX_DIMS], replica = 0;
    brute_coordinate(c, r, coordinate);
    for (int m = 0; m < c->n_mesh_dims; m++)
        replica = roles->replicates[m] ? replica * c->mesh[m] + coordinate[m] : replica;
    return replica;
}

/* The number of elements that the rank receives: every contribution to each element, except its own. In two phases it
 * receives contributions to its portion only, and the other portions reduced. */
static int64_t received_by(const brute_case *c, const step_roles *roles, const holdings *before,
                           const holdings *after, int64_t r) {
    int64_t n = 0, elements = 1;
    bool portions = in_portions(c, roles, after);
    int dim = portions ? portioned_dim(c, after, r, roles->replicas) : 0;
    int64_t width = portions ? (after->rank[r].n[dim] + roles->replicas - 1) / roles->replicas : 0;
    for (int d = 0; d < c->n_dims; d++)
        elements *= c->shape[d];
    for (int64_t e = 0; e < elements; e++) {
        int64_t index[BRUTE_MAX_DIMS], nth = 0;
        for (int64_t left = e, d = c->n_dims - 1; d >= 0; left /= c->shape[d--])
            index[d] = left % c->shape[d];
        if (!holds(c, after, r, index))
            continue;
        for (int64_t i = 0; portions && i < index[dim]; i++)
            nth += after->rank[r].has[dim][i];
        bool own = !portions || nth / width == replica_of(c, roles, r);
        n += own ? roles->reduced - holds(c, before, r, index) : 1;
    }
    return n;
}

/* Flows add up to the number of elements that the rank receives; in one phase, senders hold what they send. */
static void check_flows(const char *name, const brute_case *c, const dt__transfer *transfer, const holdings *before,
                        const holdings *after, int64_t r, int64_t expected) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    dt__flows flows;
    int64_t total = 0;
    int64_t n_flows = -1;
    check_equal(name, dt__flows_new(&arena, transfer, r, &flows), DT_OK);
    check_equal(name, dt__flows_count(&arena, transfer, r, &n_flows), DT_OK);
    check_equal(name, n_flows, flows.n);
    for (int64_t i = 0; i < flows.n; i++) {
        int64_t sender = flows.items[i].sender, common = 1;
        total += flows.items[i].elements;
        assert_true(sender != r && (i == 0 || sender > flows.items[i - 1].sender));
        for (int d = 0; d < c->n_dims; d++) {
            int64_t n = 0;
            for (int64_t j = 0; j < c->shape[d]; j++)
                n += before->rank[sender].has[d][j] && after->rank[r].has[d][j];
            common *= n;
        }
        if (!transfer->two_phases)
            check_equal(name, flows.items[i].elements, common);
    }
    check_equal(name, total, expected);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
}

typedef struct sums {
    int64_t total[MAX_RANKS], peak;
} sums;

static void check_step(const pair *p, const dt__plan *plan, int i, const holdings *source, const holdings *target,
                       sums *all) {
    static holdings before, after;
    brute_case a, b;
    const dt__plan_step *step = &plan->steps[i];
    state_case(&p->from, step->before, &a);
    state_case(&p->from, step->after, &b);
    find_holdings(&a, &before);
    find_holdings(&b, &after);
    step_roles roles = roles_of(&a, step->before, step->after, step->n_mesh_dims, step->mesh_dims);
    for (int m = 0; m < a.n_mesh_dims; m++) /* mesh dims that are not in the list do not change */
        if (!roles.changes[m]) {
            check_equal(p->text, step->before[m].kind, step->after[m].kind);
            check_equal(p->text, step->before[m].dim, step->after[m].dim);
        }
    assert_all_reachable(p->text, &a, &roles, &before, &after);
    int64_t max = 0;
    for (int64_t r = 0; r < before.n_ranks; r++) {
        int64_t n = received_by(&a, &roles, &before, &after, r);
        check_flows(p->text, &a, step->transfer, &before, &after, r, n);
        int64_t peak = n_held(&a, source, r) + n_held(&a, target, r) + (i ? n_held(&a, &before, r) : 0) +
                       (i + 1 < plan->n_steps ? n_held(&a, &after, r) : 0);
        max = n > max ? n : max;
        all->peak = peak > all->peak ? peak : all->peak;
        all->total[r] += n;
    }
    check_equal(p->text, step->bytes, item_bytes * max);
    if (max)
        check_equal(p->text, received_by(&a, &roles, &before, &after, step->busiest), max);
    if (step->collective == DT__STEP_NONE)
        check_equal(p->text, step->bytes, 0);
}

static int64_t lower_bound(const pair *p, const holdings *source, const holdings *target) {
    int64_t max = 0, n_contributions = 1;
    for (int m = 0; m < p->from.n_mesh_dims; m++)
        if (dt_placement_is_partial(p->from.placements[m]) && !dt_placement_is_partial(p->to.placements[m]))
            n_contributions *= p->from.mesh[m];
    for (int64_t r = 0; r < source->n_ranks; r++) {
        int64_t held = n_held(&p->to, target, r);
        int64_t n = n_contributions > 1 ? held : held - n_common(&p->to, source, target, r);
        max = n > max ? n : max;
    }
    return max;
}

static void check_plan(const pair *p, const dt__plan *plan) {
    static holdings source, target, state;
    brute_case last;
    sums all = {{0}, 0};
    find_holdings(&p->from, &source);
    find_holdings(&p->to, &target);
    state_case(&p->from, plan->source, &last);
    find_holdings(&last, &state);
    assert_same_holdings(p->text, &p->from, &state, &source);
    const dt_placement *end = plan->n_steps ? plan->steps[plan->n_steps - 1].after : plan->source;
    state_case(&p->from, end, &last);
    find_holdings(&last, &state);
    assert_same_holdings(p->text, &p->from, &state, &target);
    for (int m = 0; m < p->to.n_mesh_dims; m++)
        check_equal(p->text, dt_placement_is_partial(end[m]), dt_placement_is_partial(p->to.placements[m]));
    int64_t max = 0;
    for (int64_t r = 0; r < source.n_ranks; r++)
        all.peak = n_held(&p->from, &source, r) > all.peak ? n_held(&p->from, &source, r) : all.peak;
    for (int i = 0; i < plan->n_steps; i++)
        check_step(p, plan, i, &source, &target, &all);
    for (int64_t r = 0; r < source.n_ranks; r++)
        max = all.total[r] > max ? all.total[r] : max;
    check_equal(p->text, plan->bytes, item_bytes * max);
    check_equal(p->text, plan->peak_bytes, item_bytes * all.peak);
    check_equal(p->text, plan->lower_bound_bytes, item_bytes * lower_bound(p, &source, &target));
}

/* Sets *exchanges if the plan is one all-to-all. */
static double plan_cost(dt__arena *arena, const pair *p, dt__planner planner, bool *exchanges) {
    dt__sharding from = brute_sharding(arena, &p->from), to = brute_sharding(arena, &p->to);
    dt__plan plan;
    if (dt__plan_new(arena, &(dt__move){.from = &from, .to = &to, .item_bytes = item_bytes}, planner,
                     &dt__machine_builtin, &plan) != DT_OK)
        fail_msg("%s, %s: %s", p->text, dt__planner_name(planner), dt_error_text(arena->ctx));
    check_plan(p, &plan);
    if (plan.bytes < plan.lower_bound_bytes)
        fail_msg("%s, %s: %" PRId64 " bytes are below the lower bound %" PRId64, p->text, dt__planner_name(planner),
                 plan.bytes, plan.lower_bound_bytes);
    *exchanges = plan.n_steps == 1 && plan.steps[0].collective == DT__STEP_ALL_TO_ALL;
    return plan.cost_us;
}

static void random_moves__match_the_definitions(void **state) {
    uint64_t random = test_seed(20260);
    dt_ctx *ctx = dt__ctx_new(NULL);
    (void)state;
    for (int i = 0; i < N_MOVES; i++) {
        static pair p;
        double cost[DT__N_PLANNERS];
        bool exchanges = false;
        dt__arena arena = dt__arena_new(ctx);
        item_bytes = i % 2 ? 4 : 1000;
        random_pair(&random, &p);
        for (int planner = 0; planner < DT__N_PLANNERS; planner++)
            cost[planner] = plan_cost(&arena, &p, (dt__planner)planner, &exchanges);
        for (int planner = 0; planner < DT__PLANNER_MIN_COST; planner++)
            if (cost[DT__PLANNER_MIN_COST] > cost[planner] * (1 + 1e-9))
                fail_msg("%s: min_cost takes %g us, %s %g", p.text, cost[DT__PLANNER_MIN_COST],
                         dt__planner_name((dt__planner)planner), cost[planner]);
        if (exchanges && cost[DT__PLANNER_MIN_COST] > cost[DT__PLANNER_DIRECT] * (1 + 1e-9))
            fail_msg("%s: min_cost takes %g us, direct %g", p.text, cost[DT__PLANNER_MIN_COST],
                     cost[DT__PLANNER_DIRECT]);
        dt__arena_free(&arena);
    }
    dt__ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_moves__match_the_definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
