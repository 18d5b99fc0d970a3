/* SPDX-License-Identifier: Apache-2.0
 *
 * Training: optimizers, schedules of the learning rate, loss scaling, and the norm of gradients.
 *
 *     dt_tensor *w = dt_randn(ctx, DT_SHAPE(4, 6), .mesh = mesh, .place = "R,S(1)", .requires_grad = true);
 *     dt_optimizer *opt = dt_adamw_new(ctx, 1e-3, .weight_decay = DT_REAL(0.1));
 *     for (int step = 0; step < 10; step++) {
 *         dt_scope scope = dt_scope_begin(ctx);
 *         dt_zero_grad(DT_TENSORS(w));
 *         dt_backward(dt_sum(dt_gelu(dt_matmul(x, w))));
 *         dt_clip_grad_norm(DT_TENSORS(w), 1.0); // one reduction for all parameters of a mesh
 *         dt_optimizer_step(opt, .parameters = DT_TENSORS(w)); // moves nothing: each rank updates its shards
 *         dt_scope_end(scope);
 *     }
 *
 * With a list of named parameters (params.h), dt_adamw_new(ctx, 1e-3, .params = p) and dt_optimizer_step(opt).
 *
 * An optimizer is the numbers of a method and the state of each parameter that it has stepped: tensors of zeros at
 * first, placed as the parameter, and the number of steps. It holds a reference to these parameters. A parameter
 * without a gradient is left as it is, with its state. None of this is recorded for gradients, and parameters are seen
 * as they are stored, whatever their use placements.
 */
#ifndef DTENSOR_TRAIN_H
#define DTENSOR_TRAIN_H

#include <dtensor/params.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dt_optimizer dt_optimizer;

typedef struct dt_adam_new_options {
    DT_OPTION(dt_opt_real, beta1);        /* of the average of gradients; default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* of the average of their squares; default 0.999 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-8 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0 for Adam, where it is added to gradients, and 0.01 for AdamW */
    DT_OPTION(bool, amsgrad);             /* divide by the largest average of squares so far */
    DT_OPTION(bool, maximize);            /* step along the gradient, not against it */
    DT_OPTION(dt_params *, params);       /* what dt_optimizer_step steps, with the factors of its rules */
    const dt_site *site;
} dt_adam_new_options;

typedef struct dt_sgd_new_options {
    DT_OPTION(dt_opt_real, momentum);     /* default 0 */
    DT_OPTION(dt_opt_real, dampening);    /* default 0 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0 */
    DT_OPTION(bool, nesterov);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_params *, params);
    const dt_site *site;
} dt_sgd_new_options;

typedef struct dt_adagrad_new_options {
    DT_OPTION(dt_opt_real, lr_decay);     /* the rate of step t is lr / (1 + (t - 1) lr_decay); default 0 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0 */
    DT_OPTION(dt_opt_real, initial_accumulator_value); /* default 0 */
    DT_OPTION(dt_opt_real, eps);                       /* default 1e-10 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_params *, params);
    const dt_site *site;
} dt_adagrad_new_options;

typedef struct dt_rmsprop_new_options {
    DT_OPTION(dt_opt_real, alpha);        /* of the average of squares; default 0.99 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-8 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0 */
    DT_OPTION(bool, centered);            /* divide by the standard deviation of gradients */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_params *, params);
    const dt_site *site;
} dt_rmsprop_new_options;

typedef struct dt_adamax_new_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-8 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_params *, params);
    const dt_site *site;
} dt_adamax_new_options;

typedef struct dt_nadam_new_options {
    DT_OPTION(dt_opt_real, beta1);           /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);           /* default 0.999 */
    DT_OPTION(dt_opt_real, eps);             /* default 1e-8 */
    DT_OPTION(dt_opt_real, weight_decay);    /* default 0 */
    DT_OPTION(dt_opt_real, momentum_decay);  /* default 0.004 */
    DT_OPTION(bool, decoupled_weight_decay); /* as AdamW */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_params *, params);
    const dt_site *site;
} dt_nadam_new_options;

