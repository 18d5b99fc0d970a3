/* SPDX-License-Identifier: Apache-2.0
 *
 * Listing states. What a mesh dim does is its token and, of a cut, the cuts that come before it on its tensor dim. Each
 * such thing gets a number when it is first met, so that two states are compared in a few instructions.
 */
#include "plan/state_table.h"

#include <string.h>

enum {
    MOST_MESH_DIMS = DT__NODES_MOST_MESH_DIMS,
    MOST_DIMS = DT__NODES_MOST_DIMS,
    CODE_BITS = 5, /* of one cut in a code: its mesh dim and which kind of cut it is */
};

/* The number of a code; in a table with open addressing, whose room is a power of two. */
typedef struct dt__numbered {
    uint64_t code; /* 0: free */
    int number;
} dt__numbered;

/* The state that is being listed. */
typedef struct listing {
    dt__nodes *nodes;
    const dt__alphabet *alphabet;
    const dt__relaxed_state *like;
    int n_mesh_dims, n_dims;
    uint8_t chosen[MOST_MESH_DIMS]; /* tokens */
    dt__cut_list cuts[MOST_DIMS];
    int first_free[MOST_DIMS]; /* how many cuts of a tensor dim stay where they are */
    dt_status status;
} listing;

/* A code for what a mesh dim does; cuts of one part are none. */
static uint64_t code_of(const dt__alphabet *alphabet, const dt__rank_position *places, const dt__cut_list *cuts, int m) {
    int token = places[m].token;
    uint64_t code = 1;
    if (dt__token_is_cut(alphabet, token) && alphabet->mesh[m] > 1) {
        const dt__cut_list *list = &cuts[alphabet->tokens[token].dim];
        for (int c = 0; list->mesh_dims[c] != m; c++) {
            int other = list->mesh_dims[c], kind = 1;
            if (alphabet->mesh[other] == 1)
                continue;
            if (dt__token_is_special(alphabet, places[other].token))
                kind = places[other].token == alphabet->from[other].token ? 2 : 3;
            code = code << CODE_BITS | (uint64_t)(other << 2 | kind);
        }
    }
    return code << 8 | (uint64_t)token;
}

static dt__numbered *slot_of(const dt__nodes *nodes, uint64_t code) {
    for (uint64_t i = code * UINT64_C(0x9e3779b97f4a7c15) >> 32;; i++) {
        dt__numbered *slot = &nodes->codes[i & (uint64_t)(nodes->code_room - 1)];
        if (!slot->code || slot->code == code)
            return slot;
    }
}

static bool grow_codes(dt__nodes *nodes) {
    const dt__numbered *old = nodes->codes;
    int n = nodes->code_room;
    nodes->code_room = n ? 4 * n : 128;
    nodes->codes = DT__NEW_ARRAY(nodes->arena, dt__numbered, nodes->code_room);
    if (!nodes->codes)
        return false;
    for (int i = 0; i < n; i++)
        if (old[i].code)
            *slot_of(nodes, old[i].code) = old[i];
    return true;
}

/* The number of a code; negative without memory. */
static int number_of(dt__nodes *nodes, uint64_t code) {
    if (2 * nodes->n_codes >= nodes->code_room && !grow_codes(nodes))
        return -1;
    dt__numbered *slot = slot_of(nodes, code);
    if (!slot->code)
        *slot = (dt__numbered){code, nodes->n_codes++};
    return slot->number;
}

static dt_status fill_ids(dt__nodes *nodes, const dt__rank_position *places, const dt__cut_list *cuts, dt__node *out) {
    for (int m = 0; m < nodes->alphabet->n_mesh_dims; m++) {
        int number = number_of(nodes, code_of(nodes->alphabet, places, cuts, m));
        if (number < 0)
            return DT_ERR_MEMORY;
        nodes->too_many |= number > UINT16_MAX;
        out->ids[m / 4] |= (uint64_t)(number & UINT16_MAX) << m % 4 * 16;
    }
    return DT_OK;
}

static double bytes_of(const dt__alphabet *alphabet, const dt__rank_position *places, const dt__cut_list *cuts) {
    double bytes = (double)alphabet->move->item_bytes;
    for (int d = 0; d < alphabet->n_dims; d++) {
        int64_t size = alphabet->move->from->shape[d];
        for (int c = 0; c < cuts[d].n; c++)
            size = dt__token_size(alphabet, cuts[d].mesh_dims[c], places[cuts[d].mesh_dims[c]].token, size);
        bytes *= (double)size;
    }
    return bytes;
}

