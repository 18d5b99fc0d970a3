/* SPDX-License-Identifier: Apache-2.0
 *
 * A *channel* is a set of ranks that communicate: its members number their operations identically and publish how far
 * they have come, each in its own block (board.h). The start and the end of an operation are the same on every
 * transport of several ranks: its place in a channel, the log of recent operations, and failing on all members.
 */
#ifndef DT_COMM_CHANNEL_H
#define DT_COMM_CHANNEL_H

#include "comm/board.h"
#include "comm/collective.h"

#define DT__CALL_REFUSED                                                                                             \
    (UINT64_C(1) << 28) /* a flag of a header: the rank found its call invalid and does not take part */

/* This rank's cached state of a member of a channel. */
struct dt__peer {
    struct dt__channel_block *block; /* NULL until found */
    uint64_t done;                   /* operations that it is known to have finished */
    bool had_block;
};

/* What a member on another node has reported by messages. */
typedef struct dt__remote {
    uint64_t n_sent, n_credited;  /* packets of data to it; those that it has taken */
    uint64_t n_taken, n_reported; /* packets of data from it; as reported to it */
    uint64_t broken;              /* the operation at which it broke the channel, or 0 */
    uint64_t numbered;            /* operations that it had numbered when it last entered dt_error_clear */
    dt_status broken_status;
    char *reason; /* DT__REASON_BYTES, or NULL */
} dt__remote;

typedef struct dt__channel {
    dt__board *board;
    uint64_t key;
    int64_t n_references;
    int64_t n, me;          /* members; this rank's index */
    int64_t *ranks;         /* world ranks; ascending, or sender and receiver */
    uint64_t set[2];        /* bits of the first 128 world ranks that are members */
    uint64_t started, done; /* operations numbered so far; all up to done have ended here */
    uint64_t refused;       /* number of the last one that this rank refused */
    uint64_t history;       /* hash of the calls numbered so far */
    uint64_t finished;      /* bit per number, modulo 64: ended while an earlier one has not */
    struct dt__channel_block *own;
    struct dt__peer *peers; /* one per member */
    unsigned char *eager;   /* copies of small data: [DT__N_ENTRIES][DT__EAGER_BYTES] in the heap, or NULL */
    uint32_t n_events;      /* of the segment, when the channel was last found intact */
    dt_status broken;
    dt__remote *remotes; /* [n] if members are on several nodes; NULL: all are on this one */
} dt__channel;

/* channel.c: the channel of an operation, created on first use; NULL with the error recorded. */
dt__channel *dt__channel_of(dt__board *board, dt_work *work);
/* That of all members of a group; groups of the same ranks with other salts have other channels. */
dt__channel *dt__channel_of_group(dt__board *board, dt_group *group, uint64_t salt);
/* Drops the references of a group. */
void dt__channel_release_group(dt__runtime *runtime, dt_group *group);
/* Claims a block for the channel, if it has none, so that peers see this rank's progress. No other channel loses its
 * block: dt_error_clear claims one for each. */
dt_status dt__channel_claim_block(dt__channel *channel);
/* Member c's block, or NULL while it has none. */
struct dt__channel_block *dt__channel_peer_block(dt__channel *channel, int64_t c);
void dt__channels_free(dt__board *board);
/* Counts an operation as ended on this rank, and publishes how far all of them have. */
void dt__channel_count_done(dt__channel *channel, uint64_t seq);
/* Whether `finished` has a bit for it: an operation too far ahead of the first unfinished one waits for that. */
static inline bool dt__channel_may_count(const dt__channel *channel, uint64_t seq) {
    return seq <= channel->done + 64;
}

/* The channel index of group member i; a group need not be in ascending order. */
int64_t dt__member(const dt_work *work, int64_t i);

/* operation.c */
/* Starts an operation: sets its channel and number if other ranks take part, and lets the transport start it. */
dt_status dt__work_start(dt__runtime *runtime, dt_work *work);
/* Refuses an operation between dt_apart_begin and dt_apart_end. */
dt_status dt__refuse_apart(dt_ctx *ctx, const dt_work *work);
/* Whether the operation, in its current state, waits for member c. */
static inline bool dt__waits_for(dt_work *work, int64_t c) {
    return work->group->runtime->transport->waits_for(work, c);
}
/* Records the final status in the log of recent operations. */
static inline void dt__work_record_end(dt_work *work, dt_status status) {
    if (work->recent)
        atomic_store_explicit(&work->recent->state, status, memory_order_relaxed);
}
/* Frees what the transport has for the operation, and records its final status. */
void dt__work_end(dt_work *work, dt_status status);
/* Ends an unfinished operation of a context that closes, with an error on every member. */
dt_status dt__work_abandon(dt_work *work);
/* Before the operation counts as done: checks whether a member has broken the channel meanwhile. */
dt_status dt__check_late(dt_work *work);
/* Whether a member's header describes the call that this rank makes. */
bool dt__header_matches(const dt_work *work, const struct dt__entry *entry);

