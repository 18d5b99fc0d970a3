/* SPDX-License-Identifier: Apache-2.0
 *
 * Every elementwise op in every dtype against long double (floats, within a stated number of units in the last place)
 * or 128-bit arithmetic (integers), on random shapes and strides, operands of other dtypes, in place, with threads.
 * All tables compute the same bits.
 */
#include "kernels/arrays.h"

#include "base/ctx.h"
#include "kernels/kernels.h"

#include <complex.h>

static const char *const op_names[DT__N_ELEMENT_OPS] = {
#define NAME(name, n_ins, bool_ins, is_bool) #name,
    DT__ELEMENT_LIST(NAME)
#undef NAME
};
static const struct {
    int n_ins, bool_ins;
    bool is_bool;
} op_facts[DT__N_ELEMENT_OPS] = {
#define FACT(name, n_ins, bool_ins, is_bool) {n_ins, bool_ins, is_bool},
    DT__ELEMENT_LIST(FACT)
#undef FACT
};

/* Converts its operands, of any dtype, to booleans. */
static bool is_logic(dt__element_op op) { return op_facts[op].bool_ins == (1 << op_facts[op].n_ins) - 1; }

/* A number of the dtype nearest to x. */
static long double rounded(dt_dtype dtype, long double x) {
    char bytes[16];
    put(dtype, (wide){x, 0}, bytes);
    return get(dtype, bytes).re;
}

/* One operation of a kernel, rounded by itself; long double would round twice. */
static long double rounded_sum(dt_dtype dtype, long double a, long double b) {
    return dtype == DT_F64 ? (long double)((double)a + (double)b) : (long double)((float)a + (float)b);
}
static long double rounded_product(dt_dtype dtype, long double a, long double b) {
    return dtype == DT_F64 ? (long double)((double)a * (double)b) : (long double)((float)a * (float)b);
}

/* Of f32, for numbers up to 71. */
static long double exp_below(dt_dtype dtype, long double x) {
    return dtype != DT_F64 && x > 71.74L ? (long double)INFINITY : expl(x);
}

static long double gelu_argument(long double x) { return sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x); }

static long double floor_remainder(long double x, long double y) {
    long double modulo = fmodl(x, y);
    return modulo != 0 && (modulo < 0) != (y < 0) ? modulo + y : modulo;
}

static long double softplus_of(long double x) { return (x > 0 ? x : isnan(x) ? x : 0) + log1pl(expl(-fabsl(x))); }

static long double limited(long double x, long double low, long double high) {
    return x < low ? low : x > high ? high : x;
}

