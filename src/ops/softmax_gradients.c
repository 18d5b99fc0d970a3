/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of softmax and of its logarithm, from their result. Where the dim is sharded the ranks meet: they add the
 * sums of their shards of the rows.
 */
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "ops/states.h"

enum { DIM, DTYPE };

static dt_status shape_gradient(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0], *result = &call->inputs[1];
    dt_dtype dtype = dt__arg_at(call, DTYPE)->as.dtype;
    bool same = grad->n_dims == result->n_dims;
    int ignored;
    for (int d = 0; d < grad->n_dims && same; d++)
        same = grad->shape[d] == result->shape[d];
    if (!same)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the gradient and the output: expected one shape");
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    DT__TRY(dt__expect_floating(call, 1));
    if (!dt__is_float(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "input_dtype: expected a floating-point dtype, got %s",
                            dt_dtype_name(dtype));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, grad->n_dims, &ignored));
    return dt__add_like(call, 0, dtype);
}

static int dim_of(const dt_op_call *call) {
    return dt__wrap_dim(dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims);
}
static uint32_t dims_of(const dt_op_call *call) { return (uint32_t)1 << dim_of(call); }

static dt_status run(const dt_op_call *call, const dt__array *out, const dt__array *sums) {
    dt__array grad = dt__array_of(&call->inputs[0]), result = dt__array_of(&call->inputs[1]);
    dt__softmax_grads_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                          &(dt__softmax_grads){.grad = &grad,
                                               .result = &result,
                                               .dim = dim_of(call),
                                               .is_log = call->op == &dt__op__log_softmax_backward_data,
                                               .out = out,
                                               .sums = sums});
    return DT_OK;
}

static dt_status gradient(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]);
    return run(call, &out, NULL);
}

static void describe(const dt_op_call *call, dt_state *state) {
    dt__statistics_describe(call, DT__SQUARES, dims_of(call), state);
}

static dt_status begin(dt_op_call *call, const dt_state *state) {
    dt__reduced sums;
    dt__state_array(call, dims_of(call), &state->fields[0], &sums);
    return run(call, NULL, &sums.array);
}

static void merge(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    dt__statistics_meet(call, DT__SQUARES, into, next);
}

static dt_status finish(dt_op_call *call, const dt_state *merged) {
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__reduced sums;
    dt__state_array(call, dims_of(call), &merged->fields[0], &sums);
    return run(call, &out, &sums.array);
}

static const dt_meet meet = {describe, begin, merge, finish};

const dt_op dt__op__softmax_backward_data = {
    .schema = "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    .summary = "The gradient of softmax, from its output.",
    .rule = "...[dim~], ...[dim~] -> ...[dim]",
    .partial = DT_PARTIAL_FIRST,
    .arguments = "dim,input_dtype",
    .shape = shape_gradient,
    .kernel = gradient,
    .meet = &meet,
    .gradient = "grad_output: output * (grad - sum(grad * output, dim, true)); "
                "output: grad * (grad_output - sum(grad_output * output, dim, true)) - "
                "grad_output * sum(grad * output, dim, true)",
    .samples = "_softmax_backward_data(f32[5,3]; f32[5,3]; 1; f32)\n"
               "_softmax_backward_data(f32[2,5,3]; f32[2,5,3]; -2; f32)\n"
               "_softmax_backward_data(f32[5,3]; f32[5,3]; 0; f16)\n_softmax_backward_data(f32[]; f32[]; 0; f32)",
};
const dt_op dt__op__log_softmax_backward_data = {
    .schema =
        "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    .summary = "The gradient of log_softmax, from its output.",
    .rule = "...[dim~], ...[dim~] -> ...[dim]",
    .partial = DT_PARTIAL_FIRST,
    .arguments = "dim,input_dtype",
    .shape = shape_gradient,
    .kernel = gradient,
    .meet = &meet,
    .gradient = "grad_output: grad - sum(grad * exp(output), dim, true); "
                "output: -grad * exp(output) * sum(grad_output, dim, true)",
    .samples = "_log_softmax_backward_data(f32[5,3]; f32[5,3]; 1; f32)\n"
               "_log_softmax_backward_data(f32[2,5,3]; f32[2,5,3]; -2; f32)\n"
               "_log_softmax_backward_data(f32[5,3]; f32[5,3]; 0; f16)",
};
