/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products by a BLAS library, which is loaded at the first product that is large enough to use it. DTENSOR_BLAS
 * selects the library at build time (openblas, blis, mkl or none). OpenBLAS and MKL contain LAPACK, too (lapack.h).
 *
 * The library is a private copy that runs one thread (private_library.h): products are split among the threads of the
 * pool, in blocks that do not depend on their number.
 */
#ifndef DT_KERNELS_BLAS_H
#define DT_KERNELS_BLAS_H

#include <stdbool.h>

enum { DT__BLAS_ROW_MAJOR = 101, DT__BLAS_PLAIN = 111, DT__BLAS_TRANSPOSED = 112 };

/* As declared by CBLAS. Scalars of complex products are passed by address. */
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
    bool tiles_are_alike; /* a part of a product has the same bits as in the whole: sums over k have an order that
                             depends on k only, as in OpenBLAS. Tried once, with a product of f32 and one of f64 */
} dt__blas;

/* False if the library is not installed, or there is no address space for its buffers: products then use the loops of
 * this folder. */
bool dt__blas_load(dt__blas *out);
/* Sets a pointer to a function of the library; false, and NULL, if the library or the function is missing. Loads the
 * library. */
bool dt__blas_find(const char *name, void *function);

#endif
