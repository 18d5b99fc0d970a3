/* SPDX-License-Identifier: Apache-2.0
 *
 * Listing states. The role of a mesh dim is its token and, for a cut, the cuts before it on its tensor dim. Each role
 * gets a number on first use, so that two states are compared in a few instructions.
 */
#include "plan/state_table.h"

#include <string.h>

enum {
    MAX_MESH_DIMS = DT__STATE_TABLE_MAX_MESH_DIMS,
    MAX_DIMS = DT__STATE_TABLE_MAX_DIMS,
    CODE_BITS = 5, /* of one cut in a code: its mesh dim and which kind of cut it is */
};

/* The number of a role, in a table with open addressing, whose capacity is a power of two. */
typedef struct dt__numbered {
    uint64_t code; /* of the role; 0: empty */
    int number;
} dt__numbered;

/* The state that is being listed. */
typedef struct listing {
    dt__state_table *table;
    const dt__state_space *space;
    const dt__relaxed_state *relaxed;
    int n_mesh_dims, n_dims;
    uint8_t chosen[MAX_MESH_DIMS]; /* tokens */
    dt__cut_list cuts[MAX_DIMS];
    int first_free[MAX_DIMS]; /* number of cuts of a tensor dim that are fixed */
    dt_status status;
} listing;

/* A code for the role of a mesh dim; cuts by mesh dims of size 1 do not count. */
static uint64_t code_of(const dt__state_space *space, const dt__dim_state *state, const dt__cut_list *cuts, int m) {
    int token = state[m].token;
    uint64_t code = 1;
    if (dt__token_is_cut(space, token) && space->mesh[m] > 1) {
        const dt__cut_list *list = &cuts[space->tokens[token].dim];
        for (int c = 0; list->mesh_dims[c] != m; c++) {
            int other = list->mesh_dims[c], kind = 1;
            if (space->mesh[other] == 1)
                continue;
            if (dt__token_is_special(space, state[other].token))
                kind = state[other].token == space->from[other].token ? 2 : 3;
            code = code << CODE_BITS | (uint64_t)(other << 2 | kind);
        }
    }
    return code << 8 | (uint64_t)token;
}

static dt__numbered *slot_of(const dt__state_table *table, uint64_t code) {
    for (uint64_t i = code * UINT64_C(0x9e3779b97f4a7c15) >> 32;; i++) {
        dt__numbered *slot = &table->codes[i & (uint64_t)(table->code_capacity - 1)];
        if (!slot->code || slot->code == code)
            return slot;
    }
}

static bool grow_codes(dt__state_table *table) {
    const dt__numbered *old = table->codes;
    int n = table->code_capacity;
    table->code_capacity = n ? 4 * n : 128;
    table->codes = DT__NEW_ARRAY(table->arena, dt__numbered, table->code_capacity);
    if (!table->codes)
        return false;
    for (int i = 0; i < n; i++)
        if (old[i].code)
            *slot_of(table, old[i].code) = old[i];
    return true;
}

/* The number of a code; negative without memory. */
static int number_of(dt__state_table *table, uint64_t code) {
    if (2 * table->n_codes >= table->code_capacity && !grow_codes(table))
        return -1;
    dt__numbered *slot = slot_of(table, code);
    if (!slot->code)
        *slot = (dt__numbered){code, table->n_codes++};
    return slot->number;
}

static dt_status fill_ids(dt__state_table *table, const dt__dim_state *state, const dt__cut_list *cuts,
                          dt__state_node *out) {
    for (int m = 0; m < table->space->n_mesh_dims; m++) {
        int number = number_of(table, code_of(table->space, state, cuts, m));
        if (number < 0)
            return DT_ERR_MEMORY;
        table->too_many |= number > UINT16_MAX;
        out->ids[m / 4] |= (uint64_t)(number & UINT16_MAX) << m % 4 * 16;
    }
    return DT_OK;
}

static double bytes_of(const dt__state_space *space, const dt__dim_state *state, const dt__cut_list *cuts) {
    double bytes = (double)space->move->item_bytes;
    for (int d = 0; d < space->n_dims; d++) {
        int64_t size = space->move->from->shape[d];
        for (int c = 0; c < cuts[d].n; c++)
            size = dt__token_size(space, cuts[d].mesh_dims[c], state[cuts[d].mesh_dims[c]].token, size);
        bytes *= (double)size;
    }
    return bytes;
}

