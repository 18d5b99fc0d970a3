/* SPDX-License-Identifier: Apache-2.0
 *
 * Dijkstra's algorithm from the source over all states, which continues only as far as the next query requires. Its
 * steps and prices are those of the exact search, so a price equals that of the minimum-cost planner's plan.
 *
 * The first nodes are expanded into all others. When more of them turn out to be needed, upper bounds of all costs are
 * found first: most sets of mesh dims are then too expensive for a step, and for each of the others an index lists the
 * nodes that such a step leads to.
 */
#include "plan/price_table.h"

#include "base/hash.h"
#include "plan/cost.h"
#include "plan/min_cost_searches.h"
#include "plan/state_table.h"

#include <math.h>
#include <string.h>

enum { MAX_STATES = 4096 };                             /* a step may be priced from each state to each other one */
enum { N_EXPANDED_INTO_ALL = 8, MAX_INDEXED_DIMS = 4 }; /* mesh dims */
enum { BLOCK = 64, REVIEW = 32 };
static const double ROUNDING = 1e-9; /* relative: a smaller difference counts as equal */

/* What a step from the node that is being expanded costs, by the set of mesh dims that change and by whether some of
 * them become partial, cut or Replicate: the maximum of two lines over the bytes after it. */
enum { BECOMES_REPLICATE = 1, BECOMES_CUT = 2, BECOMES_PARTIAL = 4, N_ENDINGS = 8 };
typedef struct step_cost {
    double base, after, memory_base, memory;
} step_cost;
static const step_cost no_step = {INFINITY, 0, 0, 0};

/* All nodes, those together that agree outside a set of mesh dims: list h, by a hash of what they agree in, is nodes
 * ends[h - 1] to ends[h] - 1. */
typedef struct set_index {
    bool made;
    int16_t *ends, *nodes;
} set_index;

struct dt__price_table {
    dt__sharding to; /* the source with its partials reduced, so that all states are listed */
    dt__move move;
    dt__state_space space;
    const dt__rates *rates;
    dt__relaxation relaxation;
    dt__state_table states;
    int n_slots, *slots;  /* nodes by their state, with open addressing; -1: empty */
    int n_lists;          /* of each index */
    double *open_costs;   /* of the best known route to each node; infinite once it is settled */
    double *block_minima; /* of each BLOCK of these */
    int next;             /* the nearest open node; -1: none can be reached */
    double next_cost;     /* its cost; no open node costs less */
    double farthest;      /* no open node costs more */
    int n_settled;        /* nodes */
    step_cost *steps;     /* by set and ending */
    step_cost *least;     /* by set: no step costs less, with the cost of the node that is being expanded */
    set_index *indices;   /* by set; NULL: there are too many */
    double write_us;      /* per byte: every step writes its result */
    double collective_us, collective_write_us; /* no collective costs less: in all, and per byte of its result */
    bool has_unit_dims;                        /* mesh dims of one rank */
};

static int *slot_of(const dt__price_table *self, const dt__dim_state *state) {
    size_t bytes = (size_t)self->space.n_mesh_dims * sizeof *state;
    for (uint64_t i = dt__hash(state, bytes, 0);; i++) {
        int *slot = &self->slots[i & (uint64_t)(self->n_slots - 1)];
        if (*slot < 0 || !memcmp(&self->states.states[(int64_t)*slot * self->space.n_mesh_dims], state, bytes))
            return slot;
    }
}

static void find_least_collective(dt__price_table *self) {
    int dims = self->relaxation.dims;
    self->has_unit_dims = dims != (1 << self->space.n_mesh_dims) - 1;
    self->collective_us = self->collective_write_us = INFINITY;
    for (int set = 1; set <= dims; set++)
        for (int kind = DT__STEP_NONE + 1; kind < DT__N_STEP_KINDS && !(set & ~dims); kind++) {
            self->collective_us = fmin(self->collective_us, self->rates[set].of[kind].base);
            self->collective_write_us = fmin(self->collective_write_us, self->rates[set].of[kind].after);
        }
}

