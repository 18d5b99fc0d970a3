/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that consist of other ops, which are decided, counted and recorded on their own: comparisons of whole tensors,
 * diagonals, and functions of one or two steps. They have the rows of the ops that they run.
 */
#include "dtensor/ops.h"
#include "dtensor/tensor.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

static dt_status made(const dt_op_call *call, dt_tensor *result, dt_tensor **outputs) {
    outputs[0] = result;
    return result ? DT_OK : dt_error_status(call->ctx);
}

/* NULL if one of the steps before has failed. */
#define STEP(input, call_) ((input) ? (call_) : NULL)

static bool same_shape(const dt_op_value *a, const dt_op_value *b) {
    bool same = a->n_dims == b->n_dims;
    for (int d = 0; d < a->n_dims && same; d++)
        same = a->shape[d] == b->shape[d];
    return same;
}

static dt_status shape_bool(dt_op_call *call) { return dt_op_add_output(call, DT_BOOL, 0, NULL); }

/* Tensors of different shapes are not equal, whatever they hold. */
static dt_status decompose_equal(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    if (!same_shape(&call->inputs[0], &call->inputs[1])) {
        dt_tensor *any = dt_any(inputs[0]);
        return made(call, STEP(any, dt_logical_and(any, dt_logical_not(any))), outputs);
    }
    dt_tensor *equal = dt_eq(inputs[0], inputs[1]);
    return made(call, STEP(equal, dt_all(equal)), outputs);
}

/* Positions in .arguments of isclose and allclose. */
enum { RTOL, ATOL, EQUAL_NAN };

static dt_status check_close(const dt_op_call *call, dt__shape *shape) {
    if (call->inputs[0].dtype != call->inputs[1].dtype)
        return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with dt_to",
                            dt_dtype_name(call->inputs[0].dtype), dt_dtype_name(call->inputs[1].dtype));
    DT__TRY(dt__refuse_complex(call));
    if (!(dt__arg_at(call, RTOL)->as.f >= 0) || !(dt__arg_at(call, ATOL)->as.f >= 0))
        return dt_op_refuse(call, DT_ERR_VALUE, "rtol and atol: expected at least 0, got %g and %g",
                            dt__arg_at(call, RTOL)->as.f, dt__arg_at(call, ATOL)->as.f);
    return dt__broadcast(call, 3, shape);
}

static dt_status shape_isclose(dt_op_call *call) {
    dt__shape shape;
    DT__TRY(check_close(call, &shape));
    return dt__add_shape(call, DT_BOOL, &shape);
}

static dt_status shape_allclose(dt_op_call *call) {
    dt__shape ignored;
    DT__TRY(check_close(call, &ignored));
    return shape_bool(call);
}

/* a == b, or |a - b| <= atol + rtol |b|, which is finite; NaN equals NaN with equal_nan. */
static dt_tensor *close_elements(const dt_op_call *call, dt_tensor *a, dt_tensor *b) {
    bool integral = dt__is_integral(call->inputs[0].dtype);
    dt_tensor *equal = dt_eq(a, b), *x = integral ? dt_to(a, DT_F64) : a, *y = integral ? dt_to(b, DT_F64) : b;
    dt_tensor *difference = STEP(equal && x && y, dt_abs(dt_sub(x, y)));
    dt_tensor *allowed = STEP(difference, dt_add_scalar(dt_mul_scalar(dt_abs(y), dt__arg_at(call, RTOL)->as.f),
                                                        dt__arg_at(call, ATOL)->as.f));
    dt_tensor *near = STEP(allowed, dt_logical_and(dt_isfinite(difference), dt_le(difference, allowed)));
    dt_tensor *close = STEP(near, dt_logical_or(equal, near));
    if (dt__arg_at(call, EQUAL_NAN)->as.b && close)
        close = dt_logical_or(close, dt_logical_and(dt_isnan(a), dt_isnan(b)));
    return close;
}

static dt_status decompose_isclose(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    return made(call, close_elements(call, inputs[0], inputs[1]), outputs);
}

static dt_status decompose_allclose(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_tensor *close = close_elements(call, inputs[0], inputs[1]);
    return made(call, STEP(close, dt_all(close)), outputs);
}

