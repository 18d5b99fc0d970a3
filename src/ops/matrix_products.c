/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of vectors and of several matrices, written with other ops: cross and inner products, powers, chains.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

static dt_status made(const dt_op_call *call, dt_tensor *result, dt_tensor **outputs) {
    outputs[0] = result;
    return result ? DT_OK : dt_error_status(call->ctx);
}

/* The dim of a cross product: the argument, or of `cross` without one the first of size 3. */
static dt_status read_cross_dim(const dt_op_call *call, int *out) {
    const dt_op_value *self = &call->inputs[0], *other = &call->inputs[1];
    const dt_arg *dim = dt__arg_at(call, 0);
    if (self->n_dims != other->n_dims)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected tensors of as many dims, got %d and %d", self->n_dims,
                            other->n_dims);
    *out = 0;
    if (dim->type == DT_ARG_INT)
        DT__TRY(dt__read_dim(call, dim->as.i, self->n_dims, out));
    while (dim->type != DT_ARG_INT && *out < self->n_dims && self->shape[*out] != 3)
        ++*out;
    if (*out >= self->n_dims || self->shape[*out] != 3 || other->shape[*out] != 3)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a dim of size 3 in both tensors");
    return DT_OK;
}

static dt_status shape_cross(dt_op_call *call) {
    int dim;
    DT__TRY(read_cross_dim(call, &dim));
    return dt__add_broadcast(call, dt__promote_call(call, 3, 2));
}

static void rows_cross(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1], *c = &call->outputs[0];
    int dim = -1;
    (void)read_cross_dim(call, &dim);
    for (int d = 0; d < c->n_dims; d++)
        if (d != dim)
            dt_rows_add(rows, 0,
                        (dt_row_entry[]){a->shape[d] == c->shape[d] ? DT_ROW_S(d) : 0,
                                         b->shape[d] == c->shape[d] ? DT_ROW_S(d) : 0, DT_ROW_S(d)});
    dt_rows_linear(rows, 1);
    dt_rows_linear(rows, 2);
}

static dt_status decompose_cross(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    int dim;
    DT__TRY(read_cross_dim(call, &dim));
#define ROLLED(x, by) dt_roll(x, DT_INTS(by), .dims = DT_DIMS(dim))
    dt_tensor *ahead = dt_mul(ROLLED(inputs[0], -1), ROLLED(inputs[1], -2));
    dt_tensor *back = dt_mul(ROLLED(inputs[0], -2), ROLLED(inputs[1], -1));
#undef ROLLED
    return made(call, dt_sub(ahead, back), outputs);
}

/* The sum of conj(x) y along a dim of the broadcast shape. */
static dt_status shape_vecdot(dt_op_call *call) {
    dt__shape shape;
    int dim;
    for (int i = 0; i < 2; i++)
        if (!dt__is_inexact(call->inputs[i].dtype))
            return dt_op_refuse(call, DT_ERR_DTYPE, "expected floating-point or complex tensors, got %s",
                                dt_dtype_name(call->inputs[i].dtype));
    DT__TRY(dt__broadcast(call, 3, &shape));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, 0)->as.i, shape.n, &dim));
    for (int d = dim; d + 1 < shape.n; d++)
        shape.sizes[d] = shape.sizes[d + 1];
    shape.n -= shape.n > 0;
    return dt__add_shape(call, dt__promote_call(call, 3, 2), &shape);
}

static dt_status decompose_vecdot(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_tensor *products = dt_mul(dt__conjugate(inputs[0]), inputs[1]);
    return made(call, dt_sum(products, .dim = DT_DIMS(dt__arg_at(call, 0)->as.i)), outputs);
}

static dt_status shape_power(dt_op_call *call) {
    DT__TRY(dt__expect_square(call, 0));
    return dt__add_like(call, 0, call->inputs[0].dtype);
}

/* By squaring; a negative power is that of the inverse. */
static dt_status decompose_power(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const int64_t n = dt__arg_at(call, 0)->as.i;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    dt_tensor *square = n < 0 ? dt_linalg_inv(inputs[0]) : inputs[0], *result = NULL;
    for (; left && square; left >>= 1) {
        if (left & 1)
            result = result ? dt_matmul(result, square) : square;
        if (left > 1)
            square = dt_matmul(square, square);
    }
    if (n == 0)
        result = dt_tril(dt_triu(dt_fill(inputs[0], 1))); /* which has gradients, zeros */
    return made(call, result == inputs[0] ? dt_clone(result) : result, outputs);
}

