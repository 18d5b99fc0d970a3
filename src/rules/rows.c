/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects the rows of a call from the three sources of its descriptor, without those that are invalid (a reduction
 * that the dtype does not have, other placements of a tensor that is written), trivial (all Replicate) or duplicates.
 */
#include "rules/rows.h"

#include "base/dtype.h"
#include "rules/factors.h"

#include <string.h>

static bool is_allowed(const dt_rows *rows, const dt_row_entry *entries) {
    const dt_op_call *call = rows->call;
    bool is_nontrivial = false;
    for (int o = 0; o < call->n_outputs; o++) {
        int written = dt__output_input(call, o);
        if (written >= 0 && entries[written] != entries[call->n_inputs + o])
            return false;
    }
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        const dt_op_value *value = dt__row_value(call, e);
        is_nontrivial |= e < call->n_inputs && entries[e] != DT_ROW_R;
        if (entries[e] < 0 && !dt_reduce_allowed(value->dtype, (dt_reduce)(-1 - entries[e])))
            return false;
        if (entries[e] > value->n_dims)
            return false;
    }
    return is_nontrivial;
}

/* A grouped row exists where there are several groups, and each tensor has the same number in each. */
static bool has_groups(const dt_op_call *call, const dt__row *row) {
    const int64_t n = dt__row_groups(call, row);
    for (int e = 0; e < call->n_inputs + call->n_outputs && n > 1; e++)
        if (row->entries[e] > 0 && dt__row_value(call, e)->shape[row->entries[e] - 1] % n != 0)
            return false;
    return n > 1;
}

static bool is_listed(const dt_rows *rows, const dt_row_entry *entries, size_t n) {
    for (int r = 0; r < rows->n_rows; r++)
        if (!memcmp(rows->rows[r].entries, entries, n))
            return true;
    return false;
}

static bool grow(dt_rows *rows) {
    if (rows->n_rows < rows->capacity)
        return true;
    int capacity = rows->capacity * 2 + 16;
    dt__row *more = DT__NEW_ARRAY(rows->arena, dt__row, capacity);
    if (!more) {
        rows->status = DT_ERR_MEMORY;
        return false;
    }
    if (rows->n_rows)
        memcpy(more, rows->rows, (size_t)rows->n_rows * sizeof *more);
    rows->rows = more;
    rows->capacity = capacity;
    return true;
}

/* A rank adds its part of some input to a partial output, so that input is not fetched. */
static dt_status check_windows(dt_rows *rows, const dt_row_entry *entries, uint64_t *owns) {
    const dt_op_call *call = rows->call;
    bool is_partial = false, has_elements = true;
    DT__TRY(dt__window_owns(rows->arena, call, entries, owns));
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        is_partial |= e >= call->n_inputs && entries[e] < 0;
        for (int d = 0; d < dt__row_value(call, e)->n_dims; d++)
            has_elements &= dt__row_value(call, e)->shape[d] > 0;
    }
    return is_partial && has_elements && !*owns
               ? dt_op_refuse(call, DT_ERR_VALUE,
                              "a row uses windows, and an output is partial: expected an input that has the dim and "
                              "for which .window adds nothing, got windows of all of them")
               : DT_OK;
}

void dt_rows_add(dt_rows *rows, unsigned flags, const dt_row_entry *entries) {
    size_t n = (size_t)(rows->call->n_inputs + rows->call->n_outputs);
    if (flags & DT_ROW_WINDOW && !rows->call->op->window && rows->status == DT_OK)
        rows->status =
            dt_op_refuse(rows->call, DT_ERR_VALUE, "a row uses windows: expected .window in the descriptor");
    if (rows->status != DT_OK || !is_allowed(rows, entries) || is_listed(rows, entries, n) || !grow(rows))
        return;
    if (flags & DT_ROW_GROUPED && !has_groups(rows->call, &(dt__row){.flags = flags, .entries = entries}))
        return;
    if (flags & DT__ROW_STATES && !rows->call->op->meet) {
        rows->status = dt_op_refuse(rows->call, DT_ERR_VALUE,
                                    "the ranks meet in a row: expected .meet in the descriptor, got none");
        return;
    }
    uint64_t owns = 0;
    if (flags & DT_ROW_WINDOW && (rows->status = check_windows(rows, entries, &owns)) != DT_OK)
        return;
    const dt_row_entry *copy = dt__arena_copy(rows->arena, entries, n, sizeof *entries);
    if (!copy)
        rows->status = DT_ERR_MEMORY;
    else
        rows->rows[rows->n_rows++] = (dt__row){flags, copy, owns};
}