/* A matrix from its diagonal, or the diagonal of a matrix. */
static dt_status shape_diag(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    int64_t offset = call->args[1].as.i;
    if (self->n_dims < 1 || self->n_dims > 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a vector or a matrix, got %d dims", self->n_dims);
    if (offset < -INT32_MAX || offset > INT32_MAX)
        return dt_op_refuse(call, DT_ERR_VALUE, "diagonal: expected at most %d from the main one, got %" PRId64,
                            INT32_MAX, offset);
    int64_t distance = offset < 0 ? -offset : offset;
    if (self->n_dims == 1) {
        int64_t size = self->shape[0] + distance;
        return dt__add_made(call, self->dtype, 2, (int64_t[]){size, size});
    }
    int64_t rows = self->shape[0] - (offset < 0 ? distance : 0),
            columns = self->shape[1] - (offset > 0 ? distance : 0);
    int64_t size = dt__max_i64(0, dt__min_i64(rows, columns));
    return dt_op_add_output(call, self->dtype, 1, &size);
}

static dt_status decompose_diag(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    int64_t offset = call->args[1].as.i;
    if (call->inputs[0].n_dims == 1)
        return made(call, dt_diag_embed(inputs[0], .offset = DT_INT(offset)), outputs);
    dt_tensor *view = dt_diagonal(inputs[0], offset, 0, 1);
    return made(call, STEP(view, dt_clone(view)), outputs);
}

static dt_status shape_trace(dt_op_call *call) {
    DT__TRY(dt__expect_dims(call, 0, 2));
    dt_dtype dtype = call->inputs[0].dtype;
    return dt_op_add_output(call, dt__is_integral(dtype) ? DT_I64 : dtype, 0, NULL);
}

static dt_status decompose_trace(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_tensor *view = dt_diagonal(inputs[0], 0, 0, 1);
    return made(call, STEP(view, dt_sum(view)), outputs);
}

/* The first half of a dim times the sigmoid of the second. */
static dt_status shape_glu(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {.n = input->n_dims};
    int dim;
    DT__TRY(dt__expect_floating(call, 0));
    DT__TRY(dt__refuse_complex(call));
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at least one dim, got none");
    DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims, &dim));
    if (input->shape[dim] % 2)
        return dt_op_refuse(call, DT_ERR_SHAPE, "dim %d: expected an even size, got %" PRId64, dim,
                            input->shape[dim]);
    memcpy(shape.sizes, input->shape, (size_t)input->n_dims * sizeof *shape.sizes);
    shape.sizes[dim] /= 2;
    return dt__add_shape(call, input->dtype, &shape);
}

static dt_status decompose_glu(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    int dim = dt__wrap_dim(call->args[1].as.i, call->inputs[0].n_dims);
    int64_t half = call->outputs[0].shape[dim];
    dt_tensor *first = dt_slice(inputs[0], dim, 0, half, 1);
    dt_tensor *second = STEP(first, dt_slice(inputs[0], dim, half, 2 * half, 1));
    dt_tensor *gate = STEP(second, dt_sigmoid(second));
    return made(call, STEP(gate, dt_mul(first, gate)), outputs);
}

/* Positions in the schema of diff. */
enum { DIFF_N = 1, DIFF_DIM, PREPEND, APPEND };

/* The input of an optional tensor argument; -1: it is not given. */
static int given(const dt_op_call *call, int i) {
    return call->args[i].type == DT_ARG_TENSOR ? call->args[i].as.first : -1;
}

