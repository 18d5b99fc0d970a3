/* SPDX-License-Identifier: Apache-2.0
 *
 * Carrying blocks: the loops that copy or reduce what a block says from where its sources lie to where the target
 * lies, whatever the strides of either. They allocate nothing and cannot fail.
 */
#ifndef DT_MOVE_BLOCK_COPY_H
#define DT_MOVE_BLOCK_COPY_H

#include "kernels/kernels.h"
#include "move/chunks.h"

enum { DT__CARRY_SCRATCH_BYTES = 256 << 10 };

/* Where a part lies: the element of index 0, and strides in elements. */
typedef struct dt__shard_memory {
    const char *at;
    const int64_t *strides;
} dt__shard_memory;

typedef struct dt__carrier {
    const dt__kernels *kernels;
    dt_dtype dtype;
    size_t item_bytes;
    dt_reduce reduce;
    int64_t divisor;
    dt__store store;
    char *dst; /* the target part, dense in some order */
    const int64_t *dst_strides;
    int n_sources;
    const dt__shard_memory *views; /* n_sources */
    const void **at;               /* room for 2 n_sources */
    unsigned char *scratch;        /* dt__carry_scratch_bytes, where n_sources > 1 */
} dt__carrier;

/* Scratch for so many sources: at least one element of each, and of the result. */
size_t dt__carry_scratch_bytes(int n_sources);

void dt__carry_block(const dt__carrier *carrier, int n_dims, const dt__block *block);
/* A chunk of the block. */
void dt__carry_chunk(const dt__carrier *carrier, int n_dims, const dt__block *block, const dt__chunk *chunk);

#endif
