/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs prepared redistributions. On one node this publishes the address of this rank's shard, pulls in one phase or
 * two, and cleans up; memory that peers cannot read passes through the heap, a little at a time (staged_source.h).
 * Between nodes a collective carries the move (carried_move.h).
 */
#include "move/execution.h"

#include "comm/comm.h"
#include "kernels/kernels.h"
#include "mesh/mesh.h"
#include "move/prepared_move.h"
#include "move/staged_source.h"

#include <stdatomic.h>
#include <string.h>

enum { STREAM_FROM_BYTES = 4 << 20 }; /* larger results bypass the caches */

/* The fake transport moves no data. */
static bool has_data(const dt__execution *execution) { return dt__transport_has_data(execution->executor->ctx); }

static int64_t item_bytes(const dt__execution *execution) { return (int64_t)dt_dtype_size(execution->to->dtype); }

/* The extent of a strided shard in bytes, relative to its first element. */
typedef struct extent {
    int64_t begin, end;
} extent;

static extent extent_of(int n_dims, const int64_t *shape, const int64_t *strides, int64_t item) {
    extent r = {0, item};
    for (int d = 0; d < n_dims; d++) {
        int64_t bytes = (shape[d] - 1) * strides[d] * item;
        *(bytes < 0 ? &r.begin : &r.end) += bytes;
    }
    return r;
}

/* The words that a member publishes about a move among others. */
static const int64_t *listed_words(const dt__listed_move *listed, const dt_work *work, int64_t member) {
    const int64_t *words;
    bool found = dt__exchange_strides(work, listed->members[member], listed->n_words, &words);
    return found && words ? words + listed->at : NULL;
}

static dt__shard_memory listed_source(const dt__execution *execution, const dt_work *work, const dt__block *block,
                                      int64_t member) {
    const int64_t *words = listed_words(execution->listed, work, member);
    if (!words)
        return (dt__shard_memory){NULL, NULL};
    const int64_t distance = words[DT__LISTED_SRC], *strides = words + DT__LISTED_STRIDES;
    extent r = extent_of(execution->prepared->pulls.n_dims, block->shape, strides, item_bytes(execution));
    const char *base =
        dt__exchange_src(work, execution->listed->members[member], distance + r.begin, (size_t)(r.end - r.begin));
    return (dt__shard_memory){base ? base + distance : NULL, strides};
}

/* The memory of a source of a block; at is NULL where a peer published an impossible address. */
static dt__shard_memory source_memory(const dt__execution *execution, const dt_work *work, const dt__block *block,
                                      int64_t member) {
    int n_dims = execution->prepared->pulls.n_dims;
    if (!work || member == dt_group_rank(execution->prepared->group))
        return (dt__shard_memory){execution->src.at, execution->src.strides};
    if (execution->listed)
        return listed_source(execution, work, block, member);
    const int64_t *strides = block->strides;
    extent r = {0, block->shard_elements * item_bytes(execution)};
    if (dt__exchange_strides(work, member, n_dims, &strides)) {
        if (!strides)
            return (dt__shard_memory){NULL, NULL};
        r = extent_of(n_dims, block->shape, strides, item_bytes(execution));
    } else {
        strides = block->strides;
    }
    return (dt__shard_memory){dt__exchange_src(work, member, r.begin, (size_t)(r.end - r.begin)), strides};
}

/* In a round: the memory of a source, as if it held all of the shard, although a staging buffer holds just the box. */
static dt__shard_memory round_memory(const dt__execution *execution, const dt_work *work, const dt__block *block,
                                     int64_t member, const dt__staged_box *box) {
    const dt__listed_move *listed = execution->listed;
    const int64_t *words = listed ? listed_words(listed, work, member) : NULL;
    int64_t elements = 1, distance = words ? words[DT__LISTED_SRC] : 0;
    if (member == dt_group_rank(execution->prepared->group) ||
        !(listed ? words && words[DT__LISTED_STAGED] : dt__exchange_fills(work, member)))
        return source_memory(execution, work, block, member);
    for (int d = 0; d < execution->prepared->pulls.n_dims; d++)
        elements *= box->size[d];
    const char *base = dt__exchange_src(work, listed ? listed->members[member] : member, distance,
                                        (size_t)(elements * item_bytes(execution)));
    return (dt__shard_memory){base ? base + distance - box->first * item_bytes(execution) : NULL, block->strides};
}

