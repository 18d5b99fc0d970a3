/* SPDX-License-Identifier: Apache-2.0
 *
 * The five steps of a call, and ops without a kernel, which run their decomposition. Decisions are made in decide.c;
 * this file moves inputs, runs kernels and creates handles.
 */
#include "dispatch/dispatch.h"
#include "base/hot.h"

#include "base/assume.h"
#include "base/dtype.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "kernels/kernels.h"
#include "mesh/mesh.h"
#include "move/move.h"

#include <stdio.h>
#include <string.h>

static const int64_t zero_offset[DT_SPEC_MAX_DIMS]; /* of a plain tensor */

void dt__call_set_global_inputs(dt__call *call) {
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_tensor *tensor = call->inputs[i];
        dt_op_value *value = &call->values[i]; /* the other fields are set for kernels only */
        bool used = call->used && call->used[i];
        value->dtype = used ? call->used[i]->dtype : tensor->dtype;
        value->n_dims = tensor->n_dims;
        value->shape = tensor->shape;
        value->spec = used ? call->used[i] : tensor->spec; /* classes depend on it */
    }
}

void dt__call_describe(const void *call, char *out, size_t capacity) {
    enum { MAX_SHOWN = 8 };
    const dt__call *self = call;
    int n = self->n_inputs < MAX_SHOWN ? self->n_inputs : MAX_SHOWN;
    size_t used = 0;
    for (int i = 0; i < n && used < capacity; i++) {
        used += (size_t)snprintf(out + used, capacity - used, "%s", i ? "; " : "");
        if (used < capacity)
            used += dt_tensor_text(self->inputs[i], capacity - used, out + used);
    }
    if (used < capacity && self->n_inputs > n)
        (void)snprintf(out + used, capacity - used, "; …");
}

void dt__call_print(const dt__call *call, uint32_t hidden, dt__text *out) {
    dt__arena arena = dt__arena_new(call->ctx);
    dt_op_value *inputs = DT__NEW_ARRAY(&arena, dt_op_value, call->n_inputs);
    const dt_spec **uses = DT__NEW_ARRAY(&arena, const dt_spec *, call->n_inputs);
    for (int i = 0; inputs && uses && i < call->n_inputs; i++) {
        const dt_tensor *tensor = call->inputs[i];
        uses[i] = tensor->use;
        inputs[i] = (dt_op_value){
            .dtype = tensor->dtype, .n_dims = tensor->n_dims, .shape = tensor->shape, .spec = tensor->spec};
    }
    if (inputs && uses)
        dt__call_form_text(call->info, call->overload, call->args, inputs, uses, hidden, out);
    dt__arena_free(&arena);
}

/* Sets the value of an input for the kernel. Field by field, as dt__op_call_init. */
static inline void set_local_value(dt_op_value *to, const dt_tensor *tensor, const dt_spec *spec) {
    to->dtype = tensor->dtype;
    to->n_dims = tensor->local_n_dims;
    to->shape = tensor->local_shape;
    to->strides = tensor->strides;
    to->data = tensor->data;
    to->global_shape = tensor->shape;
    to->offset = spec ? spec->local.offset : zero_offset;
    to->spec = spec;
}

/* A tensor of the same spec whose local elements are the identity of a reduction. */
static dt_tensor *new_identity(const dt_tensor *like, dt_reduce reduce) {
    dt_tensor *tensor = dt__empty_like(like);
    unsigned char element[16];
    if (tensor && tensor->data) {
        dt__write_identity(tensor->dtype, reduce, element);
        dt__spread_fill(dt__kernels_of(tensor->ctx), dt__pool_of(tensor->ctx), tensor->data, element,
                        dt_dtype_size(tensor->dtype), dt_tensor_local_elements(tensor));
    }
    return tensor;
}

/* Step 3 for one input. The result must be dropped unless it is the input itself. */
static dt_tensor *move_input(dt_tensor *input, const dt__input_decision *decision) {
    dt_tensor *tensor = decision->is_used ? dt__use_input(input, decision->from) : input, *moved = tensor;
    if (tensor && decision->to) {
        dt_tensor *on_mesh = tensor->spec ? tensor
                                          : dt__tensor_wrap(decision->from, tensor->storage,
                                                            dt__tensor_offset(tensor), tensor->strides);
        moved = on_mesh ? dt__tensor_move(on_mesh, decision->to, decision->counts) : NULL;
        if (on_mesh != tensor)
            dt_drop(on_mesh);
        if (tensor != input)
            dt_drop(tensor);
    }
    if (!moved || !decision->identity)
        return moved;
    dt_tensor *identity = new_identity(moved, decision->identity_of);
    if (moved != input)
        dt_drop(moved);
    return identity;
}

