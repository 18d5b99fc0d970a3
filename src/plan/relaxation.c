/* SPDX-License-Identifier: Apache-2.0
 *
 * The relaxed states, and Dijkstra's search over them. Cuts that are as in the source are the first of their tensor
 * dim, and so are those as in the target; so a tensor dim that has one that is not as in the target has none that is
 * not as in the source.
 *
 * The bytes of a relaxed state are the larger of two bounds. One is the least of any state with as many cuts, however
 * they are shared by the tensor dims. The other takes the cuts that are as in the source or the target for what they
 * are, and lets the others divide evenly, which no cut does better.
 */
#include "plan/relaxation.h"

enum { MOST_MESH_DIMS = DT__RATES_MOST_MESH_DIMS };

/* Mesh dims that cut one tensor dim in the source or the target, in their order, without those of one rank. */
typedef struct order {
    int n;
    uint8_t mesh_dims[MOST_MESH_DIMS];
} order;

typedef struct listing {
    const dt__alphabet *alphabet;
    bool plain; /* all cuts are plain shards */
    dt__arena *arena;
    order from[DT_SPEC_MAX_DIMS], to[DT_SPEC_MAX_DIMS];
    uint8_t before_from[MOST_MESH_DIMS], before_to[MOST_MESH_DIMS]; /* that cut the same tensor dim before it */
    int both;                                                       /* mesh dims that are cut alike in both */
    double *least;                                                  /* bytes, by the set of mesh dims that cut */
    int n_kinds[MOST_MESH_DIMS];
    uint64_t kinds[MOST_MESH_DIMS][DT__N_KINDS]; /* what a mesh dim may be, as it stands in the kinds of a state */
    dt__relaxed *out;
} listing;

static uint64_t as_kind(int mesh_dims, dt__kind kind) { return (uint64_t)mesh_dims << 8 * (int)kind; }

static void read_order(const dt__alphabet *alphabet, const dt__rank_position *places, int dim, order *out, uint8_t *before) {
    dt__cut_list cuts = dt__state_cuts(alphabet, places, dim);
    int seen = 0;
    out->n = 0;
    for (int c = 0; c < cuts.n; c++) {
        int m = cuts.mesh_dims[c];
        if (alphabet->mesh[m] == 1)
            continue;
        out->mesh_dims[out->n++] = (uint8_t)m;
        before[m] = (uint8_t)seen;
        seen |= 1 << m;
    }
}

static void read_orders(listing *self) {
    const dt__alphabet *alphabet = self->alphabet;
    for (int d = 0; d < alphabet->n_dims; d++) {
        order *from = &self->from[d], *to = &self->to[d];
        read_order(alphabet, alphabet->from, d, from, self->before_from);
        read_order(alphabet, alphabet->to, d, to, self->before_to);
        for (int c = 0; c < from->n && c < to->n; c++) {
            int m = from->mesh_dims[c];
            if (m != to->mesh_dims[c] || alphabet->from[m].token != alphabet->to[m].token)
                break;
            self->both |= 1 << m;
        }
    }
}

/* Fills the table of the tensor dims that sets of mesh dims cut. */
static void find_cuts(const dt__alphabet *alphabet, const dt__rank_position *places, uint8_t *out) {
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        const dt_placement *token = &alphabet->tokens[places[m].token];
        int cut = dt__is_cut(token) ? 1 << token->dim : 0;
        for (int set = 0; set < 1 << m; set++)
            out[set | 1 << m] = (uint8_t)(out[set] | cut);
    }
}

static void add_kind(listing *self, int m, uint64_t kind) {
    for (int i = 0; i < self->n_kinds[m]; i++)
        if (self->kinds[m][i] == kind)
            return;
    self->kinds[m][self->n_kinds[m]++] = kind;
}

static uint64_t kind_of(const listing *self, int m, int token, dt__kind cut) {
    if (token == DT__TOKEN_REPLICATE)
        return as_kind(1 << m, DT__KIND_REPLICATE);
    if (dt__token_is_partial(self->alphabet, token))
        return as_kind(1 << m, DT__KIND_PARTIAL);
    if (self->both >> m & 1)
        return as_kind(1 << m, DT__KIND_SOURCE) | as_kind(1 << m, DT__KIND_TARGET);
    return as_kind(1 << m, cut);
}

