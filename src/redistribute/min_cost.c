/* SPDX-License-Identifier: Apache-2.0
 *
 * The minimum-cost planner: the cheapest way, by the machine model, over collectives on single mesh dims; then
 * neighbouring steps are joined into one collective over several mesh dims wherever that is cheaper still. All gathers
 * can be joined, all reductions of one kind, and whatever reduces nothing, which is then one exchange.
 *
 * Only the last mesh dim in the order of a tensor dim's cuts may leave, and a new cut comes last. Steps that cannot
 * help are not tried: a partial that stays is left alone, and the tensor dims that get cut on the way are those that
 * the source or the target cuts, and the largest of the others. The greedy plan gives the cost to be beaten, and each
 * mesh dim that still has to communicate adds its start-up to the bound, so few states are met.
 */
#include "redistribute/search.h"

#include <math.h>

static double link_us(const dt__alphabet *alphabet, int m) {
    const dt__machine *machine = alphabet->machine;
    bool far = dt__machine_spans_hosts(machine, alphabet->n_mesh_dims, alphabet->mesh, m);
    const dt__link *link = far ? &machine->between : &machine->within;
    return link->start_us + (double)(alphabet->mesh[m] - 1) * link->peer_us;
}

/* Whether mesh dim m's cut and all cuts before it are the target's. */
static bool is_settled(const dt__alphabet *alphabet, const dt__place *state, int m) {
    const dt__place *to = alphabet->to;
    if (state[m].token != to[m].token || state[m].position != to[m].position)
        return false;
    int dim = alphabet->tokens[state[m].token].dim;
    for (int other = 0; other < alphabet->n_mesh_dims; other++) {
        bool cuts_before = dt__token_is_cut(alphabet, state[other].token) &&
                           alphabet->tokens[state[other].token].dim == dim &&
                           state[other].position < state[m].position;
        if (cuts_before && (state[other].token != to[other].token || state[other].position != to[other].position))
            return false;
    }
    return true;
}

/* A partial to be reduced, or a cut that must go, needs one collective on its own mesh dim at least. */
static double bound(const dt__alphabet *alphabet, const dt__place *state) {
    double us = 0;
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        if (alphabet->mesh[m] == 1 || state[m].token == DT__TOKEN_REPLICATE)
            continue;
        bool partial = dt__token_is_partial(alphabet, state[m].token);
        if (partial ? state[m].token != alphabet->to[m].token : !is_settled(alphabet, state, m))
            us += link_us(alphabet, m);
    }
    return us;
}

/* The state that is being left. */
typedef struct leaving {
    dt__search *search;
    const dt__alphabet *alphabet;
    const dt__place *state;
    double bytes;
    dt__cut_list cuts[DT_SPEC_MAX_DIMS];
    bool extents[DT_SPEC_MAX_DIMS]; /* this dim has a cut with explicit extents, which stays alone */
} leaving;

static void step(const leaving *self, int m, int token, int position) {
    dt__place next[DT_SPEC_MAX_DIMS];
    dt__change change;
    for (int i = 0; i < self->alphabet->n_mesh_dims; i++)
        next[i] = self->state[i];
    next[m] = (dt__place){(uint8_t)token, (uint8_t)position};
    dt__state_change(self->alphabet, self->state, next, &change);
    double after = dt__state_bytes(self->alphabet, next);
    dt__search_step(self->search, m, token, position, dt__change_price(self->alphabet, &change, self->bytes, after));
}

/* Mesh dim m becomes a cut, unless the dim has or would get explicit extents beside another cut. */
static void become(const leaving *self, int m, int token) {
    const dt_placement *now = &self->alphabet->tokens[self->state[m].token];
    const dt_placement *next = &self->alphabet->tokens[token];
    bool same_dim = dt__is_cut(now) && now->dim == next->dim;
    int others = self->cuts[next->dim].n - same_dim;
    if (self->state[m].token == token || (others && (next->n_extents || self->extents[next->dim])))
        return;
    step(self, m, token, others);
}

/* Tensor dims that are worth cutting on the way. */
static void find_useful(const dt__alphabet *alphabet, bool *out) {
    int spare = -1;
    for (int d = 0; d < alphabet->n_dims; d++)
        out[d] = dt__state_cuts(alphabet, alphabet->from, d).n || dt__state_cuts(alphabet, alphabet->to, d).n;
    const int64_t *shape = alphabet->move->from->shape;
    for (int d = 0; d < alphabet->n_dims; d++)
        if (!out[d] && (spare < 0 || shape[d] > shape[spare]))
            spare = d;
    if (spare >= 0)
        out[spare] = true;
}

