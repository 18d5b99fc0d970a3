/* SPDX-License-Identifier: Apache-2.0
 *
 * One loop per op and dtype, for the instruction set of the including file. One list has the expression of one element
 * for each pair; it is expanded twice, for the functions and for the table. f16, bf16 and narrow integers have no
 * loops: elementwise.c converts them.
 */
#ifndef DT_KERNELS_OP_LOOPS_H
#define DT_KERNELS_OP_LOOPS_H

#include "kernels/complex_loops.h"
#include "kernels/element_ops.h"
#include "kernels/elementary.h"
#include "kernels/lanes.h"
#include "kernels/loops.h"

/* The function for the type of x. */
#define REAL(f, x)        _Generic((x), float : f##_f32, double : f##_f64)(x)
#define COMPLEX(f, x)     _Generic((x), dt__c64 : f##_c64, dt__c128 : f##_c128)(x)
#define COMPLEX2(f, x, y) _Generic((x), dt__c64 : f##_c64, dt__c128 : f##_c128)(x, y)

DT__INLINE float sqrt_f32(float x) { return sqrtf(x); }
DT__INLINE double sqrt_f64(double x) { return sqrt(x); }
DT__INLINE float floor_f32(float x) { return floorf(x); }
DT__INLINE double floor_f64(double x) { return floor(x); }
DT__INLINE float ceil_f32(float x) { return ceilf(x); }
DT__INLINE double ceil_f64(double x) { return ceil(x); }
DT__INLINE float round_f32(float x) { return rintf(x); }
DT__INLINE double round_f64(double x) { return rint(x); }
DT__INLINE float trunc_f32(float x) { return truncf(x); }
DT__INLINE double trunc_f64(double x) { return trunc(x); }
DT__INLINE float abs_f32(float x) { return fabsf(x); }
DT__INLINE double abs_f64(double x) { return fabs(x); }

/* From `rest`, the exact remainder as C defines it: the remainder gets the sign of the divisor, and a quotient that
 * rounding has moved off an integer is moved back to it. */
#define REMAINDERS(real, suffix, f)                                                                                  \
    DT__INLINE real fmod_##suffix(real x, real y, real rest) { return (void)x, (void)y, rest; }                      \
    DT__INLINE real remainder_##suffix(real x, real y, real rest) {                                                  \
        (void)x;                                                                                                     \
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;                                                 \
    }                                                                                                                \
    DT__INLINE real floor_divide_##suffix(real x, real y, real rest) {                                               \
        real quotient = (x - rest) / y;                                                                              \
        quotient = rest != 0 && (rest < 0) != (y < 0) ? quotient - 1 : quotient;                                     \
        real below = floor##f(quotient);                                                                             \
        real whole = quotient - below > (real)0.5 ? below + 1 : below;                                               \
        return y == 0 ? x / y : whole;                                                                               \
    }
REMAINDERS(float, f32, f)
REMAINDERS(double, f64, )
#undef REMAINDERS

#define INTEGERS(type, unsigned_type, suffix, lowest)                                                                \
    DT__INLINE type remainder_##suffix(type x, type y) {                                                             \
        if (y == 0 || y == -1)                                                                                       \
            return 0;                                                                                                \
        type rest = x % y;                                                                                           \
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;                                                 \
    }                                                                                                                \
    DT__INLINE type floor_divide_##suffix(type x, type y) {                                                          \
        if (y == 0)                                                                                                  \
            return 0;                                                                                                \
        if (y == -1)                                                                                                 \
            return (type)(0 - (unsigned_type)x);                                                                     \
        return x / y - (x % y != 0 && (x % y < 0) != (y < 0));                                                       \
    }                                                                                                                \
    DT__INLINE type trunc_divide_##suffix(type x, type y) {                                                          \
        return y == 0 ? 0 : y == -1 ? (type)(0 - (unsigned_type)x) : x / y;                                          \
    }                                                                                                                \
    DT__INLINE type pow_##suffix(type x, type y) {                                                                   \
        unsigned_type power = 1, base = (unsigned_type)x;                                                            \
        if (y < 0)                                                                                                   \
            return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;                                                      \
        for (; y; y >>= 1, base *= base)                                                                             \
            power = y & 1 ? power * base : power;                                                                    \
        return (type)power;                                                                                          \
    }
