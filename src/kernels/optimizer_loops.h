/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of optimizers on n contiguous elements of a parameter, its gradient and its state; plain loops, which the
 * compiler vectorizes: an output is one of the inputs or apart from all of them.
 */
#ifndef DT_KERNELS_OPTIMIZER_LOOPS_H
#define DT_KERNELS_OPTIMIZER_LOOPS_H

#include "kernels/element_types.h"
#include "kernels/loops.h"

#include <math.h>

#define OPTIMIZER_LOOPS(NAME, T, ROOT)                                                                               \
    static void adam_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {                 \
        const dt__optimizer_step *step = arg;                                                                        \
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
    static void amsgrad_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {              \
        const dt__optimizer_step *step = arg;                                                                        \
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
    static void sgd_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {                  \
        const dt__optimizer_step *step = arg;                                                                        \
        const T *p0 = ins[0], *grad = ins[1];                                                                        \
        T *p = outs[0];                                                                                              \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, rate = (T)step->rate;                                 \
        DT__EACH for (int64_t i = 0; i < n; i++) p[i] = p0[i] - rate * (grad[i] * scale + l2 * p0[i]);               \
    }                                                                                                                \
    static void momentum_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {             \
        const dt__optimizer_step *step = arg;                                                                        \
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

/* keep: 1 less decoupled weight decay. l2: weight decay that is added to the gradient. */
#define MORE_OPTIMIZER_LOOPS(NAME, T, ROOT)                                                                          \
    static void adagrad_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {              \
        const dt__optimizer_step *step = arg;                                                                        \
        const T *p0 = ins[0], *grad = ins[1], *s0 = ins[2];                                                          \
        T *p = outs[0], *s = outs[1];                                                                                \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, rate = (T)step->rate, eps = (T)step->eps;             \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            T g = grad[i] * scale + l2 * p0[i], sum = s0[i] + g * g;                                                 \
            p[i] = p0[i] - rate * (g / (ROOT(sum) + eps));                                                           \
            s[i] = sum;                                                                                              \
        }                                                                                                            \
    }                                                                                                                \
    static void adamax_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {               \
        const dt__optimizer_step *step = arg;                                                                        \
        const T *p0 = ins[0], *grad = ins[1], *m0 = ins[2], *u0 = ins[3];                                            \
        T *p = outs[0], *m = outs[1], *u = outs[2];                                                                  \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, a = (T)(1 - step->beta1), b = (T)step->beta2;         \
        const T rate = (T)step->rate, eps = (T)step->eps;                                                            \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            T g = grad[i] * scale + l2 * p0[i], mean = m0[i] + (g - m0[i]) * a;                                      \
            T size = (g < 0 ? -g : g) + eps, old = u0[i] * b;                                                        \
            T largest = size > old || size != size ? size : old;                                                     \
            p[i] = p0[i] - rate * (mean / largest);                                                                  \
            m[i] = mean;                                                                                             \
            u[i] = largest;                                                                                          \
        }                                                                                                            \
    }                                                                                                                \
    static void nadam_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {                \
        const dt__optimizer_step *step = arg;                                                                        \
        const T *p0 = ins[0], *grad = ins[1], *m0 = ins[2], *v0 = ins[3];                                            \
        T *p = outs[0], *m = outs[1], *v = outs[2];                                                                  \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, keep = (T)step->keep, a = (T)(1 - step->beta1);       \
        const T b = (T)step->beta2, c = (T)(1 - step->beta2), root = (T)step->root, eps = (T)step->eps;              \
        const T of_grad = (T)step->of_grad, of_mean = (T)step->of_mean;                                              \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            T kept = p0[i] * keep, g = grad[i] * scale + l2 * p0[i];                                                 \
            T mean = m0[i] + (g - m0[i]) * a, square = v0[i] * b + g * g * c;                                        \
            p[i] = kept - (g * of_grad + mean * of_mean) / (ROOT(square) * root + eps);                              \
            m[i] = mean;                                                                                             \
            v[i] = square;                                                                                           \
        }                                                                                                            \
    }                                                                                                                \
    static void radam_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {                \
        const dt__optimizer_step *step = arg;                                                                        \
        const T *p0 = ins[0], *grad = ins[1], *m0 = ins[2], *v0 = ins[3];                                            \
        T *p = outs[0], *m = outs[1], *v = outs[2];                                                                  \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, keep = (T)step->keep, a = (T)(1 - step->beta1);       \
        const T b = (T)step->beta2, c = (T)(1 - step->beta2), rate = (T)step->rate, eps = (T)step->eps;              \
        const bool is_adaptive = step->is_adaptive;                                                                  \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            T kept = p0[i] * keep, g = grad[i] * scale + l2 * p0[i];                                                 \
            T mean = m0[i] + (g - m0[i]) * a, square = v0[i] * b + g * g * c;                                        \
            p[i] = kept - rate * (is_adaptive ? mean / (ROOT(square) + eps) : mean);                                 \
            m[i] = mean;                                                                                             \
            v[i] = square;                                                                                           \
        }                                                                                                            \
    }                                                                                                                \
    static void lion_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {                 \
        const dt__optimizer_step *step = arg;                                                                        \
        const T *p0 = ins[0], *grad = ins[1], *m0 = ins[2];                                                          \
        T *p = outs[0], *m = outs[1];                                                                                \
        const T scale = (T)step->grad_scale, keep = (T)step->keep, rate = (T)step->rate;                             \
        const T a = (T)step->beta1, c = (T)(1 - step->beta1), b = (T)step->beta2, d = (T)(1 - step->beta2);          \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            T g = grad[i] * scale, mixed = m0[i] * a + g * c;                                                        \
            T sign = mixed > 0 ? (T)1 : mixed < 0 ? (T)-1 : mixed;                                                   \
            p[i] = p0[i] * keep - rate * sign;                                                                       \
            m[i] = m0[i] * b + g * d;                                                                                \
        }                                                                                                            \
    }
