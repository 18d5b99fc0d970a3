/* SPDX-License-Identifier: Apache-2.0
 *
 * The search over collectives on single mesh dims, for moves with more states than the exact search looks at; the
 * planner joins neighbouring steps afterwards. Only the last mesh dim in the order of a tensor dim's cuts may leave,
 * and a new cut comes last. Steps that hardly ever help are not tried: a partial that stays is left alone, and the
 * tensor dims that get cut on the way are those that the source or the target cuts, and the largest of the others.
 * Each mesh dim that still has to communicate adds the least that this can cost, so few states are met.
 */
#include "plan/single_dim_search.h"

#include "plan/best_first.h"

#include <math.h>

/* What does not change during a search. */
typedef struct limits {
    bool useful[DT_SPEC_MAX_DIMS];         /* tensor dims that are worth cutting on the way */
    bool in_target[DT_SPEC_MAX_DIMS];      /* and those that the target cuts */
    double from_cut[DT_SPEC_MAX_DIMS];     /* least that the collectives of a mesh dim cost, from a cut */
    double from_partial[DT_SPEC_MAX_DIMS]; /* and from a partial */
    double last[DT_SPEC_MAX_DIMS + 1];     /* how much more the last n of those to Replicate cost */
} limits;

static void find_useful(const dt__alphabet *alphabet, bool *in_target, bool *out) {
    int spare = -1;
    const int64_t *shape = alphabet->move->from->shape;
    for (int d = 0; d < alphabet->n_dims; d++) {
        in_target[d] = dt__state_cuts(alphabet, alphabet->to, d).n > 0;
        out[d] = in_target[d] || dt__state_cuts(alphabet, alphabet->from, d).n > 0;
    }
    for (int d = 0; d < alphabet->n_dims; d++)
        if (!out[d] && (spare < 0 || shape[d] > shape[spare]))
            spare = d;
    if (spare >= 0)
        out[spare] = true;
}

static double least_us(const dt__alphabet *alphabet, int m, dt__step_kind collective, double before, double after) {
    dt__change change;
    dt__place_change(alphabet, m, DT__TOKEN_REPLICATE, DT__TOKEN_REPLICATE, &change);
    change.collective = collective;
    return dt__change_price(alphabet, &change, before, after);
}

/* The size of the largest mesh dim that the target has as Replicate and that is not in `taken`, which it joins. */
static double take_largest(const dt__alphabet *alphabet, bool *taken) {
    int largest = -1;
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        if (alphabet->to[m].token == DT__TOKEN_REPLICATE && !taken[m] &&
            (largest < 0 || alphabet->mesh[m] > alphabet->mesh[largest]))
            largest = m;
    taken[largest] = true;
    return (double)alphabet->mesh[largest];
}

/* After the last collective that leads to Replicate a part is as large as Replicate on all those mesh dims makes it;
 * after the last but one it may still be cut by the largest of them, and so on. */
static void find_last(const dt__alphabet *alphabet, double cut, limits *out) {
    bool taken[DT_SPEC_MAX_DIMS] = {false};
    double held = cut;
    int n = 0;
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        if (alphabet->to[m].token == DT__TOKEN_REPLICATE) {
            held *= (double)alphabet->mesh[m];
            n++;
        }
    out->last[0] = 0;
    for (int i = 0; i < n; i++) {
        double more = INFINITY;
        for (int m = 0; m < alphabet->n_mesh_dims; m++)
            if (alphabet->mesh[m] > 1 && alphabet->to[m].token == DT__TOKEN_REPLICATE)
                more =
                    fmin(more, least_us(alphabet, m, DT__STEP_ALL_GATHER, cut, held) -
                                   least_us(alphabet, m, DT__STEP_ALL_GATHER, cut, cut * (double)alphabet->mesh[m]));
        out->last[i + 1] = out->last[i] + (isfinite(more) ? fmax(more, 0) : 0);
        held /= take_largest(alphabet, taken);
    }
}

