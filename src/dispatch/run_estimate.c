/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs decisions of a program that is estimated (comm/estimate.h). A call on a mesh, or one that reads a value which
 * nobody has computed, moves, allocates and counts as it would, and its kernel runs without data. Kernels of the
 * program are not run: they take no memory that the library knows of.
 */
#include "comm/comm.h"
#include "dispatch/dispatch_state.h"

static bool is_idle(const dt__call *call, const dt__decision *decision) {
    bool idle = decision->mesh != NULL;
    for (int i = 0; i < call->n_inputs && !idle; i++)
        idle = dt__is_idle(call->ctx, call->inputs[i]->data);
    return idle;
}

dt_status dt__run_estimated(dt_ctx *ctx, dt__call *call, const dt__decision *decision, dt__run_fn *run) {
    bool idle = is_idle(call, decision);
    if (idle)
        dt__idle_begin(ctx);
    dt_status status = run(ctx, call, decision);
    if (idle)
        dt__idle_end(ctx);
    call->op_call.outputs = call->output_values; /* also where no kernel ran */
    if (status == DT_OK && decision->runs && !decision->is_view)
        dt__clock_advance(ctx, dt__op_time_us(&call->op_call));
    return status;
}

dt_status dt__kernel_run_idle(dt_op_call *call) {
    if (!dt__op_is_registered(call->ctx, call->info))
        return call->op->kernel(call);
    dt__estimate_notes_add(call->ctx, DT__NOT_RUN, call->name);
    return DT_OK;
}
