/* SPDX-License-Identifier: Apache-2.0
 *
 * Each LAPACK routine in its four dtypes: the factors, solutions and inverses of random matrices multiply to what they
 * should, by plain loops in f64. Sizes are odd, leading dimensions are larger than they must be.
 */
#include "kernels/kernels.h"
#include "support/check.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#ifndef CMPLX /* clang with the headers of glibc */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

enum { M = 13, N = 9, LD = 16, N_RHS = 3, MAX_WORK = 1 << 18 };

typedef double complex number;
typedef number matrix[LD][LD]; /* [column][row], as LAPACK stores it */

static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_C64, DT_C128};
static dt_dtype dtype; /* that is tested */
static uint64_t state_of_random;
static _Alignas(16) char work_memory[MAX_WORK];

static bool is_complex(void) { return dtype == DT_C64 || dtype == DT_C128; }
static bool is_double(void) { return dtype == DT_F64 || dtype == DT_C128; }
static double epsilon(void) { return is_double() ? 1e-13 : 1e-4; }

static void put(void *array, int64_t i, number x) {
    switch (dtype) {
    case DT_F32:
        ((float *)array)[i] = (float)creal(x);
        break;
    case DT_F64:
        ((double *)array)[i] = creal(x);
        break;
    case DT_C64:
        ((float complex *)array)[i] = (float complex)x;
        break;
    default:
        ((number *)array)[i] = x;
    }
}

static number get(const void *array, int64_t i) {
    return dtype == DT_F32   ? ((const float *)array)[i]
           : dtype == DT_F64 ? ((const double *)array)[i]
           : dtype == DT_C64 ? ((const float complex *)array)[i]
                             : ((const number *)array)[i];
}

static double get_real(const void *array, int64_t i) {
    return is_double() ? ((const double *)array)[i] : ((const float *)array)[i];
}

/* To and from LAPACK's memory, whose leading dimension is LD. */
static void pack(const matrix x, void *out) {
    for (int i = 0; i < LD * LD; i++)
        put(out, i, x[i / LD][i % LD]);
}
static void unpack(const void *from, matrix out) {
    for (int i = 0; i < LD * LD; i++)
        out[i / LD][i % LD] = get(from, i);
}

static number random_number(void) {
    const double re = (double)(test_below(&state_of_random, 2001) - 1000) / 1000;
    const double im = (double)(test_below(&state_of_random, 2001) - 1000) / 1000;
    return is_complex() ? CMPLX(re, im) : re;
}

/* Rounded to the dtype. Elements outside are noise. */
static void make_random(matrix out) {
    static _Alignas(16) char memory[LD * LD * 16];
    for (int i = 0; i < LD * LD; i++)
        put(memory, i, random_number());
    unpack(memory, out);
}

static void multiply(int m, int n, int k, const matrix a, const matrix b, matrix out) {
    matrix result = {{0}};
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            for (int l = 0; l < k; l++)
                result[j][i] += a[l][i] * b[j][l];
    memcpy(out, result, sizeof result);
}

static void adjoint(int m, int n, const matrix a, matrix out) {
    matrix result = {{0}};
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            result[i][j] = conj(a[j][i]);
    memcpy(out, result, sizeof result);
}

/* The part of a triangle, with ones on the diagonal if it is a unit one. */
static void triangle(const matrix a, bool lower, bool unit, matrix out) {
    matrix result = {{0}};
    for (int j = 0; j < LD; j++)
        for (int i = 0; i < LD; i++)
            result[j][i] = i == j && unit ? 1 : (lower ? i >= j : i <= j) ? a[j][i] : 0;
    memcpy(out, result, sizeof result);
}

static double largest_of(int m, int n, const matrix x) {
    double largest = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            largest = fmax(largest, cabs(x[j][i]));
    return largest;
}

/* Numbers that were computed from some of this size. */
static void assert_near_by(double size, int m, int n, const matrix x, const matrix y) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            if (!(cabs(x[j][i] - y[j][i]) <= epsilon() * fmax(size, 1)))
                fail_msg("%s [%d,%d]: %g%+gi, expected %g%+gi", dt_dtype_name(dtype), i, j, creal(x[j][i]),
                         cimag(x[j][i]), creal(y[j][i]), cimag(y[j][i]));
}

