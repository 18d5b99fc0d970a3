/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the shm transport. A *channel* is a set of ranks that communicate: its members number their operations
 * alike and publish, each in its own block of the segment, a header per operation. Members read the headers, compare
 * them, and pull what they need straight from each other's memory.
 *
 * An operation on one rank goes through these states; the words in brackets are what it waits for:
 *
 *     QUEUED [members have finished the operation whose header place is reused]
 *     ARRIVE [headers of the members that this rank reads from]          header published
 *     MEET   [phases of members: filled, pulled]  <-> run the next step  phase published
 *     LEAVE  [members that read this rank's memory are through]          done published
 */
#ifndef DT_COMM_SHM_H
#define DT_COMM_SHM_H

#include "base/hash.h"
#include "comm/call.h"
#include "comm/exchange.h"
#include "comm/runtime.h"

enum {
    DT__COPIED_BYTES = 512, /* up to here data is copied even where peers could read it in place */
    DT__EAGER_BYTES =
        DT__EXCHANGE_COPIED_BYTES,      /* up to here data is copied beside the header and nobody waits at the end */
    DT__AT_ONCE_BYTES = 4 << 20,        /* up to here two ranks each do the whole of an all_reduce */
    DT__STREAM_ABOVE = 8 << 20,         /* results larger than this go past the caches */
    DT__STAGING_BYTES = 512 << 10,      /* memory outside the heap passes through this much of it at a time */
    DT__REDUCE_STAGING_BYTES = 4 << 20, /* the same for an all_reduce: half for values, half for results */
};

enum dt__work_state { DT__QUEUED, DT__ARRIVE, DT__MEET, DT__LEAVE };
enum { DT__STEP_FILL = -1 }; /* the step before step 0 in a round */

/* Flags of a header, this rank's own: they need not agree. */
#define DT__WHAT_INLINE        (UINT64_C(1) << 25) /* the data is the header's payload */
#define DT__WHAT_STAGED        (UINT64_C(1) << 26) /* the data passes through staging, in rounds */
#define DT__WHAT_HELD          (UINT64_C(1) << 27) /* this rank waits until it is told that it was read */
#define DT__WHAT_RESULT_STAGED (UINT64_C(1) << 29) /* the slice that this rank reduces is read from staging */
#define DT__WHAT_IN_PLACE      (UINT64_C(1) << 30) /* this rank's all_reduce overwrites its src */
#define DT__WHAT_ROUNDS        (DT__WHAT_STAGED | DT__WHAT_RESULT_STAGED)
#define DT__WHAT_REFUSED       (UINT64_C(1) << 28) /* this rank found the call invalid and takes no part */

#define DT__PHASE_DONE UINT32_MAX

typedef struct dt__shm {
    dt__runtime *runtime;
    struct dt__segment *segment;
    struct dt__rank_block *own;
    uint32_t number; /* of this context among those of this rank, from 1; all ranks have the same at a time */
    bool borrowed;   /* the mapping belongs to somebody else (ranks as threads) */
    bool own_core;   /* every rank has a core for itself: spinning is allowed */
    bool aborted;    /* this rank has raised the abort flag with a local error */
    uint32_t n_aborts_cleared; /* of the segment, when all ranks last cleared errors together */
    dt__map channels;          /* by key; those that were used stay, because their numbering goes on */
    int64_t n_blocks;          /* blocks taken in the own table */
} dt__shm;

/* What a rank knows of a member of a channel. */
struct dt__peer {
    struct dt__channel_block *block; /* NULL until found */
    uint64_t done;                   /* operations that it is known to have finished */
    bool seen;                       /* it has had a block */
};

typedef struct dt__channel {
    dt__shm *shm;
    uint64_t key;
    int64_t n_references;
    int64_t n, me;          /* members; this rank's place */
    int64_t *ranks;         /* world ranks; ascending, or sender and receiver */
    uint64_t set[2];        /* bits of the first 128 world ranks that are members */
    uint64_t started, done; /* operations numbered so far; all up to done are over here */
    uint64_t refused;       /* number of the last one that was not valid */
    uint64_t history;       /* hash of the calls numbered so far */
    uint64_t finished;      /* bit per number, modulo 64: over, though an earlier one is not */
    struct dt__channel_block *own;
    struct dt__peer *peers; /* one per member */
    unsigned char *eager;   /* DT__N_ENTRIES pieces of DT__EAGER_BYTES in the heap, or NULL */
    uint32_t n_events;      /* of the segment, when no member was seen to have broken the channel */
    dt_status broken;
} dt__channel;

/* channel.c: the channel of an operation, made on first use; NULL with the error recorded. */
dt__channel *dt__channel_of(dt__shm *shm, dt_work *work);
/* Drops the references that a group holds. */
void dt__channel_forget(dt__runtime *runtime, dt_group *group);
/* Gives the channel a block, if it has none, so that peers see how far this rank is. */
dt_status dt__channel_show(dt__channel *channel);
/* Member c's block, or NULL while it has none. */
struct dt__channel_block *dt__channel_find(dt__channel *channel, int64_t c);
void dt__channels_free(dt__shm *shm);

/* The channel's index of group member i; a group need not be in ascending order. */
int64_t dt__member(const dt_work *work, int64_t i);

void dt__wake_sleepers(const dt__channel *channel);
/* Makes peers that sleep look again. Call it after a word was published. A rank that falls asleep makes sure that it
 * either sees the word or is seen to sleep: it has all running ranks pass a memory barrier between saying that it
 * sleeps and looking once more, so that publishing needs none. */
static inline void dt__wake_members(const dt__channel *channel) {
    struct dt__segment *segment = channel->shm->segment;
    if (atomic_load_explicit(&segment->fenced, memory_order_relaxed))
        atomic_fetch_add(&channel->shm->own->fence, 1);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&segment->n_asleep, memory_order_acquire))
        dt__wake_sleepers(channel);
}

