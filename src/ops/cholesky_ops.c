/* SPDX-License-Identifier: Apache-2.0
 *
 * Cholesky factors of Hermitian positive definite matrices (one triangle is read), solutions of triangular
 * systems, and what follows from both. The kernels return info and never fail by themselves; with check_errors a matrix
 * without a factor is a verdict. Gradients of a factor are Hermitian, as those of PyTorch.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/matrix_flops.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments. */
enum { UPPER = 0, CHECK_ERRORS = 1, LEFT = 1, UNITRIANGULAR = 2 };

static bool flag(const dt_op_call *call, int i) { return dt__arg_at(call, i)->as.b; }

static dt_status shape_cholesky(dt_op_call *call) {
    DT__TRY(dt__expect_square(call, 0));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

static dt_status shape_cholesky_ex(dt_op_call *call) {
    dt__shape batch;
    DT__TRY(shape_cholesky(call));
    dt__batch_of(&call->inputs[0], 2, &batch);
    return dt__add_shape(call, DT_I32, &batch);
}

/* Zeros in the triangle that is not part of the factor. */
static void clear_triangle(const dt__matrix_operand *operand, bool upper, char *a) {
    const int64_t n = operand->rows, size = (int64_t)dt_dtype_size(operand->dtype);
    for (int64_t j = 0; j < n; j++)
        memset(a + (upper ? j * n + j + 1 : j * n) * size, 0, (size_t)((upper ? n - 1 - j : j) * size));
}

static int factor(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const bool upper = *(const bool *)self->arguments;
    const int n = (int)self->operands[0].rows;
    (void)work;
    int info = n ? dt__lapack_potrf(self->operands[0].dtype, upper ? 'U' : 'L', n, items[0], n) : 0;
    clear_triangle(&self->operands[0], upper, items[0]);
    return info;
}

static dt_status cholesky_ex(dt_op_call *call) {
    const bool upper = flag(call, UPPER);
    dt__small_matrices small = {
        .kind = DT__SMALL_CHOLESKY, .n = (int)dt__matrix_rows(&call->inputs[0]), .upper = upper};
    dt__matrix_batch batch = {.call = call, .n_operands = 1, .arguments = &upper, .run = factor};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], &call->outputs[0], 2);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    if (dt__is_small(call, DT__LAPACK_POTRF)) {
        batch.small = &small;
        batch.n_operands = 2;
        batch.operands[0] = dt__matrix_in_out(&call->inputs[0], NULL, 2);
        batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[0], 2);
    }
    DT__TRY(dt__matrix_batch_run(&batch, &call->outputs[1]));
    if (batch.first_bad < 0 || !flag(call, CHECK_ERRORS))
        return DT_OK;
    return dt_op_verdict(call, DT_ERR_VALUE,
                         "matrix %" PRId64 ": the leading minor of order %d is not positive definite",
                         batch.first_bad, batch.first_info);
}

/* With L lower and Φ the lower triangle of Lᴴ gL, with half its diagonal: the Hermitian part of L⁻ᴴ Φ L⁻¹. */
static dt_status cholesky_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *l = call->outputs[0], *grad = call->grads[0];
    if (!grad)
        return DT_OK;
    if (flag(call->call, UPPER)) {
        l = dt__adjoint(l);
        grad = dt__adjoint(grad);
    }
    dt_tensor *phi = dt_tril(dt_matmul(dt__adjoint(l), grad));
    dt_tensor *diagonal = dt_diag_embed(dt_diagonal(phi, 0, -2, -1));
    phi = dt_sub(phi, dt_mul_scalar(diagonal, 0.5));
    phi = dt_linalg_solve_triangular(dt__adjoint(l), phi, true);
    phi = dt_linalg_solve_triangular(l, phi, false, .left = DT_FALSE);
    input_grads[0] = dt_mul_scalar(dt_add(phi, dt__adjoint(phi)), 0.5);
    return dt__made_or_error(call->call, input_grads[0]);
}

