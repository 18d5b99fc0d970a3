/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes messages: packs blocks one after the other, and finds which messages are the memory of the tensor as it is.
 */
#include "move/messages.h"

#include "base/size.h"
#include "spec/spec.h"

#include <string.h>

dt_status dt__messages_begin(dt__messages_builder *self) {
    dt__messages *out = self->out;
    out->sent.bytes = DT__NEW_ARRAY(self->arena, int64_t, out->n_members);
    out->received.bytes = DT__NEW_ARRAY(self->arena, int64_t, out->n_members);
    out->sent.n_sources = out->received.n_sources = 1;
    return out->sent.bytes && out->received.bytes ? DT_OK : DT_ERR_MEMORY;
}

static int64_t positions(const dt__block *block, int d) {
    int64_t n = 0;
    for (int64_t i = 0; i < block->n_pieces[d]; i++)
        n += block->pieces[d][i].size * block->pieces[d][i].n;
    return n;
}

/* A copy of a block. One side may be packed: its positions along each dim are then consecutive. */
enum packed_side { PACKED_NONE, PACKED_SRC, PACKED_DST };

static dt__piece pack_piece(dt__piece piece, enum packed_side side, int64_t at) {
    if (side == PACKED_SRC) {
        piece.src = at;
        piece.src_step = piece.size;
    } else if (side == PACKED_DST) {
        piece.dst = at;
        piece.dst_step = piece.size;
    }
    return piece;
}

static dt_status copy_block(dt__messages_builder *self, const dt__block *block, enum packed_side side,
                            dt__block *out) {
    int n_dims = self->out->n_dims;
    const dt__piece **pieces = DT__NEW_ARRAY(self->arena, const dt__piece *, n_dims + 1);
    int64_t *n_pieces = DT__NEW_ARRAY(self->arena, int64_t, n_dims + 1);
    if (!pieces || !n_pieces)
        return DT_ERR_MEMORY;
    for (int d = 0; d < n_dims; d++) {
        dt__piece *list = DT__NEW_ARRAY(self->arena, dt__piece, block->n_pieces[d]);
        int64_t at = 0;
        if (!list)
            return DT_ERR_MEMORY;
        for (int64_t i = 0; i < block->n_pieces[d]; i++) {
            list[i] = pack_piece(block->pieces[d][i], side, at);
            at += list[i].size * list[i].n;
        }
        pieces[d] = list;
        n_pieces[d] = block->n_pieces[d];
        self->out->bytes += block->n_pieces[d] * (int64_t)sizeof *list;
    }
    *out = (dt__block){.elements = block->elements, .pieces = pieces, .n_pieces = n_pieces};
    self->out->bytes += (int64_t)sizeof *out + 6 * n_dims * (int64_t)sizeof(int64_t);
    return DT_OK;
}

static const int64_t *packed_strides(dt__messages_builder *self, const dt__block *block) {
    int n_dims = self->out->n_dims, order[DT_SPEC_MAX_DIMS];
    int64_t shape[DT_SPEC_MAX_DIMS], *strides = DT__NEW_ARRAY(self->arena, int64_t, n_dims + 1);
    dt__stride_order_row_major(n_dims, order);
    for (int d = 0; d < n_dims; d++)
        shape[d] = positions(block, d);
    if (strides) /* there is a tensor of this size, so that nothing overflows */
        (void)dt__dense_strides(n_dims, shape, self->order ? self->order : order, strides);
    return strides;
}

static dt_status grow_side(dt__messages_builder *self, dt__message_side *side) {
    int64_t capacity = 2 * side->capacity + 4, n = side->n_blocks;
    if (n < side->capacity)
        return DT_OK;
    dt__block *blocks = DT__NEW_ARRAY(self->arena, dt__block, capacity);
    const int64_t **at = DT__NEW_ARRAY(self->arena, const int64_t *, capacity);
    const int64_t **packed = DT__NEW_ARRAY(self->arena, const int64_t *, capacity);
    if (!blocks || !at || !packed)
        return DT_ERR_MEMORY;
    if (n) {
        memcpy(blocks, side->blocks, (size_t)n * sizeof *blocks);
        memcpy(at, side->at, (size_t)n * sizeof *at);
        memcpy(packed, side->packed, (size_t)n * sizeof *packed);
    }
    side->blocks = blocks;
    side->at = at;
    side->packed = packed;
    side->capacity = capacity;
    return DT_OK;
}

