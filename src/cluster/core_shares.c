/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts the cores of a host's ranks, each set of CPUs once.
 */
#include "cluster/core_shares.h"

/* How many of the first n ranks have the set of this one. */
static int64_t count_equal(const dt__rank_cpus *ranks, int64_t n_ranks, int64_t rank) {
    int64_t n = 0;
    for (int64_t i = 0; i < n_ranks; i++)
        n += ranks[i].set == ranks[rank].set;
    return n;
}

int64_t dt__share_cores(const dt__rank_cpus *ranks, int64_t n_ranks, int64_t me, int64_t *own) {
    int64_t total = 0;
    for (int64_t rank = 0; rank < n_ranks; rank++)
        if (!count_equal(ranks, rank, rank)) /* the first of its set */
            total += ranks[rank].n_cores;
    *own = ranks[me].n_cores / count_equal(ranks, n_ranks, me);
    *own = *own < 1 ? 1 : *own;
    return total;
}
