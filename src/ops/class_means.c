/* SPDX-License-Identifier: Apache-2.0
 *
 * The loss is called again with another reduction, which sends nothing where rows are sharded, and makes what the
 * gradient needs. The sum of weights is a partial sum of one number until something needs its value.
 */
#include "ops/class_means.h"

#include "dispatch/dispatch.h"
#include "dtensor/ops.h"
#include "ops/class_rows.h"

#include <math.h>

/* The same call with the sum as its reduction, and the outputs that only gradients use. */
static dt_status run_sum(const dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_arg args[DT__MAX_ARGS];
    dt__call sum;
    const dt__op_info *info = dt__op_find(call->ctx, call->name);
    const int reduction = (int)(dt__arg_at(call, DT__LOSS_REDUCTION) - call->args);
    if (!info)
        return dt_error_status(call->ctx);
    for (int i = 0; i < call->n_args; i++)
        args[i] = call->args[i];
    args[reduction].as.text = "sum";
    dt__call_init(&sum, call->ctx, call->overload, args);
    sum.info = info;
    for (int i = 0; i < call->n_inputs; i++)
        sum.inputs[sum.n_inputs++] = inputs[i];
    dt_status status = dt__dispatch_with_saved(call->ctx, &sum);
    for (int o = 0; status == DT_OK && o < sum.n_outputs; o++)
        outputs[o] = sum.outputs[o];
    dt__call_end(&sum);
    return status;
}

/* The weights of all targets, or their number. The clamp, which leaves the number as it is, needs its value: the ranks
 * reduce it there, once. */
static dt_tensor *total_of(const dt_op_call *call, dt_tensor *target, dt_tensor *weight) {
    dt_dtype dtype = dt__loss_dtype(call->inputs[0].dtype);
    dt_tensor *counts = dt_ne_scalar(target, dt__loss_ignored(call)), *sum;
    if (weight) {
        dt_tensor *index = dt_flatten(dt_mul(target, counts));
        sum = dt_sum(dt_mul(dt_to(dt_index_select(weight, 0, index), DT_F64), dt_flatten(counts)));
    } else
        sum = dt_sum(counts);
    return dt_to(dt_clamp(dt_to(sum, DT_F64), .min = DT_NUMBER(-INFINITY)), dtype);
}

dt_status dt__class_mean(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_arg *weight = dt__arg_at(call, DT__LOSS_WEIGHT);
    dt_tensor *made[3] = {NULL};
    dt_dtype dtype = call->inputs[0].dtype;
    if (dt__loss_reduction(call) != 'm' || dt__loss_of_probabilities(call) || dt__loss_dtype(dtype) != dtype)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "only a mean of classes in f32 or f64 is decomposed");
    DT__TRY(run_sum(call, inputs, made));
    dt_tensor *total = total_of(call, inputs[1], weight->type == DT_ARG_TENSOR ? inputs[weight->as.first] : NULL);
    dt_tensor *divisor = total ? dt_masked_fill(total, dt_eq_scalar(total, 0), NAN) : NULL;
    outputs[0] = divisor ? dt_div(made[0], divisor) : NULL;
    for (int o = 1; o < call->n_outputs; o++)
        outputs[o] = o == call->n_outputs - 1 ? total : made[o];
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}
