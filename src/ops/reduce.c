/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions over dims: sums, products, means, extrema and their positions, any and all; and running sums and products.
 * A mean over a sharded dim is a partial sum: the sum of each rank divided by the global count, which is correct for
 * uneven shards, too.
 */
#include "ops/ops.h"
#include "ops/product_gradients.h"
#include "ops/states.h"

#include <math.h>

/* Positions in .arguments. */
enum { DIM, DTYPE = 2, SCAN_DTYPE = 1 };

/* What reductions differ in, apart from their rule. */
enum {
    WIDENS = 1 << 0,    /* integers become i64 */
    AVERAGES = 1 << 1,  /* divides by the global count; floating point only */
    ORDERS = 1 << 2,    /* compares elements: no complex numbers, and not of none */
    POSITIONS = 1 << 3, /* returns indices of elements */
    TO_BOOL = 1 << 4,   /* the result is bool; u8 of u8 */
    SKIPS_NAN = 1 << 5,
    COUNTS = 1 << 6, /* the elements that are not 0 */
};
typedef struct reduction {
    dt__fold fold;
    unsigned flags;
} reduction;

#define REDUCTION(rule_, arguments_, fold_, flags_)                                                                  \
    .rule = rule_, .arguments = arguments_, .shape = shape_reduced, .kernel = reduce, .family = &(const reduction) { \
        fold_, flags_                                                                                                \
    }

static dt_dtype widened(dt_dtype dtype) { return dt__is_integral(dtype) ? DT_I64 : dtype; }

static dt_status shape_reduced(dt_op_call *call) {
    const reduction *of = call->op->family;
    dt_dtype dtype = call->inputs[0].dtype;
    uint32_t dims;
    if (of->flags & (ORDERS | SKIPS_NAN))
        DT__TRY(dt__refuse_complex(call));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DIM), call->inputs[0].n_dims, &dims));
    if (of->flags & ORDERS)
        DT__TRY(dt__expect_elements(call, dims));
    dtype = dt__arg_dtype(dt__arg_at(call, DTYPE), of->flags & WIDENS ? widened(dtype) : dtype);
    if (of->flags & AVERAGES && dt__is_integral(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point dtype, got %s; set dtype, such as DT_F32",
                            dt_dtype_name(dtype));
    if (of->flags & TO_BOOL)
        dtype = dtype == DT_U8 ? DT_U8 : DT_BOOL;
    return dt__add_reduced(call, dims, of->flags & (POSITIONS | COUNTS) ? DT_I64 : dtype);
}

static dt_status fill_output(const dt_op_call *call, const dt__constant *element) {
    dt__array out = dt__array_of(&call->outputs[0]);
    dt__run_convert(call, &out, &(dt__array){(void *)element, out.dtype, 0, NULL, NULL});
    return DT_OK;
}

/* What a local tensor without elements contributes to a maximum or minimum. */
static dt_status fill_identity(const dt_op_call *call, dt__fold kind) {
    dt__constant element;
    dt__write_identity(call->outputs[0].dtype, kind == DT__FOLD_MAX ? DT_MAX : DT_MIN, &element);
    return fill_output(call, &element);
}

static dt_status fill_nan(const dt_op_call *call) {
    dt__constant element;
    const dt_dtype dtype = call->outputs[0].dtype;
    const dt_arg real = {.type = DT_ARG_FLOAT, .as.f = (double)NAN};
    const dt_arg complex = {.type = DT_ARG_COMPLEX, .as.c = {(double)NAN, (double)NAN}};
    (void)dt__array_of_number(dt__is_complex(dtype) ? &complex : &real, dtype, &element);
    return fill_output(call, &element);
}

