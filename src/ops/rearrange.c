/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that move the elements of dims: flip, roll, pad. Along sharded dims each rank fetches the window that it needs.
 */
#include "dtensor/ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments. */
enum { DIMS, SHIFTS, PAD = 0, VALUE, MODE };

static void *at_index(const dt__array *array, int dim, int64_t index) {
    return (unsigned char *)array->data + index * array->strides[dim] * (int64_t)dt_dtype_size(array->dtype);
}

/* Flipping no dims is a copy, whatever is sharded. */
static void rows_flip(const dt_op_call *call, dt_rows *rows) {
    dt_rows_factors(rows, dt__arg_at(call, DIMS)->n ? "...[dims^] -> ...[dims]" : "... -> ...", DT_PARTIAL_ANY);
}

static void window_flip(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *from = &call->inputs[input], *to = &call->outputs[0];
    const dt_arg *dims = dt__arg_at(call, DIMS);
    if (dims->n && dt__wrap_dims(dims, from->n_dims) >> dim & 1)
        dt_window_add(out, from->global_shape[dim] - 1 - to->offset[dim], to->shape[dim], -1);
}

static dt_status shape_flip(dt_op_call *call) {
    uint32_t ignored;
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DIMS), call->inputs[0].n_dims, &ignored));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

/* A copy from an array that is read backwards. */
static dt_status flip(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    const dt_arg *dims = dt__arg_at(call, DIMS);
    uint32_t flipped = dims->n ? dt__wrap_dims(dims, in.n_dims) : 0;
    int64_t strides[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < in.n_dims; d++) {
        bool flips = flipped >> d & 1 && in.shape[d] > 0;
        in.data = flips ? at_index(&in, d, in.shape[d] - 1) : in.data;
        strides[d] = flips ? -in.strides[d] : in.strides[d];
    }
    in.strides = strides;
    dt__run_convert(call, &out, &in);
    return DT_OK;
}

