/* SPDX-License-Identifier: Apache-2.0
 *
 * Eigenvalues and eigenvectors of square matrices, complex even for real matrices, in the order of LAPACK. Vectors have
 * norm 1, and their largest component is real and positive. Gradients of vectors are infinite where eigenvalues are
 * equal. A matrix with elements that are not finite is bad data.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/eigenvectors.h"
#include "ops/matrix_batches.h"
#include "ops/matrix_flops.h"
#include "ops/ops.h"

/* Operands; parts of real matrices, which LAPACK returns apart, are in the last two. */
enum { A, VALUES, VECTORS, PARTS, REAL_VECTORS, N_OPERANDS };

static dt_status shape_eigvals(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    dt__shape batch;
    DT__TRY(dt__expect_square(call, 0));
    const int64_t n = dt__matrix_rows(a);
    dt__batch_of(a, 2, &batch);
    return dt__add_batch(call, dt__promote_to_complex(a->dtype), &batch, 1, &n);
}

static dt_status shape_eig(dt_op_call *call) {
    DT__TRY(shape_eigvals(call));
    return dt__add_like(call, 0, dt__promote_to_complex(call->inputs[0].dtype));
}

/* Complex values and vectors of a real matrix: a pair of conjugate values has the real and the imaginary parts of the
 * vector of the first in its two columns. */
#define JOIN(name, T)                                                                                                \
    static void name(int64_t n, const T *parts, const T *vr, T *values, T *vectors) {                                \
        const T *im = parts + n;                                                                                     \
        for (int64_t j = 0; j < n; j++) {                                                                            \
            const T *re_of = vr + (im[j] < 0 ? j - 1 : j) * n, *im_of = re_of + n;                                   \
            const T sign = (T)((im[j] > 0) - (im[j] < 0));                                                           \
            values[2 * j] = parts[j];                                                                                \
            values[2 * j + 1] = im[j];                                                                               \
            for (int64_t i = 0; i < n && vectors; i++) {                                                             \
                vectors[2 * (j * n + i)] = re_of[i];                                                                 \
                vectors[2 * (j * n + i) + 1] = sign != 0 ? sign * im_of[i] : 0;                                      \
            }                                                                                                        \
        }                                                                                                            \
    }
JOIN(join_f32, float)
JOIN(join_f64, double)

static int call_lapack(dt_dtype dtype, bool has_vectors, int n, void *const *items, dt__lapack_work *work) {
    const bool complex_matrix = dt__is_complex(dtype);
    char *parts = items ? items[PARTS] : NULL;
    if (!dt__lapack_has(DT__LAPACK_GEEV, dtype))
        return dt__unblocked_geev(dtype, dt__promote_to_complex(dtype), has_vectors ? 'V' : 'N', n,
                                  items ? items[A] : NULL, n, items ? items[VALUES] : NULL,
                                  items ? items[VECTORS] : NULL, n, work);
    return dt__lapack_geev(dtype, 'N', has_vectors ? 'V' : 'N', n, items ? items[A] : NULL, n,
                           !items           ? NULL
                           : complex_matrix ? items[VALUES]
                                            : parts,
                           parts ? parts + (size_t)n * dt_dtype_size(dtype) : NULL, NULL, 1,
                           !items           ? NULL
                           : complex_matrix ? items[VECTORS]
                                            : items[REAL_VECTORS],
                           n, work);
}

/* LAPACK may not end with numbers that are not finite; info is that of values that did not converge. */
static int decompose(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const dt__matrix_operand *a = &self->operands[A];
    const int n = (int)a->rows;
    const bool has_vectors = self->operands[VECTORS].out != NULL, is_finite = dt__is_finite(a, items[A]);
    void *vectors = has_vectors ? items[VECTORS] : NULL;
    if (!n)
        return 0;
    const int info = is_finite ? call_lapack(a->dtype, has_vectors, n, items, work) : DT__NOT_FINITE;
    if (info) {
        dt__fill_with_nan(&self->operands[VALUES], items[VALUES]);
        dt__fill_with_nan(&self->operands[VECTORS], items[VECTORS]);
        return info;
    }
    const bool has_parts = dt__lapack_has(DT__LAPACK_GEEV, a->dtype);
    if (a->dtype == DT_F32 && has_parts)
        join_f32(n, items[PARTS], items[REAL_VECTORS], items[VALUES], vectors);
    else if (a->dtype == DT_F64 && has_parts)
        join_f64(n, items[PARTS], items[REAL_VECTORS], items[VALUES], vectors);
    if (has_vectors)
        dt__turn_vectors(self->operands[VECTORS].dtype, n, vectors);
    return 0;
}

