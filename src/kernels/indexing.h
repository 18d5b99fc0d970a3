/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that access elements by index, and those that depend on the position of an element. Indexes are i64 or i32.
 *
 * A rank may hold only a shard of the indexed dim: the rows from `offset` on, of `limit` in total. Indexes below the
 * limit that are outside the shard belong to other ranks: they read as zero, and writes to them are dropped. Without
 * sharding, offset is 0 and limit is the size of the dim. All indexes are checked before anything is read or written,
 * except where a result is dropped otherwise.
 */
#ifndef DT_KERNELS_INDEXING_H
#define DT_KERNELS_INDEXING_H

#include "kernels/array.h"
#include "kernels/index_sums.h"
#include "kernels/kernel_table.h"
#include "kernels/thread_pool.h"

typedef struct dt__indexed {
    const dt__array *indexed; /* the array that the indexes refer to, along dim */
    int dim;
    const dt__array *index;
    int64_t offset, limit;
    const dt__array *other; /* the elements read from or written to it; of the same dtype, or f32 in sums of halves */
    bool is_new;            /* of scatter_along: indexed is dropped if an index is out of range */
    void *memory;           /* for sums: of dt__index_add_bytes or dt__scatter_bytes */
} dt__indexed;

/* All of these return true, or false with the first index that is out of range (in the order of the index array) in
 * *bad and, unless indexed is new, nothing written. */

/* other = rows of indexed, selected by index: other has indexed's dims, with dim replaced by the dims of index. With
 * dim 0 this is an embedding, with a 1-d index an index_select. */
bool dt__index_select(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad);
/* The reverse: adds other's rows to the rows of indexed, in order where indexes are equal. Sums of f16 and bf16 are
 * rounded once (index_sums.h), here and in dt__scatter_along. */
bool dt__index_add(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad);

/* other[i,j,…] = indexed[index[i,j,…],j,…] (for dim 0). index and other have the same shape, in the other dims no
 * larger than that of indexed. */
bool dt__gather_along(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, int64_t *bad);
/* indexed[index[i,j,…],j,…] += other[i,j,…] (for dim 0), or = if `adds` is false; in the order of index, whatever the
 * number of threads. */
bool dt__scatter_along(const dt__kernels *kernels, dt__pool *pool, const dt__indexed *args, bool adds, int64_t *bad);

/* The memory that sums need, with as many threads as the pool has; 0: none. */
int64_t dt__index_add_bytes(dt__pool *pool, const dt__indexed *args);
int64_t dt__scatter_bytes(dt__pool *pool, const dt__indexed *args);

/* out = in on and below (upper: above) a diagonal of the last two dims, 0 elsewhere. Element i,j of the array is at
 * i + row, j + column of the full matrix; `diagonal` is column minus row there. out may be in. */
typedef struct dt__triangle {
    const dt__array *in, *out; /* of one shape and dtype, with at least two dims */
    bool upper;
    int64_t diagonal, row, column;
} dt__triangle;

void dt__triangle_run(const dt__kernels *kernels, dt__pool *pool, const dt__triangle *args);

#endif
