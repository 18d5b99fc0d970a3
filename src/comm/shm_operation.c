/* SPDX-License-Identifier: Apache-2.0
 *
 * The state machine of an operation on the shm transport: publish a header, wait for the headers of the members that
 * this rank reads from, run the steps, wait for the members that read from this rank. Nothing blocks; dt__waits_for
 * decides what each state waits for.
 */
#include "comm/spanning.h"

#include "base/size.h"
#include "comm/operation_text.h"

#include <string.h>

static bool is_all_to_all_v(const dt_work *work) { return work->op == DT__WORK_ALL_TO_ALL && work->call.counts; }

/* Whether this rank reads from member c, and whether c reads from this rank. A barrier reads only headers. */
static bool reads_from(const dt_work *work, int64_t c) {
    const dt__op_shape *shape = &dt__op_shapes[work->op];
    if (shape->pair)
        return work->op == DT__WORK_RECV;
    if (shape->src_on_root)
        return c == dt__member(work, work->call.root) || (work->shares_far && dt__is_near(work, c));
    return !shape->dst_on_root || work->group->rank == work->call.root;
}

static bool is_read_by(const dt_work *work, int64_t c) {
    const dt__op_shape *shape = &dt__op_shapes[work->op];
    if (shape->pair)
        return work->op == DT__WORK_SEND;
    if (shape->dst_on_root)
        return c == dt__member(work, work->call.root);
    return !shape->src_on_root || work->group->rank == work->call.root || (work->shares_far && dt__is_near(work, c));
}

/* 0 also while the member has no block yet. */
static uint32_t phase_of(const dt_work *work, int64_t c) {
    if (!dt__channel_peer_block(work->channel, c))
        return 0;
    uint64_t word = atomic_load_explicit(&dt__entry_of(work, c)->phase, memory_order_acquire);
    return word >> 32 == (uint32_t)work->seq ? (uint32_t)word : 0;
}

/* Phases of a round are: 1 filled, 2 first step done, 3 second step done, 4 all steps done. */
enum { PHASES_PER_ROUND = 4 };
static uint32_t phase_base(const dt_work *work) { return (uint32_t)(work->round * PHASES_PER_ROUND); }

/* Whether the current step reads only what near members have read from other NUMA nodes in the step before. */
static bool reads_near_only(const dt_work *work) {
    return work->shares_far && work->step == (work->op == DT__WORK_ALL_REDUCE ? 2 : 1);
}

/* In a round, before step 0 all members that this rank reads from must have filled their staging; before a later step
 * all that it reads from must have finished the one before; before filling again, the readers must have finished the
 * previous round. */
static bool waits_for_phase(dt_work *work, int64_t c) {
    uint32_t base = phase_base(work);
    if (work->step == DT__STEP_FILL)
        return work->round > 0 && is_read_by(work, c) && phase_of(work, c) < base;
    if (work->step > 0 && reads_near_only(work) && !dt__is_near(work, c))
        return false;
    if (work->step > 0)
        return phase_of(work, c) < base + (uint32_t)work->step + 1;
    return work->lockstep && reads_from(work, c) && dt__entry_of(work, c)->signature & DT__CALL_STAGED &&
           phase_of(work, c) < base + 1;
}

static bool waits_for_header(dt_work *work, int64_t c) {
    if (!reads_from(work, c))
        return false;
    if (!dt__channel_peer_block(work->channel, c))
        return true;
    return atomic_load_explicit(&dt__entry_of(work, c)->seq, memory_order_acquire) != work->seq;
}

/* The header's slot is free when the operation that used it before has ended on every rank. */
static bool waits_for_slot(dt_work *work, int64_t c) {
    struct dt__peer *peer = &work->channel->peers[c];
    uint64_t before = work->seq > DT__N_ENTRIES ? work->seq - DT__N_ENTRIES : 0;
    if (work->channel->done < before)
        return true;
    if (peer->done >= before)
        return false;
    struct dt__channel_block *block = dt__channel_peer_block(work->channel, c);
    if (block)
        peer->done = atomic_load_explicit(&block->done, memory_order_acquire);
    return peer->done < before;
}

static bool waits_for_reader(dt_work *work, int64_t c) {
    return is_read_by(work, c) && phase_of(work, c) != DT__PHASE_DONE;
}

