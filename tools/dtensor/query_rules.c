/* SPDX-License-Identifier: Apache-2.0
 *
 * `{"q":"rules",…}`: the rows that are correct on one mesh dim. `{"q":"propagate",…}`: what a call does on a mesh, and
 * what moves.
 */
#include "query_answer.h"

#include "json_text.h"
#include "moves.h"
#include "request_call.h"

/* Rows name the request's tensors in their order, whatever the order of the arguments. */
static void add_row(const dt__placed_call *parts, const dt__row *row, dt__text *text, dt__text *out) {
    const dt_op_call *call = &parts->call;
    dt_row_entry entries[64];
    dt__row shown = *row;
    if (call->n_inputs + call->n_outputs <= 64) {
        for (int e = 0; e < call->n_inputs + call->n_outputs; e++)
            entries[e < call->n_inputs ? parts->bound.inputs[e] : e] = row->entries[e];
        shown.entries = entries;
    }
    dt__text_clear(text);
    dt__row_text(call, &shown, text);
    json_add_string(out, dt__text_chars(text));
}

/* Whether each tensor of the request is used once, so that rows can name it. */
static bool is_permutation(const dt__placed_call *parts) {
    uint64_t seen = 0;
    for (int i = 0; i < parts->bound.n_inputs && i < 64; i++) {
        int number = parts->bound.inputs[i];
        if (number < 0 || number >= parts->bound.n_inputs || seen >> number & 1)
            return false;
        seen |= (uint64_t)1 << number;
    }
    return true;
}

static dt_status answer_rules(const request *asked, dt__text *out) {
    dt__placed_call parts;
    dt__row_list rows;
    DT__TRY(request_call(asked, REQUEST_SHAPES, &parts));
    DT__TRY(dt__op_call_rows(asked->arena, &parts.call, &rows));
    DT__TRY(dt__rows_expand(asked->arena, &parts.call, &rows));
    if (!is_permutation(&parts))
        for (int i = 0; i < parts.bound.n_inputs; i++)
            parts.bound.inputs[i] = i;
    dt__text text = dt__text_new(asked->ctx);
    json_add(out, "{\"rows\":[");
    for (int r = 0; r < rows.n_rows; r++) {
        json_add(out, r ? "," : "");
        add_row(&parts, &rows.rows[r], &text, out);
    }
    json_add(out, "]}");
    dt_status status = dt__text_status(&text);
    dt__text_free(&text);
    return status;
}

static dt_status answer_propagate(const request *asked, dt__text *out) {
    dt__placed_call parts;
    dt__candidate choice;
    moves moved;
    DT__TRY(request_call(asked, REQUEST_PLACED, &parts));
    dt__placed_inputs on = {parts.n_mesh_dims, parts.mesh, parts.inputs, &dt__machine_builtin};
    DT__TRY(dt__select_placements(asked->arena, &parts.call, &on, &choice));
    DT__TRY(moves_plan(asked->arena, &parts, &choice, &moved));
    json_add(out, "{");
    moves_json(&parts, &choice, &moved, out);
    json_add(out, "}");
    return DT_OK;
}

const request_kind query_rules = {
    .q = "rules",
    .fields = {{"op", true}, {"tensors", true}, {"args", true}, {"kwargs", true}},
    .answer = answer_rules,
};

const request_kind query_propagate = {
    .q = "propagate",
    .fields = {{"op", true}, {"mesh", true}, {"tensors", true}, {"args", true}, {"kwargs", true}},
    .answer = answer_propagate,
};
