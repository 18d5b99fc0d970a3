/* SPDX-License-Identifier: Apache-2.0
 *
 * The elements of a tensor in other dims: view and reshape. Shards are kept where the new dims can be sharded so that
 * every rank keeps its elements, perhaps as strided shards or with explicit extents. */
#include "dtensor/ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>

/* The product of the known sizes, and the dim of the unknown one (-1: none); false on overflow. */
static bool known_elements(const dt_arg *size, int64_t *out, int *unknown) {
    int64_t sizes[DT_SPEC_MAX_DIMS];
    *unknown = -1;
    for (int d = 0; d < size->n; d++) {
        sizes[d] = size->as.ints[d] == -1 ? 1 : size->as.ints[d];
        if (size->as.ints[d] == -1)
            *unknown = d;
    }
    return dt__product(size->n, sizes, 1, out);
}

static dt_status check_sizes(const dt_op_call *call, const dt_arg *size) {
    int n_unknown = 0;
    for (int d = 0; d < size->n; d++) {
        n_unknown += size->as.ints[d] == -1;
        if (size->as.ints[d] < -1)
            return dt_op_refuse(call, DT_ERR_VALUE, "size: expected at least 0, or -1 to infer it, got %" PRId64,
                                size->as.ints[d]);
    }
    if (n_unknown > 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected at most one size of -1, got %d", n_unknown);
    if (size->n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at most %d sizes, got %d", DT_SPEC_MAX_DIMS, size->n);
    return DT_OK;
}

static dt_status shape_view(dt_op_call *call) {
    const dt_arg *size = &call->args[1];
    const dt_op_value *input = &call->inputs[0];
    int64_t all = 0, known = 0;
    dt__shape shape = {.n = size->n};
    int unknown = -1;
    DT__TRY(check_sizes(call, size));
    bool fits = dt__product(input->n_dims, input->shape, 1, &all) && known_elements(size, &known, &unknown);
    if (!fits || (unknown < 0 ? known != all : known == 0 || all % known != 0))
        return dt_op_refuse(call, DT_ERR_SHAPE, "the number of elements differs: the tensor has %" PRId64, all);
    for (int d = 0; d < size->n; d++)
        shape.sizes[d] = d == unknown ? all / known : size->as.ints[d];
    return dt__add_shape(call, input->dtype, &shape);
}

/* The dim of the output in which the first `left` values of a group end. */
static int dim_after(const dt__dim_group *group, const int64_t *to, int64_t left, int64_t *left_to) {
    int d = group->first[1];
    for (*left_to = 1; *left_to * to[d] <= left; d++)
        *left_to *= to[d];
    return d;
}

static void rows_of_group(const dt_op_call *call, const dt__dim_group *group, dt_rows *rows) {
    const int64_t *from = call->inputs[0].shape, *to = call->outputs[0].shape;
    int64_t left = 1, left_to;
    if (group->n[0] == 1 && group->n[1] == 1) {
        dt_rows_add(rows, DT_ROW_RESHAPE, (dt_row_entry[]){DT_ROW_S(group->first[0]), DT_ROW_S(group->first[1])});
        return;
    }
    for (int d = group->first[0]; d < group->first[0] + group->n[0]; d++) {
        int after = dim_after(group, to, left, &left_to);
        unsigned flags = left == left_to ? 0 : DT_ROW_UNLISTED;
        if (from[d] != 1)
            dt_rows_add(rows, DT_ROW_RESHAPE | flags, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(after)});
        left *= from[d];
    }
}

static void rows_view(const dt_op_call *call, dt_rows *rows) {
    dt__dim_group groups[DT_SPEC_MAX_DIMS];
    const dt_op_value *from = &call->inputs[0], *to = &call->outputs[0];
    int n = dt__dim_groups_find(from->n_dims, from->shape, to->n_dims, to->shape, groups);
    for (int g = 0; g < n; g++)
        rows_of_group(call, &groups[g], rows);
}

/* The local tensor in its new dims; false where that takes a copy. */
static bool view_as_output(dt_op_call *call, dt_status *status) {
    dt__view view = dt__view_of_value(call, &call->inputs[0]);
    if (!dt__view_reshape(&view, call->outputs[0].n_dims, call->outputs[0].shape))
        return false;
    *status = dt__set_view(call, 0, &view);
    return true;
}

static dt_status view(dt_op_call *call) {
    static const char *const reason = "the strides of the tensor allow no view of this shape; use dt_reshape";
    dt_status status = DT_OK;
    if (view_as_output(call, &status))
        return status;
    if (!call->inputs[0].spec)
        return dt_op_refuse(call, DT_ERR_SHAPE, "%s", reason);
    /* Local tensors of other ranks may allow it: a local error, and they are notified. */
    return dt__fail_local(call->ctx, DT_ERR_SHAPE, "%s: local tensor: %s", call->name, reason);
}

static dt_status reshape(dt_op_call *call) {
    dt_status status = DT_OK;
    call->needs_copy = !view_as_output(call, &status);
    return status;
}

static dt_status shape_squeeze(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    bool all = call->n_args == 1, none = !all && call->args[1].type == DT_ARG_INTS && call->args[1].n == 0;
    dt__shape shape = {0};
    uint32_t dims;
    DT__TRY(dt__read_dims(call, all ? NULL : &call->args[1], input->n_dims, &dims));
    for (int d = 0; d < input->n_dims; d++)
        if (input->shape[d] != 1 || none || !(dims >> d & 1))
            shape.sizes[shape.n++] = input->shape[d];
    return dt__add_shape(call, input->dtype, &shape);
}

static dt_status shape_unsqueeze(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {0};
    int dim;
    if (input->n_dims == DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than %d dims", DT_SPEC_MAX_DIMS);
    DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims + 1, &dim));
    for (int d = 0; d <= input->n_dims; d++)
        shape.sizes[shape.n++] = d == dim ? 1 : input->shape[d - (d > dim)];
    return dt__add_shape(call, input->dtype, &shape);
}

