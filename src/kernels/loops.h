/* SPDX-License-Identifier: Apache-2.0
 *
 * The innermost loops of the kernels on arrays, one set per instruction set, over n contiguous elements. The drivers
 * (convert, elementwise, reduce, …) copy strided operands into this form, block by block. All sets compute the same
 * bits from the same input.
 */
#ifndef DT_KERNELS_LOOPS_H
#define DT_KERNELS_LOOPS_H

#include "dtensor/base.h"

#include <stdbool.h>

/* dst[i] = src[i] in another dtype; dst does not overlap src. */
typedef void dt__convert_loop(int64_t n, void *dst, const void *src);

enum { DT__LOOP_ARRAYS = 4 }; /* an output and up to three inputs */

/* A number of the dtype that a loop computes in: an integer, or a real or complex number. */
typedef union dt__number {
    int64_t i;
    struct {
        double re, im;
    } f;
} dt__number;

/* out[i] = f(ins[0][i], …, numbers). out may be one or several of ins, exactly. */
typedef void dt__loop(int64_t n, void *out, const void *const *ins, const dt__number *numbers);

/* Reductions to one element. */
typedef enum dt__fold {
    DT__FOLD_SUM,
    DT__FOLD_PROD,
    DT__FOLD_MAX, /* NaN if any element is */
    DT__FOLD_MIN,
    DT__FOLD_ANY,
    DT__FOLD_ALL,
    DT__N_FOLDS
} dt__fold;

/* *to = *to combined with all of from. Sums and products of f32 accumulate in f64, everything else in its dtype. */
typedef void dt__fold_loop(int64_t n, const void *from, void *to);

/* *to += the squares of all from[i] - mean. */
typedef void dt__deviations_loop(int64_t n, const void *from, double mean, double *to);

/* to[i] += from[i], which are f32, of one row after another; stride in bytes. */
typedef void dt__add_widened_loop(int64_t n, double *to, const void *from, int64_t n_rows, int64_t stride);

/* y[i] = exp(x[i] - shift), where x[i] is at most shift, or NaN; *to += the sum of all. y may be x. */
typedef void dt__exp_sum_loop(int64_t n, const void *x, void *y, double shift, double *to);

/* The gradients of softmax and of normalizations, along a row. */
typedef struct dt__norm_row {
    double mean, rstd, sum,
        product; /* sum: the mean of grad weight; product: the mean of that times (x - mean) rstd */
} dt__norm_row;
/* Numbers of elements that are alike, or of each element: a gradient is scale (weight grad - sum - y product) with
 * y = (x - mean) rstd. */
typedef struct dt__norm_cells {
    const double *mean, *rstd, *weight, *scale, *sum, *product;
} dt__norm_cells;
typedef struct dt__gradient_loops {
    /* *to += the sum of x[i]. */
    void (*sum)(int64_t n, const void *x, double *to);
    /* *to += the sum of x[i] y[i]. */
    void (*dot)(int64_t n, const void *x, const void *y, double *to);
    /* *to += the sum of squares of x[i] - mean. */
    void (*squares)(int64_t n, const void *x, double mean, double *to);
    /* out[i] = grad[i] - exp(y[i]) factor. out may be grad or y. */
    void (*sub_exp)(int64_t n, const void *grad, const void *y, double factor, void *out);
    /* to[0] += the sum of h[i] = grad[i] weight[i], to[1] += the sum of h[i] (x[i] - mean) rstd. */
    void (*norm_sums)(int64_t n, const void *grad, const void *x, const void *weight, double mean, double rstd,
                      double *to);
    /* out[i] = rstd (h[i] - sum - (x[i] - mean) rstd product). out may be grad or x. */
    void (*norm_input)(int64_t n, const void *grad, const void *x, const void *weight, const dt__norm_row *row,
                       void *out);
    /* to[i] += grad[i] (x[i] - mean) rstd, and grad[i], of one row after another; four rows are summed first. */
    void (*norm_weight)(int64_t n, int n_rows, const void *const *grads, const void *const *inputs,
                        const dt__norm_row *rows, double *to);
    void (*norm_bias)(int64_t n, int n_rows, const void *const *grads, double *to);
    /* *sums += the sum of grad[i], *products += that of grad[i] (x[i] - *mean) *rstd; of lanes sums[i] += grad[i] and
     * so on. */
    void (*cell_sums)(int64_t n, const void *grad, const void *x, const double *mean, const double *rstd,
                      double *sums, double *products);
    void (*lane_sums)(int64_t n, const void *grad, const void *x, const double *mean, const double *rstd,
                      double *sums, double *products);
    /* The numbers of one cell, or of each of n. out may be grad or x. */
    void (*cell_input)(int64_t n, const void *grad, const void *x, const dt__norm_cells *of, void *out);
    void (*lane_input)(int64_t n, const void *grad, const void *x, const dt__norm_cells *of, void *out);
} dt__gradient_loops;