/* Appends a block, whose places are set by the caller: NULL without memory. */
static int64_t *append(dt__messages_builder *self, dt__message_side *side, dt__block *block, int n,
                       const int64_t *members, const int64_t *packed) {
    int64_t *at = DT__NEW_ARRAY(self->arena, int64_t, n);
    block->members = dt__arena_copy(self->arena, members, (size_t)n, sizeof *members);
    if (!at || !packed || !block->members || grow_side(self, side) != DT_OK)
        return NULL;
    side->blocks[side->n_blocks] = *block;
    side->at[side->n_blocks] = at;
    side->packed[side->n_blocks++] = packed;
    return at;
}

/* At the end of the messages of its members. */
static dt_status append_packed(dt__messages_builder *self, dt__message_side *side, dt__block *block, int n,
                               const int64_t *members, const int64_t *packed) {
    int64_t *at = append(self, side, block, n, members, packed);
    for (int i = 0; at && i < n; i++) {
        at[i] = side->bytes[members[i]];
        side->bytes[members[i]] += block->elements * self->out->item_bytes;
    }
    return at ? DT_OK : DT_ERR_MEMORY;
}

dt_status dt__messages_add(dt__messages_builder *self, dt__message_side *side, int64_t member, const dt__block *block,
                           const int64_t *packed) {
    dt__block copy;
    DT__TRY(copy_block(self, block, PACKED_NONE, &copy));
    packed = dt__arena_copy(self->arena, packed, (size_t)self->out->n_dims, sizeof *packed);
    return append(self, side, &copy, 1, &member, packed) ? DT_OK : DT_ERR_MEMORY;
}

dt_status dt__messages_visit(dt__messages_builder *self, int64_t receiver, int n_sources, const dt__block *block) {
    dt__messages *out = self->out;
    dt__block copy;
    for (int i = 0; i < n_sources; i++)
        if (block->members[i] == out->own) {
            DT__TRY(copy_block(self, block, PACKED_DST, &copy));
            DT__TRY(append_packed(self, &out->sent, &copy, 1, &receiver, packed_strides(self, block)));
        } else if (receiver == out->own) {
            out->received_bytes += block->elements * out->item_bytes;
        }
    if (receiver != out->own)
        return DT_OK;
    out->received.n_sources = n_sources;
    DT__TRY(copy_block(self, block, PACKED_SRC, &copy));
    return append_packed(self, &out->received, &copy, n_sources, block->members, packed_strides(self, block));
}

/* Whether a block is in the message where it is in the tensor's memory: the message begins `before` bytes after the
 * first one. */
static bool is_in_place(const dt__messages *self, const dt__message_side *side, int64_t b, int64_t before,
                        const int64_t *strides, bool is_sent) {
    const dt__block *block = &side->blocks[b];
    int64_t first = 0, packed_first = 0;
    for (int d = 0; d < self->n_dims; d++) {
        const dt__piece *piece = block->pieces[d];
        if (block->n_pieces[d] != 1 || piece->n != 1 || (piece->size > 1 && side->packed[b][d] != strides[d]))
            return false;
        first += (is_sent ? piece->src : piece->dst) * strides[d];
        packed_first += (is_sent ? piece->dst : piece->src) * side->packed[b][d];
    }
    return before + side->at[b][0] + packed_first * self->item_bytes == first * self->item_bytes;
}

static bool is_all_used(const dt__messages *self, const dt__message_side *side) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < (side->is_one ? 1 : self->n_members); i++)
        bytes += side->bytes[i];
    for (int64_t b = 0; b < side->n_blocks; b++)
        bytes -= side->blocks[b].elements * self->item_bytes;
    return bytes == 0;
}

