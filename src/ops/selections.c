/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that select one element of each line by its rank among the others: kthvalue, median, nanmedian, and mode, which
 * needs the order to count equal elements. Along the dim all elements are needed: it is not sharded. Of equal elements
 * the first one in order is selected, and of a mode the last.
 */
#include "base/dtype.h"
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "ops/order_lines.h"
#include "ops/reduce_support.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Position of k in .arguments, after those of all reductions. */
enum { K = 2 };

/* An element as an integer of the same order, and its position. */
typedef struct keyed {
    int64_t key, index;
} keyed;

static bool is_less(const keyed *a, const keyed *b) {
    return a->key != b->key ? a->key < b->key : a->index < b->index;
}

static void swap(keyed *a, keyed *b) {
    keyed other = *a;
    *a = *b;
    *b = other;
}

/* The element of rank k: quickselect, with the median of three as the pivot. Elements are distinct by position. */
static keyed find_ranked(keyed *line, int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        keyed *first = &line[low], *middle = &line[low + (high - low) / 2], *last = &line[high];
        if (is_less(middle, first))
            swap(middle, first);
        if (is_less(last, first))
            swap(last, first);
        if (is_less(last, middle))
            swap(last, middle);
        const keyed pivot = *middle;
        int64_t i = low, j = high;
        while (i <= j) {
            while (is_less(&line[i], &pivot))
                i++;
            while (is_less(&pivot, &line[j]))
                j--;
            if (i <= j)
                swap(&line[i++], &line[j--]);
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return line[k];
}

/* find_ranked of keys and positions in one number each. The elements that remain are moved to the front: what is
 * counted and moved takes no branch that depends on the elements. */
static uint64_t find_packed(uint64_t *line, int64_t n, int64_t k) {
    while (n > 1) {
        const uint64_t first = line[0], middle = line[n / 2], last = line[n - 1];
        const uint64_t low = first < middle ? first : middle, high = first < middle ? middle : first;
        const uint64_t pivot = last < low ? low : last > high ? high : last;
        int64_t below = 0, kept = 0;
        for (int64_t i = 0; i < n; i++)
            below += line[i] < pivot;
        if (k == below)
            return pivot;
        const bool is_below = k < below;
        for (int64_t i = 0; i < n; i++) {
            const uint64_t x = line[i];
            line[kept] = x;
            kept += is_below ? x < pivot : x > pivot;
        }
        k -= is_below ? 0 : below + 1;
        n = kept;
    }
    return line[0];
}

/* A line of n elements; the last n_nan in order are NaN; returns a position in the tensor. */
typedef struct line_elements {
    keyed *all;
    uint64_t *packed; /* instead of `all`: the key above, the position below; NULL unless both have 32 bits */
    int64_t n, n_nan, first_nan;
    int64_t k; /* kthvalue only */
} line_elements;
typedef int64_t select_fn(const line_elements *line);

static int64_t select_ranked(const line_elements *line, int64_t n, int64_t k) {
    return line->packed ? (int64_t)(uint32_t)find_packed(line->packed, n, k) : find_ranked(line->all, n, k).index;
}

static int64_t select_kth(const line_elements *line) { return select_ranked(line, line->n, line->k - 1); }

static int64_t select_median(const line_elements *line) {
    return line->n_nan ? line->first_nan : select_ranked(line, line->n, (line->n - 1) / 2);
}

static int64_t select_nanmedian(const line_elements *line) {
    int64_t n = line->n - line->n_nan;
    return n ? select_ranked(line, line->n, (n - 1) / 2) : line->first_nan;
}

static int compare_keyed(const void *a, const void *b) { return is_less(a, b) ? -1 : 1; }

/* The last element of the longest run of equal ones, of equal runs the smallest. NaN equals nothing. */
static int64_t select_mode(const line_elements *line) {
    int64_t n = line->n - line->n_nan, best = line->first_nan, longest = 0, run = 0;
    qsort(line->all, (size_t)line->n, sizeof *line->all, compare_keyed);
    for (int64_t i = 0; i < n; i++) {
        run++;
        if (i + 1 < n && line->all[i + 1].key == line->all[i].key)
            continue;
        if (run > longest) {
            longest = run;
            best = line->all[i].index;
        }
        run = 0;
    }
    return best;
}

/* What the ops differ in. */
typedef struct selection {
    select_fn *select;
} selection;

static bool has_dim(const dt_op_call *call) { return dt__arg_at(call, DT__REDUCED_DIM) != NULL; }

static dt_status shape_selection(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    uint32_t dims;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DT__REDUCED_DIM), input->n_dims, &dims));
    if (has_dim(call) || !dt__is_float(input->dtype)) /* the median of no elements is NaN */
        DT__TRY(dt__expect_elements(call, dims));
    const dt_arg *k = dt__arg_at(call, K);
    int dim = has_dim(call) ? dt__wrap_dim(dt__arg_at(call, DT__REDUCED_DIM)->as.i, input->n_dims) : 0;
    int64_t size = has_dim(call) && input->n_dims ? input->shape[dim] : 1;
    if (k && (k->as.i < 1 || k->as.i > size))
        return dt_op_refuse(call, DT_ERR_VALUE, "k: expected 1 to %" PRId64 ", the size of dim %d, got %" PRId64,
                            size, dim, k->as.i);
    DT__TRY(dt__add_reduced(call, dims, input->dtype));
    return has_dim(call) ? dt__add_reduced(call, dims, DT_I64) : DT_OK;
}

