/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise arithmetic on two tensors, or on a tensor and a number, and its in-place forms. The rows of partial
 * inputs may depend on the sign of a number.
 */
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <string.h>

/* Positions of arguments, the same in every signature that has them; and in .arguments of div. */
enum { OTHER = 1, ALPHA = 2, ROUNDING_MODE = 0, N_OPERANDS = 2 };

/* Whether the call has a number where others have a second tensor. */
static bool has_number(const dt_op_call *call) { return call->n_inputs == 1; }

static dt_status shape_promoted(dt_op_call *call) {
    return dt__add_broadcast(call, dt__promote_call(call, UINT64_MAX, N_OPERANDS));
}

static dt_status check_alpha(dt_op_call *call) {
    const dt_arg *alpha = &call->args[ALPHA];
    dt_dtype dtype = dt__promote_call(call, UINT64_MAX, N_OPERANDS);
    if (alpha->type == DT_ARG_FLOAT && dt__is_integral(call->inputs[0].dtype) &&
        (has_number(call) ? call->args[OTHER].type != DT_ARG_FLOAT : dt__is_integral(call->inputs[1].dtype)))
        return dt_op_refuse(call, DT_ERR_DTYPE,
                            "alpha: expected an integer, as the tensors are, got a floating-point number");
    if (alpha->type == DT_ARG_COMPLEX && !dt__is_complex(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE,
                            "alpha: expected a real number, as the tensors are, got a complex one");
    return DT_OK;
}

static dt_status shape_add(dt_op_call *call) {
    DT__TRY(check_alpha(call));
    return shape_promoted(call);
}

static dt_status shape_sub(dt_op_call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i].dtype == DT_BOOL)
            return dt_op_refuse(call, DT_ERR_DTYPE, "cannot subtract booleans: expected numeric dtypes, got bool");
    return shape_add(call);
}

static bool rounds(const dt_op_call *call) {
    const dt_arg *mode = dt__arg_at(call, ROUNDING_MODE);
    return mode && mode->type == DT_ARG_TEXT;
}

static dt_status shape_div(dt_op_call *call) {
    const dt_arg *mode = dt__arg_at(call, ROUNDING_MODE);
    dt_dtype dtype = dt__promote_call(call, UINT64_MAX, N_OPERANDS);
    if (rounds(call) && strcmp(mode->as.text, "trunc") != 0 && strcmp(mode->as.text, "floor") != 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "rounding_mode: expected none, 'trunc' or 'floor', got '%.60s'",
                            mode->as.text);
    if (rounds(call))
        DT__TRY(dt__refuse_complex(call));
    return dt__add_broadcast(call, rounds(call) ? dtype : dt__promote_to_inexact(dtype));
}

/* The sign of alpha, the factor of the second operand. */
static int64_t class_alpha(const dt_op_call *call) { return dt__arg_sign(&call->args[ALPHA]); }
static int64_t class_other(const dt_op_call *call) { return has_number(call) ? dt__arg_sign(&call->args[OTHER]) : 0; }

/* Integers wrap around, so their sums and products keep no order: the least integer, which a rank without elements
 * contributes to a maximum, becomes the largest. Sums of booleans are "or". */
static bool keeps_order(const dt_op_call *call) {
    dt_dtype dtype = call->outputs[0].dtype;
    return dt__is_inexact(dtype) || dtype == DT_BOOL;
}

/* With integers, which have no average, only the floating-point tensor may be an average. */
static void add_average(const dt_op_call *call, dt_rows *rows) {
    for (int i = 0; i < 2; i++)
        if (dt__is_inexact(call->inputs[i].dtype) && !dt__is_inexact(call->inputs[1 - i].dtype))
            dt_rows_reduce(rows, (uint64_t)1 << i, DT_AVG, DT_AVG);
}

