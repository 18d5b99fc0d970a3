/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists the options of a mesh dim, the ones that look cheapest first.
 */
#include "rules/row_options.h"

#include "rules/cost_bound.h"

#include <string.h>

/* The list while it is made. */
typedef struct making {
    dt__arena *arena;
    const dt_op_call *call;
    const dt__placed_inputs *on;
    int m;
    bool writes; /* some inputs */
    const double *source_bytes;
    dt__row_option *out;
    int n;
} making;

dt_placement dt__row_option_placement(const dt__row_option *option, int entry) {
    dt_row_entry row_entry = dt__row_option_entry(option, entry);
    if (row_entry == DT_ROW_R)
        return dt_placement_replicate();
    if (row_entry < 0)
        return dt_placement_partial((dt_reduce)(-1 - row_entry));
    dt_placement placement = option->grouped ? option->grouped[entry]
                             : option->cut   ? *option->cut
                                             : dt_placement_shard(0);
    placement.dim = row_entry - 1;
    placement.position = 0;
    placement.ordered = false;
    return placement;
}

static const dt_placement *current_placement(const making *self, int i) {
    return &self->on->inputs[i]->placements[self->m];
}

static bool same_cut(const dt_placement *a, const dt_placement *b) {
    return a->kind == b->kind && a->split_factor == b->split_factor && a->n_extents == b->n_extents &&
           (a->n_extents == 0 || !memcmp(a->extents, b->extents, (size_t)a->n_extents * sizeof *a->extents));
}

static bool is_plain(const dt_placement *cut) { return cut->kind == DT_PLACEMENT_SHARD && cut->n_extents == 0; }

/* Whether input i has the placement of the option, apart from the order of shards. */
static bool keeps_input(const making *self, const dt__row_option *option, int i) {
    const dt_placement *current = current_placement(self, i);
    dt_row_entry entry = dt__row_option_entry(option, i);
    if (entry > 0) {
        const dt_placement wanted = dt__row_option_placement(option, i);
        return dt__is_cut(current) && wanted.dim == current->dim && same_cut(&wanted, current);
    }
    return entry < 0 ? dt__is_partial_of(current, entry) : dt_placement_is_replicate(*current);
}

static bool keeps_inputs(const making *self, const dt__row_option *option) {
    for (int i = 0; i < self->call->n_inputs; i++)
        if (!keeps_input(self, option, i))
            return false;
    return true;
}

/* A tensor that is written is not redistributed. A partial may be made of Replicate by each rank. */
static bool moves_written(const making *self, const dt__row_option *option) {
    for (int i = 0; i < self->call->n_inputs && self->writes; i++)
        if (dt__writes_input(self->call, i) && !keeps_input(self, option, i) &&
            !(dt__row_option_entry(option, i) < 0 && dt_placement_is_replicate(*current_placement(self, i))))
            return true;
    return false;
}

static void add(making *self, dt__row_option one) {
    if (moves_written(self, &one))
        return;
    for (int i = 0; i < self->call->n_inputs; i++)
        one.estimate_us +=
            dt__estimate_us(self->on, i, self->m, dt__row_option_entry(&one, i), self->source_bytes[i]);
    self->out[self->n++] = one;
}

static void add_option(making *self, const dt__row *row, const dt_placement *cut) {
    add(self, (dt__row_option){.row = row, .cut = cut});
}

/* The row with these groups per rank, unless an option since `first` has them. */
static dt_status add_groups(making *self, const dt__row *row, const int64_t *groups, int first) {
    const dt_op_call *call = self->call;
    int n_entries = call->n_inputs + call->n_outputs, sharded = 0;
    dt_placement *grouped = DT__NEW_ARRAY(self->arena, dt_placement, n_entries);
    if (!grouped)
        return DT_ERR_MEMORY;
    DT__TRY(dt__grouped_shards(self->arena, call, row, self->on->mesh[self->m], groups, grouped));
    while (row->entries[sharded] <= 0)
        sharded++;
    for (int o = first; o < self->n; o++)
        if (same_cut(&self->out[o].grouped[sharded], &grouped[sharded]))
            return DT_OK;
    add(self, (dt__row_option){.row = row, .grouped = grouped});
    return DT_OK;
}

