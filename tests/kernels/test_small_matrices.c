/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of small matrices: the same bits from every instruction set, and of a matrix alone as in a batch, whatever
 * its place; backward errors of random, graded, tiny, huge and clustered matrices; matrices that are not finite, not
 * definite, or singular; pivots, which are the first largest elements.
 */
#include "kernels/kernels.h"
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 19, MAX_N = 33, N_RHS = 2, BYTES = 4 << 20 };

typedef struct problem {
    dt_dtype dtype;
    dt__small_kind kind;
    int n, m; /* m: rows, of LU */
} problem;

static double *as_doubles(dt_dtype dtype, const void *from, int64_t n) {
    double *out = malloc((size_t)n * sizeof *out);
    for (int64_t i = 0; i < n; i++)
        out[i] = dtype == DT_F64 ? ((const double *)from)[i] : ((const float *)from)[i];
    return out;
}

static void set(dt_dtype dtype, void *array, int64_t i, double x) {
    if (dtype == DT_F64)
        ((double *)array)[i] = x;
    else
        ((float *)array)[i] = (float)x;
}

static double noise(int64_t i) {
    uint64_t mixed = (uint64_t)(i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return (double)(mixed >> 40) / (double)(1 << 23) - 1;
}

/* Matrices of all kinds, symmetric and positive definite but for their roundings. */
static double element(dt_dtype dtype, int matrix, int n, int i, int j) {
    double sum = i == j ? 0.5 : 0;
    for (int k = 0; k < n; k++)
        sum += noise((matrix * 40 + i) * 40 + k) * noise((matrix * 40 + j) * 40 + k);
    const double scale = dtype == DT_F64 ? 1e290 : 1e30;
    switch (matrix % 5) {
    case 0:
        return sum / scale;
    case 1:
        return sum * scale;
    case 2:
        return sum * pow(4, -(i + j) / 4.0); /* graded */
    case 3:
        return i == j ? 1 + (i < 2 ? 0 : 1e-5 * i) : 0; /* clustered, and already diagonal */
    default:
        return sum;
    }
}

static void *matrices(const problem *of) {
    double *out = malloc(sizeof(double) * COUNT * MAX_N * MAX_N);
    for (int m = 0; m < COUNT; m++)
        for (int i = 0; i < of->n; i++)
            for (int j = 0; j < of->n; j++)
                set(of->dtype, out, (m * of->n + i) * of->n + j, element(of->dtype, m, of->n, i, j));
    return out;
}

typedef struct result {
    void *out, *values;
    int32_t infos[COUNT];
} result;

static void run(const dt__kernels *kernels, const problem *of, int n_rhs, const void *a, const void *b, int first,
                int end, result *to) {
    static _Alignas(64) char memory[BYTES];
    const dt__small_matrices args = {.kind = of->kind,
                                     .n = of->n,
                                     .n_rhs = n_rhs,
                                     .m = of->m,
                                     .a = a,
                                     .b = b,
                                     .out = to->out,
                                     .values = to->values,
                                     .infos = to->infos};
    kernels->loops->small_matrices[of->dtype](&args, first, end, memory);
}

static result result_new(void) {
    const size_t bytes = sizeof(double) * COUNT * MAX_N * MAX_N;
    return (result){.out = calloc(1, bytes), .values = calloc(1, bytes)};
}

static void result_free(result *self) {
    free(self->out);
    free(self->values);
}

static void expect_same(const problem *of, const char *what, const result *a, const result *b) {
    const size_t bytes = dt_dtype_size(of->dtype) * COUNT * (size_t)(of->n * of->n);
    if (memcmp(a->out, b->out, bytes) || memcmp(a->values, b->values, bytes) ||
        memcmp(a->infos, b->infos, sizeof a->infos))
        fail_msg("%s differs: dtype %d, kind %d, n = %d", what, (int)of->dtype, (int)of->kind, of->n);
}

static double spacing(dt_dtype dtype) { return dtype == DT_F64 ? DBL_EPSILON : FLT_EPSILON; }

/* |L Lᵀ - A|, |A A⁻¹ - 1| by the size of A⁻¹, |V diag(w) Vᵀ - A|, each by the size of A. */
static void expect_small_errors(const problem *of, const void *matrix, const result *got) {
    const int n = of->n;
    double *a = as_doubles(of->dtype, matrix, COUNT * n * n), *x = as_doubles(of->dtype, got->out, COUNT * n * n);
    double *w = as_doubles(of->dtype, got->values, COUNT * n);
    for (int m = 0; m < COUNT; m++) {
        double largest = 0, inverse = 0, error = 0;
        for (int i = 0; i < n * n; i++) {
            largest = fmax(largest, fabs(a[m * n * n + i]));
            inverse = fmax(inverse, fabs(x[m * n * n + i]));
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = of->kind == DT__SMALL_SOLVE ? -(i == j) : -a[(m * n + i) * n + j];
                for (int k = 0; k < n; k++)
                    sum += of->kind == DT__SMALL_SOLVE ? a[(m * n + i) * n + k] * x[(m * n + k) * n + j]
                                                       : x[(m * n + i) * n + k] * x[(m * n + j) * n + k] *
                                                             (of->kind == DT__SMALL_EIGH ? w[m * n + k] : 1);
                error = fmax(error, fabs(sum));
            }
        const double size = largest * (of->kind == DT__SMALL_SOLVE ? inverse * n + 1 / largest : 1);
        if (!(error <= 10 * n * spacing(of->dtype) * size))
            fail_msg("dtype %d, kind %d, n = %d, matrix %d: error %g of %g", (int)of->dtype, (int)of->kind, n, m,
                     error, size);
    }
    free(a), free(x), free(w);
}

static const char *const tables[] = {"baseline", "avx2", "avx512"};

static void batches__have_the_same_bits_everywhere(void **state) {
    static const int sizes[] = {1, 2, 3, 5, 8, 17, 32, 33};
    (void)state;
    for (int d = 0; d < 2; d++)
        for (int kind = 0; kind <= DT__SMALL_DIAGONAL; kind++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                const problem of = {d ? DT_F64 : DT_F32, (dt__small_kind)kind, sizes[s], sizes[s]};
                void *a = matrices(&of);
                result expected = result_new();
                run(dt__kernels_named("baseline"), &of, kind == DT__SMALL_SOLVE ? of.n : 0, a, NULL, 0, COUNT,
                    &expected);
                if (kind <= DT__SMALL_EIGH)
                    expect_small_errors(&of, a, &expected);
                for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
                    const dt__kernels *kernels = dt__kernels_named(tables[t]);
                    result whole = result_new(), alone = result_new();
                    for (int m = 0; kernels && m < COUNT; m++)
                        run(kernels, &of, kind == DT__SMALL_SOLVE ? of.n : 0, a, NULL, m, m + 1, &alone);
                    if (kernels) {
                        run(kernels, &of, kind == DT__SMALL_SOLVE ? of.n : 0, a, NULL, 0, COUNT, &whole);
                        expect_same(&of, "a batch", &expected, &whole);
                        expect_same(&of, "a matrix alone", &expected, &alone);
                    }
                    result_free(&whole);
                    result_free(&alone);
                }
                result_free(&expected);
                free(a);
            }
}

