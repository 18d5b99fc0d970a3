/* SPDX-License-Identifier: Apache-2.0
 *
 * Who sends how much to whom in a step of a plan. A rank keeps what it holds; of what it lacks it takes each element
 * from the holder that agrees with it along all mesh dims that neither cut nor are reduced, and where values are
 * reduced, from one such holder per contribution. A rank outside the source's mesh has no coordinates there; such
 * ranks take the coordinates of the mesh in turn, so that no copy serves all of them. What a rank receives this way
 * adds up to the bytes of the plan.
 */
#ifndef DT_PLAN_TRAFFIC_H
#define DT_PLAN_TRAFFIC_H

#include "plan/plan.h"

/* The transfer between two shardings of one mesh in which these mesh dims change: a partial that goes is reduced. */
void dt__transfer_new(const dt__sharding *before, const dt__sharding *after, int n_changed, const int *changed,
                      int64_t item_bytes, dt__transfer *out);
/* The transfer of a move between meshes. */
void dt__transfer_between(const dt__move *move, dt__transfer *out);
/* Which of the ranks that get the same part this one is, by its coordinate after the transfer. */
int64_t dt__transfer_replica(const dt__transfer *transfer, const int64_t *coordinate);
/* Elements that a rank receives, which holds the one part before (NULL: none) and the other after; false where they
 * are too many to count. */
bool dt__transfer_received(const dt__transfer *transfer, const dt__shard *before, const dt__shard *after,
                           int64_t replica, int64_t *out);

/* Row-major position in a mesh of these sizes, and back. */
int64_t dt__position(int n_mesh_dims, const int64_t *mesh, const int64_t *coordinate);
void dt__coordinate(int n_mesh_dims, const int64_t *mesh, int64_t position, int64_t *out);

/* Coordinates before the step of a receiver, given by its position after it, and its position before, which is -1
 * where it is not in the source's mesh: the coordinates are then those that it reads from. */
int64_t dt__transfer_home(const dt__transfer *transfer, int64_t receiver, int64_t *coordinate);

typedef struct dt__flow {
    int64_t sender;   /* position in the source's mesh */
    bool in_target;   /* position in the target's mesh, which is another one: the second phase */
    int64_t elements; /* over both phases, where there are two */
} dt__flow;

typedef struct dt__flows {
    int64_t n, kept; /* kept: elements of its own that the receiver uses */
    dt__flow *items; /* by sender, ascending; the receiver is not among them */
} dt__flows;

/* What a receiver, by its position in the target's mesh, takes from whom. */
dt_status dt__flows_new(dt__arena *arena, const dt__transfer *transfer, int64_t receiver, dt__flows *out);

#endif
