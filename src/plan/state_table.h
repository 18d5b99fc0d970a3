/* SPDX-License-Identifier: Apache-2.0
 *
 * The states that the exact search has come to, as it sees them. Those that one relaxed state stands for are listed
 * together.
 */
#ifndef DT_PLAN_STATE_TABLE_H
#define DT_PLAN_STATE_TABLE_H

#include "plan/relaxation.h"

enum { DT__NODES_MOST_MESH_DIMS = DT__RATES_MOST_MESH_DIMS, DT__NODES_MOST_DIMS = 8, DT__NODES_MOST = 1 << 16 };

/* In one cache line. */
typedef struct dt__node {
    uint64_t ids[2];    /* 16 bits per mesh dim: equal where it need not take part in a step */
    double bytes, cost; /* of the part; of the way to it: infinite at first */
    double promise;     /* at least what a way to the target costs that goes on from here to a new family */
    double done;        /* families that promise less have been gone to */
    const dt__relaxed_state *like;
    dt__roles roles;
    bool open; /* there may be families to go to */
    int parent;
} dt__node;

enum { DT__NODE_SOURCE, DT__NODE_TARGET };

typedef struct dt__nodes {
    const dt__alphabet *alphabet;
    const dt__relaxed *relaxed;
    dt__arena *arena;
    int n, room;
    dt__node *items;   /* the source, the target, and what was listed */
    dt__rank_position *places; /* n_mesh_dims per node */
    int n_codes, code_room;
    struct dt__numbered *codes;
    bool too_many; /* to list them all */
} dt__nodes;

/* Begins with the source and the target. */
dt_status dt__nodes_new(dt__arena *arena, const dt__alphabet *alphabet, const dt__relaxed *relaxed, dt__nodes *out);
/* Adds the states that a relaxed state stands for. */
dt_status dt__nodes_list(dt__nodes *nodes, const dt__relaxed_state *like);

/* Bit i for each of four 16-bit numbers that is not 0. */
static inline int dt__which_of_four(uint64_t numbers) {
    const uint64_t low = UINT64_C(0x7fff7fff7fff7fff);
    uint64_t ones = (((numbers & low) + low) | numbers) >> 15 & UINT64_C(0x0001000100010001);
    return (int)(ones * (UINT64_C(1) << 48 | UINT64_C(1) << 33 | 1 << 18 | 1 << 3) >> 48 & 15);
}

/* The mesh dims of more than one rank that a step from a to b changes. */
static inline int dt__node_changes(const dt__nodes *nodes, const dt__node *a, const dt__node *b) {
    int set = dt__which_of_four(a->ids[0] ^ b->ids[0]);
    uint64_t more = a->ids[1] ^ b->ids[1];
    if (more)
        set |= dt__which_of_four(more) << 4;
    return set & nodes->relaxed->dims;
}

#endif