/* X with A X = B, or X A = B. */
static dt_status shape_solve_triangular(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    dt__shape batches[2], batch;
    DT__TRY(dt__expect_square(call, 0));
    DT__TRY(dt__expect_matrices(call, 1));
    if (a->dtype != b->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected matrices of one dtype");
    int64_t size = flag(call, LEFT) ? dt__matrix_rows(b) : dt__matrix_columns(b);
    if (size != dt__matrix_rows(a))
        return dt_op_refuse(call, DT_ERR_SHAPE, "B: expected %" PRId64 " %s, as many as A has, got %" PRId64,
                            dt__matrix_rows(a), flag(call, LEFT) ? "rows" : "columns", size);
    dt__batch_of(a, 2, &batches[0]);
    dt__batch_of(b, 2, &batches[1]);
    DT__TRY(dt__broadcast_batches(call, &batches[0], &batches[1], &batch));
    return dt__add_batch(call, b->dtype, &batch, 2, b->shape + b->n_dims - 2);
}

static void rows_solve_triangular(const dt_op_call *call, dt_rows *rows) {
    dt_rows_factors(rows, flag(call, LEFT) ? "...a!b!, ...c!k -> ...ck" : "...a!b!, ...kc! -> ...kc", 0);
    dt_rows_linear(rows, 2);
}

/* By the definition: LAPACK refuses zeros on the diagonal, or there is no LAPACK. */
#define SUBSTITUTE(name, T)                                                                                          \
    static void name(bool lower, bool transposed, bool unit, int64_t n, int64_t n_rhs, const T *a, T *b) {           \
        const bool forward = lower != transposed;                                                                    \
        for (int64_t r = 0; r < n_rhs; r++, b += n)                                                                  \
            for (int64_t at = 0; at < n; at++) {                                                                     \
                const int64_t i = forward ? at : n - 1 - at;                                                         \
                T x = b[i];                                                                                          \
                for (int64_t k = forward ? 0 : i + 1; k < (forward ? i : n); k++)                                    \
                    x -= (transposed ? a[i * n + k] : a[k * n + i]) * b[k];                                          \
                b[i] = unit ? x : x / a[i * n + i];                                                                  \
            }                                                                                                        \
    }
SUBSTITUTE(substitute_f32, float)
SUBSTITUTE(substitute_f64, double)
SUBSTITUTE(substitute_c64, float _Complex)
SUBSTITUTE(substitute_c128, double _Complex)

static void substitute(dt_dtype dtype, bool lower, bool transposed, bool unit, int64_t n, int64_t n_rhs,
                       const void *a, void *b) {
    if (dtype == DT_F32)
        substitute_f32(lower, transposed, unit, n, n_rhs, a, b);
    else if (dtype == DT_F64)
        substitute_f64(lower, transposed, unit, n, n_rhs, a, b);
    else if (dtype == DT_C64)
        substitute_c64(lower, transposed, unit, n, n_rhs, a, b);
    else
        substitute_c128(lower, transposed, unit, n, n_rhs, a, b);
}

/* X A = B is Aᵀ Xᵀ = Bᵀ: B by rows is Bᵀ by columns. */
static int solve(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const dt_op_call *call = self->call;
    const bool upper = flag(call, UPPER), left = flag(call, LEFT), unit = flag(call, UNITRIANGULAR);
    const int n = (int)self->operands[0].rows;
    const int n_rhs = (int)(left ? self->operands[1].columns : self->operands[1].rows);
    const dt_dtype dtype = self->operands[0].dtype;
    (void)work;
    if (!n || !n_rhs)
        return 0;
    bool regular = dt__is_regular(&self->operands[0], items[0], &self->operands[1], items[1]);
    int info = regular && dt__lapack_has(DT__LAPACK_TRTRS, dtype)
                   ? dt__lapack_trtrs(dtype, upper ? 'U' : 'L', left ? 'N' : 'T', unit ? 'U' : 'N', n, n_rhs,
                                      items[0], n, items[1], n)
                   : 1;
    if (info)
        substitute(dtype, !upper, !left, unit, n, n_rhs, items[0], items[1]);
    return 0;
}

static dt_status solve_triangular(dt_op_call *call) {
    dt__matrix_batch batch = {.call = call, .n_operands = 2, .run = solve};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], NULL, 2);
    batch.operands[1] = dt__matrix_in_out(&call->inputs[1], &call->outputs[0], 2);
    batch.operands[1].by_rows = !flag(call, LEFT);
    dt__batch_of(&call->outputs[0], 2, &batch.batch);
    dt__small_matrices small = {
        .kind = DT__SMALL_TRIANGULAR,
        .n = (int)batch.operands[0].rows,
        .n_rhs = (int)(flag(call, LEFT) ? batch.operands[1].columns : batch.operands[1].rows),
        .upper = flag(call, UPPER),
        .right = !flag(call, LEFT),
        .unit = flag(call, UNITRIANGULAR),
    };
    if (dt__is_small(call, DT__LAPACK_TRTRS)) {
        batch.small = &small;
        batch.n_operands = 3;
        batch.operands[1] = dt__matrix_in_out(NULL, &call->outputs[0], 2);
        batch.operands[2] = dt__matrix_in_out(&call->inputs[1], NULL, 2);
    }
    return dt__matrix_batch_run(&batch, NULL);
}

