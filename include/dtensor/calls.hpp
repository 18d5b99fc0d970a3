/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that take options or the site of their caller, for C++; dtensor.hpp includes this. Made by scripts/make_cpp.py from the public
 * headers, which have the contracts: change those. Collective or Local as in C.
 */
#ifndef DTENSOR_CALLS_HPP
#define DTENSOR_CALLS_HPP

#include <dtensor/dtensor.hpp>

namespace dt {

/* clang-format off */
#define DT_X_OPTION(name)                                                                                            \
    struct name##_option : option_name<name##_option> {                                                              \
        using option_name<name##_option>::operator=;                                                                 \
        template <class Options> static auto &field(Options &options) { return options.name; }                       \
    };                                                                                                               \
    inline constexpr name##_option name{};
DT_X_OPTION(N)
DT_X_OPTION(UPLO)
DT_X_OPTION(accumulate)
DT_X_OPTION(adjoint)
DT_X_OPTION(align_corners)
DT_X_OPTION(allow_unused)
DT_X_OPTION(alpha)
DT_X_OPTION(amsgrad)
DT_X_OPTION(antialias)
DT_X_OPTION(append)
DT_X_OPTION(approximate)
DT_X_OPTION(atol)
DT_X_OPTION(attn_mask)
DT_X_OPTION(batches)
DT_X_OPTION(beta)
DT_X_OPTION(beta1)
DT_X_OPTION(beta2)
DT_X_OPTION(bias)
DT_X_OPTION(ceil_mode)
DT_X_OPTION(centered)
DT_X_OPTION(check)
DT_X_OPTION(check_errors)
DT_X_OPTION(compute_uv)
DT_X_OPTION(config)
DT_X_OPTION(copy)
DT_X_OPTION(correction)
DT_X_OPTION(count_include_pad)
DT_X_OPTION(create_graph)
DT_X_OPTION(dampening)
DT_X_OPTION(decoupled_weight_decay)
DT_X_OPTION(delta)
DT_X_OPTION(descending)
DT_X_OPTION(diagonal)
DT_X_OPTION(dilation)
DT_X_OPTION(dim)
DT_X_OPTION(dim1)
DT_X_OPTION(dim2)
DT_X_OPTION(dims)
DT_X_OPTION(divisor_override)
DT_X_OPTION(draw)
DT_X_OPTION(driver)
DT_X_OPTION(drop_last)
DT_X_OPTION(dropout_p)
DT_X_OPTION(dtype)
DT_X_OPTION(edge_items)
DT_X_OPTION(enable_gqa)
DT_X_OPTION(end_dim)
DT_X_OPTION(eps)
DT_X_OPTION(equal_nan)
DT_X_OPTION(error_if_nonfinite)
DT_X_OPTION(everywhere)
DT_X_OPTION(extents)
DT_X_OPTION(file_bytes)
DT_X_OPTION(first)
DT_X_OPTION(format)
DT_X_OPTION(full_matrices)
DT_X_OPTION(generator)
DT_X_OPTION(get_infos)
DT_X_OPTION(grad)
DT_X_OPTION(grad_dtype)
DT_X_OPTION(grad_place)
DT_X_OPTION(grad_scale)
DT_X_OPTION(groups)
DT_X_OPTION(hermitian)
DT_X_OPTION(high)
DT_X_OPTION(hold)
DT_X_OPTION(hop)
DT_X_OPTION(hops)
DT_X_OPTION(ignore_index)
DT_X_OPTION(include_self)
DT_X_OPTION(ind)
DT_X_OPTION(initial_accumulator_value)
DT_X_OPTION(interleaved)
DT_X_OPTION(is_causal)
DT_X_OPTION(is_first)
DT_X_OPTION(k)
DT_X_OPTION(keep)
DT_X_OPTION(keepdim)
DT_X_OPTION(label)
DT_X_OPTION(label_smoothing)
DT_X_OPTION(lambd)
DT_X_OPTION(largest)
DT_X_OPTION(later)
DT_X_OPTION(left)
DT_X_OPTION(length)
DT_X_OPTION(local)
DT_X_OPTION(log_target)
DT_X_OPTION(loss)
DT_X_OPTION(low)
DT_X_OPTION(lr_decay)
DT_X_OPTION(map)
DT_X_OPTION(max)
DT_X_OPTION(max_val)
DT_X_OPTION(maximize)
DT_X_OPTION(mean)
DT_X_OPTION(mesh)
DT_X_OPTION(metrics)
DT_X_OPTION(micro)
DT_X_OPTION(min)
DT_X_OPTION(min_val)
DT_X_OPTION(mode)
DT_X_OPTION(momentum)
DT_X_OPTION(momentum_decay)
DT_X_OPTION(n)
DT_X_OPTION(n_metrics)
DT_X_OPTION(nan)
DT_X_OPTION(negative_slope)
DT_X_OPTION(neginf)
DT_X_OPTION(nesterov)
DT_X_OPTION(norm_type)
DT_X_OPTION(offset)
DT_X_OPTION(on)
DT_X_OPTION(optimizer)
DT_X_OPTION(optional)
DT_X_OPTION(ord)
DT_X_OPTION(out_int32)
DT_X_OPTION(output_grads)
DT_X_OPTION(output_padding)
DT_X_OPTION(output_size)
DT_X_OPTION(p)
DT_X_OPTION(padding)
DT_X_OPTION(padding_idx)
DT_X_OPTION(parameters)
DT_X_OPTION(params)
DT_X_OPTION(pivot)
DT_X_OPTION(place)
DT_X_OPTION(planner)
DT_X_OPTION(pos_weight)
DT_X_OPTION(posinf)
DT_X_OPTION(precision)
DT_X_OPTION(prepend)
DT_X_OPTION(ranks)
DT_X_OPTION(rate)
DT_X_OPTION(rcond)
DT_X_OPTION(recompute_scale_factor)
DT_X_OPTION(reduction)
DT_X_OPTION(requires_grad)
DT_X_OPTION(rest)
DT_X_OPTION(retain_graph)
DT_X_OPTION(right)
DT_X_OPTION(rounding_mode)
DT_X_OPTION(rows)
DT_X_OPTION(rtol)
DT_X_OPTION(rules)
DT_X_OPTION(running_mean)
DT_X_OPTION(running_var)
DT_X_OPTION(scale)
DT_X_OPTION(scale_factor)
DT_X_OPTION(scale_grad_by_freq)
DT_X_OPTION(scaler)
DT_X_OPTION(seed)
DT_X_OPTION(shape)
DT_X_OPTION(side)
DT_X_OPTION(size)
DT_X_OPTION(some)
DT_X_OPTION(sorter)
DT_X_OPTION(source)
DT_X_OPTION(stage_times)
DT_X_OPTION(stages)
DT_X_OPTION(start_dim)
DT_X_OPTION(std)
DT_X_OPTION(step)
DT_X_OPTION(stride)
DT_X_OPTION(threshold)
DT_X_OPTION(tied)
DT_X_OPTION(times)
DT_X_OPTION(title)
DT_X_OPTION(training)
DT_X_OPTION(transpose)
DT_X_OPTION(transposed)
DT_X_OPTION(unbiased)
DT_X_OPTION(unitriangular)
DT_X_OPTION(unpack_data)
DT_X_OPTION(unpack_pivots)
DT_X_OPTION(unsynced)
DT_X_OPTION(upper)
DT_X_OPTION(use)
DT_X_OPTION(use_input_stats)
DT_X_OPTION(value)
DT_X_OPTION(weight)
DT_X_OPTION(weight_decay)
DT_X_OPTION(weights)
DT_X_OPTION(width)
#undef DT_X_OPTION
/* clang-format on */

