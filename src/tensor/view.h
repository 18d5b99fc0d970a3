/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of strided arrays: their shape, strides and first element. Pure, and the same for a plain tensor and for the
 * local tensor of a distributed one.
 */
#ifndef DT_TENSOR_VIEW_H
#define DT_TENSOR_VIEW_H

#include "dtensor/tensor.h"

/* An array over a storage; strides and offset count elements. */
typedef struct dt__view {
    dt_ctx *ctx; /* for errors */
    dt_dtype dtype;
    int n_dims;
    int64_t offset;
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
} dt__view;

/* Each replaces the array by a view of it; after an agreed error it is unchanged. dtensor/tensor.h and dtensor/ops.h
 * define them. */
dt_status dt__view_slice(dt__view *view, int dim, int64_t start, int64_t end, int64_t step);
dt_status dt__view_select(dt__view *view, int dim, int64_t index);
dt_status dt__view_narrow(dt__view *view, int dim, int64_t start, int64_t length);
dt_status dt__view_transpose(dt__view *view, int a, int b);
dt_status dt__view_permute(dt__view *view, int n, const int64_t *dims);
dt_status dt__view_expand(dt__view *view, int n, const int64_t *shape);
dt_status dt__view_diagonal(dt__view *view, int64_t offset, int a, int b);
dt_status dt__view_unfold(dt__view *view, int dim, int64_t size, int64_t step);

/* The strides of another shape over the same elements; false where only a copy has that shape. */
bool dt__view_reshape(dt__view *view, int n, const int64_t *shape);

/* Resolves a negative dim; an error for one out of range. n_dims 0 is treated as 1, as in PyTorch. */
dt_status dt__resolve_dim(dt_ctx *ctx, const char *op, int n_dims, int64_t dim, int *out);

#endif
