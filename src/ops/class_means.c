/* SPDX-License-Identifier: Apache-2.0
 *
 * The loss is called again with another reduction, which sends nothing where rows are sharded, and makes what the
 * gradient needs. The ranks meet for the sum of weights, with one number each.
 */
#include "ops/class_means.h"

#include "dispatch/dispatch.h"
#include "dtensor/ops.h"
#include "ops/class_rows.h"

#include <math.h>

/* The call with the sum as its reduction, and the outputs that only gradients use. */
static dt_status run_sum(const dt_op_call *call, dt_tensor *input, dt_tensor *target, dt_tensor *weight,
                         dt_tensor **outputs) {
    dt_arg args[DT__MAX_ARGS];
    dt__call sum;
    const dt__op_info *info = dt__op_find(call->ctx, call->name);
    if (!info)
        return dt_error_status(call->ctx);
    for (int i = 0; i < call->n_args; i++)
        args[i] = call->args[i];
    args[dt__arg_at(call, DT__LOSS_REDUCTION) - call->args].as.text = "sum";
    dt__call_init(&sum, call->ctx, call->overload, args);
    sum.info = info;
    sum.inputs[sum.n_inputs++] = input;
    sum.inputs[sum.n_inputs++] = target;
    if (weight) {
        args[dt__arg_at(call, DT__LOSS_WEIGHT) - call->args] =
            (dt_arg){.type = DT_ARG_TENSOR, .n = 1, .as.first = sum.n_inputs};
        sum.inputs[sum.n_inputs++] = weight;
    }
    dt_status status = dt__dispatch_with_saved(call->ctx, &sum);
    for (int o = 0; status == DT_OK && o < sum.n_outputs; o++)
        outputs[o] = sum.outputs[o];
    dt__call_end(&sum);
    return status;
}

/* Half precision rounds a sum, or overflows: there the weights are divided by the total, in f64, so that the sum is the
 * mean, except where it is NaN because no target counts. */
static dt_tensor *divided_weights(const dt_op_call *call, dt_tensor *weight, dt_tensor *total) {
    const int64_t n_classes = call->inputs[0].shape[dt__class_dim(&call->inputs[0])];
    dt_tensor *ones =
        weight ? NULL : dt_ones(call->ctx, DT_SHAPE(n_classes), .dtype = DT_F64, .mesh = dt_tensor_mesh(total));
    return dt_div(weight ? dt_to(weight, DT_F64) : ones, total);
}

dt_status dt__class_mean(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_arg *weight_arg = dt__arg_at(call, DT__LOSS_WEIGHT);
    dt_tensor *made[3] = {NULL}, *weight = weight_arg->type == DT_ARG_TENSOR ? inputs[weight_arg->as.first] : NULL;
    const dt_dtype dtype = call->inputs[0].dtype, wide = dt__loss_dtype(dtype);
    if (dt__loss_reduction(call) != 'm' || dt__loss_of_probabilities(call))
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "only a mean of classes is decomposed");
    dt_tensor *total = dt_class_total(inputs[1], .weight = weight, .ignore_index = DT_INT(dt__loss_ignored(call)));
    dt_tensor *divisor = total ? dt_masked_fill(total, dt_eq_scalar(total, 0), NAN) : NULL;
    if (!divisor)
        return dt_error_status(call->ctx);
    if (dtype != wide) {
        weight = divided_weights(call, weight, total);
        divisor = dt_div(divisor, divisor);
    }
    DT__TRY(run_sum(call, inputs[0], inputs[1], weight, made));
    outputs[0] = dt_div(made[0], dt_to(divisor, dtype));
    for (int o = 1; o < call->n_outputs; o++)
        outputs[o] = o == call->n_outputs - 1 ? dt_to(total, wide) : made[o];
    return dt_failed(call->ctx) ? dt_error_status(call->ctx) : DT_OK;
}
