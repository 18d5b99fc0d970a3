/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops on dims: transpose, expand, slice, select. Dims that an op leaves as they are keep their shards, and
 * partials of any kind are kept.
 */
#include "dtensor/ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

static dt_status shape_transpose(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {.n = input->n_dims};
    int a, b;
    DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims, &a));
    DT__TRY(dt__read_dim(call, call->args[2].as.i, input->n_dims, &b));
    for (int d = 0; d < input->n_dims; d++)
        shape.sizes[d] = input->shape[d == a ? b : d == b ? a : d];
    return dt__add_shape(call, input->dtype, &shape);
}

static dt_status shape_expand(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const dt_arg *size = &call->args[1];
    dt__shape shape = {.n = size->n};
    int more = size->n - input->n_dims;
    if (more < 0 || size->n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at least %d sizes, one per dim, got %d", input->n_dims,
                            size->n);
    for (int d = 0; d < size->n; d++) {
        int64_t size_to = size->as.ints[d], size_from = d < more ? -1 : input->shape[d - more];
        if (size_to < -1 || (size_to == -1 && d < more) ||
            (size_from >= 0 && size_from != 1 && size_to != -1 && size_to != size_from))
            return dt_op_refuse(
                call, DT_ERR_SHAPE,
                "cannot expand dim %d to size %" PRId64 ": expected its own size, or any where it is 1", d, size_to);
        shape.sizes[d] = size_to == -1 ? size_from : size_to;
    }
    return dt__add_shape(call, input->dtype, &shape);
}

/* Start and end within the dim, as in Python. */
static void read_range(const dt_op_call *call, int64_t size, int64_t *start, int64_t *end) {
    const dt_arg *from = &call->args[2], *to = &call->args[3];
    *start = from->type == DT_ARG_INT ? from->as.i : 0;
    *end = to->type == DT_ARG_INT ? to->as.i : size;
    *start = *start < 0 ? dt__max_i64(*start < -size ? 0 : *start + size, 0) : dt__min_i64(*start, size);
    *end = *end < 0 ? dt__max_i64(*end < -size ? 0 : *end + size, 0) : dt__min_i64(*end, size);
    *end = dt__max_i64(*start, *end);
}

static dt_status shape_slice(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {.n = input->n_dims};
    int64_t start, end, step = call->args[4].as.i;
    int dim;
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "cannot slice a tensor without dims");
    DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims, &dim));
    if (step < 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "step: expected at least 1, got %" PRId64, step);
    memcpy(shape.sizes, input->shape, (size_t)input->n_dims * sizeof *shape.sizes);
    read_range(call, input->shape[dim], &start, &end);
    shape.sizes[dim] = dt__ceil_div(end - start, step);
    return dt__add_shape(call, input->dtype, &shape);
}

/* The length of the range; of a sharded dim, which is fetched in windows, also where it starts. Both are in one number
 * if the dim has fewer than 2^31 elements. */
static int64_t class_slice(const dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t dim = call->args[1].as.i, start, end;
    if (dim < -input->n_dims || dim >= input->n_dims)
        return 0; /* refused later */
    int at = dt__wrap_dim(dim, input->n_dims);
    read_range(call, input->shape[at], &start, &end);
    uint64_t first = (uint64_t)dt__class_of_start(input, at, start);
    if (first > 0 && input->shape[at] > INT32_MAX)
        return DT_CLASS_OF_VALUES;
    return (int64_t)(first << 32 | (uint64_t)(end - start));
}

static void rows_slice(const dt_op_call *call, dt_rows *rows) {
    dt__rows_window(rows, dt__wrap_dim(call->args[1].as.i, call->inputs[0].n_dims));
}

static void window_slice(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *output = &call->outputs[0];
    int64_t start, end, step = call->args[4].as.i;
    if (dim != dt__wrap_dim(call->args[1].as.i, output->n_dims))
        return;
    read_range(call, call->inputs[input].global_shape[dim], &start, &end);
    dt_window_add(out, start + output->offset[dim] * step, output->shape[dim], step);
}

