/* SPDX-License-Identifier: Apache-2.0
 *
 * Prices of minimum-cost plans from one source to many targets on its mesh, for placement selection. One search from
 * the source serves all targets; the exact search of a plan serves one.
 */
#ifndef DT_PLAN_PRICE_TABLE_H
#define DT_PLAN_PRICE_TABLE_H

#include "plan/planners.h"

/* The cost of the minimum-cost plan to the target of a move, whose source is that of the table, if it is below
 * max_cost; otherwise some value that is not below it. The route of such a cost is added to `route`, unless that is
 * NULL. */
dt_status dt__price_table_find(dt__price_table *self, dt__arena *arena, const dt__state_space *space, double max_cost,
                               dt__route *route, double *us);

#endif