/* The sizes between the factors of a chain; the first and the last factor may be vectors. */
static dt_status read_chain(const dt_op_call *call, int64_t *sizes) {
    const int n = call->n_inputs;
    if (n < 2 || n > 64)
        return dt_op_refuse(call, DT_ERR_VALUE, "expected 2 to 64 tensors, got %d", n);
    for (int i = 0; i < n; i++) {
        const dt_op_value *x = &call->inputs[i];
        const bool at_end = i == 0 || i == n - 1;
        if (x->n_dims != 2 && !(at_end && x->n_dims == 1))
            return dt_op_refuse(call, DT_ERR_SHAPE, "tensor %d: expected a matrix%s, got %d dims", i + 1,
                                at_end ? " or a vector" : "", x->n_dims);
        const int64_t rows = x->n_dims == 2 || i ? x->shape[0] : 1;
        const int64_t columns = x->n_dims == 2 ? x->shape[1] : i ? 1 : x->shape[0];
        if (i && rows != sizes[i])
            return dt_op_refuse(call, DT_ERR_SHAPE, "tensor %d: expected %" PRId64 " rows, got %" PRId64, i + 1,
                                sizes[i], rows);
        sizes[i] = rows;
        sizes[i + 1] = columns;
    }
    return DT_OK;
}

static dt_status shape_multi_dot(dt_op_call *call) {
    int64_t sizes[65];
    dt__shape shape = {.n = 0};
    DT__TRY(read_chain(call, sizes));
    if (call->inputs[0].n_dims == 2)
        shape.sizes[shape.n++] = sizes[0];
    if (call->inputs[call->n_inputs - 1].n_dims == 2)
        shape.sizes[shape.n++] = sizes[call->n_inputs];
    return dt__add_shape(call, call->inputs[0].dtype, &shape);
}

/* Where to cut each part of the chain so that products take the fewest multiplications. */
typedef struct chain {
    dt_tensor *const *factors;
    unsigned char cuts[64][64];
} chain;

static void find_cuts(int n, const int64_t *sizes, chain *out) {
    double costs[64][64];
    for (int i = 0; i < n; i++)
        costs[i][i] = 0;
    for (int length = 2; length <= n; length++)
        for (int i = 0; i + length <= n; i++) {
            const int j = i + length - 1;
            for (int k = i; k < j; k++) {
                double cost =
                    costs[i][k] + costs[k + 1][j] + (double)sizes[i] * (double)sizes[k + 1] * (double)sizes[j + 1];
                if (k > i && cost >= costs[i][j])
                    continue;
                costs[i][j] = cost;
                out->cuts[i][j] = (unsigned char)k;
            }
        }
}

static dt_tensor *multiply(const chain *self, int i, int j) {
    const int cut = self->cuts[i][j];
    return i == j ? self->factors[i] : dt_matmul(multiply(self, i, cut), multiply(self, cut + 1, j));
}

static dt_status decompose_multi_dot(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    int64_t sizes[65];
    chain all = {.factors = inputs};
    DT__TRY(read_chain(call, sizes));
    find_cuts(call->n_inputs, sizes, &all);
    return made(call, multiply(&all, 0, call->n_inputs - 1), outputs);
}

/* Every element of the first tensor times the second; of tensors with fewer dims the sizes before are 1. */
static dt_status shape_kron(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    dt__shape shape = {.n = a->n_dims > b->n_dims ? a->n_dims : b->n_dims};
    if (2 * shape.n > DT_SPEC_MAX_DIMS)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "expected tensors of at most %d dims, got %d",
                            DT_SPEC_MAX_DIMS / 2, shape.n);
    for (int d = 1; d <= shape.n; d++)
        if (!dt__mul_i64(d <= a->n_dims ? a->shape[a->n_dims - d] : 1, d <= b->n_dims ? b->shape[b->n_dims - d] : 1,
                         &shape.sizes[shape.n - d]))
            return dt_op_refuse(call, DT_ERR_SHAPE, "the result has more than 2^63 - 1 elements");
    return dt__add_shape(call, dt__promote_call(call, 3, 2), &shape);
}

/* The product of [a₁,1,a₂,1,…] and [1,b₁,1,b₂,…], reshaped. */
static dt_status decompose_kron(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *out = &call->outputs[0];
    dt_tensor *parts[2];
    for (int i = 0; i < 2; i++) {
        const dt_op_value *x = &call->inputs[i];
        int64_t sizes[DT_SPEC_MAX_DIMS];
        for (int d = 0; d < 2 * out->n_dims; d++) {
            const int own = d / 2 - (out->n_dims - x->n_dims);
            sizes[d] = d % 2 == i && own >= 0 ? x->shape[own] : 1;
        }
        parts[i] = dt_reshape(inputs[i], ((dt_shape){2 * out->n_dims, sizes}));
    }
    return made(call, dt_reshape(dt_mul(parts[0], parts[1]), ((dt_shape){out->n_dims, out->shape})), outputs);
}