/* Dims first to last as one; a tensor without dims becomes a vector. */
static dt_status add_flat(dt_op_call *call, int first, int last) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {.n = input->n_dims == 0, .sizes = {1}};
    if (first > last)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected start_dim up to end_dim, got %d and %d", first, last);
    for (int d = 0; d < input->n_dims; d++)
        if (d > first && d <= last)
            shape.sizes[shape.n - 1] *= input->shape[d];
        else
            shape.sizes[shape.n++] = input->shape[d];
    return dt__add_shape(call, input->dtype, &shape);
}

static dt_status shape_flatten(dt_op_call *call) {
    int first, last;
    DT__TRY(dt__read_dim(call, call->args[1].as.i, call->inputs[0].n_dims, &first));
    DT__TRY(dt__read_dim(call, call->args[2].as.i, call->inputs[0].n_dims, &last));
    return add_flat(call, first, last);
}

static dt_status shape_ravel(dt_op_call *call) {
    return add_flat(call, 0, call->inputs[0].n_dims ? call->inputs[0].n_dims - 1 : 0);
}

/* The sizes in place of one dim; one of them may be -1. */
static dt_status shape_unflatten(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const dt_arg *sizes = &call->args[2];
    dt__shape shape = {0};
    int64_t known = 0;
    int dim, unknown = -1;
    if (input->n_dims == 0 || sizes->n == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a dim and at least one size");
    DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims, &dim));
    DT__TRY(check_sizes(call, sizes));
    int64_t size = input->shape[dim];
    bool fits = known_elements(sizes, &known, &unknown);
    if (!fits || (unknown < 0 ? known != size : known == 0 || size % known != 0))
        return dt_op_refuse(call, DT_ERR_SHAPE, "sizes: expected a product of %" PRId64 ", the size of dim %d", size,
                            dim);
    if (input->n_dims - 1 + sizes->n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than %d dims", DT_SPEC_MAX_DIMS);
    for (int d = 0; d < input->n_dims; d++)
        for (int i = 0; i < (d == dim ? sizes->n : 1); i++)
            shape.sizes[shape.n++] = d != dim ? input->shape[d] : i == unknown ? size / known : sizes->as.ints[i];
    return dt__add_shape(call, input->dtype, &shape);
}