/* The lines of a call, in pieces with memory for the elements of one line each. */
typedef struct selected_lines {
    dt__along in, values, indices;
    select_fn *select;
    int64_t k, n_lines, n_pieces;
    keyed *memory;
} selected_lines;

/* As dt__order_key, in 32 bits. */
static uint32_t key_of_f32(const unsigned char *element) {
    const uint32_t sign = (uint32_t)1 << 31;
    float value;
    uint32_t bits;
    memcpy(&value, element, sizeof value);
    value += 0.0F;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? UINT32_MAX : bits ^ ((0 - (bits >> 31)) | sign); /* without a branch on the sign */
}

/* Integers and floats of up to 32 bits. */
static uint32_t narrow_key(dt_dtype dtype, const unsigned char *element) {
    if (!dt__is_float(dtype))
        return (uint32_t)dt__read_i64(dtype, element) ^ (uint32_t)1 << 31;
    const float value = (float)dt__read_f64(dtype, element);
    return key_of_f32((const unsigned char *)&value);
}

static void read_packed(const selected_lines *all, const unsigned char *first, line_elements *out) {
    const dt_dtype dtype = all->in.array.dtype;
    const int64_t step = all->in.strides[all->in.dim] * (int64_t)dt_dtype_size(dtype);
    const bool is_f32 = dtype == DT_F32, may_be_nan = dt__is_float(dtype);
    out->n_nan = 0;
    for (int64_t i = 0; i < out->n; i++) {
        const uint32_t key = is_f32 ? key_of_f32(first + i * step) : narrow_key(dtype, first + i * step);
        out->packed[i] = (uint64_t)key << 32 | (uint64_t)i;
        if (may_be_nan && key == UINT32_MAX && out->n_nan++ == 0)
            out->first_nan = i;
    }
}

static void read_keyed(const selected_lines *all, const unsigned char *first, line_elements *out) {
    dt_dtype dtype = all->in.array.dtype;
    int64_t step = all->in.strides[all->in.dim] * (int64_t)dt_dtype_size(dtype);
    bool may_be_nan = dt__is_float(dtype);
    out->n_nan = 0;
    for (int64_t i = 0; i < out->n; i++) {
        out->all[i] = (keyed){dt__order_key(dtype, first + i * step), i};
        if (may_be_nan && out->all[i].key == INT64_MAX && out->n_nan++ == 0)
            out->first_nan = i;
    }
}

static void select_piece(void *arg, int64_t piece) {
    const selected_lines *all = arg;
    int64_t size = (int64_t)dt_dtype_size(all->in.array.dtype), n = all->in.shape[all->in.dim];
    line_elements line = {.all = all->memory + piece * n, .n = n, .k = all->k};
    if (size <= 4 && n <= UINT32_MAX && all->select != select_mode)
        line.packed = (uint64_t *)(void *)line.all;
    for (int64_t l = piece; l < all->n_lines; l += all->n_pieces) {
        const unsigned char *first = (const unsigned char *)all->in.array.data + dt__line_offset(&all->in, l) * size;
        (line.packed ? read_packed : read_keyed)(all, first, &line);
        int64_t found = all->select(&line);
        memcpy((unsigned char *)all->values.array.data + dt__line_offset(&all->values, l) * size,
               first + found * all->in.strides[all->in.dim] * size, (size_t)size);
        if (all->indices.array.data)
            ((int64_t *)all->indices.array.data)[dt__line_offset(&all->indices, l)] = found;
    }
}

static dt_status select_lines(const dt_op_call *call, selected_lines *all) {
    const int64_t n = all->in.shape[all->in.dim];
    all->n_lines = dt__array_count(&all->values.array);
    if (all->n_lines == 0)
        return DT_OK;
    all->n_pieces = dt__min_i64(all->n_lines, dt__pool_threads(dt__pool_of(call->ctx)));
    dt__scratch memory;
    DT__TRY(dt__scratch_new(call, DT_I64, 2, (int64_t[]){all->n_pieces, 2 * n}, &memory));
    all->memory = memory.array.data;
    dt__pool_run(dt__pool_of(call->ctx), all->n_pieces, select_piece, all);
    dt__scratch_free(call, &memory);
    return DT_OK;
}

