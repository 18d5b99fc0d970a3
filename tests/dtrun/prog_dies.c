/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank that dies while its control block says what it is doing: "dies WHERE", where WHERE is init, call, between,
 * failed or closed. Rank 1 kills itself; the others wait to be told that it has ended, and exit with 3.
 */
#include "comm/describe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void note_call(struct dt__rank_block *block, dt_status state) {
    struct dt__ring_call *call = &block->ring[0];
    atomic_store(&call->number, 1);
    atomic_store(&call->what, dt__what_pack(DT_ALL_REDUCE, DT_F32, DT_SUM, 0));
    atomic_store(&call->count, 1024);
    atomic_store(&call->seq, 12);
    atomic_store(&call->members, 3);
    atomic_store(&call->set[0], 7);
    atomic_store(&call->start_ns, now_ns());
    atomic_store(&call->state, state);
    atomic_store(&block->n_calls, 1);
}

static void show(struct dt__rank_block *block, const char *where) {
    if (strcmp(where, "init") == 0) {
        atomic_store(&block->state, DT__RANK_JOINING);
        return;
    }
    note_call(block, strcmp(where, "call") == 0 ? DT_IN_PROGRESS : DT_OK);
    if (strcmp(where, "failed") == 0) {
        strcpy(block->error_text, "no room for 5 elephants");
        atomic_store(&block->error_status, DT_ERR_MEMORY);
        atomic_store(&block->state, DT__RANK_FAILED);
        return;
    }
    atomic_store(&block->state, strcmp(where, "closed") == 0 ? DT__RANK_CLOSED : DT__RANK_READY);
}

int main(int argc, char **argv) {
    dt__ticket ticket;
    char error[512];
    const char *launch = getenv("DTENSOR_LAUNCH");
    if (argc != 2 || !launch || !dt__ticket_parse(launch, &ticket))
        return 90;
    struct dt__segment *segment = dt__segment_join(&ticket, error, sizeof error);
    if (!segment) {
        fprintf(stderr, "%s\n", error);
        return 91;
    }
    struct dt__rank_block *blocks = segment->ranks;
    while (atomic_load(&blocks[ticket.rank].pid) == 0) /* the parent may be slower than we are */
        usleep(1000);
    if (atomic_load(&blocks[ticket.rank].pid) != getpid())
        return 92;
    show(&blocks[ticket.rank], argv[1]);
    if (ticket.rank == 1)
        raise(SIGKILL);
    while (!atomic_load(&blocks[1].ended))
        usleep(1000);
    return atomic_load(&blocks[1].ended) == SIGKILL + 1 ? 3 : 93;
}
