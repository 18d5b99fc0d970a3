/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks divided into chunks, which the threads of a rank copy in any order. Pure arithmetic. Every element of the
 * target is in one chunk and is computed there as in its block, so the results have the same bits.
 */
#ifndef DT_MOVE_CHUNKS_H
#define DT_MOVE_CHUNKS_H

#include "move/pull_list.h"

/* Positions begin … end - 1 of a block along one dim; positions count through the dim's pieces. */
typedef struct dt__chunk {
    int64_t block;
    int dim;
    int64_t begin, end;
} dt__chunk;

typedef struct dt__chunks {
    int64_t n; /* 0: too little to share, or only one thread */
    dt__chunk *list;
} dt__chunks;

typedef struct dt__chunk_request {
    int n_dims;
    int64_t n_blocks;
    const dt__block *blocks;
    int n_threads;
    int64_t bytes_read; /* for each element of the target */
    const int64_t *dst_strides;
} dt__chunk_request;

dt_status dt__chunks_new(dt__arena *arena, const dt__chunk_request *request, dt__chunks *out);

/* The longest slice from position `from` that is a piece and ends at `to` or before; from < to. */
dt__piece dt__piece_slice(const dt__piece *piece, int64_t from, int64_t to);

#endif
