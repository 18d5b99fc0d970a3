/* SPDX-License-Identifier: Apache-2.0
 *
 * The state machine of an operation on the shm transport: publish a header, wait for the headers of the members that
 * this rank reads from, run the steps, wait for the members that read from this rank. Nothing blocks; dt__shm_waits_for
 * decides what each state waits for.
 */
#include "shm/shm_operation.h"

#include "base/size.h"

#include <string.h>

static dt__heap *heap_of(const dt_work *work) { return &work->group->runtime->heap; }

static bool is_all_to_all_v(const dt_work *work) { return work->op == DT__WORK_ALL_TO_ALL && work->call.counts; }

/* Whether this rank reads from member c, and whether c reads from this rank. A barrier reads only headers. */
static bool reads_from(const dt_work *work, int64_t c) {
    const dt__op_shape *shape = &dt__op_shapes[work->op];
    if (shape->pair)
        return work->op == DT__WORK_RECV;
    if (shape->src_on_root)
        return c == dt__member(work, work->call.root);
    return !shape->dst_on_root || work->group->rank == work->call.root;
}

static bool is_read_by(const dt_work *work, int64_t c) {
    const dt__op_shape *shape = &dt__op_shapes[work->op];
    if (shape->pair)
        return work->op == DT__WORK_SEND;
    if (shape->dst_on_root)
        return c == dt__member(work, work->call.root);
    return !shape->src_on_root || work->group->rank == work->call.root;
}

/* 0 also while the member has no block yet. */
static uint32_t phase_of(const dt_work *work, int64_t c) {
    if (!dt__channel_peer_block(work->channel, c))
        return 0;
    uint64_t word = atomic_load_explicit(&dt__entry_of(work, c)->phase, memory_order_acquire);
    return word >> 32 == (uint32_t)work->seq ? (uint32_t)word : 0;
}

/* Phases of a round are: 1 filled, 2 first step done, 3 all steps done. */
enum { PHASES_PER_ROUND = 3 };
static uint32_t phase_base(const dt_work *work) { return (uint32_t)(work->round * PHASES_PER_ROUND); }

/* In a round, before step 0 all members that this rank reads from must have filled their staging; before a later step
 * all that it reads from must have finished the one before; before filling again, the readers must have finished the
 * previous round. */
