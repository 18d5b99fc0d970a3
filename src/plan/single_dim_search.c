/* SPDX-License-Identifier: Apache-2.0
 *
 * The search over collectives on single mesh dims, for moves with more states than the exact search can visit; the
 * planner joins neighboring steps afterwards. Only the last mesh dim in the order of a tensor dim's cuts may change,
 * and a new cut comes last. Steps that hardly ever help are not tried: a partial that stays is not touched, and only
 * the tensor dims that the source or the target cuts, and the largest of the others, are cut on the way. Each mesh dim
 * that still has to communicate adds the minimum that this can cost to the bound, so few states are expanded.
 */
#include "plan/min_cost_searches.h"

#include "plan/best_first_search.h"

#include <math.h>

/* Constants of a search. */
typedef struct limits {
    bool useful[DT_SPEC_MAX_DIMS];         /* tensor dims that are worth cutting on the way */
    bool in_target[DT_SPEC_MAX_DIMS];      /* and those that the target cuts */
    double from_cut[DT_SPEC_MAX_DIMS];     /* minimal cost of the collectives of a mesh dim, from a cut */
    double from_partial[DT_SPEC_MAX_DIMS]; /* and from a partial */
    double last[DT_SPEC_MAX_DIMS + 1];     /* by how much the last n of those to Replicate cost more */
} limits;

static void find_useful(const dt__state_space *space, bool *in_target, bool *out) {
    int spare = -1;
    const int64_t *shape = space->move->from->shape;
    for (int d = 0; d < space->n_dims; d++) {
        in_target[d] = dt__state_cuts(space, space->to, d).n > 0;
        out[d] = in_target[d] || dt__state_cuts(space, space->from, d).n > 0;
    }
    for (int d = 0; d < space->n_dims; d++)
        if (!out[d] && (spare < 0 || shape[d] > shape[spare]))
            spare = d;
    if (spare >= 0)
        out[spare] = true;
}

static double collective_us(const dt__state_space *space, int m, dt__step_kind collective, double before,
                            double after) {
    dt__change change;
    dt__dim_change(space, m, DT__TOKEN_REPLICATE, DT__TOKEN_REPLICATE, &change);
    change.collective = collective;
    return dt__change_price(space, &change, before, after);
}

/* The size of the largest mesh dim that is Replicate in the target and not in `taken`, to which it is added. */
static double take_largest(const dt__state_space *space, bool *taken) {
    int largest = -1;
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (space->to[m].token == DT__TOKEN_REPLICATE && !taken[m] &&
            (largest < 0 || space->mesh[m] > space->mesh[largest]))
            largest = m;
    taken[largest] = true;
    return (double)space->mesh[largest];
}

/* After the last collective that leads to Replicate a shard is as large as Replicate on all those mesh dims makes
 * it; after the last but one it may still be cut by the largest of them, and so on. */
static void find_last(const dt__state_space *space, double cut, limits *out) {
    bool taken[DT_SPEC_MAX_DIMS] = {false};
    double held = cut;
    int n = 0;
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (space->to[m].token == DT__TOKEN_REPLICATE) {
            held *= (double)space->mesh[m];
            n++;
        }
    out->last[0] = 0;
    for (int i = 0; i < n; i++) {
        double more = INFINITY;
        for (int m = 0; m < space->n_mesh_dims; m++)
            if (space->mesh[m] > 1 && space->to[m].token == DT__TOKEN_REPLICATE)
                more =
                    fmin(more, collective_us(space, m, DT__STEP_ALL_GATHER, cut, held) -
                                   collective_us(space, m, DT__STEP_ALL_GATHER, cut, cut * (double)space->mesh[m]));
        out->last[i + 1] = out->last[i] + (isfinite(more) ? fmax(more, 0) : 0);
        held /= take_largest(space, taken);
    }
}

/* The cheapest collectives that can take each mesh dim to its target, on the smallest possible shards: `cut` bytes
 * when every mesh dim cuts, `uncut` when this one does not. */
