/* SPDX-License-Identifier: Apache-2.0
 *
 * LU factors of matrices with partial pivoting, A = P L U, and what follows from them: solutions of linear systems
 * and inverses. Pivots count from 1, as LAPACK's. The kernels return info and never fail by themselves;
 * with check_errors a singular matrix is a verdict.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/matrix_flops.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments. */
enum { PIVOT = 0, LEFT = 0, INV_CHECKS = 0, CHECKS = 1, ADJOINT = 1 };

static bool flag(const dt_op_call *call, int i) { return dt__arg_at(call, i)->as.b; }

static dt_status report_singular(const dt__matrix_batch *batch, bool checks) {
    return batch->first_bad < 0 || !checks
               ? DT_OK
               : dt_op_verdict(batch->call, DT_ERR_VALUE,
                               "matrix %" PRId64 " is singular: element %d of the diagonal of U is 0",
                               batch->first_bad, batch->first_info);
}

/* linalg_lu_factor */

static dt_status shape_lu_factor(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    dt__shape batch;
    DT__TRY(dt__expect_matrices(call, 0));
    if (!flag(call, PIVOT))
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "pivot: factors without pivots are not supported");
    int64_t k = dt__min_i64(dt__matrix_rows(a), dt__matrix_columns(a));
    dt__batch_of(a, 2, &batch);
    DT__TRY(dt__add_like(call, 0, a->dtype));
    return dt__add_batch(call, DT_I32, &batch, 1, &k);
}

static dt_status shape_lu_factor_ex(dt_op_call *call) {
    dt__shape batch;
    DT__TRY(shape_lu_factor(call));
    dt__batch_of(&call->inputs[0], 2, &batch);
    return dt__add_shape(call, DT_I32, &batch);
}

static int factor(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const int m = (int)self->operands[0].rows, n = (int)self->operands[0].columns;
    (void)work;
    return m && n ? dt__lapack_getrf(self->operands[0].dtype, m, n, items[0], m, items[1]) : 0;
}

static dt_status lu_factor_ex(dt_op_call *call) {
    dt__matrix_batch batch = {.call = call, .n_operands = 2, .run = factor};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], &call->outputs[0], 2);
    batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[1], 1);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    dt__small_matrices small = {
        .kind = DT__SMALL_LU, .m = (int)batch.operands[0].rows, .n = (int)batch.operands[0].columns};
    if (dt__is_small(call, DT__LAPACK_GETRF)) {
        batch.small = &small;
        batch.n_operands = 3;
        batch.operands[2] = batch.operands[1];
        batch.operands[0] = dt__matrix_in_out(&call->inputs[0], NULL, 2);
        batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[0], 2);
    }
    DT__TRY(dt__matrix_batch_run(&batch, &call->outputs[2]));
    return report_singular(&batch, flag(call, CHECKS));
}

/* Rows or columns of matrices from `begin` on, as a view. */
static dt_tensor *rows_of(dt_tensor *x, int64_t begin, int64_t n) { return dt_narrow(x, -2, begin, n); }
static dt_tensor *columns_of(dt_tensor *x, int64_t begin, int64_t n) { return dt_narrow(x, -1, begin, n); }

/* Of a square matrix P L⁻ᴴ Φ U⁻ᴴ, where Φ is the part below the diagonal of Lᴴ gL and the rest of gU Uᴴ. A wide matrix
 * has further columns, with U₂ = L⁻¹ Pᵀ A₂: they have the gradient P L⁻ᴴ gU₂ and take gU₂ U₂ᴴ from Lᴴ gL. A tall matrix
 * has further rows, with L₂ = (Pᵀ A)₂ U⁻¹: they have gL₂ U⁻ᴴ and take L₂ᴴ gL₂ from gU Uᴴ. */
