/* SPDX-License-Identifier: Apache-2.0
 *
 * Making decisions: shapes and rows by the op, the choice by cost, specs for what moves and for what is made.
 */
#include "dispatch/dispatch_state.h"
#include "move/move.h"

#include <string.h>

/* What is at hand while a decision is made. */
struct making {
    dt_ctx *ctx;
    const dt__invocation *call;
    dt__decision *to;
    dt_op_value values[DT__MAX_INPUTS];
};

static void text_of(const dt_tensor *tensor, size_t room, char *out) { (void)dt_tensor_text(tensor, room, out); }

/* The mesh that all distributed inputs share. */
static dt_status find_mesh(struct making *self) {
    const dt__invocation *call = self->call;
    const dt_tensor *first = NULL;
    char a[512], b[512];
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_tensor *tensor = call->inputs[i];
        if (!tensor->spec)
            continue;
        if (!first) {
            first = tensor;
            self->to->mesh = tensor->spec->mesh;
        } else if (!dt_mesh_equal(tensor->spec->mesh, self->to->mesh)) {
            text_of(first, sizeof a, a);
            text_of(tensor, sizeof b, b);
            return dt__fail(self->ctx, DT_ERR_MESH, "%s: %s and %s are on different meshes; redistribute one of them",
                            call->info->schema.name, a, b);
        }
    }
    const dt__dispatch_state *state = self->ctx->slots[DT__SLOT_DISPATCH].state;
    for (int i = 0; first && i < call->n_inputs; i++) {
        const dt_tensor *tensor = call->inputs[i];
        if (tensor->spec)
            continue;
        self->to->inputs[i].wrap = true;
        if (state->implicit_replication > 0 || dt_tensor_elements(tensor) == 1)
            continue;
        text_of(first, sizeof a, a);
        text_of(tensor, sizeof b, b);
        return dt__fail(self->ctx, DT_ERR_PLACEMENT,
                        "%s: %s is plain and %s is distributed; distribute it, or allow implicit replication",
                        call->info->schema.name, b, a);
    }
    return DT_OK;
}

static dt_spec *spec_of(dt_mesh *mesh, const dt_op_value *value, int n, const dt_placement *placements,
                        const int *stride_order) {
    return dt_spec_new(mesh, &(dt_spec_desc){.dtype = value->dtype,
                                             .n_dims = value->n_dims,
                                             .shape = value->shape,
                                             .n_placements = n,
                                             .placements = placements,
                                             .stride_order = stride_order});
}

/* The inputs' specs; a plain one that counts as replicated gets one. */
static dt_status take_specs(struct making *self) {
    dt_placement everywhere[DT_SPEC_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    for (int i = 0; i < self->call->n_inputs; i++) {
        dt__input_decision *input = &self->to->inputs[i];
        if (self->call->inputs[i]->spec)
            input->from = dt_spec_retain(self->call->inputs[i]->spec);
        else if (input->wrap) {
            input->from = spec_of(self->to->mesh, &self->values[i], dt_mesh_n_dims(self->to->mesh), everywhere, NULL);
            if (!input->from)
                return dt_error_status(self->ctx);
        }
    }
    return DT_OK;
}

/* A partial that the input, being Replicate, is not: all coordinates but the first contribute nothing to it. */
static void find_blank(const struct making *self, const dt__candidate *choice, int i) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    dt__input_decision *input = &self->to->inputs[i];
    if (!dt_mesh_coordinate(self->to->mesh, coordinate))
        return;
    for (int m = 0; m < choice->n_mesh_dims; m++) {
        const dt_placement *p = &choice->inputs[i][m];
        bool made = dt_placement_is_partial(*p) && dt_placement_is_replicate(choice->moved[i][m]);
        if (!made || (p->reduce != DT_SUM && p->reduce != DT_PRODUCT) || coordinate[m] == 0)
            continue;
        input->blank = true;
        input->blank_as = p->reduce;
    }
}

static dt_status count_moves(struct making *self, const dt__input_decision *input) {
    int64_t collectives[DT__N_STEP_KINDS];
    DT__TRY(dt__redistribute_count(input->from, input->to, DT__PLANNER_DIRECT, NULL, collectives));
    for (int c = DT__STEP_NONE + 1; c < DT__N_STEP_KINDS; c++)
        self->to->communicates = self->to->communicates || collectives[c] > 0;
    return DT_OK;
}

static dt_status place_inputs(struct making *self, const dt__candidate *choice) {
    for (int i = 0; i < self->call->n_inputs; i++) {
        dt__input_decision *input = &self->to->inputs[i];
        const int *order = input->from->stride_order;
        dt_spec *moved = spec_of(self->to->mesh, &self->values[i], choice->n_mesh_dims, choice->moved[i], order);
        input->seen = spec_of(self->to->mesh, &self->values[i], choice->n_mesh_dims, choice->inputs[i], order);
        if (moved == input->from)
            dt_spec_release(moved);
        else
            input->to = moved;
        if (!moved || !input->seen)
            return dt_error_status(self->ctx);
        if (input->to)
            DT__TRY(count_moves(self, input));
        find_blank(self, choice, i);
    }
    return DT_OK;
}

