/* SPDX-License-Identifier: Apache-2.0
 *
 * The actions of a stage. F receives the inputs, calls the stage function with a generator of its own, and sends the
 * outputs; I receives the gradients of the outputs, computes and sends those of the inputs, and leaves the rest to W. B
 * does both in one walk. Where two stages are on one rank, tensors are handed over as they are.
 */
#include "train/pipeline_stage.h"

#include "autograd/autograd.h"

#include "base/dtype.h"
#include "base/hash.h"
#include "base/options.h"
#include "dtensor/redistribute.h"

#include <string.h>

static bool is_last(const dt__pipeline_step *self, int64_t stage) { return stage + 1 == self->table->n_stages; }
static bool is_own(const dt__pipeline_step *self, int64_t stage) { return self->table->rank_of[stage] == self->rank; }

/* Both ends of a link compare it: the schedule, and what crosses. */
static uint64_t tag_of(const dt__pipeline_step *self, int64_t link, int64_t micro, int i) {
    const uint64_t numbers[] = {(uint64_t)link, (uint64_t)micro, (uint64_t)i, (uint64_t)self->rows[micro],
                                self->hash};
    return dt__hash(numbers, sizeof numbers, 31);
}

/* The spec of a tensor of a hop on the mesh of a stage, kept for micro-batches of the same size; NULL in *out: plain
 * tensors. */
static dt_status find_spec(dt__pipeline_step *self, int64_t stage, int64_t link, int64_t micro, int i,
                           dt_spec **out) {
    dt__own_stage *own = &self->stages[stage];
    const int side = link == stage;
    if (own->mesh && own->rows[side][i] != self->rows[micro]) {
        dt_spec *spec = dt__hop_spec(&self->links.links[link].hop->tensors[i], own->mesh, self->rows[micro]);
        if (!spec)
            return dt_error_status(self->ctx);
        dt_spec_release(own->specs[side][i]);
        own->specs[side][i] = spec;
        own->rows[side][i] = self->rows[micro];
    }
    *out = own->specs[side][i];
    return DT_OK;
}

static dt_tensor *receive(dt__pipeline_step *self, dt_group *channel, int64_t stage, int64_t link, int64_t micro,
                          int i) {
    dt_spec *spec;
    if (find_spec(self, stage, link, micro, i, &spec) != DT_OK)
        return NULL;
    return dt__link_receive(&self->links, channel, spec, tag_of(self, link, micro, i));
}

/* Forward. */

static dt_status take_input(dt__pipeline_step *self, int64_t stage, int64_t micro, int i, dt__live_micro *live) {
    const dt__stage_link *link = &self->links.links[stage - 1];
    dt_tensor *input = is_own(self, stage - 1) ? dt_detach(self->stages[stage - 1].micro[micro]->outputs[i])
                                               : receive(self, link->forward, stage, stage - 1, micro, i);
    if (!input)
        return dt_error_status(self->ctx);
    live->inputs[i] = dt_tensor_retain(input);
    if (!dt__hop_has_gradient(&link->hop->tensors[i]))
        return DT_OK;
    DT__TRY(dt_set_requires_grad(input, true));
    dt__storage_set_kind(input->storage, DT_MEMORY_ACTIVATIONS); /* a leaf, but no parameter */
    return DT_OK;
}

/* The function is the program's: its calls have names and lines of their own, and its draws a state of their own. */
static dt_tensor *call_function(dt__pipeline_step *self, int64_t stage, int64_t micro, dt__live_micro *live) {
    dt_ctx *ctx = self->ctx;
    const uint64_t numbers[] = {self->state.seed, self->state.draw, (uint64_t)stage, (uint64_t)micro};
    struct dt__running_stage running = {self, stage, micro, live}, **current = dt__running_stage_of(ctx);
    if (dt_generator_restore(self->generator, (dt_generator_state){.seed = dt__hash(numbers, sizeof numbers, 41)}) !=
        DT_OK)
        return NULL;
    dt__public_call outer = ctx->call;
    *current = &running;
    ctx->call.depth = 0;
    dt_tensor *result = self->run(stage, micro, live->inputs[0], self->user);
    ctx->call = outer;
    *current = NULL;
    if (!result && !dt_failed(ctx))
        (void)dt__fail(ctx, DT_ERR_VALUE, "the stage function returned NULL: expected a tensor");
    return dt_failed(ctx) ? NULL : result;
}

