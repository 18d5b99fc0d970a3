/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides how a call runs: from the cache or, on a miss, from the op's shape function, the placements selected by cost
 * (src/rules), and the specs of moved inputs and of outputs. Touches no data.
 */
#include "base/hot.h"
#include "dispatch/dispatch_state.h"
#include "mesh/mesh.h"
#include "move/move.h"

#include <string.h>

/* A decision under construction. */
typedef struct making {
    dt_ctx *ctx;
    dt__call *call;
    dt__decision *to;
} making;

dt_status dt__call_find_mesh(dt_ctx *ctx, const dt__call *call, dt_mesh **out) {
    const char *name = call->info->schema.name;
    const dt_tensor *first = NULL;
    char a[512], b[512];
    *out = call->maker ? call->maker->mesh : NULL;
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_tensor *tensor = call->inputs[i];
        if (!tensor->spec)
            continue;
        if (!first) {
            first = tensor;
            *out = tensor->spec->mesh;
        } else if (!dt_mesh_equal(tensor->spec->mesh, *out)) {
            (void)dt_tensor_text(first, sizeof a, a);
            (void)dt_tensor_text(tensor, sizeof b, b);
            return dt__fail(ctx, DT_ERR_MESH, "%s: %s and %s are on different meshes; redistribute one of them", name,
                            a, b);
        }
    }
    const dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    for (int i = 0; first && i < call->n_inputs; i++) {
        const dt_tensor *tensor = call->inputs[i];
        if (tensor->spec || state->implicit_replication > 0 || dt_tensor_elements(tensor) == 1)
            continue;
        (void)dt_tensor_text(first, sizeof a, a);
        (void)dt_tensor_text(tensor, sizeof b, b);
        return dt__fail(
            ctx, DT_ERR_PLACEMENT,
            "%s: %s is plain and %s is distributed; distribute the plain one with dt_distribute_tensor, or "
            "count it as replicated between dt_implicit_replication_begin and _end",
            name, b, a);
    }
    return DT_OK;
}

static dt_spec *new_spec(dt_mesh *mesh, const dt_op_value *value, int n, const dt_placement *placements,
                         const int *stride_order) {
    return dt_spec_new(mesh, &(dt_spec_desc){.dtype = value->dtype,
                                             .n_dims = value->n_dims,
                                             .shape = value->shape,
                                             .n_placements = n,
                                             .placements = placements,
                                             .stride_order = stride_order});
}

/* References the specs of the inputs; a plain one gets one. */
static dt_status set_input_specs(making *self) {
    dt_placement replicate[DT_SPEC_MAX_DIMS] = {{.kind = DT_PLACEMENT_REPLICATE}};
    for (int i = 0; i < self->call->n_inputs; i++) {
        dt__input_decision *input = &self->to->inputs[i];
        input->is_used = self->call->used && self->call->used[i];
        if (input->is_used)
            input->from = dt_spec_retain(self->call->used[i]);
        else if (self->call->inputs[i]->spec)
            input->from = dt_spec_retain(self->call->inputs[i]->spec);
        else /* plain: it counts as replicated */
            input->from =
                new_spec(self->to->mesh, &self->call->values[i], dt_mesh_n_dims(self->to->mesh), replicate, NULL);
        if (!input->from)
            return dt_error_status(self->ctx);
    }
    return DT_OK;
}

/* If the selected row has Partial where the input is Replicate, the first coordinate keeps its values and all others
 * hold the identity of the reduction. */
static void set_identity(const making *self, const dt__candidate *selected, int i) {
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    dt__input_decision *input = &self->to->inputs[i];
    if (!dt_mesh_coordinate(self->to->mesh, coordinate))
        return;
    for (int m = 0; m < selected->n_mesh_dims; m++) {
        const dt_placement *p = &selected->inputs[i][m];
        bool from_replicate = dt_placement_is_partial(*p) && dt_placement_is_replicate(selected->moved[i][m]);
        if (!from_replicate || (p->reduce != DT_SUM && p->reduce != DT_PRODUCT) || coordinate[m] == 0)
            continue;
        input->identity = true;
        input->identity_of = p->reduce;
    }
}

