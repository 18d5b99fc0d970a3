/* SPDX-License-Identifier: Apache-2.0
 *
 * The exact search: best first, with every step from every state. The relaxed states (relaxed.h) say what is left from
 * each state at the least, and what a step to any of the states that a relaxed state stands for, its family, costs at
 * the least. So a state is left for one family after the other, the most promising first, and a family is listed when
 * somebody goes there. The search ends when nothing that is left to do can lead to less than what is known; so the
 * result is that of a search over everything.
 */
#include "redistribute/exact.h"

#include "base/size.h"
#include "redistribute/relaxed.h"

#include <string.h>

enum {
    MOST_MESH_DIMS = DT__RATES_MOST_MESH_DIMS,
    MOST_DIMS = 8,
    MOST_STATES = 1 << 16,
    MOST_RELAXED_STATES = 1 << 13, /* what is left from each of them costs the square of this */
    CODE_BITS = 5,                 /* of one cut in a code: its mesh dim and which kind of cut it is */
};

static const double ROUNDING = 1e-9; /* relative: what is not cheaper by more than this is not cheaper */
static const double EAGERNESS = 0.2; /* of a node near the target: see next_node */
static const double TOGETHER = 0.01; /* relative: families that promise nearly as much are gone to at once */

/* A state as the search sees it, in one cache line. */
typedef struct node {
    uint64_t ids[2];    /* 16 bits per mesh dim: equal where it need not take part in a step */
    double bytes, cost; /* of the part; of the way to it */
    double promise;     /* at least what a way to the target costs that goes on from here to a new family */
    double done;        /* families that promise less have been gone to */
    const dt__relaxed_state *like;
    dt__roles roles;
    bool open; /* there may be families to go to */
    int parent;
} node;

/* The nodes of one relaxed state. */
typedef struct family {
    const dt__relaxed_state *like;
    bool listed;
    int first, end;
} family;

/* A number for each code; a table with open addressing. */
typedef struct numbered {
    uint64_t code; /* 0: free */
    int number;
} numbered;

typedef struct numbering {
    int n, room; /* room: a power of two */
    numbered *slots;
} numbering;

enum { SOURCE, TARGET }; /* nodes */

typedef struct exact {
    const dt__alphabet *alphabet;
    dt__arena *arena;
    int n_mesh_dims, n_dims;
    const dt__rates *rates;
    dt__relaxed relaxed;
    double most; /* what is as dear is of no use */
    int n_nodes, room;
    node *nodes;
    dt__place *places; /* n_mesh_dims per node */
    numbering numbers;
    int n_open;
    int *open; /* nodes */
    int n_families;
    family *families;
    bool too_many;
    dt_status status;
    /* the state that is being listed */
    const dt__relaxed_state *listed;
    uint8_t chosen[MOST_MESH_DIMS];
    dt__cut_list cuts[DT_SPEC_MAX_DIMS];
    int first_free[DT_SPEC_MAX_DIMS]; /* how many cuts of a tensor dim stay where they are */
} exact;

/* A code for what a mesh dim does: its token and, of a cut, the cuts before it; those of one part are none. */
static uint64_t code_of(const exact *self, const dt__place *places, const dt__cut_list *cuts, int m) {
    const dt__alphabet *alphabet = self->alphabet;
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

static numbered *slot_of(const numbering *self, uint64_t code) {
    for (uint64_t i = code * UINT64_C(0x9e3779b97f4a7c15) >> 32;; i++) {
        numbered *slot = &self->slots[i & (uint64_t)(self->room - 1)];
        if (!slot->code || slot->code == code)
            return slot;
    }
}

static bool grow_numbers(exact *self) {
    numbering old = self->numbers, *numbers = &self->numbers;
    numbers->room = old.room ? 4 * old.room : 128;
    numbers->slots = DT__NEW_ARRAY(self->arena, numbered, numbers->room);
    if (!numbers->slots)
        return false;
    for (int i = 0; i < old.room; i++)
        if (old.slots[i].code)
            *slot_of(numbers, old.slots[i].code) = old.slots[i];
    return true;
}

/* The number of a code; negative without memory. */
static int number_of(exact *self, uint64_t code) {
    if (2 * self->numbers.n >= self->numbers.room && !grow_numbers(self))
        return -1;
    numbered *slot = slot_of(&self->numbers, code);
    if (!slot->code)
        *slot = (numbered){code, self->numbers.n++};
    return slot->number;
}

static dt_status fill_ids(exact *self, const dt__place *places, const dt__cut_list *cuts, node *out) {
    out->ids[0] = out->ids[1] = 0;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        int number = number_of(self, code_of(self, places, cuts, m));
        if (number < 0)
            return DT_ERR_MEMORY;
        self->too_many |= number > UINT16_MAX;
        out->ids[m / 4] |= (uint64_t)(number & UINT16_MAX) << m % 4 * 16;
    }
    return DT_OK;
}

