/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions of n contiguous elements to one, for the instruction set of the including file. In every instruction set
 * element i is combined in lane i % 16, of one of several sets of lanes in turn; the sets one after another, and the
 * lanes pairwise by halves, so that all compute the same bits.
 */
#ifndef DT_KERNELS_FOLD_LOOPS_H
#define DT_KERNELS_FOLD_LOOPS_H

#include "kernels/element_types.h"
#include "kernels/loops.h"
#include "kernels/simd.h"

#include <math.h>

enum { FOLD_LANES = 16 };

#define LANES(type)           type __attribute__((vector_size(FOLD_LANES * sizeof(type))))
#define LANES_IN_MEMORY(type) type __attribute__((vector_size(FOLD_LANES * sizeof(type)), aligned(1), may_alias))
typedef LANES(float) fold_f32;
typedef LANES_IN_MEMORY(float) fold_f32_in_memory;
typedef LANES(double) fold_f64;
typedef LANES_IN_MEMORY(double) fold_f64_in_memory;
typedef LANES(uint64_t) fold_i64;
typedef LANES_IN_MEMORY(uint64_t) fold_i64_in_memory;

/* Long rows have several sets of lanes, whose operations do not wait for each other. */
#define WAYS(type) (sizeof(type) == 4 ? 4 : 2)

/* Lanes start as `start`; `step` combines them with the lanes x, `merge` with the lanes `other` of another set; `join`
 * combines two numbers a and b. The last lanes are padded with `start`, which is neutral: a few elements are joined
 * without the lanes that they do not fill, to the same bits. */
#define FOLD(name, DTYPE, memory, type, lanes, result, start, step, merge, join)                                     \
    static void fold_##name##_##DTYPE(int64_t n, const void *from, void *to) {                                       \
        const memory *xs = from;                                                                                     \
        result total;                                                                                                \
        memcpy(&total, to, sizeof total);                                                                            \
        type rest[FOLD_LANES];                                                                                       \
        result one[FOLD_LANES];                                                                                      \
        if (n < FOLD_LANES) {                                                                                        \
            int width = 1;                                                                                           \
            for (; width < n; width *= 2)                                                                            \
                ;                                                                                                    \
            for (int j = 0; j < width; j++) {                                                                        \
                const result a = j < n ? (result)(type)xs[j] : (result)(start), b = (result)(start);                 \
                one[j] = j < n ? join : a;                                                                           \
            }                                                                                                        \
            for (int half = width / 2; half; half /= 2)                                                              \
                for (int j = 0; j < half; j++) {                                                                     \
                    const result a = one[j], b = one[j + half];                                                      \
                    one[j] = join;                                                                                   \
                }                                                                                                    \
            const result a = total, b = one[0];                                                                      \
            total = join;                                                                                            \
            memcpy(to, &total, sizeof total);                                                                        \
            return;                                                                                                  \
        }                                                                                                            \
        for (int j = 0; j < FOLD_LANES; j++)                                                                         \
            one[j] = (result)(start);                                                                                \
        lanes all;                                                                                                   \
        memcpy(&all, one, sizeof all);                                                                               \
        int64_t i = 0;                                                                                               \
        if (n >= WAYS(type) * FOLD_LANES) {                                                                          \
            lanes ways[WAYS(type)];                                                                                  \
            for (int w = 0; w < WAYS(type); w++)                                                                     \
                ways[w] = all;                                                                                       \
            for (; i + WAYS(type) * FOLD_LANES <= n; i += WAYS(type) * FOLD_LANES) {                                 \
                for (int w = 0; w < WAYS(type); w++) {                                                               \
                    const fold_##DTYPE x = *(const fold_##DTYPE##_in_memory *)(xs + i + w * FOLD_LANES);             \
                    all = ways[w];                                                                                   \
                    step;                                                                                            \
                    ways[w] = all;                                                                                   \
                }                                                                                                    \
            }                                                                                                        \
            all = ways[0];                                                                                           \
            for (int w = 1; w < WAYS(type); w++) {                                                                   \
                const lanes other = ways[w];                                                                         \
                merge;                                                                                               \
            }                                                                                                        \
        }                                                                                                            \
        for (; i + FOLD_LANES <= n; i += FOLD_LANES) {                                                               \
            const fold_##DTYPE x = *(const fold_##DTYPE##_in_memory *)(xs + i);                                      \
            step;                                                                                                    \
        }                                                                                                            \
        if (i < n) {                                                                                                 \
            for (int j = 0; j < FOLD_LANES; j++)                                                                     \
                rest[j] = i + j < n ? (type)xs[i + j] : (type)(start);                                               \
            fold_##DTYPE x;                                                                                          \
            memcpy(&x, rest, sizeof x);                                                                              \
            step;                                                                                                    \
        }                                                                                                            \
        memcpy(one, &all, sizeof one);                                                                               \
        for (int half = FOLD_LANES / 2; half; half /= 2)                                                             \
            for (int j = 0; j < half; j++) {                                                                         \
                const result a = one[j], b = one[j + half];                                                          \
                one[j] = join;                                                                                       \
            }                                                                                                        \
        const result a = total, b = one[0];                                                                          \
        total = join;                                                                                                \
        memcpy(to, &total, sizeof total);                                                                            \
    }