/* Not symmetric: noise of all scales, graded, with equal columns, or with ties, whose first element is the pivot. */
static double general_element(dt_dtype dtype, int matrix, int i, int j) {
    const double x = noise((matrix * 40 + i) * 40 + j), scale = dtype == DT_F64 ? 1e300 : 1e36;
    switch (matrix % 6) {
    case 0:
        return x / scale;
    case 1:
        return x * scale;
    case 2:
        return x * pow(8, -(i + j) / 4.0);
    case 3:
        return noise((matrix * 40 + i) * 40 + (j ? j : 1)); /* the first two columns are equal */
    case 4:
        return x > 0 ? 1 : -1;
    default:
        return x;
    }
}

/* Swaps rows of A as the pivots say, and checks L U against them, elements of L up to 1, and pivots by ties. */
static void expect_lu(const problem *of, double *a, const double *lu, const int32_t *pivots, int matrix) {
    const int m = of->m, n = of->n, k = m < n ? m : n;
    double largest = 0, error = 0;
    for (int p = 0; p < k; p++) {
        const int other = pivots[p] - 1;
        assert_in_range(other, p, m - 1);
        if (matrix % 6 == 4 && p == 0)
            assert_int_equal(other, 0);
        for (int j = 0; j < n; j++) {
            const double x = a[p * n + j];
            a[p * n + j] = a[other * n + j];
            a[other * n + j] = x;
        }
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = -a[i * n + j];
            for (int p = 0; p < k && p <= i && p <= j; p++)
                sum += (p == i ? 1 : lu[i * n + p]) * lu[p * n + j];
            error = fmax(error, fabs(sum));
            largest = fmax(largest, fabs(i > j ? 0 : lu[i * n + j]));
            if (i > j && !(fabs(lu[i * n + j]) <= 1))
                fail_msg("%d x %d, matrix %d: L[%d,%d] is %g", m, n, matrix, i, j, lu[i * n + j]);
        }
    if (!(error <= 10 * n * spacing(of->dtype) * largest))
        fail_msg("dtype %d, %d x %d, matrix %d: error %g of %g", (int)of->dtype, m, n, matrix, error, largest);
}