static dt_status shape_roll(dt_op_call *call) {
    const dt_arg *dims = dt__arg_at(call, DIMS), *shifts = dt__arg_at(call, SHIFTS);
    uint32_t ignored;
    if (shifts->n != (dims->n ? dims->n : 1))
        return dt_op_refuse(call, DT_ERR_VALUE, "shifts: expected one per dim, %d, got %d", dims->n ? dims->n : 1,
                            shifts->n);
    DT__TRY(dt__read_dims(call, dims, call->inputs[0].n_dims, &ignored));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

/* Without dims the elements are moved in row-major order: nothing may be sharded. */
static void rows_roll(const dt_op_call *call, dt_rows *rows) {
    dt_rows_factors(rows, dt__arg_at(call, DIMS)->n ? "...[dims^] -> ...[dims]" : "...[dims!] -> ...[dims]",
                    DT_PARTIAL_ANY);
}

/* One run, or two around the end. */
static void window_roll(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *from = &call->inputs[input], *to = &call->outputs[0];
    const dt_arg *dims = dt__arg_at(call, DIMS), *shifts = dt__arg_at(call, SHIFTS);
    int64_t n = from->global_shape[dim], size = to->shape[dim];
    for (int i = 0; i < dims->n; i++) {
        if (dt__wrap_dim(dims->as.ints[i], from->n_dims) != dim)
            continue;
        int64_t start = (to->offset[dim] - shifts->as.ints[i] % n) % n;
        start += start < 0 ? n : 0;
        dt_window_add(out, start, dt__min_i64(size, n - start), 1);
        if (size > n - start)
            dt_window_add(out, 0, size - (n - start), 1);
    }
}

/* Each dim in two pieces: the last `shift` indices come first. */
static void roll_piece(const dt_op_call *call, const dt__array *out, const dt__array *in, const int64_t *shifts,
                       int dim) {
    while (dim < in->n_dims && shifts[dim] == 0)
        dim++;
    if (dim == in->n_dims) {
        dt__run_convert(call, out, in);
        return;
    }
    for (int piece = 0; piece < 2; piece++) {
        int64_t shape[DT_SPEC_MAX_DIMS], size = in->shape[dim], shift = shifts[dim];
        dt__array from = *in, to = *out;
        memcpy(shape, in->shape, (size_t)in->n_dims * sizeof *shape);
        shape[dim] = piece ? size - shift : shift;
        from.shape = to.shape = shape;
        from.data = piece ? in->data : at_index(in, dim, size - shift);
        to.data = piece ? at_index(out, dim, shift) : out->data;
        roll_piece(call, &to, &from, shifts, dim + 1);
    }
}

/* Without dims, the elements in row-major order. */
static dt_status roll_flat(const dt_op_call *call, const dt__array *out, const dt__array *in, int64_t shift) {
    dt__scratch dense;
    int64_t count = dt__array_count(in), one = 1;
    DT__TRY(dt__scratch_new(call, in->dtype, in->n_dims, in->shape, &dense));
    dt__run_convert(call, &dense.array, in);
    dt__array from = {dense.array.data, in->dtype, 1, &count, &one}, to = {out->data, out->dtype, 1, &count, &one};
    shift = shift % count + (shift % count < 0 ? count : 0);
    roll_piece(call, &to, &from, &shift, 0);
    dt__scratch_free(call, &dense);
    return DT_OK;
}

static dt_status roll(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    const dt_arg *dims = dt__arg_at(call, DIMS), *shifts = dt__arg_at(call, SHIFTS);
    int64_t by_dim[DT_SPEC_MAX_DIMS] = {0};
    if (dt__array_count(&in) == 0)
        return DT_OK;
    if (dims->n == 0)
        return roll_flat(call, &out, &in, shifts->as.ints[0]);
    for (int i = 0; i < dims->n && in.n_dims > 0; i++) {
        int d = dt__wrap_dim(dims->as.ints[i], in.n_dims);
        int64_t shift = shifts->as.ints[i] % in.shape[d];
        by_dim[d] = shift < 0 ? shift + in.shape[d] : shift;
    }
    roll_piece(call, &out, &in, by_dim, 0);
    return DT_OK;
}

/* The modes of padding, and from which index of a dim of size n, padded by at most `max`, an index is read. */
static int64_t replicate(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
static int64_t reflect(int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }
static int64_t circular(int64_t i, int64_t n) { return i < 0 ? i + n : i >= n ? i - n : i; }

static const struct pad_mode {
    const char *name;
    int64_t (*source)(int64_t i, int64_t n); /* NULL: none, but the value */
    int less_than_size;                      /* the padding is at most the size less this; -1: any */
    bool cuts_first;                         /* what negative padding cuts off is not read */
    int step;                                /* from an index of the padding to the next, where it is read */
} pad_modes[] = {{"constant", NULL, -1, false, 0},
                 {"replicate", replicate, -1, false, 0},
                 {"reflect", reflect, 1, false, -1},
                 {"circular", circular, 0, true, 1}};
enum { N_PAD_MODES = sizeof pad_modes / sizeof *pad_modes };

static const struct pad_mode *pad_mode_of(const dt_op_call *call) {
    const dt_arg *mode = dt__arg_at(call, MODE);
    for (int i = 0; i < N_PAD_MODES && mode; i++)
        if (strcmp(mode->as.text, pad_modes[i].name) == 0)
            return &pad_modes[i];
    return mode ? NULL : &pad_modes[0];
}

/* What is added before and after dim d, the last dim first in the list. */
static int64_t pad_at(const dt_op_call *call, int d, int after) {
    const dt_arg *pad = dt__arg_at(call, PAD);
    int i = 2 * (call->inputs[0].n_dims - 1 - d) + after;
    return i < pad->n ? pad->as.ints[i] : 0;
}

static dt_status check_pad(const dt_op_call *call, const struct pad_mode *mode, int d, int64_t *size) {
    int64_t n = call->inputs[0].shape[d];
    for (int after = 0; after < 2; after++) {
        int64_t pad = pad_at(call, d, after);
        if (!dt__add_i64(*size, pad, size) || (pad > 0 && mode->source && n == 0) ||
            (mode->less_than_size >= 0 && pad > n - mode->less_than_size && pad > 0))
            return dt_op_refuse(call, DT_ERR_VALUE, "pad: %" PRId64 " is too much for dim %d of size %" PRId64, pad,
                                d, n);
    }
    return *size >= 0 ? DT_OK
                      : dt_op_refuse(call, DT_ERR_VALUE, "pad: dim %d of size %" PRId64 " would get size %" PRId64, d,
                                     n, *size);
}

static dt_status shape_pad(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const struct pad_mode *mode = pad_mode_of(call);
    const dt_arg *pad = dt__arg_at(call, PAD);
    dt__shape shape = {.n = input->n_dims};
    if (!mode)
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "mode: expected 'constant', 'reflect', 'replicate' or 'circular', got '%.60s'",
                            dt__arg_at(call, MODE)->as.text);
    if (pad->n % 2 || pad->n > 2 * input->n_dims)
        return dt_op_refuse(call, DT_ERR_VALUE,
                            "pad: expected two numbers for each of at most %d dims, got %d numbers", input->n_dims,
                            pad->n);
    for (int d = 0; d < input->n_dims; d++) {
        shape.sizes[d] = input->shape[d];
        DT__TRY(check_pad(call, mode, d, &shape.sizes[d]));
    }
    return dt__add_made(call, input->dtype, shape.n, shape.sizes);
}

static dt_status check_pad_value(const dt_op_call *call) {
    const dt_arg *value = dt__arg_at(call, VALUE);
    return value->type == DT_ARG_NONE ? DT_OK : dt__expect_fit(call, value, call->inputs[0].dtype);
}

/* None is 0. */
static int64_t class_pad(const dt_op_call *call) { return dt__class_of_number(dt__arg_at(call, VALUE)); }

/* How a dim is read: index i of the output is source(i - before + cut, size) - cut of the input. */
typedef struct padded_dim {
    int64_t before, cut, size;
} padded_dim;

static padded_dim read_padded_dim(const dt_op_call *call, const struct pad_mode *mode, int d, int64_t size) {
    int64_t before = pad_at(call, d, 0), after = pad_at(call, d, 1);
    int64_t cut = mode->cuts_first ? dt__min_i64(before, 0) : 0;
    return (padded_dim){before, cut, size + cut + (mode->cuts_first ? dt__min_i64(after, 0) : 0)};
}

/* For a value, the elements that are not padding; otherwise a run for what is before, within and after the tensor. */
static void window_pad(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *to = &call->outputs[0];
    const struct pad_mode *mode = pad_mode_of(call);
    int64_t n = call->inputs[input].global_shape[dim], first = to->offset[dim], end = first + to->shape[dim];
    if (!pad_at(call, dim, 0) && !pad_at(call, dim, 1))
        return;
    padded_dim padded = read_padded_dim(call, mode, dim, n);
    int64_t shift = padded.before - padded.cut;
    int64_t bounds[] = {INT64_MIN, shift, shift + padded.size, INT64_MAX};
    for (int zone = mode->source ? 0 : 1; zone < (mode->source ? 3 : 2); zone++) {
        int64_t from = dt__max_i64(first, bounds[zone]), after = dt__min_i64(end, bounds[zone + 1]);
        if (from < after)
            dt_window_add(out, (mode->source ? mode->source(from - shift, padded.size) : from - shift) - padded.cut,
                          after - from, zone == 1 ? 1 : mode->step);
    }
    dt_window_add(out, 0, 0, 1);
}

/* Padded dims are fetched in windows. Copies of elements keep every partial, a value those that it is the
 * reduction of. */
static void rows_pad(const dt_op_call *call, dt_rows *rows) {
    bool copies = pad_mode_of(call)->source;
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        dt_rows_add(rows, pad_at(call, d, 0) || pad_at(call, d, 1) ? DT_ROW_WINDOW : 0,
                    (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d)});
    for (int kind = 0; kind < DT_N_REDUCES; kind++)
        if (copies || (kind != DT_SUM && kind != DT_PRODUCT) || class_pad(call) == DT__NUMBER_ZERO ||
            (kind == DT_PRODUCT && class_pad(call) == DT__NUMBER_ONE))
            dt_rows_reduce(rows, 1, (dt_reduce)kind, (dt_reduce)kind);
}

