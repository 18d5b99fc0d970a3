/* SPDX-License-Identifier: Apache-2.0
 *
 * The factors of A = P L U as three matrices, from the LU factors in one matrix and their pivots. With k = min(m, n),
 * P is [m,m], L [m,k] with ones on its diagonal, and U [k,n].
 */
#include "dtensor/ops.h"
#include "ops/matrix_batches.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments; inputs; operands and outputs. */
enum { UNPACK_DATA, UNPACK_PIVOTS };
enum { LU, PIVOTS, P, L, U, N_OPERANDS };

static bool flag(const dt_op_call *call, int i) { return dt__arg_at(call, i)->as.b; }

/* Whether the output is made; a tensor of no elements is returned otherwise. */
static bool is_made(const dt_op_call *call, int operand) {
    return flag(call, operand == P ? UNPACK_PIVOTS : UNPACK_DATA);
}

static dt_status add_factor(dt_op_call *call, bool makes, const dt__shape *batch, int64_t rows, int64_t columns) {
    const dt__shape none = {.n = 0};
    return makes ? dt__add_batch(call, call->inputs[LU].dtype, batch, 2, (int64_t[]){rows, columns})
                 : dt__add_batch(call, call->inputs[LU].dtype, &none, 1, (int64_t[]){0});
}

static dt_status add_factors(dt_op_call *call, bool has_p, bool has_data) {
    const dt_op_value *lu = &call->inputs[LU];
    const int64_t m = dt__matrix_rows(lu), n = dt__matrix_columns(lu), k = dt__min_i64(m, n);
    dt__shape batch;
    dt__batch_of(lu, 2, &batch);
    DT__TRY(add_factor(call, has_p, &batch, m, m));
    DT__TRY(add_factor(call, has_data, &batch, m, k));
    return add_factor(call, has_data, &batch, k, n);
}

static dt_status shape_lu_unpack(dt_op_call *call) {
    const dt_op_value *lu = &call->inputs[LU], *pivots = &call->inputs[PIVOTS];
    DT__TRY(dt__expect_matrices(call, LU));
    if (pivots->dtype != DT_I32)
        return dt_op_refuse(call, DT_ERR_DTYPE, "pivots: expected i32, got %s", dt_dtype_name(pivots->dtype));
    const int64_t k = dt__min_i64(dt__matrix_rows(lu), dt__matrix_columns(lu));
    bool fits = pivots->n_dims == lu->n_dims - 1 && pivots->shape[pivots->n_dims - 1] == k;
    for (int d = 0; d < pivots->n_dims - 1 && fits; d++)
        fits = pivots->shape[d] == lu->shape[d];
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE, "pivots: expected %" PRId64 " for each matrix of LU", k);
    return add_factors(call, flag(call, UNPACK_PIVOTS), flag(call, UNPACK_DATA));
}

/* Elements are moved, except for zeros and ones, which are their own averages, products and extremes, but not sums. */
static void rows_lu_unpack(const dt_op_call *call, dt_rows *rows) {
    static const dt_reduce kept[] = {DT_AVG, DT_PRODUCT, DT_MIN, DT_MAX};
    for (int d = 0; d < call->inputs[LU].n_dims - 2; d++) {
        dt_row_entry row[N_OPERANDS] = {DT_ROW_S(d), DT_ROW_S(d)};
        for (int k = P; k < N_OPERANDS; k++)
            row[k] = is_made(call, k) ? DT_ROW_S(d) : 0;
        dt_rows_add(rows, 0, row);
    }
    for (size_t i = 0; is_made(call, L) && i < sizeof kept / sizeof *kept; i++)
        if (!dt__is_complex(call->inputs[LU].dtype) || kept[i] == DT_AVG || kept[i] == DT_PRODUCT) {
            const dt_row_entry part = DT_ROW_P(kept[i]);
            dt_rows_add(rows, 0, (dt_row_entry[]){part, 0, 0, part, part});
        }
}

static void swap_bytes(char *x, char *y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char byte = x[i];
        x[i] = y[i];
        y[i] = byte;
    }
}

/* The columns of a unit matrix, swapped by the pivots. Pivots are data: one that is not a row swaps nothing, as in
 * linalg_lu_solve. */
static void make_permutation(const int32_t *pivots, int64_t k, dt_dtype dtype, int64_t m, char *p) {
    const size_t size = dt_dtype_size(dtype), column = (size_t)m * size;
    memset(p, 0, (size_t)m * column);
    for (int64_t i = 0; i < m; i++)
        dt__write_f64(dtype, 1, p + (size_t)i * (column + size));
    for (int64_t i = 0; i < k; i++)
        if (pivots[i] >= 1 && pivots[i] <= m)
            swap_bytes(p + (size_t)i * column, p + (size_t)(pivots[i] - 1) * column, column);
}

static int unpack(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const dt__matrix_operand *lu = &self->operands[LU];
    const dt_dtype dtype = lu->dtype;
    const int64_t m = lu->rows, n = lu->columns, k = dt__min_i64(m, n), size = (int64_t)dt_dtype_size(dtype);
    const char *from = items[LU];
    char *l = items[L], *u = items[U];
    (void)work;
    for (int64_t j = 0; j < n && self->operands[U].out; j++) {
        const int64_t above = dt__min_i64(j + 1, k);
        memset(u + j * k * size, 0, (size_t)(k * size));
        memcpy(u + j * k * size, from + j * m * size, (size_t)(above * size));
    }
    for (int64_t j = 0; j < k && self->operands[L].out; j++) {
        memset(l + j * m * size, 0, (size_t)(j * size));
        dt__write_f64(dtype, 1, l + (j * m + j) * size);
        memcpy(l + (j * m + j + 1) * size, from + (j * m + j + 1) * size, (size_t)((m - j - 1) * size));
    }
    if (self->operands[P].out)
        make_permutation(items[PIVOTS], k, dtype, m, items[P]);
    return 0;
}

