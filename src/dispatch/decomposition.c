/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that are made of others: one without a kernel is run by its decomposition, whose ops are decided, counted and
 * traced like any. The shape function is asked first, so that a call which is not valid is refused before anything
 * runs.
 */
#include "dispatch/dispatch.h"

static dt_status check_output(const dt_op_call *asked, int i, const dt_tensor *made) {
    const dt_op_value *want = &asked->outputs[i];
    if (!made)
        return dt_failed(asked->ctx) ? dt_error_status(asked->ctx)
                                     : dt_op_refuse(asked, DT_ERR_VALUE, "the decomposition made no output %d", i);
    bool same = made->dtype == want->dtype && made->n_dims == want->n_dims;
    for (int d = 0; d < want->n_dims && same; d++)
        same = made->shape[d] == want->shape[d];
    if (same)
        return DT_OK;
    char text[256];
    (void)dt_tensor_text(made, sizeof text, text);
    return dt_op_refuse(asked, DT_ERR_VALUE,
                        "the decomposition made output %d as %s, which the shape function does not", i, text);
}

static dt_status run(dt__arena *arena, dt_op_call *asked, const dt__invocation *call, dt_tensor **outputs) {
    DT__TRY(dt__op_call_infer(arena, asked));
    if (asked->n_outputs > DT__MAX_OUTPUTS)
        return dt_op_refuse(asked, DT_ERR_UNSUPPORTED, "%d outputs; at most %d", asked->n_outputs, DT__MAX_OUTPUTS);
    for (int i = 0; i < asked->n_outputs; i++)
        outputs[i] = NULL;
    DT__TRY(asked->op->decompose(asked, call->inputs, outputs));
    for (int i = 0; i < asked->n_outputs; i++)
        DT__TRY(check_output(asked, i, outputs[i]));
    return DT_OK;
}

dt_status dt__decompose(dt_ctx *ctx, const dt__invocation *call, dt_tensor **outputs, int *n_outputs) {
    dt_op_value inputs[DT__MAX_INPUTS];
    for (int i = 0; i < call->n_inputs; i++)
        inputs[i] = (dt_op_value){.dtype = call->inputs[i]->dtype,
                                  .n_dims = call->inputs[i]->n_dims,
                                  .shape = call->inputs[i]->shape,
                                  .spec = call->inputs[i]->spec};
    dt_op_call asked = dt__op_call_new(ctx, call->info, call->overload, call->args, call->n_inputs, inputs);
    dt__arena arena = dt__arena_new(ctx);
    dt_status status = run(&arena, &asked, call, outputs);
    if (status == DT_OK)
        *n_outputs = asked.n_outputs;
    dt__arena_free(&arena);
    return status;
}
