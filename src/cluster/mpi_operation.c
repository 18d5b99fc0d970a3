/* SPDX-License-Identifier: Apache-2.0
 *
 * An operation of a channel that spans nodes, on one rank: the stages of its schedule one after the other, each a set
 * of messages, a collective of this node, or both, and tasks. Every message begins with a packet that describes the
 * call of its sender; a call that does not match fails the operation. Nothing blocks.
 *
 * Operations in progress at the same time have their collectives on the node one after the other, in the order that
 * the operations were started, because all ranks of the node must number them alike.
 */
#include "cluster/spanning.h"

#include "base/size.h"

#include <inttypes.h>
#include <string.h>

/* A message of at most DT__MESSAGE_BYTES whose peer is gone has this time to complete. */
#define TRANSFER_NS INT64_C(2000000000)
/* Time-outs are longer: a rank that took all packets less than this long ago has those of peers that gave up. */
#define LATE_NS INT64_C(10000000)

/* Items of the arrays of a schedule. */
static struct dt__stage *stage_at(const dt__span *span, int64_t i) {
    return (struct dt__stage *)span->stages.items + i;
}
static struct dt__span_message *transfer_at(const dt__span *span, int64_t i) {
    return (struct dt__span_message *)span->transfers.items + i;
}
static const int64_t *counts_at(const dt__span *span, int64_t at) {
    return at < 0 ? NULL : (const int64_t *)span->counts.items + at;
}

static struct dt__packet_head head_of(const dt_work *work, enum dt__packet_kind kind) {
    return (struct dt__packet_head){
        .kind = (uint16_t)kind,
        .key = work->channel->key,
        .seq = work->seq,
        .stage = work->span->stage < work->span->stages.n ? stage_at(work->span, work->span->stage)->number : 0,
        .signature = work->signature | (work->refused ? DT__CALL_REFUSED : 0),
        .count = work->count,
        .check = work->check,
        .histories = {work->n_histories > 0 ? work->history_words[0] : 0,
                      work->n_histories > 1 ? work->history_words[1] : 0},
    };
}

static void publish_to(dt_work *work, int64_t c) {
    dt__packet_send(work->span->mpi, work->channel->ranks[c], head_of(work, DT__PACKET_CALL), NULL, 0);
}

void dt__span_publish_call(dt_work *work) {
    if (work->span->is_published)
        return;
    work->span->is_published = true;
    for (int64_t c = 0; c < work->channel->n; c++)
        if (c != work->channel->me && dt__span_waits_for(work, c))
            publish_to(work, c);
}

/* The member of the local channel that has the rank of member c, or -1. */
static int64_t local_member(const dt_work *work, int64_t c) {
    const dt__channel *local = work->span->local.channel;
    for (int64_t i = 0; local && i < local->n; i++)
        if (local->ranks[i] == work->channel->ranks[c])
            return i;
    return -1;
}

static dt_work *earlier_on_node(const dt_work *work);

/* What the stage's collective on this node waits for; one that has not begun waits for an earlier operation. */
static bool local_waits_for(const dt_work *work, int64_t c) {
    if (!stage_at(work->span, work->span->stage)->is_local || work->span->local_done)
        return false;
    const dt_work *earlier = work->span->is_running ? NULL : earlier_on_node(work);
    if (!work->span->is_running)
        return earlier && dt__span_waits_for(earlier, c);
    int64_t i = local_member(work, c);
    return i >= 0 && dt__waits_for(&work->span->local, i);
}

bool dt__span_waits_for(const dt_work *work, int64_t c) {
    const dt__span *span = work->span;
    if (span->stage >= span->stages.n)
        return false;
    if (local_waits_for(work, c))
        return true;
    const struct dt__stage *stage = stage_at(span, span->stage);
    for (int64_t i = stage->first; i < stage->first + stage->n; i++)
        if (transfer_at(span, i)->c == c && !transfer_at(span, i)->done)
            return true;
    return false;
}

