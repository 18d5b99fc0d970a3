/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank checks while it waits, on every transport of several ranks: events, the deadline, and whether peers are
 * alive. Never on the fast path.
 */
#include "comm/comm.h"

#include <inttypes.h>

#define CHECK_NS INT64_C(100000000) /* between two checks whether the peers are alive */

dt_status dt__check_events(dt_work *work) {
    bool unchanged = atomic_load(work->channel->board->n_events) == work->n_events;
    return unchanged ? DT_OK : dt__check_peers(work, false);
}

/* A rank that waits pauses for a tenth of a second at most. If more time than that passed, the process was stopped
 * (Ctrl-Z, a batch system, a debugger) or had no core: that time does not count as waiting. */
bool dt__deadline_has_passed(struct dt__pause *pause, double timeout_s, int64_t now, int64_t longest_ns) {
    if (!pause->deadline_ns)
        pause->deadline_ns = now + (int64_t)(timeout_s * 1e9);
    else if (now - pause->checked_ns > longest_ns)
        pause->deadline_ns += now - pause->checked_ns - longest_ns;
    pause->checked_ns = now;
    return timeout_s >= 0 && now > pause->deadline_ns;
}

static dt_status check_deadline(dt__runtime *runtime, dt_work *work, struct dt__pause *pause, int64_t now,
                                int64_t longest_ns, int64_t grace_ns) {
    bool is_new = !pause->deadline_ns;
    bool has_passed = dt__deadline_has_passed(pause, runtime->timeout_s, now, longest_ns);
    if (is_new && work->recent)
        atomic_store_explicit(&work->recent->start_ns, now, memory_order_relaxed);
    return has_passed && now - grace_ns > pause->deadline_ns ? dt__work_timed_out(work) : DT_OK;
}

dt_status dt__check_deadline(dt__runtime *runtime, dt_work *work, struct dt__pause *pause, int64_t now,
                             int64_t grace_ns) {
    return check_deadline(runtime, work, pause, now, DT__LONGEST_PAUSE_NS, grace_ns);
}

/* Restarts the wait when the operation has made progress. */
void dt__follow_progress(const dt_work *work, struct dt__pause *pause) {
    int64_t mark = (work->round * 4 + work->step) * 4 + work->state;
    if (pause->mark != mark)
        *pause = (struct dt__pause){.mark = mark};
}

static void begin_host_wait(dt__runtime *runtime, dt_work *work) {
    dt_ctx *ctx = runtime->ctx;
    runtime->host_waits = true;
    if (work && work->recent && !ctx->call.site && dt__call_site(ctx))
        atomic_store_explicit(&work->recent->program, dt__program_call_word(runtime->board), memory_order_relaxed);
    if (ctx->host.wait_begin)
        ctx->host.wait_begin(ctx->host.user);
}

dt_status dt__host_waits(dt__runtime *runtime, dt_work *work) {
    static const char text[] = "interrupted while it waited for other ranks";
    const dt_host *host = &runtime->ctx->host;
    if (!runtime->host_waits)
        begin_host_wait(runtime, work);
    if (!host->is_interrupted || !host->is_interrupted(host->user))
        return DT_OK;
    return work ? dt__work_fail(work, DT_ERR_STATE, "rank %" PRId64 " was %s", runtime->ctx->rank, text)
                : dt__fail(runtime->ctx, DT_ERR_STATE, "%s", text);
}

void dt__host_wait_ends(dt__runtime *runtime) {
    const dt_host *host = &runtime->ctx->host;
    if (__builtin_expect(!runtime->host_waits, 1))
        return;
    runtime->host_waits = false;
    if (host->wait_end)
        host->wait_end(host->user);
}

/* A process that ends without a supervisor causes no event: whether missing peers are alive is polled. */
dt_status dt__check_peers_periodically(dt_work *work, struct dt__pause *pause, int64_t now) {
    if (now < pause->next_check_ns)
        return DT_OK;
    pause->next_check_ns = now + CHECK_NS;
    return dt__check_peers(work, true);
}

/* The program decides how often it tests an operation, and its work in between cannot be distinguished from a stop: at
 * most a quarter of the time-out counts. */
dt_status dt__check_failure(dt__runtime *runtime, dt_work *work) {
    struct dt__pause *pause = &work->tests;
    if (!work->channel)
        return DT_OK;
    dt__follow_progress(work, pause);
    DT__TRY(dt__check_events(work));
    int64_t now = dt__now_ns();
    int64_t quarter = (int64_t)(runtime->timeout_s * 0.25e9);
    int64_t longest = quarter > DT__LONGEST_PAUSE_NS ? quarter : DT__LONGEST_PAUSE_NS;
    DT__TRY(check_deadline(runtime, work, pause, now, longest, 0));
    return dt__check_peers_periodically(work, pause, now);
}
