/* SPDX-License-Identifier: Apache-2.0
 *
 * The exact search: best first, with every step from every state. The relaxed states (relaxed.h) say what is left from
 * each state at the least, and what a step to any of the states that a relaxed state stands for, its family, costs at
 * the least. So a state is left for one family after the other, the most promising first, and a family is listed when
 * somebody goes there. The search ends when nothing that is left to do can lead to less than what is known; so the
 * result is that of a search over everything.
 */
#include "plan/exact_search.h"

#include "plan/state_table.h"

#include <string.h>

enum { MOST_RELAXED_STATES = 1 << 13 }; /* what is left from each of them takes the square of this */

static const double ROUNDING = 1e-9; /* relative: what is not cheaper by more than this is not cheaper */
static const double EAGERNESS = 0.2; /* of a node near the target: see next_node */
static const double TOGETHER = 0.01; /* relative: families that promise nearly as much are gone to at once */

/* The nodes of one relaxed state. */
typedef struct family {
    const dt__relaxed_state *like;
    bool listed;
    int first, end;
} family;

typedef struct exact {
    const dt__alphabet *alphabet;
    dt__arena *arena;
    const dt__rates *rates;
    dt__relaxed relaxed;
    dt__nodes nodes;
    int n_families;
    family *families;
    int n_open, open_room;
    int *open;   /* nodes */
    double most; /* what is as dear is of no use */
    bool too_many;
    dt_status status;
} exact;

static inline double step_price(const exact *self, const dt__node *a, const dt__node *b) {
    int set = dt__node_changes(&self->nodes, a, b);
    return dt__rates_price(self->rates, a->roles, b->roles, set, a->bytes, b->bytes);
}

static bool is_cheap(const exact *self, double us) { return us < self->most * (1 - ROUNDING); }

/* Takes the open node that is worth most; -1: none that may lead to something cheap. What is left counts for more than
 * it is, because a way that is near its end soon tells what is cheap. */
static int next_node(exact *self) {
    int n = 0, best = -1;
    double least = INFINITY;
    for (int i = 0; i < self->n_open; i++) {
        dt__node *one = &self->nodes.items[self->open[i]];
        double worth = one->promise + EAGERNESS * one->like->left;
        one->open = is_cheap(self, one->promise);
        if (!one->open)
            continue;
        if (worth < least) {
            best = n;
            least = worth;
        }
        self->open[n++] = self->open[i];
    }
    self->n_open = n;
    if (best < 0)
        return -1;
    int at = self->open[best];
    self->open[best] = self->open[--self->n_open];
    self->nodes.items[at].open = false;
    return at;
}

static void set_promise(exact *self, int at, double promise, double done) {
    dt__node *one = &self->nodes.items[at];
    one->promise = promise;
    one->done = done;
    if (!one->open)
        self->open[self->n_open++] = at;
    one->open = true;
}

/* A node is reached; from there the target is one step more. */
static void reach(exact *self, int at, int parent, double cost) {
    dt__node *one = &self->nodes.items[at], *target = &self->nodes.items[DT__NODE_TARGET];
    one->cost = cost;
    one->parent = parent;
    set_promise(self, at, cost + one->like->left, 0);
    double us = cost + step_price(self, one, target);
    if (!is_cheap(self, us))
        return;
    self->most = target->cost = us;
    target->parent = at;
}

/* Every node may be open. */
static dt_status make_room(exact *self) {
    if (self->open_room >= self->nodes.room)
        return DT_OK;
    int *open = DT__NEW_ARRAY(self->arena, int, self->nodes.room);
    if (!open)
        return DT_ERR_MEMORY;
    if (self->n_open)
        memcpy(open, self->open, (size_t)self->n_open * sizeof *open);
    self->open = open;
    self->open_room = self->nodes.room;
    return DT_OK;
}

static dt_status list_family(exact *self, family *one) {
    one->listed = true;
    one->first = self->nodes.n;
    DT__TRY(dt__nodes_list(&self->nodes, one->like));
    one->end = self->nodes.n;
    return make_room(self);
}

