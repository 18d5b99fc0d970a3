/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions between equivalent descriptions. Cutting a dim by mesh dim 1 (4 parts) and then by mesh dim 0 is the
 * same as letting mesh dim 0 take the r-th part of each of 4 chunks and mesh dim 1 one chunk of what is left:
 *
 *     S(0)[1],S(0)[0] on mesh(2,4)   =   _S(0,4),S(0) on mesh(2,4)
 */
#include "spec/shard_order.h"

#include "base/size.h"
#include "spec/stride_order.h"

#include <inttypes.h>
#include <string.h>

static bool cut_same_dim(const dt_placement *a, const dt_placement *b) {
    return dt__is_cut(a) && dt__is_cut(b) && a->dim == b->dim;
}

/* Where m stands in the order if mesh dims cut from left to right. */
static int position_from_left(const dt_placement *placements, int m) {
    int position = 0;
    for (int left = 0; left < m; left++)
        position += cut_same_dim(&placements[left], &placements[m]);
    return position;
}

/* Product of the mesh dims right of m that cut m's dim before m does. */
static int64_t split_factor_of(int n, const int64_t *mesh, const dt_placement *placements, int m) {
    int64_t factor = 1;
    for (int right = m + 1; right < n; right++)
        if (cut_same_dim(&placements[right], &placements[m]) && placements[right].position < placements[m].position)
            factor *= mesh[right];
    return factor;
}

bool dt__order_to_strided(int n, const int64_t *mesh, const dt_placement *placements, dt_placement *out) {
    for (int m = 0; m < n; m++)
        if (placements[m].ordered && placements[m].kind == DT_PLACEMENT_STRIDED)
            return false;
    for (int m = 0; m < n; m++) {
        out[m] = placements[m];
        if (!placements[m].ordered)
            continue;
        int64_t factor = split_factor_of(n, mesh, placements, m);
        out[m] =
            factor == 1 ? dt_placement_shard(placements[m].dim) : dt_placement_strided(placements[m].dim, factor);
        out[m].position = position_from_left(placements, m);
    }
    return true;
}

/* The place for m in the order of the cuts to its right, such that those before it multiply to the factor; -1 if
 * there is none. `done` holds the positions of the cuts to the right. */
static int position_of_factor(int n, const int64_t *mesh, const dt_placement *done, int m, int64_t factor) {
    int64_t product = 1;
    int position = 0;
    while (product < factor) {
        int at = m + 1;
        while (at < n && !(cut_same_dim(&done[at], &done[m]) && done[at].position == position))
            at++;
        if (at == n)
            return -1;
        product *= mesh[at];
        position++;
    }
    return product == factor ? position : -1;
}

static bool dim_has_strided(int n, const dt_placement *placements, int m) {
    for (int other = 0; other < n; other++)
        if (cut_same_dim(&placements[other], &placements[m]) && placements[other].kind == DT_PLACEMENT_STRIDED)
            return true;
    return false;
}

bool dt__strided_to_order(int n, const int64_t *mesh, const dt_placement *placements, dt_placement *out) {
    dt_placement done[DT_SPEC_MAX_DIMS];
    memcpy(done, placements, (size_t)n * sizeof *done);
    for (int m = n - 1; m >= 0; m--) {
        if (!dt__is_cut(&placements[m]) || !dim_has_strided(n, placements, m))
            continue;
        int64_t factor = placements[m].kind == DT_PLACEMENT_STRIDED ? placements[m].split_factor : 1;
        int position = placements[m].ordered ? -1 : position_of_factor(n, mesh, done, m, factor);
        if (position < 0)
            return false;
        for (int right = m + 1; right < n; right++)
            done[right].position += cut_same_dim(&done[right], &done[m]) && done[right].position >= position;
        done[m] = dt_placement_shard(placements[m].dim);
        done[m].position = position;
    }
    for (int m = 0; m < n; m++)
        if (dt__is_cut(&done[m]) && done[m].position != position_from_left(done, m))
            for (int other = 0; other < n; other++)
                done[other].ordered |= cut_same_dim(&done[other], &done[m]);
    memcpy(out, done, (size_t)n * sizeof *out);
    return true;
}