static dt_status lu_unpack(dt_op_call *call) {
    dt__matrix_batch batch = {.call = call, .n_operands = N_OPERANDS, .run = unpack};
    batch.operands[LU] = dt__matrix_in_out(&call->inputs[LU], NULL, 2);
    batch.operands[PIVOTS] = dt__matrix_in_out(&call->inputs[PIVOTS], NULL, 1);
    for (int k = P; k < N_OPERANDS; k++)
        batch.operands[k] = is_made(call, k) ? dt__matrix_in_out(NULL, &call->outputs[k - P], 2)
                                             : dt__matrix_scratch(call->inputs[LU].dtype, 0);
    dt__batch_of(&call->inputs[LU], 2, &batch.batch);
    return dt__matrix_batch_run(&batch, NULL);
}

/* The part below the diagonal of gL and the upper triangle of gU, in their places. */
static dt_status lu_unpack_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *lu = &call->call->inputs[LU];
    const int64_t m = dt__matrix_rows(lu), n = dt__matrix_columns(lu);
    const bool has_data = is_made(call->call, L);
    dt_tensor *gl = has_data ? call->grads[L - P] : NULL, *gu = has_data ? call->grads[U - P] : NULL, *sum = NULL;
    if (gl) {
        gl = dt_tril(gl, .diagonal = DT_INT(-1));
        sum = m < n ? dt_constant_pad_nd(gl, DT_INTS(0, n - m)) : gl;
    }
    if (gu) {
        gu = m > n ? dt_constant_pad_nd(dt_triu(gu), DT_INTS(0, 0, 0, m - n)) : dt_triu(gu);
        sum = sum ? dt_add(sum, gu) : gu;
    }
    input_grads[LU] = sum;
    return gl || gu ? dt__made_or_error(call->call, sum) : DT_OK;
}

static dt_status expect_pivoting(const dt_op_call *call) {
    return flag(call, 0) ? DT_OK
                         : dt_op_refuse(call, DT_ERR_UNSUPPORTED, "pivot: factors without pivots are not supported");
}

static dt_status shape_lu(dt_op_call *call) {
    DT__TRY(dt__expect_matrices(call, 0));
    DT__TRY(expect_pivoting(call));
    return add_factors(call, true, true);
}

static dt_status decompose_lu(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_linalg_lu_factor_ex_result factors = dt_linalg_lu_factor_ex(inputs[0]);
    dt_lu_unpack_result result = dt_lu_unpack(factors.LU, factors.pivots);
    outputs[0] = result.P;
    outputs[1] = result.L;
    outputs[2] = result.U;
    return dt__made_or_error(call, result.U);
}

static dt_status shape_packed_lu(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    dt__shape batch;
    DT__TRY(dt__expect_matrices(call, 0));
    DT__TRY(expect_pivoting(call));
    const int64_t k = dt__min_i64(dt__matrix_rows(a), dt__matrix_columns(a));
    dt__batch_of(a, 2, &batch);
    DT__TRY(dt__add_like(call, 0, a->dtype));
    DT__TRY(dt__add_batch(call, DT_I32, &batch, 1, &k));
    return flag(call, 1) ? dt__add_shape(call, DT_I32, &batch) : DT_OK;
}

static dt_status decompose_packed_lu(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_linalg_lu_factor_ex_result result = dt_linalg_lu_factor_ex(inputs[0]);
    outputs[0] = result.LU;
    outputs[1] = result.pivots;
    if (flag(call, 1))
        outputs[2] = result.info;
    return dt__made_or_error(call, result.LU);
}

const dt_op dt__op_lu_unpack = {
    .schema = "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
              "(Tensor P, Tensor L, Tensor U)",
    .summary = "The permutation and the factors of matrices, from LU factors in one tensor and their pivots.",
    .rows = rows_lu_unpack,
    .arguments = "unpack_data,unpack_pivots",
    .shape = shape_lu_unpack,
    .kernel = lu_unpack,
    .backward = lu_unpack_backward,
    .saves = "",
    .samples = "lu_unpack(f32[2,3,4]; i32[2,3])\nlu_unpack(f32[4,2]; i32[2])\nlu_unpack(f32[2,3,3]; i32[2,3]; false)",
};
const dt_op dt__op_linalg_lu = {
    .schema = "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    .summary = "Factors A = P L U of matrices: a permutation, a lower and an upper triangular matrix.",
    .arguments = "pivot",
    .shape = shape_lu,
    .decompose = decompose_lu,
    .samples = "linalg_lu(f32[2,3,3])\nlinalg_lu(f32[2,4])",
};
const dt_op dt__op_lu = {
    .schema = "lu(Tensor A, bool pivot=True, bool get_infos=False) -> Tensor[]",
    .summary = "LU factors of matrices in one tensor, their pivots, and with get_infos the first zeros of U.",
    .arguments = "pivot,get_infos",
    .shape = shape_packed_lu,
    .decompose = decompose_packed_lu,
    .samples = "lu(f32[2,3,3])\nlu(f32[5,4]; true; true)",
};
