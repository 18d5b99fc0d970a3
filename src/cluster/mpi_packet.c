/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets: messages of a fixed maximum size that carry the header of an operation's message and, where it fits, its
 * data, or that report a change of a rank's state. Receives for packets from any rank are always posted, so that a
 * report arrives whatever this rank waits for. Larger data follows in messages with a tag that the sender chooses. The
 * receiver posts a receive for them once it has compared the header: data of a call that does not match is never
 * received.
 *
 * At most DT__PACKET_WINDOW packets of data from a sender to a member of a channel may be waiting to be taken.
 */
#include "cluster/spanning.h"

#include <stdio.h>
#include <string.h>

enum { PACKET_TAG = 0, N_DATA_TAGS = 32000, TESTS_PER_SENDING = 16 };
#define MAGIC   UINT32_C(0x64746d31)
#define SEND_NS INT64_C(1000000000)

bool dt__is_remote(const dt__runtime *runtime, int64_t rank) {
    return runtime->node_of && runtime->node_of[rank] != runtime->node_of[runtime->ctx->rank];
}

size_t dt__packets_max_bytes(void) { return (size_t)DT__MAX_DATA_PACKETS * DT__PACKET_PAYLOAD; }

static void test_sending(dt__mpi *mpi);

/* Reuses the memory of sent packets before it allocates more; n_reserved: packets to leave. */
static struct dt__held_packet *new_packet(dt__mpi *mpi, int n_reserved) {
    if (mpi->n_unused <= n_reserved)
        test_sending(mpi);
    if (mpi->n_unused <= n_reserved)
        return dt__alloc(mpi->runtime->ctx, sizeof(struct dt__held_packet));
    struct dt__held_packet *packet = mpi->unused;
    mpi->unused = packet->next;
    mpi->n_unused--;
    return packet;
}

/* When memory is exhausted, one of the packets in flight: MPI sends those without waiting for the receiver. */
static struct dt__held_packet *new_packet_to_send(dt__mpi *mpi) {
    struct dt__held_packet *packet = new_packet(mpi, 0);
    int64_t deadline = packet ? 0 : dt__now_ns() + SEND_NS;
    while (!packet && mpi->sending && dt__now_ns() < deadline)
        packet = new_packet(mpi, 0);
    return packet;
}

void dt__packet_free(dt__mpi *mpi, struct dt__held_packet *packet) {
    packet->next = mpi->unused;
    mpi->unused = packet;
    mpi->n_unused++;
}

static bool post(dt__mpi *mpi, int i) {
    struct dt__held_packet *packet = mpi->posted[i];
    return mpi->table->receive(mpi->world, &packet->packet, sizeof packet->packet, -1, PACKET_TAG, &packet->request);
}

/* If this fails, dt__packets_close frees what was allocated. */
dt_status dt__packets_open(dt__mpi *mpi) {
    DT__TRY(dt__calls_open(mpi));
    for (int i = 0; i < DT__N_SPARE; i++) {
        struct dt__held_packet *spare = dt__alloc(mpi->runtime->ctx, sizeof *spare);
        if (!spare)
            return dt__fail_memory(mpi->runtime->ctx, DT__N_SPARE * sizeof *spare, "packets");
        dt__packet_free(mpi, spare);
    }
    for (int i = 0; i < DT__N_POSTED; i++) {
        struct dt__held_packet *packet = dt__alloc(mpi->runtime->ctx, sizeof *packet);
        if (!packet)
            return dt__fail_memory(mpi->runtime->ctx, DT__N_POSTED * sizeof *packet, "packets");
        mpi->posted[i] = packet;
        if (!post(mpi, i))
            return dt__fail(mpi->runtime->ctx, DT_ERR_SYSTEM, "MPI: cannot post a receive");
    }
    return DT_OK;
}

static void free_list(dt__mpi *mpi, struct dt__held_packet *packet) {
    while (packet) {
        struct dt__held_packet *next = packet->next;
        dt__free(mpi->runtime->ctx, packet, sizeof *packet);
        packet = next;
    }
}

/* Packets that MPI still owns stay allocated. If their receiver has closed too, MPI releases them in MPI_Finalize: they
 * are small enough to be sent without a posted receive. */