/* The entries of one row, all Replicate; NULL when out of memory. */
static dt_row_entry *new_entries(dt_rows *rows) {
    dt_row_entry *entries =
        DT__NEW_ARRAY(rows->arena, dt_row_entry, rows->call->n_inputs + rows->call->n_outputs + 1);
    if (!entries)
        rows->status = DT_ERR_MEMORY;
    return entries;
}

/* UINT64_MAX are all inputs, however many. */
static bool has_bit(uint64_t inputs, int i) { return i < 64 ? inputs >> i & 1 : inputs == UINT64_MAX; }

void dt_rows_reduce(dt_rows *rows, uint64_t inputs, dt_reduce from, dt_reduce to) {
    const dt_op_call *call = rows->call;
    dt_row_entry *entries = new_entries(rows);
    if (!entries)
        return;
    for (int e = 0; e < call->n_inputs; e++)
        entries[e] = has_bit(inputs, e) ? DT_ROW_P(from) : DT_ROW_R;
    int n_visible = call->n_outputs - (call->records ? call->op->n_saved : 0);
    for (int e = 0; e < call->n_outputs; e++)
        entries[call->n_inputs + e] = e < n_visible ? DT_ROW_P(to) : DT_ROW_R;
    dt_rows_add(rows, 0, entries);
}

void dt__rows_window(dt_rows *rows, int dim) {
    const dt_op_call *call = rows->call;
    dt_row_entry *entries = new_entries(rows);
    if (!entries)
        return;
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        const dt_op_value *value = dt__row_value(call, e);
        bool has_dim = value->n_dims == call->outputs[0].n_dims;
        entries[e] = has_dim ? DT_ROW_S(dim) : DT_ROW_R;
    }
    dt_rows_add(rows, DT_ROW_WINDOW, entries);
}

void dt_rows_linear(dt_rows *rows, uint64_t inputs) {
    const dt_op_call *call = rows->call;
    bool floating = call->n_outputs && dt__is_inexact(call->outputs[0].dtype);
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        const dt_op_value *value = dt__row_value(call, e);
        bool is_partial = e >= call->n_inputs || has_bit(inputs, e);
        bool other_kind = dt__is_inexact(value->dtype) != floating;
        bool may_have_wrapped = !floating && value->dtype != call->outputs[0].dtype;
        if (is_partial && (value->dtype == DT_BOOL || other_kind || may_have_wrapped))
            return;
    }
    dt_rows_reduce(rows, inputs, DT_SUM, DT_SUM);
    if (floating)
        dt_rows_reduce(rows, inputs, DT_AVG, DT_AVG);
}

void dt_rows_monotone(dt_rows *rows, int input, bool up) {
    dt_rows_reduce(rows, (uint64_t)1 << input, DT_MAX, up ? DT_MAX : DT_MIN);
    dt_rows_reduce(rows, (uint64_t)1 << input, DT_MIN, up ? DT_MIN : DT_MAX);
}

/* All inputs and outputs partial with one reduction; for any number of inputs. */
static void add_all(dt_rows *rows, dt_reduce kind) {
    dt_row_entry *entries = new_entries(rows);
    if (!entries)
        return;
    memset(entries, DT_ROW_P(kind), (size_t)(rows->call->n_inputs + rows->call->n_outputs));
    dt_rows_add(rows, 0, entries);
}

static void add_each(dt_rows *rows, unsigned partial, uint64_t addends) {
    for (int i = 0; i < rows->call->n_inputs && i < 64; i++) {
        uint64_t alone = (uint64_t)1 << i;
        bool ordered = !addends || addends & alone;
        if ((partial & DT_PARTIAL_EACH && !(addends & alone)) || (partial & DT_PARTIAL_FIRST && i == 0))
            dt_rows_linear(rows, alone | addends);
        if (partial & DT_PARTIAL_UP && ordered)
            dt_rows_monotone(rows, i, true);
        if (partial & DT_PARTIAL_DOWN && ordered)
            dt_rows_monotone(rows, i, false);
        if (partial & DT_PARTIAL_UP_MIN)
            dt_rows_reduce(rows, alone, DT_MIN, DT_MIN);
        if (partial & DT_PARTIAL_DOWN_MIN)
            dt_rows_reduce(rows, alone, DT_MIN, DT_MAX);
    }
}

