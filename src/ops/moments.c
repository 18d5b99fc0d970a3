/* SPDX-License-Identifier: Apache-2.0
 *
 * Variance, standard deviation and mean over dims. Where these are sharded, the ranks meet and merge the means and the
 * squares of differences from them: a variance of variances is not the variance.
 */
#include "dtensor/ops.h"
#include "dtensor/redistribute.h"
#include "ops/ops.h"
#include "ops/states.h"

#include <math.h>

/* Positions in .arguments, after those of all reductions. */
enum { UNBIASED = 2, CORRECTION };

/* What the ops return in addition to the variance. */
enum { ROOT = 1 << 0, MEAN = 1 << 1 };
typedef struct moments {
    unsigned returns;
} moments;

static bool returns(const dt_op_call *call, unsigned moment) {
    const moments *of = call->op->family;
    return of->returns & moment;
}

static dt_status shape_moments(dt_op_call *call) {
    dt_dtype dtype = call->inputs[0].dtype;
    uint32_t dims;
    if (!dt__is_float(dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point dtype, got %s", dt_dtype_name(dtype));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DT__REDUCED_DIM), call->inputs[0].n_dims, &dims));
    DT__TRY(dt__add_reduced(call, dims, dtype));
    return returns(call, MEAN) ? dt__add_reduced(call, dims, dtype) : DT_OK;
}

/* What is subtracted from the number of elements: 1 by default. */
static double correction_of(const dt_op_call *call) {
    const dt_arg *correction = dt__arg_at(call, CORRECTION), *unbiased = dt__arg_at(call, UNBIASED);
    if (correction && correction->type != DT_ARG_NONE)
        return dt__arg_number(correction);
    return unbiased && !unbiased->as.b ? 0 : 1;
}

/* Writes an f64 result, divided, to an output. */
static dt_status write_output(const dt_op_call *call, const dt__array *from, double divisor, int output, bool root,
                              uint32_t dims) {
    dt__reduced to;
    dt__array by = {&divisor, DT_F64, 0, NULL, NULL};
    dt__reduced_of(call, &call->outputs[output], dims, &to);
    DT__TRY(dt__run_elements(call, DT__EL_DIV, DT_F64, from, from, &by, NULL));
    if (root)
        DT__TRY(dt__run_elements(call, DT__EL_SQRT, DT_F64, from, from, NULL, NULL));
    dt__run_convert(call, &to.array, from);
    return DT_OK;
}

static uint32_t reduced_dims(const dt_op_call *call) {
    return dt__wrap_dims(dt__arg_at(call, DT__REDUCED_DIM), call->inputs[0].n_dims);
}

static void describe(const dt_op_call *call, dt_state *state) {
    dt__statistics_describe(call, DT__MOMENTS, reduced_dims(call), state);
}

static dt_status begin(dt_op_call *call, const dt_state *state) {
    dt__array in = dt__array_of(&call->inputs[0]);
    dt__statistics_begin(call, DT__MOMENTS, reduced_dims(call), &in, NULL, state);
    return DT_OK;
}

static void merge(const dt_op_call *call, const dt_state *into, const dt_state *next) {
    dt__statistics_meet(call, DT__MOMENTS, into, next);
}

static dt_status finish(dt_op_call *call, const dt_state *merged) {
    uint32_t dims = reduced_dims(call);
    double count = *(const double *)merged->fields[2].data;
    dt__reduced mean, squares;
    dt__state_array(call, dims, &merged->fields[0], &mean);
    dt__state_array(call, dims, &merged->fields[1], &squares);
    DT__TRY(write_output(call, &squares.array, fmax(count - correction_of(call), 0), 0, returns(call, ROOT), dims));
    return returns(call, MEAN) ? write_output(call, &mean.array, count > 0 ? 1 : 0, 1, false, dims) /* 0 / 0 is NaN */
                               : DT_OK;
}

static const dt_meet moments_meet = {describe, begin, merge, finish};

#define MOMENTS(name, result, returns_)                                                                              \
    .schema = name "(Tensor self, bool unbiased=True) -> " result " | " name                                         \
                   ".dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> " result " | " name    \
                   ".correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "  \
                   "" result,                                                                                        \
    .rule = "...[dim~] -> ...[dim:1?]", .shape = shape_moments, .kernel = dt__run_alone, .meet = &moments_meet,      \
    .arguments = "dim,keepdim,unbiased,correction", .varying = "correction", .family = &(const moments){returns_},   \
    .backward = moments_backward,                                                                                    \
    .samples = name "(f32[5,3])\n" name "(f32[5,3]; false)\n" name "(f32[5,3]; [1]; keepdim=true)\n" name            \
                    "(f32[2,5,3]; [0,2])\n" name "(f64[5,3]; [0]; correction=2)\n" name "(f32[0,3]; 0)"

static int64_t count_reduced(const dt_op_call *call, dt_dims *dims, int64_t *list) {
    const dt_op_value *input = &call->inputs[0];
    uint32_t reduced = reduced_dims(call);
    int64_t count = 1;
    *dims = (dt_dims){.n = 0, .list = list};
    for (int d = 0; d < input->n_dims; d++)
        if (reduced >> d & 1) {
            count *= input->shape[d];
            list[dims->n++] = d;
        }
    return count;
}

/* A gradient, broadcast to the tensor, which has the dims that were reduced. */
static dt_tensor *kept(const dt_op_call *call, dt_tensor *grad) {
    const dt_op_value *input = &call->inputs[0];
    int64_t sizes[DT_SPEC_MAX_DIMS];
    for (int d = 0; d < input->n_dims; d++)
        sizes[d] = reduced_dims(call) >> d & 1 ? 1 : input->shape[d];
    return dt_reshape(grad, ((dt_shape){input->n_dims, sizes}));
}

static bool has_dims(const dt_op_call *call) {
    const dt_arg *dim = dt__arg_at(call, DT__REDUCED_DIM);
    bool listed = dim && (dim->type == DT_ARG_INT || (dim->type == DT_ARG_INTS && dim->n > 0));
    return listed && call->inputs[0].n_dims > 0;
}

/* grad 2 / (n - correction) (self - mean). Of all elements, where they are not more than the correction, it is
 * infinite, and NaN at the mean. */
static dt_tensor *of_variance(const dt_op_call *call, dt_tensor *self, dt_tensor *grad) {
    dt_dims dims;
    int64_t list[DT_SPEC_MAX_DIMS];
    double freedom = (double)count_reduced(call, &dims, list) - correction_of(call);
    dt_tensor *mean = dims.n ? dt_mean(self, .dim = dims, .keepdim = true) : self;
    dt_tensor *difference = dt_sub(self, mean);
    if (freedom == 0) /* terms of a sum that are all infinite would cancel */
        difference = dt_reduced(difference);
    if (has_dims(call) || freedom > 0)
        return dt_mul(dt_mul_scalar(grad, 2 / freedom), difference);
    dt_tensor *infinite = dt_masked_fill(dt_full_like(self, (double)INFINITY), dt_eq(self, mean), (double)NAN);
    return dt_mul(grad, infinite);
}

static dt_status moments_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    const dt_op_call *op = call->call;
    dt_tensor *grad = call->grads[0] ? kept(op, call->grads[0]) : NULL, *sum = NULL;
    if (grad && returns(op, ROOT)) {
        dt_tensor *root = kept(op, call->outputs[0]);
        grad = dt_masked_fill(dt_div(grad, dt_mul_scalar(root, 2)), dt_eq_scalar(root, 0), 0);
    }
    if (grad)
        sum = of_variance(op, call->inputs[0], grad);
    if (returns(op, MEAN) && call->grads[1]) {
        dt_dims dims;
        int64_t list[DT_SPEC_MAX_DIMS], count = count_reduced(op, &dims, list);
        dt_tensor *of_mean = dt_div_scalar(kept(op, call->grads[1]), count > 0 ? (double)count : 1);
        sum =
            sum ? dt_add(sum, of_mean) : dt_expand(of_mean, ((dt_shape){op->inputs[0].n_dims, op->inputs[0].shape}));
    }
    input_grads[0] = sum;
    return dt_failed(op->ctx) ? dt_error_status(op->ctx) : DT_OK;
}

/* clang-format off */
const dt_op dt__op_std = {MOMENTS("std", "Tensor", ROOT), .saves = "self,result",
                          .summary = "Standard deviation over all dims or over some."};
const dt_op dt__op_std_mean = {MOMENTS("std_mean", "(Tensor std, Tensor mean)", ROOT | MEAN), .saves = "self,std",
                               .summary = "Standard deviation and mean over all dims or over some."};
const dt_op dt__op_var = {MOMENTS("var", "Tensor", 0), .saves = "self",
                          .summary = "Variance over all dims or over some."};
const dt_op dt__op_var_mean = {MOMENTS("var_mean", "(Tensor var, Tensor mean)", MEAN), .saves = "self",
                               .summary = "Variance and mean over all dims or over some."};
/* clang-format on */
