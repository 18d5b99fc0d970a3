/* SPDX-License-Identifier: Apache-2.0
 *
 * Variance, standard deviation and mean over dims. Where these are sharded, the ranks meet and merge the means and the
 * squares of differences from them: a variance of variances is not the variance.
 */
#include "ops/ops.h"
#include "ops/states.h"

#include <math.h>

/* Positions in .arguments, behind those of all reductions. */
enum { UNBIASED = 2, CORRECTION };

/* What the ops return beside the variance. */
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
    .samples = name "(f32[5,3])\n" name "(f32[5,3]; false)\n" name "(f32[5,3]; [1]; keepdim=true)\n" name            \
                    "(f32[2,5,3]; [0,2])\n" name "(f64[5,3]; [0]; correction=2)\n" name "(f32[0,3]; 0)"

/* The gradient of a variance: grad 2 / (n - correction) (self - mean), and that of a mean, per overload. */
#define OF_VARIANCE(grad_, dims, correction_)                                                                        \
    "reshape(" grad_ ", kept(self.shape, " dims ")) * (2 / (count(self.shape, " dims ") - " correction_ ")) * "      \
    "(self - mean(self, " dims ", true))"
#define OF_MEAN(dims) " + reshape(grad_mean, kept(self.shape, " dims ")) / count(self.shape, " dims ")"
#define MOMENT_GRADIENT(grad_, mean_none, mean_dim)                                                                  \
    "self: " OF_VARIANCE(grad_, "none", "unbiased") mean_none "; self.dim: " OF_VARIANCE(grad_, "dim", "unbiased")   \
        mean_dim "; self.correction: " OF_VARIANCE(grad_, "dim", "either(correction, 1)") mean_dim
#define OF_ROOT(grad_, result) "where(eq(" result ", 0), 0, " grad_ " / (" result " * 2))"

/* clang-format off */
const dt_op dt__op_std = {MOMENTS("std", "Tensor", ROOT),
                          .summary = "Standard deviation over all dims or over some.",
                          .gradient = MOMENT_GRADIENT(OF_ROOT("grad", "result"), "", "")};
const dt_op dt__op_std_mean = {MOMENTS("std_mean", "(Tensor std, Tensor mean)", ROOT | MEAN),
                               .summary = "Standard deviation and mean over all dims or over some.",
                               .gradient = MOMENT_GRADIENT(OF_ROOT("grad_std", "std"), OF_MEAN("none"),
                                                           OF_MEAN("dim"))};
const dt_op dt__op_var = {MOMENTS("var", "Tensor", 0), .summary = "Variance over all dims or over some.",
                          .gradient = MOMENT_GRADIENT("grad", "", "")};
const dt_op dt__op_var_mean = {MOMENTS("var_mean", "(Tensor var, Tensor mean)", MEAN),
                               .summary = "Variance and mean over all dims or over some.",
                               .gradient = MOMENT_GRADIENT("grad_var", OF_MEAN("none"), OF_MEAN("dim"))};
/* clang-format on */
