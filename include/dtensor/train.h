/* SPDX-License-Identifier: Apache-2.0
 *
 * Training: optimisers, and the norm of gradients.
 *
 *     dt_tensor *w = dt_randn(ctx, DT_SHAPE(4, 6), .mesh = mesh, .place = "R,S(1)", .requires_grad = true);
 *     dt_optimizer *opt = dt_adamw_new(ctx, 1e-3, .weight_decay = DT_REAL(0.1));
 *     for (int step = 0; step < 10; step++) {
 *         dt_scope scope = dt_scope_begin(ctx);
 *         dt_zero_grad(DT_TENSORS(w));
 *         dt_backward(dt_sum(dt_gelu(dt_matmul(x, w))));
 *         dt_clip_grad_norm(DT_TENSORS(w), 1.0); // one reduction for all parameters of a mesh
 *         dt_adamw_step(opt, DT_TENSORS(w));     // moves nothing: each rank updates its shards
 *         dt_scope_end(scope);
 *     }
 *
 * An optimiser is the numbers of a method and the state of each parameter that it has stepped: tensors of zeros at
 * first, placed as the parameter, and the number of steps. It holds a reference to these parameters. A parameter
 * without a gradient is left as it is, with its state. Nothing of this is recorded for gradients, and parameters are
 * seen as they are stored, whatever their use placements.
 */
#ifndef DTENSOR_TRAIN_H
#define DTENSOR_TRAIN_H

#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_optimizer dt_optimizer;

typedef struct dt_adam_new_options {
    dt_opt_real beta1, beta2; /* of the averages of gradients and of their squares; default 0.9 and 0.999 */
    dt_opt_real eps;          /* default 1e-8 */
    dt_opt_real weight_decay; /* default 0 for Adam, where it is added to gradients, and 0.01 for AdamW */
    bool amsgrad;             /* divide by the largest average of squares so far */
    bool maximize;            /* step along the gradient, not against it */
    const dt_site *site;
} dt_adam_new_options;

typedef struct dt_sgd_new_options {
    dt_opt_real momentum, dampening, weight_decay; /* default 0 */
    bool nesterov, maximize;
    const dt_site *site;
} dt_sgd_new_options;

/* Optimisers with a learning rate. They belong to the context, and may be freed before. Agreed errors: numbers out of
 * range. Local. */
DT_API dt_optimizer *dt_adam_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_adam_new_options));
DT_API dt_optimizer *dt_adamw_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_adam_new_options));
DT_API dt_optimizer *dt_sgd_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_sgd_new_options));
/* Frees the optimiser with its state; accepts NULL. Local. */
DT_API void dt_optimizer_free_site(dt_optimizer *optimizer, DT_CALLER);

/* One step of each parameter that has a gradient, in place. The optimiser must be of that method. State is f32 for
 * parameters of f16 and bf16, otherwise of the parameter's dtype. Agreed errors, after which the parameters that were
 * not stepped are unchanged. Local; every rank of a mesh makes the same call. */
DT_API dt_status dt_adam_step_site(dt_optimizer *optimizer, dt_tensors parameters, DT_CALLER);
DT_API dt_status dt_adamw_step_site(dt_optimizer *optimizer, dt_tensors parameters, DT_CALLER);
DT_API dt_status dt_sgd_step_site(dt_optimizer *optimizer, dt_tensors parameters, DT_CALLER);

/* The learning rate of the next steps, for schedules. Local; every rank does the same. */
DT_API dt_status dt_optimizer_set_lr_site(dt_optimizer *optimizer, double lr, DT_CALLER);
/* 0 for NULL. Local. */
DT_API double dt_optimizer_lr(const dt_optimizer *optimizer);
/* The state of a parameter, for checkpoints: "exp_avg", "exp_avg_sq", "max_exp_avg_sq" or "momentum_buffer". It belongs
 * to the optimiser. NULL: the parameter was not stepped yet, or the method has no such state. Local. */
