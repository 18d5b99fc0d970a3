/* SPDX-License-Identifier: Apache-2.0
 *
 * The members of a group on this node as a group of its own, for the collectives on the node that are part of an
 * operation between nodes.
 */
#include "cluster/node_layout.h"
#include "cluster/spanning.h"

/* The channel of the members on one node depends on the group's own channel: a new one there means a new one here. */
dt_group *dt__node_group(dt_work *work) {
    dt_group *group = work->group, *node = group->on_node;
    dt__runtime *runtime = group->runtime;
    int64_t n = 0;
    if (node)
        return node;
    node = dt__alloc_zeroed(runtime->ctx, sizeof *node);
    int64_t *ranks = dt__alloc(runtime->ctx, (size_t)group->n_ranks * sizeof *ranks);
    if (!node || !ranks) {
        dt__free(runtime->ctx, node, sizeof *node);
        dt__free(runtime->ctx, ranks, (size_t)group->n_ranks * sizeof *ranks);
        return (void)dt__fail_memory(runtime->ctx, sizeof *node, "a group"), NULL;
    }
    *node = (dt_group){.ctx = group->ctx, .n_refs = 1, .runtime = runtime, .ranks = ranks, .epoch = group->epoch};
    for (int64_t i = 0; i < group->n_ranks; i++) {
        int64_t rank = dt__group_member(group, i);
        if (dt__is_remote(runtime, rank))
            continue;
        if (rank == runtime->ctx->rank)
            node->rank = n;
        ranks[n++] = rank;
    }
    node->n_ranks = n;
    group->on_node = node;
    if (n > 1 && !dt__channel_of_group(runtime->board, node, dt__hash_u64(work->channel->key, 5)))
        return NULL;
    return node;
}

void dt__node_group_release(dt__runtime *runtime, dt_group *group) {
    dt__node_layout_free(runtime->ctx, group->layout);
    group->layout = NULL;
    if (group->on_node) {
        dt_group *node = group->on_node;
        dt__channel_release_group(runtime, node);
        dt__free(runtime->ctx, node->ranks, (size_t)group->n_ranks * sizeof *node->ranks);
        dt__free(runtime->ctx, node, sizeof *node);
        group->on_node = NULL;
    }
}
