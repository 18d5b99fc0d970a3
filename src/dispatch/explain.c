/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_explain: writes the shapes and placements of the tensors into the text of a call, and prints the explanation of
 * that text (src/rules), as `dtensor explain` does.
 */
#include "dispatch/dispatch_state.h"
#include "dispatch/monitor.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CANDIDATES = 5 };

static void add_tensor(const dt_tensor *tensor, dt__text *out) {
    dt__tensor_form_text(tensor->dtype, tensor->n_dims, tensor->shape, tensor->spec, out);
    dt__use_form_text(tensor->dtype, tensor->use, out);
}

/* Replaces $1, $2, … by the tensors. */
static dt_status substitute_tensors(dt_ctx *ctx, const char *call, int n, dt_tensor *const *tensors, dt__text *out) {
    for (const char *at = call; *at;) {
        char *end;
        if (*at != '$') {
            dt__text_add_chars(out, at++, 1);
            continue;
        }
        long number = isdigit((unsigned char)at[1]) ? strtol(at + 1, &end, 10) : 0;
        if (number < 1 || number > n)
            return dt__fail(ctx, DT_ERR_VALUE, "explain: '%.40s' does not name a tensor: expected $1 to $%d", at, n);
        add_tensor(tensors[number - 1], out);
        at = end;
    }
    return DT_OK;
}

/* The call with its tensors written out; a name alone is called with all of them. */
static dt_status write_call(dt_ctx *ctx, const char *call, int n, dt_tensor *const *tensors, dt__text *out) {
    if (strchr(call, '(')) {
        DT__TRY(substitute_tensors(ctx, call, n, tensors, out));
    } else {
        dt__text_add(out, "%s", call);
        for (int i = 0; i < n; i++) {
            dt__text_add(out, "%s", i ? "; " : "(");
            add_tensor(tensors[i], out);
        }
        dt__text_add(out, ")");
    }
    return dt__text_status(out);
}

static void add_candidate(const dt__placed_call *placed, const dt__candidate *candidate, const dt__input_moves *moves,
                          bool selected, dt__text *out) {
    dt__text_add(out, "%s ", selected ? "*" : " ");
    dt__placement_lists_text(placed->n_mesh_dims, placed->call.n_inputs, candidate->inputs, out);
    dt__text_add(out, " -> ");
    dt__placement_lists_text(placed->n_mesh_dims, placed->call.n_outputs, candidate->outputs, out);
    dt__text_add(out, "  %.3g us", candidate->cost_us);
    if (candidate->finish_us > 0)
        dt__text_add(out, " + %.3g us to reduce", candidate->finish_us);
    dt__text_add(out, "  ");
    if (dt__input_moves_text(moves, out))
        dt__text_add(out, ", %" PRId64 " bytes\n", moves->bytes);
    else
        dt__text_add(out, "nothing is sent\n");
}

static void add_decomposition(const dt__placed_call *placed, const dt__dry_plan *plan, bool is_marked,
                              const char *moves, dt__text *out) {
    if (*plan->refusal) {
        dt__text_add(out, "decomposition refused: %s\n", plan->refusal);
        return;
    }
    dt__text_add(out, "%sdecomposition -> ", is_marked ? "* " : "");
    dt__placement_lists_text(placed->n_mesh_dims, plan->n_outputs, plan->outputs, out);
    dt__text_add(out, "  %.3g us\n%s", plan->us, moves);
}

dt_status dt__explain_decomposition(dt__arena *arena, dt_mesh *mesh, const dt__placed_call *placed,
                                    const dt__candidate *candidate, dt__text *out, bool *selected) {
    const dt_op *op = placed->info->op;
    *selected = false;
    if (!op->decompose || op->flags & DT_OP_RECORDS_PARTS)
        return DT_OK;
    dt__dry_plan plan;
    dt__text moves = dt__text_new(arena->ctx);
    dt__dry_request request = {placed->info,
                               placed->bound.overload,
                               placed->call.n_inputs,
                               placed->call.args,
                               placed->call.inputs,
                               mesh,
                               placed->inputs,
                               false,
                               &moves};
    dt_status status = dt__dry_run(arena, &request, &plan);
    const bool is_none = status == DT_OK && plan.status == DT_ERR_UNSUPPORTED && op->kernel;
    if (status == DT_OK)
        status = dt__text_status(&moves);
    if (status == DT_OK && !is_none) {
        *selected = !*plan.refusal && (!candidate || (candidate->cost_us > 0 && !dt__call_writes(&placed->call) &&
                                                      dt__decomposition_is_selected(&plan, candidate)));
        add_decomposition(placed, &plan, *selected && candidate, dt__text_chars(&moves), out);
    }
    dt__text_free(&moves);
    return status;
}

