/* SPDX-License-Identifier: Apache-2.0
 *
 * Slices: meshes of some of a mesh's dims. The slice around this rank may also name meshes that were flattened from
 * the root; the numbered slices are those of the mesh's own dims.
 */
#include "base/size.h"
#include "mesh/mesh_internal.h"

#include <string.h>

/* Whether the mesh equals its root. */
static bool equals_root(const dt_mesh *mesh) { return mesh == mesh->root || dt_mesh_equal(mesh, mesh->root); }

/* "mesh(dp=2,tp=4): tp,dp: PROBLEM; it has dp, tp, dp_tp" */
static dt_status fail_names(const dt_mesh *mesh, dt__names names, const char *problem) {
    dt__text text = dt__text_new(mesh->ctx);
    dt__names_print(&text, names);
    dt__text_add(&text, ": %s; it has ", problem);
    for (int i = 0; i < mesh->n_dims; i++)
        dt__text_add(&text, "%s%s", i ? ", " : "", mesh->dims[i].name);
    for (const dt__flattened *at = equals_root(mesh) ? mesh->root->flattened : NULL; at; at = at->older)
        dt__text_add(&text, ", %s", at->dim.name);
    dt_status status = dt__text_status(&text);
    if (status == DT_OK)
        status = dt__mesh_fail(mesh, "mesh_slice", "%s", dt__text_chars(&text));
    dt__text_free(&text);
    return status;
}

/* Smallest stride of a dim, and the extent of its largest mode. */
static int64_t min_stride(const dt__mesh_dim *dim) {
    int64_t min = INT64_MAX;
    for (int i = 0; i < dim->n_modes; i++)
        min = dt__min_i64(min, dim->modes[i].stride);
    return min;
}

static int64_t max_extent(const dt__mesh_dim *dim) {
    int64_t max = 0;
    for (int i = 0; i < dim->n_modes; i++)
        max = dt__max_i64(max, dim->modes[i].size * dim->modes[i].stride);
    return max;
}

/* Whether all strides of each dim are above those of the next, so that ranks ascend in the root's list; dims of size 1
 * have none. */
static bool in_order(const dt__mesh_draft *draft) {
    int64_t floor = INT64_MAX;
    for (int i = 0; i < draft->n_dims; i++) {
        if (max_extent(&draft->dims[i]) > floor)
            return false;
        floor = dt__min_i64(floor, min_stride(&draft->dims[i]));
    }
    return true;
}

static dt_status select_dims(dt_mesh *mesh, dt__names names, dt__mesh_draft *draft) {
    bool root_names = equals_root(mesh);
    draft->n_dims = 0;
    for (int i = 0; i < names.n; i++) {
        int dim = dt_mesh_dim(mesh, names.items[i]);
        const dt__flattened *flattened = NULL;
        if (dim < 0 && root_names)
            flattened = dt__mesh_find_flattened(mesh->root, names.items[i]);
        if (dim < 0 && !flattened)
            return fail_names(mesh, names, "no such dim");
        draft->dims[draft->n_dims++] = dim < 0 ? flattened->dim : mesh->dims[dim];
    }
    if (!in_order(draft) || !dt__draft_tiles(draft, mesh->root))
        return fail_names(mesh, names, "the dims overlap or are not in the order of the mesh");
    return DT_OK;
}

static dt_status check_names(dt_mesh *mesh, dt__names names) {
    DT__TRY(dt__mesh_require_names(mesh, "mesh_slice"));
    if (names.n < 1 || names.n > DT_MESH_MAX_DIMS)
        return dt__fail(mesh->ctx, DT_ERR_MESH, "wrong number of names: expected 1 to %d, got %d", DT_MESH_MAX_DIMS,
                        names.n);
    return dt__names_check(mesh->ctx, "mesh_slice", names);
}

static bool names_all_dims(const dt_mesh *mesh, dt__names names) {
    bool same = names.n == mesh->n_dims;
    for (int i = 0; same && i < names.n; i++)
        same = !strcmp(mesh->dims[i].name, names.items[i]);
    return same;
}

