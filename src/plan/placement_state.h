/* SPDX-License-Identifier: Apache-2.0
 *
 * The state space of a move, which planners search. A state has for each mesh dim its placement, as a token, and its
 * position in the order of the cuts of that tensor dim. Tokens are indices into the list of placements that the move
 * can use: Replicate, a plain shard of each tensor dim, and whatever else the source or the target has (partials,
 * strided shards, explicit extents). Two states are equal when their bytes are.
 */
#ifndef DT_PLAN_PLACEMENT_STATE_H
#define DT_PLAN_PLACEMENT_STATE_H

#include "plan/plan.h"

/* The state of one mesh dim. */
typedef struct dt__dim_state {
    uint8_t token, position;
} dt__dim_state;

enum {
    DT__TOKEN_REPLICATE = 0,
    DT__TOKEN_SHARD = 1, /* of dim 0; that of dim d is this + d */
    DT__MAX_TOKENS = 1 + 3 * DT_SPEC_MAX_DIMS
};

/* The cuts of a tensor dim in a state: mesh dims, in the order they cut. */
typedef struct dt__cut_list {
    int n;
    uint8_t mesh_dims[DT_SPEC_MAX_DIMS];
} dt__cut_list;

typedef struct dt__state_space {
    const dt__move *move;
    const dt__machine *machine;
    int n_mesh_dims, n_dims;
    const int64_t *mesh;                /* sizes */
    int64_t n_ranks;                    /* of the mesh */
    bool spans_hosts[DT_SPEC_MAX_DIMS]; /* groups along this mesh dim do */
    int64_t nodes[DT_SPEC_MAX_DIMS];    /* how many they span; 0: unknown */
    bool strided;                       /* the source or the target has strided shards, decoded or not */
    bool ordered; /* some cuts of the source or the target are not in the order of the mesh dims */
    int n_tokens;
    dt_placement tokens[DT__MAX_TOKENS];
    int64_t largest[DT__MAX_TOKENS]; /* explicit extent */
    dt__dim_state from[DT_SPEC_MAX_DIMS], to[DT_SPEC_MAX_DIMS];
} dt__state_space;

/* Writes source and target as states. Strided shards that express an order become plain ones in that order, where
 * both have the same shards. */
void dt__state_space_new(const dt__move *move, const dt__machine *machine, dt__state_space *out);

static inline bool dt__token_is_cut(const dt__state_space *space, int token) {
    return dt__is_cut(&space->tokens[token]);
}
static inline bool dt__token_is_partial(const dt__state_space *space, int token) {
    return dt_placement_is_partial(space->tokens[token]);
}
/* A strided shard or one with explicit extents. */
static inline bool dt__token_is_special(const dt__state_space *space, int token) {
    return token > space->n_dims && dt__token_is_cut(space, token);
}

/* The cuts of a tensor dim. */
dt__cut_list dt__state_cuts(const dt__state_space *space, const dt__dim_state *state, int dim);
/* The placements of the state, normalized, in the arena. */
dt_status dt__state_placements(dt__arena *arena, const dt__state_space *space, const dt__dim_state *state,
                               const dt_placement **out);
/* How many of `size` indices coordinate 0 of mesh dim m keeps when this token cuts them. */
int64_t dt__token_size(const dt__state_space *space, int m, int token, int64_t size);
/* Bytes of the shard of coordinate 0: the largest one, except perhaps after a chain of uneven strided shards. */
double dt__state_bytes(const dt__state_space *space, const dt__dim_state *state);

/* One step from a state to another. */
typedef struct dt__change {
    dt__step_kind collective;
    int n_mesh_dims, mesh_dims[DT_SPEC_MAX_DIMS]; /* that change, ascending */
    int64_t group;                                /* product of their sizes */
    int64_t reduced;                              /* product of the sizes of those whose partial is reduced */
    bool spans_hosts;
    int64_t nodes;      /* that the group spans at most, where that is known; otherwise 0 */
    bool only_reduces;  /* every change is from a partial to Replicate: shards stay where they are */
    bool only_scatters; /* every change is from a partial to a cut */
} dt__change;

void dt__state_change(const dt__state_space *space, const dt__dim_state *before, const dt__dim_state *after,
                      dt__change *out);
/* The change of a state where only mesh dim m changes, from one token to another. */
void dt__dim_change(const dt__state_space *space, int m, int before, int after, dt__change *out);
/* That step as the machine model prices it, and its cost in microseconds. */
dt__step_desc dt__change_step(const dt__state_space *space, const dt__change *change, double before_bytes,
                              double after_bytes);
double dt__change_price(const dt__state_space *space, const dt__change *change, double before_bytes,
                        double after_bytes);

#endif
