/* SPDX-License-Identifier: Apache-2.0
 *
 * item: the only element of a tensor, as a number. Tools run it as an op whose result has no dims; dt_item, which
 * returns the number itself, is in src/move. A value that is read is on every rank, so there are no rows.
 */
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

static dt_status shape_item(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t n = 0;
    if (!dt__product(input->n_dims, input->shape, 1, &n) || n != 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected 1 element, got %" PRId64, n);
    return dt_op_add_output(call, input->dtype, 0, NULL);
}

static dt_status item(dt_op_call *call) {
    memcpy(call->outputs[0].data, call->inputs[0].data, dt_dtype_size(call->inputs[0].dtype));
    return DT_OK;
}

const dt_op dt__op_item = {
    .schema = "item(Tensor self) -> Scalar",
    .summary = "The only element of a tensor, as a number.",
    .shape = shape_item,
    .kernel = item,
    .samples = "item(f32[])\nitem(f32[1,1])\nitem(i64[1])",
    .flags = DT_OP_NOT_DIFFERENTIABLE,
};