static void find_limits(const dt__state_space *space, limits *out) {
    double cut = (double)space->move->item_bytes;
    for (int d = 0; d < space->n_dims; d++)
        cut *= (double)space->move->from->shape[d];
    for (int m = 0; m < space->n_mesh_dims; m++)
        cut /= (double)space->mesh[m];
    find_useful(space, out->in_target, out->useful);
    for (int m = 0; m < space->n_mesh_dims; m++) {
        double uncut = cut * (double)space->mesh[m];
        double gather = collective_us(space, m, DT__STEP_ALL_GATHER, cut, uncut);
        double reduce = collective_us(space, m, DT__STEP_ALL_REDUCE, uncut, uncut);
        bool to_cut = dt__token_is_cut(space, space->to[m].token);
        out->from_cut[m] = to_cut ? fmin(gather, collective_us(space, m, DT__STEP_ALL_TO_ALL, cut, cut)) : gather;
        out->from_partial[m] =
            to_cut ? fmin(reduce, collective_us(space, m, DT__STEP_REDUCE_SCATTER, uncut, cut)) : reduce;
    }
    find_last(space, cut, out);
}

bool dt__cut_is_final(const dt__state_space *space, const dt__dim_state *state, int m) {
    const dt__dim_state *to = space->to;
    if (state[m].token != to[m].token || state[m].position != to[m].position)
        return false;
    int dim = space->tokens[state[m].token].dim;
    for (int other = 0; other < space->n_mesh_dims; other++) {
        bool cuts_before = dt__token_is_cut(space, state[other].token) &&
                           space->tokens[state[other].token].dim == dim && state[other].position < state[m].position;
        if (cuts_before && (state[other].token != to[other].token || state[other].position != to[other].position))
            return false;
    }
    return true;
}

/* A partial to be reduced, or a cut that must end, needs at least one collective on its own mesh dim. */
static double bound(const dt__state_space *space, const dt__dim_state *state, const void *user) {
    const limits *min = user;
    int n_replicated = 0;
    double us = 0;
    for (int m = 0; m < space->n_mesh_dims; m++) {
        if (space->mesh[m] == 1 || state[m].token == DT__TOKEN_REPLICATE)
            continue;
        bool partial = dt__token_is_partial(space, state[m].token);
        if (partial ? state[m].token == space->to[m].token : dt__cut_is_final(space, state, m))
            continue;
        us += partial ? min->from_partial[m] : min->from_cut[m];
        n_replicated += space->to[m].token == DT__TOKEN_REPLICATE;
    }
    return us + min->last[n_replicated];
}

/* The state that is being expanded. */
typedef struct expansion {
    dt__search *search;
    const dt__state_space *space;
    const dt__dim_state *state;
    double bytes;
    int n_cuts[DT_SPEC_MAX_DIMS];
    int64_t size[DT_SPEC_MAX_DIMS], before_last[DT_SPEC_MAX_DIMS]; /* indices held; the same without the last cut */
    bool extents[DT_SPEC_MAX_DIMS]; /* this dim has a cut with explicit extents, which must be its only one */
} expansion;

static void measure(expansion *self) {
    self->bytes = (double)self->space->move->item_bytes;
    for (int d = 0; d < self->space->n_dims; d++) {
        dt__cut_list cuts = dt__state_cuts(self->space, self->state, d);
        int64_t size = self->space->move->from->shape[d];
        self->n_cuts[d] = cuts.n;
        self->extents[d] = false;
        self->before_last[d] = size;
        for (int c = 0; c < cuts.n; c++) {
            int m = cuts.mesh_dims[c], token = self->state[m].token;
            self->before_last[d] = size;
            size = dt__token_size(self->space, m, token, size);
            self->extents[d] |= self->space->tokens[token].n_extents > 0;
        }
        self->size[d] = size;
        self->bytes *= (double)size;
    }
}

