/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax and layer normalisation and their gradients: kernels that need statistics of a row before they can write
 * it. Rows are computed in f32 (f64 for f64), and sums accumulate in f64, those of gradients by steps of 512 elements.
 * No integers, no complex numbers.
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

/* The gradient of softmax from its result y, y (grad - sum of grad y), or that of its logarithm, grad - exp(y) sum of
 * grad, with sums along the dim. out has the shape of grad and result, and may be one of them. With both out and sums,
 * the sums are read; with one of them, that is computed. */
typedef struct dt__softmax_grads {
    const dt__array *grad, *result;
    int dim; /* of a 0-d array 0 */
    bool is_log;
    const dt__array *out;  /* (optional) */
    const dt__array *sums; /* (optional) f64, of the other dims */
} dt__softmax_grads;

void dt__softmax_grads_run(const dt__kernels *kernels, dt__pool *pool, const dt__softmax_grads *args);

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

/* The gradients of that. With y = (in - mean) rstd and h = grad weight, of `count` elements in a row:
 *
 *     out     rstd (h - sum of h / count - y (sum of h y) / count); of the RMS norm without the second term
 *     weight  the sum of grad y over all rows
 *     bias    the sum of grad over all rows
 *
 * Rows are numbered in row-major order of the leading dims; numbers of rows are dense. The order of sums depends on
 * shapes only. */
typedef struct dt__norm_grads {
    const dt__array *grad, *in; /* of the same shape */
    int n_dims;                 /* at least 1 */
    bool is_rms;                /* the mean is taken as 0 */
    double count;
    const double *mean, *rstd;   /* of each row; mean is NULL for the RMS norm */
    const dt__array *weight;     /* (optional) of the last n_dims dims */
    double *sums, *products;     /* of h and h y of each row */
    bool has_sums;               /* they are inputs, else they are computed */
    const dt__array *out;        /* (optional output) dense, of the shape of grad */
    double *of_weight, *of_bias; /* (optional outputs) of the elements of a row: dt__norm_grads_pieces of them */
} dt__norm_grads;

/* The sums over rows are computed in that many pieces; the first is then the result. */
int64_t dt__norm_grads_pieces(int64_t n_rows, int64_t n);
void dt__norm_grads_run(const dt__kernels *kernels, dt__pool *pool, const dt__norm_grads *args);

#endif