static dt_status fold(const dt_op_call *call, const dt__array *in, uint32_t dims, double divisor) {
    const reduction *of = call->op->family;
    dt__reduced out;
    dt__reduced_of(call, &call->outputs[0], dims, &out);
    dt__reduction request = {of->fold, dims, divisor, in, &out.array};
    if (!(of->flags & POSITIONS))
        dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &request);
    else if (dt__array_count(&out.array) > 0)
        dt__reduce_arg(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), &request, NULL);
    return DT_OK;
}

/* Integers that become floating point are converted before they are added, and the other way round. */
static dt_status fold_converted(const dt_op_call *call, const dt__array *in, uint32_t dims, double divisor) {
    dt__scratch converted;
    DT__TRY(dt__scratch_new(call, call->outputs[0].dtype, in->n_dims, in->shape, &converted));
    dt__run_convert(call, &converted.array, in);
    dt_status status = fold(call, &converted.array, dims, divisor);
    dt__scratch_free(call, &converted);
    return status;
}

/* The global number of elements that are reduced to one, and the local one. */
static double count_reduced(const dt_op_value *input, uint32_t dims, bool *none_here) {
    double count = 1;
    *none_here = false;
    for (int d = 0; d < input->n_dims; d++)
        if (dims >> d & 1) {
            count *= (double)input->global_shape[d];
            *none_here |= input->shape[d] == 0;
        }
    return count;
}

/* Functions of elements: NaN counts as 0, or what is not 0 counts as 1. */
static dt_status fold_mapped(const dt_op_call *call, const dt__array *in, uint32_t dims, double divisor) {
    const reduction *of = call->op->family;
    double zero = 0;
    dt__array none = {&zero, DT_F64, 0, NULL, NULL};
    bool counts = of->flags & COUNTS;
    dt__reduced out;
    (void)divisor;
    dt__reduced_of(call, &call->outputs[0], dims, &out);
    return dt__reduce_mapped(call,
                             &(dt__mapped_fold){.fold = of->fold,
                                                .op = counts ? DT__EL_NE : DT__EL_NAN_TO_ZERO,
                                                .dtype = in->dtype,
                                                .with = counts ? &none : NULL},
                             in, dims, &out.array);
}

/* How the elements of a tensor are folded to those of the result. */
static dt_status (*fold_of(const reduction *of, dt_dtype from, dt_dtype to))(const dt_op_call *, const dt__array *,
                                                                             uint32_t, double) {
    bool converts = dt__is_integral(from) != dt__is_integral(to) || dt__is_complex(from) != dt__is_complex(to);
    if (of->flags & COUNTS || (of->flags & SKIPS_NAN && dt__is_inexact(from)))
        return fold_mapped;
    return converts && !(of->flags & (POSITIONS | TO_BOOL)) ? fold_converted : fold;
}

static dt_status reduce(dt_op_call *call) {
    const reduction *of = call->op->family;
    dt__array in = dt__array_of(&call->inputs[0]);
    dt_dtype dtype = call->outputs[0].dtype;
    uint32_t dims = dt__wrap_dims(dt__arg_at(call, DIM), in.n_dims);
    bool none_here;
    double count = count_reduced(&call->inputs[0], dims, &none_here);
    if (of->flags & AVERAGES && count == 0)
        return fill_nan(call);
    if (of->flags & ORDERS && !(of->flags & POSITIONS) && none_here)
        return fill_identity(call, of->fold);
    return fold_of(of, in.dtype, dtype)(call, &in, dims, of->flags & AVERAGES ? count : 0);
}

static dt_status shape_scan(dt_op_call *call) {
    int ignored;
    DT__TRY(dt__read_dim(call, dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims, &ignored));
    return dt__add_like(call, 0, dt__arg_dtype(dt__arg_at(call, SCAN_DTYPE), widened(call->inputs[0].dtype)));
}

