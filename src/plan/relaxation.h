/* SPDX-License-Identifier: Apache-2.0
 *
 * A small picture of all states, by which the exact search knows what it still costs to the target. A relaxed state
 * says of each mesh dim only whether it is Replicate, partial, cut as in the source, cut as in the target, or cut in
 * some other way; and it has the least bytes that such a state can have. In a step between relaxed states, a mesh dim
 * that is cut in some other way before and after stays as it is, if it can. So every way over states is one over
 * relaxed states that costs no more, and the cheapest over relaxed states is a bound; mostly one can be had for that.
 */
#ifndef DT_PLAN_RELAXATION_H
#define DT_PLAN_RELAXATION_H

#include "plan/step_cost.h"

typedef enum dt__kind {
    DT__KIND_REPLICATE,
    DT__KIND_PARTIAL,
    DT__KIND_SOURCE, /* cut as in the source: so are all that cut the tensor dim before it */
    DT__KIND_TARGET, /* and as in the target; with the one before, as in both */
    DT__KIND_OTHER,
    DT__N_KINDS
} dt__kind;

typedef struct dt__relaxed_state {
    uint64_t kinds; /* a byte for each kind: its mesh dims as bits */
    double bytes;
    double left; /* at least what it costs to the target */
    dt__roles roles;
} dt__relaxed_state;

static inline int dt__relaxed_dims(const dt__relaxed_state *state, dt__kind kind) {
    return (int)(state->kinds >> 8 * (int)kind & 255);
}

typedef struct dt__relaxed {
    int n;
    dt__relaxed_state *states; /* the source, the target, and the others */
    int *open;                 /* room for the searches */
    const dt__rates *rates;
    int dims; /* mesh dims of more than one rank, as bits */
    uint8_t
        from_cuts[1 << DT__RATES_MOST_MESH_DIMS]; /* per set of mesh dims: tensor dims that they cut in the source */
    uint8_t to_cuts[1 << DT__RATES_MOST_MESH_DIMS]; /* and in the target */
    uint8_t all_cuts;                               /* every tensor dim */
} dt__relaxed;

enum { DT__RELAXED_SOURCE, DT__RELAXED_TARGET, DT__RELAXED_OTHERS };

/* Lists the relaxed states of a move. */
dt_status dt__relaxed_new(dt__arena *arena, const dt__alphabet *alphabet, const dt__rates *rates, dt__relaxed *out);
/* Finds what is left from the source and from all that are nearer to the target, as far as it is below `most`; that of
 * the others is as of the source. */
void dt__relaxed_find_left(dt__relaxed *self, double most);

/* The mesh dims that are cut in some other way before and after, and can not be cut as before: where the cuts of every
 * tensor dim that are as in the source or the target change, so does all that comes after them. */
static inline int dt__relaxed_dragged(const dt__relaxed *relaxed, const dt__relaxed_state *a,
                                      const dt__relaxed_state *b) {
    int other = dt__relaxed_dims(a, DT__KIND_OTHER) & dt__relaxed_dims(b, DT__KIND_OTHER);
    if (!other)
        return 0;
    int from = dt__relaxed_dims(a, DT__KIND_SOURCE) ^ dt__relaxed_dims(b, DT__KIND_SOURCE);
    int to = dt__relaxed_dims(a, DT__KIND_TARGET) ^ dt__relaxed_dims(b, DT__KIND_TARGET);
    return (relaxed->from_cuts[from] | relaxed->to_cuts[to]) == relaxed->all_cuts ? other : 0;
}

/* At most what one step from a state of one kind to a state of the other costs. */
static inline double dt__relaxed_price(const dt__relaxed *relaxed, const dt__relaxed_state *a,
                                       const dt__relaxed_state *b) {
    uint64_t same = a->kinds & b->kinds;
    same |= same >> 32;
    same |= same >> 16;
    same |= same >> 8;
    int set = (relaxed->dims & ~(int)same) | dt__relaxed_dragged(relaxed, a, b);
    return dt__rates_price(relaxed->rates, a->roles, b->roles, set, a->bytes, b->bytes);
}

#endif
