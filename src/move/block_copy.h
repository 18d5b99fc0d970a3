/* SPDX-License-Identifier: Apache-2.0
 *
 * Copying blocks: the loops that copy or reduce a block from its sources to the target, whatever the strides of
 * either. They allocate nothing and cannot fail.
 */
#ifndef DT_MOVE_BLOCK_COPY_H
#define DT_MOVE_BLOCK_COPY_H

#include "kernels/kernels.h"
#include "move/chunks.h"
#include "move/window_fetch.h"

enum { DT__COPY_SCRATCH_BYTES = 256 << 10 };

typedef struct dt__block_copier {
    const dt__kernels *kernels;
    dt_dtype dtype;
    size_t item_bytes;
    dt_reduce reduce;
    int64_t divisor;
    dt__store store;
    char *dst; /* the target shard, dense in some order */
    const int64_t *dst_strides;
    int n_sources;
    const dt__shard_memory *sources; /* n_sources */
    const void **at;                 /* capacity 2 n_sources */
    unsigned char *scratch;          /* dt__copy_scratch_bytes, where n_sources > 1 */
} dt__block_copier;

/* Bytes of scratch for n_sources: at least one element of each, and of the result. */
size_t dt__copy_scratch_bytes(int n_sources);

void dt__copy_block(const dt__block_copier *copier, int n_dims, const dt__block *block);
/* A chunk of the block. */
void dt__copy_chunk(const dt__block_copier *copier, int n_dims, const dt__block *block, const dt__chunk *chunk);

#endif