bool dt__waits_for(dt_work *work, int64_t c) {
    static bool (*const waits[])(dt_work *, int64_t) = {[DT__WAIT_SLOT] = waits_for_slot,
                                                        [DT__WAIT_HEADERS] = waits_for_header,
                                                        [DT__WAIT_PHASES] = waits_for_phase,
                                                        [DT__WAIT_READERS] = waits_for_reader};
    if (work->span)
        return dt__span_waits_for(work, c);
    return c != work->channel->me && waits[work->state](work, c);
}

/* Checks the members in turn, starting with the one that was missing last. */
static bool all_arrived(dt_work *work) {
    while (work->missing < work->channel->n && !dt__waits_for(work, work->missing))
        work->missing++;
    if (work->missing < work->channel->n)
        return false;
    work->missing = 0;
    return true;
}

static void enter_state(dt_work *work, enum dt__work_state state) {
    work->state = (int)state;
    work->missing = 0;
}

/* The header before it is published; it is written in one go, because peers are polling the line. */
struct header {
    uint64_t src;
    uint64_t payload[DT__INLINE_BYTES / 8];
};

static uint64_t offset_of(const dt_work *work, const void *memory) {
    return (uint64_t)((const char *)memory - (const char *)work->channel->shm->segment);
}

static dt_status alloc_staging(dt_work *work) {
    dt__heap *heap = &work->channel->shm->runtime->heap;
    if (!work->staging && !(work->staging = dt__heap_alloc(heap, dt__staging_bytes(work), DT_MEMORY_SCRATCH)))
        return dt__fail_memory(heap->ctx, dt__staging_bytes(work), "staging");
    return DT_OK;
}

/* Selects where peers read the slice that this rank reduces: in dst or, if that is outside the heap, in staging. */
static dt_status choose_result_memory(dt_work *work, size_t bytes, struct header *header) {
    if (work->call.src == work->call.dst)
        work->flags |= (uint32_t)DT__CALL_IN_PLACE;
    if (dt__heap_holds(&work->channel->shm->runtime->heap, work->call.dst, bytes)) {
        header->payload[0] = offset_of(work, work->call.dst);
        return DT_OK;
    }
    DT__TRY(alloc_staging(work));
    work->flags |= (uint32_t)DT__CALL_RESULT_STAGED;
    header->payload[0] = offset_of(work, work->staging) + dt__staged_result_at(work);
    return DT_OK;
}

/* Near members read what this rank has read from other NUMA nodes in its dst, if that is in the heap; otherwise they
 * read it where it comes from. An all_reduce publishes dst anyway; inline data leaves no space to do so. */
static void share_result(dt_work *work, struct header *header) {
    size_t src_bytes = (size_t)dt__src_count(work->group, &work->call) * work->item_bytes;
    size_t dst_bytes = (size_t)dt__dst_count(work->group, &work->call) * work->item_bytes;
    bool is_inline = work->flags & DT__CALL_INLINE && src_bytes;
    if (is_inline || !dt__heap_holds(&work->channel->shm->runtime->heap, work->call.dst, dst_bytes))
        return;
    work->flags = (work->flags & ~(uint32_t)DT__CALL_INLINE) | (uint32_t)DT__CALL_HELD;
    header->payload[0] = offset_of(work, work->call.dst);
}

/* Whether this rank writes to src while peers may still read it. A large all_reduce in place does so too, but only
 * where its steps allow it. */
static bool is_overwritten(const dt_comm_call *call, size_t bytes) {
    return call->src == call->dst &&
           (call->op == DT_ALL_TO_ALL || (call->op == DT_ALL_REDUCE && bytes <= DT__EAGER_BYTES));
}

/* Small data is copied, so that no rank has to wait at the end. Above a few cache lines, waiting is faster than copying
 * if each rank has a core of its own and all wait for each other anyway. */
static bool is_copied(const dt_work *work, size_t bytes, bool readable) {
    bool waits = work->channel->shm->own_core && !dt__op_shapes[work->op].rooted;
    return bytes <= (waits && readable ? DT__COPIED_BYTES : DT__EAGER_BYTES);
}

/* Copies src into the channel's memory for small data. */
static dt_status copy_eager(dt_work *work, const void *src, size_t bytes, const void **published) {
    dt__channel *channel = work->channel;
    dt__heap *heap = &channel->shm->runtime->heap;
    if (!channel->eager &&
        !(channel->eager = dt__heap_alloc(heap, DT__N_ENTRIES * DT__EAGER_BYTES, DT_MEMORY_SCRATCH)))
        return dt__fail_memory(heap->ctx, DT__N_ENTRIES * DT__EAGER_BYTES, "small messages of a group");
    unsigned char *copy = channel->eager + work->seq % DT__N_ENTRIES * DT__EAGER_BYTES;
    if (bytes)
        memcpy(copy, src, bytes);
    *published = copy;
    return DT_OK;
}

