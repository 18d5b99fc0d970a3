/* SPDX-License-Identifier: Apache-2.0
 *
 * Preparing a pair of specs: checks it, asks the planners, and works out the pulls; and the cache of what was
 * prepared.
 */
#include "move/plan_cache.h"

#include "base/size.h"
#include "mesh/mesh.h"

#include <string.h>

enum { MOST_PREPARED = 1024, MOST_BYTES = 64 << 20, LINE_BYTES = 64 };

static void destroy(dt__prepared *prepared) {
    dt_group_release(prepared->group);
    for (int i = 0; i < prepared->n_stops; i++)
        dt_spec_release(prepared->stops[i]);
    dt_spec_release(prepared->pair.from);
    dt_spec_release(prepared->pair.to);
    dt__arena arena = prepared->arena; /* it lies in it */
    dt__arena_free(&arena);
}

static void unlink_prepared(dt__executor *executor, dt__prepared *prepared) {
    *(prepared->newer ? &prepared->newer->older : &executor->newest) = prepared->older;
    *(prepared->older ? &prepared->older->newer : &executor->oldest) = prepared->newer;
}

static void link_newest(dt__executor *executor, dt__prepared *prepared) {
    prepared->newer = NULL;
    prepared->older = executor->newest;
    *(executor->newest ? &executor->newest->newer : &executor->oldest) = prepared;
    executor->newest = prepared;
}

static void drop(dt__executor *executor, dt__prepared *prepared) {
    unlink_prepared(executor, prepared);
    dt__map_remove(&executor->prepared, prepared->hash, prepared);
    executor->bytes -= prepared->pulls.bytes;
    executor->stats.n_entries--;
    destroy(prepared);
}

/* Drops what was not used for longest, but nothing that is in use and not the newest. */
static void shrink(dt__executor *executor) {
    dt__prepared *next, *prepared = executor->oldest;
    for (; prepared != executor->newest; prepared = next) {
        next = prepared->newer;
        if (executor->stats.n_entries <= MOST_PREPARED && executor->bytes <= MOST_BYTES)
            return;
        if (!prepared->n_users)
            drop(executor, prepared);
    }
}

static void free_room(dt_ctx *ctx, dt__room *room) {
    dt__free(ctx, room->views, (size_t)room->n_views * sizeof *room->views);
    dt__free(ctx, room->lanes, (size_t)room->n_lanes * room->lane_bytes);
}

static void free_executor(dt_ctx *ctx, void *state) {
    dt__executor *executor = state;
    dt__moving_end_all(executor);
    while (executor->newest)
        drop(executor, executor->newest);
    dt__map_free(&executor->prepared);
    free_room(ctx, &executor->room);
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
    *executor = (dt__executor){.ctx = ctx, .prepared = dt__map_new(ctx)};
    ctx->slots[DT__SLOT_MOVE].state = executor;
    ctx->slots[DT__SLOT_MOVE].free_state = free_executor;
    return executor;
}

