/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations in which no other rank takes part: groups of one, and messages to oneself; with it the transport of a
 * world of one.
 */
#include "comm/call.h"
#include "comm/message.h"
#include "comm/runtime.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

dt_status dt__run_alone(dt__runtime *runtime, dt_work *work) {
    const dt_comm_call *call = &work->call;
    if (work->op == DT__WORK_EXCHANGE)
        return DT_OK; /* there are none */
    if (call->op == DT_SEND)
        return dt__message_send(work);
    if (call->op == DT_RECV)
        return dt__message_receive(work);
    size_t bytes = (size_t)dt__src_count(work->group, call) * work->item_bytes;
    if (bytes && dt__op_shapes[call->op].reduces)
        runtime->kernels->reduce(call->dtype, call->reduce, call->dst, &call->src, 1, bytes / work->item_bytes, 1,
                                 DT__CACHED);
    else if (bytes && call->dst != call->src)
        runtime->kernels->copy(call->dst, call->src, bytes, DT__CACHED);
    return DT_OK;
}

dt_status dt__open_alone(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket) {
    (void)ticket;
    size_t bytes = options->heap_bytes ? options->heap_bytes : dt__heap_bytes_default(1);
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return dt__fail(runtime->ctx, DT_ERR_SYSTEM,
                        "cannot reserve a heap of %zu bytes: %s; a smaller one (DTENSOR_HEAP) needs less", bytes,
                        strerror(errno));
    madvise(base, bytes, MADV_HUGEPAGE);
    dt__heap_open(&runtime->heap, runtime->ctx, base, bytes, false);
    return DT_OK;
}

void dt__close_alone(dt__runtime *runtime) {
    void *base = runtime->heap.base;
    size_t bytes = runtime->heap.bytes;
    dt__heap_close(&runtime->heap);
    munmap(base, bytes);
}

static dt_status open_self(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket) {
    if (options->world && options->world != 1)
        return dt__fail(runtime->ctx, DT_ERR_VALUE,
                        "options ask for a world of %" PRId64 ", but this process is alone: dtrun -n starts ranks",
                        options->world);
    return dt__open_alone(runtime, options, ticket);
}

static dt_status start_alone(dt__runtime *runtime, dt_work *work) {
    (void)runtime;
    (void)work;
    return DT_OK;
}

/* Nobody else can change anything: an operation that cannot finish now never will. What can have changed is that an
 * earlier receive was served meanwhile. */
static dt_status pause_alone(dt__runtime *runtime, dt_work *work, struct dt__pause *pause) {
    (void)pause;
    if (dt__message_is_there(work))
        return DT_OK;
    return dt__fail(runtime->ctx, DT_ERR_STATE, "%s from this rank itself: nothing was sent",
                    dt_collective_name(work->call.op));
}

const dt__transport dt__transport_self = {
    .name = "self",
    .open = open_self,
    .close = dt__close_alone,
    .start = start_alone,
    .step = dt__run_alone,
    .pause = pause_alone,
};
