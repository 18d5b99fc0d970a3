/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions of elements at indices along a dim: scatter_reduce and index_reduce, by sum, prod, mean, amax or amin,
 * with or without what the tensor holds. Elements are combined in the order of the indices, in f64 or i64, and
 * rounded once. The dim may be sharded: each rank writes what it holds.
 */
#include "base/dtype.h"
#include "dtensor/ops.h"
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Positions in .arguments. */
enum { DIM, REDUCE, INCLUDE_SELF };

typedef enum reduction_kind { SUM, PROD, MEAN, AMAX, AMIN, N_KINDS } reduction_kind;
static const char *const kind_names[N_KINDS] = {"sum", "prod", "mean", "amax", "amin"};

static reduction_kind kind_of(const dt_op_call *call) {
    int kind = 0;
    while (kind < N_KINDS && strcmp(dt__arg_at(call, REDUCE)->as.text, kind_names[kind]) != 0)
        kind++;
    return (reduction_kind)kind;
}
/* index_reduce: the index is a vector, of slices. */
static bool takes_slices(const dt_op_call *call) { return call->op->family; }
static int dim_of(const dt_op_call *call) {
    return dt__wrap_dim(dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims);
}
static bool includes_self(const dt_op_call *call) { return dt__arg_at(call, INCLUDE_SELF)->as.b; }

static dt_status shape_reduce(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1], *source = &call->inputs[2];
    int dim, n = self->n_dims;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, n, &dim));
    DT__TRY(dt__expect_index(call, 1));
    if (kind_of(call) == N_KINDS || (takes_slices(call) && kind_of(call) == SUM))
        return dt_op_refuse(call, DT_ERR_VALUE, "reduce: expected %sprod, mean, amax or amin, got '%s'",
                            takes_slices(call) ? "" : "sum, ", dt__arg_at(call, REDUCE)->as.text);
    if (source->dtype != self->dtype || self->dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE,
                            "expected numbers of one dtype, got %s and %s; convert one with dt_to",
                            dt_dtype_name(self->dtype), dt_dtype_name(source->dtype));
    bool fits = source->n_dims == n && (index->n_dims == (takes_slices(call) ? 1 : n));
    if (n == 0) /* a vector of one element */
        fits = fits && dt__elements(index->n_dims, index->shape) == 1;
    for (int d = 0; d < n && fits; d++) {
        int64_t size = self->shape[d];
        fits = takes_slices(call) ? source->shape[d] == (d == dim ? index->shape[0] : size)
                                  : index->shape[d] <= source->shape[d] && (d == dim || index->shape[d] <= size);
    }
    if (!fits)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the index and the source do not fit the tensor along dim %d", dim);
    return dt__add_like(call, 0, self->dtype);
}

/* The tensor and the source are reduced together, or indices are sharded with a partial tensor; alone, the tensor
 * keeps what it is kept or added to. */
static void rows_of_partials(const dt_op_call *call, dt_rows *rows) {
    static const dt_reduce keeps[N_KINDS] = {DT_SUM, DT_PRODUCT, DT_SUM, DT_MAX, DT_MIN};
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1], *source = &call->inputs[2];
    const reduction_kind kind = kind_of(call);
    const int dim = dim_of(call), of_index = takes_slices(call) ? 0 : dim;
    const bool inexact = dt__is_inexact(self->dtype), include = includes_self(call);
    if (kind == SUM || (kind == MEAN && inexact))
        dt_rows_linear(rows, 5);
    else if (kind != MEAN)
        dt_rows_reduce(rows, 5, keeps[kind], keeps[kind]);
    if (kind != PROD ? inexact || kind >= AMAX || !include : !include)
        dt_rows_monotone(rows, 0, true);
    if (!include)
        dt_rows_reduce(rows, 1, DT_AVG, DT_AVG);
    else if (kind == PROD)
        dt_rows_linear(rows, 1);
    if (!include || kind == MEAN || self->n_dims == 0 || index->shape[of_index] != source->shape[dim])
        return;
    dt_row_entry entries[] = {DT_ROW_P(keeps[kind]), DT_ROW_S(of_index), DT_ROW_S(dim), DT_ROW_P(keeps[kind])};
    dt_rows_add(rows, 0, entries);
    entries[0] = DT_ROW_R;
    if (kind >= AMAX)
        dt_rows_add(rows, 0, entries);
}

