/* SPDX-License-Identifier: Apache-2.0
 *
 * The states that the exact search has listed, in a form that makes a step between two of them cheap to price. The
 * states that one relaxed state stands for, its family, are listed together.
 */
#ifndef DT_PLAN_STATE_TABLE_H
#define DT_PLAN_STATE_TABLE_H

#include "plan/relaxation.h"

enum {
    DT__STATE_TABLE_MAX_MESH_DIMS = DT__RATES_MAX_MESH_DIMS,
    DT__STATE_TABLE_MAX_DIMS = 8,
    DT__STATE_TABLE_MAX = 1 << 16
};

/* In one cache line. */
typedef struct dt__state_node {
    uint64_t ids[2];    /* 16 bits per mesh dim: equal in two states where it takes no part in a step between them */
    double bytes, cost; /* of the shard; of the best known route to it, infinite at first */
    double bound;       /* lower bound of a route to the target that continues from here into a new family */
    double expanded_to; /* families with a lower bound have been expanded into */
    const dt__relaxed_state *relaxed;
    dt__roles roles;
    bool open; /* there may be families to expand into */
    int parent;
} dt__state_node;

enum { DT__STATE_NODE_SOURCE, DT__STATE_NODE_TARGET };

typedef struct dt__state_table {
    const dt__state_space *space;
    const dt__relaxation *relaxation;
    dt__arena *arena;
    int n, capacity;
    dt__state_node *items; /* the source, the target, and the listed ones */
    dt__dim_state *states; /* n_mesh_dims per node */
    dt__cut_list from_cuts[DT__STATE_TABLE_MAX_DIMS], to_cuts[DT__STATE_TABLE_MAX_DIMS]; /* of source and target */
    int n_codes, code_capacity;
    struct dt__numbered *codes;
    bool too_many; /* more than DT__STATE_TABLE_MAX */
} dt__state_table;

/* A table of the source and the target. */
dt_status dt__state_table_new(dt__arena *arena, const dt__state_space *space, const dt__relaxation *relaxation,
                              dt__state_table *out);
/* Adds the family of a relaxed state. */
dt_status dt__state_table_add_family(dt__state_table *table, const dt__relaxed_state *relaxed);

/* Bit i for each of four 16-bit numbers that is not 0. */
static inline int dt__nonzero_lanes(uint64_t numbers) {
    const uint64_t low = UINT64_C(0x7fff7fff7fff7fff);
    uint64_t ones = (((numbers & low) + low) | numbers) >> 15 & UINT64_C(0x0001000100010001);
    return (int)(ones * (UINT64_C(1) << 48 | UINT64_C(1) << 33 | 1 << 18 | 1 << 3) >> 48 & 15);
}

/* The mesh dims of more than one rank that a step from a to b changes. */
static inline int dt__state_node_changes(const dt__state_table *table, const dt__state_node *a,
                                         const dt__state_node *b) {
    int set = dt__nonzero_lanes(a->ids[0] ^ b->ids[0]);
    uint64_t more = a->ids[1] ^ b->ids[1];
    if (more)
        set |= dt__nonzero_lanes(more) << 4;
    return set & table->relaxation->dims;
}

#endif