static dt_status lu_factor_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *a = &call->call->inputs[0];
    const int64_t m = dt__matrix_rows(a), n = dt__matrix_columns(a), k = dt__min_i64(m, n);
    if (!call->grads[0])
        return DT_OK;
    dt_lu_unpack_result of = dt_lu_unpack(call->outputs[0], call->outputs[1]);
    dt_tensor *l = dt__adjoint(rows_of(of.L, 0, k)), *u = dt__adjoint(columns_of(of.U, 0, k));
    dt_tensor *grad_l = dt_tril(columns_of(call->grads[0], 0, k), .diagonal = DT_INT(-1));
    dt_tensor *grad_u = dt_triu(rows_of(call->grads[0], 0, k));
    dt_tensor *by_l = dt_matmul(l, rows_of(grad_l, 0, k)), *by_u = dt_matmul(columns_of(grad_u, 0, k), u);
    dt_tensor *outside = NULL; /* the gradient of further columns or rows, but for a factor */
    if (m < n) {
        outside = columns_of(grad_u, k, n - k);
        by_l = dt_sub(by_l, dt_matmul(outside, dt__adjoint(columns_of(of.U, k, n - k))));
    } else if (m > n) {
        outside = rows_of(grad_l, k, m - k);
        by_u = dt_sub(by_u, dt_matmul(dt__adjoint(rows_of(of.L, k, m - k)), outside));
    }
    dt_tensor *phi = dt_add(dt_tril(by_l, .diagonal = DT_INT(-1)), dt_triu(by_u));
    phi = dt_linalg_solve_triangular(u, phi, false, .left = DT_FALSE);
    if (m < n)
        phi = dt_cat(DT_TENSORS(phi, outside), .dim = DT_INT(-1));
    phi = dt_linalg_solve_triangular(l, phi, true, .unitriangular = true);
    if (m > n)
        phi = dt_cat(DT_TENSORS(phi, dt_linalg_solve_triangular(u, outside, false, .left = DT_FALSE)),
                     .dim = DT_INT(-2));
    input_grads[0] = dt_matmul(of.P, phi);
    return dt__made_or_error(call->call, input_grads[0]);
}

static dt_status decompose_lu_factor(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_linalg_lu_factor_ex_result result = dt_linalg_lu_factor_ex(inputs[0], .check_errors = true);
    outputs[0] = result.LU;
    outputs[1] = result.pivots;
    return dt__made_or_error(call, outputs[0]);
}

/* Solutions for the columns of B, with the factors of A, which is the first operand. */
static void solve_columns(const dt__matrix_batch *self, char trans, int n_rhs, const void *lu, const int32_t *pivots,
                          const dt__matrix_operand *b, void *columns) {
    const int n = (int)self->operands[0].rows;
    const int at_once = dt__is_regular(&self->operands[0], lu, b, columns) ? n_rhs : 1;
    for (int r = 0; r < n_rhs; r += at_once)
        (void)dt__lapack_getrs(b->dtype, trans, n, at_once, lu, n, pivots,
                               (char *)columns + (int64_t)r * n * (int64_t)dt_dtype_size(b->dtype), n);
}

/* linalg_lu_solve */

