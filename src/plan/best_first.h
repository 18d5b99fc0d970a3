/* SPDX-License-Identifier: Apache-2.0
 *
 * Best-first search over states: Dijkstra's, or A* where the planner gives a bound for what is left. The planner says
 * which steps leave a state and what each costs. Of equally good entries the one that was found first is followed
 * first, so that a plan never depends on anything but the move.
 */
#ifndef DT_PLAN_BEST_FIRST_H
#define DT_PLAN_BEST_FIRST_H

#include "plan/placement_state.h"

typedef struct dt__search dt__search;

/* Calls dt__search_step for every step that leaves the state. */
typedef void dt__expand_fn(dt__search *search, const dt__rank_position *state);
/* At most what it still costs to get from the state to the target, and never falling by more than a step's cost. */
typedef double dt__bound_fn(const dt__alphabet *alphabet, const dt__rank_position *state, const void *user);

/* What one step from the state straight to the target costs; infinite where there is none. */
typedef double dt__jump_fn(const dt__alphabet *alphabet, const dt__rank_position *state);

typedef struct dt__search_rules {
    dt__expand_fn *expand;
    dt__bound_fn *bound; /* (optional) */
    dt__jump_fn *jump;   /* (optional) */
    const void *user;    /* for expand and bound */
    double most;         /* states that cannot lead to less than this are not followed; 0: no limit */
    int most_states;     /* beyond so many the search gives up and has found nothing; 0: it refuses beyond a limit */
} dt__search_rules;

struct dt__search {
    const dt__alphabet *alphabet;
    const dt__search_rules *rules;
    dt__arena *arena;
    dt_status status;
    int n_nodes, room, at; /* at: the node that is being expanded */
    struct dt__node *nodes;
    dt__rank_position *states; /* n_mesh_dims each */
    int *table;        /* node + 1 by hash; 0: free */
    int n_table;
    struct dt__entry *heap;
    int n_heap, heap_room;
    bool gave_up;
    int64_t n_found;
    int jump; /* the node from which jumping to the target is cheapest; -1: none */
    double jump_cost;
};

/* A step out of the state that is being expanded: mesh dim m changes to this token and position. */
void dt__search_step(dt__search *search, int m, int token, int position, double cost);

/* Adds the cheapest states from source to target to the route; nothing where every way costs rules->most or more.
 * `jumped` gets the cheapest way that ends with a jump, among the states that were met; NULL without rules->jump.
 * Refuses (unsupported) a search that meets too many states, unless it may give up. */
dt_status dt__search_run(const dt__alphabet *alphabet, const dt__search_rules *rules, dt__route *out,
                         dt__route *jumped);

#endif
