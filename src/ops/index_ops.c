/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that read elements by index: embedding, gather, index_select. Along a sharded dim each rank reads the elements
 * that it holds and leaves zeros elsewhere: a partial sum.
 */
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments; gather and index_select have their dim first. */
enum { DIM = 0, PADDING_IDX = 0, MAX_NORM = 1 };

static dt_status shape_embedding(dt_op_call *call) {
    const dt_op_value *indices = &call->inputs[0], *weight = &call->inputs[1];
    dt__shape shape = {.n = indices->n_dims};
    DT__TRY(dt__expect_index(call, 0));
    DT__TRY(dt__expect_dims(call, 1, 2));
    if (dt__arg_at(call, MAX_NORM)->type != DT_ARG_NONE)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED,
                            "max_norm is not supported; renormalize the weight before the call");
    memcpy(shape.sizes, indices->shape, (size_t)indices->n_dims * sizeof *shape.sizes);
    if (shape.n == DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than %d dims", DT_SPEC_MAX_DIMS);
    shape.sizes[shape.n++] = weight->shape[1];
    return dt__add_shape(call, weight->dtype, &shape);
}

static dt_status check_embedding(const dt_op_call *call) {
    const dt_arg *padding = dt__arg_at(call, PADDING_IDX);
    int64_t n_rows = call->inputs[1].shape[0];
    if (padding->type != DT_ARG_INT || (padding->as.i >= -n_rows && padding->as.i < n_rows))
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_VALUE,
                        "padding_idx %" PRId64 " is out of range for a weight of %" PRId64 " rows", padding->as.i,
                        n_rows);
}

static dt_status shape_gather(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1];
    int dim, n = self->n_dims ? self->n_dims : 1, n_index = index->n_dims ? index->n_dims : 1;
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, self->n_dims, &dim));
    if (dt__elements(index->n_dims, index->shape) == 0 && dt__is_integral(index->dtype))
        return dt_op_add_output(call, self->dtype, index->n_dims, index->shape); /* nothing is read */
    DT__TRY(dt__expect_index(call, 1));
    if (n != n_index)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the index: expected %d dims, as the tensor has, got %d",
                            self->n_dims, index->n_dims);
    for (int d = 0; d < self->n_dims && d < index->n_dims; d++)
        if (d != dim && index->shape[d] > self->shape[d])
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "dim %d of the index: expected size %" PRId64
                                " at most, as the tensor has, got %" PRId64,
                                d, self->shape[d], index->shape[d]);
    return dt_op_add_output(call, self->dtype, index->n_dims, index->shape);
}

