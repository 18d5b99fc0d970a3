/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products: matmul, mm, bmm, outer, addmm and its relatives, linear. They are linear in each factor; a sharded
 * inner dim makes a partial sum, and then the bias is a partial sum, too.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>

enum { BETA, ALPHA }; /* of addmm */

/* The factors of a product have one dtype. */
static dt_status check_dtypes(const dt_op_call *call) {
    for (int i = 1; i < call->n_inputs; i++)
        if (call->inputs[i].dtype != call->inputs[0].dtype)
            return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with dt_to",
                                dt_dtype_name(call->inputs[0].dtype), dt_dtype_name(call->inputs[i].dtype));
    if (call->inputs[0].dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected numeric dtypes, got bool");
    return DT_OK;
}

static dt_status check_inner(const dt_op_call *call, int64_t a, int64_t b) {
    return a == b ? DT_OK
                  : dt_op_refuse(call, DT_ERR_SHAPE, "inner dimensions differ: %" PRId64 " and %" PRId64, a, b);
}

/* All dims but the last two are batch dims, which broadcast. */
static dt_status broadcast_batch(const dt_op_call *call, dt__shape *out) {
    dt_op_value batch[2] = {call->inputs[0], call->inputs[1]};
    dt_op_call as_batch = *call;
    for (int i = 0; i < 2; i++)
        batch[i].n_dims = batch[i].n_dims > 2 ? batch[i].n_dims - 2 : 0;
    as_batch.inputs = batch;
    if (dt__broadcast(&as_batch, 3, out) == DT_OK)
        return DT_OK;
    return dt_error_status(call->ctx);
}

static dt_status shape_matmul(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[0], *b = &call->inputs[1];
    dt__shape shape;
    DT__TRY(check_dtypes(call));
    if (a->n_dims == 0 || b->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE,
                            "expected tensors with at least one dim; use dt_mul for tensors without dims");
    DT__TRY(check_inner(call, a->shape[a->n_dims - 1], b->shape[b->n_dims > 1 ? b->n_dims - 2 : 0]));
    DT__TRY(broadcast_batch(call, &shape));
    if (a->n_dims > 1)
        shape.sizes[shape.n++] = a->shape[a->n_dims - 2];
    if (b->n_dims > 1)
        shape.sizes[shape.n++] = b->shape[b->n_dims - 1];
    return dt__add_shape(call, a->dtype, &shape);
}

static dt_status shape_mm(dt_op_call *call) {
    DT__TRY(dt__expect_dims(call, 0, 2));
    DT__TRY(dt__expect_dims(call, 1, 2));
    return shape_matmul(call);
}

static dt_status shape_bmm(dt_op_call *call) {
    DT__TRY(dt__expect_dims(call, 0, 3));
    DT__TRY(dt__expect_dims(call, 1, 3));
    if (call->inputs[0].shape[0] != call->inputs[1].shape[0])
        return dt_op_refuse(call, DT_ERR_SHAPE, "batch sizes differ: %" PRId64 " and %" PRId64,
                            call->inputs[0].shape[0], call->inputs[1].shape[0]);
    return shape_matmul(call);
}

static dt_status shape_dot(dt_op_call *call) {
    DT__TRY(dt__expect_dims(call, 0, 1));
    DT__TRY(dt__expect_dims(call, 1, 1));
    return shape_matmul(call);
}

static dt_status shape_mv(dt_op_call *call) {
    DT__TRY(dt__expect_dims(call, 0, 2));
    DT__TRY(dt__expect_dims(call, 1, 1));
    return shape_matmul(call);
}

static dt_status check_addend(const dt_op_call *call, const dt_op_value *addend, const dt__shape *shape) {
    bool fits = addend->n_dims <= shape->n;
    for (int d = 0; d < addend->n_dims && fits; d++) {
        int64_t size = addend->shape[d];
        fits = size == 1 || size == shape->sizes[shape->n - addend->n_dims + d];
    }
    return fits ? DT_OK : dt_op_refuse(call, DT_ERR_SHAPE, "the added tensor does not broadcast to the product");
}

