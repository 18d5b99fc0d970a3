/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts of simulated ranks, and one run of a kernel in one of them.
 */
#include "verify/simulated_ranks.h"

#include "mesh/mesh.h"
#include "ops/ops.h"
#include "random/random.h"
#include "tensor/tensor.h"

#include <stdio.h>

enum { SEED = 20261116 };

dt__sim dt__sim_new(dt_ctx *ctx, const dt__op_info *info) { return (dt__sim){.ctx = ctx, .info = info}; }

void dt__sim_free(dt__sim *sim) {
    if (sim->texts.ctx)
        dt__arena_free(&sim->texts);
    for (int n = 1; n <= DT__MAX_SIM_RANKS; n++)
        for (int r = 0; r < n; r++)
            if (sim->worlds[n][r].ctx) {
                dt_mesh_release(sim->worlds[n][r].mesh);
                dt__ctx_free(sim->worlds[n][r].ctx);
            }
}

/* A rank with the op. On failure its context has the error. */
static bool start_rank(const dt__sim *sim, int n, int r, dt__sim_rank *out) {
    const dt_ctx *caller = sim->ctx;
    char sizes[16];
    dt_init_options options = {.allocator = caller->allocator, .log = caller->log, .log_user = caller->log_user};
    out->ctx = dt__ctx_new(&options);
    if (!out->ctx)
        return false;
    out->ctx->log_level = DT_LOG_OFF;
    out->ctx->world = n;
    out->ctx->rank = r;
    snprintf(sizes, sizeof sizes, "%d", n);
    if (dt__ops_open(out->ctx) != DT_OK)
        return false;
    for (int i = DT__N_OPS; i <= sim->info->index; i++) /* its gradient may use those that were registered before */
        if (dt_op_register(out->ctx, dt__op_at(sim->ctx, i)->op) != DT_OK)
            return false;
    out->mesh = dt_mesh_new(out->ctx, sizes);
    out->info = dt__op_find(out->ctx, sim->info->schema.name);
    return out->mesh && out->info && dt__tensor_state_of(out->ctx);
}

const dt__sim_rank *dt__sim_ranks(dt__sim *sim, int n) {
    dt__sim_rank *ranks = sim->worlds[n];
    for (int r = 0; r < n && !ranks[n - 1].info; r++)
        if (!start_rank(sim, n, r, &ranks[r])) {
            dt__fail_memory(sim->ctx, sizeof(dt_ctx), "ranks to verify with");
            return NULL;
        }
    return ranks;
}

dt_status dt__sim_rank_clear_error(const dt__sim_rank *actor, dt_ctx *caller) {
    bool short_of_memory = actor->ctx->status == DT_ERR_MEMORY;
    actor->ctx->status = DT_OK;
    actor->ctx->text[0] = 0;
    return short_of_memory ? dt__fail_memory(caller, 0, "a rank to verify with") : DT_OK;
}

/* Every run starts from the same generator state, as on every rank. */
static dt_status reset_generator(const dt__sim_rank *actor) {
    dt_generator *generator = dt_generator_default(actor->ctx);
    return generator ? dt_generator_restore(generator, (dt_generator_state){.seed = SEED, .draw = 1})
                     : dt_error_status(actor->ctx);
}

static void share_memory(const dt_op_call *call) {
    for (int o = 0; o < call->n_outputs; o++) {
        int input = dt__returns_views(call->op, call->row_flags) ? 0 : dt__output_input(call, o);
        if (input >= 0)
            call->outputs[o].data = call->inputs[input].data;
    }
}

static void init_call(dt_op_call *call, const dt__sim_rank *actor, const dt__placed_call *placed, unsigned row_flags,
                      dt_op_value *inputs, int n_outputs, dt_op_value *outputs) {
    dt__op_call_init(call, actor->ctx, actor->info, placed->bound.overload, placed->call.args, placed->call.n_inputs,
                     inputs);
    call->n_outputs = n_outputs;
    call->outputs = outputs;
    call->row_flags = row_flags;
}

dt_status dt__sim_rank_run(const dt__sim_rank *actor, const dt__placed_call *placed, unsigned row_flags,
                           dt_op_value *inputs, int n_outputs, dt_op_value *outputs) {
    const dt_op *op = actor->info->op;
    dt_op_call call;
    init_call(&call, actor, placed, row_flags, inputs, n_outputs, outputs);
    if (op->flags & DT_OP_RANDOM)
        DT__TRY(reset_generator(actor));
    share_memory(&call);
    DT__TRY(op->kernel(&call));
    return call.needs_copy
               ? dt_op_refuse(&call, DT_ERR_INTERNAL, "the kernel requests a copy of an input that is dense already")
               : DT_OK;
}

/* The state of one rank, or the identity if its shard is empty. */
static dt_status begin_state(dt__arena *arena, dt_op_call *call, dt_state *out) {
    DT__TRY(dt__meet_state_describe(call, out));
    void *memory = dt__arena_alloc(arena, dt__meet_state_bytes(out) + 1, 1);
    if (!memory)
        return dt__fail_memory(call->ctx, dt__meet_state_bytes(out), "a state");
    dt__meet_state_place(out, memory);
    dt__meet_state_set_identity(out);
    return dt__meet_state_is_empty(call) ? DT_OK : call->op->meet->begin(call, out);
}

/* The states of the first n ranks, merged, with which a rank completes its result. */
static dt_status finish_from(dt__arena *arena, dt_op_call *call, int n, const dt_state *states, const dt_state *own) {
    dt_state merged = states[0];
    void *memory = dt__arena_alloc(arena, dt__meet_state_bytes(&merged) + 1, 1);
    if (!memory)
        return dt__fail_memory(call->ctx, dt__meet_state_bytes(&merged), "a state");
    dt__meet_state_place(&merged, memory);
    dt__meet_state_set_identity(&merged);
    for (int i = 0; i < n; i++)
        call->op->meet->merge(call, &merged, &states[i]);
    call->begun = own;
    return call->op->meet->finish(call, &merged);
}

dt_status dt__sim_ranks_meet(dt__arena *arena, const dt__sim_rank *ranks, int n, const dt__placed_call *placed,
                             unsigned row_flags, dt_op_value *const *values, dt__text *failure) {
    dt_op_call calls[DT__MAX_SIM_RANKS];
    dt_state states[DT__MAX_SIM_RANKS];
    for (int r = 0; r < n && !failure->n_chars; r++) {
        init_call(&calls[r], &ranks[r], placed, row_flags, values[r], placed->call.n_outputs,
                  values[r] + placed->call.n_inputs);
        if (calls[r].op->flags & DT_OP_RANDOM)
            DT__TRY(reset_generator(&ranks[r]));
        if (begin_state(arena, &calls[r], &states[r]) != DT_OK)
            dt__text_add(failure, "rank %d failed: %s", r, dt_error_text(ranks[r].ctx));
        else if (dt__meet_state_bytes(&states[r]) != dt__meet_state_bytes(&states[0]))
            dt__text_add(failure, "the states of ranks 0 and %d have different sizes", r);
    }
    for (int r = 0; r < n && !failure->n_chars; r++)
        if (finish_from(arena, &calls[r], row_flags & DT_ROW_SCAN ? r : n, states, &states[r]) != DT_OK)
            dt__text_add(failure, "rank %d failed: %s", r, dt_error_text(ranks[r].ctx));
    for (int r = 0; r < n; r++)
        DT__TRY(dt__sim_rank_clear_error(&ranks[r], arena->ctx));
    return DT_OK;
}
