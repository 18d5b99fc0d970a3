/* SPDX-License-Identifier: Apache-2.0
 *
 * Each LAPACK routine in its four dtypes: the factors, solutions and inverses of random matrices multiply to what they
 * should, by plain loops in f64. Sizes are odd, leading dimensions are larger than they must be. The same for our own
 * code, whose factors are also compared with those of the library.
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
static bool is_ours;   /* our own code is tested, which has fewer routines */
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
    if (!is_ours) {
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
    }
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

/* Of any reflectors and scales: Q is what ungqr forms. */
static void check_products_with_q(bool from_left, bool of_adjoint) {
    ARRAY(a);
    ARRAY(c);
    ARRAY(tau);
    const int k = 5, rows = from_left ? M : N, columns = from_left ? N : M;
    const char side = from_left ? 'L' : 'R', trans = of_adjoint ? 'C' : 'N';
    matrix other, q, product;
    dt__lapack_work apply = {0}, make = {0};
    make_random(other);
    pack(other, a);
    make_random(other);
    pack(other, tau);
    make_random(other);
    pack(other, c);
    assert_int_equal(dt__lapack_unmqr(dtype, side, trans, rows, columns, k, NULL, LD, NULL, NULL, LD, &apply), 0);
    assert_int_equal(dt__lapack_unmqr(dtype, side, trans, rows, columns, k, a, LD, tau, c, LD, with_memory(&apply)),
                     0);
    check_after(&apply);
    assert_int_equal(dt__lapack_ungqr(dtype, M, M, k, NULL, LD, NULL, &make), 0);
    assert_int_equal(dt__lapack_ungqr(dtype, M, M, k, a, LD, tau, with_memory(&make)), 0);
    unpack(a, q);
    if (of_adjoint)
        adjoint(M, M, q, q);
    multiply(rows, columns, M, from_left ? q : other, from_left ? other : q, product);
    unpack(c, q);
    assert_near(rows, columns, q, product);
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

    if (is_ours && !is_complex())
        return; /* these are complex, in tests of ops */
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
    if (!is_ours) {
        pack(whole, a);
        assert_int_equal(dt__lapack_gesvd(dtype, 'S', 'S', M, N, NULL, LD, NULL, NULL, LD, NULL, LD, &iterate), 0);
        assert_int_equal(dt__lapack_gesvd(dtype, 'S', 'S', M, N, a, LD, s, u, LD, vt, LD, with_memory(&iterate)), 0);
        check_after(&iterate);
        check_factors(whole, s, u, vt);
    }
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

static void check_all(void) {
    for (int i = 0; i < 4; i++)
        for (int trial = 0; trial < 5; trial++) {
            dtype = dtypes[i];
            check_cholesky();
            check_lu();
            check_ldl(false);
            check_ldl(true);
            check_qr();
            for (int which = 0; which < 4; which++)
                check_products_with_q(which & 1, which & 2);
            check_eigenvalues();
            check_singular_values();
            if (is_ours)
                continue;
            for (int which = 0; which < DT__N_LAPACK; which++)
                assert_true(dt__lapack_has((dt__lapack_routine)which, dtype));
            check_triangular();
            check_least_squares();
        }
}

static void lapack__routines_do_what_their_names_say(void **state) {
    (void)state;
    if (!dt__lapack_has(DT__LAPACK_POTRF, DT_F32))
        test_skip("no LAPACK is installed");
    state_of_random = test_seed(11);
    check_all();
}

static void own_code__does_what_its_names_say(void **state) {
    (void)state;
    state_of_random = test_seed(12);
    dt__lapack_use_library(false);
    is_ours = true;
    assert_false(dt__lapack_has(DT__LAPACK_POTRF, DT_F32));
    check_all();
    assert_int_equal(dt__lapack_potri(DT_F32, 'L', 1, work_memory, 1), DT__LAPACK_ABSENT);
    is_ours = false;
    dt__lapack_use_library(true);
}

/* Factors, pivots and signs of a matrix by one of the routines. */
typedef struct factors {
    matrix of, tau;
    int pivots[LD], info;
} factors;

enum { CHOLESKY_L, CHOLESKY_U, LU, LDL_SYMMETRIC, LDL_HERMITIAN, QR, FULL_Q, N_FACTORS };

static void factor(int which, const matrix whole, factors *out) {
    ARRAY(a);
    ARRAY(tau);
    dt__lapack_work work = {0}, form = {0};
    int *pivots = out->pivots;
    memset(out, 0, sizeof *out);
    memset(tau, 0, sizeof tau);
    pack(whole, a);
    switch (which) {
    case CHOLESKY_L:
    case CHOLESKY_U:
        out->info = dt__lapack_potrf(dtype, which == CHOLESKY_L ? 'L' : 'U', N, a, LD);
        break;
    case LU:
        out->info = dt__lapack_getrf(dtype, M, N, a, LD, pivots);
        break;
    case LDL_SYMMETRIC:
        (void)dt__lapack_sytrf(dtype, 'L', N, NULL, LD, NULL, &work);
        out->info = dt__lapack_sytrf(dtype, 'L', N, a, LD, pivots, with_memory(&work));
        break;
    case LDL_HERMITIAN:
        (void)dt__lapack_hetrf(dtype, 'L', N, NULL, LD, NULL, &work);
        out->info = dt__lapack_hetrf(dtype, 'L', N, a, LD, pivots, with_memory(&work));
        break;
    default:
        (void)dt__lapack_geqrf(dtype, M, N, NULL, LD, NULL, &work);
        out->info = dt__lapack_geqrf(dtype, M, N, a, LD, tau, with_memory(&work));
        unpack(tau, out->tau);
        if (which == FULL_Q) {
            (void)dt__lapack_ungqr(dtype, M, M, N, NULL, LD, NULL, &form);
            assert_int_equal(dt__lapack_ungqr(dtype, M, M, N, a, LD, tau, with_memory(&form)), 0);
        }
    }
    unpack(a, out->of);
}

/* In every element of the memory, also outside the matrix. */
static void own_code__has_the_factors_of_the_library(void **state) {
    (void)state;
    static factors ours, theirs;
    if (!dt__lapack_has(DT__LAPACK_POTRF, DT_F32))
        test_skip("no LAPACK is installed");
    state_of_random = test_seed(13);
    for (int i = 0; i < 4; i++)
        for (int which = 0; which < N_FACTORS; which++)
            for (int trial = 0; trial < 10; trial++) {
                matrix whole;
                dtype = dtypes[i];
                if (which == LU || which >= QR)
                    make_random(whole);
                else
                    make_hermitian(which <= CHOLESKY_U ? 20 : 0, which != LDL_SYMMETRIC, whole);
                if (trial == 8 && which == LU) /* a column of zeros */
                    memset(whole[4], 0, sizeof whole[4]);
                if (trial == 9 && (which == LDL_SYMMETRIC || which == LDL_HERMITIAN)) /* pivots are pairs */
                    for (int d = 0; d < N; d++)
                        whole[d][d] = 0;
                factor(which, whole, &theirs);
                dt__lapack_use_library(false);
                factor(which, whole, &ours);
                dt__lapack_use_library(true);
                assert_int_equal(ours.info, theirs.info);
                assert_memory_equal(ours.pivots, theirs.pivots, sizeof ours.pivots);
                assert_near_by(largest_of(LD, LD, theirs.of) * 100, LD, LD, ours.of, theirs.of);
                assert_near_by(10, LD, LD, ours.tau, theirs.tau);
            }
}

/* Wide, tall and square ones of rank 0 to 4, with all vectors; and values of a matrix that has fewer vectors. */
static void own_code__decomposes_matrices_of_low_rank(void **state) {
    (void)state;
    static const int sizes[][2] = {{7, 4}, {4, 7}, {5, 5}, {1, 3}, {3, 1}};
    state_of_random = test_seed(14);
    dt__lapack_use_library(false);
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (int rank = 0; rank <= 4; rank++) {
                ARRAY(a);
                ARRAY(u);
                ARRAY(vt);
                char s[LD * 8];
                matrix left, right, whole, us, vs, h;
                dt__lapack_work work = {0};
                const int m = sizes[k][0], n = sizes[k][1], least = m < n ? m : n;
                dtype = dtypes[i];
                make_random(left);
                make_random(right);
                multiply(m, n, rank, left, right, whole);
                pack(whole, a);
                unpack(a, whole);
                assert_int_equal(dt__lapack_gesdd(dtype, 'A', m, n, NULL, LD, NULL, NULL, LD, NULL, LD, &work), 0);
                assert_int_equal(dt__lapack_gesdd(dtype, 'A', m, n, a, LD, s, u, LD, vt, LD, with_memory(&work)), 0);
                check_after(&work);
                unpack(u, us);
                unpack(vt, vs);
                assert_unitary(m, m, us);
                adjoint(n, n, vs, h);
                assert_unitary(n, n, h);
                for (int j = 0; j < least; j++) {
                    assert_true(get_real(s, j) >= 0 && (j == 0 || get_real(s, j) <= get_real(s, j - 1)));
                    assert_true(j < rank || get_real(s, j) <= 10 * epsilon());
                    for (int r = 0; r < m; r++)
                        us[j][r] *= get_real(s, j);
                }
                multiply(m, n, least, us, vs, h);
                assert_near_by(10, m, n, h, whole);
            }
    dt__lapack_use_library(true);
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
        cmocka_unit_test(own_code__does_what_its_names_say),
        cmocka_unit_test(own_code__has_the_factors_of_the_library),
        cmocka_unit_test(own_code__decomposes_matrices_of_low_rank),
        cmocka_unit_test(lapack__of_other_dtypes_is_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