/* Whether no other mesh dim shards this dim of input i. */
static bool is_cut_once(const making *self, int i, int dim) {
    const dt__sharding *of = self->on->inputs[i];
    return of->first_cut[dim + 1] - of->first_cut[dim] == 1;
}

/* A grouped row: with the groups of the ceil rule if no rank is left without one, and with the groups of each input's
 * shards. */
static dt_status add_grouped(making *self, const dt__row *row) {
    const int64_t n = self->on->mesh[self->m], n_groups = dt__row_groups(self->call, row);
    const int first = self->n;
    int64_t *groups = DT__NEW_ARRAY(self->arena, int64_t, (int)n);
    if (!groups)
        return DT_ERR_MEMORY;
    for (int i = 0; i < self->call->n_inputs; i++) {
        const dt_placement *current = current_placement(self, i);
        if (dt__is_cut(current) && row->entries[i] == DT_ROW_S(current->dim) && is_cut_once(self, i, current->dim) &&
            dt__groups_of_shard(n_groups, self->call->inputs[i].shape[current->dim], current, n, groups))
            DT__TRY(add_groups(self, row, groups, first));
    }
    if (n > n_groups)
        return DT_OK;
    dt__chunk_groups(n_groups, n, groups);
    return add_groups(self, row, groups, first);
}

/* Explicit extents fit only dims of that size. */
static bool fits_cut(const dt_op_call *call, const dt__row *row, const dt_placement *cut, int64_t size) {
    int n_entries = call->n_inputs + call->n_outputs;
    for (int e = 0; e < n_entries && cut->n_extents && !(row->flags & DT_ROW_RESHAPE); e++) {
        const dt_op_value *value = e < call->n_inputs ? &call->inputs[e] : &call->outputs[e - call->n_inputs];
        if (row->entries[e] > 0 && value->shape[row->entries[e] - 1] != size)
            return false;
    }
    return true;
}

/* The row with each kind of shard that an input has on that dim. */
static void add_shard_kinds(making *self, const dt__row *row) {
    const dt_placement *tried[DT_SPEC_MAX_DIMS];
    int n_tried = 0;
    for (int i = 0; i < self->call->n_inputs && n_tried < DT_SPEC_MAX_DIMS; i++) {
        const dt_placement *current = current_placement(self, i);
        bool known = !dt__is_cut(current) || row->entries[i] != DT_ROW_S(current->dim) || is_plain(current);
        for (int t = 0; t < n_tried && !known; t++)
            known = same_cut(tried[t], current);
        if (known || !fits_cut(self->call, row, current, self->call->inputs[i].shape[current->dim]))
            continue;
        tried[n_tried++] = current;
        add_option(self, row, current);
    }
}

/* Cheapest first; else all Replicate first, then in the order of the rows. */
static void sort_options(dt__row_option *options, int n) {
    for (int i = 1; i < n; i++) {
        dt__row_option one = options[i];
        int at = i;
        for (; at > 0 && dt__is_cheaper(one.estimate_us, options[at - 1].estimate_us); at--)
            options[at] = options[at - 1];
        options[at] = one;
    }
}

static bool shards_inputs(const making *self, const dt__row *row) {
    for (int i = 0; i < self->call->n_inputs; i++)
        if (row->entries[i] > 0)
            return true;
    return false;
}

/* Whether a row without shards has partials that no input has on this mesh dim: then each rank would make them of
 * Replicate, and the row that is all Replicate needs the same moves. */
static bool is_redundant(const making *self, const dt__row *row) {
    if (self->writes)
        return false;
    for (int i = 0; i < self->call->n_inputs; i++)
        if (row->entries[i] > 0 ||
            (row->entries[i] < 0 && dt__is_partial_of(current_placement(self, i), row->entries[i])))
            return false;
    return true;
}