/* A peer's target, in the second phase. */
static const void *target_of_peer(const dt__execution *execution, const dt_work *work, int64_t member) {
    size_t bytes = (size_t)execution->to->local.bytes;
    if (!execution->listed)
        return dt__exchange_dst(work, member, bytes);
    const int64_t *words = listed_words(execution->listed, work, member);
    int64_t distance = words ? words[DT__LISTED_DST] : 0;
    const char *base = words ? dt__exchange_src(work, execution->listed->members[member], distance, bytes) : NULL;
    return base ? base + distance : NULL;
}

static dt_status fail_member(const dt__execution *execution, dt_work *work, int64_t member) {
    return dt__exchange_fail(work, execution->listed ? execution->listed->members[member] : member);
}

static dt__block_copier copier_of(const dt__execution *execution, bool copies, int64_t lane) {
    const dt__copy_buffers *buffers = &execution->executor->buffers;
    const dt__pull_list *pulls = &execution->prepared->pulls;
    bool large = execution->to->local.bytes >= STREAM_FROM_BYTES;
    return (dt__block_copier){
        .kernels = dt__rank_kernels(execution->executor->ctx),
        .dtype = execution->to->dtype,
        .item_bytes = (size_t)item_bytes(execution),
        .reduce = pulls->reduce,
        .divisor = pulls->divisor,
        /* Results that peers read next bypass the caches, as in an all_reduce. */
        .store = large || (pulls->two_phases && !copies) ? DT__STREAM : DT__CACHED,
        .dst = execution->dst,
        .dst_strides = execution->to->local.strides,
        .n_sources = copies ? 1 : pulls->n_sources,
        .sources = buffers->sources,
        .at = (const void **)(buffers->lanes + (size_t)lane * buffers->lane_bytes),
        .scratch = buffers->lanes + (size_t)lane * buffers->lane_bytes + buffers->scratch_at,
    };
}

/* The blocks of a phase, which threads share. */
typedef struct shared_work {
    const dt__execution *execution;
    bool copies; /* the second phase */
    const dt__block *blocks;
    const dt__chunks *chunks;
    _Atomic int64_t next; /* first chunk that no thread has taken */
} shared_work;

static void copy_chunks(void *arg, int64_t lane) {
    shared_work *self = arg;
    dt__block_copier copier = copier_of(self->execution, self->copies, lane);
    for (int64_t i; (i = self->next++) < self->chunks->n;) {
        const dt__chunk *chunk = &self->chunks->list[i];
        copier.sources = self->execution->executor->buffers.sources + chunk->block * copier.n_sources;
        dt__copy_chunk(&copier, self->execution->prepared->pulls.n_dims, &self->blocks[chunk->block], chunk);
    }
}

/* All threads copy; the sources of all blocks are set. */
static void copy_in_threads(const dt__execution *execution, bool copies, const dt__block *blocks) {
    dt__pool *pool = dt__pool_of(execution->executor->ctx);
    shared_work all = {execution, copies, blocks, &execution->prepared->chunks[copies], 0};
    dt__pool_run(pool, dt__pool_threads(pool), copy_chunks, &all);
}

/* The part of a block that is in the box of its shard in this round. */
static dt_status pull_box(dt_work *work, dt__execution *execution, dt__arena *arena, const dt__block *block,
                          const dt__staged_box *box) {
    const dt__pull_list *pulls = &execution->prepared->pulls;
    dt__shard_memory *sources = execution->executor->buffers.sources;
    dt__block_copier copier = copier_of(execution, false, 0);
    dt__block part;
    if (dt__block_in_box(arena, pulls->n_dims, block, box, &part) != DT_OK)
        return dt__exchange_fail_memory(work);
    for (int i = 0; i < pulls->n_sources && part.elements; i++) {
        sources[i] = round_memory(execution, work, block, block->members[i], box);
        if (!sources[i].at)
            return fail_member(execution, work, block->members[i]);
        if (block->members[i] != dt_group_rank(execution->prepared->group))
            execution->executor->stats.bytes_received += part.elements * item_bytes(execution);
    }
    if (part.elements)
        dt__copy_block(&copier, pulls->n_dims, &part);
    return DT_OK;
}

