/* SPDX-License-Identifier: Apache-2.0
 *
 * The search of the minimum-cost planner over collectives on single mesh dims.
 */
#ifndef DT_PLAN_SINGLE_DIM_SEARCH_H
#define DT_PLAN_SINGLE_DIM_SEARCH_H

#include "plan/placement_state.h"

/* Adds the cheapest states from source to target to the route, and to `jumped` the cheapest that were met with one
 * exchange at their end; nothing where every way costs `most` or more,
 * or where there are too many states. */
dt_status dt__single_run(const dt__alphabet *alphabet, double most, dt__route *out, dt__route *jumped);
/* Whether mesh dim m's cut and all cuts before it are the target's. */
bool dt__is_settled(const dt__alphabet *alphabet, const dt__rank_position *state, int m);

#endif
