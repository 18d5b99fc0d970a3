/* SPDX-License-Identifier: Apache-2.0
 *
 * The collective dt_error_clear. A rank that clears makes no other call before all ranks clear, so ranks that wait for
 * it in a call get an error at once and clear as well. When all have arrived, no operation is in progress, and all
 * members of a channel agree on its state: whether one of them has broken it, and whether they have made the same
 * number of calls (a rank with a local error may have skipped some that the others completed). A channel that is
 * broken or out of step stays broken for the groups that use it. It is retired: groups created from now on get a new
 * channel, and so does the world group, which cannot be created again.
 */
#include "comm/spanning.h"

#include <stddef.h>

static dt_status synchronise_again(dt__shm *shm) {
    uint32_t number = atomic_fetch_add(&shm->own->n_cleared, 1) + 1;
    dt__segment_notify(shm->segment);
    if (shm->runtime->mpi)
        dt__announce_state(shm->runtime->mpi);
    return dt__shm_synchronise(&(struct dt__sync_point){
        .shm = shm,
        .call = "error_clear",
        .counter = offsetof(struct dt__rank_block, n_cleared),
        .target = number,
        .closed_are_gone = true,
    });
}

/* Channels whose block was released claim one again, because a member without a block counts as having made no calls.
 */
static dt_status publish_numbers(dt__shm *shm) {
    size_t at = 0;
    dt__channel *channel;
    while ((channel = dt__map_next(&shm->channels, &at))) {
        DT__TRY(dt__channel_claim_block(channel));
        atomic_store(&channel->own->numbered, channel->started);
        if (channel->remotes)
            dt__announce_numbered(channel);
    }
    return DT_OK;
}

static bool is_in_step(dt__channel *channel) {
    for (int64_t c = 0; c < channel->n; c++) {
        const dt__remote *remote = channel->remotes && dt__is_remote(channel->shm->runtime->mpi, channel->ranks[c])
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
static void retire_broken_channels(dt__shm *shm) {
    size_t at = 0;
    dt__channel *channel;
    while ((channel = dt__map_next(&shm->channels, &at))) {
        if (is_in_step(channel))
            continue;
        dt__break_channel(channel, channel->started, DT_ERR_PEER,
                          "it was broken, or its members had not made the same calls, when errors were cleared");
        if (!atomic_load(&channel->own->retired))
            atomic_store(&channel->own->retired, shm->runtime->epoch);
    }
}

static void renew_world(dt__runtime *runtime) {
    if (!runtime->world)
        return;
    dt__channel_release_group(runtime, runtime->world);
    runtime->world->epoch = runtime->epoch;
}

bool dt__shm_is_in_step(const dt__runtime *runtime) { return !runtime->shm->out_of_step; }

/* No operation is in progress between the two synchronisation points. */
dt_status dt__shm_clear_error(dt__runtime *runtime) {
    dt__shm *shm = runtime->shm;
    uint32_t before = atomic_load(&shm->own->n_cleared);
    if (runtime->mpi)
        runtime->mpi->out_of_memory = false;
    dt__shm_set_state(shm, DT__RANK_CLEARING);
    dt_status status = publish_numbers(shm);
    if (status == DT_OK)
        status = synchronise_again(shm);
    if (status == DT_OK) {
        runtime->epoch++;
        shm->aborted = false;
        shm->out_of_step = false;
        retire_broken_channels(shm);
        if (runtime->mpi)
            dt__packets_after_clear(runtime->mpi);
        dt__histories_reset(shm);
        renew_world(runtime);
        atomic_store(&shm->own->error_status, DT_OK);
        atomic_store(&shm->own->cause, 0);
        atomic_store(&shm->own->state, DT__RANK_READY);
        return synchronise_again(shm);
    }
    atomic_store(&shm->own->n_cleared, before);
    shm->out_of_step = true;
    dt__shm_set_state(shm, shm->aborted ? DT__RANK_FAILED : DT__RANK_READY);
    return status;
}
