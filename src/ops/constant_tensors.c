/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors of one value: empty, full, zeros, ones, and their _like forms with the shape and the placements of another
 * tensor, whose elements are not read. In a partial result, coordinate 0 holds the value and the others the identity of
 * the reduction.
 */
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>

static const dt_arg zero = {.type = DT_ARG_INT, .as.i = 0}, one = {.type = DT_ARG_INT, .as.i = 1};

/* As dt__expect_fit, but no negative number becomes an unsigned one. */
static dt_status expect_range(const dt_op_call *call, const dt_arg *value, dt_dtype dtype) {
    int64_t min, max;
    if (!dt__is_integer(dtype))
        return DT_OK;
    dt__integer_limits(dtype, &min, &max);
    if (value->type == DT_ARG_INT ? value->as.i >= min && value->as.i <= max
                                  : dt__is_within(dt__arg_number(value), min, max))
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_VALUE, "%.17g does not fit %s: expected a number from %" PRId64 " to %" PRId64,
                        dt__arg_number(value), dt_dtype_name(dtype), min, max);
}

static dt_dtype dtype_like(const dt_op_call *call) {
    return dt__arg_dtype(&call->args[call->n_args - 1], call->inputs[0].dtype);
}

static dt_status shape_like(dt_op_call *call) { return dt__add_like(call, 0, dtype_like(call)); }

static dt_status check_full_like(const dt_op_call *call) {
    return expect_range(call, &call->args[1], dtype_like(call));
}

static int64_t class_full_like(const dt_op_call *call) { return dt__class_of_number(&call->args[1]); }

/* Whether ranks that all hold the value hold its reduction. */
static bool is_own_reduction(dt__number_class value, int kind) {
    return kind == DT_SUM ? value == DT__NUMBER_ZERO
                          : kind != DT_PRODUCT || value == DT__NUMBER_ZERO || value == DT__NUMBER_ONE;
}

/* A partial tensor yields a partial one. Because no element is read, any other partial is correct too; where ranks that
 * all hold the value do not hold its reduction, the kernel checks its coordinate. */
static void rows_of_value(dt_rows *rows, dt__number_class value) {
    for (int from = 0; from < DT_N_REDUCES; from++) {
        unsigned flags[DT_N_REDUCES];
        for (int to = 0; to < DT_N_REDUCES; to++)
            flags[to] = is_own_reduction(value, to) ? 0 : DT_ROW_UNLISTED;
        dt_rows_add(rows, flags[from], (dt_row_entry[]){DT_ROW_P(from), DT_ROW_P(from)});
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_P(from), DT_ROW_R});
        for (int to = 0; to < DT_N_REDUCES; to++)
            dt_rows_add(rows, flags[to], (dt_row_entry[]){DT_ROW_P(from), DT_ROW_P(to)});
    }
}

static void rows_full_like(const dt_op_call *call, dt_rows *rows) {
    rows_of_value(rows, dt__class_of_number(&call->args[1]));
}
static void rows_zeros_like(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    rows_of_value(rows, DT__NUMBER_ZERO);
}
static void rows_ones_like(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    rows_of_value(rows, DT__NUMBER_ONE);
}
static void rows_empty_like(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    for (int kind = 0; kind < DT_N_REDUCES; kind++) {
        dt_rows_add(rows, DT_ROW_UNLISTED, (dt_row_entry[]){DT_ROW_P(kind), DT_ROW_P(kind)});
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_P(kind), DT_ROW_R});
    }
}

/* Fills the output, which is dense, with the identity of a reduction where this rank does not hold the value. */
static bool holds_value(dt_op_call *call) {
    const dt_op_value *out = &call->outputs[0];
    unsigned char element[16];
    dt_reduce reduce = DT_SUM;
    if (!out->spec || dt__holds_value(out->spec, &reduce))
        return true;
    dt__write_identity(out->dtype, reduce, element);
    dt__run_fill(call, element);
    return false;
}

static dt_status fill_with(dt_op_call *call, const dt_arg *value) {
    dt__constant constant;
    dt_dtype dtype = call->outputs[0].dtype;
    if (!holds_value(call))
        return DT_OK;
    dt__array element = dt__array_of_number(value, dtype, &constant);
    if (dtype == DT_BOOL)
        dt__write_f64(DT_BOOL, dt__arg_number(value) != 0, &constant);
    dt__run_fill(call, element.data);
    return DT_OK;
}

static dt_status fill_number(dt_op_call *call) { return fill_with(call, &call->args[1]); }
static dt_status fill_zeros(dt_op_call *call) { return fill_with(call, &zero); }
static dt_status fill_ones(dt_op_call *call) { return fill_with(call, &one); }

/* Leaves the values as they are. */
static dt_status empty_like(dt_op_call *call) {
    (void)holds_value(call);
    return DT_OK;
}