static dt_status shape_diff(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    dt__shape shape = {.n = self->n_dims};
    int dim;
    if (self->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected at least one dim, got none");
    DT__TRY(dt__read_dim(call, call->args[DIFF_DIM].as.i, self->n_dims, &dim));
    if (call->args[DIFF_N].as.i < 0)
        return dt_op_refuse(call, DT_ERR_VALUE, "n: expected at least 0, got %" PRId64, call->args[DIFF_N].as.i);
    memcpy(shape.sizes, self->shape, (size_t)self->n_dims * sizeof *shape.sizes);
    for (int i = PREPEND; i <= APPEND && call->args[DIFF_N].as.i > 0; i++) {
        const dt_op_value *other = given(call, i) >= 0 ? &call->inputs[given(call, i)] : NULL;
        if (!other)
            continue;
        bool fits = other->n_dims == self->n_dims && other->dtype == self->dtype;
        for (int d = 0; d < self->n_dims && fits; d++)
            fits = d == dim || other->shape[d] == self->shape[d];
        if (!fits)
            return dt_op_refuse(call, DT_ERR_SHAPE, "%s: expected dtype and shape of the tensor, but for dim %d",
                                i == PREPEND ? "prepend" : "append", dim);
        shape.sizes[dim] += other->shape[dim];
    }
    shape.sizes[dim] = dt__max_i64(0, shape.sizes[dim] - dt__min_i64(call->args[DIFF_N].as.i, shape.sizes[dim]));
    return dt__add_shape(call, self->dtype, &shape);
}

static dt_status decompose_diff(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const int64_t n = call->args[DIFF_N].as.i;
    int dim = dt__wrap_dim(call->args[DIFF_DIM].as.i, call->inputs[0].n_dims), n_joined = 0;
    dt_tensor *joined[3], *x = inputs[0];
    if (n == 0)
        return made(call, dt_clone(x), outputs);
    for (int i = 0; i < 3; i++) {
        int input = i == 1 ? 0 : given(call, i == 0 ? PREPEND : APPEND);
        if (input >= 0)
            joined[n_joined++] = inputs[input];
    }
    if (n_joined > 1)
        x = dt_cat(((dt_tensors){n_joined, joined}), .dim = DT_INT(dim));
    int64_t size = dt_tensor_size(x, dim);
    for (int64_t i = 0; x && i < n && size > 0; i++, size--) {
        dt_tensor *after = dt_slice(x, dim, 1, size, 1), *before = STEP(after, dt_slice(x, dim, 0, size - 1, 1));
        x = STEP(before, call->inputs[0].dtype == DT_BOOL ? dt_ne(after, before) : dt_sub(after, before));
    }
    return made(call, x, outputs);
}

static dt_status shape_softmin(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int ignored;
    dt_dtype dtype = dt__arg_dtype(&call->args[2], input->dtype);
    DT__TRY(dt__refuse_complex(call));
    if (call->args[1].type == DT_ARG_INT)
        DT__TRY(dt__read_dim(call, call->args[1].as.i, input->n_dims, &ignored));
    if (!dt__is_float(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point tensor or dtype, got %s",
                            dt_dtype_name(dtype));
    return dt__add_like(call, 0, dtype);
}

/* Without a dim: 1 of matrices and tensors of 4 dims, otherwise 0. */
static int64_t softmin_dim(const dt_op_call *call) {
    int n = call->inputs[0].n_dims;
    return call->args[1].type == DT_ARG_INT ? call->args[1].as.i : n == 0 || n == 1 || n == 3 ? 0 : 1;
}

static dt_status decompose_softmin(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_dtype dtype = call->outputs[0].dtype;
    dt_tensor *input = call->inputs[0].dtype == dtype ? inputs[0] : dt_to(inputs[0], dtype);
    dt_tensor *negative = STEP(input, dt_neg(input));
    return made(call, STEP(negative, dt_softmax(negative, softmin_dim(call))), outputs);
}

/* Elements of a dim, of a tensor and indices that are broadcast to each other in the other dims. */
static dt_status shape_take(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1];
    dt__shape shape = {.n = index->n_dims};
    int dim;
    DT__TRY(dt__expect_index(call, 1));
    if (call->args[2].type != DT_ARG_INT) {
        int64_t n = dt__elements(index->n_dims, index->shape);
        return dt_op_add_output(call, self->dtype, 1, &n);
    }
    DT__TRY(dt__read_dim(call, call->args[2].as.i, self->n_dims, &dim));
    if (self->n_dims != index->n_dims)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the indices: expected %d dims, as the tensor has, got %d",
                            self->n_dims, index->n_dims);
    for (int d = 0; d < shape.n; d++) {
        int64_t a = self->shape[d], b = index->shape[d];
        if (d != dim && a != b && a != 1 && b != 1)
            return dt_op_refuse(call, DT_ERR_SHAPE, "dim %d does not broadcast: %" PRId64 " and %" PRId64, d, a, b);
        shape.sizes[d] = d == dim ? b : a == 1 ? b : a;
    }
    return dt__add_shape(call, self->dtype, &shape);
}

