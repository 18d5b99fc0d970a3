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
    X(_fused_adam_)                                                                                                  \
    X(_fused_adamw_)                                                                                                 \
    X(_fused_sgd_)                                                                                                   \
    X(adam_)                                                                                                         \
    X(adamw_)                                                                                                        \
    X(add)                                                                                                           \
    X(add_)                                                                                                          \
    X(addmm)                                                                                                         \
    X(addmm_)                                                                                                        \
    X(all)                                                                                                           \
    X(amax)                                                                                                          \
    X(amin)                                                                                                          \
    X(any)                                                                                                           \
    X(arange)                                                                                                        \
    X(argmax)                                                                                                        \
    X(argmin)                                                                                                        \
    X(attention_backward)                                                                                            \
    X(attention_mask_backward)                                                                                       \
    X(bmm)                                                                                                           \
    X(cat)                                                                                                           \
    X(clamp)                                                                                                         \
    X(clamp_)                                                                                                        \
    X(clone)                                                                                                         \
    X(constant_pad_nd)                                                                                               \
    X(contiguous)                                                                                                    \
    X(copy_)                                                                                                         \
    X(count_nonzero)                                                                                                 \
    X(cumprod)                                                                                                       \
    X(cumsum)                                                                                                        \
    X(diagonal)                                                                                                      \
    X(diagonal_backward)                                                                                             \
    X(div)                                                                                                           \
    X(div_)                                                                                                          \
    X(dropout)                                                                                                       \
    X(embedding)                                                                                                     \
    X(embedding_dense_backward)                                                                                      \
    X(empty)                                                                                                         \
    X(empty_like)                                                                                                    \
    X(eq)                                                                                                            \
    X(exp)                                                                                                           \
    X(exp_)                                                                                                          \
    X(expand)                                                                                                        \
    X(eye)                                                                                                           \
    X(fill_)                                                                                                         \
    X(flip)                                                                                                          \
    X(full)                                                                                                          \
    X(full_like)                                                                                                     \
    X(gather)                                                                                                        \
    X(gather_backward)                                                                                               \
    X(gelu)                                                                                                          \
    X(gelu_backward)                                                                                                 \
    X(index)                                                                                                         \
    X(index_backward)                                                                                                \
    X(index_select)                                                                                                  \
    X(index_select_backward)                                                                                         \
    X(item)                                                                                                          \
    X(layer_norm)                                                                                                    \
    X(linalg_vector_norm)                                                                                            \
    X(linear)                                                                                                        \
    X(linspace)                                                                                                      \
    X(log)                                                                                                           \
    X(log_softmax)                                                                                                   \
    X(logsumexp)                                                                                                     \
    X(matmul)                                                                                                        \
    X(max)                                                                                                           \
    X(maximum)                                                                                                       \
    X(mean)                                                                                                          \
    X(min)                                                                                                           \
    X(mm)                                                                                                            \
    X(mul)                                                                                                           \
    X(mul_)                                                                                                          \
    X(nansum)                                                                                                        \
    X(narrow)                                                                                                        \
    X(neg)                                                                                                           \
    X(neg_)                                                                                                          \
    X(ones)                                                                                                          \
    X(ones_like)                                                                                                     \
    X(pad)                                                                                                           \
    X(permute)                                                                                                       \
    X(prod)                                                                                                          \
    X(relu)                                                                                                          \
    X(relu_)                                                                                                         \
    X(reshape)                                                                                                       \
    X(rms_norm)                                                                                                      \
    X(roll)                                                                                                          \
    X(scaled_dot_product_attention)                                                                                  \
    X(select)                                                                                                        \
    X(select_backward)                                                                                               \
    X(sgd_)                                                                                                          \
    X(slice)                                                                                                         \
    X(slice_backward)                                                                                                \
    X(softmax)                                                                                                       \
    X(split)                                                                                                         \
    X(sqrt)                                                                                                          \
    X(sqrt_)                                                                                                         \
    X(std)                                                                                                           \
    X(std_mean)                                                                                                      \
    X(sub)                                                                                                           \
    X(sub_)                                                                                                          \
    X(sum)                                                                                                           \
    X(tanh)                                                                                                          \
    X(tanh_)                                                                                                         \
    X(threshold_backward)                                                                                            \
    X(to)                                                                                                            \
    X(topk)                                                                                                          \
    X(transpose)                                                                                                     \
    X(unfold)                                                                                                        \
    X(unfold_backward)                                                                                               \
    X(var)                                                                                                           \
    X(var_mean)                                                                                                      \
    X(view)                                                                                                          \
    X(where)                                                                                                         \
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
