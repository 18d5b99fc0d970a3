/* SPDX-License-Identifier: Apache-2.0
 *
 * The exact search. All states are listed, and those are dropped that no way through can be cheap enough for, by a
 * bound from the source and a bound to the target; over what is left goes a best-first search with every step from
 * every state. Nothing else is dropped, so the result is that of a search over everything.
 *
 * The bound of what a way from state A to state B costs adds up, with b the bytes of B's part, s the least bytes of
 * any part, and C the mesh dims that are cut or partial in A and change:
 *
 *   starts     one if C is not empty; two where something is reduced and something else in C is not, because no one
 *              collective does both
 *   peers      each mesh dim of C is in some collective, and a group of g·h ranks has at least g-1 + h-1 peers
 *   received   nothing reduced: the elements of B that rank 0 lacks in A. The model counts (g-1)/g of a part, and of
 *              plain parts rank 0, which holds the first indices before and after, keeps at least 1/g.
 *              Something reduced: the last reduction counts as much as it leaves, and what comes after as above, so b;
 *              or, if parts were even, (ranks reduced - 2)·s more: an element whose n values lie on n ranks and that
 *              m ranks get takes n-1 + m-1 messages, and a rank receives as many as the model counts, on average.
 *   slow link  ranks that agree along the mesh dims that span hosts are a host here. What its ranks hold together
 *              changes only by collectives that span hosts, and the model counts these at the slow rate. So the same
 *              two bounds hold for hosts, shared by the ranks of one, if parts were even; and in any case what one
 *              collective over a mesh dim counts at the least
 *   copies     b for the last step, s for each further collective, and s where a cut becomes another cut, which takes
 *              packing or one step more. Or the last collective that spans hosts is not the last step; then it writes
 *              b, shared by the ranks of a host, at the least. Or it is, and most of b counts at the slow rate.
 *
 * "If parts were even" bounds the true cost, too: the ceil rule makes no part smaller than its even size, and no price
 * falls when parts grow.
 */
#include "redistribute/exact.h"

#include "base/size.h"

#include <math.h>
#include <string.h>

enum {
    MOST_MESH_DIMS = 8,
    MOST_DIMS = 8,
    MOST_STATES = 1 << 16,
    FEW_STATES = 1000, /* up to so many, every tensor dim may be cut on the way */
    CODE_BITS = 5,     /* of one cut in a code: its mesh dim and which kind of cut it is */
};

static const double EAGERNESS = 1.2;
static const double ROUNDING = 1e-9; /* relative: what is not cheaper by more than this is not cheaper */

/* A state as the search sees it, in one cache line. */
typedef struct node {
    uint64_t ids[2];                 /* 16 bits per mesh dim: equal where it need not take part in a step */
    double bytes, cost;              /* of the part; of the way to it */
    double left;                     /* bound of what it still costs to the target */
    double jump;                     /* price of one collective to the target; infinite where none does it */
    double through;                  /* bound of any way from the source to the target through it */
    uint8_t replicate, partial, cut; /* mesh dims of more than one rank, as bits */
    bool closed;
    int parent;
} node;

/* And with what bounds need of it. */
typedef struct state {
    node node;
    dt__place places[MOST_MESH_DIMS];
    double even_bytes;                            /* of the part, if parts were of one size */
    double size[MOST_DIMS], host_size[MOST_DIMS]; /* indices of a tensor dim that rank 0, and its host, hold */
} state;

/* Numbers for what a mesh dim does; a table with open addressing. */
typedef struct numbering {
    int n, room; /* room: a power of two */
    struct {
        uint64_t code; /* 0: free */
        int number;
    } * slots;
} numbering;

/* What a collective costs over a set of mesh dims: base + before·bytes + after·bytes. */
typedef struct rate {
    double base, before, after;
} rate;

