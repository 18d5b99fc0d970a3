/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise ops on one tensor, on two, or on a tensor and a number, which differ in their loop and in the dtypes that
 * they accept.
 */
#include "ops/op_families.h"

enum { OTHER = 1 };

static dt_status check_dtypes(const dt_op_call *call, unsigned dtypes) {
    if (dtypes & DT__NO_COMPLEX)
        DT__TRY(dt__refuse_complex(call));
    for (int i = 0; i < call->n_inputs && dtypes & DT__NO_BOOL; i++)
        if (call->inputs[i].dtype == DT_BOOL)
            return dt_op_refuse(call, DT_ERR_DTYPE, "expected a numeric dtype, got bool");
    for (int i = 0; i < call->n_inputs; i++) {
        dt_dtype dtype = call->inputs[i].dtype;
        if (dtypes & DT__ONLY_INTEGERS && !dt__is_integral(dtype))
            return dt_op_refuse(call, DT_ERR_DTYPE, "expected integers or booleans, got %s", dt_dtype_name(dtype));
        if (dtypes & DT__ONLY_FLOATING)
            DT__TRY(dt__expect_floating(call, i));
    }
    return DT_OK;
}

/* The dtype to compute in: that of the operands, or a floating-point one. */
static dt_dtype computed_in(const dt_op_call *call, unsigned dtypes) {
    int n_operands = call->n_args < 2 ? call->n_args : 2;
    bool is_unary = call->op->kernel == dt__unary_run;
    dt_dtype dtype = is_unary ? call->inputs[0].dtype : dt__promote_call(call, UINT64_MAX, n_operands);
    if (dtypes & DT__BOOL_TO_I64 && dtype == DT_BOOL)
        return DT_I64;
    return dtypes & DT__TO_FLOATING ? dt__promote_to_inexact(dtype) : dtype;
}

dt_status dt__family_shape(dt_op_call *call) {
    const dt__element_family *of = call->op->family;
    DT__TRY(check_dtypes(call, of->dtypes));
    dt_dtype dtype = of->dtypes & DT__TO_BOOL ? DT_BOOL : computed_in(call, of->dtypes);
    if (of->dtypes & DT__TO_REAL && dt__is_complex(dtype))
        dtype = dtype == DT_C64 ? DT_F32 : DT_F64;
    return dt__add_broadcast(call, dtype);
}

/* Whether the second operand is an integer that the dtype has not. */
static bool is_beyond(const dt_arg *arg, dt_dtype dtype) {
    return arg->type == DT_ARG_INT && dt__is_integral(dtype) && dt__wrap_integer(dtype, arg->as.i) != arg->as.i;
}

/* The result of comparing any element of a dtype with an integer that is out of its range. */
static bool compare_beyond(dt__element_op op, bool is_larger) {
    return op == DT__EL_NE || ((op == DT__EL_LT || op == DT__EL_LE) && is_larger) ||
           ((op == DT__EL_GT || op == DT__EL_GE) && !is_larger);
}

/* The parameters of the loop: the arguments from `first` on, or those of the family. */
static void set_numbers(const dt_op_call *call, int first, dt__elementwise *request) {
    const dt__element_family *of = call->op->family;
    for (int i = 0; i < 3; i++)
        request->numbers[i] =
            dt__number_of(first + i < call->n_args ? &call->args[first + i]
                                                   : &(dt_arg){.type = DT_ARG_FLOAT, .as.f = of->numbers[i]},
                          request->dtype);
}

static dt_status run(const dt_op_call *call, const dt__elementwise *request) {
    if (!dt__op_computes(request->op, request->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "no kernel for dtype %s", dt_dtype_name(request->dtype));
    dt__elementwise_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), request);
    return DT_OK;
}

dt_status dt__unary_run(dt_op_call *call) {
    const dt__element_family *of = call->op->family;
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    if (of->dtypes & DT__INTEGERS_AS_THEY_ARE && dt__is_integral(in.dtype)) {
        dt__run_convert(call, &out, &in);
        return DT_OK;
    }
    dt__elementwise request = {.op = of->op,
                               .dtype = of->dtypes & (DT__TO_BOOL | DT__TO_REAL) ? in.dtype : out.dtype,
                               .out = &out,
                               .ins = {&in}};
    set_numbers(call, 1, &request);
    return run(call, &request);
}

dt_status dt__binary_run(dt_op_call *call) {
    const dt__element_family *of = call->op->family;
    dt_dtype dtype = computed_in(call, of->dtypes);
    dt__array out = dt__array_of(&call->outputs[0]), a, b;
    dt__constant constants[2];
    const dt_arg *other = &call->args[OTHER];
    if (of->dtypes & DT__TO_BOOL && is_beyond(other, dtype)) {
        dt_arg result = {.type = DT_ARG_INT, .as.i = compare_beyond(of->op, other->as.i > 0)};
        b = dt__array_of_number(&result, DT_BOOL, &constants[1]);
        dt__run_convert(call, &out, &b);
        return DT_OK;
    }
    a = dt__array_of_arg(call, 0, dtype, &constants[0]);
    b = dt__array_of_arg(call, OTHER, dtype, &constants[1]);
    if (of->dtypes & DT__WRAPS) {
        a = dt__array_wrapped(call, &a, dtype, &constants[0]);
        b = dt__array_wrapped(call, &b, dtype, &constants[1]);
    }
    return dt__run_elements(call, of->op, dtype, &out, &a, &b, NULL);
}

void dt__rows_extremum(const dt_op_call *call, dt_rows *rows, dt_reduce both) {
    for (int i = 0; i < 2; i++)
        if (dt__keeps_order_of(call, (uint64_t)1 << i))
            dt_rows_monotone(rows, i, true);
    if (dt__keeps_order_of(call, 3))
        dt_rows_reduce(rows, 3, both, both);
}

dt_status dt__ternary_run(dt_op_call *call) {
    const dt__element_family *of = call->op->family;
    dt__array out = dt__array_of(&call->outputs[0]), ins[3];
    dt__constant constants[3];
    dt__elementwise request = {.op = of->op, .dtype = out.dtype, .out = &out, .ins = {&ins[0], &ins[1], &ins[2]}};
    for (int i = 0; i < 3; i++)
        ins[i] = dt__array_of_arg(call, i, out.dtype, &constants[i]);
    set_numbers(call, 3, &request);
    return run(call, &request);
}
