/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of the dims of outputs in memory. An op that keeps the order of its inputs states it by their strides
 * (dt_op.order). That happens twice: by the specs of the inputs, which all ranks know, for the spec of the output; and
 * by the strides of this rank's tensors, which views have changed and plain tensors have only there, for its memory.
 * Sizes are global both times. A call whose inputs are all row-major has none of this.
 */
#include "dispatch/dispatch_state.h"

#include <string.h>

const int *dt__spec_order_of_output(const dt__call *call, const dt__decision *decision, int i, int *order) {
    dt_op_value values[DT__FEW_TENSORS];
    dt_op_call of = call->op_call;
    bool is_permuted = false;
    if (!of.op->order || call->n_inputs > DT__FEW_TENSORS)
        return NULL;
    for (int k = 0; k < call->n_inputs; k++) {
        values[k] = call->values[k];
        values[k].strides = decision->inputs[k].from->strides;
        is_permuted = is_permuted || decision->inputs[k].from->is_permuted;
    }
    of.inputs = values;
    return is_permuted && of.op->order(&of, i, order) ? order : NULL;
}

/* Those of the spec, unless the tensor is a view: of a shard of size 1 strides tell less. */
static const int64_t *strides_of(const dt_tensor *of) {
    const bool as_spec = of->spec && of->spec->local.n_dims == of->n_dims &&
                         !memcmp(of->strides, of->spec->local.strides, (size_t)of->n_dims * sizeof *of->strides);
    return as_spec ? of->spec->strides : of->strides;
}

void dt__order_outputs(const dt__call *call, const dt__decision *decision) {
    dt_op_value inputs[DT__FEW_TENSORS], outputs[DT__FEW_TENSORS];
    int order[DT_SPEC_MAX_DIMS];
    dt_op_call of = call->op_call;
    const bool has_memory = call->n_inputs <= DT__FEW_TENSORS && decision->n_outputs <= DT__FEW_TENSORS;
    if (!of.op->order || !has_memory || (decision->windowed && dt__windowed_is_result(decision->windowed)))
        return;
    for (int k = 0; k < call->n_inputs; k++) {
        const dt_tensor *from = call->inputs[k];
        inputs[k] = (dt_op_value){
            .dtype = from->dtype, .n_dims = from->n_dims, .shape = from->shape, .strides = strides_of(from)};
    }
    for (int i = 0; i < decision->n_outputs; i++) {
        const dt__output_decision *to = &decision->outputs[i];
        outputs[i] = (dt_op_value){.dtype = to->dtype, .n_dims = to->n_dims, .shape = to->shape};
    }
    of.inputs = inputs;
    of.outputs = outputs;
    for (int i = 0; i < decision->n_outputs; i++)
        if (decision->outputs[i].input < 0 && call->outputs[i]->local_n_dims == outputs[i].n_dims &&
            of.op->order(&of, i, order))
            dt__tensor_set_order(call->outputs[i], order);
}
