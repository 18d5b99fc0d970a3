/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting: spin briefly if each rank has a core of its own, yield a bounded number of times, then sleep on this rank's
 * futex. A rank that publishes a word wakes sleeping peers. Failures and the deadline are checked while waiting, never
 * on the fast path.
 */
#include "shm/shm_operation.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 64, POLLS_PER_SPIN = 64, YIELDS = 100 };
#define SLEEP_NS INT64_C(100000000) /* at most, until peers are checked again */

static void cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void dt__shm_sleep(dt__board *board, int64_t ns, bool (*ready)(void *arg), void *arg) {
    struct dt__rank_block *own = board->own;
    struct dt__segment *segment = ((dt__shm *)board)->segment;
    struct timespec limit = {ns / 1000000000, ns % 1000000000};
    uint32_t wake_count = atomic_load(&own->wake_count);
    atomic_store(&own->asleep, 1);
    atomic_fetch_add(&segment->n_asleep, 1);
    if (!atomic_load(&segment->fenced))
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    if (!ready(arg))
        syscall(SYS_futex, &own->wake_count, FUTEX_WAIT, wake_count, &limit, NULL, 0);
    atomic_fetch_sub(&segment->n_asleep, 1);
    atomic_store(&own->asleep, 0);
}

/* Whether the missing member has arrived, an event must be checked, or another operation in progress can continue. */
static bool can_continue(void *arg) {
    dt_work *work = arg;
    if (atomic_load(&dt__shm_of_work(work)->segment->n_events) != work->n_events)
        return true;
    if (!dt__waits_for(work, work->missing))
        return true;
    for (dt_work *other = work->group->runtime->started; other; other = other->next)
        if (other != work && other->status == DT_IN_PROGRESS && other->channel &&
            !dt__waits_for(other, other->missing))
            return true;
    return false;
}

/* Polls the missing member a number of times. The first polls are back to back: a peer that runs in step arrives within
 * the time of a cache line transfer. */
static void spin_once(dt_work *work, int64_t n) {
    for (int i = 0; i < POLLS_PER_SPIN && dt__shm_waits_for(work, work->missing); i++)
        if (n)
            cpu_relax();
}

dt_status dt__shm_pause(dt__runtime *runtime, dt_work *work, struct dt__pause *pause) {
    if (!work->channel)
        return dt__transport_self.pause(runtime, work, pause);
    dt__follow_progress(work, pause);
    int64_t n = pause->n++, spins = dt__shm_of(runtime)->own_core ? SPINS : 0;
    if (n < spins) {
        spin_once(work, n);
        return dt__check_events(work);
    }
    DT__TRY(dt__check_events(work));
    DT__TRY(dt__check_deadline(runtime, work, pause, dt__now_ns(), 0));
    if (n < spins + YIELDS) {
        sched_yield();
        return DT_OK;
    }
    dt__heap_tend(&runtime->heap);
    DT__TRY(dt__host_waits(runtime, work));
    dt__shm_sleep(runtime->board, SLEEP_NS, can_continue, work);
    return dt__check_peers_periodically(work, pause, dt__now_ns());
}

void dt__shm_wake_sleepers(const dt__channel *channel) {
    const dt__board *board = channel->board;
    for (int64_t c = 0; c < channel->n; c++)
        if (c != channel->me && atomic_load(&board->ranks[channel->ranks[c]].asleep))
            dt__segment_wake(((const dt__shm *)board)->segment, channel->ranks[c]);
}