/* Sets the value of an output for the kernel. */
static inline void set_output_value(dt_op_value *to, const dt__output_decision *output, const int64_t *strides,
                                    void *data) {
    to->dtype = output->dtype;
    to->n_dims = output->local_n_dims;
    to->shape = output->local_shape;
    to->strides = strides;
    to->data = data;
    to->global_shape = output->shape;
    to->offset = output->spec ? output->spec->local.offset : zero_offset;
    to->spec = output->spec;
}

static inline dt_tensor *new_output(dt_ctx *ctx, const dt__output_decision *output) {
    return output->spec ? dt__tensor_of_spec(output->spec)
                        : dt__tensor_dense(ctx, output->dtype, output->n_dims, output->shape, (size_t)output->bytes);
}

static void drop_all(int n, dt_tensor **tensors) {
    for (int i = 0; i < n; i++)
        dt_drop(tensors[i]);
}

/* Drops the first n outputs, except inputs that were written. */
static void drop_new_outputs(const dt__call *call, const dt__decision *decision, int n) {
    for (int i = 0; i < n; i++)
        if (decision->outputs[i].input < 0)
            dt_drop(call->outputs[i]);
}

static void count_versions(const dt__call *call, const dt__decision *decision) {
    for (int i = 0; i < call->n_inputs; i++)
        if (decision->inputs[i].written)
            dt__storage_changed(call->inputs[i]->storage);
}

/* Steps 4 and 5 if outputs have their own memory, or are inputs that are written. */
DT__HOT static dt_status run_kernel(dt_ctx *ctx, dt__call *call, const dt__decision *decision) {
    const dt_op *op = call->info->op;
    dt_op_value *values = call->output_values;
    dt_tensor **outputs = call->outputs;
    for (int i = 0; i < decision->n_outputs; i++) {
        int input = decision->outputs[i].input;
        outputs[i] = input < 0 ? new_output(ctx, &decision->outputs[i]) : call->inputs[input];
        if (!outputs[i]) {
            drop_new_outputs(call, decision, i);
            return dt_error_status(ctx);
        }
        set_output_value(&values[i], &decision->outputs[i], outputs[i]->strides, outputs[i]->data);
    }
    if (__builtin_expect(call->is_permuted, 0))
        dt__order_outputs(call, decision);
    dt_status status = DT_OK;
    bool draws = op->flags & DT_OP_RANDOM; /* ranks outside the mesh draw as well, so that generators stay in step */
    bool holds = !call->maker || dt__maker_holds_values(call, decision->n_outputs);
    if (decision->windowed && decision->runs) {
        call->op_call.outputs = values;
        status = dt__windowed_run(ctx, call, decision);
    } else if ((decision->runs || draws) && holds && dt__has_data(ctx)) {
        call->op_call.outputs = values;
        status = decision->meeting && decision->runs ? dt__meeting_run(ctx, call, decision)
                                                     : dt__kernel_run(&call->op_call);
    } else if (decision->meeting && decision->runs && ctx->observer && decision->communicates)
        dt__observe_way(ctx, &decision->meeting->way, decision->meeting->way.bytes, dt__clock_us(ctx));
    if (status != DT_OK)
        drop_new_outputs(call, decision, decision->n_outputs);
    else if (decision->writes)
        count_versions(call, decision);
    return status;
}

/* A handle on the first input's storage, with the strides and the first element that the kernel set. */
static dt_tensor *new_view(const dt_tensor *source, const dt__output_decision *output, const dt_op_value *value) {
    int64_t offset =
        value->data ? ((unsigned char *)value->data - source->storage->data) / (int64_t)dt_dtype_size(output->dtype)
                    : 0;
    dt_tensor *view =
        output->spec ? dt__tensor_wrap(output->spec, source->storage, offset, value->strides)
                     : dt__tensor_plain(source->storage, &(dt__array_desc){output->dtype, output->n_dims,
                                                                           output->shape, value->strides, offset});
    return dt__inherit_detached(view, source);
}

