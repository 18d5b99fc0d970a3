/* SPDX-License-Identifier: Apache-2.0
 *
 * Enumerates combinations: an entry per input, then one for all outputs. A combination is skipped where another is
 * equivalent: a shard of a dim of size 1 (VAL-003 to VAL-005), anything but Replicate of a tensor without elements,
 * sums and products of booleans, which are P(max) and P(min), Replicate where a row has P(avg), P(max) or P(min), and
 * a partial output where Replicate holds, too. Calls with more than MAX_COMBINATIONS, or whose result is all zeros,
 * are skipped.
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
    int n_inputs, n_entries;
    entry_list *inputs, outputs;
    dt_row_entry *entries;
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

/* All outputs have the same entry. */
static bool set_outputs(row_search *self, dt_row_entry entry) {
    const dt_op_call *call = &self->trial_call->placed.call;
    for (int o = 0; o < call->n_outputs; o++)
        if (entry > call->outputs[o].n_dims)
            return false;
    memset(self->entries + self->n_inputs, entry, (size_t)call->n_outputs);
    for (int o = 0; o < call->n_outputs; o++) {
        int input = dt__output_input(call, o);
        if (input >= 0 && entry != self->entries[input])
            return false;
    }
    return true;
}

static dt_status row_holds(row_search *self, bool *out) {
    static const int worlds[] = {2, 3, 5, 4, 7};
    dt__trial_set trial_set = {.n_worlds = 5, .worlds = worlds, .only_local = true};
    dt__row row = {0, self->entries};
    const char *failure;
    int n_ranks;
    dt__arena_mark mark = dt__arena_begin(self->trial_call->arena);
    DT__TRY(dt__check_row(self->trial_call, &row, &trial_set, &failure, &n_ranks, self->n_trials));
    dt__arena_rewind(self->trial_call->arena, mark);
    *out = !failure;
    return DT_OK;
}

static dt_status try_outputs(row_search *self) {
    bool replicate = false;
    for (int c = 0; c < self->outputs.n; c++) {
        dt_row_entry entry = self->outputs.list[c];
        bool does = false;
        if (!set_outputs(self, entry) || (replicate && serves_as(entry)))
            continue;
        if (is_offered(self)) {
            replicate |= entry == DT_ROW_R;
            continue;
        }
        DT__TRY(row_holds(self, &does));
        replicate |= does && entry == DT_ROW_R;
        if (does)
            DT__TRY(self->found(self->user, &(dt__row){0, self->entries}));
    }
    return DT_OK;
}

static dt_status walk(row_search *self, int input, bool cuts) {
    if (input == self->n_inputs)
        return cuts ? try_outputs(self) : DT_OK;
    for (int c = 0; c < self->inputs[input].n; c++) {
        self->entries[input] = self->inputs[input].list[c];
        DT__TRY(walk(self, input + 1, cuts || c > 0));
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
    return rows ? dt__rows_expand(trial_call->arena, &trial_call->placed.call, out) : DT_ERR_MEMORY;
}

dt_status dt__find_missing_rows(dt__trial_call *trial_call, const dt__row_list *offered, dt__missing_fn *found,
                                void *user, int64_t *n_trials) {
    const dt_op_call *call = &trial_call->placed.call;
    dt__row_list spelled;
    int64_t n = 1;
    row_search self = {.trial_call = trial_call,
                       .n_inputs = call->n_inputs,
                       .n_entries = call->n_inputs + call->n_outputs,
                       .inputs = DT__NEW_ARRAY(trial_call->arena, entry_list, call->n_inputs),
                       .entries =
                           DT__NEW_ARRAY(trial_call->arena, dt_row_entry, call->n_inputs + call->n_outputs + 1),
                       .found = found,
                       .user = user,
                       .n_trials = n_trials};
    if (!self.inputs || !self.entries)
        return DT_ERR_MEMORY;
    if (!call->n_outputs || !trial_call->references[DT__VALUES_MIXED][0].has_nonzero)
        return DT_OK; /* VAL-019 */
    for (int i = 0; i < call->n_inputs && n < MAX_COMBINATIONS; i++) {
        self.inputs[i] = entries_of(&call->inputs[i]);
        n *= self.inputs[i].n;
    }
    self.outputs = entries_of(&call->outputs[0]);
    if (n * self.outputs.n > MAX_COMBINATIONS)
        return DT_OK;
    DT__TRY(spell_out(trial_call, offered, &spelled));
    self.offered = &spelled;
    return walk(&self, 0, false);
}