/* all = mask ? x : all, lane by lane. */
#define TAKE(ints, lanes, x, mask)                                                                                   \
    do {                                                                                                             \
        const ints taken = (ints)(mask);                                                                             \
        all = (lanes)((taken & (ints)x) | (~taken & (ints)all));                                                     \
    } while (0)

typedef LANES(int32_t) fold_mask32;
typedef LANES(int64_t) fold_mask64;

#define fold_F32           fold_f32
#define fold_F32_in_memory fold_f32_in_memory
#define fold_F64           fold_f64
#define fold_F64_in_memory fold_f64_in_memory
#define fold_I64           fold_i64
#define fold_I64_in_memory fold_i64_in_memory
#define LARGER(a, b)       ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define SMALLER(a, b)      ((((a) < (b)) | ((a) != (a))) ? (a) : (b))

FOLD(FEW, F32, dt__f32, float, fold_f64, double, 0, all += __builtin_convertvector(x, fold_f64), all += other, a + b)
FOLD(FEW, F64, dt__f64, double, fold_f64, double, 0, all += x, all += other, a + b)
FOLD(SUM, I64, dt__i64, uint64_t, fold_i64, uint64_t, 0, all += x, all += other, a + b)
FOLD(PROD, F32, dt__f32, float, fold_f64, double, 1, all *= __builtin_convertvector(x, fold_f64), all *= other, a *b)
FOLD(PROD, F64, dt__f64, double, fold_f64, double, 1, all *= x, all *= other, a *b)
FOLD(PROD, I64, dt__i64, uint64_t, fold_i64, uint64_t, 1, all *= x, all *= other, a *b)
FOLD(MAX, F32, dt__f32, float, fold_f32, float, total, TAKE(fold_mask32, fold_f32, x, (x > all) | (x != x)),
     TAKE(fold_mask32, fold_f32, other, (other > all) | (other != other)), LARGER(a, b))
FOLD(MAX, F64, dt__f64, double, fold_f64, double, total, TAKE(fold_mask64, fold_f64, x, (x > all) | (x != x)),
     TAKE(fold_mask64, fold_f64, other, (other > all) | (other != other)), LARGER(a, b))
FOLD(MAX, I64, dt__i64, uint64_t, fold_i64, uint64_t, total,
     TAKE(fold_mask64, fold_i64, x, (fold_mask64)x > (fold_mask64)all),
     TAKE(fold_mask64, fold_i64, other, (fold_mask64)other > (fold_mask64)all), (int64_t)a > (int64_t)b ? a : b)
FOLD(MIN, F32, dt__f32, float, fold_f32, float, total, TAKE(fold_mask32, fold_f32, x, (x < all) | (x != x)),
     TAKE(fold_mask32, fold_f32, other, (other < all) | (other != other)), SMALLER(a, b))
