/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise comparison and selection: maximum, clamp, eq, where.
 */
#include "dtensor/ops.h"
#include "ops/op_families.h"
#include "ops/ops.h"

#include <math.h>

/* Positions of arguments: the bounds of clamp, the tensors of where. */
enum { MIN = 1, MAX = 2, SELF = 1, OTHER = 2 };

/* Bound MIN or MAX; clamp_min and clamp_max have one of them, which is their family. */
static const dt_arg *bound_of(const dt_op_call *call, int bound) {
    static const dt_arg none = {.type = DT_ARG_NONE};
    const int *only = call->op->family;
    return !only ? &call->args[bound] : *only == bound ? &call->args[1] : &none;
}

static dt_status shape_clamp(dt_op_call *call) {
    DT__TRY(dt__refuse_complex(call));
    if (bound_of(call, MIN)->type == DT_ARG_NONE && bound_of(call, MAX)->type == DT_ARG_NONE)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected min, max or both, got neither");
    return dt__add_broadcast(call, dt__promote_call(call, UINT64_MAX, call->n_args));
}

static bool is_nan(const dt_arg *arg) { return arg->type == DT_ARG_FLOAT && isnan(arg->as.f); }
static int64_t class_clamp(const dt_op_call *call) {
    return is_nan(bound_of(call, MIN)) || is_nan(bound_of(call, MAX));
}

static uint64_t bit_of(const dt_arg *arg) { return arg->type == DT_ARG_TENSOR ? (uint64_t)1 << arg->as.first : 0; }

static void add_ordered(const dt_op_call *call, dt_rows *rows, uint64_t inputs, dt_reduce kind) {
    if (dt__keeps_order_of(call, inputs))
        dt_rows_reduce(rows, inputs, kind, kind);
}

/* min(max(x, low), high): the lower bound is P(max) together with x, the upper bound P(min). */
static void rows_clamp(const dt_op_call *call, dt_rows *rows) {
    uint64_t low = bit_of(bound_of(call, MIN)), high = bit_of(bound_of(call, MAX));
    if (class_clamp(call))
        return;
    add_ordered(call, rows, 1 | low, DT_MAX);
    add_ordered(call, rows, 1 | high, DT_MIN);
    if (high)
        add_ordered(call, rows, high, DT_MAX);
    if (low)
        add_ordered(call, rows, low | high, DT_MIN);
}

static dt_status shape_where(dt_op_call *call) {
    dt_dtype condition = call->inputs[0].dtype;
    if (condition != DT_BOOL && condition != DT_U8)
        return dt_op_refuse(call, DT_ERR_DTYPE, "the condition: expected bool, got %s", dt_dtype_name(condition));
    return dt__add_broadcast(call, dt__promote_call(call, UINT64_MAX - 1, 3));
}

static dt_status check_where(const dt_op_call *call) {
    dt_dtype dtype = dt__promote_call(call, UINT64_MAX - 1, 3);
    for (int i = 1; i <= 2; i++)
        if (call->args[i].type != DT_ARG_TENSOR)
            DT__TRY(dt__expect_fit(call, &call->args[i], dtype));
    return DT_OK;
}

/* The class of the number that is compared with a tensor. */
static int64_t class_where(const dt_op_call *call) {
    return dt__class_of_number(&call->args[call->args[SELF].type == DT_ARG_TENSOR ? OTHER : SELF]);
}

static void rows_where(const dt_op_call *call, dt_rows *rows) {
    uint64_t chosen = call->n_inputs == 3 ? 6 : call->n_inputs == 2 ? 2 : 0;
    bool alone = chosen == 2;
    bool converts = false;
    for (int i = 1; i < call->n_inputs; i++)
        converts |= call->inputs[i].dtype != call->outputs[0].dtype;
    if (!chosen || !dt__keeps_order_of(call, chosen))
        return;
    for (int kind = 0; kind < DT_N_REDUCES; kind++) {
        if (converts && kind != DT_MAX && kind != DT_MIN)
            continue;
        int64_t number = class_where(call);
        bool needs =
            (kind == DT_SUM && number != DT__NUMBER_ZERO) || (kind == DT_PRODUCT && number == DT__NUMBER_OTHER);
        if (!(alone && needs))
            dt_rows_reduce(rows, chosen, (dt_reduce)kind, (dt_reduce)kind);
    }
}

