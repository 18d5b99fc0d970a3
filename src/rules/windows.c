/* SPDX-License-Identifier: Apache-2.0
 *
 * The windows of a call (dt_op.window): what one rank needs of the inputs that are fetched, for its part of the outputs
 * and of the inputs that are not.
 */
#include "rules/rules.h"

#include "base/size.h"

#include <inttypes.h>
#include <string.h>

/* The runs of one dim while they are collected. */
struct dt_window {
    dt__arena *arena; /* NULL: they are only counted */
    int n, capacity;
    dt__window_run *runs;
    int64_t at;
    dt_status status;
};

void dt_window_add(dt_window *window, int64_t start, int64_t size, int64_t step) {
    if (!window->arena) {
        window->n++;
        return;
    }
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
    int64_t size = call->inputs[input].global_shape[dim];
    for (int r = 0; r < window->n; r++)
        if (!is_inside(&window->runs[r], size))
            return dt_op_refuse(call, DT_ERR_VALUE,
                                "the window of dim %d of input %d is out of range: expected indices 0 to %" PRId64
                                ", got %" PRId64 " from %" PRId64 " in steps of %" PRId64,
                                dim, input + 1, size - 1, window->runs[r].size, window->runs[r].start,
                                window->runs[r].step);
    return window->status;
}

/* Sets the part of a tensor that a coordinate has; false: it is empty. */
static bool set_box(const dt_op_value *global, const dt__sharding *sharding, const int64_t *coordinate,
                    int64_t *numbers, dt_op_value *out) {
    int64_t *shape = numbers, *offset = numbers + DT_SPEC_MAX_DIMS;
    dt__sharding_local(sharding, coordinate, shape, offset);
    *out = *global;
    out->global_shape = global->shape;
    out->shape = shape;
    out->offset = offset;
    bool is_empty = false;
    for (int d = 0; d < out->n_dims; d++)
        is_empty |= shape[d] == 0;
    return !is_empty;
}

/* The call as one rank that holds everything sees it; NULL when out of memory. */
static dt_op_value *whole_boxes(dt__arena *arena, const dt_op_call *call, dt_op_call *out) {
    static const int64_t zeros[DT_SPEC_MAX_DIMS];
    int n = call->n_inputs + call->n_outputs;
    dt_op_value *values = DT__NEW_ARRAY(arena, dt_op_value, n + 1);
    for (int e = 0; e < n && values; e++) {
        values[e] = *dt__row_value(call, e);
        values[e].global_shape = values[e].shape;
        values[e].offset = zeros;
    }
    *out = *call;
    out->inputs = values;
    out->outputs = values ? values + call->n_inputs : NULL;
    return values;
}

static bool is_fetched(const dt_op_call *boxes, int input, int dim) {
    dt_window window = {.arena = NULL};
    boxes->op->window(boxes, input, dim, &window);
    return window.n > 0;
}

/* Where a tensor has no elements, nothing is fetched, and window functions are not called. */
static bool has_elements(const dt_op_call *call) {
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++)
        for (int d = 0; d < dt__row_value(call, e)->n_dims; d++)
            if (dt__row_value(call, e)->shape[d] == 0)
                return false;
    return true;
}

dt_status dt__window_owns(dt__arena *arena, const dt_op_call *call, const dt_row_entry *entries, uint64_t *out) {
    dt_op_call whole;
    const bool fetches = has_elements(call);
    *out = 0;
    if (!whole_boxes(arena, call, &whole))
        return DT_ERR_MEMORY;
    for (int i = 0; i < call->n_inputs && i < 64; i++)
        if (entries[i] > 0 && !(fetches && is_fetched(&whole, i, entries[i] - 1)))
            *out |= (uint64_t)1 << i;
    return DT_OK;
}

dt_status dt__windows_fetched(dt__arena *arena, const dt_op_call *call, uint32_t *out) {
    dt_op_call whole;
    if (!whole_boxes(arena, call, &whole))
        return DT_ERR_MEMORY;
    for (int i = 0; i < call->n_inputs; i++) {
        out[i] = 0;
        for (int d = 0; d < call->inputs[i].n_dims && has_elements(call); d++)
            out[i] |= (uint32_t)is_fetched(&whole, i, d) << d;
    }
    return DT_OK;
}

