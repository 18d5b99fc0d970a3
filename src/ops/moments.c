/* SPDX-License-Identifier: Apache-2.0
 *
 * Variance and mean over dims. Two passes in f64: the mean, then the squares of the differences from it, a block of
 * the tensor at a time. The dims that are reduced are not sharded: a variance of variances is not the variance.
 */
#include "kernels/kernels.h"
#include "ops/kernel_support.h"
#include "ops/ops.h"

#include <math.h>
#include <string.h>

/* Positions in .arguments. */
enum { DIM, KEEPDIM, UNBIASED, CORRECTION };

static dt_status shape_var_mean(dt_op_call *call) {
    const dt_op_value *input = &call->inputs[0];
    const dt_arg *keepdim = dt__arg_at(call, KEEPDIM);
    dt__shape shape = {0};
    uint32_t dims;
    if (!dt__is_float(input->dtype))
        return dt_op_refuse(call, DT_ERR_DTYPE, "expected a floating-point dtype, got %s",
                            dt_dtype_name(input->dtype));
    DT__TRY(dt__read_dims(call, dt__arg_at(call, DIM), input->n_dims, &dims));
    for (int d = 0; d < input->n_dims; d++)
        if (!(dims >> d & 1))
            shape.sizes[shape.n++] = input->shape[d];
        else if (keepdim && keepdim->as.b)
            shape.sizes[shape.n++] = 1;
    DT__TRY(dt__add_shape(call, input->dtype, &shape));
    return dt__add_shape(call, input->dtype, &shape);
}

/* What is subtracted from the number of elements: 1 by default. */
static double correction_of(const dt_op_call *call) {
    const dt_arg *correction = dt__arg_at(call, CORRECTION), *unbiased = dt__arg_at(call, UNBIASED);
    if (correction && correction->type != DT_ARG_NONE)
        return dt__arg_number(correction);
    return unbiased && !unbiased->as.b ? 0 : 1;
}

/* Sums over `dims`, with the results in two forms: broadcast to the tensor (stride 0 along reduced dims), and without
 * the reduced dims. */
typedef struct sums {
    dt__scratch scratch;
    int64_t kept[DT_SPEC_MAX_DIMS]; /* its shape */
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt__array broadcast;
} sums;

static dt_status new_sums(const dt_op_call *call, const dt__array *in, uint32_t dims, sums *out) {
    int n = 0;
    for (int d = 0; d < in->n_dims; d++)
        if (!(dims >> d & 1))
            out->kept[n++] = in->shape[d];
    DT__TRY(dt__scratch_new(call, DT_F64, n, out->kept, &out->scratch));
    n = 0;
    for (int d = 0; d < in->n_dims; d++) {
        out->shape[d] = in->shape[d];
        out->strides[d] = dims >> d & 1 ? 0 : out->scratch.strides[n++];
    }
    out->broadcast = (dt__array){out->scratch.array.data, DT_F64, in->n_dims, out->shape, out->strides};
    return DT_OK;
}

/* Indices begin … begin + n - 1 of a dim; the sizes are in `shape`. */
static dt__array slice_of(const dt__array *array, int dim, int64_t begin, int64_t n, int64_t *shape) {
    dt__array slice = *array;
    if (array->n_dims == 0)
        return slice;
    memcpy(shape, array->shape, (size_t)array->n_dims * sizeof *shape);
    shape[dim] = n;
    slice.shape = shape;
    slice.data = (unsigned char *)array->data + begin * array->strides[dim] * (int64_t)dt_dtype_size(array->dtype);
    return slice;
}

/* Adds the squares of the differences from the mean in a slice of the tensor. */
static dt_status add_squares(const dt_op_call *call, const dt__array *in, const dt__array *mean, uint32_t dims,
                             const dt__array *out) {
    dt__scratch squares, part;
    DT__TRY(dt__scratch_new(call, DT_F64, in->n_dims, in->shape, &squares));
    dt_status status = dt__scratch_new(call, DT_F64, out->n_dims, out->shape, &part);
    if (status == DT_OK) {
        status = dt__run_elements(call, DT__EL_SUB, DT_F64, &squares.array, in, mean, NULL);
        if (status == DT_OK)
            status = dt__run_elements(call, DT__EL_MUL, DT_F64, &squares.array, &squares.array, &squares.array, NULL);
        if (status == DT_OK) {
            dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
                       &(dt__reduction){DT__FOLD_SUM, dims, 0, &squares.array, &part.array});
            status = dt__run_elements(call, DT__EL_ADD, DT_F64, out, out, &part.array, NULL);
        }
        dt__scratch_free(call, &part);
    }
    dt__scratch_free(call, &squares);
    return status;
}

