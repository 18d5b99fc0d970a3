/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that copy elements, perhaps into another dtype: to, float, copy_, fill_.
 */
#include "dtensor/ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

/* The dtype is an argument, or that of the op. */
static dt_status shape_to(dt_op_call *call) {
    const dt_dtype *dtype = call->op->family;
    return dt__add_like(call, 0, dtype ? *dtype : call->args[1].as.dtype);
}

/* The partials that a conversion of elements keeps: all where the dtypes are equal; sums and products between
 * floating-point dtypes; P(max) and P(min) where the conversion keeps order. */
static unsigned partial_of_conversion(dt_dtype from, dt_dtype to) {
    if (from == to)
        return DT_PARTIAL_ANY;
    if (to == DT_BOOL)
        return DT_PARTIAL_NONE;
    bool floating = dt__is_inexact(from) && dt__is_inexact(to), alike = dt__is_complex(from) == dt__is_complex(to);
    return (floating ? DT_PARTIAL_LINEAR : DT_PARTIAL_NONE) |
           (floating && alike ? DT_PARTIAL_PRODUCT : DT_PARTIAL_NONE) |
           (dt__keeps_order(from, to) ? DT_PARTIAL_UP : DT_PARTIAL_NONE);
}

static unsigned partial_to(const dt_op_call *call) {
    return partial_of_conversion(call->inputs[0].dtype, call->outputs[0].dtype);
}

static dt_status shape_into(dt_op_call *call) {
    dt__shape shape;
    const dt_op_value *self = &call->inputs[0];
    DT__TRY(dt__broadcast(call, UINT64_MAX, &shape));
    bool same = shape.n == self->n_dims;
    for (int d = 0; d < shape.n && same; d++)
        same = shape.sizes[d] == self->shape[d];
    if (!same)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "the second tensor does not broadcast to the first, which it is written to");
    return dt__add_like(call, 0, self->dtype);
}

static dt_status shape_fill(dt_op_call *call) {
    if (call->n_inputs == 2 && call->inputs[1].n_dims != 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the value: expected a tensor without dims, got %d dims",
                            call->inputs[1].n_dims);
    return shape_into(call);
}

static dt_status check_fill(const dt_op_call *call) {
    return call->n_inputs == 1 ? dt__expect_fit(call, &call->args[1], call->inputs[0].dtype) : DT_OK;
}

/* Both tensors have the same reduction; the values of the first do not matter. A value that every rank holds is its
 * own average, max and min. */
static void rows_into(const dt_op_call *call, dt_rows *rows) {
    unsigned partial = partial_of_conversion(call->inputs[1].dtype, call->inputs[0].dtype);
    for (int kind = 0; kind < DT_N_REDUCES; kind++) {
        bool order = kind == DT_MAX || kind == DT_MIN;
        if (partial & DT_PARTIAL_ANY || (partial & DT_PARTIAL_UP && order) ||
            (partial & DT_PARTIAL_PRODUCT && kind == DT_PRODUCT) ||
            (partial & DT_PARTIAL_LINEAR && !order && kind != DT_PRODUCT))
            dt_rows_reduce(rows, 3, (dt_reduce)kind, (dt_reduce)kind);
        else if (kind != DT_SUM && kind != DT_PRODUCT)
            dt_rows_reduce(rows, 1, (dt_reduce)kind, (dt_reduce)kind);
    }
}

/* A number is its own average, max and min. */
static int64_t class_fill(const dt_op_call *call) { return dt__class_of_number(&call->args[1]); }

static void rows_fill(const dt_op_call *call, dt_rows *rows) {
    if (call->n_inputs == 2) {
        rows_into(call, rows);
        return;
    }
    for (int kind = 0; kind < DT_N_REDUCES; kind++)
        if ((kind != DT_SUM || class_fill(call) == DT__NUMBER_ZERO) &&
            (kind != DT_PRODUCT || class_fill(call) == DT__NUMBER_ONE))
            dt_rows_reduce(rows, 1, (dt_reduce)kind, (dt_reduce)kind);
        else /* the kernel checks its coordinate */
            dt_rows_add(rows, DT_ROW_UNLISTED, (dt_row_entry[]){DT_ROW_P(kind), DT_ROW_P(kind)});
}