/* The collectives that an input's plan counts as. */
static dt_status count_steps(making *self, const dt__route *route, dt__input_decision *input) {
    dt__move move;
    DT__TRY(dt__move_of_specs(input->from, input->to, &move));
    dt__step_counts counts = dt__route_count(&move, self->ctx->machine, route);
    input->counts = dt__arena_copy(&self->to->arena, &counts, 1, sizeof counts);
    return input->counts ? DT_OK : DT_ERR_MEMORY;
}

/* Whether the inputs' plans have collectives, or the rows communicate. */
static bool communicates(const making *self, const dt__candidate *selected) {
    for (int i = 0; i < self->call->n_inputs; i++)
        if (self->to->inputs[i].to && dt__step_counts_communicate(self->to->inputs[i].counts))
            return true;
    return selected->way.flags & DT__ROW_STATES ? selected->way.group > 1 : selected->way.bytes > 0;
}

static dt_status place_inputs(making *self, const dt__candidate *selected) {
    dt_mesh *mesh = self->to->mesh;
    for (int i = 0; i < self->call->n_inputs; i++) {
        dt__input_decision *input = &self->to->inputs[i];
        const dt_op_value *value = &self->call->values[i];
        const int *order = input->from->stride_order;
        dt_spec *moved = new_spec(mesh, value, selected->n_mesh_dims, selected->moved[i], order);
        input->kernel = new_spec(mesh, value, selected->n_mesh_dims, selected->inputs[i], order);
        if (moved == input->from)
            dt_spec_release(moved);
        else
            input->to = moved;
        if (!moved || !input->kernel)
            return dt_error_status(self->ctx);
        if (input->to)
            DT__TRY(count_steps(self, &selected->routes[i], input));
        set_identity(self, selected, i);
    }
    return DT_OK;
}

/* The spec of output i; an input that is written keeps its own, and a maker has what its caller requests. */
static dt_spec *output_spec(const making *self, const dt__candidate *selected, int i) {
    const dt_op_value *value = &self->call->op_call.outputs[i];
    const dt__maker_place *maker = self->call->maker;
    int order[DT_SPEC_MAX_DIMS];
    if (self->to->outputs[i].input >= 0)
        return dt_spec_retain(self->to->inputs[self->to->outputs[i].input].from);
    if (!maker || !maker->place)
        return new_spec(self->to->mesh, value, selected->n_mesh_dims, selected->outputs[i],
                        dt__spec_order_of_output(self->call, self->to, i, order));
    return dt_spec_new(
        self->to->mesh,
        &(dt_spec_desc){.dtype = value->dtype, .n_dims = value->n_dims, .shape = value->shape, .text = maker->place});
}

