/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch as its supervisor sees it: making the segment, the tickets with which ranks join, and what the supervisor
 * publishes and reads of each rank.
 */
#include "launch/launch.h"

#include "launch/temporary_file.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

struct dt__segment *dt__segment_new(int64_t n_ranks, size_t heap_bytes, int *fd, char *error, size_t error_bytes) {
    size_t bytes = heap_bytes || n_ranks < 1 ? heap_bytes : dt__heap_bytes_default(n_ranks);
    struct dt__segment *segment = dt__segment_create(n_ranks, NULL, n_ranks, bytes, fd, error, error_bytes);
    if (segment)
        segment->oom_kills = dt__oom_kills("");
    return segment;
}

dt__ticket dt__segment_ticket(const struct dt__segment *segment, int fd, int64_t rank, int64_t n_cores) {
    return (dt__ticket){.fd = fd, .nonce = segment->nonce, .rank = rank, .n_cores = n_cores};
}

void dt__ticket_print(const dt__ticket *ticket, char *text, size_t capacity) {
    snprintf(text, capacity, "shm:%d:%" PRIx64 ":%" PRId64 ":%" PRId64, ticket->fd, ticket->nonce, ticket->rank,
             ticket->n_cores);
}

bool dt__ticket_parse(const char *text, dt__ticket *ticket) {
    dt__ticket read = {0};
    int n = 0;
    if (sscanf(text, "shm:%d:%" SCNx64 ":%" SCNd64 ":%" SCNd64 "%n", &read.fd, &read.nonce, &read.rank, &read.n_cores,
               &n) != 4 ||
        text[n])
        return false;
    *ticket = read;
    return true;
}

void dt__segment_set_pid(struct dt__segment *segment, int64_t rank, int32_t pid) {
    atomic_store(&segment->ranks[rank].pid, pid);
}

void dt__segment_set_ended(struct dt__segment *segment, int64_t rank, int wait_status) {
    dt__segment_remove_temporary(segment, rank);
    atomic_store(&segment->ranks[rank].ended, wait_status + 1);
    dt__segment_notify(segment);
}

bool dt__segment_is_open(const struct dt__segment *segment, int64_t rank) {
    return dt__rank_is_open(&segment->ranks[rank]);
}

bool dt__segment_failed_by_peer(const struct dt__segment *segment, int64_t rank) {
    for (int i = 0; i < DT__N_RECENT; i++) {
        int32_t state = atomic_load(&segment->ranks[rank].recent[i].state);
        if (state == DT_ERR_PEER || state == DT_ERR_GROUP)
            return true;
    }
    return false;
}

void dt__segment_describe(const struct dt__segment *segment, int64_t rank, char *text, size_t capacity) {
    dt__describe_rank(&segment->ranks[rank], text, capacity);
}

void dt__segment_describe_activity(const struct dt__segment *segment, int64_t rank, char *text, size_t capacity) {
    dt__describe_activity(segment->ranks, segment->n_ranks, rank, text, capacity);
}

bool dt__segment_describe_ending(const struct dt__segment *segment, int wait_status, char *text, size_t capacity) {
    bool killed = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
    bool out_of_memory = killed && dt__oom_kills("") > segment->oom_kills;
    dt__describe_wait_status(wait_status, text, capacity);
    size_t at = strlen(text);
    if (out_of_memory)
        snprintf(text + at, capacity - at,
                 ": the node ran out of memory and the kernel killed it; with a smaller heap (DTENSOR_HEAP) the "
                 "allocation is an error instead");
    return out_of_memory;
}
