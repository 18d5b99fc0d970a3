/* SPDX-License-Identifier: Apache-2.0
 *
 * Placements that follow from a choice of rows.
 */
#include "rules/row_choice.h"

#include "rules/move_prices.h"

unsigned dt__choice_flags(const dt__row_choice *choice) {
    unsigned flags = 0;
    for (int m = 0; m < choice->on->n_mesh_dims; m++)
        flags |= dt__choice_row_flags(choice, m);
    return flags;
}

/* The place of a mesh dim among those that shard: by the order that is followed, else from left to right. */
static int rank_of(const dt__row_choice *choice, int m) {
    return choice->order && dt__is_cut(&choice->order[m]) ? choice->order[m].position : m;
}

static bool shard_same_dim(const dt_placement *a, const dt_placement *b) {
    return dt__is_cut(a) && dt__is_cut(b) && a->dim == b->dim;
}

/* Sets positions, as normalized placements have them. */
static void set_positions(const dt__row_choice *choice, dt_placement *placements) {
    int n = choice->on->n_mesh_dims;
    for (int m = 0; m < n; m++)
        for (int other = 0; other < m; other++)
            if (shard_same_dim(&placements[m], &placements[other]))
                placements[rank_of(choice, other) <= rank_of(choice, m) ? m : other].position++;
    for (int m = 0; m < n && choice->order; m++)
        for (int other = 0; other < n; other++)
            for (int third = 0; third < other; third++)
                if (shard_same_dim(&placements[m], &placements[other]) &&
                    shard_same_dim(&placements[m], &placements[third]))
                    placements[m].ordered |= placements[third].position > placements[other].position;
}

/* The placement of an input that a row shards. Windows are fetched from shards of any kind, and follow from plain ones
 * of the inputs that are not fetched. */
static dt_placement shard_of(const dt__row_choice *choice, int m, int i) {
    const dt__row_option *option = choice->options[m];
    dt_placement current = choice->on->inputs[i]->placements[m];
    bool stays = dt__choice_row_flags(choice, m) & DT_ROW_WINDOW && dt__is_cut(&current) &&
                 option->row->entries[i] == DT_ROW_S(current.dim) && !dt__row_owns(option->row, i);
    current.position = 0;
    current.ordered = false;
    return stays ? current : dt__row_option_placement(option, i);
}

void dt__choice_target(const dt__row_choice *choice, int i, dt_placement *out) {
    const dt_placement *current = choice->on->inputs[i]->placements;
    for (int m = 0; m < choice->on->n_mesh_dims; m++) {
        dt_row_entry row_entry = dt__choice_entry(choice, m, i);
        if (row_entry < 0) /* Replicate: each rank makes a partial from it, unless the input is one */
            out[m] = dt__is_partial_of(&current[m], row_entry) ? current[m] : dt_placement_replicate();
        else
            out[m] = shard_of(choice, m, i);
    }
    set_positions(choice, out);
}

void dt__choice_placements(const dt__row_choice *choice, int entry, dt_placement *out) {
    for (int m = 0; m < choice->on->n_mesh_dims; m++) {
        const dt_placement *current =
            entry < choice->call->n_inputs ? &choice->on->inputs[entry]->placements[m] : NULL;
        dt_row_entry row_entry = dt__choice_entry(choice, m, entry);
        if (current && row_entry < 0 && dt__is_partial_of(current, row_entry))
            out[m] = *current;
        else
            out[m] = current ? shard_of(choice, m, entry) : dt__row_option_placement(choice->options[m], entry);
    }
    set_positions(choice, out);
}

bool dt__placements_are_possible(int n, const dt_placement *placements) {
    for (int m = 0; m < n; m++)
        for (int other = 0; other < n && placements[m].n_extents; other++)
            if (other != m && shard_same_dim(&placements[m], &placements[other]))
                return false;
    return true;
}

/* A kernel that needs its offset, and a scan, needs a contiguous run of each sharded dim. */
static bool is_contiguous(const dt__row_choice *choice, const dt__row *row) {
    for (int i = 0; i < choice->call->n_inputs; i++) {
        if (row->entries[i] <= 0)
            continue;
        for (int m = 0; m < choice->on->n_mesh_dims; m++) {
            const dt_placement *cut = choice->options[m]->cut;
            if (dt__choice_entry(choice, m, i) == row->entries[i] && cut && cut->kind == DT_PLACEMENT_STRIDED)
                return false;
        }
    }
    return true;
}