/* Inputs `at` and `at_b` are LU, which its pivots follow, and B. */
static dt_status add_lu_solution(dt_op_call *call, int at, int at_b, bool left) {
    const dt_op_value *lu = &call->inputs[at], *pivots = &call->inputs[at + 1], *b = &call->inputs[at_b];
    dt__shape batches[2], batch;
    DT__TRY(dt__expect_square(call, at));
    DT__TRY(dt__expect_matrices(call, at_b));
    if (pivots->dtype != DT_I32)
        return dt_op_refuse(call, DT_ERR_DTYPE, "pivots: expected i32, got %s", dt_dtype_name(pivots->dtype));
    if (pivots->n_dims != lu->n_dims - 1 || pivots->shape[pivots->n_dims - 1] != dt__matrix_rows(lu))
        return dt_op_refuse(call, DT_ERR_SHAPE, "pivots: expected one per row of LU");
    if (lu->dtype != b->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected matrices of one dtype");
    int64_t size = left ? dt__matrix_rows(b) : dt__matrix_columns(b);
    if (size != dt__matrix_rows(lu))
        return dt_op_refuse(call, DT_ERR_SHAPE, "B: expected %" PRId64 " %s, as many as LU has, got %" PRId64,
                            dt__matrix_rows(lu), left ? "rows" : "columns", size);
    dt__batch_of(lu, 2, &batches[0]);
    dt__batch_of(b, 2, &batches[1]);
    DT__TRY(dt__broadcast_batches(call, &batches[0], &batches[1], &batch));
    return dt__add_batch(call, b->dtype, &batch, 2, b->shape + b->n_dims - 2);
}

static dt_status shape_lu_solve(dt_op_call *call) { return add_lu_solution(call, 0, 2, flag(call, LEFT)); }
static dt_status shape_old_lu_solve(dt_op_call *call) { return add_lu_solution(call, 1, 0, true); }

static dt_status decompose_lu_solve(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = dt_linalg_lu_solve(inputs[1], inputs[2], inputs[0]);
    return dt__made_or_error(call, outputs[0]);
}

static void rows_lu_solve(const dt_op_call *call, dt_rows *rows) {
    dt_rows_factors(rows, flag(call, LEFT) ? "...a!b!, ...p!, ...c!k -> ...ck" : "...a!b!, ...p!, ...kc! -> ...kc",
                    0);
    dt_rows_linear(rows, 4);
}

static void conjugate(const dt__matrix_operand *operand, void *numbers) {
    const int64_t n = operand->rows * operand->columns;
    for (int64_t i = 0; operand->dtype == DT_C64 && i < n; i++)
        ((float *)numbers)[2 * i + 1] = -((float *)numbers)[2 * i + 1];
    for (int64_t i = 0; operand->dtype == DT_C128 && i < n; i++)
        ((double *)numbers)[2 * i + 1] = -((double *)numbers)[2 * i + 1];
}

/* X A = B is Aᵀ Xᵀ = Bᵀ, and B by rows is Bᵀ by columns. X Aᴴ = B is the conjugate of A X̄ᵀ = B̄ᵀ. Pivots are data, and
 * LAPACK trusts them: one that is out of range swaps nothing. */
static int apply_factors(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const dt_op_call *call = self->call;
    const bool left = flag(call, LEFT), adjoints = flag(call, ADJOINT);
    const dt__matrix_operand *b = &self->operands[2];
    const int n = (int)self->operands[0].rows, n_rhs = (int)(left ? b->columns : b->rows);
    int32_t *pivots = items[1];
    (void)work;
    for (int i = 0; i < n; i++)
        pivots[i] = pivots[i] < 1 || pivots[i] > n ? i + 1 : pivots[i];
    if (!n || !n_rhs)
        return 0;
    const bool conjugates = !left && adjoints;
    if (conjugates)
        conjugate(b, items[2]);
    solve_columns(self, left ? (adjoints ? 'C' : 'N') : (adjoints ? 'N' : 'T'), n_rhs, items[0], pivots, b, items[2]);
    if (conjugates)
        conjugate(b, items[2]);
    return 0;
}

static dt_status lu_solve(dt_op_call *call) {
    dt__matrix_batch batch = {.call = call, .n_operands = 3, .run = apply_factors};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], NULL, 2);
    batch.operands[1] = dt__matrix_in_out(&call->inputs[1], NULL, 1);
    batch.operands[2] = dt__matrix_in_out(&call->inputs[2], &call->outputs[0], 2);
    batch.operands[2].by_rows = !flag(call, LEFT);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    dt__small_matrices small = {
        .kind = DT__SMALL_LU_SOLVE,
        .n = (int)batch.operands[0].rows,
        .n_rhs = (int)(flag(call, LEFT) ? batch.operands[2].columns : batch.operands[2].rows),
        .right = !flag(call, LEFT),
        .adjoint = flag(call, ADJOINT),
    };
    if (dt__is_small(call, DT__LAPACK_GETRS)) {
        batch.small = &small;
        batch.n_operands = 4;
        batch.operands[3] = batch.operands[1];
        batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[0], 2);
        batch.operands[2] = dt__matrix_in_out(&call->inputs[2], NULL, 2);
    }
    return dt__matrix_batch_run(&batch, NULL);
}

