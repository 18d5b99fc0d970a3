/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs calls whose rows meet or scan: each rank makes the state of its shard; all ranks read each other's states in one
 * exchange, or gather them if they are on several nodes, and merge them in the same order; then each rank completes its
 * part of the result.
 */
#include "base/hash.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "mesh/mesh.h"

#include <string.h>

/* The ranks that meet with this one, in mesh order. */
static dt_status list_ranks(dt__decision *decision, dt__meeting *out, int64_t (*coordinates)[DT_SPEC_MAX_DIMS],
                            int64_t *ranks) {
    dt_mesh *mesh = decision->mesh;
    int n_dims = dt_mesh_n_dims(mesh);
    int64_t own[DT_MESH_MAX_DIMS];
    if (!dt_mesh_coordinate(mesh, own))
        return DT_OK;
    for (int64_t i = 0; i < out->way.group; i++) {
        int64_t rest = i;
        bool is_own = true;
        memcpy(coordinates[i], own, (size_t)n_dims * sizeof *own);
        for (int m = n_dims - 1; m >= 0; m--)
            if (out->way.mesh_dims >> m & 1) {
                coordinates[i][m] = rest % dt_mesh_dim_size(mesh, m);
                rest /= dt_mesh_dim_size(mesh, m);
                is_own = is_own && coordinates[i][m] == own[m];
            }
        ranks[i] = dt_mesh_rank_at(mesh, coordinates[i]);
        if (is_own)
            out->own = (int)i;
    }
    out->n = (int)out->way.group;
    return DT_OK;
}

/* Scans are ordered by where the shards of the first input that is sharded begin. */
static int scanned_dim(const dt__decision *decision, const dt__candidate *selected, int *input) {
    for (int m = 0; m < selected->n_mesh_dims; m++)
        for (int i = 0; i < decision->n_inputs && selected->rows[m]; i++)
            if (selected->rows[m]->flags & DT_ROW_SCAN && selected->rows[m]->entries[i] > 0) {
                *input = i;
                return selected->rows[m]->entries[i] - 1;
            }
    return -1;
}

static void sort_scan(const dt__decision *decision, const dt__candidate *selected, dt__meeting *out, int *order,
                      int64_t (*coordinates)[DT_SPEC_MAX_DIMS], int64_t *offsets) {
    int input = 0, dim = scanned_dim(decision, selected, &input);
    if (dim < 0)
        return;
    for (int i = 0; i < out->n; i++) {
        dt__shard shard;
        dt__shard_at(&decision->inputs[input].kernel->sharding, dim, coordinates[i], &shard);
        offsets[i] = dt__shard_offset(&shard);
    }
    for (int i = 1; i < out->n; i++) {
        int one = order[i], at = i;
        for (; at > 0 && offsets[order[at - 1]] > offsets[one]; at--)
            order[at] = order[at - 1];
        order[at] = one;
    }
    while (order[out->n_before] != out->own)
        out->n_before++;
}

dt_status dt__meeting_new(dt__decision *decision, const dt__candidate *selected) {
    dt__arena *arena = &decision->arena;
    int n = (int)selected->way.group;
    dt__meeting *out = DT__NEW(arena, dt__meeting);
    int64_t *ranks = DT__NEW_ARRAY(arena, int64_t, n), *offsets = DT__NEW_ARRAY(arena, int64_t, n);
    int64_t(*coordinates)[DT_SPEC_MAX_DIMS] = dt__arena_alloc(arena, (size_t)n, sizeof *coordinates);
    int *order = DT__NEW_ARRAY(arena, int, n);
    if (!out || !ranks || !offsets || !coordinates || !order)
        return DT_ERR_MEMORY;
    *out = (dt__meeting){.way = selected->way, .ranks = ranks, .order = order};
    DT__TRY(list_ranks(decision, out, coordinates, ranks));
    for (int i = 0; i < n; i++)
        order[i] = i;
    if (out->way.flags & DT_ROW_SCAN)
        sort_scan(decision, selected, out, order, coordinates, offsets);
    decision->meeting = out;
    return DT_OK;
}

static dt_status find_group(dt_ctx *ctx, dt__meeting *meeting) {
    if (meeting->group && !dt__group_is_stale(meeting->group))
        return DT_OK;
    dt_group *group = dt__group_new_for(ctx, meeting->ranks, meeting->n, 0);
    if (!group)
        return dt_error_status(ctx);
    dt_group_release(meeting->group);
    meeting->group = group;
    return DT_OK;
}

/* A meeting while it runs. */
typedef struct running {
    const dt_op_call *call;
    const dt__meeting *meeting;
    size_t bytes; /* of a state */
    dt_state own, merged;
    char *gathered; /* the states of all members, where they are on several nodes; or NULL */
} running;

/* Merges the states of all, or of those before this rank. */
static dt_status merge_states(dt_work *work, void *user) {
    running *self = user;
    const dt__meeting *meeting = self->meeting;
    bool scans = meeting->way.flags & DT_ROW_SCAN;
    if (self->call->ctx->estimate && work)
        return DT_OK; /* nobody has published a state */
    for (int i = 0; i < (scans ? meeting->n_before : meeting->n); i++) {
        int64_t member = meeting->order[i];
        dt_state next = self->own;
        if (member != meeting->own) {
            const void *published = self->gathered ? self->gathered + (size_t)member * self->bytes
                                                   : dt__exchange_src(work, member, 0, self->bytes);
            if (!published)
                return dt__exchange_fail(work, member);
            dt__meet_state_place(&next, (void *)published);
        }
        self->call->op->meet->merge(self->call, &self->merged, &next);
    }
    return DT_OK;
}