static dt_status reserve_indices(dt__price_table *self, dt__arena *arena) {
    int n_sets = 1 << self->space.n_mesh_dims;
    if (self->space.n_mesh_dims > MAX_INDEXED_DIMS)
        return DT_OK;
    self->indices = DT__NEW_ARRAY(arena, set_index, n_sets);
    self->n_lists = self->n_slots / 2; /* a few nodes each; all lists of an index are visited when it is made */
    int16_t *lists = DT__NEW_ARRAY(arena, int16_t, n_sets * (self->n_lists + 1 + self->states.n));
    if (!self->indices || !lists)
        return DT_ERR_MEMORY;
    for (int set = 0; set < n_sets; set++, lists += self->n_lists + 1 + self->states.n)
        self->indices[set] = (set_index){.ends = lists + 1, .nodes = lists + self->n_lists + 1};
    return DT_OK;
}

static dt_status index_states(dt__price_table *self, dt__arena *arena) {
    int n = self->states.n, n_sets = 1 << self->space.n_mesh_dims;
    for (self->n_slots = 16; self->n_slots < 2 * n;)
        self->n_slots *= 2;
    self->slots = DT__NEW_ARRAY(arena, int, self->n_slots);
    self->open_costs = DT__NEW_ARRAY(arena, double, n);
    self->block_minima = DT__NEW_ARRAY(arena, double, n / BLOCK + 1);
    self->steps = DT__NEW_ARRAY(arena, step_cost, N_ENDINGS * n_sets);
    self->least = DT__NEW_ARRAY(arena, step_cost, n_sets);
    if (!self->slots || !self->open_costs || !self->block_minima || !self->steps || !self->least)
        return DT_ERR_MEMORY;
    DT__TRY(reserve_indices(self, arena));
    for (int i = 0; i < N_ENDINGS * n_sets; i++)
        self->steps[i] = no_step;
    for (int i = 0; i < n_sets; i++)
        self->least[i] = no_step;
    for (int i = 0; i < self->n_slots; i++)
        self->slots[i] = -1;
    for (int i = 0; i <= n / BLOCK; i++)
        self->block_minima[i] = INFINITY;
    for (int i = 0; i < n; i++) {
        int *slot = slot_of(self, &self->states.states[(int64_t)i * self->space.n_mesh_dims]);
        *slot = *slot < 0 ? i : *slot; /* without partials, the target is the source */
        self->open_costs[i] = INFINITY;
    }
    self->states.items[DT__STATE_NODE_SOURCE].cost = self->open_costs[DT__STATE_NODE_SOURCE] = 0;
    self->farthest = INFINITY;
    self->write_us = dt__rates_min_write(n_sets, self->rates);
    find_least_collective(self);
    return DT_OK;
}

static dt_status list_states(dt__price_table *self, dt__arena *arena, bool *fits) {
    self->rates = dt__rates_new(arena, &self->space);
    if (!self->rates)
        return DT_ERR_MEMORY;
    DT__TRY(dt__relaxation_new(arena, &self->space, self->rates, &self->relaxation));
    DT__TRY(dt__state_table_new(arena, &self->space, &self->relaxation, &self->states));
    for (int i = DT__RELAXED_OTHERS; i < self->relaxation.n && self->states.n <= MAX_STATES; i++)
        DT__TRY(dt__state_table_add_family(&self->states, &self->relaxation.states[i]));
    *fits = self->states.n <= MAX_STATES && !self->states.too_many;
    return DT_OK;
}

/* Without strided shards and explicit extents: a target may only have what every table lists. */
static bool is_plain(const dt__state_space *space) {
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (dt__token_is_special(space, space->from[m].token) || dt__token_is_special(space, space->to[m].token))
            return false;
    return !space->strided;
}