static dt_status refuse_output(const dt__pipeline_step *self, int64_t stage, int64_t micro, int i,
                               const dt_tensor *output) {
    const dt__hop_tensor *expected = &self->links.links[stage].hop->tensors[i];
    char shape[256], got[512] = "NULL";
    int64_t sizes[DT_SPEC_MAX_DIMS];
    memcpy(sizes, expected->array.shape, sizeof sizes);
    sizes[0] = self->rows[micro];
    if (output)
        (void)dt_tensor_text(output, sizeof got, got);
    return dt__fail(self->ctx, DT_ERR_SHAPE, "tensor %d of the hop to stage %lld: expected %s[%s]%s%s, got %s", i,
                    (long long)stage + 1, dt_dtype_name(expected->array.dtype),
                    dt__shape_text(expected->array.n_dims, sizes, sizeof shape, shape), expected->place ? " " : "",
                    expected->place ? expected->place : "", got);
}

/* An output as the hop states it: placements follow the hop, dtype and shape must be its own. */
static dt_tensor *fit_output(dt__pipeline_step *self, int64_t stage, int64_t micro, int i, dt_tensor *output) {
    const dt__array_text *expected = &self->links.links[stage].hop->tensors[i].array;
    dt_spec *spec = NULL;
    bool fits = output && output->dtype == expected->dtype && output->n_dims == expected->n_dims &&
                output->shape[0] == self->rows[micro] && !output->spec == !self->stages[stage].mesh;
    for (int d = 1; fits && d < output->n_dims; d++)
        fits = output->shape[d] == expected->shape[d];
    if (!fits)
        return (void)refuse_output(self, stage, micro, i, output), NULL;
    if (find_spec(self, stage, stage, micro, i, &spec) != DT_OK)
        return NULL;
    char place[512];
    if (spec && output->spec != spec) {
        (void)dt_placements_text(spec->sharding.n_mesh_dims, spec->sharding.placements, sizeof place, place);
        output = dt_redistribute(output, place, .mesh = spec->mesh);
    }
    return output;
}

static dt_status pass_outputs(dt__pipeline_step *self, int64_t stage, int64_t micro, dt__live_micro *live) {
    const dt__stage_link *link = &self->links.links[stage];
    for (int i = 0; i < link->hop->n; i++) {
        dt_tensor *given = live->outputs[i], *output = fit_output(self, stage, micro, i, given);
        if (!output)
            return dt_error_status(self->ctx);
        live->outputs[i] = dt_tensor_retain(output);
        dt_tensor_release(given);
        if (link->forward)
            DT__TRY(dt__link_send(&self->links, link->forward, output, tag_of(self, stage, micro, i)));
    }
    return DT_OK;
}

/* Adds a number of a micro-batch to its weighted mean. */
static dt_status add_value(dt__pipeline_step *self, int which, dt_tensor *weighted) {
    dt_no_grad_begin(self->ctx);
    dt_tensor *old = self->values[which], *sum = dt_detach(weighted);
    sum = old && sum ? dt_add(old, sum) : sum;
    (void)dt_no_grad_end(self->ctx);
    if (!sum)
        return dt_error_status(self->ctx);
    self->values[which] = dt_tensor_retain(sum);
    dt_tensor_release(old);
    return DT_OK;
}

