/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of small matrices of every dtype, real and complex: residuals of factors, solutions, eigenvalues and singular
 * values, whose matrices are random, graded, tiny, huge, of deficient rank or zero; and the same bits from every
 * instruction set, and of a matrix alone as in a batch. test_small_matrices.c has what real numbers have besides.
 */
#include "kernels/kernels.h"
#include "support/check.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 19, MAX_N = 33, SIZE = MAX_N * MAX_N, BYTES = 4 << 20 };

static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_C64, DT_C128};
static const char *const tables[] = {"baseline", "avx2", "avx512"};

static bool is_double(dt_dtype dtype) { return dtype == DT_F64 || dtype == DT_C128; }
static bool is_complex(dt_dtype dtype) { return dtype == DT_C64 || dtype == DT_C128; }
static double epsilon(dt_dtype dtype) { return is_double(dtype) ? DBL_EPSILON : FLT_EPSILON; }

static double complex get(dt_dtype dtype, const void *array, int64_t i) {
    return dtype == DT_F32   ? ((const float *)array)[i]
           : dtype == DT_F64 ? ((const double *)array)[i]
           : dtype == DT_C64 ? (double complex)((const float complex *)array)[i]
                             : ((const double complex *)array)[i];
}

static void set(dt_dtype dtype, void *array, int64_t i, double complex x) {
    if (dtype == DT_F32)
        ((float *)array)[i] = (float)creal(x);
    else if (dtype == DT_F64)
        ((double *)array)[i] = creal(x);
    else if (dtype == DT_C64)
        ((float complex *)array)[i] = (float complex)x;
    else
        ((double complex *)array)[i] = x;
}

static double noise(int64_t i) {
    uint64_t mixed = (uint64_t)(i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xBF58476D1CE4E5B9);
    return (double)(mixed >> 40) / (double)(1 << 23) - 1;
}

static double complex number(dt_dtype dtype, int64_t i) {
    return noise(2 * i) + (is_complex(dtype) ? I * noise(2 * i + 1) : 0);
}

/* Element [i,j] of a matrix. The scaled ones are divided by the scale where errors are computed. */
enum { TINY, HUGE_ONES, GRADED, DEFICIENT, SMALL_BLOCK, ZERO, RANDOM, N_FORMS };
static double scale_of(dt_dtype dtype, int form) {
    const double scale = is_double(dtype) ? 1e290 : 1e30;
    return form == TINY ? 1 / scale : form == HUGE_ONES ? scale : 1;
}

static double complex element(dt_dtype dtype, int matrix, int i, int j) {
    const int form = matrix % N_FORMS;
    const double complex x = number(dtype, (matrix * 40 + i) * 40 + j);
    switch (form) {
    case GRADED:
        return x * pow(4, -(i + j) / 4.0);
    case DEFICIENT: /* of rank 2 */
        return number(dtype, 40 * i) * number(dtype, 9000 + j) + number(dtype, 40 * i + 7) * number(dtype, 9100 + j);
    case SMALL_BLOCK: /* one element near 1, and the others so small that their squares underflow */
        return i == 0 && j == 0 ? 1 : i == 0 || j == 0 ? 0 : x * (is_double(dtype) ? 1e-160 : 1e-21);
    case ZERO:
        return 0;
    default:
        return x * scale_of(dtype, form);
    }
}

/* Hermitian; with `shift` on the diagonal it is definite. */
static double complex hermitian(dt_dtype dtype, int matrix, int i, int j, double shift) {
    const double complex x = (element(dtype, matrix, i, j) + conj(element(dtype, matrix, j, i))) / 2;
    return x + (i == j ? shift * scale_of(dtype, matrix % N_FORMS) : 0);
}

/* Results have memory for a matrix of each batch. */
typedef struct result {
    void *out, *values, *vh;
    int32_t infos[COUNT];
} result;

static result result_new(void) {
    const size_t bytes = sizeof(double complex) * COUNT * SIZE;
    return (result){.out = calloc(1, bytes), .values = calloc(1, bytes), .vh = calloc(1, bytes)};
}
static void result_free(result *self) { free(self->out), free(self->values), free(self->vh); }

