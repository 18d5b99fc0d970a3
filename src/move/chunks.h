/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks cut into chunks, which the threads of a rank carry in any order. Pure arithmetic. Every element of the
 * target is in one chunk, and is computed there as it would be in its block, so that cutting changes no bit.
 */
#ifndef DT_MOVE_CHUNKS_H
#define DT_MOVE_CHUNKS_H

#include "move/pull_list.h"

/* Of a block, what has positions begin … end - 1 along one dim; positions count through the dim's pieces. */
typedef struct dt__chunk {
    int64_t block;
    int dim;
    int64_t begin, end;
} dt__chunk;

typedef struct dt__chunks {
    int64_t n; /* 0: too little to share, or nobody to share it with */
    dt__chunk *list;
} dt__chunks;

typedef struct dt__chunks_of {
    int n_dims;
    int64_t n_blocks;
    const dt__block *blocks;
    int n_threads;
    int64_t bytes_read; /* for each element of the target */
    const int64_t *dst_strides;
} dt__chunks_of;

dt_status dt__chunks_new(dt__arena *arena, const dt__chunks_of *what, dt__chunks *out);

/* The first of positions from … to - 1 of a piece that are a piece themselves; from is below to. */
dt__piece dt__piece_part(const dt__piece *piece, int64_t from, int64_t to);

#endif
