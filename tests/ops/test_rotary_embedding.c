/* SPDX-License-Identifier: Apache-2.0
 *
 * Rotary embeddings by their definition, in complex numbers: both layouts, offsets, elements that stay, strided inputs,
 * sharded positions and heads, gradients; and keys and values that are written into a cache in place. Ranks 1, 2, 3 and
 * 5 on shm.
 */
#include "support/ranks.h"

#include "base/ctx.h"
#include "dtensor/dtensor.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { B = 2, H = 3, T = 7, D = 10 };

static const double frequencies[] = {1.5, -0.25, 0.01, 3};

/* Element d of a row after the rotation by position p; n pairs. */
static double expected(const double *row, int64_t p, int d, int n, bool interleaved) {
    if (d >= 2 * n)
        return row[d];
    const int pair = interleaved ? d / 2 : d % n, b = interleaved ? d % 2 : d / n;
    const double complex x = interleaved ? row[2 * pair] + I * row[2 * pair + 1] : row[pair] + I * row[pair + n];
    const double complex y = x * cexp(I * (double)p * frequencies[pair]);
    return b ? cimag(y) : creal(y);
}

static int check_rotation(dt_ctx *ctx, dt_mesh *mesh, const char *place, int n, int64_t offset, bool interleaved) {
    double values[B * H * T * D];
    for (int i = 0; i < B * H * T * D; i++)
        values[i] = sin(0.7 * i) + 0.01 * i;
    dt_tensor *x = dt_from_memory(ctx, values, DT_SHAPE(B, T, H, D), DT_F64);
    dt_tensor *f = dt_from_memory(ctx, frequencies, DT_SHAPE(n), DT_F64);
    x = dt_transpose(dt_distribute_tensor(x, mesh, place, .everywhere = true), 1, 2); /* [B,H,T,D], strided */
    f = dt_distribute_tensor(f, mesh, NULL, .everywhere = true);
    const int64_t transfers = dt_comm_stats(ctx, NULL).n;
    dt_tensor *y = dt_rotary_embedding(x, f, .offset = DT_INT(offset), .interleaved = interleaved);
    CHECK(y && dt_comm_stats(ctx, NULL).n == transfers, "%s moves: %s", place, dt_error_text(ctx));
    const double *got = dt_data(dt_contiguous(dt_full_tensor(y)));
    CHECK(got, "%s", dt_error_text(ctx));
    for (int i = 0; i < B * H * T * D; i++) {
        const int d = i % D, t = i / D % T, h = i / D / T % H, b = i / D / T / H;
        const double want = expected(values + ((b * T + t) * H + h) * D, offset + t, d, n, interleaved);
        CHECK(fabs(got[i] - want) <= 1e-12, "%s: [%d,%d,%d,%d]: expected %g, got %g", place, b, h, t, d, want,
              got[i]);
    }
    return 0;
}

static int rotates(dt_ctx *ctx, void *arg) {
    static const char *const places[] = {"R", "S(0)", "S(1)", "S(2)"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    for (int p = 0; p < 4; p++)
        for (int k = 0; k < 4; k++) {
            dt_scope scope = dt_scope_begin(ctx);
            CHECK(!check_rotation(ctx, mesh, places[p], k < 2 ? 4 : 3, k ? 1000 * k : 0, k % 2), "case %d", k);
            dt_scope_end(scope);
        }
    dt_mesh_release(mesh);
    return 0;
}

/* Rotating the gradient back: of y = R x, the gradient of sum(y * w) is R^T w, and R^T R is the identity. */
static int gradient_rotates_back(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *f = dt_rand(ctx, DT_SHAPE(4), .dtype = DT_F64, .mesh = mesh);
    dt_tensor *w = dt_randn(ctx, DT_SHAPE(H, T, D), .dtype = DT_F64, .mesh = mesh, .place = "S(1)");
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(H, T, D), .dtype = DT_F64, .mesh = mesh, .place = "S(1)");
    dt_set_requires_grad(x, true);
    dt_backward(dt_sum(dt_mul(dt_rotary_embedding(x, f, .offset = DT_INT(5)), w)));
    dt_tensor *again = dt_rotary_embedding(dt_grad(x), f, .offset = DT_INT(5));
    const double difference = dt_item(dt_amax(dt_abs(dt_sub(again, w))));
    CHECK(!dt_failed(ctx) && difference <= 1e-14, "%g: %s", difference, dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static int writes_a_cache_in_place(dt_ctx *ctx, void *arg) {
    static const char *const places[] = {"R", "S(1)", "S(2)"};
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    for (int p = 0; p < 3; p++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_tensor *cache = dt_zeros(ctx, DT_SHAPE(1, H, T, D), .mesh = mesh, .place = places[p]);
        dt_tensor *all = dt_rand(ctx, DT_SHAPE(1, H, T, D), .mesh = mesh, .place = p == 2 ? "R" : places[p]);
        const void *data = dt_data(cache);
        for (int64_t t = 0; t < T; t += t ? 1 : 3)
            dt_slice_scatter_(cache, dt_narrow(all, 2, t, t ? 1 : 3), 2, t, t ? t + 1 : 3, 1);
        CHECK(dt_data(cache) == data && dt_equal(dt_full_tensor(cache), dt_full_tensor(all)), "%s: %s", places[p],
              dt_error_text(ctx));
        dt_scope_end(scope);
    }
    dt_mesh_release(mesh);
    return 0;
}

static int refuses_shapes(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *f = dt_ones(ctx, DT_SHAPE(2));
    CHECK(!dt_rotary_embedding(dt_ones(ctx, DT_SHAPE(4)), f) && strstr(dt_error_text(ctx), "at least two dims"), "%s",
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!dt_rotary_embedding(dt_ones(ctx, DT_SHAPE(5, 3)), f) && strstr(dt_error_text(ctx), "at most half"), "%s",
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(dt_rotary_embedding(dt_ones(ctx, DT_SHAPE(0, 4)), f) != NULL, "%s", dt_error_text(ctx));
    return 0;
}

static void run_all(dt_rank_fn *fn) {
    for (int64_t n = 1; n <= 5; n += n == 3 ? 2 : 1)
        run_ranks(n, fn, NULL);
}

static void rotary__is_a_complex_product(void **state) {
    (void)state;
    run_all(rotates);
}
static void rotary__gradient_rotates_back(void **state) {
    (void)state;
    run_all(gradient_rotates_back);
}
static void slice_scatter__writes_a_cache_in_place(void **state) {
    (void)state;
    run_all(writes_a_cache_in_place);
}
static void rotary__refuses_shapes(void **state) {
    (void)state;
    run_ranks(1, refuses_shapes, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotary__is_a_complex_product),
        cmocka_unit_test(rotary__gradient_rotates_back),
        cmocka_unit_test(slice_scatter__writes_a_cache_in_place),
        cmocka_unit_test(rotary__refuses_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
