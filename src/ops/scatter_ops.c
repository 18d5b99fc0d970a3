/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that write to elements by index: scatter, scatter_add, index_add, index_copy, index_fill. Where indices are equal
 * they are written, or added, in their order; the gradient of what is written is right only where they differ. A dim
 * that the indices refer to may be sharded: each rank writes what it holds. Sums may be partial together with what is
 * added to them.
 */
#include "base/dtype.h"
#include "kernels/kernels.h"
#include "ops/add_at_indices.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <string.h>

/* Positions in .arguments. */
enum { DIM, ALPHA };
/* The source, or a value, in all signatures. */
enum { SOURCE = 3 };

/* What the ops differ in. */
typedef struct scattering {
    bool adds;
    bool slices; /* the index is a vector, of slices */
    bool values; /* the source is a number, or a tensor without dims */
} scattering;

static const scattering *kind_of(const dt_op_call *call) { return call->op->family; }
static const dt_op_value *index_of(const dt_op_call *call) { return &call->inputs[1]; }
/* NULL: a number. */
static const dt_op_value *source_of(const dt_op_call *call) { return call->n_inputs == 3 ? &call->inputs[2] : NULL; }
static int dim_of(const dt_op_call *call) {
    return dt__wrap_dim(dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims);
}

/* A tensor without dims counts as a vector of one element. */
static int at_least_one(int n_dims) { return n_dims ? n_dims : 1; }
static int64_t size_at(const dt_op_value *value, int d) { return value->n_dims ? value->shape[d] : 1; }

static dt_status check_dtype(const dt_op_call *call) {
    const dt_op_value *source = source_of(call);
    if (!source || source->dtype == call->inputs[0].dtype || kind_of(call)->values)
        return DT_OK;
    return dt_op_refuse(call, DT_ERR_DTYPE, "the dtypes differ: %s and %s; convert one with dt_to",
                        dt_dtype_name(call->inputs[0].dtype), dt_dtype_name(source->dtype));
}

/* The index is no larger than the source, nor, in other dims, than the tensor. */
static dt_status shape_along(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = index_of(call), *source = source_of(call);
    int dim, n = at_least_one(self->n_dims);
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, self->n_dims, &dim));
    DT__TRY(check_dtype(call));
    if (dt__elements(index->n_dims, index->shape) == 0 && dt__is_integral(index->dtype))
        return dt__add_like(call, 0, self->dtype); /* nothing is written */
    DT__TRY(dt__expect_index(call, 1));
    if (at_least_one(index->n_dims) != n || (source && at_least_one(source->n_dims) != n))
        return dt_op_refuse(call, DT_ERR_SHAPE, "the index and the source: expected %d dims, as the tensor has", n);
    for (int d = 0; d < n; d++)
        if ((d != dim && size_at(index, d) > size_at(self, d)) || (source && size_at(index, d) > size_at(source, d)))
            return dt_op_refuse(call, DT_ERR_SHAPE,
                                "dim %d of the index: expected no more than the tensor and the source have, got "
                                "%" PRId64,
                                d, size_at(index, d));
    return dt__add_like(call, 0, self->dtype);
}

/* The source has the dims of the tensor, and along the dim as many slices as there are indices. */
static dt_status shape_slices(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0], *index = index_of(call), *source = source_of(call);
    int dim, n = at_least_one(self->n_dims);
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, self->n_dims, &dim));
    DT__TRY(check_dtype(call));
    DT__TRY(dt__expect_index(call, 1));
    if (index->n_dims > 1)
        return dt_op_refuse(call, DT_ERR_SHAPE, "the index: expected a vector, got %d dims", index->n_dims);
    if (kind_of(call)->values) {
        if (source && source->n_dims)
            return dt_op_refuse(call, DT_ERR_SHAPE, "value: expected a tensor without dims, got %d dims",
                                source->n_dims);
        return dt__add_like(call, 0, self->dtype);
    }
    bool fits = at_least_one(source->n_dims) == n;
    for (int d = 0; d < n && fits; d++)
        fits = size_at(source, d) == (d == dim ? size_at(index, 0) : size_at(self, d));
    return fits
               ? dt__add_like(call, 0, self->dtype)
               : dt_op_refuse(call, DT_ERR_SHAPE,
                              "the source: expected the shape of the tensor, with the size of the index along dim %d",
                              dim);
}

