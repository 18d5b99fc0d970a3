/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that move dims or take parts of them: transpose, expand, slice, select, split, cat. Dims that an op leaves whole
 * keep their cuts, and partials of any kind pass.
 */
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

static void rows_transpose(const dt_op_call *call, dt_rows *rows) {
    int n = call->inputs[0].n_dims, map[DT_SPEC_MAX_DIMS];
    int a = dt__wrap_dim(call->args[1].as.i, n), b = dt__wrap_dim(call->args[2].as.i, n);
    for (int d = 0; d < n; d++)
        map[d] = d == a ? b : d == b ? a : d;
    dt__rows_map(call, rows, map);
}

static dt_status shape_expand(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const dt_arg *size = &call->args[1];
    dt__shape shape = {.n = size->n};
    int more = size->n - input->n_dims;
    if (more < 0 || size->n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "%d sizes are given for a tensor with %d dims", size->n,
                            input->n_dims);
    for (int d = 0; d < size->n; d++) {
        int64_t asked = size->as.ints[d], now = d < more ? -1 : input->shape[d - more];
        if (asked < -1 || (asked == -1 && d < more) || (now >= 0 && now != 1 && asked != -1 && asked != now))
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "dim %d cannot become %" PRId64 "; wanted its size, or any where it is 1", d, asked);
        shape.sizes[d] = asked == -1 ? now : asked;
    }
    return dt__add_shape(call, input->dtype, &shape);
}

static void rows_expand(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *input = &call->inputs[0], *output = &call->outputs[0];
    int map[DT_SPEC_MAX_DIMS], more = output->n_dims - input->n_dims;
    for (int d = 0; d < input->n_dims; d++)
        map[d] = input->shape[d] == output->shape[d + more] ? d + more : -1;
    dt__rows_map(call, rows, map);
}

/* Start and end within the dim, as Python counts them. */
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
        return dt_op_refuse(call, DT_ERR_SHAPE, "the tensor has no dims to slice");
    DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims, &dim));
    if (step < 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "step is %" PRId64 "; wanted at least 1", step);
    memcpy(shape.sizes, input->shape, (size_t)input->n_dims * sizeof *shape.sizes);
    read_range(call, input->shape[dim], &start, &end);
    shape.sizes[dim] = dt__ceil_div(end - start, step);
    return dt__add_shape(call, input->dtype, &shape);
}

/* A slice of the whole dim cuts nothing off it. */
static void rows_slice(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims), map[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < input->n_dims; d++)
        map[d] = d != dim || call->outputs[0].shape[d] == input->shape[d] ? d : -1;
    dt__rows_map(call, rows, map);
}

static dt_status shape_select(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {0};
    int64_t index = call->args[2].as.i;
    int dim;
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the tensor has no dims to select from");
    DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims, &dim));
    if (index < -input->shape[dim] || index >= input->shape[dim])
        return dt_op_refuse(call, DT_ERR_VALUE, "there is no index %" PRId64 " in dim %d, which has size %" PRId64,
                            index, dim, input->shape[dim]);
    for (int d = 0; d < input->n_dims; d++)
        if (d != dim)
            shape.sizes[shape.n++] = input->shape[d];
    return dt__add_shape(call, input->dtype, &shape);
}

/* Of a sharded dim, the owner of the index has the values, and the others have zeros. */
static void rows_select(const dt_op_call *call, dt_rows *rows) {
    int n = call->inputs[0].n_dims, dim = dt__wrap_dim(call->args[1].as.i, n), map[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < n; d++)
        map[d] = d < dim ? d : d > dim ? d - 1 : -1;
    dt__rows_map(call, rows, map);
    dt_rows_add(rows, DT_ROW_OFFSET, (dt_row_entry[]){DT_ROW_S(dim), DT_ROW_P(DT_SUM)});
}

enum { MOST_PARTS = 1 << 16 };

static dt_status add_parts(dt_op_call *call, int dim, int n, const int64_t *sizes, int64_t size) {
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

static dt_status check_part_sizes(const dt_op_call *call, const dt_arg *sizes, int64_t whole) {
    int64_t all = 0;
    for (int i = 0; i < sizes->n; i++)
        if (sizes->as.ints[i] < 0 || !dt__add_i64(all, sizes->as.ints[i], &all))
            return dt_op_refuse(call, DT_ERR_VALUE, "a part cannot have size %" PRId64, sizes->as.ints[i]);
    if (all != whole)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the parts have %" PRId64 " in all; the dim has %" PRId64, all,
                            whole);
    return DT_OK;
}

