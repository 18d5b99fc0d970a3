/* SPDX-License-Identifier: Apache-2.0
 *
 * Shard orders. Sharding a dim over mesh dim 1 (4 shards) and then over mesh dim 0 is the same as giving mesh dim 0
 * the r-th block of each of 4 chunks, and mesh dim 1 one chunk of what is left:
 *
 *     S(0)[1],S(0)[0] on mesh(2x4)   =   _S(0,4),S(0) on mesh(2x4)
 */
#include "spec/shard_order.h"

#include <string.h>

static bool cut_same_dim(const dt_placement *a, const dt_placement *b) {
    return dt__is_cut(a) && dt__is_cut(b) && a->dim == b->dim;
}

/* The position of m if mesh dims cut from left to right. */
static int position_from_left(const dt_placement *placements, int m) {
    int position = 0;
    for (int left = 0; left < m; left++)
        position += cut_same_dim(&placements[left], &placements[m]);
    return position;
}

/* The position of m among the cuts to its right such that the sizes of those before it multiply to the factor; -1 if
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
