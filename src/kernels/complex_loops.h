/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops over functions of complex numbers, for the instruction set of the including file. Elements pass through
 * blocks that hold real and imaginary parts apart, in f64, padded to whole registers, so that no element is computed
 * by itself. A block whose operands are all plain takes the short way; in others each element selects its own result,
 * so that it depends on its operands alone.
 */
#ifndef DT_KERNELS_COMPLEX_LOOPS_H
#define DT_KERNELS_COMPLEX_LOOPS_H

#include "kernels/complex_math.h"
#include "kernels/loops.h"
#include "kernels/simd.h"

enum { COMPLEX_STEP = 256, COMPLEX_LANES = VEC_BYTES / 8 };

typedef struct complex_block {
    double re[COMPLEX_STEP], im[COMPLEX_STEP];
} complex_block;

/* out = f(x, y) of the first n elements, a multiple of COMPLEX_LANES; out may be x or y. */
typedef void complex_kernel(int64_t n, const complex_block *x, const complex_block *y, complex_block *out);

DT__INLINE complex_value value_at(const complex_block *block, int64_t i) {
    return (complex_value){block->re[i], block->im[i]};
}
DT__INLINE void set_value(complex_block *block, int64_t i, complex_value z) {
    block->re[i] = z.re;
    block->im[i] = z.im;
}

/* Functions of one operand and of two. */
#define ONE_VALUE  value_at(x, i)
#define TWO_VALUES value_at(x, i), value_at(y, i)
#define SIMPLE_KERNEL(name, f, values)                                                                               \
    __attribute__((noinline)) static void name(int64_t n, const complex_block *x, const complex_block *y,            \
                                               complex_block *out) {                                                 \
        (void)y;                                                                                                     \
        DT__EACH for (int64_t i = 0; i < n; i++) set_value(out, i, f(values));                                       \
    }
#define COMPLEX_KERNEL(f, values)                                                                                    \
    __attribute__((noinline)) static void complex_##f(int64_t n, const complex_block *x, const complex_block *y,     \
                                                      complex_block *out) {                                          \
        (void)y;                                                                                                     \
        uint64_t any_rare = 0;                                                                                       \
        for (int64_t i = 0; i < n; i++)                                                                              \
            any_rare |= dt__f64_bits(f##_is_plain(values)) ^ dt__f64_bits(1);                                        \
        if (!any_rare) {                                                                                             \
            DT__EACH for (int64_t i = 0; i < n; i++) set_value(out, i, f##_plain(values));                           \
            return;                                                                                                  \
        }                                                                                                            \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            const double is_plain = f##_is_plain(values);                                                            \
            const complex_value plain = f##_plain(values), rare = f##_rare(values);                                  \
            out->re[i] = is_plain != 0 ? plain.re : rare.re;                                                         \
            out->im[i] = is_plain != 0 ? plain.im : rare.im;                                                         \
        }                                                                                                            \
    }
SIMPLE_KERNEL(complex_abs_short, abs_short, ONE_VALUE)
COMPLEX_KERNEL(abs, ONE_VALUE)
COMPLEX_KERNEL(exp, ONE_VALUE)
COMPLEX_KERNEL(log, ONE_VALUE)
COMPLEX_KERNEL(sqrt, ONE_VALUE)
COMPLEX_KERNEL(tanh, ONE_VALUE)
COMPLEX_KERNEL(sin, ONE_VALUE)
COMPLEX_KERNEL(cos, ONE_VALUE)
COMPLEX_KERNEL(div_short, TWO_VALUES)
COMPLEX_KERNEL(div, TWO_VALUES)
SIMPLE_KERNEL(complex_power_exponent, power_exponent, TWO_VALUES)
#undef COMPLEX_KERNEL
#undef SIMPLE_KERNEL
#undef ONE_VALUE
#undef TWO_VALUES

/* z^w = e^(w log z): off by 5u, and by 8u times the sum of the four products in w log z. */
static void complex_pow(int64_t n, const complex_block *x, const complex_block *y, complex_block *out) {
    complex_block exponent;
    complex_log(n, x, NULL, &exponent);
    complex_power_exponent(n, &exponent, y, &exponent);
    complex_exp(n, &exponent, NULL, out);
}

/* 1 / x, with the division of the dtype. */
DT__INLINE void reciprocal_by(complex_kernel *divide, int64_t n, const complex_block *x, complex_block *out) {
    complex_block one;
    for (int64_t i = 0; i < n; i++)
        set_value(&one, i, (complex_value){1, 0});
    divide(n, &one, x, out);
}
static void complex_reciprocal_short(int64_t n, const complex_block *x, const complex_block *y, complex_block *out) {
    (void)y;
    reciprocal_by(complex_div_short, n, x, out);
}
static void complex_reciprocal(int64_t n, const complex_block *x, const complex_block *y, complex_block *out) {
    (void)y;
    reciprocal_by(complex_div, n, x, out);
}
static void complex_rsqrt(int64_t n, const complex_block *x, const complex_block *y, complex_block *out) {
    complex_block root;
    complex_sqrt(n, x, y, &root);
    reciprocal_by(complex_div, n, &root, out);
}

/* Elements of a dtype into a block, padded with copies of the last one, and back. */
#define COMPLEX_TRANSFERS(type, part)                                                                                \
    DT__INLINE int64_t block_load_##type(int64_t n, const dt__##type *from, complex_block *to) {                     \
        const int64_t padded = (n + COMPLEX_LANES - 1) / COMPLEX_LANES * COMPLEX_LANES;                              \
        for (int64_t i = 0; i < n; i++)                                                                              \
            set_value(to, i, (complex_value){(double)from[i].re, (double)from[i].im});                               \
        for (int64_t i = n; i < padded; i++)                                                                         \
            set_value(to, i, value_at(to, n - 1));                                                                   \
        return padded;                                                                                               \
    }                                                                                                                \
    DT__INLINE void block_store_##type(int64_t n, const complex_block *from, dt__##type *to) {                       \
        for (int64_t i = 0; i < n; i++)                                                                              \
            to[i] = (dt__##type){(part)from->re[i], (part)from->im[i]};                                              \
    }
