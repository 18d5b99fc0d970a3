/* SPDX-License-Identifier: Apache-2.0
 *
 * In-place forms of elementwise ops, a line each; those that are used most are next to their ops.
 */
#include "ops/ops.h"

#define TWIN(name, samples_)                                                                                         \
    const dt_op dt__op_##name##_ = {.in_place_of = &dt__op_##name, .samples = #name "_" samples_};
/* The result depends on no values, but what it overwrites has a gradient, which ends here. */
#define ENDS_GRADIENT(name, gradient_, samples_)                                                                     \
    const dt_op dt__op_##name##_ = {                                                                                 \
        .in_place_of = &dt__op_##name, .gradient = gradient_, .samples = #name "_" samples_};
#define COMPARISON(name) ENDS_GRADIENT(name, "self: zeros_like(grad); other: none", "(f32[5,3]; f32[3])")
#define UNARY(name)      TWIN(name, "(f32[5,3])")
#define BINARY(name)     TWIN(name, "(f32[5,3]; f32[3])")
#define BITS(name)       TWIN(name, "(i32[5,3]; i32[3])")

/* clang-format off */
UNARY(acos)
UNARY(asin)
UNARY(atan)
UNARY(ceil)
UNARY(celu)
UNARY(cos)
UNARY(cosh)
UNARY(elu)
UNARY(erf)
UNARY(erfc)
UNARY(exp2)
UNARY(expm1)
UNARY(floor)
UNARY(frac)
UNARY(hardsigmoid)
UNARY(hardswish)
UNARY(hardtanh)
UNARY(leaky_relu)
UNARY(log)
UNARY(log10)
UNARY(log1p)
UNARY(log2)
ENDS_GRADIENT(logical_not, "self: zeros_like(grad)", "(f32[5,3])")
UNARY(mish)
UNARY(nan_to_num)
UNARY(relu6)
UNARY(round)
UNARY(selu)
UNARY(sign)
UNARY(silu)
UNARY(sin)
UNARY(sinh)
UNARY(square)
UNARY(tan)
UNARY(trunc)
BINARY(atan2)
COMPARISON(eq)
BINARY(floor_divide)
BINARY(fmod)
COMPARISON(ge)
COMPARISON(gt)
COMPARISON(le)
COMPARISON(logical_and)
COMPARISON(logical_or)
COMPARISON(logical_xor)
COMPARISON(lt)
COMPARISON(ne)
BINARY(xlogy)
BITS(bitwise_and)
BITS(bitwise_or)
BITS(bitwise_xor)
TWIN(bitwise_not, "(i32[5,3])")
TWIN(clamp_max, "(f32[5,3]; f32[3])")
TWIN(clamp_min, "(f32[5,3]; 0.5)")
TWIN(cumsum, "(f32[5,3]; 0)")
TWIN(threshold, "(f32[5,3]; 0.5; -1.0)")
/* clang-format on */
