/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions of functions of elements: vector norms and logsumexp. Of the norms, those that are sums (ord 1 and 0) or
 * extrema (ord inf and -inf) of magnitudes are partial over a sharded dim; for the others, and for logsumexp, the ranks
 * meet.
 */
#include "dtensor/ops.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <math.h>

/* Positions in .arguments, after those of all reductions. */
enum { ORD = 2, DTYPE };

static uint32_t reduced_dims(const dt_op_call *call) {
    return dt__wrap_dims(dt__arg_at(call, DT__REDUCED_DIM), call->inputs[0].n_dims);
}

static dt_status shape_logsumexp(dt_op_call *call) {
    uint32_t dims;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DT__REDUCED_DIM), call->inputs[0].n_dims, &dims));
    return dt__add_reduced(call, dims, dt__promote_to_inexact(call->inputs[0].dtype));
}

static void describe_exponentials(const dt_op_call *call, dt_state *state) {
    dt__statistics_describe(call, DT__EXPONENTIALS, reduced_dims(call), state);
}

static dt_status begin_exponentials(dt_op_call *call, const dt_state *state) {
    dt__array in = dt__array_of(&call->inputs[0]);
    dt__statistics_begin(call, DT__EXPONENTIALS, reduced_dims(call), &in, NULL, state);
    return DT_OK;
}

static void merge_exponentials(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    dt__statistics_meet(call, DT__EXPONENTIALS, into, next);
}

/* largest + log(sum); if the largest is infinite it is the result. */
static dt_status finish_exponentials(dt_op_call *call, const dt_state *merged) {
    uint32_t dims = reduced_dims(call);
    double *largest = merged->fields[0].data, *sum = merged->fields[1].data;
    dt__reduced first, second, out;
    dt__state_array(call, dims, &merged->fields[0], &first);
    dt__state_array(call, dims, &merged->fields[1], &second);
    dt__reduced_of(call, &call->outputs[0], dims, &out);
    for (int64_t i = 0; i < merged->fields[0].n; i++)
        sum[i] = isinf(largest[i]) ? 1 : sum[i];
    DT__TRY(dt__run_elements(call, DT__EL_LOG, DT_F64, &second.array, &second.array, NULL, NULL));
    return dt__run_elements(call, DT__EL_ADD, DT_F64, &out.array, &first.array, &second.array, NULL);
}

static const dt_meet logsumexp_meet = {describe_exponentials, begin_exponentials, merge_exponentials,
                                       finish_exponentials};

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
                                           : "...[dim~] -> ...[dim:1?]",
                    0);
}

/* The state is what a norm is the root of: the sum of |element|^ord, in f64; or a norm without a root: the number of
 * elements that are not 0, the sum or an extremum of magnitudes. */
static void describe_norm(const dt_op_call *call, dt_state *state) {
    double ord = ord_of(call);
    state->n_fields = 1;
    state->fields[0] = (dt_state_field){.dtype = DT_F64,
                                        .n = dt__n_remaining(&call->inputs[0], reduced_dims(call)),
                                        .identity = isinf(ord) && ord < 0 ? INFINITY : 0};
}

static dt_status begin_norm(dt_op_call *call, const dt_state *state) {
    double ord = ord_of(call), zero = 0;
    dt__array in = dt__array_of(&call->inputs[0]), none = {&zero, DT_F64, 0, NULL, NULL};
    uint32_t dims = reduced_dims(call);
    dt__reduced sum;
    if (ord == 2) {
        dt__statistics_begin(call, DT__SQUARES, dims, &in, NULL, state);
        return DT_OK;
    }
    dt__state_array(call, dims, &state->fields[0], &sum);
    return dt__reduce_mapped(call,
                             &(dt__mapped_fold){.fold = !isinf(ord) ? DT__FOLD_SUM
                                                        : ord > 0   ? DT__FOLD_MAX
                                                                    : DT__FOLD_MIN,
                                                .op = ord == 0                 ? DT__EL_NE
                                                      : ord == 1 || isinf(ord) ? DT__EL_ABS
                                                                               : DT__EL_POW_ABS,
                                                .dtype = DT_F64,
                                                .numbers = {{.f = {ord, 0}}},
                                                .with = ord == 0 ? &none : NULL},
                             &in, dims, &sum.array);
}

static void merge_norm(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    dt__statistics_meet(call, DT__SQUARES, into, next);
}