/* The cheapest collectives that can bring each mesh dim to its target, on parts as small as they can be: `cut` is
 * what is left when every mesh dim cuts, `whole` when this one does not. */
static void find_limits(const dt__alphabet *alphabet, limits *out) {
    double cut = (double)alphabet->move->item_bytes;
    for (int d = 0; d < alphabet->n_dims; d++)
        cut *= (double)alphabet->move->from->shape[d];
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        cut /= (double)alphabet->mesh[m];
    find_useful(alphabet, out->in_target, out->useful);
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        double whole = cut * (double)alphabet->mesh[m];
        double gather = least_us(alphabet, m, DT__STEP_ALL_GATHER, cut, whole);
        double reduce = least_us(alphabet, m, DT__STEP_ALL_REDUCE, whole, whole);
        bool to_cut = dt__token_is_cut(alphabet, alphabet->to[m].token);
        out->from_cut[m] = to_cut ? fmin(gather, least_us(alphabet, m, DT__STEP_ALL_TO_ALL, cut, cut)) : gather;
        out->from_partial[m] =
            to_cut ? fmin(reduce, least_us(alphabet, m, DT__STEP_REDUCE_SCATTER, whole, cut)) : reduce;
    }
    find_last(alphabet, cut, out);
}

bool dt__is_settled(const dt__alphabet *alphabet, const dt__rank_position *state, int m) {
    const dt__rank_position *to = alphabet->to;
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
static double bound(const dt__alphabet *alphabet, const dt__rank_position *state, const void *user) {
    const limits *least = user;
    int n_replicated = 0;
    double us = 0;
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        if (alphabet->mesh[m] == 1 || state[m].token == DT__TOKEN_REPLICATE)
            continue;
        bool partial = dt__token_is_partial(alphabet, state[m].token);
        if (partial ? state[m].token == alphabet->to[m].token : dt__is_settled(alphabet, state, m))
            continue;
        us += partial ? least->from_partial[m] : least->from_cut[m];
        n_replicated += alphabet->to[m].token == DT__TOKEN_REPLICATE;
    }
    return us + least->last[n_replicated];
}

/* The state that is being left. */
typedef struct leaving {
    dt__search *search;
    const dt__alphabet *alphabet;
    const dt__rank_position *state;
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
        self->before_last[d] = size;
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

/* A cut that ends as Replicate, first on a dim that the target leaves whole: it may as well stay until it is
 * gathered. */
static bool is_in_nobodys_way(const leaving *self, int m, const limits *least) {
    const dt_placement *now = &self->alphabet->tokens[self->state[m].token];
    return dt__is_cut(now) && self->state[m].position == 0 && !least->in_target[now->dim] &&
           self->alphabet->to[m].token == DT__TOKEN_REPLICATE;
}

static void expand(dt__search *search, const dt__rank_position *state) {
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
        if (is_in_nobodys_way(&self, m, least))
            continue;
        for (int d = 0; d < alphabet->n_dims; d++)
            if (least->useful[d])
                become(&self, m, DT__TOKEN_SHARD + d);
        if (dt__token_is_special(alphabet, alphabet->to[m].token))
            become(&self, m, alphabet->to[m].token);
    }
}

/* One exchange from the state to the target, where all that has to be reduced is. */
static double jump(const dt__alphabet *alphabet, const dt__rank_position *state) {
    dt__change change;
    dt__state_change(alphabet, state, alphabet->to, &change);
    if (change.reduced > 1)
        return INFINITY;
    return dt__change_price(alphabet, &change, dt__state_bytes(alphabet, state),
                            dt__state_bytes(alphabet, alphabet->to));
}

enum { MOST_STATES = 1 << 16 }; /* more take longer than what they find is worth */

dt_status dt__single_run(const dt__alphabet *alphabet, double most, dt__route *out, dt__route *jumped) {
    limits least;
    find_limits(alphabet, &least);
    dt__search_rules rules = {
        .expand = expand, .bound = bound, .jump = jump, .user = &least, .most = most, .most_states = MOST_STATES};
    return dt__search_run(alphabet, &rules, out, jumped);
}
