/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that find elements by index, and those that depend on the position of an element. Indexes are i64 or i32.
 *
 * A rank may hold only a part of the indexed dim: the rows from `offset` on, as many as the array has, of `limit` in
 * all. Other indexes below the limit belong to other ranks: here they read as zero, and what is added there is
 * dropped. A rank that holds everything has offset 0 and the dim's size as the limit. Every index is checked before
 * anything is read or written.
 */
#ifndef DT_KERNELS_INDEXING_H
#define DT_KERNELS_INDEXING_H

#include "kernels/array.h"
#include "kernels/kernel_table.h"
#include "kernels/thread_pool.h"

typedef struct dt__indexed {
    const dt__array *indexed; /* what indexes point into, along dim */
    int dim;
    const dt__array *index;
    int64_t offset, limit;
    const dt__array *other; /* what is read from or written to it; of the same dtype */
} dt__indexed;

/* All of these: true, or false with the first bad index (in the order of the index array) in *bad and nothing done. */

/* other = rows of indexed, chosen by index: other has indexed's dims with the dims of index in the place of dim. With
 * dim 0 it is an embedding, with a 1-d index an index_select. */
bool dt__index_select(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad);
/* The other way round: other's rows are added to the rows of indexed, one after another for equal indexes. */
bool dt__index_add(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad);

/* other[i,j,…] = indexed[index[i,j,…],j,…] (for dim 0): index and other have one shape, no larger than indexed's in
 * the other dims. */
bool dt__gather_along(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad);
/* indexed[index[i,j,…],j,…] += other[i,j,…] (for dim 0), or = where it does not add; in the order of index, on one
 * thread. */
bool dt__scatter_along(const dt__kernels *kernels, const dt__indexed *args, bool adds, int64_t *bad);

/* out = in on and below (upper: above) a diagonal of the last two dims, 0 elsewhere. Element i,j is at i + row, j +
 * column of the whole matrix, whose diagonal number `diagonal` it is where j - i of the whole is. out may be in. */
typedef struct dt__triangle {
    const dt__array *in, *out; /* of one shape and dtype, with at least two dims */
    bool upper;
    int64_t diagonal, row, column;
} dt__triangle;

void dt__triangle_run(const dt__kernels *kernels, dt__pool *pool, const dt__triangle *args);

#endif