/* A member on this node is known to have finished the operation by other means than messages. */
bool dt__span_needs(const dt_work *work, int64_t c) {
    const dt__span *span = work->span;
    const struct dt__channel_block *block = dt__channel_peer_block(work->channel, c);
    if (span->stage >= span->stages.n || (block && atomic_load(&block->done) >= work->seq))
        return false;
    if (local_waits_for(work, c))
        return true;
    const struct dt__stage *stage = stage_at(span, span->stage);
    int64_t overdue_ns = dt__now_ns() - TRANSFER_NS;
    for (int64_t i = stage->first; i < stage->first + stage->n; i++) {
        const struct dt__span_message *transfer = transfer_at(span, i);
        if (transfer->c == c && !transfer->done && (!transfer->begun || transfer->begun_ns < overdue_ns))
            return true;
    }
    return false;
}

/* The header of a packet as a member on this node would publish it. */
static struct dt__entry entry_of(const struct dt__packet_head *head) {
    struct dt__entry entry = {.signature = head->signature, .count = head->count, .check = head->check};
    for (int i = 0; i < 2; i++)
        atomic_init(&entry.histories[i], head->histories[i]);
    return entry;
}

/* Compares the call of a packet; the first that differs fails the operation in its next step. */
static bool matches(dt_work *work, int64_t c, const struct dt__packet_head *head) {
    struct dt__entry entry = entry_of(head);
    if (dt__header_matches(work, &entry))
        return true;
    if (!work->span->differs) {
        work->span->differs = true;
        work->span->other_c = c;
        work->span->other = *head;
    }
    return false;
}

/* The receive that a packet of data is for, if its stage has begun. */
static struct dt__span_message *receive_of(dt_work *work, int64_t c, uint32_t stage_number) {
    dt__span *span = work->span;
    const struct dt__stage *stage = stage_at(span, span->stage);
    if (!span->begun || stage->number != stage_number)
        return NULL;
    for (int64_t i = stage->first; i < stage->first + stage->n; i++)
        if (!transfer_at(span, i)->sends && transfer_at(span, i)->c == c)
            return transfer_at(span, i);
    return NULL;
}

static void report_taken(dt_work *work, int64_t c) {
    dt__remote *remote = &work->channel->remotes[c];
    if (++remote->n_taken - remote->n_reported < DT__PACKET_WINDOW / 4)
        return;
    remote->n_reported = remote->n_taken;
    dt__packet_send(
        work->span->mpi, work->channel->ranks[c],
        (struct dt__packet_head){.kind = DT__PACKET_CREDIT, .key = work->channel->key, .seq = remote->n_taken}, NULL,
        0);
}

static size_t next_piece(const dt__mpi *mpi, const struct dt__span_message *transfer) {
    size_t left = transfer->bytes - transfer->at;
    return left < mpi->message_bytes ? left : mpi->message_bytes;
}

static void post_piece(dt_work *work, struct dt__span_message *transfer) {
    dt__mpi *mpi = work->span->mpi;
    int rank = (int)work->channel->ranks[transfer->c], tag = (int)transfer->tag;
    size_t bytes = next_piece(mpi, transfer);
    unsigned char *data = transfer->data + transfer->at;
    transfer->begun_ns = dt__now_ns();
    bool posted = transfer->sends ? mpi->table->send(mpi->world, data, bytes, rank, tag, &transfer->request)
                                  : mpi->table->receive(mpi->world, data, bytes, rank, tag, &transfer->request);
    if (!posted)
        mpi->failed = true;
}

/* The packets of a message arrive in order. */
static void take_data(struct dt__span_message *transfer, const struct dt__packet *packet) {
    size_t left = transfer->bytes - transfer->at;
    size_t bytes = packet->head.text_bytes < left ? packet->head.text_bytes : left;
    if (bytes)
        memcpy(transfer->data + transfer->at, packet->payload, bytes);
    transfer->at += bytes;
    transfer->done = transfer->at == transfer->bytes;
}

/* Takes the packet of a message that this rank is ready to receive. A size that differs (an all_to_all whose ranks
 * disagree about a block) is a mismatch. */
static void begin_receive(dt_work *work, struct dt__span_message *transfer, const struct dt__packet *packet) {
    report_taken(work, transfer->c);
    if (packet->head.bytes != transfer->bytes) {
        work->span->differs = true;
        work->span->other_c = transfer->c;
        work->span->other = packet->head;
        return;
    }
    transfer->begun = true;
    if (!packet->head.tag) {
        take_data(transfer, packet);
        return;
    }
    transfer->tag = packet->head.tag;
    post_piece(work, transfer);
}

