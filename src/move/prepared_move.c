/* SPDX-License-Identifier: Apache-2.0
 *
 * Prepares moves: checks the pair of specs, plans, and makes the group and the pull list; keeps the results in a cache.
 */
#include "move/prepared_move.h"

#include "base/dtype.h"
#include "base/size.h"
#include "mesh/mesh.h"
#include "move/staged_source.h"

#include <string.h>

enum { MAX_ENTRIES = 1024, MAX_BYTES = 64 << 20, LINE_BYTES = 64 };

static void destroy(dt__prepared_move *prepared) {
    dt_group_release(prepared->group);
    for (int i = 0; i < prepared->n_stops; i++)
        dt_spec_release(prepared->stops[i]);
    dt_spec_release(prepared->pair.from);
    dt_spec_release(prepared->pair.to);
    dt__arena arena = prepared->arena; /* which owns the struct itself */
    dt__arena_free(&arena);
}

static void unlink_prepared(dt__executor *executor, dt__prepared_move *prepared) {
    *(prepared->newer ? &prepared->newer->older : &executor->newest) = prepared->older;
    *(prepared->older ? &prepared->older->newer : &executor->oldest) = prepared->newer;
}

static void link_newest(dt__executor *executor, dt__prepared_move *prepared) {
    prepared->newer = NULL;
    prepared->older = executor->newest;
    *(executor->newest ? &executor->newest->newer : &executor->oldest) = prepared;
    executor->newest = prepared;
}

static void drop_entry(dt__executor *executor, dt__prepared_move *prepared) {
    unlink_prepared(executor, prepared);
    dt__map_remove(&executor->prepared, prepared->hash, prepared);
    executor->bytes -= prepared->pulls.bytes;
    executor->stats.n_entries--;
    destroy(prepared);
}

/* Drops the least recently used entries, but none in use and not the newest. */
static void shrink(dt__executor *executor) {
    dt__prepared_move *next, *prepared = executor->oldest;
    for (; prepared != executor->newest; prepared = next) {
        next = prepared->newer;
        if (executor->stats.n_entries <= MAX_ENTRIES && executor->bytes <= MAX_BYTES)
            return;
        if (!prepared->n_users)
            drop_entry(executor, prepared);
    }
}

static void free_buffers(dt_ctx *ctx, dt__copy_buffers *buffers) {
    dt__free(ctx, buffers->sources, (size_t)buffers->n_block_sources * sizeof *buffers->sources);
    dt__free(ctx, buffers->lanes, (size_t)buffers->n_lanes * buffers->lane_bytes);
}

static void free_executor(dt_ctx *ctx, void *state) {
    dt__executor *executor = state;
    dt__executions_end(executor);
    dt__log_redistributions(ctx, &executor->stats);
    while (executor->newest)
        drop_entry(executor, executor->newest);
    dt__map_free(&executor->prepared);
    dt_group_release(executor->list_group);
    free_buffers(ctx, &executor->buffers);
    dt__free(ctx, executor, sizeof *executor);
}

dt__executor *dt__executor_of(dt_ctx *ctx) {
    if (ctx->slots[DT__SLOT_MOVE].state)
        return ctx->slots[DT__SLOT_MOVE].state;
    dt__executor *executor = dt__alloc_zeroed(ctx, sizeof *executor);
    if (!executor) {
        dt__fail_memory(ctx, sizeof *executor, "redistributions");
        return NULL;
    }
    *executor = (dt__executor){.ctx = ctx, .prepared = dt__map_new(ctx), .staged_bytes = DT__STAGED_BYTES};
    ctx->slots[DT__SLOT_MOVE].state = executor;
    ctx->slots[DT__SLOT_MOVE].free_state = free_executor;
    return executor;
}

