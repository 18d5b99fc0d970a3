/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of Householder reflectors, Q = H₁ H₂ … with Hᵢ = 1 - τᵢ vᵢ vᵢᴴ, where vᵢ is column i below the diagonal,
 * with 1 on it: as geqrf of LAPACK stores the Q of a QR factorization. With V = [v₁ v₂ …], D = diag(τ) and S the part
 * above the diagonal of Vᴴ V,
 *
 *     Q = 1 - V (1 + D S)⁻¹ D Vᴴ
 *
 * for any τ, also for zeros, so that products with Q are matrix products and one triangular system, which have
 * gradients: recorded calls run these. All others run the kernels, LAPACK or our own code.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/matrix_flops.h"
#include "ops/ops.h"

#include <inttypes.h>

/* Positions in .arguments. */
enum { LEFT, TRANSPOSE };

static bool flag(const dt_op_call *call, int i) { return dt__arg_at(call, i)->as.b; }

/* geqrf */

static dt_status shape_geqrf(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    dt__shape batch;
    DT__TRY(dt__expect_matrices(call, 0));
    const int64_t k = dt__min_i64(dt__matrix_rows(a), dt__matrix_columns(a));
    dt__batch_of(a, 2, &batch);
    DT__TRY(dt__add_like(call, 0, a->dtype));
    return dt__add_batch(call, a->dtype, &batch, 1, &k);
}

static int reflect(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const dt__matrix_operand *a = &self->operands[0];
    const int m = (int)a->rows, n = (int)a->columns;
    return m && n ? dt__lapack_geqrf(a->dtype, m, n, items[0], m, items[1], work) : 0;
}

static dt_status geqrf(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    const int m = (int)dt__matrix_rows(a), n = (int)dt__matrix_columns(a);
    dt__matrix_batch batch = {.call = call, .n_operands = 2, .run = reflect};
    batch.operands[0] = dt__matrix_in_out(a, &call->outputs[0], 2);
    batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[1], 1);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    dt__small_matrices small = {.kind = DT__SMALL_GEQRF, .m = m, .n = n};
    if (m && n && dt__is_small(call, DT__LAPACK_GEQRF)) {
        batch.small = &small;
        batch.n_operands = 3;
        batch.operands[2] = batch.operands[1];
        batch.operands[0] = dt__matrix_in_out(a, NULL, 2);
        batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[0], 2);
    } else if (m && n)
        (void)dt__lapack_geqrf(a->dtype, m, n, NULL, m, NULL, &batch.work);
    return dt__matrix_batch_run(&batch, NULL);
}

static dt_status geqrf_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    (void)input_grads;
    return dt_op_refuse(call->call, DT_ERR_UNSUPPORTED, "has no gradient; use linalg_qr");
}

/* linalg_householder_product and ormqr */

/* Refuses reflectors [m,columns] and scales that do not belong together; so many scales are used. */
static dt_status expect_reflectors(const dt_op_call *call, int64_t m) {
    const dt_op_value *a = &call->inputs[0], *tau = &call->inputs[1];
    DT__TRY(dt__expect_matrices(call, 0));
    if (tau->dtype != a->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "tau: expected %s, as the reflectors have, got %s",
                            dt_dtype_name(a->dtype), dt_dtype_name(tau->dtype));
    bool fits = tau->n_dims == a->n_dims - 1;
    for (int d = 0; d < tau->n_dims - 1 && fits; d++)
        fits = tau->shape[d] == a->shape[d];
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE, "tau: expected a vector for each matrix of reflectors");
    const int64_t k = tau->shape[tau->n_dims - 1];
    if (k > dt__matrix_columns(a) || k > dt__matrix_rows(a))
        return dt_op_refuse(call, DT_ERR_SHAPE, "tau: expected at most %" PRId64 " scales, got %" PRId64,
                            dt__min_i64(dt__matrix_rows(a), dt__matrix_columns(a)), k);
    return dt__matrix_rows(a) == m
               ? DT_OK
               : dt_op_refuse(call, DT_ERR_SHAPE, "reflectors: expected %" PRId64 " rows, got %" PRId64, m,
                              dt__matrix_rows(a));
}