bool dt__packets_close(dt__mpi *mpi) {
    bool clean = !mpi->abandoned && !mpi->has_lost;
    for (int i = 0; i < DT__N_POSTED; i++)
        if (!mpi->posted[i])
            continue;
        else if ((mpi->is_stalled && i == mpi->next_posted) || mpi->table->cancel(&mpi->posted[i]->request))
            dt__packet_free(mpi, mpi->posted[i]);
        else
            clean = false;
    dt__calls_close(mpi);
    free_list(mpi, mpi->arrived);
    free_list(mpi, mpi->unused);
    mpi->arrived = mpi->unused = NULL;
    mpi->n_unused = 0;
    return clean;
}

void dt__packets_cancel(dt__mpi *mpi) {
    for (int i = 0; i < DT__N_POSTED; i++)
        if (mpi->posted[i] && mpi->table->cancel(&mpi->posted[i]->request)) {
            dt__packet_free(mpi, mpi->posted[i]);
            mpi->posted[i] = NULL;
        }
    mpi->failed = true;
}

/* Whether the packet has left is tested later: a test that fails may yield the core while the receiver of the next
 * packet waits. */
void dt__packet_send(dt__mpi *mpi, int64_t to, struct dt__packet_head head, const void *payload, size_t bytes) {
    struct dt__held_packet *packet = new_packet_to_send(mpi);
    if (!packet) {
        mpi->out_of_memory = true;
        return;
    }
    head.magic = MAGIC;
    head.text_bytes = (uint16_t)bytes;
    packet->packet.head = head;
    packet->rank = to;
    if (bytes)
        memcpy(packet->packet.payload, payload, bytes);
    if (!mpi->table->send(mpi->world, &packet->packet, sizeof head + bytes, (int)to, PACKET_TAG, &packet->request)) {
        mpi->failed = true;
        return;
    }
    packet->next = mpi->sending;
    mpi->sending = packet;
}

static void test_sending(dt__mpi *mpi) {
    for (struct dt__held_packet **link = &mpi->sending, *packet; (packet = *link);) {
        bool done = false;
        if (!mpi->table->test(&packet->request, &done, NULL, NULL))
            mpi->failed = true;
        if (done) {
            *link = packet->next;
            dt__packet_free(mpi, packet);
        } else {
            link = &packet->next;
        }
    }
    for (struct dt__abandoned **link = &mpi->abandoned, *request; (request = *link);) {
        bool done = false;
        if (mpi->table->test(&request->request, &done, NULL, NULL) && done) {
            *link = request->next;
            dt__free(mpi->runtime->ctx, request, sizeof *request);
        } else {
            link = &request->next;
        }
    }
}

bool dt__packets_are_leaving(dt__mpi *mpi) {
    test_sending(mpi);
    return mpi->sending != NULL;
}

bool dt__packets_are_awaited(dt__mpi *mpi) {
    test_sending(mpi);
    for (const struct dt__held_packet *packet = mpi->sending; packet; packet = packet->next)
        if (dt__rank_is_open(&mpi->runtime->board->ranks[packet->rank]))
            return true;
    return false;
}

void dt__announce_state(dt__runtime *runtime) {
    dt__mpi *mpi = dt__mpi_of(runtime);
    if (!mpi) /* it opens or closes */
        return;
    const struct dt__rank_block *own = mpi->runtime->board->own;
    struct dt__packet_head head = {.kind = DT__PACKET_STATE,
                                   .state = atomic_load(&own->state),
                                   .n_joined = atomic_load(&own->n_joined),
                                   .n_ready = atomic_load(&own->n_ready),
                                   .n_cleared = atomic_load(&own->n_cleared),
                                   .cause = atomic_load(&own->cause),
                                   .status = atomic_load(&own->error_status)};
    size_t bytes = head.status ? strnlen(own->error_text, sizeof own->error_text - 1) + 1 : 0;
    for (int64_t rank = 0; rank < mpi->runtime->ctx->world; rank++)
        if (dt__is_remote(mpi->runtime, rank))
            dt__packet_send(mpi, rank, head, own->error_text, bytes);
}

static void copy_text(char *text, size_t capacity, const struct dt__packet *packet) {
    size_t bytes = packet->head.text_bytes < capacity ? packet->head.text_bytes : capacity - 1;
    memcpy(text, packet->payload, bytes);
    text[bytes] = 0;
}

