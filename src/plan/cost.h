/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost of a step by the machine model. That of collectives is in plan.h; here is the cost of one exchange:
 * point-to-point messages that bring each rank just the blocks that it lacks, packed by their senders and unpacked by
 * their receivers. Unlike a collective over a group it involves only ranks that have something to send, so it is priced
 * by who sends what to whom, for the rank that receives most.
 */
#ifndef DT_PLAN_COST_H
#define DT_PLAN_COST_H

#include "plan/traffic.h"

typedef struct dt__exchange_desc {
    const dt__transfer *transfer;
    dt__step_kind kind; /* the collective that it replaces */
    int64_t item_bytes;
    bool spans_hosts;
    int64_t busiest;  /* position after the exchange of the rank that receives most */
    int64_t received; /* elements that it receives */
} dt__exchange_desc;

/* Microseconds. */
dt_status dt__exchange_price(dt__arena *arena, const dt__machine *machine, const dt__exchange_desc *exchange,
                             double *out);

#endif