static void rows_sum(const dt_op_call *call, dt_rows *rows, int64_t sign) {
    if (keeps_order(call))
        dt_rows_monotone(rows, 0, true);
    if (has_number(call)) {
        if (dt__is_inexact(call->inputs[0].dtype))
            dt_rows_reduce(rows, 1, DT_AVG, DT_AVG);
        return;
    }
    if (sign)
        dt_rows_linear(rows, 3);
    if (sign)
        add_average(call, rows);
    if (sign && keeps_order(call))
        dt_rows_monotone(rows, 1, sign > 0 || call->outputs[0].dtype == DT_BOOL);
    if (sign && call->outputs[0].dtype == DT_BOOL)
        dt_rows_reduce(rows, 3, DT_MAX, DT_MAX);
}

static void rows_add(const dt_op_call *call, dt_rows *rows) { rows_sum(call, rows, class_alpha(call)); }
static void rows_sub(const dt_op_call *call, dt_rows *rows) { rows_sum(call, rows, -class_alpha(call)); }

/* other - alpha self. */
static void rows_rsub(const dt_op_call *call, dt_rows *rows) {
    int64_t sign = -class_alpha(call);
    bool ordered = keeps_order(call);
    if (has_number(call) && dt__is_inexact(call->inputs[0].dtype))
        dt_rows_reduce(rows, 1, DT_AVG, DT_AVG);
    if (sign && ordered)
        dt_rows_monotone(rows, 0, sign > 0);
    if (has_number(call))
        return;
    if (ordered)
        dt_rows_monotone(rows, 1, true);
    dt_rows_linear(rows, 3);
    add_average(call, rows);
}

/* The first operand times a number, or divided by one. */
static void rows_scaled(dt_rows *rows, int64_t sign, bool linear, bool ordered) {
    if (sign && linear)
        dt_rows_linear(rows, 1);
    if (sign && ordered)
        dt_rows_monotone(rows, 0, sign > 0);
}

/* Products of integers wrap around before they become floating point. */
static bool all_floating(const dt_op_call *call) {
    return dt__is_inexact(call->inputs[0].dtype) && dt__is_inexact(call->inputs[call->n_inputs - 1].dtype);
}

static void rows_mul(const dt_op_call *call, dt_rows *rows) {
    if (has_number(call))
        rows_scaled(rows, class_other(call), true, keeps_order(call));
    else
        dt_rows_partial(rows, DT_PARTIAL_EACH | (all_floating(call) ? DT_PARTIAL_PRODUCT : 0));
}

/* The sign of the divisor, as the dtype of the quotient has it. */
static int64_t class_divisor(const dt_op_call *call) {
    const dt_arg *other = &call->args[OTHER];
    if (!has_number(call) || !rounds(call) || other->type != DT_ARG_INT || !dt__is_integral(call->inputs[0].dtype))
        return class_other(call);
    int64_t divisor = dt__wrap_integer(dt__promote_call(call, UINT64_MAX, N_OPERANDS), other->as.i);
    return (divisor > 0) - (divisor < 0);
}

static bool rounds_down(const dt_op_call *call) {
    return rounds(call) && strcmp(dt__arg_at(call, ROUNDING_MODE)->as.text, "floor") == 0;
}

/* The least integer divided by -1 wraps around, and an infinity rounded down is NaN. */
static bool quotient_keeps_order(const dt_op_call *call) {
    return dt__is_inexact(call->outputs[0].dtype) ? !rounds_down(call) : class_divisor(call) > 0;
}

static void rows_div(const dt_op_call *call, dt_rows *rows) {
    if (has_number(call))
        rows_scaled(rows, class_divisor(call), !rounds(call), quotient_keeps_order(call));
    else if (!rounds(call))
        dt_rows_partial(rows, DT_PARTIAL_FIRST | (all_floating(call) ? DT_PARTIAL_PRODUCT : 0));
}

/* out = op(first, second), where the second may be a number; computed in the dtype that both have in common. */
static dt_status run_two(dt_op_call *call, dt__element_op op, dt_dtype dtype, const dt__array *out) {
    dt__constant constant;
    dt__array a = dt__array_of(&call->inputs[0]), b = dt__array_of_arg(call, 1, dtype, &constant);
    return dt__run_elements(call, op, dtype, out, &a, &b, NULL);
}

