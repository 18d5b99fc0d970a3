/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of the shm transport. A *channel* is a set of ranks that communicate: its members number their operations
 * alike and publish, each in its own block of the segment, a header per operation. Members read the headers, compare
 * them, and pull what they need straight from each other's memory.
 *
 * An operation on one rank goes through these states, named after what it waits for:
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
    DT__COPIED_BYTES = 512, /* up to here data is copied even where peers could read it in place */
    DT__EAGER_BYTES =
        DT__EXCHANGE_COPIED_BYTES,      /* up to here data is copied beside the header and no rank waits at the end */
    DT__AT_ONCE_BYTES = 4 << 20,        /* up to here two ranks each reduce the whole value of an all_reduce */
    DT__STREAM_ABOVE = 8 << 20,         /* results larger than this bypass the caches */
    DT__STAGING_BYTES = 512 << 10,      /* memory outside the heap passes through this much of it at a time */
    DT__REDUCE_STAGING_BYTES = 4 << 20, /* the same for an all_reduce: half for values, half for results */
};

enum dt__work_state { DT__WAIT_SLOT, DT__WAIT_HEADERS, DT__WAIT_PHASES, DT__WAIT_READERS };
enum { DT__STEP_FILL = -1 }; /* the step before step 0 in a round */

/* Flags of a header, this rank's own: they need not agree. */
#define DT__CALL_INLINE        (UINT64_C(1) << 25) /* the data is the header's payload */
#define DT__CALL_STAGED        (UINT64_C(1) << 26) /* the data passes through staging, in rounds */
#define DT__CALL_HELD          (UINT64_C(1) << 27) /* this rank waits until its readers have published their end */
#define DT__CALL_REFUSED       (UINT64_C(1) << 28) /* this rank found the call invalid and takes no part */
#define DT__CALL_RESULT_STAGED (UINT64_C(1) << 29) /* the slice that this rank reduces is read from staging */
#define DT__CALL_IN_PLACE      (UINT64_C(1) << 30) /* this rank's all_reduce overwrites its src */
#define DT__CALL_ROUNDS        (DT__CALL_STAGED | DT__CALL_RESULT_STAGED)

#define DT__PHASE_DONE UINT32_MAX

typedef struct dt__shm {
    dt__runtime *runtime;
    struct dt__segment *segment;
    struct dt__rank_block *own;
    uint32_t number;  /* of this context among those of this rank, from 1; all ranks have the same at a time */
    bool borrowed;    /* the mapping belongs to the launcher (ranks as threads) */
    bool own_core;    /* every rank has a core of its own: spinning is allowed */
    bool aborted;     /* this rank has raised the abort flag with a local error */
    bool out_of_step; /* it has, or a collective has failed here, since all ranks last cleared errors together */

    dt__map channels; /* by key; those that were used stay, because their numbering continues */
    int64_t n_blocks; /* blocks in use in the own table */
} dt__shm;

/* A member of a channel, as this rank sees it. */
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
    uint64_t refused;       /* number of the last one that was not valid */
    uint64_t history;       /* hash of the calls numbered so far */
    uint64_t finished;      /* bit per number, modulo 64: ended, though an earlier one has not */
    struct dt__channel_block *own;
    struct dt__peer *peers; /* one per member */
    unsigned char *eager;   /* copies of small data: [DT__N_ENTRIES][DT__EAGER_BYTES] in the heap, or NULL */
    uint32_t n_events;      /* of the segment, when no member was seen to have broken the channel */
    dt_status broken;
} dt__channel;

/* channel.c: the channel of an operation, made on first use; NULL with the error recorded. */
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
/* Wakes peers that sleep; called after a word was published. A rank that falls asleep either sees the word or is seen
 * to sleep: it makes all running ranks pass a memory barrier (membarrier) between publishing that it sleeps and
 * checking once more, so that publishing needs none. */
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
/* Frees what the operation allocated in the heap and records how it ended. */
void dt__work_end(dt_work *work, dt_status status);
/* Whether the operation, in its present state, waits for member c. */
bool dt__waits_for(dt_work *work, int64_t c);
/* Whether a member's header describes the call that this rank makes. */
bool dt__header_matches(const dt_work *work, const struct dt__entry *entry);

/* shm_collectives.c: the steps of an operation, all on data that is complete. */
typedef dt_status dt__step_fn(dt_work *work);
typedef struct dt__collective_steps {
    dt__step_fn *steps[2]; /* the second runs when every member has finished the first */
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

/* failure.c: ends an operation with an error that every member will get, and the checks that lead to it. */
dt_status dt__shm_fail(dt_work *work, dt_status status, const char *format, ...) DT_PRINTF(3);
dt_status dt__shm_mismatch(dt_work *work, int64_t c);
/* Fails the operation if a member has broken the channel, up to the latest event. */
dt_status dt__shm_check_broken(dt_work *work);
/* The same, and if a member that it waits for will never come, by what the member publishes and, with ask_system, by
 * whether its process is alive. */
dt_status dt__shm_check_peers(dt_work *work, bool ask_system);
dt_status dt__shm_timed_out(dt_work *work);
dt_status dt__shm_broken(dt_work *work);
/* Publishes, unless it was published before, that the channel is unusable since operation seq. */
void dt__break_channel(dt__channel *channel, uint64_t seq, dt_status status, const char *reason);
/* Whether the process of a rank is dead. */
bool dt__rank_is_dead(const dt__shm *shm, int64_t rank);
/* Why a rank is gone, in words: its process is dead or, unless it may return, its context closed; NULL otherwise. */
const char *dt__rank_gone_reason(const dt__shm *shm, int64_t rank, bool ask_system, bool may_return);

/* shm.c */
void dt__shm_set_state(dt__shm *shm, enum dt__rank_state state);

/* A synchronisation point of all ranks: waits until a counter of every rank has reached a target. */
struct dt__sync_point {
    dt__shm *shm;
    const char *call; /* for errors */
    size_t counter;   /* offset of an _Atomic uint32_t in the rank block */
    uint32_t target;
    int64_t missing;      /* the first rank that has not come */
    bool closed_are_gone; /* ranks that have closed their context will not come */
};
dt_status dt__shm_synchronise(struct dt__sync_point *point);

/* error_clear.c */
bool dt__shm_is_in_step(const dt__runtime *runtime);
dt_status dt__shm_clear_error(dt__runtime *runtime);

/* shm_wait.c */
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