static dt_status check_number(dt_ctx *ctx, const char *what, const dt_tensor *value) {
    char got[512];
    if (value && dt_tensor_elements(value) == 1 && dt__is_float(value->dtype))
        return DT_OK;
    (void)dt_tensor_text(value, sizeof got, got);
    return dt__fail(ctx, DT_ERR_SHAPE, "%s: expected a floating-point tensor of one element, got %s", what,
                    value ? got : "NULL");
}

static dt_status take_loss(dt__pipeline_step *self, int64_t micro, dt__live_micro *live) {
    dt_tensor *loss = live->outputs[0];
    DT__TRY(check_number(self->ctx, "the loss of the last stage", loss));
    dt_tensor *weighted = dt_mul_scalar(loss, self->weights[micro]);
    if (!weighted)
        return dt_error_status(self->ctx);
    live->outputs[0] = dt_tensor_retain(weighted);
    dt_tensor_release(loss);
    return add_value(self, 0, weighted);
}

static dt_status forward(dt__pipeline_step *self, int64_t stage, int64_t micro, dt__live_micro *live) {
    const int n_inputs = stage > 0 ? self->links.links[stage - 1].hop->n : 0;
    for (int i = 0; i < n_inputs; i++)
        DT__TRY(take_input(self, stage, micro, i, live));
    const double begin = dt__clock_us(self->ctx);
    dt_tensor *result = call_function(self, stage, micro, live);
    self->stages[stage].us[0] += dt__clock_us(self->ctx) - begin;
    if (!result)
        return dt_error_status(self->ctx);
    dt_tensor_release(live->outputs[0]);
    live->outputs[0] = dt_tensor_retain(result);
    return is_last(self, stage) ? take_loss(self, micro, live) : pass_outputs(self, stage, micro, live);
}

dt_status dt__stage_forward(dt__pipeline_step *self, int64_t stage, int64_t micro) {
    dt__live_micro *live = self->unused ? self->unused : DT__NEW(&self->arena, dt__live_micro);
    if (!live)
        return DT_ERR_MEMORY;
    if (live == self->unused)
        self->unused = (dt__live_micro *)live->rest;
    *live = (dt__live_micro){.rest = NULL};
    self->stages[stage].micro[micro] = live;
    dt_scope scope = dt_scope_begin(self->ctx);
    dt_status status = forward(self, stage, micro, live);
    dt_scope_end(scope);
    return status;
}

/* Backward. */

/* Tensors that take part in a walk. */
typedef struct walk_ends {
    int n_outputs, n_inputs;
    dt_tensor *outputs[DT__MAX_HOP_TENSORS], *output_grads[DT__MAX_HOP_TENSORS];
    dt_tensor *inputs[DT__MAX_HOP_TENSORS], *input_grads[DT__MAX_HOP_TENSORS];
    int input_at[DT__MAX_HOP_TENSORS]; /* in the hop */
} walk_ends;

static dt_status take_output_grads(dt__pipeline_step *self, int64_t stage, int64_t micro, dt__live_micro *live,
                                   walk_ends *out) {
    const dt__stage_link *link = &self->links.links[stage];
    for (int i = 0; i < link->hop->n; i++) {
        if (!dt__hop_has_gradient(&link->hop->tensors[i]))
            continue;
        dt_tensor *grad =
            is_own(self, stage + 1) ? live->grads[i] : receive(self, link->backward, stage, stage, micro, i);
        if (!grad)
            return dt_error_status(self->ctx);
        if (!dt_requires_grad(live->outputs[i]))
            continue;
        out->outputs[out->n_outputs] = live->outputs[i];
        out->output_grads[out->n_outputs++] = grad;
    }
    return DT_OK;
}

static dt_status find_ends(dt__pipeline_step *self, int64_t stage, int64_t micro, dt__live_micro *live,
                           walk_ends *out) {
    *out = (walk_ends){0};
    if (!is_last(self, stage))
        DT__TRY(take_output_grads(self, stage, micro, live, out));
    else if (dt_requires_grad(live->outputs[0]))
        out->outputs[out->n_outputs++] = live->outputs[0];
    for (int i = 0; i < DT__MAX_HOP_TENSORS; i++)
        if (live->inputs[i] && dt_requires_grad(live->inputs[i])) {
            out->input_at[out->n_inputs] = i;
            out->inputs[out->n_inputs++] = live->inputs[i];
        }
    return DT_OK;
}

