/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of a program's own on local parts, with declared placements.
 */
#include "base/options.h"
#include "dispatch/dispatch_state.h"
#include "dtensor/redistribute.h"
#include "move/move.h"
#include "tensor/tensor.h"

/* The local tensor of one input, redistributed before if requested. */
static dt_tensor *part_of(const dt_local_mapping *what, int i) {
    dt_tensor *tensor = what->inputs[i];
    if (!tensor->spec)
        return tensor;
    if (!what->in)
        return dt_to_local(tensor);
    if (!what->in[i]) {
        (void)dt__fail(tensor->ctx, DT_ERR_PLACEMENT,
                       "local_map: input %d is distributed and expects placements; none are given", i + 1);
        return NULL;
    }
    dt_spec *asked = dt__spec_with(tensor->spec, tensor->spec->mesh, what->in[i]);
    if (!asked)
        return NULL;
    dt_tensor *there = NULL;
    if (asked == tensor->spec)
        there = tensor;
    else if (what->redistributes)
        there = dt__tensor_redistribute(tensor, asked, DT__PLANNER_DIRECT);
    else {
        char text[512];
        (void)dt_tensor_text(tensor, sizeof text, text);
        (void)dt__fail(tensor->ctx, DT_ERR_VALUE,
                       "local_map: input %d, %s, should be %s; redistribute it, or set redistributes", i + 1, text,
                       what->in[i]);
    }
    dt_spec_release(asked);
    return dt_to_local(there);
}

static dt_status run(dt_ctx *ctx, const dt_local_mapping *what, dt_mesh *mesh, dt_tensor **parts,
                     dt_tensor **outputs) {
    for (int i = 0; i < what->n_inputs; i++)
        if (!(parts[i] = part_of(what, i)))
            return dt_error_status(ctx);
    dt_status status = what->run(ctx, parts, outputs, what->user);
    if (status != DT_OK)
        return dt_failed(ctx) ? status : dt_error_set(ctx, status, "local_map: the function failed");
    for (int i = 0; i < what->n_outputs; i++) {
        if (mesh && what->out && what->out[i])
            outputs[i] =
                outputs[i] ? dt_from_local(ctx, outputs[i], mesh, what->out[i], .check = what->checks) : NULL;
        if (!outputs[i])
            return dt_failed(ctx)
                       ? dt_error_status(ctx)
                       : dt__fail(ctx, DT_ERR_VALUE, "local_map: output %d of the function is NULL", i + 1);
    }
    return DT_OK;
}

dt_status dt_local_map_sized(dt_ctx *ctx, const dt_local_mapping *what, size_t mapping_size, dt_tensor **outputs) {
    dt_tensor *parts[DT__MAX_INPUTS];
    dt_mesh *mesh = NULL;
    dt_local_mapping full;
    what = DT__OPTIONS(ctx, "local_map", what, mapping_size, &full);
    if (!what)
        return DT_ERR_VALUE;
    if (!ctx || !what->run || !outputs)
        return ctx ? dt__fail(ctx, DT_ERR_VALUE, "local_map: expected a function and capacity for outputs")
                   : DT_ERR_VALUE;
    if (what->n_inputs > DT__MAX_INPUTS)
        return dt__fail(ctx, DT_ERR_UNSUPPORTED, "local_map: %d tensors; at most %d", what->n_inputs, DT__MAX_INPUTS);
    for (int i = 0; i < what->n_outputs; i++)
        outputs[i] = NULL;
    for (int i = 0; i < what->n_inputs; i++) {
        if (!what->inputs[i])
            return dt__null_argument(ctx, "local_map", i + 1), dt_error_status(ctx);
        if (!mesh && what->inputs[i]->spec)
            mesh = what->mesh ? what->mesh : what->inputs[i]->spec->mesh;
    }
    dt_scope scope = dt_scope_begin(ctx);
    if (scope.number == 0)
        return dt_error_status(ctx);
    dt_status status = run(ctx, what, mesh, parts, outputs);
    for (int i = 0; i < what->n_outputs; i++)
        if (status != DT_OK)
            outputs[i] = NULL;
        else if (outputs[i]->scope == dt__scope_current(ctx).depth)
            (void)dt_keep(outputs[i]);
    dt_scope_end(scope);
    return status;
}
