/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions of functions of elements: vector norms and logsumexp. Of the norms, those that are sums (ord 1 and 0) or
 * extrema (ord inf and -inf) of magnitudes are partial over a sharded dim; the others need all elements.
 */
#include "ops/ops.h"
#include "ops/reduce_support.h"

#include <math.h>

/* Positions in .arguments, behind those of all reductions. */
enum { ORD = 2, DTYPE };

static dt_dtype computed_in(dt_dtype dtype) { return dtype == DT_F64 ? DT_F64 : DT_F32; }

static dt_status shape_logsumexp(dt_op_call *call) {
    uint32_t dims;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DT__REDUCED_DIM), call->inputs[0].n_dims, &dims));
    return dt__add_reduced(call, dims, dt__promote_to_inexact(call->inputs[0].dtype));
}

/* max + log(sum of exp(element - max)); a maximum that is infinite is not subtracted. */
static dt_status sum_exponentials(const dt_op_call *call, const dt__array *in, uint32_t dims, const dt__array *max,
                                  const dt__array *sum) {
    double *shift = max->data;
    if (dt__array_count(in) > 0)
        dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                   &(dt__reduction){DT__FOLD_MAX, dims, 0, in, max});
    for (int64_t i = 0, n = dt__array_count(max); i < n; i++)
        shift[i] = dt__array_count(in) > 0 && isfinite(shift[i]) ? shift[i] : 0;
    DT__TRY(dt__reduce_mapped(call,
                              &(dt__mapped_fold){.fold = DT__FOLD_SUM,
                                                 .op = DT__EL_EXP_DIFFERENCE,
                                                 .dtype = computed_in(call->outputs[0].dtype),
                                                 .with = max},
                              in, dims, sum));
    DT__TRY(dt__run_elements(call, DT__EL_LOG, DT_F64, sum, sum, NULL, NULL));
    dt__reduced out;
    dt__reduced_of(call, &call->outputs[0], dims, &out);
    return dt__run_elements(call, DT__EL_ADD, DT_F64, &out.array, sum, max, NULL);
}

static dt_status logsumexp(dt_op_call *call) {
    dt__array in = dt__array_of(&call->inputs[0]);
    uint32_t dims = dt__wrap_dims(dt__arg_at(call, DT__REDUCED_DIM), in.n_dims);
    dt__reduced_scratch max, sum;
    DT__TRY(dt__reduced_new(call, &in, dims, DT_F64, &max));
    dt_status status = dt__reduced_new(call, &in, dims, DT_F64, &sum);
    if (status == DT_OK) {
        status = sum_exponentials(call, &in, dims, &max.scratch.array, &sum.scratch.array);
        dt__scratch_free(call, &sum.scratch);
    }
    dt__scratch_free(call, &max.scratch);
    return status;
}

static double ord_of(const dt_op_call *call) { return dt__arg_number(dt__arg_at(call, ORD)); }

static dt_status shape_vector_norm(dt_op_call *call) {
    dt_dtype dtype = dt__arg_dtype(dt__arg_at(call, DTYPE), call->inputs[0].dtype);
    uint32_t dims;
    if (!dt__is_float(dtype) || !dt__is_float(call->inputs[0].dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point tensor or dtype, got %s",
                            dt_dtype_name(call->inputs[0].dtype));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DT__REDUCED_DIM), call->inputs[0].n_dims, &dims));
    if (ord_of(call) < 0 || isinf(ord_of(call)))
        DT__TRY(dt__expect_elements(call, dims));
    return dt__add_reduced(call, dims, dtype);
}

static void rows_vector_norm(const dt_op_call *call, dt_rows *rows) {
    double ord = ord_of(call);
    dt_rows_factors(rows,
                    isinf(ord) ? ord > 0 ? "...[dim] -> ...[dim:1?] P(max)" : "...[dim] -> ...[dim:1?] P(min)"
                    : ord == 1 || ord == 0 ? "...[dim] -> ...[dim:1?]"
                                           : "...[dim!] -> ...[dim:1?]",
                    0);
}

/* (sum of |element|^ord)^(1/ord), in f64; ord 0 counts the elements that are not 0. */
static dt_status vector_norm(dt_op_call *call) {
    double ord = ord_of(call), zero = 0;
    dt__array in = dt__array_of(&call->inputs[0]), none = {&zero, DT_F64, 0, NULL, NULL};
    uint32_t dims = dt__wrap_dims(dt__arg_at(call, DT__REDUCED_DIM), in.n_dims);
    dt__fold fold = !isinf(ord) ? DT__FOLD_SUM : ord > 0 ? DT__FOLD_MAX : DT__FOLD_MIN;
    bool sums = ord != 0 && ord != 1 && !isinf(ord);
    dt__element_op op = ord == 0 ? DT__EL_NE : ord == 2 ? DT__EL_SQUARE : sums ? DT__EL_POW_ABS : DT__EL_ABS;
    dt__reduced_scratch sum;
    dt__reduced out;
    DT__TRY(dt__reduced_new(call, &in, dims, DT_F64, &sum));
    dt__array *from = &sum.scratch.array;
    dt__reduced_of(call, &call->outputs[0], dims, &out);
    dt_status status = dt__reduce_mapped(
        call,
        &(dt__mapped_fold){
            .fold = fold, .op = op, .dtype = DT_F64, .numbers = {{.f = {ord, 0}}}, .with = ord == 0 ? &none : NULL},
        &in, dims, from);
    double inverse = 1 / ord;
    dt__array root = {&inverse, DT_F64, 0, NULL, NULL};
    if (status == DT_OK && sums)
        status = dt__run_elements(call, ord == 2 ? DT__EL_SQRT : DT__EL_POW, DT_F64, from, from,
                                  ord == 2 ? NULL : &root, NULL);
    if (status == DT_OK)
        dt__run_convert(call, &out.array, from);
    dt__scratch_free(call, &sum.scratch);
    return status;
}

const dt_op dt__op_linalg_vector_norm = {
    .schema = "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
              "ScalarType? dtype=None) -> Tensor",
    .summary = "Norm of a vector, along all dims or along some: (sum of |x|^ord)^(1/ord), inf the largest |x|.",
    .rows = rows_vector_norm,
    .shape = shape_vector_norm,
    .kernel = vector_norm,
    .arguments = "dim,keepdim,ord,dtype",
    .samples = "linalg_vector_norm(f32[5,3])\nlinalg_vector_norm(f32[5,3]; 1; [0])\n"
               "linalg_vector_norm(f32[2,5,3]; inf; [0,2]; true)\nlinalg_vector_norm(f32[5,3]; -2.5; 1; dtype=f64)\n"
               "linalg_vector_norm(f32[5,3]; 0; 0)\nlinalg_vector_norm(f32[5,3]; -inf; 0)",
};
const dt_op dt__op_logsumexp = {
    .schema = "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    .summary = "Logarithm of the sum of exponentials over dims, without overflow.",
    .rule = "...[dim!] -> ...[dim:1?]",
    .shape = shape_logsumexp,
    .kernel = logsumexp,
    .arguments = "dim,keepdim",
    .gradient = "self: reshape(grad, kept(self.shape, dim)) * exp(self - reshape(result, kept(self.shape, dim)))",
    .samples = "logsumexp(f32[5,3]; 1)\nlogsumexp(f32[2,5,3]; [0,2]; true)\nlogsumexp(f64[5,3]; 0)",
};
