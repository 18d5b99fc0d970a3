/* SPDX-License-Identifier: Apache-2.0
 *
 * What a context keeps for dispatch: decisions, and how calls are to behave.
 */
#ifndef DT_DISPATCH_DISPATCH_STATE_H
#define DT_DISPATCH_DISPATCH_STATE_H

#include "dispatch/decision.h"
#include "dtensor/dispatch.h"

/* A cache of sets: a decision can stand in one of DT__WAYS places, and the one that was used longest ago gives way. */
enum { DT__N_SETS = 1024, DT__WAYS = 4 };

typedef struct dt__dispatch_state {
    dt__decision *cache[DT__N_SETS][DT__WAYS];
    int64_t tick;
    dt_cache_statistics stats;
    int implicit_replication; /* depth */
    struct dt__policy *policies;
    int n_policies, room_policies;
    struct dt__monitor *monitor; /* counts and traces; NULL: never asked for */
} dt__dispatch_state;

/* Made on first use; NULL with the error recorded. */
dt__dispatch_state *dt__dispatch_state_of(dt_ctx *ctx);

/* policy.c: refuses, warns of, or lets pass what a call is about to move. */
dt_status dt__policy_check(dt_ctx *ctx, const dt__invocation *call, const dt__decision *decision);
void dt__policies_free(dt_ctx *ctx, dt__dispatch_state *state);

#endif
