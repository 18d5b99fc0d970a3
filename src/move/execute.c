/* SPDX-License-Identifier: Apache-2.0
 *
 * Running what was prepared: shows where this rank's part lies, pulls in one step or two, and cleans up. Memory that
 * peers could not read is copied to the heap for as long as that takes.
 */
#include "move/move.h"

#include "comm/exchange.h"
#include "comm/observer.h"
#include "kernels/spread.h"
#include "mesh/mesh.h"
#include "move/plan_cache.h"

#include <stdatomic.h>
#include <string.h>

enum { STREAM_FROM_BYTES = 4 << 20 }; /* results of this size go past the caches */

struct dt__moving {
    dt__executor *executor;
    dt__prepared *prepared;
    dt_spec *from, *to;
    dt__shard_memory src;
    char *dst;        /* where the target is written */
    void *copied_src; /* in the heap, or NULL */
    void *copied_dst; /* the same; what is the caller's follows: */
    void *final_dst;
    dt__exchange exchange;
    dt_work *work; /* NULL: over, with `status` */
    dt_status status;
    struct dt__moving *next;           /* of those that are started */
    int64_t strides[DT_SPEC_MAX_DIMS]; /* copies of the caller's, of a started one */
};

static dt__runtime *runtime_of(const dt__moving *moving) { return dt__runtime_of(moving->executor->ctx); }

static int64_t item_bytes(const dt__moving *moving) { return (int64_t)dt_dtype_size(moving->to->dtype); }

/* How far elements lie before and behind the first one, in bytes; the last one included. */
typedef struct reach {
    int64_t before, behind;
} reach;

static reach reach_of(int n_dims, const int64_t *shape, const int64_t *strides, int64_t item) {
    reach r = {0, item};
    for (int d = 0; d < n_dims; d++) {
        int64_t bytes = (shape[d] - 1) * strides[d] * item;
        *(bytes < 0 ? &r.before : &r.behind) += bytes;
    }
    return r;
}

/* Where a source of a block lies; at is NULL where a peer shows what cannot be. */
static dt__shard_memory view_of(const dt__moving *moving, const dt_work *work, const dt__block *block,
                                int64_t member) {
    int n_dims = moving->prepared->pulls.n_dims;
    if (!work || member == moving->prepared->group->rank)
        return (dt__shard_memory){moving->src.at, moving->src.strides};
    const int64_t *strides = block->strides;
    reach r = {0, block->part_elements * item_bytes(moving)};
    if (dt__exchange_strides(work, member, n_dims, &strides)) {
        if (!strides)
            return (dt__shard_memory){NULL, NULL};
        r = reach_of(n_dims, block->shape, strides, item_bytes(moving));
    } else {
        strides = block->strides;
    }
    return (dt__shard_memory){dt__exchange_src(work, member, r.before, (size_t)(r.behind - r.before)), strides};
}

static dt__carrier carrier_of(const dt__moving *moving, bool copies, int64_t lane) {
    const dt__room *room = &moving->executor->room;
    const dt__pulls *pulls = &moving->prepared->pulls;
    bool large = moving->to->local.bytes >= STREAM_FROM_BYTES;
    return (dt__carrier){
        .kernels = runtime_of(moving)->kernels,
        .dtype = moving->to->dtype,
        .item_bytes = (size_t)item_bytes(moving),
        .reduce = pulls->reduce,
        .divisor = pulls->divisor,
        /* What peers read next goes past the caches, as in an all_reduce. */
        .store = large || (pulls->two_phases && !copies) ? DT__STREAM : DT__CACHED,
        .dst = moving->dst,
        .dst_strides = moving->to->local.strides,
        .n_sources = copies ? 1 : pulls->n_sources,
        .views = room->views,
        .at = (const void **)(room->lanes + (size_t)lane * room->lane_bytes),
        .scratch = room->lanes + (size_t)lane * room->lane_bytes + room->scratch_at,
    };
}

/* The blocks of a step that threads share. */
typedef struct load {
    const dt__moving *moving;
    bool copies; /* the second step */
    const dt__block *blocks;
    const dt__chunks *chunks;
    _Atomic int64_t next; /* chunk that nobody has taken yet */
} load;

static void carry_chunks(void *arg, int64_t lane) {
    load *self = arg;
    dt__carrier carrier = carrier_of(self->moving, self->copies, lane);
    for (int64_t i; (i = self->next++) < self->chunks->n;) {
        const dt__chunk *chunk = &self->chunks->list[i];
        carrier.views = self->moving->executor->room.views + chunk->block * carrier.n_sources;
        dt__carry_chunk(&carrier, self->moving->prepared->pulls.n_dims, &self->blocks[chunk->block], chunk);
    }
}

