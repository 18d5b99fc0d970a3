/* SPDX-License-Identifier: Apache-2.0
 *
 * The windows of a call (dt_op.window): what one rank needs of the inputs for its part of the outputs.
 */
#include "rules/rules.h"

#include "base/size.h"

#include <inttypes.h>
#include <string.h>

/* The runs of one dim while they are collected. */
struct dt_window {
    dt__arena *arena;
    int n, capacity;
    dt__window_run *runs;
    int64_t at;
    dt_status status;
};

void dt_window_add(dt_window *window, int64_t start, int64_t size, int64_t step) {
    if (window->n == window->capacity) {
        int capacity = window->capacity * 2 + 4;
        dt__window_run *more = DT__NEW_ARRAY(window->arena, dt__window_run, capacity);
        if (!more) {
            window->status = DT_ERR_MEMORY;
            return;
        }
        if (window->n)
            memcpy(more, window->runs, (size_t)window->n * sizeof *more);
        window->runs = more;
        window->capacity = capacity;
    }
    window->runs[window->n++] = (dt__window_run){start, size, step};
}

void dt_window_place(dt_window *window, int64_t at) { window->at = at; }

static bool is_inside(const dt__window_run *run, int64_t size) {
    int64_t distance = 0, last = 0;
    if (run->size < 0)
        return false;
    if (run->size == 0)
        return true;
    return dt__mul_i64(run->size - 1, run->step, &distance) && dt__add_i64(run->start, distance, &last) &&
           run->start >= 0 && run->start < size && last >= 0 && last < size;
}

static dt_status check_runs(const dt_op_call *call, int input, int dim, const dt_window *window) {
    int64_t size = call->inputs[input].shape[dim];
    for (int r = 0; r < window->n; r++)
        if (!is_inside(&window->runs[r], size))
            return dt_op_refuse(call, DT_ERR_VALUE,
                                "the window of dim %d of input %d is out of range: expected indices 0 to %" PRId64
                                ", got %" PRId64 " from %" PRId64 " in steps of %" PRId64,
                                dim, input + 1, size - 1, window->runs[r].size, window->runs[r].start,
                                window->runs[r].step);
    return window->status;
}

static dt_status find_window(dt__arena *arena, const dt_op_call *call, int input, int dim,
                             const dt__sharding *sharding, const int64_t *coordinate, dt__dim_window *out) {
    dt_window window = {.arena = arena};
    call->op->window(call, input, dim, &window);
    DT__TRY(check_runs(call, input, dim, &window));
    *out = (dt__dim_window){.is_own = window.n == 0, .n_runs = window.n, .runs = window.runs, .at = window.at};
    if (out->is_own) {
        dt__shard shard;
        dt__shard_at(sharding, dim, coordinate, &shard);
        out->size = shard.size;
    }
    for (int r = 0; r < window.n; r++)
        out->size += window.runs[r].size;
    return DT_OK;
}

/* The outputs with this rank's shapes and offsets; false: all are empty. */
static bool set_boxes(const dt_op_call *call, const dt__sharding *const *shardings, const int64_t *coordinate,
                      dt_op_value *outputs, int64_t *numbers) {
    bool has_elements = false;
    for (int o = 0; o < call->n_outputs; o++) {
        int64_t *shape = numbers + (ptrdiff_t)o * 2 * DT_SPEC_MAX_DIMS, *offset = shape + DT_SPEC_MAX_DIMS;
        dt__sharding_local(shardings[o], coordinate, shape, offset);
        outputs[o] = call->outputs[o];
        outputs[o].global_shape = call->outputs[o].shape;
        outputs[o].shape = shape;
        outputs[o].offset = offset;
        bool is_empty = false;
        for (int d = 0; d < outputs[o].n_dims; d++)
            is_empty |= shape[d] == 0;
        has_elements |= !is_empty;
    }
    return has_elements;
}

dt_status dt__windows_at(dt__arena *arena, const dt_op_call *call, const dt__sharding *const *inputs,
                         const dt__sharding *const *outputs, const int64_t *coordinate, dt__dim_window **out,
                         bool *needs_none) {
    dt_op_call local = *call;
    int64_t *numbers = DT__NEW_ARRAY(arena, int64_t, 2 * DT_SPEC_MAX_DIMS * call->n_outputs + 1);
    local.outputs = DT__NEW_ARRAY(arena, dt_op_value, call->n_outputs + 1);
    if (!numbers || !local.outputs)
        return DT_ERR_MEMORY;
    *needs_none = !set_boxes(call, outputs, coordinate, local.outputs, numbers);
    for (int i = 0; i < call->n_inputs; i++) {
        out[i] = DT__NEW_ARRAY(arena, dt__dim_window, call->inputs[i].n_dims + 1);
        if (!out[i])
            return DT_ERR_MEMORY;
        for (int d = 0; d < call->inputs[i].n_dims && !*needs_none; d++)
            DT__TRY(find_window(arena, &local, i, d, inputs[i], coordinate, &out[i][d]));
    }
    return DT_OK;
}

uint32_t dt__windows_mesh_dims(const dt_op_call *call, const dt__sharding *const *inputs,
                               dt__dim_window *const *windows) {
    uint32_t mesh_dims = 0;
    for (int i = 0; i < call->n_inputs; i++)
        for (int d = 0; d < call->inputs[i].n_dims; d++)
            for (int c = inputs[i]->first_cut[d]; c < inputs[i]->first_cut[d + 1] && !windows[i][d].is_own; c++)
                mesh_dims |= (uint32_t)1 << inputs[i]->cuts[c].mesh_dim;
    return mesh_dims;
}

bool dt__windows_are_result(const dt_op_call *call) {
    bool moves = call->op->flags & DT_OP_MOVES && call->n_outputs == 1;
    for (int i = 0; i < call->n_inputs && moves; i++)
        moves = call->inputs[i].dtype == call->outputs[0].dtype;
    return moves;
}