/* gB is the solution with the adjoint. A has the gradient -P L⁻ᴴ R Y, where R is U⁻ᴴ gX, and Y is Xᴴ; with adjoint
 * they are U⁻ᴴ B and gBᴴ; on the right U⁻ᴴ Bᴴ and gB, and with adjoint U⁻ᴴ gXᴴ and X. U has the part of -R Y above the
 * diagonal, and L that of -L⁻ᴴ R (Y Uᴴ) below it: products that do not leave small differences of large terms. */
static dt_status lu_solve_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const bool left = flag(op, LEFT), adjoints = flag(op, ADJOINT);
    dt_tensor *lu = call->inputs[0], *b = call->inputs[2], *x = call->outputs[0], *grad = call->grads[0];
    if (!grad)
        return DT_OK;
    dt_tensor *grad_b =
        dt_linalg_lu_solve(lu, call->inputs[1], grad, .left = left ? DT_TRUE : DT_FALSE, .adjoint = !adjoints);
    if (call->needed[2])
        input_grads[2] = grad_b;
    if (!call->needed[0])
        return dt__made_or_error(op, grad_b);
    dt_tensor *uh = dt__adjoint(dt_triu(lu)), *lh = dt__adjoint(dt_tril(lu, .diagonal = DT_INT(-1)));
    dt_tensor *r = left ? (adjoints ? b : grad) : dt__adjoint(adjoints ? grad : b);
    r = dt_linalg_solve_triangular(uh, r, false);
    dt_tensor *y = left ? dt__adjoint(adjoints ? grad_b : x) : adjoints ? x : grad_b;
    dt_tensor *below = dt_matmul(dt_linalg_solve_triangular(lh, r, true, .unitriangular = true), dt_matmul(y, uh));
    input_grads[0] = dt_neg(dt_add(dt_tril(below, .diagonal = DT_INT(-1)), dt_triu(dt_matmul(r, y))));
    return dt__made_or_error(op, input_grads[0]);
}

/* linalg_solve */

/* Whether B is a batch of vectors: one vector, or of the shape of A without its last dim. Kernels, whose shards may
 * have that shape where the tensors do not, see it from the result. */
static bool is_vector(const dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    if (call->n_outputs)
        return call->outputs[0].n_dims < a->n_dims;
    bool same = b->n_dims == a->n_dims - 1;
    for (int d = 0; d < b->n_dims && same; d++)
        same = b->shape[d] == a->shape[d];
    return b->n_dims == 1 || same;
}

static dt_status shape_solve(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    dt__shape batches[2], batch;
    DT__TRY(dt__expect_square(call, 0));
    if (a->dtype != b->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected tensors of one dtype, got %s and %s",
                            dt_dtype_name(a->dtype), dt_dtype_name(b->dtype));
    if (b->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "B: expected vectors or matrices, got a tensor without dims");
    const bool vector = is_vector(call), left = flag(call, LEFT);
    if (vector && !left)
        return dt_op_refuse(call, DT_ERR_SHAPE, "B: expected matrices with left=False, got vectors");
    const int item_dims = vector ? 1 : 2;
    int64_t size = b->shape[b->n_dims - (vector || !left ? 1 : 2)];
    if (size != dt__matrix_rows(a))
        return dt_op_refuse(call, DT_ERR_SHAPE, "B: expected %" PRId64 " %s, as many as A has, got %" PRId64,
                            dt__matrix_rows(a), left ? "rows" : "columns", size);
    dt__batch_of(a, 2, &batches[0]);
    dt__batch_of(b, item_dims, &batches[1]);
    DT__TRY(dt__broadcast_batches(call, &batches[0], &batches[1], &batch));
    return dt__add_batch(call, b->dtype, &batch, item_dims, b->shape + b->n_dims - item_dims);
}