static void lu__has_small_errors(void **state) {
    static const int sizes[][2] = {{1, 1}, {2, 2}, {3, 7}, {7, 3}, {8, 8}, {17, 17}, {32, 5}, {5, 32}, {32, 32}};
    (void)state;
    for (int d = 0; d < 2; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const int m = sizes[s][0], n = sizes[s][1], k = m < n ? m : n;
            const problem of = {d ? DT_F64 : DT_F32, DT__SMALL_LU, n, m};
            void *a = malloc(sizeof(double) * COUNT * MAX_N * MAX_N);
            for (int i = 0; i < COUNT * m * n; i++)
                set(of.dtype, a, i, general_element(of.dtype, i / (m * n), i / n % m, i % n));
            result got = result_new();
            run(dt__kernels_best(), &of, 0, a, NULL, 0, COUNT, &got);
            double *wide = as_doubles(of.dtype, a, COUNT * m * n), *lu = as_doubles(of.dtype, got.out, COUNT * m * n);
            for (int i = 0; i < COUNT; i++)
                expect_lu(&of, wide + i * m * n, lu + i * m * n, (const int32_t *)got.values + i * k, i);
            free(a), free(wide), free(lu);
            result_free(&got);
        }
}

static void pivots__are_the_first_largest(void **state) {
    double a[3][9] = {{1, 2, 3, -2, 1, 1, 2, 5, 1}, {0, 1, 2, 0, 3, 4, 0, 5, 7}, {1, NAN, 0, 3, 1, 0, 2, 2, 5}};
    int32_t *pivots;
    result got = result_new();
    (void)state;
    run(dt__kernels_best(), &(problem){DT_F64, DT__SMALL_LU, 3, 3}, 0, a, NULL, 0, 3, &got);
    pivots = got.values;
    assert_true(pivots[0] == 2 && pivots[1] == 3 && pivots[2] == 3);
    assert_true(pivots[3] == 1 && pivots[4] == 3 && pivots[5] == 3);
    assert_int_equal(pivots[6], 2);
    assert_true(got.infos[0] == 0 && got.infos[1] == 1 && got.infos[2] == 0);
    const double *lu = (double *)got.out + 9;
    assert_true(lu[0] == 0 && lu[3] == 0 && lu[6] == 0 && lu[4] == 5 && fabs(lu[7] - 0.6) < 1e-15);
    run(dt__kernels_best(), &(problem){DT_F64, DT__SMALL_DIAGONAL, 3, 0}, 0, a, NULL, 0, 2, &got);
    const double *diagonal = got.out;
    assert_true(diagonal[0] == 2 && diagonal[1] == -6 && fabs(diagonal[0] * diagonal[1] * diagonal[2] + 32) < 1e-12);
    assert_true(diagonal[3] == 0 && diagonal[4] == -5);
    result_free(&got);
}