/* All elements as one line; a copy of it is dense. */
static dt_status select_of_all(dt_op_call *call, selected_lines *all) {
    dt__array in = dt__array_of(&call->inputs[0]);
    const int64_t n = dt__array_count(&in), one = 1;
    dt__scratch copy;
    if (n == 0) {
        dt__element_write(in.dtype, (dt__element){.re = (double)NAN}, call->outputs[0].data);
        return DT_OK;
    }
    DT__TRY(dt__scratch_new(call, in.dtype, in.n_dims, in.shape, &copy));
    dt__run_convert(call, &copy.array, &in);
    dt__line_along(
        &(dt_op_value){.dtype = in.dtype, .n_dims = 1, .shape = &n, .strides = &one, .data = copy.array.data}, 0,
        &all->in);
    dt__line_reduced(&call->outputs[0], &all->in, &all->values);
    dt_status status = select_lines(call, all);
    dt__scratch_free(call, &copy);
    return status;
}

static dt_status run_selection(dt_op_call *call) {
    const selection *of = call->op->family;
    const dt_arg *k = dt__arg_at(call, K);
    selected_lines all = {.select = of->select, .k = k ? k->as.i : 0};
    if (!has_dim(call))
        return select_of_all(call, &all);
    dt__line_along(&call->inputs[0], dt__wrap_dim(dt__arg_at(call, DT__REDUCED_DIM)->as.i, call->inputs[0].n_dims),
                   &all.in);
    dt__line_reduced(&call->outputs[0], &all.in, &all.values);
    dt__line_reduced(&call->outputs[1], &all.in, &all.indices);
    return select_lines(call, &all);
}

#define SELECTS(select_)                                                                                             \
    .rule = "...[dim!] -> ...[dim:1?]", .shape = shape_selection, .kernel = run_selection,                           \
    .family = &(const selection) {                                                                                   \
        select_                                                                                                      \
    }
#define AT_INDICES                                                                                                   \
    "gather_backward(reshape(grad, kept(self.shape, dim)), reshape(indices, kept(self.shape, dim)), self.shape, "    \
    "dim)"
#define VALUE_AND_POSITION "-> (Tensor values, Tensor indices)"

const dt_op dt__op_kthvalue = {
    .schema = "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) " VALUE_AND_POSITION,
    .summary = "The k-th smallest element along a dim, with its position.",
    SELECTS(select_kth),
    .arguments = "dim,keepdim,k",
    .gradient = "self: " AT_INDICES,
    .samples = "kthvalue(f32[5,3]; 2)\nkthvalue(i64[5,3]; 5; 0; true)",
};
const dt_op dt__op_mode = {
    .schema = "mode(Tensor self, int dim=-1, bool keepdim=False) " VALUE_AND_POSITION,
    .summary = "The most frequent element along a dim, the smallest of several, with its last position.",
    SELECTS(select_mode),
    .arguments = "dim,keepdim",
    .gradient = "self: " AT_INDICES,
    .samples = "mode(f32[5,3])\nmode(i64[5,3]; 0; true)\nmode(bool[5,3]; 1)",
};

/* The gradient in equal parts: to the elements that equal the median, or to those that are NaN if it is. */
#define IS_MEDIAN "logical_or(eq(self, result), logical_and(isnan(self), isnan(result)))"
#define MEDIAN(name, select_)                                                                                        \
    .schema =                                                                                                        \
        name "(Tensor self) -> Tensor | " name ".dim(Tensor self, int dim, bool keepdim=False) " VALUE_AND_POSITION, \
    SELECTS(select_), .arguments = "dim,keepdim",                                                                    \
    .gradient = "self: where(" IS_MEDIAN ", grad / sum(" IS_MEDIAN "), 0); self.dim: " AT_INDICES,                   \
    .samples = name "(f32[5,3])\n" name "(f32[5,3]; 0)\n" name "(i64[2,5,3]; 1; true)\n" name "(f32[0])\n" name      \
                    "(f32[0,3]; 1)"

const dt_op dt__op_median = {
    MEDIAN("median", select_median),
    .summary = "The middle element, or the smaller of two, of all or along a dim with its position; NaN wins.",
};
const dt_op dt__op_nanmedian = {
    MEDIAN("nanmedian", select_nanmedian),
    .summary = "The element in the middle of those that are not NaN, of all or along a dim with its position.",
};