static dt_status make_room(dt__nodes *nodes) {
    if (nodes->n < nodes->room)
        return DT_OK;
    int room = nodes->room ? 4 * nodes->room : 64;
    size_t n = (size_t)nodes->n, n_dims = (size_t)nodes->alphabet->n_mesh_dims;
    dt__node *items = DT__NEW_ARRAY(nodes->arena, dt__node, room);
    dt__rank_position *places = DT__NEW_ARRAY(nodes->arena, dt__rank_position, (size_t)room * n_dims);
    if (!items || !places)
        return DT_ERR_MEMORY;
    if (n) {
        memcpy(items, nodes->items, n * sizeof *items);
        memcpy(places, nodes->places, n * n_dims * sizeof *places);
    }
    nodes->items = items;
    nodes->places = places;
    nodes->room = room;
    return DT_OK;
}

static dt_status add_node(dt__nodes *nodes, const dt__rank_position *places, const dt__cut_list *cuts,
                          const dt__relaxed_state *like) {
    size_t n_dims = (size_t)nodes->alphabet->n_mesh_dims;
    DT__TRY(make_room(nodes));
    dt__node *out = &nodes->items[nodes->n];
    *out = (dt__node){.cost = INFINITY,
                      .like = like,
                      .roles = like->roles,
                      .parent = -1,
                      .bytes = bytes_of(nodes->alphabet, places, cuts)};
    DT__TRY(fill_ids(nodes, places, cuts, out));
    memcpy(&nodes->places[(size_t)nodes->n * n_dims], places, n_dims * sizeof *places);
    nodes->n++;
    return DT_OK;
}

static dt_status add_end(dt__nodes *nodes, const dt__rank_position *places, const dt__relaxed_state *like) {
    dt__cut_list cuts[MOST_DIMS] = {{0}};
    for (int d = 0; d < nodes->alphabet->n_dims; d++)
        cuts[d] = dt__state_cuts(nodes->alphabet, places, d);
    return add_node(nodes, places, cuts, like);
}

dt_status dt__nodes_new(dt__arena *arena, const dt__alphabet *alphabet, const dt__relaxed *relaxed, dt__nodes *out) {
    *out = (dt__nodes){.alphabet = alphabet, .relaxed = relaxed, .arena = arena};
    DT__TRY(add_end(out, alphabet->from, &relaxed->states[DT__RELAXED_SOURCE]));
    return add_end(out, alphabet->to, &relaxed->states[DT__RELAXED_TARGET]);
}

/* Keeps the listed state, unless a cut that should be some other one is that of the source or the target. */
static void keep(listing *self) {
    dt__nodes *nodes = self->nodes;
    dt__rank_position places[MOST_MESH_DIMS];
    for (int m = 0; m < self->n_mesh_dims; m++)
        places[m] = (dt__rank_position){self->chosen[m], 0};
    for (int d = 0; d < self->n_dims; d++)
        for (int c = 0; c < self->cuts[d].n; c++)
            places[self->cuts[d].mesh_dims[c]].position = (uint8_t)c;
    self->status = add_node(nodes, places, self->cuts, self->like);
    if (self->status != DT_OK)
        return;
    const dt__node *added = &nodes->items[nodes->n - 1];
    int differs = dt__node_changes(nodes, added, &nodes->items[DT__NODE_SOURCE]) &
                  dt__node_changes(nodes, added, &nodes->items[DT__NODE_TARGET]);
    if (dt__relaxed_dims(self->like, DT__KIND_OTHER) & ~differs)
        nodes->n--;
    else
        nodes->too_many |= nodes->n > DT__NODES_MOST;
}

/* Explicit extents stand alone on their dim. */
static bool fits(const listing *self, int token) {
    const dt_placement *placement = &self->alphabet->tokens[token];
    const dt__cut_list *cuts = &self->cuts[placement->dim];
    if (cuts->n == 0)
        return true;
    return !placement->n_extents && !self->alphabet->tokens[self->chosen[cuts->mesh_dims[0]]].n_extents;
}

static void list_others(listing *self, int m);

