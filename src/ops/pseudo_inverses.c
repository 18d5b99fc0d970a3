/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops based on singular values: pseudo-inverses, least squares, ranks and condition numbers. A singular value counts as
 * 0 if it is at most max(atol, rtol * largest). By default rtol is the larger size of the matrix times the spacing of
 * its dtype, or 0 where atol is positive. With `hermitian` the lower triangle is read, and magnitudes of eigenvalues
 * serve as singular values. Gradients of a pseudo-inverse do not depend on the singular vectors, and hold where the
 * rank does not change. Least squares return residuals whenever there are more rows than columns; PyTorch leaves them
 * out if a matrix of the batch lacks full rank, which shapes cannot depend on here.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Positions in .arguments of ops with a tolerance. The last two are those of older overloads: rcond of linalg_pinv is
 * rtol, tol of linalg_matrix_rank is atol with an rtol of 0. */
enum { HERMITIAN, ATOL, RTOL, OLD };

static bool is_hermitian(const dt_op_call *call) {
    const dt_arg *hermitian = dt__arg_at(call, HERMITIAN);
    return hermitian && hermitian->as.b;
}

static const dt_arg *given(const dt_op_call *call, int i) {
    const dt_arg *arg = dt__arg_at(call, i);
    return arg && arg->type != DT_ARG_NONE ? arg : NULL;
}

/* The arguments of both tolerances; NULL where one is not given. */
typedef struct tolerances {
    const dt_arg *atol, *rtol;
    bool rtol_is_zero;
} tolerances;

static tolerances read_tolerances(const dt_op_call *call) {
    const dt_arg *old = given(call, OLD);
    const bool of_rank = call->op->family != NULL;
    if (old)
        return of_rank ? (tolerances){.atol = old, .rtol_is_zero = true} : (tolerances){.rtol = old};
    return (tolerances){given(call, ATOL), given(call, RTOL), false};
}

static double default_rtol(const dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    return (double)dt__max_i64(dt__matrix_rows(a), dt__matrix_columns(a)) * dt__dtype_epsilon(a->dtype);
}

/* A tolerance as a tensor that broadcasts with [..., 1]; of a number the largest values times 0, plus it. */
static dt_tensor *tolerance(const dt_arg *arg, double number, dt_tensor *const *inputs, dt_tensor *largest) {
    if (arg && arg->type == DT_ARG_TENSOR)
        return dt_unsqueeze(inputs[arg->as.first], -1);
    return dt_full_like(largest, dt_number_real(arg ? dt__arg_number(arg) : number));
}

/* Whether each singular value counts, of values [..., k] with k > 0. */
static dt_tensor *counts(const dt_op_call *call, dt_tensor *const *inputs, dt_tensor *values) {
    const tolerances of = read_tolerances(call);
    dt_tensor *largest = dt_amax(values, .dim = DT_DIMS(-1), .keepdim = true);
    dt_tensor *atol = tolerance(of.atol, 0, inputs, largest);
    dt_tensor *rtol = tolerance(of.rtol, of.rtol_is_zero ? 0 : default_rtol(call), inputs, largest);
    if (!of.rtol && of.atol)
        rtol = dt_mul(rtol, dt_logical_not(dt_gt_scalar(atol, 0)));
    return dt_gt(values, dt_maximum(atol, dt_mul(rtol, largest)));
}

/* The batch of the result: that of the matrices, broadcast with tolerances that are tensors. */
static dt_status read_batch(const dt_op_call *call, dt__shape *out) {
    DT__TRY(is_hermitian(call) ? dt__expect_square(call, 0) : dt__expect_matrices(call, 0));
    dt__batch_of(&call->inputs[0], 2, out);
    for (int i = 1; i < call->n_inputs; i++) {
        const dt__shape before = *out;
        dt__shape more;
        if (!dt__is_float(call->inputs[i].dtype))
            return dt_op_refuse(call, DT_ERR_DTYPE, "tolerances: expected real floating-point numbers, got %s",
                                dt_dtype_name(call->inputs[i].dtype));
        dt__batch_of(&call->inputs[i], 0, &more);
        DT__TRY(dt__broadcast_batches(call, &before, &more, out));
    }
    return DT_OK;
}

/* linalg_pinv */

