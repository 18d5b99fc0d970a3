/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs calls to completion, and starts, tests and waits for them. Any wait or test advances every operation that this
 * rank has started, so that two ranks may wait in different orders.
 */
#include "base/hash.h"
#include "base/options.h"
#include "base/quantity.h"
#include "comm/comm.h"

#include <inttypes.h>
#include <string.h>

static void advance(dt__runtime *runtime, dt_work *work) {
    if (work->status == DT_IN_PROGRESS)
        work->status = runtime->transport->step(runtime, work);
}

static void advance_started(dt__runtime *runtime) {
    for (dt_work *work = runtime->started; work; work = work->next)
        advance(runtime, work);
}

/* Pauses, and adds the time to the observer's waiting time. */
static dt_status pause_work(dt__runtime *runtime, dt_work *work, struct dt__pause *pause) {
    dt__comm_observer *observer = runtime->ctx->observer;
    if (!observer)
        return runtime->transport->pause(runtime, work, pause);
    double begin_us = dt__now_us();
    dt_status status = runtime->transport->pause(runtime, work, pause);
    observer->waited_us += dt__now_us() - begin_us;
    return status;
}

static dt_status advance_to_end(dt__runtime *runtime, dt_work *work) {
    struct dt__pause pause = {0};
    for (;;) {
        advance(runtime, work);
        if (work->status != DT_IN_PROGRESS)
            return work->status;
        if (runtime->started)
            advance_started(runtime);
        if (work->status != DT_IN_PROGRESS)
            return work->status;
        dt_status status = pause_work(runtime, work, &pause);
        if (status != DT_OK)
            return work->status = status;
    }
}

static dt_status run_to_end(dt__runtime *runtime, dt_work *work) {
    dt_status status = advance_to_end(runtime, work);
    dt__host_wait_ends(runtime);
    return status;
}

/* A verdict that members have read is kept or reported here, because all ranks are at the same point of the program. */
static dt_status finish(dt__runtime *runtime, dt_work *work) {
    dt_status status = run_to_end(runtime, work);
    if (__builtin_expect(!work->verdict, 1))
        return status;
    if (status == DT_OK)
        return dt__verdict_conclude(work);
    dt__verdict_free(runtime->ctx, work->verdict);
    work->verdict = NULL;
    return status;
}

/* Publishes an invalid call to the members. */
static dt_status publish_refusal(dt_work *work, dt_status status) {
    if (work->group && dt__work_start(work->group->runtime, work) == DT_OK)
        finish(work->group->runtime, work);
    return status;
}

static dt_status run_work(dt__runtime *runtime, dt_work *work) {
    DT__TRY(dt__work_start(runtime, work));
    return finish(runtime, work);
}

static bool is_reported(const dt_ctx *ctx) { return ctx->observer || ctx->log_level >= DT_LOG_INFO; }

/* To the observer and the log. */
static void report_collective(dt_group *group, const dt_comm_call *call, double begin_us) {
    dt_ctx *ctx = group->runtime->ctx;
    int64_t bytes = dt__dst_count(group, call) * (int64_t)dt_dtype_size(call->dtype);
    char size[32];
    if (ctx->observer)
        ctx->observer->collective(
            ctx, &(dt__collective_report){
                     .op = call->op, .bytes = bytes, .begin_us = begin_us, .end_us = dt__clock_us(ctx)});
    group->runtime->n_logged++;
    group->runtime->logged_bytes += bytes;
    dt__size_print((size_t)bytes, size, sizeof size);
    dt__log(ctx, bytes >= DT__LARGE_TRANSFER ? DT_LOG_INFO : DT_LOG_DEBUG, "%s of %" PRId64 " ranks, result of %s",
            dt_collective_name(call->op), group->n_ranks, size);
}

/* By the links of the machine model; a program's own collectives have no plan. */
static void advance_clock(const dt_group *group, const dt_comm_call *call) {
    const dt__machine *machine = group->ctx->machine;
    const dt__link *link =
        machine->ranks_per_host && group->n_ranks > machine->ranks_per_host ? &machine->between : &machine->within;
    double bytes = (double)dt__dst_count((dt_group *)group, call) * (double)dt_dtype_size(call->dtype);
    if (group->n_ranks > 1)
        dt__clock_advance(group->ctx,
                          link->start_us + link->peer_us * (double)(group->n_ranks - 1) + bytes / link->bytes_per_us);
}