static dt_status shape_select(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {0};
    int dim;
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "cannot select from a tensor without dims");
    DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims, &dim));
    for (int d = 0; d < input->n_dims; d++)
        if (d != dim)
            shape.sizes[shape.n++] = input->shape[d];
    return dt__add_shape(call, input->dtype, &shape);
}

static dt_status check_select(const dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims);
    int64_t index = call->args[2].as.i, size = input->shape[dim];
    if (index >= -size && index < size)
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_VALUE, "index %" PRId64 " is out of range for dim %d of size %" PRId64, index,
                        dim, size);
}

/* Where the dim is sharded, it is fetched in windows of this index. */
static int64_t class_select(const dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t dim = call->args[1].as.i, index = call->args[2].as.i;
    if (dim < -input->n_dims || dim >= input->n_dims)
        return 0; /* refused later */
    int at = dt__wrap_dim(dim, input->n_dims);
    int64_t size = input->shape[at], first = index < 0 ? index + size : index;
    return first >= 0 && first < size ? dt__class_of_start(input, at, first) : 0;
}

/* Every rank fetches the index, or a part of it along another dim. */
static void rows_select(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims);
    dt_rows_add(rows, DT_ROW_WINDOW, (dt_row_entry[]){DT_ROW_S(dim), DT_ROW_R});
    for (int d = 0; d < call->outputs[0].n_dims; d++)
        dt_rows_add(rows, DT_ROW_WINDOW, (dt_row_entry[]){DT_ROW_S(dim), DT_ROW_S(d)});
}

static void window_select(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *from = &call->inputs[input], *to = &call->outputs[0];
    int selected = dt__wrap_dim(call->args[1].as.i, from->n_dims), kept = dim - (dim > selected);
    int64_t index = call->args[2].as.i;
    if (dim == selected)
        dt_window_add(out, index < 0 ? index + from->global_shape[dim] : index, 1, 1);
    else if (to->shape[kept] != to->global_shape[kept])
        dt_window_add(out, to->offset[kept], to->shape[kept], 1);
}

static dt_status transpose(dt_op_call *call) {
    dt__view view = dt__view_of_value(call, &call->inputs[0]);
    DT__TRY(dt__view_transpose(&view, (int)call->args[1].as.i, (int)call->args[2].as.i));
    return dt__set_view(call, 0, &view);
}

static dt_status expand(dt_op_call *call) {
    dt__view view = dt__view_of_value(call, &call->inputs[0]);
    DT__TRY(dt__view_expand(&view, call->outputs[0].n_dims, call->outputs[0].shape));
    return dt__set_view(call, 0, &view);
}

/* A sharded dim is sliced over all of it, or was fetched: then the local tensor is the slice. */
static dt_status slice(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__view view = dt__view_of_value(call, input);
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims);
    int64_t start, end;
    read_range(call, input->global_shape[dim], &start, &end);
    if (call->outputs[0].global_shape[dim] != input->global_shape[dim] && !(call->row_flags & DT_ROW_WINDOW))
        DT__TRY(dt__view_slice(&view, dim, start, end, call->args[4].as.i));
    return dt__set_view(call, 0, &view);
}

/* Along a sharded dim: the values on the rank that holds them, zeros elsewhere. */
static dt_status select_owned(dt_op_call *call, int dim, int64_t index) {
    const dt_op_value *input = &call->inputs[0];
    dt__array out = dt__array_of(&call->outputs[0]);
    int64_t local = index - input->offset[dim];
    if (local < 0 || local >= input->shape[dim]) {
        dt__constant constant;
        dt__array zero = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT}, out.dtype, &constant);
        dt__run_convert(call, &out, &zero);
        return DT_OK;
    }
    dt__view view = dt__view_of_value(call, input);
    DT__TRY(dt__view_select(&view, dim, local));
    unsigned char *first = (unsigned char *)input->data + view.offset * (int64_t)dt_dtype_size(input->dtype);
    dt__run_convert(call, &out, &(dt__array){first, input->dtype, view.n_dims, view.shape, view.strides});
    return DT_OK;
}