/* PyTorch's definition for floats. */
static long double real_reference(dt__element_op op, dt_dtype dtype, const long double *in,
                                  const dt__number *numbers) {
    const long double x = in[0], y = in[1], z = in[2], p = rounded(dtype, numbers[0].f.re),
                      q = rounded(dtype, numbers[1].f.re);
    switch (op) {
    case DT__EL_ADD:
        return x + y;
    case DT__EL_SUB:
        return x - y;
    case DT__EL_ADD_SCALED:
        return x + rounded_product(dtype, p, y);
    case DT__EL_MUL:
        return x * y;
    case DT__EL_DIV:
        return x / y;
    case DT__EL_FLOOR_DIVIDE:
        return y == 0         ? x / y
               : !isfinite(x) ? NAN
               : isinf(y)     ? (x != 0 && (x < 0) != (y < 0) ? -1 : 0)
                              : (x - floor_remainder(x, y)) / y;
    case DT__EL_TRUNC_DIVIDE: /* of the quotient that is rounded to the dtype of the arithmetic */
        return truncl(dtype == DT_F64 ? (double)(x / y) : (float)(x / y));
    case DT__EL_REMAINDER:
        return floor_remainder(x, y);
    case DT__EL_MAXIMUM:
        return isnan(x) || isnan(y) ? NAN : fmaxl(x, y);
    case DT__EL_MINIMUM:
        return isnan(x) || isnan(y) ? NAN : fminl(x, y);
    case DT__EL_POW:
        return powl(x, y);
    case DT__EL_EQ:
        return x == y;
    case DT__EL_NE:
        return x != y;
    case DT__EL_LT:
        return x < y;
    case DT__EL_LE:
        return x <= y;
    case DT__EL_GT:
        return x > y;
    case DT__EL_GE:
        return x >= y;
    case DT__EL_AND:
        return x != 0 && y != 0;
    case DT__EL_OR:
        return x != 0 || y != 0;
    case DT__EL_XOR:
        return (x != 0) != (y != 0);
    case DT__EL_NOT:
        return x == 0;
    case DT__EL_NEG:
        return -x;
    case DT__EL_ABS:
        return fabsl(x);
    case DT__EL_SIGN:
        return (x > 0) - (x < 0);
    case DT__EL_SQUARE:
        return x * x;
    case DT__EL_RELU:
        return isnan(x) ? x : x > 0 ? x : 0;
    case DT__EL_CLAMP:
        return isnan(x) || isnan(p) || isnan(q) ? NAN : fminl(fmaxl(x, p), q);
    case DT__EL_WHERE:
        return x != 0 ? y : z;
    case DT__EL_THRESHOLD:
        return y <= p ? 0 : x;
    case DT__EL_AFFINE:
        return rounded_product(dtype, x, p) + q;
    case DT__EL_SHIFTED:
        return rounded_sum(dtype, x, -p) - q;
    case DT__EL_EXP_SHIFTED:
        return exp_below(dtype, rounded_sum(dtype, x, -p));
    case DT__EL_EXP_SCALED:
        return exp_below(dtype, rounded_sum(dtype, x, -p)) * q;
    case DT__EL_MUL_SHIFTED:
        return x * rounded_sum(dtype, y, -p);
    case DT__EL_MUL_DIFFERENCE:
        return x * rounded_sum(dtype, y, -z);
    case DT__EL_EXP_DIFFERENCE:
        return expl(rounded_sum(dtype, x, -y));
    case DT__EL_SQUARED_DIFFERENCE:
        return rounded_sum(dtype, x, -y) * rounded_sum(dtype, x, -y);
    case DT__EL_NAN_TO_ZERO:
        return isnan(x) ? 0 : x;
    case DT__EL_POW_ABS:
        return powl(fabsl(x), p);
    case DT__EL_NORMALIZE:
        return rounded_product(dtype, rounded_product(dtype, rounded_sum(dtype, x, -p), q), y) + z;
    case DT__EL_DROPOUT:
        return x != 0 ? y * p : 0;
    case DT__EL_EXP:
        return expl(x);
    case DT__EL_LOG:
        return logl(x);
    case DT__EL_SQRT:
        return sqrtl(x);
    case DT__EL_RSQRT:
        return 1 / sqrtl(x);
    case DT__EL_RECIPROCAL:
        return 1 / x;
    case DT__EL_TANH:
        return tanhl(x);
    case DT__EL_SIGMOID:
        return 1 / (1 + expl(-x));
    case DT__EL_SILU:
        return x / (1 + expl(-x));
    case DT__EL_ERF:
        return erfl(x);
    case DT__EL_GELU:
        return 0.5L * x * (1 + erfl(x * sqrtl(0.5L)));
    case DT__EL_GELU_TANH:
        return 0.5L * x * (1 + tanhl(gelu_argument(x)));
    case DT__EL_TANH_GRAD:
        return x * rounded_sum(dtype, 1, -rounded_product(dtype, y, y));
    case DT__EL_SIGMOID_GRAD:
        return x * rounded_product(dtype, rounded_sum(dtype, 1, -y), y);
    case DT__EL_SILU_GRAD: {
        const long double s = 1 / (1 + expl(-y));
        return x * (s * (1 + y * (1 - s)));
    }
    case DT__EL_GELU_GRAD:
        return x * (0.5L * (1 + erfl(y * sqrtl(0.5L))) + y * expl(-0.5L * y * y) / sqrtl(2 * acosl(-1)));
    case DT__EL_GELU_TANH_GRAD: {
        const long double t = tanhl(gelu_argument(y)), slope = sqrtl(2 / acosl(-1)) * (1 + 3 * 0.044715L * y * y);
        return x * (0.5L * (1 + t) + 0.5L * y * (1 - t * t) * slope);
    }
    case DT__EL_SIN:
        return sinl(x);
    case DT__EL_COS:
        return cosl(x);
    case DT__EL_FLOOR:
        return floorl(x);
    case DT__EL_CEIL:
        return ceill(x);
    case DT__EL_ROUND:
        return rintl(x);
    case DT__EL_TRUNC:
        return truncl(x);
    case DT__EL_ISNAN:
        return isnan(x);
    case DT__EL_ACOS:
        return acosl(x);
    case DT__EL_ASIN:
        return asinl(x);
    case DT__EL_ATAN:
        return atanl(x);
    case DT__EL_COSH:
        return coshl(x);
    case DT__EL_SINH:
        return sinhl(x);
    case DT__EL_TAN:
        return tanl(x);
    case DT__EL_ERFC:
        return erfcl(x);
    case DT__EL_EXP2:
        return exp2l(x);
    case DT__EL_EXPM1:
        return expm1l(x);
    case DT__EL_LOG10:
        return log10l(x);
    case DT__EL_LOG1P:
        return log1pl(x);
    case DT__EL_LOG2:
        return log2l(x);
    case DT__EL_FRAC:
        return x - truncl(x);
    case DT__EL_SOFTSIGN:
        return x / rounded_sum(dtype, 1, fabsl(x));
    case DT__EL_TANHSHRINK:
        return x - tanhl(x);
    case DT__EL_MISH:
        return x == -INFINITY ? NAN : x > 40 ? x : x * tanhl(log1pl(expl(x)));
    case DT__EL_HARDSIGMOID:
        return limited(rounded_sum(dtype, x, 3), 0, 6) / 6;
    case DT__EL_HARDSWISH:
        return rounded_product(dtype, x, limited(rounded_sum(dtype, x, 3), 0, 6)) / 6;
    case DT__EL_SOFTPLUS:
        return (double)x * numbers[0].f.re > numbers[1].f.re
                   ? x
                   : softplus_of(rounded_product(DT_F64, x, numbers[0].f.re)) / numbers[0].f.re;
    case DT__EL_ELU:
        return x > 0 ? x * q : p * rounded(dtype, expm1l(x));
    case DT__EL_CELU:
        return x > 0 ? x : p * rounded(dtype, expm1l(rounded(dtype, x / p)));
    case DT__EL_LEAKY_RELU:
        return x > 0 ? x : x * p;
    case DT__EL_HARDSHRINK:
        return x >= -p && x <= p ? 0 : x;
    case DT__EL_SOFTSHRINK:
        return x > p ? x - p : x < -p ? x + p : x * 0;
    case DT__EL_REPLACE_UP_TO:
        return x <= p ? q : x;
    case DT__EL_NAN_TO_NUM:
        return isnan(x) ? p : x == INFINITY ? q : x == -INFINITY ? rounded(dtype, numbers[2].f.re) : x;
    case DT__EL_ATAN2:
        return atan2l(x, y);
    case DT__EL_FMAX:
        return fmaxl(x, y);
    case DT__EL_FMIN:
        return fminl(x, y);
    case DT__EL_FMOD:
        return fmodl(x, y);
    case DT__EL_LOGADDEXP:
        return isnan(x) || isnan(y) ? NAN : x == y ? x + logl(2) : fmaxl(x, y) + log1pl(expl(-fabsl(x - y)));
    case DT__EL_XLOGY:
        return x == 0 && !isnan(y) ? 0 : x * rounded(dtype, logl(y));
    case DT__EL_PRELU:
        return x > 0 ? x : x * y;
    case DT__EL_ADDCMUL:
        return x + rounded_product(dtype, rounded_product(dtype, p, y), z);
    case DT__EL_ADDCDIV:
        return x + rounded(dtype, rounded_product(dtype, p, y) / z);
    case DT__EL_LERP: {
        const long double distance = rounded_sum(dtype, y, -x);
        return fabsl(z) < 0.5L ? x + rounded_product(dtype, z, distance)
                               : y - rounded_product(dtype, distance, rounded_sum(dtype, 1, -z));
    }
    case DT__EL_ISFINITE:
        return isfinite(x);
    case DT__EL_ISINF:
        return isinf(x) != 0;
    default:
        fail_msg("no reference for op %d", (int)op);
        return 0;
    }
}

