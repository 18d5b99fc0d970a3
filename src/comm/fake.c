/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport of a machine that is not there: this process claims to be one rank of a world of any size. Calls are
 * checked and succeed at once; no data moves and results are left as they are.
 */
#include "comm/runtime.h"

#include <inttypes.h>

static dt_status open_fake(dt__runtime *runtime, const dt_init_options *options, const dt__ticket *ticket) {
    dt_ctx *ctx = runtime->ctx;
    int64_t world = options->world ? options->world : 1;
    if (world < 1 || options->rank < 0 || options->rank >= world)
        return dt__fail(ctx, DT_ERR_VALUE,
                        "fake transport: rank %" PRId64 " of a world of %" PRId64
                        "; a rank from 0 to world-1 is needed",
                        options->rank, world);
    DT__TRY(dt__open_alone(runtime, options, ticket));
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
    .close = dt__close_alone,
    .start = step_fake,
    .step = step_fake,
};
