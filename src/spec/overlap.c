/* SPDX-License-Identifier: Apache-2.0
 *
 * Intersections. Two shards leap over each other: each seeks the place where the other one has its next index, so the
 * work follows the common runs and not the runs of either side.
 */
#include "spec/overlap.h"

#include "base/size.h"

bool dt__overlap_next(const dt__shard *a, const dt__shard *b, int64_t *at, dt__overlap_run *out) {
    for (;;) {
        int64_t i = dt__shard_seek(a, *at);
        if (i == a->size)
            return false;
        dt_run run_a = dt__shard_run(a, i);
        int64_t j = dt__shard_seek(b, run_a.begin);
        if (j == b->size)
            return false;
        dt_run run_b = dt__shard_run(b, j);
        if (run_b.begin < run_a.end) {
            *at = dt__min_i64(run_a.end, run_b.end);
            *out = (dt__overlap_run){run_b.begin, *at, i + run_b.begin - run_a.begin, j};
            return true;
        }
        *at = run_b.begin;
    }
}

static dt__overlap_dim count(const dt__shard *a, const dt__shard *b) {
    dt__overlap_dim dim = {0};
    dt__overlap_run run;
    for (int64_t at = 0; dt__overlap_next(a, b, &at, &run); dim.n_runs++)
        dim.size += run.end - run.begin;
    return dim;
}

int64_t dt__overlap_size(const dt__shard *a, const dt__shard *b) { return count(a, b).size; }

static dt_status overlap_dim(dt__arena *arena, const dt__shard *a, const dt__shard *b, dt__overlap_dim *out) {
    *out = count(a, b);
    out->runs = DT__NEW_ARRAY(arena, dt__overlap_run, out->n_runs);
    if (!out->runs)
        return DT_ERR_MEMORY;
    int64_t at = 0;
    for (int64_t i = 0; i < out->n_runs; i++)
        dt__overlap_next(a, b, &at, &out->runs[i]);
    return DT_OK;
}

dt_status dt__overlap_new(dt__arena *arena, const dt__sharding *a, const int64_t *coordinate_a, const dt__sharding *b,
                          const int64_t *coordinate_b, dt__overlap *out) {
    dt__shard shard_a, shard_b;
    bool nothing = false;
    *out = (dt__overlap){.n_dims = a->n_dims, .dims = DT__NEW_ARRAY(arena, dt__overlap_dim, a->n_dims)};
    if (!out->dims)
        return DT_ERR_MEMORY;
    for (int d = 0; d < a->n_dims; d++) {
        dt__shard_at(a, d, coordinate_a, &shard_a);
        dt__shard_at(b, d, coordinate_b, &shard_b);
        DT__TRY(overlap_dim(arena, &shard_a, &shard_b, &out->dims[d]));
        nothing |= out->dims[d].size == 0;
    }
    out->elements = out->n_boxes = !nothing;
    for (int d = 0; d < a->n_dims && !nothing; d++) {
        out->elements *= out->dims[d].size;
        out->n_boxes *= out->dims[d].n_runs;
    }
    return DT_OK;
}

dt__overlap_box dt__overlap_box_at(const dt__overlap *overlap, int64_t i) {
    dt__overlap_box box;
    for (int d = overlap->n_dims - 1; d >= 0; d--) {
        box.run[d] = &overlap->dims[d].runs[i % overlap->dims[d].n_runs];
        i /= overlap->dims[d].n_runs;
    }
    return box;
}
