/* SPDX-License-Identifier: Apache-2.0
 *
 * LDL factors of symmetric matrices, or with hermitian of Hermitian ones. Only the lower triangle is read. D has
 * blocks of size 1 and 2. Pivots are LAPACK's: count from 1, and two that are negative belong to a block of size 2.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/matrix_flops.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments. */
enum { HERMITIAN, CHECKS };

/* Real matrices are Hermitian if they are symmetric. */
static bool is_hermitian(const dt_op_call *call) {
    return dt__arg_at(call, HERMITIAN)->as.b && dt__is_complex(call->inputs[0].dtype);
}

static dt_status shape_ldl_factor(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    dt__shape batch;
    DT__TRY(dt__expect_square(call, 0));
    const int64_t n = dt__matrix_rows(a);
    dt__batch_of(a, 2, &batch);
    DT__TRY(dt__add_like(call, 0, a->dtype));
    return dt__add_batch(call, DT_I32, &batch, 1, &n);
}

static dt_status shape_ldl_factor_ex(dt_op_call *call) {
    dt__shape batch;
    DT__TRY(shape_ldl_factor(call));
    dt__batch_of(&call->inputs[0], 2, &batch);
    return dt__add_shape(call, DT_I32, &batch);
}

static int call_lapack(const dt_op_call *call, int n, void *a, int32_t *pivots, dt__lapack_work *work) {
    const dt_dtype dtype = call->inputs[0].dtype;
    return is_hermitian(call) ? dt__lapack_hetrf(dtype, 'L', n, a, n, pivots, work)
                              : dt__lapack_sytrf(dtype, 'L', n, a, n, pivots, work);
}

/* Zeros are above the diagonal of the result. */
static int factor(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const int n = (int)self->operands[0].rows;
    const size_t size = dt_dtype_size(self->operands[0].dtype);
    const int info = n ? call_lapack(self->call, n, items[0], items[1], work) : 0;
    for (int j = 1; j < n; j++)
        memset((char *)items[0] + (size_t)j * (size_t)n * size, 0, (size_t)j * size);
    return info;
}

static dt_status ldl_factor_ex(dt_op_call *call) {
    dt__matrix_batch batch = {.call = call, .n_operands = 2, .run = factor};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], &call->outputs[0], 2);
    batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[1], 1);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    if (batch.operands[0].rows)
        (void)call_lapack(call, (int)batch.operands[0].rows, NULL, NULL, &batch.work);
    DT__TRY(dt__matrix_batch_run(&batch, &call->outputs[2]));
    return batch.first_bad < 0 || !dt__arg_at(call, CHECKS)->as.b
               ? DT_OK
               : dt_op_verdict(call, DT_ERR_VALUE,
                               "matrix %" PRId64 " is singular: element %d of the diagonal of D is 0",
                               batch.first_bad, batch.first_info);
}

static dt_status ldl_factor_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    (void)input_grads;
    return dt_op_refuse(call->call, DT_ERR_UNSUPPORTED,
                        "LDL factors have no gradient; use linalg_solve or linalg_lu");
}

static dt_status decompose_ldl_factor(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_linalg_ldl_factor_ex_result result =
        dt_linalg_ldl_factor_ex(inputs[0], .hermitian = dt__arg_at(call, HERMITIAN)->as.b, .check_errors = true);
    outputs[0] = result.LD;
    outputs[1] = result.pivots;
    return dt__made_or_error(call, result.LD);
}

static dt_status shape_ldl_solve(dt_op_call *call) {
    const dt_op_value *ld = &call->inputs[0], *pivots = &call->inputs[1], *b = &call->inputs[2];
    dt__shape batches[2], batch;
    DT__TRY(dt__expect_square(call, 0));
    DT__TRY(dt__expect_matrices(call, 2));
    if (pivots->dtype != DT_I32)
        return dt_op_refuse(call, DT_ERR_DTYPE, "pivots: expected i32, got %s", dt_dtype_name(pivots->dtype));
    bool fits = pivots->n_dims == ld->n_dims - 1;
    for (int d = 0; d < pivots->n_dims && fits; d++)
        fits = pivots->shape[d] == ld->shape[d];
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE, "pivots: expected one per row of LD");
    if (ld->dtype != b->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected matrices of one dtype, got %s and %s",
                            dt_dtype_name(ld->dtype), dt_dtype_name(b->dtype));
    if (dt__matrix_rows(b) != dt__matrix_rows(ld))
        return dt_op_refuse(call, DT_ERR_SHAPE, "B: expected %" PRId64 " rows, as many as LD has, got %" PRId64,
                            dt__matrix_rows(ld), dt__matrix_rows(b));
    dt__batch_of(ld, 2, &batches[0]);
    dt__batch_of(b, 2, &batches[1]);
    DT__TRY(dt__broadcast_batches(call, &batches[0], &batches[1], &batch));
    return dt__add_batch(call, b->dtype, &batch, 2, b->shape + b->n_dims - 2);
}