/* Steps 4 and 5 if outputs are views of the source: the kernel sets their strides and first elements. */
static dt_status run_view(dt_ctx *ctx, dt__call *call, const dt__decision *decision, dt_tensor *source) {
    dt_op_call *op_call = &call->op_call;
    dt_op_value *values = call->output_values;
    dt_tensor **outputs = call->outputs, *copy = NULL;
    int64_t few_strides[DT__FEW_TENSORS][DT_SPEC_MAX_DIMS], (*strides)[DT_SPEC_MAX_DIMS] = few_strides;
    dt_status status = DT_OK;
    if (decision->n_outputs > DT__FEW_TENSORS)
        strides = dt__call_alloc(call, (size_t)decision->n_outputs * sizeof *strides);
    if (!strides)
        return DT_ERR_MEMORY;
    for (int i = 0; i < decision->n_outputs; i++) {
        const dt__output_decision *output = &decision->outputs[i];
        dt__row_strides(output->local_n_dims, output->local_shape, strides[i]);
        set_output_value(&values[i], output, strides[i], source->data);
    }
    if (decision->runs && dt__has_data(ctx) && !(decision->windowed && dt__windowed_is_empty(decision->windowed))) {
        op_call->outputs = values;
        status = op_call->op->kernel(op_call);
        if (status == DT_OK && op_call->needs_copy) {
            source = copy = dt__clone(source);
            if (!copy)
                return dt_error_status(ctx);
            dt__clock_advance(ctx, ctx->estimate ? dt__copy_time_us(copy) : 0);
            set_local_value(&call->values[0], copy, call->values[0].spec);
            status = op_call->op->kernel(op_call);
        }
    }
    int n = 0;
    for (; status == DT_OK && n < decision->n_outputs; n++)
        if (!(outputs[n] = new_view(source, &decision->outputs[n], &values[n])))
            break;
    if (status == DT_OK && n < decision->n_outputs)
        status = dt_error_status(ctx);
    if (status != DT_OK)
        drop_all(n, outputs);
    dt_drop(copy);
    return status;
}

static bool same_elements(const dt_tensor *a, const dt_tensor *b) {
    size_t bytes = (size_t)a->local_n_dims * sizeof *a->strides;
    return a->data == b->data && a->dtype == b->dtype && a->local_n_dims == b->local_n_dims &&
           !memcmp(a->local_shape, b->local_shape, bytes) && !memcmp(a->strides, b->strides, bytes);
}

/* Whether an input other than i is written and shares some elements with it, but not exactly the same ones. */
static bool overlaps_written(const dt__call *call, const dt__decision *decision, int i) {
    for (int w = 0; w < call->n_inputs; w++)
        if (w != i && decision->inputs[w].written && call->moved[i]->storage == call->inputs[w]->storage &&
            !same_elements(call->moved[i], call->inputs[w]))
            return true;
    return false;
}

/* An op must not read memory that it writes through another view: such an input is copied. */
static dt_status copy_overlapping(dt_ctx *ctx, dt__call *call, const dt__decision *decision) {
    dt_tensor **moved = call->moved;
    for (int i = 0; i < call->n_inputs; i++) {
        if (decision->inputs[i].written || !overlaps_written(call, decision, i))
            continue;
        dt_tensor *copy = dt__clone(moved[i]);
        if (!copy)
            return dt_error_status(ctx);
        if (moved[i] != call->inputs[i])
            dt_drop(moved[i]);
        moved[i] = copy;
        set_local_value(&call->values[i], copy, call->values[i].spec);
    }
    return DT_OK;
}

/* Views that do not share the memory of the input, because it or their elements had to move. */
static dt_status note_copies(const dt_tensor *input, int n, dt_tensor **views) {
    for (int i = 0; i < n; i++) {
        if (dt__copied_view_note(views[i], input->storage) == DT_OK)
            continue;
        drop_all(n, views);
        return dt_error_status(input->ctx);
    }
    return DT_OK;
}