typedef struct dt_radam_new_options {
    DT_OPTION(dt_opt_real, beta1);           /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);           /* default 0.999 */
    DT_OPTION(dt_opt_real, eps);             /* default 1e-8 */
    DT_OPTION(dt_opt_real, weight_decay);    /* default 0 */
    DT_OPTION(bool, decoupled_weight_decay); /* as AdamW */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_params *, params);
    const dt_site *site;
} dt_radam_new_options;

typedef struct dt_lion_new_options {
    DT_OPTION(dt_opt_real, beta1);        /* of the direction; default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* of the average of gradients; default 0.99 */
    DT_OPTION(dt_opt_real, weight_decay); /* decoupled; default 0 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_params *, params);
    const dt_site *site;
} dt_lion_new_options;

/* Optimizers with a learning rate. They belong to the context, and may be freed before; params must live as long as the
 * optimizer is stepped. Agreed errors: numbers out of range, and rules of params without effect. Local. */
DT_API dt_optimizer *dt_adam_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_adam_new_options));
DT_API dt_optimizer *dt_adamw_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_adam_new_options));
DT_API dt_optimizer *dt_sgd_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_sgd_new_options));
DT_API dt_optimizer *dt_adagrad_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_adagrad_new_options));
DT_API dt_optimizer *dt_rmsprop_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_rmsprop_new_options));
DT_API dt_optimizer *dt_adamax_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_adamax_new_options));
DT_API dt_optimizer *dt_nadam_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_nadam_new_options));
DT_API dt_optimizer *dt_radam_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_radam_new_options));
DT_API dt_optimizer *dt_lion_new_sized(dt_ctx *ctx, double lr, DT_OPTIONS(dt_lion_new_options));
/* Frees the optimizer with its state; accepts NULL. Local. */
DT_API void dt_optimizer_free_site(dt_optimizer *optimizer, DT_CALLER);

typedef struct dt_optimizer_step_options {
    DT_OPTION(dt_tensors, parameters);  /* those to step, for an optimizer without .params */
    DT_OPTION(dt_opt_real, grad_scale); /* what gradients are multiplied by; default 1 */
    const dt_site *site;
} dt_optimizer_step_options;

/* One step of each parameter that has a gradient, in place; gradients stay (dt_zero_grad drops them). With .params the
 * learning rate and the weight decay have the factors of the rules, frozen parameters are left, and a rule without
 * effect is an agreed error. State is f32 for parameters of f16 and bf16, otherwise of the parameter's dtype. Agreed
 * errors, after which the parameters that were not stepped are unchanged. Parameters with the same number of steps are
 * stepped by all ranks of their mesh or by none: the ranks meet, without exchanging data, before they change anything,
 * so a rank that has failed alone (out of memory) leaves replicas equal. Collective over the meshes of the
 * parameters. */
DT_API dt_status dt_optimizer_step_sized(dt_optimizer *optimizer, DT_OPTIONS(dt_optimizer_step_options));

/* The learning rate of the next steps, for schedules. Local; every rank does the same. */
DT_API dt_status dt_optimizer_set_lr_site(dt_optimizer *optimizer, double lr, DT_CALLER);
/* 0 for NULL. Local. */
DT_API double dt_optimizer_lr(const dt_optimizer *optimizer);
/* The state of a parameter, for checkpoints, by PyTorch's names: "exp_avg", "exp_avg_sq", "max_exp_avg_sq", "exp_inf",
 * "momentum_buffer", "square_avg", "grad_avg" or "sum". It belongs to the optimizer. NULL: the parameter
 * was not stepped yet, or the method has no such state. Local. */
DT_API dt_tensor *dt_optimizer_state_site(const dt_optimizer *optimizer, const dt_tensor *parameter, const char *name,
                                          DT_CALLER);
