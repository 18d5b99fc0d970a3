/* SPDX-License-Identifier: Apache-2.0
 *
 * A lower bound of the cost of a move, for searches that compare many: the minimum of what its collectives take at
 * least, and of what one exchange takes. Each collective has a start and all peers of its group, and none both reduces
 * and moves shards. An exchange brings the rank that lacks most what it lacks.
 */
#include "plan/min_cost_searches.h"

#include <math.h>

/* The elements of its target shard that the rank at this coordinate lacks. */
static double missing_at(const dt__move *move, const int64_t *coordinate) {
    double needed = 1, held = 1;
    for (int d = 0; d < move->from->n_dims; d++) {
        dt__shard before, after;
        dt__shard_at(move->from, d, coordinate, &before);
        dt__shard_at(move->to, d, coordinate, &after);
        needed *= (double)after.size;
        held *= (double)dt__overlap_size(&before, &after);
    }
    return needed - held;
}

/* The elements of the largest shard, at least 1. */
static double largest_shard(const dt__sharding *sharding) {
    double elements = 1;
    for (int d = 0; d < sharding->n_dims; d++) {
        int64_t size;
        elements *= (double)(dt__sharding_dim_max(sharding, d, &size) ? size : sharding->shape[d]);
    }
    return fmax(elements, 1);
}

/* The cost of an exchange in which some rank lacks so many elements, at least: no peer sends more than it holds. */
static double missing_us(const dt__state_space *space, const dt__link *link, double missing, double most_held) {
    double bytes = missing * (double)space->move->item_bytes;
    if (missing <= 0)
        return 0;
    return link->start_us + ceil(missing / most_held) * link->peer_us + bytes / link->bytes_per_us +
           bytes / space->machine->min_copy_bytes_per_us;
}

/* A lower bound of the cost of one exchange, by what the first rank and those next to it along one mesh dim lack; not
 * improved once it has reached `enough`. */
static double exchange_bound_us(const dt__state_space *space, const dt__change *change, double enough) {
    const dt__machine *machine = space->machine;
    const dt__link *link = change->spans_hosts ? &machine->min_between : &machine->min_within;
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
    if (change->collective != DT__STEP_ALL_TO_ALL)
        return INFINITY;
    double most_held = largest_shard(space->move->from);
    double us = missing_us(space, link, missing_at(space->move, coordinate), most_held);
    for (int m = 0; m < space->n_mesh_dims && us < enough; m++) {
        if (space->mesh[m] == 1)
            continue;
        coordinate[m] = 1;
        us = fmax(us, missing_us(space, link, missing_at(space->move, coordinate), most_held));
        coordinate[m] = 0;
    }
    return us;
}

/* The mesh dims of a step, as bits, over which shards move and partials are reduced. */
typedef struct changed_sets {
    unsigned moved, reduced;
    double again_us; /* second rounds: what is reduced is also sent to all */
} changed_sets;

static changed_sets find_sets(const dt__state_space *space, const dt__change *change) {
    const dt__machine *machine = space->machine;
    double peer_us = fmin(machine->min_within.peer_us, machine->min_between.peer_us);
    changed_sets sets = {0, 0, 0};
    for (int c = 0; c < change->n_mesh_dims; c++) {
        int m = change->mesh_dims[c], before = space->from[m].token;
        if (space->mesh[m] == 1 || before == DT__TOKEN_REPLICATE)
            continue;
        bool reduces = dt__token_is_partial(space, before);
        *(reduces ? &sets.reduced : &sets.moved) |= 1u << m;
        if (reduces && space->to[m].token == DT__TOKEN_REPLICATE)
            sets.again_us += (double)(space->mesh[m] - 1) * peer_us;
    }
    return sets;
}

/* One collective over a set of mesh dims and perhaps others. */
static double collective_us(const dt__state_space *space, unsigned set) {
    const dt__link *within = &space->machine->min_within, *between = &space->machine->min_between;
    double peers = 1;
    bool spans = false;
    for (int m = 0; m < space->n_mesh_dims; m++)
        if (set >> m & 1) {
            peers *= (double)space->mesh[m];
            spans = spans || space->spans_hosts[m];
        }
    double us = between->start_us + (peers - 1) * between->peer_us;
    return spans ? us : fmin(us, within->start_us + (peers - 1) * within->peer_us);
}

/* Collectives over a set of mesh dims, however it is divided among them: one of them has the lowest. */
static double collectives_us(const dt__state_space *space, unsigned set) {
    unsigned rest = set & (set - 1);
    double us = INFINITY;
    if (!set)
        return 0;
    for (unsigned others = rest;; others = (others - 1) & rest) {
        us = fmin(us, collective_us(space, set & ~others) + collectives_us(space, others));
        if (!others)
            return us;
    }
}

enum { MAX_MESH_DIMS = 6 }; /* sets of more are divided in too many ways */

double dt__min_cost_bound_us(const dt__state_space *space) {
    dt__change change;
    if (space->n_mesh_dims > MAX_MESH_DIMS)
        return 0;
    dt__state_change(space, space->from, space->to, &change);
    changed_sets sets = find_sets(space, &change);
    double us = collectives_us(space, sets.moved) + collectives_us(space, sets.reduced) + sets.again_us;
    return fmin(us, exchange_bound_us(space, &change, us));
}

bool dt__exchange_may_cost_less(const dt__state_space *space, double us) {
    dt__change change;
    dt__state_change(space, space->from, space->to, &change);
    return exchange_bound_us(space, &change, us) < us;
}
