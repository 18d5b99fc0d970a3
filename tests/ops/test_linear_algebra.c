/* SPDX-License-Identifier: Apache-2.0
 *
 * Factors, solutions, inverses and determinants of batches of matrices: backward errors of matrices that are hard to
 * factor, against ten times n rounding errors; sharded batches, which send nothing; bad data, which is a verdict that
 * names the matrix; and calls that are refused.
 */
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef double matrix_fn(int64_t i, int64_t j, int64_t n);

static double noise(int64_t i, int64_t j, int64_t n) {
    uint64_t mixed = (uint64_t)(i * n + j + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return (double)(mixed >> 40) / (double)(1 << 23) - 1;
}
static double hilbert(int64_t i, int64_t j, int64_t n) { return (void)n, 1.0 / (double)(i + j + 1); }
static double graded(int64_t i, int64_t j, int64_t n) { return noise(i, j, n) * pow(10, -(double)(i + j) / 4); }
static double tiny(int64_t i, int64_t j, int64_t n) { return noise(i, j, n) * 1e-290; }
static double huge(int64_t i, int64_t j, int64_t n) { return noise(i, j, n) * 1e290; }
static double kahan(int64_t i, int64_t j, int64_t n) {
    (void)n;
    return i > j ? 0 : (i == j ? 1 : -cos(1.2)) * pow(sin(1.2), (double)i);
}
static double nearly_singular(int64_t i, int64_t j, int64_t n) {
    return i == n - 1 ? noise(0, j, n) * (1 + 1e-13) + (j == n - 1 ? 1e-12 : 0) : noise(i, j, n);
}
static double dominant(int64_t i, int64_t j, int64_t n) { return noise(i, j, n) + (i == j ? 4 : 0); }
static matrix_fn *const hard[] = {noise, hilbert, graded, tiny, huge, kahan, nearly_singular};

static dt_tensor *matrix_of(dt_ctx *ctx, int64_t n, matrix_fn *fn) {
    dt_tensor *a = dt_empty(ctx, DT_SHAPE(n, n), .dtype = DT_F64);
    double *at = dt_data(a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            at[i * n + j] = fn(i, j, n);
    return a;
}

static double largest(dt_tensor *x) { return dt_item(dt_max(dt_abs(x))); }

/* |A X - B| / (|A| |X|) of each solution, and |A⁻¹ A - 1| by the condition of A. */
static int solve_hard(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t sizes[] = {1, 2, 5, 8, 33, 100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof hard / sizeof *hard; k++) {
            int64_t n = sizes[s];
            dt_tensor *a = matrix_of(ctx, n, hard[k]), *b = dt_ones(ctx, DT_SHAPE(n, 3), .dtype = DT_F64);
            if (hard[k] == hilbert && n > 8)
                continue; /* singular in f64 */
            dt_tensor *x = dt_linalg_solve(a, b);
            CHECK(x, "n = %" PRId64 ", matrix %zu: %s", n, k, dt_error_text(ctx));
            double bound = 10 * (double)n * DBL_EPSILON;
            double size = largest(a) * largest(x) * (double)n + 1;
            double error = largest(dt_sub(dt_matmul(a, x), b)) / size;
            CHECK(error <= bound, "n = %" PRId64 ", matrix %zu: backward error %g above %g", n, k, error, bound);
        }
    return 0;
}

/* |Q R - A| and |Qᴴ Q - 1|; |V diag(L) Vᴴ - A| of a symmetric matrix and |Vᴴ V - 1|; |L Lᴴ - A| of A Aᴴ. */
static int factor_hard(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const int64_t sizes[] = {1, 2, 5, 33, 100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof hard / sizeof *hard; k++) {
            int64_t n = sizes[s];
            double bound = 10 * (double)n * DBL_EPSILON;
            dt_tensor *a = matrix_of(ctx, n, hard[k]);
            dt_tensor *one = dt_diag_embed(dt_ones(ctx, DT_SHAPE(n), .dtype = DT_F64));
            dt_linalg_qr_result qr = dt_linalg_qr(a);
            double error = largest(dt_sub(dt_matmul(qr.Q, qr.R), a)) / (largest(a) * (double)n);
            double turned = largest(dt_sub(dt_matmul(dt_transpose(qr.Q, 0, 1), qr.Q), one)) / (double)n;
            CHECK(error <= bound && turned <= bound, "qr, n = %" PRId64 ", matrix %zu: errors %g and %g above %g: %s",
                  n, k, error, turned, bound, dt_error_text(ctx));
            dt_tensor *b = dt_add(a, dt_transpose(a, 0, 1));
            dt_linalg_eigh_result of = dt_linalg_eigh(b);
            dt_tensor *v = of.eigenvectors, *vt = dt_transpose(v, 0, 1);
            dt_tensor *again = dt_matmul(dt_mul(v, dt_unsqueeze(of.eigenvalues, 0)), vt);
            error = largest(dt_sub(again, b)) / (largest(b) * (double)n);
            turned = largest(dt_sub(dt_matmul(vt, v), one)) / (double)n;
            CHECK(error <= bound && turned <= bound,
                  "eigh, n = %" PRId64 ", matrix %zu: errors %g and %g above %g: %s", n, k, error, turned, bound,
                  dt_error_text(ctx));
            CHECK(largest(dt_sub(dt_linalg_eigvalsh(b), of.eigenvalues)) <= bound * largest(of.eigenvalues) * 10,
                  "eigvalsh, n = %" PRId64 ", matrix %zu: %s", n, k, dt_error_text(ctx));
        }
    return 0;
}

static void factors__have_small_backward_errors(void **state) {
    (void)state;
    run_ranks(1, factor_hard, NULL);
}

static void solutions__have_small_backward_errors(void **state) {
    (void)state;
    run_ranks(1, solve_hard, NULL);
}

/* A batch that is sharded sends nothing, and equals that of one rank to the bit. */
static int shard_batches(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(7, 6, 6), .dtype = DT_F64);
    dt_tensor *a =
        dt_add(dt_matmul(x, dt_transpose(x, -2, -1)), dt_diag_embed(dt_ones(ctx, DT_SHAPE(6), .dtype = DT_F64)));
    dt_tensor *b = dt_randn(ctx, DT_SHAPE(7, 6, 2), .dtype = DT_F64);
    dt_tensor *as = dt_distribute_tensor(a, mesh, "S(0)", .everywhere = true);
    dt_tensor *bs = dt_distribute_tensor(b, mesh, "S(0)", .everywhere = true);
    dt_tensor *whole[] = {dt_linalg_cholesky(a), dt_linalg_solve(a, b), dt_linalg_inv(a),
                          dt_linalg_det(a),      dt_logdet(a),          dt_cholesky_solve(b, dt_linalg_cholesky(a))};
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ERROR));
    dt_tensor *sharded[] = {dt_linalg_cholesky(as), dt_linalg_solve(as, bs),
                            dt_linalg_inv(as),      dt_linalg_det(as),
                            dt_logdet(as),          dt_cholesky_solve(bs, dt_linalg_cholesky(as))};
    CHECK_OK(ctx, dt_comm_policy(ctx, DT_COMM_ALLOW));
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        CHECK(whole[i] && sharded[i], "result %zu: %s", i, dt_error_text(ctx));
        dt_tensor *full = dt_full_tensor(sharded[i]);
        CHECK(full && dt_item(dt_all(dt_eq(full, whole[i]))) == 1, "result %zu differs: %s", i, dt_error_text(ctx));
    }
    /* Matrices that are sharded are gathered. */
    dt_tensor *columns = dt_distribute_tensor(a, mesh, "S(2)", .everywhere = true);
    dt_tensor *full = dt_full_tensor(dt_linalg_cholesky(columns));
    CHECK(full && dt_item(dt_all(dt_eq(full, whole[0]))) == 1, "gathered matrices: %s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void batches__are_sharded_without_communication(void **state) {
    (void)state;
    run_ranks(1, shard_batches, NULL);
    run_ranks(3, shard_batches, NULL);
    run_ranks(8, shard_batches, NULL);
}

