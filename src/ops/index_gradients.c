/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of embedding, gather and index_select: rows or elements of the gradient are added to zeros at their
 * indices, in order where indices are equal. Where indices are sharded the results are partial sums; along a sharded
 * dim of the result each rank adds what belongs to its shard.
 */
#include "kernels/kernels.h"
#include "ops/add_at_indices.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments. */
enum { SIZES = 0, DIM = 1, NUM_WEIGHTS = 0, PADDING_IDX = 1, SCALE = 2 };

static dt_status shape_embedding(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0], *indices = &call->inputs[1];
    DT__TRY(dt__expect_index(call, 1));
    bool fits = grad->n_dims == indices->n_dims + 1;
    for (int d = 0; d < indices->n_dims && fits; d++)
        fits = grad->shape[d] == indices->shape[d];
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "the gradient does not fit the indices: expected their dims and one more");
    if (dt__arg_at(call, SCALE)->as.b)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "scale_grad_by_freq is not supported");
    int64_t n = dt__arg_at(call, NUM_WEIGHTS)->as.i;
    if (n < 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "num_weights: expected at least 0, got %" PRId64, n);
    return dt_op_add_output(call, grad->dtype, 2, (int64_t[]){n, grad->shape[grad->n_dims - 1]});
}

/* The result, of the sizes among the arguments. */
static dt_status shape_sizes(dt_op_call *call) {
    const dt_arg *sizes = dt__arg_at(call, SIZES);
    int dim;
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, sizes->n, &dim));
    DT__TRY(dt__expect_index(call, 1));
    return dt_op_add_output(call, call->inputs[0].dtype, sizes->n, sizes->as.ints);
}

static dt_status shape_gather(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0], *index = &call->inputs[1];
    bool same = grad->n_dims == index->n_dims;
    for (int d = 0; d < grad->n_dims && same; d++)
        same = grad->shape[d] == index->shape[d];
    if (!same)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the gradient and the index differ in shape");
    const dt_arg *sizes = dt__arg_at(call, SIZES);
    if (dt__elements(index->n_dims, index->shape) == 0 && dt__is_integral(index->dtype)) /* as in gather */
        return dt_op_add_output(call, grad->dtype, sizes->n, sizes->as.ints);
    if (sizes->n != grad->n_dims && sizes->n + grad->n_dims != 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "sizes: expected %d, one per dim, got %d", grad->n_dims, sizes->n);
    int dim;
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, sizes->n, &dim));
    for (int d = 0; d < sizes->n && d < index->n_dims; d++)
        if (d != dim && index->shape[d] > sizes->as.ints[d])
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "dim %d of the index: expected size %" PRId64 " at most, got %" PRId64, d,
                                sizes->as.ints[d], index->shape[d]);
    return shape_sizes(call);
}

static dt_status shape_index_select(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0], *index = &call->inputs[1];
    const dt_arg *sizes = dt__arg_at(call, SIZES);
    int64_t n = index->n_dims ? index->shape[0] : 1;
    int dim;
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, sizes->n, &dim));
    bool fits = index->n_dims <= 1 && grad->n_dims == sizes->n;
    for (int d = 0; d < grad->n_dims && fits; d++)
        fits = grad->shape[d] == (d == dim ? n : sizes->as.ints[d]);
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the gradient does not fit the sizes and the index");
    return shape_sizes(call);
}

/* Linear in the gradient; of one index the elements are only moved. */
static void rows_of_grad(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *index = &call->inputs[1];
    dt_rows_linear(rows, 1);
    for (int kind = 0; kind < DT_N_REDUCES && dt__elements(index->n_dims, index->shape) == 1; kind++)
        dt_rows_reduce(rows, 1, (dt_reduce)kind, (dt_reduce)kind);
}

static void fill_zeros(const dt_op_call *call, const dt__array *out) {
    dt__constant constant;
    dt__array zero = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT}, out->dtype, &constant);
    dt__run_convert(call, out, &zero);
}

static dt__indexed indexed_along(const dt_op_value *result, int dim, const dt__array *arrays) {
    bool sharded = result->n_dims && result->shape[dim] != result->global_shape[dim];
    return (dt__indexed){.indexed = &arrays[2],
                         .dim = dim,
                         .index = &arrays[1],
                         .offset = sharded ? result->offset[dim] : 0,
                         .limit = result->n_dims ? result->global_shape[dim] : 1,
                         .other = &arrays[0],
                         .is_new = true};
}

