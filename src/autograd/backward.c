/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk over records that computes gradients. Records are numbered as they are made, and each is younger than those
 * that it refers to. When the youngest pending record is taken, all consumers of its outputs have been visited and
 * their gradients are summed. Only then is the gradient brought to its placement, once. Hooks run on it, a leaf's
 * gradient is stored, and the gradients of the inputs are added to those of the records that made them. A leaf is
 * visited right after the oldest record that reads it (record_search.c); gradients of leaves that move wait for each
 * other (leaf_gradients.c). When the walk reaches a record of a different scope, it frees the copies of tensors that
 * were brought to their use placements. The pending records are a heap of the context.
 */
#include "autograd/gradient_walk.h"

#include "base/dtype.h"

#include <string.h>

static dt__autograd_state *state_of(const dt_ctx *ctx) { return ctx->slots[DT__SLOT_AUTOGRAD].state; }

/* Whether a is visited before b. */
static bool is_earlier(const dt__recorded_call *a, const dt__recorded_call *b) {
    uint64_t at = a->oldest_use ? a->oldest_use : a->number, other = b->oldest_use ? b->oldest_use : b->number;
    if (at != other)
        return at > other;
    return a->head.is_leaf == b->head.is_leaf ? a->number > b->number : b->head.is_leaf;
}

static dt_status push(dt_ctx *ctx, dt__autograd_state *state, dt__recorded_call *record) {
    if (state->n_pending == state->pending_capacity) {
        int capacity = state->pending_capacity * 2 + 64;
        size_t bytes = (size_t)capacity * sizeof *state->pending;
        dt__recorded_call **pending =
            dt__resize(ctx, state->pending, (size_t)state->pending_capacity * sizeof *pending, bytes);
        if (!pending)
            return dt__fail_memory(ctx, bytes, "records of a gradient");
        state->pending = pending;
        state->pending_capacity = capacity;
    }
    int at = state->n_pending++;
    for (; at > 0 && is_earlier(record, state->pending[(at - 1) / 2]); at = (at - 1) / 2)
        state->pending[at] = state->pending[(at - 1) / 2];
    state->pending[at] = record;
    record->is_pending = true;
    record->head.n_refs++;
    return DT_OK;
}

/* Removes the youngest, whose reference the caller gets. */
static dt__recorded_call *pop(dt__autograd_state *state) {
    dt__recorded_call *top = state->pending[0], *last = state->pending[--state->n_pending];
    int n = state->n_pending, at = 0;
    for (int child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_earlier(state->pending[child + 1], state->pending[child]))
            child++;
        if (is_earlier(last, state->pending[child]))
            break;
        state->pending[at] = state->pending[child];
    }
    state->pending[at] = last;
    top->is_pending = false;
    return top;
}

/* Whether parts on ranks can be added to parts: sums of products and of extrema are not those of the parts. */
static bool adds_by_parts(const dt_spec *spec) {
    bool adds = true;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++) {
        const dt_placement *placement = &spec->sharding.placements[m];
        adds = adds &&
               (!dt_placement_is_partial(*placement) || placement->reduce == DT_SUM || placement->reduce == DT_AVG);
    }
    return adds;
}

dt_status dt__gradient_add(dt__gradient_walk *walk, dt__recorded_call *made_by, int output, dt_tensor *grad) {
    dt__recorded_tensor *of = &made_by->tensors[made_by->n_inputs + output];
    if (of->grad && !walk->creates_graph && of->grad->spec && of->grad->spec == grad->spec &&
        adds_by_parts(grad->spec) && dt__gradient_owns_memory(of->grad)) {
        bool added = dt__gradient_add_in_place(of->grad, grad);
        dt_drop(grad);
        return added ? DT_OK : dt_error_status(walk->ctx);
    }
    if (of->grad) {
        dt_tensor *sum = dt__gradient_sum(of->grad, grad);
        dt_drop(grad);
        dt_drop(of->grad);
        of->grad = sum;
        return sum ? DT_OK : dt_error_status(walk->ctx);
    }
    of->grad = grad;
    return made_by->is_pending ? DT_OK : push(walk->ctx, state_of(walk->ctx), made_by);
}