static dt_status finish_norm(dt_op_call *call, const dt_state *merged) {
    double ord = ord_of(call), inverse = 1 / ord;
    uint32_t dims = reduced_dims(call);
    dt__array root = {&inverse, DT_F64, 0, NULL, NULL};
    dt__reduced sum, out;
    dt__state_array(call, dims, &merged->fields[0], &sum);
    dt__reduced_of(call, &call->outputs[0], dims, &out);
    if (ord != 0 && ord != 1 && !isinf(ord))
        DT__TRY(dt__run_elements(call, ord == 2 ? DT__EL_SQRT : DT__EL_POW, DT_F64, &sum.array, &sum.array,
                                 ord == 2 ? NULL : &root, NULL));
    dt__run_convert(call, &out.array, &sum.array);
    return DT_OK;
}

static const dt_meet norm_meet = {describe_norm, begin_norm, merge_norm, finish_norm};

/* A result, broadcast to the tensor, which has the dims that were reduced. */
static dt_tensor *kept(const dt_op_call *call, dt_tensor *tensor) {
    const dt_op_value *input = &call->inputs[0];
    uint32_t dims = reduced_dims(call);
    int64_t sizes[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < input->n_dims; d++)
        sizes[d] = dims >> d & 1 ? 1 : input->shape[d];
    return dt_reshape(tensor, ((dt_shape){input->n_dims, sizes}));
}

/* grad sign(x) where the magnitude is the extreme one or NaN, in equal parts. */
static dt_tensor *at_extremes(const dt_op_call *call, dt_tensor *x, dt_tensor *norm, dt_tensor *grad) {
    uint32_t dims = reduced_dims(call);
    int64_t list[DT_SPEC_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (dims >> d & 1)
            list[n++] = d;
    dt_tensor *is_it = dt_logical_or(dt_eq(dt_abs(x), norm), dt_isnan(x));
    dt_tensor *count = n ? dt_sum(is_it, .dim = ((dt_dims){.n = n, .list = list}), .keepdim = true) : dt_sum(is_it);
    return dt_mul(dt_mul(dt_sign(x), is_it), dt_div(grad, count));
}

/* sign(x) |x|^(p-1), and 0 at 0, where the power of p < 1 is infinite. */
static dt_tensor *signed_power(dt_tensor *x, double ord) {
    if (ord == 2)
        return x;
    if (ord == 1)
        return dt_sign(x);
    if (ord > 2)
        return dt_mul(x, dt_pow_scalar_exponent(dt_abs(x), ord - 2));
    dt_tensor *power = dt_pow_scalar_exponent(dt_abs(x), ord - 1);
    return dt_mul(dt_sign(x), ord > 1 ? power : dt_masked_fill(power, dt_eq_scalar(x, 0), 0));
}

static bool is_half(const dt_tensor *tensor) {
    return dt_tensor_dtype(tensor) == DT_F16 || dt_tensor_dtype(tensor) == DT_BF16;
}

/* grad sign(x) |x|^(p-1) / norm^(p-1); of the largest and the smallest magnitude, grad sign(x) where it is, in equal
 * parts; 0 where the norm is 0. Second derivatives where the norm is 0 follow from what is masked: all of them are NaN,
 * but those by grad. Where none are recorded, one pass over the elements is enough. */
static dt_tensor *of_vector(const dt_op_call *call, dt_tensor *x, dt_tensor *norm, dt_tensor *grad) {
    double ord = ord_of(call);
    if (isinf(ord))
        return at_extremes(call, x, norm, grad);
    if (ord == 1)
        return dt_mul(dt_sign(x), grad);
    if (ord < 1)
        return dt_mul(dt_mul(signed_power(x, ord), grad), dt_pow_scalar_exponent(norm, 1 - ord));
    dt_tensor *is_zero = dt_eq_scalar(norm, 0);
    if (ord == 2 && !dt_requires_grad(x)) /* quotients by small norms overflow in half precision */
        return dt_mul(x, dt_masked_fill(dt_div(grad, is_half(norm) ? dt_to(norm, DT_F32) : norm), is_zero, 0));
    if (ord == 2)
        return dt_mul(dt_masked_fill(dt_div(x, norm), is_zero, 0), grad);
    return dt_mul(signed_power(x, ord),
                  dt_masked_fill(dt_div(grad, dt_pow_scalar_exponent(norm, ord - 1)), is_zero, 0));
}

static dt_status norm_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    if (ord_of(op) == 0)
        return DT_OK;
    input_grads[0] = of_vector(op, call->inputs[0], kept(op, call->outputs[0]), kept(op, call->grads[0]));
    return input_grads[0] ? DT_OK : dt_error_status(op->ctx);
}

