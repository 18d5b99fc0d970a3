/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums along rows for normalizations, and the gradients of these and of softmax, for the instruction set of the
 * including file. In every instruction set element i of every ROW_STEP is summed in lane i % 16 of one of several sets
 * of lanes in turn, of its own dtype; the sum of each ROW_STEP is added to a double. The elements of a gradient follow
 * from these sums.
 */
#ifndef DT_KERNELS_GRADIENT_LOOPS_H
#define DT_KERNELS_GRADIENT_LOOPS_H

#include "kernels/element_types.h"
#include "kernels/fold_loops.h"
#include "kernels/loops.h"
#include "kernels/vector_math.h"

enum { ROW_STEP = 512 };

#define ROW_LOAD(DTYPE, from) (*(const fold_##DTYPE##_in_memory *)(from))

/* The sum of all lanes of all sets. */
#define JOIN_SETS(real, sets, total)                                                                                 \
    do {                                                                                                             \
        for (int w = 1; w < WAYS(real); w++)                                                                         \
            (sets)[0] += (sets)[w];                                                                                  \
        real one[FOLD_LANES];                                                                                        \
        memcpy(one, (sets), sizeof one);                                                                             \
        for (int half = FOLD_LANES / 2; half; half /= 2)                                                             \
            for (int j = 0; j < half; j++)                                                                           \
                one[j] += one[j + half];                                                                             \
        (total) += (double)one[0];                                                                                   \
    } while (0)

/* Up to 16 elements, followed by zeros. */
#define ROW_LOAD_PART(memory, real, from, n, to)                                                                     \
    do {                                                                                                             \
        real part_[FOLD_LANES] = {0};                                                                                \
        for (int64_t j = 0; j < (n); j++)                                                                            \
            part_[j] = (from)[j];                                                                                    \
        memcpy(&(to), part_, sizeof part_);                                                                          \
    } while (0)

#define DOT(DTYPE, memory, real)                                                                                     \
    static void dot_##DTYPE(int64_t n, const void *x, const void *y, double *to) {                                   \
        const memory *xs = x, *ys = y;                                                                               \
        for (int64_t begin = 0; begin < n; begin += ROW_STEP, xs += ROW_STEP, ys += ROW_STEP) {                      \
            const int64_t end = n - begin < ROW_STEP ? n - begin : ROW_STEP;                                         \
            fold_##DTYPE sums[WAYS(real)] = {{0}};                                                                   \
            int64_t i = 0;                                                                                           \
            for (; i + WAYS(real) * FOLD_LANES <= end; i += WAYS(real) * FOLD_LANES)                                 \
                for (int w = 0; w < WAYS(real); w++)                                                                 \
                    sums[w] += ROW_LOAD(DTYPE, xs + i + w * FOLD_LANES) * ROW_LOAD(DTYPE, ys + i + w * FOLD_LANES);  \
            for (; i + FOLD_LANES <= end; i += FOLD_LANES)                                                           \
                sums[0] += ROW_LOAD(DTYPE, xs + i) * ROW_LOAD(DTYPE, ys + i);                                        \
            if (i < end) {                                                                                           \
                fold_##DTYPE a, b;                                                                                   \
                ROW_LOAD_PART(memory, real, xs + i, end - i, a);                                                     \
                ROW_LOAD_PART(memory, real, ys + i, end - i, b);                                                     \
                sums[0] += a * b;                                                                                    \
            }                                                                                                        \
            JOIN_SETS(real, sums, *to);                                                                              \
        }                                                                                                            \
    }
DOT(F32, dt__f32, float)
DOT(F64, dt__f64, double)

