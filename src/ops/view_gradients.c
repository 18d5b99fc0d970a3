/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of views: zeros of the size of the tensor, with the gradient at the elements of the view.
 */
#include "base/dtype.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments. */
enum { SIZES = 0, DIM = 1, START = 2, STEP = 3, INDEX = 2, OFFSET = 1, DIM1 = 2, DIM2 = 3, SIZE = 2 };

/* Changes a view of the result to the elements that the gradient is of. */
typedef dt_status change_fn(const dt_op_call *call, dt__view *view);

static int64_t int_at(const dt_op_call *call, int n) { return dt__arg_at(call, n)->as.i; }

/* The result, of the sizes among the arguments, if the view of it has the shape of the gradient. */
static dt_status shape_of_view(dt_op_call *call, change_fn *change) {
    const dt_op_value *grad = &call->inputs[0];
    const dt_arg *sizes = dt__arg_at(call, SIZES);
    if (sizes->n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "input_sizes: expected at most %d, got %d", DT_SPEC_MAX_DIMS,
                            sizes->n);
    for (int i = 0; i < sizes->n; i++)
        if (sizes->as.ints[i] < 0)
            return dt_op_refuse(call, DT_ERR_VALUE, "input_sizes: expected sizes of at least 0, got %" PRId64,
                                sizes->as.ints[i]);
    DT__TRY(dt_op_add_output(call, grad->dtype, sizes->n, sizes->as.ints));
    dt_op_value result = {.dtype = grad->dtype, .n_dims = sizes->n, .shape = sizes->as.ints};
    int64_t strides[DT_SPEC_MAX_DIMS];
    dt__row_strides(result.n_dims, result.shape, strides);
    result.strides = strides;
    dt__view view = dt__view_of_value(call, &result);
    DT__TRY(change(call, &view));
    bool same = view.n_dims == grad->n_dims;
    for (int d = 0; d < grad->n_dims && same; d++)
        same = view.shape[d] == grad->shape[d];
    if (same)
        return DT_OK;
    char expected[256], actual[256];
    return dt_op_refuse(call, DT_ERR_SHAPE, "the gradient does not fit: expected [%s], got [%s]",
                        dt__shape_text(view.n_dims, view.shape, sizeof expected, expected),
                        dt__shape_text(grad->n_dims, grad->shape, sizeof actual, actual));
}

static void fill_zeros(const dt_op_call *call, const dt__array *out) {
    dt__constant constant;
    dt__array zero = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT}, out->dtype, &constant);
    dt__run_convert(call, out, &zero);
}

static dt__array array_of_view(const dt_op_value *of, const dt__view *view) {
    unsigned char *first = (unsigned char *)of->data + view->offset * (int64_t)dt_dtype_size(of->dtype);
    return (dt__array){first, of->dtype, view->n_dims, view->shape, view->strides};
}

/* As many elements as the gradient has, from the start on: the end is not needed. Where they start is checked in every
 * call, not here. */
static dt_status change_slice(const dt_op_call *call, dt__view *view) {
    int dim;
    DT__TRY(dt__read_dim(call, int_at(call, DIM), view->n_dims, &dim));
    const dt_op_value *grad = &call->inputs[0];
    if (int_at(call, STEP) < 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "step: expected at least 1, got %" PRId64, int_at(call, STEP));
    if (grad->n_dims == view->n_dims && grad->shape[dim] <= view->shape[dim])
        view->shape[dim] = grad->shape[dim];
    return DT_OK;
}

/* The first element, and the number of elements from there on. */
static int64_t read_start(const dt_op_call *call, int64_t size) {
    int64_t start = int_at(call, START);
    return start < 0 ? dt__max_i64(start < -size ? 0 : start + size, 0) : start;
}

