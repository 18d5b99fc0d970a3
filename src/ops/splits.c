/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of the ranges of a dim: split, chunk, tensor_split, unbind. An op is a function that lists the sizes of its
 * ranges. A sharded dim is fetched in windows; unbind, whose views lack the dim, needs all of it.
 */
#include "dtensor/ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_OUTPUTS = 1 << 16 };

/* Position in .arguments, of all ops. */
enum { DIM };

/* Adds the outputs, one per range. */
typedef dt_status add_ranges_fn(dt_op_call *call, int dim);

static int dim_of(const dt_op_call *call) {
    return dt__wrap_dim(dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims);
}

static dt_status add_range(dt_op_call *call, int dim, int64_t size) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {.n = input->n_dims};
    memcpy(shape.sizes, input->shape, (size_t)input->n_dims * sizeof *shape.sizes);
    shape.sizes[dim] = size;
    return dt__add_shape(call, input->dtype, &shape);
}

static dt_status check_count(const dt_op_call *call, int64_t n) {
    return n <= MAX_OUTPUTS ? DT_OK
                            : dt_op_refuse(call, DT_ERR_VALUE, "too many outputs: expected at most %d, got %" PRId64,
                                           MAX_OUTPUTS, n);
}

/* Blocks of one size; the last may be smaller. */
static dt_status add_blocks(dt_op_call *call, int dim, int64_t size) {
    int64_t left = call->inputs[0].shape[dim], n = size ? dt__max_i64(dt__ceil_div(left, size), 1) : 1;
    DT__TRY(check_count(call, n));
    for (int64_t i = 0; i < n; i++, left -= size)
        DT__TRY(add_range(call, dim, dt__min_i64(size, left)));
    return DT_OK;
}

static dt_status add_sizes(dt_op_call *call, int dim) {
    const dt_arg *sizes = &call->args[1];
    int64_t all = 0, size = call->inputs[0].shape[dim];
    for (int i = 0; i < sizes->n; i++)
        if (sizes->as.ints[i] < 0 || !dt__add_i64(all, sizes->as.ints[i], &all))
            return dt_op_refuse(call, DT_ERR_VALUE, "split_sizes: expected sizes of at least 0, got %" PRId64,
                                sizes->as.ints[i]);
    if (all != size)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "split_sizes: expected a sum of %" PRId64 ", the size of the dim, got %" PRId64, size,
                            all);
    for (int i = 0; i < sizes->n; i++)
        DT__TRY(add_range(call, dim, sizes->as.ints[i]));
    return DT_OK;
}

static dt_status add_split(dt_op_call *call, int dim) {
    const dt_arg *size = &call->args[1];
    if (size->type == DT_ARG_INTS)
        return add_sizes(call, dim);
    if (size->as.i < 0 || (size->as.i == 0 && call->inputs[0].shape[dim] > 0))
        return dt_op_refuse(call, DT_ERR_VALUE, "split_size: expected at least 1, got %" PRId64, size->as.i);
    return add_blocks(call, dim, size->as.i);
}

/* At most as many blocks as chunks; of an empty dim as many empty ones. */
static dt_status add_chunks(dt_op_call *call, int dim) {
    int64_t n = call->args[1].as.i, size = call->inputs[0].shape[dim];
    if (n < 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "chunks: expected at least 1, got %" PRId64, n);
    if (size > 0)
        return add_blocks(call, dim, dt__ceil_div(size, n));
    DT__TRY(check_count(call, n));
    for (int64_t i = 0; i < n; i++)
        DT__TRY(add_range(call, dim, 0));
    return DT_OK;
}

/* Up to an index, as in a slice of Python. */
static int64_t clip_index(int64_t index, int64_t size) {
    return index < 0 ? dt__max_i64(index < -size ? 0 : index + size, 0) : dt__min_i64(index, size);
}

/* Sections of sizes that differ by at most 1, the larger ones first; or the ranges between indices. */
static dt_status add_sections(dt_op_call *call, int dim) {
    const dt_arg *arg = &call->args[1];
    int64_t size = call->inputs[0].shape[dim], start = 0;
    if (arg->type == DT_ARG_INTS) {
        DT__TRY(check_count(call, (int64_t)arg->n + 1));
        for (int i = 0; i <= arg->n; i++) {
            int64_t end = i < arg->n ? clip_index(arg->as.ints[i], size) : size;
            DT__TRY(add_range(call, dim, dt__max_i64(end - start, 0)));
            start = end;
        }
        return DT_OK;
    }
    if (arg->as.i < 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "sections: expected at least 1, got %" PRId64, arg->as.i);
    DT__TRY(check_count(call, arg->as.i));
    for (int64_t i = 0; i < arg->as.i; i++)
        DT__TRY(add_range(call, dim, size / arg->as.i + (i < size % arg->as.i)));
    return DT_OK;
}

