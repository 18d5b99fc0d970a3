/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors joined to one: cat along a dim that they have, stack along a new one; hstack and vstack, which add dims of
 * size 1 where some are missing. Other dims keep their shards; along a sharded dim that is joined each rank fetches the
 * part of each tensor that belongs to its part of the result.
 */
#include "dtensor/ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <string.h>

/* What the ops differ in. */
typedef struct join {
    bool makes_dim; /* stack: the dim is new */
    int min_dims;   /* tensors with fewer dims get others of size 1 in front */
    int dim;        /* along which tensors are joined, if that is not an argument; 0 for vectors */
} join;

static const join *join_of(const dt_op_call *call) { return call->op->family; }

/* An empty vector can be concatenated with tensors of any shape. */
static bool is_ignored(const dt_op_call *call, const dt_op_value *value) {
    const join *of = join_of(call);
    return !of->makes_dim && of->min_dims < 2 && value->n_dims == 1 && value->shape[0] == 0;
}

/* How many dims a tensor has in the result: its own, or as many as all get. */
static int joined_dims(const dt_op_call *call, const dt_op_value *value) {
    const join *of = join_of(call);
    return of->makes_dim ? value->n_dims + 1 : value->n_dims > of->min_dims ? value->n_dims : of->min_dims;
}

/* The dim, of a result with n dims. */
static int joined_dim(const dt_op_call *call, int n) {
    const join *of = join_of(call);
    return call->n_args > 1 ? dt__wrap_dim(call->args[1].as.i, n) : n > of->dim ? of->dim : 0;
}

/* The dim of a tensor that is dim d of a result with n dims; -1: it has none. */
static int dim_in(const dt_op_call *call, const dt_op_value *value, int n, int d) {
    if (join_of(call)->makes_dim)
        return d == joined_dim(call, n) ? -1 : d - (d > joined_dim(call, n));
    return d - (n - value->n_dims) < 0 ? -1 : d - (n - value->n_dims);
}

static int64_t size_in(const dt_op_call *call, const dt_op_value *value, int n, int d) {
    int own = dim_in(call, value, n, d);
    return own < 0 ? 1 : value->shape[own];
}

static const dt_op_value *first_tensor(const dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (!is_ignored(call, &call->inputs[i]))
            return &call->inputs[i];
    return &call->inputs[0];
}

static dt_status check_shape(const dt_op_call *call, const dt_op_value *first, const dt_op_value *other, int n,
                             int dim) {
    bool fits = joined_dims(call, other) == n;
    for (int d = 0; d < n && fits; d++)
        fits = d == dim || size_in(call, other, n, d) == size_in(call, first, n, d);
    if (fits)
        return DT_OK;
    return join_of(call)->makes_dim
               ? dt_op_refuse(call, DT_ERR_SHAPE, "the shapes differ: expected tensors of one shape")
               : dt_op_refuse(call, DT_ERR_SHAPE,
                              "the shapes differ in a dim other than %d, along which the tensors are concatenated",
                              dim);
}

static dt_status shape_join(dt_op_call *call) {
    if (call->n_inputs == 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "the list of tensors is empty");
    const dt_op_value *first = first_tensor(call);
    dt__shape shape = {.n = joined_dims(call, first)};
    int dim;
    if (shape.n == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "cannot concatenate tensors without dims");
    if (shape.n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than %d dims", DT_SPEC_MAX_DIMS);
    if (call->n_args > 1)
        DT__TRY(dt__read_dim(call, call->args[1].as.i, shape.n, &dim));
    dim = joined_dim(call, shape.n);
    for (int d = 0; d < shape.n; d++)
        shape.sizes[d] = d == dim ? 0 : size_in(call, first, shape.n, d);
    dt_dtype dtype = call->inputs[0].dtype;
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_op_value *input = &call->inputs[i];
        dtype = dt__promote(dtype, input->dtype);
        if (is_ignored(call, input))
            continue;
        DT__TRY(check_shape(call, first, input, shape.n, dim));
        if (!dt__add_i64(shape.sizes[dim], size_in(call, input, shape.n, dim), &shape.sizes[dim]))
            return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than 2^63 - 1 elements");
    }
    return dt__add_shape(call, dtype, &shape);
}

/* Of several dtypes, the result's holds all values: order is kept. */
static unsigned partial_join(const dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i].dtype != call->outputs[0].dtype)
            return DT_PARTIAL_MAX | DT_PARTIAL_MIN;
    return DT_PARTIAL_ANY;
}

static void rows_cat(const dt_op_call *call, dt_rows *rows) {
    dt__rows_window(rows, joined_dim(call, call->outputs[0].n_dims));
}

/* The other dims, of all tensors that have them; the joined one in windows, if all have it. */
static void rows_join(const dt_op_call *call, dt_rows *rows) {
    int n = call->outputs[0].n_dims, dim = joined_dim(call, n);
    dt__arena arena = dt__arena_new(call->ctx);
    dt_row_entry *entries = DT__NEW_ARRAY(&arena, dt_row_entry, call->n_inputs + 1);
    for (int d = 0; d < n && entries; d++) {
        bool shared = true;
        for (int i = 0; i < call->n_inputs && shared; i++) {
            int own = dim_in(call, &call->inputs[i], n, d);
            shared = own >= 0 && !is_ignored(call, &call->inputs[i]);
            entries[i] = shared ? DT_ROW_S(own) : DT_ROW_R;
        }
        entries[call->n_inputs] = DT_ROW_S(d);
        if (shared && d == dim)
            dt__rows_window(rows, dim);
        else if (shared)
            dt_rows_add(rows, 0, entries);
    }
    dt__arena_free(&arena);
}