#define ROW_SUM(DTYPE, memory, real)                                                                                 \
    static void row_sum_##DTYPE(int64_t n, const void *x, double *to) {                                              \
        const memory *xs = x;                                                                                        \
        for (int64_t begin = 0; begin < n; begin += ROW_STEP, xs += ROW_STEP) {                                      \
            const int64_t end = n - begin < ROW_STEP ? n - begin : ROW_STEP;                                         \
            fold_##DTYPE sums[WAYS(real)] = {{0}};                                                                   \
            int64_t i = 0;                                                                                           \
            for (; i + WAYS(real) * FOLD_LANES <= end; i += WAYS(real) * FOLD_LANES)                                 \
                for (int w = 0; w < WAYS(real); w++)                                                                 \
                    sums[w] += ROW_LOAD(DTYPE, xs + i + w * FOLD_LANES);                                             \
            for (; i + FOLD_LANES <= end; i += FOLD_LANES)                                                           \
                sums[0] += ROW_LOAD(DTYPE, xs + i);                                                                  \
            for (int64_t j = 0; i + j < end; j++)                                                                    \
                sums[0][j] += xs[i + j];                                                                             \
            JOIN_SETS(real, sums, *to);                                                                              \
        }                                                                                                            \
    }
ROW_SUM(F32, dt__f32, float)
ROW_SUM(F64, dt__f64, double)

#define SQUARES(DTYPE, memory, real)                                                                                 \
    static void squares_##DTYPE(int64_t n, const void *x, double mean, double *to) {                                 \
        const memory *xs = x;                                                                                        \
        const real minus = (real)mean;                                                                               \
        for (int64_t begin = 0; begin < n; begin += ROW_STEP, xs += ROW_STEP) {                                      \
            const int64_t end = n - begin < ROW_STEP ? n - begin : ROW_STEP;                                         \
            fold_##DTYPE sums[WAYS(real)] = {{0}}, off;                                                              \
            int64_t i = 0;                                                                                           \
            for (; i + WAYS(real) * FOLD_LANES <= end; i += WAYS(real) * FOLD_LANES)                                 \
                for (int w = 0; w < WAYS(real); w++) {                                                               \
                    off = ROW_LOAD(DTYPE, xs + i + w * FOLD_LANES) - minus;                                          \
                    sums[w] += off * off;                                                                            \
                }                                                                                                    \
            for (; i + FOLD_LANES <= end; i += FOLD_LANES) {                                                         \
                off = ROW_LOAD(DTYPE, xs + i) - minus;                                                               \
                sums[0] += off * off;                                                                                \
            }                                                                                                        \
            for (int64_t j = 0; i + j < end; j++)                                                                    \
                sums[0][j] += (xs[i + j] - minus) * (xs[i + j] - minus);                                             \
            JOIN_SETS(real, sums, *to);                                                                              \
        }                                                                                                            \
    }
SQUARES(F32, dt__f32, float)
SQUARES(F64, dt__f64, double)

/* y is rounded itself, so that the rounding of y log2(e) is as good as exact. */
DT__INLINE float exp_of_log_f32(float y) {
    float t = y * (float)LOG2_E;
    return exp2_below_f32(t > 128 ? 128 : t);
}
#define SUB_EXP(DTYPE, memory, real, exp)                                                                            \
    static void sub_exp_##DTYPE(int64_t n, const void *grad, const void *y, double factor, void *out) {              \
        const memory *gs = grad, *ys = y;                                                                            \
        memory *to = out;                                                                                            \
        const real by = (real)factor;                                                                                \
        DT__EACH for (int64_t i = 0; i < n; i++) to[i] = gs[i] - exp(ys[i]) * by;                                    \
    }
SUB_EXP(F32, dt__f32, float, exp_of_log_f32)
SUB_EXP(F64, dt__f64, double, exp_f64)

/* h = grad weight, and h y with y = (x - mean) rstd. */
#define ADD_NORM(a, b, c, w)                                                                                         \
    do {                                                                                                             \
        h = (a) * (c);                                                                                               \
        sums[w] += h;                                                                                                \
        products[w] += h * (((b)-minus) * factor);                                                                   \
    } while (0)

