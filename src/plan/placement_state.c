/* SPDX-License-Identifier: Apache-2.0
 *
 * The alphabet of a move and what can be said of its states: their cuts, their placements, their size, and what a
 * step between two of them is called.
 */
#include "plan/placement_state.h"

#include "base/size.h"
#include "spec/spec.h"

#include <string.h>

/* Whether two placements are the same but for their place in an order. */
static bool same_token(const dt_placement *a, const dt_placement *b) {
    dt_placement x = *a, y = *b;
    x.ordered = y.ordered = false;
    return dt_placement_equal(&x, &y);
}

static int64_t largest_extent(const dt_placement *placement) {
    int64_t most = 0;
    for (int64_t r = 0; r < placement->n_extents; r++)
        most = dt__max_i64(most, placement->extents[r]);
    return most;
}

static uint8_t token_of(dt__alphabet *alphabet, const dt_placement *placement) {
    int token = 0;
    while (token < alphabet->n_tokens && !same_token(&alphabet->tokens[token], placement))
        token++;
    if (token == alphabet->n_tokens) {
        alphabet->tokens[alphabet->n_tokens++] = *placement;
        alphabet->largest[token] = largest_extent(placement);
    }
    return (uint8_t)token;
}

/* Strided shards and the order that they say hold the same parts only where nothing is left over. */
static bool divides(const dt__sharding *sharding) {
    for (int d = 0; d < sharding->n_dims; d++) {
        bool strided = false;
        for (int c = sharding->first_cut[d]; c < sharding->first_cut[d + 1]; c++)
            strided |= sharding->placements[sharding->cuts[c].mesh_dim].kind == DT_PLACEMENT_STRIDED;
        if (strided && sharding->shape[d] % dt__sharding_dim_shards(sharding, d) != 0)
            return false;
    }
    return true;
}

static void read_state(dt__alphabet *alphabet, const dt__sharding *sharding, dt__rank_position *out) {
    dt_placement placements[DT_SPEC_MAX_DIMS];
    int n = sharding->n_mesh_dims;
    for (int m = 0; m < n; m++)
        alphabet->strided |= sharding->placements[m].kind == DT_PLACEMENT_STRIDED;
    if (!divides(sharding) || !dt__strided_to_order(n, sharding->mesh, sharding->placements, placements))
        memcpy(placements, sharding->placements, (size_t)n * sizeof *placements);
    for (int m = 0; m < n; m++) {
        alphabet->ordered |= placements[m].ordered;
        out[m].token = token_of(alphabet, &placements[m]);
        out[m].position = dt__is_cut(&placements[m]) ? (uint8_t)placements[m].position : 0;
    }
}

void dt__alphabet_new(const dt__move *move, const dt__machine *machine, dt__alphabet *out) {
    *out = (dt__alphabet){
        .move = move,
        .machine = machine,
        .n_mesh_dims = move->from->n_mesh_dims,
        .n_dims = move->from->n_dims,
        .mesh = move->from->mesh,
        .n_tokens = 1 + move->from->n_dims,
    };
    out->tokens[DT__TOKEN_REPLICATE] = dt_placement_replicate();
    for (int d = 0; d < out->n_dims; d++)
        out->tokens[DT__TOKEN_SHARD + d] = dt_placement_shard(d);
    read_state(out, move->from, out->from);
    read_state(out, move->to, out->to);
}

dt__cut_list dt__state_cuts(const dt__alphabet *alphabet, const dt__rank_position *state, int dim) {
    dt__cut_list cuts = {.n = 0};
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        const dt_placement *token = &alphabet->tokens[state[m].token];
        if (dt__is_cut(token) && token->dim == dim) {
            cuts.mesh_dims[state[m].position] = (uint8_t)m;
            cuts.n++;
        }
    }
    return cuts;
}

dt_status dt__state_placements(dt__arena *arena, const dt__alphabet *alphabet, const dt__rank_position *state,
                               const dt_placement **out) {
    dt_placement written[DT_SPEC_MAX_DIMS];
    dt_placement *placements = DT__NEW_ARRAY(arena, dt_placement, alphabet->n_mesh_dims);
    if (!placements)
        return DT_ERR_MEMORY;
    for (int m = 0; m < alphabet->n_mesh_dims; m++) {
        written[m] = alphabet->tokens[state[m].token];
        written[m].position = state[m].position;
        written[m].ordered = dt__is_cut(&written[m]);
    }
    dt__sharding_desc desc = {
        .n_mesh_dims = alphabet->n_mesh_dims,
        .mesh = alphabet->mesh,
        .n_dims = alphabet->n_dims,
        .shape = alphabet->move->from->shape,
        .n_placements = alphabet->n_mesh_dims,
        .placements = written,
    };
    DT__TRY(dt__placements_normalise(arena->ctx, &desc, placements));
    *out = placements;
    return DT_OK;
}

int64_t dt__token_size(const dt__alphabet *alphabet, int m, int token, int64_t size) {
    const dt_placement *placement = &alphabet->tokens[token];
    bool strided = placement->kind == DT_PLACEMENT_STRIDED;
    dt__cut cut = {.mesh_dim = m, .n = alphabet->mesh[m], .split = strided ? placement->split_factor : 1};
    return placement->n_extents ? alphabet->largest[token] : dt__cut_size(&cut, size, 0);
}

