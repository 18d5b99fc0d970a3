/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of grouped rows: from the groups of each rank to the extents of each tensor, and back.
 */
#include "base/size.h"
#include "rules/rules.h"

#include <string.h>

static int64_t sharded_size(const dt_op_call *call, const dt__row *row, int entry) {
    return dt__row_value(call, entry)->shape[row->entries[entry] - 1];
}

int64_t dt__row_groups(const dt_op_call *call, const dt__row *row) {
    int64_t groups = INT64_MAX;
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++)
        if (row->entries[e] > 0)
            groups = dt__min_i64(groups, sharded_size(call, row, e));
    return groups;
}

void dt__chunk_groups(int64_t n_groups, int64_t n, int64_t *out) {
    const int64_t chunk = dt__ceil_div(n_groups, n);
    for (int64_t r = 0; r < n; r++) {
        out[r] = dt__min_i64(chunk, n_groups);
        n_groups -= out[r];
    }
}

bool dt__groups_of_shard(int64_t n_groups, int64_t size, const dt_placement *shard, int64_t n, int64_t *out) {
    const int64_t multiple = size / n_groups;
    if (shard->kind != DT_PLACEMENT_SHARD)
        return false;
    if (!shard->n_extents && dt__ceil_div(size, n) % multiple != 0)
        return false;
    if (shard->n_extents)
        memcpy(out, shard->extents, (size_t)n * sizeof *out);
    else
        dt__chunk_groups(size, n, out);
    for (int64_t r = 0; r < n; r++) {
        if (out[r] % multiple != 0)
            return false;
        out[r] /= multiple;
    }
    return true;
}

static dt_status grouped_shard(dt__arena *arena, int dim, int64_t multiple, int64_t n, const int64_t *groups,
                               dt_placement *out) {
    int64_t *extents = DT__NEW_ARRAY(arena, int64_t, (int)n), *chunks = DT__NEW_ARRAY(arena, int64_t, (int)n);
    int64_t size = 0;
    if (!extents || !chunks)
        return DT_ERR_MEMORY;
    for (int64_t r = 0; r < n; r++)
        size += extents[r] = groups[r] * multiple;
    dt__chunk_groups(size, n, chunks);
    *out = dt_placement_shard(dim);
    if (memcmp(extents, chunks, (size_t)n * sizeof *extents) != 0) {
        out->n_extents = n;
        out->extents = extents;
    }
    return DT_OK;
}

dt_status dt__grouped_shards(dt__arena *arena, const dt_op_call *call, const dt__row *row, int64_t n,
                             const int64_t *groups, dt_placement *out) {
    const int64_t n_groups = dt__row_groups(call, row);
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++)
        if (row->entries[e] > 0)
            DT__TRY(
                grouped_shard(arena, row->entries[e] - 1, sharded_size(call, row, e) / n_groups, n, groups, &out[e]));
    return DT_OK;
}
