/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise functions of two and three tensors, where some of the tensors may be numbers.
 */
#include "ops/op_families.h"
#include "ops/ops.h"

#include <math.h>

/* A quotient, or a remainder: no partial of any kind. */
#define DIVISION(name, schema_, op_)                                                                                 \
    .schema = schema_, .rule = "..., ... -> ...", .varying = "other",                                                \
    DT__FAMILY(dt__binary_run, op_, DT__NO_COMPLEX),                                                                 \
    .samples = name "(f32[5,3]; f32[3])\n" name "(f32[5]; 2.5)\n" name "(i32[5]; 3)"
#define BITWISE(name, op_)                                                                                           \
    .schema = DT__OR_NUMBERS(name), .rule = "..., ... -> ...", .varying = "self,other",                              \
    DT__FAMILY(dt__binary_run, op_, DT__ONLY_INTEGERS), .flags = DT_OP_NOT_DIFFERENTIABLE,                           \
    .samples = name "(i64[5,3]; i64[3])\n" name "(i32[5]; 3)\n" name "(6; i64[5])"
#define LOGICAL(name, op_)                                                                                           \
    .schema = name "(Tensor self, Tensor other) -> Tensor", .rule = "..., ... -> ...",                               \
    DT__FAMILY(dt__binary_run, op_, DT__TO_BOOL), .flags = DT_OP_NOT_DIFFERENTIABLE,                                 \
    .samples = name "(bool[5,3]; bool[3])"

/* Powers of tensors to an integer: products become products; odd powers keep the order, and so do the powers
 * of a number above 1. */
static unsigned partial_of_pow(const dt_op_call *call) {
    double number = dt__arg_number(&call->args[call->args[0].type == DT_ARG_TENSOR]);
    if (call->n_inputs == 2 || !dt__is_float(call->inputs[0].dtype) || !isfinite(number))
        return DT_PARTIAL_NONE;
    if (call->args[0].type != DT_ARG_TENSOR)
        return number > 1 ? DT_PARTIAL_UP : DT_PARTIAL_NONE;
    if (number < 1 || number != floor(number))
        return DT_PARTIAL_NONE;
    return DT_PARTIAL_PRODUCT | (fmod(number, 2) == 1 ? DT_PARTIAL_UP : DT_PARTIAL_NONE);
}

/* Or, of booleans that are maxima, is one; and, of minima. */
static unsigned partial_of_or(const dt_op_call *call) {
    bool logic = call->inputs[0].dtype == DT_BOOL && call->inputs[1].dtype == DT_BOOL;
    return logic ? DT_PARTIAL_UP | DT_PARTIAL_MAX : DT_PARTIAL_NONE;
}
static unsigned partial_of_and(const dt_op_call *call) {
    bool logic = call->inputs[0].dtype == DT_BOOL && call->inputs[1].dtype == DT_BOOL;
    return logic ? DT_PARTIAL_UP | DT_PARTIAL_MIN : DT_PARTIAL_NONE;
}

static void rows_minimum(const dt_op_call *call, dt_rows *rows) { dt__rows_extremum(call, rows, DT_MIN); }

/* As maximum and minimum have it, but NaN, which is the maximum of ranks that hold one, is not that of its results. */
static void rows_fmax(const dt_op_call *call, dt_rows *rows) {
    bool max = ((const dt__element_family *)call->op->family)->op == DT__EL_FMAX;
    dt_reduce keeps = max ? DT_MIN : DT_MAX;
    if (dt__is_integral(call->inputs[0].dtype) && dt__is_integral(call->inputs[1].dtype))
        dt__rows_extremum(call, rows, max ? DT_MAX : DT_MIN);
    for (unsigned inputs = 1; inputs < 3; inputs++)
        if (dt__keeps_order_of(call, inputs))
            dt_rows_reduce(rows, inputs, keeps, keeps);
}

/* The first tensor and a product of the others: linear in it together with one of them. */
static void rows_addcmul(const dt_op_call *call, dt_rows *rows) {
    bool divides = ((const dt__element_family *)call->op->family)->op == DT__EL_ADDCDIV;
    if (dt__is_inexact(call->outputs[0].dtype) && !divides) /* a quotient may be infinite */
        dt_rows_monotone(rows, 0, true);
    for (unsigned inputs = 1; inputs < (divides ? 4 : 6); inputs++) {
        bool floating = true;
        for (int i = 0; i < 3; i++)
            floating &= !(inputs >> i & 1) || dt__is_inexact(call->inputs[i].dtype);
        if (inputs == 3 || inputs == 5)
            dt_rows_linear(rows, inputs);
        if (floating)
            dt_rows_reduce(rows, inputs, DT_AVG, DT_AVG);
    }
}

/* self + weight (end - self): linear in both together. */
static void rows_lerp(const dt_op_call *call, dt_rows *rows) {
    dt_rows_linear(rows, 3);
    for (int i = 0; i < call->n_inputs; i++)
        dt_rows_reduce(rows, (uint64_t)1 << i, DT_AVG, DT_AVG);
}

