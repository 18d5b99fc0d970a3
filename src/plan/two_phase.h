/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions in two phases: where several ranks (the replicas) get the same reduced part, each reduces its portion of
 * it, and then they read each other's portions. When that is done, and who gets which portion, is decided here, for
 * plans and for the executor.
 */
#ifndef DT_PLAN_TWO_PHASE_H
#define DT_PLAN_TWO_PHASE_H

#include "spec/spec.h"

/* Whether so many values per element, for so many replicas of parts of up to this size, are reduced in two phases. */
bool dt__takes_two_phases(int64_t n_values, int64_t n_replicas, int64_t part_bytes);
/* The dim along which a part is portioned: the slowest in memory that is long enough, otherwise the longest. `order`
 * has the dims from the slowest on; NULL: row-major. There is at least one dim. */
int dt__share_dim(int n_dims, const int *order, const dt__shard *part, int64_t n_replicas);

/* Local indices begin … end - 1 of one dim of a part, and all of the others. */
typedef struct dt__portion {
    int dim;
    int64_t begin, end;
} dt__portion;

/* The replica's portion of a part in row-major order. */
dt__portion dt__portion_of(int n_dims, const dt__shard *part, int64_t n_replicas, int64_t replica);
/* Elements of the portion. */
int64_t dt__portion_size(int n_dims, const dt__shard *part, const dt__portion *portion);
/* How many of them `other` holds, too. */
int64_t dt__portion_common(int n_dims, const dt__shard *other, const dt__shard *part, const dt__portion *portion);

#endif
