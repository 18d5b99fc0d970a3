/* SPDX-License-Identifier: Apache-2.0
 *
 * norm, linalg_norm and linalg_matrix_norm: norms of vectors and of matrices, written with other ops. Of a matrix,
 * with its rows along the first dim of two, order 1 is the largest sum of magnitudes of a column, inf that of a row, 2
 * the largest singular value, "nuc" the sum of singular values, "fro" the norm of all elements as a vector; -1, -inf
 * and -2 are the smallest.
 */
#include "dtensor/ops.h"
#include "ops/matrix_batches.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Positions in .arguments. */
enum { ORDER, DIM, KEEPDIM, DTYPE };

typedef enum order_kind { VECTOR, COLUMN_SUMS, ROW_SUMS, SINGULAR, NUCLEAR } order_kind;

typedef struct norm {
    order_kind kind;
    double order; /* of a vector, or 1 and -1: the largest, the smallest */
    int dims[2];  /* of a matrix: rows, columns */
    uint32_t reduced;
    dt_dtype dtype; /* of the computation */
} norm;

static dt_status set_kind(const dt_op_call *call, const dt_arg *order, norm *out) {
    double number = dt__arg_number(order);
    out->order = number < 0 ? -1 : 1;
    out->kind = isinf(number) ? ROW_SUMS : fabs(number) == 1 ? COLUMN_SUMS : fabs(number) == 2 ? SINGULAR : VECTOR;
    return out->kind != VECTOR ? DT_OK
                               : dt_op_refuse(call, DT_ERR_VALUE,
                                              "of a matrix: expected order 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc', "
                                              "got %g",
                                              number);
}

/* The dims of a matrix: two that are given, or those of a tensor of two. */
static dt_status read_matrix(const dt_op_call *call, norm *out) {
    const dt_op_value *self = &call->inputs[0];
    const dt_arg *dim = dt__arg_at(call, DIM);
    bool listed = dim->type == DT_ARG_INTS && dim->n > 0;
    if (listed ? dim->n != 2 : self->n_dims != 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "of a matrix: expected two dims, got %d",
                            listed ? dim->n : self->n_dims);
    for (int i = 0; i < 2; i++)
        DT__TRY(dt__read_dim(call, listed ? dim->as.ints[i] : i, self->n_dims, &out->dims[i]));
    return DT_OK;
}

