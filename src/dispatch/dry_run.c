/* SPDX-License-Identifier: Apache-2.0
 *
 * Dry runs of decompositions: the ops of a decomposition run on tensors without data, in a context of their own on the
 * fake transport, which has the world, rank, machine model and ops of this one, no heap, and reads no variables. So a
 * dry run has no effect on this context: no random draws, history, records, counts or allocations. Its price is the sum
 * of its redistributions and of the exchanges of its ops.
 */
#include "base/ctx.h"
#include "dispatch/dispatch_state.h"
#include "launch/launch.h"
#include "move/move.h"

#include <math.h>
#include <stdio.h>

struct dt__dry_context {
    dt_ctx *ctx;
    double us;       /* of the run in progress */
    dt__text *moves; /* that it requested, or NULL */
    int n_ops;       /* that the context has */
    const dt_op **ops;
    dt__move_observer observer;
};

/* Adds the price of a redistribution. */
static void add_redistribution(dt_ctx *ctx, const dt__redistribution_report *report) {
    dt__dispatch_state *state = ctx->slots[DT__SLOT_DISPATCH].state;
    dt__arena arena = dt__arena_new(ctx);
    dt__move move;
    double us = 0;
    if (state && state->dry && dt__move_of_specs(report->from, report->to, &move) == DT_OK && !move.to_mesh &&
        dt__plan_price(&arena, &move, ctx->machine, NULL, INFINITY, NULL, &us) == DT_OK)
        state->dry->us += us;
    dt__arena_free(&arena);
}

void dt__dry_add_way(dt__dispatch_state *state, const dt__decision *decision) {
    const dt__way *way = decision->meeting ? &decision->meeting->way : NULL;
    if (decision->windowed)
        way = dt__windowed_way(decision->windowed);
    state->dry->us += way ? way->us : 0;
}

dt__text *dt__dry_moves(const dt__dispatch_state *state) { return state->dry->moves; }

void dt__dry_context_free(dt_ctx *ctx, dt__dry_context *self) {
    if (!self || ctx->is_dry)
        return;
    if (self->ctx)
        dt__ctx_free(self->ctx);
    dt__free(ctx, (void *)self->ops, (size_t)self->n_ops * sizeof *self->ops);
    dt__free(ctx, self, sizeof *self);
}

/* The ops of this context, in the same order, and those that were registered since. */
static dt_status copy_ops(dt_ctx *ctx, dt__dry_context *self) {
    int n = dt__op_count(ctx);
    for (int i = self->n_ops; self->ops && i < n; i++)
        DT__TRY(dt__op_table_add(self->ctx, dt__op_at(ctx, i)->op, sizeof(dt_op)));
    if (self->ops)
        return DT_OK;
    self->ops = dt__alloc(ctx, (size_t)n * sizeof *self->ops);
    if (!self->ops)
        return DT_ERR_MEMORY;
    self->n_ops = n;
    for (int i = 0; i < n; i++) {
        const dt__op_info *info = dt__op_at(ctx, i);
        if (!info)
            return dt_error_status(ctx);
        self->ops[i] = info->op;
    }
    return dt__op_table_install(self->ctx, n, self->ops);
}

/* Made on first use. */
static dt_status open_context(dt_ctx *ctx, dt__dispatch_state *state) {
    if (state->dry)
        return copy_ops(ctx, state->dry);
    dt__dry_context *self = dt__alloc_zeroed(ctx, sizeof *self);
    if (!self)
        return DT_ERR_MEMORY;
    state->dry = self;
    self->ctx = dt__init_dry(ctx);
    if (!self->ctx)
        return DT_ERR_MEMORY;
    self->observer.redistribution = add_redistribution;
    self->ctx->move_observer = &self->observer;
    DT__TRY(copy_ops(ctx, self));
    dt__dispatch_state *dry_state = dt__dispatch_state_of(self->ctx);
    if (!dry_state || !dt__tensor_state_of(self->ctx))
        return DT_ERR_MEMORY;
    dry_state->dry = self;
    return DT_OK;
}

