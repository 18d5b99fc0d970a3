/* SPDX-License-Identifier: Apache-2.0
 *
 * The elementwise ops. One list generates the enum and the properties that the driver needs; op_loops.h has the loops.
 *
 * The semantics are PyTorch's: maximum, minimum, relu and clamp propagate NaN; the sign of NaN is 0; integers wrap;
 * floor_divide and remainder round toward minus infinity, and an integer divided by 0 is 0; a negative power of an
 * integer is 1 / power, truncated; round breaks ties to even; comparisons, logic and isnan return bool; logic treats
 * every nonzero value as true.
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
    X(TRUNC_DIVIDE, 2, 0, false)                                                                                     \
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
    X(CLAMP, 1, 0, false)          /* between numbers[0] and numbers[1] */                                           \
    X(WHERE, 3, 1, false)          /* a ? b : c */                                                                   \
    X(THRESHOLD, 2, 0, false)      /* b <= numbers[0] ? 0 : a; the gradient of relu */                               \
    X(AFFINE, 1, 0, false)         /* a * numbers[0] + numbers[1] */                                                 \
    X(SHIFTED, 1, 0, false)        /* (a - numbers[0]) - numbers[1] */                                               \
    X(EXP_SHIFTED, 1, 0, false)    /* exp(a - numbers[0]); of f32 infinite from a difference of 72 on */             \
    X(EXP_SCALED, 1, 0, false)     /* that times numbers[1] */                                                       \
    X(MUL_SHIFTED, 2, 0, false)    /* a * (b - numbers[0]) */                                                        \
    X(MUL_DIFFERENCE, 3, 0, false) /* a * (b - c) */                                                                 \
    X(NORMALIZE, 3, 0, false)      /* (a - numbers[0]) * numbers[1] * b + c */                                       \
    X(DROPOUT, 2, 1, false)        /* a ? b * numbers[0] : 0 */                                                      \
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
    X(GELU_GRAD, 2, 0, false)    /* a * gelu'(b) */                                                                  \
    X(TANH_GRAD, 2, 0, false)    /* a * (1 - b * b) */                                                               \
    X(SIGMOID_GRAD, 2, 0, false) /* a * ((1 - b) * b) */                                                             \
    X(SILU_GRAD, 2, 0, false)    /* a * silu'(b) */                                                                  \
    X(GELU_TANH_GRAD, 2, 0, false)                                                                                   \
    X(SIN, 1, 0, false)                                                                                              \
    X(COS, 1, 0, false)                                                                                              \
    X(FLOOR, 1, 0, false)                                                                                            \
    X(CEIL, 1, 0, false)                                                                                             \
    X(ROUND, 1, 0, false)                                                                                            \
    X(TRUNC, 1, 0, false)                                                                                            \
    X(ACOS, 1, 0, false)                                                                                             \
    X(ASIN, 1, 0, false)                                                                                             \
    X(ATAN, 1, 0, false)                                                                                             \
    X(COSH, 1, 0, false)                                                                                             \
    X(SINH, 1, 0, false)                                                                                             \
    X(TAN, 1, 0, false)                                                                                              \
    X(ERFC, 1, 0, false)                                                                                             \
    X(EXP2, 1, 0, false)                                                                                             \
    X(EXPM1, 1, 0, false)                                                                                            \
    X(LOG10, 1, 0, false)                                                                                            \
    X(LOG1P, 1, 0, false)                                                                                            \
    X(LOG2, 1, 0, false)                                                                                             \
    X(FRAC, 1, 0, false)                                                                                             \
    X(SOFTSIGN, 1, 0, false)                                                                                         \
    X(TANHSHRINK, 1, 0, false)                                                                                       \
    X(MISH, 1, 0, false)                                                                                             \
    X(HARDSIGMOID, 1, 0, false)                                                                                      \
    X(HARDSWISH, 1, 0, false)                                                                                        \
    X(BITWISE_NOT, 1, 0, false)                                                                                      \
    X(SOFTPLUS, 1, 0, false)      /* log(1 + exp(a numbers[0])) / numbers[0]; a if a numbers[0] > numbers[1] */      \
    X(ELU, 1, 0, false)           /* a > 0 ? a numbers[1] : numbers[0] (exp(a) - 1) */                               \
    X(CELU, 1, 0, false)          /* a > 0 ? a : numbers[0] (exp(a / numbers[0]) - 1) */                             \
    X(LEAKY_RELU, 1, 0, false)    /* a > 0 ? a : a numbers[0] */                                                     \
    X(HARDSHRINK, 1, 0, false)    /* 0 where |a| <= numbers[0] */                                                    \
    X(SOFTSHRINK, 1, 0, false)    /* a moved by numbers[0] toward 0 */                                               \
    X(REPLACE_UP_TO, 1, 0, false) /* a <= numbers[0] ? numbers[1] : a */                                             \
    X(NAN_TO_NUM, 1, 0, false)    /* numbers for NaN, infinity and minus infinity */                                 \
    X(ATAN2, 2, 0, false)                                                                                            \
    X(FMAX, 2, 0, false)                                                                                             \
    X(FMIN, 2, 0, false)                                                                                             \
    X(FMOD, 2, 0, false)                                                                                             \
    X(LOGADDEXP, 2, 0, false)                                                                                        \
    X(XLOGY, 2, 0, false)                                                                                            \
    X(PRELU, 2, 0, false)                                                                                            \
    X(BITWISE_AND, 2, 0, false)                                                                                      \
    X(BITWISE_OR, 2, 0, false)                                                                                       \
    X(BITWISE_XOR, 2, 0, false)                                                                                      \
    X(ADDCMUL, 3, 0, false) /* a + numbers[0] b c */                                                                 \
    X(ADDCDIV, 3, 0, false) /* a + numbers[0] b / c */                                                               \
    X(LERP, 3, 0, false)    /* a + c (b - a) */                                                                      \
    X(ISFINITE, 1, 0, true)                                                                                          \
    X(ISINF, 1, 0, true)                                                                                             \
    X(ISNAN, 1, 0, true)

typedef enum dt__element_op {
#define DT__EL_ENUM(name, n_ins, bool_ins, is_bool) DT__EL_##name,
    DT__ELEMENT_LIST(DT__EL_ENUM)
#undef DT__EL_ENUM
        DT__N_ELEMENT_OPS
} dt__element_op;

#endif