/* Bit i for each of four 16-bit numbers that is not 0. */
static inline int which_of_four(uint64_t numbers) {
    const uint64_t low = UINT64_C(0x7fff7fff7fff7fff);
    uint64_t ones = (((numbers & low) + low) | numbers) >> 15 & UINT64_C(0x0001000100010001);
    return (int)(ones * (UINT64_C(1) << 48 | UINT64_C(1) << 33 | 1 << 18 | 1 << 3) >> 48 & 15);
}

/* The mesh dims of more than one rank that a step from a to b changes. */
static inline int changed(const exact *self, const node *a, const node *b) {
    int set = which_of_four(a->ids[0] ^ b->ids[0]);
    uint64_t more = a->ids[1] ^ b->ids[1];
    if (more)
        set |= which_of_four(more) << 4;
    return set & self->relaxed.dims;
}

static inline double step_price(const exact *self, const node *a, const node *b) {
    return dt__rates_price(self->rates, a->roles, b->roles, changed(self, a, b), a->bytes, b->bytes);
}

static bool is_cheap(const exact *self, double us) { return us < self->most * (1 - ROUNDING); }

static bool make_room(exact *self) {
    if (self->n_nodes < self->room)
        return true;
    int room = self->room ? 4 * self->room : 64;
    size_t n = (size_t)self->n_nodes, n_dims = (size_t)self->n_mesh_dims;
    node *nodes = DT__NEW_ARRAY(self->arena, node, room);
    dt__place *places = DT__NEW_ARRAY(self->arena, dt__place, (size_t)room * n_dims);
    int *open = DT__NEW_ARRAY(self->arena, int, room);
    if (!nodes || !places || !open)
        return false;
    if (n) {
        memcpy(nodes, self->nodes, n * sizeof *nodes);
        memcpy(places, self->places, n * n_dims * sizeof *places);
        memcpy(open, self->open, (size_t)self->n_open * sizeof *open);
    }
    self->nodes = nodes;
    self->places = places;
    self->open = open;
    self->room = room;
    return true;
}

/* Adds the node of a state. */
static void add_node(exact *self, const dt__place *places, const dt__cut_list *cuts, const dt__relaxed_state *like) {
    if (!make_room(self)) {
        self->status = DT_ERR_MEMORY;
        return;
    }
    node *out = &self->nodes[self->n_nodes];
    *out = (node){.cost = INFINITY,
                  .like = like,
                  .roles = like->roles,
                  .parent = -1,
                  .bytes = (double)self->alphabet->move->item_bytes};
    for (int d = 0; d < self->n_dims; d++) {
        int64_t size = self->alphabet->move->from->shape[d];
        for (int c = 0; c < cuts[d].n; c++)
            size = dt__token_size(self->alphabet, cuts[d].mesh_dims[c], places[cuts[d].mesh_dims[c]].token, size);
        out->bytes *= (double)size;
    }
    self->status = fill_ids(self, places, cuts, out);
    if (self->status != DT_OK)
        return;
    memcpy(&self->places[(size_t)self->n_nodes * (size_t)self->n_mesh_dims], places,
           (size_t)self->n_mesh_dims * sizeof *places);
    self->n_nodes++;
}

static void add_end(exact *self, const dt__place *places, const dt__relaxed_state *like) {
    dt__cut_list cuts[MOST_DIMS];
    for (int d = 0; d < self->n_dims; d++)
        cuts[d] = dt__state_cuts(self->alphabet, places, d);
    add_node(self, places, cuts, like);
}

