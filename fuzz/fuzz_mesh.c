/* SPDX-License-Identifier: Apache-2.0
 *
 * Mesh texts: printed and parsed again, a mesh is the same; ranks and coordinates are inverse to each other. The first
 * byte is the rank of the context.
 */
#include "fuzz.h"
#include "mesh/mesh.h"

enum { WORLD = 100000, N_POSITIONS = 64 };

static void check_positions(const dt_mesh *mesh) {
    int64_t size = dt_mesh_size(mesh);
    for (int64_t i = 0; i < size && i < N_POSITIONS; i++) {
        int64_t coordinate[DT_MESH_MAX_DIMS], again[DT_MESH_MAX_DIMS], left = i;
        for (int dim = dt_mesh_n_dims(mesh) - 1; dim >= 0; dim--) {
            coordinate[dim] = left % dt_mesh_dim_size(mesh, dim);
            left /= dt_mesh_dim_size(mesh, dim);
        }
        int64_t rank = dt_mesh_rank_at(mesh, coordinate);
        FUZZ_CHECK(rank >= 0 && rank < WORLD, "rank %lld", (long long)rank);
        FUZZ_CHECK(dt_mesh_coordinate_of(mesh, rank, again), "rank %lld has no coordinate", (long long)rank);
        FUZZ_CHECK(!memcmp(coordinate, again, (size_t)dt_mesh_n_dims(mesh) * sizeof *again), "rank %lld",
                   (long long)rank);
    }
}

static void check_layout(dt__arena *arena, const dt_mesh *mesh) {
    dt__layout layout;
    FUZZ_CHECK(dt__mesh_layout(arena, mesh, &layout) == DT_OK, "%s", dt_error_text(arena->ctx));
    FUZZ_CHECK(dt__layout_size(&layout) == dt_mesh_size(mesh), "%lld positions, %lld ranks",
               (long long)dt__layout_size(&layout), (long long)dt_mesh_size(mesh));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n == 0)
        return 0;
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    dt__mesh_self self = {.world = WORLD, .rank = bytes[0]};
    dt_mesh *mesh = dt__mesh_parse(ctx, self, fuzz_text(&arena, bytes + 1, n - 1));
    fuzz_check_status(ctx, mesh != NULL);
    if (mesh) {
        const char *text = dt_mesh_text(mesh);
        FUZZ_CHECK(text, "%s", dt_error_text(ctx));
        dt_mesh *again = dt__mesh_parse(ctx, self, text);
        FUZZ_CHECK(again && dt_mesh_equal(mesh, again), "%s: %s", text, dt_error_text(ctx));
        FUZZ_CHECK(dt_mesh_fingerprint(mesh) == dt_mesh_fingerprint(again), "%s", text);
        check_positions(mesh);
        check_layout(&arena, mesh);
    }
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
    return 0;
}