/* min(max(self, low), high), in two passes; a bound that is NaN makes everything NaN. */
static dt_status clamp(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), from = dt__array_of(&call->inputs[0]);
    for (int i = 1; i <= 2; i++) {
        dt__constant constant;
        const dt_arg *arg = bound_of(call, i);
        if (arg->type == DT_ARG_NONE)
            continue;
        dt__array bound = arg->type == DT_ARG_TENSOR ? dt__array_of(&call->inputs[arg->as.first])
                                                     : dt__array_of_bound(arg, out.dtype, &constant);
        DT__TRY(
            dt__run_elements(call, i == 1 ? DT__EL_MAXIMUM : DT__EL_MINIMUM, out.dtype, &out, &from, &bound, NULL));
        from = out;
    }
    return DT_OK;
}

/* Numbers that cross make the result max everywhere. */
static bool crosses(const dt_arg *min, const dt_arg *max) {
    bool are_numbers = min->type != DT_ARG_NONE && min->type != DT_ARG_TENSOR && max->type != DT_ARG_NONE &&
                       max->type != DT_ARG_TENSOR;
    return are_numbers && dt__arg_number(min) > dt__arg_number(max);
}

/* The gradient is that of self within the bounds, and of the bound that self is beyond. */
static dt_status clamp_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const dt_arg *low = bound_of(op, MIN), *high = bound_of(op, MAX);
    dt_tensor *self = call->inputs[0], *grad = call->grads[0];
    dt_tensor *min = low->type == DT_ARG_TENSOR ? call->inputs[low->as.first] : NULL;
    dt_tensor *max = high->type == DT_ARG_TENSOR ? call->inputs[high->as.first] : NULL;
    if (call->needed[0] && crosses(low, high))
        input_grads[0] = dt_zeros_like(grad);
    else if (call->needed[0]) {
        dt_tensor *within = dt_eq(self, call->outputs[0]);
        input_grads[0] =
            dt_where_scalar_other(min && max ? dt_logical_and(within, dt_ge(self, min)) : within, grad, 0);
    }
    if (min && call->needed[low->as.first]) {
        dt_tensor *beyond = dt_lt(self, min);
        input_grads[low->as.first] =
            dt_where_scalar_other(max ? dt_logical_and(beyond, dt_lt(min, max)) : beyond, grad, 0);
    }
    if (max && call->needed[high->as.first]) {
        dt_tensor *beyond = dt_gt(self, max);
        input_grads[high->as.first] =
            dt_where_scalar_other(min ? dt_logical_or(beyond, dt_lt(max, min)) : beyond, grad, 0);
    }
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

static dt_status where(dt_op_call *call) {
    dt__constant constants[2];
    dt__array out = dt__array_of(&call->outputs[0]), condition = dt__array_of(&call->inputs[0]);
    dt__array a = dt__array_of_arg(call, 1, out.dtype, &constants[0]),
              b = dt__array_of_arg(call, 2, out.dtype, &constants[1]);
    return dt__run_elements(call, DT__EL_WHERE, out.dtype, &out, &condition, &a, &b);
}

/* Elements of self, and the value where the mask is true. */
static dt_status shape_masked_fill(dt_op_call *call) {
    const dt_arg *value = &call->args[2];
    if (call->inputs[1].dtype != DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "mask: expected bool, got %s", dt_dtype_name(call->inputs[1].dtype));
    if (value->type == DT_ARG_TENSOR && call->inputs[2].n_dims != 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "value: expected a tensor without dims, got %d dims",
                            call->inputs[2].n_dims);
    return dt__add_broadcast(call, call->inputs[0].dtype);
}