static dt_status check_value(const dt_op_call *call) {
    const dt_arg *value = &call->args[SOURCE];
    return value->type == DT_ARG_TENSOR ? DT_OK : dt__expect_fit(call, value, call->inputs[0].dtype);
}

static int64_t class_value(const dt_op_call *call) {
    const dt_arg *value = &call->args[SOURCE];
    return value->type == DT_ARG_TENSOR ? 0 : dt__class_of_number(value);
}

/* Dims that the tensors have in common; the dim of the indices by the offset of each rank; indices of sums. */
static void rows_shards(const dt_op_call *call, dt_rows *rows) {
    const scattering *of = kind_of(call);
    const dt_op_value *self = &call->inputs[0], *index = index_of(call), *source = source_of(call);
    int dim = dim_of(call), output = call->n_inputs;
    bool sourced = source && !of->values;
    for (int d = 0; d < self->n_dims; d++) {
        dt_row_entry entries[4] = {DT_ROW_S(d)};
        bool shared = d != dim && (of->slices || index->shape[d] == self->shape[d]) &&
                      (!sourced || source->shape[d] == self->shape[d]);
        if (!shared && d != dim)
            continue;
        entries[1] = shared && !of->slices ? DT_ROW_S(d) : DT_ROW_R;
        if (sourced)
            entries[2] = shared ? DT_ROW_S(d) : DT_ROW_R;
        entries[output] = DT_ROW_S(d);
        /* of index_copy, lists of rows have the others only */
        unsigned listed = of->slices && !of->adds && !of->values ? DT_ROW_UNLISTED : 0;
        dt_rows_add(rows, d == dim ? DT_ROW_OFFSET | listed : 0, entries);
    }
    if (of->adds && index->n_dims && source->n_dims && size_at(source, dim) == size_at(index, of->slices ? 0 : dim))
        dt_rows_add(
            rows, 0,
            (dt_row_entry[]){DT_ROW_P(DT_SUM), DT_ROW_S(of->slices ? 0 : dim), DT_ROW_S(dim), DT_ROW_P(DT_SUM)});
}

/* Sums are linear, and not less where the tensor is not, unless integers wrap around; written elements are only moved,
 * and a number is its own average, max and min. */
static void rows_scatter(const dt_op_call *call, dt_rows *rows) {
    const scattering *of = kind_of(call);
    const dt_op_value *source = source_of(call), *index = index_of(call);
    if (dt__elements(index->n_dims, index->shape) == 0 && index->n_dims != call->inputs[0].n_dims) {
        dt_rows_partial(rows, DT_PARTIAL_NONE);
        return;
    }
    rows_shards(call, rows);
    if (of->adds) {
        dt_rows_linear(rows, 5);
        if (dt__is_inexact(call->outputs[0].dtype))
            dt_rows_monotone(rows, 0, true);
        return;
    }
    bool converts = source && source->dtype != call->inputs[0].dtype;
    int64_t number = class_value(call);
    for (int kind = 0; kind < DT_N_REDUCES && !converts; kind++)
        if (source)
            dt_rows_reduce(rows, 5, (dt_reduce)kind, (dt_reduce)kind);
        else if ((kind != DT_SUM || number == DT__NUMBER_ZERO) && (kind != DT_PRODUCT || number != DT__NUMBER_OTHER))
            dt_rows_reduce(rows, 1, (dt_reduce)kind, (dt_reduce)kind);
}

/* Arrays of at least one dim. */
typedef struct vectors {
    int64_t shapes[3][DT_SPEC_MAX_DIMS], strides[3][DT_SPEC_MAX_DIMS];
    dt__array out, index, source;
} vectors;

static dt__array as_vector(const dt__array *array, int64_t *shape, int64_t *strides) {
    if (array->n_dims)
        return *array;
    shape[0] = strides[0] = 1;
    return (dt__array){array->data, array->dtype, 1, shape, strides};
}

