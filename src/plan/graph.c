/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph planner: PyTorch's search, with its moves, their order and its prices, so that its published traces can
 * be reproduced. Only the last mesh dim in the order of a tensor dim's cuts may leave, and a new cut comes last. The
 * prices are kept as they are there, also where they are odd: gathering a strided shard is free, and an exchange
 * between shards is priced as a gather of one part. What a plan really costs is worked out afterwards, by the machine
 * model. Moves from Replicate to a partial are left out: no cheapest way to a target that users may ask for has one.
 */
#include "plan/best_first.h"

static const double EXCHANGE_US = 1.0; /* more for an exchange than for a gather */

/* The built-in table's price, whatever machine the plan is for. */
static double collective_us(const dt__alphabet *alphabet, int m, double bytes, int rounds) {
    const dt__machine *machine = &dt__machine_builtin;
    bool far = dt__machine_spans_hosts(machine, alphabet->n_mesh_dims, alphabet->mesh, m);
    const dt__link *link = far ? &machine->between : &machine->within;
    double size = (double)alphabet->mesh[m], hops = rounds * (size - 1);
    return link->start_us + hops * link->peer_us + bytes * hops / size / link->bytes_per_us;
}

/* The tensor's size by the number of its parts, whatever their real sizes. */
static double part_bytes(const dt__alphabet *alphabet, const dt__rank_position *state) {
    double bytes = (double)alphabet->move->item_bytes;
    for (int d = 0; d < alphabet->n_dims; d++)
        bytes *= (double)alphabet->move->from->shape[d];
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        if (dt__token_is_cut(alphabet, state[m].token))
            bytes /= (double)alphabet->mesh[m];
    return bytes;
}

/* The state that is being left. */
typedef struct leaving {
    dt__search *search;
    const dt__alphabet *alphabet;
    const dt__rank_position *state;
    double bytes;
    dt__cut_list cuts[DT_SPEC_MAX_DIMS];
    bool extents[DT_SPEC_MAX_DIMS]; /* this dim has a cut with explicit extents, which stays alone */
} leaving;

static bool is_plain(const dt__rank_position *place, int dim) { return place->token == DT__TOKEN_SHARD + dim; }

/* The last mesh dim that cuts the dim; -1: none. */
static int last_cut(const leaving *self, int dim) {
    return self->cuts[dim].n ? self->cuts[dim].mesh_dims[self->cuts[dim].n - 1] : -1;
}

static void to_shard(const leaving *self, int m, int dim, double cost) {
    if (!self->extents[dim])
        dt__search_step(self->search, m, DT__TOKEN_SHARD + dim, self->cuts[dim].n, cost);
}

static void to_replicate(const leaving *self, int m, double cost) {
    dt__search_step(self->search, m, DT__TOKEN_REPLICATE, 0, cost);
}

static void shards_to_shards(const leaving *self) {
    for (int a = 0; a < self->alphabet->n_dims; a++) {
        int m = last_cut(self, a);
        if (m < 0 || !is_plain(&self->state[m], a))
            continue;
        for (int b = 0; b < self->alphabet->n_dims; b++)
            if (b != a)
                to_shard(self, m, b, collective_us(self->alphabet, m, self->bytes, 1) + EXCHANGE_US);
    }
}

static double gather_us(const leaving *self, int m) {
    return collective_us(self->alphabet, m, self->bytes * (double)self->alphabet->mesh[m], 1);
}

static void shards_to_replicate(const leaving *self) {
    for (int d = 0; d < self->alphabet->n_dims; d++) {
        int m = last_cut(self, d);
        if (m >= 0 && is_plain(&self->state[m], d))
            to_replicate(self, m, gather_us(self, m));
    }
}

static bool reducible(const leaving *self, int m) {
    return dt__token_is_partial(self->alphabet, self->state[m].token);
}

static void partials_to_replicate(const leaving *self) {
    for (int m = 0; m < self->alphabet->n_mesh_dims; m++)
        if (reducible(self, m))
            to_replicate(self, m, collective_us(self->alphabet, m, self->bytes, 2));
}

static void replicate_to_shards(const leaving *self) {
    for (int m = 0; m < self->alphabet->n_mesh_dims; m++)
        for (int d = 0; self->state[m].token == DT__TOKEN_REPLICATE && d < self->alphabet->n_dims; d++)
            to_shard(self, m, d, 0);
}

static void partials_to_shards(const leaving *self) {
    for (int m = 0; m < self->alphabet->n_mesh_dims; m++)
        for (int d = 0; reducible(self, m) && d < self->alphabet->n_dims; d++)
            to_shard(self, m, d, collective_us(self->alphabet, m, self->bytes, 1));
}

static void specials_to_replicate(const leaving *self) {
    for (int d = 0; d < self->alphabet->n_dims; d++) {
        int m = last_cut(self, d);
        if (m < 0 || is_plain(&self->state[m], d))
            continue;
        bool strided = self->alphabet->tokens[self->state[m].token].kind == DT_PLACEMENT_STRIDED;
        to_replicate(self, m, strided ? 0 : gather_us(self, m));
    }
}

static bool in_target(const dt__alphabet *alphabet, int token) {
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        if (alphabet->to[m].token == token)
            return true;
    return false;
}

/* Explicit extents fit one mesh dim only, their own, and a dim that nothing else cuts. */
static bool may_become(const leaving *self, int m, int token) {
    const dt_placement *placement = &self->alphabet->tokens[token];
    if (placement->n_extents)
        return self->alphabet->to[m].token == token && self->cuts[placement->dim].n == 0;
    return !self->extents[placement->dim];
}

static void replicate_to_specials(const leaving *self) {
    const dt__alphabet *alphabet = self->alphabet;
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        for (int t = 1 + alphabet->n_dims; self->state[m].token == DT__TOKEN_REPLICATE && t < alphabet->n_tokens; t++)
            if (dt__token_is_special(alphabet, t) && in_target(alphabet, t) && may_become(self, m, t))
                dt__search_step(self->search, m, t, self->cuts[alphabet->tokens[t].dim].n, 0);
}

static void expand(dt__search *search, const dt__rank_position *state) {
    static void (*const moves[])(const leaving *) = {
        shards_to_shards,   shards_to_replicate,   partials_to_replicate, replicate_to_shards,
        partials_to_shards, specials_to_replicate, replicate_to_specials,
    };
    leaving self = {search, search->alphabet, state, part_bytes(search->alphabet, state), {{0}}, {false}};
    for (int d = 0; d < self.alphabet->n_dims; d++) {
        self.cuts[d] = dt__state_cuts(self.alphabet, state, d);
        self.extents[d] = self.cuts[d].n && self.alphabet->tokens[state[last_cut(&self, d)].token].n_extents;
    }
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        moves[i](&self);
}

dt_status dt__plan_graph(const dt__alphabet *alphabet, dt__route *out) {
    DT__TRY(dt__search_run(alphabet, &(dt__search_rules){.expand = expand}, out, NULL));
    return out->n_states
               ? DT_OK
               : dt__fail(out->arena->ctx, DT_ERR_INTERNAL, "redistribute: the graph has no way to the target");
}
