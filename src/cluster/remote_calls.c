/* SPDX-License-Identifier: Apache-2.0
 *
 * What ranks of other nodes are doing. A rank that waits long for another one, or finds that it makes a different call,
 * requests its calls: the recent operations, and the calls on the meshes in question with their labels. The answer is
 * entered in the block of that rank (comm/board.h), so that errors are written as for ranks of this node. The answer
 * serves no other purpose: the rank waits for it only briefly, and a rank that computes, is late or is gone does not
 * answer. Memory for requests is allocated when the rank joins: a long wait allocates nothing.
 *
 * An answer is a sequence of *records*, in as many packets as it needs: at most DT__N_HISTORY_CALLS calls of each mesh,
 * without those that the requesting rank has already.
 */
#include "cluster/spanning.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

enum record_kind {
    RECORD_OPERATION, /* number, struct operation: one of the recent operations */
    RECORD_LABEL,     /* the label, and its text */
    RECORD_HISTORY,   /* key: the calls that follow are on this mesh */
    RECORD_CALL,      /* struct call */
    RECORD_END,       /* struct end: of the calls on this mesh */
};

struct record_head {
    uint16_t kind, bytes; /* of what follows */
};

enum { N_WORDS = 11 }; /* of a recent operation */
struct operation {
    uint64_t number, n_operations, words[N_WORDS];
    int64_t waiting_ns; /* 0: not for long */
    int64_t state;
};

struct call {
    uint64_t i, hash, text, value;
};

struct end {
    uint64_t n, first; /* calls; the first that was sent, or UINT64_MAX if the receiver has earlier ones */
};

enum {
    MAX_REQUESTED = 8,   /* members whose calls a waiting rank requests */
    N_SENT = 256,        /* labels that the writer remembers */
    RECORD_ALIGNMENT = 8 /* of records in a packet */
};
#define REQUEST_AGAIN_NS INT64_C(1000000000)
#define ANSWER_NS        INT64_C(500000000) /* how long a rank waits for an answer */

/* Writes records to packets. */
struct writer {
    dt__mpi *mpi;
    int64_t to;
    struct dt__packet_head head;
    size_t bytes;
    uint64_t key;          /* of the history whose calls are written */
    uint32_t sent[N_SENT]; /* labels, by hash */
    unsigned char payload[DT__PACKET_PAYLOAD];
};

static size_t record_size(size_t bytes) {
    size_t size = sizeof(struct record_head) + bytes;
    return (size + RECORD_ALIGNMENT - 1) / RECORD_ALIGNMENT * RECORD_ALIGNMENT;
}

static void put(struct writer *out, enum record_kind kind, const void *body, size_t bytes) {
    struct record_head head = {(uint16_t)kind, (uint16_t)bytes};
    memcpy(out->payload + out->bytes, &head, sizeof head);
    memcpy(out->payload + out->bytes + sizeof head, body, bytes);
    out->bytes += record_size(bytes);
}

static void flush(struct writer *out) {
    dt__packet_send(out->mpi, out->to, out->head, out->payload, out->bytes);
    out->bytes = 0;
}

/* Every packet with calls begins with their mesh. */
static void add(struct writer *out, enum record_kind kind, const void *body, size_t bytes) {
    if (out->bytes + record_size(bytes) > sizeof out->payload) {
        flush(out);
        if (out->key)
            put(out, RECORD_HISTORY, &out->key, sizeof out->key);
    }
    put(out, kind, body, bytes);
}

/* The labels of a word, as of dt__history_call.text. */
static uint32_t label_at(uint64_t word, int shift) { return (uint32_t)(word >> shift & ((1 << DT__LABEL_BITS) - 1)); }

struct label {
    uint32_t label;
    char text[DT__MAX_LABEL];
};

/* Returns the bytes of the record; 0: it was sent, or there is none. */
static size_t read_label(const struct writer *out, uint32_t label, struct label *record) {
    const char *labels = out->mpi->runtime->board->own->labels;
    if (!label || label > DT__LABEL_BYTES || out->sent[label % N_SENT] == label)
        return 0;
    size_t n = strnlen(labels + label - 1, DT__MAX_LABEL - 1);
    record->label = label;
    memcpy(record->text, labels + label - 1, n);
    record->text[n] = 0;
    return offsetof(struct label, text) + n + 1;
}

