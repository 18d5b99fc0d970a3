/* SPDX-License-Identifier: Apache-2.0
 *
 * QR factors of matrices by Householder reflectors; signs are LAPACK's. With k = min(m, n), "reduced" has Q [m,k] and
 * R [k,n], "complete" Q [m,m] and R [m,n], and "r" R [k,n] alone, with a Q of no elements.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/matrix_flops.h"
#include "ops/ops.h"

#include <string.h>

static const char *mode_of(const dt_op_call *call) { return dt__arg_at(call, 0)->as.text; }
static bool is_complete(const dt_op_call *call) { return !strcmp(mode_of(call), "complete"); }
static bool has_q(const dt_op_call *call) { return strcmp(mode_of(call), "r") != 0; }

static dt_status shape_qr(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    const char *mode = mode_of(call);
    dt__shape batch, none = {.n = 0};
    DT__TRY(dt__expect_matrices(call, 0));
    if (strcmp(mode, "reduced") != 0 && !is_complete(call) && has_q(call))
        return dt_op_refuse(call, DT_ERR_VALUE, "mode: expected 'reduced', 'complete' or 'r', got '%.60s'", mode);
    const int64_t m = dt__matrix_rows(a), n = dt__matrix_columns(a), k = is_complete(call) ? m : dt__min_i64(m, n);
    dt__batch_of(a, 2, &batch);
    if (has_q(call))
        DT__TRY(dt__add_batch(call, a->dtype, &batch, 2, (int64_t[]){m, k}));
    else
        DT__TRY(dt__add_batch(call, a->dtype, &none, 1, (int64_t[]){0}));
    return dt__add_batch(call, a->dtype, &batch, 2, (int64_t[]){k, n});
}

static void rows_qr(const dt_op_call *call, dt_rows *rows) {
    for (int d = 0; d < call->inputs[0].n_dims - 2; d++)
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), has_q(call) ? DT_ROW_S(d) : 0, DT_ROW_S(d)});
}

/* The operands are A, the scales of the reflectors, R and Q. */
enum { A, TAU, R, Q };
typedef struct sizes {
    int m, n, k, n_reflectors; /* k: columns of Q and rows of R */
    dt__lapack_work factor, form;
} sizes;

static int factor(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const sizes *of = self->arguments;
    const dt_dtype dtype = self->operands[A].dtype;
    const size_t size = dt_dtype_size(dtype);
    dt__lapack_work factor_work = of->factor, form_work = of->form;
    factor_work.memory = form_work.memory = work->memory;
    const char *a = items[A];
    char *r = items[R];
    if (of->n_reflectors)
        (void)dt__lapack_geqrf(dtype, of->m, of->n, items[A], of->m, items[TAU], &factor_work);
    for (int64_t j = 0; j < of->n; j++) {
        const int64_t n_above = dt__min_i64(j + 1, dt__min_i64(of->k, of->m));
        memset(r + (size_t)(j * of->k) * size, 0, (size_t)of->k * size);
        memcpy(r + (size_t)(j * of->k) * size, a + (size_t)(j * of->m) * size, (size_t)n_above * size);
    }
    if (self->n_operands <= Q || !of->m || !of->k)
        return 0;
    memset(items[Q], 0, (size_t)of->m * (size_t)of->k * size);
    memcpy(items[Q], a, (size_t)of->m * (size_t)of->n_reflectors * size);
    return dt__lapack_ungqr(dtype, of->m, of->k, of->n_reflectors, items[Q], of->m, items[TAU], &form_work);
}

static dt_status qr(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    const dt_dtype dtype = a->dtype;
    sizes of = {.m = (int)dt__matrix_rows(a), .n = (int)dt__matrix_columns(a)};
    of.n_reflectors = of.m < of.n ? of.m : of.n;
    of.k = is_complete(call) ? of.m : of.n_reflectors;
    dt__matrix_batch batch = {.call = call, .n_operands = has_q(call) ? 4 : 3, .arguments = &of, .run = factor};
    batch.operands[A] = dt__matrix_in_out(a, NULL, 2);
    batch.operands[TAU] = dt__matrix_scratch(dtype, of.n_reflectors);
    batch.operands[R] = dt__matrix_in_out(NULL, &call->outputs[1], 2);
    if (has_q(call))
        batch.operands[Q] = dt__matrix_in_out(NULL, &call->outputs[0], 2);
    dt__batch_of(&call->outputs[1], 2, &batch.batch);
    dt__small_matrices small = {.kind = DT__SMALL_QR, .m = of.m, .n = of.n, .n_rhs = of.k};
    if (of.n && of.m <= DT__SMALL_MATRIX && of.n <= DT__SMALL_MATRIX && dt__is_small(call, DT__LAPACK_GEQRF)) {
        batch.small = &small;
        batch.n_operands = 3;
        batch.operands[1] =
            has_q(call) ? dt__matrix_in_out(NULL, &call->outputs[0], 2) : dt__matrix_scratch(dtype, 0);
        batch.operands[2] = dt__matrix_in_out(NULL, &call->outputs[1], 2);
        return dt__matrix_batch_run(&batch, NULL);
    }
    if (of.n_reflectors)
        (void)dt__lapack_geqrf(dtype, of.m, of.n, NULL, of.m, NULL, &of.factor);
    if (of.m && of.k)
        (void)dt__lapack_ungqr(dtype, of.m, of.k, of.n_reflectors, NULL, of.m, NULL, &of.form);
    batch.work.bytes = of.factor.bytes > of.form.bytes ? of.factor.bytes : of.form.bytes;
    return dt__matrix_batch_run(&batch, NULL);
}