static dt_status shape_pinv(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    dt__shape batch;
    DT__TRY(read_batch(call, &batch));
    return dt__add_batch(call, a->dtype, &batch, 2, (int64_t[]){dt__matrix_columns(a), dt__matrix_rows(a)});
}

/* V diag(1 / S) Uᴴ, or V diag(1 / L) Vᴴ, without the values that count as 0. */
static dt_status decompose_pinv(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *a = &call->inputs[0];
    if (!dt__matrix_rows(a) || !dt__matrix_columns(a)) {
        outputs[0] = dt_clone(dt_transpose(inputs[0], -2, -1));
        return dt__made_or_error(call, outputs[0]);
    }
    dt_tensor *values, *left, *right; /* left diag(values) right is the matrix */
    if (is_hermitian(call)) {
        dt_linalg_eigh_result of = dt_linalg_eigh(inputs[0]);
        values = of.eigenvalues;
        left = of.eigenvectors;
        right = dt__adjoint(left);
    } else {
        dt_linalg_svd_result of = dt_linalg_svd(inputs[0], .full_matrices = DT_FALSE);
        values = of.S;
        left = of.U;
        right = of.Vh;
    }
    dt_tensor *inverse = dt_where_scalar_other(counts(call, inputs, dt_abs(values)), dt_reciprocal(values), 0.0);
    outputs[0] = dt_matmul(dt_mul(dt__adjoint(right), dt_unsqueeze(inverse, -2)), dt__adjoint(left));
    return dt__made_or_error(call, outputs[0]);
}

/* With X the pseudo-inverse of A: -Xᴴ g Xᴴ + (1 - A X) gᴴ X Xᴴ + Xᴴ X gᴴ (1 - X A). */
static dt_tensor *pinv_gradient(dt_tensor *a, dt_tensor *x, dt_tensor *grad) {
    dt_tensor *xh = dt__adjoint(x), *gh = dt__adjoint(grad);
    dt_tensor *inner = dt_matmul(xh, dt_matmul(grad, xh));
    dt_tensor *rows = dt_matmul(dt_matmul(gh, x), xh), *columns = dt_matmul(xh, dt_matmul(x, gh));
    rows = dt_sub(rows, dt_matmul(a, dt_matmul(x, rows)));
    columns = dt_sub(columns, dt_matmul(dt_matmul(columns, x), a));
    return dt_sub(dt_add(rows, columns), inner);
}

static dt_status pinv_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    input_grads[0] = pinv_gradient(call->inputs[0], call->outputs[0], call->grads[0]);
    return dt__made_or_error(call->call, input_grads[0]);
}

static dt_status shape_pinverse(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0];
    dt__shape batch;
    DT__TRY(dt__expect_matrices(call, 0));
    dt__batch_of(a, 2, &batch);
    return dt__add_batch(call, a->dtype, &batch, 2, (int64_t[]){dt__matrix_columns(a), dt__matrix_rows(a)});
}

static dt_status decompose_pinverse(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    outputs[0] = dt_linalg_pinv_rcond(inputs[0], call->args[1].as.f);
    return dt__made_or_error(call, outputs[0]);
}

/* linalg_matrix_rank */

static dt_status shape_rank(dt_op_call *call) {
    dt__shape batch;
    DT__TRY(read_batch(call, &batch));
    return dt__add_shape(call, DT_I64, &batch);
}

static dt_status decompose_rank(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *a = &call->inputs[0];
    dt_tensor *values = is_hermitian(call) ? dt_abs(dt_linalg_eigvalsh(inputs[0])) : dt_linalg_svdvals(inputs[0]);
    const bool has_values = dt__matrix_rows(a) && dt__matrix_columns(a);
    outputs[0] = dt_sum(has_values ? counts(call, inputs, values) : dt_ne_scalar(values, 0), .dim = DT_DIMS(-1));
    return dt__made_or_error(call, outputs[0]);
}

/* linalg_lstsq */

enum { RCOND, DRIVER };
/* What a driver of LAPACK returns in addition to the solution. */
typedef struct driver {
    const char *name;
    bool has_residuals, has_rank, has_values;
} driver;
static const driver drivers[] = {
    {"gelsy", false, true, false}, /* the default */
    {"gels", true, false, false},
    {"gelsd", true, true, true},
    {"gelss", true, true, true},
};

