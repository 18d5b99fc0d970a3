/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan between two different meshes: one exchange over the ranks of both. Which coordinates of both meshes
 * belong to one rank follows no rule, so the ranks are visited one by one.
 */
#include "plan/planners.h"

#include "base/size.h"
#include "plan/cost.h"

typedef struct crossing {
    dt__arena *arena;
    const dt__move *move;
    dt__transfer *transfer;
    int64_t received, needed, peak; /* elements, maxima over ranks */
    int64_t busiest;                /* position in the target's mesh of the rank that receives most */
    int64_t first_rank, last_rank;  /* of both meshes */
} crossing;

static int64_t shard_size(const dt__sharding *sharding, const int64_t *coordinate) {
    int64_t shape[DT_SPEC_MAX_DIMS], offset[DT_SPEC_MAX_DIMS], n = 1;
    dt__sharding_local(sharding, coordinate, shape, offset);
    for (int d = 0; d < sharding->n_dims; d++)
        n *= shape[d];
    return n;
}

static dt_status visit_target(crossing *self, int64_t position) {
    const dt__sharding *from = self->move->from, *to = self->move->to;
    int64_t source[DT_SPEC_MAX_DIMS], target[DT_SPEC_MAX_DIMS], n, peak;
    dt__shard before[DT_SPEC_MAX_DIMS], after[DT_SPEC_MAX_DIMS];
    bool inside = dt__transfer_source_position(self->transfer, position, source) >= 0;
    dt__coordinate(to->n_mesh_dims, to->mesh, position, target);
    int64_t held = inside ? shard_size(from, source) : 0, held_after = shard_size(to, target);
    int64_t common = inside ? 1 : 0;
    for (int d = 0; d < to->n_dims; d++) {
        dt__shard_at(to, d, target, &after[d]);
        if (!inside)
            continue;
        dt__shard_at(from, d, source, &before[d]);
        common *= dt__overlap_size(&before[d], &after[d]);
    }
    if (!dt__transfer_received(self->transfer, inside ? before : NULL, after,
                               dt__transfer_replica(self->transfer, target), &n) ||
        !dt__add_i64(held, held_after, &peak))
        return dt__fail(self->arena->ctx, DT_ERR_SHAPE,
                        "redistribute: a rank would receive or hold more than 2^63 - 1 elements");
    if (n > self->received) {
        self->received = n;
        self->busiest = position;
    }
    self->needed = dt__max_i64(self->needed, self->transfer->reduced > 1 ? held_after : held_after - common);
    self->peak = dt__max_i64(self->peak, peak);
    return DT_OK;
}

static void add_rank(crossing *self, const dt_mesh *mesh, const int64_t *coordinate) {
    int64_t rank = dt_mesh_rank_at(mesh, coordinate);
    self->first_rank = self->first_rank < 0 ? rank : dt__min_i64(self->first_rank, rank);
    self->last_rank = dt__max_i64(self->last_rank, rank);
}

static dt_status visit_ranks(crossing *self) {
    const dt__move *move = self->move;
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    for (int64_t i = 0; i < dt_mesh_size(move->from_mesh); i++) {
        dt__coordinate(move->from->n_mesh_dims, move->from->mesh, i, coordinate);
        add_rank(self, move->from_mesh, coordinate);
        self->peak = dt__max_i64(self->peak, shard_size(move->from, coordinate));
    }
    for (int64_t i = 0; i < dt_mesh_size(move->to_mesh); i++) {
        dt__coordinate(move->to->n_mesh_dims, move->to->mesh, i, coordinate);
        add_rank(self, move->to_mesh, coordinate);
        DT__TRY(visit_target(self, i));
    }
    return DT_OK;
}

static dt__step_kind kind_of(const crossing *self) {
    if (self->received == 0)
        return DT__STEP_NONE;
    if (self->transfer->reduced == 1)
        return DT__STEP_ALL_TO_ALL;
    for (int m = 0; m < self->move->to->n_mesh_dims; m++)
        if (dt__is_cut(&self->move->to->placements[m]))
            return DT__STEP_REDUCE_SCATTER;
    return DT__STEP_ALL_REDUCE;
}

static dt_status price(const crossing *self, const dt__machine *machine, double *out) {
    int64_t host = machine->ranks_per_host;
    return dt__exchange_price(
        self->arena, machine,
        &(dt__exchange_desc){.transfer = self->transfer,
                             .kind = kind_of(self),
                             .item_bytes = self->move->item_bytes,
                             .spans_hosts = host > 0 && self->first_rank / host != self->last_rank / host,
                             .busiest = self->busiest,
                             .received = self->received},
        out);
}

static dt_status fill_plan(const crossing *self, const dt__machine *machine, dt__plan *plan) {
    const dt__move *move = self->move;
    dt__plan_step *step = DT__NEW(self->arena, dt__plan_step);
    if (!step)
        return DT_ERR_MEMORY;
    *plan = (dt__plan){
        .planner = DT__PLANNER_DIRECT,
        .n_mesh_dims = move->from->n_mesh_dims,
        .n_target_mesh_dims = move->to->n_mesh_dims,
        .source = move->from->placements,
        .n_steps = 1,
        .steps = step,
    };
    *step = (dt__plan_step){
        .collective = kind_of(self),
        .before = move->from->placements,
        .after = move->to->placements,
        .transfer = self->transfer,
        .busiest = self->busiest,
    };
    if (!dt__mul_i64(self->received, move->item_bytes, &plan->bytes) ||
        !dt__mul_i64(self->needed, move->item_bytes, &plan->lower_bound_bytes) ||
        !dt__mul_i64(self->peak, move->item_bytes, &plan->peak_bytes))
        return dt__fail(self->arena->ctx, DT_ERR_SHAPE,
                        "redistribute: a rank would receive or hold more than 2^63 - 1 bytes");
    DT__TRY(price(self, machine, &step->cost_us));
    step->bytes = plan->bytes;
    plan->cost_us = step->cost_us;
    plan->n_collectives = step->collective != DT__STEP_NONE;
    return DT_OK;
}

dt_status dt__plan_cross_mesh(dt__arena *arena, const dt__move *move, dt__planner planner, const dt__machine *machine,
                              dt__plan *out) {
    dt__plan plan;
    crossing self = {.arena = arena, .move = move, .first_rank = -1};
    if (planner != DT__PLANNER_DIRECT)
        return dt__fail(arena->ctx, DT_ERR_MESH, "redistribute: planner %s: the meshes differ; direct can do it",
                        dt__planner_name(planner));
    if (dt_mesh_size(move->from_mesh) > DT__CROSS_MESH_MAX_RANKS ||
        dt_mesh_size(move->to_mesh) > DT__CROSS_MESH_MAX_RANKS)
        return dt__fail(arena->ctx, DT_ERR_UNSUPPORTED,
                        "redistribute: moves between meshes are planned for up to %d ranks",
                        (int)DT__CROSS_MESH_MAX_RANKS);
    self.transfer = DT__NEW(arena, dt__transfer);
    if (!self.transfer)
        return DT_ERR_MEMORY;
    dt__transfer_cross_mesh(move, self.transfer);
    DT__TRY(visit_ranks(&self));
    DT__TRY(fill_plan(&self, machine, &plan));
    *out = plan;
    return DT_OK;
}