/* Where the sources of all blocks are known. */
static void carry_together(const dt__moving *moving, bool copies, const dt__block *blocks) {
    dt__pool *pool = dt__pool_of(moving->executor->ctx);
    load all = {moving, copies, blocks, &moving->prepared->chunks[copies], 0};
    dt__pool_run(pool, dt__pool_threads(pool), carry_chunks, &all);
}

/* The first step: blocks, reduced where there are several sources. work is NULL where nobody else takes part. */
static dt_status pull_blocks(dt_work *work, void *user) {
    dt__moving *moving = user;
    dt__executor *executor = moving->executor;
    const dt__pulls *pulls = &moving->prepared->pulls;
    bool together = moving->prepared->chunks[0].n > 0;
    dt__carrier carrier = carrier_of(moving, false, 0);
    for (int64_t b = 0; b < pulls->n_blocks; b++) {
        const dt__block *block = &pulls->blocks[b];
        dt__shard_memory *views = executor->room.views + (together ? b * pulls->n_sources : 0);
        for (int i = 0; i < pulls->n_sources; i++) {
            views[i] = view_of(moving, work, block, block->members[i]);
            if (!views[i].at)
                return dt__exchange_fail(work, block->members[i]);
            if (work && block->members[i] != moving->prepared->group->rank)
                executor->stats.bytes_received += block->elements * item_bytes(moving);
        }
        if (!together)
            dt__carry_block(&carrier, pulls->n_dims, block);
    }
    if (together)
        carry_together(moving, false, pulls->blocks);
    return DT_OK;
}

/* The second step: the shares that the other replicas have reduced. */
static dt_status pull_shares(dt_work *work, void *user) {
    dt__moving *moving = user;
    dt__executor *executor = moving->executor;
    const dt__pulls *pulls = &moving->prepared->pulls;
    const dt_local *local = &moving->to->local;
    bool together = moving->prepared->chunks[1].n > 0;
    dt__carrier carrier = carrier_of(moving, true, 0);
    for (int64_t i = 0; i < pulls->n_shares; i++) {
        const dt__block *block = &pulls->share_blocks[i];
        const void *at = dt__exchange_dst(work, block->members[0], (size_t)local->bytes);
        if (!at)
            return dt__exchange_fail(work, block->members[0]);
        executor->room.views[together ? i : 0] = (dt__shard_memory){at, local->strides};
        executor->stats.bytes_received += block->elements * item_bytes(moving);
        if (!together)
            dt__carry_block(&carrier, pulls->n_dims, block);
    }
    if (together)
        carry_together(moving, true, pulls->share_blocks);
    return DT_OK;
}

static bool is_dense(const dt_local *local, const int64_t *strides) {
    for (int d = 0; local->elements && d < local->n_dims; d++)
        if (local->shape[d] > 1 && strides[d] != local->strides[d])
            return false;
    return true;
}

/* A copy of the source, dense, in the heap. */
static dt_status copy_src(dt__moving *moving) {
    const dt_local *local = &moving->from->local;
    moving->copied_src = dt_heap_alloc(moving->executor->ctx, (size_t)local->bytes);
    if (!moving->copied_src)
        return DT_ERR_MEMORY;
    dt__spread_copy(runtime_of(moving)->kernels, dt__pool_of(moving->executor->ctx),
                    &(dt__strided){moving->copied_src, moving->src.at, (size_t)item_bytes(moving), local->n_dims,
                                   local->shape, local->strides, moving->src.strides},
                    local->bytes >= STREAM_FROM_BYTES ? DT__STREAM : DT__CACHED);
    moving->src = (dt__shard_memory){moving->copied_src, local->strides};
    return DT_OK;
}

/* Makes sure that peers can read what they will: the source, and the target where there are two steps. */
static dt_status place_in_heap(dt__moving *moving, bool *dense) {
    const dt__heap *heap = &runtime_of(moving)->heap;
    const dt_local *from = &moving->from->local, *to = &moving->to->local;
    bool two_phases = moving->prepared->pulls.two_phases;
    reach r = {0, from->bytes};
    *dense = is_dense(from, moving->src.strides);
    if (!*dense)
        r = reach_of(from->n_dims, from->shape, moving->src.strides, item_bytes(moving));
    bool readable = dt__heap_holds(heap, moving->src.at + r.before, (size_t)(r.behind - r.before)) ||
                    (*dense && !two_phases && from->bytes <= DT__EXCHANGE_COPIED_BYTES);
    if (from->elements && !readable) {
        DT__TRY(copy_src(moving));
        *dense = true;
    }
    if (!two_phases || !to->elements || dt__heap_holds(heap, moving->dst, (size_t)to->bytes))
        return DT_OK;
    moving->final_dst = moving->dst;
    moving->dst = moving->copied_dst = dt_heap_alloc(moving->executor->ctx, (size_t)to->bytes);
    return moving->dst ? DT_OK : DT_ERR_MEMORY;
}