static const driver *driver_of(const dt_op_call *call) {
    const dt_arg *name = given(call, DRIVER);
    for (size_t i = 0; name && i < sizeof drivers / sizeof *drivers; i++)
        if (!strcmp(drivers[i].name, name->as.text))
            return &drivers[i];
    return name ? NULL : &drivers[0];
}

/* Whether the right sides are vectors, [..., m]. */
static bool has_vectors(const dt_op_call *call) { return call->inputs[1].n_dims < call->inputs[0].n_dims; }

static dt_status expect_right_sides(const dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    if (a->dtype != b->dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected tensors of one dtype, got %s and %s",
                            dt_dtype_name(a->dtype), dt_dtype_name(b->dtype));
    bool fits = b->n_dims == a->n_dims || b->n_dims == a->n_dims - 1;
    for (int d = 0; d < a->n_dims - 1 && fits; d++)
        fits = a->shape[d] == b->shape[d];
    return fits
               ? DT_OK
               : dt_op_refuse(call, DT_ERR_SHAPE, "b: expected vectors or matrices with the batch and the rows of A");
}

static dt_status shape_lstsq(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    const driver *by = driver_of(call);
    const dt__shape none = {.n = 1};
    dt__shape batch;
    DT__TRY(dt__expect_matrices(call, 0));
    DT__TRY(expect_right_sides(call));
    if (!by)
        return dt_op_refuse(call, DT_ERR_VALUE, "driver: expected 'gels', 'gelsy', 'gelsd' or 'gelss', got '%.60s'",
                            dt__arg_at(call, DRIVER)->as.text);
    const int64_t m = dt__matrix_rows(a), n = dt__matrix_columns(a), k = dt__min_i64(m, n);
    const int64_t columns = has_vectors(call) ? 1 : dt__matrix_columns(b);
    const dt_dtype real = dt__real_dtype(a->dtype);
    dt__batch_of(a, 2, &batch);
    DT__TRY(dt__add_batch(call, a->dtype, &batch, has_vectors(call) ? 1 : 2, (int64_t[]){n, columns}));
    DT__TRY(by->has_residuals && m > n ? dt__add_batch(call, real, &batch, 1, &columns)
                                       : dt__add_shape(call, real, &none));
    DT__TRY(dt__add_shape(call, DT_I64, by->has_rank ? &batch : &none));
    return by->has_values ? dt__add_batch(call, real, &batch, 1, &k) : dt__add_shape(call, real, &none);
}

static double rcond_of(const dt_op_call *call) {
    const dt_arg *rcond = given(call, RCOND);
    return rcond && rcond->as.f >= 0 ? rcond->as.f : default_rtol(call);
}

static dt_tensor *residuals_of(dt_tensor *a, dt_tensor *x, dt_tensor *b) {
    return dt_sum(dt_square(dt_abs(dt_sub(dt_matmul(a, x), b))), .dim = DT_DIMS(-2));
}

/* An output that the driver does not have: no elements. */
static dt_tensor *nothing(const dt_op_call *call, int output, dt_tensor *like) {
    return dt_zeros(call->ctx, DT_SHAPE(0), .dtype = call->outputs[output].dtype, .mesh = dt_tensor_mesh(like));
}

/* V diag(1 / S) Uᴴ B, without the values that count as 0. */
static dt_status decompose_lstsq(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const driver *by = driver_of(call);
    const dt_op_value *a = &call->inputs[0];
    const bool vectors = has_vectors(call), is_empty = !dt__matrix_rows(a) || !dt__matrix_columns(a);
    dt_tensor *b = vectors ? dt_unsqueeze(inputs[1], -1) : inputs[1];
    dt_linalg_svd_result of = dt_linalg_svd(inputs[0], .full_matrices = DT_FALSE);
    dt_tensor *counted =
        is_empty ? dt_ne_scalar(of.S, 0) : dt_gt(of.S, dt_mul_scalar(dt_narrow(of.S, -1, 0, 1), rcond_of(call)));
    dt_tensor *inverse = dt_where_scalar_other(counted, dt_reciprocal(of.S), 0.0);
    dt_tensor *x = dt_mul(dt_unsqueeze(inverse, -1), dt_matmul(dt__adjoint(of.U), b));
    x = dt_matmul(dt__adjoint(of.Vh), x);
    const bool has_residuals = by->has_residuals && dt__matrix_rows(a) > dt__matrix_columns(a);
    outputs[0] = vectors ? dt_squeeze_dim(x, -1) : x;
    outputs[1] = has_residuals ? residuals_of(inputs[0], x, b) : nothing(call, 1, x);
    outputs[2] = by->has_rank ? dt_sum(counted, .dim = DT_DIMS(-1)) : nothing(call, 2, x);
    outputs[3] = by->has_values ? of.S : nothing(call, 3, x);
    return dt__made_or_error(call, outputs[3]);
}

