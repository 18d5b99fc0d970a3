/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles: the part of a result that a rank computes, split along axes into the inside, which reads nothing but the
 * rank's own shards, and the rest. Pure arithmetic.
 *
 *     +---------------+
 *     |       1       |
 *     +---+-------+---+
 *     | 3 |   0   | 4 |
 *     +---+-------+---+
 *     |       2       |
 *     +---------------+
 */
#ifndef DT_DISPATCH_TILES_H
#define DT_DISPATCH_TILES_H

#include "spec/spec.h"

/* Where what a tile needs is, relative to the shards of this rank. */
typedef struct dt__tile_reach {
    bool before, after; /* some of it is before a shard, after a shard */
} dt__tile_reach;
/* The reach of a tile: a range of each axis. */
typedef dt_status dt__tile_reach_fn(void *user, const dt__range *tile, dt__tile_reach *out);

typedef struct dt__tiles {
    int n, n_axes;
    dt__range *ranges; /* n_axes for each tile */
} dt__tiles;

/* Splits a part of these sizes; one tile, if there is no inside. What a tile needs moves on with the tile, and a part
 * of a tile needs no more than the tile. */
dt_status dt__tiles_new(dt__arena *arena, int n_axes, const int64_t *sizes, dt__tile_reach_fn *reach, void *user,
                        dt__tiles *out);

#endif
