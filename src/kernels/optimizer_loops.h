/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of optimisers on n contiguous elements of a parameter, its gradient and its state; plain loops, which the
 * compiler vectorises: an output is one of the inputs or apart from all of them.
 */
#ifndef DT_KERNELS_OPTIMIZER_LOOPS_H
#define DT_KERNELS_OPTIMIZER_LOOPS_H

#include "kernels/element_types.h"
#include "kernels/loops.h"

#include <math.h>

#define OPTIMIZER_LOOPS(NAME, T, ROOT)                                                                               \
    static void adam_##NAME(int64_t n, const void *const *ins, void *const *outs, const dt__optimizer_step *step) {  \
        const T *p0 = ins[0], *grad = ins[1], *m0 = ins[2], *v0 = ins[3];                                            \
        T *p = outs[0], *m = outs[1], *v = outs[2];                                                                  \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, keep = (T)step->keep, a = (T)(1 - step->beta1);       \
        const T b = (T)step->beta2, c = (T)(1 - step->beta2), rate = (T)step->rate, root = (T)step->root,            \
                eps = (T)step->eps;                                                                                  \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            T g = grad[i] * scale + l2 * p0[i];                                                                      \
            T mean = m0[i] + (g - m0[i]) * a, square = v0[i] * b + g * g * c;                                        \
            p[i] = p0[i] * keep - rate * (mean / (ROOT(square) * root + eps));                                       \
            m[i] = mean;                                                                                             \
            v[i] = square;                                                                                           \
        }                                                                                                            \
    }                                                                                                                \
    static void amsgrad_##NAME(int64_t n, const void *const *ins, void *const *outs,                                 \
                               const dt__optimizer_step *step) {                                                     \
        const T *p0 = ins[0], *grad = ins[1], *m0 = ins[2], *v0 = ins[3], *x0 = ins[4];                              \
        T *p = outs[0], *m = outs[1], *v = outs[2], *x = outs[3];                                                    \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, keep = (T)step->keep, a = (T)(1 - step->beta1);       \
        const T b = (T)step->beta2, c = (T)(1 - step->beta2), rate = (T)step->rate, root = (T)step->root,            \
                eps = (T)step->eps;                                                                                  \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            T g = grad[i] * scale + l2 * p0[i];                                                                      \
            T mean = m0[i] + (g - m0[i]) * a, square = v0[i] * b + g * g * c;                                        \
            T largest = square > x0[i] || square != square ? square : x0[i];                                         \
            p[i] = p0[i] * keep - rate * (mean / (ROOT(largest) * root + eps));                                      \
            m[i] = mean;                                                                                             \
            v[i] = square;                                                                                           \
            x[i] = largest;                                                                                          \
        }                                                                                                            \
    }                                                                                                                \
    static void sgd_##NAME(int64_t n, const void *const *ins, void *const *outs, const dt__optimizer_step *step) {   \
        const T *p0 = ins[0], *grad = ins[1];                                                                        \
        T *p = outs[0];                                                                                              \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, rate = (T)step->rate;                                 \
        DT__EACH for (int64_t i = 0; i < n; i++) p[i] = p0[i] - rate * (grad[i] * scale + l2 * p0[i]);               \
    }                                                                                                                \
    static void momentum_##NAME(int64_t n, const void *const *ins, void *const *outs,                                \
                                const dt__optimizer_step *step) {                                                    \
        const T *p0 = ins[0], *grad = ins[1], *m0 = ins[2];                                                          \
        T *p = outs[0], *m = outs[1];                                                                                \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, rate = (T)step->rate, mu = (T)step->beta1;            \
        const T fresh = (T)step->fresh, of_grad = (T)step->of_grad, of_mean = (T)step->of_mean;                      \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            T g = grad[i] * scale + l2 * p0[i], mean = m0[i] * mu + g * fresh;                                       \
            p[i] = p0[i] - rate * (g * of_grad + mean * of_mean);                                                    \
            m[i] = mean;                                                                                             \
        }                                                                                                            \
    }

OPTIMIZER_LOOPS(f32, float, sqrtf)
OPTIMIZER_LOOPS(f64, double, sqrt)

static dt__optimizer_loop *const optimizer_loops[DT__N_OPTIMIZERS][2] = {
    [DT__ADAM] = {adam_f32, adam_f64},
    [DT__AMSGRAD] = {amsgrad_f32, amsgrad_f64},
    [DT__SGD] = {sgd_f32, sgd_f64},
    [DT__MOMENTUM] = {momentum_f32, momentum_f64},
};

#endif
