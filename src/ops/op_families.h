/* SPDX-License-Identifier: Apache-2.0
 *
 * Families of ops that differ in a line. A macro has the fields of a descriptor that the members of a family share; the
 * rest (summary, partials, samples of their own) is next to it:
 *
 *     const dt_op dt__op_exp = {DT__UNARY("exp", EXP, DT__TO_FLOATING),
 *                               .summary = "The exponential of every element.", .partial = DT_PARTIAL_UP};
 */
#ifndef DT_OPS_OP_FAMILIES_H
#define DT_OPS_OP_FAMILIES_H

#include "ops/kernel_support.h"

/* The dtypes that an elementwise op accepts, and that of its result. */
enum {
    DT__NO_BOOL = 1 << 0,
    DT__NO_COMPLEX = 1 << 1,
    DT__TO_FLOATING = 1 << 2, /* integers become floating point */
    DT__TO_BOOL = 1 << 3,     /* the result is bool */
    DT__TO_REAL = 1 << 4,     /* complex numbers become real */
    DT__ONLY_INTEGERS = 1 << 5,
    DT__ONLY_FLOATING = 1 << 6,
    DT__INTEGERS_AS_THEY_ARE = 1 << 7, /* integers are copied */
    DT__BOOL_TO_I64 = 1 << 8,
    DT__WRAPS = 1 << 9, /* an integer without dims is converted to the dtype of the result first */
    DT__REAL_NUMBERS = DT__NO_BOOL | DT__NO_COMPLEX,
    DT__FLOATS = DT__ONLY_FLOATING | DT__NO_COMPLEX,
    DT__REALS_TO_FLOATING = DT__TO_FLOATING | DT__NO_COMPLEX,
    DT__ROUNDED = DT__REAL_NUMBERS | DT__INTEGERS_AS_THEY_ARE,
};

typedef struct dt__element_family {
    dt__element_op op;
    unsigned dtypes;   /* DT__NO_BOOL … */
    double numbers[3]; /* parameters of the loop that are not arguments */
} dt__element_family;

/* The outputs and the kernels of family members: inputs are broadcast and promoted; an operand of a binary op may be a
 * number. The arguments of a unary op after its tensor are the parameters of its loop; those of a ternary op after
 * its three tensors. */
dt_status dt__family_shape(dt_op_call *call);
dt_status dt__unary_run(dt_op_call *call);
dt_status dt__binary_run(dt_op_call *call);
dt_status dt__ternary_run(dt_op_call *call);

/* The rows of maximum (both = DT_MAX) and minimum (DT_MIN): an operand alone keeps both orders, two together one. */
void dt__rows_extremum(const dt_op_call *call, dt_rows *rows, dt_reduce both);

#define DT__FAMILY(run, op_, ...)                                                                                    \
    .order = dt__order_of_elements, .shape = dt__family_shape, .kernel = run,                                        \
    .family = &(const dt__element_family) {                                                                          \
        .op = DT__EL_##op_, .dtypes = __VA_ARGS__                                                                    \
    }

/* name(Tensor self) -> Tensor; after the dtypes, the parameters of the loop `.numbers = {…}`. */
#define DT__UNARY(name, op_, ...) DT__UNARY_OF(name, "self", op_, __VA_ARGS__)
/* An op with another name of the argument, and perhaps more arguments after it. */
#define DT__UNARY_OF(name, arguments_, op_, ...)                                                                     \
    .schema = name "(Tensor " arguments_ ") -> Tensor", .rule = "... -> ...",                                        \
    DT__FAMILY(dt__unary_run, op_, __VA_ARGS__), .samples = name "(f32[5,3])\n" name "(f64[])\n" name "(f32[0,3])"
/* name(Tensor self) -> Tensor of bool */
#define DT__PREDICATE(name, op_, dtypes_)                                                                            \
    DT__UNARY(name, op_, DT__TO_BOOL | (dtypes_)), .flags = DT_OP_NOT_DIFFERENTIABLE

/* name(Tensor self, Tensor other) -> Tensor */
#define DT__BINARY(name, op_, ...)                                                                                   \
    .schema = name "(Tensor self, Tensor other) -> Tensor", .rule = "..., ... -> ...",                               \
    DT__FAMILY(dt__binary_run, op_, __VA_ARGS__), .samples = name "(f32[5,3]; f32[5,3])\n" name "(f32[5,3]; f32[3])"

/* The schema of a binary op whose second operand, or both, may be a number. */
#define DT__OR_NUMBER(name)                                                                                          \
    name ".Tensor(Tensor self, Tensor other) -> Tensor | " name ".Scalar(Tensor self, Scalar other) -> Tensor"
#define DT__OR_NUMBERS(name) DT__OR_NUMBER(name) " | " name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor"

/* name(Tensor self, Tensor or Scalar other) -> Tensor of bool */
#define DT__COMPARISON(name, op_, dtypes_)                                                                           \
    .schema = DT__OR_NUMBER(name), .rule = "..., ... -> ...", .varying = "other",                                    \
    DT__FAMILY(dt__binary_run, op_, DT__TO_BOOL | (dtypes_)), .flags = DT_OP_NOT_DIFFERENTIABLE,                     \
    .samples = name "(f32[5,3]; f32[5,3])\n" name "(i64[5]; 3)\n" name "(i64[5]; f32[5])"

#endif
