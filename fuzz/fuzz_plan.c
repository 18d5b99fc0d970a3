/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves as two specs, a line each, by every planner: a plan begins at the source and ends at the target, sends every
 * rank what it lacks, and its flows add up to its bytes. Meshes and tensors are kept small, because the work
 * grows with them.
 */
#include "dtensor/mesh.h"
#include "dtensor/spec.h"
#include "fuzz.h"
#include "plan/plan.h"
#include "spec/spec.h"

enum { WORLD = 4096, MAX_DIMS = 4, MAX_RANKS = 64, MAX_ELEMENTS = 1 << 20 };

static bool is_small(const dt_spec *spec) {
    return dt_spec_n_dims(spec) <= MAX_DIMS && dt_mesh_n_dims(dt_spec_mesh(spec)) <= MAX_DIMS &&
           dt_mesh_size(dt_spec_mesh(spec)) <= MAX_RANKS &&
           dt_spec_bytes(spec) / (int64_t)dt_dtype_size(spec->dtype) <= MAX_ELEMENTS;
}

static void check_flows(dt__arena *arena, const dt__plan_step *step, int64_t item_bytes) {
    dt__flows flows;
    int64_t total = 0;
    FUZZ_CHECK(dt__flows_new(arena, step->transfer, step->busiest, &flows) == DT_OK, "%s", dt_error_text(arena->ctx));
    for (int64_t i = 0; i < flows.n; i++)
        total += flows.items[i].elements;
    FUZZ_CHECK(total * item_bytes == step->bytes, "%lld and %lld", (long long)(total * item_bytes),
               (long long)step->bytes);
}

static void check_plan(dt__arena *arena, const dt__move *move, dt__planner planner) {
    dt__plan plan;
    dt_status status = dt__plan_new(arena, move, planner, &dt__machine_builtin, &plan);
    fuzz_check_status(arena->ctx, status == DT_OK);
    if (status != DT_OK) {
        FUZZ_CHECK(status == DT_ERR_PLACEMENT || status == DT_ERR_MESH || status == DT_ERR_UNSUPPORTED, "%s",
                   dt_error_text(arena->ctx));
        dt_error_clear(arena->ctx);
        return;
    }
    bool exchanges = planner == DT__PLANNER_DIRECT && plan.n_steps && plan.steps[0].transfer->reduced == 1;
    FUZZ_CHECK(plan.bytes >= plan.lower_bound_bytes, "%s", dt__planner_name(planner));
    FUZZ_CHECK(!exchanges || plan.bytes == plan.lower_bound_bytes, "%s", dt__planner_name(planner));
    FUZZ_CHECK(plan.cost_us >= 0 && plan.n_collectives <= plan.n_steps, "%s", dt__planner_name(planner));
    for (int i = 0; i < plan.n_steps; i++) {
        FUZZ_CHECK(i == 0 || plan.steps[i].before == plan.steps[i - 1].after, "step %d", i);
        FUZZ_CHECK(plan.steps[i].collective != DT__STEP_NONE || plan.steps[i].bytes == 0, "step %d", i);
        check_flows(arena, &plan.steps[i], move->item_bytes);
    }
    dt__text trace = dt__text_new(arena->ctx);
    dt__plan_trace(&plan, &trace);
    FUZZ_CHECK(dt__text_status(&trace) == DT_OK && *dt__text_chars(&trace), "no trace");
    dt__text_free(&trace);
}

static void check_move(dt_ctx *ctx, const dt_spec *from, const dt_spec *to) {
    dt__arena arena = dt__arena_new(ctx);
    dt__move move;
    dt_status status = dt__move_of_specs(from, to, &move);
    fuzz_check_status(ctx, status == DT_OK);
    for (int planner = 0; status == DT_OK && planner < DT__N_PLANNERS; planner++)
        check_plan(&arena, &move, (dt__planner)planner);
    dt__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    ctx->world = WORLD;
    char *text = fuzz_text(&arena, bytes, n), *second = strchr(text, '\n');
    if (second) {
        *second++ = 0;
        second[strcspn(second, "\n")] = 0;
        dt_spec *from = dt_spec_parse(ctx, text), *to = from ? dt_spec_parse(ctx, second) : NULL;
        fuzz_check_status(ctx, to != NULL);
        if (to && is_small(from) && is_small(to))
            check_move(ctx, from, to);
        dt_spec_release(from);
        dt_spec_release(to);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
    return 0;
}