/* Indices of a tensor dim that coordinate 0 of all its cuts holds. */
static int64_t first_size(const dt__alphabet *alphabet, const dt__rank_position *state, int dim) {
    dt__cut_list cuts = dt__state_cuts(alphabet, state, dim);
    int64_t size = alphabet->move->from->shape[dim];
    for (int c = 0; c < cuts.n; c++)
        size = dt__token_size(alphabet, cuts.mesh_dims[c], state[cuts.mesh_dims[c]].token, size);
    return size;
}

double dt__state_bytes(const dt__alphabet *alphabet, const dt__rank_position *state) {
    double bytes = (double)alphabet->move->item_bytes;
    for (int d = 0; d < alphabet->n_dims; d++)
        bytes *= (double)first_size(alphabet, state, d);
    return bytes;
}

/* Whether the cuts before mesh dim m's own are the same in both states; those of one part are none. */
static bool same_cuts_before(const dt__alphabet *alphabet, const dt__rank_position *a, const dt__rank_position *b, int m) {
    int dim = alphabet->tokens[a[m].token].dim;
    dt__cut_list cuts[2] = {dt__state_cuts(alphabet, a, dim), dt__state_cuts(alphabet, b, dim)};
    int at[2] = {0, 0};
    for (;;) {
        for (int i = 0; i < 2; i++)
            while (cuts[i].mesh_dims[at[i]] != m && alphabet->mesh[cuts[i].mesh_dims[at[i]]] == 1)
                at[i]++;
        int x = cuts[0].mesh_dims[at[0]++], y = cuts[1].mesh_dims[at[1]++];
        if (x == m || y == m)
            return x == y;
        if (x != y || a[x].token != b[x].token)
            return false;
    }
}

static bool changes(const dt__alphabet *alphabet, const dt__rank_position *a, const dt__rank_position *b, int m) {
    if (a[m].token != b[m].token)
        return true;
    return alphabet->mesh[m] > 1 && dt__token_is_cut(alphabet, a[m].token) && !same_cuts_before(alphabet, a, b, m);
}

/* What the changes on single mesh dims have in common. */
typedef struct kinds {
    int n;                       /* on mesh dims of more than one rank */
    int reduced, gathered, kept; /* partial to anything, cut to Replicate, Replicate to a cut */
    int scattered;               /* partial to a cut */
} kinds;

static dt__step_kind name_of(const kinds *seen) {
    if (seen->kept == seen->n)
        return DT__STEP_NONE;
    if (seen->reduced)
        return seen->scattered ? DT__STEP_REDUCE_SCATTER : DT__STEP_ALL_REDUCE;
    return seen->gathered == seen->n ? DT__STEP_ALL_GATHER : DT__STEP_ALL_TO_ALL;
}

/* Mesh dim m takes part in the change. */
static void add_change(const dt__alphabet *alphabet, int m, int before, int after, kinds *seen, dt__change *out) {
    out->mesh_dims[out->n_mesh_dims++] = m;
    if (alphabet->mesh[m] == 1)
        return;
    bool reduces = dt__token_is_partial(alphabet, before), to_cut = dt__token_is_cut(alphabet, after);
    seen->n++;
    seen->reduced += reduces;
    seen->gathered += !reduces && after == DT__TOKEN_REPLICATE;
    seen->kept += before == DT__TOKEN_REPLICATE && to_cut;
    seen->scattered += reduces && to_cut;
    out->group *= alphabet->mesh[m];
    out->reduced *= reduces ? alphabet->mesh[m] : 1;
    out->spans_hosts |= dt__machine_spans_hosts(alphabet->machine, alphabet->n_mesh_dims, alphabet->mesh, m);
}

static void name_change(const kinds *seen, dt__change *out) {
    out->collective = name_of(seen);
    out->only_reduces = seen->reduced == seen->n && seen->scattered == 0;
    out->only_scatters = seen->scattered == seen->n;
}

void dt__state_change(const dt__alphabet *alphabet, const dt__rank_position *before, const dt__rank_position *after,
                      dt__change *out) {
    kinds seen = {0};
    *out = (dt__change){.group = 1, .reduced = 1};
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        if (changes(alphabet, before, after, m))
            add_change(alphabet, m, before[m].token, after[m].token, &seen, out);
    name_change(&seen, out);
}

void dt__place_change(const dt__alphabet *alphabet, int m, int before, int after, dt__change *out) {
    kinds seen = {0};
    *out = (dt__change){.group = 1, .reduced = 1};
    add_change(alphabet, m, before, after, &seen, out);
    name_change(&seen, out);
}

double dt__change_price(const dt__alphabet *alphabet, const dt__change *change, double before_bytes,
                        double after_bytes) {
    return dt__machine_price(alphabet->machine, &(dt__priced){change->collective, change->group, change->spans_hosts,
                                                              before_bytes, after_bytes});
}

dt_status dt__route_add(dt__route *route, const dt__alphabet *alphabet, const dt__rank_position *state) {
    size_t n = (size_t)alphabet->n_mesh_dims;
    if (route->n_states == route->room) {
        int room = route->room ? 2 * route->room : 8;
        dt__rank_position *states = DT__NEW_ARRAY(route->arena, dt__rank_position, (size_t)room * n);
        if (!states)
            return DT_ERR_MEMORY;
        if (route->n_states)
            memcpy(states, route->states, (size_t)route->n_states * n * sizeof *states);
        route->states = states;
        route->room = room;
    }
    memcpy(dt__route_at(route, alphabet, route->n_states++), state, n * sizeof *state);
    return DT_OK;
}