dt_status dt__execution_pull_round(dt_work *work, dt__execution *execution, int64_t round) {
    const dt__pull_list *pulls = &execution->prepared->pulls;
    dt__arena arena = dt__arena_new(execution->executor->ctx);
    dt_status status = DT_OK;
    for (int64_t b = 0; b < pulls->n_blocks && status == DT_OK; b++) {
        dt__arena_mark mark = dt__arena_begin(&arena);
        dt__staged_box box;
        if (dt__staged_box_at(execution->from, pulls->blocks[b].shape, execution->executor->staged_bytes, round,
                              &box))
            status = pull_box(work, execution, &arena, &pulls->blocks[b], &box);
        dt__arena_rewind(&arena, mark);
    }
    dt__arena_free(&arena);
    return status;
}

void dt__execution_fill(dt__execution *execution, int64_t round) {
    const dt_local *local = &execution->from->local;
    dt__staged_box box;
    int64_t at = 0;
    if (!execution->staging ||
        !dt__staged_box_at(execution->from, local->shape, execution->executor->staged_bytes, round, &box))
        return;
    for (int d = 0; d < local->n_dims; d++)
        at += box.begin[d] * execution->src.strides[d];
    dt__spread_copy(dt__rank_kernels(execution->executor->ctx), dt__pool_of(execution->executor->ctx),
                    &(dt__strided){execution->staging, execution->src.at + at * item_bytes(execution),
                                   (size_t)item_bytes(execution), local->n_dims, box.size, local->strides,
                                   execution->src.strides},
                    DT__CACHED);
}

/* In an estimate, phases only count what they would receive. */
static void count_blocks(dt__execution *execution, int64_t n, const dt__block *blocks, int n_sources) {
    for (int64_t b = 0; b < n; b++)
        for (int i = 0; i < n_sources; i++)
            if (blocks[b].members[i] != dt_group_rank(execution->prepared->group))
                execution->executor->stats.bytes_received += blocks[b].elements * item_bytes(execution);
}

/* The first phase: blocks, reduced where there are several sources. work is NULL where no other rank takes part. */
dt_status dt__execution_pull_blocks(dt_work *work, void *user) {
    dt__execution *execution = user;
    dt__executor *executor = execution->executor;
    if (work && !execution->listed && dt__exchange_round(work) >= 0)
        return dt__execution_pull_round(work, execution, dt__exchange_round(work));
    const dt__pull_list *pulls = &execution->prepared->pulls;
    if (executor->ctx->estimate) {
        if (work)
            count_blocks(execution, pulls->n_blocks, pulls->blocks, pulls->n_sources);
        return DT_OK;
    }
    bool in_threads = execution->prepared->chunks[0].n > 0;
    dt__block_copier copier = copier_of(execution, false, 0);
    for (int64_t b = 0; b < pulls->n_blocks; b++) {
        const dt__block *block = &pulls->blocks[b];
        dt__shard_memory *sources = executor->buffers.sources + (in_threads ? b * pulls->n_sources : 0);
        for (int i = 0; i < pulls->n_sources; i++) {
            sources[i] = source_memory(execution, work, block, block->members[i]);
            if (!sources[i].at)
                return fail_member(execution, work, block->members[i]);
            if (work && block->members[i] != dt_group_rank(execution->prepared->group))
                executor->stats.bytes_received += block->elements * item_bytes(execution);
        }
        if (!in_threads)
            dt__copy_block(&copier, pulls->n_dims, block);
    }
    if (in_threads)
        copy_in_threads(execution, false, pulls->blocks);
    return DT_OK;
}

