/* SPDX-License-Identifier: Apache-2.0
 *
 * The public gradient functions: they decide where a walk over the records begins and what happens to its results.
 */
#include "autograd/gradient_walk.h"

#include "base/dtype.h"
#include "base/options.h"

static dt__autograd_state *state_of(const dt_ctx *ctx) { return ctx->slots[DT__SLOT_AUTOGRAD].state; }

/* What dt_backward and dt_gradients set for a walk, and restore. */
typedef struct walk_setting {
    const dt__recorder *recorder;
    dt_scope scope;
    dt_memory_kind new_kind;
} walk_setting;

static dt_status begin_walk(dt__gradient_walk *walk, walk_setting *setting) {
    dt_ctx *ctx = walk->ctx;
    dt__autograd_state *state = state_of(ctx);
    if (state->is_walking)
        return dt__fail(ctx, DT_ERR_STATE, "gradients are being computed: expected no call from a hook or an op");
    setting->scope = dt_scope_begin(ctx);
    if (setting->scope.number == 0)
        return dt_error_status(ctx);
    setting->recorder = ctx->recorder;
    ctx->recorder = walk->creates_graph ? &dt__autograd_recorder : NULL;
    state->is_walking = true;
    dt__record_search_begin(ctx, &walk->records);
    setting->new_kind = dt__set_new_kind(ctx, DT_MEMORY_SCRATCH);
    return DT_OK;
}

static void end_walk(dt__gradient_walk *walk, const walk_setting *setting) {
    dt_ctx *ctx = walk->ctx;
    dt__record_search_end(&walk->records);
    ctx->recorder = setting->recorder;
    state_of(ctx)->is_walking = false;
    (void)dt__set_new_kind(ctx, setting->new_kind);
    dt_scope_end(setting->scope);
}

static dt_status expect_record(dt_tensor *tensor) {
    if (tensor->storage->writes)
        DT__TRY(tensor->storage->writes->apply(tensor));
    if (tensor->record)
        return DT_OK;
    char text[512];
    (void)dt_tensor_text(tensor, sizeof text, text);
    return dt__fail(tensor->ctx, DT_ERR_STATE,
                    "%s requires no gradient: expected a tensor that was made from one that does", text);
}

/* Begins at a tensor with the given gradient, or with 1 for a tensor of one element. */
static dt_status begin_at(dt__gradient_walk *walk, dt_tensor *tensor, dt_tensor *grad) {
    dt__recorded_call *record = dt__recorded_call_of(tensor);
    dt__recorded_tensor *of = &record->tensors[record->n_inputs + tensor->output];
    dt_tensor *own;
    if (grad) {
        bool same = grad->n_dims == tensor->n_dims;
        for (int d = 0; same && d < tensor->n_dims; d++)
            same = grad->shape[d] == tensor->shape[d];
        if (!same || !dt__is_inexact(grad->dtype)) {
            char expected[512], actual[512];
            (void)dt_tensor_text(tensor, sizeof expected, expected);
            (void)dt_tensor_text(grad, sizeof actual, actual);
            return dt__fail(walk->ctx, DT_ERR_SHAPE, "the gradient does not fit its tensor: expected %s, got %s",
                            expected, actual);
        }
        own = dt__share_handle(grad);
        own = own ? dt__gradient_fit(own, of) : NULL;
    } else {
        if (dt_tensor_elements(tensor) != 1) {
            char text[512];
            (void)dt_tensor_text(tensor, sizeof text, text);
            return dt__fail(walk->ctx, DT_ERR_SHAPE,
                            "%s: expected one element, got %lld; reduce it first (dt_sum, dt_mean), or give the "
                            "gradient of the tensor with .grad",
                            text, (long long)dt_tensor_elements(tensor));
        }
        own = dt__constant_gradient(walk->ctx, of, 1);
    }
    return own ? dt__gradient_add(walk, record, tensor->output, own) : dt_error_status(walk->ctx);
}

