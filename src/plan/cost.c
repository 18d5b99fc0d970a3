/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in machine table and the cost of one step. The model is the usual one of a start-up time, a time per
 * peer and a bandwidth; it ignores contention between groups. The links of the table are those of the reference that
 * the graph planner follows, so that its traces and our times rest on the same numbers; they describe a cluster of
 * hosts with 8 fast devices, not the machine that this runs on. Copies are assumed to run at the bandwidth within a
 * host.
 */
#include "plan/cost.h"

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

const char *dt__step_kind_name(dt__step_kind kind) { return names[kind]; }

/* The traffic of a collective, in units of its group of g ranks. */
typedef struct traffic {
    double rounds;        /* messages from each peer */
    double shares;        /* received, in shares of (g - 1) / g of the result */
    double contributions; /* received full results, from each peer */
    double packed;        /* copies of the source */
} traffic;

static const traffic traffic_of[DT__N_STEP_KINDS] = {
    [DT__STEP_ALL_GATHER] = {.rounds = 1, .shares = 1},
    [DT__STEP_ALL_REDUCE] = {.rounds = 2, .shares = 2},
    [DT__STEP_REDUCE_SCATTER] = {.rounds = 1, .contributions = 1},
    [DT__STEP_ALL_TO_ALL] = {.rounds = 1, .shares = 1, .packed = 1},
};

double dt__machine_price(const dt__machine *machine, const dt__step_desc *step) {
    double copied = step->after_bytes / machine->copy_bytes_per_us;
    if (step->kind == DT__STEP_NONE)
        return copied;
    const traffic *moved = &traffic_of[step->kind];
    const dt__link *link = step->spans_hosts ? &machine->between : &machine->within;
    double group = (double)step->group, peers = group - 1;
    double received = step->after_bytes * (moved->shares * peers / group + moved->contributions * peers);
    return link->start_us + moved->rounds * peers * link->peer_us + received / link->bytes_per_us + copied +
           moved->packed * step->before_bytes / machine->copy_bytes_per_us;
}

bool dt__machine_spans_hosts(const dt__machine *machine, int n_mesh_dims, const int64_t *mesh, int mesh_dim) {
    int64_t ranks = 1;
    if (machine->ranks_per_host == 0)
        return false;
    for (int m = n_mesh_dims - 1; m >= mesh_dim; m--)
        ranks = mesh[m] > machine->ranks_per_host ? machine->ranks_per_host + 1 : ranks * mesh[m];
    return ranks > machine->ranks_per_host;
}

static double shard_bytes(const dt__exchange_desc *exchange, const dt__sharding *sharding,
                          const int64_t *coordinate) {
    int64_t shape[DT_SPEC_MAX_DIMS], offset[DT_SPEC_MAX_DIMS];
    double bytes = (double)exchange->item_bytes;
    dt__sharding_local(sharding, coordinate, shape, offset);
    for (int d = 0; d < sharding->n_dims; d++)
        bytes *= (double)shape[d];
    return bytes;
}

/* Messages from so many peers; the shard before is packed, the one after written. */
static double exchange_us(const dt__machine *machine, const dt__exchange_desc *exchange, int64_t peers,
                          double before_bytes, double after_bytes) {
    const dt__link *link = exchange->spans_hosts ? &machine->between : &machine->within;
    double copied = after_bytes / machine->copy_bytes_per_us;
    if (peers == 0)
        return copied;
    double received = (double)exchange->item_bytes * (double)exchange->received;
    return link->start_us + (double)peers * link->peer_us + received / link->bytes_per_us + copied +
           before_bytes / machine->copy_bytes_per_us;
}

dt_status dt__exchange_price(dt__arena *arena, const dt__machine *machine, const dt__exchange_desc *exchange,
                             double *out) {
    const dt__transfer *transfer = exchange->transfer;
    int64_t source[DT_SPEC_MAX_DIMS], target[DT_SPEC_MAX_DIMS];
    dt__flows flows;
    dt__arena scratch = dt__arena_new(arena->ctx);
    dt_status status = dt__flows_new(&scratch, transfer, exchange->busiest, &flows);
    dt__arena_free(&scratch);
    DT__TRY(status);
    bool inside = dt__transfer_source_position(transfer, exchange->busiest, source) >= 0;
    dt__coordinate(transfer->after->n_mesh_dims, transfer->after->mesh, exchange->busiest, target);
    *out = exchange_us(machine, exchange, flows.n * (transfer->two_phases ? 2 : 1),
                       inside ? shard_bytes(exchange, transfer->before, source) : 0,
                       shard_bytes(exchange, transfer->after, target));
    return DT_OK;
}
