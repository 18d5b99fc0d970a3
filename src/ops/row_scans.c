/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans that are computed row by row: logcumsumexp, its gradient and that of cumprod.
 *
 * logcumsumexp keeps the largest element so far and the sum of exponentials relative to it; along a sharded dim it
 * starts from those of the shards before. With r its result and g the gradient of r, that of x[k] is
 *
 *     a[k] exp(x[k] - r[k]),  a[k] = g[k] + a[k+1] exp(r[k] - r[k+1]),
 *
 * of which no exponential is above 1. With y[i] = x[0] … x[i] the result of cumprod and g the gradient of y, it is
 *
 *     x[0] … x[k-1] s[k],  s[k] = g[k] + x[k+1] s[k+1],
 *
 * without a division, so that zeros are elements like others. Gradients need the whole dim: they begin at its end.
 */
#include "ops/ops.h"
#include "ops/states.h"

#include <math.h>

static int dim_of(const dt_op_call *call) { return dt__wrap_dim(dt__arg_at(call, 0)->as.i, call->outputs[0].n_dims); }

/* All tensors have one shape, and the result the dtype that they promote to. */
static dt_status shape_gradient(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0];
    dt_dtype dtype = grad->dtype;
    int ignored;
    for (int i = 1; i < call->n_inputs; i++) {
        bool same = grad->n_dims == call->inputs[i].n_dims;
        for (int d = 0; d < grad->n_dims && same; d++)
            same = grad->shape[d] == call->inputs[i].shape[d];
        if (!same)
            return dt_op_refuse(call, DT_ERR_SHAPE, "the gradient and the tensors differ in shape");
        dtype = dt__promote(dtype, call->inputs[i].dtype);
    }
    if (!dt__is_float(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected floating point, got %s", dt_dtype_name(dtype));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, 0)->as.i, grad->n_dims, &ignored));
    return dt__add_like(call, 0, dtype);
}

/* An array with the dim behind all others, and its shape. */
typedef struct turned {
    int64_t shape[DT_SPEC_MAX_DIMS + 1], strides[DT_SPEC_MAX_DIMS + 1];
    dt__array array;
} turned;

static void turn(const dt_op_value *value, int dim, turned *out) {
    int n = 0;
    for (int d = 0; d < value->n_dims; d++)
        if (d != dim) {
            out->shape[n] = value->shape[d];
            out->strides[n++] = value->strides[d];
        }
    out->shape[n] = value->n_dims ? value->shape[dim] : 1;
    out->strides[n++] = value->n_dims ? value->strides[dim] : 1;
    out->array = (dt__array){value->data, value->dtype, n, out->shape, out->strides};
}

/* Inputs as dense rows of f64, which the caller computes on; the first becomes the output. */
typedef struct row_set {
    turned out;
    dt__scratch wide[3];
    int n;
    int64_t size, n_elements;
} row_set;

static void close_rows(const dt_op_call *call, row_set *rows) {
    while (rows->n > 0)
        dt__scratch_free(call, &rows->wide[--rows->n]);
}

static dt_status open_rows(const dt_op_call *call, row_set *out) {
    int dim = dim_of(call);
    out->n = 0;
    turn(&call->outputs[0], dim, &out->out);
    out->size = out->out.shape[out->out.array.n_dims - 1];
    out->n_elements = dt__array_count(&out->out.array);
    for (; out->n < call->n_inputs; out->n++) {
        turned from;
        turn(&call->inputs[out->n], dim, &from);
        dt_status status = dt__scratch_new(call, DT_F64, from.array.n_dims, out->out.shape, &out->wide[out->n]);
        if (status != DT_OK) {
            close_rows(call, out);
            return status;
        }
        dt__run_convert(call, &out->wide[out->n].array, &from.array);
    }
    return DT_OK;
}

static double *row_at(const row_set *rows, int input, int64_t first) {
    return (double *)rows->wide[input].array.data + first;
}

static void write_rows(const dt_op_call *call, row_set *rows) {
    dt__run_convert(call, &rows->out.array, &rows->wide[0].array);
    close_rows(call, rows);
}

static void log_row(int64_t n, double *x, double largest, double sum) {
    for (int64_t k = 0; k < n; k++) {
        if (x[k] == largest) {
            sum += isinf(largest) && largest < 0 ? 0 : 1;
        } else if (x[k] < largest) {
            sum += exp(x[k] - largest);
        } else {
            sum = sum * exp(largest - x[k]) + 1;
            largest = x[k];
        }
        x[k] = isinf(largest) ? largest : largest + log(sum);
    }
}

/* `before` has the statistics of what precedes the rows; NULL: nothing does. */
static dt_status scan_rows(const dt_op_call *call, const dt_state *before) {
    row_set rows;
    DT__TRY(open_rows(call, &rows));
    for (int64_t first = 0, r = 0; first < rows.n_elements; first += rows.size, r++) {
        double largest = before ? ((double *)before->fields[0].data)[r] : -INFINITY;
        log_row(rows.size, row_at(&rows, 0, first), largest, before ? ((double *)before->fields[1].data)[r] : 0);
    }
    write_rows(call, &rows);
    return DT_OK;
}

static dt_status shape_log(dt_op_call *call) {
    int ignored;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, 0)->as.i, call->inputs[0].n_dims, &ignored));
    return dt__add_like(call, 0, dt__promote_to_inexact(call->inputs[0].dtype));
}

