/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans that are computed row by row: logcumsumexp and its gradient, and linear recurrences, which gradients of
 * products are made.
 *
 * logcumsumexp keeps the largest element so far and the sum of exponentials relative to it; along a sharded dim it
 * starts from those of the shards before. With r its result and g the gradient of r, that of x is
 *
 *     B(g, x, r)[k] = sum of g[i] exp(x[k] - r[i]) over i >= k,
 *
 * which is summed from the end, relative to the smallest r so far, so that no exponential is above 1. The gradients of
 * B are B itself, of flipped tensors.
 *
 * A linear recurrence is t[k] = b[k] + a[k] t[k-1]; its transpose, from the end, s[k] = b[k] + a[k+1] s[k+1]. With F
 * the result of the one and R of the other, one of them of the gradient, the gradient of b is that other one and that
 * of a[k] is R[k] F[k-1], and 0 of the first, which is not used. A result of 0 adds 0, whatever the factor is.
 * Gradients need the whole dim: they begin at its end.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <math.h>

static int dim_of(const dt_op_call *call) { return dt__wrap_dim(dt__arg_at(call, 0)->as.i, call->outputs[0].n_dims); }

/* All tensors have one shape, and the result the dtype that they promote to. */
static dt_status shape_rows(dt_op_call *call) {
    const dt_op_value *grad = &call->inputs[0];
    dt_dtype dtype = grad->dtype;
    int ignored;
    for (int i = 1; i < call->n_inputs; i++) {
        bool same = grad->n_dims == call->inputs[i].n_dims;
        for (int d = 0; d < grad->n_dims && same; d++)
            same = grad->shape[d] == call->inputs[i].shape[d];
        if (!same)
            return dt_op_refuse(call, DT_ERR_SHAPE, "the tensors differ in shape");
        dtype = dt__promote(dtype, call->inputs[i].dtype);
    }
    if (!dt__is_inexact(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected floating point, got %s", dt_dtype_name(dtype));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, 0)->as.i, grad->n_dims, &ignored));
    return dt__add_like(call, 0, dtype);
}

static dt_status shape_gradient(dt_op_call *call) {
    DT__TRY(dt__refuse_complex(call));
    return shape_rows(call);
}

/* An array with the dim after all others, and its shape. */
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

/* Inputs as dense rows of f64 or c128, which the caller computes on; the first becomes the output. */
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
    dt_dtype dtype = dt__is_complex(call->outputs[0].dtype) ? DT_C128 : DT_F64;
    out->n = 0;
    turn(&call->outputs[0], dim, &out->out);
    out->size = out->out.shape[out->out.array.n_dims - 1];
    out->n_elements = dt__array_count(&out->out.array);
    for (; out->n < call->n_inputs; out->n++) {
        turned from;
        turn(&call->inputs[out->n], dim, &from);
        dt_status status = dt__scratch_new(call, dtype, from.array.n_dims, out->out.shape, &out->wide[out->n]);
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
        if (isnan(largest) || isnan(x[k])) {
            largest = (double)NAN;
        } else if (x[k] == largest) {
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

/* Terms with an infinite r have no part in the sum: exp(x - r) is 0, or NaN where x is the same infinity. */
static void log_gradient_row(int64_t n, double *grad, const double *x, const double *r) {
    double sum = 0, smallest = (double)INFINITY;
    bool has_top = false, has_bottom = false, has_nan = false;
    for (int64_t k = n - 1; k >= 0; k--) {
        has_top |= isinf(r[k]) && r[k] > 0;
        has_bottom |= isinf(r[k]) && r[k] < 0;
        has_nan |= isnan(r[k]);
        if (isfinite(r[k]) && r[k] < smallest) {
            sum = (sum != 0 ? sum * exp(r[k] - smallest) : 0) + grad[k];
            smallest = r[k];
        } else if (isfinite(r[k]))
            sum += grad[k] * exp(smallest - r[k]);
        bool is_nan = has_nan || isnan(x[k]) || (isinf(x[k]) && (x[k] > 0 ? has_top : has_bottom));
        grad[k] = is_nan ? (double)NAN : sum != 0 ? sum * exp(x[k] - smallest) : 0;
    }
}

/* A tensor without dims is its own logcumsumexp, also where it is infinite. */
static dt_status log_gradient(dt_op_call *call) {
    row_set rows;
    DT__TRY(open_rows(call, &rows));
    for (int64_t first = 0; first < rows.n_elements && call->outputs[0].n_dims > 0; first += rows.size)
        log_gradient_row(rows.size, row_at(&rows, 0, first), row_at(&rows, 1, first), row_at(&rows, 2, first));
    write_rows(call, &rows);
    return DT_OK;
}

static dt_tensor *flipped(dt_tensor *tensor, int64_t dim) { return dt_flip(tensor, DT_DIMS(dim)); }

/* With h the gradient of B: of g[i] it is the sum of h[k] exp(x[k] - r[i]) over k <= i, of x it is h B(g, x, r), and of
 * r[i] the negative product of g[i] and the first. */
static dt_status log_gradient_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *h = call->grads[0], *g = call->inputs[0], *x = call->inputs[1], *r = call->inputs[2];
    int64_t dim = dt__arg_at(call->call, 0)->as.i;
    if (call->call->outputs[0].n_dims == 0) {
        input_grads[0] = h;
        return DT_OK;
    }
    if (call->needed[0] || call->needed[2])
        input_grads[0] = flipped(
            dt_logcumsumexp_backward(flipped(h, dim), dt_neg(flipped(r, dim)), dt_neg(flipped(x, dim)), dim), dim);
    if (call->needed[1])
        input_grads[1] = dt_mul(h, call->outputs[0]);
    if (call->needed[2])
        input_grads[2] = dt_neg(dt_mul(g, input_grads[0]));
    return dt_failed(call->call->ctx) ? dt_error_status(call->call->ctx) : DT_OK;
}

/* Positions in .arguments of linear_recurrence. */
enum { DIM, TRANSPOSED };

/* Numbers are pairs. */
static void complex_recurrence(int64_t n, double *term, const double *factor, bool transposed) {
    for (int64_t i = 1; i < n; i++) {
        int64_t k = transposed ? n - 1 - i : i, from = transposed ? k + 1 : k - 1;
        const double *a = factor + 2 * (transposed ? k + 1 : k), *t = term + 2 * from;
        if (t[0] == 0 && t[1] == 0)
            continue;
        term[2 * k] += a[0] * t[0] - a[1] * t[1];
        term[2 * k + 1] += a[0] * t[1] + a[1] * t[0];
    }
}

static dt_status recurrence(dt_op_call *call) {
    row_set rows;
    DT__TRY(open_rows(call, &rows));
    bool transposed = dt__arg_at(call, TRANSPOSED)->as.b, complex = dt__is_complex(call->outputs[0].dtype);
    for (int64_t first = 0; first < rows.n_elements && complex; first += rows.size)
        complex_recurrence(rows.size, row_at(&rows, 0, 2 * first), row_at(&rows, 1, 2 * first), transposed);
    rows.n_elements = complex ? 0 : rows.n_elements;
    for (int64_t first = 0; first < rows.n_elements; first += rows.size) {
        double *term = row_at(&rows, 0, first);
        const double *factor = row_at(&rows, 1, first);
        if (transposed)
            for (int64_t k = rows.size - 2; k >= 0; k--)
                term[k] += term[k + 1] != 0 ? factor[k + 1] * term[k + 1] : 0;
        else
            for (int64_t k = 1; k < rows.size; k++)
                term[k] += term[k - 1] != 0 ? factor[k] * term[k - 1] : 0;
    }
    write_rows(call, &rows);
    return DT_OK;
}

/* Each element of `at` times the one of `before` that precedes it; 0 for the first, which has none. */
static dt_tensor *times_preceding(dt_tensor *at, dt_tensor *before, int64_t dim) {
    int d = dt__wrap_dim(dim, at->n_dims);
    if (at->n_dims == 0 || at->shape[d] == 0)
        return dt_zeros_like(at);
    int64_t n = at->shape[d];
    dt_tensor *products = dt_mul(dt_slice(at, d, 1, n, 1), dt_slice(before, d, 0, n - 1, 1));
    dt_tensor *joined[] = {dt_zeros_like(dt_slice(at, d, 0, 1, 1)), products};
    return dt_cat(((dt_tensors){2, joined}), .dim = DT_INT(d));
}

static dt_status recurrence_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    int64_t dim = dt__arg_at(call->call, DIM)->as.i;
    bool transposed = dt__arg_at(call->call, TRANSPOSED)->as.b;
    dt_tensor *other =
        dt_linear_recurrence(call->grads[0], dt__conjugate(call->inputs[1]), dim, .transposed = !transposed);
    dt_tensor *result = dt__conjugate(call->outputs[0]);
    input_grads[0] = other;
    if (call->needed[1] && other)
        input_grads[1] = transposed ? times_preceding(result, other, dim) : times_preceding(other, result, dim);
    return dt_failed(call->call->ctx) ? dt_error_status(call->call->ctx) : DT_OK;
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
    .schema = "logcumsumexp_backward(Tensor grad_output, Tensor self, Tensor logsums, int dim) -> Tensor",
    .summary = "The gradient of logcumsumexp.",
    .rule = "...[dim!], ...[dim], ...[dim] -> ...[dim]",
    .partial = DT_PARTIAL_FIRST,
    .arguments = "dim",
    .shape = shape_gradient,
    .kernel = log_gradient,
    .backward = log_gradient_backward,
    .saves = "grad_output,self,logsums,result",
    .samples = "logcumsumexp_backward(f32[5,3]; f32[5,3]; f32[5,3]; 0)\n"
               "logcumsumexp_backward(f32[2,5,3]; f32[2,5,3]; f32[2,5,3]; -1)",
};
const dt_op dt__op_linear_recurrence = {
    .schema = "linear_recurrence(Tensor term, Tensor factor, int dim, *, bool transposed=False) -> Tensor",
    .summary = "Each term plus its factor times the result before it; transposed: the next factor and result.",
    .rule = "...[dim!], ...[dim] -> ...[dim]",
    .partial = DT_PARTIAL_FIRST,
    .arguments = "dim,transposed",
    .shape = shape_rows,
    .kernel = recurrence,
    .backward = recurrence_backward,
    .saves = "factor,result",
    .samples = "linear_recurrence(f32[5,3]; f32[5,3]; 0)\nlinear_recurrence(f32[2,5,3]; f32[2,5,3]; -1)\n"
               "linear_recurrence(f32[5,3]; f32[5,3]; 0; transposed=true)\n"
               "linear_recurrence(f32[5,3]; f32[5,3]; 1; transposed=true)",
};
