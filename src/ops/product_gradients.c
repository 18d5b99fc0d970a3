/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of prod and cumprod, in which zeros and infinities are elements like others.
 *
 * That of prod is the product of all other elements, an op of its own: the product of all, divided by each element.
 * Where some are zeros, infinite or NaN, these are counted instead of multiplied, and an element leaves the counts that
 * it belongs to; so ranks that hold shards of a row merge a product and counts. With B[k] and A[k] the products of what
 * is before and after k, the gradient of the products B A for h is
 *
 *     F A + B R,   F[k] = h[k-1] B[k-1] + x[k-1] F[k-1],   R[k] = h[k+1] A[k+1] + x[k+1] R[k+1]
 *
 * That of cumprod is B[k] s[k] with s[k] = grad[k] + x[k+1] s[k+1].
 */
#include "ops/product_gradients.h"

#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <math.h>

enum { DIM }; /* in .arguments */

/* The fields of a state: the product of the elements that are not counted, and the counts; of complex numbers, which
 * may be infinite in many ways, only zeros are. */
enum { PRODUCT, ZEROS, INFINITE, NANS };

static bool is_complex(const dt_op_call *call) { return dt__is_complex(call->inputs[0].dtype); }
static uint32_t row_dims(const dt_op_call *call) {
    return dt__wrap_dims(dt__arg_at(call, DIM), call->inputs[0].n_dims);
}

