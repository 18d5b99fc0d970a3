/* SPDX-License-Identifier: Apache-2.0
 *
 * The shm transport: joining a launch and leaving it. A rank that joins for the first time
 * does not wait. One that joins again (after dt_close) waits until all ranks have joined again, because only then no
 * rank reads its old block any more, and clears it.
 */
#include "shm/shm_operation.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Clears the state that this rank published in its previous context. */
static void clear_own_block(dt__shm *shm) {
    struct dt__rank_block *own = shm->board.own;
    for (uint64_t i = 0; i < DT__N_CHANNELS; i++)
        if (atomic_load(&own->used[i / 64]) >> i % 64 & 1)
            memset(&own->channels[i], 0, sizeof own->channels[i]);
    for (int i = 0; i < DT__N_CHANNELS / 64; i++)
        atomic_store(&own->used[i], 0);
    for (int i = 0; i < DT__N_RECENT; i++)
        atomic_store(&own->recent[i].channel, 0);
    for (int i = 0; i < DT__N_HISTORIES; i++) {
        atomic_store(&own->histories[i].n, 0);
        atomic_store(&own->histories[i].key, 0);
    }
    atomic_store(&own->n_calls, 0);
    atomic_store(&own->n_cleared, 0);
    atomic_store(&own->error_status, DT_OK);
    atomic_store(&own->cause, 0);
    atomic_store(&own->incident, 0);
}

/* Waits until all ranks have joined again, and then until all have cleared their blocks. */
static dt_status join_again(dt__shm *shm) {
    struct dt__sync_point joined = {&shm->board,       "launch", offsetof(struct dt__rank_block, n_joined),
                                    shm->board.number, 0,        false};
    struct dt__sync_point ready = {&shm->board,       "launch", offsetof(struct dt__rank_block, n_ready),
                                   shm->board.number, 0,        false};
    DT__TRY(dt__synchronize(&joined));
    clear_own_block(shm);
    madvise(shm->board.runtime->heap.base, shm->board.runtime->heap.bytes, MADV_REMOVE);
    atomic_store(&shm->board.own->n_ready, shm->board.number);
    dt__segment_notify(shm->segment);
    return dt__synchronize(&ready);
}

/* A failure restores the counters, so that all ranks may try again. */
static dt_status join(dt__shm *shm) {
    shm->board.number = atomic_fetch_add(&shm->board.own->n_joined, 1) + 1;
    if (shm->board.number == 1) { /* no rank waits for this: a thousand starting ranks need not wake each other */
        atomic_store(&shm->board.own->n_ready, 1);
        atomic_store(&shm->board.own->state, DT__RANK_READY);
        return DT_OK;
    }
    dt__board_set_state(&shm->board, DT__RANK_JOINING);
    dt_status status = join_again(shm);
    bool joined = status == DT_OK;
    atomic_store(&shm->board.own->n_ready, joined ? shm->board.number : shm->board.number - 1);
    if (!joined)
        atomic_store(&shm->board.own->n_joined, shm->board.number - 1);
    dt__board_set_state(&shm->board, joined ? DT__RANK_READY : DT__RANK_CLOSED);
    return status;
}

static void unmap(dt__shm *shm) {
    dt__runtime *runtime = shm->board.runtime;
    runtime->board = NULL;
    if (!shm->stays_mapped)
        dt__segment_unmap(shm->segment);
    dt__free(runtime->ctx, shm, sizeof *shm);
}

static bool is_taken(const dt__shm *shm) {
    int32_t state = atomic_load(&shm->board.own->state), pid = atomic_load(&shm->board.own->pid);
    bool open = state != DT__RANK_ABSENT && state != DT__RANK_CLOSED;
    return open && (pid == getpid() || !dt__rank_is_dead(&shm->board, shm->board.runtime->ctx->rank));
}

bool dt__place_memory(void *memory, size_t bytes, int node) {
    unsigned long nodes[DT__MAX_NODES / 64] = {0};
    if (node < 0 || node >= DT__MAX_NODES)
        return false;
    nodes[node / 64] = 1ul << node % 64;
    int before = errno;
    bool ok = syscall(SYS_mbind, memory, bytes, MPOL_PREFERRED, nodes, (unsigned long)DT__MAX_NODES + 1, 0) == 0;
    errno = before;
    return ok;
}

