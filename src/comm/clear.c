/* SPDX-License-Identifier: Apache-2.0
 *
 * The abort flag, and clearing errors, all ranks together. The flag is a count, of which each rank remembers what it
 * was when errors were last cleared: while it has not changed, no rank has an error that the others lack.
 *
 * A rank that clears comes to no other call before all ranks are here too, so those that wait for it in a call get an
 * error at once and come as well. When all have come, nothing moves, and every rank sees of each channel what the
 * other members see: whether one of them has broken it, and whether they have made the same number of calls (a rank
 * that gave up may have skipped some that the others completed). Such a channel stays broken for the groups that use
 * it. It is retired: groups made from now on get a new one, and so does the world, which cannot be made again.
 */
#include "comm/shm.h"

#include <stddef.h>

static dt_status meet_again(dt__shm *shm) {
    uint32_t number = atomic_fetch_add(&shm->own->n_cleared, 1) + 1;
    dt__segment_notify(shm->segment);
    return dt__shm_meet(&(struct dt__meeting){
        .shm = shm,
        .what = "dt_error_clear",
        .counter = offsetof(struct dt__rank_block, n_cleared),
        .number = number,
        .open = true,
    });
}

/* Channels whose place was given back get one again, because a member without a place counts as one that has made no
 * calls. */
static dt_status show_numbers(dt__shm *shm) {
    size_t at = 0;
    dt__channel *channel;
    while ((channel = dt__map_next(&shm->channels, &at))) {
        DT__TRY(dt__channel_show(channel));
        atomic_store(&channel->own->numbered, channel->started);
    }
    return DT_OK;
}

static bool is_whole(dt__channel *channel) {
    for (int64_t c = 0; c < channel->n; c++) {
        const struct dt__channel_block *block = dt__channel_find(channel, c);
        uint64_t numbered = block ? atomic_load(&block->numbered) : 0;
        if (numbered != channel->started || (block && atomic_load(&block->broken)))
            return false;
    }
    return true;
}

/* A channel that nobody has used is whole, whether or not all have a place for it. */
static void retire_broken(dt__shm *shm) {
    size_t at = 0;
    dt__channel *channel;
    while ((channel = dt__map_next(&shm->channels, &at))) {
        if (is_whole(channel))
            continue;
        dt__mark_broken(channel, channel->started, DT_ERR_PEER,
                        "when errors were cleared, it was broken, or its members had not made the same calls");
        if (!atomic_load(&channel->own->retired))
            atomic_store(&channel->own->retired, shm->runtime->epoch);
    }
}

static void renew_world(dt__runtime *runtime) {
    if (!runtime->world)
        return;
    dt__channel_forget(runtime, runtime->world);
    runtime->world->epoch = runtime->epoch;
}

bool dt__shm_is_aborted(const dt__runtime *runtime) {
    return atomic_load(&runtime->shm->segment->n_aborts) != runtime->shm->n_aborts_cleared;
}

/* Nothing moves between the two meetings, so all ranks find the same number of aborts there. */
dt_status dt__shm_clear_error(dt__runtime *runtime) {
    dt__shm *shm = runtime->shm;
    uint32_t before = atomic_load(&shm->own->n_cleared);
    atomic_store(&shm->own->state, DT__RANK_CLEARING);
    dt__segment_abort(shm->segment);
    dt_status status = show_numbers(shm);
    if (status == DT_OK)
        status = meet_again(shm);
    if (status == DT_OK) {
        runtime->epoch++;
        shm->aborted = false;
        shm->n_aborts_cleared = atomic_load(&shm->segment->n_aborts);
        retire_broken(shm);
        renew_world(runtime);
        atomic_store(&shm->own->error_status, DT_OK);
        atomic_store(&shm->own->state, DT__RANK_READY);
        return meet_again(shm);
    }
    atomic_store(&shm->own->n_cleared, before);
    dt__shm_set_state(shm, shm->aborted ? DT__RANK_FAILED : DT__RANK_READY);
    return status;
}
