/* SPDX-License-Identifier: Apache-2.0
 *
 * How the ranks of a host share its cores, with any binding.
 */
#ifndef DT_CLUSTER_CORE_SHARES_H
#define DT_CLUSTER_CORE_SHARES_H

#include "comm/comm.h"

/* Ranks of a host that have equal sets of CPUs share the cores of the set. Returns the number of cores that all ranks
 * have together, and how many of them belong to rank `me` of the list, at least 1. */
int64_t dt__share_cores(const dt__rank_cpus *ranks, int64_t n_ranks, int64_t me, int64_t *own);

#endif