static bool may_leave(const leaving *self, int m) {
    const dt__alphabet *alphabet = self->alphabet;
    int token = self->state[m].token;
    if (dt__token_is_partial(alphabet, token))
        return token != alphabet->to[m].token;
    return token == DT__TOKEN_REPLICATE || self->state[m].position + 1 == self->cuts[alphabet->tokens[token].dim].n;
}

static void expand(dt__search *search, const dt__place *state) {
    const dt__alphabet *alphabet = search->alphabet;
    leaving self = {search, alphabet, state, dt__state_bytes(alphabet, state), {{0}}, {false}};
    bool useful[DT_SPEC_MAX_DIMS];
    find_useful(alphabet, useful);
    for (int d = 0; d < alphabet->n_dims; d++) {
        self.cuts[d] = dt__state_cuts(alphabet, state, d);
        for (int c = 0; c < self.cuts[d].n; c++)
            self.extents[d] |= alphabet->tokens[state[self.cuts[d].mesh_dims[c]].token].n_extents > 0;
    }
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        if (!may_leave(&self, m))
            continue;
        if (state[m].token != DT__TOKEN_REPLICATE)
            step(&self, m, DT__TOKEN_REPLICATE, 0);
        for (int d = 0; d < alphabet->n_dims; d++)
            if (useful[d])
                become(&self, m, DT__TOKEN_SHARD + d);
        if (dt__token_is_special(alphabet, alphabet->to[m].token))
            become(&self, m, alphabet->to[m].token);
    }
}

/* Price of one collective from state i to state j of the route; infinite where there is none that does it. */
static double joined_price(const dt__alphabet *alphabet, const dt__route *route, const double *bytes, int i, int j) {
    dt__change change;
    dt__state_change(alphabet, dt__route_at(route, alphabet, i), dt__route_at(route, alphabet, j), &change);
    bool one = j == i + 1 || change.reduced == 1 || change.only_reduces || change.only_scatters;
    return one ? dt__change_price(alphabet, &change, bytes[i], bytes[j]) : INFINITY;
}

static double route_price(const dt__alphabet *alphabet, const dt__route *route) {
    double us = 0;
    for (int i = 0; i + 1 < route->n_states; i++) {
        double bytes[] = {dt__state_bytes(alphabet, dt__route_at(route, alphabet, i)),
                          dt__state_bytes(alphabet, dt__route_at(route, alphabet, i + 1))};
        dt__change change;
        dt__state_change(alphabet, dt__route_at(route, alphabet, i), dt__route_at(route, alphabet, i + 1), &change);
        us += dt__change_price(alphabet, &change, bytes[0], bytes[1]);
    }
    return us;
}

static dt_status add_stops(const dt__alphabet *alphabet, const dt__route *route, const int *previous, int i,
                           dt__route *out) {
    if (i > 0)
        DT__TRY(add_stops(alphabet, route, previous, previous[i], out));
    return dt__route_add(out, alphabet, dt__route_at(route, alphabet, i));
}

/* Keeps the states of the route at which stopping is cheapest. */
static dt_status join(const dt__alphabet *alphabet, const dt__route *route, dt__route *out) {
    int n = route->n_states;
    double *best = DT__NEW_ARRAY(route->arena, double, n), *bytes = DT__NEW_ARRAY(route->arena, double, n);
    int *previous = DT__NEW_ARRAY(route->arena, int, n);
    if (!best || !bytes || !previous)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++)
        bytes[i] = dt__state_bytes(alphabet, dt__route_at(route, alphabet, i));
    for (int j = 1; j < n; j++) {
        best[j] = INFINITY;
        for (int i = j - 1; i >= 0; i--) {
            double us = best[i] + joined_price(alphabet, route, bytes, i, j);
            if (us < best[j]) {
                best[j] = us;
                previous[j] = i;
            }
        }
    }
    return add_stops(alphabet, route, previous, n - 1, out);
}

dt_status dt__plan_min_cost(const dt__alphabet *alphabet, dt__route *out) {
    dt__route simple = {.arena = out->arena}, searched = {.arena = out->arena};
    dt__search_rules rules = {.expand = expand, .bound = bound};
    bool found;
    if (!alphabet->ordered) {
        DT__TRY(dt__plan_greedy(alphabet, &simple));
        rules.most = route_price(alphabet, &simple);
    }
    DT__TRY(dt__search_run(alphabet, &rules, &searched, &found));
    if (!found && !simple.n_states)
        return dt__fail(out->arena->ctx, DT_ERR_INTERNAL, "redistribute: no way to the target was found");
    return join(alphabet, found ? &searched : &simple, out);
}
