/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that involve no other rank: groups of one, and messages of a rank to itself, which are copied when sent
 * and received in order. The self transport, a world of one rank, consists of these.
 */
#include "base/size.h"
#include "comm/comm.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

struct dt__message {
    struct dt__message *next;
    uint64_t signature, count, tag;
    size_t bytes;
    unsigned char data[];
};

static dt_status send_message(dt_work *work) {
    dt_ctx *ctx = work->group->runtime->ctx;
    size_t bytes = (size_t)work->call.count * work->item_bytes, total;
    struct dt__message *message = NULL;
    if (dt__add_size(bytes, sizeof *message, &total))
        message = dt__alloc(ctx, total);
    if (!message)
        return dt__fail_memory(ctx, bytes, "a message to this rank itself");
    message->next = NULL;
    message->signature = work->signature;
    message->count = work->count;
    message->tag = work->call.tag;
    message->bytes = bytes;
    if (bytes)
        memcpy(message->data, work->call.src, bytes);
    struct dt__message **end = &work->group->messages;
    while (*end)
        end = &(*end)->next;
    *end = message;
    return DT_OK;
}

/* Messages are received in the order of the receive calls, not of the waits. */
static bool is_first_receive(const dt_work *work) {
    const dt_work *other = work->group->runtime->started;
    for (; other && other != work; other = other->next)
        if (other->status == DT_IN_PROGRESS && other->group == work->group && other->op == DT__WORK_RECV &&
            other->call.root == work->group->rank)
            return false;
    return true;
}

static bool message_is_ready(const dt_work *work) { return work->group->messages && is_first_receive(work); }

static dt_status receive_message(dt_work *work) {
    dt_ctx *ctx = work->group->runtime->ctx;
    struct dt__message *message = work->group->messages;
    if (!message_is_ready(work))
        return DT_IN_PROGRESS;
    if (!dt__signature_matches(message->signature, work->signature) || message->count != work->count ||
        message->tag != work->call.tag) {
        char sent[128], expected[128];
        dt__describe_operation(message->signature, message->count, "", sent, sizeof sent);
        dt__describe_own_operation(work, expected, sizeof expected);
        return dt__fail(ctx, DT_ERR_MISMATCH, "recv from this rank itself: expected %s, got %s%s", expected, sent,
                        message->tag != work->call.tag ? " with another tag" : "");
    }
    if (message->bytes)
        memcpy(work->call.dst, message->data, message->bytes);
    work->group->messages = message->next;
    dt__free(ctx, message, sizeof *message + message->bytes);
    return DT_OK;
}

void dt__messages_free(dt_group *group) {
    while (group->messages) {
        struct dt__message *message = group->messages;
        group->messages = message->next;
        dt__free(group->runtime->ctx, message, sizeof *message + message->bytes);
    }
}

dt_status dt__run_single_rank(dt__runtime *runtime, dt_work *work) {
    const dt_comm_call *call = &work->call;
    if (work->op == DT__WORK_EXCHANGE)
        return DT_OK; /* nothing to pull */
    if (call->op == DT_SEND)
        return send_message(work);
    if (call->op == DT_RECV)
        return receive_message(work);
    size_t bytes = (size_t)dt__src_count(work->group, call) * work->item_bytes;
    if (bytes && dt__op_shapes[call->op].reduces)
        runtime->kernels->reduce(call->dtype, call->reduce, call->dst, &call->src, 1, bytes / work->item_bytes, 1,
                                 DT__CACHED);
    else if (bytes && call->dst != call->src)
        runtime->kernels->copy(call->dst, call->src, bytes, DT__CACHED);
    return DT_OK;
}

dt_status dt__open_private_heap(dt__runtime *runtime, const dt_init_options *options) {
    size_t bytes = options->heap_bytes ? options->heap_bytes : dt__heap_share(runtime->heap_memory, 1);
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return dt__fail(runtime->ctx, DT_ERR_SYSTEM,
                        "cannot reserve a heap of %zu bytes: %s; DTENSOR_HEAP sets a smaller one", bytes,
                        strerror(errno));
    madvise(base, bytes, MADV_HUGEPAGE);
    dt__heap_open(&runtime->heap, runtime->ctx, base, bytes, false);
    return DT_OK;
}

void dt__close_private_heap(dt__runtime *runtime) {
    void *base = runtime->heap.base;
    size_t bytes = runtime->heap.bytes;
    dt__heap_close(&runtime->heap);
    if (base)
        munmap(base, bytes);
}

static dt_status open_self(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket) {
    (void)ticket;
    if (options->world && options->world != 1)
        return dt__fail(runtime->ctx, DT_ERR_VALUE,
                        "world: expected 1 for a process started alone, got %" PRId64 "; dtrun -n starts ranks",
                        options->world);
    return dt__open_private_heap(runtime, options);
}

static dt_status start_self(dt__runtime *runtime, dt_work *work) {
    (void)runtime;
    (void)work;
    return DT_OK;
}

/* With no other rank to make progress, an operation that cannot finish now never will, unless an earlier receive has
 * meanwhile received its message. */
static dt_status pause_self(dt__runtime *runtime, dt_work *work, struct dt__pause *pause) {
    (void)pause;
    if (message_is_ready(work))
        return DT_OK;
    return dt__fail(runtime->ctx, DT_ERR_STATE, "%s from this rank itself: nothing was sent",
                    dt_collective_name(work->call.op));
}

const dt__transport dt__transport_self = {
    .name = "self",
    .has_data = true,
    .open = open_self,
    .close = dt__close_private_heap,
    .start = start_self,
    .step = dt__run_single_rank,
    .pause = pause_self,
};