static dt_status reserve(dt__state_table *table) {
    if (table->n < table->capacity)
        return DT_OK;
    int capacity = table->capacity ? 2 * table->capacity : 64;
    size_t n = (size_t)table->n, n_dims = (size_t)table->space->n_mesh_dims;
    dt__state_node *items = DT__NEW_ARRAY(table->arena, dt__state_node, capacity);
    dt__dim_state *states = DT__NEW_ARRAY(table->arena, dt__dim_state, (size_t)capacity * n_dims);
    if (!items || !states)
        return DT_ERR_MEMORY;
    if (n) {
        memcpy(items, table->items, n * sizeof *items);
        memcpy(states, table->states, n * n_dims * sizeof *states);
    }
    table->items = items;
    table->states = states;
    table->capacity = capacity;
    return DT_OK;
}

static dt_status add_node(dt__state_table *table, const dt__dim_state *state, const dt__cut_list *cuts,
                          const dt__relaxed_state *relaxed) {
    size_t n_dims = (size_t)table->space->n_mesh_dims;
    DT__TRY(reserve(table));
    dt__state_node *out = &table->items[table->n];
    *out = (dt__state_node){.cost = INFINITY,
                            .relaxed = relaxed,
                            .roles = relaxed->roles,
                            .parent = -1,
                            .bytes = bytes_of(table->space, state, cuts)};
    DT__TRY(fill_ids(table, state, cuts, out));
    memcpy(&table->states[(size_t)table->n * n_dims], state, n_dims * sizeof *state);
    table->n++;
    return DT_OK;
}

static dt_status add_end(dt__state_table *table, const dt__dim_state *state, const dt__relaxed_state *relaxed,
                         dt__cut_list *cuts) {
    for (int d = 0; d < table->space->n_dims; d++)
        cuts[d] = dt__state_cuts(table->space, state, d);
    return add_node(table, state, cuts, relaxed);
}

dt_status dt__state_table_new(dt__arena *arena, const dt__state_space *space, const dt__relaxation *relaxation,
                              dt__state_table *out) {
    *out = (dt__state_table){.space = space, .relaxation = relaxation, .arena = arena};
    DT__TRY(add_end(out, space->from, &relaxation->states[DT__RELAXED_SOURCE], out->from_cuts));
    return add_end(out, space->to, &relaxation->states[DT__RELAXED_TARGET], out->to_cuts);
}

/* Adds the listed state, unless a cut that should differ from source and target is that of one of them. */
static void add_listed(listing *self) {
    dt__state_table *table = self->table;
    dt__dim_state state[MAX_MESH_DIMS];
    for (int m = 0; m < self->n_mesh_dims; m++)
        state[m] = (dt__dim_state){self->chosen[m], 0};
    for (int d = 0; d < self->n_dims; d++)
        for (int c = 0; c < self->cuts[d].n; c++)
            state[self->cuts[d].mesh_dims[c]].position = (uint8_t)c;
    self->status = add_node(table, state, self->cuts, self->relaxed);
    if (self->status != DT_OK)
        return;
    const dt__state_node *added = &table->items[table->n - 1];
    int differs = dt__state_node_changes(table, added, &table->items[DT__STATE_NODE_SOURCE]) &
                  dt__state_node_changes(table, added, &table->items[DT__STATE_NODE_TARGET]);
    if (dt__relaxed_dims(self->relaxed, DT__KIND_OTHER) & ~differs)
        table->n--;
    else
        table->too_many |= table->n > DT__STATE_TABLE_MAX;
}

/* Explicit extents are the only cut of their dim. */
static bool fits(const listing *self, int token) {
    const dt_placement *placement = &self->space->tokens[token];
    const dt__cut_list *cuts = &self->cuts[placement->dim];
    if (cuts->n == 0)
        return true;
    return !placement->n_extents && !self->space->tokens[self->chosen[cuts->mesh_dims[0]]].n_extents;
}

static void list_others(listing *self, int m);

