/* SPDX-License-Identifier: Apache-2.0
 *
 * LU, Cholesky, LDL and QR factors in place, after LAPACK's own unblocked routines (getf2, potf2, sytf2, geqr2, ung2r,
 * unm2r), with their pivots and signs. Each element is read as a complex number of f64 and rounded when it is stored.
 */
#include "kernels/unblocked.h"

#include "kernels/unblocked_numbers.h"

#include <math.h>

/* Answers a query. This code needs no memory, but a call without memory would be another query, so it asks for some. */
static bool answers_query(dt__lapack_work *work) {
    if (!work->memory)
        work->bytes = sizeof(number);
    return !work->memory;
}

int dt__unblocked_potrf(dt_dtype dtype, char uplo, int n, void *a, int lda) {
    /* The upper factor is the adjoint of the lower one. */
    const numbers of = {dtype, a, lda, uplo == 'U'};
    for (int j = 0; j < n; j++) {
        double d = creal(lower(&of, j, j));
        for (int k = 0; k < j; k++)
            d -= square(lower(&of, j, k));
        if (!(d > 0))
            return j + 1;
        d = sqrt(d);
        set_lower(&of, j, j, d);
        for (int i = j + 1; i < n; i++) {
            number x = lower(&of, i, j);
            for (int k = 0; k < j; k++)
                x -= multiply(lower(&of, i, k), conj(lower(&of, j, k)));
            set_lower(&of, i, j, x / d);
        }
    }
    return 0;
}

static void swap_rows(const numbers *of, int i, int j, int columns) {
    for (int k = 0; k < columns && i != j; k++) {
        const number x = at(of, i, k);
        set(of, i, k, at(of, j, k));
        set(of, j, k, x);
    }
}

int dt__unblocked_getrf(dt_dtype dtype, int m, int n, void *a, int lda, int *pivots) {
    const numbers of = {dtype, a, lda, false};
    int info = 0;
    for (int j = 0; j < (m < n ? m : n); j++) {
        int p = j;
        for (int i = j + 1; i < m; i++)
            if (size(at(&of, i, j)) > size(at(&of, p, j)))
                p = i;
        pivots[j] = p + 1;
        const number pivot = at(&of, p, j);
        if (pivot == 0) {
            info = info ? info : j + 1;
            continue;
        }
        swap_rows(&of, j, p, n);
        for (int i = j + 1; i < m; i++)
            set(&of, i, j, at(&of, i, j) / pivot);
        for (int k = j + 1; k < n; k++) {
            const number x = at(&of, j, k);
            for (int i = j + 1; i < m; i++)
                set(&of, i, k, at(&of, i, k) - multiply(at(&of, i, j), x));
        }
    }
    return info;
}

/* The element of the triangular factor, of its transpose or of its adjoint. */
static number factor_at(const numbers *of, char trans, int i, int j) {
    return trans == 'N' ? at(of, i, j) : trans == 'T' ? at(of, j, i) : conj(at(of, j, i));
}

/* Solves a triangular system in place; is_forward: element 0 first. */
static void solve_triangle(const numbers *of, char trans, bool is_forward, bool is_unit, int n, int n_rhs,
                           const numbers *b) {
    for (int k = 0; k < n_rhs; k++)
        for (int step = 0; step < n; step++) {
            const int i = is_forward ? step : n - 1 - step;
            number x = at(b, i, k);
            for (int j = is_forward ? 0 : i + 1; j < (is_forward ? i : n); j++)
                x -= multiply(factor_at(of, trans, i, j), at(b, j, k));
            set(b, i, k, is_unit ? x : x / factor_at(of, trans, i, i));
        }
}

