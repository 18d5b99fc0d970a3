/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of placements: checked against a mesh and a shape, and normalized.
 */
#ifndef DT_SPEC_PLACEMENT_H
#define DT_SPEC_PLACEMENT_H

#include "base/ctx.h"
#include "dtensor/spec.h"

/* Placements as the caller wrote them, with the sizes that they are for. */
typedef struct dt__sharding_desc {
    int n_mesh_dims;
    const int64_t *mesh; /* sizes */
    int n_dims;
    const int64_t *shape;
    int n_placements;
    const dt_placement *placements;
} dt__sharding_desc;

/* factor times the product of sizes; 0 if a size is 0, even where the others overflow. False above 2^63 - 1. */
bool dt__product(int n, const int64_t *sizes, int64_t factor, int64_t *out);

/* Whether the placement cuts a tensor dim: a plain or a strided shard. */
static inline bool dt__is_cut(const dt_placement *placement) {
    return placement->kind == DT_PLACEMENT_SHARD || placement->kind == DT_PLACEMENT_STRIDED;
}

/* Checks counts, ranges, order, extents, mixed partials and overflow, and writes n_mesh_dims normalized placements:
 * dims from 0, positions filled in, `ordered` only where cuts are not from left to right, extents only where they
 * differ from the ceil rule, unused fields zero. Extents still belong to the caller. */
dt_status dt__placements_normalize(dt_ctx *ctx, const dt__sharding_desc *desc, dt_placement *out);

/* An error for partials whose reduction the dtype does not have. */
dt_status dt__placements_check_dtype(dt_ctx *ctx, int n, const dt_placement *placements, dt_dtype dtype);

#endif
