/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting: spin briefly if each rank has a core of its own, yield a bounded number of times, then sleep on this rank's
 * futex. A rank that publishes a word wakes sleeping peers. Failures and the deadline are checked while waiting, never
 * on the fast path.
 */
#include "comm/shm.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 64, POLLS_PER_SPIN = 64, YIELDS = 100 };
#define SLEEP_NS INT64_C(100000000) /* maximum between two checks whether the peers are alive */

static void cpu_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void dt__shm_sleep(dt__shm *shm, int64_t ns, bool (*ready)(void *arg), void *arg) {
    struct dt__rank_block *own = shm->own;
    struct timespec limit = {ns / 1000000000, ns % 1000000000};
    uint32_t wake_count = atomic_load(&own->wake_count);
    atomic_store(&own->asleep, 1);
    atomic_fetch_add(&shm->segment->n_asleep, 1);
    if (!atomic_load(&shm->segment->fenced))
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    if (!ready(arg))
        syscall(SYS_futex, &own->wake_count, FUTEX_WAIT, wake_count, &limit, NULL, 0);
    atomic_fetch_sub(&shm->segment->n_asleep, 1);
    atomic_store(&own->asleep, 0);
}

/* Whether the missing member has arrived, an event must be checked, or another operation in progress can continue. */
static bool can_continue(void *arg) {
    dt_work *work = arg;
    dt__shm *shm = work->channel->shm;
    if (atomic_load(&shm->segment->n_events) != work->n_events)
        return true;
    if (!dt__waits_for(work, work->missing))
        return true;
    for (dt_work *other = shm->runtime->started; other; other = other->next)
        if (other != work && other->status == DT_IN_PROGRESS && other->channel &&
            !dt__waits_for(other, other->missing))
            return true;
    return false;
}

dt_status dt__check_events(dt_work *work) {
    bool unchanged = atomic_load(&work->channel->shm->segment->n_events) == work->n_events;
    return unchanged ? DT_OK : dt__shm_check_peers(work, false);
}

/* Polls the missing member a number of times. The first polls are back to back: a peer that runs in step arrives within
 * the time of a cache line transfer. */
static void spin_once(dt_work *work, int64_t n) {
    for (int i = 0; i < POLLS_PER_SPIN && dt__waits_for(work, work->missing); i++)
        if (n)
            cpu_relax();
}

dt_status dt__check_deadline(dt__runtime *runtime, dt_work *work, struct dt__pause *pause, int64_t now) {
    if (!pause->deadline_ns) {
        pause->deadline_ns = now + (int64_t)(runtime->timeout_s * 1e9);
        if (work->ring)
            atomic_store_explicit(&work->ring->start_ns, now, memory_order_relaxed);
    }
    return runtime->timeout_s >= 0 && now > pause->deadline_ns ? dt__shm_timed_out(work) : DT_OK;
}

/* Restarts the wait when the operation has made progress. */
void dt__follow_progress(const dt_work *work, struct dt__pause *pause) {
    int64_t mark = (work->round * 4 + work->step) * 4 + work->state;
    if (pause->mark != mark)
        *pause = (struct dt__pause){.mark = mark};
}

/* A process that ends without a supervisor causes no event: whether missing peers are alive is polled. */
dt_status dt__check_peers_periodically(dt_work *work, struct dt__pause *pause, int64_t now) {
    if (now < pause->next_check_ns)
        return DT_OK;
    pause->next_check_ns = now + SLEEP_NS;
    return dt__shm_check_peers(work, true);
}

dt_status dt__shm_check_failure(dt__runtime *runtime, dt_work *work) {
    struct dt__pause *pause = &work->tests;
    if (!work->channel)
        return DT_OK;
    dt__follow_progress(work, pause);
    DT__TRY(dt__check_events(work));
    int64_t now = dt__now_ns();
    DT__TRY(dt__check_deadline(runtime, work, pause, now));
    return dt__check_peers_periodically(work, pause, now);
}

dt_status dt__shm_pause(dt__runtime *runtime, dt_work *work, struct dt__pause *pause) {
    dt__shm *shm = runtime->shm;
    if (!work->channel)
        return dt__transport_self.pause(runtime, work, pause);
    dt__follow_progress(work, pause);
    int64_t n = pause->n++, spins = shm->own_core ? SPINS : 0;
    if (n < spins) {
        spin_once(work, n);
        return dt__check_events(work);
    }
    DT__TRY(dt__check_events(work));
    DT__TRY(dt__check_deadline(runtime, work, pause, dt__now_ns()));
    if (n < spins + YIELDS) {
        sched_yield();
        return DT_OK;
    }
    dt__shm_sleep(shm, SLEEP_NS, can_continue, work);
    return dt__check_peers_periodically(work, pause, dt__now_ns());
}
