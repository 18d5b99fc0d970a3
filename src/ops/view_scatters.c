/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy of a tensor with other elements where a view of it would be: select_scatter, slice_scatter,
 * diagonal_scatter. A dim that is selected or sliced may be sharded: each rank writes what it holds, and fetches that
 * part of a source whose slice is sharded, too.
 */
#include "base/dtype.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments. */
enum { DIM = 0, INDEX = 1, START = 1, END, STEP, OFFSET = 0, DIM1, DIM2 };

/* The part of a tensor that is written, and the part of the source that is written there. */
typedef struct written {
    dt__view to, from;
    bool none; /* another rank holds all of it */
} written;
typedef dt_status find_fn(const dt_op_call *call, written *out);

typedef struct view_scatter {
    find_fn *find;
    bool diagonal;
} view_scatter;

static int64_t int_at(const dt_op_call *call, int n) { return dt__arg_at(call, n)->as.i; }

/* Of a slice: its first index, and how many there are. */
static void read_slice(const dt_op_call *call, int64_t size, int64_t *start, int64_t *n) {
    const dt_arg *from = dt__arg_at(call, START), *to = dt__arg_at(call, END);
    int64_t begin = from->type == DT_ARG_INT ? from->as.i : 0, end = to->type == DT_ARG_INT ? to->as.i : size;
    begin = begin < -size ? 0 : begin < 0 ? begin + size : dt__min_i64(begin, size);
    end = end < -size ? 0 : end < 0 ? end + size : dt__min_i64(end, size);
    *start = begin;
    *n = end > begin ? dt__ceil_div(end - begin, int_at(call, STEP)) : 0;
}

/* The global size of a dim, and where the local tensor begins in it. */
static int64_t place_of(const dt_op_call *call, const dt__view *view, int dim, int64_t *offset) {
    const dt_op_value *out = &call->outputs[0];
    bool is_local = call->n_outputs > 0 && out->global_shape;
    *offset = is_local && out->global_shape[dim] != out->shape[dim] ? out->offset[dim] : 0;
    return is_local ? out->global_shape[dim] : view->shape[dim];
}

static dt_status find_select(const dt_op_call *call, written *out) {
    int dim;
    int64_t offset, index = int_at(call, INDEX);
    DT__TRY(dt__read_dim(call, int_at(call, DIM), out->to.n_dims, &dim));
    int64_t size = out->to.n_dims ? place_of(call, &out->to, dim, &offset) : 0;
    if (index < -size || index >= size)
        return dt_op_refuse(call, DT_ERR_VALUE, "index %" PRId64 " is out of range for dim %d of size %" PRId64,
                            index, dim, size);
    index += (index < 0 ? size : 0) - offset;
    out->none = index < 0 || index >= out->to.shape[dim];
    return out->none ? DT_OK : dt__view_select(&out->to, dim, index);
}

/* Which indices of a slice of n a rank holds: the first, and how many. */
static int64_t part_of_slice(int64_t start, int64_t n, int64_t step, int64_t offset, int64_t local, int64_t *before) {
    *before = offset > start ? dt__min_i64(dt__ceil_div(offset - start, step), n) : 0;
    const int64_t first = start + *before * step - offset; /* of those that are here */
    return first < local ? dt__min_i64(n - *before, dt__ceil_div(local - first, step)) : 0;
}

static dt_status find_slice(const dt_op_call *call, written *out) {
    int dim;
    int64_t offset, start, n, before, step = int_at(call, STEP);
    if (out->to.n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at least one dim, got none");
    DT__TRY(dt__read_dim(call, int_at(call, DIM), out->to.n_dims, &dim));
    if (step < 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "step: expected at least 1, got %" PRId64, step);
    int64_t size = place_of(call, &out->to, dim, &offset);
    read_slice(call, size, &start, &n);
    const int64_t n_here = part_of_slice(start, n, step, offset, out->to.shape[dim], &before);
    out->to.offset += n_here ? (start + before * step - offset) * out->to.strides[dim] : 0;
    out->to.shape[dim] = n_here;
    out->to.strides[dim] *= step;
    if (out->from.n_dims == out->to.n_dims && out->from.shape[dim] == n && n_here != n) {
        out->from.offset += n_here ? before * out->from.strides[dim] : 0;
        out->from.shape[dim] = n_here;
    }
    return DT_OK;
}

/* Of a source that is sharded along the slice. */
static void window_slice(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *to = &call->outputs[0];
    int64_t start, n, before;
    if (input == 0 || dim != dt__wrap_dim(int_at(call, DIM), to->n_dims))
        return;
    read_slice(call, to->global_shape[dim], &start, &n);
    const int64_t n_here = part_of_slice(start, n, int_at(call, STEP), to->offset[dim], to->shape[dim], &before);
    dt_window_add(out, before, n_here, 1);
}

static dt_status find_diagonal(const dt_op_call *call, written *out) {
    int a, b;
    DT__TRY(dt__read_dim(call, int_at(call, DIM1), out->to.n_dims, &a));
    DT__TRY(dt__read_dim(call, int_at(call, DIM2), out->to.n_dims, &b));
    return dt__view_diagonal(&out->to, int_at(call, OFFSET), a, b);
}

static dt__view view_of_global(const dt_op_call *call, const dt_op_value *value) {
    dt__view view = {.ctx = call->ctx, .dtype = value->dtype, .n_dims = value->n_dims};
    memcpy(view.shape, value->shape, (size_t)value->n_dims * sizeof *view.shape);
    return view;
}

static dt_status shape_scatter(dt_op_call *call) {
    const view_scatter *of = call->op->family;
    const dt_op_value *self = &call->inputs[0], *source = &call->inputs[1];
    written part = {.to = view_of_global(call, self), .from = view_of_global(call, source)};
    char expected[256], actual[256];
    if (source->dtype != self->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with dt_to",
                            dt_dtype_name(self->dtype), dt_dtype_name(source->dtype));
    DT__TRY(of->find(call, &part));
    bool same = part.to.n_dims == source->n_dims;
    for (int d = 0; d < source->n_dims && same; d++)
        same = part.to.shape[d] == source->shape[d];
    if (same)
        return dt__add_like(call, 0, self->dtype);
    return dt_op_refuse(call, DT_ERR_SHAPE, "src: expected [%s], the shape of the view, got [%s]",
                        dt__shape_text(part.to.n_dims, part.to.shape, sizeof expected, expected),
                        dt__shape_text(source->n_dims, source->shape, sizeof actual, actual));
}

static void rows_scatter(const dt_op_call *call, dt_rows *rows) {
    const view_scatter *of = call->op->family;
    const dt_op_value *self = &call->inputs[0], *source = &call->inputs[1];
    int n = self->n_dims, a = dt__wrap_dim(int_at(call, of->diagonal ? DIM1 : DIM), n);
    int b = of->diagonal ? dt__wrap_dim(int_at(call, DIM2), n) : a, kept = 0;
    for (int d = 0; d < n; d++) {
        if (d != a && d != b) {
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(kept), DT_ROW_S(d)});
            kept++;
        } else if (!of->diagonal) {
            kept += source->n_dims == n;
            dt_rows_add(rows, DT_ROW_OFFSET | DT_ROW_UNLISTED, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_R, DT_ROW_S(d)});
            if (source->n_dims == n)
                dt_rows_add(rows, source->shape[d] == self->shape[d] ? 0 : DT_ROW_WINDOW,
                            (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d), DT_ROW_S(d)});
        }
    }
}

