/* SPDX-License-Identifier: Apache-2.0
 *
 * Prepares and runs fetches of windows. A window of a tensor is a product of index lists, and so is what a peer holds
 * of it: a block (pull_list.h), which is copied as in a redistribution.
 */
#include "move/window_fetch.h"

#include "base/size.h"
#include "mesh/mesh.h"
#include "move/message_transfer.h"

#include <stdatomic.h>
#include <string.h>

static const dt__exchange_call window_call = {.name = "window"};

enum { STREAM_FROM_BYTES = 4 << 20 }; /* larger results bypass the caches */

/* One tensor of a fetch. */
typedef struct fetched {
    const dt_spec *from;
    const int64_t *dst_strides;
    bool is_same;         /* its shard is that of the tensor before */
    int n_dims, table_at; /* where its address and strides are among the words that a rank publishes */
    int64_t n_blocks, capacity, item_bytes, bytes;
    dt__block *blocks;
    dt__chunks chunks;
    dt__shard_memory *sources; /* per block, while it runs */
    dt__shard_memory own;      /* while it runs */
    char *dst;
    void *copied;          /* of its shard in the heap, while it runs; NULL */
    dt__messages messages; /* between nodes: in place of the blocks */
} fetched;

/* Messages between nodes that were started. */
typedef struct started {
    dt_work *work; /* NULL: none */
    dt__arena arena;
    dt__message_transfer transfer;
} started;

struct dt__fetch {
    dt_ctx *ctx;
    int n, n_words; /* tensors; words that a rank publishes */
    fetched *tensors;
    bool exchanges;
    bool spans_nodes;
    int64_t n_ranks, own; /* in mesh order; this rank among them */
    const int64_t *ranks;
    dt_group *group; /* made on first use */
    uint64_t tag, mesh_dims;
    int64_t *words;
    dt__fetch_cost cost; /* of the run */
    started started;
};

/* A fetch while it is prepared. */
typedef struct preparation {
    dt__arena *arena;
    const dt__fetch_request *request;
    dt__fetch *out;
    int64_t own[DT_SPEC_MAX_DIMS]; /* coordinate of this rank */
} preparation;

/* The ranks that take part, in mesh order. */
static dt_status list_ranks(preparation *self) {
    dt_mesh *mesh = self->request->mesh;
    dt__fetch *out = self->out;
    int n_dims = dt_mesh_n_dims(mesh);
    out->n_ranks = 1;
    for (int m = 0; m < n_dims; m++)
        out->n_ranks *= self->request->mesh_dims >> m & 1 ? dt_mesh_dim_size(mesh, m) : 1;
    int64_t *ranks = DT__NEW_ARRAY(self->arena, int64_t, out->n_ranks);
    if (!ranks)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < out->n_ranks; i++) {
        int64_t coordinate[DT_SPEC_MAX_DIMS], rest = i;
        bool is_own = true;
        memcpy(coordinate, self->own, sizeof coordinate);
        for (int m = n_dims - 1; m >= 0; m--)
            if (self->request->mesh_dims >> m & 1) {
                coordinate[m] = rest % dt_mesh_dim_size(mesh, m);
                rest /= dt_mesh_dim_size(mesh, m);
                is_own = is_own && coordinate[m] == self->own[m];
            }
        ranks[i] = dt_mesh_rank_at(mesh, coordinate);
        if (is_own)
            out->own = i;
    }
    out->ranks = ranks;
    return DT_OK;
}

/* The index of a coordinate among the ranks that take part. */
static int64_t member_of(const preparation *self, const int64_t *coordinate) {
    int64_t member = 0;
    for (int m = 0; m < dt_mesh_n_dims(self->request->mesh); m++)
        if (self->request->mesh_dims >> m & 1)
            member = member * dt_mesh_dim_size(self->request->mesh, m) + coordinate[m];
    return member;
}

/* Counts what a shard holds of a window in pieces, and writes them unless out is NULL. */
static int64_t list_pieces(const dt__shard *held, const dt__dim_window *window, dt__piece *out, int64_t *size) {
    dt__window_cursor at = {0};
    dt__window_piece piece;
    int64_t n = 0;
    *size = 0;
    if (window->is_own) {
        *size = held->size;
        if (out)
            out[0] = (dt__piece){.size = held->size, .n = 1, .dst = window->at};
        return held->size > 0;
    }
    for (; dt__window_next(held, window, &at, &piece); n++) {
        bool consecutive = piece.src_step == 1;
        *size += piece.n;
        if (out)
            out[n] = (dt__piece){.size = consecutive ? piece.n : 1,
                                 .n = consecutive ? 1 : piece.n,
                                 .src = piece.src,
                                 .dst = window->at + piece.dst,
                                 .src_step = piece.src_step,
                                 .dst_step = 1};
    }
    return n;
}