static void rows_reduce(const dt_op_call *call, dt_rows *rows) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1], *source = &call->inputs[2];
    const int dim = dim_of(call);
    for (int d = 0; d < self->n_dims; d++) {
        bool shared = d != dim && source->shape[d] == self->shape[d] &&
                      (takes_slices(call) || index->shape[d] == self->shape[d]);
        dt_row_entry of_source = shared ? DT_ROW_S(d) : DT_ROW_R;
        if (shared || d == dim)
            dt_rows_add(
                rows, d == dim ? DT_ROW_OFFSET : 0,
                (dt_row_entry[]){DT_ROW_S(d), takes_slices(call) ? DT_ROW_R : of_source, of_source, DT_ROW_S(d)});
    }
    rows_of_partials(call, rows);
}

/* The local tensors of a call. `sums` and `hits` are dense, of the shape of the result. */
typedef struct reducing {
    const dt_op_call *call;
    reduction_kind kind;
    int n, dim;
    bool is_float, includes_self;
    int64_t shape[DT_SPEC_MAX_DIMS], index_strides[DT_SPEC_MAX_DIMS]; /* of the indices, repeated over slices */
    int64_t strides[DT_SPEC_MAX_DIMS], source_strides[DT_SPEC_MAX_DIMS];
    const void *source; /* f64 or i64 */
    int64_t offset, size, limit;
    void *sums;
    int64_t *hits;
} reducing;

#define COMBINE(T, is_nan_)                                                                                          \
    do {                                                                                                             \
        T *to = (T *)self->sums + at, term = ((const T *)self->source)[from];                                        \
        if (self->hits[at]++ == 0 && !self->includes_self)                                                           \
            *to = term;                                                                                              \
        else if (self->kind == PROD)                                                                                 \
            *to *= term;                                                                                             \
        else if (self->kind == AMAX)                                                                                 \
            *to = term > *to || is_nan_(term) ? term : *to;                                                          \
        else if (self->kind == AMIN)                                                                                 \
            *to = term < *to || is_nan_(term) ? term : *to;                                                          \
        else                                                                                                         \
            *to += term;                                                                                             \
    } while (0)
#define NEVER(term) false

static dt_status combine(const reducing *self) {
    const dt_op_value *index = &self->call->inputs[1];
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0}, n = dt__elements(self->n, self->shape);
    for (int64_t i = 0; i < n; i++) {
        int64_t of_index = 0, at = 0, from = 0;
        for (int d = 0; d < self->n; d++) {
            of_index += coordinate[d] * self->index_strides[d];
            from += coordinate[d] * self->source_strides[d];
            at += d == self->dim ? 0 : coordinate[d] * self->strides[d];
        }
        int64_t value = dt__read_i64(index->dtype, (const unsigned char *)index->data +
                                                       of_index * (int64_t)dt_dtype_size(index->dtype));
        if (value < 0 || value >= self->limit) {
            DT__TRY(dt__bad_index(self->call, value, self->limit));
            value = -1;
        }
        value -= self->offset;
        at += value * self->strides[self->dim];
        if (value >= 0 && value < self->size) {
            if (self->is_float)
                COMBINE(double, isnan);
            else
                COMBINE(int64_t, NEVER);
        }
        for (int d = self->n - 1; d >= 0 && ++coordinate[d] == self->shape[d]; d--)
            coordinate[d] = 0;
    }
    return DT_OK;
}

/* Quotients of integers are rounded down. */
static void divide_means(const reducing *self, int64_t n) {
    for (int64_t i = 0; i < n && self->kind == MEAN; i++) {
        int64_t count = self->hits[i] + (self->includes_self && self->hits[i] > 0);
        if (count > 1 && self->is_float)
            ((double *)self->sums)[i] /= (double)count;
        else if (count > 1) {
            int64_t *sum = (int64_t *)self->sums + i, floor = *sum / count;
            *sum = floor - (*sum % count < 0);
        }
    }
}

static dt_status run_in(dt_op_call *call, dt__scratch *sums, dt__scratch *hits, dt__scratch *source) {
    const dt_op_value *self = &call->inputs[0], *index = &call->inputs[1];
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(self), from = dt__array_of(&call->inputs[2]);
    reducing all = {.call = call,
                    .kind = kind_of(call),
                    .n = self->n_dims,
                    .dim = dim_of(call),
                    .is_float = dt__is_float(self->dtype),
                    .includes_self = includes_self(call),
                    .source = source->array.data,
                    .sums = sums->array.data,
                    .hits = hits->array.data};
    int64_t n = dt__array_count(&out);
    dt__run_convert(call, &sums->array, &in);
    dt__run_convert(call, &source->array, &from);
    memset(all.hits, 0, (size_t)n * sizeof *all.hits);
    if (self->n_dims == 0) {
        all.n = 1;
        all.shape[0] = all.size = all.limit = 1;
    }
    for (int d = 0; d < self->n_dims; d++) {
        bool slices = takes_slices(call);
        all.shape[d] = slices ? from.shape[d] : index->shape[d];
        all.index_strides[d] = !slices ? index->strides[d] : d == all.dim ? index->strides[0] : 0;
        all.strides[d] = sums->strides[d];
        all.source_strides[d] = source->strides[d];
    }
    if (self->n_dims) {
        bool sharded = self->shape[all.dim] != self->global_shape[all.dim];
        all.offset = sharded ? self->offset[all.dim] : 0;
        all.size = self->shape[all.dim];
        all.limit = self->global_shape[all.dim];
    }
    DT__TRY(combine(&all));
    divide_means(&all, n);
    dt__run_convert(call, &out, &sums->array);
    return DT_OK;
}