FOLD(MIN, F64, dt__f64, double, fold_f64, double, total, TAKE(fold_mask64, fold_f64, x, (x < all) | (x != x)),
     TAKE(fold_mask64, fold_f64, other, (other < all) | (other != other)), SMALLER(a, b))
FOLD(MIN, I64, dt__i64, uint64_t, fold_i64, uint64_t, total,
     TAKE(fold_mask64, fold_i64, x, (fold_mask64)x < (fold_mask64)all),
     TAKE(fold_mask64, fold_i64, other, (fold_mask64)other < (fold_mask64)all), (int64_t)a < (int64_t)b ? a : b)

/* Complex numbers: real and imaginary parts are summed separately, products are taken in order. */
static void fold_SUM_C128(int64_t n, const void *from, void *to) {
    const dt__c128 *xs = from;
    dt__c128 *total = to;
    double re[FOLD_LANES] = {0}, im[FOLD_LANES] = {0};
    for (int64_t i = 0; i < n; i++) {
        re[i % FOLD_LANES] += xs[i].re;
        im[i % FOLD_LANES] += xs[i].im;
    }
    for (int j = 1; j < FOLD_LANES; j++) {
        re[0] += re[j];
        im[0] += im[j];
    }
    *total = (dt__c128){total->re + re[0], total->im + im[0]};
}

static void fold_PROD_C128(int64_t n, const void *from, void *to) {
    const dt__c128 *xs = from;
    dt__c128 all = *(dt__c128 *)to;
    for (int64_t i = 0; i < n; i++) {
        const double re = all.re * xs[i].re, minus = all.im * xs[i].im;
        all = (dt__c128){re - minus, all.re * xs[i].im + all.im * xs[i].re};
    }
    *(dt__c128 *)to = all;
}

static void fold_ANY_BOOL(int64_t n, const void *from, void *to) {
    const uint8_t *xs = from;
    uint8_t any = *(uint8_t *)to;
    for (int64_t i = 0; i < n; i++)
        any |= xs[i] != 0;
    *(uint8_t *)to = any;
}

static void fold_ALL_BOOL(int64_t n, const void *from, void *to) {
    const uint8_t *xs = from;
    uint8_t all = *(uint8_t *)to;
    for (int64_t i = 0; i < n; i++)
        all &= xs[i] != 0;
    *(uint8_t *)to = all;
}

/* Sums in f64 of 16 lanes, in as many registers as they take: of elements, and of squares of differences. */
enum { SUM_PARTS = FOLD_LANES * 8 / VEC_BYTES, PART_LANES = VEC_BYTES / 8 };
typedef float part_f32 __attribute__((vector_size(VEC_BYTES / 2), aligned(1), may_alias));
typedef double part_f64 __attribute__((vector_size(VEC_BYTES), aligned(1), may_alias));
#ifdef HW_WIDEN_F32
#define WIDEN_F32(x) HW_WIDEN_F32(x)
#else
#define WIDEN_F32(x) __builtin_convertvector(x, vf64)
#endif
#define WIDEN_PART_F32(at) WIDEN_F32(*(const part_f32 *)(at))
#define WIDEN_PART_F64(at) ((vf64) * (const part_f64 *)(at))

/* Adds a register of f32 to two of f64. With AVX-512 half a register to one: halves are read faster. */
#if VEC_BYTES == 64
enum { QUAD_PARTS = 1 };
typedef part_f32 quad_f32;
INLINE void add_quads(vf64 *parts, part_f32 x) { parts[0] += WIDEN_F32(x); }
#else
enum { QUAD_PARTS = 2 };
typedef float quad_f32 __attribute__((vector_size(VEC_BYTES), aligned(1), may_alias));
INLINE void add_quads(vf64 *parts, vf32 x) {
#ifdef HW_WIDEN_LOW
    parts[0] += HW_WIDEN_LOW(x);
    parts[1] += HW_WIDEN_HIGH(x);
#else
    for (int i = 0; i < PART_LANES; i++) {
        parts[0][i] += (double)x[i];
        parts[1][i] += (double)x[PART_LANES + i];
    }
#endif
}
#endif

