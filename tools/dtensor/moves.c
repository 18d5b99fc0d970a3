/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of a choice, and their JSON.
 */
#include "moves.h"

#include "json_text.h"

enum { PLACEMENTS_BYTES = 4096 };

static dt_status plan_input(dt__arena *arena, const dt__placed_call *placed, const dt__candidate *choice, int i,
                            dt__plan *out) {
    const dt_op_value *value = &placed->call.inputs[i];
    dt__sharding to;
    dt__sharding_desc desc = {
        .n_mesh_dims = placed->n_mesh_dims,
        .mesh = placed->mesh,
        .n_dims = value->n_dims,
        .shape = value->shape,
        .n_placements = placed->n_mesh_dims,
        .placements = choice->moved[i],
    };
    DT__TRY(dt__sharding_build(arena, &desc, &to));
    dt__move move = {.from = placed->inputs[i], .to = &to, .item_bytes = (int64_t)dt_dtype_size(value->dtype)};
    return dt__plan_new(arena, &move, DT__PLANNER_MIN_COST, &dt__machine_builtin, out);
}

dt_status moves_plan(dt__arena *arena, const dt__placed_call *placed, const dt__candidate *choice, moves *out) {
    *out = (moves){.n = placed->call.n_inputs, .plans = DT__NEW_ARRAY(arena, dt__plan, placed->call.n_inputs)};
    if (!out->plans)
        return DT_ERR_MEMORY;
    for (int i = 0; i < out->n; i++) {
        dt__plan *plan = &out->plans[i];
        DT__TRY(plan_input(arena, placed, choice, i, plan));
        for (int s = 0; s < plan->n_steps; s++)
            out->collectives[plan->steps[s].collective]++;
        out->n_collectives += plan->n_collectives;
        out->bytes += plan->bytes;
    }
    return DT_OK;
}

void moves_json_placements(int n, const dt_placement *placements, dt__text *out) {
    char text[PLACEMENTS_BYTES];
    dt_placements_text(n, placements, sizeof text, text);
    json_add_string(out, text);
}

static void add_outputs(const dt__placed_call *placed, const dt__candidate *choice, dt__text *out) {
    for (int o = 0; o < placed->call.n_outputs; o++) {
        const dt_op_value *value = &placed->call.outputs[o];
        json_add(out, o ? ",{\"shape\":" : "{\"shape\":");
        json_add_ints(out, value->shape, value->n_dims);
        json_add(out, ",\"dtype\":");
        json_add_string(out, dt_dtype_name(value->dtype));
        json_add(out, ",\"placements\":");
        moves_json_placements(placed->n_mesh_dims, choice->outputs[o], out);
        json_add(out, "}");
    }
}

static void add_collectives(const moves *moved, dt__text *out) {
    bool first = true;
    json_add(out, "],\"collectives\":{");
    for (int c = DT__STEP_NONE + 1; c < DT__N_STEP_KINDS; c++) {
        if (!moved->collectives[c])
            continue;
        json_add(out, first ? "" : ",");
        json_add_string(out, dt__step_kind_name((dt__step_kind)c));
        dt__text_add(out, ":%d", moved->collectives[c]);
        first = false;
    }
    json_add(out, "}");
}

void moves_json(const dt__placed_call *placed, const dt__candidate *choice, const moves *moved, dt__text *out) {
    json_add(out, "\"inputs\":[");
    for (int i = 0; i < placed->call.n_inputs; i++) {
        json_add(out, i ? "," : "");
        moves_json_placements(placed->n_mesh_dims, choice->inputs[i], out);
    }
    json_add(out, "],\"outputs\":[");
    add_outputs(placed, choice, out);
    add_collectives(moved, out);
    json_add(out, ",\"bytes\":");
    json_add_int(out, moved->bytes);
    dt__text_add(out, ",\"cost_us\":%.6g", choice->cost_us);
}