static void assert_near(int m, int n, const matrix x, const matrix y) {
    assert_near_by(largest_of(m, n, y), m, n, x, y);
}

static void assert_identity_by(double size, int n, const matrix x) {
    matrix identity = {{0}};
    for (int i = 0; i < n; i++)
        identity[i][i] = 1;
    assert_near_by(size, n, n, x, identity);
}

static void assert_identity(int n, const matrix x) { assert_identity_by(1, n, x); }

static void assert_unitary(int m, int n, const matrix q) {
    matrix h, product;
    adjoint(m, n, q, h);
    multiply(n, n, m, h, q, product);
    assert_identity(n, product);
}

/* Hermitian (or symmetric); positive definite with a shift. */
static void make_hermitian(double shift, bool conjugates, matrix out) {
    make_random(out);
    for (int j = 0; j < LD; j++)
        for (int i = 0; i <= j; i++) {
            if (i == j)
                out[j][j] = conjugates ? creal(out[j][j]) + shift : out[j][j];
            else
                out[i][j] = conjugates ? conj(out[j][i]) : out[j][i];
        }
}

/* Memory for the call after its query. */
static dt__lapack_work *with_memory(dt__lapack_work *work) {
    assert_in_range(work->bytes, 1, MAX_WORK);
    memset(work_memory, 0x5a, MAX_WORK);
    work->memory = work_memory;
    return work;
}

static void check_after(const dt__lapack_work *work) {
    for (size_t i = work->bytes; i < MAX_WORK; i++)
        assert_int_equal(work_memory[i], 0x5a);
}

#define ARRAY(name) static _Alignas(16) char name[LD * LD * 16]

static void check_cholesky(void) {
    ARRAY(a);
    ARRAY(b);
    matrix whole, factor, h, product, right, solution;
    make_hermitian(20, true, whole);
    make_random(right);
    pack(whole, a);
    assert_int_equal(dt__lapack_potrf(dtype, 'L', N, a, LD), 0);
    unpack(a, factor);
    triangle(factor, true, false, factor);
    adjoint(N, N, factor, h);
    multiply(N, N, N, factor, h, product);
    assert_near(N, N, product, whole);
    pack(right, b);
    assert_int_equal(dt__lapack_potrs(dtype, 'L', N, N_RHS, a, LD, b, LD), 0);
    unpack(b, solution);
    multiply(N, N_RHS, N, whole, solution, product);
    assert_near_by(largest_of(N, N, whole) * largest_of(N, N_RHS, solution), N, N_RHS, product, right);
    assert_int_equal(dt__lapack_potri(dtype, 'L', N, a, LD), 0);
    unpack(a, factor);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < j; i++)
            factor[j][i] = conj(factor[i][j]);
    multiply(N, N, N, whole, factor, product);
    assert_identity(N, product);
    whole[3][3] = -1; /* the leading minor of order 4 is not positive */
    pack(whole, a);
    assert_int_equal(dt__lapack_potrf(dtype, 'L', N, a, LD), 4);
}