/* The value everywhere, then the tensor, or what was fetched of it, in its place, without what negative padding cuts
 * off. */
static dt_status pad_with_value(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), from = dt__array_of(&call->inputs[0]), to = out;
    int64_t shape[DT_SPEC_MAX_DIMS];
    dt__constant constant;
    const dt_arg *value = dt__arg_at(call, VALUE);
    dt__array number =
        dt__array_of_number(value->type == DT_ARG_NONE ? &(dt_arg){.type = DT_ARG_INT} : value, out.dtype, &constant);
    dt__run_convert(call, &out, &number);
    for (int d = 0; d < out.n_dims; d++) {
        int64_t in_at = call->inputs[0].offset[d] + pad_at(call, d, 0), out_at = call->outputs[0].offset[d];
        int64_t first = dt__max_i64(in_at, out_at);
        shape[d] = dt__max_i64(0, dt__min_i64(in_at + from.shape[d], out_at + out.shape[d]) - first);
        from.data = shape[d] ? at_index(&from, d, first - in_at) : from.data;
        to.data = shape[d] ? at_index(&to, d, first - out_at) : to.data;
    }
    from.shape = to.shape = shape;
    dt__run_convert(call, &to, &from);
    return DT_OK;
}

/* One padded dim, by the index that each of its indices is read from. */
static dt_status pad_dim(dt_op_call *call, const struct pad_mode *mode, int d, const dt__array *in,
                         const dt__array *out) {
    dt__scratch indices;
    DT__TRY(dt__scratch_new(call, DT_I64, 1, &out->shape[d], &indices));
    int64_t *index = indices.array.data, bad;
    padded_dim padded = read_padded_dim(call, mode, d, in->shape[d]);
    for (int64_t i = 0; i < out->shape[d]; i++)
        index[i] = mode->source(i - padded.before + padded.cut, padded.size) - padded.cut;
    (void)dt__index_select(
        dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
        &(dt__indexed){.indexed = in, .dim = d, .index = &indices.array, .limit = in->shape[d], .other = out}, &bad);
    dt__scratch_free(call, &indices);
    return DT_OK;
}

