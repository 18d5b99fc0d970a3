/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of mesh dims, of a mesh or of a draft: number of coordinates, their positions in the root's list, lookup by
 * name, and copies that own what they point to. For drafts of sub-meshes: whether the dims fit together and where the
 * sub-mesh that contains this rank starts.
 */
#include "mesh/mesh_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int64_t dt__dims_size(const dt__mesh_dim *dims, int n) {
    int64_t size = 1;
    for (int i = 0; i < n; i++)
        size *= dims[i].size;
    return size;
}

int64_t dt__dims_at(const dt__mesh_dim *dims, int n, int64_t *index) {
    int64_t distance = 0;
    for (int i = n - 1; i >= 0; i--) {
        distance += dt__modes_at(dims[i].modes, dims[i].n_modes, *index % dims[i].size);
        *index /= dims[i].size;
    }
    return distance;
}

int dt__dims_find(const dt__mesh_dim *dims, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (dims[i].name && !strcmp(dims[i].name, name))
            return i;
    return -1;
}

dt_status dt__dim_copy(dt__arena *arena, const dt__mesh_dim *dim, dt__mesh_dim *out) {
    dt__mesh_dim copy = *dim;
    copy.modes = dt__arena_copy(arena, dim->modes, (size_t)dim->n_modes, sizeof *dim->modes);
    copy.name = dim->name ? dt__arena_copy_text(arena, dim->name) : NULL;
    if (!copy.modes || !copy.name != !dim->name)
        return DT_ERR_MEMORY;
    *out = copy;
    return DT_OK;
}

dt_status dt__mesh_fail(const dt_mesh *mesh, const char *op, const char *format, ...) {
    char problem[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(problem, sizeof problem, format, args);
    va_end(args);
    dt__text text = dt__text_new(mesh->ctx);
    dt__mesh_print_dims(&text, mesh);
    dt_status status = dt__text_status(&text);
    if (status == DT_OK)
        status = dt__fail(mesh->ctx, DT_ERR_MESH, "%s: %s: %s", op, dt__text_chars(&text), problem);
    dt__text_free(&text);
    return status;
}

dt_status dt__mesh_require_names(const dt_mesh *mesh, const char *op) {
    return mesh->dims[0].name ? DT_OK : dt__mesh_fail(mesh, op, "the dims have no names");
}

dt_status dt__mesh_find_dim(const dt_mesh *mesh, const char *op, const char *name, int *out) {
    DT__TRY(dt__mesh_require_names(mesh, op));
    int dim = dt_mesh_dim(mesh, name);
    if (dim < 0)
        return dt__mesh_fail(mesh, op, "no dim is named '%s'", name);
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

dt_mesh *dt__mesh_build_containing_self(dt_mesh *mesh, const char *op, const dt__mesh_draft *draft) {
    dt__mode modes[DT__DRAFT_MODES];
    int64_t n = dt__draft_modes(draft, modes), size = 1, offset = mesh->position;
    for (int64_t i = 0; i < n; i++) {
        size *= modes[i].size;
        offset -= mesh->position / modes[i].stride % modes[i].size * modes[i].stride;
    }
    if (!mesh->coordinate && size != mesh->size) {
        dt__mesh_fail(mesh, op, "this rank is not in the mesh");
        return NULL;
    }
    return dt__mesh_build_sub(mesh->root, draft, mesh->coordinate ? offset : mesh->offset);
}
