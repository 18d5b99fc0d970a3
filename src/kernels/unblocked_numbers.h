/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of matrices stored by columns, in any dtype that LAPACK has, as complex numbers of f64.
 */
#ifndef DT_KERNELS_UNBLOCKED_NUMBERS_H
#define DT_KERNELS_UNBLOCKED_NUMBERS_H

#include "dtensor/base.h"

#include <complex.h>
#include <math.h>
#include <stdint.h>

typedef double _Complex number;

typedef struct numbers {
    dt_dtype dtype;
    void *data;
    int64_t lda;
    bool is_upper; /* `lower` is the adjoint of what is stored */
} numbers;

static inline number join(double re, double im) { return __builtin_complex(re, im); }

/* Without the cases of infinity and NaN, which C's product distinguishes. */
static inline number multiply(number x, number y) {
    return join(creal(x) * creal(y) - cimag(x) * cimag(y), creal(x) * cimag(y) + cimag(x) * creal(y));
}

static inline number conj_if(bool hermitian, number x) { return hermitian ? conj(x) : x; }
static inline double square(number x) { return creal(x) * creal(x) + cimag(x) * cimag(x); }
/* What LAPACK compares pivots by. */
static inline double size(number x) { return fabs(creal(x)) + fabs(cimag(x)); }

static inline number at(const numbers *of, int64_t i, int64_t j) {
    const int64_t k = j * of->lda + i;
    switch (of->dtype) {
    case DT_F32:
        return ((const float *)of->data)[k];
    case DT_F64:
        return ((const double *)of->data)[k];
    case DT_C64:
        return join(((const float *)of->data)[2 * k], ((const float *)of->data)[2 * k + 1]);
    default:
        return join(((const double *)of->data)[2 * k], ((const double *)of->data)[2 * k + 1]);
    }
}

static inline void set(const numbers *of, int64_t i, int64_t j, number x) {
    const int64_t k = j * of->lda + i;
    switch (of->dtype) {
    case DT_F32:
        ((float *)of->data)[k] = (float)creal(x);
        break;
    case DT_F64:
        ((double *)of->data)[k] = creal(x);
        break;
    case DT_C64:
        ((float *)of->data)[2 * k] = (float)creal(x);
        ((float *)of->data)[2 * k + 1] = (float)cimag(x);
        break;
    default:
        ((double *)of->data)[2 * k] = creal(x);
        ((double *)of->data)[2 * k + 1] = cimag(x);
    }
}

static inline number lower(const numbers *of, int64_t i, int64_t j) {
    return of->is_upper ? conj(at(of, j, i)) : at(of, i, j);
}
static inline void set_lower(const numbers *of, int64_t i, int64_t j, number x) {
    set(of, of->is_upper ? j : i, of->is_upper ? i : j, of->is_upper ? conj(x) : x);
}

static inline double size_of_diagonal(const numbers *of, bool hermitian, int64_t i) {
    return hermitian ? fabs(creal(at(of, i, i))) : size(at(of, i, i));
}

#endif