static dt_status publish_strides(dt_work *work, struct header *header) {
    const dt__exchange *exchange = work->exchange;
    dt__heap *heap = &work->channel->shm->runtime->heap;
    size_t bytes = (size_t)exchange->n_strides * sizeof *exchange->src_strides;
    if (!exchange->src_strides || !bytes)
        return DT_OK;
    if (!(work->published_counts = dt__heap_alloc(heap, bytes, DT_MEMORY_SCRATCH)))
        return dt__fail_memory(heap->ctx, bytes, "strides of a redistribution");
    memcpy(work->published_counts, exchange->src_strides, bytes);
    header->payload[1] = offset_of(work, work->published_counts);
    return DT_OK;
}

/* An exchange publishes the caller's memory, or a copy if it is small and peers read nothing else. */
static dt_status publish_exchange(dt_work *work, struct header *header) {
    const dt__exchange *exchange = work->exchange;
    const void *published = exchange->src;
    size_t bytes = exchange->src_bytes;
    bool readable = dt__heap_holds(&work->channel->shm->runtime->heap, exchange->src, bytes);
    bool held = exchange->steps[1] || exchange->src_strides || !is_copied(work, bytes, readable);
    if (held)
        work->flags = (uint32_t)DT__CALL_HELD;
    else if (bytes)
        DT__TRY(copy_eager(work, exchange->src, bytes, &published));
    header->src = bytes ? offset_of(work, published) : 0;
    header->payload[0] = exchange->dst ? offset_of(work, exchange->dst) : 0;
    return publish_strides(work, header);
}

/* Selects the memory that peers read: the header itself, a copy, the caller's memory, or staging in rounds. */
static dt_status choose_memory(dt_work *work, struct header *header) {
    dt__heap *heap = &work->channel->shm->runtime->heap;
    const dt_comm_call *call = &work->call;
    if (work->op == DT__WORK_EXCHANGE)
        return publish_exchange(work, header);
    size_t bytes = (size_t)dt__src_count(work->group, call) * work->item_bytes;
    bool readable = dt__heap_holds(heap, call->src, bytes) && !is_overwritten(call, bytes);
    const void *published = call->src;
    work->flags = 0;
    if (bytes <= DT__INLINE_BYTES && !is_all_to_all_v(work)) {
        work->flags = (uint32_t)DT__CALL_INLINE;
        if (bytes)
            memcpy(header->payload, call->src, bytes);
        return DT_OK;
    }
    if (is_copied(work, bytes, readable)) {
        DT__TRY(copy_eager(work, call->src, bytes, &published));
        work->flags = is_all_to_all_v(work) ? (uint32_t)DT__CALL_HELD : 0;
    } else if (readable) {
        work->flags = (uint32_t)DT__CALL_HELD;
    } else {
        DT__TRY(alloc_staging(work));
        published = work->staging;
        work->flags = (uint32_t)(DT__CALL_HELD | DT__CALL_STAGED);
    }
    header->src = offset_of(work, published);
    return call->op == DT_ALL_REDUCE && bytes > DT__EAGER_BYTES ? choose_result_memory(work, bytes, header) : DT_OK;
}

/* Counts that differ between ranks are published, and each peer reads the one for itself. */
static dt_status publish_counts(dt_work *work, struct header *header) {
    int64_t n = work->group->n_ranks;
    dt__heap *heap = &work->channel->shm->runtime->heap;
    work->max_block = work->call.count;
    if (!is_all_to_all_v(work))
        return DT_OK;
    work->published_counts = dt__heap_alloc(heap, (size_t)n * sizeof(int64_t), DT_MEMORY_SCRATCH);
    if (!work->published_counts)
        return dt__fail_memory(heap->ctx, (size_t)n * sizeof(int64_t), "counts of an all_to_all");
    memcpy(work->published_counts, work->call.counts, (size_t)n * sizeof(int64_t));
    work->max_block = 0;
    for (int64_t i = 0; i < n; i++)
        work->max_block = dt__max_i64(work->max_block, work->call.counts[i]);
    header->payload[0] = offset_of(work, work->published_counts);
    header->payload[1] = (uint64_t)work->max_block;
    return DT_OK;
}

