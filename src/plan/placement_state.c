/* SPDX-License-Identifier: Apache-2.0
 *
 * The state space of a move, and what follows from states: their cuts, their placements, their size, and the
 * collective that a step between two of them is.
 */
#include "plan/placement_state.h"

#include "base/size.h"
#include "spec/spec.h"

#include <string.h>

/* Whether two placements are equal except for their position in an order. */
static bool same_token(const dt_placement *a, const dt_placement *b) {
    dt_placement x = *a, y = *b;
    x.ordered = y.ordered = false;
    return dt_placement_equal(&x, &y);
}

static int64_t largest_extent(const dt_placement *placement) {
    int64_t largest = 0;
    for (int64_t r = 0; r < placement->n_extents; r++)
        largest = dt__max_i64(largest, placement->extents[r]);
    return largest;
}

static uint8_t token_of(dt__state_space *space, const dt_placement *placement) {
    int token = 0;
    while (token < space->n_tokens && !same_token(&space->tokens[token], placement))
        token++;
    if (token == space->n_tokens) {
        space->tokens[space->n_tokens++] = *placement;
        space->largest[token] = largest_extent(placement);
    }
    return (uint8_t)token;
}

/* Strided shards and the order that they express have the same shards only where all divide evenly. */
static bool divides_evenly(const dt__sharding *sharding) {
    for (int d = 0; d < sharding->n_dims; d++) {
        bool strided = false;
        for (int c = sharding->first_cut[d]; c < sharding->first_cut[d + 1]; c++)
            strided |= sharding->placements[sharding->cuts[c].mesh_dim].kind == DT_PLACEMENT_STRIDED;
        if (strided && sharding->shape[d] % dt__sharding_dim_shards(sharding, d) != 0)
            return false;
    }
    return true;
}

static void read_state(dt__state_space *space, const dt__sharding *sharding, dt__dim_state *out) {
    dt_placement placements[DT_SPEC_MAX_DIMS];
    int n = sharding->n_mesh_dims;
    for (int m = 0; m < n; m++)
        space->strided |= sharding->placements[m].kind == DT_PLACEMENT_STRIDED;
    if (!divides_evenly(sharding) || !dt__strided_to_order(n, sharding->mesh, sharding->placements, placements))
        memcpy(placements, sharding->placements, (size_t)n * sizeof *placements);
    for (int m = 0; m < n; m++) {
        space->ordered |= placements[m].ordered;
        out[m].token = token_of(space, &placements[m]);
        out[m].position = dt__is_cut(&placements[m]) ? (uint8_t)placements[m].position : 0;
    }
}

void dt__state_space_new(const dt__move *move, const dt__machine *machine, dt__state_space *out) {
    *out = (dt__state_space){
        .move = move,
        .machine = machine,
        .n_mesh_dims = move->from->n_mesh_dims,
        .n_dims = move->from->n_dims,
        .mesh = move->from->mesh,
        .n_ranks = dt__mesh_ranks(move->from->n_mesh_dims, move->from->mesh),
        .n_tokens = 1 + move->from->n_dims,
    };
    out->tokens[DT__TOKEN_REPLICATE] = dt_placement_replicate();
    for (int d = 0; d < out->n_dims; d++)
        out->tokens[DT__TOKEN_SHARD + d] = dt_placement_shard(d);
    for (int m = 0; m < out->n_mesh_dims; m++)
        out->spans_hosts[m] =
            move->nodes ? move->nodes[m] > 1 : dt__machine_spans_hosts(machine, out->n_mesh_dims, out->mesh, m);
    for (int m = 0; m < out->n_mesh_dims && move->nodes; m++)
        out->nodes[m] = move->nodes[m];
    read_state(out, move->from, out->from);
    read_state(out, move->to, out->to);
}

dt__cut_list dt__state_cuts(const dt__state_space *space, const dt__dim_state *state, int dim) {
    dt__cut_list cuts = {.n = 0};
    for (int m = 0; m < space->n_mesh_dims; m++) {
        const dt_placement *token = &space->tokens[state[m].token];
        if (dt__is_cut(token) && token->dim == dim) {
            cuts.mesh_dims[state[m].position] = (uint8_t)m;
            cuts.n++;
        }
    }
    return cuts;
}

dt_status dt__state_placements(dt__arena *arena, const dt__state_space *space, const dt__dim_state *state,
                               const dt_placement **out) {
    dt_placement written[DT_SPEC_MAX_DIMS];
    dt_placement *placements = DT__NEW_ARRAY(arena, dt_placement, space->n_mesh_dims);
    if (!placements)
        return DT_ERR_MEMORY;
    for (int m = 0; m < space->n_mesh_dims; m++) {
        written[m] = space->tokens[state[m].token];
        written[m].position = state[m].position;
        written[m].ordered = dt__is_cut(&written[m]);
    }
    dt__sharding_desc desc = {
        .n_mesh_dims = space->n_mesh_dims,
        .mesh = space->mesh,
        .n_dims = space->n_dims,
        .shape = space->move->from->shape,
        .n_placements = space->n_mesh_dims,
        .placements = written,
    };
    DT__TRY(dt__placements_normalize(arena->ctx, &desc, placements));
    *out = placements;
    return DT_OK;
}

