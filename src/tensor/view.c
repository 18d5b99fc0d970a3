/* SPDX-License-Identifier: Apache-2.0
 *
 * Shape and stride arithmetic of views. An error leaves the view as it was.
 */
#include "tensor/view.h"

#include "base/ctx.h"
#include "base/size.h"
#include "tensor/tensor.h"

#include <string.h>

enum { TEXT = 320 };

dt_status dt__resolve_dim(dt_ctx *ctx, const char *op, int n_dims, int64_t dim, int *out) {
    int64_t n = n_dims ? n_dims : 1;
    if (dim < -n || dim >= n)
        return dt__fail(ctx, DT_ERR_SHAPE, "%s: wrong dim: expected %lld to %lld, got %lld", op, (long long)-n,
                        (long long)(n - 1), (long long)dim);
    *out = (int)(dim < 0 ? dim + n : dim);
    return DT_OK;
}

/* A dim that must exist: not of a tensor without dims. */
static dt_status find_dim(const dt__view *view, const char *op, int dim, int *out) {
    if (view->n_dims == 0)
        return dt__fail(view->ctx, DT_ERR_SHAPE, "%s: wrong dim: the tensor has no dims, got %d", op, dim);
    return dt__resolve_dim(view->ctx, op, view->n_dims, dim, out);
}

static void remove_dim(dt__view *view, int dim) {
    size_t n = (size_t)(view->n_dims - dim - 1);
    memmove(&view->shape[dim], &view->shape[dim + 1], n * sizeof *view->shape);
    memmove(&view->strides[dim], &view->strides[dim + 1], n * sizeof *view->strides);
    view->n_dims--;
}

static int64_t clip(int64_t index, int64_t size) {
    int64_t from_start = index < 0 ? index + size : index;
    return dt__min_i64(dt__max_i64(from_start, 0), size);
}

dt_status dt__view_slice(dt__view *view, int dim, int64_t start, int64_t end, int64_t step) {
    int d = 0;
    DT__TRY(find_dim(view, "slice", dim, &d));
    if (step <= 0)
        return dt__fail(view->ctx, DT_ERR_VALUE, "slice: wrong step: expected at least 1, got %lld", (long long)step);
    int64_t size = view->shape[d], first = clip(start, size), last = dt__max_i64(clip(end, size), first);
    view->shape[d] = dt__ceil_div(last - first, step);
    if (view->shape[d] > 0) /* an empty view stays where it is, inside the storage */
        view->offset += first * view->strides[d];
    if (view->shape[d] > 1)
        view->strides[d] *= step; /* cannot overflow: the last index is in the storage */
    return DT_OK;
}

dt_status dt__view_select(dt__view *view, int dim, int64_t index) {
    int d = 0;
    DT__TRY(find_dim(view, "select", dim, &d));
    int64_t size = view->shape[d];
    if (index < -size || index >= size)
        return dt__fail(view->ctx, DT_ERR_VALUE, "select: wrong index of dim %d: expected %lld to %lld, got %lld", d,
                        (long long)-size, (long long)(size - 1), (long long)index);
    view->offset += (index < 0 ? index + size : index) * view->strides[d];
    remove_dim(view, d);
    return DT_OK;
}

dt_status dt__view_narrow(dt__view *view, int dim, int64_t start, int64_t length) {
    int d = 0;
    DT__TRY(find_dim(view, "narrow", dim, &d));
    int64_t size = view->shape[d], first = start < 0 ? start + size : start;
    if (first < 0 || length < 0 || first > size || length > size - first)
        return dt__fail(view->ctx, DT_ERR_VALUE,
                        "narrow: indices out of range: dim %d has size %lld, got %lld from %lld on", d,
                        (long long)size, (long long)length, (long long)start);
    if (length > 0)
        view->offset += first * view->strides[d];
    view->shape[d] = length;
    return DT_OK;
}

dt_status dt__view_transpose(dt__view *view, int a, int b) {
    int i = 0, j = 0;
    DT__TRY(dt__resolve_dim(view->ctx, "transpose", view->n_dims, a, &i));
    DT__TRY(dt__resolve_dim(view->ctx, "transpose", view->n_dims, b, &j));
    if (view->n_dims == 0)
        return DT_OK;
    int64_t size = view->shape[i], stride = view->strides[i];
    view->shape[i] = view->shape[j];
    view->strides[i] = view->strides[j];
    view->shape[j] = size;
    view->strides[j] = stride;
    return DT_OK;
}

dt_status dt__view_permute(dt__view *view, int n, const int64_t *dims) {
    char text[TEXT];
    dt__view to = *view;
    uint64_t found = 0;
    bool valid = n == view->n_dims;
    for (int d = 0; d < n && valid; d++) {
        int64_t from = dims[d] < 0 ? dims[d] + n : dims[d];
        valid = from >= 0 && from < n && !(found >> from & 1);
        if (!valid)
            break;
        found |= UINT64_C(1) << from;
        to.shape[d] = view->shape[from];
        to.strides[d] = view->strides[from];
    }
    if (!valid)
        return dt__fail(view->ctx, DT_ERR_SHAPE, "permute: wrong dims: expected each of %d dims once, got (%s)",
                        view->n_dims, dt__shape_text(n, dims, sizeof text, text));
    *view = to;
    return DT_OK;
}

