/* SPDX-License-Identifier: Apache-2.0
 *
 * The greedy planner: two passes over the mesh dims. From the innermost mesh dim outwards each goes to its target,
 * or to Replicate where outer mesh dims cut the target's tensor dim differently now and in the end; from the
 * outermost inwards the rest follows. Cuts that are not in the order of the mesh dims, and strided shards that
 * express such an order, are left to the graph search.
 */
#include "plan/planners.h"

#include <string.h>

typedef struct walk {
    const dt__state_space *space;
    dt__route *route;
    dt__dim_state state[DT_SPEC_MAX_DIMS];
} walk;

static bool cuts_dim(const dt__state_space *space, int token, int dim) {
    return dt__token_is_cut(space, token) && space->tokens[token].dim == dim;
}

/* Removes mesh dim m from its order: later cuts move up. */
static void remove_cut(walk *self, int m) {
    const dt__state_space *space = self->space;
    dt__dim_state left = self->state[m];
    for (int i = 0; dt__token_is_cut(space, left.token) && i < space->n_mesh_dims; i++)
        if (cuts_dim(space, self->state[i].token, space->tokens[left.token].dim) &&
            self->state[i].position > left.position)
            self->state[i].position--;
}

static int n_cuts(const walk *self, int token) {
    int n = 0;
    for (int i = 0; dt__token_is_cut(self->space, token) && i < self->space->n_mesh_dims; i++)
        n += cuts_dim(self->space, self->state[i].token, self->space->tokens[token].dim);
    return n;
}

/* Changes the token of mesh dim m; a new cut comes last. That is the order of the mesh dims, except for those of
 * size 1, whose position has no meaning. */
static dt_status change_to(walk *self, int m, int token) {
    if (self->state[m].token == token)
        return DT_OK;
    remove_cut(self, m);
    self->state[m].token = DT__TOKEN_REPLICATE;
    self->state[m] = (dt__dim_state){.token = (uint8_t)token, .position = (uint8_t)n_cuts(self, token)};
    return dt__route_add(self->route, self->space, self->state);
}

/* Whether the mesh dims outside m cut m's target dim in the same way now and in the end. */
static bool outer_cuts_agree(const walk *self, int m) {
    const dt__state_space *space = self->space;
    int dim = space->tokens[space->to[m].token].dim;
    for (int outer = 0; outer < m; outer++) {
        int now = self->state[outer].token, target = space->to[outer].token;
        if (now != target && (cuts_dim(space, now, dim) || cuts_dim(space, target, dim)))
            return false;
    }
    return true;
}

/* Whether cuts may block each other: the source cuts along a mesh dim of more than one rank, or there are explicit
 * extents, which allow no other cut of their dim, not even one by a mesh dim of size 1. */
static bool needs_first_pass(const dt__state_space *space) {
    for (int token = 0; token < space->n_tokens; token++)
        if (space->tokens[token].n_extents)
            return true;
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (space->mesh[m] > 1 && dt__token_is_cut(space, space->from[m].token))
            return true;
    return false;
}

dt_status dt__plan_greedy(const dt__state_space *space, dt__route *out) {
    if (space->n_mesh_dims == 1) {
        DT__TRY(dt__route_add(out, space, space->from));
        return dt__route_add(out, space, space->to);
    }
    if (space->ordered)
        return dt__plan_graph(space, out);
    walk self = {.space = space, .route = out};
    memcpy(self.state, space->from, sizeof self.state);
    DT__TRY(dt__route_add(out, space, space->from));
    for (int m = space->n_mesh_dims - 1; m >= 0 && needs_first_pass(space); m--) {
        int target = space->to[m].token;
        bool clear = !dt__token_is_cut(space, target) || outer_cuts_agree(&self, m);
        DT__TRY(change_to(&self, m, clear ? target : DT__TOKEN_REPLICATE));
    }
    for (int m = 0; m < space->n_mesh_dims; m++)
        DT__TRY(change_to(&self, m, space->to[m].token));
    return DT_OK;
}
