/* SPDX-License-Identifier: Apache-2.0
 *
 * Singular value decompositions of matrices, which are whole; the dims before the last two may be sharded. With
 * k = min(m, n), A = U diag(S) Vh; with full_matrices U is [m,m] and Vh [n,n]; A uses their first k vectors.
 * The vectors are unique up to their sign, or of complex matrices up to a common phase, if the singular values differ;
 * gradients are those of a loss that does not depend on it. A matrix with elements that are not finite is bad data.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/matrix_flops.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_full(const dt_op_call *call) { return dt__arg_at(call, 0)->as.b; }

typedef struct sizes {
    int64_t m, n, k, n_left, n_right; /* n_left, n_right: vectors of U and Vh */
} sizes;

static sizes sizes_of(const dt_op_call *call, bool full_matrices) {
    const dt_op_value *a = &call->inputs[0];
    int64_t m = a->shape[a->n_dims - 2], n = a->shape[a->n_dims - 1], k = dt__min_i64(m, n);
    return (sizes){m, n, k, full_matrices ? m : k, full_matrices ? n : k};
}

static dt_status shape_svd(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    DT__TRY(dt__expect_matrices(call, 0));
    dt__shape shape = {.n = a->n_dims};
    const sizes of = sizes_of(call, is_full(call));
    memcpy(shape.sizes, a->shape, (size_t)a->n_dims * sizeof *shape.sizes);
    shape.sizes[shape.n - 1] = of.n_left;
    DT__TRY(dt__add_shape(call, a->dtype, &shape));
    shape.sizes[shape.n - 2] = of.k;
    shape.n--;
    DT__TRY(dt__add_shape(call, dt__real_dtype(a->dtype), &shape));
    shape.n++;
    shape.sizes[shape.n - 2] = of.n_right;
    shape.sizes[shape.n - 1] = of.n;
    return dt__add_shape(call, a->dtype, &shape);
}

static void rows_svd(const dt_op_call *call, dt_rows *rows) {
    for (int d = 0; d < call->inputs[0].n_dims - 2; d++)
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d), DT_ROW_S(d), DT_ROW_S(d)});
}

/* A matrix without singular values has NaN for all of them. */
static dt_status report_nan(dt_op_call *call, const dt__svd *svd, int64_t k) {
    dt__matrix_batch batch = {.call = call};
    int64_t bad = 0;
    for (; k && bad < svd->n_matrices; bad++)
        if (isnan(svd->dtype == DT_F64 || svd->dtype == DT_C128 ? ((const double *)svd->s)[bad * k]
                                                                : ((const float *)svd->s)[bad * k]))
            break;
    if (!k || bad == svd->n_matrices)
        return DT_OK;
    dt__batch_of(&call->inputs[0], 2, &batch.batch);
    return dt_op_verdict(call, DT_ERR_VALUE,
                         "matrix %" PRId64 ": the singular values did not converge; expected finite elements",
                         dt__global_matrix(&batch, bad));
}

