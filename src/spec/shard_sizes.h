/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of all shards of a sharding, computed without visiting the ranks: how many there are, whether they are
 * even, and the size of the largest.
 */
#ifndef DT_SPEC_SHARD_SIZES_H
#define DT_SPEC_SHARD_SIZES_H

#include "spec/shard.h"

/* Product of the mesh dims that cut this tensor dim. */
int64_t dt__sharding_dim_shards(const dt__sharding *sharding, int dim);
/* Whether every coordinate holds the same number of indices. */
bool dt__sharding_dim_is_even(const dt__sharding *sharding, int dim);
/* The largest number of indices that a coordinate holds. False for a chain of strided shards that leaves too many
 * different sizes to compare: more than a dozen uneven ones, one after the other. */
bool dt__sharding_dim_max(const dt__sharding *sharding, int dim, int64_t *out);
/* The largest number of indices that a coordinate holds; DT_ERR_UNSUPPORTED for such a chain. */
dt_status dt__sharding_dim_largest(dt_ctx *ctx, const dt__sharding *sharding, int dim, int64_t *out);

#endif