static dt_status make_exchange(dt__moving *moving) {
    const dt__prepared *prepared = moving->prepared;
    const dt_local *from = &moving->from->local, *to = &moving->to->local;
    bool dense = true, two_phases = prepared->pulls.two_phases;
    bool same_mesh = moving->from->mesh->fingerprint == moving->to->mesh->fingerprint;
    if (runtime_of(moving)->transport != &dt__transport_fake)
        DT__TRY(place_in_heap(moving, &dense));
    moving->exchange = (dt__exchange){
        .tag = prepared->tag ^ (same_mesh ? dt__mesh_history(moving->to->mesh) : 0),
        .dtype = moving->to->dtype,
        .count = moving->to->elements,
        .src = moving->src.at,
        .src_bytes = (size_t)from->bytes,
        .src_strides = dense ? NULL : moving->src.strides,
        .n_strides = from->n_dims,
        .dst = two_phases && to->elements ? moving->dst : NULL,
        .steps = {pull_blocks, two_phases ? pull_shares : NULL},
        .user = moving,
    };
    return DT_OK;
}

static dt_status missing_memory(const dt__moving *moving, const char *which, int64_t bytes) {
    return dt__fail_local(moving->executor->ctx, DT_ERR_VALUE,
                          "redistribute: %s is NULL, but this rank holds %lld bytes of it", which, (long long)bytes);
}

static void open_moving(dt__moving *moving, dt__executor *executor, dt__prepared *prepared,
                        const dt__redistribution *what) {
    moving->executor = executor;
    moving->prepared = prepared;
    moving->from = prepared->pair.from;
    moving->to = prepared->pair.to;
    moving->src = (dt__shard_memory){what->src, what->src_strides ? what->src_strides : moving->from->local.strides};
    moving->dst = what->dst;
    moving->copied_src = moving->copied_dst = moving->final_dst = NULL;
    moving->work = NULL;
    moving->status = DT_OK;
    prepared->n_users++;
}

/* On the fake transport specs move, and no data. */
static bool has_data(const dt__moving *moving) { return runtime_of(moving)->transport != &dt__transport_fake; }

static dt_status check_memory(const dt__moving *moving) {
    if (!has_data(moving))
        return DT_OK;
    if (!moving->src.at && moving->from->local.elements)
        return missing_memory(moving, "src", moving->from->local.bytes);
    if (!moving->dst && moving->to->local.elements)
        return missing_memory(moving, "dst", moving->to->local.bytes);
    return DT_OK;
}

/* Nobody else takes part. */
static dt_status move_alone(dt__moving *moving) {
    if (!has_data(moving) || (moving->src.at == moving->dst && moving->from == moving->to))
        return DT_OK;
    return pull_blocks(NULL, moving);
}

/* Gives back what was taken, whatever happened. */
static dt_status close_moving(dt__moving *moving, dt_status status) {
    dt__heap *heap = &runtime_of(moving)->heap;
    int64_t bytes = moving->to->local.bytes, one = 1;
    if (status == DT_OK && moving->copied_dst)
        dt__spread_copy(runtime_of(moving)->kernels, dt__pool_of(moving->executor->ctx),
                        &(dt__strided){moving->final_dst, moving->copied_dst, 1, 1, &bytes, &one, &one}, DT__CACHED);
    if (moving->copied_src)
        dt__heap_give(heap, moving->copied_src);
    if (moving->copied_dst)
        dt__heap_give(heap, moving->copied_dst);
    moving->copied_src = moving->copied_dst = NULL;
    moving->executor->stats.n_exchanges += status == DT_OK && moving->prepared->group;
    moving->prepared->n_users--;
    return status;
}

static dt_status move_now(dt__executor *executor, dt__prepared *prepared, const dt__redistribution *what) {
    dt__moving moving;
    open_moving(&moving, executor, prepared, what);
    dt_status status = check_memory(&moving);
    if (status == DT_OK)
        status = dt__prepared_refresh(executor, prepared);
    if (status == DT_OK && prepared->group) {
        status = make_exchange(&moving);
        if (status == DT_OK)
            status = dt__exchange_run(prepared->group, &moving.exchange);
    } else if (status == DT_OK) {
        status = move_alone(&moving);
    }
    return close_moving(&moving, status);
}

