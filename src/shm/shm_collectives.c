/* SPDX-License-Identifier: Apache-2.0
 *
 * The data movement of each collective, once the data is complete: every rank pulls from the memory of its peers and
 * writes its own memory only. Reductions are in group order on every rank, so that the bits do not depend on timing.
 *
 * An operation has an index space: the value's elements, or those of one block. Usually one round covers all of it.
 * If a member's data is staged, all members run in rounds, and a round covers [first, last) of that space:
 *
 *     member is direct:  its src as the caller passes it     [ block 0 | block 1 | … ]
 *     member is staged:  this round's piece of each block  [ piece 0 | piece 1 | … ]   each dt__round_size long
 *
 * A large all_reduce takes two steps: each rank reduces its slice of the round, then reads the slices of the others.
 * Two ranks read the same amount from each other if each reduces everything, and synchronize once less; so if the data
 * fits the caches, they reduce everything, unless one of them works in place.
 */
#include "shm/shm_operation.h"

#include "base/size.h"

#include <string.h>

static dt__kernels const *kernels_of(const dt_work *work) { return work->group->runtime->kernels; }

const void *dt__shm_peer_memory(const dt_work *work, int64_t c, uint64_t at, size_t bytes) {
    const struct dt__segment *segment = dt__shm_of_work(work)->segment;
    uint64_t heap_at = dt__segment_heap_at(segment, work->channel->ranks[c]);
    if (at < heap_at || at - heap_at > segment->heap_bytes || bytes > segment->heap_bytes - (at - heap_at))
        return NULL;
    return (const char *)segment + at;
}

static bool has_blocks(const dt_work *work) {
    const dt__op_shape *shape = &dt__op_shapes[work->op];
    return shape->src == DT__ALL_BLOCKS || shape->dst == DT__ALL_BLOCKS;
}

int64_t dt__range(const dt_work *work) {
    const dt_comm_call *call = &work->call;
    if (call->op == DT_ALL_TO_ALL)
        return work->max_block;
    if (!call->counts || !has_blocks(work))
        return call->count;
    int64_t largest = 0;
    for (int64_t i = 0; i < work->group->n_ranks; i++)
        largest = dt__max_i64(largest, call->counts[i]);
    return largest;
}

/* The number of pieces that staging holds: one of each block, or one of the value and one for its reduced slice. */
static int64_t n_pieces(const dt_work *work) {
    const dt__op_shape *shape = &dt__op_shapes[work->op];
    if (work->op == DT__WORK_ALL_REDUCE)
        return 2;
    return shape->src == DT__ALL_BLOCKS ? work->group->n_ranks : 1;
}

size_t dt__staging_bytes(const dt_work *work) {
    return work->op == DT__WORK_ALL_REDUCE ? DT__REDUCE_STAGING_BYTES : DT__STAGING_BYTES;
}

int64_t dt__round_size(const dt_work *work) {
    int64_t bytes = n_pieces(work) * (int64_t)work->item_bytes;
    return dt__max_i64(1, (int64_t)dt__staging_bytes(work) / bytes);
}

static int64_t first_of_round(const dt_work *work) { return work->lockstep ? work->round * dt__round_size(work) : 0; }

static int64_t last_of_round(const dt_work *work) {
    if (!work->lockstep)
        return dt__range(work);
    return dt__min_i64(dt__range(work), first_of_round(work) + dt__round_size(work));
}

/* The range of a block of `size` elements that this round covers. */
struct piece {
    int64_t first, n;
};

static struct piece piece_of(const dt_work *work, int64_t size) {
    int64_t first = dt__min_i64(first_of_round(work), size);
    return (struct piece){first, dt__min_i64(last_of_round(work), size) - first};
}

/* n elements from element `first` of block `block`, which starts at element `at` of member c's src. */
static const void *source(const dt_work *work, int64_t c, int64_t block, int64_t at, int64_t first, int64_t n) {
    if (c == work->channel->me)
        return (const char *)work->call.src + (size_t)(at + first) * work->item_bytes;
    const struct dt__entry *entry = dt__entry_of(work, c);
    if (entry->signature & DT__CALL_INLINE)
        return entry->payload + (size_t)(at + first) * work->item_bytes;
    int64_t place = at + first;
    if (entry->signature & DT__CALL_STAGED)
        place = block * dt__round_size(work) + first - first_of_round(work);
    return dt__shm_peer_memory(work, c, entry->src + (uint64_t)place * work->item_bytes,
                               (size_t)n * work->item_bytes);
}

static dt__store store_for(const dt_work *work, int64_t n) {
    return (size_t)n * work->item_bytes > DT__STREAM_ABOVE ? DT__STREAM : DT__CACHED;
}

/* Depends on the size of the full result, which is not computed for small pieces. */
static dt__store store_for_copy(const dt_work *work, size_t bytes) {
    return bytes <= DT__EAGER_BYTES ? DT__CACHED : store_for(work, dt__dst_count(work->group, &work->call));
}