static dt_status shape_index_select(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1];
    dt__shape shape = {.n = self->n_dims};
    int dim;
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, self->n_dims, &dim));
    DT__TRY(dt__expect_index(call, 1));
    int64_t n = index->n_dims ? index->shape[0] : 1;
    if (index->n_dims > 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the index: expected a vector, got %d dims", index->n_dims);
    if (self->n_dims == 0 && n != 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected one index for a tensor without dims");
    memcpy(shape.sizes, self->shape, (size_t)self->n_dims * sizeof *shape.sizes);
    if (self->n_dims)
        shape.sizes[dim] = n;
    return dt__add_shape(call, self->dtype, &shape);
}

/* The kernels write nothing where an index is out of range. */
static dt_status no_elements(const dt_op_call *call, int64_t index, int64_t limit) {
    const dt_op_value *output = &call->outputs[0];
    memset(output->data, 0, (size_t)dt__elements(output->n_dims, output->shape) * dt_dtype_size(output->dtype));
    return dt__bad_index(call, index, limit);
}

/* The arguments of an indexing kernel, along a dim that may be sharded. */
static dt__indexed indexed_by(const dt_op_value *table, int dim, const dt__array *self, const dt__array *index,
                              const dt__array *out) {
    return (dt__indexed){.indexed = self,
                         .dim = dim,
                         .index = index,
                         .offset =
                             table->n_dims && table->shape[dim] != table->global_shape[dim] ? table->offset[dim] : 0,
                         .limit = table->n_dims ? table->global_shape[dim] : 1,
                         .other = out};
}

static dt_status embedding(dt_op_call *call) {
    dt__array index = dt__array_of(&call->inputs[0]), weight = dt__array_of(&call->inputs[1]);
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__indexed indexed = indexed_by(&call->inputs[1], 0, &weight, &index, &out);
    int64_t bad;
    return dt__index_select(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &indexed, &bad)
               ? DT_OK
               : no_elements(call, bad, indexed.limit);
}

/* A tensor without dims is indexed as a vector of one element. */
struct one_dim {
    int64_t shape, stride;
    dt__array array;
};

static dt__array at_least_one_dim(const dt__array *array, struct one_dim *vector) {
    if (array->n_dims > 0)
        return *array;
    *vector = (struct one_dim){.shape = 1, .stride = 1};
    return (dt__array){array->data, array->dtype, 1, &vector->shape, &vector->stride};
}

static dt_status read_by_index(dt_op_call *call, bool along) {
    struct one_dim vectors[3];
    dt__array arrays[3] = {dt__array_of(&call->inputs[0]), dt__array_of(&call->inputs[1]),
                           dt__array_of(&call->outputs[0])};
    if (dt__array_count(&arrays[2]) == 0 && dt__array_count(&arrays[1]) == 0)
        return DT_OK;
    for (int i = 0; i < 3; i++)
        arrays[i] = at_least_one_dim(&arrays[i], &vectors[i]);
    int dim = dt__wrap_dim(dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims);
    dt__indexed indexed = indexed_by(&call->inputs[0], dim, &arrays[0], &arrays[1], &arrays[2]);
    int64_t bad;
    const dt__kernels *kernels = dt__kernels_of(call->ctx);
    dt__pool *pool = dt__pool_of(call->ctx);
    bool fine =
        along ? dt__gather_along(kernels, pool, &indexed, &bad) : dt__index_select(kernels, pool, &indexed, &bad);
    return fine ? DT_OK : no_elements(call, bad, indexed.limit);
}

static dt_status gather(dt_op_call *call) { return read_by_index(call, true); }
static dt_status index_select(dt_op_call *call) { return read_by_index(call, false); }

const dt_op dt__op_embedding = {
    .schema = "embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, "
              "float norm_type=2.0, bool scale_grad_by_freq=False) -> Tensor",
    .summary = "The rows of a weight matrix that the indices select.",
    .rule = "..., =v@d -> ...d",
    .varying = "padding_idx,max_norm,norm_type",
    .check = check_embedding,
    .arguments = "padding_idx,max_norm",
    .shape = shape_embedding,
    .kernel = embedding,
    .gradient = "weight: embedding_dense_backward(grad, input, size(weight.shape, 0), padding_idx)",
    .samples = "embedding(i64[5]; f32[7,3])\nembedding(i64[2,5]; f32[7,3]; 0)\nembedding(i32[]; f32[7,3])",
    .unused = "max_norm,norm_type,scale_grad_by_freq",
};
const dt_op dt__op_gather = {
    .schema = "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    .summary = "Picks an element along a dim for each index.",
    .rule = "=...[dim:s@], ...[dim:i] -> ...[dim:i]",
    .arguments = "dim",
    .shape = shape_gather,
    .kernel = gather,
    .gradient = "self: gather_backward(grad, index, self.shape, dim)",
    .samples = "gather(f32[5,3]; 0; i64[2,3])\ngather(f32[5,3]; 1; i64[4,6])\n"
               "gather(f32[5,3]; 0; i64[2,2])\n"
               "gather(f32[5,3]; 1; i64[2,6])",
    .unused = "sparse_grad",
};
const dt_op dt__op_index_select = {
    .schema = "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    .summary = "Picks slices of a dim by a list of indices.",
    .rule = "=...[dim:s@], i? -> ...[dim:i]",
    .arguments = "dim",
    .shape = shape_index_select,
    .kernel = index_select,
    .gradient = "self: index_select_backward(grad, index, self.shape, dim)",
    .samples = "index_select(f32[5,3]; 0; i64[4])\nindex_select(f32[5,3]; 1; i64[2])\n"
               "index_select(f32[5,3]; 0; i32[])",
};