INTEGERS(int32_t, uint32_t, i32, INT32_MIN)
INTEGERS(int64_t, uint64_t, i64, INT64_MIN)
#undef INTEGERS
#define POW(x, y)         _Generic((x), float : pow_f32, double : pow_f64, int32_t : pow_i32, int64_t : pow_i64)(x, y)
#define INTEGER2(f, x, y) _Generic((x), int32_t : f##_i32, int64_t : f##_i64)(x, y)

#define COMPLEXES(type, c)                                                                                           \
    DT__INLINE type add_##c(type x, type y) { return (type){x.re + y.re, x.im + y.im}; }                             \
    DT__INLINE type sub_##c(type x, type y) { return (type){x.re - y.re, x.im - y.im}; }                             \
    DT__INLINE type neg_##c(type x) { return (type){-x.re, -x.im}; }                                                 \
    DT__INLINE bool is_finite_##c(type x) { return isfinite(x.re) && isfinite(x.im); }                               \
    DT__INLINE bool is_infinite_##c(type x) { return isinf(x.re) || isinf(x.im); }
COMPLEXES(dt__c64, c64)
COMPLEXES(dt__c128, c128)
#undef COMPLEXES

/* Sets of dtypes: M(op, DTYPE, type in memory, type of a value, unsigned type for wrapping, expression). */
#define FLOATS(M, op, e)                                                                                             \
    M(op, F32, dt__f32, float, float, e)                                                                             \
    M(op, F64, dt__f64, double, double, e)
#define INTS(M, op, e)                                                                                               \
    M(op, I32, dt__i32, int32_t, uint32_t, e)                                                                        \
    M(op, I64, dt__i64, int64_t, uint64_t, e)
#define REALS(M, op, e) FLOATS(M, op, e) INTS(M, op, e)
#define COMPLEXES(M, op, e)                                                                                          \
    M(op, C64, dt__c64, dt__c64, float, e)                                                                           \
    M(op, C128, dt__c128, dt__c128, double, e)
#define BOOLS(M, op, e) M(op, BOOL, dt__bool8, uint8_t, uint8_t, e)

/* Forms: T1, T2, T3 with that many inputs x, y, z; V and W with two and three, x being a boolean; P and C with
 * one and two and a boolean result. `value` is the type of a value, `modular` the unsigned type for wrapping. */
