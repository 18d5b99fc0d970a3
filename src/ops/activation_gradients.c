/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of relu, tanh, sigmoid, silu and gelu, in one pass over memory.
 *
 * gelu is x N(x), with the normal distribution function N and its density n: gelu' = N(x) + x n(x). The approximation
 * is x (1 + t) / 2 with t = tanh(u), u = k (x + a x^3).
 */
#include "dtensor/ops.h"
#include "ops/op_families.h"
#include "ops/ops.h"

#include <string.h>

enum { APPROXIMATE = 0 };

static const double inverse_root_2_pi = 0.39894228040143267794, k = 0.79788456080286535588, a = 0.044715;

/* Elements of the gradient are moved, or replaced by zeros. */
static void rows_threshold(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    for (int kind = 0; kind < DT_N_REDUCES; kind++)
        dt_rows_reduce(rows, 1, (dt_reduce)kind, (dt_reduce)kind);
}

static bool is_exact(const dt_op_call *call) { return *dt__arg_at(call, APPROXIMATE)->as.text == 'n'; }

static dt_status shape_gelu(dt_op_call *call) {
    const char *approximate = dt__arg_at(call, APPROXIMATE)->as.text;
    if (strcmp(approximate, "none") != 0 && strcmp(approximate, "tanh") != 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "approximate: expected 'none' or 'tanh', got '%.60s'", approximate);
    return dt__family_shape(call);
}

/* The gradient and the tensor, broadcast against each other. */
static dt_status run_on_two(dt_op_call *call, dt__element_op op, dt__number number) {
    dt__array out = dt__array_of(&call->outputs[0]), grad = dt__array_of(&call->inputs[0]),
              x = dt__array_of(&call->inputs[1]);
    dt__elementwise_run(
        dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
        &(dt__elementwise){.op = op, .dtype = out.dtype, .out = &out, .ins = {&grad, &x}, .numbers = {number}});
    return DT_OK;
}

static dt_status run_family(dt_op_call *call) {
    const dt__element_family *family = call->op->family;
    return run_on_two(call, family->op, (dt__number){0});
}

/* For complex numbers, in steps; `one` is broadcast. */
typedef struct complex_steps {
    dt__array out, grad, x, one;
    dt__constant constant;
} complex_steps;

static void begin_steps(const dt_op_call *call, complex_steps *self) {
    self->out = dt__array_of(&call->outputs[0]);
    self->grad = dt__array_of(&call->inputs[0]);
    self->x = dt__array_of(&call->inputs[1]);
    self->one = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT, .as.i = 1}, self->out.dtype, &self->constant);
}

static dt_status step(const dt_op_call *call, dt__element_op op, const dt__array *to, const dt__array *first,
                      const dt__array *second) {
    return dt__run_elements(call, op, to->dtype, to, first, second, NULL);
}

/* grad (1 - y y) */
static dt_status tanh_gradient(dt_op_call *call) {
    complex_steps of;
    if (!dt__is_complex(call->outputs[0].dtype))
        return run_family(call);
    begin_steps(call, &of);
    DT__TRY(step(call, DT__EL_MUL, &of.out, &of.x, &of.x));
    DT__TRY(step(call, DT__EL_SUB, &of.out, &of.one, &of.out));
    return step(call, DT__EL_MUL, &of.out, &of.grad, &of.out);
}

/* grad s (1 + x (1 - s)), with s = 1 / (1 + exp(-x)). */
static dt_status silu_steps(const dt_op_call *call, complex_steps *of, const dt__array *rest) {
    DT__TRY(step(call, DT__EL_NEG, &of->out, &of->x, NULL));
    DT__TRY(step(call, DT__EL_EXP, &of->out, &of->out, NULL));
    DT__TRY(step(call, DT__EL_ADD, &of->out, &of->out, &of->one));
    DT__TRY(step(call, DT__EL_DIV, &of->out, &of->one, &of->out));
    DT__TRY(step(call, DT__EL_SUB, rest, &of->one, &of->out));
    DT__TRY(step(call, DT__EL_MUL, rest, &of->x, rest));
    DT__TRY(step(call, DT__EL_ADD, rest, rest, &of->one));
    DT__TRY(step(call, DT__EL_MUL, &of->out, &of->out, rest));
    return step(call, DT__EL_MUL, &of->out, &of->grad, &of->out);
}

static dt_status silu_gradient(dt_op_call *call) {
    complex_steps of;
    dt__scratch rest;
    if (!dt__is_complex(call->outputs[0].dtype))
        return run_family(call);
    begin_steps(call, &of);
    DT__TRY(dt__scratch_new(call, of.out.dtype, of.out.n_dims, of.out.shape, &rest));
    dt_status status = silu_steps(call, &of, &rest.array);
    dt__scratch_free(call, &rest);
    return status;
}

static dt_status threshold(dt_op_call *call) {
    dt__number limit = dt__number_of(&call->args[2], call->outputs[0].dtype);
    return run_on_two(call, DT__EL_THRESHOLD, limit);
}

static dt_status gelu(dt_op_call *call) {
    return run_on_two(call, is_exact(call) ? DT__EL_GELU_GRAD : DT__EL_GELU_TANH_GRAD, (dt__number){0});
}