static dt_status run_promoted(dt_op_call *call, dt__element_op op) {
    dt__array out = dt__array_of(&call->outputs[0]);
    return run_two(call, op, dt__promote_call(call, UINT64_MAX, N_OPERANDS), &out);
}

/* self + sign * alpha * other, or the other way round. */
static dt_status run_sum(dt_op_call *call, int sign, bool swaps) {
    const dt_arg *alpha = &call->args[ALPHA];
    if (!swaps && dt__arg_number(alpha) == 1 && alpha->type != DT_ARG_COMPLEX)
        return run_promoted(call, sign > 0 ? DT__EL_ADD : DT__EL_SUB);
    dt_dtype dtype = dt__promote_call(call, UINT64_MAX, N_OPERANDS);
    dt__constant constant;
    dt__array out = dt__array_of(&call->outputs[0]), a = dt__array_of(&call->inputs[0]);
    dt__array b = dt__array_of_arg(call, 1, dtype, &constant);
    if (swaps) {
        dt__array first = a;
        a = b;
        b = first;
    }
    dt__number factor = dt__number_of(alpha, dtype);
    if (sign < 0 && dt__is_integral(dtype))
        factor.i = (int64_t)(0 - (uint64_t)factor.i);
    else if (sign < 0)
        factor.f.re = -factor.f.re, factor.f.im = -factor.f.im;
    dt__elementwise what = {
        .op = DT__EL_ADD_SCALED, .dtype = dtype, .numbers = {factor}, .out = &out, .ins = {&a, &b}};
    if (!dt__op_computes(what.op, dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "there is no kernel for %s with alpha", dt_dtype_name(dtype));
    dt__elementwise_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &what);
    return DT_OK;
}

static dt_status add(dt_op_call *call) { return run_sum(call, 1, false); }
static dt_status sub(dt_op_call *call) { return run_sum(call, -1, false); }
static dt_status rsub(dt_op_call *call) { return run_sum(call, -1, true); }
static dt_status mul(dt_op_call *call) { return run_promoted(call, DT__EL_MUL); }

static dt_status divide(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]);
    if (!rounds(call))
        return run_two(call, DT__EL_DIV, dt__promote_to_inexact(dt__promote_call(call, UINT64_MAX, N_OPERANDS)),
                       &out);
    return run_two(call, rounds_down(call) ? DT__EL_FLOOR_DIVIDE : DT__EL_TRUNC_DIVIDE,
                   dt__promote_call(call, UINT64_MAX, N_OPERANDS), &out);
}

