/* SPDX-License-Identifier: Apache-2.0
 *
 * One way of saying who holds what from another: a shard order as strided shards and back, and a global tensor from
 * its local parts.
 */
#ifndef DT_SPEC_CONVERT_H
#define DT_SPEC_CONVERT_H

#include "spec/placement.h"

/* Says a shard order by strided shards that cut from left to right: a mesh dim gets as its split factor the product
 * of the mesh dims to its right that cut before it. Where sizes divide evenly both give the same shards. Placements
 * are normalised ones; false if an ordered dim has a strided shard already. */
bool dt__order_to_strided(int n, const int64_t *mesh, const dt_placement *placements, dt_placement *out);
/* The other way round; false if a split factor is not such a product. */
bool dt__strided_to_order(int n, const int64_t *mesh, const dt_placement *placements, dt_placement *out);

/* Shape and stride order of a global tensor of which every rank holds a part of the same shape: `local`'s shape is
 * that of the part. A dim with explicit extents has their sum. Strides of the part may be NULL: row-major. */
dt_status dt__global_from_local(dt_ctx *ctx, const dt__sharding_desc *local, const int64_t *strides, int64_t *shape,
                                int *stride_order);
/* Shape of a global tensor from the parts of all ranks of a one-dimensional mesh, n_dims sizes for each rank: sizes
 * add up along the sharded dim and must agree along the others. `local`'s shape is not looked at. */
dt_status dt__global_from_parts(dt_ctx *ctx, const dt__sharding_desc *local, const int64_t *parts, int64_t *shape);

#endif
