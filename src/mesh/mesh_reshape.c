/* SPDX-License-Identifier: Apache-2.0
 *
 * Other dims over the same ranks: flatten, unflatten, concatenate and the root. The root records the names of flattened
 * meshes, not the meshes, so that there are no reference cycles.
 */
#include "base/options.h"
#include "base/size.h"
#include "mesh/mesh_internal.h"
#include "mesh/rank_list.h"

#include <string.h>

const dt__flattened *dt__mesh_find_flattened(const dt_mesh *root, const char *name) {
    for (const dt__flattened *at = root->flattened; at; at = at->older)
        if (!strcmp(at->dim.name, name))
            return at;
    return NULL;
}

/* "dp_tp" in the arena. */
static char *joined_name(dt__arena *arena, const dt_mesh *mesh) {
    size_t n_chars = 0;
    for (int i = 0; i < mesh->n_dims; i++)
        n_chars += strlen(mesh->dims[i].name) + 1;
    char *name = dt__arena_alloc(arena, n_chars, 1), *at = name;
    for (int i = 0; name && i < mesh->n_dims; i++) {
        size_t n = strlen(mesh->dims[i].name);
        memcpy(at, mesh->dims[i].name, n);
        at[n] = i + 1 < mesh->n_dims ? '_' : 0;
        at += n + 1;
    }
    return name;
}

/* Records a flattened dim in the root's memory. */
static dt_status record_flattened(dt_mesh *root, const dt__mesh_dim *dim) {
    dt__flattened *record = DT__NEW(&root->arena, dt__flattened);
    if (!record)
        return DT_ERR_MEMORY;
    DT__TRY(dt__dim_copy(&root->arena, dim, &record->dim));
    record->older = root->flattened;
    root->flattened = record;
    return DT_OK;
}

/* The name must be unused, or name the same dims: then *known is their record. */
static dt_status check_flat_name(const dt_mesh *mesh, const dt__mesh_dim *dim, const dt__flattened **known) {
    DT__TRY(dt__names_check(mesh->ctx, "mesh_flatten", (dt__names){&dim->name, 1}));
    if (dt_mesh_dim(mesh->root, dim->name) >= 0)
        return dt__mesh_fail(mesh->root, "mesh_flatten", "the name '%s' is used by a dim", dim->name);
    *known = dt__mesh_find_flattened(mesh->root, dim->name);
    if (*known && !dt__modes_equal((*known)->dim.modes, (*known)->dim.n_modes, dim->modes, dim->n_modes))
        return dt__mesh_fail(mesh->root, "mesh_flatten", "the name '%s' is used by other flattened dims", dim->name);
    return DT_OK;
}

static dt_mesh *flatten_as(dt_mesh *mesh, const char *name) {
    dt__mode modes[DT__DRAFT_MODES];
    dt__mesh_draft dims = {.n_dims = mesh->n_dims}, flat = {.n_dims = 1};
    memcpy(dims.dims, mesh->dims, (size_t)mesh->n_dims * sizeof *mesh->dims);
    int n = (int)dt__modes_coalesce(modes, dt__draft_modes(&dims, modes));
    flat.dims[0] = (dt__mesh_dim){.name = name, .size = mesh->size, .modes = modes, .n_modes = n};
    const dt__flattened *known = NULL;
    if (check_flat_name(mesh, &flat.dims[0], &known) != DT_OK)
        return NULL;
    if (known)
        flat.dims[0] = known->dim;
    dt_mesh *result = dt__mesh_build_sub(mesh->root, &flat, mesh->offset);
    if (result && !known && record_flattened(mesh->root, &flat.dims[0]) != DT_OK) {
        dt_mesh_release(result);
        return NULL;
    }
    return result;
}

