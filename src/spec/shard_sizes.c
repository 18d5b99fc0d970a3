/* SPDX-License-Identifier: Apache-2.0
 *
 * Even and largest shards. For one cut, coordinate 0 has the largest shard and the last one the smallest. For a chain
 * this does not hold: a strided shard may keep more of 3 positions than of 4 (_S(0,3) over 2 keeps 3 of 3, and 2 of
 * 4), so the largest shard of a chain is searched among the few sizes that each cut leaves.
 */
#include "spec/shard_sizes.h"

#include "base/size.h"

int64_t dt__sharding_dim_shards(const dt__sharding *sharding, int dim) {
    int64_t n = 1;
    for (int c = sharding->first_cut[dim]; c < sharding->first_cut[dim + 1]; c++)
        n *= sharding->cuts[c].n;
    return n;
}

/* If the last cut leaves equal sizes, each size before it was n times that: uneven shards never become even again,
 * and coordinate 0 represents all. Explicit extents that are even have been normalized to the ceil rule. */
bool dt__sharding_dim_is_even(const dt__sharding *sharding, int dim) {
    int64_t size = sharding->shape[dim];
    for (int c = sharding->first_cut[dim]; c < sharding->first_cut[dim + 1]; c++) {
        const dt__cut *cut = &sharding->cuts[c];
        int64_t largest = dt__cut_size(cut, size, 0);
        if (cut->starts || largest != dt__cut_size(cut, size, cut->n - 1))
            return false;
        size = largest;
    }
    return true;
}

enum { MAX_STEPS = 100000 };

typedef struct search {
    const dt__cut *cuts;
    int n_cuts, last_strided; /* -1: none */
    int64_t best;
    int steps;
} search;

static void search_from(search *found, int at, int64_t size);

static int64_t largest_extent(const dt__cut *cut) {
    int64_t max = 0;
    for (int64_t r = 0; r < cut->n; r++)
        max = dt__max_i64(max, cut->starts[r + 1] - cut->starts[r]);
    return max;
}

/* Follows each size that the cut leaves. Blocks of a chunk are full, then at most one is short, then all are empty; so
 * sizes change at most at these coordinates: */
static void search_blocks(search *found, int at, int64_t size) {
    const dt__cut *cut = &found->cuts[at];
    int64_t chunk = dt__ceil_div(size, cut->split), tail = size % chunk;
    int64_t short_block = chunk / dt__ceil_div(chunk, cut->n);
    int64_t short_tail = tail ? tail / dt__ceil_div(tail, cut->n) : 0;
    const int64_t changes[] = {0, short_block, short_block + 1, short_tail, short_tail + 1};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (changes[i] < cut->n)
            search_from(found, at + 1, dt__cut_size(cut, size, changes[i]));
}

/* Cuts never enlarge, so a size that is not above the best one is not followed. */
static void search_from(search *found, int at, int64_t size) {
    if (size <= found->best || ++found->steps > MAX_STEPS)
        return;
    if (at == found->n_cuts)
        found->best = size;
    else if (found->cuts[at].starts)
        search_from(found, at + 1, largest_extent(&found->cuts[at]));
    else if (at < found->last_strided)
        search_blocks(found, at, size);
    else /* only plain shards follow, which keep the order of sizes */
        search_from(found, at + 1, dt__cut_size(&found->cuts[at], size, 0));
}

bool dt__sharding_dim_max(const dt__sharding *sharding, int dim, int64_t *out) {
    search found = {
        .cuts = &sharding->cuts[sharding->first_cut[dim]],
        .n_cuts = sharding->first_cut[dim + 1] - sharding->first_cut[dim],
        .last_strided = -1,
    };
    for (int c = 0; c < found.n_cuts; c++)
        if (found.cuts[c].split > 1)
            found.last_strided = c;
    search_from(&found, 0, sharding->shape[dim]);
    if (found.steps > MAX_STEPS)
        return false;
    *out = found.best;
    return true;
}

dt_status dt__sharding_dim_largest(dt_ctx *ctx, const dt__sharding *sharding, int dim, int64_t *out) {
    if (dt__sharding_dim_max(sharding, dim, out))
        return DT_OK;
    return dt__fail(ctx, DT_ERR_UNSUPPORTED,
                    "spec: dim %d is sharded by %d mesh dims whose strided shards have too many different sizes", dim,
                    sharding->first_cut[dim + 1] - sharding->first_cut[dim]);
}