/* Positions: the state is the extreme element of a shard and its index in the global tensor; -1: none yet. */
static void describe_position(const dt_op_call *call, dt_state *state) {
    uint32_t dims = dt__wrap_dims(dt__arg_at(call, DIM), call->inputs[0].n_dims);
    int64_t n = dt__n_remaining(&call->inputs[0], dims);
    dt_dtype dtype = dt__is_integral(call->inputs[0].dtype) ? DT_I64 : DT_F64;
    state->n_fields = 2;
    state->fields[0] = (dt_state_field){.dtype = dtype, .n = n, .identity = 0};
    state->fields[1] = (dt_state_field){.dtype = DT_I64, .n = n, .identity = -1};
}

/* Indices along the reduced dims of a local tensor become those of the global one. */
static void make_global(const dt_op_value *input, uint32_t dims, int64_t n, int64_t *indices) {
    dt__shard shards[DT_SPEC_MAX_DIMS];
    int64_t coordinate[DT_SPEC_MAX_DIMS] = {0};
    if (!input->spec)
        return;
    (void)dt_mesh_coordinate(input->spec->mesh, coordinate);
    for (int d = 0; d < input->n_dims; d++)
        dt__shard_at(&input->spec->sharding, d, coordinate, &shards[d]);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = indices[i], size = 1;
        indices[i] = 0;
        for (int d = input->n_dims - 1; d >= 0; d--)
            if (dims >> d & 1) {
                indices[i] += dt__shard_to_global(&shards[d], rest % input->shape[d]) * size;
                rest /= input->shape[d];
                size *= input->global_shape[d];
            }
    }
}

static dt_status begin_position(dt_op_call *call, const dt_state *state) {
    const reduction *of = call->op->family;
    dt__array in = dt__array_of(&call->inputs[0]);
    uint32_t dims = dt__wrap_dims(dt__arg_at(call, DIM), in.n_dims);
    dt__reduced values, indices;
    dt__state_array(call, dims, &state->fields[0], &values);
    dt__state_array(call, dims, &state->fields[1], &indices);
    dt__reduce_arg(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                   &(dt__reduction){of->fold, dims, 0, &in, &indices.array}, &values.array);
    make_global(&call->inputs[0], dims, state->fields[1].n, state->fields[1].data);
    return DT_OK;
}

/* NaN is beyond all numbers; of equal elements the one with the lowest index wins. */
static bool replaces(bool is_max, double before, int64_t before_index, double next, int64_t next_index) {
    bool nan = before != before, next_nan = next != next;
    if (nan || next_nan)
        return next_nan && (!nan || next_index < before_index);
    if (next != before)
        return (next > before) == is_max;
    return next_index < before_index;
}
static bool replaces_integer(bool is_max, int64_t before, int64_t before_index, int64_t next, int64_t next_index) {
    return next != before ? (next > before) == is_max : next_index < before_index;
}

static void merge_position(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    const reduction *of = call->op->family;
    bool is_max = of->fold == DT__FOLD_MAX, integral = into->fields[0].dtype == DT_I64;
    int64_t *index = into->fields[1].data;
    const int64_t *next_index = next->fields[1].data;
    for (int64_t i = 0; i < into->fields[1].n; i++) {
        double *f = into->fields[0].data;
        const double *next_f = next->fields[0].data;
        int64_t *n = into->fields[0].data;
        const int64_t *next_n = next->fields[0].data;
        if (next_index[i] < 0)
            continue;
        if (index[i] >= 0 && !(integral ? replaces_integer(is_max, n[i], index[i], next_n[i], next_index[i])
                                        : replaces(is_max, f[i], index[i], next_f[i], next_index[i])))
            continue;
        n[i] = next_n[i]; /* 8 bytes of either */
        index[i] = next_index[i];
    }
}

static dt_status finish_position(dt_op_call *call, const dt_state *merged) {
    uint32_t dims = dt__wrap_dims(dt__arg_at(call, DIM), call->inputs[0].n_dims);
    dt__reduced indices, out;
    dt__state_array(call, dims, &merged->fields[1], &indices);
    dt__reduced_of(call, &call->outputs[0], dims, &out);
    dt__run_convert(call, &out.array, &indices.array);
    return DT_OK;
}