#define NORM_SUMS(DTYPE, memory, real)                                                                               \
    static void norm_sums_##DTYPE(int64_t n, const void *grad, const void *x, const void *weight, double mean,       \
                                  double rstd, double *to) {                                                         \
        const memory *gs = grad, *xs = x, *ws = weight;                                                              \
        const real minus = (real)mean, factor = (real)rstd;                                                          \
        for (int64_t begin = 0; begin < n; begin += ROW_STEP, gs += ROW_STEP, xs += ROW_STEP, ws += ROW_STEP) {      \
            const int64_t end = n - begin < ROW_STEP ? n - begin : ROW_STEP;                                         \
            fold_##DTYPE sums[WAYS(real)] = {{0}}, products[WAYS(real)] = {{0}}, h;                                  \
            int64_t i = 0;                                                                                           \
            for (; i + WAYS(real) * FOLD_LANES <= end; i += WAYS(real) * FOLD_LANES)                                 \
                for (int w = 0; w < WAYS(real); w++)                                                                 \
                    ADD_NORM(ROW_LOAD(DTYPE, gs + i + w * FOLD_LANES), ROW_LOAD(DTYPE, xs + i + w * FOLD_LANES),     \
                             ROW_LOAD(DTYPE, ws + i + w * FOLD_LANES), w);                                           \
            for (; i + FOLD_LANES <= end; i += FOLD_LANES)                                                           \
                ADD_NORM(ROW_LOAD(DTYPE, gs + i), ROW_LOAD(DTYPE, xs + i), ROW_LOAD(DTYPE, ws + i), 0);              \
            if (i < end) {                                                                                           \
                fold_##DTYPE a, b, c;                                                                                \
                ROW_LOAD_PART(memory, real, gs + i, end - i, a);                                                     \
                ROW_LOAD_PART(memory, real, xs + i, end - i, b);                                                     \
                ROW_LOAD_PART(memory, real, ws + i, end - i, c);                                                     \
                h = a * c;                                                                                           \
                sums[0] += h;                                                                                        \
                const fold_##DTYPE product = h * ((b - minus) * factor);                                             \
                for (int64_t j = 0; j < end - i; j++)                                                                \
                    products[0][j] += product[j];                                                                    \
            }                                                                                                        \
            JOIN_SETS(real, sums, to[0]);                                                                            \
            JOIN_SETS(real, products, to[1]);                                                                        \
        }                                                                                                            \
    }
NORM_SUMS(F32, dt__f32, float)
NORM_SUMS(F64, dt__f64, double)

/* rstd ((h - sum) - y product) */
#define NORM_INPUT(DTYPE, memory, real)                                                                              \
    static void norm_input_##DTYPE(int64_t n, const void *grad, const void *x, const void *weight,                   \
                                   const dt__norm_row *row, void *out) {                                             \
        const memory *gs = grad, *xs = x, *ws = weight;                                                              \
        memory *to = out;                                                                                            \
        const real minus = (real)row->mean, factor = (real)row->rstd, sum = (real)row->sum,                          \
                   product = (real)row->product;                                                                     \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            const real h = gs[i] * ws[i], y = (xs[i] - minus) * factor;                                              \
            to[i] = factor * ((h - sum) - y * product);                                                              \
        }                                                                                                            \
    }
NORM_INPUT(F32, dt__f32, float)
NORM_INPUT(F64, dt__f64, double)

