/* SPDX-License-Identifier: Apache-2.0
 *
 * Exponentials of numbers up to zero, and their sum, for the instruction set of the including file: the step between
 * the two passes of softmax. Element i of every EXP_STEP is summed in lane i % EXP_LANES, of its own dtype; the sum of
 * each EXP_STEP is added to a double.
 */
#ifndef DT_KERNELS_EXP_SUM_LOOPS_H
#define DT_KERNELS_EXP_SUM_LOOPS_H

#include "kernels/element_types.h"
#include "kernels/loops.h"
#include "kernels/vector_math.h"

enum { EXP_LANES = 64, EXP_STEP = 512 };

#define EXP_SUM(DTYPE, memory, real, f)                                                                              \
    static void exp_sum_##DTYPE(int64_t n, const void *x, void *y, double shift, double *sum) {                      \
        const memory *xs = x;                                                                                        \
        memory *ys = y;                                                                                              \
        const real by = (real)shift;                                                                                 \
        for (int64_t begin = 0; begin < n; begin += EXP_STEP, xs += EXP_STEP, ys += EXP_STEP) {                      \
            const int64_t end = n - begin < EXP_STEP ? n - begin : EXP_STEP, whole = end / EXP_LANES * EXP_LANES;    \
            real part[EXP_LANES] = {0};                                                                              \
            DT__EACH for (int64_t i = 0; i < end; i++) ys[i] = f(xs[i] - by);                                        \
            for (int64_t i = 0; i < whole; i += EXP_LANES)                                                           \
                for (int lane = 0; lane < EXP_LANES; lane++)                                                         \
                    part[lane] += ys[i + lane];                                                                      \
            for (int64_t i = whole; i < end; i++)                                                                    \
                part[i - whole] += ys[i];                                                                            \
            for (int half = EXP_LANES / 2; half; half /= 2)                                                          \
                for (int lane = 0; lane < half; lane++)                                                              \
                    part[lane] += part[lane + half];                                                                 \
            *sum += (double)part[0];                                                                                 \
        }                                                                                                            \
    }
EXP_SUM(F32, dt__f32, float, exp_below_f32)
EXP_SUM(F64, dt__f64, double, exp_below_f64)

static dt__exp_sum_loop *const exp_sum_loops[DT_N_DTYPES] = {[DT_F32] = exp_sum_F32, [DT_F64] = exp_sum_F64};

#endif