/* gB = A⁻ᴴ gX, and the triangle of -gB Xᴴ; with A on the right gX A⁻ᴴ and -Xᴴ gB. */
static dt_status solve_triangular_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const bool upper = flag(op, UPPER), left = flag(op, LEFT), unit = flag(op, UNITRIANGULAR);
    dt_tensor *grad = call->grads[0], *x = call->outputs[0];
    if (!grad)
        return DT_OK;
    dt_tensor *grad_b = dt_linalg_solve_triangular(dt__adjoint(call->inputs[0]), grad, !upper,
                                                   .left = left ? DT_TRUE : DT_FALSE, .unitriangular = unit);
    if (call->needed[1])
        input_grads[1] = grad_b;
    if (call->needed[0]) {
        dt_tensor *grad_a = dt_neg(left ? dt_matmul(grad_b, dt__adjoint(x)) : dt_matmul(dt__adjoint(x), grad_b));
        input_grads[0] = upper ? dt_triu(grad_a, .diagonal = DT_INT(unit ? 1 : 0))
                               : dt_tril(grad_a, .diagonal = DT_INT(unit ? -1 : 0));
    }
    return dt__made_or_error(op, grad_b);
}

/* triangular_solve: the form before linalg_solve_triangular, which takes B first and returns A, too. */

enum { OLD_UPPER, OLD_TRANSPOSE, OLD_UNIT };

static dt_status shape_old_solve(dt_op_call *call) {
    const dt_op_value *b = &call->inputs[0], *a = &call->inputs[1];
    dt__shape batches[2], batch;
    DT__TRY(dt__expect_matrices(call, 0));
    DT__TRY(dt__expect_square(call, 1));
    if (a->dtype != b->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected matrices of one dtype");
    if (dt__matrix_rows(b) != dt__matrix_rows(a))
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "the right side: expected %" PRId64 " rows, as many as A has, got %" PRId64,
                            dt__matrix_rows(a), dt__matrix_rows(b));
    dt__batch_of(b, 2, &batches[0]);
    dt__batch_of(a, 2, &batches[1]);
    DT__TRY(dt__broadcast_batches(call, &batches[0], &batches[1], &batch));
    DT__TRY(dt__add_batch(call, b->dtype, &batch, 2, b->shape + b->n_dims - 2));
    return dt__add_batch(call, a->dtype, &batch, 2, a->shape + a->n_dims - 2);
}