/* The error allowed: in units in the last place, plus a multiple of the rounding error of the first input where terms
 * cancel. */
static void tolerance(dt__element_op op, double *units, double *parts) {
    *units = 0.501;
    *parts = 0;
    switch (op) {
    case DT__EL_EXP:
    case DT__EL_EXP_SHIFTED:
    case DT__EL_EXP_DIFFERENCE:
    case DT__EL_POW_ABS:
    case DT__EL_LOG:
    case DT__EL_RSQRT:
    case DT__EL_POW:
        *units = 1.5;
        break;
    case DT__EL_ATAN:
    case DT__EL_ATAN2:
    case DT__EL_ERFC:
    case DT__EL_EXPM1:
    case DT__EL_EXP2:
    case DT__EL_LOG10:
    case DT__EL_LOG1P:
    case DT__EL_LOG2:
    case DT__EL_TAN:
    case DT__EL_COSH:
    case DT__EL_SINH:
        *units = 4;
        break;
    case DT__EL_ACOS:
    case DT__EL_ASIN:
    case DT__EL_MISH:
    case DT__EL_SOFTPLUS:
    case DT__EL_ELU:
    case DT__EL_CELU:
    case DT__EL_XLOGY:
        *units = 6;
        break;
    case DT__EL_LOGADDEXP:
        /* m + log1p(e^-d) with m the larger input. The terms cancel for m from -log 2 to 0, where both have the size
         * of m, which is at most that of the first input: the logarithm's 4 units, and one for d and its
         * exponential. */
        *units = 6;
        *parts = 5;
        break;
    case DT__EL_ADDCDIV: /* the reference rounds the quotient twice */
    case DT__EL_HARDSWISH:
        *units = 1.01;
        break;
    case DT__EL_TANHSHRINK: /* the error of tanh, which is at most 1 in size; x is subtracted from it */
        *units = 2;
        *parts = 3;
        break;
    case DT__EL_SIN:
    case DT__EL_COS:
    case DT__EL_TANH:
        *units = 2.5;
        break;
    case DT__EL_ERF: /* of f32, 2.5498 is the largest over all arguments, at 0x1.fb4392p-1 */
        *units = 2.55;
        break;
    case DT__EL_EXP_SCALED: /* a unit of the exponential, which may be two of the product, and a rounding */
        *units = 2.5;
        break;
    case DT__EL_SIGMOID: /* e / (1 + e): 0.95 units of e and two roundings are 1.95 relative, twice that in ULP */
        *units = 3.9;
        break;
    case DT__EL_SILU: /* one rounding more */
        *units = 4.9;
        break;
    case DT__EL_FLOOR_DIVIDE:
        /* The integer nearest to (x - rest) / y, as in PyTorch. The subtraction and the division are off by up to 1.5
         * units, and subtracting 1 by half a unit. So the nearest integer is another one only from a unit of 1/2 on,
         * where integers are 2 units apart. */
        *units = 2;
        break;
    case DT__EL_SILU_GRAD:
        /* s (1 + y t) with s = sigmoid(y) and t = sigmoid(-y). In roundings: the exponential e of -|y| is off by 3, the
         * max of s and t, 1 / (1 + e), by 3.5, and the smaller by 7.5 with a product. |y| times the smaller is at
         * most 0.28, so that the terms are off by 5 and 0.28 times 13; with the last product that is below 10
         * roundings, 5 parts. */
        *units = 1.501;
        *parts = 5;
        break;
    case DT__EL_GELU:
    case DT__EL_GELU_TANH:
        *units = 3;
        *parts = 2;
        break;
    case DT__EL_GELU_GRAD:
        /* The slope, (1 + erf z) / 2 + y g with z = y sqrt(1/2) and g the normal density, is computed in f64. In
         * roundings (2^-53): z is off by 2 (its constant and a product), which counts z erf'(z) times; erf by 5.1
         * (2.55 units of at most 2); 1 + erf z by a rounding of it; half of all that. y g by 3 (the exponential's
         * 1.5 units), 3 (a constant and two products) and y^2 / 2 (the exponential's argument), each times |y| g;
         * and the slope by one of its own. The sum is largest at 1.38, 6.07 roundings: 3.04 parts. Of f32 the slope is
         * computed in f32, by the tail of the distribution: of two million arguments
         * from -20 to 20 it is off by 2.23 parts at most. Every
         * product is off by half a unit. */
        *units = 1.501;
        *parts = 3.1;
        break;
    case DT__EL_GELU_TANH_GRAD:
        /* The slope is at most 1.13 and has an absolute error below 9.1 roundings (2^-53): those of the exponential's
         * argument, of the exponential and of the products, each times the slope's derivative by it, summed and
         * maximized over the argument (at 1.2). That is 4.6 parts. */
        *units = 3;
        *parts = 5;
        break;
    default:
        break;
    }
}