typedef struct exact {
    const dt__alphabet *alphabet;
    dt__arena *arena;
    int n_mesh_dims, n_dims;
    bool useful[DT_SPEC_MAX_DIMS]; /* tensor dims that states may cut */
    int n_options[MOST_MESH_DIMS];
    uint8_t options[MOST_MESH_DIMS][DT__MAX_TOKENS]; /* tokens that a mesh dim may have */
    rate (*rates)[1 << MOST_MESH_DIMS];              /* per collective and set of mesh dims */
    bool spans[MOST_MESH_DIMS];
    bool plain;        /* all cuts are plain shards */
    double whole;      /* bytes of the tensor */
    double least;      /* bytes of the smallest part, if parts were of one size */
    double host_ranks; /* on one host */
    double most;       /* what is as dear is of no use */
    int n_nodes, room;
    node *nodes;
    dt__place *places; /* n_mesh_dims per node */
    numbering numbers[MOST_MESH_DIMS];
    int n_active;
    int *active; /* nodes that a cheap enough way may go through */
    state from, to;
    int source, target; /* nodes; -1: none */
    bool too_many;
    dt_status status;
    /* the state that is being listed */
    uint8_t chosen[MOST_MESH_DIMS];
    dt__cut_list cuts[DT_SPEC_MAX_DIMS];
} exact;

/* Without the care for numbers that are none, which costs a call. */
static inline double least_of(double a, double b) { return a < b ? a : b; }
static inline double most_of(double a, double b) { return a > b ? a : b; }

static const double FULL = 1099511627776.0; /* bytes at which rates are taken, so that nothing is lost by rounding */

static double price_at(const exact *self, const dt__change *change, double before, double after) {
    return dt__change_price(self->alphabet, change, before, after);
}

static void find_rates(exact *self) {
    for (int set = 0; set < 1 << self->n_mesh_dims; set++) {
        dt__change change = {.group = 1};
        for (int m = 0; m < self->n_mesh_dims; m++)
            if (set >> m & 1) {
                change.group *= self->alphabet->mesh[m];
                change.spans_hosts |= self->spans[m];
            }
        for (int c = 0; c < DT__N_COLLECTIVES; c++) {
            change.collective = (dt__collective)c;
            double base = price_at(self, &change, 0, 0);
            self->rates[c][set] = (rate){base, (price_at(self, &change, FULL, 0) - base) / FULL,
                                         (price_at(self, &change, 0, FULL) - base) / FULL};
        }
    }
}

/* One number for what a mesh dim does: its token and, of a cut, the cuts before it; those of one part are none. */
static uint64_t code_of(const exact *self, const dt__place *places, const dt__cut_list *cuts, int m) {
    const dt__alphabet *alphabet = self->alphabet;
    int token = places[m].token;
    uint64_t code = 0;
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

/* The number of a code; -1 when there are too many. */
static int number_of(numbering *self, uint64_t code) {
    uint64_t hash = code * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (uint64_t i = hash;; i++) {
        uint64_t at = i & (uint64_t)(self->room - 1);
        if (self->slots[at].code == code)
            return self->slots[at].number;
        if (self->slots[at].code)
            continue;
        if (2 * self->n >= self->room)
            return -1;
        self->slots[at].code = code;
        return self->slots[at].number = self->n++;
    }
}

static bool fill_ids(exact *self, const dt__cut_list *cuts, state *out) {
    out->node.ids[0] = out->node.ids[1] = 0;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        int number = number_of(&self->numbers[m], code_of(self, out->places, cuts, m) + 1);
        if (number < 0)
            return false;
        out->node.ids[m / 4] |= (uint64_t)number << m % 4 * 16;
    }
    return true;
}

static void fill_kinds(const exact *self, state *out) {
    const dt__alphabet *alphabet = self->alphabet;
    node *seen = &out->node;
    out->even_bytes = self->whole;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        int token = out->places[m].token, bit = alphabet->mesh[m] > 1 ? 1 << m : 0;
        if (token == DT__TOKEN_REPLICATE)
            seen->replicate |= (uint8_t)bit;
        else if (dt__token_is_partial(alphabet, token))
            seen->partial |= (uint8_t)bit;
        else {
            seen->cut |= (uint8_t)bit;
            out->even_bytes /= (double)alphabet->mesh[m];
        }
    }
}

