/* SPDX-License-Identifier: Apache-2.0
 *
 * Placements by the names of mesh dims, "tp=S(0),dp=R", in the order of a mesh. A program names the dims that matter to
 * a tensor; the others stay as they are in a redistribution, and are Replicate where a tensor is made. A tensor that is
 * made on a pipeline's whole mesh must name the stage dim: leaving it out would replicate the tensor over all stages by
 * accident.
 */
#include "spec/placement_text.h"

#include "base/near_miss.h"

#include <string.h>

int dt__stage_dim(const dt_mesh *mesh) { return dt_mesh_dim(mesh, "pp"); }

static dt_status refuse_name(const dt__arena *arena, dt_mesh *mesh, const char *name) {
    dt__near_miss near = dt__near_miss_new(name);
    for (int m = 0; m < dt_mesh_n_dims(mesh); m++) {
        const char *other = dt_mesh_dim_name(mesh, m);
        if (other)
            dt__near_miss_add(&near, other, strlen(other));
    }
    return dt__fail(arena->ctx, DT_ERR_PLACEMENT, "placements: expected a dim of mesh(%s), got '%s'%s",
                    dt_mesh_text(mesh), name, dt__near_miss_hint(&near));
}

dt_status dt__placements_resolve_names(dt__arena *arena, const dt__placement_list *list, dt_mesh *mesh,
                                       const dt_placement *others, int *n, dt_placement **out) {
    *n = list->n;
    *out = list->placements;
    if (!list->names)
        return DT_OK;
    if (!mesh)
        return dt__fail(arena->ctx, DT_ERR_PLACEMENT,
                        "placements: expected a list without names, got '%s=': there is no mesh with names",
                        list->names[0]);
    const int n_mesh_dims = dt_mesh_n_dims(mesh);
    dt_placement *placements = DT__NEW_ARRAY(arena, dt_placement, n_mesh_dims);
    uint64_t named = 0;
    if (!placements)
        return DT_ERR_MEMORY;
    for (int m = 0; m < n_mesh_dims; m++)
        placements[m] = others ? others[m] : dt_placement_replicate();
    for (int i = 0; i < list->n; i++) {
        int m = dt_mesh_dim(mesh, list->names[i]);
        if (m < 0)
            return refuse_name(arena, mesh, list->names[i]);
        if (named >> m & 1)
            return dt__fail(arena->ctx, DT_ERR_PLACEMENT,
                            "placements: mesh dim '%s': expected one placement, got two", list->names[i]);
        named |= UINT64_C(1) << m;
        placements[m] = list->placements[i];
    }
    int stage = dt__stage_dim(mesh);
    if (!others && stage >= 0 && !(named >> stage & 1))
        return dt__fail(arena->ctx, DT_ERR_PLACEMENT,
                        "placements: expected a placement of the stage dim '%s' of mesh(%s), got none; a tensor of "
                        "one stage is on a slice of the mesh (dt_mesh_slice_at)",
                        dt_mesh_dim_name(mesh, stage), dt_mesh_text(mesh));
    *n = n_mesh_dims;
    *out = placements;
    return DT_OK;
}