/* With X = A⁺ B and R = A X - B, which is at right angles to the columns of A: gB = A⁺ᴴ gX - 2 R gL, and gA is the
 * gradient of A⁺ for gX Bᴴ, and 2 R gL Xᴴ, where gL are the gradients of the residuals. Singular values have none, as
 * in PyTorch. */
static dt_status lstsq_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const bool vectors = has_vectors(call->call);
    dt_tensor *a = call->inputs[0], *b = call->inputs[1], *x = call->outputs[0], *gx = call->grads[0];
    dt_tensor *gl = call->grads[1], *ga = NULL, *gb = NULL;
    if (vectors) {
        b = dt_unsqueeze(b, -1);
        x = dt_unsqueeze(x, -1);
        gx = gx ? dt_unsqueeze(gx, -1) : NULL;
    }
    if (gx) {
        dt_tensor *inverse = dt_linalg_pinv(a, .rtol = DT_REAL(rcond_of(call->call)));
        ga = pinv_gradient(a, inverse, dt_matmul(gx, dt__adjoint(b)));
        gb = dt_matmul(dt__adjoint(inverse), gx);
    }
    const dt_op_value *sizes = &call->call->inputs[0];
    if (gl && driver_of(call->call)->has_residuals && dt__matrix_rows(sizes) > dt__matrix_columns(sizes)) {
        dt_tensor *r = dt_mul(dt_mul_scalar(dt_sub(dt_matmul(a, x), b), 2), dt_unsqueeze(gl, -2));
        dt_tensor *more = dt_matmul(r, dt__adjoint(x));
        ga = ga ? dt_add(ga, more) : more;
        gb = gb ? dt_sub(gb, r) : dt_neg(r);
    }
    input_grads[0] = ga;
    input_grads[1] = gb && vectors ? dt_squeeze_dim(gb, -1) : gb;
    return dt_failed(call->call->ctx) ? dt_error_status(call->call->ctx) : DT_OK;
}

/* linalg_cond */

static bool is_spectral(const dt_arg *p) {
    return p->type == DT_ARG_NONE || (p->type != DT_ARG_TEXT && fabs(dt__arg_number(p)) == 2);
}

static dt_status shape_cond(dt_op_call *call) {
    const dt_arg *p = dt__arg_at(call, 0);
    dt__shape batch;
    DT__TRY(is_spectral(p) ? dt__expect_matrices(call, 0) : dt__expect_square(call, 0));
    const bool is_norm = p->type == DT_ARG_TEXT
                             ? !strcmp(p->as.text, "fro") || !strcmp(p->as.text, "nuc")
                             : is_spectral(p) || isinf(dt__arg_number(p)) || fabs(dt__arg_number(p)) == 1;
    if (!is_norm)
        return dt_op_refuse(call, DT_ERR_VALUE, "p: expected 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc'");
    dt__batch_of(&call->inputs[0], 2, &batch);
    return dt__add_shape(call, dt__real_dtype(call->inputs[0].dtype), &batch);
}

static dt_tensor *norm_by(const dt_arg *p, dt_tensor *x) {
    return p->type == DT_ARG_TEXT ? dt_linalg_matrix_norm_str_ord(x, .ord = p->as.text)
                                  : dt_linalg_matrix_norm(x, dt__arg_number(p));
}

/* The quotient of the extreme singular values, or |A| |A⁻¹|, where a singular matrix has an infinite inverse; infinite
 * where that is not a number. */
