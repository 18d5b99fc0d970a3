/* SPDX-License-Identifier: Apache-2.0
 *
 * Internals of the shm transport. Members of a channel publish a header per operation, each in its own block, read and
 * compare the headers, and pull data directly from each other's memory.
 *
 * An operation on one rank passes through these states, named after what it waits for:
 *
 *     WAIT_SLOT     members have finished the operation that used this header slot before -> publish the header
 *     WAIT_HEADERS  headers of the members that this rank reads from                      -> compare them
 *     WAIT_PHASES   phases of members (filled, pulled)                  -> run the next step, publish the phase
 *     WAIT_READERS  members that read this rank's memory have finished                    -> publish that it is done
 */
#ifndef DT_SHM_SHM_OPERATION_H
#define DT_SHM_SHM_OPERATION_H

#include "shm/shm.h"

enum dt__work_state { DT__WAIT_SLOT, DT__WAIT_HEADERS, DT__WAIT_PHASES, DT__WAIT_READERS };
enum { DT__STEP_FILL = -1 }; /* the step before step 0 in a round */

/* Flags of a header, which need not agree between ranks. */
#define DT__CALL_INLINE        (UINT64_C(1) << 25) /* the data is the header's payload */
#define DT__CALL_STAGED        (UINT64_C(1) << 26) /* the data passes through staging, in rounds */
#define DT__CALL_HELD          (UINT64_C(1) << 27) /* this rank waits until its readers have published their end */
#define DT__CALL_RESULT_STAGED (UINT64_C(1) << 29) /* the slice that this rank reduces is read from staging */
#define DT__CALL_IN_PLACE      (UINT64_C(1) << 30) /* this rank's all_reduce overwrites its src */
#define DT__CALL_ROUNDS        (DT__CALL_STAGED | DT__CALL_RESULT_STAGED)

#define DT__PHASE_DONE UINT32_MAX

typedef struct dt__shm {
    dt__board board; /* first: a channel refers to it */
    struct dt__segment *segment;
    bool stays_mapped; /* the segment: it is the launcher's (ranks as threads), or in use by something else */
    bool own_core;     /* every rank has a core of its own: spinning is allowed */
} dt__shm;

static inline dt__shm *dt__shm_of(const dt__runtime *runtime) { return (dt__shm *)runtime->board; }
static inline dt__shm *dt__shm_of_work(const dt_work *work) { return (dt__shm *)work->channel->board; }

/* From now on, pages of this memory come from the NUMA node while it has free ones, and then from others. False,
 * without an effect, if the system does not allow it or if the node is -1: a rank that is not bound may move to another
 * node. */
enum { DT__MAX_NODES = 1024 };
bool dt__place_memory(void *memory, size_t bytes, int node);

/* Wakes the members of a channel that sleep. */
void dt__shm_wake_sleepers(const dt__channel *channel);
/* Wakes sleeping members after a word was published. A rank that falls asleep either reads the new word or is counted
 * as asleep: it forces a memory barrier on all running ranks (membarrier) between publishing that it sleeps and its
 * last check, so that publishing needs no barrier. */
static inline void dt__shm_wake_members(const dt__channel *channel) {
    struct dt__segment *segment = ((dt__shm *)channel->board)->segment;
    if (atomic_load_explicit(&segment->fenced, memory_order_relaxed))
        atomic_fetch_add(&channel->board->own->fence, 1);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&segment->n_asleep, memory_order_acquire))
        dt__shm_wake_sleepers(channel);
}

/* shm_operation.c */
dt_status dt__shm_start(dt__runtime *runtime, dt_work *work);
dt_status dt__shm_step(dt__runtime *runtime, dt_work *work);
/* Whether the operation, in its current state, waits for member c. */
bool dt__shm_waits_for(dt_work *work, int64_t c);
/* Selects the memory that peers would read, as the first step of an operation does, and publishes nothing. */
dt_status dt__shm_reserve(dt_work *work);
/* Frees the operation's memory in the heap. */
void dt__shm_end(dt_work *work);

/* shm_collectives.c: the steps of an operation; each runs when the data that it reads is complete. */
typedef dt_status dt__step_fn(dt_work *work);
typedef struct dt__collective_steps {
    dt__step_fn *steps[2]; /* each runs when the members that dt__waits_for names have finished the one before */
} dt__collective_steps;
const dt__collective_steps *dt__steps_of(const dt_work *work);
/* Copies this round's pieces of src into staging. */
void dt__fill_staging(dt_work *work);
/* Member c's memory at an offset that c published; NULL unless all of it is in c's heap. */
const void *dt__shm_peer_memory(const dt_work *work, int64_t c, uint64_t at, size_t bytes);
size_t dt__staging_bytes(const dt_work *work);
/* Offset of the reduced slice in staging. */
size_t dt__staged_result_at(const dt_work *work);
/* Elements of the index space that rounds divide, and of one round; the same on every member. */
int64_t dt__range(const dt_work *work);
int64_t dt__round_size(const dt_work *work);

/* shm_wait.c */
dt_status dt__shm_pause(dt__runtime *runtime, dt_work *work, struct dt__pause *pause);
/* Sleeps until a peer wakes this rank, at most this long. `ready` is checked once more before falling asleep. */
void dt__shm_sleep(dt__board *board, int64_t ns, bool (*ready)(void *arg), void *arg);

#endif
