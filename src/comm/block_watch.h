/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of an estimated rank: what each is for, which line of the program made it, and the largest ones at the
 * moment when the heap was fullest.
 */
#ifndef DT_COMM_BLOCK_WATCH_H
#define DT_COMM_BLOCK_WATCH_H

#include "comm/heap.h"

enum { DT__N_LARGEST = 10 };

/* A live block. */
typedef struct dt__watched_block {
    size_t bytes; /* 0: the number is free */
    dt_memory_kind kind;
    int32_t next_free;
    const char *call; /* of the program that allocated it; NULL: unknown */
    const char *file; /* of that call; NULL: unknown */
    const char
        *label; /* the text form of its tensor, which lives as long as the context; NULL: no tensor on a mesh */
    int line;
} dt__watched_block;

typedef struct dt__block_watch {
    dt__heap_watch watch; /* first: the heap hands it back */
    dt_ctx *ctx;
    dt__watched_block *blocks; /* by number */
    int32_t n, capacity, free; /* free: the first free number, or -1 */
    bool at_peak;              /* nothing was freed since the heap held most */
    int n_largest;
    dt__watched_block largest[DT__N_LARGEST]; /* at the last peak that was followed by a free; largest first */
} dt__block_watch;

void dt__block_watch_open(dt__block_watch *self, dt_ctx *ctx);
void dt__block_watch_close(dt__block_watch *self);
/* Brings `largest` up to date. */
void dt__block_watch_settle(dt__block_watch *self);

#endif