/* |A X - B| of triangles of A, of their transposes, and by LU factors, in every form; some few matrices with many
 * right sides, which are then the lanes, with the same bits. */
static void expect_solution(const dt__small_matrices *of, dt_dtype dtype, int count) {
    const int n = of->n, r = of->n_rhs, size = n * n, size_b = n * r;
    double *a = as_doubles(dtype, of->a, count * size), *b = as_doubles(dtype, of->b, count * size_b);
    double *x = as_doubles(dtype, of->out, count * size_b);
    const int32_t *pivots = of->values;
    for (int m = 0; m < count; m++)
        for (int c = 0; c < r; c++) {
            double y[MAX_N], largest = 0, error = 0;
            const int row = of->right ? 1 : r, column = of->right ? n : 1;
            const bool is_lu = of->kind == DT__SMALL_LU_SOLVE, transposed = of->right != of->adjoint;
            for (int i = 0; i < n; i++)
                y[i] = x[m * size_b + i * row + c * column];
            for (int i = 0; is_lu && transposed && i < n; i++) {
                const int other = pivots[m * n + i] - 1;
                const double old = y[i];
                y[i] = y[other];
                y[other] = old;
            }
            for (int step = 0; step < (is_lu ? 2 : 1); step++) {
                const bool upper = is_lu ? step == (transposed ? 1 : 0) : of->upper;
                const bool unit = is_lu ? !upper : of->unit;
                double product[MAX_N] = {0};
                for (int i = 0; i < n; i++) {
                    product[i] = unit ? y[i] : 0;
                    for (int k = 0; k < n; k++) {
                        const int at_row = transposed ? k : i, at_column = transposed ? i : k;
                        if (at_row == at_column ? !unit : (at_row < at_column) == upper)
                            product[i] += a[m * size + at_row * n + at_column] * y[k];
                    }
                }
                memcpy(y, product, sizeof y);
            }
            for (int i = n - 1; is_lu && !transposed && i >= 0; i--) {
                const int other = pivots[m * n + i] - 1;
                const double old = y[i];
                y[i] = y[other];
                y[other] = old;
            }
            for (int i = 0; i < n; i++) {
                error = fmax(error, fabs(y[i] - b[m * size_b + i * row + c * column]));
                largest = fmax(largest, fabs(x[m * size_b + i * row + c * column]));
            }
            if (!(error <= 10 * n * spacing(dtype) * largest))
                fail_msg("dtype %d, kind %d, n = %d, %d right sides, right %d, upper %d, unit %d, adjoint %d: matrix "
                         "%d, %d: error %g of %g",
                         (int)dtype, (int)of->kind, n, r, of->right, of->upper, of->unit, of->adjoint, m, c, error,
                         largest);
        }
    free(a), free(b), free(x);
}

