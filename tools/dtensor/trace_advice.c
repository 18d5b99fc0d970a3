/* SPDX-License-Identifier: Apache-2.0
 *
 * What would have avoided the communication of a call: for each input that moves, the placements to which the cheapest
 * combinations of rows would move it are tried in its place, with all other inputs as they are; each trial selects the
 * placements of the call again and plans its moves.
 */
#include "table.h"
#include "trace_report.h"

enum { MAX_CANDIDATES = 64 };

typedef struct search {
    dt__arena *arena;
    dt_mesh *mesh;
    dt__placed_call placed;
    dt__explanation found;
    trace_advice *out;
    bool any;
    double cost_us; /* of the best so far */
} search;

static dt_status read_call(search *self, const char *text) {
    self->mesh = dt__call_text_mesh(self->arena, text);
    int n = self->mesh ? dt_mesh_n_dims(self->mesh) : 0;
    int64_t *sizes = DT__NEW_ARRAY(self->arena, int64_t, n + 1);
    if (!self->mesh || !sizes)
        return dt_error_status(self->arena->ctx);
    for (int m = 0; m < n; m++)
        sizes[m] = dt_mesh_dim_size(self->mesh, m);
    return dt__placed_call_parse(self->arena, text, n, sizes, &self->placed);
}

/* Bytes of an input on the rank that holds most; -1 after an error. */
static int64_t held_bytes(const search *self, int input, const dt_placement *placements) {
    const dt_op_value *value = &self->placed.call.inputs[input];
    dt_spec *spec = dt_spec_new(self->mesh, &(dt_spec_desc){.dtype = value->dtype,
                                                            .n_dims = value->n_dims,
                                                            .shape = value->shape,
                                                            .n_placements = self->placed.n_mesh_dims,
                                                            .placements = placements});
    int64_t bytes = spec ? dt_spec_max_bytes(spec) : -1;
    dt_spec_release(spec);
    return bytes;
}

/* A program places tensors by shards and copies; partials only come out of ops. */
static bool can_place(int n, const dt_placement *placements) {
    for (int m = 0; m < n; m++)
        if (dt_placement_is_partial(placements[m]))
            return false;
    return true;
}

static bool is_better(const search *self, const dt__candidate *selected, const dt__input_moves *moves, int64_t held) {
    const trace_advice *best = self->out;
    if (moves->bytes != best->better_bytes)
        return moves->bytes < best->better_bytes;
    if (!self->any)
        return false; /* as much as without it */
    return selected->cost_us < self->cost_us || (selected->cost_us == self->cost_us && held < best->better_held);
}

/* Selects the call's placements with one input placed otherwise. */
static dt_status try_placement(search *self, int input, const dt_placement *placements) {
    dt__placed_call trial = self->placed;
    const dt_op_value *value = &trial.call.inputs[input];
    const dt__sharding **inputs = DT__NEW_ARRAY(self->arena, const dt__sharding *, trial.call.n_inputs);
    dt__sharding *placed = DT__NEW(self->arena, dt__sharding);
    dt__candidate selected;
    dt__input_moves moves;
    if (!inputs || !placed)
        return DT_ERR_MEMORY;
    DT__TRY(dt__sharding_new(self->arena,
                             &(dt__sharding_desc){.n_mesh_dims = trial.n_mesh_dims,
                                                  .mesh = trial.mesh,
                                                  .n_dims = value->n_dims,
                                                  .shape = value->shape,
                                                  .n_placements = trial.n_mesh_dims,
                                                  .placements = placements},
                             placed));
    for (int i = 0; i < trial.call.n_inputs; i++)
        inputs[i] = i == input ? placed : self->placed.inputs[i];
    trial.inputs = inputs;
    dt__placed_inputs on = {trial.n_mesh_dims, trial.mesh, inputs, self->arena->ctx->machine};
    DT__TRY(dt__select_placements(self->arena, &trial.call, &on, &selected));
    DT__TRY(dt__input_moves_plan(self->arena, &trial, &selected, &moves));
    int64_t held = held_bytes(self, input, placements);
    if (held < 0)
        return dt_error_status(self->arena->ctx);
    if (!is_better(self, &selected, &moves, held))
        return DT_OK;
    self->any = true;
    self->cost_us = selected.cost_us;
    self->out->input = input;
    self->out->better_bytes = moves.bytes;
    self->out->better_held = held;
    self->out->better = label_placements(trial.n_mesh_dims, placements, self->arena);
    return self->out->better ? DT_OK : DT_ERR_MEMORY;
}

static bool is_placed(const search *self, int input, const dt_placement *placements) {
    for (int m = 0; m < self->placed.n_mesh_dims; m++)
        if (!dt_placement_equal(&self->placed.inputs[input]->placements[m], &placements[m]))
            return false;
    return true;
}

static dt_status try_all(search *self) {
    trace_advice *out = self->out;
    int n = self->placed.n_mesh_dims;
    DT__TRY(dt__explanation_new(self->arena, &self->placed, MAX_CANDIDATES, &self->found));
    out->bytes = out->better_bytes = self->found.moves[0].bytes;
    for (int i = 0; i < self->placed.call.n_inputs; i++)
        for (int c = 0; c < self->found.n_candidates; c++) {
            const dt_placement *placements = self->found.candidates[c].moved[i];
            if (can_place(n, placements) && !is_placed(self, i, placements))
                DT__TRY(try_placement(self, i, placements));
        }
    if (!self->any)
        return DT_OK;
    const dt_placement *now = self->placed.inputs[out->input]->placements;
    out->name = label_input(&self->placed, out->input, self->arena);
    out->now = label_placements(n, now, self->arena);
    out->held = held_bytes(self, out->input, now);
    return out->name && out->now && out->held >= 0 ? DT_OK : dt_error_status(self->arena->ctx);
}

dt_status trace_advise(dt__arena *arena, const traced_call *call, bool *found, trace_advice *out) {
    search self = {.arena = arena, .out = out};
    *out = (trace_advice){.input = -1};
    dt_status status = read_call(&self, call->text);
    if (status == DT_OK)
        status = try_all(&self);
    dt_mesh_release(self.mesh);
    *found = self.any;
    return status;
}