/* Four rows are summed in their own dtype. */
#define NORM_WEIGHT(DTYPE, memory, real)                                                                             \
    static void norm_weight_##DTYPE(int64_t n, int n_rows, const void *const *grads, const void *const *inputs,      \
                                    const dt__norm_row *rows, double *to) {                                          \
        dt__f64 *sums = (dt__f64 *)to;                                                                               \
        int r = 0;                                                                                                   \
        for (; r + 4 <= n_rows; r += 4) {                                                                            \
            const memory *g0 = grads[r], *g1 = grads[r + 1], *g2 = grads[r + 2], *g3 = grads[r + 3];                 \
            const memory *x0 = inputs[r], *x1 = inputs[r + 1], *x2 = inputs[r + 2], *x3 = inputs[r + 3];             \
            const real m0 = (real)rows[r].mean, m1 = (real)rows[r + 1].mean, m2 = (real)rows[r + 2].mean,            \
                       m3 = (real)rows[r + 3].mean;                                                                  \
            const real f0 = (real)rows[r].rstd, f1 = (real)rows[r + 1].rstd, f2 = (real)rows[r + 2].rstd,            \
                       f3 = (real)rows[r + 3].rstd;                                                                  \
            DT__EACH for (int64_t i = 0; i < n; i++) {                                                               \
                const real a = g0[i] * ((x0[i] - m0) * f0) + g1[i] * ((x1[i] - m1) * f1);                            \
                const real b = g2[i] * ((x2[i] - m2) * f2) + g3[i] * ((x3[i] - m3) * f3);                            \
                sums[i] += (double)(a + b);                                                                          \
            }                                                                                                        \
        }                                                                                                            \
        for (; r < n_rows; r++) {                                                                                    \
            const memory *gs = grads[r], *xs = inputs[r];                                                            \
            const real minus = (real)rows[r].mean, factor = (real)rows[r].rstd;                                      \
            DT__EACH for (int64_t i = 0; i < n; i++) sums[i] += (double)(gs[i] * ((xs[i] - minus) * factor));        \
        }                                                                                                            \
    }
NORM_WEIGHT(F32, dt__f32, float)
NORM_WEIGHT(F64, dt__f64, double)

#define NORM_BIAS(DTYPE, memory, real)                                                                               \
    static void norm_bias_##DTYPE(int64_t n, int n_rows, const void *const *grads, double *to) {                     \
        dt__f64 *sums = (dt__f64 *)to;                                                                               \
        int r = 0;                                                                                                   \
        for (; r + 4 <= n_rows; r += 4) {                                                                            \
            const memory *g0 = grads[r], *g1 = grads[r + 1], *g2 = grads[r + 2], *g3 = grads[r + 3];                 \
            DT__EACH for (int64_t i = 0; i < n; i++) sums[i] += (double)((g0[i] + g1[i]) + (g2[i] + g3[i]));         \
        }                                                                                                            \
        for (; r < n_rows; r++) {                                                                                    \
            const memory *gs = grads[r];                                                                             \
            DT__EACH for (int64_t i = 0; i < n; i++) sums[i] += (double)gs[i];                                       \
        }                                                                                                            \
    }
NORM_BIAS(F32, dt__f32, float)
NORM_BIAS(F64, dt__f64, double)

/* grad and grad y with y = (x - mean) rstd. */
#define ADD_CELL(a, b, w)                                                                                            \
    do {                                                                                                             \
        const fold a_ = (a);                                                                                         \
        sums_[w] += a_;                                                                                              \
        products_[w] += a_ * (((b)-minus) * factor);                                                                 \
    } while (0)

#define CELL_SUMS(DTYPE, memory, real)                                                                               \
    static void cell_sums_##DTYPE(int64_t n, const void *grad, const void *x, const double *mean,                    \
                                  const double *rstd, double *sums, double *products) {                              \
        typedef fold_##DTYPE fold;                                                                                   \
        const memory *gs = grad, *xs = x;                                                                            \
        const real minus = (real)*mean, factor = (real)*rstd;                                                        \
        for (int64_t begin = 0; begin < n; begin += ROW_STEP, gs += ROW_STEP, xs += ROW_STEP) {                      \
            const int64_t end = n - begin < ROW_STEP ? n - begin : ROW_STEP;                                         \
            fold sums_[WAYS(real)] = {{0}}, products_[WAYS(real)] = {{0}};                                           \
            int64_t i = 0;                                                                                           \
            for (; i + WAYS(real) * FOLD_LANES <= end; i += WAYS(real) * FOLD_LANES)                                 \
                for (int w = 0; w < WAYS(real); w++)                                                                 \
                    ADD_CELL(ROW_LOAD(DTYPE, gs + i + w * FOLD_LANES), ROW_LOAD(DTYPE, xs + i + w * FOLD_LANES), w); \
            for (; i + FOLD_LANES <= end; i += FOLD_LANES)                                                           \
                ADD_CELL(ROW_LOAD(DTYPE, gs + i), ROW_LOAD(DTYPE, xs + i), 0);                                       \
            for (int64_t j = 0; i + j < end; j++) {                                                                  \
                sums_[0][j] += gs[i + j];                                                                            \
                products_[0][j] += gs[i + j] * ((xs[i + j] - minus) * factor);                                       \
            }                                                                                                        \
            JOIN_SETS(real, sums_, *sums);                                                                           \
            JOIN_SETS(real, products_, *products);                                                                   \
        }                                                                                                            \
    }