const dt_op dt__op_linalg_vector_norm = {
    .schema = "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
              "ScalarType? dtype=None) -> Tensor",
    .summary = "Norm of a vector, along all dims or along some: (sum of |x|^ord)^(1/ord), inf the largest |x|.",
    .rows = rows_vector_norm,
    .shape = shape_vector_norm,
    .kernel = dt__run_alone,
    .meet = &norm_meet,
    .arguments = "dim,keepdim,ord,dtype",
    .backward = norm_backward,
    .saves = "self,result",
    .samples = "linalg_vector_norm(f32[5,3])\nlinalg_vector_norm(f32[5,3]; 1; [0])\n"
               "linalg_vector_norm(f32[2,5,3]; inf; [0,2]; true)\nlinalg_vector_norm(f32[5,3]; -2.5; 1; dtype=f64)\n"
               "linalg_vector_norm(f32[5,3]; 0; 0)\nlinalg_vector_norm(f32[5,3]; -inf; 0)",
    .flags = DT_OP_AS_STORED, /* norms of weights and gradients, for clipping */
};

/* What linalg_vector_norm takes the root of, so that norms of many tensors take one reduction: a partial value. */
static dt_status shape_power_sum(dt_op_call *call) {
    uint32_t dims;
    if (!dt__is_float(call->inputs[0].dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point tensor, got %s",
                            dt_dtype_name(call->inputs[0].dtype));
    if (!(ord_of(call) > 0))
        return dt_op_refuse(call, DT_ERR_VALUE, "ord: expected a number > 0 or inf, got %g", ord_of(call));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DT__REDUCED_DIM), call->inputs[0].n_dims, &dims));
    return dt__add_reduced(call, dims, DT_F64);
}

static void rows_power_sum(const dt_op_call *call, dt_rows *rows) {
    dt_rows_factors(rows, isinf(ord_of(call)) ? "...[dim] -> ...[dim:1?] P(max)" : "...[dim] -> ...[dim:1?]", 0);
}

static dt_status power_sum(dt_op_call *call) {
    dt_op_value *out = &call->outputs[0];
    int64_t n = dt__n_remaining(&call->inputs[0], reduced_dims(call));
    return begin_norm(call, &(dt_state){.n_fields = 1, .fields = {{.dtype = DT_F64, .n = n, .data = out->data}}});
}

static dt_status power_sum_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    double ord = ord_of(op);
    dt_tensor *x = call->inputs[0], *grad = kept(op, call->grads[0]);
    input_grads[0] = isinf(ord) ? at_extremes(op, x, kept(op, call->outputs[0]), grad)
                                : dt_mul_scalar(dt_mul(signed_power(x, ord), grad), ord);
    return input_grads[0] ? DT_OK : dt_error_status(op->ctx);
}

const dt_op dt__op_power_sum = {
    .schema = "power_sum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False) -> Tensor",
    .summary = "Sum of |x|^ord in f64, along all dims or along some; of ord inf the largest |x|, 0 without elements.",
    .rows = rows_power_sum,
    .shape = shape_power_sum,
    .kernel = power_sum,
    .arguments = "dim,keepdim,ord",
    .samples = "power_sum(f32[5,3])\npower_sum(f32[5,3]; 1; [0])\npower_sum(f32[2,5,3]; inf; [0,2]; true)\n"
               "power_sum(bf16[5,3]; 2.5; 1)",
    .backward = power_sum_backward,
    .saves = "self,result",
    .flags = DT_OP_AS_STORED,
};
const dt_op dt__op_logsumexp = {
    .schema = "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    .summary = "Logarithm of the sum of exponentials over dims, without overflow.",
    .rule = "...[dim~] -> ...[dim:1?]",
    .shape = shape_logsumexp,
    .kernel = dt__run_alone,
    .meet = &logsumexp_meet,
    .arguments = "dim,keepdim",
    .gradient = "self: reshape(grad, kept(self.shape, dim)) * exp(self - reshape(result, kept(self.shape, dim)))",
    .samples = "logsumexp(f32[5,3]; 1)\nlogsumexp(f32[2,5,3]; [0,2]; true)\nlogsumexp(f64[5,3]; 0)",
};
