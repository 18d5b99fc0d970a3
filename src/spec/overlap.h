/* SPDX-License-Identifier: Apache-2.0
 *
 * What two ranks hold in common: coordinate a of one sharding and coordinate b of another one of the same global
 * shape. Both hold products of index sets, so the intersection is a product of per-dim runs, too, and is kept as
 * such. Each run knows where it lies on both sides; that is all that a copy between the two needs.
 */
#ifndef DT_SPEC_OVERLAP_H
#define DT_SPEC_OVERLAP_H

#include "spec/shard.h"

/* Global indices begin … end - 1 of a dim: local index a and up on one side, b and up on the other. */
typedef struct dt__overlap_run {
    int64_t begin, end, a, b;
} dt__overlap_run;

/* The first common run at or after global index *at, which then moves behind it: start with 0. False when there is no
 * more. Costs no more when a shard has many runs elsewhere. */
bool dt__overlap_next(const dt__shard *a, const dt__shard *b, int64_t *at, dt__overlap_run *out);
/* Number of common indices. */
int64_t dt__overlap_size(const dt__shard *a, const dt__shard *b);

typedef struct dt__overlap_dim {
    int64_t n_runs, size; /* size: indices in all runs */
    dt__overlap_run *runs;
} dt__overlap_dim;

typedef struct dt__overlap {
    int n_dims;
    int64_t elements, n_boxes; /* both 0 where nothing is common */
    dt__overlap_dim *dims;
} dt__overlap;

/* The shapes must be equal. */
dt_status dt__overlap_new(dt__arena *arena, const dt__sharding *a, const int64_t *coordinate_a, const dt__sharding *b,
                          const int64_t *coordinate_b, dt__overlap *out);

/* One product of runs: dim d's run is `run[d]`. */
typedef struct dt__overlap_box {
    const dt__overlap_run *run[DT_SPEC_MAX_DIMS];
} dt__overlap_box;

/* Box number i, 0 <= i < n_boxes, in row-major order. */
dt__overlap_box dt__overlap_box_at(const dt__overlap *overlap, int64_t i);

#endif