static dt_status describe_outputs(struct making *self, const dt_op_call *asked, const dt__candidate *choice) {
    dt__decision *to = self->to;
    to->n_outputs = asked->n_outputs;
    to->outputs = DT__NEW_ARRAY(&to->arena, dt__output_decision, asked->n_outputs);
    if (!to->outputs)
        return DT_ERR_MEMORY;
    for (int i = 0; i < asked->n_outputs; i++) {
        const dt_op_value *value = &asked->outputs[i];
        dt__output_decision *output = &to->outputs[i];
        *output =
            (dt__output_decision){.dtype = value->dtype, .n_dims = value->n_dims, .local_n_dims = value->n_dims};
        if (to->mesh) {
            bool kept = i == 0 && (self->call->info->op->flags & DT_OP_INPLACE);
            output->spec = kept ? dt_spec_retain(to->inputs[0].from)
                                : spec_of(to->mesh, value, choice->n_mesh_dims, choice->outputs[i], NULL);
            if (!output->spec)
                return dt_error_status(self->ctx);
            output->shape = output->spec->sharding.shape;
            output->local_n_dims = output->spec->local.n_dims;
            output->local_shape = output->spec->local.shape;
            output->bytes = output->spec->local.bytes;
            continue;
        }
        int64_t elements;
        output->shape = output->local_shape =
            dt__arena_copy(&to->arena, value->shape, (size_t)value->n_dims, sizeof *value->shape);
        if (!output->shape)
            return DT_ERR_MEMORY;
        DT__TRY(dt__shape_check(self->ctx, self->call->info->schema.name, value->dtype, value->n_dims, value->shape,
                                &elements));
        output->bytes = elements * (int64_t)dt_dtype_size(value->dtype);
    }
    return DT_OK;
}

static dt_status choose(struct making *self, dt_op_call *asked, dt__arena *scratch, dt__candidate *choice) {
    int64_t mesh[DT_SPEC_MAX_DIMS];
    const dt__sharding *shardings[DT__MAX_INPUTS];
    int n = dt_mesh_n_dims(self->to->mesh);
    for (int m = 0; m < n; m++)
        mesh[m] = dt_mesh_dim_size(self->to->mesh, m);
    for (int i = 0; i < self->call->n_inputs; i++)
        shardings[i] = &self->to->inputs[i].from->sharding;
    dt__placed_inputs on = {n, mesh, shardings, &dt__machine_builtin};
    DT__TRY(dt__select_placements(scratch, asked, &on, choice));
    self->to->flags = choice->flags;
    self->to->cost_us = choice->cost_us;
    return place_inputs(self, choice);
}

static dt_status make(struct making *self, dt__arena *scratch) {
    const dt__invocation *call = self->call;
    DT__TRY(find_mesh(self));
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_tensor *tensor = call->inputs[i];
        self->values[i] = (dt_op_value){.dtype = tensor->dtype, .n_dims = tensor->n_dims, .shape = tensor->shape};
    }
    dt_op_call asked =
        dt__op_call_new(self->ctx, call->info, call->overload, call->args, call->n_inputs, self->values);
    DT__TRY(dt__op_call_infer(scratch, &asked));
    if (asked.n_outputs > DT__MAX_OUTPUTS)
        return dt__fail(self->ctx, DT_ERR_UNSUPPORTED, "%s: %d outputs; at most %d", call->info->schema.name,
                        asked.n_outputs, DT__MAX_OUTPUTS);
    dt__candidate choice = {0};
    if (self->to->mesh) {
        DT__TRY(take_specs(self));
        DT__TRY(choose(self, &asked, scratch, &choice));
    }
    self->to->runs = !self->to->mesh || dt_mesh_coordinate(self->to->mesh, (int64_t[DT_SPEC_MAX_DIMS]){0});
    return describe_outputs(self, &asked, &choice);
}

dt__decision *dt__decision_new(dt_ctx *ctx, const dt__invocation *call) {
    dt__decision *decision = dt__alloc_zeroed(ctx, sizeof *decision);
    if (!decision)
        return (void)dt__fail_memory(ctx, sizeof *decision, "a decision"), NULL;
    decision->arena = dt__arena_new(ctx);
    decision->n_inputs = call->n_inputs;
    decision->inputs = DT__NEW_ARRAY(&decision->arena, dt__input_decision, call->n_inputs);
    dt__arena scratch = dt__arena_new(ctx);
    struct making making = {.ctx = ctx, .call = call, .to = decision};
    dt_status status = decision->inputs ? make(&making, &scratch) : DT_ERR_MEMORY;
    dt__arena_free(&scratch);
    if (status == DT_OK)
        return decision;
    dt__decision_free(ctx, decision);
    return NULL;
}

void dt__decision_free(dt_ctx *ctx, dt__decision *decision) {
    if (!decision)
        return;
    for (int i = 0; decision->inputs && i < decision->n_inputs; i++) {
        dt_spec_release(decision->inputs[i].from);
        dt_spec_release(decision->inputs[i].to);
        dt_spec_release(decision->inputs[i].seen);
    }
    for (int i = 0; decision->outputs && i < decision->n_outputs; i++)
        dt_spec_release(decision->outputs[i].spec);
    dt__arena_free(&decision->arena);
    dt__free(ctx, decision, sizeof *decision);
}