bool dt__gradient_is_needed(const dt__gradient_walk *walk, const dt__recorded_tensor *input) {
    if (walk->done_of && walk->is_done[input - walk->done_of->tensors])
        return false;
    return input->made_by && (!walk->only_needed || input->made_by->is_needed) && dt__is_inexact(input->dtype);
}

/* Passes the gradient of an input on. */
static dt_status pass_on(dt__gradient_walk *walk, const dt__recorded_tensor *input, dt_tensor *grad) {
    grad = dt__gradient_fit(grad, input);
    return grad ? dt__gradient_add(walk, input->made_by, input->output, grad) : dt_error_status(walk->ctx);
}

/* The first tensor of parameter p, and the number of them. */
static int tensors_of_param(const dt__recorded_call *record, int p, int *n) {
    const dt_arg *arg = &record->args[p];
    *n = arg->type == DT_ARG_TENSOR ? 1 : 0;
    return arg->type == DT_ARG_TENSOR ? arg->as.first : -1;
}

static dt_status run_formulas(dt__gradient_walk *walk, const dt__backward_call *call) {
    dt__recorded_call *record = call->record;
    dt__gradient *gradient = &record->info->gradient[record->overload];
    for (int f = 0; f < gradient->n_formulas; f++) {
        dt__formula *formula = &gradient->formulas[f];
        int inputs[DT__MAX_RETURNS];
        bool any = false, known = false;
        dt_tensor *grads[DT__MAX_RETURNS];
        const int n_targets = formula->n_targets;
        for (int t = 0; t < n_targets; t++) {
            int p = formula->targets[t], n = 0;
            inputs[t] = p >= 0 && gradient->of_param[p] == f ? tensors_of_param(record, p, &n) : -1;
            if (inputs[t] >= 0 && !dt__gradient_is_needed(walk, &record->tensors[inputs[t]]))
                inputs[t] = -1;
            any |= inputs[t] >= 0;
        }
        for (int o = 0; o < record->n_outputs && !known; o++)
            known = call->grads[o] && formula->grads >> (o < 63 ? o : 63) & 1;
        if (!any || !formula->n_nodes || !known)
            continue;
        DT__TRY(dt__formula_run(call, formula, grads));
        for (int t = 0; t < n_targets; t++) {
            if (inputs[t] < 0)
                dt_drop(grads[t]);
            else if (grads[t])
                DT__TRY(pass_on(walk, &record->tensors[inputs[t]], grads[t]));
        }
    }
    return DT_OK;
}

static dt_op_value value_of(const dt__recorded_tensor *tensor) {
    return (dt_op_value){.dtype = dt__recorded_dtype(tensor),
                         .n_dims = tensor->n_dims,
                         .shape = dt__recorded_shape(tensor),
                         .global_shape = dt__recorded_shape(tensor),
                         .spec = tensor->spec};
}

