/* SPDX-License-Identifier: Apache-2.0
 *
 * The five steps.
 */
#include "dispatch/dispatch.h"

#include "base/dtype.h"
#include "base/known.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "kernels/kernels.h"
#include "move/move.h"

#include <string.h>

static const int64_t nowhere[DT_SPEC_MAX_DIMS]; /* offset of a plain tensor */

/* An input as the kernel sees it. */
static dt_op_value seen(const dt_tensor *tensor, const dt_spec *spec) {
    return (dt_op_value){.dtype = tensor->dtype,
                         .n_dims = tensor->local_n_dims,
                         .shape = tensor->local_shape,
                         .strides = tensor->strides,
                         .data = tensor->data,
                         .whole = tensor->shape,
                         .offset = spec ? spec->local.offset : nowhere,
                         .spec = spec};
}

/* A part of the same shape that changes nothing where it is reduced. */
static dt_tensor *blank_of(const dt_tensor *tensor, dt_reduce reduce) {
    dt_tensor *blank = dt_empty_like(tensor);
    unsigned char element[16];
    if (blank && blank->data) {
        dt__write_identity(blank->dtype, reduce, element);
        dt__spread_fill(dt__kernels_of(blank->ctx), dt__pool_of(blank->ctx), blank->data, element,
                        dt_dtype_size(blank->dtype), dt_tensor_local_elements(blank));
    }
    return blank;
}

/* Step 3 for one input. A handle that is not the caller's is dropped at the end. */
static dt_tensor *bring(dt_tensor *tensor, const dt__input_decision *how) {
    dt_tensor *here = tensor;
    if (how->to) {
        dt_tensor *on_mesh =
            tensor->spec ? tensor
                         : dt__tensor_wrap(how->from, tensor->storage, dt__tensor_offset(tensor), tensor->strides);
        here = on_mesh ? dt__tensor_redistribute(on_mesh, how->to, DT__PLANNER_DIRECT) : NULL;
        if (on_mesh != tensor)
            dt_drop(on_mesh);
    }
    if (!here || !how->blank)
        return here;
    dt_tensor *blank = blank_of(here, how->blank_as);
    if (here != tensor)
        dt_drop(here);
    return blank;
}

static dt_op_value value_of_output(const dt__output_decision *output, const dt_tensor *tensor) {
    return (dt_op_value){.dtype = output->dtype,
                         .n_dims = output->local_n_dims,
                         .shape = output->local_shape,
                         .strides = tensor->strides,
                         .data = tensor->data,
                         .whole = output->shape,
                         .offset = output->spec ? output->spec->local.offset : nowhere,
                         .spec = output->spec};
}

static dt_tensor *new_output(dt_ctx *ctx, const dt__output_decision *output) {
    if (output->spec)
        return dt__tensor_of_spec(output->spec);
    dt__storage *storage = dt__storage_new(ctx, (size_t)output->bytes);
    if (!storage)
        return NULL;
    dt_tensor *tensor =
        dt__tensor_plain(storage, &(dt__reading){output->dtype, output->n_dims, output->shape, NULL, 0});
    dt__storage_drop(storage);
    return tensor;
}

static void drop_some(int n, dt_tensor **tensors) {
    for (int i = 0; i < n; i++)
        dt_drop(tensors[i]);
}

/* Steps 4 and 5 where outputs have memory of their own, or an input's. */
static dt_status run_kernel(dt_ctx *ctx, const dt__invocation *call, const dt__decision *decision, dt_op_call *asked,
                            dt_tensor **outputs) {
    const dt_op *op = call->info->op;
    dt_op_value values[DT__MAX_OUTPUTS];
    int first = op->flags & DT_OP_INPLACE ? 1 : 0;
    if (first)
        outputs[0] = call->inputs[0];
    for (int i = 0; i < decision->n_outputs; i++) {
        if (i >= first)
            outputs[i] = new_output(ctx, &decision->outputs[i]);
        if (!outputs[i]) {
            drop_some(i - first, outputs + first);
            return dt_error_status(ctx);
        }
        values[i] = value_of_output(&decision->outputs[i], outputs[i]);
    }
    dt_status status = DT_OK;
    bool counts = op->flags & DT_OP_RANDOM; /* ranks outside the mesh draw along, or theirs would be other numbers */
    if ((decision->runs || counts) && dt__has_data(ctx)) {
        asked->outputs = values;
        status = op->kernel(asked);
    }
    if (status != DT_OK)
        drop_some(decision->n_outputs - first, outputs + first);
    else if (first)
        outputs[0]->storage->version++;
    return status;
}

