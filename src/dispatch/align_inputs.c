/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs on other meshes: an op with DT__OP_ALIGN accepts inputs on meshes other than that of its first input, plain
 * inputs with a distributed first input, and distributed inputs with a plain one. They are brought to the mesh of the
 * first input before the call is decided. A plain input, which every rank has, counts as replicated. An input on
 * another mesh is redistributed to the placements of the first input if their shapes are equal, and replicated
 * otherwise. With a plain first input, a distributed one becomes full.
 */
#include "dispatch/dispatch_state.h"
#include "move/move.h"

#include <string.h>

static bool is_aligned(const dt_tensor *first, const dt_tensor *input) {
    if (!first->spec || !input->spec)
        return !first->spec && !input->spec;
    return dt_mesh_equal(first->spec->mesh, input->spec->mesh);
}

bool dt__call_is_aligned(const dt__call *call) {
    for (int i = 1; i < call->n_inputs; i++)
        if (!is_aligned(call->inputs[0], call->inputs[i]))
            return false;
    return true;
}

static bool same_shape(const dt_tensor *a, const dt_tensor *b) {
    return a->n_dims == b->n_dims && memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof *a->shape) == 0;
}

/* The first input's placements, with Replicate for its partials, or Replicate everywhere. */
static dt_spec *target_spec(const dt_tensor *first, const dt_tensor *input) {
    dt_mesh *mesh = first->spec->mesh;
    dt_placement placements[DT_SPEC_MAX_DIMS];
    bool same = same_shape(first, input);
    for (int m = 0; m < dt_mesh_n_dims(mesh); m++) {
        placements[m] = first->spec->sharding.placements[m];
        if (!same || dt_placement_is_partial(placements[m]))
            placements[m] = dt_placement_replicate();
    }
    return dt_spec_new(mesh, &(dt_spec_desc){.dtype = input->dtype,
                                             .n_dims = input->n_dims,
                                             .shape = input->shape,
                                             .n_placements = dt_mesh_n_dims(mesh),
                                             .placements = placements});
}

/* A new tensor where the first input is. */
static dt_tensor *align(dt_tensor *first, dt_tensor *input) {
    if (!first->spec)
        return dt__full_tensor(input);
    if (!input->spec)
        return dt_distribute_tensor(input, first->spec->mesh, NULL, .everywhere = true);
    dt_spec *spec = target_spec(first, input);
    dt_tensor *moved = spec ? dt__tensor_redistribute(input, spec, DT__PLANNER_DIRECT) : NULL;
    dt_spec_release(spec);
    return moved;
}

/* Refuses what the op's shape function refuses, on all ranks alike and before anything is sent. */
static dt_status check_shapes(dt_ctx *ctx, dt__call *call) {
    _Alignas(16) unsigned char memory[1024];
    dt__arena arena = dt__arena_on(ctx, memory, sizeof memory);
    dt__op_call_init(&call->op_call, ctx, call->info, call->overload, call->args, call->n_inputs, call->values);
    dt__call_set_global_inputs(call);
    dt_status status = dt__op_call_infer(&arena, &call->op_call);
    dt__arena_free(&arena);
    return status;
}

dt_status dt__call_align(dt_ctx *ctx, dt__call *call, dt_tensor **made, bool *outside) {
    dt_tensor *first = call->inputs[0];
    int64_t coordinate[DT_MESH_MAX_DIMS];
    *outside = false;
    for (int i = 1; i < call->n_inputs; i++) /* on the meshes of both; the aligned call is noted when it is decided */
        DT__TRY(dt__note_tensor(first->spec ? first : call->inputs[i],
                                &(dt__call_details){.other = first->spec ? call->inputs[i]->spec : NULL}));
    DT__TRY(check_shapes(ctx, call));
    for (int i = 1; i < call->n_inputs; i++) {
        dt_tensor *input = call->inputs[i];
        if (is_aligned(first, input))
            continue;
        *outside |= !first->spec && !dt_mesh_coordinate(input->spec->mesh, coordinate);
        if (!(made[i] = align(first, input)))
            return dt_error_status(ctx);
        call->inputs[i] = made[i];
    }
    return DT_OK;
}