static void add_labels(struct writer *out, uint64_t word) {
    for (int shift = 0; shift <= DT__FILE_SHIFT; shift += DT__FILE_SHIFT) {
        struct label record;
        size_t bytes = read_label(out, label_at(word, shift), &record);
        if (!bytes)
            continue;
        out->sent[record.label % N_SENT] = record.label;
        add(out, RECORD_LABEL, &record, bytes);
    }
}

static void add_operations(struct writer *out, const struct dt__rank_block *own) {
    uint64_t n = atomic_load(&own->n_calls);
    int64_t now = dt__now_ns();
    for (uint64_t i = n > DT__N_RECENT ? n - DT__N_RECENT : 0; i < n; i++) {
        const struct dt__recent_operation *operation = &own->recent[i % DT__N_RECENT];
        int64_t start_ns = atomic_load(&operation->start_ns);
        struct operation record = {.number = i,
                                   .n_operations = n,
                                   .words = {atomic_load(&operation->signature), atomic_load(&operation->count),
                                             atomic_load(&operation->channel), atomic_load(&operation->seq),
                                             atomic_load(&operation->members), atomic_load(&operation->set[0]),
                                             atomic_load(&operation->set[1]), atomic_load(&operation->program),
                                             atomic_load(&operation->name[0]), atomic_load(&operation->name[1]),
                                             atomic_load(&operation->name[2])},
                                   .waiting_ns = start_ns ? now - start_ns : 0,
                                   .state = atomic_load(&operation->state)};
        add(out, RECORD_OPERATION, &record, sizeof record);
        add_labels(out, record.words[7]);
    }
}

static struct call call_of(const struct dt__history_block *block, uint64_t i) {
    const struct dt__history_call *call = &block->calls[i % DT__N_HISTORY_CALLS];
    return (struct call){i, atomic_load(&call->hash), atomic_load(&call->text),
                         atomic_load(&block->values[i % DT__N_HISTORY_CALLS])};
}

static const dt__history *history_of(const dt__board *board, uint64_t key) {
    const dt__history *history = board->histories;
    while (history && history->key != key)
        history = history->next;
    return history;
}

/* Adds the calls from the one before n_known on, because that may have lacked its draws. */
static void add_history(struct writer *out, uint64_t key, uint64_t n_known) {
    const dt__history *history = history_of(out->mpi->runtime->board, key);
    const struct dt__history_block *block = history ? history->block : NULL;
    if (!block) /* of a mesh that this rank is not in, or whose calls are not kept */
        return;
    uint64_t n = history->n, kept = n > DT__N_HISTORY_CALLS ? n - DT__N_HISTORY_CALLS : 0;
    uint64_t first = n_known && n_known <= n && n_known - 1 > kept ? n_known - 1 : kept;
    out->key = key;
    add(out, RECORD_HISTORY, &key, sizeof key);
    for (uint64_t i = first; i < n; i++) {
        struct call record = call_of(block, i);
        add_labels(out, record.text);
        add(out, RECORD_CALL, &record, sizeof record);
    }
    struct end end = {n, first == kept ? kept : UINT64_MAX};
    add(out, RECORD_END, &end, sizeof end);
    out->key = 0;
}

/* The last packet of an answer has the status DT_OK. */
static void answer(dt__mpi *mpi, int64_t to, const struct dt__packet_head *question) {
    struct writer out = {.mpi = mpi, .to = to};
    out.head = (struct dt__packet_head){
        .kind = DT__PACKET_CALLS, .seq = question->seq, .n_cleared = question->n_cleared, .status = DT_IN_PROGRESS};
    add_operations(&out, mpi->runtime->board->own);
    for (int i = 0; i < 2; i++)
        if (question->histories[i])
            add_history(&out, question->histories[i], i ? question->check : question->count);
    out.head.status = DT_OK;
    flush(&out);
}

static bool is_closed(const dt__mpi *mpi, int64_t rank) {
    return atomic_load(&mpi->runtime->board->ranks[rank].state) == DT__RANK_CLOSED;
}

static void take_operation(struct dt__rank_block *rank, const struct operation *record) {
    struct dt__recent_operation *operation = &rank->recent[record->number % DT__N_RECENT];
    _Atomic uint64_t *const words[] = {&operation->signature, &operation->count,   &operation->channel,
                                       &operation->seq,       &operation->members, &operation->set[0],
                                       &operation->set[1],    &operation->program, &operation->name[0],
                                       &operation->name[1],   &operation->name[2]};
    for (int i = 0; i < N_WORDS; i++)
        atomic_store(words[i], record->words[i]);
    atomic_store(&operation->start_ns, record->waiting_ns ? dt__now_ns() - record->waiting_ns : 0);
    atomic_store(&operation->state, (int32_t)record->state);
    atomic_store(&rank->n_calls, record->n_operations);
}