/* One step of a plan of several, from what->src to memory of the heap or, at last, to dst. */
static dt_status move_step(dt__executor *executor, const dt__prepared *whole, int i, const dt__redistribution *what,
                           const void *src, void *dst) {
    bool first = i == 0;
    dt__pair pair = whole->pair;
    dt__prepared *prepared;
    pair.from = whole->stops[i];
    pair.to = whole->stops[i + 1];
    pair.planner = DT__PLANNER_STEP;
    pair.machine = what->machine ? what->machine : &dt__machine_builtin;
    DT__TRY(dt__prepare(executor, &pair, &prepared));
    return move_now(executor, prepared,
                    &(dt__redistribution){
                        .src = first ? what->src : src,
                        .src_strides = first ? what->src_strides : NULL,
                        .dst = dst,
                    });
}

static dt_status move_by_steps(dt__executor *executor, dt__prepared *whole, const dt__redistribution *what) {
    int n_steps = whole->n_stops - 1;
    void *src = NULL, *dst = NULL;
    dt_status status = DT_OK;
    whole->n_users++;
    for (int i = 0; i < n_steps && status == DT_OK; i++) {
        size_t bytes = (size_t)whole->stops[i + 1]->local.bytes;
        dst = i + 1 == n_steps ? what->dst : bytes ? dt_heap_alloc(executor->ctx, bytes) : NULL;
        status = bytes && !dst && i + 1 < n_steps ? DT_ERR_MEMORY : DT_OK;
        if (status == DT_OK)
            status = move_step(executor, whole, i, what, src, dst);
        if (src)
            dt_heap_free(executor->ctx, src);
        src = dst;
    }
    if (status != DT_OK && src && src != what->dst)
        dt_heap_free(executor->ctx, src);
    whole->n_users--;
    return status;
}

static const dt_collective as_collective[DT__N_STEP_KINDS] = {
    [DT__STEP_ALL_GATHER] = DT_ALL_GATHER,
    [DT__STEP_ALL_REDUCE] = DT_ALL_REDUCE,
    [DT__STEP_REDUCE_SCATTER] = DT_REDUCE_SCATTER,
    [DT__STEP_ALL_TO_ALL] = DT_ALL_TO_ALL,
};

/* The state before a run, for the observer's report. */
typedef struct run_start {
    double us;
    int64_t bytes;
} run_start;

static run_start begin_run(const dt__executor *executor) {
    if (!executor->ctx->move_observer)
        return (run_start){0};
    return (run_start){dt__now_us(), executor->stats.bytes_received};
}

static void report(const dt__executor *executor, const dt__prepared *prepared, run_start start) {
    dt_ctx *ctx = executor->ctx;
    dt__redistribution_report out = {.from = prepared->pair.from,
                                     .to = prepared->pair.to,
                                     .planner = (dt__planner)prepared->pair.planner,
                                     .bytes = executor->stats.bytes_received - start.bytes,
                                     .begin_us = start.us,
                                     .end_us = dt__now_us()};
    for (int i = DT__STEP_NONE + 1; i < DT__N_STEP_KINDS; i++)
        out.collectives[as_collective[i]] += prepared->collectives[i];
    ctx->move_observer->redistribution(ctx, &out);
}

static void count_run(dt__executor *executor, const dt__prepared *prepared, run_start start) {
    executor->stats.n_runs++;
    for (int i = 0; i < DT__N_STEP_KINDS; i++)
        executor->stats.collectives[i] += prepared->collectives[i];
    if (executor->ctx->move_observer)
        report(executor, prepared, start);
}

static uint64_t hash_machine(const dt__machine *machine) {
    return machine && machine != &dt__machine_builtin ? dt__hash(machine, sizeof *machine, 3) : 0;
}

static dt_status find_prepared(const dt__redistribution *what, dt__executor **executor, dt__prepared **out) {
    if (!what->from || !what->to)
        return DT_ERR_STATE;
    dt_ctx *ctx = what->from->ctx;
    if (!dt__runtime_of(ctx))
        return dt__fail(ctx, DT_ERR_STATE, "redistribute: the context has no transport");
    *executor = dt__executor_of(ctx);
    if (!*executor)
        return DT_ERR_MEMORY;
    dt__pair pair = {
        .from = what->from,
        .to = what->to,
        .planner = (int)what->planner,
        .machine = what->machine ? what->machine : &dt__machine_builtin,
        .machine_hash = hash_machine(what->machine),
    };
    return dt__prepare(*executor, &pair, out);
}