/* What source and target have comes first and second. A partial that stays has nothing to do on the way. */
static void find_kinds(listing *self) {
    const dt__alphabet *alphabet = self->alphabet;
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        if (alphabet->mesh[m] == 1)
            continue;
        self->out->dims |= 1 << m;
        add_kind(self, m, kind_of(self, m, alphabet->from[m].token, DT__KIND_SOURCE));
        add_kind(self, m, kind_of(self, m, alphabet->to[m].token, DT__KIND_TARGET));
        if (dt__token_is_partial(alphabet, alphabet->to[m].token))
            continue;
        add_kind(self, m, as_kind(1 << m, DT__KIND_REPLICATE));
        if (alphabet->n_dims)
            add_kind(self, m, as_kind(1 << m, DT__KIND_OTHER));
    }
}

static double product_of(const dt__alphabet *alphabet, int set) {
    double n = 1;
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        n *= set >> m & 1 ? (double)alphabet->mesh[m] : 1;
    return n;
}

static bool is_plain(const dt__alphabet *alphabet) {
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        if (dt__token_is_special(alphabet, alphabet->from[m].token) ||
            dt__token_is_special(alphabet, alphabet->to[m].token))
            return false;
    return true;
}

/* The least indices of a tensor dim after cuts into so many parts. */
static double least_size(const listing *self, int dim, double n_parts) {
    int64_t size = self->alphabet->move->from->shape[dim];
    return self->plain ? ceil((double)size / n_parts) : (double)size / n_parts;
}

/* Tensor dim after tensor dim: each takes a part of the set, and the earlier ones share the rest. */
static dt_status find_least(listing *self) {
    const dt__alphabet *alphabet = self->alphabet;
    int n_sets = 1 << alphabet->n_mesh_dims;
    double *products = DT__NEW_ARRAY(self->arena, double, n_sets),
           *sizes = DT__NEW_ARRAY(self->arena, double, n_sets);
    self->least = DT__NEW_ARRAY(self->arena, double, n_sets);
    if (!products || !sizes || !self->least)
        return DT_ERR_MEMORY;
    for (int set = 0; set < n_sets; set++) {
        products[set] = product_of(alphabet, set);
        self->least[set] = set ? INFINITY : (double)alphabet->move->item_bytes;
    }
    for (int d = 0; d < alphabet->n_dims; d++) {
        for (int set = 0; set < n_sets; set++)
            sizes[set] = least_size(self, d, products[set]);
        for (int set = n_sets - 1; set >= 0; set--) {
            double least = self->least[set] * sizes[0];
            for (int part = set; part; part = (part - 1) & set)
                least = fmin(least, self->least[set & ~part] * sizes[part]);
            self->least[set] = least;
        }
    }
    return DT_OK;
}

/* Cuts as in the source or the target come after those that they come after there, and never both on one tensor dim. */
static bool is_possible(const listing *self, int as_source, int as_target) {
    for (int m = 0; m < self->alphabet->n_mesh_dims; m++) {
        if (as_source >> m & 1 && self->before_from[m] & ~as_source)
            return false;
        if (as_target >> m & 1 && self->before_to[m] & ~as_target)
            return false;
    }
    return !(self->out->from_cuts[as_source & ~as_target] & self->out->to_cuts[as_target & ~as_source]);
}

/* The cuts that are as in the source or the target, and nothing else. */
static double known_bytes(const listing *self, int as_source, int as_target) {
    const dt__alphabet *alphabet = self->alphabet;
    double bytes = (double)alphabet->move->item_bytes;
    for (int d = 0; d < alphabet->n_dims; d++) {
        int64_t size = alphabet->move->from->shape[d];
        const order *from = &self->from[d], *to = &self->to[d];
        for (int c = 0; c < from->n && as_source >> from->mesh_dims[c] & 1; c++)
            size = dt__token_size(alphabet, from->mesh_dims[c], alphabet->from[from->mesh_dims[c]].token, size);
        for (int c = 0; c < to->n && as_target >> to->mesh_dims[c] & 1; c++)
            if (!(as_source >> to->mesh_dims[c] & 1))
                size = dt__token_size(alphabet, to->mesh_dims[c], alphabet->to[to->mesh_dims[c]].token, size);
        bytes *= (double)size;
    }
    return bytes;
}

