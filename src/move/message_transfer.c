/* SPDX-License-Identifier: Apache-2.0
 *
 * Packs and unpacks messages, with all threads of the rank where it is worth it.
 */
#include "move/message_transfer.h"

#include "base/size.h"

#include <stdatomic.h>
#include <string.h>

enum {
    STREAM_FROM_BYTES = 4 << 20, /* larger results bypass the caches */
    PART_BYTES = 16,             /* messages of several tensors are aligned to the largest element */
    LINE_BYTES = 64,
};

enum side { SENT, RECEIVED };

static const dt__message_side *side_of(const dt__messages *messages, enum side side) {
    return side == SENT ? &messages->sent : &messages->received;
}

/* Reductions need all elements of a message, and have one dtype. */
static int64_t padded(const dt__message_transfer *self, int64_t bytes) {
    bool pads = self->n > 1 && (self->op == DT_ALL_TO_ALL || self->op == DT_ALL_GATHER);
    return pads ? dt__ceil_div(bytes, PART_BYTES) * PART_BYTES : bytes;
}

/* Number of messages of a side: one for each member, or one. */
static int64_t n_messages(const dt__message_transfer *self, enum side side) {
    return side_of(self->parts[0].messages, side)->is_one ? 1 : self->n_members;
}

/* The message of a member for a part; -1: the part has no message of its own for it. */
static int64_t message_of(const dt__message_part *part, enum side side, int64_t member) {
    if (side_of(part->messages, side)->is_one)
        return 0;
    return part->members ? part->members[member] : member;
}

/* Where the messages of each part begin, per member: [part][member]; and the bytes of all. */
static int64_t place_messages(const dt__message_transfer *self, enum side side, int64_t *bytes, int64_t **at) {
    int64_t n = n_messages(self, side), total = 0;
    memset(bytes, 0, (size_t)n * sizeof *bytes);
    for (int p = 0; p < self->n; p++) {
        const dt__message_part *part = &self->parts[p];
        const dt__message_side *own = side_of(part->messages, side);
        for (int64_t i = 0; i < (own->is_one ? 1 : part->messages->n_members); i++) {
            int64_t message = message_of(part, side, i);
            at[p][i] = bytes[message];
            bytes[message] += padded(self, own->bytes[i]);
        }
    }
    for (int64_t message = 0; message < n; message++)
        total += bytes[message];
    for (int p = 0; p < self->n; p++) {
        const dt__message_part *part = &self->parts[p];
        int64_t before = 0, message = 0;
        for (int64_t i = 0; i < (side_of(part->messages, side)->is_one ? 1 : part->messages->n_members); i++) {
            for (; message < message_of(part, side, i); message++) /* members ascend */
                before += bytes[message];
            at[p][i] += before;
        }
    }
    return total;
}

/* Blocks of one part, which threads share. */
typedef struct block_copies {
    dt_ctx *ctx;
    const dt__message_part *part;
    int64_t n_blocks;
    const dt__block *blocks;
    const dt__chunks *chunks;
    int n_sources;
    dt__shard_memory *sources; /* n_sources per block */
    char **dst;                /* per block */
    const int64_t **dst_strides;
    dt__store store;
    unsigned char *lanes; /* per thread: pointers and scratch */
    size_t lane_bytes, scratch_at;
    _Atomic int64_t next; /* first chunk that no thread has taken */
} block_copies;

static dt__block_copier copier_of(const block_copies *self, int64_t b, int64_t lane) {
    unsigned char *at = self->lanes + (size_t)lane * self->lane_bytes;
    return (dt__block_copier){
        .kernels = dt__rank_kernels(self->ctx),
        .dtype = self->part->dtype,
        .item_bytes = (size_t)self->part->messages->item_bytes,
        .reduce = self->part->reduce,
        .divisor = self->part->divisor,
        .store = self->store,
        .dst = self->dst[b],
        .dst_strides = self->dst_strides[b],
        .n_sources = self->n_sources,
        .sources = self->sources + b * self->n_sources,
        .at = (const void **)at,
        .scratch = at + self->scratch_at,
    };
}

static void copy_chunks(void *arg, int64_t lane) {
    block_copies *self = arg;
    for (int64_t i; (i = self->next++) < self->chunks->n;) {
        const dt__chunk *chunk = &self->chunks->list[i];
        dt__block_copier copier = copier_of(self, chunk->block, lane);
        dt__copy_chunk(&copier, self->part->messages->n_dims, &self->blocks[chunk->block], chunk);
    }
}

