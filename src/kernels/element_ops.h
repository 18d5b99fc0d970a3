/* SPDX-License-Identifier: Apache-2.0
 *
 * The elementwise ops. One list generates the enum and the properties that the driver needs; op_loops.h has the loops.
 *
 * The semantics are PyTorch's: maximum, minimum, relu and clamp propagate NaN; the sign of NaN is 0; integers wrap;
 * floor_divide and remainder round toward minus infinity, and an integer divided by 0 is 0; a negative power of an
 * integer is 1 / power, truncated; round breaks ties to even; comparisons, logic and isnan return bool; logic treats
 * every nonzero value as true.
 *
 * Not yet used by any op of the library, but needed for training: POW NE LE GT GE XOR NOT ABS SIGN SQUARE CLAMP
 * THRESHOLD DROPOUT RSQRT RECIPROCAL SIGMOID SILU ERF GELU_GRAD GELU_TANH_GRAD SIN COS FLOOR CEIL ROUND ISNAN.
 */
#ifndef DT_KERNELS_ELEMENT_OPS_H
#define DT_KERNELS_ELEMENT_OPS_H

#include "dtensor/base.h"

/* X(name, number of inputs, bit set of the inputs that are bool, whether the result is bool). */
#define DT__ELEMENT_LIST(X)                                                                                          \
    X(ADD, 2, 0, false)                                                                                              \
    X(SUB, 2, 0, false)                                                                                              \
    X(ADD_SCALED, 2, 0, false) /* a + numbers[0] * b */                                                              \
    X(MUL, 2, 0, false)                                                                                              \
    X(DIV, 2, 0, false) /* no integers: true division converts them to floats */                                     \
    X(FLOOR_DIVIDE, 2, 0, false)                                                                                     \
    X(REMAINDER, 2, 0, false)                                                                                        \
    X(MAXIMUM, 2, 0, false)                                                                                          \
    X(MINIMUM, 2, 0, false)                                                                                          \
    X(POW, 2, 0, false)                                                                                              \
    X(EQ, 2, 0, true)                                                                                                \
    X(NE, 2, 0, true)                                                                                                \
    X(LT, 2, 0, true)                                                                                                \
    X(LE, 2, 0, true)                                                                                                \
    X(GT, 2, 0, true)                                                                                                \
    X(GE, 2, 0, true)                                                                                                \
    X(AND, 2, 3, true)                                                                                               \
    X(OR, 2, 3, true)                                                                                                \
    X(XOR, 2, 3, true)                                                                                               \
    X(NOT, 1, 1, true)                                                                                               \
    X(NEG, 1, 0, false)                                                                                              \
    X(ABS, 1, 0, false) /* of a complex number: complex, with no imaginary part */                                   \
    X(SIGN, 1, 0, false)                                                                                             \
    X(SQUARE, 1, 0, false)                                                                                           \
    X(RELU, 1, 0, false)                                                                                             \
    X(CLAMP, 1, 0, false)       /* between numbers[0] and numbers[1] */                                              \
    X(WHERE, 3, 1, false)       /* a ? b : c */                                                                      \
    X(THRESHOLD, 2, 0, false)   /* b <= numbers[0] ? 0 : a; the gradient of relu */                                  \
    X(AFFINE, 1, 0, false)      /* a * numbers[0] + numbers[1] */                                                    \
    X(SHIFTED, 1, 0, false)     /* (a - numbers[0]) - numbers[1] */                                                  \
    X(EXP_SHIFTED, 1, 0, false) /* exp(a - numbers[0]) */                                                            \
    X(MUL_SHIFTED, 2, 0, false) /* a * (b - numbers[0]) */                                                           \
    X(NORMALISE, 3, 0, false)   /* (a - numbers[0]) * numbers[1] * b + c */                                          \
    X(DROPOUT, 2, 1, false)     /* a ? b * numbers[0] : 0 */                                                         \
    X(EXP_DIFFERENCE, 2, 0, false)                                                                                   \
    X(SQUARED_DIFFERENCE, 2, 0, false)                                                                               \
    X(NAN_TO_ZERO, 1, 0, false)                                                                                      \
    X(POW_ABS, 1, 0, false) /* |a|^numbers[0] */                                                                     \
    X(EXP, 1, 0, false)                                                                                              \
    X(LOG, 1, 0, false)                                                                                              \
    X(SQRT, 1, 0, false)                                                                                             \
    X(RSQRT, 1, 0, false)                                                                                            \
    X(RECIPROCAL, 1, 0, false)                                                                                       \
    X(TANH, 1, 0, false)                                                                                             \
    X(SIGMOID, 1, 0, false)                                                                                          \
    X(SILU, 1, 0, false)                                                                                             \
    X(ERF, 1, 0, false)                                                                                              \
    X(GELU, 1, 0, false)                                                                                             \
    X(GELU_TANH, 1, 0, false)                                                                                        \
    X(GELU_GRAD, 2, 0, false) /* a * gelu'(b) */                                                                     \
    X(GELU_TANH_GRAD, 2, 0, false)                                                                                   \
    X(SIN, 1, 0, false)                                                                                              \
    X(COS, 1, 0, false)                                                                                              \
    X(FLOOR, 1, 0, false)                                                                                            \
    X(CEIL, 1, 0, false)                                                                                             \
    X(ROUND, 1, 0, false)                                                                                            \
    X(TRUNC, 1, 0, false)                                                                                            \
    X(ISNAN, 1, 0, true)

typedef enum dt__element_op {
#define DT__EL_ENUM(name, n_ins, bool_ins, is_bool) DT__EL_##name,
    DT__ELEMENT_LIST(DT__EL_ENUM)
#undef DT__EL_ENUM
        DT__N_ELEMENT_OPS
} dt__element_op;

#endif