/* Powers of the elements of vectors, from 0 on. */
static int64_t n_powers(const dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0];
    const dt_arg *n = dt__arg_at(call, 0);
    return n->type == DT_ARG_INT ? n->as.i : x->shape[x->n_dims - 1];
}

static dt_status shape_vander(dt_op_call *call) {
    const dt_op_value *x = &call->inputs[0];
    dt__shape batch;
    if (x->n_dims < 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected a tensor of at least 1 dim, got none");
    if (x->dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected numbers, got bool");
    const int64_t n = n_powers(call);
    if (n <= 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "N: expected more than 1, got %" PRId64, n);
    dt__batch_of(x, 0, &batch);
    return dt__add_batch(call, dt__is_integer(x->dtype) ? DT_I64 : x->dtype, &batch, 1, &n);
}

static dt_status decompose_vander(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_op_value *out = &call->outputs[0];
    int64_t sizes[DT_SPEC_MAX_DIMS];
    memcpy(sizes, out->shape, (size_t)out->n_dims * sizeof *sizes);
    sizes[out->n_dims - 1]--;
    dt_tensor *x = call->inputs[0].dtype == out->dtype ? inputs[0] : dt_to(inputs[0], out->dtype);
    x = dt_unsqueeze(x, -1);
    dt_tensor *powers = dt_cumprod(dt_expand(x, ((dt_shape){out->n_dims, sizes})), -1);
    return made(call, dt_cat(DT_TENSORS(dt_ones_like(x), powers), .dim = DT_INT(-1)), outputs);
}

const dt_op dt__op_kron = {
    .schema = "kron(Tensor self, Tensor other) -> Tensor",
    .summary = "The Kronecker product: every element of the first tensor times the second.",
    .shape = shape_kron,
    .decompose = decompose_kron,
    .samples = "kron(f32[2,3]; f32[5,2])\nkron(f32[3]; f32[2,2])",
};
const dt_op dt__op_linalg_vander = {
    .schema = "linalg_vander(Tensor x, *, int? N=None) -> Tensor",
    .summary = "Vandermonde matrices: powers of the elements of vectors, from 0 on.",
    .arguments = "N",
    .shape = shape_vander,
    .decompose = decompose_vander,
    .samples = "linalg_vander(f32[2,3])\nlinalg_vander(f32[4]; N=3)",
};
const dt_op dt__op_linalg_cross = {
    .schema = "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    .summary = "Cross products of vectors of 3 elements along a dim.",
    .rows = rows_cross,
    .arguments = "dim",
    .shape = shape_cross,
    .decompose = decompose_cross,
    .samples = "linalg_cross(f32[5,3]; f32[5,3])\nlinalg_cross(f32[3,1]; f32[3,4]; dim=0)",
};
const dt_op dt__op_cross = {
    .schema = "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    .summary = "As linalg_cross, along the first dim of size 3 if none is given.",
    .rows = rows_cross,
    .arguments = "dim",
    .shape = shape_cross,
    .decompose = decompose_cross,
    .samples = "cross(f32[5,3]; f32[5,3])\ncross(f32[3,4]; f32[3,4]; 0)",
};
const dt_op dt__op_linalg_vecdot = {
    .schema = "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    .summary = "Inner products of vectors along a dim; the first is conjugated.",
    .arguments = "dim",
    .shape = shape_vecdot,
    .decompose = decompose_vecdot,
    .samples = "linalg_vecdot(f32[5,3]; f32[5,3])\nlinalg_vecdot(f32[5,3]; f32[5,1]; dim=0)",
};
const dt_op dt__op_linalg_matrix_power = {
    .schema = "linalg_matrix_power(Tensor self, int n) -> Tensor",
    .summary = "Powers of matrices; for negative exponents, those of the inverse.",
    .arguments = "n",
    .shape = shape_power,
    .decompose = decompose_power,
    .samples = "linalg_matrix_power(f32[2,3,3]; 3)\nlinalg_matrix_power(f32[3,3]; 2)\n"
               "linalg_matrix_power(f32[3,3]; 1)",
};
const dt_op dt__op_linalg_multi_dot = {
    .schema = "linalg_multi_dot(Tensor[] tensors) -> Tensor",
    .summary = "The product of several matrices, in the order that takes the fewest multiplications.",
    .shape = shape_multi_dot,
    .decompose = decompose_multi_dot,
    .samples = "linalg_multi_dot({f32[5,3]; f32[3,4]; f32[4,2]})\nlinalg_multi_dot({f32[3]; f32[3,4]; f32[4]})",
};