/* Checks the placements on their own: extents belong to the global size, which is not known yet. */
static dt_status normalise_without_extents(dt_ctx *ctx, const dt__sharding_desc *desc, dt_placement *out) {
    dt_placement plain[DT_SPEC_MAX_DIMS];
    dt__sharding_desc without = *desc;
    without.placements = plain;
    for (int m = 0; m < desc->n_placements && m < DT_SPEC_MAX_DIMS; m++) {
        plain[m] = desc->placements[m];
        plain[m].n_extents = 0;
    }
    return dt__placements_normalise(ctx, &without, out);
}

static int64_t sum_of_extents(const dt_placement *placement) {
    int64_t sum = 0;
    for (int64_t r = 0; r < placement->n_extents; r++)
        if (!dt__add_i64(sum, placement->extents[r], &sum))
            return -1;
    return sum;
}

dt_status dt__global_from_local(dt_ctx *ctx, const dt__sharding_desc *local, const int64_t *strides, int64_t *shape,
                                int *stride_order) {
    dt_placement placements[DT_SPEC_MAX_DIMS];
    DT__TRY(normalise_without_extents(ctx, local, placements));
    int64_t global[DT_SPEC_MAX_DIMS];
    memcpy(global, local->shape, (size_t)local->n_dims * sizeof *global);
    for (int m = 0; m < local->n_mesh_dims; m++) {
        const dt_placement *written = &local->placements[m];
        if (!dt__is_cut(written))
            continue;
        int64_t *size = &global[placements[m].dim];
        bool fits =
            written->n_extents ? (*size = sum_of_extents(written)) >= 0 : dt__mul_i64(*size, local->mesh[m], size);
        if (!fits)
            return dt__fail(ctx, DT_ERR_SHAPE, "global shape: dim %d has more than 2^63 - 1 indices",
                            placements[m].dim);
    }
    memcpy(shape, global, (size_t)local->n_dims * sizeof *shape);
    if (strides)
        dt__stride_order_of(local->n_dims, strides, stride_order);
    else
        dt__stride_order_row_major(local->n_dims, stride_order);
    return DT_OK;
}

/* Joins rank r's part to what is known of the global shape; dim `along` adds up (-1: none does). */
static dt_status join_part(dt_ctx *ctx, int n_dims, int along, int64_t r, const int64_t *part, int64_t *global) {
    for (int d = 0; d < n_dims; d++) {
        if (part[d] < 0)
            return dt__fail(ctx, DT_ERR_SHAPE, "global shape from parts: size %" PRId64 " on rank %" PRId64, part[d],
                            r);
        if (d == along && !dt__add_i64(global[d], part[d], &global[d]))
            return dt__fail(ctx, DT_ERR_SHAPE, "global shape from parts: dim %d has more than 2^63 - 1 indices", d);
        if (d != along && part[d] != global[d])
            return dt__fail(ctx, DT_ERR_SHAPE,
                            "global shape from parts: dim %d is not sharded and has size %" PRId64
                            " on rank 0, %" PRId64 " on rank %" PRId64,
                            d, global[d], part[d], r);
    }
    return DT_OK;
}

dt_status dt__global_from_parts(dt_ctx *ctx, const dt__sharding_desc *local, const int64_t *parts, int64_t *shape) {
    dt_placement placement;
    int64_t global[DT_SPEC_MAX_DIMS];
    if (local->n_mesh_dims != 1 && local->n_placements == local->n_mesh_dims)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "global shape from parts: a mesh of one dim is wanted, this has %d",
                        local->n_mesh_dims);
    dt__sharding_desc first = *local;
    first.shape = parts;
    DT__TRY(normalise_without_extents(ctx, &first, &placement));
    int along = dt__is_cut(&placement) ? placement.dim : -1;
    memcpy(global, parts, (size_t)local->n_dims * sizeof *global);
    for (int64_t r = 1; r < local->mesh[0]; r++)
        DT__TRY(join_part(ctx, local->n_dims, along, r, parts + r * local->n_dims, global));
    memcpy(shape, global, (size_t)local->n_dims * sizeof *shape);
    return DT_OK;
}