static dt_status select_index(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims);
    int64_t index = call->args[2].as.i < 0 ? call->args[2].as.i + input->global_shape[dim] : call->args[2].as.i;
    if (call->row_flags & DT_ROW_OFFSET)
        return select_owned(call, dim, index);
    dt__view view = dt__view_of_value(call, input);
    DT__TRY(dt__view_select(&view, dim, call->row_flags & DT_ROW_WINDOW ? 0 : index));
    return dt__set_view(call, 0, &view);
}

const dt_op dt__op_transpose = {
    .schema = "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    .summary = "Swaps two dims, as a view.",
    .rule = "...[dim0:a][dim1:b] -> ...[dim0:b][dim1:a]",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_transpose,
    .kernel = transpose,
    .gradient = "self: transpose(grad, dim0, dim1)",
    .samples = "transpose(f32[5,3]; 0; 1)\ntranspose(f32[2,5,3]; -1; 0)",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_expand = {
    .schema = "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
    .summary = "Repeats dims of size 1, as a view; -1 keeps a size.",
    .rule = "... -> ...",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_expand,
    .kernel = expand,
    .gradient = "self: grad",
    .samples = "expand(f32[5,1]; [5,3])\nexpand(f32[3]; [2,-1])",
    .flags = DT_OP_VIEW,
    .unused = "implicit",
};
const dt_op dt__op_slice = {
    .schema = "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    .summary = "Elements start to end - 1 of a dim, in steps, as a view.",
    .rule = "...[dim] -> ...[dim]",
    .partial = DT_PARTIAL_ANY,
    .varying = "start,end",
    .class_of = class_slice,
    .rows = rows_slice,
    .window = window_slice,
    .shape = shape_slice,
    .kernel = slice,
    .gradient =
        "self: slice_backward(grad, self.shape, dim, either(start, 0), either(end, size(self.shape, dim)), step)",
    .samples = "slice(f32[5,3]; 0; 1; 4)\nslice(f32[5,3]; 1; -2)\nslice(f32[5,3]; 0; 0; 5; 2)\nslice(f32[5,3]; 0)",
    .flags = DT_OP_VIEW | DT_OP_POSITIONAL,
};
const dt_op dt__op_select = {
    .schema = "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
    .summary = "One index of a dim, which is removed, as a view.",
    .rule = "...[dim:k@] -> ...",
    .partial = DT_PARTIAL_ANY,
    .varying = "index",
    .class_of = class_select,
    .rows = rows_select,
    .window = window_select,
    .check = check_select,
    .shape = shape_select,
    .kernel = select_index,
    .gradient = "self: select_backward(grad, self.shape, dim, index)",
    .samples = "select(f32[5,3]; 0; 2)\nselect(f32[5,3]; 1; -1)",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_broadcast_to = {
    .schema = "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)",
    .summary = "Repeats dims of size 1, as a view.",
    .rule = "... -> ...",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_expand,
    .kernel = expand,
    .gradient = "self: grad",
    .samples = "broadcast_to(f32[5,1]; [2,5,3])",
    .flags = DT_OP_VIEW,
};

static dt_status shape_expand_as(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *other = &call->inputs[1];
    int more = other->n_dims - self->n_dims;
    bool fits = more >= 0;
    for (int d = 0; d < self->n_dims && fits; d++)
        fits = self->shape[d] == 1 || self->shape[d] == other->shape[d + more];
    return fits ? dt_op_add_output(call, self->dtype, other->n_dims, other->shape)
                : dt_op_refuse(call, DT_ERR_SHAPE, "the first tensor does not broadcast to the second");
}

static dt_status decompose_expand_as(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_shape shape = {call->inputs[1].n_dims, call->inputs[1].shape};
    outputs[0] = dt_expand(inputs[0], shape);
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_expand_as = {
    .schema = "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    .summary = "Repeats dims of size 1 to the shape of another tensor, as a view.",
    .shape = shape_expand_as,
    .decompose = decompose_expand_as,
    .samples = "expand_as(f32[5,1]; f32[2,5,3])",
};
