/* SPDX-License-Identifier: Apache-2.0
 *
 * Shard arithmetic: which indices of a tensor dim a mesh coordinate holds. Pure: it needs mesh sizes, placements and
 * a shape, and no mesh object, and its cost depends on the number of dims only, never on sizes.
 *
 * A sharding is a list of cuts per tensor dim. Each cut keeps an ascending sub-list of the indices that the previous
 * cut left; a cut is therefore a strictly increasing map from positions after it to positions before it, with closed
 * forms in both directions. A shard (what one coordinate holds of one tensor dim) is the chain of these maps. Runs,
 * local ↔ global and intersections follow from two of its operations: dt__shard_run and dt__shard_seek.
 */
#ifndef DT_SPEC_SHARD_H
#define DT_SPEC_SHARD_H

#include "base/arena.h"
#include "spec/placement.h"

/* One mesh dim cuts one tensor dim into `split` chunks, and each chunk into n blocks, both by the ceil rule; a plain
 * shard has split 1. With starts, coordinate r gets starts[r] … starts[r + 1] - 1 instead. */
typedef struct dt__cut {
    int mesh_dim;
    int64_t n; /* size of the mesh dim */
    int64_t split;
    const int64_t *starts; /* n + 1, or NULL */
} dt__cut;

/* Which indices each coordinate holds, checked. Arrays belong to the arena. */
typedef struct dt__sharding {
    int n_dims, n_mesh_dims;
    const int64_t *shape;           /* n_dims */
    const int64_t *mesh;            /* n_mesh_dims sizes */
    const dt_placement *placements; /* n_mesh_dims, normalized */
    const int *first_cut;           /* n_dims + 1: cuts of dim d are first_cut[d] … first_cut[d + 1] - 1 */
    const dt__cut *cuts;            /* in the order they cut */
} dt__sharding;

/* Checks and normalizes the placements, and copies what it needs into the arena. */
dt_status dt__sharding_new(dt__arena *arena, const dt__sharding_desc *desc, dt__sharding *out);
/* Makes a sharding of placements that dt__placements_normalize wrote, without checks. */
dt_status dt__sharding_build(dt__arena *arena, const dt__sharding_desc *desc, dt__sharding *out);

/* Number of positions, of `size`, that coordinate r of the cut keeps. */
int64_t dt__cut_size(const dt__cut *cut, int64_t size, int64_t r);

/* One map of the chain: n_whole chunks of `chunk` positions, each keeping `mine` from `begin` on; a shorter last
 * chunk keeps tail_mine from tail_begin on. */
typedef struct dt__shard_level {
    int64_t chunk, n_whole, begin, mine, tail_begin, tail_mine;
} dt__shard_level;

/* What one coordinate holds of one tensor dim. Levels that keep everything are left out. */
typedef struct dt__shard {
    int64_t global_size, size;
    int n_levels;
    dt__shard_level levels[DT_SPEC_MAX_DIMS];
} dt__shard;

/* The coordinate's shard of a tensor dim; coordinates must be in range. */
void dt__shard_at(const dt__sharding *sharding, int dim, const int64_t *coordinate, dt__shard *out);

/* The global index of local index i, 0 <= i < size. */
int64_t dt__shard_to_global(const dt__shard *shard, int64_t i);
/* The first local index whose global index is at least `global` (0 … global_size); size where there is none. */
int64_t dt__shard_seek(const dt__shard *shard, int64_t global);
/* The local index of a global one; false where the shard does not hold it. */
bool dt__shard_to_local(const dt__shard *shard, int64_t global, int64_t *out);
/* The rest of the run of consecutive indices that contains local index i: the next run starts at i + end - begin. */
dt_run dt__shard_run(const dt__shard *shard, int64_t i);
/* First global index, or the global size of an empty shard. */
int64_t dt__shard_offset(const dt__shard *shard);

/* Local shape and offset of a coordinate. */
void dt__sharding_local(const dt__sharding *sharding, const int64_t *coordinate, int64_t *shape, int64_t *offset);

/* Sets the coordinates, along the mesh dims that cut this tensor dim, that hold its index i; others are unchanged. */
void dt__sharding_dim_owner(const dt__sharding *sharding, int dim, int64_t i, int64_t *coordinate);
/* The owners of an element: a coordinate per mesh dim that shards, -1 (all) for each other. */
void dt__sharding_owner(const dt__sharding *sharding, const int64_t *global, int64_t *coordinate);
/* Enumerates the coordinates of owners in row-major order: start with *at = 0. */
bool dt__sharding_next_owner(const dt__sharding *sharding, const int64_t *owner, int64_t *at, int64_t *coordinate);

#endif