static void run(const dt__kernels *kernels, dt_dtype dtype, dt__small_matrices args, int step, bool has_vh,
                result *to) {
    static _Alignas(64) char memory[BYTES];
    args.out = to->out, args.values = args.values ? args.values : to->values, args.vh = has_vh ? to->vh : NULL;
    args.infos = to->infos;
    for (int first = 0; first < COUNT; first += step)
        kernels->loops->small_matrices[dtype](&args, first, first + step < COUNT ? first + step : COUNT, memory);
}

/* The results of baseline, after all other ways have had the same bits. */
static result run_all(dt_dtype dtype, const dt__small_matrices *args) {
    const size_t bytes = sizeof(double complex) * COUNT * SIZE;
    result expected = result_new();
    run(dt__kernels_named("baseline"), dtype, *args, COUNT, true, &expected);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const dt__kernels *kernels = dt__kernels_named(tables[t]);
        for (int step = 1; kernels && step <= COUNT; step += 6) {
            result got = result_new();
            run(kernels, dtype, *args, step, true, &got);
            if (memcmp(got.out, expected.out, bytes) || memcmp(got.values, expected.values, bytes) ||
                memcmp(got.vh, expected.vh, bytes) || memcmp(got.infos, expected.infos, sizeof got.infos))
                fail_msg("dtype %d, kind %d, [%d,%d]: %s differs, %d at once", (int)dtype, (int)args->kind, args->m,
                         args->n, tables[t], step);
            result_free(&got);
        }
    }
    return expected;
}

/* Numbers of a matrix, by a scale. */
static void read_matrix(dt_dtype dtype, const void *array, int64_t matrix, int64_t size, double by,
                        double complex *out) {
    for (int64_t i = 0; i < size; i++)
        out[i] = get(dtype, array, matrix * size + i) / by;
}

/* C = op(A) op(B) of [m,k] and [k,n], with op the adjoint where asked; then |C - D|, D = NULL: the unit matrix. */
static double distance(int m, int k, int n, const double complex *a, bool a_adjoint, const double complex *b,
                       bool b_adjoint, const double complex *d) {
    double error = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double complex sum = d ? -d[i * n + j] : -(i == j);
            for (int p = 0; p < k; p++)
                sum +=
                    (a_adjoint ? conj(a[p * m + i]) : a[i * k + p]) * (b_adjoint ? conj(b[j * k + p]) : b[p * n + j]);
            error = fmax(error, cabs(sum));
            if (isnan(creal(sum)) || isnan(cimag(sum)))
                return NAN;
        }
    return error;
}

static double largest(int64_t n, const double complex *x) {
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, cabs(x[i]));
    return most;
}

static void expect_small(const char *what, dt_dtype dtype, int m, int n, int matrix, double error, double size) {
    const int longer = m > n ? m : n;
    if (!(error <= 10 * longer * epsilon(dtype) * size))
        fail_msg("%s, dtype %d, [%d,%d], matrix %d: error %g of %g", what, (int)dtype, m, n, matrix, error, size);
}

typedef double complex block[SIZE];

static void decompose(dt_dtype dtype, int m, int n, bool full) {
    const int k = m < n ? m : n, n_left = full ? m : k, n_right = full ? n : k;
    const dt_dtype real = is_double(dtype) ? DT_F64 : DT_F32;
    void *a = malloc(sizeof(block) * COUNT);
    for (int i = 0; i < COUNT * m * n; i++)
        set(dtype, a, i, element(dtype, i / (m * n), i / n % m, i % n));
    const dt__small_matrices args = {.kind = DT__SMALL_SVD, .m = m, .n = n, .full = full, .a = a};
    result got = run_all(dtype, &args);
    for (int matrix = 0; matrix < COUNT; matrix++) {
        static block as, u, s, vh, us;
        const double by = scale_of(dtype, matrix % N_FORMS);
        assert_int_equal(got.infos[matrix], 0);
        read_matrix(dtype, a, matrix, m * n, by, as);
        read_matrix(dtype, got.out, matrix, m * n_left, 1, u);
        read_matrix(real, got.values, matrix, k, by, s);
        read_matrix(dtype, got.vh, matrix, n_right * n, 1, vh);
        for (int i = 0; i < k; i++)
            assert_true(creal(s[i]) >= 0 && (i == 0 || creal(s[i]) <= creal(s[i - 1])));
        for (int i = 0; i < m * k; i++)
            us[i] = u[i / k * n_left + i % k] * s[i % k];
        expect_small("U S Vh", dtype, m, n, matrix, distance(m, k, n, us, false, vh, false, as), largest(m * n, as));
        expect_small("U", dtype, m, n, matrix, distance(n_left, m, n_left, u, true, u, false, NULL), 1);
        expect_small("Vh", dtype, m, n, matrix, distance(n_right, n, n_right, vh, false, vh, true, NULL), 1);
    }
    result alone = result_new(); /* values without vectors */
    dt__small_matrices values = args;
    static _Alignas(64) char memory[BYTES];
    values.values = alone.values, values.infos = alone.infos;
    dt__kernels_best()->loops->small_matrices[dtype](&values, 0, COUNT, memory);
    assert_memory_equal(alone.values, got.values, dt_dtype_size(real) * (size_t)(COUNT * k));
    result_free(&got), result_free(&alone), free(a);
}

