/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of plain tensors: new handles on the same storage.
 */
#include "base/size.h"
#include "tensor/tensor_state.h"
#include "tensor/view.h"

#include <string.h>

/* The view to start from; false after an error where the tensor is NULL or not plain. */
static bool open_view(const dt_tensor *tensor, const char *op, dt__view *out) {
    if (!tensor)
        return false;
    if (tensor->spec) {
        char text[512];
        (void)dt_tensor_text(tensor, sizeof text, text);
        (void)dt__fail(tensor->ctx, DT_ERR_UNSUPPORTED,
                       "%s: expected a plain tensor, got %s; use dt_to_local or dt_full_tensor", op, text);
        return false;
    }
    *out = (dt__view){
        .ctx = tensor->ctx, .dtype = tensor->dtype, .n_dims = tensor->n_dims, .offset = dt__tensor_offset(tensor)};
    size_t bytes = (size_t)tensor->n_dims * sizeof(int64_t);
    memcpy(out->shape, tensor->shape, bytes);
    memcpy(out->strides, tensor->strides, bytes);
    return true;
}

static dt_tensor *close_view(const dt_tensor *tensor, const char *op, const dt__view *view, int n,
                             const int64_t *args) {
    dt__array_desc desc = {tensor->dtype, view->n_dims, view->shape, view->strides, view->offset};
    return dt__made_from(op, tensor, dt__tensor_plain(tensor->storage, &desc), n, args);
}

dt_tensor *dt_narrow_site(const dt_tensor *tensor, int dim, int64_t start, int64_t length, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "narrow", site);
    dt__view view;
    if (!open_view(tensor, "narrow", &view) || dt__view_narrow(&view, dim, start, length) != DT_OK)
        return NULL;
    return close_view(tensor, "narrow", &view, 3, (int64_t[]){dim, start, length});
}

dt_tensor *dt_permute_site(const dt_tensor *tensor, dt_dims dims, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "permute", site);
    dt__view view;
    if (!open_view(tensor, "permute", &view) || dt__view_permute(&view, dims.n, dims.list) != DT_OK)
        return NULL;
    return close_view(tensor, "permute", &view, dims.n, dims.list);
}

dt_tensor *dt_diagonal_site(const dt_tensor *tensor, int64_t offset, int a, int b, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "diagonal", site);
    dt__view view;
    if (!open_view(tensor, "diagonal", &view) || dt__view_diagonal(&view, offset, a, b) != DT_OK)
        return NULL;
    return close_view(tensor, "diagonal", &view, 3, (int64_t[]){offset, a, b});
}

dt_tensor *dt_unfold_site(const dt_tensor *tensor, int dim, int64_t size, int64_t step, const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "unfold", site);
    dt__view view;
    if (!open_view(tensor, "unfold", &view) || dt__view_unfold(&view, dim, size, step) != DT_OK)
        return NULL;
    return close_view(tensor, "unfold", &view, 3, (int64_t[]){dim, size, step});
}

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

dt_tensor *dt_as_strided_site(const dt_tensor *tensor, dt_shape shape, dt_shape strides, int64_t offset,
                              const dt_site *site) {
    DT__ENTER_TENSOR(tensor, "as_strided", site);
    dt__view view;
    int64_t elements, low, high;
    if (!open_view(tensor, "as_strided", &view) ||
        dt__shape_check(tensor->ctx, "as_strided", tensor->dtype, shape.n, shape.sizes, &elements) != DT_OK)
        return NULL;
    int64_t capacity = (int64_t)(tensor->storage->bytes / dt_dtype_size(tensor->dtype));
    if (strides.n != shape.n || offset < 0 || offset > capacity ||
        (elements > 0 &&
         (!reach(shape.n, shape.sizes, strides.sizes, offset, &low, &high) || low < 0 || high >= capacity))) {
        char sizes[320], steps[320];
        (void)dt__fail(tensor->ctx, DT_ERR_SHAPE,
                       "as_strided: [%s] with strides (%s) from element %lld on exceeds the storage of %lld elements",
                       dt__shape_text(shape.n, shape.sizes, sizeof sizes, sizes),
                       dt__shape_text(strides.n, strides.sizes, sizeof steps, steps), (long long)offset,
                       (long long)capacity);
        return NULL;
    }
    dt__array_desc desc = {tensor->dtype, shape.n, shape.sizes, strides.sizes, offset};
    int64_t args[1 + DT_SPEC_MAX_DIMS] = {offset}; /* the shape is the result's */
    for (int d = 0; d < shape.n; d++)
        args[1 + d] = strides.sizes[d];
    return dt__made_from("as_strided", tensor, dt__tensor_plain(tensor->storage, &desc), 1 + shape.n, args);
}