/* The history as the operation that compares it publishes it: odd. */
static uint64_t history_word(const dt__history *history) { return history->hash << 1 | 1; }

static void set_history(dt_work *work, dt__history *history, uint64_t mesh_dims) {
    if (!history)
        return;
    work->histories[0] = history;
    work->history_words[0] = history_word(history);
    work->n_histories = 1;
    work->mesh_dims = mesh_dims;
}

/* mesh_dims: along which all ranks of the history's mesh take part. */
static inline dt_status run_call(dt_group *group, const dt_comm_call *call, dt__history *history,
                                 uint64_t mesh_dims) {
    dt_work work;
    double begin_us = group->runtime->ctx->observer ? dt__clock_us(group->runtime->ctx) : 0;
    dt_status status = dt__call_check(group, call, &work);
    if (status != DT_OK)
        return publish_refusal(&work, status);
    set_history(&work, history, mesh_dims);
    status = run_work(group->runtime, &work);
    if (group->runtime->ctx->estimate)
        advance_clock(group, call);
    if (status == DT_OK && is_reported(group->runtime->ctx))
        report_collective(group, call, begin_us);
    return status;
}

dt_status dt_comm_run_sized(dt_group *group, const dt_comm_call *call, size_t call_size, const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_run", site);
    group = DT__LIVE(DT__KIND_GROUP, group);
    if (!group || !call)
        return DT_ERR_STATE;
    dt_comm_call full;
    call = DT__STRUCT(group->runtime->ctx, call, call_size, &full);
    return call ? run_call(group, call, NULL, 0) : DT_ERR_VALUE;
}

dt_status dt__comm_run_on_mesh(dt_group *group, const dt_comm_call *call, dt__history *history) {
    dt_comm_call tagged = *call;
    if (history) /* every member has it: it is part of what must agree */
        tagged.tag ^= history_word(history);
    return run_call(group, &tagged, history, DT__ALL_MESH_DIMS);
}

dt_status dt__comm_run_within(dt_group *group, const dt_comm_call *call, dt__history *history) {
    return run_call(group, call, history, 0);
}

/* If every member is in the mesh, its history is part of what must agree. */
static uint64_t exchange_tag(const dt__exchange *exchange) {
    bool shared = exchange->n_histories == 1 && exchange->histories[0] && !exchange->compares_later;
    return exchange->tag ^ (shared ? history_word(exchange->histories[0]) : 0);
}

static void compare_histories(dt_work *work, const dt__exchange *exchange) {
    for (int i = 0; i < exchange->n_histories; i++) {
        work->histories[i] = exchange->histories[i];
        work->history_words[i] = exchange->histories[i] ? history_word(exchange->histories[i]) : 0;
    }
    work->n_histories = exchange->n_histories;
    work->mesh_dims = exchange->mesh_dims;
}

static void prepare_exchange(dt_group *group, const dt__exchange *exchange, dt_work *out) {
    dt_comm_call call = {
        .dtype = exchange->dtype,
        .count = exchange->count,
        .tag = exchange_tag(exchange),
    };
    dt__call_prepare(group, DT__WORK_EXCHANGE, &call, dt_dtype_size(exchange->dtype), out);
    out->signature = dt__signature_with_call(out->signature, exchange->call);
    out->exchange = exchange;
    compare_histories(out, exchange);
}

/* The collective that carries an exchange. */
static dt_status prepare_carrier(dt_group *group, const dt__exchange *exchange, const dt_comm_call *call,
                                 dt_work *out) {
    dt_comm_call tagged = *call;
    tagged.tag = dt__hash_u64(dt__exchange_call_hash(exchange->call), exchange_tag(exchange));
    DT__TRY(dt__call_check(group, &tagged, out));
    compare_histories(out, exchange);
    return DT_OK;
}

dt_status dt__carry_run(dt_group *group, const dt__exchange *exchange, const dt_comm_call *call) {
    dt_work work;
    dt_status status = prepare_carrier(group, exchange, call, &work);
    return status == DT_OK ? run_work(group->runtime, &work) : publish_refusal(&work, status);
}

