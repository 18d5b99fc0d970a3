/* SPDX-License-Identifier: Apache-2.0
 *
 * Why an op selects its placements: the cheapest candidates of a call, each with the plans that move its inputs. Pure;
 * dt_explain and `dtensor explain` print it, each in its own form.
 */
#include "rules/rules.h"

#include <inttypes.h>

static dt_status plan_input(dt__arena *arena, const dt__placed_call *placed, const dt__candidate *candidate, int i,
                            dt__plan *out) {
    const dt_op_value *value = &placed->call.inputs[i];
    dt__sharding *to = DT__NEW(arena, dt__sharding);
    dt__sharding_desc desc = {
        .n_mesh_dims = placed->n_mesh_dims,
        .mesh = placed->mesh,
        .n_dims = value->n_dims,
        .shape = value->shape,
        .n_placements = placed->n_mesh_dims,
        .placements = candidate->moved[i],
    };
    if (!to)
        return DT_ERR_MEMORY;
    DT__TRY(dt__sharding_build(arena, &desc, to));
    dt__move move = {.from = placed->inputs[i], .to = to, .item_bytes = (int64_t)dt_dtype_size(value->dtype)};
    return dt__plan_along(arena, &move, arena->ctx->machine, &candidate->routes[i], out);
}

dt_status dt__input_moves_plan(dt__arena *arena, const dt__placed_call *placed, const dt__candidate *candidate,
                               dt__input_moves *out) {
    int n = placed->call.n_inputs;
    *out = (dt__input_moves){.n = n, .plans = DT__NEW_ARRAY(arena, dt__plan, n), .way = &candidate->way};
    if (!out->plans)
        return DT_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        dt__plan *plan = &out->plans[i];
        DT__TRY(plan_input(arena, placed, candidate, i, plan));
        dt__step_counts counts = dt__plan_count(plan);
        for (int kind = 0; kind < DT__N_STEP_KINDS; kind++)
            out->counts.of[kind] += counts.of[kind];
        out->n_collectives += plan->n_collectives;
        out->bytes += plan->bytes;
    }
    if (candidate->way.bytes > 0) {
        out->counts.of[candidate->way.kind]++;
        out->n_collectives++;
        out->bytes += candidate->way.bytes;
    }
    return DT_OK;
}

static dt_status plan_uses(dt__arena *arena, const dt__placed_call *placed, dt__explanation *out) {
    dt__plan *plans = DT__NEW_ARRAY(arena, dt__plan, placed->call.n_inputs);
    if (!plans)
        return DT_ERR_MEMORY;
    for (int i = 0; i < placed->call.n_inputs; i++) {
        dt__move move = {.from = placed->stored[i],
                         .to = placed->inputs[i],
                         .item_bytes = (int64_t)dt_dtype_size(placed->call.inputs[i].dtype)};
        if (move.from)
            DT__TRY(dt__plan_new(arena, &move, DT__PLANNER_MIN_COST, arena->ctx->machine, &plans[i]));
    }
    out->uses = plans;
    return DT_OK;
}

void dt__explain_use(const dt__placed_call *placed, const dt__explanation *explanation, int i, dt__text *out) {
    if (!explanation->uses || !placed->stored[i])
        return;
    const dt_placement *placements = placed->inputs[i]->placements;
    dt__text_add(out, "used as ");
    if (placed->call.inputs[i].dtype != placed->stored_dtypes[i])
        dt__text_add(out, "%s ", dt_dtype_name(placed->call.inputs[i].dtype));
    dt__placement_lists_text(placed->n_mesh_dims, 1, &placements, out);
    dt__text_add(out, ", as requested: ");
    dt__plan_trace(&explanation->uses[i], out);
    dt__text_add(out, "; ");
}

dt_status dt__explanation_new(dt__arena *arena, const dt__placed_call *placed, int max_candidates,
                              dt__explanation *out) {
    dt__placed_inputs on = {placed->n_mesh_dims, placed->mesh, placed->inputs, arena->ctx->machine};
    *out = (dt__explanation){
        .candidates = DT__NEW_ARRAY(arena, dt__candidate, max_candidates),
        .moves = DT__NEW_ARRAY(arena, dt__input_moves, max_candidates),
    };
    if (!out->candidates || !out->moves)
        return DT_ERR_MEMORY;
    DT__TRY(dt__list_candidates(arena, &placed->call, &on, max_candidates, out->candidates, &out->n_candidates));
    for (int c = 0; c < out->n_candidates; c++)
        DT__TRY(dt__input_moves_plan(arena, placed, &out->candidates[c], &out->moves[c]));
    return placed->stored ? plan_uses(arena, placed, out) : DT_OK;
}

bool dt__input_moves_text(const dt__input_moves *moves, dt__text *out) {
    const char *separator = "";
    for (int c = DT__STEP_NONE + 1; c < DT__N_STEP_KINDS; c++)
        if (moves->counts.of[c]) {
            dt__text_add(out, "%s%s %" PRId64, separator, dt__step_kind_name((dt__step_kind)c), moves->counts.of[c]);
            separator = ", ";
        }
    unsigned flags = moves->way->bytes > 0 ? moves->way->flags : 0;
    if (flags)
        dt__text_add(out, " (%s)", flags & DT_ROW_MEET ? "meets" : flags & DT_ROW_SCAN ? "scans" : "fetches windows");
    return *separator;
}
