/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources outside the heap, which peers cannot read: they pass through a staging buffer in the heap, in rounds. In each
 * round a rank copies one *box* of its shard there, whose elements are consecutive where the shard is dense, and every
 * rank pulls what its blocks have of that box. The shape of the shard determines the boxes, so readers can compute
 * them. Pure arithmetic.
 */
#ifndef DT_MOVE_STAGED_SOURCE_H
#define DT_MOVE_STAGED_SOURCE_H

#include "move/pull_list.h"

enum { DT__STAGED_BYTES = 1 << 20 }; /* of the staging buffer, unless a test has set another size */

typedef struct dt__staged_box {
    int64_t begin[DT_SPEC_MAX_DIMS], size[DT_SPEC_MAX_DIMS]; /* local indices of the shard */
    int64_t first;                                           /* its first element in the dense shard */
} dt__staged_box;

/* How many rounds the largest shard of a spec takes with a buffer of so many bytes, at least an element; the same on
 * all ranks. */
int64_t dt__staged_rounds(const dt_spec *from, int64_t bytes);
/* The box of a round, of a shard of this shape of the spec; false: it has no more. */
bool dt__staged_box_at(const dt_spec *from, const int64_t *shape, int64_t bytes, int64_t round, dt__staged_box *out);
/* The part of a block that is in a box of its source shard; without elements if there is none. */
dt_status dt__block_in_box(dt__arena *arena, int n_dims, const dt__block *block, const dt__staged_box *box,
                           dt__block *out);

#endif