COMPLEX_TRANSFERS(c64, float)
COMPLEX_TRANSFERS(c128, double)
#undef COMPLEX_TRANSFERS

#define COMPLEX_LOOP(type, n_ins)                                                                                    \
    DT__INLINE void complex_loop##n_ins##_##type(complex_kernel *kernel, int64_t n, void *out,                       \
                                                 const void *const *ins) {                                           \
        complex_block x, y;                                                                                          \
        const dt__##type *xs = ins[0], *ys = ins[n_ins - 1];                                                         \
        dt__##type *to = out;                                                                                        \
        for (int64_t begin = 0; begin < n; begin += COMPLEX_STEP) {                                                  \
            const int64_t count = n - begin < COMPLEX_STEP ? n - begin : COMPLEX_STEP;                               \
            const int64_t padded = block_load_##type(count, xs + begin, &x);                                         \
            if (n_ins == 2)                                                                                          \
                block_load_##type(count, ys + begin, &y);                                                            \
            kernel(padded, &x, &y, &x);                                                                              \
            block_store_##type(count, &x, to + begin);                                                               \
        }                                                                                                            \
    }
COMPLEX_LOOP(c64, 1)
COMPLEX_LOOP(c64, 2)
COMPLEX_LOOP(c128, 1)
COMPLEX_LOOP(c128, 2)
#undef COMPLEX_LOOP

/* X(op, DTYPE, type, number of inputs, kernel). */
#define COMPLEX_OP_LIST(X)                                                                                           \
    X(DIV, C64, c64, 2, complex_div_short)                                                                           \
    X(DIV, C128, c128, 2, complex_div)                                                                               \
    X(POW, C64, c64, 2, complex_pow)                                                                                 \
    X(POW, C128, c128, 2, complex_pow)                                                                               \
    X(ABS, C64, c64, 1, complex_abs_short)                                                                           \
    X(ABS, C128, c128, 1, complex_abs)                                                                               \
    X(EXP, C64, c64, 1, complex_exp)                                                                                 \
    X(EXP, C128, c128, 1, complex_exp)                                                                               \
    X(LOG, C64, c64, 1, complex_log)                                                                                 \
    X(LOG, C128, c128, 1, complex_log)                                                                               \
    X(SQRT, C64, c64, 1, complex_sqrt)                                                                               \
    X(SQRT, C128, c128, 1, complex_sqrt)                                                                             \
    X(RSQRT, C64, c64, 1, complex_rsqrt)                                                                             \
    X(RSQRT, C128, c128, 1, complex_rsqrt)                                                                           \
    X(RECIPROCAL, C64, c64, 1, complex_reciprocal_short)                                                             \
    X(RECIPROCAL, C128, c128, 1, complex_reciprocal)                                                                 \
    X(TANH, C64, c64, 1, complex_tanh)                                                                               \
    X(TANH, C128, c128, 1, complex_tanh)                                                                             \
    X(SIN, C64, c64, 1, complex_sin)                                                                                 \
    X(SIN, C128, c128, 1, complex_sin)                                                                               \
    X(COS, C64, c64, 1, complex_cos)                                                                                 \
    X(COS, C128, c128, 1, complex_cos)

#define COMPLEX_OP_LOOP(op, DTYPE, type, n_ins, kernel)                                                              \
    static void loop_##op##_##DTYPE(int64_t n, void *out, const void *const *ins, const dt__number *numbers) {       \
        (void)numbers;                                                                                               \
        complex_loop##n_ins##_##type(kernel, n, out, ins);                                                           \
    }
COMPLEX_OP_LIST(COMPLEX_OP_LOOP)
#undef COMPLEX_OP_LOOP

#endif