static void fill_sizes(const exact *self, const dt__cut_list *cuts, state *out) {
    const dt__alphabet *alphabet = self->alphabet;
    out->node.bytes = (double)alphabet->move->item_bytes;
    for (int d = 0; d < self->n_dims; d++) {
        int64_t size = alphabet->move->from->shape[d];
        double host_size = (double)size;
        for (int c = 0; c < cuts[d].n; c++) {
            int m = cuts[d].mesh_dims[c];
            size = self->plain ? dt__ceil_div(size, alphabet->mesh[m])
                               : dt__token_size(alphabet, m, out->places[m].token, size);
            host_size = self->spans[m] ? host_size / (double)alphabet->mesh[m] : host_size;
        }
        out->size[d] = (double)size;
        out->host_size[d] = host_size;
        out->node.bytes *= (double)size;
    }
}

/* From the places; false where there are too many different ones. */
static bool fill_state(exact *self, const dt__cut_list *cuts, state *out) {
    out->node = (node){.cost = INFINITY, .parent = -1};
    fill_kinds(self, out);
    fill_sizes(self, cuts, out);
    return fill_ids(self, cuts, out);
}

/* Bit i for each of four 16-bit numbers that is not 0. */
static inline int which_of_four(uint64_t numbers) {
    const uint64_t low = UINT64_C(0x7fff7fff7fff7fff);
    uint64_t ones = (((numbers & low) + low) | numbers) >> 15 & UINT64_C(0x0001000100010001);
    return (int)(ones * (UINT64_C(1) << 48 | UINT64_C(1) << 33 | 1 << 18 | 1 << 3) >> 48 & 15);
}

/* The mesh dims of more than one rank that a step from a to b changes. */
static inline int changed(const node *a, const node *b) {
    int set = which_of_four(a->ids[0] ^ b->ids[0]);
    uint64_t more = a->ids[1] ^ b->ids[1];
    if (more)
        set |= which_of_four(more) << 4;
    return set & (a->replicate | a->partial | a->cut);
}

/* The price of one collective from a to b; infinite where none does it. */
static inline double step_price(const exact *self, const node *a, const node *b, int set) {
    dt__collective collective;
    if (set & a->partial) {
        if (set & ~a->partial || (set & b->replicate && set & b->cut))
            return INFINITY;
        collective = set & b->cut ? DT__COLLECTIVE_REDUCE_SCATTER : DT__COLLECTIVE_ALL_REDUCE;
    } else if (!(set & ~a->replicate))
        collective = DT__COLLECTIVE_NONE;
    else
        collective = set & ~b->replicate ? DT__COLLECTIVE_ALL_TO_ALL : DT__COLLECTIVE_ALL_GATHER;
    const rate *at = &self->rates[collective][set];
    return at->base + at->before * a->bytes + at->after * b->bytes;
}

/* Bytes of b, and how many of them a has at most, where both have the first, or any, indices of each dim. */
static double lacking(const exact *self, const double *a, const double *b, double *all) {
    double kept = *all = (double)self->alphabet->move->item_bytes;
    for (int d = 0; d < self->n_dims; d++) {
        *all *= b[d];
        kept *= a[d] < b[d] ? a[d] : b[d];
    }
    return *all - kept;
}

/* What rank 0 receives. */
static double least_received(const exact *self, const state *a, const state *b, int64_t reduced) {
    double all, lacks;
    if (!self->plain)
        return 0;
    lacks = lacking(self, a->size, b->size, &all);
    if (reduced == 1)
        return lacks;
    return most_of(all, b->even_bytes + (double)(reduced - 2) * self->least);
}