/* Integers are scaled by integers only, real numbers by real ones. */
static dt_status check_factor(const dt_op_call *call, const char *name, const dt_arg *factor) {
    dt_dtype dtype = call->inputs[1].dtype;
    if (factor->type == DT_ARG_FLOAT && dt__is_integral(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE,
                            "%s: expected an integer, as the tensors are, got a floating-point number", name);
    if (factor->type == DT_ARG_COMPLEX && !dt__is_complex(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "%s: expected a real number, as the tensors are, got a complex one",
                            name);
    return DT_OK;
}

static dt_status shape_addmm(dt_op_call *call) {
    const dt_op_value *a = &call->inputs[1], *b = &call->inputs[2];
    DT__TRY(dt__expect_dims(call, 1, 2));
    DT__TRY(dt__expect_dims(call, 2, 2));
    DT__TRY(check_dtypes(call));
    DT__TRY(check_factor(call, "beta", dt__arg_at(call, BETA)));
    DT__TRY(check_factor(call, "alpha", dt__arg_at(call, ALPHA)));
    DT__TRY(check_inner(call, a->shape[1], b->shape[0]));
    dt__shape shape = {2, {a->shape[0], b->shape[1]}};
    DT__TRY(check_addend(call, &call->inputs[0], &shape));
    return dt__add_shape(call, a->dtype, &shape);
}

/* The product that is added: its sizes, and those of the tensors. */
static dt_status add_scaled(dt_op_call *call, const dt__shape *shape) {
    DT__TRY(check_dtypes(call));
    DT__TRY(check_factor(call, "beta", dt__arg_at(call, BETA)));
    DT__TRY(check_factor(call, "alpha", dt__arg_at(call, ALPHA)));
    DT__TRY(check_addend(call, &call->inputs[0], shape));
    return dt__add_shape(call, call->inputs[1].dtype, shape);
}

static dt_status check_batches(const dt_op_call *call) {
    const dt_op_value *a = &call->inputs[1], *b = &call->inputs[2];
    DT__TRY(dt__expect_dims(call, 1, 3));
    DT__TRY(dt__expect_dims(call, 2, 3));
    if (a->shape[0] != b->shape[0])
        return dt_op_refuse(call, DT_ERR_SHAPE, "batch sizes differ: %" PRId64 " and %" PRId64, a->shape[0],
                            b->shape[0]);
    return check_inner(call, a->shape[2], b->shape[1]);
}

static dt_status shape_baddbmm(dt_op_call *call) {
    DT__TRY(check_batches(call));
    const int64_t *a = call->inputs[1].shape, *b = call->inputs[2].shape;
    return add_scaled(call, &(dt__shape){3, {a[0], a[1], b[2]}});
}

static dt_status shape_addbmm(dt_op_call *call) {
    DT__TRY(check_batches(call));
    return add_scaled(call, &(dt__shape){2, {call->inputs[1].shape[1], call->inputs[2].shape[2]}});
}

static dt_status shape_addmv(dt_op_call *call) {
    DT__TRY(dt__expect_dims(call, 1, 2));
    DT__TRY(dt__expect_dims(call, 2, 1));
    DT__TRY(check_inner(call, call->inputs[1].shape[1], call->inputs[2].shape[0]));
    return add_scaled(call, &(dt__shape){1, {call->inputs[1].shape[0]}});
}

static dt_status shape_addr(dt_op_call *call) {
    DT__TRY(dt__expect_dims(call, 1, 1));
    DT__TRY(dt__expect_dims(call, 2, 1));
    return add_scaled(call, &(dt__shape){2, {call->inputs[1].shape[0], call->inputs[2].shape[0]}});
}

static dt_status shape_outer(dt_op_call *call) {
    DT__TRY(dt__expect_dims(call, 0, 1));
    DT__TRY(dt__expect_dims(call, 1, 1));
    return dt_op_add_output(call, dt__promote_call(call, 3, 2), 2,
                            (int64_t[]){call->inputs[0].shape[0], call->inputs[1].shape[0]});
}

/* Products of integers wrap around before they become floating point. */
static unsigned partial_outer(const dt_op_call *call) {
    bool floating = dt__is_inexact(call->inputs[0].dtype) && dt__is_inexact(call->inputs[1].dtype);
    return DT_PARTIAL_EACH | (floating ? DT_PARTIAL_PRODUCT : DT_PARTIAL_NONE);
}

static int64_t class_addmm(const dt_op_call *call) { return dt__arg_sign(dt__arg_at(call, BETA)); }
static unsigned partial_addmm(const dt_op_call *call) {
    int64_t sign = dt__is_inexact(call->outputs[0].dtype) ? class_addmm(call) : 0; /* integers wrap around */
    return DT_PARTIAL_EACH | (sign > 0 ? DT_PARTIAL_UP : sign < 0 ? DT_PARTIAL_DOWN : DT_PARTIAL_NONE);
}

static dt_status shape_linear(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0], *weight = &call->inputs[1];
    dt__shape shape = {.n = input->n_dims};
    DT__TRY(check_dtypes(call));
    if (input->n_dims == 0)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the input: expected at least one dim, got none");
    DT__TRY(dt__expect_dims(call, 1, 2));
    DT__TRY(check_inner(call, input->shape[input->n_dims - 1], weight->shape[1]));
    for (int d = 0; d + 1 < input->n_dims; d++)
        shape.sizes[d] = input->shape[d];
    shape.sizes[shape.n - 1] = weight->shape[0];
    if (call->n_inputs == 3)
        DT__TRY(check_addend(call, &call->inputs[2], &shape));
    return dt__add_shape(call, input->dtype, &shape);
}

static unsigned partial_linear(const dt_op_call *call) {
    bool ordered = call->n_inputs == 3 && dt__is_inexact(call->outputs[0].dtype); /* integers wrap around */
    return DT_PARTIAL_EACH | (ordered ? DT_PARTIAL_UP : DT_PARTIAL_NONE);
}

/* An array as a matrix, with leading dims; a vector becomes one row or one column. */
struct matrix {
    int64_t shape[DT_SPEC_MAX_DIMS + 1], strides[DT_SPEC_MAX_DIMS + 1];
    dt__array array;
};

static void as_matrix(const dt_op_value *value, bool as_column, struct matrix *out) {
    int n = 0;
    if (value->n_dims == 1 && !as_column) {
        out->shape[n] = 1;
        out->strides[n++] = 0;
    }
    for (int d = 0; d < value->n_dims; d++) {
        out->shape[n] = value->shape[d];
        out->strides[n++] = value->strides[d];
    }
    if (value->n_dims == 1 && as_column) {
        out->shape[n] = 1;
        out->strides[n++] = 0;
    }
    out->array = (dt__array){value->data, value->dtype, n, out->shape, out->strides};
}

/* The result of a product with vectors, with the dims of size 1 that it lacks. */
static void as_product(const dt_op_value *value, bool add_row, bool add_column, struct matrix *out) {
    int n = value->n_dims + add_row + add_column, from = 0;
    for (int d = 0; d < n; d++) {
        bool added = (add_row && d == n - 2) || (add_column && d == n - 1);
        out->shape[d] = added ? 1 : value->shape[from];
        out->strides[d] = added ? 1 : value->strides[from];
        from += !added;
    }
    out->array = (dt__array){value->data, value->dtype, n, out->shape, out->strides};
}

static dt__number number(dt_dtype dtype, double value) {
    return dt__number_of(&(dt_arg){.type = DT_ARG_FLOAT, .as.f = value}, dtype);
}

static dt_status run_product(const dt_op_call *call, const dt__matmul *product) {
    dt__products *products = dt__products_of(call->ctx);
    if (!products)
        return dt_error_status(call->ctx);
    return dt__matmul_run(products, product) ? DT_OK : dt__fail_memory(call->ctx, 0, call->name);
}

static dt_status matmul(dt_op_call *call) {
    const dt_op_value *left = &call->inputs[0], *right = &call->inputs[1];
    struct matrix a, b, out;
    dt_dtype dtype = left->dtype;
    as_matrix(left, false, &a);
    as_matrix(right, true, &b);
    as_product(&call->outputs[0], left->n_dims == 1, right->n_dims == 1, &out);
    return run_product(call, &(dt__matmul){&a.array, &b.array, &out.array, number(dtype, 1), number(dtype, 0), NULL});
}

/* out = beta self + alpha a b, which are matrices; self is not read where beta is 0. */
static dt_status run_scaled(const dt_op_call *call, const dt__array *a, const dt__array *b, const dt__array *out) {
    dt__array result = dt__array_of(&call->outputs[0]), self = dt__array_of(&call->inputs[0]);
    dt__number alpha = dt__number_of(dt__arg_at(call, ALPHA), out->dtype);
    dt__number beta = dt__number_of(dt__arg_at(call, BETA), out->dtype);
    if (dt__arg_sign(dt__arg_at(call, BETA)) || dt__arg_at(call, BETA)->type == DT_ARG_COMPLEX)
        dt__run_convert(call, &result, &self);
    return run_product(call, &(dt__matmul){a, b, out, alpha, beta, NULL});
}

static dt_status addmm(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__array a = dt__array_of(&call->inputs[1]), b = dt__array_of(&call->inputs[2]);
    return run_scaled(call, &a, &b, &out);
}

/* The sum of the products of a batch: each is added to those before. */
static dt_status addbmm(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__array a = dt__array_of(&call->inputs[1]), b = dt__array_of(&call->inputs[2]);
    int64_t n = a.shape[0], none_a[2] = {a.shape[1], 0}, none_b[2] = {0, b.shape[2]};
    dt__array first = {a.data, a.dtype, 2, n ? a.shape + 1 : none_a, a.strides + 1};
    dt__array second = {b.data, b.dtype, 2, n ? b.shape + 1 : none_b, b.strides + 1};
    DT__TRY(run_scaled(call, &first, &second, &out));
    for (int64_t i = 1; i < n; i++) {
        int64_t size = (int64_t)dt_dtype_size(a.dtype);
        first.data = (unsigned char *)a.data + i * a.strides[0] * size;
        second.data = (unsigned char *)b.data + i * b.strides[0] * size;
        DT__TRY(
            run_product(call, &(dt__matmul){&first, &second, &out, dt__number_of(dt__arg_at(call, ALPHA), out.dtype),
                                            number(out.dtype, 1), NULL}));
    }
    return DT_OK;
}

static dt_status addmv(dt_op_call *call) {
    struct matrix a, b, out;
    as_matrix(&call->inputs[1], false, &a);
    as_matrix(&call->inputs[2], true, &b);
    as_product(&call->outputs[0], false, true, &out);
    return run_scaled(call, &a.array, &b.array, &out.array);
}

static dt_status addr(dt_op_call *call) {
    struct matrix a, b;
    dt__array out = dt__array_of(&call->outputs[0]);
    as_matrix(&call->inputs[1], true, &a);
    as_matrix(&call->inputs[2], false, &b);
    return run_scaled(call, &a.array, &b.array, &out);
}

static dt_status outer(dt_op_call *call) {
    struct matrix a, b;
    dt__array out = dt__array_of(&call->outputs[0]);
    as_matrix(&call->inputs[0], true, &a);
    as_matrix(&call->inputs[1], false, &b);
    return dt__run_elements(call, DT__EL_MUL, out.dtype, &out, &a.array, &b.array, NULL);
}

/* The first vector is conjugated. */
static dt_status vdot(dt_op_call *call) {
    dt__array first = dt__array_of(&call->inputs[0]);
    dt__scratch conjugated;
    if (!dt__is_complex(first.dtype))
        return matmul(call);
    DT__TRY(dt__scratch_new(call, first.dtype, 1, first.shape, &conjugated));
    dt_status status = dt__run_conjugate(call, &conjugated.array, &first);
    if (status == DT_OK) {
        dt_op_value inputs[2] = {call->inputs[0], call->inputs[1]};
        dt_op_call product = *call;
        inputs[0].data = conjugated.array.data;
        inputs[0].strides = conjugated.array.strides;
        product.inputs = inputs;
        status = matmul(&product);
    }
    dt__scratch_free(call, &conjugated);
    return status;
}

/* input [..,k] times the transpose of weight [n,k], plus bias [n]. */
static dt_status linear(dt_op_call *call) {
    const dt_op_value *weight = &call->inputs[1];
    struct matrix a, out;
    as_matrix(&call->inputs[0], false, &a);
    as_product(&call->outputs[0], call->inputs[0].n_dims == 1, false, &out);
    int64_t shape[2] = {weight->shape[1], weight->shape[0]}, strides[2] = {weight->strides[1], weight->strides[0]};
    dt__array b = {weight->data, weight->dtype, 2, shape, strides};
    dt_dtype dtype = weight->dtype;
    dt__matmul product = {&a.array, &b, &out.array, number(dtype, 1), number(dtype, 0), NULL};
    if (call->n_inputs == 3) {
        const dt_op_value *bias = &call->inputs[2];
        bool dense = bias->n_dims == 1 && bias->shape[0] == weight->shape[0] && bias->strides[0] == 1;
        if (dense)
            product.bias = bias->data;
        else {
            dt__array values = dt__array_of(bias);
            dt__run_convert(call, &out.array, &values);
            product.beta = number(dtype, 1);
        }
    }
    return run_product(call, &product);
}

static dt_status shape_linear_weight_backward(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0], *input = &call->inputs[1];
    DT__TRY(check_dtypes(call));
    bool same = grad->n_dims > 0 && grad->n_dims == input->n_dims;
    for (int d = 0; same && d + 1 < grad->n_dims; d++)
        same = grad->shape[d] == input->shape[d];
    if (!same)
        return dt_op_refuse(call, DT_ERR_SHAPE, "expected tensors that differ in their last dim only");
    int64_t shape[2] = {grad->shape[grad->n_dims - 1], input->shape[input->n_dims - 1]};
    return dt_op_add_output(call, grad->dtype, 2, shape);
}