static const dt_meet position_meet = {describe_position, begin_position, merge_position, finish_position};

static int scanned_dim(const dt_op_call *call) {
    return dt__wrap_dim(dt__arg_at(call, DIM)->as.i, call->inputs[0].n_dims);
}

/* The elements: the input, or the output if these are converted. */
static dt__array scanned(const dt_op_call *call) {
    return dt__array_of(call->inputs[0].dtype != call->outputs[0].dtype ? &call->outputs[0] : &call->inputs[0]);
}

static void convert_scanned(const dt_op_call *call) {
    dt__array out = dt__array_of(&call->outputs[0]), in = dt__array_of(&call->inputs[0]);
    if (in.dtype != out.dtype)
        dt__run_convert(call, &out, &in);
}

static dt_status scan_from(const dt_op_call *call, const dt__array *before) {
    const reduction *of = call->op->family;
    dt__array out = dt__array_of(&call->outputs[0]), in = scanned(call);
    dt__scan(dt__kernels_of(call->ctx), dt__pool_of(call->ctx), of->fold, scanned_dim(call), &in, before, &out);
    return DT_OK;
}

static dt_status scan(dt_op_call *call) {
    convert_scanned(call);
    return scan_from(call, NULL);
}

/* The sums or products of the shards before, in the dtype that is accumulated in. */
static void describe_scan(const dt_op_call *call, dt_state *state) {
    const reduction *of = call->op->family;
    state->n_fields = 1;
    state->fields[0] = (dt_state_field){.dtype = dt__scan_dtype(call->outputs[0].dtype),
                                        .n = dt__n_remaining(&call->inputs[0], (uint32_t)1 << scanned_dim(call)),
                                        .identity = of->fold == DT__FOLD_PROD};
}

static dt_status begin_scan(dt_op_call *call, const dt_state *state) {
    const reduction *of = call->op->family;
    uint32_t dims = (uint32_t)1 << scanned_dim(call);
    dt__reduced sums;
    convert_scanned(call);
    dt__array in = scanned(call);
    dt__state_array(call, dims, &state->fields[0], &sums);
    dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
               &(dt__reduction){of->fold, dims, 0, &in, &sums.array});
    return DT_OK;
}

static void merge_scan(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    const reduction *of = call->op->family;
    const dt_state_field *field = &into->fields[0];
    dt__kernels_of(call->ctx)->accumulate(field->dtype, of->fold == DT__FOLD_PROD ? DT_PRODUCT : DT_SUM, field->data,
                                          next->fields[0].data, (size_t)field->n);
}

static dt_status finish_scan(dt_op_call *call, const dt_state *before) {
    dt__reduced sums;
    dt__state_array(call, (uint32_t)1 << scanned_dim(call), &before->fields[0], &sums);
    return scan_from(call, &sums.array);
}

static const dt_meet scan_meet = {describe_scan, begin_scan, merge_scan, finish_scan};

/* Booleans are their own maximum and minimum. */
static unsigned partial_any(const dt_op_call *call) {
    return call->inputs[0].dtype == DT_BOOL ? DT_PARTIAL_MAX : DT_PARTIAL_NONE;
}
static unsigned partial_all(const dt_op_call *call) {
    return call->inputs[0].dtype == DT_BOOL ? DT_PARTIAL_MIN : DT_PARTIAL_NONE;
}

/* Products must not be rounded to integers, nor integers that wrapped around be widened. */
static unsigned partial_prod(const dt_op_call *call) {
    dt_dtype from = call->inputs[0].dtype, to = call->outputs[0].dtype;
    bool floating = dt__is_inexact(from) && dt__is_inexact(to) && dt__is_complex(from) == dt__is_complex(to);
    return from == to || floating ? DT_PARTIAL_PRODUCT : DT_PARTIAL_NONE;
}

