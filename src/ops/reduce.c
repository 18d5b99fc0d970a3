/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions over dims: sum, mean, amax, argmax, and the running sum. A mean over a sharded dim is a partial sum: the
 * sum of each rank divided by the global count, which is correct for uneven shards, too.
 */
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <math.h>

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
    return add_reduced(call, dt__arg_dtype(dt__arg(call, "dtype"), dt__is_integral(dtype) ? DT_I64 : dtype));
}

static dt_status shape_mean(dt_op_call *call) {
    dt_dtype dtype = dt__arg_dtype(dt__arg(call, "dtype"), call->inputs[0].dtype);
    DT__TRY(check_dims(call));
    if (dt__is_integral(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point dtype, got %s; set dtype, such as DT_F32",
                            dt_dtype_name(dtype));
    return add_reduced(call, dtype);
}

/* The max of no elements does not exist. */
static dt_status check_not_empty(const dt_op_call *call, uint32_t dims) {
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (dims >> d & 1 && call->inputs[0].shape[d] == 0)
            return dt_op_refuse(call, DT_ERR_SHAPE, "cannot reduce dim %d: it is empty", d);
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
    return dt__add_like(call, 0, dt__arg_dtype(dt__arg(call, "dtype"), dt__is_integral(dtype) ? DT_I64 : dtype));
}

/* Dims that are not reduced keep their shards. */
static void add_kept_dims(const dt_op_call *call, dt_rows *rows) {
    uint32_t dims = reduced_dims(call);
    int map[DT_SPEC_MAX_DIMS], at = 0;
    for (int d = 0; d < call->inputs[0].n_dims; d++) {
        bool reduced = dims >> d & 1;
        map[d] = reduced ? -1 : at;
        at += !reduced || keeps_dims(call);
    }
    dt__rows_map(call, rows, map);
}

static void add_reduced_dims(const dt_op_call *call, dt_rows *rows, dt_reduce kind) {
    uint32_t dims = reduced_dims(call);
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (dims >> d & 1)
            dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_P(kind)});
}

static void rows_sum(const dt_op_call *call, dt_rows *rows) {
    add_kept_dims(call, rows);
    if (call->outputs[0].dtype != DT_BOOL)
        add_reduced_dims(call, rows, DT_SUM);
}

static void rows_amax(const dt_op_call *call, dt_rows *rows) {
    add_kept_dims(call, rows);
    add_reduced_dims(call, rows, DT_MAX);
    dt_rows_reduce(rows, 1, DT_MAX, DT_MAX);
}

static void rows_cumsum(const dt_op_call *call, dt_rows *rows) {
    int map[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        map[d] = reduced_dims(call) >> d & 1 ? -1 : d;
    dt__rows_map(call, rows, map);
}

/* The output without the dims that are kept as 1. */
struct folded {
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt__array array;
};

static void fold_output(const dt_op_call *call, uint32_t dims, struct folded *out) {
    const dt_op_value *value = &call->outputs[0];
    int n = 0;
    bool keeps = keeps_dims(call);
    for (int d = 0, at = 0; d < call->inputs[0].n_dims; d++) {
        bool reduced = dims >> d & 1;
        if (!reduced) {
            out->shape[n] = value->shape[at];
            out->strides[n++] = value->strides[at];
        }
        at += !reduced || keeps;
    }
    out->array = (dt__array){value->data, value->dtype, n, out->shape, out->strides};
}

static void fill_output(const dt_op_call *call, double number) {
    dt__constant constant;
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__array value = dt__array_of_number(&(dt_arg){.type = DT_ARG_FLOAT, .as.f = number}, out.dtype, &constant);
    dt__run_convert(call, &out, &value);
}

static dt_status fold(const dt_op_call *call, dt__fold kind, double divisor) {
    struct folded out;
    uint32_t dims = reduced_dims(call);
    dt__array in = dt__array_of(&call->inputs[0]);
    fold_output(call, dims, &out);
    dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
               &(dt__reduction){kind, dims, divisor, &in, &out.array});
    return DT_OK;
}

/* Integers that become floating point are converted before they are added, and the other way round. */
static dt_status sum_converted(dt_op_call *call, double divisor) {
    const dt_op_value *input = &call->inputs[0];
    dt_dtype dtype = call->outputs[0].dtype;
    if (dt__is_integral(input->dtype) == dt__is_integral(dtype) &&
        dt__is_complex(input->dtype) == dt__is_complex(dtype))
        return fold(call, DT__FOLD_SUM, divisor);
    dt__scratch converted;
    DT__TRY(dt__scratch_new(call, dtype, input->n_dims, input->shape, &converted));
    dt__array in = dt__array_of(input);
    dt__run_convert(call, &converted.array, &in);
    dt_op_value value = *input;
    value.dtype = dtype;
    value.data = converted.array.data;
    value.strides = converted.strides;
    dt_op_call inner = *call;
    inner.inputs = &value;
    dt_status status = fold(&inner, DT__FOLD_SUM, divisor);
    dt__scratch_free(call, &converted);
    return status;
}

