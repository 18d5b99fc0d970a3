/* SPDX-License-Identifier: Apache-2.0
 *
 * Flops of linear algebra: see matrix_flops.h.
 */
#include "ops/matrix_flops.h"

#include "ops/ops.h"

/* The size of a dim, counted from the last one. */
static double size_from_end(const dt_op_value *value, int i) {
    return value->n_dims > i ? (double)value->shape[value->n_dims - 1 - i] : 1;
}

static double elements(const dt_op_value *value) {
    double n = 1;
    for (int d = 0; d < value->n_dims; d++)
        n *= (double)value->shape[d];
    return n;
}

/* So many times m n min(m, n) for each matrix [m,n] of the first input. */
static double of_matrices(const dt_op_call *call, double factor) {
    double m = size_from_end(&call->inputs[0], 1), n = size_from_end(&call->inputs[0], 0);
    return factor * elements(&call->inputs[0]) * (m < n ? m : n);
}

double dt__cholesky_flops(const dt_op_call *call) { return of_matrices(call, 1.0 / 3); }
double dt__lu_flops(const dt_op_call *call) { return of_matrices(call, 2.0 / 3); }
double dt__inverse_flops(const dt_op_call *call) { return of_matrices(call, 2); }
double dt__qr_flops(const dt_op_call *call) { return of_matrices(call, 4); }
double dt__eigh_flops(const dt_op_call *call) { return of_matrices(call, 9); }
double dt__eigvalsh_flops(const dt_op_call *call) { return of_matrices(call, 4.0 / 3); }
double dt__eig_flops(const dt_op_call *call) { return of_matrices(call, 25); }
double dt__eigvals_flops(const dt_op_call *call) { return of_matrices(call, 10); }
double dt__svd_flops(const dt_op_call *call) { return of_matrices(call, 20); }
double dt__svdvals_flops(const dt_op_call *call) { return of_matrices(call, 4); }

/* Of k reflectors of length m: 4 m - 2 k for each column of the other matrix and each reflector. */
double dt__ormqr_flops(const dt_op_call *call) {
    const double m = size_from_end(&call->inputs[0], 1), k = size_from_end(&call->inputs[1], 0);
    return m > 0 ? 2 * elements(&call->inputs[2]) * k * (2 - k / m) : 0;
}
double dt__householder_flops(const dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    const double m = size_from_end(a, 1), n = size_from_end(a, 0), k = size_from_end(&call->inputs[1], 0);
    return n > 0 ? elements(a) * k * (4 - 2 * k / n - 2 * k / m + 4 * k * k / (3 * m * n)) : 0;
}

/* A triangle of A [n,n] for each column of B. */
static double of_triangle(const dt_op_value *a, const dt_op_value *b) { return size_from_end(a, 0) * elements(b); }

double dt__solve_flops(const dt_op_call *call) {
    return dt__lu_flops(call) + 2 * of_triangle(&call->inputs[0], &call->inputs[1]);
}
double dt__solve_triangular_flops(const dt_op_call *call) { return of_triangle(&call->inputs[0], &call->inputs[1]); }
double dt__lu_solve_flops(const dt_op_call *call) { return 2 * of_triangle(&call->inputs[0], &call->inputs[2]); }