static dt__array array_of_view(const dt_op_value *of, const dt__view *view) {
    unsigned char *first = (unsigned char *)of->data + view->offset * (int64_t)dt_dtype_size(of->dtype);
    return (dt__array){first, of->dtype, view->n_dims, view->shape, view->strides};
}

static dt_status scatter(dt_op_call *call) {
    const view_scatter *of = call->op->family;
    dt__array out = dt__array_of(&call->outputs[0]), self = dt__array_of(&call->inputs[0]);
    written part = {.to = dt__view_of_value(call, &call->outputs[0]),
                    .from = dt__view_of_value(call, &call->inputs[1])};
    if (out.data != self.data) /* in place, the rest stays */
        dt__run_convert(call, &out, &self);
    if (dt__elements(call->inputs[1].n_dims, call->inputs[1].shape) == 0)
        return DT_OK;
    DT__TRY(of->find(call, &part));
    dt__array to = array_of_view(&call->outputs[0], &part.to), from = array_of_view(&call->inputs[1], &part.from);
    if (!part.none)
        dt__run_convert(call, &to, &from);
    return DT_OK;
}

#define SCATTERS(find_, diagonal_)                                                                                   \
    .partial = DT_PARTIAL_ANY, .rows = rows_scatter, .shape = shape_scatter, .kernel = scatter,                      \
    .family = &(const view_scatter) {                                                                                \
        find_, diagonal_                                                                                             \
    }

const dt_op dt__op_select_scatter = {
    .schema = "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
    .summary = "A copy of a tensor with another one at an index of a dim.",
    SCATTERS(find_select, false),
    .arguments = "dim,index",
    .gradient = "self: select_scatter(grad, new_zeros(grad, src.shape), dim, index); "
                "src: select(grad, dim, index)",
    .samples = "select_scatter(f32[5,3]; f32[3]; 0; 2)\nselect_scatter(f32[2,5,3]; f32[2,3]; 1; -1)",
};
const dt_op dt__op_slice_scatter = {
    .schema =
        "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    .summary = "A copy of a tensor with another one at the indices of a slice of a dim.",
    SCATTERS(find_slice, false),
    .window = window_slice,
    .arguments = "dim,start,end,step",
    .flags = DT_OP_POSITIONAL,
    .gradient = "self: slice_scatter(grad, new_zeros(grad, src.shape), dim, start, end, step); "
                "src: slice(grad, dim, start, end, step)",
    .samples = "slice_scatter(f32[5,3]; f32[3,3]; 0; 1; 4)\nslice_scatter(f32[7,3]; f32[3,3]; 0; 1; 7; 2)\n"
               "slice_scatter(f32[5,3]; f32[5,1]; 1; -1)",
};
const dt_op dt__op_slice_scatter_ = {.in_place_of = &dt__op_slice_scatter};
const dt_op dt__op_diagonal_scatter = {
    .schema = "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    .summary = "A copy of a tensor with another one on a diagonal of two dims.",
    SCATTERS(find_diagonal, true),
    .arguments = "offset,dim1,dim2",
    .flags = DT_OP_POSITIONAL,
    .gradient = "self: diagonal_scatter(grad, zeros_like(diagonal(grad, offset, dim1, dim2)), offset, dim1, dim2); "
                "src: diagonal(grad, offset, dim1, dim2)",
    .samples = "diagonal_scatter(f32[5,3]; f32[3])\ndiagonal_scatter(f32[2,5,3]; f32[2,2]; 1; 1; 2)",
};
