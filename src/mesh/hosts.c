/* SPDX-License-Identifier: Apache-2.0
 *
 * The hosts of a mesh, as its ranks are numbered: host by host, the same number on each, so that a rank's host is a
 * division; and the nodes that its ranks are actually on, by the map of the transport.
 */
#include "base/size.h"
#include "comm/comm.h"
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

/* The nodes of the group along a dim; the coordinate is that of its first rank. */
static int64_t count_nodes(const dt_mesh *mesh, int dim, int64_t *coordinate) {
    int64_t size = dt_mesh_dim_size(mesh, dim), n = 0, seen = 0;
    for (int64_t i = 0; i < size; i++) {
        coordinate[dim] = i;
        int64_t node = dt__node_of(mesh->ctx, dt_mesh_rank_at(mesh, coordinate));
        for (seen = 0; seen < i; seen++) {
            coordinate[dim] = seen;
            if (dt__node_of(mesh->ctx, dt_mesh_rank_at(mesh, coordinate)) == node)
                break;
        }
        n += seen == i;
    }
    coordinate[dim] = 0;
    return n;
}

bool dt__mesh_nodes(const dt_mesh *mesh, int64_t *out) {
    bool any = false;
    for (int m = 0; m < mesh->n_dims; m++)
        out[m] = 1;
    for (int64_t i = 0; dt__has_nodes(mesh->ctx) && i < mesh->size; i++) {
        int64_t coordinate[DT_MESH_MAX_DIMS], rest = i;
        for (int m = mesh->n_dims - 1; m >= 0; m--) {
            coordinate[m] = rest % dt_mesh_dim_size(mesh, m);
            rest /= dt_mesh_dim_size(mesh, m);
        }
        for (int m = 0; m < mesh->n_dims; m++)
            if (coordinate[m] == 0) {
                out[m] = dt__max_i64(out[m], count_nodes(mesh, m, coordinate));
                any = any || out[m] > 1;
            }
    }
    return any;
}