static dt_status reduce(dt_op_call *call) {
    enum { SUMS, HITS, SOURCE, N_SCRATCHES };
    const dt_op_value *values[] = {&call->outputs[0], &call->outputs[0], &call->inputs[2]};
    dt_dtype dtype = dt__is_float(call->outputs[0].dtype) ? DT_F64 : DT_I64;
    dt__scratch scratches[N_SCRATCHES];
    dt_status status = DT_OK;
    int n = 0;
    for (; n < N_SCRATCHES && status == DT_OK; n += status == DT_OK)
        status =
            dt__scratch_new(call, n == HITS ? DT_I64 : dtype, values[n]->n_dims, values[n]->shape, &scratches[n]);
    if (status == DT_OK)
        status = run_in(call, &scratches[SUMS], &scratches[HITS], &scratches[SOURCE]);
    while (n > 0)
        dt__scratch_free(call, &scratches[--n]);
    return status;
}

/* The ops of the gradient, along a dim by elements or by slices. */
static dt_tensor *pick(const dt_op_call *call, dt_tensor *x, dt_tensor *index) {
    int64_t dim = dim_of(call);
    return !x ? NULL : takes_slices(call) ? dt_index_select(x, dim, index) : dt_gather(x, dim, index);
}
static dt_tensor *add_at(const dt_op_call *call, dt_tensor *x, dt_tensor *index, dt_tensor *terms) {
    int64_t dim = dim_of(call);
    return !x || !terms         ? NULL
           : takes_slices(call) ? dt_index_add(x, dim, index, terms)
                                : dt_scatter_add(x, dim, index, terms);
}
static dt_tensor *zero_at(const dt_op_call *call, dt_tensor *x, dt_tensor *index) {
    int64_t dim = dim_of(call);
    return !x ? NULL : takes_slices(call) ? dt_index_fill(x, dim, index, 0) : dt_scatter_value(x, dim, index, 0);
}
static dt_tensor *product_at(const dt_op_call *call, dt_tensor *x, dt_tensor *index, dt_tensor *factors) {
    int64_t dim = dim_of(call);
    bool include = includes_self(call);
    dt_opt_bool given = {.given = true, .value = include};
    return !x || !factors       ? NULL
           : takes_slices(call) ? dt_index_reduce(x, dim, index, factors, "prod", .include_self = given)
                                : dt_scatter_reduce(x, dim, index, factors, "prod", .include_self = given);
}

typedef struct gradient_pair {
    dt_tensor *self, *source;
} gradient_pair;

/* A product without the factor itself, also where that is the only zero. */
static gradient_pair grads_of_prod(const dt_op_backward *call) {
    const dt_op_call *op = call->call;
    dt_tensor *self = call->inputs[0], *index = call->inputs[1], *source = call->inputs[2], *grad = call->grads[0];
    gradient_pair out = {0};
    dt_tensor *whole = dt_masked_fill(self, dt_eq_scalar(self, 0), 1);
    out.self = dt_div(dt_mul(grad, product_at(op, whole, index, source)), whole);
    dt_tensor *is_zero = dt_eq_scalar(source, 0), *counts = dt_to(is_zero, dt_tensor_dtype(source));
    dt_tensor *n_zeros = pick(op, add_at(op, dt_zeros_like(self), index, counts), index);
    dt_tensor *alone = n_zeros ? dt_logical_and(is_zero, dt_eq_scalar(n_zeros, 1)) : NULL;
    dt_tensor *others = alone ? product_at(op, self, index, dt_masked_fill(source, alone, 1)) : NULL;
    dt_tensor *of_alone = others ? pick(op, dt_mul(grad, others), index) : NULL;
    dt_tensor *of_rest =
        of_alone ? dt_div(pick(op, dt_mul(grad, call->outputs[0]), index), dt_masked_fill(source, is_zero, 1)) : NULL;
    out.source = of_rest ? dt_where(alone, of_alone, of_rest) : NULL;
    return out;
}

