/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs calls whose rows use windows: what each rank needs of the inputs is fetched in one exchange, to memory on which
 * the kernel then runs, or straight to the output where that is the result (DT_OP_MOVES). A kernel that computes any
 * part of the outputs needs the halos only (run_tiles.c).
 */
#include "base/hash.h"
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "kernels/kernels.h"
#include "mesh/mesh.h"
#include "move/move.h"

#include <string.h>

/* The window of one input: shape, dense strides, and the first index of each dim. */
typedef struct input_window {
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS], offset[DT_SPEC_MAX_DIMS];
    size_t bytes;
} input_window;

struct dt__windowed {
    dt__way way;
    bool is_result;   /* the windows are the output */
    bool needs_none;  /* this rank has no part of the outputs */
    dt__tiled *tiled; /* NULL: whole windows are fetched */
    input_window *inputs;
    dt__fetch *fetch;
    dt__fetch_memory *memory; /* per input, while it runs */
};

static void describe_window(const dt_op_value *input, const dt_local *local, const dt__dim_window *windows,
                            input_window *out) {
    int64_t elements = 1;
    for (int d = 0; d < input->n_dims; d++) {
        const dt__dim_window *window = &windows[d];
        bool has_runs = !window->is_own && window->n_runs && window->size;
        out->shape[d] = window->size;
        out->offset[d] = window->is_own ? local->offset[d] : has_runs ? window->runs[0].start : input->shape[d];
        elements *= window->size;
    }
    dt__row_strides(input->n_dims, out->shape, out->strides);
    out->bytes = (size_t)elements * dt_dtype_size(input->dtype);
}

/* The call while its windows are prepared. */
typedef struct preparation {
    const dt_op_call *call;
    const dt__sharding *const *inputs, *const *outputs;
    bool is_result;
} preparation;

/* Where windows are the output, they have places in it. */
static void place_windows(const preparation *self, dt__dim_window **windows) {
    for (int i = 0; i < self->call->n_inputs && !self->is_result; i++)
        for (int d = 0; d < self->call->inputs[i].n_dims; d++)
            windows[i][d].at = 0;
}

static dt_status windows_at(const void *user, dt__arena *arena, const int64_t *coordinate, dt__dim_window **out) {
    const preparation *self = user;
    bool needs_none;
    DT__TRY(dt__windows_at(arena, self->call, self->inputs, self->outputs, coordinate, out, &needs_none));
    place_windows(self, out);
    return DT_OK;
}

/* What the ranks must agree on. */
static uint64_t tag_of(const dt__decision *decision, const dt_op_call *call, const dt__way *way) {
    uint64_t tag = dt__hash(call->name, strlen(call->name), way->flags);
    for (int i = 0; i < call->n_inputs; i++)
        tag = dt__hash_u64(decision->inputs[i].kernel->fingerprint, tag);
    for (int o = 0; o < call->n_outputs; o++)
        tag = dt__hash_u64(decision->outputs[o].spec->fingerprint, tag);
    return tag;
}

static dt_status prepare_fetch(dt__decision *decision, const preparation *self, dt__dim_window **windows,
                               dt__windowed *out) {
    dt__arena *arena = &decision->arena;
    const dt_op_call *call = self->call;
    dt__fetched_tensor *tensors = DT__NEW_ARRAY(arena, dt__fetched_tensor, call->n_inputs);
    if (!tensors)
        return DT_ERR_MEMORY;
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_spec *spec = decision->inputs[i].kernel;
        describe_window(&call->inputs[i], &spec->local, windows[i], &out->inputs[i]);
        tensors[i] = (dt__fetched_tensor){.from = spec,
                                          .windows = windows[i],
                                          .dst_strides = out->is_result ? decision->outputs[0].spec->local.strides
                                                                        : out->inputs[i].strides};
    }
    return dt__fetch_new(arena,
                         &(dt__fetch_request){.mesh = decision->mesh,
                                              .n = call->n_inputs,
                                              .tensors = tensors,
                                              .mesh_dims = out->way.mesh_dims,
                                              .exchanges = out->way.bytes > 0,
                                              .tag = tag_of(decision, call, &out->way),
                                              .windows_at = windows_at,
                                              .user = self},
                         &out->fetch);
}

dt_status dt__windowed_new(dt__decision *decision, const dt_op_call *call, const dt__way *way) {
    dt__arena *arena = &decision->arena;
    int64_t coordinate[DT_SPEC_MAX_DIMS];
    const dt__sharding **inputs = DT__NEW_ARRAY(arena, const dt__sharding *, call->n_inputs + 1);
    const dt__sharding **outputs = DT__NEW_ARRAY(arena, const dt__sharding *, call->n_outputs + 1);
    dt__dim_window **windows = DT__NEW_ARRAY(arena, dt__dim_window *, call->n_inputs + 1);
    dt__windowed *out = decision->windowed = DT__NEW(arena, dt__windowed);
    if (!inputs || !outputs || !windows || !out)
        return DT_ERR_MEMORY;
    out->way = *way;
    out->is_result = dt__windows_are_result(call);
    if (!dt_mesh_coordinate(decision->mesh, coordinate))
        return DT_OK;
    out->inputs = DT__NEW_ARRAY(arena, input_window, call->n_inputs);
    out->memory = DT__NEW_ARRAY(arena, dt__fetch_memory, call->n_inputs);
    if (!out->inputs || !out->memory)
        return DT_ERR_MEMORY;
    for (int i = 0; i < call->n_inputs; i++)
        inputs[i] = &decision->inputs[i].kernel->sharding;
    for (int o = 0; o < call->n_outputs; o++)
        outputs[o] = &decision->outputs[o].spec->sharding;
    preparation self = {call, inputs, outputs, out->is_result};
    DT__TRY(dt__windows_at(arena, call, inputs, outputs, coordinate, windows, &out->needs_none));
    if (call->op->flags & DT_OP_TILES && !out->is_result)
        DT__TRY(dt__tiled_new(decision, call, inputs, outputs, way, tag_of(decision, call, way), &out->tiled));
    if (out->tiled)
        return DT_OK;
    place_windows(&self, windows);
    return prepare_fetch(decision, &self, windows, out);
}