/* A tensor like an input, without data. */
static dt_tensor *new_stand_in(dt_ctx *dry, const dt__dry_request *request, int i) {
    const dt_op_value *value = &request->inputs[i];
    dt_mesh *mesh = dt_mesh_new(dry, dt_mesh_text(request->mesh));
    dt_spec *spec = mesh ? dt_spec_new(mesh, &(dt_spec_desc){.dtype = value->dtype,
                                                             .n_dims = value->n_dims,
                                                             .shape = value->shape,
                                                             .n_placements = dt_mesh_n_dims(mesh),
                                                             .placements = request->placed[i]->placements})
                         : NULL;
    dt_tensor *tensor = spec ? dt__tensor_of_spec(spec) : NULL;
    dt_spec_release(spec);
    dt_mesh_release(mesh);
    return tensor;
}

/* Generators are those of the dry context. */
static dt_arg *copy_args(dt__arena *arena, const dt__dry_request *call) {
    int n = call->info->schema.signatures[call->overload].n_params;
    dt_arg *args = dt__arena_copy(arena, call->args, (size_t)n, sizeof *args);
    for (int i = 0; args && i < n; i++)
        if (args[i].type == DT_ARG_GENERATOR)
            args[i] = (dt_arg){.type = DT_ARG_NONE};
    return args;
}

static dt_status copy_outputs(dt__arena *arena, const dt__call *dry_call, dt__dry_plan *out) {
    out->n_outputs = dry_call->n_outputs;
    out->outputs = DT__NEW_ARRAY(arena, const dt_placement *, dry_call->n_outputs + 1);
    for (int o = 0; out->outputs && o < dry_call->n_outputs; o++) {
        const dt_spec *spec = dry_call->outputs[o]->spec;
        int n = spec ? spec->sharding.n_mesh_dims : 0;
        dt_placement *placements = DT__NEW_ARRAY(arena, dt_placement, n + 1);
        if (!placements)
            return DT_ERR_MEMORY;
        for (int m = 0; m < n; m++) {
            placements[m] = spec->sharding.placements[m];
            placements[m].extents = dt__arena_copy(arena, placements[m].extents, (size_t)placements[m].n_extents,
                                                   sizeof *placements[m].extents);
        }
        out->outputs[o] = placements;
    }
    return out->outputs ? DT_OK : DT_ERR_MEMORY;
}

dt_status dt__dry_run(dt__arena *arena, const dt__dry_request *call, dt__dry_plan *out) {
    dt_ctx *ctx = arena->ctx;
    dt__dispatch_state *state = dt__dispatch_state_of(ctx);
    dt__call *dry_call = DT__NEW(arena, dt__call);
    dt_arg *args = copy_args(arena, call);
    *out = (dt__dry_plan){.us = INFINITY};
    if (!state || !dry_call || !args)
        return DT_ERR_MEMORY;
    if (open_context(ctx, state) != DT_OK)
        return dt__fail_memory(ctx, 0, "planning a decomposition");
    dt_ctx *dry = state->dry->ctx;
    dt__dispatch_state *dry_state = dry->slots[DT__SLOT_DISPATCH].state;
    dry_state->implicit_replication = state->implicit_replication;
    const double outer_us = state->dry->us; /* of the dry run whose ops are being decided, if there is one */
    dt__text *outer_moves = state->dry->moves;
    state->dry->us = 0;
    state->dry->moves = call->moves;
    dt_scope scope = dt_scope_begin(dry);
    dt__call_init(dry_call, dry, call->overload, args);
    dry_call->info = dt__op_at(dry, call->info->index);
    dry_call->records = call->records;
    dt_status status = dry_call->info ? dt__call_reserve(dry_call, call->n_inputs) : dt_error_status(dry);
    for (int i = 0; i < call->n_inputs && status == DT_OK; i++, dry_call->n_inputs++)
        if (!(dry_call->inputs[i] = new_stand_in(dry, call, i)))
            status = dt_error_status(dry);
    if (status == DT_OK)
        status = dt__dispatch_decomposed(dry, dry_call);
    if (status == DT_OK && dt_failed(dry))
        status = dt_error_status(dry);
    if (status == DT_OK)
        status = copy_outputs(arena, dry_call, out);
    if (status == DT_OK)
        out->us = state->dry->us;
    else
        (void)snprintf(out->refusal, sizeof out->refusal, "%s", dt_error_text(dry));
    state->dry->us = outer_us;
    state->dry->moves = outer_moves;
    dt__call_end(dry_call);
    dt_scope_end(scope);
    (void)dt_error_clear(dry);
    out->status = status;
    return status == DT_ERR_MEMORY ? dt__fail_memory(ctx, 0, "planning a decomposition") : DT_OK;
}