/* The second phase: the portions that the other replicas have reduced. */
dt_status dt__execution_pull_portions(dt_work *work, void *user) {
    dt__execution *execution = user;
    dt__executor *executor = execution->executor;
    const dt__pull_list *pulls = &execution->prepared->pulls;
    const dt_local *local = &execution->to->local;
    if (executor->ctx->estimate) {
        count_blocks(execution, pulls->n_portions, pulls->portion_blocks, 1);
        return DT_OK;
    }
    bool in_threads = execution->prepared->chunks[1].n > 0;
    dt__block_copier copier = copier_of(execution, true, 0);
    for (int64_t i = 0; i < pulls->n_portions; i++) {
        const dt__block *block = &pulls->portion_blocks[i];
        const void *at = target_of_peer(execution, work, block->members[0]);
        if (!at)
            return fail_member(execution, work, block->members[0]);
        executor->buffers.sources[in_threads ? i : 0] = (dt__shard_memory){at, local->strides};
        executor->stats.bytes_received += block->elements * item_bytes(execution);
        if (!in_threads)
            dt__copy_block(&copier, pulls->n_dims, block);
    }
    if (in_threads)
        copy_in_threads(execution, true, pulls->portion_blocks);
    return DT_OK;
}

/* Whether the memory of a shard is as that of its spec. */
static bool is_dense(const dt_local *local, const int64_t *strides) {
    for (int d = 0; local->elements && d < local->n_dims; d++)
        if (local->shape[d] > 1 && strides[d] != local->strides[d])
            return false;
    return true;
}

/* A copy of the source, dense, in the heap. */
static dt_status copy_src(dt__execution *execution) {
    const dt_local *local = &execution->from->local;
    execution->copied_src = dt_heap_alloc(execution->executor->ctx, (size_t)local->bytes);
    if (!execution->copied_src)
        return DT_ERR_MEMORY;
    dt__spread_copy(dt__rank_kernels(execution->executor->ctx), dt__pool_of(execution->executor->ctx),
                    &(dt__strided){execution->copied_src, execution->src.at, (size_t)item_bytes(execution),
                                   local->n_dims, local->shape, local->strides, execution->src.strides},
                    local->bytes >= STREAM_FROM_BYTES ? DT__STREAM : DT__CACHED);
    execution->src = (dt__shard_memory){execution->copied_src, local->strides};
    return DT_OK;
}

dt_status dt__execution_publish(dt__execution *execution, char **staging, bool *dense) {
    const dt_ctx *ctx = execution->executor->ctx;
    const dt_local *from = &execution->from->local, *to = &execution->to->local;
    bool two_phases = execution->prepared->pulls.two_phases;
    extent r = {0, from->bytes};
    *dense = is_dense(from, execution->src.strides);
    if (!*dense)
        r = extent_of(from->n_dims, from->shape, execution->src.strides, item_bytes(execution));
    bool readable = dt__is_in_heap(ctx, execution->src.at + r.begin, (size_t)(r.end - r.begin)) ||
                    (*dense && !two_phases && !execution->listed && from->bytes <= DT__EXCHANGE_COPIED_BYTES);
    if (from->elements && !readable && from->bytes <= execution->executor->staged_bytes) {
        DT__TRY(copy_src(execution));
        *dense = true;
    } else if (from->elements && !readable) {
        if (!*staging &&
            !(*staging = dt_heap_alloc(execution->executor->ctx, (size_t)execution->executor->staged_bytes)))
            return DT_ERR_MEMORY;
        execution->staging = *staging;
    }
    if (!two_phases || !to->elements || dt__is_in_heap(ctx, execution->dst, (size_t)to->bytes))
        return DT_OK;
    execution->final_dst = execution->dst;
    execution->dst = execution->copied_dst = dt_heap_alloc(execution->executor->ctx, (size_t)to->bytes);
    return execution->dst ? DT_OK : DT_ERR_MEMORY;
}

