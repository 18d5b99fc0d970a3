/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention: out = softmax(scale query keyᵀ + mask) value, and its gradients. Scores exist for a block of queries and a
 * block of keys at a time, never all of them; what remains of the keys before are the largest score and the sum of
 * exponentials of each query. f16 and bf16 are computed in f32. The result does not depend on the number of threads.
 *
 * A query whose scores are all -infinity, or that has no keys, has zeros as its result.
 */
#ifndef DT_KERNELS_ATTENTION_H
#define DT_KERNELS_ATTENTION_H

#include "kernels/products.h"

/* Dropout: each weight is multiplied by a factor, which is a function of its index among those of all ranks. */
typedef struct dt__attention_dropout {
    /* Writes n factors of the dtype of the computation, from that of the weight with the index `first` on. */
    void (*draw)(const void *from, int64_t first, int64_t n, void *out);
    const void *from;
    /* Of the leading dims and the queries: all, and where the arrays begin; of the keys likewise. */
    const int64_t *sizes, *offsets;
    int64_t n_keys, key_offset;
} dt__attention_dropout;

/* L queries and S keys of E numbers, values of D numbers. All arrays have the same number of leading dims, the last of
 * which are the heads; along a dim that is broadcast the stride is 0. */
typedef struct dt__attention {
    const dt__array *query, *key, *value; /* [..,L,E], [..,S,E], [..,S,D] */
    const dt__array *mask;                /* (optional) [..,L,S]: where it is false, or what is added to the scores */
    double scale;
    bool is_causal; /* query i has the keys up to i */
    /* Where the arrays begin in those of all ranks; read if is_causal. */
    int64_t query_offset, key_offset;
    /* Query heads per head of key and value, all of which are local; 0: local heads correspond. head_offset: of the
     * first query head among all. */
    int64_t group, head_offset;
    const dt__attention_dropout *dropout; /* (optional) */
} dt__attention;

typedef struct dt__attention_result {
    const dt__array *out;       /* [..,L,D] */
    const dt__array *logsumexp; /* (optional) [..,L]: logarithms of the sums of the exponentials of scores */
    /* (optional, both or none) [..,L], of the dtype of the computation: the largest score and the sum of exponentials
     * of the differences from it. Then out is not divided by the sum. */
    const dt__array *largest, *sums;
} dt__attention_result;

/* False when out of memory; no error is recorded. */
bool dt__attention_run(dt__products *products, const dt__attention *args, const dt__attention_result *result);

/* Gradients; each is optional. Those of key and value have the heads of key and value. */
typedef struct dt__attention_grads {
    const dt__array *grad, *out, *logsumexp; /* inputs: the gradient of out, and the results */
    const dt__array *query, *key, *value;
    const dt__array *mask; /* [..,L,S] */
} dt__attention_grads;

bool dt__attention_grads_run(dt__products *products, const dt__attention *args, const dt__attention_grads *grads);

/* The dtype of the computation, which logsumexp should have. */
static inline dt_dtype dt__attention_dtype(dt_dtype stored) { return stored == DT_F64 ? DT_F64 : DT_F32; }

#endif