/* Every 64 elements, four at a time are added in f32, two by two, and their sums in f64: each such sum has two
 * roundings to f32, so that the error of the total is at most 2^-23 times the sum of magnitudes, of any number of
 * elements, whereas the conversion of each element would take most of the time. */
#define SUM_QUADS                                                                                                    \
    for (; i + 4 * FOLD_LANES <= n; i += 4 * FOLD_LANES)                                                             \
        for (int p = 0; p < SUM_PARTS; p += QUAD_PARTS) {                                                            \
            const dt__f32 *at = xs + i + p * PART_LANES;                                                             \
            const quad_f32 low = *(const quad_f32 *)at + *(const quad_f32 *)(at + FOLD_LANES);                       \
            const quad_f32 high =                                                                                    \
                *(const quad_f32 *)(at + 2 * FOLD_LANES) + *(const quad_f32 *)(at + 3 * FOLD_LANES);                 \
            add_quads(parts + p, low + high);                                                                        \
        }

/* parts[0] to parts[SUM_PARTS - 1] of the whole groups of 16 elements, in two sets of lanes in turn; x is a register of
 * them, and term what is summed; `before` sums groups that it handles itself. */
#define SUM_GROUPS(DTYPE, before, term)                                                                              \
    vf64 parts[2 * SUM_PARTS] = {{0}};                                                                               \
    int64_t i = 0;                                                                                                   \
    before for (; i + 2 * FOLD_LANES <= n; i += 2 * FOLD_LANES) {                                                    \
        for (int p = 0; p < 2 * SUM_PARTS; p++) {                                                                    \
            const vf64 x = WIDEN_PART_##DTYPE(xs + i + p * PART_LANES);                                              \
            parts[p] += term;                                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    for (int p = 0; p < SUM_PARTS; p++)                                                                              \
        parts[p] += parts[p + SUM_PARTS];                                                                            \
    for (; i + FOLD_LANES <= n; i += FOLD_LANES)                                                                     \
        for (int p = 0; p < SUM_PARTS; p++) {                                                                        \
            const vf64 x = WIDEN_PART_##DTYPE(xs + i + p * PART_LANES);                                              \
            parts[p] += term;                                                                                        \
        }

/* The lanes are added by halves. */
typedef double pair_f64 __attribute__((vector_size(16)));
#if VEC_BYTES == 64
typedef double four_f64 __attribute__((vector_size(32)));
INLINE pair_f64 pair_of(vf64 x) {
    const four_f64 four = __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
    return __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
}
#elif VEC_BYTES == 32
INLINE pair_f64 pair_of(vf64 x) { return __builtin_shufflevector(x, x, 0, 1) + __builtin_shufflevector(x, x, 2, 3); }
#else
INLINE pair_f64 pair_of(vf64 x) { return (pair_f64)x; }
#endif

INLINE double join_parts(vf64 *parts) {
    for (int half = SUM_PARTS / 2; half; half /= 2)
        for (int p = 0; p < half; p++)
            parts[p] += parts[p + half];
    const pair_f64 pair = pair_of(parts[0]);
    return pair[0] + pair[1];
}

/* Zeros after the last elements add nothing: no lane is -0, as all start as 0. */
#define SUM(DTYPE, memory, name, before)                                                                             \
    static double name##_##DTYPE(int64_t n, const memory *xs) {                                                      \
        SUM_GROUPS(DTYPE, before, x)                                                                                 \
        if (i < n) {                                                                                                 \
            memory rest[FOLD_LANES] = {0};                                                                           \
            memcpy(rest, xs + i, (size_t)(n - i) * sizeof *xs);                                                      \
            for (int p = 0; p < SUM_PARTS; p++)                                                                      \
                parts[p] += WIDEN_PART_##DTYPE(rest + p * PART_LANES);                                               \
        }                                                                                                            \
        return join_parts(parts);                                                                                    \
    }
SUM(F32, dt__f32, sum_quads, SUM_QUADS)
SUM(F32, dt__f32, sum_each, )
SUM(F64, dt__f64, sum_each, )

static void fold_SUM_F32(int64_t n, const void *from, void *to) {
    if (n < FOLD_LANES) {
        fold_FEW_F32(n, from, to);
        return;
    }
    double total, sum = sum_quads_F32(n, from);
    if (!isfinite(sum)) /* four large numbers may have no sum in f32 */
        sum = sum_each_F32(n, from);
    memcpy(&total, to, sizeof total);
    total += sum;
    memcpy(to, &total, sizeof total);
}

static void fold_SUM_F64(int64_t n, const void *from, void *to) {
    if (n < FOLD_LANES) {
        fold_FEW_F64(n, from, to);
        return;
    }
    double total;
    memcpy(&total, to, sizeof total);
    total += sum_each_F64(n, from);
    memcpy(to, &total, sizeof total);
}

#define DEVIATIONS(DTYPE, memory)                                                                                    \
    static void deviations_##DTYPE(int64_t n, const void *from, double mean, double *to) {                           \
        const memory *xs = from;                                                                                     \
        double one[FOLD_LANES];                                                                                      \
        SUM_GROUPS(DTYPE, , (x - mean) * (x - mean))                                                                 \
        memcpy(one, parts, sizeof one);                                                                              \
        for (int j = 0; i < n; i++, j++) {                                                                           \
            const double off = (double)xs[i] - mean;                                                                 \
            one[j] += off * off;                                                                                     \
        }                                                                                                            \
        int width = n < FOLD_LANES ? 1 : FOLD_LANES;                                                                 \
        for (; width < n && width < FOLD_LANES; width *= 2)                                                          \
            ;                                                                                                        \
        for (int half = width / 2; half; half /= 2)                                                                  \
            for (int j = 0; j < half; j++)                                                                           \
                one[j] += one[j + half];                                                                             \
        *to += one[0];                                                                                               \
    }