static dt_status shape_householder(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    DT__TRY(dt__expect_matrices(call, 0));
    DT__TRY(expect_reflectors(call, dt__matrix_rows(a)));
    if (dt__matrix_rows(a) < dt__matrix_columns(a))
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "expected at least as many rows as columns, got [%" PRId64 ",%" PRId64 "]",
                            dt__matrix_rows(a), dt__matrix_columns(a));
    return dt__add_like(call, 0, a->dtype);
}

static dt_tensor *identity(dt_tensor *like, int64_t rows, int64_t columns) {
    return dt_eye(dt_tensor_ctx(like), rows, columns, .dtype = dt_tensor_dtype(like), .mesh = dt_tensor_mesh(like));
}

/* V: the first k columns, with ones on the diagonal and zeros above. */
static dt_tensor *vectors_of(dt_tensor *a, int64_t m, int64_t k) {
    return dt_add(dt_tril(dt_narrow(a, -1, 0, k), .diagonal = DT_INT(-1)), identity(a, m, k));
}

/* V (1 + D S)⁻¹ D X with X = Vᴴ C, so that Q C is C without it; of Qᴴ V D̄ (1 + D S)⁻ᴴ X. */
static dt_tensor *reflected(dt_tensor *v, dt_tensor *tau, dt_tensor *x, bool adjoint) {
    dt_tensor *scales = dt_unsqueeze(tau, -1);
    dt_tensor *s = dt_mul(scales, dt_triu(dt_matmul(dt__adjoint(v), v), .diagonal = DT_INT(1)));
    x = adjoint ? dt_mul(dt__conjugate(scales),
                         dt_linalg_solve_triangular(dt__adjoint(s), x, false, .unitriangular = true))
                : dt_linalg_solve_triangular(s, dt_mul(scales, x), true, .unitriangular = true);
    return dt_matmul(v, x);
}

static dt_status decompose_householder(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *a = &call->inputs[0], *tau = &call->inputs[1];
    const int64_t m = dt__matrix_rows(a), n = dt__matrix_columns(a);
    dt_tensor *v = vectors_of(inputs[0], m, tau->shape[tau->n_dims - 1]);
    dt_tensor *q = reflected(v, inputs[1], dt__adjoint(dt_narrow(v, -2, 0, n)), false);
    outputs[0] = dt_sub(identity(inputs[0], m, n), q);
    return dt__made_or_error(call, outputs[0]);
}

static int form(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const dt__matrix_operand *a = &self->operands[0], *tau = &self->operands[1];
    const int m = (int)a->rows, n = (int)a->columns;
    return n ? dt__lapack_ungqr(a->dtype, m, n, (int)tau->rows, items[0], m, items[1], work) : 0;
}

static dt_status householder(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *tau = &call->inputs[1];
    dt__matrix_batch batch = {.call = call, .n_operands = 2, .run = form};
    batch.operands[0] = dt__matrix_in_out(a, &call->outputs[0], 2);
    batch.operands[1] = dt__matrix_in_out(tau, NULL, 1);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    (void)form(&batch, (void *[]){NULL, NULL}, &batch.work);
    return dt__matrix_batch_run(&batch, NULL);
}

static dt_status shape_ormqr(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *c = &call->inputs[2];
    DT__TRY(dt__expect_matrices(call, 0));
    DT__TRY(dt__expect_matrices(call, 2));
    if (c->dtype != a->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected tensors of one dtype, got %s and %s",
                            dt_dtype_name(a->dtype), dt_dtype_name(c->dtype));
    bool fits = c->n_dims == a->n_dims;
    for (int d = 0; d < c->n_dims - 2 && fits; d++)
        fits = c->shape[d] == a->shape[d];
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE, "other: expected a matrix for each matrix of reflectors");
    DT__TRY(expect_reflectors(call, flag(call, LEFT) ? dt__matrix_rows(c) : dt__matrix_columns(c)));
    return dt__add_like(call, 2, c->dtype);
}

/* C Q is the adjoint of Qᴴ Cᴴ. */
static dt_status decompose_ormqr(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *a = &call->inputs[0], *tau = &call->inputs[1];
    const bool left = flag(call, LEFT);
    dt_tensor *v = vectors_of(inputs[0], dt__matrix_rows(a), tau->shape[tau->n_dims - 1]);
    dt_tensor *c = left ? inputs[2] : dt__adjoint(inputs[2]);
    dt_tensor *change = reflected(v, inputs[1], dt_matmul(dt__adjoint(v), c), flag(call, TRANSPOSE) == left);
    dt_tensor *result = dt_sub(c, change);
    outputs[0] = left ? result : dt__adjoint(result);
    return dt__made_or_error(call, outputs[0]);
}