/* An index of slices, or a value, repeated over the dims of what is written. */
static dt__array repeated(const dt__array *array, const dt__array *like, int dim, int64_t n, int64_t *shape,
                          int64_t *strides) {
    for (int d = 0; d < like->n_dims; d++) {
        shape[d] = d == dim ? n : like->shape[d];
        strides[d] = d == dim && array->n_dims ? array->strides[0] : 0;
    }
    return (dt__array){array->data, array->dtype, like->n_dims, shape, strides};
}

static dt_status write_elements(dt_op_call *call, const dt__array *source) {
    const scattering *of = kind_of(call);
    const dt_op_value *self = &call->inputs[0];
    dt__array out = dt__array_of(&call->outputs[0]), index = dt__array_of(index_of(call));
    vectors all;
    int dim = dim_of(call);
    int64_t bad, n = of->slices ? dt__array_count(&index) : 0;
    all.out = as_vector(&out, all.shapes[0], all.strides[0]);
    all.index = of->slices && !of->adds ? repeated(&index, &all.out, dim, n, all.shapes[1], all.strides[1])
                                        : as_vector(&index, all.shapes[1], all.strides[1]);
    all.source = as_vector(source, all.shapes[2], all.strides[2]);
    if (source->n_dims == 0) {
        for (int d = 0; d < all.index.n_dims; d++)
            all.shapes[2][d] = all.index.shape[d], all.strides[2][d] = 0;
        all.source = (dt__array){source->data, source->dtype, all.index.n_dims, all.shapes[2], all.strides[2]};
    }
    if (dt__array_count(&index) == 0 || dt__array_count(&all.index) == 0)
        return DT_OK;
    bool sharded = self->n_dims && self->shape[dim] != self->global_shape[dim];
    dt__indexed indexed = {.indexed = &all.out,
                           .dim = dim,
                           .index = &all.index,
                           .offset = sharded ? self->offset[dim] : 0,
                           .limit = self->n_dims ? self->global_shape[dim] : 1,
                           .other = &all.source,
                           .is_new = call->outputs[0].data != self->data};
    if (of->adds)
        return dt__add_at_indices(call, &indexed, !of->slices);
    bool fine = dt__scatter_along(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &indexed, false, &bad);
    return fine ? DT_OK : dt__bad_index(call, bad, indexed.limit);
}

/* The tensor, then what is written to it. */
static dt_status scatter(dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), self = dt__array_of(&call->inputs[0]);
    const dt_arg *alpha = dt__arg_at(call, ALPHA), *value = &call->args[SOURCE];
    dt__constant constant;
    dt__run_convert(call, &out, &self);
    if (value->type != DT_ARG_TENSOR) {
        dt__array number = dt__array_of_number(value, out.dtype, &constant);
        return write_elements(call, &number);
    }
    dt__array source = dt__array_of(source_of(call));
    bool scales = alpha && !(alpha->type == DT_ARG_INT && alpha->as.i == 1);
    if (!scales && source.dtype == out.dtype)
        return write_elements(call, &source);
    dt__scratch scaled;
    const dt_dtype dtype = scales && dt__is_half(out.dtype) ? DT_F32 : out.dtype; /* a sum is rounded once */
    DT__TRY(dt__scratch_new(call, dtype, source.n_dims, source.shape, &scaled));
    dt_status status = DT_OK;
    if (scales) {
        dt__array factor = dt__array_of_number(alpha, dtype, &constant);
        status = dt__run_elements(call, DT__EL_MUL, dtype, &scaled.array, &source, &factor, NULL);
    } else
        dt__run_convert(call, &scaled.array, &source);
    if (status == DT_OK)
        status = write_elements(call, &scaled.array);
    dt__scratch_free(call, &scaled);
    return status;
}