/* Buffers never shrink, because moves that were prepared before rely on them. */
static dt_status grow_buffers(dt__executor *executor, const dt__prepared_move *prepared) {
    dt_ctx *ctx = executor->ctx;
    dt__copy_buffers *buffers = &executor->buffers, more = {0};
    const dt__pull_list *pulls = &prepared->pulls;
    bool in_threads[] = {prepared->chunks[0].n > 0, prepared->chunks[1].n > 0};
    int64_t n_block_sources =
        dt__max_i64(pulls->n_sources * (in_threads[0] ? pulls->n_blocks : 1), in_threads[1] * pulls->n_portions);
    int n_lanes = in_threads[0] || in_threads[1] ? ctx->threads : 1;
    if (n_block_sources <= buffers->n_block_sources && pulls->n_sources <= buffers->n_sources &&
        n_lanes <= buffers->n_lanes)
        return DT_OK;
    more.n_block_sources = dt__max_i64(buffers->n_block_sources, n_block_sources);
    more.n_sources = buffers->n_sources > pulls->n_sources ? buffers->n_sources : pulls->n_sources;
    more.n_lanes = buffers->n_lanes > n_lanes ? buffers->n_lanes : n_lanes;
    more.scratch_at = (2 * (size_t)more.n_sources * sizeof(const void *) + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    more.lane_bytes = more.scratch_at + (more.n_sources > 1 ? dt__copy_scratch_bytes(more.n_sources) : 0);
    more.sources = dt__alloc(ctx, (size_t)more.n_block_sources * sizeof *more.sources);
    more.lanes = dt__alloc(ctx, (size_t)more.n_lanes * more.lane_bytes);
    if (!more.sources || !more.lanes) {
        free_buffers(ctx, &more);
        return dt__fail_memory(ctx, (size_t)more.n_lanes * more.lane_bytes, "redistributions");
    }
    free_buffers(ctx, buffers);
    *buffers = more;
    return DT_OK;
}

/* A move while it is prepared. */
typedef struct preparation {
    dt__executor *executor;
    const dt__spec_pair *pair;
    dt__prepared_move *out;
    dt__pull_request request;
} preparation;

static dt_status check_rank(const preparation *self, const dt_mesh *mesh) {
    const dt_ctx *ctx = self->executor->ctx;
    if (mesh->self.world == ctx->world && mesh->self.rank == ctx->rank)
        return DT_OK;
    return dt__fail(
        self->executor->ctx, DT_ERR_STATE,
        "redistribute: the mesh was made by another rank: expected rank %lld of %lld, got rank %lld of %lld",
        (long long)ctx->rank, (long long)ctx->world, (long long)mesh->self.rank, (long long)mesh->self.world);
}

/* A direct exchange on one mesh counts as the cheapest plan. */
static dt_status count_direct(dt__arena *arena, const dt__move *move, const dt__machine *machine,
                              dt__step_counts *out) {
    dt__plan plan;
    DT__TRY(dt__plan_new(arena, move, move->to_mesh ? DT__PLANNER_DIRECT : DT__PLANNER_MIN_COST, machine, &plan));
    *out = dt__plan_count(&plan);
    return DT_OK;
}

dt_status dt__redistribute_count(const dt_spec *from, const dt_spec *to, dt__step_counts *out) {
    dt__arena arena = dt__arena_new(from->ctx);
    dt__move move;
    dt_status status = dt__move_of_specs(from, to, &move);
    if (status == DT_OK)
        status = count_direct(&arena, &move, from->ctx->machine, out);
    dt__arena_free(&arena);
    return status;
}

static dt_spec *new_stop(const dt_spec *to, const dt_placement *placements) {
    return dt_spec_new(to->mesh, &(dt_spec_desc){
                                     .dtype = to->dtype,
                                     .n_dims = to->sharding.n_dims,
                                     .shape = to->sharding.shape,
                                     .n_placements = to->sharding.n_mesh_dims,
                                     .placements = placements,
                                     .stride_order = to->stride_order,
                                 });
}

/* The specs that a plan passes through; the ends are those of the pair, however the plan writes them. */
static dt_status new_stops(preparation *self, const dt__plan *plan) {
    dt__prepared_move *out = self->out;
    out->stops = DT__NEW_ARRAY(&out->arena, dt_spec *, plan->n_steps + 1);
    if (!out->stops)
        return DT_ERR_MEMORY;
    for (int i = 0; i <= plan->n_steps; i++, out->n_stops++) {
        out->stops[i] = i == 0               ? dt_spec_retain(self->pair->from)
                        : i == plan->n_steps ? dt_spec_retain(self->pair->to)
                                             : new_stop(self->pair->to, plan->steps[i - 1].after);
        if (!out->stops[i])
            return self->executor->ctx->status;
    }
    return DT_OK;
}

/* An average of integers is rounded once. */
static bool averages_integers(const dt_spec *from) {
    bool averages = false;
    for (int m = 0; m < from->sharding.n_mesh_dims; m++)
        averages |=
            dt_placement_is_partial(from->sharding.placements[m]) && from->sharding.placements[m].reduce == DT_AVG;
    return averages && !dt__is_inexact(from->dtype);
}

/* A direct exchange over mesh dims that span nodes is the cheapest sequence of steps instead, each a collective or an
 * exchange; all ranks of the mesh take the same, though the groups of some of them may be on one node. */
static dt_status plan_between_nodes(preparation *self, dt__arena *arena, dt__move *move, dt__plan *plan) {
    int64_t *nodes = DT__NEW_ARRAY(arena, int64_t, DT_SPEC_MAX_DIMS);
    bool any = false;
    if (!nodes)
        return DT_ERR_MEMORY;
    if (!dt__mesh_nodes(self->pair->from->mesh, nodes))
        return DT_OK;
    move->nodes = nodes;
    for (int i = 0; plan->n_steps && i < plan->steps[0].n_mesh_dims; i++)
        any = any || nodes[plan->steps[0].mesh_dims[i]] > 1;
    if (!any || averages_integers(self->pair->from))
        return DT_OK;
    return dt__plan_new(arena, move, DT__PLANNER_MIN_COST, self->pair->machine, plan);
}

/* Planning decides whether the move is allowed, which mesh dims take part, and what it counts as. */
static dt_status plan_move(preparation *self, dt__arena *arena) {
    dt__move move;
    dt__plan plan;
    int planner = self->pair->planner;
    dt__planner used = planner == DT__PLANNER_STEP ? DT__PLANNER_DIRECT : (dt__planner)planner;
    DT__TRY(dt__move_of_specs(self->pair->from, self->pair->to, &move));
    DT__TRY(dt__plan_new(arena, &move, used, self->pair->machine, &plan));
    self->out->cost_us = plan.cost_us;
    self->request.same_mesh = !move.to_mesh;
    bool is_direct = planner == DT__PLANNER_DIRECT && self->request.same_mesh;
    if (is_direct && self->pair->counts)
        self->out->counts = *self->pair->counts;
    else if (is_direct)
        DT__TRY(count_direct(arena, &move, self->pair->machine, &self->out->counts));
    else if (planner != DT__PLANNER_STEP)
        self->out->counts = dt__plan_count(&plan);
    if (is_direct)
        DT__TRY(plan_between_nodes(self, arena, &move, &plan));
    if (plan.n_steps > 1)
        return new_stops(self, &plan);
    for (int i = 0; self->request.same_mesh && plan.n_steps && i < plan.steps[0].n_mesh_dims; i++)
        self->request.changes[plan.steps[0].mesh_dims[i]] = true;
    memcpy(self->out->changes, self->request.changes, sizeof self->out->changes);
    return DT_OK;
}

/* The chunks that the rank's threads share. */
static dt_status find_chunks(preparation *self) {
    dt__prepared_move *out = self->out;
    const dt__pull_list *pulls = &out->pulls;
    const dt_spec *to = self->pair->to;
    int64_t item = (int64_t)dt_dtype_size(to->dtype);
    dt__chunk_request blocks = {.n_dims = pulls->n_dims,
                                .n_blocks = pulls->n_blocks,
                                .blocks = pulls->blocks,
                                .n_threads = self->executor->ctx->threads,
                                .bytes_read = pulls->n_sources * item,
                                .dst_strides = to->local.strides};
    dt__chunk_request portions = blocks;
    portions.n_blocks = pulls->n_portions;
    portions.blocks = pulls->portion_blocks;
    portions.bytes_read = item;
    DT__TRY(dt__chunks_new(&out->arena, &blocks, &out->chunks[0]));
    DT__TRY(dt__chunks_new(&out->arena, &portions, &out->chunks[1]));
    out->pulls.bytes += (out->chunks[0].n + out->chunks[1].n) * (int64_t)sizeof(dt__chunk);
    return DT_OK;
}

static dt_status find_messages(preparation *self) {
    dt__prepared_move *out = self->out;
    out->carried = DT__NEW(&out->arena, dt__carried_move);
    if (!out->carried)
        return DT_ERR_MEMORY;
    DT__TRY(dt__carried_move_new(&out->arena, &self->request, self->pair->machine, out->carried));
    out->pulls.bytes = out->carried->messages.bytes;
    return DT_OK;
}

/* Between meshes without common ranks: a hash of the ranks that send, because each side makes its calls in its own
 * order. With a common rank, which ties the orders together: 0. */
static dt_status find_direction(dt__arena *arena, const dt__pull_request *request, uint64_t *out) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    *out = 0;
    if (request->same_mesh)
        return DT_OK;
    bool *sends = DT__NEW_ARRAY(arena, bool, request->n_ranks);
    if (!sends)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < request->n_ranks; i++) {
        sends[i] = dt_mesh_coordinate_of(request->from->mesh, request->ranks[i], coordinate);
        if (sends[i] && dt_mesh_coordinate_of(request->to->mesh, request->ranks[i], coordinate))
            return DT_OK;
    }
    *out = dt__hash(sends, (size_t)request->n_ranks * sizeof *sends, 3);
    return DT_OK;
}

