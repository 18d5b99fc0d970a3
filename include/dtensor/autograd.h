/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients. A tensor requires a gradient if that was set (dt_set_requires_grad, or the
 * option of makers) or if it was made from one that does:
 *
 *     dt_tensor *w = dt_randn(ctx, DT_SHAPE(4, 6), .mesh = mesh, .place = "R,S(1)", .requires_grad = true);
 *     dt_tensor *y = dt_gelu(dt_matmul(x, w)); // requires a gradient, because w does
 *     dt_backward(dt_sum(y));                  // computes the gradient of w
 *     dt_tensor *g = dt_grad(w);               // f32[4,6] R,S(1): placed as w
 *
 * The calls that made such a tensor are *recorded*: ops, views, dt_redistribute, dt_from_local, dt_to_local,
 * dt_full_tensor and copies alike. A record has the arguments of its call and keeps the values that the gradient of the
 * op needs, whatever happens to tensors and scopes; it is freed with the last tensor that was made from its results. A
 * tensor that no recorded call made is a *leaf*. A leaf that requires a gradient, and a view of it, must not be written
 * to while calls are recorded; a write to a view of any other tensor changes the gradients of that, too.
 */
#ifndef DTENSOR_AUTOGRAD_H
#define DTENSOR_AUTOGRAD_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_backward_options {
    dt_tensor *grad;   /* of the tensor, with its shape; default: ones, for a tensor of one element */
    bool retain_graph; /* keep the values that records have saved, for another walk over them */
    bool create_graph; /* record what is computed, for derivatives of gradients; implies retain_graph */
    const char *hold;  /* names of mesh dims along which gradients stay partial: "dp" or "dp,cp"; default: none */
    const dt_site *site;
} dt_backward_options;

/* Computes the gradients of the leaves that the tensor was made from, and adds each to the gradient of its leaf
 * (dt_grad). A gradient is summed over all uses of its tensor and then brought to its placement: that of the tensor,
 * with Replicate for Partial. Frees the values that records have saved.
 *
 * With `hold`, the gradients of leaves stay partial sums along the mesh dims of these names, and later walks add to
 * them; the first walk without it brings the sum to its placement, and runs hooks on it. So four micro-batches take one
 * all-reduce:
 *
 *     for (int i = 0; i < 4; i++)
 *         dt_backward(dt_sum(dt_matmul(x, w)), .hold = i < 3 ? "dp" : NULL);
 *
 * dt_grad shows a held gradient, as P(sum) along these dims; optimizer steps, norms and saves refuse it. A complete
 * gradient stays complete. One that the last walk does not reach stays held: where only some micro-batches use a
 * parameter, the last loss adds 0 times its sum. Agreed errors: a tensor that requires no gradient, an op without one,
 * a saved value that was changed or freed. Collective over the meshes of the tensors where gradients move, else
 * Local. */
DT_API dt_status dt_backward_sized(dt_tensor *tensor, DT_OPTIONS(dt_backward_options));

/* What dt_gradients has left for dt_backward_rest. */
typedef struct dt_rest dt_rest;

typedef struct dt_gradients_options {
    dt_tensor *const *output_grads;  /* one per output, NULL for ones; default: ones */
    bool retain_graph, create_graph; /* as in dt_backward_options */
    dt_rest **rest;    /* gets what is left: the gradients of other leaves; default: it is not computed */
    bool allow_unused; /* NULL for inputs that the outputs do not depend on; default: an agreed error */
    const dt_site *site;
} dt_gradients_options;

/* The gradients of the sum of the outputs, each times its gradient, with respect to the inputs, which may be leaves or
 * not: one per input in grads, which belong to the current scope; all NULL after an error. Only what leads to the
 * inputs is computed, and dt_grad of no tensor changes. Otherwise as dt_backward. Collective over the meshes of the
 * tensors where gradients move, else Local. */
DT_API dt_status dt_gradients_sized(dt_tensors outputs, dt_tensors inputs, dt_tensor **grads,
                                    DT_OPTIONS(dt_gradients_options));

/* Computes the gradients of the leaves that are not among the inputs of dt_gradients, as if those were leaves, adds
 * each to the gradient of its leaf (dt_grad), and frees the rest. This lets a stage of a pipeline send the gradients of
 * its inputs before it computes those of its parameters. The values that records have saved are kept until then; one
 * that was changed since is an error. Otherwise as dt_backward. Collective over the meshes of the tensors where
 * gradients move, else Local. */
DT_API dt_status dt_backward_rest_site(dt_rest *rest, DT_CALLER);
/* Frees it without computing anything; accepts NULL. A rest that either function has freed is an error. Local. */
DT_API void dt_rest_free(dt_rest *rest);

/* The gradient that a leaf has, or a tensor with dt_retain_grad; NULL: none. It belongs to the tensor, until
 * dt_zero_grad. Local. */
