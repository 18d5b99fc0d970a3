/* SPDX-License-Identifier: Apache-2.0
 *
 * The start and the end of every operation of several ranks, whatever moves its data: its channel, its number, an entry
 * in the log of recent operations, and the comparison of a member's header with this rank's call.
 */
#include "comm/comm.h"

#include <inttypes.h>
#include <string.h>

/* Between two meshes, members of only one of them have only its history. */
static bool histories_match(const dt_work *work, const struct dt__entry *entry) {
    for (int i = 0; i < 2; i++) {
        uint64_t other = atomic_load_explicit(&entry->histories[i], memory_order_relaxed);
        if (work->history_words[i] && other && other != work->history_words[i])
            return false;
    }
    return true;
}

bool dt__header_matches(const dt_work *work, const struct dt__entry *entry) {
    return dt__signature_matches(entry->signature, work->signature) && entry->count == work->count &&
           entry->check == work->check && !(entry->signature & DT__CALL_REFUSED) &&
           (work->n_histories < 2 || histories_match(work, entry));
}

static void record_name(struct dt__recent_operation *call, const dt__exchange_call *of) {
    uint64_t words[DT__CALL_NAME_BYTES / 8];
    memcpy(words, of->name, sizeof words);
    for (size_t i = 0; i < DT__CALL_NAME_BYTES / 8; i++)
        atomic_store_explicit(&call->name[i], words[i], memory_order_relaxed);
}

/* Records the call in the log of recent operations. */
static void record_call(dt__board *board, dt_work *work) {
    struct dt__rank_block *own = board->own;
    uint64_t number = atomic_load_explicit(&own->n_calls, memory_order_relaxed);
    struct dt__recent_operation *call = &own->recent[number % DT__N_RECENT];
    const dt__channel *channel = work->channel;
    atomic_store_explicit(&call->signature, work->signature, memory_order_relaxed);
    atomic_store_explicit(&call->count, work->count, memory_order_relaxed);
    atomic_store_explicit(&call->channel, channel->key, memory_order_relaxed);
    atomic_store_explicit(&call->seq, work->seq, memory_order_relaxed);
    atomic_store_explicit(&call->members, (uint64_t)channel->n, memory_order_relaxed);
    atomic_store_explicit(&call->set[0], channel->set[0], memory_order_relaxed);
    atomic_store_explicit(&call->set[1], channel->set[1], memory_order_relaxed);
    atomic_store_explicit(&call->program, dt__program_call_word(board), memory_order_relaxed);
    if (work->exchange)
        record_name(call, work->exchange->call);
    atomic_store_explicit(&call->start_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&call->state, DT_IN_PROGRESS, memory_order_relaxed);
    atomic_store_explicit(&own->n_calls, number + 1, memory_order_release);
    work->recent = call;
}

/* A header contains a hash of all calls up to its own, so that two ranks which made different calls without reading
 * each other's headers (each the root of its own broadcast) detect it as soon as one reads the other's header. */
static void extend_history(dt__channel *channel, dt_work *work) {
    uint64_t signature = (work->signature & ~DT__SIGNATURE_OWN_FLAGS) | (work->refused ? DT__CALL_REFUSED : 0);
    uint64_t call = signature + work->count * UINT64_C(0xbf58476d1ce4e5b9);
    channel->history = dt__hash_u64(call + work->check, channel->history);
    work->check = channel->history;
}

dt_status dt__refuse_apart(dt_ctx *ctx, const dt_work *work) {
    char call[128];
    dt__describe_own_operation(work, call, sizeof call);
    return dt__fail_local(ctx, DT_ERR_STATE, "expected no transfer between dt_apart_begin and dt_apart_end, got %s",
                          call);
}

/* An operation that only this rank takes part in has no channel, and is not started: its first step ends it. */
dt_status dt__work_start(dt__runtime *runtime, dt_work *work) {
    dt__board *board = runtime->board;
    dt_group *group = work->group;
    if (!board)
        return runtime->transport->start(runtime, work);
    if (board->aborted)
        return runtime->ctx->status != DT_OK ? runtime->ctx->status : DT_ERR_STATE;
    if (dt__op_shapes[work->op].pair ? work->call.root == group->rank : group->n_ranks == 1)
        return DT_OK;
    if (runtime->ctx->call.apart)
        return dt__refuse_apart(runtime->ctx, work);
    work->channel = dt__channel_of(board, work);
    if (!work->channel)
        return runtime->ctx->status;
    work->published_counts = NULL;
    work->staging = NULL;
    work->published_verdict = NULL;
    if (work->mesh_dims && dt__has_verdict(work->histories[0], work->n_histories > 1 ? work->histories[1] : NULL))
        DT__TRY(dt__verdict_take(work));
    work->seq = work->channel->started + 1;
    if (work->channel->broken)
        return dt__work_broken(work);
    work->channel->started = work->seq;
    work->n_events = work->channel->n_events;
    extend_history(work->channel, work);
    record_call(board, work);
    return runtime->transport->start(runtime, work);
}

void dt__work_end(dt_work *work, dt_status status) {
    work->group->runtime->transport->end(work);
    dt__work_record_end(work, status);
}

/* Checks before the operation counts as done: a rank that was late may have read memory that its owner has reused
 * since. Here, a rank that waits for no other one also detects that the group is broken. */
dt_status dt__check_late(dt_work *work) {
    bool unchanged = atomic_load(work->channel->board->n_events) == work->n_events;
    return unchanged ? DT_OK : dt__check_broken(work);
}

dt_status dt__work_abandon(dt_work *work) {
    dt_ctx *ctx = work->group->runtime->ctx;
    static const char reason[] = "before the operation that it had started was finished; wait for started operations "
                                 "before dt_close";
    if (!work->channel)
        return dt__fail(ctx, DT_ERR_STATE, "rank %" PRId64 " has closed its context %s", ctx->rank, reason);
    return dt__work_fail(work, DT_ERR_STATE, "rank %" PRId64 " has closed its context %s", ctx->rank, reason);
}
