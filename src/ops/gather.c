/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that look elements up by index: embedding, gather, index_select. Where the dim that is looked up in is sharded,
 * each rank finds what it holds and leaves zeros elsewhere: a partial sum.
 */
#include "ops/infer.h"
#include "ops/table.h"

#include <inttypes.h>
#include <string.h>

/* Partials of the table, which is this input, pass. */
static void rows_of_table(dt_rows *rows, int table) {
    for (int kind = 0; kind < DT_N_REDUCES; kind++)
        dt_rows_reduce(rows, (uint64_t)1 << table, (dt_reduce)kind, (dt_reduce)kind);
}

static dt_status shape_embedding(dt_op_call *call) {
    const dt_op_value *indices = &call->inputs[0], *weight = &call->inputs[1];
    const dt_arg *padding = dt__arg(call, "padding_idx");
    dt__shape shape = {.n = indices->n_dims};
    DT__TRY(dt__want_index(call, 0));
    DT__TRY(dt__want_dims(call, 1, 2));
    if (dt__arg(call, "max_norm")->type != DT_ARG_NONE)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "max_norm changes the weight; renormalise it before the call");
    if (padding->type == DT_ARG_INT && (padding->as.i < -weight->shape[0] || padding->as.i >= weight->shape[0]))
        return dt_op_refuse(call, DT_ERR_VALUE, "padding_idx %" PRId64 " is no row of the weight", padding->as.i);
    memcpy(shape.sizes, indices->shape, (size_t)indices->n_dims * sizeof *shape.sizes);
    if (shape.n == DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result would have more than %d dims", DT_SPEC_MAX_DIMS);
    shape.sizes[shape.n++] = weight->shape[1];
    return dt__add_shape(call, weight->dtype, &shape);
}

static void rows_embedding(const dt_op_call *call, dt_rows *rows) {
    int n = call->inputs[0].n_dims;
    for (int d = 0; d < n; d++)
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_R, DT_ROW_S(d)});
    dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_R, DT_ROW_S(1), DT_ROW_S(n)});
    dt_rows_add(rows, DT_ROW_OFFSET, (dt_row_entry[]){DT_ROW_R, DT_ROW_S(0), DT_ROW_P(DT_SUM)});
    rows_of_table(rows, 1);
}

static dt_status shape_gather(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1];
    int dim, n = self->n_dims ? self->n_dims : 1, n_index = index->n_dims ? index->n_dims : 1;
    DT__TRY(dt__read_dim(call, dt__arg(call, "dim")->as.i, self->n_dims, &dim));
    DT__TRY(dt__want_index(call, 1));
    if (n != n_index)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the index has %d dims; wanted %d, as many as the tensor",
                            index->n_dims, self->n_dims);
    for (int d = 0; d < self->n_dims && d < index->n_dims; d++)
        if (d != dim && index->shape[d] > self->shape[d])
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "dim %d of the index has size %" PRId64 "; wanted at most %" PRId64
                                ", the size of the tensor there",
                                d, index->shape[d], self->shape[d]);
    return dt_op_add_output(call, self->dtype, index->n_dims, index->shape);
}

/* Beside the dim that is looked up in, tensor and index are cut alike only where they have the same size. */
static void rows_gather(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1];
    int dim = dt__wrap_dim(dt__arg(call, "dim")->as.i, self->n_dims);
    for (int d = 0; d < index->n_dims && d < self->n_dims; d++) {
        if (d == dim)
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_R, DT_ROW_S(d), DT_ROW_S(d)});
        else if (index->shape[d] == self->shape[d])
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d), DT_ROW_S(d)});
    }
    if (self->n_dims)
        dt_rows_add(rows, DT_ROW_OFFSET, (dt_row_entry[]){DT_ROW_S(dim), DT_ROW_R, DT_ROW_P(DT_SUM)});
    rows_of_table(rows, 0);
}

static dt_status shape_index_select(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1];
    dt__shape shape = {.n = self->n_dims};
    int dim;
    DT__TRY(dt__read_dim(call, dt__arg(call, "dim")->as.i, self->n_dims, &dim));
    DT__TRY(dt__want_index(call, 1));
    int64_t n = index->n_dims ? index->shape[0] : 1;
    if (index->n_dims > 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the index has %d dims; wanted a vector", index->n_dims);
    if (self->n_dims == 0 && n != 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "a tensor without dims has one element; wanted one index");
    memcpy(shape.sizes, self->shape, (size_t)self->n_dims * sizeof *shape.sizes);
    if (self->n_dims)
        shape.sizes[dim] = n;
    return dt__add_shape(call, self->dtype, &shape);
}

static void rows_index_select(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *self = &call->inputs[0];
    int dim = dt__wrap_dim(dt__arg(call, "dim")->as.i, self->n_dims);
    for (int d = 0; d < self->n_dims; d++)
        if (d != dim)
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_R, DT_ROW_S(d)});
    if (self->n_dims && call->inputs[1].n_dims)
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_R, DT_ROW_S(0), DT_ROW_S(dim)});
    if (self->n_dims)
        dt_rows_add(rows, DT_ROW_OFFSET, (dt_row_entry[]){DT_ROW_S(dim), DT_ROW_R, DT_ROW_P(DT_SUM)});
    rows_of_table(rows, 0);
}

const dt_op dt__op_embedding = {
    .schema = "embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, "
              "float norm_type=2.0, bool scale_grad_by_freq=False) -> Tensor",
    .rows = rows_embedding,
    .shape = shape_embedding,
    .samples = "embedding(i64[5]; f32[7,3])\nembedding(i64[2,5]; f32[7,3]; 0)\nembedding(i32[]; f32[7,3])",
};
const dt_op dt__op_gather = {
    .schema = "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    .rows = rows_gather,
    .shape = shape_gather,
    .samples = "gather(f32[5,3]; 0; i64[2,3])\ngather(f32[5,3]; 1; i64[4,6])",
};
const dt_op dt__op_index_select = {
    .schema = "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    .rows = rows_index_select,
    .shape = shape_index_select,
    .samples = "index_select(f32[5,3]; 0; i64[4])\nindex_select(f32[5,3]; 1; i64[2])",
};
