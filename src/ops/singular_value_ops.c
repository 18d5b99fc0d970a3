/* SPDX-License-Identifier: Apache-2.0
 *
 * Singular value decompositions of matrices, which are whole; the dims before the last two may be sharded. With
 * k = min(m, n), A = U diag(S) Vh; with full_matrices U is [m,m] and Vh [n,n], of which A uses the first k vectors.
 * The vectors are unique up to their sign if the singular values differ, and so are their gradients.
 */
#include "dtensor/ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <string.h>

static bool is_full(const dt_op_call *call) { return dt__arg_at(call, 0)->as.b; }

static dt_status check_matrix(const dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    if (!dt__is_float(a->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point tensor, got %s", dt_dtype_name(a->dtype));
    if (a->n_dims < 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a tensor of at least 2 dims, got %d", a->n_dims);
    return DT_OK;
}

typedef struct sizes {
    int64_t m, n, k, n_left, n_right; /* n_left, n_right: vectors of U and Vh */
} sizes;

static sizes sizes_of(const dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    int64_t m = a->shape[a->n_dims - 2], n = a->shape[a->n_dims - 1], k = dt__min_i64(m, n);
    return (sizes){m, n, k, is_full(call) ? m : k, is_full(call) ? n : k};
}

static dt_status shape_svd(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    DT__TRY(check_matrix(call));
    dt__shape shape = {.n = a->n_dims};
    const sizes of = sizes_of(call);
    memcpy(shape.sizes, a->shape, (size_t)a->n_dims * sizeof *shape.sizes);
    shape.sizes[shape.n - 1] = of.n_left;
    DT__TRY(dt__add_shape(call, a->dtype, &shape));
    shape.sizes[shape.n - 2] = of.k;
    shape.n--;
    DT__TRY(dt__add_shape(call, a->dtype, &shape));
    shape.n++;
    shape.sizes[shape.n - 2] = of.n_right;
    shape.sizes[shape.n - 1] = of.n;
    return dt__add_shape(call, a->dtype, &shape);
}

static void rows_svd(const dt_op_call *call, dt_rows *rows) {
    for (int d = 0; d < call->inputs[0].n_dims - 2; d++)
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d), DT_ROW_S(d), DT_ROW_S(d)});
}

/* Writes vectors of `length` numbers as columns or as rows of a matrix. */
static void write_vectors(int64_t n, int64_t length, const double *vectors, bool as_columns, double *out) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < length; k++)
            out[as_columns ? k * n + i : i * length + k] = vectors[i * length + k];
}

/* One matrix. The vectors that are rotated are its columns, or if it is wide its rows. */
static void decompose_matrix(const sizes *of, const double *a, double *memory, double *u, double *s, double *vh) {
    const bool wide = of->m < of->n;
    const int64_t length = wide ? of->n : of->m, n_out = wide ? of->n_right : of->n_left;
    double *vectors = memory, *right = memory + length * dt__max_i64(n_out, of->k);
    for (int64_t i = 0; i < of->k; i++)
        for (int64_t k = 0; k < length; k++)
            vectors[i * length + k] = wide ? a[i * of->n + k] : a[k * of->n + i];
    dt__svd_run(of->k, length, n_out, vectors, right, s);
    write_vectors(wide ? of->k : of->n_left, wide ? of->k : of->m, wide ? right : vectors, true, u);
    write_vectors(wide ? of->n_right : of->k, wide ? of->n : of->k, wide ? vectors : right, false, vh);
}

static dt_status svd(dt_op_call *call) {
    const sizes of = sizes_of(call);
    const int64_t n_matrices = dt__elements(call->inputs[0].n_dims - 2, call->inputs[0].shape);
    const int64_t per_matrix[] = {of.m * of.n, of.m * of.n_left, of.k, of.n_right * of.n};
    const int64_t longer = dt__max_i64(of.m, of.n);
    int64_t total = longer * longer + of.k * of.k;
    dt__scratch memory;
    for (int i = 0; i < 4; i++)
        total += n_matrices * per_matrix[i];
    DT__TRY(dt__scratch_new(call, DT_F64, 1, &total, &memory));
    double *parts[4], *at = memory.array.data;
    for (int i = 0; i < 4; i++) {
        parts[i] = at;
        at += n_matrices * per_matrix[i];
    }
    for (int i = 0; i < 4; i++) {
        const dt_op_value *value = i ? &call->outputs[i - 1] : &call->inputs[0];
        int64_t strides[DT_SPEC_MAX_DIMS];
        dt__row_strides(value->n_dims, value->shape, strides);
        dt__array dense = {parts[i], DT_F64, value->n_dims, value->shape, strides}, array = dt__array_of(value);
        if (i == 0) {
            dt__run_convert(call, &dense, &array);
            for (int64_t b = 0; b < n_matrices; b++)
                decompose_matrix(&of, parts[0] + b * per_matrix[0], at, parts[1] + b * per_matrix[1],
                                 parts[2] + b * per_matrix[2], parts[3] + b * per_matrix[3]);
        } else
            dt__run_convert(call, &array, &dense);
    }
    dt__scratch_free(call, &memory);
    return DT_OK;
}

