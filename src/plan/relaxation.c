/* SPDX-License-Identifier: Apache-2.0
 *
 * The relaxed states, and Dijkstra's algorithm over them. Cuts as in the source are the first of their tensor dim, and
 * so are cuts as in the target. So a tensor dim with a cut that only the source has cannot have one that only the
 * target has.
 *
 * The bytes of a relaxed state are the maximum of two bounds. One is the minimum over all states with as many cuts,
 * however these are distributed over the tensor dims. The other takes the cuts that are as in the source or the
 * target as they are, and lets the others divide evenly, which no cut exceeds.
 */
#include "plan/relaxation.h"

enum { MAX_MESH_DIMS = DT__RATES_MAX_MESH_DIMS };

/* Mesh dims of more than one rank that cut one tensor dim in the source or the target, in their order. */
typedef struct order {
    int n;
    uint8_t mesh_dims[MAX_MESH_DIMS];
} order;

typedef struct listing {
    const dt__state_space *space;
    bool plain; /* all cuts are plain shards */
    dt__arena *arena;
    order from[DT_SPEC_MAX_DIMS], to[DT_SPEC_MAX_DIMS];
    int64_t from_sizes[DT_SPEC_MAX_DIMS][MAX_MESH_DIMS + 1], to_sizes[DT_SPEC_MAX_DIMS][MAX_MESH_DIMS + 1];
    uint8_t before_from[MAX_MESH_DIMS], before_to[MAX_MESH_DIMS]; /* sets that cut the same tensor dim before it */
    int both;                                                     /* mesh dims that are cut the same way in both */
    double *min_bytes;                                            /* by the set of mesh dims that cut */
    int n_kinds[MAX_MESH_DIMS];
    uint64_t kinds[MAX_MESH_DIMS][DT__N_KINDS]; /* what a mesh dim may be, as in the kinds of a state */
    dt__relaxation *out;
} listing;

static uint64_t kind_bits(int mesh_dims, dt__relaxed_kind kind) { return (uint64_t)mesh_dims << 8 * (int)kind; }

static void read_order(const dt__state_space *space, const dt__dim_state *state, int dim, order *out,
                       uint8_t *before) {
    dt__cut_list cuts = dt__state_cuts(space, state, dim);
    int seen = 0;
    out->n = 0;
    for (int c = 0; c < cuts.n; c++) {
        int m = cuts.mesh_dims[c];
        if (space->mesh[m] == 1)
            continue;
        out->mesh_dims[out->n++] = (uint8_t)m;
        before[m] = (uint8_t)seen;
        seen |= 1 << m;
    }
}

static void read_orders(listing *self) {
    const dt__state_space *space = self->space;
    for (int d = 0; d < space->n_dims; d++) {
        order *from = &self->from[d], *to = &self->to[d];
        read_order(space, space->from, d, from, self->before_from);
        read_order(space, space->to, d, to, self->before_to);
        for (int c = 0; c < from->n && c < to->n; c++) {
            int m = from->mesh_dims[c];
            if (m != to->mesh_dims[c] || space->from[m].token != space->to[m].token)
                break;
            self->both |= 1 << m;
        }
    }
}