static dt_status check_slice(const dt_op_call *call) {
    const dt_arg *sizes = dt__arg_at(call, SIZES);
    int dim = dt__wrap_dim(int_at(call, DIM), sizes->n);
    int64_t size = sizes->as.ints[dim], n = call->inputs[0].shape[dim], start = read_start(call, size);
    if (n == 0 || n == size || (start < size && n <= (size - start - 1) / int_at(call, STEP) + 1))
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_SHAPE,
                        "the gradient does not fit: %" PRId64 " elements from %" PRId64 " on, in steps of %" PRId64
                        ", of dim %d, which has size %" PRId64,
                        n, start, int_at(call, STEP), dim, size);
}

/* A dim that the slice covers may be sharded. */
static dt_status slice(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0];
    dt_op_value *result = &call->outputs[0];
    int dim = dt__wrap_dim(int_at(call, DIM), result->n_dims);
    dt__array out = dt__array_of(result), in = dt__array_of(grad);
    dt__view view = dt__view_of_value(call, result);
    int64_t n = grad->shape[dim], start = read_start(call, result->global_shape[dim]), step = int_at(call, STEP);
    fill_zeros(call, &out);
    if (n == 0)
        return DT_OK;
    if (grad->global_shape[dim] != result->global_shape[dim])
        DT__TRY(dt__view_slice(&view, dim, start, start + (n - 1) * step + 1, step));
    dt__array to = array_of_view(result, &view);
    dt__run_convert(call, &to, &in);
    return DT_OK;
}

/* The index is checked in every call. */
static dt_status change_select(const dt_op_call *call, dt__view *view) {
    int dim;
    DT__TRY(dt__read_dim(call, int_at(call, DIM), view->n_dims, &dim));
    for (int d = dim; d < view->n_dims - 1; d++)
        view->shape[d] = view->shape[d + 1];
    view->n_dims--;
    return DT_OK;
}

static dt_status check_select(const dt_op_call *call) {
    const dt_arg *sizes = dt__arg_at(call, SIZES);
    int dim = dt__wrap_dim(int_at(call, DIM), sizes->n);
    int64_t size = sizes->as.ints[dim], index = int_at(call, INDEX);
    if (index >= -size && index < size)
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_VALUE, "index %" PRId64 " is out of range for dim %d of size %" PRId64, index,
                        dim, size);
}

static dt_status select_index(dt_op_call *call) {
    dt_op_value *result = &call->outputs[0];
    int dim = dt__wrap_dim(int_at(call, DIM), result->n_dims);
    dt__array out = dt__array_of(result), in = dt__array_of(&call->inputs[0]);
    dt__view view = dt__view_of_value(call, result);
    int64_t index = int_at(call, INDEX);
    fill_zeros(call, &out);
    DT__TRY(dt__view_select(&view, dim, index < 0 ? index + result->shape[dim] : index));
    dt__array to = array_of_view(result, &view);
    dt__run_convert(call, &to, &in);
    return DT_OK;
}

static dt_status change_diagonal(const dt_op_call *call, dt__view *view) {
    int a, b;
    DT__TRY(dt__read_dim(call, int_at(call, DIM1), view->n_dims, &a));
    DT__TRY(dt__read_dim(call, int_at(call, DIM2), view->n_dims, &b));
    return dt__view_diagonal(view, int_at(call, OFFSET), a, b);
}

static dt_status change_unfold(const dt_op_call *call, dt__view *view) {
    int dim;
    DT__TRY(dt__read_dim(call, int_at(call, DIM), view->n_dims, &dim));
    return dt__view_unfold(view, dim, int_at(call, SIZE), int_at(call, STEP));
}

static dt_status shape_slice(dt_op_call *call) { return shape_of_view(call, change_slice); }
static dt_status shape_select(dt_op_call *call) { return shape_of_view(call, change_select); }
static dt_status shape_diagonal(dt_op_call *call) { return shape_of_view(call, change_diagonal); }
static dt_status shape_unfold(dt_op_call *call) { return shape_of_view(call, change_unfold); }