/* A handle on the first input's storage, as the kernel said. */
static dt_tensor *view_of(const dt_tensor *source, const dt__output_decision *output, const dt_op_value *value) {
    int64_t offset =
        value->data ? ((unsigned char *)value->data - source->storage->data) / (int64_t)dt_dtype_size(output->dtype)
                    : 0;
    if (output->spec)
        return dt__tensor_wrap(output->spec, source->storage, offset, value->strides);
    return dt__tensor_plain(source->storage,
                            &(dt__reading){output->dtype, output->n_dims, output->shape, value->strides, offset});
}

/* Steps 4 and 5 where outputs are views: the kernel says strides and first elements. One that answers
 * DT_IN_PROGRESS cannot do without a copy, and gets one. */
static dt_status run_view(dt_ctx *ctx, const dt__decision *decision, dt_op_call *asked, dt_tensor *source,
                          dt_op_value *inputs, dt_tensor **outputs) {
    dt_op_value values[DT__MAX_OUTPUTS];
    int64_t strides[DT__MAX_OUTPUTS][DT_SPEC_MAX_DIMS];
    dt_status status = DT_OK;
    for (int i = 0; i < decision->n_outputs; i++) {
        const dt__output_decision *output = &decision->outputs[i];
        dt__row_strides(output->local_n_dims, output->local_shape, strides[i]);
        values[i] = (dt_op_value){.dtype = output->dtype,
                                  .n_dims = output->local_n_dims,
                                  .shape = output->local_shape,
                                  .strides = strides[i],
                                  .data = source->data,
                                  .whole = output->shape,
                                  .offset = output->spec ? output->spec->local.offset : nowhere,
                                  .spec = output->spec};
    }
    dt_tensor *copy = NULL;
    if (decision->runs && dt__has_data(ctx)) {
        asked->outputs = values;
        status = asked->op->kernel(asked);
        if (status == DT_IN_PROGRESS) {
            source = copy = dt_clone(source);
            status = copy ? DT_OK : dt_error_status(ctx);
            if (copy) {
                inputs[0] = seen(copy, inputs[0].spec);
                status = asked->op->kernel(asked);
            }
        }
    }
    int n = 0;
    for (; status == DT_OK && n < decision->n_outputs; n++)
        if (!(outputs[n] = view_of(source, &decision->outputs[n], &values[n])))
            break;
    if (status == DT_OK && n < decision->n_outputs)
        status = dt_error_status(ctx);
    if (status != DT_OK)
        drop_some(n, outputs);
    dt_drop(copy);
    return status;
}

static bool reads_alike(const dt_tensor *a, const dt_tensor *b) {
    size_t bytes = (size_t)a->local_n_dims * sizeof *a->strides;
    return a->data == b->data && a->dtype == b->dtype && a->local_n_dims == b->local_n_dims &&
           !memcmp(a->local_shape, b->local_shape, bytes) && !memcmp(a->strides, b->strides, bytes);
}

/* What an op in place writes may not be read through another view while it does: such an input is copied. */
static dt_status part_from_first(dt_ctx *ctx, int n, dt_tensor *const *given, dt_tensor **brought,
                                 dt_op_value *inputs) {
    for (int i = 1; i < n; i++) {
        if (brought[i]->storage != given[0]->storage || reads_alike(brought[i], given[0]))
            continue;
        dt_tensor *copy = dt_clone(brought[i]);
        if (!copy)
            return dt_error_status(ctx);
        if (brought[i] != given[i])
            dt_drop(brought[i]);
        brought[i] = copy;
        inputs[i] = seen(copy, inputs[i].spec);
    }
    return DT_OK;
}

