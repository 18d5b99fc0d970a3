/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls from the functions of dtensor/ops.h on their way to the dispatcher.
 */
#include "ops/op_functions.h"

/* The context of some tensor of the call; NULL where all are NULL: then the error is recorded already. */
static dt_ctx *ctx_of(const dt__call *call) {
    for (int i = 0; i < call->n_inputs && i < DT__MAX_INPUTS; i++)
        if (call->inputs[i])
            return dt_tensor_ctx(call->inputs[i]);
    return NULL;
}

static dt_status refuse(dt_ctx *ctx, const dt__call *call, const dt__op_info *info) {
    if (call->n_inputs > DT__MAX_INPUTS)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: %d tensors are given; at most %d are possible",
                        info->schema.name, call->n_inputs, DT__MAX_INPUTS);
    return dt__fail(ctx, DT_ERR_VALUE, "argument %d of %s is NULL", call->absent, info->schema.name);
}

static dt_status run(const dt__call *call, const dt_arg *args, const dt_site *site, dt_tensor **outputs, int *n) {
    dt_ctx *ctx = ctx_of(call);
    const dt__op_info *info = ctx ? dt__op_at(ctx, call->op) : NULL;
    if (!info)
        return ctx ? dt_error_status(ctx) : DT_ERR_VALUE;
    if (call->absent || call->n_inputs > DT__MAX_INPUTS)
        return refuse(ctx, call, info);
    return dt__dispatch(ctx,
                        &(dt__invocation){.info = info,
                                          .overload = call->overload,
                                          .args = args,
                                          .n_inputs = call->n_inputs,
                                          .inputs = call->inputs,
                                          .site = site},
                        outputs, n);
}

dt_tensor *dt__call_run(const dt__call *call, const dt_arg *args, const dt_site *site) {
    dt_tensor *outputs[DT__MAX_OUTPUTS];
    int n = 0;
    return run(call, args, site, outputs, &n) == DT_OK && n > 0 ? outputs[0] : NULL;
}

int dt__call_run_list(const dt__call *call, const dt_arg *args, const dt_site *site, dt_tensor **out, int room) {
    dt_tensor *outputs[DT__MAX_OUTPUTS];
    int n = 0;
    if (run(call, args, site, outputs, &n) != DT_OK)
        return -1;
    for (int i = 0; i < n && i < room; i++)
        out[i] = outputs[i];
    return n;
}