/* Products of factors are factors of products where there is one row to sum. */
static unsigned partial_linear_weight_backward(const dt_op_call *call) {
    int64_t n_rows = 1;
    for (int d = 0; d + 1 < call->inputs[0].n_dims; d++)
        n_rows *= call->inputs[0].shape[d];
    return DT_PARTIAL_EACH | (n_rows == 1 ? DT_PARTIAL_PRODUCT : DT_PARTIAL_NONE);
}

/* Rows in two tensors of the same leading dims: the inner dims whose rows are equally far apart in both are merged, and
 * the outer ones are left. */
struct rows {
    int64_t n, strides[2];
    int n_outer;
};

static struct rows merge_rows(const dt_op_value *a, const dt_op_value *b) {
    struct rows rows = {.n = 1, .n_outer = a->n_dims - 1};
    while (rows.n_outer > 0) {
        int d = rows.n_outer - 1;
        bool first = rows.n == 1,
             fits = first || (a->strides[d] == rows.n * rows.strides[0] && b->strides[d] == rows.n * rows.strides[1]);
        if (a->shape[d] != 1 && !fits)
            break;
        if (a->shape[d] != 1 && first) {
            rows.strides[0] = a->strides[d];
            rows.strides[1] = b->strides[d];
        }
        rows.n *= a->shape[d];
        rows.n_outer = d;
    }
    return rows;
}