dt_mesh *dt_mesh_flatten_site(dt_mesh *mesh, const char *name, const dt_site *site) {
    DT__ENTER_MESH(mesh, "mesh_flatten", site);
    if (DT__REFUSAL() != DT_OK || !mesh || dt__mesh_require_names(mesh, "mesh_flatten") != DT_OK)
        return NULL;
    if (mesh->n_dims == 1 && (!name || !strcmp(name, mesh->dims[0].name)))
        return dt_mesh_retain(mesh);
    dt__arena arena = dt__arena_new(mesh->ctx);
    if (!name)
        name = joined_name(&arena, mesh);
    dt_mesh *result = name ? flatten_as(mesh, name) : NULL;
    dt__arena_free(&arena);
    return result;
}

static dt_status check_unflatten(const dt_mesh *mesh, int dim, const int64_t *sizes, int n_sizes, dt__names names,
                                 const dt_mesh_options *options) {
    DT__TRY(dt__mesh_require_names(mesh, "mesh_unflatten"));
    if (dim < 0 || dim >= mesh->n_dims)
        return dt__mesh_fail(mesh, "mesh_unflatten", "wrong dim: expected 0 to %d, got %d", mesh->n_dims - 1, dim);
    if (options && options->device)
        return dt__mesh_fail(mesh, "mesh_unflatten", "the device cannot be changed");
    if (n_sizes < 1 || mesh->n_dims - 1 + n_sizes > DT_MESH_MAX_DIMS)
        return dt__mesh_fail(mesh, "mesh_unflatten", "wrong number of sizes: expected 1 to %d, got %d",
                             DT_MESH_MAX_DIMS - mesh->n_dims + 1, n_sizes);
    if (names.n != n_sizes)
        return dt__mesh_fail(mesh, "mesh_unflatten", "wrong number of names: expected %d, got %d", n_sizes, names.n);
    int64_t product = 1;
    for (int i = 0; i < n_sizes; i++) {
        if (sizes[i] < 1)
            return dt__mesh_fail(mesh, "mesh_unflatten", "wrong size of new dim %d: expected at least 1, got %lld", i,
                                 (long long)sizes[i]);
        if (!dt__mul_i64(product, sizes[i], &product))
            return dt__mesh_fail(mesh, "mesh_unflatten", "the sizes multiply to more than 2^63 - 1");
    }
    if (product != mesh->dims[dim].size)
        return dt__mesh_fail(mesh, "mesh_unflatten",
                             "the sizes do not multiply to that of dim %d: expected %lld, got %lld", dim,
                             (long long)mesh->dims[dim].size, (long long)product);
    return DT_OK;
}

/* Splits the modes of a dim into the modes of new dims, the last first. */
static dt_status split_dim(const dt_mesh *mesh, const dt__mesh_dim *dim, const int64_t *sizes, int n_sizes,
                           dt__mesh_dim *out, dt__mode *modes) {
    int64_t step = 1;
    for (int i = n_sizes - 1; i >= 0; i--) {
        int64_t n;
        if (dt__modes_compose_one(dim->modes, dim->n_modes, (dt__mode){sizes[i], step}, NULL, modes, &n) !=
            DT__COMPOSE_OK)
            return dt__mesh_fail(mesh, "mesh_unflatten",
                                 "dim '%s' joins dims that cannot be split into a size of %lld", dim->name,
                                 (long long)sizes[i]);
        out[i].size = sizes[i];
        out[i].modes = modes;
        out[i].n_modes = (int)dt__modes_coalesce(modes, n);
        modes += n;
        step *= sizes[i];
    }
    return DT_OK;
}

dt_mesh *dt__mesh_unflatten(dt_mesh *mesh, int dim, const int64_t *sizes, int n_sizes, dt__names names,
                            const dt_mesh_options *options) {
    if (!mesh || check_unflatten(mesh, dim, sizes, n_sizes, names, options) != DT_OK)
        return NULL;
    dt__mode modes[DT__DRAFT_MODES];
    dt__mesh_draft draft = {.n_dims = mesh->n_dims - 1 + n_sizes};
    dt__mesh_dim *split = &draft.dims[dim];
    for (int i = 0; i < mesh->n_dims; i++)
        if (i != dim)
            draft.dims[i < dim ? i : i - 1 + n_sizes] = mesh->dims[i];
    for (int i = 0; i < n_sizes; i++)
        split[i] = (dt__mesh_dim){.name = names.items[i]};
    if (split_dim(mesh, &mesh->dims[dim], sizes, n_sizes, split, modes) != DT_OK ||
        dt__draft_check_names(mesh->ctx, "mesh_unflatten", &draft) != DT_OK)
        return NULL;
    return dt__mesh_build_sub(mesh->root, &draft, mesh->offset);
}