DT_API dt_tensor *dt_grad(const dt_tensor *tensor);
/* Drops the gradients of tensors. Local. */
DT_API dt_status dt_zero_grad_site(dt_tensors tensors, DT_CALLER);
/* Also keeps the gradient of this tensor, which is not a leaf. Local. */
DT_API dt_status dt_retain_grad_site(dt_tensor *tensor, DT_CALLER);

/* A function that is called with a gradient when it is complete, in its placement, before it is used; returns another
 * one in its place, or NULL. */
typedef dt_tensor *dt_grad_hook(dt_tensor *grad, void *user);
/* Calls the function in every later walk that computes the gradient of the tensor; hooks run in the order they
 * were added. Returns a number for its removal; 0 after an error. Local; every rank does the same. */
DT_API int64_t dt_grad_hook_add_site(dt_tensor *tensor, dt_grad_hook *hook, void *user, DT_CALLER);
DT_API dt_status dt_grad_hook_remove_site(dt_tensor *tensor, int64_t id, DT_CALLER);

/* A function that makes a tensor from others; `user` has what else it reads, such as parameters. */
typedef dt_tensor *dt_checkpoint_fn(dt_tensor *const *inputs, void *user);
/* The result of the function, which is recorded without the values that its gradients need: when they are needed, the
 * function runs again, with the same random numbers. So the values inside a layer take memory only while the gradients
 * of this layer are computed, for the price of a second forward pass. The inputs are kept. The function does the same
 * in both runs, changes no tensor from outside, and `user` lives as long as the result. Agreed errors: an input or a
 * parameter that was changed since, a function that makes other calls when it runs again. NULL after an error.
 * Checkpoints nest. Collective where the function is. */
DT_API dt_tensor *dt_checkpoint_site(dt_checkpoint_fn *run, void *user, dt_tensors inputs, DT_CALLER);

/* Frees what a hook or a function was given as `user`. It makes no calls of the library. dt_close does not call it for
 * what is left. */
typedef void dt_user_end(void *user);
/* Adds a hook that owns `user`: `end` is called with it when the hook is removed, when the tensor's record is freed, or
 * if the hook cannot be added. Otherwise as dt_grad_hook_add. Local; every rank does the same. */
DT_API int64_t dt_grad_hook_add_owner_site(dt_tensor *tensor, dt_grad_hook *hook, void *user, dt_user_end *end,
                                           DT_CALLER);
/* dt_checkpoint of a function that owns `user`: `end` is called with it when the function will not run again. Otherwise
 * as dt_checkpoint. Collective where the function is. */
DT_API dt_tensor *dt_checkpoint_owner_site(dt_checkpoint_fn *run, void *user, dt_user_end *end, dt_tensors inputs,
                                           DT_CALLER);

/* Whether no recorded call made the tensor; false for NULL. Local. */
DT_API bool dt_is_leaf(const dt_tensor *tensor);
/* A leaf on the storage of the tensor, with its elements, that requires no gradient. Local; every rank of the mesh
 * makes the same call. */
DT_API dt_tensor *dt_detach_site(const dt_tensor *tensor, DT_CALLER);

/* Between begin and end, which nest, nothing is recorded, and results require no gradient. An end without a begin is an
 * error. Local; every rank does the same. */
DT_API void dt_no_grad_begin(dt_ctx *ctx);
DT_API dt_status dt_no_grad_end_site(dt_ctx *ctx, DT_CALLER);

#ifndef __cplusplus
/* clang-format off */
#define dt_backward(...) DT_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_BACKWARD_(tensor, ...) dt_backward_sized(tensor, DT_NAMED(dt_backward_options, __VA_ARGS__))
#define dt_gradients(...) DT_GRADIENTS_(__VA_ARGS__, .site = DT_SITE)
#define DT_GRADIENTS_(outputs, inputs, grads, ...) \
    dt_gradients_sized(outputs, inputs, grads, DT_NAMED(dt_gradients_options, __VA_ARGS__))
#define dt_backward_rest(...) dt_backward_rest_site(__VA_ARGS__, DT_SITE)
#define dt_zero_grad(...) dt_zero_grad_site(__VA_ARGS__, DT_SITE)
#define dt_retain_grad(...) dt_retain_grad_site(__VA_ARGS__, DT_SITE)
#define dt_grad_hook_add(...) dt_grad_hook_add_site(__VA_ARGS__, DT_SITE)
#define dt_grad_hook_remove(...) dt_grad_hook_remove_site(__VA_ARGS__, DT_SITE)
#define dt_checkpoint(...) dt_checkpoint_site(__VA_ARGS__, DT_SITE)
#define dt_grad_hook_add_owner(...) dt_grad_hook_add_owner_site(__VA_ARGS__, DT_SITE)
#define dt_checkpoint_owner(...) dt_checkpoint_owner_site(__VA_ARGS__, DT_SITE)
#define dt_detach(...) dt_detach_site(__VA_ARGS__, DT_SITE)
#define dt_no_grad_end(...) dt_no_grad_end_site(__VA_ARGS__, DT_SITE)
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