/* Options in their order. */
template <> struct fields<dt_T_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_abs_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_abs_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_acos_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_acos_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_adagrad_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_adagrad_in_place_options::lr_decay, &dt_adagrad_in_place_options::weight_decay,
                        &dt_adagrad_in_place_options::eps, &dt_adagrad_in_place_options::maximize,
                        &dt_adagrad_in_place_options::grad_scale);
};
template <> struct fields<dt_adagrad_new_options> {
    static constexpr auto list =
        std::make_tuple(&dt_adagrad_new_options::lr_decay, &dt_adagrad_new_options::weight_decay,
                        &dt_adagrad_new_options::initial_accumulator_value, &dt_adagrad_new_options::eps,
                        &dt_adagrad_new_options::maximize, &dt_adagrad_new_options::params);
};
template <> struct fields<dt_adam_amsgrad_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_adam_amsgrad_in_place_options::beta1, &dt_adam_amsgrad_in_place_options::beta2,
                        &dt_adam_amsgrad_in_place_options::weight_decay, &dt_adam_amsgrad_in_place_options::eps,
                        &dt_adam_amsgrad_in_place_options::maximize, &dt_adam_amsgrad_in_place_options::grad_scale);
};
template <> struct fields<dt_adam_in_place_options> {
    static constexpr auto list = std::make_tuple(
        &dt_adam_in_place_options::beta1, &dt_adam_in_place_options::beta2, &dt_adam_in_place_options::weight_decay,
        &dt_adam_in_place_options::eps, &dt_adam_in_place_options::maximize, &dt_adam_in_place_options::grad_scale);
};
template <> struct fields<dt_adam_new_options> {
    static constexpr auto list =
        std::make_tuple(&dt_adam_new_options::beta1, &dt_adam_new_options::beta2, &dt_adam_new_options::eps,
                        &dt_adam_new_options::weight_decay, &dt_adam_new_options::amsgrad,
                        &dt_adam_new_options::maximize, &dt_adam_new_options::params);
};
template <> struct fields<dt_adamax_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_adamax_in_place_options::beta1, &dt_adamax_in_place_options::beta2,
                        &dt_adamax_in_place_options::weight_decay, &dt_adamax_in_place_options::eps,
                        &dt_adamax_in_place_options::maximize, &dt_adamax_in_place_options::grad_scale);
};
template <> struct fields<dt_adamax_new_options> {
    static constexpr auto list = std::make_tuple(&dt_adamax_new_options::beta1, &dt_adamax_new_options::beta2,
                                                 &dt_adamax_new_options::eps, &dt_adamax_new_options::weight_decay,
                                                 &dt_adamax_new_options::maximize, &dt_adamax_new_options::params);
};
template <> struct fields<dt_adamw_amsgrad_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_adamw_amsgrad_in_place_options::beta1, &dt_adamw_amsgrad_in_place_options::beta2,
                        &dt_adamw_amsgrad_in_place_options::weight_decay, &dt_adamw_amsgrad_in_place_options::eps,
                        &dt_adamw_amsgrad_in_place_options::maximize, &dt_adamw_amsgrad_in_place_options::grad_scale);
};
template <> struct fields<dt_adamw_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_adamw_in_place_options::beta1, &dt_adamw_in_place_options::beta2,
                        &dt_adamw_in_place_options::weight_decay, &dt_adamw_in_place_options::eps,
                        &dt_adamw_in_place_options::maximize, &dt_adamw_in_place_options::grad_scale);
};
template <> struct fields<dt_adaptive_avg_pool1d_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_adaptive_avg_pool2d_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_adaptive_avg_pool3d_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_adaptive_max_pool1d_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_adaptive_max_pool1d_with_indices_options> {
    static constexpr auto list = std::make_tuple();
};
template <> struct fields<dt_adaptive_max_pool2d_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_adaptive_max_pool2d_with_indices_options> {
    static constexpr auto list = std::make_tuple();
};
template <> struct fields<dt_adaptive_max_pool3d_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_adaptive_max_pool3d_with_indices_options> {
    static constexpr auto list = std::make_tuple();
};
template <> struct fields<dt_add_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_add_in_place_options::alpha);
};
template <> struct fields<dt_add_options> { static constexpr auto list = std::make_tuple(&dt_add_options::alpha); };
template <> struct fields<dt_add_scalar_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_add_scalar_in_place_options::alpha);
};
template <> struct fields<dt_add_scalar_options> {
    static constexpr auto list = std::make_tuple(&dt_add_scalar_options::alpha);
};
template <> struct fields<dt_addbmm_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_addbmm_in_place_options::beta, &dt_addbmm_in_place_options::alpha);
};
template <> struct fields<dt_addbmm_options> {
    static constexpr auto list = std::make_tuple(&dt_addbmm_options::beta, &dt_addbmm_options::alpha);
};
template <> struct fields<dt_addcdiv_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_addcdiv_in_place_options::value);
};
template <> struct fields<dt_addcdiv_options> {
    static constexpr auto list = std::make_tuple(&dt_addcdiv_options::value);
};
template <> struct fields<dt_addcmul_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_addcmul_in_place_options::value);
};
template <> struct fields<dt_addcmul_options> {
    static constexpr auto list = std::make_tuple(&dt_addcmul_options::value);
};
template <> struct fields<dt_addmm_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_addmm_in_place_options::beta, &dt_addmm_in_place_options::alpha);
};
template <> struct fields<dt_addmm_options> {
    static constexpr auto list = std::make_tuple(&dt_addmm_options::beta, &dt_addmm_options::alpha);
};
template <> struct fields<dt_addmv_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_addmv_in_place_options::beta, &dt_addmv_in_place_options::alpha);
};
template <> struct fields<dt_addmv_options> {
    static constexpr auto list = std::make_tuple(&dt_addmv_options::beta, &dt_addmv_options::alpha);
};
template <> struct fields<dt_addr_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_addr_in_place_options::beta, &dt_addr_in_place_options::alpha);
};
template <> struct fields<dt_addr_options> {
    static constexpr auto list = std::make_tuple(&dt_addr_options::beta, &dt_addr_options::alpha);
};
template <> struct fields<dt_all_options> {
    static constexpr auto list = std::make_tuple(&dt_all_options::dim, &dt_all_options::keepdim);
};
template <> struct fields<dt_allclose_options> {
    static constexpr auto list =
        std::make_tuple(&dt_allclose_options::rtol, &dt_allclose_options::atol, &dt_allclose_options::equal_nan);
};
template <> struct fields<dt_amax_options> {
    static constexpr auto list = std::make_tuple(&dt_amax_options::dim, &dt_amax_options::keepdim);
};
template <> struct fields<dt_amin_options> {
    static constexpr auto list = std::make_tuple(&dt_amin_options::dim, &dt_amin_options::keepdim);
};
template <> struct fields<dt_aminmax_options> {
    static constexpr auto list = std::make_tuple(&dt_aminmax_options::dim, &dt_aminmax_options::keepdim);
};
template <> struct fields<dt_any_options> {
    static constexpr auto list = std::make_tuple(&dt_any_options::dim, &dt_any_options::keepdim);
};
template <> struct fields<dt_argmax_options> {
    static constexpr auto list = std::make_tuple(&dt_argmax_options::dim, &dt_argmax_options::keepdim);
};
template <> struct fields<dt_argmin_options> {
    static constexpr auto list = std::make_tuple(&dt_argmin_options::dim, &dt_argmin_options::keepdim);
};
template <> struct fields<dt_argsort_options> {
    static constexpr auto list = std::make_tuple(&dt_argsort_options::dim, &dt_argsort_options::descending);
};
template <> struct fields<dt_argsort_stable_options> {
    static constexpr auto list =
        std::make_tuple(&dt_argsort_stable_options::dim, &dt_argsort_stable_options::descending);
};
template <> struct fields<dt_asin_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_asin_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_atan2_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_atan2_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_atan_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_atan_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_attention_backward_options> {
    static constexpr auto list =
        std::make_tuple(&dt_attention_backward_options::attn_mask, &dt_attention_backward_options::is_causal,
                        &dt_attention_backward_options::scale, &dt_attention_backward_options::enable_gqa,
                        &dt_attention_backward_options::dropout_p, &dt_attention_backward_options::seed,
                        &dt_attention_backward_options::draw);
};
template <> struct fields<dt_attention_mask_backward_options> {
    static constexpr auto list = std::make_tuple(
        &dt_attention_mask_backward_options::attn_mask, &dt_attention_mask_backward_options::is_causal,
        &dt_attention_mask_backward_options::scale, &dt_attention_mask_backward_options::enable_gqa,
        &dt_attention_mask_backward_options::dropout_p, &dt_attention_mask_backward_options::seed,
        &dt_attention_mask_backward_options::draw);
};
template <> struct fields<dt_avg_pool1d_options> {
    static constexpr auto list =
        std::make_tuple(&dt_avg_pool1d_options::stride, &dt_avg_pool1d_options::padding,
                        &dt_avg_pool1d_options::ceil_mode, &dt_avg_pool1d_options::count_include_pad);
};
template <> struct fields<dt_avg_pool2d_options> {
    static constexpr auto list = std::make_tuple(
        &dt_avg_pool2d_options::stride, &dt_avg_pool2d_options::padding, &dt_avg_pool2d_options::ceil_mode,
        &dt_avg_pool2d_options::count_include_pad, &dt_avg_pool2d_options::divisor_override);
};
template <> struct fields<dt_avg_pool3d_options> {
    static constexpr auto list = std::make_tuple(
        &dt_avg_pool3d_options::stride, &dt_avg_pool3d_options::padding, &dt_avg_pool3d_options::ceil_mode,
        &dt_avg_pool3d_options::count_include_pad, &dt_avg_pool3d_options::divisor_override);
};
template <> struct fields<dt_backward_options> {
    static constexpr auto list = std::make_tuple(&dt_backward_options::grad, &dt_backward_options::retain_graph,
                                                 &dt_backward_options::create_graph, &dt_backward_options::hold);
};
template <> struct fields<dt_baddbmm_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_baddbmm_in_place_options::beta, &dt_baddbmm_in_place_options::alpha);
};
template <> struct fields<dt_baddbmm_options> {
    static constexpr auto list = std::make_tuple(&dt_baddbmm_options::beta, &dt_baddbmm_options::alpha);
};
template <> struct fields<dt_batch_norm_options> {
    static constexpr auto list = std::make_tuple(&dt_batch_norm_options::running_mean,
                                                 &dt_batch_norm_options::running_var, &dt_batch_norm_options::weight,
                                                 &dt_batch_norm_options::bias, &dt_batch_norm_options::training,
                                                 &dt_batch_norm_options::momentum, &dt_batch_norm_options::eps);
};
template <> struct fields<dt_batches_open_options> {
    static constexpr auto list = std::make_tuple(&dt_batches_open_options::mesh, &dt_batches_open_options::place,
                                                 &dt_batches_open_options::format, &dt_batches_open_options::length,
                                                 &dt_batches_open_options::seed, &dt_batches_open_options::drop_last);
};
template <> struct fields<dt_bfloat16_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_binary_cross_entropy_options> {
    static constexpr auto list =
        std::make_tuple(&dt_binary_cross_entropy_options::weight, &dt_binary_cross_entropy_options::reduction);
};
template <> struct fields<dt_binary_cross_entropy_with_logits_options> {
    static constexpr auto list = std::make_tuple(&dt_binary_cross_entropy_with_logits_options::weight,
                                                 &dt_binary_cross_entropy_with_logits_options::reduction,
                                                 &dt_binary_cross_entropy_with_logits_options::pos_weight);
};
template <> struct fields<dt_bitwise_and_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_and_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_and_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_and_scalar_other_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_and_scalar_self_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_not_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_not_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_or_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_or_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_or_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_or_scalar_other_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_or_scalar_self_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_xor_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_xor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_xor_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_xor_scalar_other_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bitwise_xor_scalar_self_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bmm_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bool_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_broadcast_to_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_bucketize_options> {
    static constexpr auto list = std::make_tuple(&dt_bucketize_options::out_int32, &dt_bucketize_options::right);
};
template <> struct fields<dt_bucketize_scalar_options> {
    static constexpr auto list =
        std::make_tuple(&dt_bucketize_scalar_options::out_int32, &dt_bucketize_scalar_options::right);
};
template <> struct fields<dt_byte_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_cat_options> { static constexpr auto list = std::make_tuple(&dt_cat_options::dim); };
template <> struct fields<dt_cdouble_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ceil_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ceil_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_celu_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_celu_in_place_options::alpha);
};
template <> struct fields<dt_celu_options> { static constexpr auto list = std::make_tuple(&dt_celu_options::alpha); };
template <> struct fields<dt_cfloat_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_char_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_cholesky_inverse_options> {
    static constexpr auto list = std::make_tuple(&dt_cholesky_inverse_options::upper);
};
template <> struct fields<dt_cholesky_options> {
    static constexpr auto list = std::make_tuple(&dt_cholesky_options::upper);
};
template <> struct fields<dt_cholesky_solve_options> {
    static constexpr auto list = std::make_tuple(&dt_cholesky_solve_options::upper);
};
template <> struct fields<dt_chunk_options> { static constexpr auto list = std::make_tuple(&dt_chunk_options::dim); };
template <> struct fields<dt_clamp_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_clamp_in_place_options::min, &dt_clamp_in_place_options::max);
};
template <> struct fields<dt_clamp_max_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_clamp_max_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_clamp_max_tensor_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_clamp_max_tensor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_clamp_min_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_clamp_min_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_clamp_min_tensor_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_clamp_min_tensor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_clamp_options> {
    static constexpr auto list = std::make_tuple(&dt_clamp_options::min, &dt_clamp_options::max);
};
template <> struct fields<dt_clamp_tensor_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_clamp_tensor_in_place_options::min, &dt_clamp_tensor_in_place_options::max);
};
template <> struct fields<dt_clamp_tensor_options> {
    static constexpr auto list = std::make_tuple(&dt_clamp_tensor_options::min, &dt_clamp_tensor_options::max);
};
template <> struct fields<dt_class_total_options> {
    static constexpr auto list =
        std::make_tuple(&dt_class_total_options::weight, &dt_class_total_options::ignore_index);
};
template <> struct fields<dt_clone_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_conj_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_constant_pad_nd_options> {
    static constexpr auto list = std::make_tuple(&dt_constant_pad_nd_options::value);
};
template <> struct fields<dt_contiguous_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_conv1d_options> {
    static constexpr auto list =
        std::make_tuple(&dt_conv1d_options::bias, &dt_conv1d_options::stride, &dt_conv1d_options::padding,
                        &dt_conv1d_options::dilation, &dt_conv1d_options::groups);
};
template <> struct fields<dt_conv1d_padding_options> {
    static constexpr auto list = std::make_tuple(
        &dt_conv1d_padding_options::bias, &dt_conv1d_padding_options::stride, &dt_conv1d_padding_options::padding,
        &dt_conv1d_padding_options::dilation, &dt_conv1d_padding_options::groups);
};
template <> struct fields<dt_conv2d_options> {
    static constexpr auto list =
        std::make_tuple(&dt_conv2d_options::bias, &dt_conv2d_options::stride, &dt_conv2d_options::padding,
                        &dt_conv2d_options::dilation, &dt_conv2d_options::groups);
};
template <> struct fields<dt_conv2d_padding_options> {
    static constexpr auto list = std::make_tuple(
        &dt_conv2d_padding_options::bias, &dt_conv2d_padding_options::stride, &dt_conv2d_padding_options::padding,
        &dt_conv2d_padding_options::dilation, &dt_conv2d_padding_options::groups);
};
template <> struct fields<dt_conv3d_options> {
    static constexpr auto list =
        std::make_tuple(&dt_conv3d_options::bias, &dt_conv3d_options::stride, &dt_conv3d_options::padding,
                        &dt_conv3d_options::dilation, &dt_conv3d_options::groups);
};
template <> struct fields<dt_conv3d_padding_options> {
    static constexpr auto list = std::make_tuple(
        &dt_conv3d_padding_options::bias, &dt_conv3d_padding_options::stride, &dt_conv3d_padding_options::padding,
        &dt_conv3d_padding_options::dilation, &dt_conv3d_padding_options::groups);
};
template <> struct fields<dt_conv_forward_options> {
    static constexpr auto list =
        std::make_tuple(&dt_conv_forward_options::stride, &dt_conv_forward_options::padding,
                        &dt_conv_forward_options::dilation, &dt_conv_forward_options::groups);
};
template <> struct fields<dt_conv_input_backward_options> {
    static constexpr auto list =
        std::make_tuple(&dt_conv_input_backward_options::stride, &dt_conv_input_backward_options::padding,
                        &dt_conv_input_backward_options::dilation, &dt_conv_input_backward_options::groups);
};
template <> struct fields<dt_conv_transpose1d_options> {
    static constexpr auto list =
        std::make_tuple(&dt_conv_transpose1d_options::bias, &dt_conv_transpose1d_options::stride,
                        &dt_conv_transpose1d_options::padding, &dt_conv_transpose1d_options::output_padding,
                        &dt_conv_transpose1d_options::groups, &dt_conv_transpose1d_options::dilation);
};
template <> struct fields<dt_conv_transpose2d_options> {
    static constexpr auto list =
        std::make_tuple(&dt_conv_transpose2d_options::bias, &dt_conv_transpose2d_options::stride,
                        &dt_conv_transpose2d_options::padding, &dt_conv_transpose2d_options::output_padding,
                        &dt_conv_transpose2d_options::groups, &dt_conv_transpose2d_options::dilation);
};
template <> struct fields<dt_conv_transpose3d_options> {
    static constexpr auto list =
        std::make_tuple(&dt_conv_transpose3d_options::bias, &dt_conv_transpose3d_options::stride,
                        &dt_conv_transpose3d_options::padding, &dt_conv_transpose3d_options::output_padding,
                        &dt_conv_transpose3d_options::groups, &dt_conv_transpose3d_options::dilation);
};
template <> struct fields<dt_conv_weight_backward_options> {
    static constexpr auto list =
        std::make_tuple(&dt_conv_weight_backward_options::stride, &dt_conv_weight_backward_options::padding,
                        &dt_conv_weight_backward_options::dilation, &dt_conv_weight_backward_options::groups);
};
template <> struct fields<dt_convolution_options> {
    static constexpr auto list = std::make_tuple(&dt_convolution_options::bias);
};
template <> struct fields<dt_copy_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_cos_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_cos_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_cosh_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_cosh_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_cosine_similarity_options> {
    static constexpr auto list =
        std::make_tuple(&dt_cosine_similarity_options::dim, &dt_cosine_similarity_options::eps);
};
template <> struct fields<dt_count_nonzero_dims_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_count_nonzero_options> {
    static constexpr auto list = std::make_tuple(&dt_count_nonzero_options::dim);
};
template <> struct fields<dt_cross_entropy_backward_options> {
    static constexpr auto list = std::make_tuple(
        &dt_cross_entropy_backward_options::weight, &dt_cross_entropy_backward_options::ignore_index,
        &dt_cross_entropy_backward_options::reduction, &dt_cross_entropy_backward_options::label_smoothing);
};
template <> struct fields<dt_cross_entropy_options> {
    static constexpr auto list =
        std::make_tuple(&dt_cross_entropy_options::weight, &dt_cross_entropy_options::ignore_index,
                        &dt_cross_entropy_options::reduction, &dt_cross_entropy_options::label_smoothing);
};
template <> struct fields<dt_cross_options> { static constexpr auto list = std::make_tuple(&dt_cross_options::dim); };
template <> struct fields<dt_cummax_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_cummin_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_cumprod_options> {
    static constexpr auto list = std::make_tuple(&dt_cumprod_options::dtype);
};
template <> struct fields<dt_cumsum_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_cumsum_in_place_options::dtype);
};
template <> struct fields<dt_cumsum_options> {
    static constexpr auto list = std::make_tuple(&dt_cumsum_options::dtype);
};
template <> struct fields<dt_curve_options> {
    static constexpr auto list =
        std::make_tuple(&dt_curve_options::title, &dt_curve_options::label, &dt_curve_options::first);
};
template <> struct fields<dt_diag_embed_options> {
    static constexpr auto list =
        std::make_tuple(&dt_diag_embed_options::offset, &dt_diag_embed_options::dim1, &dt_diag_embed_options::dim2);
};
template <> struct fields<dt_diag_options> {
    static constexpr auto list = std::make_tuple(&dt_diag_options::diagonal);
};
template <> struct fields<dt_diagonal_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_diagonal_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_diagonal_scatter_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_diff_options> {
    static constexpr auto list = std::make_tuple(&dt_diff_options::n, &dt_diff_options::dim,
                                                 &dt_diff_options::prepend, &dt_diff_options::append);
};
template <> struct fields<dt_distribute_tensor_options> {
    static constexpr auto list =
        std::make_tuple(&dt_distribute_tensor_options::source, &dt_distribute_tensor_options::everywhere,
                        &dt_distribute_tensor_options::use);
};
template <> struct fields<dt_div_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_div_in_place_options::rounding_mode);
};
template <> struct fields<dt_div_options> {
    static constexpr auto list = std::make_tuple(&dt_div_options::rounding_mode);
};
template <> struct fields<dt_div_scalar_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_div_scalar_in_place_options::rounding_mode);
};
template <> struct fields<dt_div_scalar_options> {
    static constexpr auto list = std::make_tuple(&dt_div_scalar_options::rounding_mode);
};
template <> struct fields<dt_dot_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_double_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_dropout_options> {
    static constexpr auto list = std::make_tuple(&dt_dropout_options::p, &dt_dropout_options::training);
};
template <> struct fields<dt_einsum_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_elu_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_elu_in_place_options::alpha);
};
template <> struct fields<dt_elu_options> { static constexpr auto list = std::make_tuple(&dt_elu_options::alpha); };
template <> struct fields<dt_embedding_dense_backward_options> {
    static constexpr auto list = std::make_tuple(&dt_embedding_dense_backward_options::padding_idx,
                                                 &dt_embedding_dense_backward_options::scale_grad_by_freq);
};
template <> struct fields<dt_embedding_options> {
    static constexpr auto list = std::make_tuple(&dt_embedding_options::padding_idx);
};
template <> struct fields<dt_empty_like_options> {
    static constexpr auto list = std::make_tuple(&dt_empty_like_options::dtype);
};
template <> struct fields<dt_eq_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_eq_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_eq_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_eq_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_equal_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_erf_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_erf_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_erfc_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_erfc_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_exp2_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_exp2_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_exp_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_exp_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_expand_as_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_expand_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_expm1_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_expm1_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fill_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fill_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fill_tensor_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fill_tensor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_flatten_options> {
    static constexpr auto list = std::make_tuple(&dt_flatten_options::start_dim, &dt_flatten_options::end_dim);
};
template <> struct fields<dt_flip_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_float_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_floor_divide_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_floor_divide_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_floor_divide_scalar_in_place_options> {
    static constexpr auto list = std::make_tuple();
};
template <> struct fields<dt_floor_divide_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_floor_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_floor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fmax_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fmin_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fmod_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fmod_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fmod_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_fmod_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_abs_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_acos_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_acos_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_add_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_foreach_add_in_place_options::alpha);
};
template <> struct fields<dt_foreach_add_options> {
    static constexpr auto list = std::make_tuple(&dt_foreach_add_options::alpha);
};
template <> struct fields<dt_foreach_add_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_add_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_max_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_mul_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_mul_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_mul_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_mul_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_neg_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_foreach_norm_options> {
    static constexpr auto list = std::make_tuple(&dt_foreach_norm_options::ord);
};
template <> struct fields<dt_foreach_power_sum_options> {
    static constexpr auto list = std::make_tuple(&dt_foreach_power_sum_options::ord);
};
template <> struct fields<dt_frac_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_frac_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_from_local_options> {
    static constexpr auto list = std::make_tuple(&dt_from_local_options::shape, &dt_from_local_options::stride,
                                                 &dt_from_local_options::extents, &dt_from_local_options::check,
                                                 &dt_from_local_options::use, &dt_from_local_options::grad_place);
};
template <> struct fields<dt_full_like_options> {
    static constexpr auto list = std::make_tuple(&dt_full_like_options::dtype);
};
template <> struct fields<dt_full_tensor_options> {
    static constexpr auto list = std::make_tuple(&dt_full_tensor_options::grad_place);
};
template <> struct fields<dt_fused_adagrad_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_fused_adagrad_in_place_options::lr_decay,
                        &dt_fused_adagrad_in_place_options::weight_decay, &dt_fused_adagrad_in_place_options::eps,
                        &dt_fused_adagrad_in_place_options::maximize, &dt_fused_adagrad_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_adam_amsgrad_in_place_options> {
    static constexpr auto list = std::make_tuple(
        &dt_fused_adam_amsgrad_in_place_options::beta1, &dt_fused_adam_amsgrad_in_place_options::beta2,
        &dt_fused_adam_amsgrad_in_place_options::weight_decay, &dt_fused_adam_amsgrad_in_place_options::eps,
        &dt_fused_adam_amsgrad_in_place_options::maximize, &dt_fused_adam_amsgrad_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_adam_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_fused_adam_in_place_options::beta1, &dt_fused_adam_in_place_options::beta2,
                        &dt_fused_adam_in_place_options::weight_decay, &dt_fused_adam_in_place_options::eps,
                        &dt_fused_adam_in_place_options::maximize, &dt_fused_adam_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_adamax_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_fused_adamax_in_place_options::beta1, &dt_fused_adamax_in_place_options::beta2,
                        &dt_fused_adamax_in_place_options::weight_decay, &dt_fused_adamax_in_place_options::eps,
                        &dt_fused_adamax_in_place_options::maximize, &dt_fused_adamax_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_adamw_amsgrad_in_place_options> {
    static constexpr auto list = std::make_tuple(
        &dt_fused_adamw_amsgrad_in_place_options::beta1, &dt_fused_adamw_amsgrad_in_place_options::beta2,
        &dt_fused_adamw_amsgrad_in_place_options::weight_decay, &dt_fused_adamw_amsgrad_in_place_options::eps,
        &dt_fused_adamw_amsgrad_in_place_options::maximize, &dt_fused_adamw_amsgrad_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_adamw_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_fused_adamw_in_place_options::beta1, &dt_fused_adamw_in_place_options::beta2,
                        &dt_fused_adamw_in_place_options::weight_decay, &dt_fused_adamw_in_place_options::eps,
                        &dt_fused_adamw_in_place_options::maximize, &dt_fused_adamw_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_lion_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_fused_lion_in_place_options::beta1, &dt_fused_lion_in_place_options::beta2,
                        &dt_fused_lion_in_place_options::weight_decay, &dt_fused_lion_in_place_options::maximize,
                        &dt_fused_lion_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_nadam_in_place_options> {
    static constexpr auto list = std::make_tuple(
        &dt_fused_nadam_in_place_options::beta1, &dt_fused_nadam_in_place_options::beta2,
        &dt_fused_nadam_in_place_options::weight_decay, &dt_fused_nadam_in_place_options::eps,
        &dt_fused_nadam_in_place_options::momentum_decay, &dt_fused_nadam_in_place_options::decoupled_weight_decay,
        &dt_fused_nadam_in_place_options::maximize, &dt_fused_nadam_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_radam_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_fused_radam_in_place_options::beta1, &dt_fused_radam_in_place_options::beta2,
                        &dt_fused_radam_in_place_options::weight_decay, &dt_fused_radam_in_place_options::eps,
                        &dt_fused_radam_in_place_options::decoupled_weight_decay,
                        &dt_fused_radam_in_place_options::maximize, &dt_fused_radam_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_rms_norm_backward_options> {
    static constexpr auto list = std::make_tuple(&dt_fused_rms_norm_backward_options::weight);
};
template <> struct fields<dt_fused_rmsprop_centered_momentum_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_fused_rmsprop_centered_momentum_in_place_options::alpha,
                                                 &dt_fused_rmsprop_centered_momentum_in_place_options::weight_decay,
                                                 &dt_fused_rmsprop_centered_momentum_in_place_options::eps,
                                                 &dt_fused_rmsprop_centered_momentum_in_place_options::momentum,
                                                 &dt_fused_rmsprop_centered_momentum_in_place_options::centered,
                                                 &dt_fused_rmsprop_centered_momentum_in_place_options::maximize,
                                                 &dt_fused_rmsprop_centered_momentum_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_rmsprop_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_fused_rmsprop_in_place_options::alpha, &dt_fused_rmsprop_in_place_options::weight_decay,
                        &dt_fused_rmsprop_in_place_options::eps, &dt_fused_rmsprop_in_place_options::momentum,
                        &dt_fused_rmsprop_in_place_options::centered, &dt_fused_rmsprop_in_place_options::maximize,
                        &dt_fused_rmsprop_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_rmsprop_state_in_place_options> {
    static constexpr auto list = std::make_tuple(
        &dt_fused_rmsprop_state_in_place_options::alpha, &dt_fused_rmsprop_state_in_place_options::weight_decay,
        &dt_fused_rmsprop_state_in_place_options::eps, &dt_fused_rmsprop_state_in_place_options::momentum,
        &dt_fused_rmsprop_state_in_place_options::centered, &dt_fused_rmsprop_state_in_place_options::maximize,
        &dt_fused_rmsprop_state_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_sgd_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_fused_sgd_in_place_options::weight_decay, &dt_fused_sgd_in_place_options::momentum,
                        &dt_fused_sgd_in_place_options::dampening, &dt_fused_sgd_in_place_options::nesterov,
                        &dt_fused_sgd_in_place_options::maximize, &dt_fused_sgd_in_place_options::is_first,
                        &dt_fused_sgd_in_place_options::grad_scale);
};
template <> struct fields<dt_fused_sgd_momentum_in_place_options> {
    static constexpr auto list = std::make_tuple(
        &dt_fused_sgd_momentum_in_place_options::weight_decay, &dt_fused_sgd_momentum_in_place_options::momentum,
        &dt_fused_sgd_momentum_in_place_options::dampening, &dt_fused_sgd_momentum_in_place_options::nesterov,
        &dt_fused_sgd_momentum_in_place_options::maximize, &dt_fused_sgd_momentum_in_place_options::is_first,
        &dt_fused_sgd_momentum_in_place_options::grad_scale);
};
template <> struct fields<dt_gather_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_gather_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ge_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ge_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ge_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ge_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_gelu_backward_options> {
    static constexpr auto list = std::make_tuple(&dt_gelu_backward_options::approximate);
};
template <> struct fields<dt_gelu_options> {
    static constexpr auto list = std::make_tuple(&dt_gelu_options::approximate);
};
template <> struct fields<dt_geqrf_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_glu_options> { static constexpr auto list = std::make_tuple(&dt_glu_options::dim); };
template <> struct fields<dt_grad_norm_options> {
    static constexpr auto list = std::make_tuple(
        &dt_grad_norm_options::norm_type, &dt_grad_norm_options::error_if_nonfinite, &dt_grad_norm_options::mesh);
};
template <> struct fields<dt_gradients_options> {
    static constexpr auto list = std::make_tuple(
        &dt_gradients_options::output_grads, &dt_gradients_options::retain_graph, &dt_gradients_options::create_graph,
        &dt_gradients_options::rest, &dt_gradients_options::allow_unused);
};
template <> struct fields<dt_group_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_group_norm_options::weight, &dt_group_norm_options::bias, &dt_group_norm_options::eps);
};
template <> struct fields<dt_gt_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_gt_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_gt_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_gt_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_half_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_hardshrink_options> {
    static constexpr auto list = std::make_tuple(&dt_hardshrink_options::lambd);
};
template <> struct fields<dt_hardsigmoid_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_hardsigmoid_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_hardswish_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_hardswish_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_hardtanh_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_hardtanh_in_place_options::min_val, &dt_hardtanh_in_place_options::max_val);
};
template <> struct fields<dt_hardtanh_options> {
    static constexpr auto list = std::make_tuple(&dt_hardtanh_options::min_val, &dt_hardtanh_options::max_val);
};
template <> struct fields<dt_histc_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_histc_tensor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_hstack_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_huber_loss_options> {
    static constexpr auto list = std::make_tuple(&dt_huber_loss_options::reduction, &dt_huber_loss_options::delta,
                                                 &dt_huber_loss_options::weight);
};
template <> struct fields<dt_index_add_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_index_add_in_place_options::alpha);
};
template <> struct fields<dt_index_add_options> {
    static constexpr auto list = std::make_tuple(&dt_index_add_options::alpha);
};
template <> struct fields<dt_index_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_index_copy_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_index_copy_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_index_fill_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_index_fill_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_index_fill_tensor_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_index_fill_tensor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_index_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_index_put_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_index_put_in_place_options::accumulate);
};
template <> struct fields<dt_index_put_options> {
    static constexpr auto list = std::make_tuple(&dt_index_put_options::accumulate);
};
template <> struct fields<dt_index_reduce_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_index_reduce_in_place_options::include_self);
};
template <> struct fields<dt_index_reduce_options> {
    static constexpr auto list = std::make_tuple(&dt_index_reduce_options::include_self);
};
template <> struct fields<dt_index_select_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_index_select_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_inner_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_instance_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_instance_norm_options::running_mean, &dt_instance_norm_options::running_var,
                        &dt_instance_norm_options::weight, &dt_instance_norm_options::bias,
                        &dt_instance_norm_options::use_input_stats, &dt_instance_norm_options::momentum,
                        &dt_instance_norm_options::eps);
};
template <> struct fields<dt_int_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_interpolate_options> {
    static constexpr auto list =
        std::make_tuple(&dt_interpolate_options::size, &dt_interpolate_options::scale_factor,
                        &dt_interpolate_options::mode, &dt_interpolate_options::align_corners,
                        &dt_interpolate_options::recompute_scale_factor, &dt_interpolate_options::antialias);
};
template <> struct fields<dt_isclose_options> {
    static constexpr auto list =
        std::make_tuple(&dt_isclose_options::rtol, &dt_isclose_options::atol, &dt_isclose_options::equal_nan);
};
template <> struct fields<dt_isfinite_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_isinf_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_isnan_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_kl_div_options> {
    static constexpr auto list = std::make_tuple(&dt_kl_div_options::reduction, &dt_kl_div_options::log_target);
};
template <> struct fields<dt_kron_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_kthvalue_options> {
    static constexpr auto list = std::make_tuple(&dt_kthvalue_options::dim, &dt_kthvalue_options::keepdim);
};
template <> struct fields<dt_l1_loss_options> {
    static constexpr auto list = std::make_tuple(&dt_l1_loss_options::reduction, &dt_l1_loss_options::weight);
};
template <> struct fields<dt_layer_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_layer_norm_options::weight, &dt_layer_norm_options::bias, &dt_layer_norm_options::eps);
};
template <> struct fields<dt_le_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_le_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_le_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_le_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_leaky_relu_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_leaky_relu_in_place_options::negative_slope);
};
template <> struct fields<dt_leaky_relu_options> {
    static constexpr auto list = std::make_tuple(&dt_leaky_relu_options::negative_slope);
};
template <> struct fields<dt_lerp_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lerp_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lerp_tensor_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lerp_tensor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_cholesky_ex_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_cholesky_ex_options::upper, &dt_linalg_cholesky_ex_options::check_errors);
};
template <> struct fields<dt_linalg_cholesky_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_cholesky_options::upper);
};
template <> struct fields<dt_linalg_cond_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_cond_options::p);
};
template <> struct fields<dt_linalg_cond_p_str_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_cross_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_cross_options::dim);
};
template <> struct fields<dt_linalg_det_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_diagonal_options> {
    static constexpr auto list = std::make_tuple(
        &dt_linalg_diagonal_options::offset, &dt_linalg_diagonal_options::dim1, &dt_linalg_diagonal_options::dim2);
};
template <> struct fields<dt_linalg_eig_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_eigh_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_eigh_options::UPLO);
};
template <> struct fields<dt_linalg_eigvals_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_eigvalsh_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_eigvalsh_options::UPLO);
};
template <> struct fields<dt_linalg_householder_product_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_inv_ex_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_inv_ex_options::check_errors);
};
template <> struct fields<dt_linalg_inv_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_ldl_factor_ex_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_ldl_factor_ex_options::hermitian, &dt_linalg_ldl_factor_ex_options::check_errors);
};
template <> struct fields<dt_linalg_ldl_factor_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_ldl_factor_options::hermitian);
};
template <> struct fields<dt_linalg_ldl_solve_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_ldl_solve_options::hermitian);
};
template <> struct fields<dt_linalg_lstsq_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_lstsq_options::rcond, &dt_linalg_lstsq_options::driver);
};
template <> struct fields<dt_linalg_lu_factor_ex_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_lu_factor_ex_options::pivot, &dt_linalg_lu_factor_ex_options::check_errors);
};
template <> struct fields<dt_linalg_lu_factor_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_lu_factor_options::pivot);
};
template <> struct fields<dt_linalg_lu_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_lu_options::pivot);
};
template <> struct fields<dt_linalg_lu_solve_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_lu_solve_options::left, &dt_linalg_lu_solve_options::adjoint);
};
template <> struct fields<dt_linalg_matrix_exp_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_matrix_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_matrix_norm_options::dim, &dt_linalg_matrix_norm_options::keepdim,
                        &dt_linalg_matrix_norm_options::dtype);
};
template <> struct fields<dt_linalg_matrix_norm_str_ord_options> {
    static constexpr auto list = std::make_tuple(
        &dt_linalg_matrix_norm_str_ord_options::ord, &dt_linalg_matrix_norm_str_ord_options::dim,
        &dt_linalg_matrix_norm_str_ord_options::keepdim, &dt_linalg_matrix_norm_str_ord_options::dtype);
};
template <> struct fields<dt_linalg_matrix_power_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_matrix_rank_atol_rtol_tensor_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_matrix_rank_atol_rtol_tensor_options::atol,
                                                 &dt_linalg_matrix_rank_atol_rtol_tensor_options::rtol,
                                                 &dt_linalg_matrix_rank_atol_rtol_tensor_options::hermitian);
};
template <> struct fields<dt_linalg_matrix_rank_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_matrix_rank_options::atol, &dt_linalg_matrix_rank_options::rtol,
                        &dt_linalg_matrix_rank_options::hermitian);
};
template <> struct fields<dt_linalg_matrix_rank_tol_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_matrix_rank_tol_options::hermitian);
};
template <> struct fields<dt_linalg_matrix_rank_tol_tensor_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_matrix_rank_tol_tensor_options::hermitian);
};
template <> struct fields<dt_linalg_multi_dot_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_norm_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_norm_options::ord, &dt_linalg_norm_options::dim,
                                                 &dt_linalg_norm_options::keepdim, &dt_linalg_norm_options::dtype);
};
template <> struct fields<dt_linalg_norm_ord_str_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_norm_ord_str_options::dim, &dt_linalg_norm_ord_str_options::keepdim,
                        &dt_linalg_norm_ord_str_options::dtype);
};
template <> struct fields<dt_linalg_pinv_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_pinv_options::atol, &dt_linalg_pinv_options::rtol,
                                                 &dt_linalg_pinv_options::hermitian);
};
template <> struct fields<dt_linalg_pinv_rcond_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_pinv_rcond_options::hermitian);
};
template <> struct fields<dt_linalg_pinv_rcond_tensor_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_pinv_rcond_tensor_options::hermitian);
};
template <> struct fields<dt_linalg_pinv_tensor_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_pinv_tensor_options::atol, &dt_linalg_pinv_tensor_options::rtol,
                        &dt_linalg_pinv_tensor_options::hermitian);
};
template <> struct fields<dt_linalg_qr_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_qr_options::mode);
};
template <> struct fields<dt_linalg_slogdet_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_solve_ex_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_solve_ex_options::left, &dt_linalg_solve_ex_options::check_errors);
};
template <> struct fields<dt_linalg_solve_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_solve_options::left);
};
template <> struct fields<dt_linalg_solve_triangular_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_solve_triangular_options::left,
                                                 &dt_linalg_solve_triangular_options::unitriangular);
};
template <> struct fields<dt_linalg_svd_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_svd_options::full_matrices);
};
template <> struct fields<dt_linalg_svdvals_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_linalg_tensorinv_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_tensorinv_options::ind);
};
template <> struct fields<dt_linalg_tensorsolve_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_tensorsolve_options::dims);
};
template <> struct fields<dt_linalg_vander_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_vander_options::N);
};
template <> struct fields<dt_linalg_vecdot_options> {
    static constexpr auto list = std::make_tuple(&dt_linalg_vecdot_options::dim);
};
template <> struct fields<dt_linalg_vector_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_linalg_vector_norm_options::ord, &dt_linalg_vector_norm_options::dim,
                        &dt_linalg_vector_norm_options::keepdim, &dt_linalg_vector_norm_options::dtype);
};
template <> struct fields<dt_linear_options> {
    static constexpr auto list = std::make_tuple(&dt_linear_options::bias);
};
template <> struct fields<dt_linear_recurrence_options> {
    static constexpr auto list = std::make_tuple(&dt_linear_recurrence_options::transposed);
};
template <> struct fields<dt_linear_weight_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lion_in_place_options> {
    static constexpr auto list = std::make_tuple(
        &dt_lion_in_place_options::beta1, &dt_lion_in_place_options::beta2, &dt_lion_in_place_options::weight_decay,
        &dt_lion_in_place_options::maximize, &dt_lion_in_place_options::grad_scale);
};
template <> struct fields<dt_lion_new_options> {
    static constexpr auto list =
        std::make_tuple(&dt_lion_new_options::beta1, &dt_lion_new_options::beta2, &dt_lion_new_options::weight_decay,
                        &dt_lion_new_options::maximize, &dt_lion_new_options::params);
};
template <> struct fields<dt_load_npy_options> {
    static constexpr auto list =
        std::make_tuple(&dt_load_npy_options::mesh, &dt_load_npy_options::place, &dt_load_npy_options::requires_grad,
                        &dt_load_npy_options::use, &dt_load_npy_options::check);
};
template <> struct fields<dt_load_options> {
    static constexpr auto list =
        std::make_tuple(&dt_load_options::optimizer, &dt_load_options::generator, &dt_load_options::batches,
                        &dt_load_options::scaler, &dt_load_options::step, &dt_load_options::optional);
};
template <> struct fields<dt_local_response_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_local_response_norm_options::alpha, &dt_local_response_norm_options::beta,
                        &dt_local_response_norm_options::k);
};
template <> struct fields<dt_log10_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_log10_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_log1p_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_log1p_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_log2_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_log2_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_log_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_log_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_log_softmax_backward_data_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_log_softmax_options> {
    static constexpr auto list = std::make_tuple(&dt_log_softmax_options::dtype);
};
template <> struct fields<dt_logaddexp_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logcumsumexp_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logcumsumexp_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logdet_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logical_and_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logical_and_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logical_not_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logical_not_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logical_or_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logical_or_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logical_xor_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logical_xor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_logsumexp_options> {
    static constexpr auto list = std::make_tuple(&dt_logsumexp_options::keepdim);
};
template <> struct fields<dt_long_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lt_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lt_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lt_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lt_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lu_options> {
    static constexpr auto list = std::make_tuple(&dt_lu_options::pivot, &dt_lu_options::get_infos);
};
template <> struct fields<dt_lu_solve_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_lu_unpack_options> {
    static constexpr auto list =
        std::make_tuple(&dt_lu_unpack_options::unpack_data, &dt_lu_unpack_options::unpack_pivots);
};
template <> struct fields<dt_mT_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_make_options> {
    static constexpr auto list =
        std::make_tuple(&dt_make_options::dtype, &dt_make_options::mesh, &dt_make_options::place,
                        &dt_make_options::requires_grad, &dt_make_options::use);
};
template <> struct fields<dt_masked_fill_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_masked_fill_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_masked_fill_tensor_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_masked_fill_tensor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_matmul_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_matrix_exp_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_max_dim_options> {
    static constexpr auto list = std::make_tuple(&dt_max_dim_options::keepdim);
};
template <> struct fields<dt_max_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_max_other_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_max_pool1d_options> {
    static constexpr auto list = std::make_tuple(&dt_max_pool1d_options::stride, &dt_max_pool1d_options::padding,
                                                 &dt_max_pool1d_options::dilation, &dt_max_pool1d_options::ceil_mode);
};
template <> struct fields<dt_max_pool1d_with_indices_options> {
    static constexpr auto list = std::make_tuple(
        &dt_max_pool1d_with_indices_options::stride, &dt_max_pool1d_with_indices_options::padding,
        &dt_max_pool1d_with_indices_options::dilation, &dt_max_pool1d_with_indices_options::ceil_mode);
};
template <> struct fields<dt_max_pool2d_options> {
    static constexpr auto list = std::make_tuple(&dt_max_pool2d_options::stride, &dt_max_pool2d_options::padding,
                                                 &dt_max_pool2d_options::dilation, &dt_max_pool2d_options::ceil_mode);
};
template <> struct fields<dt_max_pool2d_with_indices_options> {
    static constexpr auto list = std::make_tuple(
        &dt_max_pool2d_with_indices_options::stride, &dt_max_pool2d_with_indices_options::padding,
        &dt_max_pool2d_with_indices_options::dilation, &dt_max_pool2d_with_indices_options::ceil_mode);
};
template <> struct fields<dt_max_pool3d_options> {
    static constexpr auto list = std::make_tuple(&dt_max_pool3d_options::stride, &dt_max_pool3d_options::padding,
                                                 &dt_max_pool3d_options::dilation, &dt_max_pool3d_options::ceil_mode);
};
template <> struct fields<dt_max_pool3d_with_indices_options> {
    static constexpr auto list = std::make_tuple(
        &dt_max_pool3d_with_indices_options::stride, &dt_max_pool3d_with_indices_options::padding,
        &dt_max_pool3d_with_indices_options::dilation, &dt_max_pool3d_with_indices_options::ceil_mode);
};
template <> struct fields<dt_max_pool_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_max_pool_read_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_maximum_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mean_options> {
    static constexpr auto list =
        std::make_tuple(&dt_mean_options::dim, &dt_mean_options::keepdim, &dt_mean_options::dtype);
};
template <> struct fields<dt_median_dim_options> {
    static constexpr auto list = std::make_tuple(&dt_median_dim_options::keepdim);
};
template <> struct fields<dt_median_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_min_dim_options> {
    static constexpr auto list = std::make_tuple(&dt_min_dim_options::keepdim);
};
template <> struct fields<dt_min_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_min_other_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_minimum_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mish_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mish_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mm_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mode_options> {
    static constexpr auto list = std::make_tuple(&dt_mode_options::dim, &dt_mode_options::keepdim);
};
template <> struct fields<dt_moment_norm_backward_options> {
    static constexpr auto list = std::make_tuple(&dt_moment_norm_backward_options::weight);
};
template <> struct fields<dt_moment_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_moment_norm_options::weight, &dt_moment_norm_options::bias, &dt_moment_norm_options::eps);
};
template <> struct fields<dt_movedim_dims_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_movedim_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mse_loss_options> {
    static constexpr auto list = std::make_tuple(&dt_mse_loss_options::reduction, &dt_mse_loss_options::weight);
};
template <> struct fields<dt_mul_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mul_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mul_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mul_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_mv_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_nadam_in_place_options> {
    static constexpr auto list = std::make_tuple(
        &dt_nadam_in_place_options::beta1, &dt_nadam_in_place_options::beta2,
        &dt_nadam_in_place_options::weight_decay, &dt_nadam_in_place_options::eps,
        &dt_nadam_in_place_options::momentum_decay, &dt_nadam_in_place_options::decoupled_weight_decay,
        &dt_nadam_in_place_options::maximize, &dt_nadam_in_place_options::grad_scale);
};
template <> struct fields<dt_nadam_new_options> {
    static constexpr auto list =
        std::make_tuple(&dt_nadam_new_options::beta1, &dt_nadam_new_options::beta2, &dt_nadam_new_options::eps,
                        &dt_nadam_new_options::weight_decay, &dt_nadam_new_options::momentum_decay,
                        &dt_nadam_new_options::decoupled_weight_decay, &dt_nadam_new_options::maximize,
                        &dt_nadam_new_options::params);
};
template <> struct fields<dt_nan_to_num_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_nan_to_num_in_place_options::nan, &dt_nan_to_num_in_place_options::posinf,
                        &dt_nan_to_num_in_place_options::neginf);
};
template <> struct fields<dt_nan_to_num_options> {
    static constexpr auto list =
        std::make_tuple(&dt_nan_to_num_options::nan, &dt_nan_to_num_options::posinf, &dt_nan_to_num_options::neginf);
};
template <> struct fields<dt_nanmedian_dim_options> {
    static constexpr auto list = std::make_tuple(&dt_nanmedian_dim_options::keepdim);
};
template <> struct fields<dt_nanmedian_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_nansum_options> {
    static constexpr auto list =
        std::make_tuple(&dt_nansum_options::dim, &dt_nansum_options::keepdim, &dt_nansum_options::dtype);
};
template <> struct fields<dt_narrow_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_narrow_tensor_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_native_batch_norm_legit_functional_options> {
    static constexpr auto list = std::make_tuple(&dt_native_batch_norm_legit_functional_options::weight,
                                                 &dt_native_batch_norm_legit_functional_options::bias);
};
template <> struct fields<dt_native_batch_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_native_batch_norm_options::weight, &dt_native_batch_norm_options::bias,
                        &dt_native_batch_norm_options::running_mean, &dt_native_batch_norm_options::running_var);
};
template <> struct fields<dt_native_dropout_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_native_group_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_native_group_norm_options::weight, &dt_native_group_norm_options::bias);
};
template <> struct fields<dt_native_layer_norm_backward_options> {
    static constexpr auto list = std::make_tuple(&dt_native_layer_norm_backward_options::weight);
};
template <> struct fields<dt_native_layer_norm_options> {
    static constexpr auto list =
        std::make_tuple(&dt_native_layer_norm_options::weight, &dt_native_layer_norm_options::bias);
};
template <> struct fields<dt_ne_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ne_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ne_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ne_scalar_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_neg_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_neg_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_new_full_options> {
    static constexpr auto list = std::make_tuple(&dt_new_full_options::dtype);
};
template <> struct fields<dt_new_ones_options> {
    static constexpr auto list = std::make_tuple(&dt_new_ones_options::dtype);
};
template <> struct fields<dt_new_zeros_options> {
    static constexpr auto list = std::make_tuple(&dt_new_zeros_options::dtype);
};
template <> struct fields<dt_nll_loss_options> {
    static constexpr auto list = std::make_tuple(&dt_nll_loss_options::weight, &dt_nll_loss_options::ignore_index,
                                                 &dt_nll_loss_options::reduction);
};
template <> struct fields<dt_norm_options> {
    static constexpr auto list = std::make_tuple(&dt_norm_options::p, &dt_norm_options::dim,
                                                 &dt_norm_options::keepdim, &dt_norm_options::dtype);
};
template <> struct fields<dt_norm_str_options> {
    static constexpr auto list =
        std::make_tuple(&dt_norm_str_options::dim, &dt_norm_str_options::keepdim, &dt_norm_str_options::dtype);
};
template <> struct fields<dt_normalize_options> {
    static constexpr auto list =
        std::make_tuple(&dt_normalize_options::p, &dt_normalize_options::dim, &dt_normalize_options::eps);
};
template <> struct fields<dt_one_hot_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_ones_like_options> {
    static constexpr auto list = std::make_tuple(&dt_ones_like_options::dtype);
};
template <> struct fields<dt_optimizer_step_options> {
    static constexpr auto list =
        std::make_tuple(&dt_optimizer_step_options::parameters, &dt_optimizer_step_options::grad_scale);
};
template <> struct fields<dt_ormqr_options> {
    static constexpr auto list = std::make_tuple(&dt_ormqr_options::left, &dt_ormqr_options::transpose);
};
template <> struct fields<dt_outer_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_pad_options> {
    static constexpr auto list = std::make_tuple(&dt_pad_options::mode, &dt_pad_options::value);
};
template <> struct fields<dt_param_options> {
    static constexpr auto list =
        std::make_tuple(&dt_param_options::std, &dt_param_options::value, &dt_param_options::tied,
                        &dt_param_options::on, &dt_param_options::dtype);
};
template <> struct fields<dt_params_new_options> {
    static constexpr auto list =
        std::make_tuple(&dt_params_new_options::mesh, &dt_params_new_options::rules, &dt_params_new_options::dtype);
};
template <> struct fields<dt_params_npz_options> {
    static constexpr auto list = std::make_tuple(&dt_params_npz_options::optimizer, &dt_params_npz_options::config);
};
template <> struct fields<dt_params_open_options> {
    static constexpr auto list = std::make_tuple(&dt_params_open_options::mesh, &dt_params_open_options::rules,
                                                 &dt_params_open_options::map, &dt_params_open_options::dtype);
};
template <> struct fields<dt_params_save_options> {
    static constexpr auto list =
        std::make_tuple(&dt_params_save_options::map, &dt_params_save_options::dtype,
                        &dt_params_save_options::file_bytes, &dt_params_save_options::unsynced);
};
template <> struct fields<dt_permute_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_pinverse_options> {
    static constexpr auto list = std::make_tuple(&dt_pinverse_options::rcond);
};
template <> struct fields<dt_pipeline_run_options> {
    static constexpr auto list = std::make_tuple(
        &dt_pipeline_run_options::hop, &dt_pipeline_run_options::hops, &dt_pipeline_run_options::rows,
        &dt_pipeline_run_options::weights, &dt_pipeline_run_options::params, &dt_pipeline_run_options::hold,
        &dt_pipeline_run_options::loss, &dt_pipeline_run_options::metrics, &dt_pipeline_run_options::n_metrics,
        &dt_pipeline_run_options::times, &dt_pipeline_run_options::stage_times);
};
template <> struct fields<dt_pixel_shuffle_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_pixel_unshuffle_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_positive_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_pow_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_pow_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_pow_scalar_exponent_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_pow_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_pow_scalar_self_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_power_sum_options> {
    static constexpr auto list =
        std::make_tuple(&dt_power_sum_options::ord, &dt_power_sum_options::dim, &dt_power_sum_options::keepdim);
};
template <> struct fields<dt_prelu_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_print_options> {
    static constexpr auto list =
        std::make_tuple(&dt_print_options::precision, &dt_print_options::threshold, &dt_print_options::edge_items,
                        &dt_print_options::width, &dt_print_options::local);
};
template <> struct fields<dt_prod_dim_int_options> {
    static constexpr auto list = std::make_tuple(&dt_prod_dim_int_options::keepdim, &dt_prod_dim_int_options::dtype);
};
template <> struct fields<dt_prod_of_others_options> {
    static constexpr auto list = std::make_tuple(&dt_prod_of_others_options::dim);
};
template <> struct fields<dt_prod_options> { static constexpr auto list = std::make_tuple(&dt_prod_options::dtype); };
template <> struct fields<dt_qr_options> { static constexpr auto list = std::make_tuple(&dt_qr_options::some); };
template <> struct fields<dt_radam_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_radam_in_place_options::beta1, &dt_radam_in_place_options::beta2,
                        &dt_radam_in_place_options::weight_decay, &dt_radam_in_place_options::eps,
                        &dt_radam_in_place_options::decoupled_weight_decay, &dt_radam_in_place_options::maximize,
                        &dt_radam_in_place_options::grad_scale);
};
template <> struct fields<dt_radam_new_options> {
    static constexpr auto list =
        std::make_tuple(&dt_radam_new_options::beta1, &dt_radam_new_options::beta2, &dt_radam_new_options::eps,
                        &dt_radam_new_options::weight_decay, &dt_radam_new_options::decoupled_weight_decay,
                        &dt_radam_new_options::maximize, &dt_radam_new_options::params);
};
template <> struct fields<dt_random_options> {
    static constexpr auto list = std::make_tuple(
        &dt_random_options::mean, &dt_random_options::std, &dt_random_options::low, &dt_random_options::high,
        &dt_random_options::rate, &dt_random_options::dtype, &dt_random_options::mesh, &dt_random_options::place,
        &dt_random_options::generator, &dt_random_options::requires_grad, &dt_random_options::use);
};
template <> struct fields<dt_ravel_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_reciprocal_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_reciprocal_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_redistribute_list_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_redistribute_options> {
    static constexpr auto list =
        std::make_tuple(&dt_redistribute_options::mesh, &dt_redistribute_options::planner,
                        &dt_redistribute_options::dtype, &dt_redistribute_options::grad_dtype);
};
template <> struct fields<dt_reduced_options> {
    static constexpr auto list = std::make_tuple(&dt_reduced_options::place);
};
template <> struct fields<dt_relu6_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_relu6_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_relu_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_relu_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_remainder_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_remainder_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_remainder_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_remainder_scalar_other_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_remainder_scalar_self_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_repeat_interleave_options> {
    static constexpr auto list = std::make_tuple(&dt_repeat_interleave_options::output_size);
};
template <> struct fields<dt_repeat_interleave_self_int_options> {
    static constexpr auto list = std::make_tuple(&dt_repeat_interleave_self_int_options::dim,
                                                 &dt_repeat_interleave_self_int_options::output_size);
};
template <> struct fields<dt_repeat_interleave_self_tensor_options> {
    static constexpr auto list = std::make_tuple(&dt_repeat_interleave_self_tensor_options::dim,
                                                 &dt_repeat_interleave_self_tensor_options::output_size);
};
template <> struct fields<dt_repeat_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_resample_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_resample_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_reshape_as_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_reshape_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_rms_norm_options> {
    static constexpr auto list = std::make_tuple(&dt_rms_norm_options::weight, &dt_rms_norm_options::eps);
};
template <> struct fields<dt_rmsprop_centered_momentum_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_rmsprop_centered_momentum_in_place_options::alpha,
                                                 &dt_rmsprop_centered_momentum_in_place_options::weight_decay,
                                                 &dt_rmsprop_centered_momentum_in_place_options::eps,
                                                 &dt_rmsprop_centered_momentum_in_place_options::momentum,
                                                 &dt_rmsprop_centered_momentum_in_place_options::centered,
                                                 &dt_rmsprop_centered_momentum_in_place_options::maximize,
                                                 &dt_rmsprop_centered_momentum_in_place_options::grad_scale);
};
template <> struct fields<dt_rmsprop_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_rmsprop_in_place_options::alpha, &dt_rmsprop_in_place_options::weight_decay,
                        &dt_rmsprop_in_place_options::eps, &dt_rmsprop_in_place_options::momentum,
                        &dt_rmsprop_in_place_options::centered, &dt_rmsprop_in_place_options::maximize,
                        &dt_rmsprop_in_place_options::grad_scale);
};
template <> struct fields<dt_rmsprop_new_options> {
    static constexpr auto list = std::make_tuple(&dt_rmsprop_new_options::alpha, &dt_rmsprop_new_options::eps,
                                                 &dt_rmsprop_new_options::weight_decay,
                                                 &dt_rmsprop_new_options::momentum, &dt_rmsprop_new_options::centered,
                                                 &dt_rmsprop_new_options::maximize, &dt_rmsprop_new_options::params);
};
template <> struct fields<dt_rmsprop_state_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_rmsprop_state_in_place_options::alpha, &dt_rmsprop_state_in_place_options::weight_decay,
                        &dt_rmsprop_state_in_place_options::eps, &dt_rmsprop_state_in_place_options::momentum,
                        &dt_rmsprop_state_in_place_options::centered, &dt_rmsprop_state_in_place_options::maximize,
                        &dt_rmsprop_state_in_place_options::grad_scale);
};
template <> struct fields<dt_roll_options> { static constexpr auto list = std::make_tuple(&dt_roll_options::dims); };
template <> struct fields<dt_rotary_embedding_options> {
    static constexpr auto list =
        std::make_tuple(&dt_rotary_embedding_options::offset, &dt_rotary_embedding_options::interleaved);
};
template <> struct fields<dt_round_decimals_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_round_decimals_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_round_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_round_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_rsqrt_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_rsqrt_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_rsub_options> { static constexpr auto list = std::make_tuple(&dt_rsub_options::alpha); };
template <> struct fields<dt_rsub_scalar_options> {
    static constexpr auto list = std::make_tuple(&dt_rsub_scalar_options::alpha);
};
template <> struct fields<dt_save_options> {
    static constexpr auto list = std::make_tuple(
        &dt_save_options::optimizer, &dt_save_options::generator, &dt_save_options::batches, &dt_save_options::scaler,
        &dt_save_options::keep, &dt_save_options::file_bytes, &dt_save_options::unsynced, &dt_save_options::later);
};
template <> struct fields<dt_scaled_dot_product_attention_options> {
    static constexpr auto list = std::make_tuple(
        &dt_scaled_dot_product_attention_options::attn_mask, &dt_scaled_dot_product_attention_options::dropout_p,
        &dt_scaled_dot_product_attention_options::is_causal, &dt_scaled_dot_product_attention_options::scale,
        &dt_scaled_dot_product_attention_options::enable_gqa);
};
template <> struct fields<dt_scatter_add_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_scatter_add_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_scatter_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_scatter_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_scatter_reduce_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_scatter_reduce_in_place_options::include_self);
};
template <> struct fields<dt_scatter_reduce_options> {
    static constexpr auto list = std::make_tuple(&dt_scatter_reduce_options::include_self);
};
template <> struct fields<dt_scatter_value_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_scatter_value_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_schedule_new_options> {
    static constexpr auto list = std::make_tuple(&dt_schedule_new_options::ranks, &dt_schedule_new_options::stages,
                                                 &dt_schedule_new_options::micro);
};
template <> struct fields<dt_searchsorted_options> {
    static constexpr auto list = std::make_tuple(&dt_searchsorted_options::out_int32, &dt_searchsorted_options::right,
                                                 &dt_searchsorted_options::side, &dt_searchsorted_options::sorter);
};
template <> struct fields<dt_searchsorted_scalar_options> {
    static constexpr auto list =
        std::make_tuple(&dt_searchsorted_scalar_options::out_int32, &dt_searchsorted_scalar_options::right,
                        &dt_searchsorted_scalar_options::side, &dt_searchsorted_scalar_options::sorter);
};
template <> struct fields<dt_select_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_select_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_select_scatter_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_selu_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_selu_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sgd_in_place_options> {
    static constexpr auto list = std::make_tuple(
        &dt_sgd_in_place_options::weight_decay, &dt_sgd_in_place_options::momentum,
        &dt_sgd_in_place_options::dampening, &dt_sgd_in_place_options::nesterov, &dt_sgd_in_place_options::maximize,
        &dt_sgd_in_place_options::is_first, &dt_sgd_in_place_options::grad_scale);
};
template <> struct fields<dt_sgd_momentum_in_place_options> {
    static constexpr auto list =
        std::make_tuple(&dt_sgd_momentum_in_place_options::weight_decay, &dt_sgd_momentum_in_place_options::momentum,
                        &dt_sgd_momentum_in_place_options::dampening, &dt_sgd_momentum_in_place_options::nesterov,
                        &dt_sgd_momentum_in_place_options::maximize, &dt_sgd_momentum_in_place_options::is_first,
                        &dt_sgd_momentum_in_place_options::grad_scale);
};
template <> struct fields<dt_sgd_new_options> {
    static constexpr auto list = std::make_tuple(&dt_sgd_new_options::momentum, &dt_sgd_new_options::dampening,
                                                 &dt_sgd_new_options::weight_decay, &dt_sgd_new_options::nesterov,
                                                 &dt_sgd_new_options::maximize, &dt_sgd_new_options::params);
};
template <> struct fields<dt_sgn_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sgn_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_short_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sigmoid_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sigmoid_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sigmoid_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sign_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sign_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_silu_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_silu_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_silu_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sin_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sin_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sinh_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sinh_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_slice_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_slice_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_slice_scatter_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_slice_scatter_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_smooth_l1_loss_options> {
    static constexpr auto list =
        std::make_tuple(&dt_smooth_l1_loss_options::reduction, &dt_smooth_l1_loss_options::beta);
};
template <> struct fields<dt_softmax_backward_data_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_softmax_options> {
    static constexpr auto list = std::make_tuple(&dt_softmax_options::dtype);
};
template <> struct fields<dt_softmin_options> {
    static constexpr auto list = std::make_tuple(&dt_softmin_options::dim, &dt_softmin_options::dtype);
};
template <> struct fields<dt_softplus_options> {
    static constexpr auto list = std::make_tuple(&dt_softplus_options::beta, &dt_softplus_options::threshold);
};
template <> struct fields<dt_softshrink_options> {
    static constexpr auto list = std::make_tuple(&dt_softshrink_options::lambd);
};
template <> struct fields<dt_softsign_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sort_options> {
    static constexpr auto list = std::make_tuple(&dt_sort_options::dim, &dt_sort_options::descending);
};
template <> struct fields<dt_split_options> { static constexpr auto list = std::make_tuple(&dt_split_options::dim); };
template <> struct fields<dt_split_sizes_options> {
    static constexpr auto list = std::make_tuple(&dt_split_sizes_options::dim);
};
template <> struct fields<dt_split_with_sizes_options> {
    static constexpr auto list = std::make_tuple(&dt_split_with_sizes_options::dim);
};
template <> struct fields<dt_sqrt_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_sqrt_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_square_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_square_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_squeeze_dim_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_squeeze_dims_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_squeeze_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_stack_options> { static constexpr auto list = std::make_tuple(&dt_stack_options::dim); };
template <> struct fields<dt_std_correction_options> {
    static constexpr auto list = std::make_tuple(
        &dt_std_correction_options::dim, &dt_std_correction_options::correction, &dt_std_correction_options::keepdim);
};
template <> struct fields<dt_std_mean_correction_options> {
    static constexpr auto list =
        std::make_tuple(&dt_std_mean_correction_options::dim, &dt_std_mean_correction_options::correction,
                        &dt_std_mean_correction_options::keepdim);
};
template <> struct fields<dt_std_mean_options> {
    static constexpr auto list =
        std::make_tuple(&dt_std_mean_options::dim, &dt_std_mean_options::unbiased, &dt_std_mean_options::keepdim);
};
template <> struct fields<dt_std_options> {
    static constexpr auto list =
        std::make_tuple(&dt_std_options::dim, &dt_std_options::unbiased, &dt_std_options::keepdim);
};
template <> struct fields<dt_sub_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_sub_in_place_options::alpha);
};
template <> struct fields<dt_sub_options> { static constexpr auto list = std::make_tuple(&dt_sub_options::alpha); };
template <> struct fields<dt_sub_scalar_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_sub_scalar_in_place_options::alpha);
};
template <> struct fields<dt_sub_scalar_options> {
    static constexpr auto list = std::make_tuple(&dt_sub_scalar_options::alpha);
};
template <> struct fields<dt_sum_options> {
    static constexpr auto list =
        std::make_tuple(&dt_sum_options::dim, &dt_sum_options::keepdim, &dt_sum_options::dtype);
};
template <> struct fields<dt_svd_options> {
    static constexpr auto list = std::make_tuple(&dt_svd_options::some, &dt_svd_options::compute_uv);
};
template <> struct fields<dt_swapaxes_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_t_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_take_along_dim_options> {
    static constexpr auto list = std::make_tuple(&dt_take_along_dim_options::dim);
};
template <> struct fields<dt_tan_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_tan_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_tanh_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_tanh_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_tanh_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_tanhshrink_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_tensor_split_indices_options> {
    static constexpr auto list = std::make_tuple(&dt_tensor_split_indices_options::dim);
};
template <> struct fields<dt_tensor_split_options> {
    static constexpr auto list = std::make_tuple(&dt_tensor_split_options::dim);
};
template <> struct fields<dt_tensor_split_tensor_indices_or_sections_options> {
    static constexpr auto list = std::make_tuple(&dt_tensor_split_tensor_indices_or_sections_options::dim);
};
template <> struct fields<dt_tensordot_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_threshold_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_threshold_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_threshold_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_tile_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_to_local_options> {
    static constexpr auto list = std::make_tuple(&dt_to_local_options::grad_place);
};
template <> struct fields<dt_to_options> { static constexpr auto list = std::make_tuple(&dt_to_options::copy); };
template <> struct fields<dt_topk_options> {
    static constexpr auto list = std::make_tuple(&dt_topk_options::dim, &dt_topk_options::largest);
};
template <> struct fields<dt_trace_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_transpose_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_triangular_solve_options> {
    static constexpr auto list =
        std::make_tuple(&dt_triangular_solve_options::upper, &dt_triangular_solve_options::transpose,
                        &dt_triangular_solve_options::unitriangular);
};
template <> struct fields<dt_tril_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_tril_in_place_options::diagonal);
};
template <> struct fields<dt_tril_options> {
    static constexpr auto list = std::make_tuple(&dt_tril_options::diagonal);
};
template <> struct fields<dt_triu_in_place_options> {
    static constexpr auto list = std::make_tuple(&dt_triu_in_place_options::diagonal);
};
template <> struct fields<dt_triu_options> {
    static constexpr auto list = std::make_tuple(&dt_triu_options::diagonal);
};
template <> struct fields<dt_trunc_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_trunc_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_type_as_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_unbind_options> {
    static constexpr auto list = std::make_tuple(&dt_unbind_options::dim);
};
template <> struct fields<dt_unflatten_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_unfold_backward_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_unfold_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_unsqueeze_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_var_correction_options> {
    static constexpr auto list = std::make_tuple(
        &dt_var_correction_options::dim, &dt_var_correction_options::correction, &dt_var_correction_options::keepdim);
};
template <> struct fields<dt_var_mean_correction_options> {
    static constexpr auto list =
        std::make_tuple(&dt_var_mean_correction_options::dim, &dt_var_mean_correction_options::correction,
                        &dt_var_mean_correction_options::keepdim);
};
template <> struct fields<dt_var_mean_options> {
    static constexpr auto list =
        std::make_tuple(&dt_var_mean_options::dim, &dt_var_mean_options::unbiased, &dt_var_mean_options::keepdim);
};
template <> struct fields<dt_var_options> {
    static constexpr auto list =
        std::make_tuple(&dt_var_options::dim, &dt_var_options::unbiased, &dt_var_options::keepdim);
};
template <> struct fields<dt_vdot_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_view_as_complex_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_view_as_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_view_as_real_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_view_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_vstack_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_where_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_where_scalar_other_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_where_scalar_self_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_where_scalars_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_xlogy_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_xlogy_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_xlogy_scalar_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_xlogy_scalar_other_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_xlogy_scalar_self_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_zero_in_place_options> { static constexpr auto list = std::make_tuple(); };
template <> struct fields<dt_zeros_like_options> {
    static constexpr auto list = std::make_tuple(&dt_zeros_like_options::dtype);
};

} // namespace dt