/* The group is made only where some rank needs something from another. */
static dt_status find_pulls(preparation *self, dt__arena *arena) {
    dt__prepared_move *out = self->out;
    dt_ctx *ctx = self->executor->ctx;
    DT__TRY(dt__pull_list_ranks(arena, &self->request));
    uint64_t direction = 0;
    bool needs_peers = dt__pull_list_needs_peers(&self->request);
    if (needs_peers) {
        DT__TRY(find_direction(arena, &self->request, &direction));
        out->group = dt__group_new_directed(ctx, self->request.ranks, self->request.n_ranks, direction);
        if (!out->group)
            return ctx->status;
    }
    if (needs_peers && !dt__transport_has_data(ctx))
        return DT_OK; /* nothing will move */
    if (needs_peers && dt__group_spans_nodes(out->group))
        return find_messages(self);
    DT__TRY(dt__pull_list_new(&out->arena, &self->request, &out->pulls));
    DT__TRY(find_chunks(self));
    return grow_buffers(self->executor, out);
}

static dt_status prepare_move(preparation *self) {
    dt__prepared_move *out = self->out;
    dt_ctx *ctx = self->executor->ctx;
    const dt_spec *from = self->pair->from, *to = self->pair->to;
    self->request = (dt__pull_request){.from = from, .to = to, .in_place = self->pair->in_place, .rank = ctx->rank};
    DT__TRY(check_rank(self, from->mesh));
    DT__TRY(check_rank(self, to->mesh));
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = plan_move(self, &arena);
    out->takes_part = from->local.member || to->local.member;
    if (status == DT_OK && out->takes_part && !out->n_stops)
        status = find_pulls(self, &arena);
    dt__arena_free(&arena);
    out->tag = dt__hash_u64((uint64_t)self->pair->planner,
                            dt__hash_u64(from->fingerprint, dt__hash_u64(to->fingerprint, 5)));
    out->tag = dt__hash_u64(self->pair->machine->fingerprint ^ self->pair->in_place, out->tag);
    return status;
}