static dt_status add_block(preparation *self, fetched *to, const dt__block *block) {
    if (to->n_blocks == to->capacity) {
        int64_t capacity = 2 * to->capacity + 4;
        dt__block *blocks = DT__NEW_ARRAY(self->arena, dt__block, capacity);
        if (!blocks)
            return DT_ERR_MEMORY;
        if (to->n_blocks)
            memcpy(blocks, to->blocks, (size_t)to->n_blocks * sizeof *blocks);
        to->blocks = blocks;
        to->capacity = capacity;
    }
    to->blocks[to->n_blocks++] = *block;
    return DT_OK;
}

/* What the rank at a coordinate holds of the windows of a tensor. */
static dt_status visit_rank(preparation *self, const dt__fetched_tensor *tensor, const int64_t *coordinate,
                            fetched *to) {
    const dt__sharding *from = &tensor->from->sharding;
    int n_dims = from->n_dims;
    const dt__piece **pieces = DT__NEW_ARRAY(self->arena, const dt__piece *, n_dims + 1);
    int64_t *n_pieces = DT__NEW_ARRAY(self->arena, int64_t, n_dims + 1), size;
    int64_t *member = DT__NEW(self->arena, int64_t);
    dt__block block = {.elements = 1, .pieces = pieces, .n_pieces = n_pieces, .members = member};
    if (!pieces || !n_pieces || !member)
        return DT_ERR_MEMORY;
    for (int d = 0; d < n_dims; d++) {
        dt__shard held;
        dt__shard_at(from, d, coordinate, &held);
        n_pieces[d] = list_pieces(&held, &tensor->windows[d], NULL, &size);
        if (n_pieces[d] == 0)
            return DT_OK;
        dt__piece *list = DT__NEW_ARRAY(self->arena, dt__piece, n_pieces[d]);
        if (!list)
            return DT_ERR_MEMORY;
        list_pieces(&held, &tensor->windows[d], list, &size);
        pieces[d] = list;
        block.elements *= size;
    }
    dt_local local;
    dt__spec_local(tensor->from, coordinate, &local);
    block.shape = dt__arena_copy(self->arena, local.shape, (size_t)n_dims, sizeof *local.shape);
    block.strides = dt__arena_copy(self->arena, local.strides, (size_t)n_dims, sizeof *local.strides);
    block.shard_elements = local.elements;
    *member = member_of(self, coordinate);
    return !n_dims || (block.shape && block.strides) ? add_block(self, to, &block) : DT_ERR_MEMORY;
}

/* Each rank begins with its own shard and the next ones, so that they do not all read the same rank's memory at the
 * same time. */
static dt_status rotate_blocks(preparation *self, fetched *to) {
    int64_t first = 0;
    dt__block *rotated = DT__NEW_ARRAY(self->arena, dt__block, to->n_blocks + 1);
    to->sources = DT__NEW_ARRAY(self->arena, dt__shard_memory, to->n_blocks + 1);
    if (!rotated || !to->sources)
        return DT_ERR_MEMORY;
    while (first < to->n_blocks && to->blocks[first].members[0] < self->out->own)
        first++;
    for (int64_t i = 0; i < to->n_blocks; i++) {
        rotated[i] = to->blocks[(first + i) % to->n_blocks];
        to->bytes += rotated[i].elements * to->item_bytes;
    }
    to->blocks = rotated;
    return DT_OK;
}

/* Whether ranks along a mesh dim may hold what another of them needs: the mesh dim takes part and splits a dim that is
 * fetched. Replicas hold the same elements, and of other dims each rank uses only its own part. */
static bool is_walked(const preparation *self, const dt__fetched_tensor *tensor, int m) {
    const dt_placement *placement = &tensor->from->sharding.placements[m];
    return self->request->mesh_dims >> m & 1 && dt__is_cut(placement) && !tensor->windows[placement->dim].is_own;
}

