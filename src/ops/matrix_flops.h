/* SPDX-License-Identifier: Apache-2.0
 *
 * Multiplications and additions of factorizations and solutions, for the times of estimates (dt_op.flops): their rules
 * contract nothing, but they take more than their bytes. Counts are those of LAPACK's algorithms for large matrices.
 */
#ifndef DT_OPS_MATRIX_FLOPS_H
#define DT_OPS_MATRIX_FLOPS_H

#include "dtensor/op.h"

double dt__cholesky_flops(const dt_op_call *call);
double dt__lu_flops(const dt_op_call *call); /* also of determinants */
double dt__inverse_flops(const dt_op_call *call);
double dt__qr_flops(const dt_op_call *call);
double dt__eigh_flops(const dt_op_call *call);
double dt__eigvalsh_flops(const dt_op_call *call);
double dt__eig_flops(const dt_op_call *call);
double dt__eigvals_flops(const dt_op_call *call);
double dt__svd_flops(const dt_op_call *call);
double dt__svdvals_flops(const dt_op_call *call);
double dt__householder_flops(const dt_op_call *call);
double dt__ormqr_flops(const dt_op_call *call);
double dt__solve_flops(const dt_op_call *call);            /* of A X = B: inputs A, B */
double dt__solve_triangular_flops(const dt_op_call *call); /* A, B */
double dt__lu_solve_flops(const dt_op_call *call);         /* LU, pivots, B */

#endif