/* The next index over the outer dims; false after the last one. */
static bool next_index(const dt_op_value *value, int n_dims, int64_t *index) {
    for (int d = n_dims; d-- > 0; index[d] = 0)
        if (++index[d] < value->shape[d])
            return true;
    return false;
}

static void *data_at(const dt_op_value *value, int n_dims, const int64_t *index) {
    int64_t at = 0;
    for (int d = 0; d < n_dims; d++)
        at += index[d] * value->strides[d];
    return (unsigned char *)value->data + at * (int64_t)dt_dtype_size(value->dtype);
}

/* The sum of the outer products of all rows of grad [..,n] and input [..,k]: one product where they are equally far
 * apart, else the sum of several. */
static dt_status linear_weight_backward(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0], *input = &call->inputs[1], *result = &call->outputs[0];
    struct rows rows = merge_rows(grad, input);
    int last = grad->n_dims - 1;
    for (int d = 0; d < rows.n_outer; d++)
        rows.n = grad->shape[d] ? rows.n : 0; /* then one product of no rows writes zeros */
    int64_t left_shape[2] = {result->shape[0], rows.n}, left_strides[2] = {grad->strides[last], rows.strides[0]};
    int64_t right_shape[2] = {rows.n, result->shape[1]}, right_strides[2] = {rows.strides[1], input->strides[last]};
    int64_t index[DT_SPEC_MAX_DIMS] = {0};
    dt__array out = dt__array_of(result);
    dt__number one = number(out.dtype, 1), beta = number(out.dtype, 0);
    do {
        dt__array left = {data_at(grad, rows.n_outer, index), grad->dtype, 2, left_shape, left_strides};
        dt__array right = {data_at(input, rows.n_outer, index), input->dtype, 2, right_shape, right_strides};
        DT__TRY(run_product(call, &(dt__matmul){&left, &right, &out, one, beta, NULL}));
        beta = one;
    } while (rows.n > 0 && next_index(grad, rows.n_outer, index));
    return DT_OK;
}