/* Fills the table of the tensor dims that sets of mesh dims cut. */
static void find_cuts(const dt__state_space *space, const dt__dim_state *state, uint8_t *out) {
    for (int m = 0; m < space->n_mesh_dims; m++) {
        const dt_placement *token = &space->tokens[state[m].token];
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

static uint64_t kind_of(const listing *self, int m, int token, dt__relaxed_kind cut) {
    if (token == DT__TOKEN_REPLICATE)
        return kind_bits(1 << m, DT__KIND_REPLICATE);
    if (dt__token_is_partial(self->space, token))
        return kind_bits(1 << m, DT__KIND_PARTIAL);
    if (self->both >> m & 1)
        return kind_bits(1 << m, DT__KIND_SOURCE) | kind_bits(1 << m, DT__KIND_TARGET);
    return kind_bits(1 << m, cut);
}

/* The kinds of source and target come first and second. A partial that stays has no other kind. */
static void find_kinds(listing *self) {
    const dt__state_space *space = self->space;
    for (int m = 0; m < space->n_mesh_dims; m++) {
        if (space->mesh[m] == 1)
            continue;
        self->out->dims |= 1 << m;
        add_kind(self, m, kind_of(self, m, space->from[m].token, DT__KIND_SOURCE));
        add_kind(self, m, kind_of(self, m, space->to[m].token, DT__KIND_TARGET));
        if (dt__token_is_partial(space, space->to[m].token))
            continue;
        add_kind(self, m, kind_bits(1 << m, DT__KIND_REPLICATE));
        if (space->n_dims)
            add_kind(self, m, kind_bits(1 << m, DT__KIND_OTHER));
    }
}

static double product_of(const dt__state_space *space, int set) {
    double n = 1;
    for (int m = 0; m < space->n_mesh_dims; m++)
        n *= set >> m & 1 ? (double)space->mesh[m] : 1;
    return n;
}

static bool is_plain(const dt__state_space *space) {
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (dt__token_is_special(space, space->from[m].token) || dt__token_is_special(space, space->to[m].token))
            return false;
    return true;
}

/* The minimal size of the largest shard of a tensor dim that is cut into so many. */
static double min_size(const listing *self, int dim, double n_shards) {
    int64_t size = self->space->move->from->shape[dim];
    return self->plain ? ceil((double)size / n_shards) : (double)size / n_shards;
}

/* Tensor dim after tensor dim: each takes a subset, and the earlier ones get the rest. */
static dt_status find_min_bytes(listing *self) {
    const dt__state_space *space = self->space;
    int n_sets = 1 << space->n_mesh_dims;
    double *products = DT__NEW_ARRAY(self->arena, double, n_sets),
           *sizes = DT__NEW_ARRAY(self->arena, double, n_sets);
    self->min_bytes = DT__NEW_ARRAY(self->arena, double, n_sets);
    if (!products || !sizes || !self->min_bytes)
        return DT_ERR_MEMORY;
    for (int set = 0; set < n_sets; set++) {
        products[set] = product_of(space, set);
        self->min_bytes[set] = set ? INFINITY : (double)space->move->item_bytes;
    }
    for (int d = 0; d < space->n_dims; d++) {
        for (int set = 0; set < n_sets; set++)
            sizes[set] = min_size(self, d, products[set]);
        for (int set = n_sets - 1; set >= 0; set--) {
            double min = self->min_bytes[set] * sizes[0];
            for (int subset = set; subset; subset = (subset - 1) & set)
                min = fmin(min, self->min_bytes[set & ~subset] * sizes[subset]);
            self->min_bytes[set] = min;
        }
    }
    return DT_OK;
}

/* Cuts as in the source or the target follow those that they follow there, and never both on one tensor dim. */
static bool is_possible(const listing *self, int as_source, int as_target) {
    for (int m = 0; m < self->space->n_mesh_dims; m++) {
        if (as_source >> m & 1 && self->before_from[m] & ~as_source)
            return false;
        if (as_target >> m & 1 && self->before_to[m] & ~as_target)
            return false;
    }
    return !(self->out->from_cuts[as_source & ~as_target] & self->out->to_cuts[as_target & ~as_source]);
}

/* The size of a tensor dim after each of its first cuts in a state. */
static void find_sizes(const dt__state_space *space, const dt__dim_state *state, int dim, const order *cuts,
                       int64_t *out) {
    out[0] = space->move->from->shape[dim];
    for (int c = 0; c < cuts->n; c++)
        out[c + 1] = dt__token_size(space, cuts->mesh_dims[c], state[cuts->mesh_dims[c]].token, out[c]);
}

/* How many of the first cuts are in the set. */
static int count_cuts(const order *cuts, int set) {
    int n = 0;
    while (n < cuts->n && set >> cuts->mesh_dims[n] & 1)
        n++;
    return n;
}

/* Bytes after the cuts that are as in the source or the target, and no others. Those of one tensor dim that both have
 * come first, and after them only the source or only the target has some. */
static double known_bytes(const listing *self, int as_source, int as_target) {
    const dt__state_space *space = self->space;
    double bytes = (double)space->move->item_bytes;
    for (int d = 0; d < space->n_dims; d++) {
        int n_source = count_cuts(&self->from[d], as_source), n_target = count_cuts(&self->to[d], as_target);
        bytes *= (double)(n_source > n_target ? self->from_sizes[d][n_source] : self->to_sizes[d][n_target]);
    }
    return bytes;
}

static void add_state(listing *self, uint64_t kinds) {
    dt__relaxed_state *state = &self->out->states[self->out->n];
    *state = (dt__relaxed_state){.kinds = kinds, .remaining = INFINITY};
    int as_source = dt__relaxed_dims(state, DT__KIND_SOURCE), as_target = dt__relaxed_dims(state, DT__KIND_TARGET);
    int other = dt__relaxed_dims(state, DT__KIND_OTHER);
    if (!is_possible(self, as_source, as_target))
        return;
    state->roles =
        (dt__roles){(uint8_t)dt__relaxed_dims(state, DT__KIND_REPLICATE),
                    (uint8_t)dt__relaxed_dims(state, DT__KIND_PARTIAL), (uint8_t)(as_source | as_target | other)};
    state->bytes = fmax(self->min_bytes[state->roles.cut],
                        known_bytes(self, as_source, as_target) / product_of(self->space, other));
    self->out->n++;
}

static void list_states(listing *self, int m, uint64_t kinds) {
    while (m < self->space->n_mesh_dims && !self->n_kinds[m])
        m++;
    if (m == self->space->n_mesh_dims) {
        if (kinds != self->out->states[DT__RELAXED_SOURCE].kinds &&
            kinds != self->out->states[DT__RELAXED_TARGET].kinds)
            add_state(self, kinds);
        return;
    }
    for (int i = 0; i < self->n_kinds[m]; i++)
        list_states(self, m + 1, kinds | self->kinds[m][i]);
}

static dt_status list_all(listing *self) {
    const dt__state_space *space = self->space;
    uint64_t source = 0, target = 0;
    size_t capacity = 1;
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (self->n_kinds[m]) {
            source |= kind_of(self, m, space->from[m].token, DT__KIND_SOURCE);
            target |= kind_of(self, m, space->to[m].token, DT__KIND_TARGET);
            capacity *= (size_t)self->n_kinds[m];
        }
    self->out->states = DT__NEW_ARRAY(self->arena, dt__relaxed_state, capacity + DT__RELAXED_OTHERS);
    self->out->open = DT__NEW_ARRAY(self->arena, int, capacity + DT__RELAXED_OTHERS);
    if (!self->out->states || !self->out->open)
        return DT_ERR_MEMORY;
    add_state(self, source);
    add_state(self, target);
    list_states(self, 0, 0);
    return DT_OK;
}

dt_status dt__relaxation_new(dt__arena *arena, const dt__state_space *space, const dt__rates *rates,
                             dt__relaxation *out) {
    listing self = {.space = space, .arena = arena, .out = out};
    *out = (dt__relaxation){.rates = dt__rates_lower_bound(arena, space->n_mesh_dims, rates)};
    if (!out->rates)
        return DT_ERR_MEMORY;
    self.plain = is_plain(space);
    out->all_cuts = (uint8_t)((1 << space->n_dims) - 1);
    find_cuts(space, space->from, out->from_cuts);
    find_cuts(space, space->to, out->to_cuts);
    read_orders(&self);
    for (int d = 0; d < space->n_dims; d++) {
        find_sizes(space, space->from, d, &self.from[d], self.from_sizes[d]);
        find_sizes(space, space->to, d, &self.to[d], self.to_sizes[d]);
    }
    find_kinds(&self);
    DT__TRY(find_min_bytes(&self));
    return list_all(&self);
}

/* Dijkstra's algorithm from the target to the source. Only open states are visited again; those that are open in the
 * end are no nearer to the target than the source is. States that a route of max_cost cannot pass, because writing
 * them costs too much, are left out: their remaining cost stays infinite. */
void dt__relaxation_find_remaining(dt__relaxation *self, double max_cost) {
    dt__relaxed_state *states = self->states;
    double write_us = dt__rates_min_write(self->dims + 1, self->rates);
    int n = 0, *open = self->open, next = 1; /* the target */
    for (int i = 0; i < self->n; i++)
        if (i < DT__RELAXED_OTHERS || states[i].bytes * write_us < max_cost)
            open[n++] = i;
    states[DT__RELAXED_TARGET].remaining = 0;
    while (next >= 0 && open[next] != DT__RELAXED_SOURCE) {
        const dt__relaxed_state *to = &states[open[next]];
        double min = max_cost, least = to->remaining + to->bytes * write_us;
        open[next] = open[--n];
        next = -1;
        for (int i = 0; i < n; i++) {
            dt__relaxed_state *one = &states[open[i]];
            if (least < one->remaining) {
                double us = to->remaining + dt__relaxed_price(self, one, to);
                if (us < one->remaining)
                    one->remaining = us;
            }
            if (one->remaining < min) {
                min = one->remaining;
                next = i;
            }
        }
    }
    for (int i = 0; i < n; i++)
        states[open[i]].remaining = states[DT__RELAXED_SOURCE].remaining;
}
