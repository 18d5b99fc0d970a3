/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops on tensors, plain or distributed. Made by scripts/make_ops.py from the schema lines of the ops: change those.
 *
 *     dt_tensor *h = dt_gelu(dt_linear(x, w1, b1));
 *     dt_tensor *y = dt_softmax(dt_linear(h, w2, b2), -1);
 *     dt_tensor *s = dt_sum(y, .dim = DT_DIMS(-1), .keepdim = true);
 *
 * Required arguments come by position, numbers as they are. Optional ones are named, or follow in their order, and a
 * zeroed field means "not given". Optional numbers are wrapped, whatever their default: DT_INT(0), DT_REAL(0.5),
 * DT_NUMBER(2). Optional booleans are plain, except where true is the default: DT_FALSE. Lists, required or optional,
 * are named for what is in them: DT_SHAPE(8, 4) sizes of dims, DT_DIMS(0, -1) dims, DT_INTS(2, 1) other integers,
 * DT_REALS(1.5, 2) floating-point numbers. A plain number where a wrapped one is expected does not compile. In C, ops
 * are macros that add the source location of the call; the functions that they call, dt_sum_sized, take a pointer to
 * the options, NULL for none, and their size.
 *
 * An op that fails returns NULL and records an error in the context, which keeps the first one. An op whose argument is
 * NULL returns NULL, so that a chain of ops is checked once, at its end. An op without outputs returns a status.
 *
 * Every op is Collective over the mesh of its tensors where inputs must be redistributed, and otherwise Local. `dtensor
 * explain` shows what a call moves; dt_comm_policy can forbid it. The tensors of an op are on one mesh, or all plain;
 * only dt_copy_ copies between meshes, from a plain tensor that every rank has, and from a distributed tensor to a
 * plain one: it is then Collective over the ranks of both meshes, and a rank outside the source's mesh keeps its plain
 * tensor. An op over lists (dt_foreach_…) runs the op on the first members of all lists, then on the second ones, and
 * so on. These may be on other meshes, or plain; if one of the calls is refused, nothing is written.
 */
#ifndef DTENSOR_OPS_H
#define DTENSOR_OPS_H

#include <dtensor/op.h>
#include <dtensor/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An integer, a floating-point number or a boolean; a zeroed one is none. */
typedef struct dt_number {
    DT_WRAPPED(write_DT_NUMBER, dt_arg_type type)
    int64_t i;
    double f;
} dt_number;

static inline dt_number dt_number_int(int64_t value) {
    dt_number number;
    number.type = DT_ARG_INT;
    number.i = value;
    number.f = 0;
    return number;
}
static inline dt_number dt_number_real(double value) {
    dt_number number;
    number.type = DT_ARG_FLOAT;
    number.i = 0;
    number.f = value;
    return number;
}
static inline dt_number dt_number_bool(bool value) {
    dt_number number;
    number.type = DT_ARG_BOOL;
    number.i = value;
    number.f = 0;
    return number;
}
static inline dt_number dt_number_same(dt_number number) { return number; }

#ifndef __cplusplus
#define DT_NUMBER(value)                                                                                             \
    (_Generic((value), float                                                                                         \
              : dt_number_real, double                                                                               \
              : dt_number_real, long double                                                                          \
              : dt_number_real, bool                                                                                 \
              : dt_number_bool, dt_number                                                                            \
              : dt_number_same, default                                                                              \
              : dt_number_int)(value))
#endif

typedef struct dt_T_options {
    const dt_site *site;
} dt_T_options;
/* All dims in reverse order, as a view.
 *     T(Tensor(a) self) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_T_sized(dt_tensor *self, DT_OPTIONS(dt_T_options));

typedef struct dt_foreach_abs_options {
    const dt_site *site;
} dt_foreach_abs_options;
/* The magnitudes of the elements of each tensor of a list.
 *     _foreach_abs(Tensor[] self) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_abs_sized(dt_tensors self, dt_tensor **out, int capacity, DT_OPTIONS(dt_foreach_abs_options));

typedef struct dt_foreach_acos_options {
    const dt_site *site;
} dt_foreach_acos_options;
/* The arc cosines of the elements of each tensor of a list.
 *     _foreach_acos(Tensor[] self) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_acos_sized(dt_tensors self, dt_tensor **out, int capacity, DT_OPTIONS(dt_foreach_acos_options));

typedef struct dt_foreach_acos_in_place_options {
    const dt_site *site;
} dt_foreach_acos_in_place_options;
/* The arc cosines of the elements of each tensor of a list, in place.
 *     _foreach_acos_(Tensor(a!)[] self) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_foreach_acos_in_place_sized(dt_tensors self, DT_OPTIONS(dt_foreach_acos_in_place_options));

typedef struct dt_foreach_add_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_foreach_add_options;
/* Each tensor of a list plus that of another list times alpha, or plus a number.
 *     _foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_add_sized(dt_tensors self, dt_tensors other, dt_tensor **out, int capacity,
                                DT_OPTIONS(dt_foreach_add_options));

typedef struct dt_foreach_add_scalar_options {
    const dt_site *site;
} dt_foreach_add_scalar_options;
/* Each tensor of a list plus that of another list times alpha, or plus a number.
 *     _foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_add_scalar_sized(dt_tensors self, dt_number scalar, dt_tensor **out, int capacity,
                                       DT_OPTIONS(dt_foreach_add_scalar_options));

typedef struct dt_foreach_add_in_place_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_foreach_add_in_place_options;
/* Adds to each tensor of a list that of another list times alpha, or a number, in place.
 *     _foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_foreach_add_in_place_sized(dt_tensors self, dt_tensors other,
                                               DT_OPTIONS(dt_foreach_add_in_place_options));

typedef struct dt_foreach_add_scalar_in_place_options {
    const dt_site *site;
} dt_foreach_add_scalar_in_place_options;
/* Adds to each tensor of a list that of another list times alpha, or a number, in place.
 *     _foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_foreach_add_scalar_in_place_sized(dt_tensors self, dt_number scalar,
                                                      DT_OPTIONS(dt_foreach_add_scalar_in_place_options));

typedef struct dt_foreach_max_options {
    const dt_site *site;
} dt_foreach_max_options;
/* The largest element of each tensor of a list.
 *     _foreach_max(Tensor[] self) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_max_sized(dt_tensors self, dt_tensor **out, int capacity, DT_OPTIONS(dt_foreach_max_options));

typedef struct dt_foreach_mul_options {
    const dt_site *site;
} dt_foreach_mul_options;
/* Each tensor of a list times that of another list, or times a number.
 *     _foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_mul_sized(dt_tensors self, dt_tensors other, dt_tensor **out, int capacity,
                                DT_OPTIONS(dt_foreach_mul_options));

typedef struct dt_foreach_mul_scalar_options {
    const dt_site *site;
} dt_foreach_mul_scalar_options;
/* Each tensor of a list times that of another list, or times a number.
 *     _foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_mul_scalar_sized(dt_tensors self, dt_number scalar, dt_tensor **out, int capacity,
                                       DT_OPTIONS(dt_foreach_mul_scalar_options));

typedef struct dt_foreach_mul_in_place_options {
    const dt_site *site;
} dt_foreach_mul_in_place_options;
/* Multiplies each tensor of a list by that of another list, or by a number, in place.
 *     _foreach_mul_.List(Tensor(a!)[] self, Tensor[] other) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_foreach_mul_in_place_sized(dt_tensors self, dt_tensors other,
                                               DT_OPTIONS(dt_foreach_mul_in_place_options));

typedef struct dt_foreach_mul_scalar_in_place_options {
    const dt_site *site;
} dt_foreach_mul_scalar_in_place_options;
/* Multiplies each tensor of a list by that of another list, or by a number, in place.
 *     _foreach_mul_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_foreach_mul_scalar_in_place_sized(dt_tensors self, dt_number scalar,
                                                      DT_OPTIONS(dt_foreach_mul_scalar_in_place_options));

typedef struct dt_foreach_neg_options {
    const dt_site *site;
} dt_foreach_neg_options;
/* The negated elements of each tensor of a list.
 *     _foreach_neg(Tensor[] self) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_neg_sized(dt_tensors self, dt_tensor **out, int capacity, DT_OPTIONS(dt_foreach_neg_options));

typedef struct dt_foreach_norm_options {
    DT_OPTION(dt_number, ord); /* default 2 */
    const dt_site *site;
} dt_foreach_norm_options;
/* The norm of each tensor of a list.
 *     _foreach_norm(Tensor[] self, Scalar ord=2) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_norm_sized(dt_tensors self, dt_tensor **out, int capacity, DT_OPTIONS(dt_foreach_norm_options));

typedef struct dt_foreach_power_sum_options {
    DT_OPTION(dt_number, ord); /* default 2 */
    const dt_site *site;
} dt_foreach_power_sum_options;
/* Sum of |x|^ord in f64 of each tensor of a list; of ord inf the largest |x|.
 *     _foreach_power_sum(Tensor[] self, Scalar ord=2) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_foreach_power_sum_sized(dt_tensors self, dt_tensor **out, int capacity,
                                      DT_OPTIONS(dt_foreach_power_sum_options));

typedef struct dt_fused_adagrad_in_place_options {
    DT_OPTION(dt_opt_real, lr_decay);     /* default 0.0 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-10 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_adagrad_in_place_options;
/* One step of Adagrad for each parameter of a list.
 *     _fused_adagrad_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] state_sums, *, float lr, float
 *         lr_decay=0, float weight_decay=0, float eps=1e-10, int step, bool maximize=False, float grad_scale=1) ->
 *         ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_adagrad_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors state_sums, double lr,
                                                 int64_t step, DT_OPTIONS(dt_fused_adagrad_in_place_options));

typedef struct dt_fused_adam_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_adam_in_place_options;
/* One step of Adam for each parameter of a list.
 *     _fused_adam_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, *, float
 *         lr, float beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, bool
 *         maximize=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_adam_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                              dt_tensors exp_avg_sqs, double lr, int64_t step,
                                              DT_OPTIONS(dt_fused_adam_in_place_options));

typedef struct dt_fused_adam_amsgrad_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_adam_amsgrad_in_place_options;
/* One step of Adam for each parameter of a list.
 *     _fused_adam_.amsgrad(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs,
 *         Tensor(d!)[] max_exp_avg_sqs, *, float lr, float beta1=0.9, float beta2=0.999, float weight_decay=0,
 *         float eps=1e-08, int step, bool maximize=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_adam_amsgrad_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                                      dt_tensors exp_avg_sqs, dt_tensors max_exp_avg_sqs, double lr,
                                                      int64_t step,
                                                      DT_OPTIONS(dt_fused_adam_amsgrad_in_place_options));

typedef struct dt_fused_adamax_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_adamax_in_place_options;
/* One step of Adamax for each parameter of a list.
 *     _fused_adamax_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_infs, *, float
 *         lr, float beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, bool
 *         maximize=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_adamax_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                                dt_tensors exp_infs, double lr, int64_t step,
                                                DT_OPTIONS(dt_fused_adamax_in_place_options));

typedef struct dt_fused_adamw_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_adamw_in_place_options;
/* One step of AdamW, Adam with decoupled weight decay for each parameter of a list.
 *     _fused_adamw_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, *,
 *         float lr, float beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, bool
 *         maximize=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_adamw_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                               dt_tensors exp_avg_sqs, double lr, int64_t step,
                                               DT_OPTIONS(dt_fused_adamw_in_place_options));

typedef struct dt_fused_adamw_amsgrad_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_adamw_amsgrad_in_place_options;
/* One step of AdamW, Adam with decoupled weight decay for each parameter of a list.
 *     _fused_adamw_.amsgrad(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs,
 *         Tensor(d!)[] max_exp_avg_sqs, *, float lr, float beta1=0.9, float beta2=0.999, float weight_decay=0,
 *         float eps=1e-08, int step, bool maximize=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_adamw_amsgrad_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                                       dt_tensors exp_avg_sqs, dt_tensors max_exp_avg_sqs, double lr,
                                                       int64_t step,
                                                       DT_OPTIONS(dt_fused_adamw_amsgrad_in_place_options));

typedef struct dt_fused_lion_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.99 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_lion_in_place_options;
/* One step of Lion for each parameter of a list.
 *     _fused_lion_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, *, float lr, float beta1=0.9,
 *         float beta2=0.99, float weight_decay=0, bool maximize=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_lion_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs, double lr,
                                              DT_OPTIONS(dt_fused_lion_in_place_options));

typedef struct dt_fused_nadam_in_place_options {
    DT_OPTION(dt_opt_real, beta1);          /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);          /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay);   /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);            /* default 1e-08 */
    DT_OPTION(dt_opt_real, momentum_decay); /* default 0.004 */
    DT_OPTION(bool, decoupled_weight_decay);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_nadam_in_place_options;
/* One step of NAdam for each parameter of a list.
 *     _fused_nadam_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, *,
 *         float lr, float beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, float
 *         momentum_decay=0.004, float mu_product, bool decoupled_weight_decay=False, bool maximize=False, float
 *         grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_nadam_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                               dt_tensors exp_avg_sqs, double lr, int64_t step, double mu_product,
                                               DT_OPTIONS(dt_fused_nadam_in_place_options));

typedef struct dt_fused_radam_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, decoupled_weight_decay);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_radam_in_place_options;
/* One step of RAdam for each parameter of a list.
 *     _fused_radam_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, *,
 *         float lr, float beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, bool
 *         decoupled_weight_decay=False, bool maximize=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_radam_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                               dt_tensors exp_avg_sqs, double lr, int64_t step,
                                               DT_OPTIONS(dt_fused_radam_in_place_options));

typedef struct dt_fused_rms_norm_backward_options {
    dt_tensor *weight;
    const dt_site *site;
} dt_fused_rms_norm_backward_options;
/* The outputs; all NULL after an error. */
typedef struct dt_fused_rms_norm_backward_result {
    dt_tensor *grad_input, *grad_weight;
} dt_fused_rms_norm_backward_result;
/* The gradients of rms_norm from the 1 / deviation of each row; output_mask selects them.
 *     _fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor?
 *         weight, int[] output_mask) -> (Tensor grad_input, Tensor grad_weight)
 * Collective where inputs move, else Local. */
DT_API dt_fused_rms_norm_backward_result
dt_fused_rms_norm_backward_sized(dt_tensor *grad_out, dt_tensor *input, dt_shape normalized_shape, dt_tensor *rstd,
                                 dt_ints output_mask, DT_OPTIONS(dt_fused_rms_norm_backward_options));

typedef struct dt_fused_rmsprop_in_place_options {
    DT_OPTION(dt_opt_real, alpha);        /* default 0.99 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(bool, centered);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_rmsprop_in_place_options;
/* One step of RMSprop for each parameter of a list.
 *     _fused_rmsprop_(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] square_avgs, *, float lr, float
 *         alpha=0.99, float weight_decay=0, float eps=1e-08, float momentum=0, bool centered=False, bool
 *         maximize=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_rmsprop_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors square_avgs, double lr,
                                                 DT_OPTIONS(dt_fused_rmsprop_in_place_options));

typedef struct dt_fused_rmsprop_state_in_place_options {
    DT_OPTION(dt_opt_real, alpha);        /* default 0.99 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(bool, centered);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_rmsprop_state_in_place_options;
/* One step of RMSprop for each parameter of a list.
 *     _fused_rmsprop_.state(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] square_avgs, Tensor(c!)[] states,
 *         *, float lr, float alpha=0.99, float weight_decay=0, float eps=1e-08, float momentum=0, bool
 *         centered=False, bool maximize=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_rmsprop_state_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors square_avgs,
                                                       dt_tensors states, double lr,
                                                       DT_OPTIONS(dt_fused_rmsprop_state_in_place_options));

typedef struct dt_fused_rmsprop_centered_momentum_in_place_options {
    DT_OPTION(dt_opt_real, alpha);        /* default 0.99 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(bool, centered);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_rmsprop_centered_momentum_in_place_options;
/* One step of RMSprop for each parameter of a list.
 *     _fused_rmsprop_.centered_momentum(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] square_avgs,
 *         Tensor(c!)[] grad_avgs, Tensor(d!)[] momentum_buffers, *, float lr, float alpha=0.99, float
 *         weight_decay=0, float eps=1e-08, float momentum=0, bool centered=False, bool maximize=False, float
 *         grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_rmsprop_centered_momentum_in_place_sized(
    dt_tensors self, dt_tensors grads, dt_tensors square_avgs, dt_tensors grad_avgs, dt_tensors momentum_buffers,
    double lr, DT_OPTIONS(dt_fused_rmsprop_centered_momentum_in_place_options));

typedef struct dt_fused_sgd_in_place_options {
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(dt_opt_real, dampening);    /* default 0.0 */
    DT_OPTION(bool, nesterov);
    DT_OPTION(bool, maximize);
    DT_OPTION(bool, is_first);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_sgd_in_place_options;
/* One step of stochastic gradient descent for each parameter of a list.
 *     _fused_sgd_(Tensor(a!)[] self, Tensor[] grads, *, float lr, float weight_decay=0, float momentum=0, float
 *         dampening=0, bool nesterov=False, bool maximize=False, bool is_first=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_sgd_in_place_sized(dt_tensors self, dt_tensors grads, double lr,
                                             DT_OPTIONS(dt_fused_sgd_in_place_options));

typedef struct dt_fused_sgd_momentum_in_place_options {
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(dt_opt_real, dampening);    /* default 0.0 */
    DT_OPTION(bool, nesterov);
    DT_OPTION(bool, maximize);
    DT_OPTION(bool, is_first);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_fused_sgd_momentum_in_place_options;
/* One step of stochastic gradient descent for each parameter of a list.
 *     _fused_sgd_.momentum(Tensor(a!)[] self, Tensor[] grads, Tensor(b!)[] momentum_buffers, *, float lr, float
 *         weight_decay=0, float momentum=0, float dampening=0, bool nesterov=False, bool maximize=False, bool
 *         is_first=False, float grad_scale=1) -> ()
 * Collective where inputs move, else Local. */
DT_API dt_status dt_fused_sgd_momentum_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors momentum_buffers,
                                                      double lr, DT_OPTIONS(dt_fused_sgd_momentum_in_place_options));

typedef struct dt_log_softmax_backward_data_options {
    const dt_site *site;
} dt_log_softmax_backward_data_options;
/* The gradient of log_softmax, from its output.
 *     _log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log_softmax_backward_data_sized(dt_tensor *grad_output, dt_tensor *output, int64_t dim,
                                                     dt_dtype input_dtype,
                                                     DT_OPTIONS(dt_log_softmax_backward_data_options));

typedef struct dt_native_batch_norm_legit_functional_options {
    dt_tensor *weight;
    dt_tensor *bias;
    const dt_site *site;
} dt_native_batch_norm_legit_functional_options;
/* The outputs; all NULL after an error. */
typedef struct dt_native_batch_norm_legit_functional_result {
    dt_tensor *output, *save_mean, *save_invstd, *running_mean_out, *running_var_out;
} dt_native_batch_norm_legit_functional_result;
/* native_batch_norm that returns new running statistics and writes none.
 *     _native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
 *         Tensor running_var, bool training, float momentum, float eps) -> (Tensor output, Tensor save_mean, Tensor
 *         save_invstd, Tensor running_mean_out, Tensor running_var_out)
 * Collective where inputs move, else Local. */
DT_API dt_native_batch_norm_legit_functional_result dt_native_batch_norm_legit_functional_sized(
    dt_tensor *input, dt_tensor *running_mean, dt_tensor *running_var, bool training, double momentum, double eps,
    DT_OPTIONS(dt_native_batch_norm_legit_functional_options));

typedef struct dt_softmax_backward_data_options {
    const dt_site *site;
} dt_softmax_backward_data_options;
/* The gradient of softmax, from its output.
 *     _softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_softmax_backward_data_sized(dt_tensor *grad_output, dt_tensor *output, int64_t dim,
                                                 dt_dtype input_dtype, DT_OPTIONS(dt_softmax_backward_data_options));

typedef struct dt_abs_options {
    const dt_site *site;
} dt_abs_options;
/* The magnitude of every element.
 *     abs(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_abs_sized(dt_tensor *self, DT_OPTIONS(dt_abs_options));

typedef struct dt_abs_in_place_options {
    const dt_site *site;
} dt_abs_in_place_options;
/* The magnitude of every element, in place.
 *     abs_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_abs_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_abs_in_place_options));

typedef struct dt_acos_options {
    const dt_site *site;
} dt_acos_options;
/* The arc cosine of every element.
 *     acos(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_acos_sized(dt_tensor *self, DT_OPTIONS(dt_acos_options));

typedef struct dt_acos_in_place_options {
    const dt_site *site;
} dt_acos_in_place_options;
/* The arc cosine of every element, in place.
 *     acos_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_acos_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_acos_in_place_options));

typedef struct dt_adagrad_in_place_options {
    DT_OPTION(dt_opt_real, lr_decay);     /* default 0.0 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-10 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_adagrad_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_adagrad_in_place_result {
    dt_tensor *self, *state_sum;
} dt_adagrad_in_place_result;
/* One step of Adagrad: writes a parameter and its state.
 *     adagrad_(Tensor(a!) self, Tensor grad, Tensor(b!) state_sum, *, float lr, float lr_decay=0, float
 *         weight_decay=0, float eps=1e-10, int step, bool maximize=False, float grad_scale=1) -> (Tensor(a!) self,
 *         Tensor(b!) state_sum)
 * Collective where inputs move, else Local. */
DT_API dt_adagrad_in_place_result dt_adagrad_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *state_sum,
                                                            double lr, int64_t step,
                                                            DT_OPTIONS(dt_adagrad_in_place_options));

typedef struct dt_adam_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_adam_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_adam_in_place_result {
    dt_tensor *self, *exp_avg, *exp_avg_sq;
} dt_adam_in_place_result;
/* One step of Adam: writes a parameter and its state.
 *     adam_(Tensor(a!) self, Tensor grad, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, *, float lr, float
 *         beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, bool maximize=False, float
 *         grad_scale=1) -> (Tensor(a!) self, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq)
 * Collective where inputs move, else Local. */
DT_API dt_adam_in_place_result dt_adam_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg,
                                                      dt_tensor *exp_avg_sq, double lr, int64_t step,
                                                      DT_OPTIONS(dt_adam_in_place_options));

typedef struct dt_adam_amsgrad_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_adam_amsgrad_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_adam_amsgrad_in_place_result {
    dt_tensor *self, *exp_avg, *exp_avg_sq, *max_exp_avg_sq;
} dt_adam_amsgrad_in_place_result;
/* One step of Adam: writes a parameter and its state.
 *     adam_.amsgrad(Tensor(a!) self, Tensor grad, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, Tensor(d!)
 *         max_exp_avg_sq, *, float lr, float beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08,
 *         int step, bool maximize=False, float grad_scale=1) -> (Tensor(a!) self, Tensor(b!) exp_avg, Tensor(c!)
 *         exp_avg_sq, Tensor(d!) max_exp_avg_sq)
 * Collective where inputs move, else Local. */
DT_API dt_adam_amsgrad_in_place_result dt_adam_amsgrad_in_place_sized(dt_tensor *self, dt_tensor *grad,
                                                                      dt_tensor *exp_avg, dt_tensor *exp_avg_sq,
                                                                      dt_tensor *max_exp_avg_sq, double lr,
                                                                      int64_t step,
                                                                      DT_OPTIONS(dt_adam_amsgrad_in_place_options));

typedef struct dt_adamax_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_adamax_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_adamax_in_place_result {
    dt_tensor *self, *exp_avg, *exp_inf;
} dt_adamax_in_place_result;
/* One step of Adamax: writes a parameter and its state.
 *     adamax_(Tensor(a!) self, Tensor grad, Tensor(b!) exp_avg, Tensor(c!) exp_inf, *, float lr, float
 *         beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, bool maximize=False, float
 *         grad_scale=1) -> (Tensor(a!) self, Tensor(b!) exp_avg, Tensor(c!) exp_inf)
 * Collective where inputs move, else Local. */
DT_API dt_adamax_in_place_result dt_adamax_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg,
                                                          dt_tensor *exp_inf, double lr, int64_t step,
                                                          DT_OPTIONS(dt_adamax_in_place_options));

typedef struct dt_adamw_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_adamw_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_adamw_in_place_result {
    dt_tensor *self, *exp_avg, *exp_avg_sq;
} dt_adamw_in_place_result;
/* One step of AdamW, Adam with decoupled weight decay: writes a parameter and its state.
 *     adamw_(Tensor(a!) self, Tensor grad, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, *, float lr, float
 *         beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, bool maximize=False, float
 *         grad_scale=1) -> (Tensor(a!) self, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq)
 * Collective where inputs move, else Local. */
DT_API dt_adamw_in_place_result dt_adamw_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg,
                                                        dt_tensor *exp_avg_sq, double lr, int64_t step,
                                                        DT_OPTIONS(dt_adamw_in_place_options));

typedef struct dt_adamw_amsgrad_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_adamw_amsgrad_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_adamw_amsgrad_in_place_result {
    dt_tensor *self, *exp_avg, *exp_avg_sq, *max_exp_avg_sq;
} dt_adamw_amsgrad_in_place_result;
/* One step of AdamW, Adam with decoupled weight decay: writes a parameter and its state.
 *     adamw_.amsgrad(Tensor(a!) self, Tensor grad, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, Tensor(d!)
 *         max_exp_avg_sq, *, float lr, float beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08,
 *         int step, bool maximize=False, float grad_scale=1) -> (Tensor(a!) self, Tensor(b!) exp_avg, Tensor(c!)
 *         exp_avg_sq, Tensor(d!) max_exp_avg_sq)
 * Collective where inputs move, else Local. */
DT_API dt_adamw_amsgrad_in_place_result dt_adamw_amsgrad_in_place_sized(
    dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg, dt_tensor *exp_avg_sq, dt_tensor *max_exp_avg_sq, double lr,
    int64_t step, DT_OPTIONS(dt_adamw_amsgrad_in_place_options));

typedef struct dt_adaptive_avg_pool1d_options {
    const dt_site *site;
} dt_adaptive_avg_pool1d_options;
/* Means of the given number of windows, which cover a sequence.
 *     adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_adaptive_avg_pool1d_sized(dt_tensor *self, dt_ints output_size,
                                               DT_OPTIONS(dt_adaptive_avg_pool1d_options));

typedef struct dt_adaptive_avg_pool2d_options {
    const dt_site *site;
} dt_adaptive_avg_pool2d_options;
/* Means of the given numbers of windows, which cover an image.
 *     adaptive_avg_pool2d(Tensor input, int?[2] output_size) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_adaptive_avg_pool2d_sized(dt_tensor *input, dt_ints output_size,
                                               DT_OPTIONS(dt_adaptive_avg_pool2d_options));

typedef struct dt_adaptive_avg_pool3d_options {
    const dt_site *site;
} dt_adaptive_avg_pool3d_options;
/* Means of the given numbers of windows, which cover a volume.
 *     adaptive_avg_pool3d(Tensor input, int?[3] output_size) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_adaptive_avg_pool3d_sized(dt_tensor *input, dt_ints output_size,
                                               DT_OPTIONS(dt_adaptive_avg_pool3d_options));

typedef struct dt_adaptive_max_pool1d_options {
    const dt_site *site;
} dt_adaptive_max_pool1d_options;
/* The largest elements of so many windows that cover sequences.
 *     adaptive_max_pool1d(Tensor input, int[1] output_size, bool return_indices=False) -> Tensor or (Tensor,
 *         Tensor)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_adaptive_max_pool1d_sized(dt_tensor *input, dt_ints output_size,
                                               DT_OPTIONS(dt_adaptive_max_pool1d_options));

typedef struct dt_adaptive_max_pool1d_with_indices_options {
    const dt_site *site;
} dt_adaptive_max_pool1d_with_indices_options;
/* The outputs; all NULL after an error. */
typedef struct dt_adaptive_max_pool1d_with_indices_result {
    dt_tensor *output, *indices;
} dt_adaptive_max_pool1d_with_indices_result;
/* The largest elements of so many windows that cover sequences, with their indices in space.
 *     adaptive_max_pool1d_with_indices(Tensor input, int[1] output_size) -> (Tensor output, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_adaptive_max_pool1d_with_indices_result dt_adaptive_max_pool1d_with_indices_sized(
    dt_tensor *input, dt_ints output_size, DT_OPTIONS(dt_adaptive_max_pool1d_with_indices_options));

typedef struct dt_adaptive_max_pool2d_options {
    const dt_site *site;
} dt_adaptive_max_pool2d_options;
/* The largest elements of so many windows that cover images.
 *     adaptive_max_pool2d(Tensor input, int?[2] output_size, bool return_indices=False) -> Tensor or (Tensor,
 *         Tensor)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_adaptive_max_pool2d_sized(dt_tensor *input, dt_ints output_size,
                                               DT_OPTIONS(dt_adaptive_max_pool2d_options));

typedef struct dt_adaptive_max_pool2d_with_indices_options {
    const dt_site *site;
} dt_adaptive_max_pool2d_with_indices_options;
/* The outputs; all NULL after an error. */
typedef struct dt_adaptive_max_pool2d_with_indices_result {
    dt_tensor *output, *indices;
} dt_adaptive_max_pool2d_with_indices_result;
/* The largest elements of so many windows that cover images, with their indices in space.
 *     adaptive_max_pool2d_with_indices(Tensor input, int?[2] output_size) -> (Tensor output, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_adaptive_max_pool2d_with_indices_result dt_adaptive_max_pool2d_with_indices_sized(
    dt_tensor *input, dt_ints output_size, DT_OPTIONS(dt_adaptive_max_pool2d_with_indices_options));

typedef struct dt_adaptive_max_pool3d_options {
    const dt_site *site;
} dt_adaptive_max_pool3d_options;
/* The largest elements of so many windows that cover volumes.
 *     adaptive_max_pool3d(Tensor input, int?[3] output_size, bool return_indices=False) -> Tensor or (Tensor,
 *         Tensor)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_adaptive_max_pool3d_sized(dt_tensor *input, dt_ints output_size,
                                               DT_OPTIONS(dt_adaptive_max_pool3d_options));

typedef struct dt_adaptive_max_pool3d_with_indices_options {
    const dt_site *site;
} dt_adaptive_max_pool3d_with_indices_options;
/* The outputs; all NULL after an error. */
typedef struct dt_adaptive_max_pool3d_with_indices_result {
    dt_tensor *output, *indices;
} dt_adaptive_max_pool3d_with_indices_result;
/* The largest elements of so many windows that cover volumes, with their indices in space.
 *     adaptive_max_pool3d_with_indices(Tensor input, int?[3] output_size) -> (Tensor output, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_adaptive_max_pool3d_with_indices_result dt_adaptive_max_pool3d_with_indices_sized(
    dt_tensor *input, dt_ints output_size, DT_OPTIONS(dt_adaptive_max_pool3d_with_indices_options));

typedef struct dt_add_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_add_options;
/* Adds a tensor, or a number, times alpha.
 *     add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_add_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_add_options));

typedef struct dt_add_scalar_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_add_scalar_options;
/* Adds a tensor, or a number, times alpha.
 *     add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_add_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_add_scalar_options));

typedef struct dt_add_in_place_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_add_in_place_options;
/* Adds a tensor, or a number, times alpha, in place.
 *     add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_add_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_add_in_place_options));

typedef struct dt_add_scalar_in_place_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_add_scalar_in_place_options;
/* Adds a tensor, or a number, times alpha, in place.
 *     add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_add_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                               DT_OPTIONS(dt_add_scalar_in_place_options));

typedef struct dt_addbmm_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_addbmm_options;
/* beta times a tensor plus alpha times the sum of the products of two batches of matrices.
 *     addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addbmm_sized(dt_tensor *self, dt_tensor *batch1, dt_tensor *batch2,
                                  DT_OPTIONS(dt_addbmm_options));

typedef struct dt_addbmm_in_place_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_addbmm_in_place_options;
/* beta times a tensor plus alpha times the sum of the products of two batches of matrices, in place.
 *     addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addbmm_in_place_sized(dt_tensor *self, dt_tensor *batch1, dt_tensor *batch2,
                                           DT_OPTIONS(dt_addbmm_in_place_options));

typedef struct dt_addcdiv_options {
    DT_OPTION(dt_number, value); /* default 1 */
    const dt_site *site;
} dt_addcdiv_options;
/* A tensor plus value times the quotient of two others.
 *     addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addcdiv_sized(dt_tensor *self, dt_tensor *tensor1, dt_tensor *tensor2,
                                   DT_OPTIONS(dt_addcdiv_options));

typedef struct dt_addcdiv_in_place_options {
    DT_OPTION(dt_number, value); /* default 1 */
    const dt_site *site;
} dt_addcdiv_in_place_options;
/* A tensor plus value times the quotient of two others, in place.
 *     addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addcdiv_in_place_sized(dt_tensor *self, dt_tensor *tensor1, dt_tensor *tensor2,
                                            DT_OPTIONS(dt_addcdiv_in_place_options));

typedef struct dt_addcmul_options {
    DT_OPTION(dt_number, value); /* default 1 */
    const dt_site *site;
} dt_addcmul_options;
/* A tensor plus value times the product of two others.
 *     addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addcmul_sized(dt_tensor *self, dt_tensor *tensor1, dt_tensor *tensor2,
                                   DT_OPTIONS(dt_addcmul_options));

typedef struct dt_addcmul_in_place_options {
    DT_OPTION(dt_number, value); /* default 1 */
    const dt_site *site;
} dt_addcmul_in_place_options;
/* A tensor plus value times the product of two others, in place.
 *     addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addcmul_in_place_sized(dt_tensor *self, dt_tensor *tensor1, dt_tensor *tensor2,
                                            DT_OPTIONS(dt_addcmul_in_place_options));

typedef struct dt_addmm_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_addmm_options;
/* beta times a tensor plus alpha times the product of two matrices.
 *     addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addmm_sized(dt_tensor *self, dt_tensor *mat1, dt_tensor *mat2, DT_OPTIONS(dt_addmm_options));

typedef struct dt_addmm_in_place_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_addmm_in_place_options;
/* beta times a tensor plus alpha times the product of two matrices, in place.
 *     addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addmm_in_place_sized(dt_tensor *self, dt_tensor *mat1, dt_tensor *mat2,
                                          DT_OPTIONS(dt_addmm_in_place_options));

typedef struct dt_addmv_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_addmv_options;
/* beta times a tensor plus alpha times the product of a matrix and a vector.
 *     addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addmv_sized(dt_tensor *self, dt_tensor *mat, dt_tensor *vec, DT_OPTIONS(dt_addmv_options));

typedef struct dt_addmv_in_place_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_addmv_in_place_options;
/* beta times a tensor plus alpha times the product of a matrix and a vector, in place.
 *     addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addmv_in_place_sized(dt_tensor *self, dt_tensor *mat, dt_tensor *vec,
                                          DT_OPTIONS(dt_addmv_in_place_options));

typedef struct dt_addr_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_addr_options;
/* beta times a tensor plus alpha times the outer product of two vectors.
 *     addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addr_sized(dt_tensor *self, dt_tensor *vec1, dt_tensor *vec2, DT_OPTIONS(dt_addr_options));

typedef struct dt_addr_in_place_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_addr_in_place_options;
/* beta times a tensor plus alpha times the outer product of two vectors, in place.
 *     addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_addr_in_place_sized(dt_tensor *self, dt_tensor *vec1, dt_tensor *vec2,
                                         DT_OPTIONS(dt_addr_in_place_options));

typedef struct dt_all_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_all_options;
/* Whether all elements are not 0, over all dims or over some.
 *     all(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_all_sized(dt_tensor *self, DT_OPTIONS(dt_all_options));

typedef struct dt_allclose_options {
    DT_OPTION(dt_opt_real, rtol); /* default 1e-05 */
    DT_OPTION(dt_opt_real, atol); /* default 1e-08 */
    DT_OPTION(bool, equal_nan);
    const dt_site *site;
} dt_allclose_options;
/* Whether all elements differ by at most atol + rtol times the magnitude of the other.
 *     allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_allclose_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_allclose_options));

typedef struct dt_amax_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_amax_options;
/* Largest element over all dims or over some.
 *     amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_amax_sized(dt_tensor *self, DT_OPTIONS(dt_amax_options));

typedef struct dt_amin_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_amin_options;
/* Smallest element over all dims or over some.
 *     amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_amin_sized(dt_tensor *self, DT_OPTIONS(dt_amin_options));

typedef struct dt_aminmax_options {
    DT_OPTION(dt_opt_int, dim);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_aminmax_options;
/* The outputs; all NULL after an error. */
typedef struct dt_aminmax_result {
    dt_tensor *min, *max;
} dt_aminmax_result;
/* Smallest and largest element, of all or along a dim.
 *     aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)
 * Collective where inputs move, else Local. */
DT_API dt_aminmax_result dt_aminmax_sized(dt_tensor *self, DT_OPTIONS(dt_aminmax_options));

typedef struct dt_any_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_any_options;
/* Whether any element is not 0, over all dims or over some.
 *     any(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_any_sized(dt_tensor *self, DT_OPTIONS(dt_any_options));

/* start, start + step, … up to but excluding end.
 *     arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None) -> Tensor
 * Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_arange_sized(dt_ctx *ctx, dt_number start, dt_number end, dt_number step,
                                  DT_OPTIONS(dt_make_options));

typedef struct dt_argmax_options {
    DT_OPTION(dt_opt_int, dim);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_argmax_options;
/* Index of the largest element, over all elements or along a dim.
 *     argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_argmax_sized(dt_tensor *self, DT_OPTIONS(dt_argmax_options));

typedef struct dt_argmin_options {
    DT_OPTION(dt_opt_int, dim);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_argmin_options;
/* Index of the smallest element, over all elements or along a dim.
 *     argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_argmin_sized(dt_tensor *self, DT_OPTIONS(dt_argmin_options));

typedef struct dt_argsort_options {
    DT_OPTION(dt_opt_int, dim); /* default -1 */
    DT_OPTION(bool, descending);
    const dt_site *site;
} dt_argsort_options;
/* The positions of the elements along a dim in order; equal ones keep their order.
 *     argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_argsort_sized(dt_tensor *self, DT_OPTIONS(dt_argsort_options));

typedef struct dt_argsort_stable_options {
    DT_OPTION(dt_opt_int, dim); /* default -1 */
    DT_OPTION(bool, descending);
    const dt_site *site;
} dt_argsort_stable_options;
/* The positions of the elements along a dim in order; equal ones keep their order.
 *     argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_argsort_stable_sized(dt_tensor *self, bool stable, DT_OPTIONS(dt_argsort_stable_options));

typedef struct dt_asin_options {
    const dt_site *site;
} dt_asin_options;
/* The arc sine of every element.
 *     asin(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_asin_sized(dt_tensor *self, DT_OPTIONS(dt_asin_options));

typedef struct dt_asin_in_place_options {
    const dt_site *site;
} dt_asin_in_place_options;
/* The arc sine of every element, in place.
 *     asin_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_asin_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_asin_in_place_options));

typedef struct dt_atan_options {
    const dt_site *site;
} dt_atan_options;
/* The arc tangent of every element.
 *     atan(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_atan_sized(dt_tensor *self, DT_OPTIONS(dt_atan_options));

typedef struct dt_atan2_options {
    const dt_site *site;
} dt_atan2_options;
/* The angle of the points (other, self).
 *     atan2(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_atan2_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_atan2_options));

typedef struct dt_atan2_in_place_options {
    const dt_site *site;
} dt_atan2_in_place_options;
/* The angle of the points (other, self), in place.
 *     atan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_atan2_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_atan2_in_place_options));

typedef struct dt_atan_in_place_options {
    const dt_site *site;
} dt_atan_in_place_options;
/* The arc tangent of every element, in place.
 *     atan_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_atan_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_atan_in_place_options));

typedef struct dt_attention_backward_options {
    DT_OPTION(dt_tensor *, attn_mask);
    DT_OPTION(bool, is_causal);
    DT_OPTION(dt_opt_real, scale);
    DT_OPTION(bool, enable_gqa);
    DT_OPTION(dt_opt_real, dropout_p); /* default 0.0 */
    DT_OPTION(dt_opt_int, seed);       /* default 0 */
    DT_OPTION(dt_opt_int, draw);       /* default 0 */
    const dt_site *site;
} dt_attention_backward_options;
/* The outputs; all NULL after an error. */
typedef struct dt_attention_backward_result {
    dt_tensor *grad_query, *grad_key, *grad_value;
} dt_attention_backward_result;
/* The gradients of attention with respect to queries, keys and values.
 *     attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp,
 *         Tensor? attn_mask=None, bool is_causal=False, *, float? scale=None, bool enable_gqa=False, float
 *         dropout_p=0.0, int seed=0, int draw=0) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)
 * Collective where inputs move, else Local. */
DT_API dt_attention_backward_result dt_attention_backward_sized(dt_tensor *grad_out, dt_tensor *query, dt_tensor *key,
                                                                dt_tensor *value, dt_tensor *out,
                                                                dt_tensor *logsumexp,
                                                                DT_OPTIONS(dt_attention_backward_options));

typedef struct dt_attention_mask_backward_options {
    DT_OPTION(dt_tensor *, attn_mask);
    DT_OPTION(bool, is_causal);
    DT_OPTION(dt_opt_real, scale);
    DT_OPTION(bool, enable_gqa);
    DT_OPTION(dt_opt_real, dropout_p); /* default 0.0 */
    DT_OPTION(dt_opt_int, seed);       /* default 0 */
    DT_OPTION(dt_opt_int, draw);       /* default 0 */
    const dt_site *site;
} dt_attention_mask_backward_options;
/* The gradient of attention with respect to its scores, which is that of a mask.
 *     attention_mask_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor
 *         logsumexp, Tensor? attn_mask=None, bool is_causal=False, *, float? scale=None, bool enable_gqa=False,
 *         float dropout_p=0.0, int seed=0, int draw=0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_attention_mask_backward_sized(dt_tensor *grad_out, dt_tensor *query, dt_tensor *key,
                                                   dt_tensor *value, dt_tensor *out, dt_tensor *logsumexp,
                                                   DT_OPTIONS(dt_attention_mask_backward_options));

typedef struct dt_avg_pool1d_options {
    DT_OPTION(dt_ints, stride);
    DT_OPTION(dt_ints, padding); /* default [0] */
    DT_OPTION(bool, ceil_mode);
    DT_OPTION(dt_opt_bool, count_include_pad); /* default true */
    const dt_site *site;
} dt_avg_pool1d_options;
/* Means of windows of sequences.
 *     avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False,
 *         bool count_include_pad=True) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_avg_pool1d_sized(dt_tensor *self, dt_ints kernel_size, DT_OPTIONS(dt_avg_pool1d_options));

typedef struct dt_avg_pool2d_options {
    DT_OPTION(dt_ints, stride);
    DT_OPTION(dt_ints, padding); /* default [0,0] */
    DT_OPTION(bool, ceil_mode);
    DT_OPTION(dt_opt_bool, count_include_pad); /* default true */
    DT_OPTION(dt_opt_int, divisor_override);
    const dt_site *site;
} dt_avg_pool2d_options;
/* Means of windows of images.
 *     avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False,
 *         bool count_include_pad=True, int? divisor_override=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_avg_pool2d_sized(dt_tensor *self, dt_ints kernel_size, DT_OPTIONS(dt_avg_pool2d_options));

typedef struct dt_avg_pool3d_options {
    DT_OPTION(dt_ints, stride);
    DT_OPTION(dt_ints, padding); /* default [0,0,0] */
    DT_OPTION(bool, ceil_mode);
    DT_OPTION(dt_opt_bool, count_include_pad); /* default true */
    DT_OPTION(dt_opt_int, divisor_override);
    const dt_site *site;
} dt_avg_pool3d_options;
/* Means of windows of volumes.
 *     avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False,
 *         bool count_include_pad=True, int? divisor_override=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_avg_pool3d_sized(dt_tensor *self, dt_ints kernel_size, DT_OPTIONS(dt_avg_pool3d_options));

typedef struct dt_baddbmm_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_baddbmm_options;
/* beta times a tensor plus alpha times the products of two batches of matrices.
 *     baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_baddbmm_sized(dt_tensor *self, dt_tensor *batch1, dt_tensor *batch2,
                                   DT_OPTIONS(dt_baddbmm_options));

typedef struct dt_baddbmm_in_place_options {
    DT_OPTION(dt_number, beta);  /* default 1 */
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_baddbmm_in_place_options;
/* beta times a tensor plus alpha times the products of two batches of matrices, in place.
 *     baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_baddbmm_in_place_sized(dt_tensor *self, dt_tensor *batch1, dt_tensor *batch2,
                                            DT_OPTIONS(dt_baddbmm_in_place_options));

typedef struct dt_batch_norm_options {
    DT_OPTION(dt_tensor *, running_mean);
    DT_OPTION(dt_tensor *, running_var);
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(bool, training);
    DT_OPTION(dt_opt_real, momentum); /* default 0.1 */
    DT_OPTION(dt_opt_real, eps);      /* default 1e-05 */
    const dt_site *site;
} dt_batch_norm_options;
/* Normalizes each channel over batch and space, or with running statistics, which training updates.
 *     batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor?
 *         bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_batch_norm_sized(dt_tensor *input, DT_OPTIONS(dt_batch_norm_options));

typedef struct dt_bfloat16_options {
    const dt_site *site;
} dt_bfloat16_options;
/* Converts to bf16.
 *     bfloat16(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bfloat16_sized(dt_tensor *self, DT_OPTIONS(dt_bfloat16_options));

typedef struct dt_binary_cross_entropy_options {
    dt_tensor *weight;
    const char *reduction; /* default mean */
    const dt_site *site;
} dt_binary_cross_entropy_options;
/* Cross entropy of probabilities, or its mean or sum.
 *     binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction="mean") -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_binary_cross_entropy_sized(dt_tensor *input, dt_tensor *target,
                                                DT_OPTIONS(dt_binary_cross_entropy_options));

typedef struct dt_binary_cross_entropy_with_logits_options {
    dt_tensor *weight;
    const char *reduction; /* default mean */
    dt_tensor *pos_weight;
    const dt_site *site;
} dt_binary_cross_entropy_with_logits_options;
/* Cross entropy of the sigmoid of logits and probabilities, or its mean or sum.
 *     binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, str reduction="mean",
 *         Tensor? pos_weight=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_binary_cross_entropy_with_logits_sized(dt_tensor *input, dt_tensor *target,
                                                            DT_OPTIONS(dt_binary_cross_entropy_with_logits_options));

typedef struct dt_bitwise_and_options {
    const dt_site *site;
} dt_bitwise_and_options;
/* The bits that both integers have.
 *     bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_and_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_bitwise_and_options));

typedef struct dt_bitwise_and_scalar_other_options {
    const dt_site *site;
} dt_bitwise_and_scalar_other_options;
/* The bits that both integers have.
 *     bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_and_scalar_other_sized(dt_tensor *self, dt_number other,
                                                    DT_OPTIONS(dt_bitwise_and_scalar_other_options));

typedef struct dt_bitwise_and_scalar_self_options {
    const dt_site *site;
} dt_bitwise_and_scalar_self_options;
/* The bits that both integers have.
 *     bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_and_scalar_self_sized(dt_number self, dt_tensor *other,
                                                   DT_OPTIONS(dt_bitwise_and_scalar_self_options));

typedef struct dt_bitwise_and_in_place_options {
    const dt_site *site;
} dt_bitwise_and_in_place_options;
/* The bits that both integers have, in place.
 *     bitwise_and_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_and_in_place_sized(dt_tensor *self, dt_tensor *other,
                                                DT_OPTIONS(dt_bitwise_and_in_place_options));

typedef struct dt_bitwise_and_scalar_in_place_options {
    const dt_site *site;
} dt_bitwise_and_scalar_in_place_options;
/* The bits that both integers have, in place.
 *     bitwise_and_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_and_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                       DT_OPTIONS(dt_bitwise_and_scalar_in_place_options));

typedef struct dt_bitwise_not_options {
    const dt_site *site;
} dt_bitwise_not_options;
/* The complement of the bits of every integer; not, of booleans.
 *     bitwise_not(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_not_sized(dt_tensor *self, DT_OPTIONS(dt_bitwise_not_options));

typedef struct dt_bitwise_not_in_place_options {
    const dt_site *site;
} dt_bitwise_not_in_place_options;
/* The complement of the bits of every integer; not, of booleans, in place.
 *     bitwise_not_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_not_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_bitwise_not_in_place_options));

typedef struct dt_bitwise_or_options {
    const dt_site *site;
} dt_bitwise_or_options;
/* The bits that either of two integers has.
 *     bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_or_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_bitwise_or_options));

typedef struct dt_bitwise_or_scalar_other_options {
    const dt_site *site;
} dt_bitwise_or_scalar_other_options;
/* The bits that either of two integers has.
 *     bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_or_scalar_other_sized(dt_tensor *self, dt_number other,
                                                   DT_OPTIONS(dt_bitwise_or_scalar_other_options));

typedef struct dt_bitwise_or_scalar_self_options {
    const dt_site *site;
} dt_bitwise_or_scalar_self_options;
/* The bits that either of two integers has.
 *     bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_or_scalar_self_sized(dt_number self, dt_tensor *other,
                                                  DT_OPTIONS(dt_bitwise_or_scalar_self_options));

typedef struct dt_bitwise_or_in_place_options {
    const dt_site *site;
} dt_bitwise_or_in_place_options;
/* The bits that either of two integers has, in place.
 *     bitwise_or_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_or_in_place_sized(dt_tensor *self, dt_tensor *other,
                                               DT_OPTIONS(dt_bitwise_or_in_place_options));

typedef struct dt_bitwise_or_scalar_in_place_options {
    const dt_site *site;
} dt_bitwise_or_scalar_in_place_options;
/* The bits that either of two integers has, in place.
 *     bitwise_or_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_or_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                      DT_OPTIONS(dt_bitwise_or_scalar_in_place_options));

typedef struct dt_bitwise_xor_options {
    const dt_site *site;
} dt_bitwise_xor_options;
/* The bits where two integers differ.
 *     bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_xor_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_bitwise_xor_options));

typedef struct dt_bitwise_xor_scalar_other_options {
    const dt_site *site;
} dt_bitwise_xor_scalar_other_options;
/* The bits where two integers differ.
 *     bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_xor_scalar_other_sized(dt_tensor *self, dt_number other,
                                                    DT_OPTIONS(dt_bitwise_xor_scalar_other_options));

typedef struct dt_bitwise_xor_scalar_self_options {
    const dt_site *site;
} dt_bitwise_xor_scalar_self_options;
/* The bits where two integers differ.
 *     bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_xor_scalar_self_sized(dt_number self, dt_tensor *other,
                                                   DT_OPTIONS(dt_bitwise_xor_scalar_self_options));

typedef struct dt_bitwise_xor_in_place_options {
    const dt_site *site;
} dt_bitwise_xor_in_place_options;
/* The bits where two integers differ, in place.
 *     bitwise_xor_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_xor_in_place_sized(dt_tensor *self, dt_tensor *other,
                                                DT_OPTIONS(dt_bitwise_xor_in_place_options));

typedef struct dt_bitwise_xor_scalar_in_place_options {
    const dt_site *site;
} dt_bitwise_xor_scalar_in_place_options;
/* The bits where two integers differ, in place.
 *     bitwise_xor_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bitwise_xor_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                       DT_OPTIONS(dt_bitwise_xor_scalar_in_place_options));

typedef struct dt_bmm_options {
    const dt_site *site;
} dt_bmm_options;
/* Products of two batches of matrices.
 *     bmm(Tensor self, Tensor mat2) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bmm_sized(dt_tensor *self, dt_tensor *mat2, DT_OPTIONS(dt_bmm_options));

typedef struct dt_bool_options {
    const dt_site *site;
} dt_bool_options;
/* Converts to booleans: whether elements are not 0.
 *     bool(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bool_sized(dt_tensor *self, DT_OPTIONS(dt_bool_options));

typedef struct dt_broadcast_to_options {
    const dt_site *site;
} dt_broadcast_to_options;
/* Repeats dims of size 1, as a view.
 *     broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_broadcast_to_sized(dt_tensor *self, dt_shape size, DT_OPTIONS(dt_broadcast_to_options));

typedef struct dt_bucketize_options {
    bool out_int32;
    bool right;
    const dt_site *site;
} dt_bucketize_options;
/* The number of the interval between sorted boundaries that each element is in.
 *     bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bucketize_sized(dt_tensor *self, dt_tensor *boundaries, DT_OPTIONS(dt_bucketize_options));

typedef struct dt_bucketize_scalar_options {
    bool out_int32;
    bool right;
    const dt_site *site;
} dt_bucketize_scalar_options;
/* The number of the interval between sorted boundaries that each element is in.
 *     bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_bucketize_scalar_sized(dt_number self, dt_tensor *boundaries,
                                            DT_OPTIONS(dt_bucketize_scalar_options));

typedef struct dt_byte_options {
    const dt_site *site;
} dt_byte_options;
/* Converts to u8.
 *     byte(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_byte_sized(dt_tensor *self, DT_OPTIONS(dt_byte_options));

typedef struct dt_cat_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_cat_options;
/* Concatenates tensors along a dim.
 *     cat(Tensor[] tensors, int dim=0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cat_sized(dt_tensors tensors, DT_OPTIONS(dt_cat_options));

typedef struct dt_cdouble_options {
    const dt_site *site;
} dt_cdouble_options;
/* Converts to c128.
 *     cdouble(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cdouble_sized(dt_tensor *self, DT_OPTIONS(dt_cdouble_options));

typedef struct dt_ceil_options {
    const dt_site *site;
} dt_ceil_options;
/* Every element, rounded up to an integer.
 *     ceil(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ceil_sized(dt_tensor *self, DT_OPTIONS(dt_ceil_options));

typedef struct dt_ceil_in_place_options {
    const dt_site *site;
} dt_ceil_in_place_options;
/* Every element, rounded up to an integer, in place.
 *     ceil_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ceil_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_ceil_in_place_options));

typedef struct dt_celu_options {
    DT_OPTION(dt_opt_real, alpha); /* default 1.0 */
    const dt_site *site;
} dt_celu_options;
/* x, or alpha (exp(x / alpha) - 1) where x is negative.
 *     celu(Tensor input, float alpha=1.0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_celu_sized(dt_tensor *input, DT_OPTIONS(dt_celu_options));

typedef struct dt_celu_in_place_options {
    DT_OPTION(dt_opt_real, alpha); /* default 1.0 */
    const dt_site *site;
} dt_celu_in_place_options;
/* x, or alpha (exp(x / alpha) - 1) where x is negative, in place.
 *     celu_(Tensor(a!) input, float alpha=1.0) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_celu_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_celu_in_place_options));

typedef struct dt_cfloat_options {
    const dt_site *site;
} dt_cfloat_options;
/* Converts to c64.
 *     cfloat(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cfloat_sized(dt_tensor *self, DT_OPTIONS(dt_cfloat_options));

typedef struct dt_char_options {
    const dt_site *site;
} dt_char_options;
/* Converts to i8.
 *     char(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_char_sized(dt_tensor *self, DT_OPTIONS(dt_char_options));

typedef struct dt_cholesky_options {
    bool upper;
    const dt_site *site;
} dt_cholesky_options;
/* As linalg_cholesky.
 *     cholesky(Tensor self, bool upper=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cholesky_sized(dt_tensor *self, DT_OPTIONS(dt_cholesky_options));

typedef struct dt_cholesky_inverse_options {
    bool upper;
    const dt_site *site;
} dt_cholesky_inverse_options;
/* The inverse of a matrix, by its Cholesky factor.
 *     cholesky_inverse(Tensor self, bool upper=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cholesky_inverse_sized(dt_tensor *self, DT_OPTIONS(dt_cholesky_inverse_options));

typedef struct dt_cholesky_solve_options {
    bool upper;
    const dt_site *site;
} dt_cholesky_solve_options;
/* X with A X = B, by the Cholesky factor of A.
 *     cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cholesky_solve_sized(dt_tensor *self, dt_tensor *input2, DT_OPTIONS(dt_cholesky_solve_options));

typedef struct dt_chunk_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_chunk_options;
/* Splits a dim into at most as many blocks of one size, as views; the last may be smaller.
 *     chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_chunk_sized(dt_tensor *self, int64_t chunks, dt_tensor **out, int capacity,
                          DT_OPTIONS(dt_chunk_options));

typedef struct dt_clamp_options {
    DT_OPTION(dt_number, min);
    DT_OPTION(dt_number, max);
    const dt_site *site;
} dt_clamp_options;
/* Limits every element to the range from min to max, which are numbers or tensors.
 *     clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_sized(dt_tensor *self, DT_OPTIONS(dt_clamp_options));

typedef struct dt_clamp_tensor_options {
    dt_tensor *min;
    dt_tensor *max;
    const dt_site *site;
} dt_clamp_tensor_options;
/* Limits every element to the range from min to max, which are numbers or tensors.
 *     clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_tensor_sized(dt_tensor *self, DT_OPTIONS(dt_clamp_tensor_options));

typedef struct dt_clamp_in_place_options {
    DT_OPTION(dt_number, min);
    DT_OPTION(dt_number, max);
    const dt_site *site;
} dt_clamp_in_place_options;
/* Limits every element to the range from min to max, which are numbers or tensors, in place.
 *     clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_clamp_in_place_options));

typedef struct dt_clamp_tensor_in_place_options {
    dt_tensor *min;
    dt_tensor *max;
    const dt_site *site;
} dt_clamp_tensor_in_place_options;
/* Limits every element to the range from min to max, which are numbers or tensors, in place.
 *     clamp_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_tensor_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_clamp_tensor_in_place_options));

typedef struct dt_clamp_max_options {
    const dt_site *site;
} dt_clamp_max_options;
/* Every element, or max if that is less.
 *     clamp_max(Tensor self, Scalar max) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_max_sized(dt_tensor *self, dt_number max, DT_OPTIONS(dt_clamp_max_options));

typedef struct dt_clamp_max_tensor_options {
    const dt_site *site;
} dt_clamp_max_tensor_options;
/* Every element, or max if that is less.
 *     clamp_max.Tensor(Tensor self, Tensor max) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_max_tensor_sized(dt_tensor *self, dt_tensor *max, DT_OPTIONS(dt_clamp_max_tensor_options));

typedef struct dt_clamp_max_in_place_options {
    const dt_site *site;
} dt_clamp_max_in_place_options;
/* Every element, or max if that is less, in place.
 *     clamp_max_(Tensor(a!) self, Scalar max) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_max_in_place_sized(dt_tensor *self, dt_number max,
                                              DT_OPTIONS(dt_clamp_max_in_place_options));

typedef struct dt_clamp_max_tensor_in_place_options {
    const dt_site *site;
} dt_clamp_max_tensor_in_place_options;
/* Every element, or max if that is less, in place.
 *     clamp_max_.Tensor(Tensor(a!) self, Tensor max) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_max_tensor_in_place_sized(dt_tensor *self, dt_tensor *max,
                                                     DT_OPTIONS(dt_clamp_max_tensor_in_place_options));

typedef struct dt_clamp_min_options {
    const dt_site *site;
} dt_clamp_min_options;
/* Every element, or min if that is greater.
 *     clamp_min(Tensor self, Scalar min) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_min_sized(dt_tensor *self, dt_number min, DT_OPTIONS(dt_clamp_min_options));

typedef struct dt_clamp_min_tensor_options {
    const dt_site *site;
} dt_clamp_min_tensor_options;
/* Every element, or min if that is greater.
 *     clamp_min.Tensor(Tensor self, Tensor min) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_min_tensor_sized(dt_tensor *self, dt_tensor *min, DT_OPTIONS(dt_clamp_min_tensor_options));

typedef struct dt_clamp_min_in_place_options {
    const dt_site *site;
} dt_clamp_min_in_place_options;
/* Every element, or min if that is greater, in place.
 *     clamp_min_(Tensor(a!) self, Scalar min) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_min_in_place_sized(dt_tensor *self, dt_number min,
                                              DT_OPTIONS(dt_clamp_min_in_place_options));

typedef struct dt_clamp_min_tensor_in_place_options {
    const dt_site *site;
} dt_clamp_min_tensor_in_place_options;
/* Every element, or min if that is greater, in place.
 *     clamp_min_.Tensor(Tensor(a!) self, Tensor min) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clamp_min_tensor_in_place_sized(dt_tensor *self, dt_tensor *min,
                                                     DT_OPTIONS(dt_clamp_min_tensor_in_place_options));

typedef struct dt_class_total_options {
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_opt_int, ignore_index); /* default -100 */
    const dt_site *site;
} dt_class_total_options;
/* The number of targets that are not ignored, or the sum of the weights of their classes.
 *     class_total(Tensor target, Tensor? weight=None, int ignore_index=-100) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_class_total_sized(dt_tensor *target, DT_OPTIONS(dt_class_total_options));

typedef struct dt_clone_options {
    const dt_site *site;
} dt_clone_options;
/* A copy with its own memory, dense and row-major.
 *     clone(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_clone_sized(dt_tensor *self, DT_OPTIONS(dt_clone_options));

typedef struct dt_conj_options {
    const dt_site *site;
} dt_conj_options;
/* The complex conjugate of every element; of real numbers a copy.
 *     conj(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conj_sized(dt_tensor *self, DT_OPTIONS(dt_conj_options));

typedef struct dt_constant_pad_nd_options {
    DT_OPTION(dt_number, value); /* default 0 */
    const dt_site *site;
} dt_constant_pad_nd_options;
/* Adds a value before and after the indices of the last dims; negative numbers cut off.
 *     constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_constant_pad_nd_sized(dt_tensor *self, dt_ints pad, DT_OPTIONS(dt_constant_pad_nd_options));

typedef struct dt_contiguous_options {
    const dt_site *site;
} dt_contiguous_options;
/* The same elements, dense and row-major: a view where they are already, otherwise a copy.
 *     contiguous(Tensor(a) self) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_contiguous_sized(dt_tensor *self, DT_OPTIONS(dt_contiguous_options));

typedef struct dt_conv1d_options {
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_ints, stride);    /* default [1] */
    DT_OPTION(dt_ints, padding);   /* default [0] */
    DT_OPTION(dt_ints, dilation);  /* default [1] */
    DT_OPTION(dt_opt_int, groups); /* default 1 */
    const dt_site *site;
} dt_conv1d_options;
/* Convolution of sequences: weighted sums of neighbors, over all channels.
 *     conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], int[1] padding=[0], int[1]
 *         dilation=[1], int groups=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv1d_sized(dt_tensor *input, dt_tensor *weight, DT_OPTIONS(dt_conv1d_options));

typedef struct dt_conv1d_padding_options {
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_ints, stride);       /* default [1] */
    DT_OPTION(const char *, padding); /* default valid */
    DT_OPTION(dt_ints, dilation);     /* default [1] */
    DT_OPTION(dt_opt_int, groups);    /* default 1 */
    const dt_site *site;
} dt_conv1d_padding_options;
/* Convolution of sequences: weighted sums of neighbors, over all channels.
 *     conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], str padding="valid",
 *         int[1] dilation=[1], int groups=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv1d_padding_sized(dt_tensor *input, dt_tensor *weight, DT_OPTIONS(dt_conv1d_padding_options));

typedef struct dt_conv2d_options {
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_ints, stride);    /* default [1,1] */
    DT_OPTION(dt_ints, padding);   /* default [0,0] */
    DT_OPTION(dt_ints, dilation);  /* default [1,1] */
    DT_OPTION(dt_opt_int, groups); /* default 1 */
    const dt_site *site;
} dt_conv2d_options;
/* Convolution of images.
 *     conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=[1, 1], int[2] padding=[0, 0],
 *         int[2] dilation=[1, 1], int groups=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv2d_sized(dt_tensor *input, dt_tensor *weight, DT_OPTIONS(dt_conv2d_options));

typedef struct dt_conv2d_padding_options {
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_ints, stride);       /* default [1,1] */
    DT_OPTION(const char *, padding); /* default valid */
    DT_OPTION(dt_ints, dilation);     /* default [1,1] */
    DT_OPTION(dt_opt_int, groups);    /* default 1 */
    const dt_site *site;
} dt_conv2d_padding_options;
/* Convolution of images.
 *     conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=[1, 1], str padding="valid",
 *         int[2] dilation=[1, 1], int groups=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv2d_padding_sized(dt_tensor *input, dt_tensor *weight, DT_OPTIONS(dt_conv2d_padding_options));

typedef struct dt_conv3d_options {
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_ints, stride);    /* default [1,1,1] */
    DT_OPTION(dt_ints, padding);   /* default [0,0,0] */
    DT_OPTION(dt_ints, dilation);  /* default [1,1,1] */
    DT_OPTION(dt_opt_int, groups); /* default 1 */
    const dt_site *site;
} dt_conv3d_options;
/* Convolution of volumes.
 *     conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=[1, 1, 1], int[3] padding=[0, 0, 0],
 *         int[3] dilation=[1, 1, 1], int groups=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv3d_sized(dt_tensor *input, dt_tensor *weight, DT_OPTIONS(dt_conv3d_options));

typedef struct dt_conv3d_padding_options {
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_ints, stride);       /* default [1,1,1] */
    DT_OPTION(const char *, padding); /* default valid */
    DT_OPTION(dt_ints, dilation);     /* default [1,1,1] */
    DT_OPTION(dt_opt_int, groups);    /* default 1 */
    const dt_site *site;
} dt_conv3d_padding_options;
/* Convolution of volumes.
 *     conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=[1, 1, 1], str
 *         padding="valid", int[3] dilation=[1, 1, 1], int groups=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv3d_padding_sized(dt_tensor *input, dt_tensor *weight, DT_OPTIONS(dt_conv3d_padding_options));

typedef struct dt_conv_forward_options {
    DT_OPTION(dt_ints, stride);    /* default [1] */
    DT_OPTION(dt_ints, padding);   /* default [0] */
    DT_OPTION(dt_ints, dilation);  /* default [1] */
    DT_OPTION(dt_opt_int, groups); /* default 1 */
    const dt_site *site;
} dt_conv_forward_options;
/* Convolution with an output of the given sizes: a gradient of the two that follow.
 *     conv_forward(Tensor input, Tensor weight, int[] sizes, int[] stride=1, int[] padding=0, int[] dilation=1,
 *         int groups=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv_forward_sized(dt_tensor *input, dt_tensor *weight, dt_shape sizes,
                                        DT_OPTIONS(dt_conv_forward_options));

typedef struct dt_conv_input_backward_options {
    DT_OPTION(dt_ints, stride);    /* default [1] */
    DT_OPTION(dt_ints, padding);   /* default [0] */
    DT_OPTION(dt_ints, dilation);  /* default [1] */
    DT_OPTION(dt_opt_int, groups); /* default 1 */
    const dt_site *site;
} dt_conv_input_backward_options;
/* The gradient of a convolution with respect to its input, of the given sizes.
 *     conv_input_backward(Tensor grad_output, Tensor weight, int[] sizes, int[] stride=1, int[] padding=0,
 *         int[] dilation=1, int groups=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv_input_backward_sized(dt_tensor *grad_output, dt_tensor *weight, dt_shape sizes,
                                               DT_OPTIONS(dt_conv_input_backward_options));

typedef struct dt_conv_transpose1d_options {
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_ints, stride);         /* default [1] */
    DT_OPTION(dt_ints, padding);        /* default [0] */
    DT_OPTION(dt_ints, output_padding); /* default [0] */
    DT_OPTION(dt_opt_int, groups);      /* default 1 */
    DT_OPTION(dt_ints, dilation);       /* default [1] */
    const dt_site *site;
} dt_conv_transpose1d_options;
/* Transposed convolution of sequences: each element adds the weights, times itself, to its neighbors.
 *     conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], int[1] padding=[0],
 *         int[1] output_padding=[0], int groups=1, int[1] dilation=[1]) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv_transpose1d_sized(dt_tensor *input, dt_tensor *weight,
                                            DT_OPTIONS(dt_conv_transpose1d_options));

typedef struct dt_conv_transpose2d_options {
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_ints, stride);         /* default [1,1] */
    DT_OPTION(dt_ints, padding);        /* default [0,0] */
    DT_OPTION(dt_ints, output_padding); /* default [0,0] */
    DT_OPTION(dt_opt_int, groups);      /* default 1 */
    DT_OPTION(dt_ints, dilation);       /* default [1,1] */
    const dt_site *site;
} dt_conv_transpose2d_options;
/* Transposed convolution of images.
 *     conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=[1, 1], int[2]
 *         padding=[0, 0], int[2] output_padding=[0, 0], int groups=1, int[2] dilation=[1, 1]) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv_transpose2d_sized(dt_tensor *input, dt_tensor *weight,
                                            DT_OPTIONS(dt_conv_transpose2d_options));

typedef struct dt_conv_transpose3d_options {
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_ints, stride);         /* default [1,1,1] */
    DT_OPTION(dt_ints, padding);        /* default [0,0,0] */
    DT_OPTION(dt_ints, output_padding); /* default [0,0,0] */
    DT_OPTION(dt_opt_int, groups);      /* default 1 */
    DT_OPTION(dt_ints, dilation);       /* default [1,1,1] */
    const dt_site *site;
} dt_conv_transpose3d_options;
/* Transposed convolution of volumes.
 *     conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=[1, 1, 1], int[3]
 *         padding=[0, 0, 0], int[3] output_padding=[0, 0, 0], int groups=1, int[3] dilation=[1, 1, 1]) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv_transpose3d_sized(dt_tensor *input, dt_tensor *weight,
                                            DT_OPTIONS(dt_conv_transpose3d_options));

typedef struct dt_conv_weight_backward_options {
    DT_OPTION(dt_ints, stride);    /* default [1] */
    DT_OPTION(dt_ints, padding);   /* default [0] */
    DT_OPTION(dt_ints, dilation);  /* default [1] */
    DT_OPTION(dt_opt_int, groups); /* default 1 */
    const dt_site *site;
} dt_conv_weight_backward_options;
/* The gradient of a convolution with respect to its weight, of the given sizes.
 *     conv_weight_backward(Tensor input, Tensor grad_output, int[] sizes, int[] stride=1, int[] padding=0,
 *         int[] dilation=1, int groups=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_conv_weight_backward_sized(dt_tensor *input, dt_tensor *grad_output, dt_shape sizes,
                                                DT_OPTIONS(dt_conv_weight_backward_options));

typedef struct dt_convolution_options {
    dt_tensor *bias;
    const dt_site *site;
} dt_convolution_options;
/* Convolution in one to three dims, or a transposed one.
 *     convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool
 *         transposed, int[] output_padding, int groups) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_convolution_sized(dt_tensor *input, dt_tensor *weight, dt_ints stride, dt_ints padding,
                                       dt_ints dilation, bool transposed, dt_ints output_padding, int64_t groups,
                                       DT_OPTIONS(dt_convolution_options));

typedef struct dt_copy_in_place_options {
    const dt_site *site;
} dt_copy_in_place_options;
/* Copies a tensor into this one, which keeps its mesh, placements and dtype.
 *     copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_copy_in_place_sized(dt_tensor *self, dt_tensor *src, DT_OPTIONS(dt_copy_in_place_options));

typedef struct dt_cos_options {
    const dt_site *site;
} dt_cos_options;
/* The cosine of every element.
 *     cos(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cos_sized(dt_tensor *self, DT_OPTIONS(dt_cos_options));

typedef struct dt_cos_in_place_options {
    const dt_site *site;
} dt_cos_in_place_options;
/* The cosine of every element, in place.
 *     cos_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cos_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_cos_in_place_options));

typedef struct dt_cosh_options {
    const dt_site *site;
} dt_cosh_options;
/* The hyperbolic cosine of every element.
 *     cosh(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cosh_sized(dt_tensor *self, DT_OPTIONS(dt_cosh_options));

typedef struct dt_cosh_in_place_options {
    const dt_site *site;
} dt_cosh_in_place_options;
/* The hyperbolic cosine of every element, in place.
 *     cosh_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cosh_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_cosh_in_place_options));

typedef struct dt_cosine_similarity_options {
    DT_OPTION(dt_opt_int, dim);  /* default 1 */
    DT_OPTION(dt_opt_real, eps); /* default 1e-08 */
    const dt_site *site;
} dt_cosine_similarity_options;
/* Products of vectors along a dim, divided by their norms, which count as eps at least.
 *     cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cosine_similarity_sized(dt_tensor *x1, dt_tensor *x2, DT_OPTIONS(dt_cosine_similarity_options));

typedef struct dt_count_nonzero_options {
    DT_OPTION(dt_opt_int, dim);
    const dt_site *site;
} dt_count_nonzero_options;
/* Number of elements that are not 0, over all dims or over some.
 *     count_nonzero(Tensor self, int? dim=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_count_nonzero_sized(dt_tensor *self, DT_OPTIONS(dt_count_nonzero_options));

typedef struct dt_count_nonzero_dims_options {
    const dt_site *site;
} dt_count_nonzero_dims_options;
/* Number of elements that are not 0, over all dims or over some.
 *     count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_count_nonzero_dims_sized(dt_tensor *self, dt_dims dim,
                                              DT_OPTIONS(dt_count_nonzero_dims_options));

typedef struct dt_cross_options {
    DT_OPTION(dt_opt_int, dim);
    const dt_site *site;
} dt_cross_options;
/* As linalg_cross, along the first dim of size 3 if none is given.
 *     cross(Tensor self, Tensor other, int? dim=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cross_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_cross_options));

typedef struct dt_cross_entropy_options {
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_opt_int, ignore_index);     /* default -100 */
    DT_OPTION(const char *, reduction);      /* default mean */
    DT_OPTION(dt_opt_real, label_smoothing); /* default 0.0 */
    const dt_site *site;
} dt_cross_entropy_options;
/* Cross entropy of logits and classes, or probabilities of classes.
 *     cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str
 *         reduction="mean", float label_smoothing=0.0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cross_entropy_sized(dt_tensor *input, dt_tensor *target, DT_OPTIONS(dt_cross_entropy_options));

typedef struct dt_cross_entropy_backward_options {
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_opt_int, ignore_index);     /* default -100 */
    DT_OPTION(const char *, reduction);      /* default mean */
    DT_OPTION(dt_opt_real, label_smoothing); /* default 0.0 */
    const dt_site *site;
} dt_cross_entropy_backward_options;
/* The gradient of the cross entropy of logits and classes with respect to the logits.
 *     cross_entropy_backward(Tensor grad, Tensor input, Tensor target, Tensor? weight, Tensor logsumexp, Tensor
 *         total, int ignore_index=-100, str reduction="mean", float label_smoothing=0.0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cross_entropy_backward_sized(dt_tensor *grad, dt_tensor *input, dt_tensor *target,
                                                  dt_tensor *logsumexp, dt_tensor *total,
                                                  DT_OPTIONS(dt_cross_entropy_backward_options));

typedef struct dt_cummax_options {
    const dt_site *site;
} dt_cummax_options;
/* The outputs; all NULL after an error. */
typedef struct dt_cummax_result {
    dt_tensor *values, *indices;
} dt_cummax_result;
/* Running maximum along a dim, with its position.
 *     cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_cummax_result dt_cummax_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_cummax_options));

typedef struct dt_cummin_options {
    const dt_site *site;
} dt_cummin_options;
/* The outputs; all NULL after an error. */
typedef struct dt_cummin_result {
    dt_tensor *values, *indices;
} dt_cummin_result;
/* Running minimum along a dim, with its position.
 *     cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_cummin_result dt_cummin_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_cummin_options));

typedef struct dt_cumprod_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_cumprod_options;
/* Running product along a dim.
 *     cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cumprod_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_cumprod_options));

typedef struct dt_cumsum_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_cumsum_options;
/* Running sum along a dim.
 *     cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cumsum_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_cumsum_options));

typedef struct dt_cumsum_in_place_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_cumsum_in_place_options;
/* Running sum along a dim, in place.
 *     cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_cumsum_in_place_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_cumsum_in_place_options));

typedef struct dt_diag_options {
    DT_OPTION(dt_opt_int, diagonal); /* default 0 */
    const dt_site *site;
} dt_diag_options;
/* The matrix with a vector on a diagonal, or the diagonal of a matrix.
 *     diag(Tensor self, int diagonal=0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_diag_sized(dt_tensor *self, DT_OPTIONS(dt_diag_options));

typedef struct dt_diag_embed_options {
    DT_OPTION(dt_opt_int, offset); /* default 0 */
    DT_OPTION(dt_opt_int, dim1);   /* default -2 */
    DT_OPTION(dt_opt_int, dim2);   /* default -1 */
    const dt_site *site;
} dt_diag_embed_options;
/* Matrices of zeros with the last dim of a tensor on a diagonal.
 *     diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_diag_embed_sized(dt_tensor *self, DT_OPTIONS(dt_diag_embed_options));

typedef struct dt_diagonal_options {
    const dt_site *site;
} dt_diagonal_options;
/* The diagonal of two dims, `offset` to the right of the main one, as the new last dim of a view.
 *     diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_diagonal_sized(dt_tensor *self, int64_t offset, int64_t dim1, int64_t dim2,
                                    DT_OPTIONS(dt_diagonal_options));

typedef struct dt_diagonal_backward_options {
    const dt_site *site;
} dt_diagonal_backward_options;
/* The gradient of diagonal: zeros, with the gradient on the diagonal.
 *     diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_diagonal_backward_sized(dt_tensor *grad_output, dt_shape input_sizes, int64_t offset,
                                             int64_t dim1, int64_t dim2, DT_OPTIONS(dt_diagonal_backward_options));

typedef struct dt_diagonal_scatter_options {
    const dt_site *site;
} dt_diagonal_scatter_options;
/* A copy of a tensor with another one on a diagonal of two dims.
 *     diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_diagonal_scatter_sized(dt_tensor *self, dt_tensor *src, int64_t offset, int64_t dim1,
                                            int64_t dim2, DT_OPTIONS(dt_diagonal_scatter_options));

typedef struct dt_diff_options {
    DT_OPTION(dt_opt_int, n);   /* default 1 */
    DT_OPTION(dt_opt_int, dim); /* default -1 */
    DT_OPTION(dt_tensor *, prepend);
    DT_OPTION(dt_tensor *, append);
    const dt_site *site;
} dt_diff_options;
/* Differences of neighbors along a dim, n times, with tensors before and after it.
 *     diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_diff_sized(dt_tensor *self, DT_OPTIONS(dt_diff_options));

typedef struct dt_div_options {
    const char *rounding_mode;
    const dt_site *site;
} dt_div_options;
/* Divides by a tensor or a number; rounding_mode "trunc" or "floor" rounds the quotient.
 *     div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_div_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_div_options));

typedef struct dt_div_scalar_options {
    const char *rounding_mode;
    const dt_site *site;
} dt_div_scalar_options;
/* Divides by a tensor or a number; rounding_mode "trunc" or "floor" rounds the quotient.
 *     div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_div_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_div_scalar_options));

typedef struct dt_div_in_place_options {
    const char *rounding_mode;
    const dt_site *site;
} dt_div_in_place_options;
/* Divides by a tensor or a number; rounding_mode "trunc" or "floor" rounds the quotient, in place.
 *     div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_div_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_div_in_place_options));

typedef struct dt_div_scalar_in_place_options {
    const char *rounding_mode;
    const dt_site *site;
} dt_div_scalar_in_place_options;
/* Divides by a tensor or a number; rounding_mode "trunc" or "floor" rounds the quotient, in place.
 *     div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_div_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                               DT_OPTIONS(dt_div_scalar_in_place_options));

typedef struct dt_dot_options {
    const dt_site *site;
} dt_dot_options;
/* Product of two vectors.
 *     dot(Tensor self, Tensor tensor) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_dot_sized(dt_tensor *self, dt_tensor *tensor, DT_OPTIONS(dt_dot_options));

typedef struct dt_double_options {
    const dt_site *site;
} dt_double_options;
/* Converts to f64.
 *     double(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_double_sized(dt_tensor *self, DT_OPTIONS(dt_double_options));

typedef struct dt_dropout_options {
    DT_OPTION(dt_opt_real, p);        /* default 0.5 */
    DT_OPTION(dt_opt_bool, training); /* default true */
    const dt_site *site;
} dt_dropout_options;
/* Sets elements to zero with probability p and scales the others by 1 / (1 - p).
 *     dropout(Tensor input, float p=0.5, bool training=True) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_dropout_sized(dt_tensor *input, DT_OPTIONS(dt_dropout_options));

typedef struct dt_einsum_options {
    const dt_site *site;
} dt_einsum_options;
/* Sums of products by labels of dims, such as "bij,bjk->bik", in the cheapest order.
 *     einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_einsum_sized(const char *equation, dt_tensors tensors, DT_OPTIONS(dt_einsum_options));

typedef struct dt_elu_options {
    DT_OPTION(dt_opt_real, alpha); /* default 1.0 */
    const dt_site *site;
} dt_elu_options;
/* x, or alpha (exp(x) - 1) where x is negative.
 *     elu(Tensor input, float alpha=1.0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_elu_sized(dt_tensor *input, DT_OPTIONS(dt_elu_options));

typedef struct dt_elu_in_place_options {
    DT_OPTION(dt_opt_real, alpha); /* default 1.0 */
    const dt_site *site;
} dt_elu_in_place_options;
/* x, or alpha (exp(x) - 1) where x is negative, in place.
 *     elu_(Tensor(a!) input, float alpha=1.0) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_elu_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_elu_in_place_options));

typedef struct dt_embedding_options {
    DT_OPTION(dt_opt_int, padding_idx);
    const dt_site *site;
} dt_embedding_options;
/* The rows of a weight matrix that the indices select.
 *     embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0,
 *         bool scale_grad_by_freq=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_embedding_sized(dt_tensor *input, dt_tensor *weight, DT_OPTIONS(dt_embedding_options));

typedef struct dt_embedding_dense_backward_options {
    DT_OPTION(dt_opt_int, padding_idx);
    DT_OPTION(bool, scale_grad_by_freq);
    const dt_site *site;
} dt_embedding_dense_backward_options;
/* The gradient of embedding: rows of the gradient, added at their indices.
 *     embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int? padding_idx=None, bool
 *         scale_grad_by_freq=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_embedding_dense_backward_sized(dt_tensor *grad_output, dt_tensor *indices, int64_t num_weights,
                                                    DT_OPTIONS(dt_embedding_dense_backward_options));

/* An uninitialized tensor.
 *     empty.memory_format(int[] size, *, ScalarType? dtype=None) -> Tensor
 * Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_empty_sized(dt_ctx *ctx, dt_shape size, DT_OPTIONS(dt_make_options));

typedef struct dt_empty_like_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_empty_like_options;
/* An uninitialized tensor with the shape, dtype and placements of another.
 *     empty_like(Tensor self, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_empty_like_sized(dt_tensor *self, DT_OPTIONS(dt_empty_like_options));

typedef struct dt_eq_options {
    const dt_site *site;
} dt_eq_options;
/* Whether elements are equal, to those of a tensor or to a number.
 *     eq.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_eq_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_eq_options));

typedef struct dt_eq_scalar_options {
    const dt_site *site;
} dt_eq_scalar_options;
/* Whether elements are equal, to those of a tensor or to a number.
 *     eq.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_eq_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_eq_scalar_options));

typedef struct dt_eq_in_place_options {
    const dt_site *site;
} dt_eq_in_place_options;
/* Whether elements are equal, to those of a tensor or to a number, in place.
 *     eq_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_eq_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_eq_in_place_options));

typedef struct dt_eq_scalar_in_place_options {
    const dt_site *site;
} dt_eq_scalar_in_place_options;
/* Whether elements are equal, to those of a tensor or to a number, in place.
 *     eq_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_eq_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                              DT_OPTIONS(dt_eq_scalar_in_place_options));

typedef struct dt_equal_options {
    const dt_site *site;
} dt_equal_options;
/* Whether two tensors have one shape and equal elements, as one boolean.
 *     equal(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_equal_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_equal_options));

typedef struct dt_erf_options {
    const dt_site *site;
} dt_erf_options;
/* The error function of every element.
 *     erf(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_erf_sized(dt_tensor *self, DT_OPTIONS(dt_erf_options));

typedef struct dt_erf_in_place_options {
    const dt_site *site;
} dt_erf_in_place_options;
/* The error function of every element, in place.
 *     erf_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_erf_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_erf_in_place_options));

typedef struct dt_erfc_options {
    const dt_site *site;
} dt_erfc_options;
/* 1 minus the error function of every element, exact for large ones.
 *     erfc(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_erfc_sized(dt_tensor *self, DT_OPTIONS(dt_erfc_options));

typedef struct dt_erfc_in_place_options {
    const dt_site *site;
} dt_erfc_in_place_options;
/* 1 minus the error function of every element, exact for large ones, in place.
 *     erfc_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_erfc_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_erfc_in_place_options));

typedef struct dt_exp_options {
    const dt_site *site;
} dt_exp_options;
/* The exponential of every element.
 *     exp(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_exp_sized(dt_tensor *self, DT_OPTIONS(dt_exp_options));

typedef struct dt_exp2_options {
    const dt_site *site;
} dt_exp2_options;
/* 2 to the power of every element.
 *     exp2(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_exp2_sized(dt_tensor *self, DT_OPTIONS(dt_exp2_options));

typedef struct dt_exp2_in_place_options {
    const dt_site *site;
} dt_exp2_in_place_options;
/* 2 to the power of every element, in place.
 *     exp2_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_exp2_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_exp2_in_place_options));

typedef struct dt_exp_in_place_options {
    const dt_site *site;
} dt_exp_in_place_options;
/* The exponential of every element, in place.
 *     exp_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_exp_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_exp_in_place_options));

typedef struct dt_expand_options {
    const dt_site *site;
} dt_expand_options;
/* Repeats dims of size 1, as a view; -1 keeps a size.
 *     expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_expand_sized(dt_tensor *self, dt_shape size, DT_OPTIONS(dt_expand_options));

typedef struct dt_expand_as_options {
    const dt_site *site;
} dt_expand_as_options;
/* Repeats dims of size 1 to the shape of another tensor, as a view.
 *     expand_as(Tensor(a) self, Tensor other) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_expand_as_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_expand_as_options));

typedef struct dt_expm1_options {
    const dt_site *site;
} dt_expm1_options;
/* The exponential minus 1 of every element, exact for small ones.
 *     expm1(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_expm1_sized(dt_tensor *self, DT_OPTIONS(dt_expm1_options));

typedef struct dt_expm1_in_place_options {
    const dt_site *site;
} dt_expm1_in_place_options;
/* The exponential minus 1 of every element, exact for small ones, in place.
 *     expm1_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_expm1_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_expm1_in_place_options));

/* A matrix of n rows and m columns with ones on its diagonal.
 *     eye.m(int n, int m, *, ScalarType? dtype=None) -> Tensor
 * Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_eye_sized(dt_ctx *ctx, int64_t n, int64_t m, DT_OPTIONS(dt_make_options));

typedef struct dt_fill_options {
    const dt_site *site;
} dt_fill_options;
/* A tensor like another, filled with a number or with the value of a tensor without dims.
 *     fill.Scalar(Tensor self, Scalar value) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fill_sized(dt_tensor *self, dt_number value, DT_OPTIONS(dt_fill_options));

typedef struct dt_fill_tensor_options {
    const dt_site *site;
} dt_fill_tensor_options;
/* A tensor like another, filled with a number or with the value of a tensor without dims.
 *     fill.Tensor(Tensor self, Tensor value) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fill_tensor_sized(dt_tensor *self, dt_tensor *value, DT_OPTIONS(dt_fill_tensor_options));

typedef struct dt_fill_in_place_options {
    const dt_site *site;
} dt_fill_in_place_options;
/* Sets every element to a number, or to the value of a tensor without dims.
 *     fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fill_in_place_sized(dt_tensor *self, dt_number value, DT_OPTIONS(dt_fill_in_place_options));

typedef struct dt_fill_tensor_in_place_options {
    const dt_site *site;
} dt_fill_tensor_in_place_options;
/* Sets every element to a number, or to the value of a tensor without dims.
 *     fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fill_tensor_in_place_sized(dt_tensor *self, dt_tensor *value,
                                                DT_OPTIONS(dt_fill_tensor_in_place_options));

typedef struct dt_flatten_options {
    DT_OPTION(dt_opt_int, start_dim); /* default 0 */
    DT_OPTION(dt_opt_int, end_dim);   /* default -1 */
    const dt_site *site;
} dt_flatten_options;
/* Several dims as one.
 *     flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_flatten_sized(dt_tensor *self, DT_OPTIONS(dt_flatten_options));

typedef struct dt_flip_options {
    const dt_site *site;
} dt_flip_options;
/* The indices of dims in reverse order.
 *     flip(Tensor self, int[] dims) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_flip_sized(dt_tensor *self, dt_dims dims, DT_OPTIONS(dt_flip_options));

typedef struct dt_float_options {
    const dt_site *site;
} dt_float_options;
/* Converts to f32.
 *     float(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_float_sized(dt_tensor *self, DT_OPTIONS(dt_float_options));

typedef struct dt_floor_options {
    const dt_site *site;
} dt_floor_options;
/* Every element, rounded down to an integer.
 *     floor(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_floor_sized(dt_tensor *self, DT_OPTIONS(dt_floor_options));

typedef struct dt_floor_in_place_options {
    const dt_site *site;
} dt_floor_in_place_options;
/* Every element, rounded down to an integer, in place.
 *     floor_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_floor_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_floor_in_place_options));

typedef struct dt_floor_divide_options {
    const dt_site *site;
} dt_floor_divide_options;
/* Quotients, rounded down.
 *     floor_divide(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_floor_divide_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_floor_divide_options));

typedef struct dt_floor_divide_scalar_options {
    const dt_site *site;
} dt_floor_divide_scalar_options;
/* Quotients, rounded down.
 *     floor_divide.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_floor_divide_scalar_sized(dt_tensor *self, dt_number other,
                                               DT_OPTIONS(dt_floor_divide_scalar_options));

typedef struct dt_floor_divide_in_place_options {
    const dt_site *site;
} dt_floor_divide_in_place_options;
/* Quotients, rounded down, in place.
 *     floor_divide_(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_floor_divide_in_place_sized(dt_tensor *self, dt_tensor *other,
                                                 DT_OPTIONS(dt_floor_divide_in_place_options));

typedef struct dt_floor_divide_scalar_in_place_options {
    const dt_site *site;
} dt_floor_divide_scalar_in_place_options;
/* Quotients, rounded down, in place.
 *     floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_floor_divide_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                        DT_OPTIONS(dt_floor_divide_scalar_in_place_options));

typedef struct dt_fmax_options {
    const dt_site *site;
} dt_fmax_options;
/* The maximum of two elements, or the other one if one of them is NaN.
 *     fmax(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fmax_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_fmax_options));

typedef struct dt_fmin_options {
    const dt_site *site;
} dt_fmin_options;
/* The minimum of two elements, or the other one if one of them is NaN.
 *     fmin(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fmin_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_fmin_options));

typedef struct dt_fmod_options {
    const dt_site *site;
} dt_fmod_options;
/* The remainder of a division, with the sign of the dividend.
 *     fmod.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fmod_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_fmod_options));

typedef struct dt_fmod_scalar_options {
    const dt_site *site;
} dt_fmod_scalar_options;
/* The remainder of a division, with the sign of the dividend.
 *     fmod.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fmod_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_fmod_scalar_options));

typedef struct dt_fmod_in_place_options {
    const dt_site *site;
} dt_fmod_in_place_options;
/* The remainder of a division, with the sign of the dividend, in place.
 *     fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fmod_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_fmod_in_place_options));

typedef struct dt_fmod_scalar_in_place_options {
    const dt_site *site;
} dt_fmod_scalar_in_place_options;
/* The remainder of a division, with the sign of the dividend, in place.
 *     fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_fmod_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                DT_OPTIONS(dt_fmod_scalar_in_place_options));

typedef struct dt_frac_options {
    const dt_site *site;
} dt_frac_options;
/* Every element minus its integer part.
 *     frac(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_frac_sized(dt_tensor *self, DT_OPTIONS(dt_frac_options));

typedef struct dt_frac_in_place_options {
    const dt_site *site;
} dt_frac_in_place_options;
/* Every element minus its integer part, in place.
 *     frac_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_frac_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_frac_in_place_options));

/* A tensor filled with a number.
 *     full(int[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor
 * Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_full_sized(dt_ctx *ctx, dt_shape size, dt_number fill_value, DT_OPTIONS(dt_make_options));

typedef struct dt_full_like_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_full_like_options;
/* A tensor with the shape, dtype and placements of another, filled with a number.
 *     full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_full_like_sized(dt_tensor *self, dt_number fill_value, DT_OPTIONS(dt_full_like_options));

typedef struct dt_gather_options {
    const dt_site *site;
} dt_gather_options;
/* Picks an element along a dim for each index.
 *     gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_gather_sized(dt_tensor *self, int64_t dim, dt_tensor *index, DT_OPTIONS(dt_gather_options));

typedef struct dt_gather_backward_options {
    const dt_site *site;
} dt_gather_backward_options;
/* The gradient of gather: elements of the gradient, added at their indices along a dim.
 *     gather_backward(Tensor grad, Tensor index, int[] sizes, int dim) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_gather_backward_sized(dt_tensor *grad, dt_tensor *index, dt_shape sizes, int64_t dim,
                                           DT_OPTIONS(dt_gather_backward_options));

typedef struct dt_ge_options {
    const dt_site *site;
} dt_ge_options;
/* Whether elements are at least those of a tensor, or a number.
 *     ge.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ge_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_ge_options));

typedef struct dt_ge_scalar_options {
    const dt_site *site;
} dt_ge_scalar_options;
/* Whether elements are at least those of a tensor, or a number.
 *     ge.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ge_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_ge_scalar_options));

typedef struct dt_ge_in_place_options {
    const dt_site *site;
} dt_ge_in_place_options;
/* Whether elements are at least those of a tensor, or a number, in place.
 *     ge_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ge_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_ge_in_place_options));

typedef struct dt_ge_scalar_in_place_options {
    const dt_site *site;
} dt_ge_scalar_in_place_options;
/* Whether elements are at least those of a tensor, or a number, in place.
 *     ge_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ge_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                              DT_OPTIONS(dt_ge_scalar_in_place_options));

typedef struct dt_gelu_options {
    const char *approximate; /* default none */
    const dt_site *site;
} dt_gelu_options;
/* Every element times its normal cumulative distribution function; approximate="tanh" is faster.
 *     gelu(Tensor self, *, str approximate="none") -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_gelu_sized(dt_tensor *self, DT_OPTIONS(dt_gelu_options));

typedef struct dt_gelu_backward_options {
    const char *approximate; /* default none */
    const dt_site *site;
} dt_gelu_backward_options;
/* The gradient of gelu.
 *     gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_gelu_backward_sized(dt_tensor *grad_output, dt_tensor *self,
                                         DT_OPTIONS(dt_gelu_backward_options));

typedef struct dt_geqrf_options {
    const dt_site *site;
} dt_geqrf_options;
/* The outputs; all NULL after an error. */
typedef struct dt_geqrf_result {
    dt_tensor *a, *tau;
} dt_geqrf_result;
/* QR factors of matrices as LAPACK stores them: R, and below its diagonal Householder reflectors.
 *     geqrf(Tensor self) -> (Tensor a, Tensor tau)
 * Collective where inputs move, else Local. */
DT_API dt_geqrf_result dt_geqrf_sized(dt_tensor *self, DT_OPTIONS(dt_geqrf_options));

typedef struct dt_glu_options {
    DT_OPTION(dt_opt_int, dim); /* default -1 */
    const dt_site *site;
} dt_glu_options;
/* The first half of a dim times the sigmoid of the second.
 *     glu(Tensor input, int dim=-1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_glu_sized(dt_tensor *input, DT_OPTIONS(dt_glu_options));

typedef struct dt_group_norm_options {
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_opt_real, eps); /* default 1e-05 */
    const dt_site *site;
} dt_group_norm_options;
/* Normalizes groups of channels of each instance, then scales and shifts each channel.
 *     group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) ->
 *         Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_group_norm_sized(dt_tensor *input, int64_t num_groups, DT_OPTIONS(dt_group_norm_options));

typedef struct dt_gt_options {
    const dt_site *site;
} dt_gt_options;
/* Whether elements are greater than those of a tensor, or a number.
 *     gt.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_gt_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_gt_options));

typedef struct dt_gt_scalar_options {
    const dt_site *site;
} dt_gt_scalar_options;
/* Whether elements are greater than those of a tensor, or a number.
 *     gt.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_gt_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_gt_scalar_options));

typedef struct dt_gt_in_place_options {
    const dt_site *site;
} dt_gt_in_place_options;
/* Whether elements are greater than those of a tensor, or a number, in place.
 *     gt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_gt_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_gt_in_place_options));

typedef struct dt_gt_scalar_in_place_options {
    const dt_site *site;
} dt_gt_scalar_in_place_options;
/* Whether elements are greater than those of a tensor, or a number, in place.
 *     gt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_gt_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                              DT_OPTIONS(dt_gt_scalar_in_place_options));

typedef struct dt_half_options {
    const dt_site *site;
} dt_half_options;
/* Converts to f16.
 *     half(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_half_sized(dt_tensor *self, DT_OPTIONS(dt_half_options));

typedef struct dt_hardshrink_options {
    DT_OPTION(dt_number, lambd); /* default 0.5 */
    const dt_site *site;
} dt_hardshrink_options;
/* Every element, or 0 if it is from -lambd to lambd.
 *     hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_hardshrink_sized(dt_tensor *self, DT_OPTIONS(dt_hardshrink_options));

typedef struct dt_hardsigmoid_options {
    const dt_site *site;
} dt_hardsigmoid_options;
/* (x + 3) / 6, limited to the range from 0 to 1.
 *     hardsigmoid(Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_hardsigmoid_sized(dt_tensor *input, DT_OPTIONS(dt_hardsigmoid_options));

typedef struct dt_hardsigmoid_in_place_options {
    const dt_site *site;
} dt_hardsigmoid_in_place_options;
/* (x + 3) / 6, limited to the range from 0 to 1, in place.
 *     hardsigmoid_(Tensor(a!) input) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_hardsigmoid_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_hardsigmoid_in_place_options));

typedef struct dt_hardswish_options {
    const dt_site *site;
} dt_hardswish_options;
/* x times the hard sigmoid of x.
 *     hardswish(Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_hardswish_sized(dt_tensor *input, DT_OPTIONS(dt_hardswish_options));

typedef struct dt_hardswish_in_place_options {
    const dt_site *site;
} dt_hardswish_in_place_options;
/* x times the hard sigmoid of x, in place.
 *     hardswish_(Tensor(a!) input) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_hardswish_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_hardswish_in_place_options));

typedef struct dt_hardtanh_options {
    DT_OPTION(dt_opt_real, min_val); /* default -1.0 */
    DT_OPTION(dt_opt_real, max_val); /* default 1.0 */
    const dt_site *site;
} dt_hardtanh_options;
/* Every element, limited to the range from min_val to max_val.
 *     hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_hardtanh_sized(dt_tensor *input, DT_OPTIONS(dt_hardtanh_options));

typedef struct dt_hardtanh_in_place_options {
    DT_OPTION(dt_opt_real, min_val); /* default -1.0 */
    DT_OPTION(dt_opt_real, max_val); /* default 1.0 */
    const dt_site *site;
} dt_hardtanh_in_place_options;
/* Every element, limited to the range from min_val to max_val, in place.
 *     hardtanh_(Tensor(a!) input, float min_val=-1.0, float max_val=1.0) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_hardtanh_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_hardtanh_in_place_options));

typedef struct dt_histc_options {
    const dt_site *site;
} dt_histc_options;
/* How many elements are in each of equal parts of a range, by default that of the finite elements.
 *     histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_histc_sized(dt_tensor *self, int64_t bins, dt_number min, dt_number max,
                                 DT_OPTIONS(dt_histc_options));

typedef struct dt_histc_tensor_options {
    const dt_site *site;
} dt_histc_tensor_options;
/* How many elements are in each of equal parts of a range, by default that of the finite elements.
 *     histc.Tensor(Tensor self, Tensor min, Tensor max, int bins) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_histc_tensor_sized(dt_tensor *self, dt_tensor *min, dt_tensor *max, int64_t bins,
                                        DT_OPTIONS(dt_histc_tensor_options));

typedef struct dt_hstack_options {
    const dt_site *site;
} dt_hstack_options;
/* Concatenates tensors along dim 1, or vectors along dim 0.
 *     hstack(Tensor[] tensors) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_hstack_sized(dt_tensors tensors, DT_OPTIONS(dt_hstack_options));

typedef struct dt_huber_loss_options {
    DT_OPTION(const char *, reduction); /* default mean */
    DT_OPTION(dt_opt_real, delta);      /* default 1.0 */
    DT_OPTION(dt_tensor *, weight);
    const dt_site *site;
} dt_huber_loss_options;
/* Half of squared differences, linear above delta, or their mean or sum.
 *     huber_loss(Tensor input, Tensor target, str reduction="mean", float delta=1.0, Tensor? weight=None) ->
 *         Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_huber_loss_sized(dt_tensor *input, dt_tensor *target, DT_OPTIONS(dt_huber_loss_options));

typedef struct dt_index_options {
    const dt_site *site;
} dt_index_options;
/* The elements that a list of tensors of indices selects; none takes a dim whole.
 *     index.Tensor(Tensor self, Tensor?[] indices) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_sized(dt_tensor *self, dt_tensors indices, DT_OPTIONS(dt_index_options));

typedef struct dt_index_add_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_index_add_options;
/* Adds slices of a tensor, times alpha, at indices of a dim.
 *     index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_add_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                                     DT_OPTIONS(dt_index_add_options));

typedef struct dt_index_add_in_place_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_index_add_in_place_options;
/* Adds slices of a tensor, times alpha, at indices of a dim, in place.
 *     index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_add_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                                              DT_OPTIONS(dt_index_add_in_place_options));

typedef struct dt_index_backward_options {
    const dt_site *site;
} dt_index_backward_options;
/* The gradient of index: elements of the gradient, added at their indices.
 *     index_backward(Tensor grad, Tensor?[] indices, int[] sizes) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_backward_sized(dt_tensor *grad, dt_tensors indices, dt_shape sizes,
                                          DT_OPTIONS(dt_index_backward_options));

typedef struct dt_index_copy_options {
    const dt_site *site;
} dt_index_copy_options;
/* Writes slices of a tensor at indices of a dim.
 *     index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_copy_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                                      DT_OPTIONS(dt_index_copy_options));

typedef struct dt_index_copy_in_place_options {
    const dt_site *site;
} dt_index_copy_in_place_options;
/* Writes slices of a tensor at indices of a dim, in place.
 *     index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_copy_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                                               DT_OPTIONS(dt_index_copy_in_place_options));

typedef struct dt_index_fill_options {
    const dt_site *site;
} dt_index_fill_options;
/* Writes a number, or the value of a tensor without dims, at indices of a dim.
 *     index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_fill_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_number value,
                                      DT_OPTIONS(dt_index_fill_options));

typedef struct dt_index_fill_tensor_options {
    const dt_site *site;
} dt_index_fill_tensor_options;
/* Writes a number, or the value of a tensor without dims, at indices of a dim.
 *     index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_fill_tensor_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *value,
                                             DT_OPTIONS(dt_index_fill_tensor_options));

typedef struct dt_index_fill_in_place_options {
    const dt_site *site;
} dt_index_fill_in_place_options;
/* Writes a number, or the value of a tensor without dims, at indices of a dim, in place.
 *     index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_fill_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_number value,
                                               DT_OPTIONS(dt_index_fill_in_place_options));

typedef struct dt_index_fill_tensor_in_place_options {
    const dt_site *site;
} dt_index_fill_tensor_in_place_options;
/* Writes a number, or the value of a tensor without dims, at indices of a dim, in place.
 *     index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_fill_tensor_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index,
                                                      dt_tensor *value,
                                                      DT_OPTIONS(dt_index_fill_tensor_in_place_options));

typedef struct dt_index_put_options {
    bool accumulate;
    const dt_site *site;
} dt_index_put_options;
/* Writes or adds values to the elements that indices or a mask select.
 *     index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_put_sized(dt_tensor *self, dt_tensors indices, dt_tensor *values,
                                     DT_OPTIONS(dt_index_put_options));

typedef struct dt_index_put_in_place_options {
    bool accumulate;
    const dt_site *site;
} dt_index_put_in_place_options;
/* Writes or adds values to the elements that indices or a mask select, in place.
 *     index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_put_in_place_sized(dt_tensor *self, dt_tensors indices, dt_tensor *values,
                                              DT_OPTIONS(dt_index_put_in_place_options));

typedef struct dt_index_reduce_options {
    DT_OPTION(dt_opt_bool, include_self); /* default true */
    const dt_site *site;
} dt_index_reduce_options;
/* Reduces slices at indices of a dim, by prod, mean, amax or amin.
 *     index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) ->
 *         Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_reduce_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                                        const char *reduce, DT_OPTIONS(dt_index_reduce_options));

typedef struct dt_index_reduce_in_place_options {
    DT_OPTION(dt_opt_bool, include_self); /* default true */
    const dt_site *site;
} dt_index_reduce_in_place_options;
/* Reduces slices at indices of a dim, by prod, mean, amax or amin, in place.
 *     index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, bool
 *         include_self=True) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_reduce_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                                                 const char *reduce, DT_OPTIONS(dt_index_reduce_in_place_options));

typedef struct dt_index_select_options {
    const dt_site *site;
} dt_index_select_options;
/* Picks slices of a dim by a list of indices.
 *     index_select(Tensor self, int dim, Tensor index) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_select_sized(dt_tensor *self, int64_t dim, dt_tensor *index,
                                        DT_OPTIONS(dt_index_select_options));

typedef struct dt_index_select_backward_options {
    const dt_site *site;
} dt_index_select_backward_options;
/* The gradient of index_select: slices of the gradient, added at their indices.
 *     index_select_backward(Tensor grad, Tensor index, int[] self_sizes, int dim) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_index_select_backward_sized(dt_tensor *grad, dt_tensor *index, dt_shape self_sizes, int64_t dim,
                                                 DT_OPTIONS(dt_index_select_backward_options));

typedef struct dt_inner_options {
    const dt_site *site;
} dt_inner_options;
/* Sums of products over the last dims of two tensors.
 *     inner(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_inner_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_inner_options));

typedef struct dt_instance_norm_options {
    DT_OPTION(dt_tensor *, running_mean);
    DT_OPTION(dt_tensor *, running_var);
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_opt_bool, use_input_stats); /* default true */
    DT_OPTION(dt_opt_real, momentum);        /* default 0.1 */
    DT_OPTION(dt_opt_real, eps);             /* default 1e-05 */
    const dt_site *site;
} dt_instance_norm_options;
/* Normalizes each channel of each instance over space, or with running statistics.
 *     instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None,
 *         Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_instance_norm_sized(dt_tensor *input, DT_OPTIONS(dt_instance_norm_options));

typedef struct dt_int_options {
    const dt_site *site;
} dt_int_options;
/* Converts to i32.
 *     int(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_int_sized(dt_tensor *self, DT_OPTIONS(dt_int_options));

typedef struct dt_interpolate_options {
    DT_OPTION(dt_shape, size);
    DT_OPTION(dt_reals, scale_factor);
    DT_OPTION(const char *, mode); /* default nearest */
    DT_OPTION(dt_opt_bool, align_corners);
    DT_OPTION(dt_opt_bool, recompute_scale_factor);
    DT_OPTION(bool, antialias);
    const dt_site *site;
} dt_interpolate_options;
/* Images of another size: nearest, linear, bilinear, trilinear, bicubic or area.
 *     interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode="nearest", bool?
 *         align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_interpolate_sized(dt_tensor *input, DT_OPTIONS(dt_interpolate_options));

typedef struct dt_isclose_options {
    DT_OPTION(dt_opt_real, rtol); /* default 1e-05 */
    DT_OPTION(dt_opt_real, atol); /* default 1e-08 */
    DT_OPTION(bool, equal_nan);
    const dt_site *site;
} dt_isclose_options;
/* Whether elements differ by at most atol + rtol times the magnitude of the other.
 *     isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_isclose_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_isclose_options));

typedef struct dt_isfinite_options {
    const dt_site *site;
} dt_isfinite_options;
/* Whether elements are neither infinite nor NaN.
 *     isfinite(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_isfinite_sized(dt_tensor *self, DT_OPTIONS(dt_isfinite_options));

typedef struct dt_isinf_options {
    const dt_site *site;
} dt_isinf_options;
/* Whether elements are infinite.
 *     isinf(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_isinf_sized(dt_tensor *self, DT_OPTIONS(dt_isinf_options));

typedef struct dt_isnan_options {
    const dt_site *site;
} dt_isnan_options;
/* Whether elements are NaN.
 *     isnan(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_isnan_sized(dt_tensor *self, DT_OPTIONS(dt_isnan_options));

typedef struct dt_kl_div_options {
    const char *reduction; /* default mean */
    bool log_target;
    const dt_site *site;
} dt_kl_div_options;
/* Kullback-Leibler divergence of log-probabilities from probabilities, or its mean or sum.
 *     kl_div(Tensor input, Tensor target, str reduction="mean", bool log_target=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_kl_div_sized(dt_tensor *input, dt_tensor *target, DT_OPTIONS(dt_kl_div_options));

typedef struct dt_kron_options {
    const dt_site *site;
} dt_kron_options;
/* The Kronecker product: every element of the first tensor times the second.
 *     kron(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_kron_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_kron_options));

typedef struct dt_kthvalue_options {
    DT_OPTION(dt_opt_int, dim); /* default -1 */
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_kthvalue_options;
/* The outputs; all NULL after an error. */
typedef struct dt_kthvalue_result {
    dt_tensor *values, *indices;
} dt_kthvalue_result;
/* The k-th smallest element along a dim, with its position.
 *     kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_kthvalue_result dt_kthvalue_sized(dt_tensor *self, int64_t k, DT_OPTIONS(dt_kthvalue_options));

typedef struct dt_l1_loss_options {
    const char *reduction; /* default mean */
    dt_tensor *weight;
    const dt_site *site;
} dt_l1_loss_options;
/* Absolute differences, or their mean or sum.
 *     l1_loss(Tensor input, Tensor target, str reduction="mean", Tensor? weight=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_l1_loss_sized(dt_tensor *input, dt_tensor *target, DT_OPTIONS(dt_l1_loss_options));

typedef struct dt_layer_norm_options {
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_opt_real, eps); /* default 1e-05 */
    const dt_site *site;
} dt_layer_norm_options;
/* Normalizes the last dims to mean 0 and variance 1, then scales by weight and adds bias.
 *     layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05)
 *         -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_layer_norm_sized(dt_tensor *input, dt_shape normalized_shape, DT_OPTIONS(dt_layer_norm_options));

typedef struct dt_le_options {
    const dt_site *site;
} dt_le_options;
/* Whether elements are at most those of a tensor, or a number.
 *     le.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_le_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_le_options));

typedef struct dt_le_scalar_options {
    const dt_site *site;
} dt_le_scalar_options;
/* Whether elements are at most those of a tensor, or a number.
 *     le.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_le_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_le_scalar_options));

typedef struct dt_le_in_place_options {
    const dt_site *site;
} dt_le_in_place_options;
/* Whether elements are at most those of a tensor, or a number, in place.
 *     le_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_le_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_le_in_place_options));

typedef struct dt_le_scalar_in_place_options {
    const dt_site *site;
} dt_le_scalar_in_place_options;
/* Whether elements are at most those of a tensor, or a number, in place.
 *     le_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_le_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                              DT_OPTIONS(dt_le_scalar_in_place_options));

typedef struct dt_leaky_relu_options {
    DT_OPTION(dt_opt_real, negative_slope); /* default 0.01 */
    const dt_site *site;
} dt_leaky_relu_options;
/* x, or negative_slope times x where x is negative.
 *     leaky_relu(Tensor input, float negative_slope=0.01) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_leaky_relu_sized(dt_tensor *input, DT_OPTIONS(dt_leaky_relu_options));

typedef struct dt_leaky_relu_in_place_options {
    DT_OPTION(dt_opt_real, negative_slope); /* default 0.01 */
    const dt_site *site;
} dt_leaky_relu_in_place_options;
/* x, or negative_slope times x where x is negative, in place.
 *     leaky_relu_(Tensor(a!) input, float negative_slope=0.01) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_leaky_relu_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_leaky_relu_in_place_options));

typedef struct dt_lerp_options {
    const dt_site *site;
} dt_lerp_options;
/* Moves elements toward those of another tensor by a weight: self + weight (end - self).
 *     lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_lerp_sized(dt_tensor *self, dt_tensor *end, dt_number weight, DT_OPTIONS(dt_lerp_options));

typedef struct dt_lerp_tensor_options {
    const dt_site *site;
} dt_lerp_tensor_options;
/* Moves elements toward those of another tensor by a weight: self + weight (end - self).
 *     lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_lerp_tensor_sized(dt_tensor *self, dt_tensor *end, dt_tensor *weight,
                                       DT_OPTIONS(dt_lerp_tensor_options));

typedef struct dt_lerp_in_place_options {
    const dt_site *site;
} dt_lerp_in_place_options;
/* Moves elements toward those of another tensor by a weight: self + weight (end - self), in place.
 *     lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_lerp_in_place_sized(dt_tensor *self, dt_tensor *end, dt_number weight,
                                         DT_OPTIONS(dt_lerp_in_place_options));

typedef struct dt_lerp_tensor_in_place_options {
    const dt_site *site;
} dt_lerp_tensor_in_place_options;
/* Moves elements toward those of another tensor by a weight: self + weight (end - self), in place.
 *     lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_lerp_tensor_in_place_sized(dt_tensor *self, dt_tensor *end, dt_tensor *weight,
                                                DT_OPTIONS(dt_lerp_tensor_in_place_options));

typedef struct dt_linalg_cholesky_options {
    bool upper;
    const dt_site *site;
} dt_linalg_cholesky_options;
/* Cholesky factors of Hermitian positive definite matrices: L Lᴴ, or Uᴴ U.
 *     linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_cholesky_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_cholesky_options));

typedef struct dt_linalg_cholesky_ex_options {
    bool upper;
    bool check_errors;
    const dt_site *site;
} dt_linalg_cholesky_ex_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_cholesky_ex_result {
    dt_tensor *L, *info;
} dt_linalg_cholesky_ex_result;
/* Cholesky factors of matrices, and where they have none the order of the leading minor.
 *     linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_cholesky_ex_result dt_linalg_cholesky_ex_sized(dt_tensor *self,
                                                                DT_OPTIONS(dt_linalg_cholesky_ex_options));

typedef struct dt_linalg_cond_options {
    DT_OPTION(dt_number, p);
    const dt_site *site;
} dt_linalg_cond_options;
/* Condition numbers of matrices in a norm, by default the quotient of the extreme singular values.
 *     linalg_cond(Tensor self, Scalar? p=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_cond_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_cond_options));

typedef struct dt_linalg_cond_p_str_options {
    const dt_site *site;
} dt_linalg_cond_p_str_options;
/* Condition numbers of matrices in a norm, by default the quotient of the extreme singular values.
 *     linalg_cond.p_str(Tensor self, str p) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_cond_p_str_sized(dt_tensor *self, const char *p,
                                             DT_OPTIONS(dt_linalg_cond_p_str_options));

typedef struct dt_linalg_cross_options {
    DT_OPTION(dt_opt_int, dim); /* default -1 */
    const dt_site *site;
} dt_linalg_cross_options;
/* Cross products of vectors of 3 elements along a dim.
 *     linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_cross_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_linalg_cross_options));

typedef struct dt_linalg_det_options {
    const dt_site *site;
} dt_linalg_det_options;
/* Determinants of matrices.
 *     linalg_det(Tensor A) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_det_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_det_options));

typedef struct dt_linalg_diagonal_options {
    DT_OPTION(dt_opt_int, offset); /* default 0 */
    DT_OPTION(dt_opt_int, dim1);   /* default -2 */
    DT_OPTION(dt_opt_int, dim2);   /* default -1 */
    const dt_site *site;
} dt_linalg_diagonal_options;
/* The diagonals of matrices, as diagonal of the last two dims.
 *     linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_diagonal_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_diagonal_options));

typedef struct dt_linalg_eig_options {
    const dt_site *site;
} dt_linalg_eig_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_eig_result {
    dt_tensor *eigenvalues, *eigenvectors;
} dt_linalg_eig_result;
/* Eigenvalues and eigenvectors of square matrices, complex ones also of real matrices.
 *     linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_eig_result dt_linalg_eig_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_eig_options));

typedef struct dt_linalg_eigh_options {
    const char *UPLO; /* default L */
    const dt_site *site;
} dt_linalg_eigh_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_eigh_result {
    dt_tensor *eigenvalues, *eigenvectors;
} dt_linalg_eigh_result;
/* Eigenvalues, ascending, and eigenvectors of Hermitian matrices; one triangle is read.
 *     linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_eigh_result dt_linalg_eigh_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_eigh_options));

typedef struct dt_linalg_eigvals_options {
    const dt_site *site;
} dt_linalg_eigvals_options;
/* Eigenvalues of square matrices, complex ones also of real matrices.
 *     linalg_eigvals(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_eigvals_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_eigvals_options));

typedef struct dt_linalg_eigvalsh_options {
    const char *UPLO; /* default L */
    const dt_site *site;
} dt_linalg_eigvalsh_options;
/* Eigenvalues of Hermitian matrices, ascending.
 *     linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_eigvalsh_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_eigvalsh_options));

typedef struct dt_linalg_householder_product_options {
    const dt_site *site;
} dt_linalg_householder_product_options;
/* The first columns of a product of Householder reflectors, which geqrf makes.
 *     linalg_householder_product(Tensor input, Tensor tau) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_householder_product_sized(dt_tensor *input, dt_tensor *tau,
                                                      DT_OPTIONS(dt_linalg_householder_product_options));

typedef struct dt_linalg_inv_options {
    const dt_site *site;
} dt_linalg_inv_options;
/* Inverses of matrices.
 *     linalg_inv(Tensor A) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_inv_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_inv_options));

typedef struct dt_linalg_inv_ex_options {
    bool check_errors;
    const dt_site *site;
} dt_linalg_inv_ex_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_inv_ex_result {
    dt_tensor *inverse, *info;
} dt_linalg_inv_ex_result;
/* Inverses of matrices, and the first zero of the diagonal of U of singular ones.
 *     linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_inv_ex_result dt_linalg_inv_ex_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_inv_ex_options));

typedef struct dt_linalg_ldl_factor_options {
    bool hermitian;
    const dt_site *site;
} dt_linalg_ldl_factor_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_ldl_factor_result {
    dt_tensor *LD, *pivots;
} dt_linalg_ldl_factor_result;
/* LDL factors of symmetric or Hermitian matrices in one tensor, and their pivots.
 *     linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_ldl_factor_result dt_linalg_ldl_factor_sized(dt_tensor *self,
                                                              DT_OPTIONS(dt_linalg_ldl_factor_options));

typedef struct dt_linalg_ldl_factor_ex_options {
    bool hermitian;
    bool check_errors;
    const dt_site *site;
} dt_linalg_ldl_factor_ex_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_ldl_factor_ex_result {
    dt_tensor *LD, *pivots, *info;
} dt_linalg_ldl_factor_ex_result;
/* LDL factors of symmetric or Hermitian matrices in one tensor, pivots, and the first zero of D.
 *     linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor
 *         pivots, Tensor info)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_ldl_factor_ex_result dt_linalg_ldl_factor_ex_sized(dt_tensor *self,
                                                                    DT_OPTIONS(dt_linalg_ldl_factor_ex_options));

typedef struct dt_linalg_ldl_solve_options {
    bool hermitian;
    const dt_site *site;
} dt_linalg_ldl_solve_options;
/* X with A X = B, by the LDL factors of A.
 *     linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_ldl_solve_sized(dt_tensor *LD, dt_tensor *pivots, dt_tensor *B,
                                            DT_OPTIONS(dt_linalg_ldl_solve_options));

typedef struct dt_linalg_lstsq_options {
    DT_OPTION(dt_opt_real, rcond);
    DT_OPTION(const char *, driver);
    const dt_site *site;
} dt_linalg_lstsq_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_lstsq_result {
    dt_tensor *solution, *residuals, *rank, *singular_values;
} dt_linalg_lstsq_result;
/* Solutions of least squares by singular values; a driver decides what else is returned.
 *     linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor
 *         residuals, Tensor rank, Tensor singular_values)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_lstsq_result dt_linalg_lstsq_sized(dt_tensor *self, dt_tensor *b,
                                                    DT_OPTIONS(dt_linalg_lstsq_options));

typedef struct dt_linalg_lu_options {
    DT_OPTION(dt_opt_bool, pivot); /* default true */
    const dt_site *site;
} dt_linalg_lu_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_lu_result {
    dt_tensor *P, *L, *U;
} dt_linalg_lu_result;
/* Factors A = P L U of matrices: a permutation, a lower and an upper triangular matrix.
 *     linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_lu_result dt_linalg_lu_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_lu_options));

typedef struct dt_linalg_lu_factor_options {
    DT_OPTION(dt_opt_bool, pivot); /* default true */
    const dt_site *site;
} dt_linalg_lu_factor_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_lu_factor_result {
    dt_tensor *LU, *pivots;
} dt_linalg_lu_factor_result;
/* LU factors of matrices in one tensor, and their pivots.
 *     linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_lu_factor_result dt_linalg_lu_factor_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_lu_factor_options));

typedef struct dt_linalg_lu_factor_ex_options {
    DT_OPTION(dt_opt_bool, pivot); /* default true */
    DT_OPTION(bool, check_errors);
    const dt_site *site;
} dt_linalg_lu_factor_ex_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_lu_factor_ex_result {
    dt_tensor *LU, *pivots, *info;
} dt_linalg_lu_factor_ex_result;
/* LU factors of matrices in one tensor, their pivots, and the first zero of the diagonal of U.
 *     linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots,
 *         Tensor info)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_lu_factor_ex_result dt_linalg_lu_factor_ex_sized(dt_tensor *A,
                                                                  DT_OPTIONS(dt_linalg_lu_factor_ex_options));

typedef struct dt_linalg_lu_solve_options {
    DT_OPTION(dt_opt_bool, left); /* default true */
    DT_OPTION(bool, adjoint);
    const dt_site *site;
} dt_linalg_lu_solve_options;
/* X with A X = B, or X A = B, by the LU factors of A; with adjoint of its adjoint.
 *     linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_lu_solve_sized(dt_tensor *LU, dt_tensor *pivots, dt_tensor *B,
                                           DT_OPTIONS(dt_linalg_lu_solve_options));

typedef struct dt_linalg_matrix_exp_options {
    const dt_site *site;
} dt_linalg_matrix_exp_options;
/* As matrix_exp.
 *     linalg_matrix_exp(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_matrix_exp_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_matrix_exp_options));

typedef struct dt_linalg_matrix_norm_options {
    DT_OPTION(dt_dims, dim); /* default [-2,-1] */
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_linalg_matrix_norm_options;
/* Norm of matrices, whose rows and columns are two dims.
 *     linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType?
 *         dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_matrix_norm_sized(dt_tensor *self, dt_number ord,
                                              DT_OPTIONS(dt_linalg_matrix_norm_options));

typedef struct dt_linalg_matrix_norm_str_ord_options {
    DT_OPTION(const char *, ord); /* default fro */
    DT_OPTION(dt_dims, dim);      /* default [-2,-1] */
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_linalg_matrix_norm_str_ord_options;
/* Norm of matrices, whose rows and columns are two dims.
 *     linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], bool keepdim=False, *,
 *         ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_matrix_norm_str_ord_sized(dt_tensor *self,
                                                      DT_OPTIONS(dt_linalg_matrix_norm_str_ord_options));

typedef struct dt_linalg_matrix_power_options {
    const dt_site *site;
} dt_linalg_matrix_power_options;
/* Powers of matrices; for negative exponents, those of the inverse.
 *     linalg_matrix_power(Tensor self, int n) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_matrix_power_sized(dt_tensor *self, int64_t n,
                                               DT_OPTIONS(dt_linalg_matrix_power_options));

typedef struct dt_linalg_matrix_rank_options {
    DT_OPTION(dt_opt_real, atol);
    DT_OPTION(dt_opt_real, rtol);
    DT_OPTION(bool, hermitian);
    const dt_site *site;
} dt_linalg_matrix_rank_options;
/* Ranks of matrices: how many singular values do not count as 0.
 *     linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool
 *         hermitian=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_matrix_rank_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_matrix_rank_options));

typedef struct dt_linalg_matrix_rank_tol_options {
    bool hermitian;
    const dt_site *site;
} dt_linalg_matrix_rank_tol_options;
/* Ranks of matrices: how many singular values do not count as 0.
 *     linalg_matrix_rank.tol(Tensor self, float tol, bool hermitian=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_matrix_rank_tol_sized(dt_tensor *self, double tol,
                                                  DT_OPTIONS(dt_linalg_matrix_rank_tol_options));

typedef struct dt_linalg_matrix_rank_tol_tensor_options {
    bool hermitian;
    const dt_site *site;
} dt_linalg_matrix_rank_tol_tensor_options;
/* Ranks of matrices: how many singular values do not count as 0.
 *     linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_matrix_rank_tol_tensor_sized(dt_tensor *input, dt_tensor *tol,
                                                         DT_OPTIONS(dt_linalg_matrix_rank_tol_tensor_options));

typedef struct dt_linalg_matrix_rank_atol_rtol_tensor_options {
    dt_tensor *atol;
    dt_tensor *rtol;
    bool hermitian;
    const dt_site *site;
} dt_linalg_matrix_rank_atol_rtol_tensor_options;
/* Ranks of matrices: how many singular values do not count as 0.
 *     linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool
 *         hermitian=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *
dt_linalg_matrix_rank_atol_rtol_tensor_sized(dt_tensor *input,
                                             DT_OPTIONS(dt_linalg_matrix_rank_atol_rtol_tensor_options));

typedef struct dt_linalg_multi_dot_options {
    const dt_site *site;
} dt_linalg_multi_dot_options;
/* The product of several matrices, in the order that takes the fewest multiplications.
 *     linalg_multi_dot(Tensor[] tensors) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_multi_dot_sized(dt_tensors tensors, DT_OPTIONS(dt_linalg_multi_dot_options));

typedef struct dt_linalg_norm_options {
    DT_OPTION(dt_number, ord);
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_linalg_norm_options;
/* Norm of vectors or of matrices.
 *     linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType?
 *         dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_norm_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_norm_options));

typedef struct dt_linalg_norm_ord_str_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_linalg_norm_ord_str_options;
/* Norm of vectors or of matrices.
 *     linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType?
 *         dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_norm_ord_str_sized(dt_tensor *self, const char *ord,
                                               DT_OPTIONS(dt_linalg_norm_ord_str_options));

typedef struct dt_linalg_pinv_options {
    DT_OPTION(dt_opt_real, atol);
    DT_OPTION(dt_opt_real, rtol);
    DT_OPTION(bool, hermitian);
    const dt_site *site;
} dt_linalg_pinv_options;
/* Pseudo-inverses of matrices, by singular values or, of Hermitian matrices, by eigenvalues.
 *     linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) ->
 *         Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_pinv_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_pinv_options));

typedef struct dt_linalg_pinv_rcond_options {
    bool hermitian;
    const dt_site *site;
} dt_linalg_pinv_rcond_options;
/* Pseudo-inverses of matrices, by singular values or, of Hermitian matrices, by eigenvalues.
 *     linalg_pinv.rcond(Tensor self, float rcond, bool hermitian=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_pinv_rcond_sized(dt_tensor *self, double rcond, DT_OPTIONS(dt_linalg_pinv_rcond_options));

typedef struct dt_linalg_pinv_tensor_options {
    dt_tensor *atol;
    dt_tensor *rtol;
    bool hermitian;
    const dt_site *site;
} dt_linalg_pinv_tensor_options;
/* Pseudo-inverses of matrices, by singular values or, of Hermitian matrices, by eigenvalues.
 *     linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False)
 *         -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_pinv_tensor_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_pinv_tensor_options));

typedef struct dt_linalg_pinv_rcond_tensor_options {
    bool hermitian;
    const dt_site *site;
} dt_linalg_pinv_rcond_tensor_options;
/* Pseudo-inverses of matrices, by singular values or, of Hermitian matrices, by eigenvalues.
 *     linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_pinv_rcond_tensor_sized(dt_tensor *self, dt_tensor *rcond,
                                                    DT_OPTIONS(dt_linalg_pinv_rcond_tensor_options));

typedef struct dt_linalg_qr_options {
    const char *mode; /* default reduced */
    const dt_site *site;
} dt_linalg_qr_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_qr_result {
    dt_tensor *Q, *R;
} dt_linalg_qr_result;
/* QR factors of matrices: an orthogonal, or unitary, matrix and an upper triangular one.
 *     linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_qr_result dt_linalg_qr_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_qr_options));

typedef struct dt_linalg_slogdet_options {
    const dt_site *site;
} dt_linalg_slogdet_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_slogdet_result {
    dt_tensor *sign, *logabsdet;
} dt_linalg_slogdet_result;
/* Signs of determinants and the logarithms of their magnitudes.
 *     linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_slogdet_result dt_linalg_slogdet_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_slogdet_options));

typedef struct dt_linalg_solve_options {
    DT_OPTION(dt_opt_bool, left); /* default true */
    const dt_site *site;
} dt_linalg_solve_options;
/* X with A X = B, or X A = B.
 *     linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_solve_sized(dt_tensor *A, dt_tensor *B, DT_OPTIONS(dt_linalg_solve_options));

typedef struct dt_linalg_solve_ex_options {
    DT_OPTION(dt_opt_bool, left); /* default true */
    DT_OPTION(bool, check_errors);
    const dt_site *site;
} dt_linalg_solve_ex_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_solve_ex_result {
    dt_tensor *result, *info;
} dt_linalg_solve_ex_result;
/* X with A X = B, or X A = B, and the first zero of the diagonal of U of singular matrices.
 *     linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor
 *         info)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_solve_ex_result dt_linalg_solve_ex_sized(dt_tensor *A, dt_tensor *B,
                                                          DT_OPTIONS(dt_linalg_solve_ex_options));

typedef struct dt_linalg_solve_triangular_options {
    DT_OPTION(dt_opt_bool, left); /* default true */
    DT_OPTION(bool, unitriangular);
    const dt_site *site;
} dt_linalg_solve_triangular_options;
/* X with A X = B for a triangular A, or X A = B.
 *     linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False)
 *         -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_solve_triangular_sized(dt_tensor *self, dt_tensor *B, bool upper,
                                                   DT_OPTIONS(dt_linalg_solve_triangular_options));

typedef struct dt_linalg_svd_options {
    DT_OPTION(dt_opt_bool, full_matrices); /* default true */
    const dt_site *site;
} dt_linalg_svd_options;
/* The outputs; all NULL after an error. */
typedef struct dt_linalg_svd_result {
    dt_tensor *U, *S, *Vh;
} dt_linalg_svd_result;
/* Singular value decomposition of matrices, with the values in descending order.
 *     linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)
 * Collective where inputs move, else Local. */
DT_API dt_linalg_svd_result dt_linalg_svd_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_svd_options));

typedef struct dt_linalg_svdvals_options {
    const dt_site *site;
} dt_linalg_svdvals_options;
/* Singular values of matrices, in descending order.
 *     linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_svdvals_sized(dt_tensor *A, DT_OPTIONS(dt_linalg_svdvals_options));

typedef struct dt_linalg_tensorinv_options {
    DT_OPTION(dt_opt_int, ind); /* default 2 */
    const dt_site *site;
} dt_linalg_tensorinv_options;
/* The inverse of tensordot(A, X) in X, where the first `ind` dims of A are those of the product.
 *     linalg_tensorinv(Tensor self, int ind=2) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_tensorinv_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_tensorinv_options));

typedef struct dt_linalg_tensorsolve_options {
    DT_OPTION(dt_dims, dims);
    const dt_site *site;
} dt_linalg_tensorsolve_options;
/* X with tensordot(A, X) = B, where A has the dims of B and then those of X.
 *     linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_tensorsolve_sized(dt_tensor *self, dt_tensor *other,
                                              DT_OPTIONS(dt_linalg_tensorsolve_options));

typedef struct dt_linalg_vander_options {
    DT_OPTION(dt_opt_int, N);
    const dt_site *site;
} dt_linalg_vander_options;
/* Vandermonde matrices: powers of the elements of vectors, from 0 on.
 *     linalg_vander(Tensor x, *, int? N=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_vander_sized(dt_tensor *x, DT_OPTIONS(dt_linalg_vander_options));

typedef struct dt_linalg_vecdot_options {
    DT_OPTION(dt_opt_int, dim); /* default -1 */
    const dt_site *site;
} dt_linalg_vecdot_options;
/* Inner products of vectors along a dim; the first is conjugated.
 *     linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_vecdot_sized(dt_tensor *x, dt_tensor *y, DT_OPTIONS(dt_linalg_vecdot_options));

typedef struct dt_linalg_vector_norm_options {
    DT_OPTION(dt_number, ord); /* default 2 */
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_linalg_vector_norm_options;
/* Norm of a vector, along all dims or along some: (sum of |x|^ord)^(1/ord), inf the largest |x|.
 *     linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType?
 *         dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linalg_vector_norm_sized(dt_tensor *self, DT_OPTIONS(dt_linalg_vector_norm_options));

typedef struct dt_linear_options {
    dt_tensor *bias;
    const dt_site *site;
} dt_linear_options;
/* Product with a transposed weight matrix, plus a bias.
 *     linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linear_sized(dt_tensor *input, dt_tensor *weight, DT_OPTIONS(dt_linear_options));

typedef struct dt_linear_recurrence_options {
    bool transposed;
    const dt_site *site;
} dt_linear_recurrence_options;
/* Each term plus its factor times the result before it; transposed: the next factor and result.
 *     linear_recurrence(Tensor term, Tensor factor, int dim, *, bool transposed=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linear_recurrence_sized(dt_tensor *term, dt_tensor *factor, int64_t dim,
                                             DT_OPTIONS(dt_linear_recurrence_options));

typedef struct dt_linear_weight_backward_options {
    const dt_site *site;
} dt_linear_weight_backward_options;
/* Sum of the outer products of the rows of two tensors: the gradient of a linear layer's weights.
 *     linear_weight_backward(Tensor grad_output, Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_linear_weight_backward_sized(dt_tensor *grad_output, dt_tensor *input,
                                                  DT_OPTIONS(dt_linear_weight_backward_options));

/* Evenly spaced values, including both ends.
 *     linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None) -> Tensor
 * Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_linspace_sized(dt_ctx *ctx, dt_number start, dt_number end, int64_t steps,
                                    DT_OPTIONS(dt_make_options));

typedef struct dt_lion_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.99 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_lion_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_lion_in_place_result {
    dt_tensor *self, *exp_avg;
} dt_lion_in_place_result;
/* One step of Lion: writes a parameter and its state.
 *     lion_(Tensor(a!) self, Tensor grad, Tensor(b!) exp_avg, *, float lr, float beta1=0.9, float beta2=0.99,
 *         float weight_decay=0, bool maximize=False, float grad_scale=1) -> (Tensor(a!) self, Tensor(b!) exp_avg)
 * Collective where inputs move, else Local. */
DT_API dt_lion_in_place_result dt_lion_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg, double lr,
                                                      DT_OPTIONS(dt_lion_in_place_options));

typedef struct dt_local_response_norm_options {
    DT_OPTION(dt_opt_real, alpha); /* default 0.0001 */
    DT_OPTION(dt_opt_real, beta);  /* default 0.75 */
    DT_OPTION(dt_opt_real, k);     /* default 1.0 */
    const dt_site *site;
} dt_local_response_norm_options;
/* Divides elements by a power of the mean of squares of the channels around them.
 *     local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_local_response_norm_sized(dt_tensor *input, int64_t size,
                                               DT_OPTIONS(dt_local_response_norm_options));

typedef struct dt_log_options {
    const dt_site *site;
} dt_log_options;
/* The natural logarithm of every element.
 *     log(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log_sized(dt_tensor *self, DT_OPTIONS(dt_log_options));

typedef struct dt_log10_options {
    const dt_site *site;
} dt_log10_options;
/* The logarithm of every element to base 10.
 *     log10(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log10_sized(dt_tensor *self, DT_OPTIONS(dt_log10_options));

typedef struct dt_log10_in_place_options {
    const dt_site *site;
} dt_log10_in_place_options;
/* The logarithm of every element to base 10, in place.
 *     log10_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log10_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_log10_in_place_options));

typedef struct dt_log1p_options {
    const dt_site *site;
} dt_log1p_options;
/* The natural logarithm of 1 plus every element, exact for small ones.
 *     log1p(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log1p_sized(dt_tensor *self, DT_OPTIONS(dt_log1p_options));

typedef struct dt_log1p_in_place_options {
    const dt_site *site;
} dt_log1p_in_place_options;
/* The natural logarithm of 1 plus every element, exact for small ones, in place.
 *     log1p_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log1p_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_log1p_in_place_options));

typedef struct dt_log2_options {
    const dt_site *site;
} dt_log2_options;
/* The logarithm of every element to base 2.
 *     log2(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log2_sized(dt_tensor *self, DT_OPTIONS(dt_log2_options));

typedef struct dt_log2_in_place_options {
    const dt_site *site;
} dt_log2_in_place_options;
/* The logarithm of every element to base 2, in place.
 *     log2_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log2_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_log2_in_place_options));

typedef struct dt_log_in_place_options {
    const dt_site *site;
} dt_log_in_place_options;
/* The natural logarithm of every element, in place.
 *     log_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_log_in_place_options));

typedef struct dt_log_softmax_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_log_softmax_options;
/* Logarithm of the softmax along a dim.
 *     log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_log_softmax_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_log_softmax_options));

typedef struct dt_logaddexp_options {
    const dt_site *site;
} dt_logaddexp_options;
/* log(exp(x) + exp(y)) of two elements, without overflow.
 *     logaddexp(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logaddexp_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_logaddexp_options));

typedef struct dt_logcumsumexp_options {
    const dt_site *site;
} dt_logcumsumexp_options;
/* Logarithm of the running sum of exponentials along a dim, without overflow.
 *     logcumsumexp(Tensor self, int dim) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logcumsumexp_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_logcumsumexp_options));

typedef struct dt_logcumsumexp_backward_options {
    const dt_site *site;
} dt_logcumsumexp_backward_options;
/* The gradient of logcumsumexp.
 *     logcumsumexp_backward(Tensor grad_output, Tensor self, Tensor logsums, int dim) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logcumsumexp_backward_sized(dt_tensor *grad_output, dt_tensor *self, dt_tensor *logsums,
                                                 int64_t dim, DT_OPTIONS(dt_logcumsumexp_backward_options));

typedef struct dt_logdet_options {
    const dt_site *site;
} dt_logdet_options;
/* Logarithms of determinants: NaN for negative ones, complex for complex ones.
 *     logdet(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logdet_sized(dt_tensor *self, DT_OPTIONS(dt_logdet_options));

typedef struct dt_logical_and_options {
    const dt_site *site;
} dt_logical_and_options;
/* Whether both elements are not 0.
 *     logical_and(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logical_and_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_logical_and_options));

typedef struct dt_logical_and_in_place_options {
    const dt_site *site;
} dt_logical_and_in_place_options;
/* Whether both elements are not 0, in place.
 *     logical_and_(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logical_and_in_place_sized(dt_tensor *self, dt_tensor *other,
                                                DT_OPTIONS(dt_logical_and_in_place_options));

typedef struct dt_logical_not_options {
    const dt_site *site;
} dt_logical_not_options;
/* Whether elements are 0.
 *     logical_not(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logical_not_sized(dt_tensor *self, DT_OPTIONS(dt_logical_not_options));

typedef struct dt_logical_not_in_place_options {
    const dt_site *site;
} dt_logical_not_in_place_options;
/* Whether elements are 0, in place.
 *     logical_not_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logical_not_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_logical_not_in_place_options));

typedef struct dt_logical_or_options {
    const dt_site *site;
} dt_logical_or_options;
/* Whether either of two elements is not 0.
 *     logical_or(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logical_or_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_logical_or_options));

typedef struct dt_logical_or_in_place_options {
    const dt_site *site;
} dt_logical_or_in_place_options;
/* Whether either of two elements is not 0, in place.
 *     logical_or_(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logical_or_in_place_sized(dt_tensor *self, dt_tensor *other,
                                               DT_OPTIONS(dt_logical_or_in_place_options));

typedef struct dt_logical_xor_options {
    const dt_site *site;
} dt_logical_xor_options;
/* Whether exactly one of two elements is not 0.
 *     logical_xor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logical_xor_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_logical_xor_options));

typedef struct dt_logical_xor_in_place_options {
    const dt_site *site;
} dt_logical_xor_in_place_options;
/* Whether exactly one of two elements is not 0, in place.
 *     logical_xor_(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logical_xor_in_place_sized(dt_tensor *self, dt_tensor *other,
                                                DT_OPTIONS(dt_logical_xor_in_place_options));

typedef struct dt_logsumexp_options {
    bool keepdim;
    const dt_site *site;
} dt_logsumexp_options;
/* Logarithm of the sum of exponentials over dims, without overflow.
 *     logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_logsumexp_sized(dt_tensor *self, dt_dims dim, DT_OPTIONS(dt_logsumexp_options));

typedef struct dt_long_options {
    const dt_site *site;
} dt_long_options;
/* Converts to i64.
 *     long(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_long_sized(dt_tensor *self, DT_OPTIONS(dt_long_options));

typedef struct dt_lt_options {
    const dt_site *site;
} dt_lt_options;
/* Whether elements are less than those of a tensor, or a number.
 *     lt.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_lt_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_lt_options));

typedef struct dt_lt_scalar_options {
    const dt_site *site;
} dt_lt_scalar_options;
/* Whether elements are less than those of a tensor, or a number.
 *     lt.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_lt_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_lt_scalar_options));

typedef struct dt_lt_in_place_options {
    const dt_site *site;
} dt_lt_in_place_options;
/* Whether elements are less than those of a tensor, or a number, in place.
 *     lt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_lt_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_lt_in_place_options));

typedef struct dt_lt_scalar_in_place_options {
    const dt_site *site;
} dt_lt_scalar_in_place_options;
/* Whether elements are less than those of a tensor, or a number, in place.
 *     lt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_lt_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                              DT_OPTIONS(dt_lt_scalar_in_place_options));

typedef struct dt_lu_options {
    DT_OPTION(dt_opt_bool, pivot); /* default true */
    DT_OPTION(bool, get_infos);
    const dt_site *site;
} dt_lu_options;
/* LU factors of matrices in one tensor, their pivots, and with get_infos the first zeros of U.
 *     lu(Tensor A, bool pivot=True, bool get_infos=False) -> Tensor[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_lu_sized(dt_tensor *A, dt_tensor **out, int capacity, DT_OPTIONS(dt_lu_options));

typedef struct dt_lu_solve_options {
    const dt_site *site;
} dt_lu_solve_options;
/* X with A X = B, by the LU factors of A, as linalg_lu_solve.
 *     lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_lu_solve_sized(dt_tensor *self, dt_tensor *LU_data, dt_tensor *LU_pivots,
                                    DT_OPTIONS(dt_lu_solve_options));

typedef struct dt_lu_unpack_options {
    DT_OPTION(dt_opt_bool, unpack_data);   /* default true */
    DT_OPTION(dt_opt_bool, unpack_pivots); /* default true */
    const dt_site *site;
} dt_lu_unpack_options;
/* The outputs; all NULL after an error. */
typedef struct dt_lu_unpack_result {
    dt_tensor *P, *L, *U;
} dt_lu_unpack_result;
/* The permutation and the factors of matrices, from LU factors in one tensor and their pivots.
 *     lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P,
 *         Tensor L, Tensor U)
 * Collective where inputs move, else Local. */
DT_API dt_lu_unpack_result dt_lu_unpack_sized(dt_tensor *LU_data, dt_tensor *LU_pivots,
                                              DT_OPTIONS(dt_lu_unpack_options));

typedef struct dt_mT_options {
    const dt_site *site;
} dt_mT_options;
/* The last two dims swapped, as a view.
 *     mT(Tensor(a) self) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mT_sized(dt_tensor *self, DT_OPTIONS(dt_mT_options));

typedef struct dt_masked_fill_options {
    const dt_site *site;
} dt_masked_fill_options;
/* Elements of a tensor, and a value where the mask is true.
 *     masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_masked_fill_sized(dt_tensor *self, dt_tensor *mask, dt_number value,
                                       DT_OPTIONS(dt_masked_fill_options));

typedef struct dt_masked_fill_tensor_options {
    const dt_site *site;
} dt_masked_fill_tensor_options;
/* Elements of a tensor, and a value where the mask is true.
 *     masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_masked_fill_tensor_sized(dt_tensor *self, dt_tensor *mask, dt_tensor *value,
                                              DT_OPTIONS(dt_masked_fill_tensor_options));

typedef struct dt_masked_fill_in_place_options {
    const dt_site *site;
} dt_masked_fill_in_place_options;
/* Elements of a tensor, and a value where the mask is true, in place.
 *     masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_masked_fill_in_place_sized(dt_tensor *self, dt_tensor *mask, dt_number value,
                                                DT_OPTIONS(dt_masked_fill_in_place_options));

typedef struct dt_masked_fill_tensor_in_place_options {
    const dt_site *site;
} dt_masked_fill_tensor_in_place_options;
/* Elements of a tensor, and a value where the mask is true, in place.
 *     masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_masked_fill_tensor_in_place_sized(dt_tensor *self, dt_tensor *mask, dt_tensor *value,
                                                       DT_OPTIONS(dt_masked_fill_tensor_in_place_options));

typedef struct dt_matmul_options {
    const dt_site *site;
} dt_matmul_options;
/* Matrix product of vectors, matrices or batches of matrices, with broadcasting.
 *     matmul(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_matmul_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_matmul_options));

typedef struct dt_matrix_exp_options {
    const dt_site *site;
} dt_matrix_exp_options;
/* The exponential of square matrices.
 *     matrix_exp(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_matrix_exp_sized(dt_tensor *self, DT_OPTIONS(dt_matrix_exp_options));

typedef struct dt_max_options {
    const dt_site *site;
} dt_max_options;
/* Largest element of all, or along a dim with its position; or of two tensors, elementwise.
 *     max(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_max_sized(dt_tensor *self, DT_OPTIONS(dt_max_options));

typedef struct dt_max_dim_options {
    bool keepdim;
    const dt_site *site;
} dt_max_dim_options;
/* The outputs; all NULL after an error. */
typedef struct dt_max_dim_result {
    dt_tensor *values, *indices;
} dt_max_dim_result;
/* Largest element of all, or along a dim with its position; or of two tensors, elementwise.
 *     max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_max_dim_result dt_max_dim_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_max_dim_options));

typedef struct dt_max_other_options {
    const dt_site *site;
} dt_max_other_options;
/* Largest element of all, or along a dim with its position; or of two tensors, elementwise.
 *     max.other(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_max_other_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_max_other_options));

typedef struct dt_max_pool1d_options {
    DT_OPTION(dt_ints, stride);
    DT_OPTION(dt_ints, padding);  /* default [0] */
    DT_OPTION(dt_ints, dilation); /* default [1] */
    DT_OPTION(bool, ceil_mode);
    const dt_site *site;
} dt_max_pool1d_options;
/* The largest elements of windows of sequences.
 *     max_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] dilation=1,
 *         bool ceil_mode=False, bool return_indices=False) -> Tensor or (Tensor, Tensor)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_max_pool1d_sized(dt_tensor *input, dt_ints kernel_size, DT_OPTIONS(dt_max_pool1d_options));

typedef struct dt_max_pool1d_with_indices_options {
    DT_OPTION(dt_ints, stride);
    DT_OPTION(dt_ints, padding);  /* default [0] */
    DT_OPTION(dt_ints, dilation); /* default [1] */
    DT_OPTION(bool, ceil_mode);
    const dt_site *site;
} dt_max_pool1d_with_indices_options;
/* The outputs; all NULL after an error. */
typedef struct dt_max_pool1d_with_indices_result {
    dt_tensor *output, *indices;
} dt_max_pool1d_with_indices_result;
/* The largest elements of windows of sequences, with their indices in space.
 *     max_pool1d_with_indices(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1]
 *         dilation=1, bool ceil_mode=False) -> (Tensor output, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_max_pool1d_with_indices_result dt_max_pool1d_with_indices_sized(
    dt_tensor *input, dt_ints kernel_size, DT_OPTIONS(dt_max_pool1d_with_indices_options));

typedef struct dt_max_pool2d_options {
    DT_OPTION(dt_ints, stride);
    DT_OPTION(dt_ints, padding);  /* default [0,0] */
    DT_OPTION(dt_ints, dilation); /* default [1,1] */
    DT_OPTION(bool, ceil_mode);
    const dt_site *site;
} dt_max_pool2d_options;
/* The largest elements of windows of images.
 *     max_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] dilation=1,
 *         bool ceil_mode=False, bool return_indices=False) -> Tensor or (Tensor, Tensor)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_max_pool2d_sized(dt_tensor *input, dt_ints kernel_size, DT_OPTIONS(dt_max_pool2d_options));

typedef struct dt_max_pool2d_with_indices_options {
    DT_OPTION(dt_ints, stride);
    DT_OPTION(dt_ints, padding);  /* default [0,0] */
    DT_OPTION(dt_ints, dilation); /* default [1,1] */
    DT_OPTION(bool, ceil_mode);
    const dt_site *site;
} dt_max_pool2d_with_indices_options;
/* The outputs; all NULL after an error. */
typedef struct dt_max_pool2d_with_indices_result {
    dt_tensor *output, *indices;
} dt_max_pool2d_with_indices_result;
/* The largest elements of windows of images, with their indices in space.
 *     max_pool2d_with_indices(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2]
 *         dilation=1, bool ceil_mode=False) -> (Tensor output, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_max_pool2d_with_indices_result dt_max_pool2d_with_indices_sized(
    dt_tensor *input, dt_ints kernel_size, DT_OPTIONS(dt_max_pool2d_with_indices_options));

typedef struct dt_max_pool3d_options {
    DT_OPTION(dt_ints, stride);
    DT_OPTION(dt_ints, padding);  /* default [0,0,0] */
    DT_OPTION(dt_ints, dilation); /* default [1,1,1] */
    DT_OPTION(bool, ceil_mode);
    const dt_site *site;
} dt_max_pool3d_options;
/* The largest elements of windows of volumes.
 *     max_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1,
 *         bool ceil_mode=False, bool return_indices=False) -> Tensor or (Tensor, Tensor)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_max_pool3d_sized(dt_tensor *input, dt_ints kernel_size, DT_OPTIONS(dt_max_pool3d_options));

typedef struct dt_max_pool3d_with_indices_options {
    DT_OPTION(dt_ints, stride);
    DT_OPTION(dt_ints, padding);  /* default [0,0,0] */
    DT_OPTION(dt_ints, dilation); /* default [1,1,1] */
    DT_OPTION(bool, ceil_mode);
    const dt_site *site;
} dt_max_pool3d_with_indices_options;
/* The outputs; all NULL after an error. */
typedef struct dt_max_pool3d_with_indices_result {
    dt_tensor *output, *indices;
} dt_max_pool3d_with_indices_result;
/* The largest elements of windows of volumes, with their indices in space.
 *     max_pool3d_with_indices(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3]
 *         dilation=1, bool ceil_mode=False) -> (Tensor output, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_max_pool3d_with_indices_result dt_max_pool3d_with_indices_sized(
    dt_tensor *input, dt_ints kernel_size, DT_OPTIONS(dt_max_pool3d_with_indices_options));

typedef struct dt_max_pool_backward_options {
    const dt_site *site;
} dt_max_pool_backward_options;
/* The gradient of max_pool, adaptive without a kernel_size: adds to elements with these indices.
 *     max_pool_backward(Tensor grad_output, Tensor indices, int[] sizes, int[] kernel_size, int[] stride, int[]
 *         padding, int[] dilation) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_max_pool_backward_sized(dt_tensor *grad_output, dt_tensor *indices, dt_shape sizes,
                                             dt_ints kernel_size, dt_ints stride, dt_ints padding, dt_ints dilation,
                                             DT_OPTIONS(dt_max_pool_backward_options));

typedef struct dt_max_pool_read_options {
    const dt_site *site;
} dt_max_pool_read_options;
/* The elements of images with these indices: the transpose of max_pool_backward.
 *     max_pool_read(Tensor self, Tensor indices, int[] kernel_size, int[] stride, int[] padding, int[]
 *         dilation) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_max_pool_read_sized(dt_tensor *self, dt_tensor *indices, dt_ints kernel_size, dt_ints stride,
                                         dt_ints padding, dt_ints dilation, DT_OPTIONS(dt_max_pool_read_options));

typedef struct dt_maximum_options {
    const dt_site *site;
} dt_maximum_options;
/* The maximum of two elements; NaN if one of them is NaN.
 *     maximum(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_maximum_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_maximum_options));

typedef struct dt_mean_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_mean_options;
/* Average over all dims or over some.
 *     mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mean_sized(dt_tensor *self, DT_OPTIONS(dt_mean_options));

typedef struct dt_median_options {
    const dt_site *site;
} dt_median_options;
/* The middle element, or the smaller of two, of all or along a dim with its position; NaN wins.
 *     median(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_median_sized(dt_tensor *self, DT_OPTIONS(dt_median_options));

typedef struct dt_median_dim_options {
    bool keepdim;
    const dt_site *site;
} dt_median_dim_options;
/* The outputs; all NULL after an error. */
typedef struct dt_median_dim_result {
    dt_tensor *values, *indices;
} dt_median_dim_result;
/* The middle element, or the smaller of two, of all or along a dim with its position; NaN wins.
 *     median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_median_dim_result dt_median_dim_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_median_dim_options));

typedef struct dt_min_options {
    const dt_site *site;
} dt_min_options;
/* Smallest element of all, or along a dim with its position; or of two tensors, elementwise.
 *     min(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_min_sized(dt_tensor *self, DT_OPTIONS(dt_min_options));

typedef struct dt_min_dim_options {
    bool keepdim;
    const dt_site *site;
} dt_min_dim_options;
/* The outputs; all NULL after an error. */
typedef struct dt_min_dim_result {
    dt_tensor *values, *indices;
} dt_min_dim_result;
/* Smallest element of all, or along a dim with its position; or of two tensors, elementwise.
 *     min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_min_dim_result dt_min_dim_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_min_dim_options));

typedef struct dt_min_other_options {
    const dt_site *site;
} dt_min_other_options;
/* Smallest element of all, or along a dim with its position; or of two tensors, elementwise.
 *     min.other(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_min_other_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_min_other_options));

typedef struct dt_minimum_options {
    const dt_site *site;
} dt_minimum_options;
/* The minimum of two elements; NaN if one of them is NaN.
 *     minimum(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_minimum_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_minimum_options));

typedef struct dt_mish_options {
    const dt_site *site;
} dt_mish_options;
/* x tanh(log(1 + exp(x))) of every element.
 *     mish(Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mish_sized(dt_tensor *input, DT_OPTIONS(dt_mish_options));

typedef struct dt_mish_in_place_options {
    const dt_site *site;
} dt_mish_in_place_options;
/* x tanh(log(1 + exp(x))) of every element, in place.
 *     mish_(Tensor(a!) input) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mish_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_mish_in_place_options));

typedef struct dt_mm_options {
    const dt_site *site;
} dt_mm_options;
/* Product of two matrices.
 *     mm(Tensor self, Tensor mat2) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mm_sized(dt_tensor *self, dt_tensor *mat2, DT_OPTIONS(dt_mm_options));

typedef struct dt_mode_options {
    DT_OPTION(dt_opt_int, dim); /* default -1 */
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_mode_options;
/* The outputs; all NULL after an error. */
typedef struct dt_mode_result {
    dt_tensor *values, *indices;
} dt_mode_result;
/* The most frequent element along a dim, the smallest of several, with its last position.
 *     mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_mode_result dt_mode_sized(dt_tensor *self, DT_OPTIONS(dt_mode_options));

typedef struct dt_moment_norm_options {
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_tensor *, bias);
    DT_OPTION(dt_opt_real, eps); /* default 1e-05 */
    const dt_site *site;
} dt_moment_norm_options;
/* The outputs; all NULL after an error. */
typedef struct dt_moment_norm_result {
    dt_tensor *output, *mean, *rstd, *var;
} dt_moment_norm_result;
/* Normalizes some dims to mean 0 and variance 1, scales and shifts them; with the moments.
 *     moment_norm(Tensor input, int[] dims, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> (Tensor
 *         output, Tensor mean, Tensor rstd, Tensor var)
 * Collective where inputs move, else Local. */
DT_API dt_moment_norm_result dt_moment_norm_sized(dt_tensor *input, dt_dims dims, DT_OPTIONS(dt_moment_norm_options));

typedef struct dt_moment_norm_backward_options {
    dt_tensor *weight;
    const dt_site *site;
} dt_moment_norm_backward_options;
/* The outputs; all NULL after an error. */
typedef struct dt_moment_norm_backward_result {
    dt_tensor *grad_input, *grad_weight, *grad_bias;
} dt_moment_norm_backward_result;
/* The gradients of moment_norm, from the mean and 1 / deviation; affine_dims are those of the weight.
 *     moment_norm_backward(Tensor grad_output, Tensor input, int[] dims, Tensor mean, Tensor rstd, Tensor?
 *         weight, int[] affine_dims, int[] output_mask) -> (Tensor grad_input, Tensor grad_weight, Tensor
 *         grad_bias)
 * Collective where inputs move, else Local. */
DT_API dt_moment_norm_backward_result dt_moment_norm_backward_sized(dt_tensor *grad_output, dt_tensor *input,
                                                                    dt_dims dims, dt_tensor *mean, dt_tensor *rstd,
                                                                    dt_ints affine_dims, dt_ints output_mask,
                                                                    DT_OPTIONS(dt_moment_norm_backward_options));

typedef struct dt_movedim_options {
    const dt_site *site;
} dt_movedim_options;
/* Moves dims to other positions, as a view; the others keep their order.
 *     movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_movedim_sized(dt_tensor *self, int64_t source, int64_t destination,
                                   DT_OPTIONS(dt_movedim_options));

typedef struct dt_movedim_dims_options {
    const dt_site *site;
} dt_movedim_dims_options;
/* Moves dims to other positions, as a view; the others keep their order.
 *     movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_movedim_dims_sized(dt_tensor *self, dt_dims source, dt_dims destination,
                                        DT_OPTIONS(dt_movedim_dims_options));

typedef struct dt_mse_loss_options {
    const char *reduction; /* default mean */
    dt_tensor *weight;
    const dt_site *site;
} dt_mse_loss_options;
/* Squared differences, or their mean or sum.
 *     mse_loss(Tensor input, Tensor target, str reduction="mean", Tensor? weight=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mse_loss_sized(dt_tensor *input, dt_tensor *target, DT_OPTIONS(dt_mse_loss_options));

typedef struct dt_mul_options {
    const dt_site *site;
} dt_mul_options;
/* Multiplies by a tensor or a number, element by element.
 *     mul.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mul_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_mul_options));

typedef struct dt_mul_scalar_options {
    const dt_site *site;
} dt_mul_scalar_options;
/* Multiplies by a tensor or a number, element by element.
 *     mul.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mul_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_mul_scalar_options));

typedef struct dt_mul_in_place_options {
    const dt_site *site;
} dt_mul_in_place_options;
/* Multiplies by a tensor or a number, element by element, in place.
 *     mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mul_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_mul_in_place_options));

typedef struct dt_mul_scalar_in_place_options {
    const dt_site *site;
} dt_mul_scalar_in_place_options;
/* Multiplies by a tensor or a number, element by element, in place.
 *     mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mul_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                               DT_OPTIONS(dt_mul_scalar_in_place_options));

typedef struct dt_mv_options {
    const dt_site *site;
} dt_mv_options;
/* Product of a matrix and a vector.
 *     mv(Tensor self, Tensor vec) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_mv_sized(dt_tensor *self, dt_tensor *vec, DT_OPTIONS(dt_mv_options));

typedef struct dt_nadam_in_place_options {
    DT_OPTION(dt_opt_real, beta1);          /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);          /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay);   /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);            /* default 1e-08 */
    DT_OPTION(dt_opt_real, momentum_decay); /* default 0.004 */
    DT_OPTION(bool, decoupled_weight_decay);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_nadam_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_nadam_in_place_result {
    dt_tensor *self, *exp_avg, *exp_avg_sq;
} dt_nadam_in_place_result;
/* One step of NAdam: writes a parameter and its state.
 *     nadam_(Tensor(a!) self, Tensor grad, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, *, float lr, float
 *         beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, float
 *         momentum_decay=0.004, float mu_product, bool decoupled_weight_decay=False, bool maximize=False, float
 *         grad_scale=1) -> (Tensor(a!) self, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq)
 * Collective where inputs move, else Local. */
DT_API dt_nadam_in_place_result dt_nadam_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg,
                                                        dt_tensor *exp_avg_sq, double lr, int64_t step,
                                                        double mu_product, DT_OPTIONS(dt_nadam_in_place_options));

typedef struct dt_nan_to_num_options {
    DT_OPTION(dt_opt_real, nan);
    DT_OPTION(dt_opt_real, posinf);
    DT_OPTION(dt_opt_real, neginf);
    const dt_site *site;
} dt_nan_to_num_options;
/* Replaces NaN by 0 and infinities by the largest numbers of the dtype, or by given ones.
 *     nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_nan_to_num_sized(dt_tensor *self, DT_OPTIONS(dt_nan_to_num_options));

typedef struct dt_nan_to_num_in_place_options {
    DT_OPTION(dt_opt_real, nan);
    DT_OPTION(dt_opt_real, posinf);
    DT_OPTION(dt_opt_real, neginf);
    const dt_site *site;
} dt_nan_to_num_in_place_options;
/* Replaces NaN by 0 and infinities by the largest numbers of the dtype, or by given ones, in place.
 *     nan_to_num_(Tensor(a!) self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_nan_to_num_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_nan_to_num_in_place_options));

typedef struct dt_nanmedian_options {
    const dt_site *site;
} dt_nanmedian_options;
/* The element in the middle of those that are not NaN, of all or along a dim with its position.
 *     nanmedian(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_nanmedian_sized(dt_tensor *self, DT_OPTIONS(dt_nanmedian_options));

typedef struct dt_nanmedian_dim_options {
    bool keepdim;
    const dt_site *site;
} dt_nanmedian_dim_options;
/* The outputs; all NULL after an error. */
typedef struct dt_nanmedian_dim_result {
    dt_tensor *values, *indices;
} dt_nanmedian_dim_result;
/* The element in the middle of those that are not NaN, of all or along a dim with its position.
 *     nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
 * Collective where inputs move, else Local. */
DT_API dt_nanmedian_dim_result dt_nanmedian_dim_sized(dt_tensor *self, int64_t dim,
                                                      DT_OPTIONS(dt_nanmedian_dim_options));

typedef struct dt_nansum_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_nansum_options;
/* Sum over all dims or over some, of the elements that are not NaN.
 *     nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_nansum_sized(dt_tensor *self, DT_OPTIONS(dt_nansum_options));

typedef struct dt_narrow_options {
    const dt_site *site;
} dt_narrow_options;
/* `length` indices of a dim from `start` on, as a view.
 *     narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_narrow_sized(dt_tensor *self, int64_t dim, int64_t start, int64_t length,
                                  DT_OPTIONS(dt_narrow_options));

typedef struct dt_narrow_tensor_options {
    const dt_site *site;
} dt_narrow_tensor_options;
/* `length` indices of a dim from `start` on, as a view.
 *     narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_narrow_tensor_sized(dt_tensor *self, int64_t dim, dt_tensor *start, int64_t length,
                                         DT_OPTIONS(dt_narrow_tensor_options));

typedef struct dt_native_batch_norm_options {
    dt_tensor *weight;
    dt_tensor *bias;
    dt_tensor *running_mean;
    dt_tensor *running_var;
    const dt_site *site;
} dt_native_batch_norm_options;
/* The outputs; all NULL after an error. */
typedef struct dt_native_batch_norm_result {
    dt_tensor *output, *save_mean, *save_invstd;
} dt_native_batch_norm_result;
/* batch_norm, with the means and the inverse standard deviations that it used in training.
 *     native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
 *         bool training, float momentum, float eps) -> (Tensor output, Tensor save_mean, Tensor save_invstd)
 * Collective where inputs move, else Local. */
DT_API dt_native_batch_norm_result dt_native_batch_norm_sized(dt_tensor *input, bool training, double momentum,
                                                              double eps, DT_OPTIONS(dt_native_batch_norm_options));

typedef struct dt_native_dropout_backward_options {
    const dt_site *site;
} dt_native_dropout_backward_options;
/* The gradient of dropout, from its mask.
 *     native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_native_dropout_backward_sized(dt_tensor *grad_output, dt_tensor *mask, double scale,
                                                   DT_OPTIONS(dt_native_dropout_backward_options));

typedef struct dt_native_group_norm_options {
    dt_tensor *weight;
    dt_tensor *bias;
    const dt_site *site;
} dt_native_group_norm_options;
/* The outputs; all NULL after an error. */
typedef struct dt_native_group_norm_result {
    dt_tensor *output, *mean, *rstd;
} dt_native_group_norm_result;
/* group_norm, with the means and the inverse standard deviations that it used.
 *     native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float
 *         eps) -> (Tensor output, Tensor mean, Tensor rstd)
 * Collective where inputs move, else Local. */
DT_API dt_native_group_norm_result dt_native_group_norm_sized(dt_tensor *input, int64_t N, int64_t C, int64_t HxW,
                                                              int64_t group, double eps,
                                                              DT_OPTIONS(dt_native_group_norm_options));

typedef struct dt_native_layer_norm_options {
    dt_tensor *weight;
    dt_tensor *bias;
    const dt_site *site;
} dt_native_layer_norm_options;
/* The outputs; all NULL after an error. */
typedef struct dt_native_layer_norm_result {
    dt_tensor *output, *mean, *rstd;
} dt_native_layer_norm_result;
/* layer_norm, with the means and the inverse standard deviations that it used.
 *     native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) ->
 *         (Tensor output, Tensor mean, Tensor rstd)
 * Collective where inputs move, else Local. */
DT_API dt_native_layer_norm_result dt_native_layer_norm_sized(dt_tensor *input, dt_shape normalized_shape, double eps,
                                                              DT_OPTIONS(dt_native_layer_norm_options));

typedef struct dt_native_layer_norm_backward_options {
    dt_tensor *weight;
    const dt_site *site;
} dt_native_layer_norm_backward_options;
/* The outputs; all NULL after an error. */
typedef struct dt_native_layer_norm_backward_result {
    dt_tensor *grad_input, *grad_weight, *grad_bias;
} dt_native_layer_norm_backward_result;
/* The gradients of layer_norm from the mean and 1 / deviation of each row; output_mask selects them.
 *     native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, Tensor
 *         rstd, Tensor? weight, int[] output_mask) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)
 * Collective where inputs move, else Local. */
DT_API dt_native_layer_norm_backward_result dt_native_layer_norm_backward_sized(
    dt_tensor *grad_out, dt_tensor *input, dt_shape normalized_shape, dt_tensor *mean, dt_tensor *rstd,
    dt_ints output_mask, DT_OPTIONS(dt_native_layer_norm_backward_options));

typedef struct dt_ne_options {
    const dt_site *site;
} dt_ne_options;
/* Whether elements differ from those of a tensor, or from a number.
 *     ne.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ne_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_ne_options));

typedef struct dt_ne_scalar_options {
    const dt_site *site;
} dt_ne_scalar_options;
/* Whether elements differ from those of a tensor, or from a number.
 *     ne.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ne_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_ne_scalar_options));

typedef struct dt_ne_in_place_options {
    const dt_site *site;
} dt_ne_in_place_options;
/* Whether elements differ from those of a tensor, or from a number, in place.
 *     ne_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ne_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_ne_in_place_options));

typedef struct dt_ne_scalar_in_place_options {
    const dt_site *site;
} dt_ne_scalar_in_place_options;
/* Whether elements differ from those of a tensor, or from a number, in place.
 *     ne_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ne_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                              DT_OPTIONS(dt_ne_scalar_in_place_options));

typedef struct dt_neg_options {
    const dt_site *site;
} dt_neg_options;
/* The negative of every element.
 *     neg(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_neg_sized(dt_tensor *self, DT_OPTIONS(dt_neg_options));

typedef struct dt_neg_in_place_options {
    const dt_site *site;
} dt_neg_in_place_options;
/* The negative of every element, in place.
 *     neg_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_neg_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_neg_in_place_options));

typedef struct dt_new_full_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_new_full_options;
/* A tensor filled with a number, of the dtype and on the mesh of another.
 *     new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_new_full_sized(dt_tensor *self, dt_shape size, dt_number fill_value,
                                    DT_OPTIONS(dt_new_full_options));

typedef struct dt_new_ones_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_new_ones_options;
/* A tensor of ones, of the dtype and on the mesh of another.
 *     new_ones(Tensor self, int[] size, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_new_ones_sized(dt_tensor *self, dt_shape size, DT_OPTIONS(dt_new_ones_options));

typedef struct dt_new_zeros_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_new_zeros_options;
/* A tensor of zeros, of the dtype and on the mesh of another.
 *     new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_new_zeros_sized(dt_tensor *self, dt_shape size, DT_OPTIONS(dt_new_zeros_options));

typedef struct dt_nll_loss_options {
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_opt_int, ignore_index); /* default -100 */
    DT_OPTION(const char *, reduction);  /* default mean */
    const dt_site *site;
} dt_nll_loss_options;
/* Negative log-likelihood of log-probabilities and classes.
 *     nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction="mean")
 *         -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_nll_loss_sized(dt_tensor *input, dt_tensor *target, DT_OPTIONS(dt_nll_loss_options));

typedef struct dt_norm_options {
    DT_OPTION(dt_number, p); /* default 2 */
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_norm_options;
/* Norm of all elements, or of vectors along dims; "nuc": of matrices.
 *     norm(Tensor self, Scalar? p=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_norm_sized(dt_tensor *self, DT_OPTIONS(dt_norm_options));

typedef struct dt_norm_str_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_norm_str_options;
/* Norm of all elements, or of vectors along dims; "nuc": of matrices.
 *     norm.str(Tensor self, str p, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_norm_str_sized(dt_tensor *self, const char *p, DT_OPTIONS(dt_norm_str_options));

typedef struct dt_normalize_options {
    DT_OPTION(dt_opt_real, p);   /* default 2.0 */
    DT_OPTION(dt_opt_int, dim);  /* default 1 */
    DT_OPTION(dt_opt_real, eps); /* default 1e-12 */
    const dt_site *site;
} dt_normalize_options;
/* Vectors along a dim, divided by their p-norms, which count as eps at least.
 *     normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_normalize_sized(dt_tensor *input, DT_OPTIONS(dt_normalize_options));

typedef struct dt_one_hot_options {
    const dt_site *site;
} dt_one_hot_options;
/* Zeros, with a one at each index along a new last dim of num_classes; -1: as the indices require.
 *     one_hot(Tensor self, int num_classes=-1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_one_hot_sized(dt_tensor *self, int64_t num_classes, DT_OPTIONS(dt_one_hot_options));

/* A tensor of ones.
 *     ones(int[] size, *, ScalarType? dtype=None) -> Tensor
 * Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_ones_sized(dt_ctx *ctx, dt_shape size, DT_OPTIONS(dt_make_options));

typedef struct dt_ones_like_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_ones_like_options;
/* Ones with the shape, dtype and placements of another tensor.
 *     ones_like(Tensor self, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ones_like_sized(dt_tensor *self, DT_OPTIONS(dt_ones_like_options));

typedef struct dt_ormqr_options {
    DT_OPTION(dt_opt_bool, left); /* default true */
    DT_OPTION(bool, transpose);
    const dt_site *site;
} dt_ormqr_options;
/* Products of a matrix with the Q of geqrf, or with its adjoint, from the left or the right.
 *     ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ormqr_sized(dt_tensor *self, dt_tensor *input2, dt_tensor *input3, DT_OPTIONS(dt_ormqr_options));

typedef struct dt_outer_options {
    const dt_site *site;
} dt_outer_options;
/* Products of each element of a vector with each of another.
 *     outer(Tensor self, Tensor vec2) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_outer_sized(dt_tensor *self, dt_tensor *vec2, DT_OPTIONS(dt_outer_options));

typedef struct dt_pad_options {
    DT_OPTION(const char *, mode); /* default constant */
    DT_OPTION(dt_opt_real, value);
    const dt_site *site;
} dt_pad_options;
/* Adds a value, or copies of the elements, before and after the indices of the last dims.
 *     pad(Tensor input, int[] pad, str mode='constant', float? value=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_pad_sized(dt_tensor *input, dt_ints pad, DT_OPTIONS(dt_pad_options));

typedef struct dt_permute_options {
    const dt_site *site;
} dt_permute_options;
/* Dims in another order, as a view: dim i of the result is dims[i] of the tensor.
 *     permute(Tensor(a) self, int[] dims) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_permute_sized(dt_tensor *self, dt_dims dims, DT_OPTIONS(dt_permute_options));

typedef struct dt_pinverse_options {
    DT_OPTION(dt_opt_real, rcond); /* default 1e-15 */
    const dt_site *site;
} dt_pinverse_options;
/* As linalg_pinv.
 *     pinverse(Tensor self, float rcond=1e-15) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_pinverse_sized(dt_tensor *self, DT_OPTIONS(dt_pinverse_options));

typedef struct dt_pixel_shuffle_options {
    const dt_site *site;
} dt_pixel_shuffle_options;
/* Channels in blocks of r x r as pixels: c r^2, h, w becomes c, h r, w r.
 *     pixel_shuffle(Tensor self, int upscale_factor) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_pixel_shuffle_sized(dt_tensor *self, int64_t upscale_factor,
                                         DT_OPTIONS(dt_pixel_shuffle_options));

typedef struct dt_pixel_unshuffle_options {
    const dt_site *site;
} dt_pixel_unshuffle_options;
/* Blocks of r x r pixels as channels: c, h r, w r becomes c r^2, h, w.
 *     pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_pixel_unshuffle_sized(dt_tensor *self, int64_t downscale_factor,
                                           DT_OPTIONS(dt_pixel_unshuffle_options));

typedef struct dt_positive_options {
    const dt_site *site;
} dt_positive_options;
/* The tensor itself, as a view.
 *     positive(Tensor(a) self) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_positive_sized(dt_tensor *self, DT_OPTIONS(dt_positive_options));

typedef struct dt_pow_options {
    const dt_site *site;
} dt_pow_options;
/* Powers of elements; the base or the exponent may be a number.
 *     pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_pow_sized(dt_tensor *self, dt_tensor *exponent, DT_OPTIONS(dt_pow_options));

typedef struct dt_pow_scalar_exponent_options {
    const dt_site *site;
} dt_pow_scalar_exponent_options;
/* Powers of elements; the base or the exponent may be a number.
 *     pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_pow_scalar_exponent_sized(dt_tensor *self, dt_number exponent,
                                               DT_OPTIONS(dt_pow_scalar_exponent_options));

typedef struct dt_pow_scalar_self_options {
    const dt_site *site;
} dt_pow_scalar_self_options;
/* Powers of elements; the base or the exponent may be a number.
 *     pow.Scalar(Scalar self, Tensor exponent) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_pow_scalar_self_sized(dt_number self, dt_tensor *exponent,
                                           DT_OPTIONS(dt_pow_scalar_self_options));

typedef struct dt_pow_in_place_options {
    const dt_site *site;
} dt_pow_in_place_options;
/* Powers of elements; the base or the exponent may be a number, in place.
 *     pow_.Tensor_Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_pow_in_place_sized(dt_tensor *self, dt_tensor *exponent, DT_OPTIONS(dt_pow_in_place_options));

typedef struct dt_pow_scalar_in_place_options {
    const dt_site *site;
} dt_pow_scalar_in_place_options;
/* Powers of elements; the base or the exponent may be a number, in place.
 *     pow_.Tensor_Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_pow_scalar_in_place_sized(dt_tensor *self, dt_number exponent,
                                               DT_OPTIONS(dt_pow_scalar_in_place_options));

typedef struct dt_power_sum_options {
    DT_OPTION(dt_number, ord); /* default 2 */
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_power_sum_options;
/* Sum of |x|^ord in f64, along all dims or along some; of ord inf the largest |x|, 0 without elements.
 *     power_sum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_power_sum_sized(dt_tensor *self, DT_OPTIONS(dt_power_sum_options));

typedef struct dt_prelu_options {
    const dt_site *site;
} dt_prelu_options;
/* Elements, times a weight where they are not positive: one weight, or one per index of dim 1.
 *     prelu(Tensor self, Tensor weight) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_prelu_sized(dt_tensor *self, dt_tensor *weight, DT_OPTIONS(dt_prelu_options));

typedef struct dt_prod_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_prod_options;
/* Product over all dims or along one.
 *     prod(Tensor self, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_prod_sized(dt_tensor *self, DT_OPTIONS(dt_prod_options));

typedef struct dt_prod_dim_int_options {
    bool keepdim;
    dt_dtype dtype;
    const dt_site *site;
} dt_prod_dim_int_options;
/* Product over all dims or along one.
 *     prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_prod_dim_int_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_prod_dim_int_options));

typedef struct dt_prod_of_others_options {
    DT_OPTION(dt_opt_int, dim);
    const dt_site *site;
} dt_prod_of_others_options;
/* The product of all other elements, of the tensor or along a dim: the gradient of prod.
 *     prod_of_others(Tensor self, int? dim=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_prod_of_others_sized(dt_tensor *self, DT_OPTIONS(dt_prod_of_others_options));

typedef struct dt_qr_options {
    DT_OPTION(dt_opt_bool, some); /* default true */
    const dt_site *site;
} dt_qr_options;
/* The outputs; all NULL after an error. */
typedef struct dt_qr_result {
    dt_tensor *Q, *R;
} dt_qr_result;
/* As linalg_qr, in the reduced or, without some, the complete form.
 *     qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)
 * Collective where inputs move, else Local. */
DT_API dt_qr_result dt_qr_sized(dt_tensor *self, DT_OPTIONS(dt_qr_options));

typedef struct dt_radam_in_place_options {
    DT_OPTION(dt_opt_real, beta1);        /* default 0.9 */
    DT_OPTION(dt_opt_real, beta2);        /* default 0.999 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(bool, decoupled_weight_decay);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_radam_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_radam_in_place_result {
    dt_tensor *self, *exp_avg, *exp_avg_sq;
} dt_radam_in_place_result;
/* One step of RAdam: writes a parameter and its state.
 *     radam_(Tensor(a!) self, Tensor grad, Tensor(b!) exp_avg, Tensor(c!) exp_avg_sq, *, float lr, float
 *         beta1=0.9, float beta2=0.999, float weight_decay=0, float eps=1e-08, int step, bool
 *         decoupled_weight_decay=False, bool maximize=False, float grad_scale=1) -> (Tensor(a!) self, Tensor(b!)
 *         exp_avg, Tensor(c!) exp_avg_sq)
 * Collective where inputs move, else Local. */
DT_API dt_radam_in_place_result dt_radam_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg,
                                                        dt_tensor *exp_avg_sq, double lr, int64_t step,
                                                        DT_OPTIONS(dt_radam_in_place_options));

typedef struct dt_ravel_options {
    const dt_site *site;
} dt_ravel_options;
/* All dims as one.
 *     ravel(Tensor(a) self) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_ravel_sized(dt_tensor *self, DT_OPTIONS(dt_ravel_options));

typedef struct dt_reciprocal_options {
    const dt_site *site;
} dt_reciprocal_options;
/* 1 divided by every element.
 *     reciprocal(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_reciprocal_sized(dt_tensor *self, DT_OPTIONS(dt_reciprocal_options));

typedef struct dt_reciprocal_in_place_options {
    const dt_site *site;
} dt_reciprocal_in_place_options;
/* 1 divided by every element, in place.
 *     reciprocal_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_reciprocal_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_reciprocal_in_place_options));

typedef struct dt_relu_options {
    const dt_site *site;
} dt_relu_options;
/* Every element, or zero where it is negative.
 *     relu(Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_relu_sized(dt_tensor *input, DT_OPTIONS(dt_relu_options));

typedef struct dt_relu6_options {
    const dt_site *site;
} dt_relu6_options;
/* Every element, limited to the range from 0 to 6.
 *     relu6(Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_relu6_sized(dt_tensor *input, DT_OPTIONS(dt_relu6_options));

typedef struct dt_relu6_in_place_options {
    const dt_site *site;
} dt_relu6_in_place_options;
/* Every element, limited to the range from 0 to 6, in place.
 *     relu6_(Tensor(a!) input) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_relu6_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_relu6_in_place_options));

typedef struct dt_relu_in_place_options {
    const dt_site *site;
} dt_relu_in_place_options;
/* Every element, or zero where it is negative, in place.
 *     relu_(Tensor(a!) input) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_relu_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_relu_in_place_options));

typedef struct dt_remainder_options {
    const dt_site *site;
} dt_remainder_options;
/* The remainder of a division, with the sign of the divisor.
 *     remainder.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_remainder_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_remainder_options));

typedef struct dt_remainder_scalar_other_options {
    const dt_site *site;
} dt_remainder_scalar_other_options;
/* The remainder of a division, with the sign of the divisor.
 *     remainder.Scalar(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_remainder_scalar_other_sized(dt_tensor *self, dt_number other,
                                                  DT_OPTIONS(dt_remainder_scalar_other_options));

typedef struct dt_remainder_scalar_self_options {
    const dt_site *site;
} dt_remainder_scalar_self_options;
/* The remainder of a division, with the sign of the divisor.
 *     remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_remainder_scalar_self_sized(dt_number self, dt_tensor *other,
                                                 DT_OPTIONS(dt_remainder_scalar_self_options));

typedef struct dt_remainder_in_place_options {
    const dt_site *site;
} dt_remainder_in_place_options;
/* The remainder of a division, with the sign of the divisor, in place.
 *     remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_remainder_in_place_sized(dt_tensor *self, dt_tensor *other,
                                              DT_OPTIONS(dt_remainder_in_place_options));

typedef struct dt_remainder_scalar_in_place_options {
    const dt_site *site;
} dt_remainder_scalar_in_place_options;
/* The remainder of a division, with the sign of the divisor, in place.
 *     remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_remainder_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                     DT_OPTIONS(dt_remainder_scalar_in_place_options));

typedef struct dt_repeat_options {
    const dt_site *site;
} dt_repeat_options;
/* Copies of a tensor side by side, in the given number along each dim; new dims come first.
 *     repeat(Tensor self, int[] repeats) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_repeat_sized(dt_tensor *self, dt_ints repeats, DT_OPTIONS(dt_repeat_options));

typedef struct dt_repeat_interleave_options {
    DT_OPTION(dt_opt_int, output_size);
    const dt_site *site;
} dt_repeat_interleave_options;
/* Repeats every index of a dim by a number, or by its element of a tensor.
 *     repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_repeat_interleave_sized(dt_tensor *repeats, DT_OPTIONS(dt_repeat_interleave_options));

typedef struct dt_repeat_interleave_self_tensor_options {
    DT_OPTION(dt_opt_int, dim);
    DT_OPTION(dt_opt_int, output_size);
    const dt_site *site;
} dt_repeat_interleave_self_tensor_options;
/* Repeats every index of a dim by a number, or by its element of a tensor.
 *     repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) ->
 *         Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_repeat_interleave_self_tensor_sized(dt_tensor *self, dt_tensor *repeats,
                                                         DT_OPTIONS(dt_repeat_interleave_self_tensor_options));

typedef struct dt_repeat_interleave_self_int_options {
    DT_OPTION(dt_opt_int, dim);
    DT_OPTION(dt_opt_int, output_size); /* default -1 */
    const dt_site *site;
} dt_repeat_interleave_self_int_options;
/* Repeats every index of a dim by a number, or by its element of a tensor.
 *     repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=-1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_repeat_interleave_self_int_sized(dt_tensor *self, int64_t repeats,
                                                      DT_OPTIONS(dt_repeat_interleave_self_int_options));

typedef struct dt_resample_options {
    const dt_site *site;
} dt_resample_options;
/* Images of the given sizes: any of avg_pool, adaptive_avg_pool and interpolate.
 *     resample(Tensor self, int[] sizes, str mode, float[] numbers) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_resample_sized(dt_tensor *self, dt_shape sizes, const char *mode, dt_reals numbers,
                                    DT_OPTIONS(dt_resample_options));

typedef struct dt_resample_backward_options {
    const dt_site *site;
} dt_resample_backward_options;
/* The transpose of resample: its gradient, of the sizes of its input.
 *     resample_backward(Tensor grad_output, int[] sizes, str mode, float[] numbers) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_resample_backward_sized(dt_tensor *grad_output, dt_shape sizes, const char *mode,
                                             dt_reals numbers, DT_OPTIONS(dt_resample_backward_options));

typedef struct dt_reshape_options {
    const dt_site *site;
} dt_reshape_options;
/* The same elements in another shape; a copy where a view cannot have it.
 *     reshape(Tensor(a) self, int[] shape) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_reshape_sized(dt_tensor *self, dt_shape shape, DT_OPTIONS(dt_reshape_options));

typedef struct dt_reshape_as_options {
    const dt_site *site;
} dt_reshape_as_options;
/* The same elements in the shape of another tensor; a copy where a view cannot have it.
 *     reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_reshape_as_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_reshape_as_options));

typedef struct dt_rms_norm_options {
    DT_OPTION(dt_tensor *, weight);
    DT_OPTION(dt_opt_real, eps);
    const dt_site *site;
} dt_rms_norm_options;
/* Divides the last dims by the root of their mean square, then scales by weight.
 *     rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_rms_norm_sized(dt_tensor *input, dt_shape normalized_shape, DT_OPTIONS(dt_rms_norm_options));

typedef struct dt_rmsprop_in_place_options {
    DT_OPTION(dt_opt_real, alpha);        /* default 0.99 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(bool, centered);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_rmsprop_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_rmsprop_in_place_result {
    dt_tensor *self, *square_avg;
} dt_rmsprop_in_place_result;
/* One step of RMSprop: writes a parameter and its state.
 *     rmsprop_(Tensor(a!) self, Tensor grad, Tensor(b!) square_avg, *, float lr, float alpha=0.99, float
 *         weight_decay=0, float eps=1e-08, float momentum=0, bool centered=False, bool maximize=False, float
 *         grad_scale=1) -> (Tensor(a!) self, Tensor(b!) square_avg)
 * Collective where inputs move, else Local. */
DT_API dt_rmsprop_in_place_result dt_rmsprop_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *square_avg,
                                                            double lr, DT_OPTIONS(dt_rmsprop_in_place_options));

typedef struct dt_rmsprop_state_in_place_options {
    DT_OPTION(dt_opt_real, alpha);        /* default 0.99 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(bool, centered);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_rmsprop_state_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_rmsprop_state_in_place_result {
    dt_tensor *self, *square_avg, *state;
} dt_rmsprop_state_in_place_result;
/* One step of RMSprop: writes a parameter and its state.
 *     rmsprop_.state(Tensor(a!) self, Tensor grad, Tensor(b!) square_avg, Tensor(c!) state, *, float lr, float
 *         alpha=0.99, float weight_decay=0, float eps=1e-08, float momentum=0, bool centered=False, bool
 *         maximize=False, float grad_scale=1) -> (Tensor(a!) self, Tensor(b!) square_avg, Tensor(c!) state)
 * Collective where inputs move, else Local. */
DT_API dt_rmsprop_state_in_place_result
dt_rmsprop_state_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *square_avg, dt_tensor *state, double lr,
                                DT_OPTIONS(dt_rmsprop_state_in_place_options));

typedef struct dt_rmsprop_centered_momentum_in_place_options {
    DT_OPTION(dt_opt_real, alpha);        /* default 0.99 */
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, eps);          /* default 1e-08 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(bool, centered);
    DT_OPTION(bool, maximize);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_rmsprop_centered_momentum_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_rmsprop_centered_momentum_in_place_result {
    dt_tensor *self, *square_avg, *grad_avg, *momentum_buffer;
} dt_rmsprop_centered_momentum_in_place_result;
/* One step of RMSprop: writes a parameter and its state.
 *     rmsprop_.centered_momentum(Tensor(a!) self, Tensor grad, Tensor(b!) square_avg, Tensor(c!) grad_avg,
 *         Tensor(d!) momentum_buffer, *, float lr, float alpha=0.99, float weight_decay=0, float eps=1e-08, float
 *         momentum=0, bool centered=False, bool maximize=False, float grad_scale=1) -> (Tensor(a!) self, Tensor(b!)
 *         square_avg, Tensor(c!) grad_avg, Tensor(d!) momentum_buffer)
 * Collective where inputs move, else Local. */
DT_API dt_rmsprop_centered_momentum_in_place_result dt_rmsprop_centered_momentum_in_place_sized(
    dt_tensor *self, dt_tensor *grad, dt_tensor *square_avg, dt_tensor *grad_avg, dt_tensor *momentum_buffer,
    double lr, DT_OPTIONS(dt_rmsprop_centered_momentum_in_place_options));

typedef struct dt_roll_options {
    DT_OPTION(dt_dims, dims);
    const dt_site *site;
} dt_roll_options;
/* Moves the indices of dims by shifts, around the end; without dims, of all elements in order.
 *     roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_roll_sized(dt_tensor *self, dt_ints shifts, DT_OPTIONS(dt_roll_options));

typedef struct dt_rotary_embedding_options {
    DT_OPTION(dt_opt_int, offset); /* default 0 */
    DT_OPTION(bool, interleaved);
    const dt_site *site;
} dt_rotary_embedding_options;
/* Rotates pairs of the last dim by the position, the index in the dim before, times their frequency.
 *     rotary_embedding(Tensor self, Tensor frequencies, *, int offset=0, bool interleaved=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_rotary_embedding_sized(dt_tensor *self, dt_tensor *frequencies,
                                            DT_OPTIONS(dt_rotary_embedding_options));

typedef struct dt_round_options {
    const dt_site *site;
} dt_round_options;
/* Every element, rounded to an integer or to decimals; halves to even.
 *     round(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_round_sized(dt_tensor *self, DT_OPTIONS(dt_round_options));

typedef struct dt_round_decimals_options {
    const dt_site *site;
} dt_round_decimals_options;
/* Every element, rounded to an integer or to decimals; halves to even.
 *     round.decimals(Tensor self, *, int decimals) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_round_decimals_sized(dt_tensor *self, int64_t decimals, DT_OPTIONS(dt_round_decimals_options));

typedef struct dt_round_in_place_options {
    const dt_site *site;
} dt_round_in_place_options;
/* Every element, rounded to an integer or to decimals; halves to even, in place.
 *     round_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_round_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_round_in_place_options));

typedef struct dt_round_decimals_in_place_options {
    const dt_site *site;
} dt_round_decimals_in_place_options;
/* Every element, rounded to an integer or to decimals; halves to even, in place.
 *     round_.decimals(Tensor(a!) self, *, int decimals) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_round_decimals_in_place_sized(dt_tensor *self, int64_t decimals,
                                                   DT_OPTIONS(dt_round_decimals_in_place_options));

typedef struct dt_rsqrt_options {
    const dt_site *site;
} dt_rsqrt_options;
/* 1 divided by the square root of every element.
 *     rsqrt(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_rsqrt_sized(dt_tensor *self, DT_OPTIONS(dt_rsqrt_options));

typedef struct dt_rsqrt_in_place_options {
    const dt_site *site;
} dt_rsqrt_in_place_options;
/* 1 divided by the square root of every element, in place.
 *     rsqrt_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_rsqrt_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_rsqrt_in_place_options));

typedef struct dt_rsub_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_rsub_options;
/* Subtracts the tensor times alpha from another one, or from a number.
 *     rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_rsub_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_rsub_options));

typedef struct dt_rsub_scalar_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_rsub_scalar_options;
/* Subtracts the tensor times alpha from another one, or from a number.
 *     rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_rsub_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_rsub_scalar_options));

typedef struct dt_scaled_dot_product_attention_options {
    DT_OPTION(dt_tensor *, attn_mask);
    DT_OPTION(dt_opt_real, dropout_p); /* default 0.0 */
    DT_OPTION(bool, is_causal);
    DT_OPTION(dt_opt_real, scale);
    DT_OPTION(bool, enable_gqa);
    const dt_site *site;
} dt_scaled_dot_product_attention_options;
/* Attention: values weighted by the softmax of the scaled products of queries and keys.
 *     scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float
 *         dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_scaled_dot_product_attention_sized(dt_tensor *query, dt_tensor *key, dt_tensor *value,
                                                        DT_OPTIONS(dt_scaled_dot_product_attention_options));

typedef struct dt_scatter_options {
    const dt_site *site;
} dt_scatter_options;
/* Writes the elements of a tensor, or a number, at indices along a dim.
 *     scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_scatter_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                                   DT_OPTIONS(dt_scatter_options));

typedef struct dt_scatter_value_options {
    const dt_site *site;
} dt_scatter_value_options;
/* Writes the elements of a tensor, or a number, at indices along a dim.
 *     scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_scatter_value_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_number value,
                                         DT_OPTIONS(dt_scatter_value_options));

typedef struct dt_scatter_in_place_options {
    const dt_site *site;
} dt_scatter_in_place_options;
/* Writes the elements of a tensor, or a number, at indices along a dim, in place.
 *     scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_scatter_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                                            DT_OPTIONS(dt_scatter_in_place_options));

typedef struct dt_scatter_value_in_place_options {
    const dt_site *site;
} dt_scatter_value_in_place_options;
/* Writes the elements of a tensor, or a number, at indices along a dim, in place.
 *     scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_scatter_value_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_number value,
                                                  DT_OPTIONS(dt_scatter_value_in_place_options));

typedef struct dt_scatter_add_options {
    const dt_site *site;
} dt_scatter_add_options;
/* Adds the elements of a tensor at indices along a dim.
 *     scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_scatter_add_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                                       DT_OPTIONS(dt_scatter_add_options));

typedef struct dt_scatter_add_in_place_options {
    const dt_site *site;
} dt_scatter_add_in_place_options;
/* Adds the elements of a tensor at indices along a dim, in place.
 *     scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_scatter_add_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                                                DT_OPTIONS(dt_scatter_add_in_place_options));

typedef struct dt_scatter_reduce_options {
    DT_OPTION(dt_opt_bool, include_self); /* default true */
    const dt_site *site;
} dt_scatter_reduce_options;
/* Reduces elements at indices along a dim, by sum, prod, mean, amax or amin.
 *     scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True)
 *         -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_scatter_reduce_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                                          const char *reduce, DT_OPTIONS(dt_scatter_reduce_options));

typedef struct dt_scatter_reduce_in_place_options {
    DT_OPTION(dt_opt_bool, include_self); /* default true */
    const dt_site *site;
} dt_scatter_reduce_in_place_options;
/* Reduces elements at indices along a dim, by sum, prod, mean, amax or amin, in place.
 *     scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool
 *         include_self=True) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_scatter_reduce_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                                                   const char *reduce,
                                                   DT_OPTIONS(dt_scatter_reduce_in_place_options));

typedef struct dt_searchsorted_options {
    bool out_int32;
    bool right;
    const char *side;
    dt_tensor *sorter;
    const dt_site *site;
} dt_searchsorted_options;
/* Where values belong in sorted sequences: before, or on the right after, elements that are equal.
 *     searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str?
 *         side=None, Tensor? sorter=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_searchsorted_sized(dt_tensor *sorted_sequence, dt_tensor *self,
                                        DT_OPTIONS(dt_searchsorted_options));

typedef struct dt_searchsorted_scalar_options {
    bool out_int32;
    bool right;
    const char *side;
    dt_tensor *sorter;
    const dt_site *site;
} dt_searchsorted_scalar_options;
/* Where values belong in sorted sequences: before, or on the right after, elements that are equal.
 *     searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str?
 *         side=None, Tensor? sorter=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_searchsorted_scalar_sized(dt_tensor *sorted_sequence, dt_number self,
                                               DT_OPTIONS(dt_searchsorted_scalar_options));

typedef struct dt_select_options {
    const dt_site *site;
} dt_select_options;
/* One index of a dim, which is removed, as a view.
 *     select.int(Tensor(a) self, int dim, int index) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_select_sized(dt_tensor *self, int64_t dim, int64_t index, DT_OPTIONS(dt_select_options));

typedef struct dt_select_backward_options {
    const dt_site *site;
} dt_select_backward_options;
/* The gradient of select: zeros, with the gradient at the index.
 *     select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_select_backward_sized(dt_tensor *grad_output, dt_shape input_sizes, int64_t dim, int64_t index,
                                           DT_OPTIONS(dt_select_backward_options));

typedef struct dt_select_scatter_options {
    const dt_site *site;
} dt_select_scatter_options;
/* A copy of a tensor with another one at an index of a dim.
 *     select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_select_scatter_sized(dt_tensor *self, dt_tensor *src, int64_t dim, int64_t index,
                                          DT_OPTIONS(dt_select_scatter_options));

typedef struct dt_selu_options {
    const dt_site *site;
} dt_selu_options;
/* elu with the alpha and the scale that keep mean and variance.
 *     selu(Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_selu_sized(dt_tensor *input, DT_OPTIONS(dt_selu_options));

typedef struct dt_selu_in_place_options {
    const dt_site *site;
} dt_selu_in_place_options;
/* elu with the alpha and the scale that keep mean and variance, in place.
 *     selu_(Tensor(a!) input) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_selu_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_selu_in_place_options));

typedef struct dt_sgd_in_place_options {
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(dt_opt_real, dampening);    /* default 0.0 */
    DT_OPTION(bool, nesterov);
    DT_OPTION(bool, maximize);
    DT_OPTION(bool, is_first);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_sgd_in_place_options;
/* One step of stochastic gradient descent, with or without momentum: writes a parameter and its state.
 *     sgd_(Tensor(a!) self, Tensor grad, *, float lr, float weight_decay=0, float momentum=0, float
 *         dampening=0, bool nesterov=False, bool maximize=False, bool is_first=False, float grad_scale=1) ->
 *         Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sgd_in_place_sized(dt_tensor *self, dt_tensor *grad, double lr,
                                        DT_OPTIONS(dt_sgd_in_place_options));

typedef struct dt_sgd_momentum_in_place_options {
    DT_OPTION(dt_opt_real, weight_decay); /* default 0.0 */
    DT_OPTION(dt_opt_real, momentum);     /* default 0.0 */
    DT_OPTION(dt_opt_real, dampening);    /* default 0.0 */
    DT_OPTION(bool, nesterov);
    DT_OPTION(bool, maximize);
    DT_OPTION(bool, is_first);
    DT_OPTION(dt_opt_real, grad_scale); /* default 1.0 */
    const dt_site *site;
} dt_sgd_momentum_in_place_options;
/* The outputs; all NULL after an error. */
typedef struct dt_sgd_momentum_in_place_result {
    dt_tensor *self, *momentum_buffer;
} dt_sgd_momentum_in_place_result;
/* One step of stochastic gradient descent, with or without momentum: writes a parameter and its state.
 *     sgd_.momentum(Tensor(a!) self, Tensor grad, Tensor(b!) momentum_buffer, *, float lr, float
 *         weight_decay=0, float momentum=0, float dampening=0, bool nesterov=False, bool maximize=False, bool
 *         is_first=False, float grad_scale=1) -> (Tensor(a!) self, Tensor(b!) momentum_buffer)
 * Collective where inputs move, else Local. */
DT_API dt_sgd_momentum_in_place_result dt_sgd_momentum_in_place_sized(dt_tensor *self, dt_tensor *grad,
                                                                      dt_tensor *momentum_buffer, double lr,
                                                                      DT_OPTIONS(dt_sgd_momentum_in_place_options));

typedef struct dt_sgn_options {
    const dt_site *site;
} dt_sgn_options;
/* The sign of every element: -1, 0 or 1; of a complex number z, z / |z|, or 0.
 *     sgn(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sgn_sized(dt_tensor *self, DT_OPTIONS(dt_sgn_options));

typedef struct dt_sgn_in_place_options {
    const dt_site *site;
} dt_sgn_in_place_options;
/* The sign of every element: -1, 0 or 1; of a complex number z, z / |z|, or 0, in place.
 *     sgn_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sgn_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_sgn_in_place_options));

typedef struct dt_short_options {
    const dt_site *site;
} dt_short_options;
/* Converts to i16.
 *     short(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_short_sized(dt_tensor *self, DT_OPTIONS(dt_short_options));

typedef struct dt_sigmoid_options {
    const dt_site *site;
} dt_sigmoid_options;
/* 1 / (1 + exp(-x)) of every element.
 *     sigmoid(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sigmoid_sized(dt_tensor *self, DT_OPTIONS(dt_sigmoid_options));

typedef struct dt_sigmoid_in_place_options {
    const dt_site *site;
} dt_sigmoid_in_place_options;
/* 1 / (1 + exp(-x)) of every element, in place.
 *     sigmoid_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sigmoid_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_sigmoid_in_place_options));

typedef struct dt_sigmoid_backward_options {
    const dt_site *site;
} dt_sigmoid_backward_options;
/* The gradient of sigmoid, from its output.
 *     sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sigmoid_backward_sized(dt_tensor *grad_output, dt_tensor *output,
                                            DT_OPTIONS(dt_sigmoid_backward_options));

typedef struct dt_sign_options {
    const dt_site *site;
} dt_sign_options;
/* -1, 0 or 1, the sign of every element.
 *     sign(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sign_sized(dt_tensor *self, DT_OPTIONS(dt_sign_options));

typedef struct dt_sign_in_place_options {
    const dt_site *site;
} dt_sign_in_place_options;
/* -1, 0 or 1, the sign of every element, in place.
 *     sign_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sign_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_sign_in_place_options));

typedef struct dt_silu_options {
    const dt_site *site;
} dt_silu_options;
/* x / (1 + exp(-x)) of every element.
 *     silu(Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_silu_sized(dt_tensor *input, DT_OPTIONS(dt_silu_options));

typedef struct dt_silu_in_place_options {
    const dt_site *site;
} dt_silu_in_place_options;
/* x / (1 + exp(-x)) of every element, in place.
 *     silu_(Tensor(a!) input) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_silu_in_place_sized(dt_tensor *input, DT_OPTIONS(dt_silu_in_place_options));

typedef struct dt_silu_backward_options {
    const dt_site *site;
} dt_silu_backward_options;
/* The gradient of silu.
 *     silu_backward(Tensor grad_output, Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_silu_backward_sized(dt_tensor *grad_output, dt_tensor *self,
                                         DT_OPTIONS(dt_silu_backward_options));

typedef struct dt_sin_options {
    const dt_site *site;
} dt_sin_options;
/* The sine of every element.
 *     sin(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sin_sized(dt_tensor *self, DT_OPTIONS(dt_sin_options));

typedef struct dt_sin_in_place_options {
    const dt_site *site;
} dt_sin_in_place_options;
/* The sine of every element, in place.
 *     sin_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sin_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_sin_in_place_options));

typedef struct dt_sinh_options {
    const dt_site *site;
} dt_sinh_options;
/* The hyperbolic sine of every element.
 *     sinh(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sinh_sized(dt_tensor *self, DT_OPTIONS(dt_sinh_options));

typedef struct dt_sinh_in_place_options {
    const dt_site *site;
} dt_sinh_in_place_options;
/* The hyperbolic sine of every element, in place.
 *     sinh_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sinh_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_sinh_in_place_options));

typedef struct dt_slice_options {
    const dt_site *site;
} dt_slice_options;
/* Elements start to end - 1 of a dim, in steps, as a view.
 *     slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_slice_sized(dt_tensor *self, int64_t dim, int64_t start, int64_t end, int64_t step,
                                 DT_OPTIONS(dt_slice_options));

typedef struct dt_slice_backward_options {
    const dt_site *site;
} dt_slice_backward_options;
/* The gradient of slice: zeros, with the gradient at the elements of the slice.
 *     slice_backward(Tensor grad_output, int[] input_sizes, int dim, int start, int end, int step) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_slice_backward_sized(dt_tensor *grad_output, dt_shape input_sizes, int64_t dim, int64_t start,
                                          int64_t end, int64_t step, DT_OPTIONS(dt_slice_backward_options));

typedef struct dt_slice_scatter_options {
    const dt_site *site;
} dt_slice_scatter_options;
/* A copy of a tensor with another one at the indices of a slice of a dim.
 *     slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_slice_scatter_sized(dt_tensor *self, dt_tensor *src, int64_t dim, int64_t start, int64_t end,
                                         int64_t step, DT_OPTIONS(dt_slice_scatter_options));

typedef struct dt_slice_scatter_in_place_options {
    const dt_site *site;
} dt_slice_scatter_in_place_options;
/* A copy of a tensor with another one at the indices of a slice of a dim, in place.
 *     slice_scatter_(Tensor(a!) self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) ->
 *         Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_slice_scatter_in_place_sized(dt_tensor *self, dt_tensor *src, int64_t dim, int64_t start,
                                                  int64_t end, int64_t step,
                                                  DT_OPTIONS(dt_slice_scatter_in_place_options));

typedef struct dt_smooth_l1_loss_options {
    DT_OPTION(const char *, reduction); /* default mean */
    DT_OPTION(dt_opt_real, beta);       /* default 1.0 */
    const dt_site *site;
} dt_smooth_l1_loss_options;
/* Absolute differences, squared below beta, or their mean or sum.
 *     smooth_l1_loss(Tensor input, Tensor target, str reduction="mean", float beta=1.0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_smooth_l1_loss_sized(dt_tensor *input, dt_tensor *target, DT_OPTIONS(dt_smooth_l1_loss_options));

typedef struct dt_softmax_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_softmax_options;
/* Exponentials along a dim, divided by their sum.
 *     softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_softmax_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_softmax_options));

typedef struct dt_softmin_options {
    DT_OPTION(dt_opt_int, dim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_softmin_options;
/* softmax of the negated elements.
 *     softmin(Tensor input, int? dim=None, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_softmin_sized(dt_tensor *input, DT_OPTIONS(dt_softmin_options));

typedef struct dt_softplus_options {
    DT_OPTION(dt_number, beta);      /* default 1 */
    DT_OPTION(dt_number, threshold); /* default 20 */
    const dt_site *site;
} dt_softplus_options;
/* log(1 + exp(beta x)) / beta; x where beta x is above the threshold.
 *     softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_softplus_sized(dt_tensor *self, DT_OPTIONS(dt_softplus_options));

typedef struct dt_softshrink_options {
    DT_OPTION(dt_number, lambd); /* default 0.5 */
    const dt_site *site;
} dt_softshrink_options;
/* Every element, moved by lambd toward 0.
 *     softshrink(Tensor self, Scalar lambd=0.5) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_softshrink_sized(dt_tensor *self, DT_OPTIONS(dt_softshrink_options));

typedef struct dt_softsign_options {
    const dt_site *site;
} dt_softsign_options;
/* x / (1 + |x|) of every element.
 *     softsign(Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_softsign_sized(dt_tensor *input, DT_OPTIONS(dt_softsign_options));

typedef struct dt_sort_options {
    DT_OPTION(dt_opt_int, dim); /* default -1 */
    DT_OPTION(bool, descending);
    const dt_site *site;
} dt_sort_options;
/* The outputs; all NULL after an error. */
typedef struct dt_sort_result {
    dt_tensor *values, *indices;
} dt_sort_result;
/* The elements along a dim in order, with their positions; equal ones keep their order.
 *     sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor
 *         indices)
 * Collective where inputs move, else Local. */
DT_API dt_sort_result dt_sort_sized(dt_tensor *self, DT_OPTIONS(dt_sort_options));

typedef struct dt_split_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_split_options;
/* Splits a dim into blocks of one size, or of the given sizes, as views.
 *     split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_split_sized(dt_tensor *self, int64_t split_size, dt_tensor **out, int capacity,
                          DT_OPTIONS(dt_split_options));

typedef struct dt_split_sizes_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_split_sizes_options;
/* Splits a dim into blocks of one size, or of the given sizes, as views.
 *     split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_split_sizes_sized(dt_tensor *self, dt_ints split_size, dt_tensor **out, int capacity,
                                DT_OPTIONS(dt_split_sizes_options));

typedef struct dt_split_with_sizes_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_split_with_sizes_options;
/* Splits a dim into blocks of the given sizes, as views.
 *     split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_split_with_sizes_sized(dt_tensor *self, dt_ints split_sizes, dt_tensor **out, int capacity,
                                     DT_OPTIONS(dt_split_with_sizes_options));

typedef struct dt_sqrt_options {
    const dt_site *site;
} dt_sqrt_options;
/* The square root of every element.
 *     sqrt(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sqrt_sized(dt_tensor *self, DT_OPTIONS(dt_sqrt_options));

typedef struct dt_sqrt_in_place_options {
    const dt_site *site;
} dt_sqrt_in_place_options;
/* The square root of every element, in place.
 *     sqrt_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sqrt_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_sqrt_in_place_options));

typedef struct dt_square_options {
    const dt_site *site;
} dt_square_options;
/* The square of every element.
 *     square(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_square_sized(dt_tensor *self, DT_OPTIONS(dt_square_options));

typedef struct dt_square_in_place_options {
    const dt_site *site;
} dt_square_in_place_options;
/* The square of every element, in place.
 *     square_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_square_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_square_in_place_options));

typedef struct dt_squeeze_options {
    const dt_site *site;
} dt_squeeze_options;
/* Removes dims of size 1: all of them, or those that are named.
 *     squeeze(Tensor(a) self) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_squeeze_sized(dt_tensor *self, DT_OPTIONS(dt_squeeze_options));

typedef struct dt_squeeze_dim_options {
    const dt_site *site;
} dt_squeeze_dim_options;
/* Removes dims of size 1: all of them, or those that are named.
 *     squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_squeeze_dim_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_squeeze_dim_options));

typedef struct dt_squeeze_dims_options {
    const dt_site *site;
} dt_squeeze_dims_options;
/* Removes dims of size 1: all of them, or those that are named.
 *     squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_squeeze_dims_sized(dt_tensor *self, dt_dims dim, DT_OPTIONS(dt_squeeze_dims_options));

typedef struct dt_stack_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_stack_options;
/* Joins tensors of one shape along a new dim.
 *     stack(Tensor[] tensors, int dim=0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_stack_sized(dt_tensors tensors, DT_OPTIONS(dt_stack_options));

typedef struct dt_std_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(dt_opt_bool, unbiased); /* default true */
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_std_options;
/* Standard deviation over all dims or over some.
 *     std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_std_sized(dt_tensor *self, DT_OPTIONS(dt_std_options));

typedef struct dt_std_correction_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(dt_number, correction);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_std_correction_options;
/* Standard deviation over all dims or over some.
 *     std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_std_correction_sized(dt_tensor *self, DT_OPTIONS(dt_std_correction_options));

typedef struct dt_std_mean_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(dt_opt_bool, unbiased); /* default true */
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_std_mean_options;
/* The outputs; all NULL after an error. */
typedef struct dt_std_mean_result {
    dt_tensor *std, *mean;
} dt_std_mean_result;
/* Standard deviation and mean over all dims or over some.
 *     std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor std, Tensor
 *         mean)
 * Collective where inputs move, else Local. */
DT_API dt_std_mean_result dt_std_mean_sized(dt_tensor *self, DT_OPTIONS(dt_std_mean_options));

typedef struct dt_std_mean_correction_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(dt_number, correction);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_std_mean_correction_options;
/* The outputs; all NULL after an error. */
typedef struct dt_std_mean_correction_result {
    dt_tensor *std, *mean;
} dt_std_mean_correction_result;
/* Standard deviation and mean over all dims or over some.
 *     std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) ->
 *         (Tensor std, Tensor mean)
 * Collective where inputs move, else Local. */
DT_API dt_std_mean_correction_result dt_std_mean_correction_sized(dt_tensor *self,
                                                                  DT_OPTIONS(dt_std_mean_correction_options));

typedef struct dt_sub_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_sub_options;
/* Subtracts a tensor, or a number, times alpha.
 *     sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sub_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_sub_options));

typedef struct dt_sub_scalar_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_sub_scalar_options;
/* Subtracts a tensor, or a number, times alpha.
 *     sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sub_scalar_sized(dt_tensor *self, dt_number other, DT_OPTIONS(dt_sub_scalar_options));

typedef struct dt_sub_in_place_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_sub_in_place_options;
/* Subtracts a tensor, or a number, times alpha, in place.
 *     sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sub_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_sub_in_place_options));

typedef struct dt_sub_scalar_in_place_options {
    DT_OPTION(dt_number, alpha); /* default 1 */
    const dt_site *site;
} dt_sub_scalar_in_place_options;
/* Subtracts a tensor, or a number, times alpha, in place.
 *     sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sub_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                               DT_OPTIONS(dt_sub_scalar_in_place_options));

typedef struct dt_sum_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(bool, keepdim);
    DT_OPTION(dt_dtype, dtype);
    const dt_site *site;
} dt_sum_options;
/* Sum over all dims or over some.
 *     sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_sum_sized(dt_tensor *self, DT_OPTIONS(dt_sum_options));

typedef struct dt_svd_options {
    DT_OPTION(dt_opt_bool, some);       /* default true */
    DT_OPTION(dt_opt_bool, compute_uv); /* default true */
    const dt_site *site;
} dt_svd_options;
/* The outputs; all NULL after an error. */
typedef struct dt_svd_result {
    dt_tensor *U, *S, *V;
} dt_svd_result;
/* As linalg_svd, with V instead of its adjoint.
 *     svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)
 * Collective where inputs move, else Local. */
DT_API dt_svd_result dt_svd_sized(dt_tensor *self, DT_OPTIONS(dt_svd_options));

typedef struct dt_swapaxes_options {
    const dt_site *site;
} dt_swapaxes_options;
/* Swaps two axes, which are dims, as a view.
 *     swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_swapaxes_sized(dt_tensor *self, int64_t axis0, int64_t axis1, DT_OPTIONS(dt_swapaxes_options));

typedef struct dt_t_options {
    const dt_site *site;
} dt_t_options;
/* The transpose of a matrix, as a view; a vector or a number itself.
 *     t(Tensor(a) self) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_t_sized(dt_tensor *self, DT_OPTIONS(dt_t_options));

typedef struct dt_take_along_dim_options {
    DT_OPTION(dt_opt_int, dim);
    const dt_site *site;
} dt_take_along_dim_options;
/* Picks an element along a dim for each index, with broadcasting; without a dim, of all elements.
 *     take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_take_along_dim_sized(dt_tensor *self, dt_tensor *indices, DT_OPTIONS(dt_take_along_dim_options));

typedef struct dt_tan_options {
    const dt_site *site;
} dt_tan_options;
/* The tangent of every element.
 *     tan(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tan_sized(dt_tensor *self, DT_OPTIONS(dt_tan_options));

typedef struct dt_tan_in_place_options {
    const dt_site *site;
} dt_tan_in_place_options;
/* The tangent of every element, in place.
 *     tan_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tan_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_tan_in_place_options));

typedef struct dt_tanh_options {
    const dt_site *site;
} dt_tanh_options;
/* The hyperbolic tangent of every element.
 *     tanh(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tanh_sized(dt_tensor *self, DT_OPTIONS(dt_tanh_options));

typedef struct dt_tanh_in_place_options {
    const dt_site *site;
} dt_tanh_in_place_options;
/* The hyperbolic tangent of every element, in place.
 *     tanh_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tanh_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_tanh_in_place_options));

typedef struct dt_tanh_backward_options {
    const dt_site *site;
} dt_tanh_backward_options;
/* The gradient of tanh, from its output.
 *     tanh_backward(Tensor grad_output, Tensor output) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tanh_backward_sized(dt_tensor *grad_output, dt_tensor *output,
                                         DT_OPTIONS(dt_tanh_backward_options));

typedef struct dt_tanhshrink_options {
    const dt_site *site;
} dt_tanhshrink_options;
/* x - tanh(x) of every element.
 *     tanhshrink(Tensor input) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tanhshrink_sized(dt_tensor *input, DT_OPTIONS(dt_tanhshrink_options));

typedef struct dt_tensor_split_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_tensor_split_options;
/* Splits a dim into sections of nearly one size, or at indices, as views; either may be a tensor.
 *     tensor_split.sections(Tensor(a -> *) self, int sections, int dim=0) -> Tensor(a)[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_tensor_split_sized(dt_tensor *self, int64_t sections, dt_tensor **out, int capacity,
                                 DT_OPTIONS(dt_tensor_split_options));

typedef struct dt_tensor_split_indices_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_tensor_split_indices_options;
/* Splits a dim into sections of nearly one size, or at indices, as views; either may be a tensor.
 *     tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> Tensor(a)[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_tensor_split_indices_sized(dt_tensor *self, dt_ints indices, dt_tensor **out, int capacity,
                                         DT_OPTIONS(dt_tensor_split_indices_options));

typedef struct dt_tensor_split_tensor_indices_or_sections_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_tensor_split_tensor_indices_or_sections_options;
/* Splits a dim into sections of nearly one size, or at indices, as views; either may be a tensor.
 *     tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int
 *         dim=0) -> Tensor(a)[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int
dt_tensor_split_tensor_indices_or_sections_sized(dt_tensor *self, dt_tensor *tensor_indices_or_sections,
                                                 dt_tensor **out, int capacity,
                                                 DT_OPTIONS(dt_tensor_split_tensor_indices_or_sections_options));

typedef struct dt_tensordot_options {
    const dt_site *site;
} dt_tensordot_options;
/* Sums of products over pairs of dims of two tensors.
 *     tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tensordot_sized(dt_tensor *self, dt_tensor *other, dt_ints dims_self, dt_ints dims_other,
                                     DT_OPTIONS(dt_tensordot_options));

typedef struct dt_threshold_options {
    const dt_site *site;
} dt_threshold_options;
/* Every element that is above the threshold, value for the others.
 *     threshold(Tensor input, float threshold, float value) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_threshold_sized(dt_tensor *input, double threshold, double value,
                                     DT_OPTIONS(dt_threshold_options));

typedef struct dt_threshold_in_place_options {
    const dt_site *site;
} dt_threshold_in_place_options;
/* Every element that is above the threshold, value for the others, in place.
 *     threshold_(Tensor(a!) input, float threshold, float value) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_threshold_in_place_sized(dt_tensor *input, double threshold, double value,
                                              DT_OPTIONS(dt_threshold_in_place_options));

typedef struct dt_threshold_backward_options {
    const dt_site *site;
} dt_threshold_backward_options;
/* The gradient of relu and threshold: zero where the tensor is not above the threshold.
 *     threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_threshold_backward_sized(dt_tensor *grad_output, dt_tensor *self, dt_number threshold,
                                              DT_OPTIONS(dt_threshold_backward_options));

typedef struct dt_tile_options {
    const dt_site *site;
} dt_tile_options;
/* Copies of a tensor side by side along its last dims.
 *     tile(Tensor self, int[] dims) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tile_sized(dt_tensor *self, dt_dims dims, DT_OPTIONS(dt_tile_options));

typedef struct dt_to_options {
    bool copy;
    const dt_site *site;
} dt_to_options;
/* Converts to another dtype.
 *     to.dtype(Tensor(a) self, ScalarType dtype, bool copy=False) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_to_sized(dt_tensor *self, dt_dtype dtype, DT_OPTIONS(dt_to_options));

typedef struct dt_topk_options {
    DT_OPTION(dt_opt_int, dim);      /* default -1 */
    DT_OPTION(dt_opt_bool, largest); /* default true */
    const dt_site *site;
} dt_topk_options;
/* The outputs; all NULL after an error. */
typedef struct dt_topk_result {
    dt_tensor *values, *indices;
} dt_topk_result;
/* The k largest or smallest elements along a dim in order, with their positions.
 *     topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor
 *         indices)
 * Collective where inputs move, else Local. */
DT_API dt_topk_result dt_topk_sized(dt_tensor *self, int64_t k, DT_OPTIONS(dt_topk_options));

typedef struct dt_trace_options {
    const dt_site *site;
} dt_trace_options;
/* Sum of the diagonal of a matrix.
 *     trace(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_trace_sized(dt_tensor *self, DT_OPTIONS(dt_trace_options));

typedef struct dt_transpose_options {
    const dt_site *site;
} dt_transpose_options;
/* Swaps two dims, as a view.
 *     transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_transpose_sized(dt_tensor *self, int64_t dim0, int64_t dim1, DT_OPTIONS(dt_transpose_options));

typedef struct dt_triangular_solve_options {
    DT_OPTION(dt_opt_bool, upper); /* default true */
    DT_OPTION(bool, transpose);
    DT_OPTION(bool, unitriangular);
    const dt_site *site;
} dt_triangular_solve_options;
/* The outputs; all NULL after an error. */
typedef struct dt_triangular_solve_result {
    dt_tensor *solution, *cloned_coefficient;
} dt_triangular_solve_result;
/* X with A X = B for a triangular A or its transpose, as linalg_solve_triangular, and a copy of A.
 *     triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False)
 *         -> (Tensor solution, Tensor cloned_coefficient)
 * Collective where inputs move, else Local. */
DT_API dt_triangular_solve_result dt_triangular_solve_sized(dt_tensor *self, dt_tensor *A,
                                                            DT_OPTIONS(dt_triangular_solve_options));

typedef struct dt_tril_options {
    DT_OPTION(dt_opt_int, diagonal); /* default 0 */
    const dt_site *site;
} dt_tril_options;
/* Elements on and below a diagonal, 0 elsewhere.
 *     tril(Tensor self, int diagonal=0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tril_sized(dt_tensor *self, DT_OPTIONS(dt_tril_options));

typedef struct dt_tril_in_place_options {
    DT_OPTION(dt_opt_int, diagonal); /* default 0 */
    const dt_site *site;
} dt_tril_in_place_options;
/* Elements on and below a diagonal, 0 elsewhere, in place.
 *     tril_(Tensor(a!) self, int diagonal=0) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_tril_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_tril_in_place_options));

/* Rows and columns of the elements on and below a diagonal, in order.
 *     tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long) -> Tensor
 * Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_tril_indices_sized(dt_ctx *ctx, int64_t row, int64_t col, int64_t offset,
                                        DT_OPTIONS(dt_make_options));

typedef struct dt_triu_options {
    DT_OPTION(dt_opt_int, diagonal); /* default 0 */
    const dt_site *site;
} dt_triu_options;
/* Elements on and above a diagonal, 0 elsewhere.
 *     triu(Tensor self, int diagonal=0) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_triu_sized(dt_tensor *self, DT_OPTIONS(dt_triu_options));

typedef struct dt_triu_in_place_options {
    DT_OPTION(dt_opt_int, diagonal); /* default 0 */
    const dt_site *site;
} dt_triu_in_place_options;
/* Elements on and above a diagonal, 0 elsewhere, in place.
 *     triu_(Tensor(a!) self, int diagonal=0) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_triu_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_triu_in_place_options));

/* Rows and columns of the elements on and above a diagonal, in order.
 *     triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long) -> Tensor
 * Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_triu_indices_sized(dt_ctx *ctx, int64_t row, int64_t col, int64_t offset,
                                        DT_OPTIONS(dt_make_options));

typedef struct dt_trunc_options {
    const dt_site *site;
} dt_trunc_options;
/* The integer part of every element.
 *     trunc(Tensor self) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_trunc_sized(dt_tensor *self, DT_OPTIONS(dt_trunc_options));

typedef struct dt_trunc_in_place_options {
    const dt_site *site;
} dt_trunc_in_place_options;
/* The integer part of every element, in place.
 *     trunc_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_trunc_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_trunc_in_place_options));

typedef struct dt_type_as_options {
    const dt_site *site;
} dt_type_as_options;
/* Converts to the dtype of another tensor.
 *     type_as(Tensor(a) self, Tensor other) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_type_as_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_type_as_options));

typedef struct dt_unbind_options {
    DT_OPTION(dt_opt_int, dim); /* default 0 */
    const dt_site *site;
} dt_unbind_options;
/* Every index of a dim, which is removed, as views.
 *     unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]
 * Writes up to capacity outputs and returns their number, or -1. Collective where inputs move, else Local. */
DT_API int dt_unbind_sized(dt_tensor *self, dt_tensor **out, int capacity, DT_OPTIONS(dt_unbind_options));

typedef struct dt_unflatten_options {
    const dt_site *site;
} dt_unflatten_options;
/* One dim as several.
 *     unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_unflatten_sized(dt_tensor *self, int64_t dim, dt_shape sizes, DT_OPTIONS(dt_unflatten_options));

typedef struct dt_unfold_options {
    const dt_site *site;
} dt_unfold_options;
/* Windows of `size` indices of a dim, `step` apart, as a last dim; a copy if the dim is sharded.
 *     unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_unfold_sized(dt_tensor *self, int64_t dimension, int64_t size, int64_t step,
                                  DT_OPTIONS(dt_unfold_options));

typedef struct dt_unfold_backward_options {
    const dt_site *site;
} dt_unfold_backward_options;
/* The gradient of unfold: each element's gradients, summed over the windows that it is in.
 *     unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_unfold_backward_sized(dt_tensor *grad_in, dt_shape input_sizes, int64_t dim, int64_t size,
                                           int64_t step, DT_OPTIONS(dt_unfold_backward_options));

typedef struct dt_unsqueeze_options {
    const dt_site *site;
} dt_unsqueeze_options;
/* Inserts a dim of size 1.
 *     unsqueeze(Tensor(a) self, int dim) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_unsqueeze_sized(dt_tensor *self, int64_t dim, DT_OPTIONS(dt_unsqueeze_options));

typedef struct dt_var_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(dt_opt_bool, unbiased); /* default true */
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_var_options;
/* Variance over all dims or over some.
 *     var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_var_sized(dt_tensor *self, DT_OPTIONS(dt_var_options));

typedef struct dt_var_correction_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(dt_number, correction);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_var_correction_options;
/* Variance over all dims or over some.
 *     var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_var_correction_sized(dt_tensor *self, DT_OPTIONS(dt_var_correction_options));

typedef struct dt_var_mean_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(dt_opt_bool, unbiased); /* default true */
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_var_mean_options;
/* The outputs; all NULL after an error. */
typedef struct dt_var_mean_result {
    dt_tensor *var, *mean;
} dt_var_mean_result;
/* Variance and mean over all dims or over some.
 *     var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor var, Tensor
 *         mean)
 * Collective where inputs move, else Local. */
DT_API dt_var_mean_result dt_var_mean_sized(dt_tensor *self, DT_OPTIONS(dt_var_mean_options));

typedef struct dt_var_mean_correction_options {
    DT_OPTION(dt_dims, dim);
    DT_OPTION(dt_number, correction);
    DT_OPTION(bool, keepdim);
    const dt_site *site;
} dt_var_mean_correction_options;
/* The outputs; all NULL after an error. */
typedef struct dt_var_mean_correction_result {
    dt_tensor *var, *mean;
} dt_var_mean_correction_result;
/* Variance and mean over all dims or over some.
 *     var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) ->
 *         (Tensor var, Tensor mean)
 * Collective where inputs move, else Local. */
DT_API dt_var_mean_correction_result dt_var_mean_correction_sized(dt_tensor *self,
                                                                  DT_OPTIONS(dt_var_mean_correction_options));

typedef struct dt_vdot_options {
    const dt_site *site;
} dt_vdot_options;
/* Product of two vectors; the first is conjugated.
 *     vdot(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_vdot_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_vdot_options));

typedef struct dt_view_options {
    const dt_site *site;
} dt_view_options;
/* The same elements in another shape, without a copy.
 *     view(Tensor(a) self, int[] size) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_view_sized(dt_tensor *self, dt_shape size, DT_OPTIONS(dt_view_options));

typedef struct dt_view_as_options {
    const dt_site *site;
} dt_view_as_options;
/* The same elements in the shape of another tensor, without a copy.
 *     view_as(Tensor(a) self, Tensor other) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_view_as_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_view_as_options));

typedef struct dt_view_as_complex_options {
    const dt_site *site;
} dt_view_as_complex_options;
/* The last dim, of real and imaginary parts, as complex numbers, as a view.
 *     view_as_complex(Tensor(a) self) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_view_as_complex_sized(dt_tensor *self, DT_OPTIONS(dt_view_as_complex_options));

typedef struct dt_view_as_real_options {
    const dt_site *site;
} dt_view_as_real_options;
/* The real and the imaginary parts of complex numbers as a new last dim, as a view.
 *     view_as_real(Tensor(a) self) -> Tensor(a)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_view_as_real_sized(dt_tensor *self, DT_OPTIONS(dt_view_as_real_options));

typedef struct dt_vstack_options {
    const dt_site *site;
} dt_vstack_options;
/* Concatenates tensors along dim 0; vectors are rows.
 *     vstack(Tensor[] tensors) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_vstack_sized(dt_tensors tensors, DT_OPTIONS(dt_vstack_options));

typedef struct dt_where_options {
    const dt_site *site;
} dt_where_options;
/* Elements of one tensor where the condition is true, of the other where it is false.
 *     where.self(Tensor condition, Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_where_sized(dt_tensor *condition, dt_tensor *self, dt_tensor *other,
                                 DT_OPTIONS(dt_where_options));

typedef struct dt_where_scalar_other_options {
    const dt_site *site;
} dt_where_scalar_other_options;
/* Elements of one tensor where the condition is true, of the other where it is false.
 *     where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_where_scalar_other_sized(dt_tensor *condition, dt_tensor *self, dt_number other,
                                              DT_OPTIONS(dt_where_scalar_other_options));

typedef struct dt_where_scalar_self_options {
    const dt_site *site;
} dt_where_scalar_self_options;
/* Elements of one tensor where the condition is true, of the other where it is false.
 *     where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_where_scalar_self_sized(dt_tensor *condition, dt_number self, dt_tensor *other,
                                             DT_OPTIONS(dt_where_scalar_self_options));

typedef struct dt_where_scalars_options {
    const dt_site *site;
} dt_where_scalars_options;
/* Elements of one tensor where the condition is true, of the other where it is false.
 *     where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_where_scalars_sized(dt_tensor *condition, dt_number self, dt_number other,
                                         DT_OPTIONS(dt_where_scalars_options));

typedef struct dt_xlogy_options {
    const dt_site *site;
} dt_xlogy_options;
/* x log(y) of two elements; 0 where x is 0.
 *     xlogy.Tensor(Tensor self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_xlogy_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_xlogy_options));

typedef struct dt_xlogy_scalar_other_options {
    const dt_site *site;
} dt_xlogy_scalar_other_options;
/* x log(y) of two elements; 0 where x is 0.
 *     xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_xlogy_scalar_other_sized(dt_tensor *self, dt_number other,
                                              DT_OPTIONS(dt_xlogy_scalar_other_options));

typedef struct dt_xlogy_scalar_self_options {
    const dt_site *site;
} dt_xlogy_scalar_self_options;
/* x log(y) of two elements; 0 where x is 0.
 *     xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_xlogy_scalar_self_sized(dt_number self, dt_tensor *other,
                                             DT_OPTIONS(dt_xlogy_scalar_self_options));

typedef struct dt_xlogy_in_place_options {
    const dt_site *site;
} dt_xlogy_in_place_options;
/* x log(y) of two elements; 0 where x is 0, in place.
 *     xlogy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_xlogy_in_place_sized(dt_tensor *self, dt_tensor *other, DT_OPTIONS(dt_xlogy_in_place_options));

typedef struct dt_xlogy_scalar_in_place_options {
    const dt_site *site;
} dt_xlogy_scalar_in_place_options;
/* x log(y) of two elements; 0 where x is 0, in place.
 *     xlogy_.Scalar_Other(Tensor(a!) self, Scalar other) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_xlogy_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                 DT_OPTIONS(dt_xlogy_scalar_in_place_options));

typedef struct dt_zero_in_place_options {
    const dt_site *site;
} dt_zero_in_place_options;
/* Sets every element to 0.
 *     zero_(Tensor(a!) self) -> Tensor(a!)
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_zero_in_place_sized(dt_tensor *self, DT_OPTIONS(dt_zero_in_place_options));

/* A tensor of zeros.
 *     zeros(int[] size, *, ScalarType? dtype=None) -> Tensor
 * Local; every rank of the mesh must make the same call. */
DT_API dt_tensor *dt_zeros_sized(dt_ctx *ctx, dt_shape size, DT_OPTIONS(dt_make_options));

typedef struct dt_zeros_like_options {
    dt_dtype dtype;
    const dt_site *site;
} dt_zeros_like_options;
/* Zeros with the shape, dtype and placements of another tensor.
 *     zeros_like(Tensor self, *, ScalarType? dtype=None) -> Tensor
 * Collective where inputs move, else Local. */
DT_API dt_tensor *dt_zeros_like_sized(dt_tensor *self, DT_OPTIONS(dt_zeros_like_options));

#ifndef __cplusplus
/* clang-format off */
#define dt_T(...) DT_T_CAPITAL_(__VA_ARGS__, .site = DT_SITE)
#define DT_T_CAPITAL_(self, ...) dt_T_sized(self, DT_NAMED(dt_T_options, __VA_ARGS__))
#define dt_foreach_abs(...) DT_FOREACH_ABS_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_ABS_(self, out, capacity, ...) \
    dt_foreach_abs_sized(self, out, capacity, DT_NAMED(dt_foreach_abs_options, __VA_ARGS__))
#define dt_foreach_acos(...) DT_FOREACH_ACOS_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_ACOS_(self, out, capacity, ...) \
    dt_foreach_acos_sized(self, out, capacity, DT_NAMED(dt_foreach_acos_options, __VA_ARGS__))
#define dt_foreach_acos_(...) DT_FOREACH_ACOS__(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_ACOS__(self, ...) \
    dt_foreach_acos_in_place_sized(self, DT_NAMED(dt_foreach_acos_in_place_options, __VA_ARGS__))
#define dt_foreach_add(...) DT_FOREACH_ADD_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_ADD_(self, other, out, capacity, ...) \
    dt_foreach_add_sized(self, other, out, capacity, DT_CHECKED(dt_foreach_add_options, __VA_ARGS__))
#define dt_foreach_add_scalar(...) DT_FOREACH_ADD_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_ADD_SCALAR_(self, scalar, out, capacity, ...) \
    dt_foreach_add_scalar_sized(self, DT_NUMBER(scalar), out, capacity, \
        DT_NAMED(dt_foreach_add_scalar_options, __VA_ARGS__))
#define dt_foreach_add_(...) DT_FOREACH_ADD__(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_ADD__(self, other, ...) \
    dt_foreach_add_in_place_sized(self, other, DT_CHECKED(dt_foreach_add_in_place_options, __VA_ARGS__))
#define dt_foreach_add_scalar_(...) DT_FOREACH_ADD_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_ADD_SCALAR__(self, scalar, ...) \
    dt_foreach_add_scalar_in_place_sized(self, DT_NUMBER(scalar), \
        DT_NAMED(dt_foreach_add_scalar_in_place_options, __VA_ARGS__))
#define dt_foreach_max(...) DT_FOREACH_MAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_MAX_(self, out, capacity, ...) \
    dt_foreach_max_sized(self, out, capacity, DT_NAMED(dt_foreach_max_options, __VA_ARGS__))
#define dt_foreach_mul(...) DT_FOREACH_MUL_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_MUL_(self, other, out, capacity, ...) \
    dt_foreach_mul_sized(self, other, out, capacity, DT_NAMED(dt_foreach_mul_options, __VA_ARGS__))
#define dt_foreach_mul_scalar(...) DT_FOREACH_MUL_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_MUL_SCALAR_(self, scalar, out, capacity, ...) \
    dt_foreach_mul_scalar_sized(self, DT_NUMBER(scalar), out, capacity, \
        DT_NAMED(dt_foreach_mul_scalar_options, __VA_ARGS__))
#define dt_foreach_mul_(...) DT_FOREACH_MUL__(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_MUL__(self, other, ...) \
    dt_foreach_mul_in_place_sized(self, other, DT_NAMED(dt_foreach_mul_in_place_options, __VA_ARGS__))
#define dt_foreach_mul_scalar_(...) DT_FOREACH_MUL_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_MUL_SCALAR__(self, scalar, ...) \
    dt_foreach_mul_scalar_in_place_sized(self, DT_NUMBER(scalar), \
        DT_NAMED(dt_foreach_mul_scalar_in_place_options, __VA_ARGS__))
#define dt_foreach_neg(...) DT_FOREACH_NEG_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_NEG_(self, out, capacity, ...) \
    dt_foreach_neg_sized(self, out, capacity, DT_NAMED(dt_foreach_neg_options, __VA_ARGS__))
#define dt_foreach_norm(...) DT_FOREACH_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_NORM_(self, out, capacity, ...) \
    dt_foreach_norm_sized(self, out, capacity, DT_CHECKED(dt_foreach_norm_options, __VA_ARGS__))
#define dt_foreach_power_sum(...) DT_FOREACH_POWER_SUM_(__VA_ARGS__, .site = DT_SITE)
#define DT_FOREACH_POWER_SUM_(self, out, capacity, ...) \
    dt_foreach_power_sum_sized(self, out, capacity, DT_CHECKED(dt_foreach_power_sum_options, __VA_ARGS__))
#define dt_fused_adagrad_(...) DT_FUSED_ADAGRAD__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_ADAGRAD__(self, grads, state_sums, lr, step, ...) \
    dt_fused_adagrad_in_place_sized(self, grads, state_sums, lr, step, \
        DT_CHECKED(dt_fused_adagrad_in_place_options, __VA_ARGS__))
#define dt_fused_adam_(...) DT_FUSED_ADAM__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_ADAM__(self, grads, exp_avgs, exp_avg_sqs, lr, step, ...) \
    dt_fused_adam_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, lr, step, \
        DT_CHECKED(dt_fused_adam_in_place_options, __VA_ARGS__))
#define dt_fused_adam_amsgrad_(...) DT_FUSED_ADAM_AMSGRAD__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_ADAM_AMSGRAD__(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, lr, step, ...) \
    dt_fused_adam_amsgrad_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, lr, step, \
        DT_CHECKED(dt_fused_adam_amsgrad_in_place_options, __VA_ARGS__))
#define dt_fused_adamax_(...) DT_FUSED_ADAMAX__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_ADAMAX__(self, grads, exp_avgs, exp_infs, lr, step, ...) \
    dt_fused_adamax_in_place_sized(self, grads, exp_avgs, exp_infs, lr, step, \
        DT_CHECKED(dt_fused_adamax_in_place_options, __VA_ARGS__))
#define dt_fused_adamw_(...) DT_FUSED_ADAMW__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_ADAMW__(self, grads, exp_avgs, exp_avg_sqs, lr, step, ...) \
    dt_fused_adamw_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, lr, step, \
        DT_CHECKED(dt_fused_adamw_in_place_options, __VA_ARGS__))
#define dt_fused_adamw_amsgrad_(...) DT_FUSED_ADAMW_AMSGRAD__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_ADAMW_AMSGRAD__(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, lr, step, ...) \
    dt_fused_adamw_amsgrad_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, lr, step, \
        DT_CHECKED(dt_fused_adamw_amsgrad_in_place_options, __VA_ARGS__))
#define dt_fused_lion_(...) DT_FUSED_LION__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_LION__(self, grads, exp_avgs, lr, ...) \
    dt_fused_lion_in_place_sized(self, grads, exp_avgs, lr, DT_CHECKED(dt_fused_lion_in_place_options, __VA_ARGS__))
#define dt_fused_nadam_(...) DT_FUSED_NADAM__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_NADAM__(self, grads, exp_avgs, exp_avg_sqs, lr, step, mu_product, ...) \
    dt_fused_nadam_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, lr, step, mu_product, \
        DT_CHECKED(dt_fused_nadam_in_place_options, __VA_ARGS__))
#define dt_fused_radam_(...) DT_FUSED_RADAM__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_RADAM__(self, grads, exp_avgs, exp_avg_sqs, lr, step, ...) \
    dt_fused_radam_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, lr, step, \
        DT_CHECKED(dt_fused_radam_in_place_options, __VA_ARGS__))
#define dt_fused_rms_norm_backward(...) DT_FUSED_RMS_NORM_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_RMS_NORM_BACKWARD_(grad_out, input, normalized_shape, rstd, output_mask, ...) \
    dt_fused_rms_norm_backward_sized(grad_out, input, normalized_shape, rstd, output_mask, \
        DT_NAMED(dt_fused_rms_norm_backward_options, __VA_ARGS__))
#define dt_fused_rmsprop_(...) DT_FUSED_RMSPROP__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_RMSPROP__(self, grads, square_avgs, lr, ...) \
    dt_fused_rmsprop_in_place_sized(self, grads, square_avgs, lr, \
        DT_CHECKED(dt_fused_rmsprop_in_place_options, __VA_ARGS__))
#define dt_fused_rmsprop_state_(...) DT_FUSED_RMSPROP_STATE__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_RMSPROP_STATE__(self, grads, square_avgs, states, lr, ...) \
    dt_fused_rmsprop_state_in_place_sized(self, grads, square_avgs, states, lr, \
        DT_CHECKED(dt_fused_rmsprop_state_in_place_options, __VA_ARGS__))
#define dt_fused_rmsprop_centered_momentum_(...) DT_FUSED_RMSPROP_CENTERED_MOMENTUM__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_RMSPROP_CENTERED_MOMENTUM__(self, grads, square_avgs, grad_avgs, momentum_buffers, lr, ...) \
    dt_fused_rmsprop_centered_momentum_in_place_sized(self, grads, square_avgs, grad_avgs, momentum_buffers, lr, \
        DT_CHECKED(dt_fused_rmsprop_centered_momentum_in_place_options, __VA_ARGS__))
#define dt_fused_sgd_(...) DT_FUSED_SGD__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_SGD__(self, grads, lr, ...) \
    dt_fused_sgd_in_place_sized(self, grads, lr, DT_CHECKED(dt_fused_sgd_in_place_options, __VA_ARGS__))
#define dt_fused_sgd_momentum_(...) DT_FUSED_SGD_MOMENTUM__(__VA_ARGS__, .site = DT_SITE)
#define DT_FUSED_SGD_MOMENTUM__(self, grads, momentum_buffers, lr, ...) \
    dt_fused_sgd_momentum_in_place_sized(self, grads, momentum_buffers, lr, \
        DT_CHECKED(dt_fused_sgd_momentum_in_place_options, __VA_ARGS__))
#define dt_log_softmax_backward_data(...) DT_LOG_SOFTMAX_BACKWARD_DATA_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG_SOFTMAX_BACKWARD_DATA_(grad_output, output, dim, input_dtype, ...) \
    dt_log_softmax_backward_data_sized(grad_output, output, dim, input_dtype, \
        DT_NAMED(dt_log_softmax_backward_data_options, __VA_ARGS__))
#define dt_native_batch_norm_legit_functional(...) \
    DT_NATIVE_BATCH_NORM_LEGIT_FUNCTIONAL_(__VA_ARGS__, .site = DT_SITE)
#define DT_NATIVE_BATCH_NORM_LEGIT_FUNCTIONAL_(input, running_mean, running_var, training, momentum, eps, ...) \
    dt_native_batch_norm_legit_functional_sized(input, running_mean, running_var, training, momentum, eps, \
        DT_NAMED(dt_native_batch_norm_legit_functional_options, __VA_ARGS__))
#define dt_softmax_backward_data(...) DT_SOFTMAX_BACKWARD_DATA_(__VA_ARGS__, .site = DT_SITE)
#define DT_SOFTMAX_BACKWARD_DATA_(grad_output, output, dim, input_dtype, ...) \
    dt_softmax_backward_data_sized(grad_output, output, dim, input_dtype, \
        DT_NAMED(dt_softmax_backward_data_options, __VA_ARGS__))
#define dt_abs(...) DT_ABS_(__VA_ARGS__, .site = DT_SITE)
#define DT_ABS_(self, ...) dt_abs_sized(self, DT_NAMED(dt_abs_options, __VA_ARGS__))
#define dt_abs_(...) DT_ABS__(__VA_ARGS__, .site = DT_SITE)
#define DT_ABS__(self, ...) dt_abs_in_place_sized(self, DT_NAMED(dt_abs_in_place_options, __VA_ARGS__))
#define dt_acos(...) DT_ACOS_(__VA_ARGS__, .site = DT_SITE)
#define DT_ACOS_(self, ...) dt_acos_sized(self, DT_NAMED(dt_acos_options, __VA_ARGS__))
#define dt_acos_(...) DT_ACOS__(__VA_ARGS__, .site = DT_SITE)
#define DT_ACOS__(self, ...) dt_acos_in_place_sized(self, DT_NAMED(dt_acos_in_place_options, __VA_ARGS__))
#define dt_adagrad_(...) DT_ADAGRAD__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAGRAD__(self, grad, state_sum, lr, step, ...) \
    dt_adagrad_in_place_sized(self, grad, state_sum, lr, step, DT_CHECKED(dt_adagrad_in_place_options, __VA_ARGS__))
#define dt_adam_(...) DT_ADAM__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAM__(self, grad, exp_avg, exp_avg_sq, lr, step, ...) \
    dt_adam_in_place_sized(self, grad, exp_avg, exp_avg_sq, lr, step, \
        DT_CHECKED(dt_adam_in_place_options, __VA_ARGS__))
#define dt_adam_amsgrad_(...) DT_ADAM_AMSGRAD__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAM_AMSGRAD__(self, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, lr, step, ...) \
    dt_adam_amsgrad_in_place_sized(self, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, lr, step, \
        DT_CHECKED(dt_adam_amsgrad_in_place_options, __VA_ARGS__))
#define dt_adamax_(...) DT_ADAMAX__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAMAX__(self, grad, exp_avg, exp_inf, lr, step, ...) \
    dt_adamax_in_place_sized(self, grad, exp_avg, exp_inf, lr, step, \
        DT_CHECKED(dt_adamax_in_place_options, __VA_ARGS__))
#define dt_adamw_(...) DT_ADAMW__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAMW__(self, grad, exp_avg, exp_avg_sq, lr, step, ...) \
    dt_adamw_in_place_sized(self, grad, exp_avg, exp_avg_sq, lr, step, \
        DT_CHECKED(dt_adamw_in_place_options, __VA_ARGS__))
#define dt_adamw_amsgrad_(...) DT_ADAMW_AMSGRAD__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAMW_AMSGRAD__(self, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, lr, step, ...) \
    dt_adamw_amsgrad_in_place_sized(self, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, lr, step, \
        DT_CHECKED(dt_adamw_amsgrad_in_place_options, __VA_ARGS__))
#define dt_adaptive_avg_pool1d(...) DT_ADAPTIVE_AVG_POOL1D_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAPTIVE_AVG_POOL1D_(self, output_size, ...) \
    dt_adaptive_avg_pool1d_sized(self, output_size, DT_NAMED(dt_adaptive_avg_pool1d_options, __VA_ARGS__))
#define dt_adaptive_avg_pool2d(...) DT_ADAPTIVE_AVG_POOL2D_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAPTIVE_AVG_POOL2D_(input, output_size, ...) \
    dt_adaptive_avg_pool2d_sized(input, output_size, DT_NAMED(dt_adaptive_avg_pool2d_options, __VA_ARGS__))
#define dt_adaptive_avg_pool3d(...) DT_ADAPTIVE_AVG_POOL3D_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAPTIVE_AVG_POOL3D_(input, output_size, ...) \
    dt_adaptive_avg_pool3d_sized(input, output_size, DT_NAMED(dt_adaptive_avg_pool3d_options, __VA_ARGS__))
#define dt_adaptive_max_pool1d(...) DT_ADAPTIVE_MAX_POOL1D_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAPTIVE_MAX_POOL1D_(input, output_size, ...) \
    dt_adaptive_max_pool1d_sized(input, output_size, DT_NAMED(dt_adaptive_max_pool1d_options, __VA_ARGS__))
#define dt_adaptive_max_pool1d_with_indices(...) DT_ADAPTIVE_MAX_POOL1D_WITH_INDICES_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAPTIVE_MAX_POOL1D_WITH_INDICES_(input, output_size, ...) \
    dt_adaptive_max_pool1d_with_indices_sized(input, output_size, \
        DT_NAMED(dt_adaptive_max_pool1d_with_indices_options, __VA_ARGS__))
#define dt_adaptive_max_pool2d(...) DT_ADAPTIVE_MAX_POOL2D_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAPTIVE_MAX_POOL2D_(input, output_size, ...) \
    dt_adaptive_max_pool2d_sized(input, output_size, DT_NAMED(dt_adaptive_max_pool2d_options, __VA_ARGS__))
#define dt_adaptive_max_pool2d_with_indices(...) DT_ADAPTIVE_MAX_POOL2D_WITH_INDICES_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAPTIVE_MAX_POOL2D_WITH_INDICES_(input, output_size, ...) \
    dt_adaptive_max_pool2d_with_indices_sized(input, output_size, \
        DT_NAMED(dt_adaptive_max_pool2d_with_indices_options, __VA_ARGS__))
#define dt_adaptive_max_pool3d(...) DT_ADAPTIVE_MAX_POOL3D_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAPTIVE_MAX_POOL3D_(input, output_size, ...) \
    dt_adaptive_max_pool3d_sized(input, output_size, DT_NAMED(dt_adaptive_max_pool3d_options, __VA_ARGS__))
#define dt_adaptive_max_pool3d_with_indices(...) DT_ADAPTIVE_MAX_POOL3D_WITH_INDICES_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADAPTIVE_MAX_POOL3D_WITH_INDICES_(input, output_size, ...) \
    dt_adaptive_max_pool3d_with_indices_sized(input, output_size, \
        DT_NAMED(dt_adaptive_max_pool3d_with_indices_options, __VA_ARGS__))
#define dt_add(...) DT_ADD_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADD_(self, other, ...) dt_add_sized(self, other, DT_CHECKED(dt_add_options, __VA_ARGS__))
#define dt_add_scalar(...) DT_ADD_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADD_SCALAR_(self, other, ...) \
    dt_add_scalar_sized(self, DT_NUMBER(other), DT_CHECKED(dt_add_scalar_options, __VA_ARGS__))
#define dt_add_(...) DT_ADD__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADD__(self, other, ...) \
    dt_add_in_place_sized(self, other, DT_CHECKED(dt_add_in_place_options, __VA_ARGS__))
#define dt_add_scalar_(...) DT_ADD_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADD_SCALAR__(self, other, ...) \
    dt_add_scalar_in_place_sized(self, DT_NUMBER(other), DT_CHECKED(dt_add_scalar_in_place_options, __VA_ARGS__))
#define dt_addbmm(...) DT_ADDBMM_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDBMM_(self, batch1, batch2, ...) \
    dt_addbmm_sized(self, batch1, batch2, DT_CHECKED(dt_addbmm_options, __VA_ARGS__))
#define dt_addbmm_(...) DT_ADDBMM__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDBMM__(self, batch1, batch2, ...) \
    dt_addbmm_in_place_sized(self, batch1, batch2, DT_CHECKED(dt_addbmm_in_place_options, __VA_ARGS__))
#define dt_addcdiv(...) DT_ADDCDIV_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDCDIV_(self, tensor1, tensor2, ...) \
    dt_addcdiv_sized(self, tensor1, tensor2, DT_CHECKED(dt_addcdiv_options, __VA_ARGS__))
#define dt_addcdiv_(...) DT_ADDCDIV__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDCDIV__(self, tensor1, tensor2, ...) \
    dt_addcdiv_in_place_sized(self, tensor1, tensor2, DT_CHECKED(dt_addcdiv_in_place_options, __VA_ARGS__))
#define dt_addcmul(...) DT_ADDCMUL_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDCMUL_(self, tensor1, tensor2, ...) \
    dt_addcmul_sized(self, tensor1, tensor2, DT_CHECKED(dt_addcmul_options, __VA_ARGS__))
#define dt_addcmul_(...) DT_ADDCMUL__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDCMUL__(self, tensor1, tensor2, ...) \
    dt_addcmul_in_place_sized(self, tensor1, tensor2, DT_CHECKED(dt_addcmul_in_place_options, __VA_ARGS__))
#define dt_addmm(...) DT_ADDMM_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDMM_(self, mat1, mat2, ...) dt_addmm_sized(self, mat1, mat2, DT_CHECKED(dt_addmm_options, __VA_ARGS__))
#define dt_addmm_(...) DT_ADDMM__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDMM__(self, mat1, mat2, ...) \
    dt_addmm_in_place_sized(self, mat1, mat2, DT_CHECKED(dt_addmm_in_place_options, __VA_ARGS__))
#define dt_addmv(...) DT_ADDMV_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDMV_(self, mat, vec, ...) dt_addmv_sized(self, mat, vec, DT_CHECKED(dt_addmv_options, __VA_ARGS__))
#define dt_addmv_(...) DT_ADDMV__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDMV__(self, mat, vec, ...) \
    dt_addmv_in_place_sized(self, mat, vec, DT_CHECKED(dt_addmv_in_place_options, __VA_ARGS__))
#define dt_addr(...) DT_ADDR_(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDR_(self, vec1, vec2, ...) dt_addr_sized(self, vec1, vec2, DT_CHECKED(dt_addr_options, __VA_ARGS__))
#define dt_addr_(...) DT_ADDR__(__VA_ARGS__, .site = DT_SITE)
#define DT_ADDR__(self, vec1, vec2, ...) \
    dt_addr_in_place_sized(self, vec1, vec2, DT_CHECKED(dt_addr_in_place_options, __VA_ARGS__))
#define dt_all(...) DT_ALL_(__VA_ARGS__, .site = DT_SITE)
#define DT_ALL_(self, ...) dt_all_sized(self, DT_CHECKED(dt_all_options, __VA_ARGS__))
#define dt_allclose(...) DT_ALLCLOSE_(__VA_ARGS__, .site = DT_SITE)
#define DT_ALLCLOSE_(self, other, ...) dt_allclose_sized(self, other, DT_CHECKED(dt_allclose_options, __VA_ARGS__))
#define dt_amax(...) DT_AMAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_AMAX_(self, ...) dt_amax_sized(self, DT_CHECKED(dt_amax_options, __VA_ARGS__))
#define dt_amin(...) DT_AMIN_(__VA_ARGS__, .site = DT_SITE)
#define DT_AMIN_(self, ...) dt_amin_sized(self, DT_CHECKED(dt_amin_options, __VA_ARGS__))
#define dt_aminmax(...) DT_AMINMAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_AMINMAX_(self, ...) dt_aminmax_sized(self, DT_CHECKED(dt_aminmax_options, __VA_ARGS__))
#define dt_any(...) DT_ANY_(__VA_ARGS__, .site = DT_SITE)
#define DT_ANY_(self, ...) dt_any_sized(self, DT_CHECKED(dt_any_options, __VA_ARGS__))
#define dt_arange(...) DT_ARANGE_(__VA_ARGS__, .site = DT_SITE)
#define DT_ARANGE_(ctx, start, end, step, ...) \
    dt_arange_sized(ctx, DT_NUMBER(start), DT_NUMBER(end), DT_NUMBER(step), DT_NAMED(dt_make_options, __VA_ARGS__))
#define dt_argmax(...) DT_ARGMAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_ARGMAX_(self, ...) dt_argmax_sized(self, DT_CHECKED(dt_argmax_options, __VA_ARGS__))
#define dt_argmin(...) DT_ARGMIN_(__VA_ARGS__, .site = DT_SITE)
#define DT_ARGMIN_(self, ...) dt_argmin_sized(self, DT_CHECKED(dt_argmin_options, __VA_ARGS__))
#define dt_argsort(...) DT_ARGSORT_(__VA_ARGS__, .site = DT_SITE)
#define DT_ARGSORT_(self, ...) dt_argsort_sized(self, DT_CHECKED(dt_argsort_options, __VA_ARGS__))
#define dt_argsort_stable(...) DT_ARGSORT_STABLE_(__VA_ARGS__, .site = DT_SITE)
#define DT_ARGSORT_STABLE_(self, stable, ...) \
    dt_argsort_stable_sized(self, stable, DT_CHECKED(dt_argsort_stable_options, __VA_ARGS__))
#define dt_asin(...) DT_ASIN_(__VA_ARGS__, .site = DT_SITE)
#define DT_ASIN_(self, ...) dt_asin_sized(self, DT_NAMED(dt_asin_options, __VA_ARGS__))
#define dt_asin_(...) DT_ASIN__(__VA_ARGS__, .site = DT_SITE)
#define DT_ASIN__(self, ...) dt_asin_in_place_sized(self, DT_NAMED(dt_asin_in_place_options, __VA_ARGS__))
#define dt_atan(...) DT_ATAN_(__VA_ARGS__, .site = DT_SITE)
#define DT_ATAN_(self, ...) dt_atan_sized(self, DT_NAMED(dt_atan_options, __VA_ARGS__))
#define dt_atan2(...) DT_ATAN2_(__VA_ARGS__, .site = DT_SITE)
#define DT_ATAN2_(self, other, ...) dt_atan2_sized(self, other, DT_NAMED(dt_atan2_options, __VA_ARGS__))
#define dt_atan2_(...) DT_ATAN2__(__VA_ARGS__, .site = DT_SITE)
#define DT_ATAN2__(self, other, ...) \
    dt_atan2_in_place_sized(self, other, DT_NAMED(dt_atan2_in_place_options, __VA_ARGS__))
#define dt_atan_(...) DT_ATAN__(__VA_ARGS__, .site = DT_SITE)
#define DT_ATAN__(self, ...) dt_atan_in_place_sized(self, DT_NAMED(dt_atan_in_place_options, __VA_ARGS__))
#define dt_attention_backward(...) DT_ATTENTION_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_ATTENTION_BACKWARD_(grad_out, query, key, value, out, logsumexp, ...) \
    dt_attention_backward_sized(grad_out, query, key, value, out, logsumexp, \
        DT_CHECKED(dt_attention_backward_options, __VA_ARGS__))
#define dt_attention_mask_backward(...) DT_ATTENTION_MASK_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_ATTENTION_MASK_BACKWARD_(grad_out, query, key, value, out, logsumexp, ...) \
    dt_attention_mask_backward_sized(grad_out, query, key, value, out, logsumexp, \
        DT_CHECKED(dt_attention_mask_backward_options, __VA_ARGS__))
#define dt_avg_pool1d(...) DT_AVG_POOL1D_(__VA_ARGS__, .site = DT_SITE)
#define DT_AVG_POOL1D_(self, kernel_size, ...) \
    dt_avg_pool1d_sized(self, kernel_size, DT_CHECKED(dt_avg_pool1d_options, __VA_ARGS__))
#define dt_avg_pool2d(...) DT_AVG_POOL2D_(__VA_ARGS__, .site = DT_SITE)
#define DT_AVG_POOL2D_(self, kernel_size, ...) \
    dt_avg_pool2d_sized(self, kernel_size, DT_CHECKED(dt_avg_pool2d_options, __VA_ARGS__))
#define dt_avg_pool3d(...) DT_AVG_POOL3D_(__VA_ARGS__, .site = DT_SITE)
#define DT_AVG_POOL3D_(self, kernel_size, ...) \
    dt_avg_pool3d_sized(self, kernel_size, DT_CHECKED(dt_avg_pool3d_options, __VA_ARGS__))
#define dt_baddbmm(...) DT_BADDBMM_(__VA_ARGS__, .site = DT_SITE)
#define DT_BADDBMM_(self, batch1, batch2, ...) \
    dt_baddbmm_sized(self, batch1, batch2, DT_CHECKED(dt_baddbmm_options, __VA_ARGS__))
#define dt_baddbmm_(...) DT_BADDBMM__(__VA_ARGS__, .site = DT_SITE)
#define DT_BADDBMM__(self, batch1, batch2, ...) \
    dt_baddbmm_in_place_sized(self, batch1, batch2, DT_CHECKED(dt_baddbmm_in_place_options, __VA_ARGS__))
#define dt_batch_norm(...) DT_BATCH_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_BATCH_NORM_(input, ...) dt_batch_norm_sized(input, DT_CHECKED(dt_batch_norm_options, __VA_ARGS__))
#define dt_bfloat16(...) DT_BFLOAT16_(__VA_ARGS__, .site = DT_SITE)
#define DT_BFLOAT16_(self, ...) dt_bfloat16_sized(self, DT_NAMED(dt_bfloat16_options, __VA_ARGS__))
#define dt_binary_cross_entropy(...) DT_BINARY_CROSS_ENTROPY_(__VA_ARGS__, .site = DT_SITE)
#define DT_BINARY_CROSS_ENTROPY_(input, target, ...) \
    dt_binary_cross_entropy_sized(input, target, DT_NAMED(dt_binary_cross_entropy_options, __VA_ARGS__))
#define dt_binary_cross_entropy_with_logits(...) DT_BINARY_CROSS_ENTROPY_WITH_LOGITS_(__VA_ARGS__, .site = DT_SITE)
#define DT_BINARY_CROSS_ENTROPY_WITH_LOGITS_(input, target, ...) \
    dt_binary_cross_entropy_with_logits_sized(input, target, \
        DT_NAMED(dt_binary_cross_entropy_with_logits_options, __VA_ARGS__))
#define dt_bitwise_and(...) DT_BITWISE_AND_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_AND_(self, other, ...) \
    dt_bitwise_and_sized(self, other, DT_NAMED(dt_bitwise_and_options, __VA_ARGS__))
#define dt_bitwise_and_scalar_other(...) DT_BITWISE_AND_SCALAR_OTHER_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_AND_SCALAR_OTHER_(self, other, ...) \
    dt_bitwise_and_scalar_other_sized(self, DT_NUMBER(other), \
        DT_NAMED(dt_bitwise_and_scalar_other_options, __VA_ARGS__))
#define dt_bitwise_and_scalar_self(...) DT_BITWISE_AND_SCALAR_SELF_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_AND_SCALAR_SELF_(self, other, ...) \
    dt_bitwise_and_scalar_self_sized(DT_NUMBER(self), other, \
        DT_NAMED(dt_bitwise_and_scalar_self_options, __VA_ARGS__))
#define dt_bitwise_and_(...) DT_BITWISE_AND__(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_AND__(self, other, ...) \
    dt_bitwise_and_in_place_sized(self, other, DT_NAMED(dt_bitwise_and_in_place_options, __VA_ARGS__))
#define dt_bitwise_and_scalar_(...) DT_BITWISE_AND_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_AND_SCALAR__(self, other, ...) \
    dt_bitwise_and_scalar_in_place_sized(self, DT_NUMBER(other), \
        DT_NAMED(dt_bitwise_and_scalar_in_place_options, __VA_ARGS__))
#define dt_bitwise_not(...) DT_BITWISE_NOT_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_NOT_(self, ...) dt_bitwise_not_sized(self, DT_NAMED(dt_bitwise_not_options, __VA_ARGS__))
#define dt_bitwise_not_(...) DT_BITWISE_NOT__(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_NOT__(self, ...) \
    dt_bitwise_not_in_place_sized(self, DT_NAMED(dt_bitwise_not_in_place_options, __VA_ARGS__))
#define dt_bitwise_or(...) DT_BITWISE_OR_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_OR_(self, other, ...) \
    dt_bitwise_or_sized(self, other, DT_NAMED(dt_bitwise_or_options, __VA_ARGS__))
#define dt_bitwise_or_scalar_other(...) DT_BITWISE_OR_SCALAR_OTHER_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_OR_SCALAR_OTHER_(self, other, ...) \
    dt_bitwise_or_scalar_other_sized(self, DT_NUMBER(other), \
        DT_NAMED(dt_bitwise_or_scalar_other_options, __VA_ARGS__))
#define dt_bitwise_or_scalar_self(...) DT_BITWISE_OR_SCALAR_SELF_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_OR_SCALAR_SELF_(self, other, ...) \
    dt_bitwise_or_scalar_self_sized(DT_NUMBER(self), other, \
        DT_NAMED(dt_bitwise_or_scalar_self_options, __VA_ARGS__))
#define dt_bitwise_or_(...) DT_BITWISE_OR__(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_OR__(self, other, ...) \
    dt_bitwise_or_in_place_sized(self, other, DT_NAMED(dt_bitwise_or_in_place_options, __VA_ARGS__))
#define dt_bitwise_or_scalar_(...) DT_BITWISE_OR_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_OR_SCALAR__(self, other, ...) \
    dt_bitwise_or_scalar_in_place_sized(self, DT_NUMBER(other), \
        DT_NAMED(dt_bitwise_or_scalar_in_place_options, __VA_ARGS__))
#define dt_bitwise_xor(...) DT_BITWISE_XOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_XOR_(self, other, ...) \
    dt_bitwise_xor_sized(self, other, DT_NAMED(dt_bitwise_xor_options, __VA_ARGS__))
#define dt_bitwise_xor_scalar_other(...) DT_BITWISE_XOR_SCALAR_OTHER_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_XOR_SCALAR_OTHER_(self, other, ...) \
    dt_bitwise_xor_scalar_other_sized(self, DT_NUMBER(other), \
        DT_NAMED(dt_bitwise_xor_scalar_other_options, __VA_ARGS__))
#define dt_bitwise_xor_scalar_self(...) DT_BITWISE_XOR_SCALAR_SELF_(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_XOR_SCALAR_SELF_(self, other, ...) \
    dt_bitwise_xor_scalar_self_sized(DT_NUMBER(self), other, \
        DT_NAMED(dt_bitwise_xor_scalar_self_options, __VA_ARGS__))
#define dt_bitwise_xor_(...) DT_BITWISE_XOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_XOR__(self, other, ...) \
    dt_bitwise_xor_in_place_sized(self, other, DT_NAMED(dt_bitwise_xor_in_place_options, __VA_ARGS__))
#define dt_bitwise_xor_scalar_(...) DT_BITWISE_XOR_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_BITWISE_XOR_SCALAR__(self, other, ...) \
    dt_bitwise_xor_scalar_in_place_sized(self, DT_NUMBER(other), \
        DT_NAMED(dt_bitwise_xor_scalar_in_place_options, __VA_ARGS__))
#define dt_bmm(...) DT_BMM_(__VA_ARGS__, .site = DT_SITE)
#define DT_BMM_(self, mat2, ...) dt_bmm_sized(self, mat2, DT_NAMED(dt_bmm_options, __VA_ARGS__))
#define dt_bool(...) DT_BOOL_(__VA_ARGS__, .site = DT_SITE)
#define DT_BOOL_(self, ...) dt_bool_sized(self, DT_NAMED(dt_bool_options, __VA_ARGS__))
#define dt_broadcast_to(...) DT_BROADCAST_TO_(__VA_ARGS__, .site = DT_SITE)
#define DT_BROADCAST_TO_(self, size, ...) \
    dt_broadcast_to_sized(self, size, DT_NAMED(dt_broadcast_to_options, __VA_ARGS__))
#define dt_bucketize(...) DT_BUCKETIZE_(__VA_ARGS__, .site = DT_SITE)
#define DT_BUCKETIZE_(self, boundaries, ...) \
    dt_bucketize_sized(self, boundaries, DT_NAMED(dt_bucketize_options, __VA_ARGS__))
#define dt_bucketize_scalar(...) DT_BUCKETIZE_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_BUCKETIZE_SCALAR_(self, boundaries, ...) \
    dt_bucketize_scalar_sized(DT_NUMBER(self), boundaries, DT_NAMED(dt_bucketize_scalar_options, __VA_ARGS__))
#define dt_byte(...) DT_BYTE_(__VA_ARGS__, .site = DT_SITE)
#define DT_BYTE_(self, ...) dt_byte_sized(self, DT_NAMED(dt_byte_options, __VA_ARGS__))
#define dt_cat(...) DT_CAT_(__VA_ARGS__, .site = DT_SITE)
#define DT_CAT_(tensors, ...) dt_cat_sized(tensors, DT_CHECKED(dt_cat_options, __VA_ARGS__))
#define dt_cdouble(...) DT_CDOUBLE_(__VA_ARGS__, .site = DT_SITE)
#define DT_CDOUBLE_(self, ...) dt_cdouble_sized(self, DT_NAMED(dt_cdouble_options, __VA_ARGS__))
#define dt_ceil(...) DT_CEIL_(__VA_ARGS__, .site = DT_SITE)
#define DT_CEIL_(self, ...) dt_ceil_sized(self, DT_NAMED(dt_ceil_options, __VA_ARGS__))
#define dt_ceil_(...) DT_CEIL__(__VA_ARGS__, .site = DT_SITE)
#define DT_CEIL__(self, ...) dt_ceil_in_place_sized(self, DT_NAMED(dt_ceil_in_place_options, __VA_ARGS__))
#define dt_celu(...) DT_CELU_(__VA_ARGS__, .site = DT_SITE)
#define DT_CELU_(input, ...) dt_celu_sized(input, DT_CHECKED(dt_celu_options, __VA_ARGS__))
#define dt_celu_(...) DT_CELU__(__VA_ARGS__, .site = DT_SITE)
#define DT_CELU__(input, ...) dt_celu_in_place_sized(input, DT_CHECKED(dt_celu_in_place_options, __VA_ARGS__))
#define dt_cfloat(...) DT_CFLOAT_(__VA_ARGS__, .site = DT_SITE)
#define DT_CFLOAT_(self, ...) dt_cfloat_sized(self, DT_NAMED(dt_cfloat_options, __VA_ARGS__))
#define dt_char(...) DT_CHAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_CHAR_(self, ...) dt_char_sized(self, DT_NAMED(dt_char_options, __VA_ARGS__))
#define dt_cholesky(...) DT_CHOLESKY_(__VA_ARGS__, .site = DT_SITE)
#define DT_CHOLESKY_(self, ...) dt_cholesky_sized(self, DT_NAMED(dt_cholesky_options, __VA_ARGS__))
#define dt_cholesky_inverse(...) DT_CHOLESKY_INVERSE_(__VA_ARGS__, .site = DT_SITE)
#define DT_CHOLESKY_INVERSE_(self, ...) \
    dt_cholesky_inverse_sized(self, DT_NAMED(dt_cholesky_inverse_options, __VA_ARGS__))
#define dt_cholesky_solve(...) DT_CHOLESKY_SOLVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_CHOLESKY_SOLVE_(self, input2, ...) \
    dt_cholesky_solve_sized(self, input2, DT_NAMED(dt_cholesky_solve_options, __VA_ARGS__))
#define dt_chunk(...) DT_CHUNK_(__VA_ARGS__, .site = DT_SITE)
#define DT_CHUNK_(self, chunks, out, capacity, ...) \
    dt_chunk_sized(self, chunks, out, capacity, DT_CHECKED(dt_chunk_options, __VA_ARGS__))
#define dt_clamp(...) DT_CLAMP_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_(self, ...) dt_clamp_sized(self, DT_CHECKED(dt_clamp_options, __VA_ARGS__))
#define dt_clamp_tensor(...) DT_CLAMP_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_TENSOR_(self, ...) dt_clamp_tensor_sized(self, DT_NAMED(dt_clamp_tensor_options, __VA_ARGS__))
#define dt_clamp_(...) DT_CLAMP__(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP__(self, ...) dt_clamp_in_place_sized(self, DT_CHECKED(dt_clamp_in_place_options, __VA_ARGS__))
#define dt_clamp_tensor_(...) DT_CLAMP_TENSOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_TENSOR__(self, ...) \
    dt_clamp_tensor_in_place_sized(self, DT_NAMED(dt_clamp_tensor_in_place_options, __VA_ARGS__))
#define dt_clamp_max(...) DT_CLAMP_MAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_MAX_(self, max, ...) \
    dt_clamp_max_sized(self, DT_NUMBER(max), DT_NAMED(dt_clamp_max_options, __VA_ARGS__))
#define dt_clamp_max_tensor(...) DT_CLAMP_MAX_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_MAX_TENSOR_(self, max, ...) \
    dt_clamp_max_tensor_sized(self, max, DT_NAMED(dt_clamp_max_tensor_options, __VA_ARGS__))
#define dt_clamp_max_(...) DT_CLAMP_MAX__(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_MAX__(self, max, ...) \
    dt_clamp_max_in_place_sized(self, DT_NUMBER(max), DT_NAMED(dt_clamp_max_in_place_options, __VA_ARGS__))
#define dt_clamp_max_tensor_(...) DT_CLAMP_MAX_TENSOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_MAX_TENSOR__(self, max, ...) \
    dt_clamp_max_tensor_in_place_sized(self, max, DT_NAMED(dt_clamp_max_tensor_in_place_options, __VA_ARGS__))
#define dt_clamp_min(...) DT_CLAMP_MIN_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_MIN_(self, min, ...) \
    dt_clamp_min_sized(self, DT_NUMBER(min), DT_NAMED(dt_clamp_min_options, __VA_ARGS__))
#define dt_clamp_min_tensor(...) DT_CLAMP_MIN_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_MIN_TENSOR_(self, min, ...) \
    dt_clamp_min_tensor_sized(self, min, DT_NAMED(dt_clamp_min_tensor_options, __VA_ARGS__))
#define dt_clamp_min_(...) DT_CLAMP_MIN__(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_MIN__(self, min, ...) \
    dt_clamp_min_in_place_sized(self, DT_NUMBER(min), DT_NAMED(dt_clamp_min_in_place_options, __VA_ARGS__))
#define dt_clamp_min_tensor_(...) DT_CLAMP_MIN_TENSOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_CLAMP_MIN_TENSOR__(self, min, ...) \
    dt_clamp_min_tensor_in_place_sized(self, min, DT_NAMED(dt_clamp_min_tensor_in_place_options, __VA_ARGS__))
#define dt_class_total(...) DT_CLASS_TOTAL_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLASS_TOTAL_(target, ...) dt_class_total_sized(target, DT_CHECKED(dt_class_total_options, __VA_ARGS__))
#define dt_clone(...) DT_CLONE_(__VA_ARGS__, .site = DT_SITE)
#define DT_CLONE_(self, ...) dt_clone_sized(self, DT_NAMED(dt_clone_options, __VA_ARGS__))
#define dt_conj(...) DT_CONJ_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONJ_(self, ...) dt_conj_sized(self, DT_NAMED(dt_conj_options, __VA_ARGS__))
#define dt_constant_pad_nd(...) DT_CONSTANT_PAD_ND_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONSTANT_PAD_ND_(self, pad, ...) \
    dt_constant_pad_nd_sized(self, pad, DT_CHECKED(dt_constant_pad_nd_options, __VA_ARGS__))
#define dt_contiguous(...) DT_CONTIGUOUS_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONTIGUOUS_(self, ...) dt_contiguous_sized(self, DT_NAMED(dt_contiguous_options, __VA_ARGS__))
#define dt_conv1d(...) DT_CONV1D_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV1D_(input, weight, ...) dt_conv1d_sized(input, weight, DT_CHECKED(dt_conv1d_options, __VA_ARGS__))
#define dt_conv1d_padding(...) DT_CONV1D_PADDING_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV1D_PADDING_(input, weight, ...) \
    dt_conv1d_padding_sized(input, weight, DT_CHECKED(dt_conv1d_padding_options, __VA_ARGS__))
#define dt_conv2d(...) DT_CONV2D_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV2D_(input, weight, ...) dt_conv2d_sized(input, weight, DT_CHECKED(dt_conv2d_options, __VA_ARGS__))
#define dt_conv2d_padding(...) DT_CONV2D_PADDING_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV2D_PADDING_(input, weight, ...) \
    dt_conv2d_padding_sized(input, weight, DT_CHECKED(dt_conv2d_padding_options, __VA_ARGS__))
#define dt_conv3d(...) DT_CONV3D_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV3D_(input, weight, ...) dt_conv3d_sized(input, weight, DT_CHECKED(dt_conv3d_options, __VA_ARGS__))
#define dt_conv3d_padding(...) DT_CONV3D_PADDING_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV3D_PADDING_(input, weight, ...) \
    dt_conv3d_padding_sized(input, weight, DT_CHECKED(dt_conv3d_padding_options, __VA_ARGS__))
#define dt_conv_forward(...) DT_CONV_FORWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV_FORWARD_(input, weight, sizes, ...) \
    dt_conv_forward_sized(input, weight, sizes, DT_CHECKED(dt_conv_forward_options, __VA_ARGS__))
#define dt_conv_input_backward(...) DT_CONV_INPUT_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV_INPUT_BACKWARD_(grad_output, weight, sizes, ...) \
    dt_conv_input_backward_sized(grad_output, weight, sizes, \
        DT_CHECKED(dt_conv_input_backward_options, __VA_ARGS__))
#define dt_conv_transpose1d(...) DT_CONV_TRANSPOSE1D_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV_TRANSPOSE1D_(input, weight, ...) \
    dt_conv_transpose1d_sized(input, weight, DT_CHECKED(dt_conv_transpose1d_options, __VA_ARGS__))
#define dt_conv_transpose2d(...) DT_CONV_TRANSPOSE2D_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV_TRANSPOSE2D_(input, weight, ...) \
    dt_conv_transpose2d_sized(input, weight, DT_CHECKED(dt_conv_transpose2d_options, __VA_ARGS__))
#define dt_conv_transpose3d(...) DT_CONV_TRANSPOSE3D_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV_TRANSPOSE3D_(input, weight, ...) \
    dt_conv_transpose3d_sized(input, weight, DT_CHECKED(dt_conv_transpose3d_options, __VA_ARGS__))
#define dt_conv_weight_backward(...) DT_CONV_WEIGHT_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONV_WEIGHT_BACKWARD_(input, grad_output, sizes, ...) \
    dt_conv_weight_backward_sized(input, grad_output, sizes, \
        DT_CHECKED(dt_conv_weight_backward_options, __VA_ARGS__))
#define dt_convolution(...) DT_CONVOLUTION_(__VA_ARGS__, .site = DT_SITE)
#define DT_CONVOLUTION_(input, weight, stride, padding, dilation, transposed, output_padding, groups, ...) \
    dt_convolution_sized(input, weight, stride, padding, dilation, transposed, output_padding, groups, \
        DT_NAMED(dt_convolution_options, __VA_ARGS__))
#define dt_copy_(...) DT_COPY__(__VA_ARGS__, .site = DT_SITE)
#define DT_COPY__(self, src, ...) dt_copy_in_place_sized(self, src, DT_NAMED(dt_copy_in_place_options, __VA_ARGS__))
#define dt_cos(...) DT_COS_(__VA_ARGS__, .site = DT_SITE)
#define DT_COS_(self, ...) dt_cos_sized(self, DT_NAMED(dt_cos_options, __VA_ARGS__))
#define dt_cos_(...) DT_COS__(__VA_ARGS__, .site = DT_SITE)
#define DT_COS__(self, ...) dt_cos_in_place_sized(self, DT_NAMED(dt_cos_in_place_options, __VA_ARGS__))
#define dt_cosh(...) DT_COSH_(__VA_ARGS__, .site = DT_SITE)
#define DT_COSH_(self, ...) dt_cosh_sized(self, DT_NAMED(dt_cosh_options, __VA_ARGS__))
#define dt_cosh_(...) DT_COSH__(__VA_ARGS__, .site = DT_SITE)
#define DT_COSH__(self, ...) dt_cosh_in_place_sized(self, DT_NAMED(dt_cosh_in_place_options, __VA_ARGS__))
#define dt_cosine_similarity(...) DT_COSINE_SIMILARITY_(__VA_ARGS__, .site = DT_SITE)
#define DT_COSINE_SIMILARITY_(x1, x2, ...) \
    dt_cosine_similarity_sized(x1, x2, DT_CHECKED(dt_cosine_similarity_options, __VA_ARGS__))
#define dt_count_nonzero(...) DT_COUNT_NONZERO_(__VA_ARGS__, .site = DT_SITE)
#define DT_COUNT_NONZERO_(self, ...) dt_count_nonzero_sized(self, DT_CHECKED(dt_count_nonzero_options, __VA_ARGS__))
#define dt_count_nonzero_dims(...) DT_COUNT_NONZERO_DIMS_(__VA_ARGS__, .site = DT_SITE)
#define DT_COUNT_NONZERO_DIMS_(self, dim, ...) \
    dt_count_nonzero_dims_sized(self, dim, DT_NAMED(dt_count_nonzero_dims_options, __VA_ARGS__))
#define dt_cross(...) DT_CROSS_(__VA_ARGS__, .site = DT_SITE)
#define DT_CROSS_(self, other, ...) dt_cross_sized(self, other, DT_CHECKED(dt_cross_options, __VA_ARGS__))
#define dt_cross_entropy(...) DT_CROSS_ENTROPY_(__VA_ARGS__, .site = DT_SITE)
#define DT_CROSS_ENTROPY_(input, target, ...) \
    dt_cross_entropy_sized(input, target, DT_CHECKED(dt_cross_entropy_options, __VA_ARGS__))
#define dt_cross_entropy_backward(...) DT_CROSS_ENTROPY_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_CROSS_ENTROPY_BACKWARD_(grad, input, target, logsumexp, total, ...) \
    dt_cross_entropy_backward_sized(grad, input, target, logsumexp, total, \
        DT_CHECKED(dt_cross_entropy_backward_options, __VA_ARGS__))
#define dt_cummax(...) DT_CUMMAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_CUMMAX_(self, dim, ...) dt_cummax_sized(self, dim, DT_NAMED(dt_cummax_options, __VA_ARGS__))
#define dt_cummin(...) DT_CUMMIN_(__VA_ARGS__, .site = DT_SITE)
#define DT_CUMMIN_(self, dim, ...) dt_cummin_sized(self, dim, DT_NAMED(dt_cummin_options, __VA_ARGS__))
#define dt_cumprod(...) DT_CUMPROD_(__VA_ARGS__, .site = DT_SITE)
#define DT_CUMPROD_(self, dim, ...) dt_cumprod_sized(self, dim, DT_NAMED(dt_cumprod_options, __VA_ARGS__))
#define dt_cumsum(...) DT_CUMSUM_(__VA_ARGS__, .site = DT_SITE)
#define DT_CUMSUM_(self, dim, ...) dt_cumsum_sized(self, dim, DT_NAMED(dt_cumsum_options, __VA_ARGS__))
#define dt_cumsum_(...) DT_CUMSUM__(__VA_ARGS__, .site = DT_SITE)
#define DT_CUMSUM__(self, dim, ...) \
    dt_cumsum_in_place_sized(self, dim, DT_NAMED(dt_cumsum_in_place_options, __VA_ARGS__))
#define dt_diag(...) DT_DIAG_(__VA_ARGS__, .site = DT_SITE)
#define DT_DIAG_(self, ...) dt_diag_sized(self, DT_CHECKED(dt_diag_options, __VA_ARGS__))
#define dt_diag_embed(...) DT_DIAG_EMBED_(__VA_ARGS__, .site = DT_SITE)
#define DT_DIAG_EMBED_(self, ...) dt_diag_embed_sized(self, DT_CHECKED(dt_diag_embed_options, __VA_ARGS__))
#define dt_diagonal(...) DT_DIAGONAL_(__VA_ARGS__, .site = DT_SITE)
#define DT_DIAGONAL_(self, offset, dim1, dim2, ...) \
    dt_diagonal_sized(self, offset, dim1, dim2, DT_NAMED(dt_diagonal_options, __VA_ARGS__))
#define dt_diagonal_backward(...) DT_DIAGONAL_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_DIAGONAL_BACKWARD_(grad_output, input_sizes, offset, dim1, dim2, ...) \
    dt_diagonal_backward_sized(grad_output, input_sizes, offset, dim1, dim2, \
        DT_NAMED(dt_diagonal_backward_options, __VA_ARGS__))
#define dt_diagonal_scatter(...) DT_DIAGONAL_SCATTER_(__VA_ARGS__, .site = DT_SITE)
#define DT_DIAGONAL_SCATTER_(self, src, offset, dim1, dim2, ...) \
    dt_diagonal_scatter_sized(self, src, offset, dim1, dim2, DT_NAMED(dt_diagonal_scatter_options, __VA_ARGS__))
#define dt_diff(...) DT_DIFF_(__VA_ARGS__, .site = DT_SITE)
#define DT_DIFF_(self, ...) dt_diff_sized(self, DT_CHECKED(dt_diff_options, __VA_ARGS__))
#define dt_div(...) DT_DIV_(__VA_ARGS__, .site = DT_SITE)
#define DT_DIV_(self, other, ...) dt_div_sized(self, other, DT_NAMED(dt_div_options, __VA_ARGS__))
#define dt_div_scalar(...) DT_DIV_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_DIV_SCALAR_(self, other, ...) \
    dt_div_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_div_scalar_options, __VA_ARGS__))
#define dt_div_(...) DT_DIV__(__VA_ARGS__, .site = DT_SITE)
#define DT_DIV__(self, other, ...) dt_div_in_place_sized(self, other, DT_NAMED(dt_div_in_place_options, __VA_ARGS__))
#define dt_div_scalar_(...) DT_DIV_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_DIV_SCALAR__(self, other, ...) \
    dt_div_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_div_scalar_in_place_options, __VA_ARGS__))
#define dt_dot(...) DT_DOT_(__VA_ARGS__, .site = DT_SITE)
#define DT_DOT_(self, tensor, ...) dt_dot_sized(self, tensor, DT_NAMED(dt_dot_options, __VA_ARGS__))
#define dt_double(...) DT_DOUBLE_(__VA_ARGS__, .site = DT_SITE)
#define DT_DOUBLE_(self, ...) dt_double_sized(self, DT_NAMED(dt_double_options, __VA_ARGS__))
#define dt_dropout(...) DT_DROPOUT_(__VA_ARGS__, .site = DT_SITE)
#define DT_DROPOUT_(input, ...) dt_dropout_sized(input, DT_CHECKED(dt_dropout_options, __VA_ARGS__))
#define dt_einsum(...) DT_EINSUM_(__VA_ARGS__, .site = DT_SITE)
#define DT_EINSUM_(equation, tensors, ...) \
    dt_einsum_sized(equation, tensors, DT_NAMED(dt_einsum_options, __VA_ARGS__))
#define dt_elu(...) DT_ELU_(__VA_ARGS__, .site = DT_SITE)
#define DT_ELU_(input, ...) dt_elu_sized(input, DT_CHECKED(dt_elu_options, __VA_ARGS__))
#define dt_elu_(...) DT_ELU__(__VA_ARGS__, .site = DT_SITE)
#define DT_ELU__(input, ...) dt_elu_in_place_sized(input, DT_CHECKED(dt_elu_in_place_options, __VA_ARGS__))
#define dt_embedding(...) DT_EMBEDDING_(__VA_ARGS__, .site = DT_SITE)
#define DT_EMBEDDING_(input, weight, ...) \
    dt_embedding_sized(input, weight, DT_CHECKED(dt_embedding_options, __VA_ARGS__))
#define dt_embedding_dense_backward(...) DT_EMBEDDING_DENSE_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_EMBEDDING_DENSE_BACKWARD_(grad_output, indices, num_weights, ...) \
    dt_embedding_dense_backward_sized(grad_output, indices, num_weights, \
        DT_CHECKED(dt_embedding_dense_backward_options, __VA_ARGS__))
#define dt_empty(...) DT_EMPTY_(__VA_ARGS__, .site = DT_SITE)
#define DT_EMPTY_(ctx, size, ...) dt_empty_sized(ctx, size, DT_NAMED(dt_make_options, __VA_ARGS__))
#define dt_empty_like(...) DT_EMPTY_LIKE_(__VA_ARGS__, .site = DT_SITE)
#define DT_EMPTY_LIKE_(self, ...) dt_empty_like_sized(self, DT_NAMED(dt_empty_like_options, __VA_ARGS__))
#define dt_eq(...) DT_EQ_(__VA_ARGS__, .site = DT_SITE)
#define DT_EQ_(self, other, ...) dt_eq_sized(self, other, DT_NAMED(dt_eq_options, __VA_ARGS__))
#define dt_eq_scalar(...) DT_EQ_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_EQ_SCALAR_(self, other, ...) \
    dt_eq_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_eq_scalar_options, __VA_ARGS__))
#define dt_eq_(...) DT_EQ__(__VA_ARGS__, .site = DT_SITE)
#define DT_EQ__(self, other, ...) dt_eq_in_place_sized(self, other, DT_NAMED(dt_eq_in_place_options, __VA_ARGS__))
#define dt_eq_scalar_(...) DT_EQ_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_EQ_SCALAR__(self, other, ...) \
    dt_eq_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_eq_scalar_in_place_options, __VA_ARGS__))
#define dt_equal(...) DT_EQUAL_(__VA_ARGS__, .site = DT_SITE)
#define DT_EQUAL_(self, other, ...) dt_equal_sized(self, other, DT_NAMED(dt_equal_options, __VA_ARGS__))
#define dt_erf(...) DT_ERF_(__VA_ARGS__, .site = DT_SITE)
#define DT_ERF_(self, ...) dt_erf_sized(self, DT_NAMED(dt_erf_options, __VA_ARGS__))
#define dt_erf_(...) DT_ERF__(__VA_ARGS__, .site = DT_SITE)
#define DT_ERF__(self, ...) dt_erf_in_place_sized(self, DT_NAMED(dt_erf_in_place_options, __VA_ARGS__))
#define dt_erfc(...) DT_ERFC_(__VA_ARGS__, .site = DT_SITE)
#define DT_ERFC_(self, ...) dt_erfc_sized(self, DT_NAMED(dt_erfc_options, __VA_ARGS__))
#define dt_erfc_(...) DT_ERFC__(__VA_ARGS__, .site = DT_SITE)
#define DT_ERFC__(self, ...) dt_erfc_in_place_sized(self, DT_NAMED(dt_erfc_in_place_options, __VA_ARGS__))
#define dt_exp(...) DT_EXP_(__VA_ARGS__, .site = DT_SITE)
#define DT_EXP_(self, ...) dt_exp_sized(self, DT_NAMED(dt_exp_options, __VA_ARGS__))
#define dt_exp2(...) DT_EXP2_(__VA_ARGS__, .site = DT_SITE)
#define DT_EXP2_(self, ...) dt_exp2_sized(self, DT_NAMED(dt_exp2_options, __VA_ARGS__))
#define dt_exp2_(...) DT_EXP2__(__VA_ARGS__, .site = DT_SITE)
#define DT_EXP2__(self, ...) dt_exp2_in_place_sized(self, DT_NAMED(dt_exp2_in_place_options, __VA_ARGS__))
#define dt_exp_(...) DT_EXP__(__VA_ARGS__, .site = DT_SITE)
#define DT_EXP__(self, ...) dt_exp_in_place_sized(self, DT_NAMED(dt_exp_in_place_options, __VA_ARGS__))
#define dt_expand(...) DT_EXPAND_(__VA_ARGS__, .site = DT_SITE)
#define DT_EXPAND_(self, size, ...) dt_expand_sized(self, size, DT_NAMED(dt_expand_options, __VA_ARGS__))
#define dt_expand_as(...) DT_EXPAND_AS_(__VA_ARGS__, .site = DT_SITE)
#define DT_EXPAND_AS_(self, other, ...) dt_expand_as_sized(self, other, DT_NAMED(dt_expand_as_options, __VA_ARGS__))
#define dt_expm1(...) DT_EXPM1_(__VA_ARGS__, .site = DT_SITE)
#define DT_EXPM1_(self, ...) dt_expm1_sized(self, DT_NAMED(dt_expm1_options, __VA_ARGS__))
#define dt_expm1_(...) DT_EXPM1__(__VA_ARGS__, .site = DT_SITE)
#define DT_EXPM1__(self, ...) dt_expm1_in_place_sized(self, DT_NAMED(dt_expm1_in_place_options, __VA_ARGS__))
#define dt_eye(...) DT_EYE_(__VA_ARGS__, .site = DT_SITE)
#define DT_EYE_(ctx, n, m, ...) dt_eye_sized(ctx, n, m, DT_NAMED(dt_make_options, __VA_ARGS__))
#define dt_fill(...) DT_FILL_(__VA_ARGS__, .site = DT_SITE)
#define DT_FILL_(self, value, ...) dt_fill_sized(self, DT_NUMBER(value), DT_NAMED(dt_fill_options, __VA_ARGS__))
#define dt_fill_tensor(...) DT_FILL_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_FILL_TENSOR_(self, value, ...) \
    dt_fill_tensor_sized(self, value, DT_NAMED(dt_fill_tensor_options, __VA_ARGS__))
#define dt_fill_(...) DT_FILL__(__VA_ARGS__, .site = DT_SITE)
#define DT_FILL__(self, value, ...) \
    dt_fill_in_place_sized(self, DT_NUMBER(value), DT_NAMED(dt_fill_in_place_options, __VA_ARGS__))
#define dt_fill_tensor_(...) DT_FILL_TENSOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_FILL_TENSOR__(self, value, ...) \
    dt_fill_tensor_in_place_sized(self, value, DT_NAMED(dt_fill_tensor_in_place_options, __VA_ARGS__))
#define dt_flatten(...) DT_FLATTEN_(__VA_ARGS__, .site = DT_SITE)
#define DT_FLATTEN_(self, ...) dt_flatten_sized(self, DT_CHECKED(dt_flatten_options, __VA_ARGS__))
#define dt_flip(...) DT_FLIP_(__VA_ARGS__, .site = DT_SITE)
#define DT_FLIP_(self, dims, ...) dt_flip_sized(self, dims, DT_NAMED(dt_flip_options, __VA_ARGS__))
#define dt_float(...) DT_FLOAT_(__VA_ARGS__, .site = DT_SITE)
#define DT_FLOAT_(self, ...) dt_float_sized(self, DT_NAMED(dt_float_options, __VA_ARGS__))
#define dt_floor(...) DT_FLOOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_FLOOR_(self, ...) dt_floor_sized(self, DT_NAMED(dt_floor_options, __VA_ARGS__))
#define dt_floor_(...) DT_FLOOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_FLOOR__(self, ...) dt_floor_in_place_sized(self, DT_NAMED(dt_floor_in_place_options, __VA_ARGS__))
#define dt_floor_divide(...) DT_FLOOR_DIVIDE_(__VA_ARGS__, .site = DT_SITE)
#define DT_FLOOR_DIVIDE_(self, other, ...) \
    dt_floor_divide_sized(self, other, DT_NAMED(dt_floor_divide_options, __VA_ARGS__))
#define dt_floor_divide_scalar(...) DT_FLOOR_DIVIDE_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_FLOOR_DIVIDE_SCALAR_(self, other, ...) \
    dt_floor_divide_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_floor_divide_scalar_options, __VA_ARGS__))
#define dt_floor_divide_(...) DT_FLOOR_DIVIDE__(__VA_ARGS__, .site = DT_SITE)
#define DT_FLOOR_DIVIDE__(self, other, ...) \
    dt_floor_divide_in_place_sized(self, other, DT_NAMED(dt_floor_divide_in_place_options, __VA_ARGS__))
#define dt_floor_divide_scalar_(...) DT_FLOOR_DIVIDE_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_FLOOR_DIVIDE_SCALAR__(self, other, ...) \
    dt_floor_divide_scalar_in_place_sized(self, DT_NUMBER(other), \
        DT_NAMED(dt_floor_divide_scalar_in_place_options, __VA_ARGS__))
#define dt_fmax(...) DT_FMAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_FMAX_(self, other, ...) dt_fmax_sized(self, other, DT_NAMED(dt_fmax_options, __VA_ARGS__))
#define dt_fmin(...) DT_FMIN_(__VA_ARGS__, .site = DT_SITE)
#define DT_FMIN_(self, other, ...) dt_fmin_sized(self, other, DT_NAMED(dt_fmin_options, __VA_ARGS__))
#define dt_fmod(...) DT_FMOD_(__VA_ARGS__, .site = DT_SITE)
#define DT_FMOD_(self, other, ...) dt_fmod_sized(self, other, DT_NAMED(dt_fmod_options, __VA_ARGS__))
#define dt_fmod_scalar(...) DT_FMOD_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_FMOD_SCALAR_(self, other, ...) \
    dt_fmod_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_fmod_scalar_options, __VA_ARGS__))
#define dt_fmod_(...) DT_FMOD__(__VA_ARGS__, .site = DT_SITE)
#define DT_FMOD__(self, other, ...) \
    dt_fmod_in_place_sized(self, other, DT_NAMED(dt_fmod_in_place_options, __VA_ARGS__))
#define dt_fmod_scalar_(...) DT_FMOD_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_FMOD_SCALAR__(self, other, ...) \
    dt_fmod_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_fmod_scalar_in_place_options, __VA_ARGS__))
#define dt_frac(...) DT_FRAC_(__VA_ARGS__, .site = DT_SITE)
#define DT_FRAC_(self, ...) dt_frac_sized(self, DT_NAMED(dt_frac_options, __VA_ARGS__))
#define dt_frac_(...) DT_FRAC__(__VA_ARGS__, .site = DT_SITE)
#define DT_FRAC__(self, ...) dt_frac_in_place_sized(self, DT_NAMED(dt_frac_in_place_options, __VA_ARGS__))
#define dt_full(...) DT_FULL_(__VA_ARGS__, .site = DT_SITE)
#define DT_FULL_(ctx, size, fill_value, ...) \
    dt_full_sized(ctx, size, DT_NUMBER(fill_value), DT_NAMED(dt_make_options, __VA_ARGS__))
#define dt_full_like(...) DT_FULL_LIKE_(__VA_ARGS__, .site = DT_SITE)
#define DT_FULL_LIKE_(self, fill_value, ...) \
    dt_full_like_sized(self, DT_NUMBER(fill_value), DT_NAMED(dt_full_like_options, __VA_ARGS__))
#define dt_gather(...) DT_GATHER_(__VA_ARGS__, .site = DT_SITE)
#define DT_GATHER_(self, dim, index, ...) dt_gather_sized(self, dim, index, DT_NAMED(dt_gather_options, __VA_ARGS__))
#define dt_gather_backward(...) DT_GATHER_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_GATHER_BACKWARD_(grad, index, sizes, dim, ...) \
    dt_gather_backward_sized(grad, index, sizes, dim, DT_NAMED(dt_gather_backward_options, __VA_ARGS__))
#define dt_ge(...) DT_GE_(__VA_ARGS__, .site = DT_SITE)
#define DT_GE_(self, other, ...) dt_ge_sized(self, other, DT_NAMED(dt_ge_options, __VA_ARGS__))
#define dt_ge_scalar(...) DT_GE_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_GE_SCALAR_(self, other, ...) \
    dt_ge_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_ge_scalar_options, __VA_ARGS__))
#define dt_ge_(...) DT_GE__(__VA_ARGS__, .site = DT_SITE)
#define DT_GE__(self, other, ...) dt_ge_in_place_sized(self, other, DT_NAMED(dt_ge_in_place_options, __VA_ARGS__))
#define dt_ge_scalar_(...) DT_GE_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_GE_SCALAR__(self, other, ...) \
    dt_ge_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_ge_scalar_in_place_options, __VA_ARGS__))
#define dt_gelu(...) DT_GELU_(__VA_ARGS__, .site = DT_SITE)
#define DT_GELU_(self, ...) dt_gelu_sized(self, DT_NAMED(dt_gelu_options, __VA_ARGS__))
#define dt_gelu_backward(...) DT_GELU_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_GELU_BACKWARD_(grad_output, self, ...) \
    dt_gelu_backward_sized(grad_output, self, DT_NAMED(dt_gelu_backward_options, __VA_ARGS__))
#define dt_geqrf(...) DT_GEQRF_(__VA_ARGS__, .site = DT_SITE)
#define DT_GEQRF_(self, ...) dt_geqrf_sized(self, DT_NAMED(dt_geqrf_options, __VA_ARGS__))
#define dt_glu(...) DT_GLU_(__VA_ARGS__, .site = DT_SITE)
#define DT_GLU_(input, ...) dt_glu_sized(input, DT_CHECKED(dt_glu_options, __VA_ARGS__))
#define dt_group_norm(...) DT_GROUP_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_GROUP_NORM_(input, num_groups, ...) \
    dt_group_norm_sized(input, num_groups, DT_CHECKED(dt_group_norm_options, __VA_ARGS__))
#define dt_gt(...) DT_GT_(__VA_ARGS__, .site = DT_SITE)
#define DT_GT_(self, other, ...) dt_gt_sized(self, other, DT_NAMED(dt_gt_options, __VA_ARGS__))
#define dt_gt_scalar(...) DT_GT_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_GT_SCALAR_(self, other, ...) \
    dt_gt_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_gt_scalar_options, __VA_ARGS__))
#define dt_gt_(...) DT_GT__(__VA_ARGS__, .site = DT_SITE)
#define DT_GT__(self, other, ...) dt_gt_in_place_sized(self, other, DT_NAMED(dt_gt_in_place_options, __VA_ARGS__))
#define dt_gt_scalar_(...) DT_GT_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_GT_SCALAR__(self, other, ...) \
    dt_gt_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_gt_scalar_in_place_options, __VA_ARGS__))
#define dt_half(...) DT_HALF_(__VA_ARGS__, .site = DT_SITE)
#define DT_HALF_(self, ...) dt_half_sized(self, DT_NAMED(dt_half_options, __VA_ARGS__))
#define dt_hardshrink(...) DT_HARDSHRINK_(__VA_ARGS__, .site = DT_SITE)
#define DT_HARDSHRINK_(self, ...) dt_hardshrink_sized(self, DT_CHECKED(dt_hardshrink_options, __VA_ARGS__))
#define dt_hardsigmoid(...) DT_HARDSIGMOID_(__VA_ARGS__, .site = DT_SITE)
#define DT_HARDSIGMOID_(input, ...) dt_hardsigmoid_sized(input, DT_NAMED(dt_hardsigmoid_options, __VA_ARGS__))
#define dt_hardsigmoid_(...) DT_HARDSIGMOID__(__VA_ARGS__, .site = DT_SITE)
#define DT_HARDSIGMOID__(input, ...) \
    dt_hardsigmoid_in_place_sized(input, DT_NAMED(dt_hardsigmoid_in_place_options, __VA_ARGS__))
#define dt_hardswish(...) DT_HARDSWISH_(__VA_ARGS__, .site = DT_SITE)
#define DT_HARDSWISH_(input, ...) dt_hardswish_sized(input, DT_NAMED(dt_hardswish_options, __VA_ARGS__))
#define dt_hardswish_(...) DT_HARDSWISH__(__VA_ARGS__, .site = DT_SITE)
#define DT_HARDSWISH__(input, ...) \
    dt_hardswish_in_place_sized(input, DT_NAMED(dt_hardswish_in_place_options, __VA_ARGS__))
#define dt_hardtanh(...) DT_HARDTANH_(__VA_ARGS__, .site = DT_SITE)
#define DT_HARDTANH_(input, ...) dt_hardtanh_sized(input, DT_CHECKED(dt_hardtanh_options, __VA_ARGS__))
#define dt_hardtanh_(...) DT_HARDTANH__(__VA_ARGS__, .site = DT_SITE)
#define DT_HARDTANH__(input, ...) \
    dt_hardtanh_in_place_sized(input, DT_CHECKED(dt_hardtanh_in_place_options, __VA_ARGS__))
#define dt_histc(...) DT_HISTC_(__VA_ARGS__, .site = DT_SITE)
#define DT_HISTC_(self, bins, min, max, ...) \
    dt_histc_sized(self, bins, DT_NUMBER(min), DT_NUMBER(max), DT_NAMED(dt_histc_options, __VA_ARGS__))
#define dt_histc_tensor(...) DT_HISTC_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_HISTC_TENSOR_(self, min, max, bins, ...) \
    dt_histc_tensor_sized(self, min, max, bins, DT_NAMED(dt_histc_tensor_options, __VA_ARGS__))
#define dt_hstack(...) DT_HSTACK_(__VA_ARGS__, .site = DT_SITE)
#define DT_HSTACK_(tensors, ...) dt_hstack_sized(tensors, DT_NAMED(dt_hstack_options, __VA_ARGS__))
#define dt_huber_loss(...) DT_HUBER_LOSS_(__VA_ARGS__, .site = DT_SITE)
#define DT_HUBER_LOSS_(input, target, ...) \
    dt_huber_loss_sized(input, target, DT_CHECKED(dt_huber_loss_options, __VA_ARGS__))
#define dt_index(...) DT_INDEX_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_(self, indices, ...) dt_index_sized(self, indices, DT_NAMED(dt_index_options, __VA_ARGS__))
#define dt_index_add(...) DT_INDEX_ADD_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_ADD_(self, dim, index, source, ...) \
    dt_index_add_sized(self, dim, index, source, DT_CHECKED(dt_index_add_options, __VA_ARGS__))
#define dt_index_add_(...) DT_INDEX_ADD__(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_ADD__(self, dim, index, source, ...) \
    dt_index_add_in_place_sized(self, dim, index, source, DT_CHECKED(dt_index_add_in_place_options, __VA_ARGS__))
#define dt_index_backward(...) DT_INDEX_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_BACKWARD_(grad, indices, sizes, ...) \
    dt_index_backward_sized(grad, indices, sizes, DT_NAMED(dt_index_backward_options, __VA_ARGS__))
#define dt_index_copy(...) DT_INDEX_COPY_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_COPY_(self, dim, index, source, ...) \
    dt_index_copy_sized(self, dim, index, source, DT_NAMED(dt_index_copy_options, __VA_ARGS__))
#define dt_index_copy_(...) DT_INDEX_COPY__(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_COPY__(self, dim, index, source, ...) \
    dt_index_copy_in_place_sized(self, dim, index, source, DT_NAMED(dt_index_copy_in_place_options, __VA_ARGS__))
#define dt_index_fill(...) DT_INDEX_FILL_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_FILL_(self, dim, index, value, ...) \
    dt_index_fill_sized(self, dim, index, DT_NUMBER(value), DT_NAMED(dt_index_fill_options, __VA_ARGS__))
#define dt_index_fill_tensor(...) DT_INDEX_FILL_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_FILL_TENSOR_(self, dim, index, value, ...) \
    dt_index_fill_tensor_sized(self, dim, index, value, DT_NAMED(dt_index_fill_tensor_options, __VA_ARGS__))
#define dt_index_fill_(...) DT_INDEX_FILL__(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_FILL__(self, dim, index, value, ...) \
    dt_index_fill_in_place_sized(self, dim, index, DT_NUMBER(value), \
        DT_NAMED(dt_index_fill_in_place_options, __VA_ARGS__))
#define dt_index_fill_tensor_(...) DT_INDEX_FILL_TENSOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_FILL_TENSOR__(self, dim, index, value, ...) \
    dt_index_fill_tensor_in_place_sized(self, dim, index, value, \
        DT_NAMED(dt_index_fill_tensor_in_place_options, __VA_ARGS__))
#define dt_index_put(...) DT_INDEX_PUT_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_PUT_(self, indices, values, ...) \
    dt_index_put_sized(self, indices, values, DT_NAMED(dt_index_put_options, __VA_ARGS__))
#define dt_index_put_(...) DT_INDEX_PUT__(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_PUT__(self, indices, values, ...) \
    dt_index_put_in_place_sized(self, indices, values, DT_NAMED(dt_index_put_in_place_options, __VA_ARGS__))
#define dt_index_reduce(...) DT_INDEX_REDUCE_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_REDUCE_(self, dim, index, source, reduce, ...) \
    dt_index_reduce_sized(self, dim, index, source, reduce, DT_CHECKED(dt_index_reduce_options, __VA_ARGS__))
#define dt_index_reduce_(...) DT_INDEX_REDUCE__(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_REDUCE__(self, dim, index, source, reduce, ...) \
    dt_index_reduce_in_place_sized(self, dim, index, source, reduce, \
        DT_CHECKED(dt_index_reduce_in_place_options, __VA_ARGS__))
#define dt_index_select(...) DT_INDEX_SELECT_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_SELECT_(self, dim, index, ...) \
    dt_index_select_sized(self, dim, index, DT_NAMED(dt_index_select_options, __VA_ARGS__))
#define dt_index_select_backward(...) DT_INDEX_SELECT_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_INDEX_SELECT_BACKWARD_(grad, index, self_sizes, dim, ...) \
    dt_index_select_backward_sized(grad, index, self_sizes, dim, \
        DT_NAMED(dt_index_select_backward_options, __VA_ARGS__))
#define dt_inner(...) DT_INNER_(__VA_ARGS__, .site = DT_SITE)
#define DT_INNER_(self, other, ...) dt_inner_sized(self, other, DT_NAMED(dt_inner_options, __VA_ARGS__))
#define dt_instance_norm(...) DT_INSTANCE_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_INSTANCE_NORM_(input, ...) \
    dt_instance_norm_sized(input, DT_CHECKED(dt_instance_norm_options, __VA_ARGS__))
#define dt_int(...) DT_INT_(__VA_ARGS__, .site = DT_SITE)
#define DT_INT_(self, ...) dt_int_sized(self, DT_NAMED(dt_int_options, __VA_ARGS__))
#define dt_interpolate(...) DT_INTERPOLATE_(__VA_ARGS__, .site = DT_SITE)
#define DT_INTERPOLATE_(input, ...) dt_interpolate_sized(input, DT_CHECKED(dt_interpolate_options, __VA_ARGS__))
#define dt_isclose(...) DT_ISCLOSE_(__VA_ARGS__, .site = DT_SITE)
#define DT_ISCLOSE_(self, other, ...) dt_isclose_sized(self, other, DT_CHECKED(dt_isclose_options, __VA_ARGS__))
#define dt_isfinite(...) DT_ISFINITE_(__VA_ARGS__, .site = DT_SITE)
#define DT_ISFINITE_(self, ...) dt_isfinite_sized(self, DT_NAMED(dt_isfinite_options, __VA_ARGS__))
#define dt_isinf(...) DT_ISINF_(__VA_ARGS__, .site = DT_SITE)
#define DT_ISINF_(self, ...) dt_isinf_sized(self, DT_NAMED(dt_isinf_options, __VA_ARGS__))
#define dt_isnan(...) DT_ISNAN_(__VA_ARGS__, .site = DT_SITE)
#define DT_ISNAN_(self, ...) dt_isnan_sized(self, DT_NAMED(dt_isnan_options, __VA_ARGS__))
#define dt_kl_div(...) DT_KL_DIV_(__VA_ARGS__, .site = DT_SITE)
#define DT_KL_DIV_(input, target, ...) dt_kl_div_sized(input, target, DT_NAMED(dt_kl_div_options, __VA_ARGS__))
#define dt_kron(...) DT_KRON_(__VA_ARGS__, .site = DT_SITE)
#define DT_KRON_(self, other, ...) dt_kron_sized(self, other, DT_NAMED(dt_kron_options, __VA_ARGS__))
#define dt_kthvalue(...) DT_KTHVALUE_(__VA_ARGS__, .site = DT_SITE)
#define DT_KTHVALUE_(self, k, ...) dt_kthvalue_sized(self, k, DT_CHECKED(dt_kthvalue_options, __VA_ARGS__))
#define dt_l1_loss(...) DT_L1_LOSS_(__VA_ARGS__, .site = DT_SITE)
#define DT_L1_LOSS_(input, target, ...) dt_l1_loss_sized(input, target, DT_NAMED(dt_l1_loss_options, __VA_ARGS__))
#define dt_layer_norm(...) DT_LAYER_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_LAYER_NORM_(input, normalized_shape, ...) \
    dt_layer_norm_sized(input, normalized_shape, DT_CHECKED(dt_layer_norm_options, __VA_ARGS__))
#define dt_le(...) DT_LE_(__VA_ARGS__, .site = DT_SITE)
#define DT_LE_(self, other, ...) dt_le_sized(self, other, DT_NAMED(dt_le_options, __VA_ARGS__))
#define dt_le_scalar(...) DT_LE_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LE_SCALAR_(self, other, ...) \
    dt_le_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_le_scalar_options, __VA_ARGS__))
#define dt_le_(...) DT_LE__(__VA_ARGS__, .site = DT_SITE)
#define DT_LE__(self, other, ...) dt_le_in_place_sized(self, other, DT_NAMED(dt_le_in_place_options, __VA_ARGS__))
#define dt_le_scalar_(...) DT_LE_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_LE_SCALAR__(self, other, ...) \
    dt_le_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_le_scalar_in_place_options, __VA_ARGS__))
#define dt_leaky_relu(...) DT_LEAKY_RELU_(__VA_ARGS__, .site = DT_SITE)
#define DT_LEAKY_RELU_(input, ...) dt_leaky_relu_sized(input, DT_CHECKED(dt_leaky_relu_options, __VA_ARGS__))
#define dt_leaky_relu_(...) DT_LEAKY_RELU__(__VA_ARGS__, .site = DT_SITE)
#define DT_LEAKY_RELU__(input, ...) \
    dt_leaky_relu_in_place_sized(input, DT_CHECKED(dt_leaky_relu_in_place_options, __VA_ARGS__))
#define dt_lerp(...) DT_LERP_(__VA_ARGS__, .site = DT_SITE)
#define DT_LERP_(self, end, weight, ...) \
    dt_lerp_sized(self, end, DT_NUMBER(weight), DT_NAMED(dt_lerp_options, __VA_ARGS__))
#define dt_lerp_tensor(...) DT_LERP_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LERP_TENSOR_(self, end, weight, ...) \
    dt_lerp_tensor_sized(self, end, weight, DT_NAMED(dt_lerp_tensor_options, __VA_ARGS__))
#define dt_lerp_(...) DT_LERP__(__VA_ARGS__, .site = DT_SITE)
#define DT_LERP__(self, end, weight, ...) \
    dt_lerp_in_place_sized(self, end, DT_NUMBER(weight), DT_NAMED(dt_lerp_in_place_options, __VA_ARGS__))
#define dt_lerp_tensor_(...) DT_LERP_TENSOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_LERP_TENSOR__(self, end, weight, ...) \
    dt_lerp_tensor_in_place_sized(self, end, weight, DT_NAMED(dt_lerp_tensor_in_place_options, __VA_ARGS__))
#define dt_linalg_cholesky(...) DT_LINALG_CHOLESKY_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_CHOLESKY_(self, ...) \
    dt_linalg_cholesky_sized(self, DT_NAMED(dt_linalg_cholesky_options, __VA_ARGS__))
#define dt_linalg_cholesky_ex(...) DT_LINALG_CHOLESKY_EX_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_CHOLESKY_EX_(self, ...) \
    dt_linalg_cholesky_ex_sized(self, DT_NAMED(dt_linalg_cholesky_ex_options, __VA_ARGS__))
#define dt_linalg_cond(...) DT_LINALG_COND_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_COND_(self, ...) dt_linalg_cond_sized(self, DT_CHECKED(dt_linalg_cond_options, __VA_ARGS__))
#define dt_linalg_cond_p_str(...) DT_LINALG_COND_P_STR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_COND_P_STR_(self, p, ...) \
    dt_linalg_cond_p_str_sized(self, p, DT_NAMED(dt_linalg_cond_p_str_options, __VA_ARGS__))
#define dt_linalg_cross(...) DT_LINALG_CROSS_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_CROSS_(self, other, ...) \
    dt_linalg_cross_sized(self, other, DT_CHECKED(dt_linalg_cross_options, __VA_ARGS__))
#define dt_linalg_det(...) DT_LINALG_DET_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_DET_(A, ...) dt_linalg_det_sized(A, DT_NAMED(dt_linalg_det_options, __VA_ARGS__))
#define dt_linalg_diagonal(...) DT_LINALG_DIAGONAL_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_DIAGONAL_(A, ...) dt_linalg_diagonal_sized(A, DT_CHECKED(dt_linalg_diagonal_options, __VA_ARGS__))
#define dt_linalg_eig(...) DT_LINALG_EIG_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_EIG_(self, ...) dt_linalg_eig_sized(self, DT_NAMED(dt_linalg_eig_options, __VA_ARGS__))
#define dt_linalg_eigh(...) DT_LINALG_EIGH_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_EIGH_(self, ...) dt_linalg_eigh_sized(self, DT_NAMED(dt_linalg_eigh_options, __VA_ARGS__))
#define dt_linalg_eigvals(...) DT_LINALG_EIGVALS_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_EIGVALS_(self, ...) dt_linalg_eigvals_sized(self, DT_NAMED(dt_linalg_eigvals_options, __VA_ARGS__))
#define dt_linalg_eigvalsh(...) DT_LINALG_EIGVALSH_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_EIGVALSH_(self, ...) \
    dt_linalg_eigvalsh_sized(self, DT_NAMED(dt_linalg_eigvalsh_options, __VA_ARGS__))
#define dt_linalg_householder_product(...) DT_LINALG_HOUSEHOLDER_PRODUCT_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_HOUSEHOLDER_PRODUCT_(input, tau, ...) \
    dt_linalg_householder_product_sized(input, tau, DT_NAMED(dt_linalg_householder_product_options, __VA_ARGS__))
#define dt_linalg_inv(...) DT_LINALG_INV_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_INV_(A, ...) dt_linalg_inv_sized(A, DT_NAMED(dt_linalg_inv_options, __VA_ARGS__))
#define dt_linalg_inv_ex(...) DT_LINALG_INV_EX_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_INV_EX_(A, ...) dt_linalg_inv_ex_sized(A, DT_NAMED(dt_linalg_inv_ex_options, __VA_ARGS__))
#define dt_linalg_ldl_factor(...) DT_LINALG_LDL_FACTOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_LDL_FACTOR_(self, ...) \
    dt_linalg_ldl_factor_sized(self, DT_NAMED(dt_linalg_ldl_factor_options, __VA_ARGS__))
#define dt_linalg_ldl_factor_ex(...) DT_LINALG_LDL_FACTOR_EX_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_LDL_FACTOR_EX_(self, ...) \
    dt_linalg_ldl_factor_ex_sized(self, DT_NAMED(dt_linalg_ldl_factor_ex_options, __VA_ARGS__))
#define dt_linalg_ldl_solve(...) DT_LINALG_LDL_SOLVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_LDL_SOLVE_(LD, pivots, B, ...) \
    dt_linalg_ldl_solve_sized(LD, pivots, B, DT_NAMED(dt_linalg_ldl_solve_options, __VA_ARGS__))
#define dt_linalg_lstsq(...) DT_LINALG_LSTSQ_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_LSTSQ_(self, b, ...) \
    dt_linalg_lstsq_sized(self, b, DT_CHECKED(dt_linalg_lstsq_options, __VA_ARGS__))
#define dt_linalg_lu(...) DT_LINALG_LU_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_LU_(A, ...) dt_linalg_lu_sized(A, DT_CHECKED(dt_linalg_lu_options, __VA_ARGS__))
#define dt_linalg_lu_factor(...) DT_LINALG_LU_FACTOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_LU_FACTOR_(A, ...) \
    dt_linalg_lu_factor_sized(A, DT_CHECKED(dt_linalg_lu_factor_options, __VA_ARGS__))
#define dt_linalg_lu_factor_ex(...) DT_LINALG_LU_FACTOR_EX_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_LU_FACTOR_EX_(A, ...) \
    dt_linalg_lu_factor_ex_sized(A, DT_CHECKED(dt_linalg_lu_factor_ex_options, __VA_ARGS__))
#define dt_linalg_lu_solve(...) DT_LINALG_LU_SOLVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_LU_SOLVE_(LU, pivots, B, ...) \
    dt_linalg_lu_solve_sized(LU, pivots, B, DT_CHECKED(dt_linalg_lu_solve_options, __VA_ARGS__))
#define dt_linalg_matrix_exp(...) DT_LINALG_MATRIX_EXP_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_MATRIX_EXP_(self, ...) \
    dt_linalg_matrix_exp_sized(self, DT_NAMED(dt_linalg_matrix_exp_options, __VA_ARGS__))
#define dt_linalg_matrix_norm(...) DT_LINALG_MATRIX_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_MATRIX_NORM_(self, ord, ...) \
    dt_linalg_matrix_norm_sized(self, DT_NUMBER(ord), DT_CHECKED(dt_linalg_matrix_norm_options, __VA_ARGS__))
#define dt_linalg_matrix_norm_str_ord(...) DT_LINALG_MATRIX_NORM_STR_ORD_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_MATRIX_NORM_STR_ORD_(self, ...) \
    dt_linalg_matrix_norm_str_ord_sized(self, DT_CHECKED(dt_linalg_matrix_norm_str_ord_options, __VA_ARGS__))
#define dt_linalg_matrix_power(...) DT_LINALG_MATRIX_POWER_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_MATRIX_POWER_(self, n, ...) \
    dt_linalg_matrix_power_sized(self, n, DT_NAMED(dt_linalg_matrix_power_options, __VA_ARGS__))
#define dt_linalg_matrix_rank(...) DT_LINALG_MATRIX_RANK_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_MATRIX_RANK_(self, ...) \
    dt_linalg_matrix_rank_sized(self, DT_CHECKED(dt_linalg_matrix_rank_options, __VA_ARGS__))
#define dt_linalg_matrix_rank_tol(...) DT_LINALG_MATRIX_RANK_TOL_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_MATRIX_RANK_TOL_(self, tol, ...) \
    dt_linalg_matrix_rank_tol_sized(self, tol, DT_NAMED(dt_linalg_matrix_rank_tol_options, __VA_ARGS__))
#define dt_linalg_matrix_rank_tol_tensor(...) DT_LINALG_MATRIX_RANK_TOL_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_MATRIX_RANK_TOL_TENSOR_(input, tol, ...) \
    dt_linalg_matrix_rank_tol_tensor_sized(input, tol, \
        DT_NAMED(dt_linalg_matrix_rank_tol_tensor_options, __VA_ARGS__))
#define dt_linalg_matrix_rank_atol_rtol_tensor(...) \
    DT_LINALG_MATRIX_RANK_ATOL_RTOL_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_MATRIX_RANK_ATOL_RTOL_TENSOR_(input, ...) \
    dt_linalg_matrix_rank_atol_rtol_tensor_sized(input, \
        DT_NAMED(dt_linalg_matrix_rank_atol_rtol_tensor_options, __VA_ARGS__))
#define dt_linalg_multi_dot(...) DT_LINALG_MULTI_DOT_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_MULTI_DOT_(tensors, ...) \
    dt_linalg_multi_dot_sized(tensors, DT_NAMED(dt_linalg_multi_dot_options, __VA_ARGS__))
#define dt_linalg_norm(...) DT_LINALG_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_NORM_(self, ...) dt_linalg_norm_sized(self, DT_CHECKED(dt_linalg_norm_options, __VA_ARGS__))
#define dt_linalg_norm_ord_str(...) DT_LINALG_NORM_ORD_STR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_NORM_ORD_STR_(self, ord, ...) \
    dt_linalg_norm_ord_str_sized(self, ord, DT_CHECKED(dt_linalg_norm_ord_str_options, __VA_ARGS__))
#define dt_linalg_pinv(...) DT_LINALG_PINV_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_PINV_(self, ...) dt_linalg_pinv_sized(self, DT_CHECKED(dt_linalg_pinv_options, __VA_ARGS__))
#define dt_linalg_pinv_rcond(...) DT_LINALG_PINV_RCOND_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_PINV_RCOND_(self, rcond, ...) \
    dt_linalg_pinv_rcond_sized(self, rcond, DT_NAMED(dt_linalg_pinv_rcond_options, __VA_ARGS__))
#define dt_linalg_pinv_tensor(...) DT_LINALG_PINV_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_PINV_TENSOR_(self, ...) \
    dt_linalg_pinv_tensor_sized(self, DT_NAMED(dt_linalg_pinv_tensor_options, __VA_ARGS__))
#define dt_linalg_pinv_rcond_tensor(...) DT_LINALG_PINV_RCOND_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_PINV_RCOND_TENSOR_(self, rcond, ...) \
    dt_linalg_pinv_rcond_tensor_sized(self, rcond, DT_NAMED(dt_linalg_pinv_rcond_tensor_options, __VA_ARGS__))
#define dt_linalg_qr(...) DT_LINALG_QR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_QR_(A, ...) dt_linalg_qr_sized(A, DT_NAMED(dt_linalg_qr_options, __VA_ARGS__))
#define dt_linalg_slogdet(...) DT_LINALG_SLOGDET_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_SLOGDET_(A, ...) dt_linalg_slogdet_sized(A, DT_NAMED(dt_linalg_slogdet_options, __VA_ARGS__))
#define dt_linalg_solve(...) DT_LINALG_SOLVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_SOLVE_(A, B, ...) dt_linalg_solve_sized(A, B, DT_CHECKED(dt_linalg_solve_options, __VA_ARGS__))
#define dt_linalg_solve_ex(...) DT_LINALG_SOLVE_EX_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_SOLVE_EX_(A, B, ...) \
    dt_linalg_solve_ex_sized(A, B, DT_CHECKED(dt_linalg_solve_ex_options, __VA_ARGS__))
#define dt_linalg_solve_triangular(...) DT_LINALG_SOLVE_TRIANGULAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_SOLVE_TRIANGULAR_(self, B, upper, ...) \
    dt_linalg_solve_triangular_sized(self, B, upper, DT_CHECKED(dt_linalg_solve_triangular_options, __VA_ARGS__))
#define dt_linalg_svd(...) DT_LINALG_SVD_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_SVD_(A, ...) dt_linalg_svd_sized(A, DT_CHECKED(dt_linalg_svd_options, __VA_ARGS__))
#define dt_linalg_svdvals(...) DT_LINALG_SVDVALS_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_SVDVALS_(A, ...) dt_linalg_svdvals_sized(A, DT_NAMED(dt_linalg_svdvals_options, __VA_ARGS__))
#define dt_linalg_tensorinv(...) DT_LINALG_TENSORINV_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_TENSORINV_(self, ...) \
    dt_linalg_tensorinv_sized(self, DT_CHECKED(dt_linalg_tensorinv_options, __VA_ARGS__))
#define dt_linalg_tensorsolve(...) DT_LINALG_TENSORSOLVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_TENSORSOLVE_(self, other, ...) \
    dt_linalg_tensorsolve_sized(self, other, DT_CHECKED(dt_linalg_tensorsolve_options, __VA_ARGS__))
#define dt_linalg_vander(...) DT_LINALG_VANDER_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_VANDER_(x, ...) dt_linalg_vander_sized(x, DT_CHECKED(dt_linalg_vander_options, __VA_ARGS__))
#define dt_linalg_vecdot(...) DT_LINALG_VECDOT_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_VECDOT_(x, y, ...) dt_linalg_vecdot_sized(x, y, DT_CHECKED(dt_linalg_vecdot_options, __VA_ARGS__))
#define dt_linalg_vector_norm(...) DT_LINALG_VECTOR_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINALG_VECTOR_NORM_(self, ...) \
    dt_linalg_vector_norm_sized(self, DT_CHECKED(dt_linalg_vector_norm_options, __VA_ARGS__))
#define dt_linear(...) DT_LINEAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINEAR_(input, weight, ...) dt_linear_sized(input, weight, DT_NAMED(dt_linear_options, __VA_ARGS__))
#define dt_linear_recurrence(...) DT_LINEAR_RECURRENCE_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINEAR_RECURRENCE_(term, factor, dim, ...) \
    dt_linear_recurrence_sized(term, factor, dim, DT_NAMED(dt_linear_recurrence_options, __VA_ARGS__))
#define dt_linear_weight_backward(...) DT_LINEAR_WEIGHT_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINEAR_WEIGHT_BACKWARD_(grad_output, input, ...) \
    dt_linear_weight_backward_sized(grad_output, input, DT_NAMED(dt_linear_weight_backward_options, __VA_ARGS__))
#define dt_linspace(...) DT_LINSPACE_(__VA_ARGS__, .site = DT_SITE)
#define DT_LINSPACE_(ctx, start, end, steps, ...) \
    dt_linspace_sized(ctx, DT_NUMBER(start), DT_NUMBER(end), steps, DT_NAMED(dt_make_options, __VA_ARGS__))
#define dt_lion_(...) DT_LION__(__VA_ARGS__, .site = DT_SITE)
#define DT_LION__(self, grad, exp_avg, lr, ...) \
    dt_lion_in_place_sized(self, grad, exp_avg, lr, DT_CHECKED(dt_lion_in_place_options, __VA_ARGS__))
#define dt_local_response_norm(...) DT_LOCAL_RESPONSE_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOCAL_RESPONSE_NORM_(input, size, ...) \
    dt_local_response_norm_sized(input, size, DT_CHECKED(dt_local_response_norm_options, __VA_ARGS__))
#define dt_log(...) DT_LOG_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG_(self, ...) dt_log_sized(self, DT_NAMED(dt_log_options, __VA_ARGS__))
#define dt_log10(...) DT_LOG10_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG10_(self, ...) dt_log10_sized(self, DT_NAMED(dt_log10_options, __VA_ARGS__))
#define dt_log10_(...) DT_LOG10__(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG10__(self, ...) dt_log10_in_place_sized(self, DT_NAMED(dt_log10_in_place_options, __VA_ARGS__))
#define dt_log1p(...) DT_LOG1P_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG1P_(self, ...) dt_log1p_sized(self, DT_NAMED(dt_log1p_options, __VA_ARGS__))
#define dt_log1p_(...) DT_LOG1P__(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG1P__(self, ...) dt_log1p_in_place_sized(self, DT_NAMED(dt_log1p_in_place_options, __VA_ARGS__))
#define dt_log2(...) DT_LOG2_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG2_(self, ...) dt_log2_sized(self, DT_NAMED(dt_log2_options, __VA_ARGS__))
#define dt_log2_(...) DT_LOG2__(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG2__(self, ...) dt_log2_in_place_sized(self, DT_NAMED(dt_log2_in_place_options, __VA_ARGS__))
#define dt_log_(...) DT_LOG__(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG__(self, ...) dt_log_in_place_sized(self, DT_NAMED(dt_log_in_place_options, __VA_ARGS__))
#define dt_log_softmax(...) DT_LOG_SOFTMAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOG_SOFTMAX_(self, dim, ...) \
    dt_log_softmax_sized(self, dim, DT_NAMED(dt_log_softmax_options, __VA_ARGS__))
#define dt_logaddexp(...) DT_LOGADDEXP_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGADDEXP_(self, other, ...) dt_logaddexp_sized(self, other, DT_NAMED(dt_logaddexp_options, __VA_ARGS__))
#define dt_logcumsumexp(...) DT_LOGCUMSUMEXP_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGCUMSUMEXP_(self, dim, ...) \
    dt_logcumsumexp_sized(self, dim, DT_NAMED(dt_logcumsumexp_options, __VA_ARGS__))
#define dt_logcumsumexp_backward(...) DT_LOGCUMSUMEXP_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGCUMSUMEXP_BACKWARD_(grad_output, self, logsums, dim, ...) \
    dt_logcumsumexp_backward_sized(grad_output, self, logsums, dim, \
        DT_NAMED(dt_logcumsumexp_backward_options, __VA_ARGS__))
#define dt_logdet(...) DT_LOGDET_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGDET_(self, ...) dt_logdet_sized(self, DT_NAMED(dt_logdet_options, __VA_ARGS__))
#define dt_logical_and(...) DT_LOGICAL_AND_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGICAL_AND_(self, other, ...) \
    dt_logical_and_sized(self, other, DT_NAMED(dt_logical_and_options, __VA_ARGS__))
#define dt_logical_and_(...) DT_LOGICAL_AND__(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGICAL_AND__(self, other, ...) \
    dt_logical_and_in_place_sized(self, other, DT_NAMED(dt_logical_and_in_place_options, __VA_ARGS__))
#define dt_logical_not(...) DT_LOGICAL_NOT_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGICAL_NOT_(self, ...) dt_logical_not_sized(self, DT_NAMED(dt_logical_not_options, __VA_ARGS__))
#define dt_logical_not_(...) DT_LOGICAL_NOT__(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGICAL_NOT__(self, ...) \
    dt_logical_not_in_place_sized(self, DT_NAMED(dt_logical_not_in_place_options, __VA_ARGS__))
#define dt_logical_or(...) DT_LOGICAL_OR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGICAL_OR_(self, other, ...) \
    dt_logical_or_sized(self, other, DT_NAMED(dt_logical_or_options, __VA_ARGS__))
#define dt_logical_or_(...) DT_LOGICAL_OR__(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGICAL_OR__(self, other, ...) \
    dt_logical_or_in_place_sized(self, other, DT_NAMED(dt_logical_or_in_place_options, __VA_ARGS__))
#define dt_logical_xor(...) DT_LOGICAL_XOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGICAL_XOR_(self, other, ...) \
    dt_logical_xor_sized(self, other, DT_NAMED(dt_logical_xor_options, __VA_ARGS__))
#define dt_logical_xor_(...) DT_LOGICAL_XOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGICAL_XOR__(self, other, ...) \
    dt_logical_xor_in_place_sized(self, other, DT_NAMED(dt_logical_xor_in_place_options, __VA_ARGS__))
#define dt_logsumexp(...) DT_LOGSUMEXP_(__VA_ARGS__, .site = DT_SITE)
#define DT_LOGSUMEXP_(self, dim, ...) dt_logsumexp_sized(self, dim, DT_NAMED(dt_logsumexp_options, __VA_ARGS__))
#define dt_long(...) DT_LONG_(__VA_ARGS__, .site = DT_SITE)
#define DT_LONG_(self, ...) dt_long_sized(self, DT_NAMED(dt_long_options, __VA_ARGS__))
#define dt_lt(...) DT_LT_(__VA_ARGS__, .site = DT_SITE)
#define DT_LT_(self, other, ...) dt_lt_sized(self, other, DT_NAMED(dt_lt_options, __VA_ARGS__))
#define dt_lt_scalar(...) DT_LT_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_LT_SCALAR_(self, other, ...) \
    dt_lt_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_lt_scalar_options, __VA_ARGS__))
#define dt_lt_(...) DT_LT__(__VA_ARGS__, .site = DT_SITE)
#define DT_LT__(self, other, ...) dt_lt_in_place_sized(self, other, DT_NAMED(dt_lt_in_place_options, __VA_ARGS__))
#define dt_lt_scalar_(...) DT_LT_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_LT_SCALAR__(self, other, ...) \
    dt_lt_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_lt_scalar_in_place_options, __VA_ARGS__))
#define dt_lu(...) DT_LU_(__VA_ARGS__, .site = DT_SITE)
#define DT_LU_(A, out, capacity, ...) dt_lu_sized(A, out, capacity, DT_CHECKED(dt_lu_options, __VA_ARGS__))
#define dt_lu_solve(...) DT_LU_SOLVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_LU_SOLVE_(self, LU_data, LU_pivots, ...) \
    dt_lu_solve_sized(self, LU_data, LU_pivots, DT_NAMED(dt_lu_solve_options, __VA_ARGS__))
#define dt_lu_unpack(...) DT_LU_UNPACK_(__VA_ARGS__, .site = DT_SITE)
#define DT_LU_UNPACK_(LU_data, LU_pivots, ...) \
    dt_lu_unpack_sized(LU_data, LU_pivots, DT_CHECKED(dt_lu_unpack_options, __VA_ARGS__))
#define dt_mT(...) DT_MT_CAPITAL_(__VA_ARGS__, .site = DT_SITE)
#define DT_MT_CAPITAL_(self, ...) dt_mT_sized(self, DT_NAMED(dt_mT_options, __VA_ARGS__))
#define dt_masked_fill(...) DT_MASKED_FILL_(__VA_ARGS__, .site = DT_SITE)
#define DT_MASKED_FILL_(self, mask, value, ...) \
    dt_masked_fill_sized(self, mask, DT_NUMBER(value), DT_NAMED(dt_masked_fill_options, __VA_ARGS__))
#define dt_masked_fill_tensor(...) DT_MASKED_FILL_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_MASKED_FILL_TENSOR_(self, mask, value, ...) \
    dt_masked_fill_tensor_sized(self, mask, value, DT_NAMED(dt_masked_fill_tensor_options, __VA_ARGS__))
#define dt_masked_fill_(...) DT_MASKED_FILL__(__VA_ARGS__, .site = DT_SITE)
#define DT_MASKED_FILL__(self, mask, value, ...) \
    dt_masked_fill_in_place_sized(self, mask, DT_NUMBER(value), \
        DT_NAMED(dt_masked_fill_in_place_options, __VA_ARGS__))
#define dt_masked_fill_tensor_(...) DT_MASKED_FILL_TENSOR__(__VA_ARGS__, .site = DT_SITE)
#define DT_MASKED_FILL_TENSOR__(self, mask, value, ...) \
    dt_masked_fill_tensor_in_place_sized(self, mask, value, \
        DT_NAMED(dt_masked_fill_tensor_in_place_options, __VA_ARGS__))
#define dt_matmul(...) DT_MATMUL_(__VA_ARGS__, .site = DT_SITE)
#define DT_MATMUL_(self, other, ...) dt_matmul_sized(self, other, DT_NAMED(dt_matmul_options, __VA_ARGS__))
#define dt_matrix_exp(...) DT_MATRIX_EXP_(__VA_ARGS__, .site = DT_SITE)
#define DT_MATRIX_EXP_(self, ...) dt_matrix_exp_sized(self, DT_NAMED(dt_matrix_exp_options, __VA_ARGS__))
#define dt_max(...) DT_MAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_(self, ...) dt_max_sized(self, DT_NAMED(dt_max_options, __VA_ARGS__))
#define dt_max_dim(...) DT_MAX_DIM_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_DIM_(self, dim, ...) dt_max_dim_sized(self, dim, DT_NAMED(dt_max_dim_options, __VA_ARGS__))
#define dt_max_other(...) DT_MAX_OTHER_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_OTHER_(self, other, ...) dt_max_other_sized(self, other, DT_NAMED(dt_max_other_options, __VA_ARGS__))
#define dt_max_pool1d(...) DT_MAX_POOL1D_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_POOL1D_(input, kernel_size, ...) \
    dt_max_pool1d_sized(input, kernel_size, DT_CHECKED(dt_max_pool1d_options, __VA_ARGS__))
#define dt_max_pool1d_with_indices(...) DT_MAX_POOL1D_WITH_INDICES_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_POOL1D_WITH_INDICES_(input, kernel_size, ...) \
    dt_max_pool1d_with_indices_sized(input, kernel_size, \
        DT_CHECKED(dt_max_pool1d_with_indices_options, __VA_ARGS__))
#define dt_max_pool2d(...) DT_MAX_POOL2D_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_POOL2D_(input, kernel_size, ...) \
    dt_max_pool2d_sized(input, kernel_size, DT_CHECKED(dt_max_pool2d_options, __VA_ARGS__))
#define dt_max_pool2d_with_indices(...) DT_MAX_POOL2D_WITH_INDICES_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_POOL2D_WITH_INDICES_(input, kernel_size, ...) \
    dt_max_pool2d_with_indices_sized(input, kernel_size, \
        DT_CHECKED(dt_max_pool2d_with_indices_options, __VA_ARGS__))
#define dt_max_pool3d(...) DT_MAX_POOL3D_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_POOL3D_(input, kernel_size, ...) \
    dt_max_pool3d_sized(input, kernel_size, DT_CHECKED(dt_max_pool3d_options, __VA_ARGS__))
#define dt_max_pool3d_with_indices(...) DT_MAX_POOL3D_WITH_INDICES_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_POOL3D_WITH_INDICES_(input, kernel_size, ...) \
    dt_max_pool3d_with_indices_sized(input, kernel_size, \
        DT_CHECKED(dt_max_pool3d_with_indices_options, __VA_ARGS__))
#define dt_max_pool_backward(...) DT_MAX_POOL_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_POOL_BACKWARD_(grad_output, indices, sizes, kernel_size, stride, padding, dilation, ...) \
    dt_max_pool_backward_sized(grad_output, indices, sizes, kernel_size, stride, padding, dilation, \
        DT_NAMED(dt_max_pool_backward_options, __VA_ARGS__))
#define dt_max_pool_read(...) DT_MAX_POOL_READ_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAX_POOL_READ_(self, indices, kernel_size, stride, padding, dilation, ...) \
    dt_max_pool_read_sized(self, indices, kernel_size, stride, padding, dilation, \
        DT_NAMED(dt_max_pool_read_options, __VA_ARGS__))
#define dt_maximum(...) DT_MAXIMUM_(__VA_ARGS__, .site = DT_SITE)
#define DT_MAXIMUM_(self, other, ...) dt_maximum_sized(self, other, DT_NAMED(dt_maximum_options, __VA_ARGS__))
#define dt_mean(...) DT_MEAN_(__VA_ARGS__, .site = DT_SITE)
#define DT_MEAN_(self, ...) dt_mean_sized(self, DT_CHECKED(dt_mean_options, __VA_ARGS__))
#define dt_median(...) DT_MEDIAN_(__VA_ARGS__, .site = DT_SITE)
#define DT_MEDIAN_(self, ...) dt_median_sized(self, DT_NAMED(dt_median_options, __VA_ARGS__))
#define dt_median_dim(...) DT_MEDIAN_DIM_(__VA_ARGS__, .site = DT_SITE)
#define DT_MEDIAN_DIM_(self, dim, ...) dt_median_dim_sized(self, dim, DT_NAMED(dt_median_dim_options, __VA_ARGS__))
#define dt_min(...) DT_MIN_(__VA_ARGS__, .site = DT_SITE)
#define DT_MIN_(self, ...) dt_min_sized(self, DT_NAMED(dt_min_options, __VA_ARGS__))
#define dt_min_dim(...) DT_MIN_DIM_(__VA_ARGS__, .site = DT_SITE)
#define DT_MIN_DIM_(self, dim, ...) dt_min_dim_sized(self, dim, DT_NAMED(dt_min_dim_options, __VA_ARGS__))
#define dt_min_other(...) DT_MIN_OTHER_(__VA_ARGS__, .site = DT_SITE)
#define DT_MIN_OTHER_(self, other, ...) dt_min_other_sized(self, other, DT_NAMED(dt_min_other_options, __VA_ARGS__))
#define dt_minimum(...) DT_MINIMUM_(__VA_ARGS__, .site = DT_SITE)
#define DT_MINIMUM_(self, other, ...) dt_minimum_sized(self, other, DT_NAMED(dt_minimum_options, __VA_ARGS__))
#define dt_mish(...) DT_MISH_(__VA_ARGS__, .site = DT_SITE)
#define DT_MISH_(input, ...) dt_mish_sized(input, DT_NAMED(dt_mish_options, __VA_ARGS__))
#define dt_mish_(...) DT_MISH__(__VA_ARGS__, .site = DT_SITE)
#define DT_MISH__(input, ...) dt_mish_in_place_sized(input, DT_NAMED(dt_mish_in_place_options, __VA_ARGS__))
#define dt_mm(...) DT_MM_(__VA_ARGS__, .site = DT_SITE)
#define DT_MM_(self, mat2, ...) dt_mm_sized(self, mat2, DT_NAMED(dt_mm_options, __VA_ARGS__))
#define dt_mode(...) DT_MODE_(__VA_ARGS__, .site = DT_SITE)
#define DT_MODE_(self, ...) dt_mode_sized(self, DT_CHECKED(dt_mode_options, __VA_ARGS__))
#define dt_moment_norm(...) DT_MOMENT_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_MOMENT_NORM_(input, dims, ...) \
    dt_moment_norm_sized(input, dims, DT_CHECKED(dt_moment_norm_options, __VA_ARGS__))
#define dt_moment_norm_backward(...) DT_MOMENT_NORM_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_MOMENT_NORM_BACKWARD_(grad_output, input, dims, mean, rstd, affine_dims, output_mask, ...) \
    dt_moment_norm_backward_sized(grad_output, input, dims, mean, rstd, affine_dims, output_mask, \
        DT_NAMED(dt_moment_norm_backward_options, __VA_ARGS__))
#define dt_movedim(...) DT_MOVEDIM_(__VA_ARGS__, .site = DT_SITE)
#define DT_MOVEDIM_(self, source, destination, ...) \
    dt_movedim_sized(self, source, destination, DT_NAMED(dt_movedim_options, __VA_ARGS__))
#define dt_movedim_dims(...) DT_MOVEDIM_DIMS_(__VA_ARGS__, .site = DT_SITE)
#define DT_MOVEDIM_DIMS_(self, source, destination, ...) \
    dt_movedim_dims_sized(self, source, destination, DT_NAMED(dt_movedim_dims_options, __VA_ARGS__))
#define dt_mse_loss(...) DT_MSE_LOSS_(__VA_ARGS__, .site = DT_SITE)
#define DT_MSE_LOSS_(input, target, ...) dt_mse_loss_sized(input, target, DT_NAMED(dt_mse_loss_options, __VA_ARGS__))
#define dt_mul(...) DT_MUL_(__VA_ARGS__, .site = DT_SITE)
#define DT_MUL_(self, other, ...) dt_mul_sized(self, other, DT_NAMED(dt_mul_options, __VA_ARGS__))
#define dt_mul_scalar(...) DT_MUL_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_MUL_SCALAR_(self, other, ...) \
    dt_mul_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_mul_scalar_options, __VA_ARGS__))
#define dt_mul_(...) DT_MUL__(__VA_ARGS__, .site = DT_SITE)
#define DT_MUL__(self, other, ...) dt_mul_in_place_sized(self, other, DT_NAMED(dt_mul_in_place_options, __VA_ARGS__))
#define dt_mul_scalar_(...) DT_MUL_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_MUL_SCALAR__(self, other, ...) \
    dt_mul_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_mul_scalar_in_place_options, __VA_ARGS__))
#define dt_mv(...) DT_MV_(__VA_ARGS__, .site = DT_SITE)
#define DT_MV_(self, vec, ...) dt_mv_sized(self, vec, DT_NAMED(dt_mv_options, __VA_ARGS__))
#define dt_nadam_(...) DT_NADAM__(__VA_ARGS__, .site = DT_SITE)
#define DT_NADAM__(self, grad, exp_avg, exp_avg_sq, lr, step, mu_product, ...) \
    dt_nadam_in_place_sized(self, grad, exp_avg, exp_avg_sq, lr, step, mu_product, \
        DT_CHECKED(dt_nadam_in_place_options, __VA_ARGS__))
#define dt_nan_to_num(...) DT_NAN_TO_NUM_(__VA_ARGS__, .site = DT_SITE)
#define DT_NAN_TO_NUM_(self, ...) dt_nan_to_num_sized(self, DT_CHECKED(dt_nan_to_num_options, __VA_ARGS__))
#define dt_nan_to_num_(...) DT_NAN_TO_NUM__(__VA_ARGS__, .site = DT_SITE)
#define DT_NAN_TO_NUM__(self, ...) \
    dt_nan_to_num_in_place_sized(self, DT_CHECKED(dt_nan_to_num_in_place_options, __VA_ARGS__))
#define dt_nanmedian(...) DT_NANMEDIAN_(__VA_ARGS__, .site = DT_SITE)
#define DT_NANMEDIAN_(self, ...) dt_nanmedian_sized(self, DT_NAMED(dt_nanmedian_options, __VA_ARGS__))
#define dt_nanmedian_dim(...) DT_NANMEDIAN_DIM_(__VA_ARGS__, .site = DT_SITE)
#define DT_NANMEDIAN_DIM_(self, dim, ...) \
    dt_nanmedian_dim_sized(self, dim, DT_NAMED(dt_nanmedian_dim_options, __VA_ARGS__))
#define dt_nansum(...) DT_NANSUM_(__VA_ARGS__, .site = DT_SITE)
#define DT_NANSUM_(self, ...) dt_nansum_sized(self, DT_CHECKED(dt_nansum_options, __VA_ARGS__))
#define dt_narrow(...) DT_NARROW_(__VA_ARGS__, .site = DT_SITE)
#define DT_NARROW_(self, dim, start, length, ...) \
    dt_narrow_sized(self, dim, start, length, DT_NAMED(dt_narrow_options, __VA_ARGS__))
#define dt_narrow_tensor(...) DT_NARROW_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_NARROW_TENSOR_(self, dim, start, length, ...) \
    dt_narrow_tensor_sized(self, dim, start, length, DT_NAMED(dt_narrow_tensor_options, __VA_ARGS__))
#define dt_native_batch_norm(...) DT_NATIVE_BATCH_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_NATIVE_BATCH_NORM_(input, training, momentum, eps, ...) \
    dt_native_batch_norm_sized(input, training, momentum, eps, DT_NAMED(dt_native_batch_norm_options, __VA_ARGS__))
#define dt_native_dropout_backward(...) DT_NATIVE_DROPOUT_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_NATIVE_DROPOUT_BACKWARD_(grad_output, mask, scale, ...) \
    dt_native_dropout_backward_sized(grad_output, mask, scale, \
        DT_NAMED(dt_native_dropout_backward_options, __VA_ARGS__))
#define dt_native_group_norm(...) DT_NATIVE_GROUP_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_NATIVE_GROUP_NORM_(input, N, C, HxW, group, eps, ...) \
    dt_native_group_norm_sized(input, N, C, HxW, group, eps, DT_NAMED(dt_native_group_norm_options, __VA_ARGS__))
#define dt_native_layer_norm(...) DT_NATIVE_LAYER_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_NATIVE_LAYER_NORM_(input, normalized_shape, eps, ...) \
    dt_native_layer_norm_sized(input, normalized_shape, eps, DT_NAMED(dt_native_layer_norm_options, __VA_ARGS__))
#define dt_native_layer_norm_backward(...) DT_NATIVE_LAYER_NORM_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_NATIVE_LAYER_NORM_BACKWARD_(grad_out, input, normalized_shape, mean, rstd, output_mask, ...) \
    dt_native_layer_norm_backward_sized(grad_out, input, normalized_shape, mean, rstd, output_mask, \
        DT_NAMED(dt_native_layer_norm_backward_options, __VA_ARGS__))
#define dt_ne(...) DT_NE_(__VA_ARGS__, .site = DT_SITE)
#define DT_NE_(self, other, ...) dt_ne_sized(self, other, DT_NAMED(dt_ne_options, __VA_ARGS__))
#define dt_ne_scalar(...) DT_NE_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_NE_SCALAR_(self, other, ...) \
    dt_ne_scalar_sized(self, DT_NUMBER(other), DT_NAMED(dt_ne_scalar_options, __VA_ARGS__))
#define dt_ne_(...) DT_NE__(__VA_ARGS__, .site = DT_SITE)
#define DT_NE__(self, other, ...) dt_ne_in_place_sized(self, other, DT_NAMED(dt_ne_in_place_options, __VA_ARGS__))
#define dt_ne_scalar_(...) DT_NE_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_NE_SCALAR__(self, other, ...) \
    dt_ne_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_ne_scalar_in_place_options, __VA_ARGS__))
#define dt_neg(...) DT_NEG_(__VA_ARGS__, .site = DT_SITE)
#define DT_NEG_(self, ...) dt_neg_sized(self, DT_NAMED(dt_neg_options, __VA_ARGS__))
#define dt_neg_(...) DT_NEG__(__VA_ARGS__, .site = DT_SITE)
#define DT_NEG__(self, ...) dt_neg_in_place_sized(self, DT_NAMED(dt_neg_in_place_options, __VA_ARGS__))
#define dt_new_full(...) DT_NEW_FULL_(__VA_ARGS__, .site = DT_SITE)
#define DT_NEW_FULL_(self, size, fill_value, ...) \
    dt_new_full_sized(self, size, DT_NUMBER(fill_value), DT_NAMED(dt_new_full_options, __VA_ARGS__))
#define dt_new_ones(...) DT_NEW_ONES_(__VA_ARGS__, .site = DT_SITE)
#define DT_NEW_ONES_(self, size, ...) dt_new_ones_sized(self, size, DT_NAMED(dt_new_ones_options, __VA_ARGS__))
#define dt_new_zeros(...) DT_NEW_ZEROS_(__VA_ARGS__, .site = DT_SITE)
#define DT_NEW_ZEROS_(self, size, ...) dt_new_zeros_sized(self, size, DT_NAMED(dt_new_zeros_options, __VA_ARGS__))
#define dt_nll_loss(...) DT_NLL_LOSS_(__VA_ARGS__, .site = DT_SITE)
#define DT_NLL_LOSS_(input, target, ...) \
    dt_nll_loss_sized(input, target, DT_CHECKED(dt_nll_loss_options, __VA_ARGS__))
#define dt_norm(...) DT_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_NORM_(self, ...) dt_norm_sized(self, DT_CHECKED(dt_norm_options, __VA_ARGS__))
#define dt_norm_str(...) DT_NORM_STR_(__VA_ARGS__, .site = DT_SITE)
#define DT_NORM_STR_(self, p, ...) dt_norm_str_sized(self, p, DT_CHECKED(dt_norm_str_options, __VA_ARGS__))
#define dt_normalize(...) DT_NORMALIZE_(__VA_ARGS__, .site = DT_SITE)
#define DT_NORMALIZE_(input, ...) dt_normalize_sized(input, DT_CHECKED(dt_normalize_options, __VA_ARGS__))
#define dt_one_hot(...) DT_ONE_HOT_(__VA_ARGS__, .site = DT_SITE)
#define DT_ONE_HOT_(self, num_classes, ...) \
    dt_one_hot_sized(self, num_classes, DT_NAMED(dt_one_hot_options, __VA_ARGS__))
#define dt_ones(...) DT_ONES_(__VA_ARGS__, .site = DT_SITE)
#define DT_ONES_(ctx, size, ...) dt_ones_sized(ctx, size, DT_NAMED(dt_make_options, __VA_ARGS__))
#define dt_ones_like(...) DT_ONES_LIKE_(__VA_ARGS__, .site = DT_SITE)
#define DT_ONES_LIKE_(self, ...) dt_ones_like_sized(self, DT_NAMED(dt_ones_like_options, __VA_ARGS__))
#define dt_ormqr(...) DT_ORMQR_(__VA_ARGS__, .site = DT_SITE)
#define DT_ORMQR_(self, input2, input3, ...) \
    dt_ormqr_sized(self, input2, input3, DT_CHECKED(dt_ormqr_options, __VA_ARGS__))
#define dt_outer(...) DT_OUTER_(__VA_ARGS__, .site = DT_SITE)
#define DT_OUTER_(self, vec2, ...) dt_outer_sized(self, vec2, DT_NAMED(dt_outer_options, __VA_ARGS__))
#define dt_pad(...) DT_PAD_(__VA_ARGS__, .site = DT_SITE)
#define DT_PAD_(input, pad, ...) dt_pad_sized(input, pad, DT_CHECKED(dt_pad_options, __VA_ARGS__))
#define dt_permute(...) DT_PERMUTE_(__VA_ARGS__, .site = DT_SITE)
#define DT_PERMUTE_(self, dims, ...) dt_permute_sized(self, dims, DT_NAMED(dt_permute_options, __VA_ARGS__))
#define dt_pinverse(...) DT_PINVERSE_(__VA_ARGS__, .site = DT_SITE)
#define DT_PINVERSE_(self, ...) dt_pinverse_sized(self, DT_CHECKED(dt_pinverse_options, __VA_ARGS__))
#define dt_pixel_shuffle(...) DT_PIXEL_SHUFFLE_(__VA_ARGS__, .site = DT_SITE)
#define DT_PIXEL_SHUFFLE_(self, upscale_factor, ...) \
    dt_pixel_shuffle_sized(self, upscale_factor, DT_NAMED(dt_pixel_shuffle_options, __VA_ARGS__))
#define dt_pixel_unshuffle(...) DT_PIXEL_UNSHUFFLE_(__VA_ARGS__, .site = DT_SITE)
#define DT_PIXEL_UNSHUFFLE_(self, downscale_factor, ...) \
    dt_pixel_unshuffle_sized(self, downscale_factor, DT_NAMED(dt_pixel_unshuffle_options, __VA_ARGS__))
#define dt_positive(...) DT_POSITIVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_POSITIVE_(self, ...) dt_positive_sized(self, DT_NAMED(dt_positive_options, __VA_ARGS__))
#define dt_pow(...) DT_POW_(__VA_ARGS__, .site = DT_SITE)
#define DT_POW_(self, exponent, ...) dt_pow_sized(self, exponent, DT_NAMED(dt_pow_options, __VA_ARGS__))
#define dt_pow_scalar_exponent(...) DT_POW_SCALAR_EXPONENT_(__VA_ARGS__, .site = DT_SITE)
#define DT_POW_SCALAR_EXPONENT_(self, exponent, ...) \
    dt_pow_scalar_exponent_sized(self, DT_NUMBER(exponent), DT_NAMED(dt_pow_scalar_exponent_options, __VA_ARGS__))
#define dt_pow_scalar_self(...) DT_POW_SCALAR_SELF_(__VA_ARGS__, .site = DT_SITE)
#define DT_POW_SCALAR_SELF_(self, exponent, ...) \
    dt_pow_scalar_self_sized(DT_NUMBER(self), exponent, DT_NAMED(dt_pow_scalar_self_options, __VA_ARGS__))
#define dt_pow_(...) DT_POW__(__VA_ARGS__, .site = DT_SITE)
#define DT_POW__(self, exponent, ...) \
    dt_pow_in_place_sized(self, exponent, DT_NAMED(dt_pow_in_place_options, __VA_ARGS__))
#define dt_pow_scalar_(...) DT_POW_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_POW_SCALAR__(self, exponent, ...) \
    dt_pow_scalar_in_place_sized(self, DT_NUMBER(exponent), DT_NAMED(dt_pow_scalar_in_place_options, __VA_ARGS__))
#define dt_power_sum(...) DT_POWER_SUM_(__VA_ARGS__, .site = DT_SITE)
#define DT_POWER_SUM_(self, ...) dt_power_sum_sized(self, DT_CHECKED(dt_power_sum_options, __VA_ARGS__))
#define dt_prelu(...) DT_PRELU_(__VA_ARGS__, .site = DT_SITE)
#define DT_PRELU_(self, weight, ...) dt_prelu_sized(self, weight, DT_NAMED(dt_prelu_options, __VA_ARGS__))
#define dt_prod(...) DT_PROD_(__VA_ARGS__, .site = DT_SITE)
#define DT_PROD_(self, ...) dt_prod_sized(self, DT_NAMED(dt_prod_options, __VA_ARGS__))
#define dt_prod_dim_int(...) DT_PROD_DIM_INT_(__VA_ARGS__, .site = DT_SITE)
#define DT_PROD_DIM_INT_(self, dim, ...) \
    dt_prod_dim_int_sized(self, dim, DT_NAMED(dt_prod_dim_int_options, __VA_ARGS__))
#define dt_prod_of_others(...) DT_PROD_OF_OTHERS_(__VA_ARGS__, .site = DT_SITE)
#define DT_PROD_OF_OTHERS_(self, ...) \
    dt_prod_of_others_sized(self, DT_CHECKED(dt_prod_of_others_options, __VA_ARGS__))
#define dt_qr(...) DT_QR_(__VA_ARGS__, .site = DT_SITE)
#define DT_QR_(self, ...) dt_qr_sized(self, DT_CHECKED(dt_qr_options, __VA_ARGS__))
#define dt_radam_(...) DT_RADAM__(__VA_ARGS__, .site = DT_SITE)
#define DT_RADAM__(self, grad, exp_avg, exp_avg_sq, lr, step, ...) \
    dt_radam_in_place_sized(self, grad, exp_avg, exp_avg_sq, lr, step, \
        DT_CHECKED(dt_radam_in_place_options, __VA_ARGS__))
#define dt_ravel(...) DT_RAVEL_(__VA_ARGS__, .site = DT_SITE)
#define DT_RAVEL_(self, ...) dt_ravel_sized(self, DT_NAMED(dt_ravel_options, __VA_ARGS__))
#define dt_reciprocal(...) DT_RECIPROCAL_(__VA_ARGS__, .site = DT_SITE)
#define DT_RECIPROCAL_(self, ...) dt_reciprocal_sized(self, DT_NAMED(dt_reciprocal_options, __VA_ARGS__))
#define dt_reciprocal_(...) DT_RECIPROCAL__(__VA_ARGS__, .site = DT_SITE)
#define DT_RECIPROCAL__(self, ...) \
    dt_reciprocal_in_place_sized(self, DT_NAMED(dt_reciprocal_in_place_options, __VA_ARGS__))
#define dt_relu(...) DT_RELU_(__VA_ARGS__, .site = DT_SITE)
#define DT_RELU_(input, ...) dt_relu_sized(input, DT_NAMED(dt_relu_options, __VA_ARGS__))
#define dt_relu6(...) DT_RELU6_(__VA_ARGS__, .site = DT_SITE)
#define DT_RELU6_(input, ...) dt_relu6_sized(input, DT_NAMED(dt_relu6_options, __VA_ARGS__))
#define dt_relu6_(...) DT_RELU6__(__VA_ARGS__, .site = DT_SITE)
#define DT_RELU6__(input, ...) dt_relu6_in_place_sized(input, DT_NAMED(dt_relu6_in_place_options, __VA_ARGS__))
#define dt_relu_(...) DT_RELU__(__VA_ARGS__, .site = DT_SITE)
#define DT_RELU__(input, ...) dt_relu_in_place_sized(input, DT_NAMED(dt_relu_in_place_options, __VA_ARGS__))
#define dt_remainder(...) DT_REMAINDER_(__VA_ARGS__, .site = DT_SITE)
#define DT_REMAINDER_(self, other, ...) dt_remainder_sized(self, other, DT_NAMED(dt_remainder_options, __VA_ARGS__))
#define dt_remainder_scalar_other(...) DT_REMAINDER_SCALAR_OTHER_(__VA_ARGS__, .site = DT_SITE)
#define DT_REMAINDER_SCALAR_OTHER_(self, other, ...) \
    dt_remainder_scalar_other_sized(self, DT_NUMBER(other), \
        DT_NAMED(dt_remainder_scalar_other_options, __VA_ARGS__))
#define dt_remainder_scalar_self(...) DT_REMAINDER_SCALAR_SELF_(__VA_ARGS__, .site = DT_SITE)
#define DT_REMAINDER_SCALAR_SELF_(self, other, ...) \
    dt_remainder_scalar_self_sized(DT_NUMBER(self), other, DT_NAMED(dt_remainder_scalar_self_options, __VA_ARGS__))
#define dt_remainder_(...) DT_REMAINDER__(__VA_ARGS__, .site = DT_SITE)
#define DT_REMAINDER__(self, other, ...) \
    dt_remainder_in_place_sized(self, other, DT_NAMED(dt_remainder_in_place_options, __VA_ARGS__))
#define dt_remainder_scalar_(...) DT_REMAINDER_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_REMAINDER_SCALAR__(self, other, ...) \
    dt_remainder_scalar_in_place_sized(self, DT_NUMBER(other), \
        DT_NAMED(dt_remainder_scalar_in_place_options, __VA_ARGS__))
#define dt_repeat(...) DT_REPEAT_(__VA_ARGS__, .site = DT_SITE)
#define DT_REPEAT_(self, repeats, ...) dt_repeat_sized(self, repeats, DT_NAMED(dt_repeat_options, __VA_ARGS__))
#define dt_repeat_interleave(...) DT_REPEAT_INTERLEAVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_REPEAT_INTERLEAVE_(repeats, ...) \
    dt_repeat_interleave_sized(repeats, DT_CHECKED(dt_repeat_interleave_options, __VA_ARGS__))
#define dt_repeat_interleave_self_tensor(...) DT_REPEAT_INTERLEAVE_SELF_TENSOR_(__VA_ARGS__, .site = DT_SITE)
#define DT_REPEAT_INTERLEAVE_SELF_TENSOR_(self, repeats, ...) \
    dt_repeat_interleave_self_tensor_sized(self, repeats, \
        DT_CHECKED(dt_repeat_interleave_self_tensor_options, __VA_ARGS__))
#define dt_repeat_interleave_self_int(...) DT_REPEAT_INTERLEAVE_SELF_INT_(__VA_ARGS__, .site = DT_SITE)
#define DT_REPEAT_INTERLEAVE_SELF_INT_(self, repeats, ...) \
    dt_repeat_interleave_self_int_sized(self, repeats, \
        DT_CHECKED(dt_repeat_interleave_self_int_options, __VA_ARGS__))
#define dt_resample(...) DT_RESAMPLE_(__VA_ARGS__, .site = DT_SITE)
#define DT_RESAMPLE_(self, sizes, mode, numbers, ...) \
    dt_resample_sized(self, sizes, mode, numbers, DT_NAMED(dt_resample_options, __VA_ARGS__))
#define dt_resample_backward(...) DT_RESAMPLE_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_RESAMPLE_BACKWARD_(grad_output, sizes, mode, numbers, ...) \
    dt_resample_backward_sized(grad_output, sizes, mode, numbers, \
        DT_NAMED(dt_resample_backward_options, __VA_ARGS__))
#define dt_reshape(...) DT_RESHAPE_(__VA_ARGS__, .site = DT_SITE)
#define DT_RESHAPE_(self, shape, ...) dt_reshape_sized(self, shape, DT_NAMED(dt_reshape_options, __VA_ARGS__))
#define dt_reshape_as(...) DT_RESHAPE_AS_(__VA_ARGS__, .site = DT_SITE)
#define DT_RESHAPE_AS_(self, other, ...) \
    dt_reshape_as_sized(self, other, DT_NAMED(dt_reshape_as_options, __VA_ARGS__))
#define dt_rms_norm(...) DT_RMS_NORM_(__VA_ARGS__, .site = DT_SITE)
#define DT_RMS_NORM_(input, normalized_shape, ...) \
    dt_rms_norm_sized(input, normalized_shape, DT_CHECKED(dt_rms_norm_options, __VA_ARGS__))
#define dt_rmsprop_(...) DT_RMSPROP__(__VA_ARGS__, .site = DT_SITE)
#define DT_RMSPROP__(self, grad, square_avg, lr, ...) \
    dt_rmsprop_in_place_sized(self, grad, square_avg, lr, DT_CHECKED(dt_rmsprop_in_place_options, __VA_ARGS__))
#define dt_rmsprop_state_(...) DT_RMSPROP_STATE__(__VA_ARGS__, .site = DT_SITE)
#define DT_RMSPROP_STATE__(self, grad, square_avg, state, lr, ...) \
    dt_rmsprop_state_in_place_sized(self, grad, square_avg, state, lr, \
        DT_CHECKED(dt_rmsprop_state_in_place_options, __VA_ARGS__))
#define dt_rmsprop_centered_momentum_(...) DT_RMSPROP_CENTERED_MOMENTUM__(__VA_ARGS__, .site = DT_SITE)
#define DT_RMSPROP_CENTERED_MOMENTUM__(self, grad, square_avg, grad_avg, momentum_buffer, lr, ...) \
    dt_rmsprop_centered_momentum_in_place_sized(self, grad, square_avg, grad_avg, momentum_buffer, lr, \
        DT_CHECKED(dt_rmsprop_centered_momentum_in_place_options, __VA_ARGS__))
#define dt_roll(...) DT_ROLL_(__VA_ARGS__, .site = DT_SITE)
#define DT_ROLL_(self, shifts, ...) dt_roll_sized(self, shifts, DT_CHECKED(dt_roll_options, __VA_ARGS__))
#define dt_rotary_embedding(...) DT_ROTARY_EMBEDDING_(__VA_ARGS__, .site = DT_SITE)
#define DT_ROTARY_EMBEDDING_(self, frequencies, ...) \
    dt_rotary_embedding_sized(self, frequencies, DT_CHECKED(dt_rotary_embedding_options, __VA_ARGS__))
#define dt_round(...) DT_ROUND_(__VA_ARGS__, .site = DT_SITE)
#define DT_ROUND_(self, ...) dt_round_sized(self, DT_NAMED(dt_round_options, __VA_ARGS__))
#define dt_round_decimals(...) DT_ROUND_DECIMALS_(__VA_ARGS__, .site = DT_SITE)
#define DT_ROUND_DECIMALS_(self, decimals, ...) \
    dt_round_decimals_sized(self, decimals, DT_NAMED(dt_round_decimals_options, __VA_ARGS__))
#define dt_round_(...) DT_ROUND__(__VA_ARGS__, .site = DT_SITE)
#define DT_ROUND__(self, ...) dt_round_in_place_sized(self, DT_NAMED(dt_round_in_place_options, __VA_ARGS__))
#define dt_round_decimals_(...) DT_ROUND_DECIMALS__(__VA_ARGS__, .site = DT_SITE)
#define DT_ROUND_DECIMALS__(self, decimals, ...) \
    dt_round_decimals_in_place_sized(self, decimals, DT_NAMED(dt_round_decimals_in_place_options, __VA_ARGS__))
#define dt_rsqrt(...) DT_RSQRT_(__VA_ARGS__, .site = DT_SITE)
#define DT_RSQRT_(self, ...) dt_rsqrt_sized(self, DT_NAMED(dt_rsqrt_options, __VA_ARGS__))
#define dt_rsqrt_(...) DT_RSQRT__(__VA_ARGS__, .site = DT_SITE)
#define DT_RSQRT__(self, ...) dt_rsqrt_in_place_sized(self, DT_NAMED(dt_rsqrt_in_place_options, __VA_ARGS__))
#define dt_rsub(...) DT_RSUB_(__VA_ARGS__, .site = DT_SITE)
#define DT_RSUB_(self, other, ...) dt_rsub_sized(self, other, DT_CHECKED(dt_rsub_options, __VA_ARGS__))
#define dt_rsub_scalar(...) DT_RSUB_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_RSUB_SCALAR_(self, other, ...) \
    dt_rsub_scalar_sized(self, DT_NUMBER(other), DT_CHECKED(dt_rsub_scalar_options, __VA_ARGS__))
#define dt_scaled_dot_product_attention(...) DT_SCALED_DOT_PRODUCT_ATTENTION_(__VA_ARGS__, .site = DT_SITE)
#define DT_SCALED_DOT_PRODUCT_ATTENTION_(query, key, value, ...) \
    dt_scaled_dot_product_attention_sized(query, key, value, \
        DT_CHECKED(dt_scaled_dot_product_attention_options, __VA_ARGS__))
#define dt_scatter(...) DT_SCATTER_(__VA_ARGS__, .site = DT_SITE)
#define DT_SCATTER_(self, dim, index, src, ...) \
    dt_scatter_sized(self, dim, index, src, DT_NAMED(dt_scatter_options, __VA_ARGS__))
#define dt_scatter_value(...) DT_SCATTER_VALUE_(__VA_ARGS__, .site = DT_SITE)
#define DT_SCATTER_VALUE_(self, dim, index, value, ...) \
    dt_scatter_value_sized(self, dim, index, DT_NUMBER(value), DT_NAMED(dt_scatter_value_options, __VA_ARGS__))
#define dt_scatter_(...) DT_SCATTER__(__VA_ARGS__, .site = DT_SITE)
#define DT_SCATTER__(self, dim, index, src, ...) \
    dt_scatter_in_place_sized(self, dim, index, src, DT_NAMED(dt_scatter_in_place_options, __VA_ARGS__))
#define dt_scatter_value_(...) DT_SCATTER_VALUE__(__VA_ARGS__, .site = DT_SITE)
#define DT_SCATTER_VALUE__(self, dim, index, value, ...) \
    dt_scatter_value_in_place_sized(self, dim, index, DT_NUMBER(value), \
        DT_NAMED(dt_scatter_value_in_place_options, __VA_ARGS__))
#define dt_scatter_add(...) DT_SCATTER_ADD_(__VA_ARGS__, .site = DT_SITE)
#define DT_SCATTER_ADD_(self, dim, index, src, ...) \
    dt_scatter_add_sized(self, dim, index, src, DT_NAMED(dt_scatter_add_options, __VA_ARGS__))
#define dt_scatter_add_(...) DT_SCATTER_ADD__(__VA_ARGS__, .site = DT_SITE)
#define DT_SCATTER_ADD__(self, dim, index, src, ...) \
    dt_scatter_add_in_place_sized(self, dim, index, src, DT_NAMED(dt_scatter_add_in_place_options, __VA_ARGS__))
#define dt_scatter_reduce(...) DT_SCATTER_REDUCE_(__VA_ARGS__, .site = DT_SITE)
#define DT_SCATTER_REDUCE_(self, dim, index, src, reduce, ...) \
    dt_scatter_reduce_sized(self, dim, index, src, reduce, DT_CHECKED(dt_scatter_reduce_options, __VA_ARGS__))
#define dt_scatter_reduce_(...) DT_SCATTER_REDUCE__(__VA_ARGS__, .site = DT_SITE)
#define DT_SCATTER_REDUCE__(self, dim, index, src, reduce, ...) \
    dt_scatter_reduce_in_place_sized(self, dim, index, src, reduce, \
        DT_CHECKED(dt_scatter_reduce_in_place_options, __VA_ARGS__))
#define dt_searchsorted(...) DT_SEARCHSORTED_(__VA_ARGS__, .site = DT_SITE)
#define DT_SEARCHSORTED_(sorted_sequence, self, ...) \
    dt_searchsorted_sized(sorted_sequence, self, DT_NAMED(dt_searchsorted_options, __VA_ARGS__))
#define dt_searchsorted_scalar(...) DT_SEARCHSORTED_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_SEARCHSORTED_SCALAR_(sorted_sequence, self, ...) \
    dt_searchsorted_scalar_sized(sorted_sequence, DT_NUMBER(self), \
        DT_NAMED(dt_searchsorted_scalar_options, __VA_ARGS__))
#define dt_select(...) DT_SELECT_(__VA_ARGS__, .site = DT_SITE)
#define DT_SELECT_(self, dim, index, ...) dt_select_sized(self, dim, index, DT_NAMED(dt_select_options, __VA_ARGS__))
#define dt_select_backward(...) DT_SELECT_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_SELECT_BACKWARD_(grad_output, input_sizes, dim, index, ...) \
    dt_select_backward_sized(grad_output, input_sizes, dim, index, \
        DT_NAMED(dt_select_backward_options, __VA_ARGS__))
#define dt_select_scatter(...) DT_SELECT_SCATTER_(__VA_ARGS__, .site = DT_SITE)
#define DT_SELECT_SCATTER_(self, src, dim, index, ...) \
    dt_select_scatter_sized(self, src, dim, index, DT_NAMED(dt_select_scatter_options, __VA_ARGS__))
#define dt_selu(...) DT_SELU_(__VA_ARGS__, .site = DT_SITE)
#define DT_SELU_(input, ...) dt_selu_sized(input, DT_NAMED(dt_selu_options, __VA_ARGS__))
#define dt_selu_(...) DT_SELU__(__VA_ARGS__, .site = DT_SITE)
#define DT_SELU__(input, ...) dt_selu_in_place_sized(input, DT_NAMED(dt_selu_in_place_options, __VA_ARGS__))
#define dt_sgd_(...) DT_SGD__(__VA_ARGS__, .site = DT_SITE)
#define DT_SGD__(self, grad, lr, ...) \
    dt_sgd_in_place_sized(self, grad, lr, DT_CHECKED(dt_sgd_in_place_options, __VA_ARGS__))
#define dt_sgd_momentum_(...) DT_SGD_MOMENTUM__(__VA_ARGS__, .site = DT_SITE)
#define DT_SGD_MOMENTUM__(self, grad, momentum_buffer, lr, ...) \
    dt_sgd_momentum_in_place_sized(self, grad, momentum_buffer, lr, \
        DT_CHECKED(dt_sgd_momentum_in_place_options, __VA_ARGS__))
#define dt_sgn(...) DT_SGN_(__VA_ARGS__, .site = DT_SITE)
#define DT_SGN_(self, ...) dt_sgn_sized(self, DT_NAMED(dt_sgn_options, __VA_ARGS__))
#define dt_sgn_(...) DT_SGN__(__VA_ARGS__, .site = DT_SITE)
#define DT_SGN__(self, ...) dt_sgn_in_place_sized(self, DT_NAMED(dt_sgn_in_place_options, __VA_ARGS__))
#define dt_short(...) DT_SHORT_(__VA_ARGS__, .site = DT_SITE)
#define DT_SHORT_(self, ...) dt_short_sized(self, DT_NAMED(dt_short_options, __VA_ARGS__))
#define dt_sigmoid(...) DT_SIGMOID_(__VA_ARGS__, .site = DT_SITE)
#define DT_SIGMOID_(self, ...) dt_sigmoid_sized(self, DT_NAMED(dt_sigmoid_options, __VA_ARGS__))
#define dt_sigmoid_(...) DT_SIGMOID__(__VA_ARGS__, .site = DT_SITE)
#define DT_SIGMOID__(self, ...) dt_sigmoid_in_place_sized(self, DT_NAMED(dt_sigmoid_in_place_options, __VA_ARGS__))
#define dt_sigmoid_backward(...) DT_SIGMOID_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_SIGMOID_BACKWARD_(grad_output, output, ...) \
    dt_sigmoid_backward_sized(grad_output, output, DT_NAMED(dt_sigmoid_backward_options, __VA_ARGS__))
#define dt_sign(...) DT_SIGN_(__VA_ARGS__, .site = DT_SITE)
#define DT_SIGN_(self, ...) dt_sign_sized(self, DT_NAMED(dt_sign_options, __VA_ARGS__))
#define dt_sign_(...) DT_SIGN__(__VA_ARGS__, .site = DT_SITE)
#define DT_SIGN__(self, ...) dt_sign_in_place_sized(self, DT_NAMED(dt_sign_in_place_options, __VA_ARGS__))
#define dt_silu(...) DT_SILU_(__VA_ARGS__, .site = DT_SITE)
#define DT_SILU_(input, ...) dt_silu_sized(input, DT_NAMED(dt_silu_options, __VA_ARGS__))
#define dt_silu_(...) DT_SILU__(__VA_ARGS__, .site = DT_SITE)
#define DT_SILU__(input, ...) dt_silu_in_place_sized(input, DT_NAMED(dt_silu_in_place_options, __VA_ARGS__))
#define dt_silu_backward(...) DT_SILU_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_SILU_BACKWARD_(grad_output, self, ...) \
    dt_silu_backward_sized(grad_output, self, DT_NAMED(dt_silu_backward_options, __VA_ARGS__))
#define dt_sin(...) DT_SIN_(__VA_ARGS__, .site = DT_SITE)
#define DT_SIN_(self, ...) dt_sin_sized(self, DT_NAMED(dt_sin_options, __VA_ARGS__))
#define dt_sin_(...) DT_SIN__(__VA_ARGS__, .site = DT_SITE)
#define DT_SIN__(self, ...) dt_sin_in_place_sized(self, DT_NAMED(dt_sin_in_place_options, __VA_ARGS__))
#define dt_sinh(...) DT_SINH_(__VA_ARGS__, .site = DT_SITE)
#define DT_SINH_(self, ...) dt_sinh_sized(self, DT_NAMED(dt_sinh_options, __VA_ARGS__))
#define dt_sinh_(...) DT_SINH__(__VA_ARGS__, .site = DT_SITE)
#define DT_SINH__(self, ...) dt_sinh_in_place_sized(self, DT_NAMED(dt_sinh_in_place_options, __VA_ARGS__))
#define dt_slice(...) DT_SLICE_(__VA_ARGS__, .site = DT_SITE)
#define DT_SLICE_(self, dim, start, end, step, ...) \
    dt_slice_sized(self, dim, start, end, step, DT_NAMED(dt_slice_options, __VA_ARGS__))
#define dt_slice_backward(...) DT_SLICE_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_SLICE_BACKWARD_(grad_output, input_sizes, dim, start, end, step, ...) \
    dt_slice_backward_sized(grad_output, input_sizes, dim, start, end, step, \
        DT_NAMED(dt_slice_backward_options, __VA_ARGS__))
#define dt_slice_scatter(...) DT_SLICE_SCATTER_(__VA_ARGS__, .site = DT_SITE)
#define DT_SLICE_SCATTER_(self, src, dim, start, end, step, ...) \
    dt_slice_scatter_sized(self, src, dim, start, end, step, DT_NAMED(dt_slice_scatter_options, __VA_ARGS__))
#define dt_slice_scatter_(...) DT_SLICE_SCATTER__(__VA_ARGS__, .site = DT_SITE)
#define DT_SLICE_SCATTER__(self, src, dim, start, end, step, ...) \
    dt_slice_scatter_in_place_sized(self, src, dim, start, end, step, \
        DT_NAMED(dt_slice_scatter_in_place_options, __VA_ARGS__))
#define dt_smooth_l1_loss(...) DT_SMOOTH_L1_LOSS_(__VA_ARGS__, .site = DT_SITE)
#define DT_SMOOTH_L1_LOSS_(input, target, ...) \
    dt_smooth_l1_loss_sized(input, target, DT_CHECKED(dt_smooth_l1_loss_options, __VA_ARGS__))
#define dt_softmax(...) DT_SOFTMAX_(__VA_ARGS__, .site = DT_SITE)
#define DT_SOFTMAX_(self, dim, ...) dt_softmax_sized(self, dim, DT_NAMED(dt_softmax_options, __VA_ARGS__))
#define dt_softmin(...) DT_SOFTMIN_(__VA_ARGS__, .site = DT_SITE)
#define DT_SOFTMIN_(input, ...) dt_softmin_sized(input, DT_CHECKED(dt_softmin_options, __VA_ARGS__))
#define dt_softplus(...) DT_SOFTPLUS_(__VA_ARGS__, .site = DT_SITE)
#define DT_SOFTPLUS_(self, ...) dt_softplus_sized(self, DT_CHECKED(dt_softplus_options, __VA_ARGS__))
#define dt_softshrink(...) DT_SOFTSHRINK_(__VA_ARGS__, .site = DT_SITE)
#define DT_SOFTSHRINK_(self, ...) dt_softshrink_sized(self, DT_CHECKED(dt_softshrink_options, __VA_ARGS__))
#define dt_softsign(...) DT_SOFTSIGN_(__VA_ARGS__, .site = DT_SITE)
#define DT_SOFTSIGN_(input, ...) dt_softsign_sized(input, DT_NAMED(dt_softsign_options, __VA_ARGS__))
#define dt_sort(...) DT_SORT_(__VA_ARGS__, .site = DT_SITE)
#define DT_SORT_(self, ...) dt_sort_sized(self, DT_CHECKED(dt_sort_options, __VA_ARGS__))
#define dt_split(...) DT_SPLIT_(__VA_ARGS__, .site = DT_SITE)
#define DT_SPLIT_(self, split_size, out, capacity, ...) \
    dt_split_sized(self, split_size, out, capacity, DT_CHECKED(dt_split_options, __VA_ARGS__))
#define dt_split_sizes(...) DT_SPLIT_SIZES_(__VA_ARGS__, .site = DT_SITE)
#define DT_SPLIT_SIZES_(self, split_size, out, capacity, ...) \
    dt_split_sizes_sized(self, split_size, out, capacity, DT_CHECKED(dt_split_sizes_options, __VA_ARGS__))
#define dt_split_with_sizes(...) DT_SPLIT_WITH_SIZES_(__VA_ARGS__, .site = DT_SITE)
#define DT_SPLIT_WITH_SIZES_(self, split_sizes, out, capacity, ...) \
    dt_split_with_sizes_sized(self, split_sizes, out, capacity, \
        DT_CHECKED(dt_split_with_sizes_options, __VA_ARGS__))
#define dt_sqrt(...) DT_SQRT_(__VA_ARGS__, .site = DT_SITE)
#define DT_SQRT_(self, ...) dt_sqrt_sized(self, DT_NAMED(dt_sqrt_options, __VA_ARGS__))
#define dt_sqrt_(...) DT_SQRT__(__VA_ARGS__, .site = DT_SITE)
#define DT_SQRT__(self, ...) dt_sqrt_in_place_sized(self, DT_NAMED(dt_sqrt_in_place_options, __VA_ARGS__))
#define dt_square(...) DT_SQUARE_(__VA_ARGS__, .site = DT_SITE)
#define DT_SQUARE_(self, ...) dt_square_sized(self, DT_NAMED(dt_square_options, __VA_ARGS__))
#define dt_square_(...) DT_SQUARE__(__VA_ARGS__, .site = DT_SITE)
#define DT_SQUARE__(self, ...) dt_square_in_place_sized(self, DT_NAMED(dt_square_in_place_options, __VA_ARGS__))
#define dt_squeeze(...) DT_SQUEEZE_(__VA_ARGS__, .site = DT_SITE)
#define DT_SQUEEZE_(self, ...) dt_squeeze_sized(self, DT_NAMED(dt_squeeze_options, __VA_ARGS__))
#define dt_squeeze_dim(...) DT_SQUEEZE_DIM_(__VA_ARGS__, .site = DT_SITE)
#define DT_SQUEEZE_DIM_(self, dim, ...) \
    dt_squeeze_dim_sized(self, dim, DT_NAMED(dt_squeeze_dim_options, __VA_ARGS__))
#define dt_squeeze_dims(...) DT_SQUEEZE_DIMS_(__VA_ARGS__, .site = DT_SITE)
#define DT_SQUEEZE_DIMS_(self, dim, ...) \
    dt_squeeze_dims_sized(self, dim, DT_NAMED(dt_squeeze_dims_options, __VA_ARGS__))
#define dt_stack(...) DT_STACK_(__VA_ARGS__, .site = DT_SITE)
#define DT_STACK_(tensors, ...) dt_stack_sized(tensors, DT_CHECKED(dt_stack_options, __VA_ARGS__))
#define dt_std(...) DT_STD_(__VA_ARGS__, .site = DT_SITE)
#define DT_STD_(self, ...) dt_std_sized(self, DT_CHECKED(dt_std_options, __VA_ARGS__))
#define dt_std_correction(...) DT_STD_CORRECTION_(__VA_ARGS__, .site = DT_SITE)
#define DT_STD_CORRECTION_(self, ...) \
    dt_std_correction_sized(self, DT_CHECKED(dt_std_correction_options, __VA_ARGS__))
#define dt_std_mean(...) DT_STD_MEAN_(__VA_ARGS__, .site = DT_SITE)
#define DT_STD_MEAN_(self, ...) dt_std_mean_sized(self, DT_CHECKED(dt_std_mean_options, __VA_ARGS__))
#define dt_std_mean_correction(...) DT_STD_MEAN_CORRECTION_(__VA_ARGS__, .site = DT_SITE)
#define DT_STD_MEAN_CORRECTION_(self, ...) \
    dt_std_mean_correction_sized(self, DT_CHECKED(dt_std_mean_correction_options, __VA_ARGS__))
#define dt_sub(...) DT_SUB_(__VA_ARGS__, .site = DT_SITE)
#define DT_SUB_(self, other, ...) dt_sub_sized(self, other, DT_CHECKED(dt_sub_options, __VA_ARGS__))
#define dt_sub_scalar(...) DT_SUB_SCALAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_SUB_SCALAR_(self, other, ...) \
    dt_sub_scalar_sized(self, DT_NUMBER(other), DT_CHECKED(dt_sub_scalar_options, __VA_ARGS__))
#define dt_sub_(...) DT_SUB__(__VA_ARGS__, .site = DT_SITE)
#define DT_SUB__(self, other, ...) \
    dt_sub_in_place_sized(self, other, DT_CHECKED(dt_sub_in_place_options, __VA_ARGS__))
#define dt_sub_scalar_(...) DT_SUB_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_SUB_SCALAR__(self, other, ...) \
    dt_sub_scalar_in_place_sized(self, DT_NUMBER(other), DT_CHECKED(dt_sub_scalar_in_place_options, __VA_ARGS__))
#define dt_sum(...) DT_SUM_(__VA_ARGS__, .site = DT_SITE)
#define DT_SUM_(self, ...) dt_sum_sized(self, DT_CHECKED(dt_sum_options, __VA_ARGS__))
#define dt_svd(...) DT_SVD_(__VA_ARGS__, .site = DT_SITE)
#define DT_SVD_(self, ...) dt_svd_sized(self, DT_CHECKED(dt_svd_options, __VA_ARGS__))
#define dt_swapaxes(...) DT_SWAPAXES_(__VA_ARGS__, .site = DT_SITE)
#define DT_SWAPAXES_(self, axis0, axis1, ...) \
    dt_swapaxes_sized(self, axis0, axis1, DT_NAMED(dt_swapaxes_options, __VA_ARGS__))
#define dt_t(...) DT_T_(__VA_ARGS__, .site = DT_SITE)
#define DT_T_(self, ...) dt_t_sized(self, DT_NAMED(dt_t_options, __VA_ARGS__))
#define dt_take_along_dim(...) DT_TAKE_ALONG_DIM_(__VA_ARGS__, .site = DT_SITE)
#define DT_TAKE_ALONG_DIM_(self, indices, ...) \
    dt_take_along_dim_sized(self, indices, DT_CHECKED(dt_take_along_dim_options, __VA_ARGS__))
#define dt_tan(...) DT_TAN_(__VA_ARGS__, .site = DT_SITE)
#define DT_TAN_(self, ...) dt_tan_sized(self, DT_NAMED(dt_tan_options, __VA_ARGS__))
#define dt_tan_(...) DT_TAN__(__VA_ARGS__, .site = DT_SITE)
#define DT_TAN__(self, ...) dt_tan_in_place_sized(self, DT_NAMED(dt_tan_in_place_options, __VA_ARGS__))
#define dt_tanh(...) DT_TANH_(__VA_ARGS__, .site = DT_SITE)
#define DT_TANH_(self, ...) dt_tanh_sized(self, DT_NAMED(dt_tanh_options, __VA_ARGS__))
#define dt_tanh_(...) DT_TANH__(__VA_ARGS__, .site = DT_SITE)
#define DT_TANH__(self, ...) dt_tanh_in_place_sized(self, DT_NAMED(dt_tanh_in_place_options, __VA_ARGS__))
#define dt_tanh_backward(...) DT_TANH_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_TANH_BACKWARD_(grad_output, output, ...) \
    dt_tanh_backward_sized(grad_output, output, DT_NAMED(dt_tanh_backward_options, __VA_ARGS__))
#define dt_tanhshrink(...) DT_TANHSHRINK_(__VA_ARGS__, .site = DT_SITE)
#define DT_TANHSHRINK_(input, ...) dt_tanhshrink_sized(input, DT_NAMED(dt_tanhshrink_options, __VA_ARGS__))
#define dt_tensor_split(...) DT_TENSOR_SPLIT_(__VA_ARGS__, .site = DT_SITE)
#define DT_TENSOR_SPLIT_(self, sections, out, capacity, ...) \
    dt_tensor_split_sized(self, sections, out, capacity, DT_CHECKED(dt_tensor_split_options, __VA_ARGS__))
#define dt_tensor_split_indices(...) DT_TENSOR_SPLIT_INDICES_(__VA_ARGS__, .site = DT_SITE)
#define DT_TENSOR_SPLIT_INDICES_(self, indices, out, capacity, ...) \
    dt_tensor_split_indices_sized(self, indices, out, capacity, \
        DT_CHECKED(dt_tensor_split_indices_options, __VA_ARGS__))
#define dt_tensor_split_tensor_indices_or_sections(...) \
    DT_TENSOR_SPLIT_TENSOR_INDICES_OR_SECTIONS_(__VA_ARGS__, .site = DT_SITE)
#define DT_TENSOR_SPLIT_TENSOR_INDICES_OR_SECTIONS_(self, tensor_indices_or_sections, out, capacity, ...) \
    dt_tensor_split_tensor_indices_or_sections_sized(self, tensor_indices_or_sections, out, capacity, \
        DT_CHECKED(dt_tensor_split_tensor_indices_or_sections_options, __VA_ARGS__))
#define dt_tensordot(...) DT_TENSORDOT_(__VA_ARGS__, .site = DT_SITE)
#define DT_TENSORDOT_(self, other, dims_self, dims_other, ...) \
    dt_tensordot_sized(self, other, dims_self, dims_other, DT_NAMED(dt_tensordot_options, __VA_ARGS__))
#define dt_threshold(...) DT_THRESHOLD_(__VA_ARGS__, .site = DT_SITE)
#define DT_THRESHOLD_(input, threshold, value, ...) \
    dt_threshold_sized(input, threshold, value, DT_NAMED(dt_threshold_options, __VA_ARGS__))
#define dt_threshold_(...) DT_THRESHOLD__(__VA_ARGS__, .site = DT_SITE)
#define DT_THRESHOLD__(input, threshold, value, ...) \
    dt_threshold_in_place_sized(input, threshold, value, DT_NAMED(dt_threshold_in_place_options, __VA_ARGS__))
#define dt_threshold_backward(...) DT_THRESHOLD_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_THRESHOLD_BACKWARD_(grad_output, self, threshold, ...) \
    dt_threshold_backward_sized(grad_output, self, DT_NUMBER(threshold), \
        DT_NAMED(dt_threshold_backward_options, __VA_ARGS__))
#define dt_tile(...) DT_TILE_(__VA_ARGS__, .site = DT_SITE)
#define DT_TILE_(self, dims, ...) dt_tile_sized(self, dims, DT_NAMED(dt_tile_options, __VA_ARGS__))
#define dt_to(...) DT_TO_(__VA_ARGS__, .site = DT_SITE)
#define DT_TO_(self, dtype, ...) dt_to_sized(self, dtype, DT_NAMED(dt_to_options, __VA_ARGS__))
#define dt_topk(...) DT_TOPK_(__VA_ARGS__, .site = DT_SITE)
#define DT_TOPK_(self, k, ...) dt_topk_sized(self, k, DT_CHECKED(dt_topk_options, __VA_ARGS__))
#define dt_trace(...) DT_TRACE_(__VA_ARGS__, .site = DT_SITE)
#define DT_TRACE_(self, ...) dt_trace_sized(self, DT_NAMED(dt_trace_options, __VA_ARGS__))
#define dt_transpose(...) DT_TRANSPOSE_(__VA_ARGS__, .site = DT_SITE)
#define DT_TRANSPOSE_(self, dim0, dim1, ...) \
    dt_transpose_sized(self, dim0, dim1, DT_NAMED(dt_transpose_options, __VA_ARGS__))
#define dt_triangular_solve(...) DT_TRIANGULAR_SOLVE_(__VA_ARGS__, .site = DT_SITE)
#define DT_TRIANGULAR_SOLVE_(self, A, ...) \
    dt_triangular_solve_sized(self, A, DT_CHECKED(dt_triangular_solve_options, __VA_ARGS__))
#define dt_tril(...) DT_TRIL_(__VA_ARGS__, .site = DT_SITE)
#define DT_TRIL_(self, ...) dt_tril_sized(self, DT_CHECKED(dt_tril_options, __VA_ARGS__))
#define dt_tril_(...) DT_TRIL__(__VA_ARGS__, .site = DT_SITE)
#define DT_TRIL__(self, ...) dt_tril_in_place_sized(self, DT_CHECKED(dt_tril_in_place_options, __VA_ARGS__))
#define dt_tril_indices(...) DT_TRIL_INDICES_(__VA_ARGS__, .site = DT_SITE)
#define DT_TRIL_INDICES_(ctx, row, col, offset, ...) \
    dt_tril_indices_sized(ctx, row, col, offset, DT_NAMED(dt_make_options, __VA_ARGS__))
#define dt_triu(...) DT_TRIU_(__VA_ARGS__, .site = DT_SITE)
#define DT_TRIU_(self, ...) dt_triu_sized(self, DT_CHECKED(dt_triu_options, __VA_ARGS__))
#define dt_triu_(...) DT_TRIU__(__VA_ARGS__, .site = DT_SITE)
#define DT_TRIU__(self, ...) dt_triu_in_place_sized(self, DT_CHECKED(dt_triu_in_place_options, __VA_ARGS__))
#define dt_triu_indices(...) DT_TRIU_INDICES_(__VA_ARGS__, .site = DT_SITE)
#define DT_TRIU_INDICES_(ctx, row, col, offset, ...) \
    dt_triu_indices_sized(ctx, row, col, offset, DT_NAMED(dt_make_options, __VA_ARGS__))
#define dt_trunc(...) DT_TRUNC_(__VA_ARGS__, .site = DT_SITE)
#define DT_TRUNC_(self, ...) dt_trunc_sized(self, DT_NAMED(dt_trunc_options, __VA_ARGS__))
#define dt_trunc_(...) DT_TRUNC__(__VA_ARGS__, .site = DT_SITE)
#define DT_TRUNC__(self, ...) dt_trunc_in_place_sized(self, DT_NAMED(dt_trunc_in_place_options, __VA_ARGS__))
#define dt_type_as(...) DT_TYPE_AS_(__VA_ARGS__, .site = DT_SITE)
#define DT_TYPE_AS_(self, other, ...) dt_type_as_sized(self, other, DT_NAMED(dt_type_as_options, __VA_ARGS__))
#define dt_unbind(...) DT_UNBIND_(__VA_ARGS__, .site = DT_SITE)
#define DT_UNBIND_(self, out, capacity, ...) \
    dt_unbind_sized(self, out, capacity, DT_CHECKED(dt_unbind_options, __VA_ARGS__))
#define dt_unflatten(...) DT_UNFLATTEN_(__VA_ARGS__, .site = DT_SITE)
#define DT_UNFLATTEN_(self, dim, sizes, ...) \
    dt_unflatten_sized(self, dim, sizes, DT_NAMED(dt_unflatten_options, __VA_ARGS__))
#define dt_unfold(...) DT_UNFOLD_(__VA_ARGS__, .site = DT_SITE)
#define DT_UNFOLD_(self, dimension, size, step, ...) \
    dt_unfold_sized(self, dimension, size, step, DT_NAMED(dt_unfold_options, __VA_ARGS__))
#define dt_unfold_backward(...) DT_UNFOLD_BACKWARD_(__VA_ARGS__, .site = DT_SITE)
#define DT_UNFOLD_BACKWARD_(grad_in, input_sizes, dim, size, step, ...) \
    dt_unfold_backward_sized(grad_in, input_sizes, dim, size, step, \
        DT_NAMED(dt_unfold_backward_options, __VA_ARGS__))
#define dt_unsqueeze(...) DT_UNSQUEEZE_(__VA_ARGS__, .site = DT_SITE)
#define DT_UNSQUEEZE_(self, dim, ...) dt_unsqueeze_sized(self, dim, DT_NAMED(dt_unsqueeze_options, __VA_ARGS__))
#define dt_var(...) DT_VAR_(__VA_ARGS__, .site = DT_SITE)
#define DT_VAR_(self, ...) dt_var_sized(self, DT_CHECKED(dt_var_options, __VA_ARGS__))
#define dt_var_correction(...) DT_VAR_CORRECTION_(__VA_ARGS__, .site = DT_SITE)
#define DT_VAR_CORRECTION_(self, ...) \
    dt_var_correction_sized(self, DT_CHECKED(dt_var_correction_options, __VA_ARGS__))
#define dt_var_mean(...) DT_VAR_MEAN_(__VA_ARGS__, .site = DT_SITE)
#define DT_VAR_MEAN_(self, ...) dt_var_mean_sized(self, DT_CHECKED(dt_var_mean_options, __VA_ARGS__))
#define dt_var_mean_correction(...) DT_VAR_MEAN_CORRECTION_(__VA_ARGS__, .site = DT_SITE)
#define DT_VAR_MEAN_CORRECTION_(self, ...) \
    dt_var_mean_correction_sized(self, DT_CHECKED(dt_var_mean_correction_options, __VA_ARGS__))
#define dt_vdot(...) DT_VDOT_(__VA_ARGS__, .site = DT_SITE)
#define DT_VDOT_(self, other, ...) dt_vdot_sized(self, other, DT_NAMED(dt_vdot_options, __VA_ARGS__))
#define dt_view(...) DT_VIEW_(__VA_ARGS__, .site = DT_SITE)
#define DT_VIEW_(self, size, ...) dt_view_sized(self, size, DT_NAMED(dt_view_options, __VA_ARGS__))
#define dt_view_as(...) DT_VIEW_AS_(__VA_ARGS__, .site = DT_SITE)
#define DT_VIEW_AS_(self, other, ...) dt_view_as_sized(self, other, DT_NAMED(dt_view_as_options, __VA_ARGS__))
#define dt_view_as_complex(...) DT_VIEW_AS_COMPLEX_(__VA_ARGS__, .site = DT_SITE)
#define DT_VIEW_AS_COMPLEX_(self, ...) \
    dt_view_as_complex_sized(self, DT_NAMED(dt_view_as_complex_options, __VA_ARGS__))
#define dt_view_as_real(...) DT_VIEW_AS_REAL_(__VA_ARGS__, .site = DT_SITE)
#define DT_VIEW_AS_REAL_(self, ...) dt_view_as_real_sized(self, DT_NAMED(dt_view_as_real_options, __VA_ARGS__))
#define dt_vstack(...) DT_VSTACK_(__VA_ARGS__, .site = DT_SITE)
#define DT_VSTACK_(tensors, ...) dt_vstack_sized(tensors, DT_NAMED(dt_vstack_options, __VA_ARGS__))
#define dt_where(...) DT_WHERE_(__VA_ARGS__, .site = DT_SITE)
#define DT_WHERE_(condition, self, other, ...) \
    dt_where_sized(condition, self, other, DT_NAMED(dt_where_options, __VA_ARGS__))
#define dt_where_scalar_other(...) DT_WHERE_SCALAR_OTHER_(__VA_ARGS__, .site = DT_SITE)
#define DT_WHERE_SCALAR_OTHER_(condition, self, other, ...) \
    dt_where_scalar_other_sized(condition, self, DT_NUMBER(other), \
        DT_NAMED(dt_where_scalar_other_options, __VA_ARGS__))
#define dt_where_scalar_self(...) DT_WHERE_SCALAR_SELF_(__VA_ARGS__, .site = DT_SITE)
#define DT_WHERE_SCALAR_SELF_(condition, self, other, ...) \
    dt_where_scalar_self_sized(condition, DT_NUMBER(self), other, \
        DT_NAMED(dt_where_scalar_self_options, __VA_ARGS__))
#define dt_where_scalars(...) DT_WHERE_SCALARS_(__VA_ARGS__, .site = DT_SITE)
#define DT_WHERE_SCALARS_(condition, self, other, ...) \
    dt_where_scalars_sized(condition, DT_NUMBER(self), DT_NUMBER(other), \
        DT_NAMED(dt_where_scalars_options, __VA_ARGS__))
#define dt_xlogy(...) DT_XLOGY_(__VA_ARGS__, .site = DT_SITE)
#define DT_XLOGY_(self, other, ...) dt_xlogy_sized(self, other, DT_NAMED(dt_xlogy_options, __VA_ARGS__))
#define dt_xlogy_scalar_other(...) DT_XLOGY_SCALAR_OTHER_(__VA_ARGS__, .site = DT_SITE)
#define DT_XLOGY_SCALAR_OTHER_(self, other, ...) \
    dt_xlogy_scalar_other_sized(self, DT_NUMBER(other), DT_NAMED(dt_xlogy_scalar_other_options, __VA_ARGS__))
#define dt_xlogy_scalar_self(...) DT_XLOGY_SCALAR_SELF_(__VA_ARGS__, .site = DT_SITE)
#define DT_XLOGY_SCALAR_SELF_(self, other, ...) \
    dt_xlogy_scalar_self_sized(DT_NUMBER(self), other, DT_NAMED(dt_xlogy_scalar_self_options, __VA_ARGS__))
#define dt_xlogy_(...) DT_XLOGY__(__VA_ARGS__, .site = DT_SITE)
#define DT_XLOGY__(self, other, ...) \
    dt_xlogy_in_place_sized(self, other, DT_NAMED(dt_xlogy_in_place_options, __VA_ARGS__))
#define dt_xlogy_scalar_(...) DT_XLOGY_SCALAR__(__VA_ARGS__, .site = DT_SITE)
#define DT_XLOGY_SCALAR__(self, other, ...) \
    dt_xlogy_scalar_in_place_sized(self, DT_NUMBER(other), DT_NAMED(dt_xlogy_scalar_in_place_options, __VA_ARGS__))
#define dt_zero_(...) DT_ZERO__(__VA_ARGS__, .site = DT_SITE)
#define DT_ZERO__(self, ...) dt_zero_in_place_sized(self, DT_NAMED(dt_zero_in_place_options, __VA_ARGS__))
#define dt_zeros(...) DT_ZEROS_(__VA_ARGS__, .site = DT_SITE)
#define DT_ZEROS_(ctx, size, ...) dt_zeros_sized(ctx, size, DT_NAMED(dt_make_options, __VA_ARGS__))
#define dt_zeros_like(...) DT_ZEROS_LIKE_(__VA_ARGS__, .site = DT_SITE)
#define DT_ZEROS_LIKE_(self, ...) dt_zeros_like_sized(self, DT_NAMED(dt_zeros_like_options, __VA_ARGS__))
/* clang-format on */
#endif

#ifdef __cplusplus
}
#endif

#endif
