/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of samples that must be matrices of some structure: Hermitian and positive definite, triangular and regular,
 * regular, or a tensor with the elements of a regular one. Of other matrices one triangle is read, and the gradient is
 * that of a matrix with both; a singular one is bad data; and of a nearly singular one neither results nor differences
 * by elements have many digits: an input that was a partial sum differs by its last digit, which the inverse magnifies.
 */
#ifndef DT_TESTS_DISPATCH_MATRIX_STRUCTURE_H
#define DT_TESTS_DISPATCH_MATRIX_STRUCTURE_H

#include "dispatch/calls.h"
#include "dtensor/dtensor.h"

enum matrix_structure { HERMITIAN, TRIANGULAR, REGULAR, REGULAR_TENSOR };
static const struct {
    const char *name;
    int input;
    enum matrix_structure structure;
} structured[] = {
    {"cholesky", 0, HERMITIAN},
    {"linalg_cholesky", 0, HERMITIAN},
    {"linalg_cholesky_ex", 0, HERMITIAN},
    {"linalg_eigh", 0, HERMITIAN},
    {"linalg_eigvalsh", 0, HERMITIAN},
    {"cholesky_inverse", 0, TRIANGULAR},
    {"cholesky_solve", 1, TRIANGULAR},
    {"linalg_ldl_factor", 0, HERMITIAN},
    {"linalg_ldl_factor_ex", 0, HERMITIAN},
    {"linalg_inv", 0, REGULAR},
    {"linalg_inv_ex", 0, REGULAR},
    {"linalg_cond", 0, REGULAR},
    {"linalg_lstsq", 0, REGULAR},
    {"linalg_lu", 0, REGULAR},
    {"linalg_lu_factor", 0, REGULAR},
    {"linalg_lu_factor_ex", 0, REGULAR},
    {"linalg_lu_solve", 0, REGULAR},
    {"linalg_solve", 0, REGULAR},
    {"linalg_solve_ex", 0, REGULAR},
    {"linalg_solve_triangular", 0, TRIANGULAR},
    {"linalg_qr", 0, REGULAR},
    {"linalg_pinv", 0, REGULAR},
    {"linalg_tensorinv", 0, REGULAR_TENSOR},
    {"linalg_tensorsolve", 0, REGULAR_TENSOR},
    {"logdet", 0, REGULAR},
    {"lu", 0, REGULAR},
    {"lu_solve", 1, REGULAR},
    {"pinverse", 0, REGULAR},
    {"qr", 0, REGULAR},
    {"triangular_solve", 1, TRIANGULAR},
};

static inline dt_tensor *add_to_diagonal(dt_tensor *x, double number) {
    return dt_add(x, dt_mul_scalar(dt_tril(dt_triu(dt_ones_like(x))), number));
}

static inline bool is_upper(const test_call *self) {
    const dt__signature *signature = &self->parsed.info->schema.signatures[self->parsed.call.overload];
    for (int p = 0; p < signature->n_params; p++)
        if (!strcmp(signature->params[p].name, "upper"))
            return self->parsed.call.args[p].as.b;
    return false;
}

/* Its elements are those of a regular matrix of n rows and columns. */
static inline dt_tensor *regular_tensor(dt_tensor *x) {
    int64_t n = 1;
    while (n * n < dt_tensor_elements(x))
        n++;
    return n * n == dt_tensor_elements(x) && n
               ? dt_reshape(add_to_diagonal(dt_reshape(x, DT_SHAPE(n, n)), 7), ((dt_shape){x->n_dims, x->shape}))
               : x;
}

/* The input, or a matrix with the structure that the op expects, made from it. */
static inline dt_tensor *structure_of(const test_call *self, int input, dt_tensor *x) {
    for (size_t i = 0; x && i < sizeof structured / sizeof *structured; i++) {
        if (strcmp(structured[i].name, self->parsed.info->schema.name) != 0 || structured[i].input != input)
            continue;
        if (structured[i].structure == TRIANGULAR)
            return add_to_diagonal(is_upper(self) ? dt_triu(x) : dt_tril(x), 7);
        if (structured[i].structure == REGULAR)
            return add_to_diagonal(x, 7);
        if (structured[i].structure == REGULAR_TENSOR)
            return regular_tensor(x);
        dt_tensor *transposed = dt_transpose(x, -2, -1);
        return add_to_diagonal(dt_matmul(x, dt__is_complex(x->dtype) ? dt_conj(transposed) : transposed), 1);
    }
    return x;
}

#endif