static dt_status decompose_old_solve(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const bool upper = flag(call, OLD_UPPER), transpose = flag(call, OLD_TRANSPOSE);
    const dt_op_value *whole = &call->outputs[1];
    dt_tensor *a = transpose ? dt_transpose(inputs[1], -2, -1) : inputs[1];
    outputs[0] = dt_linalg_solve_triangular(a, inputs[0], upper != transpose, .unitriangular = flag(call, OLD_UNIT));
    outputs[1] = dt_clone(dt_expand(inputs[1], ((dt_shape){whole->n_dims, whole->shape})));
    return dt__made_or_error(call, outputs[1]);
}

static dt_status decompose_cholesky(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = dt_linalg_cholesky_ex(inputs[0], .upper = flag(call, UPPER), .check_errors = true).L;
    return dt__made_or_error(call, outputs[0]);
}

static dt_status shape_cholesky_solve(dt_op_call *call) {
    const dt_op_value *b = &call->inputs[0], *l = &call->inputs[1];
    dt__shape batches[2], batch;
    DT__TRY(dt__expect_matrices(call, 0));
    DT__TRY(dt__expect_square(call, 1));
    if (dt__matrix_rows(b) != dt__matrix_rows(l))
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "the right side: expected %" PRId64 " rows, as the factor has, got %" PRId64,
                            dt__matrix_rows(l), dt__matrix_rows(b));
    dt__batch_of(b, 2, &batches[0]);
    dt__batch_of(l, 2, &batches[1]);
    DT__TRY(dt__broadcast_batches(call, &batches[0], &batches[1], &batch));
    return dt__add_batch(call, b->dtype, &batch, 2, b->shape + b->n_dims - 2);
}

/* L Lᴴ X = B by two triangular systems; of an upper factor U, Uᴴ U X = B. */
static dt_tensor *solve_by_factor(dt_tensor *l, dt_tensor *b, bool upper) {
    dt_tensor *first = upper ? dt__adjoint(l) : l, *second = upper ? l : dt__adjoint(l);
    return dt_linalg_solve_triangular(second, dt_linalg_solve_triangular(first, b, false), true);
}

static dt_status decompose_cholesky_solve(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = solve_by_factor(inputs[1], inputs[0], flag(call, UPPER));
    return dt__made_or_error(call, outputs[0]);
}

/* With gB the solution for gX and S = gB Xᴴ + X gBᴴ, -S L, or -U S: as in PyTorch, elements outside the triangle have
 * a gradient, too. */
static dt_status cholesky_solve_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const bool upper = flag(call->call, UPPER);
    dt_tensor *factor = call->inputs[1], *x = call->outputs[0], *grad = call->grads[0];
    if (!grad)
        return DT_OK;
    dt_tensor *grad_b = dt_cholesky_solve(grad, factor, .upper = upper);
    if (call->needed[0])
        input_grads[0] = grad_b;
    if (call->needed[1]) {
        dt_tensor *product = dt_matmul(grad_b, dt__adjoint(x)), *sum = dt_add(product, dt__adjoint(product));
        input_grads[1] = dt_neg(upper ? dt_matmul(factor, sum) : dt_matmul(sum, factor));
    }
    return dt__made_or_error(call->call, grad_b);
}

/* With C the inverse and S = g + gᴴ, -C S C L, or -U C S C, outside the triangle, too. */
static dt_status cholesky_inverse_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *factor = call->inputs[0], *inverse = call->outputs[0], *grad = call->grads[0];
    if (!grad)
        return DT_OK;
    dt_tensor *sum = dt_matmul(inverse, dt_matmul(dt_add(grad, dt__adjoint(grad)), inverse));
    input_grads[0] = dt_neg(flag(call->call, UPPER) ? dt_matmul(factor, sum) : dt_matmul(sum, factor));
    return dt__made_or_error(call->call, input_grads[0]);
}

static dt_status decompose_cholesky_inverse(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_tensor *ones = dt_diagonal(dt_ones_like(inputs[0]), 0, -2, -1);
    outputs[0] = solve_by_factor(inputs[0], dt_diag_embed(ones), flag(call, UPPER));
    return dt__made_or_error(call, outputs[0]);
}

