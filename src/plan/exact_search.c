/* SPDX-License-Identifier: Apache-2.0
 *
 * The exact search: best first, with every step from every state. The relaxation (relaxation.h) bounds the remaining
 * cost of each state, and the cost of a step to any state of a *family*: the states that one relaxed state
 * represents. So a state is expanded family by family, the lowest bound first, and a family is listed when it is
 * first expanded into. The search ends when no open bound is below the best known cost, so the result is that of a
 * search over all states.
 */
#include "plan/min_cost_searches.h"

#include "plan/state_table.h"

#include <string.h>

enum { SCRATCH_BYTES = 1 << 15 };      /* most searches need no more */
enum { MAX_RELAXED_STATES = 1 << 13 }; /* finding their remaining costs takes the square of this */

static const double ROUNDING = 1e-9; /* relative: a smaller difference counts as equal */
static const double EAGERNESS = 0.2; /* extra weight of the remaining cost: see next_node */
static const double TOGETHER = 0.01; /* relative: families with nearly the same bound are expanded together */

/* The nodes of one relaxed state. */
typedef struct family {
    const dt__relaxed_state *relaxed;
    bool listed;
    int first, end;
} family;

typedef struct exact {
    const dt__state_space *space;
    dt__arena *arena;
    const dt__rates *rates;
    dt__relaxation relaxation;
    dt__state_table table;
    int n_families;
    family *families;
    int n_open, open_capacity;
    int *open;       /* nodes */
    double max_cost; /* routes that cost this much or more are of no use */
    bool too_many;
    dt_status status;
} exact;

static inline double step_price(const exact *self, const dt__state_node *a, const dt__state_node *b) {
    int set = dt__state_node_changes(&self->table, a, b);
    return dt__rates_price(self->rates, a->roles, b->roles, set, a->bytes, b->bytes);
}

static bool is_cheap(const exact *self, double us) { return us < self->max_cost * (1 - ROUNDING); }

/* Takes the best open node; -1: none that may lead to a cheap route. The remaining cost gets extra weight, because a
 * route near its end soon lowers max_cost. */
static int next_node(exact *self) {
    int n = 0, best = -1;
    double best_rank = INFINITY;
    for (int i = 0; i < self->n_open; i++) {
        dt__state_node *one = &self->table.items[self->open[i]];
        double rank = one->bound + EAGERNESS * one->relaxed->remaining;
        one->open = is_cheap(self, one->bound);
        if (!one->open)
            continue;
        if (rank < best_rank) {
            best = n;
            best_rank = rank;
        }
        self->open[n++] = self->open[i];
    }
    self->n_open = n;
    if (best < 0)
        return -1;
    int at = self->open[best];
    self->open[best] = self->open[--self->n_open];
    self->table.items[at].open = false;
    return at;
}

static void open_node(exact *self, int at, double bound, double expanded_to) {
    dt__state_node *one = &self->table.items[at];
    one->bound = bound;
    one->expanded_to = expanded_to;
    if (!one->open)
        self->open[self->n_open++] = at;
    one->open = true;
}

/* The node is reached at this cost; from there the target is one more step. */
static void reach(exact *self, int at, int parent, double cost) {
    dt__state_node *one = &self->table.items[at], *target = &self->table.items[DT__STATE_NODE_TARGET];
    one->cost = cost;
    one->parent = parent;
    open_node(self, at, cost + one->relaxed->remaining, 0);
    double us = cost + step_price(self, one, target);
    if (!is_cheap(self, us))
        return;
    self->max_cost = target->cost = us;
    target->parent = at;
}

/* Every node may be open at once. */
static dt_status reserve(exact *self) {
    if (self->open_capacity >= self->table.capacity)
        return DT_OK;
    int *open = DT__NEW_ARRAY(self->arena, int, self->table.capacity);
    if (!open)
        return DT_ERR_MEMORY;
    if (self->n_open)
        memcpy(open, self->open, (size_t)self->n_open * sizeof *open);
    self->open = open;
    self->open_capacity = self->table.capacity;
    return DT_OK;
}

static dt_status list_family(exact *self, family *one) {
    one->listed = true;
    one->first = self->table.n;
    DT__TRY(dt__state_table_add_family(&self->table, one->relaxed));
    one->end = self->table.n;
    return reserve(self);
}

