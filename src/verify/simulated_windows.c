/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of simulated ranks, element by element.
 */
#include "verify/simulated_windows.h"

#include "base/size.h"

#include <string.h>

dt_status dt__sim_windows_new(dt__arena *arena, const dt_op_call *call, const dt__row *row,
                              const dt__row_specs *specs, int r, dt__sim_windows *out) {
    int n_outputs = specs->n_entries - call->n_inputs;
    const dt__sharding **shardings = DT__NEW_ARRAY(arena, const dt__sharding *, specs->n_entries);
    *out = (dt__sim_windows){.used = row->flags & DT_ROW_WINDOW,
                             .inputs = DT__NEW_ARRAY(arena, dt__dim_window *, call->n_inputs + 1),
                             .specs = specs,
                             .rank = r};
    if (!shardings || !out->inputs)
        return dt__fail_memory(call->ctx, 0, "windows");
    for (int e = 0; e < call->n_inputs + n_outputs; e++)
        shardings[e] = &dt__row_specs_at(specs, r, e)->sharding;
    return out->used ? dt__windows_at(arena, call, shardings, shardings + call->n_inputs, (int64_t[]){r}, out->inputs,
                                      &out->needs_none)
                     : DT_OK;
}

dt_status dt__sim_windows_shape(dt__arena *arena, const dt__sim_windows *self, int input, dt_op_value *value) {
    int64_t *shape = DT__NEW_ARRAY(arena, int64_t, 2 * DT_SPEC_MAX_DIMS), *offset = shape + DT_SPEC_MAX_DIMS;
    if (!shape)
        return DT_ERR_MEMORY;
    for (int d = 0; d < value->n_dims; d++) {
        const dt__dim_window *window = &self->inputs[input][d];
        shape[d] = window->size;
        offset[d] = window->is_own ? value->offset[d] : window->size ? window->runs[0].start : value->global_shape[d];
    }
    value->shape = shape;
    value->offset = offset;
    return DT_OK;
}

static int64_t index_at(const dt__dim_window *window, int64_t i) {
    int r = 0;
    while (i >= window->runs[r].size)
        i -= window->runs[r++].size;
    return window->runs[r].start + i * window->runs[r].step;
}

void dt__sim_windows_to_global(const dt__sim_windows *self, int input, const int64_t *index, int64_t *global) {
    const dt_spec *spec = dt__row_specs_at(self->specs, self->rank, input);
    for (int d = 0; d < spec->sharding.n_dims; d++) {
        const dt__dim_window *window = self->used ? &self->inputs[input][d] : NULL;
        dt__shard shard;
        dt__shard_at(&spec->sharding, d, (int64_t[]){self->rank}, &shard);
        global[d] = window && !window->is_own ? index_at(window, index[d]) : dt__shard_to_global(&shard, index[d]);
    }
}

/* Elements that are outside the output, because a window is wrong, are left out. */
void dt__sim_windows_copy(const dt__sim_windows *self, const dt_op_call *call, dt_op_value *values) {
    const dt_op_value *out = &values[call->n_inputs];
    size_t size = dt_dtype_size(out->dtype);
    for (int i = 0; i < call->n_inputs; i++) {
        const dt_op_value *in = &values[i];
        int64_t n = 1;
        for (int d = 0; d < in->n_dims; d++)
            n *= in->shape[d];
        for (int64_t e = 0; e < n && in->n_dims == out->n_dims; e++) {
            int64_t rest = e, at = 0;
            bool is_inside = true;
            for (int d = in->n_dims - 1; d >= 0; d--) {
                int64_t to = rest % in->shape[d] + self->inputs[i][d].at;
                rest /= in->shape[d];
                is_inside = is_inside && to >= 0 && to < out->shape[d];
                at += to * out->strides[d];
            }
            if (is_inside)
                memcpy((unsigned char *)out->data + at * (int64_t)size, (unsigned char *)in->data + e * (int64_t)size,
                       size);
        }
    }
}