static dt_status eig(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    const int64_t n = dt__matrix_rows(a);
    const bool has_vectors = call->n_outputs == 2, is_real = !dt__is_complex(a->dtype);
    const dt_dtype result = call->outputs[0].dtype;
    dt__matrix_batch batch = {.call = call, .n_operands = N_OPERANDS, .run = decompose};
    batch.operands[A] = dt__matrix_in_out(a, NULL, 2);
    batch.operands[VALUES] = dt__matrix_in_out(NULL, &call->outputs[0], 1);
    batch.operands[VECTORS] =
        has_vectors ? dt__matrix_in_out(NULL, &call->outputs[1], 2) : dt__matrix_scratch(result, 0);
    batch.operands[PARTS] = dt__matrix_scratch(a->dtype, is_real ? 2 * n : 0);
    batch.operands[REAL_VECTORS] = dt__matrix_scratch(a->dtype, is_real && has_vectors ? n * n : 0);
    dt__batch_of(&call->outputs[0], 1, &batch.batch);
    if (n)
        (void)call_lapack(a->dtype, has_vectors, (int)n, NULL, &batch.work);
    DT__TRY(dt__matrix_batch_run(&batch, NULL));
    return dt__report_not_found(&batch, "eigenvalues");
}

/* V⁻ᴴ X Vᴴ, of a real matrix its real part. */
static dt_status set_gradient(const dt_op_backward *call, dt_tensor *v, dt_tensor *x, dt_tensor **out) {
    dt_tensor *adjoint = dt__adjoint(v), *grad = dt_linalg_solve(adjoint, dt_matmul(x, adjoint));
    if (grad && !dt__is_complex(call->call->inputs[0].dtype))
        grad = dt_select(dt_view_as_real(grad), -1, 0);
    *out = grad;
    return dt__made_or_error(call->call, grad);
}

/* X = diag(gL) + Vᴴ G / E, where G is gV at fixed norms and phases and E[i,j] = conj(L[j] - L[i]), without the diagonal
 * of the quotient. */
static dt_status eig_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *l = call->outputs[0], *v = call->outputs[1], *gl = call->grads[0], *gv = call->grads[1];
    dt_tensor *x = gl ? dt_diag_embed(gl) : NULL;
    if (!gl && !gv)
        return DT_OK;
    if (gv) {
        dt_tensor *e = dt_conj(dt_sub(dt_unsqueeze(l, -2), dt_unsqueeze(l, -1)));
        dt_tensor *one = dt_diag_embed(dt_ones_like(l));
        dt_tensor *quotient = dt_div(dt_matmul(dt__adjoint(v), dt__at_fixed_phases(v, gv)), dt_add(e, one));
        quotient = dt_sub(quotient, dt_diag_embed(dt_diagonal(quotient, 0, -2, -1)));
        x = x ? dt_add(x, quotient) : quotient;
    }
    return set_gradient(call, v, x, &input_grads[0]);
}

/* The vectors are computed here, since few programs differentiate eigenvalues. */
static dt_status eigvals_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *v = dt_linalg_eig(call->inputs[0]).eigenvectors;
    return set_gradient(call, v, dt_diag_embed(call->grads[0]), &input_grads[0]);
}

const dt_op dt__op_linalg_eig = {
    .schema = "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    .summary = "Eigenvalues and eigenvectors of square matrices, complex ones also of real matrices.",
    .rule = "...m!n! -> ...m, ...mn",
    .shape = shape_eig,
    .kernel = eig,
    .flops = dt__eig_flops,
    .backward = eig_backward,
    .saves = "eigenvalues,eigenvectors",
    .samples = "linalg_eig(f32[2,3,3])\nlinalg_eig(f32[4,4])",
};
const dt_op dt__op_linalg_eigvals = {
    .schema = "linalg_eigvals(Tensor self) -> Tensor",
    .summary = "Eigenvalues of square matrices, complex ones also of real matrices.",
    .rule = "...m!n! -> ...m",
    .shape = shape_eigvals,
    .kernel = eig,
    .flops = dt__eigvals_flops,
    .backward = eigvals_backward,
    .saves = "self",
    .samples = "linalg_eigvals(f32[2,3,3])\nlinalg_eigvals(f32[4,4])",
};