dt_status dt_backward_sized(dt_tensor *tensor, const dt_backward_options *options, size_t options_size) {
    dt_backward_options full;
    DT__ENTER_TENSOR_OPTIONS(tensor, "backward", options, options_size, &full);
    DT__TRY(DT__REFUSAL());
    if (!options || !tensor)
        return DT_ERR_VALUE;
    dt_tensor *grad = options->grad ? DT__LIVE_ARGUMENT(DT__KIND_TENSOR, options->grad, 2) : NULL;
    if (options->grad && !grad)
        return DT_ERR_STATE;
    if (grad && !dt__check_context(tensor->ctx, "backward", "gradient", grad->ctx))
        return DT_ERR_STATE;
    DT__TRY(dt__note_tensor(tensor, &(dt__call_details){.other = grad ? grad->spec : NULL, .text = options->hold}));
    DT__TRY(expect_record(tensor));
    dt__gradient_walk walk = {.ctx = tensor->ctx,
                              .creates_graph = options->create_graph,
                              .retains_graph = options->retain_graph || options->create_graph,
                              .hold = options->hold};
    if (walk.hold && walk.creates_graph)
        return dt__fail(walk.ctx, DT_ERR_VALUE, "hold: expected no create_graph with it");
    walk_setting setting;
    DT__TRY(begin_walk(&walk, &setting));
    dt_status status = dt__record_search_add(&walk.records, dt__recorded_call_of(tensor));
    if (status == DT_OK)
        status = dt__record_search_run(&walk.records);
    if (walk.hold && status == DT_OK)
        status = dt__hold_check(&walk);
    if (status == DT_OK)
        status = begin_at(&walk, tensor, grad);
    dt_status walked = dt__gradient_walk_run(&walk, status);
    end_walk(&walk, &setting);
    return status == DT_OK ? walked : status;
}

/* Marks the records that lead from the outputs to an input. */
static dt_status mark_needed(dt__record_search *found, dt_tensors outputs, dt_tensors inputs) {
    for (int i = 0; i < inputs.n; i++)
        if (i == 0 || dt__recorded_call_of(inputs.list[i])->number < found->oldest)
            found->oldest = dt__recorded_call_of(inputs.list[i])->number;
    for (int i = 0; i < outputs.n; i++)
        DT__TRY(dt__record_search_add(found, dt__recorded_call_of(outputs.list[i])));
    DT__TRY(dt__record_search_run(found));
    for (int i = 0; i < inputs.n; i++)
        dt__recorded_call_of(inputs.list[i])->is_needed = true;
    for (int i = 0; i < found->n; i++)
        for (int k = 0; k < found->list[i]->n_inputs; k++) {
            const dt__recorded_call *made_by = found->list[i]->tensors[k].made_by;
            found->list[i]->is_needed |= made_by && made_by->found_by == found->number && made_by->is_needed;
        }
    return DT_OK;
}

/* The search may not have reached the record of an input: its is_needed is set here. */
static void unmark(const dt__record_search *found, dt_tensors inputs) {
    for (int i = 0; i < found->n; i++)
        found->list[i]->is_needed = false;
    for (int i = 0; i < inputs.n; i++)
        dt__recorded_call_of(inputs.list[i])->is_needed = false;
}

static void remove_targets(dt_tensors inputs) {
    for (int i = 0; i < inputs.n; i++) {
        dt__recorded_call *record = dt__recorded_call_of(inputs.list[i]);
        dt__gradient_slot *slot = dt__gradient_slot_find(record, inputs.list[i]->output, true);
        if (slot)
            dt__gradient_slot_remove(record, slot);
    }
}

static dt_status add_targets(dt_tensors inputs) {
    for (int i = 0; i < inputs.n; i++) {
        dt__recorded_call *record = dt__recorded_call_of(inputs.list[i]);
        if (dt__gradient_slot_find(record, inputs.list[i]->output, true))
            continue;
        dt__gradient_slot *slot = dt__gradient_slot_new(record, inputs.list[i]->output);
        if (!slot)
            return dt_error_status(inputs.list[i]->ctx);
        slot->is_target = true;
    }
    return DT_OK;
}

/* Handles on the results, in the scope outside that of the walk. */
static dt_status take_results(dt_tensors inputs, bool allows_unused, dt_tensor **grads) {
    for (int i = 0; i < inputs.n; i++) {
        const dt_tensor *input = inputs.list[i];
        const dt__gradient_slot *slot = dt__gradient_slot_find(dt__recorded_call_of(input), input->output, true);
        if (!slot->grad && !allows_unused)
            return dt__fail(input->ctx, DT_ERR_STATE,
                            "input %d is not used by the outputs; set allow_unused for a gradient that is NULL",
                            i + 1);
        if (slot->grad && !(grads[i] = dt_keep(dt__share_handle(slot->grad))))
            return dt_error_status(input->ctx);
    }
    return DT_OK;
}

