/* SPDX-License-Identifier: Apache-2.0
 *
 * The same elements in other dims: view and reshape. Shards are kept where the new dims can be sharded so that every
 * rank keeps its elements, perhaps as strided shards or with explicit extents.
 */
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
static int dim_behind(const dt__dim_group *group, const int64_t *to, int64_t left, int64_t *left_to) {
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
        int behind = dim_behind(group, to, left, &left_to);
        unsigned flags = left == left_to ? 0 : DT_ROW_UNLISTED;
        if (from[d] != 1)
            dt_rows_add(rows, DT_ROW_RESHAPE | flags, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(behind)});
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
    /* Local tensors of other ranks may allow it: a local error, of which they are notified. */
    return dt__fail_local(call->ctx, DT_ERR_SHAPE, "%s: local tensor: %s", call->name, reason);
}

static dt_status reshape(dt_op_call *call) {
    dt_status status = DT_OK;
    call->needs_copy = !view_as_output(call, &status);
    return status;
}

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