/* Decomposes dense copies of the input; outputs are U, S and Vh, or S alone. */
static dt_status decompose(dt_op_call *call, const sizes *of, bool has_vectors, bool full_matrices) {
    const dt_op_value *a = &call->inputs[0], *values[] = {a, &call->outputs[has_vectors ? 1 : 0], &call->outputs[0],
                                                          &call->outputs[has_vectors ? 2 : 0]};
    const int n_values = has_vectors ? 4 : 2;
    dt__svd svd = {.dtype = a->dtype,
                   .n_matrices = dt__elements(a->n_dims - 2, a->shape),
                   .m = of->m,
                   .n = of->n,
                   .has_vectors = has_vectors,
                   .is_full = full_matrices};
    void **parts[] = {&svd.a, &svd.s, &svd.u, &svd.vh};
    int64_t offsets[5] = {0};
    dt__scratch memory;
    for (int i = 0; i < n_values; i++) /* aligned to 16 bytes */
        offsets[i + 1] = offsets[i] + dt__ceil_div(dt__elements(values[i]->n_dims, values[i]->shape), 4) * 4;
    const int64_t size = (int64_t)dt_dtype_size(svd.dtype), total = offsets[n_values] * size;
    const int64_t bytes = total + (int64_t)dt__svd_bytes(dt__pool_of(call->ctx), &svd);
    DT__TRY(dt__scratch_new(call, DT_U8, 1, &bytes, &memory));
    char *first = memory.array.data;
    for (int i = 0; i < n_values; i++)
        *parts[i] = first + offsets[i] * size;
    for (int i = 0; i < n_values; i++) {
        int64_t strides[DT_SPEC_MAX_DIMS];
        dt__row_strides(values[i]->n_dims, values[i]->shape, strides);
        const dt__array dense = {*parts[i], i == 1 ? dt__real_dtype(svd.dtype) : svd.dtype, values[i]->n_dims,
                                 values[i]->shape, strides},
                        array = dt__array_of(values[i]);
        dt__run_convert(call, i == 0 ? &dense : &array, i == 0 ? &array : &dense);
        if (i == 0)
            dt__svd_run(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &svd, first + total);
    }
    const dt_status status = report_nan(call, &svd, of->k);
    dt__scratch_free(call, &memory);
    return status;
}

static dt_status svd(dt_op_call *call) {
    const sizes of = sizes_of(call, is_full(call));
    return decompose(call, &of, true, is_full(call));
}

static dt_tensor *skew(dt_tensor *x) { return dt_sub(x, dt__adjoint(x)); }

/* Of real matrices skew has zeros there. */
static dt_tensor *without_diagonal(dt_tensor *x) {
    return dt__is_complex(dt_tensor_dtype(x)) ? dt_sub(x, dt_diag_embed(dt_diagonal(x, 0, -2, -1))) : x;
}

/* On the diagonal, what turns the phases of both vectors: half of skew(Uᴴ gU) / S. */
static dt_tensor *turns(dt_tensor *inner, dt_tensor *s) {
    dt_tensor *diagonal = dt_diagonal(inner, 0, -2, -1);
    return dt_diag_embed(dt_div(dt_mul_scalar(dt_sub(diagonal, dt__conjugate(diagonal)), 0.5), s));
}

/* With E[i,j] = S[j]^2 - S[i]^2, and 1 where i = j:
 *
 *     U (skew(Uᴴ gU) / E diag(S) + diag(S) skew(Vh gVhᴴ) / E + diag(gS)) Vh
 *     + (gU - U Uᴴ gU) diag(1 / S) Vh + U diag(1 / S) (gVh - gVh V Vh)
 *
 * and of complex matrices U diag(skew(Uᴴ gU)) / 2 S Vh, without the diagonals of the quotients. */
static dt_status svd_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const sizes of = sizes_of(op, is_full(op));
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
        dt_tensor *inner = dt_matmul(dt__adjoint(u), gu);
        dt_tensor *part = dt_mul(without_diagonal(dt_div(skew(inner), e)), along_columns);
        if (dt__is_complex(dt_tensor_dtype(u)))
            part = dt_add(part, turns(inner, s));
        sum = sum ? dt_add(sum, part) : part;
        if (of.m > of.k)
            rest = dt_matmul(dt_div(dt_sub(gu, dt_matmul(u, inner)), along_columns), vh);
    }
    if (gvh) {
        dt_tensor *inner = dt_matmul(vh, dt__adjoint(gvh));
        dt_tensor *part = dt_mul(along_rows, without_diagonal(dt_div(skew(inner), e)));
        sum = sum ? dt_add(sum, part) : part;
        if (of.n > of.k) {
            dt_tensor *outside = dt_div(dt_sub(gvh, dt_matmul(dt__adjoint(inner), vh)), along_rows);
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
    DT__TRY(dt__expect_matrices(call, 0));
    dt__shape shape = {.n = a->n_dims - 1};
    memcpy(shape.sizes, a->shape, (size_t)a->n_dims * sizeof *shape.sizes);
    shape.sizes[shape.n - 1] = dt__min_i64(a->shape[a->n_dims - 2], a->shape[a->n_dims - 1]);
    return dt__add_shape(call, dt__real_dtype(a->dtype), &shape);
}

static void rows_svdvals(const dt_op_call *call, dt_rows *rows) {
    for (int d = 0; d < call->inputs[0].n_dims - 2; d++)
        dt_rows_add(rows, 0, (dt_row_entry[]){DT_ROW_S(d), DT_ROW_S(d)});
}

static dt_status svdvals(dt_op_call *call) {
    const sizes of = sizes_of(call, false);
    return decompose(call, &of, false, false);
}

/* U diag(gS) Vh. The vectors are computed here, since few programs differentiate singular values. */
static dt_status svdvals_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_linalg_svd_result svd = dt_linalg_svd(call->inputs[0], .full_matrices = DT_FALSE);
    input_grads[0] = dt_matmul(dt_mul(svd.U, dt_unsqueeze(call->grads[0], -2)), svd.Vh);
    return dt__made_or_error(call->call, input_grads[0]);
}

