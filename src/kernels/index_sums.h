/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums at indices in half precision. All terms of a place, and what is stored there, are added in f64 and rounded once.
 * A list of terms, sorted by place, brings those of a place together, so that no wide copy of the result is needed.
 */
#ifndef DT_KERNELS_INDEX_SUMS_H
#define DT_KERNELS_INDEX_SUMS_H

#include "kernels/array.h"
#include "kernels/kernel_table.h"
#include "kernels/thread_pool.h"

/* Where a row is added to another: offsets in elements from the rows that dt__index_sums has. */
typedef struct dt__index_term {
    int64_t place, from;
} dt__index_term;

typedef struct dt__index_sums {
    const dt__array *sums;  /* the row at place 0; f16 or bf16 */
    const dt__array *terms; /* the row of offset 0, of the same shape; of the dtype of sums, or f32 */
    dt__index_term *list;   /* n terms, in the order in which those of a place are added, and memory for n more */
    int64_t n;
} dt__index_sums;

/* Changes the list. Rows at different places share no element. */
void dt__index_sums_run(const dt__kernels *kernels, dt__pool *pool, const dt__index_sums *args);

#endif