static void check_lu(void) {
    ARRAY(a);
    ARRAY(b);
    int pivots[LD];
    matrix whole, factor, lower, upper, product, right, solution;
    dt__lapack_work work = {0};
    make_random(whole);
    make_random(right);
    pack(whole, a);
    assert_int_equal(dt__lapack_getrf(dtype, N, N, a, LD, pivots), 0);
    unpack(a, factor);
    triangle(factor, true, true, lower);
    triangle(factor, false, false, upper);
    multiply(N, N, N, lower, upper, product);
    for (int i = N - 1; i >= 0; i--)
        for (int j = 0; j < N; j++) {
            const number x = product[j][i];
            product[j][i] = product[j][pivots[i] - 1];
            product[j][pivots[i] - 1] = x;
        }
    assert_near(N, N, product, whole);
    pack(right, b);
    assert_int_equal(dt__lapack_getrs(dtype, 'N', N, N_RHS, a, LD, pivots, b, LD), 0);
    unpack(b, solution);
    multiply(N, N_RHS, N, whole, solution, product);
    assert_near_by(largest_of(N, N, whole) * largest_of(N, N_RHS, solution), N, N_RHS, product, right);
    assert_int_equal(dt__lapack_getri(dtype, N, NULL, LD, NULL, &work), 0);
    assert_int_equal(dt__lapack_getri(dtype, N, a, LD, pivots, with_memory(&work)), 0);
    check_after(&work);
    unpack(a, factor);
    multiply(N, N, N, whole, factor, product);
    assert_identity_by(largest_of(N, N, whole) * largest_of(N, N, factor), N, product);
}

static void check_triangular(void) {
    ARRAY(a);
    ARRAY(b);
    matrix whole, upper, product, right, solution;
    make_random(whole);
    make_random(right);
    for (int i = 0; i < N; i++)
        whole[i][i] += 3;
    triangle(whole, false, false, upper);
    pack(whole, a);
    pack(right, b);
    assert_int_equal(dt__lapack_trtrs(dtype, 'U', 'N', 'N', N, N_RHS, a, LD, b, LD), 0);
    unpack(b, solution);
    multiply(N, N_RHS, N, upper, solution, product);
    assert_near_by(largest_of(N, N, whole) * largest_of(N, N_RHS, solution), N, N_RHS, product, right);
    assert_int_equal(dt__lapack_trtri(dtype, 'U', 'N', N, a, LD), 0);
    unpack(a, solution);
    triangle(solution, false, false, solution);
    multiply(N, N, N, upper, solution, product);
    assert_identity(N, product);
}

static void check_ldl(bool hermitian) {
    ARRAY(a);
    ARRAY(b);
    int pivots[LD];
    matrix whole, product, right, solution;
    dt__lapack_work work = {0};
    make_hermitian(0, hermitian, whole);
    make_random(right);
    pack(whole, a);
    pack(right, b);
    if (hermitian) {
        assert_int_equal(dt__lapack_hetrf(dtype, 'L', N, NULL, LD, NULL, &work), 0);
        assert_int_equal(dt__lapack_hetrf(dtype, 'L', N, a, LD, pivots, with_memory(&work)), 0);
        assert_int_equal(dt__lapack_hetrs(dtype, 'L', N, N_RHS, a, LD, pivots, b, LD), 0);
    } else {
        assert_int_equal(dt__lapack_sytrf(dtype, 'L', N, NULL, LD, NULL, &work), 0);
        assert_int_equal(dt__lapack_sytrf(dtype, 'L', N, a, LD, pivots, with_memory(&work)), 0);
        assert_int_equal(dt__lapack_sytrs(dtype, 'L', N, N_RHS, a, LD, pivots, b, LD), 0);
    }
    check_after(&work);
    unpack(b, solution);
    multiply(N, N_RHS, N, whole, solution, product);
    assert_near_by(largest_of(N, N, whole) * largest_of(N, N_RHS, solution), N, N_RHS, product, right);
}

static void check_qr(void) {
    ARRAY(a);
    ARRAY(c);
    char tau[LD * 16];
    matrix whole, r, q, product;
    dt__lapack_work work = {0}, apply = {0}, make = {0};
    make_random(whole);
    pack(whole, a);
    assert_int_equal(dt__lapack_geqrf(dtype, M, N, NULL, LD, NULL, &work), 0);
    assert_int_equal(dt__lapack_geqrf(dtype, M, N, a, LD, tau, with_memory(&work)), 0);
    check_after(&work);
    unpack(a, r);
    triangle(r, false, false, r);
    pack(whole, c);
    assert_int_equal(dt__lapack_unmqr(dtype, 'L', 'C', M, N, N, NULL, LD, NULL, NULL, LD, &apply), 0);
    assert_int_equal(dt__lapack_unmqr(dtype, 'L', 'C', M, N, N, a, LD, tau, c, LD, with_memory(&apply)), 0);
    check_after(&apply);
    unpack(c, product);
    for (int j = 0; j < N; j++)
        for (int i = N; i < M; i++)
            assert_true(cabs(product[j][i]) < epsilon());
    assert_near(N, N, product, r);
    assert_int_equal(dt__lapack_ungqr(dtype, M, N, N, NULL, LD, NULL, &make), 0);
    assert_int_equal(dt__lapack_ungqr(dtype, M, N, N, a, LD, tau, with_memory(&make)), 0);
    check_after(&make);
    unpack(a, q);
    assert_unitary(M, N, q);
    multiply(M, N, N, q, r, product);
    assert_near(M, N, product, whole);
}

