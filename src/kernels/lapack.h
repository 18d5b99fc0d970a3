/* SPDX-License-Identifier: Apache-2.0
 *
 * Factorizations of one matrix by LAPACK, in the private copy of the library that computes products (blas.h), which
 * runs one thread. Names, arguments and results are LAPACK's: matrices are stored by columns, with a leading
 * dimension, and a function returns `info`, where 0 is success, -i an invalid argument i and a positive number what
 * LAPACK's documentation states about the data. dtype is f32, f64, c64 or c128, and the dtype of all arrays; "real"
 * ones have that of its real part. Routines with two names have that of complex numbers here, and are the other one
 * for real numbers: ungqr is orgqr, unmqr ormqr (with 'C' for 'T'), heevd syevd.
 *
 * From any thread: one matrix is one thread's work. The same matrix has the same factors to the bit.
 *
 * A library may lack a routine, and there may be no library. Our own code (unblocked.h) then computes what ops call:
 * potrf, getrf, getrs, getri, sytrf, sytrs, hetrf and hetrs of lower triangles, geqrf, ungqr, unmqr, heevd, gesdd, and
 * geev of complex matrices. Other routines return DT__LAPACK_ABSENT.
 */
#ifndef DT_KERNELS_LAPACK_H
#define DT_KERNELS_LAPACK_H

#include "dtensor/base.h"

#include <stdbool.h>
#include <stddef.h>

/* ROUTINE(constant, name for real numbers, name for complex numbers) */
#define DT__LAPACK_LIST(ROUTINE)                                                                                     \
    ROUTINE(POTRF, potrf, potrf)                                                                                     \
    ROUTINE(POTRS, potrs, potrs)                                                                                     \
    ROUTINE(POTRI, potri, potri)                                                                                     \
    ROUTINE(GETRF, getrf, getrf)                                                                                     \
    ROUTINE(GETRS, getrs, getrs)                                                                                     \
    ROUTINE(GETRI, getri, getri)                                                                                     \
    ROUTINE(TRTRS, trtrs, trtrs)                                                                                     \
    ROUTINE(TRTRI, trtri, trtri)                                                                                     \
    ROUTINE(SYTRF, sytrf, sytrf)                                                                                     \
    ROUTINE(SYTRS, sytrs, sytrs)                                                                                     \
    ROUTINE(HETRF, sytrf, hetrf)                                                                                     \
    ROUTINE(HETRS, sytrs, hetrs)                                                                                     \
    ROUTINE(GEQRF, geqrf, geqrf)                                                                                     \
    ROUTINE(UNGQR, orgqr, ungqr)                                                                                     \
    ROUTINE(UNMQR, ormqr, unmqr)                                                                                     \
    ROUTINE(HEEVD, syevd, heevd)                                                                                     \
    ROUTINE(GEEV, geev, geev)                                                                                        \
    ROUTINE(GESDD, gesdd, gesdd)                                                                                     \
    ROUTINE(GESVD, gesvd, gesvd)                                                                                     \
    ROUTINE(GELSD, gelsd, gelsd)                                                                                     \
    ROUTINE(GELSY, gelsy, gelsy)

typedef enum dt__lapack_routine {
#define DT__LAPACK_CONSTANT(constant, real, complex) DT__LAPACK_##constant,
    DT__LAPACK_LIST(DT__LAPACK_CONSTANT) DT__N_LAPACK
#undef DT__LAPACK_CONSTANT
} dt__lapack_routine;

enum { DT__LAPACK_ABSENT = -(1 << 30) }; /* as info: nothing was computed */

/* Whether the library has the routine for this dtype. Loads the library. */
bool dt__lapack_has(dt__lapack_routine routine, dt_dtype dtype);
/* For tests: whether the library is used where there is one, as it is from the start. */
void dt__lapack_use_library(bool is_used);

/* Temporary memory of a call. A call whose `memory` is NULL sets the rest and does nothing else; matrices are not read
 * then and may be NULL. With that much memory, aligned to 16 bytes, the next call with the same sizes computes. */
typedef struct dt__lapack_work {
    void *memory;
    size_t bytes;
    int n, n_reals, n_ints; /* in this order: numbers of the dtype, real numbers, integers */
} dt__lapack_work;

/* Cholesky factorization of a Hermitian matrix, from its triangle uplo; then solutions, then the inverse. */
int dt__lapack_potrf(dt_dtype dtype, char uplo, int n, void *a, int lda);
int dt__lapack_potrs(dt_dtype dtype, char uplo, int n, int n_rhs, const void *a, int lda, void *b, int ldb);
int dt__lapack_potri(dt_dtype dtype, char uplo, int n, void *a, int lda);