static dt_tensor *transposed(dt_tensor *x) { return dt_transpose(x, -2, -1); }
static dt_tensor *skew(dt_tensor *x) { return dt_sub(x, transposed(x)); }

/* With E[i,j] = S[j]^2 - S[i]^2, and 1 where i = j:
 *
 *     U (skew(Uᵀ gU) / E diag(S) + diag(S) skew(Vh gVhᵀ) / E + diag(gS)) Vh
 *     + (gU - U Uᵀ gU) diag(1 / S) Vh + U diag(1 / S) (gVh - gVh V Vh) */
static dt_status svd_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const sizes of = sizes_of(op);
    dt_tensor *u = call->outputs[0], *s = call->outputs[1], *vh = call->outputs[2];
    dt_tensor *gu = call->grads[0], *gs = call->grads[1], *gvh = call->grads[2];
    if (is_full(op) && of.m != of.n && (gu || gvh))
        return dt_op_refuse(op, DT_ERR_UNSUPPORTED,
                            "with full_matrices the vectors of a matrix that is not square have no gradient; "
                            "set full_matrices to false");
    if (is_full(op)) {
        u = dt_slice(u, -1, 0, of.k, 1);
        vh = dt_slice(vh, -2, 0, of.k, 1);
    }
    dt_tensor *along_rows = dt_unsqueeze(s, -1), *along_columns = dt_unsqueeze(s, -2), *sum = NULL, *rest = NULL;
    dt_tensor *e = NULL;
    if (gu || gvh)
        e = dt_add(dt_sub(dt_square(along_columns), dt_square(along_rows)), dt_diag_embed(dt_ones_like(s)));
    if (gs)
        sum = dt_diag_embed(gs);
    if (gu) {
        dt_tensor *inner = dt_matmul(transposed(u), gu);
        dt_tensor *part = dt_mul(dt_div(skew(inner), e), along_columns);
        sum = sum ? dt_add(sum, part) : part;
        if (of.m > of.k)
            rest = dt_matmul(dt_div(dt_sub(gu, dt_matmul(u, inner)), along_columns), vh);
    }
    if (gvh) {
        dt_tensor *inner = dt_matmul(vh, transposed(gvh));
        dt_tensor *part = dt_mul(along_rows, dt_div(skew(inner), e));
        sum = sum ? dt_add(sum, part) : part;
        if (of.n > of.k) {
            dt_tensor *outside = dt_div(dt_sub(gvh, dt_matmul(transposed(inner), vh)), along_rows);
            rest = rest ? dt_add(rest, dt_matmul(u, outside)) : dt_matmul(u, outside);
        }
    }
    if (sum)
        input_grads[0] = dt_matmul(dt_matmul(u, sum), vh);
    if (rest)
        input_grads[0] = dt_add(input_grads[0], rest);
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

static dt_status shape_svdvals(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    DT__TRY(check_matrix(call));
    dt__shape shape = {.n = a->n_dims - 1};
    memcpy(shape.sizes, a->shape, (size_t)a->n_dims * sizeof *shape.sizes);
    shape.sizes[shape.n - 1] = dt__min_i64(a->shape[a->n_dims - 2], a->shape[a->n_dims - 1]);
    return dt__add_shape(call, a->dtype, &shape);
}

static dt_status decompose_svdvals(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = dt_linalg_svd(inputs[0], .full_matrices = DT_FALSE).S;
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_linalg_svd = {
    .schema = "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    .summary = "Singular value decomposition of matrices, with the values in descending order.",
    .rows = rows_svd,
    .arguments = "full_matrices",
    .unused = "driver",
    .shape = shape_svd,
    .kernel = svd,
    .backward = svd_backward,
    .saves = "U,S,Vh",
    .samples = "linalg_svd(f32[5,3]; false)\nlinalg_svd(f32[2,3,5]; false)\nlinalg_svd(f32[2,3,3])\n"
               "linalg_svd(f64[1,2,4,4]; false)",
};
const dt_op dt__op_linalg_svdvals = {
    .schema = "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    .summary = "Singular values of matrices, in descending order.",
    .unused = "driver",
    .shape = shape_svdvals,
    .decompose = decompose_svdvals,
    .samples = "linalg_svdvals(f32[5,3])\nlinalg_svdvals(f32[2,3,5])",
};