DEVIATIONS(F32, dt__f32)
DEVIATIONS(F64, dt__f64)

/* Row by row; four rows at a time are read for one pass over the sums. */
static void add_widened(int64_t n, double *to, const void *from, int64_t n_rows, int64_t stride) {
    const char *row = from;
    dt__f64 *sums = (dt__f64 *)to;
    for (; n_rows >= 4; n_rows -= 4, row += 4 * stride) {
        const dt__f32 *a = (const dt__f32 *)row, *b = (const dt__f32 *)(row + stride);
        const dt__f32 *c = (const dt__f32 *)(row + 2 * stride), *d = (const dt__f32 *)(row + 3 * stride);
        DT__EACH for (int64_t i = 0; i < n; i++) sums[i] =
            (((sums[i] + (double)a[i]) + (double)b[i]) + (double)c[i]) + (double)d[i];
    }
    for (; n_rows > 0; n_rows--, row += stride) {
        const dt__f32 *xs = (const dt__f32 *)row;
        DT__EACH for (int64_t i = 0; i < n; i++) sums[i] += (double)xs[i];
    }
}

static dt__deviations_loop *const deviations_loops[DT_N_DTYPES] = {
    [DT_F32] = deviations_F32,
    [DT_F64] = deviations_F64,
};

static dt__fold_loop *const fold_loops[DT__N_FOLDS][DT_N_DTYPES] = {
    [DT__FOLD_SUM] =
        {[DT_F32] = fold_SUM_F32, [DT_F64] = fold_SUM_F64, [DT_I64] = fold_SUM_I64, [DT_C128] = fold_SUM_C128},
    [DT__FOLD_PROD] =
        {[DT_F32] = fold_PROD_F32, [DT_F64] = fold_PROD_F64, [DT_I64] = fold_PROD_I64, [DT_C128] = fold_PROD_C128},
    [DT__FOLD_MAX] = {[DT_F32] = fold_MAX_F32, [DT_F64] = fold_MAX_F64, [DT_I64] = fold_MAX_I64},
    [DT__FOLD_MIN] = {[DT_F32] = fold_MIN_F32, [DT_F64] = fold_MIN_F64, [DT_I64] = fold_MIN_I64},
    [DT__FOLD_ANY] = {[DT_BOOL] = fold_ANY_BOOL},
    [DT__FOLD_ALL] = {[DT_BOOL] = fold_ALL_BOOL},
};

#endif