/* The row of the padding index is left at zero. */
static void clear_padding(const dt_op_call *call, const dt__indexed *indexed) {
    const dt_arg *padding = dt__arg_at(call, PADDING_IDX);
    const dt_op_value *result = &call->outputs[0];
    int64_t row = padding->type != DT_ARG_INT ? -1
                  : padding->as.i < 0         ? padding->as.i + indexed->limit
                                              : padding->as.i;
    row -= indexed->offset;
    if (padding->type != DT_ARG_INT || row < 0 || row >= result->shape[0])
        return;
    unsigned char *first =
        (unsigned char *)result->data + row * result->strides[0] * (int64_t)dt_dtype_size(result->dtype);
    fill_zeros(call, &(dt__array){first, result->dtype, 1, result->shape + 1, result->strides + 1});
}

static dt_status embedding(dt_op_call *call) {
    dt__array arrays[] = {dt__array_of(&call->inputs[0]), dt__array_of(&call->inputs[1]),
                          dt__array_of(&call->outputs[0])};
    dt__indexed indexed = indexed_along(&call->outputs[0], 0, arrays);
    fill_zeros(call, &arrays[2]);
    DT__TRY(dt__add_at_indices(call, &indexed, false));
    clear_padding(call, &indexed);
    return DT_OK;
}

/* A tensor without dims is a vector of one element. */
static const int64_t one_size = 1;
static dt__array at_least_one_dim(const dt_op_value *value) {
    dt__array array = dt__array_of(value);
    return array.n_dims ? array : (dt__array){array.data, array.dtype, 1, &one_size, &one_size};
}

static dt_status add_by_index(dt_op_call *call, bool along) {
    dt__array arrays[] = {at_least_one_dim(&call->inputs[0]), at_least_one_dim(&call->inputs[1]),
                          at_least_one_dim(&call->outputs[0])};
    int dim = dt__wrap_dim(dt__arg_at(call, DIM)->as.i, call->outputs[0].n_dims);
    dt__indexed indexed = indexed_along(&call->outputs[0], dim, arrays);
    fill_zeros(call, &arrays[2]);
    if (dt__array_count(&arrays[0]) == 0 || dt__array_count(&arrays[1]) == 0)
        return DT_OK; /* an index without dims is whole where its row is sharded */
    return dt__add_at_indices(call, &indexed, along);
}

static dt_status gather(dt_op_call *call) { return add_by_index(call, true); }
static dt_status index_select(dt_op_call *call) { return add_by_index(call, false); }

const dt_op dt__op_embedding_dense_backward = {
    .schema = "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int? padding_idx=None, "
              "bool scale_grad_by_freq=False) -> Tensor",
    .summary = "The gradient of embedding: rows of the gradient, added at their indices.",
    .rule = "...d, ... -> v@d",
    .rows = rows_of_grad,
    .arguments = "num_weights,padding_idx,scale_grad_by_freq",
    .varying = "padding_idx",
    .shape = shape_embedding,
    .kernel = embedding,
    .gradient =
        "grad_output: masked_fill(embedding(indices, grad), unsqueeze(logical_or(eq(indices, either(padding_idx, "
        "-1)), eq(indices - num_weights, either(padding_idx, 1))), -1), 0)",
    .samples = "embedding_dense_backward(f32[5,3]; i64[5]; 7)\nembedding_dense_backward(f32[2,5,3]; i64[2,5]; 7)\n"
               "embedding_dense_backward(f32[3]; i32[]; 7)",
};
const dt_op dt__op_gather_backward = {
    .schema = "gather_backward(Tensor grad, Tensor index, int[] sizes, int dim) -> Tensor",
    .summary = "The gradient of gather: elements of the gradient, added at their indices along a dim.",
    .rule = "...[dim:i], ...[dim:i] -> ...[dim:s@]",
    .rows = rows_of_grad,
    .arguments = "sizes,dim",
    .shape = shape_gather,
    .kernel = gather,
    .gradient = "grad: gather(grad0, dim, index)",
    .samples = "gather_backward(f32[2,3]; i64[2,3]; [5,3]; 0)\ngather_backward(f32[4,2]; i64[4,2]; [5,3]; 1)",
};
const dt_op dt__op_index_select_backward = {
    .schema = "index_select_backward(Tensor grad, Tensor index, int[] self_sizes, int dim) -> Tensor",
    .summary = "The gradient of index_select: slices of the gradient, added at their indices.",
    .rule = "...[dim:i], i? -> ...[dim:s@]",
    .rows = rows_of_grad,
    .arguments = "self_sizes,dim",
    .shape = shape_index_select,
    .kernel = index_select,
    .gradient = "grad: index_select(grad0, dim, index)",
    .samples =
        "index_select_backward(f32[4,3]; i64[4]; [5,3]; 0)\nindex_select_backward(f32[5,2]; i64[2]; [5,3]; 1)\n"
        "index_select_backward(f32[1,3]; i32[]; [5,3]; 0)",
};
