/* SPDX-License-Identifier: Apache-2.0
 *
 * With S the scores, L the logarithms of the sums of their exponentials, M what dropout multiplies weights by, and g
 * the gradient of the result:
 *
 *     P = exp(S - L),  dP = M g valueᵀ,  dS = P (dP - sum(g out))
 *     query: scale dS key,  key: scale dSᵀ query,  value: (M P)ᵀ g
 */
#include "ops/attention_by_ops.h"

#include "dispatch/dispatch.h"
#include "dtensor/ops.h"
#include "ops/kernel_support.h"

#include <math.h>
#include <string.h>

static dt_tensor *transposed(dt_tensor *x) { return dt_transpose(x, -2, -1); }

/* Grouped heads, [..,g,n,e], as the heads that use them, [..,h,n,e]. */
static dt_tensor *repeat_heads(dt_tensor *x, int64_t group) {
    int64_t sizes[DT_SPEC_MAX_DIMS + 1];
    if (!x || group == 1)
        return x;
    int n = x->n_dims;
    memcpy(sizes, x->shape, (size_t)(n - 2) * sizeof *sizes);
    sizes[n - 2] = group;
    sizes[n - 1] = x->shape[n - 2];
    sizes[n] = x->shape[n - 1];
    dt_tensor *wide = dt_expand(dt_unsqueeze(x, -3), ((dt_shape){n + 1, sizes}));
    return dt_flatten(wide, .start_dim = DT_INT(n - 3), .end_dim = DT_INT(n - 2));
}

/* The transpose of that: [..,h,n,e] summed to [..,g,n,e], as `grouped` has. */
static dt_tensor *sum_heads(dt_tensor *x, const dt_tensor *grouped, int64_t group) {
    if (!x || group == 1)
        return x;
    const int64_t sizes[] = {grouped->shape[grouped->n_dims - 3], group};
    return dt_sum(dt_unflatten(x, x->n_dims - 3, ((dt_shape){2, sizes})), .dim = DT_DIMS(-3));
}

static dt_tensor *scores_of(dt_ctx *ctx, const dt__attention_tensors *of, dt_tensor *key) {
    dt_tensor *scores = dt_mul_scalar(dt_matmul(of->query, transposed(key)), of->scale);
    if (of->mask)
        scores = of->mask->dtype == DT_BOOL ? dt_masked_fill(scores, dt_logical_not(of->mask), -INFINITY)
                                            : dt_add(scores, of->mask);
    if (!of->is_causal || !scores)
        return scores;
    int64_t shape[] = {scores->shape[scores->n_dims - 2], scores->shape[scores->n_dims - 1]};
    dt_tensor *ones = dt_ones(ctx, ((dt_shape){2, shape}), .dtype = DT_BOOL, .mesh = dt_tensor_mesh(of->query));
    return dt_masked_fill(scores, dt_logical_not(dt_tril(ones)), -INFINITY);
}

/* A query without keys has no weights, and 0 instead of a logarithm of -infinity, whose gradient would be NaN: so
 * its scores are replaced before, and its weights after. */
static dt_tensor *weights_of(const dt__attention_tensors *of, dt_tensor *scores) {
    if (of->logsumexp) {
        dt_tensor *logs = dt_unsqueeze(of->logsumexp, -1);
        return dt_exp(dt_sub(scores, dt_masked_fill(logs, dt_eq_scalar(logs, -INFINITY), 0)));
    }
    dt_tensor *none = NULL;
    if (of->mask && scores && scores->shape[scores->n_dims - 1] > 0) {
        none = dt_eq_scalar(dt_amax(scores, .dim = DT_DIMS(-1), .keepdim = true), -INFINITY);
        scores = dt_masked_fill(scores, none, 0);
    }
    dt_tensor *weights = dt_exp(dt_sub(scores, dt_logsumexp(scores, DT_DIMS(-1), .keepdim = true)));
    return none ? dt_masked_fill(weights, none, 0) : weights;
}

dt_tensor *dt__dropout_factors(dt_ctx *ctx, dt_shape shape, dt_dtype dtype, dt_mesh *mesh, double p,
                               dt_generator_state drawn) {
    const dt_arg args[] = {
        {.type = DT_ARG_TENSOR, .n = 1}, {.type = DT_ARG_FLOAT, .as.f = p}, {.type = DT_ARG_BOOL, .as.b = true}};
    dt_tensor *ones = dt_ones(ctx, shape, .dtype = dtype, .mesh = mesh), *factors = NULL;
    const dt__op_info *info = ones ? dt__op_find(ctx, "dropout") : NULL;
    dt__call call;
    if (!info)
        return NULL;
    dt__call_init(&call, ctx, 0, args);
    call.info = info;
    call.draw = (dt__op_draw){true, drawn};
    call.inputs[call.n_inputs++] = ones;
    if (dt__dispatch(ctx, &call) == DT_OK)
        factors = call.outputs[0];
    dt__call_end(&call);
    return factors;
}

dt__attention_tensor_grads dt__attention_grads_by_ops(dt_ctx *ctx, const dt__attention_tensors *of) {
    int64_t group =
        of->is_grouped ? of->query->shape[of->query->n_dims - 3] / of->key->shape[of->key->n_dims - 3] : 1;
    dt_tensor *key = repeat_heads(of->key, group), *value = repeat_heads(of->value, group);
    dt_tensor *scores = scores_of(ctx, of, key), *weights = weights_of(of, scores);
    dt_tensor *dropped = of->kept ? dt_mul(weights, of->kept) : weights;
    dt_tensor *weight_grads = dt_matmul(of->grad, transposed(value));
    if (of->kept)
        weight_grads = dt_mul(weight_grads, of->kept);
    dt_tensor *inner = of->out ? dt_mul(of->grad, of->out) : dt_mul(weights, weight_grads);
    dt_tensor *sums = dt_sum(inner, .dim = DT_DIMS(-1), .keepdim = true);
    dt_tensor *score_grads = dt_mul(weights, dt_sub(weight_grads, sums));
    return (dt__attention_tensor_grads){
        .query = dt_mul_scalar(dt_matmul(score_grads, key), of->scale),
        .key = sum_heads(dt_mul_scalar(dt_matmul(transposed(score_grads), of->query), of->scale), of->key, group),
        .value = sum_heads(dt_matmul(transposed(dropped), of->grad), of->value, group),
        .scores = score_grads};
}
