/* SPDX-License-Identifier: Apache-2.0
 *
 * Dijkstra's algorithm from the source over all states, which continues only as far as the next question requires. Its
 * steps and prices are those of the exact search, so that a price is that of the plan which the minimum-cost planner
 * makes.
 */
#include "plan/price_table.h"

#include "base/hash.h"
#include "plan/cost.h"
#include "plan/min_cost_searches.h"
#include "plan/state_table.h"

#include <math.h>
#include <string.h>

enum { MAX_STATES = 4096 }; /* a step is priced from each state to each other one */

/* A node that is not settled, with what a step to it needs. */
typedef struct open_node {
    double bytes;    /* of the shard */
    uint64_t ids[2]; /* as in the state table */
    int at;          /* in the state table */
    dt__roles roles;
} open_node;

/* What a step from the node that is being settled costs, by the set of mesh dims that change and by whether some of
 * them become partial, cut or Replicate: the maximum of two lines over the bytes after it. */
enum { BECOMES_REPLICATE = 1, BECOMES_CUT = 2, BECOMES_PARTIAL = 4, N_ENDINGS = 8 };
typedef struct step_cost {
    double base, after, memory_base, memory;
} step_cost;

struct dt__price_table {
    dt__sharding to; /* the source with its partials reduced, so that all states are listed */
    dt__move move;
    dt__state_space space;
    const dt__rates *rates;
    dt__relaxation relaxation;
    dt__state_table states;
    int n_slots, *slots; /* nodes by their state, with open addressing; -1: empty */
    int n_open;
    open_node *open;
    double *costs;    /* of the best known route to each open node */
    step_cost *steps; /* by set and ending */
    int next;         /* the nearest open node; -1: none can be reached */
    double next_cost; /* its cost; no open node costs less */
    double write_us;  /* per byte: every step writes its result */
};

static int *slot_of(const dt__price_table *self, const dt__dim_state *state) {
    size_t bytes = (size_t)self->space.n_mesh_dims * sizeof *state;
    for (uint64_t i = dt__hash(state, bytes, 0);; i++) {
        int *slot = &self->slots[i & (uint64_t)(self->n_slots - 1)];
        if (*slot < 0 || !memcmp(&self->states.states[(int64_t)*slot * self->space.n_mesh_dims], state, bytes))
            return slot;
    }
}

