/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs with a use placement (tensor/use_placement.c). An op that only reads such a tensor is decided as if it were
 * placed so; running the decision brings it there first, for this op and the next ones of the scope. The program
 * requested that transfer: it belongs to no policy, and counts under its own name. A view shares the memory of the
 * stored tensor, and has as its use placement what the view makes of that of the tensor; only where the stored tensor
 * would have to move it is a view of the copy (tensor/copied_views.c).
 */
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "move/move.h"

#include <string.h>

/* Whether the call writes the storage of the tensor. */
static bool is_written(const dt__call *call, const dt_tensor *tensor) {
    for (int i = 0; dt__call_writes(&call->op_call) && i < call->n_inputs; i++)
        if (call->inputs[i]->storage == tensor->storage && dt__writes_input(&call->op_call, i))
            return true;
    return false;
}

/* The decision of the call as it is now; the call is not added to histories. NULL with the error recorded. */
static dt__decision *decide_quietly(dt_ctx *ctx, dt__call *call) {
    DT__ENTER(ctx, call->info->schema.name, ctx->call.site);
    dt__call_set_global_inputs(call);
    return dt__decide(ctx, call);
}

/* Whether the call is a view of the stored tensor that moves nothing. */
static dt_status views_stored(dt_ctx *ctx, dt__call *call, bool *out) {
    *out = false;
    if (!(call->info->op->flags & DT_OP_VIEW))
        return DT_OK;
    dt__decision *decision = decide_quietly(ctx, call);
    if (!decision)
        return dt_error_status(ctx);
    *out = decision->is_view && decision->is_direct;
    dt__decision_release(ctx, decision);
    return DT_OK;
}

dt_status dt__call_find_uses(dt_ctx *ctx, dt__call *call) {
    const dt__op_info *info = call->info;
    unsigned flags = info->list ? info->list->each.op->flags : info->op->flags;
    bool decomposes = !info->op->kernel && !info->list, views, any = false;
    call->used = NULL;
    if (decomposes || flags & DT_OP_AS_STORED || ctx->as_stored)
        return DT_OK; /* the ops of a decomposition find their own */
    DT__TRY(views_stored(ctx, call, &views));
    size_t bytes = (size_t)call->n_inputs * sizeof *call->used;
    dt_spec **used = views ? NULL : dt__call_alloc(call, bytes);
    if (!used)
        return views ? DT_OK : DT_ERR_MEMORY;
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_tensor *tensor = call->inputs[i];
        used[i] = tensor->use && !is_written(call, tensor) ? tensor->use : NULL;
        any = any || used[i];
    }
    call->used = any ? used : NULL;
    return DT_OK;
}

dt_tensor *dt__use_input(dt_tensor *tensor, dt_spec *use) {
    dt_ctx *ctx = tensor->ctx;
    dt_tensor *copy = dt__used_copy_find(tensor, use);
    if (copy)
        return dt__tensor_alias(copy);
    const char *outer = ctx->observer ? ctx->observer->op : NULL;
    if (ctx->observer)
        ctx->observer->op = DT__USE_NAME;
    copy = dt__tensor_redistribute(tensor, use, DT__PLANNER_DIRECT);
    if (ctx->observer)
        ctx->observer->op = outer;
    if (copy && dt__used_copy_add(tensor, copy) != DT_OK) {
        dt_drop(copy);
        return NULL;
    }
    return copy ? dt__tensor_alias(copy) : NULL;
}

dt_status dt__call_inherit_uses(dt_ctx *ctx, dt__call *call) {
    dt_tensor *input = call->inputs[0];
    bool inherits = call->info->op->flags & DT_OP_VIEW && !call->used && input->use;
    if (!inherits || call->n_outputs == 0)
        return DT_OK;
    call->used = dt__call_alloc(call, (size_t)call->n_inputs * sizeof *call->used);
    for (int i = 0; call->used && i < call->n_inputs; i++)
        call->used[i] = i == 0 ? input->use : NULL;
    dt__decision *decision = call->used ? decide_quietly(ctx, call) : NULL;
    call->used = NULL;
    for (int i = 0; decision && i < call->n_outputs; i++)
        if (call->outputs[i]->storage == input->storage)
            dt__set_use_spec(call->outputs[i], decision->outputs[i].spec);
    if (decision) {
        dt__decision_release(ctx, decision);
        return DT_OK;
    }
    for (int i = 0; i < call->n_outputs; i++)
        dt_drop(call->outputs[i]);
    call->n_outputs = 0;
    return dt_error_status(ctx);
}