const dt_op dt__op_linalg_cholesky_ex = {
    .schema =
        "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    .summary = "Cholesky factors of matrices, and where they have none the order of the leading minor.",
    .rule = "...m!n! -> ...mn, ...",
    .arguments = "upper,check_errors",
    .shape = shape_cholesky_ex,
    .kernel = cholesky_ex,
    .flops = dt__cholesky_flops,
    .backward = cholesky_backward,
    .saves = "L",
    .samples = "linalg_cholesky_ex(f32[2,3,3])\nlinalg_cholesky_ex(f32[4,4]; upper=true)",
};
const dt_op dt__op_linalg_cholesky = {
    .schema = "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    .summary = "Cholesky factors of Hermitian positive definite matrices: L Lᴴ, or Uᴴ U.",
    .rule = "...m!n! -> ...mn",
    .arguments = "upper",
    .shape = shape_cholesky,
    .decompose = decompose_cholesky,
    .samples = "linalg_cholesky(f32[2,3,3])\nlinalg_cholesky(f32[4,4]; upper=true)",
};
const dt_op dt__op_cholesky = {
    .schema = "cholesky(Tensor self, bool upper=False) -> Tensor",
    .summary = "As linalg_cholesky.",
    .rule = "...m!n! -> ...mn",
    .arguments = "upper",
    .shape = shape_cholesky,
    .decompose = decompose_cholesky,
    .samples = "cholesky(f32[2,3,3])",
};
const dt_op dt__op_linalg_solve_triangular = {
    .schema = "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
              "bool unitriangular=False) -> Tensor",
    .summary = "X with A X = B for a triangular A, or X A = B.",
    .rows = rows_solve_triangular,
    .arguments = "upper,left,unitriangular",
    .shape = shape_solve_triangular,
    .kernel = solve_triangular,
    .flops = dt__solve_triangular_flops,
    .backward = solve_triangular_backward,
    .saves = "self,result",
    .samples = "linalg_solve_triangular(f32[2,3,3]; f32[2,3,4]; upper=true)\n"
               "linalg_solve_triangular(f32[3,3]; f32[2,5,3]; upper=false; left=false)\n"
               "linalg_solve_triangular(f32[2,3,3]; f32[3,2]; upper=false; unitriangular=true)",
};
const dt_op dt__op_cholesky_solve = {
    .schema = "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    .summary = "X with A X = B, by the Cholesky factor of A.",
    .rule = "...c!k, ...a!b! -> ...ck",
    .arguments = "upper",
    .shape = shape_cholesky_solve,
    .decompose = decompose_cholesky_solve,
    .backward = cholesky_solve_backward,
    .saves = "input2,result",
    .samples = "cholesky_solve(f32[3,2]; f32[2,3,3])\ncholesky_solve(f32[2,3,4]; f32[2,3,3]; true)",
};
const dt_op dt__op_cholesky_inverse = {
    .schema = "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    .summary = "The inverse of a matrix, by its Cholesky factor.",
    .rule = "...m!n! -> ...mn",
    .arguments = "upper",
    .shape = shape_cholesky,
    .decompose = decompose_cholesky_inverse,
    .backward = cholesky_inverse_backward,
    .saves = "self,result",
    .samples = "cholesky_inverse(f32[2,3,3])\ncholesky_inverse(f32[3,3]; true)",
};
const dt_op dt__op_triangular_solve = {
    .schema = "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
              "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    .summary = "X with A X = B for a triangular A or its transpose, as linalg_solve_triangular, and a copy of A.",
    .rule = "...c!k, ...a!b! -> ...ck, ...ab",
    .arguments = "upper,transpose,unitriangular",
    .shape = shape_old_solve,
    .decompose = decompose_old_solve,
    .samples = "triangular_solve(f32[3,2]; f32[2,3,3])\n"
               "triangular_solve(f32[2,3,4]; f32[2,3,3]; false; true; true)",
};