/* What the members compare. */
static dt__exchange describe_exchange(const dt__execution *execution) {
    bool same_mesh = execution->from->mesh->fingerprint == execution->to->mesh->fingerprint;
    dt__history *from_history = dt__mesh_history(execution->from->mesh);
    dt__history *to_history = same_mesh ? NULL : dt__mesh_history(execution->to->mesh);
    static const dt__exchange_call redistribute = {.name = "redistribute", .shows_data = true};
    return (dt__exchange){
        .call = &redistribute,
        .tag = execution->prepared->tag,
        .histories = {from_history, to_history},
        .n_histories = !same_mesh     ? 2
                       : from_history ? 1
                                      : 0,
        .mesh_dims = dt__has_verdict(from_history, to_history) ? dt__prepared_mesh_dims(execution->prepared) : 0,
        .dtype = execution->to->dtype,
        .count = execution->to->elements,
    };
}

static void fill_staging(int64_t round, void *user) { dt__execution_fill(user, round); }

static int64_t count_rounds(void *user) {
    const dt__execution *execution = user;
    return dt__staged_rounds(execution->from, execution->executor->staged_bytes);
}

static dt_status fill_exchange(dt__execution *execution) {
    const dt_local *from = &execution->from->local, *to = &execution->to->local;
    bool dense = true, two_phases = execution->prepared->pulls.two_phases;
    char *staging = NULL;
    if (has_data(execution)) {
        dt_status status = dt__execution_publish(execution, &staging, &dense);
        execution->own_staging = staging;
        DT__TRY(status);
    }
    execution->exchange = describe_exchange(execution);
    execution->exchange.src = staging ? staging : execution->src.at;
    execution->exchange.src_bytes = (size_t)(staging ? execution->executor->staged_bytes : from->bytes);
    execution->exchange.src_strides = dense || staging ? NULL : execution->src.strides;
    execution->exchange.n_strides = from->n_dims;
    execution->exchange.fill = staging ? fill_staging : NULL;
    execution->exchange.n_rounds = count_rounds;
    execution->exchange.dst = two_phases && to->elements ? execution->dst : NULL;
    execution->exchange.steps[0] = dt__execution_pull_blocks;
    execution->exchange.steps[1] = two_phases ? dt__execution_pull_portions : NULL;
    execution->exchange.user = execution;
    return DT_OK;
}

dt__message_part dt__execution_part(const dt__execution *execution) {
    const dt__carried_move *carried = execution->prepared->carried;
    return (dt__message_part){.messages = &carried->messages,
                              .dtype = execution->to->dtype,
                              .reduce = carried->reduce,
                              .divisor = carried->divisor,
                              .src = execution->src,
                              .src_is_dense = is_dense(&execution->from->local, execution->src.strides),
                              .dst = execution->dst,
                              .dst_strides = execution->to->local.strides};
}

/* Packs what the collective carries. */
static dt_status begin_carrying(dt__execution *execution) {
    const dt__carried_move *carried = execution->prepared->carried;
    execution->exchange = describe_exchange(execution);
    execution->part = dt__execution_part(execution);
    execution->transfer = (dt__message_transfer){.ctx = execution->executor->ctx,
                                                 .n = 1,
                                                 .parts = &execution->part,
                                                 .n_members = carried->messages.n_members,
                                                 .op = carried->op,
                                                 .reduce = carried->reduce};
    return dt__transfer_begin(&execution->transfer);
}

/* Unpacks it, and counts what was received. */
static dt_status end_carrying(dt__execution *execution, dt_status status) {
    status = dt__transfer_end(&execution->transfer, status);
    if (status == DT_OK)
        execution->executor->stats.bytes_received += execution->prepared->carried->messages.received_bytes;
    return status;
}

static dt_status run_carried(dt__execution *execution) {
    DT__TRY(begin_carrying(execution));
    return end_carrying(execution,
                        dt__carry_run(execution->prepared->group, &execution->exchange, &execution->transfer.call));
}

static dt_status refuse_null(const dt__execution *execution, const char *which, int64_t bytes) {
    return dt__fail_local(execution->executor->ctx, DT_ERR_VALUE,
                          "redistribute: %s: expected memory of %lld bytes, got NULL", which, (long long)bytes);
}