/* Negative indices count from the end. */
static dt_tensor *wrapped(dt_tensor *index, int64_t size) {
    dt_tensor *negative = index ? dt_lt_scalar(index, 0) : NULL, *moved = STEP(negative, dt_add_scalar(index, size));
    return STEP(moved, dt_where(negative, moved, index));
}

static dt_status decompose_take(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *out = &call->outputs[0];
    if (call->args[2].type != DT_ARG_INT) {
        int64_t n = dt__elements(call->inputs[0].n_dims, call->inputs[0].shape);
        dt_tensor *flat = dt_ravel(inputs[0]), *index = STEP(flat, wrapped(dt_ravel(inputs[1]), n));
        return made(call, STEP(index, dt_gather(flat, 0, index)), outputs);
    }
    int dim = dt__wrap_dim(call->args[2].as.i, out->n_dims);
    int64_t sizes[DT_SPEC_MAX_DIMS];
    memcpy(sizes, out->shape, (size_t)out->n_dims * sizeof *sizes);
    dt_shape shape = {out->n_dims, sizes};
    int64_t size = call->inputs[0].n_dims ? call->inputs[0].shape[dim] : 1;
    dt_tensor *wrap = wrapped(inputs[1], size), *index = STEP(wrap, dt_expand(wrap, shape));
    if (out->n_dims)
        sizes[dim] = call->inputs[0].shape[dim];
    dt_tensor *self = STEP(index, dt_expand(inputs[0], shape));
    return made(call, STEP(self, dt_gather(self, call->args[2].as.i, index)), outputs);
}

/* name(Tensor self, int[] size, …): of the tensor only the dtype and the mesh are used; and its placements, if the
 * shape is the same. */
static dt_status shape_new(dt_op_call *call) {
    const dt_arg *size = &call->args[1];
    return dt__add_made(call, dt__arg_dtype(&call->args[call->n_args - 1], call->inputs[0].dtype), size->n,
                        size->as.ints);
}

static dt_number number_of(const dt_arg *arg) {
    return arg->type == DT_ARG_FLOAT  ? dt_number_real(arg->as.f)
           : arg->type == DT_ARG_BOOL ? dt_number_bool(arg->as.b)
                                      : dt_number_int(arg->as.i);
}

static dt_status make_new(const dt_op_call *call, dt_tensor *like, dt_number value, dt_tensor **outputs) {
    const dt_op_value *out = &call->outputs[0];
    dt_shape shape = {out->n_dims, out->shape};
    if (same_shape(&call->inputs[0], out))
        return made(call, dt_full_like(like, value, .dtype = out->dtype), outputs);
    return made(call, dt_full(call->ctx, shape, value, .dtype = out->dtype, .mesh = dt_tensor_mesh(like)), outputs);
}

static dt_status decompose_new_full(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    if (call->args[2].type == DT_ARG_COMPLEX)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "fill_value: expected a real number, got a complex one");
    return make_new(call, inputs[0], number_of(&call->args[2]), outputs);
}
static dt_status decompose_new_ones(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    return make_new(call, inputs[0], dt_number_int(1), outputs);
}
static dt_status decompose_new_zeros(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    return make_new(call, inputs[0], dt_number_int(0), outputs);
}