static dt_status place_outputs(making *self, const dt__candidate *selected) {
    dt__decision *to = self->to;
    const dt_op_call *op_call = &self->call->op_call;
    to->n_outputs = op_call->n_outputs;
    to->outputs = DT__NEW_ARRAY(&to->arena, dt__output_decision, op_call->n_outputs);
    if (!to->outputs)
        return DT_ERR_MEMORY;
    for (int i = 0; i < op_call->n_outputs; i++) {
        const dt_op_value *value = &op_call->outputs[i];
        dt__output_decision *output = &to->outputs[i];
        *output = (dt__output_decision){.dtype = value->dtype,
                                        .n_dims = value->n_dims,
                                        .local_n_dims = value->n_dims,
                                        .input = dt__output_input(op_call, i)};
        if (to->mesh) {
            output->spec = output_spec(self, selected, i);
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
        DT__TRY(dt__shape_check(self->ctx, op_call->name, value->dtype, value->n_dims, value->shape, &elements));
        output->bytes = elements * (int64_t)dt_dtype_size(value->dtype);
    }
    return DT_OK;
}

static dt_status select_placements(making *self, dt__arena *scratch, dt__candidate *selected) {
    int64_t mesh[DT_SPEC_MAX_DIMS];
    const dt__sharding **shardings = DT__NEW_ARRAY(scratch, const dt__sharding *, self->call->n_inputs);
    int n = dt_mesh_n_dims(self->to->mesh);
    if (!shardings)
        return DT_ERR_MEMORY;
    for (int m = 0; m < n; m++)
        mesh[m] = dt_mesh_dim_size(self->to->mesh, m);
    for (int i = 0; i < self->call->n_inputs; i++)
        shardings[i] = &self->to->inputs[i].from->sharding;
    dt__placed_inputs on = {n, mesh, shardings, self->ctx->machine};
    DT__TRY(dt__select_placements(scratch, &self->call->op_call, &on, selected));
    self->to->row_flags = selected->flags;
    self->to->cost_us = selected->cost_us;
    DT__TRY(place_inputs(self, selected));
    self->to->communicates = communicates(self, selected);
    return selected->way.flags & DT__ROW_STATES ? dt__meeting_new(self->to, selected) : DT_OK;
}

/* What the run of the decision branches on. */
static void set_kind(const making *self) {
    dt__decision *to = self->to;
    bool of_view_op = self->call->info->op->flags & DT_OP_VIEW;
    to->is_view = of_view_op && !(to->row_flags & DT_ROW_OFFSET);
    bool stays = !(to->row_flags & DT_ROW_WINDOW);
    stays = stays && (to->is_view || !self->ctx->checks_calls); /* which meet after the kernel */
    for (int i = 0; i < to->n_inputs; i++)
        stays = stays && !to->inputs[i].to && !to->inputs[i].identity && !to->inputs[i].is_used;
    to->is_direct = stays && !to->writes && of_view_op == to->is_view;
    to->is_in_place = stays && to->writes && !to->meeting && !of_view_op;
}

/* If an op has a kernel and a decomposition, the cheaper one is selected. */
static dt_status plan_decomposition(making *self, dt__arena *scratch, const dt__candidate *selected) {
    const dt_op *op = self->call->info->op;
    dt__dry_plan plan;
    bool apart = op->flags & DT_OP_RECORDS_PARTS;
    if (!op->decompose || !self->to->mesh || selected->cost_us == 0 || apart || self->to->writes || self->call->maker)
        return DT_OK;
    const dt__sharding **placed = DT__NEW_ARRAY(scratch, const dt__sharding *, self->call->n_inputs);
    if (!placed)
        return DT_ERR_MEMORY;
    for (int i = 0; i < self->call->n_inputs; i++)
        placed[i] = &self->to->inputs[i].from->sharding;
    dt__dry_request request = {self->call->info, self->call->overload, self->call->n_inputs,
                               self->call->args, self->call->values,   self->to->mesh,
                               placed,           self->call->records,  NULL};
    DT__TRY(dt__dry_run(scratch, &request, &plan));
    self->to->decomposes = dt__decomposition_is_selected(&plan, selected);
    return DT_OK;
}

static dt_status fill_decision(making *self, dt__arena *scratch) {
    dt_op_call *op_call = &self->call->op_call;
    if (self->call->info->list)
        return dt__decide_items(self->ctx, self->call, self->to);
    DT__TRY(dt__call_find_mesh(self->ctx, self->call, &self->to->mesh));
    self->to->writes = dt__call_writes(op_call);
    for (int i = 0; self->to->writes && i < self->call->n_inputs; i++)
        self->to->inputs[i].written = dt__writes_input(op_call, i);
    dt__call_set_global_inputs(self->call);
    DT__TRY(dt__op_call_infer(scratch, op_call));
    dt__candidate selected = {0};
    if (self->to->mesh) {
        DT__TRY(set_input_specs(self));
        DT__TRY(select_placements(self, scratch, &selected));
    }
    DT__TRY(plan_decomposition(self, scratch, &selected));
    set_kind(self);
    self->to->runs = !self->to->mesh || dt_mesh_coordinate(self->to->mesh, (int64_t[DT_SPEC_MAX_DIMS]){0});
    DT__TRY(place_outputs(self, &selected));
    return selected.way.flags & DT_ROW_WINDOW ? dt__windowed_new(self->to, op_call, &selected.way) : DT_OK;
}

/* The key is copied first: a long one is valid until the next call only. */
static dt__decision *new_decision(dt_ctx *ctx, dt__call *call, const dt__decision_key *key) {
    dt__decision *decision = dt__alloc_zeroed(ctx, sizeof *decision);
    if (!decision)
        return (void)dt__fail_memory(ctx, sizeof *decision, "a decision"), NULL;
    decision->arena = dt__arena_new(ctx);
    decision->hash = key->hash;
    decision->n_words = key->n_words;
    decision->words = dt__arena_copy(&decision->arena, key->words, (size_t)key->n_words, sizeof *key->words);
    decision->n_inputs = call->n_inputs;
    decision->inputs = DT__NEW_ARRAY(&decision->arena, dt__input_decision, call->n_inputs);
    dt__arena scratch = dt__arena_new(ctx);
    making self = {.ctx = ctx, .call = call, .to = decision};
    dt_status status = decision->words && decision->inputs ? fill_decision(&self, &scratch) : DT_ERR_MEMORY;
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
        dt_spec_release(decision->inputs[i].kernel);
    }
    for (int i = 0; decision->outputs && i < decision->n_outputs; i++)
        dt_spec_release(decision->outputs[i].spec);
    if (decision->meeting)
        dt_group_release(decision->meeting->group);
    dt__windowed_end(decision->windowed);
    for (int t = 0; t < decision->n_items; t++)
        dt__decision_release(ctx, decision->items[t]);
    dt__arena_free(&decision->arena);
    dt__free(ctx, decision, sizeof *decision);
}

