/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementary functions of every element, rounding and predicates.
 */
#include "ops/complex_ops.h"
#include "ops/op_families.h"
#include "ops/ops.h"

#include <math.h>

static bool is_real(const dt_op_call *call) { return dt__is_float(call->inputs[0].dtype); }

/* The magnitude of a product is the product of the magnitudes, except for integers, which wrap around. */
static unsigned partial_of_abs(const dt_op_call *call) {
    return is_real(call) ? DT_PARTIAL_PRODUCT : DT_PARTIAL_NONE;
}
static unsigned partial_of_square(const dt_op_call *call) {
    return call->inputs[0].dtype == DT_BOOL ? DT_PARTIAL_NONE : DT_PARTIAL_PRODUCT;
}
/* Integers are ordered by their signs; the sign of NaN, which is a maximum and a minimum, is 0. */
static unsigned partial_of_sign(const dt_op_call *call) { return is_real(call) ? DT_PARTIAL_PRODUCT : DT_PARTIAL_UP; }
/* ~x is -1 - x. */
static unsigned partial_of_not(const dt_op_call *call) {
    (void)call;
    return DT_PARTIAL_DOWN;
}

static dt_status bitwise_not(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    return dt__run_elements(call, out.dtype == DT_BOOL ? DT__EL_NOT : DT__EL_BITWISE_NOT, out.dtype, &out, &in, NULL,
                            NULL);
}

