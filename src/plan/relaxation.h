/* SPDX-License-Identifier: Apache-2.0
 *
 * A relaxation of the state space, from which the exact search takes a lower bound of the remaining cost. A relaxed
 * state has for each mesh dim only whether it is Replicate, partial, cut as in the source, cut as in the target, or
 * cut in some other way; and the minimum of the bytes of such states. In a step between relaxed states, a mesh dim
 * that is cut in some other way before and after stays as it is, if it can. So every route over states is one over
 * relaxed states that costs no more, and the cheapest over relaxed states is a lower bound; usually it is reached.
 */
#ifndef DT_PLAN_RELAXATION_H
#define DT_PLAN_RELAXATION_H

#include "plan/step_rates.h"

typedef enum dt__relaxed_kind {
    DT__KIND_REPLICATE,
    DT__KIND_PARTIAL,
    DT__KIND_SOURCE, /* cut as in the source, and so are all cuts before it on the tensor dim */
    DT__KIND_TARGET, /* as in the target; a mesh dim may be of both kinds */
    DT__KIND_OTHER,
    DT__N_KINDS
} dt__relaxed_kind;

typedef struct dt__relaxed_state {
    uint64_t kinds; /* a byte for each kind: the set of its mesh dims */
    double bytes;
    double remaining; /* lower bound of the cost to the target */
    dt__roles roles;
} dt__relaxed_state;

static inline int dt__relaxed_dims(const dt__relaxed_state *state, dt__relaxed_kind kind) {
    return (int)(state->kinds >> 8 * (int)kind & 255);
}

typedef struct dt__relaxation {
    int n;
    dt__relaxed_state *states; /* the source, the target, and the others */
    int *open;                 /* scratch of the search */
    const dt__rates *rates;
    int dims; /* the set of mesh dims of more than one rank */
    /* Sets of tensor dims: those that a set of mesh dims cuts in the source and in the target, and all. */
    uint8_t from_cuts[1 << DT__RATES_MAX_MESH_DIMS], to_cuts[1 << DT__RATES_MAX_MESH_DIMS], all_cuts;
} dt__relaxation;

enum { DT__RELAXED_SOURCE, DT__RELAXED_TARGET, DT__RELAXED_OTHERS };

/* Lists the relaxed states of a move. */
dt_status dt__relaxation_new(dt__arena *arena, const dt__state_space *space, const dt__rates *rates,
                             dt__relaxation *out);
/* Finds the remaining cost of the source and of all states that are nearer to the target, as far as it is below
 * max_cost; that of the others is set to the source's. */
void dt__relaxation_find_remaining(dt__relaxation *self, double max_cost);

/* The mesh dims that are cut in some other way before and after, but cannot be cut as before: where the cuts of
 * every tensor dim that are as in the source or the target change, all cuts after them change, too. */
static inline int dt__relaxed_dragged(const dt__relaxation *relaxed, const dt__relaxed_state *a,
                                      const dt__relaxed_state *b) {
    int other = dt__relaxed_dims(a, DT__KIND_OTHER) & dt__relaxed_dims(b, DT__KIND_OTHER);
    if (!other)
        return 0;
    int from = dt__relaxed_dims(a, DT__KIND_SOURCE) ^ dt__relaxed_dims(b, DT__KIND_SOURCE);
    int to = dt__relaxed_dims(a, DT__KIND_TARGET) ^ dt__relaxed_dims(b, DT__KIND_TARGET);
    return (relaxed->from_cuts[from] | relaxed->to_cuts[to]) == relaxed->all_cuts ? other : 0;
}

/* Lower bound of the cost of one step from a state of one family to a state of the other. */
static inline double dt__relaxed_price(const dt__relaxation *relaxed, const dt__relaxed_state *a,
                                       const dt__relaxed_state *b) {
    uint64_t same = a->kinds & b->kinds;
    same |= same >> 32;
    same |= same >> 16;
    same |= same >> 8;
    int set = (relaxed->dims & ~(int)same) | dt__relaxed_dragged(relaxed, a, b);
    return dt__rates_price(relaxed->rates, a->roles, b->roles, set, a->bytes, b->bytes);
}

#endif