/* The number of steps of a parameter. Local. */
DT_API int64_t dt_optimizer_n_steps(const dt_optimizer *optimizer, const dt_tensor *parameter);
/* Sets it, and makes the state of a parameter that was not stepped yet. To continue from a checkpoint: set the number
 * of steps, then copy each tensor that was saved to dt_optimizer_state. Local; every rank of a mesh makes the same
 * call. */
DT_API dt_status dt_optimizer_set_n_steps_site(dt_optimizer *optimizer, dt_tensor *parameter, int64_t n_steps,
                                               DT_CALLER);

/* Learning rates of a step, counted from 0: pure functions. While step < warmup, lr (step + 1) / warmup; then lr, or
 * down to min_lr at `steps` along a line or a half cosine; with wsd (warm-up, stable, decay) lr until the last `decay`
 * steps, and then along a line; min_lr from `steps` on. dt_lr_step multiplies lr by `factor` after each `every` steps.
 * Local. */
DT_API double dt_lr_constant(int64_t step, double lr, int64_t warmup);
DT_API double dt_lr_linear(int64_t step, double lr, double min_lr, int64_t warmup, int64_t steps);
DT_API double dt_lr_cosine(int64_t step, double lr, double min_lr, int64_t warmup, int64_t steps);
DT_API double dt_lr_wsd(int64_t step, double lr, double min_lr, int64_t warmup, int64_t decay, int64_t steps);
DT_API double dt_lr_step(int64_t step, double lr, double factor, int64_t every);

/* The scale of a loss whose gradients are f16, a plain value, which dt_save and dt_load take as .scaler:
 *     dt_scaler scaler = dt_scaler_default();
 *     dt_zero_grad(DT_TENSORS(w));
 *     dt_backward(dt_mul_scalar(dt_sum(dt_matmul(x, w)), scaler.scale));
 *     const double scale = scaler.scale, norm = dt_item(dt_clip_grad_norm(DT_TENSORS(w), 1.0 * scale));
 *     if (dt_scaler_update(&scaler, norm))
 *         dt_optimizer_step(opt, .parameters = DT_TENSORS(w), .grad_scale = DT_REAL(1 / scale));
 * The norm has the same bits on every rank, so all ranks step or none does. */
typedef struct dt_scaler {
    double scale;
    double growth, backoff;     /* factors of the scale */
    int64_t interval, n_finite; /* the scale grows after `interval` finite norms in sequence */
} dt_scaler;
/* 65536, doubled after 2000 finite norms, halved after one that is not. Local. */
DT_API dt_scaler dt_scaler_default(void);
/* Whether gradients with this norm are finite, so that the optimizer may step; changes the scale for the next step.
 * Local; every rank of a mesh has the same norm. */
DT_API bool dt_scaler_update(dt_scaler *scaler, double norm);

typedef struct dt_grad_norm_options {
    DT_OPTION(dt_opt_real, norm_type);   /* p > 0 of the p-norm, or INFINITY for the largest magnitude; default 2 */
    DT_OPTION(bool, error_if_nonfinite); /* an agreed error instead of a norm that is infinite or NaN */
    DT_OPTION(dt_mesh *, mesh);          /* has all ranks of the parameters, where their meshes have different ones */
    const dt_site *site;
} dt_grad_norm_options;

/* The norm of the gradients of all parameters, as of one vector: a plain f64 tensor without dims, with the same bits on
 * every rank. Summed in f64 on each rank and reduced once for all parameters of a mesh; not at all over mesh dims along
 * which all gradients are replicated. 0 without gradients, and on ranks outside the meshes. Gradients are all plain or
 * all distributed.
 *
 * Parameters whose meshes have different ranks, such as the stages of a pipeline, need a common parent:
 *
 *     dt_clip_grad_norm(DT_TENSORS(w), 1.0, .mesh = mesh); // mesh(pp=2,dp=2,tp=2), stages: slices over "dp,tp"
 *
 * It is reduced over once, and a gradient counts once on its own mesh. A rank may list the parameters of its own stage,
 * those of all stages, or none; the ranks of a mesh list its parameters at the same positions. Agreed errors: meshes of
 * different ranks without `mesh`, or outside it. Collective over the meshes of the parameters, and over `mesh`. */
