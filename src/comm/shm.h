/* SPDX-License-Identifier: Apache-2.0
 *
 * Internals of the shm transport. A *channel* is a set of ranks that communicate: its members number their operations
 * identically and publish a header per operation, each in its own block of the segment. Members read and compare the
 * headers, and pull data directly from each other's memory.
 *
 * An operation on one rank passes through these states, named after what it waits for:
 *
 *     WAIT_SLOT     members have finished the operation that used this header slot before -> publish the header
 *     WAIT_HEADERS  headers of the members that this rank reads from                      -> compare them
 *     WAIT_PHASES   phases of members (filled, pulled)                  -> run the next step, publish the phase
 *     WAIT_READERS  members that read this rank's memory have finished                    -> publish that it is done
 */
#ifndef DT_COMM_SHM_H
#define DT_COMM_SHM_H

#include "base/hash.h"
#include "comm/collective.h"
#include "comm/runtime.h"
#include "comm/segment.h"

enum {
    DT__COPIED_BYTES = 512, /* data up to this size is copied even where peers could read it in place */
    DT__EAGER_BYTES = DT__EXCHANGE_COPIED_BYTES, /* data up to this size is copied, and no rank waits at the end */
    DT__AT_ONCE_BYTES = 4 << 20,        /* up to this size two ranks each reduce the full value of an all_reduce */
    DT__STREAM_ABOVE = 8 << 20,         /* results larger than this bypass the caches */
    DT__STAGING_BYTES = 512 << 10,      /* staging buffer in the heap, for memory outside the heap */
    DT__REDUCE_STAGING_BYTES = 4 << 20, /* the same for an all_reduce: half for values, half for results */
};

enum dt__work_state { DT__WAIT_SLOT, DT__WAIT_HEADERS, DT__WAIT_PHASES, DT__WAIT_READERS };
enum { DT__STEP_FILL = -1 }; /* the step before step 0 in a round */

/* Flags of a header, which need not agree between ranks. */
#define DT__CALL_INLINE        (UINT64_C(1) << 25) /* the data is the header's payload */
#define DT__CALL_STAGED        (UINT64_C(1) << 26) /* the data passes through staging, in rounds */
#define DT__CALL_HELD          (UINT64_C(1) << 27) /* this rank waits until its readers have published their end */
#define DT__CALL_REFUSED       (UINT64_C(1) << 28) /* this rank found the call invalid and does not participate */
#define DT__CALL_RESULT_STAGED (UINT64_C(1) << 29) /* the slice that this rank reduces is read from staging */
#define DT__CALL_IN_PLACE      (UINT64_C(1) << 30) /* this rank's all_reduce overwrites its src */
#define DT__CALL_ROUNDS        (DT__CALL_STAGED | DT__CALL_RESULT_STAGED)

#define DT__PHASE_DONE UINT32_MAX

typedef struct dt__shm {
    dt__runtime *runtime;
    struct dt__segment *segment;
    struct dt__rank_block *own;
    uint32_t number;   /* of this context among those of this rank, from 1; the same on all ranks at a time */
    bool stays_mapped; /* the segment: it is the launcher's (ranks as threads), or MPI may still read from it */
    bool own_core;     /* every rank has a core of its own: spinning is allowed */
    bool aborted;      /* this rank has raised the abort flag with a local error */
    bool out_of_step;  /* aborted, or a collective failed on this rank, since the last collective dt_error_clear */

    dt__map channels; /* by key; used ones stay, because their numbering continues */
    int64_t n_blocks; /* blocks in use in the own table */
    struct dt__history *histories;
    dt__map labels; /* by fingerprint */
    size_t label_bytes;
    const char *call_name, *call_file; /* of the last operation's call by the program, and their labels */
    uint32_t name_label, file_label;
} dt__shm;

/* The call of the program that is in progress, as a word that peers can read: its name, file and line; 0: none. */
uint64_t dt__program_call_word(dt__shm *shm);

/* This rank's cached state of a member of a channel. */
struct dt__peer {
    struct dt__channel_block *block; /* NULL until found */
    uint64_t done;                   /* operations that it is known to have finished */
    bool had_block;
};

typedef struct dt__channel {
    dt__shm *shm;
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
    struct dt__peer *peers;  /* one per member */
    unsigned char *eager;    /* copies of small data: [DT__N_ENTRIES][DT__EAGER_BYTES] in the heap, or NULL */
    uint32_t n_events;       /* of the segment, when the channel was last found intact */
    int64_t n_near, near_me; /* members on this rank's NUMA node, and its index among them; 0: not computed yet */
    dt_status broken;
    struct dt__remote *remotes; /* [n] if members are on several nodes (spanning.h); NULL: all are on this one */
} dt__channel;