void dt__windowed_end(dt__windowed *windowed) {
    if (!windowed)
        return;
    dt__fetch_end(windowed->fetch);
    dt__tiled_end(windowed->tiled);
}

bool dt__windowed_is_result(const dt__windowed *windowed) { return windowed->is_result; }
const dt__way *dt__windowed_way(const dt__windowed *windowed) { return &windowed->way; }
bool dt__windowed_is_empty(const dt__windowed *windowed) { return windowed->needs_none; }

static void observe_fetch(dt_ctx *ctx, const dt__windowed *self, const dt__fetch_cost *cost) {
    if (ctx->observer && self->way.bytes > 0)
        dt__observe_way(ctx, &self->way, cost->bytes, dt__clock_us(ctx) - cost->us);
}

/* The exchange; destinations are set. */
static dt_status fetch(dt_ctx *ctx, const dt__call *call, const dt__decision *decision) {
    const dt__windowed *self = decision->windowed;
    dt__fetch_cost cost = {.bytes = self->way.bytes};
    for (int i = 0; i < call->n_inputs; i++)
        self->memory[i].src = (dt__shard_memory){call->values[i].data, call->values[i].strides};
    if (dt__has_data(ctx)) {
        DT__TRY(dt__fetch_start(self->fetch, self->memory, dt__mesh_history(decision->mesh)));
        DT__TRY(dt__fetch_wait(self->fetch, &cost));
    }
    dt__clock_advance(ctx, self->way.us);
    cost.us = ctx->estimate ? self->way.us : cost.us;
    observe_fetch(ctx, self, &cost);
    return DT_OK;
}

static dt_status fetch_to_new(dt_ctx *ctx, dt__call *call, const dt__decision *decision, dt_tensor **fetched) {
    const dt__windowed *self = decision->windowed;
    for (int i = 0; i < call->n_inputs; i++) {
        const input_window *window = &self->inputs[i];
        fetched[i] =
            dt__tensor_dense(ctx, call->values[i].dtype, call->values[i].n_dims, window->shape, window->bytes);
        if (!fetched[i])
            return dt_error_status(ctx);
        self->memory[i].dst = (char *)fetched[i]->data;
    }
    return fetch(ctx, call, decision);
}

dt_status dt__windowed_fetch(dt_ctx *ctx, dt__call *call, const dt__decision *decision) {
    const dt__windowed *self = decision->windowed;
    if (self->is_result || self->tiled || !decision->runs)
        return DT_OK;
    dt_tensor **fetched = dt__call_alloc(call, (size_t)call->n_inputs * sizeof(dt_tensor *));
    if (!fetched)
        return DT_ERR_MEMORY;
    memset(fetched, 0, (size_t)call->n_inputs * sizeof *fetched);
    dt_status status = fetch_to_new(ctx, call, decision, fetched);
    for (int i = 0; i < call->n_inputs; i++) {
        if (status != DT_OK) {
            dt_drop(fetched[i]);
            continue;
        }
        if (call->moved[i] != call->inputs[i])
            dt_drop(call->moved[i]);
        call->moved[i] = fetched[i];
        call->values[i].shape = self->inputs[i].shape;
        call->values[i].strides = self->inputs[i].strides;
        call->values[i].offset = self->inputs[i].offset;
        call->values[i].data = fetched[i]->data;
    }
    return status;
}

static dt_status run_tiled(dt_ctx *ctx, const dt__call *call, const dt__decision *decision) {
    const dt__windowed *self = decision->windowed;
    dt__fetch_cost cost = {.bytes = self->way.bytes};
    if (dt__has_data(ctx))
        DT__TRY(dt__tiled_run(self->tiled, &call->op_call, dt__mesh_history(decision->mesh), &cost));
    observe_fetch(ctx, self, &cost);
    return DT_OK;
}

dt_status dt__windowed_run(dt_ctx *ctx, dt__call *call, const dt__decision *decision) {
    const dt__windowed *self = decision->windowed;
    if (self->tiled)
        return run_tiled(ctx, call, decision);
    if (!self->is_result)
        return self->needs_none || !dt__has_data(ctx) ? DT_OK : dt__kernel_run(&call->op_call);
    for (int i = 0; i < call->n_inputs; i++)
        self->memory[i].dst = call->op_call.outputs[0].data;
    return fetch(ctx, call, decision);
}