/* Of a matrix with m >= n: (gQ + Q S) R⁻ᴴ, where S is the Hermitian matrix with the upper triangle of gR Rᴴ - Qᴴ gQ. */
static dt_tensor *tall_gradient(dt_tensor *q, dt_tensor *r, dt_tensor *gq, dt_tensor *gr) {
    dt_tensor *x = gr ? dt_matmul(gr, dt__adjoint(r)) : NULL;
    if (gq) {
        dt_tensor *inner = dt_matmul(dt__adjoint(q), gq);
        x = x ? dt_sub(x, inner) : dt_neg(inner);
    }
    x = dt_triu(x);
    dt_tensor *sum = dt_add(x, dt__adjoint(x));
    dt_tensor *diagonal = dt_diag_embed(dt_diagonal(sum, 0, -2, -1));
    sum = dt_matmul(q, dt_sub(sum, dt_mul_scalar(diagonal, 0.5)));
    return dt_linalg_solve_triangular(dt__adjoint(r), gq ? dt_add(sum, gq) : sum, false, .left = DT_FALSE);
}

/* A wide matrix is [X, Y] with X = Q R₁ and R₂ = Qᴴ Y: Y has the gradient Q gR₂, and adds Y gR₂ᴴ to that of Q. */
static dt_status qr_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const int64_t m = dt__matrix_rows(&op->inputs[0]), n = dt__matrix_columns(&op->inputs[0]);
    dt_tensor *a = call->inputs[0], *q = call->outputs[0], *r = call->outputs[1];
    dt_tensor *gq = call->grads[0], *gr = call->grads[1];
    if (!gq && !gr)
        return DT_OK;
    if (!has_q(op) || (is_complete(op) && m > n))
        return dt_op_refuse(op, DT_ERR_UNSUPPORTED, "mode '%s' of these matrices has no gradient; use mode 'reduced'",
                            mode_of(op));
    if (m >= n) {
        input_grads[0] = tall_gradient(q, r, gq, gr);
    } else {
        dt_tensor *r1 = dt_narrow(r, -1, 0, m), *y = dt_narrow(a, -1, m, n - m);
        dt_tensor *g1 = gr ? dt_narrow(gr, -1, 0, m) : NULL, *g2 = gr ? dt_narrow(gr, -1, m, n - m) : NULL;
        if (g2) {
            dt_tensor *more = dt_matmul(y, dt__adjoint(g2));
            gq = gq ? dt_add(gq, more) : more;
        }
        dt_tensor *gx = tall_gradient(q, r1, gq, g1), *gy = g2 ? dt_matmul(q, g2) : dt_zeros_like(y);
        input_grads[0] = dt_cat(DT_TENSORS(gx, gy), .dim = DT_INT(-1));
    }
    return input_grads[0] ? DT_OK : dt_error_status(op->ctx);
}

/* qr: the form before linalg_qr. */

static dt_status shape_old_qr(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    dt__shape batch;
    DT__TRY(dt__expect_matrices(call, 0));
    const int64_t m = dt__matrix_rows(a), n = dt__matrix_columns(a);
    const int64_t k = dt__arg_at(call, 0)->as.b ? dt__min_i64(m, n) : m;
    dt__batch_of(a, 2, &batch);
    DT__TRY(dt__add_batch(call, a->dtype, &batch, 2, (int64_t[]){m, k}));
    return dt__add_batch(call, a->dtype, &batch, 2, (int64_t[]){k, n});
}

static dt_status decompose_old_qr(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_linalg_qr_result of = dt_linalg_qr(inputs[0], .mode = dt__arg_at(call, 0)->as.b ? "reduced" : "complete");
    outputs[0] = of.Q;
    outputs[1] = of.R;
    return dt__made_or_error(call, of.R);
}

const dt_op dt__op_linalg_qr = {
    .schema = "linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
    .summary = "QR factors of matrices: an orthogonal, or unitary, matrix and an upper triangular one.",
    .rows = rows_qr,
    .arguments = "mode",
    .shape = shape_qr,
    .kernel = qr,
    .flops = dt__qr_flops,
    .backward = qr_backward,
    .saves = "A,Q,R",
    .samples = "linalg_qr(f32[2,4,3])\nlinalg_qr(f32[3,5])\nlinalg_qr(f32[2,3,3]; complete)",
};
const dt_op dt__op_qr = {
    .schema = "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    .summary = "As linalg_qr, in the reduced or, without some, the complete form.",
    .rule = "...m!n! -> ...mk, ...kn",
    .arguments = "some",
    .shape = shape_old_qr,
    .decompose = decompose_old_qr,
    .samples = "qr(f32[2,4,3])\nqr(f32[3,3]; false)",
};