dt_mesh *dt__mesh_slice(dt_mesh *mesh, dt__names names) {
    dt__mesh_draft draft;
    if (!mesh || check_names(mesh, names) != DT_OK)
        return NULL;
    if (names_all_dims(mesh, names))
        return dt_mesh_retain(mesh);
    if (select_dims(mesh, names, &draft) != DT_OK)
        return NULL;
    return dt__mesh_build_containing_self(mesh, "mesh_slice", &draft);
}

/* The dims that are sliced, and those that number the slices. */
static dt_status split_dims(dt_mesh *mesh, dt__names names, dt__mesh_draft *sliced, dt__mesh_draft *others) {
    DT__TRY(check_names(mesh, names));
    sliced->n_dims = others->n_dims = 0;
    int last = -1;
    for (int i = 0; i < names.n; i++) {
        int dim = dt_mesh_dim(mesh, names.items[i]);
        if (dim <= last)
            return fail_names(mesh, names, dim < 0 ? "no such dim" : "the dims are not in the order of the mesh");
        last = dim;
        sliced->dims[sliced->n_dims++] = mesh->dims[dim];
    }
    for (int i = 0; i < mesh->n_dims; i++)
        if (dt__names_find(names, mesh->dims[i].name) < 0)
            others->dims[others->n_dims++] = mesh->dims[i];
    return DT_OK;
}

static int64_t n_slices(dt_mesh *mesh, dt__names names) {
    dt__mesh_draft sliced, others;
    if (split_dims(mesh, names, &sliced, &others) != DT_OK)
        return 0;
    return dt__dims_size(others.dims, others.n_dims);
}

static dt_mesh *slice_at(dt_mesh *mesh, dt__names names, int64_t index) {
    dt__mesh_draft sliced, others;
    if (split_dims(mesh, names, &sliced, &others) != DT_OK)
        return NULL;
    int64_t rest = index, distance = index < 0 ? 0 : dt__dims_at(others.dims, others.n_dims, &rest);
    if (rest != 0) {
        dt__fail(mesh->ctx, DT_ERR_MESH, "no slice has index %lld", (long long)index);
        return NULL;
    }
    return dt__mesh_build_sub(mesh->root, &sliced, mesh->offset + distance);
}

/* The names of a text, for as long as the arena lives; no names after an error. */
static dt__names split(dt__arena *arena, const dt_mesh *mesh, const char *names) {
    dt__names list = {NULL, 0};
    if (names)
        dt__names_split(arena, names, &list);
    else
        dt__fail(mesh->ctx, DT_ERR_MESH, "the names are NULL");
    return list;
}

dt_mesh *dt_mesh_slice_site(dt_mesh *mesh, const char *names, const dt_site *site) {
    DT__ENTER_MESH(mesh, "mesh_slice", site);
    if (DT__REFUSAL() != DT_OK || !mesh)
        return NULL;
    dt__arena arena = dt__arena_new(mesh->ctx);
    dt__names list = split(&arena, mesh, names);
    dt_mesh *result = list.items ? dt__mesh_slice(mesh, list) : NULL;
    dt__arena_free(&arena);
    return result;
}

int64_t dt_mesh_n_slices_site(dt_mesh *mesh, const char *names, const dt_site *site) {
    DT__ENTER_MESH(mesh, "mesh_n_slices", site);
    if (!mesh)
        return 0;
    dt__arena arena = dt__arena_new(mesh->ctx);
    dt__names list = split(&arena, mesh, names);
    int64_t n = list.items ? n_slices(mesh, list) : 0;
    dt__arena_free(&arena);
    return n;
}

dt_mesh *dt_mesh_slice_at_site(dt_mesh *mesh, const char *names, int64_t index, const dt_site *site) {
    DT__ENTER_MESH(mesh, "mesh_slice_at", site);
    if (DT__REFUSAL() != DT_OK || !mesh)
        return NULL;
    dt__arena arena = dt__arena_new(mesh->ctx);
    dt__names list = split(&arena, mesh, names);
    dt_mesh *result = list.items ? slice_at(mesh, list, index) : NULL;
    dt__arena_free(&arena);
    return result;
}
