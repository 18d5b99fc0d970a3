/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise ops on one tensor.
 */
#include "ops/op_families.h"
#include "ops/ops.h"

#include <string.h>

/* The smallest integer is its own negative. */
static unsigned partial_neg(const dt_op_call *call) {
    return DT_PARTIAL_LINEAR | (dt__is_inexact(call->inputs[0].dtype) ? DT_PARTIAL_DOWN : DT_PARTIAL_NONE);
}

static const char *approximation(const dt_op_call *call) { return call->args[1].as.text; }

static dt_status shape_gelu(dt_op_call *call) {
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    if (strcmp(approximation(call), "none") != 0 && strcmp(approximation(call), "tanh") != 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "approximate: expected 'none' or 'tanh', got '%.60s'",
                            approximation(call));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static dt_status gelu(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    dt__element_op op = *approximation(call) == 'n' ? DT__EL_GELU : DT__EL_GELU_TANH;
    return dt__run_elements(call, op, out.dtype, &out, &in, NULL, NULL);
}

/* clang-format off */
const dt_op dt__op_neg = {DT__UNARY("neg", NEG, DT__NO_BOOL), .partial_of = partial_neg,
                          .summary = "The negative of every element.",
                          .gradient = "self: -grad"};
const dt_op dt__op_exp = {DT__UNARY("exp", EXP, DT__TO_FLOATING), .partial = DT_PARTIAL_UP,
                          .summary = "The exponential of every element.",
                          .gradient = "self: grad * conjugate(result)"};
const dt_op dt__op_log = {DT__UNARY("log", LOG, DT__TO_FLOATING), .partial = DT_PARTIAL_UP_MIN,
                          .summary = "The natural logarithm of every element.",
                          .gradient = "self: grad / conjugate(self)"};
const dt_op dt__op_sqrt = {DT__UNARY("sqrt", SQRT, DT__TO_FLOATING), .partial = DT_PARTIAL_UP_MIN,
                           .summary = "The square root of every element.",
                           .gradient = "self: grad / conjugate(result * 2)"};
const dt_op dt__op_tanh = {DT__UNARY("tanh", TANH, DT__TO_FLOATING), .partial = DT_PARTIAL_UP,
                           .summary = "The hyperbolic tangent of every element.",
                           .gradient = "self: tanh_backward(grad, conjugate(result))"};
const dt_op dt__op_relu = {DT__UNARY_OF("relu", "input", RELU, DT__REAL_NUMBERS), .partial = DT_PARTIAL_UP,
                           .summary = "Every element, or zero where it is negative.",
                           .gradient = "input: threshold_backward(grad, result, 0)"};
/* clang-format on */

const dt_op dt__op_neg_ = {.in_place_of = &dt__op_neg};
const dt_op dt__op_exp_ = {.in_place_of = &dt__op_exp};
const dt_op dt__op_sqrt_ = {.in_place_of = &dt__op_sqrt};
const dt_op dt__op_tanh_ = {.in_place_of = &dt__op_tanh};
const dt_op dt__op_relu_ = {.in_place_of = &dt__op_relu};

const dt_op dt__op_gelu = {
    .schema = "gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
    .summary = "Every element times its normal cumulative distribution function; approximate=\"tanh\" is faster.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .shape = shape_gelu,
    .kernel = gelu,
    .gradient = "self: gelu_backward(grad, self, approximate=approximate)",
    .samples = "gelu(f32[5,3])\ngelu(f64[])\ngelu(f32[0,3])\ngelu(f32[5,3]; approximate=tanh)",
};