/* A vector on the left is a matrix of one row, one on the right a matrix of one column; the result lacks that dim. */
static dt_tensor *with_dim(dt_tensor *tensor, int at) {
    int64_t sizes[DT_SPEC_MAX_DIMS + 1];
    int n = 0;
    for (int d = 0; tensor && d <= tensor->n_dims; d++) {
        if (d == at)
            sizes[n++] = 1;
        if (d < tensor->n_dims)
            sizes[n++] = tensor->shape[d];
    }
    dt_shape shape = {n, sizes};
    return tensor ? dt_reshape(tensor, shape) : NULL;
}

/* The gradient of the second matrix [.., k, n]: where it has no other dims, those of the first are rows of one product,
 * instead of products whose sum it is. */
static dt_tensor *grad_of_second(dt_tensor *self, dt_tensor *grad, int n_dims) {
    if (n_dims == 2)
        return dt_linear_weight_backward(dt__conjugate(self), grad);
    return dt_matmul(dt__conjugate(dt_transpose(self, -2, -1)), grad);
}

/* Without the dim that a vector got, which has size 1. */
static dt_tensor *sum_to_vector(dt_tensor *grad, int dim) { return grad ? dt_select(grad, dim, 0) : NULL; }

static dt_status matmul_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *values = call->call->inputs;
    bool row = values[0].n_dims == 1, column = values[1].n_dims == 1;
    dt_tensor *self = call->inputs[0], *other = call->inputs[1], *grad = call->grads[0];
    if (row) {
        grad = with_dim(grad, column ? 0 : call->call->outputs[0].n_dims - 1);
        self = self ? with_dim(self, 0) : NULL;
    }
    if (column) {
        grad = with_dim(grad, grad ? grad->n_dims : 0);
        other = other ? with_dim(other, 1) : NULL;
    }
    if (call->needed[0]) {
        dt_tensor *result = grad && other ? dt_matmul(grad, dt__conjugate(dt_transpose(other, -2, -1))) : NULL;
        input_grads[0] = row ? sum_to_vector(result, -2) : result;
    }
    if (call->needed[1]) {
        dt_tensor *result = grad && self ? grad_of_second(self, grad, column ? 2 : values[1].n_dims) : NULL;
        input_grads[1] = column ? sum_to_vector(result, -1) : result;
    }
    bool failed = (call->needed[0] && !input_grads[0]) || (call->needed[1] && !input_grads[1]);
    return failed ? dt_error_status(call->call->ctx) : DT_OK;
}