/* Calls the op's own function. */
static dt_status run_function(dt__gradient_walk *walk, const dt__backward_call *call, dt__arena *arena) {
    dt__recorded_call *record = call->record;
    int n_inputs = record->n_inputs, n = n_inputs + record->n_outputs;
    dt_op_value *values = DT__NEW_ARRAY(arena, dt_op_value, n);
    dt_tensor **tensors = DT__NEW_ARRAY(arena, dt_tensor *, n), **grads = DT__NEW_ARRAY(arena, dt_tensor *, n_inputs);
    bool *needed = DT__NEW_ARRAY(arena, bool, n_inputs);
    if (!values || !tensors || !grads || !needed)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        values[i] = value_of(&record->tensors[i]);
        if (record->tensors[i].storage && !(tensors[i] = dt__saved_value(call, i)))
            return dt_error_status(call->ctx);
        if (i < n_inputs)
            needed[i] = dt__gradient_is_needed(walk, &record->tensors[i]);
    }
    dt_op_call op_call;
    dt__op_call_init(&op_call, call->ctx, record->info, record->overload, record->args, n_inputs, values);
    op_call.n_outputs = record->n_outputs;
    op_call.draw = &record->draw;
    op_call.outputs = values + n_inputs;
    dt_op_backward backward = {&op_call, tensors, tensors + n_inputs, call->grads, needed};
    DT__TRY(record->info->op->backward(&backward, grads));
    if (dt_failed(call->ctx))
        return dt_error_status(call->ctx);
    for (int i = 0; i < n; i++)
        dt_drop(tensors[i]);
    for (int i = 0; i < n_inputs; i++) {
        bool again = false; /* the function may return one tensor for several inputs, or a gradient as it is */
        for (int o = 0; o < record->n_outputs; o++)
            again |= grads[i] == call->grads[o];
        for (int k = 0; k < i; k++)
            again |= grads[i] == grads[k];
        if (!grads[i])
            continue;
        if (again)
            grads[i] = dt__share_handle(grads[i]);
        if (grads[i] && !needed[i])
            dt_drop(grads[i]);
        else if (!grads[i] || pass_on(walk, &record->tensors[i], grads[i]) != DT_OK)
            return dt_error_status(call->ctx);
    }
    return DT_OK;
}

static dt_status refuse_released(const dt__recorded_call *record) {
    return dt__fail(record->ctx, DT_ERR_STATE,
                    "the values that the gradient of %s needs were freed by an earlier walk; set retain_graph in the "
                    "first one",
                    record->name);
}

/* The gradients of the inputs of a record, from those of its outputs. */
static dt_status differentiate(dt__gradient_walk *walk, const dt__backward_call *call) {
    dt__recorded_call *record = call->record;
    bool any = false;
    for (int i = 0; i < record->n_inputs && !any; i++)
        any = dt__gradient_is_needed(walk, &record->tensors[i]);
    if (!any)
        return DT_OK;
    if (record->is_released)
        return refuse_released(record);
    if (record->checkpoint)
        DT__TRY(dt__checkpoint_fill(record->checkpoint));
    DT__TRY(dt__gather_block(walk, record));
    if (!record->info) {
        for (int i = 0; i < record->n_inputs; i++) {
            dt_tensor *grad = NULL;
            if (dt__gradient_is_needed(walk, &record->tensors[i]))
                DT__TRY(dt__function_gradient(call, i, &grad));
            if (grad)
                DT__TRY(pass_on(walk, &record->tensors[i], grad));
        }
        return DT_OK;
    }
    if (record->info->gradient)
        return run_formulas(walk, call);
    if (!record->info->op->backward)
        return dt__fail(call->ctx, DT_ERR_UNSUPPORTED,
                        "%s has no gradient: expected .gradient or .backward of its "
                        "descriptor",
                        record->name);
    dt__arena arena = dt__arena_new(call->ctx);
    dt_status status = run_function(walk, call, &arena);
    dt__arena_free(&arena);
    return status;
}

/* The copies that were gathered for the records of one scope are freed when the walk leaves it. */
static void enter_scope(dt__gradient_walk *walk, const dt__recorded_call *record) {
    if (record->head.is_leaf || record->scope == walk->scope)
        return;
    dt__used_copies_end(walk->ctx);
    walk->scope = record->scope;
    walk->has_gathered = false;
}

dt_status dt__gradients_of_record(dt__gradient_walk *walk, dt__recorded_call *record, dt_tensor **grads) {
    enter_scope(walk, record);
    dt__backward_call call = {walk->ctx, record, grads, walk->creates_graph};
    bool is_left = dt__rest_needs(walk, record);
    if (is_left)
        DT__TRY(dt__rest_add(walk, record, grads));
    if (record->head.is_leaf)
        return DT_OK;
    DT__TRY(differentiate(walk, &call));
    if (!walk->retains_graph && !is_left)
        dt__release_saved(record);
    return DT_OK;
}

