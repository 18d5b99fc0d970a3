/* SPDX-License-Identifier: Apache-2.0
 *
 * Root meshes from a shape, from ranks and from groups. Checks sizes, names, device and world size; mesh.c builds.
 */
#include "base/options.h"
#include "base/size.h"
#include "mesh/mesh_internal.h"

#include <ctype.h>

static dt_status check_self(dt_ctx *ctx, dt__mesh_self self) {
    if (self.world < 1 || self.rank < 0 || self.rank >= self.world)
        return dt__fail(ctx, DT_ERR_MESH, "rank %lld is not in a world of %lld ranks", (long long)self.rank,
                        (long long)self.world);
    return DT_OK;
}

/* The number of ranks of a shape. */
static dt_status count_ranks(dt_ctx *ctx, const int64_t *shape, int n_dims, int64_t *out) {
    if (n_dims < 1 || n_dims > DT_MESH_MAX_DIMS || !shape)
        return dt__fail(ctx, DT_ERR_MESH, "wrong number of dims: expected 1 to %d, got %d", DT_MESH_MAX_DIMS, n_dims);
    int64_t n = 1;
    for (int i = 0; i < n_dims; i++) {
        if (shape[i] < 1)
            return dt__fail(ctx, DT_ERR_MESH, "wrong size of dim %d: expected at least 1, got %lld", i,
                            (long long)shape[i]);
        if (!dt__mul_i64(n, shape[i], &n) || n > DT__MESH_MAX_RANKS)
            return dt__fail(ctx, DT_ERR_MESH, "the sizes multiply to more than %d ranks", DT__MESH_MAX_RANKS);
    }
    *out = n;
    return DT_OK;
}

static dt_status check_world(dt_ctx *ctx, dt__mesh_self self, int64_t n) {
    if (n > self.world)
        return dt__fail(ctx, DT_ERR_MESH,
                        "the world is too small: expected at least %lld ranks, got %lld; start the program "
                        "with dtrun -n %lld",
                        (long long)n, (long long)self.world, (long long)n);
    return DT_OK;
}

static dt_status check_device(dt_ctx *ctx, const char *device) {
    const char *at = device;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    if (*at || at == device)
        return dt__fail(ctx, DT_ERR_MESH, "wrong device type: expected a word without an index, got '%s'", device);
    return DT_OK;
}

static dt_status fill_draft(dt_ctx *ctx, const int64_t *shape, int n_dims, dt__names names, dt__mesh_draft *draft) {
    if (names.items && names.n != n_dims)
        return dt__fail(ctx, DT_ERR_MESH, "wrong number of names: expected %d, got %d", n_dims, names.n);
    DT__TRY(dt__names_check(ctx, "mesh_new", names));
    draft->n_dims = n_dims;
    for (int i = 0; i < n_dims; i++)
        draft->dims[i] = (dt__mesh_dim){.name = names.items ? names.items[i] : NULL, .size = shape[i]};
    return DT_OK;
}

/* ranks NULL: 0 … n-1. */
static dt_mesh *make_root(dt_ctx *ctx, dt__mesh_self self, const int64_t *ranks, const int64_t *shape, int n_dims,
                          dt__names names, const dt_mesh_options *options) {
    const char *device = options && options->device ? options->device : "cpu";
    int64_t n = 0;
    dt__mesh_draft draft;
    if (check_self(ctx, self) != DT_OK || count_ranks(ctx, shape, n_dims, &n) != DT_OK ||
        check_world(ctx, self, n) != DT_OK || check_device(ctx, device) != DT_OK ||
        fill_draft(ctx, shape, n_dims, names, &draft) != DT_OK)
        return NULL;
    return dt__mesh_build_root(ctx, self, &draft, ranks, device);
}

dt_mesh *dt__mesh_from_shape(dt_ctx *ctx, dt__mesh_self self, const int64_t *shape, int n_dims, dt__names names,
                             const dt_mesh_options *options) {
    return make_root(ctx, self, NULL, shape, n_dims, names, options);
}

static dt_status check_not_null(dt_ctx *ctx, const int64_t *ranks) {
    return ranks ? DT_OK : dt__fail(ctx, DT_ERR_MESH, "the list of ranks is NULL");
}

