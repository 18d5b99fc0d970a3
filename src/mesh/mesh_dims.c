/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of mesh dims, of a mesh or of a draft: how many coordinates they have, where each lies in the root's list,
 * which of them has a name; and copies that own what they point to.
 */
#include "mesh/mesh_internal.h"

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