static dt_status visit(dt__gradient_walk *walk, dt__recorded_call *record, dt_tensor **grads) {
    bool places = dt__function_places_gradient(record);
    for (int o = 0; o < record->n_outputs; o++) {
        dt__recorded_tensor *output = &record->tensors[record->n_inputs + o];
        grads[o] = output->grad;
        output->grad = NULL;
        if (!grads[o])
            continue;
        bool taken = false;
        if (record->head.is_leaf)
            DT__TRY(dt__leaf_gradient_hold(walk, record, grads[o], &taken));
        if (taken)
            return DT_OK;
        bool moves = !places && !dt__gradient_is_placed(grads[o], output->spec);
        if (moves && record->head.is_leaf)
            return dt__leaf_gradient_add(walk, record, grads[o]);
        if (moves && !(grads[o] = dt__gradient_place(grads[o], output->spec)))
            return dt_error_status(walk->ctx);
        if (record->slots || record->head.is_leaf)
            DT__TRY(dt__gradient_deliver(walk, record, o, &grads[o]));
    }
    DT__TRY(dt__gradients_of_record(walk, record, grads));
    for (int o = 0; o < record->n_outputs; o++)
        dt_drop(grads[o]);
    return DT_OK;
}

/* Errors and counts of a record's gradient carry the line of the recorded call, and its policy if that allowed
 * communication. */
static dt_status visit_at_site(dt__gradient_walk *walk, dt__recorded_call *record) {
    dt_ctx *ctx = walk->ctx;
    dt_tensor *few[DT__FEW_TENSORS], **grads = few;
    size_t bytes = (size_t)record->n_outputs * sizeof *grads;
    const dt_site *site = ctx->call.site;
    if (record->n_outputs > DT__FEW_TENSORS && !(grads = dt__alloc(ctx, bytes)))
        return dt__fail_memory(ctx, bytes, "gradients");
    if (record->site.file)
        ctx->call.site = &record->site;
    const int allowed = record->may_move;
    dt__policy_allow(ctx, allowed);
    dt_status status = visit(walk, record, grads);
    dt__policy_allow(ctx, -allowed);
    ctx->call.site = site;
    if (grads != few)
        dt__free(ctx, grads, bytes);
    return status;
}

static void clear_pending(dt__autograd_state *state) {
    while (state->n_pending > 0) {
        dt__recorded_call *record = pop(state);
        for (int o = 0; o < record->n_outputs; o++)
            record->tensors[record->n_inputs + o].grad = NULL; /* in the scope of the walk */
        dt__record_release(&record->head);
    }
}

/* Visits the first of the pending records. */
static dt_status visit_first(dt__gradient_walk *walk) {
    dt__recorded_call *record = pop(state_of(walk->ctx));
    dt_status status = visit_at_site(walk, record);
    for (int o = 0; o < record->n_outputs && status != DT_OK; o++)
        record->tensors[record->n_inputs + o].grad = NULL;
    dt__record_release(&record->head);
    return status;
}

dt_status dt__gradient_walk_advance(dt__gradient_walk *walk, uint64_t number) {
    const dt__autograd_state *state = state_of(walk->ctx);
    const dt__recorded_call until = {.number = number};
    while (state->n_pending > 0 && is_earlier(state->pending[0], &until))
        DT__TRY(visit_first(walk));
    return DT_OK;
}

dt_status dt__gradient_walk_run(dt__gradient_walk *walk, dt_status status) {
    dt__autograd_state *state = state_of(walk->ctx);
    if (status == DT_OK)
        status = dt__gradient_walk_advance(walk, 0);
    clear_pending(state);
    while (walk->n_waiting > 0 && status == DT_OK) /* those that were held move in a second exchange */
        status = dt__leaf_gradients_move(walk, NULL);
    dt__leaf_gradients_end(walk);
    return status;
}