/* engine.c */
dt_status dt__shm_start(dt__runtime *runtime, dt_work *work);
dt_status dt__shm_step(dt__runtime *runtime, dt_work *work);
/* Gives back what the operation took of the heap and notes how it ended. */
void dt__work_over(dt_work *work, dt_status status);
/* Whether member c holds up the operation in its present state. */
bool dt__lacks(dt_work *work, int64_t c);
/* Whether a member's header is of the call that this rank makes. */
bool dt__agrees(const dt_work *work, const struct dt__entry *entry);

/* pull.c: the steps of an operation, all on data that is known to be there. */
typedef dt_status dt__step_fn(dt_work *work);
typedef struct dt__pull {
    dt__step_fn *steps[2]; /* the second runs when every member has done the first */
} dt__pull;
const dt__pull *dt__pull_of(const dt_work *work);
/* Copies this round's part of src into staging. */
void dt__fill_staging(dt_work *work);
/* Member c's memory at an offset that c published; NULL unless all of it lies in c's heap. */
const void *dt__peer_memory(const dt_work *work, int64_t c, uint64_t at, size_t bytes);
size_t dt__staging_bytes(const dt_work *work);
/* Where in staging the reduced slice lies. */
size_t dt__staged_result_at(const dt_work *work);
/* Elements of the index space that rounds cut, and of one round; the same on every member. */
int64_t dt__range(const dt_work *work);
int64_t dt__round_size(const dt_work *work);

/* trouble.c: ends an operation with an error that every member will learn, and the checks that lead there. */
dt_status dt__shm_fail(dt_work *work, dt_status status, const char *format, ...) DT_PRINTF(3);
dt_status dt__shm_mismatch(dt_work *work, int64_t c);
/* Whether a member has broken the channel, up to the latest event; and besides, whether one that is waited for
 * will never come, by what it shows and, where the system is asked, too, by its process. */
dt_status dt__shm_look_for_break(dt_work *work);
dt_status dt__shm_look_for_trouble(dt_work *work, bool ask);
dt_status dt__shm_timed_out(dt_work *work);
dt_status dt__shm_broken(dt_work *work);
/* Publishes, unless it was published before, that the channel is unusable since operation seq. Breaking it raises the
 * abort flag too. */
void dt__mark_broken(dt__channel *channel, uint64_t seq, dt_status status, const char *why);
void dt__break_channel(dt__channel *channel, uint64_t seq, dt_status status, const char *why);
/* Whether the process of a rank is gone; and, in words or NULL, whether its process or its context is. */
bool dt__rank_is_dead(const dt__shm *shm, int64_t rank);
const char *dt__rank_is_gone(const dt__shm *shm, int64_t rank, bool ask, bool may_return);

/* shm.c: shows what this rank is about, and waits until a counter of every rank has reached a number. */
void dt__shm_set_state(dt__shm *shm, enum dt__rank_state state);
struct dt__meeting {
    dt__shm *shm;
    const char *what; /* the call */
    size_t counter;   /* offset of an _Atomic uint32_t in the rank block */
    uint32_t number;
    int64_t missing;
    bool open; /* ranks that have closed their context will not come */
};
dt_status dt__shm_meet(struct dt__meeting *meeting);

/* clear.c */
bool dt__shm_is_aborted(const dt__runtime *runtime);
dt_status dt__shm_clear_error(dt__runtime *runtime);

/* wait.c */
dt_status dt__shm_pause(dt__runtime *runtime, dt_work *work, struct dt__pause *pause);
dt_status dt__shm_glance(dt__runtime *runtime, dt_work *work);
/* Sleeps until the bell rings, at most this long. ready is asked once more before falling asleep. */
void dt__shm_sleep(dt__shm *shm, int64_t ns, bool (*ready)(void *arg), void *arg);

static inline struct dt__entry *dt__own_entry(const dt_work *work) {
    return &work->channel->own->entries[work->seq % DT__N_ENTRIES];
}
static inline struct dt__entry *dt__entry_of(const dt_work *work, int64_t c) {
    return &work->channel->peers[c].block->entries[work->seq % DT__N_ENTRIES];
}

#endif
