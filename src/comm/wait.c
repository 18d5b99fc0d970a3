/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting: spin briefly when each rank has a core of its own, otherwise yield a bounded number of times, then sleep
 * on the rank's bell. Whoever publishes a word that others may wait for rings the bells of those that sleep. Trouble
 * and the deadline are looked at while waiting, never on the fast path.
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
#define SLEEP_NS INT64_C(100000000) /* at most, between two looks at whether the others live */

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void dt__shm_sleep(dt__shm *shm, int64_t ns, bool (*ready)(void *arg), void *arg) {
    struct dt__rank_block *own = shm->own;
    struct timespec limit = {ns / 1000000000, ns % 1000000000};
    uint32_t bell = atomic_load(&own->bell);
    atomic_store(&own->asleep, 1);
    atomic_fetch_add(&shm->segment->n_asleep, 1);
    if (!atomic_load(&shm->segment->fenced))
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    if (!ready(arg))
        syscall(SYS_futex, &own->bell, FUTEX_WAIT, bell, &limit, NULL, 0);
    atomic_fetch_sub(&shm->segment->n_asleep, 1);
    atomic_store(&own->asleep, 0);
}

/* Whether the member that is waited for has come, or something has happened that must be looked at. Any other
 * operation under way may be able to go on too, so those are asked as well. */
static bool can_go_on(void *arg) {
    dt_work *work = arg;
    dt__shm *shm = work->channel->shm;
    if (atomic_load(&shm->segment->n_events) != work->n_events)
        return true;
    if (!dt__lacks(work, work->missing))
        return true;
    for (dt_work *other = shm->runtime->started; other; other = other->next)
        if (other != work && other->status == DT_IN_PROGRESS && other->channel && !dt__lacks(other, other->missing))
            return true;
    return false;
}

static dt_status look(dt_work *work) {
    bool quiet = atomic_load(&work->channel->shm->segment->n_events) == work->n_events;
    return quiet ? DT_OK : dt__shm_look_for_trouble(work, false);
}

/* Looks at the member that is missing a number of times. The very first looks follow each other at once: a peer that
 * works in step comes within a cache line's travel. */
static void spin(dt_work *work, int64_t n) {
    for (int i = 0; i < POLLS_PER_SPIN && dt__lacks(work, work->missing); i++)
        if (n)
            relax();
}

static dt_status check_deadline(dt__runtime *runtime, dt_work *work, struct dt__pause *pause, int64_t now) {
    if (!pause->deadline_ns) {
        pause->deadline_ns = now + (int64_t)(runtime->timeout_s * 1e9);
        if (work->ring)
            atomic_store_explicit(&work->ring->start_ns, now, memory_order_relaxed);
    }
    return runtime->timeout_s >= 0 && now > pause->deadline_ns ? dt__shm_timed_out(work) : DT_OK;
}

/* When the operation has moved on, waiting begins anew. */
static void follow(const dt_work *work, struct dt__pause *pause) {
    int64_t mark = (work->round * 4 + work->step) * 4 + work->state;
    if (pause->mark != mark)
        *pause = (struct dt__pause){.mark = mark};
}

/* A process that ends without a supervisor causes no event: those that are missing are asked for. */
static dt_status look_now_and_then(dt_work *work, struct dt__pause *pause, int64_t now) {
    if (now < pause->look_ns)
        return DT_OK;
    pause->look_ns = now + SLEEP_NS;
    return dt__shm_look_for_trouble(work, true);
}

dt_status dt__shm_glance(dt__runtime *runtime, dt_work *work) {
    struct dt__pause *pause = &work->tests;
    if (!work->channel)
        return DT_OK;
    follow(work, pause);
    DT__TRY(look(work));
    int64_t now = dt__now_ns();
    DT__TRY(check_deadline(runtime, work, pause, now));
    return look_now_and_then(work, pause, now);
}

dt_status dt__shm_pause(dt__runtime *runtime, dt_work *work, struct dt__pause *pause) {
    dt__shm *shm = runtime->shm;
    if (!work->channel)
        return dt__transport_self.pause(runtime, work, pause);
    follow(work, pause);
    int64_t n = pause->n++, spins = shm->own_core ? SPINS : 0;
    if (n < spins) {
        spin(work, n);
        return look(work);
    }
    DT__TRY(look(work));
    DT__TRY(check_deadline(runtime, work, pause, dt__now_ns()));
    if (n < spins + YIELDS) {
        sched_yield();
        return DT_OK;
    }
    dt__shm_sleep(shm, SLEEP_NS, can_go_on, work);
    return look_now_and_then(work, pause, dt__now_ns());
}