/* LU with partial pivoting: rows i and pivots[i] - 1 were swapped. */
int dt__lapack_getrf(dt_dtype dtype, int m, int n, void *a, int lda, int *pivots);
int dt__lapack_getrs(dt_dtype dtype, char trans, int n, int n_rhs, const void *a, int lda, const int *pivots, void *b,
                     int ldb);
int dt__lapack_getri(dt_dtype dtype, int n, void *a, int lda, const int *pivots, dt__lapack_work *work);

/* Solutions and inverse of a triangular matrix. */
int dt__lapack_trtrs(dt_dtype dtype, char uplo, char trans, char diag, int n, int n_rhs, const void *a, int lda,
                     void *b, int ldb);
int dt__lapack_trtri(dt_dtype dtype, char uplo, char diag, int n, void *a, int lda);

/* LDL of a symmetric matrix (also of complex numbers), or of a Hermitian one. */
int dt__lapack_sytrf(dt_dtype dtype, char uplo, int n, void *a, int lda, int *pivots, dt__lapack_work *work);
int dt__lapack_sytrs(dt_dtype dtype, char uplo, int n, int n_rhs, const void *a, int lda, const int *pivots, void *b,
                     int ldb);
int dt__lapack_hetrf(dt_dtype dtype, char uplo, int n, void *a, int lda, int *pivots, dt__lapack_work *work);
int dt__lapack_hetrs(dt_dtype dtype, char uplo, int n, int n_rhs, const void *a, int lda, const int *pivots, void *b,
                     int ldb);

/* QR by reflectors; the first k columns of Q; and the product of Q with a matrix. */
int dt__lapack_geqrf(dt_dtype dtype, int m, int n, void *a, int lda, void *tau, dt__lapack_work *work);
int dt__lapack_ungqr(dt_dtype dtype, int m, int n, int k, void *a, int lda, const void *tau, dt__lapack_work *work);
int dt__lapack_unmqr(dt_dtype dtype, char side, char trans, int m, int n, int k, const void *a, int lda,
                     const void *tau, void *c, int ldc, dt__lapack_work *work);

/* Eigenvalues (real, ascending) of a Hermitian matrix, and with jobz 'V' the vectors in its place. */
int dt__lapack_heevd(dt_dtype dtype, char jobz, char uplo, int n, void *a, int lda, void *real_w,
                     dt__lapack_work *work);
/* Eigenvalues of a general matrix. Of real numbers w has the real parts and w_imag the imaginary ones, and vectors of a
 * conjugate pair are the real and the imaginary part; of complex numbers w_imag is not used. */
int dt__lapack_geev(dt_dtype dtype, char jobvl, char jobvr, int n, void *a, int lda, void *w, void *w_imag, void *vl,
                    int ldvl, void *vr, int ldvr, dt__lapack_work *work);
/* By our own code (unblocked.h): values and right vectors as complex numbers of the dtype `result`, also of a real
 * matrix. */
int dt__unblocked_geev(dt_dtype dtype, dt_dtype result, char jobvr, int n, const void *a, int lda, void *w, void *vr,
                       int ldvr, dt__lapack_work *work);

/* Singular values (real, descending) and vectors, by divide and conquer, or by QR iteration. */
int dt__lapack_gesdd(dt_dtype dtype, char jobz, int m, int n, void *a, int lda, void *real_s, void *u, int ldu,
                     void *vt, int ldvt, dt__lapack_work *work);
int dt__lapack_gesvd(dt_dtype dtype, char jobu, char jobvt, int m, int n, void *a, int lda, void *real_s, void *u,
                     int ldu, void *vt, int ldvt, dt__lapack_work *work);

/* Least squares, by singular values or by QR with pivoting. Singular values up to rcond times the largest, or diagonal
 * elements likewise, count as 0. b has max(m, n) rows. pivots of gelsy: 0 where a column may move. */
int dt__lapack_gelsd(dt_dtype dtype, int m, int n, int n_rhs, void *a, int lda, void *b, int ldb, void *real_s,
                     double rcond, int *rank, dt__lapack_work *work);
int dt__lapack_gelsy(dt_dtype dtype, int m, int n, int n_rhs, void *a, int lda, void *b, int ldb, int *pivots,
                     double rcond, int *rank, dt__lapack_work *work);

#endif
