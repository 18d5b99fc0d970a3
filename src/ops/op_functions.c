/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of dtensor/ops.h. Made by scripts/make_ops.py from the schema lines of the ops: change those.
 */
#include "ops/op_functions.h"

dt_tensor *dt_T_sized(dt_tensor *self, const dt_T_options *options, size_t options_size) {
    dt_T_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "T", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_T, options->site);
}

int dt_foreach_abs_sized(dt_tensors self, dt_tensor **out, int capacity, const dt_foreach_abs_options *options,
                         size_t options_size) {
    dt_foreach_abs_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_abs", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    return dt__call_run_list(&call, DT__OP__foreach_abs, options->site, out, capacity);
}

int dt_foreach_acos_sized(dt_tensors self, dt_tensor **out, int capacity, const dt_foreach_acos_options *options,
                          size_t options_size) {
    dt_foreach_acos_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_acos", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    return dt__call_run_list(&call, DT__OP__foreach_acos, options->site, out, capacity);
}

dt_status dt_foreach_acos_in_place_sized(dt_tensors self, const dt_foreach_acos_in_place_options *options,
                                         size_t options_size) {
    dt_foreach_acos_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_acos_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    return dt__call_run_status(&call, DT__OP__foreach_acos_, options->site);
}

int dt_foreach_add_sized(dt_tensors self, dt_tensors other, dt_tensor **out, int capacity,
                         const dt_foreach_add_options *options, size_t options_size) {
    dt_foreach_add_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_add", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run_list(&call, DT__OP__foreach_add, options->site, out, capacity);
}

int dt_foreach_add_scalar_sized(dt_tensors self, dt_number scalar, dt_tensor **out, int capacity,
                                const dt_foreach_add_scalar_options *options, size_t options_size) {
    dt_foreach_add_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_add", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_number(&args[1], scalar);
    return dt__call_run_list(&call, DT__OP__foreach_add, options->site, out, capacity);
}

dt_status dt_foreach_add_in_place_sized(dt_tensors self, dt_tensors other,
                                        const dt_foreach_add_in_place_options *options, size_t options_size) {
    dt_foreach_add_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_add_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run_status(&call, DT__OP__foreach_add_, options->site);
}

dt_status dt_foreach_add_scalar_in_place_sized(dt_tensors self, dt_number scalar,
                                               const dt_foreach_add_scalar_in_place_options *options,
                                               size_t options_size) {
    dt_foreach_add_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_add_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_number(&args[1], scalar);
    return dt__call_run_status(&call, DT__OP__foreach_add_, options->site);
}

int dt_foreach_max_sized(dt_tensors self, dt_tensor **out, int capacity, const dt_foreach_max_options *options,
                         size_t options_size) {
    dt_foreach_max_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_max", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    return dt__call_run_list(&call, DT__OP__foreach_max, options->site, out, capacity);
}

int dt_foreach_mul_sized(dt_tensors self, dt_tensors other, dt_tensor **out, int capacity,
                         const dt_foreach_mul_options *options, size_t options_size) {
    dt_foreach_mul_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_mul", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, other);
    return dt__call_run_list(&call, DT__OP__foreach_mul, options->site, out, capacity);
}

int dt_foreach_mul_scalar_sized(dt_tensors self, dt_number scalar, dt_tensor **out, int capacity,
                                const dt_foreach_mul_scalar_options *options, size_t options_size) {
    dt_foreach_mul_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_mul", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_number(&args[1], scalar);
    return dt__call_run_list(&call, DT__OP__foreach_mul, options->site, out, capacity);
}

dt_status dt_foreach_mul_in_place_sized(dt_tensors self, dt_tensors other,
                                        const dt_foreach_mul_in_place_options *options, size_t options_size) {
    dt_foreach_mul_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_mul_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, other);
    return dt__call_run_status(&call, DT__OP__foreach_mul_, options->site);
}

dt_status dt_foreach_mul_scalar_in_place_sized(dt_tensors self, dt_number scalar,
                                               const dt_foreach_mul_scalar_in_place_options *options,
                                               size_t options_size) {
    dt_foreach_mul_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_mul_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_number(&args[1], scalar);
    return dt__call_run_status(&call, DT__OP__foreach_mul_, options->site);
}

int dt_foreach_neg_sized(dt_tensors self, dt_tensor **out, int capacity, const dt_foreach_neg_options *options,
                         size_t options_size) {
    dt_foreach_neg_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_neg", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    return dt__call_run_list(&call, DT__OP__foreach_neg, options->site, out, capacity);
}

int dt_foreach_norm_sized(dt_tensors self, dt_tensor **out, int capacity, const dt_foreach_norm_options *options,
                          size_t options_size) {
    dt_foreach_norm_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_norm", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    options->ord.type != DT_ARG_NONE ? dt__call_number(&args[1], options->ord)
                                     : dt__call_number(&args[1], dt_number_int(2));
    return dt__call_run_list(&call, DT__OP__foreach_norm, options->site, out, capacity);
}

int dt_foreach_power_sum_sized(dt_tensors self, dt_tensor **out, int capacity,
                               const dt_foreach_power_sum_options *options, size_t options_size) {
    dt_foreach_power_sum_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_foreach_power_sum", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    options->ord.type != DT_ARG_NONE ? dt__call_number(&args[1], options->ord)
                                     : dt__call_number(&args[1], dt_number_int(2));
    return dt__call_run_list(&call, DT__OP__foreach_power_sum, options->site, out, capacity);
}

dt_status dt_fused_adam_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs, dt_tensors exp_avg_sqs,
                                       double lr, int64_t step, const dt_fused_adam_in_place_options *options,
                                       size_t options_size) {
    dt_fused_adam_in_place_options full;
    dt__call call;
    dt_arg args[12];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_fused_adam_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, grads);
    dt__call_tensors(&args[2], &call, exp_avgs);
    dt__call_tensors(&args[3], &call, exp_avg_sqs);
    dt__call_real(&args[4], lr);
    options->beta1.given ? dt__call_real(&args[5], options->beta1.value) : dt__call_real(&args[5], 0.9);
    options->beta2.given ? dt__call_real(&args[6], options->beta2.value) : dt__call_real(&args[6], 0.999);
    options->weight_decay.given ? dt__call_real(&args[7], options->weight_decay.value) : dt__call_real(&args[7], 0.0);
    options->eps.given ? dt__call_real(&args[8], options->eps.value) : dt__call_real(&args[8], 1e-08);
    dt__call_int(&args[9], step);
    dt__call_bool(&args[10], options->maximize);
    options->grad_scale.given ? dt__call_real(&args[11], options->grad_scale.value) : dt__call_real(&args[11], 1.0);
    return dt__call_run_status(&call, DT__OP__fused_adam_, options->site);
}

dt_status dt_fused_adam_amsgrad_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                               dt_tensors exp_avg_sqs, dt_tensors max_exp_avg_sqs, double lr,
                                               int64_t step, const dt_fused_adam_amsgrad_in_place_options *options,
                                               size_t options_size) {
    dt_fused_adam_amsgrad_in_place_options full;
    dt__call call;
    dt_arg args[13];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_fused_adam_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, grads);
    dt__call_tensors(&args[2], &call, exp_avgs);
    dt__call_tensors(&args[3], &call, exp_avg_sqs);
    dt__call_tensors(&args[4], &call, max_exp_avg_sqs);
    dt__call_real(&args[5], lr);
    options->beta1.given ? dt__call_real(&args[6], options->beta1.value) : dt__call_real(&args[6], 0.9);
    options->beta2.given ? dt__call_real(&args[7], options->beta2.value) : dt__call_real(&args[7], 0.999);
    options->weight_decay.given ? dt__call_real(&args[8], options->weight_decay.value) : dt__call_real(&args[8], 0.0);
    options->eps.given ? dt__call_real(&args[9], options->eps.value) : dt__call_real(&args[9], 1e-08);
    dt__call_int(&args[10], step);
    dt__call_bool(&args[11], options->maximize);
    options->grad_scale.given ? dt__call_real(&args[12], options->grad_scale.value) : dt__call_real(&args[12], 1.0);
    return dt__call_run_status(&call, DT__OP__fused_adam_, options->site);
}

dt_status dt_fused_adamw_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                        dt_tensors exp_avg_sqs, double lr, int64_t step,
                                        const dt_fused_adamw_in_place_options *options, size_t options_size) {
    dt_fused_adamw_in_place_options full;
    dt__call call;
    dt_arg args[12];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_fused_adamw_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, grads);
    dt__call_tensors(&args[2], &call, exp_avgs);
    dt__call_tensors(&args[3], &call, exp_avg_sqs);
    dt__call_real(&args[4], lr);
    options->beta1.given ? dt__call_real(&args[5], options->beta1.value) : dt__call_real(&args[5], 0.9);
    options->beta2.given ? dt__call_real(&args[6], options->beta2.value) : dt__call_real(&args[6], 0.999);
    options->weight_decay.given ? dt__call_real(&args[7], options->weight_decay.value) : dt__call_real(&args[7], 0.0);
    options->eps.given ? dt__call_real(&args[8], options->eps.value) : dt__call_real(&args[8], 1e-08);
    dt__call_int(&args[9], step);
    dt__call_bool(&args[10], options->maximize);
    options->grad_scale.given ? dt__call_real(&args[11], options->grad_scale.value) : dt__call_real(&args[11], 1.0);
    return dt__call_run_status(&call, DT__OP__fused_adamw_, options->site);
}

dt_status dt_fused_adamw_amsgrad_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors exp_avgs,
                                                dt_tensors exp_avg_sqs, dt_tensors max_exp_avg_sqs, double lr,
                                                int64_t step, const dt_fused_adamw_amsgrad_in_place_options *options,
                                                size_t options_size) {
    dt_fused_adamw_amsgrad_in_place_options full;
    dt__call call;
    dt_arg args[13];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_fused_adamw_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, grads);
    dt__call_tensors(&args[2], &call, exp_avgs);
    dt__call_tensors(&args[3], &call, exp_avg_sqs);
    dt__call_tensors(&args[4], &call, max_exp_avg_sqs);
    dt__call_real(&args[5], lr);
    options->beta1.given ? dt__call_real(&args[6], options->beta1.value) : dt__call_real(&args[6], 0.9);
    options->beta2.given ? dt__call_real(&args[7], options->beta2.value) : dt__call_real(&args[7], 0.999);
    options->weight_decay.given ? dt__call_real(&args[8], options->weight_decay.value) : dt__call_real(&args[8], 0.0);
    options->eps.given ? dt__call_real(&args[9], options->eps.value) : dt__call_real(&args[9], 1e-08);
    dt__call_int(&args[10], step);
    dt__call_bool(&args[11], options->maximize);
    options->grad_scale.given ? dt__call_real(&args[12], options->grad_scale.value) : dt__call_real(&args[12], 1.0);
    return dt__call_run_status(&call, DT__OP__fused_adamw_, options->site);
}

dt_fused_rms_norm_backward_result dt_fused_rms_norm_backward_sized(dt_tensor *grad_out, dt_tensor *input,
                                                                   dt_shape normalized_shape, dt_tensor *rstd,
                                                                   dt_shape output_mask,
                                                                   const dt_fused_rms_norm_backward_options *options,
                                                                   size_t options_size) {
    dt_fused_rms_norm_backward_options full;
    dt__call call;
    dt_arg args[6];
    dt_ctx *ctx = dt_tensor_ctx(grad_out);
    options = DT__OPTIONS(ctx, "_fused_rms_norm_backward", options, options_size, &full);
    if (!options)
        return (dt_fused_rms_norm_backward_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_out);
    dt__call_tensor(&args[1], &call, input);
    dt__call_sizes(&args[2], normalized_shape);
    dt__call_tensor(&args[3], &call, rstd);
    options->weight ? dt__call_tensor(&args[4], &call, options->weight) : dt__call_none(&args[4]);
    dt__call_sizes(&args[5], output_mask);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP__fused_rms_norm_backward, options->site, outputs, 2);
    return (dt_fused_rms_norm_backward_result){outputs[0], outputs[1]};
}

dt_status dt_fused_sgd_in_place_sized(dt_tensors self, dt_tensors grads, double lr,
                                      const dt_fused_sgd_in_place_options *options, size_t options_size) {
    dt_fused_sgd_in_place_options full;
    dt__call call;
    dt_arg args[10];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_fused_sgd_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, grads);
    dt__call_real(&args[2], lr);
    options->weight_decay.given ? dt__call_real(&args[3], options->weight_decay.value) : dt__call_real(&args[3], 0.0);
    options->momentum.given ? dt__call_real(&args[4], options->momentum.value) : dt__call_real(&args[4], 0.0);
    options->dampening.given ? dt__call_real(&args[5], options->dampening.value) : dt__call_real(&args[5], 0.0);
    dt__call_bool(&args[6], options->nesterov);
    dt__call_bool(&args[7], options->maximize);
    dt__call_bool(&args[8], options->is_first);
    options->grad_scale.given ? dt__call_real(&args[9], options->grad_scale.value) : dt__call_real(&args[9], 1.0);
    return dt__call_run_status(&call, DT__OP__fused_sgd_, options->site);
}

dt_status dt_fused_sgd_momentum_in_place_sized(dt_tensors self, dt_tensors grads, dt_tensors momentum_buffers,
                                               double lr, const dt_fused_sgd_momentum_in_place_options *options,
                                               size_t options_size) {
    dt_fused_sgd_momentum_in_place_options full;
    dt__call call;
    dt_arg args[11];
    dt_ctx *ctx = dt__ctx_of_list(self);
    options = DT__OPTIONS(ctx, "_fused_sgd_", options, options_size, &full);
    if (!options)
        return DT_ERR_VALUE;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensors(&args[0], &call, self);
    dt__call_tensors(&args[1], &call, grads);
    dt__call_tensors(&args[2], &call, momentum_buffers);
    dt__call_real(&args[3], lr);
    options->weight_decay.given ? dt__call_real(&args[4], options->weight_decay.value) : dt__call_real(&args[4], 0.0);
    options->momentum.given ? dt__call_real(&args[5], options->momentum.value) : dt__call_real(&args[5], 0.0);
    options->dampening.given ? dt__call_real(&args[6], options->dampening.value) : dt__call_real(&args[6], 0.0);
    dt__call_bool(&args[7], options->nesterov);
    dt__call_bool(&args[8], options->maximize);
    dt__call_bool(&args[9], options->is_first);
    options->grad_scale.given ? dt__call_real(&args[10], options->grad_scale.value) : dt__call_real(&args[10], 1.0);
    return dt__call_run_status(&call, DT__OP__fused_sgd_, options->site);
}

dt_tensor *dt_log_softmax_backward_data_sized(dt_tensor *grad_output, dt_tensor *output, int64_t dim,
                                              dt_dtype input_dtype,
                                              const dt_log_softmax_backward_data_options *options,
                                              size_t options_size) {
    dt_log_softmax_backward_data_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "_log_softmax_backward_data", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, output);
    dt__call_int(&args[2], dim);
    dt__call_dtype(&args[3], input_dtype);
    return dt__call_run(&call, DT__OP__log_softmax_backward_data, options->site);
}

dt_tensor *dt_softmax_backward_data_sized(dt_tensor *grad_output, dt_tensor *output, int64_t dim,
                                          dt_dtype input_dtype, const dt_softmax_backward_data_options *options,
                                          size_t options_size) {
    dt_softmax_backward_data_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "_softmax_backward_data", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, output);
    dt__call_int(&args[2], dim);
    dt__call_dtype(&args[3], input_dtype);
    return dt__call_run(&call, DT__OP__softmax_backward_data, options->site);
}

dt_tensor *dt_abs_sized(dt_tensor *self, const dt_abs_options *options, size_t options_size) {
    dt_abs_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "abs", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_abs, options->site);
}

dt_tensor *dt_abs_in_place_sized(dt_tensor *self, const dt_abs_in_place_options *options, size_t options_size) {
    dt_abs_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "abs_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_abs_, options->site);
}

dt_tensor *dt_acos_sized(dt_tensor *self, const dt_acos_options *options, size_t options_size) {
    dt_acos_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "acos", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_acos, options->site);
}

dt_tensor *dt_acos_in_place_sized(dt_tensor *self, const dt_acos_in_place_options *options, size_t options_size) {
    dt_acos_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "acos_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_acos_, options->site);
}

dt_adam_in_place_result dt_adam_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg,
                                               dt_tensor *exp_avg_sq, double lr, int64_t step,
                                               const dt_adam_in_place_options *options, size_t options_size) {
    dt_adam_in_place_options full;
    dt__call call;
    dt_arg args[12];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "adam_", options, options_size, &full);
    if (!options)
        return (dt_adam_in_place_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, grad);
    dt__call_tensor(&args[2], &call, exp_avg);
    dt__call_tensor(&args[3], &call, exp_avg_sq);
    dt__call_real(&args[4], lr);
    options->beta1.given ? dt__call_real(&args[5], options->beta1.value) : dt__call_real(&args[5], 0.9);
    options->beta2.given ? dt__call_real(&args[6], options->beta2.value) : dt__call_real(&args[6], 0.999);
    options->weight_decay.given ? dt__call_real(&args[7], options->weight_decay.value) : dt__call_real(&args[7], 0.0);
    options->eps.given ? dt__call_real(&args[8], options->eps.value) : dt__call_real(&args[8], 1e-08);
    dt__call_int(&args[9], step);
    dt__call_bool(&args[10], options->maximize);
    options->grad_scale.given ? dt__call_real(&args[11], options->grad_scale.value) : dt__call_real(&args[11], 1.0);
    dt_tensor *outputs[3];
    dt__call_run_tuple(&call, DT__OP_adam_, options->site, outputs, 3);
    return (dt_adam_in_place_result){outputs[0], outputs[1], outputs[2]};
}

dt_adam_amsgrad_in_place_result dt_adam_amsgrad_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg,
                                                               dt_tensor *exp_avg_sq, dt_tensor *max_exp_avg_sq,
                                                               double lr, int64_t step,
                                                               const dt_adam_amsgrad_in_place_options *options,
                                                               size_t options_size) {
    dt_adam_amsgrad_in_place_options full;
    dt__call call;
    dt_arg args[13];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "adam_", options, options_size, &full);
    if (!options)
        return (dt_adam_amsgrad_in_place_result){0};
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, grad);
    dt__call_tensor(&args[2], &call, exp_avg);
    dt__call_tensor(&args[3], &call, exp_avg_sq);
    dt__call_tensor(&args[4], &call, max_exp_avg_sq);
    dt__call_real(&args[5], lr);
    options->beta1.given ? dt__call_real(&args[6], options->beta1.value) : dt__call_real(&args[6], 0.9);
    options->beta2.given ? dt__call_real(&args[7], options->beta2.value) : dt__call_real(&args[7], 0.999);
    options->weight_decay.given ? dt__call_real(&args[8], options->weight_decay.value) : dt__call_real(&args[8], 0.0);
    options->eps.given ? dt__call_real(&args[9], options->eps.value) : dt__call_real(&args[9], 1e-08);
    dt__call_int(&args[10], step);
    dt__call_bool(&args[11], options->maximize);
    options->grad_scale.given ? dt__call_real(&args[12], options->grad_scale.value) : dt__call_real(&args[12], 1.0);
    dt_tensor *outputs[4];
    dt__call_run_tuple(&call, DT__OP_adam_, options->site, outputs, 4);
    return (dt_adam_amsgrad_in_place_result){outputs[0], outputs[1], outputs[2], outputs[3]};
}

dt_adamw_in_place_result dt_adamw_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg,
                                                 dt_tensor *exp_avg_sq, double lr, int64_t step,
                                                 const dt_adamw_in_place_options *options, size_t options_size) {
    dt_adamw_in_place_options full;
    dt__call call;
    dt_arg args[12];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "adamw_", options, options_size, &full);
    if (!options)
        return (dt_adamw_in_place_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, grad);
    dt__call_tensor(&args[2], &call, exp_avg);
    dt__call_tensor(&args[3], &call, exp_avg_sq);
    dt__call_real(&args[4], lr);
    options->beta1.given ? dt__call_real(&args[5], options->beta1.value) : dt__call_real(&args[5], 0.9);
    options->beta2.given ? dt__call_real(&args[6], options->beta2.value) : dt__call_real(&args[6], 0.999);
    options->weight_decay.given ? dt__call_real(&args[7], options->weight_decay.value) : dt__call_real(&args[7], 0.0);
    options->eps.given ? dt__call_real(&args[8], options->eps.value) : dt__call_real(&args[8], 1e-08);
    dt__call_int(&args[9], step);
    dt__call_bool(&args[10], options->maximize);
    options->grad_scale.given ? dt__call_real(&args[11], options->grad_scale.value) : dt__call_real(&args[11], 1.0);
    dt_tensor *outputs[3];
    dt__call_run_tuple(&call, DT__OP_adamw_, options->site, outputs, 3);
    return (dt_adamw_in_place_result){outputs[0], outputs[1], outputs[2]};
}

