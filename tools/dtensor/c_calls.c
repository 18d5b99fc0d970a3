/* SPDX-License-Identifier: Apache-2.0
 *
 * A call in C of each function of dtensor/ops.h, as `dtensor ops` prints it. Made by scripts/make_ops.py from the
 * schema lines of the ops: change those.
 */
#include "c_calls.h"

const c_call c_calls[] = {
    {"T", "dt_tensor *self;\n"
          "dt_tensor *result = dt_T(self);\n"},
    {"_foreach_abs", "dt_tensors self; dt_tensor *out[8];\n"
                     "int n = dt_foreach_abs(self, out, 8);\n"},
    {"_foreach_acos", "dt_tensors self; dt_tensor *out[8];\n"
                      "int n = dt_foreach_acos(self, out, 8);\n"},
    {"_foreach_acos_", "dt_tensors self;\n"
                       "dt_status status = dt_foreach_acos_(self);\n"},
    {"_foreach_add", "dt_tensors self; dt_tensors other; dt_tensor *out[8];\n"
                     "int n = dt_foreach_add(self, other, out, 8, .alpha = DT_NUMBER(1));\n"},
    {"_foreach_add", "dt_tensors self; double scalar; dt_tensor *out[8];\n"
                     "int n = dt_foreach_add_scalar(self, scalar, out, 8);\n"},
    {"_foreach_add_", "dt_tensors self; dt_tensors other;\n"
                      "dt_status status = dt_foreach_add_(self, other, .alpha = DT_NUMBER(1));\n"},
    {"_foreach_add_", "dt_tensors self; double scalar;\n"
                      "dt_status status = dt_foreach_add_scalar_(self, scalar);\n"},
    {"_foreach_max", "dt_tensors self; dt_tensor *out[8];\n"
                     "int n = dt_foreach_max(self, out, 8);\n"},
    {"_foreach_mul", "dt_tensors self; dt_tensors other; dt_tensor *out[8];\n"
                     "int n = dt_foreach_mul(self, other, out, 8);\n"},
    {"_foreach_mul", "dt_tensors self; double scalar; dt_tensor *out[8];\n"
                     "int n = dt_foreach_mul_scalar(self, scalar, out, 8);\n"},
    {"_foreach_mul_", "dt_tensors self; dt_tensors other;\n"
                      "dt_status status = dt_foreach_mul_(self, other);\n"},
    {"_foreach_mul_", "dt_tensors self; double scalar;\n"
                      "dt_status status = dt_foreach_mul_scalar_(self, scalar);\n"},
    {"_foreach_neg", "dt_tensors self; dt_tensor *out[8];\n"
                     "int n = dt_foreach_neg(self, out, 8);\n"},
    {"_foreach_norm", "dt_tensors self; dt_tensor *out[8];\n"
                      "int n = dt_foreach_norm(self, out, 8, .ord = DT_NUMBER(2));\n"},
    {"_foreach_power_sum", "dt_tensors self; dt_tensor *out[8];\n"
                           "int n = dt_foreach_power_sum(self, out, 8, .ord = DT_NUMBER(2));\n"},
    {"_fused_adagrad_", "dt_tensors self; dt_tensors grads; dt_tensors state_sums; double lr;\n"
                        "int64_t step;\n"
                        "dt_status status = dt_fused_adagrad_(self, grads, state_sums, lr, step,\n"
                        "    .lr_decay = DT_REAL(0.0), .weight_decay = DT_REAL(0.0),\n"
                        "    .eps = DT_REAL(1e-10), .maximize = true, .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_adam_", "dt_tensors self; dt_tensors grads; dt_tensors exp_avgs;\n"
                     "dt_tensors exp_avg_sqs; double lr; int64_t step;\n"
                     "dt_status status = dt_fused_adam_(self, grads, exp_avgs, exp_avg_sqs, lr, step,\n"
                     "    .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
                     "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08), .maximize = true,\n"
                     "    .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_adam_", "dt_tensors self; dt_tensors grads; dt_tensors exp_avgs;\n"
                     "dt_tensors exp_avg_sqs; dt_tensors max_exp_avg_sqs; double lr; int64_t step;\n"
                     "dt_status status = dt_fused_adam_amsgrad_(self, grads, exp_avgs, exp_avg_sqs,\n"
                     "    max_exp_avg_sqs, lr, step, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
                     "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08), .maximize = true,\n"
                     "    .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_adamax_", "dt_tensors self; dt_tensors grads; dt_tensors exp_avgs; dt_tensors exp_infs;\n"
                       "double lr; int64_t step;\n"
                       "dt_status status = dt_fused_adamax_(self, grads, exp_avgs, exp_infs, lr, step,\n"
                       "    .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
                       "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08), .maximize = true,\n"
                       "    .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_adamw_", "dt_tensors self; dt_tensors grads; dt_tensors exp_avgs;\n"
                      "dt_tensors exp_avg_sqs; double lr; int64_t step;\n"
                      "dt_status status = dt_fused_adamw_(self, grads, exp_avgs, exp_avg_sqs, lr,\n"
                      "    step, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
                      "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08), .maximize = true,\n"
                      "    .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_adamw_", "dt_tensors self; dt_tensors grads; dt_tensors exp_avgs;\n"
                      "dt_tensors exp_avg_sqs; dt_tensors max_exp_avg_sqs; double lr; int64_t step;\n"
                      "dt_status status = dt_fused_adamw_amsgrad_(self, grads, exp_avgs, exp_avg_sqs,\n"
                      "    max_exp_avg_sqs, lr, step, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
                      "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08), .maximize = true,\n"
                      "    .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_lion_", "dt_tensors self; dt_tensors grads; dt_tensors exp_avgs; double lr;\n"
                     "dt_status status = dt_fused_lion_(self, grads, exp_avgs, lr,\n"
                     "    .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.99),\n"
                     "    .weight_decay = DT_REAL(0.0), .maximize = true,\n"
                     "    .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_nadam_", "dt_tensors self; dt_tensors grads; dt_tensors exp_avgs;\n"
                      "dt_tensors exp_avg_sqs; double lr; int64_t step; double mu_product;\n"
                      "dt_status status = dt_fused_nadam_(self, grads, exp_avgs, exp_avg_sqs, lr,\n"
                      "    step, mu_product, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
                      "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08),\n"
                      "    .momentum_decay = DT_REAL(0.004), .decoupled_weight_decay = true,\n"
                      "    .maximize = true, .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_radam_", "dt_tensors self; dt_tensors grads; dt_tensors exp_avgs;\n"
                      "dt_tensors exp_avg_sqs; double lr; int64_t step;\n"
                      "dt_status status = dt_fused_radam_(self, grads, exp_avgs, exp_avg_sqs, lr,\n"
                      "    step, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
                      "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08),\n"
                      "    .decoupled_weight_decay = true, .maximize = true,\n"
                      "    .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_rms_norm_backward", "dt_tensor *grad_out; dt_tensor *input; dt_shape normalized_shape;\n"
                                 "dt_tensor *rstd; dt_ints output_mask; dt_tensor *weight;\n"
                                 "dt_fused_rms_norm_backward_result result = dt_fused_rms_norm_backward(grad_out,\n"
                                 "    input, normalized_shape, rstd, output_mask, .weight = weight);\n"
                                 "/* result.grad_input, result.grad_weight */\n"},
    {"_fused_rmsprop_", "dt_tensors self; dt_tensors grads; dt_tensors square_avgs; double lr;\n"
                        "dt_status status = dt_fused_rmsprop_(self, grads, square_avgs, lr,\n"
                        "    .alpha = DT_REAL(0.99), .weight_decay = DT_REAL(0.0),\n"
                        "    .eps = DT_REAL(1e-08), .momentum = DT_REAL(0.0), .centered = true,\n"
                        "    .maximize = true, .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_rmsprop_", "dt_tensors self; dt_tensors grads; dt_tensors square_avgs; dt_tensors states;\n"
                        "double lr;\n"
                        "dt_status status = dt_fused_rmsprop_state_(self, grads, square_avgs, states,\n"
                        "    lr, .alpha = DT_REAL(0.99), .weight_decay = DT_REAL(0.0),\n"
                        "    .eps = DT_REAL(1e-08), .momentum = DT_REAL(0.0), .centered = true,\n"
                        "    .maximize = true, .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_rmsprop_", "dt_tensors self; dt_tensors grads; dt_tensors square_avgs;\n"
                        "dt_tensors grad_avgs; dt_tensors momentum_buffers; double lr;\n"
                        "dt_status status = dt_fused_rmsprop_centered_momentum_(self, grads,\n"
                        "    square_avgs, grad_avgs, momentum_buffers, lr, .alpha = DT_REAL(0.99),\n"
                        "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08),\n"
                        "    .momentum = DT_REAL(0.0), .centered = true, .maximize = true,\n"
                        "    .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_sgd_", "dt_tensors self; dt_tensors grads; double lr;\n"
                    "dt_status status = dt_fused_sgd_(self, grads, lr, .weight_decay = DT_REAL(0.0),\n"
                    "    .momentum = DT_REAL(0.0), .dampening = DT_REAL(0.0), .nesterov = true,\n"
                    "    .maximize = true, .is_first = true, .grad_scale = DT_REAL(1.0));\n"},
    {"_fused_sgd_", "dt_tensors self; dt_tensors grads; dt_tensors momentum_buffers; double lr;\n"
                    "dt_status status = dt_fused_sgd_momentum_(self, grads, momentum_buffers, lr,\n"
                    "    .weight_decay = DT_REAL(0.0), .momentum = DT_REAL(0.0),\n"
                    "    .dampening = DT_REAL(0.0), .nesterov = true, .maximize = true,\n"
                    "    .is_first = true, .grad_scale = DT_REAL(1.0));\n"},
    {"_log_softmax_backward_data", "dt_tensor *grad_output; dt_tensor *output; int64_t dim; dt_dtype input_dtype;\n"
                                   "dt_tensor *result = dt_log_softmax_backward_data(grad_output, output, dim,\n"
                                   "    input_dtype);\n"},
    {"_native_batch_norm_legit_functional",
     "dt_tensor *input; dt_tensor *running_mean; dt_tensor *running_var;\n"
     "bool training; double momentum; double eps; dt_tensor *weight;\n"
     "dt_tensor *bias;\n"
     "dt_native_batch_norm_legit_functional_result result = dt_native_batch_norm_legit_functional(input,\n"
     "    running_mean, running_var, training, momentum, eps, .weight = weight,\n"
     "    .bias = bias);\n"
     "/* result.output, result.save_mean, result.save_invstd, result.running_mean_out, result.running_var_out */\n"},
    {"_softmax_backward_data", "dt_tensor *grad_output; dt_tensor *output; int64_t dim; dt_dtype input_dtype;\n"
                               "dt_tensor *result = dt_softmax_backward_data(grad_output, output, dim,\n"
                               "    input_dtype);\n"},
    {"abs", "dt_tensor *self;\n"
            "dt_tensor *result = dt_abs(self);\n"},
    {"abs_", "dt_tensor *self;\n"
             "dt_tensor *result = dt_abs_(self);\n"},
    {"acos", "dt_tensor *self;\n"
             "dt_tensor *result = dt_acos(self);\n"},
    {"acos_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_acos_(self);\n"},
    {"adagrad_", "dt_tensor *self; dt_tensor *grad; dt_tensor *state_sum; double lr;\n"
                 "int64_t step;\n"
                 "dt_adagrad_in_place_result result = dt_adagrad_(self, grad, state_sum, lr,\n"
                 "    step, .lr_decay = DT_REAL(0.0), .weight_decay = DT_REAL(0.0),\n"
                 "    .eps = DT_REAL(1e-10), .maximize = true, .grad_scale = DT_REAL(1.0));\n"
                 "/* result.self, result.state_sum */\n"},
    {"adam_", "dt_tensor *self; dt_tensor *grad; dt_tensor *exp_avg; dt_tensor *exp_avg_sq;\n"
              "double lr; int64_t step;\n"
              "dt_adam_in_place_result result = dt_adam_(self, grad, exp_avg, exp_avg_sq, lr,\n"
              "    step, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
              "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08), .maximize = true,\n"
              "    .grad_scale = DT_REAL(1.0));\n"
              "/* result.self, result.exp_avg, result.exp_avg_sq */\n"},
    {"adam_", "dt_tensor *self; dt_tensor *grad; dt_tensor *exp_avg; dt_tensor *exp_avg_sq;\n"
              "dt_tensor *max_exp_avg_sq; double lr; int64_t step;\n"
              "dt_adam_amsgrad_in_place_result result = dt_adam_amsgrad_(self, grad, exp_avg,\n"
              "    exp_avg_sq, max_exp_avg_sq, lr, step, .beta1 = DT_REAL(0.9),\n"
              "    .beta2 = DT_REAL(0.999), .weight_decay = DT_REAL(0.0),\n"
              "    .eps = DT_REAL(1e-08), .maximize = true, .grad_scale = DT_REAL(1.0));\n"
              "/* result.self, result.exp_avg, result.exp_avg_sq, result.max_exp_avg_sq */\n"},
    {"adamax_", "dt_tensor *self; dt_tensor *grad; dt_tensor *exp_avg; dt_tensor *exp_inf;\n"
                "double lr; int64_t step;\n"
                "dt_adamax_in_place_result result = dt_adamax_(self, grad, exp_avg, exp_inf, lr,\n"
                "    step, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
                "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08), .maximize = true,\n"
                "    .grad_scale = DT_REAL(1.0));\n"
                "/* result.self, result.exp_avg, result.exp_inf */\n"},
    {"adamw_", "dt_tensor *self; dt_tensor *grad; dt_tensor *exp_avg; dt_tensor *exp_avg_sq;\n"
               "double lr; int64_t step;\n"
               "dt_adamw_in_place_result result = dt_adamw_(self, grad, exp_avg, exp_avg_sq,\n"
               "    lr, step, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
               "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08), .maximize = true,\n"
               "    .grad_scale = DT_REAL(1.0));\n"
               "/* result.self, result.exp_avg, result.exp_avg_sq */\n"},
    {"adamw_", "dt_tensor *self; dt_tensor *grad; dt_tensor *exp_avg; dt_tensor *exp_avg_sq;\n"
               "dt_tensor *max_exp_avg_sq; double lr; int64_t step;\n"
               "dt_adamw_amsgrad_in_place_result result = dt_adamw_amsgrad_(self, grad,\n"
               "    exp_avg, exp_avg_sq, max_exp_avg_sq, lr, step, .beta1 = DT_REAL(0.9),\n"
               "    .beta2 = DT_REAL(0.999), .weight_decay = DT_REAL(0.0),\n"
               "    .eps = DT_REAL(1e-08), .maximize = true, .grad_scale = DT_REAL(1.0));\n"
               "/* result.self, result.exp_avg, result.exp_avg_sq, result.max_exp_avg_sq */\n"},
    {"adaptive_avg_pool1d", "dt_tensor *self; dt_ints output_size;\n"
                            "dt_tensor *result = dt_adaptive_avg_pool1d(self, output_size);\n"},
    {"adaptive_avg_pool2d", "dt_tensor *input; dt_ints output_size;\n"
                            "dt_tensor *result = dt_adaptive_avg_pool2d(input, output_size);\n"},
    {"adaptive_avg_pool3d", "dt_tensor *input; dt_ints output_size;\n"
                            "dt_tensor *result = dt_adaptive_avg_pool3d(input, output_size);\n"},
    {"adaptive_max_pool1d", "dt_tensor *input; dt_ints output_size;\n"
                            "dt_tensor *result = dt_adaptive_max_pool1d(input, output_size);\n"},
    {"adaptive_max_pool1d_with_indices",
     "dt_tensor *input; dt_ints output_size;\n"
     "dt_adaptive_max_pool1d_with_indices_result result = dt_adaptive_max_pool1d_with_indices(input,\n"
     "    output_size);\n"
     "/* result.output, result.indices */\n"},
    {"adaptive_max_pool2d", "dt_tensor *input; dt_ints output_size;\n"
                            "dt_tensor *result = dt_adaptive_max_pool2d(input, output_size);\n"},
    {"adaptive_max_pool2d_with_indices",
     "dt_tensor *input; dt_ints output_size;\n"
     "dt_adaptive_max_pool2d_with_indices_result result = dt_adaptive_max_pool2d_with_indices(input,\n"
     "    output_size);\n"
     "/* result.output, result.indices */\n"},
    {"adaptive_max_pool3d", "dt_tensor *input; dt_ints output_size;\n"
                            "dt_tensor *result = dt_adaptive_max_pool3d(input, output_size);\n"},
    {"adaptive_max_pool3d_with_indices",
     "dt_tensor *input; dt_ints output_size;\n"
     "dt_adaptive_max_pool3d_with_indices_result result = dt_adaptive_max_pool3d_with_indices(input,\n"
     "    output_size);\n"
     "/* result.output, result.indices */\n"},
    {"add", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_add(self, other, .alpha = DT_NUMBER(1));\n"},
    {"add", "dt_tensor *self; double other;\n"
            "dt_tensor *result = dt_add_scalar(self, other, .alpha = DT_NUMBER(1));\n"},
    {"add_", "dt_tensor *self; dt_tensor *other;\n"
             "dt_tensor *result = dt_add_(self, other, .alpha = DT_NUMBER(1));\n"},
    {"add_", "dt_tensor *self; double other;\n"
             "dt_tensor *result = dt_add_scalar_(self, other, .alpha = DT_NUMBER(1));\n"},
    {"addbmm", "dt_tensor *self; dt_tensor *batch1; dt_tensor *batch2;\n"
               "dt_tensor *result = dt_addbmm(self, batch1, batch2, .beta = DT_NUMBER(1),\n"
               "    .alpha = DT_NUMBER(1));\n"},
    {"addbmm_", "dt_tensor *self; dt_tensor *batch1; dt_tensor *batch2;\n"
                "dt_tensor *result = dt_addbmm_(self, batch1, batch2, .beta = DT_NUMBER(1),\n"
                "    .alpha = DT_NUMBER(1));\n"},
    {"addcdiv", "dt_tensor *self; dt_tensor *tensor1; dt_tensor *tensor2;\n"
                "dt_tensor *result = dt_addcdiv(self, tensor1, tensor2, .value = DT_NUMBER(1));\n"},
    {"addcdiv_", "dt_tensor *self; dt_tensor *tensor1; dt_tensor *tensor2;\n"
                 "dt_tensor *result = dt_addcdiv_(self, tensor1, tensor2,\n"
                 "    .value = DT_NUMBER(1));\n"},
    {"addcmul", "dt_tensor *self; dt_tensor *tensor1; dt_tensor *tensor2;\n"
                "dt_tensor *result = dt_addcmul(self, tensor1, tensor2, .value = DT_NUMBER(1));\n"},
    {"addcmul_", "dt_tensor *self; dt_tensor *tensor1; dt_tensor *tensor2;\n"
                 "dt_tensor *result = dt_addcmul_(self, tensor1, tensor2,\n"
                 "    .value = DT_NUMBER(1));\n"},
    {"addmm", "dt_tensor *self; dt_tensor *mat1; dt_tensor *mat2;\n"
              "dt_tensor *result = dt_addmm(self, mat1, mat2, .beta = DT_NUMBER(1),\n"
              "    .alpha = DT_NUMBER(1));\n"},
    {"addmm_", "dt_tensor *self; dt_tensor *mat1; dt_tensor *mat2;\n"
               "dt_tensor *result = dt_addmm_(self, mat1, mat2, .beta = DT_NUMBER(1),\n"
               "    .alpha = DT_NUMBER(1));\n"},
    {"addmv", "dt_tensor *self; dt_tensor *mat; dt_tensor *vec;\n"
              "dt_tensor *result = dt_addmv(self, mat, vec, .beta = DT_NUMBER(1),\n"
              "    .alpha = DT_NUMBER(1));\n"},
    {"addmv_", "dt_tensor *self; dt_tensor *mat; dt_tensor *vec;\n"
               "dt_tensor *result = dt_addmv_(self, mat, vec, .beta = DT_NUMBER(1),\n"
               "    .alpha = DT_NUMBER(1));\n"},
    {"addr", "dt_tensor *self; dt_tensor *vec1; dt_tensor *vec2;\n"
             "dt_tensor *result = dt_addr(self, vec1, vec2, .beta = DT_NUMBER(1),\n"
             "    .alpha = DT_NUMBER(1));\n"},
    {"addr_", "dt_tensor *self; dt_tensor *vec1; dt_tensor *vec2;\n"
              "dt_tensor *result = dt_addr_(self, vec1, vec2, .beta = DT_NUMBER(1),\n"
              "    .alpha = DT_NUMBER(1));\n"},
    {"all", "dt_tensor *self;\n"
            "dt_tensor *result = dt_all(self, .dim = DT_DIMS(0), .keepdim = true);\n"},
    {"allclose", "dt_tensor *self; dt_tensor *other;\n"
                 "dt_tensor *result = dt_allclose(self, other, .rtol = DT_REAL(1e-05),\n"
                 "    .atol = DT_REAL(1e-08), .equal_nan = true);\n"},
    {"amax", "dt_tensor *self;\n"
             "dt_tensor *result = dt_amax(self, .dim = DT_DIMS(0), .keepdim = true);\n"},
    {"amin", "dt_tensor *self;\n"
             "dt_tensor *result = dt_amin(self, .dim = DT_DIMS(0), .keepdim = true);\n"},
    {"aminmax", "dt_tensor *self;\n"
                "dt_aminmax_result result = dt_aminmax(self, .dim = DT_INT(0),\n"
                "    .keepdim = true);\n"
                "/* result.min, result.max */\n"},
    {"any", "dt_tensor *self;\n"
            "dt_tensor *result = dt_any(self, .dim = DT_DIMS(0), .keepdim = true);\n"},
    {"arange", "dt_ctx *ctx; double start; double end; double step; dt_mesh *mesh;\n"
               "dt_tensor *result = dt_arange(ctx, start, end, step, .dtype = DT_F32,\n"
               "    .mesh = mesh, .place = \"R\", .requires_grad = true);\n"},
    {"argmax", "dt_tensor *self;\n"
               "dt_tensor *result = dt_argmax(self, .dim = DT_INT(0), .keepdim = true);\n"},
    {"argmin", "dt_tensor *self;\n"
               "dt_tensor *result = dt_argmin(self, .dim = DT_INT(0), .keepdim = true);\n"},
    {"argsort", "dt_tensor *self;\n"
                "dt_tensor *result = dt_argsort(self, .dim = DT_INT(-1), .descending = true);\n"},
    {"argsort", "dt_tensor *self; bool stable;\n"
                "dt_tensor *result = dt_argsort_stable(self, stable, .dim = DT_INT(-1),\n"
                "    .descending = true);\n"},
    {"asin", "dt_tensor *self;\n"
             "dt_tensor *result = dt_asin(self);\n"},
    {"asin_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_asin_(self);\n"},
    {"atan", "dt_tensor *self;\n"
             "dt_tensor *result = dt_atan(self);\n"},
    {"atan2", "dt_tensor *self; dt_tensor *other;\n"
              "dt_tensor *result = dt_atan2(self, other);\n"},
    {"atan2_", "dt_tensor *self; dt_tensor *other;\n"
               "dt_tensor *result = dt_atan2_(self, other);\n"},
    {"atan_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_atan_(self);\n"},
    {"attention_backward", "dt_tensor *grad_out; dt_tensor *query; dt_tensor *key; dt_tensor *value;\n"
                           "dt_tensor *out; dt_tensor *logsumexp; dt_tensor *attn_mask;\n"
                           "dt_attention_backward_result result = dt_attention_backward(grad_out, query,\n"
                           "    key, value, out, logsumexp, .attn_mask = attn_mask, .is_causal = true,\n"
                           "    .scale = DT_REAL(0.5), .enable_gqa = true, .dropout_p = DT_REAL(0.0),\n"
                           "    .seed = DT_INT(0), .draw = DT_INT(0));\n"
                           "/* result.grad_query, result.grad_key, result.grad_value */\n"},
    {"attention_mask_backward", "dt_tensor *grad_out; dt_tensor *query; dt_tensor *key; dt_tensor *value;\n"
                                "dt_tensor *out; dt_tensor *logsumexp; dt_tensor *attn_mask;\n"
                                "dt_tensor *result = dt_attention_mask_backward(grad_out, query, key, value,\n"
                                "    out, logsumexp, .attn_mask = attn_mask, .is_causal = true,\n"
                                "    .scale = DT_REAL(0.5), .enable_gqa = true, .dropout_p = DT_REAL(0.0),\n"
                                "    .seed = DT_INT(0), .draw = DT_INT(0));\n"},
    {"avg_pool1d", "dt_tensor *self; dt_ints kernel_size;\n"
                   "dt_tensor *result = dt_avg_pool1d(self, kernel_size, .stride = DT_INTS(1),\n"
                   "    .padding = DT_INTS(1), .ceil_mode = true, .count_include_pad = DT_FALSE);\n"},
    {"avg_pool2d", "dt_tensor *self; dt_ints kernel_size;\n"
                   "dt_tensor *result = dt_avg_pool2d(self, kernel_size, .stride = DT_INTS(1),\n"
                   "    .padding = DT_INTS(1), .ceil_mode = true, .count_include_pad = DT_FALSE,\n"
                   "    .divisor_override = DT_INT(0));\n"},
    {"avg_pool3d", "dt_tensor *self; dt_ints kernel_size;\n"
                   "dt_tensor *result = dt_avg_pool3d(self, kernel_size, .stride = DT_INTS(1),\n"
                   "    .padding = DT_INTS(1), .ceil_mode = true, .count_include_pad = DT_FALSE,\n"
                   "    .divisor_override = DT_INT(0));\n"},
    {"baddbmm", "dt_tensor *self; dt_tensor *batch1; dt_tensor *batch2;\n"
                "dt_tensor *result = dt_baddbmm(self, batch1, batch2, .beta = DT_NUMBER(1),\n"
                "    .alpha = DT_NUMBER(1));\n"},
    {"baddbmm_", "dt_tensor *self; dt_tensor *batch1; dt_tensor *batch2;\n"
                 "dt_tensor *result = dt_baddbmm_(self, batch1, batch2, .beta = DT_NUMBER(1),\n"
                 "    .alpha = DT_NUMBER(1));\n"},
    {"batch_norm", "dt_tensor *input; dt_tensor *running_mean; dt_tensor *running_var;\n"
                   "dt_tensor *weight; dt_tensor *bias;\n"
                   "dt_tensor *result = dt_batch_norm(input, .running_mean = running_mean,\n"
                   "    .running_var = running_var, .weight = weight, .bias = bias,\n"
                   "    .training = true, .momentum = DT_REAL(0.1), .eps = DT_REAL(1e-05));\n"},
    {"bfloat16", "dt_tensor *self;\n"
                 "dt_tensor *result = dt_bfloat16(self);\n"},
    {"binary_cross_entropy", "dt_tensor *input; dt_tensor *target; dt_tensor *weight;\n"
                             "dt_tensor *result = dt_binary_cross_entropy(input, target, .weight = weight,\n"
                             "    .reduction = \"mean\");\n"},
    {"binary_cross_entropy_with_logits",
     "dt_tensor *input; dt_tensor *target; dt_tensor *weight; dt_tensor *pos_weight;\n"
     "dt_tensor *result = dt_binary_cross_entropy_with_logits(input, target,\n"
     "    .weight = weight, .reduction = \"mean\", .pos_weight = pos_weight);\n"},
    {"bitwise_and", "dt_tensor *self; dt_tensor *other;\n"
                    "dt_tensor *result = dt_bitwise_and(self, other);\n"},
    {"bitwise_and", "dt_tensor *self; double other;\n"
                    "dt_tensor *result = dt_bitwise_and_scalar_other(self, other);\n"},
    {"bitwise_and", "double self; dt_tensor *other;\n"
                    "dt_tensor *result = dt_bitwise_and_scalar_self(self, other);\n"},
    {"bitwise_and_", "dt_tensor *self; dt_tensor *other;\n"
                     "dt_tensor *result = dt_bitwise_and_(self, other);\n"},
    {"bitwise_and_", "dt_tensor *self; double other;\n"
                     "dt_tensor *result = dt_bitwise_and_scalar_(self, other);\n"},
    {"bitwise_not", "dt_tensor *self;\n"
                    "dt_tensor *result = dt_bitwise_not(self);\n"},
    {"bitwise_not_", "dt_tensor *self;\n"
                     "dt_tensor *result = dt_bitwise_not_(self);\n"},
    {"bitwise_or", "dt_tensor *self; dt_tensor *other;\n"
                   "dt_tensor *result = dt_bitwise_or(self, other);\n"},
    {"bitwise_or", "dt_tensor *self; double other;\n"
                   "dt_tensor *result = dt_bitwise_or_scalar_other(self, other);\n"},
    {"bitwise_or", "double self; dt_tensor *other;\n"
                   "dt_tensor *result = dt_bitwise_or_scalar_self(self, other);\n"},
    {"bitwise_or_", "dt_tensor *self; dt_tensor *other;\n"
                    "dt_tensor *result = dt_bitwise_or_(self, other);\n"},
    {"bitwise_or_", "dt_tensor *self; double other;\n"
                    "dt_tensor *result = dt_bitwise_or_scalar_(self, other);\n"},
    {"bitwise_xor", "dt_tensor *self; dt_tensor *other;\n"
                    "dt_tensor *result = dt_bitwise_xor(self, other);\n"},
    {"bitwise_xor", "dt_tensor *self; double other;\n"
                    "dt_tensor *result = dt_bitwise_xor_scalar_other(self, other);\n"},
    {"bitwise_xor", "double self; dt_tensor *other;\n"
                    "dt_tensor *result = dt_bitwise_xor_scalar_self(self, other);\n"},
    {"bitwise_xor_", "dt_tensor *self; dt_tensor *other;\n"
                     "dt_tensor *result = dt_bitwise_xor_(self, other);\n"},
    {"bitwise_xor_", "dt_tensor *self; double other;\n"
                     "dt_tensor *result = dt_bitwise_xor_scalar_(self, other);\n"},
    {"bmm", "dt_tensor *self; dt_tensor *mat2;\n"
            "dt_tensor *result = dt_bmm(self, mat2);\n"},
    {"bool", "dt_tensor *self;\n"
             "dt_tensor *result = dt_bool(self);\n"},
    {"broadcast_to", "dt_tensor *self; dt_shape size;\n"
                     "dt_tensor *result = dt_broadcast_to(self, size);\n"},
    {"bucketize", "dt_tensor *self; dt_tensor *boundaries;\n"
                  "dt_tensor *result = dt_bucketize(self, boundaries, .out_int32 = true,\n"
                  "    .right = true);\n"},
    {"bucketize", "double self; dt_tensor *boundaries;\n"
                  "dt_tensor *result = dt_bucketize_scalar(self, boundaries, .out_int32 = true,\n"
                  "    .right = true);\n"},
    {"byte", "dt_tensor *self;\n"
             "dt_tensor *result = dt_byte(self);\n"},
    {"cat", "dt_tensors tensors;\n"
            "dt_tensor *result = dt_cat(tensors, .dim = DT_INT(0));\n"},
    {"cdouble", "dt_tensor *self;\n"
                "dt_tensor *result = dt_cdouble(self);\n"},
    {"ceil", "dt_tensor *self;\n"
             "dt_tensor *result = dt_ceil(self);\n"},
    {"ceil_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_ceil_(self);\n"},
    {"celu", "dt_tensor *input;\n"
             "dt_tensor *result = dt_celu(input, .alpha = DT_REAL(1.0));\n"},
    {"celu_", "dt_tensor *input;\n"
              "dt_tensor *result = dt_celu_(input, .alpha = DT_REAL(1.0));\n"},
    {"cfloat", "dt_tensor *self;\n"
               "dt_tensor *result = dt_cfloat(self);\n"},
    {"char", "dt_tensor *self;\n"
             "dt_tensor *result = dt_char(self);\n"},
    {"cholesky", "dt_tensor *self;\n"
                 "dt_tensor *result = dt_cholesky(self, .upper = true);\n"},
    {"cholesky_inverse", "dt_tensor *self;\n"
                         "dt_tensor *result = dt_cholesky_inverse(self, .upper = true);\n"},
    {"cholesky_solve", "dt_tensor *self; dt_tensor *input2;\n"
                       "dt_tensor *result = dt_cholesky_solve(self, input2, .upper = true);\n"},
    {"chunk", "dt_tensor *self; int64_t chunks; dt_tensor *out[8];\n"
              "int n = dt_chunk(self, chunks, out, 8, .dim = DT_INT(0));\n"},
    {"clamp", "dt_tensor *self;\n"
              "dt_tensor *result = dt_clamp(self, .min = DT_NUMBER(1), .max = DT_NUMBER(1));\n"},
    {"clamp", "dt_tensor *self; dt_tensor *min; dt_tensor *max;\n"
              "dt_tensor *result = dt_clamp_tensor(self, .min = min, .max = max);\n"},
    {"clamp_", "dt_tensor *self;\n"
               "dt_tensor *result = dt_clamp_(self, .min = DT_NUMBER(1), .max = DT_NUMBER(1));\n"},
    {"clamp_", "dt_tensor *self; dt_tensor *min; dt_tensor *max;\n"
               "dt_tensor *result = dt_clamp_tensor_(self, .min = min, .max = max);\n"},
    {"clamp_max", "dt_tensor *self; double max;\n"
                  "dt_tensor *result = dt_clamp_max(self, max);\n"},
    {"clamp_max", "dt_tensor *self; dt_tensor *max;\n"
                  "dt_tensor *result = dt_clamp_max_tensor(self, max);\n"},
    {"clamp_max_", "dt_tensor *self; double max;\n"
                   "dt_tensor *result = dt_clamp_max_(self, max);\n"},
    {"clamp_max_", "dt_tensor *self; dt_tensor *max;\n"
                   "dt_tensor *result = dt_clamp_max_tensor_(self, max);\n"},
    {"clamp_min", "dt_tensor *self; double min;\n"
                  "dt_tensor *result = dt_clamp_min(self, min);\n"},
    {"clamp_min", "dt_tensor *self; dt_tensor *min;\n"
                  "dt_tensor *result = dt_clamp_min_tensor(self, min);\n"},
    {"clamp_min_", "dt_tensor *self; double min;\n"
                   "dt_tensor *result = dt_clamp_min_(self, min);\n"},
    {"clamp_min_", "dt_tensor *self; dt_tensor *min;\n"
                   "dt_tensor *result = dt_clamp_min_tensor_(self, min);\n"},
    {"class_total", "dt_tensor *target; dt_tensor *weight;\n"
                    "dt_tensor *result = dt_class_total(target, .weight = weight,\n"
                    "    .ignore_index = DT_INT(-100));\n"},
    {"clone", "dt_tensor *self;\n"
              "dt_tensor *result = dt_clone(self);\n"},
    {"conj", "dt_tensor *self;\n"
             "dt_tensor *result = dt_conj(self);\n"},
    {"constant_pad_nd", "dt_tensor *self; dt_ints pad;\n"
                        "dt_tensor *result = dt_constant_pad_nd(self, pad, .value = DT_NUMBER(0));\n"},
    {"contiguous", "dt_tensor *self;\n"
                   "dt_tensor *result = dt_contiguous(self);\n"},
    {"conv1d", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
               "dt_tensor *result = dt_conv1d(input, weight, .bias = bias,\n"
               "    .stride = DT_INTS(1), .padding = DT_INTS(1), .dilation = DT_INTS(1),\n"
               "    .groups = DT_INT(1));\n"},
    {"conv1d", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
               "dt_tensor *result = dt_conv1d_padding(input, weight, .bias = bias,\n"
               "    .stride = DT_INTS(1), .padding = \"valid\", .dilation = DT_INTS(1),\n"
               "    .groups = DT_INT(1));\n"},
    {"conv2d", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
               "dt_tensor *result = dt_conv2d(input, weight, .bias = bias,\n"
               "    .stride = DT_INTS(1), .padding = DT_INTS(1), .dilation = DT_INTS(1),\n"
               "    .groups = DT_INT(1));\n"},
    {"conv2d", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
               "dt_tensor *result = dt_conv2d_padding(input, weight, .bias = bias,\n"
               "    .stride = DT_INTS(1), .padding = \"valid\", .dilation = DT_INTS(1),\n"
               "    .groups = DT_INT(1));\n"},
    {"conv3d", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
               "dt_tensor *result = dt_conv3d(input, weight, .bias = bias,\n"
               "    .stride = DT_INTS(1), .padding = DT_INTS(1), .dilation = DT_INTS(1),\n"
               "    .groups = DT_INT(1));\n"},
    {"conv3d", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
               "dt_tensor *result = dt_conv3d_padding(input, weight, .bias = bias,\n"
               "    .stride = DT_INTS(1), .padding = \"valid\", .dilation = DT_INTS(1),\n"
               "    .groups = DT_INT(1));\n"},
    {"conv_forward", "dt_tensor *input; dt_tensor *weight; dt_shape sizes;\n"
                     "dt_tensor *result = dt_conv_forward(input, weight, sizes, .stride = DT_INTS(1),\n"
                     "    .padding = DT_INTS(1), .dilation = DT_INTS(1), .groups = DT_INT(1));\n"},
    {"conv_input_backward", "dt_tensor *grad_output; dt_tensor *weight; dt_shape sizes;\n"
                            "dt_tensor *result = dt_conv_input_backward(grad_output, weight, sizes,\n"
                            "    .stride = DT_INTS(1), .padding = DT_INTS(1), .dilation = DT_INTS(1),\n"
                            "    .groups = DT_INT(1));\n"},
    {"conv_transpose1d", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
                         "dt_tensor *result = dt_conv_transpose1d(input, weight, .bias = bias,\n"
                         "    .stride = DT_INTS(1), .padding = DT_INTS(1), .output_padding = DT_INTS(1),\n"
                         "    .groups = DT_INT(1), .dilation = DT_INTS(1));\n"},
    {"conv_transpose2d", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
                         "dt_tensor *result = dt_conv_transpose2d(input, weight, .bias = bias,\n"
                         "    .stride = DT_INTS(1), .padding = DT_INTS(1), .output_padding = DT_INTS(1),\n"
                         "    .groups = DT_INT(1), .dilation = DT_INTS(1));\n"},
    {"conv_transpose3d", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
                         "dt_tensor *result = dt_conv_transpose3d(input, weight, .bias = bias,\n"
                         "    .stride = DT_INTS(1), .padding = DT_INTS(1), .output_padding = DT_INTS(1),\n"
                         "    .groups = DT_INT(1), .dilation = DT_INTS(1));\n"},
    {"conv_weight_backward", "dt_tensor *input; dt_tensor *grad_output; dt_shape sizes;\n"
                             "dt_tensor *result = dt_conv_weight_backward(input, grad_output, sizes,\n"
                             "    .stride = DT_INTS(1), .padding = DT_INTS(1), .dilation = DT_INTS(1),\n"
                             "    .groups = DT_INT(1));\n"},
    {"convolution", "dt_tensor *input; dt_tensor *weight; dt_ints stride; dt_ints padding;\n"
                    "dt_ints dilation; bool transposed; dt_ints output_padding; int64_t groups;\n"
                    "dt_tensor *bias;\n"
                    "dt_tensor *result = dt_convolution(input, weight, stride, padding, dilation,\n"
                    "    transposed, output_padding, groups, .bias = bias);\n"},
    {"copy_", "dt_tensor *self; dt_tensor *src;\n"
              "dt_tensor *result = dt_copy_(self, src);\n"},
    {"cos", "dt_tensor *self;\n"
            "dt_tensor *result = dt_cos(self);\n"},
    {"cos_", "dt_tensor *self;\n"
             "dt_tensor *result = dt_cos_(self);\n"},
    {"cosh", "dt_tensor *self;\n"
             "dt_tensor *result = dt_cosh(self);\n"},
    {"cosh_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_cosh_(self);\n"},
    {"cosine_similarity", "dt_tensor *x1; dt_tensor *x2;\n"
                          "dt_tensor *result = dt_cosine_similarity(x1, x2, .dim = DT_INT(1),\n"
                          "    .eps = DT_REAL(1e-08));\n"},
    {"count_nonzero", "dt_tensor *self;\n"
                      "dt_tensor *result = dt_count_nonzero(self, .dim = DT_INT(0));\n"},
    {"count_nonzero", "dt_tensor *self; dt_dims dim;\n"
                      "dt_tensor *result = dt_count_nonzero_dims(self, dim);\n"},
    {"cross", "dt_tensor *self; dt_tensor *other;\n"
              "dt_tensor *result = dt_cross(self, other, .dim = DT_INT(0));\n"},
    {"cross_entropy", "dt_tensor *input; dt_tensor *target; dt_tensor *weight;\n"
                      "dt_tensor *result = dt_cross_entropy(input, target, .weight = weight,\n"
                      "    .ignore_index = DT_INT(-100), .reduction = \"mean\",\n"
                      "    .label_smoothing = DT_REAL(0.0));\n"},
    {"cross_entropy_backward", "dt_tensor *grad; dt_tensor *input; dt_tensor *target; dt_tensor *logsumexp;\n"
                               "dt_tensor *total; dt_tensor *weight;\n"
                               "dt_tensor *result = dt_cross_entropy_backward(grad, input, target, logsumexp,\n"
                               "    total, .weight = weight, .ignore_index = DT_INT(-100), .reduction = \"mean\",\n"
                               "    .label_smoothing = DT_REAL(0.0));\n"},
    {"cummax", "dt_tensor *self; int64_t dim;\n"
               "dt_cummax_result result = dt_cummax(self, dim);\n"
               "/* result.values, result.indices */\n"},
    {"cummin", "dt_tensor *self; int64_t dim;\n"
               "dt_cummin_result result = dt_cummin(self, dim);\n"
               "/* result.values, result.indices */\n"},
    {"cumprod", "dt_tensor *self; int64_t dim;\n"
                "dt_tensor *result = dt_cumprod(self, dim, .dtype = DT_F32);\n"},
    {"cumsum", "dt_tensor *self; int64_t dim;\n"
               "dt_tensor *result = dt_cumsum(self, dim, .dtype = DT_F32);\n"},
    {"cumsum_", "dt_tensor *self; int64_t dim;\n"
                "dt_tensor *result = dt_cumsum_(self, dim, .dtype = DT_F32);\n"},
    {"diag", "dt_tensor *self;\n"
             "dt_tensor *result = dt_diag(self, .diagonal = DT_INT(0));\n"},
    {"diag_embed", "dt_tensor *self;\n"
                   "dt_tensor *result = dt_diag_embed(self, .offset = DT_INT(0),\n"
                   "    .dim1 = DT_INT(-2), .dim2 = DT_INT(-1));\n"},
    {"diagonal", "dt_tensor *self; int64_t offset; int64_t dim1; int64_t dim2;\n"
                 "dt_tensor *result = dt_diagonal(self, offset, dim1, dim2);\n"},
    {"diagonal_backward", "dt_tensor *grad_output; dt_shape input_sizes; int64_t offset; int64_t dim1;\n"
                          "int64_t dim2;\n"
                          "dt_tensor *result = dt_diagonal_backward(grad_output, input_sizes, offset,\n"
                          "    dim1, dim2);\n"},
    {"diagonal_scatter", "dt_tensor *self; dt_tensor *src; int64_t offset; int64_t dim1; int64_t dim2;\n"
                         "dt_tensor *result = dt_diagonal_scatter(self, src, offset, dim1, dim2);\n"},
    {"diff", "dt_tensor *self; dt_tensor *prepend; dt_tensor *append;\n"
             "dt_tensor *result = dt_diff(self, .n = DT_INT(1), .dim = DT_INT(-1),\n"
             "    .prepend = prepend, .append = append);\n"},
    {"div", "dt_tensor *self; dt_tensor *other; const char *rounding_mode;\n"
            "dt_tensor *result = dt_div(self, other, .rounding_mode = rounding_mode);\n"},
    {"div", "dt_tensor *self; double other; const char *rounding_mode;\n"
            "dt_tensor *result = dt_div_scalar(self, other,\n"
            "    .rounding_mode = rounding_mode);\n"},
    {"div_", "dt_tensor *self; dt_tensor *other; const char *rounding_mode;\n"
             "dt_tensor *result = dt_div_(self, other, .rounding_mode = rounding_mode);\n"},
    {"div_", "dt_tensor *self; double other; const char *rounding_mode;\n"
             "dt_tensor *result = dt_div_scalar_(self, other,\n"
             "    .rounding_mode = rounding_mode);\n"},
    {"dot", "dt_tensor *self; dt_tensor *tensor;\n"
            "dt_tensor *result = dt_dot(self, tensor);\n"},
    {"double", "dt_tensor *self;\n"
               "dt_tensor *result = dt_double(self);\n"},
    {"dropout", "dt_tensor *input;\n"
                "dt_tensor *result = dt_dropout(input, .p = DT_REAL(0.5),\n"
                "    .training = DT_FALSE);\n"},
    {"einsum", "const char *equation; dt_tensors tensors;\n"
               "dt_tensor *result = dt_einsum(equation, tensors);\n"},
    {"elu", "dt_tensor *input;\n"
            "dt_tensor *result = dt_elu(input, .alpha = DT_REAL(1.0));\n"},
    {"elu_", "dt_tensor *input;\n"
             "dt_tensor *result = dt_elu_(input, .alpha = DT_REAL(1.0));\n"},
    {"embedding", "dt_tensor *input; dt_tensor *weight;\n"
                  "dt_tensor *result = dt_embedding(input, weight, .padding_idx = DT_INT(0));\n"},
    {"embedding_dense_backward", "dt_tensor *grad_output; dt_tensor *indices; int64_t num_weights;\n"
                                 "dt_tensor *result = dt_embedding_dense_backward(grad_output, indices,\n"
                                 "    num_weights, .padding_idx = DT_INT(0), .scale_grad_by_freq = true);\n"},
    {"empty", "dt_ctx *ctx; dt_shape size; dt_mesh *mesh;\n"
              "dt_tensor *result = dt_empty(ctx, size, .dtype = DT_F32, .mesh = mesh,\n"
              "    .place = \"R\", .requires_grad = true);\n"},
    {"empty_like", "dt_tensor *self;\n"
                   "dt_tensor *result = dt_empty_like(self, .dtype = DT_F32);\n"},
    {"eq", "dt_tensor *self; dt_tensor *other;\n"
           "dt_tensor *result = dt_eq(self, other);\n"},
    {"eq", "dt_tensor *self; double other;\n"
           "dt_tensor *result = dt_eq_scalar(self, other);\n"},
    {"eq_", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_eq_(self, other);\n"},
    {"eq_", "dt_tensor *self; double other;\n"
            "dt_tensor *result = dt_eq_scalar_(self, other);\n"},
    {"equal", "dt_tensor *self; dt_tensor *other;\n"
              "dt_tensor *result = dt_equal(self, other);\n"},
    {"erf", "dt_tensor *self;\n"
            "dt_tensor *result = dt_erf(self);\n"},
    {"erf_", "dt_tensor *self;\n"
             "dt_tensor *result = dt_erf_(self);\n"},
    {"erfc", "dt_tensor *self;\n"
             "dt_tensor *result = dt_erfc(self);\n"},
    {"erfc_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_erfc_(self);\n"},
    {"exp", "dt_tensor *self;\n"
            "dt_tensor *result = dt_exp(self);\n"},
    {"exp2", "dt_tensor *self;\n"
             "dt_tensor *result = dt_exp2(self);\n"},
    {"exp2_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_exp2_(self);\n"},
    {"exp_", "dt_tensor *self;\n"
             "dt_tensor *result = dt_exp_(self);\n"},
    {"expand", "dt_tensor *self; dt_shape size;\n"
               "dt_tensor *result = dt_expand(self, size);\n"},
    {"expand_as", "dt_tensor *self; dt_tensor *other;\n"
                  "dt_tensor *result = dt_expand_as(self, other);\n"},
    {"expm1", "dt_tensor *self;\n"
              "dt_tensor *result = dt_expm1(self);\n"},
    {"expm1_", "dt_tensor *self;\n"
               "dt_tensor *result = dt_expm1_(self);\n"},
    {"eye", "dt_ctx *ctx; int64_t n; int64_t m; dt_mesh *mesh;\n"
            "dt_tensor *result = dt_eye(ctx, n, m, .dtype = DT_F32, .mesh = mesh,\n"
            "    .place = \"R\", .requires_grad = true);\n"},
    {"fill", "dt_tensor *self; double value;\n"
             "dt_tensor *result = dt_fill(self, value);\n"},
    {"fill", "dt_tensor *self; dt_tensor *value;\n"
             "dt_tensor *result = dt_fill_tensor(self, value);\n"},
    {"fill_", "dt_tensor *self; double value;\n"
              "dt_tensor *result = dt_fill_(self, value);\n"},
    {"fill_", "dt_tensor *self; dt_tensor *value;\n"
              "dt_tensor *result = dt_fill_tensor_(self, value);\n"},
    {"flatten", "dt_tensor *self;\n"
                "dt_tensor *result = dt_flatten(self, .start_dim = DT_INT(0),\n"
                "    .end_dim = DT_INT(-1));\n"},
    {"flip", "dt_tensor *self; dt_dims dims;\n"
             "dt_tensor *result = dt_flip(self, dims);\n"},
    {"float", "dt_tensor *self;\n"
              "dt_tensor *result = dt_float(self);\n"},
    {"floor", "dt_tensor *self;\n"
              "dt_tensor *result = dt_floor(self);\n"},
    {"floor_", "dt_tensor *self;\n"
               "dt_tensor *result = dt_floor_(self);\n"},
    {"floor_divide", "dt_tensor *self; dt_tensor *other;\n"
                     "dt_tensor *result = dt_floor_divide(self, other);\n"},
    {"floor_divide", "dt_tensor *self; double other;\n"
                     "dt_tensor *result = dt_floor_divide_scalar(self, other);\n"},
    {"floor_divide_", "dt_tensor *self; dt_tensor *other;\n"
                      "dt_tensor *result = dt_floor_divide_(self, other);\n"},
    {"floor_divide_", "dt_tensor *self; double other;\n"
                      "dt_tensor *result = dt_floor_divide_scalar_(self, other);\n"},
    {"fmax", "dt_tensor *self; dt_tensor *other;\n"
             "dt_tensor *result = dt_fmax(self, other);\n"},
    {"fmin", "dt_tensor *self; dt_tensor *other;\n"
             "dt_tensor *result = dt_fmin(self, other);\n"},
    {"fmod", "dt_tensor *self; dt_tensor *other;\n"
             "dt_tensor *result = dt_fmod(self, other);\n"},
    {"fmod", "dt_tensor *self; double other;\n"
             "dt_tensor *result = dt_fmod_scalar(self, other);\n"},
    {"fmod_", "dt_tensor *self; dt_tensor *other;\n"
              "dt_tensor *result = dt_fmod_(self, other);\n"},
    {"fmod_", "dt_tensor *self; double other;\n"
              "dt_tensor *result = dt_fmod_scalar_(self, other);\n"},
    {"frac", "dt_tensor *self;\n"
             "dt_tensor *result = dt_frac(self);\n"},
    {"frac_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_frac_(self);\n"},
    {"full", "dt_ctx *ctx; dt_shape size; double fill_value; dt_mesh *mesh;\n"
             "dt_tensor *result = dt_full(ctx, size, fill_value, .dtype = DT_F32,\n"
             "    .mesh = mesh, .place = \"R\", .requires_grad = true);\n"},
    {"full_like", "dt_tensor *self; double fill_value;\n"
                  "dt_tensor *result = dt_full_like(self, fill_value, .dtype = DT_F32);\n"},
    {"gather", "dt_tensor *self; int64_t dim; dt_tensor *index;\n"
               "dt_tensor *result = dt_gather(self, dim, index);\n"},
    {"gather_backward", "dt_tensor *grad; dt_tensor *index; dt_shape sizes; int64_t dim;\n"
                        "dt_tensor *result = dt_gather_backward(grad, index, sizes, dim);\n"},
    {"ge", "dt_tensor *self; dt_tensor *other;\n"
           "dt_tensor *result = dt_ge(self, other);\n"},
    {"ge", "dt_tensor *self; double other;\n"
           "dt_tensor *result = dt_ge_scalar(self, other);\n"},
    {"ge_", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_ge_(self, other);\n"},
    {"ge_", "dt_tensor *self; double other;\n"
            "dt_tensor *result = dt_ge_scalar_(self, other);\n"},
    {"gelu", "dt_tensor *self;\n"
             "dt_tensor *result = dt_gelu(self, .approximate = \"none\");\n"},
    {"gelu_backward", "dt_tensor *grad_output; dt_tensor *self;\n"
                      "dt_tensor *result = dt_gelu_backward(grad_output, self,\n"
                      "    .approximate = \"none\");\n"},
    {"geqrf", "dt_tensor *self;\n"
              "dt_geqrf_result result = dt_geqrf(self);\n"
              "/* result.a, result.tau */\n"},
    {"glu", "dt_tensor *input;\n"
            "dt_tensor *result = dt_glu(input, .dim = DT_INT(-1));\n"},
    {"group_norm", "dt_tensor *input; int64_t num_groups; dt_tensor *weight; dt_tensor *bias;\n"
                   "dt_tensor *result = dt_group_norm(input, num_groups, .weight = weight,\n"
                   "    .bias = bias, .eps = DT_REAL(1e-05));\n"},
    {"gt", "dt_tensor *self; dt_tensor *other;\n"
           "dt_tensor *result = dt_gt(self, other);\n"},
    {"gt", "dt_tensor *self; double other;\n"
           "dt_tensor *result = dt_gt_scalar(self, other);\n"},
    {"gt_", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_gt_(self, other);\n"},
    {"gt_", "dt_tensor *self; double other;\n"
            "dt_tensor *result = dt_gt_scalar_(self, other);\n"},
    {"half", "dt_tensor *self;\n"
             "dt_tensor *result = dt_half(self);\n"},
    {"hardshrink", "dt_tensor *self;\n"
                   "dt_tensor *result = dt_hardshrink(self, .lambd = DT_NUMBER(0.5));\n"},
    {"hardsigmoid", "dt_tensor *input;\n"
                    "dt_tensor *result = dt_hardsigmoid(input);\n"},
    {"hardsigmoid_", "dt_tensor *input;\n"
                     "dt_tensor *result = dt_hardsigmoid_(input);\n"},
    {"hardswish", "dt_tensor *input;\n"
                  "dt_tensor *result = dt_hardswish(input);\n"},
    {"hardswish_", "dt_tensor *input;\n"
                   "dt_tensor *result = dt_hardswish_(input);\n"},
    {"hardtanh", "dt_tensor *input;\n"
                 "dt_tensor *result = dt_hardtanh(input, .min_val = DT_REAL(-1.0),\n"
                 "    .max_val = DT_REAL(1.0));\n"},
    {"hardtanh_", "dt_tensor *input;\n"
                  "dt_tensor *result = dt_hardtanh_(input, .min_val = DT_REAL(-1.0),\n"
                  "    .max_val = DT_REAL(1.0));\n"},
    {"histc", "dt_tensor *self; int64_t bins; double min; double max;\n"
              "dt_tensor *result = dt_histc(self, bins, min, max);\n"},
    {"histc", "dt_tensor *self; dt_tensor *min; dt_tensor *max; int64_t bins;\n"
              "dt_tensor *result = dt_histc_tensor(self, min, max, bins);\n"},
    {"hstack", "dt_tensors tensors;\n"
               "dt_tensor *result = dt_hstack(tensors);\n"},
    {"huber_loss", "dt_tensor *input; dt_tensor *target; dt_tensor *weight;\n"
                   "dt_tensor *result = dt_huber_loss(input, target, .reduction = \"mean\",\n"
                   "    .delta = DT_REAL(1.0), .weight = weight);\n"},
    {"index", "dt_tensor *self; dt_tensors indices;\n"
              "dt_tensor *result = dt_index(self, indices);\n"},
    {"index_add", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *source;\n"
                  "dt_tensor *result = dt_index_add(self, dim, index, source,\n"
                  "    .alpha = DT_NUMBER(1));\n"},
    {"index_add_", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *source;\n"
                   "dt_tensor *result = dt_index_add_(self, dim, index, source,\n"
                   "    .alpha = DT_NUMBER(1));\n"},
    {"index_backward", "dt_tensor *grad; dt_tensors indices; dt_shape sizes;\n"
                       "dt_tensor *result = dt_index_backward(grad, indices, sizes);\n"},
    {"index_copy", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *source;\n"
                   "dt_tensor *result = dt_index_copy(self, dim, index, source);\n"},
    {"index_copy_", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *source;\n"
                    "dt_tensor *result = dt_index_copy_(self, dim, index, source);\n"},
    {"index_fill", "dt_tensor *self; int64_t dim; dt_tensor *index; double value;\n"
                   "dt_tensor *result = dt_index_fill(self, dim, index, value);\n"},
    {"index_fill", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *value;\n"
                   "dt_tensor *result = dt_index_fill_tensor(self, dim, index, value);\n"},
    {"index_fill_", "dt_tensor *self; int64_t dim; dt_tensor *index; double value;\n"
                    "dt_tensor *result = dt_index_fill_(self, dim, index, value);\n"},
    {"index_fill_", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *value;\n"
                    "dt_tensor *result = dt_index_fill_tensor_(self, dim, index, value);\n"},
    {"index_put", "dt_tensor *self; dt_tensors indices; dt_tensor *values;\n"
                  "dt_tensor *result = dt_index_put(self, indices, values, .accumulate = true);\n"},
    {"index_put_", "dt_tensor *self; dt_tensors indices; dt_tensor *values;\n"
                   "dt_tensor *result = dt_index_put_(self, indices, values, .accumulate = true);\n"},
    {"index_reduce", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *source;\n"
                     "const char *reduce;\n"
                     "dt_tensor *result = dt_index_reduce(self, dim, index, source, reduce,\n"
                     "    .include_self = DT_FALSE);\n"},
    {"index_reduce_", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *source;\n"
                      "const char *reduce;\n"
                      "dt_tensor *result = dt_index_reduce_(self, dim, index, source, reduce,\n"
                      "    .include_self = DT_FALSE);\n"},
    {"index_select", "dt_tensor *self; int64_t dim; dt_tensor *index;\n"
                     "dt_tensor *result = dt_index_select(self, dim, index);\n"},
    {"index_select_backward", "dt_tensor *grad; dt_tensor *index; dt_shape self_sizes; int64_t dim;\n"
                              "dt_tensor *result = dt_index_select_backward(grad, index, self_sizes, dim);\n"},
    {"inner", "dt_tensor *self; dt_tensor *other;\n"
              "dt_tensor *result = dt_inner(self, other);\n"},
    {"instance_norm", "dt_tensor *input; dt_tensor *running_mean; dt_tensor *running_var;\n"
                      "dt_tensor *weight; dt_tensor *bias;\n"
                      "dt_tensor *result = dt_instance_norm(input, .running_mean = running_mean,\n"
                      "    .running_var = running_var, .weight = weight, .bias = bias,\n"
                      "    .use_input_stats = DT_FALSE, .momentum = DT_REAL(0.1),\n"
                      "    .eps = DT_REAL(1e-05));\n"},
    {"int", "dt_tensor *self;\n"
            "dt_tensor *result = dt_int(self);\n"},
    {"interpolate", "dt_tensor *input;\n"
                    "dt_tensor *result = dt_interpolate(input, .size = DT_SHAPE(1),\n"
                    "    .scale_factor = DT_REALS(0.5), .mode = \"nearest\",\n"
                    "    .align_corners = DT_FALSE, .recompute_scale_factor = DT_FALSE,\n"
                    "    .antialias = true);\n"},
    {"isclose", "dt_tensor *self; dt_tensor *other;\n"
                "dt_tensor *result = dt_isclose(self, other, .rtol = DT_REAL(1e-05),\n"
                "    .atol = DT_REAL(1e-08), .equal_nan = true);\n"},
    {"isfinite", "dt_tensor *self;\n"
                 "dt_tensor *result = dt_isfinite(self);\n"},
    {"isinf", "dt_tensor *self;\n"
              "dt_tensor *result = dt_isinf(self);\n"},
    {"isnan", "dt_tensor *self;\n"
              "dt_tensor *result = dt_isnan(self);\n"},
    {"kl_div", "dt_tensor *input; dt_tensor *target;\n"
               "dt_tensor *result = dt_kl_div(input, target, .reduction = \"mean\",\n"
               "    .log_target = true);\n"},
    {"kron", "dt_tensor *self; dt_tensor *other;\n"
             "dt_tensor *result = dt_kron(self, other);\n"},
    {"kthvalue", "dt_tensor *self; int64_t k;\n"
                 "dt_kthvalue_result result = dt_kthvalue(self, k, .dim = DT_INT(-1),\n"
                 "    .keepdim = true);\n"
                 "/* result.values, result.indices */\n"},
    {"l1_loss", "dt_tensor *input; dt_tensor *target; dt_tensor *weight;\n"
                "dt_tensor *result = dt_l1_loss(input, target, .reduction = \"mean\",\n"
                "    .weight = weight);\n"},
    {"layer_norm", "dt_tensor *input; dt_shape normalized_shape; dt_tensor *weight;\n"
                   "dt_tensor *bias;\n"
                   "dt_tensor *result = dt_layer_norm(input, normalized_shape, .weight = weight,\n"
                   "    .bias = bias, .eps = DT_REAL(1e-05));\n"},
    {"le", "dt_tensor *self; dt_tensor *other;\n"
           "dt_tensor *result = dt_le(self, other);\n"},
    {"le", "dt_tensor *self; double other;\n"
           "dt_tensor *result = dt_le_scalar(self, other);\n"},
    {"le_", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_le_(self, other);\n"},
    {"le_", "dt_tensor *self; double other;\n"
            "dt_tensor *result = dt_le_scalar_(self, other);\n"},
    {"leaky_relu", "dt_tensor *input;\n"
                   "dt_tensor *result = dt_leaky_relu(input, .negative_slope = DT_REAL(0.01));\n"},
    {"leaky_relu_", "dt_tensor *input;\n"
                    "dt_tensor *result = dt_leaky_relu_(input, .negative_slope = DT_REAL(0.01));\n"},
    {"lerp", "dt_tensor *self; dt_tensor *end; double weight;\n"
             "dt_tensor *result = dt_lerp(self, end, weight);\n"},
    {"lerp", "dt_tensor *self; dt_tensor *end; dt_tensor *weight;\n"
             "dt_tensor *result = dt_lerp_tensor(self, end, weight);\n"},
    {"lerp_", "dt_tensor *self; dt_tensor *end; double weight;\n"
              "dt_tensor *result = dt_lerp_(self, end, weight);\n"},
    {"lerp_", "dt_tensor *self; dt_tensor *end; dt_tensor *weight;\n"
              "dt_tensor *result = dt_lerp_tensor_(self, end, weight);\n"},
    {"linalg_cholesky", "dt_tensor *self;\n"
                        "dt_tensor *result = dt_linalg_cholesky(self, .upper = true);\n"},
    {"linalg_cholesky_ex", "dt_tensor *self;\n"
                           "dt_linalg_cholesky_ex_result result = dt_linalg_cholesky_ex(self,\n"
                           "    .upper = true, .check_errors = true);\n"
                           "/* result.L, result.info */\n"},
    {"linalg_cond", "dt_tensor *self;\n"
                    "dt_tensor *result = dt_linalg_cond(self, .p = DT_NUMBER(1));\n"},
    {"linalg_cond", "dt_tensor *self; const char *p;\n"
                    "dt_tensor *result = dt_linalg_cond_p_str(self, p);\n"},
    {"linalg_cross", "dt_tensor *self; dt_tensor *other;\n"
                     "dt_tensor *result = dt_linalg_cross(self, other, .dim = DT_INT(-1));\n"},
    {"linalg_det", "dt_tensor *A;\n"
                   "dt_tensor *result = dt_linalg_det(A);\n"},
    {"linalg_diagonal", "dt_tensor *A;\n"
                        "dt_tensor *result = dt_linalg_diagonal(A, .offset = DT_INT(0),\n"
                        "    .dim1 = DT_INT(-2), .dim2 = DT_INT(-1));\n"},
    {"linalg_eig", "dt_tensor *self;\n"
                   "dt_linalg_eig_result result = dt_linalg_eig(self);\n"
                   "/* result.eigenvalues, result.eigenvectors */\n"},
    {"linalg_eigh", "dt_tensor *self;\n"
                    "dt_linalg_eigh_result result = dt_linalg_eigh(self, .UPLO = \"L\");\n"
                    "/* result.eigenvalues, result.eigenvectors */\n"},
    {"linalg_eigvals", "dt_tensor *self;\n"
                       "dt_tensor *result = dt_linalg_eigvals(self);\n"},
    {"linalg_eigvalsh", "dt_tensor *self;\n"
                        "dt_tensor *result = dt_linalg_eigvalsh(self, .UPLO = \"L\");\n"},
    {"linalg_householder_product", "dt_tensor *input; dt_tensor *tau;\n"
                                   "dt_tensor *result = dt_linalg_householder_product(input, tau);\n"},
    {"linalg_inv", "dt_tensor *A;\n"
                   "dt_tensor *result = dt_linalg_inv(A);\n"},
    {"linalg_inv_ex", "dt_tensor *A;\n"
                      "dt_linalg_inv_ex_result result = dt_linalg_inv_ex(A, .check_errors = true);\n"
                      "/* result.inverse, result.info */\n"},
    {"linalg_ldl_factor", "dt_tensor *self;\n"
                          "dt_linalg_ldl_factor_result result = dt_linalg_ldl_factor(self,\n"
                          "    .hermitian = true);\n"
                          "/* result.LD, result.pivots */\n"},
    {"linalg_ldl_factor_ex", "dt_tensor *self;\n"
                             "dt_linalg_ldl_factor_ex_result result = dt_linalg_ldl_factor_ex(self,\n"
                             "    .hermitian = true, .check_errors = true);\n"
                             "/* result.LD, result.pivots, result.info */\n"},
    {"linalg_ldl_solve", "dt_tensor *LD; dt_tensor *pivots; dt_tensor *B;\n"
                         "dt_tensor *result = dt_linalg_ldl_solve(LD, pivots, B, .hermitian = true);\n"},
    {"linalg_lstsq", "dt_tensor *self; dt_tensor *b; const char *driver;\n"
                     "dt_linalg_lstsq_result result = dt_linalg_lstsq(self, b, .rcond = DT_REAL(0.5),\n"
                     "    .driver = driver);\n"
                     "/* result.solution, result.residuals, result.rank, result.singular_values */\n"},
    {"linalg_lu", "dt_tensor *A;\n"
                  "dt_linalg_lu_result result = dt_linalg_lu(A, .pivot = DT_FALSE);\n"
                  "/* result.P, result.L, result.U */\n"},
    {"linalg_lu_factor", "dt_tensor *A;\n"
                         "dt_linalg_lu_factor_result result = dt_linalg_lu_factor(A, .pivot = DT_FALSE);\n"
                         "/* result.LU, result.pivots */\n"},
    {"linalg_lu_factor_ex", "dt_tensor *A;\n"
                            "dt_linalg_lu_factor_ex_result result = dt_linalg_lu_factor_ex(A,\n"
                            "    .pivot = DT_FALSE, .check_errors = true);\n"
                            "/* result.LU, result.pivots, result.info */\n"},
    {"linalg_lu_solve", "dt_tensor *LU; dt_tensor *pivots; dt_tensor *B;\n"
                        "dt_tensor *result = dt_linalg_lu_solve(LU, pivots, B, .left = DT_FALSE,\n"
                        "    .adjoint = true);\n"},
    {"linalg_matrix_exp", "dt_tensor *self;\n"
                          "dt_tensor *result = dt_linalg_matrix_exp(self);\n"},
    {"linalg_matrix_norm", "dt_tensor *self; double ord;\n"
                           "dt_tensor *result = dt_linalg_matrix_norm(self, ord, .dim = DT_DIMS(0),\n"
                           "    .keepdim = true, .dtype = DT_F32);\n"},
    {"linalg_matrix_norm", "dt_tensor *self;\n"
                           "dt_tensor *result = dt_linalg_matrix_norm_str_ord(self, .ord = \"fro\",\n"
                           "    .dim = DT_DIMS(0), .keepdim = true, .dtype = DT_F32);\n"},
    {"linalg_matrix_power", "dt_tensor *self; int64_t n;\n"
                            "dt_tensor *result = dt_linalg_matrix_power(self, n);\n"},
    {"linalg_matrix_rank", "dt_tensor *self;\n"
                           "dt_tensor *result = dt_linalg_matrix_rank(self, .atol = DT_REAL(0.5),\n"
                           "    .rtol = DT_REAL(0.5), .hermitian = true);\n"},
    {"linalg_matrix_rank", "dt_tensor *self; double tol;\n"
                           "dt_tensor *result = dt_linalg_matrix_rank_tol(self, tol, .hermitian = true);\n"},
    {"linalg_matrix_rank", "dt_tensor *input; dt_tensor *tol;\n"
                           "dt_tensor *result = dt_linalg_matrix_rank_tol_tensor(input, tol,\n"
                           "    .hermitian = true);\n"},
    {"linalg_matrix_rank", "dt_tensor *input; dt_tensor *atol; dt_tensor *rtol;\n"
                           "dt_tensor *result = dt_linalg_matrix_rank_atol_rtol_tensor(input, .atol = atol,\n"
                           "    .rtol = rtol, .hermitian = true);\n"},
    {"linalg_multi_dot", "dt_tensors tensors;\n"
                         "dt_tensor *result = dt_linalg_multi_dot(tensors);\n"},
    {"linalg_norm", "dt_tensor *self;\n"
                    "dt_tensor *result = dt_linalg_norm(self, .ord = DT_NUMBER(1),\n"
                    "    .dim = DT_DIMS(0), .keepdim = true, .dtype = DT_F32);\n"},
    {"linalg_norm", "dt_tensor *self; const char *ord;\n"
                    "dt_tensor *result = dt_linalg_norm_ord_str(self, ord, .dim = DT_DIMS(0),\n"
                    "    .keepdim = true, .dtype = DT_F32);\n"},
    {"linalg_pinv", "dt_tensor *self;\n"
                    "dt_tensor *result = dt_linalg_pinv(self, .atol = DT_REAL(0.5),\n"
                    "    .rtol = DT_REAL(0.5), .hermitian = true);\n"},
    {"linalg_pinv", "dt_tensor *self; double rcond;\n"
                    "dt_tensor *result = dt_linalg_pinv_rcond(self, rcond, .hermitian = true);\n"},
    {"linalg_pinv", "dt_tensor *self; dt_tensor *atol; dt_tensor *rtol;\n"
                    "dt_tensor *result = dt_linalg_pinv_tensor(self, .atol = atol, .rtol = rtol,\n"
                    "    .hermitian = true);\n"},
    {"linalg_pinv", "dt_tensor *self; dt_tensor *rcond;\n"
                    "dt_tensor *result = dt_linalg_pinv_rcond_tensor(self, rcond,\n"
                    "    .hermitian = true);\n"},
    {"linalg_qr", "dt_tensor *A;\n"
                  "dt_linalg_qr_result result = dt_linalg_qr(A, .mode = \"reduced\");\n"
                  "/* result.Q, result.R */\n"},
    {"linalg_slogdet", "dt_tensor *A;\n"
                       "dt_linalg_slogdet_result result = dt_linalg_slogdet(A);\n"
                       "/* result.sign, result.logabsdet */\n"},
    {"linalg_solve", "dt_tensor *A; dt_tensor *B;\n"
                     "dt_tensor *result = dt_linalg_solve(A, B, .left = DT_FALSE);\n"},
    {"linalg_solve_ex", "dt_tensor *A; dt_tensor *B;\n"
                        "dt_linalg_solve_ex_result result = dt_linalg_solve_ex(A, B, .left = DT_FALSE,\n"
                        "    .check_errors = true);\n"
                        "/* result.result, result.info */\n"},
    {"linalg_solve_triangular", "dt_tensor *self; dt_tensor *B; bool upper;\n"
                                "dt_tensor *result = dt_linalg_solve_triangular(self, B, upper,\n"
                                "    .left = DT_FALSE, .unitriangular = true);\n"},
    {"linalg_svd", "dt_tensor *A;\n"
                   "dt_linalg_svd_result result = dt_linalg_svd(A, .full_matrices = DT_FALSE);\n"
                   "/* result.U, result.S, result.Vh */\n"},
    {"linalg_svdvals", "dt_tensor *A;\n"
                       "dt_tensor *result = dt_linalg_svdvals(A);\n"},
    {"linalg_tensorinv", "dt_tensor *self;\n"
                         "dt_tensor *result = dt_linalg_tensorinv(self, .ind = DT_INT(2));\n"},
    {"linalg_tensorsolve", "dt_tensor *self; dt_tensor *other;\n"
                           "dt_tensor *result = dt_linalg_tensorsolve(self, other, .dims = DT_DIMS(0));\n"},
    {"linalg_vander", "dt_tensor *x;\n"
                      "dt_tensor *result = dt_linalg_vander(x, .N = DT_INT(0));\n"},
    {"linalg_vecdot", "dt_tensor *x; dt_tensor *y;\n"
                      "dt_tensor *result = dt_linalg_vecdot(x, y, .dim = DT_INT(-1));\n"},
    {"linalg_vector_norm", "dt_tensor *self;\n"
                           "dt_tensor *result = dt_linalg_vector_norm(self, .ord = DT_NUMBER(2),\n"
                           "    .dim = DT_DIMS(0), .keepdim = true, .dtype = DT_F32);\n"},
    {"linear", "dt_tensor *input; dt_tensor *weight; dt_tensor *bias;\n"
               "dt_tensor *result = dt_linear(input, weight, .bias = bias);\n"},
    {"linear_recurrence", "dt_tensor *term; dt_tensor *factor; int64_t dim;\n"
                          "dt_tensor *result = dt_linear_recurrence(term, factor, dim,\n"
                          "    .transposed = true);\n"},
    {"linear_weight_backward", "dt_tensor *grad_output; dt_tensor *input;\n"
                               "dt_tensor *result = dt_linear_weight_backward(grad_output, input);\n"},
    {"linspace", "dt_ctx *ctx; double start; double end; int64_t steps; dt_mesh *mesh;\n"
                 "dt_tensor *result = dt_linspace(ctx, start, end, steps, .dtype = DT_F32,\n"
                 "    .mesh = mesh, .place = \"R\", .requires_grad = true);\n"},
    {"lion_", "dt_tensor *self; dt_tensor *grad; dt_tensor *exp_avg; double lr;\n"
              "dt_lion_in_place_result result = dt_lion_(self, grad, exp_avg, lr,\n"
              "    .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.99),\n"
              "    .weight_decay = DT_REAL(0.0), .maximize = true,\n"
              "    .grad_scale = DT_REAL(1.0));\n"
              "/* result.self, result.exp_avg */\n"},
    {"local_response_norm", "dt_tensor *input; int64_t size;\n"
                            "dt_tensor *result = dt_local_response_norm(input, size,\n"
                            "    .alpha = DT_REAL(0.0001), .beta = DT_REAL(0.75), .k = DT_REAL(1.0));\n"},
    {"log", "dt_tensor *self;\n"
            "dt_tensor *result = dt_log(self);\n"},
    {"log10", "dt_tensor *self;\n"
              "dt_tensor *result = dt_log10(self);\n"},
    {"log10_", "dt_tensor *self;\n"
               "dt_tensor *result = dt_log10_(self);\n"},
    {"log1p", "dt_tensor *self;\n"
              "dt_tensor *result = dt_log1p(self);\n"},
    {"log1p_", "dt_tensor *self;\n"
               "dt_tensor *result = dt_log1p_(self);\n"},
    {"log2", "dt_tensor *self;\n"
             "dt_tensor *result = dt_log2(self);\n"},
    {"log2_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_log2_(self);\n"},
    {"log_", "dt_tensor *self;\n"
             "dt_tensor *result = dt_log_(self);\n"},
    {"log_softmax", "dt_tensor *self; int64_t dim;\n"
                    "dt_tensor *result = dt_log_softmax(self, dim, .dtype = DT_F32);\n"},
    {"logaddexp", "dt_tensor *self; dt_tensor *other;\n"
                  "dt_tensor *result = dt_logaddexp(self, other);\n"},
    {"logcumsumexp", "dt_tensor *self; int64_t dim;\n"
                     "dt_tensor *result = dt_logcumsumexp(self, dim);\n"},
    {"logcumsumexp_backward", "dt_tensor *grad_output; dt_tensor *self; dt_tensor *logsums; int64_t dim;\n"
                              "dt_tensor *result = dt_logcumsumexp_backward(grad_output, self, logsums, dim);\n"},
    {"logdet", "dt_tensor *self;\n"
               "dt_tensor *result = dt_logdet(self);\n"},
    {"logical_and", "dt_tensor *self; dt_tensor *other;\n"
                    "dt_tensor *result = dt_logical_and(self, other);\n"},
    {"logical_and_", "dt_tensor *self; dt_tensor *other;\n"
                     "dt_tensor *result = dt_logical_and_(self, other);\n"},
    {"logical_not", "dt_tensor *self;\n"
                    "dt_tensor *result = dt_logical_not(self);\n"},
    {"logical_not_", "dt_tensor *self;\n"
                     "dt_tensor *result = dt_logical_not_(self);\n"},
    {"logical_or", "dt_tensor *self; dt_tensor *other;\n"
                   "dt_tensor *result = dt_logical_or(self, other);\n"},
    {"logical_or_", "dt_tensor *self; dt_tensor *other;\n"
                    "dt_tensor *result = dt_logical_or_(self, other);\n"},
    {"logical_xor", "dt_tensor *self; dt_tensor *other;\n"
                    "dt_tensor *result = dt_logical_xor(self, other);\n"},
    {"logical_xor_", "dt_tensor *self; dt_tensor *other;\n"
                     "dt_tensor *result = dt_logical_xor_(self, other);\n"},
    {"logsumexp", "dt_tensor *self; dt_dims dim;\n"
                  "dt_tensor *result = dt_logsumexp(self, dim, .keepdim = true);\n"},
    {"long", "dt_tensor *self;\n"
             "dt_tensor *result = dt_long(self);\n"},
    {"lt", "dt_tensor *self; dt_tensor *other;\n"
           "dt_tensor *result = dt_lt(self, other);\n"},
    {"lt", "dt_tensor *self; double other;\n"
           "dt_tensor *result = dt_lt_scalar(self, other);\n"},
    {"lt_", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_lt_(self, other);\n"},
    {"lt_", "dt_tensor *self; double other;\n"
            "dt_tensor *result = dt_lt_scalar_(self, other);\n"},
    {"lu", "dt_tensor *A; dt_tensor *out[8];\n"
           "int n = dt_lu(A, out, 8, .pivot = DT_FALSE, .get_infos = true);\n"},
    {"lu_solve", "dt_tensor *self; dt_tensor *LU_data; dt_tensor *LU_pivots;\n"
                 "dt_tensor *result = dt_lu_solve(self, LU_data, LU_pivots);\n"},
    {"lu_unpack", "dt_tensor *LU_data; dt_tensor *LU_pivots;\n"
                  "dt_lu_unpack_result result = dt_lu_unpack(LU_data, LU_pivots,\n"
                  "    .unpack_data = DT_FALSE, .unpack_pivots = DT_FALSE);\n"
                  "/* result.P, result.L, result.U */\n"},
    {"mT", "dt_tensor *self;\n"
           "dt_tensor *result = dt_mT(self);\n"},
    {"masked_fill", "dt_tensor *self; dt_tensor *mask; double value;\n"
                    "dt_tensor *result = dt_masked_fill(self, mask, value);\n"},
    {"masked_fill", "dt_tensor *self; dt_tensor *mask; dt_tensor *value;\n"
                    "dt_tensor *result = dt_masked_fill_tensor(self, mask, value);\n"},
    {"masked_fill_", "dt_tensor *self; dt_tensor *mask; double value;\n"
                     "dt_tensor *result = dt_masked_fill_(self, mask, value);\n"},
    {"masked_fill_", "dt_tensor *self; dt_tensor *mask; dt_tensor *value;\n"
                     "dt_tensor *result = dt_masked_fill_tensor_(self, mask, value);\n"},
    {"matmul", "dt_tensor *self; dt_tensor *other;\n"
               "dt_tensor *result = dt_matmul(self, other);\n"},
    {"matrix_exp", "dt_tensor *self;\n"
                   "dt_tensor *result = dt_matrix_exp(self);\n"},
    {"max", "dt_tensor *self;\n"
            "dt_tensor *result = dt_max(self);\n"},
    {"max", "dt_tensor *self; int64_t dim;\n"
            "dt_max_dim_result result = dt_max_dim(self, dim, .keepdim = true);\n"
            "/* result.values, result.indices */\n"},
    {"max", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_max_other(self, other);\n"},
    {"max_pool1d", "dt_tensor *input; dt_ints kernel_size;\n"
                   "dt_tensor *result = dt_max_pool1d(input, kernel_size, .stride = DT_INTS(1),\n"
                   "    .padding = DT_INTS(1), .dilation = DT_INTS(1), .ceil_mode = true);\n"},
    {"max_pool1d_with_indices", "dt_tensor *input; dt_ints kernel_size;\n"
                                "dt_max_pool1d_with_indices_result result = dt_max_pool1d_with_indices(input,\n"
                                "    kernel_size, .stride = DT_INTS(1), .padding = DT_INTS(1),\n"
                                "    .dilation = DT_INTS(1), .ceil_mode = true);\n"
                                "/* result.output, result.indices */\n"},
    {"max_pool2d", "dt_tensor *input; dt_ints kernel_size;\n"
                   "dt_tensor *result = dt_max_pool2d(input, kernel_size, .stride = DT_INTS(1),\n"
                   "    .padding = DT_INTS(1), .dilation = DT_INTS(1), .ceil_mode = true);\n"},
    {"max_pool2d_with_indices", "dt_tensor *input; dt_ints kernel_size;\n"
                                "dt_max_pool2d_with_indices_result result = dt_max_pool2d_with_indices(input,\n"
                                "    kernel_size, .stride = DT_INTS(1), .padding = DT_INTS(1),\n"
                                "    .dilation = DT_INTS(1), .ceil_mode = true);\n"
                                "/* result.output, result.indices */\n"},
    {"max_pool3d", "dt_tensor *input; dt_ints kernel_size;\n"
                   "dt_tensor *result = dt_max_pool3d(input, kernel_size, .stride = DT_INTS(1),\n"
                   "    .padding = DT_INTS(1), .dilation = DT_INTS(1), .ceil_mode = true);\n"},
    {"max_pool3d_with_indices", "dt_tensor *input; dt_ints kernel_size;\n"
                                "dt_max_pool3d_with_indices_result result = dt_max_pool3d_with_indices(input,\n"
                                "    kernel_size, .stride = DT_INTS(1), .padding = DT_INTS(1),\n"
                                "    .dilation = DT_INTS(1), .ceil_mode = true);\n"
                                "/* result.output, result.indices */\n"},
    {"max_pool_backward", "dt_tensor *grad_output; dt_tensor *indices; dt_shape sizes;\n"
                          "dt_ints kernel_size; dt_ints stride; dt_ints padding; dt_ints dilation;\n"
                          "dt_tensor *result = dt_max_pool_backward(grad_output, indices, sizes,\n"
                          "    kernel_size, stride, padding, dilation);\n"},
    {"max_pool_read", "dt_tensor *self; dt_tensor *indices; dt_ints kernel_size; dt_ints stride;\n"
                      "dt_ints padding; dt_ints dilation;\n"
                      "dt_tensor *result = dt_max_pool_read(self, indices, kernel_size, stride,\n"
                      "    padding, dilation);\n"},
    {"maximum", "dt_tensor *self; dt_tensor *other;\n"
                "dt_tensor *result = dt_maximum(self, other);\n"},
    {"mean", "dt_tensor *self;\n"
             "dt_tensor *result = dt_mean(self, .dim = DT_DIMS(0), .keepdim = true,\n"
             "    .dtype = DT_F32);\n"},
    {"median", "dt_tensor *self;\n"
               "dt_tensor *result = dt_median(self);\n"},
    {"median", "dt_tensor *self; int64_t dim;\n"
               "dt_median_dim_result result = dt_median_dim(self, dim, .keepdim = true);\n"
               "/* result.values, result.indices */\n"},
    {"min", "dt_tensor *self;\n"
            "dt_tensor *result = dt_min(self);\n"},
    {"min", "dt_tensor *self; int64_t dim;\n"
            "dt_min_dim_result result = dt_min_dim(self, dim, .keepdim = true);\n"
            "/* result.values, result.indices */\n"},
    {"min", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_min_other(self, other);\n"},
    {"minimum", "dt_tensor *self; dt_tensor *other;\n"
                "dt_tensor *result = dt_minimum(self, other);\n"},
    {"mish", "dt_tensor *input;\n"
             "dt_tensor *result = dt_mish(input);\n"},
    {"mish_", "dt_tensor *input;\n"
              "dt_tensor *result = dt_mish_(input);\n"},
    {"mm", "dt_tensor *self; dt_tensor *mat2;\n"
           "dt_tensor *result = dt_mm(self, mat2);\n"},
    {"mode", "dt_tensor *self;\n"
             "dt_mode_result result = dt_mode(self, .dim = DT_INT(-1), .keepdim = true);\n"
             "/* result.values, result.indices */\n"},
    {"moment_norm", "dt_tensor *input; dt_dims dims; dt_tensor *weight; dt_tensor *bias;\n"
                    "dt_moment_norm_result result = dt_moment_norm(input, dims, .weight = weight,\n"
                    "    .bias = bias, .eps = DT_REAL(1e-05));\n"
                    "/* result.output, result.mean, result.rstd, result.var */\n"},
    {"moment_norm_backward", "dt_tensor *grad_output; dt_tensor *input; dt_dims dims; dt_tensor *mean;\n"
                             "dt_tensor *rstd; dt_ints affine_dims; dt_ints output_mask; dt_tensor *weight;\n"
                             "dt_moment_norm_backward_result result = dt_moment_norm_backward(grad_output,\n"
                             "    input, dims, mean, rstd, affine_dims, output_mask, .weight = weight);\n"
                             "/* result.grad_input, result.grad_weight, result.grad_bias */\n"},
    {"movedim", "dt_tensor *self; int64_t source; int64_t destination;\n"
                "dt_tensor *result = dt_movedim(self, source, destination);\n"},
    {"movedim", "dt_tensor *self; dt_dims source; dt_dims destination;\n"
                "dt_tensor *result = dt_movedim_dims(self, source, destination);\n"},
    {"mse_loss", "dt_tensor *input; dt_tensor *target; dt_tensor *weight;\n"
                 "dt_tensor *result = dt_mse_loss(input, target, .reduction = \"mean\",\n"
                 "    .weight = weight);\n"},
    {"mul", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_mul(self, other);\n"},
    {"mul", "dt_tensor *self; double other;\n"
            "dt_tensor *result = dt_mul_scalar(self, other);\n"},
    {"mul_", "dt_tensor *self; dt_tensor *other;\n"
             "dt_tensor *result = dt_mul_(self, other);\n"},
    {"mul_", "dt_tensor *self; double other;\n"
             "dt_tensor *result = dt_mul_scalar_(self, other);\n"},
    {"mv", "dt_tensor *self; dt_tensor *vec;\n"
           "dt_tensor *result = dt_mv(self, vec);\n"},
    {"nadam_", "dt_tensor *self; dt_tensor *grad; dt_tensor *exp_avg; dt_tensor *exp_avg_sq;\n"
               "double lr; int64_t step; double mu_product;\n"
               "dt_nadam_in_place_result result = dt_nadam_(self, grad, exp_avg, exp_avg_sq,\n"
               "    lr, step, mu_product, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
               "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08),\n"
               "    .momentum_decay = DT_REAL(0.004), .decoupled_weight_decay = true,\n"
               "    .maximize = true, .grad_scale = DT_REAL(1.0));\n"
               "/* result.self, result.exp_avg, result.exp_avg_sq */\n"},
    {"nan_to_num", "dt_tensor *self;\n"
                   "dt_tensor *result = dt_nan_to_num(self, .nan = DT_REAL(0.5),\n"
                   "    .posinf = DT_REAL(0.5), .neginf = DT_REAL(0.5));\n"},
    {"nan_to_num_", "dt_tensor *self;\n"
                    "dt_tensor *result = dt_nan_to_num_(self, .nan = DT_REAL(0.5),\n"
                    "    .posinf = DT_REAL(0.5), .neginf = DT_REAL(0.5));\n"},
    {"nanmedian", "dt_tensor *self;\n"
                  "dt_tensor *result = dt_nanmedian(self);\n"},
    {"nanmedian", "dt_tensor *self; int64_t dim;\n"
                  "dt_nanmedian_dim_result result = dt_nanmedian_dim(self, dim, .keepdim = true);\n"
                  "/* result.values, result.indices */\n"},
    {"nansum", "dt_tensor *self;\n"
               "dt_tensor *result = dt_nansum(self, .dim = DT_DIMS(0), .keepdim = true,\n"
               "    .dtype = DT_F32);\n"},
    {"narrow", "dt_tensor *self; int64_t dim; int64_t start; int64_t length;\n"
               "dt_tensor *result = dt_narrow(self, dim, start, length);\n"},
    {"narrow", "dt_tensor *self; int64_t dim; dt_tensor *start; int64_t length;\n"
               "dt_tensor *result = dt_narrow_tensor(self, dim, start, length);\n"},
    {"native_batch_norm", "dt_tensor *input; bool training; double momentum; double eps;\n"
                          "dt_tensor *weight; dt_tensor *bias; dt_tensor *running_mean;\n"
                          "dt_tensor *running_var;\n"
                          "dt_native_batch_norm_result result = dt_native_batch_norm(input, training,\n"
                          "    momentum, eps, .weight = weight, .bias = bias,\n"
                          "    .running_mean = running_mean, .running_var = running_var);\n"
                          "/* result.output, result.save_mean, result.save_invstd */\n"},
    {"native_dropout_backward", "dt_tensor *grad_output; dt_tensor *mask; double scale;\n"
                                "dt_tensor *result = dt_native_dropout_backward(grad_output, mask, scale);\n"},
    {"native_group_norm", "dt_tensor *input; int64_t N; int64_t C; int64_t HxW; int64_t group;\n"
                          "double eps; dt_tensor *weight; dt_tensor *bias;\n"
                          "dt_native_group_norm_result result = dt_native_group_norm(input, N, C, HxW,\n"
                          "    group, eps, .weight = weight, .bias = bias);\n"
                          "/* result.output, result.mean, result.rstd */\n"},
    {"native_layer_norm", "dt_tensor *input; dt_shape normalized_shape; double eps; dt_tensor *weight;\n"
                          "dt_tensor *bias;\n"
                          "dt_native_layer_norm_result result = dt_native_layer_norm(input,\n"
                          "    normalized_shape, eps, .weight = weight, .bias = bias);\n"
                          "/* result.output, result.mean, result.rstd */\n"},
    {"native_layer_norm_backward",
     "dt_tensor *grad_out; dt_tensor *input; dt_shape normalized_shape;\n"
     "dt_tensor *mean; dt_tensor *rstd; dt_ints output_mask; dt_tensor *weight;\n"
     "dt_native_layer_norm_backward_result result = dt_native_layer_norm_backward(grad_out,\n"
     "    input, normalized_shape, mean, rstd, output_mask, .weight = weight);\n"
     "/* result.grad_input, result.grad_weight, result.grad_bias */\n"},
    {"ne", "dt_tensor *self; dt_tensor *other;\n"
           "dt_tensor *result = dt_ne(self, other);\n"},
    {"ne", "dt_tensor *self; double other;\n"
           "dt_tensor *result = dt_ne_scalar(self, other);\n"},
    {"ne_", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_ne_(self, other);\n"},
    {"ne_", "dt_tensor *self; double other;\n"
            "dt_tensor *result = dt_ne_scalar_(self, other);\n"},
    {"neg", "dt_tensor *self;\n"
            "dt_tensor *result = dt_neg(self);\n"},
    {"neg_", "dt_tensor *self;\n"
             "dt_tensor *result = dt_neg_(self);\n"},
    {"new_full", "dt_tensor *self; dt_shape size; double fill_value;\n"
                 "dt_tensor *result = dt_new_full(self, size, fill_value, .dtype = DT_F32);\n"},
    {"new_ones", "dt_tensor *self; dt_shape size;\n"
                 "dt_tensor *result = dt_new_ones(self, size, .dtype = DT_F32);\n"},
    {"new_zeros", "dt_tensor *self; dt_shape size;\n"
                  "dt_tensor *result = dt_new_zeros(self, size, .dtype = DT_F32);\n"},
    {"nll_loss", "dt_tensor *input; dt_tensor *target; dt_tensor *weight;\n"
                 "dt_tensor *result = dt_nll_loss(input, target, .weight = weight,\n"
                 "    .ignore_index = DT_INT(-100), .reduction = \"mean\");\n"},
    {"norm", "dt_tensor *self;\n"
             "dt_tensor *result = dt_norm(self, .p = DT_NUMBER(2), .dim = DT_DIMS(0),\n"
             "    .keepdim = true, .dtype = DT_F32);\n"},
    {"norm", "dt_tensor *self; const char *p;\n"
             "dt_tensor *result = dt_norm_str(self, p, .dim = DT_DIMS(0), .keepdim = true,\n"
             "    .dtype = DT_F32);\n"},
    {"normalize", "dt_tensor *input;\n"
                  "dt_tensor *result = dt_normalize(input, .p = DT_REAL(2.0), .dim = DT_INT(1),\n"
                  "    .eps = DT_REAL(1e-12));\n"},
    {"one_hot", "dt_tensor *self; int64_t num_classes;\n"
                "dt_tensor *result = dt_one_hot(self, num_classes);\n"},
    {"ones", "dt_ctx *ctx; dt_shape size; dt_mesh *mesh;\n"
             "dt_tensor *result = dt_ones(ctx, size, .dtype = DT_F32, .mesh = mesh,\n"
             "    .place = \"R\", .requires_grad = true);\n"},
    {"ones_like", "dt_tensor *self;\n"
                  "dt_tensor *result = dt_ones_like(self, .dtype = DT_F32);\n"},
    {"ormqr", "dt_tensor *self; dt_tensor *input2; dt_tensor *input3;\n"
              "dt_tensor *result = dt_ormqr(self, input2, input3, .left = DT_FALSE,\n"
              "    .transpose = true);\n"},
    {"outer", "dt_tensor *self; dt_tensor *vec2;\n"
              "dt_tensor *result = dt_outer(self, vec2);\n"},
    {"pad", "dt_tensor *input; dt_ints pad;\n"
            "dt_tensor *result = dt_pad(input, pad, .mode = \"constant\",\n"
            "    .value = DT_REAL(0.5));\n"},
    {"permute", "dt_tensor *self; dt_dims dims;\n"
                "dt_tensor *result = dt_permute(self, dims);\n"},
    {"pinverse", "dt_tensor *self;\n"
                 "dt_tensor *result = dt_pinverse(self, .rcond = DT_REAL(1e-15));\n"},
    {"pixel_shuffle", "dt_tensor *self; int64_t upscale_factor;\n"
                      "dt_tensor *result = dt_pixel_shuffle(self, upscale_factor);\n"},
    {"pixel_unshuffle", "dt_tensor *self; int64_t downscale_factor;\n"
                        "dt_tensor *result = dt_pixel_unshuffle(self, downscale_factor);\n"},
    {"positive", "dt_tensor *self;\n"
                 "dt_tensor *result = dt_positive(self);\n"},
    {"pow", "dt_tensor *self; dt_tensor *exponent;\n"
            "dt_tensor *result = dt_pow(self, exponent);\n"},
    {"pow", "dt_tensor *self; double exponent;\n"
            "dt_tensor *result = dt_pow_scalar_exponent(self, exponent);\n"},
    {"pow", "double self; dt_tensor *exponent;\n"
            "dt_tensor *result = dt_pow_scalar_self(self, exponent);\n"},
    {"pow_", "dt_tensor *self; dt_tensor *exponent;\n"
             "dt_tensor *result = dt_pow_(self, exponent);\n"},
    {"pow_", "dt_tensor *self; double exponent;\n"
             "dt_tensor *result = dt_pow_scalar_(self, exponent);\n"},
    {"power_sum", "dt_tensor *self;\n"
                  "dt_tensor *result = dt_power_sum(self, .ord = DT_NUMBER(2), .dim = DT_DIMS(0),\n"
                  "    .keepdim = true);\n"},
    {"prelu", "dt_tensor *self; dt_tensor *weight;\n"
              "dt_tensor *result = dt_prelu(self, weight);\n"},
    {"prod", "dt_tensor *self;\n"
             "dt_tensor *result = dt_prod(self, .dtype = DT_F32);\n"},
    {"prod", "dt_tensor *self; int64_t dim;\n"
             "dt_tensor *result = dt_prod_dim_int(self, dim, .keepdim = true,\n"
             "    .dtype = DT_F32);\n"},
    {"prod_of_others", "dt_tensor *self;\n"
                       "dt_tensor *result = dt_prod_of_others(self, .dim = DT_INT(0));\n"},
    {"qr", "dt_tensor *self;\n"
           "dt_qr_result result = dt_qr(self, .some = DT_FALSE);\n"
           "/* result.Q, result.R */\n"},
    {"radam_", "dt_tensor *self; dt_tensor *grad; dt_tensor *exp_avg; dt_tensor *exp_avg_sq;\n"
               "double lr; int64_t step;\n"
               "dt_radam_in_place_result result = dt_radam_(self, grad, exp_avg, exp_avg_sq,\n"
               "    lr, step, .beta1 = DT_REAL(0.9), .beta2 = DT_REAL(0.999),\n"
               "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08),\n"
               "    .decoupled_weight_decay = true, .maximize = true,\n"
               "    .grad_scale = DT_REAL(1.0));\n"
               "/* result.self, result.exp_avg, result.exp_avg_sq */\n"},
    {"ravel", "dt_tensor *self;\n"
              "dt_tensor *result = dt_ravel(self);\n"},
    {"reciprocal", "dt_tensor *self;\n"
                   "dt_tensor *result = dt_reciprocal(self);\n"},
    {"reciprocal_", "dt_tensor *self;\n"
                    "dt_tensor *result = dt_reciprocal_(self);\n"},
    {"relu", "dt_tensor *input;\n"
             "dt_tensor *result = dt_relu(input);\n"},
    {"relu6", "dt_tensor *input;\n"
              "dt_tensor *result = dt_relu6(input);\n"},
    {"relu6_", "dt_tensor *input;\n"
               "dt_tensor *result = dt_relu6_(input);\n"},
    {"relu_", "dt_tensor *input;\n"
              "dt_tensor *result = dt_relu_(input);\n"},
    {"remainder", "dt_tensor *self; dt_tensor *other;\n"
                  "dt_tensor *result = dt_remainder(self, other);\n"},
    {"remainder", "dt_tensor *self; double other;\n"
                  "dt_tensor *result = dt_remainder_scalar_other(self, other);\n"},
    {"remainder", "double self; dt_tensor *other;\n"
                  "dt_tensor *result = dt_remainder_scalar_self(self, other);\n"},
    {"remainder_", "dt_tensor *self; dt_tensor *other;\n"
                   "dt_tensor *result = dt_remainder_(self, other);\n"},
    {"remainder_", "dt_tensor *self; double other;\n"
                   "dt_tensor *result = dt_remainder_scalar_(self, other);\n"},
    {"repeat", "dt_tensor *self; dt_ints repeats;\n"
               "dt_tensor *result = dt_repeat(self, repeats);\n"},
    {"repeat_interleave", "dt_tensor *repeats;\n"
                          "dt_tensor *result = dt_repeat_interleave(repeats, .output_size = DT_INT(0));\n"},
    {"repeat_interleave", "dt_tensor *self; dt_tensor *repeats;\n"
                          "dt_tensor *result = dt_repeat_interleave_self_tensor(self, repeats,\n"
                          "    .dim = DT_INT(0), .output_size = DT_INT(0));\n"},
    {"repeat_interleave", "dt_tensor *self; int64_t repeats;\n"
                          "dt_tensor *result = dt_repeat_interleave_self_int(self, repeats,\n"
                          "    .dim = DT_INT(0), .output_size = DT_INT(-1));\n"},
    {"resample", "dt_tensor *self; dt_shape sizes; const char *mode; dt_reals numbers;\n"
                 "dt_tensor *result = dt_resample(self, sizes, mode, numbers);\n"},
    {"resample_backward", "dt_tensor *grad_output; dt_shape sizes; const char *mode; dt_reals numbers;\n"
                          "dt_tensor *result = dt_resample_backward(grad_output, sizes, mode, numbers);\n"},
    {"reshape", "dt_tensor *self; dt_shape shape;\n"
                "dt_tensor *result = dt_reshape(self, shape);\n"},
    {"reshape_as", "dt_tensor *self; dt_tensor *other;\n"
                   "dt_tensor *result = dt_reshape_as(self, other);\n"},
    {"rms_norm", "dt_tensor *input; dt_shape normalized_shape; dt_tensor *weight;\n"
                 "dt_tensor *result = dt_rms_norm(input, normalized_shape, .weight = weight,\n"
                 "    .eps = DT_REAL(0.5));\n"},
    {"rmsprop_", "dt_tensor *self; dt_tensor *grad; dt_tensor *square_avg; double lr;\n"
                 "dt_rmsprop_in_place_result result = dt_rmsprop_(self, grad, square_avg, lr,\n"
                 "    .alpha = DT_REAL(0.99), .weight_decay = DT_REAL(0.0),\n"
                 "    .eps = DT_REAL(1e-08), .momentum = DT_REAL(0.0), .centered = true,\n"
                 "    .maximize = true, .grad_scale = DT_REAL(1.0));\n"
                 "/* result.self, result.square_avg */\n"},
    {"rmsprop_", "dt_tensor *self; dt_tensor *grad; dt_tensor *square_avg; dt_tensor *state;\n"
                 "double lr;\n"
                 "dt_rmsprop_state_in_place_result result = dt_rmsprop_state_(self, grad,\n"
                 "    square_avg, state, lr, .alpha = DT_REAL(0.99),\n"
                 "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08),\n"
                 "    .momentum = DT_REAL(0.0), .centered = true, .maximize = true,\n"
                 "    .grad_scale = DT_REAL(1.0));\n"
                 "/* result.self, result.square_avg, result.state */\n"},
    {"rmsprop_", "dt_tensor *self; dt_tensor *grad; dt_tensor *square_avg; dt_tensor *grad_avg;\n"
                 "dt_tensor *momentum_buffer; double lr;\n"
                 "dt_rmsprop_centered_momentum_in_place_result result = dt_rmsprop_centered_momentum_(self,\n"
                 "    grad, square_avg, grad_avg, momentum_buffer, lr, .alpha = DT_REAL(0.99),\n"
                 "    .weight_decay = DT_REAL(0.0), .eps = DT_REAL(1e-08),\n"
                 "    .momentum = DT_REAL(0.0), .centered = true, .maximize = true,\n"
                 "    .grad_scale = DT_REAL(1.0));\n"
                 "/* result.self, result.square_avg, result.grad_avg, result.momentum_buffer */\n"},
    {"roll", "dt_tensor *self; dt_ints shifts;\n"
             "dt_tensor *result = dt_roll(self, shifts, .dims = DT_DIMS(0));\n"},
    {"rotary_embedding", "dt_tensor *self; dt_tensor *frequencies;\n"
                         "dt_tensor *result = dt_rotary_embedding(self, frequencies, .offset = DT_INT(0),\n"
                         "    .interleaved = true);\n"},
    {"round", "dt_tensor *self;\n"
              "dt_tensor *result = dt_round(self);\n"},
    {"round", "dt_tensor *self; int64_t decimals;\n"
              "dt_tensor *result = dt_round_decimals(self, decimals);\n"},
    {"round_", "dt_tensor *self;\n"
               "dt_tensor *result = dt_round_(self);\n"},
    {"round_", "dt_tensor *self; int64_t decimals;\n"
               "dt_tensor *result = dt_round_decimals_(self, decimals);\n"},
    {"rsqrt", "dt_tensor *self;\n"
              "dt_tensor *result = dt_rsqrt(self);\n"},
    {"rsqrt_", "dt_tensor *self;\n"
               "dt_tensor *result = dt_rsqrt_(self);\n"},
    {"rsub", "dt_tensor *self; dt_tensor *other;\n"
             "dt_tensor *result = dt_rsub(self, other, .alpha = DT_NUMBER(1));\n"},
    {"rsub", "dt_tensor *self; double other;\n"
             "dt_tensor *result = dt_rsub_scalar(self, other, .alpha = DT_NUMBER(1));\n"},
    {"scaled_dot_product_attention", "dt_tensor *query; dt_tensor *key; dt_tensor *value; dt_tensor *attn_mask;\n"
                                     "dt_tensor *result = dt_scaled_dot_product_attention(query, key, value,\n"
                                     "    .attn_mask = attn_mask, .dropout_p = DT_REAL(0.0), .is_causal = true,\n"
                                     "    .scale = DT_REAL(0.5), .enable_gqa = true);\n"},
    {"scatter", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *src;\n"
                "dt_tensor *result = dt_scatter(self, dim, index, src);\n"},
    {"scatter", "dt_tensor *self; int64_t dim; dt_tensor *index; double value;\n"
                "dt_tensor *result = dt_scatter_value(self, dim, index, value);\n"},
    {"scatter_", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *src;\n"
                 "dt_tensor *result = dt_scatter_(self, dim, index, src);\n"},
    {"scatter_", "dt_tensor *self; int64_t dim; dt_tensor *index; double value;\n"
                 "dt_tensor *result = dt_scatter_value_(self, dim, index, value);\n"},
    {"scatter_add", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *src;\n"
                    "dt_tensor *result = dt_scatter_add(self, dim, index, src);\n"},
    {"scatter_add_", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *src;\n"
                     "dt_tensor *result = dt_scatter_add_(self, dim, index, src);\n"},
    {"scatter_reduce", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *src;\n"
                       "const char *reduce;\n"
                       "dt_tensor *result = dt_scatter_reduce(self, dim, index, src, reduce,\n"
                       "    .include_self = DT_FALSE);\n"},
    {"scatter_reduce_", "dt_tensor *self; int64_t dim; dt_tensor *index; dt_tensor *src;\n"
                        "const char *reduce;\n"
                        "dt_tensor *result = dt_scatter_reduce_(self, dim, index, src, reduce,\n"
                        "    .include_self = DT_FALSE);\n"},
    {"searchsorted", "dt_tensor *sorted_sequence; dt_tensor *self; const char *side;\n"
                     "dt_tensor *sorter;\n"
                     "dt_tensor *result = dt_searchsorted(sorted_sequence, self, .out_int32 = true,\n"
                     "    .right = true, .side = side, .sorter = sorter);\n"},
    {"searchsorted", "dt_tensor *sorted_sequence; double self; const char *side; dt_tensor *sorter;\n"
                     "dt_tensor *result = dt_searchsorted_scalar(sorted_sequence, self,\n"
                     "    .out_int32 = true, .right = true, .side = side, .sorter = sorter);\n"},
    {"select", "dt_tensor *self; int64_t dim; int64_t index;\n"
               "dt_tensor *result = dt_select(self, dim, index);\n"},
    {"select_backward", "dt_tensor *grad_output; dt_shape input_sizes; int64_t dim; int64_t index;\n"
                        "dt_tensor *result = dt_select_backward(grad_output, input_sizes, dim, index);\n"},
    {"select_scatter", "dt_tensor *self; dt_tensor *src; int64_t dim; int64_t index;\n"
                       "dt_tensor *result = dt_select_scatter(self, src, dim, index);\n"},
    {"selu", "dt_tensor *input;\n"
             "dt_tensor *result = dt_selu(input);\n"},
    {"selu_", "dt_tensor *input;\n"
              "dt_tensor *result = dt_selu_(input);\n"},
    {"sgd_", "dt_tensor *self; dt_tensor *grad; double lr;\n"
             "dt_tensor *result = dt_sgd_(self, grad, lr, .weight_decay = DT_REAL(0.0),\n"
             "    .momentum = DT_REAL(0.0), .dampening = DT_REAL(0.0), .nesterov = true,\n"
             "    .maximize = true, .is_first = true, .grad_scale = DT_REAL(1.0));\n"},
    {"sgd_", "dt_tensor *self; dt_tensor *grad; dt_tensor *momentum_buffer; double lr;\n"
             "dt_sgd_momentum_in_place_result result = dt_sgd_momentum_(self, grad,\n"
             "    momentum_buffer, lr, .weight_decay = DT_REAL(0.0),\n"
             "    .momentum = DT_REAL(0.0), .dampening = DT_REAL(0.0), .nesterov = true,\n"
             "    .maximize = true, .is_first = true, .grad_scale = DT_REAL(1.0));\n"
             "/* result.self, result.momentum_buffer */\n"},
    {"sgn", "dt_tensor *self;\n"
            "dt_tensor *result = dt_sgn(self);\n"},
    {"sgn_", "dt_tensor *self;\n"
             "dt_tensor *result = dt_sgn_(self);\n"},
    {"short", "dt_tensor *self;\n"
              "dt_tensor *result = dt_short(self);\n"},
    {"sigmoid", "dt_tensor *self;\n"
                "dt_tensor *result = dt_sigmoid(self);\n"},
    {"sigmoid_", "dt_tensor *self;\n"
                 "dt_tensor *result = dt_sigmoid_(self);\n"},
    {"sigmoid_backward", "dt_tensor *grad_output; dt_tensor *output;\n"
                         "dt_tensor *result = dt_sigmoid_backward(grad_output, output);\n"},
    {"sign", "dt_tensor *self;\n"
             "dt_tensor *result = dt_sign(self);\n"},
    {"sign_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_sign_(self);\n"},
    {"silu", "dt_tensor *input;\n"
             "dt_tensor *result = dt_silu(input);\n"},
    {"silu_", "dt_tensor *input;\n"
              "dt_tensor *result = dt_silu_(input);\n"},
    {"silu_backward", "dt_tensor *grad_output; dt_tensor *self;\n"
                      "dt_tensor *result = dt_silu_backward(grad_output, self);\n"},
    {"sin", "dt_tensor *self;\n"
            "dt_tensor *result = dt_sin(self);\n"},
    {"sin_", "dt_tensor *self;\n"
             "dt_tensor *result = dt_sin_(self);\n"},
    {"sinh", "dt_tensor *self;\n"
             "dt_tensor *result = dt_sinh(self);\n"},
    {"sinh_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_sinh_(self);\n"},
    {"slice", "dt_tensor *self; int64_t dim; int64_t start; int64_t end; int64_t step;\n"
              "dt_tensor *result = dt_slice(self, dim, start, end, step);\n"},
    {"slice_backward", "dt_tensor *grad_output; dt_shape input_sizes; int64_t dim; int64_t start;\n"
                       "int64_t end; int64_t step;\n"
                       "dt_tensor *result = dt_slice_backward(grad_output, input_sizes, dim, start,\n"
                       "    end, step);\n"},
    {"slice_scatter", "dt_tensor *self; dt_tensor *src; int64_t dim; int64_t start; int64_t end;\n"
                      "int64_t step;\n"
                      "dt_tensor *result = dt_slice_scatter(self, src, dim, start, end, step);\n"},
    {"slice_scatter_", "dt_tensor *self; dt_tensor *src; int64_t dim; int64_t start; int64_t end;\n"
                       "int64_t step;\n"
                       "dt_tensor *result = dt_slice_scatter_(self, src, dim, start, end, step);\n"},
    {"smooth_l1_loss", "dt_tensor *input; dt_tensor *target;\n"
                       "dt_tensor *result = dt_smooth_l1_loss(input, target, .reduction = \"mean\",\n"
                       "    .beta = DT_REAL(1.0));\n"},
    {"softmax", "dt_tensor *self; int64_t dim;\n"
                "dt_tensor *result = dt_softmax(self, dim, .dtype = DT_F32);\n"},
    {"softmin", "dt_tensor *input;\n"
                "dt_tensor *result = dt_softmin(input, .dim = DT_INT(0), .dtype = DT_F32);\n"},
    {"softplus", "dt_tensor *self;\n"
                 "dt_tensor *result = dt_softplus(self, .beta = DT_NUMBER(1),\n"
                 "    .threshold = DT_NUMBER(20));\n"},
    {"softshrink", "dt_tensor *self;\n"
                   "dt_tensor *result = dt_softshrink(self, .lambd = DT_NUMBER(0.5));\n"},
    {"softsign", "dt_tensor *input;\n"
                 "dt_tensor *result = dt_softsign(input);\n"},
    {"sort", "dt_tensor *self;\n"
             "dt_sort_result result = dt_sort(self, .dim = DT_INT(-1), .descending = true);\n"
             "/* result.values, result.indices */\n"},
    {"split", "dt_tensor *self; int64_t split_size; dt_tensor *out[8];\n"
              "int n = dt_split(self, split_size, out, 8, .dim = DT_INT(0));\n"},
    {"split", "dt_tensor *self; dt_ints split_size; dt_tensor *out[8];\n"
              "int n = dt_split_sizes(self, split_size, out, 8, .dim = DT_INT(0));\n"},
    {"split_with_sizes", "dt_tensor *self; dt_ints split_sizes; dt_tensor *out[8];\n"
                         "int n = dt_split_with_sizes(self, split_sizes, out, 8, .dim = DT_INT(0));\n"},
    {"sqrt", "dt_tensor *self;\n"
             "dt_tensor *result = dt_sqrt(self);\n"},
    {"sqrt_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_sqrt_(self);\n"},
    {"square", "dt_tensor *self;\n"
               "dt_tensor *result = dt_square(self);\n"},
    {"square_", "dt_tensor *self;\n"
                "dt_tensor *result = dt_square_(self);\n"},
    {"squeeze", "dt_tensor *self;\n"
                "dt_tensor *result = dt_squeeze(self);\n"},
    {"squeeze", "dt_tensor *self; int64_t dim;\n"
                "dt_tensor *result = dt_squeeze_dim(self, dim);\n"},
    {"squeeze", "dt_tensor *self; dt_dims dim;\n"
                "dt_tensor *result = dt_squeeze_dims(self, dim);\n"},
    {"stack", "dt_tensors tensors;\n"
              "dt_tensor *result = dt_stack(tensors, .dim = DT_INT(0));\n"},
    {"std", "dt_tensor *self;\n"
            "dt_tensor *result = dt_std(self, .dim = DT_DIMS(0), .unbiased = DT_FALSE,\n"
            "    .keepdim = true);\n"},
    {"std", "dt_tensor *self;\n"
            "dt_tensor *result = dt_std_correction(self, .dim = DT_DIMS(0),\n"
            "    .correction = DT_NUMBER(1), .keepdim = true);\n"},
    {"std_mean", "dt_tensor *self;\n"
                 "dt_std_mean_result result = dt_std_mean(self, .dim = DT_DIMS(0),\n"
                 "    .unbiased = DT_FALSE, .keepdim = true);\n"
                 "/* result.std, result.mean */\n"},
    {"std_mean", "dt_tensor *self;\n"
                 "dt_std_mean_correction_result result = dt_std_mean_correction(self,\n"
                 "    .dim = DT_DIMS(0), .correction = DT_NUMBER(1), .keepdim = true);\n"
                 "/* result.std, result.mean */\n"},
    {"sub", "dt_tensor *self; dt_tensor *other;\n"
            "dt_tensor *result = dt_sub(self, other, .alpha = DT_NUMBER(1));\n"},
    {"sub", "dt_tensor *self; double other;\n"
            "dt_tensor *result = dt_sub_scalar(self, other, .alpha = DT_NUMBER(1));\n"},
    {"sub_", "dt_tensor *self; dt_tensor *other;\n"
             "dt_tensor *result = dt_sub_(self, other, .alpha = DT_NUMBER(1));\n"},
    {"sub_", "dt_tensor *self; double other;\n"
             "dt_tensor *result = dt_sub_scalar_(self, other, .alpha = DT_NUMBER(1));\n"},
    {"sum", "dt_tensor *self;\n"
            "dt_tensor *result = dt_sum(self, .dim = DT_DIMS(0), .keepdim = true,\n"
            "    .dtype = DT_F32);\n"},
    {"svd", "dt_tensor *self;\n"
            "dt_svd_result result = dt_svd(self, .some = DT_FALSE, .compute_uv = DT_FALSE);\n"
            "/* result.U, result.S, result.V */\n"},
    {"swapaxes", "dt_tensor *self; int64_t axis0; int64_t axis1;\n"
                 "dt_tensor *result = dt_swapaxes(self, axis0, axis1);\n"},
    {"t", "dt_tensor *self;\n"
          "dt_tensor *result = dt_t(self);\n"},
    {"take_along_dim", "dt_tensor *self; dt_tensor *indices;\n"
                       "dt_tensor *result = dt_take_along_dim(self, indices, .dim = DT_INT(0));\n"},
    {"tan", "dt_tensor *self;\n"
            "dt_tensor *result = dt_tan(self);\n"},
    {"tan_", "dt_tensor *self;\n"
             "dt_tensor *result = dt_tan_(self);\n"},
    {"tanh", "dt_tensor *self;\n"
             "dt_tensor *result = dt_tanh(self);\n"},
    {"tanh_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_tanh_(self);\n"},
    {"tanh_backward", "dt_tensor *grad_output; dt_tensor *output;\n"
                      "dt_tensor *result = dt_tanh_backward(grad_output, output);\n"},
    {"tanhshrink", "dt_tensor *input;\n"
                   "dt_tensor *result = dt_tanhshrink(input);\n"},
    {"tensor_split", "dt_tensor *self; int64_t sections; dt_tensor *out[8];\n"
                     "int n = dt_tensor_split(self, sections, out, 8, .dim = DT_INT(0));\n"},
    {"tensor_split", "dt_tensor *self; dt_ints indices; dt_tensor *out[8];\n"
                     "int n = dt_tensor_split_indices(self, indices, out, 8, .dim = DT_INT(0));\n"},
    {"tensor_split", "dt_tensor *self; dt_tensor *tensor_indices_or_sections; dt_tensor *out[8];\n"
                     "int n = dt_tensor_split_tensor_indices_or_sections(self,\n"
                     "    tensor_indices_or_sections, out, 8, .dim = DT_INT(0));\n"},
    {"tensordot", "dt_tensor *self; dt_tensor *other; dt_ints dims_self; dt_ints dims_other;\n"
                  "dt_tensor *result = dt_tensordot(self, other, dims_self, dims_other);\n"},
    {"threshold", "dt_tensor *input; double threshold; double value;\n"
                  "dt_tensor *result = dt_threshold(input, threshold, value);\n"},
    {"threshold_", "dt_tensor *input; double threshold; double value;\n"
                   "dt_tensor *result = dt_threshold_(input, threshold, value);\n"},
    {"threshold_backward", "dt_tensor *grad_output; dt_tensor *self; double threshold;\n"
                           "dt_tensor *result = dt_threshold_backward(grad_output, self, threshold);\n"},
    {"tile", "dt_tensor *self; dt_dims dims;\n"
             "dt_tensor *result = dt_tile(self, dims);\n"},
    {"to", "dt_tensor *self; dt_dtype dtype;\n"
           "dt_tensor *result = dt_to(self, dtype, .copy = true);\n"},
    {"topk", "dt_tensor *self; int64_t k;\n"
             "dt_topk_result result = dt_topk(self, k, .dim = DT_INT(-1),\n"
             "    .largest = DT_FALSE);\n"
             "/* result.values, result.indices */\n"},
    {"trace", "dt_tensor *self;\n"
              "dt_tensor *result = dt_trace(self);\n"},
    {"transpose", "dt_tensor *self; int64_t dim0; int64_t dim1;\n"
                  "dt_tensor *result = dt_transpose(self, dim0, dim1);\n"},
    {"triangular_solve", "dt_tensor *self; dt_tensor *A;\n"
                         "dt_triangular_solve_result result = dt_triangular_solve(self, A,\n"
                         "    .upper = DT_FALSE, .transpose = true, .unitriangular = true);\n"
                         "/* result.solution, result.cloned_coefficient */\n"},
    {"tril", "dt_tensor *self;\n"
             "dt_tensor *result = dt_tril(self, .diagonal = DT_INT(0));\n"},
    {"tril_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_tril_(self, .diagonal = DT_INT(0));\n"},
    {"tril_indices", "dt_ctx *ctx; int64_t row; int64_t col; int64_t offset; dt_mesh *mesh;\n"
                     "dt_tensor *result = dt_tril_indices(ctx, row, col, offset, .dtype = DT_F32,\n"
                     "    .mesh = mesh, .place = \"R\", .requires_grad = true);\n"},
    {"triu", "dt_tensor *self;\n"
             "dt_tensor *result = dt_triu(self, .diagonal = DT_INT(0));\n"},
    {"triu_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_triu_(self, .diagonal = DT_INT(0));\n"},
    {"triu_indices", "dt_ctx *ctx; int64_t row; int64_t col; int64_t offset; dt_mesh *mesh;\n"
                     "dt_tensor *result = dt_triu_indices(ctx, row, col, offset, .dtype = DT_F32,\n"
                     "    .mesh = mesh, .place = \"R\", .requires_grad = true);\n"},
    {"trunc", "dt_tensor *self;\n"
              "dt_tensor *result = dt_trunc(self);\n"},
    {"trunc_", "dt_tensor *self;\n"
               "dt_tensor *result = dt_trunc_(self);\n"},
    {"type_as", "dt_tensor *self; dt_tensor *other;\n"
                "dt_tensor *result = dt_type_as(self, other);\n"},
    {"unbind", "dt_tensor *self; dt_tensor *out[8];\n"
               "int n = dt_unbind(self, out, 8, .dim = DT_INT(0));\n"},
    {"unflatten", "dt_tensor *self; int64_t dim; dt_shape sizes;\n"
                  "dt_tensor *result = dt_unflatten(self, dim, sizes);\n"},
    {"unfold", "dt_tensor *self; int64_t dimension; int64_t size; int64_t step;\n"
               "dt_tensor *result = dt_unfold(self, dimension, size, step);\n"},
    {"unfold_backward", "dt_tensor *grad_in; dt_shape input_sizes; int64_t dim; int64_t size;\n"
                        "int64_t step;\n"
                        "dt_tensor *result = dt_unfold_backward(grad_in, input_sizes, dim, size, step);\n"},
    {"unsqueeze", "dt_tensor *self; int64_t dim;\n"
                  "dt_tensor *result = dt_unsqueeze(self, dim);\n"},
    {"var", "dt_tensor *self;\n"
            "dt_tensor *result = dt_var(self, .dim = DT_DIMS(0), .unbiased = DT_FALSE,\n"
            "    .keepdim = true);\n"},
    {"var", "dt_tensor *self;\n"
            "dt_tensor *result = dt_var_correction(self, .dim = DT_DIMS(0),\n"
            "    .correction = DT_NUMBER(1), .keepdim = true);\n"},
    {"var_mean", "dt_tensor *self;\n"
                 "dt_var_mean_result result = dt_var_mean(self, .dim = DT_DIMS(0),\n"
                 "    .unbiased = DT_FALSE, .keepdim = true);\n"
                 "/* result.var, result.mean */\n"},
    {"var_mean", "dt_tensor *self;\n"
                 "dt_var_mean_correction_result result = dt_var_mean_correction(self,\n"
                 "    .dim = DT_DIMS(0), .correction = DT_NUMBER(1), .keepdim = true);\n"
                 "/* result.var, result.mean */\n"},
    {"vdot", "dt_tensor *self; dt_tensor *other;\n"
             "dt_tensor *result = dt_vdot(self, other);\n"},
    {"view", "dt_tensor *self; dt_shape size;\n"
             "dt_tensor *result = dt_view(self, size);\n"},
    {"view_as", "dt_tensor *self; dt_tensor *other;\n"
                "dt_tensor *result = dt_view_as(self, other);\n"},
    {"view_as_complex", "dt_tensor *self;\n"
                        "dt_tensor *result = dt_view_as_complex(self);\n"},
    {"view_as_real", "dt_tensor *self;\n"
                     "dt_tensor *result = dt_view_as_real(self);\n"},
    {"vstack", "dt_tensors tensors;\n"
               "dt_tensor *result = dt_vstack(tensors);\n"},
    {"where", "dt_tensor *condition; dt_tensor *self; dt_tensor *other;\n"
              "dt_tensor *result = dt_where(condition, self, other);\n"},
    {"where", "dt_tensor *condition; dt_tensor *self; double other;\n"
              "dt_tensor *result = dt_where_scalar_other(condition, self, other);\n"},
    {"where", "dt_tensor *condition; double self; dt_tensor *other;\n"
              "dt_tensor *result = dt_where_scalar_self(condition, self, other);\n"},
    {"where", "dt_tensor *condition; double self; double other;\n"
              "dt_tensor *result = dt_where_scalars(condition, self, other);\n"},
    {"xlogy", "dt_tensor *self; dt_tensor *other;\n"
              "dt_tensor *result = dt_xlogy(self, other);\n"},
    {"xlogy", "dt_tensor *self; double other;\n"
              "dt_tensor *result = dt_xlogy_scalar_other(self, other);\n"},
    {"xlogy", "double self; dt_tensor *other;\n"
              "dt_tensor *result = dt_xlogy_scalar_self(self, other);\n"},
    {"xlogy_", "dt_tensor *self; dt_tensor *other;\n"
               "dt_tensor *result = dt_xlogy_(self, other);\n"},
    {"xlogy_", "dt_tensor *self; double other;\n"
               "dt_tensor *result = dt_xlogy_scalar_(self, other);\n"},
    {"zero_", "dt_tensor *self;\n"
              "dt_tensor *result = dt_zero_(self);\n"},
    {"zeros", "dt_ctx *ctx; dt_shape size; dt_mesh *mesh;\n"
              "dt_tensor *result = dt_zeros(ctx, size, .dtype = DT_F32, .mesh = mesh,\n"
              "    .place = \"R\", .requires_grad = true);\n"},
    {"zeros_like", "dt_tensor *self;\n"
                   "dt_tensor *result = dt_zeros_like(self, .dtype = DT_F32);\n"},
    {0},
};
