/* SPDX-License-Identifier: Apache-2.0
 *
 * Views that rearrange dims: permute, narrow, diagonal, unfold. Dims that are kept as they are keep their shards, and
 * partials of any kind are kept. diagonal and unfold are one function on a view each, which the shape function runs on
 * the global tensor and the kernel on the local one: dims that change are whole there.
 */
#include "dtensor/ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

typedef dt_status change_fn(const dt_op_call *call, dt__view *view);

/* The global tensor, whose strides do not matter. */
static dt__view view_of_global(const dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__view view = {.ctx = call->ctx, .dtype = input->dtype, .n_dims = input->n_dims};
    memcpy(view.shape, input->shape, (size_t)input->n_dims * sizeof *view.shape);
    return view;
}

static dt_status add_changed(dt_op_call *call, change_fn *change) {
    dt__view view = view_of_global(call);
    DT__TRY(change(call, &view));
    return dt_op_add_output(call, view.dtype, view.n_dims, view.shape);
}

static dt_status set_changed(dt_op_call *call, change_fn *change) {
    dt__view view = dt__view_of_value(call, &call->inputs[0]);
    DT__TRY(change(call, &view));
    return dt__set_view(call, 0, &view);
}

static dt_status change_permute(const dt_op_call *call, dt__view *view) {
    return dt__view_permute(view, call->args[1].n, call->args[1].as.ints);
}

static dt_status shape_permute(dt_op_call *call) { return add_changed(call, change_permute); }

static dt_status permute(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t *strides = dt__view_strides(call, 0);
    for (int d = 0; d < input->n_dims; d++)
        strides[d] = input->strides[dt__wrap_dim(call->args[1].as.ints[d], input->n_dims)];
    call->outputs[0].data = input->data;
    return DT_OK;
}

static dt_status shape_narrow(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t length = call->args[3].as.i;
    dt__shape shape = {.n = input->n_dims};
    int dim;
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "cannot narrow a tensor without dims");
    DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims, &dim));
    if (length < 0 || length > input->shape[dim])
        return dt_op_refuse(call, DT_ERR_VALUE, "length: expected 0 to %" PRId64 ", the size of dim %d, got %" PRId64,
                            input->shape[dim], dim, length);
    memcpy(shape.sizes, input->shape, (size_t)input->n_dims * sizeof *shape.sizes);
    shape.sizes[dim] = length;
    return dt__add_shape(call, input->dtype, &shape);
}

static dt_status check_narrow(const dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims);
    int64_t start = call->args[2].as.i, length = call->args[3].as.i, size = input->shape[dim];
    int64_t first = start < 0 ? start + size : start;
    if (first >= 0 && first <= size - length)
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_VALUE,
                        "indices out of range: dim %d has size %" PRId64 ", got %" PRId64 " from %" PRId64 " on", dim,
                        size, length, start);
}

/* Where it starts, if the dim is sharded: it is fetched in windows. */
static int64_t class_narrow(const dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t dim = call->args[1].as.i, start = call->args[2].as.i;
    if (dim < -input->n_dims || dim >= input->n_dims)
        return 0; /* it is refused */
    int at = dt__wrap_dim(dim, input->n_dims);
    int64_t size = input->shape[at], first = start < 0 ? start + size : start;
    return first >= 0 && first <= size ? dt__class_of_start(input, at, first) : 0;
}

static void rows_narrow(const dt_op_call *call, dt_rows *rows) {
    dt__rows_window(rows, dt__wrap_dim(call->args[1].as.i, call->inputs[0].n_dims));
}

static void window_narrow(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *output = &call->outputs[0];
    int64_t start = call->args[2].as.i;
    if (dim != dt__wrap_dim(call->args[1].as.i, output->n_dims))
        return;
    start += start < 0 ? call->inputs[input].global_shape[dim] : 0;
    dt_window_add(out, start + output->offset[dim], output->shape[dim], 1);
}

/* A sharded dim is narrowed to all of it, or was fetched: then the local tensor is the result. */
static dt_status narrow(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims);
    int64_t size = input->global_shape[dim], start = call->args[2].as.i, length = call->args[3].as.i;
    bool is_whole = length == size || length == 0 || call->row_flags & DT_ROW_WINDOW;
    int64_t first = is_whole ? 0 : start < 0 ? start + size : start;
    memcpy(dt__view_strides(call, 0), input->strides, (size_t)input->n_dims * sizeof *input->strides);
    call->outputs[0].data =
        (unsigned char *)input->data + first * input->strides[dim] * (int64_t)dt_dtype_size(input->dtype);
    return DT_OK;
}

static dt_status narrow_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *input = &call->call->inputs[0];
    int dim = dt__wrap_dim(call->call->args[1].as.i, input->n_dims);
    int64_t start = call->call->args[2].as.i;
    dt_shape sizes = {input->n_dims, input->shape};
    start += start < 0 ? input->shape[dim] : 0;
    input_grads[0] = dt_slice_backward(call->grads[0], sizes, dim, start, start + call->call->args[3].as.i, 1);
    return input_grads[0] ? DT_OK : dt_error_status(call->call->ctx);
}