dt_adamw_amsgrad_in_place_result dt_adamw_amsgrad_in_place_sized(dt_tensor *self, dt_tensor *grad, dt_tensor *exp_avg,
                                                                 dt_tensor *exp_avg_sq, dt_tensor *max_exp_avg_sq,
                                                                 double lr, int64_t step,
                                                                 const dt_adamw_amsgrad_in_place_options *options,
                                                                 size_t options_size) {
    dt_adamw_amsgrad_in_place_options full;
    dt__call call;
    dt_arg args[13];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "adamw_", options, options_size, &full);
    if (!options)
        return (dt_adamw_amsgrad_in_place_result){0};
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, grad);
    dt__call_tensor(&args[2], &call, exp_avg);
    dt__call_tensor(&args[3], &call, exp_avg_sq);
    dt__call_tensor(&args[4], &call, max_exp_avg_sq);
    dt__call_real(&args[5], lr);
    options->beta1.given ? dt__call_real(&args[6], options->beta1.value) : dt__call_real(&args[6], 0.9);
    options->beta2.given ? dt__call_real(&args[7], options->beta2.value) : dt__call_real(&args[7], 0.999);
    options->weight_decay.given ? dt__call_real(&args[8], options->weight_decay.value) : dt__call_real(&args[8], 0.0);
    options->eps.given ? dt__call_real(&args[9], options->eps.value) : dt__call_real(&args[9], 1e-08);
    dt__call_int(&args[10], step);
    dt__call_bool(&args[11], options->maximize);
    options->grad_scale.given ? dt__call_real(&args[12], options->grad_scale.value) : dt__call_real(&args[12], 1.0);
    dt_tensor *outputs[4];
    dt__call_run_tuple(&call, DT__OP_adamw_, options->site, outputs, 4);
    return (dt_adamw_amsgrad_in_place_result){outputs[0], outputs[1], outputs[2], outputs[3]};
}

dt_tensor *dt_add_sized(dt_tensor *self, dt_tensor *other, const dt_add_options *options, size_t options_size) {
    dt_add_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "add", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_add, options->site);
}

dt_tensor *dt_add_scalar_sized(dt_tensor *self, dt_number other, const dt_add_scalar_options *options,
                               size_t options_size) {
    dt_add_scalar_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "add", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_add, options->site);
}

dt_tensor *dt_add_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_add_in_place_options *options,
                                 size_t options_size) {
    dt_add_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "add_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_add_, options->site);
}

dt_tensor *dt_add_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                        const dt_add_scalar_in_place_options *options, size_t options_size) {
    dt_add_scalar_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "add_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_add_, options->site);
}

dt_tensor *dt_addbmm_sized(dt_tensor *self, dt_tensor *batch1, dt_tensor *batch2, const dt_addbmm_options *options,
                           size_t options_size) {
    dt_addbmm_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addbmm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, batch1);
    dt__call_tensor(&args[2], &call, batch2);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addbmm, options->site);
}

dt_tensor *dt_addbmm_in_place_sized(dt_tensor *self, dt_tensor *batch1, dt_tensor *batch2,
                                    const dt_addbmm_in_place_options *options, size_t options_size) {
    dt_addbmm_in_place_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addbmm_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, batch1);
    dt__call_tensor(&args[2], &call, batch2);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addbmm_, options->site);
}

dt_tensor *dt_addcdiv_sized(dt_tensor *self, dt_tensor *tensor1, dt_tensor *tensor2,
                            const dt_addcdiv_options *options, size_t options_size) {
    dt_addcdiv_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addcdiv", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, tensor1);
    dt__call_tensor(&args[2], &call, tensor2);
    options->value.type != DT_ARG_NONE ? dt__call_number(&args[3], options->value)
                                       : dt__call_number(&args[3], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addcdiv, options->site);
}

dt_tensor *dt_addcdiv_in_place_sized(dt_tensor *self, dt_tensor *tensor1, dt_tensor *tensor2,
                                     const dt_addcdiv_in_place_options *options, size_t options_size) {
    dt_addcdiv_in_place_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addcdiv_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, tensor1);
    dt__call_tensor(&args[2], &call, tensor2);
    options->value.type != DT_ARG_NONE ? dt__call_number(&args[3], options->value)
                                       : dt__call_number(&args[3], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addcdiv_, options->site);
}

dt_tensor *dt_addcmul_sized(dt_tensor *self, dt_tensor *tensor1, dt_tensor *tensor2,
                            const dt_addcmul_options *options, size_t options_size) {
    dt_addcmul_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addcmul", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, tensor1);
    dt__call_tensor(&args[2], &call, tensor2);
    options->value.type != DT_ARG_NONE ? dt__call_number(&args[3], options->value)
                                       : dt__call_number(&args[3], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addcmul, options->site);
}

dt_tensor *dt_addcmul_in_place_sized(dt_tensor *self, dt_tensor *tensor1, dt_tensor *tensor2,
                                     const dt_addcmul_in_place_options *options, size_t options_size) {
    dt_addcmul_in_place_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addcmul_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, tensor1);
    dt__call_tensor(&args[2], &call, tensor2);
    options->value.type != DT_ARG_NONE ? dt__call_number(&args[3], options->value)
                                       : dt__call_number(&args[3], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addcmul_, options->site);
}

dt_tensor *dt_addmm_sized(dt_tensor *self, dt_tensor *mat1, dt_tensor *mat2, const dt_addmm_options *options,
                          size_t options_size) {
    dt_addmm_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addmm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mat1);
    dt__call_tensor(&args[2], &call, mat2);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addmm, options->site);
}

dt_tensor *dt_addmm_in_place_sized(dt_tensor *self, dt_tensor *mat1, dt_tensor *mat2,
                                   const dt_addmm_in_place_options *options, size_t options_size) {
    dt_addmm_in_place_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addmm_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mat1);
    dt__call_tensor(&args[2], &call, mat2);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addmm_, options->site);
}

dt_tensor *dt_addmv_sized(dt_tensor *self, dt_tensor *mat, dt_tensor *vec, const dt_addmv_options *options,
                          size_t options_size) {
    dt_addmv_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addmv", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mat);
    dt__call_tensor(&args[2], &call, vec);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addmv, options->site);
}

dt_tensor *dt_addmv_in_place_sized(dt_tensor *self, dt_tensor *mat, dt_tensor *vec,
                                   const dt_addmv_in_place_options *options, size_t options_size) {
    dt_addmv_in_place_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addmv_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mat);
    dt__call_tensor(&args[2], &call, vec);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addmv_, options->site);
}

dt_tensor *dt_addr_sized(dt_tensor *self, dt_tensor *vec1, dt_tensor *vec2, const dt_addr_options *options,
                         size_t options_size) {
    dt_addr_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addr", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, vec1);
    dt__call_tensor(&args[2], &call, vec2);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addr, options->site);
}

dt_tensor *dt_addr_in_place_sized(dt_tensor *self, dt_tensor *vec1, dt_tensor *vec2,
                                  const dt_addr_in_place_options *options, size_t options_size) {
    dt_addr_in_place_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "addr_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, vec1);
    dt__call_tensor(&args[2], &call, vec2);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_addr_, options->site);
}

dt_tensor *dt_all_sized(dt_tensor *self, const dt_all_options *options, size_t options_size) {
    dt_all_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "all", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    dt__call_bool(&args[2], options->keepdim);
    return dt__call_run(&call, DT__OP_all, options->site);
}

dt_tensor *dt_allclose_sized(dt_tensor *self, dt_tensor *other, const dt_allclose_options *options,
                             size_t options_size) {
    dt_allclose_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "allclose", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    options->rtol.given ? dt__call_real(&args[2], options->rtol.value) : dt__call_real(&args[2], 1e-05);
    options->atol.given ? dt__call_real(&args[3], options->atol.value) : dt__call_real(&args[3], 1e-08);
    dt__call_bool(&args[4], options->equal_nan);
    return dt__call_run(&call, DT__OP_allclose, options->site);
}

dt_tensor *dt_amax_sized(dt_tensor *self, const dt_amax_options *options, size_t options_size) {
    dt_amax_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "amax", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_dims(&args[1], (dt_dims){.n = 0});
    dt__call_bool(&args[2], options->keepdim);
    return dt__call_run(&call, DT__OP_amax, options->site);
}

dt_tensor *dt_amin_sized(dt_tensor *self, const dt_amin_options *options, size_t options_size) {
    dt_amin_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "amin", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_dims(&args[1], (dt_dims){.n = 0});
    dt__call_bool(&args[2], options->keepdim);
    return dt__call_run(&call, DT__OP_amin, options->site);
}

dt_tensor *dt_any_sized(dt_tensor *self, const dt_any_options *options, size_t options_size) {
    dt_any_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "any", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    dt__call_bool(&args[2], options->keepdim);
    return dt__call_run(&call, DT__OP_any, options->site);
}

dt_tensor *dt_arange_sized(dt_ctx *ctx, dt_number start, dt_number end, dt_number step,
                           const dt_make_options *options, size_t options_size) {
    dt_make_options full;
    dt__call call;
    dt_arg args[4];
    options = DT__OPTIONS(ctx, "arange", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_number(&args[0], start);
    dt__call_number(&args[1], end);
    dt__call_number(&args[2], step);
    dt__call_dtype(&args[3], options->dtype ? options->dtype : DT_F32);
    call.maker = &(dt__maker_place){options->mesh, options->place, options->requires_grad, options->use};
    return dt__call_run(&call, DT__OP_arange, options->site);
}

dt_tensor *dt_argmax_sized(dt_tensor *self, const dt_argmax_options *options, size_t options_size) {
    dt_argmax_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "argmax", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.given ? dt__call_int(&args[1], options->dim.value) : dt__call_none(&args[1]);
    dt__call_bool(&args[2], options->keepdim);
    return dt__call_run(&call, DT__OP_argmax, options->site);
}

dt_tensor *dt_argmin_sized(dt_tensor *self, const dt_argmin_options *options, size_t options_size) {
    dt_argmin_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "argmin", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.given ? dt__call_int(&args[1], options->dim.value) : dt__call_none(&args[1]);
    dt__call_bool(&args[2], options->keepdim);
    return dt__call_run(&call, DT__OP_argmin, options->site);
}

dt_tensor *dt_argsort_sized(dt_tensor *self, const dt_argsort_options *options, size_t options_size) {
    dt_argsort_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "argsort", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.given ? dt__call_int(&args[1], options->dim.value) : dt__call_int(&args[1], -1);
    dt__call_bool(&args[2], options->descending);
    return dt__call_run(&call, DT__OP_argsort, options->site);
}

dt_tensor *dt_argsort_stable_sized(dt_tensor *self, bool stable, const dt_argsort_stable_options *options,
                                   size_t options_size) {
    dt_argsort_stable_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "argsort", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_bool(&args[1], stable);
    options->dim.given ? dt__call_int(&args[2], options->dim.value) : dt__call_int(&args[2], -1);
    dt__call_bool(&args[3], options->descending);
    return dt__call_run(&call, DT__OP_argsort, options->site);
}

dt_tensor *dt_asin_sized(dt_tensor *self, const dt_asin_options *options, size_t options_size) {
    dt_asin_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "asin", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_asin, options->site);
}

dt_tensor *dt_asin_in_place_sized(dt_tensor *self, const dt_asin_in_place_options *options, size_t options_size) {
    dt_asin_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "asin_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_asin_, options->site);
}

dt_tensor *dt_atan_sized(dt_tensor *self, const dt_atan_options *options, size_t options_size) {
    dt_atan_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "atan", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_atan, options->site);
}

dt_tensor *dt_atan2_sized(dt_tensor *self, dt_tensor *other, const dt_atan2_options *options, size_t options_size) {
    dt_atan2_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "atan2", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_atan2, options->site);
}

dt_tensor *dt_atan2_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_atan2_in_place_options *options,
                                   size_t options_size) {
    dt_atan2_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "atan2_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_atan2_, options->site);
}

dt_tensor *dt_atan_in_place_sized(dt_tensor *self, const dt_atan_in_place_options *options, size_t options_size) {
    dt_atan_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "atan_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_atan_, options->site);
}

dt_attention_backward_result dt_attention_backward_sized(dt_tensor *grad_out, dt_tensor *query, dt_tensor *key,
                                                         dt_tensor *value, dt_tensor *out, dt_tensor *logsumexp,
                                                         const dt_attention_backward_options *options,
                                                         size_t options_size) {
    dt_attention_backward_options full;
    dt__call call;
    dt_arg args[13];
    dt_ctx *ctx = dt_tensor_ctx(grad_out);
    options = DT__OPTIONS(ctx, "attention_backward", options, options_size, &full);
    if (!options)
        return (dt_attention_backward_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_out);
    dt__call_tensor(&args[1], &call, query);
    dt__call_tensor(&args[2], &call, key);
    dt__call_tensor(&args[3], &call, value);
    dt__call_tensor(&args[4], &call, out);
    dt__call_tensor(&args[5], &call, logsumexp);
    options->attn_mask ? dt__call_tensor(&args[6], &call, options->attn_mask) : dt__call_none(&args[6]);
    dt__call_bool(&args[7], options->is_causal);
    options->scale.given ? dt__call_real(&args[8], options->scale.value) : dt__call_none(&args[8]);
    dt__call_bool(&args[9], options->enable_gqa);
    options->dropout_p.given ? dt__call_real(&args[10], options->dropout_p.value) : dt__call_real(&args[10], 0.0);
    dt__call_int(&args[11], options->seed);
    dt__call_int(&args[12], options->draw);
    dt_tensor *outputs[3];
    dt__call_run_tuple(&call, DT__OP_attention_backward, options->site, outputs, 3);
    return (dt_attention_backward_result){outputs[0], outputs[1], outputs[2]};
}

dt_tensor *dt_attention_mask_backward_sized(dt_tensor *grad_out, dt_tensor *query, dt_tensor *key, dt_tensor *value,
                                            dt_tensor *out, dt_tensor *logsumexp,
                                            const dt_attention_mask_backward_options *options, size_t options_size) {
    dt_attention_mask_backward_options full;
    dt__call call;
    dt_arg args[13];
    dt_ctx *ctx = dt_tensor_ctx(grad_out);
    options = DT__OPTIONS(ctx, "attention_mask_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_out);
    dt__call_tensor(&args[1], &call, query);
    dt__call_tensor(&args[2], &call, key);
    dt__call_tensor(&args[3], &call, value);
    dt__call_tensor(&args[4], &call, out);
    dt__call_tensor(&args[5], &call, logsumexp);
    options->attn_mask ? dt__call_tensor(&args[6], &call, options->attn_mask) : dt__call_none(&args[6]);
    dt__call_bool(&args[7], options->is_causal);
    options->scale.given ? dt__call_real(&args[8], options->scale.value) : dt__call_none(&args[8]);
    dt__call_bool(&args[9], options->enable_gqa);
    options->dropout_p.given ? dt__call_real(&args[10], options->dropout_p.value) : dt__call_real(&args[10], 0.0);
    dt__call_int(&args[11], options->seed);
    dt__call_int(&args[12], options->draw);
    return dt__call_run(&call, DT__OP_attention_mask_backward, options->site);
}

dt_tensor *dt_baddbmm_sized(dt_tensor *self, dt_tensor *batch1, dt_tensor *batch2, const dt_baddbmm_options *options,
                            size_t options_size) {
    dt_baddbmm_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "baddbmm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, batch1);
    dt__call_tensor(&args[2], &call, batch2);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_baddbmm, options->site);
}

dt_tensor *dt_baddbmm_in_place_sized(dt_tensor *self, dt_tensor *batch1, dt_tensor *batch2,
                                     const dt_baddbmm_in_place_options *options, size_t options_size) {
    dt_baddbmm_in_place_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "baddbmm_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, batch1);
    dt__call_tensor(&args[2], &call, batch2);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[3], options->beta)
                                      : dt__call_number(&args[3], dt_number_int(1));
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_baddbmm_, options->site);
}

dt_tensor *dt_bfloat16_sized(dt_tensor *self, const dt_bfloat16_options *options, size_t options_size) {
    dt_bfloat16_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bfloat16", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_bfloat16, options->site);
}

dt_tensor *dt_binary_cross_entropy_sized(dt_tensor *input, dt_tensor *target,
                                         const dt_binary_cross_entropy_options *options, size_t options_size) {
    dt_binary_cross_entropy_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "binary_cross_entropy", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, target);
    options->weight ? dt__call_tensor(&args[2], &call, options->weight) : dt__call_none(&args[2]);
    options->reduction ? dt__call_text(&args[3], options->reduction) : dt__call_text(&args[3], "mean");
    return dt__call_run(&call, DT__OP_binary_cross_entropy, options->site);
}

dt_tensor *dt_binary_cross_entropy_with_logits_sized(dt_tensor *input, dt_tensor *target,
                                                     const dt_binary_cross_entropy_with_logits_options *options,
                                                     size_t options_size) {
    dt_binary_cross_entropy_with_logits_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "binary_cross_entropy_with_logits", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, target);
    options->weight ? dt__call_tensor(&args[2], &call, options->weight) : dt__call_none(&args[2]);
    options->reduction ? dt__call_text(&args[3], options->reduction) : dt__call_text(&args[3], "mean");
    options->pos_weight ? dt__call_tensor(&args[4], &call, options->pos_weight) : dt__call_none(&args[4]);
    return dt__call_run(&call, DT__OP_binary_cross_entropy_with_logits, options->site);
}

dt_tensor *dt_bitwise_and_sized(dt_tensor *self, dt_tensor *other, const dt_bitwise_and_options *options,
                                size_t options_size) {
    dt_bitwise_and_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_and", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_bitwise_and, options->site);
}

dt_tensor *dt_bitwise_and_scalar_other_sized(dt_tensor *self, dt_number other,
                                             const dt_bitwise_and_scalar_other_options *options,
                                             size_t options_size) {
    dt_bitwise_and_scalar_other_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_and", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_bitwise_and, options->site);
}

dt_tensor *dt_bitwise_and_scalar_self_sized(dt_number self, dt_tensor *other,
                                            const dt_bitwise_and_scalar_self_options *options, size_t options_size) {
    dt_bitwise_and_scalar_self_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(other);
    options = DT__OPTIONS(ctx, "bitwise_and", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_number(&args[0], self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_bitwise_and, options->site);
}

dt_tensor *dt_bitwise_and_in_place_sized(dt_tensor *self, dt_tensor *other,
                                         const dt_bitwise_and_in_place_options *options, size_t options_size) {
    dt_bitwise_and_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_and_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_bitwise_and_, options->site);
}

dt_tensor *dt_bitwise_and_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                const dt_bitwise_and_scalar_in_place_options *options,
                                                size_t options_size) {
    dt_bitwise_and_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_and_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_bitwise_and_, options->site);
}

dt_tensor *dt_bitwise_not_sized(dt_tensor *self, const dt_bitwise_not_options *options, size_t options_size) {
    dt_bitwise_not_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_not", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_bitwise_not, options->site);
}

dt_tensor *dt_bitwise_not_in_place_sized(dt_tensor *self, const dt_bitwise_not_in_place_options *options,
                                         size_t options_size) {
    dt_bitwise_not_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_not_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_bitwise_not_, options->site);
}

dt_tensor *dt_bitwise_or_sized(dt_tensor *self, dt_tensor *other, const dt_bitwise_or_options *options,
                               size_t options_size) {
    dt_bitwise_or_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_or", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_bitwise_or, options->site);
}

dt_tensor *dt_bitwise_or_scalar_other_sized(dt_tensor *self, dt_number other,
                                            const dt_bitwise_or_scalar_other_options *options, size_t options_size) {
    dt_bitwise_or_scalar_other_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_or", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_bitwise_or, options->site);
}

