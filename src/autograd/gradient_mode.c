/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls are recorded: not those between dt_no_grad_begin and dt_no_grad_end, nor those on detached tensors.
 */
#include "autograd/record.h"

bool dt_is_leaf(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    return tensor && (tensor->record ? tensor->record->is_leaf : !dt_requires_grad(tensor));
}

dt_tensor *dt_detach_site(const dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "detach", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    dt_tensor *detached = tensor && dt__note_tensor(tensor, NULL) == DT_OK ? dt__tensor_alias(tensor) : NULL;
    if (detached) {
        dt__set_use_spec(detached, tensor->use);
        detached->special |= DT__DETACHED;
    }
    return detached;
}

void dt_no_grad_begin(dt_ctx *ctx) {
    if (!ctx)
        return;
    ctx->no_grad++;
    ctx->recorder = NULL;
}

dt_status dt_no_grad_end_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "no_grad_end", site);
    if (!ctx)
        return DT_ERR_VALUE;
    if (!ctx->no_grad)
        return dt__fail(ctx, DT_ERR_STATE, "expected an open dt_no_grad_begin, got none");
    if (--ctx->no_grad == 0 && ctx->slots[DT__SLOT_AUTOGRAD].state)
        ctx->recorder = &dt__autograd_recorder;
    return DT_OK;
}