static void svd__has_small_residuals_and_the_same_bits(void **state) {
    static const int sizes[][2] = {{1, 1}, {1, 4}, {4, 1}, {2, 2}, {3, 7}, {8, 8}, {17, 9}, {5, 32}, {32, 32}};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            decompose(dtypes[d], sizes[s][0], sizes[s][1], s % 2);
}

static void svd__of_bad_matrices_has_info(void **state) {
    static _Alignas(64) char memory[BYTES];
    double a[3][4] = {{0, 2, 0, 0}, {NAN, 0, 0, 1}, {1, 0, INFINITY, 1}}, s[3][2], u[3][4], vh[3][4];
    int32_t infos[3];
    const dt__small_matrices args = {
        .kind = DT__SMALL_SVD, .m = 2, .n = 2, .a = a, .out = u, .values = s, .vh = vh, .infos = infos};
    (void)state;
    dt__kernels_best()->loops->small_matrices[DT_F64](&args, 0, 3, memory);
    assert_true(infos[0] == 0 && s[0][0] == 2 && s[0][1] == 0);
    assert_true(infos[1] == -1 && isnan(s[1][0]) && isnan(s[1][1]));
    assert_true(infos[2] == -1 && isnan(s[2][0]));
}

static void decompose_hermitian(dt_dtype dtype, int n, bool upper) {
    const dt_dtype real = is_double(dtype) ? DT_F64 : DT_F32;
    void *a = malloc(sizeof(block) * COUNT);
    for (int i = 0; i < COUNT * n * n; i++) /* the other triangle is not read */
        set(dtype, a, i,
            (i % n > i / n % n) != upper && i % n != i / n % n ? NAN
                                                               : hermitian(dtype, i / (n * n), i / n % n, i % n, 0));
    result got = run_all(dtype, &(dt__small_matrices){.kind = DT__SMALL_EIGH, .n = n, .upper = upper, .a = a});
    for (int matrix = 0; matrix < COUNT; matrix++) {
        static block as, v, l, vl;
        const double by = scale_of(dtype, matrix % N_FORMS);
        assert_int_equal(got.infos[matrix], 0);
        for (int i = 0; i < n * n; i++)
            as[i] = hermitian(dtype, matrix, i / n, i % n, 0) / by;
        read_matrix(dtype, got.out, matrix, n * n, 1, v);
        read_matrix(real, got.values, matrix, n, by, l);
        for (int i = 0; i < n * n; i++)
            vl[i] = v[i] * l[i % n];
        expect_small("V L Vh", dtype, n, n, matrix, distance(n, n, n, vl, false, v, true, as), largest(n * n, as));
        expect_small("V", dtype, n, n, matrix, distance(n, n, n, v, true, v, false, NULL), 1);
        for (int j = 0; j < n; j++) {
            double complex most = 0;
            for (int i = 0; i < n; i++)
                most = cabs(v[i * n + j]) > cabs(most) * (1 + 4 * epsilon(dtype)) ? v[i * n + j] : most;
            assert_true(creal(most) > 0 && fabs(cimag(most)) <= 4 * epsilon(dtype));
        }
    }
    result_free(&got), free(a);
}

static void eigh__has_small_residuals_and_the_same_bits(void **state) {
    static const int sizes[] = {1, 2, 3, 8, 17, 32, 33};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            decompose_hermitian(dtypes[d], sizes[s], s % 2);
}