#define OP_LOOP_LIST(T1, T2, T3, V, W, P, C)                                                                         \
    FLOATS(T2, ADD, x + y)                                                                                           \
    INTS(T2, ADD, (value)((modular)x + (modular)y))                                                                  \
    COMPLEXES(T2, ADD, COMPLEX2(add, x, y))                                                                          \
    FLOATS(T2, SUB, x - y)                                                                                           \
    INTS(T2, SUB, (value)((modular)x - (modular)y))                                                                  \
    COMPLEXES(T2, SUB, COMPLEX2(sub, x, y))                                                                          \
    FLOATS(T2, ADD_SCALED, x + (value)numbers[0].f.re * y)                                                           \
    INTS(T2, ADD_SCALED, (value)((modular)x + (modular)numbers[0].i * (modular)y))                                   \
    FLOATS(T2, MUL, x *y)                                                                                            \
    INTS(T2, MUL, (value)((modular)x * (modular)y))                                                                  \
    FLOATS(T2, DIV, x / y)                                                                                           \
    INTS(T2, FLOOR_DIVIDE, INTEGER2(floor_divide, x, y))                                                             \
    FLOATS(T2, TRUNC_DIVIDE, REAL(trunc, x / y))                                                                     \
    INTS(T2, TRUNC_DIVIDE, INTEGER2(trunc_divide, x, y))                                                             \
    INTS(T2, REMAINDER, INTEGER2(remainder, x, y))                                                                   \
    FLOATS(T2, MAXIMUM, x > y || x != x ? x : y)                                                                     \
    INTS(T2, MAXIMUM, x > y ? x : y)                                                                                 \
    FLOATS(T2, MINIMUM, x < y || x != x ? x : y)                                                                     \
    INTS(T2, MINIMUM, x < y ? x : y)                                                                                 \
    REALS(T2, POW, POW(x, y))                                                                                        \
    REALS(C, EQ, x == y)                                                                                             \
    COMPLEXES(C, EQ, (x.re == y.re) & (x.im == y.im))                                                                \
    REALS(C, NE, x != y)                                                                                             \
    COMPLEXES(C, NE, (x.re != y.re) | (x.im != y.im))                                                                \
    REALS(C, LT, x < y)                                                                                              \
    REALS(C, LE, x <= y)                                                                                             \
    REALS(C, GT, x > y)                                                                                              \
    REALS(C, GE, x >= y)                                                                                             \
    BOOLS(C, AND, (x != 0) & (y != 0))                                                                               \
    BOOLS(C, OR, (x != 0) | (y != 0))                                                                                \
    BOOLS(C, XOR, (x != 0) ^ (y != 0))                                                                               \
    BOOLS(P, NOT, x == 0)                                                                                            \
    FLOATS(T1, NEG, -x)                                                                                              \
    INTS(T1, NEG, (value)(0 - (modular)x))                                                                           \
    COMPLEXES(T1, NEG, COMPLEX(neg, x))                                                                              \
    FLOATS(T1, ABS, REAL(abs, x))                                                                                    \
    INTS(T1, ABS, x < 0 ? (value)(0 - (modular)x) : x)                                                               \
    REALS(T1, SIGN, (value)((x > 0) - (x < 0)))                                                                      \
    FLOATS(T1, SQUARE, x *x)                                                                                         \
    INTS(T1, SQUARE, (value)((modular)x * (modular)x))                                                               \
    FLOATS(T1, RELU, x > 0 || x != x ? x : 0)                                                                        \
    INTS(T1, RELU, x > 0 ? x : 0)                                                                                    \
    FLOATS(T1, CLAMP, BETWEEN((value)numbers[0].f.re, (value)numbers[1].f.re))                                       \
    INTS(T1, CLAMP, BETWEEN((value)numbers[0].i, (value)numbers[1].i))                                               \
    REALS(W, WHERE, x ? y : z)                                                                                       \
    COMPLEXES(W, WHERE, x ? y : z)                                                                                   \
    INTS(T2, THRESHOLD, y <= (value)numbers[0].i ? 0 : x)                                                            \
    FLOATS(T1, AFFINE, x *(value)numbers[0].f.re + (value)numbers[1].f.re)                                           \
    INTS(T1, AFFINE, (value)((modular)x * (modular)numbers[0].i + (modular)numbers[1].i))                            \
    FLOATS(T1, SHIFTED, (x - (value)numbers[0].f.re) - (value)numbers[1].f.re)                                       \
    FLOATS(T1, EXP_SHIFTED, REAL(exp_shifted, x - (value)numbers[0].f.re))                                           \
    FLOATS(T1, EXP_SCALED, REAL(exp_shifted, x - (value)numbers[0].f.re) * (value)numbers[1].f.re)                   \
    FLOATS(T2, MUL_SHIFTED, x *(y - (value)numbers[0].f.re))                                                         \
    FLOATS(T3, MUL_DIFFERENCE, x *(y - z))                                                                           \
    FLOATS(T2, EXP_DIFFERENCE, REAL(exp, x - y))                                                                     \
    FLOATS(T2, SQUARED_DIFFERENCE, (x - y) * (x - y))                                                                \
    FLOATS(T1, NAN_TO_ZERO, x == x ? x : 0)                                                                          \
    FLOATS(T1, POW_ABS, POW(REAL(abs, x), (value)numbers[0].f.re))                                                   \
    FLOATS(T3, NORMALIZE, ((x - (value)numbers[0].f.re) * (value)numbers[1].f.re) * y + z)                           \
    FLOATS(V, DROPOUT, x ? y *(value)numbers[0].f.re : 0)                                                            \
    FLOATS(T1, EXP, REAL(exp, x))                                                                                    \
    FLOATS(T1, LOG, REAL(log, x))                                                                                    \
    FLOATS(T1, SQRT, REAL(sqrt, x))                                                                                  \
    FLOATS(T1, RSQRT, 1 / REAL(sqrt, x))                                                                             \
    FLOATS(T1, RECIPROCAL, 1 / x)                                                                                    \
    FLOATS(T1, TANH, REAL(tanh, x))                                                                                  \
    FLOATS(T1, SIGMOID, REAL(sigmoid, x))                                                                            \
    FLOATS(T1, SILU, REAL(silu, x))                                                                                  \
    FLOATS(T1, ERF, REAL(erf, x))                                                                                    \
    FLOATS(T1, GELU, REAL(gelu, x))                                                                                  \
    FLOATS(T1, GELU_TANH, REAL(gelu_tanh, x))                                                                        \
    FLOATS(T2, TANH_GRAD, x *(1 - y * y))                                                                            \
    FLOATS(T2, SIGMOID_GRAD, x *((1 - y) * y))                                                                       \
    FLOATS(T2, SILU_GRAD, x *REAL(silu_slope, y))                                                                    \
    FLOATS(T2, GELU_GRAD, x *REAL(gelu_slope, y))                                                                    \
    FLOATS(T2, GELU_TANH_GRAD, x *REAL(gelu_tanh_slope, y))                                                          \
    FLOATS(T1, FLOOR, REAL(floor, x))                                                                                \
    FLOATS(T1, CEIL, REAL(ceil, x))                                                                                  \
    FLOATS(T1, ROUND, REAL(round, x))                                                                                \
    FLOATS(T1, TRUNC, REAL(trunc, x))                                                                                \
    FLOATS(T1, ACOS, REAL(acos, x))                                                                                  \
    FLOATS(T1, ASIN, REAL(asin, x))                                                                                  \
    FLOATS(T1, ATAN, REAL(atan, x))                                                                                  \
    FLOATS(T1, COSH, REAL(cosh, x))                                                                                  \
    FLOATS(T1, SINH, REAL(sinh, x))                                                                                  \
    FLOATS(T1, ERFC, REAL(erfc, x))                                                                                  \
    FLOATS(T1, EXP2, REAL(exp2, x))                                                                                  \
    FLOATS(T1, EXPM1, REAL(expm1, x))                                                                                \
    FLOATS(T1, LOG10, REAL(log10, x))                                                                                \
    FLOATS(T1, LOG1P, REAL(log1p, x))                                                                                \
    FLOATS(T1, LOG2, REAL(log2, x))                                                                                  \
    FLOATS(T1, MISH, REAL(mish, x))                                                                                  \
    FLOATS(T1, FRAC, x - REAL(trunc, x))                                                                             \
    FLOATS(T1, SOFTSIGN, x / (1 + REAL(abs, x)))                                                                     \
    FLOATS(T1, TANHSHRINK, x - REAL(tanh, x))                                                                        \
    FLOATS(T1, HARDSIGMOID, SIX_OF(x) / 6)                                                                           \
    FLOATS(T1, HARDSWISH, x *SIX_OF(x) / 6)                                                                          \
    INTS(T1, BITWISE_NOT, ~x)                                                                                        \
    FLOATS(T1, SOFTPLUS, (value)softplus_long((double)x, numbers[0].f.re, numbers[1].f.re))                          \
    FLOATS(T1, ELU, x > 0 ? x * (value)numbers[1].f.re : (value)numbers[0].f.re * REAL(expm1, x))                    \
    FLOATS(T1, CELU, x > 0 ? x : (value)numbers[0].f.re * REAL(expm1, x / (value)numbers[0].f.re))                   \
    FLOATS(T1, LEAKY_RELU, x > 0 ? x : x * (value)numbers[0].f.re)                                                   \
    FLOATS(T1, HARDSHRINK, ((x >= -(value)numbers[0].f.re) & (x <= (value)numbers[0].f.re)) ? 0 : x)                 \
    FLOATS(T1, SOFTSHRINK, SHRINK((value)numbers[0].f.re))                                                           \
    FLOATS(T1, REPLACE_UP_TO, x <= (value)numbers[0].f.re ? (value)numbers[1].f.re : x)                              \
    INTS(T1, REPLACE_UP_TO, x <= (value)numbers[0].i ? (value)numbers[1].i : x)                                      \
    FLOATS(T1, NAN_TO_NUM, FINITE_OR((value)numbers[0].f.re, (value)numbers[1].f.re, (value)numbers[2].f.re))        \
    FLOATS(T2, ATAN2, (value)atan2_long((double)x, (double)y))                                                       \
    FLOATS(T2, FMAX, x > y || y != y ? x : y)                                                                        \
    INTS(T2, FMAX, x > y ? x : y)                                                                                    \
    FLOATS(T2, FMIN, x < y || y != y ? x : y)                                                                        \
    INTS(T2, FMIN, x < y ? x : y)                                                                                    \
    INTS(T2, FMOD, y == 0 || y == -1 ? 0 : x % y)                                                                    \
    FLOATS(T2, LOGADDEXP, (value)logaddexp_long((double)x, (double)y))                                               \
    FLOATS(T2, XLOGY, x == 0 && y == y ? 0 : x * REAL(log, y))                                                       \
    FLOATS(T2, PRELU, x > 0 ? x : x * y)                                                                             \
    INTS(T2, BITWISE_AND, x &y)                                                                                      \
    INTS(T2, BITWISE_OR, x | y)                                                                                      \
    INTS(T2, BITWISE_XOR, x ^ y)                                                                                     \
    FLOATS(T3, ADDCMUL, x + (value)numbers[0].f.re * y * z)                                                          \
    INTS(T3, ADDCMUL, (value)((modular)x + (modular)numbers[0].i * (modular)y * (modular)z))                         \
    FLOATS(T3, ADDCDIV, x + (value)numbers[0].f.re * y / z)                                                          \
    FLOATS(T3, LERP, REAL(abs, z) < (value)0.5 ? x + z * (y - x) : y - (y - x) * (1 - z))                            \
    FLOATS(P, ISFINITE, REAL(abs, x) < (float)INFINITY)                                                              \
    FLOATS(P, ISINF, REAL(abs, x) == (float)INFINITY)                                                                \
    INTS(P, ISFINITE, (x | 1) != 0)                                                                                  \
    COMPLEXES(P, ISFINITE, COMPLEX(is_finite, x))                                                                    \
    INTS(P, ISINF, (x & 0) != 0)                                                                                     \
    COMPLEXES(P, ISINF, COMPLEX(is_infinite, x))                                                                     \
    FLOATS(P, ISNAN, x != x)                                                                                         \
    INTS(P, ISNAN, (x & 0) != 0)                                                                                     \
    COMPLEXES(P, ISNAN, (x.re != x.re) | (x.im != x.im))