/* gelu''(x) = (2 - x^2) n(x). */
static dt_tensor *second_exact(dt_tensor *square) {
    dt_tensor *density = dt_mul_scalar(dt_exp(dt_mul_scalar(square, -0.5)), inverse_root_2_pi);
    return dt_mul(dt_add_scalar(dt_neg(square), 2), density);
}

/* With t = tanh(u): (1 - t^2) (u' + x u'' / 2 - x t u'^2). */
static dt_tensor *second_approximate(dt_tensor *x, dt_tensor *square) {
    dt_tensor *t = dt_tanh(dt_mul_scalar(dt_mul(x, dt_add_scalar(dt_mul_scalar(square, a), 1)), k));
    dt_tensor *u1 = dt_mul_scalar(dt_add_scalar(dt_mul_scalar(square, 3 * a), 1), k);
    dt_tensor *half_xu2 = dt_mul_scalar(square, 3 * k * a);
    dt_tensor *sum = dt_sub(dt_add(u1, half_xu2), dt_mul(dt_mul(x, t), dt_mul(u1, u1)));
    return dt_mul(dt_add_scalar(dt_neg(dt_mul(t, t)), 1), sum);
}

static dt_status gelu_second(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *grad = call->grads[0], *grad_output = call->inputs[0], *x = call->inputs[1];
    const char *approximate = dt__arg_at(call->call, APPROXIMATE)->as.text;
    if (call->needed[0])
        input_grads[0] = dt_gelu_backward(grad, x, .approximate = approximate);
    if (!call->needed[1])
        return DT_OK;
    /* Beyond these numbers it is 0 in every dtype, but squares overflow. */
    double limit = is_exact(call->call) ? 40 : 12;
    dt_tensor *near = dt_hardtanh(x, .min_val = DT_REAL(-limit), .max_val = DT_REAL(limit)),
              *square = dt_mul(near, near);
    dt_tensor *second = is_exact(call->call) ? second_exact(square) : second_approximate(near, square);
    input_grads[1] = dt_mul(dt_mul(grad, grad_output), second);
    return input_grads[1] ? DT_OK : dt_error_status(call->call->ctx);
}

const dt_op dt__op_threshold_backward = {
    .schema = "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    .summary = "The gradient of relu and threshold: zero where the tensor is not above the threshold.",
    .rule = "..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_threshold,
    .varying = "threshold",
    .shape = dt__family_shape,
    .kernel = threshold,
    .family = &(const dt__element_family){.op = DT__EL_THRESHOLD, .dtypes = DT__FLOATS},
    .gradient = "grad_output: threshold_backward(grad, self, threshold); self: none",
    .samples = "threshold_backward(f32[5,3]; f32[5,3]; 0)\nthreshold_backward(f32[5]; f32[5]; 0.5)",
};
const dt_op dt__op_gelu_backward = {
    .schema = "gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
    .summary = "The gradient of gelu.",
    .rule = "..., ... -> ...",
    .order = dt__order_of_elements,
    .partial = DT_PARTIAL_FIRST,
    .arguments = "approximate",
    .shape = shape_gelu,
    .kernel = gelu,
    .family = &(const dt__element_family){.op = DT__EL_GELU_GRAD, .dtypes = DT__FLOATS},
    .backward = gelu_second,
    .samples = "gelu_backward(f32[5,3]; f32[5,3])\ngelu_backward(f32[5,3]; f32[5,3]; approximate=tanh)",
};

/* grad_output times a function of the second tensor. */
#define OF_GRADIENT(name, second, run, op_, dtypes_)                                                                 \
    .schema = name "(Tensor grad_output, Tensor " second ") -> Tensor", .rule = "..., ... -> ...",                   \
    .partial = DT_PARTIAL_FIRST, DT__FAMILY(run, op_, dtypes_),                                                      \
    .samples = name "(f32[5,3]; f32[5,3])\n" name "(f64[]; f64[])\n" name "(f32[5,3]; f32[3])"

const dt_op dt__op_tanh_backward = {
    OF_GRADIENT("tanh_backward", "output", tanh_gradient, TANH_GRAD, DT__ONLY_FLOATING),
    .summary = "The gradient of tanh, from its output.",
    .gradient =
        "grad_output: tanh_backward(grad, conjugate(output)); output: grad * conjugate(grad_output * output * -2)",
};
const dt_op dt__op_sigmoid_backward = {
    OF_GRADIENT("sigmoid_backward", "output", run_family, SIGMOID_GRAD, DT__FLOATS),
    .summary = "The gradient of sigmoid, from its output.",
    .gradient = "grad_output: sigmoid_backward(grad, output); output: grad * grad_output * (1 - output * 2)",
};
const dt_op dt__op_silu_backward = {
    OF_GRADIENT("silu_backward", "self", silu_gradient, SILU_GRAD, DT__ONLY_FLOATING),
    .summary = "The gradient of silu.",
    .gradient = "grad_output: silu_backward(grad, conjugate(self)); "
                "self: grad * conjugate(grad_output / (exp(-self) + 1) / (exp(self) + 1) * "
                "(self * (1 / (exp(self) + 1) - 1 / (exp(-self) + 1)) + 2))",
};
