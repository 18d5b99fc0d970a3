/* SPDX-License-Identifier: Apache-2.0
 *
 * The singular value decomposition of random matrices: its factors are orthonormal, their product is the matrix, and
 * values descend. Square, tall, of deficient rank, with zeros, with numbers near the limits of f64, with NaN. By Jacobi
 * rotations, and by what is best on this machine.
 */
#include "kernels/jacobi_svd.h"
#include "kernels/kernels.h"
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE = 24 };

/* Largest deviation of the inner products of n vectors from those of an orthonormal set. */
static double deviation(int64_t n, int64_t m, const double *vectors) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k <= i; k++) {
            long double sum = i == k ? -1 : 0;
            for (int64_t c = 0; c < m; c++)
                sum += (long double)vectors[i * m + c] * (long double)vectors[k * m + c];
            largest = fmax(largest, fabs((double)sum));
        }
    return largest;
}

/* n columns of m numbers, of the given rank. */
static void make_columns(uint64_t *random, int64_t n, int64_t m, int64_t rank, double scale, double *out) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < m; c++)
            out[i * m + c] = i < rank ? scale * ((double)(test_below(random, 2001) - 1000) / 1000)
                             : rank   ? out[i % rank * m + c] * (double)(i - rank)
                                      : 0;
}

static void check_matrix(int64_t n, int64_t m, int64_t n_out, const double *columns) {
    static double vectors[MAX_SIZE * MAX_SIZE], right[MAX_SIZE * MAX_SIZE];
    double values[MAX_SIZE], largest = 0;
    memcpy(vectors, columns, (size_t)(n * m) * sizeof *vectors);
    dt__jacobi_svd(n, m, n_out, vectors, right, values);
    assert_true(deviation(n_out, m, vectors) < 1e-14 * MAX_SIZE);
    assert_true(deviation(n, n, right) < 1e-14 * MAX_SIZE);
    for (int64_t i = 0; i < n; i++) {
        assert_true(values[i] >= 0 && (i == 0 || values[i] <= values[i - 1]));
        largest = fmax(largest, values[i]);
    }
    for (int64_t c = 0; c < n; c++)
        for (int64_t r = 0; r < m; r++) {
            long double sum = 0;
            for (int64_t i = 0; i < n; i++)
                sum += (long double)vectors[i * m + r] * values[i] * right[i * n + c];
            assert_true(fabsl(sum - columns[c * m + r]) <= 1e-14L * MAX_SIZE * (long double)largest);
        }
}

static void svd__factors_are_orthonormal_and_multiply_to_the_matrix(void **state) {
    static const double scales[] = {1, 1e-300, 1e300, 1e-12};
    uint64_t random = test_seed(7);
    double columns[MAX_SIZE * MAX_SIZE];
    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        int64_t n = test_below(&random, MAX_SIZE) + (trial > 0), m = n + test_below(&random, MAX_SIZE - n + 1);
        int64_t rank = trial % 3 ? n : test_below(&random, n + 1), n_out = trial % 2 ? m : n;
        make_columns(&random, n, m, rank, scales[trial % 4], columns);
        check_matrix(n, m, n_out, columns);
    }
}

/* Of diag(3, 4e-140) the small value is exact, which the squares of the matrix would lose. */
static void svd__is_accurate_for_small_values(void **state) {
    double vectors[] = {3, 0, 0, 4e-140}, right[4], values[2];
    (void)state;
    dt__jacobi_svd(2, 2, 2, vectors, right, values);
    assert_true(values[0] == 3 && fabs(values[1] - 4e-140) < 1e-155);
}

static void svd__of_nan_is_nan(void **state) {
    double vectors[] = {1, NAN, 2, 3}, right[4], values[2];
    (void)state;
    dt__jacobi_svd(2, 2, 2, vectors, right, values);
    assert_true(isnan(values[0]) && isnan(values[1]));
}

static double element(dt_dtype dtype, const void *array, int64_t i) {
    return dtype == DT_F64 ? ((const double *)array)[i] : ((const float *)array)[i];
}

static void set_element(dt_dtype dtype, void *array, int64_t i, double x) {
    if (dtype == DT_F64)
        ((double *)array)[i] = x;
    else
        ((float *)array)[i] = (float)x;
}

static void assert_near(double x, double y, double tolerance) {
    if (!(fabs(x - y) <= tolerance))
        fail_msg("%g, expected %g", x, y);
}

/* A batch of one to three matrices [m,n]: the product of the factors is the matrix, and the values alone are those
 * that Jacobi rotations find. */