static void solve_systems(dt_dtype dtype, int n, int n_rhs, int form) {
    static _Alignas(64) char memory[BYTES];
    const bool is_lu = form & 8;
    const size_t bytes = dt_dtype_size(dtype) * COUNT * (size_t)(n * n_rhs);
    void *a = malloc(sizeof(double) * COUNT * (size_t)(n * n)),
         *b = malloc(sizeof(double) * COUNT * (size_t)(n * n_rhs));
    char *out = calloc(1, bytes), *again = calloc(1, bytes);
    int32_t pivots[COUNT * MAX_N], infos[COUNT];
    for (int i = 0; i < COUNT * n * n; i++)
        set(dtype, a, i, noise(i * 7 + i / 3) / n + (i % (n * n) % (n + 1) == 0));
    for (int i = 0; i < COUNT * n * n_rhs; i++)
        set(dtype, b, i, noise(i));
    for (int i = 0; i < COUNT * n; i++)
        pivots[i] = 1 + i % n + (i * 5) % (n - i % n);
    dt__small_matrices args = {.kind = is_lu ? DT__SMALL_LU_SOLVE : DT__SMALL_TRIANGULAR,
                               .n = n,
                               .n_rhs = n_rhs,
                               .upper = !is_lu && form & 1,
                               .right = form & 2,
                               .unit = !is_lu && form & 4,
                               .adjoint = is_lu && form & 1,
                               .a = a,
                               .b = b,
                               .out = out,
                               .values = is_lu ? pivots : NULL,
                               .infos = infos};
    dt__kernels_named("baseline")->loops->small_matrices[dtype](&args, 0, COUNT, memory);
    expect_solution(&args, dtype, COUNT);
    args.out = again;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const dt__kernels *kernels = dt__kernels_named(tables[t]);
        for (int step = 1; kernels && step <= COUNT; step += 3) {
            memset(again, 0, bytes);
            for (int first = 0; first < COUNT; first += step)
                kernels->loops->small_matrices[dtype](&args, first, first + step < COUNT ? first + step : COUNT,
                                                      memory);
            if (memcmp(out, again, bytes))
                fail_msg("dtype %d, n = %d, %d right sides, form %d: %s differs, %d at once", (int)dtype, n, n_rhs,
                         form, tables[t], step);
        }
    }
    free(a), free(b), free(out), free(again);
}

static void systems__have_small_errors_and_the_same_bits(void **state) {
    static const int sizes[] = {1, 2, 5, 16, 17, 32}, n_right_sides[] = {1, 3, 4, 9, 37};
    (void)state;
    for (int d = 0; d < 2; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t r = 0; r < sizeof n_right_sides / sizeof *n_right_sides; r++)
                for (int form = 0; form < 12; form++)
                    solve_systems(d ? DT_F64 : DT_F32, sizes[s], n_right_sides[r], form);
}

/* |Q R - A|, |Qᵀ Q - 1|, R below its diagonal, and signs: LAPACK's R has those of -A where columns have a reflector. */
static void factor_qr(dt_dtype dtype, int m, int n, int k) {
    static _Alignas(64) char memory[BYTES];
    const problem of = {dtype, DT__SMALL_QR, n, m};
    void *a = malloc(sizeof(double) * COUNT * MAX_N * MAX_N);
    for (int i = 0; i < COUNT * m * n; i++)
        set(dtype, a, i, general_element(dtype, i / (m * n), i / n % m, i % n));
    result got = result_new(), again = result_new();
    dt__small_matrices args = {.kind = DT__SMALL_QR,
                               .n = n,
                               .m = m,
                               .n_rhs = k,
                               .a = a,
                               .out = got.out,
                               .values = got.values,
                               .infos = got.infos};
    dt__kernels_named("baseline")->loops->small_matrices[dtype](&args, 0, COUNT, memory);
    double *wide = as_doubles(dtype, a, COUNT * m * n), *q = as_doubles(dtype, got.out, COUNT * m * k);
    double *r = as_doubles(dtype, got.values, COUNT * k * n);
    for (int at = 0; at < COUNT; at++) {
        const double *my_a = wide + at * m * n, *my_q = q + at * m * k, *my_r = r + at * k * n;
        for (int j = 0; j < n; j++) {
            double error = 0, largest = 0;
            for (int i = 0; i < m; i++) {
                double sum = -my_a[i * n + j];
                for (int p = 0; p < k; p++)
                    sum += my_q[i * k + p] * my_r[p * n + j];
                error = fmax(error, fabs(sum));
                largest = fmax(largest, fabs(my_a[i * n + j]));
            }
            if (!(error <= 10 * m * spacing(dtype) * largest))
                fail_msg("dtype %d, %d x %d, matrix %d, column %d: error %g of %g", (int)dtype, m, n, at, j, error,
                         largest);
            for (int i = j + 1; i < k; i++)
                assert_true(my_r[i * n + j] == 0);
        }
        if (m > 1)
            assert_true((my_r[0] > 0) == (my_a[0] < 0));
        else
            assert_true(my_r[0] == my_a[0]);
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++) {
                double sum = -(i == j);
                for (int p = 0; p < m; p++)
                    sum += my_q[p * k + i] * my_q[p * k + j];
                assert_true(fabs(sum) <= 10 * m * spacing(dtype));
            }
    }
    args.out = again.out, args.values = again.values, args.infos = again.infos;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const dt__kernels *kernels = dt__kernels_named(tables[t]);
        for (int step = 1; kernels && step <= COUNT; step += 3) {
            for (int first = 0; first < COUNT; first += step)
                kernels->loops->small_matrices[dtype](&args, first, first + step < COUNT ? first + step : COUNT,
                                                      memory);
            expect_same(&of, tables[t], &got, &again);
        }
    }
    free(a), free(wide), free(q), free(r);
    result_free(&got);
    result_free(&again);
}

