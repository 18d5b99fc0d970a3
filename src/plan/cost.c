/* SPDX-License-Identifier: Apache-2.0
 *
 * The cost of one step by the machine model: the usual formula of a start-up time, a time per peer and a bandwidth,
 * which ignores contention between groups; or, where the model has measured steps, what was measured for groups of
 * this size while so many ranks of the host are busy, which includes it.
 */
#include "plan/cost.h"

#include "base/size.h"

#include <math.h>

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

/* A line through the start and through the point where the cache is full. */
static dt__step_line line_of(const dt__measured_step *step) {
    double us = 1 / step->bytes_per_us, memory_us = step->cache_bytes > 0 ? 1 / step->memory_bytes_per_us : us;
    return (dt__step_line){{step->start_us, us}, {step->start_us - (memory_us - us) * step->cache_bytes, memory_us}};
}

static double mix_times(double a, double b, double weight) {
    double mixed = a + weight * (b - a);
    return weight <= 1 ? mixed : fmax(mixed, b);
}

/* A value on the line through both, at weights 0 and 1. Beyond the second it is never below that. */
static dt__step_line mix(dt__step_line a, dt__step_line b, double weight) {
    return (dt__step_line){
        {mix_times(a.cache.base, b.cache.base, weight), mix_times(a.cache.us_per_byte, b.cache.us_per_byte, weight)},
        {mix_times(a.memory.base, b.memory.base, weight),
         mix_times(a.memory.us_per_byte, b.memory.us_per_byte, weight)}};
}

static double line_us(const dt__step_line *line, double bytes) {
    return fmax(line->cache.base + line->cache.us_per_byte * bytes,
                line->memory.base + line->memory.us_per_byte * bytes);
}

static double weight_of(int64_t at, int64_t first, int64_t second) {
    return (double)(at - first) / (double)(second - first);
}

/* Groups of this size among n steps of one kind and number of ranks, by group. */
static dt__step_line at_group(const dt__measured_step *steps, int n, int64_t group) {
    int i = 0;
    while (i < n && steps[i].group < group)
        i++;
    if (i == n)
        return line_of(&steps[n - 1]);
    if (i == 0 || steps[i].group == group)
        return line_of(&steps[i]);
    return mix(line_of(&steps[i - 1]), line_of(&steps[i]), weight_of(group, steps[i - 1].group, steps[i].group));
}

/* The steps of one kind and layout, or of one layout where there is only one. */
static const dt__measured_step *find_steps(const dt__machine *machine, dt__step_kind kind, bool strided, int *n) {
    const dt__measured_step *first = machine->measured, *end = first + machine->n_measured;
    while (first < end && first->kind != kind)
        first++;
    const dt__measured_step *middle = first;
    while (middle < end && middle->kind == kind && !middle->strided)
        middle++;
    const dt__measured_step *last = middle;
    while (last < end && last->kind == kind)
        last++;
    bool takes_second = middle == first || (strided && last > middle);
    *n = (int)(takes_second ? last - middle : middle - first);
    return takes_second ? middle : first;
}