/* Steps 3 to 5. */
static dt_status move_and_run(dt_ctx *ctx, dt__call *call, const dt__decision *decision) {
    dt_tensor **moved = call->moved;
    dt_status status = DT_OK;
    int n = 0;
    for (; n < call->n_inputs; n++) {
        const dt__input_decision *input = &decision->inputs[n];
        bool moves = input->to || input->identity || input->is_used;
        moved[n] = moves ? move_input(call->inputs[n], input) : call->inputs[n];
        if (!moved[n]) {
            status = dt_error_status(ctx);
            break;
        }
        set_local_value(&call->values[n], moved[n], input->kernel);
    }
    if (status == DT_OK && decision->writes)
        status = copy_overlapping(ctx, call, decision);
    if (status == DT_OK && decision->windowed)
        status = dt__windowed_fetch(ctx, call, decision);
    DT__ASSUME(!decision->is_view || status != DT_OK || n > 0);
    if (status == DT_OK)
        status = decision->is_view ? run_view(ctx, call, decision, moved[0]) : run_kernel(ctx, call, decision);
    /* Ranks compare only their outermost calls, so nested calls need not agree. */
    bool meets = ctx->checks_calls && ctx->call.depth <= 1 && !decision->is_view && decision->mesh && decision->runs;
    if (status == DT_OK && meets) {
        status = dt__mesh_meet(decision->mesh); /* which reports a verdict of the kernel */
        if (status != DT_OK)
            drop_new_outputs(call, decision, decision->n_outputs);
    }
    bool is_copy = call->info->op->flags & DT_OP_VIEW && (!decision->is_view || moved[0] != call->inputs[0]);
    if (status == DT_OK && is_copy)
        status = note_copies(call->inputs[0], decision->n_outputs, call->outputs);
    for (int i = 0; i < n; i++)
        if (moved[i] != call->inputs[i])
            dt_drop(moved[i]);
    return status;
}

DT__HOT static dt_status run_decision(dt_ctx *ctx, dt__call *call, const dt__decision *decision) {
    call->op_call.n_outputs = decision->n_outputs;
    call->op_call.row_flags = decision->row_flags;
    if (!decision->is_direct)
        return move_and_run(ctx, call, decision);
    for (int i = 0; i < call->n_inputs; i++)
        set_local_value(&call->values[i], call->inputs[i], decision->inputs[i].kernel);
    return decision->is_view ? run_view(ctx, call, decision, call->inputs[0]) : run_kernel(ctx, call, decision);
}

DT__HOT dt_status dt__run_decision(dt_ctx *ctx, dt__call *call, const dt__decision *decision) {
    return __builtin_expect(ctx->estimate != NULL, 0) ? dt__run_estimated(ctx, call, decision, run_decision)
                                                      : run_decision(ctx, call, decision);
}

/* Runs a decision under a monitor that counts or traces. */
dt_status dt__run_observed(dt_ctx *ctx, dt__call *call, const dt__decision *decision, dt__run_fn *run) {
    const dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    const char *outer = ctx->observer->op;
    if (!outer)
        ctx->observer->op = call->info->schema.name;
    double begin_us = dt__clock_us(ctx);
    dt__trace_op_begin(state->monitor, call, decision);
    dt_status status = run(ctx, call, decision);
    if (state->monitor && state->monitor->ran && status == DT_OK && decision->runs && !decision->is_view) {
        call->op_call.outputs = call->output_values;
        state->monitor->ran(state->monitor->ran_user, &call->op_call, dt__clock_us(ctx) - begin_us);
    }
    dt__trace_op_end(ctx, state->monitor, call, decision, begin_us);
    if (ctx->observer)
        ctx->observer->op = outer;
    return status;
}

static dt_status check_output(const dt_op_call *op_call, int i, const dt_tensor *output) {
    const dt_op_value *expected = &op_call->outputs[i];
    output = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, output, i + 1);
    if (!output)
        return dt_failed(op_call->ctx)
                   ? dt_error_status(op_call->ctx)
                   : dt_op_refuse(op_call, DT_ERR_VALUE, "the decomposition did not make output %d", i + 1);
    bool same = output->dtype == expected->dtype && output->n_dims == expected->n_dims;
    for (int d = 0; d < expected->n_dims && same; d++)
        same = output->shape[d] == expected->shape[d];
    if (same)
        return DT_OK;
    dt__text text = dt__text_new(op_call->ctx);
    dt__op_value_text(expected, &text);
    char actual[256];
    (void)dt_tensor_text(output, sizeof actual, actual);
    dt_status status = dt_op_refuse(op_call, DT_ERR_VALUE,
                                    "output %d of the decomposition differs from the shape function: "
                                    "expected %s, got %s",
                                    i + 1, dt__text_chars(&text), actual);
    dt__text_free(&text);
    return status;
}

/* An op without a kernel. Its shape function runs first, so that an invalid call is refused before anything runs; the
 * ops of the decomposition are decided, counted and traced like any. */