static void qr__has_small_errors_and_the_same_bits(void **state) {
    static const int sizes[][2] = {{1, 1}, {1, 4},   {4, 1},  {3, 7},  {7, 3},
                                   {8, 8}, {17, 17}, {32, 5}, {5, 32}, {32, 32}};
    (void)state;
    for (int d = 0; d < 2; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const int m = sizes[s][0], n = sizes[s][1];
            factor_qr(d ? DT_F64 : DT_F32, m, n, m < n ? m : n);
            factor_qr(d ? DT_F64 : DT_F32, m, n, m);
        }
}

static void qr__scales_columns(void **state) {
    /* A small element below a large one makes a reflector, and of a column of zeros the diagonal stays; NaN spreads. */
    double a[4][4] = {{1, 2, 1e-200, 3}, {-2, 5, 0, 1}, {0, 1, 0, 2}, {1, 1, NAN, 1}};
    result got = result_new();
    (void)state;
    run(dt__kernels_best(), &(problem){DT_F64, DT__SMALL_QR, 2, 2}, 2, a, NULL, 0, 4, &got);
    const double *r = got.values;
    assert_true(r[0] == -1 && r[1] == -2);
    assert_true(r[4] == -2 && r[5] == 5 && r[7] == 1);
    assert_true(r[8] == 0 && r[9] == 1 && r[11] == 2);
    assert_true(isnan(r[12]) && isnan(r[13]));
    result_free(&got);
}

static void bad_matrices__have_info(void **state) {
    const dt__kernels *kernels = dt__kernels_best();
    (void)state;
    double a[3][4] = {{4, 2, 2, 1}, {2, 0, 0, 2}, {NAN, 0, 0, 1}};
    result got = result_new();
    run(kernels, &(problem){DT_F64, DT__SMALL_CHOLESKY, 2, 0}, 0, a, NULL, 0, 3, &got);
    assert_int_equal(got.infos[0], 2);
    assert_int_equal(got.infos[1], 0);
    assert_int_equal(got.infos[2], 1);
    const double b[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    run(kernels, &(problem){DT_F64, DT__SMALL_SOLVE, 2, 0}, 1, a, b, 0, 2, &got);
    assert_int_equal(got.infos[0], 2);
    assert_int_equal(got.infos[1], 0);
    assert_true(((double *)got.out)[2] == 1.5 && ((double *)got.out)[3] == 2);
    run(kernels, &(problem){DT_F64, DT__SMALL_EIGH, 2, 0}, 0, a, NULL, 0, 3, &got);
    assert_true(((double *)got.values)[2] == 2 && ((double *)got.values)[3] == 2);
    assert_true(isnan(((double *)got.values)[4]) && isnan(((double *)got.out)[11]));
    assert_true(got.infos[0] == 0 && got.infos[1] == 0 && got.infos[2] == -1);
    result_free(&got);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches__have_the_same_bits_everywhere),
        cmocka_unit_test(lu__has_small_errors),
        cmocka_unit_test(pivots__are_the_first_largest),
        cmocka_unit_test(systems__have_small_errors_and_the_same_bits),
        cmocka_unit_test(qr__has_small_errors_and_the_same_bits),
        cmocka_unit_test(qr__scales_columns),
        cmocka_unit_test(bad_matrices__have_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