static dt_work *find_active(const dt__mpi *mpi, uint64_t key, uint64_t seq) {
    dt_work *work = mpi->active;
    while (work && (work->channel->key != key || work->seq != seq))
        work = work->span->next;
    return work;
}

static int64_t member_of_rank(const dt__channel *channel, int64_t rank) {
    for (int64_t c = 0; c < channel->n; c++)
        if (channel->ranks[c] == rank)
            return c;
    return -1;
}

static void take_verdict(dt_work *work, const struct dt__packet *packet) {
    dt__data_verdict verdict;
    if (packet->head.text_bytes != sizeof verdict)
        return;
    memcpy(&verdict, packet->payload, sizeof verdict);
    if (dt__verdict_merge(work, &verdict) != DT_OK)
        work->span->mpi->out_of_memory = true;
}

bool dt__span_take(dt__mpi *mpi, struct dt__held_packet *held) {
    const struct dt__packet_head *head = &held->packet.head;
    dt_work *work = find_active(mpi, head->key, head->seq);
    if (!work) {
        const dt__channel *channel = dt__map_get(&mpi->runtime->board->channels, head->key, NULL, NULL);
        return channel && (channel->broken || head->seq <= channel->started); /* ended here: nothing to do */
    }
    int64_t c = member_of_rank(work->channel, held->rank);
    if (c < 0 || !matches(work, c, head) || head->kind == DT__PACKET_CALL)
        return true;
    if (head->kind == DT__PACKET_VERDICT) {
        take_verdict(work, &held->packet);
        return true;
    }
    struct dt__span_message *transfer = receive_of(work, c, head->stage);
    if (!transfer || (transfer->begun && (transfer->done || transfer->tag)))
        return false;
    if (transfer->begun) {
        report_taken(work, transfer->c);
        take_data(transfer, &held->packet);
    } else {
        begin_receive(work, transfer, &held->packet);
    }
    return true;
}

/* Data that fits is sent in packets, and the transfer is then complete. */
static void send_in_packets(dt_work *work, struct dt__span_message *transfer, struct dt__packet_head head) {
    do {
        size_t left = transfer->bytes - transfer->at, bytes = left < DT__PACKET_PAYLOAD ? left : DT__PACKET_PAYLOAD;
        dt__packet_send(work->span->mpi, work->channel->ranks[transfer->c], head, transfer->data + transfer->at,
                        bytes);
        work->channel->remotes[transfer->c].n_sent++;
        transfer->at += bytes;
    } while (transfer->at < transfer->bytes);
    transfer->done = true;
}

/* The verdict of this rank precedes its data, so that with any algorithm it reaches all ranks that the data reaches. */
static void send_verdict(dt_work *work, int64_t c) {
    if (__builtin_expect(work->verdict != NULL, 0))
        dt__packet_send(work->span->mpi, work->channel->ranks[c], head_of(work, DT__PACKET_VERDICT), work->verdict,
                        sizeof *work->verdict);
}

static void begin_send(dt_work *work, struct dt__span_message *transfer) {
    dt__mpi *mpi = work->span->mpi;
    dt__remote *remote = &work->channel->remotes[transfer->c];
    if (remote->n_sent - remote->n_credited + DT__MAX_DATA_PACKETS > DT__PACKET_WINDOW)
        return;
    struct dt__packet_head head = head_of(work, DT__PACKET_DATA);
    head.bytes = transfer->bytes;
    transfer->begun = true;
    send_verdict(work, transfer->c);
    if (transfer->bytes <= dt__packets_max_bytes()) {
        send_in_packets(work, transfer, head);
        return;
    }
    head.tag = transfer->tag = 1 + mpi->n_tags++ % 32000;
    remote->n_sent++;
    dt__packet_send(mpi, work->channel->ranks[transfer->c], head, NULL, 0);
    post_piece(work, transfer);
}

