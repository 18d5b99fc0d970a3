/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of placements and of specs: printed and parsed again they are the same; for a spec, that means the same
 * pointer. What the first ranks hold of a spec fits into the tensor.
 */
#include "dtensor/mesh.h"
#include "dtensor/spec.h"
#include "fuzz.h"

enum { WORLD = 100000, N_RANKS = 16, N_RUNS = 16 };

static void check_placements(const char *input) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    int n = 0, n_again = 0;
    dt_placement *placements = dt_placements_parse(ctx, input, &n);
    fuzz_check_status(ctx, placements != NULL);
    if (placements) {
        size_t capacity = dt_placements_text(n, placements, 0, NULL) + 1;
        char *text = malloc(capacity);
        FUZZ_CHECK(text, "out of memory");
        FUZZ_CHECK(dt_placements_text(n, placements, capacity, text) + 1 == capacity, "%s", text);
        dt_placement *again = dt_placements_parse(ctx, text, &n_again);
        FUZZ_CHECK(again && n == n_again, "%s: %d and %d: %s", text, n, n_again, dt_error_text(ctx));
        for (int i = 0; i < n; i++)
            FUZZ_CHECK(dt_placement_equal(&placements[i], &again[i]), "%s: number %d", text, i);
        dt_placements_free(ctx, again);
        free(text);
    }
    dt_placements_free(ctx, placements);
    dt__ctx_free(ctx);
}

static void check_runs(const dt_spec *spec, int64_t rank, const dt_local *local) {
    int64_t coordinate[DT_MESH_MAX_DIMS];
    if (!dt_mesh_coordinate_of(dt_spec_mesh(spec), rank, coordinate))
        return;
    for (int dim = 0; dim < local->n_dims; dim++) {
        dt_run runs[N_RUNS];
        int64_t n = dt_spec_runs(spec, coordinate, dim, 0, N_RUNS, runs), total = 0;
        FUZZ_CHECK(n >= 0, "dim %d", dim);
        for (int64_t i = 0; i < n; i++) {
            FUZZ_CHECK(runs[i].begin < runs[i].end && runs[i].end <= dt_spec_shape(spec)[dim], "dim %d", dim);
            FUZZ_CHECK(i == 0 || runs[i].begin > runs[i - 1].end, "dim %d", dim);
            total += runs[i].end - runs[i].begin;
        }
        FUZZ_CHECK(n == N_RUNS ? total <= local->shape[dim] : total == local->shape[dim], "dim %d: %lld of %lld", dim,
                   (long long)total, (long long)local->shape[dim]);
        FUZZ_CHECK(n == 0 || runs[0].begin == local->offset[dim], "dim %d", dim);
    }
}

static void check_spec(const char *input) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    ctx->world = WORLD;
    dt_spec *spec = dt_spec_parse(ctx, input);
    fuzz_check_status(ctx, spec != NULL);
    if (spec) {
        size_t capacity = dt_spec_text(spec, 0, NULL) + 1;
        char *text = malloc(capacity);
        FUZZ_CHECK(text, "out of memory");
        dt_spec_text(spec, capacity, text);
        dt_spec *again = dt_spec_parse(ctx, text);
        FUZZ_CHECK(again == spec, "%s: %s", text, dt_error_text(ctx));
        for (int64_t rank = 0; rank < N_RANKS; rank++) {
            dt_local local;
            dt_spec_local_of(spec, rank, &local);
            FUZZ_CHECK(local.bytes <= dt_spec_max_bytes(spec), "%s: rank %lld holds %lld bytes", text,
                       (long long)rank, (long long)local.bytes);
            check_runs(spec, rank, &local);
        }
        free(text);
        dt_spec_release(again);
    }
    dt_spec_release(spec);
    dt__ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    dt_ctx *ctx = dt__ctx_new(NULL);
    dt__arena arena = dt__arena_new(ctx);
    const char *text = fuzz_text(&arena, bytes, n);
    check_placements(text);
    check_spec(text);
    dt__arena_free(&arena);
    dt__ctx_free(ctx);
    return 0;
}