/* Takes every step from a node into a family. */
static void expand_into(exact *self, int at, family *next) {
    if (!next->listed)
        self->status = list_family(self, next);
    if (self->status != DT_OK)
        return;
    const dt__state_node *from = &self->table.items[at];
    for (int i = next->first; i < next->end; i++) {
        const dt__state_node *to = &self->table.items[i];
        if (to->cost <= from->cost)
            continue;
        double cost = from->cost + step_price(self, from, to);
        if (cost < to->cost && is_cheap(self, cost + to->relaxed->remaining))
            reach(self, i, at, cost);
    }
}

/* Expands a node into the families that now have the lowest bound. */
static void expand(exact *self, int at) {
    const dt__state_node from = self->table.items[at];
    double limit = from.bound * (1 + TOGETHER), next = INFINITY;
    for (int i = 0; i < self->n_families; i++) {
        const dt__relaxed_state *relaxed = self->families[i].relaxed;
        double bound = from.cost + dt__relaxed_price(&self->relaxation, from.relaxed, relaxed) + relaxed->remaining;
        if (bound > limit) /* not where both are 0, as for tensors without elements */
            next = bound < next ? bound : next;
        else if (bound >= from.expanded_to && is_cheap(self, bound))
            expand_into(self, at, &self->families[i]);
    }
    if (is_cheap(self, next))
        open_node(self, at, next, limit);
}

/* Finds the cheapest route to the target, if one is cheap enough: the parents of the target's node. */
static void search(exact *self) {
    reach(self, DT__STATE_NODE_SOURCE, -1, 0);
    for (int at; self->status == DT_OK && !self->table.too_many && (at = next_node(self)) >= 0;)
        expand(self, at);
}

static dt_status add_path(const exact *self, int at, dt__route *out) {
    if (at < 0)
        return DT_OK;
    DT__TRY(add_path(self, self->table.items[at].parent, out));
    return dt__route_add(out, self->space, &self->table.states[(int64_t)at * self->space->n_mesh_dims]);
}

static dt_status make_families(exact *self) {
    const dt__relaxation *relaxation = &self->relaxation;
    self->families = DT__NEW_ARRAY(self->arena, family, relaxation->n);
    if (!self->families)
        return DT_ERR_MEMORY;
    for (int i = DT__RELAXED_OTHERS; i < relaxation->n; i++)
        if (is_cheap(self, relaxation->states[i].remaining))
            self->families[self->n_families++] = (family){.relaxed = &relaxation->states[i]};
    return DT_OK;
}

static dt_status find_route(exact *self, dt__route *out) {
    self->rates = dt__rates_new(self->arena, self->space);
    if (!self->rates)
        return DT_ERR_MEMORY;
    DT__TRY(dt__relaxation_new(self->arena, self->space, self->rates, &self->relaxation));
    self->too_many = self->relaxation.n > MAX_RELAXED_STATES;
    if (self->too_many)
        return DT_OK;
    dt__relaxation_find_remaining(&self->relaxation, self->max_cost);
    if (!is_cheap(self, self->relaxation.states[DT__RELAXED_SOURCE].remaining))
        return DT_OK;
    DT__TRY(make_families(self));
    DT__TRY(dt__state_table_new(self->arena, self->space, &self->relaxation, &self->table));
    DT__TRY(reserve(self));
    search(self);
    DT__TRY(self->status);
    self->too_many = self->table.too_many;
    return isfinite(self->table.items[DT__STATE_NODE_TARGET].cost) ? add_path(self, DT__STATE_NODE_TARGET, out)
                                                                   : DT_OK;
}

dt_status dt__exact_search(const dt__state_space *space, double max_cost, dt__route *out, bool *is_exact) {
    _Alignas(16) char memory[SCRATCH_BYTES];
    dt__arena arena = dt__arena_on(out->arena->ctx, memory, sizeof memory);
    exact self = {.space = space, .arena = &arena, .max_cost = max_cost};
    *is_exact = space->n_mesh_dims <= DT__STATE_TABLE_MAX_MESH_DIMS && space->n_dims <= DT__STATE_TABLE_MAX_DIMS;
    dt_status status = *is_exact ? find_route(&self, out) : DT_OK;
    *is_exact = *is_exact && !self.too_many;
    dt__arena_free(&arena);
    return status;
}