static dt_status shape_solve_ex(dt_op_call *call) {
    dt__shape batch;
    DT__TRY(shape_solve(call));
    dt__batch_of(&call->outputs[0], is_vector(call) ? 1 : 2, &batch);
    return dt__add_shape(call, DT_I32, &batch);
}

/* Info depends on A alone: it is the same on ranks that have other columns, or parts, of B. */
static void rows_solve_ex(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *b = &call->inputs[1];
    const bool vector = is_vector(call), left = flag(call, LEFT);
    dt_rows_factors(rows,
                    vector ? "...a!b!, ...c! -> ...c, ..."
                    : left ? "...a!b!, ...c!k! -> ...ck, ..."
                           : "...a!b!, ...k!c! -> ...kc, ...",
                    0);
    const int columns = b->n_dims - (left ? 1 : 2), result = call->outputs[0].n_dims - (left ? 1 : 2);
    if (!vector)
        dt_rows_add(rows, 0, (dt_row_entry[]){0, DT_ROW_S(columns), DT_ROW_S(result), 0});
    dt_rows_add(rows, 0, (dt_row_entry[]){0, DT_ROW_P(DT_SUM), DT_ROW_P(DT_SUM), 0});
    dt_rows_add(rows, 0, (dt_row_entry[]){0, DT_ROW_P(DT_AVG), DT_ROW_P(DT_AVG), 0});
}

static void rows_solve(const dt_op_call *call, dt_rows *rows) {
    dt_rows_factors(rows,
                    is_vector(call)    ? "...a!b!, ...c! -> ...c"
                    : flag(call, LEFT) ? "...a!b!, ...c!k -> ...ck"
                                       : "...a!b!, ...kc! -> ...kc",
                    0);
    dt_rows_linear(rows, 2);
}

static int factor_and_solve(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const bool left = flag(self->call, LEFT);
    const dt__matrix_operand *b = &self->operands[1];
    const int n = (int)self->operands[0].rows, n_rhs = (int)(left ? b->columns : b->rows);
    (void)work;
    if (!n)
        return 0;
    int info = dt__lapack_getrf(b->dtype, n, n, items[0], n, items[2]);
    if (!info)
        solve_columns(self, left ? 'N' : 'T', n_rhs, items[0], items[2], b, items[1]);
    return info;
}

static dt_status solve_ex(dt_op_call *call) {
    const int item_dims = is_vector(call) ? 1 : 2;
    dt__matrix_batch batch = {.call = call, .n_operands = 3, .run = factor_and_solve};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], NULL, 2);
    batch.operands[1] = dt__matrix_in_out(&call->inputs[1], &call->outputs[0], item_dims);
    batch.operands[1].by_rows = !flag(call, LEFT);
    batch.operands[2] = dt__matrix_scratch(DT_I32, batch.operands[0].rows);
    dt__batch_of(&call->outputs[0], item_dims, &batch.batch);
    const bool left = flag(call, LEFT);
    dt__small_matrices small = {.kind = DT__SMALL_SOLVE,
                                .n = (int)batch.operands[0].rows,
                                .n_rhs = (int)(left ? batch.operands[1].columns : batch.operands[1].rows),
                                .right = !left};
    if (dt__is_small(call, DT__LAPACK_GETRF)) {
        batch.small = &small;
        batch.operands[2] = dt__matrix_in_out(&call->inputs[1], NULL, item_dims);
        batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[0], item_dims);
    }
    DT__TRY(dt__matrix_batch_run(&batch, &call->outputs[1]));
    return report_singular(&batch, flag(call, CHECKS));
}

