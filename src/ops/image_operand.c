/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of kernels on images (image_operand.h).
 */
#include "ops/image_operand.h"

#include "base/dtype.h"

static dt_dtype computed_dtype(dt_dtype dtype) {
    if (dtype == DT_F16 || dtype == DT_BF16)
        return DT_F32;
    return dt__is_integral(dtype) ? DT_I64 : dtype;
}

/* The tensor with the dims of size 1 that it lacks. */
static void add_dims(const dt_op_value *value, dt__image_form form, dt__image *out) {
    const int n_leading = form.adds_batch ? 1 : 2;
    int n = 0;
    if (form.adds_batch)
        out->shape[n++] = 1;
    for (int d = 0; d < value->n_dims; d++) {
        for (int i = 0; i < form.n_added && d == n_leading; i++)
            out->shape[n++] = 1;
        out->shape[n] = value->shape[d];
        out->strides[n++] = value->strides[d];
    }
    out->given = (dt__array){value->data, value->dtype, n, out->shape, out->strides};
}

dt_status dt__image_open(const dt_op_call *call, const dt_op_value *value, dt__image_form form, dt__image *out) {
    const dt_dtype dtype = computed_dtype(value->dtype);
    *out = (dt__image){.is_copied = false};
    add_dims(value, form, out);
    out->array = out->given;
    if (dtype == value->dtype && (!form.is_dense || dt__array_is_dense(&out->given)))
        return DT_OK;
    DT__TRY(dt__scratch_new(call, dtype, out->given.n_dims, out->given.shape, &out->copy));
    out->is_copied = true;
    out->array = out->copy.array;
    if (!form.is_output)
        dt__run_convert(call, &out->array, &out->given);
    return DT_OK;
}

void dt__image_store(const dt_op_call *call, const dt__image *image) {
    if (image->is_copied)
        dt__run_convert(call, &image->given, &image->array);
}

void dt__image_close(const dt_op_call *call, dt__image *image) {
    if (image->is_copied)
        dt__scratch_free(call, &image->copy);
    image->is_copied = false;
}