/* `by_number`: a number is the order of a matrix where the dims are those of one, and not of a vector. */
static dt_status read_norm(const dt_op_call *call, bool by_number, norm *out) {
    const dt_op_value *self = &call->inputs[0];
    const dt_arg *order = dt__arg_at(call, ORDER), *dim = dt__arg_at(call, DIM);
    *out = (norm){.kind = VECTOR, .order = 2, .dtype = dt__arg_dtype(dt__arg_at(call, DTYPE), self->dtype)};
    if (!dt__is_inexact(out->dtype) || !dt__is_inexact(self->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point or complex tensor and dtype, got %s",
                            dt_dtype_name(dt__is_inexact(self->dtype) ? out->dtype : self->dtype));
    if (dt__is_complex(self->dtype) && !dt__is_complex(out->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "dtype: expected a complex one for a complex tensor, got %s",
                            dt_dtype_name(out->dtype));
    DT__TRY(dt__read_dims(call, dim, self->n_dims, &out->reduced));
    if (order->type == DT_ARG_TEXT) {
        bool is_nuclear = !strcmp(order->as.text, "nuc");
        if (!is_nuclear && strcmp(order->as.text, "fro") != 0)
            return dt_op_refuse(call, DT_ERR_VALUE, "order: expected a number, 'fro' or 'nuc', got '%.60s'",
                                order->as.text);
        out->kind = is_nuclear ? NUCLEAR : VECTOR;
        return is_nuclear || by_number ? read_matrix(call, out) : DT_OK;
    }
    if (order->type == DT_ARG_NONE)
        return DT_OK;
    bool is_matrix = dim->type == DT_ARG_INTS && dim->n > 0 ? dim->n == 2 : self->n_dims == 2;
    if (dim->type == DT_ARG_INT)
        is_matrix = false;
    if (!by_number || (!is_matrix && (self->n_dims < 2 || dim->type != DT_ARG_NONE))) {
        out->order = dt__arg_number(order);
        return DT_OK;
    }
    DT__TRY(read_matrix(call, out));
    return set_kind(call, order, out);
}

static bool of_linalg(const dt_op_call *call) { return call->op->family != NULL; }

static dt_status shape_norm(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    dt__shape shape = {.n = 0};
    norm of;
    DT__TRY(read_norm(call, of_linalg(call), &of));
    bool keeps = dt__arg_at(call, KEEPDIM)->as.b;
    for (int d = 0; d < self->n_dims; d++)
        if (keeps || !(of.reduced >> d & 1))
            shape.sizes[shape.n++] = of.reduced >> d & 1 ? 1 : self->shape[d];
    return dt__add_shape(call, dt__real_dtype(of.dtype), &shape);
}

static dt_status shape_matrix_norm(dt_op_call *call) {
    const dt_arg *dim = dt__arg_at(call, DIM);
    DT__TRY(dt__expect_matrices(call, 0));
    if (dim->n != 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "dim: expected two dims, got %d", dim->n);
    return shape_norm(call);
}

/* The largest of no magnitudes is 0, their sum. */
static dt_tensor *extreme(dt_tensor *x, int64_t dim, bool largest) {
    if (x && largest && x->shape[dim < 0 ? x->n_dims + dim : dim] == 0)
        return dt_sum(x, .dim = DT_DIMS(dim), .keepdim = true);
    return largest ? dt_amax(x, .dim = DT_DIMS(dim), .keepdim = true)
                   : dt_amin(x, .dim = DT_DIMS(dim), .keepdim = true);
}

static dt_tensor *of_singular_values(const norm *of, dt_tensor *x) {
    dt_tensor *rows_last = dt_movedim_dims(x, DT_DIMS(of->dims[0], of->dims[1]), DT_DIMS(-2, -1));
    dt_tensor *values = dt_linalg_svdvals(rows_last);
    return of->kind == NUCLEAR ? dt_sum(values, .dim = DT_DIMS(-1)) : extreme(values, -1, of->order > 0);
}

static dt_tensor *norm_of(const dt_op_call *call, const norm *of, dt_tensor *x) {
    int64_t dims[DT_SPEC_MAX_DIMS];
    int n = 0;
    if (of->kind == SINGULAR || of->kind == NUCLEAR)
        return of_singular_values(of, x);
    if (of->kind != VECTOR) {
        bool columns = of->kind == COLUMN_SUMS;
        dt_tensor *sums = dt_sum(dt_abs(x), .dim = DT_DIMS(of->dims[columns ? 0 : 1]), .keepdim = true);
        return extreme(sums, of->dims[columns ? 1 : 0], of->order > 0);
    }
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (of->reduced >> d & 1)
            dims[n++] = d;
    if (dt__is_complex(of->dtype))
        x = dt_abs(x);
    return dt_linalg_vector_norm(x, .ord = DT_NUMBER(of->order), .dim = ((dt_dims){.n = n, .list = dims}));
}

static dt_status decompose_norm(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *out = &call->outputs[0];
    norm of;
    DT__TRY(read_norm(call, of_linalg(call), &of));
    dt_tensor *x = call->inputs[0].dtype == of.dtype ? inputs[0] : dt_to(inputs[0], of.dtype);
    dt_tensor *result = norm_of(call, &of, x);
    outputs[0] = result ? dt_reshape(result, ((dt_shape){out->n_dims, out->shape})) : NULL;
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_linalg_norm = {
    .schema = "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
              "ScalarType? dtype=None) -> Tensor | linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, "
              "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Norm of vectors or of matrices.",
    .arguments = "ord,dim,keepdim,dtype",
    .shape = shape_norm,
    .decompose = decompose_norm,
    .family = &dt__op_linalg_norm,
    .samples =
        "linalg_norm(f32[5,3])\nlinalg_norm(f32[2,5,3]; 1; [1,2])\nlinalg_norm(f32[2,5,3]; -inf; [0,2]; true)\n"
        "linalg_norm(f32[5,3]; 2)\nlinalg_norm(f32[5,3]; -2; keepdim=true)\nlinalg_norm(f32[3,5]; \"nuc\")\n"
        "linalg_norm(f32[5,3]; \"fro\"; dtype=f64)\nlinalg_norm(f32[5,3]; 3; 1)",
};
const dt_op dt__op_linalg_matrix_norm = {
    .schema = "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, "
              "ScalarType? dtype=None) -> Tensor | linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", "
              "int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Norm of matrices, whose rows and columns are two dims.",
    .arguments = "ord,dim,keepdim,dtype",
    .shape = shape_matrix_norm,
    .decompose = decompose_norm,
    .family = &dt__op_linalg_matrix_norm,
    .samples =
        "linalg_matrix_norm(f32[2,5,3])\nlinalg_matrix_norm(f32[5,3]; 2)\nlinalg_matrix_norm(f32[2,5,3]; -1; [0,2])\n"
        "linalg_matrix_norm(f32[2,3,5]; \"nuc\"; keepdim=true)",
};
const dt_op dt__op_norm = {
    .schema = "norm(Tensor self, Scalar? p=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
              "Tensor | norm.str(Tensor self, str p, int[1]? dim=None, bool keepdim=False, *, "
              "ScalarType? dtype=None) -> Tensor",
    .summary = "Norm of all elements, or of vectors along dims; \"nuc\": of matrices.",
    .arguments = "p,dim,keepdim,dtype",
    .shape = shape_norm,
    .decompose = decompose_norm,
    .samples =
        "norm(f32[5,3])\nnorm(f32[2,5,3]; 3; [0,2]; true)\nnorm(f32[5,3]; \"nuc\")\nnorm(f32[5,3]; \"fro\"; 1)\n"
        "norm(f32[5,3]; 1; 0; dtype=f64)",
};
