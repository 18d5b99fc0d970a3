/* SPDX-License-Identifier: Apache-2.0
 *
 * The exponential of a matrix by scaling and squaring: with 2^s so large that the norm of A / 2^s is at most 0.64, a
 * Taylor polynomial of degree 16 has the exponential of A / 2^s to the last bit of f64, and s squarings that of A. The
 * polynomial takes six products: those for A², A³ and A⁴, and three in powers of A⁴.
 */
#include "kernels/blas.h"
#include "kernels/kernels.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { DEGREE = 16, STEP = 4, MAX_SQUARINGS = 1100, SMALL = 12 };
static const double largest_norm = 0.64;

/* c = a b, of matrices of n rows and columns, stored by rows. */
typedef struct products {
    int n;
    bool is_complex;
    dt__blas blas; /* its functions are NULL where there is none */
} products;

#define MULTIPLY(name, T)                                                                                            \
    static void name(int n, const T *a, const T *b, T *c) {                                                          \
        memset(c, 0, (size_t)n *(size_t)n * sizeof *c);                                                              \
        for (int i = 0; i < n; i++)                                                                                  \
            for (int k = 0; k < n; k++)                                                                              \
                for (int j = 0; j < n; j++)                                                                          \
                    c[i * (int64_t)n + j] += a[i * (int64_t)n + k] * b[k * (int64_t)n + j];                          \
    }
MULTIPLY(multiply_real, double)
MULTIPLY(multiply_complex, double _Complex)

static void multiply(const products *self, const double *a, const double *b, double *c) {
    const int n = self->n;
    const double one[2] = {1, 0}, zero[2] = {0, 0};
    if (self->is_complex && self->blas.zgemm && n > SMALL)
        self->blas.zgemm(DT__BLAS_ROW_MAJOR, DT__BLAS_PLAIN, DT__BLAS_PLAIN, n, n, n, one, a, n, b, n, zero, c, n);
    else if (self->is_complex)
        multiply_complex(n, (const double _Complex *)a, (const double _Complex *)b, (double _Complex *)c);
    else if (self->blas.dgemm && n > SMALL)
        self->blas.dgemm(DT__BLAS_ROW_MAJOR, DT__BLAS_PLAIN, DT__BLAS_PLAIN, n, n, n, 1, a, n, b, n, 0, c, n);
    else
        multiply_real(n, a, b, c);
}

/* The largest sum of magnitudes of a row; NaN if there is one. */
static double norm_of(const products *self, const double *a) {
    double largest = 0;
    for (int64_t i = 0; i < self->n; i++) {
        double sum = 0;
        for (int64_t j = i * self->n; j < (i + 1) * self->n; j++)
            sum += self->is_complex ? hypot(a[2 * j], a[2 * j + 1]) : fabs(a[j]);
        largest = largest >= sum ? largest : sum; /* of NaN, too */
    }
    return largest;
}

size_t dt__matrix_exp_bytes(int64_t n, bool is_complex) {
    return (size_t)(n * n) * (is_complex ? 2 : 1) * (STEP + 1) * sizeof(double);
}

void dt__matrix_exp(int64_t n, bool is_complex, double *a, void *memory) {
    products self = {.n = (int)n, .is_complex = is_complex};
    const int64_t parts = is_complex ? 2 : 1, size = n * n * parts;
    double *powers[STEP + 1] = {NULL, a}, *sum = memory, *next = sum + size;
    if (!dt__blas_load(&self.blas))
        self.blas = (dt__blas){0};
    for (int p = 2; p <= STEP; p++)
        powers[p] = next + (p - 1) * size;
    const double norm = norm_of(&self, a);
    if (!isfinite(norm)) {
        for (int64_t i = 0; i < size; i++)
            a[i] = NAN;
        return;
    }
    int squarings = 0;
    (void)frexp(norm / largest_norm, &squarings);
    squarings = norm <= largest_norm ? 0 : squarings < MAX_SQUARINGS ? squarings : MAX_SQUARINGS;
    for (int64_t i = 0; i < size; i++)
        a[i] = ldexp(a[i], -squarings);
    for (int p = 2; p <= STEP; p++)
        multiply(&self, powers[p - 1], a, powers[p]);
    double coefficients[DEGREE + 1] = {1};
    for (int d = 1; d <= DEGREE; d++)
        coefficients[d] = coefficients[d - 1] / d;
    for (int64_t i = 0; i < size; i++)
        sum[i] = coefficients[DEGREE] * powers[STEP][i];
    for (int first = DEGREE - STEP; first >= 0; first -= STEP) {
        for (int p = 1; p < STEP; p++)
            for (int64_t i = 0; i < size; i++)
                sum[i] += coefficients[first + p] * powers[p][i];
        for (int64_t i = 0; i < n; i++)
            sum[(i * n + i) * parts] += coefficients[first];
        if (first) {
            multiply(&self, sum, powers[STEP], next);
            memcpy(sum, next, (size_t)size * sizeof *sum);
        }
    }
    for (int i = 0; i < squarings; i++) {
        multiply(&self, sum, sum, next);
        memcpy(sum, next, (size_t)size * sizeof *sum);
    }
    memcpy(a, sum, (size_t)size * sizeof *a);
}
