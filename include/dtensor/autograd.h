/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients: what is recorded for them. A tensor requires a gradient if that was set (dt_set_requires_grad, or the
 * option of makers) or if it was made from one that does:
 *
 *     dt_tensor *w = dt_randn(ctx, DT_SHAPE(4, 6), .mesh = mesh, .place = "R,S(1)", .requires_grad = true);
 *     dt_tensor *y = dt_gelu(dt_matmul(x, w)); // requires a gradient, because w does
 *
 * The calls that made such a tensor are *recorded*: ops, views, dt_redistribute, dt_from_local, dt_to_local,
 * dt_full_tensor and copies alike. A record has the arguments of its call and keeps the values that the gradient of the
 * op needs, whatever happens to tensors and scopes; it is freed with the last tensor that was made from its results. A
 * tensor that no recorded call made is a *leaf*. A leaf that requires a gradient, and a view of it, must not be written
 * to while calls are recorded.
 */
#ifndef DTENSOR_AUTOGRAD_H
#define DTENSOR_AUTOGRAD_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether no recorded call made the tensor; false for NULL. Local. */
DT_API bool dt_is_leaf(const dt_tensor *tensor);
/* The same elements, on the same storage, as a leaf that requires no gradient. Local. */
DT_API dt_tensor *dt_detach_site(const dt_tensor *tensor, DT_CALLER);

/* Between begin and end, which nest, nothing is recorded, and results require no gradient. An end without a begin is an
 * error. Local; every rank does the same. */
DT_API void dt_no_grad_begin(dt_ctx *ctx);
DT_API dt_status dt_no_grad_end_site(dt_ctx *ctx, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_detach(...) dt_detach_site(__VA_ARGS__, DT_SITE)
#define dt_no_grad_end(...) dt_no_grad_end_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