static void take_state(dt__mpi *mpi, int64_t from, const struct dt__packet *packet) {
    struct dt__rank_block *block = &mpi->runtime->board->ranks[from];
    const struct dt__packet_head *head = &packet->head;
    if (!dt__is_remote(mpi->runtime, from))
        return;
    if (head->status)
        copy_text(block->error_text, sizeof block->error_text, packet);
    atomic_store(&block->error_status, head->status);
    atomic_store(&block->cause, head->cause);
    atomic_store(&block->n_joined, head->n_joined);
    atomic_store(&block->n_ready, head->n_ready);
    atomic_store(&block->n_cleared, head->n_cleared);
    atomic_store(&block->state, head->state);
    dt__board_notify(mpi->runtime->board);
}

void dt__announce_break(dt__channel *channel, uint64_t seq, dt_status status, const char *reason) {
    struct dt__packet_head head = {.kind = DT__PACKET_BREAK, .key = channel->key, .seq = seq, .status = status};
    dt__mpi *mpi = dt__mpi_of(channel->board->runtime);
    for (int64_t c = 0; c < channel->n; c++)
        if (dt__is_remote(mpi->runtime, channel->ranks[c]))
            dt__packet_send(mpi, channel->ranks[c], head, reason, strnlen(reason, DT__REASON_BYTES - 1));
}

void dt__announce_numbered(dt__channel *channel) {
    struct dt__packet_head head = {.kind = DT__PACKET_NUMBERED, .key = channel->key, .seq = channel->started};
    dt__mpi *mpi = dt__mpi_of(channel->board->runtime);
    for (int64_t c = 0; c < channel->n; c++)
        if (dt__is_remote(mpi->runtime, channel->ranks[c]))
            dt__packet_send(mpi, channel->ranks[c], head, NULL, 0);
}

static dt__channel *channel_of(const dt__mpi *mpi, uint64_t key) {
    return dt__map_get(&mpi->runtime->board->channels, key, NULL, NULL);
}

static int64_t index_of(const dt__channel *channel, int64_t rank) {
    for (int64_t c = 0; c < channel->n; c++)
        if (channel->ranks[c] == rank)
            return c;
    return -1;
}

static void take_break(dt__mpi *mpi, dt__remote *remote, const struct dt__packet *packet) {
    if (remote->broken)
        return;
    if (!remote->reason)
        remote->reason = dt__alloc(mpi->runtime->ctx, DT__REASON_BYTES);
    if (remote->reason)
        copy_text(remote->reason, DT__REASON_BYTES, packet);
    remote->broken_status = (dt_status)packet->head.status;
    remote->broken = packet->head.seq;
    dt__board_notify(mpi->runtime->board);
}

/* A report about a channel; false: this rank does not have the channel yet. */
static bool take_report(dt__mpi *mpi, int64_t from, const struct dt__packet *packet) {
    dt__channel *channel = channel_of(mpi, packet->head.key);
    int64_t c = channel && channel->remotes ? index_of(channel, from) : -1;
    if (!channel)
        return false;
    if (c < 0)
        return true;
    dt__remote *remote = &channel->remotes[c];
    if (packet->head.kind == DT__PACKET_BREAK)
        take_break(mpi, remote, packet);
    else if (packet->head.kind == DT__PACKET_CREDIT)
        remote->n_credited = packet->head.seq;
    else
        remote->numbered = packet->head.seq;
    return true;
}

static bool take(dt__mpi *mpi, struct dt__held_packet *held) {
    const struct dt__packet *packet = &held->packet;
    switch ((enum dt__packet_kind)packet->head.kind) {
    case DT__PACKET_NONE:
        return true;
    case DT__PACKET_DATA:
    case DT__PACKET_CALL:
    case DT__PACKET_VERDICT:
        return dt__span_take(mpi, held);
    case DT__PACKET_STATE:
        take_state(mpi, held->rank, packet);
        return true;
    case DT__PACKET_BREAK:
    case DT__PACKET_CREDIT:
    case DT__PACKET_NUMBERED:
        return take_report(mpi, held->rank, packet);
    case DT__PACKET_QUESTION:
    case DT__PACKET_CALLS:
        dt__calls_take(mpi, held->rank, packet);
        return true;
    }
    return true;
}

void dt__packets_take_arrived(dt__mpi *mpi, uint64_t key) {
    for (struct dt__held_packet **link = &mpi->arrived, *packet; (packet = *link);)
        if (packet->packet.head.key == key && take(mpi, packet)) {
            *link = packet->next;
            dt__packet_free(mpi, packet);
        } else {
            link = &packet->next;
        }
}