/* What it receives from other hosts. */
static double least_slow(const exact *self, const state *a, const state *b, int64_t reduced) {
    double all, lacks;
    if (!self->plain)
        return 0;
    lacks = lacking(self, a->host_size, b->host_size, &all);
    return reduced > 1 ? all / self->host_ranks + (double)(reduced - 2) * self->least : lacks / self->host_ranks;
}

/* At most what any way from a to b costs. */
static double bound(const exact *self, const state *from, const state *to) {
    const node *a = &from->node, *b = &to->node;
    const dt__machine *machine = self->alphabet->machine;
    const dt__link *within = &machine->within, *between = &machine->between;
    int set = changed(a, b), moved = set & ~a->replicate, reduced_set = set & a->partial;
    double copied = 0, peers_us = 0, slow = 0, share = 1; /* copied: beside what the last step writes */
    int64_t reduced = 1, host_reduced = 1;
    if (!set)
        return 0;
    if (!moved)
        return b->bytes / machine->copy_bytes_per_us;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        if (!(moved >> m & 1))
            continue;
        double peers = (double)self->alphabet->mesh[m] - 1, counted = peers * self->least;
        bool reduces = reduced_set >> m & 1, to_replicate = b->replicate >> m & 1;
        reduced *= reduces ? self->alphabet->mesh[m] : 1;
        host_reduced *= reduces && self->spans[m] ? self->alphabet->mesh[m] : 1;
        peers_us += peers * (self->spans[m] ? between->peer_us : least_of(within->peer_us, between->peer_us));
        if (reduces)
            counted *= to_replicate ? 2 : 1;
        else if (!to_replicate)
            counted /= (double)self->alphabet->mesh[m];
        if (self->spans[m]) {
            slow = most_of(slow, counted);
            share = least_of(share, peers / (peers + 1));
        }
    }
    bool twice = reduced_set && moved != reduced_set;
    copied += twice ? self->least : 0;
    copied += moved & a->cut & b->cut ? self->least : 0;
    slow = most_of(slow, least_slow(self, from, to, host_reduced));
    double fast = most_of(within->bytes_per_us, between->bytes_per_us), copy = 1 / machine->copy_bytes_per_us;
    double slower = 1 / between->bytes_per_us - 1 / fast, extra_us = slow * slower + copied * copy;
    if (share < 1) /* the last slow collective is the last step of all, or what it writes is a copy that is not */
        extra_us = least_of(most_of(slow, share * to->even_bytes) * slower + copied * copy,
                            slow * slower + most_of(copied, to->even_bytes / self->host_ranks) * copy);
    return (twice ? 2 : 1) * least_of(within->start_us, between->start_us) + peers_us +
           least_received(self, from, to, reduced) / fast + extra_us + b->bytes * copy;
}

static bool is_cheap(const exact *self, double us) { return us < self->most * (1 - ROUNDING); }

static bool make_room(exact *self) {
    if (self->n_nodes < self->room)
        return true;
    int room = self->room ? 4 * self->room : 256;
    size_t n = (size_t)self->n_nodes, n_dims = (size_t)self->n_mesh_dims;
    node *nodes = DT__NEW_ARRAY(self->arena, node, room);
    dt__place *places = DT__NEW_ARRAY(self->arena, dt__place, (size_t)room * n_dims);
    if (!nodes || !places)
        return false;
    if (n) {
        memcpy(nodes, self->nodes, n * sizeof *nodes);
        memcpy(places, self->places, n * n_dims * sizeof *places);
    }
    self->nodes = nodes;
    self->places = places;
    self->room = room;
    return true;
}