CELL_SUMS(F32, dt__f32, float)
CELL_SUMS(F64, dt__f64, double)

#define LANE_SUMS(DTYPE, memory)                                                                                     \
    static void lane_sums_##DTYPE(int64_t n, const void *grad, const void *x, const double *mean,                    \
                                  const double *rstd, double *sums, double *products) {                              \
        const memory *gs = grad, *xs = x;                                                                            \
        dt__f64 *to = (dt__f64 *)sums, *to_product = (dt__f64 *)products;                                            \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            to[i] += (double)gs[i];                                                                                  \
            to_product[i] += (double)gs[i] * (((double)xs[i] - mean[i]) * rstd[i]);                                  \
        }                                                                                                            \
    }
LANE_SUMS(F32, dt__f32)
LANE_SUMS(F64, dt__f64)

#define CELL_INPUT(DTYPE, memory, real)                                                                              \
    static void cell_input_##DTYPE(int64_t n, const void *grad, const void *x, const dt__norm_cells *of,             \
                                   void *out) {                                                                      \
        const memory *gs = grad, *xs = x;                                                                            \
        memory *to = out;                                                                                            \
        const real minus = (real)*of->mean, factor = (real)*of->rstd, weight = (real)*of->weight,                    \
                   scale = (real)*of->scale, sum = (real)*of->sum, product = (real)*of->product;                     \
        DT__EACH for (int64_t i = 0; i < n; i++) to[i] =                                                             \
            scale * ((weight * gs[i] - sum) - ((xs[i] - minus) * factor) * product);                                 \
    }                                                                                                                \
    static void lane_input_##DTYPE(int64_t n, const void *grad, const void *x, const dt__norm_cells *of,             \
                                   void *out) {                                                                      \
        const memory *gs = grad, *xs = x;                                                                            \
        memory *to = out;                                                                                            \
        const double *mean = of->mean, *rstd = of->rstd, *weight = of->weight, *scale = of->scale, *sum = of->sum,   \
                     *product = of->product;                                                                         \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            const double y = ((double)xs[i] - mean[i]) * rstd[i];                                                    \
            to[i] = (real)(scale[i] * ((weight[i] * (double)gs[i] - sum[i]) - y * product[i]));                      \
        }                                                                                                            \
    }
CELL_INPUT(F32, dt__f32, float)
CELL_INPUT(F64, dt__f64, double)

static const dt__gradient_loops gradient_loops[DT_N_DTYPES] = {
    [DT_F32] = {row_sum_F32, dot_F32, squares_F32, sub_exp_F32, norm_sums_F32, norm_input_F32, norm_weight_F32,
                norm_bias_F32, cell_sums_F32, lane_sums_F32, cell_input_F32, lane_input_F32},
    [DT_F64] = {row_sum_F64, dot_F64, squares_F64, sub_exp_F64, norm_sums_F64, norm_input_F64, norm_weight_F64,
                norm_bias_F64, cell_sums_F64, lane_sums_F64, cell_input_F64, lane_input_F64},
};

#endif
