/* SPDX-License-Identifier: Apache-2.0
 *
 * Items of a list call that run as one loop over their memory (DT__OP_LOOP). An optimizer steps hundreds of small
 * parameters, and a call of the kernel for each costs several times what its elements do. Consecutive items with one
 * decision have the same dtypes and shapes, so the loop is bound to the arguments once for all of them. An item is left
 * to the kernel unless its local tensors are dense and few; the loop is what the kernel runs for such an item, so the
 * bits do not depend on the way.
 */
#include "base/hot.h"
#include "dispatch/dispatch_state.h"

/* Consecutive items. */
typedef struct looped {
    const dt__call *list;
    const dt__list_items *items;
    const dt__decision *item; /* of each of them */
    int64_t n;                /* elements of a local tensor */
    int n_dims;
    const int64_t *shape;
    int64_t strides[DT_SPEC_MAX_DIMS]; /* where it is dense */
    dt__bound_loop bound;
} looped;

static const dt_tensor *member(const looped *self, int t, int m) {
    return self->list->inputs[dt__list_item_input(self->items, t, m)];
}

/* Whether the call does nothing else for an item than run the kernel on its tensors. */
static bool is_plain_run(const dt_ctx *ctx, const dt__call *list, const dt__decision *item) {
    return item->is_in_place && item->runs && !list->used && !ctx->estimate && !ctx->recorder && dt__has_data(ctx);
}

/* Whether all tensors of item t have one dtype and one local shape, of as many elements as a thread takes alone. */
static bool has_one_shape(looped *self, int t) {
    const dt_tensor *first = member(self, t, 0);
    self->n_dims = first->local_n_dims;
    self->shape = first->local_shape;
    self->n = 1;
    for (int d = self->n_dims - 1; d >= 0; d--) {
        self->strides[d] = self->n;
        self->n *= self->shape[d];
    }
    if ((first->dtype != DT_F32 && first->dtype != DT_F64) || self->n > DT__LOOP_PIECE)
        return false;
    for (int m = 1; m < self->items->n_members; m++) {
        const dt_tensor *other = member(self, t, m);
        if (other->dtype != first->dtype || other->local_n_dims != self->n_dims)
            return false;
        for (int d = 0; d < self->n_dims; d++)
            if (other->local_shape[d] != self->shape[d])
                return false;
    }
    return true;
}

static inline bool is_dense(const looped *self, const dt_tensor *tensor) {
    for (int d = 0; d < self->n_dims; d++)
        if (tensor->strides[d] != self->strides[d] && self->shape[d] != 1)
            return false;
    return true;
}

/* Whether an input that is only read begins elsewhere in memory that is written; then it has to be copied first. */
static inline bool overlaps_written(const looped *self, dt_tensor *const *tensors) {
    for (int m = 0; m < self->items->n_members; m++)
        for (int w = 0; w < self->items->n_members && !self->item->inputs[m].written; w++)
            if (self->item->inputs[w].written && tensors[w]->storage == tensors[m]->storage &&
                tensors[w]->data != tensors[m]->data)
                return true;
    return false;
}

static inline bool run_item(const looped *self, int t, const dt__data_change *change) {
    dt_tensor *tensors[DT__MAX_ARGS];
    const void *ins[DT__MAX_ARGS];
    void *outs[DT__MAX_ARGS];
    for (int m = 0; m < self->items->n_members; m++) {
        tensors[m] = self->list->inputs[dt__list_item_input(self->items, t, m)];
        ins[m] = tensors[m]->data;
        if (!is_dense(self, tensors[m]))
            return false;
    }
    if (overlaps_written(self, tensors))
        return false;
    for (int o = 0; o < self->item->n_outputs; o++)
        outs[o] = tensors[self->item->outputs[o].input]->data;
    self->bound.loop(self->n, ins, outs, &self->bound.argument);
    for (int o = 0; o < self->item->n_outputs; o++)
        dt__storage_set_changed(tensors[self->item->outputs[o].input]->storage, change);
    return true;
}

DT__HOT int dt__list_loop_run(const dt__call *list, const dt__list_items *items, const dt_op_call *one,
                              const dt__decision *decision, int from) {
    looped self = {.list = list, .items = items, .item = decision->items[from]};
    int t = from;
    if (!is_plain_run(list->ctx, list, self.item) || !has_one_shape(&self, from) || self.n == 0)
        return 0;
    const dt__loop_op *op = one->op->family;
    const dt__data_change change = dt__data_change_of(list->ctx);
    op->bind(one, member(&self, from, 0)->dtype, &self.bound);
    while (t < decision->n_items && decision->items[t] == self.item && run_item(&self, t, &change))
        t++;
    return t - from;
}