static dt_status shape_others(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    uint32_t ignored;
    if (!dt__is_inexact(self->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected floating point, got %s", dt_dtype_name(self->dtype));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DIM), self->n_dims, &ignored));
    return dt__add_like(call, 0, self->dtype);
}

static void describe(const dt_op_call *call, dt_state *state) {
    int64_t n = dt__n_remaining(&call->inputs[0], row_dims(call));
    state->n_fields = is_complex(call) ? ZEROS + 1 : NANS + 1;
    for (int f = 0; f < state->n_fields; f++)
        state->fields[f] = (dt_state_field){.dtype = DT_F64, .n = n, .identity = f == PRODUCT};
    if (is_complex(call))
        state->fields[PRODUCT].dtype = DT_C128;
}

/* The elements as dense rows of f64 or c128, and where they are in the tensor. */
typedef struct rows {
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt__scratch wide;
    int64_t size; /* of a row */
} rows;

/* A tensor with the dims of a row after all others. */
static dt__array turned(const dt_op_call *call, const dt_op_value *value, rows *of) {
    int n = 0;
    for (int after = 0; after < 2; after++)
        for (int d = 0; d < value->n_dims; d++)
            if ((row_dims(call) >> d & 1) == (uint32_t)after) {
                of->shape[n] = value->shape[d];
                of->strides[n++] = value->strides[d];
            }
    return (dt__array){value->data, value->dtype, n, of->shape, of->strides};
}

static dt_status open_rows(const dt_op_call *call, rows *out) {
    const dt_op_value *self = &call->inputs[0];
    dt__array from = turned(call, self, out);
    int64_t n = dt__n_remaining(self, row_dims(call));
    DT__TRY(dt__scratch_new(call, is_complex(call) ? DT_C128 : DT_F64, from.n_dims, out->shape, &out->wide));
    dt__run_convert(call, &out->wide.array, &from);
    out->size = n ? dt__array_count(&from) / n : 0;
    return DT_OK;
}

/* Whether each field of a row has a number that it can be divided by. */
static bool is_plain(const dt_op_call *call, const dt_state *state, int64_t row) {
    const double *product = state->fields[PRODUCT].data;
    if (is_complex(call))
        return product[2 * row] != 0 || product[2 * row + 1] != 0;
    return isfinite(product[row]) && product[row] != 0;
}

static void multiply(double *into, const double *by) {
    double real = into[0] * by[0] - into[1] * by[1];
    into[1] = into[0] * by[1] + into[1] * by[0];
    into[0] = real;
}

/* The field that counts an element; PRODUCT: none. */
static int field_of(double x) { return x == 0 ? ZEROS : isinf(x) ? INFINITE : isnan(x) ? NANS : PRODUCT; }

static void count_row(const dt_op_call *call, const rows *of, int64_t row, const dt_state *state) {
    double *product = state->fields[PRODUCT].data, *zeros = state->fields[ZEROS].data;
    const double *x = (const double *)of->wide.array.data + row * of->size * (is_complex(call) ? 2 : 1);
    if (is_complex(call)) {
        product[2 * row] = 1;
        product[2 * row + 1] = 0;
        for (int64_t k = 0; k < of->size; k++)
            if (x[2 * k] == 0 && x[2 * k + 1] == 0)
                zeros[row]++;
            else
                multiply(product + 2 * row, x + 2 * k);
        return;
    }
    product[row] = 1;
    for (int64_t k = 0; k < of->size; k++) {
        int field = field_of(x[k]);
        product[row] *= field == PRODUCT ? x[k] : field == INFINITE ? copysign(1, x[k]) : 1;
        if (field != PRODUCT)
            ((double *)state->fields[field].data)[row]++;
    }
}

static dt_status begin(dt_op_call *call, const dt_state *state) {
    dt__array in = dt__array_of(&call->inputs[0]);
    dt__reduced product;
    int64_t n = state->fields[ZEROS].n, row = 0;
    rows all;
    dt__state_array(call, row_dims(call), &state->fields[PRODUCT], &product);
    dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
               &(dt__reduction){DT__FOLD_PROD, row_dims(call), 0, &in, &product.array});
    while (row < n && is_plain(call, state, row))
        row++;
    if (row == n)
        return DT_OK;
    DT__TRY(open_rows(call, &all));
    for (; row < n; row++)
        if (!is_plain(call, state, row))
            count_row(call, &all, row, state);
    dt__scratch_free(call, &all.wide);
    return DT_OK;
}

static void merge(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    for (int f = 0; f < into->n_fields; f++)
        dt__kernels_of(call->ctx)->accumulate(into->fields[f].dtype, f == PRODUCT ? DT_PRODUCT : DT_SUM,
                                              into->fields[f].data, next->fields[f].data, (size_t)into->fields[f].n);
}

/* Of zero, infinite and NaN elements: 0 times infinity is NaN. */
static double with_counts(double product, const double *counts) {
    if (counts[NANS] > 0 || (counts[ZEROS] > 0 && counts[INFINITE] > 0))
        return (double)NAN;
    return counts[ZEROS] > 0 ? 0 : counts[INFINITE] > 0 ? copysign((double)INFINITY, product) : product;
}

/* Two zeros among all elements of a tensor make every product 0, whatever the others are, as PyTorch has it. */
static void finish_row(int64_t n, double *x, const dt_state *merged, int64_t row, bool of_all) {
    double counts[NANS + 1] = {0}, product = ((double *)merged->fields[PRODUCT].data)[row];
    for (int f = ZEROS; f <= NANS; f++)
        counts[f] = ((double *)merged->fields[f].data)[row];
    for (int64_t k = 0; k < n; k++) {
        int field = field_of(x[k]);
        counts[field]--;
        double others = with_counts(field == PRODUCT    ? product / x[k]
                                    : field == INFINITE ? copysign(product, product * x[k])
                                                        : product,
                                    counts);
        counts[field]++;
        x[k] = of_all && counts[ZEROS] > 1 ? 0 : others;
    }
}

static void finish_complex_row(int64_t n, double *x, const dt_state *merged, int64_t row) {
    const double *product = (double *)merged->fields[PRODUCT].data + 2 * row;
    double zeros = ((double *)merged->fields[ZEROS].data)[row];
    for (int64_t k = 0; k < n; k++, x += 2) {
        bool is_zero = x[0] == 0 && x[1] == 0;
        double square = x[0] * x[0] + x[1] * x[1], inverse[] = {x[0] / square, -x[1] / square};
        x[0] = zeros - is_zero > 0 ? 0 : product[0];
        x[1] = zeros - is_zero > 0 ? 0 : product[1];
        if (!is_zero)
            multiply(x, inverse);
    }
}

/* A row with numbers that are counted. */
static dt_status finish_rows(const dt_op_call *call, const dt_state *merged) {
    rows all;
    DT__TRY(open_rows(call, &all));
    double *x = all.wide.array.data;
    bool of_all = dt__arg_at(call, DIM)->type == DT_ARG_NONE;
    for (int64_t row = 0; row < merged->fields[ZEROS].n; row++)
        if (is_complex(call))
            finish_complex_row(all.size, x + 2 * row * all.size, merged, row);
        else
            finish_row(all.size, x + row * all.size, merged, row, of_all);
    dt__array out = turned(call, &call->outputs[0], &all);
    dt__run_convert(call, &out, &all.wide.array);
    dt__scratch_free(call, &all.wide);
    return DT_OK;
}

static dt_status finish(dt_op_call *call, const dt_state *merged) {
    const dt_op_value *self = &call->inputs[0];
    const dt_state_field *product = &merged->fields[PRODUCT];
    int64_t strides[DT_SPEC_MAX_DIMS], next = 1;
    for (int f = ZEROS; f < merged->n_fields; f++)
        for (int64_t row = 0; row < merged->fields[f].n; row++)
            if (((double *)merged->fields[f].data)[row] > 0)
                return finish_rows(call, merged);
    for (int d = self->n_dims - 1; d >= 0; d--) {
        bool in_row = row_dims(call) >> d & 1;
        strides[d] = in_row ? 0 : next;
        next *= in_row ? 1 : self->shape[d];
    }
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(self);
    return dt__run_elements(call, DT__EL_DIV, product->dtype, &out,
                            &(dt__array){product->data, product->dtype, self->n_dims, self->shape, strides}, &in,
                            NULL);
}

static const dt_meet others_meet = {describe, begin, merge, finish};

static dt_tensor *flipped(dt_tensor *tensor) { return dt_flip(tensor, DT_DIMS(-1)); }

/* B of the head comment, of rows with n > 0 elements; that of the last one does not depend on it. */
static dt_tensor *products_before(dt_tensor *x, int64_t dim, int64_t n) {
    dt_tensor *products = dt_cumprod(dt_slice(x, dim, 0, n - 1, 1), dim);
    dt_tensor *joined[] = {dt_ones_like(dt_slice(x, dim, 0, 1, 1)), products};
    return dt_cat(((dt_tensors){2, joined}), .dim = DT_INT(dim));
}

/* For rows along the last dim: F of all elements but the first, R of all but the last. */
static dt_tensor *of_rows(dt_tensor *x, dt_tensor *h, int64_t n) {
    dt_tensor *heads = dt_slice(x, -1, 0, n - 1, 1), *tails = dt_slice(x, -1, 1, n, 1);
    dt_tensor *before = products_before(heads, -1, n - 1);
    dt_tensor *after = flipped(products_before(flipped(tails), -1, n - 1));
    dt_tensor *forward = dt_linear_recurrence(dt_mul(dt_slice(h, -1, 0, n - 1, 1), before), heads, -1);
    dt_tensor *reverse = dt_linear_recurrence(dt_mul(dt_slice(h, -1, 1, n, 1), after), heads, -1, .transposed = true);
    return dt_add(dt_constant_pad_nd(dt_mul(forward, after), DT_INTS(1, 0)),
                  dt_constant_pad_nd(dt_mul(before, reverse), DT_INTS(0, 1)));
}

/* In f64 or c128, where products of some of the elements are less likely to overflow. */
static dt_status others_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const dt_op_value *self = &op->inputs[0];
    const dt_arg *dim = dt__arg_at(op, DIM);
    dt_dtype wide = is_complex(op) ? DT_C128 : DT_F64;
    bool along = dim->type != DT_ARG_NONE;
    int64_t n = along && self->n_dims ? self->shape[dt__wrap_dim(dim->as.i, self->n_dims)]
                                      : dt__elements(self->n_dims, self->shape);
    if (n < 2)
        return DT_OK; /* no element is next to another */
    dt_tensor *x = dt_to(dt__conjugate(call->inputs[0]), wide), *h = dt_to(call->grads[0], wide);
    dt_shape shape = {self->n_dims, self->shape};
    dt_tensor *grad = along ? dt_transpose(of_rows(dt_transpose(x, dim->as.i, -1), dt_transpose(h, dim->as.i, -1), n),
                                           dim->as.i, -1)
                            : dt_reshape(of_rows(dt_flatten(x), dt_flatten(h), n), shape);
    input_grads[0] = grad;
    return grad ? DT_OK : dt_error_status(op->ctx);
}

