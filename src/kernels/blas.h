/* SPDX-License-Identifier: Apache-2.0
 *
 * The products of OpenBLAS, loaded when the first one is needed: the library starts threads of its own as soon as it is
 * loaded, which would end a program's chance to fork, and a process that multiplies nothing large needs none of it. It
 * is told to use one thread per call, because products are shared out to the threads of the pool, in pieces that do
 * not depend on their number.
 */
#ifndef DT_KERNELS_BLAS_H
#define DT_KERNELS_BLAS_H

#include <stdbool.h>

enum { DT__BLAS_ROW_MAJOR = 101, DT__BLAS_PLAIN = 111, DT__BLAS_TRANSPOSED = 112 };

/* As CBLAS has them. Scalars of complex products are passed by address. */
typedef void dt__sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                       const float *b, int ldb, float beta, float *c, int ldc);
typedef void dt__dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double *a,
                       int lda, const double *b, int ldb, double beta, double *c, int ldc);
typedef void dt__zgemm(int order, int trans_a, int trans_b, int m, int n, int k, const void *alpha, const void *a,
                       int lda, const void *b, int ldb, const void *beta, void *c, int ldc);

typedef struct dt__blas {
    dt__sgemm *sgemm;
    dt__dgemm *dgemm;
    dt__zgemm *cgemm, *zgemm;
} dt__blas;

/* False when this machine has no OpenBLAS. */
bool dt__blas_load(dt__blas *out);

#endif
