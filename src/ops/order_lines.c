/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of a tensor along a dim, and the order of their elements.
 */
#include "ops/order_lines.h"

#include "base/dtype.h"

#include <math.h>
#include <string.h>

void dt__line_along(const dt_op_value *value, int dim, dt__along *out) {
    *out = (dt__along){.dim = dim, .shape = {1}, .strides = {1}};
    out->array = (dt__array){value->data, value->dtype, value->n_dims ? value->n_dims : 1, out->shape, out->strides};
    if (value->n_dims == 0)
        return;
    memcpy(out->shape, value->shape, (size_t)value->n_dims * sizeof *out->shape);
    memcpy(out->strides, value->strides, (size_t)value->n_dims * sizeof *out->strides);
}

void dt__line_reduced(const dt_op_value *value, const dt__along *input, dt__along *out) {
    *out = (dt__along){.dim = input->dim};
    int n = input->array.n_dims, shift = value->n_dims < n;
    for (int d = 0; d < n; d++) {
        int from = d - (shift && d > input->dim);
        out->shape[d] = d == input->dim ? 1 : value->shape[from];
        out->strides[d] = d == input->dim ? 1 : value->strides[from];
    }
    out->array = (dt__array){value->data, value->dtype, n, out->shape, out->strides};
}

int64_t dt__line_offset(const dt__along *tensor, int64_t line) {
    int64_t offset = 0;
    for (int d = tensor->array.n_dims - 1; d >= 0; d--)
        if (d != tensor->dim) {
            offset += line % tensor->shape[d] * tensor->strides[d];
            line /= tensor->shape[d];
        }
    return offset;
}

int64_t dt__order_key(dt_dtype dtype, const void *element) {
    if (!dt__is_float(dtype))
        return dt__read_i64(dtype, element);
    double value = dt__read_f64(dtype, element) + 0.0;
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? INT64_MAX : bits < 0 ? (int64_t)((uint64_t)INT64_MIN - (uint64_t)bits) : bits;
}