/* Between nodes, states travel by an all_gather. */
static dt_status gather_states(dt_ctx *ctx, running *self, const dt__exchange *exchange) {
    dt_group *group = self->meeting->group;
    self->gathered = dt_heap_alloc(ctx, (size_t)self->meeting->n * self->bytes);
    if (!self->gathered)
        return dt_error_status(ctx);
    dt_status status = dt__carry_run(group, exchange,
                                     &(dt_comm_call){.op = DT_ALL_GATHER,
                                                     .dtype = DT_U8,
                                                     .src = exchange->src,
                                                     .dst = self->gathered,
                                                     .count = (int64_t)self->bytes});
    if (status == DT_OK)
        status = merge_states(NULL, self);
    (void)dt_heap_free(ctx, self->gathered);
    return status;
}

/* Ranks with empty states do not meet. Along some mesh dims all ranks of a group may be empty, unless every rank has
 * elements of every input. */
static uint64_t mesh_dims_met(const dt__decision *decision, const dt__history *history) {
    uint64_t mesh_dims = dt__dims_met(history, decision->meeting->way.mesh_dims);
    int64_t n = mesh_dims == DT__ALL_MESH_DIMS ? 0 : dt_mesh_size(decision->mesh);
    for (int64_t at = 0; at < n; at++) {
        int64_t coordinate[DT_MESH_MAX_DIMS], rest = at;
        for (int m = dt_mesh_n_dims(decision->mesh) - 1; m >= 0; m--) {
            coordinate[m] = rest % dt_mesh_dim_size(decision->mesh, m);
            rest /= dt_mesh_dim_size(decision->mesh, m);
        }
        for (int i = 0; i < decision->n_inputs; i++) {
            dt_local local;
            dt__spec_local(decision->inputs[i].kernel, coordinate, &local);
            if (!local.elements)
                return 0;
        }
    }
    return mesh_dims;
}

static dt_status exchange_states(dt_ctx *ctx, running *self, const dt__decision *decision) {
    dt__meeting *meeting = decision->meeting;
    if (meeting->n == 1 || self->bytes == 0)
        return meeting->n == 1 ? merge_states(NULL, self) : DT_OK;
    DT__TRY(find_group(ctx, meeting));
    const char *name = self->call->name;
    dt__history *history = dt__mesh_history(decision->mesh); /* also in parts of calls */
    static const dt__exchange_call meet = {.name = "meet"};
    dt__exchange exchange = {.call = &meet,
                             .tag = dt__hash(name, strlen(name), meeting->way.flags),
                             .histories = {history},
                             .n_histories = history ? 1 : 0,
                             .mesh_dims = dt__has_verdict(history, NULL) ? mesh_dims_met(decision, history) : 0,
                             .dtype = self->own.fields[0].dtype,
                             .count = self->own.fields[0].n,
                             .src = self->own.fields[0].data,
                             .src_bytes = self->bytes,
                             .steps = {merge_states},
                             .user = self};
    double begin_us = ctx->observer ? dt__clock_us(ctx) : 0;
    DT__TRY(dt__group_spans_nodes(meeting->group) ? gather_states(ctx, self, &exchange)
                                                  : dt__exchange_run(meeting->group, &exchange));
    dt__clock_advance(ctx, meeting->way.us);
    if (ctx->observer)
        dt__observe_way(ctx, &meeting->way, (int64_t)self->bytes * (meeting->n - 1), begin_us);
    return DT_OK;
}

dt_status dt__meeting_run(dt_ctx *ctx, dt__call *call, const dt__decision *decision) {
    enum { FEW_BYTES = DT__EXCHANGE_COPIED_BYTES };
    const dt_meet *meet = call->info->op->meet;
    dt_op_call *op_call = &call->op_call;
    _Alignas(64) unsigned char few[2 * FEW_BYTES];
    running self = {.call = op_call, .meeting = decision->meeting};
    DT__TRY(dt__meet_state_describe(op_call, &self.own));
    self.bytes = dt__meet_state_bytes(&self.own);
    unsigned char *memory = self.bytes <= FEW_BYTES ? few : dt_heap_alloc(ctx, 2 * self.bytes);
    if (!memory)
        return dt_error_status(ctx);
    self.merged = self.own;
    dt__meet_state_place(&self.own, memory);
    dt__meet_state_place(&self.merged, memory + self.bytes);
    dt__meet_state_set_identity(&self.own);
    dt__meet_state_set_identity(&self.merged);
    dt_status status = dt__meet_state_is_empty(op_call) ? DT_OK : meet->begin(op_call, &self.own);
    if (status == DT_OK)
        status = exchange_states(ctx, &self, decision);
    op_call->begun = &self.own;
    if (status == DT_OK)
        status = meet->finish(op_call, &self.merged);
    op_call->begun = NULL;
    if (memory != few)
        (void)dt_heap_free(ctx, memory);
    return status;
}
