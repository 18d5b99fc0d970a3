/* SPDX-License-Identifier: Apache-2.0
 *
 * Who sends what to whom in a plan, rank by rank: the elements of each pair and their indices in the full tensor. Of
 * many pairs only those of one receiver are listed, the rank that receives most.
 */
#ifndef TOOLS_DTENSOR_PLAN_FLOWS_H
#define TOOLS_DTENSOR_PLAN_FLOWS_H

#include "plan/plan.h"
#include "table.h"

/* What one rank sends to another in one step. */
typedef struct flow_pair {
    int step;                 /* from 0 */
    int64_t sender, receiver; /* ranks */
    int64_t elements;
    const run_list *indices; /* per tensor dim, their product is sent; NULL: portions of a reduction in two phases */
} flow_pair;

typedef struct flow_list {
    flow_pair *pairs; /* by step, then by receiver, then by sender */
    int64_t n, capacity;
    int64_t receiver; /* the only rank whose pairs are listed, or -1: all are */
} flow_list;

/* Lists the pairs of all receivers if there are at most max_pairs on at most max_ranks ranks, and otherwise those of
 * the rank that receives most in one step. receiver >= 0: of this rank. Refuses (mesh) one that is not in the target's
 * mesh, and (unsupported) one that has more than 2^20 senders. */
dt_status flow_list_new(dt__arena *arena, const dt_spec *from, const dt_spec *to, const dt__plan *plan,
                        int64_t max_pairs, int64_t max_ranks, int64_t receiver, flow_list *out);

#endif