static dt_status pass_input_grads(dt__pipeline_step *self, int64_t stage, int64_t micro, const walk_ends *ends) {
    for (int k = 0; k < ends->n_inputs; k++) {
        const int i = ends->input_at[k];
        dt_tensor *grad = ends->input_grads[k];
        if (!grad && !(grad = dt_zeros_like(ends->inputs[k])))
            return dt_error_status(self->ctx);
        if (is_own(self, stage - 1))
            self->stages[stage - 1].micro[micro]->grads[i] = dt_tensor_retain(grad);
        else
            DT__TRY(dt__link_send(&self->links, self->links.links[stage - 1].backward, grad,
                                  tag_of(self, stage - 1, micro, i)));
    }
    return DT_OK;
}

/* The last micro-batch of a stage completes the gradients that the others hold. */
static const char *hold_of(const dt__pipeline_step *self, int64_t stage) {
    const dt__own_stage *own = &self->stages[stage];
    return own->n_backward + 1 < self->table->n_micro ? own->hold : NULL;
}

static dt_status end_micro(dt__pipeline_step *self, int64_t stage, int64_t micro) {
    dt__own_stage *own = &self->stages[stage];
    own->n_backward++;
    dt__live_micro_free(self, own->micro[micro]);
    own->micro[micro] = NULL;
    return DT_OK;
}

/* One walk for inputs and weights, of one output. */
static dt_status walk_together(dt__pipeline_step *self, int64_t stage, walk_ends *ends) {
    DT__TRY(dt_backward(ends->outputs[0], .grad = ends->output_grads[0], .hold = hold_of(self, stage)));
    for (int k = 0; k < ends->n_inputs; k++)
        ends->input_grads[k] = dt_grad(ends->inputs[k]);
    return DT_OK;
}

static dt_status backward(dt__pipeline_step *self, int64_t stage, int64_t micro, bool with_weights) {
    dt__live_micro *live = self->stages[stage].micro[micro];
    walk_ends ends;
    DT__TRY(find_ends(self, stage, micro, live, &ends));
    const bool together = with_weights && ends.n_outputs == 1;
    const double begin = dt__clock_us(self->ctx);
    if (together)
        DT__TRY(walk_together(self, stage, &ends));
    else if (ends.n_outputs > 0)
        DT__TRY(dt_gradients(((dt_tensors){ends.n_outputs, ends.outputs}), ((dt_tensors){ends.n_inputs, ends.inputs}),
                             ends.input_grads, .output_grads = ends.output_grads, .rest = &live->rest,
                             .allow_unused = true));
    self->stages[stage].us[1] += dt__clock_us(self->ctx) - begin;
    DT__TRY(pass_input_grads(self, stage, micro, &ends));
    if (!with_weights)
        return DT_OK;
    return together ? end_micro(self, stage, micro) : dt__stage_weights(self, stage, micro);
}

dt_status dt__stage_backward(dt__pipeline_step *self, int64_t stage, int64_t micro, bool with_weights) {
    dt_scope scope = dt_scope_begin(self->ctx);
    const dt_memory_kind kind = dt__set_new_kind(self->ctx, DT_MEMORY_SCRATCH); /* as what a backward pass makes */
    dt_status status = backward(self, stage, micro, with_weights);
    (void)dt__set_new_kind(self->ctx, kind);
    dt_scope_end(scope);
    return status;
}

