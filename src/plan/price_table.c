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

struct dt__price_table {
    dt__sharding to; /* the source with its partials reduced, so that all states are listed */
    dt__move move;
    dt__state_space space;
    const dt__rates *rates;
    dt__relaxation relaxation;
    dt__state_table states;
    int n_slots, *slots; /* nodes by their state, with open addressing; -1: empty */
    int n_open, *open;   /* nodes that are not settled */
    int next;            /* the nearest of them, as an index into `open`; -1: none can be reached */
    double next_cost;    /* its cost; no open node costs less */
    double write_us;     /* per byte: every step writes its result */
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
    self->open = DT__NEW_ARRAY(arena, int, n);
    if (!self->slots || !self->open)
        return DT_ERR_MEMORY;
    for (int i = 0; i < self->n_slots; i++)
        self->slots[i] = -1;
    for (int i = 0; i < n; i++) {
        int *slot = slot_of(self, &self->states.states[(int64_t)i * self->space.n_mesh_dims]);
        if (*slot >= 0)
            continue; /* without partials, the target is the source */
        *slot = i;
        self->open[self->n_open++] = i;
    }
    self->states.items[DT__STATE_NODE_SOURCE].cost = 0;
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

/* Settles the nearest open node: takes every step from it, and finds the next one. */
static void settle_next(dt__price_table *self) {
    int at = self->open[self->next], next = -1;
    const dt__state_node *from = &self->states.items[at];
    double min = INFINITY;
    self->open[self->next] = self->open[--self->n_open];
    for (int i = 0; i < self->n_open; i++) {
        dt__state_node *to = &self->states.items[self->open[i]];
        if (from->cost + to->bytes * self->write_us < to->cost) {
            int set = dt__state_node_changes(&self->states, from, to);
            double us =
                from->cost + dt__rates_price(self->rates, from->roles, to->roles, set, from->bytes, to->bytes);
            to->cost = us < to->cost ? us : to->cost;
        }
        if (to->cost < min) {
            min = to->cost;
            next = i;
        }
    }
    self->next = next;
    self->next_cost = min;
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
    while (self->next >= 0 && self->next_cost < fmin(target->cost, max_cost))
        settle_next(self);
    *us = target->cost <= self->next_cost || self->next < 0 ? target->cost : max_cost;
    return offer_exchange(arena, space, target->bytes, max_cost, us);
}
