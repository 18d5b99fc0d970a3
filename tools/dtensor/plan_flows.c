/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects the pairs of a plan, receiver by receiver.
 */
#include "plan_flows.h"

#include <string.h>

enum { MAX_PAIRS = 1 << 20, MAX_RUNS = 256 };

typedef struct collector {
    dt__arena *arena;
    const dt_spec *ends[2]; /* the source, and the target */
    const dt__plan *plan;
    flow_list *out;
} collector;

static int64_t rank_at(const dt_spec *spec, int64_t position) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    dt__coordinate(spec->sharding.n_mesh_dims, spec->sharding.mesh, position, coordinate);
    return dt_mesh_rank_at(spec->mesh, coordinate);
}

/* The indices of a dim that both hold; what follows the first MAX_RUNS ranges is left out. */
static dt_status common_runs(dt__arena *arena, const dt__shard *a, const dt__shard *b, run_list *out) {
    dt_run runs[MAX_RUNS];
    dt__overlap_run run;
    int64_t at = 0, n = 0;
    while (n < MAX_RUNS && dt__overlap_next(a, b, &at, &run)) {
        if (n && runs[n - 1].end == run.begin)
            runs[n - 1].end = run.end;
        else
            runs[n++] = (dt_run){.begin = run.begin, .end = run.end};
    }
    *out = (run_list){n ? dt__arena_copy(arena, runs, (size_t)n, sizeof *runs) : NULL, n};
    return n && !out->runs ? DT_ERR_MEMORY : DT_OK;
}

/* What the sender holds before the step and the receiver after it. */
static const run_list *find_indices(const collector *self, const dt__transfer *transfer, int64_t sender,
                                    int64_t receiver) {
    const dt__sharding *before = transfer->before, *after = transfer->after;
    int64_t from[DT_SPEC_MAX_DIMS], to[DT_SPEC_MAX_DIMS];
    run_list *indices = DT__NEW_ARRAY(self->arena, run_list, before->n_dims + 1);
    if (!indices)
        return NULL;
    dt__coordinate(before->n_mesh_dims, before->mesh, sender, from);
    dt__coordinate(after->n_mesh_dims, after->mesh, receiver, to);
    for (int d = 0; d < before->n_dims; d++) {
        dt__shard held, needed;
        dt__shard_at(before, d, from, &held);
        dt__shard_at(after, d, to, &needed);
        if (common_runs(self->arena, &held, &needed, &indices[d]) != DT_OK)
            return NULL;
    }
    return indices;
}

static dt_status add_pair(const collector *self, flow_pair pair) {
    flow_list *out = self->out;
    if (out->n == out->capacity) {
        int64_t capacity = out->capacity ? 2 * out->capacity : 64;
        flow_pair *pairs = DT__NEW_ARRAY(self->arena, flow_pair, capacity);
        if (!pairs)
            return DT_ERR_MEMORY;
        if (out->n)
            memcpy(pairs, out->pairs, (size_t)out->n * sizeof *pairs);
        out->pairs = pairs;
        out->capacity = capacity;
    }
    out->pairs[out->n++] = pair;
    return DT_OK;
}

/* The pairs of one receiver in one step, as long as there are at most max. */
static dt_status add_receiver(const collector *self, int step, int64_t receiver, int64_t max) {
    const dt__transfer *transfer = self->plan->steps[step].transfer;
    dt__flows flows;
    DT__TRY(dt__flows_new(self->arena, transfer, receiver, &flows));
    for (int64_t i = 0; i < flows.n && self->out->n <= max; i++) {
        const dt__flow *flow = &flows.items[i];
        flow_pair pair = {step, rank_at(self->ends[flow->in_target], flow->sender), rank_at(self->ends[1], receiver),
                          flow->elements, NULL};
        if (!transfer->two_phases && !(pair.indices = find_indices(self, transfer, flow->sender, receiver)))
            return DT_ERR_MEMORY;
        DT__TRY(add_pair(self, pair));
    }
    return DT_OK;
}

/* The position that receives most in one step. */
static int64_t busiest(const dt__plan *plan) {
    const dt__plan_step *largest = NULL;
    for (int i = 0; i < plan->n_steps; i++)
        if (!largest || plan->steps[i].bytes > largest->bytes)
            largest = &plan->steps[i];
    return largest ? largest->busiest : 0;
}

static dt_status add_one(const collector *self, int64_t position) {
    for (int step = 0; step < self->plan->n_steps; step++)
        DT__TRY(add_receiver(self, step, position, MAX_PAIRS));
    self->out->receiver = rank_at(self->ends[1], position);
    if (self->out->n > MAX_PAIRS)
        return dt__fail(self->arena->ctx, DT_ERR_UNSUPPORTED, "cannot list more than %d pairs of ranks",
                        (int)MAX_PAIRS);
    return DT_OK;
}

dt_status flow_list_new(dt__arena *arena, const dt_spec *from, const dt_spec *to, const dt__plan *plan,
                        int64_t max_pairs, int64_t max_ranks, int64_t receiver, flow_list *out) {
    collector self = {arena, {from, to}, plan, out};
    int64_t coordinate[DT_SPEC_MAX_DIMS], n_ranks = dt_mesh_size(to->mesh);
    *out = (flow_list){.receiver = -1};
    if (receiver >= 0) {
        if (!dt_mesh_coordinate_of(to->mesh, receiver, coordinate))
            return dt__fail(arena->ctx, DT_ERR_MESH,
                            "rank %lld is not in the mesh of the target, which has %lld ranks", (long long)receiver,
                            (long long)n_ranks);
        return add_one(&self, dt__position(to->sharding.n_mesh_dims, to->sharding.mesh, coordinate));
    }
    for (int step = 0; step < plan->n_steps && n_ranks <= max_ranks; step++)
        for (int64_t i = 0; i < n_ranks && out->n <= max_pairs; i++)
            DT__TRY(add_receiver(&self, step, i, max_pairs));
    if (n_ranks <= max_ranks && out->n <= max_pairs)
        return DT_OK;
    out->n = 0;
    return add_one(&self, busiest(plan));
}