dt_status dt__prod_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    const dt_op_value *self = &op->inputs[0];
    const dt_arg *dim = dt__arg_at(op, DIM);
    bool along = dim && dim->type == DT_ARG_INT;
    dt_dtype dtype = op->outputs[0].dtype;
    int64_t sizes[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < self->n_dims; d++)
        sizes[d] = !along || d == dt__wrap_dim(dim->as.i, self->n_dims) ? 1 : self->shape[d];
    dt_tensor *x = self->dtype == dtype ? call->inputs[0] : dt_to(call->inputs[0], dtype);
    dt_tensor *others = along ? dt_prod_of_others(x, .dim = DT_INT(dim->as.i)) : dt_prod_of_others(x);
    dt_tensor *grad = dt_reshape(call->grads[0], ((dt_shape){self->n_dims, sizes}));
    input_grads[0] = dt_mul(grad, dt__conjugate(others));
    return input_grads[0] ? DT_OK : dt_error_status(op->ctx);
}

dt_status dt__cumprod_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_value *self = &call->call->inputs[0];
    dt_dtype dtype = call->call->outputs[0].dtype;
    int64_t dim = dt__arg_at(call->call, DIM)->as.i;
    int64_t n = self->n_dims ? self->shape[dt__wrap_dim(dim, self->n_dims)] : 1;
    dt_tensor *grad = call->grads[0], *x = dt__conjugate(call->inputs[0]);
    if (self->dtype != dtype)
        x = dt_to(x, dtype);
    if (n > 1)
        grad = dt_mul(products_before(x, dim, n), dt_linear_recurrence(grad, x, dim, .transposed = true));
    input_grads[0] = grad;
    return grad ? DT_OK : dt_error_status(call->call->ctx);
}

const dt_op dt__op_prod_of_others = {
    .schema = "prod_of_others(Tensor self, int? dim=None) -> Tensor",
    .summary = "The product of all other elements, of the tensor or along a dim: the gradient of prod.",
    .rule = "...[dim~] -> ...[dim]",
    .partial = DT_PARTIAL_PRODUCT,
    .arguments = "dim",
    .shape = shape_others,
    .kernel = dt__run_alone,
    .meet = &others_meet,
    .backward = others_backward,
    .saves = "self",
    .samples = "prod_of_others(f32[5,3])\nprod_of_others(f32[5,3]; 0)\nprod_of_others(f64[2,5,3]; -1)\n"
               "prod_of_others(c64[5,3]; 0)",
};
