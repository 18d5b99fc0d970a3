/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of meshes: a context that is a rank of a world without a transport, with an allocator that counts, and
 * assertions on the dims and ranks of meshes.
 */
#ifndef DT_TESTS_MESHES_H
#define DT_TESTS_MESHES_H

#include "support/check.h"

#include "mesh/mesh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
    test_memory memory;
    dt_ctx *ctx;
} world;

static inline dt_ctx *world_begin(world *w, int64_t n, int64_t rank) {
    *w = (world){.memory = {0}};
    w->ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&w->memory)});
    w->ctx->world = n;
    w->ctx->rank = rank;
    return w->ctx;
}

static inline void world_end(world *w) {
    if (dt_failed(w->ctx))
        fail_msg("expected no error, got: %s", dt_error_text(w->ctx));
    dt__ctx_free(w->ctx);
    assert_int_equal(w->memory.n_live, 0);
    assert_false(w->memory.wrong_size);
}

/* The call must have returned NULL with this error, which is cleared. */
static inline void assert_refused(dt_ctx *ctx, const dt_mesh *mesh, const char *message) {
    if (mesh)
        fail_msg("expected an error with '%s', got a mesh", message);
    assert_error_contains(ctx, DT_ERR_MESH, message);
    dt_error_clear(ctx);
}

static inline dt_mesh *require(dt_ctx *ctx, dt_mesh *mesh) {
    if (!mesh)
        fail_msg("expected a mesh, got: %s", dt_error_text(ctx));
    return mesh;
}

static inline void add_number(char *text, size_t capacity, const char *before, int64_t number) {
    size_t used = strlen(text);
    snprintf(text + used, capacity - used, "%s%lld", before, (long long)number);
}

/* Dims "dp=2,tp=4" or "2x4", and the ranks "0 1 2 3 …", row-major. */
static inline void assert_mesh(const dt_mesh *mesh, const char *dims, const char *ranks) {
    assert_non_null(mesh);
    char got[4096] = "";
    for (int i = 0; i < dt_mesh_n_dims(mesh); i++) {
        const char *name = dt_mesh_dim_name(mesh, i);
        if (name) {
            size_t used = strlen(got);
            snprintf(got + used, sizeof got - used, "%s%s", i ? "," : "", name);
        }
        add_number(got, sizeof got, name ? "=" : i ? "x" : "", dt_mesh_dim_size(mesh, i));
    }
    assert_string_equal(got, dims);
    int64_t *all = malloc((size_t)dt_mesh_size(mesh) * sizeof *all);
    dt_mesh_ranks(mesh, all);
    got[0] = 0;
    for (int64_t i = 0; i < dt_mesh_size(mesh); i++)
        add_number(got, sizeof got, i ? " " : "", all[i]);
    free(all);
    assert_string_equal(got, ranks);
}

static inline void assert_group(const dt_mesh *mesh, int dim, const char *ranks) {
    int64_t n = dt_mesh_dim_size(mesh, dim), *all = malloc((size_t)(n + 1) * sizeof *all);
    char got[4096] = "";
    if (!dt_mesh_group_ranks(mesh, dim, all))
        n = 0;
    for (int64_t i = 0; i < n; i++) {
        add_number(got, sizeof got, i ? " " : "", all[i]);
        assert_int_equal(dt_mesh_group_rank(mesh, dim, i), all[i]);
    }
    free(all);
    assert_string_equal(got, ranks);
}

#endif