static void test_transfer(dt_work *work, struct dt__span_message *transfer) {
    bool done = false;
    if (!work->span->mpi->table->test(&transfer->request, &done, NULL, NULL))
        work->span->mpi->failed = true;
    if (!done)
        return;
    transfer->at += next_piece(work->span->mpi, transfer);
    work->round++;
    transfer->done = transfer->at == transfer->bytes;
    if (!transfer->done)
        post_piece(work, transfer);
}

/* Another piece has to be posted after the one in transfer. */
static bool has_more_pieces(const dt__mpi *mpi, const struct dt__span_message *transfer) {
    return transfer->bytes - transfer->at > mpi->message_bytes;
}

/* Messages that follow an incomplete one are not tested yet, unless they have more pieces: the peer may wait for the
 * next piece to be posted before it receives what this rank is waiting to send. */
static bool advance_stage(dt_work *work) {
    dt__span *span = work->span;
    const struct dt__stage *stage = stage_at(span, span->stage);
    bool done = true, waits = false;
    for (int64_t i = stage->first; i < stage->first + stage->n; i++) {
        struct dt__span_message *transfer = transfer_at(span, i);
        if (!transfer->done && !transfer->begun && transfer->sends)
            begin_send(work, transfer);
        else if (!transfer->done && transfer->tag && (!waits || has_more_pieces(span->mpi, transfer)))
            test_transfer(work, transfer);
        waits = waits || (transfer->tag && !transfer->done);
        done = done && transfer->done;
    }
    return done;
}

/* The operation of the same channel that has its collectives on the node before this one, or NULL. */
static dt_work *earlier_on_node(const dt_work *work) {
    dt_work *first = NULL;
    for (dt_work *other = work->span->mpi->active; other; other = other->span->next)
        if (other->channel == work->channel && other->seq < (first ? first->seq : work->seq) &&
            other->span->stage + other->span->local_done <= other->span->last_local)
            first = other;
    return first;
}

/* The node's collective publishes the call of the operation, so that its members compare it and errors name it. */
static dt_status start_local(dt_work *work) {
    dt__span *span = work->span;
    const struct dt__stage *stage = stage_at(span, span->stage);
    dt_comm_call call = stage->call;
    dt_group *group = dt__node_group(work);
    if (!group)
        return dt__work_fail(work, DT_ERR_MEMORY, "out of memory on this rank");
    call.counts = counts_at(span, stage->counts_at);
    call.recv_counts = counts_at(span, stage->recv_counts_at);
    dt__call_prepare(group, (dt__work_op)call.op, &call, work->item_bytes, &span->local);
    span->local.signature = work->signature;
    span->local.count = work->count;
    span->local.check = work->check;
    memcpy(span->local.histories, work->histories, sizeof work->histories);
    memcpy(span->local.history_words, work->history_words, sizeof work->history_words);
    span->local.n_histories = work->n_histories;
    span->local.verdict = work->verdict;
    span->local.ctx = work->ctx;
    dt_status status = dt__work_start(group->runtime, &span->local);
    span->is_running = status == DT_OK;
    return status;
}

/* A failure on this node has been recorded, and is published to the others. */
static dt_status end_failed(dt_work *work, dt_status status) {
    dt_ctx *ctx = work->group->runtime->ctx;
    work->span->is_running = false;
    dt__break_channel(work->channel, work->seq, status, ctx->text);
    dt__work_end(work, status);
    return status;
}

/* What the members on this node know, when their collective has read it or has failed. */
static void adopt_verdict(dt_work *work) {
    dt__data_verdict *local = work->span->local.verdict;
    work->span->local.verdict = NULL;
    if (!local || local == work->verdict)
        return;
    if (!work->verdict) {
        work->verdict = local;
        return;
    }
    (void)dt__verdict_merge(work, local);
    dt__verdict_free(work->group->runtime->ctx, local);
}

static dt_status advance_local(dt_work *work) {
    dt__span *span = work->span;
    if (!span->is_running && earlier_on_node(work))
        return DT_IN_PROGRESS;
    int64_t before = span->local.round + span->local.step + span->local.state;
    dt_status status = span->is_running ? DT_OK : start_local(work);
    if (!work->span) /* it has failed */
        return status;
    if (status == DT_OK)
        status = dt__transport_shm.step(work->group->runtime, &span->local);
    work->round += span->local.round + span->local.step + span->local.state != before;
    if (status == DT_OK) {
        span->is_running = false;
        adopt_verdict(work);
    }
    return status == DT_OK || status == DT_IN_PROGRESS ? status : end_failed(work, status);
}