DT_API dt_tensor *dt_optimizer_state_site(const dt_optimizer *optimizer, const dt_tensor *parameter, const char *name,
                                          DT_CALLER);
/* The number of steps of a parameter. Local. */
DT_API int64_t dt_optimizer_n_steps(const dt_optimizer *optimizer, const dt_tensor *parameter);
/* Sets it, and makes the state of a parameter that was not stepped yet. To continue from a checkpoint: set the number
 * of steps, then copy each tensor that was saved to dt_optimizer_state. Local; every rank of a mesh makes the same
 * call. */
DT_API dt_status dt_optimizer_set_n_steps_site(dt_optimizer *optimizer, dt_tensor *parameter, int64_t n_steps,
                                               DT_CALLER);

typedef struct dt_grad_norm_options {
    dt_opt_real norm_type;   /* p > 0 of the p-norm, or INFINITY for the largest magnitude; default 2 */
    bool error_if_nonfinite; /* an agreed error instead of a norm that is infinite or NaN */
    const dt_site *site;
} dt_grad_norm_options;

/* The norm of the gradients of all parameters, as of one vector: a plain f64 tensor without dims, with the same bits on
 * every rank of a mesh that has all of them. Summed in f64 on each rank and reduced once for all parameters of a mesh;
 * not at all over mesh dims along which all gradients are replicated. 0 without gradients. A rank does not count
 * gradients on meshes that it is not in. Gradients are all plain or all distributed. Collective over the meshes of the
 * gradients. */
DT_API dt_tensor *dt_grad_norm_sized(dt_tensors parameters, DT_OPTIONS(dt_grad_norm_options));
/* Multiplies the gradients by max_norm / (norm + 1e-6) where that is less than 1, or NaN, and returns the norm that
 * they had. Collective over the meshes of the gradients. */
DT_API dt_tensor *dt_clip_grad_norm_sized(dt_tensors parameters, double max_norm, DT_OPTIONS(dt_grad_norm_options));

#ifndef __cplusplus
/* clang-format off */
#define dt_adam_new(...) DT_ADAM_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAM_NEW_(ctx, lr, ...) dt_adam_new_sized(ctx, lr, DT_NAMED(dt_adam_new_options, __VA_ARGS__))
#define dt_adamw_new(...) DT_ADAMW_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAMW_NEW_(ctx, lr, ...) dt_adamw_new_sized(ctx, lr, DT_NAMED(dt_adam_new_options, __VA_ARGS__))
#define dt_sgd_new(...) DT_SGD_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_SGD_NEW_(ctx, lr, ...) dt_sgd_new_sized(ctx, lr, DT_NAMED(dt_sgd_new_options, __VA_ARGS__))
#define dt_optimizer_free(...) dt_optimizer_free_site(__VA_ARGS__, DT_SITE)
#define dt_adam_step(...) dt_adam_step_site(__VA_ARGS__, DT_SITE)
#define dt_adamw_step(...) dt_adamw_step_site(__VA_ARGS__, DT_SITE)
#define dt_sgd_step(...) dt_sgd_step_site(__VA_ARGS__, DT_SITE)
#define dt_optimizer_set_lr(...) dt_optimizer_set_lr_site(__VA_ARGS__, DT_SITE)
#define dt_optimizer_set_n_steps(...) dt_optimizer_set_n_steps_site(__VA_ARGS__, DT_SITE)
#define dt_optimizer_state(...) dt_optimizer_state_site(__VA_ARGS__, DT_SITE)
#define dt_grad_norm(...) DT_GRAD_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_GRAD_NORM_(parameters, ...) dt_grad_norm_sized(parameters, DT_NAMED(dt_grad_norm_options, __VA_ARGS__))
#define dt_clip_grad_norm(...) DT_CLIP_GRAD_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLIP_GRAD_NORM_(parameters, max_norm, ...) \
    dt_clip_grad_norm_sized(parameters, max_norm, DT_NAMED(dt_grad_norm_options, __VA_ARGS__))
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
