/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions over dims: sum, mean, amax, argmax, and the running sum. A mean over a sharded dim is a partial sum: the
 * sum of each rank divided by the global count, which is correct for uneven shards, too.
 */
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <math.h>

/* Positions in .arguments. */
enum { DIM, KEEPDIM, DTYPE, SCAN_DTYPE = 1 };

/* What reductions differ in, beside their rule. */
enum {
    WIDENS = 1 << 0,    /* integers become i64 */
    AVERAGES = 1 << 1,  /* divides by the global count; floating point only */
    ORDERS = 1 << 2,    /* compares elements: no complex numbers, and not of none */
    POSITIONS = 1 << 3, /* returns indices of elements */
};
typedef struct reduction {
    dt__fold fold;
    unsigned flags;
} reduction;

#define REDUCTION(rule_, arguments_, fold_, flags_)                                                                  \
    .rule = rule_, .arguments = arguments_, .shape = shape_reduced, .kernel = reduce, .family = &(const reduction) { \
        fold_, flags_                                                                                                \
    }

static bool keeps_dims(const dt_op_call *call) {
    const dt_arg *keepdim = dt__arg_at(call, KEEPDIM);
    return keepdim && keepdim->as.b;
}

static dt_status add_reduced(dt_op_call *call, uint32_t dims, dt_dtype dtype) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {0};
    for (int d = 0; d < input->n_dims; d++)
        if (!(dims >> d & 1))
            shape.sizes[shape.n++] = input->shape[d];
        else if (keeps_dims(call))
            shape.sizes[shape.n++] = 1;
    return dt__add_shape(call, dtype, &shape);
}

/* The max of no elements does not exist. */
static dt_status check_not_empty(const dt_op_call *call, uint32_t dims) {
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (dims >> d & 1 && call->inputs[0].shape[d] == 0)
            return dt_op_refuse(call, DT_ERR_SHAPE, "cannot reduce dim %d: it is empty", d);
    return DT_OK;
}

static dt_dtype widened(dt_dtype dtype) { return dt__is_integral(dtype) ? DT_I64 : dtype; }

static dt_status shape_reduced(dt_op_call *call) {
    const reduction *of = call->op->family;
    dt_dtype dtype = call->inputs[0].dtype;
    uint32_t dims;
    if (of->flags & ORDERS)
        DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DIM), call->inputs[0].n_dims, &dims));
    if (of->flags & ORDERS)
        DT__TRY(check_not_empty(call, dims));
    dtype = dt__arg_dtype(dt__arg_at(call, DTYPE), of->flags & WIDENS ? widened(dtype) : dtype);
    if (of->flags & AVERAGES && dt__is_integral(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point dtype, got %s; set dtype, such as DT_F32",
                            dt_dtype_name(dtype));
    return add_reduced(call, dims, of->flags & POSITIONS ? DT_I64 : dtype);
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

static dt_status fill_output(const dt_op_call *call, const dt__constant *element) {
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__run_convert(call, &out, &(dt__array){(void *)element, out.dtype, 0, NULL, NULL});
    return DT_OK;
}

/* What a local tensor without elements contributes to a maximum or minimum. */
static dt_status fill_identity(const dt_op_call *call, dt__fold kind) {
    dt__constant element;
    dt__write_identity(call->outputs[0].dtype, kind == DT__FOLD_MAX ? DT_MAX : DT_MIN, &element);
    return fill_output(call, &element);
}

static dt_status fill_nan(const dt_op_call *call) {
    dt__constant element;
    (void)dt__array_of_number(&(dt_arg){.type = DT_ARG_FLOAT, .as.f = (double)NAN}, call->outputs[0].dtype, &element);
    return fill_output(call, &element);
}

static dt_status fold(const dt_op_call *call, const dt__array *in, uint32_t dims, double divisor) {
    const reduction *of = call->op->family;
    struct folded out;
    fold_output(call, dims, &out);
    dt__reduction request = {of->fold, dims, divisor, in, &out.array};
    if (!(of->flags & POSITIONS))
        dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &request);
    else if (dt__array_count(&out.array) > 0)
        dt__reduce_arg(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &request);
    return DT_OK;
}

/* Integers that become floating point are converted before they are added, and the other way round. */
static dt_status fold_converted(const dt_op_call *call, const dt__array *in, uint32_t dims, double divisor) {
    dt__scratch converted;
    DT__TRY(dt__scratch_new(call, call->outputs[0].dtype, in->n_dims, in->shape, &converted));
    dt__run_convert(call, &converted.array, in);
    dt_status status = fold(call, &converted.array, dims, divisor);
    dt__scratch_free(call, &converted);
    return status;
}

/* The global number of elements that are reduced to one, and the local one. */
static double count_reduced(const dt_op_value *input, uint32_t dims, bool *none_here) {
    double count = 1;
    *none_here = false;
    for (int d = 0; d < input->n_dims; d++)
        if (dims >> d & 1) {
            count *= (double)input->global_shape[d];
            *none_here |= input->shape[d] == 0;
        }
    return count;
}