const dt_op dt__op_matmul = {
    .schema = "matmul(Tensor self, Tensor other) -> Tensor",
    .summary = "Matrix product of vectors, matrices or batches of matrices, with broadcasting.",
    .rule = "...m?k, ...kn? -> ...m?n?",
    .partial = DT_PARTIAL_EACH,
    .shape = shape_matmul,
    .kernel = matmul,
    .saves = "self,other",
    .backward = matmul_backward,
    .samples = "matmul(f32[5,3]; f32[3,4])\nmatmul(f32[2,5,3]; f32[3,4])\nmatmul(f32[2,1,5,3]; f32[4,3,2])\n"
               "matmul(f32[3]; f32[3])\nmatmul(f32[5,3]; f32[3])\nmatmul(f32[3]; f32[3,4])",
};
const dt_op dt__op_mm = {
    .schema = "mm(Tensor self, Tensor mat2) -> Tensor",
    .summary = "Product of two matrices.",
    .rule = "mk,kn->mn",
    .partial = DT_PARTIAL_EACH,
    .shape = shape_mm,
    .kernel = matmul,
    .gradient = "self: mm(grad, conjugate(transpose(mat2, 0, 1))); mat2: mm(conjugate(transpose(self, 0, 1)), grad)",
    .samples = "mm(f32[5,3]; f32[3,4])\nmm(f32[5,0]; f32[0,4])",
};
const dt_op dt__op_dot = {
    .schema = "dot(Tensor self, Tensor tensor) -> Tensor",
    .summary = "Product of two vectors.",
    .rule = "...m?k, ...kn? -> ...m?n?",
    .partial = DT_PARTIAL_EACH,
    .shape = shape_dot,
    .kernel = matmul,
    .gradient = "self: grad * conjugate(tensor); tensor: grad * conjugate(self)",
    .samples = "dot(f32[5]; f32[5])",
};
const dt_op dt__op_mv = {
    .schema = "mv(Tensor self, Tensor vec) -> Tensor",
    .summary = "Product of a matrix and a vector.",
    .rule = "...m?k, ...kn? -> ...m?n?",
    .partial = DT_PARTIAL_EACH,
    .shape = shape_mv,
    .kernel = matmul,
    .gradient = "self: unsqueeze(grad, 1) * conjugate(vec); vec: mv(conjugate(transpose(self, 0, 1)), grad)",
    .samples = "mv(f32[5,3]; f32[3])",
};
const dt_op dt__op_bmm = {
    .schema = "bmm(Tensor self, Tensor mat2) -> Tensor",
    .summary = "Products of two batches of matrices.",
    .rule = "bmk,bkn->bmn",
    .partial = DT_PARTIAL_EACH,
    .shape = shape_bmm,
    .kernel = matmul,
    .gradient =
        "self: bmm(grad, conjugate(transpose(mat2, 1, 2))); mat2: bmm(conjugate(transpose(self, 1, 2)), grad)",
    .samples = "bmm(f32[2,5,3]; f32[2,3,4])",
};
const dt_op dt__op_addmm = {
    .schema = "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    .summary = "beta times a tensor plus alpha times the product of two matrices.",
    .rule = "+...,mk,kn->mn",
    .partial_of = partial_addmm,
    .varying = "beta,alpha",
    .class_of = class_addmm,
    .arguments = "beta,alpha",
    .shape = shape_addmm,
    .kernel = addmm,
    .gradient = "self: grad * conjugate(beta); "
                "mat1: mm(grad, conjugate(transpose(mat2, 0, 1))) * conjugate(alpha); "
                "mat2: mm(conjugate(transpose(mat1, 0, 1)), grad) * conjugate(alpha)",
    .samples = "addmm(f32[5,4]; f32[5,3]; f32[3,4])\naddmm(f32[4]; f32[5,3]; f32[3,4]; beta=-0.5; alpha=2)\n"
               "addmm(f32[4]; f32[5,3]; f32[3,4]; beta=0)\n"
               "addmm(f32[5,1]; f32[5,3]; f32[3,4]; alpha=0)",
};
const dt_op dt__op_addmm_ = {
    .in_place_of = &dt__op_addmm,
    .samples = "addmm_(f32[5,4]; f32[5,3]; f32[3,4])\naddmm_(f32[5,4]; f32[5,3]; f32[3,4]; beta=-0.5)",
};

