/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the memory of other NUMA nodes once per node. Without this, each of the m members on a node reads everything
 * that a broadcast, an all_gather or the second step of an all_reduce brings from other nodes, so that the same bytes
 * cross the link between nodes m times. With it, each reads an m-th part, and the other parts from its neighbours
 * (shm_collectives.c), which costs a second pass and a synchronisation. For f bytes from other nodes, a link of rate L
 * that the members of a node share, and copies of rate c by each member:
 *
 *     alone    max(m f / L, f / c)
 *     shared   max(f / L, f / (m c)) + (m - 1) f / (m c) + start
 *
 * L is a field of the machine model; where it is not known, members read alone. Bits do not depend on the decision: the
 * same values are copied, only along another way.
 */
#include "comm/shm.h"

#include "base/size.h"

#include <math.h>

bool dt__numa_sharing_pays(const dt__machine *machine, int64_t n_near, double far_bytes) {
    double link = machine->numa_bytes_per_us, copy = machine->copy_bytes_per_us, m = (double)n_near;
    if (link <= 0 || n_near < 2 || far_bytes <= 0)
        return false;
    double alone = fmax(m * far_bytes / link, far_bytes / copy);
    double first = fmax(far_bytes / link, far_bytes / (m * copy));
    return first + (m - 1) * far_bytes / (m * copy) + machine->within.start_us < alone;
}

static int32_t node_of(const dt__channel *channel, int64_t c) {
    return atomic_load_explicit(&channel->shm->segment->ranks[channel->ranks[c]].numa_node, memory_order_relaxed);
}

bool dt__is_near(const dt_work *work, int64_t c) {
    return node_of(work->channel, c) == node_of(work->channel, work->channel->me);
}

int64_t dt__list_near(const dt_work *work, int64_t *members) {
    const dt__channel *channel = work->channel;
    int64_t n = 0;
    for (int64_t k = 0; k < channel->n; k++) {
        int64_t c = (channel->me + k) % channel->n;
        if (dt__is_near(work, c))
            members[n++] = c;
    }
    return n;
}

/* A member whose node is not known may run anywhere: then no member counts as near. */
static void count_near(const dt_work *work) {
    dt__channel *channel = work->channel;
    int64_t n = 0, me = 0;
    for (int64_t c = 0; c < channel->n; c++) {
        if (!node_of(channel, c)) {
            n = 1;
            me = 0;
            break;
        }
        me += c < channel->me && dt__is_near(work, c);
        n += dt__is_near(work, c);
    }
    channel->n_near = n;
    channel->near_me = me;
}

/* The bytes that this rank needs from other nodes. The sizes of all blocks are known to all members. */
static double far_bytes(const dt_work *work) {
    const dt_comm_call *call = &work->call;
    int64_t n = work->group->n_ranks, far = 0;
    if (call->op == DT_BROADCAST)
        far = dt__is_near(work, dt__member(work, call->root)) ? 0 : call->count;
    for (int64_t i = 0; call->op == DT_ALL_GATHER && i < n; i++)
        far += dt__is_near(work, dt__member(work, i)) ? 0 : dt__block_size(call, i);
    if (call->op == DT_ALL_REDUCE)
        return (double)call->count * (double)work->item_bytes * (double)(n - work->channel->n_near) / (double)n;
    return (double)far * (double)work->item_bytes;
}

/* Small data is copied beside the header, and nothing of it is published elsewhere. */
static bool is_large(const dt_work *work) {
    bool shares =
        work->op == DT__WORK_BROADCAST || work->op == DT__WORK_ALL_GATHER || work->op == DT__WORK_ALL_REDUCE;
    return shares && dt__dst_count(work->group, &work->call) > (int64_t)(DT__EAGER_BYTES / work->item_bytes);
}

bool dt__shares_far_memory(const dt_work *work) {
    const dt__machine *machine = work->channel->shm->runtime->ctx->machine;
    if (machine->numa_bytes_per_us <= 0 || work->refused || !is_large(work))
        return false;
    if (!work->channel->n_near)
        count_near(work);
    return work->channel->n_near > 1 && dt__numa_sharing_pays(machine, work->channel->n_near, far_bytes(work));
}
