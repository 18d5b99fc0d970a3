/* SPDX-License-Identifier: Apache-2.0
 *
 * Intersections of shards: the indices of one tensor dim that two ranks hold in common, perhaps under different
 * shardings of the same global shape. What two ranks share of a tensor is the product over its dims. Each common run
 * has its local index on both sides, which is all that a copy between the two needs.
 */
#ifndef DT_SPEC_OVERLAP_H
#define DT_SPEC_OVERLAP_H

#include "spec/shard.h"

/* Global indices begin … end - 1 of a dim; a and b are the local indices of `begin` on the two sides. */
typedef struct dt__overlap_run {
    int64_t begin, end, a, b;
} dt__overlap_run;

/* The first common run at or after global index *at, which is then moved past it: start with 0. False when there are
 * no more. The cost does not depend on runs that are not common. */
bool dt__overlap_next(const dt__shard *a, const dt__shard *b, int64_t *at, dt__overlap_run *out);
/* Number of common indices. The cost is that of the runs in one period of both shards. */
int64_t dt__overlap_size(const dt__shard *a, const dt__shard *b);

#endif
