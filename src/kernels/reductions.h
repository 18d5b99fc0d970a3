/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions of arrays along any of their dims, and scans along one. Sums and products of floats accumulate in f64
 * (complex: c128) and are rounded once at the end; those of integers and bool in i64, which wraps. The order of
 * operations depends on shape and strides only, not on threads or instruction sets.
 */
#ifndef DT_KERNELS_REDUCTIONS_H
#define DT_KERNELS_REDUCTIONS_H

#include "kernels/array.h"
#include "kernels/kernel_table.h"
#include "kernels/loops.h"
#include "kernels/thread_pool.h"

/* out = in, reduced along the dims whose bits are set. out has the other dims, in order; the result is divided by
 * `divisor`, unless that is 0, and converted to out's dtype. Over no elements, sum is 0, product 1, any false and all
 * true; max and min need at least one element, and are not defined for complex numbers. */
typedef struct dt__reduction {
    dt__fold fold;
    uint64_t dims;
    double divisor;
    const dt__array *in, *out;
} dt__reduction;

void dt__reduce(const dt__kernels *kernels, dt__pool *pool, const dt__reduction *args);

/* out (i64, of the shape that dt__reduce has) = the position along the dims of the largest element (the smallest, for
 * DT__FOLD_MIN): the first if several are equal; the first NaN if there is one. Over several dims the position is the
 * row-major index. Needs at least one element. `values`, if not NULL, gets the elements: f64, or i64 of integers and
 * bool. */
void dt__reduce_arg(const dt__kernels *kernels, dt__pool *pool, const dt__reduction *args, const dt__array *values);

/* Cumulative sum (or product, for DT__FOLD_PROD) along one dim: out[…, i, …] combines in[…, 0, …] to in[…, i, …]. out
 * has the shape of in, and may be in. `before`, if not NULL, has the other dims: what precedes in[…, 0, …], in the
 * dtype that is accumulated in (dt__scan_dtype). */
void dt__scan(const dt__kernels *kernels, dt__pool *pool, dt__fold fold, int dim, const dt__array *in,
              const dt__array *before, const dt__array *out);
dt_dtype dt__scan_dtype(dt_dtype dtype);

#endif