void dt__work_end(dt_work *work, dt_status status) {
    dt__span_end(work);
    dt__heap *heap = &work->channel->shm->runtime->heap;
    if (work->staging)
        dt__heap_free(heap, work->staging);
    if (work->published_counts)
        dt__heap_free(heap, work->published_counts);
    work->staging = NULL;
    work->published_counts = NULL;
    if (work->ring)
        atomic_store_explicit(&work->ring->state, status, memory_order_relaxed);
}

/* Invalidates a line in the caches of the peers that have read it, so that a later store does not wait for that. The
 * builtin emits a prefetch for reading unless the compiler targets a specific processor; processors that lack the
 * instruction ignore it. */
static void fetch_to_write(const void *line) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

static dt_status publish(dt_work *work) {
    struct dt__entry *entry = dt__own_entry(work);
    struct header header = {0};
    dt_status status = DT_OK;
    if (!work->refused) {
        status = choose_memory(work, &header);
        if (status == DT_OK && work->shares_far && work->op != DT__WORK_ALL_REDUCE)
            share_result(work, &header);
        if (status == DT_OK)
            status = publish_counts(work, &header);
    }
    if (status != DT_OK)
        return dt__shm_fail(work, status, "out of memory on this rank");
    entry->signature = work->signature | (work->refused ? DT__CALL_REFUSED : work->flags);
    entry->count = work->count;
    entry->check = work->check;
    entry->src = header.src;
    entry->done = work->channel->done;
    memcpy(entry->payload, header.payload, sizeof entry->payload);
    for (int i = 0; i < work->n_histories; i++)
        atomic_store_explicit(&entry->histories[i], work->history_words[i], memory_order_relaxed);
    atomic_store_explicit(&entry->seq, work->seq, memory_order_release);
    dt__wake_members(work->channel);
    if (work->flags & DT__CALL_HELD)
        fetch_to_write(&entry->phase);
    return DT_OK;
}

static void publish_phase(dt_work *work, uint32_t phase) {
    atomic_store_explicit(&dt__own_entry(work)->phase, work->seq << 32 | phase, memory_order_release);
    dt__wake_members(work->channel);
}

/* Operations need not end in the order of their numbers. */
static void mark_finished(dt__channel *channel, uint64_t seq) {
    channel->finished |= UINT64_C(1) << seq % 64;
    while (channel->done < channel->started && channel->finished >> (channel->done + 1) % 64 & 1) {
        channel->done++;
        channel->finished &= ~(UINT64_C(1) << channel->done % 64);
    }
}

/* The operation has ended on this rank: `done` advances up to the first operation that has not. The slot of the next
 * header is fetched for writing now, while no rank waits for it. */
void dt__publish_done(dt_work *work) {
    dt__channel *channel = work->channel;
    if (work->seq == channel->started && work->seq == channel->done + 1)
        channel->done = work->seq;
    else
        mark_finished(channel, work->seq);
    atomic_store_explicit(&channel->own->done, channel->done, memory_order_release);
    dt__wake_members(channel);
    fetch_to_write(&channel->own->entries[(work->seq + 1) % DT__N_ENTRIES]);
}

/* Between two meshes, members of one of them have its history alone. */
static bool histories_match(const dt_work *work, const struct dt__entry *entry) {
    for (int i = 0; i < 2; i++) {
        uint64_t other = atomic_load_explicit(&entry->histories[i], memory_order_relaxed);
        if (work->history_words[i] && other && other != work->history_words[i])
            return false;
    }
    return true;
}

bool dt__header_matches(const dt_work *work, const struct dt__entry *entry) {
    return dt__signature_matches(entry->signature, work->signature) && entry->count == work->count &&
           entry->check == work->check && !(entry->signature & DT__CALL_REFUSED) &&
           (work->n_histories < 2 || histories_match(work, entry));
}

/* Whether c sends to this rank as many elements as this rank expects of c. */
static bool counts_agree(dt_work *work, int64_t i, int64_t c, const struct dt__entry *entry) {
    uint64_t payload[2];
    const int64_t *counts;
    memcpy(payload, entry->payload, sizeof payload);
    counts = dt__peer_memory(work, c, payload[0], (size_t)work->group->n_ranks * sizeof *counts);
    work->max_block = dt__max_i64(work->max_block, (int64_t)payload[1]);
    return counts && counts[work->group->rank] == work->call.recv_counts[i];
}