static int fraction_bits(dt_dtype d) {
    return d == DT_F16 ? 10 : d == DT_BF16 ? 7 : d == DT_F64 || d == DT_C128 ? 52 : 23;
}
static int lowest_exponent(dt_dtype d) { return d == DT_F16 ? -14 : d == DT_F64 || d == DT_C128 ? -1022 : -126; }

static long double unit(dt_dtype d, long double x) {
    const int e = x == 0 ? lowest_exponent(d) : ilogbl(x);
    return ldexpl(1, (e < lowest_exponent(d) ? lowest_exponent(d) : e) - fraction_bits(d));
}

static long double largest(dt_dtype d) {
    return d == DT_F16   ? 65504
           : d == DT_F64 ? ldexpl(2 - ldexpl(1, -52), 1023)
                         : ldexpl(2 - ldexpl(1, -fraction_bits(d)), 127);
}

static bool is_near(dt__element_op op, dt_dtype dtype, long double got, long double expected, const long double *in) {
    double units, parts;
    tolerance(op, &units, &parts);
    if (isnan(got) || isnan(expected))
        return isnan(got) && isnan(expected);
    if (isinf(got))
        return signbit(got) == signbit(expected) && fabsl(expected) >= largest(dtype);
    if (isinf(expected))
        return false;
    long double allowed = units * unit(dtype, expected);
    if (parts > 0 && isfinite(in[0]))
        allowed += parts * ldexpl(fabsl(in[0]), -fraction_bits(dtype == DT_F64 ? DT_F64 : DT_F32));
    if (op == DT__EL_SILU) /* x e^x with |x| < 2^10, where e^x is subnormal and off by a unit */
        allowed += dtype == DT_F64 ? 0x1p-1064L : 0x1p-142L;
    return fabsl(got - expected) <= allowed;
}

/* Integers, wrapped at 64 bits; the caller wraps further. */
static int64_t integer_reference(dt__element_op op, const int64_t *in, const dt__number *numbers) {
    const __int128 x = in[0], y = in[1];
    __int128 power = 1;
    switch (op) {
    case DT__EL_ADD:
        return (int64_t)(x + y);
    case DT__EL_SUB:
        return (int64_t)(x - y);
    case DT__EL_ADD_SCALED:
        return (int64_t)(x + numbers[0].i * y);
    case DT__EL_MUL:
        return (int64_t)((unsigned __int128)x * (unsigned __int128)y);
    case DT__EL_FLOOR_DIVIDE:
        return y == 0 ? 0 : (int64_t)(x / y - (x % y != 0 && (x % y < 0) != (y < 0)));
    case DT__EL_TRUNC_DIVIDE:
        return y == 0 ? 0 : (int64_t)(x / y);
    case DT__EL_REMAINDER:
        return y == 0 ? 0 : (int64_t)(x - (x / y - (x % y != 0 && (x % y < 0) != (y < 0))) * y);
    case DT__EL_MAXIMUM:
        return (int64_t)(x > y ? x : y);
    case DT__EL_MINIMUM:
        return (int64_t)(x < y ? x : y);
    case DT__EL_POW:
        if (y < 0)
            return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
        for (__int128 bit = (__int128)1 << 64; bit; bit >>= 1)
            power = (int64_t)((unsigned __int128)(int64_t)((unsigned __int128)power * (unsigned __int128)power) *
                              (unsigned __int128)(y & bit ? x : 1));
        return (int64_t)power;
    case DT__EL_NEG:
        return (int64_t)-x;
    case DT__EL_ABS:
        return (int64_t)(x < 0 ? -x : x);
    case DT__EL_SQUARE:
        return (int64_t)((unsigned __int128)x * (unsigned __int128)x);
    case DT__EL_CLAMP:
        power = in[0] < numbers[0].i ? numbers[0].i : in[0];
        return power > numbers[1].i ? numbers[1].i : (int64_t)power;
    case DT__EL_AFFINE:
        return (int64_t)(x * numbers[0].i + numbers[1].i);
    case DT__EL_THRESHOLD:
        return in[1] > numbers[0].i ? in[0] : 0;
    case DT__EL_RELU:
        return in[0] > 0 ? in[0] : 0;
    case DT__EL_WHERE:
        return in[0] ? in[1] : in[2];
    case DT__EL_BITWISE_NOT:
        return ~in[0];
    case DT__EL_BITWISE_AND:
        return in[0] & in[1];
    case DT__EL_BITWISE_OR:
        return in[0] | in[1];
    case DT__EL_BITWISE_XOR:
        return in[0] ^ in[1];
    case DT__EL_REPLACE_UP_TO:
        return in[0] <= numbers[0].i ? numbers[1].i : in[0];
    case DT__EL_FMAX:
        return in[0] > in[1] ? in[0] : in[1];
    case DT__EL_FMIN:
        return in[0] < in[1] ? in[0] : in[1];
    case DT__EL_FMOD:
        return y == 0 ? 0 : (int64_t)(x % y);
    case DT__EL_ADDCMUL:
        return (int64_t)((unsigned __int128)x +
                         (unsigned __int128)numbers[0].i * (unsigned __int128)y * (unsigned __int128)in[2]);
    case DT__EL_ISFINITE:
        return 1;
    case DT__EL_ISINF:
    case DT__EL_ISNAN:
        return 0;
    default: /* comparisons, signs: small numbers, which long double represents exactly */
        return (int64_t)real_reference(op, DT_I64, (long double[]){(long double)in[0], (long double)in[1], 0},
                                       numbers);
    }
}