static void keep(dt__mpi *mpi, struct dt__held_packet *packet) {
    struct dt__held_packet **end = &mpi->arrived;
    while (*end)
        end = &(*end)->next;
    packet->next = NULL;
    *end = packet;
}

bool dt__key_is_retired(const dt__runtime *runtime, uint64_t key, uint32_t epoch) {
    uintptr_t retired = (uintptr_t)dt__map_get(&dt__mpi_of(runtime)->retired_keys, key, NULL, NULL);
    return retired && retired <= epoch;
}

/* A packet of a channel that this rank does not have: its members made calls that this rank did not make. */
static void note_retired(dt__mpi *mpi, const struct dt__packet *packet) {
    uint64_t key = packet->head.key;
    if (packet->head.kind == DT__PACKET_NUMBERED && packet->head.seq &&
        !dt__map_get(&mpi->retired_keys, key, NULL, NULL) &&
        !dt__map_add(&mpi->retired_keys, key, (void *)(uintptr_t)mpi->runtime->epoch))
        mpi->out_of_memory = true; /* members report it again at the next clear */
}

void dt__packets_before_clear(dt__runtime *runtime) { dt__mpi_of(runtime)->out_of_memory = false; }

/* No rank has made a call since: all packets that have arrived are older, and data without a posted receive belongs to
 * failed operations. */
void dt__packets_after_clear(dt__runtime *runtime) {
    dt__mpi *mpi = dt__mpi_of(runtime);
    size_t at = 0;
    dt__channel *each;
    dt__mpi_progress(mpi);
    if (!mpi->active)
        mpi->table->discard(mpi->world);
    for (struct dt__held_packet **link = &mpi->arrived, *packet; (packet = *link);) {
        const dt__channel *channel = channel_of(mpi, packet->packet.head.key);
        if (channel && !channel->broken) {
            link = &packet->next;
            continue;
        }
        if (!channel)
            note_retired(mpi, &packet->packet);
        *link = packet->next;
        dt__packet_free(mpi, packet);
    }
    while ((each = dt__map_next(&mpi->runtime->board->channels, &at)))
        for (int64_t c = 0; each->remotes && c < each->n; c++)
            each->remotes[c].numbered = 0;
    dt__calls_forget(mpi);
}

/* Takes the packet that has arrived and posts its receive again. A packet that must be kept gives up its buffer for a
 * new one; without memory for that it stays where it is, and later packets wait too. */
static bool take_posted(dt__mpi *mpi) {
    struct dt__held_packet **slot = &mpi->posted[mpi->next_posted], *packet = *slot;
    if (!take(mpi, packet)) {
        struct dt__held_packet *next = new_packet(mpi, DT__N_RESERVED);
        mpi->is_stalled = !next;
        if (!next) {
            mpi->out_of_memory = true;
            return false;
        }
        keep(mpi, packet);
        *slot = next;
    }
    mpi->is_stalled = false;
    if (!post(mpi, mpi->next_posted))
        mpi->failed = true;
    mpi->next_posted = (mpi->next_posted + 1) % DT__N_POSTED;
    return true;
}

/* Receives complete in the order they were posted, so one is tested at a time. That test also makes MPI send.
 * Whether this rank's own packets have left is not urgent, and a test that finds one that has not may yield the
 * core. */
bool dt__mpi_take_packet(dt__mpi *mpi) {
    struct dt__held_packet *packet = mpi->posted[mpi->next_posted];
    bool done = false;
    int from = 0;
    size_t bytes = 0;
    if (!packet) /* MPI is finalized */
        return false;
    if (mpi->is_stalled)
        return take_posted(mpi);
    if (!mpi->table->test(&packet->request, &done, &from, &bytes))
        mpi->failed = true;
    if (!done) {
        mpi->idle_ns = dt__now_ns();
        if ((mpi->sending || mpi->abandoned) && ++mpi->n_idle_tests % TESTS_PER_SENDING == 0)
            test_sending(mpi);
        return false;
    }
    packet->rank = from;
    if (bytes < sizeof packet->packet.head || packet->packet.head.magic != MAGIC ||
        bytes != sizeof packet->packet.head + packet->packet.head.text_bytes)
        packet->packet.head = (struct dt__packet_head){.kind = DT__PACKET_NONE};
    return take_posted(mpi);
}

void dt__mpi_progress(dt__mpi *mpi) {
    while (dt__mpi_take_packet(mpi))
        continue;
}