static dt_status compare_headers(dt_work *work) {
    work->lockstep = work->flags & DT__CALL_ROUNDS;
    work->in_place = work->flags & DT__CALL_IN_PLACE;
    for (int64_t c = 0; c < work->channel->n; c++) {
        if (c == work->channel->me || !reads_from(work, c))
            continue;
        const struct dt__entry *entry = dt__entry_of(work, c);
        if (!dt__header_matches(work, entry))
            return dt__shm_mismatch(work, c);
        if (work->channel->peers[c].done < entry->done)
            work->channel->peers[c].done = entry->done;
        work->lockstep = work->lockstep || (entry->signature & DT__CALL_ROUNDS);
        work->acknowledge = work->acknowledge || (entry->signature & DT__CALL_HELD);
        work->in_place = work->in_place || (entry->signature & DT__CALL_IN_PLACE);
    }
    for (int64_t i = 0; is_all_to_all_v(work) && i < work->group->n_ranks; i++) {
        int64_t c = dt__member(work, i);
        if (c != work->channel->me && !counts_agree(work, i, c, dt__entry_of(work, c)))
            return dt__shm_mismatch(work, c);
    }
    return DT_OK;
}

static dt_status begin_steps(dt_work *work) {
    DT__TRY(compare_headers(work));
    int64_t range = dt__range(work), size = work->lockstep ? dt__round_size(work) : range;
    work->n_rounds = range > size ? dt__ceil_div(range, size) : 1;
    work->round = 0;
    work->step = work->lockstep ? DT__STEP_FILL : 0;
    enter_state(work, DT__WAIT_PHASES);
    return DT_OK;
}

/* Checks before the operation counts as done: a rank that was late may have read memory that its owner has reused
 * since. A rank that waits for no other also detects here that the group is broken. */
dt_status dt__check_late(dt_work *work) {
    bool unchanged = atomic_load(&work->channel->shm->segment->n_events) == work->n_events;
    return unchanged ? DT_OK : dt__shm_check_broken(work);
}

static dt_status begin_wait_readers(dt_work *work) {
    DT__TRY(dt__check_late(work));
    if (work->acknowledge || work->lockstep)
        publish_phase(work, DT__PHASE_DONE);
    enter_state(work, DT__WAIT_READERS);
    return DT_OK;
}

/* Runs the current step, for which all members are ready, and advances to the next step or round. */
static dt_status run_step(dt_work *work) {
    const dt__collective_steps *pull = dt__steps_of(work);
    dt_status status = DT_OK;
    bool announce = work->lockstep;
    if (work->step == DT__STEP_FILL) {
        if (work->flags & DT__CALL_STAGED)
            dt__fill_staging(work);
        publish_phase(work, phase_base(work) + 1);
        work->step = 0;
        return DT_OK;
    }
    if (pull->steps[work->step])
        status = pull->steps[work->step](work);
    if (status != DT_OK)
        return status;
    bool last = work->step == 2 || !pull->steps[work->step + 1];
    if (announce || !last)
        publish_phase(work, phase_base(work) + (uint32_t)(last ? PHASES_PER_ROUND : work->step + 2));
    if (!last) {
        work->step++;
    } else if (++work->round < work->n_rounds) {
        work->step = work->lockstep ? DT__STEP_FILL : 0;
    } else {
        return begin_wait_readers(work);
    }
    return DT_OK;
}

static dt_status finish(dt_work *work) {
    dt__work_end(work, DT_OK);
    dt__publish_done(work);
    return DT_OK;
}

/* A refused call ends when it is published; members that do not refuse it detect the mismatch. */
static dt_status after_publishing(dt_work *work) {
    if (work->refused) {
        work->channel->refused = work->seq;
        atomic_store(&work->channel->own->refused, work->seq);
        return finish(work);
    }
    enter_state(work, DT__WAIT_HEADERS);
    return DT_IN_PROGRESS;
}

static dt_status advance_once(dt_work *work) {
    switch ((enum dt__work_state)work->state) {
    case DT__WAIT_SLOT:
        DT__TRY(publish(work));
        return after_publishing(work);
    case DT__WAIT_HEADERS:
        DT__TRY(begin_steps(work));
        return DT_IN_PROGRESS;
    case DT__WAIT_PHASES:
        DT__TRY(run_step(work));
        return DT_IN_PROGRESS;
    case DT__WAIT_READERS:
        return finish(work);
    }
    return DT_ERR_INTERNAL;
}

static bool has_no_readers(const dt_work *work) {
    return work->state == DT__WAIT_READERS && !(work->flags & DT__CALL_HELD);
}