/* Most routes of a tensor without elements cost the same; the planner's search decides which one is taken. */
static bool is_empty(const dt__sharding *from) {
    for (int d = 0; d < from->n_dims; d++)
        if (from->shape[d] == 0)
            return true;
    return false;
}

static dt_status build(dt__arena *arena, const dt__sharding *from, dt__sharding *out) {
    dt_placement reduced[DT_SPEC_MAX_DIMS];
    for (int m = 0; m < from->n_mesh_dims; m++)
        reduced[m] = dt_placement_is_partial(from->placements[m]) ? dt_placement_replicate() : from->placements[m];
    return dt__sharding_build(arena,
                              &(dt__sharding_desc){.n_mesh_dims = from->n_mesh_dims,
                                                   .mesh = from->mesh,
                                                   .n_dims = from->n_dims,
                                                   .shape = from->shape,
                                                   .n_placements = from->n_mesh_dims,
                                                   .placements = reduced},
                              out);
}

dt_status dt__price_table_new(dt__arena *arena, const dt__sharding *from, int64_t item_bytes,
                              const dt__machine *machine, dt__price_table **out) {
    dt__price_table *self = DT__NEW(arena, dt__price_table);
    bool fits = false;
    *out = NULL;
    if (from->n_mesh_dims > DT__STATE_TABLE_MAX_MESH_DIMS || from->n_dims > DT__STATE_TABLE_MAX_DIMS ||
        is_empty(from))
        return DT_OK;
    if (!self)
        return DT_ERR_MEMORY;
    DT__TRY(build(arena, from, &self->to));
    self->move = (dt__move){.from = from, .to = &self->to, .item_bytes = item_bytes};
    dt__state_space_new(&self->move, machine, &self->space);
    if (!is_plain(&self->space))
        return DT_OK;
    DT__TRY(list_states(self, arena, &fits));
    if (!fits)
        return DT_OK;
    DT__TRY(index_states(self, arena));
    *out = self;
    return DT_OK;
}

/* As dt__rates_price, where no mesh dim becomes partial. */
static step_cost step_cost_of(const dt__price_table *self, const dt__state_node *from, int set, int ending) {
    bool cuts = ending & BECOMES_CUT, replicates = ending & BECOMES_REPLICATE;
    dt__roles roles = from->roles;
    dt__step_kind kind;
    if (set & roles.partial) {
        if (set & ~roles.partial || (cuts && replicates))
            return no_step;
        kind = cuts ? DT__STEP_REDUCE_SCATTER : DT__STEP_ALL_REDUCE;
    } else if (!(set & ~roles.replicate))
        kind = DT__STEP_NONE;
    else
        kind = cuts ? DT__STEP_ALL_TO_ALL : DT__STEP_ALL_GATHER;
    const dt__rate *rate = &self->rates[set].of[kind];
    return (step_cost){rate->base + rate->before * from->bytes, rate->after, rate->memory_base, rate->memory};
}

/* A set may be empty: mesh dims of one rank change. */
static void fill_steps(dt__price_table *self, const dt__state_node *from) {
    for (int set = 0; set <= self->relaxation.dims; set++) {
        double base = INFINITY, after = INFINITY;
        if (set & ~self->relaxation.dims)
            continue;
        for (int ending = set ? BECOMES_REPLICATE : 0; ending < (set ? BECOMES_PARTIAL : 1); ending++) {
            step_cost *step = &self->steps[set * N_ENDINGS + ending];
            *step = step_cost_of(self, from, set, ending);
            base = step->base < base ? step->base : base;
            after = step->after < after ? step->after : after;
        }
        self->least[set] = (step_cost){.base = from->cost + base, .after = after};
    }
}

static bool may_be_cheaper(const step_cost *least, const dt__state_node *to) {
    return least->base + least->after * to->bytes < to->cost;
}

