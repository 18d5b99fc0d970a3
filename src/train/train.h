/* SPDX-License-Identifier: Apache-2.0
 *
 * What optimisers and norms of gradients share: the gradients of a list of parameters, and the state of the context
 * while they are written.
 */
#ifndef DT_TRAIN_TRAIN_H
#define DT_TRAIN_TRAIN_H

#include "autograd/autograd.h"
#include "dtensor/ops.h"
#include "dtensor/train.h"

/* The context of the first parameter that is not NULL; NULL: there is none. */
dt_ctx *dt__parameters_ctx(dt_tensors parameters);
/* Refuses parameters that are NULL, freed or of another context; and adds the call in progress to the histories of
 * their meshes. */
dt_status dt__parameters_check(dt_ctx *ctx, dt_tensors parameters, double number);

/* Until the end, nothing is recorded and use placements are ignored. */
typedef struct dt__training_setting {
    dt_ctx *ctx;
    const dt__recorder *recorder;
} dt__training_setting;
static inline dt__training_setting dt__training_begin(dt_ctx *ctx) {
    dt__training_setting setting = {ctx, ctx->recorder};
    ctx->recorder = NULL;
    ctx->as_stored++;
    return setting;
}
static inline void dt__training_end(const dt__training_setting *setting) {
    setting->ctx->recorder = setting->recorder;
    setting->ctx->as_stored--;
}

#endif
