/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops on dims: transpose, expand, slice, select, split, cat. Dims that an op leaves as they are keep their shards, and
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

/* The length of the range; of a sharded dim, which is fetched in windows, also where it starts. */
static int64_t class_slice(const dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t dim = call->args[1].as.i, start, end;
    if (dim < -input->n_dims || dim >= input->n_dims)
        return 0; /* which is refused */
    int at = dt__wrap_dim(dim, input->n_dims);
    read_range(call, input->shape[at], &start, &end);
    return (int64_t)((uint64_t)dt__class_of_start(input, at, start) << 32 | (uint64_t)(end - start));
}

static void rows_slice(const dt_op_call *call, dt_rows *rows) {
    dt__rows_window(rows, dt__wrap_dim(call->args[1].as.i, call->inputs[0].n_dims));
}

static void window_slice(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *output = &call->outputs[0];
    int64_t start, end, step = call->args[4].as.i;
    if (dim != dt__wrap_dim(call->args[1].as.i, output->n_dims))
        return;
    read_range(call, call->inputs[input].shape[dim], &start, &end);
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
        return 0; /* which is refused */
    int at = dt__wrap_dim(dim, input->n_dims);
    int64_t size = input->shape[at], first = index < 0 ? index + size : index;
    return first >= 0 && first < size ? dt__class_of_start(input, at, first) : 0;
}

/* Every rank fetches the index, or a part of it along another dim. */
static void rows_select(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims);
    if (input->shape[dim] > DT__MAX_WINDOW_SIZE)
        return;
    dt_rows_add(rows, DT_ROW_WINDOW, (dt_row_entry[]){DT_ROW_S(dim), DT_ROW_R});
    for (int d = 0; d < call->outputs[0].n_dims; d++)
        dt_rows_add(rows, DT_ROW_WINDOW, (dt_row_entry[]){DT_ROW_S(dim), DT_ROW_S(d)});
}

static void window_select(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *from = &call->inputs[input], *to = &call->outputs[0];
    int selected = dt__wrap_dim(call->args[1].as.i, from->n_dims), kept = dim - (dim > selected);
    int64_t index = call->args[2].as.i;
    if (dim == selected)
        dt_window_add(out, index < 0 ? index + from->shape[dim] : index, 1, 1);
    else if (to->shape[kept] != to->global_shape[kept])
        dt_window_add(out, to->offset[kept], to->shape[kept], 1);
}

enum { MAX_OUTPUTS = 1 << 16 };

static dt_status add_splits(dt_op_call *call, int dim, int n, const int64_t *sizes, int64_t size) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {.n = input->n_dims};
    int64_t left = input->shape[dim];
    memcpy(shape.sizes, input->shape, (size_t)input->n_dims * sizeof *shape.sizes);
    for (int i = 0; i < n; i++) {
        shape.sizes[dim] = sizes ? sizes[i] : dt__min_i64(size, left);
        left -= shape.sizes[dim];
        DT__TRY(dt__add_shape(call, input->dtype, &shape));
    }
    return DT_OK;
}

static dt_status check_split_sizes(const dt_op_call *call, const dt_arg *sizes, int64_t size) {
    int64_t all = 0;
    for (int i = 0; i < sizes->n; i++)
        if (sizes->as.ints[i] < 0 || !dt__add_i64(all, sizes->as.ints[i], &all))
            return dt_op_refuse(call, DT_ERR_VALUE, "split_sizes: expected sizes of at least 0, got %" PRId64,
                                sizes->as.ints[i]);
    if (all != size)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "split_sizes: expected a sum of %" PRId64 ", the size of the dim, got %" PRId64, size,
                            all);
    return DT_OK;
}

static dt_status shape_split(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const dt_arg *arg = &call->args[1];
    int dim;
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "cannot split a tensor without dims");
    DT__TRY(dt__read_dim(call, call->args[2].as.i, input->n_dims, &dim));
    int64_t size = input->shape[dim];
    if (arg->type == DT_ARG_INTS) {
        DT__TRY(check_split_sizes(call, arg, size));
        return add_splits(call, dim, arg->n, arg->as.ints, 0);
    }
    if (arg->as.i < 0 || (arg->as.i == 0 && size > 0))
        return dt_op_refuse(call, DT_ERR_VALUE, "split_size: expected at least 1, got %" PRId64, arg->as.i);
    int64_t n = arg->as.i ? dt__max_i64(dt__ceil_div(size, arg->as.i), 1) : 1;
    if (n > MAX_OUTPUTS)
        return dt_op_refuse(call, DT_ERR_VALUE, "too many outputs: expected at most %d, got %" PRId64, MAX_OUTPUTS,
                            n);
    return add_splits(call, dim, (int)n, NULL, arg->as.i);
}

