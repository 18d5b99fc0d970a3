/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions of arrays along any of their dims, and running ones along one. Sums and products of floats are kept in
 * f64 (complex: c128) and rounded once at the end; those of integers and bool in i64, which wraps. The order of
 * operations depends on shape and strides only, not on threads or instruction sets.
 */
#ifndef DT_KERNELS_REDUCTIONS_H
#define DT_KERNELS_REDUCTIONS_H

#include "kernels/array.h"
#include "kernels/kernel_table.h"
#include "kernels/loops.h"
#include "kernels/thread_pool.h"

/* out = in folded along the dims whose bits are set. out has the other dims, in order, and any dtype that the result is
 * to be converted to. Sums are divided by `divisor` before that, unless it is 0. Over no elements, sum is 0, product 1,
 * any false and all true; max and min need at least one element. Max and min: no complex. */
typedef struct dt__reduction {
    dt__fold fold;
    uint64_t dims;
    double divisor;
    const dt__array *in, *out;
} dt__reduction;

void dt__reduce(const dt__kernels *kernels, dt__pool *pool, const dt__reduction *args);

/* out (i64, shaped as for dt__reduce) = the position along the dims of the largest element (the smallest, for
 * DT__FOLD_MIN): the first one of equals; a NaN is larger and smaller than everything. Over several dims it counts
 * elements, the last dim fastest. At least one element each. */
void dt__reduce_arg(const dt__kernels *kernels, dt__pool *pool, const dt__reduction *args);

/* out[…, i, …] = in[…, 0, …] to in[…, i, …], summed (or multiplied, for DT__FOLD_PROD), along one dim. out has the
 * shape of in, and may be in. */
void dt__scan(const dt__kernels *kernels, dt__pool *pool, dt__fold fold, int dim, const dt__array *in,
              const dt__array *out);

#endif