/* The dims that are padded one after the other, the last to the output. */
static dt_status pad_from(dt_op_call *call, const struct pad_mode *mode, int d, const dt__array *in) {
    dt__array out = dt__array_of(&call->outputs[0]);
    while (d < out.n_dims && !pad_at(call, d, 0) && !pad_at(call, d, 1))
        d++;
    if (d == out.n_dims) {
        dt__run_convert(call, &out, in);
        return DT_OK;
    }
    int64_t shape[DT_SPEC_MAX_DIMS];
    memcpy(shape, in->shape, (size_t)in->n_dims * sizeof *shape);
    shape[d] = out.shape[d];
    dt__scratch padded;
    DT__TRY(dt__scratch_new(call, in->dtype, in->n_dims, shape, &padded));
    dt_status status = pad_dim(call, mode, d, in, &padded.array);
    if (status == DT_OK)
        status = pad_from(call, mode, d + 1, &padded.array);
    dt__scratch_free(call, &padded);
    return status;
}

static dt_status pad(dt_op_call *call) {
    dt__array in = dt__array_of(&call->inputs[0]), out = dt__array_of(&call->outputs[0]);
    const struct pad_mode *mode = pad_mode_of(call);
    if (dt__array_count(&out) == 0)
        return DT_OK;
    if (mode->source && call->row_flags & DT_ROW_WINDOW) /* which has the padding already */
        dt__run_convert(call, &out, &in);
    else
        return mode->source ? pad_from(call, mode, 0, &in) : pad_with_value(call);
    return DT_OK;
}

/* For each index of the output of one dim the index that it was read from, as pad_dim has it. */
static dt_tensor *pad_sources(const dt_op_call *call, const struct pad_mode *mode, int d, dt_mesh *mesh) {
    padded_dim padded = read_padded_dim(call, mode, d, call->inputs[0].shape[d]);
    int64_t first = padded.cut - padded.before, last = padded.size - 1, end = first + call->outputs[0].shape[d];
    char place[2 * DT_MESH_MAX_DIMS + 1] = "";
    for (int m = 0; mesh && m < dt_mesh_n_dims(mesh); m++) {
        place[2 * m] = 'R';
        place[2 * m + 1] = m + 1 < dt_mesh_n_dims(mesh) ? ',' : '\0';
    }
    dt_tensor *i = dt_arange(call->ctx, first, end, 1, .dtype = DT_I64, .mesh = mesh, .place = mesh ? place : NULL);
    if (mode->source == replicate)
        i = dt_clamp(i, .min = DT_NUMBER(0), .max = DT_NUMBER(last));
    else if (mode->source == circular)
        i = dt_remainder_scalar_other(i, padded.size);
    else
        i = dt_rsub_scalar(dt_abs(dt_rsub_scalar(dt_abs(i), last)), last);
    return dt_sub_scalar(i, padded.cut);
}