/* Mesh dim m gets this cut, at every free position of its tensor dim's order. */
static void list_cut(listing *self, int m, int token) {
    int dim = self->space->tokens[token].dim;
    dt__cut_list *cuts = &self->cuts[dim];
    if (!fits(self, token))
        return;
    self->chosen[m] = (uint8_t)token;
    cuts->n++;
    for (int at = cuts->n - 1; at >= self->first_free[dim]; at--) { /* moves to the front */
        if (at + 1 < cuts->n)
            cuts->mesh_dims[at + 1] = cuts->mesh_dims[at];
        cuts->mesh_dims[at] = (uint8_t)m;
        list_others(self, m + 1);
    }
    cuts->n--;
    memmove(cuts->mesh_dims + self->first_free[dim], cuts->mesh_dims + self->first_free[dim] + 1,
            (size_t)(cuts->n - self->first_free[dim]));
}

/* Tries for each mesh dim from m on that is cut in some other way every cut: a shard of each tensor dim, and what
 * source and target have, at another position. */
static void list_others(listing *self, int m) {
    const dt__state_space *space = self->space;
    int others = dt__relaxed_dims(self->relaxed, DT__KIND_OTHER);
    while (m < self->n_mesh_dims && !(others >> m & 1))
        m++;
    if (self->status != DT_OK || self->table->too_many)
        return;
    if (m == self->n_mesh_dims) {
        add_listed(self);
        return;
    }
    int from = space->from[m].token, to = space->to[m].token;
    for (int d = 0; d < self->n_dims; d++)
        list_cut(self, m, DT__TOKEN_SHARD + d);
    if (dt__token_is_special(space, from))
        list_cut(self, m, from);
    if (dt__token_is_special(space, to) && to != from)
        list_cut(self, m, to);
}

/* Appends the mesh dims of this set that cut a tensor dim in a state to its cuts, in their order there. */
static void put_cuts(listing *self, const dt__dim_state *state, const dt__cut_list *all, int dim, int set) {
    dt__cut_list *cuts = &self->cuts[dim];
    for (int c = 0; c < all->n; c++)
        if (set >> all->mesh_dims[c] & 1) {
            self->chosen[all->mesh_dims[c]] = state[all->mesh_dims[c]].token;
            cuts->mesh_dims[cuts->n++] = all->mesh_dims[c];
        }
}

/* A mesh dim of one rank keeps its token, if that is the one that it ends with, and is Replicate otherwise. */
static int unchanged_dims(listing *self) {
    const dt__state_space *space = self->space;
    int unchanged = 0;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        int token = space->to[m].token;
        bool stays = space->from[m].token == token && !dt__token_is_special(space, token);
        if (space->mesh[m] > 1)
            continue;
        self->chosen[m] = stays ? (uint8_t)token : DT__TOKEN_REPLICATE;
        unchanged |= stays ? 1 << m : 0;
    }
    return unchanged;
}

/* Fixes what follows from the relaxed state: all but the cuts that are neither the source's nor the target's. */
static void fix_known(listing *self) {
    const dt__state_space *space = self->space;
    const dt__relaxed_state *relaxed = self->relaxed;
    int as_source = dt__relaxed_dims(relaxed, DT__KIND_SOURCE),
        as_target = dt__relaxed_dims(relaxed, DT__KIND_TARGET);
    int unchanged = unchanged_dims(self);
    for (int m = 0; m < self->n_mesh_dims; m++) {
        if (relaxed->roles.replicate >> m & 1)
            self->chosen[m] = DT__TOKEN_REPLICATE;
        if (relaxed->roles.partial >> m & 1)
            self->chosen[m] = space->from[m].token;
    }
    for (int d = 0; d < self->n_dims; d++) {
        put_cuts(self, space->to, &self->table->to_cuts[d], d, unchanged);
        put_cuts(self, space->from, &self->table->from_cuts[d], d, as_source);
        put_cuts(self, space->to, &self->table->to_cuts[d], d, as_target & ~as_source);
        self->first_free[d] = self->cuts[d].n;
    }
}

dt_status dt__state_table_add_family(dt__state_table *table, const dt__relaxed_state *relaxed) {
    listing self = {.table = table,
                    .space = table->space,
                    .relaxed = relaxed,
                    .n_mesh_dims = table->space->n_mesh_dims,
                    .n_dims = table->space->n_dims};
    fix_known(&self);
    list_others(&self, 0);
    return self.status;
}