/* Visits the ranks from which something may be fetched. */
static dt_status find_blocks(preparation *self, const dt__fetched_tensor *tensor, fetched *to) {
    const dt__sharding *from = &tensor->from->sharding;
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    bool walked[DT_SPEC_MAX_DIMS];
    memcpy(coordinate, self->own, sizeof coordinate);
    for (int m = 0; m < from->n_mesh_dims; m++) {
        walked[m] = is_walked(self, tensor, m);
        coordinate[m] = walked[m] ? 0 : coordinate[m];
    }
    for (bool more = true; more;) {
        DT__TRY(visit_rank(self, tensor, coordinate, to));
        more = false;
        for (int m = from->n_mesh_dims - 1; m >= 0 && !more; m--)
            if (walked[m]) {
                more = ++coordinate[m] < from->mesh[m];
                coordinate[m] = more ? coordinate[m] : 0;
            }
    }
    DT__TRY(rotate_blocks(self, to));
    return dt__chunks_new(self->arena,
                          &(dt__chunk_request){.n_dims = to->n_dims,
                                               .n_blocks = to->n_blocks,
                                               .blocks = to->blocks,
                                               .n_threads = self->arena->ctx->threads,
                                               .bytes_read = to->item_bytes,
                                               .dst_strides = to->dst_strides},
                          &to->chunks);
}

static bool spans_nodes(const dt__fetch *self) {
    for (int64_t i = 1; i < self->n_ranks; i++)
        if (dt__node_of(self->ctx, self->ranks[i]) != dt__node_of(self->ctx, self->ranks[0]))
            return true;
    return false;
}

/* Whether this rank's shard is the one that a rank at a coordinate would read. */
static bool is_holder(const preparation *self, const dt__fetched_tensor *tensor, const int64_t *coordinate) {
    for (int m = 0; m < tensor->from->sharding.n_mesh_dims; m++)
        if (!is_walked(self, tensor, m) && coordinate[m] != self->own[m])
            return false;
    return true;
}

/* What another rank needs of this one's shard. */
static dt_status visit_receiver(preparation *self, dt__messages_builder *messages, int64_t receiver,
                                const dt__fetched_tensor *tensor, const int64_t *coordinate) {
    fetched sent = {.n_blocks = 0};
    if (!is_holder(self, tensor, coordinate))
        return DT_OK;
    DT__TRY(visit_rank(self, tensor, self->own, &sent));
    return sent.n_blocks ? dt__messages_visit(messages, receiver, 1, sent.blocks) : DT_OK;
}

/* What all others need: their windows are in the scratch arena. */
static dt_status visit_receivers(preparation *self, dt__messages_builder *messages) {
    int n = self->request->n;
    for (int64_t i = 0; i < self->out->n_ranks; i++) {
        dt__arena_mark mark = dt__arena_begin(self->arena);
        dt__dim_window **windows = DT__NEW_ARRAY(self->arena, dt__dim_window *, n);
        int64_t coordinate[DT_SPEC_MAX_DIMS];
        if (!windows)
            return DT_ERR_MEMORY;
        if (i == self->out->own)
            continue;
        (void)dt_mesh_coordinate_of(self->request->mesh, self->out->ranks[i], coordinate);
        DT__TRY(self->request->windows_at(self->request->user, self->arena, coordinate, windows));
        for (int t = 0; t < n; t++) {
            dt__fetched_tensor tensor = self->request->tensors[t];
            tensor.windows = windows[t];
            DT__TRY(visit_receiver(self, &messages[t], i, &tensor, coordinate));
        }
        dt__arena_rewind(self->arena, mark);
    }
    return DT_OK;
}

/* Makes the messages of all tensors from the blocks of this rank and the windows of the others. */
static dt_status find_messages(preparation *self) {
    dt__fetch *out = self->out;
    dt__messages_builder *messages = DT__NEW_ARRAY(self->arena, dt__messages_builder, out->n);
    if (!messages)
        return DT_ERR_MEMORY;
    for (int t = 0; t < out->n; t++) {
        fetched *tensor = &out->tensors[t];
        tensor->messages = (dt__messages){
            .n_dims = tensor->n_dims, .n_members = out->n_ranks, .own = out->own, .item_bytes = tensor->item_bytes};
        messages[t] = (dt__messages_builder){.arena = self->arena, .out = &tensor->messages};
        DT__TRY(dt__messages_begin(&messages[t]));
        for (int64_t b = 0; b < tensor->n_blocks; b++)
            DT__TRY(dt__messages_visit(&messages[t], out->own, 1, &tensor->blocks[b]));
    }
    dt__arena scratch = dt__arena_new(self->arena->ctx), *kept = self->arena;
    self->arena = &scratch;
    dt_status status = visit_receivers(self, messages);
    self->arena = kept;
    dt__arena_free(&scratch);
    for (int t = 0; t < out->n && status == DT_OK; t++)
        status =
            dt__messages_end(&messages[t], &(dt__messages_memory){.src_strides = out->tensors[t].from->local.strides,
                                                                  .dst_strides = out->tensors[t].dst_strides,
                                                                  .n_threads = out->ctx->threads});
    return status;
}