dt_tensor *dt_bitwise_or_scalar_self_sized(dt_number self, dt_tensor *other,
                                           const dt_bitwise_or_scalar_self_options *options, size_t options_size) {
    dt_bitwise_or_scalar_self_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(other);
    options = DT__OPTIONS(ctx, "bitwise_or", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_number(&args[0], self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_bitwise_or, options->site);
}

dt_tensor *dt_bitwise_or_in_place_sized(dt_tensor *self, dt_tensor *other,
                                        const dt_bitwise_or_in_place_options *options, size_t options_size) {
    dt_bitwise_or_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_or_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_bitwise_or_, options->site);
}

dt_tensor *dt_bitwise_or_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                               const dt_bitwise_or_scalar_in_place_options *options,
                                               size_t options_size) {
    dt_bitwise_or_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_or_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_bitwise_or_, options->site);
}

dt_tensor *dt_bitwise_xor_sized(dt_tensor *self, dt_tensor *other, const dt_bitwise_xor_options *options,
                                size_t options_size) {
    dt_bitwise_xor_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_xor", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_bitwise_xor, options->site);
}

dt_tensor *dt_bitwise_xor_scalar_other_sized(dt_tensor *self, dt_number other,
                                             const dt_bitwise_xor_scalar_other_options *options,
                                             size_t options_size) {
    dt_bitwise_xor_scalar_other_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_xor", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_bitwise_xor, options->site);
}

dt_tensor *dt_bitwise_xor_scalar_self_sized(dt_number self, dt_tensor *other,
                                            const dt_bitwise_xor_scalar_self_options *options, size_t options_size) {
    dt_bitwise_xor_scalar_self_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(other);
    options = DT__OPTIONS(ctx, "bitwise_xor", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_number(&args[0], self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_bitwise_xor, options->site);
}

dt_tensor *dt_bitwise_xor_in_place_sized(dt_tensor *self, dt_tensor *other,
                                         const dt_bitwise_xor_in_place_options *options, size_t options_size) {
    dt_bitwise_xor_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_xor_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_bitwise_xor_, options->site);
}

dt_tensor *dt_bitwise_xor_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                const dt_bitwise_xor_scalar_in_place_options *options,
                                                size_t options_size) {
    dt_bitwise_xor_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bitwise_xor_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_bitwise_xor_, options->site);
}

dt_tensor *dt_bmm_sized(dt_tensor *self, dt_tensor *mat2, const dt_bmm_options *options, size_t options_size) {
    dt_bmm_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bmm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mat2);
    return dt__call_run(&call, DT__OP_bmm, options->site);
}

dt_tensor *dt_bool_sized(dt_tensor *self, const dt_bool_options *options, size_t options_size) {
    dt_bool_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "bool", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_bool, options->site);
}

dt_tensor *dt_broadcast_to_sized(dt_tensor *self, dt_shape size, const dt_broadcast_to_options *options,
                                 size_t options_size) {
    dt_broadcast_to_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "broadcast_to", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], size);
    return dt__call_run(&call, DT__OP_broadcast_to, options->site);
}

dt_tensor *dt_byte_sized(dt_tensor *self, const dt_byte_options *options, size_t options_size) {
    dt_byte_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "byte", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_byte, options->site);
}

dt_tensor *dt_cat_sized(dt_tensors tensors, const dt_cat_options *options, size_t options_size) {
    dt_cat_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(tensors);
    options = DT__OPTIONS(ctx, "cat", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, tensors);
    dt__call_int(&args[1], options->dim);
    return dt__call_run(&call, DT__OP_cat, options->site);
}

dt_tensor *dt_cdouble_sized(dt_tensor *self, const dt_cdouble_options *options, size_t options_size) {
    dt_cdouble_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cdouble", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_cdouble, options->site);
}

dt_tensor *dt_ceil_sized(dt_tensor *self, const dt_ceil_options *options, size_t options_size) {
    dt_ceil_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ceil", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_ceil, options->site);
}

dt_tensor *dt_ceil_in_place_sized(dt_tensor *self, const dt_ceil_in_place_options *options, size_t options_size) {
    dt_ceil_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ceil_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_ceil_, options->site);
}

dt_tensor *dt_celu_sized(dt_tensor *input, const dt_celu_options *options, size_t options_size) {
    dt_celu_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "celu", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->alpha.given ? dt__call_real(&args[1], options->alpha.value) : dt__call_real(&args[1], 1.0);
    return dt__call_run(&call, DT__OP_celu, options->site);
}

dt_tensor *dt_celu_in_place_sized(dt_tensor *input, const dt_celu_in_place_options *options, size_t options_size) {
    dt_celu_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "celu_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->alpha.given ? dt__call_real(&args[1], options->alpha.value) : dt__call_real(&args[1], 1.0);
    return dt__call_run(&call, DT__OP_celu_, options->site);
}

dt_tensor *dt_cfloat_sized(dt_tensor *self, const dt_cfloat_options *options, size_t options_size) {
    dt_cfloat_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cfloat", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_cfloat, options->site);
}

dt_tensor *dt_char_sized(dt_tensor *self, const dt_char_options *options, size_t options_size) {
    dt_char_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "char", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_char, options->site);
}

int dt_chunk_sized(dt_tensor *self, int64_t chunks, dt_tensor **out, int capacity, const dt_chunk_options *options,
                   size_t options_size) {
    dt_chunk_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "chunk", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], chunks);
    dt__call_int(&args[2], options->dim);
    return dt__call_run_list(&call, DT__OP_chunk, options->site, out, capacity);
}

dt_tensor *dt_clamp_sized(dt_tensor *self, const dt_clamp_options *options, size_t options_size) {
    dt_clamp_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->min.type != DT_ARG_NONE ? dt__call_number(&args[1], options->min) : dt__call_none(&args[1]);
    options->max.type != DT_ARG_NONE ? dt__call_number(&args[2], options->max) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_clamp, options->site);
}

dt_tensor *dt_clamp_tensor_sized(dt_tensor *self, const dt_clamp_tensor_options *options, size_t options_size) {
    dt_clamp_tensor_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    options->min ? dt__call_tensor(&args[1], &call, options->min) : dt__call_none(&args[1]);
    options->max ? dt__call_tensor(&args[2], &call, options->max) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_clamp, options->site);
}

dt_tensor *dt_clamp_in_place_sized(dt_tensor *self, const dt_clamp_in_place_options *options, size_t options_size) {
    dt_clamp_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->min.type != DT_ARG_NONE ? dt__call_number(&args[1], options->min) : dt__call_none(&args[1]);
    options->max.type != DT_ARG_NONE ? dt__call_number(&args[2], options->max) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_clamp_, options->site);
}

dt_tensor *dt_clamp_tensor_in_place_sized(dt_tensor *self, const dt_clamp_tensor_in_place_options *options,
                                          size_t options_size) {
    dt_clamp_tensor_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    options->min ? dt__call_tensor(&args[1], &call, options->min) : dt__call_none(&args[1]);
    options->max ? dt__call_tensor(&args[2], &call, options->max) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_clamp_, options->site);
}

dt_tensor *dt_clamp_max_sized(dt_tensor *self, dt_number max, const dt_clamp_max_options *options,
                              size_t options_size) {
    dt_clamp_max_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_max", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], max);
    return dt__call_run(&call, DT__OP_clamp_max, options->site);
}

dt_tensor *dt_clamp_max_tensor_sized(dt_tensor *self, dt_tensor *max, const dt_clamp_max_tensor_options *options,
                                     size_t options_size) {
    dt_clamp_max_tensor_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_max", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, max);
    return dt__call_run(&call, DT__OP_clamp_max, options->site);
}

dt_tensor *dt_clamp_max_in_place_sized(dt_tensor *self, dt_number max, const dt_clamp_max_in_place_options *options,
                                       size_t options_size) {
    dt_clamp_max_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_max_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], max);
    return dt__call_run(&call, DT__OP_clamp_max_, options->site);
}

dt_tensor *dt_clamp_max_tensor_in_place_sized(dt_tensor *self, dt_tensor *max,
                                              const dt_clamp_max_tensor_in_place_options *options,
                                              size_t options_size) {
    dt_clamp_max_tensor_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_max_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, max);
    return dt__call_run(&call, DT__OP_clamp_max_, options->site);
}

dt_tensor *dt_clamp_min_sized(dt_tensor *self, dt_number min, const dt_clamp_min_options *options,
                              size_t options_size) {
    dt_clamp_min_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_min", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], min);
    return dt__call_run(&call, DT__OP_clamp_min, options->site);
}

dt_tensor *dt_clamp_min_tensor_sized(dt_tensor *self, dt_tensor *min, const dt_clamp_min_tensor_options *options,
                                     size_t options_size) {
    dt_clamp_min_tensor_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_min", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, min);
    return dt__call_run(&call, DT__OP_clamp_min, options->site);
}

dt_tensor *dt_clamp_min_in_place_sized(dt_tensor *self, dt_number min, const dt_clamp_min_in_place_options *options,
                                       size_t options_size) {
    dt_clamp_min_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_min_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], min);
    return dt__call_run(&call, DT__OP_clamp_min_, options->site);
}

dt_tensor *dt_clamp_min_tensor_in_place_sized(dt_tensor *self, dt_tensor *min,
                                              const dt_clamp_min_tensor_in_place_options *options,
                                              size_t options_size) {
    dt_clamp_min_tensor_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clamp_min_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, min);
    return dt__call_run(&call, DT__OP_clamp_min_, options->site);
}

dt_tensor *dt_clone_sized(dt_tensor *self, const dt_clone_options *options, size_t options_size) {
    dt_clone_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "clone", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_clone, options->site);
}

dt_tensor *dt_conj_sized(dt_tensor *self, const dt_conj_options *options, size_t options_size) {
    dt_conj_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "conj", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_conj, options->site);
}

dt_tensor *dt_constant_pad_nd_sized(dt_tensor *self, dt_shape pad, const dt_constant_pad_nd_options *options,
                                    size_t options_size) {
    dt_constant_pad_nd_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "constant_pad_nd", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], pad);
    options->value.type != DT_ARG_NONE ? dt__call_number(&args[2], options->value)
                                       : dt__call_number(&args[2], dt_number_int(0));
    return dt__call_run(&call, DT__OP_constant_pad_nd, options->site);
}

dt_tensor *dt_contiguous_sized(dt_tensor *self, const dt_contiguous_options *options, size_t options_size) {
    dt_contiguous_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "contiguous", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_contiguous, options->site);
}

dt_tensor *dt_copy_in_place_sized(dt_tensor *self, dt_tensor *src, const dt_copy_in_place_options *options,
                                  size_t options_size) {
    dt_copy_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "copy_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, src);
    dt__call_bool(&args[2], false);
    return dt__call_run(&call, DT__OP_copy_, options->site);
}

dt_tensor *dt_cos_sized(dt_tensor *self, const dt_cos_options *options, size_t options_size) {
    dt_cos_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cos", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_cos, options->site);
}

dt_tensor *dt_cos_in_place_sized(dt_tensor *self, const dt_cos_in_place_options *options, size_t options_size) {
    dt_cos_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cos_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_cos_, options->site);
}

dt_tensor *dt_cosh_sized(dt_tensor *self, const dt_cosh_options *options, size_t options_size) {
    dt_cosh_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cosh", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_cosh, options->site);
}

dt_tensor *dt_cosh_in_place_sized(dt_tensor *self, const dt_cosh_in_place_options *options, size_t options_size) {
    dt_cosh_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cosh_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_cosh_, options->site);
}

dt_tensor *dt_count_nonzero_sized(dt_tensor *self, const dt_count_nonzero_options *options, size_t options_size) {
    dt_count_nonzero_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "count_nonzero", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.given ? dt__call_int(&args[1], options->dim.value) : dt__call_none(&args[1]);
    return dt__call_run(&call, DT__OP_count_nonzero, options->site);
}

dt_tensor *dt_count_nonzero_dim_int_list_sized(dt_tensor *self, dt_dims dim,
                                               const dt_count_nonzero_dim_int_list_options *options,
                                               size_t options_size) {
    dt_count_nonzero_dim_int_list_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "count_nonzero", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_dims(&args[1], dim);
    return dt__call_run(&call, DT__OP_count_nonzero, options->site);
}

dt_tensor *dt_cross_entropy_sized(dt_tensor *input, dt_tensor *target, const dt_cross_entropy_options *options,
                                  size_t options_size) {
    dt_cross_entropy_options full;
    dt__call call;
    dt_arg args[6];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "cross_entropy", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, target);
    options->weight ? dt__call_tensor(&args[2], &call, options->weight) : dt__call_none(&args[2]);
    options->ignore_index.given ? dt__call_int(&args[3], options->ignore_index.value) : dt__call_int(&args[3], -100);
    options->reduction ? dt__call_text(&args[4], options->reduction) : dt__call_text(&args[4], "mean");
    options->label_smoothing.given ? dt__call_real(&args[5], options->label_smoothing.value)
                                   : dt__call_real(&args[5], 0.0);
    return dt__call_run(&call, DT__OP_cross_entropy, options->site);
}

dt_tensor *dt_cross_entropy_backward_sized(dt_tensor *grad, dt_tensor *input, dt_tensor *target, dt_tensor *logsumexp,
                                           dt_tensor *total, const dt_cross_entropy_backward_options *options,
                                           size_t options_size) {
    dt_cross_entropy_backward_options full;
    dt__call call;
    dt_arg args[9];
    dt_ctx *ctx = dt_tensor_ctx(grad);
    options = DT__OPTIONS(ctx, "cross_entropy_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad);
    dt__call_tensor(&args[1], &call, input);
    dt__call_tensor(&args[2], &call, target);
    options->weight ? dt__call_tensor(&args[3], &call, options->weight) : dt__call_none(&args[3]);
    dt__call_tensor(&args[4], &call, logsumexp);
    dt__call_tensor(&args[5], &call, total);
    options->ignore_index.given ? dt__call_int(&args[6], options->ignore_index.value) : dt__call_int(&args[6], -100);
    options->reduction ? dt__call_text(&args[7], options->reduction) : dt__call_text(&args[7], "mean");
    options->label_smoothing.given ? dt__call_real(&args[8], options->label_smoothing.value)
                                   : dt__call_real(&args[8], 0.0);
    return dt__call_run(&call, DT__OP_cross_entropy_backward, options->site);
}

dt_cummax_result dt_cummax_sized(dt_tensor *self, int64_t dim, const dt_cummax_options *options,
                                 size_t options_size) {
    dt_cummax_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cummax", options, options_size, &full);
    if (!options)
        return (dt_cummax_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_cummax, options->site, outputs, 2);
    return (dt_cummax_result){outputs[0], outputs[1]};
}

dt_cummin_result dt_cummin_sized(dt_tensor *self, int64_t dim, const dt_cummin_options *options,
                                 size_t options_size) {
    dt_cummin_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cummin", options, options_size, &full);
    if (!options)
        return (dt_cummin_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_cummin, options->site, outputs, 2);
    return (dt_cummin_result){outputs[0], outputs[1]};
}

dt_tensor *dt_cumprod_sized(dt_tensor *self, int64_t dim, const dt_cumprod_options *options, size_t options_size) {
    dt_cumprod_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cumprod", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    options->dtype ? dt__call_dtype(&args[2], options->dtype) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_cumprod, options->site);
}

dt_tensor *dt_cumsum_sized(dt_tensor *self, int64_t dim, const dt_cumsum_options *options, size_t options_size) {
    dt_cumsum_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cumsum", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    options->dtype ? dt__call_dtype(&args[2], options->dtype) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_cumsum, options->site);
}

dt_tensor *dt_cumsum_in_place_sized(dt_tensor *self, int64_t dim, const dt_cumsum_in_place_options *options,
                                    size_t options_size) {
    dt_cumsum_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "cumsum_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    options->dtype ? dt__call_dtype(&args[2], options->dtype) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_cumsum_, options->site);
}

dt_tensor *dt_diag_sized(dt_tensor *self, const dt_diag_options *options, size_t options_size) {
    dt_diag_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "diag", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], options->diagonal);
    return dt__call_run(&call, DT__OP_diag, options->site);
}

dt_tensor *dt_diag_embed_sized(dt_tensor *self, const dt_diag_embed_options *options, size_t options_size) {
    dt_diag_embed_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "diag_embed", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], options->offset);
    options->dim1.given ? dt__call_int(&args[2], options->dim1.value) : dt__call_int(&args[2], -2);
    options->dim2.given ? dt__call_int(&args[3], options->dim2.value) : dt__call_int(&args[3], -1);
    return dt__call_run(&call, DT__OP_diag_embed, options->site);
}

dt_tensor *dt_diagonal_sized(dt_tensor *self, int64_t offset, int64_t dim1, int64_t dim2,
                             const dt_diagonal_options *options, size_t options_size) {
    dt_diagonal_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "diagonal", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], offset);
    dt__call_int(&args[2], dim1);
    dt__call_int(&args[3], dim2);
    return dt__call_run(&call, DT__OP_diagonal, options->site);
}

dt_tensor *dt_diagonal_backward_sized(dt_tensor *grad_output, dt_shape input_sizes, int64_t offset, int64_t dim1,
                                      int64_t dim2, const dt_diagonal_backward_options *options,
                                      size_t options_size) {
    dt_diagonal_backward_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "diagonal_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_sizes(&args[1], input_sizes);
    dt__call_int(&args[2], offset);
    dt__call_int(&args[3], dim1);
    dt__call_int(&args[4], dim2);
    return dt__call_run(&call, DT__OP_diagonal_backward, options->site);
}

dt_tensor *dt_diff_sized(dt_tensor *self, const dt_diff_options *options, size_t options_size) {
    dt_diff_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "diff", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->n.given ? dt__call_int(&args[1], options->n.value) : dt__call_int(&args[1], 1);
    options->dim.given ? dt__call_int(&args[2], options->dim.value) : dt__call_int(&args[2], -1);
    options->prepend ? dt__call_tensor(&args[3], &call, options->prepend) : dt__call_none(&args[3]);
    options->append ? dt__call_tensor(&args[4], &call, options->append) : dt__call_none(&args[4]);
    return dt__call_run(&call, DT__OP_diff, options->site);
}

dt_tensor *dt_div_sized(dt_tensor *self, dt_tensor *other, const dt_div_options *options, size_t options_size) {
    dt_div_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "div", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    options->rounding_mode ? dt__call_text(&args[2], options->rounding_mode) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_div, options->site);
}

dt_tensor *dt_div_scalar_sized(dt_tensor *self, dt_number other, const dt_div_scalar_options *options,
                               size_t options_size) {
    dt_div_scalar_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "div", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 3, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    options->rounding_mode ? dt__call_text(&args[2], options->rounding_mode) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_div, options->site);
}

dt_tensor *dt_div_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_div_in_place_options *options,
                                 size_t options_size) {
    dt_div_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "div_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    options->rounding_mode ? dt__call_text(&args[2], options->rounding_mode) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_div_, options->site);
}

dt_tensor *dt_div_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                        const dt_div_scalar_in_place_options *options, size_t options_size) {
    dt_div_scalar_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "div_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 3, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    options->rounding_mode ? dt__call_text(&args[2], options->rounding_mode) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_div_, options->site);
}

dt_tensor *dt_dot_sized(dt_tensor *self, dt_tensor *tensor, const dt_dot_options *options, size_t options_size) {
    dt_dot_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "dot", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, tensor);
    return dt__call_run(&call, DT__OP_dot, options->site);
}

dt_tensor *dt_double_sized(dt_tensor *self, const dt_double_options *options, size_t options_size) {
    dt_double_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "double", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_double, options->site);
}

dt_tensor *dt_dropout_sized(dt_tensor *input, const dt_dropout_options *options, size_t options_size) {
    dt_dropout_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "dropout", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->p.given ? dt__call_real(&args[1], options->p.value) : dt__call_real(&args[1], 0.5);
    options->training.given ? dt__call_bool(&args[2], options->training.value) : dt__call_bool(&args[2], true);
    return dt__call_run(&call, DT__OP_dropout, options->site);
}

dt_tensor *dt_elu_sized(dt_tensor *input, const dt_elu_options *options, size_t options_size) {
    dt_elu_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "elu", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->alpha.given ? dt__call_real(&args[1], options->alpha.value) : dt__call_real(&args[1], 1.0);
    return dt__call_run(&call, DT__OP_elu, options->site);
}