static void rows_split(const dt_op_call *call, dt_rows *rows) {
    dt__rows_window(rows, dt__wrap_dim(call->args[2].as.i, call->inputs[0].n_dims));
}

/* What each output needs, one after the other. */
static void window_split(const dt_op_call *call, int input, int dim, dt_window *out) {
    int64_t start = 0;
    if (dim != dt__wrap_dim(call->args[2].as.i, call->inputs[input].n_dims))
        return;
    for (int o = 0; o < call->n_outputs; o++) {
        const dt_op_value *output = &call->outputs[o];
        dt_window_add(out, start + output->offset[dim], output->shape[dim], 1);
        start += output->global_shape[dim];
    }
}

/* An empty vector can be concatenated with tensors of any shape. */
static bool is_empty_vector(const dt_op_value *value) { return value->n_dims == 1 && value->shape[0] == 0; }

static const dt_op_value *first_of_cat(const dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (!is_empty_vector(&call->inputs[i]))
            return &call->inputs[i];
    return &call->inputs[0];
}

static dt_status check_cat(const dt_op_call *call, const dt_op_value *first, const dt_op_value *other, int dim) {
    bool fits = other->n_dims == first->n_dims;
    for (int d = 0; d < first->n_dims && fits; d++)
        fits = d == dim || other->shape[d] == first->shape[d];
    return fits ? DT_OK
                : dt_op_refuse(call, DT_ERR_SHAPE,
                               "the shapes differ in a dim other than %d, along which the tensors are concatenated",
                               dim);
}

static dt_status shape_cat(dt_op_call *call) {
    if (call->n_inputs == 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "the list of tensors is empty");
    const dt_op_value *first = first_of_cat(call);
    dt__shape shape = {.n = first->n_dims};
    int dim;
    if (first->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "cannot concatenate tensors without dims");
    DT__TRY(dt__read_dim(call, call->args[1].as.i, first->n_dims, &dim));
    memcpy(shape.sizes, first->shape, (size_t)first->n_dims * sizeof *shape.sizes);
    shape.sizes[dim] = 0;
    dt_dtype dtype = call->inputs[0].dtype;
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_op_value *input = &call->inputs[i];
        dtype = dt__promote(dtype, input->dtype);
        if (is_empty_vector(input))
            continue;
        DT__TRY(check_cat(call, first, input, dim));
        if (!dt__add_i64(shape.sizes[dim], input->shape[dim], &shape.sizes[dim]))
            return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than 2^63 - 1 elements");
    }
    return dt__add_shape(call, dtype, &shape);
}

/* Of several dtypes, the result's holds all values: order is kept. */
static unsigned partial_cat(const dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i].dtype != call->outputs[0].dtype)
            return DT_PARTIAL_MAX | DT_PARTIAL_MIN;
    return DT_PARTIAL_ANY;
}

static void rows_cat(const dt_op_call *call, dt_rows *rows) {
    dt__rows_window(rows, dt__wrap_dim(call->args[1].as.i, call->outputs[0].n_dims));
}

