/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that select elements by their order, with their positions: max, min, topk, sort, cummax. NaN is the
 * largest. Of equal elements the first is selected. Along a dim all elements are needed: it is not sharded.
 */
#include "base/dtype.h"
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"
#include "ops/order_lines.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* max and min: positions in .arguments, and overloads. */
enum { DIM, KEEPDIM };
enum { OF_ALL, ALONG_DIM, OF_TWO };

typedef struct extremum {
    dt__fold fold;
    dt__element_op of_two;
    dt_reduce reduce, other; /* P(reduce) of both inputs is kept, P(other) of one alone */
    const char *rule;        /* over all elements */
} extremum;

static dt_status refuse_empty(const dt_op_call *call, uint32_t dims) {
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (dims >> d & 1 && call->inputs[0].shape[d] == 0)
            return dt_op_refuse(call, DT_ERR_SHAPE, "cannot reduce dim %d: it is empty", d);
    return DT_OK;
}

static dt_status shape_extremum(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {0};
    int dim;
    DT__TRY(dt__refuse_complex(call));
    if (call->overload == OF_TWO)
        return dt__add_broadcast(call, dt__promote_call(call, 3, 2));
    if (call->overload == OF_ALL) {
        DT__TRY(refuse_empty(call, UINT32_MAX));
        return dt__add_shape(call, input->dtype, &shape);
    }
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, input->n_dims, &dim));
    DT__TRY(refuse_empty(call, (uint32_t)1 << dim));
    for (int d = 0; d < input->n_dims; d++)
        if (d != dim)
            shape.sizes[shape.n++] = input->shape[d];
        else if (dt__arg_at(call, KEEPDIM)->as.b)
            shape.sizes[shape.n++] = 1;
    DT__TRY(dt__add_shape(call, input->dtype, &shape));
    return dt__add_shape(call, DT_I64, &shape);
}

static void rows_extremum(const dt_op_call *call, dt_rows *rows) {
    const extremum *of = call->op->family;
    if (call->overload == ALONG_DIM) {
        dt_rows_factors(rows, "...[dim!] -> ...[dim:1?]", 0);
        return;
    }
    if (call->overload == OF_ALL) {
        dt_rows_factors(rows, of->rule, 0);
        dt_rows_reduce(rows, 1, of->reduce, of->reduce);
        return;
    }
    dt_rows_factors(rows, "...,... -> ...", 0);
    if (dt__keeps_order_of(call, 3))
        dt_rows_reduce(rows, 3, of->reduce, of->reduce);
    for (unsigned alone = 1; alone < 3; alone++)
        if (dt__keeps_order_of(call, alone))
            dt_rows_reduce(rows, alone, of->other, of->other);
}

/* The positions, and the elements there. */
static dt_status select_along(dt_op_call *call) {
    const extremum *of = call->op->family;
    dt__along in, values, indices;
    dt__line_along(&call->inputs[0], dt__wrap_dim(dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims), &in);
    dt__line_reduced(&call->outputs[0], &in, &values);
    dt__line_reduced(&call->outputs[1], &in, &indices);
    if (dt__array_count(&values.array) == 0)
        return DT_OK;
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS], bad;
    int n = 0;
    for (int d = 0; d < in.array.n_dims; d++)
        if (d != in.dim) {
            shape[n] = indices.shape[d];
            strides[n++] = indices.strides[d];
        }
    dt__array reduced = {indices.array.data, DT_I64, n, shape, strides};
    dt__reduce_arg(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                   &(dt__reduction){of->fold, (uint64_t)1 << in.dim, 0, &in.array, &reduced}, NULL);
    (void)dt__gather_along(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                           &(dt__indexed){.indexed = &in.array,
                                          .dim = in.dim,
                                          .index = &indices.array,
                                          .limit = in.shape[in.dim],
                                          .other = &values.array},
                           &bad);
    return DT_OK;
}