static dt_status shape_ranges(dt_op_call *call) {
    add_ranges_fn *const *add = call->op->family;
    int dim;
    if (call->inputs[0].n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "cannot split a tensor without dims");
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims, &dim));
    return (*add)(call, dim);
}

/* Where range i of tensor_split starts in a dim of this size; ranges of the other ops start where the one before
 * ends. */
static int64_t start_of(const dt_op_call *call, int i, int64_t size, int64_t end_before) {
    const dt_arg *arg = call->n_args > 1 ? &call->args[1] : NULL;
    add_ranges_fn *const *add = call->op->family;
    return *add == add_sections && arg && arg->type == DT_ARG_INTS && i > 0 ? clip_index(arg->as.ints[i - 1], size)
                                                                            : end_before;
}

static void rows_ranges(const dt_op_call *call, dt_rows *rows) { dt__rows_window(rows, dim_of(call)); }

/* What each output needs, one after the other. */
static void window_ranges(const dt_op_call *call, int input, int dim, dt_window *out) {
    int64_t start = 0;
    if (dim != dim_of(call))
        return;
    for (int o = 0; o < call->n_outputs; o++) {
        const dt_op_value *output = &call->outputs[o];
        start = start_of(call, o, call->inputs[input].global_shape[dim], start);
        dt_window_add(out, start + output->offset[dim], output->shape[dim], 1);
        start += output->global_shape[dim];
    }
}

/* The windows follow each other. */
static dt_status ranges(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dim_of(call);
    bool fetched = call->row_flags & DT_ROW_WINDOW;
    int64_t start = 0;
    for (int o = 0; o < call->n_outputs; o++) {
        dt__view view = dt__view_of_value(call, input);
        int64_t size = call->outputs[o].shape[dim];
        start = fetched ? start : start_of(call, o, input->shape[dim], start);
        DT__TRY(dt__view_narrow(&view, dim, size ? start : 0, size));
        DT__TRY(dt__set_view(call, o, &view));
        start += size;
    }
    return DT_OK;
}

/* A gradient for each view, without gaps or overlap: they are all parts of the result. */
static bool covers(const dt_op_backward *call, int dim) {
    const dt_op_call *forward = call->call;
    int64_t end = 0;
    for (int o = 0; o < forward->n_outputs; o++) {
        if (!call->grads[o] || start_of(forward, o, forward->inputs[0].shape[dim], end) != end)
            return false;
        end += forward->outputs[o].shape[dim];
    }
    return end == forward->inputs[0].shape[dim];
}

/* The gradients of the views side by side; where some are missing, the sum of those that exist, in their places. */
static dt_status ranges_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *forward = call->call;
    const dt_op_value *input = &forward->inputs[0];
    int dim = dim_of(forward);
    int64_t start = 0;
    dt_tensor *sum = NULL;
    if (covers(call, dim)) {
        input_grads[0] = dt_cat(((dt_tensors){forward->n_outputs, call->grads}), .dim = DT_INT(dim));
        return input_grads[0] ? DT_OK : dt_error_status(forward->ctx);
    }
    for (int o = 0; o < forward->n_outputs; o++) {
        int64_t size = forward->outputs[o].shape[dim];
        start = start_of(forward, o, input->shape[dim], start);
        if (call->grads[o] && size > 0) {
            dt_shape sizes = {input->n_dims, input->shape};
            dt_tensor *placed = dt_slice_backward(call->grads[o], sizes, dim, start, start + size, 1);
            dt_tensor *more = sum && placed ? dt_add(sum, placed) : placed;
            if (!more)
                return dt_error_status(forward->ctx);
            sum = more;
        }
        start += size;
    }
    input_grads[0] = sum;
    return DT_OK;
}