void dt__execution_open(dt__execution *execution, dt__executor *executor, dt__prepared_move *prepared,
                        const dt__redistribution *request) {
    execution->executor = executor;
    execution->prepared = prepared;
    execution->from = prepared->pair.from;
    execution->to = prepared->pair.to;
    execution->src = (dt__shard_memory){request->src,
                                        request->src_strides ? request->src_strides : execution->from->local.strides};
    execution->dst = request->dst;
    execution->copied_src = execution->copied_dst = execution->final_dst = execution->own_staging = NULL;
    execution->staging = NULL;
    execution->work = NULL;
    execution->status = DT_OK;
    execution->listed = NULL;
    prepared->n_users++;
}

dt_status dt__execution_check_memory(const dt__execution *execution) {
    if (!has_data(execution))
        return DT_OK;
    if (!execution->src.at && execution->from->local.elements)
        return refuse_null(execution, "src", execution->from->local.bytes);
    if (!execution->dst && execution->to->local.elements)
        return refuse_null(execution, "dst", execution->to->local.bytes);
    return DT_OK;
}

/* No other rank takes part. */
dt_status dt__execution_run_locally(dt__execution *execution) {
    if (!has_data(execution) || (execution->src.at == execution->dst && execution->from == execution->to))
        return DT_OK;
    return dt__execution_pull_blocks(NULL, execution);
}

dt_status dt__execution_close(dt__execution *execution, dt_status status) {
    dt_ctx *ctx = execution->executor->ctx;
    int64_t bytes = execution->to->local.bytes, one = 1;
    if (status == DT_OK && execution->copied_dst)
        dt__spread_copy(dt__rank_kernels(ctx), dt__pool_of(ctx),
                        &(dt__strided){execution->final_dst, execution->copied_dst, 1, 1, &bytes, &one, &one},
                        DT__CACHED);
    (void)dt_heap_free(ctx, execution->copied_src);
    (void)dt_heap_free(ctx, execution->copied_dst);
    (void)dt_heap_free(ctx, execution->own_staging);
    execution->copied_src = execution->copied_dst = execution->own_staging = NULL;
    execution->executor->stats.n_exchanges += status == DT_OK && execution->prepared->group && !execution->listed;
    execution->prepared->n_users--;
    return status;
}

static dt_status run_exchange(dt__executor *executor, dt__prepared_move *prepared,
                              const dt__redistribution *request) {
    dt__execution execution;
    dt__execution_open(&execution, executor, prepared, request);
    dt_status status = dt__execution_check_memory(&execution);
    if (status == DT_OK)
        status = dt__prepared_move_refresh(executor, prepared);
    if (status == DT_OK && prepared->carried) {
        status = run_carried(&execution);
    } else if (status == DT_OK && prepared->group) {
        status = fill_exchange(&execution);
        if (status == DT_OK)
            status = dt__exchange_run(prepared->group, &execution.exchange);
    } else if (status == DT_OK) {
        status = dt__execution_run_locally(&execution);
    }
    return dt__execution_close(&execution, status);
}

static const dt__machine *machine_of(const dt__redistribution *request, const dt_ctx *ctx) {
    return request->machine ? request->machine : ctx->machine;
}

/* One step of a plan of several: from src, of the first step request->src, to dst. */
static dt_status run_step(dt__executor *executor, const dt__prepared_move *whole, int i,
                          const dt__redistribution *request, const void *src, void *dst) {
    bool first = i == 0;
    dt__spec_pair pair = whole->pair;
    dt__prepared_move *prepared;
    pair.from = whole->stops[i];
    pair.to = whole->stops[i + 1];
    pair.planner = DT__PLANNER_STEP;
    pair.machine = machine_of(request, executor->ctx);
    DT__TRY(dt__prepare(executor, &pair, &prepared));
    return run_exchange(executor, prepared,
                        &(dt__redistribution){
                            .src = first ? request->src : src,
                            .src_strides = first ? request->src_strides : NULL,
                            .dst = dst,
                        });
}

