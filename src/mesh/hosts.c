/* SPDX-License-Identifier: Apache-2.0
 *
 * The hosts of a mesh. Ranks are numbered host by host, the same number on each, so that a rank's host is a division.
 */
#include "base/size.h"
#include "mesh/mesh_internal.h"
#include "mesh/rank_list.h"

int64_t dt_mesh_ranks_per_host(const dt_mesh *mesh) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    if (!mesh)
        return 0;
    int64_t n = mesh->ctx->ranks_per_host;
    return n > 0 && n < mesh->self.world ? n : mesh->self.world;
}

/* Number of hosts of the ranks that the dims reach from a position on. */
static int64_t count_hosts(const dt_mesh *mesh, const dt__mesh_dim *dims, int n_dims, int64_t zero) {
    int64_t per_host = dt_mesh_ranks_per_host(mesh), n_hosts = dt__ceil_div(mesh->self.world, per_host);
    int64_t n = dt__dims_size(dims, n_dims), found = 0;
    bool *counted = dt__alloc_zeroed(mesh->ctx, (size_t)n_hosts);
    if (!counted) {
        dt__fail_memory(mesh->ctx, (size_t)n_hosts, "a table of hosts");
        return 0;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, position = zero + dt__dims_at(dims, n_dims, &rest);
        bool *host = &counted[dt__rank_list_at(mesh->ranks, position) / per_host];
        found += !*host;
        *host = true;
    }
    dt__free(mesh->ctx, counted, (size_t)n_hosts);
    return found;
}

int64_t dt_mesh_n_hosts(const dt_mesh *mesh) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    return mesh ? count_hosts(mesh, mesh->dims, mesh->n_dims, mesh->offset) : 0;
}

int64_t dt_mesh_dim_n_hosts(const dt_mesh *mesh, int dim) {
    mesh = DT__LIVE(DT__KIND_MESH, mesh);
    dt__mesh_line line;
    return dt__mesh_line_of(mesh, dim, &line) ? count_hosts(mesh, &mesh->dims[dim], 1, line.first) : 0;
}
