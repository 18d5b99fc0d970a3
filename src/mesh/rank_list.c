/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of ranks. An evenly spaced list is stored as first and step, so that equal lists have equal representations
 * and hashes.
 */
#include "mesh/rank_list.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct dt__rank_position {
    int64_t rank, position;
};

static dt__rank_list evenly_spaced(int64_t first, int64_t step, int64_t n) {
    uint64_t hash = dt__hash_u64((uint64_t)n, dt__hash_u64((uint64_t)step, dt__hash_u64((uint64_t)first, 1)));
    return (dt__rank_list){.n = n, .first = first, .step = step, .hash = hash};
}

dt__rank_list dt__rank_list_range(int64_t n) { return evenly_spaced(0, 1, n); }

static bool is_evenly_spaced(const int64_t *ranks, int64_t n, int64_t *step) {
    *step = n > 1 ? ranks[1] - ranks[0] : 1;
    for (int64_t i = 1; i < n; i++)
        if (ranks[i] - ranks[i - 1] != *step)
            return false;
    return *step != 0;
}

static int by_rank(const void *a, const void *b) {
    const struct dt__rank_position *left = a, *right = b;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* The index by rank; also detects duplicates. */
static dt_status sort_by_rank(dt__arena *arena, const int64_t *ranks, int64_t n, struct dt__rank_position **out) {
    struct dt__rank_position *sorted = DT__NEW_ARRAY(arena, struct dt__rank_position, n);
    if (!sorted)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < n; i++)
        sorted[i] = (struct dt__rank_position){ranks[i], i};
    qsort(sorted, (size_t)n, sizeof *sorted, by_rank);
    for (int64_t i = 1; i < n; i++)
        if (sorted[i].rank == sorted[i - 1].rank)
            return dt__fail(arena->ctx, DT_ERR_MESH, "rank %lld appears twice", (long long)sorted[i].rank);
    *out = sorted;
    return DT_OK;
}

dt_status dt__rank_list_of(dt__arena *arena, const int64_t *ranks, int64_t n, int64_t world, dt__rank_list *out) {
    for (int64_t i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= world)
            return dt__fail(arena->ctx, DT_ERR_MESH, "rank %lld is not in a world of %lld ranks", (long long)ranks[i],
                            (long long)world);
    int64_t step;
    if (is_evenly_spaced(ranks, n, &step)) {
        *out = evenly_spaced(ranks[0], step, n);
        return DT_OK;
    }
    struct dt__rank_position *sorted = NULL;
    DT__TRY(sort_by_rank(arena, ranks, n, &sorted));
    int64_t *copy = dt__arena_copy(arena, ranks, (size_t)n, sizeof *copy);
    if (!copy)
        return DT_ERR_MEMORY;
    *out = (dt__rank_list){.n = n, .ranks = copy, .sorted = sorted};
    out->hash = dt__hash(copy, (size_t)n * sizeof *copy, 2);
    return DT_OK;
}

int64_t dt__rank_list_at(const dt__rank_list *list, int64_t position) {
    return list->ranks ? list->ranks[position] : list->first + position * list->step;
}

int64_t dt__rank_list_find(const dt__rank_list *list, int64_t rank) {
    if (rank < 0)
        return -1;
    if (list->ranks) {
        struct dt__rank_position key = {.rank = rank};
        const struct dt__rank_position *found =
            bsearch(&key, list->sorted, (size_t)list->n, sizeof *list->sorted, by_rank);
        return found ? found->position : -1;
    }
    int64_t distance = rank - list->first;
    if (distance % list->step != 0)
        return -1;
    int64_t position = distance / list->step;
    return position >= 0 && position < list->n ? position : -1;
}

bool dt__rank_list_equal(const dt__rank_list *a, const dt__rank_list *b) {
    if (a == b)
        return true;
    if (a->hash != b->hash || a->n != b->n || !a->ranks != !b->ranks)
        return false;
    if (a->ranks)
        return !memcmp(a->ranks, b->ranks, (size_t)a->n * sizeof *a->ranks);
    return a->first == b->first && a->step == b->step;
}