dt_status dt__fetch_new(dt__arena *arena, const dt__fetch_request *request, dt__fetch **out) {
    preparation self = {.arena = arena, .request = request, .out = DT__NEW(arena, dt__fetch)};
    fetched *tensors = DT__NEW_ARRAY(arena, fetched, request->n);
    if (!self.out || !tensors)
        return DT_ERR_MEMORY;
    *self.out = (dt__fetch){.ctx = arena->ctx,
                            .n = request->n,
                            .tensors = tensors,
                            .exchanges = request->exchanges,
                            .tag = request->tag,
                            .mesh_dims = request->mesh_dims};
    (void)dt_mesh_coordinate(request->mesh, self.own);
    DT__TRY(list_ranks(&self));
    for (int i = 0; i < request->n; i++) {
        const dt__fetched_tensor *tensor = &request->tensors[i];
        tensors[i] = (fetched){.from = tensor->from,
                               .dst_strides = tensor->dst_strides,
                               .is_same = tensor->is_same,
                               .n_dims = tensor->from->sharding.n_dims,
                               .table_at = tensor->is_same ? tensors[i - 1].table_at : self.out->n_words,
                               .item_bytes = (int64_t)dt_dtype_size(tensor->from->dtype)};
        self.out->n_words += tensor->is_same ? 0 : 1 + tensors[i].n_dims;
        if (dt__transport_has_data(arena->ctx))
            DT__TRY(find_blocks(&self, tensor, &tensors[i]));
    }
    self.out->spans_nodes = request->exchanges && dt__has_nodes(arena->ctx) && spans_nodes(self.out);
    if (self.out->spans_nodes)
        DT__TRY(find_messages(&self));
    self.out->words = DT__NEW_ARRAY(arena, int64_t, self.out->n_words);
    *out = self.out;
    return self.out->words ? DT_OK : DT_ERR_MEMORY;
}

void dt__fetch_end(dt__fetch *fetch) {
    if (fetch)
        dt_group_release(fetch->group);
}

static dt_status find_group(dt__fetch *self) {
    if (self->group && !dt__group_is_stale(self->group))
        return DT_OK;
    dt_group *group = dt__group_new_for(self->ctx, self->ranks, self->n_ranks, 0);
    if (!group)
        return dt_error_status(self->ctx);
    dt_group_release(self->group);
    self->group = group;
    return DT_OK;
}

/* The extent of a strided shard in bytes, relative to its first element. */
static void extent_of(const fetched *tensor, const int64_t *shape, const int64_t *strides, int64_t *begin,
                      int64_t *end) {
    *begin = 0;
    *end = tensor->item_bytes;
    for (int d = 0; d < tensor->n_dims; d++) {
        int64_t bytes = (shape[d] - 1) * strides[d] * tensor->item_bytes;
        *(bytes < 0 ? begin : end) += bytes;
    }
}

/* Where a peer's shard is; at is NULL where it published an impossible address. */
static dt__shard_memory memory_of_peer(const dt__fetch *self, const dt_work *work, const fetched *tensor,
                                       const dt__block *block) {
    int64_t member = block->members[0], begin, end;
    const int64_t *words;
    if (!dt__exchange_strides(work, member, self->n_words, &words) || !words)
        return (dt__shard_memory){NULL, NULL};
    int64_t distance = words[tensor->table_at];
    const int64_t *strides = words + tensor->table_at + 1;
    extent_of(tensor, block->shape, strides, &begin, &end);
    const char *base = dt__exchange_src(work, member, distance + begin, (size_t)(end - begin));
    return (dt__shard_memory){base ? base + distance : NULL, strides};
}