dt_status dt__stage_weights(dt__pipeline_step *self, int64_t stage, int64_t micro) {
    dt__live_micro *live = self->stages[stage].micro[micro];
    dt_rest *rest = live->rest;
    const double begin = dt__clock_us(self->ctx);
    live->rest = NULL; /* freed by the walk, also after an error */
    if (rest)
        DT__TRY(dt__backward_rest(rest, hold_of(self, stage)));
    self->stages[stage].us[2] += dt__clock_us(self->ctx) - begin;
    return end_micro(self, stage, micro);
}

void dt__live_micro_free(dt__pipeline_step *self, dt__live_micro *live) {
    if (!live)
        return;
    for (int i = 0; i < DT__MAX_HOP_TENSORS; i++) {
        dt_tensor_release(live->inputs[i]);
        dt_tensor_release(live->outputs[i]);
        dt_tensor_release(live->grads[i]);
    }
    dt_rest_free(live->rest);
    live->rest = (dt_rest *)self->unused;
    self->unused = live;
}

/* What a stage function may ask for. */

static struct dt__running_stage *running_of(dt_ctx *ctx) {
    struct dt__running_stage **current = dt__running_stage_of(ctx);
    if (ctx && (!current || !*current))
        (void)dt__fail(ctx, DT_ERR_STATE, "expected a call from a stage function of dt_pipeline_run");
    return current ? *current : NULL;
}

static const dt__hop *hop_at(const struct dt__running_stage *at, int64_t link) {
    return link >= 0 && link + 1 < at->step->table->n_stages ? at->step->links.links[link].hop : NULL;
}

static bool check_index(dt_ctx *ctx, const dt__hop *hop, int i) {
    if (i >= 0 && hop && i < hop->n)
        return true;
    (void)dt__fail(ctx, DT_ERR_VALUE, "the hop has no tensor %d: expected 0 <= i < %d", i, hop ? hop->n : 0);
    return false;
}

dt_tensor *dt_pipeline_input_site(dt_ctx *ctx, int i, const dt_site *site) {
    DT__ENTER(ctx, "pipeline_input", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    const struct dt__running_stage *at = running_of(ctx);
    return at && check_index(ctx, hop_at(at, at->stage - 1), i) ? at->live->inputs[i] : NULL;
}

dt_status dt_pipeline_output_site(dt_ctx *ctx, int i, dt_tensor *tensor, const dt_site *site) {
    DT__ENTER(ctx, "pipeline_output", site);
    DT__TRY(DT__REFUSAL());
    if (!tensor || !DT__LIVE_ARGUMENT(DT__KIND_TENSOR, tensor, 3))
        return dt__null_argument(ctx, "pipeline_output", 3), DT_ERR_VALUE;
    struct dt__running_stage *at = running_of(ctx);
    if (!at || !check_index(ctx, hop_at(at, at->stage), i))
        return dt_error_status(ctx);
    dt_tensor_release(at->live->outputs[i]);
    at->live->outputs[i] = dt_tensor_retain(tensor);
    return DT_OK;
}

dt_status dt_pipeline_metric_site(dt_ctx *ctx, int i, dt_tensor *value, const dt_site *site) {
    DT__ENTER(ctx, "pipeline_metric", site);
    DT__TRY(DT__REFUSAL());
    if (!value || !DT__LIVE_ARGUMENT(DT__KIND_TENSOR, value, 3))
        return dt__null_argument(ctx, "pipeline_metric", 3), DT_ERR_VALUE;
    struct dt__running_stage *at = running_of(ctx);
    if (!at)
        return dt_error_status(ctx);
    if (i < 0 || i + 1 >= at->step->n_values)
        return dt__fail(ctx, DT_ERR_VALUE, "expected 0 <= i < n_metrics = %d, got %d", at->step->n_values - 1, i);
    DT__TRY(check_number(ctx, "the value", value));
    dt_no_grad_begin(ctx);
    dt_tensor *weighted = dt_mul_scalar(value, at->step->weights[at->micro]);
    (void)dt_no_grad_end(ctx);
    return weighted ? add_value(at->step, i + 1, weighted) : dt_error_status(ctx);
}
