/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions over dims: sum, mean, amax, argmax, and the running sum. A mean over a sharded dim is a partial sum: each
 * rank's sum over the global count, which is right for uneven parts, too.
 */
#include "ops/infer.h"
#include "ops/table.h"

#include <inttypes.h>

/* The dims that the call reduces, by bits; arguments are checked. */
static uint32_t reduced_dims(const dt_op_call *call) {
    const dt_arg *dim = dt__arg(call, "dim");
    int n_dims = call->inputs[0].n_dims;
    if (dim && dim->type == DT_ARG_INT)
        return n_dims ? (uint32_t)1 << dt__wrap_dim(dim->as.i, n_dims) : 0;
    return dt__wrap_dims(dim, n_dims);
}

static bool keeps_dims(const dt_op_call *call) {
    const dt_arg *keepdim = dt__arg(call, "keepdim");
    return keepdim && keepdim->as.b;
}

static dt_status add_reduced(dt_op_call *call, dt_dtype dtype) {
    const dt_op_value *input = &call->inputs[0];
    uint32_t dims = reduced_dims(call);
    dt__shape shape = {0};
    for (int d = 0; d < input->n_dims; d++)
        if (!(dims >> d & 1))
            shape.sizes[shape.n++] = input->shape[d];
        else if (keeps_dims(call))
            shape.sizes[shape.n++] = 1;
    return dt__add_shape(call, dtype, &shape);
}

static dt_status check_dims(const dt_op_call *call) {
    uint32_t dims;
    return dt__read_dims(call, dt__arg(call, "dim"), call->inputs[0].n_dims, &dims);
}

static dt_status shape_sum(dt_op_call *call) {
    dt_dtype dtype = call->inputs[0].dtype;
    DT__TRY(check_dims(call));
    return add_reduced(call, dt__arg_dtype(dt__arg(call, "dtype"), dt__is_whole(dtype) ? DT_I64 : dtype));
}

static dt_status shape_mean(dt_op_call *call) {
    dt_dtype dtype = dt__arg_dtype(dt__arg(call, "dtype"), call->inputs[0].dtype);
    DT__TRY(check_dims(call));
    if (dt__is_whole(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE,
                            "the mean of %s is not of that dtype; give a floating-point dtype, such as dtype=f32",
                            dt_dtype_word(dtype));
    return add_reduced(call, dtype);
}

/* An extreme of nothing does not exist. */
static dt_status check_not_empty(const dt_op_call *call, uint32_t dims) {
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (dims >> d & 1 && call->inputs[0].shape[d] == 0)
            return dt_op_refuse(call, DT_ERR_SHAPE, "dim %d has size 0, and there is no largest of no elements", d);
    return DT_OK;
}

static dt_status shape_amax(dt_op_call *call) {
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(check_dims(call));
    DT__TRY(check_not_empty(call, reduced_dims(call)));
    return add_reduced(call, call->inputs[0].dtype);
}

static dt_status shape_argmax(dt_op_call *call) {
    const dt_arg *dim = dt__arg(call, "dim");
    int ignored;
    DT__TRY(dt__refuse_complex(call));
    if (dim->type == DT_ARG_INT)
        DT__TRY(dt__read_dim(call, dim->as.i, call->inputs[0].n_dims, &ignored));
    DT__TRY(check_not_empty(call, reduced_dims(call)));
    return add_reduced(call, DT_I64);
}

static dt_status shape_cumsum(dt_op_call *call) {
    dt_dtype dtype = call->inputs[0].dtype;
    int ignored;
    DT__TRY(dt__read_dim(call, dt__arg(call, "dim")->as.i, call->inputs[0].n_dims, &ignored));
    return dt__add_like(call, 0, dt__arg_dtype(dt__arg(call, "dtype"), dt__is_whole(dtype) ? DT_I64 : dtype));
}

/* Dims that stay keep their cuts. */
static void add_kept(const dt_op_call *call, dt_rows *rows) {
    uint32_t dims = reduced_dims(call);
    int map[DT_SPEC_MAX_DIMS], at = 0;
    for (int d = 0; d < call->inputs[0].n_dims; d++) {
        bool reduced = dims >> d & 1;
        map[d] = reduced ? -1 : at;
        at += !reduced || keeps_dims(call);
    }
    dt__rows_map(call, rows, map);
}

static void add_cut(const dt_op_call *call, dt_rows *rows, dt_reduce kind) {
    uint32_t dims = reduced_dims(call);
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (dims >> d & 1)
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_P(kind)});
}

static void rows_sum(const dt_op_call *call, dt_rows *rows) {
    add_kept(call, rows);
    if (call->outputs[0].dtype != DT_BOOL)
        add_cut(call, rows, DT_SUM);
}

static void rows_amax(const dt_op_call *call, dt_rows *rows) {
    add_kept(call, rows);
    add_cut(call, rows, DT_MAX);
    dt_rows_reduce(rows, 1, DT_MAX, DT_MAX);
}

static void rows_cumsum(const dt_op_call *call, dt_rows *rows) {
    int map[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        map[d] = reduced_dims(call) >> d & 1 ? -1 : d;
    dt__rows_map(call, rows, map);
}

const dt_op dt__op_sum = {
    .schema = "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor | "
              "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    .partial = DT_PARTIAL_LINEAR,
    .rows = rows_sum,
    .shape = shape_sum,
    .samples = "sum(f32[5,3])\nsum(f32[5,3]; [1]; true)\nsum(f32[2,5,3]; [0,2])\nsum(bool[5,3]; 0)\nsum(f32[0,3]; 0)",
};
const dt_op dt__op_mean = {
    .schema = "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor | "
              "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    .partial = DT_PARTIAL_LINEAR,
    .rows = rows_sum,
    .shape = shape_mean,
    .samples = "mean(f32[5,3])\nmean(f32[5,3]; [1]; true)\nmean(f32[2,5,3]; [0,2])",
};
const dt_op dt__op_amax = {
    .schema = "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
    .rows = rows_amax,
    .shape = shape_amax,
    .samples = "amax(f32[5,3])\namax(f32[5,3]; [1]; true)\namax(i32[2,5,3]; [0,2])",
};
const dt_op dt__op_argmax = {
    .schema = "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    .rows = add_kept,
    .shape = shape_argmax,
    .samples = "argmax(f32[5,3])\nargmax(f32[5,3]; 1; true)\nargmax(i32[5,3]; 0)",
};
const dt_op dt__op_cumsum = {
    .schema = "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    .partial = DT_PARTIAL_LINEAR,
    .rows = rows_cumsum,
    .shape = shape_cumsum,
    .samples = "cumsum(f32[5,3]; 0)\ncumsum(f32[5,3]; -1)\ncumsum(i32[5]; 0)",
};