static void factor_definite(dt_dtype dtype, int n, bool upper) {
    void *a = malloc(sizeof(block) * COUNT);
    for (int i = 0; i < COUNT * n * n; i++)
        set(dtype, a, i, hermitian(dtype, i / (n * n), i / n % n, i % n, 2.0 * n));
    result got = run_all(dtype, &(dt__small_matrices){.kind = DT__SMALL_CHOLESKY, .n = n, .upper = upper, .a = a});
    for (int matrix = 0; matrix < COUNT; matrix++) {
        static block as, l;
        const double by = scale_of(dtype, matrix % N_FORMS);
        assert_int_equal(got.infos[matrix], 0);
        read_matrix(dtype, a, matrix, n * n, by, as);
        read_matrix(dtype, got.out, matrix, n * n, sqrt(by), l);
        expect_small("L Lh", dtype, n, n, matrix, distance(n, n, n, l, upper, l, !upper, as), largest(n * n, as));
    }
    result_free(&got), free(a);
}

/* A X = B, or X A = B, for diagonally dominant matrices; B = NULL: the inverse. */
static void solve(dt_dtype dtype, int n, int n_rhs, bool right) {
    void *a = malloc(sizeof(block) * COUNT), *b = malloc(sizeof(block) * COUNT);
    for (int i = 0; i < COUNT * n * n; i++)
        set(dtype, a, i, number(dtype, i) + (i % (n * n) % (n + 1) == 0 ? 4 : 0));
    for (int i = 0; i < COUNT * n * n_rhs; i++)
        set(dtype, b, i, number(dtype, 7 * i + 3));
    const dt__small_matrices args = {
        .kind = DT__SMALL_SOLVE, .n = n, .n_rhs = n_rhs ? n_rhs : n, .right = right, .a = a, .b = n_rhs ? b : NULL};
    result got = run_all(dtype, &args);
    for (int matrix = 0; matrix < COUNT; matrix++) {
        static block as, bs, x;
        const int k = args.n_rhs;
        assert_int_equal(got.infos[matrix], 0);
        read_matrix(dtype, a, matrix, n * n, 1, as);
        read_matrix(dtype, b, matrix, n * k, 1, bs);
        read_matrix(dtype, got.out, matrix, n * k, 1, x);
        const double error = right ? distance(k, n, n, x, false, as, false, n_rhs ? bs : NULL)
                                   : distance(n, n, k, as, false, x, false, n_rhs ? bs : NULL);
        expect_small("solve", dtype, n, k, matrix, error, (largest(n * n, as)) * (n * largest(n * k, x) + 1));
    }
    result_free(&got), free(a), free(b);
}

/* X of systems with L U, whose pivots swap rows, and of its adjoint: L U X is formed from X by definition. */
static void solve_by_factors(dt_dtype dtype, int n, int n_rhs, bool adjoint) {
    void *a = malloc(sizeof(block) * COUNT), *b = malloc(sizeof(block) * COUNT);
    for (int i = 0; i < COUNT * n * n; i++)
        set(dtype, a, i,
            element(dtype, RANDOM + N_FORMS * (i / (n * n)), i / n % n, i % n) +
                (i % (n * n) % (n + 1) == 0 ? 1 : 0));
    for (int i = 0; i < COUNT * n * n_rhs; i++)
        set(dtype, b, i, number(dtype, 7 * i + 3));
    result lu = run_all(dtype, &(dt__small_matrices){.kind = DT__SMALL_LU, .m = n, .n = n, .a = a});
    result got = run_all(dtype, &(dt__small_matrices){.kind = DT__SMALL_LU_SOLVE,
                                                      .n = n,
                                                      .n_rhs = n_rhs,
                                                      .adjoint = adjoint,
                                                      .a = lu.out,
                                                      .b = b,
                                                      .values = lu.values});
    for (int matrix = 0; matrix < COUNT; matrix++) {
        static block as, bs, x;
        assert_int_equal(lu.infos[matrix], 0);
        read_matrix(dtype, a, matrix, n * n, 1, as);
        read_matrix(dtype, b, matrix, n * n_rhs, 1, bs);
        read_matrix(dtype, got.out, matrix, n * n_rhs, 1, x);
        expect_small("lu_solve", dtype, n, n_rhs, matrix, distance(n, n, n_rhs, as, adjoint, x, false, bs),
                     largest(n * n, as) * (n * largest(n * n_rhs, x) + 1));
    }
    result_free(&lu), result_free(&got), free(a), free(b);
}

