/* SPDX-License-Identifier: Apache-2.0
 *
 * The greedy planner: two passes over the mesh dims, each going straight to its target where the cuts outside it
 * allow that. From the innermost mesh dim outwards every mesh dim goes to its target, or to Replicate where outer
 * mesh dims cut the target's tensor dim differently now and in the end; from the outermost inwards the rest follows.
 * Orders that do not go from left to right, and strided shards that say such an order, are left to the graph search.
 */
#include "plan/placement_state.h"

#include <string.h>

typedef struct walk {
    const dt__alphabet *alphabet;
    dt__route *route;
    dt__rank_position state[DT_SPEC_MAX_DIMS];
} walk;

static bool cuts_dim(const dt__alphabet *alphabet, int token, int dim) {
    return dt__token_is_cut(alphabet, token) && alphabet->tokens[token].dim == dim;
}

/* Those that cut after mesh dim m move up. */
static void leave_order(walk *self, int m) {
    const dt__alphabet *alphabet = self->alphabet;
    dt__rank_position left = self->state[m];
    for (int i = 0; dt__token_is_cut(alphabet, left.token) && i < alphabet->n_mesh_dims; i++)
        if (cuts_dim(alphabet, self->state[i].token, alphabet->tokens[left.token].dim) &&
            self->state[i].position > left.position)
            self->state[i].position--;
}

static int n_cuts(const walk *self, int token) {
    int n = 0;
    for (int i = 0; dt__token_is_cut(self->alphabet, token) && i < self->alphabet->n_mesh_dims; i++)
        n += cuts_dim(self->alphabet, self->state[i].token, self->alphabet->tokens[token].dim);
    return n;
}

/* A new cut comes last. That is from left to right, but for cuts into one part, whose place in the order says nothing.
 */
static dt_status go(walk *self, int m, int token) {
    if (self->state[m].token == token)
        return DT_OK;
    leave_order(self, m);
    self->state[m].token = DT__TOKEN_REPLICATE;
    self->state[m] = (dt__rank_position){.token = (uint8_t)token, .position = (uint8_t)n_cuts(self, token)};
    return dt__route_add(self->route, self->alphabet, self->state);
}

/* Whether the mesh dims outside m cut m's target dim in the same way now and in the end. */
static bool outer_cuts_agree(const walk *self, int m) {
    const dt__alphabet *alphabet = self->alphabet;
    int dim = alphabet->tokens[alphabet->to[m].token].dim;
    for (int outer = 0; outer < m; outer++) {
        int now = self->state[outer].token, target = alphabet->to[outer].token;
        if (now != target && (cuts_dim(alphabet, now, dim) || cuts_dim(alphabet, target, dim)))
            return false;
    }
    return true;
}

/* Whether cuts may be in each other's way: the source has some of more than one part, or there are explicit extents,
 * beside which not even a cut into one part may stand. */
static bool needs_first_pass(const dt__alphabet *alphabet) {
    for (int token = 0; token < alphabet->n_tokens; token++)
        if (alphabet->tokens[token].n_extents)
            return true;
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        if (alphabet->mesh[m] > 1 && dt__token_is_cut(alphabet, alphabet->from[m].token))
            return true;
    return false;
}

dt_status dt__plan_greedy(const dt__alphabet *alphabet, dt__route *out) {
    if (alphabet->n_mesh_dims == 1) {
        DT__TRY(dt__route_add(out, alphabet, alphabet->from));
        return dt__route_add(out, alphabet, alphabet->to);
    }
    if (alphabet->ordered)
        return dt__plan_graph(alphabet, out);
    walk self = {.alphabet = alphabet, .route = out};
    memcpy(self.state, alphabet->from, sizeof self.state);
    DT__TRY(dt__route_add(out, alphabet, alphabet->from));
    for (int m = alphabet->n_mesh_dims - 1; m >= 0 && needs_first_pass(alphabet); m--) {
        int target = alphabet->to[m].token;
        bool clear = !dt__token_is_cut(alphabet, target) || outer_cuts_agree(&self, m);
        DT__TRY(go(&self, m, clear ? target : DT__TOKEN_REPLICATE));
    }
    for (int m = 0; m < alphabet->n_mesh_dims; m++)
        DT__TRY(go(&self, m, alphabet->to[m].token));
    return DT_OK;
}
