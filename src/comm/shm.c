/* SPDX-License-Identifier: Apache-2.0
 *
 * The shm transport: joining a launch, leaving it, and raising the abort flag. A rank that joins for the first time
 * does not wait. One that joins again (after dt_close) waits until all ranks have joined again, because only then no
 * rank reads its old block any more, and clears it.
 */
#include "comm/spanning.h"

#include "comm/node_cpus.h"
#include "comm/operation_text.h"
#include "comm/rank_reports.h"

#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void dt__shm_set_state(dt__shm *shm, enum dt__rank_state state) {
    atomic_store(&shm->own->state, state);
    dt__segment_notify(shm->segment);
    if (shm->runtime->mpi)
        dt__announce_state(shm->runtime->mpi);
}

static bool has_arrived(const struct dt__sync_point *point, int64_t rank) {
    const char *block = (const char *)&point->shm->segment->ranks[rank];
    return atomic_load((const _Atomic uint32_t *)(const void *)(block + point->counter)) >= point->target;
}

static bool all_have_arrived(void *arg) {
    struct dt__sync_point *point = arg;
    while (point->missing < point->shm->segment->n_ranks && has_arrived(point, point->missing))
        point->missing++;
    return point->missing == point->shm->segment->n_ranks;
}

/* Why one of the missing ranks will never arrive, with `missing` set to that rank; NULL if all may still arrive. */
static const char *absence_reason(struct dt__sync_point *point) {
    for (int64_t rank = point->missing; rank < point->shm->segment->n_ranks; rank++) {
        const char *why =
            has_arrived(point, rank) ? NULL : dt__rank_gone_reason(point->shm, rank, true, !point->closed_are_gone);
        if (!why || has_arrived(point, rank))
            continue;
        point->missing = rank;
        return why;
    }
    return NULL;
}

/* Ranks of other nodes cannot wake this one. */
static void sleep_for(struct dt__sync_point *point) {
    dt__mpi *mpi = point->shm->runtime->mpi;
    if (mpi)
        dt__mpi_progress(mpi);
    dt__shm_sleep(point->shm, mpi ? 100000 : 100000000, all_have_arrived, point);
}

dt_status dt__shm_synchronise(struct dt__sync_point *point) {
    dt__runtime *runtime = point->shm->runtime;
    int64_t deadline = dt__now_ns() + (int64_t)(runtime->timeout_s * 1e9);
    while (!all_have_arrived(point)) {
        const char *why = absence_reason(point);
        bool late = runtime->timeout_s >= 0 && dt__now_ns() > deadline;
        char reason[DT__REASON_BYTES];
        if (why || late) {
            dt__describe_absence(point->shm, point->missing, why ? why : "did not arrive in time", reason,
                                 sizeof reason);
            return dt__fail(runtime->ctx, why ? DT_ERR_PEER : DT_ERR_TIMEOUT, "%s: %s", point->call, reason);
        }
        sleep_for(point);
    }
    return DT_OK;
}

/* Clears the state that this rank published in its previous context. */
static void clear_own_block(dt__shm *shm) {
    struct dt__rank_block *own = shm->own;
    for (uint64_t i = 0; i < DT__N_CHANNELS; i++)
        if (atomic_load(&own->used[i / 64]) >> i % 64 & 1)
            memset(&own->channels[i], 0, sizeof own->channels[i]);
    for (int i = 0; i < DT__N_CHANNELS / 64; i++)
        atomic_store(&own->used[i], 0);
    for (int i = 0; i < DT__N_RING; i++)
        atomic_store(&own->ring[i].channel, 0);
    for (int i = 0; i < DT__N_HISTORIES; i++) {
        atomic_store(&own->histories[i].n, 0);
        atomic_store(&own->histories[i].key, 0);
    }
    atomic_store(&own->n_calls, 0);
    atomic_store(&own->n_cleared, 0);
    atomic_store(&own->error_status, DT_OK);
    atomic_store(&own->cause, 0);
}

/* Waits until all ranks have joined again, and then until all have cleared their blocks. */
static dt_status join_again(dt__shm *shm) {
    struct dt__sync_point joined = {shm, "launch", offsetof(struct dt__rank_block, n_joined), shm->number, 0, false};
    struct dt__sync_point ready = {shm, "launch", offsetof(struct dt__rank_block, n_ready), shm->number, 0, false};
    DT__TRY(dt__shm_synchronise(&joined));
    clear_own_block(shm);
    madvise(shm->runtime->heap.base, shm->runtime->heap.bytes, MADV_REMOVE);
    atomic_store(&shm->own->n_ready, shm->number);
    dt__segment_notify(shm->segment);
    return dt__shm_synchronise(&ready);
}

/* A failure restores the counters, so that all ranks may try again. */
static dt_status join(dt__shm *shm) {
    shm->number = atomic_fetch_add(&shm->own->n_joined, 1) + 1;
    if (shm->number == 1) { /* no rank waits for this: a thousand starting ranks need not wake each other */
        atomic_store(&shm->own->n_ready, 1);
        atomic_store(&shm->own->state, DT__RANK_READY);
        return DT_OK;
    }
    dt__shm_set_state(shm, DT__RANK_JOINING);
    dt_status status = join_again(shm);
    bool joined = status == DT_OK;
    atomic_store(&shm->own->n_ready, joined ? shm->number : shm->number - 1);
    if (!joined)
        atomic_store(&shm->own->n_joined, shm->number - 1);
    dt__shm_set_state(shm, joined ? DT__RANK_READY : DT__RANK_CLOSED);
    return status;
}

