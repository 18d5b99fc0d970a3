/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions in two phases: where several ranks (the replicas) get the same reduced shard, each reduces its portion
 * of it, and then they read each other's portions. When that is done, and along which dim shards are divided, is in
 * plan.h, for plans and for the executor; here are the portions in row-major order, as plans count them.
 */
#ifndef DT_PLAN_TWO_PHASE_H
#define DT_PLAN_TWO_PHASE_H

#include "plan/plan.h"

/* Local indices begin … end - 1 of one dim of a shard, and all of the others. */
typedef struct dt__portion {
    int dim;
    int64_t begin, end;
} dt__portion;

dt__portion dt__portion_of(int n_dims, const dt__shard *shard, int64_t n_replicas, int64_t replica);
/* Number of elements of the portion, and of those that `other` holds, too. */
int64_t dt__portion_size(int n_dims, const dt__shard *shard, const dt__portion *portion);
int64_t dt__portion_common(int n_dims, const dt__shard *other, const dt__shard *shard, const dt__portion *portion);

#endif
