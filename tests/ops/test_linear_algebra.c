/* SPDX-License-Identifier: Apache-2.0
 *
 * Factors, solutions, inverses and determinants of batches of matrices: backward errors of matrices that are hard to
 * factor, in every dtype, compared with ten times n rounding errors; sharded batches, which send nothing; bad data,
 * which is a verdict that names the matrix; and calls that are refused. All of it with LAPACK, and by our own code.
 */
#include "support/ranks.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"
#include "kernels/kernels.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef double matrix_fn(int64_t i, int64_t j, int64_t n);

/* The first product alone is linear in the index, and matrices of such numbers have a low rank. */
static double noise(int64_t i, int64_t j, int64_t n) {
    uint64_t mixed = (uint64_t)(i * n + j + 1) * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xBF58476D1CE4E5B9);
    return (double)(mixed >> 40) / (double)(1 << 23) - 1;
}
static double hilbert(int64_t i, int64_t j, int64_t n) { return (void)n, 1.0 / (double)(i + j + 1); }
static double graded(int64_t i, int64_t j, int64_t n) { return noise(i, j, n) * pow(10, -(double)(i + j) / 4); }
static double kahan(int64_t i, int64_t j, int64_t n) {
    (void)n;
    return i > j ? 0 : (i == j ? 1 : -cos(1.2)) * pow(sin(1.2), (double)i);
}
/* Two rows that differ in one element. */
static double close_rows(int64_t i, int64_t j, int64_t n) {
    return i == n - 1 ? noise(0, j, n) + (j == n - 1 ? 1e-5 : 0) : noise(i, j, n);
}
static double nearly_singular(int64_t i, int64_t j, int64_t n) {
    return i == n - 1 ? noise(0, j, n) * (1 + 1e-13) + (j == n - 1 ? 1e-12 : 0) : noise(i, j, n);
}
static double dominant(int64_t i, int64_t j, int64_t n) { return noise(i, j, n) + (i == j ? 4 : 0); }