static gradient_pair grads_of_mean(const dt_op_backward *call) {
    const dt_op_call *op = call->call;
    dt_tensor *index = call->inputs[1], *source = call->inputs[2], *grad = call->grads[0];
    dt_tensor *start = includes_self(op) ? dt_ones_like(grad) : dt_zeros_like(grad);
    dt_tensor *counts = add_at(op, start, index, dt_ones_like(source));
    dt_tensor *n = counts ? dt_masked_fill(counts, dt_eq_scalar(counts, 0), 1) : NULL;
    return n ? (gradient_pair){dt_div(grad, n), dt_div(pick(op, grad, index), pick(op, n, index))}
             : (gradient_pair){0};
}

/* Equal parts for all that are the extreme one. */
static gradient_pair grads_of_extremum(const dt_op_backward *call) {
    const dt_op_call *op = call->call;
    dt_tensor *self = call->inputs[0], *index = call->inputs[1], *source = call->inputs[2], *grad = call->grads[0];
    dt_tensor *result = call->outputs[0], *value = pick(op, result, index);
    dt_tensor *own = dt_to(dt_eq(self, result), dt_tensor_dtype(grad));
    dt_tensor *others = value ? dt_to(dt_eq(source, value), dt_tensor_dtype(grad)) : NULL;
    dt_tensor *n = add_at(op, own, index, others), *part = n ? dt_div(grad, n) : NULL;
    return part ? (gradient_pair){dt_mul(own, part), dt_mul(others, pick(op, part, index))} : (gradient_pair){0};
}

static dt_status backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    reduction_kind kind = kind_of(op);
    gradient_pair of = kind == SUM    ? (gradient_pair){call->grads[0], pick(op, call->grads[0], call->inputs[1])}
                       : kind == PROD ? grads_of_prod(call)
                       : kind == MEAN ? grads_of_mean(call)
                                      : grads_of_extremum(call);
    if (call->needed[0])
        input_grads[0] = includes_self(op) ? of.self : zero_at(op, of.self, call->inputs[1]);
    if (call->needed[2]) /* the source may be larger than the index */
        input_grads[2] = of.source;
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

#define REDUCES                                                                                                      \
    .rows = rows_reduce, .shape = shape_reduce, .kernel = reduce, .arguments = "dim,reduce,include_self",            \
    .backward = backward

const dt_op dt__op_scatter_reduce = {
    .schema = "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
              "bool include_self=True) -> Tensor",
    .summary = "Reduces elements at indices along a dim, by sum, prod, mean, amax or amin.",
    REDUCES,
    .saves = "self,index,src,result",
    .samples = "scatter_reduce(f32[5,3]; 0; i64[7,3]; f32[7,3]; \"sum\")\n"
               "scatter_reduce(f32[5,3]; 1; i64[5,4]; f32[5,4]; \"prod\"; include_self=false)\n"
               "scatter_reduce(f32[5,3]; 0; i64[4,3]; f32[4,3]; \"mean\"; include_self=false)\n"
               "scatter_reduce(f32[5,3]; 0; i64[4,3]; f32[4,3]; \"amax\")\n"
               "scatter_reduce(i32[5,3]; 1; i64[5,4]; i32[5,4]; \"amin\"; include_self=false)",
};
const dt_op dt__op_index_reduce = {
    .schema = "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
              "bool include_self=True) -> Tensor",
    .summary = "Reduces slices at indices of a dim, by prod, mean, amax or amin.",
    REDUCES,
    .family = "slices",
    .saves = "self,index,source,result",
    .samples = "index_reduce(f32[5,3]; 0; i64[7]; f32[7,3]; \"prod\")\n"
               "index_reduce(f32[5,3]; 1; i64[4]; f32[5,4]; \"mean\"; include_self=false)\n"
               "index_reduce(f32[5,3]; 0; i64[4]; f32[4,3]; \"amax\"; include_self=false)\n"
               "index_reduce(i32[5,3]; 0; i64[4]; i32[4,3]; \"amin\")",
};
const dt_op dt__op_scatter_reduce_ = {.in_place_of = &dt__op_scatter_reduce,
                                      .samples = "scatter_reduce_(f32[5,3]; 0; i64[4,3]; f32[4,3]; \"amax\")"};
const dt_op dt__op_index_reduce_ = {.in_place_of = &dt__op_index_reduce,
                                    .samples = "index_reduce_(f32[5,3]; 0; i64[4]; f32[4,3]; \"prod\")"};