static dt_status reduce(dt_op_call *call) {
    const reduction *of = call->op->family;
    dt__array in = dt__array_of(&call->inputs[0]);
    dt_dtype dtype = call->outputs[0].dtype;
    uint32_t dims = dt__wrap_dims(dt__arg_at(call, DIM), in.n_dims);
    bool none_here;
    double count = count_reduced(&call->inputs[0], dims, &none_here);
    if (of->flags & AVERAGES && count == 0)
        return fill_nan(call);
    if (of->flags & ORDERS && !(of->flags & POSITIONS) && none_here)
        return fill_identity(call, of->fold);
    bool converts =
        dt__is_integral(in.dtype) != dt__is_integral(dtype) || dt__is_complex(in.dtype) != dt__is_complex(dtype);
    return (converts && !(of->flags & POSITIONS) ? fold_converted : fold)(call, &in, dims,
                                                                          of->flags & AVERAGES ? count : 0);
}

static dt_status shape_scan(dt_op_call *call) {
    int ignored;
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims, &ignored));
    return dt__add_like(call, 0, dt__arg_dtype(dt__arg_at(call, SCAN_DTYPE), widened(call->inputs[0].dtype)));
}

static dt_status running_sum(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    dt__run_convert(call, &out, &in);
    if (out.n_dims > 0)
        dt__scan(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), DT__FOLD_SUM,
                 dt__wrap_dim(dt__arg_at(call, DIM)->as.i, out.n_dims), &out, &out);
    return DT_OK;
}

const dt_op dt__op_sum = {
    .schema = "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor | "
              "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Sum over all dims or over some.",
    REDUCTION("...[dim] -> ...[dim:1?]", "dim,keepdim,dtype", DT__FOLD_SUM, WIDENS),
    .partial = DT_PARTIAL_LINEAR,
    .gradient = "self: expand(grad, self.shape); "
                "self.dim_IntList: expand(reshape(grad, kept(self.shape, dim)), self.shape)",
    .samples = "sum(f32[5,3])\nsum(f32[5,3]; [1]; true)\nsum(f32[2,5,3]; [0,2])\nsum(bool[5,3]; 0)\n"
               "sum(f32[0,3]; 0)\nsum(f32[5,3]; dtype=i64)\nsum(i8[5,3]; 0)\nsum(i32[5,3]; 0; dtype=f32)\n"
               "sum(f32[5,3]; 0; dtype=f64)\nsum(i64[5,3]; 0; dtype=i32)",
};
const dt_op dt__op_mean = {
    .schema = "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor | "
              "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Average over all dims or over some.",
    REDUCTION("...[dim] -> ...[dim:1?]", "dim,keepdim,dtype", DT__FOLD_SUM, AVERAGES),
    .partial = DT_PARTIAL_LINEAR,
    .gradient = "self: expand(grad / count(self.shape, none), self.shape); "
                "self.dim: expand(reshape(grad, kept(self.shape, dim)) / count(self.shape, dim), self.shape)",
    .samples = "mean(f32[5,3])\nmean(f32[5,3]; [1]; true)\nmean(f32[2,5,3]; [0,2])\nmean(i32[5,3]; dtype=f32)\n"
               "mean(f32[0,3]; 0)",
};
const dt_op dt__op_amax = {
    .schema = "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
    .summary = "Largest element over all dims or over some.",
    REDUCTION("...[dim] -> ...[dim:1?] P(max)", "dim,keepdim", DT__FOLD_MAX, ORDERS),
    .partial = DT_PARTIAL_MAX,
    .gradient = "self: reshape(grad, kept(self.shape, dim)) * eq(self, reshape(result, kept(self.shape, dim))) / "
                "sum(eq(self, reshape(result, kept(self.shape, dim))), dim, true)",
    .samples = "amax(f32[5,3])\namax(f32[5,3]; [1]; true)\namax(i32[2,5,3]; [0,2])\namax(bool[5,3]; 0)",
};
const dt_op dt__op_argmax = {
    .schema = "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    .summary = "Index of the largest element, over all elements or along a dim.",
    REDUCTION("...[dim!] -> ...[dim:1?]", "dim,keepdim", DT__FOLD_MAX, ORDERS | POSITIONS),
    .samples = "argmax(f32[5,3])\nargmax(f32[5,3]; 1; true)\nargmax(i32[5,3]; 0)",
    .flags = DT_OP_NOT_DIFFERENTIABLE,
};
const dt_op dt__op_cumsum = {
    .schema = "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Running sum along a dim.",
    .rule = "...[dim!] -> ...[dim]",
    .partial = DT_PARTIAL_LINEAR,
    .shape = shape_scan,
    .kernel = running_sum,
    .arguments = "dim,dtype",
    .gradient = "self: grad + sum(grad, dim, true) - cumsum(grad, dim)",
    .samples = "cumsum(f32[5,3]; 0)\ncumsum(f32[5,3]; -1)\ncumsum(i32[5]; 0)\ncumsum(f32[5,3]; 0; dtype=i64)",
};