MORE_OPTIMIZER_LOOPS(f32, float, sqrtf)
MORE_OPTIMIZER_LOOPS(f64, double, sqrt)

/* With the average of gradients after that of their squares where centered, and then a momentum. */
#define RMSPROP_LOOP(KIND, NAME, T, ROOT, IS_CENTERED, HAS_MOMENTUM)                                                 \
    static void KIND##_##NAME(int64_t n, const void *const *ins, void *const *outs, const void *arg) {               \
        const dt__optimizer_step *step = arg;                                                                        \
        enum {                                                                                                       \
            AVERAGE = IS_CENTERED ? 3 : 2,                                                                           \
            MOMENTUM = IS_CENTERED ? 4 : 3,                                                                          \
            LAST = 1 + IS_CENTERED + HAS_MOMENTUM                                                                    \
        };                                                                                                           \
        const T *p0 = ins[0], *grad = ins[1], *v0 = ins[2], *m0 = ins[AVERAGE],                                      \
                *u0 = ins[HAS_MOMENTUM ? MOMENTUM : 2];                                                              \
        T *p = outs[0], *v = outs[1], *m = outs[IS_CENTERED ? 2 : 1], *u = outs[LAST];                               \
        const T scale = (T)step->grad_scale, l2 = (T)step->l2, b = (T)step->beta2, c = (T)(1 - step->beta2);         \
        const T mu = (T)step->beta1, rate = (T)step->rate, eps = (T)step->eps;                                       \
        DT__EACH for (int64_t i = 0; i < n; i++) {                                                                   \
            T g = grad[i] * scale + l2 * p0[i], square = v0[i] * b + g * g * c;                                      \
            T mean = IS_CENTERED ? m0[i] + (g - m0[i]) * c : 0;                                                      \
            T along = g / (ROOT(square - mean * mean) + eps);                                                        \
            along = HAS_MOMENTUM ? u0[i] * mu + along : along;                                                       \
            p[i] = p0[i] - rate * along;                                                                             \
            if (HAS_MOMENTUM)                                                                                        \
                u[i] = along;                                                                                        \
            if (IS_CENTERED)                                                                                         \
                m[i] = mean;                                                                                         \
            v[i] = square;                                                                                           \
        }                                                                                                            \
    }
#define RMSPROP_LOOPS(NAME, T, ROOT)                                                                                 \
    RMSPROP_LOOP(rmsprop, NAME, T, ROOT, 0, 0)                                                                       \
    RMSPROP_LOOP(rmsprop_momentum, NAME, T, ROOT, 0, 1)                                                              \
    RMSPROP_LOOP(rmsprop_centered, NAME, T, ROOT, 1, 0)                                                              \
    RMSPROP_LOOP(rmsprop_centered_momentum, NAME, T, ROOT, 1, 1)
RMSPROP_LOOPS(f32, float, sqrtf)
RMSPROP_LOOPS(f64, double, sqrt)

static dt__operand_loop *const optimizer_loops[DT__N_OPTIMIZERS][2] = {
    [DT__ADAM] = {adam_f32, adam_f64},
    [DT__AMSGRAD] = {amsgrad_f32, amsgrad_f64},
    [DT__SGD] = {sgd_f32, sgd_f64},
    [DT__MOMENTUM] = {momentum_f32, momentum_f64},
    [DT__ADAGRAD] = {adagrad_f32, adagrad_f64},
    [DT__RMSPROP] = {rmsprop_f32, rmsprop_f64},
    [DT__RMSPROP_MOMENTUM] = {rmsprop_momentum_f32, rmsprop_momentum_f64},
    [DT__RMSPROP_CENTERED] = {rmsprop_centered_f32, rmsprop_centered_f64},
    [DT__RMSPROP_CENTERED_MOMENTUM] = {rmsprop_centered_momentum_f32, rmsprop_centered_momentum_f64},
    [DT__ADAMAX] = {adamax_f32, adamax_f64},
    [DT__NADAM] = {nadam_f32, nadam_f64},
    [DT__RADAM] = {radam_f32, radam_f64},
    [DT__LION] = {lion_f32, lion_f64},
};

#endif
