/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums at indices in f16 and bf16: 960 ones at one index, where a sum that is rounded after every addition stops at 256
 * (bf16), or at 2048 with 2880 ones (f16). Ops and gradients, with views, on 1 to 4 ranks, by all placements whose
 * terms have exact sums on every rank. And the gradient of unfold, whose windows overlap, compared with f64.
 */
#include "dispatch/calls.h"

#include "dtensor/autograd.h"
#include "dtensor/dtensor.h"
#include "support/ranks.h"

enum { PLACES = 5, COLUMNS = 6, AT = 3 };

/* Ones, every second column of a wider tensor: not contiguous. */
static dt_tensor *ones_view(dt_ctx *ctx, dt_mesh *mesh, const char *place, int64_t rows, dt_dtype dtype) {
    dt_tensor *base = dt_ones(ctx, DT_SHAPE(rows, 2 * COLUMNS), .dtype = dtype, .mesh = mesh, .place = place);
    return dt_slice(base, 1, 0, 2 * COLUMNS, 2);
}

static dt_tensor *indices(dt_ctx *ctx, dt_mesh *mesh, const char *place, dt_shape shape) {
    return dt_full(ctx, shape, AT, .dtype = DT_I64, .mesh = mesh, .place = place);
}

/* start everywhere, and n more at the index: rows, or of each column. */
static int expect(dt_ctx *ctx, const char *op, dt_tensor *sums, double start, double n, const char *place) {
    dt_tensor *full = dt_contiguous(dt_full_tensor(sums));
    CHECK(full, "%s, %s: %s", op, place, dt_error_text(ctx));
    for (int64_t i = 0; i < PLACES * COLUMNS; i++) {
        const double expected = start + (i / COLUMNS == AT ? n : 0), got = calls_element(full, i);
        CHECK(got == expected, "%s of %s, %s: [%d]: expected %g, got %g", op, dt_dtype_name(full->dtype), place,
              (int)i, expected, got);
    }
    return 0;
}

/* The gradient for a gradient of ones. */
static dt_tensor *gradient_of(dt_tensor *out, dt_tensor *input) {
    dt_tensor *grads[1] = {NULL}, *ones = dt_ones_like(out);
    const dt_status status =
        dt_gradients(DT_TENSORS(out), DT_TENSORS(input), grads, .output_grads = &(dt_tensor *){ones});
    return status == DT_OK ? grads[0] : NULL;
}

/* `place` is that of the indices and of what is added; a vector of indices is whole if columns are sharded. */
static int sums_placed(dt_ctx *ctx, dt_mesh *mesh, const char *place, dt_dtype dtype) {
    const int64_t n = dtype == DT_F16 ? 2880 : 960;
    const char *rows = !strcmp(place, "S(1)") ? "R" : place;
    dt_tensor *zeros = dt_zeros(ctx, DT_SHAPE(PLACES, COLUMNS), .dtype = dtype, .mesh = mesh, .place = "R");
    dt_tensor *terms = ones_view(ctx, mesh, place, n, dtype), *at = indices(ctx, mesh, rows, DT_SHAPE(n));
    dt_tensor *each = indices(ctx, mesh, place, DT_SHAPE(n, COLUMNS));
    dt_tensor *leaf =
        dt_zeros(ctx, DT_SHAPE(PLACES, COLUMNS), .dtype = dtype, .mesh = mesh, .place = "R", .requires_grad = true);
    dt_tensor *filled = dt_add_scalar(zeros, 64);
    const double count = (double)n;
    if (expect(ctx, "index_add", dt_index_add(zeros, 0, at, terms), 0, count, place) ||
        expect(ctx, "index_add with alpha", dt_index_add(filled, 0, at, terms, .alpha = dt_number_real(0.2)), 64,
               count / 5, place) ||
        expect(ctx, "transposed index_add",
               dt_transpose(dt_index_add(dt_transpose(zeros, 0, 1), 1, at, dt_transpose(terms, 0, 1)), 0, 1), 0,
               count, place) ||
        expect(ctx, "scatter_add", dt_scatter_add(filled, 0, each, terms), 64, count, place) ||
        expect(ctx, "embedding_dense_backward", dt_embedding_dense_backward(terms, at, PLACES), 0, count, place) ||
        expect(ctx, "embedding", gradient_of(dt_embedding(at, leaf), leaf), 0, count, place) ||
        expect(ctx, "gather", gradient_of(dt_gather(leaf, 0, each), leaf), 0, count, place) ||
        expect(ctx, "take_along_dim", gradient_of(dt_take_along_dim(leaf, each, .dim = DT_INT(0)), leaf), 0, count,
               place) ||
        expect(ctx, "index_select", gradient_of(dt_index_select(leaf, 0, at), leaf), 0, count, place) ||
        expect(ctx, "index", gradient_of(dt_index(leaf, DT_TENSORS(at)), leaf), 0, count, place))
        return 1;
    return 0;
}