static dt_status fail_differs(dt_work *work) {
    struct dt__entry entry = entry_of(&work->span->other);
    return dt__work_mismatch_with(work, work->span->other_c, &entry);
}

static dt_status finish(dt_work *work) {
    dt__work_end(work, DT_OK);
    dt__channel_count_done(work->channel, work->seq);
    dt__transport_shm.wake(work->channel);
    return DT_OK;
}

static void run_tasks(const dt_work *work, const struct dt__stage *stage) {
    const dt__span *span = work->span;
    const dt__runtime *runtime = work->group->runtime;
    const struct dt__span_task *task = (const struct dt__span_task *)span->tasks.items + stage->first_task;
    for (const struct dt__span_task *end = task + stage->n_tasks; task < end; task++)
        if (task->n_sources)
            runtime->kernels->reduce(work->call.dtype, task->reduce, task->dst,
                                     (const void *const *)span->sources.items + task->first_source,
                                     (int)task->n_sources, task->n, work->group->n_ranks, DT__CACHED);
        else
            runtime->kernels->copy(task->dst, task->src, task->n, DT__CACHED);
}

/* Advances the current stage; DT_OK: it is complete. */
static dt_status advance_current(dt_work *work) {
    dt__span *span = work->span;
    const struct dt__stage *stage = stage_at(span, span->stage);
    if (span->differs)
        return fail_differs(work);
    if (!span->begun) {
        span->begun = true;
        /* Also in a stage without messages: a packet that arrived before this rank had the channel may report that it
         * is broken. */
        dt__packets_take_arrived(span->mpi, work->channel->key);
    }
    bool done = advance_stage(work);
    if (span->mpi->failed)
        return dt__work_fail(work, DT_ERR_SYSTEM, "%s",
                             span->mpi->table->is_finalized() ? dt__finalized_text : "MPI has reported an error");
    if (span->mpi->out_of_memory)
        return dt__work_fail(work, DT_ERR_MEMORY, "out of memory on this rank");
    if (span->differs)
        return fail_differs(work);
    if (stage->is_local && !span->local_done) {
        DT__TRY(advance_local(work));
        span->local_done = true;
    }
    return done ? DT_OK : DT_IN_PROGRESS;
}

static dt_status advance(dt_work *work) {
    dt__span *span = work->span;
    while (span->stage < span->stages.n) {
        dt_status status = advance_current(work);
        if (status != DT_OK)
            return status;
        run_tasks(work, stage_at(span, span->stage));
        span->stage++;
        span->begun = span->local_done = false;
        work->round++;
    }
    /* A rank that is late finds the data of its peers, and then that they have given up. If it has just taken all
     * packets, it is not late, and another test might yield the core. */
    if (dt__now_ns() - span->mpi->idle_ns > LATE_NS)
        dt__mpi_progress(span->mpi);
    DT__TRY(dt__check_late(work));
    return dt__channel_may_count(work->channel, work->seq) ? finish(work) : DT_IN_PROGRESS;
}

/* While a collective of this node runs, packets are left to dt__mpi_pause: a test of MPI takes longer than the ranks of
 * one node wait for each other. */
dt_status dt__span_step(dt_work *work) {
    dt__mpi *mpi = work->span->mpi;
    if (work->channel->broken)
        return dt__work_broken(work);
    dt_status status = advance(work);
    while (status == DT_IN_PROGRESS && !work->span->is_running && dt__mpi_take_packet(mpi))
        status = advance(work);
    return status;
}

/* Waits briefly for a receive that MPI has already matched: otherwise its data would be written after the call
 * returned. */
static void abandon_transfer(dt_work *work, struct dt__span_message *transfer) {
    dt__mpi *mpi = work->span->mpi;
    int64_t deadline = dt__now_ns() + INT64_C(1000000000);
    bool done = false;
    if (!transfer->sends && mpi->table->cancel(&transfer->request))
        return;
    do
        if (!mpi->table->test(&transfer->request, &done, NULL, NULL) || done)
            return;
    while (!transfer->sends && dt__now_ns() < deadline);
    struct dt__abandoned *request = dt__alloc(mpi->runtime->ctx, sizeof *request);
    mpi->has_lost = mpi->has_lost || !request;
    if (!request)
        return;
    *request = (struct dt__abandoned){mpi->abandoned, transfer->request};
    mpi->abandoned = request;
}

