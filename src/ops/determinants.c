/* SPDX-License-Identifier: Apache-2.0
 *
 * Determinants of square matrices, their signs and logarithms, from LU factors: the product of the diagonal of U, and
 * the sign of the permutation.
 */
#include "dtensor/ops.h"
#include "ops/complex_ops.h"
#include "ops/matrix_batches.h"
#include "ops/matrix_flops.h"
#include "ops/ops.h"

#include <complex.h>
#include <math.h>

static dt_status shape_det(dt_op_call *call) {
    dt__shape batch;
    DT__TRY(dt__expect_square(call, 0));
    dt__batch_of(&call->inputs[0], 2, &batch);
    return dt__add_shape(call, call->inputs[0].dtype, &batch);
}

static dt_status shape_slogdet(dt_op_call *call) {
    dt__shape batch;
    DT__TRY(shape_det(call));
    dt__batch_of(&call->inputs[0], 2, &batch);
    return dt__add_shape(call, dt__real_dtype(call->inputs[0].dtype), &batch);
}

static double _Complex number_at(dt_dtype dtype, const void *numbers, int64_t i) {
    return dtype == DT_F32   ? (double _Complex)((const float *)numbers)[i]
           : dtype == DT_F64 ? (double _Complex)((const double *)numbers)[i]
           : dtype == DT_C64 ? (double _Complex)((const float _Complex *)numbers)[i]
                             : ((const double _Complex *)numbers)[i];
}

static void set_number(dt_dtype dtype, void *number, double _Complex x) {
    if (dtype == DT_F32)
        *(float *)number = (float)creal(x);
    else if (dtype == DT_F64)
        *(double *)number = creal(x);
    else if (dtype == DT_C64)
        *(float _Complex *)number = (float _Complex)x;
    else
        *(double _Complex *)number = x;
}

/* Factors of a determinant, `step` apart in memory; pivots that swapped rows negate. */
typedef struct factors {
    dt_dtype dtype;
    int n;
    int64_t step;
    const void *numbers;
    const int32_t *pivots; /* (optional) */
} factors;

static bool negates(const factors *of, int i) { return of->pivots && of->pivots[i] != i + 1; }

static void multiply_real(const factors *of, void *result, void *logarithm) {
    double sign = 1, product = 1, log_magnitude = 0;
    for (int i = 0; i < of->n; i++) {
        const int64_t at = i * of->step;
        const double y = of->dtype == DT_F32 ? ((const float *)of->numbers)[at] : ((const double *)of->numbers)[at];
        const double x = negates(of, i) ? -y : y, magnitude = fabs(x);
        product *= x;
        if (!logarithm)
            continue;
        sign = magnitude == 0 ? 0 : sign * (x / magnitude);
        log_magnitude += log(magnitude);
    }
    set_number(of->dtype, result, logarithm ? sign : product);
    if (logarithm)
        set_number(of->dtype, logarithm, log_magnitude);
}

static void multiply_complex(const factors *of, void *result, void *logarithm) {
    double _Complex sign = 1, product = 1;
    double log_magnitude = 0;
    for (int i = 0; i < of->n; i++) {
        double _Complex x = number_at(of->dtype, of->numbers, i * of->step);
        x = negates(of, i) ? -x : x;
        product *= x;
        if (!logarithm)
            continue;
        const double magnitude = cabs(x);
        sign = magnitude == 0 ? 0 : sign * (x / magnitude);
        log_magnitude += log(magnitude);
    }
    set_number(of->dtype, result, logarithm ? sign : product);
    if (logarithm)
        set_number(dt__real_dtype(of->dtype), logarithm, log_magnitude);
}

/* The determinant, or with a logarithm its sign. */
static void multiply(const factors *of, void *result, void *logarithm) {
    if (dt__is_complex(of->dtype))
        multiply_complex(of, result, logarithm);
    else
        multiply_real(of, result, logarithm);
}

/* The operands are the matrix, pivots, sign or determinant, and logarithm. */
static int find_determinant(const dt__matrix_batch *self, void *const *items, dt__lapack_work *work) {
    const dt_dtype dtype = self->operands[0].dtype;
    const int n = (int)self->operands[0].rows;
    (void)work;
    if (n)
        (void)dt__lapack_getrf(dtype, n, n, items[0], n, items[1]);
    multiply(&(factors){dtype, n, n + 1, items[0], items[1]}, items[2], self->n_operands == 4 ? items[3] : NULL);
    return 0;
}

/* With the diagonal of U instead of the pivots. */
static void finish_small(const dt__matrix_batch *self, void *const *items) {
    const factors diagonal = {self->operands[0].dtype, (int)self->operands[0].rows, 1, items[1], NULL};
    multiply(&diagonal, items[2], self->n_operands == 4 ? items[3] : NULL);
}

