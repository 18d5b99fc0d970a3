/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of attention that are made of other ops, so that they can be differentiated again. Unlike the kernels,
 * these hold all scores.
 */
#ifndef DT_OPS_ATTENTION_BY_OPS_H
#define DT_OPS_ATTENTION_BY_OPS_H

#include "dtensor/op.h"
#include "dtensor/tensor.h"

typedef struct dt__attention_tensors {
    dt_tensor *grad, *query, *key, *value;
    dt_tensor *mask;            /* (optional) */
    dt_tensor *out, *logsumexp; /* (optional) the results; without them they are computed */
    dt_tensor *kept;            /* (optional) what dropout multiplies each weight by, [..,L,S] */
    double scale;
    bool is_causal, is_grouped;
} dt__attention_tensors;

typedef struct dt__attention_tensor_grads {
    dt_tensor *query, *key, *value; /* with all leading dims */
    dt_tensor *scores;              /* [..,L,S] */
} dt__attention_tensor_grads;

/* The factors that dropout multiplies the elements of such a tensor by, from a draw that was taken. */
dt_tensor *dt__dropout_factors(dt_ctx *ctx, dt_shape shape, dt_dtype dtype, dt_mesh *mesh, double p,
                               dt_generator_state drawn);
/* NULL after an error, which is recorded. */
dt__attention_tensor_grads dt__attention_grads_by_ops(dt_ctx *ctx, const dt__attention_tensors *of);

#endif