/* The measured line of a kind, between or beyond the numbers of ranks that were measured; false: there is none. */
static bool find_line(const dt__machine *machine, const dt__step_desc *step, int64_t group, int64_t ranks,
                      dt__step_line *out) {
    int n_steps;
    const dt__measured_step *steps = find_steps(machine, step->kind, step->strided, &n_steps), *end = steps + n_steps;
    dt__step_line levels[2] = {{{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}};
    int64_t level_ranks[2] = {0, 0};
    int n_levels = 0;
    while (steps < end && (n_levels == 0 || level_ranks[1] < ranks)) {
        int n = 0;
        while (steps + n < end && steps[n].ranks == steps->ranks)
            n++;
        levels[0] = levels[1];
        level_ranks[0] = level_ranks[1];
        levels[1] = at_group(steps, n, group);
        level_ranks[1] = steps->ranks;
        n_levels++;
        steps += n;
    }
    if (n_levels == 0)
        return false;
    *out = n_levels == 1 ? levels[1] : mix(levels[0], levels[1], weight_of(ranks, level_ranks[0], level_ranks[1]));
    return true;
}

bool dt__machine_measured_line(const dt__machine *machine, const dt__step_desc *step, dt__step_line *out) {
    if (machine->n_measured == 0 || step->spans_hosts)
        return false;
    int64_t ranks = dt__max_i64(step->ranks, step->group);
    if (machine->ranks_per_host)
        ranks = dt__min_i64(ranks, machine->ranks_per_host);
    return find_line(machine, step, step->kind == DT__STEP_NONE ? 1 : step->group, ranks, out);
}

/* A group of `nodes` nodes, of k ranks each: every rank of a node carries its share of what crosses between nodes, and
 * the ranks of a node exchange the rest among themselves. */
static dt__step_formula formula_between_nodes(const dt__machine *machine, const dt__step_desc *step) {
    const traffic *moved = &traffic_of[step->kind];
    const dt__link *within = &machine->within, *between = &machine->between;
    double nodes = (double)step->nodes, k = fmax(1, (double)step->group / nodes);
    double copy_us = 1 / machine->copy_bytes_per_us;
    double base = between->start_us + moved->rounds * (nodes - 1) * between->peer_us;
    if (k > 1)
        base += within->start_us + moved->rounds * (k - 1) * within->peer_us;
    /* An all-to-all moves every byte once, wherever it comes from; the others move results of a node. */
    bool exchanges = step->kind == DT__STEP_ALL_TO_ALL;
    double crossing = moved->shares * (nodes - 1) / nodes / (exchanges ? 1 : k) + moved->contributions * (nodes - 1);
    double inside = moved->shares * (k - 1) / k / (exchanges ? nodes : 1) + moved->contributions * (k - 1) * nodes;
    return (dt__step_formula){base, moved->packed * copy_us,
                              crossing / between->bytes_per_us + inside / within->bytes_per_us + copy_us};
}

dt__step_formula dt__machine_formula(const dt__machine *machine, const dt__step_desc *step) {
    double copy_us = 1 / machine->copy_bytes_per_us;
    if (step->kind == DT__STEP_NONE)
        return (dt__step_formula){0, 0, copy_us};
    if (step->nodes > 1)
        return formula_between_nodes(machine, step);
    const traffic *moved = &traffic_of[step->kind];
    const dt__link *link = step->spans_hosts ? &machine->between : &machine->within;
    double group = (double)step->group, peers = group - 1;
    double received = moved->shares * peers / group + moved->contributions * peers;
    return (dt__step_formula){link->start_us + moved->rounds * peers * link->peer_us, moved->packed * copy_us,
                              received / link->bytes_per_us + copy_us};
}

double dt__machine_price(const dt__machine *machine, const dt__step_desc *step) {
    dt__step_line measured;
    if (dt__machine_measured_line(machine, step, &measured))
        return line_us(&measured, step->after_bytes);
    dt__step_formula formula = dt__machine_formula(machine, step);
    return formula.base + formula.before * step->before_bytes + formula.after * step->after_bytes;
}

double dt__machine_reduction_us(const dt__machine *machine, const dt__step_desc *step) {
    bool scatters = step->kind == DT__STEP_REDUCE_SCATTER;
    dt__step_line measured;
    if (dt__machine_measured_line(machine, step, &measured))
        return line_us(&measured, step->before_bytes / (scatters ? (double)step->group : 1)) - measured.cache.base;
    double received = step->before_bytes * (scatters ? 1 : 2) * (double)(step->group - 1) / (double)step->group;
    return received / (step->spans_hosts ? machine->between : machine->within).bytes_per_us;
}

int64_t dt__mesh_ranks(int n_mesh_dims, const int64_t *mesh) {
    int64_t ranks = 1;
    for (int m = 0; m < n_mesh_dims; m++)
        if (!dt__mul_i64(ranks, mesh[m], &ranks))
            return INT64_MAX;
    return ranks;
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

/* The collective that an exchange resembles: reading from so many peers, or reducing so many values. */
static dt__step_desc similar_step(const dt__exchange_desc *exchange, int64_t peers, double after_bytes) {
    const dt__transfer *transfer = exchange->transfer;
    int64_t before_ranks = dt__mesh_ranks(transfer->before->n_mesh_dims, transfer->before->mesh);
    int64_t after_ranks = dt__mesh_ranks(transfer->after->n_mesh_dims, transfer->after->mesh);
    bool reduces = transfer->reduced > 1, strided = dt__transfer_is_strided(transfer);
    dt__step_kind kind = peers == 0                        ? DT__STEP_NONE
                         : reduces && strided              ? DT__STEP_REDUCE_SCATTER /* all-reduces keep the shards */
                         : reduces && transfer->two_phases ? DT__STEP_ALL_REDUCE
                                                           : exchange->kind;
    return (dt__step_desc){
        .kind = kind,
        .group = reduces ? transfer->reduced : peers + 1,
        .ranks = dt__max_i64(before_ranks, after_ranks),
        .spans_hosts = exchange->spans_hosts,
        .strided = strided,
        .after_bytes = after_bytes,
    };
}

/* Messages from so many peers; the shard before is packed, the one after written. */
static double exchange_us(const dt__machine *machine, const dt__exchange_desc *exchange, int64_t peers,
                          double before_bytes, double after_bytes) {
    const dt__link *link = exchange->spans_hosts ? &machine->between : &machine->within;
    dt__step_desc similar = similar_step(exchange, peers, after_bytes);
    dt__step_line measured;
    if (dt__machine_measured_line(machine, &similar, &measured))
        return line_us(&measured, after_bytes);
    double copied = after_bytes / machine->copy_bytes_per_us;
    if (peers == 0)
        return copied;
    int64_t messages = peers * (exchange->transfer->two_phases ? 2 : 1);
    double received = (double)exchange->item_bytes * (double)exchange->received;
    return link->start_us + (double)messages * link->peer_us + received / link->bytes_per_us + copied +
           before_bytes / machine->copy_bytes_per_us;
}

dt_status dt__exchange_price(dt__arena *arena, const dt__machine *machine, const dt__exchange_desc *exchange,
                             double *out) {
    const dt__transfer *transfer = exchange->transfer;
    int64_t source[DT_SPEC_MAX_DIMS], target[DT_SPEC_MAX_DIMS];
    int64_t peers = 0;
    if (exchange->received) {
        dt__arena scratch = dt__arena_new(arena->ctx);
        dt_status status = dt__flows_count(&scratch, transfer, exchange->busiest, &peers);
        dt__arena_free(&scratch);
        DT__TRY(status);
    }
    bool inside = dt__transfer_source_position(transfer, exchange->busiest, source) >= 0;
    dt__coordinate(transfer->after->n_mesh_dims, transfer->after->mesh, exchange->busiest, target);
    *out = exchange_us(machine, exchange, peers, inside ? shard_bytes(exchange, transfer->before, source) : 0,
                       shard_bytes(exchange, transfer->after, target));
    return DT_OK;
}