/* Keeps the listed state if a way through it may be cheap enough. */
static void keep(exact *self) {
    state one;
    size_t bytes = (size_t)self->n_mesh_dims * sizeof *one.places;
    for (int m = 0; m < self->n_mesh_dims; m++)
        one.places[m] = (dt__place){self->chosen[m], 0};
    for (int d = 0; d < self->n_dims; d++)
        for (int c = 0; c < self->cuts[d].n; c++)
            one.places[self->cuts[d].mesh_dims[c]].position = (uint8_t)c;
    if (!fill_state(self, self->cuts, &one)) {
        self->too_many = true;
        return;
    }
    one.node.left = bound(self, &one, &self->to);
    if (!is_cheap(self, one.node.left))
        return;
    one.node.through = bound(self, &self->from, &one) + one.node.left;
    if (!is_cheap(self, one.node.through))
        return;
    if (!make_room(self)) {
        self->status = DT_ERR_MEMORY;
        return;
    }
    if (!memcmp(one.places, self->from.places, bytes))
        self->source = self->n_nodes;
    if (!memcmp(one.places, self->to.places, bytes))
        self->target = self->n_nodes;
    memcpy(&self->places[(size_t)self->n_nodes * (size_t)self->n_mesh_dims], one.places, bytes);
    self->nodes[self->n_nodes++] = one.node;
}

/* Explicit extents stand alone on their dim. */
static bool fits(const exact *self, int token) {
    const dt_placement *placement = &self->alphabet->tokens[token];
    const dt__cut_list *cuts = &self->cuts[placement->dim];
    if (cuts->n == 0)
        return true;
    return !placement->n_extents && !self->alphabet->tokens[self->chosen[cuts->mesh_dims[0]]].n_extents;
}

/* Lists the states in which the mesh dims before m have what is chosen: m's cut comes into every place of its dim's
 * order. */
static void list_states(exact *self, int m) {
    if (self->status != DT_OK || self->too_many)
        return;
    if (m == self->n_mesh_dims) {
        keep(self);
        return;
    }
    for (int i = 0; i < self->n_options[m]; i++) {
        int token = self->chosen[m] = self->options[m][i];
        if (!dt__token_is_cut(self->alphabet, token)) {
            list_states(self, m + 1);
            continue;
        }
        dt__cut_list *cuts = &self->cuts[self->alphabet->tokens[token].dim];
        if (!fits(self, token))
            continue;
        cuts->n++;
        for (int at = cuts->n - 1; at >= 0; at--) { /* moves towards the front */
            if (at + 1 < cuts->n)
                cuts->mesh_dims[at + 1] = cuts->mesh_dims[at];
            cuts->mesh_dims[at] = (uint8_t)m;
            list_states(self, m + 1);
        }
        memmove(cuts->mesh_dims, cuts->mesh_dims + 1, (size_t)(cuts->n - 1));
        cuts->n--;
    }
}

static void add_option(exact *self, int m, int token) {
    for (int i = 0; i < self->n_options[m]; i++)
        if (self->options[m][i] == token)
            return;
    self->options[m][self->n_options[m]++] = (uint8_t)token;
}

/* The tokens of each mesh dim: those of source and target, Replicate, and shards of useful tensor dims, or of the
 * largest only. A mesh dim of one rank, or with a partial that stays, has nothing to do on the way. */
static void find_options(exact *self, bool few) {
    const dt__alphabet *alphabet = self->alphabet;
    const int64_t *shape = alphabet->move->from->shape;
    int largest = 0;
    for (int d = 1; d < self->n_dims; d++)
        largest = shape[d] > shape[largest] ? d : largest;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        int from = alphabet->from[m].token, to = alphabet->to[m].token;
        self->n_options[m] = 0;
        add_option(self, m, from);
        add_option(self, m, to);
        if (alphabet->mesh[m] == 1 || dt__token_is_partial(alphabet, to))
            continue;
        add_option(self, m, DT__TOKEN_REPLICATE);
        for (int d = 0; d < self->n_dims; d++)
            if (few ? d == largest && to == DT__TOKEN_REPLICATE : self->useful[d])
                add_option(self, m, DT__TOKEN_SHARD + d);
    }
}

/* At most so many states there are: a cut of one dim has as many places as there are cuts before it, and one more. */
static double n_states(const exact *self) {
    double n = 1;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        int cuts = 0;
        for (int i = 0; i < self->n_options[m]; i++)
            cuts += dt__token_is_cut(self->alphabet, self->options[m][i]);
        n *= self->n_options[m] + (cuts ? m : 0);
    }
    return n;
}