int dt__unblocked_getrs(dt_dtype dtype, char trans, int n, int n_rhs, const void *a, int lda, const int *pivots,
                        void *b, int ldb) {
    const numbers of = {dtype, (void *)(uintptr_t)a, lda, false}, right = {dtype, b, ldb, false};
    for (int i = 0; i < n && trans == 'N'; i++)
        swap_rows(&right, i, pivots[i] - 1, n_rhs);
    solve_triangle(&of, trans, true, trans == 'N', n, n_rhs, &right);
    solve_triangle(&of, trans, false, trans != 'N', n, n_rhs, &right);
    for (int i = n - 1; i >= 0 && trans != 'N'; i--)
        swap_rows(&right, i, pivots[i] - 1, n_rhs);
    return 0;
}

int dt__unblocked_getri(dt_dtype dtype, int n, void *a, int lda, const int *pivots, dt__lapack_work *work) {
    const numbers of = {dtype, a, lda, false}, factors = {dtype, work->memory, n, false};
    if (!work->memory) {
        work->bytes = (size_t)n * (size_t)n * dt_dtype_size(dtype);
        return 0;
    }
    for (int i = 0; i < n; i++)
        if (at(&of, i, i) == 0)
            return i + 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            set(&factors, i, j, at(&of, i, j));
            set(&of, i, j, i == j);
        }
    return dt__unblocked_getrs(dtype, 'N', n, n, factors.data, n, pivots, a, lda);
}

/* The pivot of column k, and whether its block has two columns, by Bunch and Kaufman. */
static int find_pivot(const numbers *of, bool hermitian, int n, int k, bool *is_pair) {
    const double alpha = (1 + sqrt(17)) / 8, diagonal = size_of_diagonal(of, hermitian, k);
    double of_column = 0, of_row = 0;
    int p = k;
    *is_pair = false;
    for (int i = k + 1; i < n; i++)
        if (size(at(of, i, k)) > of_column) {
            of_column = size(at(of, i, k));
            p = i;
        }
    if (diagonal >= alpha * of_column)
        return k;
    for (int j = k; j < p; j++)
        of_row = fmax(of_row, size(at(of, p, j)));
    for (int i = p + 1; i < n; i++)
        of_row = fmax(of_row, size(at(of, i, p)));
    if (diagonal >= alpha * of_column * (of_column / of_row))
        return k;
    *is_pair = size_of_diagonal(of, hermitian, p) < alpha * of_row;
    return p;
}

/* Swaps rows and columns i < j of the lower triangle, from column i on. */
static void swap_symmetric(const numbers *of, bool hermitian, int n, int i, int j) {
    const number x = at(of, i, i);
    set(of, i, i, at(of, j, j));
    set(of, j, j, x);
    for (int k = j + 1; k < n; k++) {
        const number y = at(of, k, i);
        set(of, k, i, at(of, k, j));
        set(of, k, j, y);
    }
    for (int k = i + 1; k < j; k++) {
        const number y = at(of, k, i);
        set(of, k, i, conj_if(hermitian, at(of, j, k)));
        set(of, j, k, conj_if(hermitian, y));
    }
    set(of, j, i, conj_if(hermitian, at(of, j, i)));
}

/* The diagonal of a Hermitian matrix stays real. */
static void subtract(const numbers *of, bool hermitian, int i, int j, number x) {
    const number left = at(of, i, j) - x;
    set(of, i, j, hermitian && i == j ? creal(left) : left);
}

/* Subtracts a column of L times its part of D, and makes it a column of L. */
static void eliminate_one(const numbers *of, bool hermitian, int n, int k) {
    const number d = hermitian ? creal(at(of, k, k)) : at(of, k, k);
    for (int j = k + 1; j < n; j++) {
        const number l = conj_if(hermitian, at(of, j, k) / d);
        for (int i = j; i < n; i++)
            subtract(of, hermitian, i, j, multiply(at(of, i, k), l));
    }
    for (int i = k + 1; i < n; i++)
        set(of, i, k, at(of, i, k) / d);
}

/* X of a pair of unknowns, where [[d0, conj(e)], [e, d1]] X = (x, y); of a symmetric block e is not conjugated. Scaled
 * by e, which is the largest. */