/* What is there stays until there is more, because pairs that were prepared before count on it. */
static dt_status make_room(dt__executor *executor, const dt__prepared *prepared) {
    dt_ctx *ctx = executor->ctx;
    dt__room *room = &executor->room, more = {0};
    const dt__pulls *pulls = &prepared->pulls;
    bool together[] = {prepared->chunks[0].n > 0, prepared->chunks[1].n > 0};
    int64_t n_views =
        dt__max_i64(pulls->n_sources * (together[0] ? pulls->n_blocks : 1), together[1] * pulls->n_shares);
    int n_lanes = together[0] || together[1] ? ctx->threads : 1;
    if (n_views <= room->n_views && pulls->n_sources <= room->n_sources && n_lanes <= room->n_lanes)
        return DT_OK;
    more.n_views = dt__max_i64(room->n_views, n_views);
    more.n_sources = room->n_sources > pulls->n_sources ? room->n_sources : pulls->n_sources;
    more.n_lanes = room->n_lanes > n_lanes ? room->n_lanes : n_lanes;
    more.scratch_at = (2 * (size_t)more.n_sources * sizeof(const void *) + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    more.lane_bytes = more.scratch_at + (more.n_sources > 1 ? dt__carry_scratch_bytes(more.n_sources) : 0);
    more.views = dt__alloc(ctx, (size_t)more.n_views * sizeof *more.views);
    more.lanes = dt__alloc(ctx, (size_t)more.n_lanes * more.lane_bytes);
    if (!more.views || !more.lanes) {
        free_room(ctx, &more);
        return dt__fail_memory(ctx, (size_t)more.n_lanes * more.lane_bytes, "redistributions");
    }
    free_room(ctx, room);
    *room = more;
    return DT_OK;
}

/* A pair while it is prepared. */
typedef struct preparing {
    dt__executor *executor;
    const dt__pair *pair;
    dt__prepared *out;
    dt__pulls_of pulls;
} preparing;

static dt_status check_rank(const preparing *self, const dt_mesh *mesh) {
    const dt_ctx *ctx = self->executor->ctx;
    if (mesh->self.world == ctx->world && mesh->self.rank == ctx->rank)
        return DT_OK;
    return dt__fail(self->executor->ctx, DT_ERR_STATE,
                    "redistribute: the mesh is that of rank %lld of %lld, and this is rank %lld of %lld",
                    (long long)mesh->self.rank, (long long)mesh->self.world, (long long)ctx->rank,
                    (long long)ctx->world);
}

static void count_steps(const dt__plan *plan, int64_t *collectives) {
    for (int i = 0; i < plan->n_steps; i++)
        collectives[plan->steps[i].collective]++;
}

/* What a direct exchange counts as: the cheapest plan. */
static dt_status count_direct(preparing *self, dt__arena *arena, const dt__move *move) {
    dt__plan plan;
    DT__TRY(dt__plan_new(arena, move, DT__PLANNER_MIN_COST, self->pair->machine, &plan));
    count_steps(&plan, self->out->collectives);
    return DT_OK;
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

/* The specs that a plan goes through; the ends are those that were asked for, however the plan writes them. */
static dt_status make_stops(preparing *self, const dt__plan *plan) {
    dt__prepared *out = self->out;
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

/* The planners say what is allowed, which mesh dims take part, and what it counts as. */
static dt_status ask_planners(preparing *self, dt__arena *arena) {
    dt__move move;
    dt__plan plan;
    int planner = self->pair->planner;
    dt__planner asked = planner == DT__PLANNER_STEP ? DT__PLANNER_DIRECT : (dt__planner)planner;
    DT__TRY(dt__move_of_specs(self->pair->from, self->pair->to, &move));
    DT__TRY(dt__plan_new(arena, &move, asked, self->pair->machine, &plan));
    self->pulls.same_mesh = !move.to_mesh;
    if (planner == DT__PLANNER_DIRECT && self->pulls.same_mesh)
        DT__TRY(count_direct(self, arena, &move));
    else if (planner != DT__PLANNER_STEP)
        count_steps(&plan, self->out->collectives);
    if (plan.n_steps > 1)
        return make_stops(self, &plan);
    for (int i = 0; self->pulls.same_mesh && plan.n_steps && i < plan.steps[0].n_mesh_dims; i++)
        self->pulls.changes[plan.steps[0].mesh_dims[i]] = true;
    return DT_OK;
}

/* What the rank's threads share. */
static dt_status find_chunks(preparing *self) {
    dt__prepared *out = self->out;
    const dt__pulls *pulls = &out->pulls;
    const dt_spec *to = self->pair->to;
    int64_t item = (int64_t)dt_dtype_size(to->dtype);
    dt__chunks_of blocks = {.n_dims = pulls->n_dims,
                            .n_blocks = pulls->n_blocks,
                            .blocks = pulls->blocks,
                            .n_threads = self->executor->ctx->threads,
                            .bytes_read = pulls->n_sources * item,
                            .dst_strides = to->local.strides};
    dt__chunks_of shares = blocks;
    shares.n_blocks = pulls->n_shares;
    shares.blocks = pulls->share_blocks;
    shares.bytes_read = item;
    DT__TRY(dt__chunks_new(&out->arena, &blocks, &out->chunks[0]));
    DT__TRY(dt__chunks_new(&out->arena, &shares, &out->chunks[1]));
    out->pulls.bytes += (out->chunks[0].n + out->chunks[1].n) * (int64_t)sizeof(dt__chunk);
    return DT_OK;
}

/* The group is made only where somebody needs something of another one. */
static dt_status find_pulls(preparing *self, dt__arena *arena) {
    dt__prepared *out = self->out;
    dt_ctx *ctx = self->executor->ctx;
    DT__TRY(dt__pulls_ranks(arena, &self->pulls));
    bool needs_peers = dt__pulls_need_peers(&self->pulls);
    if (needs_peers && !(out->group = dt__group_new_for(ctx, self->pulls.ranks, self->pulls.n_ranks, 0)))
        return ctx->status;
    if (needs_peers && !dt__transport_has_data(ctx))
        return DT_OK; /* nothing will move */
    DT__TRY(dt__pulls_new(&out->arena, &self->pulls, &out->pulls));
    DT__TRY(find_chunks(self));
    return make_room(self->executor, out);
}

static dt_status prepare(preparing *self) {
    dt__prepared *out = self->out;
    dt_ctx *ctx = self->executor->ctx;
    const dt_spec *from = self->pair->from, *to = self->pair->to;
    self->pulls = (dt__pulls_of){.from = from, .to = to, .rank = ctx->rank};
    DT__TRY(check_rank(self, from->mesh));
    DT__TRY(check_rank(self, to->mesh));
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = ask_planners(self, &arena);
    out->takes_part = from->local.member || to->local.member;
    if (status == DT_OK && out->takes_part && !out->n_stops)
        status = find_pulls(self, &arena);
    dt__arena_free(&arena);
    out->tag = dt__hash_u64((uint64_t)self->pair->planner,
                            dt__hash_u64(from->fingerprint, dt__hash_u64(to->fingerprint, 5)));
    return status;
}

static uint64_t hash_pair(const dt__pair *pair) {
    uint64_t small = pair->from->id << 32 ^ pair->to->id ^ (uint64_t)pair->planner << 61;
    return dt__hash_u64(small, pair->machine_hash);
}

static bool same_pair(const void *value, const void *probe) {
    const dt__pair *a = &((const dt__prepared *)value)->pair, *b = probe;
    return a->from == b->from && a->to == b->to && a->planner == b->planner && a->machine_hash == b->machine_hash;
}

static dt_status add_prepared(dt__executor *executor, const dt__pair *pair, uint64_t hash, dt__prepared **out) {
    dt__arena arena = dt__arena_new(executor->ctx);
    dt__prepared *made = DT__NEW(&arena, dt__prepared);
    if (!made)
        return DT_ERR_MEMORY;
    *made = (dt__prepared){.pair = *pair, .hash = hash, .arena = arena};
    dt_spec_retain(pair->from);
    dt_spec_retain(pair->to);
    dt_status status = prepare(&(preparing){.executor = executor, .pair = pair, .out = made});
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

dt_status dt__prepare(dt__executor *executor, const dt__pair *pair, dt__prepared **out) {
    dt__prepared *found = executor->newest;
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

dt_status dt__prepared_refresh(dt__executor *executor, dt__prepared *prepared) {
    dt_group *old = prepared->group;
    if (!old || !dt__group_is_stale(old))
        return DT_OK;
    size_t bytes = (size_t)dt_group_size(old) * sizeof(int64_t);
    int64_t *ranks = dt__alloc(executor->ctx, bytes);
    if (!ranks)
        return dt__fail_memory(executor->ctx, bytes, "the ranks of a group");
    for (int64_t i = 0; i < dt_group_size(old); i++)
        ranks[i] = dt_group_world_rank(old, i);
    dt_group *group = dt__group_new_for(executor->ctx, ranks, dt_group_size(old), 0);
    dt__free(executor->ctx, ranks, bytes);
    if (!group)
        return executor->ctx->status;
    prepared->group = group;
    dt_group_release(old);
    return DT_OK;
}