static dt_status check_masked_fill(const dt_op_call *call) {
    return call->n_inputs == 3 ? DT_OK : dt__expect_fit(call, &call->args[2], call->inputs[0].dtype);
}

static int64_t class_masked_fill(const dt_op_call *call) { return dt__class_of_number(&call->args[2]); }

static void rows_masked_fill(const dt_op_call *call, dt_rows *rows) {
    bool has_number = call->n_inputs == 2;
    dt__number_class number = has_number ? dt__class_of_number(&call->args[2]) : DT__NUMBER_OTHER;
    bool converts = !has_number && call->inputs[2].dtype != call->inputs[0].dtype;
    for (int kind = 0; kind < DT_N_REDUCES && !converts; kind++)
        if (!has_number)
            dt_rows_reduce(rows, 5, (dt_reduce)kind, (dt_reduce)kind);
        else if ((kind != DT_SUM || number == DT__NUMBER_ZERO) && (kind != DT_PRODUCT || number != DT__NUMBER_OTHER))
            dt_rows_reduce(rows, 1, (dt_reduce)kind, (dt_reduce)kind);
}

static dt_status masked_fill(dt_op_call *call) {
    dt__constant constant;
    dt__array out = dt__array_of(&call->outputs[0]), self = dt__array_of(&call->inputs[0]);
    dt__array mask = dt__array_of(&call->inputs[1]), value = dt__array_of_arg(call, 2, out.dtype, &constant);
    return dt__run_elements(call, DT__EL_WHERE, out.dtype, &out, &mask, &value, &self);
}

/* "Greater" does not decrease with the first operand and does not increase with the second. NaN is neither greater nor
 * less: it makes a minimum of comparisons false, as it should, and is lost in a maximum. */
static void rows_ordered(const dt_op_call *call, dt_rows *rows, bool greater) {
    bool has_nan = false;
    for (int i = 0; i < call->n_inputs; i++)
        has_nan |= dt__is_inexact(call->inputs[i].dtype);
    for (int i = 0; i < call->n_inputs; i++) {
        bool up = greater == (i == 0);
        dt_rows_reduce(rows, (uint64_t)1 << i, up ? DT_MIN : DT_MAX, DT_MIN);
        if (!has_nan)
            dt_rows_reduce(rows, (uint64_t)1 << i, up ? DT_MAX : DT_MIN, DT_MAX);
    }
}
static void rows_maximum(const dt_op_call *call, dt_rows *rows) { dt__rows_extremum(call, rows, DT_MAX); }
static void rows_greater(const dt_op_call *call, dt_rows *rows) { rows_ordered(call, rows, true); }
static void rows_less(const dt_op_call *call, dt_rows *rows) { rows_ordered(call, rows, false); }

/* clang-format off */
const dt_op dt__op_maximum = {DT__BINARY("maximum", MAXIMUM, DT__NO_COMPLEX | DT__WRAPS),
                              .rows = rows_maximum,
                              .summary = "The maximum of two elements; NaN if one of them is NaN.",
                              .gradient = "self: grad * logical_not(lt(self, other)) / (eq(self, other) + 1); "
                                          "other: grad * logical_not(gt(self, other)) / (eq(self, other) + 1)"};
const dt_op dt__op_ge = {DT__COMPARISON("ge", GE, DT__NO_COMPLEX), .rows = rows_greater,
                         .summary = "Whether elements are at least those of a tensor, or a number."};
const dt_op dt__op_gt = {DT__COMPARISON("gt", GT, DT__NO_COMPLEX), .rows = rows_greater,
                         .summary = "Whether elements are greater than those of a tensor, or a number."};
const dt_op dt__op_le = {DT__COMPARISON("le", LE, DT__NO_COMPLEX), .rows = rows_less,
                         .summary = "Whether elements are at most those of a tensor, or a number."};
const dt_op dt__op_lt = {DT__COMPARISON("lt", LT, DT__NO_COMPLEX), .rows = rows_less,
                         .summary = "Whether elements are less than those of a tensor, or a number."};
