/* SPDX-License-Identifier: Apache-2.0
 *
 * The gradient of cumprod. With y[i] = x[0] … x[i] and g the gradient of y, that of x[k] is
 *
 *     x[0] … x[k-1] s[k],  s[k] = g[k] + x[k+1] s[k+1]
 *
 * without a division, so that zeros are elements like others. The dim must be whole: products come from its beginning,
 * and sums from its end.
 */
#include "ops/kernel_support.h"
#include "ops/ops.h"

static int dim_of(const dt_op_call *call) { return dt__wrap_dim(dt__arg_at(call, 0)->as.i, call->outputs[0].n_dims); }

static dt_status shape_cumprod(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0], *self = &call->inputs[1];
    dt_dtype dtype = dt__promote(grad->dtype, self->dtype);
    int ignored;
    bool same = grad->n_dims == self->n_dims;
    for (int d = 0; d < grad->n_dims && same; d++)
        same = grad->shape[d] == self->shape[d];
    if (!same)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the gradient and the tensor differ in shape");
    if (!dt__is_float(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected floating point, got %s", dt_dtype_name(dtype));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, 0)->as.i, grad->n_dims, &ignored));
    return dt__add_like(call, 0, dtype);
}

/* An array with the dim behind all others, and its shape. */
typedef struct turned {
    int64_t shape[DT_SPEC_MAX_DIMS + 1], strides[DT_SPEC_MAX_DIMS + 1];
    dt__array array;
} turned;

static void turn(const dt_op_value *value, int dim, turned *out) {
    int n = 0;
    for (int d = 0; d < value->n_dims; d++)
        if (d != dim) {
            out->shape[n] = value->shape[d];
            out->strides[n++] = value->strides[d];
        }
    out->shape[n] = value->n_dims ? value->shape[dim] : 1;
    out->strides[n++] = value->n_dims ? value->strides[dim] : 1;
    out->array = (dt__array){value->data, value->dtype, n, out->shape, out->strides};
}

/* One row; the gradient becomes the result. */
static void cumprod_row(int64_t n, double *grad, const double *x) {
    double product = 1;
    for (int64_t k = n - 2; k >= 0; k--)
        grad[k] += x[k + 1] * grad[k + 1];
    for (int64_t k = 0; k < n; k++) {
        grad[k] *= product;
        product *= x[k];
    }
}

static dt_status cumprod(dt_op_call *call) {
    turned grad, x, out;
    dt__scratch wide[2];
    int dim = dim_of(call);
    turn(&call->inputs[0], dim, &grad);
    turn(&call->inputs[1], dim, &x);
    turn(&call->outputs[0], dim, &out);
    DT__TRY(dt__scratch_new(call, DT_F64, grad.array.n_dims, grad.shape, &wide[0]));
    dt_status status = dt__scratch_new(call, DT_F64, x.array.n_dims, x.shape, &wide[1]);
    if (status == DT_OK) {
        int64_t size = grad.shape[grad.array.n_dims - 1], n = dt__array_count(&grad.array);
        double *sums = wide[0].array.data;
        const double *factors = wide[1].array.data;
        dt__run_convert(call, &wide[0].array, &grad.array);
        dt__run_convert(call, &wide[1].array, &x.array);
        for (int64_t first = 0; first < n; first += size)
            cumprod_row(size, sums + first, factors + first);
        dt__run_convert(call, &out.array, &wide[0].array);
        dt__scratch_free(call, &wide[1]);
    }
    dt__scratch_free(call, &wide[0]);
    return status;
}

const dt_op dt__op_cumprod_backward = {
    .schema = "cumprod_backward(Tensor grad, Tensor self, int dim) -> Tensor",
    .summary = "The gradient of cumprod.",
    .rule = "...[dim!], ...[dim] -> ...[dim]",
    .partial = DT_PARTIAL_FIRST,
    .arguments = "dim",
    .shape = shape_cumprod,
    .kernel = cumprod,
    .samples = "cumprod_backward(f32[5,3]; f32[5,3]; 0)\ncumprod_backward(f32[2,5,3]; f32[2,5,3]; -1)",
};
