/* SPDX-License-Identifier: Apache-2.0
 *
 * Enumerates combinations: an entry per input. For each of them, the entries that hold are found output by output,
 * because outputs do not depend on each other's placements: the rows that hold are all combinations of these. A
 * combination is skipped where another is equivalent: a shard of a dim of size 1 (VAL-003 to VAL-005), anything but
 * Replicate of a tensor without elements, sums and products of booleans, which are P(max) and P(min), Replicate where a
 * row has P(avg), P(max) or P(min), and a partial output where Replicate holds, too. Calls with more than
 * MAX_COMBINATIONS, or whose result is all zeros, are skipped.
 *
 * Where an op can meet, shards with which no row holds locally are tried by meeting and by scanning as well. Of an op
 * with windows, each dim that all tensors have is tried with them.
 */
#include "verify/missing_rows.h"

#include "rules/rules.h"

#include <string.h>

enum { MAX_COMBINATIONS = 1 << 17, MAX_ENTRIES = 1 + DT_SPEC_MAX_DIMS + DT_N_REDUCES };

/* The entries that a tensor can have. */
typedef struct entry_list {
    int n;
    dt_row_entry list[MAX_ENTRIES];
} entry_list;

static entry_list entries_of(const dt_op_value *value) {
    entry_list self = {1, {DT_ROW_R}};
    for (int d = 0; d < value->n_dims; d++)
        if (value->shape[d] == 0)
            return self;
    for (int d = 0; d < value->n_dims; d++)
        if (value->shape[d] != 1)
            self.list[self.n++] = DT_ROW_S(d);
    for (int kind = 0; kind < DT_N_REDUCES; kind++) {
        bool twice = value->dtype == DT_BOOL && (kind == DT_SUM || kind == DT_PRODUCT);
        if (dt_reduce_allowed(value->dtype, (dt_reduce)kind) && !twice)
            self.list[self.n++] = DT_ROW_P(kind);
    }
    return self;
}

typedef struct row_search {
    dt__trial_call *trial_call;
    const dt__row_list *offered; /* expanded */
    int n_inputs, n_outputs, n_entries;
    entry_list *inputs, *outputs; /* per tensor: what is tried */
    entry_list *local;            /* per output: what fits the local inputs */
    entry_list *holding;          /* per output: what holds */
    dt_row_entry *entries;
    unsigned flags; /* of the rows that are tried: 0, DT_ROW_MEET or DT_ROW_SCAN */
    int n_reported;
    dt__missing_fn *found;
    void *user;
    int64_t *n_trials;
} row_search;

static bool serves_as(dt_row_entry entry) {
    return entry == DT_ROW_P(DT_AVG) || entry == DT_ROW_P(DT_MAX) || entry == DT_ROW_P(DT_MIN);
}

/* The entry of a tensor without elements does not matter. */
static bool is_same(const row_search *self, const dt_row_entry *row) {
    for (int e = 0; e < self->n_entries; e++) {
        bool accepted =
            e >= self->n_inputs ? row[e] == DT_ROW_R && serves_as(self->entries[e]) : self->inputs[e].n <= 1;
        if (row[e] != self->entries[e] && !accepted)
            return false;
    }
    return true;
}

static bool is_offered(const row_search *self) {
    for (int r = 0; r < self->offered->n_rows; r++)
        if (is_same(self, self->offered->rows[r].entries))
            return true;
    return false;
}

static const int worlds[] = {2, 3, 5, 4, 7};
static const dt__trial_set all_worlds = {.n_worlds = 5, .worlds = worlds, .only_local = true};

static dt_status output_holds(row_search *self, int output, bool *out) {
    dt__trial_set trial_set = all_worlds;
    dt__row row = {.entries = self->entries};
    const char *failure;
    int n_ranks;
    trial_set.only_output = output + 1;
    row.flags = self->flags;
    dt__arena_mark mark = dt__arena_begin(self->trial_call->arena);
    DT__TRY(dt__check_row(self->trial_call, &row, &trial_set, &failure, &n_ranks, self->n_trials));
    dt__arena_rewind(self->trial_call->arena, mark);
    *out = !failure;
    return DT_OK;
}