static void check_eigenvalues(void) {
    ARRAY(a);
    ARRAY(v);
    char w[LD * 16], w_imag[LD * 8];
    matrix whole, vectors, product, scaled;
    dt__lapack_work work = {0}, general = {0};
    make_hermitian(0, true, whole);
    pack(whole, a);
    assert_int_equal(dt__lapack_heevd(dtype, 'V', 'L', N, NULL, LD, NULL, &work), 0);
    assert_int_equal(dt__lapack_heevd(dtype, 'V', 'L', N, a, LD, w, with_memory(&work)), 0);
    check_after(&work);
    unpack(a, vectors);
    assert_unitary(N, N, vectors);
    multiply(N, N, N, whole, vectors, product);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            scaled[j][i] = vectors[j][i] * get_real(w, j);
    assert_near(N, N, product, scaled);

    make_random(whole);
    pack(whole, a);
    assert_int_equal(dt__lapack_geev(dtype, 'N', 'V', N, NULL, LD, NULL, NULL, NULL, 1, NULL, LD, &general), 0);
    assert_int_equal(dt__lapack_geev(dtype, 'N', 'V', N, a, LD, w, w_imag, NULL, 1, v, LD, with_memory(&general)), 0);
    check_after(&general);
    unpack(v, vectors);
    for (int j = 0; j < N && !is_complex(); j++)
        if (get_real(w_imag, j) > 0) {
            for (int i = 0; i < N; i++) {
                vectors[j][i] = CMPLX(creal(vectors[j][i]), creal(vectors[j + 1][i]));
                vectors[j + 1][i] = conj(vectors[j][i]);
            }
            j++;
        }
    multiply(N, N, N, whole, vectors, product);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            scaled[j][i] = vectors[j][i] * (is_complex() ? get(w, j) : CMPLX(get_real(w, j), get_real(w_imag, j)));
    assert_near(N, N, product, scaled);
}

static void check_factors(const matrix whole, const void *s, const void *u_memory, const void *vt_memory) {
    matrix u, vt, v, product;
    unpack(u_memory, u);
    unpack(vt_memory, vt);
    adjoint(N, N, vt, v);
    assert_unitary(M, N, u);
    assert_unitary(N, N, v);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            u[j][i] *= get_real(s, j);
    multiply(M, N, N, u, vt, product);
    assert_near(M, N, product, whole);
}

static void check_singular_values(void) {
    ARRAY(a);
    ARRAY(u);
    ARRAY(vt);
    char s[LD * 8], values[LD * 8];
    matrix whole;
    dt__lapack_work divide = {0}, iterate = {0}, few = {0};
    make_random(whole);
    pack(whole, a);
    assert_int_equal(dt__lapack_gesdd(dtype, 'S', M, N, NULL, LD, NULL, NULL, LD, NULL, LD, &divide), 0);
    assert_int_equal(dt__lapack_gesdd(dtype, 'S', M, N, a, LD, s, u, LD, vt, LD, with_memory(&divide)), 0);
    check_after(&divide);
    check_factors(whole, s, u, vt);
    pack(whole, a);
    assert_int_equal(dt__lapack_gesvd(dtype, 'S', 'S', M, N, NULL, LD, NULL, NULL, LD, NULL, LD, &iterate), 0);
    assert_int_equal(dt__lapack_gesvd(dtype, 'S', 'S', M, N, a, LD, s, u, LD, vt, LD, with_memory(&iterate)), 0);
    check_after(&iterate);
    check_factors(whole, s, u, vt);
    pack(whole, a);
    assert_int_equal(dt__lapack_gesdd(dtype, 'N', M, N, NULL, LD, NULL, NULL, 1, NULL, 1, &few), 0);
    assert_int_equal(dt__lapack_gesdd(dtype, 'N', M, N, a, LD, values, NULL, 1, NULL, 1, with_memory(&few)), 0);
    check_after(&few);
    for (int i = 0; i < N; i++)
        assert_true(fabs(get_real(values, i) - get_real(s, i)) <= epsilon() * get_real(s, 0));
}