static dt_status join_dims(dt_mesh *const *meshes, int n_meshes, dt__mesh_draft *draft) {
    const dt_mesh *first = meshes[0];
    draft->n_dims = 0;
    for (int i = 0; i < n_meshes; i++) {
        const dt_mesh *mesh = meshes[i];
        DT__TRY(dt__mesh_require_names(mesh, "mesh_concatenate"));
        if (!dt__rank_list_equal(mesh->ranks, first->ranks))
            return dt__mesh_fail(mesh, "mesh_concatenate",
                                 "its root has other ranks than the root of the first mesh");
        if (!mesh->coordinate != !first->coordinate)
            return dt__mesh_fail(mesh, "mesh_concatenate", "this rank is in some of the meshes but not in all");
        if (draft->n_dims + mesh->n_dims > DT_MESH_MAX_DIMS)
            return dt__mesh_fail(mesh, "mesh_concatenate", "too many dims: expected at most %d, got %d",
                                 DT_MESH_MAX_DIMS, draft->n_dims + mesh->n_dims);
        memcpy(&draft->dims[draft->n_dims], mesh->dims, (size_t)mesh->n_dims * sizeof *mesh->dims);
        draft->n_dims += mesh->n_dims;
    }
    DT__TRY(dt__draft_check_names(first->ctx, "mesh_concatenate", draft));
    if (!dt__draft_tiles(draft, first->root))
        return dt__mesh_fail(meshes[n_meshes - 1], "mesh_concatenate", "it shares ranks with the dims before it");
    return DT_OK;
}

dt_mesh *dt_mesh_concatenate_site(dt_mesh *const *meshes, int n_meshes, const dt_site *site) {
    if (n_meshes < 1)
        return NULL;
    DT__ENTER(dt_mesh_ctx(meshes[0]), "mesh_concatenate", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    for (int i = 0; i < n_meshes; i++)
        if (!DT__LIVE_ARGUMENT(DT__KIND_MESH, meshes[i], i + 1))
            return NULL;
    dt__mesh_draft draft;
    if (join_dims(meshes, n_meshes, &draft) != DT_OK)
        return NULL;
    return dt__mesh_build_containing_self(meshes[0], "mesh_concatenate", &draft);
}

dt_mesh *dt_mesh_unflatten_sized(dt_mesh *mesh, int dim, const int64_t *sizes, int n_sizes,
                                 const dt_mesh_options *options, size_t options_size, const dt_site *site) {
    DT__ENTER_MESH(mesh, "mesh_unflatten", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    dt_mesh_options full;
    if (!mesh || !(options = DT__STRUCT(mesh->ctx, options, options_size, &full)))
        return NULL;
    dt__arena arena = dt__arena_new(mesh->ctx);
    dt__names names = {NULL, 0};
    dt_mesh *result = NULL;
    if (!options || !options->names || dt__names_split(&arena, options->names, &names) == DT_OK)
        result = dt__mesh_unflatten(mesh, dim, sizes, n_sizes, names, options);
    dt__arena_free(&arena);
    return result;
}

dt_mesh *dt_mesh_root(dt_mesh *mesh) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    return mesh ? dt_mesh_retain(mesh->root) : NULL;
}

int dt_mesh_root_dim(const dt_mesh *mesh) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    if (!mesh || mesh->root == mesh || mesh->n_dims != 1)
        return -1;
    const dt__mesh_dim *dim = &mesh->dims[0];
    int found = dt_mesh_dim(mesh->root, dim->name);
    const dt__mesh_dim *root_dim = found < 0 ? NULL : &mesh->root->dims[found];
    return root_dim && dt__modes_equal(root_dim->modes, root_dim->n_modes, dim->modes, dim->n_modes) ? found : -1;
}