/* A row whose kernel makes a part of the output from a whole input needs all of that input along the dim: no other mesh
 * dim shards it, or a rank would have another part of it than of the output. */
static bool has_whole_inputs(const dt__row_choice *choice, const dt__row *row) {
    const dt_op_call *call = choice->call;
    for (int e = 0; e < call->n_inputs * call->n_outputs; e++) {
        const int i = e / call->n_outputs, o = e % call->n_outputs;
        const dt_row_entry made = row->entries[call->n_inputs + o];
        if (made <= 0 || row->entries[i] != DT_ROW_R || call->inputs[i].n_dims != call->outputs[o].n_dims)
            continue;
        for (int m = 0; m < choice->on->n_mesh_dims; m++)
            if (dt__choice_entry(choice, m, i) == made)
                return false;
    }
    return true;
}

/* Windows follow from the offsets and sizes of outputs. */
static bool has_plain_outputs(const dt__row_choice *choice) {
    int n_inputs = choice->call->n_inputs;
    for (int m = 0; m < choice->on->n_mesh_dims; m++)
        for (int o = 0; o < choice->call->n_outputs; o++)
            if (dt__row_option_placement(choice->options[m], n_inputs + o).kind == DT_PLACEMENT_STRIDED)
                return false;
    return true;
}

/* A dim of an input that is fetched is sharded by rows that use windows only: others rely on their shards. */
static bool is_windowed(const dt__row_choice *choice, const dt__row *row) {
    for (int i = 0; i < choice->call->n_inputs; i++)
        for (int m = 0; m < choice->on->n_mesh_dims && row->entries[i] > 0; m++)
            if (dt__choice_entry(choice, m, i) == row->entries[i] &&
                !(dt__choice_row_flags(choice, m) & DT_ROW_WINDOW))
                return false;
    return true;
}

/* Whether each rank holds the same groups of all tensors: the dims that a grouped row shards are sharded only by
 * grouped rows, and evenly if there are several. */
static bool has_whole_groups(const dt__row_choice *choice, const dt__row *row) {
    int64_t ranks = 1, n_dims = 0;
    for (int m = 0; m < choice->on->n_mesh_dims; m++) {
        const bool is_grouped = dt__choice_row_flags(choice, m) & DT_ROW_GROUPED;
        ranks *= is_grouped ? choice->on->mesh[m] : 1;
        n_dims += is_grouped;
        for (int i = 0; i < choice->call->n_inputs && !is_grouped; i++)
            if (row->entries[i] > 0 && dt__choice_entry(choice, m, i) == row->entries[i])
                return false;
    }
    return n_dims == 1 || dt__row_groups(choice->call, row) % ranks == 0;
}

/* Maps the placements of the first input to the reshaped outputs. */
static dt_status reshape_outputs(const dt__row_choice *choice, dt_placement *const *out, bool *fits) {
    int n = choice->on->n_mesh_dims;
    dt_placement input[DT_SPEC_MAX_DIMS];
    dt__sharding from;
    dt__choice_placements(choice, 0, input);
    *fits = dt__placements_are_possible(n, input);
    if (!*fits)
        return DT_OK;
    DT__TRY(dt__sharding_of_value(choice->arena, choice->on, &choice->call->inputs[0], input, &from));
    for (int o = 0; o < choice->call->n_outputs && *fits; o++) {
        const dt_op_value *output = &choice->call->outputs[o];
        dt_placement mapped[DT_SPEC_MAX_DIMS];
        dt__sharding_desc desc = {
            .n_mesh_dims = n,
            .mesh = choice->on->mesh,
            .n_dims = output->n_dims,
            .shape = output->shape,
            .n_placements = n,
            .placements = mapped,
        };
        DT__TRY(dt__reshape_placements(choice->arena, &from, output->n_dims, output->shape, mapped, fits));
        if (*fits)
            DT__TRY(dt__placements_normalize(choice->arena->ctx, &desc, out[o]));
    }
    return DT_OK;
}