dt_status dt__exchange_run(dt_group *group, const dt__exchange *exchange) {
    dt_work work;
    prepare_exchange(group, exchange, &work);
    return run_work(group->runtime, &work);
}

static dt_work *alloc_work(dt__runtime *runtime) {
    dt_work *work = dt__freed_pop(&runtime->freed_works, runtime->ctx, sizeof *work);
    if (!work && !(work = dt__alloc(runtime->ctx, sizeof *work)))
        dt__fail_memory(runtime->ctx, sizeof *work, "a started operation");
    return work;
}

static size_t counts_bytes(const dt_work *work) { return 2 * (size_t)work->group->n_ranks * sizeof(int64_t); }

/* The caller's arrays of counts may be freed before the operation has ended. */
static dt_status copy_counts(dt__runtime *runtime, dt_work *work) {
    int64_t n = work->group->n_ranks;
    if (!work->call.counts)
        return DT_OK;
    work->own_counts = dt__alloc(runtime->ctx, counts_bytes(work));
    if (!work->own_counts)
        return dt__fail_memory(runtime->ctx, counts_bytes(work), "counts of a started operation");
    memcpy(work->own_counts, work->call.counts, (size_t)n * sizeof(int64_t));
    work->call.counts = work->own_counts;
    if (work->call.recv_counts) {
        memcpy(work->own_counts + n, work->call.recv_counts, (size_t)n * sizeof(int64_t));
        work->call.recv_counts = work->own_counts + n;
    }
    return DT_OK;
}

static void free_work(dt__runtime *runtime, dt_work *work) {
    dt__free(runtime->ctx, work->own_counts, work->own_counts ? counts_bytes(work) : 0);
    dt__verdict_free(runtime->ctx, work->verdict);
    DT__LIFE_END(&runtime->freed_works, work);
}

static dt_work *start_work(dt_group *group, const dt_work *checked) {
    dt__runtime *runtime = group->runtime;
    dt_work *work = alloc_work(runtime);
    if (!work)
        return NULL;
    *work = *checked;
    work->ctx = runtime->ctx;
    dt__life_begin(&work->life, work->ctx);
    work->started = true;
    if (work->mesh_dims != DT__ALL_MESH_DIMS) /* else verdicts spread along single mesh dims would have no order */
        work->mesh_dims = 0;
    work->tests = (struct dt__pause){0};
    if (copy_counts(runtime, work) != DT_OK || dt__work_start(runtime, work) != DT_OK) {
        free_work(runtime, work);
        return NULL;
    }
    dt_group_retain(group);
    dt_work **end = &runtime->started;
    while (*end)
        end = &(*end)->next;
    work->next = NULL;
    *end = work;
    advance(runtime, work);
    return work;
}

dt_work *dt__comm_start_within(dt_group *group, const dt_comm_call *call, dt__history *history) {
    dt_work checked;
    dt_status status = dt__call_check(group, call, &checked);
    if (status != DT_OK) {
        publish_refusal(&checked, status);
        return NULL;
    }
    set_history(&checked, history, 0);
    dt_work *work = start_work(group, &checked);
    if (work && is_reported(group->runtime->ctx))
        report_collective(group, call, dt__clock_us(group->runtime->ctx)); /* when it starts, with no duration */
    return work;
}

dt_work *dt_comm_start_sized(dt_group *group, const dt_comm_call *call, size_t call_size, const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_start", site);
    group = DT__LIVE(DT__KIND_GROUP, group);
    if (!group || !call)
        return NULL;
    dt_comm_call full;
    call = DT__STRUCT(group->runtime->ctx, call, call_size, &full);
    return call ? dt__comm_start_within(group, call, NULL) : NULL;
}

dt_work *dt__exchange_start(dt_group *group, const dt__exchange *exchange) {
    dt_work prepared;
    prepare_exchange(group, exchange, &prepared);
    return start_work(group, &prepared);
}

dt_work *dt__carry_start(dt_group *group, const dt__exchange *exchange, const dt_comm_call *call) {
    dt_work prepared;
    dt_status status = prepare_carrier(group, exchange, call, &prepared);
    if (status == DT_OK)
        return start_work(group, &prepared);
    (void)publish_refusal(&prepared, status);
    return NULL;
}

