/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of dtypes that are converted take bounded scratch from the heap, however large their operands are. These are
 * one element seen many times, so that they need no memory themselves.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <string.h>

enum { N = 1 << 25, ROWS = 5, MOST_SCRATCH = 3 * 32 << 20 };

static dt_tensor *repeated(dt_ctx *ctx, dt_dtype dtype, double value, dt_shape shape) {
    int64_t ones[] = {1, 1};
    return dt_expand(dt_full(ctx, ((dt_shape){shape.n, ones}), value, .dtype = dtype), shape);
}

static int check_peak(dt_ctx *ctx) {
    size_t peak = dt_heap_stats(ctx).by_kind[DT_MEMORY_SCRATCH].peak_bytes;
    CHECK(peak > 0 && peak <= MOST_SCRATCH, "scratch of %zu bytes: expected 1 to %d", peak, MOST_SCRATCH);
    return 0;
}

static int multiply(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    const int64_t n = dt_world(ctx) * N;
    dt_tensor *x = dt_from_local(ctx, repeated(ctx, DT_I32, 3, DT_SHAPE(N)), mesh, "S(0)");
    dt_tensor *y = dt_from_local(ctx, repeated(ctx, DT_I32, -2, DT_SHAPE(N)), mesh, "S(0)");
    double dot = dt_item(dt_dot(x, y));
    CHECK(dot == (double)(-6 * n), "expected %lld, got %g: %s", (long long)(-6 * n), dot, dt_error_text(ctx));
    dt_tensor *rows = dt_from_local(ctx, repeated(ctx, DT_BF16, 0.5, DT_SHAPE(ROWS, N)), mesh, "S(1)");
    dt_tensor *column = dt_from_local(ctx, repeated(ctx, DT_BF16, 0x1p-20, DT_SHAPE(N, 1)), mesh, "S(0)");
    double sum = dt_item(dt_sum(dt_matmul(rows, column)));
    CHECK(sum == (double)n / 0x1p21 * ROWS, "expected %g, got %g: %s", (double)n / 0x1p21 * ROWS, sum,
          dt_error_text(ctx));
    dt_mesh_release(mesh);
    return check_peak(ctx);
}

static void products__take_bounded_scratch(void **state) {
    (void)state;
    run_ranks(1, multiply, NULL);
    run_ranks(3, multiply, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products__take_bounded_scratch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
