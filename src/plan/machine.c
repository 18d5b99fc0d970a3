/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in machine table and the price of one step. The model is the usual one of a start-up time, a time per
 * peer and a rate; it knows nothing of contention between groups. The links of the table are those of the reference
 * that the graph planner follows, so that its traces and our times rest on the same numbers; they describe a cluster
 * of hosts with 8 fast devices, not the machine that this runs on. A copy is taken to go at the rate within a host.
 */
#include "plan/machine.h"

#define GIB_PER_S(rate) ((rate)*1073741824.0 / 1e6) /* in bytes per microsecond */

const dt__machine dt__machine_builtin = {
    .ranks_per_host = 8,
    .within = {.start_us = 6.6, .peer_us = 0.6, .bytes_per_us = GIB_PER_S(87.7)},
    .between = {.start_us = 6.6, .peer_us = 2.7, .bytes_per_us = GIB_PER_S(87.7 * 0.22)},
    .copy_bytes_per_us = GIB_PER_S(87.7),
};

static const char *const names[] = {
#define X(upper, lower) #lower,
    DT__STEP_KIND_LIST(X)
#undef X
};

const char *dt__step_kind_name(dt__step_kind collective) { return names[collective]; }

/* What a collective does, in units of its group of g ranks. */
typedef struct shape {
    double rounds;        /* times that each peer is met */
    double shares;        /* received, in parts of the result: (g - 1) / g of it each */
    double contributions; /* received whole results, from each peer */
    double packed;        /* copies of the source */
} shape;

static const shape shapes[DT__N_STEP_KINDS] = {
    [DT__STEP_ALL_GATHER] = {.rounds = 1, .shares = 1},
    [DT__STEP_ALL_REDUCE] = {.rounds = 2, .shares = 2},
    [DT__STEP_REDUCE_SCATTER] = {.rounds = 1, .contributions = 1},
    [DT__STEP_ALL_TO_ALL] = {.rounds = 1, .shares = 1, .packed = 1},
};

double dt__machine_price(const dt__machine *machine, const dt__priced *step) {
    double copied = step->after_bytes / machine->copy_bytes_per_us;
    if (step->collective == DT__STEP_NONE)
        return copied;
    const shape *does = &shapes[step->collective];
    const dt__link *link = step->spans_hosts ? &machine->between : &machine->within;
    double group = (double)step->group, peers = group - 1;
    double received = step->after_bytes * (does->shares * peers / group + does->contributions * peers);
    return link->start_us + does->rounds * peers * link->peer_us + received / link->bytes_per_us + copied +
           does->packed * step->before_bytes / machine->copy_bytes_per_us;
}

double dt__machine_price_exchange(const dt__machine *machine, const dt__priced_exchange *step) {
    const dt__link *link = step->spans_hosts ? &machine->between : &machine->within;
    double copied = step->after_bytes / machine->copy_bytes_per_us;
    if (step->peers == 0)
        return copied;
    return link->start_us + (double)step->peers * link->peer_us + step->received_bytes / link->bytes_per_us + copied +
           step->before_bytes / machine->copy_bytes_per_us;
}

bool dt__machine_spans_hosts(const dt__machine *machine, int n_mesh_dims, const int64_t *mesh, int mesh_dim) {
    int64_t ranks = 1;
    if (machine->ranks_per_host == 0)
        return false;
    for (int m = n_mesh_dims - 1; m >= mesh_dim; m--)
        ranks = mesh[m] > machine->ranks_per_host ? machine->ranks_per_host + 1 : ranks * mesh[m];
    return ranks > machine->ranks_per_host;
}
