/* SPDX-License-Identifier: Apache-2.0
 *
 * The second way to run a prepared move: by one collective of src/comm, for groups that span nodes, whose members have
 * no pointers into each other's memory. The specs and the machine model determine the collective, so all members choose
 * the same one:
 *
 *     all_reduce       every mesh dim that changes goes from a partial to Replicate
 *     reduce_scatter   every one goes from a partial to a shard
 *     all_gather       nothing is reduced, and it is cheaper that each node receives each shard once
 *     all_to_all       everything else: each rank is sent just what it lacks; it reduces what it has received
 *
 * The transport decides how these collectives run inside a node and between nodes.
 */
#ifndef DT_MOVE_CARRIED_MOVE_H
#define DT_MOVE_CARRIED_MOVE_H

#include "base/machine.h"
#include "move/message_transfer.h"
#include "move/pull_list.h"

typedef struct dt__carried_move {
    dt_collective op;
    dt_reduce reduce; /* of the collective, or of what is received by an all_to_all */
    int64_t divisor;  /* of the latter */
    dt__messages messages;
} dt__carried_move;

/* The request has the ranks that take part. */
dt_status dt__carried_move_new(dt__arena *arena, const dt__pull_request *request, const dt__machine *machine,
                               dt__carried_move *out);

#endif