static void add_partial(dt_rows *rows, unsigned partial, uint64_t addends) {
    for (int kind = 0; kind < DT_N_REDUCES && partial & DT_PARTIAL_ANY; kind++)
        add_all(rows, (dt_reduce)kind);
    if (partial & DT_PARTIAL_LINEAR)
        dt_rows_linear(rows, UINT64_MAX);
    add_each(rows, partial, addends);
    if (partial & DT_PARTIAL_PRODUCT)
        add_all(rows, DT_PRODUCT);
    if (partial & DT_PARTIAL_MAX)
        add_all(rows, DT_MAX);
    if (partial & DT_PARTIAL_MIN)
        add_all(rows, DT_MIN);
}

void dt_rows_partial(dt_rows *rows, unsigned partial) { add_partial(rows, partial, 0); }

void dt_rows_factors(dt_rows *rows, const char *rule, unsigned partial) {
    uint64_t addends = 0;
    dt__factors_add(rows, rule, &addends);
    add_partial(rows, partial, addends);
}

dt_status dt__op_call_rows(dt__arena *arena, const dt_op_call *call, dt__row_list *out) {
    const dt_op *op = call->op;
    dt_rows rows = {.arena = arena, .call = call};
    if (op->flags & DT_OP_LIST)
        return dt__fail(call->ctx, DT_ERR_UNSUPPORTED,
                        "%s: a list op has no rows of its own: each item of the lists is decided alone, as '%s' is",
                        call->name, op->each);
    unsigned partial = op->partial_of ? op->partial_of(call) : op->partial;
    if (op->rule)
        dt_rows_factors(&rows, op->rule, partial);
    else
        dt_rows_partial(&rows, partial);
    if (op->rows)
        op->rows(call, &rows);
    *out = (dt__row_list){rows.n_rows, call->n_inputs + call->n_outputs, rows.rows};
    return rows.status;
}

static void add_entry(dt_row_entry entry, dt__text *out) {
    if (entry == DT_ROW_R)
        dt__text_add(out, "R");
    else if (entry > 0)
        dt__text_add(out, "S(%d)", entry - 1);
    else
        dt__text_add(out, "P(%s)", dt_reduce_name((dt_reduce)(-1 - entry)));
}

static void add_row(const dt_op_call *call, const dt__row *row, const char *comma, const char *arrow, dt__text *out) {
    for (int e = 0; e < call->n_inputs + call->n_outputs; e++) {
        dt__text_add(out, "%s", e == call->n_inputs ? arrow : e ? comma : "");
        add_entry(row->entries[e], out);
    }
}

void dt__row_text(const dt_op_call *call, const dt__row *row, dt__text *out) {
    add_row(call, row, "; ", call->n_inputs ? " -> " : "-> ", out);
}

void dt__row_query_text(const dt_op_call *call, const dt__row *row, dt__text *out) {
    add_row(call, row, ",", "->", out);
}

/* Replicate serves as P(avg), P(max) and P(min). */
static bool may_be_replicate(dt_row_entry entry) {
    return entry == DT_ROW_P(DT_AVG) || entry == DT_ROW_P(DT_MAX) || entry == DT_ROW_P(DT_MIN);
}

static void add_variants(dt_rows *rows, const dt__row *row) {
    int at[DT__MAX_VARIANTS], n = 0;
    for (int e = 0; e < rows->call->n_inputs; e++)
        if (may_be_replicate(row->entries[e])) {
            if (n == DT__MAX_VARIANTS)
                return;
            at[n++] = e;
        }
    for (unsigned chosen = 1; n > 1 && chosen + 1 < 1u << n; chosen++) {
        dt_row_entry *entries = new_entries(rows);
        if (!entries)
            return;
        memcpy(entries, row->entries, (size_t)(rows->call->n_inputs + rows->call->n_outputs));
        for (int i = 0; i < n; i++)
            if (chosen >> i & 1)
                entries[at[i]] = DT_ROW_R;
        dt_rows_add(rows, row->flags, entries);
    }
}

dt_status dt__rows_expand(dt__arena *arena, const dt_op_call *call, unsigned hidden, dt__row_list *list) {
    dt_rows rows = {.arena = arena, .call = call};
    for (int r = 0; r < list->n_rows; r++)
        if (!(list->rows[r].flags & hidden))
            dt_rows_add(&rows, list->rows[r].flags, list->rows[r].entries);
    for (int r = 0; r < list->n_rows; r++)
        if (!(list->rows[r].flags & hidden & ~(unsigned)DT_ROW_UNLISTED))
            add_variants(&rows, &list->rows[r]);
    list->n_rows = rows.n_rows;
    list->rows = rows.rows;
    return rows.status;
}
