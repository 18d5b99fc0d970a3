/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs with a use placement (tensor/use_placement.c). An op that only reads such a tensor is decided as if the tensor
 * were in its use placement; running the decision brings it there first, for this op and the next ones of the scope.
 * The program requested that transfer: no policy applies to it, and it counts under its own name. A view shares the
 * memory of the stored tensor, and its use placement is the view of the tensor's use placement; only if the stored
 * tensor would have to move is it a view of the copy (tensor/copied_views.c).
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

/* The tensor in the dtype of its use placement, before it moves; the caller drops what is not the tensor itself. */
static dt_tensor *converted(dt_tensor *tensor, const dt_spec *use) {
    return tensor->dtype == use->dtype ? tensor : dt__tensor_convert(tensor, use->dtype);
}

dt_tensor *dt__use_input(dt_tensor *tensor, dt_spec *use) {
    dt_ctx *ctx = tensor->ctx;
    dt_tensor *copy = dt__used_copy_find(tensor, use);
    if (copy)
        return dt__tensor_alias(copy);
    const char *outer = ctx->observer ? ctx->observer->op : NULL;
    if (ctx->observer)
        ctx->observer->op = DT__USE_NAME;
    dt_tensor *from = dt__check_current(tensor) == DT_OK ? converted(tensor, use) : NULL;
    copy = from ? dt__tensor_redistribute(from, use, DT__PLANNER_DIRECT) : NULL;
    if (from != tensor)
        dt_drop(from);
    if (ctx->observer)
        ctx->observer->op = outer;
    if (copy && dt__used_copy_add(tensor, copy) != DT_OK) {
        dt_drop(copy);
        return NULL;
    }
    return copy ? dt__tensor_alias(copy) : NULL;
}

/* Tensors that move to their use placements together. */
typedef struct use_list {
    int n;
    dt_tensor **tensors, **copies;
    dt_tensor **from; /* the tensors in the dtypes of their use placements */
    dt_spec **to;
} use_list;

/* Whether the list has a tensor with the same elements and the same use placement. */
static bool is_listed(const use_list *self, const dt_tensor *tensor) {
    for (int i = 0; i < self->n; i++)
        if (self->tensors[i]->storage == tensor->storage && self->tensors[i]->data == tensor->data &&
            self->tensors[i]->spec == tensor->spec && self->to[i] == tensor->use)
            return true;
    return false;
}

static dt_status move_list(dt_ctx *ctx, const use_list *self) {
    const char *outer = ctx->observer ? ctx->observer->op : NULL;
    const dt__recorder *recorder = ctx->recorder;
    if (ctx->observer)
        ctx->observer->op = DT__USE_NAME;
    ctx->recorder = NULL;
    dt_status status = DT_OK;
    for (int i = 0; i < self->n && status == DT_OK; i++) {
        status = dt__check_current(self->tensors[i]);
        if (status == DT_OK && !(self->from[i] = converted(self->tensors[i], self->to[i])))
            status = dt_error_status(ctx);
    }
    if (status == DT_OK)
        status = dt__tensors_redistribute(ctx, self->n, self->from, self->to, false, self->copies);
    for (int i = 0; i < self->n; i++)
        if (self->from[i] != self->tensors[i])
            dt_drop(self->from[i]);
    ctx->recorder = recorder;
    if (ctx->observer)
        ctx->observer->op = outer;
    DT__TRY(status);
    for (int i = 0; i < self->n; i++) {
        if (status == DT_OK)
            status = dt__used_copy_add(self->tensors[i], self->copies[i]);
        if (status != DT_OK)
            dt_drop(self->copies[i]);
    }
    return status;
}

dt_status dt__use_together(dt_ctx *ctx, int n, dt_tensor *const *tensors) {
    dt__arena arena = dt__arena_new(ctx);
    use_list list = {.tensors = DT__NEW_ARRAY(&arena, dt_tensor *, n + 1),
                     .copies = DT__NEW_ARRAY(&arena, dt_tensor *, n + 1),
                     .from = DT__NEW_ARRAY(&arena, dt_tensor *, n + 1),
                     .to = DT__NEW_ARRAY(&arena, dt_spec *, n + 1)};
    dt_status status = list.tensors && list.copies && list.from && list.to ? DT_OK : DT_ERR_MEMORY;
    for (int i = 0; i < n && status == DT_OK; i++) {
        dt_tensor *tensor = tensors[i];
        if (!tensor->use || dt__used_copy_find(tensor, tensor->use) || is_listed(&list, tensor))
            continue;
        list.tensors[list.n] = tensor;
        list.to[list.n++] = tensor->use;
    }
    if (list.n && status == DT_OK)
        status = move_list(ctx, &list);
    dt__arena_free(&arena);
    return status;
}

dt_status dt_use_site(dt_tensors tensors, const dt_site *site) {
    dt_ctx *ctx = NULL;
    for (int i = 0; i < tensors.n && !ctx; i++)
        ctx = tensors.list[i] ? tensors.list[i]->ctx : NULL;
    DT__ENTER(ctx, "use", site);
    DT__TRY(DT__REFUSAL());
    if (!ctx)
        return tensors.n ? DT_ERR_VALUE : DT_OK;
    for (int i = 0; i < tensors.n; i++) {
        const dt_tensor *tensor = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, tensors.list[i], i + 1);
        if (!tensor)
            return dt__null_argument(ctx, "use", i + 1), dt_error_status(ctx);
        if (tensor->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "tensor %d belongs to another context", i + 1);
    }
    for (int i = 0; i < tensors.n; i++)
        DT__TRY(dt__note_tensor(tensors.list[i], NULL));
    return dt__use_together(ctx, tensors.n, tensors.list);
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