/* The blocks of one tensor, which threads share. */
typedef struct shared_work {
    const dt__fetch *fetch;
    const fetched *tensor;
    _Atomic int64_t next; /* first chunk that no thread has taken */
} shared_work;

static dt__block_copier copier_of(const dt__fetch *self, const fetched *tensor, const void **at) {
    return (dt__block_copier){.kernels = dt__rank_kernels(self->ctx),
                              .dtype = tensor->from->dtype,
                              .item_bytes = (size_t)tensor->item_bytes,
                              .divisor = 1,
                              .store = tensor->bytes >= STREAM_FROM_BYTES ? DT__STREAM : DT__CACHED,
                              .dst = tensor->dst,
                              .dst_strides = tensor->dst_strides,
                              .n_sources = 1,
                              .at = at};
}

static void copy_chunks(void *arg, int64_t lane) {
    shared_work *self = arg;
    const void *at[2];
    dt__block_copier copier = copier_of(self->fetch, self->tensor, at);
    (void)lane;
    for (int64_t i; (i = self->next++) < self->tensor->chunks.n;) {
        const dt__chunk *chunk = &self->tensor->chunks.list[i];
        copier.sources = &self->tensor->sources[chunk->block];
        dt__copy_chunk(&copier, self->tensor->n_dims, &self->tensor->blocks[chunk->block], chunk);
    }
}

static void copy_blocks(const dt__fetch *self, const fetched *tensor) {
    const void *at[2];
    if (tensor->chunks.n) {
        dt__pool *pool = dt__pool_of(self->ctx);
        shared_work all = {self, tensor, 0};
        dt__pool_run(pool, dt__pool_threads(pool), copy_chunks, &all);
        return;
    }
    dt__block_copier copier = copier_of(self, tensor, at);
    for (int64_t b = 0; b < tensor->n_blocks; b++) {
        copier.sources = &tensor->sources[b];
        dt__copy_block(&copier, tensor->n_dims, &tensor->blocks[b]);
    }
}

/* The step of the exchange. work is NULL where no other rank takes part. */
static dt_status pull_windows(dt_work *work, void *user) {
    dt__fetch *self = user;
    for (int i = 0; i < self->n; i++) {
        fetched *tensor = &self->tensors[i];
        for (int64_t b = 0; b < tensor->n_blocks; b++) {
            const dt__block *block = &tensor->blocks[b];
            bool is_own = block->members[0] == self->own;
            self->cost.bytes += is_own ? 0 : block->elements * tensor->item_bytes;
            if (self->ctx->estimate)
                continue;
            tensor->sources[b] = is_own ? tensor->own : memory_of_peer(self, work, tensor, block);
            if (!tensor->sources[b].at)
                return dt__exchange_fail(work, block->members[0]);
        }
        if (!self->ctx->estimate)
            copy_blocks(self, tensor);
    }
    return DT_OK;
}

/* Makes sure that peers can read the shard: memory outside the heap is copied. */
static dt_status publish_shard(dt__fetch *self, fetched *tensor) {
    const dt_local *local = &tensor->from->local;
    int64_t begin, end;
    if (!local->elements)
        return DT_OK;
    extent_of(tensor, local->shape, tensor->own.strides, &begin, &end);
    if (dt__is_in_heap(self->ctx, tensor->own.at + begin, (size_t)(end - begin)))
        return DT_OK;
    tensor->copied = dt_heap_alloc(self->ctx, (size_t)local->bytes);
    if (!tensor->copied)
        return dt_error_status(self->ctx);
    dt__spread_copy(dt__rank_kernels(self->ctx), dt__pool_of(self->ctx),
                    &(dt__strided){tensor->copied, tensor->own.at, (size_t)tensor->item_bytes, tensor->n_dims,
                                   local->shape, local->strides, tensor->own.strides},
                    local->bytes >= STREAM_FROM_BYTES ? DT__STREAM : DT__CACHED);
    tensor->own = (dt__shard_memory){tensor->copied, local->strides};
    return DT_OK;
}

