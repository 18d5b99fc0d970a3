/* SPDX-License-Identifier: Apache-2.0
 *
 * The estimating transport: this process acts as one rank of a world whose ranks share memory (comm/estimate.h). An
 * operation takes the memory that it takes on shared memory, by the same code, counts what it would receive, and ends
 * in its first step. Nothing is published, and no result is written.
 */
#include "base/hash.h"
#include "base/size.h"
#include "shm/meeting_log.h"
#include "shm/shm_operation.h"

#include <stdlib.h>

typedef struct estimating {
    dt__shm shm;      /* first: what an operation reads of the transport; it has no segment */
    dt__map channels; /* by the ranks that communicate: those that have sent small data keep memory for it */
    dt__meeting_log meetings;
} estimating;

static dt_status open_estimate(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket) {
    dt_ctx *ctx = runtime->ctx;
    const dt__estimate_options *described = runtime->described;
    (void)ticket;
    estimating *self = dt__alloc_zeroed(ctx, sizeof *self);
    if (!self)
        return dt__fail_memory(ctx, sizeof *self, "the estimating transport");
    dt_status status = dt__open_private_heap(runtime, options);
    if (status == DT_OK && (status = dt__estimate_open(runtime, described)) != DT_OK)
        dt__close_private_heap(runtime);
    if (status == DT_OK && (status = dt__meeting_log_open(&self->meetings, ctx)) != DT_OK) {
        dt__estimate_close(runtime);
        dt__close_private_heap(runtime);
    }
    if (status != DT_OK) {
        dt__free(ctx, self, sizeof *self);
        return status;
    }
    self->shm.board.runtime = runtime;
    self->shm.own_core = described->world <= described->cores;
    self->channels = dt__map_new(ctx);
    runtime->state = self;
    runtime->cores_per_rank =
        described->threads ? described->threads : dt__max_i64(described->cores / described->world, 1);
    ctx->world = described->world;
    ctx->rank = described->rank;
    return DT_OK;
}

static void close_estimate(dt__runtime *runtime) {
    estimating *self = runtime->state;
    size_t at = 0;
    dt__meeting_log_close(&self->meetings, runtime->ctx);
    for (dt__channel *channel; (channel = dt__map_next(&self->channels, &at));)
        dt__free(runtime->ctx, channel, sizeof *channel);
    dt__map_free(&self->channels);
    dt__estimate_close(runtime);
    dt__close_private_heap(runtime);
    dt__free(runtime->ctx, self, sizeof *self);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A hash of the ranks in ascending order. */
static dt_status hash_members(const dt_group *group, uint64_t *out) {
    dt_ctx *ctx = group->ctx;
    size_t bytes = (size_t)group->n_ranks * sizeof(int64_t);
    int64_t *sorted = group->ranks ? dt__alloc(ctx, bytes) : NULL;
    *out = dt__hash_u64((uint64_t)group->n_ranks, dt__hash_u64(group->direction, 2));
    if (!group->ranks)
        return DT_OK;
    if (!sorted)
        return dt__fail_memory(ctx, bytes, "a channel");
    for (int64_t i = 0; i < group->n_ranks; i++)
        sorted[i] = group->ranks[i];
    qsort(sorted, (size_t)group->n_ranks, sizeof *sorted, by_value);
    *out = dt__hash(sorted, bytes, *out);
    dt__free(ctx, sorted, bytes);
    return DT_OK;
}

static dt__channel *channel_with(estimating *self, uint64_t key) {
    dt_ctx *ctx = self->shm.board.runtime->ctx;
    dt__channel *channel = dt__map_get(&self->channels, key, NULL, NULL);
    if (channel)
        return channel;
    channel = dt__alloc_zeroed(ctx, sizeof *channel);
    if (!channel)
        return dt__fail_memory(ctx, sizeof *channel, "a channel"), NULL;
    channel->board = &self->shm.board;
    if (dt__map_add(&self->channels, key, channel))
        return channel;
    dt__free(ctx, channel, sizeof *channel);
    return NULL;
}

/* Messages between two ranks have a channel for each direction, and for each directed group, as those of pipelines. */
static dt__channel *channel_of(estimating *self, const dt_work *work) {
    dt_group *group = work->group;
    uint64_t key;
    if (dt__op_shapes[work->op].pair) {
        uint64_t other = (uint64_t)dt__group_member(group, work->call.root);
        uint64_t salt = dt__hash_u64(group->direction, group->order_hash);
        return channel_with(self, dt__hash_u64(other, dt__hash_u64((uint64_t)work->op, salt)));
    }
    if (!group->channel && hash_members(group, &key) == DT_OK)
        group->channel = channel_with(self, key);
    return group->channel;
}

static bool is_alone(const dt_work *work) {
    return dt__op_shapes[work->op].pair ? work->call.root == work->group->rank : work->group->n_ranks == 1;
}

static dt_status start_estimate(dt__runtime *runtime, dt_work *work) {
    work->channel = NULL;
    work->lockstep = false;
    work->published_counts = NULL;
    work->staging = NULL;
    work->published_verdict = NULL;
    if (is_alone(work) || work->refused)
        return DT_OK;
    if (runtime->ctx->call.apart)
        return dt__refuse_apart(runtime->ctx, work);
    work->channel = channel_of(runtime->state, work);
    if (!work->channel)
        return runtime->ctx->status;
    work->seq = ++work->channel->started;
    dt__meeting_log_add(&((estimating *)runtime->state)->meetings, work);
    return dt__shm_reserve(work);
}

/* The steps of an exchange count what they would receive. */
static dt_status step_estimate(dt__runtime *runtime, dt_work *work) {
    dt_status status = DT_OK;
    if (work->refused)
        return DT_OK;
    if (!work->channel)
        return dt__is_idle(runtime->ctx, work->call.src) || dt__is_idle(runtime->ctx, work->call.dst)
                   ? DT_OK
                   : dt__run_single_rank(runtime, work);
    for (int i = 0; work->op == DT__WORK_EXCHANGE && i < 2 && work->exchange->steps[i] && status == DT_OK; i++)
        status = work->exchange->steps[i](work, work->exchange->user);
    dt__shm_end(work);
    return status;
}

const dt__transport dt__transport_estimate = {
    .name = "estimate",
    .has_data = true,
    .open = open_estimate,
    .close = close_estimate,
    .start = start_estimate,
    .step = step_estimate,
};