dt_mesh *dt__mesh_from_ranks(dt_ctx *ctx, dt__mesh_self self, const int64_t *ranks, const int64_t *shape, int n_dims,
                             dt__names names, const dt_mesh_options *options) {
    return check_not_null(ctx, ranks) == DT_OK ? make_root(ctx, self, ranks, shape, n_dims, names, options) : NULL;
}

static dt_mesh *make_in_context(dt_ctx *ctx, const int64_t *ranks, const int64_t *shape, int n_dims,
                                const dt_mesh_options *options) {
    dt__arena arena = dt__arena_new(ctx);
    dt__names names = {NULL, 0};
    dt_mesh *mesh = NULL;
    if (!options || !options->names || dt__names_split(&arena, options->names, &names) == DT_OK)
        mesh = make_root(ctx, (dt__mesh_self){dt_world(ctx), dt_rank(ctx)}, ranks, shape, n_dims, names, options);
    dt__arena_free(&arena);
    return mesh;
}

dt_mesh *dt_mesh_from_shape_sized(dt_ctx *ctx, const int64_t *shape, int n_dims, const dt_mesh_options *options,
                                  size_t options_size, const dt_site *site) {
    DT__ENTER(ctx, "mesh_from_shape", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    dt_mesh_options full;
    options = DT__STRUCT(ctx, options, options_size, &full);
    return ctx && options ? make_in_context(ctx, NULL, shape, n_dims, options) : NULL;
}

dt_mesh *dt_mesh_from_ranks_sized(dt_ctx *ctx, const int64_t *ranks, const int64_t *shape, int n_dims,
                                  const dt_mesh_options *options, size_t options_size, const dt_site *site) {
    DT__ENTER(ctx, "mesh_from_ranks", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    dt_mesh_options full;
    options = DT__STRUCT(ctx, options, options_size, &full);
    if (!ctx || !options || check_not_null(ctx, ranks) != DT_OK)
        return NULL;
    return make_in_context(ctx, ranks, shape, n_dims, options);
}

/* Whether this rank's group along a dim is this one. */
static bool is_group(const dt_mesh *mesh, int dim, dt_ranks group) {
    if (group.n_ranks != mesh->dims[dim].size)
        return false;
    for (int64_t i = 0; i < group.n_ranks; i++)
        if (group.ranks[i] != dt_mesh_group_rank(mesh, dim, i))
            return false;
    return true;
}

static dt_status check_groups(const dt_mesh *mesh, const dt_ranks *groups, int n_groups) {
    if (n_groups != mesh->n_dims)
        return dt__mesh_fail(mesh, "mesh_from_groups", "wrong number of groups: expected %d, got %d", mesh->n_dims,
                             n_groups);
    for (int i = 0; i < n_groups && mesh->coordinate; i++)
        if (!is_group(mesh, i, groups[i]))
            return dt__mesh_fail(mesh, "mesh_from_groups", "group %d is not this rank's group along that dim", i);
    return DT_OK;
}

dt_mesh *dt_mesh_from_groups_sized(dt_ctx *ctx, const dt_ranks *groups, int n_groups, const dt_mesh_grid *grid,
                                   const dt_mesh_options *options, size_t options_size, const dt_site *site) {
    DT__ENTER(ctx, "mesh_from_groups", site);
    if (DT__REFUSAL() != DT_OK || !ctx)
        return NULL;
    if (!grid && n_groups != 1) {
        dt__fail(ctx, DT_ERR_MESH, "wrong number of groups without a grid: expected 1, got %d", n_groups);
        return NULL;
    }
    dt_mesh_grid whole = grid ? *grid : (dt_mesh_grid){groups[0].ranks, &groups[0].n_ranks, 1};
    dt_mesh *mesh =
        dt_mesh_from_ranks_sized(ctx, whole.ranks, whole.shape, whole.n_dims, options, options_size, site);
    if (mesh && check_groups(mesh, groups, n_groups) != DT_OK) {
        dt_mesh_release(mesh);
        return NULL;
    }
    return mesh;
}
