/* SPDX-License-Identifier: Apache-2.0
 *
 * Best-first search over states: Dijkstra's algorithm, or A* where the caller has a lower bound of the remaining cost.
 * The caller expands states: it reports the steps that leave a state and what each costs. Among equally good entries
 * the one found first is expanded first, so that a plan depends only on the move.
 */
#ifndef DT_PLAN_BEST_FIRST_SEARCH_H
#define DT_PLAN_BEST_FIRST_SEARCH_H

#include "plan/planners.h"

typedef struct dt__search dt__search;

/* Calls dt__search_step for every step that leaves the state. */
typedef void dt__expand_fn(dt__search *search, const dt__dim_state *state);
/* A lower bound of the cost from the state to the target; consistent: it never falls by more than a step's cost. */
typedef double dt__bound_fn(const dt__state_space *space, const dt__dim_state *state, const void *user);

/* The cost of one step from the state straight to the target; infinite where there is none. */
typedef double dt__jump_fn(const dt__state_space *space, const dt__dim_state *state);

typedef struct dt__search_rules {
    dt__expand_fn *expand;
    dt__bound_fn *bound; /* (optional) */
    dt__jump_fn *jump;   /* (optional) */
    const void *user;    /* for expand and bound */
    double max_cost;     /* states that cannot lead to less than this are not expanded; 0: no limit */
    int max_states;      /* beyond this number the search stops and finds nothing; 0: it refuses beyond a limit */
} dt__search_rules;

struct dt__search {
    const dt__state_space *space;
    const dt__search_rules *rules;
    dt__arena *arena;
    dt_status status;
    int n_nodes, capacity;
    int current; /* the node that is being expanded */
    struct dt__search_node *nodes;
    dt__dim_state *states; /* n_mesh_dims each */
    int *table;            /* node + 1 by hash; 0: empty */
    int n_table;
    struct dt__search_entry *heap;
    int n_heap, heap_capacity;
    bool gave_up;
    int64_t n_found;
    int jump; /* the node from which jumping to the target is cheapest; -1: none */
    double jump_cost;
};

/* Reports a step out of the state that is being expanded: mesh dim m changes to this token and position. */
void dt__search_step(dt__search *search, int m, int token, int position, double cost);

/* Adds the cheapest states from source to target to the route; nothing if every route costs rules->max_cost or more.
 * `jumped` gets the cheapest route of expanded states that ends with a jump; NULL without rules->jump. Refuses
 * (unsupported) a search that finds too many states, unless it may give up. */
dt_status dt__search_run(const dt__state_space *space, const dt__search_rules *rules, dt__route *out,
                         dt__route *jumped);

#endif