int64_t dt__token_size(const dt__state_space *space, int m, int token, int64_t size) {
    const dt_placement *placement = &space->tokens[token];
    bool strided = placement->kind == DT_PLACEMENT_STRIDED;
    if (!strided && !placement->n_extents) /* the ceil rule */
        return size / space->mesh[m] + (size % space->mesh[m] > 0);
    dt__cut cut = {.mesh_dim = m, .n = space->mesh[m], .split = strided ? placement->split_factor : 1};
    return placement->n_extents ? space->largest[token] : dt__cut_size(&cut, size, 0);
}

/* How many indices of a tensor dim coordinate 0 of all its cuts holds. */
static int64_t first_size(const dt__state_space *space, const dt__dim_state *state, int dim) {
    dt__cut_list cuts = dt__state_cuts(space, state, dim);
    int64_t size = space->move->from->shape[dim];
    for (int c = 0; c < cuts.n; c++)
        size = dt__token_size(space, cuts.mesh_dims[c], state[cuts.mesh_dims[c]].token, size);
    return size;
}

double dt__state_bytes(const dt__state_space *space, const dt__dim_state *state) {
    double bytes = (double)space->move->item_bytes;
    for (int d = 0; d < space->n_dims; d++)
        bytes *= (double)first_size(space, state, d);
    return bytes;
}

/* Whether the cuts before mesh dim m's own are the same in both states; mesh dims of size 1 do not count. */
static bool same_cuts_before(const dt__state_space *space, const dt__dim_state *a, const dt__dim_state *b, int m) {
    int dim = space->tokens[a[m].token].dim;
    if (!memcmp(a, b, (size_t)space->n_mesh_dims * sizeof *a) || (a[m].position == 0 && b[m].position == 0))
        return true;
    dt__cut_list cuts[2] = {dt__state_cuts(space, a, dim), dt__state_cuts(space, b, dim)};
    int at[2] = {0, 0};
    for (;;) {
        for (int i = 0; i < 2; i++)
            while (cuts[i].mesh_dims[at[i]] != m && space->mesh[cuts[i].mesh_dims[at[i]]] == 1)
                at[i]++;
        int x = cuts[0].mesh_dims[at[0]++], y = cuts[1].mesh_dims[at[1]++];
        if (x == m || y == m)
            return x == y;
        if (x != y || a[x].token != b[x].token)
            return false;
    }
}

static bool changes(const dt__state_space *space, const dt__dim_state *a, const dt__dim_state *b, int m) {
    if (a[m].token != b[m].token)
        return true;
    return space->mesh[m] > 1 && dt__token_is_cut(space, a[m].token) && !same_cuts_before(space, a, b, m);
}

/* Counts of the changes on single mesh dims. */
typedef struct change_counts {
    int n;                       /* on mesh dims of more than one rank */
    int reduced, gathered, kept; /* partial to anything, cut to Replicate, Replicate to a cut */
    int scattered;               /* partial to a cut */
} change_counts;

static dt__step_kind kind_of(const change_counts *counts) {
    if (counts->kept == counts->n)
        return DT__STEP_NONE;
    if (counts->reduced)
        return counts->scattered ? DT__STEP_REDUCE_SCATTER : DT__STEP_ALL_REDUCE;
    return counts->gathered == counts->n ? DT__STEP_ALL_GATHER : DT__STEP_ALL_TO_ALL;
}

/* Adds mesh dim m to the change. */
static void add_change(const dt__state_space *space, int m, int before, int after, change_counts *counts,
                       dt__change *out) {
    out->mesh_dims[out->n_mesh_dims++] = m;
    if (space->mesh[m] == 1)
        return;
    bool reduces = dt__token_is_partial(space, before), to_cut = dt__token_is_cut(space, after);
    counts->n++;
    counts->reduced += reduces;
    counts->gathered += !reduces && after == DT__TOKEN_REPLICATE;
    counts->kept += before == DT__TOKEN_REPLICATE && to_cut;
    counts->scattered += reduces && to_cut;
    out->group *= space->mesh[m];
    out->reduced *= reduces ? space->mesh[m] : 1;
    out->spans_hosts |= space->spans_hosts[m];
    out->nodes *= space->nodes[m];
}

static void set_kind(const change_counts *counts, dt__change *out) {
    out->collective = kind_of(counts);
    out->only_reduces = counts->reduced == counts->n && counts->scattered == 0;
    out->only_scatters = counts->scattered == counts->n;
}

void dt__state_change(const dt__state_space *space, const dt__dim_state *before, const dt__dim_state *after,
                      dt__change *out) {
    change_counts counts = {0};
    *out = (dt__change){.group = 1, .reduced = 1, .nodes = 1};
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (changes(space, before, after, m))
            add_change(space, m, before[m].token, after[m].token, &counts, out);
    set_kind(&counts, out);
}

void dt__dim_change(const dt__state_space *space, int m, int before, int after, dt__change *out) {
    change_counts counts = {0};
    *out = (dt__change){.group = 1, .reduced = 1, .nodes = 1};
    add_change(space, m, before, after, &counts, out);
    set_kind(&counts, out);
}

dt__step_desc dt__change_step(const dt__state_space *space, const dt__change *change, double before_bytes,
                              double after_bytes) {
    return (dt__step_desc){.kind = change->collective,
                           .group = change->group,
                           .ranks = space->n_ranks,
                           .spans_hosts = change->spans_hosts,
                           .nodes = change->nodes,
                           .before_bytes = before_bytes,
                           .after_bytes = after_bytes};
}

double dt__change_price(const dt__state_space *space, const dt__change *change, double before_bytes,
                        double after_bytes) {
    dt__step_desc step = dt__change_step(space, change, before_bytes, after_bytes);
    return dt__machine_price(space->machine, &step);
}
