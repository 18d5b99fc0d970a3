/* SPDX-License-Identifier: Apache-2.0
 *
 * What holds for all ranks of a sharding at once, found without visiting them: whether shards are even, how large the
 * largest is, and the two predicates that rules use to judge a sharding before it is made.
 */
#ifndef DT_SPEC_EXTREMES_H
#define DT_SPEC_EXTREMES_H

#include "spec/shard.h"

/* Product of the mesh dims that cut this tensor dim. */
int64_t dt__sharding_dim_shards(const dt__sharding *sharding, int dim);
/* Whether every coordinate holds the same number of indices. */
bool dt__sharding_dim_is_even(const dt__sharding *sharding, int dim);
/* The largest number of indices that a coordinate holds. Refuses (unsupported) a chain of strided shards that leaves
 * too many different sizes to compare: more than a dozen uneven ones, one after the other. */
dt_status dt__sharding_dim_largest(dt_ctx *ctx, const dt__sharding *sharding, int dim, int64_t *out);

/* Each dim has at least as many indices as mesh sizes and split factors ask for: product of n * split over its cuts.
 */
bool dt__sharding_is_shardable(const dt__sharding *sharding);
/* Each dim is a multiple of that product. */
bool dt__sharding_is_evenly_shardable(const dt__sharding *sharding);

#endif
