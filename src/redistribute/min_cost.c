/* SPDX-License-Identifier: Apache-2.0
 *
 * The minimum-cost planner: the cheapest way, by the machine model, over collectives on single mesh dims; then
 * neighbouring steps are joined into one collective over several mesh dims wherever that is cheaper still. All gathers
 * can be joined, all reductions of one kind, and whatever reduces nothing, which is then one exchange.
 *
 * Only the last mesh dim in the order of a tensor dim's cuts may leave, and a new cut comes last. Steps that cannot
 * help are not tried: a partial that stays is left alone, and the tensor dims that get cut on the way are those that
 * the source or the target cuts, and the largest of the others. A simple plan, with its steps joined, gives the cost
 * to be beaten, and each mesh dim that still has to communicate adds the least that this can cost, so few states are
 * met.
 */
#include "redistribute/search.h"

#include <math.h>
#include <string.h>

/* What does not change during a search. */
typedef struct limits {
    bool useful[DT_SPEC_MAX_DIMS]; /* tensor dims that are worth cutting on the way */
    double from_cut[DT_SPEC_MAX_DIMS], from_partial[DT_SPEC_MAX_DIMS]; /* least that a mesh dim's collectives cost */
} limits;

static void find_useful(const dt__alphabet *alphabet, bool *out) {
    int spare = -1;
    const int64_t *shape = alphabet->move->from->shape;
    for (int d = 0; d < alphabet->n_dims; d++)
        out[d] = dt__state_cuts(alphabet, alphabet->from, d).n || dt__state_cuts(alphabet, alphabet->to, d).n;
    for (int d = 0; d < alphabet->n_dims; d++)
        if (!out[d] && (spare < 0 || shape[d] > shape[spare]))
            spare = d;
    if (spare >= 0)
        out[spare] = true;
}

/* The cheapest collective that can bring mesh dim m to its target, on parts as small as they can be: cut by every
 * other mesh dim that may cut at all, and by m itself where the target is a cut. */
static double least_us(const dt__alphabet *alphabet, int m, dt__collective collective, double smallest) {
    bool stays_cut = dt__token_is_cut(alphabet, alphabet->to[m].token);
    dt__change change;
    dt__place_change(alphabet, m, DT__TOKEN_REPLICATE, DT__TOKEN_REPLICATE, &change);
    change.collective = collective;
    return dt__change_price(alphabet, &change, 0, stays_cut ? smallest : smallest * (double)alphabet->mesh[m]);
}

static void find_limits(const dt__alphabet *alphabet, limits *out) {
    double smallest = (double)alphabet->move->item_bytes;
    for (int d = 0; d < alphabet->n_dims; d++)
        smallest *= (double)alphabet->move->from->shape[d];
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        smallest /= (double)alphabet->mesh[m];
    find_useful(alphabet, out->useful);
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        bool scatters = dt__token_is_cut(alphabet, alphabet->to[m].token);
        out->from_cut[m] = least_us(alphabet, m, DT__COLLECTIVE_ALL_GATHER, smallest);
        out->from_partial[m] =
            least_us(alphabet, m, scatters ? DT__COLLECTIVE_REDUCE_SCATTER : DT__COLLECTIVE_ALL_REDUCE, smallest);
    }
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
static double bound(const dt__alphabet *alphabet, const dt__place *state, const void *user) {
    const limits *least = user;
    double us = 0;
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        if (alphabet->mesh[m] == 1 || state[m].token == DT__TOKEN_REPLICATE)
            continue;
        if (!dt__token_is_partial(alphabet, state[m].token))
            us += is_settled(alphabet, state, m) ? 0 : least->from_cut[m];
        else if (state[m].token != alphabet->to[m].token)
            us += least->from_partial[m];
    }
    return us;
}

/* The state that is being left. */
typedef struct leaving {
    dt__search *search;
    const dt__alphabet *alphabet;
    const dt__place *state;
    double bytes;
    int n_cuts[DT_SPEC_MAX_DIMS];
    int64_t size[DT_SPEC_MAX_DIMS], before_last[DT_SPEC_MAX_DIMS]; /* indices held; the same without the last cut */
    bool extents[DT_SPEC_MAX_DIMS]; /* this dim has a cut with explicit extents, which stays alone */
} leaving;

static void look_at(leaving *self) {
    self->bytes = (double)self->alphabet->move->item_bytes;
    for (int d = 0; d < self->alphabet->n_dims; d++) {
        dt__cut_list cuts = dt__state_cuts(self->alphabet, self->state, d);
        int64_t size = self->alphabet->move->from->shape[d];
        self->n_cuts[d] = cuts.n;
        self->extents[d] = false;
        for (int c = 0; c < cuts.n; c++) {
            int m = cuts.mesh_dims[c], token = self->state[m].token;
            self->before_last[d] = size;
            size = dt__token_size(self->alphabet, m, token, size);
            self->extents[d] |= self->alphabet->tokens[token].n_extents > 0;
        }
        self->size[d] = size;
        self->bytes *= (double)size;
    }
}