static dt_status run_steps(dt__executor *executor, dt__prepared_move *whole, const dt__redistribution *request) {
    int n_steps = whole->n_stops - 1;
    void *src = NULL, *dst = NULL;
    dt_status status = DT_OK;
    whole->n_users++;
    for (int i = 0; i < n_steps && status == DT_OK; i++) {
        size_t bytes = (size_t)whole->stops[i + 1]->local.bytes;
        dst = i + 1 == n_steps ? request->dst : bytes ? dt_heap_alloc(executor->ctx, bytes) : NULL;
        status = bytes && !dst && i + 1 < n_steps ? DT_ERR_MEMORY : DT_OK;
        if (status == DT_OK)
            status = run_step(executor, whole, i, request, src, dst);
        if (src)
            dt_heap_free(executor->ctx, src);
        src = dst;
    }
    if (status != DT_OK && src && src != request->dst)
        dt_heap_free(executor->ctx, src);
    whole->n_users--;
    return status;
}

dt_collective dt__collective_of_step(dt__step_kind kind) {
    static const dt_collective collective_of[DT__N_STEP_KINDS] = {
        [DT__STEP_ALL_GATHER] = DT_ALL_GATHER,
        [DT__STEP_ALL_REDUCE] = DT_ALL_REDUCE,
        [DT__STEP_REDUCE_SCATTER] = DT_REDUCE_SCATTER,
        [DT__STEP_ALL_TO_ALL] = DT_ALL_TO_ALL,
    };
    return collective_of[kind];
}

static bool is_reported(const dt_ctx *ctx) { return ctx->move_observer || ctx->log_level >= DT_LOG_INFO; }

dt__run_start dt__run_begin(const dt__executor *executor) {
    if (!is_reported(executor->ctx))
        return (dt__run_start){0};
    return (dt__run_start){dt__clock_us(executor->ctx), executor->stats.bytes_received};
}

static void report(const dt__executor *executor, const dt__prepared_move *prepared, dt__run_start start,
                   bool repeats) {
    dt_ctx *ctx = executor->ctx;
    dt__redistribution_report out = {.from = prepared->pair.from,
                                     .to = prepared->pair.to,
                                     .planner = (dt__planner)prepared->pair.planner,
                                     .bytes = executor->stats.bytes_received - start.bytes,
                                     .begin_us = start.us,
                                     .end_us = dt__clock_us(ctx)};
    for (int i = DT__STEP_NONE + 1; i < DT__N_STEP_KINDS && !repeats; i++)
        out.collectives[dt__collective_of_step((dt__step_kind)i)] += prepared->counts.of[i];
    if (ctx->move_observer)
        ctx->move_observer->redistribution(ctx, &out);
    dt__log_redistribution(ctx, &out);
}

void dt__run_count(dt__executor *executor, const dt__prepared_move *prepared, dt__run_start start, bool repeats) {
    executor->stats.n_runs++;
    dt__clock_advance(executor->ctx, prepared->cost_us);
    for (int i = 0; i < DT__N_STEP_KINDS && !repeats; i++)
        executor->stats.collectives[i] += prepared->counts.of[i];
    if (is_reported(executor->ctx))
        report(executor, prepared, start, repeats);
}

static dt_status find_prepared(const dt__redistribution *request, dt__executor **executor, dt__prepared_move **out) {
    if (!request->from || !request->to)
        return DT_ERR_STATE;
    dt_ctx *ctx = request->from->ctx;
    if (!dt__transport_name(ctx))
        return dt__fail(ctx, DT_ERR_STATE, "redistribute: the context has no transport");
    *executor = dt__executor_of(ctx);
    if (!*executor)
        return DT_ERR_MEMORY;
    dt__spec_pair pair = {
        .from = request->from,
        .to = request->to,
        .planner = (int)request->planner,
        .machine = machine_of(request, ctx),
        .in_place = request->in_place,
        .counts = request->counts,
    };
    return dt__prepare(*executor, &pair, out);
}

