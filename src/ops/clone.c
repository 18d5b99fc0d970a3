/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense, row-major copies: clone, and contiguous, which copies only what is not dense. Whether a local tensor is dense
 * is the rank's own matter: no rank waits for another.
 */
#include "ops/kernel_support.h"
#include "ops/ops.h"

static dt_status shape_same(dt_op_call *call) { return dt__add_like(call, 0, call->inputs[0].dtype); }

static dt_status clone(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    dt__run_convert(call, &out, &in);
    return DT_OK;
}

/* The strides of the view are dense already. */
static dt_status contiguous(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    call->needs_copy = !dt__is_dense(input->n_dims, input->shape, input->strides);
    call->outputs[0].data = input->data;
    return DT_OK;
}

const dt_op dt__op_clone = {
    .schema = "clone(Tensor self) -> Tensor",
    .summary = "A copy with its own memory, dense and row-major.",
    .rule = "... -> ...",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_same,
    .kernel = clone,
    .gradient = "self: grad",
    .samples = "clone(f32[5,3])\nclone(i64[4])\nclone(bool[])\nclone(c64[3,2])",
    .flags = DT_OP_AS_STORED,
};
const dt_op dt__op_contiguous = {
    .schema = "contiguous(Tensor(a) self) -> Tensor(a)",
    .summary = "The same elements, dense and row-major: a view where they are already, otherwise a copy.",
    .rule = "... -> ...",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_same,
    .kernel = contiguous,
    .gradient = "self: grad",
    .samples = "contiguous(f32[5,3])\ncontiguous(f32[])",
    .flags = DT_OP_VIEW,
};