dt_status dt_work_test_site(dt_work *work, const dt_site *site) {
    DT__ENTER(work ? work->ctx : NULL, "work_test", site);
    work = DT__LIVE(DT__KIND_WORK, work);
    if (!work)
        return DT_ERR_STATE;
    dt__runtime *runtime = work->group->runtime;
    advance_started(runtime);
    if (work->status == DT_IN_PROGRESS && runtime->transport->check_failure) {
        dt_status status = runtime->transport->check_failure(runtime, work);
        if (status != DT_OK)
            work->status = status;
    }
    return work->status;
}

dt_status dt_work_wait_site(dt_work *work, const dt_site *site) {
    DT__ENTER(work ? work->ctx : NULL, "work_wait", site);
    work = DT__LIVE(DT__KIND_WORK, work);
    if (!work)
        return DT_ERR_STATE;
    dt_group *group = work->group;
    dt__runtime *runtime = group->runtime;
    dt_status status = finish(runtime, work);
    dt_work **link = &runtime->started;
    while (*link != work)
        link = &(*link)->next;
    *link = work->next;
    free_work(runtime, work);
    dt_group_release(group);
    return status;
}

/* Closing waits for no rank: what cannot be finished now is abandoned. */
void dt__abandon_started_works(dt__runtime *runtime) {
    advance_started(runtime);
    for (dt_work *work = runtime->started; work; work = work->next)
        if (work->status == DT_IN_PROGRESS)
            work->status = dt__work_abandon(work);
}

dt_status dt_comm_barrier_site(dt_group *group, const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_barrier", site);
    return dt_comm_run(group, &(dt_comm_call){.op = DT_BARRIER});
}

dt_status dt_comm_broadcast_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                 int64_t root, const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_broadcast", site);
    return dt_comm_run(
        group,
        &(dt_comm_call){.op = DT_BROADCAST, .src = src, .dst = dst, .count = count, .dtype = dtype, .root = root});
}

dt_status dt_comm_scatter_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                               int64_t root, const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_scatter", site);
    return dt_comm_run(
        group,
        &(dt_comm_call){.op = DT_SCATTER, .src = src, .dst = dst, .count = count, .dtype = dtype, .root = root});
}

dt_status dt_comm_gather_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                              int64_t root, const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_gather", site);
    return dt_comm_run(
        group,
        &(dt_comm_call){.op = DT_GATHER, .src = src, .dst = dst, .count = count, .dtype = dtype, .root = root});
}

dt_status dt_comm_all_gather_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                  const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_all_gather", site);
    return dt_comm_run(group,
                       &(dt_comm_call){.op = DT_ALL_GATHER, .src = src, .dst = dst, .count = count, .dtype = dtype});
}

dt_status dt_comm_all_reduce_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                  dt_reduce reduce, const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_all_reduce", site);
    return dt_comm_run(
        group, &(dt_comm_call){
                   .op = DT_ALL_REDUCE, .src = src, .dst = dst, .count = count, .dtype = dtype, .reduce = reduce});
}

dt_status dt_comm_reduce_scatter_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                      dt_reduce reduce, const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_reduce_scatter", site);
    return dt_comm_run(
        group,
        &(dt_comm_call){
            .op = DT_REDUCE_SCATTER, .src = src, .dst = dst, .count = count, .dtype = dtype, .reduce = reduce});
}

dt_status dt_comm_all_to_all_site(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                  const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_all_to_all", site);
    return dt_comm_run(group,
                       &(dt_comm_call){.op = DT_ALL_TO_ALL, .src = src, .dst = dst, .count = count, .dtype = dtype});
}

dt_status dt_comm_send_site(dt_group *group, const void *src, int64_t count, dt_dtype dtype, int64_t to,
                            const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_send", site);
    return dt_comm_run(group, &(dt_comm_call){.op = DT_SEND, .src = src, .count = count, .dtype = dtype, .root = to});
}

dt_status dt_comm_recv_site(dt_group *group, void *dst, int64_t count, dt_dtype dtype, int64_t from,
                            const dt_site *site) {
    DT__ENTER(dt__group_ctx(group), "comm_recv", site);
    return dt_comm_run(group,
                       &(dt_comm_call){.op = DT_RECV, .dst = dst, .count = count, .dtype = dtype, .root = from});
}
