/* SPDX-License-Identifier: Apache-2.0
 *
 * The singular value decomposition of a matrix, by rotations of pairs of its vectors until all are orthogonal
 * (one-sided Jacobi). It is accurate for small singular values too, and the same matrix always has the same bits. Each
 * rotation makes two vectors orthogonal, and the lengths that remain are the singular values. A sweep over all pairs of
 * n vectors of m numbers takes about 5 n^2 m operations; five to ten sweeps converge. LAPACK is many times faster
 * (singular_values.c), but accurate only relative to the largest singular value.
 */
#include "kernels/jacobi_svd.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_SWEEPS = 64 };

static double dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void rotate(int64_t n, double *a, double *b, double cosine, double sine) {
    for (int64_t i = 0; i < n; i++) {
        double x = a[i], y = b[i];
        a[i] = cosine * x - sine * y;
        b[i] = sine * x + cosine * y;
    }
}

static bool sweep(int64_t n, int64_t m, double *vectors, double *right) {
    bool any = false;
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++) {
            double *a = vectors + p * m, *b = vectors + q * m;
            double aa = dot(m, a, a), bb = dot(m, b, b), ab = dot(m, a, b);
            if (!(fabs(ab) > DBL_EPSILON * sqrt(aa) * sqrt(bb)))
                continue;
            double zeta = (bb - aa) / (2 * ab);
            double tangent = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta)), cosine = 1 / hypot(1, tangent);
            rotate(m, a, b, cosine, cosine * tangent);
            rotate(n, right + p * n, right + q * n, cosine, cosine * tangent);
            any = true;
        }
    return any;
}

static void swap(int64_t n, double *a, double *b) {
    for (int64_t i = 0; i < n; i++) {
        double x = a[i];
        a[i] = b[i];
        b[i] = x;
    }
}

static void sort(int64_t n, int64_t m, double *vectors, double *right, double *values) {
    for (int64_t i = 0; i < n; i++) {
        int64_t largest = i;
        for (int64_t k = i + 1; k < n; k++)
            if (values[k] > values[largest])
                largest = k;
        if (largest == i)
            continue;
        swap(1, &values[i], &values[largest]);
        swap(m, vectors + i * m, vectors + largest * m);
        swap(n, right + i * n, right + largest * n);
    }
}

/* vector -= its part in the span of the first n. Twice, since the first time leaves rounding errors. */
static void make_orthogonal(int64_t n, int64_t m, const double *vectors, double *vector) {
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < n; i++) {
            double along = dot(m, vectors + i * m, vector);
            for (int64_t k = 0; k < m; k++)
                vector[k] -= along * vectors[i * m + k];
        }
}

/* Sets vector n to one that is orthogonal to those before: of the unit vectors, the one that is farthest from them. */
static void complete(int64_t n, int64_t m, double *vectors) {
    double *vector = vectors + n * m, most = -1;
    int64_t best = 0;
    for (int64_t k = 0; k < m; k++) {
        double rest = 1;
        for (int64_t i = 0; i < n; i++)
            rest -= vectors[i * m + k] * vectors[i * m + k];
        if (rest > most) {
            most = rest;
            best = k;
        }
    }
    memset(vector, 0, (size_t)m * sizeof *vector);
    vector[best] = 1;
    make_orthogonal(n, m, vectors, vector);
    double length = sqrt(dot(m, vector, vector));
    for (int64_t k = 0; k < m; k++)
        vector[k] /= length;
}

/* The largest magnitude; 1 if there is none, NaN where a number is not finite. */
static double scale_of(int64_t n, const double *numbers) {
    double scale = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(numbers[i]))
            return NAN;
        scale = fmax(scale, fabs(numbers[i]));
    }
    return scale == 0 ? 1 : scale;
}

void dt__jacobi_svd(int64_t n, int64_t m, int64_t n_out, double *vectors, double *right, double *values) {
    double scale = scale_of(n * m, vectors); /* so that no square overflows */
    for (int64_t i = 0; i < n * m; i++)
        vectors[i] /= scale;
    for (int64_t i = 0; i < n * n; i++)
        right[i] = i % (n + 1) == 0 ? 1 : 0;
    for (int i = 0; i < MAX_SWEEPS && sweep(n, m, vectors, right); i++)
        ;
    for (int64_t i = 0; i < n; i++)
        values[i] = sqrt(dot(m, vectors + i * m, vectors + i * m));
    sort(n, m, vectors, right, values);
    double smallest = n > 0 ? values[0] * DBL_EPSILON * DBL_EPSILON : 0;
    for (int64_t i = 0; i < n_out; i++) {
        if (i < n && !(values[i] <= smallest)) {
            for (int64_t k = 0; k < m; k++)
                vectors[i * m + k] /= values[i];
            values[i] *= scale;
            continue;
        }
        if (i < n)
            values[i] *= scale;
        complete(i, m, vectors);
    }
}