/* Mesh dim m gets this cut, in every place of its tensor dim's order that is free. */
static void list_cut(listing *self, int m, int token) {
    int dim = self->alphabet->tokens[token].dim;
    dt__cut_list *cuts = &self->cuts[dim];
    if (!fits(self, token))
        return;
    self->chosen[m] = (uint8_t)token;
    cuts->n++;
    for (int at = cuts->n - 1; at >= self->first_free[dim]; at--) { /* moves towards the front */
        if (at + 1 < cuts->n)
            cuts->mesh_dims[at + 1] = cuts->mesh_dims[at];
        cuts->mesh_dims[at] = (uint8_t)m;
        list_others(self, m + 1);
    }
    cuts->n--;
    memmove(cuts->mesh_dims + self->first_free[dim], cuts->mesh_dims + self->first_free[dim] + 1,
            (size_t)(cuts->n - self->first_free[dim]));
}

/* Gives each mesh dim from m on that is cut in some other way every cut: a shard of each tensor dim, and what
 * source and target have, in another place. */
static void list_others(listing *self, int m) {
    const dt__alphabet *alphabet = self->alphabet;
    int others = dt__relaxed_dims(self->like, DT__KIND_OTHER);
    while (m < self->n_mesh_dims && !(others >> m & 1))
        m++;
    if (self->status != DT_OK || self->nodes->too_many)
        return;
    if (m == self->n_mesh_dims) {
        keep(self);
        return;
    }
    int from = alphabet->from[m].token, to = alphabet->to[m].token;
    for (int d = 0; d < self->n_dims; d++)
        list_cut(self, m, DT__TOKEN_SHARD + d);
    if (dt__token_is_special(alphabet, from))
        list_cut(self, m, from);
    if (dt__token_is_special(alphabet, to) && to != from)
        list_cut(self, m, to);
}

/* Puts the mesh dims of this set that cut a tensor dim in the places behind its cuts, in the order in which they cut
 * there. */
static void put_cuts(listing *self, const dt__rank_position *places, int dim, int set) {
    dt__cut_list all = dt__state_cuts(self->alphabet, places, dim), *cuts = &self->cuts[dim];
    for (int c = 0; c < all.n; c++)
        if (set >> all.mesh_dims[c] & 1) {
            self->chosen[all.mesh_dims[c]] = places[all.mesh_dims[c]].token;
            cuts->mesh_dims[cuts->n++] = all.mesh_dims[c];
        }
}

/* A mesh dim of one rank keeps what it has, if that is what it ends with, and is Replicate otherwise. */
static int still_dims(listing *self) {
    const dt__alphabet *alphabet = self->alphabet;
    int still = 0;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        int token = alphabet->to[m].token;
        bool stays = alphabet->from[m].token == token && !dt__token_is_special(alphabet, token);
        if (alphabet->mesh[m] > 1)
            continue;
        self->chosen[m] = stays ? (uint8_t)token : DT__TOKEN_REPLICATE;
        still |= stays ? 1 << m : 0;
    }
    return still;
}

/* What the relaxed state says: all but the cuts that are some other ones. */
static void choose_known(listing *self) {
    const dt__alphabet *alphabet = self->alphabet;
    const dt__relaxed_state *like = self->like;
    int as_source = dt__relaxed_dims(like, DT__KIND_SOURCE), as_target = dt__relaxed_dims(like, DT__KIND_TARGET);
    int still = still_dims(self);
    for (int m = 0; m < self->n_mesh_dims; m++) {
        if (like->roles.replicate >> m & 1)
            self->chosen[m] = DT__TOKEN_REPLICATE;
        if (like->roles.partial >> m & 1)
            self->chosen[m] = alphabet->from[m].token;
    }
    for (int d = 0; d < self->n_dims; d++) {
        put_cuts(self, alphabet->to, d, still);
        put_cuts(self, alphabet->from, d, as_source);
        put_cuts(self, alphabet->to, d, as_target & ~as_source);
        self->first_free[d] = self->cuts[d].n;
    }
}

dt_status dt__nodes_list(dt__nodes *nodes, const dt__relaxed_state *like) {
    listing self = {.nodes = nodes,
                    .alphabet = nodes->alphabet,
                    .like = like,
                    .n_mesh_dims = nodes->alphabet->n_mesh_dims,
                    .n_dims = nodes->alphabet->n_dims};
    choose_known(&self);
    list_others(&self, 0);
    return self.status;
}
