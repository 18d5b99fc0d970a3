/* SPDX-License-Identifier: Apache-2.0
 *
 * Activation functions. Most of those with a parameter keep the order of elements if it is positive.
 *
 * The gradient of a function that differs by range is where(condition, …), whose condition decides what corners
 * and NaN get, as in PyTorch. The exponential of the negative range is written exp(-relu(-x)), which is 1 in the other
 * range: exp(x) would overflow there, and its own gradient would be 0 times infinity. So would that of x / 3 where x
 * is infinite.
 */
#include "ops/op_families.h"
#include "ops/ops.h"

static unsigned partial_of_scale(const dt_op_call *call) {
    return dt__arg_sign(&call->args[1]) > 0 ? DT_PARTIAL_UP : DT_PARTIAL_NONE;
}
static unsigned partial_of_threshold(const dt_op_call *call) {
    bool ordered = dt__is_float(call->inputs[0].dtype) && call->args[2].as.f <= call->args[1].as.f;
    return ordered ? DT_PARTIAL_UP : DT_PARTIAL_NONE;
}

/* For complex numbers, x / (1 + exp(-x)) in four steps, in memory of its own: x may be the result. */
static dt_status silu_steps(const dt_op_call *call, const dt__array *out, const dt__array *in, const dt__array *sum) {
    dt__constant constant;
    dt__array one = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT, .as.i = 1}, out->dtype, &constant);
    DT__TRY(dt__run_elements(call, DT__EL_NEG, out->dtype, sum, in, NULL, NULL));
    DT__TRY(dt__run_elements(call, DT__EL_EXP, out->dtype, sum, sum, NULL, NULL));
    DT__TRY(dt__run_elements(call, DT__EL_ADD, out->dtype, sum, sum, &one, NULL));
    return dt__run_elements(call, DT__EL_DIV, out->dtype, out, in, sum, NULL);
}

static dt_status silu(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    dt__scratch sum;
    if (!dt__is_complex(out.dtype))
        return dt__run_elements(call, DT__EL_SILU, out.dtype, &out, &in, NULL, NULL);
    DT__TRY(dt__scratch_new(call, out.dtype, out.n_dims, out.shape, &sum));
    dt_status status = silu_steps(call, &out, &in, &sum.array);
    dt__scratch_free(call, &sum);
    return status;
}