/* A batch of which one matrix is bad: an error of all ranks that names it, in the next transfer. */
static int find_bad(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *eye = dt_diag_embed(dt_ones(ctx, DT_SHAPE(4), .dtype = DT_F64)),
              *a = dt_clone(dt_expand(eye, DT_SHAPE(5, 4, 4)));
    ((double *)dt_data(a))[3 * 16 + 2 * 4 + 2] = 0;
    dt_tensor *as = dt_distribute_tensor(a, mesh, "S(0)", .everywhere = true);
    static const char *const texts[] = {
        "matrix 3: the leading minor of order 3 is not positive definite",
        "matrix 3 is singular: element 3 of the diagonal of U is 0",
        "matrix 3 is singular: element 3 of the diagonal of U is 0",
        "matrix 3 is singular: element 3 of the diagonal of U is 0",
    };
    for (int k = 0; k < 4; k++) {
        dt_tensor *y = k == 0   ? dt_linalg_cholesky(as)
                       : k == 1 ? dt_linalg_inv(as)
                       : k == 2 ? dt_linalg_solve(as, as)
                                : dt_linalg_lu_factor(as).LU;
        CHECK(dt_world(ctx) == 1 || (y && !dt_failed(ctx)), "expected no error yet: %s", dt_error_text(ctx));
        CHECK(!dt_full_tensor(y), "expected an error");
        CHECK(strstr(dt_error_text(ctx), texts[k]), "expected \"%s\", got \"%s\"", texts[k], dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    dt_linalg_cholesky_ex_result ex = dt_linalg_cholesky_ex(as);
    CHECK(dt_item(dt_sum(ex.info)) == 3, "expected the info 3: %s", dt_error_text(ctx));
    CHECK(dt_item(dt_sum(dt_linalg_det(as))) == 4, "%s", dt_error_text(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void bad_matrices__are_verdicts(void **state) {
    (void)state;
    run_ranks(1, find_bad, NULL);
    run_ranks(2, find_bad, NULL);
    run_ranks(5, find_bad, NULL);
    run_ranks(7, find_bad, NULL);
}

static int refuse(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *a = dt_ones(ctx, DT_SHAPE(3, 3)), *wide = dt_ones(ctx, DT_SHAPE(2, 3));
    dt_tensor *half = dt_ones(ctx, DT_SHAPE(3, 3), .dtype = DT_BF16),
              *ints = dt_ones(ctx, DT_SHAPE(3, 3), .dtype = DT_I64);
    struct {
        dt_tensor *result;
        const char *text;
    } cases[1];
#define REFUSED(call, part)                                                                                          \
    cases[0].result = call;                                                                                          \
    cases[0].text = part;                                                                                            \
    CHECK(!cases[0].result && strstr(dt_error_text(ctx), cases[0].text), "expected \"%s\", got \"%s\"",              \
          cases[0].text, dt_error_text(ctx));                                                                        \
    CHECK_OK(ctx, dt_error_clear(ctx))
    REFUSED(dt_linalg_cholesky(wide), "expected square matrices, got [2,3]");
    REFUSED(dt_linalg_cholesky(half), "got bf16; convert to f32 first");
    REFUSED(dt_linalg_inv(ints), "expected f32, f64, c64 or c128, got i64");
    REFUSED(dt_linalg_det(dt_ones(ctx, DT_SHAPE(3))), "expected a tensor of at least 2 dims, got 1");
    REFUSED(dt_linalg_solve(a, dt_ones(ctx, DT_SHAPE(4, 2))), "B: expected 3 rows, as many as A has, got 4");
    REFUSED(dt_linalg_solve(a, dt_ones(ctx, DT_SHAPE(3), .dtype = DT_F64)), "expected tensors of one dtype");
    REFUSED(dt_linalg_solve_triangular(a, wide, true), "B: expected 3 rows");
    REFUSED(dt_linalg_qr(a, .mode = "thin").Q, "mode: expected 'reduced', 'complete' or 'r', got 'thin'");
    REFUSED(dt_linalg_eigvalsh(a, .UPLO = "X"), "UPLO: expected 'L' or 'U', got 'X'");
    return 0;
}

/* Powers multiply, and a chain is its product in any order. */
static int multiply(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *a = dt_add(matrix_of(ctx, 5, noise), dt_diag_embed(dt_full(ctx, DT_SHAPE(5), 4, .dtype = DT_F64)));
    dt_tensor *one = dt_linalg_matrix_power(a, 0), *third = dt_matmul(a, dt_matmul(a, a));
    double errors[] = {
        largest(dt_sub(dt_matmul(dt_linalg_matrix_power(a, -3), third), one)),
        largest(dt_sub(dt_linalg_matrix_power(a, 3), third)) / largest(third),
        largest(dt_sub(dt_linalg_multi_dot(DT_TENSORS(a, third, a)), dt_linalg_matrix_power(a, 5))) / 3125,
    };
    for (int i = 0; i < 3; i++)
        CHECK(errors[i] < 1e-12, "product %d: error %g: %s", i, errors[i], dt_error_text(ctx));
    return 0;
}

static void powers__and_chains_are_products(void **state) {
    (void)state;
    run_ranks(1, multiply, NULL);
}

/* MATH-030, MATH-032, MATH-033 */
static int place_results(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "x=*");
    dt_tensor *a = matrix_of(ctx, 2, hilbert);
    dt_linalg_eigh_result eigh = dt_linalg_eigh(dt_distribute_tensor(a, mesh, "R"));
    dt_tensor *v = dt_full_tensor(eigh.eigenvectors), *scaled = dt_mul(v, dt_full_tensor(eigh.eigenvalues));
    CHECK(largest(dt_sub(dt_matmul(scaled, dt_transpose(v, 0, 1)), a)) < 1e-14, "eigh: %s", dt_error_text(ctx));
    dt_tensor *u = dt_randn(ctx, DT_SHAPE(8, 4, 3), .dtype = DT_F64),
              *w = dt_randn(ctx, DT_SHAPE(8, 4, 3), .dtype = DT_F64);
    static const char *const places[] = {"S(0)", "S(1)"};
    for (int k = 0; k < 2; k++) {
        dt_tensor *cross =
            dt_linalg_cross(dt_distribute_tensor(u, mesh, places[k]), dt_distribute_tensor(w, mesh, places[k]));
        char text[128];
        CHECK(cross, "cross: %s", dt_error_text(ctx));
        dt_tensor_text(cross, sizeof text, text);
        CHECK(strstr(text, places[k]), "cross of %s: %s", places[k], text);
        CHECK(largest(dt_sub(dt_full_tensor(cross), dt_linalg_cross(u, w))) == 0, "cross of %s", places[k]);
    }
    dt_tensor *square = matrix_of(ctx, 4, dominant), *b = dt_ones(ctx, DT_SHAPE(4, 2), .dtype = DT_F64);
    dt_tensor *parts = dt_from_local(ctx, b, mesh, "P(sum)");
    dt_tensor *x = dt_full_tensor(dt_linalg_solve(dt_distribute_tensor(square, mesh, "R"), parts));
    dt_tensor *expected = dt_linalg_solve(square, dt_mul_scalar(b, (double)dt_world(ctx)));
    CHECK(largest(dt_sub(x, expected)) < 1e-12 * (1 + largest(expected)), "solve of a partial sum: %s",
          dt_error_text(ctx));
    return 0;
}

static void results__are_placed_as_published(void **state) {
    (void)state;
    run_ranks(1, place_results, NULL);
    run_ranks(2, place_results, NULL);
    run_ranks(3, place_results, NULL);
}

static void calls__are_refused(void **state) {
    (void)state;
    run_ranks(1, refuse, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors__have_small_backward_errors),
        cmocka_unit_test(solutions__have_small_backward_errors),
        cmocka_unit_test(batches__are_sharded_without_communication),
        cmocka_unit_test(bad_matrices__are_verdicts),
        cmocka_unit_test(powers__and_chains_are_products),
        cmocka_unit_test(results__are_placed_as_published),
        cmocka_unit_test(calls__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
