/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the NUMA node of this rank, as its launcher published it, and whether a large all_gather shares what the rank
 * reads from other nodes: "rank 2: node 1, shares".
 */
#include "comm/shm.h"

#include <dtensor/comm.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 100000 };

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    const dt__shm *shm = dt__runtime_of(ctx)->shm;
    int64_t n = dt_world(ctx), rank = dt_rank(ctx);
    float *src = dt_heap_alloc(ctx, COUNT * sizeof *src), *dst = dt_heap_alloc(ctx, (size_t)n * COUNT * sizeof *dst);
    for (int i = 0; src && i < COUNT; i++)
        src[i] = (float)(rank * 7 + i % 1000);
    dt_work *work =
        dt_comm_start(dt_group_world(ctx),
                      &(dt_comm_call){.op = DT_ALL_GATHER, .dtype = DT_F32, .src = src, .dst = dst, .count = COUNT});
    bool shares = work && work->shares_far;
    int n_wrong = dt_work_wait(work) != DT_OK;
    for (int64_t i = 0; !n_wrong && i < n * COUNT; i++)
        n_wrong += dst[i] != (float)(i / COUNT * 7 + i % COUNT % 1000);
    printf("rank %d: node %d, %s\n", (int)rank, atomic_load(&shm->segment->ranks[rank].numa_node) - 1,
           n_wrong  ? "wrong"
           : shares ? "shares"
                    : "alone");
    return dt_close(ctx);
}