static void take_label(struct dt__rank_block *rank, const struct label *record, size_t bytes) {
    size_t n = bytes - offsetof(struct label, text);
    if (!record->label || record->label > DT__LABEL_BYTES || n > DT__MAX_LABEL)
        return;
    memcpy(rank->labels + record->label - 1, record->text, n);
    rank->labels[record->label - 1 + n - 1] = 0;
}

/* While calls are added the history counts as empty. */
static struct dt__history_block *take_history(struct dt__rank_block *rank, uint64_t key) {
    struct dt__history_block *block = dt__history_block_of(rank, key);
    if (!block)
        return NULL;
    atomic_store(&block->n, 0);
    atomic_store(&block->key, key);
    return block;
}

static void take_call(struct dt__history_block *block, const struct call *record) {
    uint64_t slot = record->i % DT__N_HISTORY_CALLS;
    atomic_store(&block->calls[slot].hash, record->hash);
    atomic_store(&block->calls[slot].text, record->text);
    atomic_store(&block->values[slot], record->value);
}

static void take_end(struct dt__history_block *block, const struct end *record) {
    if (record->first != UINT64_MAX)
        atomic_store(&block->first, record->first);
    atomic_store(&block->n, record->n);
}

static void read_records(dt__mpi *mpi, int64_t from, const unsigned char *payload, size_t bytes) {
    struct dt__rank_block *rank = &mpi->runtime->board->ranks[from];
    struct dt__history_block *block = NULL;
    struct record_head head;
    for (size_t at = 0; at + sizeof head <= bytes; at += record_size(head.bytes)) {
        union {
            struct operation operation;
            struct label label;
            struct call call;
            struct end end;
            uint64_t key;
        } body;
        memcpy(&head, payload + at, sizeof head);
        if (head.bytes > sizeof body || head.bytes > bytes - at - sizeof head)
            return;
        memcpy(&body, payload + at + sizeof head, head.bytes);
        if (head.kind == RECORD_OPERATION && head.bytes == sizeof body.operation)
            take_operation(rank, &body.operation);
        else if (head.kind == RECORD_LABEL && head.bytes > offsetof(struct label, text))
            take_label(rank, &body.label, head.bytes);
        else if (head.kind == RECORD_HISTORY && head.bytes == sizeof body.key)
            block = take_history(rank, body.key);
        else if (head.kind == RECORD_CALL && head.bytes == sizeof body.call && block)
            take_call(block, &body.call);
        else if (head.kind == RECORD_END && head.bytes == sizeof body.end && block)
            take_end(block, &body.end);
    }
}

void dt__calls_take(dt__mpi *mpi, int64_t from, const struct dt__packet *packet) {
    const struct dt__packet_head *head = &packet->head;
    if (!dt__is_remote(mpi->runtime, from))
        return;
    if (head->kind == DT__PACKET_QUESTION) {
        answer(mpi, from, head);
        return;
    }
    if (head->n_cleared != mpi->runtime->epoch) /* from before errors were cleared */
        return;
    read_records(mpi, from, packet->payload, head->text_bytes);
    if (head->status == DT_OK && head->seq)
        mpi->inquiries[from].n_answered = head->seq;
}

/* The calls on a mesh that are known of a rank. */
static uint64_t n_known(const dt__board *board, int64_t rank, uint64_t key) {
    struct dt__history_block *block = dt__history_block_of(&board->ranks[rank], key);
    return block && atomic_load(&block->key) == key ? atomic_load(&block->n) : 0;
}

static bool request(dt_work *work, int64_t rank) {
    dt__mpi *mpi = dt__mpi_of(work->group->runtime);
    struct dt__inquiry *inquiry = &mpi->inquiries[rank];
    struct dt__packet_head head = {.kind = DT__PACKET_QUESTION, .n_cleared = mpi->runtime->epoch};
    uint64_t known[2] = {0, 0};
    if (is_closed(mpi, rank))
        return false;
    for (int i = 0; i < work->n_histories; i++)
        if (work->histories[i]) {
            head.histories[i] = work->histories[i]->key;
            known[i] = n_known(work->channel->board, rank, head.histories[i]);
        }
    head.count = known[0];
    head.check = known[1];
    if (inquiry->n_answered == inquiry->n_requested)
        inquiry->unanswered_ns = dt__now_ns();
    head.seq = ++inquiry->n_requested;
    inquiry->requested_ns = dt__now_ns();
    dt__packet_send(mpi, rank, head, NULL, 0);
    return true;
}