const dt_op dt__op_equal = {
    .schema = "equal(Tensor self, Tensor other) -> Tensor",
    .summary = "Whether two tensors have one shape and equal elements, as one boolean.",
    .shape = shape_bool,
    .decompose = decompose_equal,
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "equal(f32[5,3]; f32[5,3])\nequal(f32[5]; f32[3])",
};
const dt_op dt__op_isclose = {
    .schema =
        "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    .summary = "Whether elements differ by at most atol + rtol times the magnitude of the other.",
    .shape = shape_isclose,
    .decompose = decompose_isclose,
    .arguments = "rtol,atol,equal_nan",
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "isclose(f32[5,3]; f32[3])\nisclose(i32[5]; i32[5]; 0.5)\nisclose(f32[5]; f32[5]; equal_nan=true)",
};
const dt_op dt__op_allclose = {
    .schema =
        "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    .summary = "Whether all elements differ by at most atol + rtol times the magnitude of the other.",
    .shape = shape_allclose,
    .decompose = decompose_allclose,
    .arguments = "rtol,atol,equal_nan",
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "allclose(f32[5,3]; f32[3])",
};
const dt_op dt__op_diag = {
    .schema = "diag(Tensor self, int diagonal=0) -> Tensor",
    .summary = "The matrix with a vector on a diagonal, or the diagonal of a matrix.",
    .shape = shape_diag,
    .decompose = decompose_diag,
    .samples = "diag(f32[5,3])\ndiag(f32[5]; 1)\ndiag(f32[5,3]; -2)",
};
const dt_op dt__op_trace = {
    .schema = "trace(Tensor self) -> Tensor",
    .summary = "Sum of the diagonal of a matrix.",
    .shape = shape_trace,
    .decompose = decompose_trace,
    .samples = "trace(f32[5,3])\ntrace(i32[3,3])",
};
const dt_op dt__op_glu = {
    .schema = "glu(Tensor input, int dim=-1) -> Tensor",
    .summary = "The first half of a dim times the sigmoid of the second.",
    .rule = "...[dim!] -> ...[dim]",
    .shape = shape_glu,
    .decompose = decompose_glu,
    .samples = "glu(f32[5,4])\nglu(f32[6,3]; 0)",
};
const dt_op dt__op_softmin = {
    .schema = "softmin(Tensor input, int? dim=None, ScalarType? dtype=None) -> Tensor",
    .summary = "softmax of the negated elements.",
    .rule = "...[dim!] -> ...[dim]",
    .shape = shape_softmin,
    .decompose = decompose_softmin,
    .samples = "softmin(f32[5,3]; 1)\nsoftmin(f32[5,3])",
};
const dt_op dt__op_diff = {
    .schema = "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    .summary = "Differences of neighbors along a dim, n times, with tensors before and after it.",
    .shape = shape_diff,
    .decompose = decompose_diff,
    .samples = "diff(f32[5,3])\ndiff(f32[6,3]; 2; 0)\ndiff(f32[5,3]; 1; 0; f32[1,3]; f32[2,3])\ndiff(i64[2]; 3)",
};
const dt_op dt__op_take_along_dim = {
    .schema = "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    .summary = "Picks an element along a dim for each index, with broadcasting; without a dim, of all elements.",
    .rule = "=...[dim:s!], ...[dim:i] -> ...[dim:i]",
    .shape = shape_take,
    .decompose = decompose_take,
    .samples = "take_along_dim(f32[5,3]; i64[5,2]; 1)\ntake_along_dim(f32[5,1]; i64[1,3]; 0)\n"
               "take_along_dim(f32[5,3]; i64[2])",
};
const dt_op dt__op_new_full = {
    .schema = "new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor",
    .summary = "A tensor filled with a number, of the dtype and on the mesh of another.",
    .shape = shape_new,
    .decompose = decompose_new_full,
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "new_full(f32[5,3]; [2,4]; 2.5)\nnew_full(f32[5,3]; [5,3]; 7; dtype=i64)",
};
const dt_op dt__op_new_ones = {
    .schema = "new_ones(Tensor self, int[] size, *, ScalarType? dtype=None) -> Tensor",
    .summary = "A tensor of ones, of the dtype and on the mesh of another.",
    .shape = shape_new,
    .decompose = decompose_new_ones,
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "new_ones(f32[5,3]; [2,4])",
};
const dt_op dt__op_new_zeros = {
    .schema = "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None) -> Tensor",
    .summary = "A tensor of zeros, of the dtype and on the mesh of another.",
    .shape = shape_new,
    .decompose = decompose_new_zeros,
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "new_zeros(f32[5,3]; [5,3])",
};