const dt_op dt__op_ne = {DT__COMPARISON("ne", NE, 0),
                         .summary = "Whether elements differ from those of a tensor, or from a number."};
const dt_op dt__op_eq = {DT__COMPARISON("eq", EQ, 0),
                         .summary = "Whether elements are equal, to those of a tensor or to a number."};
/* clang-format on */
const dt_op dt__op_clamp = {
    .schema = "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor | "
              "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    .summary = "Limits every element to the range from min to max, which are numbers or tensors.",
    .rule = "..., ..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_clamp,
    .varying = "min,max",
    .class_of = class_clamp,
    .shape = shape_clamp,
    .kernel = clamp,
    .backward = clamp_backward,
    .saves = "self,min,max,result",
    .samples = "clamp(f32[5,3]; -1.0; 1.0)\nclamp(f32[5]; max=0)\nclamp(f32[5,3]; f32[5,3]; f32[3])\n"
               "clamp(f32[5]; min=nan)\n"
               "clamp(f32[5]; min=f32[5])\n"
               "clamp(i32[5]; 0.5)",
};
const dt_op dt__op_clamp_ = {
    .in_place_of = &dt__op_clamp,
    .samples = "clamp_(f32[5,3]; -1.0; 1.0)\nclamp_(f32[5]; max=0)\nclamp_(f32[5,3]; f32[5,3]; f32[3])",
};

#define ONE_BOUND(name, bound, number)                                                                               \
    .schema =                                                                                                        \
        name "(Tensor self, Scalar " bound ") -> Tensor | " name ".Tensor(Tensor self, Tensor " bound ") -> Tensor", \
    .rule = "..., ... -> ...", .rows = rows_clamp, .varying = bound, .class_of = class_clamp, .shape = shape_clamp,  \
    .kernel = clamp, .order = dt__order_of_elements, .family = &(const int){number}, .backward = clamp_backward,     \
    .saves = "self," bound ",result",                                                                                \
    .samples = name "(f32[5,3]; 0.5)\n" name "(f32[5,3]; f32[3])\n" name "(i32[5]; 2)"

const dt_op dt__op_clamp_max = {ONE_BOUND("clamp_max", "max", MAX),
                                .summary = "Every element, or max if that is less."};
const dt_op dt__op_clamp_min = {ONE_BOUND("clamp_min", "min", MIN),
                                .summary = "Every element, or min if that is greater."};
const dt_op dt__op_where = {
    .schema = "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor | "
              "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor | "
              "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor | "
              "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
    .summary = "Elements of one tensor where the condition is true, of the other where it is false.",
    .rule = "..., ..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_where,
    .varying = "self,other",
    .class_of = class_where,
    .check = check_where,
    .shape = shape_where,
    .kernel = where,
    .gradient = "self: where(condition, grad, 0); other: where(condition, 0, grad)",
    .samples = "where(bool[5,3]; f32[5,3]; f32[5,3])\nwhere(bool[5,1]; f32[5,3]; f32[3])\nwhere(bool[5]; f32[5]; 0)\n"
               "where(bool[5]; 1; f32[5])\n"
               "where(bool[5]; f32[5]; 2)\n"
               "where(bool[5]; i32[5]; f32[5])",
};
const dt_op dt__op_masked_fill = {
    .schema = "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor | "
              "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    .summary = "Elements of a tensor, and a value where the mask is true.",
    .rule = "..., ..., ... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_masked_fill,
    .varying = "value",
    .class_of = class_masked_fill,
    .check = check_masked_fill,
    .shape = shape_masked_fill,
    .kernel = masked_fill,
    .gradient = "self: masked_fill(grad, mask, 0); value: where(mask, grad, 0)",
    .samples = "masked_fill(f32[5,3]; bool[3]; 0)\nmasked_fill(f32[5]; bool[5]; 2.5)\n"
               "masked_fill(i32[5]; bool[5]; i32[])",
};
const dt_op dt__op_masked_fill_ = {.in_place_of = &dt__op_masked_fill};