/* Keeps the parts as they are; re + im * I would not. */
static long double complex complex_of(long double re, long double im) {
    const long double parts[2] = {re, im};
    long double complex x;
    memcpy(&x, parts, sizeof x);
    return x;
}

static long double complex complex_reference(dt__element_op op, const long double complex *in,
                                             long double complex p) {
    const long double complex x = in[0], y = in[1];
    switch (op) {
    case DT__EL_ISFINITE:
        return isfinite(creall(x)) && isfinite(cimagl(x));
    case DT__EL_ISINF:
        return isinf(creall(x)) || isinf(cimagl(x));
    case DT__EL_ISNAN:
        return isnan(creall(x)) || isnan(cimagl(x));
    case DT__EL_ADD:
        return x + y;
    case DT__EL_SUB:
        return x - y;
    case DT__EL_ADD_SCALED:
        return x + p * y;
    case DT__EL_MUL:
        return x * y;
    case DT__EL_DIV:
        return x / y;
    case DT__EL_POW:
        return cpowl(x, y);
    case DT__EL_EQ:
        return x == y;
    case DT__EL_NE:
        return x != y;
    case DT__EL_NEG:
        return -x;
    case DT__EL_ABS:
        return cabsl(x);
    case DT__EL_SQUARE:
        return x * x;
    case DT__EL_WHERE:
        return creall(x) != 0 ? y : in[2];
    case DT__EL_EXP:
        return cexpl(x);
    case DT__EL_LOG:
        return clogl(x);
    case DT__EL_SQRT:
        return csqrtl(x);
    case DT__EL_RSQRT:
        return 1 / csqrtl(x);
    case DT__EL_RECIPROCAL:
        return 1 / x;
    case DT__EL_TANH:
        return ctanhl(x);
    case DT__EL_SIN:
        return csinl(x);
    case DT__EL_COS:
        return ccosl(x);
    default:
        fail_msg("no complex reference for %s", op_names[op]);
        return 0;
    }
}

typedef struct op_case {
    dt__elementwise request;
    test_array out, ins[3];
} op_case;

static dt_dtype input_dtype(const op_case *c, int k) {
    return op_facts[c->request.op].bool_ins >> k & 1 ? DT_BOOL : c->request.dtype;
}

/* Input k as the op reads it. */
static void read_input(const op_case *c, int k, const int64_t *index, void *bytes) {
    const dt_dtype from = c->ins[k].a.dtype, to = input_dtype(c, k);
    const void *x = element_at(&c->ins[k].a, c->out.a.n_dims, index);
    if (is_integer(from) && is_integer(to))
        put_wrapped(to, get_integer(from, x), bytes);
    else
        put(to, get(from, x), bytes);
}

/* An infinite gradient times a slope that underflows is NaN, not infinity. That of f64 is up to 2^14 times its
 * exponential, which is 0 below 2^-1075; that of f32 is rounded from f64, or up to 2^14 times an exponential that is 0
 * below 2^-126. */
static bool is_infinite_times_underflow(dt__element_op op, dt_dtype loop, const long double *x) {
    if ((op != DT__EL_GELU_GRAD && op != DT__EL_GELU_TANH_GRAD && op != DT__EL_SILU_GRAD) || !isinf(x[0]) ||
        isnan(x[1]))
        return false;
    const long double slope = real_reference(op, loop, (long double[]){1, x[1], 0}, (const dt__number[2]){{0}});
    return fabsl(slope) <= (loop != DT_F32 ? 0x1p-1061L : op == DT__EL_GELU_TANH_GRAD ? 0x1p-150L : 0x1p-112L);
}

static void check_real(const op_case *c, const dt__kernels *kernels, char (*in)[16], const void *y, bool mixed) {
    const dt_dtype result = c->out.a.dtype;
    long double x[3];
    for (int k = 0; k < 3; k++)
        x[k] = get(input_dtype(c, k), in[k]).re;
    if (c->request.op == DT__EL_GELU_TANH_GRAD && fabsl(x[1]) > 1e100L) /* its square overflows, as in PyTorch */
        return;
    const dt_dtype loop = c->request.dtype == DT_F16 || c->request.dtype == DT_BF16 ? DT_F32 : c->request.dtype;
    if (is_infinite_times_underflow(c->request.op, loop, x))
        return;
    const long double expected = real_reference(c->request.op, loop, x, c->request.numbers), got = get(result, y).re;
    if (op_facts[c->request.op].is_bool ? got == expected : is_near(c->request.op, result, got, expected, x))
        return;
    fail_msg("%s: %s of %s%s: %La, %La, %La with %g, %g: expected %La, got %La", kernels->name,
             op_names[c->request.op], dt_dtype_name(c->request.dtype), mixed ? " (mixed)" : "", x[0], x[1], x[2],
             c->request.numbers[0].f.re, c->request.numbers[1].f.re, expected, got);
}

