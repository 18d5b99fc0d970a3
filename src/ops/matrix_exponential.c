/* SPDX-License-Identifier: Apache-2.0
 *
 * The exponential of square matrices, computed in f64 or c128. Its gradient is the upper right block of an exponential
 * of twice the size.
 */
#include "dtensor/ops.h"
#include "ops/matrix_batches.h"
#include "ops/ops.h"

static dt_status shape_exp(dt_op_call *call) {
    DT__TRY(dt__expect_square(call, 0));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static int exponentiate(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    dt__matrix_exp(self->operands[0].rows, dt__is_complex(self->operands[0].dtype), items[0], work->memory);
    return 0;
}

static dt_status matrix_exp(dt_op_call *call) {
    const bool is_complex = dt__is_complex(call->inputs[0].dtype);
    dt__matrix_batch batch = {.call = call, .n_operands = 1, .run = exponentiate};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], &call->outputs[0], 2);
    batch.operands[0].dtype = is_complex ? DT_C128 : DT_F64;
    batch.operands[0].by_rows = true;
    batch.work.bytes = dt__matrix_exp_bytes(batch.operands[0].rows, is_complex);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    return dt__matrix_batch_run(&batch, NULL);
}

/* exp([[Aᴴ, g], [0, Aᴴ]]) is [[exp(Aᴴ), gA], [0, exp(Aᴴ)]]. */
static dt_status exp_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const int64_t n = dt__matrix_rows(&call->call->inputs[0]);
    dt_tensor *a = dt__adjoint(call->inputs[0]), *grad = call->grads[0];
    dt_tensor *above = dt_cat(DT_TENSORS(a, grad), .dim = DT_INT(-1));
    dt_tensor *below = dt_cat(DT_TENSORS(dt_zeros_like(a), a), .dim = DT_INT(-1));
    dt_tensor *both = dt_matrix_exp(dt_cat(DT_TENSORS(above, below), .dim = DT_INT(-2)));
    input_grads[0] = dt_narrow(dt_narrow(both, -2, 0, n), -1, n, n);
    return dt__made_or_error(call->call, input_grads[0]);
}

#define EXPONENTIAL(name)                                                                                            \
    .schema = name "(Tensor self) -> Tensor", .rule = "...m!n! -> ...mn", .shape = shape_exp, .kernel = matrix_exp,  \
    .backward = exp_backward, .saves = "self", .samples = name "(f32[2,3,3])\n" name "(f32[4,4])"

const dt_op dt__op_matrix_exp = {EXPONENTIAL("matrix_exp"), .summary = "The exponential of square matrices."};
const dt_op dt__op_linalg_matrix_exp = {EXPONENTIAL("linalg_matrix_exp"), .summary = "As matrix_exp."};