static dt__decision *decide_miss(dt_ctx *ctx, dt__dispatch_state *state, dt__call *call,
                                 const dt__decision_key *key) {
    dt__call_entry entry;
    state->stats.n_misses++;
    dt__describe_entry(ctx, call, &entry);
    if (dt__note_new_call(ctx, call, &entry) != DT_OK)
        return NULL;
    dt__decision *decision = new_decision(ctx, call, key);
    if (!decision)
        return NULL;
    decision->history = decision->mesh ? dt__mesh_history(decision->mesh) : NULL;
    decision->entry = entry;
    dt__log_decision(ctx, call, decision);
    dt__decision_cache_add(ctx, state, decision);
    return decision;
}

DT__HOT dt__decision *dt__decide(dt_ctx *ctx, dt__call *call) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    dt_status (*check)(const dt_op_call *call) = call->info->op->check;
    dt__decision_key key;
    if (dt__decision_key_of(ctx, call, &key) != DT_OK)
        return NULL;
    dt__decision *decision = dt__decision_cache_find(state, &key);
    if (decision) {
        state->stats.n_hits++;
        if (dt__note_call(ctx, call, decision) != DT_OK)
            return NULL;
        if (check && check(&call->op_call) != DT_OK) /* on a miss it runs with the shape function */
            return NULL;
    } else if (!(decision = decide_miss(ctx, state, call, &key))) {
        return NULL;
    }
    decision->last_use = ++state->tick;
    decision->n_users++;
    return decision;
}

dt__decision *dt__decide_part(dt_ctx *ctx, dt__call *call) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    dt__decision_key key;
    if (dt__decision_key_of(ctx, call, &key) != DT_OK)
        return NULL;
    dt__decision *decision = dt__decision_cache_find(state, &key);
    if (decision)
        state->stats.n_hits++;
    else {
        state->stats.n_misses++;
        if (!(decision = new_decision(ctx, call, &key)))
            return NULL;
        decision->is_of_part = true;
        dt__decision_cache_add(ctx, state, decision);
    }
    decision->last_use = ++state->tick;
    decision->n_users++;
    return decision;
}
