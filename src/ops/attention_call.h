/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of attention or of one of its gradients, which have their arguments in the same order: what these are, and the
 * arrays on which kernels run.
 */
#ifndef DT_OPS_ATTENTION_CALL_H
#define DT_OPS_ATTENTION_CALL_H

#include "ops/kernel_support.h"
#include "ops/ops.h"
#include "random/random.h"

/* The arguments of these ops by number; the last two are of gradients only. */
enum {
    DT__ATTENTION_MASK,
    DT__ATTENTION_IS_CAUSAL,
    DT__ATTENTION_SCALE,
    DT__ATTENTION_ENABLE_GQA,
    DT__ATTENTION_DROPOUT_P,
    DT__ATTENTION_SEED,
    DT__ATTENTION_DRAW
};
#define DT__ATTENTION_ARGUMENTS "attn_mask,is_causal,scale,enable_gqa,dropout_p"

/* The inputs of a gradient: the gradient of the result, then query, key and value. */
enum { DT__ATTENTION_GRAD, DT__ATTENTION_OUT = 4, DT__ATTENTION_LOGSUMEXP };

static inline bool dt__attention_is_gradient(const dt_op_call *call) { return call->op->family != NULL; }
/* Query, key and value follow each other. */
static inline const dt_op_value *dt__attention_query(const dt_op_call *call) {
    return &call->inputs[dt__attention_is_gradient(call) ? 1 : 0];
}
static inline bool dt__attention_is_grouped(const dt_op_call *call) {
    return dt__arg_at(call, DT__ATTENTION_ENABLE_GQA)->as.b;
}
static inline bool dt__attention_is_causal(const dt_op_call *call) {
    return dt__arg_at(call, DT__ATTENTION_IS_CAUSAL)->as.b;
}
static inline double dt__attention_dropout_p(const dt_op_call *call) {
    return dt__arg_at(call, DT__ATTENTION_DROPOUT_P)->as.f;
}
static inline const dt_op_value *dt__attention_mask(const dt_op_call *call) {
    const dt_arg *mask = dt__arg_at(call, DT__ATTENTION_MASK);
    return mask->type == DT_ARG_TENSOR ? &call->inputs[mask->as.first] : NULL;
}
/* Whether results are rounded to half precision. */
static inline bool dt__attention_is_rounded(const dt_op_call *call) {
    return dt__attention_dtype(dt__attention_query(call)->dtype) != dt__attention_query(call)->dtype;
}
static inline int64_t dt__size_from_end(const dt_op_value *value, int from_end) {
    return value->shape[value->n_dims - from_end];
}
double dt__attention_scale(const dt_op_call *call);
/* The draw that a gradient repeats. */
dt_generator_state dt__attention_drawn(const dt_op_call *call);

/* class_of and check of the descriptors. */
int64_t dt__attention_class(const dt_op_call *call);
dt_status dt__attention_check_dropout(const dt_op_call *call);

/* The leading dims to which query, key and value are broadcast: the size that is not 1. */
void dt__attention_leading(const dt_op_call *call, dt__shape *out);
/* Checks query, key, value and mask, and returns the leading dims. */
dt_status dt__attention_check(const dt_op_call *call, dt__shape *leading);
/* An output of the leading dims and n more. */
dt_status dt__attention_add_output(dt_op_call *call, dt_dtype dtype, const dt__shape *leading, int n,
                                   const int64_t *sizes);
/* With grouped heads, adds the row that shards the heads of all tensors by whole groups. */
void dt__attention_add_grouped(const dt_op_call *call, dt_rows *rows);
/* Adds the rows of a rule, which has %s for the term of the mask; the second one is for calls whose kernel needs the
 * offsets of queries and keys. */
void dt__attention_add_factors(const dt_op_call *call, const char *const *by_causal, dt_rows *rows);

/* An array with all leading dims; those that it lacks have stride 0. */
typedef struct dt__attention_operand {
    int64_t shape[DT_SPEC_MAX_DIMS], strides[DT_SPEC_MAX_DIMS];
    dt__array array;
} dt__attention_operand;

/* The arrays of a call. */
typedef struct dt__attention_arrays {
    dt__shape leading;
    dt__attention_operand query, key, value, mask;
    dt__attention args;
    dt__draw draw;
    dt__attention_dropout dropout;
} dt__attention_arrays;

dt_status dt__attention_take_draw(const dt_op_call *call, dt_dtype dtype, dt__draw *out);
/* With dropout, this takes a draw; a gradient repeats that of its call. */
dt_status dt__attention_call_prepare(const dt_op_call *call, dt__attention_arrays *out);

/* The backward function of attention. */
dt_status dt__attention_gradients(const dt_op_backward *call, dt_tensor **input_grads);

/* Of the products of queries with keys, and of weights with values; half of them where it is causal. */
double dt__attention_flops(const dt_op_call *call);

#endif