/* Views that repeat elements can have more of them than any memory. */
static dt_status check_count(const dt__view *view, const char *op) {
    int64_t elements;
    return dt__shape_check(view->ctx, op, view->dtype, view->n_dims, view->shape, &elements);
}

static dt_status cannot_expand(const dt__view *view, int n, const int64_t *shape) {
    char from[TEXT], to[TEXT];
    return dt__fail(view->ctx, DT_ERR_SHAPE,
                    "expand: cannot expand [%s] to [%s]: only sizes of 1 can change, and new dims come first",
                    dt__shape_text(view->n_dims, view->shape, sizeof from, from),
                    dt__shape_text(n, shape, sizeof to, to));
}

dt_status dt__view_expand(dt__view *view, int n, const int64_t *shape) {
    int added = n - view->n_dims;
    if (added < 0 || n > DT_SPEC_MAX_DIMS)
        return cannot_expand(view, n, shape);
    dt__view to = *view;
    to.n_dims = n;
    for (int d = 0; d < n; d++) {
        int64_t old = d < added ? 1 : view->shape[d - added], requested = shape[d];
        if (requested == -1 && d >= added)
            requested = old;
        if (requested < 0 || (old != 1 && requested != old))
            return cannot_expand(view, n, shape);
        to.shape[d] = requested;
        to.strides[d] = d >= added && requested == old ? view->strides[d - added] : 0;
    }
    DT__TRY(check_count(&to, "expand"));
    *view = to;
    return DT_OK;
}

dt_status dt__view_diagonal(dt__view *view, int64_t offset, int a, int b) {
    int i = 0, j = 0;
    DT__TRY(find_dim(view, "diagonal", a, &i));
    DT__TRY(find_dim(view, "diagonal", b, &j));
    if (i == j)
        return dt__fail(view->ctx, DT_ERR_SHAPE, "diagonal: the dims are equal: %d", i);
    int64_t down = offset < 0 ? -dt__max_i64(offset, -INT64_MAX) : 0, right = dt__max_i64(offset, 0);
    int64_t n = dt__max_i64(dt__min_i64(view->shape[i] - down, view->shape[j] - right), 0);
    int64_t stride = view->strides[i] + view->strides[j];
    if (n > 0)
        view->offset += down * view->strides[i] + right * view->strides[j];
    remove_dim(view, i > j ? i : j);
    remove_dim(view, i > j ? j : i);
    view->shape[view->n_dims] = n;
    view->strides[view->n_dims++] = stride;
    return DT_OK;
}

dt_status dt__view_unfold(dt__view *view, int dim, int64_t size, int64_t step) {
    int d = 0;
    DT__TRY(dt__resolve_dim(view->ctx, "unfold", view->n_dims, dim, &d));
    int64_t extent = view->n_dims ? view->shape[d] : 1, stride = view->n_dims ? view->strides[d] : 1;
    if (size < 0 || size > extent || step <= 0)
        return dt__fail(
            view->ctx, DT_ERR_VALUE,
            "unfold: wrong window of dim %d: expected a size of at most %lld and a step of at least 1, got size "
            "%lld and step %lld",
            d, (long long)extent, (long long)size, (long long)step);
    if (view->n_dims == DT_SPEC_MAX_DIMS)
        return dt__fail(view->ctx, DT_ERR_SHAPE, "unfold: too many dims: expected at most %d, got %d",
                        DT_SPEC_MAX_DIMS, view->n_dims + 1);
    dt__view to = *view;
    if (to.n_dims > 0) {
        to.shape[d] = (extent - size) / step + 1;
        to.strides[d] = to.shape[d] > 1 ? stride * step : stride;
    }
    to.shape[to.n_dims] = size;
    to.strides[to.n_dims++] = stride;
    DT__TRY(check_count(&to, "unfold"));
    *view = to;
    return DT_OK;
}

/* Old dims are joined from the right as long as they are contiguous; each joined block must be the product of some new
 * dims. */
bool dt__view_reshape(dt__view *view, int n, const int64_t *shape) {
    int64_t strides[DT_SPEC_MAX_DIMS];
    if (dt__elements(view->n_dims, view->shape) <= 1 || dt__elements(n, shape) == 0) {
        dt__row_strides(n, shape, strides);
    } else {
        int to = n - 1;
        for (int d = view->n_dims - 1; d >= 0;) {
            int64_t step = view->strides[d], block = view->shape[d];
            for (d--; d >= 0 && (view->shape[d] == 1 || block == 1 || view->strides[d] == step * block); d--) {
                if (block == 1)
                    step = view->strides[d];
                block *= view->shape[d];
            }
            while (to >= 0 && (block > 1 || shape[to] == 1)) {
                if (block % shape[to] != 0)
                    return false;
                strides[to] = step;
                step *= shape[to];
                block /= shape[to--];
            }
            if (block != 1)
                return false;
        }
        for (; to >= 0; to--)
            strides[to] = 1; /* sizes of 1 */
    }
    view->n_dims = n;
    memcpy(view->shape, shape, (size_t)n * sizeof *shape);
    memcpy(view->strides, strides, (size_t)n * sizeof *strides);
    return true;
}