static void find_in_place(const dt__messages *self, dt__message_side *side, const int64_t *strides, bool is_sent) {
    side->in_place = side->n_sources == 1 && is_all_used(self, side);
    for (int64_t b = 0; b < side->n_blocks && side->in_place; b++) {
        int64_t before = 0;
        for (int64_t i = 0; i < side->blocks[b].members[0] && !side->is_one; i++)
            before += side->bytes[i];
        side->in_place = is_in_place(self, side, b, before, strides, is_sent);
    }
}

static void remove_own(const dt__messages *self, dt__message_side *side) {
    int64_t n = 0;
    for (int64_t b = 0; b < side->n_blocks; b++)
        if (side->blocks[b].members[0] != self->own) {
            side->blocks[n] = side->blocks[b];
            side->at[n] = side->at[b];
            side->packed[n++] = side->packed[b];
        }
    side->n_blocks = n;
    side->bytes[self->own] = 0;
}

/* What this rank would send to itself is copied once instead of twice. The blocks are in the same order on both
 * sides. */
static dt_status keep_own(dt__messages_builder *self) {
    dt__messages *out = self->out;
    int64_t n = 0, received = 0;
    for (int64_t b = 0; b < out->sent.n_blocks; b++)
        n += out->sent.blocks[b].members[0] == out->own;
    if (!(out->kept = DT__NEW_ARRAY(self->arena, dt__block, n + 1)))
        return DT_ERR_MEMORY;
    for (int64_t b = 0; b < out->sent.n_blocks; b++) {
        const dt__block *sent = &out->sent.blocks[b];
        if (sent->members[0] != out->own)
            continue;
        while (out->received.blocks[received].members[0] != out->own)
            received++;
        dt__block *kept = &out->kept[out->n_kept++];
        *kept = out->received.blocks[received++];
        for (int d = 0; d < out->n_dims; d++)
            for (int64_t i = 0; i < kept->n_pieces[d]; i++) {
                dt__piece *piece = (dt__piece *)&kept->pieces[d][i]; /* made by copy_block */
                piece->src = sent->pieces[d][i].src;
                piece->src_step = sent->pieces[d][i].src_step;
            }
    }
    remove_own(out, &out->sent);
    remove_own(out, &out->received);
    return DT_OK;
}

static dt_status find_chunks(dt__messages_builder *self, int64_t n_blocks, const dt__block *blocks, int n_sources,
                             const int64_t *strides, int n_threads, dt__chunks *out) {
    return dt__chunks_new(self->arena,
                          &(dt__chunk_request){.n_dims = self->out->n_dims,
                                               .n_blocks = n_blocks,
                                               .blocks = blocks,
                                               .n_threads = n_threads,
                                               .bytes_read = n_sources * self->out->item_bytes,
                                               .dst_strides = strides},
                          out);
}

dt_status dt__messages_end(dt__messages_builder *self, const dt__messages_memory *memory) {
    dt__messages *out = self->out;
    dt__message_side *sent = &out->sent, *received = &out->received;
    find_in_place(out, sent, memory->src_strides, true);
    find_in_place(out, received, memory->dst_strides, false);
    bool copies_twice = !sent->in_place && !received->in_place && received->n_sources == 1;
    if (copies_twice && !sent->is_one && !received->is_one && sent->n_blocks && received->n_blocks)
        DT__TRY(keep_own(self));
    if (sent->n_blocks)
        DT__TRY(
            find_chunks(self, sent->n_blocks, sent->blocks, 1, sent->packed[0], memory->n_threads, &sent->chunks));
    DT__TRY(find_chunks(self, received->n_blocks, received->blocks, received->n_sources, memory->dst_strides,
                        memory->n_threads, &received->chunks));
    return find_chunks(self, out->n_kept, out->kept, 1, memory->dst_strides, memory->n_threads, &out->kept_chunks);
}
