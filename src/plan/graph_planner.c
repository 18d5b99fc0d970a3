/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph planner: PyTorch's search, with its steps, their order and its costs, so that its published traces are
 * reproduced. Only the last mesh dim in the order of a tensor dim's cuts may change, and a new cut comes last. The
 * costs are PyTorch's even where they are odd: gathering a strided shard is free, and an exchange between shards costs
 * as much as a gather of one shard. The cost of the plan is computed afterwards, by the machine model. Steps from
 * Replicate to a partial are left out: no cheapest route to an allowed target contains one.
 */
#include "plan/best_first_search.h"

static const double EXCHANGE_US = 1.0; /* more for an exchange than for a gather */

/* By the built-in table, whatever machine the plan is for. */
static double collective_us(const dt__state_space *space, int m, double bytes, int rounds) {
    const dt__machine *machine = &dt__machine_builtin;
    bool far = dt__machine_spans_hosts(machine, space->n_mesh_dims, space->mesh, m);
    const dt__link *link = far ? &machine->between : &machine->within;
    double size = (double)space->mesh[m], hops = rounds * (size - 1);
    return link->start_us + hops * link->peer_us + bytes * hops / size / link->bytes_per_us;
}

/* The tensor's size by the number of its shards, whatever their real sizes. */
static double shard_bytes(const dt__state_space *space, const dt__dim_state *state) {
    double bytes = (double)space->move->item_bytes;
    for (int d = 0; d < space->n_dims; d++)
        bytes *= (double)space->move->from->shape[d];
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (dt__token_is_cut(space, state[m].token))
            bytes /= (double)space->mesh[m];
    return bytes;
}

/* The state that is being expanded. */
typedef struct expansion {
    dt__search *search;
    const dt__state_space *space;
    const dt__dim_state *state;
    double bytes;
    dt__cut_list cuts[DT_SPEC_MAX_DIMS];
    bool extents[DT_SPEC_MAX_DIMS]; /* this dim has a cut with explicit extents, which must be its only one */
} expansion;

static bool is_plain(const dt__dim_state *place, int dim) { return place->token == DT__TOKEN_SHARD + dim; }

/* The last mesh dim that cuts the dim; -1: none. */
static int last_cut(const expansion *self, int dim) {
    return self->cuts[dim].n ? self->cuts[dim].mesh_dims[self->cuts[dim].n - 1] : -1;
}

static void to_shard(const expansion *self, int m, int dim, double cost) {
    if (!self->extents[dim])
        dt__search_step(self->search, m, DT__TOKEN_SHARD + dim, self->cuts[dim].n, cost);
}

static void to_replicate(const expansion *self, int m, double cost) {
    dt__search_step(self->search, m, DT__TOKEN_REPLICATE, 0, cost);
}

static void shards_to_shards(const expansion *self) {
    for (int a = 0; a < self->space->n_dims; a++) {
        int m = last_cut(self, a);
        if (m < 0 || !is_plain(&self->state[m], a))
            continue;
        for (int b = 0; b < self->space->n_dims; b++)
            if (b != a)
                to_shard(self, m, b, collective_us(self->space, m, self->bytes, 1) + EXCHANGE_US);
    }
}

static double gather_us(const expansion *self, int m) {
    return collective_us(self->space, m, self->bytes * (double)self->space->mesh[m], 1);
}

static void shards_to_replicate(const expansion *self) {
    for (int d = 0; d < self->space->n_dims; d++) {
        int m = last_cut(self, d);
        if (m >= 0 && is_plain(&self->state[m], d))
            to_replicate(self, m, gather_us(self, m));
    }
}

static bool is_partial(const expansion *self, int m) {
    return dt__token_is_partial(self->space, self->state[m].token);
}

static void partials_to_replicate(const expansion *self) {
    for (int m = 0; m < self->space->n_mesh_dims; m++)
        if (is_partial(self, m))
            to_replicate(self, m, collective_us(self->space, m, self->bytes, 2));
}

static void replicate_to_shards(const expansion *self) {
    for (int m = 0; m < self->space->n_mesh_dims; m++)
        for (int d = 0; self->state[m].token == DT__TOKEN_REPLICATE && d < self->space->n_dims; d++)
            to_shard(self, m, d, 0);
}

static void partials_to_shards(const expansion *self) {
    for (int m = 0; m < self->space->n_mesh_dims; m++)
        for (int d = 0; is_partial(self, m) && d < self->space->n_dims; d++)
            to_shard(self, m, d, collective_us(self->space, m, self->bytes, 1));
}

static void specials_to_replicate(const expansion *self) {
    for (int d = 0; d < self->space->n_dims; d++) {
        int m = last_cut(self, d);
        if (m < 0 || is_plain(&self->state[m], d))
            continue;
        bool strided = self->space->tokens[self->state[m].token].kind == DT_PLACEMENT_STRIDED;
        to_replicate(self, m, strided ? 0 : gather_us(self, m));
    }
}

static bool in_target(const dt__state_space *space, int token) {
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (space->to[m].token == token)
            return true;
    return false;
}

/* Explicit extents fit only their own mesh dim, and a dim without other cuts. */
static bool may_become(const expansion *self, int m, int token) {
    const dt_placement *placement = &self->space->tokens[token];
    if (placement->n_extents)
        return self->space->to[m].token == token && self->cuts[placement->dim].n == 0;
    return !self->extents[placement->dim];
}

static void replicate_to_specials(const expansion *self) {
    const dt__state_space *space = self->space;
    for (int m = 0; m < space->n_mesh_dims; m++)
        for (int t = 1 + space->n_dims; self->state[m].token == DT__TOKEN_REPLICATE && t < space->n_tokens; t++)
            if (dt__token_is_special(space, t) && in_target(space, t) && may_become(self, m, t))
                dt__search_step(self->search, m, t, self->cuts[space->tokens[t].dim].n, 0);
}

static void expand(dt__search *search, const dt__dim_state *state) {
    static void (*const moves[])(const expansion *) = {
        shards_to_shards,   shards_to_replicate,   partials_to_replicate, replicate_to_shards,
        partials_to_shards, specials_to_replicate, replicate_to_specials,
    };
    expansion self = {search, search->space, state, shard_bytes(search->space, state), {{0}}, {false}};
    for (int d = 0; d < self.space->n_dims; d++) {
        self.cuts[d] = dt__state_cuts(self.space, state, d);
        self.extents[d] = self.cuts[d].n && self.space->tokens[state[last_cut(&self, d)].token].n_extents;
    }
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        moves[i](&self);
}

dt_status dt__plan_graph(const dt__state_space *space, dt__route *out) {
    DT__TRY(dt__search_run(space, &(dt__search_rules){.expand = expand}, out, NULL));
    return out->n_states
               ? DT_OK
               : dt__fail(out->arena->ctx, DT_ERR_INTERNAL, "redistribute: the graph has no route to the target");
}
