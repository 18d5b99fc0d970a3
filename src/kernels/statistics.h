/* SPDX-License-Identifier: Apache-2.0
 *
 * Two numbers per row that summarise it, computed in one pass, and merged with those of the rest of the row. Rows are
 * the elements along some dims of an array of floating point; all numbers are f64.
 */
#ifndef DT_KERNELS_STATISTICS_H
#define DT_KERNELS_STATISTICS_H

#include "kernels/array.h"
#include "kernels/kernel_table.h"
#include "kernels/thread_pool.h"

typedef enum dt__statistic {
    DT__EXPONENTIALS, /* the largest element, NaN if one is; the sum of exp(element - largest), 0 if all are -inf */
    DT__MOMENTS,      /* the mean; the sum of the squares of differences from it */
    DT__SQUARES,      /* nothing; the sum of squares */
} dt__statistic;

/* first and second have the dims of `in` whose bits are not set in `dims`, in order. Rows of no elements are -inf and
 * 0, or 0 and 0. The order of operations depends on shape and strides only. */
typedef struct dt__statistics {
    dt__statistic kind;
    uint64_t dims;
    const dt__array *in;
    const dt__array *first; /* NULL for squares */
    const dt__array *second;
    /* (optional) Gets exp(element - largest) of each row, relative to 0 where all are -inf. Exponentials along the last
     * dim only, whose elements are contiguous in both arrays, which have one dtype, f32 or f64. */
    const dt__array *powers;
} dt__statistics;

void dt__statistics_run(const dt__kernels *kernels, dt__pool *pool, const dt__statistics *args);

/* Multiplies each row by its factor. The rows are along the last dim, f32 or f64 and contiguous; the factors, f64, have
 * the other dims. */
void dt__rows_scale(const dt__kernels *kernels, dt__pool *pool, const dt__array *factors, const dt__array *rows);

/* The statistics of n rows of `count` elements each. */
typedef struct dt__row_statistics {
    double *count; /* moments only */
    double *first, *second;
} dt__row_statistics;

/* Merges those of the rest of the same rows. */
void dt__statistics_merge(const dt__kernels *kernels, dt__statistic kind, int64_t n, const dt__row_statistics *into,
                          const dt__row_statistics *rest);

#endif