/* Takes the step over this set of mesh dims to a node if it is the cheapest so far. */
static void take_step(dt__price_table *self, const dt__state_node *from, int set, int at) {
    dt__state_node *to = &self->states.items[at];
    int ending = (set & to->roles.replicate ? BECOMES_REPLICATE : 0) | (set & to->roles.cut ? BECOMES_CUT : 0) |
                 (set & to->roles.partial ? BECOMES_PARTIAL : 0);
    const step_cost *step = &self->steps[set * N_ENDINGS + ending];
    double us = step->base + step->after * to->bytes, memory_us = step->memory_base + step->memory * to->bytes;
    us = from->cost + (us < memory_us ? memory_us : us);
    if (us >= to->cost)
        return;
    to->cost = self->open_costs[at] = us;
    to->parent = (int)(from - self->states.items);
    self->block_minima[at / BLOCK] = fmin(self->block_minima[at / BLOCK], us);
}

static void expand_into_all(dt__price_table *self, const dt__state_node *from) {
    fill_steps(self, from);
    for (int i = 0; i < self->states.n; i++) {
        int set = dt__state_node_changes(&self->states, from, &self->states.items[i]);
        if (may_be_cheaper(&self->least[set], &self->states.items[i]))
            take_step(self, from, set, i);
    }
}

static uint64_t ids_outside(const dt__price_table *self, int set) {
    uint64_t ids = 0;
    for (int m = 0; m < self->space.n_mesh_dims; m++)
        ids |= (self->relaxation.dims & ~set) >> m & 1 ? UINT64_C(0xffff) << m * 16 : 0;
    return ids;
}

static int list_of(const dt__price_table *self, uint64_t ids) {
    return (int)(ids * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (uint64_t)(self->n_lists - 1));
}

/* Counts the nodes of each list, and places them from its end to its begin. */
static const set_index *index_of(dt__price_table *self, int set, uint64_t outside) {
    set_index *index = &self->indices[set];
    int16_t *ends = index->ends;
    if (index->made)
        return index;
    index->made = true;
    for (int i = 0; i < self->states.n; i++)
        ends[list_of(self, self->states.items[i].ids[0] & outside)]++;
    for (int h = 1; h < self->n_lists; h++)
        ends[h] = (int16_t)(ends[h] + ends[h - 1]);
    for (int i = 0; i < self->states.n; i++)
        index->nodes[--ends[list_of(self, self->states.items[i].ids[0] & outside)]] = (int16_t)i;
    memmove(ends - 1, ends, (size_t)self->n_lists * sizeof *ends); /* begins have become ends of the lists before */
    ends[self->n_lists - 1] = (int16_t)self->states.n;
    return index;
}

/* As expand_into_all, where all open nodes have a route. */
static void expand_into_near(dt__price_table *self, const dt__state_node *from) {
    fill_steps(self, from);
    for (int set = 0; set <= self->relaxation.dims; set++) {
        if (set & ~self->relaxation.dims || self->least[set].base >= self->farthest)
            continue;
        uint64_t outside = ids_outside(self, set);
        const set_index *index = index_of(self, set, outside);
        int list = list_of(self, from->ids[0] & outside);
        for (int k = index->ends[list - 1]; k < index->ends[list]; k++) {
            int i = index->nodes[k];
            const dt__state_node *to = &self->states.items[i];
            if (may_be_cheaper(&self->least[set], to) && dt__state_node_changes(&self->states, from, to) == set)
                take_step(self, from, set, i);
        }
    }
}

static void find_farthest(dt__price_table *self) {
    self->farthest = 0;
    for (int i = 0; i < self->states.n; i++)
        self->farthest = fmax(self->farthest, self->states.items[i].cost);
}

/* The source with a set of mesh dims made Replicate. */
static void make_replicate(const dt__state_space *space, int set, dt__dim_state *out) {
    for (int m = 0; m < space->n_mesh_dims; m++) {
        int position = 0;
        for (int other = 0; other < space->n_mesh_dims; other++)
            position += !(set >> other & 1) && space->from[other].token == space->from[m].token &&
                        space->from[other].position < space->from[m].position;
        out[m] = set >> m & 1 ? (dt__dim_state){DT__TOKEN_REPLICATE, 0}
                              : (dt__dim_state){space->from[m].token, (uint8_t)position};
    }
}