static dt_status shape_silu(dt_op_call *call) {
    DT__TRY(dt__expect_floating(call, 0));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

/* clang-format off */
const dt_op dt__op_celu = {DT__UNARY_OF("celu", "input, float alpha=1.0", CELU, DT__FLOATS),
    .partial_of = partial_of_scale,
    .gradient = "input: where(le(input, 0), grad * exp(-relu(-input) / alpha), grad)",
    .summary = "x, or alpha (exp(x / alpha) - 1) where x is negative."};
const dt_op dt__op_elu = {DT__UNARY_OF("elu", "input, float alpha=1.0", ELU, DT__FLOATS, .numbers = {1, 1}),
    .partial_of = partial_of_scale,
    .gradient = "input: where(le(input, 0), grad * exp(-relu(-input)) * alpha, grad)",
    .summary = "x, or alpha (exp(x) - 1) where x is negative."};
const dt_op dt__op_hardshrink = {DT__UNARY_OF("hardshrink", "self, Scalar lambd=0.5", HARDSHRINK, DT__FLOATS),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: where(logical_and(ge(self, -lambd), le(self, lambd)), 0, grad)",
    .summary = "Every element, or 0 if it is from -lambd to lambd."};
const dt_op dt__op_hardsigmoid = {DT__UNARY_OF("hardsigmoid", "input", HARDSIGMOID, DT__FLOATS),
    .partial = DT_PARTIAL_UP,
    .gradient = "input: where(lt(abs(input), 3), grad / 6, 0)",
    .summary = "(x + 3) / 6, limited to the range from 0 to 1."};
const dt_op dt__op_hardswish = {DT__UNARY_OF("hardswish", "input", HARDSWISH, DT__FLOATS),
    .gradient = "input: where(le(input, -3), 0, where(lt(input, 3), grad * "
                "(where(lt(abs(input), 3), input, 0) / 3 + 0.5), grad))",
    .summary = "x times the hard sigmoid of x."};
const dt_op dt__op_hardtanh = {
    DT__UNARY_OF("hardtanh", "input, float min_val=-1.0, float max_val=1.0", CLAMP, DT__FLOATS),
    .partial = DT_PARTIAL_UP,
    .gradient = "input: where(logical_or(le(input, min_val), ge(input, max_val)), 0, grad)",
    .summary = "Every element, limited to the range from min_val to max_val."};
const dt_op dt__op_leaky_relu = {
    DT__UNARY_OF("leaky_relu", "input, float negative_slope=0.01", LEAKY_RELU, DT__FLOATS),
    .partial_of = partial_of_scale,
    .gradient = "input: where(gt(input, 0), grad, grad * negative_slope)",
    .summary = "x, or negative_slope times x where x is negative."};
const dt_op dt__op_mish = {DT__UNARY_OF("mish", "input", MISH, DT__FLOATS),
    .gradient = "input: grad * (tanh(softplus(input)) + input * sigmoid(input) * (1 - "
                "tanh(softplus(input)) * tanh(softplus(input))))",
    .summary = "x tanh(log(1 + exp(x))) of every element."};
const dt_op dt__op_relu6 = {DT__UNARY_OF("relu6", "input", CLAMP, DT__FLOATS, .numbers = {0, 6}),
    .partial = DT_PARTIAL_UP,
    .gradient = "input: where(logical_or(le(input, 0), ge(input, 6)), 0, grad)",
    .summary = "Every element, limited to the range from 0 to 6."};
const dt_op dt__op_selu = {
    DT__UNARY_OF("selu", "input", ELU, DT__FLOATS, .numbers = {1.7580993408473768599, 1.0507009873554804934}),
    .partial = DT_PARTIAL_UP,
    .gradient = "input: grad * where(le(input, 0), exp(-relu(-input)) * 1.7580993408473766, 1.0507009873554804934)",
    .summary = "elu with the alpha and the scale that keep mean and variance."};
const dt_op dt__op_softplus = {
    DT__UNARY_OF("softplus", "self, Scalar beta=1, Scalar threshold=20", SOFTPLUS, DT__FLOATS),
    .partial_of = partial_of_scale,
    .gradient = "self: where(eq(self, result), grad, grad * sigmoid(self * beta))",
    .summary = "log(1 + exp(beta x)) / beta; x where beta x is above the threshold."};
const dt_op dt__op_softshrink = {DT__UNARY_OF("softshrink", "self, Scalar lambd=0.5", SOFTSHRINK, DT__FLOATS),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: where(eq(result, 0), 0, grad)",
    .summary = "Every element, moved by lambd toward 0."};
const dt_op dt__op_softsign = {DT__UNARY_OF("softsign", "input", SOFTSIGN, DT__FLOATS),
    .gradient = "input: grad / ((abs(input) + 1) * (abs(input) + 1))",
    .summary = "x / (1 + |x|) of every element."};
const dt_op dt__op_tanhshrink = {DT__UNARY_OF("tanhshrink", "input", TANHSHRINK, DT__FLOATS),
    .partial = DT_PARTIAL_UP,
    .gradient = "input: grad * tanh(input) * tanh(input)",
    .summary = "x - tanh(x) of every element."};
/* clang-format on */

const dt_op dt__op_silu = {
    .schema = "silu(Tensor input) -> Tensor",
    .summary = "x / (1 + exp(-x)) of every element.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .shape = shape_silu,
    .kernel = silu,
    .gradient = "input: silu_backward(grad, conjugate(input))",
    .samples = "silu(f32[5,3])\nsilu(f64[])\nsilu(c64[5])",
};
const dt_op dt__op_threshold = {
    .schema = "threshold(Tensor input, float threshold, float value) -> Tensor",
    .summary = "Every element that is above the threshold, value for the others.",
    .rule = "... -> ...",
    .partial_of = partial_of_threshold,
    DT__FAMILY(dt__unary_run, REPLACE_UP_TO, DT__REAL_NUMBERS),
    .gradient = "input: where(le(input, threshold), 0, grad)",
    .samples = "threshold(f32[5,3]; 0.5; -1.0)\nthreshold(f32[5]; 0.5; 3.0)",
};