dt_tensor *dt_elu_in_place_sized(dt_tensor *input, const dt_elu_in_place_options *options, size_t options_size) {
    dt_elu_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "elu_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->alpha.given ? dt__call_real(&args[1], options->alpha.value) : dt__call_real(&args[1], 1.0);
    return dt__call_run(&call, DT__OP_elu_, options->site);
}

dt_tensor *dt_embedding_sized(dt_tensor *input, dt_tensor *weight, const dt_embedding_options *options,
                              size_t options_size) {
    dt_embedding_options full;
    dt__call call;
    dt_arg args[6];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "embedding", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, weight);
    options->padding_idx.given ? dt__call_int(&args[2], options->padding_idx.value) : dt__call_none(&args[2]);
    dt__call_none(&args[3]);
    dt__call_real(&args[4], 2.0);
    dt__call_bool(&args[5], false);
    return dt__call_run(&call, DT__OP_embedding, options->site);
}

dt_tensor *dt_embedding_dense_backward_sized(dt_tensor *grad_output, dt_tensor *indices, int64_t num_weights,
                                             const dt_embedding_dense_backward_options *options,
                                             size_t options_size) {
    dt_embedding_dense_backward_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "embedding_dense_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, indices);
    dt__call_int(&args[2], num_weights);
    options->padding_idx.given ? dt__call_int(&args[3], options->padding_idx.value) : dt__call_none(&args[3]);
    dt__call_bool(&args[4], options->scale_grad_by_freq);
    return dt__call_run(&call, DT__OP_embedding_dense_backward, options->site);
}

dt_tensor *dt_empty_sized(dt_ctx *ctx, dt_shape size, const dt_make_options *options, size_t options_size) {
    dt_make_options full;
    dt__call call;
    dt_arg args[2];
    options = DT__OPTIONS(ctx, "empty", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_sizes(&args[0], size);
    dt__call_dtype(&args[1], options->dtype ? options->dtype : DT_F32);
    call.maker = &(dt__maker_place){options->mesh, options->place, options->requires_grad, options->use};
    return dt__call_run(&call, DT__OP_empty, options->site);
}

dt_tensor *dt_empty_like_sized(dt_tensor *self, const dt_empty_like_options *options, size_t options_size) {
    dt_empty_like_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "empty_like", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dtype ? dt__call_dtype(&args[1], options->dtype) : dt__call_none(&args[1]);
    return dt__call_run(&call, DT__OP_empty_like, options->site);
}

dt_tensor *dt_eq_sized(dt_tensor *self, dt_tensor *other, const dt_eq_options *options, size_t options_size) {
    dt_eq_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "eq", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_eq, options->site);
}

dt_tensor *dt_eq_scalar_sized(dt_tensor *self, dt_number other, const dt_eq_scalar_options *options,
                              size_t options_size) {
    dt_eq_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "eq", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_eq, options->site);
}

dt_tensor *dt_eq_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_eq_in_place_options *options,
                                size_t options_size) {
    dt_eq_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "eq_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_eq_, options->site);
}

dt_tensor *dt_eq_scalar_in_place_sized(dt_tensor *self, dt_number other, const dt_eq_scalar_in_place_options *options,
                                       size_t options_size) {
    dt_eq_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "eq_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_eq_, options->site);
}

dt_tensor *dt_equal_sized(dt_tensor *self, dt_tensor *other, const dt_equal_options *options, size_t options_size) {
    dt_equal_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "equal", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_equal, options->site);
}

dt_tensor *dt_erf_sized(dt_tensor *self, const dt_erf_options *options, size_t options_size) {
    dt_erf_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "erf", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_erf, options->site);
}

dt_tensor *dt_erf_in_place_sized(dt_tensor *self, const dt_erf_in_place_options *options, size_t options_size) {
    dt_erf_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "erf_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_erf_, options->site);
}

dt_tensor *dt_erfc_sized(dt_tensor *self, const dt_erfc_options *options, size_t options_size) {
    dt_erfc_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "erfc", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_erfc, options->site);
}

dt_tensor *dt_erfc_in_place_sized(dt_tensor *self, const dt_erfc_in_place_options *options, size_t options_size) {
    dt_erfc_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "erfc_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_erfc_, options->site);
}

dt_tensor *dt_exp_sized(dt_tensor *self, const dt_exp_options *options, size_t options_size) {
    dt_exp_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "exp", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_exp, options->site);
}

dt_tensor *dt_exp2_sized(dt_tensor *self, const dt_exp2_options *options, size_t options_size) {
    dt_exp2_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "exp2", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_exp2, options->site);
}

dt_tensor *dt_exp2_in_place_sized(dt_tensor *self, const dt_exp2_in_place_options *options, size_t options_size) {
    dt_exp2_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "exp2_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_exp2_, options->site);
}

dt_tensor *dt_exp_in_place_sized(dt_tensor *self, const dt_exp_in_place_options *options, size_t options_size) {
    dt_exp_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "exp_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_exp_, options->site);
}

dt_tensor *dt_expand_sized(dt_tensor *self, dt_shape size, const dt_expand_options *options, size_t options_size) {
    dt_expand_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "expand", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], size);
    dt__call_bool(&args[2], false);
    return dt__call_run(&call, DT__OP_expand, options->site);
}

dt_tensor *dt_expand_as_sized(dt_tensor *self, dt_tensor *other, const dt_expand_as_options *options,
                              size_t options_size) {
    dt_expand_as_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "expand_as", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_expand_as, options->site);
}

dt_tensor *dt_expm1_sized(dt_tensor *self, const dt_expm1_options *options, size_t options_size) {
    dt_expm1_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "expm1", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_expm1, options->site);
}

dt_tensor *dt_expm1_in_place_sized(dt_tensor *self, const dt_expm1_in_place_options *options, size_t options_size) {
    dt_expm1_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "expm1_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_expm1_, options->site);
}

dt_tensor *dt_eye_sized(dt_ctx *ctx, int64_t n, int64_t m, const dt_make_options *options, size_t options_size) {
    dt_make_options full;
    dt__call call;
    dt_arg args[3];
    options = DT__OPTIONS(ctx, "eye", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_int(&args[0], n);
    dt__call_int(&args[1], m);
    dt__call_dtype(&args[2], options->dtype ? options->dtype : DT_F32);
    call.maker = &(dt__maker_place){options->mesh, options->place, options->requires_grad, options->use};
    return dt__call_run(&call, DT__OP_eye, options->site);
}

dt_tensor *dt_fill_sized(dt_tensor *self, dt_number value, const dt_fill_options *options, size_t options_size) {
    dt_fill_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fill", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], value);
    return dt__call_run(&call, DT__OP_fill, options->site);
}

dt_tensor *dt_fill_tensor_sized(dt_tensor *self, dt_tensor *value, const dt_fill_tensor_options *options,
                                size_t options_size) {
    dt_fill_tensor_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fill", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, value);
    return dt__call_run(&call, DT__OP_fill, options->site);
}

dt_tensor *dt_fill_in_place_sized(dt_tensor *self, dt_number value, const dt_fill_in_place_options *options,
                                  size_t options_size) {
    dt_fill_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fill_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], value);
    return dt__call_run(&call, DT__OP_fill_, options->site);
}

dt_tensor *dt_fill_tensor_in_place_sized(dt_tensor *self, dt_tensor *value,
                                         const dt_fill_tensor_in_place_options *options, size_t options_size) {
    dt_fill_tensor_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fill_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, value);
    return dt__call_run(&call, DT__OP_fill_, options->site);
}

dt_tensor *dt_flatten_sized(dt_tensor *self, const dt_flatten_options *options, size_t options_size) {
    dt_flatten_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "flatten", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], options->start_dim);
    options->end_dim.given ? dt__call_int(&args[2], options->end_dim.value) : dt__call_int(&args[2], -1);
    return dt__call_run(&call, DT__OP_flatten, options->site);
}

dt_tensor *dt_flip_sized(dt_tensor *self, dt_dims dims, const dt_flip_options *options, size_t options_size) {
    dt_flip_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "flip", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_dims(&args[1], dims);
    return dt__call_run(&call, DT__OP_flip, options->site);
}

dt_tensor *dt_float_sized(dt_tensor *self, const dt_float_options *options, size_t options_size) {
    dt_float_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "float", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_float, options->site);
}

dt_tensor *dt_floor_sized(dt_tensor *self, const dt_floor_options *options, size_t options_size) {
    dt_floor_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "floor", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_floor, options->site);
}

dt_tensor *dt_floor_in_place_sized(dt_tensor *self, const dt_floor_in_place_options *options, size_t options_size) {
    dt_floor_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "floor_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_floor_, options->site);
}

dt_tensor *dt_floor_divide_sized(dt_tensor *self, dt_tensor *other, const dt_floor_divide_options *options,
                                 size_t options_size) {
    dt_floor_divide_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "floor_divide", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_floor_divide, options->site);
}

dt_tensor *dt_floor_divide_scalar_sized(dt_tensor *self, dt_number other,
                                        const dt_floor_divide_scalar_options *options, size_t options_size) {
    dt_floor_divide_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "floor_divide", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_floor_divide, options->site);
}

dt_tensor *dt_floor_divide_in_place_sized(dt_tensor *self, dt_tensor *other,
                                          const dt_floor_divide_in_place_options *options, size_t options_size) {
    dt_floor_divide_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "floor_divide_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_floor_divide_, options->site);
}

dt_tensor *dt_floor_divide_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                                 const dt_floor_divide_scalar_in_place_options *options,
                                                 size_t options_size) {
    dt_floor_divide_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "floor_divide_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_floor_divide_, options->site);
}

dt_tensor *dt_fmax_sized(dt_tensor *self, dt_tensor *other, const dt_fmax_options *options, size_t options_size) {
    dt_fmax_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fmax", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_fmax, options->site);
}

dt_tensor *dt_fmin_sized(dt_tensor *self, dt_tensor *other, const dt_fmin_options *options, size_t options_size) {
    dt_fmin_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fmin", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_fmin, options->site);
}

dt_tensor *dt_fmod_sized(dt_tensor *self, dt_tensor *other, const dt_fmod_options *options, size_t options_size) {
    dt_fmod_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fmod", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_fmod, options->site);
}

dt_tensor *dt_fmod_scalar_sized(dt_tensor *self, dt_number other, const dt_fmod_scalar_options *options,
                                size_t options_size) {
    dt_fmod_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fmod", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_fmod, options->site);
}

dt_tensor *dt_fmod_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_fmod_in_place_options *options,
                                  size_t options_size) {
    dt_fmod_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fmod_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_fmod_, options->site);
}

dt_tensor *dt_fmod_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                         const dt_fmod_scalar_in_place_options *options, size_t options_size) {
    dt_fmod_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "fmod_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_fmod_, options->site);
}

dt_tensor *dt_frac_sized(dt_tensor *self, const dt_frac_options *options, size_t options_size) {
    dt_frac_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "frac", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_frac, options->site);
}

dt_tensor *dt_frac_in_place_sized(dt_tensor *self, const dt_frac_in_place_options *options, size_t options_size) {
    dt_frac_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "frac_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_frac_, options->site);
}

dt_tensor *dt_full_sized(dt_ctx *ctx, dt_shape size, dt_number fill_value, const dt_make_options *options,
                         size_t options_size) {
    dt_make_options full;
    dt__call call;
    dt_arg args[3];
    options = DT__OPTIONS(ctx, "full", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_sizes(&args[0], size);
    dt__call_number(&args[1], fill_value);
    dt__call_dtype(&args[2], options->dtype ? options->dtype : DT_F32);
    call.maker = &(dt__maker_place){options->mesh, options->place, options->requires_grad, options->use};
    return dt__call_run(&call, DT__OP_full, options->site);
}

dt_tensor *dt_full_like_sized(dt_tensor *self, dt_number fill_value, const dt_full_like_options *options,
                              size_t options_size) {
    dt_full_like_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "full_like", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], fill_value);
    options->dtype ? dt__call_dtype(&args[2], options->dtype) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_full_like, options->site);
}

dt_tensor *dt_gather_sized(dt_tensor *self, int64_t dim, dt_tensor *index, const dt_gather_options *options,
                           size_t options_size) {
    dt_gather_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "gather", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_bool(&args[3], false);
    return dt__call_run(&call, DT__OP_gather, options->site);
}

dt_tensor *dt_gather_backward_sized(dt_tensor *grad, dt_tensor *index, dt_shape sizes, int64_t dim,
                                    const dt_gather_backward_options *options, size_t options_size) {
    dt_gather_backward_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(grad);
    options = DT__OPTIONS(ctx, "gather_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad);
    dt__call_tensor(&args[1], &call, index);
    dt__call_sizes(&args[2], sizes);
    dt__call_int(&args[3], dim);
    return dt__call_run(&call, DT__OP_gather_backward, options->site);
}

dt_tensor *dt_ge_sized(dt_tensor *self, dt_tensor *other, const dt_ge_options *options, size_t options_size) {
    dt_ge_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ge", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_ge, options->site);
}

dt_tensor *dt_ge_scalar_sized(dt_tensor *self, dt_number other, const dt_ge_scalar_options *options,
                              size_t options_size) {
    dt_ge_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ge", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_ge, options->site);
}

dt_tensor *dt_ge_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_ge_in_place_options *options,
                                size_t options_size) {
    dt_ge_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ge_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_ge_, options->site);
}

dt_tensor *dt_ge_scalar_in_place_sized(dt_tensor *self, dt_number other, const dt_ge_scalar_in_place_options *options,
                                       size_t options_size) {
    dt_ge_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ge_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_ge_, options->site);
}

dt_tensor *dt_gelu_sized(dt_tensor *self, const dt_gelu_options *options, size_t options_size) {
    dt_gelu_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "gelu", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->approximate ? dt__call_text(&args[1], options->approximate) : dt__call_text(&args[1], "none");
    return dt__call_run(&call, DT__OP_gelu, options->site);
}

dt_tensor *dt_gelu_backward_sized(dt_tensor *grad_output, dt_tensor *self, const dt_gelu_backward_options *options,
                                  size_t options_size) {
    dt_gelu_backward_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "gelu_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, self);
    options->approximate ? dt__call_text(&args[2], options->approximate) : dt__call_text(&args[2], "none");
    return dt__call_run(&call, DT__OP_gelu_backward, options->site);
}

dt_tensor *dt_glu_sized(dt_tensor *input, const dt_glu_options *options, size_t options_size) {
    dt_glu_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "glu", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->dim.given ? dt__call_int(&args[1], options->dim.value) : dt__call_int(&args[1], -1);
    return dt__call_run(&call, DT__OP_glu, options->site);
}

dt_tensor *dt_gt_sized(dt_tensor *self, dt_tensor *other, const dt_gt_options *options, size_t options_size) {
    dt_gt_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "gt", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_gt, options->site);
}

dt_tensor *dt_gt_scalar_sized(dt_tensor *self, dt_number other, const dt_gt_scalar_options *options,
                              size_t options_size) {
    dt_gt_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "gt", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_gt, options->site);
}

dt_tensor *dt_gt_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_gt_in_place_options *options,
                                size_t options_size) {
    dt_gt_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "gt_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_gt_, options->site);
}

dt_tensor *dt_gt_scalar_in_place_sized(dt_tensor *self, dt_number other, const dt_gt_scalar_in_place_options *options,
                                       size_t options_size) {
    dt_gt_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "gt_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_gt_, options->site);
}

dt_tensor *dt_half_sized(dt_tensor *self, const dt_half_options *options, size_t options_size) {
    dt_half_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "half", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_half, options->site);
}

dt_tensor *dt_hardshrink_sized(dt_tensor *self, const dt_hardshrink_options *options, size_t options_size) {
    dt_hardshrink_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "hardshrink", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->lambd.type != DT_ARG_NONE ? dt__call_number(&args[1], options->lambd)
                                       : dt__call_number(&args[1], dt_number_real(0.5));
    return dt__call_run(&call, DT__OP_hardshrink, options->site);
}

dt_tensor *dt_hardsigmoid_sized(dt_tensor *input, const dt_hardsigmoid_options *options, size_t options_size) {
    dt_hardsigmoid_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "hardsigmoid", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_hardsigmoid, options->site);
}

dt_tensor *dt_hardsigmoid_in_place_sized(dt_tensor *input, const dt_hardsigmoid_in_place_options *options,
                                         size_t options_size) {
    dt_hardsigmoid_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "hardsigmoid_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_hardsigmoid_, options->site);
}

dt_tensor *dt_hardswish_sized(dt_tensor *input, const dt_hardswish_options *options, size_t options_size) {
    dt_hardswish_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "hardswish", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_hardswish, options->site);
}

dt_tensor *dt_hardswish_in_place_sized(dt_tensor *input, const dt_hardswish_in_place_options *options,
                                       size_t options_size) {
    dt_hardswish_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "hardswish_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_hardswish_, options->site);
}

dt_tensor *dt_hardtanh_sized(dt_tensor *input, const dt_hardtanh_options *options, size_t options_size) {
    dt_hardtanh_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "hardtanh", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->min_val.given ? dt__call_real(&args[1], options->min_val.value) : dt__call_real(&args[1], -1.0);
    options->max_val.given ? dt__call_real(&args[2], options->max_val.value) : dt__call_real(&args[2], 1.0);
    return dt__call_run(&call, DT__OP_hardtanh, options->site);
}

dt_tensor *dt_hardtanh_in_place_sized(dt_tensor *input, const dt_hardtanh_in_place_options *options,
                                      size_t options_size) {
    dt_hardtanh_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "hardtanh_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->min_val.given ? dt__call_real(&args[1], options->min_val.value) : dt__call_real(&args[1], -1.0);
    options->max_val.given ? dt__call_real(&args[2], options->max_val.value) : dt__call_real(&args[2], 1.0);
    return dt__call_run(&call, DT__OP_hardtanh_, options->site);
}

dt_tensor *dt_hstack_sized(dt_tensors tensors, const dt_hstack_options *options, size_t options_size) {
    dt_hstack_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt__ctx_of_list(tensors);
    options = DT__OPTIONS(ctx, "hstack", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, tensors);
    return dt__call_run(&call, DT__OP_hstack, options->site);
}

dt_tensor *dt_huber_loss_sized(dt_tensor *input, dt_tensor *target, const dt_huber_loss_options *options,
                               size_t options_size) {
    dt_huber_loss_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "huber_loss", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, target);
    options->reduction ? dt__call_text(&args[2], options->reduction) : dt__call_text(&args[2], "mean");
    options->delta.given ? dt__call_real(&args[3], options->delta.value) : dt__call_real(&args[3], 1.0);
    options->weight ? dt__call_tensor(&args[4], &call, options->weight) : dt__call_none(&args[4]);
    return dt__call_run(&call, DT__OP_huber_loss, options->site);
}

dt_tensor *dt_index_sized(dt_tensor *self, dt_tensors indices, const dt_index_options *options, size_t options_size) {
    dt_index_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_optional_tensors(&args[1], &call, indices);
    return dt__call_run(&call, DT__OP_index, options->site);
}

dt_tensor *dt_index_add_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                              const dt_index_add_options *options, size_t options_size) {
    dt_index_add_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index_add", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, source);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_index_add, options->site);
}

dt_tensor *dt_index_add_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                                       const dt_index_add_in_place_options *options, size_t options_size) {
    dt_index_add_in_place_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index_add_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, source);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[4], options->alpha)
                                       : dt__call_number(&args[4], dt_number_int(1));
    return dt__call_run(&call, DT__OP_index_add_, options->site);
}

dt_tensor *dt_index_backward_sized(dt_tensor *grad, dt_tensors indices, dt_shape sizes,
                                   const dt_index_backward_options *options, size_t options_size) {
    dt_index_backward_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(grad);
    options = DT__OPTIONS(ctx, "index_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad);
    dt__call_optional_tensors(&args[1], &call, indices);
    dt__call_sizes(&args[2], sizes);
    return dt__call_run(&call, DT__OP_index_backward, options->site);
}

dt_tensor *dt_index_copy_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                               const dt_index_copy_options *options, size_t options_size) {
    dt_index_copy_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index_copy", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, source);
    return dt__call_run(&call, DT__OP_index_copy, options->site);
}

dt_tensor *dt_index_copy_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *source,
                                        const dt_index_copy_in_place_options *options, size_t options_size) {
    dt_index_copy_in_place_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index_copy_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, source);
    return dt__call_run(&call, DT__OP_index_copy_, options->site);
}