/* x + 3, from 0 to 6; NaN stays NaN. */
#define SIX_OF(x)               UP_TO((x) + 3 < 0 ? 0 : (x) + 3, 6)
#define SHRINK(p)               (x > (p) ? x - (p) : x < -(p) ? x + (p) : x * 0)
#define FINITE_OR(nan, up, low) (x != x ? (nan) : x == (value)INFINITY ? (up) : x == -(value)INFINITY ? (low) : x)
/* If a bound is NaN, every result is NaN. */
#define BETWEEN(p, q) UP_TO(x < (p) || (p) != (p) ? (p) : x, q)
#define UP_TO(x, q)   ((x) > (q) || (q) != (q) ? (q) : (x))

#define LOOP(op, DTYPE, out_type, ...)                                                                               \
    static void loop_##op##_##DTYPE(int64_t n, void *out, const void *const *ins,                                    \
                                    const dt__number *restrict numbers) {                                            \
        out_type *to = out;                                                                                          \
        (void)numbers;                                                                                               \
        __VA_ARGS__                                                                                                  \
    }
#define T1_LOOP(op, DTYPE, memory, v, m, e)                                                                          \
    LOOP(                                                                                                            \
        op, DTYPE, memory, typedef v value; typedef m modular __attribute__((unused)); const memory *xs = ins[0];    \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            const value x = xs[i];                                                                                   \
            to[i] = e;                                                                                               \
        })
