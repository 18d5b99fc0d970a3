/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport of a context in a process that was forked from the one that made it (base/open_contexts.c). It has no
 * functions that publish anything, and its operations fail: by then the context has an error of state.
 */
#include "comm/runtime.h"

static dt_status refuse(dt__runtime *runtime, dt_work *work) {
    (void)work;
    return dt_error_status(runtime->ctx);
}

const dt__transport dt__transport_forked = {.name = "forked", .start = refuse, .step = refuse};
