/* SPDX-License-Identifier: Apache-2.0
 *
 * Learning rates by step, and the scale of losses: arithmetic on values, without a context.
 */
#include "dtensor/train.h"

#include <math.h>

double dt_lr_constant(int64_t step, double lr, int64_t warmup) {
    return step < warmup ? lr * (double)(step + 1) / (double)warmup : lr;
}

/* How far step is from `begin` to `end`: 0 to 1. */
static double progress(int64_t step, int64_t begin, int64_t end) {
    return step >= end ? 1 : step <= begin ? 0 : (double)(step - begin) / (double)(end - begin);
}

double dt_lr_linear(int64_t step, double lr, double min_lr, int64_t warmup, int64_t steps) {
    return step < warmup ? dt_lr_constant(step, lr, warmup) : lr + (min_lr - lr) * progress(step, warmup, steps);
}

double dt_lr_cosine(int64_t step, double lr, double min_lr, int64_t warmup, int64_t steps) {
    const double pi = 3.14159265358979323846;
    if (step < warmup)
        return dt_lr_constant(step, lr, warmup);
    if (step >= steps)
        return min_lr;
    /* Multiplied before it is divided, as PyTorch's schedules are. */
    return min_lr + (lr - min_lr) / 2 * (1 + cos(pi * (double)(step - warmup) / (double)(steps - warmup)));
}

double dt_lr_wsd(int64_t step, double lr, double min_lr, int64_t warmup, int64_t decay, int64_t steps) {
    return step < warmup ? dt_lr_constant(step, lr, warmup)
                         : lr + (min_lr - lr) * progress(step, steps - decay, steps);
}

double dt_lr_step(int64_t step, double lr, double factor, int64_t every) {
    return every > 0 && step > 0 ? lr * pow(factor, (double)(step / every)) : lr;
}

dt_scaler dt_scaler_default(void) {
    dt_scaler scaler = {.scale = 65536, .growth = 2, .backoff = 0.5, .interval = 2000};
    return scaler;
}

bool dt_scaler_update(dt_scaler *scaler, double norm) {
    if (!isfinite(norm)) {
        scaler->scale *= scaler->backoff;
        scaler->n_finite = 0;
        return false;
    }
    if (++scaler->n_finite >= scaler->interval) {
        scaler->scale *= scaler->growth;
        scaler->n_finite = 0;
    }
    return true;
}