/* Whether the ranks of every group along the mesh dims that change need something from one another: a group that holds
 * nothing does not meet. */
static bool all_groups_meet(dt__arena *arena, dt__pull_request *request) {
    const dt__sharding *from = &request->from->sharding;
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
    for (int m = 0; m >= 0;) {
        request->rank = dt_mesh_rank_at(request->from->mesh, coordinate);
        if (dt__pull_list_ranks(arena, request) != DT_OK || !dt__pull_list_needs_peers(request))
            return false;
        for (m = from->n_mesh_dims - 1; m >= 0; m--) {
            if (request->changes[m])
                continue;
            if (++coordinate[m] < from->mesh[m])
                break;
            coordinate[m] = 0;
        }
    }
    return true;
}

uint64_t dt__prepared_mesh_dims(const dt__prepared_move *prepared) {
    const dt_spec *from = prepared->pair.from, *to = prepared->pair.to;
    dt__pull_request request = {.from = from, .to = to, .same_mesh = true};
    uint64_t mesh_dims = 0;
    if (!dt__mesh_same(from->mesh, to->mesh))
        return DT__ALL_MESH_DIMS;
    memcpy(request.changes, prepared->changes, sizeof request.changes);
    for (int m = 0; m < from->sharding.n_mesh_dims; m++)
        mesh_dims |= (uint64_t)prepared->changes[m] << m;
    mesh_dims = dt__dims_met(dt__mesh_history(from->mesh), mesh_dims);
    if (mesh_dims == DT__ALL_MESH_DIMS)
        return mesh_dims;
    dt__arena arena = dt__arena_new(from->ctx);
    bool all = all_groups_meet(&arena, &request);
    dt__arena_free(&arena);
    return all ? mesh_dims : 0;
}

