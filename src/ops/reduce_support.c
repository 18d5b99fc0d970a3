/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes of reduced tensors, and reductions of functions of elements.
 */
#include "ops/reduce_support.h"

#include <string.h>

static bool keeps_dims(const dt_op_call *call) {
    const dt_arg *keepdim = dt__arg_at(call, DT__KEEPDIM);
    return keepdim && keepdim->as.b;
}

dt_status dt__add_reduced(dt_op_call *call, uint32_t dims, dt_dtype dtype) {
    const dt_op_value *input = &call->inputs[0];
    dt__shape shape = {0};
    for (int d = 0; d < input->n_dims; d++)
        if (!(dims >> d & 1))
            shape.sizes[shape.n++] = input->shape[d];
        else if (keeps_dims(call))
            shape.sizes[shape.n++] = 1;
    return dt__add_shape(call, dtype, &shape);
}

dt_status dt__expect_elements(const dt_op_call *call, uint32_t dims) {
    for (int d = 0; d < call->inputs[0].n_dims; d++)
        if (dims >> d & 1 && call->inputs[0].shape[d] == 0)
            return dt_op_refuse(call, DT_ERR_SHAPE, "cannot reduce dim %d: it is empty", d);
    return DT_OK;
}

void dt__reduced_of(const dt_op_call *call, const dt_op_value *output, uint32_t dims, dt__reduced *out) {
    int n = 0;
    bool keeps = keeps_dims(call);
    for (int d = 0, at = 0; d < call->inputs[0].n_dims; d++) {
        bool reduced = dims >> d & 1;
        if (!reduced) {
            out->shape[n] = output->shape[at];
            out->strides[n++] = output->strides[at];
        }
        at += !reduced || keeps;
    }
    out->array = (dt__array){output->data, output->dtype, n, out->shape, out->strides};
}

/* An array of the dims that are not reduced, repeated along those that are. */
static dt__array repeat(const dt__array *reduced, const dt__array *in, uint32_t dims, int64_t *strides) {
    if (reduced->n_dims == 0)
        return *reduced;
    for (int d = 0, at = 0; d < in->n_dims; d++)
        strides[d] = dims >> d & 1 ? 0 : reduced->strides[at++];
    return (dt__array){reduced->data, reduced->dtype, in->n_dims, in->shape, strides};
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

/* Folds a slice into out, or writes it there if it is the first. */
static dt_status fold_slice(const dt_op_call *call, const dt__mapped_fold *mapped, const dt__array *in,
                            const dt__array *with, uint32_t dims, bool first, const dt__array *out) {
    static const dt__element_op combine[] = {
        [DT__FOLD_SUM] = DT__EL_ADD, [DT__FOLD_MAX] = DT__EL_MAXIMUM, [DT__FOLD_MIN] = DT__EL_MINIMUM};
    const dt__kernels *kernels = dt__kernels_of(call->ctx);
    dt__pool *pool = dt__pool_of(call->ctx);
    dt__scratch values, folded;
    DT__TRY(dt__scratch_new(call, mapped->dtype, in->n_dims, in->shape, &values));
    dt__elementwise map = {.op = mapped->op, .dtype = mapped->dtype, .out = &values.array, .ins = {in, with}};
    memcpy(map.numbers, mapped->numbers, sizeof map.numbers);
    dt__elementwise_run(kernels, pool, &map);
    dt_status status = first ? DT_OK : dt__scratch_new(call, out->dtype, out->n_dims, out->shape, &folded);
    if (status == DT_OK) {
        const dt__array *to = first ? out : &folded.array;
        dt__reduce(kernels, pool, &(dt__reduction){mapped->fold, dims, 0, &values.array, to});
        if (!first) {
            status = dt__run_elements(call, combine[mapped->fold], out->dtype, out, out, &folded.array, NULL);
            dt__scratch_free(call, &folded);
        }
    }
    dt__scratch_free(call, &values);
    return status;
}

static void write_identity(const dt_op_call *call, dt__fold fold, const dt__array *out) {
    dt__constant element;
    dt__write_identity(out->dtype, fold == DT__FOLD_MAX ? DT_MAX : fold == DT__FOLD_MIN ? DT_MIN : DT_SUM, &element);
    dt__run_convert(call, out, &(dt__array){&element, out->dtype, 0, NULL, NULL});
}

dt_status dt__reduce_mapped(const dt_op_call *call, const dt__mapped_fold *mapped, const dt__array *in, uint32_t dims,
                            const dt__array *out) {
    enum { BLOCK = 1 << 18 }; /* elements */
    int dim = 0, kept = 0;
    int64_t shapes[3][DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS], count = dt__array_count(in);
    if (count == 0) {
        write_identity(call, mapped->fold, out);
        return DT_OK;
    }
    for (int d = 1; d < in->n_dims; d++)
        dim = in->shape[d] > in->shape[dim] ? d : dim;
    for (int d = 0; d < dim; d++)
        kept += !(dims >> d & 1);
    int64_t size = in->n_dims ? in->shape[dim] : 1, step = dt__max_i64(1, BLOCK / (count / size));
    bool reduced = in->n_dims == 0 || dims >> dim & 1;
    dt__array with;
    if (mapped->with)
        with = repeat(mapped->with, in, dims, strides);
    for (int64_t at = 0; at < size; at += step) {
        int64_t n = dt__min_i64(step, size - at);
        dt__array from = slice_of(in, dim, at, n, shapes[0]), second;
        if (mapped->with)
            second = slice_of(&with, dim, at, n, shapes[1]);
        dt__array to = reduced ? *out : slice_of(out, kept, at, n, shapes[2]);
        DT__TRY(fold_slice(call, mapped, &from, mapped->with ? &second : NULL, dims, at == 0 || !reduced, &to));
    }
    return DT_OK;
}
