/* SPDX-License-Identifier: Apache-2.0
 *
 * For bindings to other languages, in which each object holds a reference and nothing ends a scope: after a call they
 * drop the intermediate results that it left. dt_host (base.h) has lines of the program, long waits and interrupts;
 * dt_grad_hook_add_owner and dt_checkpoint_owner (autograd.h) say when the library lets go of a function.
 */
#ifndef DTENSOR_BINDING_H
#define DTENSOR_BINDING_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The newest tensor of the current scope; NULL: the scope has none. Copies of used tensors (dt_set_use) do not count.
 * Local. */
DT_API dt_tensor *dt_scope_newest(const dt_ctx *ctx);
/* Drops the tensors of the current scope that are newer than one of them; all for NULL. Local. */
DT_API void dt_drop_newer_site(dt_ctx *ctx, dt_tensor *than, DT_CALLER);

#ifndef __cplusplus
#define dt_drop_newer(...) dt_drop_newer_site(__VA_ARGS__, DT_SITE)
#endif

#ifdef __cplusplus
}
#endif

#endif
