/* SPDX-License-Identifier: Apache-2.0
 *
 * dt_as_strided: any view of the storage of a plain tensor. It is not an op, because it addresses the storage, which
 * differs from rank to rank, and not the elements of a tensor.
 */
#include "base/size.h"
#include "tensor/tensor_state.h"

/* The smallest and the largest element that the strides reach from offset on; false on overflow. */
static bool reach(int n, const int64_t *shape, const int64_t *strides, int64_t offset, int64_t *low, int64_t *high) {
    *low = *high = offset;
    for (int d = 0; d < n; d++) {
        int64_t span;
        if (!dt__mul_i64(shape[d] - 1, strides[d], &span) ||
            !dt__add_i64(span < 0 ? *low : *high, span, span < 0 ? low : high))
            return false;
    }
    return true;
}

dt_tensor *dt_as_strided_site(const dt_tensor *tensor, dt_shape shape, dt_ints strides, int64_t offset,
                              const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "as_strided", site);
    if (DT__REFUSAL() != DT_OK)
        return NULL;
    int64_t elements, low, high;
    if (!tensor)
        return NULL;
    if (tensor->spec) {
        char text[512];
        (void)dt_tensor_text(tensor, sizeof text, text);
        (void)dt__fail(tensor->ctx, DT_ERR_UNSUPPORTED,
                       "as_strided: expected a plain tensor, got %s; use dt_to_local or dt_full_tensor", text);
        return NULL;
    }
    if (dt__shape_check(tensor->ctx, "as_strided", tensor->dtype, shape.n, shape.sizes, &elements) != DT_OK)
        return NULL;
    int64_t capacity = (int64_t)(tensor->storage->bytes / dt_dtype_size(tensor->dtype));
    if (strides.n != shape.n || offset < 0 || offset > capacity ||
        (elements > 0 &&
         (!reach(shape.n, shape.sizes, strides.list, offset, &low, &high) || low < 0 || high >= capacity))) {
        char sizes[320], steps[320];
        (void)dt__fail(tensor->ctx, DT_ERR_SHAPE,
                       "as_strided: [%s] with strides (%s) from element %lld on exceeds the storage of %lld elements",
                       dt__shape_text(shape.n, shape.sizes, sizeof sizes, sizes),
                       dt__shape_text(strides.n, strides.list, sizeof steps, steps), (long long)offset,
                       (long long)capacity);
        return NULL;
    }
    dt__array_desc desc = {tensor->dtype, shape.n, shape.sizes, strides.list, offset};
    /* The shape is the result's; then where the tensor is: its first element, number of dims, shape and strides. */
    int64_t args[3 + 3 * DT_SPEC_MAX_DIMS] = {offset}, *own = args + 1 + shape.n;
    for (int d = 0; d < shape.n; d++)
        args[1 + d] = strides.list[d];
    own[0] = dt__tensor_offset(tensor);
    own[1] = tensor->n_dims;
    for (int d = 0; d < tensor->n_dims; d++) {
        own[2 + d] = tensor->shape[d];
        own[2 + tensor->n_dims + d] = tensor->strides[d];
    }
    dt_tensor *view = dt__inherit_detached(dt__tensor_plain(tensor->storage, &desc), tensor);
    return dt__made_from("as_strided", tensor, view, 3 + shape.n + 2 * tensor->n_dims, args);
}
