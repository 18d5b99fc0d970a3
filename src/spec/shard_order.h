/* SPDX-License-Identifier: Apache-2.0
 *
 * Strided shards as a shard order.
 */
#ifndef DT_SPEC_SHARD_ORDER_H
#define DT_SPEC_SHARD_ORDER_H

#include "spec/placement.h"

/* Replaces strided shards, which cut from left to right, by plain shards with an order of cuts: a split factor is the
 * product of the mesh dims to the right that cut earlier. Where sizes divide evenly, the shards are the same.
 * Placements are normalized ones. False where a split factor is not such a product, or a strided shard has an order
 * already. */
bool dt__strided_to_order(int n, const int64_t *mesh, const dt_placement *placements, dt_placement *out);

#endif