static bool waits_for_phase(dt_work *work, int64_t c) {
    uint32_t base = phase_base(work);
    if (work->step == DT__STEP_FILL)
        return work->round > 0 && is_read_by(work, c) && phase_of(work, c) < base;
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

bool dt__shm_waits_for(dt_work *work, int64_t c) {
    static bool (*const waits[])(dt_work *, int64_t) = {[DT__WAIT_SLOT] = waits_for_slot,
                                                        [DT__WAIT_HEADERS] = waits_for_header,
                                                        [DT__WAIT_PHASES] = waits_for_phase,
                                                        [DT__WAIT_READERS] = waits_for_reader};
    return c != work->channel->me && waits[work->state](work, c);
}

/* Checks the members in turn, starting with the one that was missing last. */
static bool all_arrived(dt_work *work) {
    while (work->missing < work->channel->n && !dt__shm_waits_for(work, work->missing))
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
    return (uint64_t)((const char *)memory - (const char *)dt__shm_of_work(work)->segment);
}

static dt_status alloc_staging(dt_work *work) {
    dt__heap *heap = heap_of(work);
    if (!work->staging && !(work->staging = dt__heap_alloc(heap, dt__staging_bytes(work), DT_MEMORY_SCRATCH)))
        return dt__fail_memory(heap->ctx, dt__staging_bytes(work), "staging");
    return DT_OK;
}

/* Selects where peers read the slice that this rank reduces: in dst or, if that is outside the heap, in staging. */
static dt_status choose_result_memory(dt_work *work, size_t bytes, struct header *header) {
    if (work->call.src == work->call.dst)
        work->flags |= (uint32_t)DT__CALL_IN_PLACE;
    if (dt__is_in_heap(heap_of(work)->ctx, work->call.dst, bytes)) {
        header->payload[0] = offset_of(work, work->call.dst);
        return DT_OK;
    }
    DT__TRY(alloc_staging(work));
    work->flags |= (uint32_t)DT__CALL_RESULT_STAGED;
    header->payload[0] = offset_of(work, work->staging) + dt__staged_result_at(work);
    return DT_OK;
}

/* Whether this rank writes to src while peers may still read it. A large in-place all_reduce does so too, but only
 * where its steps allow it. */
static bool is_overwritten(const dt_comm_call *call, size_t bytes) {
    return call->src == call->dst &&
           (call->op == DT_ALL_TO_ALL || (call->op == DT_ALL_REDUCE && bytes <= DT__EAGER_BYTES));
}

/* Small data is copied, so that no rank has to wait at the end. Above a few cache lines, waiting is faster than copying
 * if each rank has a core of its own and all wait for each other anyway. */
static bool is_copied(const dt_work *work, size_t bytes, bool readable) {
    bool waits = dt__shm_of_work(work)->own_core && !dt__op_shapes[work->op].rooted;
    return bytes <= (waits && readable ? DT__COPIED_BYTES : DT__EAGER_BYTES);
}

/* Copies src into the channel's memory for small data. */
static dt_status copy_eager(dt_work *work, const void *src, size_t bytes, const void **published) {
    dt__channel *channel = work->channel;
    dt__heap *heap = heap_of(work);
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
    dt__heap *heap = heap_of(work);
    size_t bytes = (size_t)exchange->n_strides * sizeof *exchange->src_strides;
    if (!exchange->src_strides || !bytes) {
        header->payload[1] = exchange->fill ? DT__FILLED_IN_ROUNDS : 0;
        return DT_OK;
    }
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
    bool readable = dt__is_in_heap(heap_of(work)->ctx, exchange->src, bytes);
    bool held = exchange->steps[1] || exchange->src_strides || exchange->fill || !is_copied(work, bytes, readable);
    if (held)
        work->flags = (uint32_t)(exchange->fill ? DT__CALL_HELD | DT__CALL_STAGED : DT__CALL_HELD);
    else if (bytes)
        DT__TRY(copy_eager(work, exchange->src, bytes, &published));
    header->src = bytes ? offset_of(work, published) : 0;
    header->payload[0] = exchange->dst ? offset_of(work, exchange->dst) : 0;
    return publish_strides(work, header);
}

/* Selects the memory that peers read: the header itself, a copy, the caller's memory, or staging in rounds. */
static dt_status choose_memory(dt_work *work, struct header *header) {
    dt__heap *heap = heap_of(work);
    const dt_comm_call *call = &work->call;
    if (work->op == DT__WORK_EXCHANGE)
        return publish_exchange(work, header);
    size_t bytes = (size_t)dt__src_count(work->group, call) * work->item_bytes;
    bool readable = dt__is_in_heap(heap->ctx, call->src, bytes) && !is_overwritten(call, bytes);
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
    dt__heap *heap = heap_of(work);
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

dt_status dt__shm_reserve(dt_work *work) {
    struct header header = {0};
    DT__TRY(choose_memory(work, &header));
    return publish_counts(work, &header);
}

/* Members read it when they compare headers, so that this rank waits for them. */
static dt_status publish_verdict(dt_work *work, struct dt__entry *entry) {
    dt__heap *heap = heap_of(work);
    work->published_verdict = dt__heap_alloc(heap, sizeof *work->verdict, DT_MEMORY_SCRATCH);
    if (!work->published_verdict)
        return dt__fail_memory(heap->ctx, sizeof *work->verdict, "a verdict on data");
    memcpy(work->published_verdict, work->verdict, sizeof *work->verdict);
    entry->verdict = offset_of(work, work->published_verdict);
    work->flags |= (uint32_t)(DT__SIGNATURE_VERDICT | DT__CALL_HELD);
    return DT_OK;
}

static dt_status read_verdict(dt_work *work, int64_t c, const struct dt__entry *entry) {
    const dt__data_verdict *published = dt__shm_peer_memory(work, c, entry->verdict, sizeof *published);
    if (!published)
        return dt__work_fail_outside_heap(work, c);
    dt_status status = dt__verdict_merge(work, published);
    return status == DT_OK ? DT_OK : dt__work_fail(work, status, "out of memory on this rank");
}

void dt__shm_end(dt_work *work) {
    dt__heap *heap = heap_of(work);
    if (work->staging)
        dt__heap_free(heap, work->staging);
    if (work->published_counts)
        dt__heap_free(heap, work->published_counts);
    if (work->published_verdict)
        dt__heap_free(heap, work->published_verdict);
    work->staging = NULL;
    work->published_counts = NULL;
    work->published_verdict = NULL;
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
        if (status == DT_OK)
            status = publish_counts(work, &header);
        if (status == DT_OK && work->verdict)
            status = publish_verdict(work, entry);
    }
    if (status != DT_OK)
        return dt__work_fail(work, status, "out of memory on this rank");
    entry->signature = work->signature | (work->refused ? DT__CALL_REFUSED : work->flags);
    entry->count = work->count;
    entry->check = work->check;
    entry->src = header.src;
    entry->done = work->channel->done;
    memcpy(entry->payload, header.payload, sizeof entry->payload);
    for (int i = 0; i < work->n_histories; i++)
        atomic_store_explicit(&entry->histories[i], work->history_words[i], memory_order_relaxed);
    atomic_store_explicit(&entry->seq, work->seq, memory_order_release);
    dt__shm_wake_members(work->channel);
    if (work->flags & DT__CALL_HELD)
        fetch_to_write(&entry->phase);
    return DT_OK;
}

static void publish_phase(dt_work *work, uint32_t phase) {
    atomic_store_explicit(&dt__own_entry(work)->phase, work->seq << 32 | phase, memory_order_release);
    dt__shm_wake_members(work->channel);
}

/* The slot of the next header is fetched for writing now, while no rank waits for it. */
static void publish_done(const dt_work *work) {
    dt__channel *channel = work->channel;
    dt__channel_count_done(channel, work->seq);
    dt__shm_wake_members(channel);
    fetch_to_write(&channel->own->entries[(work->seq + 1) % DT__N_ENTRIES]);
}

/* Whether c sends to this rank as many elements as this rank expects of c. */
static bool counts_agree(dt_work *work, int64_t i, int64_t c, const struct dt__entry *entry) {
    uint64_t payload[2];
    const int64_t *counts;
    memcpy(payload, entry->payload, sizeof payload);
    counts = dt__shm_peer_memory(work, c, payload[0], (size_t)work->group->n_ranks * sizeof *counts);
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
            return dt__work_mismatch(work, c);
        if (work->channel->peers[c].done < entry->done)
            work->channel->peers[c].done = entry->done;
        work->lockstep = work->lockstep || (entry->signature & DT__CALL_ROUNDS);
        work->acknowledge = work->acknowledge || (entry->signature & DT__CALL_HELD);
        work->in_place = work->in_place || (entry->signature & DT__CALL_IN_PLACE);
        if (__builtin_expect(entry->signature & DT__SIGNATURE_VERDICT, 0))
            DT__TRY(read_verdict(work, c, entry));
    }
    for (int64_t i = 0; is_all_to_all_v(work) && i < work->group->n_ranks; i++) {
        int64_t c = dt__member(work, i);
        if (c != work->channel->me && !counts_agree(work, i, c, dt__entry_of(work, c)))
            return dt__work_mismatch(work, c);
    }
    return DT_OK;
}

