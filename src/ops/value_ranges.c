/* SPDX-License-Identifier: Apache-2.0
 *
 * The range of the values of a tensor, and how many there are in parts of a range: aminmax and histc. Counts of shards
 * are partial sums. Where histc has to find the range, two numbers are reduced first instead of moving the tensor.
 */
#include "base/dtype.h"
#include "dtensor/ops.h"
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "ops/reduce_support.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static dt_status shape_aminmax(dt_op_call *call) {
    uint32_t dims;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DT__REDUCED_DIM), call->inputs[0].n_dims, &dims));
    DT__TRY(dt__expect_elements(call, dims));
    DT__TRY(dt__add_reduced(call, dims, call->inputs[0].dtype));
    return dt__add_reduced(call, dims, call->inputs[0].dtype);
}

static dt_status aminmax(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    const dt_arg *dim = dt__arg_at(call, DT__REDUCED_DIM);
    dt_dims dims = {.n = dim->type == DT_ARG_INT, .list = &dim->as.i};
    bool keepdim = dt__arg_at(call, DT__KEEPDIM)->as.b;
    outputs[0] = dt_amin(inputs[0], .dim = dims, .keepdim = keepdim);
    outputs[1] = outputs[0] ? dt_amax(inputs[0], .dim = dims, .keepdim = keepdim) : NULL;
    return outputs[1] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_aminmax = {
    .schema = "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    .summary = "Smallest and largest element, of all or along a dim.",
    .rule = "...[dim] -> ...[dim:1?] P(min), ...[dim:1?] P(max)",
    .arguments = "dim,keepdim",
    .shape = shape_aminmax,
    .decompose = aminmax,
    .samples = "aminmax(f32[5,3])\naminmax(f32[5,3]; dim=0)\naminmax(i64[2,5,3]; dim=1; keepdim=true)",
};

/* histc: positions in .arguments. The bounds are numbers, or tensors without dims. */
enum { BINS, MIN, MAX };

static double bound_of(const dt_op_call *call, int name) {
    const dt_arg *bound = dt__arg_at(call, name);
    if (bound->type != DT_ARG_TENSOR)
        return dt__arg_number(bound);
    const dt_op_value *value = &call->inputs[bound->as.first];
    return dt__read_f64(value->dtype, value->data);
}

static bool has_tensor_bounds(const dt_op_call *call) { return dt__arg_at(call, MIN)->type == DT_ARG_TENSOR; }
/* Equal bounds stand for the range of the values. */
static bool finds_range(const dt_op_call *call) {
    return !has_tensor_bounds(call) && bound_of(call, MIN) == bound_of(call, MAX);
}

static dt_status shape_histc(dt_op_call *call) {
    const dt_op_value *self = &call->inputs[0];
    int64_t bins = dt__arg_at(call, BINS)->as.i;
    DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__expect_floating(call, 0));
    if (bins < 1)
        return dt_op_refuse(call, DT_ERR_VALUE, "bins: expected at least 1, got %" PRId64, bins);
    for (int i = 1; i < call->n_inputs; i++) {
        DT__TRY(dt__expect_dims(call, i, 0));
        DT__TRY(dt__expect_floating(call, i));
    }
    if (!has_tensor_bounds(call)) {
        double low = bound_of(call, MIN), high = bound_of(call, MAX);
        if (!(low <= high) || isinf(low) || isinf(high))
            return dt_op_refuse(call, DT_ERR_VALUE, "min and max: expected a finite range, got %g and %g", low, high);
    }
    return dt__add_made(call, self->dtype, 1, &bins);
}

/* Only where the range is known does a rank count its own elements. */
static void rows_histc(const dt_op_call *call, dt_rows *rows) {
    if (!finds_range(call))
        dt_rows_factors(rows, has_tensor_bounds(call) ? "..., , -> b" : "... -> b", 0);
}

/* Counts of pieces of dense elements, in the arithmetic of f32 or f64. */
typedef struct counting {
    const void *elements;
    bool is_f64;
    double low, high;
    int64_t n, n_per_piece, bins;
    int64_t *counts; /* of each piece */
} counting;

#define COUNT_IN(T)                                                                                                  \
    do {                                                                                                             \
        const T *x = (const T *)all->elements, low = (T)all->low, high = (T)all->high, bins = (T)all->bins;          \
        for (int64_t i = begin; i < end; i++)                                                                        \
            if (x[i] >= low && x[i] <= high) {                                                                       \
                int64_t bin = (int64_t)((x[i] - low) * bins / (high - low));                                         \
                counts[bin < all->bins ? bin : all->bins - 1]++;                                                     \
            }                                                                                                        \
    } while (0)