/* Of all elements of this rank; without any, the identity. */
static dt_status select_of_all(dt_op_call *call) {
    const extremum *of = call->op->family;
    dt__array in = dt__array_of(&call->inputs[0]), out = dt__array_of(&call->outputs[0]);
    if (dt__array_count(&in) == 0) {
        dt__write_identity(out.dtype, of->reduce, out.data);
        return DT_OK;
    }
    dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
               &(dt__reduction){of->fold, ((uint64_t)1 << in.n_dims) - 1, 0, &in, &out});
    return DT_OK;
}

static dt_status select_extremum(dt_op_call *call) {
    const extremum *of = call->op->family;
    if (call->overload == ALONG_DIM)
        return select_along(call);
    if (call->overload == OF_ALL)
        return select_of_all(call);
    dt__constant constants[2];
    dt__array out = dt__array_of(&call->outputs[0]), a = dt__array_of(&call->inputs[0]),
              b = dt__array_of(&call->inputs[1]);
    a = dt__array_wrapped(call, &a, out.dtype, &constants[0]);
    b = dt__array_wrapped(call, &b, out.dtype, &constants[1]);
    return dt__run_elements(call, of->of_two, out.dtype, &out, &a, &b, NULL);
}

/* topk: positions in .arguments. */
enum { K, TOPK_DIM, LARGEST };

static dt_status shape_topk(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    int64_t k = dt__arg_at(call, K)->as.i;
    dt__shape shape = {.n = input->n_dims};
    int dim;
    DT__TRY(dt__refuse_complex(call));
    if (input->dtype == DT_BOOL)
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected numbers, got bool");
    DT__TRY(dt__read_dim(call, dt__arg_at(call, TOPK_DIM)->as.i, input->n_dims, &dim));
    int64_t size = input->n_dims ? input->shape[dim] : 1;
    if (k < 0 || k > size)
        return dt_op_refuse(call, DT_ERR_VALUE, "k: expected 0 to %" PRId64 ", the size of dim %d, got %" PRId64,
                            size, dim, k);
    if (input->n_dims)
        memcpy(shape.sizes, input->shape, (size_t)input->n_dims * sizeof *shape.sizes);
    if (input->n_dims)
        shape.sizes[dim] = k;
    DT__TRY(dt__add_shape(call, input->dtype, &shape));
    return dt__add_shape(call, DT_I64, &shape);
}

/* An element as an integer of the same order, and its position. */
typedef struct ranked {
    int64_t key, index;
} ranked;

/* Whether a is selected before b. Keys of the smallest are complements, which reverses their order. */
static bool is_before(const ranked *a, const ranked *b) {
    return a->key != b->key ? a->key > b->key : a->index < b->index;
}

/* Restores a heap, whose root is selected last of all, after the element at `at` changed. */
static void sift(ranked *heap, int64_t n, int64_t at) {
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_before(&heap[child], &heap[child + 1]))
            child++;
        if (is_before(&heap[child], &heap[at]))
            return;
        ranked other = heap[at];
        heap[at] = heap[child];
        heap[child] = other;
    }
}

typedef struct topk_lines {
    dt__along in, values, indices;
    int64_t k, n_lines, lines_per_piece;
    bool largest;
    ranked *heaps; /* k per piece */
} topk_lines;

/* The k selected ones, in order. */
static void select_line(const topk_lines *all, const unsigned char *line, ranked *heap) {
    dt_dtype dtype = all->in.array.dtype;
    int64_t n = all->in.shape[all->in.dim], step = all->in.strides[all->in.dim] * (int64_t)dt_dtype_size(dtype);
    for (int64_t i = 0; i < n; i++) {
        int64_t key = dt__order_key(dtype, line + i * step);
        ranked one = {all->largest ? key : ~key, i};
        if (i >= all->k && is_before(&heap[0], &one))
            continue;
        heap[i < all->k ? i : 0] = one;
        if (i >= all->k)
            sift(heap, all->k, 0);
        for (int64_t at = all->k / 2 - 1; i == all->k - 1 && at >= 0; at--)
            sift(heap, all->k, at);
    }
    for (int64_t left = all->k - 1; left > 0; left--) {
        ranked last = heap[0];
        heap[0] = heap[left];
        heap[left] = last;
        sift(heap, left, 0);
    }
}