/* The dims of the diagonal are whole. */
static dt_status diagonal(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), grad = dt__array_of(&call->inputs[0]);
    dt__view view = dt__view_of_value(call, &call->outputs[0]);
    fill_zeros(call, &out);
    DT__TRY(change_diagonal(call, &view));
    dt__array to = array_of_view(&call->outputs[0], &view);
    dt__run_convert(call, &to, &grad);
    return DT_OK;
}

/* Adds the elements of windows to zeros, one position of all windows after the other. */
static dt_status add_windows(const dt_op_call *call, const dt_op_value *sums) {
    const dt_op_value *grad = &call->inputs[0];
    dt__array zeros = dt__array_of(sums);
    fill_zeros(call, &zeros);
    for (int64_t i = 0; i < int_at(call, SIZE); i++) {
        dt__view to = dt__view_of_value(call, sums), from = dt__view_of_value(call, grad);
        DT__TRY(change_unfold(call, &to));
        DT__TRY(dt__view_select(&to, to.n_dims - 1, i));
        DT__TRY(dt__view_select(&from, from.n_dims - 1, i));
        dt__array sum = array_of_view(sums, &to), term = array_of_view(grad, &from);
        DT__TRY(dt__run_elements(call, DT__EL_ADD, sum.dtype, &sum, &sum, &term, NULL));
    }
    return DT_OK;
}

/* Where windows overlap, sums of f16 and bf16 are made in f64, and rounded once. */
static dt_status unfold(dt_op_call *call) {
    const dt_op_value *result = &call->outputs[0];
    dt__array out = dt__array_of(result);
    if (!dt__is_half(result->dtype) || int_at(call, SIZE) <= int_at(call, STEP))
        return add_windows(call, result);
    dt__scratch memory;
    DT__TRY(dt__scratch_new(call, DT_F64, result->n_dims, result->shape, &memory));
    dt_op_value sums = *result;
    sums.data = memory.array.data;
    sums.dtype = DT_F64;
    sums.strides = memory.strides;
    dt_status status = add_windows(call, &sums);
    if (status == DT_OK)
        dt__run_convert(call, &out, &memory.array);
    dt__scratch_free(call, &memory);
    return status;
}

static void rows_unfold(const dt_op_call *call, dt_rows *rows) {
    int n = call->outputs[0].n_dims, dim = dt__wrap_dim(int_at(call, DIM), n);
    for (int d = 0; d < n; d++)
        if (d != dim)
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d)});
}

/* The other dims, which keep their order. */
static void rows_select(const dt_op_call *call, dt_rows *rows) {
    int n = call->outputs[0].n_dims, dim = dt__wrap_dim(int_at(call, DIM), n);
    for (int d = 0; d < n; d++)
        if (d != dim)
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d < dim ? d : d - 1), DT_ROW_S(d)});
}

static void rows_diagonal(const dt_op_call *call, dt_rows *rows) {
    int n = call->outputs[0].n_dims, kept = 0;
    int a = dt__wrap_dim(int_at(call, DIM1), n), b = dt__wrap_dim(int_at(call, DIM2), n);
    for (int d = 0; d < n; d++)
        if (d != a && d != b)
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(kept++), DT_ROW_S(d)});
}

/* diag_embed: the dims of the result, in which the last dim of the tensor is a diagonal. */
static dt_status shape_diag_embed(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    int64_t offset = int_at(call, OFFSET), distance = offset < 0 ? -offset : offset;
    dt__shape shape = {.n = self->n_dims + 1};
    int a, b, kept = 0;
    if (self->n_dims == 0 || shape.n > DT_SPEC_MAX_DIMS || offset == INT64_MIN)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected 1 to %d dims, got %d", DT_SPEC_MAX_DIMS - 1, self->n_dims);
    DT__TRY(dt__read_dim(call, int_at(call, DIM1), shape.n, &a));
    DT__TRY(dt__read_dim(call, int_at(call, DIM2), shape.n, &b));
    if (a == b)
        return dt_op_refuse(call, DT_ERR_VALUE, "dim1 and dim2: expected two dims, got dim %d twice", a);
    int64_t size = 0;
    if (!dt__add_i64(self->shape[self->n_dims - 1], distance, &size))
        return dt_op_refuse(call, DT_ERR_VALUE, "offset: %" PRId64 " is too large", offset);
    for (int d = 0; d < shape.n; d++)
        shape.sizes[d] = d == a || d == b ? size : self->shape[kept++];
    return dt__add_made(call, self->dtype, shape.n, shape.sizes);
}

