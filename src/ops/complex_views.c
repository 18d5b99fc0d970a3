/* SPDX-License-Identifier: Apache-2.0
 *
 * Complex numbers as pairs of real ones, and pairs as complex numbers: views, whose last dim of two is not sharded.
 * Sums and averages of complex numbers are those of their parts.
 */
#include "base/dtype.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

static dt_status shape_as_real(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    dt__shape shape = {.n = self->n_dims};
    if (!dt__is_complex(self->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected complex numbers, got %s", dt_dtype_name(self->dtype));
    if (shape.n == DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than %d dims", DT_SPEC_MAX_DIMS);
    memcpy(shape.sizes, self->shape, (size_t)self->n_dims * sizeof *shape.sizes);
    shape.sizes[shape.n++] = 2;
    return dt__add_shape(call, self->dtype == DT_C128 ? DT_F64 : DT_F32, &shape);
}

static dt_status as_real(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    int64_t *strides = dt__view_strides(call, 0);
    for (int d = 0; d < self->n_dims; d++)
        strides[d] = 2 * self->strides[d];
    strides[self->n_dims] = 1;
    call->outputs[0].data = self->data;
    return DT_OK;
}

static dt_status shape_as_complex(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    if (self->dtype != DT_F32 && self->dtype != DT_F64)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected f32 or f64, got %s", dt_dtype_name(self->dtype));
    if (self->n_dims == 0 || self->shape[self->n_dims - 1] != 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a last dim of size 2, the real and the imaginary part");
    return dt_op_add_output(call, self->dtype == DT_F64 ? DT_C128 : DT_C64, self->n_dims - 1, self->shape);
}

/* A pair has to be in one piece, where a complex number may begin. */
static dt_status as_complex(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    int64_t *strides = dt__view_strides(call, 0);
    bool fits = self->strides[self->n_dims - 1] == 1 && (uintptr_t)self->data % (2 * dt_dtype_size(self->dtype)) == 0;
    for (int d = 0; d < self->n_dims - 1 && fits; d++)
        fits = self->shape[d] <= 1 || self->strides[d] % 2 == 0;
    call->needs_copy = !fits && dt__elements(self->n_dims, self->shape) > 0;
    for (int d = 0; d < self->n_dims - 1; d++)
        strides[d] = self->strides[d] / 2;
    call->outputs[0].data = self->data;
    return DT_OK;
}

const dt_op dt__op_view_as_real = {
    .schema = "view_as_real(Tensor(a) self) -> Tensor(a)",
    .summary = "The real and the imaginary parts of complex numbers as a new last dim, as a view.",
    .rule = "... -> ...c",
    .partial = DT_PARTIAL_LINEAR,
    .shape = shape_as_real,
    .kernel = as_real,
    .gradient = "self: view_as_complex(grad)",
    .samples = "view_as_real(c64[5,3])\nview_as_real(c128[])\nview_as_real(c64[0,3])",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_view_as_complex = {
    .schema = "view_as_complex(Tensor(a) self) -> Tensor(a)",
    .summary = "The last dim, of real and imaginary parts, as complex numbers, as a view.",
    .rule = "...c! -> ...",
    .partial = DT_PARTIAL_LINEAR,
    .shape = shape_as_complex,
    .kernel = as_complex,
    .gradient = "self: view_as_real(grad)",
    .samples = "view_as_complex(f32[5,3,2])\nview_as_complex(f64[2])\nview_as_complex(f32[0,2])",
    .flags = DT_OP_VIEW,
};
