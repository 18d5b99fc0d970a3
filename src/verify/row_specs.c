/* SPDX-License-Identifier: Apache-2.0
 *
 * Specs of rows, as placement selection makes them.
 */
#include "verify/row_specs.h"

#include "rules/rules.h"

#include <string.h>

/* Half of the dim on the first rank, half on the last, nothing between. */
static const int64_t *uneven_extents(dt__arena *arena, int n, int64_t size) {
    int64_t *extents = DT__NEW_ARRAY(arena, int64_t, n);
    if (extents) {
        extents[0] = size / 2;
        extents[n - 1] += size - size / 2;
    }
    return extents;
}

/* Explicit extents fit dims of one size only, unless shards hold groups, which are never strided. A kernel that needs
 * its offset needs a contiguous run. */
static bool is_usable(const dt_op_call *call, const dt__row *row, dt__cut_kind cut, int64_t *size) {
    bool cuts = false;
    *size = -1;
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        bool is_plain = e >= call->n_inputs ? row->flags & (DT_ROW_RESHAPE | DT_ROW_WINDOW) : dt__row_owns(row, e);
        if (row->entries[e] <= 0 || is_plain)
            continue;
        int64_t here = dt__row_value(call, e)->shape[row->entries[e] - 1];
        if (cut == DT__CUT_EXTENTS && *size >= 0 && here != *size && !(row->flags & DT_ROW_GROUPED))
            return false;
        cuts = cuts || e < call->n_inputs;
        *size = here;
    }
    if (cut == DT__CUT_STRIDED && row->flags & (DT_ROW_OFFSET | DT_ROW_SCAN | DT_ROW_GROUPED))
        return false;
    return cuts || cut == DT__CUT_PLAIN;
}

static dt_status make_placement(dt__arena *arena, int n, dt_row_entry entry, dt__cut_kind cut, int64_t size,
                                dt_placement *out) {
    if (entry == DT_ROW_R)
        *out = dt_placement_replicate();
    else if (entry < 0)
        *out = dt_placement_partial((dt_reduce)(-1 - entry));
    else if (cut == DT__CUT_STRIDED)
        *out = dt_placement_strided(entry - 1, 2);
    else
        *out = dt_placement_shard(entry - 1);
    if (entry > 0 && cut == DT__CUT_EXTENTS) {
        out->n_extents = n;
        out->extents = uneven_extents(arena, n, size);
        return out->extents ? DT_OK : DT_ERR_MEMORY;
    }
    return DT_OK;
}

/* The placement of a reshaped output follows from that of the first input. */
static dt_status reshape_outputs(dt__arena *arena, int n, const dt_op_call *call, dt_placement *placements,
                                 bool *fits) {
    int64_t mesh[1] = {n};
    const dt_op_value *input = &call->inputs[0];
    dt__sharding from;
    dt__sharding_desc desc = {.n_mesh_dims = 1,
                              .mesh = mesh,
                              .n_dims = input->n_dims,
                              .shape = input->shape,
                              .n_placements = 1,
                              .placements = &placements[0]};
    DT__TRY(dt__sharding_new(arena, &desc, &from));
    *fits = true;
    for (int o = 0; o < call->n_outputs && *fits; o++)
        DT__TRY(dt__reshape_placements(arena, &from, call->outputs[o].n_dims, call->outputs[o].shape,
                                       &placements[call->n_inputs + o], fits));
    return DT_OK;
}

/* Puts the groups of every tensor on each rank, in chunks or uneven. */
static dt_status place_groups(dt__arena *arena, int n, const dt_op_call *call, const dt__row *row, dt__cut_kind cut,
                              dt_placement *placements) {
    const int64_t n_groups = dt__row_groups(call, row);
    int64_t *groups = DT__NEW_ARRAY(arena, int64_t, n);
    const int64_t *uneven = uneven_extents(arena, n, n_groups);
    if (!groups || !uneven)
        return DT_ERR_MEMORY;
    dt__chunk_groups(n_groups, n, groups);
    return dt__grouped_shards(arena, call, row, n, cut == DT__CUT_EXTENTS ? uneven : groups, placements);
}

