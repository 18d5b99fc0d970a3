/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves data by one collective between ranks that cannot read each other's memory: packs the messages of one or several
 * tensors, one after the other for each member, fills in the call, and unpacks what has arrived. messages.h decides
 * what is sent where; a tensor that is already stored in the form of its messages is not copied.
 *
 * Temporary memory: the sent and received data that is copied.
 */
#ifndef DT_MOVE_MESSAGE_TRANSFER_H
#define DT_MOVE_MESSAGE_TRANSFER_H

#include "comm/comm.h"
#include "move/block_copy.h"
#include "move/messages.h"

/* One tensor of a transfer. */
typedef struct dt__message_part {
    const dt__messages *messages;
    const int64_t *members; /* numbers of its members in the group of the transfer; NULL: they are the same */
    dt_dtype dtype;
    dt_reduce reduce; /* of what is received, where a block has several sources */
    int64_t divisor;
    dt__shard_memory src;
    bool src_is_dense;
    char *dst;
    const int64_t *dst_strides;
} dt__message_part;

typedef struct dt__message_transfer {
    dt_ctx *ctx;
    int n;
    const dt__message_part *parts;
    int64_t n_members;
    dt_collective op;
    dt_reduce reduce; /* of the collective */
    /* What follows is set by dt__transfer_begin. */
    int64_t *counts[2]; /* of the call: elements that are sent and received, by member or in all */
    char *buffers[2];   /* in the heap; NULL: the tensor's own memory */
    char *packed; /* where messages are packed: in the buffer for sending, or, in place, for receiving; or NULL */
    dt_comm_call call;
} dt__message_transfer;

/* Packs and fills the call. The parts stay unchanged until the end. Local errors: memory. */
dt_status dt__transfer_begin(dt__message_transfer *self);
/* Unpacks after the call, unless it failed, and frees the memory; returns the status. */
dt_status dt__transfer_end(dt__message_transfer *self, dt_status status);

#endif