/* The residual is orthogonal to the columns. */
static void check_solution(const matrix whole, const matrix right, const void *b) {
    matrix solution, residual, h, product, zero = {{0}};
    unpack(b, solution);
    multiply(M, N_RHS, N, whole, solution, residual);
    for (int j = 0; j < N_RHS; j++)
        for (int i = 0; i < M; i++)
            residual[j][i] -= right[j][i];
    adjoint(M, N, whole, h);
    multiply(N, N_RHS, M, h, residual, product);
    for (int j = 0; j < N_RHS; j++)
        for (int i = 0; i < N; i++)
            product[j][i] /= 10;
    assert_near(N, N_RHS, product, zero);
}

static void check_least_squares(void) {
    ARRAY(a);
    ARRAY(b);
    char s[LD * 8];
    int rank = 0, pivots[LD] = {0};
    matrix whole, right;
    dt__lapack_work by_values = {0}, by_qr = {0};
    make_random(whole);
    make_random(right);
    pack(whole, a);
    pack(right, b);
    assert_int_equal(dt__lapack_gelsd(dtype, M, N, N_RHS, NULL, LD, NULL, LD, NULL, 1e-5, &rank, &by_values), 0);
    assert_int_equal(dt__lapack_gelsd(dtype, M, N, N_RHS, a, LD, b, LD, s, 1e-5, &rank, with_memory(&by_values)), 0);
    check_after(&by_values);
    assert_int_equal(rank, N);
    check_solution(whole, right, b);
    pack(whole, a);
    pack(right, b);
    rank = 0;
    assert_int_equal(dt__lapack_gelsy(dtype, M, N, N_RHS, NULL, LD, NULL, LD, pivots, 1e-5, &rank, &by_qr), 0);
    assert_int_equal(dt__lapack_gelsy(dtype, M, N, N_RHS, a, LD, b, LD, pivots, 1e-5, &rank, with_memory(&by_qr)), 0);
    check_after(&by_qr);
    assert_int_equal(rank, N);
    check_solution(whole, right, b);
}

static void lapack__routines_do_what_their_names_say(void **state) {
    (void)state;
    if (!dt__lapack_has(DT__LAPACK_POTRF, DT_F32))
        test_skip("no LAPACK is installed");
    state_of_random = test_seed(11);
    for (int i = 0; i < 4; i++)
        for (int trial = 0; trial < 5; trial++) {
            dtype = dtypes[i];
            for (int which = 0; which < DT__N_LAPACK; which++)
                assert_true(dt__lapack_has((dt__lapack_routine)which, dtype));
            check_cholesky();
            check_lu();
            check_triangular();
            check_ldl(false);
            check_ldl(true);
            check_qr();
            check_eigenvalues();
            check_singular_values();
            check_least_squares();
        }
}

static void lapack__of_other_dtypes_is_absent(void **state) {
    float a = 4;
    (void)state;
    assert_false(dt__lapack_has(DT__LAPACK_POTRF, DT_BF16));
    assert_int_equal(dt__lapack_potrf(DT_BF16, 'L', 1, &a, 1), DT__LAPACK_ABSENT);
    assert_true(a == 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lapack__routines_do_what_their_names_say),
        cmocka_unit_test(lapack__of_other_dtypes_is_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