static dt_status decompose(dt__arena *arena, dt__call *call) {
    dt_op_call *op_call = &call->op_call;
    dt__call_set_global_inputs(call);
    for (int i = 0; i < call->n_inputs; i++)
        call->values[i].spec = call->inputs[i]->spec;
    DT__TRY(dt__op_call_infer(arena, op_call));
    DT__TRY(dt__call_reserve_outputs(call, op_call->n_outputs));
    for (int i = 0; i < op_call->n_outputs; i++)
        call->outputs[i] = NULL;
    DT__TRY(op_call->op->decompose(op_call, call->inputs, call->outputs));
    for (int i = 0; i < op_call->n_outputs; i++)
        DT__TRY(check_output(op_call, i, call->outputs[i]));
    call->n_outputs = op_call->n_outputs;
    return DT_OK;
}

/* Shapes are inferred in every call: mostly without an allocation. */
dt_status dt__dispatch_decomposed(dt_ctx *ctx, dt__call *call) {
    _Alignas(16) unsigned char memory[1024];
    dt__arena arena = dt__arena_on(ctx, memory, sizeof memory);
    dt__op_call_init(&call->op_call, ctx, call->info, call->overload, call->args, call->n_inputs, call->values);
    call->op_call.records = call->records;
    call->op_call.draw = &call->draw;
    dt_status status = decompose(&arena, call);
    dt__arena_free(&arena);
    return status;
}

/* Runs a call that has no decision of its own, but is part of histories like any other. */
static dt_status dispatch_undecided(dt_ctx *ctx, dt__call *call) {
    DT__TRY(dt__note_undecided_call(ctx, call));
    return dt__dispatch_decomposed(ctx, call);
}

static inline dt_status check_call(dt_ctx *ctx, dt__call *call) {
    const char *name = call->info->schema.name;
    bool opened = ctx->slots[DT__SLOT_DISPATCH].state && ctx->slots[DT__SLOT_TENSOR].state;
    if (!opened && (!dt__dispatch_state_of(ctx) || !dt__tensor_state_of(ctx)))
        return dt_error_status(ctx);
    for (int i = 0; i < call->n_inputs; i++) {
        if (!call->inputs[i])
            return (void)dt__null_argument(ctx, name, i + 1), dt_error_status(ctx);
        if (call->inputs[i]->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "%s: tensor %d belongs to another context", name, i + 1);
        if (dt__is_freed(&call->inputs[i]->life))
            return (void)DT__LIVE_ARGUMENT(DT__KIND_TENSOR, call->inputs[i], call->n_inputs > 1 ? i + 1 : 0),
                   DT_ERR_STATE;
        if (__builtin_expect(call->inputs[i]->special, 0)) {
            DT__TRY(dt__check_current(call->inputs[i]));
            call->has_uses |= call->inputs[i]->use != NULL;
            call->is_permuted |= (call->inputs[i]->special & DT__PERMUTED) != 0;
        }
    }
    if (!call->info->is_simple && !call->info->op->kernel && !call->info->op->decompose && !call->info->list)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "%s: the op has no kernel", name);
    return DT_OK;
}

static dt_status dispatch(dt_ctx *ctx, dt__call *call);

/* Runs a call with its inputs brought to the mesh of the first. A rank outside the mesh of an input that becomes full
 * has nothing to read and leaves the first input unchanged. */
static dt_status dispatch_aligned(dt_ctx *ctx, dt__call *call) {
    size_t bytes = (size_t)call->n_inputs * sizeof *call->inputs;
    dt_tensor **made = dt__call_alloc(call, bytes), **inputs = dt__call_alloc(call, bytes);
    bool outside;
    if (!made || !inputs)
        return DT_ERR_MEMORY;
    memset(made, 0, bytes);
    memcpy(inputs, call->inputs, bytes);
    dt_status status = dt__call_align(ctx, call, made, &outside);
    if (status == DT_OK && outside) {
        status = dt__check_writable(call->inputs[0], call->info->schema.name);
        call->outputs[0] = call->inputs[0];
        call->n_outputs = status == DT_OK;
    } else if (status == DT_OK)
        status = dispatch(ctx, call);
    memcpy(call->inputs, inputs, bytes);
    drop_all(call->n_inputs, made);
    return status;
}

/* The extra steps of an op that is not simple, before its decision is looked up. Ops without a decision run here;
 * returns true. */