/* The messages of all tensors, packed for one collective. */
static dt_status pack_messages(dt__fetch *self, started *out) {
    dt__message_part *parts = DT__NEW_ARRAY(&out->arena, dt__message_part, self->n);
    out->transfer = (dt__message_transfer){
        .ctx = self->ctx, .n = self->n, .parts = parts, .n_members = self->n_ranks, .op = DT_ALL_TO_ALL};
    if (!parts)
        return DT_ERR_MEMORY;
    for (int i = 0; i < self->n; i++) {
        const fetched *tensor = &self->tensors[i];
        parts[i] = (dt__message_part){.messages = &tensor->messages,
                                      .dtype = tensor->from->dtype,
                                      .divisor = 1,
                                      .src = tensor->own,
                                      .dst = tensor->dst,
                                      .dst_strides = tensor->dst_strides};
        self->cost.bytes += tensor->messages.received_bytes;
    }
    return dt__transfer_begin(&out->transfer);
}

/* Between nodes: one all_to_all carries the windows. */
static dt_status start_messages(dt__fetch *self, struct dt__history *history) {
    started *out = &self->started;
    dt__exchange exchange = {.call = &window_call,
                             .tag = self->tag,
                             .histories = {history},
                             .n_histories = history ? 1 : 0,
                             .mesh_dims = dt__dims_met(history, self->mesh_dims)};
    out->arena = dt__arena_new(self->ctx);
    dt_status status = pack_messages(self, out);
    if (status == DT_OK) {
        out->work = dt__carry_start(self->group, &exchange, &out->transfer.call);
        status = out->work ? DT_OK : dt__transfer_end(&out->transfer, dt_error_status(self->ctx));
    }
    if (status != DT_OK)
        dt__arena_free(&out->arena);
    return status;
}

static dt_status wait_for_messages(started *self) {
    dt_status status = dt__transfer_end(&self->transfer, dt_work_wait(self->work));
    self->work = NULL;
    dt__arena_free(&self->arena);
    return status;
}

static dt_status start_exchange(dt__fetch *self, struct dt__history *history) {
    const char *base = NULL;
    int64_t elements = 0;
    DT__TRY(find_group(self));
    if (self->spans_nodes)
        return start_messages(self, history);
    for (int i = 0; i < self->n; i++) {
        fetched *tensor = &self->tensors[i];
        if (tensor->is_same) {
            tensor->own = self->tensors[i - 1].own;
            continue;
        }
        DT__TRY(publish_shard(self, tensor));
        elements += tensor->from->elements;
        if (!tensor->from->local.elements)
            continue;
        base = base ? base : tensor->own.at;
        self->words[tensor->table_at] = tensor->own.at - base;
        for (int d = 0; d < tensor->n_dims; d++)
            self->words[tensor->table_at + 1 + d] = tensor->own.strides[d];
    }
    dt__exchange exchange = {.call = &window_call,
                             .tag = self->tag,
                             .histories = {history},
                             .n_histories = history ? 1 : 0,
                             .mesh_dims = dt__dims_met(history, self->mesh_dims),
                             .dtype = self->tensors[0].from->dtype,
                             .count = elements,
                             .src = base,
                             .src_bytes = base ? 1 : 0,
                             .src_strides = self->words,
                             .n_strides = self->n_words,
                             .steps = {pull_windows},
                             .user = self};
    return dt__exchange_run(self->group, &exchange);
}

static void free_copies(dt__fetch *self) {
    for (int i = 0; i < self->n; i++)
        if (self->tensors[i].copied)
            (void)dt_heap_free(self->ctx, self->tensors[i].copied);
}

dt_status dt__fetch_start(dt__fetch *self, const dt__fetch_memory *memory, struct dt__history *history) {
    double begin_us = self->ctx->observer ? dt__clock_us(self->ctx) : 0;
    self->cost = (dt__fetch_cost){0};
    for (int i = 0; i < self->n; i++) {
        self->tensors[i].own = memory[i].src;
        self->tensors[i].dst = memory[i].dst;
        self->tensors[i].copied = NULL;
    }
    dt_status status = self->exchanges ? start_exchange(self, history) : pull_windows(NULL, self);
    free_copies(self);
    self->cost.us = self->ctx->observer ? dt__clock_us(self->ctx) - begin_us : 0;
    return status;
}

dt_status dt__fetch_wait(dt__fetch *self, dt__fetch_cost *out) {
    double begin_us = self->ctx->observer ? dt__clock_us(self->ctx) : 0;
    dt_status status = self->started.work ? wait_for_messages(&self->started) : DT_OK;
    *out = self->cost;
    out->us += self->ctx->observer ? dt__clock_us(self->ctx) - begin_us : 0;
    return status;
}