/* c[m,n] = alpha a[m,k] b[k,n] + beta c; rows of b and c are contiguous; strides in elements. c is not read if beta
 * is 0. The last bits of complex results may differ between instruction sets. */
typedef struct dt__small_product {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t a_row, a_column, b_row, c_row;
    dt__number alpha, beta;
} dt__small_product;
typedef void dt__small_loop(const dt__small_product *product);

/* Adds the product of the first rows of x with a matrix w to sums. Rows are dense, strides are in elements. x and sums
 * are f32 (f64 for f64), and w has the dtype that the loop is listed under. In rows of x, zeros follow up to a multiple
 * of 64 bytes, and rows of sums have memory up to one. */
typedef struct dt__thin_product {
    int64_t n, k;
    const void *x; /* [rows,k] */
    const void *w; /* [k,n]; for dot products [n,k] */
    void *sums;    /* [rows,n] */
    int64_t x_row, w_row, sums_row;
} dt__thin_product;
typedef void dt__thin_loop(const dt__thin_product *product);
enum { DT__THIN_ROWS_1, DT__THIN_ROWS_4, DT__THIN_ROWS_8, DT__N_THIN };
typedef struct dt__thin_loops {
    dt__thin_loop *dots[DT__N_THIN], *sums[DT__N_THIN];
} dt__thin_loops;

/* Computes n elements of each output. An output may be an input, exactly. */
typedef void dt__operand_loop(int64_t n, const void *const *ins, void *const *outs, const void *arg);

/* One step of an optimizer. Inputs: a parameter, its gradient, and its state (Adam, NAdam, RAdam: averages of gradients
 * and of their squares, and with AMSGrad the largest of the latter; momentum, Lion: the average of gradients; Adagrad:
 * the sum of squares; RMSprop: the average of squares, that of gradients where centered, the momentum; Adamax: the
 * average and the largest magnitude); outputs: the parameter and its state. The argument of its loop is a
 * dt__optimizer_step. */
typedef enum dt__optimizer {
    DT__ADAM,
    DT__AMSGRAD,
    DT__SGD,
    DT__MOMENTUM,
    DT__ADAGRAD,
    DT__RMSPROP,
    DT__RMSPROP_MOMENTUM,
    DT__RMSPROP_CENTERED,
    DT__RMSPROP_CENTERED_MOMENTUM,
    DT__ADAMAX,
    DT__NADAM,
    DT__RADAM,
    DT__LION,
    DT__N_OPTIMIZERS
} dt__optimizer;
typedef struct dt__optimizer_step {
    double grad_scale, l2;   /* the gradient is grad * grad_scale + l2 * parameter */
    double rate;             /* of what is subtracted from the parameter */
    double keep;             /* Adam: what the parameter is multiplied by before */
    double beta1, beta2;     /* of the averages of gradients, or the momentum, and of squares */
    double root, eps;        /* Adam: the factor of the square root, and what is added to it */
    double fresh;            /* momentum: the factor of the gradient that is added to the average */
    double of_grad, of_mean; /* momentum, NAdam: what is subtracted is made of */
    bool is_adaptive;        /* RAdam: divides by the root */
} dt__optimizer_step;