static dt_status decompose_solve(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] =
        dt_linalg_solve_ex(inputs[0], inputs[1], .left = flag(call, LEFT) ? DT_TRUE : DT_FALSE, .check_errors = true)
            .result;
    return dt__made_or_error(call, outputs[0]);
}

/* gB = A⁻ᴴ gX and gA = -gB Xᴴ; with A on the right gX A⁻ᴴ and -Xᴴ gB. */
static dt_status solve_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const bool vector = is_vector(op), left = flag(op, LEFT);
    dt_tensor *x = call->outputs[0], *grad = call->grads[0];
    if (!grad)
        return DT_OK;
    if (vector) {
        grad = dt_unsqueeze(grad, -1);
        x = dt_unsqueeze(x, -1);
    }
    dt_tensor *grad_b = dt_linalg_solve(dt__adjoint(call->inputs[0]), grad, .left = left ? DT_TRUE : DT_FALSE);
    if (call->needed[0])
        input_grads[0] = dt_neg(left ? dt_matmul(grad_b, dt__adjoint(x)) : dt_matmul(dt__adjoint(x), grad_b));
    if (call->needed[1])
        input_grads[1] = vector ? dt_squeeze_dim(grad_b, -1) : grad_b;
    return dt__made_or_error(op, grad_b);
}

/* linalg_inv */

static dt_status shape_inv(dt_op_call *call) {
    DT__TRY(dt__expect_square(call, 0));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static dt_status shape_inv_ex(dt_op_call *call) {
    dt__shape batch;
    DT__TRY(shape_inv(call));
    dt__batch_of(&call->inputs[0], 2, &batch);
    return dt__add_shape(call, DT_I32, &batch);
}

static int invert(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const int n = (int)self->operands[0].rows;
    const dt_dtype dtype = self->operands[0].dtype;
    if (!n)
        return 0;
    int info = dt__lapack_getrf(dtype, n, n, items[0], n, items[1]);
    return info ? info : dt__lapack_getri(dtype, n, items[0], n, items[1], work);
}

static dt_status inv_ex(dt_op_call *call) {
    dt__matrix_batch batch = {.call = call, .n_operands = 2, .run = invert};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], &call->outputs[0], 2);
    const int n = (int)batch.operands[0].rows;
    batch.operands[1] = dt__matrix_scratch(DT_I32, n);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    dt__small_matrices small = {.kind = DT__SMALL_SOLVE, .n = n, .n_rhs = n};
    if (dt__is_small(call, DT__LAPACK_GETRI)) {
        batch.small = &small;
        batch.operands[0] = dt__matrix_in_out(&call->inputs[0], NULL, 2);
        batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[0], 2);
    }
    if (n && !batch.small)
        (void)dt__lapack_getri(call->inputs[0].dtype, n, NULL, n, NULL, &batch.work);
    DT__TRY(dt__matrix_batch_run(&batch, &call->outputs[1]));
    return report_singular(&batch, flag(call, INV_CHECKS));
}

/* -A⁻ᴴ g A⁻ᴴ */
static dt_status inv_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *inverse = call->outputs[0];
    if (!call->grads[0])
        return DT_OK;
    input_grads[0] = dt_neg(dt_matmul(dt__adjoint(inverse), dt_matmul(call->grads[0], dt__adjoint(inverse))));
    return dt__made_or_error(call->call, input_grads[0]);
}

static dt_status decompose_inv(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = dt_linalg_inv_ex(inputs[0], .check_errors = true).inverse;
    return dt__made_or_error(call, outputs[0]);
}