static void unlink_active(dt_work *work) {
    for (dt_work **link = &work->span->mpi->active; *link; link = &(*link)->span->next)
        if (*link == work) {
            *link = work->span->next;
            return;
        }
}

/* The state is kept for the next operation. */
void dt__span_end(dt_work *work) {
    dt__span *span = work->span;
    if (!span)
        return;
    adopt_verdict(work);
    if (span->is_running)
        dt__work_end(&span->local, DT_ERR_PEER);
    for (int64_t i = 0; i < span->transfers.n; i++)
        if (transfer_at(span, i)->tag && !transfer_at(span, i)->done)
            abandon_transfer(work, transfer_at(span, i));
    unlink_active(work);
    for (int i = 0; i < span->n_scratch; i++)
        dt__heap_free(&work->group->runtime->heap, span->scratch[i]);
    span->spare = span->mpi->spare_spans;
    span->mpi->spare_spans = span;
    work->span = NULL;
}

static void free_array(dt_ctx *ctx, const dt__span_array *array, size_t item_bytes) {
    dt__free(ctx, array->items, (size_t)array->capacity * item_bytes);
}

void dt__spans_free(dt__mpi *mpi) {
    dt_ctx *ctx = mpi->runtime->ctx;
    while (mpi->spare_spans) {
        dt__span *span = mpi->spare_spans;
        mpi->spare_spans = span->spare;
        free_array(ctx, &span->stages, sizeof(struct dt__stage));
        free_array(ctx, &span->transfers, sizeof(struct dt__span_message));
        free_array(ctx, &span->tasks, sizeof(struct dt__span_task));
        free_array(ctx, &span->sources, sizeof(void *));
        free_array(ctx, &span->counts, sizeof(int64_t));
        dt__free(ctx, span, sizeof *span);
    }
}

/* A state without stages, new or of an operation that has ended; NULL when out of memory. */
static dt__span *new_span(dt__mpi *mpi) {
    dt__span *span = mpi->spare_spans;
    if (span)
        mpi->spare_spans = span->spare;
    else if (!(span = dt__alloc_zeroed(mpi->runtime->ctx, sizeof *span)))
        return NULL;
    span->mpi = mpi;
    span->stages.n = span->transfers.n = span->tasks.n = span->sources.n = span->counts.n = 0;
    span->stage = 0;
    span->last_local = -1;
    span->n_message_stages = 0;
    span->n_scratch = 0;
    span->small_bytes = 0;
    span->is_running = span->local_done = span->out_of_memory = span->begun = span->is_published = span->differs =
        false;
    span->local.channel = NULL;
    span->local.verdict = NULL;
    return span;
}

/* Members detect that this rank does not make the call. */
static void publish_refusal(dt_work *work) {
    work->channel->refused = work->seq;
    for (int64_t c = 0; c < work->channel->n; c++)
        if (c != work->channel->me)
            publish_to(work, c);
}

static dt_status refuse_exchange(dt_work *work) {
    return dt__fail_local(work->group->runtime->ctx, DT_ERR_INTERNAL,
                          "%s: members on several nodes cannot read each other's memory", work->exchange->call->name);
}

dt_status dt__span_start(dt_work *work) {
    dt__runtime *runtime = work->group->runtime;
    dt__mpi *mpi = dt__mpi_of(runtime);
    if (work->exchange && work->exchange->steps[0])
        return refuse_exchange(work);
    work->span = new_span(mpi);
    if (!work->span)
        return dt__work_fail(work, dt__fail_memory(runtime->ctx, sizeof *work->span, "an operation"),
                             "out of memory");
    work->span->next = mpi->active;
    mpi->active = work;
    if (work->refused)
        publish_refusal(work);
    else if (dt__span_schedule(work) != DT_OK)
        return dt__work_fail(work, DT_ERR_MEMORY, "out of memory on this rank");
    return DT_OK;
}
