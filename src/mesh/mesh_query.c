/* SPDX-License-Identifier: Apache-2.0
 *
 * Read access to a mesh: sizes, names, coordinates and ranks. Only functions that fill a list of ranks take time
 * proportional to the number of ranks.
 */
#include "mesh/mesh_internal.h"
#include "mesh/rank_list.h"

#include <string.h>

dt_ctx *dt_mesh_ctx(const dt_mesh *mesh) { return mesh ? mesh->ctx : NULL; }
int dt_mesh_n_dims(const dt_mesh *mesh) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    return mesh ? mesh->n_dims : 0;
}

int64_t dt_mesh_size(const dt_mesh *mesh) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    return mesh ? mesh->size : 0;
}

const char *dt_mesh_device(const dt_mesh *mesh) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    return mesh ? mesh->device : NULL;
}

uint64_t dt_mesh_fingerprint(const dt_mesh *mesh) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    return mesh ? mesh->fingerprint : 0;
}

static const dt__mesh_dim *dim_at(const dt_mesh *mesh, int dim) {
    return mesh && dim >= 0 && dim < mesh->n_dims ? &mesh->dims[dim] : NULL;
}

int64_t dt_mesh_dim_size(const dt_mesh *mesh, int dim) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    const dt__mesh_dim *found = dim_at(mesh, dim);
    return found ? found->size : 0;
}

const char *dt_mesh_dim_name(const dt_mesh *mesh, int dim) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    const dt__mesh_dim *found = dim_at(mesh, dim);
    return found ? found->name : NULL;
}

int dt_mesh_dim(const dt_mesh *mesh, const char *name) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    return mesh && name ? dt__dims_find(mesh->dims, mesh->n_dims, name) : -1;
}

bool dt_mesh_coordinate(const dt_mesh *mesh, int64_t *out) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    if (!mesh || !mesh->coordinate)
        return false;
    memcpy(out, mesh->coordinate, (size_t)mesh->n_dims * sizeof *out);
    return true;
}

bool dt_mesh_coordinate_of(const dt_mesh *mesh, int64_t rank, int64_t *out) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    int64_t position = mesh ? dt__rank_list_find(mesh->ranks, rank) : -1;
    return position >= 0 && dt__mesh_position_to_coordinate(mesh, position, NULL) &&
           dt__mesh_position_to_coordinate(mesh, position, out);
}

/* Distance of coordinate i along a dim from coordinate 0, in the root's list. */
static int64_t distance(const dt__mesh_dim *dim, int64_t i) { return dt__modes_at(dim->modes, dim->n_modes, i); }

int64_t dt_mesh_rank_at(const dt_mesh *mesh, const int64_t *coordinate) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    if (!mesh)
        return -1;
    int64_t position = mesh->offset;
    for (int i = 0; i < mesh->n_dims; i++) {
        if (coordinate[i] < 0 || coordinate[i] >= mesh->dims[i].size)
            return -1;
        position += distance(&mesh->dims[i], coordinate[i]);
    }
    return dt__rank_list_at(mesh->ranks, position);
}

dt_status dt__mesh_resolve_dim(const dt_mesh *mesh, const char *op, int *dim) {
    if (*dim == DT_MESH_ONLY_DIM && mesh->n_dims == 1)
        *dim = 0;
    if (!dim_at(mesh, *dim))
        return dt__fail(mesh->ctx, DT_ERR_MESH, "%s: wrong mesh dim: expected 0 to %d, got %d", op, mesh->n_dims - 1,
                        *dim);
    return DT_OK;
}

int64_t dt_mesh_local_rank_site(const dt_mesh *mesh, int dim, const dt_site *site) {
    DT__ENTER_MESH(mesh, "mesh_local_rank", site);
    if (!mesh || dt__mesh_resolve_dim(mesh, "mesh_local_rank", &dim) != DT_OK)
        return -1;
    return mesh->coordinate ? mesh->coordinate[dim] : -1;
}

void dt_mesh_ranks(const dt_mesh *mesh, int64_t *out) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    int64_t n = 1; /* out[0 … n-1] holds positions along the dims so far, from the last one on */
    if (!mesh)
        return;
    out[0] = mesh->offset;
    for (int d = mesh->n_dims - 1; d >= 0; d--) {
        const dt__mesh_dim *dim = &mesh->dims[d];
        for (int64_t i = 1; i < dim->size; i++) {
            int64_t step = distance(dim, i);
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] = out[j] + step;
        }
        n *= dim->size;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = dt__rank_list_at(mesh->ranks, out[i]);
}

bool dt__mesh_line_of(const dt_mesh *mesh, int dim, dt__mesh_line *out) {
    const dt__mesh_dim *found = dim_at(mesh, dim);
    if (!found || !mesh->coordinate)
        return false;
    *out = (dt__mesh_line){.size = found->size,
                           .first = mesh->position - distance(found, mesh->coordinate[dim]),
                           .modes = found->modes,
                           .n_modes = found->n_modes};
    return true;
}

static int64_t member(const dt_mesh *mesh, const dt__mesh_line *line, int64_t i) {
    return dt__rank_list_at(mesh->ranks, line->first + dt__modes_at(line->modes, line->n_modes, i));
}

int64_t dt_mesh_group_rank(const dt_mesh *mesh, int dim, int64_t i) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    dt__mesh_line line;
    return dt__mesh_line_of(mesh, dim, &line) && i >= 0 && i < line.size ? member(mesh, &line, i) : -1;
}

bool dt_mesh_group_ranks(const dt_mesh *mesh, int dim, int64_t *out) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    dt__mesh_line line;
    if (!dt__mesh_line_of(mesh, dim, &line))
        return false;
    for (int64_t i = 0; i < line.size; i++)
        out[i] = member(mesh, &line, i);
    return true;
}

bool dt_mesh_equal(const dt_mesh *a, const dt_mesh *b) {
    if ((a && !DT__LIVE_ARGUMENT(DT__KIND_MESH, a, 1)) || (b && !DT__LIVE_ARGUMENT(DT__KIND_MESH, b, 2)))
        return false;
    if (a == b || !a || !b)
        return a == b;
    if (a->fingerprint != b->fingerprint || a->n_dims != b->n_dims || a->offset != b->offset ||
        strcmp(a->device, b->device) || !dt__rank_list_equal(a->ranks, b->ranks))
        return false;
    for (int i = 0; i < a->n_dims; i++) {
        const dt__mesh_dim *left = &a->dims[i], *right = &b->dims[i];
        if (!dt__modes_equal(left->modes, left->n_modes, right->modes, right->n_modes) ||
            !left->name != !right->name || (left->name && strcmp(left->name, right->name)))
            return false;
    }
    return true;
}
