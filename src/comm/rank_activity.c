/* SPDX-License-Identifier: Apache-2.0
 *
 * What ranks are doing, and which ranks they wait for, read from their blocks. A signal handler calls this: it
 * allocates nothing, takes no lock, and reads files by system calls.
 */
#include "comm/comm.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAMED_RANKS = 128, SHOWN_HISTORIES = 3 };

static bool process_is_stopped(int32_t pid) {
    char path[48], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = pid > 0 && pid != getpid() ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *name_end = strrchr(text, ')'); /* the state follows the name, which may contain anything */
    return name_end && (!strncmp(name_end, ") T", 3) || !strncmp(name_end, ") t", 3));
}

int64_t dt__stopped_rank(const struct dt__rank_block *ranks, int64_t n_ranks) {
    for (int64_t rank = 0; rank < n_ranks; rank++)
        if (process_is_stopped(atomic_load(&ranks[rank].pid)))
            return rank;
    return -1;
}

/* Whether a rank has started this operation of a channel, or a later one. */
static bool has_started(const struct dt__rank_block *rank, uint64_t channel, uint64_t seq) {
    for (int i = 0; i < DT__N_RECENT; i++)
        if (atomic_load(&rank->recent[i].channel) == channel && atomic_load(&rank->recent[i].seq) >= seq)
            return true;
    return false;
}

/* Whether `rank` is in an operation that `other`, a member of its group, has not started. */
static bool awaits(const struct dt__rank_block *ranks, const struct dt__recent_operation *operation, int64_t rank,
                   int64_t other) {
    return other != rank && atomic_load(&operation->set[other / 64]) >> other % 64 & 1 &&
           !has_started(&ranks[other], atomic_load(&operation->channel), atomic_load(&operation->seq));
}

static int64_t min_named(int64_t n_ranks) { return n_ranks < NAMED_RANKS ? n_ranks : NAMED_RANKS; }

/* The member that has not started the operation that a rank is in; the rank itself if it is in none, or if all members
 * have started it. */
static int64_t awaited_by(const struct dt__rank_block *ranks, int64_t n_ranks, int64_t rank) {
    const struct dt__recent_operation *operation = dt__operation_in_progress(&ranks[rank]);
    for (int64_t other = 0; operation && other < min_named(n_ranks); other++)
        if (awaits(ranks, operation, rank, other))
            return other;
    return rank;
}

int64_t dt__last_awaited(const struct dt__rank_block *ranks, int64_t n_ranks, int64_t rank) {
    int64_t at = rank;
    for (int64_t i = 0; i < n_ranks; i++) {
        int64_t next = awaited_by(ranks, n_ranks, at);
        if (next == at)
            return at;
        at = next;
    }
    return rank;
}

static size_t add(char *text, size_t capacity, size_t at, const char *words, const char *more) {
    if (at < capacity)
        snprintf(text + at, capacity - at, "%s%s", words, more);
    return at + strlen(text + at);
}

static size_t add_awaited(const struct dt__rank_block *ranks, int64_t n_ranks, int64_t rank, char *text,
                          size_t capacity, size_t at) {
    const struct dt__recent_operation *operation = dt__operation_in_progress(&ranks[rank]);
    uint64_t set[2] = {0}, n = 0;
    char names[160];
    for (int64_t other = 0; operation && other < min_named(n_ranks); other++)
        if (awaits(ranks, operation, rank, other)) {
            set[other / 64] |= UINT64_C(1) << other % 64;
            n++;
        }
    if (!n)
        return at;
    dt__describe_set(set, n, names, sizeof names);
    return add(text, capacity, at, "; waits for ", names);
}

/* A rank that computes sends nothing: its last calls on meshes show where it is. */
static size_t add_last_calls(const struct dt__rank_block *rank, char *text, size_t capacity, size_t at) {
    char call[2 * DT__MAX_LABEL];
    int shown = 0;
    for (int i = 0; i < DT__N_HISTORIES && shown < SHOWN_HISTORIES; i++)
        if (dt__describe_last_call(rank, &rank->histories[i], call, sizeof call)) {
            at = add(text, capacity, at, shown ? "; " : "; last call on a mesh: ", call);
            shown++;
        }
    return at;
}

void dt__describe_activity(const struct dt__rank_block *ranks, int64_t n_ranks, int64_t rank, char *text,
                           size_t capacity) {
    const struct dt__rank_block *block = &ranks[rank];
    dt__describe_rank(block, text, capacity);
    size_t at = strlen(text);
    if (!dt__rank_is_open(block))
        return;
    at = dt__operation_in_progress(block) ? add_awaited(ranks, n_ranks, rank, text, capacity, at)
                                          : add_last_calls(block, text, capacity, at);
    if (process_is_stopped(atomic_load(&block->pid)))
        add(text, capacity, at, "; its process is stopped", "");
}