static dt_status compute_gradients(dt__gradient_walk *walk, dt_tensors outputs, dt_tensors inputs,
                                   const dt_gradients_options *options, dt_tensor **grads) {
    dt_status status = add_targets(inputs);
    if (status == DT_OK)
        status = mark_needed(&walk->records, outputs, inputs);
    for (int i = 0; i < outputs.n && status == DT_OK; i++)
        if (walk->rest || dt__recorded_call_of(outputs.list[i])->is_needed)
            status = begin_at(walk, outputs.list[i], options->output_grads ? options->output_grads[i] : NULL);
    dt_status walked = dt__gradient_walk_run(walk, status);
    if (status == DT_OK)
        status = walked;
    if (status == DT_OK)
        status = take_results(inputs, options->allow_unused, grads);
    for (int i = 0; i < inputs.n && status != DT_OK; i++)
        grads[i] = NULL; /* those that exist are in the scope of the program */
    remove_targets(inputs);
    unmark(&walk->records, inputs);
    return status;
}

/* Whether the tensors of a list exist; checks all of them before it looks closer at any. */
static dt_status check_live(dt_ctx *ctx, const char *noun, dt_tensors tensors) {
    for (int i = 0; i < tensors.n; i++) {
        if (!tensors.list[i])
            return dt_failed(ctx) ? dt_error_status(ctx) : dt__fail(ctx, DT_ERR_VALUE, "%s %d is NULL", noun, i + 1);
        if (!DT__LIVE_ARGUMENT(DT__KIND_TENSOR, tensors.list[i], i + 1))
            return DT_ERR_STATE;
        if (tensors.list[i]->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "%s %d belongs to another context", noun, i + 1);
    }
    return DT_OK;
}

/* Whether the gradients that are given exist; NULL: 1. */
static dt_status check_output_grads(dt_ctx *ctx, int n, dt_tensor *const *grads) {
    for (int i = 0; grads && i < n; i++) {
        if (grads[i] && !DT__LIVE(DT__KIND_TENSOR, grads[i]))
            return DT_ERR_STATE;
        if (grads[i] && grads[i]->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "output_grads: tensor %d belongs to another context", i + 1);
    }
    return DT_OK;
}

static dt_status check_tensors(dt_tensors tensors) {
    for (int i = 0; i < tensors.n; i++) {
        DT__TRY(expect_record(tensors.list[i]));
        DT__TRY(dt__note_tensor(tensors.list[i], NULL));
    }
    return DT_OK;
}

static dt_ctx *ctx_of(dt_tensors tensors) {
    for (int i = 0; i < tensors.n; i++)
        if (tensors.list[i])
            return tensors.list[i]->ctx;
    return NULL;
}

dt_status dt_gradients_sized(dt_tensors outputs, dt_tensors inputs, dt_tensor **grads,
                             const dt_gradients_options *options, size_t options_size) {
    dt_gradients_options full;
    dt_ctx *ctx = ctx_of(outputs);
    options = DT__OPTIONS(ctx, "gradients", options, options_size, &full);
    DT__ENTER(ctx, "gradients", options ? options->site : NULL);
    for (int i = 0; i < inputs.n; i++)
        grads[i] = NULL;
    if (!options || !ctx)
        return DT_ERR_VALUE;
    if (options->rest)
        *options->rest = NULL;
    DT__TRY(DT__REFUSAL());
    DT__TRY(check_live(ctx, "output", outputs));
    DT__TRY(check_live(ctx, "input", inputs));
    DT__TRY(check_output_grads(ctx, outputs.n, options->output_grads));
    DT__TRY(check_tensors(outputs));
    DT__TRY(check_tensors(inputs));
    dt__gradient_walk walk = {.ctx = ctx,
                              .creates_graph = options->create_graph,
                              .retains_graph = options->retain_graph || options->create_graph,
                              .only_needed = true};
    if (options->rest) {
        if (options->create_graph)
            return dt__fail(ctx, DT_ERR_VALUE, "rest: expected no create_graph with it");
        if (!(walk.rest = dt__rest_new(ctx, walk.retains_graph)))
            return dt_error_status(ctx);
    }
    walk_setting setting;
    dt_status status = begin_walk(&walk, &setting);
    if (status == DT_OK) {
        status = compute_gradients(&walk, outputs, inputs, options, grads);
        end_walk(&walk, &setting);
    }
    if (status != DT_OK)
        dt_rest_free(walk.rest);
    else if (walk.rest)
        *options->rest = walk.rest;
    return status;
}

dt_status dt_backward_rest_site(dt_rest *rest, const dt_site *site) {
    DT__ENTER(rest ? dt__rest_ctx(rest) : NULL, "backward_rest", site);
    DT__TRY(DT__REFUSAL());
    if (!rest)
        return DT_ERR_VALUE;
    return dt__backward_rest(rest, NULL);
}

