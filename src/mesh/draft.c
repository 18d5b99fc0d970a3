/* SPDX-License-Identifier: Apache-2.0
 *
 * Drafts of sub-meshes: whether a choice of dims is a mesh of the root's ranks, where the one around this rank
 * starts, and the messages that the steps have in common.
 */
#include "mesh/mesh_internal.h"

#include <stdio.h>

dt_status dt__mesh_fail(const dt_mesh *mesh, const char *op, const char *format, ...) {
    char what[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    dt__text text = dt__text_new(mesh->ctx);
    dt__mesh_print_dims(&text, mesh);
    dt_status status = dt__text_status(&text);
    if (status == DT_OK)
        status = dt__fail(mesh->ctx, DT_ERR_MESH, "%s on %s: %s", op, dt__text_chars(&text), what);
    dt__text_free(&text);
    return status;
}

dt_status dt__mesh_need_names(const dt_mesh *mesh, const char *op) {
    return mesh->dims[0].name ? DT_OK : dt__mesh_fail(mesh, op, "the mesh has no dim names");
}

dt_status dt__mesh_find_dim(const dt_mesh *mesh, const char *op, const char *name, int *out) {
    DT__TRY(dt__mesh_need_names(mesh, op));
    int dim = dt_mesh_dim(mesh, name);
    if (dim < 0)
        return dt__mesh_fail(mesh, op, "there is no dim '%s'", name);
    *out = dim;
    return DT_OK;
}

int64_t dt__draft_modes(const dt__mesh_draft *draft, dt__mode *out) {
    int64_t n = 0;
    for (int i = 0; i < draft->n_dims; i++)
        for (int m = 0; m < draft->dims[i].n_modes; m++)
            out[n++] = draft->dims[i].modes[m];
    return n;
}

bool dt__draft_tiles(const dt__mesh_draft *draft, const dt_mesh *root) {
    dt__mode modes[DT__DRAFT_MODES];
    return dt__modes_tile(modes, dt__draft_modes(draft, modes), root->ranks->n);
}

dt_status dt__draft_check_names(dt_ctx *ctx, const char *op, const dt__mesh_draft *draft) {
    const char *names[DT_MESH_MAX_DIMS];
    for (int i = 0; i < draft->n_dims; i++)
        names[i] = draft->dims[i].name;
    return dt__names_check(ctx, op, (dt__names){names, draft->n_dims});
}

dt_mesh *dt__mesh_build_around_self(dt_mesh *mesh, const char *op, const dt__mesh_draft *draft) {
    dt__mode modes[DT__DRAFT_MODES];
    int64_t n = dt__draft_modes(draft, modes), size = 1, offset = mesh->position;
    for (int64_t i = 0; i < n; i++) {
        size *= modes[i].size;
        offset -= mesh->position / modes[i].stride % modes[i].size * modes[i].stride;
    }
    if (!mesh->coordinate && size != mesh->size) {
        dt__mesh_fail(mesh, op, "this rank is not in the mesh, so that no part of it is its own");
        return NULL;
    }
    return dt__mesh_build_sub(mesh->root, draft, mesh->coordinate ? offset : mesh->offset);
}
