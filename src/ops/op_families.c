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
    return DT_OK;
}

/* The dtype to compute in: that of the operands, or a floating-point one. */
static dt_dtype computed_in(const dt_op_call *call, unsigned dtypes) {
    int n_operands = call->n_args < 2 ? call->n_args : 2;
    dt_dtype dtype = call->n_inputs == 1 && n_operands == 1 ? call->inputs[0].dtype
                                                            : dt__promote_call(call, UINT64_MAX, n_operands);
    return dtypes & DT__TO_FLOATING ? dt__promote_to_inexact(dtype) : dtype;
}

dt_status dt__family_shape(dt_op_call *call) {
    const dt__element_family *of = call->op->family;
    DT__TRY(check_dtypes(call, of->dtypes));
    return dt__add_broadcast(call, of->dtypes & DT__TO_BOOL ? DT_BOOL : computed_in(call, of->dtypes));
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

dt_status dt__unary_run(dt_op_call *call) {
    const dt__element_family *of = call->op->family;
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    dt_dtype dtype = of->dtypes & DT__TO_BOOL ? in.dtype : out.dtype;
    return dt__run_elements(call, of->op, dtype, &out, &in, NULL, NULL);
}

dt_status dt__binary_run(dt_op_call *call) {
    const dt__element_family *of = call->op->family;
    dt_dtype dtype = computed_in(call, of->dtypes);
    dt__array out = dt__array_of(&call->outputs[0]), a = dt__array_of(&call->inputs[0]), b;
    dt__constant constant;
    const dt_arg *other = &call->args[OTHER];
    if (of->dtypes & DT__TO_BOOL && is_beyond(other, dtype)) {
        dt_arg result = {.type = DT_ARG_INT, .as.i = compare_beyond(of->op, other->as.i > 0)};
        b = dt__array_of_number(&result, DT_BOOL, &constant);
        dt__run_convert(call, &out, &b);
        return DT_OK;
    }
    b = dt__array_of_arg(call, OTHER, dtype, &constant);
    return dt__run_elements(call, of->op, dtype, &out, &a, &b, NULL);
}