/* Upper bounds of all costs: over the states in which some mesh dims of the source have become Replicate to the one in
 * which all have, and from there without communication. */
static void bound_costs(dt__price_table *self) {
    int n_sets = 1 << self->space.n_mesh_dims, nodes[1 << MAX_INDEXED_DIMS];
    for (int set = 0; set < n_sets; set++) {
        dt__dim_state state[MAX_INDEXED_DIMS];
        make_replicate(&self->space, set, state);
        nodes[set] = *slot_of(self, state);
    }
    for (int set = 0; set < n_sets; set++) {
        if (nodes[set] < 0)
            continue;
        const dt__state_node *from = &self->states.items[nodes[set]];
        fill_steps(self, from);
        for (int more = set + 1; more < n_sets; more++)
            if (nodes[more] >= 0)
                take_step(self, from, dt__state_node_changes(&self->states, from, &self->states.items[nodes[more]]),
                          nodes[more]);
    }
    if (nodes[n_sets - 1] >= 0)
        expand_into_all(self, &self->states.items[nodes[n_sets - 1]]);
}

static void find_next(dt__price_table *self) {
    int n = self->states.n, block = dt__first_min(n / BLOCK + 1, self->block_minima);
    self->next = -1;
    self->next_cost = INFINITY;
    if (block < 0)
        return;
    int first = block * BLOCK, size = n - first < BLOCK ? n - first : BLOCK;
    self->next = first + dt__first_min(size, &self->open_costs[first]);
    self->next_cost = self->open_costs[self->next];
}

static void settle(dt__price_table *self, int at) {
    int first = at / BLOCK * BLOCK, end = first + BLOCK < self->states.n ? first + BLOCK : self->states.n;
    double min = INFINITY;
    self->open_costs[at] = INFINITY;
    for (int i = first; i < end; i++)
        min = self->open_costs[i] < min ? self->open_costs[i] : min;
    self->block_minima[at / BLOCK] = min;
    self->n_settled++;
}

/* Settles the nearest open node: takes every step from it, and finds the next one. */
static void settle_next(dt__price_table *self) {
    const dt__state_node *from = &self->states.items[self->next];
    settle(self, self->next);
    if (self->indices && self->n_settled == N_EXPANDED_INTO_ALL)
        bound_costs(self);
    if (self->indices && self->n_settled >= N_EXPANDED_INTO_ALL) {
        if (self->n_settled % REVIEW == N_EXPANDED_INTO_ALL)
            find_farthest(self);
        expand_into_near(self, from);
    } else
        expand_into_all(self, from);
    find_next(self);
}

/* One exchange of just the missing blocks competes, as in the planner; *exchanges: it is cheaper. */
static dt_status offer_exchange(dt__arena *arena, const dt__state_space *space, double after_bytes, double max_cost,
                                double *us, bool *exchanges) {
    double exchange;
    double least = after_bytes / space->machine->min_copy_bytes_per_us;
    if (least >= fmin(*us, max_cost) || !dt__exchange_may_cost_less(space, fmin(*us, max_cost)))
        return DT_OK;
    DT__TRY(dt__exchange_us(arena, space, &exchange));
    *exchanges = exchange < *us * (1 - ROUNDING);
    *us = fmin(*us, exchange);
    return DT_OK;
}

/* The nodes from which the target is one step without communication: without some of its cuts, each the last of its
 * tensor dim. */
enum { MAX_UNCUT = 1 << DT__STATE_TABLE_MAX_MESH_DIMS };
typedef struct uncut_list {
    int n;
    const dt__state_node *nodes[MAX_UNCUT];
    double step_us[MAX_UNCUT];
} uncut_list;

