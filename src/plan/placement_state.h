/* SPDX-License-Identifier: Apache-2.0
 *
 * States: what planners walk over. A state says for each mesh dim which placement it has, as a token, and where it
 * stands in the order of the cuts of its tensor dim. Tokens are numbers in the alphabet of one move: Replicate, a
 * plain shard of each tensor dim, and whatever else the source or the target has (partials, strided shards, explicit
 * extents). Two states are equal when their bytes are.
 */
#ifndef DT_PLAN_PLACEMENT_STATE_H
#define DT_PLAN_PLACEMENT_STATE_H

#include "plan/plan.h"

typedef struct dt__rank_position {
    uint8_t token, position;
} dt__rank_position;

enum {
    DT__TOKEN_REPLICATE = 0,
    DT__TOKEN_SHARD = 1, /* of dim 0; that of dim d is this + d */
    DT__MAX_TOKENS = 1 + 3 * DT_SPEC_MAX_DIMS
};

/* A tensor dim's cuts in a state: mesh dims, in the order in which they cut. */
typedef struct dt__cut_list {
    int n;
    uint8_t mesh_dims[DT_SPEC_MAX_DIMS];
} dt__cut_list;

typedef struct dt__alphabet {
    const dt__move *move;
    const dt__machine *machine;
    int n_mesh_dims, n_dims;
    const int64_t *mesh; /* sizes */
    bool strided;        /* the source or the target had strided shards, decoded or not */
    bool ordered;        /* the source's or the target's cuts do not all go from left to right */
    int n_tokens;
    dt_placement tokens[DT__MAX_TOKENS];
    int64_t largest[DT__MAX_TOKENS]; /* of explicit extents */
    dt__rank_position from[DT_SPEC_MAX_DIMS], to[DT_SPEC_MAX_DIMS];
} dt__alphabet;

/* Writes source and target as states. Strided shards that stand for an order become plain ones in that order, where
 * both give the same parts. */
void dt__alphabet_new(const dt__move *move, const dt__machine *machine, dt__alphabet *out);

static inline bool dt__token_is_cut(const dt__alphabet *alphabet, int token) {
    return dt__is_cut(&alphabet->tokens[token]);
}
static inline bool dt__token_is_partial(const dt__alphabet *alphabet, int token) {
    return dt_placement_is_partial(alphabet->tokens[token]);
}
/* A strided shard or one with explicit extents. */
static inline bool dt__token_is_special(const dt__alphabet *alphabet, int token) {
    return token > alphabet->n_dims && dt__token_is_cut(alphabet, token);
}

/* The cuts of a tensor dim. */
dt__cut_list dt__state_cuts(const dt__alphabet *alphabet, const dt__rank_position *state, int dim);
/* The placements that the state stands for, normalised, in the arena. */
dt_status dt__state_placements(dt__arena *arena, const dt__alphabet *alphabet, const dt__rank_position *state,
                               const dt_placement **out);
/* Of `size` indices, those that coordinate 0 of mesh dim m keeps when this token cuts them. */
int64_t dt__token_size(const dt__alphabet *alphabet, int m, int token, int64_t size);
/* Bytes of the part that coordinate 0 holds: the largest, unless a chain of uneven strided shards hides a larger. */
double dt__state_bytes(const dt__alphabet *alphabet, const dt__rank_position *state);

/* What one step from a state to another does. */
typedef struct dt__change {
    dt__step_kind collective;
    int n_mesh_dims, mesh_dims[DT_SPEC_MAX_DIMS]; /* that change, ascending */
    int64_t group;                                /* product of their sizes */
    int64_t reduced;                              /* product of the sizes of those whose partial is reduced */
    bool spans_hosts;
    bool only_reduces;  /* every change is from a partial to Replicate: parts stay where they are */
    bool only_scatters; /* every change is from a partial to a cut */
} dt__change;

void dt__state_change(const dt__alphabet *alphabet, const dt__rank_position *before, const dt__rank_position *after, dt__change *out);
/* The same where only mesh dim m goes from one token to another. */
void dt__place_change(const dt__alphabet *alphabet, int m, int before, int after, dt__change *out);
/* The price of that step in microseconds. */
double dt__change_price(const dt__alphabet *alphabet, const dt__change *change, double before_bytes,
                        double after_bytes);

/* What a planner gives: states from the source to the target, both included; n_mesh_dims places each. */
typedef struct dt__route {
    dt__arena *arena;
    int n_states, room;
    dt__rank_position *states;
    bool exchange; /* its steps are exchanges of just what ranks lack, not collectives over groups */
} dt__route;

dt_status dt__route_add(dt__route *route, const dt__alphabet *alphabet, const dt__rank_position *state);
static inline dt__rank_position *dt__route_at(const dt__route *route, const dt__alphabet *alphabet, int i) {
    return &route->states[(int64_t)i * alphabet->n_mesh_dims];
}

/* The planners. Each adds its states to an empty route; source and target differ. */
typedef dt_status dt__planner_fn(const dt__alphabet *alphabet, dt__route *out);
dt__planner_fn dt__plan_greedy, dt__plan_graph, dt__plan_min_cost, dt__plan_direct;
/* What the minimum-cost planner's route costs, if that is less than `most`, or something not below it; source and
 * target differ. */
dt_status dt__min_cost_price(dt__arena *arena, const dt__alphabet *alphabet, double most, double *us);
/* What the simple plan costs that it starts with. */
dt_status dt__simple_price(dt__arena *arena, const dt__alphabet *alphabet, double *us);

#endif