static void unmap(dt__shm *shm) {
    dt__map_free(&shm->labels);
    if (!shm->stays_mapped)
        dt__segment_unmap(shm->segment);
    dt__free(shm->runtime->ctx, shm, sizeof *shm);
}

static bool is_taken(const dt__shm *shm) {
    int32_t state = atomic_load(&shm->own->state), pid = atomic_load(&shm->own->pid);
    bool open = state != DT__RANK_ABSENT && state != DT__RANK_CLOSED;
    return open && (pid == getpid() || !dt__rank_is_dead(shm, shm->runtime->ctx->rank));
}

/* On the NUMA node of this rank, if it is bound to one. A rank that is not may move to another. */
static void place_heap(void *heap, size_t bytes) {
    dt__cpu_set cpus;
    int node = dt__cpus_of_process(&cpus) ? dt__numa_node_of("", &cpus) : -1;
    if (node >= 0)
        dt__place_memory(heap, bytes, node);
}

dt_status dt__shm_open(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket) {
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
    *shm = (dt__shm){.runtime = runtime,
                     .segment = segment,
                     .own = &segment->ranks[ticket->rank],
                     .stays_mapped = ticket->base != NULL,
                     .own_core = segment->n_heaps <= ticket->n_cores,
                     .channels = dt__map_new(ctx),
                     .labels = dt__map_new(ctx)};
    ctx->rank = ticket->rank;
    ctx->world = segment->n_ranks;
    runtime->shm = shm;
    dt_status status = DT_OK;
    if (options->world && options->world != ctx->world)
        status = dt__fail(ctx, DT_ERR_VALUE, "world: expected the size of the launch, %" PRId64 ", got %" PRId64,
                          ctx->world, options->world);
    else if (is_taken(shm))
        status = dt__fail(ctx, DT_ERR_STATE, "rank %" PRId64 " of this launch has a context already, in process %d",
                          ctx->rank, (int)atomic_load(&shm->own->pid));
    else if (!dt__map_reserve(&shm->labels))
        status = DT_ERR_MEMORY;
    else
        status = dt__ctx_set_machine(ctx, &segment->machine);
    if (status != DT_OK) {
        unmap(shm);
        runtime->shm = NULL;
        return status;
    }
    char *heap = (char *)segment + dt__segment_heap_at(segment, ctx->rank);
    place_heap(heap, segment->heap_bytes);
    madvise(heap, segment->heap_bytes, MADV_HUGEPAGE); /* where the system allows it for shared memory */
    dt__heap_open(&runtime->heap, ctx, heap, segment->heap_bytes, true);
    atomic_store(&shm->own->pid, (int32_t)getpid());
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0))
        atomic_store(&segment->fenced, 1);
    status = join(shm);
    if (status != DT_OK) {
        dt__heap_close(&runtime->heap);
        unmap(shm);
        runtime->shm = NULL;
    }
    return status;
}

/* The text of an error, for peers; set before the state that refers to it. */
static void publish_error(dt__shm *shm, dt_status status, const char *text) {
    snprintf(shm->own->error_text, sizeof shm->own->error_text, "%.1000s", text);
    atomic_store(&shm->own->error_status, status);
    atomic_store(&shm->own->cause, (uint32_t)shm->runtime->ctx->rank + 1);
}

/* A rank that closes with an error leaves the reason, for peers that wait for it or will. */
void dt__shm_leave(dt__runtime *runtime) {
    dt__shm *shm = runtime->shm;
    if (runtime->ctx->status != DT_OK && !atomic_load(&shm->own->cause))
        publish_error(shm, runtime->ctx->status, runtime->ctx->text);
    dt__shm_set_state(shm, DT__RANK_CLOSED);
}

void dt__shm_close(dt__runtime *runtime) {
    dt__shm *shm = runtime->shm;
    if (atomic_load(&shm->own->state) != DT__RANK_CLOSED)
        dt__shm_leave(runtime);
    dt__channels_free(shm);
    dt__histories_free(shm);
    dt__heap_close(&runtime->heap);
    unmap(shm);
    runtime->shm = NULL;
}

/* Only the first local error is published: later ones are usually its consequences. */
void dt__shm_raise_abort(dt__runtime *runtime, dt_status status, const char *text) {
    dt__shm *shm = runtime->shm;
    if (shm->aborted)
        return;
    shm->aborted = true;
    shm->out_of_step = true;
    publish_error(shm, status, text);
    dt__shm_set_state(shm, DT__RANK_FAILED);
}

bool dt__shm_hand_over(const dt__runtime *runtime, const char *line) {
    return dt__report_post(runtime->shm->segment, runtime->ctx->rank, line);
}

dt_status dt__shm_abandon(dt_work *work) {
    return dt__shm_fail(work, DT_ERR_STATE,
                        "rank %" PRId64 " has closed its context before the operation that it had started was "
                        "finished; wait for started operations before dt_close",
                        work->channel->shm->runtime->ctx->rank);
}

void dt__shm_dump(const dt__runtime *runtime) { dt__segment_dump(runtime->shm->segment, stderr); }

const dt__transport dt__transport_shm = {
    .name = "shm",
    .open = dt__shm_open,
    .close = dt__shm_close,
    .start = dt__shm_start,
    .step = dt__shm_step,
    .pause = dt__shm_pause,
    .abandon = dt__shm_abandon,
    .check_failure = dt__shm_check_failure,
    .release_group = dt__channel_release_group,
    .raise_abort = dt__shm_raise_abort,
    .is_in_step = dt__shm_is_in_step,
    .clear_error = dt__shm_clear_error,
    .hand_over = dt__shm_hand_over,
    .dump = dt__shm_dump,
};
