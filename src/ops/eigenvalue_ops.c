/* SPDX-License-Identifier: Apache-2.0
 *
 * Eigenvalues and eigenvectors of Hermitian matrices; only one triangle is read. Eigenvalues ascend. The largest
 * component of an eigenvector is real and positive, so that vectors do not depend on the library. Gradients of vectors
 * are infinite where eigenvalues are equal. A matrix with elements that are not finite is bad data.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/eigenvectors.h"
#include "ops/matrix_batches.h"
#include "ops/matrix_flops.h"
#include "ops/ops.h"

#include <string.h>

static bool is_upper(const dt_op_call *call) {
    const char *uplo = dt__arg_at(call, 0)->as.text;
    return uplo[0] == 'U' || uplo[0] == 'u';
}

static dt_status shape_eigvalsh(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    const char *uplo = dt__arg_at(call, 0)->as.text;
    dt__shape batch;
    DT__TRY(dt__expect_square(call, 0));
    if (!strchr("LlUu", uplo[0]) || !uplo[0] || uplo[1])
        return dt_op_refuse(call, DT_ERR_VALUE, "UPLO: expected 'L' or 'U', got '%.60s'", uplo);
    const int64_t n = dt__matrix_rows(a);
    dt__batch_of(a, 2, &batch);
    return dt__add_batch(call, dt__real_dtype(a->dtype), &batch, 1, &n);
}

static dt_status shape_eigh(dt_op_call *call) {
    DT__TRY(shape_eigvalsh(call));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static bool is_finite(const dt__matrix_operand *a, bool upper, const char *item) {
    const int64_t n = a->rows, size = (int64_t)dt_dtype_size(a->dtype);
    dt__matrix_operand column = *a; /* the part of one that is read */
    bool finite = true;
    column.columns = 1;
    for (int64_t j = 0; j < n && finite; j++) {
        column.rows = upper ? j + 1 : n - j;
        finite = dt__is_finite(&column, item + (j * n + (upper ? 0 : j)) * size);
    }
    return finite;
}

/* LAPACK may not end with numbers that are not finite. */
static int decompose(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const bool has_vectors = self->operands[1].out != NULL;
    const int n = (int)self->operands[1].rows;
    const dt_dtype dtype = self->operands[1].dtype;
    if (!n)
        return 0;
    int info = DT__NOT_FINITE;
    if (is_finite(&self->operands[1], is_upper(self->call), items[1]))
        info = dt__lapack_heevd(dtype, has_vectors ? 'V' : 'N', is_upper(self->call) ? 'U' : 'L', n, items[1], n,
                                items[0], work);
    if (info) {
        dt__fill_with_nan(&self->operands[0], items[0]);
        dt__fill_with_nan(&self->operands[1], items[1]);
    } else if (has_vectors)
        dt__turn_vectors(dtype, n, items[1]);
    return info;
}

static dt_status run_eigh(dt_op_call *call, bool has_vectors) {
    const dt_op_value *a = &call->inputs[0];
    const int n = (int)dt__matrix_rows(a);
    dt__matrix_batch batch = {.call = call, .n_operands = 2, .run = decompose};
    batch.operands[0] = dt__matrix_in_out(NULL, &call->outputs[0], 1);
    batch.operands[1] = dt__matrix_in_out(a, has_vectors ? &call->outputs[1] : NULL, 2);
    dt__batch_of(&call->outputs[0], 1, &batch.batch);
    dt__small_matrices small = {.kind = DT__SMALL_EIGH, .n = n, .upper = is_upper(call)};
    if (dt__is_small(call, DT__LAPACK_HEEVD)) {
        batch.small = &small;
        batch.n_operands = 3;
        batch.operands[2] = batch.operands[0];
        batch.operands[0] = dt__matrix_in_out(a, NULL, 2);
        batch.operands[1] =
            has_vectors ? dt__matrix_in_out(NULL, &call->outputs[1], 2) : dt__matrix_scratch(a->dtype, 0);
    }
    if (n && !batch.small)
        (void)dt__lapack_heevd(a->dtype, has_vectors ? 'V' : 'N', is_upper(call) ? 'U' : 'L', n, NULL, n, NULL,
                               &batch.work);
    DT__TRY(dt__matrix_batch_run(&batch, NULL));
    return dt__report_not_found(&batch, "eigenvalues");
}

static dt_status eigh(dt_op_call *call) { return run_eigh(call, true); }
static dt_status eigvalsh(dt_op_call *call) { return run_eigh(call, false); }

/* The Hermitian part of V (diag(gL) + Vᴴ G / E) Vᴴ, where G is gV at fixed phases and E[i,j] = L[j] - L[i], without
 * the diagonal of the quotient. */
static dt_status eigh_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *l = call->outputs[0], *v = call->outputs[1], *gl = call->grads[0], *gv = call->grads[1];
    dt_tensor *inner = gl ? dt_diag_embed(gl) : NULL;
    if (!gl && !gv)
        return DT_OK;
    if (gv) {
        dt_tensor *e = dt_sub(dt_unsqueeze(l, -2), dt_unsqueeze(l, -1));
        dt_tensor *quotient =
            dt_div(dt_matmul(dt__adjoint(v), dt__at_fixed_phases(v, gv)), dt_add(e, dt_diag_embed(dt_ones_like(l))));
        quotient = dt_sub(quotient, dt_diag_embed(dt_diagonal(quotient, 0, -2, -1)));
        inner = inner ? dt_add(inner, quotient) : quotient;
    }
    if (dt__is_complex(v->dtype) && inner && !dt__is_complex(inner->dtype))
        inner = dt_to(inner, v->dtype);
    dt_tensor *grad = dt_matmul(v, dt_matmul(inner, dt__adjoint(v)));
    input_grads[0] = gv && grad ? dt__hermitian_part(grad) : grad;
    return dt__made_or_error(call->call, input_grads[0]);
}

/* The vectors are computed here, since few programs differentiate eigenvalues. */
static dt_status eigvalsh_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *v = dt_linalg_eigh(call->inputs[0], .UPLO = is_upper(call->call) ? "U" : "L").eigenvectors;
    dt_tensor *scaled = v ? dt_mul(v, dt_unsqueeze(call->grads[0], -2)) : NULL;
    input_grads[0] = dt_matmul(scaled, v ? dt__adjoint(v) : NULL);
    return dt__made_or_error(call->call, input_grads[0]);
}

const dt_op dt__op_linalg_eigh = {
    .schema = "linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)",
    .summary = "Eigenvalues, ascending, and eigenvectors of Hermitian matrices; one triangle is read.",
    .rule = "...m!n! -> ...m, ...mn",
    .arguments = "UPLO",
    .shape = shape_eigh,
    .kernel = eigh,
    .flops = dt__eigh_flops,
    .backward = eigh_backward,
    .saves = "eigenvalues,eigenvectors",
    .samples = "linalg_eigh(f32[2,3,3])\nlinalg_eigh(f32[4,4]; U)",
};
const dt_op dt__op_linalg_eigvalsh = {
    .schema = "linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor",
    .summary = "Eigenvalues of Hermitian matrices, ascending.",
    .rule = "...m!n! -> ...m",
    .arguments = "UPLO",
    .shape = shape_eigvalsh,
    .kernel = eigvalsh,
    .flops = dt__eigvalsh_flops,
    .backward = eigvalsh_backward,
    .saves = "self",
    .samples = "linalg_eigvalsh(f32[2,3,3])\nlinalg_eigvalsh(f32[4,4]; U)",
};