template <class... T> dt_status dt_backward(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_backward_sized(tensor, dt::named<dt_backward_options>(tensor.site, options...).get(),
                             sizeof(dt_backward_options));
}
template <class... T>
dt_status dt_gradients(dt::at<dt_tensors> outputs, dt_tensors inputs, dt_tensor **grads, const T &...options) {
    return dt_gradients_sized(outputs, inputs, grads, dt::named<dt_gradients_options>(outputs.site, options...).get(),
                              sizeof(dt_gradients_options));
}
template <class... T>
dt_batches *dt_batches_open(dt::at<dt_ctx *> ctx, const char *path, int64_t batch, const T &...options) {
    return dt_batches_open_sized(ctx, path, batch, dt::named<dt_batches_open_options>(ctx.site, options...).get(),
                                 sizeof(dt_batches_open_options));
}
template <class... T>
dt_status dt_save(dt::at<dt_params *> params, const char *folder, int64_t step, const T &...options) {
    return dt_save_sized(params, folder, step, dt::named<dt_save_options>(params.site, options...).get(),
                         sizeof(dt_save_options));
}
template <class... T> dt_status dt_load(dt::at<dt_params *> params, const char *folder, const T &...options) {
    return dt_load_sized(params, folder, dt::named<dt_load_options>(params.site, options...).get(),
                         sizeof(dt_load_options));
}
template <class... T>
dt_status dt_params_save_npz(dt::at<dt_params *> params, const char *path, const T &...options) {
    return dt_params_save_npz_sized(params, path, dt::named<dt_params_npz_options>(params.site, options...).get(),
                                    sizeof(dt_params_npz_options));
}
template <class... T>
dt_status dt_params_load_npz(dt::at<dt_params *> params, const char *path, const T &...options) {
    return dt_params_load_npz_sized(params, path, dt::named<dt_params_npz_options>(params.site, options...).get(),
                                    sizeof(dt_params_npz_options));
}
template <class... T> dt_tensor *dt_load_npy(dt::at<dt_ctx *> ctx, const char *path, const T &...options) {
    return dt_load_npy_sized(ctx, path, dt::named<dt_load_npy_options>(ctx.site, options...).get(),
                             sizeof(dt_load_npy_options));
}
template <class... T>
dt_tensor *dt_load_npz(dt::at<dt_ctx *> ctx, const char *path, const char *name, const T &...options) {
    return dt_load_npz_sized(ctx, path, name, dt::named<dt_load_npy_options>(ctx.site, options...).get(),
                             sizeof(dt_load_npy_options));
}
template <class... T> dt_tensor *dt_T(dt::at<dt_tensor *> self, const T &...options) {
    return dt_T_sized(self, dt::named<dt_T_options>(self.site, options...).get(), sizeof(dt_T_options));
}
template <class... T>
int dt_foreach_abs(dt::at<dt_tensors> self, dt_tensor **out, int capacity, const T &...options) {
    return dt_foreach_abs_sized(self, out, capacity, dt::named<dt_foreach_abs_options>(self.site, options...).get(),
                                sizeof(dt_foreach_abs_options));
}
template <class... T>
int dt_foreach_acos(dt::at<dt_tensors> self, dt_tensor **out, int capacity, const T &...options) {
    return dt_foreach_acos_sized(self, out, capacity, dt::named<dt_foreach_acos_options>(self.site, options...).get(),
                                 sizeof(dt_foreach_acos_options));
}
template <class... T> dt_status dt_foreach_acos_(dt::at<dt_tensors> self, const T &...options) {
    return dt_foreach_acos_in_place_sized(self,
                                          dt::named<dt_foreach_acos_in_place_options>(self.site, options...).get(),
                                          sizeof(dt_foreach_acos_in_place_options));
}
template <class... T>
int dt_foreach_add(dt::at<dt_tensors> self, dt_tensors other, dt_tensor **out, int capacity, const T &...options) {
    return dt_foreach_add_sized(self, other, out, capacity,
                                dt::named<dt_foreach_add_options>(self.site, options...).get(),
                                sizeof(dt_foreach_add_options));
}
template <class... T>
int dt_foreach_add_scalar(dt::at<dt_tensors> self, dt::number scalar, dt_tensor **out, int capacity,
                          const T &...options) {
    return dt_foreach_add_scalar_sized(self, scalar, out, capacity,
                                       dt::named<dt_foreach_add_scalar_options>(self.site, options...).get(),
                                       sizeof(dt_foreach_add_scalar_options));
}
template <class... T> dt_status dt_foreach_add_(dt::at<dt_tensors> self, dt_tensors other, const T &...options) {
    return dt_foreach_add_in_place_sized(self, other,
                                         dt::named<dt_foreach_add_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_foreach_add_in_place_options));
}
template <class... T>
dt_status dt_foreach_add_scalar_(dt::at<dt_tensors> self, dt::number scalar, const T &...options) {
    return dt_foreach_add_scalar_in_place_sized(
        self, scalar, dt::named<dt_foreach_add_scalar_in_place_options>(self.site, options...).get(),
        sizeof(dt_foreach_add_scalar_in_place_options));
}
template <class... T>
int dt_foreach_max(dt::at<dt_tensors> self, dt_tensor **out, int capacity, const T &...options) {
    return dt_foreach_max_sized(self, out, capacity, dt::named<dt_foreach_max_options>(self.site, options...).get(),
                                sizeof(dt_foreach_max_options));
}
template <class... T>
int dt_foreach_mul(dt::at<dt_tensors> self, dt_tensors other, dt_tensor **out, int capacity, const T &...options) {
    return dt_foreach_mul_sized(self, other, out, capacity,
                                dt::named<dt_foreach_mul_options>(self.site, options...).get(),
                                sizeof(dt_foreach_mul_options));
}
template <class... T>
int dt_foreach_mul_scalar(dt::at<dt_tensors> self, dt::number scalar, dt_tensor **out, int capacity,
                          const T &...options) {
    return dt_foreach_mul_scalar_sized(self, scalar, out, capacity,
                                       dt::named<dt_foreach_mul_scalar_options>(self.site, options...).get(),
                                       sizeof(dt_foreach_mul_scalar_options));
}
template <class... T> dt_status dt_foreach_mul_(dt::at<dt_tensors> self, dt_tensors other, const T &...options) {
    return dt_foreach_mul_in_place_sized(self, other,
                                         dt::named<dt_foreach_mul_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_foreach_mul_in_place_options));
}
template <class... T>
dt_status dt_foreach_mul_scalar_(dt::at<dt_tensors> self, dt::number scalar, const T &...options) {
    return dt_foreach_mul_scalar_in_place_sized(
        self, scalar, dt::named<dt_foreach_mul_scalar_in_place_options>(self.site, options...).get(),
        sizeof(dt_foreach_mul_scalar_in_place_options));
}
template <class... T>
int dt_foreach_neg(dt::at<dt_tensors> self, dt_tensor **out, int capacity, const T &...options) {
    return dt_foreach_neg_sized(self, out, capacity, dt::named<dt_foreach_neg_options>(self.site, options...).get(),
                                sizeof(dt_foreach_neg_options));
}
template <class... T>
int dt_foreach_norm(dt::at<dt_tensors> self, dt_tensor **out, int capacity, const T &...options) {
    return dt_foreach_norm_sized(self, out, capacity, dt::named<dt_foreach_norm_options>(self.site, options...).get(),
                                 sizeof(dt_foreach_norm_options));
}
template <class... T>
int dt_foreach_power_sum(dt::at<dt_tensors> self, dt_tensor **out, int capacity, const T &...options) {
    return dt_foreach_power_sum_sized(self, out, capacity,
                                      dt::named<dt_foreach_power_sum_options>(self.site, options...).get(),
                                      sizeof(dt_foreach_power_sum_options));
}
template <class... T>
dt_status dt_fused_adagrad_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors state_sums, double lr, int64_t step,
                            const T &...options) {
    return dt_fused_adagrad_in_place_sized(self, grads, state_sums, lr, step,
                                           dt::named<dt_fused_adagrad_in_place_options>(self.site, options...).get(),
                                           sizeof(dt_fused_adagrad_in_place_options));
}
template <class... T>
dt_status dt_fused_adam_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors exp_avgs, dt_tensors exp_avg_sqs,
                         double lr, int64_t step, const T &...options) {
    return dt_fused_adam_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, lr, step,
                                        dt::named<dt_fused_adam_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_fused_adam_in_place_options));
}
template <class... T>
dt_status dt_fused_adam_amsgrad_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors exp_avgs,
                                 dt_tensors exp_avg_sqs, dt_tensors max_exp_avg_sqs, double lr, int64_t step,
                                 const T &...options) {
    return dt_fused_adam_amsgrad_in_place_sized(
        self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, lr, step,
        dt::named<dt_fused_adam_amsgrad_in_place_options>(self.site, options...).get(),
        sizeof(dt_fused_adam_amsgrad_in_place_options));
}
template <class... T>
dt_status dt_fused_adamax_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors exp_avgs, dt_tensors exp_infs,
                           double lr, int64_t step, const T &...options) {
    return dt_fused_adamax_in_place_sized(self, grads, exp_avgs, exp_infs, lr, step,
                                          dt::named<dt_fused_adamax_in_place_options>(self.site, options...).get(),
                                          sizeof(dt_fused_adamax_in_place_options));
}
template <class... T>
dt_status dt_fused_adamw_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors exp_avgs, dt_tensors exp_avg_sqs,
                          double lr, int64_t step, const T &...options) {
    return dt_fused_adamw_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, lr, step,
                                         dt::named<dt_fused_adamw_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_fused_adamw_in_place_options));
}
template <class... T>
dt_status dt_fused_adamw_amsgrad_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors exp_avgs,
                                  dt_tensors exp_avg_sqs, dt_tensors max_exp_avg_sqs, double lr, int64_t step,
                                  const T &...options) {
    return dt_fused_adamw_amsgrad_in_place_sized(
        self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, lr, step,
        dt::named<dt_fused_adamw_amsgrad_in_place_options>(self.site, options...).get(),
        sizeof(dt_fused_adamw_amsgrad_in_place_options));
}
template <class... T>
dt_status dt_fused_lion_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors exp_avgs, double lr,
                         const T &...options) {
    return dt_fused_lion_in_place_sized(self, grads, exp_avgs, lr,
                                        dt::named<dt_fused_lion_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_fused_lion_in_place_options));
}
template <class... T>
dt_status dt_fused_nadam_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors exp_avgs, dt_tensors exp_avg_sqs,
                          double lr, int64_t step, double mu_product, const T &...options) {
    return dt_fused_nadam_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, lr, step, mu_product,
                                         dt::named<dt_fused_nadam_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_fused_nadam_in_place_options));
}
template <class... T>
dt_status dt_fused_radam_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors exp_avgs, dt_tensors exp_avg_sqs,
                          double lr, int64_t step, const T &...options) {
    return dt_fused_radam_in_place_sized(self, grads, exp_avgs, exp_avg_sqs, lr, step,
                                         dt::named<dt_fused_radam_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_fused_radam_in_place_options));
}
template <class... T>
dt_fused_rms_norm_backward_result dt_fused_rms_norm_backward(dt::at<dt_tensor *> grad_out, dt_tensor *input,
                                                             dt_shape normalized_shape, dt_tensor *rstd,
                                                             dt_ints output_mask, const T &...options) {
    return dt_fused_rms_norm_backward_sized(
        grad_out, input, normalized_shape, rstd, output_mask,
        dt::named<dt_fused_rms_norm_backward_options>(grad_out.site, options...).get(),
        sizeof(dt_fused_rms_norm_backward_options));
}
template <class... T>
dt_status dt_fused_rmsprop_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors square_avgs, double lr,
                            const T &...options) {
    return dt_fused_rmsprop_in_place_sized(self, grads, square_avgs, lr,
                                           dt::named<dt_fused_rmsprop_in_place_options>(self.site, options...).get(),
                                           sizeof(dt_fused_rmsprop_in_place_options));
}
template <class... T>
dt_status dt_fused_rmsprop_state_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors square_avgs,
                                  dt_tensors states, double lr, const T &...options) {
    return dt_fused_rmsprop_state_in_place_sized(
        self, grads, square_avgs, states, lr,
        dt::named<dt_fused_rmsprop_state_in_place_options>(self.site, options...).get(),
        sizeof(dt_fused_rmsprop_state_in_place_options));
}
template <class... T>
dt_status dt_fused_rmsprop_centered_momentum_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors square_avgs,
                                              dt_tensors grad_avgs, dt_tensors momentum_buffers, double lr,
                                              const T &...options) {
    return dt_fused_rmsprop_centered_momentum_in_place_sized(
        self, grads, square_avgs, grad_avgs, momentum_buffers, lr,
        dt::named<dt_fused_rmsprop_centered_momentum_in_place_options>(self.site, options...).get(),
        sizeof(dt_fused_rmsprop_centered_momentum_in_place_options));
}
template <class... T>
dt_status dt_fused_sgd_(dt::at<dt_tensors> self, dt_tensors grads, double lr, const T &...options) {
    return dt_fused_sgd_in_place_sized(self, grads, lr,
                                       dt::named<dt_fused_sgd_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_fused_sgd_in_place_options));
}
template <class... T>
dt_status dt_fused_sgd_momentum_(dt::at<dt_tensors> self, dt_tensors grads, dt_tensors momentum_buffers, double lr,
                                 const T &...options) {
    return dt_fused_sgd_momentum_in_place_sized(
        self, grads, momentum_buffers, lr,
        dt::named<dt_fused_sgd_momentum_in_place_options>(self.site, options...).get(),
        sizeof(dt_fused_sgd_momentum_in_place_options));
}
template <class... T>
dt_tensor *dt_log_softmax_backward_data(dt::at<dt_tensor *> grad_output, dt_tensor *output, int64_t dim,
                                        dt_dtype input_dtype, const T &...options) {
    return dt_log_softmax_backward_data_sized(
        grad_output, output, dim, input_dtype,
        dt::named<dt_log_softmax_backward_data_options>(grad_output.site, options...).get(),
        sizeof(dt_log_softmax_backward_data_options));
}
template <class... T>
dt_native_batch_norm_legit_functional_result
dt_native_batch_norm_legit_functional(dt::at<dt_tensor *> input, dt_tensor *running_mean, dt_tensor *running_var,
                                      bool training, double momentum, double eps, const T &...options) {
    return dt_native_batch_norm_legit_functional_sized(
        input, running_mean, running_var, training, momentum, eps,
        dt::named<dt_native_batch_norm_legit_functional_options>(input.site, options...).get(),
        sizeof(dt_native_batch_norm_legit_functional_options));
}
template <class... T>
dt_tensor *dt_softmax_backward_data(dt::at<dt_tensor *> grad_output, dt_tensor *output, int64_t dim,
                                    dt_dtype input_dtype, const T &...options) {
    return dt_softmax_backward_data_sized(
        grad_output, output, dim, input_dtype,
        dt::named<dt_softmax_backward_data_options>(grad_output.site, options...).get(),
        sizeof(dt_softmax_backward_data_options));
}
template <class... T> dt_tensor *dt_abs(dt::at<dt_tensor *> self, const T &...options) {
    return dt_abs_sized(self, dt::named<dt_abs_options>(self.site, options...).get(), sizeof(dt_abs_options));
}
template <class... T> dt_tensor *dt_abs_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_abs_in_place_sized(self, dt::named<dt_abs_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_abs_in_place_options));
}
template <class... T> dt_tensor *dt_acos(dt::at<dt_tensor *> self, const T &...options) {
    return dt_acos_sized(self, dt::named<dt_acos_options>(self.site, options...).get(), sizeof(dt_acos_options));
}
template <class... T> dt_tensor *dt_acos_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_acos_in_place_sized(self, dt::named<dt_acos_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_acos_in_place_options));
}
template <class... T>
dt_adagrad_in_place_result dt_adagrad_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *state_sum, double lr,
                                       int64_t step, const T &...options) {
    return dt_adagrad_in_place_sized(self, grad, state_sum, lr, step,
                                     dt::named<dt_adagrad_in_place_options>(self.site, options...).get(),
                                     sizeof(dt_adagrad_in_place_options));
}
template <class... T>
dt_adam_in_place_result dt_adam_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *exp_avg, dt_tensor *exp_avg_sq,
                                 double lr, int64_t step, const T &...options) {
    return dt_adam_in_place_sized(self, grad, exp_avg, exp_avg_sq, lr, step,
                                  dt::named<dt_adam_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_adam_in_place_options));
}
template <class... T>
dt_adam_amsgrad_in_place_result dt_adam_amsgrad_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *exp_avg,
                                                 dt_tensor *exp_avg_sq, dt_tensor *max_exp_avg_sq, double lr,
                                                 int64_t step, const T &...options) {
    return dt_adam_amsgrad_in_place_sized(self, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, lr, step,
                                          dt::named<dt_adam_amsgrad_in_place_options>(self.site, options...).get(),
                                          sizeof(dt_adam_amsgrad_in_place_options));
}
template <class... T>
dt_adamax_in_place_result dt_adamax_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *exp_avg,
                                     dt_tensor *exp_inf, double lr, int64_t step, const T &...options) {
    return dt_adamax_in_place_sized(self, grad, exp_avg, exp_inf, lr, step,
                                    dt::named<dt_adamax_in_place_options>(self.site, options...).get(),
                                    sizeof(dt_adamax_in_place_options));
}
template <class... T>
dt_adamw_in_place_result dt_adamw_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *exp_avg,
                                   dt_tensor *exp_avg_sq, double lr, int64_t step, const T &...options) {
    return dt_adamw_in_place_sized(self, grad, exp_avg, exp_avg_sq, lr, step,
                                   dt::named<dt_adamw_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_adamw_in_place_options));
}
template <class... T>
dt_adamw_amsgrad_in_place_result dt_adamw_amsgrad_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *exp_avg,
                                                   dt_tensor *exp_avg_sq, dt_tensor *max_exp_avg_sq, double lr,
                                                   int64_t step, const T &...options) {
    return dt_adamw_amsgrad_in_place_sized(self, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, lr, step,
                                           dt::named<dt_adamw_amsgrad_in_place_options>(self.site, options...).get(),
                                           sizeof(dt_adamw_amsgrad_in_place_options));
}
template <class... T>
dt_tensor *dt_adaptive_avg_pool1d(dt::at<dt_tensor *> self, dt_ints output_size, const T &...options) {
    return dt_adaptive_avg_pool1d_sized(self, output_size,
                                        dt::named<dt_adaptive_avg_pool1d_options>(self.site, options...).get(),
                                        sizeof(dt_adaptive_avg_pool1d_options));
}
template <class... T>
dt_tensor *dt_adaptive_avg_pool2d(dt::at<dt_tensor *> input, dt_ints output_size, const T &...options) {
    return dt_adaptive_avg_pool2d_sized(input, output_size,
                                        dt::named<dt_adaptive_avg_pool2d_options>(input.site, options...).get(),
                                        sizeof(dt_adaptive_avg_pool2d_options));
}
template <class... T>
dt_tensor *dt_adaptive_avg_pool3d(dt::at<dt_tensor *> input, dt_ints output_size, const T &...options) {
    return dt_adaptive_avg_pool3d_sized(input, output_size,
                                        dt::named<dt_adaptive_avg_pool3d_options>(input.site, options...).get(),
                                        sizeof(dt_adaptive_avg_pool3d_options));
}
template <class... T>
dt_tensor *dt_adaptive_max_pool1d(dt::at<dt_tensor *> input, dt_ints output_size, const T &...options) {
    return dt_adaptive_max_pool1d_sized(input, output_size,
                                        dt::named<dt_adaptive_max_pool1d_options>(input.site, options...).get(),
                                        sizeof(dt_adaptive_max_pool1d_options));
}
template <class... T>
dt_adaptive_max_pool1d_with_indices_result
dt_adaptive_max_pool1d_with_indices(dt::at<dt_tensor *> input, dt_ints output_size, const T &...options) {
    return dt_adaptive_max_pool1d_with_indices_sized(
        input, output_size, dt::named<dt_adaptive_max_pool1d_with_indices_options>(input.site, options...).get(),
        sizeof(dt_adaptive_max_pool1d_with_indices_options));
}
template <class... T>
dt_tensor *dt_adaptive_max_pool2d(dt::at<dt_tensor *> input, dt_ints output_size, const T &...options) {
    return dt_adaptive_max_pool2d_sized(input, output_size,
                                        dt::named<dt_adaptive_max_pool2d_options>(input.site, options...).get(),
                                        sizeof(dt_adaptive_max_pool2d_options));
}
template <class... T>
dt_adaptive_max_pool2d_with_indices_result
dt_adaptive_max_pool2d_with_indices(dt::at<dt_tensor *> input, dt_ints output_size, const T &...options) {
    return dt_adaptive_max_pool2d_with_indices_sized(
        input, output_size, dt::named<dt_adaptive_max_pool2d_with_indices_options>(input.site, options...).get(),
        sizeof(dt_adaptive_max_pool2d_with_indices_options));
}
template <class... T>
dt_tensor *dt_adaptive_max_pool3d(dt::at<dt_tensor *> input, dt_ints output_size, const T &...options) {
    return dt_adaptive_max_pool3d_sized(input, output_size,
                                        dt::named<dt_adaptive_max_pool3d_options>(input.site, options...).get(),
                                        sizeof(dt_adaptive_max_pool3d_options));
}
template <class... T>
dt_adaptive_max_pool3d_with_indices_result
dt_adaptive_max_pool3d_with_indices(dt::at<dt_tensor *> input, dt_ints output_size, const T &...options) {
    return dt_adaptive_max_pool3d_with_indices_sized(
        input, output_size, dt::named<dt_adaptive_max_pool3d_with_indices_options>(input.site, options...).get(),
        sizeof(dt_adaptive_max_pool3d_with_indices_options));
}
template <class... T> dt_tensor *dt_add(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_add_sized(self, other, dt::named<dt_add_options>(self.site, options...).get(), sizeof(dt_add_options));
}
template <class... T> dt_tensor *dt_add_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_add_scalar_sized(self, other, dt::named<dt_add_scalar_options>(self.site, options...).get(),
                               sizeof(dt_add_scalar_options));
}
template <class... T> dt_tensor *dt_add_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_add_in_place_sized(self, other, dt::named<dt_add_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_add_in_place_options));
}
template <class... T> dt_tensor *dt_add_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_add_scalar_in_place_sized(self, other,
                                        dt::named<dt_add_scalar_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_add_scalar_in_place_options));
}
template <class... T>
dt_tensor *dt_addbmm(dt::at<dt_tensor *> self, dt_tensor *batch1, dt_tensor *batch2, const T &...options) {
    return dt_addbmm_sized(self, batch1, batch2, dt::named<dt_addbmm_options>(self.site, options...).get(),
                           sizeof(dt_addbmm_options));
}
template <class... T>
dt_tensor *dt_addbmm_(dt::at<dt_tensor *> self, dt_tensor *batch1, dt_tensor *batch2, const T &...options) {
    return dt_addbmm_in_place_sized(self, batch1, batch2,
                                    dt::named<dt_addbmm_in_place_options>(self.site, options...).get(),
                                    sizeof(dt_addbmm_in_place_options));
}
template <class... T>
dt_tensor *dt_addcdiv(dt::at<dt_tensor *> self, dt_tensor *tensor1, dt_tensor *tensor2, const T &...options) {
    return dt_addcdiv_sized(self, tensor1, tensor2, dt::named<dt_addcdiv_options>(self.site, options...).get(),
                            sizeof(dt_addcdiv_options));
}
template <class... T>
dt_tensor *dt_addcdiv_(dt::at<dt_tensor *> self, dt_tensor *tensor1, dt_tensor *tensor2, const T &...options) {
    return dt_addcdiv_in_place_sized(self, tensor1, tensor2,
                                     dt::named<dt_addcdiv_in_place_options>(self.site, options...).get(),
                                     sizeof(dt_addcdiv_in_place_options));
}
template <class... T>
dt_tensor *dt_addcmul(dt::at<dt_tensor *> self, dt_tensor *tensor1, dt_tensor *tensor2, const T &...options) {
    return dt_addcmul_sized(self, tensor1, tensor2, dt::named<dt_addcmul_options>(self.site, options...).get(),
                            sizeof(dt_addcmul_options));
}
template <class... T>
dt_tensor *dt_addcmul_(dt::at<dt_tensor *> self, dt_tensor *tensor1, dt_tensor *tensor2, const T &...options) {
    return dt_addcmul_in_place_sized(self, tensor1, tensor2,
                                     dt::named<dt_addcmul_in_place_options>(self.site, options...).get(),
                                     sizeof(dt_addcmul_in_place_options));
}
template <class... T>
dt_tensor *dt_addmm(dt::at<dt_tensor *> self, dt_tensor *mat1, dt_tensor *mat2, const T &...options) {
    return dt_addmm_sized(self, mat1, mat2, dt::named<dt_addmm_options>(self.site, options...).get(),
                          sizeof(dt_addmm_options));
}
template <class... T>
dt_tensor *dt_addmm_(dt::at<dt_tensor *> self, dt_tensor *mat1, dt_tensor *mat2, const T &...options) {
    return dt_addmm_in_place_sized(self, mat1, mat2,
                                   dt::named<dt_addmm_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_addmm_in_place_options));
}
template <class... T>
dt_tensor *dt_addmv(dt::at<dt_tensor *> self, dt_tensor *mat, dt_tensor *vec, const T &...options) {
    return dt_addmv_sized(self, mat, vec, dt::named<dt_addmv_options>(self.site, options...).get(),
                          sizeof(dt_addmv_options));
}
template <class... T>
dt_tensor *dt_addmv_(dt::at<dt_tensor *> self, dt_tensor *mat, dt_tensor *vec, const T &...options) {
    return dt_addmv_in_place_sized(self, mat, vec, dt::named<dt_addmv_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_addmv_in_place_options));
}
template <class... T>
dt_tensor *dt_addr(dt::at<dt_tensor *> self, dt_tensor *vec1, dt_tensor *vec2, const T &...options) {
    return dt_addr_sized(self, vec1, vec2, dt::named<dt_addr_options>(self.site, options...).get(),
                         sizeof(dt_addr_options));
}
template <class... T>
dt_tensor *dt_addr_(dt::at<dt_tensor *> self, dt_tensor *vec1, dt_tensor *vec2, const T &...options) {
    return dt_addr_in_place_sized(self, vec1, vec2, dt::named<dt_addr_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_addr_in_place_options));
}
template <class... T> dt_tensor *dt_all(dt::at<dt_tensor *> self, const T &...options) {
    return dt_all_sized(self, dt::named<dt_all_options>(self.site, options...).get(), sizeof(dt_all_options));
}
template <class... T> dt_tensor *dt_allclose(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_allclose_sized(self, other, dt::named<dt_allclose_options>(self.site, options...).get(),
                             sizeof(dt_allclose_options));
}
template <class... T> dt_tensor *dt_amax(dt::at<dt_tensor *> self, const T &...options) {
    return dt_amax_sized(self, dt::named<dt_amax_options>(self.site, options...).get(), sizeof(dt_amax_options));
}
template <class... T> dt_tensor *dt_amin(dt::at<dt_tensor *> self, const T &...options) {
    return dt_amin_sized(self, dt::named<dt_amin_options>(self.site, options...).get(), sizeof(dt_amin_options));
}
template <class... T> dt_aminmax_result dt_aminmax(dt::at<dt_tensor *> self, const T &...options) {
    return dt_aminmax_sized(self, dt::named<dt_aminmax_options>(self.site, options...).get(),
                            sizeof(dt_aminmax_options));
}
template <class... T> dt_tensor *dt_any(dt::at<dt_tensor *> self, const T &...options) {
    return dt_any_sized(self, dt::named<dt_any_options>(self.site, options...).get(), sizeof(dt_any_options));
}
template <class... T>
dt_tensor *dt_arange(dt::at<dt_ctx *> ctx, dt::number start, dt::number end, dt::number step, const T &...options) {
    return dt_arange_sized(ctx, start, end, step, dt::named<dt_make_options>(ctx.site, options...).get(),
                           sizeof(dt_make_options));
}
template <class... T> dt_tensor *dt_argmax(dt::at<dt_tensor *> self, const T &...options) {
    return dt_argmax_sized(self, dt::named<dt_argmax_options>(self.site, options...).get(),
                           sizeof(dt_argmax_options));
}
template <class... T> dt_tensor *dt_argmin(dt::at<dt_tensor *> self, const T &...options) {
    return dt_argmin_sized(self, dt::named<dt_argmin_options>(self.site, options...).get(),
                           sizeof(dt_argmin_options));
}
template <class... T> dt_tensor *dt_argsort(dt::at<dt_tensor *> self, const T &...options) {
    return dt_argsort_sized(self, dt::named<dt_argsort_options>(self.site, options...).get(),
                            sizeof(dt_argsort_options));
}
template <class... T> dt_tensor *dt_argsort_stable(dt::at<dt_tensor *> self, bool stable, const T &...options) {
    return dt_argsort_stable_sized(self, stable, dt::named<dt_argsort_stable_options>(self.site, options...).get(),
                                   sizeof(dt_argsort_stable_options));
}
template <class... T> dt_tensor *dt_asin(dt::at<dt_tensor *> self, const T &...options) {
    return dt_asin_sized(self, dt::named<dt_asin_options>(self.site, options...).get(), sizeof(dt_asin_options));
}
template <class... T> dt_tensor *dt_asin_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_asin_in_place_sized(self, dt::named<dt_asin_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_asin_in_place_options));
}
template <class... T> dt_tensor *dt_atan(dt::at<dt_tensor *> self, const T &...options) {
    return dt_atan_sized(self, dt::named<dt_atan_options>(self.site, options...).get(), sizeof(dt_atan_options));
}
template <class... T> dt_tensor *dt_atan2(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_atan2_sized(self, other, dt::named<dt_atan2_options>(self.site, options...).get(),
                          sizeof(dt_atan2_options));
}
template <class... T> dt_tensor *dt_atan2_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_atan2_in_place_sized(self, other, dt::named<dt_atan2_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_atan2_in_place_options));
}
template <class... T> dt_tensor *dt_atan_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_atan_in_place_sized(self, dt::named<dt_atan_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_atan_in_place_options));
}
template <class... T>
dt_attention_backward_result dt_attention_backward(dt::at<dt_tensor *> grad_out, dt_tensor *query, dt_tensor *key,
                                                   dt_tensor *value, dt_tensor *out, dt_tensor *logsumexp,
                                                   const T &...options) {
    return dt_attention_backward_sized(grad_out, query, key, value, out, logsumexp,
                                       dt::named<dt_attention_backward_options>(grad_out.site, options...).get(),
                                       sizeof(dt_attention_backward_options));
}
template <class... T>
dt_tensor *dt_attention_mask_backward(dt::at<dt_tensor *> grad_out, dt_tensor *query, dt_tensor *key,
                                      dt_tensor *value, dt_tensor *out, dt_tensor *logsumexp, const T &...options) {
    return dt_attention_mask_backward_sized(
        grad_out, query, key, value, out, logsumexp,
        dt::named<dt_attention_mask_backward_options>(grad_out.site, options...).get(),
        sizeof(dt_attention_mask_backward_options));
}
template <class... T> dt_tensor *dt_avg_pool1d(dt::at<dt_tensor *> self, dt_ints kernel_size, const T &...options) {
    return dt_avg_pool1d_sized(self, kernel_size, dt::named<dt_avg_pool1d_options>(self.site, options...).get(),
                               sizeof(dt_avg_pool1d_options));
}
template <class... T> dt_tensor *dt_avg_pool2d(dt::at<dt_tensor *> self, dt_ints kernel_size, const T &...options) {
    return dt_avg_pool2d_sized(self, kernel_size, dt::named<dt_avg_pool2d_options>(self.site, options...).get(),
                               sizeof(dt_avg_pool2d_options));
}
template <class... T> dt_tensor *dt_avg_pool3d(dt::at<dt_tensor *> self, dt_ints kernel_size, const T &...options) {
    return dt_avg_pool3d_sized(self, kernel_size, dt::named<dt_avg_pool3d_options>(self.site, options...).get(),
                               sizeof(dt_avg_pool3d_options));
}
template <class... T>
dt_tensor *dt_baddbmm(dt::at<dt_tensor *> self, dt_tensor *batch1, dt_tensor *batch2, const T &...options) {
    return dt_baddbmm_sized(self, batch1, batch2, dt::named<dt_baddbmm_options>(self.site, options...).get(),
                            sizeof(dt_baddbmm_options));
}
template <class... T>
dt_tensor *dt_baddbmm_(dt::at<dt_tensor *> self, dt_tensor *batch1, dt_tensor *batch2, const T &...options) {
    return dt_baddbmm_in_place_sized(self, batch1, batch2,
                                     dt::named<dt_baddbmm_in_place_options>(self.site, options...).get(),
                                     sizeof(dt_baddbmm_in_place_options));
}
template <class... T> dt_tensor *dt_batch_norm(dt::at<dt_tensor *> input, const T &...options) {
    return dt_batch_norm_sized(input, dt::named<dt_batch_norm_options>(input.site, options...).get(),
                               sizeof(dt_batch_norm_options));
}
template <class... T> dt_tensor *dt_bfloat16(dt::at<dt_tensor *> self, const T &...options) {
    return dt_bfloat16_sized(self, dt::named<dt_bfloat16_options>(self.site, options...).get(),
                             sizeof(dt_bfloat16_options));
}
template <class... T>
dt_tensor *dt_binary_cross_entropy(dt::at<dt_tensor *> input, dt_tensor *target, const T &...options) {
    return dt_binary_cross_entropy_sized(input, target,
                                         dt::named<dt_binary_cross_entropy_options>(input.site, options...).get(),
                                         sizeof(dt_binary_cross_entropy_options));
}
template <class... T>
dt_tensor *dt_binary_cross_entropy_with_logits(dt::at<dt_tensor *> input, dt_tensor *target, const T &...options) {
    return dt_binary_cross_entropy_with_logits_sized(
        input, target, dt::named<dt_binary_cross_entropy_with_logits_options>(input.site, options...).get(),
        sizeof(dt_binary_cross_entropy_with_logits_options));
}
template <class... T> dt_tensor *dt_bitwise_and(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_bitwise_and_sized(self, other, dt::named<dt_bitwise_and_options>(self.site, options...).get(),
                                sizeof(dt_bitwise_and_options));
}
template <class... T>
dt_tensor *dt_bitwise_and_scalar_other(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_bitwise_and_scalar_other_sized(
        self, other, dt::named<dt_bitwise_and_scalar_other_options>(self.site, options...).get(),
        sizeof(dt_bitwise_and_scalar_other_options));
}
template <class... T>
dt_tensor *dt_bitwise_and_scalar_self(dt::at<dt_number> self, dt_tensor *other, const T &...options) {
    return dt_bitwise_and_scalar_self_sized(
        self, other, dt::named<dt_bitwise_and_scalar_self_options>(self.site, options...).get(),
        sizeof(dt_bitwise_and_scalar_self_options));
}
template <class... T> dt_tensor *dt_bitwise_and_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_bitwise_and_in_place_sized(self, other,
                                         dt::named<dt_bitwise_and_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_bitwise_and_in_place_options));
}
template <class... T>
dt_tensor *dt_bitwise_and_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_bitwise_and_scalar_in_place_sized(
        self, other, dt::named<dt_bitwise_and_scalar_in_place_options>(self.site, options...).get(),
        sizeof(dt_bitwise_and_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_bitwise_not(dt::at<dt_tensor *> self, const T &...options) {
    return dt_bitwise_not_sized(self, dt::named<dt_bitwise_not_options>(self.site, options...).get(),
                                sizeof(dt_bitwise_not_options));
}
template <class... T> dt_tensor *dt_bitwise_not_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_bitwise_not_in_place_sized(self,
                                         dt::named<dt_bitwise_not_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_bitwise_not_in_place_options));
}
template <class... T> dt_tensor *dt_bitwise_or(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_bitwise_or_sized(self, other, dt::named<dt_bitwise_or_options>(self.site, options...).get(),
                               sizeof(dt_bitwise_or_options));
}
template <class... T>
dt_tensor *dt_bitwise_or_scalar_other(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_bitwise_or_scalar_other_sized(
        self, other, dt::named<dt_bitwise_or_scalar_other_options>(self.site, options...).get(),
        sizeof(dt_bitwise_or_scalar_other_options));
}
template <class... T>
dt_tensor *dt_bitwise_or_scalar_self(dt::at<dt_number> self, dt_tensor *other, const T &...options) {
    return dt_bitwise_or_scalar_self_sized(self, other,
                                           dt::named<dt_bitwise_or_scalar_self_options>(self.site, options...).get(),
                                           sizeof(dt_bitwise_or_scalar_self_options));
}
template <class... T> dt_tensor *dt_bitwise_or_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_bitwise_or_in_place_sized(self, other,
                                        dt::named<dt_bitwise_or_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_bitwise_or_in_place_options));
}
template <class... T>
dt_tensor *dt_bitwise_or_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_bitwise_or_scalar_in_place_sized(
        self, other, dt::named<dt_bitwise_or_scalar_in_place_options>(self.site, options...).get(),
        sizeof(dt_bitwise_or_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_bitwise_xor(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_bitwise_xor_sized(self, other, dt::named<dt_bitwise_xor_options>(self.site, options...).get(),
                                sizeof(dt_bitwise_xor_options));
}
template <class... T>
dt_tensor *dt_bitwise_xor_scalar_other(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_bitwise_xor_scalar_other_sized(
        self, other, dt::named<dt_bitwise_xor_scalar_other_options>(self.site, options...).get(),
        sizeof(dt_bitwise_xor_scalar_other_options));
}
template <class... T>
dt_tensor *dt_bitwise_xor_scalar_self(dt::at<dt_number> self, dt_tensor *other, const T &...options) {
    return dt_bitwise_xor_scalar_self_sized(
        self, other, dt::named<dt_bitwise_xor_scalar_self_options>(self.site, options...).get(),
        sizeof(dt_bitwise_xor_scalar_self_options));
}
template <class... T> dt_tensor *dt_bitwise_xor_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_bitwise_xor_in_place_sized(self, other,
                                         dt::named<dt_bitwise_xor_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_bitwise_xor_in_place_options));
}
template <class... T>
dt_tensor *dt_bitwise_xor_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_bitwise_xor_scalar_in_place_sized(
        self, other, dt::named<dt_bitwise_xor_scalar_in_place_options>(self.site, options...).get(),
        sizeof(dt_bitwise_xor_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_bmm(dt::at<dt_tensor *> self, dt_tensor *mat2, const T &...options) {
    return dt_bmm_sized(self, mat2, dt::named<dt_bmm_options>(self.site, options...).get(), sizeof(dt_bmm_options));
}
template <class... T> dt_tensor *dt_bool(dt::at<dt_tensor *> self, const T &...options) {
    return dt_bool_sized(self, dt::named<dt_bool_options>(self.site, options...).get(), sizeof(dt_bool_options));
}
template <class... T> dt_tensor *dt_broadcast_to(dt::at<dt_tensor *> self, dt_shape size, const T &...options) {
    return dt_broadcast_to_sized(self, size, dt::named<dt_broadcast_to_options>(self.site, options...).get(),
                                 sizeof(dt_broadcast_to_options));
}
template <class... T> dt_tensor *dt_bucketize(dt::at<dt_tensor *> self, dt_tensor *boundaries, const T &...options) {
    return dt_bucketize_sized(self, boundaries, dt::named<dt_bucketize_options>(self.site, options...).get(),
                              sizeof(dt_bucketize_options));
}
template <class... T>
dt_tensor *dt_bucketize_scalar(dt::at<dt_number> self, dt_tensor *boundaries, const T &...options) {
    return dt_bucketize_scalar_sized(self, boundaries,
                                     dt::named<dt_bucketize_scalar_options>(self.site, options...).get(),
                                     sizeof(dt_bucketize_scalar_options));
}
template <class... T> dt_tensor *dt_byte(dt::at<dt_tensor *> self, const T &...options) {
    return dt_byte_sized(self, dt::named<dt_byte_options>(self.site, options...).get(), sizeof(dt_byte_options));
}
template <class... T> dt_tensor *dt_cat(dt::at<dt_tensors> tensors, const T &...options) {
    return dt_cat_sized(tensors, dt::named<dt_cat_options>(tensors.site, options...).get(), sizeof(dt_cat_options));
}
template <class... T> dt_tensor *dt_cdouble(dt::at<dt_tensor *> self, const T &...options) {
    return dt_cdouble_sized(self, dt::named<dt_cdouble_options>(self.site, options...).get(),
                            sizeof(dt_cdouble_options));
}
template <class... T> dt_tensor *dt_ceil(dt::at<dt_tensor *> self, const T &...options) {
    return dt_ceil_sized(self, dt::named<dt_ceil_options>(self.site, options...).get(), sizeof(dt_ceil_options));
}
template <class... T> dt_tensor *dt_ceil_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_ceil_in_place_sized(self, dt::named<dt_ceil_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_ceil_in_place_options));
}
template <class... T> dt_tensor *dt_celu(dt::at<dt_tensor *> input, const T &...options) {
    return dt_celu_sized(input, dt::named<dt_celu_options>(input.site, options...).get(), sizeof(dt_celu_options));
}
template <class... T> dt_tensor *dt_celu_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_celu_in_place_sized(input, dt::named<dt_celu_in_place_options>(input.site, options...).get(),
                                  sizeof(dt_celu_in_place_options));
}
template <class... T> dt_tensor *dt_cfloat(dt::at<dt_tensor *> self, const T &...options) {
    return dt_cfloat_sized(self, dt::named<dt_cfloat_options>(self.site, options...).get(),
                           sizeof(dt_cfloat_options));
}
template <class... T> dt_tensor *dt_char(dt::at<dt_tensor *> self, const T &...options) {
    return dt_char_sized(self, dt::named<dt_char_options>(self.site, options...).get(), sizeof(dt_char_options));
}
template <class... T> dt_tensor *dt_cholesky(dt::at<dt_tensor *> self, const T &...options) {
    return dt_cholesky_sized(self, dt::named<dt_cholesky_options>(self.site, options...).get(),
                             sizeof(dt_cholesky_options));
}
template <class... T> dt_tensor *dt_cholesky_inverse(dt::at<dt_tensor *> self, const T &...options) {
    return dt_cholesky_inverse_sized(self, dt::named<dt_cholesky_inverse_options>(self.site, options...).get(),
                                     sizeof(dt_cholesky_inverse_options));
}
template <class... T> dt_tensor *dt_cholesky_solve(dt::at<dt_tensor *> self, dt_tensor *input2, const T &...options) {
    return dt_cholesky_solve_sized(self, input2, dt::named<dt_cholesky_solve_options>(self.site, options...).get(),
                                   sizeof(dt_cholesky_solve_options));
}
template <class... T>
int dt_chunk(dt::at<dt_tensor *> self, int64_t chunks, dt_tensor **out, int capacity, const T &...options) {
    return dt_chunk_sized(self, chunks, out, capacity, dt::named<dt_chunk_options>(self.site, options...).get(),
                          sizeof(dt_chunk_options));
}
template <class... T> dt_tensor *dt_clamp(dt::at<dt_tensor *> self, const T &...options) {
    return dt_clamp_sized(self, dt::named<dt_clamp_options>(self.site, options...).get(), sizeof(dt_clamp_options));
}
template <class... T> dt_tensor *dt_clamp_tensor(dt::at<dt_tensor *> self, const T &...options) {
    return dt_clamp_tensor_sized(self, dt::named<dt_clamp_tensor_options>(self.site, options...).get(),
                                 sizeof(dt_clamp_tensor_options));
}
template <class... T> dt_tensor *dt_clamp_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_clamp_in_place_sized(self, dt::named<dt_clamp_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_clamp_in_place_options));
}
template <class... T> dt_tensor *dt_clamp_tensor_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_clamp_tensor_in_place_sized(self,
                                          dt::named<dt_clamp_tensor_in_place_options>(self.site, options...).get(),
                                          sizeof(dt_clamp_tensor_in_place_options));
}
template <class... T> dt_tensor *dt_clamp_max(dt::at<dt_tensor *> self, dt::number max, const T &...options) {
    return dt_clamp_max_sized(self, max, dt::named<dt_clamp_max_options>(self.site, options...).get(),
                              sizeof(dt_clamp_max_options));
}
template <class... T> dt_tensor *dt_clamp_max_tensor(dt::at<dt_tensor *> self, dt_tensor *max, const T &...options) {
    return dt_clamp_max_tensor_sized(self, max, dt::named<dt_clamp_max_tensor_options>(self.site, options...).get(),
                                     sizeof(dt_clamp_max_tensor_options));
}
template <class... T> dt_tensor *dt_clamp_max_(dt::at<dt_tensor *> self, dt::number max, const T &...options) {
    return dt_clamp_max_in_place_sized(self, max,
                                       dt::named<dt_clamp_max_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_clamp_max_in_place_options));
}
template <class... T> dt_tensor *dt_clamp_max_tensor_(dt::at<dt_tensor *> self, dt_tensor *max, const T &...options) {
    return dt_clamp_max_tensor_in_place_sized(
        self, max, dt::named<dt_clamp_max_tensor_in_place_options>(self.site, options...).get(),
        sizeof(dt_clamp_max_tensor_in_place_options));
}
template <class... T> dt_tensor *dt_clamp_min(dt::at<dt_tensor *> self, dt::number min, const T &...options) {
    return dt_clamp_min_sized(self, min, dt::named<dt_clamp_min_options>(self.site, options...).get(),
                              sizeof(dt_clamp_min_options));
}
template <class... T> dt_tensor *dt_clamp_min_tensor(dt::at<dt_tensor *> self, dt_tensor *min, const T &...options) {
    return dt_clamp_min_tensor_sized(self, min, dt::named<dt_clamp_min_tensor_options>(self.site, options...).get(),
                                     sizeof(dt_clamp_min_tensor_options));
}
template <class... T> dt_tensor *dt_clamp_min_(dt::at<dt_tensor *> self, dt::number min, const T &...options) {
    return dt_clamp_min_in_place_sized(self, min,
                                       dt::named<dt_clamp_min_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_clamp_min_in_place_options));
}
template <class... T> dt_tensor *dt_clamp_min_tensor_(dt::at<dt_tensor *> self, dt_tensor *min, const T &...options) {
    return dt_clamp_min_tensor_in_place_sized(
        self, min, dt::named<dt_clamp_min_tensor_in_place_options>(self.site, options...).get(),
        sizeof(dt_clamp_min_tensor_in_place_options));
}
template <class... T> dt_tensor *dt_class_total(dt::at<dt_tensor *> target, const T &...options) {
    return dt_class_total_sized(target, dt::named<dt_class_total_options>(target.site, options...).get(),
                                sizeof(dt_class_total_options));
}
template <class... T> dt_tensor *dt_clone(dt::at<dt_tensor *> self, const T &...options) {
    return dt_clone_sized(self, dt::named<dt_clone_options>(self.site, options...).get(), sizeof(dt_clone_options));
}
template <class... T> dt_tensor *dt_conj(dt::at<dt_tensor *> self, const T &...options) {
    return dt_conj_sized(self, dt::named<dt_conj_options>(self.site, options...).get(), sizeof(dt_conj_options));
}
template <class... T> dt_tensor *dt_constant_pad_nd(dt::at<dt_tensor *> self, dt_ints pad, const T &...options) {
    return dt_constant_pad_nd_sized(self, pad, dt::named<dt_constant_pad_nd_options>(self.site, options...).get(),
                                    sizeof(dt_constant_pad_nd_options));
}
template <class... T> dt_tensor *dt_contiguous(dt::at<dt_tensor *> self, const T &...options) {
    return dt_contiguous_sized(self, dt::named<dt_contiguous_options>(self.site, options...).get(),
                               sizeof(dt_contiguous_options));
}
template <class... T> dt_tensor *dt_conv1d(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_conv1d_sized(input, weight, dt::named<dt_conv1d_options>(input.site, options...).get(),
                           sizeof(dt_conv1d_options));
}
template <class... T>
dt_tensor *dt_conv1d_padding(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_conv1d_padding_sized(input, weight, dt::named<dt_conv1d_padding_options>(input.site, options...).get(),
                                   sizeof(dt_conv1d_padding_options));
}
template <class... T> dt_tensor *dt_conv2d(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_conv2d_sized(input, weight, dt::named<dt_conv2d_options>(input.site, options...).get(),
                           sizeof(dt_conv2d_options));
}
template <class... T>
dt_tensor *dt_conv2d_padding(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_conv2d_padding_sized(input, weight, dt::named<dt_conv2d_padding_options>(input.site, options...).get(),
                                   sizeof(dt_conv2d_padding_options));
}
template <class... T> dt_tensor *dt_conv3d(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_conv3d_sized(input, weight, dt::named<dt_conv3d_options>(input.site, options...).get(),
                           sizeof(dt_conv3d_options));
}
template <class... T>
dt_tensor *dt_conv3d_padding(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_conv3d_padding_sized(input, weight, dt::named<dt_conv3d_padding_options>(input.site, options...).get(),
                                   sizeof(dt_conv3d_padding_options));
}
template <class... T>
dt_tensor *dt_conv_forward(dt::at<dt_tensor *> input, dt_tensor *weight, dt_shape sizes, const T &...options) {
    return dt_conv_forward_sized(input, weight, sizes,
                                 dt::named<dt_conv_forward_options>(input.site, options...).get(),
                                 sizeof(dt_conv_forward_options));
}
template <class... T>
dt_tensor *dt_conv_input_backward(dt::at<dt_tensor *> grad_output, dt_tensor *weight, dt_shape sizes,
                                  const T &...options) {
    return dt_conv_input_backward_sized(grad_output, weight, sizes,
                                        dt::named<dt_conv_input_backward_options>(grad_output.site, options...).get(),
                                        sizeof(dt_conv_input_backward_options));
}
template <class... T>
dt_tensor *dt_conv_transpose1d(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_conv_transpose1d_sized(input, weight,
                                     dt::named<dt_conv_transpose1d_options>(input.site, options...).get(),
                                     sizeof(dt_conv_transpose1d_options));
}
template <class... T>
dt_tensor *dt_conv_transpose2d(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_conv_transpose2d_sized(input, weight,
                                     dt::named<dt_conv_transpose2d_options>(input.site, options...).get(),
                                     sizeof(dt_conv_transpose2d_options));
}
template <class... T>
dt_tensor *dt_conv_transpose3d(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_conv_transpose3d_sized(input, weight,
                                     dt::named<dt_conv_transpose3d_options>(input.site, options...).get(),
                                     sizeof(dt_conv_transpose3d_options));
}
template <class... T>
dt_tensor *dt_conv_weight_backward(dt::at<dt_tensor *> input, dt_tensor *grad_output, dt_shape sizes,
                                   const T &...options) {
    return dt_conv_weight_backward_sized(input, grad_output, sizes,
                                         dt::named<dt_conv_weight_backward_options>(input.site, options...).get(),
                                         sizeof(dt_conv_weight_backward_options));
}
template <class... T>
dt_tensor *dt_convolution(dt::at<dt_tensor *> input, dt_tensor *weight, dt_ints stride, dt_ints padding,
                          dt_ints dilation, bool transposed, dt_ints output_padding, int64_t groups,
                          const T &...options) {
    return dt_convolution_sized(input, weight, stride, padding, dilation, transposed, output_padding, groups,
                                dt::named<dt_convolution_options>(input.site, options...).get(),
                                sizeof(dt_convolution_options));
}
template <class... T> dt_tensor *dt_copy_(dt::at<dt_tensor *> self, dt_tensor *src, const T &...options) {
    return dt_copy_in_place_sized(self, src, dt::named<dt_copy_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_copy_in_place_options));
}
template <class... T> dt_tensor *dt_cos(dt::at<dt_tensor *> self, const T &...options) {
    return dt_cos_sized(self, dt::named<dt_cos_options>(self.site, options...).get(), sizeof(dt_cos_options));
}
template <class... T> dt_tensor *dt_cos_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_cos_in_place_sized(self, dt::named<dt_cos_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_cos_in_place_options));
}
template <class... T> dt_tensor *dt_cosh(dt::at<dt_tensor *> self, const T &...options) {
    return dt_cosh_sized(self, dt::named<dt_cosh_options>(self.site, options...).get(), sizeof(dt_cosh_options));
}
template <class... T> dt_tensor *dt_cosh_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_cosh_in_place_sized(self, dt::named<dt_cosh_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_cosh_in_place_options));
}
template <class... T> dt_tensor *dt_cosine_similarity(dt::at<dt_tensor *> x1, dt_tensor *x2, const T &...options) {
    return dt_cosine_similarity_sized(x1, x2, dt::named<dt_cosine_similarity_options>(x1.site, options...).get(),
                                      sizeof(dt_cosine_similarity_options));
}
template <class... T> dt_tensor *dt_count_nonzero(dt::at<dt_tensor *> self, const T &...options) {
    return dt_count_nonzero_sized(self, dt::named<dt_count_nonzero_options>(self.site, options...).get(),
                                  sizeof(dt_count_nonzero_options));
}
template <class... T> dt_tensor *dt_count_nonzero_dims(dt::at<dt_tensor *> self, dt_dims dim, const T &...options) {
    return dt_count_nonzero_dims_sized(self, dim,
                                       dt::named<dt_count_nonzero_dims_options>(self.site, options...).get(),
                                       sizeof(dt_count_nonzero_dims_options));
}
template <class... T> dt_tensor *dt_cross(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_cross_sized(self, other, dt::named<dt_cross_options>(self.site, options...).get(),
                          sizeof(dt_cross_options));
}
template <class... T> dt_tensor *dt_cross_entropy(dt::at<dt_tensor *> input, dt_tensor *target, const T &...options) {
    return dt_cross_entropy_sized(input, target, dt::named<dt_cross_entropy_options>(input.site, options...).get(),
                                  sizeof(dt_cross_entropy_options));
}
template <class... T>
dt_tensor *dt_cross_entropy_backward(dt::at<dt_tensor *> grad, dt_tensor *input, dt_tensor *target,
                                     dt_tensor *logsumexp, dt_tensor *total, const T &...options) {
    return dt_cross_entropy_backward_sized(grad, input, target, logsumexp, total,
                                           dt::named<dt_cross_entropy_backward_options>(grad.site, options...).get(),
                                           sizeof(dt_cross_entropy_backward_options));
}
template <class... T> dt_cummax_result dt_cummax(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_cummax_sized(self, dim, dt::named<dt_cummax_options>(self.site, options...).get(),
                           sizeof(dt_cummax_options));
}
template <class... T> dt_cummin_result dt_cummin(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_cummin_sized(self, dim, dt::named<dt_cummin_options>(self.site, options...).get(),
                           sizeof(dt_cummin_options));
}
template <class... T> dt_tensor *dt_cumprod(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_cumprod_sized(self, dim, dt::named<dt_cumprod_options>(self.site, options...).get(),
                            sizeof(dt_cumprod_options));
}
template <class... T> dt_tensor *dt_cumsum(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_cumsum_sized(self, dim, dt::named<dt_cumsum_options>(self.site, options...).get(),
                           sizeof(dt_cumsum_options));
}
template <class... T> dt_tensor *dt_cumsum_(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_cumsum_in_place_sized(self, dim, dt::named<dt_cumsum_in_place_options>(self.site, options...).get(),
                                    sizeof(dt_cumsum_in_place_options));
}
template <class... T> dt_tensor *dt_diag(dt::at<dt_tensor *> self, const T &...options) {
    return dt_diag_sized(self, dt::named<dt_diag_options>(self.site, options...).get(), sizeof(dt_diag_options));
}
template <class... T> dt_tensor *dt_diag_embed(dt::at<dt_tensor *> self, const T &...options) {
    return dt_diag_embed_sized(self, dt::named<dt_diag_embed_options>(self.site, options...).get(),
                               sizeof(dt_diag_embed_options));
}
template <class... T>
dt_tensor *dt_diagonal(dt::at<dt_tensor *> self, int64_t offset, int64_t dim1, int64_t dim2, const T &...options) {
    return dt_diagonal_sized(self, offset, dim1, dim2, dt::named<dt_diagonal_options>(self.site, options...).get(),
                             sizeof(dt_diagonal_options));
}
template <class... T>
dt_tensor *dt_diagonal_backward(dt::at<dt_tensor *> grad_output, dt_shape input_sizes, int64_t offset, int64_t dim1,
                                int64_t dim2, const T &...options) {
    return dt_diagonal_backward_sized(grad_output, input_sizes, offset, dim1, dim2,
                                      dt::named<dt_diagonal_backward_options>(grad_output.site, options...).get(),
                                      sizeof(dt_diagonal_backward_options));
}
template <class... T>
dt_tensor *dt_diagonal_scatter(dt::at<dt_tensor *> self, dt_tensor *src, int64_t offset, int64_t dim1, int64_t dim2,
                               const T &...options) {
    return dt_diagonal_scatter_sized(self, src, offset, dim1, dim2,
                                     dt::named<dt_diagonal_scatter_options>(self.site, options...).get(),
                                     sizeof(dt_diagonal_scatter_options));
}
template <class... T> dt_tensor *dt_diff(dt::at<dt_tensor *> self, const T &...options) {
    return dt_diff_sized(self, dt::named<dt_diff_options>(self.site, options...).get(), sizeof(dt_diff_options));
}
template <class... T> dt_tensor *dt_div(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_div_sized(self, other, dt::named<dt_div_options>(self.site, options...).get(), sizeof(dt_div_options));
}
template <class... T> dt_tensor *dt_div_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_div_scalar_sized(self, other, dt::named<dt_div_scalar_options>(self.site, options...).get(),
                               sizeof(dt_div_scalar_options));
}
template <class... T> dt_tensor *dt_div_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_div_in_place_sized(self, other, dt::named<dt_div_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_div_in_place_options));
}
template <class... T> dt_tensor *dt_div_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_div_scalar_in_place_sized(self, other,
                                        dt::named<dt_div_scalar_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_div_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_dot(dt::at<dt_tensor *> self, dt_tensor *tensor, const T &...options) {
    return dt_dot_sized(self, tensor, dt::named<dt_dot_options>(self.site, options...).get(), sizeof(dt_dot_options));
}
template <class... T> dt_tensor *dt_double(dt::at<dt_tensor *> self, const T &...options) {
    return dt_double_sized(self, dt::named<dt_double_options>(self.site, options...).get(),
                           sizeof(dt_double_options));
}
template <class... T> dt_tensor *dt_dropout(dt::at<dt_tensor *> input, const T &...options) {
    return dt_dropout_sized(input, dt::named<dt_dropout_options>(input.site, options...).get(),
                            sizeof(dt_dropout_options));
}
template <class... T> dt_tensor *dt_einsum(dt::at<const char *> equation, dt_tensors tensors, const T &...options) {
    return dt_einsum_sized(equation, tensors, dt::named<dt_einsum_options>(equation.site, options...).get(),
                           sizeof(dt_einsum_options));
}
template <class... T> dt_tensor *dt_elu(dt::at<dt_tensor *> input, const T &...options) {
    return dt_elu_sized(input, dt::named<dt_elu_options>(input.site, options...).get(), sizeof(dt_elu_options));
}
template <class... T> dt_tensor *dt_elu_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_elu_in_place_sized(input, dt::named<dt_elu_in_place_options>(input.site, options...).get(),
                                 sizeof(dt_elu_in_place_options));
}
template <class... T> dt_tensor *dt_embedding(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_embedding_sized(input, weight, dt::named<dt_embedding_options>(input.site, options...).get(),
                              sizeof(dt_embedding_options));
}
template <class... T>
dt_tensor *dt_embedding_dense_backward(dt::at<dt_tensor *> grad_output, dt_tensor *indices, int64_t num_weights,
                                       const T &...options) {
    return dt_embedding_dense_backward_sized(
        grad_output, indices, num_weights,
        dt::named<dt_embedding_dense_backward_options>(grad_output.site, options...).get(),
        sizeof(dt_embedding_dense_backward_options));
}
template <class... T> dt_tensor *dt_empty(dt::at<dt_ctx *> ctx, dt_shape size, const T &...options) {
    return dt_empty_sized(ctx, size, dt::named<dt_make_options>(ctx.site, options...).get(), sizeof(dt_make_options));
}
template <class... T> dt_tensor *dt_empty_like(dt::at<dt_tensor *> self, const T &...options) {
    return dt_empty_like_sized(self, dt::named<dt_empty_like_options>(self.site, options...).get(),
                               sizeof(dt_empty_like_options));
}
template <class... T> dt_tensor *dt_eq(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_eq_sized(self, other, dt::named<dt_eq_options>(self.site, options...).get(), sizeof(dt_eq_options));
}
template <class... T> dt_tensor *dt_eq_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_eq_scalar_sized(self, other, dt::named<dt_eq_scalar_options>(self.site, options...).get(),
                              sizeof(dt_eq_scalar_options));
}
template <class... T> dt_tensor *dt_eq_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_eq_in_place_sized(self, other, dt::named<dt_eq_in_place_options>(self.site, options...).get(),
                                sizeof(dt_eq_in_place_options));
}
template <class... T> dt_tensor *dt_eq_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_eq_scalar_in_place_sized(self, other,
                                       dt::named<dt_eq_scalar_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_eq_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_equal(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_equal_sized(self, other, dt::named<dt_equal_options>(self.site, options...).get(),
                          sizeof(dt_equal_options));
}
template <class... T> dt_tensor *dt_erf(dt::at<dt_tensor *> self, const T &...options) {
    return dt_erf_sized(self, dt::named<dt_erf_options>(self.site, options...).get(), sizeof(dt_erf_options));
}
template <class... T> dt_tensor *dt_erf_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_erf_in_place_sized(self, dt::named<dt_erf_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_erf_in_place_options));
}
template <class... T> dt_tensor *dt_erfc(dt::at<dt_tensor *> self, const T &...options) {
    return dt_erfc_sized(self, dt::named<dt_erfc_options>(self.site, options...).get(), sizeof(dt_erfc_options));
}
template <class... T> dt_tensor *dt_erfc_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_erfc_in_place_sized(self, dt::named<dt_erfc_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_erfc_in_place_options));
}
template <class... T> dt_tensor *dt_exp(dt::at<dt_tensor *> self, const T &...options) {
    return dt_exp_sized(self, dt::named<dt_exp_options>(self.site, options...).get(), sizeof(dt_exp_options));
}
template <class... T> dt_tensor *dt_exp2(dt::at<dt_tensor *> self, const T &...options) {
    return dt_exp2_sized(self, dt::named<dt_exp2_options>(self.site, options...).get(), sizeof(dt_exp2_options));
}
template <class... T> dt_tensor *dt_exp2_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_exp2_in_place_sized(self, dt::named<dt_exp2_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_exp2_in_place_options));
}
template <class... T> dt_tensor *dt_exp_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_exp_in_place_sized(self, dt::named<dt_exp_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_exp_in_place_options));
}
template <class... T> dt_tensor *dt_expand(dt::at<dt_tensor *> self, dt_shape size, const T &...options) {
    return dt_expand_sized(self, size, dt::named<dt_expand_options>(self.site, options...).get(),
                           sizeof(dt_expand_options));
}
template <class... T> dt_tensor *dt_expand_as(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_expand_as_sized(self, other, dt::named<dt_expand_as_options>(self.site, options...).get(),
                              sizeof(dt_expand_as_options));
}
template <class... T> dt_tensor *dt_expm1(dt::at<dt_tensor *> self, const T &...options) {
    return dt_expm1_sized(self, dt::named<dt_expm1_options>(self.site, options...).get(), sizeof(dt_expm1_options));
}
template <class... T> dt_tensor *dt_expm1_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_expm1_in_place_sized(self, dt::named<dt_expm1_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_expm1_in_place_options));
}
template <class... T> dt_tensor *dt_eye(dt::at<dt_ctx *> ctx, int64_t n, int64_t m, const T &...options) {
    return dt_eye_sized(ctx, n, m, dt::named<dt_make_options>(ctx.site, options...).get(), sizeof(dt_make_options));
}
template <class... T> dt_tensor *dt_fill(dt::at<dt_tensor *> self, dt::number value, const T &...options) {
    return dt_fill_sized(self, value, dt::named<dt_fill_options>(self.site, options...).get(),
                         sizeof(dt_fill_options));
}
template <class... T> dt_tensor *dt_fill_tensor(dt::at<dt_tensor *> self, dt_tensor *value, const T &...options) {
    return dt_fill_tensor_sized(self, value, dt::named<dt_fill_tensor_options>(self.site, options...).get(),
                                sizeof(dt_fill_tensor_options));
}
template <class... T> dt_tensor *dt_fill_(dt::at<dt_tensor *> self, dt::number value, const T &...options) {
    return dt_fill_in_place_sized(self, value, dt::named<dt_fill_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_fill_in_place_options));
}
template <class... T> dt_tensor *dt_fill_tensor_(dt::at<dt_tensor *> self, dt_tensor *value, const T &...options) {
    return dt_fill_tensor_in_place_sized(self, value,
                                         dt::named<dt_fill_tensor_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_fill_tensor_in_place_options));
}
template <class... T> dt_tensor *dt_flatten(dt::at<dt_tensor *> self, const T &...options) {
    return dt_flatten_sized(self, dt::named<dt_flatten_options>(self.site, options...).get(),
                            sizeof(dt_flatten_options));
}
template <class... T> dt_tensor *dt_flip(dt::at<dt_tensor *> self, dt_dims dims, const T &...options) {
    return dt_flip_sized(self, dims, dt::named<dt_flip_options>(self.site, options...).get(),
                         sizeof(dt_flip_options));
}
template <class... T> dt_tensor *dt_float(dt::at<dt_tensor *> self, const T &...options) {
    return dt_float_sized(self, dt::named<dt_float_options>(self.site, options...).get(), sizeof(dt_float_options));
}
template <class... T> dt_tensor *dt_floor(dt::at<dt_tensor *> self, const T &...options) {
    return dt_floor_sized(self, dt::named<dt_floor_options>(self.site, options...).get(), sizeof(dt_floor_options));
}
template <class... T> dt_tensor *dt_floor_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_floor_in_place_sized(self, dt::named<dt_floor_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_floor_in_place_options));
}
template <class... T> dt_tensor *dt_floor_divide(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_floor_divide_sized(self, other, dt::named<dt_floor_divide_options>(self.site, options...).get(),
                                 sizeof(dt_floor_divide_options));
}
template <class... T>
dt_tensor *dt_floor_divide_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_floor_divide_scalar_sized(self, other,
                                        dt::named<dt_floor_divide_scalar_options>(self.site, options...).get(),
                                        sizeof(dt_floor_divide_scalar_options));
}
template <class... T> dt_tensor *dt_floor_divide_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_floor_divide_in_place_sized(self, other,
                                          dt::named<dt_floor_divide_in_place_options>(self.site, options...).get(),
                                          sizeof(dt_floor_divide_in_place_options));
}
template <class... T>
dt_tensor *dt_floor_divide_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_floor_divide_scalar_in_place_sized(
        self, other, dt::named<dt_floor_divide_scalar_in_place_options>(self.site, options...).get(),
        sizeof(dt_floor_divide_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_fmax(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_fmax_sized(self, other, dt::named<dt_fmax_options>(self.site, options...).get(),
                         sizeof(dt_fmax_options));
}
template <class... T> dt_tensor *dt_fmin(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_fmin_sized(self, other, dt::named<dt_fmin_options>(self.site, options...).get(),
                         sizeof(dt_fmin_options));
}
template <class... T> dt_tensor *dt_fmod(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_fmod_sized(self, other, dt::named<dt_fmod_options>(self.site, options...).get(),
                         sizeof(dt_fmod_options));
}
template <class... T> dt_tensor *dt_fmod_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_fmod_scalar_sized(self, other, dt::named<dt_fmod_scalar_options>(self.site, options...).get(),
                                sizeof(dt_fmod_scalar_options));
}
template <class... T> dt_tensor *dt_fmod_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_fmod_in_place_sized(self, other, dt::named<dt_fmod_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_fmod_in_place_options));
}
template <class... T> dt_tensor *dt_fmod_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_fmod_scalar_in_place_sized(self, other,
                                         dt::named<dt_fmod_scalar_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_fmod_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_frac(dt::at<dt_tensor *> self, const T &...options) {
    return dt_frac_sized(self, dt::named<dt_frac_options>(self.site, options...).get(), sizeof(dt_frac_options));
}
template <class... T> dt_tensor *dt_frac_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_frac_in_place_sized(self, dt::named<dt_frac_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_frac_in_place_options));
}
template <class... T>
dt_tensor *dt_full(dt::at<dt_ctx *> ctx, dt_shape size, dt::number fill_value, const T &...options) {
    return dt_full_sized(ctx, size, fill_value, dt::named<dt_make_options>(ctx.site, options...).get(),
                         sizeof(dt_make_options));
}
template <class... T> dt_tensor *dt_full_like(dt::at<dt_tensor *> self, dt::number fill_value, const T &...options) {
    return dt_full_like_sized(self, fill_value, dt::named<dt_full_like_options>(self.site, options...).get(),
                              sizeof(dt_full_like_options));
}
template <class... T>
dt_tensor *dt_gather(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, const T &...options) {
    return dt_gather_sized(self, dim, index, dt::named<dt_gather_options>(self.site, options...).get(),
                           sizeof(dt_gather_options));
}
template <class... T>
dt_tensor *dt_gather_backward(dt::at<dt_tensor *> grad, dt_tensor *index, dt_shape sizes, int64_t dim,
                              const T &...options) {
    return dt_gather_backward_sized(grad, index, sizes, dim,
                                    dt::named<dt_gather_backward_options>(grad.site, options...).get(),
                                    sizeof(dt_gather_backward_options));
}
template <class... T> dt_tensor *dt_ge(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_ge_sized(self, other, dt::named<dt_ge_options>(self.site, options...).get(), sizeof(dt_ge_options));
}
template <class... T> dt_tensor *dt_ge_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_ge_scalar_sized(self, other, dt::named<dt_ge_scalar_options>(self.site, options...).get(),
                              sizeof(dt_ge_scalar_options));
}
template <class... T> dt_tensor *dt_ge_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_ge_in_place_sized(self, other, dt::named<dt_ge_in_place_options>(self.site, options...).get(),
                                sizeof(dt_ge_in_place_options));
}
template <class... T> dt_tensor *dt_ge_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_ge_scalar_in_place_sized(self, other,
                                       dt::named<dt_ge_scalar_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_ge_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_gelu(dt::at<dt_tensor *> self, const T &...options) {
    return dt_gelu_sized(self, dt::named<dt_gelu_options>(self.site, options...).get(), sizeof(dt_gelu_options));
}
template <class... T>
dt_tensor *dt_gelu_backward(dt::at<dt_tensor *> grad_output, dt_tensor *self, const T &...options) {
    return dt_gelu_backward_sized(grad_output, self,
                                  dt::named<dt_gelu_backward_options>(grad_output.site, options...).get(),
                                  sizeof(dt_gelu_backward_options));
}
template <class... T> dt_geqrf_result dt_geqrf(dt::at<dt_tensor *> self, const T &...options) {
    return dt_geqrf_sized(self, dt::named<dt_geqrf_options>(self.site, options...).get(), sizeof(dt_geqrf_options));
}
template <class... T> dt_tensor *dt_glu(dt::at<dt_tensor *> input, const T &...options) {
    return dt_glu_sized(input, dt::named<dt_glu_options>(input.site, options...).get(), sizeof(dt_glu_options));
}
template <class... T> dt_tensor *dt_group_norm(dt::at<dt_tensor *> input, int64_t num_groups, const T &...options) {
    return dt_group_norm_sized(input, num_groups, dt::named<dt_group_norm_options>(input.site, options...).get(),
                               sizeof(dt_group_norm_options));
}
template <class... T> dt_tensor *dt_gt(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_gt_sized(self, other, dt::named<dt_gt_options>(self.site, options...).get(), sizeof(dt_gt_options));
}
template <class... T> dt_tensor *dt_gt_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_gt_scalar_sized(self, other, dt::named<dt_gt_scalar_options>(self.site, options...).get(),
                              sizeof(dt_gt_scalar_options));
}
template <class... T> dt_tensor *dt_gt_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_gt_in_place_sized(self, other, dt::named<dt_gt_in_place_options>(self.site, options...).get(),
                                sizeof(dt_gt_in_place_options));
}
template <class... T> dt_tensor *dt_gt_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_gt_scalar_in_place_sized(self, other,
                                       dt::named<dt_gt_scalar_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_gt_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_half(dt::at<dt_tensor *> self, const T &...options) {
    return dt_half_sized(self, dt::named<dt_half_options>(self.site, options...).get(), sizeof(dt_half_options));
}
template <class... T> dt_tensor *dt_hardshrink(dt::at<dt_tensor *> self, const T &...options) {
    return dt_hardshrink_sized(self, dt::named<dt_hardshrink_options>(self.site, options...).get(),
                               sizeof(dt_hardshrink_options));
}
template <class... T> dt_tensor *dt_hardsigmoid(dt::at<dt_tensor *> input, const T &...options) {
    return dt_hardsigmoid_sized(input, dt::named<dt_hardsigmoid_options>(input.site, options...).get(),
                                sizeof(dt_hardsigmoid_options));
}
template <class... T> dt_tensor *dt_hardsigmoid_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_hardsigmoid_in_place_sized(input,
                                         dt::named<dt_hardsigmoid_in_place_options>(input.site, options...).get(),
                                         sizeof(dt_hardsigmoid_in_place_options));
}
template <class... T> dt_tensor *dt_hardswish(dt::at<dt_tensor *> input, const T &...options) {
    return dt_hardswish_sized(input, dt::named<dt_hardswish_options>(input.site, options...).get(),
                              sizeof(dt_hardswish_options));
}
template <class... T> dt_tensor *dt_hardswish_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_hardswish_in_place_sized(input, dt::named<dt_hardswish_in_place_options>(input.site, options...).get(),
                                       sizeof(dt_hardswish_in_place_options));
}
template <class... T> dt_tensor *dt_hardtanh(dt::at<dt_tensor *> input, const T &...options) {
    return dt_hardtanh_sized(input, dt::named<dt_hardtanh_options>(input.site, options...).get(),
                             sizeof(dt_hardtanh_options));
}
template <class... T> dt_tensor *dt_hardtanh_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_hardtanh_in_place_sized(input, dt::named<dt_hardtanh_in_place_options>(input.site, options...).get(),
                                      sizeof(dt_hardtanh_in_place_options));
}
template <class... T>
dt_tensor *dt_histc(dt::at<dt_tensor *> self, int64_t bins, dt::number min, dt::number max, const T &...options) {
    return dt_histc_sized(self, bins, min, max, dt::named<dt_histc_options>(self.site, options...).get(),
                          sizeof(dt_histc_options));
}
template <class... T>
dt_tensor *dt_histc_tensor(dt::at<dt_tensor *> self, dt_tensor *min, dt_tensor *max, int64_t bins,
                           const T &...options) {
    return dt_histc_tensor_sized(self, min, max, bins,
                                 dt::named<dt_histc_tensor_options>(self.site, options...).get(),
                                 sizeof(dt_histc_tensor_options));
}
template <class... T> dt_tensor *dt_hstack(dt::at<dt_tensors> tensors, const T &...options) {
    return dt_hstack_sized(tensors, dt::named<dt_hstack_options>(tensors.site, options...).get(),
                           sizeof(dt_hstack_options));
}
template <class... T> dt_tensor *dt_huber_loss(dt::at<dt_tensor *> input, dt_tensor *target, const T &...options) {
    return dt_huber_loss_sized(input, target, dt::named<dt_huber_loss_options>(input.site, options...).get(),
                               sizeof(dt_huber_loss_options));
}
template <class... T> dt_tensor *dt_index(dt::at<dt_tensor *> self, dt_tensors indices, const T &...options) {
    return dt_index_sized(self, indices, dt::named<dt_index_options>(self.site, options...).get(),
                          sizeof(dt_index_options));
}
template <class... T>
dt_tensor *dt_index_add(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *source,
                        const T &...options) {
    return dt_index_add_sized(self, dim, index, source, dt::named<dt_index_add_options>(self.site, options...).get(),
                              sizeof(dt_index_add_options));
}
template <class... T>
dt_tensor *dt_index_add_(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *source,
                         const T &...options) {
    return dt_index_add_in_place_sized(self, dim, index, source,
                                       dt::named<dt_index_add_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_index_add_in_place_options));
}
template <class... T>
dt_tensor *dt_index_backward(dt::at<dt_tensor *> grad, dt_tensors indices, dt_shape sizes, const T &...options) {
    return dt_index_backward_sized(grad, indices, sizes,
                                   dt::named<dt_index_backward_options>(grad.site, options...).get(),
                                   sizeof(dt_index_backward_options));
}
template <class... T>
dt_tensor *dt_index_copy(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *source,
                         const T &...options) {
    return dt_index_copy_sized(self, dim, index, source,
                               dt::named<dt_index_copy_options>(self.site, options...).get(),
                               sizeof(dt_index_copy_options));
}
template <class... T>
dt_tensor *dt_index_copy_(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *source,
                          const T &...options) {
    return dt_index_copy_in_place_sized(self, dim, index, source,
                                        dt::named<dt_index_copy_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_index_copy_in_place_options));
}
template <class... T>
dt_tensor *dt_index_fill(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt::number value,
                         const T &...options) {
    return dt_index_fill_sized(self, dim, index, value, dt::named<dt_index_fill_options>(self.site, options...).get(),
                               sizeof(dt_index_fill_options));
}
template <class... T>
dt_tensor *dt_index_fill_tensor(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *value,
                                const T &...options) {
    return dt_index_fill_tensor_sized(self, dim, index, value,
                                      dt::named<dt_index_fill_tensor_options>(self.site, options...).get(),
                                      sizeof(dt_index_fill_tensor_options));
}
template <class... T>
dt_tensor *dt_index_fill_(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt::number value,
                          const T &...options) {
    return dt_index_fill_in_place_sized(self, dim, index, value,
                                        dt::named<dt_index_fill_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_index_fill_in_place_options));
}
template <class... T>
dt_tensor *dt_index_fill_tensor_(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *value,
                                 const T &...options) {
    return dt_index_fill_tensor_in_place_sized(
        self, dim, index, value, dt::named<dt_index_fill_tensor_in_place_options>(self.site, options...).get(),
        sizeof(dt_index_fill_tensor_in_place_options));
}
template <class... T>
dt_tensor *dt_index_put(dt::at<dt_tensor *> self, dt_tensors indices, dt_tensor *values, const T &...options) {
    return dt_index_put_sized(self, indices, values, dt::named<dt_index_put_options>(self.site, options...).get(),
                              sizeof(dt_index_put_options));
}
template <class... T>
dt_tensor *dt_index_put_(dt::at<dt_tensor *> self, dt_tensors indices, dt_tensor *values, const T &...options) {
    return dt_index_put_in_place_sized(self, indices, values,
                                       dt::named<dt_index_put_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_index_put_in_place_options));
}
template <class... T>
dt_tensor *dt_index_reduce(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *source,
                           const char *reduce, const T &...options) {
    return dt_index_reduce_sized(self, dim, index, source, reduce,
                                 dt::named<dt_index_reduce_options>(self.site, options...).get(),
                                 sizeof(dt_index_reduce_options));
}
template <class... T>
dt_tensor *dt_index_reduce_(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *source,
                            const char *reduce, const T &...options) {
    return dt_index_reduce_in_place_sized(self, dim, index, source, reduce,
                                          dt::named<dt_index_reduce_in_place_options>(self.site, options...).get(),
                                          sizeof(dt_index_reduce_in_place_options));
}
template <class... T>
dt_tensor *dt_index_select(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, const T &...options) {
    return dt_index_select_sized(self, dim, index, dt::named<dt_index_select_options>(self.site, options...).get(),
                                 sizeof(dt_index_select_options));
}
template <class... T>
dt_tensor *dt_index_select_backward(dt::at<dt_tensor *> grad, dt_tensor *index, dt_shape self_sizes, int64_t dim,
                                    const T &...options) {
    return dt_index_select_backward_sized(grad, index, self_sizes, dim,
                                          dt::named<dt_index_select_backward_options>(grad.site, options...).get(),
                                          sizeof(dt_index_select_backward_options));
}
template <class... T> dt_tensor *dt_inner(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_inner_sized(self, other, dt::named<dt_inner_options>(self.site, options...).get(),
                          sizeof(dt_inner_options));
}
template <class... T> dt_tensor *dt_instance_norm(dt::at<dt_tensor *> input, const T &...options) {
    return dt_instance_norm_sized(input, dt::named<dt_instance_norm_options>(input.site, options...).get(),
                                  sizeof(dt_instance_norm_options));
}
template <class... T> dt_tensor *dt_int(dt::at<dt_tensor *> self, const T &...options) {
    return dt_int_sized(self, dt::named<dt_int_options>(self.site, options...).get(), sizeof(dt_int_options));
}
template <class... T> dt_tensor *dt_interpolate(dt::at<dt_tensor *> input, const T &...options) {
    return dt_interpolate_sized(input, dt::named<dt_interpolate_options>(input.site, options...).get(),
                                sizeof(dt_interpolate_options));
}
template <class... T> dt_tensor *dt_isclose(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_isclose_sized(self, other, dt::named<dt_isclose_options>(self.site, options...).get(),
                            sizeof(dt_isclose_options));
}
template <class... T> dt_tensor *dt_isfinite(dt::at<dt_tensor *> self, const T &...options) {
    return dt_isfinite_sized(self, dt::named<dt_isfinite_options>(self.site, options...).get(),
                             sizeof(dt_isfinite_options));
}
template <class... T> dt_tensor *dt_isinf(dt::at<dt_tensor *> self, const T &...options) {
    return dt_isinf_sized(self, dt::named<dt_isinf_options>(self.site, options...).get(), sizeof(dt_isinf_options));
}
template <class... T> dt_tensor *dt_isnan(dt::at<dt_tensor *> self, const T &...options) {
    return dt_isnan_sized(self, dt::named<dt_isnan_options>(self.site, options...).get(), sizeof(dt_isnan_options));
}
template <class... T> dt_tensor *dt_kl_div(dt::at<dt_tensor *> input, dt_tensor *target, const T &...options) {
    return dt_kl_div_sized(input, target, dt::named<dt_kl_div_options>(input.site, options...).get(),
                           sizeof(dt_kl_div_options));
}
template <class... T> dt_tensor *dt_kron(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_kron_sized(self, other, dt::named<dt_kron_options>(self.site, options...).get(),
                         sizeof(dt_kron_options));
}
template <class... T> dt_kthvalue_result dt_kthvalue(dt::at<dt_tensor *> self, int64_t k, const T &...options) {
    return dt_kthvalue_sized(self, k, dt::named<dt_kthvalue_options>(self.site, options...).get(),
                             sizeof(dt_kthvalue_options));
}
template <class... T> dt_tensor *dt_l1_loss(dt::at<dt_tensor *> input, dt_tensor *target, const T &...options) {
    return dt_l1_loss_sized(input, target, dt::named<dt_l1_loss_options>(input.site, options...).get(),
                            sizeof(dt_l1_loss_options));
}
template <class... T>
dt_tensor *dt_layer_norm(dt::at<dt_tensor *> input, dt_shape normalized_shape, const T &...options) {
    return dt_layer_norm_sized(input, normalized_shape,
                               dt::named<dt_layer_norm_options>(input.site, options...).get(),
                               sizeof(dt_layer_norm_options));
}
template <class... T> dt_tensor *dt_le(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_le_sized(self, other, dt::named<dt_le_options>(self.site, options...).get(), sizeof(dt_le_options));
}
template <class... T> dt_tensor *dt_le_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_le_scalar_sized(self, other, dt::named<dt_le_scalar_options>(self.site, options...).get(),
                              sizeof(dt_le_scalar_options));
}
template <class... T> dt_tensor *dt_le_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_le_in_place_sized(self, other, dt::named<dt_le_in_place_options>(self.site, options...).get(),
                                sizeof(dt_le_in_place_options));
}
template <class... T> dt_tensor *dt_le_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_le_scalar_in_place_sized(self, other,
                                       dt::named<dt_le_scalar_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_le_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_leaky_relu(dt::at<dt_tensor *> input, const T &...options) {
    return dt_leaky_relu_sized(input, dt::named<dt_leaky_relu_options>(input.site, options...).get(),
                               sizeof(dt_leaky_relu_options));
}
template <class... T> dt_tensor *dt_leaky_relu_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_leaky_relu_in_place_sized(input,
                                        dt::named<dt_leaky_relu_in_place_options>(input.site, options...).get(),
                                        sizeof(dt_leaky_relu_in_place_options));
}
template <class... T>
dt_tensor *dt_lerp(dt::at<dt_tensor *> self, dt_tensor *end, dt::number weight, const T &...options) {
    return dt_lerp_sized(self, end, weight, dt::named<dt_lerp_options>(self.site, options...).get(),
                         sizeof(dt_lerp_options));
}
template <class... T>
dt_tensor *dt_lerp_tensor(dt::at<dt_tensor *> self, dt_tensor *end, dt_tensor *weight, const T &...options) {
    return dt_lerp_tensor_sized(self, end, weight, dt::named<dt_lerp_tensor_options>(self.site, options...).get(),
                                sizeof(dt_lerp_tensor_options));
}
template <class... T>
dt_tensor *dt_lerp_(dt::at<dt_tensor *> self, dt_tensor *end, dt::number weight, const T &...options) {
    return dt_lerp_in_place_sized(self, end, weight, dt::named<dt_lerp_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_lerp_in_place_options));
}
template <class... T>
dt_tensor *dt_lerp_tensor_(dt::at<dt_tensor *> self, dt_tensor *end, dt_tensor *weight, const T &...options) {
    return dt_lerp_tensor_in_place_sized(self, end, weight,
                                         dt::named<dt_lerp_tensor_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_lerp_tensor_in_place_options));
}
template <class... T> dt_tensor *dt_linalg_cholesky(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_cholesky_sized(self, dt::named<dt_linalg_cholesky_options>(self.site, options...).get(),
                                    sizeof(dt_linalg_cholesky_options));
}
template <class... T>
dt_linalg_cholesky_ex_result dt_linalg_cholesky_ex(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_cholesky_ex_sized(self, dt::named<dt_linalg_cholesky_ex_options>(self.site, options...).get(),
                                       sizeof(dt_linalg_cholesky_ex_options));
}
template <class... T> dt_tensor *dt_linalg_cond(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_cond_sized(self, dt::named<dt_linalg_cond_options>(self.site, options...).get(),
                                sizeof(dt_linalg_cond_options));
}
template <class... T> dt_tensor *dt_linalg_cond_p_str(dt::at<dt_tensor *> self, const char *p, const T &...options) {
    return dt_linalg_cond_p_str_sized(self, p, dt::named<dt_linalg_cond_p_str_options>(self.site, options...).get(),
                                      sizeof(dt_linalg_cond_p_str_options));
}
template <class... T> dt_tensor *dt_linalg_cross(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_linalg_cross_sized(self, other, dt::named<dt_linalg_cross_options>(self.site, options...).get(),
                                 sizeof(dt_linalg_cross_options));
}
template <class... T> dt_tensor *dt_linalg_det(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_det_sized(A, dt::named<dt_linalg_det_options>(A.site, options...).get(),
                               sizeof(dt_linalg_det_options));
}
template <class... T> dt_tensor *dt_linalg_diagonal(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_diagonal_sized(A, dt::named<dt_linalg_diagonal_options>(A.site, options...).get(),
                                    sizeof(dt_linalg_diagonal_options));
}
template <class... T> dt_linalg_eig_result dt_linalg_eig(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_eig_sized(self, dt::named<dt_linalg_eig_options>(self.site, options...).get(),
                               sizeof(dt_linalg_eig_options));
}
template <class... T> dt_linalg_eigh_result dt_linalg_eigh(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_eigh_sized(self, dt::named<dt_linalg_eigh_options>(self.site, options...).get(),
                                sizeof(dt_linalg_eigh_options));
}
template <class... T> dt_tensor *dt_linalg_eigvals(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_eigvals_sized(self, dt::named<dt_linalg_eigvals_options>(self.site, options...).get(),
                                   sizeof(dt_linalg_eigvals_options));
}
template <class... T> dt_tensor *dt_linalg_eigvalsh(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_eigvalsh_sized(self, dt::named<dt_linalg_eigvalsh_options>(self.site, options...).get(),
                                    sizeof(dt_linalg_eigvalsh_options));
}
template <class... T>
dt_tensor *dt_linalg_householder_product(dt::at<dt_tensor *> input, dt_tensor *tau, const T &...options) {
    return dt_linalg_householder_product_sized(
        input, tau, dt::named<dt_linalg_householder_product_options>(input.site, options...).get(),
        sizeof(dt_linalg_householder_product_options));
}
template <class... T> dt_tensor *dt_linalg_inv(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_inv_sized(A, dt::named<dt_linalg_inv_options>(A.site, options...).get(),
                               sizeof(dt_linalg_inv_options));
}
template <class... T> dt_linalg_inv_ex_result dt_linalg_inv_ex(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_inv_ex_sized(A, dt::named<dt_linalg_inv_ex_options>(A.site, options...).get(),
                                  sizeof(dt_linalg_inv_ex_options));
}
template <class... T>
dt_linalg_ldl_factor_result dt_linalg_ldl_factor(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_ldl_factor_sized(self, dt::named<dt_linalg_ldl_factor_options>(self.site, options...).get(),
                                      sizeof(dt_linalg_ldl_factor_options));
}
template <class... T>
dt_linalg_ldl_factor_ex_result dt_linalg_ldl_factor_ex(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_ldl_factor_ex_sized(self,
                                         dt::named<dt_linalg_ldl_factor_ex_options>(self.site, options...).get(),
                                         sizeof(dt_linalg_ldl_factor_ex_options));
}
template <class... T>
dt_tensor *dt_linalg_ldl_solve(dt::at<dt_tensor *> LD, dt_tensor *pivots, dt_tensor *B, const T &...options) {
    return dt_linalg_ldl_solve_sized(LD, pivots, B, dt::named<dt_linalg_ldl_solve_options>(LD.site, options...).get(),
                                     sizeof(dt_linalg_ldl_solve_options));
}
template <class... T>
dt_linalg_lstsq_result dt_linalg_lstsq(dt::at<dt_tensor *> self, dt_tensor *b, const T &...options) {
    return dt_linalg_lstsq_sized(self, b, dt::named<dt_linalg_lstsq_options>(self.site, options...).get(),
                                 sizeof(dt_linalg_lstsq_options));
}
template <class... T> dt_linalg_lu_result dt_linalg_lu(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_lu_sized(A, dt::named<dt_linalg_lu_options>(A.site, options...).get(),
                              sizeof(dt_linalg_lu_options));
}
template <class... T> dt_linalg_lu_factor_result dt_linalg_lu_factor(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_lu_factor_sized(A, dt::named<dt_linalg_lu_factor_options>(A.site, options...).get(),
                                     sizeof(dt_linalg_lu_factor_options));
}
template <class... T>
dt_linalg_lu_factor_ex_result dt_linalg_lu_factor_ex(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_lu_factor_ex_sized(A, dt::named<dt_linalg_lu_factor_ex_options>(A.site, options...).get(),
                                        sizeof(dt_linalg_lu_factor_ex_options));
}
template <class... T>
dt_tensor *dt_linalg_lu_solve(dt::at<dt_tensor *> LU, dt_tensor *pivots, dt_tensor *B, const T &...options) {
    return dt_linalg_lu_solve_sized(LU, pivots, B, dt::named<dt_linalg_lu_solve_options>(LU.site, options...).get(),
                                    sizeof(dt_linalg_lu_solve_options));
}
template <class... T> dt_tensor *dt_linalg_matrix_exp(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_matrix_exp_sized(self, dt::named<dt_linalg_matrix_exp_options>(self.site, options...).get(),
                                      sizeof(dt_linalg_matrix_exp_options));
}
template <class... T>
dt_tensor *dt_linalg_matrix_norm(dt::at<dt_tensor *> self, dt::number ord, const T &...options) {
    return dt_linalg_matrix_norm_sized(self, ord,
                                       dt::named<dt_linalg_matrix_norm_options>(self.site, options...).get(),
                                       sizeof(dt_linalg_matrix_norm_options));
}
template <class... T> dt_tensor *dt_linalg_matrix_norm_str_ord(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_matrix_norm_str_ord_sized(
        self, dt::named<dt_linalg_matrix_norm_str_ord_options>(self.site, options...).get(),
        sizeof(dt_linalg_matrix_norm_str_ord_options));
}
template <class... T> dt_tensor *dt_linalg_matrix_power(dt::at<dt_tensor *> self, int64_t n, const T &...options) {
    return dt_linalg_matrix_power_sized(self, n,
                                        dt::named<dt_linalg_matrix_power_options>(self.site, options...).get(),
                                        sizeof(dt_linalg_matrix_power_options));
}
template <class... T> dt_tensor *dt_linalg_matrix_rank(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_matrix_rank_sized(self, dt::named<dt_linalg_matrix_rank_options>(self.site, options...).get(),
                                       sizeof(dt_linalg_matrix_rank_options));
}
template <class... T>
dt_tensor *dt_linalg_matrix_rank_tol(dt::at<dt_tensor *> self, double tol, const T &...options) {
    return dt_linalg_matrix_rank_tol_sized(self, tol,
                                           dt::named<dt_linalg_matrix_rank_tol_options>(self.site, options...).get(),
                                           sizeof(dt_linalg_matrix_rank_tol_options));
}
template <class... T>
dt_tensor *dt_linalg_matrix_rank_tol_tensor(dt::at<dt_tensor *> input, dt_tensor *tol, const T &...options) {
    return dt_linalg_matrix_rank_tol_tensor_sized(
        input, tol, dt::named<dt_linalg_matrix_rank_tol_tensor_options>(input.site, options...).get(),
        sizeof(dt_linalg_matrix_rank_tol_tensor_options));
}
template <class... T>
dt_tensor *dt_linalg_matrix_rank_atol_rtol_tensor(dt::at<dt_tensor *> input, const T &...options) {
    return dt_linalg_matrix_rank_atol_rtol_tensor_sized(
        input, dt::named<dt_linalg_matrix_rank_atol_rtol_tensor_options>(input.site, options...).get(),
        sizeof(dt_linalg_matrix_rank_atol_rtol_tensor_options));
}
template <class... T> dt_tensor *dt_linalg_multi_dot(dt::at<dt_tensors> tensors, const T &...options) {
    return dt_linalg_multi_dot_sized(tensors, dt::named<dt_linalg_multi_dot_options>(tensors.site, options...).get(),
                                     sizeof(dt_linalg_multi_dot_options));
}
template <class... T> dt_tensor *dt_linalg_norm(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_norm_sized(self, dt::named<dt_linalg_norm_options>(self.site, options...).get(),
                                sizeof(dt_linalg_norm_options));
}
template <class... T>
dt_tensor *dt_linalg_norm_ord_str(dt::at<dt_tensor *> self, const char *ord, const T &...options) {
    return dt_linalg_norm_ord_str_sized(self, ord,
                                        dt::named<dt_linalg_norm_ord_str_options>(self.site, options...).get(),
                                        sizeof(dt_linalg_norm_ord_str_options));
}
template <class... T> dt_tensor *dt_linalg_pinv(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_pinv_sized(self, dt::named<dt_linalg_pinv_options>(self.site, options...).get(),
                                sizeof(dt_linalg_pinv_options));
}
template <class... T> dt_tensor *dt_linalg_pinv_rcond(dt::at<dt_tensor *> self, double rcond, const T &...options) {
    return dt_linalg_pinv_rcond_sized(self, rcond,
                                      dt::named<dt_linalg_pinv_rcond_options>(self.site, options...).get(),
                                      sizeof(dt_linalg_pinv_rcond_options));
}
template <class... T> dt_tensor *dt_linalg_pinv_tensor(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_pinv_tensor_sized(self, dt::named<dt_linalg_pinv_tensor_options>(self.site, options...).get(),
                                       sizeof(dt_linalg_pinv_tensor_options));
}
template <class... T>
dt_tensor *dt_linalg_pinv_rcond_tensor(dt::at<dt_tensor *> self, dt_tensor *rcond, const T &...options) {
    return dt_linalg_pinv_rcond_tensor_sized(
        self, rcond, dt::named<dt_linalg_pinv_rcond_tensor_options>(self.site, options...).get(),
        sizeof(dt_linalg_pinv_rcond_tensor_options));
}
template <class... T> dt_linalg_qr_result dt_linalg_qr(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_qr_sized(A, dt::named<dt_linalg_qr_options>(A.site, options...).get(),
                              sizeof(dt_linalg_qr_options));
}
template <class... T> dt_linalg_slogdet_result dt_linalg_slogdet(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_slogdet_sized(A, dt::named<dt_linalg_slogdet_options>(A.site, options...).get(),
                                   sizeof(dt_linalg_slogdet_options));
}
template <class... T> dt_tensor *dt_linalg_solve(dt::at<dt_tensor *> A, dt_tensor *B, const T &...options) {
    return dt_linalg_solve_sized(A, B, dt::named<dt_linalg_solve_options>(A.site, options...).get(),
                                 sizeof(dt_linalg_solve_options));
}
template <class... T>
dt_linalg_solve_ex_result dt_linalg_solve_ex(dt::at<dt_tensor *> A, dt_tensor *B, const T &...options) {
    return dt_linalg_solve_ex_sized(A, B, dt::named<dt_linalg_solve_ex_options>(A.site, options...).get(),
                                    sizeof(dt_linalg_solve_ex_options));
}
template <class... T>
dt_tensor *dt_linalg_solve_triangular(dt::at<dt_tensor *> self, dt_tensor *B, bool upper, const T &...options) {
    return dt_linalg_solve_triangular_sized(
        self, B, upper, dt::named<dt_linalg_solve_triangular_options>(self.site, options...).get(),
        sizeof(dt_linalg_solve_triangular_options));
}
template <class... T> dt_linalg_svd_result dt_linalg_svd(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_svd_sized(A, dt::named<dt_linalg_svd_options>(A.site, options...).get(),
                               sizeof(dt_linalg_svd_options));
}
template <class... T> dt_tensor *dt_linalg_svdvals(dt::at<dt_tensor *> A, const T &...options) {
    return dt_linalg_svdvals_sized(A, dt::named<dt_linalg_svdvals_options>(A.site, options...).get(),
                                   sizeof(dt_linalg_svdvals_options));
}
template <class... T> dt_tensor *dt_linalg_tensorinv(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_tensorinv_sized(self, dt::named<dt_linalg_tensorinv_options>(self.site, options...).get(),
                                     sizeof(dt_linalg_tensorinv_options));
}
template <class... T>
dt_tensor *dt_linalg_tensorsolve(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_linalg_tensorsolve_sized(self, other,
                                       dt::named<dt_linalg_tensorsolve_options>(self.site, options...).get(),
                                       sizeof(dt_linalg_tensorsolve_options));
}
template <class... T> dt_tensor *dt_linalg_vander(dt::at<dt_tensor *> x, const T &...options) {
    return dt_linalg_vander_sized(x, dt::named<dt_linalg_vander_options>(x.site, options...).get(),
                                  sizeof(dt_linalg_vander_options));
}
template <class... T> dt_tensor *dt_linalg_vecdot(dt::at<dt_tensor *> x, dt_tensor *y, const T &...options) {
    return dt_linalg_vecdot_sized(x, y, dt::named<dt_linalg_vecdot_options>(x.site, options...).get(),
                                  sizeof(dt_linalg_vecdot_options));
}
template <class... T> dt_tensor *dt_linalg_vector_norm(dt::at<dt_tensor *> self, const T &...options) {
    return dt_linalg_vector_norm_sized(self, dt::named<dt_linalg_vector_norm_options>(self.site, options...).get(),
                                       sizeof(dt_linalg_vector_norm_options));
}
template <class... T> dt_tensor *dt_linear(dt::at<dt_tensor *> input, dt_tensor *weight, const T &...options) {
    return dt_linear_sized(input, weight, dt::named<dt_linear_options>(input.site, options...).get(),
                           sizeof(dt_linear_options));
}
template <class... T>
dt_tensor *dt_linear_recurrence(dt::at<dt_tensor *> term, dt_tensor *factor, int64_t dim, const T &...options) {
    return dt_linear_recurrence_sized(term, factor, dim,
                                      dt::named<dt_linear_recurrence_options>(term.site, options...).get(),
                                      sizeof(dt_linear_recurrence_options));
}
template <class... T>
dt_tensor *dt_linear_weight_backward(dt::at<dt_tensor *> grad_output, dt_tensor *input, const T &...options) {
    return dt_linear_weight_backward_sized(
        grad_output, input, dt::named<dt_linear_weight_backward_options>(grad_output.site, options...).get(),
        sizeof(dt_linear_weight_backward_options));
}
template <class... T>
dt_tensor *dt_linspace(dt::at<dt_ctx *> ctx, dt::number start, dt::number end, int64_t steps, const T &...options) {
    return dt_linspace_sized(ctx, start, end, steps, dt::named<dt_make_options>(ctx.site, options...).get(),
                             sizeof(dt_make_options));
}
template <class... T>
dt_lion_in_place_result dt_lion_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *exp_avg, double lr,
                                 const T &...options) {
    return dt_lion_in_place_sized(self, grad, exp_avg, lr,
                                  dt::named<dt_lion_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_lion_in_place_options));
}
template <class... T>
dt_tensor *dt_local_response_norm(dt::at<dt_tensor *> input, int64_t size, const T &...options) {
    return dt_local_response_norm_sized(input, size,
                                        dt::named<dt_local_response_norm_options>(input.site, options...).get(),
                                        sizeof(dt_local_response_norm_options));
}
template <class... T> dt_tensor *dt_log(dt::at<dt_tensor *> self, const T &...options) {
    return dt_log_sized(self, dt::named<dt_log_options>(self.site, options...).get(), sizeof(dt_log_options));
}
template <class... T> dt_tensor *dt_log10(dt::at<dt_tensor *> self, const T &...options) {
    return dt_log10_sized(self, dt::named<dt_log10_options>(self.site, options...).get(), sizeof(dt_log10_options));
}
template <class... T> dt_tensor *dt_log10_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_log10_in_place_sized(self, dt::named<dt_log10_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_log10_in_place_options));
}
template <class... T> dt_tensor *dt_log1p(dt::at<dt_tensor *> self, const T &...options) {
    return dt_log1p_sized(self, dt::named<dt_log1p_options>(self.site, options...).get(), sizeof(dt_log1p_options));
}
template <class... T> dt_tensor *dt_log1p_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_log1p_in_place_sized(self, dt::named<dt_log1p_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_log1p_in_place_options));
}
template <class... T> dt_tensor *dt_log2(dt::at<dt_tensor *> self, const T &...options) {
    return dt_log2_sized(self, dt::named<dt_log2_options>(self.site, options...).get(), sizeof(dt_log2_options));
}
template <class... T> dt_tensor *dt_log2_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_log2_in_place_sized(self, dt::named<dt_log2_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_log2_in_place_options));
}
template <class... T> dt_tensor *dt_log_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_log_in_place_sized(self, dt::named<dt_log_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_log_in_place_options));
}
template <class... T> dt_tensor *dt_log_softmax(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_log_softmax_sized(self, dim, dt::named<dt_log_softmax_options>(self.site, options...).get(),
                                sizeof(dt_log_softmax_options));
}
template <class... T> dt_tensor *dt_logaddexp(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_logaddexp_sized(self, other, dt::named<dt_logaddexp_options>(self.site, options...).get(),
                              sizeof(dt_logaddexp_options));
}
template <class... T> dt_tensor *dt_logcumsumexp(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_logcumsumexp_sized(self, dim, dt::named<dt_logcumsumexp_options>(self.site, options...).get(),
                                 sizeof(dt_logcumsumexp_options));
}
template <class... T>
dt_tensor *dt_logcumsumexp_backward(dt::at<dt_tensor *> grad_output, dt_tensor *self, dt_tensor *logsums, int64_t dim,
                                    const T &...options) {
    return dt_logcumsumexp_backward_sized(
        grad_output, self, logsums, dim,
        dt::named<dt_logcumsumexp_backward_options>(grad_output.site, options...).get(),
        sizeof(dt_logcumsumexp_backward_options));
}
template <class... T> dt_tensor *dt_logdet(dt::at<dt_tensor *> self, const T &...options) {
    return dt_logdet_sized(self, dt::named<dt_logdet_options>(self.site, options...).get(),
                           sizeof(dt_logdet_options));
}
template <class... T> dt_tensor *dt_logical_and(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_logical_and_sized(self, other, dt::named<dt_logical_and_options>(self.site, options...).get(),
                                sizeof(dt_logical_and_options));
}
template <class... T> dt_tensor *dt_logical_and_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_logical_and_in_place_sized(self, other,
                                         dt::named<dt_logical_and_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_logical_and_in_place_options));
}
template <class... T> dt_tensor *dt_logical_not(dt::at<dt_tensor *> self, const T &...options) {
    return dt_logical_not_sized(self, dt::named<dt_logical_not_options>(self.site, options...).get(),
                                sizeof(dt_logical_not_options));
}
template <class... T> dt_tensor *dt_logical_not_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_logical_not_in_place_sized(self,
                                         dt::named<dt_logical_not_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_logical_not_in_place_options));
}
template <class... T> dt_tensor *dt_logical_or(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_logical_or_sized(self, other, dt::named<dt_logical_or_options>(self.site, options...).get(),
                               sizeof(dt_logical_or_options));
}
template <class... T> dt_tensor *dt_logical_or_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_logical_or_in_place_sized(self, other,
                                        dt::named<dt_logical_or_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_logical_or_in_place_options));
}
template <class... T> dt_tensor *dt_logical_xor(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_logical_xor_sized(self, other, dt::named<dt_logical_xor_options>(self.site, options...).get(),
                                sizeof(dt_logical_xor_options));
}
template <class... T> dt_tensor *dt_logical_xor_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_logical_xor_in_place_sized(self, other,
                                         dt::named<dt_logical_xor_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_logical_xor_in_place_options));
}
template <class... T> dt_tensor *dt_logsumexp(dt::at<dt_tensor *> self, dt_dims dim, const T &...options) {
    return dt_logsumexp_sized(self, dim, dt::named<dt_logsumexp_options>(self.site, options...).get(),
                              sizeof(dt_logsumexp_options));
}
template <class... T> dt_tensor *dt_long(dt::at<dt_tensor *> self, const T &...options) {
    return dt_long_sized(self, dt::named<dt_long_options>(self.site, options...).get(), sizeof(dt_long_options));
}
template <class... T> dt_tensor *dt_lt(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_lt_sized(self, other, dt::named<dt_lt_options>(self.site, options...).get(), sizeof(dt_lt_options));
}
template <class... T> dt_tensor *dt_lt_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_lt_scalar_sized(self, other, dt::named<dt_lt_scalar_options>(self.site, options...).get(),
                              sizeof(dt_lt_scalar_options));
}
template <class... T> dt_tensor *dt_lt_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_lt_in_place_sized(self, other, dt::named<dt_lt_in_place_options>(self.site, options...).get(),
                                sizeof(dt_lt_in_place_options));
}
template <class... T> dt_tensor *dt_lt_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_lt_scalar_in_place_sized(self, other,
                                       dt::named<dt_lt_scalar_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_lt_scalar_in_place_options));
}
template <class... T> int dt_lu(dt::at<dt_tensor *> A, dt_tensor **out, int capacity, const T &...options) {
    return dt_lu_sized(A, out, capacity, dt::named<dt_lu_options>(A.site, options...).get(), sizeof(dt_lu_options));
}
template <class... T>
dt_tensor *dt_lu_solve(dt::at<dt_tensor *> self, dt_tensor *LU_data, dt_tensor *LU_pivots, const T &...options) {
    return dt_lu_solve_sized(self, LU_data, LU_pivots, dt::named<dt_lu_solve_options>(self.site, options...).get(),
                             sizeof(dt_lu_solve_options));
}
template <class... T>
dt_lu_unpack_result dt_lu_unpack(dt::at<dt_tensor *> LU_data, dt_tensor *LU_pivots, const T &...options) {
    return dt_lu_unpack_sized(LU_data, LU_pivots, dt::named<dt_lu_unpack_options>(LU_data.site, options...).get(),
                              sizeof(dt_lu_unpack_options));
}
template <class... T> dt_tensor *dt_mT(dt::at<dt_tensor *> self, const T &...options) {
    return dt_mT_sized(self, dt::named<dt_mT_options>(self.site, options...).get(), sizeof(dt_mT_options));
}
template <class... T>
dt_tensor *dt_masked_fill(dt::at<dt_tensor *> self, dt_tensor *mask, dt::number value, const T &...options) {
    return dt_masked_fill_sized(self, mask, value, dt::named<dt_masked_fill_options>(self.site, options...).get(),
                                sizeof(dt_masked_fill_options));
}
template <class... T>
dt_tensor *dt_masked_fill_tensor(dt::at<dt_tensor *> self, dt_tensor *mask, dt_tensor *value, const T &...options) {
    return dt_masked_fill_tensor_sized(self, mask, value,
                                       dt::named<dt_masked_fill_tensor_options>(self.site, options...).get(),
                                       sizeof(dt_masked_fill_tensor_options));
}
template <class... T>
dt_tensor *dt_masked_fill_(dt::at<dt_tensor *> self, dt_tensor *mask, dt::number value, const T &...options) {
    return dt_masked_fill_in_place_sized(self, mask, value,
                                         dt::named<dt_masked_fill_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_masked_fill_in_place_options));
}
template <class... T>
dt_tensor *dt_masked_fill_tensor_(dt::at<dt_tensor *> self, dt_tensor *mask, dt_tensor *value, const T &...options) {
    return dt_masked_fill_tensor_in_place_sized(
        self, mask, value, dt::named<dt_masked_fill_tensor_in_place_options>(self.site, options...).get(),
        sizeof(dt_masked_fill_tensor_in_place_options));
}
template <class... T> dt_tensor *dt_matmul(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_matmul_sized(self, other, dt::named<dt_matmul_options>(self.site, options...).get(),
                           sizeof(dt_matmul_options));
}
template <class... T> dt_tensor *dt_matrix_exp(dt::at<dt_tensor *> self, const T &...options) {
    return dt_matrix_exp_sized(self, dt::named<dt_matrix_exp_options>(self.site, options...).get(),
                               sizeof(dt_matrix_exp_options));
}
template <class... T> dt_tensor *dt_max(dt::at<dt_tensor *> self, const T &...options) {
    return dt_max_sized(self, dt::named<dt_max_options>(self.site, options...).get(), sizeof(dt_max_options));
}
template <class... T> dt_max_dim_result dt_max_dim(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_max_dim_sized(self, dim, dt::named<dt_max_dim_options>(self.site, options...).get(),
                            sizeof(dt_max_dim_options));
}
template <class... T> dt_tensor *dt_max_other(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_max_other_sized(self, other, dt::named<dt_max_other_options>(self.site, options...).get(),
                              sizeof(dt_max_other_options));
}
template <class... T> dt_tensor *dt_max_pool1d(dt::at<dt_tensor *> input, dt_ints kernel_size, const T &...options) {
    return dt_max_pool1d_sized(input, kernel_size, dt::named<dt_max_pool1d_options>(input.site, options...).get(),
                               sizeof(dt_max_pool1d_options));
}
template <class... T>
dt_max_pool1d_with_indices_result dt_max_pool1d_with_indices(dt::at<dt_tensor *> input, dt_ints kernel_size,
                                                             const T &...options) {
    return dt_max_pool1d_with_indices_sized(
        input, kernel_size, dt::named<dt_max_pool1d_with_indices_options>(input.site, options...).get(),
        sizeof(dt_max_pool1d_with_indices_options));
}
template <class... T> dt_tensor *dt_max_pool2d(dt::at<dt_tensor *> input, dt_ints kernel_size, const T &...options) {
    return dt_max_pool2d_sized(input, kernel_size, dt::named<dt_max_pool2d_options>(input.site, options...).get(),
                               sizeof(dt_max_pool2d_options));
}
template <class... T>
dt_max_pool2d_with_indices_result dt_max_pool2d_with_indices(dt::at<dt_tensor *> input, dt_ints kernel_size,
                                                             const T &...options) {
    return dt_max_pool2d_with_indices_sized(
        input, kernel_size, dt::named<dt_max_pool2d_with_indices_options>(input.site, options...).get(),
        sizeof(dt_max_pool2d_with_indices_options));
}
template <class... T> dt_tensor *dt_max_pool3d(dt::at<dt_tensor *> input, dt_ints kernel_size, const T &...options) {
    return dt_max_pool3d_sized(input, kernel_size, dt::named<dt_max_pool3d_options>(input.site, options...).get(),
                               sizeof(dt_max_pool3d_options));
}
template <class... T>
dt_max_pool3d_with_indices_result dt_max_pool3d_with_indices(dt::at<dt_tensor *> input, dt_ints kernel_size,
                                                             const T &...options) {
    return dt_max_pool3d_with_indices_sized(
        input, kernel_size, dt::named<dt_max_pool3d_with_indices_options>(input.site, options...).get(),
        sizeof(dt_max_pool3d_with_indices_options));
}
template <class... T>
dt_tensor *dt_max_pool_backward(dt::at<dt_tensor *> grad_output, dt_tensor *indices, dt_shape sizes,
                                dt_ints kernel_size, dt_ints stride, dt_ints padding, dt_ints dilation,
                                const T &...options) {
    return dt_max_pool_backward_sized(grad_output, indices, sizes, kernel_size, stride, padding, dilation,
                                      dt::named<dt_max_pool_backward_options>(grad_output.site, options...).get(),
                                      sizeof(dt_max_pool_backward_options));
}
template <class... T>
dt_tensor *dt_max_pool_read(dt::at<dt_tensor *> self, dt_tensor *indices, dt_ints kernel_size, dt_ints stride,
                            dt_ints padding, dt_ints dilation, const T &...options) {
    return dt_max_pool_read_sized(self, indices, kernel_size, stride, padding, dilation,
                                  dt::named<dt_max_pool_read_options>(self.site, options...).get(),
                                  sizeof(dt_max_pool_read_options));
}
template <class... T> dt_tensor *dt_maximum(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_maximum_sized(self, other, dt::named<dt_maximum_options>(self.site, options...).get(),
                            sizeof(dt_maximum_options));
}
template <class... T> dt_tensor *dt_mean(dt::at<dt_tensor *> self, const T &...options) {
    return dt_mean_sized(self, dt::named<dt_mean_options>(self.site, options...).get(), sizeof(dt_mean_options));
}
template <class... T> dt_tensor *dt_median(dt::at<dt_tensor *> self, const T &...options) {
    return dt_median_sized(self, dt::named<dt_median_options>(self.site, options...).get(),
                           sizeof(dt_median_options));
}
template <class... T> dt_median_dim_result dt_median_dim(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_median_dim_sized(self, dim, dt::named<dt_median_dim_options>(self.site, options...).get(),
                               sizeof(dt_median_dim_options));
}
template <class... T> dt_tensor *dt_min(dt::at<dt_tensor *> self, const T &...options) {
    return dt_min_sized(self, dt::named<dt_min_options>(self.site, options...).get(), sizeof(dt_min_options));
}
template <class... T> dt_min_dim_result dt_min_dim(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_min_dim_sized(self, dim, dt::named<dt_min_dim_options>(self.site, options...).get(),
                            sizeof(dt_min_dim_options));
}
template <class... T> dt_tensor *dt_min_other(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_min_other_sized(self, other, dt::named<dt_min_other_options>(self.site, options...).get(),
                              sizeof(dt_min_other_options));
}
template <class... T> dt_tensor *dt_minimum(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_minimum_sized(self, other, dt::named<dt_minimum_options>(self.site, options...).get(),
                            sizeof(dt_minimum_options));
}
template <class... T> dt_tensor *dt_mish(dt::at<dt_tensor *> input, const T &...options) {
    return dt_mish_sized(input, dt::named<dt_mish_options>(input.site, options...).get(), sizeof(dt_mish_options));
}
template <class... T> dt_tensor *dt_mish_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_mish_in_place_sized(input, dt::named<dt_mish_in_place_options>(input.site, options...).get(),
                                  sizeof(dt_mish_in_place_options));
}
template <class... T> dt_tensor *dt_mm(dt::at<dt_tensor *> self, dt_tensor *mat2, const T &...options) {
    return dt_mm_sized(self, mat2, dt::named<dt_mm_options>(self.site, options...).get(), sizeof(dt_mm_options));
}
template <class... T> dt_mode_result dt_mode(dt::at<dt_tensor *> self, const T &...options) {
    return dt_mode_sized(self, dt::named<dt_mode_options>(self.site, options...).get(), sizeof(dt_mode_options));
}
template <class... T>
dt_moment_norm_result dt_moment_norm(dt::at<dt_tensor *> input, dt_dims dims, const T &...options) {
    return dt_moment_norm_sized(input, dims, dt::named<dt_moment_norm_options>(input.site, options...).get(),
                                sizeof(dt_moment_norm_options));
}
template <class... T>
dt_moment_norm_backward_result
dt_moment_norm_backward(dt::at<dt_tensor *> grad_output, dt_tensor *input, dt_dims dims, dt_tensor *mean,
                        dt_tensor *rstd, dt_ints affine_dims, dt_ints output_mask, const T &...options) {
    return dt_moment_norm_backward_sized(
        grad_output, input, dims, mean, rstd, affine_dims, output_mask,
        dt::named<dt_moment_norm_backward_options>(grad_output.site, options...).get(),
        sizeof(dt_moment_norm_backward_options));
}
template <class... T>
dt_tensor *dt_movedim(dt::at<dt_tensor *> self, int64_t source, int64_t destination, const T &...options) {
    return dt_movedim_sized(self, source, destination, dt::named<dt_movedim_options>(self.site, options...).get(),
                            sizeof(dt_movedim_options));
}
template <class... T>
dt_tensor *dt_movedim_dims(dt::at<dt_tensor *> self, dt_dims source, dt_dims destination, const T &...options) {
    return dt_movedim_dims_sized(self, source, destination,
                                 dt::named<dt_movedim_dims_options>(self.site, options...).get(),
                                 sizeof(dt_movedim_dims_options));
}
template <class... T> dt_tensor *dt_mse_loss(dt::at<dt_tensor *> input, dt_tensor *target, const T &...options) {
    return dt_mse_loss_sized(input, target, dt::named<dt_mse_loss_options>(input.site, options...).get(),
                             sizeof(dt_mse_loss_options));
}
template <class... T> dt_tensor *dt_mul(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_mul_sized(self, other, dt::named<dt_mul_options>(self.site, options...).get(), sizeof(dt_mul_options));
}
template <class... T> dt_tensor *dt_mul_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_mul_scalar_sized(self, other, dt::named<dt_mul_scalar_options>(self.site, options...).get(),
                               sizeof(dt_mul_scalar_options));
}
template <class... T> dt_tensor *dt_mul_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_mul_in_place_sized(self, other, dt::named<dt_mul_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_mul_in_place_options));
}
template <class... T> dt_tensor *dt_mul_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_mul_scalar_in_place_sized(self, other,
                                        dt::named<dt_mul_scalar_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_mul_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_mv(dt::at<dt_tensor *> self, dt_tensor *vec, const T &...options) {
    return dt_mv_sized(self, vec, dt::named<dt_mv_options>(self.site, options...).get(), sizeof(dt_mv_options));
}
template <class... T>
dt_nadam_in_place_result dt_nadam_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *exp_avg,
                                   dt_tensor *exp_avg_sq, double lr, int64_t step, double mu_product,
                                   const T &...options) {
    return dt_nadam_in_place_sized(self, grad, exp_avg, exp_avg_sq, lr, step, mu_product,
                                   dt::named<dt_nadam_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_nadam_in_place_options));
}
template <class... T> dt_tensor *dt_nan_to_num(dt::at<dt_tensor *> self, const T &...options) {
    return dt_nan_to_num_sized(self, dt::named<dt_nan_to_num_options>(self.site, options...).get(),
                               sizeof(dt_nan_to_num_options));
}
template <class... T> dt_tensor *dt_nan_to_num_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_nan_to_num_in_place_sized(self, dt::named<dt_nan_to_num_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_nan_to_num_in_place_options));
}
template <class... T> dt_tensor *dt_nanmedian(dt::at<dt_tensor *> self, const T &...options) {
    return dt_nanmedian_sized(self, dt::named<dt_nanmedian_options>(self.site, options...).get(),
                              sizeof(dt_nanmedian_options));
}
template <class... T>
dt_nanmedian_dim_result dt_nanmedian_dim(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_nanmedian_dim_sized(self, dim, dt::named<dt_nanmedian_dim_options>(self.site, options...).get(),
                                  sizeof(dt_nanmedian_dim_options));
}
template <class... T> dt_tensor *dt_nansum(dt::at<dt_tensor *> self, const T &...options) {
    return dt_nansum_sized(self, dt::named<dt_nansum_options>(self.site, options...).get(),
                           sizeof(dt_nansum_options));
}
template <class... T>
dt_tensor *dt_narrow(dt::at<dt_tensor *> self, int64_t dim, int64_t start, int64_t length, const T &...options) {
    return dt_narrow_sized(self, dim, start, length, dt::named<dt_narrow_options>(self.site, options...).get(),
                           sizeof(dt_narrow_options));
}
template <class... T>
dt_tensor *dt_narrow_tensor(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *start, int64_t length,
                            const T &...options) {
    return dt_narrow_tensor_sized(self, dim, start, length,
                                  dt::named<dt_narrow_tensor_options>(self.site, options...).get(),
                                  sizeof(dt_narrow_tensor_options));
}
template <class... T>
dt_native_batch_norm_result dt_native_batch_norm(dt::at<dt_tensor *> input, bool training, double momentum,
                                                 double eps, const T &...options) {
    return dt_native_batch_norm_sized(input, training, momentum, eps,
                                      dt::named<dt_native_batch_norm_options>(input.site, options...).get(),
                                      sizeof(dt_native_batch_norm_options));
}
template <class... T>
dt_tensor *dt_native_dropout_backward(dt::at<dt_tensor *> grad_output, dt_tensor *mask, double scale,
                                      const T &...options) {
    return dt_native_dropout_backward_sized(
        grad_output, mask, scale, dt::named<dt_native_dropout_backward_options>(grad_output.site, options...).get(),
        sizeof(dt_native_dropout_backward_options));
}
template <class... T>
dt_native_group_norm_result dt_native_group_norm(dt::at<dt_tensor *> input, int64_t N, int64_t C, int64_t HxW,
                                                 int64_t group, double eps, const T &...options) {
    return dt_native_group_norm_sized(input, N, C, HxW, group, eps,
                                      dt::named<dt_native_group_norm_options>(input.site, options...).get(),
                                      sizeof(dt_native_group_norm_options));
}
template <class... T>
dt_native_layer_norm_result dt_native_layer_norm(dt::at<dt_tensor *> input, dt_shape normalized_shape, double eps,
                                                 const T &...options) {
    return dt_native_layer_norm_sized(input, normalized_shape, eps,
                                      dt::named<dt_native_layer_norm_options>(input.site, options...).get(),
                                      sizeof(dt_native_layer_norm_options));
}
template <class... T>
dt_native_layer_norm_backward_result
dt_native_layer_norm_backward(dt::at<dt_tensor *> grad_out, dt_tensor *input, dt_shape normalized_shape,
                              dt_tensor *mean, dt_tensor *rstd, dt_ints output_mask, const T &...options) {
    return dt_native_layer_norm_backward_sized(
        grad_out, input, normalized_shape, mean, rstd, output_mask,
        dt::named<dt_native_layer_norm_backward_options>(grad_out.site, options...).get(),
        sizeof(dt_native_layer_norm_backward_options));
}
template <class... T> dt_tensor *dt_ne(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_ne_sized(self, other, dt::named<dt_ne_options>(self.site, options...).get(), sizeof(dt_ne_options));
}
template <class... T> dt_tensor *dt_ne_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_ne_scalar_sized(self, other, dt::named<dt_ne_scalar_options>(self.site, options...).get(),
                              sizeof(dt_ne_scalar_options));
}
template <class... T> dt_tensor *dt_ne_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_ne_in_place_sized(self, other, dt::named<dt_ne_in_place_options>(self.site, options...).get(),
                                sizeof(dt_ne_in_place_options));
}
template <class... T> dt_tensor *dt_ne_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_ne_scalar_in_place_sized(self, other,
                                       dt::named<dt_ne_scalar_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_ne_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_neg(dt::at<dt_tensor *> self, const T &...options) {
    return dt_neg_sized(self, dt::named<dt_neg_options>(self.site, options...).get(), sizeof(dt_neg_options));
}
template <class... T> dt_tensor *dt_neg_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_neg_in_place_sized(self, dt::named<dt_neg_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_neg_in_place_options));
}
template <class... T>
dt_tensor *dt_new_full(dt::at<dt_tensor *> self, dt_shape size, dt::number fill_value, const T &...options) {
    return dt_new_full_sized(self, size, fill_value, dt::named<dt_new_full_options>(self.site, options...).get(),
                             sizeof(dt_new_full_options));
}
template <class... T> dt_tensor *dt_new_ones(dt::at<dt_tensor *> self, dt_shape size, const T &...options) {
    return dt_new_ones_sized(self, size, dt::named<dt_new_ones_options>(self.site, options...).get(),
                             sizeof(dt_new_ones_options));
}
template <class... T> dt_tensor *dt_new_zeros(dt::at<dt_tensor *> self, dt_shape size, const T &...options) {
    return dt_new_zeros_sized(self, size, dt::named<dt_new_zeros_options>(self.site, options...).get(),
                              sizeof(dt_new_zeros_options));
}
template <class... T> dt_tensor *dt_nll_loss(dt::at<dt_tensor *> input, dt_tensor *target, const T &...options) {
    return dt_nll_loss_sized(input, target, dt::named<dt_nll_loss_options>(input.site, options...).get(),
                             sizeof(dt_nll_loss_options));
}
template <class... T> dt_tensor *dt_norm(dt::at<dt_tensor *> self, const T &...options) {
    return dt_norm_sized(self, dt::named<dt_norm_options>(self.site, options...).get(), sizeof(dt_norm_options));
}
template <class... T> dt_tensor *dt_norm_str(dt::at<dt_tensor *> self, const char *p, const T &...options) {
    return dt_norm_str_sized(self, p, dt::named<dt_norm_str_options>(self.site, options...).get(),
                             sizeof(dt_norm_str_options));
}
template <class... T> dt_tensor *dt_normalize(dt::at<dt_tensor *> input, const T &...options) {
    return dt_normalize_sized(input, dt::named<dt_normalize_options>(input.site, options...).get(),
                              sizeof(dt_normalize_options));
}
template <class... T> dt_tensor *dt_one_hot(dt::at<dt_tensor *> self, int64_t num_classes, const T &...options) {
    return dt_one_hot_sized(self, num_classes, dt::named<dt_one_hot_options>(self.site, options...).get(),
                            sizeof(dt_one_hot_options));
}
template <class... T> dt_tensor *dt_ones(dt::at<dt_ctx *> ctx, dt_shape size, const T &...options) {
    return dt_ones_sized(ctx, size, dt::named<dt_make_options>(ctx.site, options...).get(), sizeof(dt_make_options));
}
template <class... T> dt_tensor *dt_ones_like(dt::at<dt_tensor *> self, const T &...options) {
    return dt_ones_like_sized(self, dt::named<dt_ones_like_options>(self.site, options...).get(),
                              sizeof(dt_ones_like_options));
}
template <class... T>
dt_tensor *dt_ormqr(dt::at<dt_tensor *> self, dt_tensor *input2, dt_tensor *input3, const T &...options) {
    return dt_ormqr_sized(self, input2, input3, dt::named<dt_ormqr_options>(self.site, options...).get(),
                          sizeof(dt_ormqr_options));
}
template <class... T> dt_tensor *dt_outer(dt::at<dt_tensor *> self, dt_tensor *vec2, const T &...options) {
    return dt_outer_sized(self, vec2, dt::named<dt_outer_options>(self.site, options...).get(),
                          sizeof(dt_outer_options));
}
template <class... T> dt_tensor *dt_pad(dt::at<dt_tensor *> input, dt_ints pad, const T &...options) {
    return dt_pad_sized(input, pad, dt::named<dt_pad_options>(input.site, options...).get(), sizeof(dt_pad_options));
}
template <class... T> dt_tensor *dt_permute(dt::at<dt_tensor *> self, dt_dims dims, const T &...options) {
    return dt_permute_sized(self, dims, dt::named<dt_permute_options>(self.site, options...).get(),
                            sizeof(dt_permute_options));
}
template <class... T> dt_tensor *dt_pinverse(dt::at<dt_tensor *> self, const T &...options) {
    return dt_pinverse_sized(self, dt::named<dt_pinverse_options>(self.site, options...).get(),
                             sizeof(dt_pinverse_options));
}
template <class... T>
dt_tensor *dt_pixel_shuffle(dt::at<dt_tensor *> self, int64_t upscale_factor, const T &...options) {
    return dt_pixel_shuffle_sized(self, upscale_factor,
                                  dt::named<dt_pixel_shuffle_options>(self.site, options...).get(),
                                  sizeof(dt_pixel_shuffle_options));
}
template <class... T>
dt_tensor *dt_pixel_unshuffle(dt::at<dt_tensor *> self, int64_t downscale_factor, const T &...options) {
    return dt_pixel_unshuffle_sized(self, downscale_factor,
                                    dt::named<dt_pixel_unshuffle_options>(self.site, options...).get(),
                                    sizeof(dt_pixel_unshuffle_options));
}
template <class... T> dt_tensor *dt_positive(dt::at<dt_tensor *> self, const T &...options) {
    return dt_positive_sized(self, dt::named<dt_positive_options>(self.site, options...).get(),
                             sizeof(dt_positive_options));
}
template <class... T> dt_tensor *dt_pow(dt::at<dt_tensor *> self, dt_tensor *exponent, const T &...options) {
    return dt_pow_sized(self, exponent, dt::named<dt_pow_options>(self.site, options...).get(),
                        sizeof(dt_pow_options));
}
template <class... T>
dt_tensor *dt_pow_scalar_exponent(dt::at<dt_tensor *> self, dt::number exponent, const T &...options) {
    return dt_pow_scalar_exponent_sized(self, exponent,
                                        dt::named<dt_pow_scalar_exponent_options>(self.site, options...).get(),
                                        sizeof(dt_pow_scalar_exponent_options));
}
template <class... T>
dt_tensor *dt_pow_scalar_self(dt::at<dt_number> self, dt_tensor *exponent, const T &...options) {
    return dt_pow_scalar_self_sized(self, exponent,
                                    dt::named<dt_pow_scalar_self_options>(self.site, options...).get(),
                                    sizeof(dt_pow_scalar_self_options));
}
template <class... T> dt_tensor *dt_pow_(dt::at<dt_tensor *> self, dt_tensor *exponent, const T &...options) {
    return dt_pow_in_place_sized(self, exponent, dt::named<dt_pow_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_pow_in_place_options));
}
template <class... T> dt_tensor *dt_pow_scalar_(dt::at<dt_tensor *> self, dt::number exponent, const T &...options) {
    return dt_pow_scalar_in_place_sized(self, exponent,
                                        dt::named<dt_pow_scalar_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_pow_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_power_sum(dt::at<dt_tensor *> self, const T &...options) {
    return dt_power_sum_sized(self, dt::named<dt_power_sum_options>(self.site, options...).get(),
                              sizeof(dt_power_sum_options));
}
template <class... T> dt_tensor *dt_prelu(dt::at<dt_tensor *> self, dt_tensor *weight, const T &...options) {
    return dt_prelu_sized(self, weight, dt::named<dt_prelu_options>(self.site, options...).get(),
                          sizeof(dt_prelu_options));
}
template <class... T> dt_tensor *dt_prod(dt::at<dt_tensor *> self, const T &...options) {
    return dt_prod_sized(self, dt::named<dt_prod_options>(self.site, options...).get(), sizeof(dt_prod_options));
}
template <class... T> dt_tensor *dt_prod_dim_int(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_prod_dim_int_sized(self, dim, dt::named<dt_prod_dim_int_options>(self.site, options...).get(),
                                 sizeof(dt_prod_dim_int_options));
}
template <class... T> dt_tensor *dt_prod_of_others(dt::at<dt_tensor *> self, const T &...options) {
    return dt_prod_of_others_sized(self, dt::named<dt_prod_of_others_options>(self.site, options...).get(),
                                   sizeof(dt_prod_of_others_options));
}
template <class... T> dt_qr_result dt_qr(dt::at<dt_tensor *> self, const T &...options) {
    return dt_qr_sized(self, dt::named<dt_qr_options>(self.site, options...).get(), sizeof(dt_qr_options));
}
template <class... T>
dt_radam_in_place_result dt_radam_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *exp_avg,
                                   dt_tensor *exp_avg_sq, double lr, int64_t step, const T &...options) {
    return dt_radam_in_place_sized(self, grad, exp_avg, exp_avg_sq, lr, step,
                                   dt::named<dt_radam_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_radam_in_place_options));
}
template <class... T> dt_tensor *dt_ravel(dt::at<dt_tensor *> self, const T &...options) {
    return dt_ravel_sized(self, dt::named<dt_ravel_options>(self.site, options...).get(), sizeof(dt_ravel_options));
}
template <class... T> dt_tensor *dt_reciprocal(dt::at<dt_tensor *> self, const T &...options) {
    return dt_reciprocal_sized(self, dt::named<dt_reciprocal_options>(self.site, options...).get(),
                               sizeof(dt_reciprocal_options));
}
template <class... T> dt_tensor *dt_reciprocal_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_reciprocal_in_place_sized(self, dt::named<dt_reciprocal_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_reciprocal_in_place_options));
}
template <class... T> dt_tensor *dt_relu(dt::at<dt_tensor *> input, const T &...options) {
    return dt_relu_sized(input, dt::named<dt_relu_options>(input.site, options...).get(), sizeof(dt_relu_options));
}
template <class... T> dt_tensor *dt_relu6(dt::at<dt_tensor *> input, const T &...options) {
    return dt_relu6_sized(input, dt::named<dt_relu6_options>(input.site, options...).get(), sizeof(dt_relu6_options));
}
template <class... T> dt_tensor *dt_relu6_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_relu6_in_place_sized(input, dt::named<dt_relu6_in_place_options>(input.site, options...).get(),
                                   sizeof(dt_relu6_in_place_options));
}
template <class... T> dt_tensor *dt_relu_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_relu_in_place_sized(input, dt::named<dt_relu_in_place_options>(input.site, options...).get(),
                                  sizeof(dt_relu_in_place_options));
}
template <class... T> dt_tensor *dt_remainder(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_remainder_sized(self, other, dt::named<dt_remainder_options>(self.site, options...).get(),
                              sizeof(dt_remainder_options));
}
template <class... T>
dt_tensor *dt_remainder_scalar_other(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_remainder_scalar_other_sized(self, other,
                                           dt::named<dt_remainder_scalar_other_options>(self.site, options...).get(),
                                           sizeof(dt_remainder_scalar_other_options));
}
template <class... T>
dt_tensor *dt_remainder_scalar_self(dt::at<dt_number> self, dt_tensor *other, const T &...options) {
    return dt_remainder_scalar_self_sized(self, other,
                                          dt::named<dt_remainder_scalar_self_options>(self.site, options...).get(),
                                          sizeof(dt_remainder_scalar_self_options));
}
template <class... T> dt_tensor *dt_remainder_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_remainder_in_place_sized(self, other,
                                       dt::named<dt_remainder_in_place_options>(self.site, options...).get(),
                                       sizeof(dt_remainder_in_place_options));
}
template <class... T>
dt_tensor *dt_remainder_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_remainder_scalar_in_place_sized(
        self, other, dt::named<dt_remainder_scalar_in_place_options>(self.site, options...).get(),
        sizeof(dt_remainder_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_repeat(dt::at<dt_tensor *> self, dt_ints repeats, const T &...options) {
    return dt_repeat_sized(self, repeats, dt::named<dt_repeat_options>(self.site, options...).get(),
                           sizeof(dt_repeat_options));
}
template <class... T> dt_tensor *dt_repeat_interleave(dt::at<dt_tensor *> repeats, const T &...options) {
    return dt_repeat_interleave_sized(repeats,
                                      dt::named<dt_repeat_interleave_options>(repeats.site, options...).get(),
                                      sizeof(dt_repeat_interleave_options));
}
template <class... T>
dt_tensor *dt_repeat_interleave_self_tensor(dt::at<dt_tensor *> self, dt_tensor *repeats, const T &...options) {
    return dt_repeat_interleave_self_tensor_sized(
        self, repeats, dt::named<dt_repeat_interleave_self_tensor_options>(self.site, options...).get(),
        sizeof(dt_repeat_interleave_self_tensor_options));
}
template <class... T>
dt_tensor *dt_repeat_interleave_self_int(dt::at<dt_tensor *> self, int64_t repeats, const T &...options) {
    return dt_repeat_interleave_self_int_sized(
        self, repeats, dt::named<dt_repeat_interleave_self_int_options>(self.site, options...).get(),
        sizeof(dt_repeat_interleave_self_int_options));
}
template <class... T>
dt_tensor *dt_resample(dt::at<dt_tensor *> self, dt_shape sizes, const char *mode, dt_reals numbers,
                       const T &...options) {
    return dt_resample_sized(self, sizes, mode, numbers, dt::named<dt_resample_options>(self.site, options...).get(),
                             sizeof(dt_resample_options));
}
template <class... T>
dt_tensor *dt_resample_backward(dt::at<dt_tensor *> grad_output, dt_shape sizes, const char *mode, dt_reals numbers,
                                const T &...options) {
    return dt_resample_backward_sized(grad_output, sizes, mode, numbers,
                                      dt::named<dt_resample_backward_options>(grad_output.site, options...).get(),
                                      sizeof(dt_resample_backward_options));
}
template <class... T> dt_tensor *dt_reshape(dt::at<dt_tensor *> self, dt_shape shape, const T &...options) {
    return dt_reshape_sized(self, shape, dt::named<dt_reshape_options>(self.site, options...).get(),
                            sizeof(dt_reshape_options));
}
template <class... T> dt_tensor *dt_reshape_as(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_reshape_as_sized(self, other, dt::named<dt_reshape_as_options>(self.site, options...).get(),
                               sizeof(dt_reshape_as_options));
}
template <class... T>
dt_tensor *dt_rms_norm(dt::at<dt_tensor *> input, dt_shape normalized_shape, const T &...options) {
    return dt_rms_norm_sized(input, normalized_shape, dt::named<dt_rms_norm_options>(input.site, options...).get(),
                             sizeof(dt_rms_norm_options));
}
template <class... T>
dt_rmsprop_in_place_result dt_rmsprop_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *square_avg, double lr,
                                       const T &...options) {
    return dt_rmsprop_in_place_sized(self, grad, square_avg, lr,
                                     dt::named<dt_rmsprop_in_place_options>(self.site, options...).get(),
                                     sizeof(dt_rmsprop_in_place_options));
}
template <class... T>
dt_rmsprop_state_in_place_result dt_rmsprop_state_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *square_avg,
                                                   dt_tensor *state, double lr, const T &...options) {
    return dt_rmsprop_state_in_place_sized(self, grad, square_avg, state, lr,
                                           dt::named<dt_rmsprop_state_in_place_options>(self.site, options...).get(),
                                           sizeof(dt_rmsprop_state_in_place_options));
}
template <class... T>
dt_rmsprop_centered_momentum_in_place_result
dt_rmsprop_centered_momentum_(dt::at<dt_tensor *> self, dt_tensor *grad, dt_tensor *square_avg, dt_tensor *grad_avg,
                              dt_tensor *momentum_buffer, double lr, const T &...options) {
    return dt_rmsprop_centered_momentum_in_place_sized(
        self, grad, square_avg, grad_avg, momentum_buffer, lr,
        dt::named<dt_rmsprop_centered_momentum_in_place_options>(self.site, options...).get(),
        sizeof(dt_rmsprop_centered_momentum_in_place_options));
}
template <class... T> dt_tensor *dt_roll(dt::at<dt_tensor *> self, dt_ints shifts, const T &...options) {
    return dt_roll_sized(self, shifts, dt::named<dt_roll_options>(self.site, options...).get(),
                         sizeof(dt_roll_options));
}
template <class... T>
dt_tensor *dt_rotary_embedding(dt::at<dt_tensor *> self, dt_tensor *frequencies, const T &...options) {
    return dt_rotary_embedding_sized(self, frequencies,
                                     dt::named<dt_rotary_embedding_options>(self.site, options...).get(),
                                     sizeof(dt_rotary_embedding_options));
}
template <class... T> dt_tensor *dt_round(dt::at<dt_tensor *> self, const T &...options) {
    return dt_round_sized(self, dt::named<dt_round_options>(self.site, options...).get(), sizeof(dt_round_options));
}
template <class... T> dt_tensor *dt_round_decimals(dt::at<dt_tensor *> self, int64_t decimals, const T &...options) {
    return dt_round_decimals_sized(self, decimals, dt::named<dt_round_decimals_options>(self.site, options...).get(),
                                   sizeof(dt_round_decimals_options));
}
template <class... T> dt_tensor *dt_round_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_round_in_place_sized(self, dt::named<dt_round_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_round_in_place_options));
}
template <class... T> dt_tensor *dt_round_decimals_(dt::at<dt_tensor *> self, int64_t decimals, const T &...options) {
    return dt_round_decimals_in_place_sized(
        self, decimals, dt::named<dt_round_decimals_in_place_options>(self.site, options...).get(),
        sizeof(dt_round_decimals_in_place_options));
}
template <class... T> dt_tensor *dt_rsqrt(dt::at<dt_tensor *> self, const T &...options) {
    return dt_rsqrt_sized(self, dt::named<dt_rsqrt_options>(self.site, options...).get(), sizeof(dt_rsqrt_options));
}
template <class... T> dt_tensor *dt_rsqrt_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_rsqrt_in_place_sized(self, dt::named<dt_rsqrt_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_rsqrt_in_place_options));
}
template <class... T> dt_tensor *dt_rsub(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_rsub_sized(self, other, dt::named<dt_rsub_options>(self.site, options...).get(),
                         sizeof(dt_rsub_options));
}
template <class... T> dt_tensor *dt_rsub_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_rsub_scalar_sized(self, other, dt::named<dt_rsub_scalar_options>(self.site, options...).get(),
                                sizeof(dt_rsub_scalar_options));
}
template <class... T>
dt_tensor *dt_scaled_dot_product_attention(dt::at<dt_tensor *> query, dt_tensor *key, dt_tensor *value,
                                           const T &...options) {
    return dt_scaled_dot_product_attention_sized(
        query, key, value, dt::named<dt_scaled_dot_product_attention_options>(query.site, options...).get(),
        sizeof(dt_scaled_dot_product_attention_options));
}
template <class... T>
dt_tensor *dt_scatter(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *src, const T &...options) {
    return dt_scatter_sized(self, dim, index, src, dt::named<dt_scatter_options>(self.site, options...).get(),
                            sizeof(dt_scatter_options));
}
template <class... T>
dt_tensor *dt_scatter_value(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt::number value,
                            const T &...options) {
    return dt_scatter_value_sized(self, dim, index, value,
                                  dt::named<dt_scatter_value_options>(self.site, options...).get(),
                                  sizeof(dt_scatter_value_options));
}
template <class... T>
dt_tensor *dt_scatter_(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *src, const T &...options) {
    return dt_scatter_in_place_sized(self, dim, index, src,
                                     dt::named<dt_scatter_in_place_options>(self.site, options...).get(),
                                     sizeof(dt_scatter_in_place_options));
}
template <class... T>
dt_tensor *dt_scatter_value_(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt::number value,
                             const T &...options) {
    return dt_scatter_value_in_place_sized(self, dim, index, value,
                                           dt::named<dt_scatter_value_in_place_options>(self.site, options...).get(),
                                           sizeof(dt_scatter_value_in_place_options));
}
template <class... T>
dt_tensor *dt_scatter_add(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *src,
                          const T &...options) {
    return dt_scatter_add_sized(self, dim, index, src, dt::named<dt_scatter_add_options>(self.site, options...).get(),
                                sizeof(dt_scatter_add_options));
}
template <class... T>
dt_tensor *dt_scatter_add_(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *src,
                           const T &...options) {
    return dt_scatter_add_in_place_sized(self, dim, index, src,
                                         dt::named<dt_scatter_add_in_place_options>(self.site, options...).get(),
                                         sizeof(dt_scatter_add_in_place_options));
}
template <class... T>
dt_tensor *dt_scatter_reduce(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *src,
                             const char *reduce, const T &...options) {
    return dt_scatter_reduce_sized(self, dim, index, src, reduce,
                                   dt::named<dt_scatter_reduce_options>(self.site, options...).get(),
                                   sizeof(dt_scatter_reduce_options));
}
template <class... T>
dt_tensor *dt_scatter_reduce_(dt::at<dt_tensor *> self, int64_t dim, dt_tensor *index, dt_tensor *src,
                              const char *reduce, const T &...options) {
    return dt_scatter_reduce_in_place_sized(
        self, dim, index, src, reduce, dt::named<dt_scatter_reduce_in_place_options>(self.site, options...).get(),
        sizeof(dt_scatter_reduce_in_place_options));
}
template <class... T>
dt_tensor *dt_searchsorted(dt::at<dt_tensor *> sorted_sequence, dt_tensor *self, const T &...options) {
    return dt_searchsorted_sized(sorted_sequence, self,
                                 dt::named<dt_searchsorted_options>(sorted_sequence.site, options...).get(),
                                 sizeof(dt_searchsorted_options));
}
template <class... T>
dt_tensor *dt_searchsorted_scalar(dt::at<dt_tensor *> sorted_sequence, dt::number self, const T &...options) {
    return dt_searchsorted_scalar_sized(
        sorted_sequence, self, dt::named<dt_searchsorted_scalar_options>(sorted_sequence.site, options...).get(),
        sizeof(dt_searchsorted_scalar_options));
}
template <class... T>
dt_tensor *dt_select(dt::at<dt_tensor *> self, int64_t dim, int64_t index, const T &...options) {
    return dt_select_sized(self, dim, index, dt::named<dt_select_options>(self.site, options...).get(),
                           sizeof(dt_select_options));
}
template <class... T>
dt_tensor *dt_select_backward(dt::at<dt_tensor *> grad_output, dt_shape input_sizes, int64_t dim, int64_t index,
                              const T &...options) {
    return dt_select_backward_sized(grad_output, input_sizes, dim, index,
                                    dt::named<dt_select_backward_options>(grad_output.site, options...).get(),
                                    sizeof(dt_select_backward_options));
}
template <class... T>
dt_tensor *dt_select_scatter(dt::at<dt_tensor *> self, dt_tensor *src, int64_t dim, int64_t index,
                             const T &...options) {
    return dt_select_scatter_sized(self, src, dim, index,
                                   dt::named<dt_select_scatter_options>(self.site, options...).get(),
                                   sizeof(dt_select_scatter_options));
}
template <class... T> dt_tensor *dt_selu(dt::at<dt_tensor *> input, const T &...options) {
    return dt_selu_sized(input, dt::named<dt_selu_options>(input.site, options...).get(), sizeof(dt_selu_options));
}
template <class... T> dt_tensor *dt_selu_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_selu_in_place_sized(input, dt::named<dt_selu_in_place_options>(input.site, options...).get(),
                                  sizeof(dt_selu_in_place_options));
}
template <class... T> dt_tensor *dt_sgd_(dt::at<dt_tensor *> self, dt_tensor *grad, double lr, const T &...options) {
    return dt_sgd_in_place_sized(self, grad, lr, dt::named<dt_sgd_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_sgd_in_place_options));
}
template <class... T>
dt_sgd_momentum_in_place_result dt_sgd_momentum_(dt::at<dt_tensor *> self, dt_tensor *grad,
                                                 dt_tensor *momentum_buffer, double lr, const T &...options) {
    return dt_sgd_momentum_in_place_sized(self, grad, momentum_buffer, lr,
                                          dt::named<dt_sgd_momentum_in_place_options>(self.site, options...).get(),
                                          sizeof(dt_sgd_momentum_in_place_options));
}
template <class... T> dt_tensor *dt_sgn(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sgn_sized(self, dt::named<dt_sgn_options>(self.site, options...).get(), sizeof(dt_sgn_options));
}
template <class... T> dt_tensor *dt_sgn_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sgn_in_place_sized(self, dt::named<dt_sgn_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_sgn_in_place_options));
}
template <class... T> dt_tensor *dt_short(dt::at<dt_tensor *> self, const T &...options) {
    return dt_short_sized(self, dt::named<dt_short_options>(self.site, options...).get(), sizeof(dt_short_options));
}
template <class... T> dt_tensor *dt_sigmoid(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sigmoid_sized(self, dt::named<dt_sigmoid_options>(self.site, options...).get(),
                            sizeof(dt_sigmoid_options));
}
template <class... T> dt_tensor *dt_sigmoid_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sigmoid_in_place_sized(self, dt::named<dt_sigmoid_in_place_options>(self.site, options...).get(),
                                     sizeof(dt_sigmoid_in_place_options));
}
template <class... T>
dt_tensor *dt_sigmoid_backward(dt::at<dt_tensor *> grad_output, dt_tensor *output, const T &...options) {
    return dt_sigmoid_backward_sized(grad_output, output,
                                     dt::named<dt_sigmoid_backward_options>(grad_output.site, options...).get(),
                                     sizeof(dt_sigmoid_backward_options));
}
template <class... T> dt_tensor *dt_sign(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sign_sized(self, dt::named<dt_sign_options>(self.site, options...).get(), sizeof(dt_sign_options));
}
template <class... T> dt_tensor *dt_sign_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sign_in_place_sized(self, dt::named<dt_sign_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_sign_in_place_options));
}
template <class... T> dt_tensor *dt_silu(dt::at<dt_tensor *> input, const T &...options) {
    return dt_silu_sized(input, dt::named<dt_silu_options>(input.site, options...).get(), sizeof(dt_silu_options));
}
template <class... T> dt_tensor *dt_silu_(dt::at<dt_tensor *> input, const T &...options) {
    return dt_silu_in_place_sized(input, dt::named<dt_silu_in_place_options>(input.site, options...).get(),
                                  sizeof(dt_silu_in_place_options));
}
template <class... T>
dt_tensor *dt_silu_backward(dt::at<dt_tensor *> grad_output, dt_tensor *self, const T &...options) {
    return dt_silu_backward_sized(grad_output, self,
                                  dt::named<dt_silu_backward_options>(grad_output.site, options...).get(),
                                  sizeof(dt_silu_backward_options));
}
template <class... T> dt_tensor *dt_sin(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sin_sized(self, dt::named<dt_sin_options>(self.site, options...).get(), sizeof(dt_sin_options));
}
template <class... T> dt_tensor *dt_sin_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sin_in_place_sized(self, dt::named<dt_sin_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_sin_in_place_options));
}
template <class... T> dt_tensor *dt_sinh(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sinh_sized(self, dt::named<dt_sinh_options>(self.site, options...).get(), sizeof(dt_sinh_options));
}
template <class... T> dt_tensor *dt_sinh_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sinh_in_place_sized(self, dt::named<dt_sinh_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_sinh_in_place_options));
}
template <class... T>
dt_tensor *dt_slice(dt::at<dt_tensor *> self, int64_t dim, int64_t start, int64_t end, int64_t step,
                    const T &...options) {
    return dt_slice_sized(self, dim, start, end, step, dt::named<dt_slice_options>(self.site, options...).get(),
                          sizeof(dt_slice_options));
}
template <class... T>
dt_tensor *dt_slice_backward(dt::at<dt_tensor *> grad_output, dt_shape input_sizes, int64_t dim, int64_t start,
                             int64_t end, int64_t step, const T &...options) {
    return dt_slice_backward_sized(grad_output, input_sizes, dim, start, end, step,
                                   dt::named<dt_slice_backward_options>(grad_output.site, options...).get(),
                                   sizeof(dt_slice_backward_options));
}
template <class... T>
dt_tensor *dt_slice_scatter(dt::at<dt_tensor *> self, dt_tensor *src, int64_t dim, int64_t start, int64_t end,
                            int64_t step, const T &...options) {
    return dt_slice_scatter_sized(self, src, dim, start, end, step,
                                  dt::named<dt_slice_scatter_options>(self.site, options...).get(),
                                  sizeof(dt_slice_scatter_options));
}
template <class... T>
dt_tensor *dt_slice_scatter_(dt::at<dt_tensor *> self, dt_tensor *src, int64_t dim, int64_t start, int64_t end,
                             int64_t step, const T &...options) {
    return dt_slice_scatter_in_place_sized(self, src, dim, start, end, step,
                                           dt::named<dt_slice_scatter_in_place_options>(self.site, options...).get(),
                                           sizeof(dt_slice_scatter_in_place_options));
}
template <class... T>
dt_tensor *dt_smooth_l1_loss(dt::at<dt_tensor *> input, dt_tensor *target, const T &...options) {
    return dt_smooth_l1_loss_sized(input, target, dt::named<dt_smooth_l1_loss_options>(input.site, options...).get(),
                                   sizeof(dt_smooth_l1_loss_options));
}
template <class... T> dt_tensor *dt_softmax(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_softmax_sized(self, dim, dt::named<dt_softmax_options>(self.site, options...).get(),
                            sizeof(dt_softmax_options));
}
template <class... T> dt_tensor *dt_softmin(dt::at<dt_tensor *> input, const T &...options) {
    return dt_softmin_sized(input, dt::named<dt_softmin_options>(input.site, options...).get(),
                            sizeof(dt_softmin_options));
}
template <class... T> dt_tensor *dt_softplus(dt::at<dt_tensor *> self, const T &...options) {
    return dt_softplus_sized(self, dt::named<dt_softplus_options>(self.site, options...).get(),
                             sizeof(dt_softplus_options));
}
template <class... T> dt_tensor *dt_softshrink(dt::at<dt_tensor *> self, const T &...options) {
    return dt_softshrink_sized(self, dt::named<dt_softshrink_options>(self.site, options...).get(),
                               sizeof(dt_softshrink_options));
}
template <class... T> dt_tensor *dt_softsign(dt::at<dt_tensor *> input, const T &...options) {
    return dt_softsign_sized(input, dt::named<dt_softsign_options>(input.site, options...).get(),
                             sizeof(dt_softsign_options));
}
template <class... T> dt_sort_result dt_sort(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sort_sized(self, dt::named<dt_sort_options>(self.site, options...).get(), sizeof(dt_sort_options));
}
template <class... T>
int dt_split(dt::at<dt_tensor *> self, int64_t split_size, dt_tensor **out, int capacity, const T &...options) {
    return dt_split_sized(self, split_size, out, capacity, dt::named<dt_split_options>(self.site, options...).get(),
                          sizeof(dt_split_options));
}
template <class... T>
int dt_split_sizes(dt::at<dt_tensor *> self, dt_ints split_size, dt_tensor **out, int capacity, const T &...options) {
    return dt_split_sizes_sized(self, split_size, out, capacity,
                                dt::named<dt_split_sizes_options>(self.site, options...).get(),
                                sizeof(dt_split_sizes_options));
}
template <class... T>
int dt_split_with_sizes(dt::at<dt_tensor *> self, dt_ints split_sizes, dt_tensor **out, int capacity,
                        const T &...options) {
    return dt_split_with_sizes_sized(self, split_sizes, out, capacity,
                                     dt::named<dt_split_with_sizes_options>(self.site, options...).get(),
                                     sizeof(dt_split_with_sizes_options));
}
template <class... T> dt_tensor *dt_sqrt(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sqrt_sized(self, dt::named<dt_sqrt_options>(self.site, options...).get(), sizeof(dt_sqrt_options));
}
template <class... T> dt_tensor *dt_sqrt_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sqrt_in_place_sized(self, dt::named<dt_sqrt_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_sqrt_in_place_options));
}
template <class... T> dt_tensor *dt_square(dt::at<dt_tensor *> self, const T &...options) {
    return dt_square_sized(self, dt::named<dt_square_options>(self.site, options...).get(),
                           sizeof(dt_square_options));
}
template <class... T> dt_tensor *dt_square_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_square_in_place_sized(self, dt::named<dt_square_in_place_options>(self.site, options...).get(),
                                    sizeof(dt_square_in_place_options));
}
template <class... T> dt_tensor *dt_squeeze(dt::at<dt_tensor *> self, const T &...options) {
    return dt_squeeze_sized(self, dt::named<dt_squeeze_options>(self.site, options...).get(),
                            sizeof(dt_squeeze_options));
}
template <class... T> dt_tensor *dt_squeeze_dim(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_squeeze_dim_sized(self, dim, dt::named<dt_squeeze_dim_options>(self.site, options...).get(),
                                sizeof(dt_squeeze_dim_options));
}
template <class... T> dt_tensor *dt_squeeze_dims(dt::at<dt_tensor *> self, dt_dims dim, const T &...options) {
    return dt_squeeze_dims_sized(self, dim, dt::named<dt_squeeze_dims_options>(self.site, options...).get(),
                                 sizeof(dt_squeeze_dims_options));
}
template <class... T> dt_tensor *dt_stack(dt::at<dt_tensors> tensors, const T &...options) {
    return dt_stack_sized(tensors, dt::named<dt_stack_options>(tensors.site, options...).get(),
                          sizeof(dt_stack_options));
}
template <class... T> dt_tensor *dt_std(dt::at<dt_tensor *> self, const T &...options) {
    return dt_std_sized(self, dt::named<dt_std_options>(self.site, options...).get(), sizeof(dt_std_options));
}
template <class... T> dt_tensor *dt_std_correction(dt::at<dt_tensor *> self, const T &...options) {
    return dt_std_correction_sized(self, dt::named<dt_std_correction_options>(self.site, options...).get(),
                                   sizeof(dt_std_correction_options));
}
template <class... T> dt_std_mean_result dt_std_mean(dt::at<dt_tensor *> self, const T &...options) {
    return dt_std_mean_sized(self, dt::named<dt_std_mean_options>(self.site, options...).get(),
                             sizeof(dt_std_mean_options));
}
template <class... T>
dt_std_mean_correction_result dt_std_mean_correction(dt::at<dt_tensor *> self, const T &...options) {
    return dt_std_mean_correction_sized(self, dt::named<dt_std_mean_correction_options>(self.site, options...).get(),
                                        sizeof(dt_std_mean_correction_options));
}
template <class... T> dt_tensor *dt_sub(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_sub_sized(self, other, dt::named<dt_sub_options>(self.site, options...).get(), sizeof(dt_sub_options));
}
template <class... T> dt_tensor *dt_sub_scalar(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_sub_scalar_sized(self, other, dt::named<dt_sub_scalar_options>(self.site, options...).get(),
                               sizeof(dt_sub_scalar_options));
}
template <class... T> dt_tensor *dt_sub_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_sub_in_place_sized(self, other, dt::named<dt_sub_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_sub_in_place_options));
}
template <class... T> dt_tensor *dt_sub_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_sub_scalar_in_place_sized(self, other,
                                        dt::named<dt_sub_scalar_in_place_options>(self.site, options...).get(),
                                        sizeof(dt_sub_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_sum(dt::at<dt_tensor *> self, const T &...options) {
    return dt_sum_sized(self, dt::named<dt_sum_options>(self.site, options...).get(), sizeof(dt_sum_options));
}
template <class... T> dt_svd_result dt_svd(dt::at<dt_tensor *> self, const T &...options) {
    return dt_svd_sized(self, dt::named<dt_svd_options>(self.site, options...).get(), sizeof(dt_svd_options));
}
template <class... T>
dt_tensor *dt_swapaxes(dt::at<dt_tensor *> self, int64_t axis0, int64_t axis1, const T &...options) {
    return dt_swapaxes_sized(self, axis0, axis1, dt::named<dt_swapaxes_options>(self.site, options...).get(),
                             sizeof(dt_swapaxes_options));
}
template <class... T> dt_tensor *dt_t(dt::at<dt_tensor *> self, const T &...options) {
    return dt_t_sized(self, dt::named<dt_t_options>(self.site, options...).get(), sizeof(dt_t_options));
}
template <class... T>
dt_tensor *dt_take_along_dim(dt::at<dt_tensor *> self, dt_tensor *indices, const T &...options) {
    return dt_take_along_dim_sized(self, indices, dt::named<dt_take_along_dim_options>(self.site, options...).get(),
                                   sizeof(dt_take_along_dim_options));
}
template <class... T> dt_tensor *dt_tan(dt::at<dt_tensor *> self, const T &...options) {
    return dt_tan_sized(self, dt::named<dt_tan_options>(self.site, options...).get(), sizeof(dt_tan_options));
}
template <class... T> dt_tensor *dt_tan_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_tan_in_place_sized(self, dt::named<dt_tan_in_place_options>(self.site, options...).get(),
                                 sizeof(dt_tan_in_place_options));
}
template <class... T> dt_tensor *dt_tanh(dt::at<dt_tensor *> self, const T &...options) {
    return dt_tanh_sized(self, dt::named<dt_tanh_options>(self.site, options...).get(), sizeof(dt_tanh_options));
}
template <class... T> dt_tensor *dt_tanh_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_tanh_in_place_sized(self, dt::named<dt_tanh_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_tanh_in_place_options));
}
template <class... T>
dt_tensor *dt_tanh_backward(dt::at<dt_tensor *> grad_output, dt_tensor *output, const T &...options) {
    return dt_tanh_backward_sized(grad_output, output,
                                  dt::named<dt_tanh_backward_options>(grad_output.site, options...).get(),
                                  sizeof(dt_tanh_backward_options));
}
template <class... T> dt_tensor *dt_tanhshrink(dt::at<dt_tensor *> input, const T &...options) {
    return dt_tanhshrink_sized(input, dt::named<dt_tanhshrink_options>(input.site, options...).get(),
                               sizeof(dt_tanhshrink_options));
}
template <class... T>
int dt_tensor_split(dt::at<dt_tensor *> self, int64_t sections, dt_tensor **out, int capacity, const T &...options) {
    return dt_tensor_split_sized(self, sections, out, capacity,
                                 dt::named<dt_tensor_split_options>(self.site, options...).get(),
                                 sizeof(dt_tensor_split_options));
}
template <class... T>
int dt_tensor_split_indices(dt::at<dt_tensor *> self, dt_ints indices, dt_tensor **out, int capacity,
                            const T &...options) {
    return dt_tensor_split_indices_sized(self, indices, out, capacity,
                                         dt::named<dt_tensor_split_indices_options>(self.site, options...).get(),
                                         sizeof(dt_tensor_split_indices_options));
}
template <class... T>
int dt_tensor_split_tensor_indices_or_sections(dt::at<dt_tensor *> self, dt_tensor *tensor_indices_or_sections,
                                               dt_tensor **out, int capacity, const T &...options) {
    return dt_tensor_split_tensor_indices_or_sections_sized(
        self, tensor_indices_or_sections, out, capacity,
        dt::named<dt_tensor_split_tensor_indices_or_sections_options>(self.site, options...).get(),
        sizeof(dt_tensor_split_tensor_indices_or_sections_options));
}
template <class... T>
dt_tensor *dt_tensordot(dt::at<dt_tensor *> self, dt_tensor *other, dt_ints dims_self, dt_ints dims_other,
                        const T &...options) {
    return dt_tensordot_sized(self, other, dims_self, dims_other,
                              dt::named<dt_tensordot_options>(self.site, options...).get(),
                              sizeof(dt_tensordot_options));
}
template <class... T>
dt_tensor *dt_threshold(dt::at<dt_tensor *> input, double threshold, double value, const T &...options) {
    return dt_threshold_sized(input, threshold, value, dt::named<dt_threshold_options>(input.site, options...).get(),
                              sizeof(dt_threshold_options));
}
template <class... T>
dt_tensor *dt_threshold_(dt::at<dt_tensor *> input, double threshold, double value, const T &...options) {
    return dt_threshold_in_place_sized(input, threshold, value,
                                       dt::named<dt_threshold_in_place_options>(input.site, options...).get(),
                                       sizeof(dt_threshold_in_place_options));
}
template <class... T>
dt_tensor *dt_threshold_backward(dt::at<dt_tensor *> grad_output, dt_tensor *self, dt::number threshold,
                                 const T &...options) {
    return dt_threshold_backward_sized(grad_output, self, threshold,
                                       dt::named<dt_threshold_backward_options>(grad_output.site, options...).get(),
                                       sizeof(dt_threshold_backward_options));
}
template <class... T> dt_tensor *dt_tile(dt::at<dt_tensor *> self, dt_dims dims, const T &...options) {
    return dt_tile_sized(self, dims, dt::named<dt_tile_options>(self.site, options...).get(),
                         sizeof(dt_tile_options));
}
template <class... T> dt_tensor *dt_to(dt::at<dt_tensor *> self, dt_dtype dtype, const T &...options) {
    return dt_to_sized(self, dtype, dt::named<dt_to_options>(self.site, options...).get(), sizeof(dt_to_options));
}
template <class... T> dt_topk_result dt_topk(dt::at<dt_tensor *> self, int64_t k, const T &...options) {
    return dt_topk_sized(self, k, dt::named<dt_topk_options>(self.site, options...).get(), sizeof(dt_topk_options));
}
template <class... T> dt_tensor *dt_trace(dt::at<dt_tensor *> self, const T &...options) {
    return dt_trace_sized(self, dt::named<dt_trace_options>(self.site, options...).get(), sizeof(dt_trace_options));
}
template <class... T>
dt_tensor *dt_transpose(dt::at<dt_tensor *> self, int64_t dim0, int64_t dim1, const T &...options) {
    return dt_transpose_sized(self, dim0, dim1, dt::named<dt_transpose_options>(self.site, options...).get(),
                              sizeof(dt_transpose_options));
}
template <class... T>
dt_triangular_solve_result dt_triangular_solve(dt::at<dt_tensor *> self, dt_tensor *A, const T &...options) {
    return dt_triangular_solve_sized(self, A, dt::named<dt_triangular_solve_options>(self.site, options...).get(),
                                     sizeof(dt_triangular_solve_options));
}
template <class... T> dt_tensor *dt_tril(dt::at<dt_tensor *> self, const T &...options) {
    return dt_tril_sized(self, dt::named<dt_tril_options>(self.site, options...).get(), sizeof(dt_tril_options));
}
template <class... T> dt_tensor *dt_tril_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_tril_in_place_sized(self, dt::named<dt_tril_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_tril_in_place_options));
}
template <class... T>
dt_tensor *dt_tril_indices(dt::at<dt_ctx *> ctx, int64_t row, int64_t col, int64_t offset, const T &...options) {
    return dt_tril_indices_sized(ctx, row, col, offset, dt::named<dt_make_options>(ctx.site, options...).get(),
                                 sizeof(dt_make_options));
}
template <class... T> dt_tensor *dt_triu(dt::at<dt_tensor *> self, const T &...options) {
    return dt_triu_sized(self, dt::named<dt_triu_options>(self.site, options...).get(), sizeof(dt_triu_options));
}
template <class... T> dt_tensor *dt_triu_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_triu_in_place_sized(self, dt::named<dt_triu_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_triu_in_place_options));
}
template <class... T>
dt_tensor *dt_triu_indices(dt::at<dt_ctx *> ctx, int64_t row, int64_t col, int64_t offset, const T &...options) {
    return dt_triu_indices_sized(ctx, row, col, offset, dt::named<dt_make_options>(ctx.site, options...).get(),
                                 sizeof(dt_make_options));
}
template <class... T> dt_tensor *dt_trunc(dt::at<dt_tensor *> self, const T &...options) {
    return dt_trunc_sized(self, dt::named<dt_trunc_options>(self.site, options...).get(), sizeof(dt_trunc_options));
}
template <class... T> dt_tensor *dt_trunc_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_trunc_in_place_sized(self, dt::named<dt_trunc_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_trunc_in_place_options));
}
template <class... T> dt_tensor *dt_type_as(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_type_as_sized(self, other, dt::named<dt_type_as_options>(self.site, options...).get(),
                            sizeof(dt_type_as_options));
}
template <class... T> int dt_unbind(dt::at<dt_tensor *> self, dt_tensor **out, int capacity, const T &...options) {
    return dt_unbind_sized(self, out, capacity, dt::named<dt_unbind_options>(self.site, options...).get(),
                           sizeof(dt_unbind_options));
}
template <class... T>
dt_tensor *dt_unflatten(dt::at<dt_tensor *> self, int64_t dim, dt_shape sizes, const T &...options) {
    return dt_unflatten_sized(self, dim, sizes, dt::named<dt_unflatten_options>(self.site, options...).get(),
                              sizeof(dt_unflatten_options));
}
template <class... T>
dt_tensor *dt_unfold(dt::at<dt_tensor *> self, int64_t dimension, int64_t size, int64_t step, const T &...options) {
    return dt_unfold_sized(self, dimension, size, step, dt::named<dt_unfold_options>(self.site, options...).get(),
                           sizeof(dt_unfold_options));
}
template <class... T>
dt_tensor *dt_unfold_backward(dt::at<dt_tensor *> grad_in, dt_shape input_sizes, int64_t dim, int64_t size,
                              int64_t step, const T &...options) {
    return dt_unfold_backward_sized(grad_in, input_sizes, dim, size, step,
                                    dt::named<dt_unfold_backward_options>(grad_in.site, options...).get(),
                                    sizeof(dt_unfold_backward_options));
}
template <class... T> dt_tensor *dt_unsqueeze(dt::at<dt_tensor *> self, int64_t dim, const T &...options) {
    return dt_unsqueeze_sized(self, dim, dt::named<dt_unsqueeze_options>(self.site, options...).get(),
                              sizeof(dt_unsqueeze_options));
}
template <class... T> dt_tensor *dt_var(dt::at<dt_tensor *> self, const T &...options) {
    return dt_var_sized(self, dt::named<dt_var_options>(self.site, options...).get(), sizeof(dt_var_options));
}
template <class... T> dt_tensor *dt_var_correction(dt::at<dt_tensor *> self, const T &...options) {
    return dt_var_correction_sized(self, dt::named<dt_var_correction_options>(self.site, options...).get(),
                                   sizeof(dt_var_correction_options));
}
template <class... T> dt_var_mean_result dt_var_mean(dt::at<dt_tensor *> self, const T &...options) {
    return dt_var_mean_sized(self, dt::named<dt_var_mean_options>(self.site, options...).get(),
                             sizeof(dt_var_mean_options));
}
template <class... T>
dt_var_mean_correction_result dt_var_mean_correction(dt::at<dt_tensor *> self, const T &...options) {
    return dt_var_mean_correction_sized(self, dt::named<dt_var_mean_correction_options>(self.site, options...).get(),
                                        sizeof(dt_var_mean_correction_options));
}
template <class... T> dt_tensor *dt_vdot(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_vdot_sized(self, other, dt::named<dt_vdot_options>(self.site, options...).get(),
                         sizeof(dt_vdot_options));
}
template <class... T> dt_tensor *dt_view(dt::at<dt_tensor *> self, dt_shape size, const T &...options) {
    return dt_view_sized(self, size, dt::named<dt_view_options>(self.site, options...).get(),
                         sizeof(dt_view_options));
}
template <class... T> dt_tensor *dt_view_as(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_view_as_sized(self, other, dt::named<dt_view_as_options>(self.site, options...).get(),
                            sizeof(dt_view_as_options));
}
template <class... T> dt_tensor *dt_view_as_complex(dt::at<dt_tensor *> self, const T &...options) {
    return dt_view_as_complex_sized(self, dt::named<dt_view_as_complex_options>(self.site, options...).get(),
                                    sizeof(dt_view_as_complex_options));
}
template <class... T> dt_tensor *dt_view_as_real(dt::at<dt_tensor *> self, const T &...options) {
    return dt_view_as_real_sized(self, dt::named<dt_view_as_real_options>(self.site, options...).get(),
                                 sizeof(dt_view_as_real_options));
}
template <class... T> dt_tensor *dt_vstack(dt::at<dt_tensors> tensors, const T &...options) {
    return dt_vstack_sized(tensors, dt::named<dt_vstack_options>(tensors.site, options...).get(),
                           sizeof(dt_vstack_options));
}
template <class... T>
dt_tensor *dt_where(dt::at<dt_tensor *> condition, dt_tensor *self, dt_tensor *other, const T &...options) {
    return dt_where_sized(condition, self, other, dt::named<dt_where_options>(condition.site, options...).get(),
                          sizeof(dt_where_options));
}
template <class... T>
dt_tensor *dt_where_scalar_other(dt::at<dt_tensor *> condition, dt_tensor *self, dt::number other,
                                 const T &...options) {
    return dt_where_scalar_other_sized(condition, self, other,
                                       dt::named<dt_where_scalar_other_options>(condition.site, options...).get(),
                                       sizeof(dt_where_scalar_other_options));
}
template <class... T>
dt_tensor *dt_where_scalar_self(dt::at<dt_tensor *> condition, dt::number self, dt_tensor *other,
                                const T &...options) {
    return dt_where_scalar_self_sized(condition, self, other,
                                      dt::named<dt_where_scalar_self_options>(condition.site, options...).get(),
                                      sizeof(dt_where_scalar_self_options));
}
template <class... T>
dt_tensor *dt_where_scalars(dt::at<dt_tensor *> condition, dt::number self, dt::number other, const T &...options) {
    return dt_where_scalars_sized(condition, self, other,
                                  dt::named<dt_where_scalars_options>(condition.site, options...).get(),
                                  sizeof(dt_where_scalars_options));
}
template <class... T> dt_tensor *dt_xlogy(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_xlogy_sized(self, other, dt::named<dt_xlogy_options>(self.site, options...).get(),
                          sizeof(dt_xlogy_options));
}
template <class... T>
dt_tensor *dt_xlogy_scalar_other(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_xlogy_scalar_other_sized(self, other,
                                       dt::named<dt_xlogy_scalar_other_options>(self.site, options...).get(),
                                       sizeof(dt_xlogy_scalar_other_options));
}
template <class... T> dt_tensor *dt_xlogy_scalar_self(dt::at<dt_number> self, dt_tensor *other, const T &...options) {
    return dt_xlogy_scalar_self_sized(self, other,
                                      dt::named<dt_xlogy_scalar_self_options>(self.site, options...).get(),
                                      sizeof(dt_xlogy_scalar_self_options));
}
template <class... T> dt_tensor *dt_xlogy_(dt::at<dt_tensor *> self, dt_tensor *other, const T &...options) {
    return dt_xlogy_in_place_sized(self, other, dt::named<dt_xlogy_in_place_options>(self.site, options...).get(),
                                   sizeof(dt_xlogy_in_place_options));
}
template <class... T> dt_tensor *dt_xlogy_scalar_(dt::at<dt_tensor *> self, dt::number other, const T &...options) {
    return dt_xlogy_scalar_in_place_sized(self, other,
                                          dt::named<dt_xlogy_scalar_in_place_options>(self.site, options...).get(),
                                          sizeof(dt_xlogy_scalar_in_place_options));
}
template <class... T> dt_tensor *dt_zero_(dt::at<dt_tensor *> self, const T &...options) {
    return dt_zero_in_place_sized(self, dt::named<dt_zero_in_place_options>(self.site, options...).get(),
                                  sizeof(dt_zero_in_place_options));
}
template <class... T> dt_tensor *dt_zeros(dt::at<dt_ctx *> ctx, dt_shape size, const T &...options) {
    return dt_zeros_sized(ctx, size, dt::named<dt_make_options>(ctx.site, options...).get(), sizeof(dt_make_options));
}
template <class... T> dt_tensor *dt_zeros_like(dt::at<dt_tensor *> self, const T &...options) {
    return dt_zeros_like_sized(self, dt::named<dt_zeros_like_options>(self.site, options...).get(),
                               sizeof(dt_zeros_like_options));
}
template <class... T> dt_params *dt_params_new(dt::at<dt_ctx *> ctx, const T &...options) {
    return dt_params_new_sized(ctx, dt::named<dt_params_new_options>(ctx.site, options...).get(),
                               sizeof(dt_params_new_options));
}
template <class... T> dt_params *dt_params_open(dt::at<dt_ctx *> ctx, const char *path, const T &...options) {
    return dt_params_open_sized(ctx, path, dt::named<dt_params_open_options>(ctx.site, options...).get(),
                                sizeof(dt_params_open_options));
}
template <class... T> dt_status dt_params_save(dt::at<dt_params *> params, const char *folder, const T &...options) {
    return dt_params_save_sized(params, folder, dt::named<dt_params_save_options>(params.site, options...).get(),
                                sizeof(dt_params_save_options));
}
template <class... T>
dt_tensor *dt_param(dt::at<dt_params *> params, const char *name, dt_shape shape, const T &...options) {
    return dt_param_sized(params, name, shape, dt::named<dt_param_options>(params.site, options...).get(),
                          sizeof(dt_param_options));
}
template <class... T> dt_schedule *dt_schedule_new(dt::at<dt_ctx *> ctx, const char *text, const T &...options) {
    return dt_schedule_new_sized(ctx, text, dt::named<dt_schedule_new_options>(ctx.site, options...).get(),
                                 sizeof(dt_schedule_new_options));
}
template <class... T>
dt_status dt_pipeline_run(dt::at<dt_schedule *> schedule, dt_mesh *mesh, dt_stage_fn *run, void *user,
                          const T &...options) {
    return dt_pipeline_run_sized(schedule, mesh, run, user,
                                 dt::named<dt_pipeline_run_options>(schedule.site, options...).get(),
                                 sizeof(dt_pipeline_run_options));
}
template <class... T>
dt_status dt_curve_save_svg(dt::at<dt_ctx *> ctx, const char *path, int64_t n, const double *values,
                            const T &...options) {
    return dt_curve_save_svg_sized(ctx, path, n, values, dt::named<dt_curve_options>(ctx.site, options...).get(),
                                   sizeof(dt_curve_options));
}
template <class... T> dt_tensor *dt_rand(dt::at<dt_ctx *> ctx, dt_shape shape, const T &...options) {
    return dt_rand_sized(ctx, shape, dt::named<dt_random_options>(ctx.site, options...).get(),
                         sizeof(dt_random_options));
}
template <class... T> dt_tensor *dt_randn(dt::at<dt_ctx *> ctx, dt_shape shape, const T &...options) {
    return dt_randn_sized(ctx, shape, dt::named<dt_random_options>(ctx.site, options...).get(),
                          sizeof(dt_random_options));
}
template <class... T> dt_tensor *dt_truncated_normal(dt::at<dt_ctx *> ctx, dt_shape shape, const T &...options) {
    return dt_truncated_normal_sized(ctx, shape, dt::named<dt_random_options>(ctx.site, options...).get(),
                                     sizeof(dt_random_options));
}
template <class... T> dt_tensor *dt_exponential(dt::at<dt_ctx *> ctx, dt_shape shape, const T &...options) {
    return dt_exponential_sized(ctx, shape, dt::named<dt_random_options>(ctx.site, options...).get(),
                                sizeof(dt_random_options));
}
template <class... T>
dt_tensor *dt_randint(dt::at<dt_ctx *> ctx, int64_t low, int64_t high, dt_shape shape, const T &...options) {
    return dt_randint_sized(ctx, low, high, shape, dt::named<dt_random_options>(ctx.site, options...).get(),
                            sizeof(dt_random_options));
}
template <class... T> dt_tensor *dt_bernoulli(dt::at<dt_ctx *> ctx, double p, dt_shape shape, const T &...options) {
    return dt_bernoulli_sized(ctx, p, shape, dt::named<dt_random_options>(ctx.site, options...).get(),
                              sizeof(dt_random_options));
}
template <class... T>
dt_tensor *dt_dropout_mask(dt::at<dt_ctx *> ctx, double p, dt_shape shape, const T &...options) {
    return dt_dropout_mask_sized(ctx, p, shape, dt::named<dt_random_options>(ctx.site, options...).get(),
                                 sizeof(dt_random_options));
}
template <class... T> dt_tensor *dt_randperm(dt::at<dt_ctx *> ctx, int64_t n, const T &...options) {
    return dt_randperm_sized(ctx, n, dt::named<dt_random_options>(ctx.site, options...).get(),
                             sizeof(dt_random_options));
}
template <class... T> dt_tensor *dt_rand_like(dt::at<const dt_tensor *> tensor, const T &...options) {
    return dt_rand_like_sized(tensor, dt::named<dt_random_options>(tensor.site, options...).get(),
                              sizeof(dt_random_options));
}
template <class... T> dt_tensor *dt_randn_like(dt::at<const dt_tensor *> tensor, const T &...options) {
    return dt_randn_like_sized(tensor, dt::named<dt_random_options>(tensor.site, options...).get(),
                               sizeof(dt_random_options));
}
template <class... T>
dt_tensor *dt_randint_like(dt::at<const dt_tensor *> tensor, int64_t low, int64_t high, const T &...options) {
    return dt_randint_like_sized(tensor, low, high, dt::named<dt_random_options>(tensor.site, options...).get(),
                                 sizeof(dt_random_options));
}
template <class... T> dt_tensor *dt_bernoulli_like(dt::at<const dt_tensor *> tensor, double p, const T &...options) {
    return dt_bernoulli_like_sized(tensor, p, dt::named<dt_random_options>(tensor.site, options...).get(),
                                   sizeof(dt_random_options));
}
template <class... T>
dt_tensor *dt_dropout_mask_like(dt::at<const dt_tensor *> tensor, double p, const T &...options) {
    return dt_dropout_mask_like_sized(tensor, p, dt::named<dt_random_options>(tensor.site, options...).get(),
                                      sizeof(dt_random_options));
}
template <class... T> dt_status dt_uniform_(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_uniform_in_place_sized(tensor, dt::named<dt_random_options>(tensor.site, options...).get(),
                                     sizeof(dt_random_options));
}
template <class... T> dt_status dt_normal_(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_normal_in_place_sized(tensor, dt::named<dt_random_options>(tensor.site, options...).get(),
                                    sizeof(dt_random_options));
}
template <class... T> dt_status dt_truncated_normal_(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_truncated_normal_in_place_sized(tensor, dt::named<dt_random_options>(tensor.site, options...).get(),
                                              sizeof(dt_random_options));
}
template <class... T> dt_status dt_exponential_(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_exponential_in_place_sized(tensor, dt::named<dt_random_options>(tensor.site, options...).get(),
                                         sizeof(dt_random_options));
}
template <class... T>
dt_status dt_randint_(dt::at<dt_tensor *> tensor, int64_t low, int64_t high, const T &...options) {
    return dt_randint_in_place_sized(tensor, low, high, dt::named<dt_random_options>(tensor.site, options...).get(),
                                     sizeof(dt_random_options));
}
template <class... T> dt_status dt_bernoulli_(dt::at<dt_tensor *> tensor, double p, const T &...options) {
    return dt_bernoulli_in_place_sized(tensor, p, dt::named<dt_random_options>(tensor.site, options...).get(),
                                       sizeof(dt_random_options));
}
template <class... T>
dt_tensor *dt_distribute_tensor(dt::at<dt_tensor *> value, dt_mesh *mesh, const char *place, const T &...options) {
    return dt_distribute_tensor_sized(value, mesh, place,
                                      dt::named<dt_distribute_tensor_options>(value.site, options...).get(),
                                      sizeof(dt_distribute_tensor_options));
}
template <class... T>
dt_tensor *dt_from_local(dt::at<dt_ctx *> ctx, dt_tensor *local, dt_mesh *mesh, const char *place,
                         const T &...options) {
    return dt_from_local_sized(ctx, local, mesh, place, dt::named<dt_from_local_options>(ctx.site, options...).get(),
                               sizeof(dt_from_local_options));
}
template <class... T> dt_tensor *dt_to_local(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_to_local_sized(tensor, dt::named<dt_to_local_options>(tensor.site, options...).get(),
                             sizeof(dt_to_local_options));
}
template <class... T> dt_tensor *dt_full_tensor(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_full_tensor_sized(tensor, dt::named<dt_full_tensor_options>(tensor.site, options...).get(),
                                sizeof(dt_full_tensor_options));
}
template <class... T> dt_tensor *dt_redistribute(dt::at<dt_tensor *> tensor, const char *place, const T &...options) {
    return dt_redistribute_sized(tensor, place, dt::named<dt_redistribute_options>(tensor.site, options...).get(),
                                 sizeof(dt_redistribute_options));
}
template <class... T>
dt_status dt_redistribute_list(dt::at<dt_tensors> tensors, const char *const *places, dt_tensor **results,
                               const T &...options) {
    return dt_redistribute_list_sized(tensors, places, results,
                                      dt::named<dt_redistribute_list_options>(tensors.site, options...).get(),
                                      sizeof(dt_redistribute_list_options));
}
template <class... T> dt_tensor *dt_reduced(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_reduced_sized(tensor, dt::named<dt_reduced_options>(tensor.site, options...).get(),
                            sizeof(dt_reduced_options));
}
template <class... T>
dt_transfer *dt_redistribute_start(dt::at<dt_tensor *> tensor, const char *place, const T &...options) {
    return dt_redistribute_start_sized(tensor, place,
                                       dt::named<dt_redistribute_options>(tensor.site, options...).get(),
                                       sizeof(dt_redistribute_options));
}
template <class... T> dt_status dt_print(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_print_sized(tensor, dt::named<dt_print_options>(tensor.site, options...).get(),
                          sizeof(dt_print_options));
}
template <class... T> char *dt_format(dt::at<dt_tensor *> tensor, const T &...options) {
    return dt_format_sized(tensor, dt::named<dt_print_options>(tensor.site, options...).get(),
                           sizeof(dt_print_options));
}
template <class... T> dt_tensor *dt_scalar(dt::at<dt_ctx *> ctx, double value, const T &...options) {
    return dt_scalar_sized(ctx, value, dt::named<dt_make_options>(ctx.site, options...).get(),
                           sizeof(dt_make_options));
}
template <class... T>
dt_tensor *dt_tri(dt::at<dt_ctx *> ctx, int64_t n_rows, int64_t n_columns, int64_t k, const T &...options) {
    return dt_tri_sized(ctx, n_rows, n_columns, k, dt::named<dt_make_options>(ctx.site, options...).get(),
                        sizeof(dt_make_options));
}
template <class... T> dt_optimizer *dt_adam_new(dt::at<dt_ctx *> ctx, double lr, const T &...options) {
    return dt_adam_new_sized(ctx, lr, dt::named<dt_adam_new_options>(ctx.site, options...).get(),
                             sizeof(dt_adam_new_options));
}
template <class... T> dt_optimizer *dt_adamw_new(dt::at<dt_ctx *> ctx, double lr, const T &...options) {
    return dt_adamw_new_sized(ctx, lr, dt::named<dt_adam_new_options>(ctx.site, options...).get(),
                              sizeof(dt_adam_new_options));
}
template <class... T> dt_optimizer *dt_sgd_new(dt::at<dt_ctx *> ctx, double lr, const T &...options) {
    return dt_sgd_new_sized(ctx, lr, dt::named<dt_sgd_new_options>(ctx.site, options...).get(),
                            sizeof(dt_sgd_new_options));
}
template <class... T> dt_optimizer *dt_adagrad_new(dt::at<dt_ctx *> ctx, double lr, const T &...options) {
    return dt_adagrad_new_sized(ctx, lr, dt::named<dt_adagrad_new_options>(ctx.site, options...).get(),
                                sizeof(dt_adagrad_new_options));
}
template <class... T> dt_optimizer *dt_rmsprop_new(dt::at<dt_ctx *> ctx, double lr, const T &...options) {
    return dt_rmsprop_new_sized(ctx, lr, dt::named<dt_rmsprop_new_options>(ctx.site, options...).get(),
                                sizeof(dt_rmsprop_new_options));
}
template <class... T> dt_optimizer *dt_adamax_new(dt::at<dt_ctx *> ctx, double lr, const T &...options) {
    return dt_adamax_new_sized(ctx, lr, dt::named<dt_adamax_new_options>(ctx.site, options...).get(),
                               sizeof(dt_adamax_new_options));
}
template <class... T> dt_optimizer *dt_nadam_new(dt::at<dt_ctx *> ctx, double lr, const T &...options) {
    return dt_nadam_new_sized(ctx, lr, dt::named<dt_nadam_new_options>(ctx.site, options...).get(),
                              sizeof(dt_nadam_new_options));
}
template <class... T> dt_optimizer *dt_radam_new(dt::at<dt_ctx *> ctx, double lr, const T &...options) {
    return dt_radam_new_sized(ctx, lr, dt::named<dt_radam_new_options>(ctx.site, options...).get(),
                              sizeof(dt_radam_new_options));
}
template <class... T> dt_optimizer *dt_lion_new(dt::at<dt_ctx *> ctx, double lr, const T &...options) {
    return dt_lion_new_sized(ctx, lr, dt::named<dt_lion_new_options>(ctx.site, options...).get(),
                             sizeof(dt_lion_new_options));
}
template <class... T> dt_status dt_optimizer_step(dt::at<dt_optimizer *> optimizer, const T &...options) {
    return dt_optimizer_step_sized(optimizer, dt::named<dt_optimizer_step_options>(optimizer.site, options...).get(),
                                   sizeof(dt_optimizer_step_options));
}
template <class... T> dt_tensor *dt_grad_norm(dt::at<dt_tensors> parameters, const T &...options) {
    return dt_grad_norm_sized(parameters, dt::named<dt_grad_norm_options>(parameters.site, options...).get(),
                              sizeof(dt_grad_norm_options));
}
template <class... T>
dt_tensor *dt_clip_grad_norm(dt::at<dt_tensors> parameters, double max_norm, const T &...options) {
    return dt_clip_grad_norm_sized(parameters, max_norm,
                                   dt::named<dt_grad_norm_options>(parameters.site, options...).get(),
                                   sizeof(dt_grad_norm_options));
}
inline dt_status dt_backward_rest(dt_rest *rest, dt_site site = dt::here()) {
    return dt_backward_rest_site(rest, &site);
}
inline dt_status dt_zero_grad(dt_tensors tensors, dt_site site = dt::here()) {
    return dt_zero_grad_site(tensors, &site);
}
inline dt_status dt_retain_grad(dt_tensor *tensor, dt_site site = dt::here()) {
    return dt_retain_grad_site(tensor, &site);
}
inline int64_t dt_grad_hook_add(dt_tensor *tensor, dt_grad_hook *hook, void *user, dt_site site = dt::here()) {
    return dt_grad_hook_add_site(tensor, hook, user, &site);
}
inline dt_status dt_grad_hook_remove(dt_tensor *tensor, int64_t id, dt_site site = dt::here()) {
    return dt_grad_hook_remove_site(tensor, id, &site);
}
inline dt_tensor *dt_checkpoint(dt_checkpoint_fn *run, void *user, dt_tensors inputs, dt_site site = dt::here()) {
    return dt_checkpoint_site(run, user, inputs, &site);
}
inline int64_t dt_grad_hook_add_owner(dt_tensor *tensor, dt_grad_hook *hook, void *user, dt_user_end *end,
                                      dt_site site = dt::here()) {
    return dt_grad_hook_add_owner_site(tensor, hook, user, end, &site);
}
inline dt_tensor *dt_checkpoint_owner(dt_checkpoint_fn *run, void *user, dt_user_end *end, dt_tensors inputs,
                                      dt_site site = dt::here()) {
    return dt_checkpoint_owner_site(run, user, end, inputs, &site);
}
inline dt_tensor *dt_detach(const dt_tensor *tensor, dt_site site = dt::here()) {
    return dt_detach_site(tensor, &site);
}
inline dt_status dt_no_grad_end(dt_ctx *ctx, dt_site site = dt::here()) { return dt_no_grad_end_site(ctx, &site); }
inline dt_ctx *dt_init(const dt_init_options *options, dt_site site = dt::here()) {
    return dt_init_sized(options, sizeof *options, &site);
}
inline int dt_close(dt_ctx *ctx, dt_site site = dt::here()) { return dt_close_site(ctx, &site); }
inline dt_status dt_error_clear(dt_ctx *ctx, dt_site site = dt::here()) { return dt_error_clear_site(ctx, &site); }
inline void dt_batches_free(dt_batches *batches, dt_site site = dt::here()) {
    return dt_batches_free_site(batches, &site);
}
inline dt_tensor *dt_batches_next(dt_batches *batches, dt_site site = dt::here()) {
    return dt_batches_next_site(batches, &site);
}
inline dt_status dt_batches_seek(dt_batches *batches, int64_t position, dt_site site = dt::here()) {
    return dt_batches_seek_site(batches, position, &site);
}
inline void dt_drop_newer(dt_ctx *ctx, dt_tensor *than, dt_site site = dt::here()) {
    return dt_drop_newer_site(ctx, than, &site);
}
inline dt_status dt_saving_wait(dt_saving *saving, dt_site site = dt::here()) {
    return dt_saving_wait_site(saving, &site);
}
inline void *dt_heap_alloc(dt_ctx *ctx, size_t bytes, dt_site site = dt::here()) {
    return dt_heap_alloc_site(ctx, bytes, &site);
}
inline dt_status dt_heap_free(dt_ctx *ctx, void *memory, dt_site site = dt::here()) {
    return dt_heap_free_site(ctx, memory, &site);
}
inline dt_group *dt_group_world(dt_ctx *ctx, dt_site site = dt::here()) { return dt_group_world_site(ctx, &site); }
inline dt_group *dt_group_new(dt_ctx *ctx, const int64_t *ranks, int64_t n_ranks, dt_site site = dt::here()) {
    return dt_group_new_site(ctx, ranks, n_ranks, &site);
}
inline void dt_group_release(dt_group *group, dt_site site = dt::here()) {
    return dt_group_release_site(group, &site);
}
inline dt_status dt_comm_run(dt_group *group, const dt_comm_call *call, dt_site site = dt::here()) {
    return dt_comm_run_sized(group, call, sizeof *call, &site);
}
inline dt_work *dt_comm_start(dt_group *group, const dt_comm_call *call, dt_site site = dt::here()) {
    return dt_comm_start_sized(group, call, sizeof *call, &site);
}
inline dt_status dt_work_test(dt_work *work, dt_site site = dt::here()) { return dt_work_test_site(work, &site); }
inline dt_status dt_work_wait(dt_work *work, dt_site site = dt::here()) { return dt_work_wait_site(work, &site); }
inline dt_status dt_comm_barrier(dt_group *group, dt_site site = dt::here()) {
    return dt_comm_barrier_site(group, &site);
}
inline dt_status dt_comm_broadcast(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                   int64_t root, dt_site site = dt::here()) {
    return dt_comm_broadcast_site(group, src, dst, count, dtype, root, &site);
}
inline dt_status dt_comm_scatter(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                 int64_t root, dt_site site = dt::here()) {
    return dt_comm_scatter_site(group, src, dst, count, dtype, root, &site);
}
inline dt_status dt_comm_gather(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                int64_t root, dt_site site = dt::here()) {
    return dt_comm_gather_site(group, src, dst, count, dtype, root, &site);
}
inline dt_status dt_comm_all_gather(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                    dt_site site = dt::here()) {
    return dt_comm_all_gather_site(group, src, dst, count, dtype, &site);
}
inline dt_status dt_comm_all_reduce(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                    dt_reduce reduce, dt_site site = dt::here()) {
    return dt_comm_all_reduce_site(group, src, dst, count, dtype, reduce, &site);
}
inline dt_status dt_comm_reduce_scatter(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                        dt_reduce reduce, dt_site site = dt::here()) {
    return dt_comm_reduce_scatter_site(group, src, dst, count, dtype, reduce, &site);
}
inline dt_status dt_comm_all_to_all(dt_group *group, const void *src, void *dst, int64_t count, dt_dtype dtype,
                                    dt_site site = dt::here()) {
    return dt_comm_all_to_all_site(group, src, dst, count, dtype, &site);
}
inline dt_status dt_comm_send(dt_group *group, const void *src, int64_t count, dt_dtype dtype, int64_t to,
                              dt_site site = dt::here()) {
    return dt_comm_send_site(group, src, count, dtype, to, &site);
}
inline dt_status dt_comm_recv(dt_group *group, void *dst, int64_t count, dt_dtype dtype, int64_t from,
                              dt_site site = dt::here()) {
    return dt_comm_recv_site(group, dst, count, dtype, from, &site);
}
inline dt_status dt_spawn(int64_t n_ranks, dt_rank_fn *fn, void *arg, char **error, dt_site site = dt::here()) {
    return dt_spawn_site(n_ranks, fn, arg, error, &site);
}
inline dt_status dt_comm_scope_begin(dt_ctx *ctx, const char *name, dt_site site = dt::here()) {
    return dt_comm_scope_begin_site(ctx, name, &site);
}
inline dt_status dt_comm_stats_begin(dt_ctx *ctx, dt_site site = dt::here()) {
    return dt_comm_stats_begin_site(ctx, &site);
}
inline const char *dt_comm_stats_text(dt_ctx *ctx, dt_site site = dt::here()) {
    return dt_comm_stats_text_site(ctx, &site);
}
inline const char *dt_comm_stats_json(dt_ctx *ctx, dt_site site = dt::here()) {
    return dt_comm_stats_json_site(ctx, &site);
}
inline const char *dt_comm_steps_text(dt_ctx *ctx, int64_t steps, double seconds, dt_site site = dt::here()) {
    return dt_comm_steps_text_site(ctx, steps, seconds, &site);
}
inline const char *dt_memory_text(dt_ctx *ctx, dt_site site = dt::here()) { return dt_memory_text_site(ctx, &site); }
inline dt_status dt_trace_begin(dt_ctx *ctx, const char *file, dt_site site = dt::here()) {
    return dt_trace_begin_site(ctx, file, &site);
}
inline dt_status dt_trace_end(dt_ctx *ctx, dt_site site = dt::here()) { return dt_trace_end_site(ctx, &site); }
inline dt_status dt_comm_policy(dt_ctx *ctx, dt_policy policy, dt_site site = dt::here()) {
    return dt_comm_policy_site(ctx, policy, &site);
}
inline void dt_implicit_replication_begin(dt_ctx *ctx, dt_site site = dt::here()) {
    return dt_implicit_replication_begin_site(ctx, &site);
}
inline dt_status dt_local_map(dt_ctx *ctx, const dt_local_mapping *mapping, dt_tensor **outputs,
                              dt_site site = dt::here()) {
    return dt_local_map_sized(ctx, mapping, outputs, sizeof *mapping, &site);
}
inline dt_dlpack_managed *dt_to_dlpack(dt_tensor *tensor, dt_site site = dt::here()) {
    return dt_to_dlpack_site(tensor, &site);
}
inline dt_dlpack_versioned *dt_to_dlpack_versioned(dt_tensor *tensor, dt_site site = dt::here()) {
    return dt_to_dlpack_versioned_site(tensor, &site);
}
inline dt_tensor *dt_from_dlpack(dt_ctx *ctx, dt_dlpack_managed *managed, dt_site site = dt::here()) {
    return dt_from_dlpack_site(ctx, managed, &site);
}
inline dt_tensor *dt_from_dlpack_versioned(dt_ctx *ctx, dt_dlpack_versioned *managed, dt_site site = dt::here()) {
    return dt_from_dlpack_versioned_site(ctx, managed, &site);
}
inline dt_status dt_save_npy(dt_tensor *tensor, const char *path, dt_site site = dt::here()) {
    return dt_save_npy_site(tensor, path, &site);
}
inline dt_status dt_save_npz(const char *path, int n, const char *const *names, dt_tensor *const *tensors,
                             dt_site site = dt::here()) {
    return dt_save_npz_site(path, n, names, tensors, &site);
}
inline dt_tensor *dt_at(dt_tensor *tensor, const char *index, int n_tensors, dt_tensor *const *tensors,
                        dt_site site = dt::here()) {
    return dt_at_site(tensor, index, n_tensors, tensors, &site);
}
inline dt_tensor *dt_set_at(dt_tensor *tensor, dt_tensor *value, const char *index, int n_tensors,
                            dt_tensor *const *tensors, dt_site site = dt::here()) {
    return dt_set_at_site(tensor, value, index, n_tensors, tensors, &site);
}
inline dt_layout *dt_layout_parse(dt_ctx *ctx, const char *text, dt_site site = dt::here()) {
    return dt_layout_parse_site(ctx, text, &site);
}
inline dt_layout *dt_layout_new(dt_ctx *ctx, const dt_tuple *shape, const dt_tuple *stride,
                                dt_site site = dt::here()) {
    return dt_layout_new_site(ctx, shape, stride, &site);
}
inline dt_layout *dt_layout_from_shape(dt_ctx *ctx, const int64_t *shape, const int64_t *strides, int n,
                                       dt_site site = dt::here()) {
    return dt_layout_from_shape_site(ctx, shape, strides, n, &site);
}
inline void dt_layout_release(dt_layout *layout, dt_site site = dt::here()) {
    return dt_layout_release_site(layout, &site);
}
inline int64_t dt_layout_at_coordinate(const dt_layout *layout, const dt_tuple *coordinate,
                                       dt_site site = dt::here()) {
    return dt_layout_at_coordinate_site(layout, coordinate, &site);
}
inline dt_status dt_layout_is_injective(const dt_layout *layout, bool *out, dt_site site = dt::here()) {
    return dt_layout_is_injective_site(layout, out, &site);
}
inline dt_layout *dt_layout_coalesce(const dt_layout *layout, dt_site site = dt::here()) {
    return dt_layout_coalesce_site(layout, &site);
}
inline dt_layout *dt_layout_flatten(const dt_layout *layout, dt_site site = dt::here()) {
    return dt_layout_flatten_site(layout, &site);
}
inline dt_layout *dt_layout_complement(const dt_layout *layout, int64_t size, dt_site site = dt::here()) {
    return dt_layout_complement_site(layout, size, &site);
}
inline dt_layout *dt_layout_composition(const dt_layout *a, const dt_layout *b, dt_site site = dt::here()) {
    return dt_layout_composition_site(a, b, &site);
}
inline dt_layout *dt_layout_right_inverse(const dt_layout *layout, dt_site site = dt::here()) {
    return dt_layout_right_inverse_site(layout, &site);
}
inline dt_layout *dt_layout_left_inverse(const dt_layout *layout, dt_site site = dt::here()) {
    return dt_layout_left_inverse_site(layout, &site);
}
inline dt_mesh *dt_mesh_new(dt_ctx *ctx, const char *text, dt_site site = dt::here()) {
    return dt_mesh_new_site(ctx, text, &site);
}
inline dt_mesh *dt_mesh_from_shape(dt_ctx *ctx, const int64_t *shape, int n_dims, const dt_mesh_options *options,
                                   dt_site site = dt::here()) {
    return dt_mesh_from_shape_sized(ctx, shape, n_dims, options, sizeof *options, &site);
}
inline dt_mesh *dt_mesh_from_ranks(dt_ctx *ctx, const int64_t *ranks, const int64_t *shape, int n_dims,
                                   const dt_mesh_options *options, dt_site site = dt::here()) {
    return dt_mesh_from_ranks_sized(ctx, ranks, shape, n_dims, options, sizeof *options, &site);
}
inline dt_mesh *dt_mesh_from_groups(dt_ctx *ctx, const dt_ranks *groups, int n_groups, const dt_mesh_grid *grid,
                                    const dt_mesh_options *options, dt_site site = dt::here()) {
    return dt_mesh_from_groups_sized(ctx, groups, n_groups, grid, options, sizeof *options, &site);
}
inline void dt_mesh_release(dt_mesh *mesh, dt_site site = dt::here()) { return dt_mesh_release_site(mesh, &site); }
inline dt_mesh *dt_mesh_slice(dt_mesh *mesh, const char *names, dt_site site = dt::here()) {
    return dt_mesh_slice_site(mesh, names, &site);
}
inline dt_mesh *dt_mesh_flatten(dt_mesh *mesh, const char *name, dt_site site = dt::here()) {
    return dt_mesh_flatten_site(mesh, name, &site);
}
inline dt_mesh *dt_mesh_unflatten(dt_mesh *mesh, int dim, const int64_t *sizes, int n_sizes,
                                  const dt_mesh_options *options, dt_site site = dt::here()) {
    return dt_mesh_unflatten_sized(mesh, dim, sizes, n_sizes, options, sizeof *options, &site);
}
inline dt_mesh *dt_mesh_concatenate(dt_mesh *const *meshes, int n_meshes, dt_site site = dt::here()) {
    return dt_mesh_concatenate_site(meshes, n_meshes, &site);
}
inline int64_t dt_mesh_n_slices(dt_mesh *mesh, const char *names, dt_site site = dt::here()) {
    return dt_mesh_n_slices_site(mesh, names, &site);
}
inline dt_mesh *dt_mesh_slice_at(dt_mesh *mesh, const char *names, int64_t index, dt_site site = dt::here()) {
    return dt_mesh_slice_at_site(mesh, names, index, &site);
}
inline int64_t dt_mesh_local_rank(const dt_mesh *mesh, int dim, dt_site site = dt::here()) {
    return dt_mesh_local_rank_site(mesh, dim, &site);
}
inline dt_group *dt_mesh_group(dt_mesh *mesh, int dim, dt_site site = dt::here()) {
    return dt_mesh_group_site(mesh, dim, &site);
}
inline const char *dt_mesh_text(dt_mesh *mesh, dt_site site = dt::here()) { return dt_mesh_text_site(mesh, &site); }
inline dt_status dt_mesh_scope_begin(dt_mesh *mesh, dt_site site = dt::here()) {
    return dt_mesh_scope_begin_site(mesh, &site);
}
inline dt_status dt_mesh_scope_end(dt_ctx *ctx, dt_site site = dt::here()) {
    return dt_mesh_scope_end_site(ctx, &site);
}
inline dt_status dt_op_register(dt_ctx *ctx, const dt_op *op, dt_site site = dt::here()) {
    return dt_op_register_sized(ctx, op, sizeof *op, &site);
}
inline void dt_params_free(dt_params *params, dt_site site = dt::here()) {
    return dt_params_free_site(params, &site);
}
inline dt_status dt_params_end(dt_params *params, dt_site site = dt::here()) {
    return dt_params_end_site(params, &site);
}
inline dt_tensor *dt_params_get(const dt_params *params, const char *name, dt_site site = dt::here()) {
    return dt_params_get_site(params, name, &site);
}
inline dt_tensors dt_params_list(dt_params *params, const char *pattern, dt_site site = dt::here()) {
    return dt_params_list_site(params, pattern, &site);
}
inline dt_params *dt_params_clone(const dt_params *params, dt_site site = dt::here()) {
    return dt_params_clone_site(params, &site);
}
inline dt_status dt_params_lerp(dt_params *params, const dt_params *to, double weight, dt_site site = dt::here()) {
    return dt_params_lerp_site(params, to, weight, &site);
}
inline dt_status dt_params_check(dt_params *params, dt_site site = dt::here()) {
    return dt_params_check_site(params, &site);
}
inline const char *dt_params_text(dt_params *params, dt_site site = dt::here()) {
    return dt_params_text_site(params, &site);
}
inline dt_config *dt_config_open(dt_ctx *ctx, const char *path, dt_site site = dt::here()) {
    return dt_config_open_site(ctx, path, &site);
}
inline double dt_config_real(const dt_config *config, const char *key, double absent, dt_site site = dt::here()) {
    return dt_config_real_site(config, key, absent, &site);
}
inline int64_t dt_config_int(const dt_config *config, const char *key, int64_t absent, dt_site site = dt::here()) {
    return dt_config_int_site(config, key, absent, &site);
}
inline bool dt_config_bool(const dt_config *config, const char *key, bool absent, dt_site site = dt::here()) {
    return dt_config_bool_site(config, key, absent, &site);
}
inline void dt_schedule_free(dt_schedule *schedule, dt_site site = dt::here()) {
    return dt_schedule_free_site(schedule, &site);
}
inline double dt_schedule_simulate(const dt_schedule *schedule, const dt_stage_times *times, double *begins,
                                   dt_site site = dt::here()) {
    return dt_schedule_simulate_site(schedule, times, begins, &site);
}
inline double dt_schedule_simulate_stages(const dt_schedule *schedule, const dt_stage_times *times, double *begins,
                                          dt_site site = dt::here()) {
    return dt_schedule_simulate_stages_site(schedule, times, begins, &site);
}
inline const char *dt_schedule_timeline(dt_schedule *schedule, const dt_stage_times *times,
                                        dt_site site = dt::here()) {
    return dt_schedule_timeline_site(schedule, times, &site);
}
inline dt_mesh *dt_pipeline_mesh(const dt_schedule *schedule, dt_mesh *mesh, int64_t stage,
                                 dt_site site = dt::here()) {
    return dt_pipeline_mesh_site(schedule, mesh, stage, &site);
}
inline dt_tensor *dt_pipeline_input(dt_ctx *ctx, int i, dt_site site = dt::here()) {
    return dt_pipeline_input_site(ctx, i, &site);
}
inline dt_status dt_pipeline_output(dt_ctx *ctx, int i, dt_tensor *tensor, dt_site site = dt::here()) {
    return dt_pipeline_output_site(ctx, i, tensor, &site);
}
inline dt_status dt_pipeline_metric(dt_ctx *ctx, int i, dt_tensor *value, dt_site site = dt::here()) {
    return dt_pipeline_metric_site(ctx, i, value, &site);
}
inline dt_generator *dt_generator_new(dt_ctx *ctx, uint64_t seed, dt_site site = dt::here()) {
    return dt_generator_new_site(ctx, seed, &site);
}
inline dt_generator *dt_generator_default(dt_ctx *ctx, dt_site site = dt::here()) {
    return dt_generator_default_site(ctx, &site);
}
inline dt_generator *dt_generator_child(const dt_generator *parent, const char *name, dt_site site = dt::here()) {
    return dt_generator_child_site(parent, name, &site);
}
inline void dt_generator_release(dt_generator *generator, dt_site site = dt::here()) {
    return dt_generator_release_site(generator, &site);
}
inline dt_status dt_generator_restore(dt_generator *generator, dt_generator_state state, dt_site site = dt::here()) {
    return dt_generator_restore_site(generator, state, &site);
}
inline dt_status dt_transfer_test(dt_transfer *transfer, dt_site site = dt::here()) {
    return dt_transfer_test_site(transfer, &site);
}
inline dt_tensor *dt_transfer_wait(dt_transfer *transfer, dt_site site = dt::here()) {
    return dt_transfer_wait_site(transfer, &site);
}
inline double dt_item(dt_tensor *tensor, dt_site site = dt::here()) { return dt_item_site(tensor, &site); }
inline int64_t dt_item_i64(dt_tensor *tensor, dt_site site = dt::here()) { return dt_item_i64_site(tensor, &site); }
inline char *dt_spec_svg(const dt_spec *spec, dt_site site = dt::here()) { return dt_spec_svg_site(spec, &site); }
inline dt_placement *dt_placements_parse(dt_ctx *ctx, const char *text, int *n, dt_site site = dt::here()) {
    return dt_placements_parse_site(ctx, text, n, &site);
}
inline dt_status dt_placements_set_order(dt_ctx *ctx, int n, dt_placement *placements, int dim, int n_mesh_dims,
                                         const int *mesh_dims, dt_site site = dt::here()) {
    return dt_placements_set_order_site(ctx, n, placements, dim, n_mesh_dims, mesh_dims, &site);
}
inline dt_status dt_placements_set_extents(dt_ctx *ctx, int n, dt_placement *placements, int dim, int64_t n_sizes,
                                           const int64_t *sizes, dt_site site = dt::here()) {
    return dt_placements_set_extents_site(ctx, n, placements, dim, n_sizes, sizes, &site);
}
inline dt_spec *dt_spec_new(dt_mesh *mesh, const dt_spec_desc *desc, dt_site site = dt::here()) {
    return dt_spec_new_sized(mesh, desc, sizeof *desc, &site);
}
inline dt_spec *dt_spec_parse(dt_ctx *ctx, const char *text, dt_site site = dt::here()) {
    return dt_spec_parse_site(ctx, text, &site);
}
inline void dt_spec_release(dt_spec *spec, dt_site site = dt::here()) { return dt_spec_release_site(spec, &site); }
inline dt_scope dt_scope_begin(dt_ctx *ctx, dt_site site = dt::here()) { return dt_scope_begin_site(ctx, &site); }
inline void dt_scope_end(dt_scope scope, dt_site site = dt::here()) { return dt_scope_end_site(scope, &site); }
inline void dt_drop(dt_tensor *tensor, dt_site site = dt::here()) { return dt_drop_site(tensor, &site); }
inline void dt_tensor_release(dt_tensor *tensor, dt_site site = dt::here()) {
    return dt_tensor_release_site(tensor, &site);
}
inline dt_status dt_apart_end(dt_ctx *ctx, dt_site site = dt::here()) { return dt_apart_end_site(ctx, &site); }
inline dt_status dt_set_use(dt_tensor *tensor, const char *place, dt_site site = dt::here()) {
    return dt_set_use_site(tensor, place, &site);
}
inline dt_status dt_use(dt_tensors tensors, dt_site site = dt::here()) { return dt_use_site(tensors, &site); }
inline dt_status dt_use_release(dt_tensor *tensor, dt_site site = dt::here()) {
    return dt_use_release_site(tensor, &site);
}
inline dt_status dt_as_stored_end(dt_ctx *ctx, dt_site site = dt::here()) {
    return dt_as_stored_end_site(ctx, &site);
}
inline dt_tensor *dt_from_memory(dt_ctx *ctx, const void *memory, dt_shape shape, dt_dtype dtype,
                                 dt_site site = dt::here()) {
    return dt_from_memory_site(ctx, memory, shape, dtype, &site);
}
inline dt_tensor *dt_borrow(dt_ctx *ctx, void *memory, dt_shape shape, dt_dtype dtype, dt_site site = dt::here()) {
    return dt_borrow_site(ctx, memory, shape, dtype, &site);
}
inline dt_tensor *dt_adopt(dt_ctx *ctx, void *memory, dt_shape shape, dt_dtype dtype, dt_free_fn *free_memory,
                           void *user, dt_site site = dt::here()) {
    return dt_adopt_site(ctx, memory, shape, dtype, free_memory, user, &site);
}
inline dt_tensor *dt_as_strided(const dt_tensor *tensor, dt_shape shape, dt_ints strides, int64_t offset,
                                dt_site site = dt::here()) {
    return dt_as_strided_site(tensor, shape, strides, offset, &site);
}
inline dt_status dt_set_requires_grad(dt_tensor *tensor, bool requires_grad, dt_site site = dt::here()) {
    return dt_set_requires_grad_site(tensor, requires_grad, &site);
}
inline void dt_optimizer_free(dt_optimizer *optimizer, dt_site site = dt::here()) {
    return dt_optimizer_free_site(optimizer, &site);
}
inline dt_status dt_optimizer_set_lr(dt_optimizer *optimizer, double lr, dt_site site = dt::here()) {
    return dt_optimizer_set_lr_site(optimizer, lr, &site);
}
inline dt_tensor *dt_optimizer_state(const dt_optimizer *optimizer, const dt_tensor *parameter, const char *name,
                                     dt_site site = dt::here()) {
    return dt_optimizer_state_site(optimizer, parameter, name, &site);
}
inline dt_status dt_optimizer_set_n_steps(dt_optimizer *optimizer, dt_tensor *parameter, int64_t n_steps,
                                          dt_site site = dt::here()) {
    return dt_optimizer_set_n_steps_site(optimizer, parameter, n_steps, &site);
}
inline dt_status dt_op_verify(dt_ctx *ctx, const char *name, dt_site site = dt::here()) {
    return dt_op_verify_site(ctx, name, &site);
}

#endif