/* The row of windows as it is used on this mesh dim: a rank that holds all of an input takes its window from that. The
 * other inputs are split, and windows follow from their parts. NULL when out of memory. */
static const dt__row *window_row(const making *self, dt__arena *arena, const dt__row *row) {
    int n = self->call->n_inputs + self->call->n_outputs;
    dt_row_entry *entries = dt__arena_copy(arena, row->entries, (size_t)n, sizeof *entries);
    dt__row *changed = DT__NEW(arena, dt__row);
    if (!entries || !changed)
        return NULL;
    for (int i = 0; i < self->call->n_inputs; i++)
        if (dt_placement_is_replicate(*current_placement(self, i)) && entries[i] > 0 && !dt__row_owns(row, i))
            entries[i] = DT_ROW_R;
    *changed = (dt__row){row->flags, entries, row->owns};
    return changed;
}

/* The number of inputs with strided shards or explicit extents, up to the limit that is tried. */
static int count_special(const making *self) {
    int n = 0;
    for (int i = 0; i < self->call->n_inputs; i++)
        n += dt__is_cut(current_placement(self, i)) && !is_plain(current_placement(self, i));
    return n < DT_SPEC_MAX_DIMS ? n : DT_SPEC_MAX_DIMS;
}

/* The number of additional options of grouped rows: one for each input. */
static int count_grouped(const dt_op_call *call, const dt__row_list *rows) {
    int n = 0;
    for (int r = 0; r < rows->n_rows; r++)
        n += rows->rows[r].flags & DT_ROW_GROUPED ? call->n_inputs : 0;
    return n;
}

/* Outputs of calls with windows are not strided. */
static bool may_be_beside_windows(const dt__row_option *option) {
    bool is_strided = option->cut && option->cut->kind == DT_PLACEMENT_STRIDED;
    return !is_strided && !(option->row && option->row->flags & DT__ROW_WAYS);
}

static void mark_straying(const making *self) {
    bool can_stay = false;
    for (int o = 0; o < self->n && !can_stay; o++)
        can_stay = may_be_beside_windows(&self->out[o]) && keeps_inputs(self, &self->out[o]);
    for (int o = 0; o < self->n && can_stay && self->on->mesh[self->m] > 1; o++)
        self->out[o].strays = !keeps_inputs(self, &self->out[o]);
}

dt_status dt__row_options_list(dt__arena *arena, const dt_op_call *call, const dt__placed_inputs *on,
                               const dt__row_list *rows, int m, const double *source_bytes, dt__row_option **out,
                               int *n) {
    making self = {.arena = arena,
                   .call = call,
                   .on = on,
                   .m = m,
                   .source_bytes = source_bytes,
                   .writes = dt__call_writes(call)};
    bool has_windows = false;
    int n_special = count_special(&self);
    self.out = DT__NEW_ARRAY(arena, dt__row_option, rows->n_rows * (n_special + 1) + count_grouped(call, rows) + 1);
    if (!self.out)
        return DT_ERR_MEMORY;
    add_option(&self, NULL, NULL);
    for (int r = 0; r < rows->n_rows; r++) {
        const dt__row *row = &rows->rows[r];
        has_windows |= row->flags & DT_ROW_WINDOW;
        if (row->flags & DT_ROW_WINDOW && !(row = window_row(&self, arena, row)))
            return DT_ERR_MEMORY;
        if (is_redundant(&self, row))
            continue;
        if (row->flags & DT_ROW_GROUPED) {
            DT__TRY(add_grouped(&self, row));
            continue;
        }
        if (n_special && shards_inputs(&self, row) && !(row->flags & DT_ROW_WINDOW))
            add_shard_kinds(&self, row);
        add_option(&self, row, NULL);
    }
    if (has_windows)
        mark_straying(&self);
    sort_options(self.out, self.n);
    *out = self.out;
    *n = self.n;
    return DT_OK;
}