#define T2_LOOP(op, DTYPE, memory, v, m, e)                                                                          \
    LOOP(                                                                                                            \
        op, DTYPE, memory, typedef v value; typedef m modular __attribute__((unused));                               \
        const memory *xs = ins[0], *ys = ins[1]; DT__EACH for (int64_t i = 0; i < n; i++) {                          \
            const value x = xs[i], y = ys[i];                                                                        \
            to[i] = e;                                                                                               \
        })
#define W_LOOP(op, DTYPE, memory, v, m, e)                                                                           \
    LOOP(                                                                                                            \
        op, DTYPE, memory, const dt__bool8 *xs = ins[0]; const memory *ys = ins[1], *zs = ins[2];                    \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            const uint8_t x = xs[i];                                                                                 \
            const v y = ys[i], z = zs[i];                                                                            \
            to[i] = e;                                                                                               \
        })
#define P_LOOP(op, DTYPE, memory, v, m, e)                                                                           \
    LOOP(                                                                                                            \
        op, DTYPE, dt__bool8, typedef v value __attribute__((unused)); const memory *xs = ins[0];                    \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            const v x = xs[i];                                                                                       \
            to[i] = (uint8_t)(e);                                                                                    \
        })
#define C_LOOP(op, DTYPE, memory, v, m, e)                                                                           \
    LOOP(                                                                                                            \
        op, DTYPE, dt__bool8, const memory *xs = ins[0], *ys = ins[1]; DT__EACH for (int64_t i = 0; i < n; i++) {    \
            const v x = xs[i], y = ys[i];                                                                            \
            to[i] = (uint8_t)(e);                                                                                    \
        })