static dt_status shape_split(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const dt_arg *given = &call->args[1];
    int dim;
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the tensor has no dims to split");
    DT__TRY(dt__read_dim(call, call->args[2].as.i, input->n_dims, &dim));
    int64_t whole = input->shape[dim];
    if (given->type == DT_ARG_INTS) {
        DT__TRY(check_part_sizes(call, given, whole));
        return add_parts(call, dim, given->n, given->as.ints, 0);
    }
    if (given->as.i < 0 || (given->as.i == 0 && whole > 0))
        return dt_op_refuse(call, DT_ERR_VALUE, "split_size is %" PRId64 "; wanted at least 1", given->as.i);
    int64_t n = given->as.i ? dt__max_i64(dt__ceil_div(whole, given->as.i), 1) : 1;
    if (n > MOST_PARTS)
        return dt_op_refuse(call, DT_ERR_VALUE, "there would be %" PRId64 " parts; at most %d are possible", n,
                            MOST_PARTS);
    return add_parts(call, dim, (int)n, NULL, given->as.i);
}

static void rows_split(const dt_op_call *call, dt_rows *rows) {
    int n = call->inputs[0].n_dims, dim = dt__wrap_dim(call->args[2].as.i, n), map[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < n; d++)
        map[d] = d == dim ? -1 : d;
    dt__rows_map(call, rows, map);
}

/* A vector of no elements joins anything, whatever its dims. */
static bool is_nothing(const dt_op_value *value) { return value->n_dims == 1 && value->shape[0] == 0; }

static const dt_op_value *first_of_cat(const dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (!is_nothing(&call->inputs[i]))
            return &call->inputs[i];
    return &call->inputs[0];
}

static dt_status check_cat(const dt_op_call *call, const dt_op_value *first, const dt_op_value *other, int dim) {
    bool fits = other->n_dims == first->n_dims;
    for (int d = 0; d < first->n_dims && fits; d++)
        fits = d == dim || other->shape[d] == first->shape[d];
    return fits ? DT_OK
                : dt_op_refuse(call, DT_ERR_SHAPE,
                               "the shapes must be equal in all dims but dim %d, along which the "
                               "tensors are joined",
                               dim);
}

static dt_status shape_cat(dt_op_call *call) {
    if (call->n_inputs == 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "the list of tensors is empty");
    const dt_op_value *first = first_of_cat(call);
    dt__shape shape = {.n = first->n_dims};
    int dim;
    if (first->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "tensors without dims cannot be joined");
    DT__TRY(dt__read_dim(call, call->args[1].as.i, first->n_dims, &dim));
    memcpy(shape.sizes, first->shape, (size_t)first->n_dims * sizeof *shape.sizes);
    shape.sizes[dim] = 0;
    dt_dtype dtype = call->inputs[0].dtype;
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_op_value *input = &call->inputs[i];
        dtype = dt__promote(dtype, input->dtype);
        if (is_nothing(input))
            continue;
        DT__TRY(check_cat(call, first, input, dim));
        if (!dt__add_i64(shape.sizes[dim], input->shape[dim], &shape.sizes[dim]))
            return dt_op_refuse(call, DT_ERR_SHAPE, "the result would have more than 2^63 - 1 elements");
    }
    return dt__add_shape(call, dtype, &shape);
}

enum { MOST_TENSORS = 1023 };

static bool has_one_dtype(const dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i].dtype != call->outputs[0].dtype)
            return false;
    return true;
}

static void rows_cat(const dt_op_call *call, dt_rows *rows) {
    dt_row_entry entries[MOST_TENSORS + 1];
    int n = call->outputs[0].n_dims, dim = dt__wrap_dim(call->args[1].as.i, n), n_joined = 0;
    for (int i = 0; i < call->n_inputs; i++)
        n_joined += !is_nothing(&call->inputs[i]);
    bool converts = !has_one_dtype(call); /* which keeps order, as the result has room for all */
    if (!converts)
        dt_rows_partial(rows, DT_PARTIAL_ANY);
    for (int kind = DT_MIN; kind <= DT_MAX && converts && call->n_inputs < 64; kind++)
        dt_rows_reduce(rows, ((uint64_t)1 << call->n_inputs) - 1, (dt_reduce)kind, (dt_reduce)kind);
    for (int d = 0; d < n && call->n_inputs <= MOST_TENSORS; d++) {
        for (int i = 0; i < call->n_inputs; i++)
            entries[i] = is_nothing(&call->inputs[i]) ? DT_ROW_R : DT_ROW_S(d);
        entries[call->n_inputs] = DT_ROW_S(d);
        if (d != dim || n_joined == 1)
            dt_rows_add(rows, 0, entries);
    }
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

/* A dim that is cut is kept whole: then the part is the slice. */
static dt_status slice(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__view view = dt__view_of_value(call, input);
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims);
    int64_t start, end;
    read_range(call, input->whole[dim], &start, &end);
    if (call->outputs[0].whole[dim] != input->whole[dim])
        DT__TRY(dt__view_slice(&view, dim, start, end, call->args[4].as.i));
    return dt__set_view(call, 0, &view);
}