static void topk_piece(void *arg, int64_t piece) {
    const topk_lines *all = arg;
    ranked *heap = all->heaps + piece * all->k;
    size_t size = dt_dtype_size(all->in.array.dtype);
    int64_t begin = piece * all->lines_per_piece, end = dt__min_i64(begin + all->lines_per_piece, all->n_lines);
    for (int64_t l = begin; l < end; l++) {
        const unsigned char *line =
            (const unsigned char *)all->in.array.data + dt__line_offset(&all->in, l) * (int64_t)size;
        unsigned char *values = all->values.array.data;
        values += values ? dt__line_offset(&all->values, l) * (int64_t)size : 0;
        int64_t *indices = (int64_t *)all->indices.array.data + dt__line_offset(&all->indices, l);
        select_line(all, line, heap);
        for (int64_t i = 0; i < all->k; i++) {
            int64_t from = heap[i].index;
            if (all->values.array.data)
                memcpy(values + i * all->values.strides[all->in.dim] * (int64_t)size,
                       line + from * all->in.strides[all->in.dim] * (int64_t)size, size);
            indices[i * all->indices.strides[all->in.dim]] = from;
        }
    }
}

/* Values (optional) and indices of lines; k is set. */
static dt_status select_lines(const dt_op_call *call, topk_lines *all) {
    enum { MIN_PIECE = 1 << 14 }; /* elements */
    int64_t n_out = dt__array_count(&all->indices.array), size = all->in.shape[all->in.dim];
    if (n_out == 0)
        return DT_OK;
    all->n_lines = n_out / all->k;
    all->lines_per_piece = dt__max_i64(1, MIN_PIECE / size);
    int64_t n_pieces = dt__ceil_div(all->n_lines, all->lines_per_piece);
    dt__scratch heaps;
    DT__TRY(dt__scratch_new(call, DT_I64, 2, (int64_t[]){n_pieces, 2 * all->k}, &heaps));
    all->heaps = heaps.array.data;
    dt__pool_run(dt__pool_of(call->ctx), n_pieces, topk_piece, all);
    dt__scratch_free(call, &heaps);
    return DT_OK;
}

static dt_status topk(dt_op_call *call) {
    int dim = dt__wrap_dim(dt__arg_at(call, TOPK_DIM)->as.i, call->inputs[0].n_dims);
    topk_lines all = {.largest = dt__arg_at(call, LARGEST)->as.b};
    dt__line_along(&call->inputs[0], dim, &all.in);
    dt__line_along(&call->outputs[0], dim, &all.values);
    dt__line_along(&call->outputs[1], dim, &all.indices);
    all.k = all.values.shape[dim]; /* 1 of a tensor without dims */
    return select_lines(call, &all);
}

/* sort and argsort: positions in .arguments. */
enum { SORT_DIM, DESCENDING };

static dt_status shape_sort(dt_op_call *call) {
    int ignored;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, SORT_DIM)->as.i, call->inputs[0].n_dims, &ignored));
    DT__TRY(dt__add_like(call, 0, call->op->family ? DT_I64 : call->inputs[0].dtype));
    return call->op->family ? DT_OK : dt__add_like(call, 0, DT_I64);
}

/* All elements of a line are selected, in order; argsort returns the positions only. */
static dt_status sort(dt_op_call *call) {
    int dim = dt__wrap_dim(dt__arg_at(call, SORT_DIM)->as.i, call->inputs[0].n_dims);
    topk_lines all = {.largest = dt__arg_at(call, DESCENDING)->as.b};
    dt__line_along(&call->inputs[0], dim, &all.in);
    if (!call->op->family)
        dt__line_along(&call->outputs[0], dim, &all.values);
    dt__line_along(&call->outputs[call->n_outputs - 1], dim, &all.indices);
    all.k = all.in.shape[dim];
    return select_lines(call, &all);
}