/* Keeps the listed state, unless a cut that should be some other one is that of the source or the target. */
static void keep(exact *self) {
    dt__place places[MOST_MESH_DIMS];
    int n = self->n_nodes;
    for (int m = 0; m < self->n_mesh_dims; m++)
        places[m] = (dt__place){self->chosen[m], 0};
    for (int d = 0; d < self->n_dims; d++)
        for (int c = 0; c < self->cuts[d].n; c++)
            places[self->cuts[d].mesh_dims[c]].position = (uint8_t)c;
    add_node(self, places, self->cuts, self->listed);
    if (self->n_nodes == n)
        return;
    const node *added = &self->nodes[n];
    int other = dt__relaxed_dims(self->listed, DT__KIND_OTHER);
    if (other & ~(changed(self, added, &self->nodes[SOURCE]) & changed(self, added, &self->nodes[TARGET])))
        self->n_nodes--;
    else
        self->too_many |= self->n_nodes > MOST_STATES;
}

/* Explicit extents stand alone on their dim. */
static bool fits(const exact *self, int token) {
    const dt_placement *placement = &self->alphabet->tokens[token];
    const dt__cut_list *cuts = &self->cuts[placement->dim];
    if (cuts->n == 0)
        return true;
    return !placement->n_extents && !self->alphabet->tokens[self->chosen[cuts->mesh_dims[0]]].n_extents;
}

static void list_others(exact *self, int m);