dt_status dt__redistribute_run(const dt__redistribution *request) {
    dt__executor *executor;
    dt__prepared_move *prepared;
    DT__TRY(find_prepared(request, &executor, &prepared));
    if (!prepared->takes_part)
        return DT_OK;
    prepared->n_users++;
    dt__run_start start = dt__run_begin(executor);
    dt_status status =
        prepared->n_stops ? run_steps(executor, prepared, request) : run_exchange(executor, prepared, request);
    if (status == DT_OK)
        dt__run_count(executor, prepared, start, false);
    prepared->n_users--;
    return status;
}

/* Starts an exchange; a move without one is run at once. */
static dt_status start(dt__execution *execution, const dt__redistribution *request) {
    dt__prepared_move *prepared = execution->prepared;
    if (!prepared->takes_part)
        return DT_OK;
    if (prepared->n_stops)
        return run_steps(execution->executor, prepared, request);
    DT__TRY(dt__execution_check_memory(execution));
    DT__TRY(dt__prepared_move_refresh(execution->executor, prepared));
    if (!prepared->group)
        return dt__execution_run_locally(execution);
    if (prepared->carried) {
        DT__TRY(begin_carrying(execution));
        execution->work = dt__carry_start(prepared->group, &execution->exchange, &execution->transfer.call);
        return execution->work ? DT_OK : end_carrying(execution, dt_error_status(execution->executor->ctx));
    }
    DT__TRY(fill_exchange(execution));
    execution->work = dt__exchange_start(prepared->group, &execution->exchange);
    return execution->work ? DT_OK : execution->executor->ctx->status;
}

static void keep_strides(dt__execution *execution, const dt__redistribution *request) {
    int n = execution->from->local.n_dims;
    if (!request->src_strides || !n)
        return;
    memcpy(execution->strides, request->src_strides, (size_t)n * sizeof *execution->strides);
    execution->src.strides = execution->strides;
}

dt__execution *dt__redistribute_start(const dt__redistribution *request) {
    dt__executor *executor;
    dt__prepared_move *prepared;
    if (find_prepared(request, &executor, &prepared) != DT_OK)
        return NULL;
    dt__execution *execution = dt__alloc(executor->ctx, sizeof *execution);
    if (!execution) {
        dt__fail_memory(executor->ctx, sizeof *execution, "a started redistribution");
        return NULL;
    }
    dt__execution_open(execution, executor, prepared, request);
    keep_strides(execution, request);
    dt_status status = start(execution, request);
    if (status != DT_OK) {
        dt__execution_close(execution, status);
        dt__free(executor->ctx, execution, sizeof *execution);
        return NULL;
    }
    execution->next = executor->started;
    executor->started = execution;
    return execution;
}

/* The exchange is over: takes its status. */
static void finish(dt__execution *execution) {
    dt_work *work = execution->work;
    execution->work = NULL;
    execution->status = dt_work_wait(work);
    if (execution->prepared->carried)
        execution->status = end_carrying(execution, execution->status);
}

dt_status dt__redistribute_test(dt__execution *execution) {
    if (!execution)
        return DT_ERR_STATE;
    if (execution->work && dt_work_test(execution->work) == DT_IN_PROGRESS)
        return DT_IN_PROGRESS;
    if (execution->work)
        finish(execution);
    return execution->status;
}

dt_status dt__redistribute_wait(dt__execution *execution) {
    if (!execution)
        return DT_ERR_STATE;
    dt__executor *executor = execution->executor;
    dt__prepared_move *prepared = execution->prepared;
    dt__run_start start = dt__run_begin(executor);
    if (execution->work)
        finish(execution);
    dt__execution **link = &executor->started;
    while (*link != execution)
        link = &(*link)->next;
    *link = execution->next;
    if (execution->status == DT_OK && prepared->takes_part)
        dt__run_count(executor, prepared, start, false);
    dt_status status = dt__execution_close(execution, execution->status);
    dt__free(executor->ctx, execution, sizeof *execution);
    return status;
}

void dt__executions_end(dt__executor *executor) {
    while (executor->started)
        dt__redistribute_wait(executor->started);
}

dt__redistribute_stats dt__redistribute_statistics(const dt_ctx *ctx) {
    const dt__executor *executor = ctx->slots[DT__SLOT_MOVE].state;
    return executor ? executor->stats : (dt__redistribute_stats){0};
}