/* channel.c: the channel of an operation, created on first use; NULL with the error recorded. */
dt__channel *dt__channel_of(dt__shm *shm, dt_work *work);
/* Drops the references of a group. */
void dt__channel_release_group(dt__runtime *runtime, dt_group *group);
/* Claims a block for the channel, if it has none, so that peers see this rank's progress. */
dt_status dt__channel_claim_block(dt__channel *channel);
/* Member c's block, or NULL while it has none. */
struct dt__channel_block *dt__channel_peer_block(dt__channel *channel, int64_t c);
void dt__channels_free(dt__shm *shm);

/* The channel index of group member i; a group need not be in ascending order. */
int64_t dt__member(const dt_work *work, int64_t i);

void dt__wake_sleepers(const dt__channel *channel);
/* Wakes sleeping peers; called after a word was published. A rank that falls asleep either reads the new word or is
 * counted as asleep: it forces a memory barrier on all running ranks (membarrier) between publishing that it sleeps
 * and its last check, so that publishing needs no barrier. */
static inline void dt__wake_members(const dt__channel *channel) {
    struct dt__segment *segment = channel->shm->segment;
    if (atomic_load_explicit(&segment->fenced, memory_order_relaxed))
        atomic_fetch_add(&channel->shm->own->fence, 1);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&segment->n_asleep, memory_order_acquire))
        dt__wake_sleepers(channel);
}

/* shm_operation.c */
dt_status dt__shm_start(dt__runtime *runtime, dt_work *work);
dt_status dt__shm_step(dt__runtime *runtime, dt_work *work);
/* Frees the operation's memory in the heap and records its final status. */
void dt__work_end(dt_work *work, dt_status status);
/* Publishes that the operation has ended on this rank. */
void dt__publish_done(dt_work *work);
/* Checks, before the operation counts as done, whether a member has broken the channel meanwhile. */
dt_status dt__check_late(dt_work *work);
/* Whether the operation, in its current state, waits for member c. */
bool dt__waits_for(dt_work *work, int64_t c);
/* Whether a member's header describes the call that this rank makes. */
bool dt__header_matches(const dt_work *work, const struct dt__entry *entry);

/* shm_collectives.c: the steps of an operation; each runs when the data that it reads is complete. */
typedef dt_status dt__step_fn(dt_work *work);
typedef struct dt__collective_steps {
    dt__step_fn *steps[3]; /* each runs when the members that dt__waits_for names have finished the one before */
} dt__collective_steps;
const dt__collective_steps *dt__steps_of(const dt_work *work);
/* Copies this round's pieces of src into staging. */
void dt__fill_staging(dt_work *work);
/* Member c's memory at an offset that c published; NULL unless all of it is in c's heap. */
const void *dt__peer_memory(const dt_work *work, int64_t c, uint64_t at, size_t bytes);
size_t dt__staging_bytes(const dt_work *work);
/* Offset of the reduced slice in staging. */
size_t dt__staged_result_at(const dt_work *work);
/* Elements of the index space that rounds divide, and of one round; the same on every member. */
int64_t dt__range(const dt_work *work);
int64_t dt__round_size(const dt_work *work);

/* numa.c: members on one NUMA node share what they read from other nodes. */
/* Whether that takes less time by the model, for n_near members that each need far_bytes from other nodes. */
bool dt__numa_sharing_pays(const dt__machine *machine, int64_t n_near, double far_bytes);
/* The same for an operation that starts; all members of a NUMA node return the same. */
bool dt__shares_far_memory(const dt_work *work);
/* Whether member c is on this rank's NUMA node. */
bool dt__is_near(const dt_work *work, int64_t c);
/* Lists the near members, beginning with this rank; returns their number. */
int64_t dt__list_near(const dt_work *work, int64_t *members);

/* failure.c: ends an operation with an error on every member; and the checks that detect failures. */
dt_status dt__shm_fail(dt_work *work, dt_status status, const char *format, ...) DT_PRINTF(3);
dt_status dt__shm_mismatch(dt_work *work, int64_t c);
/* The same for a header that c has sent in a message. */
dt_status dt__shm_mismatch_with(dt_work *work, int64_t c, const struct dt__entry *entry);
/* Fails the operation if a member has broken the channel. */
dt_status dt__shm_check_broken(dt_work *work);
/* The same, and also if a member that it waits for will never arrive, according to the state that the member publishes
 * and, with check_process, to whether its process is alive. */
