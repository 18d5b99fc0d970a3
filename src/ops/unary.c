/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise ops on one tensor.
 */
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <string.h>

static dt_status shape_same(dt_op_call *call) { return dt__add_like(call, 0, call->inputs[0].dtype); }

static dt_status shape_floating(dt_op_call *call) {
    return dt__add_like(call, 0, dt__promote_to_inexact(call->inputs[0].dtype));
}

static dt_status shape_neg(dt_op_call *call) {
    if (call->inputs[0].dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a numeric dtype, got bool");
    return shape_same(call);
}

/* The smallest integer is its own negative. */
static unsigned partial_neg(const dt_op_call *call) {
    return DT_PARTIAL_LINEAR | (dt__is_inexact(call->inputs[0].dtype) ? DT_PARTIAL_DOWN : DT_PARTIAL_NONE);
}

static dt_status shape_relu(dt_op_call *call) {
    DT__TRY(dt__refuse_complex(call));
    if (call->inputs[0].dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a numeric dtype, got bool");
    return shape_same(call);
}

static dt_status shape_gelu(dt_op_call *call) {
    const char *approximation = dt__arg(call, "approximate")->as.text;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    if (strcmp(approximation, "none") != 0 && strcmp(approximation, "tanh") != 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "approximate: expected 'none' or 'tanh', got '%.60s'", approximation);
    return shape_same(call);
}

static dt_status neg(dt_op_call *call) { return dt__run_unary(call, DT__EL_NEG); }
static dt_status exponential(dt_op_call *call) { return dt__run_unary(call, DT__EL_EXP); }
static dt_status logarithm(dt_op_call *call) { return dt__run_unary(call, DT__EL_LOG); }
static dt_status root(dt_op_call *call) { return dt__run_unary(call, DT__EL_SQRT); }
static dt_status hyperbolic_tangent(dt_op_call *call) { return dt__run_unary(call, DT__EL_TANH); }
static dt_status relu(dt_op_call *call) { return dt__run_unary(call, DT__EL_RELU); }
static dt_status gelu(dt_op_call *call) {
    bool exact = strcmp(dt__arg(call, "approximate")->as.text, "none") == 0;
    return dt__run_unary(call, exact ? DT__EL_GELU : DT__EL_GELU_TANH);
}

#define SAMPLES(name) name "(f32[5,3])\n" name "(f64[])\n" name "(f32[0,3])"

const dt_op dt__op_neg = {
    .schema = "neg(Tensor self) -> Tensor",
    .summary = "The negative of every element.",
    .rule = "...->...",
    .partial_of = partial_neg,
    .shape = shape_neg,
    .kernel = neg,
    .samples = SAMPLES("neg"),
};
const dt_op dt__op_exp = {
    .schema = "exp(Tensor self) -> Tensor",
    .summary = "The exponential of every element.",
    .rule = "...->...",
    .partial = DT_PARTIAL_UP | DT_PARTIAL_EXP,
    .shape = shape_floating,
    .kernel = exponential,
    .samples = SAMPLES("exp"),
};
const dt_op dt__op_log = {
    .schema = "log(Tensor self) -> Tensor",
    .summary = "The natural logarithm of every element.",
    .rule = "...->...",
    .partial = DT_PARTIAL_UP_MIN,
    .shape = shape_floating,
    .kernel = logarithm,
    .samples = SAMPLES("log"),
};
const dt_op dt__op_sqrt = {
    .schema = "sqrt(Tensor self) -> Tensor",
    .summary = "The square root of every element.",
    .rule = "...->...",
    .partial = DT_PARTIAL_UP_MIN,
    .shape = shape_floating,
    .kernel = root,
    .samples = SAMPLES("sqrt"),
};
const dt_op dt__op_tanh = {
    .schema = "tanh(Tensor self) -> Tensor",
    .summary = "The hyperbolic tangent of every element.",
    .rule = "...->...",
    .partial = DT_PARTIAL_UP,
    .shape = shape_floating,
    .kernel = hyperbolic_tangent,
    .samples = SAMPLES("tanh"),
};
const dt_op dt__op_relu = {
    .schema = "relu(Tensor input) -> Tensor",
    .summary = "Every element, or zero where it is negative.",
    .rule = "...->...",
    .partial = DT_PARTIAL_UP,
    .shape = shape_relu,
    .kernel = relu,
    .samples = SAMPLES("relu"),
};
const dt_op dt__op_gelu = {
    .schema = "gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
    .summary = "Every element times the normal distribution function of it; approximate=\"tanh\" is faster.",
    .rule = "...->...",
    .shape = shape_gelu,
    .kernel = gelu,
    .samples = SAMPLES("gelu") "\ngelu(f32[5,3]; approximate=tanh)",
};
