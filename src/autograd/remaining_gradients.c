/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of inputs and of parameters in two walks. A walk for the gradients of some tensors (dt_gradients) may leave
 * the rest for later: for each record that also leads to other leaves, it keeps the gradients of the outputs and notes
 * which inputs are done. dt_backward_rest computes the others from these and continues the walk. A stage of a pipeline
 * sends the gradients of its inputs in between.
 */
#include "autograd/gradient_walk.h"

#include "base/dtype.h"

#include <string.h>

/* A record with some of its inputs done. */
typedef struct left_record {
    struct left_record *next;  /* an older one */
    dt__recorded_call *record; /* holds a reference */
    dt_tensor **grads;         /* of its outputs; hold references */
    bool *is_done;             /* per input */
} left_record;

struct dt_rest {
    dt__lifetime life;
    dt_ctx *ctx;
    bool retains_graph;
    left_record *first, **last; /* the youngest first, as they were visited */
};

dt_rest *dt__rest_new(dt_ctx *ctx, bool retains_graph) {
    dt_rest *rest = dt__owned_new(ctx, sizeof *rest, "gradients that are left");
    if (rest) {
        *rest = (dt_rest){.ctx = ctx, .retains_graph = retains_graph};
        dt__life_begin(&rest->life, ctx);
        rest->last = &rest->first;
    }
    return rest;
}

static void free_left(dt_ctx *ctx, left_record *left) {
    for (int o = 0; left->grads && o < left->record->n_outputs; o++)
        if (left->grads[o])
            dt_tensor_release(left->grads[o]);
    dt__owned_free(ctx, left->grads);
    dt__owned_free(ctx, left->is_done);
    dt__record_release(&left->record->head);
    dt__owned_free(ctx, left);
}

void dt_rest_free(dt_rest *rest) {
    DT__ENTER(rest ? rest->ctx : NULL, "rest_free", NULL);
    rest = DT__LIVE(DT__KIND_REST, rest);
    if (!rest)
        return;
    dt_ctx *ctx = rest->ctx;
    dt__autograd_state *state = ctx->slots[DT__SLOT_AUTOGRAD].state;
    for (left_record *left = rest->first, *next; left; left = next) {
        next = left->next;
        free_left(ctx, left);
    }
    DT__LIFE_END(&state->freed_rests, rest);
    dt__owned_free(ctx, dt__freed_pop(&state->freed_rests, ctx, sizeof *rest));
}

bool dt__rest_needs(const dt__gradient_walk *walk, const dt__recorded_call *record) {
    if (!walk->rest)
        return false;
    bool any = record->head.is_leaf && !record->is_needed;
    for (int i = 0; i < record->n_inputs && !any; i++) {
        const dt__recorded_tensor *input = &record->tensors[i];
        any = input->made_by && !input->made_by->is_needed && dt__is_inexact(input->dtype);
    }
    return any;
}

dt_status dt__rest_add(dt__gradient_walk *walk, dt__recorded_call *record, dt_tensor *const *grads) {
    dt_ctx *ctx = walk->ctx;
    left_record *left = dt__owned_new(ctx, sizeof *left, "gradients that are left");
    if (!left)
        return dt_error_status(ctx);
    left->record = record;
    record->head.n_refs++;
    left->grads = dt__owned_new(ctx, (size_t)record->n_outputs * sizeof *left->grads, "gradients that are left");
    left->is_done = dt__owned_new(ctx, (size_t)record->n_inputs + 1, "gradients that are left");
    if (!left->grads || !left->is_done) {
        free_left(ctx, left);
        return dt_error_status(ctx);
    }
    for (int o = 0; o < record->n_outputs; o++)
        left->grads[o] = grads[o] ? dt_tensor_retain(grads[o]) : NULL;
    for (int i = 0; i < record->n_inputs; i++)
        left->is_done[i] = record->tensors[i].made_by && record->tensors[i].made_by->is_needed;
    *walk->rest->last = left;
    walk->rest->last = &left->next;
    return DT_OK;
}

/* The gradients of what is not done, which are then pending. */
static dt_status compute_left(dt__gradient_walk *walk, left_record *left) {
    dt__recorded_call *record = left->record;
    if (record->head.is_leaf) {
        dt_tensor *own = dt__share_handle(left->grads[0]);
        return own ? dt__gradient_add(walk, record, 0, own) : dt_error_status(walk->ctx);
    }
    walk->done_of = record;
    walk->is_done = left->is_done;
    dt_status status = dt__gradients_of_record(walk, record, left->grads);
    walk->done_of = NULL;
    return status;
}

dt_status dt__rest_find(dt__gradient_walk *walk, const dt_rest *rest) {
    for (const left_record *left = rest->first; left; left = left->next)
        DT__TRY(dt__record_search_add(&walk->records, left->record));
    return dt__record_search_run(&walk->records);
}

dt_status dt__rest_compute(dt__gradient_walk *walk, dt_rest *rest) {
    for (left_record *left = rest->first; left; left = left->next) {
        DT__TRY(dt__gradient_walk_advance(walk, left->record->number));
        DT__TRY(compute_left(walk, left));
    }
    return DT_OK;
}

bool dt__rest_retains_graph(const dt_rest *rest) { return rest->retains_graph; }
dt_ctx *dt__rest_ctx(const dt_rest *rest) { return rest->ctx; }