static dt_tensor *matrix_of(dt_ctx *ctx, int64_t n, matrix_fn *fn) {
    dt_tensor *a = dt_empty(ctx, DT_SHAPE(n, n), .dtype = DT_F64);
    double *at = dt_data(a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            at[i * n + j] = fn(i, j, n);
    return a;
}

static double largest(dt_tensor *x) { return dt_item(dt_max(dt_abs(x))); }

typedef struct number_kind {
    dt_dtype dtype, wide;   /* errors are computed in the wide one */
    double epsilon, scale;  /* scale: near the largest numbers; 1 / scale: near the smallest ones */
    int64_t largest_graded; /* larger graded matrices have rows that are 0 */
} number_kind;
static const number_kind kinds[] = {{DT_F32, DT_F64, FLT_EPSILON, 1e30, 33},
                                    {DT_F64, DT_F64, DBL_EPSILON, 1e290, 100},
                                    {DT_C64, DT_C128, FLT_EPSILON, 1e30, 33},
                                    {DT_C128, DT_C128, DBL_EPSILON, 1e290, 100}};

static const struct {
    const char *name;
    matrix_fn *fn;
    int exponent; /* of the scale */
} hard[] = {{"noise", noise, 0},
            {"Hilbert", hilbert, 0},
            {"graded", graded, 0},
            {"tiny", noise, -1},
            {"huge", noise, 1},
            {"Kahan", kahan, 0},
            {"close rows", close_rows, 0},
            {"nearly singular", nearly_singular, 0}};

static dt_tensor *hard_matrix(dt_ctx *ctx, const number_kind *kind, size_t k, int64_t n) {
    const double scale = pow(kind->scale, hard[k].exponent);
    dt_tensor *real = dt_mul_scalar(matrix_of(ctx, n, hard[k].fn), DT_NUMBER(scale)), *imaginary = real;
    if (kind->wide != DT_C128)
        return dt_to(real, kind->dtype);
    if (hard[k].fn == noise)
        imaginary = dt_transpose(real, 0, 1);
    return dt_to(dt_view_as_complex(dt_stack(DT_TENSORS(real, imaginary), .dim = DT_INT(-1))), kind->dtype);
}

static dt_tensor *adjoint(dt_tensor *x) { return dt_conj(dt_transpose(x, -2, -1)); }

/* The root of the sum of squares, which may be tiny or huge. */
static double size_of(dt_tensor *x) {
    const double most = largest(x);
    return most > 0 ? most * sqrt(dt_item(dt_sum(dt_square(dt_abs(dt_mul_scalar(x, DT_NUMBER(1 / most))))))) : most;
}

/* Checks that a residual is at most 10 n rounding errors of this size. */
static int check_residual(const number_kind *kind, const char *what, const char *name, int64_t n, dt_tensor *residual,
                          double size) {
    const double ratio = size_of(residual) / (size * (double)n * kind->epsilon);
    CHECK(ratio <= 10, "%s, %s, %s, n = %" PRId64 ": %g times n rounding errors", what, dt_dtype_name(kind->dtype),
          name, n, ratio);
    return 0;
}

/* Q R = A and Qᴴ Q = 1; P L U = A; U diag(S) Vᴴ = A and Uᴴ U = Vᴴ V = 1; V diag(L) = A V. */
static int factor(dt_ctx *ctx, const number_kind *kind, const char *name, dt_tensor *a) {
    const int64_t n = dt_tensor_size(a, 0);
    const double size = size_of(dt_to(a, kind->wide)), root = sqrt((double)n);
    dt_tensor *wide = dt_to(a, kind->wide), *one = dt_eye(ctx, n, n, .dtype = kind->wide);
    const dt_linalg_qr_result qr = dt_linalg_qr(a);
    const dt_linalg_lu_result lu = dt_linalg_lu(a);
    const dt_linalg_svd_result svd = dt_linalg_svd(a);
    const dt_linalg_eig_result eig = dt_linalg_eig(a);
    CHECK(qr.Q && lu.P && svd.U && eig.eigenvalues, "%s: %s", name, dt_error_text(ctx));
    dt_tensor *q = dt_to(qr.Q, kind->wide), *u = dt_to(svd.U, kind->wide), *vh = dt_to(svd.Vh, kind->wide);
    dt_tensor *p = dt_to(lu.P, kind->wide), *s = dt_to(svd.S, kind->wide);
    dt_tensor *product = dt_matmul(p, dt_matmul(dt_to(lu.L, kind->wide), dt_to(lu.U, kind->wide)));
    dt_tensor *v = dt_to(eig.eigenvectors, DT_C128), *values = dt_to(eig.eigenvalues, DT_C128);
    dt_tensor *turned = dt_sub(dt_matmul(dt_to(wide, DT_C128), v), dt_mul(v, values));
    return check_residual(kind, "Q R", name, n, dt_sub(dt_matmul(q, dt_to(qr.R, kind->wide)), wide), size) ||
           check_residual(kind, "Q", name, n, dt_sub(dt_matmul(adjoint(q), q), one), root) ||
           check_residual(kind, "P L U", name, n, dt_sub(product, wide), size) ||
           check_residual(kind, "U S Vh", name, n, dt_sub(dt_matmul(dt_mul(u, s), vh), wide), size) ||
           check_residual(kind, "U", name, n, dt_sub(dt_matmul(adjoint(u), u), one), root) ||
           check_residual(kind, "Vh", name, n, dt_sub(dt_matmul(vh, adjoint(vh)), one), root) ||
           check_residual(kind, "eig", name, n, turned, size * size_of(v));
}

/* V diag(L) Vᴴ = A and Vᴴ V = 1, and the values alone are the same. */
static int check_eigh(dt_ctx *ctx, const number_kind *kind, const char *name, dt_tensor *a) {
    const int64_t n = dt_tensor_size(a, 0);
    const dt_linalg_eigh_result of = dt_linalg_eigh(a);
    dt_tensor *alone = dt_linalg_eigvalsh(a);
    CHECK(of.eigenvectors && alone, "eigh, %s: %s", name, dt_error_text(ctx));
    dt_tensor *wide = dt_to(a, kind->wide), *v = dt_to(of.eigenvectors, kind->wide);
    dt_tensor *product = dt_matmul(dt_mul(v, dt_to(of.eigenvalues, kind->wide)), adjoint(v));
    dt_tensor *differ = dt_sub(dt_to(alone, DT_F64), dt_to(of.eigenvalues, DT_F64));
    dt_tensor *one = dt_eye(ctx, n, n, .dtype = kind->wide);
    return check_residual(kind, "V L Vh", name, n, dt_sub(product, wide), size_of(wide)) ||
           check_residual(kind, "V", name, n, dt_sub(dt_matmul(adjoint(v), v), one), sqrt((double)n)) ||
           check_residual(kind, "eigvalsh", name, n, differ, size_of(wide));
}

static const int64_t sizes[] = {1, 2, 5, 12, 33, 100};
enum {
    N_SIZES = sizeof sizes / sizeof *sizes,
    N_HARD = sizeof hard / sizeof *hard,
    N_KINDS = sizeof kinds / sizeof *kinds
};

typedef int check_fn(dt_ctx *ctx, const number_kind *kind, size_t k, int64_t n);

static int for_each_matrix(dt_ctx *ctx, check_fn *check) {
    for (size_t t = 0; t < N_KINDS; t++)
        for (size_t k = 0; k < N_HARD; k++)
            for (size_t s = 0; s < N_SIZES; s++) {
                if (hard[k].fn == graded && sizes[s] > kinds[t].largest_graded)
                    continue;
                dt_scope scope = dt_scope_begin(ctx);
                const int failed = check(ctx, &kinds[t], k, sizes[s]);
                dt_scope_end(scope);
                if (failed)
                    return 1;
            }
    return 0;
}

static int factor_one(dt_ctx *ctx, const number_kind *kind, size_t k, int64_t n) {
    dt_tensor *a = hard_matrix(ctx, kind, k, n);
    return factor(ctx, kind, hard[k].name, a) || check_eigh(ctx, kind, hard[k].name, dt_add(a, adjoint(a)));
}

static int factor_hard(dt_ctx *ctx, void *arg) {
    (void)arg;
    return for_each_matrix(ctx, factor_one);
}

/* L Lᴴ = A and A X = B for positive definite matrices: D (1 + noise / 4 n) D with D of either scale, or graded. */
static int solve_positive(dt_ctx *ctx, const number_kind *kind, size_t k, int64_t n) {
    dt_tensor *noises = dt_mul_scalar(matrix_of(ctx, n, noise), DT_NUMBER(0.25 / (double)n));
    dt_tensor *symmetric = dt_add(dt_add(noises, dt_transpose(noises, 0, 1)), dt_eye(ctx, n, n, .dtype = DT_F64));
    dt_tensor *d = dt_full(ctx, DT_SHAPE(n), sqrt(pow(kind->scale, hard[k].exponent)), .dtype = DT_F64);
    if (hard[k].fn == graded)
        d = dt_exp(dt_mul_scalar(dt_arange(ctx, 0, n, 1, .dtype = DT_F64), -0.5));
    dt_tensor *wide = dt_mul(dt_mul(symmetric, d), dt_unsqueeze(d, -1));
    dt_tensor *a = dt_to(wide, kind->dtype), *b = dt_to(dt_ones(ctx, DT_SHAPE(n, 3)), kind->dtype);
    dt_tensor *l = dt_linalg_cholesky(a), *x = dt_cholesky_solve(b, l), *again = dt_linalg_solve(a, b);
    CHECK(l && x && again, "%s: %s", hard[k].name, dt_error_text(ctx));
    wide = dt_to(a, kind->wide);
    l = dt_to(l, kind->wide);
    b = dt_to(b, kind->wide);
    for (int i = 0; i < 2; i++) {
        x = dt_to(i ? again : x, kind->wide);
        if (check_residual(kind, i ? "solve" : "cholesky_solve", hard[k].name, n, dt_sub(dt_matmul(wide, x), b),
                           size_of(wide) * size_of(x)))
            return 1;
    }
    return check_residual(kind, "L Lh", hard[k].name, n, dt_sub(dt_matmul(l, adjoint(l)), wide), size_of(wide));
}

static int solve_hard(dt_ctx *ctx, void *arg) {
    (void)arg;
    return for_each_matrix(ctx, solve_positive);
}

/* A X = B, |A X - B| compared with |A| |X|, and |X A - B| likewise. */
static int solve_one(dt_ctx *ctx, const number_kind *kind, size_t k, int64_t n) {
    const bool is_single = kind->epsilon > DBL_EPSILON;
    if ((hard[k].fn == hilbert && n > 5) || (hard[k].fn == nearly_singular && is_single))
        return 0; /* a pivot may be 0 */
    dt_tensor *a = hard_matrix(ctx, kind, k, n), *wide = dt_to(a, kind->wide);
    dt_tensor *b = dt_to(dt_ones(ctx, DT_SHAPE(n, 3)), kind->dtype), *bt = dt_transpose(b, 0, 1);
    dt_tensor *x = dt_linalg_solve(a, b), *y = dt_linalg_solve(a, bt, .left = DT_FALSE);
    CHECK(x && y, "%s, n = %" PRId64 ": %s", hard[k].name, n, dt_error_text(ctx));
    x = dt_to(x, kind->wide);
    y = dt_to(y, kind->wide);
    b = dt_to(b, kind->wide);
    bt = dt_to(bt, kind->wide);
    return check_residual(kind, "A X", hard[k].name, n, dt_sub(dt_matmul(wide, x), b), size_of(wide) * size_of(x)) ||
           check_residual(kind, "X A", hard[k].name, n, dt_sub(dt_matmul(y, wide), bt), size_of(wide) * size_of(y));
}

static int solve_general(dt_ctx *ctx, void *arg) {
    (void)arg;
    return for_each_matrix(ctx, solve_one);
}

/* Eigenvalues in clusters: 1, 1 + u, 1 + 2 u, and 2, with u near a rounding error; with vectors that are dense. */
static int cluster(dt_ctx *ctx, void *arg) {
    (void)arg;
    for (size_t t = 0; t < N_KINDS; t++)
        for (size_t s = 1; s < N_SIZES; s++) {
            const int64_t n = sizes[s];
            dt_tensor *values = dt_full(ctx, DT_SHAPE(n), 2, .dtype = DT_F64);
            double *at = dt_data(values);
            for (int64_t i = 0; i < n / 2; i++)
                at[i] = 1 + (double)(i % 3) * kinds[t].epsilon;
            dt_tensor *q = dt_to(dt_linalg_qr(hard_matrix(ctx, &kinds[t], 0, n)).Q, kinds[t].wide);
            dt_tensor *a = dt_matmul(dt_mul(q, dt_to(values, kinds[t].wide)), adjoint(q));
            a = dt_to(dt_mul_scalar(dt_add(a, adjoint(a)), 0.5), kinds[t].dtype);
            if (check_eigh(ctx, &kinds[t], "clustered", a) || factor(ctx, &kinds[t], "clustered", a))
                return 1;
        }
    return 0;
}

static void clusters__have_small_backward_errors(void **state) {
    (void)state;
    run_ranks(1, cluster, NULL);
}

/* Factors of 2,000 rows, by their products with one vector; eigenvalues of 500. */
static int factor_large(dt_ctx *ctx, void *arg) {
    const number_kind *kind = &kinds[1];
    const int64_t n = 2000;
    (void)arg;
    dt_tensor *a = dt_add(matrix_of(ctx, n, noise), dt_mul_scalar(dt_eye(ctx, n, n, .dtype = DT_F64), 4.0 * sqrt(n)));
    dt_tensor *both =
        dt_add(dt_add(a, dt_transpose(a, 0, 1)), dt_mul_scalar(dt_eye(ctx, n, n, .dtype = DT_F64), 2.0 * (double)n));
    dt_tensor *b = dt_ones(ctx, DT_SHAPE(n, 1), .dtype = DT_F64), *x = dt_linalg_solve(a, b);
    dt_tensor *l = dt_linalg_cholesky(both);
    const dt_linalg_qr_result qr = dt_linalg_qr(a);
    CHECK(x && l && qr.Q, "%s", dt_error_text(ctx));
    const double size = size_of(a) * size_of(b);
    return check_residual(kind, "solve", "large", n, dt_sub(dt_matmul(a, x), b), size_of(a) * size_of(x)) ||
           check_residual(kind, "L Lh", "large", n,
                          dt_sub(dt_matmul(l, dt_matmul(adjoint(l), b)), dt_matmul(both, b)), size) ||
           check_residual(kind, "Q R", "large", n, dt_sub(dt_matmul(qr.Q, dt_matmul(qr.R, b)), dt_matmul(a, b)),
                          size) ||
           check_eigh(ctx, kind, "large", dt_contiguous(dt_narrow(dt_narrow(both, 0, 0, 500), 1, 0, 500)));
}

static void large_matrices__have_small_backward_errors(void **state) {
    (void)state;
    run_ranks(1, factor_large, NULL);
}

/* Matrices without rows, without columns, and batches without matrices. */
static int take_empty(dt_ctx *ctx, void *arg) {
    (void)arg;
    for (size_t t = 0; t < N_KINDS; t++)
        for (int64_t batch = 0; batch < 3; batch += 2) {
            const dt_dtype dtype = kinds[t].dtype;
            dt_tensor *square = dt_zeros(ctx, DT_SHAPE(batch, batch ? 0 : 3, batch ? 0 : 3), .dtype = dtype);
            dt_tensor *tall = dt_zeros(ctx, DT_SHAPE(batch, 3, 0), .dtype = dtype);
            dt_tensor *empty[] = {
                dt_linalg_cholesky(square),
                dt_linalg_inv(square),
                dt_linalg_solve(square, square),
                dt_linalg_solve_triangular(square, square, true),
                dt_linalg_lu_factor(square).LU,
                dt_linalg_eigh(square).eigenvectors,
                dt_linalg_eigvals(square),
                dt_linalg_svd(square).U,
                dt_linalg_svdvals(tall),
                dt_linalg_qr(tall).R,
                dt_linalg_pinv(tall),
                dt_linalg_matrix_exp(square),
                dt_linalg_matrix_power(square, 3),
                dt_cholesky_inverse(square, .upper = true),
                dt_linalg_ldl_factor(square).LD,
                dt_linalg_svd(tall, .full_matrices = DT_FALSE).U,
            };
            for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
                CHECK(empty[i] && dt_tensor_elements(empty[i]) == 0, "%s, result %zu: %s", dt_dtype_name(dtype), i,
                      dt_error_text(ctx));
            dt_tensor *det = dt_linalg_det(square), *rank = dt_linalg_matrix_rank(tall);
            CHECK(det && rank && dt_tensor_elements(det) == batch && dt_tensor_elements(rank) == batch, "%s",
                  dt_error_text(ctx));
            CHECK(!batch || (largest(dt_sub_scalar(det, 1.0)) == 0 && dt_item(dt_sum(rank)) == 0),
                  "expected determinants of 1 and ranks of 0");
            dt_tensor *left = dt_linalg_svd(tall).U, *right = dt_linalg_svd(dt_mT(tall)).Vh;
            const double error = dt_item(dt_sum(dt_abs(dt_sub(left, dt_eye(ctx, 3, 3, .dtype = dtype)))));
            CHECK(left && right && error == 0 && dt_item(dt_sum(dt_abs(dt_sub(right, left)))) == 0,
                  "svd of %s without columns: expected vectors of an identity: %s", dt_dtype_name(dtype),
                  dt_error_text(ctx));
        }
    return 0;
}

static void empty_matrices__have_results(void **state) {
    (void)state;
    run_ranks(1, take_empty, NULL);
}

static void general_solutions__have_small_backward_errors(void **state) {
    (void)state;
    run_ranks(1, solve_general, NULL);
}

static void factors__have_small_backward_errors(void **state) {
    (void)state;
    run_ranks(1, factor_hard, NULL);
}

/* Determinants are products of the diagonal of U and the sign of P, to the bit those of each matrix alone. */
static int take_determinants(dt_ctx *ctx, void *arg) {
    (void)arg;
    for (size_t t = 0; t < 2; t++)
        for (int64_t n = 1; n <= 33; n += 4) {
            const int64_t count = 21;
            dt_tensor *scales = dt_empty(ctx, DT_SHAPE(count, 1, 1), .dtype = DT_F64);
            for (int64_t i = 0; i < count; i++)
                ((double *)dt_data(scales))[i] = pow(kinds[t].scale, (double)(i % 3 - 1));
            dt_tensor *a =
                dt_to(dt_mul(dt_randn(ctx, DT_SHAPE(count, n, n), .dtype = DT_F64), scales), kinds[t].dtype);
            const dt_linalg_slogdet_result of = dt_linalg_slogdet(a);
            const dt_linalg_lu_result lu = dt_linalg_lu(a);
            dt_tensor *det = dt_linalg_det(a), *diagonal = dt_to(dt_diagonal(lu.U, 0, -2, -1), DT_F64);
            CHECK(of.sign && lu.P && det, "%s", dt_error_text(ctx));
            dt_tensor *signs = dt_mul(dt_prod_dim_int(dt_sign(diagonal), -1), dt_linalg_det(dt_to(lu.P, DT_F64)));
            dt_tensor *logs = dt_sum(dt_log(dt_abs(diagonal)), .dim = DT_DIMS(-1));
            const double error = largest(dt_sub(logs, dt_to(of.logabsdet, DT_F64)));
            CHECK(largest(dt_sub(signs, dt_to(of.sign, DT_F64))) == 0, "n = %" PRId64 ": signs differ", n);
            CHECK(error <= 10 * (double)n * kinds[t].epsilon * (1 + largest(logs)),
                  "n = %" PRId64 ": logarithms differ by %g", n, error);
            for (int64_t i = 0; i < count; i++) {
                const double x = dt_item(dt_select(det, 0, i)), alone = dt_item(dt_linalg_det(dt_select(a, 0, i)));
                CHECK(x == alone, "n = %" PRId64 ", matrix %" PRId64 ": %a, and alone %a", n, i, x, alone);
            }
        }
    return 0;
}

static void determinants__fit_their_factors(void **state) {
    (void)state;
    run_ranks(1, take_determinants, NULL);
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

/* A batch with one bad matrix: an error of all ranks that names it, in the next transfer. */
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
    ((double *)dt_data(a))[2 * 16 + 5] = (double)NAN; /* element [1,1] of matrix 2 */
    as = dt_distribute_tensor(a, mesh, "S(0)", .everywhere = true);
    dt_tensor *cs = dt_to(as, DT_C128);
    for (int k = 0; k < 9; k++) {
        dt_tensor *y = k == 0   ? dt_linalg_eigh(as).eigenvectors
                       : k == 1 ? dt_linalg_eigvalsh(cs)
                       : k == 2 ? dt_linalg_eig(as).eigenvectors
                       : k == 3 ? dt_linalg_eigvals(cs)
                       : k == 4 ? dt_linalg_svd(as).U
                       : k == 5 ? dt_linalg_svdvals(cs)
                       : k == 6 ? dt_linalg_matrix_rank(as)
                       : k == 7 ? dt_linalg_pinv(as)
                                : dt_linalg_cond(as);
        CHECK(!dt_full_tensor(y) && strstr(dt_error_text(ctx), "matrix 2") && strstr(dt_error_text(ctx), "finite"),
              "call %d of NaN: \"%s\"", k, dt_error_text(ctx));
        CHECK_OK(ctx, dt_error_clear(ctx));
    }
    ((double *)dt_data(a))[2 * 16 + 5] = 1;
    as = dt_distribute_tensor(a, mesh, "S(0)", .everywhere = true);
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

/* One triangle is read; the other may have any numbers. */
static int read_triangle(dt_ctx *ctx, void *arg) {
    (void)arg;
    for (int64_t n = 3; n < 50; n += 40)
        for (int upper = 0; upper < 2; upper++) {
            dt_tensor *a = matrix_of(ctx, n, hilbert), *values = dt_linalg_eigvalsh(a);
            ((double *)dt_data(a))[upper ? n : 1] = (double)NAN;
            dt_tensor *again = dt_linalg_eigh(a, .UPLO = upper ? "U" : "L").eigenvalues;
            CHECK(again && largest(dt_sub(again, values)) < 1e-14, "n = %" PRId64 ": %s", n, dt_error_text(ctx));
        }
    return 0;
}

static void eigh__reads_one_triangle(void **state) {
    (void)state;
    run_ranks(1, read_triangle, NULL);
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
    REFUSED(dt_linalg_svd(half).U, "got bf16; convert to f32 first");
    REFUSED(dt_linalg_svdvals(dt_to(half, DT_F16)), "got f16; convert to f32 first");
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

/* B [7,7] is a matrix for A [14,7,7], also on two ranks, whose shards are [7,7,7]; so is [1,7] for A [3,7,7]. */
static int solve_shards(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    const int64_t batch = dt_world(ctx) == 2 ? 14 : 3;
    dt_tensor *noise_of = dt_randn(ctx, DT_SHAPE(batch, 7, 7), .dtype = DT_F64);
    dt_tensor *a = dt_add(noise_of, dt_mul_scalar(dt_eye(ctx, 7, 7, .dtype = DT_F64), 16.0));
    dt_tensor *whole_b[] = {dt_randn(ctx, DT_SHAPE(7, 7), .dtype = DT_F64),
                            dt_randn(ctx, DT_SHAPE(1, 7), .dtype = DT_F64)};
    dt_tensor *as = dt_distribute_tensor(a, mesh, "S(0)", .everywhere = true);
    dt_set_requires_grad(as, true);
    for (int k = 0; k < 2; k++) {
        dt_tensor *bs = dt_distribute_tensor(whole_b[k], mesh, "R");
        dt_tensor *x = dt_linalg_solve(as, bs, .left = k == 0 ? DT_TRUE : DT_FALSE), *full = dt_full_tensor(x);
        CHECK(full && dt_tensor_n_dims(full) == 3, "B %d: %s", k, dt_error_text(ctx));
        dt_tensor *product = k == 0 ? dt_matmul(a, full) : dt_matmul(full, a);
        CHECK(largest(dt_sub(product, whole_b[k])) < 1e-12, "B %d: A X - B is %g", k,
              largest(dt_sub(product, whole_b[k])));
        dt_tensor *grads[1];
        CHECK_OK(ctx, dt_gradients(DT_TENSORS(dt_sum(x)), DT_TENSORS(as), grads));
        CHECK(dt_tensor_n_dims(grads[0]) == 3, "the gradient of A for B %d", k);
    }
    dt_mesh_release(mesh);
    return 0;
}

static void right_sides__are_told_apart_by_whole_shapes(void **state) {
    (void)state;
    run_ranks(1, solve_shards, NULL);
    run_ranks(2, solve_shards, NULL);
    run_ranks(3, solve_shards, NULL);
    run_ranks(5, solve_shards, NULL);
}

/* Gradients of eigenvectors are symmetric; those of 0 x 0 matrices have no elements; the identity has zeros. */
static int differentiate(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *a = dt_add(matrix_of(ctx, 5, hilbert), dt_diag_embed(dt_arange(ctx, 0, 5, 1, .dtype = DT_F64))),
              *grads[1];
    dt_set_requires_grad(a, true);
    dt_tensor *weights = matrix_of(ctx, 5, noise);
    dt_tensor *loss = dt_sum(dt_mul(dt_linalg_eigh(a).eigenvectors, weights));
    CHECK_OK(ctx, dt_gradients(DT_TENSORS(loss), DT_TENSORS(a), grads));
    CHECK(largest(grads[0]) > 0.01, "the gradient is %g", largest(grads[0]));
    CHECK(largest(dt_sub(grads[0], dt_transpose(grads[0], 0, 1))) < 1e-14, "the gradient of eigh is not symmetric");
    CHECK_OK(ctx, dt_gradients(DT_TENSORS(dt_sum(dt_linalg_matrix_power(a, 0))), DT_TENSORS(a), grads));
    CHECK(largest(grads[0]) == 0, "the gradient of the identity is %g", largest(grads[0]));
    dt_tensor *nothing = dt_zeros(ctx, DT_SHAPE(2, 0, 0), .dtype = DT_C64);
    dt_set_requires_grad(nothing, true);
    dt_tensor *values = dt_view_as_real(dt_linalg_eigvals(nothing));
    CHECK_OK(ctx, dt_gradients(DT_TENSORS(dt_sum(values)), DT_TENSORS(nothing), grads));
    CHECK(dt_tensor_elements(grads[0]) == 0, "%s", dt_error_text(ctx));
    return 0;
}

static void gradients__fit_their_matrices(void **state) {
    (void)state;
    run_ranks(1, differentiate, NULL);
}

/* log det of diag(2 i, 3) is log 6 + i pi / 2. */
static int take_logarithms(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_tensor *parts = dt_zeros(ctx, DT_SHAPE(2, 2, 2), .dtype = DT_F64);
    ((double *)dt_data(parts))[1] = 2;
    ((double *)dt_data(parts))[6] = 3;
    const double *found = dt_data(dt_logdet(dt_view_as_complex(parts)));
    CHECK(found && fabs(found[0] - log(6)) < 1e-15 && fabs(found[1] - acos(0)) < 1e-15, "got %g + %g i: %s",
          found ? found[0] : 0, found ? found[1] : 0, dt_error_text(ctx));
    return 0;
}

static void logdet__of_complex_matrices_is_complex(void **state) {
    (void)state;
    run_ranks(1, take_logarithms, NULL);
}

static void calls__are_refused(void **state) {
    (void)state;
    run_ranks(1, refuse, NULL);
}

static double tiny(int64_t i, int64_t j, int64_t n) { return noise(i, j, n) * 1e-290; }
static double huge(int64_t i, int64_t j, int64_t n) { return noise(i, j, n) * 1e290; }
static double turning(int64_t i, int64_t j, int64_t n) { return j == (i + 1) % n; }
static double jordan(int64_t i, int64_t j, int64_t n) { return (void)n, i == j ? 3 : j == i + 1; }
static double one_on_diagonal(int64_t i, int64_t j, int64_t n) { return (void)n, i == j; }

static dt_tensor *complex_of(dt_tensor *re, dt_tensor *im) {
    return dt_view_as_complex(dt_stack(DT_TENSORS(re, im), .dim = DT_INT(-1)));
}

/* |A V - V diag(L)| of real and complex matrices, and of those with equal values; U S Vᴴ of complex ones. */
static int decompose(dt_ctx *ctx, void *arg) {
    (void)arg;
    static matrix_fn *const all[] = {noise, dominant, graded, tiny, huge, turning, jordan, one_on_diagonal, kahan};
    static const int64_t orders[] = {1, 2, 5, 24};
    for (size_t s = 0; s < sizeof orders / sizeof *orders; s++)
        for (size_t k = 0; k < 2 * sizeof all / sizeof *all; k++) {
            const int64_t n = orders[s];
            const double bound = 100 * (double)n * DBL_EPSILON;
            dt_tensor *re = matrix_of(ctx, n, all[k / 2]), *im = dt_transpose(re, 0, 1);
            dt_tensor *a = k % 2 ? complex_of(re, im) : re, *c = complex_of(re, k % 2 ? im : dt_zeros_like(re));
            dt_linalg_eig_result of = dt_linalg_eig(a);
            dt_tensor *scaled = dt_mul(of.eigenvectors, dt_unsqueeze(of.eigenvalues, 0));
            double error = largest(dt_sub(dt_matmul(c, of.eigenvectors), scaled)) / largest(re);
            CHECK(error <= bound, "eig, n = %" PRId64 ", matrix %zu: error %g above %g: %s", n, k, error, bound,
                  dt_error_text(ctx));
            dt_tensor *lengths = dt_sum(dt_square(dt_abs(of.eigenvectors)), .dim = DT_DIMS(0));
            error = largest(dt_sub_scalar(lengths, 1));
            CHECK(error <= bound, "eig, n = %" PRId64 ", matrix %zu: lengths differ from 1 by %g", n, k, error);
            dt_linalg_svd_result svd = dt_linalg_svd(c);
            dt_tensor *again = dt_matmul(dt_mul(svd.U, dt_to(svd.S, DT_C128)), svd.Vh);
            error = largest(dt_sub(again, c)) / largest(c);
            CHECK(error <= bound, "svd, n = %" PRId64 ", matrix %zu: error %g above %g: %s", n, k, error, bound,
                  dt_error_text(ctx));
        }
    return 0;
}

static void eigenvalues__and_singular_values_have_small_residuals(void **state) {
    (void)state;
    run_ranks(1, decompose, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors__have_small_backward_errors),
        cmocka_unit_test(solutions__have_small_backward_errors),
        cmocka_unit_test(general_solutions__have_small_backward_errors),
        cmocka_unit_test(determinants__fit_their_factors),
        cmocka_unit_test(clusters__have_small_backward_errors),
        cmocka_unit_test(large_matrices__have_small_backward_errors),
        cmocka_unit_test(empty_matrices__have_results),
        cmocka_unit_test(batches__are_sharded_without_communication),
        cmocka_unit_test(bad_matrices__are_verdicts),
        cmocka_unit_test(eigh__reads_one_triangle),
        cmocka_unit_test(powers__and_chains_are_products),
        cmocka_unit_test(results__are_placed_as_published),
        cmocka_unit_test(right_sides__are_told_apart_by_whole_shapes),
        cmocka_unit_test(gradients__fit_their_matrices),
        cmocka_unit_test(logdet__of_complex_matrices_is_complex),
        cmocka_unit_test(calls__are_refused),
        cmocka_unit_test(eigenvalues__and_singular_values_have_small_residuals),
    };
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    dt__lapack_use_library(false);
    return n_failed + cmocka_run_group_tests_name("without LAPACK", tests, NULL, NULL);
}
