/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's ops. A new op is a descriptor in a file of this folder and one name in this list.
 */
#ifndef DT_OPS_OPS_H
#define DT_OPS_OPS_H

#include "rules/rules.h"

/* In the order of their indices, which only the library itself uses. */
#define DT__OP_LIST(X)                                                                                               \
    X(_foreach_add_)                                                                                                 \
    X(_foreach_mul_)                                                                                                 \
    X(_foreach_power_sum)                                                                                            \
    X(_fused_adam_)                                                                                                  \
    X(_fused_adamw_)                                                                                                 \
    X(_fused_sgd_)                                                                                                   \
    X(abs)                                                                                                           \
    X(abs_)                                                                                                          \
    X(acos)                                                                                                          \
    X(adam_)                                                                                                         \
    X(adamw_)                                                                                                        \
    X(add)                                                                                                           \
    X(add_)                                                                                                          \
    X(addcdiv)                                                                                                       \
    X(addcdiv_)                                                                                                      \
    X(addcmul)                                                                                                       \
    X(addcmul_)                                                                                                      \
    X(addmm)                                                                                                         \
    X(addmm_)                                                                                                        \
    X(all)                                                                                                           \
    X(amax)                                                                                                          \
    X(amin)                                                                                                          \
    X(any)                                                                                                           \
    X(arange)                                                                                                        \
    X(argmax)                                                                                                        \
    X(argmin)                                                                                                        \
    X(asin)                                                                                                          \
    X(atan)                                                                                                          \
    X(atan2)                                                                                                         \
    X(attention_backward)                                                                                            \
    X(attention_mask_backward)                                                                                       \
    X(bitwise_and)                                                                                                   \
    X(bitwise_not)                                                                                                   \
    X(bitwise_or)                                                                                                    \
    X(bitwise_xor)                                                                                                   \
    X(bmm)                                                                                                           \
    X(cat)                                                                                                           \
    X(ceil)                                                                                                          \
    X(celu)                                                                                                          \
    X(clamp)                                                                                                         \
    X(clamp_)                                                                                                        \
    X(clamp_max)                                                                                                     \
    X(clamp_min)                                                                                                     \
    X(clone)                                                                                                         \
    X(constant_pad_nd)                                                                                               \
    X(contiguous)                                                                                                    \
    X(copy_)                                                                                                         \
    X(cos)                                                                                                           \
    X(cosh)                                                                                                          \
    X(count_nonzero)                                                                                                 \
    X(cross_entropy)                                                                                                 \
    X(cross_entropy_backward)                                                                                        \
    X(cumprod)                                                                                                       \
    X(cumsum)                                                                                                        \
    X(diagonal)                                                                                                      \
    X(diagonal_backward)                                                                                             \
    X(div)                                                                                                           \
    X(div_)                                                                                                          \
    X(dot)                                                                                                           \
    X(dropout)                                                                                                       \
    X(elu)                                                                                                           \
    X(embedding)                                                                                                     \
    X(embedding_dense_backward)                                                                                      \
    X(empty)                                                                                                         \
    X(empty_like)                                                                                                    \
    X(eq)                                                                                                            \
    X(erf)                                                                                                           \
    X(erfc)                                                                                                          \
    X(exp)                                                                                                           \
    X(exp2)                                                                                                          \
    X(exp_)                                                                                                          \
    X(expand)                                                                                                        \
    X(expm1)                                                                                                         \
    X(eye)                                                                                                           \
    X(fill_)                                                                                                         \
    X(flatten)                                                                                                       \
    X(flip)                                                                                                          \
    X(floor)                                                                                                         \
    X(floor_divide)                                                                                                  \
    X(fmax)                                                                                                          \
    X(fmin)                                                                                                          \
    X(fmod)                                                                                                          \
    X(frac)                                                                                                          \
    X(full)                                                                                                          \
    X(full_like)                                                                                                     \
    X(gather)                                                                                                        \
    X(gather_backward)                                                                                               \
    X(ge)                                                                                                            \
    X(gelu)                                                                                                          \
    X(gelu_backward)                                                                                                 \
    X(gt)                                                                                                            \
    X(hardshrink)                                                                                                    \
    X(hardsigmoid)                                                                                                   \
    X(hardswish)                                                                                                     \
    X(hardtanh)                                                                                                      \
    X(index)                                                                                                         \
    X(index_backward)                                                                                                \
    X(index_select)                                                                                                  \
    X(index_select_backward)                                                                                         \
    X(isfinite)                                                                                                      \
    X(isinf)                                                                                                         \
    X(isnan)                                                                                                         \
    X(item)                                                                                                          \
    X(layer_norm)                                                                                                    \
    X(le)                                                                                                            \
    X(leaky_relu)                                                                                                    \
    X(lerp)                                                                                                          \
    X(lerp_)                                                                                                         \
    X(linalg_vector_norm)                                                                                            \
    X(linear)                                                                                                        \
    X(linspace)                                                                                                      \
    X(log)                                                                                                           \
    X(log10)                                                                                                         \
    X(log1p)                                                                                                         \
    X(log2)                                                                                                          \
    X(log_softmax)                                                                                                   \
    X(logaddexp)                                                                                                     \
    X(logical_and)                                                                                                   \
    X(logical_not)                                                                                                   \
    X(logical_or)                                                                                                    \
    X(logical_xor)                                                                                                   \
    X(logsumexp)                                                                                                     \
    X(lt)                                                                                                            \
    X(masked_fill)                                                                                                   \
    X(masked_fill_)                                                                                                  \
    X(matmul)                                                                                                        \
    X(max)                                                                                                           \
    X(maximum)                                                                                                       \
    X(mean)                                                                                                          \
    X(min)                                                                                                           \
    X(minimum)                                                                                                       \
    X(mish)                                                                                                          \
    X(mm)                                                                                                            \
    X(mul)                                                                                                           \
    X(mul_)                                                                                                          \
    X(mv)                                                                                                            \
    X(nan_to_num)                                                                                                    \
    X(nansum)                                                                                                        \
    X(narrow)                                                                                                        \
    X(ne)                                                                                                            \
    X(neg)                                                                                                           \
    X(neg_)                                                                                                          \
    X(nll_loss)                                                                                                      \
    X(ones)                                                                                                          \
    X(ones_like)                                                                                                     \
    X(pad)                                                                                                           \
    X(permute)                                                                                                       \
    X(positive)                                                                                                      \
    X(pow)                                                                                                           \
    X(power_sum)                                                                                                     \
    X(prod)                                                                                                          \
    X(ravel)                                                                                                         \
    X(reciprocal)                                                                                                    \
    X(reciprocal_)                                                                                                   \
    X(relu)                                                                                                          \
    X(relu6)                                                                                                         \
    X(relu_)                                                                                                         \
    X(remainder)                                                                                                     \
    X(reshape)                                                                                                       \
    X(rms_norm)                                                                                                      \
    X(roll)                                                                                                          \
    X(round)                                                                                                         \
    X(rsqrt)                                                                                                         \
    X(rsqrt_)                                                                                                        \
    X(rsub)                                                                                                          \
    X(scaled_dot_product_attention)                                                                                  \
    X(select)                                                                                                        \
    X(select_backward)                                                                                               \
    X(selu)                                                                                                          \
    X(sgd_)                                                                                                          \
    X(sgn)                                                                                                           \
    X(sigmoid)                                                                                                       \
    X(sigmoid_)                                                                                                      \
    X(sign)                                                                                                          \
    X(silu)                                                                                                          \
    X(sin)                                                                                                           \
    X(sinh)                                                                                                          \
    X(slice)                                                                                                         \
    X(slice_backward)                                                                                                \
    X(softmax)                                                                                                       \
    X(softplus)                                                                                                      \
    X(softshrink)                                                                                                    \
    X(softsign)                                                                                                      \
    X(split)                                                                                                         \
    X(sqrt)                                                                                                          \
    X(sqrt_)                                                                                                         \
    X(square)                                                                                                        \
    X(squeeze)                                                                                                       \
    X(std)                                                                                                           \
    X(std_mean)                                                                                                      \
    X(sub)                                                                                                           \
    X(sub_)                                                                                                          \
    X(sum)                                                                                                           \
    X(tan)                                                                                                           \
    X(tanh)                                                                                                          \
    X(tanh_)                                                                                                         \
    X(tanhshrink)                                                                                                    \
    X(threshold)                                                                                                     \
    X(threshold_backward)                                                                                            \
    X(to)                                                                                                            \
    X(topk)                                                                                                          \
    X(transpose)                                                                                                     \
    X(tril)                                                                                                          \
    X(tril_)                                                                                                         \
    X(triu)                                                                                                          \
    X(triu_)                                                                                                         \
    X(trunc)                                                                                                         \
    X(unfold)                                                                                                        \
    X(unfold_backward)                                                                                               \
    X(unsqueeze)                                                                                                     \
    X(var)                                                                                                           \
    X(var_mean)                                                                                                      \
    X(view)                                                                                                          \
    X(where)                                                                                                         \
    X(xlogy)                                                                                                         \
    X(zeros)                                                                                                         \
    X(zeros_like)

typedef enum dt__op_number {
#define X(name) DT__OP_##name,
    DT__OP_LIST(X)
#undef X
        DT__N_OPS
} dt__op_number;

#define X(name) extern const dt_op dt__op_##name;
DT__OP_LIST(X)
#undef X

extern const dt_op *const dt__op_table[DT__N_OPS];

/* Makes the library's ops known to the context, once: before anything that finds an op by index or by name. */
static inline dt_status dt__ops_open(dt_ctx *ctx) {
    return ctx->slots[DT__SLOT_OPS].state ? DT_OK : dt__op_table_install(ctx, DT__N_OPS, dt__op_table);
}

#endif