/* cummax and cummin: the family is whether it is the maximum. Of equal elements the last one counts, and NaN stays. */
typedef struct running_lines {
    dt__along in, values, indices;
    bool is_max;
} running_lines;

static dt_status shape_running(dt_op_call *call) {
    int ignored;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims, &ignored));
    DT__TRY(dt__add_like(call, 0, call->inputs[0].dtype));
    return dt__add_like(call, 0, DT_I64);
}

static void running_line(void *arg, int64_t l) {
    const running_lines *all = arg;
    int dim = all->in.dim;
    dt_dtype dtype = all->in.array.dtype;
    int64_t size = (int64_t)dt_dtype_size(dtype), best = 0, best_key = 0;
    const unsigned char *line = (const unsigned char *)all->in.array.data + dt__line_offset(&all->in, l) * size;
    unsigned char *values = (unsigned char *)all->values.array.data + dt__line_offset(&all->values, l) * size;
    int64_t *indices = (int64_t *)all->indices.array.data + dt__line_offset(&all->indices, l);
    for (int64_t i = 0; i < all->in.shape[dim]; i++) {
        const unsigned char *at = line + i * all->in.strides[dim] * size;
        bool is_nan = dt__is_float(dtype) && isnan(dt__read_f64(dtype, at));
        int64_t key = dt__order_key(dtype, at);
        key = all->is_max || is_nan ? key : ~key; /* NaN is beyond all numbers in both */
        if (i == 0 || key >= best_key) {
            best = i;
            best_key = key;
        }
        memcpy(values + i * all->values.strides[dim] * size, line + best * all->in.strides[dim] * size, (size_t)size);
        indices[i * all->indices.strides[dim]] = best;
    }
}

static dt_status running_extremum(dt_op_call *call) {
    running_lines all = {.is_max = *(const bool *)call->op->family};
    int dim = dt__wrap_dim(dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims);
    dt__line_along(&call->inputs[0], dim, &all.in);
    dt__line_along(&call->outputs[0], dim, &all.values);
    dt__line_along(&call->outputs[1], dim, &all.indices);
    int64_t n = dt__array_count(&all.in.array);
    if (n > 0)
        dt__pool_run(dt__pool_of(call->ctx), n / all.in.shape[dim], running_line, &all);
    return DT_OK;
}

#define EXTREMUM(fold_, of_two_, reduce_, other_, rule_)                                                             \
    .rows = rows_extremum, .shape = shape_extremum, .kernel = select_extremum, .arguments = "dim,keepdim",           \
    .family = &(const extremum) {                                                                                    \
        fold_, of_two_, reduce_, other_, rule_                                                                       \
    }

/* The gradient in equal parts: to the elements that are the extreme one, or to those that are NaN, if there are any. */
#define IS_EXTREME "logical_or(eq(self, result), isnan(self))"
#define AT_EXTREMA "self: where(" IS_EXTREME ", grad / sum(" IS_EXTREME "), 0)"