/* The gradient without the padding; that of copies is added to the elements that were copied. */
static dt_status pad_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const struct pad_mode *mode = pad_mode_of(op);
    const dt_arg *pad = dt__arg_at(op, PAD);
    int64_t list[2 * DT_SPEC_MAX_DIMS], sizes[DT_SPEC_MAX_DIMS];
    int n = op->inputs[0].n_dims;
    dt_tensor *grad = call->grads[0];
    for (int i = 0; i < pad->n; i++)
        list[i] = -pad->as.ints[i];
    if (!mode->source)
        grad = dt_constant_pad_nd(grad, ((dt_ints){.n = pad->n, .list = list}));
    memcpy(sizes, op->outputs[0].shape, (size_t)n * sizeof *sizes);
    for (int d = 0; d < n && mode->source; d++) {
        if (!pad_at(op, d, 0) && !pad_at(op, d, 1))
            continue;
        sizes[d] = op->inputs[0].shape[d];
        grad = dt_index_select_backward(grad, pad_sources(op, mode, d, dt_tensor_mesh(call->grads[0])),
                                        ((dt_shape){n, sizes}), d);
    }
    input_grads[0] = grad;
    return grad ? DT_OK : dt_error_status(op->ctx);
}

#define PADDING(mode_)                                                                                               \
    .rows = rows_pad, .window = window_pad, .order = dt__order_of_images, .shape = shape_pad, .kernel = pad,         \
    .arguments = "pad,value" mode_, .varying = "value", .check = check_pad_value, .class_of = class_pad

const dt_op dt__op_constant_pad_nd = {
    .schema = "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
    .summary = "Adds a value before and after the indices of the last dims; negative numbers cut off.",
    PADDING(""),
    .gradient = "self: constant_pad_nd(grad, negative(pad))",
    .samples = "constant_pad_nd(f32[5,3]; [1,2])\nconstant_pad_nd(f32[5,3]; [0,0,-1,2]; 2.5)\n"
               "constant_pad_nd(i32[5]; [1,0]; 1)",
};
const dt_op dt__op_flip = {
    .schema = "flip(Tensor self, int[] dims) -> Tensor",
    .summary = "The indices of dims in reverse order.",
    .rows = rows_flip,
    .window = window_flip,
    .order = dt__order_of_elements,
    .flags = DT_OP_MOVES,
    .shape = shape_flip,
    .kernel = flip,
    .arguments = "dims",
    .gradient = "self: flip(grad, dims)",
    .samples = "flip(f32[5,3]; [0])\nflip(i32[2,5,3]; [-1,0])\nflip(f32[5]; [])",
};
const dt_op dt__op_pad = {
    .schema = "pad(Tensor input, int[] pad, str mode='constant', float? value=None) -> Tensor",
    .summary = "Adds a value, or copies of the elements, before and after the indices of the last dims.",
    PADDING(",mode"),
    .backward = pad_backward,
    .saves = "",
    .samples = "pad(f32[5,3]; [1,2])\npad(f32[5,3]; [1,2]; 'reflect')\npad(f32[5,3]; [1,0,-1,2]; 'replicate')\n"
               "pad(f32[5,3]; [2,1]; 'circular')\npad(f32[5,3]; [0,1]; value=2.5)",
};
const dt_op dt__op_roll = {
    .schema = "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
    .summary = "Moves the indices of dims by shifts, around the end; without dims, of all elements in order.",
    .rows = rows_roll,
    .window = window_roll,
    .flags = DT_OP_MOVES,
    .shape = shape_roll,
    .kernel = roll,
    .arguments = "dims,shifts",
    .gradient = "self: roll(grad, negative(shifts), dims)",
    .samples = "roll(f32[5,3]; 2; 0)\nroll(i32[2,5,3]; [-1,4]; [2,1])\nroll(f32[5,3]; 7)",
};
