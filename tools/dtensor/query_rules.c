/* SPDX-License-Identifier: Apache-2.0
 *
 * `{"q":"rules",…}`: the rows that are correct on one mesh dim. `{"q":"propagate",…}`: what a call does on a mesh, and
 * what moves.
 */
#include "query_answer.h"

#include "json_text.h"
#include "request_call.h"
#include "spec/text.h"

enum { PLACEMENTS_BYTES = 4096 };

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
    DT__TRY(dt__call_rows(asked->arena, &parts.call, &rows));
    DT__TRY(dt__rows_spell_out(asked->arena, &parts.call, &rows));
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

/* What all moves of a call come to. */
typedef struct totals {
    int collectives[DT__N_COLLECTIVES];
    int64_t bytes;
} totals;

static dt_status plan_input(const request *asked, const dt__placed_call *parts, const dt__choice *choice, int i,
                            totals *sum) {
    const dt_op_value *value = &parts->call.inputs[i];
    dt__sharding to;
    dt__plan plan;
    dt__sharding_desc desc = {
        .n_mesh_dims = parts->n_mesh_dims,
        .mesh = parts->mesh,
        .n_dims = value->n_dims,
        .shape = value->shape,
        .n_placements = parts->n_mesh_dims,
        .placements = choice->moved[i],
    };
    DT__TRY(dt__sharding_build(asked->arena, &desc, &to));
    dt__move move = {.from = parts->inputs[i], .to = &to, .item_bytes = (int64_t)dt_dtype_size(value->dtype)};
    DT__TRY(dt__plan_new(asked->arena, &move, DT__PLANNER_MIN_COST, &dt__machine_builtin, &plan));
    for (int s = 0; s < plan.n_steps; s++)
        sum->collectives[plan.steps[s].collective]++;
    sum->bytes += plan.bytes;
    return DT_OK;
}

static void add_placements(int n, const dt_placement *placements, dt__text *out) {
    char text[PLACEMENTS_BYTES];
    dt_placements_text(n, placements, sizeof text, text);
    json_add_string(out, text);
}

static void add_outputs(const dt__placed_call *parts, const dt__choice *choice, dt__text *out) {
    for (int o = 0; o < parts->call.n_outputs; o++) {
        const dt_op_value *value = &parts->call.outputs[o];
        json_add(out, o ? ",{\"shape\":" : "{\"shape\":");
        json_add_ints(out, value->shape, value->n_dims);
        json_add(out, ",\"dtype\":");
        json_add_string(out, dt_dtype_word(value->dtype));
        json_add(out, ",\"placements\":");
        add_placements(parts->n_mesh_dims, choice->outputs[o], out);
        json_add(out, "}");
    }
}

static void add_totals(const totals *sum, dt__text *out) {
    bool first = true;
    json_add(out, "],\"collectives\":{");
    for (int c = DT__COLLECTIVE_NONE + 1; c < DT__N_COLLECTIVES; c++) {
        if (!sum->collectives[c])
            continue;
        json_add(out, first ? "" : ",");
        json_add_string(out, dt__collective_name((dt__collective)c));
        dt__text_add(out, ":%d", sum->collectives[c]);
        first = false;
    }
    json_add(out, "},\"bytes\":");
    json_add_int(out, sum->bytes);
}

static dt_status answer_propagate(const request *asked, dt__text *out) {
    dt__placed_call parts;
    dt__choice choice;
    totals sum = {.bytes = 0};
    DT__TRY(request_call(asked, REQUEST_PLACED, &parts));
    dt__placed on = {parts.n_mesh_dims, parts.mesh, parts.inputs, &dt__machine_builtin};
    DT__TRY(dt__choose(asked->arena, &parts.call, &on, &choice));
    for (int i = 0; i < parts.call.n_inputs; i++)
        DT__TRY(plan_input(asked, &parts, &choice, i, &sum));
    json_add(out, "{\"inputs\":[");
    for (int i = 0; i < parts.call.n_inputs; i++) {
        json_add(out, i ? "," : "");
        add_placements(parts.n_mesh_dims, choice.inputs[i], out);
    }
    json_add(out, "],\"outputs\":[");
    add_outputs(&parts, &choice, out);
    add_totals(&sum, out);
    dt__text_add(out, ",\"cost_us\":%.6g}", choice.cost_us);
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