static dt_status add_explanation(dt__arena *arena, dt_mesh *mesh, const char *call, dt__text *out) {
    int64_t sizes[DT_SPEC_MAX_DIMS];
    dt__placed_call placed;
    dt__explanation explanation;
    bool decomposes;
    int n = dt_mesh_n_dims(mesh);
    for (int m = 0; m < n; m++)
        sizes[m] = dt_mesh_dim_size(mesh, m);
    DT__TRY(dt__placed_call_parse(arena, call, n, sizes, &placed));
    dt__text_add(out, "%s on mesh(%s)\n", call, dt_mesh_text(mesh));
    const dt_op *op = placed.info->op;
    if (op->kernel)
        DT__TRY(dt__explanation_new(arena, &placed, MAX_CANDIDATES, &explanation));
    DT__TRY(dt__explain_decomposition(arena, mesh, &placed, op->kernel ? explanation.candidates : NULL, out,
                                      &decomposes));
    for (int c = 0; op->kernel && c < explanation.n_candidates; c++)
        add_candidate(&placed, &explanation.candidates[c], &explanation.moves[c], c == 0 && !decomposes, out);
    for (int i = 0; op->kernel && !decomposes && i < placed.call.n_inputs; i++) {
        dt__text_add(out, "input %d: ", i + 1);
        dt__explain_use(&placed, &explanation, i, out);
        if (explanation.moves[0].plans[i].n_steps)
            dt__plan_trace(&explanation.moves[0].plans[i], out);
        else
            dt__text_add(out, "stays");
        dt__text_add(out, "\n");
    }
    return DT_OK;
}

/* The mesh that all distributed tensors share. */
static dt_mesh *mesh_of(dt_ctx *ctx, int n, dt_tensor *const *tensors) {
    dt_mesh *mesh = NULL;
    for (int i = 0; i < n; i++) {
        if (!tensors[i]->spec)
            continue;
        if (mesh && !dt_mesh_equal(mesh, tensors[i]->spec->mesh))
            return (void)dt__fail(ctx, DT_ERR_MESH, "explain: the tensors are on different meshes"), NULL;
        mesh = tensors[i]->spec->mesh;
    }
    if (!mesh)
        (void)dt__fail(ctx, DT_ERR_PLACEMENT, "explain: no tensor is distributed; expected at least one");
    return mesh;
}

const char *dt_explain_tensors(dt_ctx *ctx, const char *call, int n, dt_tensor *const *tensors, const dt_site *site) {
    DT__ENTER(ctx, "explain", site);
    dt__monitor *monitor = ctx && dt__library_ops_open(ctx) == DT_OK ? dt__monitor_of(ctx) : NULL;
    if (!monitor)
        return NULL;
    if (!call || n < 1 || !tensors)
        return (void)dt__fail(ctx, DT_ERR_VALUE, "explain: expected a call and at least one tensor"), NULL;
    for (int i = 0; i < n; i++)
        if (!DT__LIVE_ARGUMENT(DT__KIND_TENSOR, tensors[i], i + 1))
            return (void)dt__null_argument(ctx, "explain", i + 3), NULL;
    dt_mesh *mesh = mesh_of(ctx, n, tensors);
    if (!mesh)
        return NULL;
    dt__text written = dt__text_new(ctx);
    dt__arena arena = dt__arena_new(ctx);
    dt__text *text = dt__returned_text_begin(monitor, DT__TEXT_EXPLAIN);
    dt_status status = write_call(ctx, call, n, tensors, &written);
    if (status == DT_OK)
        status = add_explanation(&arena, mesh, dt__text_chars(&written), text);
    dt__arena_free(&arena);
    dt__text_free(&written);
    return status == DT_OK ? dt__returned_text_end(text) : NULL;
}
