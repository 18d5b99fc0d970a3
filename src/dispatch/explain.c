/* SPDX-License-Identifier: Apache-2.0
 *
 * Why an op chooses its placements, for tensors that are there: the call is written out with their shapes and
 * placements and read as the tools read it; what follows is pure.
 */
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"
#include "dtensor/debug.h"
#include "rules/rules.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 5 };

/* Replaces $0, $1, … */
static dt_status write_call(dt_ctx *ctx, const char *call, dt_tensor *const *tensors, int n, dt__text *out) {
    for (const char *at = call; *at;) {
        char *end;
        if (*at != '$') {
            dt__text_add_chars(out, at++, 1);
            continue;
        }
        long which = isdigit((unsigned char)at[1]) ? strtol(at + 1, &end, 10) : -1;
        if (which < 0 || which >= n || !tensors[which])
            return dt__fail(ctx, DT_ERR_VALUE, "explain: '%.40s' names a tensor that is not given; there are %d", at,
                            n);
        dt__tensor_form_text(tensors[which]->dtype, tensors[which]->n_dims, tensors[which]->shape,
                             tensors[which]->spec, out);
        at = end;
    }
    return dt__text_status(out);
}

/* What moving one input takes. */
static dt_status plan_input(dt__arena *arena, const dt__placed_call *placed, const dt__candidate *choice, int i,
                            dt__plan *out) {
    const dt_op_value *value = &placed->call.inputs[i];
    dt__sharding *to = DT__NEW(arena, dt__sharding);
    dt__sharding_desc desc = {placed->n_mesh_dims, placed->mesh,        value->n_dims,
                              value->shape,        placed->n_mesh_dims, choice->moved[i]};
    if (!to)
        return DT_ERR_MEMORY;
    DT__TRY(dt__sharding_new(arena, &desc, to));
    dt__move move = {.from = placed->inputs[i], .to = to, .item_bytes = (int64_t)dt_dtype_size(value->dtype)};
    return dt__plan_new(arena, &move, DT__PLANNER_MIN_COST, &dt__machine_builtin, out);
}

static dt_status add_candidate(dt__arena *arena, const dt__placed_call *placed, const dt__candidate *choice,
                               bool chosen, dt__text *out) {
    int64_t counts[DT__N_STEP_KINDS] = {0}, bytes = 0;
    const char *before = "";
    for (int i = 0; i < placed->call.n_inputs; i++) {
        dt__plan plan;
        DT__TRY(plan_input(arena, placed, choice, i, &plan));
        for (int s = 0; s < plan.n_steps; s++)
            counts[plan.steps[s].collective]++;
        bytes += plan.bytes;
    }
    dt__text_add(out, "%s ", chosen ? "*" : " ");
    dt__placement_lists_text(placed->n_mesh_dims, placed->call.n_inputs, choice->inputs, out);
    dt__text_add(out, " -> ");
    dt__placement_lists_text(placed->n_mesh_dims, placed->call.n_outputs, choice->outputs, out);
    dt__text_add(out, "  %.3g us", choice->cost_us);
    for (int c = DT__STEP_NONE + 1; c < DT__N_STEP_KINDS; c++)
        if (counts[c]) {
            dt__text_add(out, "%s%s %" PRId64, *before ? before : "  ", dt__step_kind_name((dt__step_kind)c),
                         counts[c]);
            before = ", ";
        }
    if (*before)
        dt__text_add(out, ", %" PRId64 " bytes\n", bytes);
    else
        dt__text_add(out, "  nothing is sent\n");
    return DT_OK;
}

static dt_status add_moves(dt__arena *arena, const dt__placed_call *placed, const dt__candidate *choice,
                           dt__text *out) {
    for (int i = 0; i < placed->call.n_inputs; i++) {
        dt__plan plan;
        DT__TRY(plan_input(arena, placed, choice, i, &plan));
        dt__text_add(out, "input %d: ", i + 1);
        if (plan.n_steps)
            dt__plan_trace(&plan, out);
        else
            dt__text_add(out, "stays");
        dt__text_add(out, "\n");
    }
    return DT_OK;
}

static dt_status explain(dt__arena *arena, dt_mesh *mesh, const char *call, dt__text *out) {
    int64_t sizes[DT_SPEC_MAX_DIMS];
    dt__placed_call placed;
    dt__candidate choices[CANDIDATES];
    int n = dt_mesh_n_dims(mesh), n_choices = 0;
    for (int m = 0; m < n; m++)
        sizes[m] = dt_mesh_dim_size(mesh, m);
    DT__TRY(dt__placed_call_parse(arena, call, n, sizes, &placed));
    dt__placed_inputs on = {n, sizes, placed.inputs, &dt__machine_builtin};
    dt__text_add(out, "%s on mesh(%s)\n", call, dt_mesh_text(mesh));
    if (!placed.info->op->kernel && placed.info->op->decompose) {
        dt__text_add(out, "runs through its decomposition, whose ops choose for themselves\n");
        return DT_OK;
    }
    DT__TRY(dt__list_candidates(arena, &placed.call, &on, CANDIDATES, choices, &n_choices));
    for (int c = 0; c < n_choices; c++)
        DT__TRY(add_candidate(arena, &placed, &choices[c], c == 0, out));
    return n_choices ? add_moves(arena, &placed, &choices[0], out) : DT_OK;
}

/* The mesh that all distributed ones share. */
static dt_mesh *mesh_of(dt_ctx *ctx, dt_tensor *const *tensors, int n) {
    dt_mesh *mesh = NULL;
    for (int i = 0; i < n; i++) {
        if (!tensors[i] || !tensors[i]->spec)
            continue;
        if (mesh && !dt_mesh_equal(mesh, tensors[i]->spec->mesh))
            return (void)dt__fail(ctx, DT_ERR_MESH, "explain: the tensors are on different meshes"), NULL;
        mesh = tensors[i]->spec->mesh;
    }
    if (!mesh)
        (void)dt__fail(ctx, DT_ERR_PLACEMENT, "explain: none of the tensors is distributed, so nothing is chosen");
    return mesh;
}

const char *dt__explain(dt_ctx *ctx, const char *call, dt_tensor *const *tensors, int n_tensors) {
    dt__monitor *self = dt__monitor_of(ctx);
    if (!self)
        return NULL;
    if (!call || (n_tensors > 0 && !tensors))
        return (void)dt__fail(ctx, DT_ERR_VALUE, "explain: wanted a call and tensors"), NULL;
    dt_mesh *mesh = mesh_of(ctx, tensors, n_tensors);
    if (!mesh)
        return NULL;
    dt__text written = dt__text_new(ctx);
    dt__arena arena = dt__arena_new(ctx);
    dt__text_clear(&self->text);
    dt_status status = write_call(ctx, call, tensors, n_tensors, &written);
    if (status == DT_OK)
        status = explain(&arena, mesh, dt__text_chars(&written), &self->text);
    if (status == DT_OK)
        status = dt__text_status(&self->text);
    dt__arena_free(&arena);
    dt__text_free(&written);
    return status == DT_OK ? dt__text_chars(&self->text) : NULL;
}
