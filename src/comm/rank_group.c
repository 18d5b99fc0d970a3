/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups: a list of world ranks and this rank's index in it. Creating one is local; the state of the transport is
 * created by the first collective.
 */
#include "base/hash.h"
#include "base/size.h"
#include "comm/comm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool is_ascending(const int64_t *ranks, int64_t n) {
    for (int64_t i = 1; i < n; i++)
        if (ranks[i] <= ranks[i - 1])
            return false;
    return true;
}

static dt_status check_ranks(dt_ctx *ctx, const int64_t *ranks, int64_t n) {
    if (n < 1 || n > ctx->world || !ranks)
        return dt__fail(ctx, DT_ERR_VALUE, "number of ranks: expected 1 to %" PRId64 ", got %" PRId64, ctx->world, n);
    for (int64_t i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= ctx->world)
            return dt__fail(ctx, DT_ERR_VALUE, "rank at index %" PRId64 ": expected 0 to %" PRId64 ", got %" PRId64,
                            i, ctx->world - 1, ranks[i]);
    if (is_ascending(ranks, n))
        return DT_OK;
    int64_t *sorted = dt__alloc(ctx, (size_t)n * sizeof *sorted);
    if (!sorted)
        return dt__fail_memory(ctx, (size_t)n * sizeof *sorted, "a group");
    memcpy(sorted, ranks, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    int64_t twice = -1;
    for (int64_t i = 1; i < n && twice < 0; i++)
        if (sorted[i] == sorted[i - 1])
            twice = sorted[i];
    dt__free(ctx, sorted, (size_t)n * sizeof *sorted);
    if (twice >= 0)
        return dt__fail(ctx, DT_ERR_VALUE, "rank %" PRId64 " is listed twice", twice);
    return DT_OK;
}

static bool spans_nodes(const dt_group *group) {
    const int32_t *node_of = group->runtime->node_of;
    for (int64_t i = 1; node_of && i < group->n_ranks; i++)
        if (node_of[dt__group_member(group, i)] != node_of[dt__group_member(group, 0)])
            return true;
    return false;
}

static dt_group *add_to_runtime(dt_group *group) {
    dt__runtime *runtime = group->runtime;
    group->spans_nodes = spans_nodes(group);
    group->next = runtime->groups;
    if (group->next)
        group->next->previous = group;
    runtime->groups = group;
    return group;
}

static dt_group *new_group(dt_ctx *ctx, const int64_t *ranks, int64_t n) {
    dt_group *group = dt__alloc_zeroed(ctx, sizeof *group);
    if (!group)
        goto out_of_memory;
    *group = (dt_group){.ctx = ctx, .n_refs = 1, .runtime = dt__runtime_of(ctx), .n_ranks = n, .rank = -1};
    dt__life_begin(&group->life, ctx);
    group->epoch = group->runtime->epoch;
    group->order_hash = dt__hash_u64((uint64_t)n, 17);
    if (!ranks) {
        group->rank = ctx->rank;
        return add_to_runtime(group);
    }
    group->ranks = dt__alloc(ctx, (size_t)n * sizeof *ranks);
    if (!group->ranks)
        goto free_group;
    memcpy(group->ranks, ranks, (size_t)n * sizeof *ranks);
    group->order_hash = dt__hash(ranks, (size_t)n * sizeof *ranks, group->order_hash);
    for (int64_t i = 0; i < n; i++)
        if (ranks[i] == ctx->rank)
            group->rank = i;
    return add_to_runtime(group);

free_group:
    dt__free(ctx, group, sizeof *group);
out_of_memory:
    dt__fail_memory(ctx, sizeof *group + (size_t)n * sizeof *ranks, "a group");
    return NULL;
}

dt_group *dt_group_world_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "group_world", site);
    if (!ctx || !dt__runtime_of(ctx))
        return NULL;
    dt__runtime *runtime = dt__runtime_of(ctx);
    if (!runtime->world)
        runtime->world = new_group(ctx, NULL, ctx->world);
    return runtime->world;
}

