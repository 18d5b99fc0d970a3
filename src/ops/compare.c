/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise comparison and selection: maximum, clamp, eq, where.
 */
#include "ops/op_families.h"
#include "ops/ops.h"

#include <math.h>

/* Positions of arguments: the bounds of clamp, the tensors of where. */
enum { MIN = 1, MAX = 2, SELF = 1, OTHER = 2 };

static dt_status shape_clamp(dt_op_call *call) {
    DT__TRY(dt__refuse_complex(call));
    if (call->args[MIN].type == DT_ARG_NONE && call->args[MAX].type == DT_ARG_NONE)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected min, max or both, got neither");
    return dt__add_broadcast(call, dt__promote_call(call, UINT64_MAX, 3));
}

static bool is_nan(const dt_arg *arg) { return arg->type == DT_ARG_FLOAT && isnan(arg->as.f); }
static int64_t class_clamp(const dt_op_call *call) { return is_nan(&call->args[MIN]) || is_nan(&call->args[MAX]); }

static uint64_t bit_of(const dt_arg *arg) { return arg->type == DT_ARG_TENSOR ? (uint64_t)1 << arg->as.first : 0; }

/* min(max(x, low), high): the lower bound is P(max) together with x, the upper bound P(min). */
static void rows_clamp(const dt_op_call *call, dt_rows *rows) {
    uint64_t low = bit_of(&call->args[MIN]), high = bit_of(&call->args[MAX]);
    if (class_clamp(call))
        return;
    dt_rows_reduce(rows, 1 | low, DT_MAX, DT_MAX);
    dt_rows_reduce(rows, 1 | high, DT_MIN, DT_MIN);
    if (high)
        dt_rows_reduce(rows, high, DT_MAX, DT_MAX);
    if (low)
        dt_rows_reduce(rows, low | high, DT_MIN, DT_MIN);
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

/* The class of the number beside a tensor. */
static int64_t class_where(const dt_op_call *call) {
    return dt__class_of_number(&call->args[call->args[SELF].type == DT_ARG_TENSOR ? OTHER : SELF]);
}

static void rows_where(const dt_op_call *call, dt_rows *rows) {
    uint64_t chosen = call->n_inputs == 3 ? 6 : call->n_inputs == 2 ? 2 : 0;
    bool alone = chosen == 2;
    bool converts = false; /* which keeps order, as the dtype of the result holds all values */
    for (int i = 1; i < call->n_inputs; i++)
        converts |= call->inputs[i].dtype != call->outputs[0].dtype;
    if (!chosen)
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
        if (call->args[i].type == DT_ARG_NONE)
            continue;
        const dt_arg *arg = &call->args[i];
        dt__array bound = arg->type == DT_ARG_TENSOR ? dt__array_of(&call->inputs[arg->as.first])
                                                     : dt__array_of_bound(arg, out.dtype, &constant);
        DT__TRY(
            dt__run_elements(call, i == 1 ? DT__EL_MAXIMUM : DT__EL_MINIMUM, out.dtype, &out, &from, &bound, NULL));
        from = out;
    }
    return DT_OK;
}

static dt_status where(dt_op_call *call) {
    dt__constant constants[2];
    dt__array out = dt__array_of(&call->outputs[0]), condition = dt__array_of(&call->inputs[0]);
    dt__array a = dt__array_of_arg(call, 1, out.dtype, &constants[0]),
              b = dt__array_of_arg(call, 2, out.dtype, &constants[1]);
    return dt__run_elements(call, DT__EL_WHERE, out.dtype, &out, &condition, &a, &b);
}

/* clang-format off */
const dt_op dt__op_maximum = {DT__BINARY("maximum", MAXIMUM, DT__NO_COMPLEX), .partial = DT_PARTIAL_UP | DT_PARTIAL_MAX,
                              .summary = "The maximum of two elements; NaN if one of them is NaN.",
                              .gradient = "self: grad * eq(self, result) / (eq(self, other) + 1); "
                                          "other: grad * eq(other, result) / (eq(self, other) + 1)"};
const dt_op dt__op_eq = {DT__COMPARISON("eq", EQ, 0),
                         .summary = "Whether elements are equal, to those of a tensor or to a number."};
/* clang-format on */
const dt_op dt__op_clamp = {
    .schema = "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor | "
              "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    .summary = "Limits every element to the range from min to max, which are numbers or tensors.",
    .rule = "..., ..., ... -> ...",
    .rows = rows_clamp,
    .varying = "min,max",
    .class_of = class_clamp,
    .shape = shape_clamp,
    .kernel = clamp,
    .gradient = "self: grad * eq(self, result); "
                "min.Tensor: where(eq(self, result), 0, grad * eq(min, result)); "
                "max.Tensor: where(eq(self, result), 0, grad * eq(max, result))",
    .samples = "clamp(f32[5,3]; -1.0; 1.0)\nclamp(f32[5]; max=0)\nclamp(f32[5,3]; f32[5,3]; f32[3])\n"
               "clamp(f32[5]; min=nan)\n"
               "clamp(f32[5]; min=f32[5])\n"
               "clamp(i32[5]; 0.5)",
};
const dt_op dt__op_clamp_ = {
    .in_place_of = &dt__op_clamp,
    .samples = "clamp_(f32[5,3]; -1.0; 1.0)\nclamp_(f32[5]; max=0)\nclamp_(f32[5,3]; f32[5,3]; f32[3])",
};
const dt_op dt__op_where = {
    .schema = "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor | "
              "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor | "
              "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor | "
              "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
    .summary = "Elements of one tensor where the condition is true, of the other where it is false.",
    .rule = "..., ..., ... -> ...",
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