const dt_op dt__op_linalg_lu_factor_ex = {
    .schema =
        "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, "
        "Tensor info)",
    .summary = "LU factors of matrices in one tensor, their pivots, and the first zero of the diagonal of U.",
    .rule = "...m!n! -> ...mn, ...k, ...",
    .arguments = "pivot,check_errors",
    .shape = shape_lu_factor_ex,
    .kernel = lu_factor_ex,
    .flops = dt__lu_flops,
    .backward = lu_factor_backward,
    .saves = "LU,pivots",
    .samples = "linalg_lu_factor_ex(f32[2,3,3])\nlinalg_lu_factor_ex(f32[4,3])\nlinalg_lu_factor_ex(f32[2,2,4])",
};
const dt_op dt__op_linalg_lu_factor = {
    .schema = "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    .summary = "LU factors of matrices in one tensor, and their pivots.",
    .rule = "...m!n! -> ...mn, ...k",
    .arguments = "pivot",
    .shape = shape_lu_factor,
    .decompose = decompose_lu_factor,
    .samples = "linalg_lu_factor(f32[2,3,3])",
};
const dt_op dt__op_linalg_lu_solve = {
    .schema = "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    .summary = "X with A X = B, or X A = B, by the LU factors of A; with adjoint of its adjoint.",
    .rows = rows_lu_solve,
    .arguments = "left,adjoint",
    .shape = shape_lu_solve,
    .kernel = lu_solve,
    .flops = dt__lu_solve_flops,
    .backward = lu_solve_backward,
    .saves = "LU,pivots,B,result",
    .samples = "linalg_lu_solve(f32[2,3,3]; i32[2,3]; f32[2,3,4])\n"
               "linalg_lu_solve(f32[3,3]; i32[3]; f32[2,2,3]; left=false; adjoint=true)",
};
const dt_op dt__op_lu_solve = {
    .schema = "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
    .summary = "X with A X = B, by the LU factors of A, as linalg_lu_solve.",
    .shape = shape_old_lu_solve,
    .decompose = decompose_lu_solve,
    .samples = "lu_solve(f32[2,3,4]; f32[2,3,3]; i32[2,3])",
};
const dt_op dt__op_linalg_solve_ex = {
    .schema = "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
              "Tensor info)",
    .summary = "X with A X = B, or X A = B, and the first zero of the diagonal of U of singular matrices.",
    .rows = rows_solve_ex,
    .arguments = "left,check_errors",
    .shape = shape_solve_ex,
    .kernel = solve_ex,
    .flops = dt__solve_flops,
    .backward = solve_backward,
    .saves = "A,result",
    .samples = "linalg_solve_ex(f32[2,3,3]; f32[2,3,4])\nlinalg_solve_ex(f32[3,3]; f32[3])\n"
               "linalg_solve_ex(f32[6,3,3]; f32[3,3])",
};
const dt_op dt__op_linalg_solve = {
    .schema = "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    .summary = "X with A X = B, or X A = B.",
    .rows = rows_solve,
    .arguments = "left",
    .shape = shape_solve,
    .decompose = decompose_solve,
    .samples = "linalg_solve(f32[2,3,3]; f32[2,3,4])\nlinalg_solve(f32[3,3]; f32[3])\n"
               "linalg_solve(f32[3,3]; f32[2,2,3]; left=false)\nlinalg_solve(f32[2,3,3]; f32[2,3])",
};
const dt_op dt__op_linalg_inv_ex = {
    .schema = "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    .summary = "Inverses of matrices, and the first zero of the diagonal of U of singular ones.",
    .rule = "...m!n! -> ...mn, ...",
    .arguments = "check_errors",
    .shape = shape_inv_ex,
    .kernel = inv_ex,
    .flops = dt__inverse_flops,
    .backward = inv_backward,
    .saves = "inverse",
    .samples = "linalg_inv_ex(f32[2,3,3])\nlinalg_inv_ex(f32[4,4])",
};
const dt_op dt__op_linalg_inv = {
    .schema = "linalg_inv(Tensor A) -> Tensor",
    .summary = "Inverses of matrices.",
    .rule = "...m!n! -> ...mn",
    .shape = shape_inv,
    .decompose = decompose_inv,
    .samples = "linalg_inv(f32[2,3,3])",
};
