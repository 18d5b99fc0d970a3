/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to a complete gradient: hooks run on it, in the order they were added, and it is stored for
 * dt_grad or dt_gradients. A new gradient is added to the stored one, which has memory of its own, because programs
 * write to it.
 */
#include "autograd/gradient_walk.h"

dt__gradient_slot *dt__gradient_slot_new(dt__recorded_call *record, int output) {
    dt__gradient_slot *slot = dt__owned_new(record->ctx, sizeof *slot, "a gradient"), **at = &record->slots;
    if (!slot)
        return NULL;
    slot->output = output;
    while (*at)
        at = &(*at)->next;
    return *at = slot;
}

dt__gradient_slot *dt__gradient_slot_find(const dt__recorded_call *record, int output, bool is_target) {
    dt__gradient_slot *slot = record->slots;
    while (slot && (slot->hook || slot->output != output || slot->is_target != is_target))
        slot = slot->next;
    return slot;
}

void dt__gradient_slot_remove(dt__recorded_call *record, dt__gradient_slot *slot) {
    dt__gradient_slot **at = &record->slots;
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
    if (slot->grad)
        dt_tensor_release(slot->grad);
    if (slot->end)
        slot->end(slot->user);
    dt__owned_free(record->ctx, slot);
}

bool dt__gradient_owns_memory(const dt_tensor *grad) {
    if (grad->storage->n_refs > 1 || grad->storage->origin)
        return false;
    for (int d = 0; d < grad->local_n_dims; d++)
        if (grad->strides[d] == 0 && grad->local_shape[d] > 1)
            return false;
    return true;
}

dt_status dt__gradient_store(dt__gradient_walk *walk, dt__gradient_slot *slot, dt_tensor *grad) {
    dt_tensor *sum = NULL;
    if (slot->grad && !walk->creates_graph && !slot->grad->record)
        return dt__gradient_add_in_place(slot->grad, grad) ? DT_OK : dt_error_status(walk->ctx);
    if (slot->grad)
        sum = dt__gradient_sum(slot->grad, grad);
    else if (slot->is_target || dt__gradient_owns_memory(grad))
        sum = dt__share_handle(grad);
    else
        sum = dt__gradient_copy(grad);
    if (!sum)
        return dt_error_status(walk->ctx);
    if (slot->grad)
        dt_tensor_release(slot->grad);
    slot->grad = dt_tensor_retain(sum);
    if (!slot->is_target)
        dt__storage_set_kind(sum->storage, DT_MEMORY_GRADIENTS);
    dt_drop(sum);
    return DT_OK;
}

/* The hook is the program's function: errors in it name its own calls and lines. */
static dt_status run_hook(dt__gradient_walk *walk, const dt__gradient_slot *slot, const dt__recorded_tensor *of,
                          dt_tensor **grad) {
    dt_ctx *ctx = walk->ctx;
    dt__public_call outer = ctx->call;
    ctx->call.depth = 0;
    dt_tensor *result = slot->hook(*grad, slot->user);
    ctx->call = outer;
    if (dt_failed(ctx))
        return dt_error_status(ctx);
    result = result ? DT__LIVE(DT__KIND_TENSOR, result) : *grad;
    if (!result || result == *grad)
        return result ? DT_OK : dt_error_status(ctx);
    dt_drop(*grad);
    *grad = dt__share_handle(result);
    if (*grad && (*grad = dt__gradient_fit(*grad, of)) && !dt__gradient_is_placed(*grad, of->spec))
        *grad = dt__gradient_place(*grad, of->spec);
    return *grad ? DT_OK : dt_error_status(ctx);
}

dt_status dt__gradient_deliver(dt__gradient_walk *walk, dt__recorded_call *record, int output, dt_tensor **grad) {
    const dt__recorded_tensor *of = &record->tensors[record->n_inputs + output];
    for (dt__gradient_slot *slot = record->slots, *next; slot; slot = next) {
        next = slot->next;
        if (slot->output == output && slot->hook)
            DT__TRY(run_hook(walk, slot, of, grad));
    }
    dt__gradient_slot *slot = dt__gradient_slot_find(record, output, walk->only_needed);
    if (!slot && record->head.is_leaf && !walk->only_needed && !(slot = dt__gradient_slot_new(record, output)))
        return dt_error_status(walk->ctx);
    return slot ? dt__gradient_store(walk, slot, *grad) : DT_OK;
}
