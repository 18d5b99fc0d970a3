/* SPDX-License-Identifier: Apache-2.0
 *
 * The lower and the upper triangle of matrices, and the indices of their elements. Rows and columns may be sharded: a
 * rank reads the offset of its shard.
 */
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

static dt_status shape_triangle(dt_op_call *call) {
    if (call->inputs[0].n_dims < 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at least 2 dims, got %d", call->inputs[0].n_dims);
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static dt_status run_triangle(dt_op_call *call, bool upper) {
    const dt_op_value *input = &call->inputs[0];
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(input);
    int n = in.n_dims;
    dt__triangle_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                     &(dt__triangle){&in, &out, upper, call->args[1].as.i, input->offset ? input->offset[n - 2] : 0,
                                     input->offset ? input->offset[n - 1] : 0});
    return DT_OK;
}

static dt_status tril(dt_op_call *call) { return run_triangle(call, false); }
static dt_status triu(dt_op_call *call) { return run_triangle(call, true); }

#define TRIANGLE(name, run)                                                                                          \
    .schema = name "(Tensor self, int diagonal=0) -> Tensor", .rule = "...m@n@ -> ...mn", .partial = DT_PARTIAL_ANY, \
    .shape = shape_triangle, .kernel = run, .gradient = "self: " name "(grad, diagonal)",                            \
    .samples = name "(f32[5,3])\n" name "(f32[2,5,3]; -1)\n" name "(i64[5,3]; 1)"

const dt_op dt__op_tril = {TRIANGLE("tril", tril), .summary = "Elements on and below a diagonal, 0 elsewhere."};
const dt_op dt__op_tril_ = {.in_place_of = &dt__op_tril};
const dt_op dt__op_triu = {TRIANGLE("triu", triu), .summary = "Elements on and above a diagonal, 0 elsewhere."};
const dt_op dt__op_triu_ = {.in_place_of = &dt__op_triu};

/* tril_indices and triu_indices: row r of the triangle has the columns from first_column(r) on, column_count(r) of
 * them. */
enum { ROWS, COLUMNS, OFFSET, INDEX_DTYPE };

typedef struct triangle_size {
    int64_t rows, columns, offset;
    bool upper;
} triangle_size;

static triangle_size size_of(const dt_op_call *call) {
    return (triangle_size){dt__arg_at(call, ROWS)->as.i, dt__arg_at(call, COLUMNS)->as.i,
                           dt__arg_at(call, OFFSET)->as.i, *(const bool *)call->op->family};
}

static int64_t first_column(const triangle_size *of, int64_t row) {
    return of->upper ? dt__min_i64(dt__max_i64(row + of->offset, 0), of->columns) : 0;
}
static int64_t column_count(const triangle_size *of, int64_t row) {
    return of->upper ? of->columns - first_column(of, row)
                     : dt__min_i64(dt__max_i64(row + of->offset + 1, 0), of->columns);
}

static dt_status shape_indices(dt_op_call *call) {
    const triangle_size of = size_of(call);
    const int64_t most = (int64_t)1 << 31;
    dt_dtype dtype = dt__arg_dtype(dt__arg_at(call, INDEX_DTYPE), DT_I64);
    int64_t n = 0;
    if (of.rows < 0 || of.columns < 0 || of.rows > most || of.columns > most || of.offset < -most || of.offset > most)
        return dt_op_refuse(call, DT_ERR_VALUE, "row, col and offset: expected sizes of 0 to 2^31");
    if (dtype != DT_I64 && dtype != DT_I32)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected i64 or i32, got %s", dt_dtype_name(dtype));
    for (int64_t row = 0; row < of.rows; row++)
        n += column_count(&of, row);
    return dt__add_made(call, dtype, 2, (int64_t[]){2, n});
}

/* Each rank walks the triangle, and writes the indices of its shard. */
static dt_status run_indices(dt_op_call *call) {
    const triangle_size of = size_of(call);
    const dt_op_value *out = &call->outputs[0];
    const size_t size = dt_dtype_size(out->dtype);
    dt__shard kinds, elements;
    dt__local_shard(out->spec, out->shape, 0, &kinds);
    dt__local_shard(out->spec, out->shape, 1, &elements);
    int64_t row = 0, begin = 0; /* the first element of the row */
    for (int64_t i = 0; i < elements.size; i++) {
        int64_t at = dt__shard_run(&elements, i).begin;
        while (at >= begin + column_count(&of, row))
            begin += column_count(&of, row++);
        for (int64_t k = 0; k < kinds.size; k++) {
            int64_t index = dt__shard_run(&kinds, k).begin ? first_column(&of, row) + at - begin : row;
            dt__write_i64(out->dtype, index, (unsigned char *)out->data + (size_t)(k * elements.size + i) * size);
        }
    }
    return DT_OK;
}

#define TRIANGLE_INDICES(name, upper_)                                                                               \
    .schema = name "(int row, int col, int offset=0, *, ScalarType? dtype=long) -> Tensor",                          \
    .arguments = "row,col,offset,dtype", .shape = shape_indices, .kernel = run_indices,                              \
    .family = &(const bool){upper_}, .flags = DT_OP_MAKER | DT_OP_POSITIONAL,                                        \
    .samples = name "(5; 3)\n" name "(3; 5; -1)\n" name "(3; 4; 2; dtype=i32)\n" name "(0; 3)"

const dt_op dt__op_tril_indices = {TRIANGLE_INDICES("tril_indices", false),
                                   .summary = "Rows and columns of the elements on and below a diagonal, in order."};
const dt_op dt__op_triu_indices = {TRIANGLE_INDICES("triu_indices", true),
                                   .summary = "Rows and columns of the elements on and above a diagonal, in order."};