static dt_status convert(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[call->n_inputs - 1]);
    dt__run_convert(call, &out, &in);
    return DT_OK;
}

/* Of a partial, the first coordinate gets the value, the others the identity of the reduction. */
static dt_status fill(dt_op_call *call) {
    dt__constant constant;
    dt_reduce reduce = DT_SUM;
    dt__array out = dt__array_of(&call->outputs[0]);
    if (call->n_inputs == 2)
        return convert(call);
    dt__array value = dt__array_of_number(&call->args[1], out.dtype, &constant);
    if (out.dtype == DT_BOOL)
        dt__write_f64(DT_BOOL, dt__arg_number(&call->args[1]) != 0, &constant);
    if (call->outputs[0].spec && !dt__holds_value(call->outputs[0].spec, &reduce))
        dt__write_identity(out.dtype, reduce, &constant);
    dt__run_convert(call, &out, &value);
    return DT_OK;
}

const dt_op dt__op_to = {
    .schema = "to.dtype(Tensor(a) self, ScalarType dtype, bool copy=False) -> Tensor(a)",
    .summary = "Converts to another dtype.",
    .rule = "...->...",
    .order = dt__order_of_elements,
    .partial_of = partial_to,
    .shape = shape_to,
    .kernel = convert,
    .gradient = "self: grad",
    .samples =
        "to(f32[5,3]; f64)\nto(f32[5,3]; i64)\nto(f32[5]; f32)\nto(i64[5]; i32)\nto(u8[5]; i16)\nto(i32[5]; bool)\n"
        "to(f32[5]; bool)\n"
        "to(c64[5]; f32)\n"
        "to(f32[5]; c64)\n"
        "to(f64[5]; f16)\n"
        "to(bool[5]; i32)\n"
        "to(i32[5]; f32)",
};
/* name(Tensor self) -> Tensor */
#define CONVERSION(name, dtype_, from)                                                                               \
    .schema = name "(Tensor self) -> Tensor", .rule = "...->...", .partial_of = partial_to, .shape = shape_to,       \
    .order = dt__order_of_elements, .kernel = convert, .gradient = "self: grad",                                     \
    .family = &(const dt_dtype){dtype_}, .samples = name "(" from "[5,3])"

/* clang-format off */
const dt_op dt__op_bfloat16 = {CONVERSION("bfloat16", DT_BF16, "f16"),
    .summary = "Converts to bf16."};
const dt_op dt__op_bool = {CONVERSION("bool", DT_BOOL, "f32"),
    .summary = "Converts to booleans: whether elements are not 0."};
const dt_op dt__op_byte = {CONVERSION("byte", DT_U8, "i32"),
    .summary = "Converts to u8."};
const dt_op dt__op_cdouble = {CONVERSION("cdouble", DT_C128, "f32"),
    .summary = "Converts to c128."};
const dt_op dt__op_cfloat = {CONVERSION("cfloat", DT_C64, "f16"),
    .summary = "Converts to c64."};
const dt_op dt__op_char = {CONVERSION("char", DT_I8, "i32"),
    .summary = "Converts to i8."};
const dt_op dt__op_double = {CONVERSION("double", DT_F64, "f32"),
    .summary = "Converts to f64."};
const dt_op dt__op_float = {CONVERSION("float", DT_F32, "f16"),
    .summary = "Converts to f32."};
const dt_op dt__op_half = {CONVERSION("half", DT_F16, "bf16"),
    .summary = "Converts to f16."};
const dt_op dt__op_int = {CONVERSION("int", DT_I32, "f32"),
    .summary = "Converts to i32."};
const dt_op dt__op_long = {CONVERSION("long", DT_I64, "f32"),
    .summary = "Converts to i64."};
const dt_op dt__op_short = {CONVERSION("short", DT_I16, "i32"),
    .summary = "Converts to i16."};
/* clang-format on */