/* Takes every step from a node to a family. */
static void go_to(exact *self, int at, family *next) {
    if (!next->listed)
        self->status = list_family(self, next);
    if (self->status != DT_OK)
        return;
    const dt__node *from = &self->nodes.items[at];
    for (int i = next->first; i < next->end; i++) {
        const dt__node *to = &self->nodes.items[i];
        if (to->cost <= from->cost)
            continue;
        double cost = from->cost + step_price(self, from, to);
        if (cost < to->cost && is_cheap(self, cost + to->like->left))
            reach(self, i, at, cost);
    }
}

/* Goes from a node to the families that now promise most. */
static void leave(exact *self, int at) {
    const dt__node from = self->nodes.items[at];
    double limit = from.promise * (1 + TOGETHER), next = INFINITY;
    for (int i = 0; i < self->n_families; i++) {
        const dt__relaxed_state *like = self->families[i].like;
        double promise = from.cost + dt__relaxed_price(&self->relaxed, from.like, like) + like->left;
        if (promise >= limit)
            next = promise < next ? promise : next;
        else if (promise >= from.done && is_cheap(self, promise))
            go_to(self, at, &self->families[i]);
    }
    if (is_cheap(self, next))
        set_promise(self, at, next, limit);
}

/* Finds the cheapest way to the target, if one is cheap enough: the parents of the target's node. */
static void search(exact *self) {
    reach(self, DT__NODE_SOURCE, -1, 0);
    for (int at; self->status == DT_OK && !self->nodes.too_many && (at = next_node(self)) >= 0;)
        leave(self, at);
}

static dt_status add_path(const exact *self, int at, dt__route *out) {
    if (at < 0)
        return DT_OK;
    DT__TRY(add_path(self, self->nodes.items[at].parent, out));
    return dt__route_add(out, self->alphabet, &self->nodes.places[(int64_t)at * self->alphabet->n_mesh_dims]);
}

static dt_status make_families(exact *self) {
    const dt__relaxed *relaxed = &self->relaxed;
    self->families = DT__NEW_ARRAY(self->arena, family, relaxed->n);
    if (!self->families)
        return DT_ERR_MEMORY;
    for (int i = DT__RELAXED_OTHERS; i < relaxed->n; i++)
        if (is_cheap(self, relaxed->states[i].left))
            self->families[self->n_families++] = (family){.like = &relaxed->states[i]};
    return DT_OK;
}

static dt_status run(exact *self, dt__route *out) {
    self->rates = dt__rates_new(self->arena, self->alphabet);
    if (!self->rates)
        return DT_ERR_MEMORY;
    DT__TRY(dt__relaxed_new(self->arena, self->alphabet, self->rates, &self->relaxed));
    self->too_many = self->relaxed.n > MOST_RELAXED_STATES;
    if (self->too_many)
        return DT_OK;
    dt__relaxed_find_left(&self->relaxed, self->most);
    if (!is_cheap(self, self->relaxed.states[DT__RELAXED_SOURCE].left))
        return DT_OK;
    DT__TRY(make_families(self));
    DT__TRY(dt__nodes_new(self->arena, self->alphabet, &self->relaxed, &self->nodes));
    DT__TRY(make_room(self));
    search(self);
    DT__TRY(self->status);
    self->too_many = self->nodes.too_many;
    return isfinite(self->nodes.items[DT__NODE_TARGET].cost) ? add_path(self, DT__NODE_TARGET, out) : DT_OK;
}

dt_status dt__exact_run(const dt__alphabet *alphabet, double most, dt__route *out, bool *done) {
    dt__arena arena = dt__arena_new(out->arena->ctx);
    exact self = {.alphabet = alphabet, .arena = &arena, .most = most};
    *done = alphabet->n_mesh_dims <= DT__NODES_MOST_MESH_DIMS && alphabet->n_dims <= DT__NODES_MOST_DIMS;
    dt_status status = *done ? run(&self, out) : DT_OK;
    *done = *done && !self.too_many;
    dt__arena_free(&arena);
    return status;
}
