/* SPDX-License-Identifier: Apache-2.0
 *
 * Intersections. Each shard in turn seeks the position of the other one's next index, so the work follows the common
 * runs and not the runs of either side.
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

int64_t dt__overlap_size(const dt__shard *a, const dt__shard *b) {
    dt__overlap_run run;
    int64_t size = 0;
    for (int64_t at = 0; dt__overlap_next(a, b, &at, &run);)
        size += run.end - run.begin;
    return size;
}