dt_tensor *dt_index_fill_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_number value,
                               const dt_index_fill_options *options, size_t options_size) {
    dt_index_fill_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index_fill", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_number(&args[3], value);
    return dt__call_run(&call, DT__OP_index_fill, options->site);
}

dt_tensor *dt_index_fill_tensor_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *value,
                                      const dt_index_fill_tensor_options *options, size_t options_size) {
    dt_index_fill_tensor_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index_fill", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, value);
    return dt__call_run(&call, DT__OP_index_fill, options->site);
}

dt_tensor *dt_index_fill_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_number value,
                                        const dt_index_fill_in_place_options *options, size_t options_size) {
    dt_index_fill_in_place_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index_fill_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_number(&args[3], value);
    return dt__call_run(&call, DT__OP_index_fill_, options->site);
}

dt_tensor *dt_index_fill_tensor_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *value,
                                               const dt_index_fill_tensor_in_place_options *options,
                                               size_t options_size) {
    dt_index_fill_tensor_in_place_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index_fill_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, value);
    return dt__call_run(&call, DT__OP_index_fill_, options->site);
}

dt_tensor *dt_index_select_sized(dt_tensor *self, int64_t dim, dt_tensor *index,
                                 const dt_index_select_options *options, size_t options_size) {
    dt_index_select_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "index_select", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    return dt__call_run(&call, DT__OP_index_select, options->site);
}

dt_tensor *dt_index_select_backward_sized(dt_tensor *grad, dt_tensor *index, dt_shape self_sizes, int64_t dim,
                                          const dt_index_select_backward_options *options, size_t options_size) {
    dt_index_select_backward_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(grad);
    options = DT__OPTIONS(ctx, "index_select_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad);
    dt__call_tensor(&args[1], &call, index);
    dt__call_sizes(&args[2], self_sizes);
    dt__call_int(&args[3], dim);
    return dt__call_run(&call, DT__OP_index_select_backward, options->site);
}

dt_tensor *dt_int_sized(dt_tensor *self, const dt_int_options *options, size_t options_size) {
    dt_int_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "int", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_int, options->site);
}

dt_tensor *dt_isclose_sized(dt_tensor *self, dt_tensor *other, const dt_isclose_options *options,
                            size_t options_size) {
    dt_isclose_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "isclose", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    options->rtol.given ? dt__call_real(&args[2], options->rtol.value) : dt__call_real(&args[2], 1e-05);
    options->atol.given ? dt__call_real(&args[3], options->atol.value) : dt__call_real(&args[3], 1e-08);
    dt__call_bool(&args[4], options->equal_nan);
    return dt__call_run(&call, DT__OP_isclose, options->site);
}

dt_tensor *dt_isfinite_sized(dt_tensor *self, const dt_isfinite_options *options, size_t options_size) {
    dt_isfinite_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "isfinite", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_isfinite, options->site);
}

dt_tensor *dt_isinf_sized(dt_tensor *self, const dt_isinf_options *options, size_t options_size) {
    dt_isinf_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "isinf", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_isinf, options->site);
}

dt_tensor *dt_isnan_sized(dt_tensor *self, const dt_isnan_options *options, size_t options_size) {
    dt_isnan_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "isnan", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_isnan, options->site);
}

dt_tensor *dt_kl_div_sized(dt_tensor *input, dt_tensor *target, const dt_kl_div_options *options,
                           size_t options_size) {
    dt_kl_div_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "kl_div", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, target);
    options->reduction ? dt__call_text(&args[2], options->reduction) : dt__call_text(&args[2], "mean");
    dt__call_bool(&args[3], options->log_target);
    return dt__call_run(&call, DT__OP_kl_div, options->site);
}

dt_kthvalue_result dt_kthvalue_sized(dt_tensor *self, int64_t k, const dt_kthvalue_options *options,
                                     size_t options_size) {
    dt_kthvalue_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "kthvalue", options, options_size, &full);
    if (!options)
        return (dt_kthvalue_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], k);
    options->dim.given ? dt__call_int(&args[2], options->dim.value) : dt__call_int(&args[2], -1);
    dt__call_bool(&args[3], options->keepdim);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_kthvalue, options->site, outputs, 2);
    return (dt_kthvalue_result){outputs[0], outputs[1]};
}

dt_tensor *dt_l1_loss_sized(dt_tensor *input, dt_tensor *target, const dt_l1_loss_options *options,
                            size_t options_size) {
    dt_l1_loss_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "l1_loss", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, target);
    options->reduction ? dt__call_text(&args[2], options->reduction) : dt__call_text(&args[2], "mean");
    options->weight ? dt__call_tensor(&args[3], &call, options->weight) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_l1_loss, options->site);
}

dt_tensor *dt_layer_norm_sized(dt_tensor *input, dt_shape normalized_shape, const dt_layer_norm_options *options,
                               size_t options_size) {
    dt_layer_norm_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "layer_norm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_sizes(&args[1], normalized_shape);
    options->weight ? dt__call_tensor(&args[2], &call, options->weight) : dt__call_none(&args[2]);
    options->bias ? dt__call_tensor(&args[3], &call, options->bias) : dt__call_none(&args[3]);
    options->eps.given ? dt__call_real(&args[4], options->eps.value) : dt__call_real(&args[4], 1e-05);
    return dt__call_run(&call, DT__OP_layer_norm, options->site);
}

dt_tensor *dt_le_sized(dt_tensor *self, dt_tensor *other, const dt_le_options *options, size_t options_size) {
    dt_le_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "le", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_le, options->site);
}

dt_tensor *dt_le_scalar_sized(dt_tensor *self, dt_number other, const dt_le_scalar_options *options,
                              size_t options_size) {
    dt_le_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "le", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_le, options->site);
}

dt_tensor *dt_le_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_le_in_place_options *options,
                                size_t options_size) {
    dt_le_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "le_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_le_, options->site);
}

dt_tensor *dt_le_scalar_in_place_sized(dt_tensor *self, dt_number other, const dt_le_scalar_in_place_options *options,
                                       size_t options_size) {
    dt_le_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "le_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_le_, options->site);
}

dt_tensor *dt_leaky_relu_sized(dt_tensor *input, const dt_leaky_relu_options *options, size_t options_size) {
    dt_leaky_relu_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "leaky_relu", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->negative_slope.given ? dt__call_real(&args[1], options->negative_slope.value)
                                  : dt__call_real(&args[1], 0.01);
    return dt__call_run(&call, DT__OP_leaky_relu, options->site);
}

dt_tensor *dt_leaky_relu_in_place_sized(dt_tensor *input, const dt_leaky_relu_in_place_options *options,
                                        size_t options_size) {
    dt_leaky_relu_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "leaky_relu_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->negative_slope.given ? dt__call_real(&args[1], options->negative_slope.value)
                                  : dt__call_real(&args[1], 0.01);
    return dt__call_run(&call, DT__OP_leaky_relu_, options->site);
}

dt_tensor *dt_lerp_sized(dt_tensor *self, dt_tensor *end, dt_number weight, const dt_lerp_options *options,
                         size_t options_size) {
    dt_lerp_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "lerp", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, end);
    dt__call_number(&args[2], weight);
    return dt__call_run(&call, DT__OP_lerp, options->site);
}

dt_tensor *dt_lerp_tensor_sized(dt_tensor *self, dt_tensor *end, dt_tensor *weight,
                                const dt_lerp_tensor_options *options, size_t options_size) {
    dt_lerp_tensor_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "lerp", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, end);
    dt__call_tensor(&args[2], &call, weight);
    return dt__call_run(&call, DT__OP_lerp, options->site);
}

dt_tensor *dt_lerp_in_place_sized(dt_tensor *self, dt_tensor *end, dt_number weight,
                                  const dt_lerp_in_place_options *options, size_t options_size) {
    dt_lerp_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "lerp_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, end);
    dt__call_number(&args[2], weight);
    return dt__call_run(&call, DT__OP_lerp_, options->site);
}

dt_tensor *dt_lerp_tensor_in_place_sized(dt_tensor *self, dt_tensor *end, dt_tensor *weight,
                                         const dt_lerp_tensor_in_place_options *options, size_t options_size) {
    dt_lerp_tensor_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "lerp_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, end);
    dt__call_tensor(&args[2], &call, weight);
    return dt__call_run(&call, DT__OP_lerp_, options->site);
}

dt_tensor *dt_linalg_norm_sized(dt_tensor *self, const dt_linalg_norm_options *options, size_t options_size) {
    dt_linalg_norm_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "linalg_norm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->ord.type != DT_ARG_NONE ? dt__call_number(&args[1], options->ord) : dt__call_none(&args[1]);
    options->dim.list ? dt__call_dims(&args[2], options->dim) : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    options->dtype ? dt__call_dtype(&args[4], options->dtype) : dt__call_none(&args[4]);
    return dt__call_run(&call, DT__OP_linalg_norm, options->site);
}

dt_tensor *dt_linalg_norm_ord_str_sized(dt_tensor *self, const char *ord,
                                        const dt_linalg_norm_ord_str_options *options, size_t options_size) {
    dt_linalg_norm_ord_str_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "linalg_norm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_text(&args[1], ord);
    options->dim.list ? dt__call_dims(&args[2], options->dim) : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    options->dtype ? dt__call_dtype(&args[4], options->dtype) : dt__call_none(&args[4]);
    return dt__call_run(&call, DT__OP_linalg_norm, options->site);
}

dt_linalg_svd_result dt_linalg_svd_sized(dt_tensor *A, const dt_linalg_svd_options *options, size_t options_size) {
    dt_linalg_svd_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(A);
    options = DT__OPTIONS(ctx, "linalg_svd", options, options_size, &full);
    if (!options)
        return (dt_linalg_svd_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, A);
    options->full_matrices.given ? dt__call_bool(&args[1], options->full_matrices.value)
                                 : dt__call_bool(&args[1], true);
    dt__call_none(&args[2]);
    dt_tensor *outputs[3];
    dt__call_run_tuple(&call, DT__OP_linalg_svd, options->site, outputs, 3);
    return (dt_linalg_svd_result){outputs[0], outputs[1], outputs[2]};
}

dt_tensor *dt_linalg_svdvals_sized(dt_tensor *A, const dt_linalg_svdvals_options *options, size_t options_size) {
    dt_linalg_svdvals_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(A);
    options = DT__OPTIONS(ctx, "linalg_svdvals", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, A);
    dt__call_none(&args[1]);
    return dt__call_run(&call, DT__OP_linalg_svdvals, options->site);
}

dt_tensor *dt_linalg_vector_norm_sized(dt_tensor *self, const dt_linalg_vector_norm_options *options,
                                       size_t options_size) {
    dt_linalg_vector_norm_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "linalg_vector_norm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->ord.type != DT_ARG_NONE ? dt__call_number(&args[1], options->ord)
                                     : dt__call_number(&args[1], dt_number_int(2));
    options->dim.list ? dt__call_dims(&args[2], options->dim) : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    options->dtype ? dt__call_dtype(&args[4], options->dtype) : dt__call_none(&args[4]);
    return dt__call_run(&call, DT__OP_linalg_vector_norm, options->site);
}

dt_tensor *dt_linear_sized(dt_tensor *input, dt_tensor *weight, const dt_linear_options *options,
                           size_t options_size) {
    dt_linear_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "linear", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, weight);
    options->bias ? dt__call_tensor(&args[2], &call, options->bias) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_linear, options->site);
}

dt_tensor *dt_linear_recurrence_sized(dt_tensor *term, dt_tensor *factor, int64_t dim,
                                      const dt_linear_recurrence_options *options, size_t options_size) {
    dt_linear_recurrence_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(term);
    options = DT__OPTIONS(ctx, "linear_recurrence", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, term);
    dt__call_tensor(&args[1], &call, factor);
    dt__call_int(&args[2], dim);
    dt__call_bool(&args[3], options->transposed);
    return dt__call_run(&call, DT__OP_linear_recurrence, options->site);
}

dt_tensor *dt_linear_weight_backward_sized(dt_tensor *grad_output, dt_tensor *input,
                                           const dt_linear_weight_backward_options *options, size_t options_size) {
    dt_linear_weight_backward_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "linear_weight_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, input);
    return dt__call_run(&call, DT__OP_linear_weight_backward, options->site);
}

dt_tensor *dt_linspace_sized(dt_ctx *ctx, dt_number start, dt_number end, int64_t steps,
                             const dt_make_options *options, size_t options_size) {
    dt_make_options full;
    dt__call call;
    dt_arg args[4];
    options = DT__OPTIONS(ctx, "linspace", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_number(&args[0], start);
    dt__call_number(&args[1], end);
    dt__call_int(&args[2], steps);
    dt__call_dtype(&args[3], options->dtype ? options->dtype : DT_F32);
    call.maker = &(dt__maker_place){options->mesh, options->place, options->requires_grad, options->use};
    return dt__call_run(&call, DT__OP_linspace, options->site);
}

dt_tensor *dt_log_sized(dt_tensor *self, const dt_log_options *options, size_t options_size) {
    dt_log_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "log", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_log, options->site);
}

dt_tensor *dt_log10_sized(dt_tensor *self, const dt_log10_options *options, size_t options_size) {
    dt_log10_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "log10", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_log10, options->site);
}

dt_tensor *dt_log10_in_place_sized(dt_tensor *self, const dt_log10_in_place_options *options, size_t options_size) {
    dt_log10_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "log10_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_log10_, options->site);
}

dt_tensor *dt_log1p_sized(dt_tensor *self, const dt_log1p_options *options, size_t options_size) {
    dt_log1p_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "log1p", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_log1p, options->site);
}

dt_tensor *dt_log1p_in_place_sized(dt_tensor *self, const dt_log1p_in_place_options *options, size_t options_size) {
    dt_log1p_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "log1p_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_log1p_, options->site);
}

dt_tensor *dt_log2_sized(dt_tensor *self, const dt_log2_options *options, size_t options_size) {
    dt_log2_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "log2", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_log2, options->site);
}

dt_tensor *dt_log2_in_place_sized(dt_tensor *self, const dt_log2_in_place_options *options, size_t options_size) {
    dt_log2_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "log2_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_log2_, options->site);
}

dt_tensor *dt_log_in_place_sized(dt_tensor *self, const dt_log_in_place_options *options, size_t options_size) {
    dt_log_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "log_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_log_, options->site);
}

dt_tensor *dt_log_softmax_sized(dt_tensor *self, int64_t dim, const dt_log_softmax_options *options,
                                size_t options_size) {
    dt_log_softmax_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "log_softmax", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    options->dtype ? dt__call_dtype(&args[2], options->dtype) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_log_softmax, options->site);
}

dt_tensor *dt_logaddexp_sized(dt_tensor *self, dt_tensor *other, const dt_logaddexp_options *options,
                              size_t options_size) {
    dt_logaddexp_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logaddexp", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_logaddexp, options->site);
}

dt_tensor *dt_logcumsumexp_sized(dt_tensor *self, int64_t dim, const dt_logcumsumexp_options *options,
                                 size_t options_size) {
    dt_logcumsumexp_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logcumsumexp", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    return dt__call_run(&call, DT__OP_logcumsumexp, options->site);
}

dt_tensor *dt_logcumsumexp_backward_sized(dt_tensor *grad_output, dt_tensor *self, dt_tensor *logsums, int64_t dim,
                                          const dt_logcumsumexp_backward_options *options, size_t options_size) {
    dt_logcumsumexp_backward_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "logcumsumexp_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, self);
    dt__call_tensor(&args[2], &call, logsums);
    dt__call_int(&args[3], dim);
    return dt__call_run(&call, DT__OP_logcumsumexp_backward, options->site);
}

dt_tensor *dt_logical_and_sized(dt_tensor *self, dt_tensor *other, const dt_logical_and_options *options,
                                size_t options_size) {
    dt_logical_and_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logical_and", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_logical_and, options->site);
}

dt_tensor *dt_logical_and_in_place_sized(dt_tensor *self, dt_tensor *other,
                                         const dt_logical_and_in_place_options *options, size_t options_size) {
    dt_logical_and_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logical_and_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_logical_and_, options->site);
}

dt_tensor *dt_logical_not_sized(dt_tensor *self, const dt_logical_not_options *options, size_t options_size) {
    dt_logical_not_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logical_not", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_logical_not, options->site);
}

dt_tensor *dt_logical_not_in_place_sized(dt_tensor *self, const dt_logical_not_in_place_options *options,
                                         size_t options_size) {
    dt_logical_not_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logical_not_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_logical_not_, options->site);
}

dt_tensor *dt_logical_or_sized(dt_tensor *self, dt_tensor *other, const dt_logical_or_options *options,
                               size_t options_size) {
    dt_logical_or_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logical_or", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_logical_or, options->site);
}

dt_tensor *dt_logical_or_in_place_sized(dt_tensor *self, dt_tensor *other,
                                        const dt_logical_or_in_place_options *options, size_t options_size) {
    dt_logical_or_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logical_or_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_logical_or_, options->site);
}

dt_tensor *dt_logical_xor_sized(dt_tensor *self, dt_tensor *other, const dt_logical_xor_options *options,
                                size_t options_size) {
    dt_logical_xor_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logical_xor", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_logical_xor, options->site);
}

dt_tensor *dt_logical_xor_in_place_sized(dt_tensor *self, dt_tensor *other,
                                         const dt_logical_xor_in_place_options *options, size_t options_size) {
    dt_logical_xor_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logical_xor_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_logical_xor_, options->site);
}

dt_tensor *dt_logsumexp_sized(dt_tensor *self, dt_dims dim, const dt_logsumexp_options *options,
                              size_t options_size) {
    dt_logsumexp_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "logsumexp", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_dims(&args[1], dim);
    dt__call_bool(&args[2], options->keepdim);
    return dt__call_run(&call, DT__OP_logsumexp, options->site);
}

dt_tensor *dt_long_sized(dt_tensor *self, const dt_long_options *options, size_t options_size) {
    dt_long_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "long", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_long, options->site);
}

dt_tensor *dt_lt_sized(dt_tensor *self, dt_tensor *other, const dt_lt_options *options, size_t options_size) {
    dt_lt_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "lt", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_lt, options->site);
}

dt_tensor *dt_lt_scalar_sized(dt_tensor *self, dt_number other, const dt_lt_scalar_options *options,
                              size_t options_size) {
    dt_lt_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "lt", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_lt, options->site);
}

dt_tensor *dt_lt_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_lt_in_place_options *options,
                                size_t options_size) {
    dt_lt_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "lt_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_lt_, options->site);
}

dt_tensor *dt_lt_scalar_in_place_sized(dt_tensor *self, dt_number other, const dt_lt_scalar_in_place_options *options,
                                       size_t options_size) {
    dt_lt_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "lt_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_lt_, options->site);
}

dt_tensor *dt_mT_sized(dt_tensor *self, const dt_mT_options *options, size_t options_size) {
    dt_mT_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "mT", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_mT, options->site);
}

dt_tensor *dt_masked_fill_sized(dt_tensor *self, dt_tensor *mask, dt_number value,
                                const dt_masked_fill_options *options, size_t options_size) {
    dt_masked_fill_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "masked_fill", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mask);
    dt__call_number(&args[2], value);
    return dt__call_run(&call, DT__OP_masked_fill, options->site);
}

dt_tensor *dt_masked_fill_tensor_sized(dt_tensor *self, dt_tensor *mask, dt_tensor *value,
                                       const dt_masked_fill_tensor_options *options, size_t options_size) {
    dt_masked_fill_tensor_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "masked_fill", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mask);
    dt__call_tensor(&args[2], &call, value);
    return dt__call_run(&call, DT__OP_masked_fill, options->site);
}

dt_tensor *dt_masked_fill_in_place_sized(dt_tensor *self, dt_tensor *mask, dt_number value,
                                         const dt_masked_fill_in_place_options *options, size_t options_size) {
    dt_masked_fill_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "masked_fill_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mask);
    dt__call_number(&args[2], value);
    return dt__call_run(&call, DT__OP_masked_fill_, options->site);
}

dt_tensor *dt_masked_fill_tensor_in_place_sized(dt_tensor *self, dt_tensor *mask, dt_tensor *value,
                                                const dt_masked_fill_tensor_in_place_options *options,
                                                size_t options_size) {
    dt_masked_fill_tensor_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "masked_fill_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mask);
    dt__call_tensor(&args[2], &call, value);
    return dt__call_run(&call, DT__OP_masked_fill_, options->site);
}

