/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan as JSON.
 */
#include "plan_json.h"

#include "json_text.h"

static void add_number(dt__text *out, const char *name, int64_t value) {
    json_add(out, name);
    json_add_int(out, value);
}

static void add_step(const dt__plan_step *step, dt__text *out) {
    int64_t mesh_dims[DT_SPEC_MAX_DIMS];
    for (int i = 0; i < step->n_mesh_dims; i++)
        mesh_dims[i] = step->mesh_dims[i];
    json_add(out, "{\"mesh_dims\":");
    json_add_ints(out, mesh_dims, step->n_mesh_dims);
    json_add(out, ",\"collective\":");
    json_add_string(out, dt__step_kind_name(step->collective));
    add_number(out, ",\"bytes\":", step->bytes);
    dt__text_add(out, ",\"cost_us\":%.6g}", step->cost_us);
}

void plan_json(dt_ctx *ctx, const dt__plan *plan, dt__text *out) {
    dt__text trace = dt__text_new(ctx);
    dt__plan_trace(plan, &trace);
    json_add(out, "\"trace\":");
    json_add_string(out, dt__text_chars(&trace));
    out->broken |= trace.broken;
    dt__text_free(&trace);
    json_add(out, ",\"steps\":[");
    for (int i = 0; i < plan->n_steps; i++) {
        json_add(out, i ? "," : "");
        add_step(&plan->steps[i], out);
    }
    add_number(out, "],\"collectives\":", plan->n_collectives);
    add_number(out, ",\"bytes\":", plan->bytes);
    add_number(out, ",\"lower_bound_bytes\":", plan->lower_bound_bytes);
    add_number(out, ",\"peak_bytes\":", plan->peak_bytes);
    dt__text_add(out, ",\"cost_us\":%.6g", plan->cost_us);
}
