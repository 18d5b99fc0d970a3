/* SPDX-License-Identifier: Apache-2.0
 *
 * The lower and the upper triangle of matrices. Rows and columns may be sharded: a rank reads the offset of its shard.
 */
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

static dt_status shape_triangle(dt_op_call *call) {
    if (call->inputs[0].n_dims < 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at least 2 dims, got %d", call->inputs[0].n_dims);
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static dt_status run_triangle(dt_op_call *call, bool upper) {
    const dt_op_value *input = &call->inputs[0];
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(input);
    int n = in.n_dims;
    dt__triangle_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                     &(dt__triangle){&in, &out, upper, call->args[1].as.i, input->offset ? input->offset[n - 2] : 0,
                                     input->offset ? input->offset[n - 1] : 0});
    return DT_OK;
}

static dt_status tril(dt_op_call *call) { return run_triangle(call, false); }
static dt_status triu(dt_op_call *call) { return run_triangle(call, true); }

#define TRIANGLE(name, run)                                                                                          \
    .schema = name "(Tensor self, int diagonal=0) -> Tensor", .rule = "...m@n@ -> ...mn", .partial = DT_PARTIAL_ANY, \
    .shape = shape_triangle, .kernel = run, .gradient = "self: " name "(grad, diagonal)",                            \
    .samples = name "(f32[5,3])\n" name "(f32[2,5,3]; -1)\n" name "(i64[5,3]; 1)"

const dt_op dt__op_tril = {TRIANGLE("tril", tril), .summary = "Elements on and below a diagonal, 0 elsewhere."};
const dt_op dt__op_tril_ = {.in_place_of = &dt__op_tril};
const dt_op dt__op_triu = {TRIANGLE("triu", triu), .summary = "Elements on and above a diagonal, 0 elsewhere."};
const dt_op dt__op_triu_ = {.in_place_of = &dt__op_triu};
