/* SPDX-License-Identifier: Apache-2.0
 *
 * The two searches of the minimum-cost planner. The exact one finds the cheapest route over all states, where a step
 * is any one collective over any number of mesh dims: one that changes no partial, only reduces partials to
 * Replicate, or only scatters them into shards. The other one takes collectives on single mesh dims, for moves with
 * more states than the exact search can visit.
 */
#ifndef DT_PLAN_MIN_COST_SEARCHES_H
#define DT_PLAN_MIN_COST_SEARCHES_H

#include "plan/planners.h"

/* Adds the cheapest states from source to target to the route; nothing where no route costs less than max_cost.
 * *is_exact is false where there were too many states to visit; then what is added may not be the cheapest. */
dt_status dt__exact_search(const dt__state_space *space, double max_cost, dt__route *out, bool *is_exact);

/* Adds the cheapest states from source to target to the route, and to `jumped` the cheapest route of visited states
 * with one exchange at its end; nothing where every route costs max_cost or more, or where there are too many
 * states.
 */
dt_status dt__single_dim_search(const dt__state_space *space, double max_cost, dt__route *out, dt__route *jumped);
/* The cost of one exchange from the source to the target; infinite where the step is another collective. */
dt_status dt__exchange_us(dt__arena *arena, const dt__state_space *space, double *us);
/* False if a lower bound of that cost, which is faster to compute, is not below this. */
bool dt__exchange_may_cost_less(const dt__state_space *space, double us);
/* Whether mesh dim m's cut and all cuts before it are the target's. */
bool dt__cut_is_final(const dt__state_space *space, const dt__dim_state *state, int m);

#endif