const dt_op dt__op_max = {
    .schema = "max(Tensor self) -> Tensor | "
              "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices) | "
              "max.other(Tensor self, Tensor other) -> Tensor",
    .summary = "Largest element of all, or along a dim with its position; or of two tensors, elementwise.",
    EXTREMUM(DT__FOLD_MAX, DT__EL_MAXIMUM, DT_MAX, DT_MIN, "...[dim] -> ...[dim:1?] P(max)"),
    .gradient = AT_EXTREMA "; "
                           "self.dim: gather_backward(reshape(grad, kept(self.shape, dim)), "
                           "reshape(indices, kept(self.shape, dim)), self.shape, dim); "
                           "self.other: grad * logical_not(lt(self, other)) / (eq(self, other) + 1); "
                           "other: grad * logical_not(gt(self, other)) / (eq(self, other) + 1)",
    .samples = "max(f32[5,3])\nmax(f32[5,3]; 0)\nmax(i64[2,5,3]; 1; true)\nmax(bool[5,3]; 1)\nmax(f32[]; 0)\n"
               "max(f32[0,3]; 1)\nmax(f32[5,3]; f32[3])",
};
const dt_op dt__op_min = {
    .schema = "min(Tensor self) -> Tensor | "
              "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices) | "
              "min.other(Tensor self, Tensor other) -> Tensor",
    .summary = "Smallest element of all, or along a dim with its position; or of two tensors, elementwise.",
    EXTREMUM(DT__FOLD_MIN, DT__EL_MINIMUM, DT_MIN, DT_MAX, "...[dim] -> ...[dim:1?] P(min)"),
    .gradient = AT_EXTREMA "; "
                           "self.dim: gather_backward(reshape(grad, kept(self.shape, dim)), "
                           "reshape(indices, kept(self.shape, dim)), self.shape, dim); "
                           "self.other: grad * logical_not(gt(self, other)) / (eq(self, other) + 1); "
                           "other: grad * logical_not(lt(self, other)) / (eq(self, other) + 1)",
    .samples = "min(f32[5,3])\nmin(f32[5,3]; 0)\nmin(i64[2,5,3]; 1; true)\nmin(f32[5,3]; f32[3])",
};
const dt_op dt__op_topk = {
    .schema = "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> "
              "(Tensor values, Tensor indices)",
    .summary = "The k largest or smallest elements along a dim in order, with their positions.",
    .rule = "...[dim!] -> ...[dim]",
    .shape = shape_topk,
    .kernel = topk,
    .arguments = "k,dim,largest",
    .gradient = "self: gather_backward(grad, indices, self.shape, dim)",
    .samples = "topk(f32[5,3]; 2)\ntopk(f32[5,3]; 3; 0; false)\ntopk(i64[2,5,3]; 4; 1)\ntopk(f32[5,3]; 0)\n"
               "topk(f32[]; 0)",
    .unused = "sorted",
};
#define SORTED                                                                                                       \
    .rule = "...[dim!] -> ...[dim]", .shape = shape_sort, .kernel = sort, .arguments = "dim,descending",             \
    .unused = "stable"

const dt_op dt__op_sort = {
    .schema = "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices) | "
              "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
              "(Tensor values, Tensor indices)",
    .summary = "The elements along a dim in order, with their positions; equal ones keep their order.",
    SORTED,
    .gradient = "self: gather_backward(grad, indices, self.shape, dim)",
    .samples = "sort(f32[5,3])\nsort(i64[2,5,3]; 1; true)\nsort(f32[]; 0)",
};
const dt_op dt__op_argsort = {
    .schema = "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor | "
              "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    .summary = "The positions of the elements along a dim in order; equal ones keep their order.",
    SORTED,
    .family = "positions only",
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "argsort(f32[5,3]; 0)",
};
#define RUNNING(name, is_max_)                                                                                       \
    .schema = name "(Tensor self, int dim) -> (Tensor values, Tensor indices)", .rule = "...[dim!] -> ...[dim]",     \
    .shape = shape_running, .kernel = running_extremum, .arguments = "dim", .family = &(const bool){is_max_},        \
    .gradient = "self: gather_backward(grad, indices, self.shape, dim)",                                             \
    .samples = name "(f32[5,3]; 0)\n" name "(i32[5,3]; -1)"

const dt_op dt__op_cummax = {RUNNING("cummax", true), .summary = "Running maximum along a dim, with its position."};
const dt_op dt__op_cummin = {RUNNING("cummin", false), .summary = "Running minimum along a dim, with its position."};
