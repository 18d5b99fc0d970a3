/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_local_map: functions of the program on local tensors, with declared placements.
 */
#include "base/options.h"
#include "dispatch/dispatch_state.h"
#include "dtensor/redistribute.h"
#include "move/move.h"
#include "tensor/tensor.h"

/* One input, after redistribution if the mapping requests it. */
static dt_tensor *placed_input(const dt_local_mapping *mapping, int i) {
    dt_tensor *tensor = mapping->inputs[i];
    if (!tensor->spec || !mapping->in)
        return tensor;
    if (!mapping->in[i]) {
        (void)dt__fail(tensor->ctx, DT_ERR_PLACEMENT,
                       "local_map: input %d is distributed: expected placements, got none", i + 1);
        return NULL;
    }
    dt_spec *expected = dt__spec_with(tensor->spec, tensor->spec->mesh, mapping->in[i]);
    if (!expected)
        return NULL;
    dt_tensor *moved = NULL;
    if (expected == tensor->spec)
        moved = tensor;
    else if (mapping->redistributes)
        moved = dt__made_from("redistribute", tensor, dt__tensor_redistribute(tensor, expected, DT__PLANNER_DIRECT),
                              0, NULL);
    else {
        char text[512];
        (void)dt_tensor_text(tensor, sizeof text, text);
        (void)dt__fail(tensor->ctx, DT_ERR_VALUE,
                       "local_map: input %d: expected %s, got %s; redistribute it, or set redistributes", i + 1,
                       mapping->in[i], text);
    }
    dt_spec_release(expected);
    return moved;
}

static dt_status run_mapping(dt_ctx *ctx, const dt_local_mapping *mapping, dt_mesh *mesh, dt_tensor **locals,
                             dt_tensor **outputs) {
    for (int i = 0; i < mapping->n_inputs; i++)
        if (!(locals[i] = placed_input(mapping, i)) || (!mapping->halo && !(locals[i] = dt_to_local(locals[i]))))
            return dt_error_status(ctx);
    if (ctx->estimate && mesh)
        dt__estimate_notes_add(ctx, DT__STAND_IN, "local_map");
    if (mapping->halo)
        return dt__stencil_run(ctx, mapping, mesh, locals, outputs);
    DT__TRY(dt__local_map_call(ctx, mapping, locals, outputs));
    for (int i = 0; i < mapping->n_outputs; i++) {
        outputs[i] = DT__LIVE_ARGUMENT(DT__KIND_TENSOR, outputs[i], i + 1);
        if (outputs[i] && outputs[i]->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "local_map: output %d belongs to another context", i + 1);
        if (mesh && mapping->out && mapping->out[i])
            outputs[i] = outputs[i] ? dt_from_local(ctx, outputs[i], mesh, mapping->out[i], .check = mapping->checks,
                                                    .shape = mapping->shapes ? mapping->shapes[i] : (dt_shape){0})
                                    : NULL;
        if (!outputs[i])
            return dt_failed(ctx)
                       ? dt_error_status(ctx)
                       : dt__fail(ctx, DT_ERR_VALUE, "local_map: output %d of the function is NULL", i + 1);
    }
    return DT_OK;
}

dt_status dt_local_map_sized(dt_ctx *ctx, const dt_local_mapping *mapping, dt_tensor **outputs, size_t mapping_size,
                             const dt_site *site) {
    DT__ENTER(ctx, "local_map", site);
    dt_local_mapping full;
    mapping = DT__STRUCT(ctx, mapping, mapping_size, &full);
    if (!mapping)
        return DT_ERR_VALUE;
    if (!ctx || !mapping->run || !outputs)
        return ctx ? dt__fail(ctx, DT_ERR_VALUE, "local_map: expected a function and outputs, got NULL")
                   : DT_ERR_VALUE;
    if (mapping->mesh && (!DT__LIVE(DT__KIND_MESH, mapping->mesh) ||
                          !dt__check_context(ctx, "local_map", "mesh", dt_mesh_ctx(mapping->mesh))))
        return DT_ERR_STATE;
    dt_mesh *mesh = mapping->mesh;
    for (int i = 0; i < mapping->n_outputs; i++)
        outputs[i] = NULL;
    DT__TRY(DT__REFUSAL());
    for (int i = 0; i < mapping->n_inputs; i++) {
        if (!DT__LIVE_ARGUMENT(DT__KIND_TENSOR, mapping->inputs[i], i + 1))
            return dt__null_argument(ctx, "local_map", i + 1), dt_error_status(ctx);
        if (mapping->inputs[i]->ctx != ctx)
            return dt__fail(ctx, DT_ERR_STATE, "local_map: input %d belongs to another context", i + 1);
        DT__TRY(dt__note_tensor(mapping->inputs[i], NULL));
        if (!mesh && mapping->inputs[i]->spec)
            mesh = mapping->inputs[i]->spec->mesh;
    }
    dt_scope scope = dt_scope_begin(ctx);
    if (scope.number == 0)
        return dt_error_status(ctx);
    dt__arena arena = dt__arena_new(ctx);
    dt_tensor **locals = DT__NEW_ARRAY(&arena, dt_tensor *, mapping->n_inputs);
    dt_status status = locals ? run_mapping(ctx, mapping, mesh, locals, outputs) : DT_ERR_MEMORY;
    dt__arena_free(&arena);
    for (int i = 0; i < mapping->n_outputs; i++)
        if (status != DT_OK)
            outputs[i] = NULL;
        else if (outputs[i]->scope == dt__scope_current(ctx).depth)
            (void)dt_keep(outputs[i]);
    dt_scope_end(scope);
    return status;
}
