/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting under MPI. MPI makes progress only when it is called, and nothing wakes a rank when a message arrives: a rank
 * that waits for another node polls, yields the core for a while (unless MPI does so when a poll finds nothing), and
 * then sleeps for short but growing times. While it waits for ranks of its own node it polls their memory and yields,
 * and tests MPI at every eighth poll. If only ranks of this node are involved, it waits as on shm.
 */
#include "cluster/spanning.h"

#include <sched.h>
#include <time.h>

enum {
    POLLS_PER_TEST = 8, /* of this node's memory for one test of MPI */
    YIELD_NS = 1000000,
    MIN_SLEEP_NS = 20000,
    MAX_SLEEP_NS = 1000000,
    PUBLISH_NS = 20000000,
    GRACE_NS = 250000000,
    RELAYED_GRACE_NS = 1000000000, /* more than GRACE_NS and the wait for answers of late ranks (remote_calls.c) */
    LONG_PAUSES = 256              /* after which waiting on a node sleeps */
};

static bool needs_progress(dt__mpi *mpi) { return mpi->active || dt__packets_are_leaving(mpi); }

static void publish_long_wait(dt_work *work, const struct dt__pause *pause, int64_t now, double timeout_s) {
    int64_t began = pause->deadline_ns - (int64_t)(timeout_s * 1e9);
    if (work->span && now - began > PUBLISH_NS)
        dt__span_publish_call(work);
}

dt_status dt__mpi_check_failure(dt__runtime *runtime, dt_work *work) {
    dt__mpi_progress(dt__mpi_of(runtime));
    DT__TRY(dt__check_failure(runtime, work));
    if (work->span)
        publish_long_wait(work, &work->tests, dt__now_ns(), runtime->timeout_s);
    return DT_OK;
}

/* Whether all ranks of this node that this one waits for have made the call: they wait for another node themselves. */
static bool missing_have_called(dt_work *work) {
    const dt__channel *channel = work->channel;
    for (int64_t c = 0; c < channel->n; c++)
        if (dt__waits_for(work, c) && !dt__has_called(work, channel->ranks[c]))
            return false;
    return true;
}

/* The grace period after the deadline for ranks that know better who is late: a rank that waits for another node leaves
 * the report to the ranks of that node, and one that waits for such a rank leaves it to that rank. */
static int64_t grace_of(dt_work *work) {
    if (!work->span)
        return 0;
    if (!work->span->is_running)
        return GRACE_NS;
    return missing_have_called(work) ? RELAYED_GRACE_NS : 0;
}

/* deadline_ns is when the wait began plus the time-out and the time that this rank was stopped. */
dt_status dt__mpi_pause(dt__runtime *runtime, dt_work *work, struct dt__pause *pause) {
    dt__mpi *mpi = dt__mpi_of(runtime);
    if (!work->channel || !needs_progress(mpi)) {
        if (work->channel && pause->n > LONG_PAUSES) /* other nodes may ask what this rank does */
            dt__mpi_progress(mpi);
        return dt__transport_shm.pause(runtime, work, pause);
    }
    dt__follow_progress(work, pause);
    int64_t n = pause->n++;
    bool waits_on_node = !work->span || work->span->is_running; /* else its steps take packets */
    if (waits_on_node && n % POLLS_PER_TEST == POLLS_PER_TEST - 1)
        dt__mpi_progress(mpi);
    DT__TRY(dt__check_events(work));
    int64_t now = dt__now_ns();
    int64_t grace = pause->deadline_ns && now > pause->deadline_ns ? grace_of(work) : 0;
    DT__TRY(dt__check_deadline(runtime, work, pause, now, grace));
    int64_t waited = now - (pause->deadline_ns - (int64_t)(runtime->timeout_s * 1e9));
    if (waited < YIELD_NS || n < 100) {
        if (waits_on_node || !mpi->test_yields)
            sched_yield();
        return DT_OK;
    }
    publish_long_wait(work, pause, now, runtime->timeout_s);
    dt__heap_tend(&runtime->heap);
    DT__TRY(dt__host_waits(runtime, work));
    int64_t ns = waited / 16;
    ns = ns < MIN_SLEEP_NS ? MIN_SLEEP_NS : ns > MAX_SLEEP_NS ? MAX_SLEEP_NS : ns;
    (void)nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
    return dt__check_peers_periodically(work, pause, now);
}