dt_tensor *dt_matmul_sized(dt_tensor *self, dt_tensor *other, const dt_matmul_options *options, size_t options_size) {
    dt_matmul_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "matmul", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_matmul, options->site);
}

dt_tensor *dt_max_sized(dt_tensor *self, const dt_max_options *options, size_t options_size) {
    dt_max_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "max", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_max, options->site);
}

dt_max_dim_result dt_max_dim_sized(dt_tensor *self, int64_t dim, const dt_max_dim_options *options,
                                   size_t options_size) {
    dt_max_dim_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "max", options, options_size, &full);
    if (!options)
        return (dt_max_dim_result){0};
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_bool(&args[2], options->keepdim);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_max, options->site, outputs, 2);
    return (dt_max_dim_result){outputs[0], outputs[1]};
}

dt_tensor *dt_max_other_sized(dt_tensor *self, dt_tensor *other, const dt_max_other_options *options,
                              size_t options_size) {
    dt_max_other_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "max", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_max, options->site);
}

dt_tensor *dt_maximum_sized(dt_tensor *self, dt_tensor *other, const dt_maximum_options *options,
                            size_t options_size) {
    dt_maximum_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "maximum", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_maximum, options->site);
}

dt_tensor *dt_mean_sized(dt_tensor *self, const dt_mean_options *options, size_t options_size) {
    dt_mean_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "mean", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    dt__call_bool(&args[2], options->keepdim);
    options->dtype ? dt__call_dtype(&args[3], options->dtype) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_mean, options->site);
}

dt_tensor *dt_min_sized(dt_tensor *self, const dt_min_options *options, size_t options_size) {
    dt_min_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "min", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_min, options->site);
}

dt_min_dim_result dt_min_dim_sized(dt_tensor *self, int64_t dim, const dt_min_dim_options *options,
                                   size_t options_size) {
    dt_min_dim_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "min", options, options_size, &full);
    if (!options)
        return (dt_min_dim_result){0};
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_bool(&args[2], options->keepdim);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_min, options->site, outputs, 2);
    return (dt_min_dim_result){outputs[0], outputs[1]};
}

dt_tensor *dt_min_other_sized(dt_tensor *self, dt_tensor *other, const dt_min_other_options *options,
                              size_t options_size) {
    dt_min_other_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "min", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_min, options->site);
}

dt_tensor *dt_minimum_sized(dt_tensor *self, dt_tensor *other, const dt_minimum_options *options,
                            size_t options_size) {
    dt_minimum_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "minimum", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_minimum, options->site);
}

dt_tensor *dt_mish_sized(dt_tensor *input, const dt_mish_options *options, size_t options_size) {
    dt_mish_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "mish", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_mish, options->site);
}

dt_tensor *dt_mish_in_place_sized(dt_tensor *input, const dt_mish_in_place_options *options, size_t options_size) {
    dt_mish_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "mish_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_mish_, options->site);
}

dt_tensor *dt_mm_sized(dt_tensor *self, dt_tensor *mat2, const dt_mm_options *options, size_t options_size) {
    dt_mm_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "mm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, mat2);
    return dt__call_run(&call, DT__OP_mm, options->site);
}

dt_tensor *dt_movedim_sized(dt_tensor *self, int64_t source, int64_t destination, const dt_movedim_options *options,
                            size_t options_size) {
    dt_movedim_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "movedim", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], source);
    dt__call_int(&args[2], destination);
    return dt__call_run(&call, DT__OP_movedim, options->site);
}

dt_tensor *dt_movedim_sizes_sized(dt_tensor *self, dt_shape source, dt_shape destination,
                                  const dt_movedim_sizes_options *options, size_t options_size) {
    dt_movedim_sizes_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "movedim", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], source);
    dt__call_sizes(&args[2], destination);
    return dt__call_run(&call, DT__OP_movedim, options->site);
}

dt_tensor *dt_mse_loss_sized(dt_tensor *input, dt_tensor *target, const dt_mse_loss_options *options,
                             size_t options_size) {
    dt_mse_loss_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "mse_loss", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, target);
    options->reduction ? dt__call_text(&args[2], options->reduction) : dt__call_text(&args[2], "mean");
    options->weight ? dt__call_tensor(&args[3], &call, options->weight) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_mse_loss, options->site);
}

dt_tensor *dt_mul_sized(dt_tensor *self, dt_tensor *other, const dt_mul_options *options, size_t options_size) {
    dt_mul_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "mul", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_mul, options->site);
}

dt_tensor *dt_mul_scalar_sized(dt_tensor *self, dt_number other, const dt_mul_scalar_options *options,
                               size_t options_size) {
    dt_mul_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "mul", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_mul, options->site);
}

dt_tensor *dt_mul_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_mul_in_place_options *options,
                                 size_t options_size) {
    dt_mul_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "mul_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_mul_, options->site);
}

dt_tensor *dt_mul_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                        const dt_mul_scalar_in_place_options *options, size_t options_size) {
    dt_mul_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "mul_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_mul_, options->site);
}

dt_tensor *dt_mv_sized(dt_tensor *self, dt_tensor *vec, const dt_mv_options *options, size_t options_size) {
    dt_mv_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "mv", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, vec);
    return dt__call_run(&call, DT__OP_mv, options->site);
}

dt_tensor *dt_nan_to_num_sized(dt_tensor *self, const dt_nan_to_num_options *options, size_t options_size) {
    dt_nan_to_num_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "nan_to_num", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->nan.given ? dt__call_real(&args[1], options->nan.value) : dt__call_none(&args[1]);
    options->posinf.given ? dt__call_real(&args[2], options->posinf.value) : dt__call_none(&args[2]);
    options->neginf.given ? dt__call_real(&args[3], options->neginf.value) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_nan_to_num, options->site);
}

dt_tensor *dt_nan_to_num_in_place_sized(dt_tensor *self, const dt_nan_to_num_in_place_options *options,
                                        size_t options_size) {
    dt_nan_to_num_in_place_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "nan_to_num_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->nan.given ? dt__call_real(&args[1], options->nan.value) : dt__call_none(&args[1]);
    options->posinf.given ? dt__call_real(&args[2], options->posinf.value) : dt__call_none(&args[2]);
    options->neginf.given ? dt__call_real(&args[3], options->neginf.value) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_nan_to_num_, options->site);
}

dt_tensor *dt_nansum_sized(dt_tensor *self, const dt_nansum_options *options, size_t options_size) {
    dt_nansum_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "nansum", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    dt__call_bool(&args[2], options->keepdim);
    options->dtype ? dt__call_dtype(&args[3], options->dtype) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_nansum, options->site);
}

dt_tensor *dt_narrow_sized(dt_tensor *self, int64_t dim, int64_t start, int64_t length,
                           const dt_narrow_options *options, size_t options_size) {
    dt_narrow_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "narrow", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_int(&args[2], start);
    dt__call_int(&args[3], length);
    return dt__call_run(&call, DT__OP_narrow, options->site);
}

dt_tensor *dt_narrow_tensor_sized(dt_tensor *self, int64_t dim, dt_tensor *start, int64_t length,
                                  const dt_narrow_tensor_options *options, size_t options_size) {
    dt_narrow_tensor_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "narrow", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, start);
    dt__call_int(&args[3], length);
    return dt__call_run(&call, DT__OP_narrow, options->site);
}

dt_tensor *dt_native_dropout_backward_sized(dt_tensor *grad_output, dt_tensor *mask, double scale,
                                            const dt_native_dropout_backward_options *options, size_t options_size) {
    dt_native_dropout_backward_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "native_dropout_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, mask);
    dt__call_real(&args[2], scale);
    return dt__call_run(&call, DT__OP_native_dropout_backward, options->site);
}

dt_native_layer_norm_backward_result
dt_native_layer_norm_backward_sized(dt_tensor *grad_out, dt_tensor *input, dt_shape normalized_shape, dt_tensor *mean,
                                    dt_tensor *rstd, dt_shape output_mask,
                                    const dt_native_layer_norm_backward_options *options, size_t options_size) {
    dt_native_layer_norm_backward_options full;
    dt__call call;
    dt_arg args[7];
    dt_ctx *ctx = dt_tensor_ctx(grad_out);
    options = DT__OPTIONS(ctx, "native_layer_norm_backward", options, options_size, &full);
    if (!options)
        return (dt_native_layer_norm_backward_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_out);
    dt__call_tensor(&args[1], &call, input);
    dt__call_sizes(&args[2], normalized_shape);
    dt__call_tensor(&args[3], &call, mean);
    dt__call_tensor(&args[4], &call, rstd);
    options->weight ? dt__call_tensor(&args[5], &call, options->weight) : dt__call_none(&args[5]);
    dt__call_sizes(&args[6], output_mask);
    dt_tensor *outputs[3];
    dt__call_run_tuple(&call, DT__OP_native_layer_norm_backward, options->site, outputs, 3);
    return (dt_native_layer_norm_backward_result){outputs[0], outputs[1], outputs[2]};
}

dt_tensor *dt_ne_sized(dt_tensor *self, dt_tensor *other, const dt_ne_options *options, size_t options_size) {
    dt_ne_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ne", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_ne, options->site);
}

dt_tensor *dt_ne_scalar_sized(dt_tensor *self, dt_number other, const dt_ne_scalar_options *options,
                              size_t options_size) {
    dt_ne_scalar_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ne", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_ne, options->site);
}

dt_tensor *dt_ne_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_ne_in_place_options *options,
                                size_t options_size) {
    dt_ne_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ne_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_ne_, options->site);
}

dt_tensor *dt_ne_scalar_in_place_sized(dt_tensor *self, dt_number other, const dt_ne_scalar_in_place_options *options,
                                       size_t options_size) {
    dt_ne_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ne_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_ne_, options->site);
}

dt_tensor *dt_neg_sized(dt_tensor *self, const dt_neg_options *options, size_t options_size) {
    dt_neg_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "neg", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_neg, options->site);
}

dt_tensor *dt_neg_in_place_sized(dt_tensor *self, const dt_neg_in_place_options *options, size_t options_size) {
    dt_neg_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "neg_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_neg_, options->site);
}

dt_tensor *dt_new_full_sized(dt_tensor *self, dt_shape size, dt_number fill_value, const dt_new_full_options *options,
                             size_t options_size) {
    dt_new_full_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "new_full", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], size);
    dt__call_number(&args[2], fill_value);
    options->dtype ? dt__call_dtype(&args[3], options->dtype) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_new_full, options->site);
}

dt_tensor *dt_new_ones_sized(dt_tensor *self, dt_shape size, const dt_new_ones_options *options,
                             size_t options_size) {
    dt_new_ones_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "new_ones", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], size);
    options->dtype ? dt__call_dtype(&args[2], options->dtype) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_new_ones, options->site);
}

dt_tensor *dt_new_zeros_sized(dt_tensor *self, dt_shape size, const dt_new_zeros_options *options,
                              size_t options_size) {
    dt_new_zeros_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "new_zeros", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], size);
    options->dtype ? dt__call_dtype(&args[2], options->dtype) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_new_zeros, options->site);
}

dt_tensor *dt_nll_loss_sized(dt_tensor *input, dt_tensor *target, const dt_nll_loss_options *options,
                             size_t options_size) {
    dt_nll_loss_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "nll_loss", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, target);
    options->weight ? dt__call_tensor(&args[2], &call, options->weight) : dt__call_none(&args[2]);
    options->ignore_index.given ? dt__call_int(&args[3], options->ignore_index.value) : dt__call_int(&args[3], -100);
    options->reduction ? dt__call_text(&args[4], options->reduction) : dt__call_text(&args[4], "mean");
    return dt__call_run(&call, DT__OP_nll_loss, options->site);
}

dt_tensor *dt_norm_sized(dt_tensor *self, const dt_norm_options *options, size_t options_size) {
    dt_norm_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "norm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->p.type != DT_ARG_NONE ? dt__call_number(&args[1], options->p)
                                   : dt__call_number(&args[1], dt_number_int(2));
    options->dim.list ? dt__call_dims(&args[2], options->dim) : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    options->dtype ? dt__call_dtype(&args[4], options->dtype) : dt__call_none(&args[4]);
    return dt__call_run(&call, DT__OP_norm, options->site);
}

dt_tensor *dt_norm_str_sized(dt_tensor *self, const char *p, const dt_norm_str_options *options,
                             size_t options_size) {
    dt_norm_str_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "norm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_text(&args[1], p);
    options->dim.list ? dt__call_dims(&args[2], options->dim) : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    options->dtype ? dt__call_dtype(&args[4], options->dtype) : dt__call_none(&args[4]);
    return dt__call_run(&call, DT__OP_norm, options->site);
}

dt_tensor *dt_one_hot_sized(dt_tensor *self, int64_t num_classes, const dt_one_hot_options *options,
                            size_t options_size) {
    dt_one_hot_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "one_hot", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], num_classes);
    return dt__call_run(&call, DT__OP_one_hot, options->site);
}

dt_tensor *dt_ones_sized(dt_ctx *ctx, dt_shape size, const dt_make_options *options, size_t options_size) {
    dt_make_options full;
    dt__call call;
    dt_arg args[2];
    options = DT__OPTIONS(ctx, "ones", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_sizes(&args[0], size);
    dt__call_dtype(&args[1], options->dtype ? options->dtype : DT_F32);
    call.maker = &(dt__maker_place){options->mesh, options->place, options->requires_grad, options->use};
    return dt__call_run(&call, DT__OP_ones, options->site);
}

dt_tensor *dt_ones_like_sized(dt_tensor *self, const dt_ones_like_options *options, size_t options_size) {
    dt_ones_like_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ones_like", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dtype ? dt__call_dtype(&args[1], options->dtype) : dt__call_none(&args[1]);
    return dt__call_run(&call, DT__OP_ones_like, options->site);
}

dt_tensor *dt_outer_sized(dt_tensor *self, dt_tensor *vec2, const dt_outer_options *options, size_t options_size) {
    dt_outer_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "outer", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, vec2);
    return dt__call_run(&call, DT__OP_outer, options->site);
}

dt_tensor *dt_pad_sized(dt_tensor *input, dt_shape pad, const dt_pad_options *options, size_t options_size) {
    dt_pad_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "pad", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_sizes(&args[1], pad);
    options->mode ? dt__call_text(&args[2], options->mode) : dt__call_text(&args[2], "constant");
    options->value.given ? dt__call_real(&args[3], options->value.value) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_pad, options->site);
}

dt_tensor *dt_permute_sized(dt_tensor *self, dt_dims dims, const dt_permute_options *options, size_t options_size) {
    dt_permute_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "permute", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_dims(&args[1], dims);
    return dt__call_run(&call, DT__OP_permute, options->site);
}

dt_tensor *dt_positive_sized(dt_tensor *self, const dt_positive_options *options, size_t options_size) {
    dt_positive_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "positive", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_positive, options->site);
}

dt_tensor *dt_pow_sized(dt_tensor *self, dt_tensor *exponent, const dt_pow_options *options, size_t options_size) {
    dt_pow_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "pow", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, exponent);
    return dt__call_run(&call, DT__OP_pow, options->site);
}

dt_tensor *dt_pow_scalar_exponent_sized(dt_tensor *self, dt_number exponent,
                                        const dt_pow_scalar_exponent_options *options, size_t options_size) {
    dt_pow_scalar_exponent_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "pow", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], exponent);
    return dt__call_run(&call, DT__OP_pow, options->site);
}

dt_tensor *dt_pow_scalar_self_sized(dt_number self, dt_tensor *exponent, const dt_pow_scalar_self_options *options,
                                    size_t options_size) {
    dt_pow_scalar_self_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(exponent);
    options = DT__OPTIONS(ctx, "pow", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_number(&args[0], self);
    dt__call_tensor(&args[1], &call, exponent);
    return dt__call_run(&call, DT__OP_pow, options->site);
}

dt_tensor *dt_pow_in_place_sized(dt_tensor *self, dt_tensor *exponent, const dt_pow_in_place_options *options,
                                 size_t options_size) {
    dt_pow_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "pow_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, exponent);
    return dt__call_run(&call, DT__OP_pow_, options->site);
}

dt_tensor *dt_pow_scalar_in_place_sized(dt_tensor *self, dt_number exponent,
                                        const dt_pow_scalar_in_place_options *options, size_t options_size) {
    dt_pow_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "pow_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], exponent);
    return dt__call_run(&call, DT__OP_pow_, options->site);
}

dt_tensor *dt_power_sum_sized(dt_tensor *self, const dt_power_sum_options *options, size_t options_size) {
    dt_power_sum_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "power_sum", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->ord.type != DT_ARG_NONE ? dt__call_number(&args[1], options->ord)
                                     : dt__call_number(&args[1], dt_number_int(2));
    options->dim.list ? dt__call_dims(&args[2], options->dim) : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    return dt__call_run(&call, DT__OP_power_sum, options->site);
}

dt_tensor *dt_prod_sized(dt_tensor *self, const dt_prod_options *options, size_t options_size) {
    dt_prod_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "prod", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dtype ? dt__call_dtype(&args[1], options->dtype) : dt__call_none(&args[1]);
    return dt__call_run(&call, DT__OP_prod, options->site);
}

dt_tensor *dt_prod_dim_int_sized(dt_tensor *self, int64_t dim, const dt_prod_dim_int_options *options,
                                 size_t options_size) {
    dt_prod_dim_int_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "prod", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_bool(&args[2], options->keepdim);
    options->dtype ? dt__call_dtype(&args[3], options->dtype) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_prod, options->site);
}

dt_tensor *dt_prod_of_others_sized(dt_tensor *self, const dt_prod_of_others_options *options, size_t options_size) {
    dt_prod_of_others_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "prod_of_others", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.given ? dt__call_int(&args[1], options->dim.value) : dt__call_none(&args[1]);
    return dt__call_run(&call, DT__OP_prod_of_others, options->site);
}

dt_tensor *dt_ravel_sized(dt_tensor *self, const dt_ravel_options *options, size_t options_size) {
    dt_ravel_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "ravel", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_ravel, options->site);
}

dt_tensor *dt_reciprocal_sized(dt_tensor *self, const dt_reciprocal_options *options, size_t options_size) {
    dt_reciprocal_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "reciprocal", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_reciprocal, options->site);
}

dt_tensor *dt_reciprocal_in_place_sized(dt_tensor *self, const dt_reciprocal_in_place_options *options,
                                        size_t options_size) {
    dt_reciprocal_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "reciprocal_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_reciprocal_, options->site);
}

dt_tensor *dt_relu_sized(dt_tensor *input, const dt_relu_options *options, size_t options_size) {
    dt_relu_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "relu", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_relu, options->site);
}

dt_tensor *dt_relu6_sized(dt_tensor *input, const dt_relu6_options *options, size_t options_size) {
    dt_relu6_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "relu6", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_relu6, options->site);
}

dt_tensor *dt_relu6_in_place_sized(dt_tensor *input, const dt_relu6_in_place_options *options, size_t options_size) {
    dt_relu6_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "relu6_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_relu6_, options->site);
}

dt_tensor *dt_relu_in_place_sized(dt_tensor *input, const dt_relu_in_place_options *options, size_t options_size) {
    dt_relu_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "relu_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_relu_, options->site);
}

dt_tensor *dt_remainder_sized(dt_tensor *self, dt_tensor *other, const dt_remainder_options *options,
                              size_t options_size) {
    dt_remainder_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "remainder", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_remainder, options->site);
}

dt_tensor *dt_remainder_scalar_other_sized(dt_tensor *self, dt_number other,
                                           const dt_remainder_scalar_other_options *options, size_t options_size) {
    dt_remainder_scalar_other_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "remainder", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_remainder, options->site);
}

dt_tensor *dt_remainder_scalar_self_sized(dt_number self, dt_tensor *other,
                                          const dt_remainder_scalar_self_options *options, size_t options_size) {
    dt_remainder_scalar_self_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(other);
    options = DT__OPTIONS(ctx, "remainder", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_number(&args[0], self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_remainder, options->site);
}

dt_tensor *dt_remainder_in_place_sized(dt_tensor *self, dt_tensor *other,
                                       const dt_remainder_in_place_options *options, size_t options_size) {
    dt_remainder_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "remainder_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_remainder_, options->site);
}

dt_tensor *dt_remainder_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                              const dt_remainder_scalar_in_place_options *options,
                                              size_t options_size) {
    dt_remainder_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "remainder_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_remainder_, options->site);
}