/* Whether the other cuts of each tensor dim come first. */
static bool are_last_cuts(const dt__state_space *space, const dt__dim_state *state, int set) {
    for (int m = 0; m < space->n_mesh_dims; m++)
        for (int other = 0; other < space->n_mesh_dims && set >> m & 1; other++) {
            int token = state[other].token;
            if (!(set >> other & 1) && dt__token_is_cut(space, token) && token == state[m].token &&
                state[other].position > state[m].position)
                return false;
        }
    return true;
}

static void list_uncut(const dt__price_table *self, const dt__dim_state *state, const dt__state_node *target,
                       uncut_list *out) {
    const dt__state_space *space = &self->space;
    int cuts = target->roles.cut;
    for (int set = cuts; set; set = (set - 1) & cuts) {
        dt__dim_state uncut[DT__STATE_TABLE_MAX_MESH_DIMS];
        if (!are_last_cuts(space, state, set))
            continue;
        for (int m = 0; m < space->n_mesh_dims; m++)
            uncut[m] = set >> m & 1 ? (dt__dim_state){DT__TOKEN_REPLICATE, 0} : state[m];
        int at = *slot_of(self, uncut);
        if (at < 0)
            continue;
        const dt__state_node *node = &self->states.items[at];
        out->nodes[out->n] = node;
        out->step_us[out->n++] =
            dt__rates_price(self->rates, node->roles, target->roles, set, node->bytes, target->bytes);
    }
}

static double best_route(const uncut_list *uncut, const dt__state_node *target) {
    double best = target->cost;
    for (int i = 0; i < uncut->n; i++)
        best = fmin(best, uncut->nodes[i]->cost + uncut->step_us[i]);
    return best;
}

/* The node before the target on the route of this cost. */
static int last_stop(const dt__price_table *self, const uncut_list *uncut, const dt__state_node *target,
                     double best) {
    for (int i = 0; i < uncut->n && target->cost > best; i++)
        if (uncut->nodes[i]->cost + uncut->step_us[i] <= best)
            return (int)(uncut->nodes[i] - self->states.items);
    return target->parent;
}

static dt_status add_path(const dt__price_table *self, int at, dt__route *out) {
    if (at < 0)
        return DT_OK;
    DT__TRY(add_path(self, self->states.items[at].parent, out));
    return dt__route_add(out, &self->space, &self->states.states[(int64_t)at * self->space.n_mesh_dims]);
}

/* A route that no open node's cost shows yet has a collective from an open node, and then at most a copy: two copies in
 * turn are one, which costs less. So the search ends earlier than where it has settled all nodes that cost less than
 * the target. */
dt_status dt__price_table_find(dt__price_table *self, dt__arena *arena, const dt__state_space *space, double max_cost,
                               dt__route *route, double *us) {
    int at = is_plain(space) ? *slot_of(self, space->to) : -1;
    bool exchanges = false;
    if (at < 0) {
        dt__route searched = {.arena = arena};
        return dt__min_cost_route(space, max_cost, route ? route : &searched, us);
    }
    const dt__state_node *target = &self->states.items[at];
    double last_us = target->bytes * self->write_us; /* of the step into the target, at least */
    uncut_list uncut;
    uncut.n = 0;
    if (!self->has_unit_dims) {
        list_uncut(self, space->to, target, &uncut);
        last_us = self->collective_us + target->bytes * self->collective_write_us;
    }
    double best = best_route(&uncut, target);
    while (self->next >= 0 && self->next_cost + last_us < fmin(best, max_cost)) {
        settle_next(self);
        best = best_route(&uncut, target);
    }
    *us = best <= self->next_cost + last_us || self->next < 0 ? best : max_cost;
    DT__TRY(offer_exchange(arena, space, target->bytes, max_cost, us, &exchanges));
    if (!route || *us >= max_cost)
        return DT_OK;
    if (exchanges)
        return dt__plan_direct(space, route);
    DT__TRY(add_path(self, last_stop(self, &uncut, target, best), route));
    return dt__route_add(route, space, space->to);
}