static void check_batch(uint64_t *random, dt_dtype dtype, int64_t m, int64_t n, bool is_full) {
    enum { BATCH = 3, ELEMENTS = BATCH * MAX_SIZE * MAX_SIZE };
    static double a[ELEMENTS], kept[ELEMENTS], u[ELEMENTS], vh[ELEMENTS];
    static double vectors[MAX_SIZE * MAX_SIZE], right[MAX_SIZE * MAX_SIZE], expected[MAX_SIZE];
    double s[BATCH * MAX_SIZE], values[BATCH * MAX_SIZE];
    const int64_t k = m < n ? m : n, n_left = is_full ? m : k, n_right = is_full ? n : k, longer = m < n ? n : m;
    const double tolerance = (dtype == DT_F64 ? 1e-14 : 1e-6) * MAX_SIZE * (1 + (double)longer);
    dt__svd svd = {.dtype = dtype,
                   .n_matrices = test_below(random, BATCH) + 1,
                   .m = m,
                   .n = n,
                   .has_vectors = true,
                   .is_full = is_full};
    for (int64_t i = 0; i < svd.n_matrices * m * n; i++)
        set_element(dtype, a, i, (double)(test_below(random, 2001) - 1000) / 1000);
    memcpy(kept, a, sizeof a);
    void *memory = malloc(dt__svd_bytes(NULL, &svd) + 1);
    assert_non_null(memory);
    svd.a = a;
    svd.s = s;
    svd.u = u;
    svd.vh = vh;
    dt__svd_run(dt__kernels_best(), NULL, &svd, memory);
    free(memory);
    for (int64_t b = 0; b < svd.n_matrices; b++)
        for (int64_t i = 0; i < m; i++) {
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;
                for (int64_t l = 0; l < k; l++)
                    sum += element(dtype, u, (b * m + i) * n_left + l) * element(dtype, s, b * k + l) *
                           element(dtype, vh, (b * n_right + l) * n + j);
                assert_near(sum, element(dtype, kept, (b * m + i) * n + j), tolerance);
            }
            for (int64_t j = 0; j <= i && n_left == m; j++) { /* rows of a square U are orthonormal, too */
                double sum = 0;
                for (int64_t l = 0; l < n_left; l++)
                    sum += element(dtype, u, (b * m + i) * n_left + l) * element(dtype, u, (b * m + j) * n_left + l);
                assert_near(sum, i == j, tolerance);
            }
        }
    memcpy(a, kept, sizeof a);
    svd.has_vectors = svd.is_full = false;
    svd.s = values;
    svd.u = svd.vh = NULL;
    memory = malloc(dt__svd_bytes(NULL, &svd) + 1);
    assert_non_null(memory);
    dt__svd_run(dt__kernels_best(), NULL, &svd, memory);
    free(memory);
    for (int64_t b = 0; b < svd.n_matrices; b++) {
        for (int64_t i = 0; i < m * n; i++)
            vectors[m < n ? i : i % n * m + i / n] = element(dtype, kept, b * m * n + i);
        dt__jacobi_svd(k, longer, k, vectors, right, expected);
        for (int64_t i = 0; i < k; i++) {
            assert_near(element(dtype, s, b * k + i), expected[i], tolerance);
            assert_near(element(dtype, values, b * k + i), expected[i], tolerance);
        }
    }
}

static void svd__of_batches_multiplies_to_the_matrices(void **state) {
    uint64_t random = test_seed(13);
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        const int64_t m = test_below(&random, MAX_SIZE + 1), n = test_below(&random, MAX_SIZE + 1);
        check_batch(&random, trial % 2 ? DT_F32 : DT_F64, m, n, trial / 2 % 2);
    }
}

static void svd__of_a_batch_is_nan_where_a_matrix_is_not_finite(void **state) {
    float a[] = {1, 2, 3, 4, 1, INFINITY, 3, 4}, s[4], u[8], vh[8];
    _Alignas(16) char memory[1 << 16];
    dt__svd svd = {
        .dtype = DT_F32, .n_matrices = 2, .m = 2, .n = 2, .has_vectors = true, .a = a, .s = s, .u = u, .vh = vh};
    (void)state;
    assert_true(dt__svd_bytes(NULL, &svd) <= sizeof memory);
    dt__svd_run(dt__kernels_best(), NULL, &svd, memory);
    assert_true(fabsf(s[0] * s[1] - 2) < 1e-5F && isfinite(u[3]) && isfinite(vh[3]));
    assert_true(isnan(s[2]) && isnan(s[3]) && isnan(u[4]) && isnan(vh[7]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svd__of_batches_multiplies_to_the_matrices),
        cmocka_unit_test(svd__of_a_batch_is_nan_where_a_matrix_is_not_finite),
        cmocka_unit_test(svd__factors_are_orthonormal_and_multiply_to_the_matrix),
        cmocka_unit_test(svd__is_accurate_for_small_values),
        cmocka_unit_test(svd__of_nan_is_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