/* Every tensor dim where that leaves few states; else those that source and target cut, and the largest other. */
static bool choose_dims(exact *self) {
    const dt__alphabet *alphabet = self->alphabet;
    const int64_t *shape = alphabet->move->from->shape;
    int spare = -1;
    for (int d = 0; d < self->n_dims; d++)
        self->useful[d] = true;
    find_options(self, false);
    if (n_states(self) <= FEW_STATES)
        return true;
    for (int d = 0; d < self->n_dims; d++) {
        self->useful[d] =
            dt__state_cuts(alphabet, alphabet->from, d).n || dt__state_cuts(alphabet, alphabet->to, d).n;
        if (!self->useful[d] && (spare < 0 || shape[d] > shape[spare]))
            spare = d;
    }
    if (spare >= 0)
        self->useful[spare] = true;
    find_options(self, false);
    return n_states(self) <= MOST_STATES;
}

static void find_sizes(exact *self) {
    const dt__alphabet *alphabet = self->alphabet;
    int64_t ranks = 1;
    self->host_ranks = 1;
    self->whole = (double)alphabet->move->item_bytes;
    self->plain = true;
    for (int m = 0; m < self->n_mesh_dims; m++) {
        self->spans[m] =
            dt__machine_spans_hosts(alphabet->machine, self->n_mesh_dims, alphabet->mesh, m) && alphabet->mesh[m] > 1;
        int64_t n = dt__token_is_partial(alphabet, alphabet->to[m].token) ? 1 : alphabet->mesh[m];
        ranks *= n;
        self->host_ranks *= self->spans[m] ? 1 : (double)n;
        self->plain = self->plain && !dt__token_is_special(alphabet, alphabet->from[m].token) &&
                      !dt__token_is_special(alphabet, alphabet->to[m].token);
    }
    for (int d = 0; d < self->n_dims; d++) {
        self->whole *= (double)alphabet->move->from->shape[d];
    }
    self->least = self->whole / (double)ranks;
}

static bool read_end(exact *self, const dt__place *places, state *out) {
    dt__cut_list cuts[MOST_DIMS];
    memcpy(out->places, places, (size_t)self->n_mesh_dims * sizeof *places);
    for (int d = 0; d < self->n_dims; d++)
        cuts[d] = dt__state_cuts(self->alphabet, places, d);
    return fill_state(self, cuts, out);
}

/* The open node that promises most; -1: none that may lead to something cheap. What is left counts for more than it
 * is, because a way that is near its end soon tells what is cheap. */
static int next_node(const exact *self) {
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < self->n_active; i++) {
        const node *one = &self->nodes[self->active[i]];
        double promise = one->cost + EAGERNESS * one->left;
        if (!one->closed && promise < least && is_cheap(self, one->cost + one->left)) {
            best = self->active[i];
            least = promise;
        }
    }
    return best;
}

/* The target can be reached from a node by one step more. */
static bool arrive(exact *self, int at) {
    node *target = &self->nodes[self->target];
    double cost = self->nodes[at].cost + self->nodes[at].jump;
    if (cost >= target->cost || !is_cheap(self, cost))
        return false;
    target->cost = cost;
    target->parent = at;
    self->most = cost;
    return true;
}

/* Takes every step out of a node; says whether that led to a cheaper way to the target. */
static bool leave(exact *self, int at) {
    const node *from = &self->nodes[at];
    bool arrived = false;
    for (int i = 0; i < self->n_active; i++) {
        node *to = &self->nodes[self->active[i]];
        if (to->cost <= from->cost || !is_cheap(self, from->cost + to->left))
            continue;
        double cost = from->cost + step_price(self, from, to, changed(from, to));
        if (cost < to->cost && is_cheap(self, cost + to->left)) {
            to->cost = cost;
            to->parent = at;
            to->closed = false; /* opened again where it was closed */
            arrived |= arrive(self, self->active[i]);
        }
    }
    return arrived;
}

