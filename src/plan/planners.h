/* SPDX-License-Identifier: Apache-2.0
 *
 * The planners' side of plan.h: what a planner is given, what it returns, and what it must fulfill. A planner only
 * finds states; steps, bytes and costs are derived from them in plan.c, the same way for all.
 *
 * Every planner
 *   - begins its route with the source and ends it with the target, as states of the move's state space;
 *   - makes each step one collective (or one exchange, where route.exchange is set) over the mesh dims that change,
 *     such that every rank finds what it needs among the ranks along these mesh dims;
 *   - takes one step where a single mesh dim of more than one rank changes;
 *   - never makes a partial: a state is partial only where the source is, and what is reduced stays reduced;
 *   - keeps explicit extents the only cut of their tensor dim, on the mesh dim that has them in source or target;
 *   - plans every move on one mesh that dt__plan_new accepts, or refuses it (unsupported) by a limit that follows
 *     from the move alone;
 *   - is deterministic: equal moves have equal routes on every rank and in every run, because ranks that
 *     redistribute together plan by themselves. Among equally good routes it takes the one that it finds first;
 *   - communicates nothing, and allocates from the route's arena only.
 *
 * tests/plan/test_properties.c checks this for every planner of the list.
 */
#ifndef DT_PLAN_PLANNERS_H
#define DT_PLAN_PLANNERS_H

#include "plan/placement_state.h"

dt_status dt__route_add(dt__route *route, const dt__state_space *space, const dt__dim_state *state);
static inline dt__dim_state *dt__route_at(const dt__route *route, const dt__state_space *space, int i) {
    return &route->states[(int64_t)i * space->n_mesh_dims];
}

/* Adds the planner's states to an empty route; source and target differ. */
typedef dt_status dt__planner_fn(const dt__state_space *space, dt__route *out);
#define X(upper, lower, meaning) dt__planner_fn dt__plan_##lower;
DT__PLANNER_LIST(X)
#undef X

extern dt__planner_fn *const dt__planners[DT__N_PLANNERS];

/* The minimum-cost planner's route and its cost if that is below max_cost; otherwise some value that is not below it,
 * and any route. Source and target differ. */
dt_status dt__min_cost_route(const dt__state_space *space, double max_cost, dt__route *out, double *us);
/* A lower bound of that cost. */
double dt__min_cost_bound_us(const dt__state_space *space);
/* The cost of the simple plan that the search starts from: an upper bound. */
dt_status dt__simple_plan_price(dt__arena *arena, const dt__state_space *space, double *us);

enum { DT__CROSS_MESH_MAX_RANKS = 1 << 20 };

/* The plan of a move between different meshes, which may share ranks or not: one exchange over the ranks of both.
 * Refuses (mesh) every planner but direct, and (unsupported) meshes of more than DT__CROSS_MESH_MAX_RANKS. */
dt_status dt__plan_cross_mesh(dt__arena *arena, const dt__move *move, dt__planner planner, const dt__machine *machine,
                              dt__plan *out);

#endif
