/* SPDX-License-Identifier: Apache-2.0
 *
 * Eigenvalues and eigenvectors of Hermitian matrices, of which one triangle is read. Eigenvalues ascend. The largest
 * component of an eigenvector is real and positive, so that vectors do not depend on the library. Their gradients are
 * those of a loss that does not depend on the phases of complex vectors, and infinite where eigenvalues are equal.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/ops.h"

#include <complex.h>
#include <math.h>
#include <string.h>

static bool is_upper(const dt_op_call *call) {
    const char *uplo = dt__arg_at(call, 0)->as.text;
    return uplo[0] == 'U' || uplo[0] == 'u';
}
static dt_tensor *adjoint(dt_tensor *x) { return dt__conjugate(dt_transpose(x, -2, -1)); }

static dt_status shape_eigvalsh(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    const char *uplo = dt__arg_at(call, 0)->as.text;
    dt__shape batch;
    DT__TRY(dt__expect_square(call, 0));
    if (!strchr("LlUu", uplo[0]) || !uplo[0] || uplo[1])
        return dt_op_refuse(call, DT_ERR_VALUE, "UPLO: expected 'L' or 'U', got '%.60s'", uplo);
    const dt_dtype real = a->dtype == DT_C64 ? DT_F32 : a->dtype == DT_C128 ? DT_F64 : a->dtype;
    const int64_t n = dt__matrix_rows(a);
    dt__batch_of(a, 2, &batch);
    return dt__add_batch(call, real, &batch, 1, &n);
}

static dt_status shape_eigh(dt_op_call *call) {
    DT__TRY(shape_eigvalsh(call));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

/* Turns each vector so that its largest component is real and positive. */
#define TURN(name, T, SIZE, CONJ)                                                                                    \
    static void name(int64_t n, T *vectors) {                                                                        \
        for (int64_t j = 0; j < n; j++, vectors += n) {                                                              \
            int64_t at = 0;                                                                                          \
            for (int64_t i = 1; i < n; i++)                                                                          \
                at = SIZE(vectors[i]) > SIZE(vectors[at]) ? i : at;                                                  \
            if (!(SIZE(vectors[at]) > 0))                                                                            \
                continue;                                                                                            \
            const T turn = CONJ(vectors[at]) / SIZE(vectors[at]);                                                    \
            for (int64_t i = 0; i < n; i++)                                                                          \
                vectors[i] = i == at ? SIZE(vectors[i]) : vectors[i] * turn;                                         \
        }                                                                                                            \
    }
TURN(turn_f32, float, fabsf, +)
TURN(turn_f64, double, fabs, +)
TURN(turn_c64, float _Complex, cabsf, conjf)
TURN(turn_c128, double _Complex, cabs, conj)

static void turn_vectors(dt_dtype dtype, int64_t n, void *vectors) {
    if (dtype == DT_F32)
        turn_f32(n, vectors);
    else if (dtype == DT_F64)
        turn_f64(n, vectors);
    else if (dtype == DT_C64)
        turn_c64(n, vectors);
    else
        turn_c128(n, vectors);
}

static void fill_with_nan(const dt__matrix_operand *operand, void *item) {
    const bool is_single = operand->dtype == DT_F32 || operand->dtype == DT_C64;
    const int64_t n = operand->rows * operand->columns * (dt__is_complex(operand->dtype) ? 2 : 1);
    for (int64_t i = 0; i < n; i++)
        if (is_single)
            ((float *)item)[i] = NAN;
        else
            ((double *)item)[i] = NAN;
}

/* LAPACK may not end with numbers that are not finite. */
static int decompose(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const bool has_vectors = self->operands[1].out != NULL;
    const int n = (int)self->operands[1].rows;
    const dt_dtype dtype = self->operands[1].dtype;
    if (!n)
        return 0;
    int info = 1;
    if (dt__is_finite(&self->operands[1], items[1]))
        info = dt__lapack_heevd(dtype, has_vectors ? 'V' : 'N', is_upper(self->call) ? 'U' : 'L', n, items[1], n,
                                items[0], work);
    if (info) {
        fill_with_nan(&self->operands[0], items[0]);
        fill_with_nan(&self->operands[1], items[1]);
    } else if (has_vectors)
        turn_vectors(dtype, n, items[1]);
    return 0;
}

static dt_status run_eigh(dt_op_call *call, bool has_vectors) {
    const dt_op_value *a = &call->inputs[0];
    const int n = (int)dt__matrix_rows(a);
    dt__matrix_batch batch = {.call = call, .n_operands = 2, .run = decompose};
    batch.operands[0] = dt__matrix_in_out(NULL, &call->outputs[0], 1);
    batch.operands[1] = dt__matrix_in_out(a, has_vectors ? &call->outputs[1] : NULL, 2);
    dt__batch_of(&call->outputs[0], 1, &batch.batch);
    DT__TRY(dt__expect_lapack(call, DT__LAPACK_HEEVD));
    if (n)
        (void)dt__lapack_heevd(a->dtype, has_vectors ? 'V' : 'N', is_upper(call) ? 'U' : 'L', n, NULL, n, NULL,
                               &batch.work);
    return dt__matrix_batch_run(&batch, NULL);
}

static dt_status eigh(dt_op_call *call) { return run_eigh(call, true); }
static dt_status eigvalsh(dt_op_call *call) { return run_eigh(call, false); }

/* V (diag(gL) + Vᴴ gV / E) Vᴴ, where E[i,j] = L[j] - L[i], without the diagonal of the quotient. */
static dt_status eigh_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *l = call->outputs[0], *v = call->outputs[1], *gl = call->grads[0], *gv = call->grads[1];
    dt_tensor *inner = gl ? dt_diag_embed(gl) : NULL;
    if (!gl && !gv)
        return DT_OK;
    if (gv) {
        dt_tensor *e = dt_sub(dt_unsqueeze(l, -2), dt_unsqueeze(l, -1));
        dt_tensor *quotient = dt_div(dt_matmul(adjoint(v), gv), dt_add(e, dt_diag_embed(dt_ones_like(l))));
        quotient = dt_sub(quotient, dt_diag_embed(dt_diagonal(quotient, 0, -2, -1)));
        inner = inner ? dt_add(inner, quotient) : quotient;
    }
    if (dt__is_complex(v->dtype) && inner && !dt__is_complex(inner->dtype))
        inner = dt_to(inner, v->dtype);
    input_grads[0] = dt_matmul(v, dt_matmul(inner, adjoint(v)));
    return input_grads[0] ? DT_OK : dt_error_status(call->call->ctx);
}

/* The vectors are computed here, since few programs differentiate eigenvalues. */
static dt_status eigvalsh_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *v = dt_linalg_eigh(call->inputs[0], .UPLO = is_upper(call->call) ? "U" : "L").eigenvectors;
    dt_tensor *scaled = v ? dt_mul(v, dt_unsqueeze(call->grads[0], -2)) : NULL;
    input_grads[0] = dt_matmul(scaled, v ? adjoint(v) : NULL);
    return input_grads[0] ? DT_OK : dt_error_status(call->call->ctx);
}

const dt_op dt__op_linalg_eigh = {
    .schema = "linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)",
    .summary = "Eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read.",
    .rule = "...m!n! -> ...m, ...mn",
    .arguments = "UPLO",
    .shape = shape_eigh,
    .kernel = eigh,
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
    .backward = eigvalsh_backward,
    .saves = "self",
    .samples = "linalg_eigvalsh(f32[2,3,3])\nlinalg_eigvalsh(f32[4,4]; U)",
};
