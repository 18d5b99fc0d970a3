/* SPDX-License-Identifier: Apache-2.0
 *
 * Meshes of a context: a list of all, so that closing the context frees them, and the stack of current meshes. Stored
 * in the context's slot, created with the first mesh.
 */
#include "mesh/mesh_internal.h"

static void free_state(dt_ctx *ctx, void *slot) {
    dt__mesh_state *state = slot;
    while (state->n_stack > 0)
        dt_mesh_release(state->stack[--state->n_stack]);
    /* Sub-meshes are newer than their roots: whatever the counts, a mesh is freed before its root. */
    while (state->newest) {
        state->newest->n_refs = 1;
        dt_mesh_release(state->newest);
    }
    dt__freed_free(&state->freed, ctx, sizeof(dt_mesh));
    dt__map_free(&state->groups);
    dt__free(ctx, state->stack, state->capacity * sizeof *state->stack);
    dt__free(ctx, state, sizeof *state);
}

dt_status dt__mesh_register(dt_mesh *mesh) {
    dt_ctx *ctx = mesh->ctx;
    if (!dt__mesh_state_of(ctx)) {
        dt__mesh_state *state = dt__alloc_zeroed(ctx, sizeof *state);
        if (!state)
            return dt__fail_memory(ctx, sizeof *state, "the context's meshes");
        state->groups = dt__map_new(ctx);
        ctx->slots[DT__SLOT_MESH].state = state;
        ctx->slots[DT__SLOT_MESH].free_state = free_state;
    }
    dt__mesh_state *state = dt__mesh_state_of(ctx);
    mesh->older = state->newest;
    if (mesh->older)
        mesh->older->newer = mesh;
    state->newest = mesh;
    return DT_OK;
}

void dt__mesh_unregister(dt_mesh *mesh) {
    if (mesh->older)
        mesh->older->newer = mesh->newer;
    if (mesh->newer)
        mesh->newer->older = mesh->older;
    else
        dt__mesh_state_of(mesh->ctx)->newest = mesh->older;
}

dt_status dt_mesh_scope_begin_site(dt_mesh *mesh, const dt_site *site) {
    DT__ENTER_MESH(mesh, "mesh_scope_begin", site);
    if (!mesh)
        return DT_ERR_VALUE;
    dt__mesh_state *state = dt__mesh_state_of(mesh->ctx);
    if (state->n_stack == state->capacity) {
        size_t capacity = state->capacity ? state->capacity * 2 : 8;
        dt_mesh **stack =
            dt__resize(mesh->ctx, state->stack, state->capacity * sizeof *stack, capacity * sizeof *stack);
        if (!stack)
            return dt__fail_memory(mesh->ctx, capacity * sizeof *stack, "the stack of current meshes");
        state->stack = stack;
        state->capacity = capacity;
    }
    state->stack[state->n_stack++] = dt_mesh_retain(mesh);
    return DT_OK;
}

dt_status dt_mesh_scope_end_site(dt_ctx *ctx, const dt_site *site) {
    DT__ENTER(ctx, "mesh_scope_end", site);
    dt__mesh_state *state = ctx ? dt__mesh_state_of(ctx) : NULL;
    if (!state || state->n_stack == 0)
        return dt__fail(ctx, DT_ERR_STATE, "no scope is open");
    dt_mesh_release(state->stack[--state->n_stack]);
    return DT_OK;
}

dt_mesh *dt_mesh_current(dt_ctx *ctx) {
    dt__mesh_state *state = ctx ? dt__mesh_state_of(ctx) : NULL;
    return state && state->n_stack ? state->stack[state->n_stack - 1] : NULL;
}
