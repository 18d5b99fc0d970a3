/* SPDX-License-Identifier: Apache-2.0
 *
 * The fake transport: this process acts as one rank of a world of any size. Calls are checked and succeed at once; no
 * data moves, and result buffers stay unchanged.
 */
#include "comm/comm.h"

#include <inttypes.h>

static dt_status open_fake(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket) {
    dt_ctx *ctx = runtime->ctx;
    int64_t world = options->world ? options->world : 1;
    if (world < 1 || options->rank < 0 || options->rank >= world)
        return dt__fail(ctx, DT_ERR_VALUE,
                        "fake transport: rank outside the world: expected 0 to %" PRId64 ", got rank %" PRId64
                        " of a world of %" PRId64,
                        world - 1, options->rank, world);
    (void)ticket;
    DT__TRY(dt__open_private_heap(runtime, options));
    ctx->world = world;
    ctx->rank = options->rank;
    return DT_OK;
}

static dt_status step_fake(dt__runtime *runtime, dt_work *work) {
    (void)runtime;
    (void)work;
    return DT_OK;
}

const dt__transport dt__transport_fake = {
    .name = "fake",
    .open = open_fake,
    .close = dt__close_private_heap,
    .start = step_fake,
    .step = step_fake,
};