/* Copies a piece of group member i's block `block` to element dst_at of dst. */
static dt_status copy_piece(dt_work *work, int64_t i, int64_t block, int64_t at, struct piece piece, int64_t dst_at) {
    int64_t c = dt__member(work, i);
    char *dst = (char *)work->call.dst + (size_t)(dst_at + piece.first) * work->item_bytes;
    if (!piece.n)
        return DT_OK;
    const void *src = source(work, c, block, at, piece.first, piece.n);
    if (!src)
        return dt__work_fail_outside_heap(work, c);
    size_t bytes = (size_t)piece.n * work->item_bytes;
    if (src != dst)
        kernels_of(work)->copy(dst, src, bytes, store_for_copy(work, bytes));
    return DT_OK;
}

static dt_status pull_value(dt_work *work) {
    return copy_piece(work, work->call.root, 0, 0, piece_of(work, work->call.count), 0);
}

static dt_status pull_own_block(dt_work *work) {
    int64_t me = work->group->rank;
    int64_t at = dt__block_at(&work->call, me);
    return copy_piece(work, work->call.root, me, at, piece_of(work, dt__block_size(&work->call, me)), 0);
}

/* Each rank starts with a different member, so that they do not all read one rank's memory at the same time. */
static dt_status pull_all_blocks(dt_work *work) {
    int64_t n = work->group->n_ranks;
    if (dt__dst_extent(work->group, &work->call) == DT__NO_DATA)
        return DT_OK;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = (work->group->rank + k) % n;
        DT__TRY(
            copy_piece(work, i, 0, 0, piece_of(work, dt__block_size(&work->call, i)), dt__block_at(&work->call, i)));
    }
    return DT_OK;
}

static int64_t prefix(const int64_t *counts, int64_t i) {
    int64_t at = 0;
    for (int64_t k = 0; k < i; k++)
        at += counts[k];
    return at;
}

/* The offset of this rank's block in member c's src, in elements. */
static dt_status offset_of_sent_block(dt_work *work, int64_t c, int64_t *at) {
    int64_t me = work->group->rank, n = work->group->n_ranks;
    const int64_t *counts = work->call.counts;
    if (!counts) {
        *at = work->call.count * me;
        return DT_OK;
    }
    if (c != work->channel->me) {
        uint64_t counts_at;
        memcpy(&counts_at, dt__entry_of(work, c)->payload, sizeof counts_at);
        counts = dt__shm_peer_memory(work, c, counts_at, (size_t)n * sizeof *counts);
    }
    if (!counts)
        return dt__work_fail_outside_heap(work, c);
    *at = prefix(counts, me);
    return DT_OK;
}

static dt_status pull_exchanged(dt_work *work) {
    const dt_comm_call *call = &work->call;
    int64_t n = work->group->n_ranks, me = work->group->rank;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = (me + k) % n, c = dt__member(work, i), at = 0;
        int64_t size = call->recv_counts ? call->recv_counts[i] : call->count;
        int64_t dst_at = call->recv_counts ? prefix(call->recv_counts, i) : call->count * i;
        DT__TRY(offset_of_sent_block(work, c, &at));
        DT__TRY(copy_piece(work, i, me, at, piece_of(work, size), dst_at));
    }
    return DT_OK;
}

/* Reduces a piece of block `block`, which starts at element `at` of every member's src, into dst. */
static dt_status reduce_piece(dt_work *work, int64_t block, int64_t at, struct piece piece, void *dst,
                              dt__store store) {
    const void *sources[DT__MAX_RANKS];
    int64_t n = work->group->n_ranks;
    if (!piece.n)
        return DT_OK;
    for (int64_t i = 0; i < n; i++) {
        int64_t c = dt__member(work, i);
        sources[i] = source(work, c, block, at, piece.first, piece.n);
        if (!sources[i])
            return dt__work_fail_outside_heap(work, c);
    }
    kernels_of(work)->reduce(work->call.dtype, work->call.reduce, dst, sources, (int)n, (size_t)piece.n, n, store);
    return DT_OK;
}

static dt_status reduce_own_block(dt_work *work) {
    int64_t me = work->group->rank;
    int64_t at = dt__block_at(&work->call, me);
    struct piece piece = piece_of(work, dt__block_size(&work->call, me));
    char *dst = (char *)work->call.dst + (size_t)piece.first * work->item_bytes;
    return reduce_piece(work, me, at, piece, dst, store_for(work, dt__dst_count(work->group, &work->call)));
}

static dt_status reduce_all(dt_work *work) {
    struct piece piece = piece_of(work, work->call.count);
    char *dst = (char *)work->call.dst + (size_t)piece.first * work->item_bytes;
    return reduce_piece(work, 0, 0, piece, dst, DT__CACHED);
}

/* Group member i's slice of this round, aligned to cache lines. */
static struct piece slice_of(const dt_work *work, int64_t i) {
    int64_t first = first_of_round(work), last = last_of_round(work), n = work->group->n_ranks;
    int64_t line = DT__LINE / (int64_t)work->item_bytes;
    int64_t size = dt__ceil_div(dt__ceil_div(last - first, n), line) * line;
    int64_t start = dt__min_i64(first + i * size, last);
    return (struct piece){start, dt__min_i64(size, last - start)};
}