static void copy_blocks(block_copies *self) {
    if (self->chunks->n) {
        dt__pool *pool = dt__pool_of(self->ctx);
        dt__pool_run(pool, dt__pool_threads(pool), copy_chunks, self);
        return;
    }
    for (int64_t b = 0; b < self->n_blocks; b++) {
        dt__block_copier copier = copier_of(self, b, 0);
        dt__copy_block(&copier, self->part->messages->n_dims, &self->blocks[b]);
    }
}

/* Memory for the copies of a part. */
static dt_status open_copies(block_copies *self, dt__arena *arena, int64_t bytes) {
    int64_t n_lanes = self->chunks->n ? self->ctx->threads : 1;
    self->scratch_at = (2 * (size_t)self->n_sources * sizeof(void *) + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    self->lane_bytes = self->scratch_at + (self->n_sources > 1 ? dt__copy_scratch_bytes(self->n_sources) : 0);
    self->sources = DT__NEW_ARRAY(arena, dt__shard_memory, self->n_blocks * self->n_sources);
    self->dst = DT__NEW_ARRAY(arena, char *, self->n_blocks);
    self->dst_strides = DT__NEW_ARRAY(arena, const int64_t *, self->n_blocks);
    self->lanes = dt__arena_alloc(arena, (size_t)n_lanes, self->lane_bytes);
    self->store = bytes >= STREAM_FROM_BYTES ? DT__STREAM : DT__CACHED;
    return self->sources && self->dst && self->dst_strides && self->lanes ? DT_OK : DT_ERR_MEMORY;
}

static block_copies copies_of(const dt__message_transfer *self, const dt__message_part *part,
                              const dt__message_side *side) {
    return (block_copies){.ctx = self->ctx,
                          .part = part,
                          .n_blocks = side->n_blocks,
                          .blocks = side->blocks,
                          .chunks = &side->chunks,
                          .n_sources = side->n_sources};
}

/* From the tensor to the messages. */
static dt_status pack(const dt__message_transfer *self, dt__arena *arena, const dt__message_part *part,
                      const int64_t *at) {
    const dt__message_side *side = &part->messages->sent;
    block_copies copies = copies_of(self, part, side);
    DT__TRY(open_copies(&copies, arena, 0));
    for (int64_t b = 0; b < side->n_blocks; b++) {
        copies.sources[b] = part->src;
        copies.dst[b] = self->packed + at[side->is_one ? 0 : side->blocks[b].members[0]] + side->at[b][0];
        copies.dst_strides[b] = side->packed[b];
    }
    copy_blocks(&copies);
    return DT_OK;
}

/* From the messages to the tensor, and what this rank keeps. */
static dt_status unpack(const dt__message_transfer *self, dt__arena *arena, const dt__message_part *part,
                        const int64_t *at) {
    const dt__messages *messages = part->messages;
    const dt__message_side *side = &messages->received;
    int64_t bytes = 0;
    for (int64_t i = 0; i < (side->is_one ? 1 : messages->n_members); i++)
        bytes += side->bytes[i] / side->n_sources;
    block_copies copies = copies_of(self, part, side);
    DT__TRY(open_copies(&copies, arena, bytes));
    for (int64_t b = 0; b < side->n_blocks; b++) {
        for (int i = 0; i < side->n_sources; i++)
            copies.sources[b * side->n_sources + i] = (dt__shard_memory){
                self->buffers[RECEIVED] + at[side->is_one ? 0 : side->blocks[b].members[i]] + side->at[b][i],
                side->packed[b]};
        copies.dst[b] = part->dst;
        copies.dst_strides[b] = part->dst_strides;
    }
    copy_blocks(&copies);
    return DT_OK;
}

static dt_status keep(const dt__message_transfer *self, dt__arena *arena, const dt__message_part *part) {
    const dt__messages *messages = part->messages;
    block_copies copies = {.ctx = self->ctx,
                           .part = part,
                           .n_blocks = messages->n_kept,
                           .blocks = messages->kept,
                           .chunks = &messages->kept_chunks,
                           .n_sources = 1};
    DT__TRY(open_copies(&copies, arena, 0));
    for (int64_t b = 0; b < messages->n_kept; b++) {
        copies.sources[b] = part->src;
        copies.dst[b] = part->dst;
        copies.dst_strides[b] = part->dst_strides;
    }
    copy_blocks(&copies);
    return DT_OK;
}

static int64_t **new_places(const dt__message_transfer *self, dt__arena *arena) {
    int64_t **at = DT__NEW_ARRAY(arena, int64_t *, self->n);
    for (int p = 0; at && p < self->n; p++)
        if (!(at[p] = DT__NEW_ARRAY(arena, int64_t, self->parts[p].messages->n_members)))
            return NULL;
    return at;
}

static bool is_in_place(const dt__message_transfer *self, enum side side) {
    const dt__message_part *part = &self->parts[0];
    return self->n == 1 && side_of(part->messages, side)->in_place && (side == RECEIVED || part->src_is_dense);
}

static void fill_call(dt__message_transfer *self) {
    int64_t *sent = self->counts[SENT], *received = self->counts[RECEIVED];
    bool reduces = self->op == DT_ALL_REDUCE || self->op == DT_REDUCE_SCATTER;
    int64_t item = reduces ? self->parts[0].messages->item_bytes : 1;
    for (int64_t i = 0; reduces && i < self->n_members; i++) {
        sent[i] /= item;
        received[i] /= item;
    }
    const char *src = self->packed;
    char *dst = self->buffers[RECEIVED];
    self->call = (dt_comm_call){
        .op = self->op,
        .dtype = reduces ? self->parts[0].dtype : DT_U8,
        .reduce = self->reduce,
        .src = src ? src : self->parts[0].src.at,
        .dst = dst ? dst : self->parts[0].dst,
        .count = sent[0],
        .counts = self->op == DT_ALL_REDUCE   ? NULL
                  : self->op == DT_ALL_GATHER ? received
                                              : sent,
        .recv_counts = self->op == DT_ALL_TO_ALL ? received : NULL,
    };
}

static dt_status new_buffer(dt__message_transfer *self, enum side side, int64_t bytes) {
    if (is_in_place(self, side) || !bytes)
        return DT_OK;
    self->buffers[side] = dt_heap_alloc(self->ctx, (size_t)bytes);
    return self->buffers[side] ? DT_OK : dt_error_status(self->ctx);
}

/* An all_reduce runs in place on what is packed. */
static dt_status new_buffers(dt__message_transfer *self, int64_t **at) {
    DT__TRY(new_buffer(self, RECEIVED, place_messages(self, RECEIVED, self->counts[RECEIVED], at)));
    int64_t sent = place_messages(self, SENT, self->counts[SENT], at);
    if (self->op == DT_ALL_REDUCE && !is_in_place(self, SENT)) {
        self->packed = self->buffers[RECEIVED] ? self->buffers[RECEIVED] : self->parts[0].dst;
        return DT_OK;
    }
    DT__TRY(new_buffer(self, SENT, sent));
    self->packed = self->buffers[SENT];
    return DT_OK;
}

static size_t counts_bytes(const dt__message_transfer *self) { return 2 * (size_t)self->n_members * sizeof(int64_t); }

static dt_status begin(dt__message_transfer *self, dt__arena *arena) {
    int64_t **at = new_places(self, arena);
    self->counts[0] = at ? dt__alloc(self->ctx, counts_bytes(self)) : NULL;
    if (!self->counts[0])
        return dt__fail_memory(self->ctx, counts_bytes(self), "the sizes of messages");
    memset(self->counts[0], 0, counts_bytes(self));
    self->counts[1] = self->counts[0] + self->n_members;
    DT__TRY(new_buffers(self, at));
    for (int p = 0; p < self->n && self->packed; p++)
        DT__TRY(pack(self, arena, &self->parts[p], at[p]));
    fill_call(self);
    return DT_OK;
}

static dt_status end(dt__message_transfer *self, dt__arena *arena) {
    int64_t **at = new_places(self, arena);
    if (!at)
        return DT_ERR_MEMORY;
    place_messages(self, RECEIVED, self->counts[RECEIVED], at);
    for (int p = 0; p < self->n; p++) {
        if (self->buffers[RECEIVED])
            DT__TRY(unpack(self, arena, &self->parts[p], at[p]));
        if (self->parts[p].messages->n_kept)
            DT__TRY(keep(self, arena, &self->parts[p]));
    }
    return DT_OK;
}

dt_status dt__transfer_begin(dt__message_transfer *self) {
    dt__arena arena = dt__arena_new(self->ctx);
    self->counts[0] = self->counts[1] = NULL;
    self->buffers[0] = self->buffers[1] = self->packed = NULL;
    dt_status status = begin(self, &arena);
    dt__arena_free(&arena);
    return status == DT_OK ? DT_OK : dt__transfer_end(self, status);
}

dt_status dt__transfer_end(dt__message_transfer *self, dt_status status) {
    if (status == DT_OK) {
        dt__arena arena = dt__arena_new(self->ctx);
        status = end(self, &arena);
        dt__arena_free(&arena);
    }
    (void)dt_heap_free(self->ctx, self->buffers[SENT]);
    (void)dt_heap_free(self->ctx, self->buffers[RECEIVED]);
    dt__free(self->ctx, self->counts[0], self->counts[0] ? counts_bytes(self) : 0);
    self->buffers[SENT] = self->buffers[RECEIVED] = NULL;
    self->counts[0] = NULL;
    return status;
}