static void check_integer(const op_case *c, const dt__kernels *kernels, char (*in)[16], const void *y) {
    int64_t x[3], expected_bits = 0, got_bits = 0;
    for (int k = 0; k < 3; k++)
        x[k] = get_integer(input_dtype(c, k), in[k]);
    const int64_t expected = integer_reference(c->request.op, x, c->request.numbers);
    put_wrapped(c->out.a.dtype, expected, &expected_bits);
    memcpy(&got_bits, y, dt_dtype_size(c->out.a.dtype));
    if (expected_bits != got_bits)
        fail_msg("%s: %s of %s: %ld, %ld, %ld with %ld, %ld: expected bits %lx, got %lx", kernels->name,
                 op_names[c->request.op], dt_dtype_name(c->request.dtype), (long)x[0], (long)x[1], (long)x[2],
                 (long)c->request.numbers[0].i, (long)c->request.numbers[1].i, (long)expected_bits, (long)got_bits);
}

/* Not compared where an operand or the result is not finite or nearly out of the range: libraries differ there. */
static void check_complex(const op_case *c, const dt__kernels *kernels, char (*in)[16], const void *y) {
    long double complex x[3];
    for (int k = 0; k < 3; k++) {
        const wide w = get(input_dtype(c, k), in[k]);
        x[k] = complex_of(w.re, w.im);
    }
    const wide g = get(c->out.a.dtype, y);
    const long double complex got = complex_of(g.re, g.im);
    const long double complex expected =
        complex_reference(c->request.op, x, complex_of(c->request.numbers[0].f.re, c->request.numbers[0].f.im));
    long double size = cabsl(expected), max_size = c->request.dtype == DT_C64 ? 1e30L : 1e300L,
                min_size = 1 / max_size;
    for (int k = 0; k < op_facts[c->request.op].n_ins; k++)
        if (!(cabsl(x[k]) < max_size) || cabsl(x[k]) < min_size)
            return;
    if (!(size < max_size) || (size < min_size && size != 0))
        return;
    if (c->request.op == DT__EL_ADD || c->request.op == DT__EL_SUB || c->request.op == DT__EL_ADD_SCALED)
        size = fmaxl(size, cabsl(x[0]) + 4 * cabsl(x[1]));
    if (c->request.op == DT__EL_POW)
        size *= 1 + (4 + fabsl(logl(cabsl(x[0]) + min_size))) * cabsl(x[1]);
    const long double off = cabsl(got - expected), allowed = 8 * ldexpl(size, -fraction_bits(c->request.dtype));
    if (!(off <= allowed))
        fail_msg("%s: %s of %s: %Lg+%Lgi, %Lg+%Lgi: expected %Lg+%Lgi, got %Lg+%Lgi", kernels->name,
                 op_names[c->request.op], dt_dtype_name(c->request.dtype), creall(x[0]), cimagl(x[0]), creall(x[1]),
                 cimagl(x[1]), creall(expected), cimagl(expected), g.re, g.im);
}

/* Inputs are copied first, in case the output is one of them. */
static void check_case(op_case *c, const dt__kernels *kernels, dt__pool *pool, char (*before)[3][16], bool mixed) {
    int64_t index[MAX_DIMS] = {0}, i = 0;
    if (!is_empty(&c->out.a))
        do
            for (int k = 0; k < op_facts[c->request.op].n_ins; k++)
                read_input(c, k, index, before[i][k]);
        while (i++, next_index(c->out.a.n_dims, c->out.shape, index));
    dt__elementwise_run(kernels, pool, &c->request);
    i = 0;
    if (is_empty(&c->out.a))
        return;
    do {
        const void *y = element_at(&c->out.a, c->out.a.n_dims, index);
        if (is_logic(c->request.op) || is_float(c->request.dtype))
            check_real(c, kernels, before[i], y, mixed);
        else if (is_complex(c->request.dtype))
            check_complex(c, kernels, before[i], y);
        else
            check_integer(c, kernels, before[i], y);
        i++;
    } while (next_index(c->out.a.n_dims, c->out.shape, index));
}

enum { MAX_ELEMENTS = 1500 };

static dt__number random_number(dt_dtype dtype, uint64_t *random) {
    dt__number n;
    if (is_integer(dtype))
        n.i = test_below(random, 9) - 4;
    else {
        n.f.re = (double)(float)((double)test_below(random, 64) / 8 - 4);
        n.f.im = is_complex(dtype) ? (double)test_below(random, 8) : 0;
        if (test_below(random, 12) == 0)
            n.f.re = NAN;
    }
    return n;
}