/* The entries of an output that fit what the shape function makes of local inputs. */
static dt_status find_local(row_search *self, int output) {
    const dt_op_call *call = &self->trial_call->placed.call;
    entry_list *fitting = &self->local[output];
    dt_row_entry *entry = &self->entries[self->n_inputs + output];
    fitting->n = 0;
    for (int c = 0; c < self->outputs[output].n; c++) {
        dt_row_entry tried = self->outputs[output].list[c];
        dt__row row = {.entries = self->entries};
        int written = dt__output_input(call, output);
        bool fits = written < 0 || tried == self->entries[written];
        *entry = tried;
        dt__arena_mark mark = dt__arena_begin(self->trial_call->arena);
        if (fits)
            DT__TRY(dt__output_is_local(self->trial_call, &row, &all_worlds, output, &fits));
        dt__arena_rewind(self->trial_call->arena, mark);
        if (fits)
            fitting->list[fitting->n++] = tried;
    }
    return DT_OK;
}

/* The entries of an output that hold, while the other outputs have some that fit. */
static dt_status find_holding(row_search *self, int output) {
    entry_list *holding = &self->holding[output];
    bool replicate = false;
    holding->n = 0;
    for (int o = 0; o < self->n_outputs; o++)
        self->entries[self->n_inputs + o] = self->local[o].list[0];
    for (int c = 0; c < self->local[output].n; c++) {
        dt_row_entry entry = self->local[output].list[c];
        bool holds = false;
        self->entries[self->n_inputs + output] = entry;
        if (replicate && serves_as(entry))
            continue;
        if (self->n_outputs == 1 && is_offered(self))
            holds = true; /* verified elsewhere */
        else
            DT__TRY(output_holds(self, output, &holds));
        replicate |= holds && entry == DT_ROW_R;
        if (holds)
            holding->list[holding->n++] = entry;
    }
    return DT_OK;
}

/* Reports all combinations of entries that hold and are not offered. */
static dt_status report_rows(row_search *self, int output) {
    if (output == self->n_outputs) {
        self->n_reported += !is_offered(self);
        return is_offered(self) ? DT_OK
                                : self->found(self->user, &(dt__row){.flags = self->flags, .entries = self->entries});
    }
    for (int c = 0; c < self->holding[output].n; c++) {
        self->entries[self->n_inputs + output] = self->holding[output].list[c];
        DT__TRY(report_rows(self, output + 1));
    }
    return DT_OK;
}

static dt_status try_outputs(row_search *self) {
    memset(self->entries + self->n_inputs, DT_ROW_R, (size_t)self->n_outputs);
    for (int o = 0; o < self->n_outputs; o++) {
        DT__TRY(find_local(self, o));
        self->entries[self->n_inputs + o] = DT_ROW_R;
        if (self->local[o].n == 0)
            return DT_OK;
    }
    for (int o = 0; o < self->n_outputs; o++) {
        DT__TRY(find_holding(self, o));
        if (self->holding[o].n == 0)
            return DT_OK;
    }
    return report_rows(self, 0);
}

/* Whether a row without communication has these inputs. */
static bool has_local_row(const row_search *self) {
    for (int r = 0; r < self->offered->n_rows; r++) {
        const dt__row *row = &self->offered->rows[r];
        if (!(row->flags & DT__ROW_WAYS) && !memcmp(row->entries, self->entries, (size_t)self->n_inputs))
            return true;
    }
    return false;
}

static bool has_partial_input(const row_search *self) {
    for (int i = 0; i < self->n_inputs; i++)
        if (self->entries[i] < 0)
            return true;
    return false;
}

/* Locally, then by meeting and by scanning. */
static dt_status try_ways(row_search *self) {
    static const unsigned ways[] = {DT_ROW_MEET, DT_ROW_SCAN};
    self->flags = 0;
    self->n_reported = 0;
    DT__TRY(try_outputs(self));
    if (!self->trial_call->placed.call.op->meet || self->n_reported || has_local_row(self) || has_partial_input(self))
        return DT_OK;
    for (int w = 0; w < 2 && !self->n_reported; w++) {
        self->flags = ways[w];
        DT__TRY(try_outputs(self));
    }
    return DT_OK;
}

static dt_status walk(row_search *self, int input, bool cuts) {
    if (input == self->n_inputs)
        return cuts ? try_ways(self) : DT_OK;
    for (int c = 0; c < self->inputs[input].n; c++) {
        self->entries[input] = self->inputs[input].list[c];
        DT__TRY(walk(self, input + 1, cuts || c > 0));
    }
    return DT_OK;
}