static dt_status shape_unbind(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {0};
    int dim;
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "cannot unbind a tensor without dims");
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, input->n_dims, &dim));
    DT__TRY(check_count(call, input->shape[dim]));
    for (int d = 0; d < input->n_dims; d++)
        if (d != dim)
            shape.sizes[shape.n++] = input->shape[d];
    for (int64_t i = 0; i < input->shape[dim]; i++)
        DT__TRY(dt__add_shape(call, input->dtype, &shape));
    return DT_OK;
}

static dt_status unbind(dt_op_call *call) {
    for (int o = 0; o < call->n_outputs; o++) {
        dt__view view = dt__view_of_value(call, &call->inputs[0]);
        DT__TRY(dt__view_select(&view, dim_of(call), o));
        DT__TRY(dt__set_view(call, o, &view));
    }
    return DT_OK;
}

static dt_status unbind_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *forward = call->call;
    const dt_op_value *input = &forward->inputs[0];
    int dim = dim_of(forward), n_grads = 0;
    for (int o = 0; o < forward->n_outputs; o++)
        n_grads += call->grads[o] != NULL;
    if (n_grads == forward->n_outputs && n_grads > 0) {
        input_grads[0] = dt_stack(((dt_tensors){n_grads, call->grads}), .dim = DT_INT(dim));
        return input_grads[0] ? DT_OK : dt_error_status(forward->ctx);
    }
    for (int o = 0; o < forward->n_outputs; o++) {
        dt_shape sizes = {input->n_dims, input->shape};
        if (!call->grads[o])
            continue;
        dt_tensor *placed = dt_select_backward(call->grads[o], sizes, dim, o);
        dt_tensor *sum = input_grads[0] && placed ? dt_add(input_grads[0], placed) : placed;
        if (!sum)
            return dt_error_status(forward->ctx);
        input_grads[0] = sum;
    }
    return DT_OK;
}

#define RANGES(add_)                                                                                                 \
    .partial = DT_PARTIAL_ANY, .rows = rows_ranges, .window = window_ranges, .shape = shape_ranges,                  \
    .kernel = ranges, .backward = ranges_backward, .flags = DT_OP_VIEW, .arguments = "dim",                          \
    .family = &(add_ranges_fn *const) {                                                                              \
        add_                                                                                                         \
    }

const dt_op dt__op_split = {
    .schema = "split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[] | "
              "split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]",
    .summary = "Splits a dim into blocks of one size, or of the given sizes, as views.",
    .rule = "...[dim!] -> ...[dim]",
    RANGES(add_split),
    .samples = "split(f32[5,3]; 2)\nsplit(f32[5,3]; [1,2]; 1)",
};
const dt_op dt__op_split_with_sizes = {
    .schema = "split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    .summary = "Splits a dim into blocks of the given sizes, as views.",
    .rule = "...[dim!] -> ...[dim]",
    RANGES(add_sizes),
    .samples = "split_with_sizes(f32[5,3]; [1,4])",
};
const dt_op dt__op_chunk = {
    .schema = "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
    .summary = "Splits a dim into at most as many blocks of one size, as views; the last may be smaller.",
    .rule = "...[dim!] -> ...[dim]",
    RANGES(add_chunks),
    .samples = "chunk(f32[5,3]; 2)\nchunk(f32[5,3]; 4; -1)\nchunk(f32[0,3]; 2)",
};
const dt_op dt__op_tensor_split = {
    .schema = "tensor_split.sections(Tensor(a -> *) self, int sections, int dim=0) -> Tensor(a)[] | "
              "tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> Tensor(a)[] | "
              "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, "
              "int dim=0) -> Tensor(a)[]",
    .summary = "Splits a dim into sections of nearly one size, or at indices, as views; either may be a tensor.",
    .rule = "...[dim!] -> ...[dim]",
    .read = &(const dt_read){.argument = "tensor_indices_or_sections"},
    RANGES(add_sections),
    .samples = "tensor_split(f32[5,3]; 3)\ntensor_split(f32[5,3]; [1,-2])\ntensor_split(f32[5,3]; [4,2]; 0)",
};
const dt_op dt__op_unbind = {
    .schema = "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
    .summary = "Every index of a dim, which is removed, as views.",
    .rule = "...[dim:k!] -> ...",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_unbind,
    .kernel = unbind,
    .backward = unbind_backward,
    .flags = DT_OP_VIEW,
    .arguments = "dim",
    .samples = "unbind(f32[2,5,3])\nunbind(f32[5,2]; -1)",
};