static int64_t count_rounds(const dt_work *work) {
    if (!work->lockstep)
        return 1;
    int64_t n = work->op == DT__WORK_EXCHANGE ? work->exchange->n_rounds(work->exchange->user)
                                              : dt__ceil_div(dt__range(work), dt__round_size(work));
    return dt__max_i64(n, 1);
}

static dt_status begin_steps(dt_work *work) {
    DT__TRY(compare_headers(work));
    work->n_rounds = count_rounds(work);
    work->round = 0;
    work->step = work->lockstep ? DT__STEP_FILL : 0;
    enter_state(work, DT__WAIT_PHASES);
    return DT_OK;
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
        if (work->flags & DT__CALL_STAGED && work->op == DT__WORK_EXCHANGE)
            work->exchange->fill(work->round, work->exchange->user);
        else if (work->flags & DT__CALL_STAGED)
            dt__fill_staging(work);
        publish_phase(work, phase_base(work) + 1);
        work->step = 0;
        return DT_OK;
    }
    if (pull->steps[work->step])
        status = pull->steps[work->step](work);
    if (status != DT_OK)
        return status;
    bool is_last_round = work->round == work->n_rounds - 1; /* the second step of an exchange is made once */
    bool last = work->step == 1 || !pull->steps[work->step + 1] || (work->op == DT__WORK_EXCHANGE && !is_last_round);
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
    dt__shm_end(work);
    dt__work_record_end(work, DT_OK);
    publish_done(work);
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
    if (work->channel->broken)
        return dt__work_broken(work);
    while (has_no_readers(work) || all_arrived(work)) {
        dt_status status = advance_once(work);
        if (status != DT_IN_PROGRESS)
            return status;
    }
    return DT_IN_PROGRESS;
}

dt_status dt__shm_start(dt__runtime *runtime, dt_work *work) {
    (void)runtime;
    work->step = 0;
    work->round = 0;
    work->n_rounds = 1;
    work->flags = 0;
    work->lockstep = false;
    work->acknowledge = false;
    work->in_place = false;
    work->max_block = 0;
    enter_state(work, DT__WAIT_SLOT);
    return DT_OK;
}