static dt_status make_specs(dt__arena *arena, const dt__sim_rank *ranks, const dt_op_call *call,
                            const dt_placement *placements, dt__row_specs *out) {
    for (int r = 0; r < out->n; r++)
        for (int e = 0; e < out->n_entries; e++) {
            const dt_op_value *value = dt__row_value(call, e);
            dt_spec_desc desc = {.dtype = value->dtype,
                                 .n_dims = value->n_dims,
                                 .shape = value->shape,
                                 .n_placements = 1,
                                 .placements = &placements[e]};
            dt_spec *spec = dt_spec_new(ranks[r].mesh, &desc);
            if (!spec)
                return dt__fail(arena->ctx, dt_error_status(ranks[r].ctx), "%s: %s", call->name,
                                dt_error_text(ranks[r].ctx));
            out->specs[r * out->n_entries + e] = spec;
        }
    return DT_OK;
}

dt_status dt__row_specs_new(dt__arena *arena, const dt__sim_rank *ranks, int n, const dt_op_call *call,
                            const dt__row *row, dt__cut_kind cut, dt__row_specs *out, bool *fits) {
    int64_t size;
    *out = (dt__row_specs){.n = n, .n_entries = call->n_inputs + call->n_outputs};
    *fits = is_usable(call, row, cut, &size);
    if (!*fits)
        return DT_OK;
    dt_placement *placements = DT__NEW_ARRAY(arena, dt_placement, out->n_entries);
    out->specs = DT__NEW_ARRAY(arena, dt_spec *, n * out->n_entries);
    if (!placements || !out->specs)
        return DT_ERR_MEMORY;
    for (int e = 0; e < out->n_entries; e++)
        DT__TRY(make_placement(
            arena, n, row->entries[e],
            row->flags & DT_ROW_WINDOW && (e >= call->n_inputs || dt__row_owns(row, e)) ? DT__CUT_PLAIN : cut, size,
            &placements[e]));
    if (row->flags & DT_ROW_RESHAPE)
        DT__TRY(reshape_outputs(arena, n, call, placements, fits));
    if (row->flags & DT_ROW_GROUPED)
        DT__TRY(place_groups(arena, n, call, row, cut, placements));
    dt_status status = *fits ? make_specs(arena, ranks, call, placements, out) : DT_OK;
    if (status != DT_OK)
        dt__row_specs_free(out);
    return status;
}

void dt__row_specs_free(dt__row_specs *self) {
    for (int i = 0; self->specs && i < self->n * self->n_entries; i++)
        dt_spec_release(self->specs[i]);
    self->specs = NULL;
}

static bool same_shape(const dt_op_value *value, const dt_local *local) {
    return value->n_dims == local->n_dims &&
           !memcmp(value->shape, local->shape, (size_t)local->n_dims * sizeof *local->shape);
}

dt_status dt__row_specs_are_local(dt__arena *arena, const dt__sim_rank *ranks, const dt__row_specs *self,
                                  const dt__placed_call *placed, int only_output, bool *out) {
    int n_inputs = placed->call.n_inputs;
    dt_op_value *inputs = DT__NEW_ARRAY(arena, dt_op_value, n_inputs);
    if (!inputs)
        return DT_ERR_MEMORY;
    *out = true;
    for (int r = 0; r < self->n && *out; r++) {
        for (int i = 0; i < n_inputs; i++) {
            const dt_spec *spec = dt__row_specs_at(self, r, i);
            inputs[i] = (dt_op_value){.dtype = spec->dtype, .n_dims = spec->local.n_dims, .shape = spec->local.shape};
        }
        dt_op_call local;
        dt__op_call_init(&local, ranks[r].ctx, ranks[r].info, placed->bound.overload, placed->call.args, n_inputs,
                         inputs);
        local.records = placed->call.records;
        dt_status status = dt__op_call_infer(arena, &local);
        *out = status == DT_OK && local.n_outputs == placed->call.n_outputs;
        for (int o = 0; o < local.n_outputs && *out; o++)
            *out = (only_output && o + 1 != only_output) ||
                   same_shape(&local.outputs[o], &dt__row_specs_at(self, r, n_inputs + o)->local);
        DT__TRY(dt__sim_rank_clear_error(&ranks[r], arena->ctx));
        if (status == DT_ERR_MEMORY)
            return status;
    }
    return DT_OK;
}