/* Where a rank's part is empty, `whole` determines what is fetched; it is NULL otherwise. */
static dt_status find_window(dt__arena *arena, const dt_op_call *call, int input, int dim, const dt_op_call *whole,
                             dt__dim_window *out) {
    dt_window window = {.arena = arena};
    if (!whole)
        call->op->window(call, input, dim, &window);
    DT__TRY(check_runs(call, input, dim, &window));
    *out = (dt__dim_window){.is_own = whole ? !is_fetched(whole, input, dim) : window.n == 0,
                            .n_runs = window.n,
                            .runs = window.runs,
                            .at = window.at};
    out->size = out->is_own ? call->inputs[input].shape[dim] : 0;
    for (int r = 0; r < window.n; r++)
        out->size += window.runs[r].size;
    return DT_OK;
}

/* Whether the part of some input that is not fetched is empty although the input is not: then this rank needs nothing.
 * Window functions are not called for such parts. */
static dt_status find_empty_part(dt__arena *arena, const dt_op_call *boxes, dt_op_call *whole, bool *is_empty) {
    *is_empty = false;
    *whole = (dt_op_call){0};
    for (int i = 0; i < boxes->n_inputs; i++)
        for (int d = 0; d < boxes->inputs[i].n_dims; d++) {
            const dt_op_value *input = &boxes->inputs[i];
            if (input->shape[d] > 0 || input->global_shape[d] == 0)
                continue;
            if (!whole->op) {
                dt_op_call global = *boxes;
                dt_op_value *values = whole_boxes(arena, &global, whole);
                if (!values)
                    return DT_ERR_MEMORY;
                for (int e = 0; e < boxes->n_inputs + boxes->n_outputs; e++)
                    values[e].shape = values[e].global_shape = dt__row_value(boxes, e)->global_shape;
            }
            *is_empty |= !is_fetched(whole, i, d);
        }
    return DT_OK;
}

dt_status dt__windows_of_boxes(dt__arena *arena, const dt_op_call *boxes, dt__dim_window **out) {
    dt_op_call whole;
    bool is_empty;
    DT__TRY(find_empty_part(arena, boxes, &whole, &is_empty));
    for (int i = 0; i < boxes->n_inputs; i++) {
        out[i] = DT__NEW_ARRAY(arena, dt__dim_window, boxes->inputs[i].n_dims + 1);
        if (!out[i])
            return DT_ERR_MEMORY;
        for (int d = 0; d < boxes->inputs[i].n_dims; d++)
            DT__TRY(find_window(arena, boxes, i, d, is_empty ? &whole : NULL, &out[i][d]));
    }
    return DT_OK;
}

dt_status dt__boxes_at(dt__arena *arena, const dt_op_call *call, const dt__sharding *const *inputs,
                       const dt__sharding *const *outputs, const int64_t *coordinate, dt_op_call *out,
                       bool *needs_none) {
    int n = call->n_inputs + call->n_outputs;
    int64_t *numbers = DT__NEW_ARRAY(arena, int64_t, 2 * DT_SPEC_MAX_DIMS * n + 1);
    dt_op_value *values = DT__NEW_ARRAY(arena, dt_op_value, n + 1);
    if (!numbers || !values)
        return DT_ERR_MEMORY;
    *out = *call;
    out->inputs = values;
    out->outputs = values + call->n_inputs;
    *needs_none = true;
    for (int e = 0; e < n; e++, numbers += (ptrdiff_t)2 * DT_SPEC_MAX_DIMS) {
        int o = e - call->n_inputs;
        bool has_elements = o < 0 ? set_box(&call->inputs[e], inputs[e], coordinate, numbers, &values[e])
                                  : set_box(&call->outputs[o], outputs[o], coordinate, numbers, &values[e]);
        *needs_none &= o < 0 || !has_elements;
    }
    return DT_OK;
}

dt_status dt__windows_at(dt__arena *arena, const dt_op_call *call, const dt__sharding *const *inputs,
                         const dt__sharding *const *outputs, const int64_t *coordinate, dt__dim_window **out,
                         bool *needs_none) {
    dt_op_call boxes;
    DT__TRY(dt__boxes_at(arena, call, inputs, outputs, coordinate, &boxes, needs_none));
    if (!*needs_none)
        return dt__windows_of_boxes(arena, &boxes, out);
    for (int i = 0; i < call->n_inputs; i++) {
        out[i] = DT__NEW_ARRAY(arena, dt__dim_window, call->inputs[i].n_dims + 1);
        if (!out[i])
            return DT_ERR_MEMORY;
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