/* Inputs may have fewer dims and dims of size 1; some are of another dtype that the op's represents exactly. */
static void check_random_case(dt__element_op op, dt_dtype dtype, uint64_t *random) {
    static char before[MAX_ELEMENTS * 60][3][16];
    static char first_result[MAX_ELEMENTS * 60 * 16];
    int64_t shape[MAX_DIMS] = {0};
    const int n_dims = random_shape(random, shape, MAX_ELEMENTS);
    const bool mixed = test_below(random, 3) == 0, in_place = !mixed && test_below(random, 4) == 0;
    const uint64_t seed = test_random(random);
    bool have_first = false;
    for (int t = 0; t < N_NAMES; t++) {
        uint64_t local_random = seed;
        op_case c = {.request = {.op = op,
                                 .dtype = dtype,
                                 .numbers = {random_number(dtype, &local_random), random_number(dtype, &local_random),
                                             random_number(dtype, &local_random)}}};
        if (!table_at(t))
            continue;
        test_array_make(&c.out, op_facts[op].is_bool ? DT_BOOL : dtype, n_dims, shape,
                        (test_layout)test_below(&local_random, 2), &local_random);
        c.request.out = &c.out.a;
        for (int k = 0; k < op_facts[op].n_ins; k++) {
            const bool same_shape = test_below(&local_random, 2) == 0;
            const int skip = same_shape || n_dims == 0 ? 0 : (int)test_below(&local_random, n_dims + 1);
            int64_t in_shape[MAX_DIMS] = {0};
            for (int d = skip; d < n_dims; d++)
                in_shape[d - skip] = !same_shape && test_below(&local_random, 4) == 0 ? 1 : shape[d];
            const dt_dtype plain = is_logic(op) ? dtype : input_dtype(&c, k);
            test_array_make(&c.ins[k], mixed && !is_complex(dtype) ? (is_float(dtype) ? DT_U8 : DT_BOOL) : plain,
                            n_dims - skip, in_shape, (test_layout)test_below(&local_random, 3), &local_random);
            c.request.ins[k] = &c.ins[k].a;
        }
        if (in_place && !op_facts[op].is_bool && op != DT__EL_WHERE && op != DT__EL_DROPOUT && !mixed) {
            const dt__array kept = c.ins[0].a;
            c.ins[0].a = c.out.a;
            check_case(&c, table_at(t), NULL, before, mixed);
            c.ins[0].a = kept;
        } else {
            check_case(&c, table_at(t), NULL, before, mixed);
        }
        assert_true(c.out.memory.bytes <= sizeof first_result);
        if (have_first) {
            const size_t n = c.out.memory.bytes / dt_dtype_size(c.out.a.dtype);
            const int64_t at = first_difference(c.out.a.dtype, first_result, c.out.memory.data, n);
            if (at >= 0)
                fail_msg("%s of %s: %s differs from other tables: expected bits %lx, got %lx", op_names[op],
                         dt_dtype_name(dtype), table_names[t], (long)real_bits(c.out.a.dtype, first_result, at),
                         (long)real_bits(c.out.a.dtype, c.out.memory.data, at));
        }
        memcpy(first_result, c.out.memory.data, c.out.memory.bytes);
        have_first = true;
        test_array_free(&c.out);
        for (int k = 0; k < op_facts[op].n_ins; k++)
            test_array_free(&c.ins[k]);
    }
}

static void elementwise__every_op_in_every_dtype(void **state) {
    (void)state;
    uint64_t random = test_seed(1);
    for (unsigned op = 0; op < DT__N_ELEMENT_OPS; op++)
        for (int d = DT_F32; d < DT_N_DTYPES; d++)
            for (int i = 0; i < 12 && dt__op_computes((dt__element_op)op, (dt_dtype)d); i++)
                check_random_case((dt__element_op)op, (dt_dtype)d, &random);
}

/* Many arguments of all sizes and signs. */
static void elementwise__functions_over_their_range(void **state) {
    (void)state;
    static const dt__element_op ops[] = {DT__EL_EXP,  DT__EL_LOG,  DT__EL_TANH,      DT__EL_SIGMOID, DT__EL_ERF,
                                         DT__EL_SILU, DT__EL_GELU, DT__EL_GELU_TANH, DT__EL_SIN,     DT__EL_COS};
    enum { N = 40000 };
    static double in64[N], out64[N];
    static float in32[N], out32[N];
    uint64_t random = test_seed(9);
    for (int i = 0; i < N; i++) {
        const double uniform = (double)(test_random(&random) >> 11) * 0x1p-53;
        const double magnitude = i % 3 == 0   ? ldexp(uniform, (int)test_below(&random, 2200) - 1100)
                                 : i % 3 == 1 ? uniform * 20
                                              : ldexp(uniform, (int)test_below(&random, 16));
        in64[i] = test_below(&random, 2) ? magnitude : -magnitude;
        in32[i] =
            (float)(i % 3 == 0 ? copysign(ldexp(uniform, (int)test_below(&random, 300) - 150), in64[i]) : in64[i]);
    }
    const int64_t n = N, one = 1;
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (int is_f64 = 0; is_f64 < 2; is_f64++) {
            const dt_dtype dtype = is_f64 ? DT_F64 : DT_F32;
            void *in = is_f64 ? (void *)in64 : in32, *out = is_f64 ? (void *)out64 : out32;
            const dt__array from = {in, dtype, 1, &n, &one}, to = {out, dtype, 1, &n, &one};
            dt__elementwise_run(dt__kernels_best(), NULL,
                                &(dt__elementwise){.op = ops[o], .dtype = dtype, .out = &to, .ins = {&from}});
            for (int i = 0; i < N; i++) {
                const size_t size = dt_dtype_size(dtype), at = (size_t)i * size;
                const long double x = get(dtype, (char *)in + at).re, y = get(dtype, (char *)out + at).re;
                const dt__number none[2] = {{0}};
                const long double expected = real_reference(ops[o], dtype, (long double[]){x, 0, 0}, none);
                if (!is_near(ops[o], dtype, y, expected, &x))
                    fail_msg("%s of %s %La: expected %La, got %La: %Lg ULP", op_names[ops[o]], dt_dtype_name(dtype),
                             x, expected, y, fabsl(y - expected) / unit(dtype, expected));
            }
        }
}