static __attribute__((noinline)) bool has_run(dt_ctx *ctx, dt__call *call, dt_status *status) {
    const dt_op *op = call->info->op;
    if (op->flags & DT__OP_ALIGN && !dt__call_is_aligned(call))
        *status = dispatch_aligned(ctx, call);
    else if (call->info->list)
        *status = dt__dispatch_list(ctx, call);
    else if (!op->kernel)
        *status = dispatch_undecided(ctx, call);
    else {
        dt__call_set_global_inputs(call); /* otherwise they are described on a cache miss only */
        return false;
    }
    return true;
}

/* A call that was checked. */
static inline __attribute__((always_inline)) dt_status dispatch_checked(dt_ctx *ctx, dt__call *call) {
    dt_status status = DT_OK;
    if (call->maker)
        DT__TRY(dt__maker_place_check(ctx, call));
    dt__op_call_init(&call->op_call, ctx, call->info, call->overload, call->args, call->n_inputs, call->values);
    call->op_call.records = call->records;
    call->op_call.draw = &call->draw;
    if (call->has_uses)
        DT__TRY(dt__call_find_uses(ctx, call));
    if (!call->info->is_simple && has_run(ctx, call, &status))
        return status;
    dt__decision *decision = dt__decide(ctx, call);
    if (!decision)
        return dt_error_status(ctx);
    if (decision->decomposes) {
        dt__decision_release(ctx, decision);
        return dt__dispatch_decomposed(ctx, call);
    }
    if (decision->communicates)
        status = dt__policy_check(ctx, call, decision);
    for (int i = 0; decision->writes && i < call->n_inputs && status == DT_OK; i++)
        if (decision->inputs[i].written)
            status = dt__check_writable(call->inputs[i], call->info->schema.name);
    if (status == DT_OK)
        status = dt__call_reserve_outputs(call, decision->n_outputs);
    if (status == DT_OK)
        status = ctx->observer ? dt__run_observed(ctx, call, decision, dt__run_decision)
                               : dt__run_decision(ctx, call, decision);
    if (status == DT_OK)
        call->n_outputs = decision->n_outputs;
    dt__decision_release(ctx, decision);
    if (call->has_uses && status == DT_OK)
        status = dt__call_inherit_uses(ctx, call);
    if (call->maker && (call->maker->requires_grad || call->maker->use) && status == DT_OK)
        status = dt__maker_finish(call);
    return status;
}

DT__HOT static dt_status dispatch(dt_ctx *ctx, dt__call *call) { return dispatch_checked(ctx, call); }

DT__HOT dt_status dt__call_apply_writes(const dt__call *call) {
    for (int i = 0; i < call->n_inputs; i++)
        if (__builtin_expect(call->inputs[i]->storage->writes != NULL, 0))
            DT__TRY(call->inputs[i]->storage->writes->apply(call->inputs[i]));
    return DT_OK;
}

bool dt__call_requires_grad(const dt__call *call) {
    if (call->info->op->flags & DT_OP_NOT_DIFFERENTIABLE)
        return false;
    for (int i = 0; i < call->n_inputs; i++)
        if (call->inputs[i]->record)
            return true;
    return false;
}

/* Whether an input is written and not returned. */
static bool is_changed_only(const dt__call *call, int input) {
    bool changed = dt__writes_input(&call->op_call, input);
    for (int o = 0; o < call->n_outputs && changed; o++)
        changed = call->outputs[o] != call->inputs[input];
    return changed;
}

/* Records the call with `n` tensors that it changes but does not return; they are also outputs of the record. */
static dt_status record_with_changed(dt_ctx *ctx, const dt__call *call, dt__made *made, int n) {
    size_t bytes = (size_t)(call->n_outputs + n) * sizeof(dt_tensor *);
    dt_tensor **outputs = dt__alloc(ctx, bytes);
    if (!outputs)
        return dt__fail_memory(ctx, bytes, "the outputs of a record");
    memcpy(outputs, call->outputs, (size_t)call->n_outputs * sizeof *outputs);
    for (int i = 0; i < call->n_inputs; i++)
        if (is_changed_only(call, i))
            outputs[made->n_outputs++] = call->inputs[i];
    made->outputs = outputs;
    dt_status status = ctx->recorder->record(ctx, made);
    dt__free(ctx, outputs, bytes);
    return status;
}

