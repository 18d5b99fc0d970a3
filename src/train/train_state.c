/* SPDX-License-Identifier: Apache-2.0
 *
 * What a context has of training: freed objects, and the lists of parameters and readers of batches that are open,
 * whose arenas and files are freed with the context.
 */
#include "train/train.h"

static void free_state(dt_ctx *ctx, void *state) {
    dt__train_state *self = state;
    (void)ctx;
    dt__params_abandon(self->open_params);
    dt__batches_abandon(self->open_batches);
}

dt__train_state *dt__train_state_of(dt_ctx *ctx) {
    void **state = &ctx->slots[DT__SLOT_TRAIN].state;
    if (!*state) {
        *state = dt__owned_new(ctx, sizeof(dt__train_state), "the context's optimizers");
        ctx->slots[DT__SLOT_TRAIN].free_state = *state ? free_state : NULL;
    }
    return *state;
}