/* As another tensor; only its shape is used. */
static dt_status shape_as(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *other = &call->inputs[1];
    int64_t n = 0, expected = 0;
    if (!dt__product(self->n_dims, self->shape, 1, &n) || !dt__product(other->n_dims, other->shape, 1, &expected) ||
        n != expected)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the number of elements differs: %" PRId64 " and %" PRId64, n,
                            expected);
    return dt_op_add_output(call, self->dtype, other->n_dims, other->shape);
}

static dt_status decompose_view_as(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_shape shape = {call->inputs[1].n_dims, call->inputs[1].shape};
    outputs[0] = dt_view(inputs[0], shape);
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

static dt_status decompose_reshape_as(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_shape shape = {call->inputs[1].n_dims, call->inputs[1].shape};
    outputs[0] = dt_reshape(inputs[0], shape);
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

#define RESHAPED                                                                                                     \
    .partial = DT_PARTIAL_ANY, .rows = rows_view, .kernel = reshape, .flags = DT_OP_VIEW,                            \
    .gradient = "self: reshape(grad, self.shape)"

const dt_op dt__op_flatten = {
    .schema = "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    .summary = "Several dims as one.",
    .shape = shape_flatten,
    RESHAPED,
    .samples = "flatten(f32[6,4])\nflatten(f32[2,5,3]; 1)\nflatten(f32[])",
};
const dt_op dt__op_ravel = {
    .schema = "ravel(Tensor(a) self) -> Tensor(a)",
    .summary = "All dims as one.",
    .shape = shape_ravel,
    RESHAPED,
    .samples = "ravel(f32[6,4])",
};
const dt_op dt__op_squeeze = {
    .schema = "squeeze(Tensor(a) self) -> Tensor(a) | squeeze.dim(Tensor(a) self, int dim) -> Tensor(a) | "
              "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
    .summary = "Removes dims of size 1: all of them, or those that are named.",
    .shape = shape_squeeze,
    RESHAPED,
    .samples = "squeeze(f32[5,1,3,1])\nsqueeze(f32[5,1,3]; 1)\nsqueeze(f32[1,5,1]; [0,2])",
};
const dt_op dt__op_unsqueeze = {
    .schema = "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
    .summary = "Inserts a dim of size 1.",
    .shape = shape_unsqueeze,
    RESHAPED,
    .samples = "unsqueeze(f32[5,3]; 1)\nunsqueeze(f32[5,3]; -1)\nunsqueeze(f32[]; 0)",
};
const dt_op dt__op_view = {
    .schema = "view(Tensor(a) self, int[] size) -> Tensor(a)",
    .summary = "The same elements in another shape, without a copy.",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_view,
    .shape = shape_view,
    .kernel = view,
    .gradient = "self: reshape(grad, self.shape)",
    .samples = "view(f32[6,4]; [24])\nview(f32[6,4]; [2,3,4])\nview(f32[6,4]; [4,-1])\nview(f32[6,1,4]; [6,4])",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_reshape = {
    .schema = "reshape(Tensor(a) self, int[] shape) -> Tensor(a)",
    .summary = "The same elements in another shape; a copy where a view cannot have it.",
    .partial = DT_PARTIAL_ANY,
    .rows = rows_view,
    .shape = shape_view,
    .kernel = reshape,
    .gradient = "self: reshape(grad, self.shape)",
    .samples = "reshape(f32[6,4]; [24])\nreshape(f32[2,4,6]; [8,6])\nreshape(f32[0,4]; [2,0])",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_unflatten = {
    .schema = "unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)",
    .summary = "One dim as several.",
    .shape = shape_unflatten,
    RESHAPED,
    .samples = "unflatten(f32[5,6]; 1; [2,3])\nunflatten(f32[6,4]; 0; [-1,2])",
};
const dt_op dt__op_view_as = {
    .schema = "view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    .summary = "The same elements in the shape of another tensor, without a copy.",
    .shape = shape_as,
    .decompose = decompose_view_as,
    .samples = "view_as(f32[6,4]; f32[2,3,4])",
};
const dt_op dt__op_reshape_as = {
    .schema = "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    .summary = "The same elements in the shape of another tensor; a copy where a view cannot have it.",
    .shape = shape_as,
    .decompose = decompose_reshape_as,
    .samples = "reshape_as(f32[6,4]; f32[3,8])",
};