typedef int check_placed(dt_ctx *ctx, dt_mesh *mesh, const char *place, dt_dtype dtype);

static int check_on_ranks(dt_ctx *ctx, check_placed *check) {
    static const char *const places[] = {"R", "S(0)", "S(1)"};
    const int64_t n = dt_world(ctx);
    dt_mesh *mesh = dt_mesh_from_shape(ctx, &n, 1, NULL);
    for (int p = 0; p < 3; p++)
        for (int d = 0; d < 2; d++)
            for (int call = 0; call < 2; call++) { /* the second is cached */
                dt_scope scope = dt_scope_begin(ctx);
                if (check(ctx, mesh, places[p], d ? DT_F16 : DT_BF16))
                    return 1;
                dt_scope_end(scope);
            }
    dt_mesh_release(mesh);
    return 0;
}

static int sums_on_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    return check_on_ranks(ctx, sums_placed);
}

/* 321 windows of 400 elements in steps of 2, and some that share nothing; columns are sharded unevenly. */
static int windows_stepped(dt_ctx *ctx, dt_mesh *mesh, const char *place, dt_dtype dtype, int64_t step) {
    enum { SIZE = 400 };
    const int64_t n_windows = step == 2 ? 321 : 3, rows = (n_windows - 1) * step + SIZE;
    dt_tensor *grad =
        dt_rand(ctx, DT_SHAPE(n_windows, COLUMNS - 1, SIZE), .dtype = dtype, .mesh = mesh, .place = place);
    dt_tensor *sums = dt_unfold_backward(grad, DT_SHAPE(rows, COLUMNS - 1), 0, SIZE, step);
    dt_tensor *wide = dt_unfold_backward(dt_to(grad, DT_F64), DT_SHAPE(rows, COLUMNS - 1), 0, SIZE, step);
    dt_tensor *got = dt_contiguous(dt_full_tensor(sums));
    dt_tensor *rounded = dt_contiguous(dt_to(dt_full_tensor(wide), dtype));
    CHECK(got && rounded, "unfold_backward, %s: %s", place, dt_error_text(ctx));
    for (int64_t i = 0; i < rows * (COLUMNS - 1); i++)
        CHECK(calls_element(got, i) == calls_element(rounded, i),
              "unfold_backward of %s, %s: [%d]: expected %g, got %g", dt_dtype_name(dtype), place, (int)i,
              calls_element(rounded, i), calls_element(got, i));
    return 0;
}

static int windows_placed(dt_ctx *ctx, dt_mesh *mesh, const char *place, dt_dtype dtype) {
    return windows_stepped(ctx, mesh, place, dtype, 2) || windows_stepped(ctx, mesh, place, dtype, 401);
}

static int windows_on_ranks(dt_ctx *ctx, void *arg) {
    (void)arg;
    return check_on_ranks(ctx, windows_placed);
}

static void unfold__sums_of_halves_are_rounded_once(void **state) {
    (void)state;
    for (int n = 1; n <= 4; n++)
        run_ranks(n, windows_on_ranks, NULL);
}

static void index_sums__of_halves_are_rounded_once(void **state) {
    (void)state;
    for (int n = 1; n <= 4; n++)
        run_ranks(n, sums_on_ranks, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(index_sums__of_halves_are_rounded_once),
                                       cmocka_unit_test(unfold__sums_of_halves_are_rounded_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