static dt_status shape_type_as(dt_op_call *call) { return dt__add_like(call, 0, call->inputs[1].dtype); }
static dt_status decompose_type_as(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = dt_to(inputs[0], call->inputs[1].dtype);
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}
const dt_op dt__op_type_as = {
    .schema = "type_as(Tensor(a) self, Tensor other) -> Tensor(a)",
    .summary = "Converts to the dtype of another tensor.",
    .shape = shape_type_as,
    .decompose = decompose_type_as,
    .samples = "type_as(f32[5,3]; f64[2])",
};

const dt_op dt__op_copy_ = {
    .schema = "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    .summary = "Copies a tensor into this one, which keeps its mesh, placements and dtype.",
    .rule = "...,...->...",
    .rows = rows_into,
    .shape = shape_into,
    .kernel = convert,
    .gradient = "src: grad; self: none",
    .samples = "copy_(f32[5,3]; f32[5,3])\ncopy_(f32[5,3]; f32[3])\ncopy_(i32[5]; f32[5])\n"
               "copy_(f32[5]; i32[5])\n"
               "copy_(bool[5]; f32[5])\n"
               "copy_(f64[5]; f32[5])",
    .flags = DT__OP_ALIGN | DT_OP_AS_STORED,
    .unused = "non_blocking",
};
const dt_op dt__op_fill_ = {
    .schema = "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!) | "
              "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)",
    .summary = "Sets every element to a number, or to the value of a tensor without dims.",
    .rule = "...,...->...",
    .rows = rows_fill,
    .varying = "value",
    .class_of = class_fill,
    .check = check_fill,
    .shape = shape_fill,
    .kernel = fill,
    .gradient = "value: grad; self: none",
    .samples = "fill_(f32[5,3]; 2.5)\nfill_(f32[5,3]; f32[])\n"
               "fill_(f32[5]; 0)\n"
               "fill_(f32[5]; 1)\n"
               "fill_(i32[5]; 3)\n"
               "fill_(i32[5]; f32[])",
};

static dt_status shape_zero(dt_op_call *call) { return dt__add_like(call, 0, call->inputs[0].dtype); }

static dt_status zero_fill(dt_op_call *call) {
    dt__constant constant;
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__array zero = dt__array_of_number(&(dt_arg){.type = DT_ARG_INT}, out.dtype, &constant);
    dt__run_convert(call, &out, &zero);
    return DT_OK;
}

const dt_op dt__op_zero_ = {
    .schema = "zero_(Tensor(a!) self) -> Tensor(a!)",
    .summary = "Sets every element to 0.",
    .rule = "...->...",
    .order = dt__order_of_elements,
    .partial = DT_PARTIAL_ANY,
    .shape = shape_zero,
    .kernel = zero_fill,
    .gradient = "self: none",
    .samples = "zero_(f32[5,3])",
};

/* Zeros that are placed as the tensor is, plus the value. */
static dt_status decompose_fill(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_arg *value = &call->args[1];
    if (call->n_inputs == 2) {
        dt_tensor *zeros = dt_zeros_like(inputs[0]), *converted = dt_to(inputs[1], call->inputs[0].dtype);
        outputs[0] = zeros && converted ? dt_add(zeros, converted) : NULL;
    } else if (value->type == DT_ARG_FLOAT)
        outputs[0] = dt_full_like(inputs[0], value->as.f);
    else
        outputs[0] = dt_full_like(inputs[0], value->type == DT_ARG_BOOL ? value->as.b : value->as.i);
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

static dt_status shape_filled(dt_op_call *call) {
    if (call->args[1].type == DT_ARG_COMPLEX)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "value: expected a real number, got a complex one");
    return shape_fill(call);
}

const dt_op dt__op_fill = {
    .schema = "fill.Scalar(Tensor self, Scalar value) -> Tensor | fill.Tensor(Tensor self, Tensor value) -> Tensor",
    .summary = "A tensor like another, filled with a number or with the value of a tensor without dims.",
    .shape = shape_filled,
    .decompose = decompose_fill,
    .gradient = "self: zeros_like(grad); value: grad",
    .samples = "fill(f32[5,3]; 2.5)\nfill(f32[5]; f32[])\nfill(i32[5]; 3)",
};