static dt_status shape_lerp(dt_op_call *call) {
    for (int i = 1; i < call->n_inputs; i++)
        if (call->inputs[i].dtype != call->inputs[0].dtype)
            return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with dt_to",
                                dt_dtype_name(call->inputs[0].dtype), dt_dtype_name(call->inputs[i].dtype));
    return dt__family_shape(call);
}

/* One by the sum of both squares, in the dtype of the result, so that integers do not wrap around; 0 at the origin. */
#define SQUARES            "(square(type_as(self, result)) + square(type_as(other, result)))"
#define BY_SQUARES         "masked_fill(reciprocal" SQUARES ", eq(" SQUARES ", 0), 0)"
#define REMAINDER_GRADIENT "self: grad; other: -grad * floor_divide(self, other)"

/* clang-format off */
const dt_op dt__op_atan2 = {DT__BINARY("atan2", ATAN2, DT__REALS_TO_FLOATING),
    .gradient = "self: grad * other * " BY_SQUARES "; other: -grad * self * " BY_SQUARES,
    .summary = "The angle of the points (other, self)."};
const dt_op dt__op_bitwise_and = {BITWISE("bitwise_and", BITWISE_AND),
    .summary = "The bits that both integers have."};
const dt_op dt__op_bitwise_or = {BITWISE("bitwise_or", BITWISE_OR),
    .summary = "The bits that either of two integers has."};
const dt_op dt__op_bitwise_xor = {BITWISE("bitwise_xor", BITWISE_XOR),
    .summary = "The bits where two integers differ."};
const dt_op dt__op_floor_divide = {DIVISION("floor_divide",
        "floor_divide(Tensor self, Tensor other) -> Tensor | floor_divide.Scalar(Tensor self, Scalar other) -> Tensor",
        FLOOR_DIVIDE),
    .gradient = "self: grad * 0; other: none", .summary = "Quotients, rounded down."};
const dt_op dt__op_fmax = {DT__BINARY("fmax", FMAX, DT__NO_COMPLEX | DT__WRAPS), .rows = rows_fmax,
    .gradient = "self: where(logical_or(ge(self, other), isnan(other)), grad, 0); "
                "other: where(logical_or(ge(self, other), isnan(other)), 0, grad)",
    .summary = "The maximum of two elements, or the other one if one of them is NaN."};
const dt_op dt__op_fmin = {DT__BINARY("fmin", FMIN, DT__NO_COMPLEX | DT__WRAPS), .rows = rows_fmax,
    .gradient = "self: where(logical_or(le(self, other), isnan(other)), grad, 0); "
                "other: where(logical_or(le(self, other), isnan(other)), 0, grad)",
    .summary = "The minimum of two elements, or the other one if one of them is NaN."};
const dt_op dt__op_fmod = {DIVISION("fmod", DT__OR_NUMBER("fmod"), FMOD),
    .gradient = "self: grad; other: -grad * div(self, other, rounding_mode=\"trunc\")",
    .summary = "The remainder of a division, with the sign of the dividend."};
const dt_op dt__op_logaddexp = {DT__BINARY("logaddexp", LOGADDEXP, DT__REALS_TO_FLOATING), .partial = DT_PARTIAL_UP,
    .gradient = "self: grad * sigmoid(self - other); other: grad * sigmoid(other - self)",
    .summary = "log(exp(x) + exp(y)) of two elements, without overflow."};
const dt_op dt__op_logical_and = {LOGICAL("logical_and", AND), .partial_of = partial_of_and,
    .summary = "Whether both elements are not 0."};
const dt_op dt__op_logical_or = {LOGICAL("logical_or", OR), .partial_of = partial_of_or,
    .summary = "Whether either of two elements is not 0."};
const dt_op dt__op_logical_xor = {LOGICAL("logical_xor", XOR),
    .summary = "Whether exactly one of two elements is not 0."};
const dt_op dt__op_minimum = {DT__BINARY("minimum", MINIMUM, DT__NO_COMPLEX | DT__WRAPS),
    .rows = rows_minimum,
    .gradient = "self: grad * logical_not(gt(self, other)) / (eq(self, other) + 1); "
                "other: grad * logical_not(lt(self, other)) / (eq(self, other) + 1)",
    .summary = "The minimum of two elements; NaN if one of them is NaN."};
const dt_op dt__op_remainder = {DIVISION("remainder", DT__OR_NUMBERS("remainder"), REMAINDER),
    .gradient = REMAINDER_GRADIENT "; other.Scalar_Tensor: -grad * floor(self / other)",
    .summary = "The remainder of a division, with the sign of the divisor."};
const dt_op dt__op_remainder_ = {.in_place_of = &dt__op_remainder, .gradient = REMAINDER_GRADIENT,
    .samples = "remainder_(f32[5,3]; f32[3])"};
/* clang-format on */