dt_tensor *dt_repeat_sized(dt_tensor *self, dt_shape repeats, const dt_repeat_options *options, size_t options_size) {
    dt_repeat_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "repeat", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], repeats);
    return dt__call_run(&call, DT__OP_repeat, options->site);
}

dt_tensor *dt_reshape_sized(dt_tensor *self, dt_shape shape, const dt_reshape_options *options, size_t options_size) {
    dt_reshape_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "reshape", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], shape);
    return dt__call_run(&call, DT__OP_reshape, options->site);
}

dt_tensor *dt_reshape_as_sized(dt_tensor *self, dt_tensor *other, const dt_reshape_as_options *options,
                               size_t options_size) {
    dt_reshape_as_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "reshape_as", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_reshape_as, options->site);
}

dt_tensor *dt_rms_norm_sized(dt_tensor *input, dt_shape normalized_shape, const dt_rms_norm_options *options,
                             size_t options_size) {
    dt_rms_norm_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "rms_norm", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_sizes(&args[1], normalized_shape);
    options->weight ? dt__call_tensor(&args[2], &call, options->weight) : dt__call_none(&args[2]);
    options->eps.given ? dt__call_real(&args[3], options->eps.value) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_rms_norm, options->site);
}

dt_tensor *dt_roll_sized(dt_tensor *self, dt_shape shifts, const dt_roll_options *options, size_t options_size) {
    dt_roll_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "roll", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], shifts);
    options->dims.list ? dt__call_dims(&args[2], options->dims) : dt__call_dims(&args[2], (dt_dims){.n = 0});
    return dt__call_run(&call, DT__OP_roll, options->site);
}

dt_tensor *dt_round_sized(dt_tensor *self, const dt_round_options *options, size_t options_size) {
    dt_round_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "round", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_round, options->site);
}

dt_tensor *dt_round_decimals_sized(dt_tensor *self, int64_t decimals, const dt_round_decimals_options *options,
                                   size_t options_size) {
    dt_round_decimals_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "round", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], decimals);
    return dt__call_run(&call, DT__OP_round, options->site);
}

dt_tensor *dt_round_in_place_sized(dt_tensor *self, const dt_round_in_place_options *options, size_t options_size) {
    dt_round_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "round_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_round_, options->site);
}

dt_tensor *dt_round_decimals_in_place_sized(dt_tensor *self, int64_t decimals,
                                            const dt_round_decimals_in_place_options *options, size_t options_size) {
    dt_round_decimals_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "round_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], decimals);
    return dt__call_run(&call, DT__OP_round_, options->site);
}

dt_tensor *dt_rsqrt_sized(dt_tensor *self, const dt_rsqrt_options *options, size_t options_size) {
    dt_rsqrt_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "rsqrt", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_rsqrt, options->site);
}

dt_tensor *dt_rsqrt_in_place_sized(dt_tensor *self, const dt_rsqrt_in_place_options *options, size_t options_size) {
    dt_rsqrt_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "rsqrt_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_rsqrt_, options->site);
}

dt_tensor *dt_rsub_sized(dt_tensor *self, dt_tensor *other, const dt_rsub_options *options, size_t options_size) {
    dt_rsub_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "rsub", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_rsub, options->site);
}

dt_tensor *dt_rsub_scalar_sized(dt_tensor *self, dt_number other, const dt_rsub_scalar_options *options,
                                size_t options_size) {
    dt_rsub_scalar_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "rsub", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_rsub, options->site);
}

dt_tensor *dt_scaled_dot_product_attention_sized(dt_tensor *query, dt_tensor *key, dt_tensor *value,
                                                 const dt_scaled_dot_product_attention_options *options,
                                                 size_t options_size) {
    dt_scaled_dot_product_attention_options full;
    dt__call call;
    dt_arg args[8];
    dt_ctx *ctx = dt_tensor_ctx(query);
    options = DT__OPTIONS(ctx, "scaled_dot_product_attention", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, query);
    dt__call_tensor(&args[1], &call, key);
    dt__call_tensor(&args[2], &call, value);
    options->attn_mask ? dt__call_tensor(&args[3], &call, options->attn_mask) : dt__call_none(&args[3]);
    options->dropout_p.given ? dt__call_real(&args[4], options->dropout_p.value) : dt__call_real(&args[4], 0.0);
    dt__call_bool(&args[5], options->is_causal);
    options->scale.given ? dt__call_real(&args[6], options->scale.value) : dt__call_none(&args[6]);
    dt__call_bool(&args[7], options->enable_gqa);
    return dt__call_run(&call, DT__OP_scaled_dot_product_attention, options->site);
}

dt_tensor *dt_scatter_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                            const dt_scatter_options *options, size_t options_size) {
    dt_scatter_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "scatter", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, src);
    return dt__call_run(&call, DT__OP_scatter, options->site);
}

dt_tensor *dt_scatter_value_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_number value,
                                  const dt_scatter_value_options *options, size_t options_size) {
    dt_scatter_value_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "scatter", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_number(&args[3], value);
    return dt__call_run(&call, DT__OP_scatter, options->site);
}

dt_tensor *dt_scatter_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                                     const dt_scatter_in_place_options *options, size_t options_size) {
    dt_scatter_in_place_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "scatter_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, src);
    return dt__call_run(&call, DT__OP_scatter_, options->site);
}

dt_tensor *dt_scatter_value_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_number value,
                                           const dt_scatter_value_in_place_options *options, size_t options_size) {
    dt_scatter_value_in_place_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "scatter_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_number(&args[3], value);
    return dt__call_run(&call, DT__OP_scatter_, options->site);
}

dt_tensor *dt_scatter_add_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                                const dt_scatter_add_options *options, size_t options_size) {
    dt_scatter_add_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "scatter_add", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, src);
    return dt__call_run(&call, DT__OP_scatter_add, options->site);
}

dt_tensor *dt_scatter_add_in_place_sized(dt_tensor *self, int64_t dim, dt_tensor *index, dt_tensor *src,
                                         const dt_scatter_add_in_place_options *options, size_t options_size) {
    dt_scatter_add_in_place_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "scatter_add_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_tensor(&args[2], &call, index);
    dt__call_tensor(&args[3], &call, src);
    return dt__call_run(&call, DT__OP_scatter_add_, options->site);
}

dt_tensor *dt_select_sized(dt_tensor *self, int64_t dim, int64_t index, const dt_select_options *options,
                           size_t options_size) {
    dt_select_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "select", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_int(&args[2], index);
    return dt__call_run(&call, DT__OP_select, options->site);
}

dt_tensor *dt_select_backward_sized(dt_tensor *grad_output, dt_shape input_sizes, int64_t dim, int64_t index,
                                    const dt_select_backward_options *options, size_t options_size) {
    dt_select_backward_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "select_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_sizes(&args[1], input_sizes);
    dt__call_int(&args[2], dim);
    dt__call_int(&args[3], index);
    return dt__call_run(&call, DT__OP_select_backward, options->site);
}

dt_tensor *dt_selu_sized(dt_tensor *input, const dt_selu_options *options, size_t options_size) {
    dt_selu_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "selu", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_selu, options->site);
}

dt_tensor *dt_selu_in_place_sized(dt_tensor *input, const dt_selu_in_place_options *options, size_t options_size) {
    dt_selu_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "selu_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_selu_, options->site);
}

dt_tensor *dt_sgd_in_place_sized(dt_tensor *self, dt_tensor *grad, double lr, const dt_sgd_in_place_options *options,
                                 size_t options_size) {
    dt_sgd_in_place_options full;
    dt__call call;
    dt_arg args[10];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sgd_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, grad);
    dt__call_real(&args[2], lr);
    options->weight_decay.given ? dt__call_real(&args[3], options->weight_decay.value) : dt__call_real(&args[3], 0.0);
    options->momentum.given ? dt__call_real(&args[4], options->momentum.value) : dt__call_real(&args[4], 0.0);
    options->dampening.given ? dt__call_real(&args[5], options->dampening.value) : dt__call_real(&args[5], 0.0);
    dt__call_bool(&args[6], options->nesterov);
    dt__call_bool(&args[7], options->maximize);
    dt__call_bool(&args[8], options->is_first);
    options->grad_scale.given ? dt__call_real(&args[9], options->grad_scale.value) : dt__call_real(&args[9], 1.0);
    return dt__call_run(&call, DT__OP_sgd_, options->site);
}

dt_sgd_momentum_in_place_result dt_sgd_momentum_in_place_sized(dt_tensor *self, dt_tensor *grad,
                                                               dt_tensor *momentum_buffer, double lr,
                                                               const dt_sgd_momentum_in_place_options *options,
                                                               size_t options_size) {
    dt_sgd_momentum_in_place_options full;
    dt__call call;
    dt_arg args[11];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sgd_", options, options_size, &full);
    if (!options)
        return (dt_sgd_momentum_in_place_result){0};
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, grad);
    dt__call_tensor(&args[2], &call, momentum_buffer);
    dt__call_real(&args[3], lr);
    options->weight_decay.given ? dt__call_real(&args[4], options->weight_decay.value) : dt__call_real(&args[4], 0.0);
    options->momentum.given ? dt__call_real(&args[5], options->momentum.value) : dt__call_real(&args[5], 0.0);
    options->dampening.given ? dt__call_real(&args[6], options->dampening.value) : dt__call_real(&args[6], 0.0);
    dt__call_bool(&args[7], options->nesterov);
    dt__call_bool(&args[8], options->maximize);
    dt__call_bool(&args[9], options->is_first);
    options->grad_scale.given ? dt__call_real(&args[10], options->grad_scale.value) : dt__call_real(&args[10], 1.0);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_sgd_, options->site, outputs, 2);
    return (dt_sgd_momentum_in_place_result){outputs[0], outputs[1]};
}

dt_tensor *dt_sgn_sized(dt_tensor *self, const dt_sgn_options *options, size_t options_size) {
    dt_sgn_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sgn", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sgn, options->site);
}

dt_tensor *dt_sgn_in_place_sized(dt_tensor *self, const dt_sgn_in_place_options *options, size_t options_size) {
    dt_sgn_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sgn_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sgn_, options->site);
}

dt_tensor *dt_short_sized(dt_tensor *self, const dt_short_options *options, size_t options_size) {
    dt_short_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "short", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_short, options->site);
}

dt_tensor *dt_sigmoid_sized(dt_tensor *self, const dt_sigmoid_options *options, size_t options_size) {
    dt_sigmoid_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sigmoid", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sigmoid, options->site);
}

dt_tensor *dt_sigmoid_in_place_sized(dt_tensor *self, const dt_sigmoid_in_place_options *options,
                                     size_t options_size) {
    dt_sigmoid_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sigmoid_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sigmoid_, options->site);
}

dt_tensor *dt_sigmoid_backward_sized(dt_tensor *grad_output, dt_tensor *output,
                                     const dt_sigmoid_backward_options *options, size_t options_size) {
    dt_sigmoid_backward_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "sigmoid_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, output);
    return dt__call_run(&call, DT__OP_sigmoid_backward, options->site);
}

dt_tensor *dt_sign_sized(dt_tensor *self, const dt_sign_options *options, size_t options_size) {
    dt_sign_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sign", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sign, options->site);
}

dt_tensor *dt_sign_in_place_sized(dt_tensor *self, const dt_sign_in_place_options *options, size_t options_size) {
    dt_sign_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sign_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sign_, options->site);
}

dt_tensor *dt_silu_sized(dt_tensor *input, const dt_silu_options *options, size_t options_size) {
    dt_silu_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "silu", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_silu, options->site);
}

dt_tensor *dt_silu_in_place_sized(dt_tensor *input, const dt_silu_in_place_options *options, size_t options_size) {
    dt_silu_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "silu_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_silu_, options->site);
}

dt_tensor *dt_silu_backward_sized(dt_tensor *grad_output, dt_tensor *self, const dt_silu_backward_options *options,
                                  size_t options_size) {
    dt_silu_backward_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "silu_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, self);
    return dt__call_run(&call, DT__OP_silu_backward, options->site);
}

dt_tensor *dt_sin_sized(dt_tensor *self, const dt_sin_options *options, size_t options_size) {
    dt_sin_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sin", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sin, options->site);
}

dt_tensor *dt_sin_in_place_sized(dt_tensor *self, const dt_sin_in_place_options *options, size_t options_size) {
    dt_sin_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sin_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sin_, options->site);
}

dt_tensor *dt_sinh_sized(dt_tensor *self, const dt_sinh_options *options, size_t options_size) {
    dt_sinh_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sinh", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sinh, options->site);
}

dt_tensor *dt_sinh_in_place_sized(dt_tensor *self, const dt_sinh_in_place_options *options, size_t options_size) {
    dt_sinh_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sinh_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sinh_, options->site);
}

dt_tensor *dt_slice_sized(dt_tensor *self, int64_t dim, int64_t start, int64_t end, int64_t step,
                          const dt_slice_options *options, size_t options_size) {
    dt_slice_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "slice", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_int(&args[2], start);
    dt__call_int(&args[3], end);
    dt__call_int(&args[4], step);
    return dt__call_run(&call, DT__OP_slice, options->site);
}

dt_tensor *dt_slice_backward_sized(dt_tensor *grad_output, dt_shape input_sizes, int64_t dim, int64_t start,
                                   int64_t end, int64_t step, const dt_slice_backward_options *options,
                                   size_t options_size) {
    dt_slice_backward_options full;
    dt__call call;
    dt_arg args[6];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "slice_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_sizes(&args[1], input_sizes);
    dt__call_int(&args[2], dim);
    dt__call_int(&args[3], start);
    dt__call_int(&args[4], end);
    dt__call_int(&args[5], step);
    return dt__call_run(&call, DT__OP_slice_backward, options->site);
}

dt_tensor *dt_smooth_l1_loss_sized(dt_tensor *input, dt_tensor *target, const dt_smooth_l1_loss_options *options,
                                   size_t options_size) {
    dt_smooth_l1_loss_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "smooth_l1_loss", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_tensor(&args[1], &call, target);
    options->reduction ? dt__call_text(&args[2], options->reduction) : dt__call_text(&args[2], "mean");
    options->beta.given ? dt__call_real(&args[3], options->beta.value) : dt__call_real(&args[3], 1.0);
    return dt__call_run(&call, DT__OP_smooth_l1_loss, options->site);
}

dt_tensor *dt_softmax_sized(dt_tensor *self, int64_t dim, const dt_softmax_options *options, size_t options_size) {
    dt_softmax_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "softmax", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    options->dtype ? dt__call_dtype(&args[2], options->dtype) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_softmax, options->site);
}

dt_tensor *dt_softmin_sized(dt_tensor *input, const dt_softmin_options *options, size_t options_size) {
    dt_softmin_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "softmin", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    options->dim.given ? dt__call_int(&args[1], options->dim.value) : dt__call_none(&args[1]);
    options->dtype ? dt__call_dtype(&args[2], options->dtype) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_softmin, options->site);
}

dt_tensor *dt_softplus_sized(dt_tensor *self, const dt_softplus_options *options, size_t options_size) {
    dt_softplus_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "softplus", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->beta.type != DT_ARG_NONE ? dt__call_number(&args[1], options->beta)
                                      : dt__call_number(&args[1], dt_number_int(1));
    options->threshold.type != DT_ARG_NONE ? dt__call_number(&args[2], options->threshold)
                                           : dt__call_number(&args[2], dt_number_int(20));
    return dt__call_run(&call, DT__OP_softplus, options->site);
}

dt_tensor *dt_softshrink_sized(dt_tensor *self, const dt_softshrink_options *options, size_t options_size) {
    dt_softshrink_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "softshrink", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->lambd.type != DT_ARG_NONE ? dt__call_number(&args[1], options->lambd)
                                       : dt__call_number(&args[1], dt_number_real(0.5));
    return dt__call_run(&call, DT__OP_softshrink, options->site);
}

dt_tensor *dt_softsign_sized(dt_tensor *input, const dt_softsign_options *options, size_t options_size) {
    dt_softsign_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "softsign", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_softsign, options->site);
}

dt_sort_result dt_sort_sized(dt_tensor *self, const dt_sort_options *options, size_t options_size) {
    dt_sort_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sort", options, options_size, &full);
    if (!options)
        return (dt_sort_result){0};
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_none(&args[1]);
    options->dim.given ? dt__call_int(&args[2], options->dim.value) : dt__call_int(&args[2], -1);
    dt__call_bool(&args[3], options->descending);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_sort, options->site, outputs, 2);
    return (dt_sort_result){outputs[0], outputs[1]};
}

int dt_split_sized(dt_tensor *self, int64_t split_size, dt_tensor **out, int capacity,
                   const dt_split_options *options, size_t options_size) {
    dt_split_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "split", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], split_size);
    dt__call_int(&args[2], options->dim);
    return dt__call_run_list(&call, DT__OP_split, options->site, out, capacity);
}

int dt_split_sizes_sized(dt_tensor *self, dt_shape split_size, dt_tensor **out, int capacity,
                         const dt_split_sizes_options *options, size_t options_size) {
    dt_split_sizes_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "split", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], split_size);
    dt__call_int(&args[2], options->dim);
    return dt__call_run_list(&call, DT__OP_split, options->site, out, capacity);
}

int dt_split_with_sizes_sized(dt_tensor *self, dt_shape split_sizes, dt_tensor **out, int capacity,
                              const dt_split_with_sizes_options *options, size_t options_size) {
    dt_split_with_sizes_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "split_with_sizes", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], split_sizes);
    dt__call_int(&args[2], options->dim);
    return dt__call_run_list(&call, DT__OP_split_with_sizes, options->site, out, capacity);
}

dt_tensor *dt_sqrt_sized(dt_tensor *self, const dt_sqrt_options *options, size_t options_size) {
    dt_sqrt_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sqrt", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sqrt, options->site);
}

dt_tensor *dt_sqrt_in_place_sized(dt_tensor *self, const dt_sqrt_in_place_options *options, size_t options_size) {
    dt_sqrt_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sqrt_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_sqrt_, options->site);
}

dt_tensor *dt_square_sized(dt_tensor *self, const dt_square_options *options, size_t options_size) {
    dt_square_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "square", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_square, options->site);
}

dt_tensor *dt_square_in_place_sized(dt_tensor *self, const dt_square_in_place_options *options, size_t options_size) {
    dt_square_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "square_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_square_, options->site);
}

dt_tensor *dt_squeeze_sized(dt_tensor *self, const dt_squeeze_options *options, size_t options_size) {
    dt_squeeze_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "squeeze", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_squeeze, options->site);
}

dt_tensor *dt_squeeze_dim_sized(dt_tensor *self, int64_t dim, const dt_squeeze_dim_options *options,
                                size_t options_size) {
    dt_squeeze_dim_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "squeeze", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    return dt__call_run(&call, DT__OP_squeeze, options->site);
}

dt_tensor *dt_squeeze_dims_sized(dt_tensor *self, dt_dims dim, const dt_squeeze_dims_options *options,
                                 size_t options_size) {
    dt_squeeze_dims_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "squeeze", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_dims(&args[1], dim);
    return dt__call_run(&call, DT__OP_squeeze, options->site);
}

dt_tensor *dt_stack_sized(dt_tensors tensors, const dt_stack_options *options, size_t options_size) {
    dt_stack_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt__ctx_of_list(tensors);
    options = DT__OPTIONS(ctx, "stack", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, tensors);
    dt__call_int(&args[1], options->dim);
    return dt__call_run(&call, DT__OP_stack, options->site);
}

dt_tensor *dt_std_sized(dt_tensor *self, const dt_std_options *options, size_t options_size) {
    dt_std_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "std", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    options->unbiased.given ? dt__call_bool(&args[2], options->unbiased.value) : dt__call_bool(&args[2], true);
    dt__call_bool(&args[3], options->keepdim);
    return dt__call_run(&call, DT__OP_std, options->site);
}

dt_tensor *dt_std_correction_sized(dt_tensor *self, const dt_std_correction_options *options, size_t options_size) {
    dt_std_correction_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "std", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    options->correction.type != DT_ARG_NONE ? dt__call_number(&args[2], options->correction)
                                            : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    return dt__call_run(&call, DT__OP_std, options->site);
}