dt_status dt__shm_check_peers(dt_work *work, bool check_process);
dt_status dt__shm_timed_out(dt_work *work);
/* Whether a rank has made the call, as far as this one has heard. */
bool dt__has_called(const dt_work *work, int64_t rank);
dt_status dt__shm_broken(dt_work *work);
/* Publishes that the channel is unusable since operation seq, unless it is broken already. */
void dt__break_channel(dt__channel *channel, uint64_t seq, dt_status status, const char *reason);
/* Whether the process of a rank is dead. */
bool dt__rank_is_dead(const dt__shm *shm, int64_t rank);
/* Why a rank is gone, as a text: its process is dead or, unless it may return, its context is closed; NULL if neither.
 */
const char *dt__rank_gone_reason(const dt__shm *shm, int64_t rank, bool check_process, bool may_return);
/* A rank of the launch that died, or ended with an exit code other than 0, without closing its context; -1: none. */
int64_t dt__dead_rank(const dt__shm *shm);
/* "rank 2 has closed its context", with the first cause where it is known: ranks close their contexts because another
 * one died or failed. */
void dt__describe_absence(const dt__shm *shm, int64_t rank, const char *why, char *text, size_t capacity);
/* Publishes that this rank fails because of another: with that rank's cause, unless this rank has one of its own. */
void dt__inherit_cause(dt__shm *shm, int64_t rank);

/* call_history.c */
/* What is known of a member's calls when they are compared. */
enum dt__peer_calls {
    DT__CALLS_RUNNING,  /* it may be inside its last call, or have failed or died there: its draws may be missing */
    DT__CALLS_ENDED,    /* it has closed its context without an error */
    DT__CALLS_COMPARED, /* the operation of both has another history: a call that one has not made differs, too */
};
/* The first call in which this rank and member c differ on a mesh of the operation, as a text; false if none is known.
 */
bool dt__describe_divergence(const dt_work *work, int64_t c, enum dt__peer_calls calls, char *text, size_t capacity);
/* The block of a rank for the history with this key, which may be free; NULL: it has no more. */
struct dt__history_block *dt__history_block_of(struct dt__rank_block *rank, uint64_t key);
void dt__histories_reset(dt__shm *shm);
void dt__histories_free(dt__shm *shm);

/* shm.c */
dt_status dt__shm_open(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket);
/* Publishes that this rank closes its context, with its error; closing frees the state, too. */
void dt__shm_leave(dt__runtime *runtime);
void dt__shm_close(dt__runtime *runtime);
void dt__shm_raise_abort(dt__runtime *runtime, dt_status status, const char *text);
bool dt__shm_hand_over(const dt__runtime *runtime, const char *line);
dt_status dt__shm_abandon(dt_work *work);
void dt__shm_dump(const dt__runtime *runtime);
void dt__shm_set_state(dt__shm *shm, enum dt__rank_state state);

/* A synchronisation point of all ranks: waits until a counter of every rank has reached a target. */
struct dt__sync_point {
    dt__shm *shm;
    const char *call; /* for errors */
    size_t counter;   /* offset of an _Atomic uint32_t in the rank block */
    uint32_t target;
    int64_t missing;      /* the first rank that has not arrived */
    bool closed_are_gone; /* ranks that have closed their context will not arrive */
};
dt_status dt__shm_synchronise(struct dt__sync_point *point);

/* error_clear.c */
bool dt__shm_is_in_step(const dt__runtime *runtime);
dt_status dt__shm_clear_error(dt__runtime *runtime);

/* shm_wait.c */
/* Parts of waiting that transports share: whether an event has ended the operation, its deadline, whether peers are
 * alive, and beginning again when the operation has made progress. */
dt_status dt__check_events(dt_work *work);
dt_status dt__check_deadline(dt__runtime *runtime, dt_work *work, struct dt__pause *pause, int64_t now);
dt_status dt__check_peers_periodically(dt_work *work, struct dt__pause *pause, int64_t now);
void dt__follow_progress(const dt_work *work, struct dt__pause *pause);
dt_status dt__shm_pause(dt__runtime *runtime, dt_work *work, struct dt__pause *pause);
dt_status dt__shm_check_failure(dt__runtime *runtime, dt_work *work);
/* Sleeps until a peer wakes this rank, at most this long. `ready` is checked once more before falling asleep. */
void dt__shm_sleep(dt__shm *shm, int64_t ns, bool (*ready)(void *arg), void *arg);

static inline struct dt__entry *dt__own_entry(const dt_work *work) {
    return &work->channel->own->entries[work->seq % DT__N_ENTRIES];
}
static inline struct dt__entry *dt__entry_of(const dt_work *work, int64_t c) {
    return &work->channel->peers[c].block->entries[work->seq % DT__N_ENTRIES];
}

#endif
