/* SPDX-License-Identifier: Apache-2.0
 *
 * Our own code for the routines of LAPACK that ops use, where there is no library that has them: the textbook
 * algorithms, a column at a time, in f64. Arguments and results are LAPACK's (lapack.h), which calls these; triangles
 * of LDL are lower ones. They are many times slower than a library. Small matrices, and of real numbers all, have
 * faster code of their own (small_matrices.c), and so have singular values of real numbers (jacobi_svd.h).
 */
#ifndef DT_KERNELS_UNBLOCKED_H
#define DT_KERNELS_UNBLOCKED_H

#include "kernels/lapack.h"

int dt__unblocked_potrf(dt_dtype dtype, char uplo, int n, void *a, int lda);
int dt__unblocked_getrf(dt_dtype dtype, int m, int n, void *a, int lda, int *pivots);
int dt__unblocked_getrs(dt_dtype dtype, char trans, int n, int n_rhs, const void *a, int lda, const int *pivots,
                        void *b, int ldb);
int dt__unblocked_getri(dt_dtype dtype, int n, void *a, int lda, const int *pivots, dt__lapack_work *work);
int dt__unblocked_factor_symmetric(dt_dtype dtype, bool hermitian, int n, void *a, int lda, int *pivots,
                                   dt__lapack_work *work);
int dt__unblocked_solve_symmetric(dt_dtype dtype, bool hermitian, int n, int n_rhs, const void *a, int lda,
                                  const int *pivots, void *b, int ldb);
int dt__unblocked_geqrf(dt_dtype dtype, int m, int n, void *a, int lda, void *tau, dt__lapack_work *work);
int dt__unblocked_ungqr(dt_dtype dtype, int m, int n, int k, void *a, int lda, const void *tau,
                        dt__lapack_work *work);
int dt__unblocked_unmqr(dt_dtype dtype, char side, char trans, int m, int n, int k, const void *a, int lda,
                        const void *tau, void *c, int ldc, dt__lapack_work *work);
int dt__unblocked_heevd(dt_dtype dtype, char jobz, char uplo, int n, void *a, int lda, void *real_w,
                        dt__lapack_work *work);
int dt__unblocked_gesdd(dt_dtype dtype, char jobz, int m, int n, const void *a, int lda, void *real_s, void *u,
                        int ldu, void *vt, int ldvt, dt__lapack_work *work);

#endif
