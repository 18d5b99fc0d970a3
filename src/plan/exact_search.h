/* SPDX-License-Identifier: Apache-2.0
 *
 * The exact search of the minimum-cost planner: the cheapest way over all states, where a step is any one collective,
 * over any number of mesh dims. Such a step changes no partial, or only reduces partials to Replicate, or only
 * scatters them into cuts.
 */
#ifndef DT_PLAN_EXACT_SEARCH_H
#define DT_PLAN_EXACT_SEARCH_H

#include "plan/placement_state.h"

/* Adds the cheapest states from source to target to the route; nothing where no way costs less than `most`. *done is
 * false where there were too many states to look at; then what is added may not be the cheapest. */
dt_status dt__exact_run(const dt__alphabet *alphabet, double most, dt__route *out, bool *done);

#endif