static bool is_answered(const dt__mpi *mpi, int64_t rank) {
    return mpi->inquiries[rank].n_answered == mpi->inquiries[rank].n_requested;
}

/* Waits for answers of the members of a set, long enough to be sure that missing ones will not come. */
static void await_answers(dt_work *work, const int64_t *ranks, int n) {
    dt__mpi *mpi = dt__mpi_of(work->group->runtime);
    int64_t deadline = dt__now_ns() + ANSWER_NS;
    int n_open = n;
    while (n_open && !mpi->failed && dt__now_ns() < deadline) {
        dt__mpi_progress(mpi);
        n_open = 0;
        for (int i = 0; i < n; i++)
            n_open += !is_answered(mpi, ranks[i]) && !is_closed(mpi, ranks[i]);
        if (n_open)
            (void)nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

bool dt__calls_fetch(dt_work *work, int64_t c) {
    dt__mpi *mpi = dt__mpi_of(work->group->runtime);
    int64_t rank = work->channel->ranks[c];
    if (!work->channel->remotes || !dt__is_remote(mpi->runtime, rank))
        return true;
    if (!request(work, rank))
        return true; /* it has closed: what it answered before */
    await_answers(work, &rank, 1);
    return is_answered(mpi, rank);
}

void dt__calls_fetch_all(dt_work *work, int max) {
    const dt__channel *channel = work->channel;
    int64_t ranks[DT__MAX_RANKS];
    int n = 0;
    if (!channel->remotes)
        return;
    for (int waiting = 1; waiting >= 0; waiting--)
        for (int64_t c = 0; c < channel->n && n < max; c++)
            if (dt__is_remote(channel->board->runtime, channel->ranks[c]) && dt__waits_for(work, c) == waiting &&
                request(work, channel->ranks[c]))
                ranks[n++] = channel->ranks[c];
    await_answers(work, ranks, n);
}

void dt__calls_ask_missing(dt_work *work) {
    const dt__channel *channel = work->channel;
    dt__mpi *mpi = dt__mpi_of(channel->board->runtime);
    int64_t now = dt__now_ns();
    int n = 0;
    for (int64_t c = 0; channel->remotes && c < channel->n && n < MAX_REQUESTED; c++) {
        int64_t rank = channel->ranks[c];
        if (!dt__is_remote(mpi->runtime, rank) || !dt__waits_for(work, c))
            continue;
        n++;
        if (now - mpi->inquiries[rank].requested_ns > REQUEST_AGAIN_NS)
            (void)request(work, rank);
    }
}

double dt__calls_unanswered(const dt__runtime *runtime, int64_t rank) {
    const dt__mpi *mpi = dt__mpi_of(runtime);
    if (!mpi || is_answered(mpi, rank))
        return 0;
    return (double)(dt__now_ns() - mpi->inquiries[rank].unanswered_ns) * 1e-9;
}

/* All ranks have cleared errors, and begin their histories again. */
void dt__calls_forget(dt__mpi *mpi) {
    dt__board *board = mpi->runtime->board;
    for (int64_t rank = 0; rank < board->n_ranks; rank++) {
        if (!mpi->inquiries[rank].n_requested)
            continue;
        mpi->inquiries[rank] = (struct dt__inquiry){0};
        for (int i = 0; i < DT__N_HISTORIES; i++)
            atomic_store(&board->ranks[rank].histories[i].n, 0);
        atomic_store(&board->ranks[rank].n_calls, 0);
    }
}

dt_status dt__calls_open(dt__mpi *mpi) {
    dt_ctx *ctx = mpi->runtime->ctx;
    size_t bytes = (size_t)ctx->world * sizeof *mpi->inquiries;
    mpi->inquiries = dt__alloc_zeroed(ctx, bytes);
    return mpi->inquiries ? DT_OK : dt__fail_memory(ctx, bytes, "the calls of other ranks");
}

void dt__calls_close(dt__mpi *mpi) {
    dt_ctx *ctx = mpi->runtime->ctx;
    dt__free(ctx, mpi->inquiries, mpi->inquiries ? (size_t)ctx->world * sizeof *mpi->inquiries : 0);
    mpi->inquiries = NULL;
}