/* Now that less is cheap, fewer nodes are of use. */
static void drop_nodes(exact *self) {
    int n = 0;
    for (int i = 0; i < self->n_active; i++)
        if (is_cheap(self, self->nodes[self->active[i]].through))
            self->active[n++] = self->active[i];
    self->n_active = n;
}

/* Finds the cheapest way to the target, if one is cheap enough: the parents of the target's node. */
static void search(exact *self) {
    self->nodes[self->source].cost = 0;
    for (int i = 0; i < self->n_nodes; i++) {
        node *one = &self->nodes[i];
        one->jump = step_price(self, one, &self->to.node, changed(one, &self->to.node));
        if (i != self->target)
            self->active[self->n_active++] = i;
    }
    arrive(self, self->source);
    for (int at; (at = next_node(self)) >= 0;) {
        self->nodes[at].closed = true;
        if (leave(self, at))
            drop_nodes(self);
    }
}

static dt_status add_path(const exact *self, int at, dt__route *out) {
    if (at < 0)
        return DT_OK;
    DT__TRY(add_path(self, self->nodes[at].parent, out));
    return dt__route_add(out, self->alphabet, &self->places[(int64_t)at * self->n_mesh_dims]);
}

static dt_status make_tables(exact *self) {
    self->rates = dt__arena_alloc(self->arena, DT__N_COLLECTIVES, sizeof *self->rates);
    for (int m = 0; m < self->n_mesh_dims; m++) {
        numbering *numbers = &self->numbers[m];
        numbers->room = self->n_mesh_dims <= 4 ? 1 << 9 : 1 << 14;
        numbers->slots = dt__arena_alloc(self->arena, (size_t)numbers->room, sizeof *numbers->slots);
        if (!numbers->slots)
            return DT_ERR_MEMORY;
    }
    return self->rates ? DT_OK : DT_ERR_MEMORY;
}

/* Looks for something cheaper than what is known, over the options. */
static dt_status look(exact *self, dt__route *out) {
    self->n_nodes = self->n_active = 0;
    self->source = self->target = -1;
    list_states(self, 0);
    DT__TRY(self->status);
    if (self->too_many || self->source < 0 || self->target < 0)
        return DT_OK;
    self->active = DT__NEW_ARRAY(self->arena, int, self->n_nodes);
    if (!self->active)
        return DT_ERR_MEMORY;
    search(self);
    if (!isfinite(self->nodes[self->target].cost))
        return DT_OK;
    out->n_states = 0;
    return add_path(self, self->target, out);
}

/* A look at few states tells what is cheap, so that most others need not be kept. */
static dt_status run(exact *self, dt__route *out) {
    DT__TRY(make_tables(self));
    find_sizes(self);
    find_rates(self);
    self->too_many =
        !read_end(self, self->alphabet->from, &self->from) || !read_end(self, self->alphabet->to, &self->to);
    if (!self->too_many && bound(self, &self->from, &self->to) >= self->most * (1 - ROUNDING))
        return DT_OK;
    find_options(self, true);
    DT__TRY(look(self, out));
    find_options(self, false);
    return look(self, out);
}

dt_status dt__exact_run(const dt__alphabet *alphabet, double most, dt__route *out, bool *done) {
    dt__arena arena = dt__arena_new(out->arena->ctx);
    exact self = {.alphabet = alphabet,
                  .arena = &arena,
                  .n_mesh_dims = alphabet->n_mesh_dims,
                  .n_dims = alphabet->n_dims,
                  .most = most};
    *done = alphabet->n_mesh_dims <= MOST_MESH_DIMS && alphabet->n_dims <= MOST_DIMS && choose_dims(&self);
    dt_status status = *done ? run(&self, out) : DT_OK;
    *done = *done && !self.too_many;
    dt__arena_free(&arena);
    return status;
}