size_t dt__staged_result_at(const dt_work *work) { return (size_t)dt__round_size(work) * work->item_bytes; }

/* The result bypasses the caches, however small. Peers read it next, and have it in their caches from the last time:
 * invalidating those lines costs much more than writing to memory, especially if cores share no cache. */
static dt_status reduce_slice(dt_work *work) {
    struct piece slice = slice_of(work, work->group->rank);
    void *result = work->flags & DT__CALL_RESULT_STAGED
                       ? work->staging + dt__staged_result_at(work)
                       : (unsigned char *)work->call.dst + (size_t)slice.first * work->item_bytes;
    return reduce_piece(work, 0, 0, slice, result, DT__STREAM);
}

/* The slice that member c has reduced. */
static const void *reduced_slice(const dt_work *work, int64_t c, struct piece slice) {
    const struct dt__entry *entry = dt__entry_of(work, c);
    int64_t first = entry->signature & DT__CALL_RESULT_STAGED ? 0 : slice.first;
    uint64_t at;
    memcpy(&at, entry->payload, sizeof at);
    return dt__shm_peer_memory(work, c, at + (uint64_t)first * work->item_bytes, (size_t)slice.n * work->item_bytes);
}

static dt_status copy_reduced(dt_work *work, int64_t c, struct piece slice) {
    if (!slice.n)
        return DT_OK;
    const void *src = reduced_slice(work, c, slice);
    char *dst = (char *)work->call.dst + (size_t)slice.first * work->item_bytes;
    if (!src)
        return dt__work_fail_outside_heap(work, c);
    if (src != dst)
        kernels_of(work)->copy(dst, src, (size_t)slice.n * work->item_bytes, store_for(work, work->call.count));
    return DT_OK;
}

/* Starts with this rank's slice, which may be in dst already. */
static dt_status collect_slices(dt_work *work) {
    int64_t n = work->group->n_ranks;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = (work->group->rank + k) % n;
        DT__TRY(copy_reduced(work, dt__member(work, i), slice_of(work, i)));
    }
    return DT_OK;
}

static dt_status first_of_exchange(dt_work *work) {
    const dt__exchange *exchange = work->exchange;
    return exchange->steps[0] ? exchange->steps[0](work, exchange->user) : DT_OK;
}
static dt_status second_of_exchange(dt_work *work) { return work->exchange->steps[1](work, work->exchange->user); }

static const dt__collective_steps pulls[DT__N_WORK_OPS] = {
    [DT_BARRIER] = {{NULL}},
    [DT_BROADCAST] = {{pull_value}},
    [DT_SCATTER] = {{pull_own_block}},
    [DT_GATHER] = {{pull_all_blocks}},
    [DT_ALL_GATHER] = {{pull_all_blocks}},
    [DT_ALL_REDUCE] = {{reduce_slice, collect_slices}},
    [DT_REDUCE_SCATTER] = {{reduce_own_block}},
    [DT_ALL_TO_ALL] = {{pull_exchanged}},
    [DT_SEND] = {{NULL}},
    [DT_RECV] = {{pull_value}},
    [DT__WORK_EXCHANGE] = {{first_of_exchange}},
};

/* All members decide alike: it depends only on the size and on all headers. */
static bool reduces_at_once(const dt_work *work) {
    size_t bytes = (size_t)work->call.count * work->item_bytes;
    return bytes <= DT__EAGER_BYTES || (work->channel->n == 2 && !work->in_place && bytes <= DT__AT_ONCE_BYTES);
}

const dt__collective_steps *dt__steps_of(const dt_work *work) {
    static const dt__collective_steps all_reduce_at_once = {{reduce_all}};
    static const dt__collective_steps exchange_in_two = {{first_of_exchange, second_of_exchange}};
    if (work->op == DT__WORK_ALL_REDUCE && reduces_at_once(work))
        return &all_reduce_at_once;
    if (work->op == DT__WORK_EXCHANGE && work->exchange->steps[1])
        return &exchange_in_two;
    return &pulls[work->op];
}

/* Bypasses the caches, as with the slices of an all_reduce: peers have read these lines before. */
static void stage(dt_work *work, int64_t block, int64_t at, int64_t size) {
    struct piece piece = piece_of(work, size);
    unsigned char *dst = work->staging + (size_t)(block * dt__round_size(work)) * work->item_bytes;
    const char *src = (const char *)work->call.src + (size_t)(at + piece.first) * work->item_bytes;
    if (piece.n)
        kernels_of(work)->copy(dst, src, (size_t)piece.n * work->item_bytes, DT__STREAM);
}

void dt__fill_staging(dt_work *work) {
    const dt_comm_call *call = &work->call;
    enum dt__data_extent extent = dt__src_extent(work->group, call);
    if (extent == DT__VALUE)
        stage(work, 0, 0, call->count);
    if (extent == DT__OWN_BLOCK)
        stage(work, 0, 0, dt__block_size(call, work->group->rank));
    for (int64_t i = 0; extent == DT__ALL_BLOCKS && i < work->group->n_ranks; i++)
        stage(work, i, dt__block_at(call, i), dt__block_size(call, i));
}