/* svd: the form before linalg_svd. */

static dt_status shape_old_svd(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    dt__shape batch;
    DT__TRY(dt__expect_matrices(call, 0));
    const sizes of = sizes_of(call, !dt__arg_at(call, 0)->as.b || !dt__arg_at(call, 1)->as.b);
    dt__batch_of(a, 2, &batch);
    DT__TRY(dt__add_batch(call, a->dtype, &batch, 2, (int64_t[]){of.m, of.n_left}));
    DT__TRY(dt__add_batch(call, dt__real_dtype(a->dtype), &batch, 1, &of.k));
    return dt__add_batch(call, a->dtype, &batch, 2, (int64_t[]){of.n, of.n_right});
}

/* Without compute_uv the vectors are zeros. */
static dt_status decompose_old_svd(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const bool some = dt__arg_at(call, 0)->as.b;
    if (!dt__arg_at(call, 1)->as.b) {
        for (int i = 0; i < 3; i += 2) {
            const dt_op_value *out = &call->outputs[i];
            outputs[i] = dt_zeros(call->ctx, ((dt_shape){out->n_dims, out->shape}), .dtype = out->dtype,
                                  .mesh = dt_tensor_mesh(inputs[0]));
        }
        outputs[1] = dt_linalg_svdvals(inputs[0]);
        return dt__made_or_error(call, outputs[1]);
    }
    dt_linalg_svd_result svd = dt_linalg_svd(inputs[0], .full_matrices = some ? DT_FALSE : DT_TRUE);
    outputs[0] = svd.U;
    outputs[1] = svd.S;
    outputs[2] = dt__adjoint(svd.Vh);
    return dt__made_or_error(call, outputs[2]);
}

const dt_op dt__op_linalg_svd = {
    .schema = "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    .summary = "Singular value decomposition of matrices, with the values in descending order.",
    .rows = rows_svd,
    .arguments = "full_matrices",
    .unused = "driver",
    .shape = shape_svd,
    .kernel = svd,
    .flops = dt__svd_flops,
    .backward = svd_backward,
    .saves = "U,S,Vh",
    .samples = "linalg_svd(f32[5,3]; false)\nlinalg_svd(f32[2,3,5]; false)\nlinalg_svd(f32[2,3,3])\n"
               "linalg_svd(f64[1,2,4,4]; false)",
};
const dt_op dt__op_linalg_svdvals = {
    .schema = "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    .summary = "Singular values of matrices, in descending order.",
    .unused = "driver",
    .rows = rows_svdvals,
    .shape = shape_svdvals,
    .kernel = svdvals,
    .flops = dt__svdvals_flops,
    .backward = svdvals_backward,
    .saves = "A",
    .samples = "linalg_svdvals(f32[5,3])\nlinalg_svdvals(f32[2,3,5])",
};
const dt_op dt__op_svd = {
    .schema = "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    .summary = "As linalg_svd, with V instead of its adjoint.",
    .arguments = "some,compute_uv",
    .shape = shape_old_svd,
    .decompose = decompose_old_svd,
    .samples = "svd(f32[2,5,3])\nsvd(f32[3,3]; false)",
};