/* Mesh dim m gets this cut, in every place of its tensor dim's order that is free. */
static void list_cut(exact *self, int m, int token) {
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
static void list_others(exact *self, int m) {
    const dt__alphabet *alphabet = self->alphabet;
    int others = dt__relaxed_dims(self->listed, DT__KIND_OTHER);
    while (m < self->n_mesh_dims && !(others >> m & 1))
        m++;
    if (self->status != DT_OK || self->too_many)
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
static void put_cuts(exact *self, const dt__place *places, int dim, int set) {
    dt__cut_list all = dt__state_cuts(self->alphabet, places, dim), *cuts = &self->cuts[dim];
    for (int c = 0; c < all.n; c++)
        if (set >> all.mesh_dims[c] & 1) {
            self->chosen[all.mesh_dims[c]] = places[all.mesh_dims[c]].token;
            cuts->mesh_dims[cuts->n++] = all.mesh_dims[c];
        }
}

/* A mesh dim of one rank keeps what it has, if that is what it ends with, and is Replicate otherwise. */
static int still_dims(exact *self) {
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

/* Lists the states that a relaxed state stands for. */
static void list_states(exact *self, const dt__relaxed_state *like) {
    const dt__alphabet *alphabet = self->alphabet;
    int as_source = dt__relaxed_dims(like, DT__KIND_SOURCE), as_target = dt__relaxed_dims(like, DT__KIND_TARGET);
    int still = still_dims(self);
    self->listed = like;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        if (like->roles.replicate >> m & 1)
            self->chosen[m] = DT__TOKEN_REPLICATE;
        if (like->roles.partial >> m & 1)
            self->chosen[m] = alphabet->from[m].token;
    }
    for (int d = 0; d < self->n_dims; d++) {
        self->cuts[d].n = 0;
        put_cuts(self, alphabet->to, d, still);
        put_cuts(self, alphabet->from, d, as_source);
        put_cuts(self, alphabet->to, d, as_target & ~as_source);
        self->first_free[d] = self->cuts[d].n;
    }
    list_others(self, 0);
}

/* Takes the open node that is worth most; -1: none that may lead to something cheap. What is left counts for more than
 * it is, because a way that is near its end soon tells what is cheap. */
static int next_node(exact *self) {
    int n = 0, best = -1;
    double least = INFINITY;
    for (int i = 0; i < self->n_open; i++) {
        node *one = &self->nodes[self->open[i]];
        double worth = one->promise + EAGERNESS * one->like->left;
        one->open = is_cheap(self, one->promise);
        if (!one->open)
            continue;
        if (worth < least) {
            best = n;
            least = worth;
        }
        self->open[n++] = self->open[i];
    }
    self->n_open = n;
    if (best < 0)
        return -1;
    int at = self->open[best];
    self->open[best] = self->open[--self->n_open];
    self->nodes[at].open = false;
    return at;
}

static void set_promise(exact *self, int at, double promise, double done) {
    node *one = &self->nodes[at];
    one->promise = promise;
    one->done = done;
    if (!one->open)
        self->open[self->n_open++] = at;
    one->open = true;
}

/* A node is reached; from there the target is one step more. */
static void reach(exact *self, int at, int parent, double cost) {
    node *one = &self->nodes[at], *target = &self->nodes[TARGET];
    one->cost = cost;
    one->parent = parent;
    set_promise(self, at, cost + one->like->left, 0);
    double us = cost + step_price(self, one, target);
    if (!is_cheap(self, us))
        return;
    self->most = target->cost = us;
    target->parent = at;
}

/* Takes every step from a node to a family. */
static void go_to(exact *self, int at, family *next) {
    if (!next->listed) {
        next->listed = true;
        next->first = self->n_nodes;
        list_states(self, next->like);
        next->end = self->n_nodes;
    }
    const node *from = &self->nodes[at];
    for (int i = next->first; i < next->end; i++) {
        const node *to = &self->nodes[i];
        if (to->cost <= from->cost)
            continue;
        double cost = from->cost + step_price(self, from, to);
        if (cost < to->cost && is_cheap(self, cost + to->like->left))
            reach(self, i, at, cost);
    }
}

/* Goes from a node to the families that now promise most. */
static void leave(exact *self, int at) {
    const node from = self->nodes[at];
    double limit = from.promise * (1 + TOGETHER), next = INFINITY;
    for (int i = 0; i < self->n_families; i++) {
        const dt__relaxed_state *like = self->families[i].like;
        double promise = from.cost + dt__relaxed_price(&self->relaxed, from.like, like) + like->left;
        if (promise >= limit)
            next = promise < next ? promise : next;
        else if (promise >= from.done && is_cheap(self, promise))
            go_to(self, at, &self->families[i]);
    }
    if (is_cheap(self, next))
        set_promise(self, at, next, limit);
}

/* Finds the cheapest way to the target, if one is cheap enough: the parents of the target's node. */
static void search(exact *self) {
    reach(self, SOURCE, -1, 0);
    for (int at; self->status == DT_OK && !self->too_many && (at = next_node(self)) >= 0;)
        leave(self, at);
}

static dt_status add_path(const exact *self, int at, dt__route *out) {
    if (at < 0)
        return DT_OK;
    DT__TRY(add_path(self, self->nodes[at].parent, out));
    return dt__route_add(out, self->alphabet, &self->places[(int64_t)at * self->n_mesh_dims]);
}

static dt_status make_families(exact *self) {
    const dt__relaxed *relaxed = &self->relaxed;
    self->families = DT__NEW_ARRAY(self->arena, family, relaxed->n);
    if (!self->families)
        return DT_ERR_MEMORY;
    for (int i = DT__RELAXED_OTHERS; i < relaxed->n; i++)
        if (is_cheap(self, relaxed->states[i].left))
            self->families[self->n_families++] = (family){.like = &relaxed->states[i]};
    return DT_OK;
}

static dt_status run(exact *self, dt__route *out) {
    const dt__relaxed_state *states;
    self->rates = dt__rates_new(self->arena, self->alphabet);
    if (!self->rates)
        return DT_ERR_MEMORY;
    DT__TRY(dt__relaxed_new(self->arena, self->alphabet, self->rates, &self->relaxed));
    self->too_many = self->relaxed.n > MOST_RELAXED_STATES;
    if (self->too_many)
        return DT_OK;
    dt__relaxed_find_left(&self->relaxed, self->most);
    states = self->relaxed.states;
    if (!is_cheap(self, states[DT__RELAXED_SOURCE].left))
        return DT_OK;
    DT__TRY(make_families(self));
    add_end(self, self->alphabet->from, &states[DT__RELAXED_SOURCE]);
    add_end(self, self->alphabet->to, &states[DT__RELAXED_TARGET]);
    DT__TRY(self->status);
    search(self);
    DT__TRY(self->status);
    return isfinite(self->nodes[TARGET].cost) ? add_path(self, TARGET, out) : DT_OK;
}

dt_status dt__exact_run(const dt__alphabet *alphabet, double most, dt__route *out, bool *done) {
    dt__arena arena = dt__arena_new(out->arena->ctx);
    exact self = {.alphabet = alphabet,
                  .arena = &arena,
                  .n_mesh_dims = alphabet->n_mesh_dims,
                  .n_dims = alphabet->n_dims,
                  .most = most};
    *done = alphabet->n_mesh_dims <= MOST_MESH_DIMS && alphabet->n_dims <= MOST_DIMS;
    dt_status status = *done ? run(&self, out) : DT_OK;
    *done = *done && !self.too_many;
    dt__arena_free(&arena);
    return status;
}
