/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks as threads of this process, on one mapping of the segment.
 */
#include "launch/launch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct thread_rank {
    pthread_t thread;
    dt__ticket ticket;
    const dt_init_options *options;
    dt_rank_fn *fn;
    void *arg;
    int code;
};

static void *run_rank(void *arg) {
    struct thread_rank *rank = arg;
    dt_ctx *ctx = dt__init_with_ticket(rank->options, &rank->ticket, NULL);
    int code = ctx ? rank->fn(ctx, rank->arg) : 1;
    int closed = ctx ? dt_close(ctx) : 1;
    rank->code = code ? code : closed;
    return NULL;
}

bool dt__run_threads(int64_t n_ranks, const dt_init_options *options, dt_rank_fn *fn, void *arg, int *codes) {
    static const dt_init_options defaults;
    char error[256];
    int fd;
    struct dt__segment *segment =
        dt__segment_new(n_ranks, options ? options->heap_bytes : 0, &fd, error, sizeof error);
    if (!segment)
        return false;
    struct thread_rank *ranks = calloc((size_t)n_ranks, sizeof *ranks);
    int64_t n = 0;
    for (; ranks && n < n_ranks; n++) {
        ranks[n] = (struct thread_rank){
            .ticket = {.fd = -1, .base = segment, .nonce = segment->nonce, .rank = n, .n_cores = dt__usable_cores()},
            .options = options ? options : &defaults,
            .fn = fn,
            .arg = arg};
        if (pthread_create(&ranks[n].thread, NULL, run_rank, &ranks[n]))
            break;
    }
    for (int64_t i = n; i < n_ranks; i++)
        dt__segment_set_ended(segment, i, 1 << 8);
    for (int64_t i = 0; i < n; i++) {
        pthread_join(ranks[i].thread, NULL);
        if (codes)
            codes[i] = ranks[i].code;
    }
    close(fd);
    dt__segment_unmap(segment);
    free(ranks);
    return n == n_ranks;
}
