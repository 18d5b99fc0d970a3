/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates and frees meshes. A mesh owns one arena for all that it points to; a sub-mesh borrows its root's list of
 * ranks and holds a reference to the root, so the list outlives it.
 */
#include "mesh/mesh_internal.h"

#include "base/hash.h"
#include "mesh/rank_list.h"

#include <string.h>

static dt_mesh *new_mesh(dt_ctx *ctx, dt__mesh_self self) {
    dt_mesh *mesh = dt__alloc_zeroed(ctx, sizeof *mesh);
    if (!mesh) {
        dt__fail_memory(ctx, sizeof *mesh, "a mesh");
        return NULL;
    }
    dt__life_begin(&mesh->life, ctx);
    mesh->ctx = ctx;
    mesh->n_refs = 1;
    mesh->self = self;
    mesh->arena = dt__arena_new(ctx);
    if (dt__mesh_register(mesh) != DT_OK) {
        dt__free(ctx, mesh, sizeof *mesh);
        return NULL;
    }
    return mesh;
}

dt_mesh *dt_mesh_retain(dt_mesh *mesh) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    if (mesh)
        mesh->n_refs++;
    return mesh;
}

void dt_mesh_release_site(dt_mesh *mesh, const dt_site *site) {
    DT__ENTER(dt_mesh_ctx(mesh), "mesh_release", site);
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    while (mesh && --mesh->n_refs == 0) {
        dt_mesh *root = mesh->root != mesh ? mesh->root : NULL;
        dt__mesh_state *state = dt__mesh_state_of(mesh->ctx);
        dt__mesh_drop_groups(mesh);
        dt__mesh_unregister(mesh);
        dt__free(mesh->ctx, mesh->text, mesh->text ? strlen(mesh->text) + 1 : 0);
        dt__arena_free(&mesh->arena);
        DT__LIFE_END(&state->freed, mesh);
        dt__freed_trim(&state->freed, mesh->ctx, sizeof *mesh);
        mesh = root;
    }
}

static dt_status copy_dims(dt_mesh *mesh, const dt__mesh_draft *draft) {
    mesh->dims = DT__NEW_ARRAY(&mesh->arena, dt__mesh_dim, draft->n_dims);
    if (!mesh->dims)
        return DT_ERR_MEMORY;
    for (int i = 0; i < draft->n_dims; i++)
        DT__TRY(dt__dim_copy(&mesh->arena, &draft->dims[i], &mesh->dims[i]));
    mesh->n_dims = draft->n_dims;
    return DT_OK;
}

static uint64_t hash_word(const char *word, uint64_t seed) {
    return word ? dt__hash(word, strlen(word), seed) : dt__hash_u64(0, seed);
}

static uint64_t fingerprint(const dt_mesh *mesh) {
    uint64_t hash = hash_word(mesh->device, mesh->ranks->hash);
    hash = dt__hash_u64((uint64_t)mesh->offset, dt__hash_u64((uint64_t)mesh->n_dims, hash));
    for (int i = 0; i < mesh->n_dims; i++) {
        const dt__mesh_dim *dim = &mesh->dims[i];
        hash = dt__hash(dim->modes, (size_t)dim->n_modes * sizeof *dim->modes, hash_word(dim->name, hash));
    }
    return hash;
}

bool dt__mesh_position_to_coordinate(const dt_mesh *mesh, int64_t position, int64_t *out) {
    int64_t rest = position;
    for (int i = 0; i < mesh->n_dims; i++) {
        const dt__mesh_dim *dim = &mesh->dims[i];
        int64_t at = 0;
        for (int m = 0; m < dim->n_modes; m++) {
            int64_t digit = position / dim->modes[m].stride % dim->modes[m].size;
            at = at * dim->modes[m].size + digit;
            rest -= digit * dim->modes[m].stride;
        }
        if (out)
            out[i] = at;
    }
    return rest == mesh->offset;
}

static dt_status fill_mesh(dt_mesh *mesh, const dt__mesh_draft *draft) {
    DT__TRY(copy_dims(mesh, draft));
    mesh->size = dt__dims_size(mesh->dims, mesh->n_dims);
    if (mesh->position >= 0 && dt__mesh_position_to_coordinate(mesh, mesh->position, NULL)) {
        mesh->coordinate = DT__NEW_ARRAY(&mesh->arena, int64_t, mesh->n_dims);
        if (!mesh->coordinate)
            return DT_ERR_MEMORY;
        dt__mesh_position_to_coordinate(mesh, mesh->position, mesh->coordinate);
    }
    mesh->fingerprint = fingerprint(mesh);
    return DT_OK;
}

/* Row-major modes, one for each dim that is not trivial, for dims whose product fits. */
static void compact_modes(dt__mesh_draft *draft, dt__mode *modes) {
    int64_t stride = 1;
    for (int i = draft->n_dims - 1; i >= 0; i--) {
        dt__mesh_dim *dim = &draft->dims[i];
        modes[i] = (dt__mode){dim->size, stride};
        dim->modes = &modes[i];
        dim->n_modes = dim->size > 1;
        stride *= dim->size;
    }
}

static dt_status fill_root(dt_mesh *mesh, dt__mesh_draft *draft, const int64_t *ranks, const char *device) {
    int64_t n = dt__dims_size(draft->dims, draft->n_dims);
    dt__rank_list *list = DT__NEW(&mesh->arena, dt__rank_list);
    if (!list)
        return DT_ERR_MEMORY;
    *list = dt__rank_list_range(n);
    if (ranks)
        DT__TRY(dt__rank_list_of(&mesh->arena, ranks, n, mesh->self.world, list));
    mesh->root = mesh;
    mesh->ranks = list;
    mesh->position = dt__rank_list_find(list, mesh->self.rank);
    mesh->device = dt__arena_copy_text(&mesh->arena, device);
    if (!mesh->device)
        return DT_ERR_MEMORY;
    dt__mode modes[DT_MESH_MAX_DIMS];
    compact_modes(draft, modes);
    return fill_mesh(mesh, draft);
}

dt_mesh *dt__mesh_build_root(dt_ctx *ctx, dt__mesh_self self, dt__mesh_draft *draft, const int64_t *ranks,
                             const char *device) {
    dt_mesh *mesh = new_mesh(ctx, self);
    if (mesh && fill_root(mesh, draft, ranks, device) != DT_OK) {
        dt_mesh_release(mesh);
        return NULL;
    }
    if (mesh && ctx->log_level >= DT_LOG_INFO)
        dt__log(ctx, DT_LOG_INFO, "new mesh(%s)", dt_mesh_text(mesh));
    return mesh;
}

dt_mesh *dt__mesh_build_sub(dt_mesh *root, const dt__mesh_draft *draft, int64_t offset) {
    dt_mesh *mesh = new_mesh(root->ctx, root->self);
    if (!mesh)
        return NULL;
    mesh->root = dt_mesh_retain(root);
    mesh->ranks = root->ranks;
    mesh->position = root->position;
    mesh->device = root->device;
    mesh->offset = offset;
    if (fill_mesh(mesh, draft) != DT_OK) {
        dt_mesh_release(mesh);
        return NULL;
    }
    if (root->ctx->log_level >= DT_LOG_DEBUG)
        dt__log(root->ctx, DT_LOG_DEBUG, "new mesh(%s) of mesh(%s)", dt_mesh_text(mesh), dt_mesh_text(root));
    return mesh;
}