dt_std_mean_result dt_std_mean_sized(dt_tensor *self, const dt_std_mean_options *options, size_t options_size) {
    dt_std_mean_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "std_mean", options, options_size, &full);
    if (!options)
        return (dt_std_mean_result){0};
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    options->unbiased.given ? dt__call_bool(&args[2], options->unbiased.value) : dt__call_bool(&args[2], true);
    dt__call_bool(&args[3], options->keepdim);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_std_mean, options->site, outputs, 2);
    return (dt_std_mean_result){outputs[0], outputs[1]};
}

dt_std_mean_correction_result
dt_std_mean_correction_sized(dt_tensor *self, const dt_std_mean_correction_options *options, size_t options_size) {
    dt_std_mean_correction_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "std_mean", options, options_size, &full);
    if (!options)
        return (dt_std_mean_correction_result){0};
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    options->correction.type != DT_ARG_NONE ? dt__call_number(&args[2], options->correction)
                                            : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_std_mean, options->site, outputs, 2);
    return (dt_std_mean_correction_result){outputs[0], outputs[1]};
}

dt_tensor *dt_sub_sized(dt_tensor *self, dt_tensor *other, const dt_sub_options *options, size_t options_size) {
    dt_sub_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sub", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_sub, options->site);
}

dt_tensor *dt_sub_scalar_sized(dt_tensor *self, dt_number other, const dt_sub_scalar_options *options,
                               size_t options_size) {
    dt_sub_scalar_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sub", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_sub, options->site);
}

dt_tensor *dt_sub_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_sub_in_place_options *options,
                                 size_t options_size) {
    dt_sub_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sub_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_sub_, options->site);
}

dt_tensor *dt_sub_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                        const dt_sub_scalar_in_place_options *options, size_t options_size) {
    dt_sub_scalar_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sub_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    options->alpha.type != DT_ARG_NONE ? dt__call_number(&args[2], options->alpha)
                                       : dt__call_number(&args[2], dt_number_int(1));
    return dt__call_run(&call, DT__OP_sub_, options->site);
}

dt_tensor *dt_sum_sized(dt_tensor *self, const dt_sum_options *options, size_t options_size) {
    dt_sum_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "sum", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    dt__call_bool(&args[2], options->keepdim);
    options->dtype ? dt__call_dtype(&args[3], options->dtype) : dt__call_none(&args[3]);
    return dt__call_run(&call, DT__OP_sum, options->site);
}

dt_tensor *dt_swapaxes_sized(dt_tensor *self, int64_t axis0, int64_t axis1, const dt_swapaxes_options *options,
                             size_t options_size) {
    dt_swapaxes_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "swapaxes", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], axis0);
    dt__call_int(&args[2], axis1);
    return dt__call_run(&call, DT__OP_swapaxes, options->site);
}

dt_tensor *dt_t_sized(dt_tensor *self, const dt_t_options *options, size_t options_size) {
    dt_t_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "t", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_t, options->site);
}

dt_tensor *dt_take_along_dim_sized(dt_tensor *self, dt_tensor *indices, const dt_take_along_dim_options *options,
                                   size_t options_size) {
    dt_take_along_dim_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "take_along_dim", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, indices);
    options->dim.given ? dt__call_int(&args[2], options->dim.value) : dt__call_none(&args[2]);
    return dt__call_run(&call, DT__OP_take_along_dim, options->site);
}

dt_tensor *dt_tan_sized(dt_tensor *self, const dt_tan_options *options, size_t options_size) {
    dt_tan_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tan", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_tan, options->site);
}

dt_tensor *dt_tan_in_place_sized(dt_tensor *self, const dt_tan_in_place_options *options, size_t options_size) {
    dt_tan_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tan_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_tan_, options->site);
}

dt_tensor *dt_tanh_sized(dt_tensor *self, const dt_tanh_options *options, size_t options_size) {
    dt_tanh_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tanh", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_tanh, options->site);
}

dt_tensor *dt_tanh_in_place_sized(dt_tensor *self, const dt_tanh_in_place_options *options, size_t options_size) {
    dt_tanh_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tanh_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_tanh_, options->site);
}

dt_tensor *dt_tanh_backward_sized(dt_tensor *grad_output, dt_tensor *output, const dt_tanh_backward_options *options,
                                  size_t options_size) {
    dt_tanh_backward_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "tanh_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, output);
    return dt__call_run(&call, DT__OP_tanh_backward, options->site);
}

dt_tensor *dt_tanhshrink_sized(dt_tensor *input, const dt_tanhshrink_options *options, size_t options_size) {
    dt_tanhshrink_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "tanhshrink", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    return dt__call_run(&call, DT__OP_tanhshrink, options->site);
}

int dt_tensor_split_sized(dt_tensor *self, int64_t sections, dt_tensor **out, int capacity,
                          const dt_tensor_split_options *options, size_t options_size) {
    dt_tensor_split_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tensor_split", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], sections);
    dt__call_int(&args[2], options->dim);
    return dt__call_run_list(&call, DT__OP_tensor_split, options->site, out, capacity);
}

int dt_tensor_split_indices_sized(dt_tensor *self, dt_shape indices, dt_tensor **out, int capacity,
                                  const dt_tensor_split_indices_options *options, size_t options_size) {
    dt_tensor_split_indices_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tensor_split", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], indices);
    dt__call_int(&args[2], options->dim);
    return dt__call_run_list(&call, DT__OP_tensor_split, options->site, out, capacity);
}

int dt_tensor_split_tensor_indices_or_sections_sized(
    dt_tensor *self, dt_tensor *tensor_indices_or_sections, dt_tensor **out, int capacity,
    const dt_tensor_split_tensor_indices_or_sections_options *options, size_t options_size) {
    dt_tensor_split_tensor_indices_or_sections_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tensor_split", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, tensor_indices_or_sections);
    dt__call_int(&args[2], options->dim);
    return dt__call_run_list(&call, DT__OP_tensor_split, options->site, out, capacity);
}

dt_tensor *dt_threshold_sized(dt_tensor *input, double threshold, double value, const dt_threshold_options *options,
                              size_t options_size) {
    dt_threshold_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "threshold", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_real(&args[1], threshold);
    dt__call_real(&args[2], value);
    return dt__call_run(&call, DT__OP_threshold, options->site);
}

dt_tensor *dt_threshold_in_place_sized(dt_tensor *input, double threshold, double value,
                                       const dt_threshold_in_place_options *options, size_t options_size) {
    dt_threshold_in_place_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(input);
    options = DT__OPTIONS(ctx, "threshold_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, input);
    dt__call_real(&args[1], threshold);
    dt__call_real(&args[2], value);
    return dt__call_run(&call, DT__OP_threshold_, options->site);
}

dt_tensor *dt_threshold_backward_sized(dt_tensor *grad_output, dt_tensor *self, dt_number threshold,
                                       const dt_threshold_backward_options *options, size_t options_size) {
    dt_threshold_backward_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(grad_output);
    options = DT__OPTIONS(ctx, "threshold_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_output);
    dt__call_tensor(&args[1], &call, self);
    dt__call_number(&args[2], threshold);
    return dt__call_run(&call, DT__OP_threshold_backward, options->site);
}

dt_tensor *dt_tile_sized(dt_tensor *self, dt_dims dims, const dt_tile_options *options, size_t options_size) {
    dt_tile_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tile", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_dims(&args[1], dims);
    return dt__call_run(&call, DT__OP_tile, options->site);
}

dt_tensor *dt_to_sized(dt_tensor *self, dt_dtype dtype, const dt_to_options *options, size_t options_size) {
    dt_to_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "to", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_dtype(&args[1], dtype);
    dt__call_bool(&args[2], options->copy);
    return dt__call_run(&call, DT__OP_to, options->site);
}

dt_topk_result dt_topk_sized(dt_tensor *self, int64_t k, const dt_topk_options *options, size_t options_size) {
    dt_topk_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "topk", options, options_size, &full);
    if (!options)
        return (dt_topk_result){0};
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], k);
    options->dim.given ? dt__call_int(&args[2], options->dim.value) : dt__call_int(&args[2], -1);
    options->largest.given ? dt__call_bool(&args[3], options->largest.value) : dt__call_bool(&args[3], true);
    dt__call_bool(&args[4], true);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_topk, options->site, outputs, 2);
    return (dt_topk_result){outputs[0], outputs[1]};
}

dt_tensor *dt_trace_sized(dt_tensor *self, const dt_trace_options *options, size_t options_size) {
    dt_trace_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "trace", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_trace, options->site);
}

dt_tensor *dt_transpose_sized(dt_tensor *self, int64_t dim0, int64_t dim1, const dt_transpose_options *options,
                              size_t options_size) {
    dt_transpose_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "transpose", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim0);
    dt__call_int(&args[2], dim1);
    return dt__call_run(&call, DT__OP_transpose, options->site);
}

dt_tensor *dt_tril_sized(dt_tensor *self, const dt_tril_options *options, size_t options_size) {
    dt_tril_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tril", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], options->diagonal);
    return dt__call_run(&call, DT__OP_tril, options->site);
}

dt_tensor *dt_tril_in_place_sized(dt_tensor *self, const dt_tril_in_place_options *options, size_t options_size) {
    dt_tril_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "tril_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], options->diagonal);
    return dt__call_run(&call, DT__OP_tril_, options->site);
}

dt_tensor *dt_triu_sized(dt_tensor *self, const dt_triu_options *options, size_t options_size) {
    dt_triu_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "triu", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], options->diagonal);
    return dt__call_run(&call, DT__OP_triu, options->site);
}

dt_tensor *dt_triu_in_place_sized(dt_tensor *self, const dt_triu_in_place_options *options, size_t options_size) {
    dt_triu_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "triu_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], options->diagonal);
    return dt__call_run(&call, DT__OP_triu_, options->site);
}

dt_tensor *dt_trunc_sized(dt_tensor *self, const dt_trunc_options *options, size_t options_size) {
    dt_trunc_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "trunc", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_trunc, options->site);
}

dt_tensor *dt_trunc_in_place_sized(dt_tensor *self, const dt_trunc_in_place_options *options, size_t options_size) {
    dt_trunc_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "trunc_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_trunc_, options->site);
}

dt_tensor *dt_type_as_sized(dt_tensor *self, dt_tensor *other, const dt_type_as_options *options,
                            size_t options_size) {
    dt_type_as_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "type_as", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_type_as, options->site);
}

int dt_unbind_sized(dt_tensor *self, dt_tensor **out, int capacity, const dt_unbind_options *options,
                    size_t options_size) {
    dt_unbind_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "unbind", options, options_size, &full);
    if (!options)
        return -1;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], options->dim);
    return dt__call_run_list(&call, DT__OP_unbind, options->site, out, capacity);
}

dt_tensor *dt_unflatten_sized(dt_tensor *self, int64_t dim, dt_shape sizes, const dt_unflatten_options *options,
                              size_t options_size) {
    dt_unflatten_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "unflatten", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    dt__call_sizes(&args[2], sizes);
    return dt__call_run(&call, DT__OP_unflatten, options->site);
}

dt_tensor *dt_unfold_sized(dt_tensor *self, int64_t dimension, int64_t size, int64_t step,
                           const dt_unfold_options *options, size_t options_size) {
    dt_unfold_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "unfold", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dimension);
    dt__call_int(&args[2], size);
    dt__call_int(&args[3], step);
    return dt__call_run(&call, DT__OP_unfold, options->site);
}

dt_tensor *dt_unfold_backward_sized(dt_tensor *grad_in, dt_shape input_sizes, int64_t dim, int64_t size, int64_t step,
                                    const dt_unfold_backward_options *options, size_t options_size) {
    dt_unfold_backward_options full;
    dt__call call;
    dt_arg args[5];
    dt_ctx *ctx = dt_tensor_ctx(grad_in);
    options = DT__OPTIONS(ctx, "unfold_backward", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, grad_in);
    dt__call_sizes(&args[1], input_sizes);
    dt__call_int(&args[2], dim);
    dt__call_int(&args[3], size);
    dt__call_int(&args[4], step);
    return dt__call_run(&call, DT__OP_unfold_backward, options->site);
}

dt_tensor *dt_unsqueeze_sized(dt_tensor *self, int64_t dim, const dt_unsqueeze_options *options,
                              size_t options_size) {
    dt_unsqueeze_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "unsqueeze", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_int(&args[1], dim);
    return dt__call_run(&call, DT__OP_unsqueeze, options->site);
}

dt_tensor *dt_var_sized(dt_tensor *self, const dt_var_options *options, size_t options_size) {
    dt_var_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "var", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    options->unbiased.given ? dt__call_bool(&args[2], options->unbiased.value) : dt__call_bool(&args[2], true);
    dt__call_bool(&args[3], options->keepdim);
    return dt__call_run(&call, DT__OP_var, options->site);
}

dt_tensor *dt_var_correction_sized(dt_tensor *self, const dt_var_correction_options *options, size_t options_size) {
    dt_var_correction_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "var", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    options->correction.type != DT_ARG_NONE ? dt__call_number(&args[2], options->correction)
                                            : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    return dt__call_run(&call, DT__OP_var, options->site);
}

dt_var_mean_result dt_var_mean_sized(dt_tensor *self, const dt_var_mean_options *options, size_t options_size) {
    dt_var_mean_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "var_mean", options, options_size, &full);
    if (!options)
        return (dt_var_mean_result){0};
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    options->unbiased.given ? dt__call_bool(&args[2], options->unbiased.value) : dt__call_bool(&args[2], true);
    dt__call_bool(&args[3], options->keepdim);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_var_mean, options->site, outputs, 2);
    return (dt_var_mean_result){outputs[0], outputs[1]};
}

dt_var_mean_correction_result
dt_var_mean_correction_sized(dt_tensor *self, const dt_var_mean_correction_options *options, size_t options_size) {
    dt_var_mean_correction_options full;
    dt__call call;
    dt_arg args[4];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "var_mean", options, options_size, &full);
    if (!options)
        return (dt_var_mean_correction_result){0};
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, self);
    options->dim.list ? dt__call_dims(&args[1], options->dim) : dt__call_none(&args[1]);
    options->correction.type != DT_ARG_NONE ? dt__call_number(&args[2], options->correction)
                                            : dt__call_none(&args[2]);
    dt__call_bool(&args[3], options->keepdim);
    dt_tensor *outputs[2];
    dt__call_run_tuple(&call, DT__OP_var_mean, options->site, outputs, 2);
    return (dt_var_mean_correction_result){outputs[0], outputs[1]};
}

dt_tensor *dt_vdot_sized(dt_tensor *self, dt_tensor *other, const dt_vdot_options *options, size_t options_size) {
    dt_vdot_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "vdot", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_vdot, options->site);
}

dt_tensor *dt_view_sized(dt_tensor *self, dt_shape size, const dt_view_options *options, size_t options_size) {
    dt_view_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "view", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_sizes(&args[1], size);
    return dt__call_run(&call, DT__OP_view, options->site);
}

dt_tensor *dt_view_as_sized(dt_tensor *self, dt_tensor *other, const dt_view_as_options *options,
                            size_t options_size) {
    dt_view_as_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "view_as", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_view_as, options->site);
}

dt_tensor *dt_vstack_sized(dt_tensors tensors, const dt_vstack_options *options, size_t options_size) {
    dt_vstack_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt__ctx_of_list(tensors);
    options = DT__OPTIONS(ctx, "vstack", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensors(&args[0], &call, tensors);
    return dt__call_run(&call, DT__OP_vstack, options->site);
}

dt_tensor *dt_where_sized(dt_tensor *condition, dt_tensor *self, dt_tensor *other, const dt_where_options *options,
                          size_t options_size) {
    dt_where_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(condition);
    options = DT__OPTIONS(ctx, "where", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, condition);
    dt__call_tensor(&args[1], &call, self);
    dt__call_tensor(&args[2], &call, other);
    return dt__call_run(&call, DT__OP_where, options->site);
}

dt_tensor *dt_where_scalar_other_sized(dt_tensor *condition, dt_tensor *self, dt_number other,
                                       const dt_where_scalar_other_options *options, size_t options_size) {
    dt_where_scalar_other_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(condition);
    options = DT__OPTIONS(ctx, "where", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, condition);
    dt__call_tensor(&args[1], &call, self);
    dt__call_number(&args[2], other);
    return dt__call_run(&call, DT__OP_where, options->site);
}

dt_tensor *dt_where_scalar_self_sized(dt_tensor *condition, dt_number self, dt_tensor *other,
                                      const dt_where_scalar_self_options *options, size_t options_size) {
    dt_where_scalar_self_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(condition);
    options = DT__OPTIONS(ctx, "where", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_tensor(&args[0], &call, condition);
    dt__call_number(&args[1], self);
    dt__call_tensor(&args[2], &call, other);
    return dt__call_run(&call, DT__OP_where, options->site);
}

dt_tensor *dt_where_scalars_sized(dt_tensor *condition, dt_number self, dt_number other,
                                  const dt_where_scalars_options *options, size_t options_size) {
    dt_where_scalars_options full;
    dt__call call;
    dt_arg args[3];
    dt_ctx *ctx = dt_tensor_ctx(condition);
    options = DT__OPTIONS(ctx, "where", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 3, args);
    dt__call_tensor(&args[0], &call, condition);
    dt__call_number(&args[1], self);
    dt__call_number(&args[2], other);
    return dt__call_run(&call, DT__OP_where, options->site);
}

dt_tensor *dt_xlogy_sized(dt_tensor *self, dt_tensor *other, const dt_xlogy_options *options, size_t options_size) {
    dt_xlogy_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "xlogy", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_xlogy, options->site);
}

dt_tensor *dt_xlogy_scalar_other_sized(dt_tensor *self, dt_number other, const dt_xlogy_scalar_other_options *options,
                                       size_t options_size) {
    dt_xlogy_scalar_other_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "xlogy", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_xlogy, options->site);
}

dt_tensor *dt_xlogy_scalar_self_sized(dt_number self, dt_tensor *other, const dt_xlogy_scalar_self_options *options,
                                      size_t options_size) {
    dt_xlogy_scalar_self_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(other);
    options = DT__OPTIONS(ctx, "xlogy", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 2, args);
    dt__call_number(&args[0], self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_xlogy, options->site);
}

dt_tensor *dt_xlogy_in_place_sized(dt_tensor *self, dt_tensor *other, const dt_xlogy_in_place_options *options,
                                   size_t options_size) {
    dt_xlogy_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "xlogy_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_tensor(&args[1], &call, other);
    return dt__call_run(&call, DT__OP_xlogy_, options->site);
}

dt_tensor *dt_xlogy_scalar_in_place_sized(dt_tensor *self, dt_number other,
                                          const dt_xlogy_scalar_in_place_options *options, size_t options_size) {
    dt_xlogy_scalar_in_place_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "xlogy_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 1, args);
    dt__call_tensor(&args[0], &call, self);
    dt__call_number(&args[1], other);
    return dt__call_run(&call, DT__OP_xlogy_, options->site);
}

dt_tensor *dt_zero_in_place_sized(dt_tensor *self, const dt_zero_in_place_options *options, size_t options_size) {
    dt_zero_in_place_options full;
    dt__call call;
    dt_arg args[1];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "zero_", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    return dt__call_run(&call, DT__OP_zero_, options->site);
}

dt_tensor *dt_zeros_sized(dt_ctx *ctx, dt_shape size, const dt_make_options *options, size_t options_size) {
    dt_make_options full;
    dt__call call;
    dt_arg args[2];
    options = DT__OPTIONS(ctx, "zeros", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_sizes(&args[0], size);
    dt__call_dtype(&args[1], options->dtype ? options->dtype : DT_F32);
    call.maker = &(dt__maker_place){options->mesh, options->place, options->requires_grad, options->use};
    return dt__call_run(&call, DT__OP_zeros, options->site);
}

dt_tensor *dt_zeros_like_sized(dt_tensor *self, const dt_zeros_like_options *options, size_t options_size) {
    dt_zeros_like_options full;
    dt__call call;
    dt_arg args[2];
    dt_ctx *ctx = dt_tensor_ctx(self);
    options = DT__OPTIONS(ctx, "zeros_like", options, options_size, &full);
    if (!options)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    dt__call_tensor(&args[0], &call, self);
    options->dtype ? dt__call_dtype(&args[1], options->dtype) : dt__call_none(&args[1]);
    return dt__call_run(&call, DT__OP_zeros_like, options->site);
}