/* The dtype of a number. */
static dt_dtype dtype_of_number(const dt_arg *value) {
    return value->type == DT_ARG_COMPLEX ? DT_C64
           : value->type == DT_ARG_FLOAT ? DT_F32
           : value->type == DT_ARG_BOOL  ? DT_BOOL
                                         : DT_I64;
}

static dt_status add_sized(dt_op_call *call, dt_dtype dtype) {
    const dt_arg *size = &call->args[0];
    return dt__add_made(call, dtype, size->n, size->as.ints);
}

static dt_status shape_size(dt_op_call *call) { return add_sized(call, dt__arg_dtype(&call->args[1], DT_F32)); }

static dt_dtype dtype_of_full(const dt_op_call *call) {
    return dt__arg_dtype(&call->args[2], dtype_of_number(&call->args[1]));
}

static dt_status shape_full(dt_op_call *call) { return add_sized(call, dtype_of_full(call)); }
static dt_status check_full(const dt_op_call *call) {
    return expect_range(call, &call->args[1], dtype_of_full(call));
}

static dt_status leave_empty(dt_op_call *call) {
    (void)call;
    return DT_OK;
}

const dt_op dt__op_empty = {
    .schema = "empty.memory_format(int[] size, *, ScalarType? dtype=None) -> Tensor",
    .summary = "An uninitialized tensor.",
    .shape = shape_size,
    .kernel = leave_empty,
    .samples = "empty([0,3])", /* without elements: they have no values */
    .flags = DT_OP_MAKER,
};
const dt_op dt__op_full = {
    .schema = "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor",
    .summary = "A tensor filled with a number.",
    .varying = "fill_value",
    .check = check_full,
    .shape = shape_full,
    .kernel = fill_number,
    .samples = "full([5,3]; 2.5)\nfull([4]; 7)\nfull([2,3]; true)\nfull([]; 3; dtype=f64)",
    .flags = DT_OP_MAKER,
};
const dt_op dt__op_zeros = {
    .schema = "zeros(int[] size, *, ScalarType? dtype=None) -> Tensor",
    .summary = "A tensor of zeros.",
    .shape = shape_size,
    .kernel = fill_zeros,
    .samples = "zeros([5,3])\nzeros([2,0]; dtype=i64)",
    .flags = DT_OP_MAKER,
};
const dt_op dt__op_ones = {
    .schema = "ones(int[] size, *, ScalarType? dtype=None) -> Tensor",
    .summary = "A tensor of ones.",
    .shape = shape_size,
    .kernel = fill_ones,
    .samples = "ones([5,3])\nones([])\nones([4]; dtype=bool)",
    .flags = DT_OP_MAKER,
};
const dt_op dt__op_empty_like = {
    .schema = "empty_like(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    .summary = "An uninitialized tensor with the shape, dtype and placements of another.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_empty_like,
    .shape = shape_like,
    .kernel = empty_like,
    .samples = "empty_like(f32[0,3])\nempty_like(f32[0,3]; dtype=i64)", /* without elements: they have no values */
    .flags = DT_OP_NOT_DIFFERENTIABLE | DT_OP_AS_STORED,
};
const dt_op dt__op_full_like = {
    .schema = "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor",
    .summary = "A tensor with the shape, dtype and placements of another, filled with a number.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_full_like,
    .varying = "fill_value",
    .class_of = class_full_like,
    .check = check_full_like,
    .shape = shape_like,
    .kernel = fill_number,
    .samples = "full_like(f32[5,3]; 2.5)\nfull_like(f32[5]; 1)\nfull_like(i32[5]; -3)\n"
               "full_like(f32[5,3]; 7; dtype=i64)\nfull_like(bool[5]; 2.5)\nfull_like(f32[]; 2)",
    .flags = DT_OP_NOT_DIFFERENTIABLE | DT_OP_AS_STORED,
};
const dt_op dt__op_zeros_like = {
    .schema = "zeros_like(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Zeros with the shape, dtype and placements of another tensor.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_zeros_like,
    .shape = shape_like,
    .kernel = fill_zeros,
    .samples = "zeros_like(f32[5,3])\nzeros_like(f32[5,3]; dtype=i64)",
    .flags = DT_OP_NOT_DIFFERENTIABLE | DT_OP_AS_STORED,
};
const dt_op dt__op_ones_like = {
    .schema = "ones_like(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Ones with the shape, dtype and placements of another tensor.",
    .rule = "... -> ...",
    .order = dt__order_of_elements,
    .rows = rows_ones_like,
    .shape = shape_like,
    .kernel = fill_ones,
    .samples = "ones_like(f32[5,3])\nones_like(f32[5,3]; dtype=i64)\nones_like(bool[4])",
    .flags = DT_OP_NOT_DIFFERENTIABLE | DT_OP_AS_STORED,
};
