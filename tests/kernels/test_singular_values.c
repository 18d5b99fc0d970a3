/* SPDX-License-Identifier: Apache-2.0
 *
 * The singular value decomposition of random matrices: its factors are orthonormal, their product is the matrix, and
 * values descend. Square, tall, of deficient rank, with zeros, with numbers near the limits of f64, with NaN.
 */
#include "support/check.h"

#include "kernels/singular_values.h"

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
    dt__svd_run(n, m, n_out, vectors, right, values);
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
    dt__svd_run(2, 2, 2, vectors, right, values);
    assert_true(values[0] == 3 && fabs(values[1] - 4e-140) < 1e-155);
}

static void svd__of_nan_is_nan(void **state) {
    double vectors[] = {1, NAN, 2, 3}, right[4], values[2];
    (void)state;
    dt__svd_run(2, 2, 2, vectors, right, values);
    assert_true(isnan(values[0]) && isnan(values[1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svd__factors_are_orthonormal_and_multiply_to_the_matrix),
        cmocka_unit_test(svd__is_accurate_for_small_values),
        cmocka_unit_test(svd__of_nan_is_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