dt_status dt__backward_rest(dt_rest *rest, const char *hold) {
    if (!DT__LIVE(DT__KIND_REST, rest))
        return DT_ERR_STATE;
    dt__gradient_walk walk = {
        .ctx = dt__rest_ctx(rest), .retains_graph = dt__rest_retains_graph(rest), .is_rest = true, .hold = hold};
    walk_setting setting;
    dt_status status = begin_walk(&walk, &setting);
    if (status == DT_OK) {
        status = dt__rest_find(&walk, rest);
        if (walk.hold && status == DT_OK)
            status = dt__hold_check(&walk);
        if (status == DT_OK)
            status = dt__rest_compute(&walk, rest);
        dt_status walked = dt__gradient_walk_run(&walk, status);
        end_walk(&walk, &setting);
        status = status == DT_OK ? walked : status;
    }
    dt_rest_free(rest);
    return status;
}

dt_tensor *dt_grad(const dt_tensor *tensor) {
    tensor = DT__LIVE(DT__KIND_TENSOR, tensor);
    if (!tensor || !tensor->record)
        return NULL;
    const dt__gradient_slot *slot = dt__gradient_slot_find(dt__recorded_call_of(tensor), tensor->output, false);
    return slot ? slot->grad : NULL;
}

dt_status dt_zero_grad_site(dt_tensors tensors, const dt_site *site) {
    dt_ctx *ctx = ctx_of(tensors);
    DT__ENTER(ctx, "zero_grad", site);
    DT__TRY(DT__REFUSAL());
    DT__TRY(check_live(ctx, "tensor", tensors));
    for (int i = 0; i < tensors.n; i++) {
        dt_tensor *tensor = tensors.list[i];
        dt__recorded_call *record = dt__recorded_call_of(tensor);
        dt__gradient_slot *slot = record ? dt__gradient_slot_find(record, tensor->output, false) : NULL;
        if (slot && slot->grad) {
            dt_tensor_release(slot->grad);
            slot->grad = NULL;
        }
    }
    return DT_OK;
}

dt_status dt_retain_grad_site(dt_tensor *tensor, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "retain_grad", site);
    DT__TRY(DT__REFUSAL());
    if (!tensor)
        return DT_ERR_VALUE;
    DT__TRY(expect_record(tensor));
    dt__recorded_call *record = dt__recorded_call_of(tensor);
    if (record->head.is_leaf || dt__gradient_slot_find(record, tensor->output, false))
        return DT_OK;
    return dt__gradient_slot_new(record, tensor->output) ? DT_OK : dt_error_status(tensor->ctx);
}

static dt__gradient_slot *add_hook(dt_tensor *tensor, dt_grad_hook *hook, void *user) {
    if (!hook)
        return (void)dt__fail(tensor->ctx, DT_ERR_VALUE, "expected a function, got NULL"), NULL;
    if (expect_record(tensor) != DT_OK)
        return NULL;
    dt__gradient_slot *slot = dt__gradient_slot_new(dt__recorded_call_of(tensor), tensor->output);
    if (!slot)
        return NULL;
    slot->hook = hook;
    slot->user = user;
    slot->id = ++state_of(tensor->ctx)->n_hooks;
    return slot;
}

int64_t dt_grad_hook_add_site(dt_tensor *tensor, dt_grad_hook *hook, void *user, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "grad_hook_add", site);
    if (DT__REFUSAL() != DT_OK || !tensor)
        return 0;
    const dt__gradient_slot *slot = add_hook(tensor, hook, user);
    return slot ? slot->id : 0;
}

int64_t dt_grad_hook_add_owner_site(dt_tensor *tensor, dt_grad_hook *hook, void *user, dt_user_end *end,
                                    const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "grad_hook_add_owner", site);
    dt__gradient_slot *slot = DT__REFUSAL() == DT_OK && tensor ? add_hook(tensor, hook, user) : NULL;
    if (slot)
        slot->end = end;
    else if (end)
        end(user);
    return slot ? slot->id : 0;
}

dt_status dt_grad_hook_remove_site(dt_tensor *tensor, int64_t id, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "grad_hook_remove", site);
    if (!tensor)
        return DT_ERR_VALUE;
    dt__recorded_call *record = dt__recorded_call_of(tensor);
    dt__gradient_slot *slot = record ? record->slots : NULL;
    while (slot && (!slot->hook || slot->id != id || slot->output != tensor->output))
        slot = slot->next;
    if (!slot)
        return dt__fail(tensor->ctx, DT_ERR_VALUE, "the tensor has no hook %lld", (long long)id);
    dt__gradient_slot_remove(record, slot);
    return DT_OK;
}