const dt_op dt__op_sum = {
    .schema = "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor | "
              "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Sum over all dims or over some.",
    REDUCTION("...[dim] -> ...[dim:1?]", "dim,keepdim,dtype", DT__FOLD_SUM, WIDENS),
    .partial = DT_PARTIAL_LINEAR,
    .gradient = "self: expand(grad, self.shape); "
                "self.dim_IntList: expand(reshape(grad, kept(self.shape, dim)), self.shape)",
    .samples = "sum(f32[5,3])\nsum(f32[5,3]; [1]; true)\nsum(f32[2,5,3]; [0,2])\nsum(bool[5,3]; 0)\n"
               "sum(f32[0,3]; 0)\nsum(f32[5,3]; dtype=i64)\nsum(i8[5,3]; 0)\nsum(i32[5,3]; 0; dtype=f32)\n"
               "sum(f32[5,3]; 0; dtype=f64)\nsum(i64[5,3]; 0; dtype=i32)",
};
const dt_op dt__op_mean = {
    .schema = "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor | "
              "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Average over all dims or over some.",
    REDUCTION("...[dim] -> ...[dim:1?]", "dim,keepdim,dtype", DT__FOLD_SUM, AVERAGES),
    .partial = DT_PARTIAL_LINEAR,
    .gradient = "self: expand(grad / count(self.shape, none), self.shape); "
                "self.dim: expand(reshape(grad, kept(self.shape, dim)) / count(self.shape, dim), self.shape)",
    .samples = "mean(f32[5,3])\nmean(f32[5,3]; [1]; true)\nmean(f32[2,5,3]; [0,2])\nmean(i32[5,3]; dtype=f32)\n"
               "mean(f32[0,3]; 0)",
};
const dt_op dt__op_nansum = {
    .schema = "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Sum over all dims or over some, of the elements that are not NaN.",
    REDUCTION("...[dim] -> ...[dim:1?]", "dim,keepdim,dtype", DT__FOLD_SUM, WIDENS | SKIPS_NAN),
    .gradient = "self: reshape(grad, kept(self.shape, dim)) * eq(self, self)",
    .samples = "nansum(f32[5,3])\nnansum(f32[5,3]; [1]; true)\nnansum(i32[5,3]; 0)",
};
const dt_op dt__op_count_nonzero = {
    .schema = "count_nonzero(Tensor self, int? dim=None) -> Tensor | "
              "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
    .summary = "Number of elements that are not 0, over all dims or over some.",
    REDUCTION("...[dim] -> ...", "dim", DT__FOLD_SUM, COUNTS),
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "count_nonzero(f32[5,3])\ncount_nonzero(i32[5,3]; 1)\ncount_nonzero(bool[2,5,3]; [0,2])",
};
const dt_op dt__op_prod = {
    .schema = "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor | "
              "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    .summary = "Product over all dims or along one.",
    REDUCTION("...[dim] -> ...[dim:1?] P(product)", "dim,keepdim,dtype", DT__FOLD_PROD, WIDENS),
    .partial_of = partial_prod,
    .backward = dt__prod_backward,
    .saves = "self",
    .samples =
        "prod(f32[3,2])\nprod(f32[5,3]; 1; true)\nprod(i32[2,5,3]; 0)\nprod(i64[5]; 0)\nprod(f32[5]; dtype=f64)",
};
const dt_op dt__op_any = {
    .schema = "any(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
    .summary = "Whether any element is not 0, over all dims or over some.",
    REDUCTION("...[dim] -> ...[dim:1?] P(max)", "dim,keepdim", DT__FOLD_ANY, TO_BOOL),
    .partial_of = partial_any,
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "any(bool[3])\nany(bool[5,3]; 1; true)\nany(bool[2,5,3]; [0,2])\nany(bool[0,3]; 0)",
};
const dt_op dt__op_all = {
    .schema = "all(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
    .summary = "Whether all elements are not 0, over all dims or over some.",
    REDUCTION("...[dim] -> ...[dim:1?] P(min)", "dim,keepdim", DT__FOLD_ALL, TO_BOOL),
    .partial_of = partial_all,
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "all(bool[3])\nall(bool[5,3]; 1; true)\nall(bool[2,5,3]; [0,2])\nall(bool[0,3]; 0)",
};
const dt_op dt__op_amax = {
    .schema = "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
    .summary = "Largest element over all dims or over some.",
    REDUCTION("...[dim] -> ...[dim:1?] P(max)", "dim,keepdim", DT__FOLD_MAX, ORDERS),
    .partial = DT_PARTIAL_MAX,
    .gradient = "self: reshape(grad, kept(self.shape, dim)) * eq(self, reshape(result, kept(self.shape, dim))) / "
                "sum(eq(self, reshape(result, kept(self.shape, dim))), dim, true)",
    .samples = "amax(f32[5,3])\namax(f32[5,3]; [1]; true)\namax(i32[2,5,3]; [0,2])\namax(bool[5,3]; 0)",
};
const dt_op dt__op_amin = {
    .schema = "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
    .summary = "Smallest element over all dims or over some.",
    REDUCTION("...[dim] -> ...[dim:1?] P(min)", "dim,keepdim", DT__FOLD_MIN, ORDERS),
    .partial = DT_PARTIAL_MIN,
    .gradient = "self: reshape(grad, kept(self.shape, dim)) * eq(self, reshape(result, kept(self.shape, dim))) / "
                "sum(eq(self, reshape(result, kept(self.shape, dim))), dim, true)",
    .samples = "amin(f32[5,3])\namin(f32[5,3]; [1]; true)\namin(i32[2,5,3]; [0,2])\namin(bool[5,3]; 0)",
};
const dt_op dt__op_argmax = {
    .schema = "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    .summary = "Index of the largest element, over all elements or along a dim.",
    REDUCTION("...[dim~] -> ...[dim:1?]", "dim,keepdim", DT__FOLD_MAX, ORDERS | POSITIONS),
    .meet = &position_meet,
    .samples = "argmax(f32[5,3])\nargmax(f32[5,3]; 1; true)\nargmax(i32[5,3]; 0)",
    .flags = DT_OP_NOT_DIFFERENTIABLE,
};
const dt_op dt__op_argmin = {
    .schema = "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
    .summary = "Index of the smallest element, over all elements or along a dim.",
    REDUCTION("...[dim~] -> ...[dim:1?]", "dim,keepdim", DT__FOLD_MIN, ORDERS | POSITIONS),
    .meet = &position_meet,
    .flags = DT_OP_NOT_DIFFERENTIABLE,
    .samples = "argmin(f32[5,3])\nargmin(f32[5,3]; 1; true)\nargmin(i32[5,3]; 0)",
};

#define SCAN(name, fold_)                                                                                            \
    .schema = name "(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", .rule = "...[dim>] -> ...[dim]",   \
    .meet = &scan_meet, .shape = shape_scan, .kernel = scan, .arguments = "dim,dtype",                               \
    .family = &(const reduction){fold_, 0},                                                                          \
    .samples = name "(f32[5,3]; 0)\n" name "(f32[5,3]; -1)\n" name "(i32[5]; 0)\n" name "(f32[5,3]; 0; dtype=i64)"

const dt_op dt__op_cumsum = {SCAN("cumsum", DT__FOLD_SUM), .summary = "Running sum along a dim.",
                             .partial = DT_PARTIAL_LINEAR,
                             .gradient = "self: grad + sum(grad, dim, true) - cumsum(grad, dim)"};
const dt_op dt__op_cumprod = {SCAN("cumprod", DT__FOLD_PROD), .summary = "Running product along a dim.",
                              .partial_of = partial_prod, .backward = dt__cumprod_backward, .saves = "self"};