#define T3_LOOP(op, DTYPE, memory, v, m, e)                                                                          \
    LOOP(                                                                                                            \
        op, DTYPE, memory, typedef v value; typedef m modular __attribute__((unused));                               \
        const memory *xs = ins[0], *ys = ins[1], *zs = ins[2]; DT__EACH for (int64_t i = 0; i < n; i++) {            \
            const value x = xs[i], y = ys[i], z = zs[i];                                                             \
            to[i] = e;                                                                                               \
        })
#define V_LOOP(op, DTYPE, memory, v, m, e)                                                                           \
    LOOP(                                                                                                            \
        op, DTYPE, memory, typedef v value; const dt__bool8 *xs = ins[0]; const memory *ys = ins[1];                 \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            const uint8_t x = xs[i];                                                                                 \
            const value y = ys[i];                                                                                   \
            to[i] = e;                                                                                               \
        })
OP_LOOP_LIST(T1_LOOP, T2_LOOP, T3_LOOP, V_LOOP, W_LOOP, P_LOOP, C_LOOP)

/* Functions with a slow path for rare operands: every FAR_STEP elements are scanned for such operands, and if there
 * are none, the fast path is used for all of them. The result of an element depends on its operands alone. */
enum { FAR_STEP = 256 };

/* Sine and cosine: arguments up to NEAR_ANGLE_MAX in magnitude, and beyond. */
#define ANGLE_LOOP(op, DTYPE, memory, v, near_f, far_f)                                                              \
    LOOP(                                                                                                            \
        op, DTYPE, memory, const memory *xs = ins[0]; for (int64_t begin = 0; begin < n; begin += FAR_STEP) {        \
            const int64_t end = n - begin < FAR_STEP ? n : begin + FAR_STEP;                                         \
            int n_far = 0;                                                                                           \
            for (int64_t i = begin; i < end; i++)                                                                    \
                n_far += !(xs[i] <= (v)NEAR_ANGLE_MAX && xs[i] >= -(v)NEAR_ANGLE_MAX);                               \
            if (n_far == 0) {                                                                                        \
                DT__EACH for (int64_t i = begin; i < end; i++) to[i] = near_f(xs[i]);                                \
                continue;                                                                                            \
            }                                                                                                        \
            DT__EACH for (int64_t i = begin; i < end; i++) {                                                         \
                const v x = xs[i], near = near_f(x), far = far_f(x);                                                 \
                to[i] = x <= (v)NEAR_ANGLE_MAX && x >= -(v)NEAR_ANGLE_MAX ? near : far;                              \
            }                                                                                                        \
        })
ANGLE_LOOP(SIN, F32, dt__f32, float, sin_near_f32, sin_far_f32)
ANGLE_LOOP(SIN, F64, dt__f64, double, sin_near_f64, sin_far_f64)
ANGLE_LOOP(COS, F32, dt__f32, float, cos_near_f32, cos_far_f32)
ANGLE_LOOP(COS, F64, dt__f64, double, cos_near_f64, cos_far_f64)
ANGLE_LOOP(TAN, F32, dt__f32, float, tan_near_f32, tan_far_f32)
ANGLE_LOOP(TAN, F64, dt__f64, double, tan_near_f64, tan_far_f64)

/* The remainders of n pairs, at most FAR_STEP, with quotients of any magnitude, reduced in steps. */
#define MOD_FAR(name, memory, v, step, bits)                                                                         \
    static void name(int64_t n, const memory *xs, const memory *ys, v *out) {                                        \
        double rest[FAR_STEP], divisor[FAR_STEP];                                                                    \
        int n_left;                                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            rest[i] = magnitude_of((double)xs[i]);                                                                   \
            divisor[i] = magnitude_of((double)ys[i]);                                                                \
        }                                                                                                            \
        do {                                                                                                         \
            n_left = 0;                                                                                              \
            DT__EACH for (int64_t i = 0; i < n; i++) {                                                               \
                const double scale = far_scale(rest[i], divisor[i], bits);                                           \
                rest[i] = step(rest[i], scale_up(divisor[i], scale));                                                \
                n_left += scale > 0;                                                                                 \
            }                                                                                                        \
        } while (n_left);                                                                                            \
        for (int64_t i = 0; i < n; i++)                                                                              \
            out[i] = (v)mod_of_special((double)xs[i], (double)ys[i], rest[i]);                                       \
    }
MOD_FAR(mod_far_f32, dt__f32, float, mod_step_f32, 28)
MOD_FAR(mod_far_f64, dt__f64, double, mod_step_f64, 50)