/* The same for all of the tensor, in slices of its largest dim, so that temporary memory is small. */
static dt_status sum_squares(const dt_op_call *call, const dt__array *in, const sums *mean, uint32_t dims,
                             const sums *out) {
    enum { BLOCK = 1 << 18 }; /* elements */
    int largest = 0, kept = 0;
    int64_t shapes[3][DT_SPEC_MAX_DIMS], count = dt__array_count(in), step = 1;
    for (int d = 1; d < in->n_dims; d++)
        largest = in->shape[d] > in->shape[largest] ? d : largest;
    for (int d = 0; d < largest; d++)
        kept += !(dims >> d & 1);
    int64_t size = in->n_dims ? in->shape[largest] : 1;
    if (count > 0)
        step = dt__max_i64(1, BLOCK / (count / size));
    for (int64_t at = 0; at < size && count > 0; at += step) {
        int64_t n = dt__min_i64(step, size - at);
        dt__array from = slice_of(in, largest, at, n, shapes[0]);
        dt__array means = slice_of(&mean->broadcast, largest, at, n, shapes[1]);
        bool reduced = in->n_dims == 0 || dims >> largest & 1;
        dt__array to = reduced ? out->scratch.array : slice_of(&out->scratch.array, kept, at, n, shapes[2]);
        DT__TRY(add_squares(call, &from, &means, dims, &to));
    }
    return DT_OK;
}

/* Writes an f64 result, divided, to an output; the dims of size 1 that it may have are no dims of the result. */
static dt_status write_output(const dt_op_call *call, const dt__array *from, double divisor,
                              const dt_op_value *output, uint32_t dims) {
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    bool keeps = output->n_dims == call->inputs[0].n_dims;
    int n = 0;
    for (int d = 0; d < output->n_dims; d++)
        if (!keeps || !(dims >> d & 1)) {
            shape[n] = output->shape[d];
            strides[n++] = output->strides[d];
        }
    dt__array to = {output->data, output->dtype, n, shape, strides};
    dt__array by = {&divisor, DT_F64, 0, NULL, NULL};
    DT__TRY(dt__run_elements(call, DT__EL_DIV, DT_F64, from, from, &by, NULL));
    dt__run_convert(call, &to, from);
    return DT_OK;
}

static dt_status run_passes(const dt_op_call *call, const dt__array *in, uint32_t dims, sums *mean, sums *squares) {
    double count = 1, zero = 0;
    for (int d = 0; d < in->n_dims; d++)
        count *= dims >> d & 1 ? (double)in->shape[d] : 1;
    dt__reduce(dt__kernels_of(call->ctx), dt__pool_of(call->ctx),
               &(dt__reduction){DT__FOLD_SUM, dims, count, in, &mean->scratch.array});
    dt__run_convert(call, &squares->scratch.array, &(dt__array){&zero, DT_F64, 0, NULL, NULL});
    DT__TRY(sum_squares(call, in, mean, dims, squares));
    DT__TRY(
        write_output(call, &squares->scratch.array, fmax(count - correction_of(call), 0), &call->outputs[0], dims));
    return write_output(call, &mean->scratch.array, count > 0 ? 1 : 0, &call->outputs[1], dims); /* 0 / 0 is NaN */
}

static dt_status var_mean(dt_op_call *call) {
    dt__array in = dt__array_of(&call->inputs[0]);
    uint32_t dims = dt__wrap_dims(dt__arg_at(call, DIM), in.n_dims);
    sums mean, squares;
    DT__TRY(new_sums(call, &in, dims, &mean));
    dt_status status = new_sums(call, &in, dims, &squares);
    if (status == DT_OK) {
        status = run_passes(call, &in, dims, &mean, &squares);
        dt__scratch_free(call, &squares.scratch);
    }
    dt__scratch_free(call, &mean.scratch);
    return status;
}

const dt_op dt__op_var_mean = {
    .schema = "var_mean(Tensor self, bool unbiased=True) -> (Tensor var, Tensor mean) | "
              "var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> "
              "(Tensor var, Tensor mean) | "
              "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
              "(Tensor var, Tensor mean)",
    .summary = "Variance and mean over all dims or over some.",
    .rule = "...[dim!] -> ...[dim:1?]",
    .shape = shape_var_mean,
    .kernel = var_mean,
    .arguments = "dim,keepdim,unbiased,correction",
    .varying = "correction",
    .gradient = "self: grad_var * (2 / (count(self.shape, none) - unbiased)) * (self - mean) + "
                "grad_mean / count(self.shape, none); "
                "self.dim: reshape(grad_var, kept(self.shape, dim)) * (2 / (count(self.shape, dim) - unbiased)) * "
                "(self - reshape(mean, kept(self.shape, dim))) + "
                "reshape(grad_mean, kept(self.shape, dim)) / count(self.shape, dim); "
                "self.correction: reshape(grad_var, kept(self.shape, dim)) * "
                "(2 / (count(self.shape, dim) - either(correction, 1))) * "
                "(self - reshape(mean, kept(self.shape, dim))) + "
                "reshape(grad_mean, kept(self.shape, dim)) / count(self.shape, dim)",
    .samples = "var_mean(f32[5,3])\nvar_mean(f32[5,3]; false)\nvar_mean(f32[5,3]; [1]; keepdim=true)\n"
               "var_mean(f32[2,5,3]; [0,2])\nvar_mean(f64[5,3]; [0]; correction=2)\nvar_mean(f32[0,3]; 0)\n"
               "var_mean(f32[])",
};