static void rows_ldl_solve(const dt_op_call *call, dt_rows *rows) {
    (void)call;
    dt_rows_factors(rows, "...m!n!, ...p!, ...c!k -> ...ck", 0);
    dt_rows_linear(rows, 4);
}

/* Pivots are data, and LAPACK trusts them: an invalid row, or half a block, swaps nothing. */
static void repair_pivots(int n, int32_t *pivots) {
    for (int i = 0; i < n; i++) {
        const bool is_block =
            i + 1 < n && pivots[i] < 0 && pivots[i + 1] < 0 && pivots[i] >= -n && pivots[i + 1] >= -n;
        if (is_block)
            i++;
        else if (pivots[i] < 1 || pivots[i] > n)
            pivots[i] = i + 1;
    }
}

static int solve(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const dt__matrix_operand *b = &self->operands[2];
    const int n = (int)b->rows, n_rhs = (int)b->columns;
    (void)work;
    if (!n || !n_rhs)
        return 0;
    repair_pivots(n, items[1]);
    (void)(is_hermitian(self->call) ? dt__lapack_hetrs(b->dtype, 'L', n, n_rhs, items[0], n, items[1], items[2], n)
                                    : dt__lapack_sytrs(b->dtype, 'L', n, n_rhs, items[0], n, items[1], items[2], n));
    return 0;
}

static dt_status ldl_solve(dt_op_call *call) {
    dt__matrix_batch batch = {.call = call, .n_operands = 3, .run = solve};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], NULL, 2);
    batch.operands[1] = dt__matrix_in_out(&call->inputs[1], NULL, 1);
    batch.operands[2] = dt__matrix_in_out(&call->inputs[2], &call->outputs[0], 2);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    return dt__matrix_batch_run(&batch, NULL);
}

/* A⁻ᴴ g: a Hermitian A is its own adjoint, and that of a symmetric one is its conjugate. */
static dt_status ldl_solve_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const bool hermitian = is_hermitian(call->call);
    if (call->needed[0])
        return dt_op_refuse(call->call, DT_ERR_UNSUPPORTED, "LD: factors have no gradient; use linalg_solve");
    dt_tensor *grad = hermitian ? call->grads[0] : dt__conjugate(call->grads[0]);
    dt_tensor *x = dt_linalg_ldl_solve(call->inputs[0], call->inputs[1], grad, .hermitian = hermitian);
    input_grads[2] = hermitian ? x : dt__conjugate(x);
    return dt__made_or_error(call->call, x);
}

const dt_op dt__op_linalg_ldl_factor_ex = {
    .schema = "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, "
              "Tensor pivots, Tensor info)",
    .summary = "LDL factors of symmetric or Hermitian matrices in one tensor, pivots, and the first zero of D.",
    .rule = "...m!n! -> ...mn, ...m, ...",
    .arguments = "hermitian,check_errors",
    .shape = shape_ldl_factor_ex,
    .kernel = ldl_factor_ex,
    .flops = dt__cholesky_flops,
    .backward = ldl_factor_backward,
    .saves = "",
    .samples = "linalg_ldl_factor_ex(f32[2,3,3])\nlinalg_ldl_factor_ex(f32[4,4]; hermitian=true)",
};
const dt_op dt__op_linalg_ldl_factor = {
    .schema = "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
    .summary = "LDL factors of symmetric or Hermitian matrices in one tensor, and their pivots.",
    .rule = "...m!n! -> ...mn, ...m",
    .arguments = "hermitian",
    .shape = shape_ldl_factor,
    .decompose = decompose_ldl_factor,
    .samples = "linalg_ldl_factor(f32[2,3,3])",
};
const dt_op dt__op_linalg_ldl_solve = {
    .schema = "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    .summary = "X with A X = B, by the LDL factors of A.",
    .rows = rows_ldl_solve,
    .arguments = "hermitian",
    .shape = shape_ldl_solve,
    .kernel = ldl_solve,
    .flops = dt__lu_solve_flops,
    .backward = ldl_solve_backward,
    .saves = "LD,pivots",
    .samples = "linalg_ldl_solve(f32[2,3,3]; i32[2,3]; f32[2,3,4])\n"
               "linalg_ldl_solve(f32[3,3]; i32[3]; f32[2,3,2]; hermitian=true)",
};