/* Bytes of the part after mesh dim m, which is the last cut of its dim if it is one, changes to a token. */
static double bytes_after(const leaving *self, int m, int token) {
    const dt__alphabet *alphabet = self->alphabet;
    const dt_placement *now = &alphabet->tokens[self->state[m].token], *next = &alphabet->tokens[token];
    double bytes = (double)alphabet->move->item_bytes;
    for (int d = 0; d < alphabet->n_dims; d++) {
        int64_t size = dt__is_cut(now) && now->dim == d ? self->before_last[d] : self->size[d];
        bytes *= (double)(dt__is_cut(next) && next->dim == d ? dt__token_size(alphabet, m, token, size) : size);
    }
    return bytes;
}

static void step(const leaving *self, int m, int token, int position) {
    dt__change change;
    dt__place_change(self->alphabet, m, self->state[m].token, token, &change);
    double us = dt__change_price(self->alphabet, &change, self->bytes, bytes_after(self, m, token));
    dt__search_step(self->search, m, token, position, us);
}

/* Mesh dim m becomes a cut, unless the dim has or would get explicit extents beside another cut. */
static void become(const leaving *self, int m, int token) {
    const dt_placement *now = &self->alphabet->tokens[self->state[m].token];
    const dt_placement *next = &self->alphabet->tokens[token];
    bool same_dim = dt__is_cut(now) && now->dim == next->dim;
    int others = self->n_cuts[next->dim] - same_dim;
    if (self->state[m].token == token || (others && (next->n_extents || self->extents[next->dim])))
        return;
    step(self, m, token, others);
}

static bool may_leave(const leaving *self, int m) {
    const dt__alphabet *alphabet = self->alphabet;
    int token = self->state[m].token;
    if (dt__token_is_partial(alphabet, token))
        return token != alphabet->to[m].token;
    return token == DT__TOKEN_REPLICATE || self->state[m].position + 1 == self->n_cuts[alphabet->tokens[token].dim];
}

static void expand(dt__search *search, const dt__place *state) {
    const dt__alphabet *alphabet = search->alphabet;
    const limits *least = search->rules->user;
    leaving self;
    self.search = search;
    self.alphabet = alphabet;
    self.state = state;
    look_at(&self);
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        if (!may_leave(&self, m))
            continue;
        if (state[m].token != DT__TOKEN_REPLICATE)
            step(&self, m, DT__TOKEN_REPLICATE, 0);
        for (int d = 0; d < alphabet->n_dims; d++)
            if (least->useful[d])
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

/* Takes every cut off, from the last, down to those that source and target have in common, reduces what has to be
 * reduced, and cuts again: never the best way, but one that there always is. */
static dt_status add_simple(const dt__alphabet *alphabet, dt__route *out) {
    dt__place state[DT_SPEC_MAX_DIMS];
    size_t bytes = (size_t)alphabet->n_mesh_dims * sizeof *state;
    memcpy(state, alphabet->from, sizeof state);
    DT__TRY(dt__route_add(out, alphabet, state));
    for (int position = alphabet->n_mesh_dims - 1; position >= 0; position--)
        for (int m = 0; m < alphabet->n_mesh_dims; m++) {
            bool cut = dt__token_is_cut(alphabet, state[m].token) && state[m].position == position;
            bool partial = position == 0 && dt__token_is_partial(alphabet, state[m].token);
            if (!(cut && !is_settled(alphabet, state, m)) && !(partial && state[m].token != alphabet->to[m].token))
                continue;
            state[m] = (dt__place){DT__TOKEN_REPLICATE, 0};
            DT__TRY(dt__route_add(out, alphabet, state));
        }
    for (int position = 0; position < alphabet->n_mesh_dims; position++)
        for (int m = 0; m < alphabet->n_mesh_dims; m++)
            if (dt__token_is_cut(alphabet, alphabet->to[m].token) && alphabet->to[m].position == position &&
                state[m].token == DT__TOKEN_REPLICATE) {
                state[m] = alphabet->to[m];
                DT__TRY(dt__route_add(out, alphabet, state));
            }
    return memcmp(state, alphabet->to, bytes) == 0
               ? DT_OK
               : dt__fail(out->arena->ctx, DT_ERR_INTERNAL, "redistribute: the simple plan misses its target");
}

dt_status dt__plan_min_cost(const dt__alphabet *alphabet, dt__route *out) {
    dt__route simple = {.arena = out->arena}, joined = {.arena = out->arena}, searched = {.arena = out->arena};
    limits least;
    find_limits(alphabet, &least);
    if (alphabet->ordered)
        DT__TRY(add_simple(alphabet, &simple));
    else
        DT__TRY(dt__plan_greedy(alphabet, &simple));
    DT__TRY(join(alphabet, &simple, &joined));
    dt__search_rules rules = {.expand = expand, .bound = bound, .user = &least};
    rules.most = route_price(alphabet, &joined);
    bool found;
    DT__TRY(dt__search_run(alphabet, &rules, &searched, &found));
    if (found)
        return join(alphabet, &searched, out);
    *out = joined;
    return DT_OK;
}