static dt_status sum(dt_op_call *call) { return sum_converted(call, 0); }

/* Each local sum is divided by the global count. */
static dt_status mean(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    uint32_t dims = reduced_dims(call);
    double count = 1;
    for (int d = 0; d < input->n_dims; d++)
        count *= dims >> d & 1 ? (double)input->global_shape[d] : 1;
    if (count != 0)
        return sum_converted(call, count);
    fill_output(call, (double)NAN);
    return DT_OK;
}

/* A local tensor without elements contributes the identity of max. */
static dt_status amax(dt_op_call *call) {
    uint32_t dims = reduced_dims(call);
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (dims >> d & 1 && call->inputs[0].shape[d] == 0) {
            fill_output(call, call->outputs[0].dtype == DT_BOOL ? 0 : -(double)INFINITY);
            return DT_OK;
        }
    return fold(call, DT__FOLD_MAX, 0);
}

static dt_status argmax(dt_op_call *call) {
    struct folded out;
    dt__array in = dt__array_of(&call->inputs[0]);
    uint32_t dims = reduced_dims(call);
    fold_output(call, dims, &out);
    if (dt__array_count(&out.array) > 0)
        dt__reduce_arg(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                       &(dt__reduction){DT__FOLD_MAX, dims, 0, &in, &out.array});
    return DT_OK;
}

static dt_status running_sum(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    dt__run_convert(call, &out, &in);
    if (out.n_dims > 0)
        dt__scan(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), DT__FOLD_SUM,
                 dt__wrap_dim(dt__arg(call, "dim")->as.i, out.n_dims), &out, &out);
    return DT_OK;
}

const dt_op dt__op_sum = {
    .schema = "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor | "
              "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Sum over all dims or over some.",
    .partial = DT_PARTIAL_LINEAR,
    .rows = rows_sum,
    .shape = shape_sum,
    .kernel = sum,
    .samples =
        "sum(f32[5,3])\nsum(f32[5,3]; [1]; true)\nsum(f32[2,5,3]; [0,2])\nsum(bool[5,3]; 0)\nsum(f32[0,3]; 0)\n"
        "sum(f32[5,3]; dtype=i64)\n"
        "sum(i8[5,3]; 0)\n"
        "sum(i32[5,3]; 0; dtype=f32)\n"
        "sum(f32[5,3]; 0; dtype=f64)\n"
        "sum(i64[5,3]; 0; dtype=i32)",
};
const dt_op dt__op_mean = {
    .schema = "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor | "
              "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Average over all dims or over some.",
    .partial = DT_PARTIAL_LINEAR,
    .rows = rows_sum,
    .shape = shape_mean,
    .kernel = mean,
    .samples = "mean(f32[5,3])\nmean(f32[5,3]; [1]; true)\nmean(f32[2,5,3]; [0,2])\n"
               "mean(i32[5,3]; dtype=f32)\n"
               "mean(f32[0,3]; 0)",
};
const dt_op dt__op_amax = {
    .schema = "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
    .summary = "Largest element over all dims or over some.",
    .rows = rows_amax,
    .shape = shape_amax,
    .kernel = amax,
    .samples = "amax(f32[5,3])\namax(f32[5,3]; [1]; true)\namax(i32[2,5,3]; [0,2])\n"
               "amax(bool[5,3]; 0)",
};
const dt_op dt__op_argmax = {
    .schema = "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    .summary = "Index of the largest element, over all elements or along a dim.",
    .rows = add_kept_dims,
    .shape = shape_argmax,
    .kernel = argmax,
    .samples = "argmax(f32[5,3])\nargmax(f32[5,3]; 1; true)\nargmax(i32[5,3]; 0)",
};
const dt_op dt__op_cumsum = {
    .schema = "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Running sum along a dim.",
    .partial = DT_PARTIAL_LINEAR,
    .rows = rows_cumsum,
    .shape = shape_cumsum,
    .kernel = running_sum,
    .samples = "cumsum(f32[5,3]; 0)\ncumsum(f32[5,3]; -1)\ncumsum(i32[5]; 0)\n"
               "cumsum(f32[5,3]; 0; dtype=i64)",
};