static void describe_log(const dt_op_call *call, dt_state *state) {
    dt__statistics_describe(call, DT__EXPONENTIALS, (uint32_t)1 << dim_of(call), state);
}

static dt_status begin_log(dt_op_call *call, const dt_state *state) {
    dt__array in = dt__array_of(&call->inputs[0]);
    dt__statistics_begin(call, DT__EXPONENTIALS, (uint32_t)1 << dim_of(call), &in, NULL, state);
    return DT_OK;
}

static void merge_log(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    dt__statistics_meet(call, DT__EXPONENTIALS, into, next);
}

static dt_status finish_log(dt_op_call *call, const dt_state *before) { return scan_rows(call, before); }
static dt_status log_alone(dt_op_call *call) { return scan_rows(call, NULL); }

static const dt_meet log_scan = {describe_log, begin_log, merge_log, finish_log};

static dt_status log_gradient(dt_op_call *call) {
    row_set rows;
    DT__TRY(open_rows(call, &rows));
    for (int64_t first = 0; first < rows.n_elements; first += rows.size) {
        double *grad = row_at(&rows, 0, first), a = 0;
        const double *x = row_at(&rows, 1, first), *r = row_at(&rows, 2, first);
        for (int64_t k = rows.size - 1; k >= 0; k--) {
            a = grad[k] + (k + 1 < rows.size ? a * exp(r[k] - r[k + 1]) : 0);
            grad[k] = a * exp(x[k] - r[k]);
        }
    }
    write_rows(call, &rows);
    return DT_OK;
}

static dt_status product_gradient(dt_op_call *call) {
    row_set rows;
    DT__TRY(open_rows(call, &rows));
    for (int64_t first = 0; first < rows.n_elements; first += rows.size) {
        double *grad = row_at(&rows, 0, first), product = 1;
        const double *x = row_at(&rows, 1, first);
        for (int64_t k = rows.size - 2; k >= 0; k--)
            grad[k] += x[k + 1] * grad[k + 1];
        for (int64_t k = 0; k < rows.size; k++) {
            grad[k] *= product;
            product *= x[k];
        }
    }
    write_rows(call, &rows);
    return DT_OK;
}

const dt_op dt__op_logcumsumexp = {
    .schema = "logcumsumexp(Tensor self, int dim) -> Tensor",
    .summary = "Logarithm of the running sum of exponentials along a dim, without overflow.",
    .rule = "...[dim>] -> ...[dim]",
    .arguments = "dim",
    .shape = shape_log,
    .kernel = log_alone,
    .meet = &log_scan,
    .gradient = "self: logcumsumexp_backward(grad, self, result, dim)",
    .samples = "logcumsumexp(f32[5,3]; 0)\nlogcumsumexp(f32[2,5,3]; -1)\nlogcumsumexp(f64[5]; 0)",
};
const dt_op dt__op_logcumsumexp_backward = {
    .schema = "logcumsumexp_backward(Tensor grad, Tensor self, Tensor result, int dim) -> Tensor",
    .summary = "The gradient of logcumsumexp.",
    .rule = "...[dim!], ...[dim], ...[dim] -> ...[dim]",
    .partial = DT_PARTIAL_FIRST,
    .arguments = "dim",
    .shape = shape_gradient,
    .kernel = log_gradient,
    .samples = "logcumsumexp_backward(f32[5,3]; f32[5,3]; f32[5,3]; 0)\n"
               "logcumsumexp_backward(f32[2,5,3]; f32[2,5,3]; f32[2,5,3]; -1)",
};
const dt_op dt__op_cumprod_backward = {
    .schema = "cumprod_backward(Tensor grad, Tensor self, int dim) -> Tensor",
    .summary = "The gradient of cumprod.",
    .rule = "...[dim!], ...[dim] -> ...[dim]",
    .partial = DT_PARTIAL_FIRST,
    .arguments = "dim",
    .shape = shape_gradient,
    .kernel = product_gradient,
    .samples = "cumprod_backward(f32[5,3]; f32[5,3]; 0)\ncumprod_backward(f32[2,5,3]; f32[2,5,3]; -1)",
};
