/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a schedule of an operation between nodes: stages, messages, tasks, counts and scratch memory. They are
 * arrays in the operation's state, which later operations reuse, so that a small operation allocates nothing.
 */
#include "cluster/spanning.h"

#include "base/size.h"

#include <string.h>

size_t dt__span_bytes(const dt_work *work, int64_t count) { return (size_t)count * work->item_bytes; }

/* The place for n more items; NULL when out of memory. */
static void *add_items(dt_work *work, dt__span_array *array, int64_t n, size_t item_bytes) {
    dt_ctx *ctx = work->group->runtime->ctx;
    if (array->n + n > array->capacity) {
        int64_t capacity = dt__max_i64(array->n + n, dt__max_i64(16, 2 * array->capacity));
        void *larger = dt__alloc(ctx, (size_t)capacity * item_bytes);
        if (!larger) {
            work->span->out_of_memory = true;
            return NULL;
        }
        if (array->n)
            memcpy(larger, array->items, (size_t)array->n * item_bytes);
        dt__free(ctx, array->items, (size_t)array->capacity * item_bytes);
        array->items = larger;
        array->capacity = capacity;
    }
    array->n += n;
    return (char *)array->items + (size_t)(array->n - n) * item_bytes;
}

unsigned char *dt__span_scratch(dt_work *work, size_t bytes) {
    dt__span *span = work->span;
    size_t lines = (bytes + DT__LINE - 1) / DT__LINE * DT__LINE;
    if (bytes <= DT__EXCHANGE_COPIED_BYTES && lines <= sizeof span->small - span->small_bytes) {
        span->small_bytes += lines;
        return span->small + span->small_bytes - lines;
    }
    void *memory = span->n_scratch < DT__SPAN_MAX_SCRATCH
                       ? dt__heap_alloc(&work->group->runtime->heap, bytes, DT_MEMORY_SCRATCH)
                       : NULL;
    if (!memory) {
        span->out_of_memory = true;
        return span->small; /* the schedule is not run */
    }
    return span->scratch[span->n_scratch++] = memory;
}

static struct dt__stage *add_stage(dt_work *work) {
    dt__span *span = work->span;
    struct dt__stage *stage = add_items(work, &span->stages, 1, sizeof *stage);
    if (stage)
        *stage = (struct dt__stage){.first = span->transfers.n,
                                    .first_task = span->tasks.n,
                                    .number = UINT32_MAX,
                                    .counts_at = -1,
                                    .recv_counts_at = -1};
    return stage;
}

static struct dt__stage *last_stage(const dt_work *work) {
    const dt__span *span = work->span;
    return span->stages.n ? (struct dt__stage *)span->stages.items + span->stages.n - 1 : NULL;
}

void dt__span_add_stage(dt_work *work) {
    struct dt__stage *stage = add_stage(work);
    if (stage)
        stage->number = work->span->n_message_stages++;
}

static int64_t add_counts(dt_work *work, const int64_t *counts, int64_t n) {
    int64_t *copy = counts ? add_items(work, &work->span->counts, n, sizeof *copy) : NULL;
    if (!copy)
        return -1;
    memcpy(copy, counts, (size_t)n * sizeof *copy);
    return work->span->counts.n - n;
}

static void set_local(dt_work *work, struct dt__stage *stage, dt_comm_call call, const int64_t *counts,
                      const int64_t *recv_counts) {
    const dt_group *node = dt__node_group(work);
    if (!node)
        work->span->out_of_memory = true;
    if (!stage || !node)
        return;
    work->span->last_local = work->span->stages.n - 1;
    stage->is_local = true;
    stage->call = call;
    stage->call.dtype = work->call.dtype;
    stage->counts_at = add_counts(work, counts, node->n_ranks);
    stage->recv_counts_at = add_counts(work, recv_counts, node->n_ranks);
}

void dt__span_add_local(dt_work *work, dt_comm_call call, const int64_t *counts, const int64_t *recv_counts) {
    set_local(work, add_stage(work), call, counts, recv_counts);
}

void dt__span_add_local_beside(dt_work *work, dt_comm_call call, const int64_t *counts, const int64_t *recv_counts) {
    struct dt__stage *last = last_stage(work);
    bool joins = last && last->n && !last->is_local;
    set_local(work, joins ? last : add_stage(work), call, counts, recv_counts);
}

static void add_transfer(dt_work *work, struct dt__span_message transfer) {
    struct dt__span_message *added = add_items(work, &work->span->transfers, 1, sizeof *added);
    struct dt__stage *stage = last_stage(work);
    if (!added || !stage)
        return;
    *added = transfer;
    stage->n++;
}

void dt__span_send(dt_work *work, int64_t i, const void *data, size_t bytes) {
    add_transfer(work, (struct dt__span_message){
                           .c = dt__member(work, i), .data = (void *)(uintptr_t)data, .bytes = bytes, .sends = true});
}

void dt__span_receive(dt_work *work, int64_t i, void *data, size_t bytes) {
    add_transfer(work, (struct dt__span_message){.c = dt__member(work, i), .data = data, .bytes = bytes});
}

static void add_task(dt_work *work, struct dt__span_task task) {
    struct dt__stage *stage = last_stage(work);
    if (!stage)
        stage = add_stage(work);
    struct dt__span_task *added = add_items(work, &work->span->tasks, 1, sizeof *added);
    if (!added || !stage)
        return;
    *added = task;
    stage->n_tasks++;
}

void dt__span_copy(dt_work *work, void *dst, const void *src, size_t bytes) {
    if (bytes && dst != src)
        add_task(work, (struct dt__span_task){.dst = dst, .src = src, .n = bytes});
}

void dt__span_reduce(dt_work *work, void *dst, const void *const *sources, int64_t n_sources, int64_t n,
                     dt_reduce reduce) {
    const void **copy = n ? add_items(work, &work->span->sources, n_sources, sizeof *copy) : NULL;
    if (!copy)
        return;
    memcpy(copy, sources, (size_t)n_sources * sizeof *copy);
    add_task(work, (struct dt__span_task){.dst = dst,
                                          .first_source = work->span->sources.n - n_sources,
                                          .n_sources = n_sources,
                                          .n = (size_t)n,
                                          .reduce = reduce});
}

dt_reduce dt__partial_reduce(const dt_work *work) { return work->call.reduce == DT_AVG ? DT_SUM : work->call.reduce; }

struct dt__slice dt__slice_of(int64_t count, int64_t n, int64_t k, size_t item_bytes) {
    int64_t line = DT__LINE / (int64_t)item_bytes;
    int64_t size = dt__ceil_div(dt__ceil_div(count, n), line) * line;
    int64_t first = dt__min_i64(k * size, count);
    return (struct dt__slice){first, dt__min_i64(size, count - first)};
}
