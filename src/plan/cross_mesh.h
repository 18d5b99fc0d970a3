/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves between different meshes, which may share ranks or not: one exchange over the ranks of both.
 */
#ifndef DT_PLAN_CROSS_MESH_H
#define DT_PLAN_CROSS_MESH_H

#include "plan/plan.h"

enum { DT__MOST_CROSSING_RANKS = 1 << 20 };

/* The plan of a move whose meshes are given. Refuses (mesh) every planner but direct, and (unsupported) meshes of
 * more than DT__MOST_CROSSING_RANKS. */
dt_status dt__plan_between(dt__arena *arena, const dt__move *move, dt__planner planner, const dt__machine *machine,
                           dt__plan *out);

#endif