static void elementwise__threads_give_the_same_bits(void **state) {
    (void)state;
    enum { ROWS = 517, COLUMNS = 613 };
    static float a[ROWS][COLUMNS], b[COLUMNS][ROWS], one_thread[ROWS][COLUMNS], three_threads[ROWS][COLUMNS];
    const int64_t shape[] = {ROWS, COLUMNS}, by_row[] = {COLUMNS, 1}, by_column[] = {1, ROWS};
    uint64_t random = test_seed(3);
    random_elements(DT_F32, &random, a, ROWS * COLUMNS);
    random_elements(DT_F32, &random, b, ROWS * COLUMNS);
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__pool *pool = dt__pool_new(ctx, 3);
    const dt__array x = {a, DT_F32, 2, shape, by_row}, y = {b, DT_F32, 2, shape, by_column};
    const dt__array one = {one_thread, DT_F32, 2, shape, by_row}, three = {three_threads, DT_F32, 2, shape, by_row};
    dt__elementwise add = {.op = DT__EL_ADD, .dtype = DT_F32, .out = &one, .ins = {&x, &y}};
    dt__elementwise_run(dt__kernels_best(), NULL, &add);
    add.out = &three;
    dt__elementwise_run(dt__kernels_best(), pool, &add);
    assert_int_equal(first_difference(DT_F32, one_thread, three_threads, ROWS * COLUMNS), -1);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) {
            const float sum = a[r][c] + b[c][r];
            assert_int_equal(first_difference(DT_F32, &sum, &one_thread[r][c], 1), -1);
        }
    dt__pool_free(pool);
    dt__ctx_free(ctx);
}

/* a b and a + b c, where one of b and c is a row and the others are numbers: zeros of both signs, infinities, NaN.
 * Rows of many lengths. */
static void elementwise__rows_scaled_by_numbers(void **state) {
    (void)state;
    enum { ROWS = 9, MAX_COLUMNS = 2500 };
    static const float numbers[ROWS] = {1.5F, 0, -0.0F, INFINITY, -INFINITY, NAN, -3, 1e-40F, 3e38F};
    static double row[MAX_COLUMNS], out[ROWS * MAX_COLUMNS], factors[ROWS], sums[ROWS];
    uint64_t random = test_seed(5);
    for (int t = 0; t < N_NAMES; t++)
        for (int i = 0; i < 16 && table_at(t); i++) {
            const dt_dtype dtype = i & 1 ? DT_F32 : DT_F64, stored = i & 4 ? DT_F32 : dtype;
            const bool has_sum = i & 8, swaps = i & 2;
            const int64_t n = 1 + test_below(&random, MAX_COLUMNS), shape[] = {ROWS, n}, dense[] = {n, 1};
            const size_t size = dt_dtype_size(dtype);
            random_elements(dtype, &random, row, (size_t)n);
            for (int r = 0; r < ROWS; r++) {
                const wide number = {numbers[r], 0}, sum = {numbers[(r + i) % ROWS], 0};
                put(stored, number, (char *)factors + (size_t)r * dt_dtype_size(stored));
                put(dtype, sum, (char *)sums + (size_t)r * size);
                put(dtype, number, (char *)row + (size_t)test_below(&random, n) * size);
            }
            const dt__array factor = {factors, stored, 2, shape, (const int64_t[]){1, 0}},
                            many = {row, dtype, 2, shape, (const int64_t[]){0, 1}},
                            sum = {sums, dtype, 2, shape, (const int64_t[]){1, 0}},
                            to = {out, dtype, 2, shape, dense};
            const dt__array *b = swaps ? &factor : &many, *c = swaps ? &many : &factor;
            dt__elementwise request = {.op = DT__EL_MUL, .dtype = dtype, .out = &to, .ins = {b, c}};
            if (has_sum)
                request = (dt__elementwise){.op = DT__EL_ADDCMUL,
                                            .dtype = dtype,
                                            .numbers = {{.f = {1, 0}}},
                                            .out = &to,
                                            .ins = {&sum, b, c}};
            dt__elementwise_run(table_at(t), NULL, &request);
            for (int64_t at = 0; at < ROWS * n; at++) {
                const int64_t r = at / n;
                const long double x = get(dtype, (char *)row + (size_t)(at % n) * size).re,
                                  product = rounded_product(dtype, x, numbers[r]),
                                  expected = has_sum ? rounded_sum(dtype, numbers[(r + i) % ROWS], product) : product,
                                  got = get(dtype, (char *)out + (size_t)at * size).re;
                if (isnan(expected) ? !isnan(got) : got != expected || !signbit(got) != !signbit(expected))
                    fail_msg("%s: row %d of %s: expected %La, got %La", table_names[t], (int)r, dt_dtype_name(dtype),
                             expected, got);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise__every_op_in_every_dtype),
        cmocka_unit_test(elementwise__functions_over_their_range),
        cmocka_unit_test(elementwise__threads_give_the_same_bits),
        cmocka_unit_test(elementwise__rows_scaled_by_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