static void count_piece(void *arg, int64_t piece) {
    const counting *all = arg;
    int64_t begin = piece * all->n_per_piece, end = dt__min_i64(begin + all->n_per_piece, all->n);
    int64_t *counts = all->counts + piece * all->bins;
    memset(counts, 0, (size_t)all->bins * sizeof *counts);
    if (all->is_f64)
        COUNT_IN(double);
    else
        COUNT_IN(float);
}

#define FIND_IN(T)                                                                                                   \
    do {                                                                                                             \
        const T *x = all->elements;                                                                                  \
        for (int64_t i = 0; i < all->n; i++) {                                                                       \
            all->low = isfinite(x[i]) && x[i] < all->low ? x[i] : all->low;                                          \
            all->high = isfinite(x[i]) && x[i] > all->high ? x[i] : all->high;                                       \
        }                                                                                                            \
    } while (0)

/* The range of the finite elements; empty if there are none. */
static void find_range(counting *all) {
    all->low = (double)INFINITY;
    all->high = -(double)INFINITY;
    if (all->is_f64)
        FIND_IN(double);
    else
        FIND_IN(float);
}

static dt_status count_elements(const dt_op_call *call, counting *all) {
    enum { PIECE = 1 << 16 };
    dt__scratch counts;
    dt__array out = dt__array_of(&call->outputs[0]);
    int64_t n_pieces =
        dt__max_i64(1, dt__min_i64(dt__ceil_div(all->n, PIECE), dt__pool_threads(dt__pool_of(call->ctx))));
    all->n_per_piece = dt__ceil_div(all->n, n_pieces);
    const int64_t shape[] = {n_pieces, all->bins};
    DT__TRY(dt__scratch_new(call, DT_I64, 2, shape, &counts));
    all->counts = counts.array.data;
    dt__pool_run(dt__pool_of(call->ctx), n_pieces, count_piece, all);
    dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
               &(dt__reduction){DT__FOLD_SUM, 1, 0, &counts.array, &out});
    dt__scratch_free(call, &counts);
    return DT_OK;
}

/* Counts in the range, which is as wide as 2 around a single value. */
static dt_status count_in_range(const dt_op_call *call, counting *all) {
    if (finds_range(call))
        find_range(all);
    else {
        all->low = bound_of(call, MIN);
        all->high = bound_of(call, MAX);
    }
    if (all->low == all->high) {
        all->low -= 1;
        all->high += 1;
    }
    return count_elements(call, all);
}

static dt_status histc(dt_op_call *call) {
    dt__array in = dt__array_of(&call->inputs[0]);
    counting all = {.elements = in.data,
                    .is_f64 = in.dtype == DT_F64,
                    .n = dt__array_count(&in),
                    .bins = dt__arg_at(call, BINS)->as.i};
    if (dt__array_is_dense(&in) && (in.dtype == DT_F32 || in.dtype == DT_F64))
        return count_in_range(call, &all);
    dt__scratch dense;
    DT__TRY(dt__scratch_new(call, all.is_f64 ? DT_F64 : DT_F32, in.n_dims, in.shape, &dense));
    dt__run_convert(call, &dense.array, &in);
    all.elements = dense.array.data;
    dt_status status = count_in_range(call, &all);
    dt__scratch_free(call, &dense);
    return status;
}

/* With the range as two tensors, which are reduced over the ranks. */
static dt_status histc_of_range(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    if (!finds_range(call) || dt_tensor_elements(inputs[0]) == 0)
        return dt_op_refuse(call, DT_ERR_UNSUPPORTED, "the range is known");
    dt_tensor *x = inputs[0], *finite = dt_isfinite(x);
    dt_tensor *low = finite ? dt_amin(dt_where_scalar_other(finite, x, (double)INFINITY)) : NULL;
    dt_tensor *high = low ? dt_amax(dt_where_scalar_other(finite, x, -(double)INFINITY)) : NULL;
    outputs[0] = high ? dt_histc_tensor(x, low, high, dt__arg_at(call, BINS)->as.i) : NULL;
    return outputs[0] ? DT_OK : dt_error_status(call->ctx);
}

const dt_op dt__op_histc = {
    .schema = "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor | "
              "histc.Tensor(Tensor self, Tensor min, Tensor max, int bins) -> Tensor",
    .summary = "How many elements are in each of equal parts of a range, by default that of the finite elements.",
    .rows = rows_histc,
    .arguments = "bins,min,max",
    .shape = shape_histc,
    .kernel = histc,
    .decompose = histc_of_range,
    .flags = DT_OP_NOT_DIFFERENTIABLE | DT_OP_POSITIONAL,
    .samples = "histc(f32[5,3]; 4; -2; 2)\nhistc(f64[7]; f64[]; f64[]; 3)\nhistc(f32[5,3]; 4)\nhistc(f32[0]; 2)",
};