static dt_status determinant(dt_op_call *call) {
    dt__matrix_batch batch = {.call = call, .n_operands = 2 + call->n_outputs, .run = find_determinant};
    batch.operands[0] = dt__matrix_in_out(&call->inputs[0], NULL, 2);
    const int n = (int)batch.operands[0].rows;
    dt__small_matrices small = {.kind = DT__SMALL_DIAGONAL, .n = n};
    batch.operands[1] = dt__matrix_scratch(DT_I32, n);
    for (int o = 0; o < call->n_outputs; o++)
        batch.operands[2 + o] = dt__matrix_in_out(NULL, &call->outputs[o], 0);
    dt__batch_of(&call->outputs[0], 0, &batch.batch);
    if (dt__is_small(call, DT__LAPACK_GETRF)) {
        batch.small = &small;
        batch.finish = finish_small;
        batch.operands[1] = dt__matrix_scratch(call->inputs[0].dtype, n);
    }
    return dt__matrix_batch_run(&batch, NULL);
}

/* g conj(det) A⁻ᴴ; NaN where the matrix is singular. */
static dt_status det_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *grad = call->grads[0], *inverse = dt_linalg_inv_ex(call->inputs[0]).inverse;
    dt_tensor *scale = dt_mul(grad, dt__conjugate(call->outputs[0]));
    input_grads[0] = dt_mul(dt_unsqueeze(dt_unsqueeze(scale, -1), -1), dt__adjoint(inverse));
    return dt__made_or_error(call->call, input_grads[0]);
}

/* A⁻ᴴ times g of the logarithm and, with z = g conj(sign) of the sign, i times the imaginary part of z: the sign of a
 * real matrix has no gradient. */
static dt_status slogdet_backward(const dt_op_backward *call, dt_tensor **input_grads) {
    dt_tensor *scale = call->grads[1];
    if (call->grads[0] && dt__is_complex(call->call->inputs[0].dtype)) {
        dt_tensor *z = dt_mul(call->grads[0], dt__conjugate(call->outputs[0]));
        dt_tensor *imaginary = dt_mul_scalar(dt_sub(z, dt__conjugate(z)), 0.5);
        scale = scale ? dt_add(scale, imaginary) : imaginary;
    }
    if (!scale)
        return DT_OK;
    dt_tensor *inverse = dt_linalg_inv_ex(call->inputs[0]).inverse;
    input_grads[0] = dt_mul(dt_unsqueeze(dt_unsqueeze(scale, -1), -1), dt__adjoint(inverse));
    return dt__made_or_error(call->call, input_grads[0]);
}

/* The logarithm of the sign: NaN where the determinant is negative; of complex signs i times the angle. */
static dt_status decompose_logdet(dt_op_call *call, dt_tensor *const *inputs, dt_tensor **outputs) {
    dt_linalg_slogdet_result result = dt_linalg_slogdet(inputs[0]);
    if (dt__is_complex(call->inputs[0].dtype)) {
        dt_tensor *parts = dt_view_as_real(result.sign);
        dt_tensor *angle = dt_atan2(dt_select(parts, -1, 1), dt_select(parts, -1, 0));
        dt_tensor *both[] = {result.logabsdet, angle};
        outputs[0] = dt_view_as_complex(dt_stack(((dt_tensors){2, both}), .dim = DT_INT(-1)));
    } else
        outputs[0] = dt_add(dt_log(result.sign), result.logabsdet);
    return dt__made_or_error(call, outputs[0]);
}

const dt_op dt__op_linalg_det = {
    .schema = "linalg_det(Tensor A) -> Tensor",
    .summary = "Determinants of matrices.",
    .rule = "...m!n! -> ...",
    .shape = shape_det,
    .kernel = determinant,
    .flops = dt__lu_flops,
    .backward = det_backward,
    .saves = "A,result",
    .samples = "linalg_det(f32[2,3,3])\nlinalg_det(f32[4,4])",
};
const dt_op dt__op_linalg_slogdet = {
    .schema = "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    .summary = "Signs of determinants and the logarithms of their magnitudes.",
    .rule = "...m!n! -> ..., ...",
    .shape = shape_slogdet,
    .kernel = determinant,
    .flops = dt__lu_flops,
    .backward = slogdet_backward,
    .saves = "A,sign",
    .samples = "linalg_slogdet(f32[2,3,3])\nlinalg_slogdet(f32[4,4])",
};
const dt_op dt__op_logdet = {
    .schema = "logdet(Tensor self) -> Tensor",
    .summary = "Logarithms of determinants: NaN for negative ones, complex for complex ones.",
    .rule = "...m!n! -> ...",
    .shape = shape_det,
    .decompose = decompose_logdet,
    .samples = "logdet(f32[2,3,3])\nlogdet(c64[3,3])",
};
