/* SPDX-License-Identifier: Apache-2.0
 *
 * Scopes: a stack of lists of handles. A scope holds one reference to each handle in its list; ending it drops them.
 * Handles that are in no scope and still retained are in a list of their own, so that the context can free them.
 */
#include "base/hot.h"
#include "dtensor/binding.h"
#include "tensor/tensor_state.h"

static dt__tensor_state *state_of(const dt_tensor *tensor) { return tensor->ctx->slots[DT__SLOT_TENSOR].state; }

static bool push(dt_ctx *ctx, dt__tensor_state *state) {
    if ((size_t)state->n_scopes == state->capacity) {
        size_t capacity = state->capacity ? state->capacity * 2 : 16;
        struct dt__scope *scopes =
            dt__resize(ctx, state->scopes, state->capacity * sizeof *scopes, capacity * sizeof *scopes);
        if (!scopes)
            return dt__fail_memory(ctx, capacity * sizeof *scopes, "scopes"), false;
        state->scopes = scopes;
        state->capacity = capacity;
    }
    state->scopes[state->n_scopes++] = (struct dt__scope){.number = ++state->n_begun};
    return true;
}

bool dt__scopes_open(dt_ctx *ctx, dt__tensor_state *state) { return push(ctx, state); }

dt_scope dt_scope_begin_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "scope_begin", site);
    dt__tensor_state *state = ctx ? dt__tensor_state_of(ctx) : NULL;
    if (!state || !push(ctx, state))
        return (dt_scope){ctx, 0};
    return (dt_scope){ctx, state->n_begun};
}

static void pop(dt__tensor_state *state) {
    struct dt__scope *scope = &state->scopes[state->n_scopes - 1];
    if (scope->used_copies)
        dt__scope_end_copies(state, state->n_scopes - 1);
    while (scope->newest)
        dt_drop(scope->newest);
    state->n_scopes--;
}

/* If these numbers grow from one end of a loop's scope to the next, the loop keeps something that it should drop. */
static void log_memory(dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    if (!runtime || ctx->log_level < DT_LOG_DEBUG)
        return;
    const dt_heap_statistics *stats = &runtime->heap.stats;
    dt__log_call(ctx, DT_LOG_DEBUG, "%lld blocks of the heap are in use, %zu bytes", (long long)stats->n_live,
                 stats->live_bytes);
}

void dt_scope_end_site(dt_scope scope, const dt_site *site) {
    DT__ENTER(scope.ctx, "scope_end", site);
    dt__tensor_state *state = scope.ctx ? scope.ctx->slots[DT__SLOT_TENSOR].state : NULL;
    if (!state || scope.number == 0)
        return; /* dt_scope_begin failed and has recorded why */
    int64_t depth = state->n_scopes - 1;
    while (depth > 0 && state->scopes[depth].number != scope.number)
        depth--;
    if (depth == 0) {
        (void)dt__fail(scope.ctx, DT_ERR_STATE, "the scope has already ended");
        return;
    }
    while (state->n_scopes > depth)
        pop(state);
    log_memory(scope.ctx);
}

dt_tensor *dt_keep(dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    if (!tensor || tensor->scope <= 0)
        return tensor;
    dt__tensor_state *state = state_of(tensor);
    dt__scope_leave(state, tensor);
    dt__scope_enter(state, tensor, tensor->scope - 1);
    return tensor;
}

DT__HOT void dt_drop_site(dt_tensor *tensor, const dt_site *site) {
    if (!tensor)
        return;
    if (dt__is_freed(&tensor->life) || tensor->scope < 0) {
        DT__ENTER_TENSOR(tensor, "drop", site);
        if (tensor)
            (void)dt__fail(tensor->ctx, DT_ERR_STATE,
                           "the tensor is in no scope; use dt_tensor_release for a retained one");
        return;
    }
    dt__tensor_state *state = state_of(tensor);
    dt__scope_leave(state, tensor);
    if (--tensor->n_refs == 0)
        dt__handle_free(tensor, "drop", site);
    else
        dt__scope_enter(state, tensor, -1);
}

DT__HOT dt_tensor *dt_scope_newest(const dt_ctx *ctx) {
    const dt__tensor_state *state = ctx ? ctx->slots[DT__SLOT_TENSOR].state : NULL;
    if (!state)
        return NULL;
    const struct dt__scope *scope = &state->scopes[state->n_scopes - 1];
    return scope->used_copies ? dt__scope_newest_result(scope) : scope->newest;
}

/* Dropping a tensor may free used copies of it, which are in the list, too. */
void dt_drop_newer_site(dt_ctx *ctx, dt_tensor *than, const dt_site *site) {
    DT__ENTER(ctx, "drop_newer", site);
    if (!ctx || (than && !DT__LIVE_ARGUMENT(DT__KIND_TENSOR, than, 2)))
        return;
    if (than && (than->ctx != ctx || than->scope != dt__scope_current(ctx).depth)) {
        (void)dt__fail(ctx, DT_ERR_STATE, "the tensor is not in the current scope");
        return;
    }
    dt_tensor *newest = NULL;
    while ((newest = dt_scope_newest(ctx)) && newest != than)
        dt_drop(newest);
}

dt_tensor *dt__scope_take(dt_tensor *tensor) {
    if (tensor && tensor->scope < 0) {
        dt__tensor_state *state = state_of(tensor);
        dt__scope_leave(state, tensor);
        tensor->n_refs++;
        dt__scope_enter(state, tensor, state->n_scopes - 1);
    }
    return tensor;
}

dt__scope_id dt__scope_current(const dt_ctx *ctx) {
    const dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    return (dt__scope_id){state->n_scopes - 1, state->scopes[state->n_scopes - 1].number};
}

bool dt__scope_is_open(const dt_ctx *ctx, dt__scope_id scope) {
    const dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    return scope.depth < state->n_scopes && state->scopes[scope.depth].number == scope.number;
}

dt_tensor *dt_tensor_retain(dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    if (tensor)
        tensor->n_refs++;
    return tensor;
}

void dt_tensor_release_site(dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "tensor_release", site);
    if (!tensor)
        return;
    if (tensor->scope >= 0 && tensor->n_refs == 1) {
        (void)dt__fail(tensor->ctx, DT_ERR_STATE,
                       "the tensor was not retained; use dt_drop to drop it from its scope");
        return;
    }
    if (--tensor->n_refs > 0)
        return;
    dt__scope_leave(state_of(tensor), tensor);
    dt__handle_free(tensor, "tensor_release", site);
}