DT__HOT dt_status dt__call_add_record(dt_ctx *ctx, dt__call *call) {
    int n_changed = 0;
    for (int i = 0; dt__call_writes(&call->op_call) && i < call->n_inputs; i++)
        n_changed += is_changed_only(call, i);
    dt__made made = {.name = call->info->schema.name,
                     .op = call,
                     .n_inputs = call->n_inputs,
                     .inputs = call->inputs,
                     .originals = call->originals,
                     .n_outputs = call->n_outputs,
                     .outputs = call->outputs};
    dt_status status =
        n_changed ? record_with_changed(ctx, call, &made, n_changed) : ctx->recorder->record(ctx, &made);
    int n_hidden = call->records ? call->info->op->n_saved : 0; /* outputs that the caller does not get */
    for (int i = status == DT_OK ? call->n_outputs - n_hidden : 0; i < call->n_outputs; i++)
        if (dt__output_input(&call->op_call, i) < 0)
            dt_drop(call->outputs[i]);
    call->n_outputs = status == DT_OK ? call->n_outputs - n_hidden : 0;
    return status;
}

/* Copies the inputs that the call writes, if the gradient needs their previous values. */
static dt_status keep_originals(dt_ctx *ctx, dt__call *call) {
    uint32_t written = call->info->schema.signatures[call->overload].written;
    if (!written)
        return DT_OK;
    uint32_t needed = dt__values_to_save(call->info, call->overload, dt__recorded_params(call)).params & written;
    if (!needed)
        return DT_OK;
    size_t bytes = (size_t)call->n_inputs * sizeof *call->originals;
    call->originals = dt__call_alloc(call, bytes);
    if (!call->originals)
        return DT_ERR_MEMORY;
    memset(call->originals, 0, bytes);
    for (; needed; needed &= needed - 1) {
        const dt_arg *arg = &call->args[__builtin_ctz(needed)];
        if (arg->type == DT_ARG_TENSOR && !(call->originals[arg->as.first] = dt__clone(call->inputs[arg->as.first])))
            return dt_error_status(ctx);
    }
    return DT_OK;
}

/* Runs a call with an input that requires a gradient. What dispatch does for itself, such as moving inputs, is not
 * recorded, nor are the ops of a decomposition if the op has its own gradient. A list op records its members. */
DT__HOT static dt_status dispatch_recorded(dt_ctx *ctx, dt__call *call) {
    const dt_op *op = call->info->op;
    const dt__recorder *recorder = ctx->recorder;
    if (op->flags & DT_OP_RECORDS_PARTS)
        return dispatch_undecided(ctx, call);
    if (!op->kernel && !dt__has_gradient(op))
        return dispatch(ctx, call);
    if (call->info->schema.signatures[call->overload].written)
        dt__op_call_init(&call->op_call, ctx, call->info, call->overload, call->args, call->n_inputs, call->values);
    for (int i = 0; call->info->schema.signatures[call->overload].written && i < call->n_inputs; i++)
        if (call->inputs[i]->record && dt__writes_input(&call->op_call, i))
            DT__TRY(recorder->check_write(call->inputs[i], call->info->schema.name));
    ctx->recorder = NULL;
    call->records = true;
    dt_status status = keep_originals(ctx, call);
    if (status == DT_OK)
        status = dispatch(ctx, call);
    ctx->recorder = recorder;
    if (status == DT_OK)
        status = dt__call_add_record(ctx, call);
    for (int i = 0; call->originals && i < call->n_inputs; i++)
        dt_drop(call->originals[i]);
    call->originals = NULL;
    return status;
}

dt_status dt__dispatch_with_saved(dt_ctx *ctx, dt__call *call) {
    call->n_outputs = 0;
    DT__TRY(check_call(ctx, call));
    call->records = true;
    return dispatch_checked(ctx, call);
}

DT__HOT dt_status dt__dispatch(dt_ctx *ctx, dt__call *call) {
    call->n_outputs = 0;
    call->records = false;
    DT__TRY(check_call(ctx, call));
    if (!call->info->is_simple && call->info->read) {
        int position = dt__unread_argument(call->info, call->overload, call->args);
        if (position >= 0)
            return dt__dispatch_read(ctx, call, position);
    }
    if (__builtin_expect(ctx->recorder != NULL, 0)) {
        DT__TRY(dt__call_apply_writes(call));
        if (dt__call_requires_grad(call))
            return dispatch_recorded(ctx, call);
    }
    return dispatch_checked(ctx, call);
}