static dt_status shape_index_add(dt_op_call *call) {
    const dt_arg *alpha = dt__arg_at(call, ALPHA);
    if (alpha->type == DT_ARG_FLOAT && dt__is_integral(call->inputs[0].dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE,
                            "alpha: expected an integer, as the tensors are, got a floating-point number");
    return shape_slices(call);
}

#define SCATTER(...)                                                                                                 \
    .rows = rows_scatter, .kernel = scatter, .family = &(const scattering) { __VA_ARGS__ }

const dt_op dt__op_scatter = {
    .schema = "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor | "
              "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    .summary = "Writes the elements of a tensor, or a number, at indices along a dim.",
    SCATTER(0),
    .shape = shape_along,
    .varying = "value",
    .class_of = class_value,
    .check = check_value,
    .arguments = "dim",
    .gradient = "self: scatter(grad, dim, index, 0); src: gather(grad, dim, index)",
    .samples = "scatter(f32[5,3]; 0; i64[1,3]; f32[1,3])\nscatter(f32[5,3]; 1; i64[5,1]; f32[5,1])\n"
               "scatter(i32[5,3]; 0; i64[2,2]; i32[3,3])\nscatter(f32[5,3]; 0; i64[2,3]; 1)",
};
const dt_op dt__op_scatter_add = {
    .schema = "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    .summary = "Adds the elements of a tensor at indices along a dim.",
    SCATTER(.adds = true),
    .shape = shape_along,
    .arguments = "dim",
    .gradient = "self: grad; src: gather(grad, dim, index)",
    .samples = "scatter_add(f32[5,3]; 0; i64[7,3]; f32[7,3])\nscatter_add(f32[5,3]; 1; i64[2,4]; f32[2,4])\n"
               "scatter_add(i32[5]; 0; i64[4]; i32[4])",
};
const dt_op dt__op_index_add = {
    .schema = "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    .summary = "Adds slices of a tensor, times alpha, at indices of a dim.",
    SCATTER(.adds = true, .slices = true),
    .shape = shape_index_add,
    .arguments = "dim,alpha",
    .gradient = "self: grad; source: index_select(grad, dim, index) * conjugate(alpha)",
    .samples = "index_add(f32[5,3]; 0; i64[7]; f32[7,3])\nindex_add(f32[5,3]; 1; i64[2]; f32[5,2]; alpha=-2.5)",
};
const dt_op dt__op_index_copy = {
    .schema = "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    .summary = "Writes slices of a tensor at indices of a dim.",
    SCATTER(.slices = true),
    .shape = shape_slices,
    .arguments = "dim",
    .gradient = "self: index_fill(grad, dim, index, 0); source: index_select(grad, dim, index)",
    .samples = "index_copy(f32[5,3]; 0; i64[1]; f32[1,3])\nindex_copy(i32[5,3]; 1; i64[2]; i32[5,2])",
};
const dt_op dt__op_index_fill = {
    .schema = "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor | "
              "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    .summary = "Writes a number, or the value of a tensor without dims, at indices of a dim.",
    SCATTER(.slices = true, .values = true),
    .shape = shape_slices,
    .varying = "value",
    .class_of = class_value,
    .check = check_value,
    .arguments = "dim",
    .gradient = "self: index_fill(grad, dim, index, 0); value: sum(grad - index_fill(grad, dim, index, 0))",
    .samples = "index_fill(f32[5,3]; 0; i64[2]; 0)\nindex_fill(f32[5,3]; 1; i64[2]; 2.5)\n"
               "index_fill(f32[5,3]; 0; i64[2]; f32[])",
};
const dt_op dt__op_scatter_ = {.in_place_of = &dt__op_scatter,
                               .samples = "scatter_(f32[5,3]; 0; i64[1,3]; f32[1,3])"};
const dt_op dt__op_scatter_add_ = {.in_place_of = &dt__op_scatter_add,
                                   .samples = "scatter_add_(f32[5,3]; 0; i64[7,3]; f32[7,3])"};
const dt_op dt__op_index_add_ = {.in_place_of = &dt__op_index_add,
                                 .samples = "index_add_(f32[5,3]; 0; i64[7]; f32[7,3])"};
const dt_op dt__op_index_copy_ = {.in_place_of = &dt__op_index_copy,
                                  .samples = "index_copy_(f32[5,3]; 0; i64[1]; f32[1,3])"};
const dt_op dt__op_index_fill_ = {.in_place_of = &dt__op_index_fill,
                                  .samples = "index_fill_(f32[5,3]; 0; i64[2]; 2.5)"};
