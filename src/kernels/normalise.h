/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax and layer normalisation: kernels that need statistics of a row before they can write it. Rows are computed
 * in f32 (f64 for f64), and sums accumulate in f64. No integers, no complex numbers.
 */
#ifndef DT_KERNELS_NORMALISE_H
#define DT_KERNELS_NORMALISE_H

#include "kernels/array.h"
#include "kernels/kernel_table.h"
#include "kernels/thread_pool.h"

/* out = exp(in) / sum of exp(in) along the dim, or its logarithm, without overflow; out has the shape of in, and may
 * be in. The dim of a 0-d array is 0. A row whose largest element is infinite is NaN. */
void dt__softmax(const dt__kernels *kernels, dt__pool *pool, const dt__array *in, int dim, bool is_log,
                 const dt__array *out);
/* The same with the largest element and the sum of exponentials of each row as given: f64, of the other dims. */
void dt__softmax_finish(const dt__kernels *kernels, dt__pool *pool, const dt__array *in, int dim, bool is_log,
                        const dt__array *largest, const dt__array *sums, const dt__array *out);

/* out = (in - mean) * rstd * weight + bias over the last n_dims dims, with rstd = 1 / sqrt(variance + eps). Optional
 * operands are NULL. */
typedef struct dt__layer_norm {
    const dt__array *in, *out; /* of the same shape; out may be in */
    int n_dims;                /* at least 1 */
    double eps;
    bool is_rms;                    /* RMS norm: the mean is taken as 0 */
    const dt__array *weight, *bias; /* (optional) broadcast to the last n_dims dims */
    const dt__array *mean,
        *rstd;           /* (optional outputs) of the leading dims, or of all dims with size 1 in the last ones */
    bool has_statistics; /* mean and rstd are inputs instead, both f64 */
} dt__layer_norm;

void dt__layer_norm_run(const dt__kernels *kernels, dt__pool *pool, const dt__layer_norm *args);

#endif