/* Along a dim that is cut: the values where they are, zeros elsewhere. */
static dt_status select_owned(dt_op_call *call, int dim, int64_t index) {
    const dt_op_value *input = &call->inputs[0];
    dt__array out = dt__array_of(&call->outputs[0]);
    int64_t here = index - input->offset[dim];
    if (here < 0 || here >= input->shape[dim]) {
        dt__constant room;
        dt__array zero = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT}, out.dtype, &room);
        dt__run_convert(call, &out, &zero);
        return DT_OK;
    }
    dt__view view = dt__view_of_value(call, input);
    DT__TRY(dt__view_select(&view, dim, here));
    unsigned char *first = (unsigned char *)input->data + view.offset * (int64_t)dt_dtype_size(input->dtype);
    dt__run_convert(call, &out, &(dt__array){first, input->dtype, view.n_dims, view.shape, view.strides});
    return DT_OK;
}

static dt_status select_index(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, input->n_dims);
    int64_t index = call->args[2].as.i < 0 ? call->args[2].as.i + input->whole[dim] : call->args[2].as.i;
    if (call->row_flags & DT_ROW_OFFSET)
        return select_owned(call, dim, index);
    dt__view view = dt__view_of_value(call, input);
    DT__TRY(dt__view_select(&view, dim, index));
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
    dt_op_value whole = call->outputs[0];
    int dim = dt__wrap_dim(call->args[1].as.i, whole.n_dims);
    int64_t start = 0;
    for (int i = 0; i < call->n_inputs; i++) {
        dt__array from = dt__array_of(&call->inputs[i]);
        if (from.n_dims != whole.n_dims || dt__array_count(&from) == 0)
            continue; /* adds nothing */
        dt__view view = dt__view_of_value(call, &whole);
        DT__TRY(dt__view_narrow(&view, dim, start, from.shape[dim]));
        unsigned char *first = (unsigned char *)whole.data + view.offset * (int64_t)dt_dtype_size(whole.dtype);
        dt__run_convert(call, &(dt__array){first, whole.dtype, view.n_dims, view.shape, view.strides}, &from);
        start += from.shape[dim];
    }
    return DT_OK;
}

const dt_op dt__op_transpose = {
    .schema = "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_transpose,
    .shape = shape_transpose,
    .kernel = transpose,
    .samples = "transpose(f32[5,3]; 0; 1)\ntranspose(f32[2,5,3]; -1; 0)",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_expand = {
    .schema = "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_expand,
    .shape = shape_expand,
    .kernel = expand,
    .samples = "expand(f32[5,1]; [5,3])\nexpand(f32[3]; [2,-1])",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_slice = {
    .schema = "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_slice,
    .shape = shape_slice,
    .kernel = slice,
    .samples = "slice(f32[5,3]; 0; 1; 4)\nslice(f32[5,3]; 1; -2)\nslice(f32[5,3]; 0; 0; 5; 2)\nslice(f32[5,3]; 0)",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_select = {
    .schema = "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_select,
    .shape = shape_select,
    .kernel = select_index,
    .samples = "select(f32[5,3]; 0; 2)\nselect(f32[5,3]; 1; -1)",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_split = {
    .schema = "split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[] | "
              "split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_split,
    .shape = shape_split,
    .kernel = split,
    .samples = "split(f32[5,3]; 2)\nsplit(f32[5,3]; [1,2]; 1)",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_cat = {
    .schema = "cat(Tensor[] tensors, int dim=0) -> Tensor",
    .rows = rows_cat,
    .shape = shape_cat,
    .kernel = cat,
    .samples = "cat({f32[5,3]; f32[2,3]})\ncat({f32[5,3]; f32[5,1]; f32[5,3]}; 1)\ncat({f32[0]; f32[5,3]})\n"
               "cat({f32[5,3]; i32[2,3]})",
};
