/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for the records that a walk may come to. A leaf has an old number, because parameters are made before the
 * calls that read them, but its gradient is complete as soon as the oldest of these calls has been visited. Records
 * refer to what they read and leaves do not refer to their readers, so this search finds that call.
 */
#include "autograd/gradient_walk.h"

#include <stdlib.h>

void dt__record_search_begin(dt_ctx *ctx, dt__record_search *self) {
    dt__autograd_state *state = ctx->slots[DT__SLOT_AUTOGRAD].state;
    *self = (dt__record_search){.arena = dt__arena_new(ctx), .number = ++state->n_searches};
}

dt_status dt__record_search_add(dt__record_search *self, dt__recorded_call *record) {
    if (!record || record->found_by == self->number || record->number < self->oldest)
        return DT_OK;
    if (self->n == self->capacity) {
        int capacity = self->capacity * 2 + 64;
        dt__recorded_call **list = DT__NEW_ARRAY(&self->arena, dt__recorded_call *, capacity);
        if (!list)
            return DT_ERR_MEMORY;
        for (int i = 0; i < self->n; i++)
            list[i] = self->list[i];
        self->list = list;
        self->capacity = capacity;
    }
    record->found_by = self->number;
    record->oldest_use = 0;
    record->head.n_refs++;
    self->list[self->n++] = record;
    return DT_OK;
}

static int oldest_first(const void *a, const void *b) {
    const dt__recorded_call *const *x = a, *const *y = b;
    return (*x)->number < (*y)->number ? -1 : 1;
}

dt_status dt__record_search_run(dt__record_search *self) {
    for (int i = 0; i < self->n; i++)
        for (int k = 0; k < self->list[i]->n_inputs; k++)
            DT__TRY(dt__record_search_add(self, self->list[i]->tensors[k].made_by));
    if (self->n)
        qsort(self->list, (size_t)self->n, sizeof *self->list, oldest_first);
    for (int i = 0; i < self->n; i++)
        for (int k = 0; k < self->list[i]->n_inputs; k++) {
            dt__recorded_call *made_by = self->list[i]->tensors[k].made_by;
            if (made_by && made_by->head.is_leaf && !made_by->oldest_use)
                made_by->oldest_use = self->list[i]->number;
        }
    return DT_OK;
}

void dt__record_search_end(dt__record_search *self) {
    for (int i = 0; i < self->n; i++)
        dt__record_release(&self->list[i]->head);
    dt__arena_free(&self->arena);
    *self = (dt__record_search){0};
}