static void rows_ormqr(const dt_op_call *call, dt_rows *rows) {
    dt_rows_factors(rows, flag(call, LEFT) ? "...m!j!, ...k!, ...m!n -> ...mn" : "...m!j!, ...k!, ...nm! -> ...nm",
                    0);
    dt_rows_linear(rows, 4);
}

/* Multiplies n columns of C by Q from the left, or n rows from the right. */
static int multiply(const dt__matrix_batch *self, int n, void *const *items, void *c, dt__lapack_work *work) {
    const dt__matrix_operand *a = &self->operands[0], *all = &self->operands[2];
    const bool left = flag(self->call, LEFT);
    const int m = (int)a->rows;
    return dt__lapack_unmqr(a->dtype, left ? 'L' : 'R', flag(self->call, TRANSPOSE) ? 'C' : 'N', left ? m : n,
                            left ? n : m, (int)self->operands[1].rows, items[0], m, items[1], c, (int)all->rows,
                            work);
}

/* LAPACK skips columns of zeros at the end, so NaN in them would depend on how many columns there are. */
static int apply(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const dt__matrix_operand *c = &self->operands[2];
    const bool left = flag(self->call, LEFT);
    const int n = (int)(left ? c->columns : c->rows);
    const int64_t step = (left ? c->rows : 1) * (int64_t)dt_dtype_size(c->dtype);
    bool is_finite = true;
    for (int i = 0; i < 3; i++)
        is_finite = is_finite && dt__is_finite(&self->operands[i], items[i]);
    if (is_finite)
        return multiply(self, n, items, items[2], work);
    for (int i = 0; i < n; i++)
        (void)multiply(self, 1, items, (char *)items[2] + i * step, work);
    return 0;
}

static dt_status ormqr(dt_op_call *call) {
    const dt_op_value *c = &call->inputs[2];
    dt__matrix_batch batch = {.call = call, .n_operands = 3, .run = apply};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], NULL, 2);
    batch.operands[1] = dt__matrix_in_out(&call->inputs[1], NULL, 1);
    batch.operands[2] = dt__matrix_in_out(c, &call->outputs[0], 2);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    if (!dt__matrix_rows(c) || !dt__matrix_columns(c))
        return DT_OK;
    const int n = (int)(flag(call, LEFT) ? dt__matrix_columns(c) : dt__matrix_rows(c));
    (void)multiply(&batch, n, (void *[]){NULL, NULL}, NULL, &batch.work);
    return dt__matrix_batch_run(&batch, NULL);
}

const dt_op dt__op_geqrf = {
    .schema = "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    .summary = "QR factors of matrices as LAPACK stores them: R, and below its diagonal Householder reflectors.",
    .rule = "...m!n! -> ...mn, ...k",
    .shape = shape_geqrf,
    .kernel = geqrf,
    .flops = dt__lu_flops,
    .backward = geqrf_backward,
    .saves = "",
    .samples = "geqrf(f32[2,4,3])\ngeqrf(f32[3,5])",
};
const dt_op dt__op_linalg_householder_product = {
    .schema = "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    .summary = "The first columns of a product of Householder reflectors, which geqrf makes.",
    .rule = "...m!n!, ...k! -> ...mn",
    .shape = shape_householder,
    .kernel = householder,
    .decompose = decompose_householder,
    .flops = dt__householder_flops,
    .flags = DT_OP_RECORDS_PARTS,
    .samples = "linalg_householder_product(f32[2,4,3]; f32[2,3])\nlinalg_householder_product(f32[4,4]; f32[2])",
};
const dt_op dt__op_ormqr = {
    .schema = "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
    .summary = "Products of a matrix with the Q of geqrf, or with its adjoint, from the left or the right.",
    .rows = rows_ormqr,
    .arguments = "left,transpose",
    .shape = shape_ormqr,
    .kernel = ormqr,
    .decompose = decompose_ormqr,
    .flops = dt__ormqr_flops,
    .flags = DT_OP_RECORDS_PARTS,
    .samples = "ormqr(f32[2,4,3]; f32[2,3]; f32[2,4,2])\normqr(f32[4,4]; f32[3]; f32[2,4]; false; true)",
};