static dt_status open_shm(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket) {
    dt_ctx *ctx = runtime->ctx;
    char error[256] = "";
    struct dt__segment *segment = dt__segment_join(ticket, error, sizeof error);
    if (!segment)
        return dt__fail(ctx, DT_ERR_SYSTEM, "%s", error);
    dt__shm *shm = dt__alloc_zeroed(ctx, sizeof *shm);
    if (!shm) {
        if (!ticket->base)
            dt__segment_unmap(segment);
        return dt__fail_memory(ctx, sizeof *shm, "the shm transport");
    }
    *shm = (dt__shm){.board = {.runtime = runtime,
                               .ranks = segment->ranks,
                               .own = &segment->ranks[ticket->rank],
                               .n_ranks = segment->n_ranks,
                               .n_events = &segment->n_events},
                     .segment = segment,
                     .stays_mapped = ticket->base != NULL,
                     .own_core = segment->n_heaps <= ticket->n_cores};
    ctx->rank = ticket->rank;
    ctx->world = segment->n_ranks;
    runtime->board = &shm->board;
    dt_status status = dt__board_open(&shm->board);
    if (status == DT_OK && options->world && options->world != ctx->world)
        status = dt__fail(ctx, DT_ERR_VALUE, "world: expected the size of the launch, %" PRId64 ", got %" PRId64,
                          ctx->world, options->world);
    else if (status == DT_OK && is_taken(shm))
        status = dt__fail(ctx, DT_ERR_STATE, "rank %" PRId64 " of this launch has a context already, in process %d",
                          ctx->rank, (int)atomic_load(&shm->board.own->pid));
    else if (status == DT_OK)
        status = dt__ctx_set_machine(ctx, &segment->machine);
    if (status != DT_OK) {
        dt__board_close(&shm->board);
        unmap(shm);
        return status;
    }
    char *heap = (char *)segment + dt__segment_heap_at(segment, ctx->rank);
    (void)dt__place_memory(heap, segment->heap_bytes, runtime->numa_node);
    madvise(heap, segment->heap_bytes, MADV_HUGEPAGE); /* where the system allows it for shared memory */
    dt__heap_open(&runtime->heap, ctx, heap, segment->heap_bytes, true);
    runtime->heap.n_short = &segment->n_short;
    runtime->heap.n_answered = atomic_load(&segment->n_short);
    atomic_store(&shm->board.own->pid, (int32_t)getpid());
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0))
        atomic_store(&segment->fenced, 1);
    status = join(shm);
    if (status != DT_OK) {
        dt__board_close(&shm->board);
        dt__heap_close(&runtime->heap);
        unmap(shm);
    }
    return status;
}

static void close_shm(dt__runtime *runtime) {
    dt__shm *shm = dt__shm_of(runtime);
    if (atomic_load(&shm->board.own->state) != DT__RANK_CLOSED)
        dt__board_leave(&shm->board);
    dt__board_close(&shm->board);
    dt__heap_close(&runtime->heap);
    unmap(shm);
}

struct dt__segment *dt__segment_of(const dt__runtime *runtime) {
    return dt__shm_of(runtime)->segment;
}

void dt__segment_keep_mapped(const dt__runtime *runtime) { dt__shm_of(runtime)->stays_mapped = true; }

static void notify(dt__board *board) { dt__segment_notify(((dt__shm *)board)->segment); }

static void wake(const dt__channel *channel) { dt__shm_wake_members(channel); }

static void sleep_until(dt__board *board, bool (*ready)(void *arg), void *arg) {
    dt__shm_sleep(board, 100000000, ready, arg);
}

const dt__transport dt__transport_shm = {
    .name = "shm",
    .has_data = true,
    .open = open_shm,
    .close = close_shm,
    .start = dt__shm_start,
    .step = dt__shm_step,
    .pause = dt__shm_pause,
    .check_failure = dt__check_failure,
    .waits_for = dt__shm_waits_for,
    .end = dt__shm_end,
    .peer_memory = dt__shm_peer_memory,
    .notify = notify,
    .wake = wake,
    .sleep = sleep_until,
};