static dt_status index_states(dt__price_table *self, dt__arena *arena) {
    int n = self->states.n;
    for (self->n_slots = 16; self->n_slots < 2 * n;)
        self->n_slots *= 2;
    self->slots = DT__NEW_ARRAY(arena, int, self->n_slots);
    self->open = DT__NEW_ARRAY(arena, open_node, n);
    self->steps = DT__NEW_ARRAY(arena, step_cost, N_ENDINGS << self->space.n_mesh_dims);
    self->costs = DT__NEW_ARRAY(arena, double, n);
    if (!self->slots || !self->open || !self->costs || !self->steps)
        return DT_ERR_MEMORY;
    self->states.items[DT__STATE_NODE_SOURCE].cost = 0;
    for (int i = 0; i < self->n_slots; i++)
        self->slots[i] = -1;
    for (int i = 0; i < n; i++) {
        int *slot = slot_of(self, &self->states.states[(int64_t)i * self->space.n_mesh_dims]);
        if (*slot >= 0)
            continue; /* without partials, the target is the source */
        const dt__state_node *node = &self->states.items[i];
        *slot = i;
        self->costs[self->n_open] = node->cost;
        self->open[self->n_open++] = (open_node){node->bytes, {node->ids[0], node->ids[1]}, i, node->roles};
    }
    self->write_us = dt__rates_min_write(1 << self->space.n_mesh_dims, self->rates);
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
    if (from->n_mesh_dims > DT__STATE_TABLE_MAX_MESH_DIMS || from->n_dims > DT__STATE_TABLE_MAX_DIMS)
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

/* As dt__rates_price. */
static step_cost step_cost_of(const dt__price_table *self, const dt__state_node *from, int set, int ending) {
    const step_cost none = {INFINITY, 0, 0, 0};
    bool cuts = ending & BECOMES_CUT, replicates = ending & BECOMES_REPLICATE;
    dt__roles roles = from->roles;
    dt__step_kind kind;
    if (ending & BECOMES_PARTIAL)
        return none;
    if (set & roles.partial) {
        if (set & ~roles.partial || (cuts && replicates))
            return none;
        kind = cuts ? DT__STEP_REDUCE_SCATTER : DT__STEP_ALL_REDUCE;
    } else if (!(set & ~roles.replicate))
        kind = DT__STEP_NONE;
    else
        kind = cuts ? DT__STEP_ALL_TO_ALL : DT__STEP_ALL_GATHER;
    const dt__rate *rate = &self->rates[set].of[kind];
    return (step_cost){rate->base + rate->before * from->bytes, rate->after, rate->memory_base, rate->memory};
}

static void fill_steps(dt__price_table *self, const dt__state_node *from) {
    for (int set = 0; set < 1 << self->space.n_mesh_dims; set++)
        for (int ending = 0; ending < N_ENDINGS && !(set & ~self->relaxation.dims); ending++)
            self->steps[set * N_ENDINGS + ending] = step_cost_of(self, from, set, ending);
}

static double step_us(const dt__price_table *self, const dt__state_node *from, const open_node *to) {
    int set = dt__nonzero_lanes(from->ids[0] ^ to->ids[0]);
    if (from->ids[1] != to->ids[1])
        set |= dt__nonzero_lanes(from->ids[1] ^ to->ids[1]) << 4;
    set &= self->relaxation.dims;
    int ending = (set & to->roles.replicate ? BECOMES_REPLICATE : 0) | (set & to->roles.cut ? BECOMES_CUT : 0) |
                 (set & to->roles.partial ? BECOMES_PARTIAL : 0);
    const step_cost *step = &self->steps[set * N_ENDINGS + ending];
    double us = step->base + step->after * to->bytes, memory_us = step->memory_base + step->memory * to->bytes;
    return us < memory_us ? memory_us : us;
}

/* Settles the nearest open node: takes every step from it, and finds the next one. */
static void settle_next(dt__price_table *self) {
    const dt__state_node *from = &self->states.items[self->open[self->next].at];
    double cost = from->cost, *costs = self->costs;
    self->open[self->next] = self->open[--self->n_open];
    costs[self->next] = costs[self->n_open];
    fill_steps(self, from);
    for (int i = 0; i < self->n_open; i++) {
        const open_node *to = &self->open[i];
        if (cost + to->bytes * self->write_us >= costs[i])
            continue;
        double us = cost + step_us(self, from, to);
        if (us < costs[i])
            costs[i] = self->states.items[to->at].cost = us;
    }
    self->next = dt__first_min(self->n_open, costs);
    self->next_cost = self->next < 0 ? INFINITY : costs[self->next];
}

/* Where a dim is shorter than the mesh, the ranks that hold something may have it already. */
static bool may_lack_nothing(const dt__state_space *space) {
    int64_t n_ranks = 1;
    for (int m = 0; m < space->n_mesh_dims; m++)
        n_ranks *= space->mesh[m];
    for (int d = 0; d < space->n_dims; d++)
        if (space->move->from->shape[d] < n_ranks)
            return true;
    return false;
}

/* One exchange of just the missing blocks competes, as in the planner. */
static dt_status offer_exchange(dt__arena *arena, const dt__state_space *space, double after_bytes, double max_cost,
                                double *us) {
    dt__change change;
    double exchange;
    dt__state_change(space, space->from, space->to, &change);
    const dt__link *link = change.spans_hosts ? &space->machine->min_between : &space->machine->min_within;
    double least =
        after_bytes / space->machine->min_copy_bytes_per_us + (may_lack_nothing(space) ? 0 : link->start_us);
    if (change.collective != DT__STEP_ALL_TO_ALL || least >= fmin(*us, max_cost))
        return DT_OK;
    DT__TRY(dt__exchange_us(arena, space, &exchange));
    *us = fmin(*us, exchange);
    return DT_OK;
}

dt_status dt__price_table_find(dt__price_table *self, dt__arena *arena, const dt__state_space *space, double max_cost,
                               double *us) {
    int at = is_plain(space) ? *slot_of(self, space->to) : -1;
    if (at < 0)
        return dt__min_cost_price(arena, space, max_cost, us);
    const dt__state_node *target = &self->states.items[at];
    double last_us = target->bytes * self->write_us; /* of the step into the target, at least */
    while (self->next >= 0 && self->next_cost + last_us < fmin(target->cost, max_cost))
        settle_next(self);
    *us = target->cost <= self->next_cost + last_us || self->next < 0 ? target->cost : max_cost;
    return offer_exchange(arena, space, target->bytes, max_cost, us);
}