/* remainder and floor_divide: quotients below 2^28 (f32) or 2^50, and beyond. */
#define MOD_LOOP(op, DTYPE, memory, v, suffix, f)                                                                    \
    LOOP(                                                                                                            \
        op, DTYPE, memory, const memory *xs = ins[0], *ys = ins[1];                                                  \
        for (int64_t begin = 0; begin < n; begin += FAR_STEP) {                                                      \
            const int64_t end = n - begin < FAR_STEP ? n : begin + FAR_STEP;                                         \
            v rest[FAR_STEP];                                                                                        \
            int n_far = 0;                                                                                           \
            for (int64_t i = begin; i < end; i++)                                                                    \
                n_far += !is_near_##suffix(xs[i], ys[i]);                                                            \
            if (n_far == 0)                                                                                          \
                DT__EACH for (int64_t i = begin; i < end; i++) rest[i - begin] = mod_near_##suffix(xs[i], ys[i]);    \
            else                                                                                                     \
                mod_far_##suffix(end - begin, xs + begin, ys + begin, rest);                                         \
            DT__EACH for (int64_t i = begin; i < end; i++) to[i] = f##_##suffix(xs[i], ys[i], rest[i - begin]);      \
        })
MOD_LOOP(REMAINDER, F32, dt__f32, float, f32, remainder)
MOD_LOOP(REMAINDER, F64, dt__f64, double, f64, remainder)
MOD_LOOP(FMOD, F32, dt__f32, float, f32, fmod)
MOD_LOOP(FMOD, F64, dt__f64, double, f64, fmod)
MOD_LOOP(FLOOR_DIVIDE, F32, dt__f32, float, f32, floor_divide)
MOD_LOOP(FLOOR_DIVIDE, F64, dt__f64, double, f64, floor_divide)

/* Products of complex numbers, with each operation rounded separately: the compiler would fuse some of them. */
#define PRODUCT_LOOP(op, DTYPE, memory, part, y_index, expression)                                                   \
    LOOP(                                                                                                            \
        op, DTYPE, memory, const char *xs = ins[0]; const char *ys = ins[y_index];                                   \
        const part p[2] = {numbers ? (part)numbers[0].f.re : 0, numbers ? (part)numbers[0].f.im : 0}; vec scale;     \
        for (size_t i = 0; i < VEC_BYTES; i += sizeof p) memcpy((char *)&scale + i, p, sizeof p);                    \
        size_t left = (size_t)n * sizeof p;                                                                          \
        for (; left >= VEC_BYTES; left -= VEC_BYTES, xs += VEC_BYTES, ys += VEC_BYTES, to += VEC_BYTES / sizeof p) { \
            const vec x = vec_load(xs), y = vec_load(ys);                                                            \
            vec_store(to, expression);                                                                               \
        } const vec x = vec_load_part(xs, left),                                                                     \
        y = vec_load_part(ys, left);                                                                                 \
        vec_store_part((char *)to, expression, left);)
#define UNUSED_SCALE(x) ((void)scale, x)
PRODUCT_LOOP(MUL, C64, dt__c64, float, 1, UNUSED_SCALE(multiply_c64(x, y)))
PRODUCT_LOOP(MUL, C128, dt__c128, double, 1, UNUSED_SCALE(multiply_c128(x, y)))
PRODUCT_LOOP(SQUARE, C64, dt__c64, float, 0, UNUSED_SCALE(multiply_c64(x, y)))
PRODUCT_LOOP(SQUARE, C128, dt__c128, double, 0, UNUSED_SCALE(multiply_c128(x, y)))
PRODUCT_LOOP(ADD_SCALED, C64, dt__c64, float, 1, add_f32(x, multiply_c64(scale, y)))
PRODUCT_LOOP(ADD_SCALED, C128, dt__c128, double, 1, add_f64(x, multiply_c128(scale, y)))