dt_status dt__redistribute_run(const dt__redistribution *what) {
    dt__executor *executor;
    dt__prepared *prepared;
    DT__TRY(find_prepared(what, &executor, &prepared));
    if (!prepared->takes_part)
        return DT_OK;
    prepared->n_users++;
    run_start start = begin_run(executor);
    dt_status status =
        prepared->n_stops ? move_by_steps(executor, prepared, what) : move_now(executor, prepared, what);
    if (status == DT_OK)
        count_run(executor, prepared, start);
    prepared->n_users--;
    return status;
}

/* Begins an exchange; what has none is run at once. */
static dt_status begin(dt__moving *moving, const dt__redistribution *what) {
    dt__prepared *prepared = moving->prepared;
    if (!prepared->takes_part)
        return DT_OK;
    if (prepared->n_stops)
        return move_by_steps(moving->executor, prepared, what);
    DT__TRY(check_memory(moving));
    DT__TRY(dt__prepared_refresh(moving->executor, prepared));
    if (!prepared->group)
        return move_alone(moving);
    DT__TRY(make_exchange(moving));
    moving->work = dt__exchange_start(prepared->group, &moving->exchange);
    return moving->work ? DT_OK : moving->executor->ctx->status;
}

static void keep_strides(dt__moving *moving, const dt__redistribution *what) {
    int n = moving->from->local.n_dims;
    if (!what->src_strides || !n)
        return;
    memcpy(moving->strides, what->src_strides, (size_t)n * sizeof *moving->strides);
    moving->src.strides = moving->strides;
}

dt__moving *dt__redistribute_start(const dt__redistribution *what) {
    dt__executor *executor;
    dt__prepared *prepared;
    if (find_prepared(what, &executor, &prepared) != DT_OK)
        return NULL;
    dt__moving *moving = dt__alloc(executor->ctx, sizeof *moving);
    if (!moving) {
        dt__fail_memory(executor->ctx, sizeof *moving, "a started redistribution");
        return NULL;
    }
    open_moving(moving, executor, prepared, what);
    keep_strides(moving, what);
    dt_status status = begin(moving, what);
    if (status != DT_OK) {
        close_moving(moving, status);
        dt__free(executor->ctx, moving, sizeof *moving);
        return NULL;
    }
    moving->next = executor->moving;
    executor->moving = moving;
    return moving;
}

/* The exchange is over: what is left to do here. */
static void finish(dt__moving *moving) {
    dt_work *work = moving->work;
    moving->work = NULL;
    moving->status = dt_work_wait(work);
}

dt_status dt__redistribute_test(dt__moving *moving) {
    if (!moving)
        return DT_ERR_STATE;
    if (moving->work && dt_work_test(moving->work) == DT_IN_PROGRESS)
        return DT_IN_PROGRESS;
    if (moving->work)
        finish(moving);
    return moving->status;
}

dt_status dt__redistribute_wait(dt__moving *moving) {
    if (!moving)
        return DT_ERR_STATE;
    dt__executor *executor = moving->executor;
    dt__prepared *prepared = moving->prepared;
    run_start start = begin_run(executor);
    if (moving->work)
        finish(moving);
    dt__moving **link = &executor->moving;
    while (*link != moving)
        link = &(*link)->next;
    *link = moving->next;
    if (moving->status == DT_OK && prepared->takes_part)
        count_run(executor, prepared, start);
    dt_status status = close_moving(moving, moving->status);
    dt__free(executor->ctx, moving, sizeof *moving);
    return status;
}

void dt__moving_end_all(dt__executor *executor) {
    while (executor->moving)
        dt__redistribute_wait(executor->moving);
}

dt__redistribute_stats dt__redistribute_statistics(const dt_ctx *ctx) {
    const dt__executor *executor = ctx->slots[DT__SLOT_REDISTRIBUTE].state;
    return executor ? executor->stats : (dt__redistribute_stats){0};
}

dt_status dt__redistribute_count(dt_spec *from, dt_spec *to, dt__planner planner, const dt__machine *machine,
                                 int64_t collectives[DT__N_STEP_KINDS]) {
    dt__executor *executor;
    dt__prepared *prepared;
    dt__redistribution what = {.from = from, .to = to, .planner = planner, .machine = machine};
    DT__TRY(find_prepared(&what, &executor, &prepared));
    memcpy(collectives, prepared->collectives, sizeof prepared->collectives);
    return DT_OK;
}