const dt_op dt__op_addcdiv = {
    .schema = "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    .summary = "A tensor plus value times the quotient of two others.",
    .rule = "..., ..., ... -> ...",
    .rows = rows_addcmul,
    .varying = "value",
    DT__FAMILY(dt__ternary_run, ADDCDIV, DT__FLOATS),
    .gradient = "self: grad; tensor1: grad * (value / tensor2); "
                "tensor2: -grad * (value * tensor1 / (tensor2 * tensor2))",
    .samples = "addcdiv(f32[5,3]; f32[5,3]; f32[3])\naddcdiv(f64[5]; f64[5]; f64[5]; value=-0.5)",
};
const dt_op dt__op_addcdiv_ = {.in_place_of = &dt__op_addcdiv};
const dt_op dt__op_addcmul = {
    .schema = "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    .summary = "A tensor plus value times the product of two others.",
    .rule = "..., ..., ... -> ...",
    .rows = rows_addcmul,
    .varying = "value",
    DT__FAMILY(dt__ternary_run, ADDCMUL, DT__REAL_NUMBERS),
    .gradient = "self: grad; tensor1: grad * tensor2 * value; tensor2: grad * tensor1 * value",
    .samples = "addcmul(f32[5,3]; f32[5,3]; f32[3])\naddcmul(f64[5]; f64[5]; f64[5]; value=-0.5)\n"
               "addcmul(i32[5]; i32[5]; i32[5])",
};
const dt_op dt__op_addcmul_ = {.in_place_of = &dt__op_addcmul};
const dt_op dt__op_lerp = {
    .schema = "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor | "
              "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    .summary = "Moves elements toward those of another tensor by a weight: self + weight (end - self).",
    .rule = "..., ..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_lerp,
    .shape = shape_lerp,
    .kernel = dt__ternary_run,
    .family = &(const dt__element_family){.op = DT__EL_LERP, .dtypes = DT__FLOATS},
    .gradient = "self: grad * (1 - weight); end: grad * weight; weight: grad * (end - self)",
    .samples = "lerp(f32[5,3]; f32[3]; 0.25)\nlerp(f32[5]; f32[5]; f32[5])",
};
const dt_op dt__op_lerp_ = {.in_place_of = &dt__op_lerp};
/* x^0.5 and x^-0.5 are those of sqrt and rsqrt: NaN of -inf, -0 of -0. */
static dt_status run_pow(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in;
    const dt_arg *exponent = &call->args[1];
    bool is_root = exponent->type == DT_ARG_FLOAT && fabs(exponent->as.f) == 0.5 && dt__is_float(out.dtype);
    if (!is_root || call->n_inputs != 1)
        return dt__binary_run(call);
    in = dt__array_of(&call->inputs[0]);
    return dt__run_elements(call, exponent->as.f > 0 ? DT__EL_SQRT : DT__EL_RSQRT, out.dtype, &out, &in, NULL, NULL);
}

/* Powers of 0 are finite for exponents that are not negative. */
#define POWER_OF_ZERO(base) "logical_and(eq(" base ", 0), isfinite(result))"
#define POW_GRADIENT                                                                                                 \
    "self: where(eq(exponent, 0), 0, grad * conjugate(exponent * pow(self, exponent - 1))); "                        \
    "exponent: grad * conjugate(where(" POWER_OF_ZERO(                                                               \
        "self") ", 0, result * log(type_as(self, result)))); "                                                       \
                "self.Tensor_Scalar: grad * conjugate(pow(self, exponent - 1 + is_zero(exponent)) * exponent)"
const dt_op dt__op_pow = {
    .schema = "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor | "
              "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor | "
              "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    .summary = "Powers of elements; the base or the exponent may be a number.",
    .rule = "..., ... -> ...",
    .partial_of = partial_of_pow,
    DT__FAMILY(run_pow, POW, 0),
    .gradient = POW_GRADIENT "; exponent.Scalar: grad * conjugate(where(" POWER_OF_ZERO(
        "full_like(result, self)") ", 0, result * log(full_like(result, self))))",
    .samples = "pow(f32[5,3]; f32[3])\npow(f32[5]; 2)\npow(f32[5]; 3)\npow(2.5; f32[5])",
};
const dt_op dt__op_pow_ = {
    .in_place_of = &dt__op_pow, .gradient = POW_GRADIENT, .samples = "pow_(f32[5,3]; f32[3])\npow_(f32[5]; 3)"};
const dt_op dt__op_xlogy = {
    .schema = "xlogy.Tensor(Tensor self, Tensor other) -> Tensor | "
              "xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor | "
              "xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
    .summary = "x log(y) of two elements; 0 where x is 0.",
    .rule = "..., ... -> ...",
    DT__FAMILY(dt__binary_run, XLOGY, DT__REALS_TO_FLOATING),
    .gradient = "self: where(logical_and(eq(self, 0), le(self + other, 0)), 0, xlogy(grad, other)); other: grad * "
                "self / other",
    .samples = "xlogy(f32[5,3]; f32[3])\nxlogy(f32[5]; 2.5)\nxlogy(1.5; f32[5])",
};