/* Steps 3 to 5. */
static dt_status run(dt_ctx *ctx, const dt__invocation *call, const dt__decision *decision, dt_op_call *asked,
                     dt_op_value *inputs, dt_tensor **outputs) {
    dt_tensor *brought[DT__MAX_INPUTS];
    dt_status status = DT_OK;
    int n = 0;
    for (; n < call->n_inputs; n++) {
        const dt__input_decision *how = &decision->inputs[n];
        dt_tensor *tensor = call->inputs[n];
        brought[n] = how->to || how->blank ? bring(tensor, how) : tensor;
        if (!brought[n]) {
            status = dt_error_status(ctx);
            break;
        }
        inputs[n] = seen(brought[n], how->seen);
    }
    if (status == DT_OK && asked->op->flags & DT_OP_INPLACE)
        status = part_from_first(ctx, n, call->inputs, brought, inputs);
    asked->n_outputs = decision->n_outputs;
    asked->row_flags = decision->flags;
    bool is_view = asked->op->flags & DT_OP_VIEW && !(decision->flags & DT_ROW_OFFSET);
    DT__KNOWN(!is_view || status != DT_OK || n > 0);
    if (status == DT_OK)
        status = is_view ? run_view(ctx, decision, asked, brought[0], inputs, outputs)
                         : run_kernel(ctx, call, decision, asked, outputs);
    for (int i = 0; i < n; i++)
        if (brought[i] != call->inputs[i])
            dt_drop(brought[i]);
    return status;
}

/* The same while somebody counts or traces. */
static dt_status run_observed(dt_ctx *ctx, const dt__invocation *call, const dt__decision *decision,
                              dt_op_call *asked, dt_op_value *inputs, dt_tensor **outputs) {
    const dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    const char *before = dt__call_begin(ctx, asked->name);
    double begin_us = dt__now_us();
    dt__trace_op_begin(state->monitor, call, decision);
    dt_status status = run(ctx, call, decision, asked, inputs, outputs);
    dt__trace_op_end(ctx, state->monitor, call, decision, begin_us);
    dt__call_end(ctx, before);
    return status;
}

/* Step 1: the call as the op's functions see it, its inputs whole. */
static void unwrap(dt_ctx *ctx, const dt__invocation *call, dt_op_value *inputs, dt_op_call *out) {
    const dt__op_info *info = call->info;
    if (info->op->class_of) /* nobody else looks at them before the decision is made */
        for (int i = 0; i < call->n_inputs; i++) {
            inputs[i].dtype = call->inputs[i]->dtype;
            inputs[i].n_dims = call->inputs[i]->n_dims;
            inputs[i].shape = call->inputs[i]->shape;
        }
    *out = (dt_op_call){.ctx = ctx,
                        .op = info->op,
                        .name = info->schema.name,
                        .overload = call->overload,
                        .n_args = info->schema.signatures[call->overload].n_params,
                        .args = call->args,
                        .n_inputs = call->n_inputs,
                        .inputs = inputs,
                        .info = info};
}

static inline dt_status check(dt_ctx *ctx, const dt__invocation *call) {
    bool opened = ctx->slots[DT__SLOT_DISPATCH].state && ctx->slots[DT__SLOT_TENSOR].state;
    if (!opened && (!dt__dispatch_state_of(ctx) || !dt__tensor_state_of(ctx)))
        return dt_error_status(ctx);
    if (call->n_inputs > DT__MAX_INPUTS)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: %d tensors; at most %d", call->info->schema.name,
                        call->n_inputs, DT__MAX_INPUTS);
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i]->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "%s: tensor %d belongs to another context", call->info->schema.name,
                            i + 1);
    if (!call->info->op->kernel && !call->info->op->decompose)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: the op has no kernel", call->info->schema.name);
    return DT_OK;
}

dt_status dt__dispatch(dt_ctx *ctx, const dt__invocation *call, dt_tensor **outputs, int *n_outputs) {
    dt_op_value inputs[DT__MAX_INPUTS];
    dt_op_call asked;
    *n_outputs = 0;
    DT__TRY(check(ctx, call));
    if (!call->info->op->kernel)
        return dt__decompose(ctx, call, outputs, n_outputs);
    unwrap(ctx, call, inputs, &asked);
    dt__decision *decision = dt__decide(ctx, call, &asked);
    if (!decision)
        return dt_error_status(ctx);
    dt_status status = decision->communicates ? dt__policy_check(ctx, call, decision) : DT_OK;
    if (status == DT_OK && asked.op->flags & DT_OP_INPLACE)
        status = dt__refuse_repeats(call->inputs[0], asked.name);
    if (status == DT_OK)
        status = ctx->observer ? run_observed(ctx, call, decision, &asked, inputs, outputs)
                               : run(ctx, call, decision, &asked, inputs, outputs);
    if (status == DT_OK)
        *n_outputs = decision->n_outputs;
    dt__decision_release(ctx, decision);
    return status;
}
