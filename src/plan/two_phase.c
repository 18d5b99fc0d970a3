/* SPDX-License-Identifier: Apache-2.0
 *
 * When reductions take two phases, and how a shard is divided into portions.
 */
#include "plan/two_phase.h"

#include "base/size.h"

enum {
    AT_ONCE_BYTES = 8192,           /* up to here every replica reduces everything */
    AT_ONCE_BYTES_OF_TWO = 4 << 20, /* for two values and two replicas: two phases would read as much */
    MIN_ROWS = 8                    /* of each replica along the dim that is divided, if there are as many */
};

bool dt__reduces_in_two_phases(int64_t n_values, int64_t n_replicas, int64_t shard_bytes) {
    if (n_values == 1 || n_replicas == 1)
        return false;
    return shard_bytes > (n_values == 2 && n_replicas == 2 ? AT_ONCE_BYTES_OF_TWO : AT_ONCE_BYTES);
}

int dt__portion_dim(int n_dims, const int *order, const dt__shard *shard, int64_t n_replicas) {
    int longest = 0;
    for (int i = 0; i < n_dims; i++) {
        int d = order ? order[i] : i;
        if (shard[d].size / MIN_ROWS >= n_replicas)
            return d;
        longest = shard[d].size > shard[longest].size ? d : longest;
    }
    return longest;
}

dt__portion dt__portion_of(int n_dims, const dt__shard *shard, int64_t n_replicas, int64_t replica) {
    dt__portion out = {.dim = dt__portion_dim(n_dims, NULL, shard, n_replicas)};
    int64_t size = shard[out.dim].size, width = dt__ceil_div(size, n_replicas);
    out.begin = dt__min_i64(replica * width, size);
    out.end = out.begin + dt__min_i64(width, size - out.begin);
    return out;
}

int64_t dt__portion_size(int n_dims, const dt__shard *shard, const dt__portion *portion) {
    int64_t n = 1;
    for (int d = 0; d < n_dims; d++)
        n *= d == portion->dim ? portion->end - portion->begin : shard[d].size;
    return n;
}

/* Common indices whose local index in the shard is in the portion. */
static int64_t common_within(const dt__shard *other, const dt__shard *shard, int64_t begin, int64_t end) {
    dt__overlap_run run;
    int64_t at = 0, n = 0;
    while (dt__overlap_next(other, shard, &at, &run) && run.b < end) {
        int64_t from = dt__max_i64(run.b, begin), to = dt__min_i64(run.b + run.end - run.begin, end);
        n += to > from ? to - from : 0;
    }
    return n;
}

int64_t dt__portion_common(int n_dims, const dt__shard *other, const dt__shard *shard, const dt__portion *portion) {
    int64_t n = 1;
    for (int d = 0; d < n_dims && n; d++)
        n *= d == portion->dim ? common_within(&other[d], &shard[d], portion->begin, portion->end)
                               : dt__overlap_size(&other[d], &shard[d]);
    return n;
}