static void solve_pair(const numbers *of, bool hermitian, int k, number *x, number *y) {
    const number e = at(of, k + 1, k), f = conj_if(hermitian, e);
    const number d0 = at(of, k, k) / f, d1 = at(of, k + 1, k + 1) / e, x0 = *x / f, y0 = *y / e,
                 divisor = multiply(d0, d1) - 1;
    *x = (multiply(d1, x0) - y0) / divisor;
    *y = (multiply(d0, y0) - x0) / divisor;
}

static void eliminate_two(const numbers *of, bool hermitian, int n, int k) {
    for (int j = k + 2; j < n; j++) {
        /* Row j of L solves L D = (a[j,k], a[j,k+1]); its adjoint solves with D itself. */
        number x = conj_if(hermitian, at(of, j, k)), y = conj_if(hermitian, at(of, j, k + 1));
        solve_pair(of, hermitian, k, &x, &y);
        for (int i = j; i < n; i++)
            subtract(of, hermitian, i, j, multiply(at(of, i, k), x) + multiply(at(of, i, k + 1), y));
        set(of, j, k, conj_if(hermitian, x));
        set(of, j, k + 1, conj_if(hermitian, y));
    }
}

int dt__unblocked_factor_symmetric(dt_dtype dtype, bool hermitian, int n, void *a, int lda, int *pivots,
                                   dt__lapack_work *work) {
    const numbers of = {dtype, a, lda, false};
    bool is_pair;
    int info = 0;
    if (answers_query(work))
        return 0;
    for (int k = 0; k < n; k += 1 + is_pair) {
        const int p = find_pivot(&of, hermitian, n, k, &is_pair), last = k + is_pair;
        if (p != last) {
            swap_symmetric(&of, hermitian, n, last, p);
            if (is_pair) {
                const number x = at(&of, last, k);
                set(&of, last, k, at(&of, p, k));
                set(&of, p, k, x);
            }
        }
        pivots[k] = pivots[last] = is_pair ? -(p + 1) : p + 1;
        if (is_pair)
            eliminate_two(&of, hermitian, n, k);
        else if (at(&of, k, k) != 0)
            eliminate_one(&of, hermitian, n, k);
        else
            info = info ? info : k + 1;
    }
    return info;
}

/* Subtracts rows of b times column j of L, or its adjoint, from row i on. */
static void subtract_column(const numbers *of, const numbers *b, int n, int n_rhs, int from, int j) {
    for (int c = 0; c < n_rhs; c++)
        for (int i = from; i < n; i++)
            set(b, i, c, at(b, i, c) - multiply(at(of, i, j), at(b, j, c)));
}
static void subtract_rows(const numbers *of, const numbers *b, bool hermitian, int n, int n_rhs, int from, int j) {
    for (int c = 0; c < n_rhs; c++) {
        number x = at(b, j, c);
        for (int i = from; i < n; i++)
            x -= multiply(conj_if(hermitian, at(of, i, j)), at(b, i, c));
        set(b, j, c, x);
    }
}

int dt__unblocked_solve_symmetric(dt_dtype dtype, bool hermitian, int n, int n_rhs, const void *a, int lda,
                                  const int *pivots, void *b, int ldb) {
    const numbers of = {dtype, (void *)(uintptr_t)a, lda, false}, right = {dtype, b, ldb, false};
    for (int k = 0; k < n; k += 1 + (pivots[k] < 0)) {
        const bool is_pair = pivots[k] < 0;
        swap_rows(&right, k + is_pair, (is_pair ? -pivots[k] : pivots[k]) - 1, n_rhs);
        for (int j = k; j <= k + is_pair; j++)
            subtract_column(&of, &right, n, n_rhs, k + 1 + is_pair, j);
        for (int c = 0; c < n_rhs; c++) {
            number x = at(&right, k, c), y = is_pair ? at(&right, k + 1, c) : 0;
            if (is_pair)
                solve_pair(&of, hermitian, k, &x, &y);
            else
                x /= at(&of, k, k);
            set(&right, k, c, x);
            if (is_pair)
                set(&right, k + 1, c, y);
        }
    }
    for (int k = n - 1; k >= 0; k -= 1 + (pivots[k] < 0)) {
        const bool is_pair = pivots[k] < 0;
        for (int j = k - is_pair; j <= k; j++)
            subtract_rows(&of, &right, hermitian, n, n_rhs, k + 1, j);
        swap_rows(&right, k, (is_pair ? -pivots[k] : pivots[k]) - 1, n_rhs);
    }
    return 0;
}