static dt_status shape_positive(dt_op_call *call) {
    if (call->inputs[0].dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a numeric dtype, got bool");
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static dt_status positive(dt_op_call *call) {
    dt__view view = dt__view_of_value(call, &call->inputs[0]);
    return dt__set_view(call, 0, &view);
}

/* To a number of decimals: times a power of 10, rounded, and back. */
static dt_status round_decimals(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    int64_t decimals = call->n_args > 1 ? call->args[1].as.i : 0;
    double power = pow(10, fabs((double)decimals));
    dt_dtype dtype = out.dtype == DT_F64 ? DT_F64 : DT_F32;
    dt__constant constant;
    dt__array scale = dt__array_of_number(&(dt_arg){.type = DT_ARG_FLOAT, .as.f = power}, dtype, &constant);
    if (decimals == 0 || dt__is_integral(in.dtype))
        return dt__unary_run(call);
    DT__TRY(dt__run_elements(call, decimals > 0 ? DT__EL_MUL : DT__EL_DIV, dtype, &out, &in, &scale, NULL));
    DT__TRY(dt__run_elements(call, DT__EL_ROUND, dtype, &out, &out, NULL, NULL));
    return dt__run_elements(call, decimals > 0 ? DT__EL_DIV : DT__EL_MUL, dtype, &out, &out, &scale, NULL);
}

/* The parameters are arguments, or the largest numbers of the dtype. */
static dt_status nan_to_num(dt_op_call *call) {
    static const double max_of[DT_N_DTYPES] = {
        [DT_F16] = 65504, [DT_BF16] = 0x1.fep127, [DT_F32] = 0x1.fffffep127, [DT_F64] = 0x1.fffffffffffffp1023};
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    const double numbers[3] = {0, max_of[out.dtype], -max_of[out.dtype]};
    dt__elementwise request = {.op = DT__EL_NAN_TO_NUM, .dtype = out.dtype, .out = &out, .ins = {&in}};
    if (dt__is_integral(in.dtype)) {
        dt__run_convert(call, &out, &in);
        return DT_OK;
    }
    for (int i = 0; i < 3; i++)
        request.numbers[i].f.re = call->args[1 + i].type == DT_ARG_NONE ? numbers[i] : call->args[1 + i].as.f;
    dt__elementwise_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &request);
    return DT_OK;
}

static dt_status shape_nan_to_num(dt_op_call *call) {
    DT__TRY(dt__refuse_complex(call));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

/* clang-format off */
const dt_op dt__op_abs = {DT__UNARY("abs", ABS, DT__NO_BOOL | DT__TO_REAL),
    .partial_of = partial_of_abs,
    .check = dt__refuse_complex_in_place,
    .gradient = "self: grad * sgn(self)",
    .summary = "The magnitude of every element."};
const dt_op dt__op_acos = {DT__UNARY("acos", ACOS, DT__REALS_TO_FLOATING),
    .gradient = "self: -grad * rsqrt(1 - self * self)",
    .summary = "The arc cosine of every element."};
const dt_op dt__op_asin = {DT__UNARY("asin", ASIN, DT__REALS_TO_FLOATING),
    .gradient = "self: grad * rsqrt(1 - self * self)",
    .summary = "The arc sine of every element."};
const dt_op dt__op_atan = {DT__UNARY("atan", ATAN, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: grad / (self * self + 1)",
    .summary = "The arc tangent of every element."};
const dt_op dt__op_ceil = {DT__UNARY("ceil", CEIL, DT__ROUNDED),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: grad * 0",
    .summary = "Every element, rounded up to an integer."};
const dt_op dt__op_cos = {DT__UNARY("cos", COS, DT__TO_FLOATING),
    .gradient = "self: -grad * conjugate(sin(self))",
    .summary = "The cosine of every element."};
const dt_op dt__op_cosh = {DT__UNARY("cosh", COSH, DT__REALS_TO_FLOATING),
    .gradient = "self: grad * sinh(self)",
    .summary = "The hyperbolic cosine of every element."};
const dt_op dt__op_erf = {DT__UNARY("erf", ERF, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: grad * exp(-square(self)) * 1.1283791670955126",
    .summary = "The error function of every element."};
const dt_op dt__op_erfc = {DT__UNARY("erfc", ERFC, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_DOWN,
    .gradient = "self: grad * exp(-square(self)) * -1.1283791670955126",
    .summary = "1 minus the error function of every element, exact for large ones."};
const dt_op dt__op_exp2 = {DT__UNARY("exp2", EXP2, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: grad * result * 0.6931471805599453",
    .summary = "2 to the power of every element."};
const dt_op dt__op_expm1 = {DT__UNARY("expm1", EXPM1, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: grad * (result + 1)",
    .summary = "The exponential minus 1 of every element, exact for small ones."};
const dt_op dt__op_floor = {DT__UNARY("floor", FLOOR, DT__ROUNDED),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: grad * 0",
    .summary = "Every element, rounded down to an integer."};
const dt_op dt__op_frac = {DT__UNARY("frac", FRAC, DT__FLOATS),
    .gradient = "self: grad",
    .summary = "Every element minus its integer part."};
const dt_op dt__op_log10 = {DT__UNARY("log10", LOG10, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_UP_MIN,
    .gradient = "self: grad / (self * 2.302585092994046)",
    .summary = "The logarithm of every element to base 10."};
const dt_op dt__op_log1p = {DT__UNARY("log1p", LOG1P, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_UP_MIN,
    .gradient = "self: grad / (self + 1)",
    .summary = "The natural logarithm of 1 plus every element, exact for small ones."};
const dt_op dt__op_log2 = {DT__UNARY("log2", LOG2, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_UP_MIN,
    .gradient = "self: grad / (self * 0.6931471805599453)",
    .summary = "The logarithm of every element to base 2."};
const dt_op dt__op_reciprocal = {DT__UNARY("reciprocal", RECIPROCAL, DT__TO_FLOATING),
    .partial = DT_PARTIAL_PRODUCT,
    .gradient = "self: -grad * conjugate(result) * conjugate(result)",
    .summary = "1 divided by every element."};
const dt_op dt__op_rsqrt = {DT__UNARY("rsqrt", RSQRT, DT__TO_FLOATING),
    .partial = DT_PARTIAL_DOWN_MIN,
    .gradient = "self: grad * conjugate(result * result * result * -0.5)",
    .summary = "1 divided by the square root of every element."};
const dt_op dt__op_sigmoid = {DT__UNARY("sigmoid", SIGMOID, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: sigmoid_backward(grad, result)",
    .summary = "1 / (1 + exp(-x)) of every element."};
const dt_op dt__op_sign = {DT__UNARY("sign", SIGN, DT__NO_COMPLEX),
    .partial_of = partial_of_sign,
    .gradient = "self: zeros_like(grad)",
    .summary = "-1, 0 or 1, the sign of every element."};
const dt_op dt__op_sin = {DT__UNARY("sin", SIN, DT__TO_FLOATING),
    .gradient = "self: grad * conjugate(cos(self))",
    .summary = "The sine of every element."};
const dt_op dt__op_sinh = {DT__UNARY("sinh", SINH, DT__REALS_TO_FLOATING),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: grad * cosh(self)",
    .summary = "The hyperbolic sine of every element."};
const dt_op dt__op_square = {DT__UNARY("square", SQUARE, DT__BOOL_TO_I64),
    .partial_of = partial_of_square,
    .gradient = "self: grad * conjugate(self * 2)",
    .summary = "The square of every element."};
const dt_op dt__op_tan = {DT__UNARY("tan", TAN, DT__REALS_TO_FLOATING),
    .gradient = "self: grad * (result * result + 1)",
    .summary = "The tangent of every element."};
const dt_op dt__op_trunc = {DT__UNARY("trunc", TRUNC, DT__ROUNDED),
    .partial = DT_PARTIAL_UP,
    .gradient = "self: grad * 0",
    .summary = "The integer part of every element."};
const dt_op dt__op_isfinite = {DT__PREDICATE("isfinite", ISFINITE, 0),
    .summary = "Whether elements are neither infinite nor NaN."};
const dt_op dt__op_isinf = {DT__PREDICATE("isinf", ISINF, 0), .summary = "Whether elements are infinite."};
const dt_op dt__op_isnan = {DT__PREDICATE("isnan", ISNAN, 0), .summary = "Whether elements are NaN."};
const dt_op dt__op_logical_not = {DT__PREDICATE("logical_not", NOT, 0),
    .summary = "Whether elements are 0."};
/* clang-format on */

const dt_op dt__op_abs_ = {.in_place_of = &dt__op_abs};
const dt_op dt__op_reciprocal_ = {.in_place_of = &dt__op_reciprocal};
const dt_op dt__op_rsqrt_ = {.in_place_of = &dt__op_rsqrt};
const dt_op dt__op_sigmoid_ = {.in_place_of = &dt__op_sigmoid};

const dt_op dt__op_bitwise_not = {
    .schema = "bitwise_not(Tensor self) -> Tensor",
    .summary = "The complement of the bits of every integer; not, of booleans.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .partial_of = partial_of_not,
    .shape = dt__family_shape,
    .kernel = bitwise_not,
    .family = &(const dt__element_family){DT__EL_BITWISE_NOT, DT__ONLY_INTEGERS, {0}},
    .samples = "bitwise_not(i64[5,3])\nbitwise_not(bool[5])",
    .flags = DT_OP_NOT_DIFFERENTIABLE,
};
const dt_op dt__op_nan_to_num = {
    .schema = "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    .summary = "Replaces NaN by 0 and infinities by the largest numbers of the dtype, or by given ones.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .shape = shape_nan_to_num,
    .kernel = nan_to_num,
    .gradient = "self: where(isfinite(self), grad, 0)",
    .samples = "nan_to_num(f32[5,3])\nnan_to_num(f64[5]; 1.5; 2.5; -2.5)",
};
const dt_op dt__op_positive = {
    .schema = "positive(Tensor(a) self) -> Tensor(a)",
    .summary = "The tensor itself, as a view.",
    .rule = "... -> ...",
    .partial = DT_PARTIAL_ANY,
    .shape = shape_positive,
    .kernel = positive,
    .gradient = "self: grad",
    .samples = "positive(f32[5,3])",
    .flags = DT_OP_VIEW,
};
const dt_op dt__op_round = {
    .schema = "round(Tensor self) -> Tensor | round.decimals(Tensor self, *, int decimals) -> Tensor",
    .summary = "Every element, rounded to an integer or to decimals; halves to even.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .partial = DT_PARTIAL_UP,
    .shape = dt__family_shape,
    .kernel = round_decimals,
    .family = &(const dt__element_family){DT__EL_ROUND, DT__ROUNDED, {0}},
    .gradient = "self: grad * 0",
    .samples = "round(f32[5,3])\nround(f32[5,3]; decimals=2)\nround(f64[5]; decimals=-1)",
};
