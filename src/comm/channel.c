/* SPDX-License-Identifier: Apache-2.0
 *
 * Channels and their blocks in the segment. A rank finds a peer's block by the channel's key, which all members
 * compute identically; no messages are needed. The numbering of a channel's operations continues as long as the
 * context lives, even if the group is freed and created again, so that members which free it at different times stay
 * in step. A block is released only when every member is known to have finished the operations that it publishes.
 */
#include "comm/comm.h"

#include "base/size.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_KEY = 0, RELEASED_KEY = 1, RELEASE_ABOVE = 256 };

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct probe {
    uint64_t key;
    int64_t n;
    const int64_t *ranks;
};

static bool same_channel(const void *value, const void *probe) {
    const dt__channel *channel = value;
    const struct probe *expected = probe;
    return channel->key == expected->key && channel->n == expected->n &&
           !memcmp(channel->ranks, expected->ranks, (size_t)expected->n * sizeof *expected->ranks);
}

static void free_channel(dt__channel *channel) {
    dt_ctx *ctx = channel->board->runtime->ctx;
    size_t n = (size_t)channel->n;
    if (channel->eager)
        dt__heap_free(&channel->board->runtime->heap, channel->eager);
    dt__free(ctx, channel->ranks, n * sizeof *channel->ranks);
    dt__free(ctx, channel->peers, n * sizeof *channel->peers);
    for (size_t i = 0; channel->remotes && i < n; i++)
        dt__free(ctx, channel->remotes[i].reason, DT__REASON_BYTES);
    dt__free(ctx, channel->remotes, n * sizeof *channel->remotes);
    dt__free(ctx, channel, sizeof *channel);
}

static bool spans_nodes(const dt__board *board, const struct probe *probe) {
    const int32_t *node_of = board->runtime->transport->messenger ? board->runtime->node_of : NULL;
    for (int64_t i = 1; node_of && i < probe->n; i++)
        if (node_of[probe->ranks[i]] != node_of[probe->ranks[0]])
            return true;
    return false;
}

static dt__channel *new_channel(dt__board *board, const struct probe *probe) {
    dt_ctx *ctx = board->runtime->ctx;
    size_t n = (size_t)probe->n;
    dt__channel *channel = dt__alloc_zeroed(ctx, sizeof *channel);
    if (!channel)
        goto out_of_memory;
    *channel = (dt__channel){.board = board, .key = probe->key, .n = probe->n};
    channel->ranks = dt__alloc(ctx, n * sizeof *channel->ranks);
    channel->peers = dt__alloc_zeroed(ctx, n * sizeof *channel->peers);
    if (spans_nodes(board, probe))
        channel->remotes = dt__alloc_zeroed(ctx, n * sizeof *channel->remotes);
    if (!channel->ranks || !channel->peers || (spans_nodes(board, probe) && !channel->remotes))
        goto free_parts;
    memcpy(channel->ranks, probe->ranks, n * sizeof *channel->ranks);
    for (size_t i = 0; i < n; i++)
        if (channel->ranks[i] < 128)
            channel->set[channel->ranks[i] / 64] |= UINT64_C(1) << channel->ranks[i] % 64;
    while (channel->ranks[channel->me] != ctx->rank)
        channel->me++;
    if (!dt__map_add(&board->channels, probe->key, channel))
        goto free_parts;
    return channel;

free_parts:
    free_channel(channel);
out_of_memory:
    dt__fail_memory(ctx, n * 3 * sizeof(int64_t), "a channel");
    return NULL;
}

/* Whether every other member has finished all operations that this rank has finished, so that none needs the block. A
 * member that had a block and has none now has released it, which it does only after finishing; one that never had a
 * block may still read this one. */
static bool all_have_finished(dt__channel *channel) {
    bool finished = true;
    for (int64_t c = 0; c < channel->n; c++) {
        struct dt__peer *peer = &channel->peers[c];
        if (c == channel->me || peer->done >= channel->done)
            continue;
        struct dt__channel_block *block = dt__channel_peer_block(channel, c);
        if (block)
            peer->done = atomic_load(&block->done);
        finished = finished && (block ? peer->done >= channel->done : peer->had_block);
    }
    return finished;
}

static void release_block(dt__channel *channel) {
    atomic_store(&channel->own->key, RELEASED_KEY);
    channel->own = NULL;
    channel->board->n_blocks--;
    if (channel->eager)
        dt__heap_free(&channel->board->runtime->heap, channel->eager);
    channel->eager = NULL;
    for (int64_t c = 0; c < channel->n; c++)
        channel->peers[c].block = NULL;
}

/* Releases the blocks of channels that no group uses any more. */
static void release_unused_blocks(dt__board *board) {
    size_t at = 0;
    dt__channel *channel;
    while ((channel = dt__map_next(&board->channels, &at)))
        if (!channel->n_references && channel->own && !channel->broken && channel->started == channel->done &&
            all_have_finished(channel))
            release_block(channel);
}

