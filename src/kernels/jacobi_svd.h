/* SPDX-License-Identifier: Apache-2.0
 *
 * The singular value decomposition where LAPACK has none.
 */
#ifndef DT_KERNELS_JACOBI_SVD_H
#define DT_KERNELS_JACOBI_SVD_H

#include <stdint.h>

/* `vectors` has n vectors of m >= n numbers, the columns of the matrix, with memory for n_out >= n vectors. They become
 * orthonormal, the left singular vectors; `right`, [n,n], gets the right ones, one per row, and `values` the n singular
 * values, in descending order: column c is the sum of vectors[i] values[i] right[i][c] over i. Vectors after the first
 * n, and those of a singular value of zero, complete them to an orthonormal set. NaN where a number is not finite. */
void dt__jacobi_svd(int64_t n, int64_t m, int64_t n_out, double *vectors, double *right, double *values);

#endif