/* An operand loop with its argument, which has a member per family of loops. */
typedef struct dt__bound_loop {
    dt__operand_loop *loop;
    union {
        dt__optimizer_step optimizer;
    } argument;
} dt__bound_loop;

/* Matrices of n rows and columns that follow one another, stored by rows, dense; "upper": that triangle is read. */
typedef enum dt__small_kind {
    DT__SMALL_CHOLESKY, /* out = L, or with upper Lᵀ; info: the first pivot that is not positive, from 1 */
    DT__SMALL_SOLVE,    /* out = A⁻¹ B, [n,n_rhs]; B = NULL: the unit matrix; info: the first pivot of 0 */
    DT__SMALL_EIGH,     /* values ascend, and unless out is NULL it has the vectors as columns, with their largest
                           component positive; info: -1 if the matrix is not finite, 1 if the values did not
                           converge, and the results are NaN */
    DT__SMALL_LU,       /* of [m,n]: out = L, whose diagonal is 1, below U; values: pivots of i32, which count from 1,
                           the first largest element of each column; info: the first pivot of 0 */
    DT__SMALL_DIAGONAL, /* out = the diagonal of that U, [n], negated where the pivot swapped rows */
    DT__SMALL_TRIANGULAR, /* out = X of A X = B for a triangular A, with "right" of X A = B and B [n_rhs,n] */
    DT__SMALL_LU_SOLVE,   /* out = X likewise; a: as the result of DT__SMALL_LU, values: its pivots */
    DT__SMALL_GEQRF,      /* of [m,n]: out = R, and below its diagonal reflectors; values: their scales */
    DT__SMALL_SVD, /* of [m,n]: values = the singular values, which descend, out = U and vh = its other factor, or both
                        are NULL; with "full" both are square; info: as DT__SMALL_EIGH, the values are NaN then */
    DT__SMALL_QR,  /* of [m,n]: out = Q [m,n_rhs], or NULL, and values = R [n_rhs,n]; n_rhs is m, or min(m, n) */
    DT__N_SMALL
} dt__small_kind;
typedef struct dt__small_matrices {
    dt__small_kind kind;
    int n, n_rhs; /* n_rhs: 0 if there is no right side */
    int m;        /* DT__SMALL_LU, _QR, _GEQRF, _SVD: rows */
    bool upper;
    bool full;
    bool right, unit; /* of systems; unit: 1 is on the diagonal */
    bool adjoint;     /* DT__SMALL_LU_SOLVE: of the adjoint of A */
    const void *a, *b;
    void *out, *values, *vh; /* out may be a, or b */
    int32_t *infos;
} dt__small_matrices;
/* Matrices begin to end - 1. The memory is aligned to the registers. */
typedef void dt__small_matrix_loop(const dt__small_matrices *self, int64_t begin, int64_t end, void *memory);

typedef struct dt__loops {
    dt__convert_loop *const (*convert)[DT_N_DTYPES]; /* [from][to] */
    dt__loop *const (*ops)[DT_N_DTYPES];             /* [dt__element_op][dtype]; NULL: not implemented */
    dt__fold_loop *const (*folds)[DT_N_DTYPES]; /* [dt__fold][dtype]; F32 F64 I64 C128, or BOOL for any and all */
    dt__deviations_loop *const *deviations;     /* [dtype]; F32 F64 */
    dt__add_widened_loop *add_widened;
    dt__exp_sum_loop *const *exp_sums;            /* [dtype]; F32 F64 */
    const dt__gradient_loops *gradients;          /* [dtype]; F32 F64 */
    dt__small_loop *const *small_products;        /* [dtype]; F32 F64 I64 C64 C128 */
    const dt__thin_loops *thin_products;          /* [dtype]; F32 F64 BF16 F16 */
    dt__operand_loop *const (*optimizers)[2];     /* [dt__optimizer][f32, f64] */
    dt__small_matrix_loop *const *small_matrices; /* [dtype]; F32 F64 C64 C128 */
} dt__loops;

extern const dt__loops dt__loops_baseline;
#ifdef __x86_64__
extern const dt__loops dt__loops_avx2;
extern const dt__loops dt__loops_avx512;
#endif

#endif