static dt_status change_diagonal(const dt_op_call *call, dt__view *view) {
    int a, b;
    DT__TRY(dt__read_dim(call, call->args[2].as.i, view->n_dims, &a));
    DT__TRY(dt__read_dim(call, call->args[3].as.i, view->n_dims, &b));
    return dt__view_diagonal(view, call->args[1].as.i, a, b);
}

static dt_status shape_diagonal(dt_op_call *call) { return add_changed(call, change_diagonal); }
static dt_status diagonal(dt_op_call *call) { return set_changed(call, change_diagonal); }

static dt_status change_unfold(const dt_op_call *call, dt__view *view) {
    int dim;
    DT__TRY(dt__read_dim(call, call->args[1].as.i, view->n_dims, &dim));
    return dt__view_unfold(view, dim, call->args[2].as.i, call->args[3].as.i);
}

static dt_status shape_unfold(dt_op_call *call) { return add_changed(call, change_unfold); }
static dt_status unfold(dt_op_call *call) { return set_changed(call, change_unfold); }

static void rows_unfold(const dt_op_call *call, dt_rows *rows) {
    int n = call->inputs[0].n_dims, dim = dt__wrap_dim(call->args[1].as.i, n);
    for (int d = 0; d < n; d++)
        dt_rows_add(rows, d == dim ? DT_ROW_WINDOW : 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d)});
}

static void window_unfold(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *output = &call->outputs[0];
    int64_t size = call->args[2].as.i, step = call->args[3].as.i, n = output->shape[dim];
    if (dim == dt__wrap_dim(call->args[1].as.i, call->inputs[input].n_dims))
        dt_window_add(out, output->offset[dim] * step, (n - 1) * step + size, 1);
}

const dt_op dt__op_permute = {
    .schema = "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
    .summary = "Dims in another order, as a view: dim i of the result is dims[i] of the tensor.",
    .rule = "[dims] -> [#dims]",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_permute,
    .kernel = permute,
    .gradient = "self: permute(grad, inverse(dims))",
    .samples = "permute(f32[5,3]; [1,0])\npermute(f32[2,5,3]; [2,0,1])\npermute(f32[2,5,3]; [-1,-2,0])\n"
               "permute(f32[]; [])",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_narrow = {
    .schema = "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a) | "
              "narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)",
    .summary = "`length` indices of a dim from `start` on, as a view.",
    .rule = "...[dim] -> ...[dim]",
    .partial = DT_PARTIAL_ANY,
    .read = &(const dt_read){.argument = "start"},
    .varying = "start",
    .class_of = class_narrow,
    .rows = rows_narrow,
    .window = window_narrow,
    .shape = shape_narrow,
    .check = check_narrow,
    .kernel = narrow,
    .backward = narrow_backward,
    .samples = "narrow(f32[5,3]; 0; 1; 3)\nnarrow(f32[5,3]; -1; -2; 1)\nnarrow(f32[5,3]; 0; 0; 5)\n"
               "narrow(f32[5,3]; 1; 3; 0)",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_diagonal = {
    .schema = "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    .summary = "The diagonal of two dims, `offset` to the right of the main one, as the new last dim of a view.",
    .rule = "...[dim1!][dim2!] -> ...d",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_diagonal,
    .kernel = diagonal,
    .gradient = "self: diagonal_backward(grad, self.shape, offset, dim1, dim2)",
    .samples = "diagonal(f32[5,3])\ndiagonal(f32[2,5,3]; 1; 1; 2)\ndiagonal(f32[4,5,3]; -1; 0; -1)",
    .flags = DT_OP_VIEW | DT_OP_POSITIONAL,
};
const dt_op dt__op_linalg_diagonal = {
    .schema = "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
    .summary = "The diagonals of matrices, as diagonal of the last two dims.",
    .rule = "...[dim1!][dim2!] -> ...d",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_diagonal,
    .kernel = diagonal,
    .gradient = "A: diagonal_backward(grad, A.shape, offset, dim1, dim2)",
    .samples = "linalg_diagonal(f32[2,5,3])\nlinalg_diagonal(f32[4,5,3]; offset=-1; dim1=0)",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_unfold = {
    .schema = "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    .summary = "Windows of `size` indices of a dim, `step` apart, as a last dim; a copy if the dim is sharded.",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_unfold,
    .window = window_unfold,
    .shape = shape_unfold,
    .kernel = unfold,
    .gradient = "self: unfold_backward(grad, self.shape, dimension, size, step)",
    .samples = "unfold(f32[5,3]; 0; 2; 1)\nunfold(f32[2,5,3]; -2; 3; 2)\nunfold(f32[5,3]; 1; 1; 1)",
    .flags = DT_OP_VIEW,
};