static void add_state(listing *self, uint64_t kinds) {
    dt__relaxed_state *state = &self->out->states[self->out->n];
    *state = (dt__relaxed_state){.kinds = kinds, .left = INFINITY};
    int as_source = dt__relaxed_dims(state, DT__KIND_SOURCE), as_target = dt__relaxed_dims(state, DT__KIND_TARGET);
    int other = dt__relaxed_dims(state, DT__KIND_OTHER);
    if (!is_possible(self, as_source, as_target))
        return;
    state->roles =
        (dt__roles){(uint8_t)dt__relaxed_dims(state, DT__KIND_REPLICATE),
                    (uint8_t)dt__relaxed_dims(state, DT__KIND_PARTIAL), (uint8_t)(as_source | as_target | other)};
    state->bytes = fmax(self->least[state->roles.cut],
                        known_bytes(self, as_source, as_target) / product_of(self->alphabet, other));
    self->out->n++;
}

static void list_states(listing *self, int m, uint64_t kinds) {
    while (m < self->alphabet->n_mesh_dims && !self->n_kinds[m])
        m++;
    if (m == self->alphabet->n_mesh_dims) {
        if (kinds != self->out->states[DT__RELAXED_SOURCE].kinds &&
            kinds != self->out->states[DT__RELAXED_TARGET].kinds)
            add_state(self, kinds);
        return;
    }
    for (int i = 0; i < self->n_kinds[m]; i++)
        list_states(self, m + 1, kinds | self->kinds[m][i]);
}

static dt_status list_all(listing *self) {
    const dt__alphabet *alphabet = self->alphabet;
    uint64_t source = 0, target = 0;
    size_t room = 1;
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        if (self->n_kinds[m]) {
            source |= kind_of(self, m, alphabet->from[m].token, DT__KIND_SOURCE);
            target |= kind_of(self, m, alphabet->to[m].token, DT__KIND_TARGET);
            room *= (size_t)self->n_kinds[m];
        }
    self->out->states = DT__NEW_ARRAY(self->arena, dt__relaxed_state, room + DT__RELAXED_OTHERS);
    self->out->open = DT__NEW_ARRAY(self->arena, int, room + DT__RELAXED_OTHERS);
    if (!self->out->states || !self->out->open)
        return DT_ERR_MEMORY;
    add_state(self, source);
    add_state(self, target);
    list_states(self, 0, 0);
    return DT_OK;
}

dt_status dt__relaxed_new(dt__arena *arena, const dt__alphabet *alphabet, const dt__rates *rates, dt__relaxed *out) {
    listing self = {.alphabet = alphabet, .arena = arena, .out = out};
    *out = (dt__relaxed){.rates = dt__rates_least(arena, alphabet->n_mesh_dims, rates)};
    if (!out->rates)
        return DT_ERR_MEMORY;
    self.plain = is_plain(alphabet);
    out->all_cuts = (uint8_t)((1 << alphabet->n_dims) - 1);
    find_cuts(alphabet, alphabet->from, out->from_cuts);
    find_cuts(alphabet, alphabet->to, out->to_cuts);
    read_orders(&self);
    find_kinds(&self);
    DT__TRY(find_least(&self));
    return list_all(&self);
}

/* Dijkstra's search from the target to the source. Only states that are not done are looked at again; those that are
 * not done in the end are no nearer to the target than the source is. */
void dt__relaxed_find_left(dt__relaxed *self, double most) {
    dt__relaxed_state *states = self->states;
    int n = self->n, *open = self->open, next = DT__RELAXED_TARGET;
    for (int i = 0; i < n; i++)
        open[i] = i;
    states[DT__RELAXED_TARGET].left = 0;
    while (next >= 0 && open[next] != DT__RELAXED_SOURCE) {
        const dt__relaxed_state *to = &states[open[next]];
        double least = most;
        open[next] = open[--n];
        next = -1;
        for (int i = 0; i < n; i++) {
            dt__relaxed_state *one = &states[open[i]];
            double us = to->left + dt__relaxed_price(self, one, to);
            if (us < one->left)
                one->left = us;
            if (one->left < least) {
                least = one->left;
                next = i;
            }
        }
    }
    for (int i = 0; i < n; i++)
        states[open[i]].left = states[DT__RELAXED_SOURCE].left;
}