static uint64_t hash_pair(const dt__spec_pair *pair) {
    uint64_t small =
        pair->from->id << 32 ^ pair->to->id ^ (uint64_t)pair->planner << 61 ^ (uint64_t)pair->in_place << 60;
    return dt__hash_u64(small, pair->machine->fingerprint);
}

static bool same_pair(const void *value, const void *probe) {
    const dt__prepared_move *prepared = value;
    const dt__spec_pair *a = &prepared->pair, *b = probe;
    return a->from == b->from && a->to == b->to && a->planner == b->planner && a->in_place == b->in_place &&
           prepared->machine_fingerprint == b->machine->fingerprint;
}

static dt_status add_prepared(dt__executor *executor, const dt__spec_pair *pair, uint64_t hash,
                              dt__prepared_move **out) {
    dt__arena arena = dt__arena_new(executor->ctx);
    dt__prepared_move *made = DT__NEW(&arena, dt__prepared_move);
    if (!made)
        return DT_ERR_MEMORY;
    *made = (dt__prepared_move){
        .pair = *pair, .machine_fingerprint = pair->machine->fingerprint, .hash = hash, .arena = arena};
    dt_spec_retain(pair->from);
    dt_spec_retain(pair->to);
    dt_status status = prepare_move(&(preparation){.executor = executor, .pair = pair, .out = made});
    if (status == DT_OK && !dt__map_add(&executor->prepared, hash, made))
        status = DT_ERR_MEMORY;
    if (status != DT_OK) {
        destroy(made);
        return status;
    }
    link_newest(executor, made);
    executor->bytes += made->pulls.bytes;
    executor->stats.n_entries++;
    shrink(executor);
    *out = made;
    return DT_OK;
}

dt_status dt__prepare(dt__executor *executor, const dt__spec_pair *pair, dt__prepared_move **out) {
    dt__prepared_move *found = executor->newest;
    if (!found || !same_pair(found, pair)) {
        uint64_t hash = hash_pair(pair);
        found = dt__map_get(&executor->prepared, hash, same_pair, pair);
        if (!found) {
            executor->stats.n_misses++;
            return add_prepared(executor, pair, hash, out);
        }
        unlink_prepared(executor, found);
        link_newest(executor, found);
    }
    executor->stats.n_hits++;
    *out = found;
    return DT_OK;
}

dt_status dt__prepared_move_refresh(dt__executor *executor, dt__prepared_move *prepared) {
    dt_group *old = prepared->group;
    if (!old || !dt__group_is_stale(old))
        return DT_OK;
    dt_group *group = dt__group_renew(old);
    if (!group)
        return executor->ctx->status;
    prepared->group = group;
    dt_group_release(old);
    return DT_OK;
}
