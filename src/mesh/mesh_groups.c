/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of the runtime for mesh dims, created on first use. Sub-meshes of equal roots with the same ranks in the same
 * order share one group, which is freed with the last mesh that uses it. A group carries the root's fingerprint, which
 * members compare in every collective: ranks that made different meshes get an error in the first one.
 */
#include "comm/comm.h"
#include "mesh/mesh_internal.h"
#include "mesh/rank_list.h"

typedef struct dt__mesh_group {
    dt_group *group;
    uint64_t hash; /* of its ranks in order and of the root mesh */
    int64_t n_meshes;
} dt__mesh_group;

/* Lookup key of a group. */
struct ranks {
    int64_t *items, n;
    uint64_t root; /* fingerprint of the root mesh */
};

static bool has_ranks(const void *value, const void *probe) {
    const dt__mesh_group *shared = value;
    const struct ranks *ranks = probe;
    bool same = dt_group_size(shared->group) == ranks->n && dt__group_origin(shared->group) == ranks->root;
    for (int64_t i = 0; same && i < ranks->n; i++)
        same = dt_group_world_rank(shared->group, i) == ranks->items[i];
    return same;
}

static dt__mesh_group *find_or_make(dt_ctx *ctx, dt__map *groups, const struct ranks *ranks) {
    uint64_t hash = dt__hash(ranks->items, (size_t)ranks->n * sizeof *ranks->items, ranks->root);
    dt__mesh_group *shared = dt__map_get(groups, hash, has_ranks, ranks);
    if (shared) {
        shared->n_meshes++;
        return shared;
    }
    dt_group *group = dt__group_new_for(ctx, ranks->items, ranks->n, ranks->root);
    if (!group)
        return NULL;
    shared = dt__alloc(ctx, sizeof *shared);
    if (!shared) {
        dt__fail_memory(ctx, sizeof *shared, "a group of a mesh");
        goto free_group;
    }
    *shared = (dt__mesh_group){group, hash, 1};
    if (!dt__map_add(groups, hash, shared))
        goto free_shared;
    return shared;

free_shared:
    dt__free(ctx, shared, sizeof *shared);
free_group:
    dt_group_release(group);
    return NULL;
}

void dt__mesh_drop_groups(dt_mesh *mesh) {
    dt__map *groups = &dt__mesh_state_of(mesh->ctx)->groups;
    for (int i = 0; mesh->groups && i < mesh->n_dims; i++) {
        dt__mesh_group *shared = mesh->groups[i];
        if (!shared || --shared->n_meshes > 0)
            continue;
        dt__map_remove(groups, shared->hash, shared);
        dt_group_release(shared->group);
        dt__free(mesh->ctx, shared, sizeof *shared);
    }
}

static dt_status check_runtime(const dt_mesh *mesh) {
    if (!dt__transport_name(mesh->ctx))
        return dt__fail(mesh->ctx, DT_ERR_STATE, "the context has no transport");
    if (mesh->self.world != mesh->ctx->world || mesh->self.rank != mesh->ctx->rank)
        return dt__fail(mesh->ctx, DT_ERR_STATE, "the mesh was made for rank %lld of %lld, this is rank %lld of %lld",
                        (long long)mesh->self.rank, (long long)mesh->self.world, (long long)mesh->ctx->rank,
                        (long long)mesh->ctx->world);
    return DT_OK;
}

static dt_status make_group(dt_mesh *mesh, int dim) {
    dt_ctx *ctx = mesh->ctx;
    DT__TRY(check_runtime(mesh));
    if (!mesh->groups)
        mesh->groups = DT__NEW_ARRAY(&mesh->arena, dt__mesh_group *, mesh->n_dims);
    if (!mesh->groups)
        return DT_ERR_MEMORY;
    struct ranks ranks = {.n = mesh->dims[dim].size, .root = mesh->root->fingerprint};
    size_t bytes = (size_t)ranks.n * sizeof *ranks.items;
    ranks.items = dt__alloc(ctx, bytes);
    if (!ranks.items)
        return dt__fail_memory(ctx, bytes, "the ranks of a group");
    dt_mesh_group_ranks(mesh, dim, ranks.items);
    mesh->groups[dim] = find_or_make(ctx, &dt__mesh_state_of(ctx)->groups, &ranks);
    dt__free(ctx, ranks.items, bytes);
    return mesh->groups[dim] ? DT_OK : DT_ERR_MEMORY;
}

dt_group *dt_mesh_group_site(dt_mesh *mesh, int dim, const dt_site *site) {
    DT__ENTER_MESH(mesh, "mesh_group", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    if (!mesh || dt__mesh_resolve_dim(mesh, "mesh_group", &dim) != DT_OK || !mesh->coordinate)
        return NULL;
    if ((!mesh->groups || !mesh->groups[dim]) && make_group(mesh, dim) != DT_OK)
        return NULL;
    return mesh->groups[dim]->group;
}