/* The size of an input in the result, for window functions, whose inputs are this rank's parts. */
static int64_t full_size(const dt_op_call *call, int input, int dim) {
    dt_op_value full = call->inputs[input];
    full.shape = full.global_shape;
    return is_ignored(call, &full) ? 0 : full.shape[dim];
}

/* The part of each tensor that is in this rank's part of the result. */
static void window_join(const dt_op_call *call, int input, int dim, dt_window *out) {
    const dt_op_value *output = &call->outputs[0];
    int64_t start = 0, first = output->offset[dim], end = first + output->shape[dim];
    if (call->inputs[input].n_dims != output->n_dims || dim != joined_dim(call, output->n_dims))
        return;
    for (int i = 0; i < input; i++)
        start += full_size(call, i, dim);
    int64_t from = dt__max_i64(first, start), to = dt__min_i64(end, start + full_size(call, input, dim));
    dt_window_add(out, from < to ? from - start : 0, dt__max_i64(to - from, 0), 1);
    dt_window_place(out, from < to ? from - first : 0);
}

/* Each tensor to its place in the result. */
static dt_status join_tensors(dt_op_call *call) {
    dt_op_value out = call->outputs[0];
    int dim = joined_dim(call, out.n_dims);
    int64_t start = 0;
    for (int i = 0; i < call->n_inputs; i++) {
        dt__array from = dt__array_of(&call->inputs[i]);
        if (joined_dims(call, &call->inputs[i]) != out.n_dims || dt__array_count(&from) == 0)
            continue; /* has no elements */
        int64_t size = size_in(call, &call->inputs[i], out.n_dims, dim), strides[DT_SPEC_MAX_DIMS];
        dt__view view = dt__view_of_value(call, &out);
        DT__TRY(dt__view_narrow(&view, dim, start, size));
        for (int d = 0; d < out.n_dims; d++) {
            int own = dim_in(call, &call->inputs[i], out.n_dims, d);
            strides[d] = own < 0 ? 0 : from.strides[own];
        }
        unsigned char *first = (unsigned char *)out.data + view.offset * (int64_t)dt_dtype_size(out.dtype);
        dt__run_convert(call, &(dt__array){first, out.dtype, view.n_dims, view.shape, view.strides},
                        &(dt__array){from.data, from.dtype, view.n_dims, view.shape, strides});
        start += size;
    }
    return DT_OK;
}

/* The gradient of each tensor is the range of the gradient that it went to, without the dims that it lacks. */
static dt_status join_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *forward = call->call;
    const dt_op_value *output = &forward->outputs[0];
    int dim = joined_dim(forward, output->n_dims);
    int64_t start = 0;
    for (int i = 0; i < forward->n_inputs; i++) {
        const dt_op_value *input = &forward->inputs[i];
        if (is_ignored(forward, input) && joined_dims(forward, input) != output->n_dims)
            continue;
        int64_t size = size_in(forward, input, output->n_dims, dim);
        dt_shape shape = {input->n_dims, input->shape};
        if (call->needed[i] && join_of(forward)->makes_dim)
            input_grads[i] = dt_select(call->grads[0], dim, start);
        else if (call->needed[i])
            input_grads[i] = dt_slice(call->grads[0], dim, start, start + size, 1);
        if (input_grads[i] && !join_of(forward)->makes_dim && input->n_dims != output->n_dims)
            input_grads[i] = dt_reshape(input_grads[i], shape);
        if (call->needed[i] && !input_grads[i])
            return dt_error_status(forward->ctx);
        start += size;
    }
    return DT_OK;
}

#define JOIN(...)                                                                                                    \
    .partial_of = partial_join, .shape = shape_join, .kernel = join_tensors, .saves = "", .backward = join_backward, \
    .family = &(const join) {                                                                                        \
        __VA_ARGS__                                                                                                  \
    }

const dt_op dt__op_cat = {
    .schema = "cat(Tensor[] tensors, int dim=0) -> Tensor",
    .summary = "Concatenates tensors along a dim.",
    .rule = "...[dim] -> ...[dim]",
    JOIN(0),
    .rows = rows_cat,
    .window = window_join,
    .order = dt__order_of_all_images,
    .flags = DT_OP_MOVES,
    .samples = "cat({f32[5,3]; f32[2,3]})\ncat({f32[5,3]; f32[5,1]; f32[5,3]}; 1)\ncat({f32[0]; f32[5,3]})\n"
               "cat({f32[5,3]; i32[2,3]})",
};
const dt_op dt__op_hstack = {
    .schema = "hstack(Tensor[] tensors) -> Tensor",
    .summary = "Concatenates tensors along dim 1, or vectors along dim 0.",
    JOIN(.min_dims = 1, .dim = 1),
    .rows = rows_join,
    .window = window_join,
    .flags = DT_OP_MOVES,
    .samples = "hstack({f32[5,3]; f32[5,2]})\nhstack({f32[5]; f32[2]})\nhstack({f32[]; f32[]})",
};
const dt_op dt__op_stack = {
    .schema = "stack(Tensor[] tensors, int dim=0) -> Tensor",
    .summary = "Joins tensors of one shape along a new dim.",
    JOIN(.makes_dim = true),
    .rows = rows_join,
    .samples = "stack({f32[5,3]; f32[5,3]})\nstack({f32[5]; f32[5]}; -1)\nstack({f32[]})",
};
const dt_op dt__op_vstack = {
    .schema = "vstack(Tensor[] tensors) -> Tensor",
    .summary = "Concatenates tensors along dim 0; vectors are rows.",
    JOIN(.min_dims = 2),
    .rows = rows_join,
    .window = window_join,
    .flags = DT_OP_MOVES,
    .samples = "vstack({f32[5,3]; f32[2,3]})\nvstack({f32[5]; f32[2,5]})",
};
