/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that are about complex numbers. The conjugate is linear over the real numbers; conjugates and signs of products
 * are the products of conjugates and signs. The gradient of a real loss by a complex tensor has the derivatives by the
 * real and by the imaginary parts as its parts, so gradients multiply by conjugates (docs/gradients.md).
 */
#include "ops/complex_ops.h"

#include "dtensor/ops.h"
#include "ops/op_families.h"
#include "ops/ops.h"

dt_tensor *dt__conjugate(dt_tensor *tensor) {
    return tensor && dt__is_complex(dt_tensor_dtype(tensor)) ? dt_conj(tensor) : tensor;
}

static dt_status shape_same(dt_op_call *call) { return dt__add_like(call, 0, call->inputs[0].dtype); }

/* Real numbers are their own conjugates; complex ones have no order. */
static unsigned partial_of_conj(const dt_op_call *call) {
    return dt__is_complex(call->inputs[0].dtype) ? DT_PARTIAL_LINEAR | DT_PARTIAL_PRODUCT : DT_PARTIAL_ANY;
}

static dt_status conjugate(dt_op_call *call) {
    const dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    return dt__run_conjugate(call, &out, &in);
}

const dt_op dt__op_conj = {
    .schema = "conj(Tensor self) -> Tensor",
    .summary = "The complex conjugate of every element; of real numbers a copy.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .partial_of = partial_of_conj,
    .shape = shape_same,
    .kernel = conjugate,
    .gradient = "self: conj(grad)",
    .samples = "conj(f32[5,3])\nconj(c64[5,3])\nconj(c128[])\nconj(i64[4])\nconj(bool[4])",
};

dt_status dt__refuse_complex_in_place(const dt_op_call *call) {
    return call->op->in_place_of ? dt__refuse_complex(call) : DT_OK;
}

/* Integers are ordered by their signs; the sign of NaN, which is a maximum and a minimum, is 0. */
static unsigned partial_of_sgn(const dt_op_call *call) {
    return dt__is_inexact(call->inputs[0].dtype) ? DT_PARTIAL_PRODUCT : DT_PARTIAL_UP;
}

/* The magnitudes by which elements are divided: that of 0, which is its own sign, is 1. */
static void replace_zeros(const dt__array *magnitudes) {
    const size_t size = dt_dtype_size(magnitudes->dtype);
    unsigned char *at = magnitudes->data;
    for (int64_t i = dt__elements(magnitudes->n_dims, magnitudes->shape); i > 0; i--, at += size)
        if (dt__element_read(magnitudes->dtype, at).re == 0)
            dt__element_write(magnitudes->dtype, (dt__element){.re = 1}, at);
}

static dt_status sgn(dt_op_call *call) {
    const dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    dt__scratch magnitudes;
    if (!dt__is_complex(out.dtype))
        return dt__unary_run(call);
    DT__TRY(dt__scratch_new(call, out.dtype, out.n_dims, out.shape, &magnitudes));
    dt_status status = dt__run_elements(call, DT__EL_ABS, out.dtype, &magnitudes.array, &in, NULL, NULL);
    if (status == DT_OK) {
        replace_zeros(&magnitudes.array);
        status = dt__run_elements(call, DT__EL_DIV, out.dtype, &out, &in, &magnitudes.array, NULL);
    }
    dt__scratch_free(call, &magnitudes);
    return status;
}

/* With s the sign of z, only what is at right angles to z changes it: (grad - s Re(conj(s) grad)) / |z|, 0 at 0. */
static dt_tensor *complex_sgn_gradient(dt_tensor *grad, dt_tensor *z, dt_tensor *s) {
    dt_tensor *along = dt_mul(dt_conj(s), grad), *real = dt_mul_scalar(dt_add(along, dt_conj(along)), 0.5);
    dt_tensor *across = dt_sub(grad, dt_mul(s, real)), *is_zero = dt_eq_scalar(z, 0);
    return dt_div(dt_mul(across, dt_logical_not(is_zero)), dt_add(dt_abs(z), is_zero));
}

static dt_status sgn_gradient(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *grad = call->grads[0];
    input_grads[0] = dt__is_complex(call->call->inputs[0].dtype)
                         ? complex_sgn_gradient(grad, call->inputs[0], call->outputs[0])
                         : dt_zeros_like(grad);
    return input_grads[0] ? DT_OK : dt_error_status(call->call->ctx);
}

const dt_op dt__op_sgn = {
    .schema = "sgn(Tensor self) -> Tensor",
    .summary = "The sign of every element: -1, 0 or 1; of a complex number z, z / |z|, or 0.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .partial_of = partial_of_sgn,
    .check = dt__refuse_complex_in_place,
    .shape = shape_same,
    .kernel = sgn,
    .family = &(const dt__element_family){DT__EL_SIGN, 0, {0}},
    .backward = sgn_gradient,
    .saves = "self,result",
    .samples = "sgn(f32[5,3])\nsgn(f64[])\nsgn(f32[0,3])\nsgn(c64[5])",
};
/* Of real numbers only. */
const dt_op dt__op_sgn_ = {.in_place_of = &dt__op_sgn, .gradient = "self: grad * 0", .samples = "sgn_(f32[5,3])"};
