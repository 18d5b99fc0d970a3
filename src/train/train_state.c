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
    dt__savings_free(self->savings);
}

/* A checkpoint gets its name when the program waits for it: without that it does not exist. */
static void finish(dt_ctx *ctx) {
    const dt__train_state *self = ctx->slots[DT__SLOT_TRAIN].state;
    const struct dt_saving *open = self ? dt__savings_abandon(self->savings) : NULL;
    char text[512];
    if (!open || ctx->status != DT_OK)
        return;
    dt__saving_text(open, sizeof text, text);
    (void)dt__fail(ctx, DT_ERR_STATE,
                   "the save of %s is not finished, and its files were removed: expected dt_saving_wait before "
                   "dt_close",
                   text);
}

dt__train_state *dt__train_state_of(dt_ctx *ctx) {
    void **state = &ctx->slots[DT__SLOT_TRAIN].state;
    if (!*state) {
        *state = dt__owned_new(ctx, sizeof(dt__train_state), "the context's optimizers");
        ctx->slots[DT__SLOT_TRAIN].free_state = *state ? free_state : NULL;
        ctx->slots[DT__SLOT_TRAIN].finish = *state ? finish : NULL;
    }
    return *state;
}