/* failure.c: ends an operation with an error on every member; and the checks that detect failures. */
dt_status dt__work_fail(dt_work *work, dt_status status, const char *format, ...) DT_PRINTF(3);
dt_status dt__work_mismatch(dt_work *work, int64_t c);
/* Fails the operation because member c sent a header, in a message, that does not match. */
dt_status dt__work_mismatch_with(dt_work *work, int64_t c, const struct dt__entry *entry);
/* Fails the operation because member c published memory that it does not have. */
dt_status dt__work_fail_outside_heap(dt_work *work, int64_t c);
/* Fails the operation if a member has broken the channel. */
dt_status dt__check_broken(dt_work *work);
/* Fails the operation if a member has broken the channel, or if a member that it waits for will never arrive: by the
 * state that the member publishes and, with check_process, by whether its process is alive. */
dt_status dt__check_peers(dt_work *work, bool check_process);
dt_status dt__work_timed_out(dt_work *work);
/* Whether a rank has made the call, as far as this one has heard. */
bool dt__has_called(const dt_work *work, int64_t rank);
/* Fails an operation of a channel that is broken already. */
dt_status dt__work_broken(dt_work *work);
/* Publishes that the channel is unusable since operation seq, unless it is broken already. */
void dt__break_channel(dt__channel *channel, uint64_t seq, dt_status status, const char *reason);

/* wait_checks.c: parts of waiting that transports share. */
/* Whether an event has ended the operation, its deadline, whether peers are alive, and beginning again when the
 * operation has made progress. */
dt_status dt__check_events(dt_work *work);
dt_status dt__check_deadline(dt__runtime *runtime, dt_work *work, struct dt__pause *pause, int64_t now,
                             int64_t grace_ns);
dt_status dt__check_peers_periodically(dt_work *work, struct dt__pause *pause, int64_t now);
void dt__follow_progress(const dt_work *work, struct dt__pause *pause);
/* Whether a wait has passed its deadline, without the time in which this rank was stopped: of the time since the last
 * check, longest_ns count at most. The first check sets the deadline; a negative time-out sets none. */
#define DT__LONGEST_PAUSE_NS INT64_C(200000000) /* of a rank that waits and is not stopped */
bool dt__deadline_has_passed(struct dt__pause *pause, double timeout_s, int64_t now, int64_t longest_ns);
/* Called each time before this rank sleeps in a wait. The first time notifies the host, and adds the line to the call
 * that others read in the log of recent operations. An error if the host has been interrupted; work may be NULL. */
dt_status dt__host_waits(dt__runtime *runtime, dt_work *work);
/* After the wait. */
void dt__host_wait_ends(dt__runtime *runtime);
/* All of them, for an operation that dt_work_test found unfinished. */
dt_status dt__check_failure(dt__runtime *runtime, dt_work *work);

/* What is known of a member's calls when they are compared. */
enum dt__peer_calls {
    DT__CALLS_RUNNING,  /* it may be inside its last call, or have failed or died there: its draws may be missing */
    DT__CALLS_ENDED,    /* it has closed its context without an error */
    DT__CALLS_COMPARED, /* the histories of their operation differ: a call that only one has made counts, too */
};
/* The first call in which this rank and member c differ on a mesh of the operation, as a text; false if none is known.
 */
bool dt__describe_divergence(const dt_work *work, int64_t c, enum dt__peer_calls calls, char *text, size_t capacity);
static inline struct dt__entry *dt__own_entry(const dt_work *work) {
    return &work->channel->own->entries[work->seq % DT__N_ENTRIES];
}
static inline struct dt__entry *dt__entry_of(const dt_work *work, int64_t c) {
    return &work->channel->peers[c].block->entries[work->seq % DT__N_ENTRIES];
}

#endif