/* Rows that hold by fetching windows: a dim that all tensors have, sharded in all of them. */
static dt_status try_windows(row_search *self) {
    const dt_op_call *call = &self->trial_call->placed.call;
    dt__trial_set trial_set = all_worlds;
    trial_set.only_local = false;
    for (int d = 0; d < call->outputs[0].n_dims; d++) {
        const char *failure;
        int n_ranks;
        bool is_large = true, shards = false;
        for (int e = 0; e < self->n_entries; e++) {
            const dt_op_value *value = dt__row_value(call, e);
            bool has_dim = value->n_dims == call->outputs[0].n_dims;
            self->entries[e] = has_dim ? DT_ROW_S(d) : DT_ROW_R;
            shards |= has_dim && e < self->n_inputs;
            is_large = is_large && (!has_dim || value->shape[d] > 1);
        }
        dt__row row = {.flags = DT_ROW_WINDOW, .entries = self->entries};
        if (!is_large || !shards || is_offered(self))
            continue;
        dt__arena_mark mark = dt__arena_begin(self->trial_call->arena);
        DT__TRY(dt__window_owns(self->trial_call->arena, call, row.entries, &row.owns));
        DT__TRY(dt__check_row(self->trial_call, &row, &trial_set, &failure, &n_ranks, self->n_trials));
        dt__arena_rewind(self->trial_call->arena, mark);
        if (!failure)
            DT__TRY(self->found(self->user, &row));
    }
    return DT_OK;
}

/* The offered rows, expanded, with unlisted ones. */
static dt_status spell_out(dt__trial_call *trial_call, const dt__row_list *offered, dt__row_list *out) {
    dt__row *rows = dt__arena_copy(trial_call->arena, offered->rows, (size_t)offered->n_rows, sizeof *rows);
    *out = *offered;
    out->rows = rows;
    for (int r = 0; r < offered->n_rows && rows; r++)
        rows[r].flags &= ~(unsigned)DT_ROW_UNLISTED;
    return rows ? dt__rows_expand(trial_call->arena, &trial_call->placed.call, DT_ROW_UNLISTED, out) : DT_ERR_MEMORY;
}

dt_status dt__find_missing_rows(dt__trial_call *trial_call, const dt__row_list *offered, dt__missing_fn *found,
                                void *user, int64_t *n_trials) {
    const dt_op_call *call = &trial_call->placed.call;
    dt__row_list spelled;
    int64_t n = 1;
    row_search self = {.trial_call = trial_call,
                       .n_inputs = call->n_inputs,
                       .n_outputs = call->n_outputs,
                       .n_entries = call->n_inputs + call->n_outputs,
                       .inputs = DT__NEW_ARRAY(trial_call->arena, entry_list, call->n_inputs),
                       .outputs = DT__NEW_ARRAY(trial_call->arena, entry_list, call->n_outputs),
                       .local = DT__NEW_ARRAY(trial_call->arena, entry_list, call->n_outputs),
                       .holding = DT__NEW_ARRAY(trial_call->arena, entry_list, call->n_outputs),
                       .entries =
                           DT__NEW_ARRAY(trial_call->arena, dt_row_entry, call->n_inputs + call->n_outputs + 1),
                       .found = found,
                       .user = user,
                       .n_trials = n_trials};
    if (!self.inputs || !self.outputs || !self.local || !self.holding || !self.entries)
        return DT_ERR_MEMORY;
    if (!call->n_outputs || !trial_call->references[DT__VALUES_MIXED][0].has_nonzero)
        return DT_OK; /* VAL-019 */
    for (int i = 0; i < call->n_inputs && n < MAX_COMBINATIONS; i++) {
        self.inputs[i] = entries_of(&call->inputs[i]);
        n *= self.inputs[i].n;
    }
    int64_t n_tried = 0;
    for (int o = 0; o < call->n_outputs; o++) {
        self.outputs[o] = entries_of(&call->outputs[o]);
        n_tried += self.outputs[o].n;
    }
    if (n * n_tried > MAX_COMBINATIONS)
        return DT_OK;
    DT__TRY(spell_out(trial_call, offered, &spelled));
    self.offered = &spelled;
    DT__TRY(walk(&self, 0, false));
    return call->op->window ? try_windows(&self) : DT_OK;
}