/* Bytes of the shard after mesh dim m, which is the last cut of its dim if it is one, changes to a token. */
static double bytes_after(const expansion *self, int m, int token) {
    const dt__state_space *space = self->space;
    const dt_placement *now = &space->tokens[self->state[m].token], *next = &space->tokens[token];
    double bytes = (double)space->move->item_bytes;
    for (int d = 0; d < space->n_dims; d++) {
        int64_t size = dt__is_cut(now) && now->dim == d ? self->before_last[d] : self->size[d];
        bytes *= (double)(dt__is_cut(next) && next->dim == d ? dt__token_size(space, m, token, size) : size);
    }
    return bytes;
}

static void add_step(const expansion *self, int m, int token, int position) {
    dt__change change;
    dt__dim_change(self->space, m, self->state[m].token, token, &change);
    double us = dt__change_price(self->space, &change, self->bytes, bytes_after(self, m, token));
    dt__search_step(self->search, m, token, position, us);
}

/* Mesh dim m becomes a cut, unless the dim has or would get explicit extents together with another cut. */
static void add_cut(const expansion *self, int m, int token) {
    const dt_placement *now = &self->space->tokens[self->state[m].token];
    const dt_placement *next = &self->space->tokens[token];
    bool same_dim = dt__is_cut(now) && now->dim == next->dim;
    int others = self->n_cuts[next->dim] - same_dim;
    if (self->state[m].token == token || (others && (next->n_extents || self->extents[next->dim])))
        return;
    add_step(self, m, token, others);
}

static bool may_change(const expansion *self, int m) {
    const dt__state_space *space = self->space;
    int token = self->state[m].token;
    if (dt__token_is_partial(space, token))
        return token != space->to[m].token;
    return token == DT__TOKEN_REPLICATE || self->state[m].position + 1 == self->n_cuts[space->tokens[token].dim];
}

/* A cut that ends as Replicate, first on a dim that the target does not cut, may stay until it is gathered. */
static bool may_stay(const expansion *self, int m, const limits *min) {
    const dt_placement *now = &self->space->tokens[self->state[m].token];
    return dt__is_cut(now) && self->state[m].position == 0 && !min->in_target[now->dim] &&
           self->space->to[m].token == DT__TOKEN_REPLICATE;
}

static void expand(dt__search *search, const dt__dim_state *state) {
    const dt__state_space *space = search->space;
    const limits *min = search->rules->user;
    expansion self;
    self.search = search;
    self.space = space;
    self.state = state;
    measure(&self);
    for (int m = 0; m < space->n_mesh_dims; m++) {
        if (!may_change(&self, m))
            continue;
        if (state[m].token != DT__TOKEN_REPLICATE)
            add_step(&self, m, DT__TOKEN_REPLICATE, 0);
        if (may_stay(&self, m, min))
            continue;
        for (int d = 0; d < space->n_dims; d++)
            if (min->useful[d])
                add_cut(&self, m, DT__TOKEN_SHARD + d);
        if (dt__token_is_special(space, space->to[m].token))
            add_cut(&self, m, space->to[m].token);
    }
}

/* One exchange from the state to the target, where everything that has to be reduced is reduced. */
static double jump(const dt__state_space *space, const dt__dim_state *state) {
    dt__change change;
    dt__state_change(space, state, space->to, &change);
    if (change.reduced > 1)
        return INFINITY;
    return dt__change_price(space, &change, dt__state_bytes(space, state), dt__state_bytes(space, space->to));
}

enum { MAX_STATES = 1 << 16 }; /* more take longer than they save */

dt_status dt__single_dim_search(const dt__state_space *space, double max_cost, dt__route *out, dt__route *jumped) {
    limits min;
    find_limits(space, &min);
    dt__search_rules rules = {
        .expand = expand, .bound = bound, .jump = jump, .user = &min, .max_cost = max_cost, .max_states = MAX_STATES};
    return dt__search_run(space, &rules, out, jumped);
}
