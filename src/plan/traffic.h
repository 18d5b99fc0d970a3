/* SPDX-License-Identifier: Apache-2.0
 *
 * Who sends how much to whom in a step of a plan (dt__flows_new is in plan.h). A rank keeps what it holds; each
 * element that it lacks it takes from the holder that has its coordinates along all mesh dims that neither cut nor
 * are reduced, and where values are reduced, from one such holder per contribution. A rank outside the source's mesh
 * has no coordinates there; such ranks take the coordinates of the mesh in turn, so that no copy serves all of them.
 * What a rank receives this way adds up to the bytes of the plan.
 */
#ifndef DT_PLAN_TRAFFIC_H
#define DT_PLAN_TRAFFIC_H

#include "plan/plan.h"

/* The transfer between two shardings of one mesh in which these mesh dims change: a partial that ends is reduced. */
void dt__transfer_new(const dt__sharding *before, const dt__sharding *after, int n_changed, const int *changed,
                      int64_t item_bytes, dt__transfer *out);
/* The transfer of a move between meshes. */
void dt__transfer_cross_mesh(const dt__move *move, dt__transfer *out);
/* The number of a rank among the replicas of its shard, by its coordinate after the transfer. */
int64_t dt__transfer_replica(const dt__transfer *transfer, const int64_t *coordinate);
/* Elements that a rank receives which holds one shard before (NULL: none) and the other one after; false where the
 * number overflows. */
bool dt__transfer_received(const dt__transfer *transfer, const dt__shard *before, const dt__shard *after,
                           int64_t replica, int64_t *out);
/* The coordinates before the step of a receiver, which is given by its position after it. Returns its position
 * before; -1 where it is not in the source's mesh, and then the coordinates are those that it reads from. */
int64_t dt__transfer_source_position(const dt__transfer *transfer, int64_t receiver, int64_t *coordinate);

bool dt__same_cut(const dt__cut *a, const dt__cut *b);
/* Whether blocks are not consecutive in the memory of both sides, if that is row-major: a dim other than the slowest
 * is cut differently before and after. */
bool dt__transfer_is_strided(const dt__transfer *transfer);

#endif