DT_API dt_tensor *dt_grad_norm_sized(dt_tensors parameters, DT_OPTIONS(dt_grad_norm_options));
/* Multiplies the gradients by max_norm / (norm + 1e-6) where that is less than 1, or NaN, and returns the norm before
 * that. Collective as dt_grad_norm. */
DT_API dt_tensor *dt_clip_grad_norm_sized(dt_tensors parameters, double max_norm, DT_OPTIONS(dt_grad_norm_options));

#ifndef __cplusplus
/* clang-format off */
#define dt_adam_new(...) DT_ADAM_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAM_NEW_(ctx, lr, ...) dt_adam_new_sized(ctx, lr, DT_CHECKED(dt_adam_new_options, __VA_ARGS__))
#define dt_adamw_new(...) DT_ADAMW_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAMW_NEW_(ctx, lr, ...) dt_adamw_new_sized(ctx, lr, DT_CHECKED(dt_adam_new_options, __VA_ARGS__))
#define dt_sgd_new(...) DT_SGD_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_SGD_NEW_(ctx, lr, ...) dt_sgd_new_sized(ctx, lr, DT_CHECKED(dt_sgd_new_options, __VA_ARGS__))
#define dt_optimizer_free(...) dt_optimizer_free_site(__VA_ARGS__, DT_SITE)
#define dt_adagrad_new(...) DT_ADAGRAD_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAGRAD_NEW_(ctx, lr, ...) dt_adagrad_new_sized(ctx, lr, DT_CHECKED(dt_adagrad_new_options, __VA_ARGS__))
#define dt_rmsprop_new(...) DT_RMSPROP_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_RMSPROP_NEW_(ctx, lr, ...) dt_rmsprop_new_sized(ctx, lr, DT_CHECKED(dt_rmsprop_new_options, __VA_ARGS__))
#define dt_adamax_new(...) DT_ADAMAX_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAMAX_NEW_(ctx, lr, ...) dt_adamax_new_sized(ctx, lr, DT_CHECKED(dt_adamax_new_options, __VA_ARGS__))
#define dt_nadam_new(...) DT_NADAM_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_NADAM_NEW_(ctx, lr, ...) dt_nadam_new_sized(ctx, lr, DT_CHECKED(dt_nadam_new_options, __VA_ARGS__))
#define dt_radam_new(...) DT_RADAM_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_RADAM_NEW_(ctx, lr, ...) dt_radam_new_sized(ctx, lr, DT_CHECKED(dt_radam_new_options, __VA_ARGS__))
#define dt_lion_new(...) DT_LION_NEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_LION_NEW_(ctx, lr, ...) dt_lion_new_sized(ctx, lr, DT_CHECKED(dt_lion_new_options, __VA_ARGS__))
#define dt_optimizer_step(...) DT_OPTIMIZER_STEP_(__VA_ARGS__, .site = DT_SITE)
#define DT_OPTIMIZER_STEP_(optimizer, ...) \
    dt_optimizer_step_sized(optimizer, DT_CHECKED(dt_optimizer_step_options, __VA_ARGS__))
#define dt_optimizer_set_lr(...) dt_optimizer_set_lr_site(__VA_ARGS__, DT_SITE)
#define dt_optimizer_set_n_steps(...) dt_optimizer_set_n_steps_site(__VA_ARGS__, DT_SITE)
#define dt_optimizer_state(...) dt_optimizer_state_site(__VA_ARGS__, DT_SITE)
#define dt_grad_norm(...) DT_GRAD_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_GRAD_NORM_(parameters, ...) dt_grad_norm_sized(parameters, DT_CHECKED(dt_grad_norm_options, __VA_ARGS__))
#define dt_clip_grad_norm(...) DT_CLIP_GRAD_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLIP_GRAD_NORM_(parameters, max_norm, ...) \
    dt_clip_grad_norm_sized(parameters, max_norm, DT_CHECKED(dt_grad_norm_options, __VA_ARGS__))
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