/* name(Tensor self, two factors, *, Scalar beta=1, Scalar alpha=1) -> Tensor */
#define SCALED(name, factors)                                                                                        \
    .schema = name "(Tensor self, " factors ", *, Scalar beta=1, Scalar alpha=1) -> Tensor",                         \
    .partial_of = partial_addmm, .varying = "beta,alpha", .class_of = class_addmm, .arguments = "beta,alpha"

const dt_op dt__op_addbmm = {
    SCALED("addbmm", "Tensor batch1, Tensor batch2"),
    .summary = "beta times a tensor plus alpha times the sum of the products of two batches of matrices.",
    .rule = "+...,bmk,bkn->mn",
    .shape = shape_addbmm,
    .kernel = addbmm,
    .gradient = "self: grad * conjugate(beta); "
                "batch1: matmul(grad, conjugate(transpose(batch2, 1, 2))) * conjugate(alpha); "
                "batch2: matmul(conjugate(transpose(batch1, 1, 2)), grad) * conjugate(alpha)",
    .samples = "addbmm(f32[5,4]; f32[2,5,3]; f32[2,3,4]; beta=-0.5; alpha=2)",
};
const dt_op dt__op_addbmm_ = {.in_place_of = &dt__op_addbmm};
const dt_op dt__op_addmv = {
    SCALED("addmv", "Tensor mat, Tensor vec"),
    .summary = "beta times a tensor plus alpha times the product of a matrix and a vector.",
    .rule = "+...,mk,k->m",
    .shape = shape_addmv,
    .kernel = addmv,
    .gradient = "self: grad * conjugate(beta); mat: outer(grad, conjugate(vec)) * conjugate(alpha); "
                "vec: mv(conjugate(transpose(mat, 0, 1)), grad) * conjugate(alpha)",
    .samples = "addmv(f32[5]; f32[5,3]; f32[3])\naddmv(f32[]; f32[5,3]; f32[3]; alpha=2)",
};
const dt_op dt__op_addmv_ = {.in_place_of = &dt__op_addmv, .samples = "addmv_(f32[5]; f32[5,3]; f32[3])"};
const dt_op dt__op_addr = {
    SCALED("addr", "Tensor vec1, Tensor vec2"),
    .summary = "beta times a tensor plus alpha times the outer product of two vectors.",
    .rule = "+...,m,n->mn",
    .shape = shape_addr,
    .kernel = addr,
    .gradient = "self: grad * conjugate(beta); vec1: mv(grad, conjugate(vec2)) * conjugate(alpha); "
                "vec2: mv(transpose(grad, 0, 1), conjugate(vec1)) * conjugate(alpha)",
    .samples = "addr(f32[5,4]; f32[5]; f32[4])\naddr(f32[4]; f32[5]; f32[4]; beta=-0.5)",
};
const dt_op dt__op_addr_ = {.in_place_of = &dt__op_addr, .samples = "addr_(f32[5,4]; f32[5]; f32[4])"};
const dt_op dt__op_baddbmm = {
    SCALED("baddbmm", "Tensor batch1, Tensor batch2"),
    .summary = "beta times a tensor plus alpha times the products of two batches of matrices.",
    .rule = "+...,bmk,bkn->bmn",
    .shape = shape_baddbmm,
    .kernel = addmm,
    .gradient = "self: grad * conjugate(beta); "
                "batch1: bmm(grad, conjugate(transpose(batch2, 1, 2))) * conjugate(alpha); "
                "batch2: bmm(conjugate(transpose(batch1, 1, 2)), grad) * conjugate(alpha)",
    .samples = "baddbmm(f32[2,5,4]; f32[2,5,3]; f32[2,3,4])\n"
               "baddbmm(f32[4]; f32[2,5,3]; f32[2,3,4]; beta=-0.5; alpha=2)",
};
const dt_op dt__op_baddbmm_ = {.in_place_of = &dt__op_baddbmm,
                               .samples = "baddbmm_(f32[2,5,4]; f32[2,5,3]; f32[2,3,4])"};
