/* SPDX-License-Identifier: Apache-2.0
 *
 * Views with the dims in another order, other than transpose and permute: t, T, mT, movedim, swapaxes. An op is a
 * function that lists the dims in their new order; shards and partials of any kind are kept. */
#include "ops/kernel_support.h"
#include "ops/ops.h"

/* Dim order[i] of the tensor becomes dim i, or the call is refused. */
typedef dt_status order_fn(const dt_op_call *call, int n, int *order);

static dt_status order_reversed(const dt_op_call *call, int n, int *order) {
    (void)call;
    for (int d = 0; d < n; d++)
        order[d] = n - 1 - d;
    return DT_OK;
}

static dt_status order_t(const dt_op_call *call, int n, int *order) {
    return n <= 2 ? order_reversed(call, n, order)
                  : dt_op_refuse(call, DT_ERR_SHAPE, "expected at most 2 dims, got %d", n);
}

static void swap(int n, int *order, int a, int b) {
    for (int d = 0; d < n; d++)
        order[d] = d == a ? b : d == b ? a : d;
}

static dt_status order_matrix(const dt_op_call *call, int n, int *order) {
    if (n < 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at least 2 dims, got %d", n);
    swap(n, order, n - 2, n - 1);
    return DT_OK;
}

static dt_status order_swapped(const dt_op_call *call, int n, int *order) {
    int a, b;
    DT__TRY(dt__read_dim(call, call->args[1].as.i, n, &a));
    DT__TRY(dt__read_dim(call, call->args[2].as.i, n, &b));
    swap(n, order, a, b);
    return DT_OK;
}

/* A dim, or each of a list. */
static dt_status read_positions(const dt_op_call *call, const dt_arg *arg, const char *name, int n, int *dims,
                                uint32_t *used) {
    int count = arg->type == DT_ARG_INTS ? arg->n : 1;
    *used = 0;
    for (int i = 0; i < count; i++) {
        int dim;
        DT__TRY(dt__read_dim(call, arg->type == DT_ARG_INTS ? arg->as.ints[i] : arg->as.i, n, &dim));
        if (*used >> dim & 1)
            return dt_op_refuse(call, DT_ERR_VALUE, "%s: dim %d is repeated", name, dim);
        *used |= (uint32_t)1 << dim;
        dims[i] = dim;
    }
    return DT_OK;
}

/* The moved dims at their destinations, the others between them in their order. */
static dt_status order_moved(const dt_op_call *call, int n, int *order) {
    const dt_arg *source = &call->args[1], *destination = &call->args[2];
    int from[DT_SPEC_MAX_DIMS], to[DT_SPEC_MAX_DIMS], next = 0;
    int count = source->type == DT_ARG_INTS ? source->n : 1;
    uint32_t moved, taken;
    if (source->type == DT_ARG_INTS && source->n != destination->n)
        return dt_op_refuse(call, DT_ERR_VALUE, "destination: expected %d dims, as the source has, got %d", source->n,
                            destination->n);
    if (count > (n ? n : 1))
        return dt_op_refuse(call, DT_ERR_VALUE, "source: expected at most %d dims, got %d", n, count);
    DT__TRY(read_positions(call, source, "source", n, from, &moved));
    DT__TRY(read_positions(call, destination, "destination", n, to, &taken));
    for (int i = 0; i < count && n > 0; i++)
        order[to[i]] = from[i];
    for (int d = 0; d < n; d++) {
        if (taken >> d & 1)
            continue;
        while (moved >> next & 1)
            next++;
        order[d] = next++;
    }
    return DT_OK;
}

static dt_status order_of(const dt_op_call *call, int *order) {
    order_fn *const *read = call->op->family;
    return (*read)(call, call->inputs[0].n_dims, order);
}

static dt_status shape_permuted(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {.n = input->n_dims};
    int order[DT_SPEC_MAX_DIMS];
    DT__TRY(order_of(call, order));
    for (int d = 0; d < shape.n; d++)
        shape.sizes[d] = input->shape[order[d]];
    return dt__add_shape(call, input->dtype, &shape);
}

static void rows_permuted(const dt_op_call *call, dt_rows *rows) {
    int order[DT_SPEC_MAX_DIMS];
    if (order_of(call, order) != DT_OK)
        return;
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(order[d]), DT_ROW_S(d)});
}

static dt_status permuted(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t *strides = dt__view_strides(call, 0);
    int order[DT_SPEC_MAX_DIMS];
    DT__TRY(order_of(call, order));
    for (int d = 0; d < input->n_dims; d++)
        strides[d] = input->strides[order[d]];
    call->outputs[0].data = input->data;
    return DT_OK;
}

#define PERMUTED(order_)                                                                                             \
    .partial = DT_PARTIAL_ANY, .rows = rows_permuted, .shape = shape_permuted, .kernel = permuted,                   \
    .flags = DT_OP_VIEW, .family = &(order_fn *const) {                                                              \
        order_                                                                                                       \
    }

const dt_op dt__op_T = {
    .schema = "T(Tensor(a) self) -> Tensor(a)",
    .summary = "All dims in reverse order, as a view.",
    PERMUTED(order_reversed),
    .gradient = "self: T(grad)",
    .samples = "T(f32[2,5,3])",
};
const dt_op dt__op_mT = {
    .schema = "mT(Tensor(a) self) -> Tensor(a)",
    .summary = "The last two dims swapped, as a view.",
    PERMUTED(order_matrix),
    .gradient = "self: mT(grad)",
    .samples = "mT(f32[2,5,3])",
};
const dt_op dt__op_movedim = {
    .schema = "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a) | "
              "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    .summary = "Moves dims to other positions, as a view; the others keep their order.",
    PERMUTED(order_moved),
    .gradient = "self: movedim(grad, destination, source)",
    .samples = "movedim(f32[2,5,3]; 0; 2)\nmovedim(f32[2,5,3]; [0,-1]; [1,0])",
};
const dt_op dt__op_swapaxes = {
    .schema = "swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
    .summary = "Swaps two axes, which are dims, as a view.",
    PERMUTED(order_swapped),
    .gradient = "self: swapaxes(grad, axis0, axis1)",
    .samples = "swapaxes(f32[2,5,3]; 0; -1)",
};
const dt_op dt__op_t = {
    .schema = "t(Tensor(a) self) -> Tensor(a)",
    .summary = "The transpose of a matrix, as a view; a vector or a number itself.",
    PERMUTED(order_t),
    .gradient = "self: t(grad)",
    .samples = "t(f32[5,3])\nt(f32[5])",
};