static struct dt__channel_block *find_free_block(dt__board *board, uint64_t key) {
    for (uint64_t i = 0; i < DT__N_CHANNELS; i++) {
        struct dt__channel_block *block = &board->own->channels[(key + i) % DT__N_CHANNELS];
        uint64_t held = atomic_load_explicit(&block->key, memory_order_relaxed);
        if (held == FREE_KEY || held == RELEASED_KEY)
            return block;
    }
    return NULL;
}

static void clear_block(struct dt__channel_block *block) {
    for (int i = 0; i < DT__N_ENTRIES; i++) {
        atomic_store_explicit(&block->entries[i].seq, 0, memory_order_relaxed);
        atomic_store_explicit(&block->entries[i].phase, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&block->broken, 0, memory_order_relaxed);
    atomic_store_explicit(&block->retired, 0, memory_order_relaxed);
}

static dt_status claim_block(dt__channel *channel) {
    dt__board *board = channel->board;
    if (board->n_blocks >= DT__N_CHANNELS / 2)
        return dt__fail_local(board->runtime->ctx, DT_ERR_UNSUPPORTED,
                              "group: too many groups in use: expected at most %d, got one more; free some",
                              DT__N_CHANNELS / 2);
    struct dt__channel_block *block = find_free_block(board, channel->key);
    uint64_t slot = (uint64_t)(block - board->own->channels);
    clear_block(block);
    atomic_store_explicit(&block->done, channel->done, memory_order_relaxed);
    atomic_store_explicit(&block->refused, channel->refused, memory_order_relaxed);
    atomic_fetch_or(&board->own->used[slot / 64], UINT64_C(1) << slot % 64);
    atomic_store(&block->key, channel->key);
    channel->own = block;
    channel->peers[channel->me].block = block;
    board->n_blocks++;
    return DT_OK;
}

static struct dt__channel_block *find_block(const dt__board *board, int64_t rank, uint64_t key) {
    struct dt__channel_block *blocks = board->ranks[rank].channels;
    for (uint64_t i = 0; i < DT__N_CHANNELS; i++) {
        struct dt__channel_block *block = &blocks[(key + i) % DT__N_CHANNELS];
        uint64_t held = atomic_load_explicit(&block->key, memory_order_acquire);
        if (held == key)
            return block;
        if (held == FREE_KEY)
            break;
    }
    return NULL;
}

struct dt__channel_block *dt__channel_peer_block(dt__channel *channel, int64_t c) {
    struct dt__peer *peer = &channel->peers[c];
    struct dt__channel_block *cached = peer->block;
    if (cached && atomic_load_explicit(&cached->key, memory_order_acquire) == channel->key)
        return cached;
    peer->block = find_block(channel->board, channel->ranks[c], channel->key);
    peer->had_block = peer->had_block || peer->block;
    return peer->block;
}

dt_status dt__channel_claim_block(dt__channel *channel) { return channel->own ? DT_OK : claim_block(channel); }

static uint64_t key_of(const int64_t *ranks, int64_t n, uint64_t salt) {
    uint64_t key = dt__hash(ranks, (size_t)n * sizeof *ranks, salt);
    return key > RELEASED_KEY ? key : key + 2;
}

/* Whether a member publishes that the channel of this key was broken when errors were cleared, and the group was
 * created after that. Errors are cleared by all ranks together, so all members get the same answer. */
static bool is_retired(const dt__board *board, const struct probe *probe, uint32_t epoch) {
    for (int64_t i = 0; i < probe->n; i++) {
        const struct dt__channel_block *block = find_block(board, probe->ranks[i], probe->key);
        uint32_t retired = block ? atomic_load(&block->retired) : 0;
        if (retired && retired <= epoch)
            return true;
    }
    const dt__messenger *messenger = board->runtime->transport->messenger;
    return messenger && messenger->is_retired(board->runtime, probe->key, epoch);
}

/* The channel of these ranks for a group: a new one if a group from before the last dt_error_clear broke the old one.
 */
static dt__channel *get_channel(dt__board *board, const int64_t *ranks, int64_t n, uint64_t salt, uint32_t epoch) {
    struct probe probe = {key_of(ranks, n, salt), n, ranks};
    for (uint64_t i = 1; epoch && is_retired(board, &probe, epoch); i++)
        probe.key = key_of(ranks, n, dt__hash_u64(i, salt));
    dt__channel *channel = dt__map_get(&board->channels, probe.key, same_channel, &probe);
    if (!channel)
        channel = new_channel(board, &probe);
    if (!channel)
        return NULL;
    if (!channel->own && board->n_blocks >= RELEASE_ABOVE && board->n_blocks % 64 == 0)
        release_unused_blocks(board);
    if (dt__channel_claim_block(channel) != DT_OK)
        return NULL;
    channel->n_references++;
    return channel;
}

dt__channel *dt__channel_of_group(dt__board *board, dt_group *group, uint64_t salt) {
    dt_ctx *ctx = board->runtime->ctx;
    size_t bytes = (size_t)group->n_ranks * sizeof(int64_t);
    int64_t *sorted = dt__alloc(ctx, bytes);
    if (!sorted) {
        dt__fail_memory(ctx, bytes, "a channel");
        return NULL;
    }
    for (int64_t i = 0; i < group->n_ranks; i++)
        sorted[i] = dt__group_member(group, i);
    qsort(sorted, (size_t)group->n_ranks, sizeof *sorted, by_value);
    bool ascending = !group->ranks || !memcmp(sorted, group->ranks, bytes);
    if (!ascending && !group->places)
        group->places = dt__alloc(ctx, bytes);
    for (int64_t i = 0; !ascending && group->places && i < group->n_ranks; i++)
        group->places[i] =
            (int64_t *)bsearch(&group->ranks[i], sorted, (size_t)group->n_ranks, sizeof *sorted, by_value) - sorted;
    if (ascending || group->places)
        group->channel = get_channel(board, sorted, group->n_ranks, salt, group->epoch);
    else
        dt__fail_memory(ctx, bytes, "a channel");
    dt__free(ctx, sorted, bytes);
    return group->channel;
}

/* Messages from one member to another have a channel of their own, so that they do not disturb the group's order. */
static dt__channel *channel_of_pair(dt__board *board, dt_group *group, int64_t from, int64_t to) {
    dt_ctx *ctx = board->runtime->ctx;
    size_t bytes = 2 * (size_t)group->n_ranks * sizeof(void *);
    int64_t pair[2] = {dt__group_member(group, from), dt__group_member(group, to)};
    if (!group->pairs && !(group->pairs = dt__alloc_zeroed(ctx, bytes))) {
        dt__fail_memory(ctx, bytes, "channels of a group");
        return NULL;
    }
    dt__channel **channel = &group->pairs[from == group->rank ? to : group->n_ranks + from];
    const uint64_t salt = group->direction ? dt__hash_u64(group->direction, group->order_hash) : group->order_hash;
    if (!*channel)
        *channel = get_channel(board, pair, 2, salt, group->epoch);
    return *channel;
}

dt__channel *dt__channel_of(dt__board *board, dt_work *work) {
    dt_group *group = work->group;
    if (work->op == DT__WORK_SEND)
        return channel_of_pair(board, group, group->rank, work->call.root);
    if (work->op == DT__WORK_RECV)
        return channel_of_pair(board, group, work->call.root, group->rank);
    return group->channel ? group->channel : dt__channel_of_group(board, group, dt__hash_u64(group->direction, 2));
}

int64_t dt__member(const dt_work *work, int64_t i) {
    if (work->channel->n == 2 && dt__op_shapes[work->op].pair)
        return i == work->group->rank ? work->channel->me : 1 - work->channel->me;
    return work->group->places ? work->group->places[i] : i;
}

static void drop_reference(dt__channel *channel) {
    if (!channel || --channel->n_references > 0)
        return;
    if (channel->started == 0 && !channel->broken) { /* never used: no member has read its block */
        release_block(channel);
        dt__map_remove(&channel->board->channels, channel->key, channel);
        free_channel(channel);
    } else if (channel->own) {
        all_have_finished(channel); /* records the members' blocks while they exist */
    }
}

void dt__channel_release_group(dt__runtime *runtime, dt_group *group) {
    drop_reference(group->channel);
    for (int64_t i = 0; group->pairs && i < 2 * group->n_ranks; i++)
        drop_reference(group->pairs[i]);
    dt__free(runtime->ctx, group->pairs, group->pairs ? 2 * (size_t)group->n_ranks * sizeof(void *) : 0);
    dt__free(runtime->ctx, group->places, group->places ? (size_t)group->n_ranks * sizeof(int64_t) : 0);
    group->channel = NULL;
    group->pairs = NULL;
    group->places = NULL;
}

/* Operations need not end in the order of their numbers. */
static void mark_finished(dt__channel *channel, uint64_t seq) {
    channel->finished |= UINT64_C(1) << seq % 64;
    while (channel->done < channel->started && channel->finished >> (channel->done + 1) % 64 & 1) {
        channel->done++;
        channel->finished &= ~(UINT64_C(1) << channel->done % 64);
    }
}

/* `done` advances up to the first operation that has not ended. */
void dt__channel_count_done(dt__channel *channel, uint64_t seq) {
    if (seq == channel->started && seq == channel->done + 1)
        channel->done = seq;
    else
        mark_finished(channel, seq);
    atomic_store_explicit(&channel->own->done, channel->done, memory_order_release);
}

void dt__channels_free(dt__board *board) {
    size_t at = 0;
    dt__channel *channel;
    while ((channel = dt__map_next(&board->channels, &at)))
        free_channel(channel);
    dt__map_free(&board->channels);
}