const dt_op dt__op_outer = {
    .schema = "outer(Tensor self, Tensor vec2) -> Tensor",
    .summary = "Products of each element of a vector with each of another.",
    .rule = "m,n->mn",
    .partial_of = partial_outer,
    .shape = shape_outer,
    .kernel = outer,
    .gradient = "self: mv(grad, to(conjugate(vec2), result.dtype)); "
                "vec2: mv(transpose(grad, 0, 1), to(conjugate(self), result.dtype))",
    .samples = "outer(f32[5]; f32[3])\nouter(i32[5]; f32[3])",
};
const dt_op dt__op_vdot = {
    .schema = "vdot(Tensor self, Tensor other) -> Tensor",
    .summary = "Product of two vectors; the first is conjugated.",
    .rule = "k,k->",
    .partial = DT_PARTIAL_EACH,
    .shape = shape_dot,
    .kernel = vdot,
    .gradient = "self: conjugate(grad) * other; other: grad * self",
    .samples = "vdot(f32[5]; f32[5])\nvdot(c64[5]; c64[5])",
};
const dt_op dt__op_linear = {
    .schema = "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    .summary = "Product with a transposed weight matrix, plus a bias.",
    .rule = "...k, nk, +n -> ...n",
    .partial_of = partial_linear,
    .shape = shape_linear,
    .kernel = linear,
    .gradient = "input: matmul(grad, conjugate(weight)); "
                "weight: linear_weight_backward(grad, conjugate(input)); "
                "bias: grad",
    .samples = "linear(f32[5,3]; f32[4,3]; f32[4])\nlinear(f32[2,5,3]; f32[4,3])\nlinear(f32[3]; f32[4,3]; f32[4])",
};
/* Leading dims are summed without being merged into one, which would have no placement for uneven shards of several. */
const dt_op dt__op_linear_weight_backward = {
    .schema = "linear_weight_backward(Tensor grad_output, Tensor input) -> Tensor",
    .summary = "Sum of the outer products of the rows of two tensors: the gradient of a linear layer's weights.",
    .rule = "...n, ...k -> nk",
    .partial_of = partial_linear_weight_backward,
    .shape = shape_linear_weight_backward,
    .kernel = linear_weight_backward,
    .gradient = "grad_output: linear(conjugate(input), grad); input: matmul(conjugate(grad_output), grad)",
    .samples = "linear_weight_backward(f32[5,4]; f32[5,3])\nlinear_weight_backward(f32[2,5,4]; f32[2,5,3])\n"
               "linear_weight_backward(f32[4]; f32[3])",
};
