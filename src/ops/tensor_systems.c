/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear systems and inverses of tensors whose dims are in two groups of as many elements: each group is one dim of a
 * square matrix.
 */
#include "dtensor/ops.h"
#include "ops/matrix_batches.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* The dims of the matrix in their order: those that `last` lists are moved to the end. */
typedef struct order {
    int n;
    int64_t dims[DT_SPEC_MAX_DIMS];
} order;

static dt_status read_order(const dt_op_call *call, const dt_arg *last, order *out) {
    const int n = call->inputs[0].n_dims;
    uint32_t moved = 0;
    out->n = 0;
    for (int i = 0; i < last->n && last->type == DT_ARG_INTS; i++) {
        int dim;
        DT__TRY(dt__read_dim(call, last->as.ints[i], n, &dim));
        if (moved >> dim & 1)
            return dt_op_refuse(call, DT_ERR_VALUE, "dims: dim %d is there twice", dim);
        moved |= (uint32_t)1 << dim;
    }
    for (int d = 0; d < n; d++)
        if (!(moved >> d & 1))
            out->dims[out->n++] = d;
    for (int i = 0; i < last->n && last->type == DT_ARG_INTS; i++)
        out->dims[out->n++] = dt__wrap_dim(last->as.ints[i], n);
    return DT_OK;
}

static dt_status expect_numbers(const dt_op_call *call) {
    const dt_dtype dtype = call->inputs[0].dtype;
    return dt__is_inexact(dtype) && !dt__is_half(dtype)
               ? DT_OK
               : dt_op_refuse(call, DT_ERR_DTYPE, "expected f32, f64, c64 or c128, got %s", dt_dtype_name(dtype));
}

/* The result has the dims after as many as the right side has. */
static dt_status shape_tensorsolve(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    dt__shape shape = {.n = 0};
    order of;
    DT__TRY(expect_numbers(call));
    if (a->dtype != b->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected tensors of one dtype, got %s and %s",
                            dt_dtype_name(a->dtype), dt_dtype_name(b->dtype));
    DT__TRY(read_order(call, dt__arg_at(call, 0), &of));
    for (int i = b->n_dims; i < of.n; i++)
        shape.sizes[shape.n++] = a->shape[of.dims[i]];
    const int64_t n = dt__elements(b->n_dims, b->shape), m = dt__elements(shape.n, shape.sizes);
    if (dt__elements(a->n_dims, a->shape) != n * m || n != m)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "expected a tensor with the dims of the right side, of %" PRId64
                            " elements, and further dims of as many, got %" PRId64 " of %" PRId64 " elements",
                            n, m, dt__elements(a->n_dims, a->shape));
    return dt__add_shape(call, a->dtype, &shape);
}

static dt_status decompose_tensorsolve(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *out = &call->outputs[0];
    const int64_t n = dt__elements(out->n_dims, out->shape);
    order of;
    DT__TRY(read_order(call, dt__arg_at(call, 0), &of));
    dt_tensor *matrix = dt_reshape(dt_permute(inputs[0], ((dt_dims){.n = of.n, .list = of.dims})), DT_SHAPE(n, n));
    dt_tensor *x = dt_linalg_solve(matrix, dt_reshape(inputs[1], DT_SHAPE(n)));
    outputs[0] = dt_reshape(x, ((dt_shape){out->n_dims, out->shape}));
    return dt__made_or_error(call, outputs[0]);
}

/* The first `ind` dims and the others, swapped. */
static dt_status shape_tensorinv(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    const int64_t ind = dt__arg_at(call, 0)->as.i;
    DT__TRY(expect_numbers(call));
    if (ind <= 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "ind: expected a positive number, got %" PRId64, ind);
    const int first = ind < a->n_dims ? (int)ind : a->n_dims;
    dt__shape shape = {.n = a->n_dims};
    for (int d = 0; d < a->n_dims; d++)
        shape.sizes[d] = a->shape[(d + first) % a->n_dims];
    const int64_t n = dt__elements(first, a->shape), m = dt__elements(a->n_dims - first, a->shape + first);
    if (n != m)
        return dt_op_refuse(
            call, DT_ERR_SHAPE,
            "the first %d dims and the others: expected as many elements, got %" PRId64 " and %" PRId64, first, n, m);
    return dt__add_shape(call, a->dtype, &shape);
}

static dt_status decompose_tensorinv(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *a = &call->inputs[0], *out = &call->outputs[0];
    const int64_t n = dt__elements((int)dt__min_i64(dt__arg_at(call, 0)->as.i, a->n_dims), a->shape);
    dt_tensor *inverse = dt_linalg_inv(dt_reshape(inputs[0], DT_SHAPE(n, n)));
    outputs[0] = dt_reshape(inverse, ((dt_shape){out->n_dims, out->shape}));
    return dt__made_or_error(call, outputs[0]);
}

const dt_op dt__op_linalg_tensorsolve = {
    .schema = "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    .summary = "X with tensordot(A, X) = B, where A has the dims of B and then those of X.",
    .arguments = "dims",
    .shape = shape_tensorsolve,
    .decompose = decompose_tensorsolve,
    .samples = "linalg_tensorsolve(f32[2,2,4]; f32[2,2])\nlinalg_tensorsolve(f32[2,3,6]; f32[6]; [0,1])",
};
const dt_op dt__op_linalg_tensorinv = {
    .schema = "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
    .summary = "The inverse of tensordot(A, X) in X, where the first `ind` dims of A are those of the product.",
    .arguments = "ind",
    .shape = shape_tensorinv,
    .decompose = decompose_tensorinv,
    .samples = "linalg_tensorinv(f32[2,2,4])\nlinalg_tensorinv(f32[4,2,2]; 1)",
};
