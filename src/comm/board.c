/* SPDX-License-Identifier: Apache-2.0
 *
 * This rank's state on the board: publishing it, raising the abort flag, leaving, and waiting until all ranks have
 * reached a point.
 */
#include "comm/comm.h"

#include <inttypes.h>
#include <stdio.h>

dt_status dt__board_open(dt__board *board) {
    board->channels = dt__map_new(board->runtime->ctx);
    board->labels = dt__map_new(board->runtime->ctx);
    return dt__map_reserve(&board->labels) ? DT_OK : DT_ERR_MEMORY;
}

void dt__board_close(dt__board *board) {
    dt__channels_free(board);
    dt__histories_free(board);
    dt__map_free(&board->labels);
}

static void send_state(const dt__board *board) {
    const dt__messenger *messenger = board->runtime->transport->messenger;
    if (messenger)
        messenger->send_state(board->runtime);
}

void dt__board_set_state(dt__board *board, enum dt__rank_state state) {
    atomic_store(&board->own->state, state);
    dt__board_notify(board);
    send_state(board);
}

static bool has_arrived(const struct dt__sync_point *point, int64_t rank) {
    const char *block = (const char *)&point->board->ranks[rank];
    return atomic_load((const _Atomic uint32_t *)(const void *)(block + point->counter)) >= point->target;
}

static bool all_have_arrived(void *arg) {
    struct dt__sync_point *point = arg;
    while (point->missing < point->board->n_ranks && has_arrived(point, point->missing))
        point->missing++;
    return point->missing == point->board->n_ranks;
}

/* Why one of the missing ranks will never arrive, with `missing` set to that rank; NULL if all may still arrive. */
static const char *absence_reason(struct dt__sync_point *point) {
    for (int64_t rank = point->missing; rank < point->board->n_ranks; rank++) {
        const char *why =
            has_arrived(point, rank) ? NULL : dt__rank_gone_reason(point->board, rank, true, !point->closed_are_gone);
        if (!why || has_arrived(point, rank))
            continue;
        point->missing = rank;
        return why;
    }
    return NULL;
}

static dt_status wait_for_all(struct dt__sync_point *point) {
    dt__runtime *runtime = point->board->runtime;
    struct dt__pause pause = {0};
    while (!all_have_arrived(point)) {
        const char *why = absence_reason(point);
        bool late = dt__deadline_has_passed(&pause, runtime->timeout_s, dt__now_ns(), DT__LONGEST_PAUSE_NS);
        char reason[DT__REASON_BYTES];
        if (why || late) {
            dt__describe_absence(point->board, point->missing, why ? why : "did not arrive in time", reason,
                                 sizeof reason);
            return dt__fail(runtime->ctx, why ? DT_ERR_PEER : DT_ERR_TIMEOUT, "%s: %s", point->call, reason);
        }
        DT__TRY(dt__host_waits(runtime, NULL));
        runtime->transport->sleep(point->board, all_have_arrived, point);
    }
    return DT_OK;
}

dt_status dt__synchronize(struct dt__sync_point *point) {
    dt_status status = wait_for_all(point);
    dt__host_wait_ends(point->board->runtime);
    return status;
}

/* The text of an error, for peers; set before the state that refers to it. */
static void publish_error(const dt__board *board, dt_status status, const char *text) {
    snprintf(board->own->error_text, sizeof board->own->error_text, "%.1000s", text);
    atomic_store(&board->own->error_status, status);
    atomic_store(&board->own->cause, (uint32_t)board->runtime->ctx->rank + 1);
}

/* A rank that closes with an error publishes the reason, for peers that wait for it now or later. */
void dt__board_leave(dt__board *board) {
    const dt_ctx *ctx = board->runtime->ctx;
    if (ctx->status != DT_OK && !atomic_load(&board->own->cause))
        publish_error(board, ctx->status, ctx->text);
    dt__board_set_state(board, DT__RANK_CLOSED);
}

/* Only the first local error is published: later ones are usually its consequences. */
void dt__board_raise_abort(dt__board *board, dt_status status, const char *text) {
    if (board->aborted)
        return;
    board->aborted = true;
    board->out_of_step = true;
    publish_error(board, status, text);
    dt__board_set_state(board, DT__RANK_FAILED);
}

void dt__blame_peer(dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    struct dt__rank_block *own = runtime && runtime->board ? runtime->board->own : NULL;
    uint64_t number = own ? atomic_load_explicit(&own->n_calls, memory_order_relaxed) : 0;
    if (number)
        atomic_store_explicit(&own->recent[(number - 1) % DT__N_RECENT].state, DT_ERR_PEER, memory_order_relaxed);
}

bool dt__peer_is_dead(const dt_ctx *ctx, int64_t rank) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime && runtime->board && dt__rank_is_dead(runtime->board, rank);
}

static void print_rank(const struct dt__rank_block *block, int64_t rank, FILE *out) {
    char text[2048], program[2 * DT__MAX_LABEL];
    dt__describe_rank(block, text, sizeof text);
    fprintf(out, "rank %" PRId64 ": %s\n", rank, text);
    uint64_t n = atomic_load(&block->n_calls);
    for (uint64_t i = n > DT__N_RECENT ? n - DT__N_RECENT : 0; i < n; i++) {
        const struct dt__recent_operation *operation = &block->recent[i % DT__N_RECENT];
        dt__describe_numbered_operation(operation, text, sizeof text);
        dt__describe_program_call(block, atomic_load_explicit(&operation->program, memory_order_relaxed), program,
                                  sizeof program);
        int32_t state = atomic_load_explicit(&operation->state, memory_order_relaxed);
        fprintf(out, "  call %" PRIu64 ": %s: %s%s\n", i + 1, text, dt_status_name((dt_status)state), program);
    }
}

void dt_comm_dump(const dt_ctx *ctx) {
    const dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    for (int64_t rank = 0; runtime && runtime->board && rank < runtime->board->n_ranks; rank++)
        print_rank(&runtime->board->ranks[rank], rank, stderr);
}
