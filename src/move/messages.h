/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank sends to and receives from each member of a group in a move between nodes, where no rank reads another
 * one's memory. Pure arithmetic: blocks are visited receiver by receiver, in the order of each receiver's pull list,
 * which every rank can compute, so that sender and receiver agree on the place of a block in their message without
 * further communication. A block is *packed*: its elements are consecutive in the message.
 *
 * Each side has one of two layouts: a message for (or from) each member, as an all_to_all has on both sides, or one for
 * all, as an all_gather sends it and an all_reduce receives it.
 */
#ifndef DT_MOVE_MESSAGES_H
#define DT_MOVE_MESSAGES_H

#include "dtensor/comm.h"
#include "move/chunks.h"

/* A list of blocks between the tensor and the messages of one side. */
typedef struct dt__message_side {
    bool is_one;    /* one message for all members, number 0 */
    int64_t *bytes; /* of the message of each member, or of the one */
    int64_t n_blocks, capacity;
    int n_sources;      /* messages that a block is read from, and reduced; 1 where it is written */
    dt__block *blocks;  /* sent: from the source shard to the message. Received: from the message to the target */
    const int64_t **at; /* per block: for each source the first byte in its message; the members are the block's */
    const int64_t **packed; /* per block: strides of its elements in the message */
    dt__chunks chunks;
    bool in_place; /* the messages, one after the other, are the tensor's memory, where that is dense */
} dt__message_side;

typedef struct dt__messages {
    int n_dims;
    int64_t n_members, own, item_bytes;
    dt__message_side sent, received;
    int64_t n_kept, kept_capacity;
    dt__block *kept; /* from the source shard to the target, on this rank */
    dt__chunks kept_chunks;
    int64_t
        received_bytes; /* of other ranks' values; of a collective that reduces, as a direct exchange reads them */
    int64_t bytes;      /* approximate size of all of this */
} dt__messages;

/* Messages while they are made. */
typedef struct dt__messages_builder {
    dt__arena *arena; /* of what is kept */
    const int *order; /* dims of a packed block from the slowest on; NULL: row-major */
    dt__messages *out;
} dt__messages_builder;

dt_status dt__messages_begin(dt__messages_builder *self);
/* A block of a receiver's pull list with its sources; the blocks of a receiver are visited in order. */
dt_status dt__messages_visit(dt__messages_builder *self, int64_t receiver, int n_sources, const dt__block *block);
/* Adds a block as it is, whose indices in the message count from the message's first byte on, with these strides. The
 * caller sets the bytes of the messages of this side. */
dt_status dt__messages_add(dt__messages_builder *self, dt__message_side *side, int64_t member, const dt__block *block,
                           const int64_t *packed);

/* The memory on either side, for what follows. */
typedef struct dt__messages_memory {
    const int64_t *src_strides, *dst_strides; /* of the dense source and target */
    int n_threads;
} dt__messages_memory;
/* Finds what needs no copy and divides the rest into chunks. What a rank sends to itself alone, without a reduction, it
 * keeps. */
dt_status dt__messages_end(dt__messages_builder *self, const dt__messages_memory *memory);

#endif
