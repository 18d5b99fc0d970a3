/* SPDX-License-Identifier: Apache-2.0
 *
 * What the functions of dtensor/ops.h have in common: they name an op by its index, build a dt__call and pass it to the
 * dispatcher. Calls by name are in src/dispatch/named_call.c.
 */
#include "base/hot.h"
#include "ops/op_functions.h"
#include "ops/ops.h"

dt_status dt__library_ops_open(dt_ctx *ctx) { return dt__ops_open(ctx); }

/* The context of the first tensor that is not NULL. Where all are NULL, an earlier call has recorded its error. */
static dt_ctx *ctx_of(const dt__call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i])
            return dt_tensor_ctx(call->inputs[i]);
    return NULL;
}

void dt__call_add_list(dt_arg *to, dt__call *call, dt_tensors tensors, bool optional) {
    int *members = NULL;
    for (int i = 0; i < tensors.n && !call->ctx; i++)
        call->ctx = tensors.list[i] ? dt_tensor_ctx(tensors.list[i]) : NULL;
    to->type = DT_ARG_TENSORS;
    to->n = tensors.n;
    int n = (call->n_inputs > call->n_members ? call->n_inputs : call->n_members) + tensors.n;
    if (n > call->capacity && (!call->ctx || dt__call_reserve(call, n) != DT_OK)) {
        call->failed = true;
        return;
    }
    if (optional) {
        members = call->members + call->n_members;
        call->n_members += tensors.n;
    }
    to->as.tensors.first = call->n_inputs;
    to->as.tensors.members = NULL;
    for (int i = 0; i < tensors.n; i++) {
        bool none = members && !tensors.list[i];
        if (none)
            to->as.tensors.members = members;
        if (members)
            members[i] = none ? -1 : call->n_inputs;
        if (!none)
            call->inputs[call->n_inputs++] = tensors.list[i];
    }
}

static const char *const op_names[] = {
#define OP_NAME(name) #name,
    DT__OP_LIST(OP_NAME)
#undef OP_NAME
};

static inline __attribute__((always_inline)) dt_status run_indexed(dt__call *call, dt__op_number op,
                                                                   const dt_site *site) {
    dt_ctx *ctx = call->ctx ? call->ctx : ctx_of(call);
    if (!ctx || call->failed)
        return DT_ERR_VALUE;
    call->ctx = ctx;
    DT__ENTER_ON(ctx, op_names[op], site, call->n_inputs ? call : NULL, dt__call_describe);
    DT__TRY(DT__REFUSAL());
    DT__TRY(dt__ops_open(ctx));
    call->info = dt__op_at(ctx, (int)op);
    return call->info ? dt__dispatch(ctx, call) : dt_error_status(ctx);
}

DT__HOT dt_tensor *dt__call_run(dt__call *call, dt__op_number op, const dt_site *site) {
    dt_status status = run_indexed(call, op, site);
    dt_tensor *first = status == DT_OK && call->n_outputs > 0 ? call->outputs[0] : NULL;
    dt__call_end(call);
    return first;
}

dt_status dt__call_run_status(dt__call *call, dt__op_number op, const dt_site *site) {
    dt_status status = run_indexed(call, op, site);
    dt__call_end(call);
    return status;
}

void dt__call_run_several(dt__call *call, dt__op_number op, const dt_site *site, dt_tensor **outputs, int n) {
    int n_made = run_indexed(call, op, site) == DT_OK ? call->n_outputs : 0;
    for (int i = 0; i < n; i++)
        outputs[i] = i < n_made ? call->outputs[i] : NULL;
    dt__call_end(call);
}

int dt__call_run_list(dt__call *call, dt__op_number op, const dt_site *site, dt_tensor **out, int capacity) {
    int n = run_indexed(call, op, site) == DT_OK ? call->n_outputs : -1;
    for (int i = 0; i < n && i < capacity; i++)
        out[i] = call->outputs[i];
    dt__call_end(call);
    return n;
}