/* The part of each tensor that is in this rank's part of the result. */
static void window_cat(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *output = &call->outputs[0];
    int64_t start = 0, first = output->offset[dim], end = first + output->shape[dim];
    if (is_empty_vector(&call->inputs[input]) || dim != dt__wrap_dim(call->args[1].as.i, output->n_dims))
        return;
    for (int i = 0; i < input; i++)
        start += is_empty_vector(&call->inputs[i]) ? 0 : call->inputs[i].shape[dim];
    int64_t from = dt__max_i64(first, start), to = dt__min_i64(end, start + call->inputs[input].shape[dim]);
    dt_window_add(out, from < to ? from - start : 0, dt__max_i64(to - from, 0), 1);
    dt_window_place(out, from < to ? from - first : 0);
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

static dt_status split(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dt__wrap_dim(call->args[2].as.i, input->n_dims);
    int64_t start = 0;
    for (int i = 0; i < call->n_outputs; i++) {
        dt__view view = dt__view_of_value(call, input);
        int64_t size = call->outputs[i].shape[dim];
        DT__TRY(dt__view_narrow(&view, dim, start, size));
        DT__TRY(dt__set_view(call, i, &view));
        start += size;
    }
    return DT_OK;
}

static dt_status cat(dt_op_call *call) {
    dt_op_value out = call->outputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, out.n_dims);
    int64_t start = 0;
    for (int i = 0; i < call->n_inputs; i++) {
        dt__array from = dt__array_of(&call->inputs[i]);
        if (from.n_dims != out.n_dims || dt__array_count(&from) == 0)
            continue; /* has no elements */
        dt__view view = dt__view_of_value(call, &out);
        DT__TRY(dt__view_narrow(&view, dim, start, from.shape[dim]));
        unsigned char *first = (unsigned char *)out.data + view.offset * (int64_t)dt_dtype_size(out.dtype);
        dt__run_convert(call, &(dt__array){first, out.dtype, view.n_dims, view.shape, view.strides}, &from);
        start += from.shape[dim];
    }
    return DT_OK;
}

/* The gradient of each tensor is the range of the gradient that it went to. */
static dt_status cat_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *output = &call->call->outputs[0];
    int dim = dt__wrap_dim(call->call->args[1].as.i, output->n_dims);
    int64_t start = 0;
    for (int i = 0; i < call->call->n_inputs; i++) {
        const dt_op_value *input = &call->call->inputs[i];
        if (is_empty_vector(input) && output->n_dims != 1)
            continue;
        if (call->needed[i] && !(input_grads[i] = dt_slice(call->grads[0], dim, start, start + input->shape[dim], 1)))
            return dt_error_status(call->call->ctx);
        start += input->shape[dim];
    }
    return DT_OK;
}

/* The gradients of the views, side by side. */
static dt_status split_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op_call = call->call;
    const dt_op_value *input = &op_call->inputs[0];
    int dim = dt__wrap_dim(op_call->args[2].as.i, input->n_dims);
    int64_t start = 0;
    dt_tensor *sum = NULL;
    for (int o = 0; o < op_call->n_outputs; o++) {
        int64_t size = op_call->outputs[o].shape[dim];
        dt_tensor *grad = call->grads[o], *padded = NULL;
        if (grad && size > 0) {
            dt_shape sizes = {input->n_dims, input->shape};
            if (!(padded = dt_slice_backward(grad, sizes, dim, start, start + size, 1)))
                return dt_error_status(op_call->ctx);
            dt_tensor *more = sum ? dt_add(sum, padded) : padded;
            if (!more)
                return dt_error_status(op_call->ctx);
            sum = more;
        }
        start += size;
    }
    input_grads[0] = sum;
    return DT_OK;
}

const dt_op dt__op_transpose = {
    .schema = "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    .summary = "Exchanges two dims, as a view.",
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
const dt_op dt__op_split = {
    .schema = "split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[] | "
              "split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]",
    .summary = "Splits a dim into blocks of one size, or of the given sizes, as views.",
    .rule = "...[dim!] -> ...[dim]",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_split,
    .window = window_split,
    .shape = shape_split,
    .kernel = split,
    .backward = split_backward,
    .samples = "split(f32[5,3]; 2)\nsplit(f32[5,3]; [1,2]; 1)",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_cat = {
    .schema = "cat(Tensor[] tensors, int dim=0) -> Tensor",
    .summary = "Concatenates tensors along a dim.",
    .rule = "...[dim] -> ...[dim]",
    .partial_of = partial_cat,
    .rows = rows_cat,
    .window = window_cat,
    .flags = DT_OP_MOVES,
    .shape = shape_cat,
    .kernel = cat,
    .saves = "",
    .backward = cat_backward,
    .samples = "cat({f32[5,3]; f32[2,3]})\ncat({f32[5,3]; f32[5,1]; f32[5,3]}; 1)\ncat({f32[0]; f32[5,3]})\n"
               "cat({f32[5,3]; i32[2,3]})",
};