const dt_op dt__op_add = {
    .schema = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor | "
              "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    .summary = "Adds a tensor, or a number, times alpha.",
    .rule = "..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_add,
    .varying = "other,alpha",
    .class_of = class_alpha,
    .shape = shape_add,
    .kernel = add,
    .gradient = "self: grad; other: grad * conjugate(alpha)",
    .samples = "add(f32[5,3]; f32[5,3])\nadd(f32[5,3]; f32[3]; alpha=-2)\nadd(f32[5,1]; f32[1,3])\nadd(f32[5]; 2.5)\n"
               "add(f32[5]; f32[5]; alpha=0)\n"
               "add(i32[5]; f32[5])\n"
               "add(bool[5]; bool[5])",
};
const dt_op dt__op_sub = {
    .schema = "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor | "
              "sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    .summary = "Subtracts a tensor, or a number, times alpha.",
    .rule = "..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_sub,
    .varying = "other,alpha",
    .class_of = class_alpha,
    .shape = shape_sub,
    .kernel = sub,
    .gradient = "self: grad; other: grad * conjugate(-alpha)",
    .samples = "sub(f32[5,3]; f32[5,3])\nsub(f32[5,3]; f32[3]; alpha=-2)\nsub(f32[5]; 2.5)\n"
               "sub(i32[5]; f32[5]; alpha=0.5)",
};
const dt_op dt__op_rsub = {
    .schema = "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor | "
              "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    .summary = "Subtracts the tensor times alpha from another one, or from a number.",
    .rule = "..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_rsub,
    .varying = "other,alpha",
    .class_of = class_alpha,
    .shape = shape_sub,
    .kernel = rsub,
    .gradient = "self: grad * conjugate(-alpha); other: grad",
    .samples = "rsub(f32[5,3]; f32[3])\nrsub(f32[5]; 2.5)\nrsub(f32[5]; f32[5]; alpha=-2)",
};
const dt_op dt__op_mul = {
    .schema = "mul.Tensor(Tensor self, Tensor other) -> Tensor | mul.Scalar(Tensor self, Scalar other) -> Tensor",
    .summary = "Multiplies by a tensor or a number, element by element.",
    .rule = "..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_mul,
    .varying = "other",
    .class_of = class_other,
    .shape = shape_promoted,
    .kernel = mul,
    .gradient = "self: grad * conjugate(other); other: grad * conjugate(self)",
    .samples = "mul(f32[5,3]; f32[5,3])\nmul(f32[5,3]; f32[5,1])\nmul(f32[5]; -2.5)\nmul(i32[5]; 2)\n"
               "mul(f32[5]; 0)\n"
               "mul(i32[5]; f32[5])\n"
               "mul(f32[5]; inf)",
};
const dt_op dt__op_div = {
    .schema = "div.Tensor(Tensor self, Tensor other) -> Tensor | div.Scalar(Tensor self, Scalar other) -> Tensor | "
              "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor | "
              "div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
    .summary = "Divides by a tensor or a number; rounding_mode \"trunc\" or \"floor\" rounds the quotient.",
    .rule = "..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_div,
    .varying = "other",
    .class_of = class_divisor,
    .arguments = "rounding_mode",
    .shape = shape_div,
    .kernel = divide,
    .gradient = "self: grad / conjugate(other); other: -grad * conjugate(result / other); "
                "self.Tensor_mode: unless(rounding_mode, grad / conjugate(other)); "
                "other.Tensor_mode: unless(rounding_mode, -grad * conjugate(result / other)); "
                "self.Scalar_mode: unless(rounding_mode, grad / conjugate(other))",
    .samples = "div(f32[5,3]; f32[5,3])\ndiv(f32[5,3]; f32[3]; rounding_mode=floor)\ndiv(f32[5]; -2.5)\n"
               "div(i32[5]; 3; rounding_mode=trunc)\ndiv(i32[5]; -1; rounding_mode=trunc)\n"
               "div(f32[5]; 0)\n"
               "div(i32[5]; i32[5])\n"
               "div(f32[5]; 2; rounding_mode=floor)\n"
               "div(i8[5]; 200; rounding_mode=floor)",
};
const dt_op dt__op_add_ = {
    .in_place_of = &dt__op_add,
    .samples = "add_(f32[5,3]; f32[3]; alpha=-2)\nadd_(f32[5]; f32[5])\nadd_(f32[5]; 2.5)\nadd_(f32[5]; i32[5])",
};
const dt_op dt__op_sub_ = {
    .in_place_of = &dt__op_sub,
    .samples = "sub_(f32[5,3]; f32[3]; alpha=-2)\nsub_(f32[5]; f32[5])\nsub_(f32[5]; 2.5)\nsub_(i32[5]; i32[5])",
};
const dt_op dt__op_mul_ = {
    .in_place_of = &dt__op_mul,
    .samples = "mul_(f32[5,3]; f32[5,3])\nmul_(f32[5]; -2.5)\nmul_(f32[5]; 0)\nmul_(f32[5]; i32[5])",
};
const dt_op dt__op_div_ = {
    .in_place_of = &dt__op_div,
    .samples = "div_(f32[5,3]; f32[3])\ndiv_(f32[5]; -2.5)\ndiv_(i32[5]; 3; rounding_mode=trunc)",
};