static dt_status decompose_cond(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *a = &call->inputs[0];
    const dt_arg *p = dt__arg_at(call, 0);
    const int64_t k = dt__min_i64(dt__matrix_rows(a), dt__matrix_columns(a));
    dt_tensor *result;
    if (!k) {
        dt_tensor *none = dt_abs(inputs[0]);
        result = dt_sum(none, .dim = DT_DIMS(-2, -1));
    } else if (is_spectral(p)) {
        dt_tensor *values = dt_linalg_svdvals(inputs[0]);
        dt_tensor *largest = dt_select(values, -1, 0), *smallest = dt_select(values, -1, k - 1);
        result =
            p->type != DT_ARG_NONE && dt__arg_number(p) < 0 ? dt_div(smallest, largest) : dt_div(largest, smallest);
    } else {
        dt_linalg_inv_ex_result of = dt_linalg_inv_ex(inputs[0]);
        dt_tensor *singular = dt_unsqueeze(dt_unsqueeze(dt_gt_scalar(of.info, 0), -1), -1);
        dt_tensor *inverse = dt_masked_fill(of.inverse, singular, (double)INFINITY);
        result = dt_mul(norm_by(p, inputs[0]), norm_by(p, inverse));
    }
    outputs[0] = dt_nan_to_num(result, .nan = DT_REAL((double)INFINITY), .posinf = DT_REAL((double)INFINITY),
                               .neginf = DT_REAL(-(double)INFINITY));
    return dt__made_or_error(call, outputs[0]);
}

const dt_op dt__op_linalg_pinv = {
    .schema =
        "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> "
        "Tensor | linalg_pinv.rcond(Tensor self, float rcond, bool hermitian=False) -> Tensor | "
        "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, "
        "bool hermitian=False) -> Tensor | "
        "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
    .summary = "Pseudo-inverses of matrices, by singular values or, of Hermitian matrices, by eigenvalues.",
    .arguments = "hermitian,atol,rtol,rcond",
    .shape = shape_pinv,
    .decompose = decompose_pinv,
    .backward = pinv_backward,
    .saves = "self,result",
    .samples = "linalg_pinv(f32[2,4,3])\nlinalg_pinv(f32[3,4]; 0.01)\nlinalg_pinv(f32[3,3]; atol=0.001; rtol=0.01)",
};
const dt_op dt__op_pinverse = {
    .schema = "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
    .summary = "As linalg_pinv.",
    .shape = shape_pinverse,
    .decompose = decompose_pinverse,
    .samples = "pinverse(f32[2,4,3])",
};
const dt_op dt__op_linalg_matrix_rank = {
    .schema = "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
              "bool hermitian=False) -> Tensor | "
              "linalg_matrix_rank.tol(Tensor self, float tol, bool hermitian=False) -> Tensor | "
              "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor | "
              "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, "
              "bool hermitian=False) -> Tensor",
    .summary = "Ranks of matrices: how many singular values do not count as 0.",
    .arguments = "hermitian,atol,rtol,tol",
    .shape = shape_rank,
    .decompose = decompose_rank,
    .family = &dt__op_linalg_matrix_rank,
    .samples = "linalg_matrix_rank(f32[2,4,3])\nlinalg_matrix_rank(f32[3,3]; 0.5)\n"
               "linalg_matrix_rank(f32[3,3]; atol=0.01; rtol=0.1)",
    .flags = DT_OP_NOT_DIFFERENTIABLE,
};
const dt_op dt__op_linalg_lstsq = {
    .schema = "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, "
              "Tensor residuals, Tensor rank, Tensor singular_values)",
    .summary = "Solutions of least squares by singular values; a driver decides what else is returned.",
    .arguments = "rcond,driver",
    .shape = shape_lstsq,
    .decompose = decompose_lstsq,
    .backward = lstsq_backward,
    .saves = "self,b,solution",
    .samples = "linalg_lstsq(f32[2,4,3]; f32[2,4,2])\nlinalg_lstsq(f32[4,3]; f32[4]; driver=gels)\n"
               "linalg_lstsq(f32[3,4]; f32[3,2]; 0.001)",
};
const dt_op dt__op_linalg_cond = {
    .schema = "linalg_cond(Tensor self, Scalar? p=None) -> Tensor | linalg_cond.p_str(Tensor self, str p) -> Tensor",
    .summary = "Condition numbers of matrices in a norm, by default the quotient of the extreme singular values.",
    .arguments = "p",
    .shape = shape_cond,
    .decompose = decompose_cond,
    .samples = "linalg_cond(f32[2,4,3])\nlinalg_cond(f32[2,3,3]; 1)\nlinalg_cond(f32[3,3]; -2)\n"
               "linalg_cond(f32[3,3]; \"fro\")",
};
