/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the ops that gradients take whatever the graph. They are looked up by name once per context.
 */
#include "autograd/gradient_walk.h"

static const char *const names[DT__N_GRADIENT_OPS] = {
    [DT__GRADIENT_ADD] = "add",    [DT__GRADIENT_ADD_IN_PLACE] = "add_", [DT__GRADIENT_CLONE] = "clone",
    [DT__GRADIENT_REDUCE] = "sum", [DT__GRADIENT_CONVERT] = "to",        [DT__GRADIENT_MASK] = "masked_fill",
};

/* Calls use the first signature of each op. */
static dt_tensor *run(dt__gradient_op op, int n, dt_tensor *const *inputs, const dt_arg *values, int n_values) {
    dt_ctx *ctx = inputs[0]->ctx;
    dt__autograd_state *state = ctx->slots[DT__SLOT_AUTOGRAD].state;
    const dt__op_info **info = &state->ops[op];
    dt_arg args[DT__MAX_ARGS];
    dt__call call;
    if (!*info && (dt__library_ops_open(ctx) != DT_OK || !(*info = dt__op_find(ctx, names[op]))))
        return NULL;
    const dt__signature *signature = &(*info)->schema.signatures[0];
    dt__call_init(&call, ctx, 0, args);
    call.info = *info;
    for (int p = 0; p < signature->n_params; p++) {
        args[p] = signature->params[p].absent;
        if (p < n) {
            args[p] = (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = p};
            call.inputs[call.n_inputs++] = inputs[p];
        } else if (p < n + n_values)
            args[p] = values[p - n];
    }
    dt_tensor *result = dt__dispatch(ctx, &call) == DT_OK ? call.outputs[0] : NULL;
    dt__call_end(&call);
    return result;
}

dt_tensor *dt__gradient_sum(dt_tensor *a, dt_tensor *b) {
    return run(DT__GRADIENT_ADD, 2, (dt_tensor *[]){a, b}, NULL, 0);
}

dt_tensor *dt__gradient_add_in_place(dt_tensor *a, dt_tensor *b) {
    return run(DT__GRADIENT_ADD_IN_PLACE, 2, (dt_tensor *[]){a, b}, NULL, 0);
}

dt_tensor *dt__gradient_copy(dt_tensor *tensor) { return run(DT__GRADIENT_CLONE, 1, &tensor, NULL, 0); }

dt_tensor *dt__gradient_reduce(dt_tensor *tensor, int n, const int64_t *dims, bool keepdim) {
    dt_arg values[] = {{.type = DT_ARG_INTS, .n = n, .as.ints = dims}, {.type = DT_ARG_BOOL, .as.b = keepdim}};
    return run(DT__GRADIENT_REDUCE, 1, &tensor, values, 2);
}

dt_tensor *dt__gradient_convert(dt_tensor *tensor, dt_dtype dtype) {
    dt_arg value = {.type = DT_ARG_DTYPE, .as.dtype = dtype};
    return run(DT__GRADIENT_CONVERT, 1, &tensor, &value, 1);
}

dt_tensor *dt__gradient_mask(dt_tensor *tensor, dt_tensor *mask) {
    dt_arg zero = {.type = DT_ARG_INT};
    return run(DT__GRADIENT_MASK, 2, (dt_tensor *[]){tensor, mask}, &zero, 1);
}
