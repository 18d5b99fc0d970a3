/* SPDX-License-Identifier: Apache-2.0
 *
 * The library as one of the sides that collectives.h and moves.h measure, with buffers and tensors in the heap.
 */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "moves.h"

#include "dtensor/comm.h"
#include "dtensor/ops.h"

typedef struct bench_ours {
    dt_ctx *ctx;
    dt_group *world;
    dt_mesh *mesh; /* of the move that is measured */
    dt_tensor *src, *dst;
    char to[32];
} bench_ours;

bench_side bench_our_side(bench_ours *ours, dt_ctx *ctx);
bench_mover bench_our_mover(bench_ours *ours, dt_ctx *ctx);

#endif
