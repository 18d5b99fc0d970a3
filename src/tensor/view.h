/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of views: what shape, strides and first element a view of an array has. Pure, and the same for a
 * plain tensor and for the local part of a distributed one.
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

/* Each makes the array a view of what it was; refused, with an agreed error, it stays as it was. See dtensor/tensor.h
 * for what each one means. */
dt_status dt__view_slice(dt__view *view, int dim, int64_t start, int64_t end, int64_t step);
dt_status dt__view_select(dt__view *view, int dim, int64_t index);
dt_status dt__view_narrow(dt__view *view, int dim, int64_t start, int64_t length);
dt_status dt__view_transpose(dt__view *view, int a, int b);
dt_status dt__view_permute(dt__view *view, int n, const int64_t *dims);
dt_status dt__view_expand(dt__view *view, int n, const int64_t *shape);
dt_status dt__view_diagonal(dt__view *view, int64_t offset, int a, int b);
dt_status dt__view_unfold(dt__view *view, int dim, int64_t size, int64_t step);

/* The strides of another shape over the same elements; false where there are none without a copy. */
bool dt__view_reshape(dt__view *view, int n, const int64_t *shape);

/* Counts a negative dim from the end; refuses one that is not there. n_dims 0 is treated as 1, as dims of a 0-d tensor
 * may be named. */
dt_status dt__resolve_dim(dt_ctx *ctx, const char *op, int n_dims, int64_t dim, int *out);

#endif