static bool is_identity(const dt_ctx *ctx, const int64_t *ranks, int64_t n) {
    bool same = n == ctx->world;
    for (int64_t i = 0; same && i < n; i++)
        same = ranks[i] == i;
    return same;
}

dt_group *dt__group_new_for(dt_ctx *ctx, const int64_t *ranks, int64_t n_ranks, uint64_t origin) {
    if (!ctx || !dt__runtime_of(ctx) || check_ranks(ctx, ranks, n_ranks) != DT_OK)
        return NULL;
    dt_group *group = new_group(ctx, is_identity(ctx, ranks, n_ranks) ? NULL : ranks, n_ranks);
    if (group)
        group->origin = origin;
    return group;
}

dt_group *dt__group_new_directed(dt_ctx *ctx, const int64_t *ranks, int64_t n_ranks, uint64_t direction) {
    dt_group *group = dt__group_new_for(ctx, ranks, n_ranks, 0);
    if (group)
        group->direction = direction;
    return group;
}

dt_group *dt__group_renew(const dt_group *group) {
    dt_group *renewed = new_group(group->ctx, group->ranks, group->n_ranks);
    if (!renewed)
        return NULL;
    renewed->origin = group->origin;
    renewed->direction = group->direction;
    return renewed;
}

uint64_t dt__group_origin(const dt_group *group) { return group->origin; }

bool dt__group_spans_nodes(const dt_group *group) { return group->spans_nodes; }

bool dt__has_nodes(const dt_ctx *ctx) { return dt__runtime_of(ctx) && dt__runtime_of(ctx)->node_of; }

int64_t dt__node_of(const dt_ctx *ctx, int64_t rank) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime && runtime->node_of ? runtime->node_of[rank] : 0;
}

bool dt__group_is_stale(const dt_group *group) { return group->epoch != group->runtime->epoch; }

dt_group *dt_group_new_site(dt_ctx *ctx, const int64_t *ranks, int64_t n_ranks, const dt_site *site) {
    DT__ENTER(ctx, "group_new", site);
    return dt__group_new_for(ctx, ranks, n_ranks, 0);
}

dt_ctx *dt_group_ctx(const dt_group *group) { return group ? group->ctx : NULL; }

dt_group *dt_group_retain(dt_group *group) {
    group = DT__LIVE(DT__KIND_GROUP, group);
    if (group)
        group->n_refs++;
    return group;
}

void dt_group_release_site(dt_group *group, const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "group_release", site);
    group = DT__LIVE(DT__KIND_GROUP, group);
    if (!group)
        return;
    if (group == group->runtime->world && group->n_refs == 1)
        (void)dt__fail(group->ctx, DT_ERR_STATE, "the group of all ranks belongs to the context");
    else if (--group->n_refs == 0)
        dt__group_destroy(group);
}

void dt__group_release_state(dt_group *group) {
    dt__runtime *runtime = group->runtime;
    if (runtime->board)
        dt__channel_release_group(runtime, group);
    if (runtime->transport->release_group)
        runtime->transport->release_group(runtime, group);
}

void dt__group_destroy(dt_group *group) {
    dt__runtime *runtime = group->runtime;
    if (group->previous)
        group->previous->next = group->next;
    else
        runtime->groups = group->next;
    if (group->next)
        group->next->previous = group->previous;
    dt__group_release_state(group);
    dt__messages_free(group);
    dt__free(runtime->ctx, group->ranks, (size_t)group->n_ranks * sizeof *group->ranks);
    DT__LIFE_END(&runtime->freed_groups, group);
    dt__freed_trim(&runtime->freed_groups, runtime->ctx, sizeof *group);
}

int64_t dt_group_size(const dt_group *group) {
    group = DT__LIVE(DT__KIND_GROUP, group);
    return group ? group->n_ranks : 0;
}

int64_t dt_group_rank(const dt_group *group) {
    group = DT__LIVE(DT__KIND_GROUP, group);
    return group ? group->rank : -1;
}

int64_t dt_group_world_rank(const dt_group *group, int64_t i) {
    group = DT__LIVE(DT__KIND_GROUP, group);
    return group && i >= 0 && i < group->n_ranks ? dt__group_member(group, i) : -1;
}