/* Multiplies columns of `x` by 1 - tau v v^H, where v has 1 in row k and column k of `of` below it. */
static void reflect(const numbers *of, number tau, int m, int k, const numbers *x, int first, int n) {
    for (int c = first; c < n; c++) {
        number sum = lower(x, k, c);
        for (int i = k + 1; i < m; i++)
            sum += multiply(conj(at(of, i, k)), lower(x, i, c));
        sum = multiply(sum, tau);
        set_lower(x, k, c, lower(x, k, c) - sum);
        for (int i = k + 1; i < m; i++)
            set_lower(x, i, c, lower(x, i, c) - multiply(at(of, i, k), sum));
    }
}

int dt__unblocked_geqrf(dt_dtype dtype, int m, int n, void *a, int lda, void *tau, dt__lapack_work *work) {
    const numbers of = {dtype, a, lda, false}, taus = {dtype, tau, 1, false};
    if (answers_query(work))
        return 0;
    for (int k = 0; k < (m < n ? m : n); k++) {
        const number alpha = at(&of, k, k);
        double below = 0;
        for (int i = k + 1; i < m; i++)
            below = hypot(below, cabs(at(&of, i, k)));
        number t = 0;
        if (below != 0 || cimag(alpha) != 0) {
            const double beta = -copysign(hypot(cabs(alpha), below), creal(alpha));
            t = (beta - alpha) / beta;
            for (int i = k + 1; i < m; i++)
                set(&of, i, k, at(&of, i, k) / (alpha - beta));
            set(&of, k, k, beta);
        }
        set(&taus, 0, k, t);
        reflect(&of, conj(t), m, k, &of, k + 1, n);
    }
    return 0;
}

int dt__unblocked_ungqr(dt_dtype dtype, int m, int n, int k, void *a, int lda, const void *tau,
                        dt__lapack_work *work) {
    const numbers of = {dtype, a, lda, false}, taus = {dtype, (void *)(uintptr_t)tau, 1, false};
    if (answers_query(work))
        return 0;
    for (int j = k; j < n; j++)
        for (int i = 0; i < m; i++)
            set(&of, i, j, i == j);
    for (int j = k - 1; j >= 0; j--) {
        const number t = at(&taus, 0, j);
        reflect(&of, t, m, j, &of, j + 1, n);
        for (int i = j + 1; i < m; i++)
            set(&of, i, j, multiply(-t, at(&of, i, j)));
        for (int i = 0; i < j; i++)
            set(&of, i, j, 0);
        set(&of, j, j, 1 - t);
    }
    return 0;
}

/* C Q is the adjoint of Q^H C^H. The reflectors of Q^H are applied first to last, those of Q last to first. */
int dt__unblocked_unmqr(dt_dtype dtype, char side, char trans, int m, int n, int k, const void *a, int lda,
                        const void *tau, void *c, int ldc, dt__lapack_work *work) {
    const numbers of = {dtype, (void *)(uintptr_t)a, lda, false}, taus = {dtype, (void *)(uintptr_t)tau, 1, false},
                  x = {dtype, c, ldc, side == 'R'};
    const bool adjoint = (trans != 'N') != x.is_upper;
    if (answers_query(work))
        return 0;
    for (int i = 0; i < k; i++) {
        const int j = adjoint ? i : k - 1 - i;
        reflect(&of, conj_if(adjoint, at(&taus, 0, j)), x.is_upper ? n : m, j, &x, 0, x.is_upper ? m : n);
    }
    return 0;
}