/* Q R = A and Qᴴ Q = 1, and R of geqrf is the same. */
static void factor_qr(dt_dtype dtype, int m, int n) {
    const int k = m < n ? m : n;
    void *a = malloc(sizeof(block) * COUNT);
    for (int i = 0; i < COUNT * m * n; i++)
        set(dtype, a, i, element(dtype, i / (m * n), i / n % m, i % n));
    result got = run_all(dtype, &(dt__small_matrices){.kind = DT__SMALL_QR, .m = m, .n = n, .n_rhs = k, .a = a});
    result packed = run_all(dtype, &(dt__small_matrices){.kind = DT__SMALL_GEQRF, .m = m, .n = n, .a = a});
    for (int matrix = 0; matrix < COUNT; matrix++) {
        static block as, q, r;
        const double by = scale_of(dtype, matrix % N_FORMS);
        read_matrix(dtype, a, matrix, m * n, by, as);
        read_matrix(dtype, got.out, matrix, m * k, 1, q);
        read_matrix(dtype, got.values, matrix, k * n, by, r);
        expect_small("Q R", dtype, m, n, matrix, distance(m, k, n, q, false, r, false, as), largest(m * n, as));
        expect_small("Q", dtype, m, n, matrix, distance(k, m, k, q, true, q, false, NULL), 1);
        for (int i = 0; i < k; i++)
            for (int j = i; j < n; j++)
                assert_true(get(dtype, packed.out, (matrix * m + i) * n + j) ==
                            get(dtype, got.values, (matrix * k + i) * n + j));
    }
    result_free(&got), result_free(&packed), free(a);
}

static void factors__and_solutions_have_small_residuals_and_the_same_bits(void **state) {
    static const int sizes[] = {1, 2, 5, 16, 17, 32};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const int n = sizes[s];
            factor_definite(dtypes[d], n, s % 2);
            solve(dtypes[d], n, (int)(s % 3) * 4, false);
            solve(dtypes[d], n, 5, true);
            solve_by_factors(dtypes[d], n, s % 2 ? 3 : 21, s % 2);
            solve_by_factors(dtypes[d], n, s % 2 ? 21 : 3, !(s % 2));
            factor_qr(dtypes[d], n, n);
            factor_qr(dtypes[d], n, 7);
            factor_qr(dtypes[d], 9, n);
        }
}

/* Pivots are those with the largest sum of the parts' magnitudes, the first of equal ones; no square overflows. */
static void complex_numbers__have_pivots_and_info(void **state) {
    static _Alignas(64) char memory[BYTES];
    double complex a[3][4] = {{3, 1, 2 + 2 * I, 1}, {0, 1, 0, 2}, {1e300 * I, 1, 1e300, I}}, lu[3][4];
    int32_t pivots[3][2], infos[3];
    dt__small_matrices args = {
        .kind = DT__SMALL_LU, .m = 2, .n = 2, .a = a, .out = lu, .values = pivots, .infos = infos};
    (void)state;
    dt__kernels_best()->loops->small_matrices[DT_C128](&args, 0, 3, memory);
    assert_true(pivots[0][0] == 2 && pivots[1][0] == 1 && pivots[2][0] == 1);
    assert_true(infos[0] == 0 && infos[1] == 1 && infos[2] == 0);
    assert_true(cabs(lu[0][2] - 0.75 * (1 - I)) < 1e-15 && cabs(lu[2][2] + I) < 1e-15 &&
                cabs(lu[2][3] - 2 * I) < 1e-15);
    double complex b[2][4] = {{4, 99, 2 * I, 5},
                              {2, 99, 4, 1}}; /* L of [4, -2i; 2i, 5]; the second is not definite */
    args = (dt__small_matrices){.kind = DT__SMALL_CHOLESKY, .n = 2, .a = b, .out = lu, .infos = infos};
    dt__kernels_best()->loops->small_matrices[DT_C128](&args, 0, 2, memory);
    assert_true(infos[0] == 0 && infos[1] == 2);
    assert_true(lu[0][0] == 2 && lu[0][1] == 0 && lu[0][2] == I && lu[0][3] == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svd__has_small_residuals_and_the_same_bits),
        cmocka_unit_test(svd__of_bad_matrices_has_info),
        cmocka_unit_test(eigh__has_small_residuals_and_the_same_bits),
        cmocka_unit_test(factors__and_solutions_have_small_residuals_and_the_same_bits),
        cmocka_unit_test(complex_numbers__have_pivots_and_info),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
