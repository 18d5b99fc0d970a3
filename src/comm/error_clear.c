/* SPDX-License-Identifier: Apache-2.0
 *
 * The collective dt_error_clear. A rank that clears makes no other call before all ranks clear, so ranks that wait for
 * it in a call get an error at once and clear as well. When all have arrived, no operation is in progress, and all
 * members of a channel agree on its state: whether one of them has broken it, and whether they have made the same
 * number of calls (a rank with a local error may have skipped some that the others completed). A channel that is broken
 * or out of step stays broken for the groups that use it. It is retired: groups created from now on get a new channel,
 * and the world group, which cannot be created again, gets one too.
 */
#include "comm/comm.h"

#include <stddef.h>

static const dt__messenger *messenger_of(const dt__board *board) { return board->runtime->transport->messenger; }

static dt_status synchronize_again(dt__board *board) {
    uint32_t number = atomic_fetch_add(&board->own->n_cleared, 1) + 1;
    dt__board_notify(board);
    if (messenger_of(board))
        messenger_of(board)->send_state(board->runtime);
    return dt__synchronize(&(struct dt__sync_point){
        .board = board,
        .call = "error_clear",
        .counter = offsetof(struct dt__rank_block, n_cleared),
        .target = number,
        .closed_are_gone = true,
    });
}

/* Channels whose block was released claim one again, because a member without a block counts as having made no calls.
 */
static dt_status publish_numbers(dt__board *board) {
    size_t at = 0;
    dt__channel *channel;
    while ((channel = dt__map_next(&board->channels, &at))) {
        DT__TRY(dt__channel_claim_block(channel));
        atomic_store(&channel->own->numbered, channel->started);
        if (channel->remotes)
            messenger_of(board)->send_numbered(channel);
    }
    return DT_OK;
}

static bool is_in_step(dt__channel *channel) {
    for (int64_t c = 0; c < channel->n; c++) {
        const dt__remote *remote =
            channel->remotes && messenger_of(channel->board)->is_remote(channel->board->runtime, channel->ranks[c])
                ? &channel->remotes[c]
                : NULL;
        if (remote && (remote->numbered != channel->started || remote->broken))
            return false;
        if (remote)
            continue;
        const struct dt__channel_block *block = dt__channel_peer_block(channel, c);
        uint64_t numbered = block ? atomic_load(&block->numbered) : 0;
        if (numbered != channel->started || (block && atomic_load(&block->broken)))
            return false;
    }
    return true;
}

/* A channel without operations is in step even if some members have no block for it. */
static void retire_broken_channels(dt__board *board) {
    size_t at = 0;
    dt__channel *channel;
    while ((channel = dt__map_next(&board->channels, &at))) {
        if (is_in_step(channel))
            continue;
        dt__break_channel(channel, channel->started, DT_ERR_PEER,
                          "it was broken, or its members had not made the same calls, when errors were cleared");
        if (!atomic_load(&channel->own->retired))
            atomic_store(&channel->own->retired, board->runtime->epoch);
    }
}

static void renew_world(dt__runtime *runtime) {
    if (!runtime->world)
        return;
    dt__group_release_state(runtime->world);
    runtime->world->epoch = runtime->epoch;
}

/* No operation is in progress between the two synchronization points. */
static dt_status clear_together(dt__board *board) {
    dt__runtime *runtime = board->runtime;
    uint32_t before = atomic_load(&board->own->n_cleared);
    if (messenger_of(board))
        messenger_of(board)->before_clear(runtime);
    dt__board_set_state(board, DT__RANK_CLEARING);
    dt_status status = publish_numbers(board);
    if (status == DT_OK)
        status = synchronize_again(board);
    if (status == DT_OK) {
        runtime->epoch++;
        board->aborted = false;
        board->out_of_step = false;
        retire_broken_channels(board);
        if (messenger_of(board))
            messenger_of(board)->after_clear(runtime);
        dt__histories_reset(board);
        renew_world(runtime);
        atomic_store(&board->own->error_status, DT_OK);
        atomic_store(&board->own->cause, 0);
        atomic_store(&board->own->incident, 0);
        atomic_store(&board->own->state, DT__RANK_READY);
        return synchronize_again(board);
    }
    atomic_store(&board->own->n_cleared, before);
    board->out_of_step = true;
    dt__board_set_state(board, board->aborted ? DT__RANK_FAILED : DT__RANK_READY);
    return status;
}

/* A rank that is in step with its peers can only have an agreed error, which is cleared locally. */
static bool is_in_step_with_peers(const dt__runtime *runtime) {
    return !runtime || !runtime->board || !runtime->board->out_of_step;
}

bool dt_error_is_agreed(const dt_ctx *ctx) {
    return ctx && !ctx->is_foreign && ctx->status != DT_OK && is_in_step_with_peers(dt__runtime_of(ctx));
}

dt_status dt_error_clear_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "error_clear", site);
    if (!ctx || ctx->is_foreign)
        return DT_ERR_STATE;
    dt__runtime *runtime = dt__runtime_of(ctx);
    bool failed = ctx->status != DT_OK;
    ctx->status = DT_OK;
    ctx->text[0] = 0;
    if (ctx->on_error)
        ctx->on_error(ctx);
    if (!runtime || !runtime->board)
        return DT_OK;
    if (failed && is_in_step_with_peers(runtime))
        return DT_OK;
    return clear_together(runtime->board);
}