dt_status dt__choice_outputs(const dt__row_choice *choice, dt_placement *const *out, bool *fits) {
    *fits = true;
    for (int m = 0; m < choice->on->n_mesh_dims && *fits; m++) {
        unsigned flags = dt__choice_row_flags(choice, m);
        if (flags & (DT_ROW_OFFSET | DT_ROW_SCAN))
            *fits = is_contiguous(choice, choice->options[m]->row);
        if (flags & DT_ROW_OFFSET && flags & DT_ROW_UNLISTED)
            *fits = *fits && has_whole_inputs(choice, choice->options[m]->row);
        if (flags & DT_ROW_GROUPED)
            *fits = *fits && has_whole_groups(choice, choice->options[m]->row);
        if (flags & DT_ROW_WINDOW)
            *fits = has_plain_outputs(choice) && is_windowed(choice, choice->options[m]->row);
    }
    if (dt__choice_flags(choice) & DT_ROW_RESHAPE && *fits)
        return reshape_outputs(choice, out, fits);
    for (int o = 0; o < choice->call->n_outputs && *fits; o++) {
        dt__choice_placements(choice, choice->call->n_inputs + o, out[o]);
        *fits = dt__placements_are_possible(choice->on->n_mesh_dims, out[o]);
    }
    return DT_OK;
}

static bool keeps_input(const dt__row_choice *choice, int i) {
    dt_placement target[DT_SPEC_MAX_DIMS];
    dt__choice_target(choice, i, target);
    return dt__same_placements(choice->on->n_mesh_dims, target, choice->on->inputs[i]->placements);
}

bool dt__choice_keeps_written(const dt__row_choice *choice, dt_placement *const *outputs) {
    for (int i = 0; i < choice->call->n_inputs; i++)
        if (dt__writes_input(choice->call, i) && !keeps_input(choice, i))
            return false;
    for (int o = 0; o < choice->call->n_outputs; o++) {
        int input = dt__output_input(choice->call, o);
        if (input >= 0 &&
            !dt__same_placements(choice->on->n_mesh_dims, outputs[o], choice->on->inputs[input]->placements))
            return false;
    }
    return true;
}

static bool same_cut(const dt_placement *a, const dt_placement *b) {
    dt_placement moved = *a;
    moved.position = b->position;
    moved.ordered = b->ordered;
    return dt_placement_equal(&moved, b);
}

/* The mesh dims of more than one rank that cut a dim, in their order. */
static int list_cuts(const dt__placed_inputs *on, const dt_placement *placements, int dim, int *out) {
    int n = 0;
    for (int m = 0; m < on->n_mesh_dims; m++) {
        if (!dt__is_cut(&placements[m]) || placements[m].dim != dim || on->mesh[m] == 1)
            continue;
        int at = n++;
        for (; at > 0 && placements[out[at - 1]].position > placements[m].position; at--)
            out[at] = out[at - 1];
        out[at] = m;
    }
    return n;
}

/* The mesh dims that already cut a dim still cut it first, in the same way. */
static bool is_local_move(const dt__row_choice *choice, int i) {
    const dt_placement *current = choice->on->inputs[i]->placements;
    dt_placement target[DT_SPEC_MAX_DIMS];
    int before[DT_SPEC_MAX_DIMS], after[DT_SPEC_MAX_DIMS];
    dt__choice_target(choice, i, target);
    for (int d = 0; d < choice->call->inputs[i].n_dims; d++) {
        int n_before = list_cuts(choice->on, current, d, before), n_after = list_cuts(choice->on, target, d, after);
        if (n_before > n_after)
            return false;
        for (int c = 0; c < n_before; c++)
            if (before[c] != after[c] || !same_cut(&current[before[c]], &target[after[c]]))
                return false;
    }
    return true;
}

bool dt__choice_moves_locally(const dt__row_choice *choice) {
    for (int i = 0; i < choice->call->n_inputs; i++)
        if (!keeps_input(choice, i) && !is_local_move(choice, i))
            return false;
    return true;
}

double dt__choice_repeated_work(const dt__row_choice *choice) {
    double work = 1;
    for (int m = 0; m < choice->on->n_mesh_dims; m++) {
        bool repeats = true, was_distributed = false;
        for (int i = 0; i < choice->call->n_inputs && repeats; i++) {
            const dt_placement *current = &choice->on->inputs[i]->placements[m];
            dt_row_entry entry = dt__choice_entry(choice, m, i);
            repeats = entry <= 0 && !dt__is_partial_of(current, entry);
            was_distributed |= !dt_placement_is_replicate(*current);
        }
        work *= repeats && was_distributed ? (double)choice->on->mesh[m] : 1;
    }
    return work;
}

dt_placement **dt__placement_lists_new(dt__arena *arena, int n_lists, int n) {
    dt_placement **lists = DT__NEW_ARRAY(arena, dt_placement *, n_lists + 1);
    dt_placement *all = DT__NEW_ARRAY(arena, dt_placement, n_lists * n + 1);
    for (int i = 0; i < n_lists && lists && all; i++)
        lists[i] = all + (int64_t)i * n;
    return all ? lists : NULL;
}
