/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts: which of several is reported, at which point all ranks have it, and the text of the error.
 */
#include "comm/comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static dt__data_verdict *new_verdict(dt_ctx *ctx) {
    dt__data_verdict *made = dt__alloc(ctx, sizeof *made);
    if (!made)
        dt__fail_memory(ctx, sizeof *made, "a verdict on data");
    return made;
}

void dt__verdict_free(dt_ctx *ctx, dt__data_verdict *verdict) { dt__free(ctx, verdict, sizeof *verdict); }

/* For the supervisor, if a rank ends without closing its context. */
static void publish(dt_ctx *ctx) {
    if (ctx->on_error)
        ctx->on_error(ctx);
}

bool dt__verdict_line(const dt_ctx *ctx, const char *note, char *out, size_t capacity) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    const dt__history *history = runtime->board->histories;
    while (history && !history->verdict)
        history = history->next;
    if (history)
        (void)snprintf(out, capacity, "%s: %s; found on rank %" PRId64 "%s",
                       dt_status_name((dt_status)history->verdict->status), history->verdict->text,
                       history->verdict->rank, note);
    return history != NULL;
}

dt_status dt__verdict_record(dt__history *history, dt_status status, const char *text) {
    if (history->verdict)
        return DT_OK;
    dt__data_verdict *made = new_verdict(history->ctx);
    if (!made)
        return DT_ERR_MEMORY;
    memset(made, 0, sizeof *made);
    made->call = history->n + 1;
    made->rank = history->ctx->rank;
    made->status = status;
    (void)snprintf(made->text, sizeof made->text, "%s", text);
    history->verdict = made;
    publish(history->ctx);
    return DT_OK;
}

/* For one mesh, the verdict of the earliest call comes first; within a call, the one that has spread along more mesh
 * dims, then the one of the lowest rank. So all members of an operation select the same verdict, and one that has
 * spread along some mesh dims is replaced only by one that has spread along these too. */
static bool comes_first(const dt__data_verdict *a, const dt__data_verdict *b) {
    int a_dims = __builtin_popcountll(a->spread), b_dims = __builtin_popcountll(b->spread);
    if (a->history != b->history)
        return a->history < b->history;
    if (a->call != b->call)
        return a->call < b->call;
    return a_dims != b_dims ? a_dims > b_dims : a->rank < b->rank;
}

dt_status dt__verdict_take(dt_work *work) {
    for (int i = 0; i < work->n_histories; i++) {
        const dt__data_verdict *known = work->histories[i] ? work->histories[i]->verdict : NULL;
        if (!known)
            continue;
        work->verdict = new_verdict(work->group->runtime->ctx);
        if (!work->verdict)
            return DT_ERR_MEMORY;
        *work->verdict = *known;
        work->verdict->history = i;
        work->verdict->meeting = work->mesh_dims;
        return DT_OK;
    }
    return DT_OK;
}

dt_status dt__verdict_merge(dt_work *work, const dt__data_verdict *other) {
    if (work->verdict && !comes_first(other, work->verdict))
        return DT_OK;
    if (!work->verdict && !(work->verdict = new_verdict(work->group->runtime->ctx)))
        return DT_ERR_MEMORY;
    *work->verdict = *other;
    work->verdict->text[sizeof work->verdict->text - 1] = 0;
    return DT_OK;
}

/* "gather: f32[5,3] S(0) on mesh(2): index 9 is out of range: expected 0 to 4 (at a.c:12); found on rank 1, reported by
 * item (at a.c:20)". The text has the call that found it, so that the one in progress is not written before it. */
static dt_status report(dt_ctx *ctx, const dt__data_verdict *verdict) {
    const dt_site *reporting = dt__call_site(ctx);
    dt__public_call call = ctx->call;
    char site[DT__SITE_TEXT_BYTES] = "", by[DT__SITE_TEXT_BYTES + 64] = "";
    const char *name = call.depth && call.name ? call.name : "";
    size_t n = strlen(name);
    dt__site_text(reporting, site, sizeof site);
    bool is_same = !strncmp(verdict->text, name, n) && verdict->text[n] == ':' && strstr(verdict->text, site);
    if (*name && !is_same)
        (void)snprintf(by, sizeof by, ", reported by %s%s", name, site);
    ctx->call.depth = 0;
    dt_status status = dt__fail(ctx, (dt_status)verdict->status, "%s; found on rank %" PRId64 "%s", verdict->text,
                                verdict->rank, by);
    ctx->call = call;
    return status;
}

static void forget(dt__history *history) {
    dt__verdict_free(history->ctx, history->verdict);
    history->verdict = NULL;
    history->n_reported = history->n + 1;
}

static bool is_known_to_all(const dt__data_verdict *verdict, const dt__history *history) {
    uint64_t needed = history ? history->mesh_dims : 0;
    return (verdict->spread & needed) == needed;
}

/* A rank that is not in the verdict's mesh is in one that the operation moves the bad data to. */
dt_status dt__verdict_conclude(dt_work *work) {
    dt_ctx *ctx = work->group->runtime->ctx;
    dt__data_verdict *verdict = work->verdict;
    dt__history *history = verdict->history < work->n_histories ? work->histories[verdict->history] : NULL;
    dt_status status = DT_OK;
    work->verdict = NULL;
    verdict->spread |= verdict->meeting;
    bool is_old = history && verdict->call <= history->n_reported;
    if (!is_old && !is_known_to_all(verdict, history)) {
        dt__data_verdict *known = history->verdict;
        history->verdict = verdict;
        verdict = known;
        publish(ctx);
    } else if (!is_old) {
        for (int i = 0; i < work->n_histories; i++)
            if (work->histories[i])
                forget(work->histories[i]);
        status = report(ctx, verdict);
    }
    dt__verdict_free(ctx, verdict);
    return status;
}

void dt__verdict_restart(dt__history *history) {
    history->n_reported = 0;
    if (!history->verdict)
        return;
    history->verdict->call = 1;
    history->verdict->spread = 0;
}

void dt__verdicts_end(dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    for (dt__history *history = runtime && runtime->board ? runtime->board->histories : NULL; history;
         history = history->next) {
        if (!history->verdict)
            continue;
        (void)report(ctx, history->verdict);
        forget(history);
    }
}