dt_status dt__shm_step(dt__runtime *runtime, dt_work *work) {
    if (!work->channel)
        return dt__run_single_rank(runtime, work);
    if (work->span)
        return dt__span_step(work);
    if (work->channel->broken)
        return dt__shm_broken(work);
    while (has_no_readers(work) || all_arrived(work)) {
        dt_status status = advance_once(work);
        if (status != DT_IN_PROGRESS)
            return status;
    }
    return DT_IN_PROGRESS;
}

/* Records the call in the ring of recent calls. */
static void record_call(dt__shm *shm, dt_work *work) {
    struct dt__rank_block *own = shm->own;
    uint64_t number = atomic_load_explicit(&own->n_calls, memory_order_relaxed);
    struct dt__ring_call *call = &own->ring[number % DT__N_RING];
    const dt__channel *channel = work->channel;
    atomic_store_explicit(&call->signature, work->signature, memory_order_relaxed);
    atomic_store_explicit(&call->count, work->count, memory_order_relaxed);
    atomic_store_explicit(&call->channel, channel->key, memory_order_relaxed);
    atomic_store_explicit(&call->seq, work->seq, memory_order_relaxed);
    atomic_store_explicit(&call->members, (uint64_t)channel->n, memory_order_relaxed);
    atomic_store_explicit(&call->set[0], channel->set[0], memory_order_relaxed);
    atomic_store_explicit(&call->set[1], channel->set[1], memory_order_relaxed);
    atomic_store_explicit(&call->program, dt__program_call_word(shm), memory_order_relaxed);
    atomic_store_explicit(&call->start_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&call->state, DT_IN_PROGRESS, memory_order_relaxed);
    atomic_store_explicit(&own->n_calls, number + 1, memory_order_release);
    work->ring = call;
}

void dt__blame_peer(dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    struct dt__rank_block *own = runtime && runtime->shm ? runtime->shm->own : NULL;
    uint64_t number = own ? atomic_load_explicit(&own->n_calls, memory_order_relaxed) : 0;
    if (number)
        atomic_store_explicit(&own->ring[(number - 1) % DT__N_RING].state, DT_ERR_PEER, memory_order_relaxed);
}

/* A header contains a hash of all calls up to its own, so that two ranks which made different calls without reading
 * each other's headers (each the root of its own broadcast) detect it as soon as one reads the other's header. */
static void extend_history(dt__channel *channel, dt_work *work) {
    uint64_t signature = (work->signature & ~DT__CALL_OWN_FLAGS) | (work->refused ? DT__CALL_REFUSED : 0);
    uint64_t call = signature + work->count * UINT64_C(0xbf58476d1ce4e5b9);
    channel->history = dt__hash_u64(call + work->check, channel->history);
    work->check = channel->history;
}

static dt_status refuse_apart(dt_ctx *ctx, const dt_work *work) {
    char call[128];
    dt__describe_call(work->signature, work->count, call, sizeof call);
    return dt__fail_local(ctx, DT_ERR_STATE, "expected no transfer between dt_apart_begin and dt_apart_end, got %s",
                          call);
}

dt_status dt__shm_start(dt__runtime *runtime, dt_work *work) {
    dt__shm *shm = runtime->shm;
    dt_group *group = work->group;
    bool single = dt__op_shapes[work->op].pair ? work->call.root == group->rank : group->n_ranks == 1;
    if (shm->aborted)
        return runtime->ctx->status != DT_OK ? runtime->ctx->status : DT_ERR_STATE;
    if (single)
        return DT_OK;
    if (runtime->ctx->call.apart)
        return refuse_apart(runtime->ctx, work);
    work->channel = dt__channel_of(shm, work);
    if (!work->channel)
        return runtime->ctx->status;
    work->published_counts = NULL;
    work->staging = NULL;
    work->seq = work->channel->started + 1;
    if (work->channel->broken)
        return dt__shm_broken(work);
    work->channel->started = work->seq;
    work->n_events = work->channel->n_events;
    work->step = 0;
    work->round = 0;
    work->n_rounds = 1;
    work->flags = 0;
    work->lockstep = false;
    work->acknowledge = false;
    work->in_place = false;
    work->max_block = 0;
    work->shares_far = dt__shares_far_memory(work);
    enter_state(work, DT__WAIT_SLOT);
    extend_history(work->channel, work);
    record_call(shm, work);
    return work->channel->remotes ? dt__span_start(work) : DT_OK;
}