const dt_op dt__op_diag_embed = {
    .schema = "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    .summary = "Matrices of zeros with the last dim of a tensor on a diagonal.",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_diagonal,
    .arguments = "self,offset,dim1,dim2",
    .shape = shape_diag_embed,
    .kernel = diagonal,
    .gradient = "self: diagonal(grad, offset, dim1, dim2)",
    .samples = "diag_embed(f32[5,3])\ndiag_embed(f32[5,3]; -1; 0; 2)",
};
const dt_op dt__op_slice_backward = {
    .schema =
        "slice_backward(Tensor grad_output, int[] input_sizes, int dim, int start, int end, int step) -> Tensor",
    .summary = "The gradient of slice: zeros, with the gradient at the elements of the slice.",
    .rule = "...[dim] -> ...[dim]",
    .partial = DT_PARTIAL_ANY,
    .arguments = "input_sizes,dim,start,step",
    .varying = "start,end",
    .check = check_slice,
    .shape = shape_slice,
    .kernel = slice,
    .gradient = "grad_output: slice(grad, dim, start, end, step)",
    .samples = "slice_backward(f32[3,3]; [5,3]; 0; 1; 4; 1)\nslice_backward(f32[5,2]; [5,3]; 1; -2; 3; 1)\n"
               "slice_backward(f32[3,3]; [5,3]; 0; 0; 5; 2)\nslice_backward(f32[5,3]; [5,3]; 0; 0; 5; 1)",
};
const dt_op dt__op_select_backward = {
    .schema = "select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor",
    .summary = "The gradient of select: zeros, with the gradient at the index.",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_select,
    .arguments = "input_sizes,dim,index",
    .varying = "index",
    .check = check_select,
    .shape = shape_select,
    .kernel = select_index,
    .gradient = "grad_output: select(grad, dim, index)",
    .samples = "select_backward(f32[3]; [5,3]; 0; 2)\nselect_backward(f32[5]; [5,3]; 1; -1)",
};
const dt_op dt__op_diagonal_backward = {
    .schema = "diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    .summary = "The gradient of diagonal: zeros, with the gradient on the diagonal.",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_diagonal,
    .arguments = "input_sizes,offset,dim1,dim2",
    .shape = shape_diagonal,
    .kernel = diagonal,
    .gradient = "grad_output: diagonal(grad, offset, dim1, dim2)",
    .samples = "diagonal_backward(f32[3]; [5,3]; 0; 0; 1)\ndiagonal_backward(f32[2,2]; [2,5,3]; 1; 1; 2)\n"
               "diagonal_backward(f32[5,3]; [4,5,3]; -1; 0; -1)",
};
const dt_op dt__op_unfold_backward = {
    .schema = "unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor",
    .summary = "The gradient of unfold: each element's gradients, summed over the windows that it is in.",
    .partial = DT_PARTIAL_LINEAR,
    .rows = rows_unfold,
    .arguments = "input_sizes,dim,size,step",
    .shape = shape_unfold,
    .kernel = unfold,
    .gradient = "grad_in: unfold(grad, dim, size, step)",
    .samples = "unfold_backward(f32[4,3,2]; [5,3]; 0; 2; 1)\nunfold_backward(f32[2,2,3,3]; [2,5,3]; -2; 3; 2)",
};