/* Compilers would load x only where y is above the limit, which waits for y: memory is read slower then. */
#define THRESHOLD_LOOP(DTYPE, memory, vector, part)                                                                  \
    INLINE vec above_##DTYPE(vec x, vec y, part limit) { return x & ~(vec)((vector)y <= limit); }                    \
    LOOP(THRESHOLD, DTYPE, memory, const char *xs = ins[0]; const char *ys = ins[1];                                 \
         const part limit = (part)numbers[0].f.re; size_t left = (size_t)n * sizeof(part);                           \
         for (; left >= VEC_BYTES;                                                                                   \
              left -= VEC_BYTES, xs += VEC_BYTES, ys += VEC_BYTES, to += VEC_BYTES / sizeof(part))                   \
             vec_store(to, above_##DTYPE(vec_load(xs), vec_load(ys), limit));                                        \
         vec_store_part((char *)to, above_##DTYPE(vec_load_part(xs, left), vec_load_part(ys, left), limit), left);)
THRESHOLD_LOOP(F32, dt__f32, vf32, float)
THRESHOLD_LOOP(F64, dt__f64, vf64, double)

/* Ops on 16-bit floats that are so quick that converting whole blocks to f32 and back would take most of the time: a
 * register is computed as two of f32, x and y, and rounded once, to the same bits. */
#define HALF_OP_LIST(ONE, TWO)                                                                                       \
    TWO(ADD, x + y)                                                                                                  \
    TWO(SUB, x - y)                                                                                                  \
    TWO(ADD_SCALED, x + (float)numbers[0].f.re * y)                                                                  \
    TWO(MUL, x *y)                                                                                                   \
    TWO(THRESHOLD, (vf32)((vec)x & ~(vec)(y <= (float)numbers[0].f.re)))                                             \
    ONE(AFFINE, x *(float)numbers[0].f.re + (float)numbers[1].f.re)                                                  \
    ONE(RELU, (vf32)((vec)x & ((vec)(x > 0) | (vec)(x != x))))

#define HALF_LOOP(op, DTYPE, suffix, second, expression)                                                             \
    INLINE vec half_##op##_##DTYPE(vec a, vec b, const dt__number *numbers) {                                        \
        (void)numbers;                                                                                               \
        const lanes all_x = unpack_##suffix(a), all_y = unpack_##suffix(b);                                          \
        lanes result;                                                                                                \
        vf32 x = (vf32)all_x.a, y __attribute__((unused)) = (vf32)all_y.a;                                           \
        result.a = (vec)(expression);                                                                                \
        x = (vf32)all_x.b, y = (vf32)all_y.b;                                                                        \
        result.b = (vec)(expression);                                                                                \
        return pack_##suffix(result);                                                                                \
    }                                                                                                                \
    static void loop_##op##_##DTYPE(int64_t n, void *out, const void *const *ins, const dt__number *numbers) {       \
        const char *xs = ins[0], *ys = ins[second];                                                                  \
        char *to = out;                                                                                              \
        size_t left = (size_t)n * 2;                                                                                 \
        for (; left >= VEC_BYTES; left -= VEC_BYTES, xs += VEC_BYTES, ys += VEC_BYTES, to += VEC_BYTES)              \
            vec_store(to, half_##op##_##DTYPE(vec_load(xs), vec_load(ys), numbers));                                 \
        if (left)                                                                                                    \
            vec_store_part(to, half_##op##_##DTYPE(vec_load_part(xs, left), vec_load_part(ys, left), numbers),       \
                           left);                                                                                    \
    }
#define ONE_HALF_LOOP(op, expression) HALF_LOOP(op, F16, f16, 0, expression) HALF_LOOP(op, BF16, bf16, 0, expression)
#define TWO_HALF_LOOP(op, expression) HALF_LOOP(op, F16, f16, 1, expression) HALF_LOOP(op, BF16, bf16, 1, expression)
HALF_OP_LIST(ONE_HALF_LOOP, TWO_HALF_LOOP)

#define ENTRY(op, DTYPE, ...) [DT__EL_##op][DT_##DTYPE] = loop_##op##_##DTYPE,
#define HALF_ENTRY(op, ...)   ENTRY(op, F16, ) ENTRY(op, BF16, )
static dt__loop *const op_loops[DT__N_ELEMENT_OPS][DT_N_DTYPES] = {
    FLOATS(ENTRY, SIN, ) FLOATS(ENTRY, COS, ) FLOATS(ENTRY, TAN, ) FLOATS(ENTRY, FMOD, ) FLOATS(ENTRY, REMAINDER, )
        FLOATS(ENTRY, FLOOR_DIVIDE, ) FLOATS(ENTRY, THRESHOLD, ) COMPLEXES(ENTRY, MUL, ) COMPLEXES(ENTRY, SQUARE, )
            COMPLEXES(ENTRY, ADD_SCALED, ) COMPLEX_OP_LIST(ENTRY) HALF_OP_LIST(HALF_ENTRY, HALF_ENTRY)
                OP_LOOP_LIST(ENTRY, ENTRY, ENTRY, ENTRY, ENTRY, ENTRY, ENTRY)};
#undef ENTRY
#undef HALF_ENTRY

#endif
