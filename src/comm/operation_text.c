/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts about operations and ranks, built from shared words that another process may be changing: each word is read
 * once, so a text may be out of date but is always well-formed.
 */
#include "comm/comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

const char *dt_collective_name(dt_collective op) {
    static const char *const words[] = {
#define ROW(name, word) [DT_##name] = word,
        DT_COLLECTIVE_LIST(ROW)
#undef ROW
    };
    return (unsigned)op < DT_N_COLLECTIVES ? words[op] : "?";
}

/* The fields that the text of an operation contains, by op. */
static const struct {
    bool data, reduce;
    const char *root; /* word before the root, or NULL */
} fields[DT__N_WORK_OPS] = {
    [DT_BROADCAST] = {.data = true, .root = "from"},
    [DT_SCATTER] = {.data = true, .root = "from"},
    [DT_GATHER] = {.data = true, .root = "to"},
    [DT_ALL_GATHER] = {.data = true},
    [DT_ALL_REDUCE] = {.data = true, .reduce = true},
    [DT_REDUCE_SCATTER] = {.data = true, .reduce = true},
    [DT_ALL_TO_ALL] = {.data = true},
    [DT_SEND] = {.data = true, .root = "to"},
    [DT_RECV] = {.data = true}, /* the root in the shared signature is the receiver */
    [DT__WORK_EXCHANGE] = {.data = true},
};

void dt__describe_operation(uint64_t signature, uint64_t count, const char *name, char *text, size_t capacity) {
    dt__work_op op = signature & DT__SIGNATURE_RECEIVES ? DT__WORK_RECV : dt__signature_op(signature);
    bool is_exchange = op == DT__WORK_EXCHANGE;
    int n = snprintf(text, capacity, "%s", is_exchange ? name : dt_collective_name((dt_collective)op));
    if ((unsigned)op >= DT__N_WORK_OPS || !fields[op].data ||
        (is_exchange && !(signature & DT__SIGNATURE_SHOWS_DATA)) || n < 0 || (size_t)n >= capacity)
        return;
    char reduce[32] = "", root[32] = "";
    if (fields[op].reduce)
        snprintf(reduce, sizeof reduce, ", %s", dt_reduce_name(dt__signature_reduce(signature)));
    if (fields[op].root)
        snprintf(root, sizeof root, " %s %" PRId64, fields[op].root, dt__signature_root(signature));
    if (op == DT__WORK_ALL_TO_ALL && signature & DT__SIGNATURE_BLOCKS_DIFFER) /* counts differ between ranks */
        snprintf(text + n, capacity - (size_t)n, " of %s in blocks", dt_dtype_name(dt__signature_dtype(signature)));
    else
        snprintf(text + n, capacity - (size_t)n, " of %s x %" PRIu64 "%s%s",
                 dt_dtype_name(dt__signature_dtype(signature)), count, reduce, root);
}

void dt__describe_own_operation(const dt_work *work, char *text, size_t capacity) {
    dt__describe_operation(work->signature, work->count, work->exchange ? work->exchange->call->name : "", text,
                           capacity);
}

void dt__describe_recent_operation(const struct dt__recent_operation *operation, char *text, size_t capacity) {
    uint64_t words[DT__CALL_NAME_BYTES / 8 + 1] = {0};
    for (size_t i = 0; i < DT__CALL_NAME_BYTES / 8; i++)
        words[i] = atomic_load_explicit(&operation->name[i], memory_order_relaxed);
    dt__describe_operation(atomic_load_explicit(&operation->signature, memory_order_relaxed),
                           atomic_load_explicit(&operation->count, memory_order_relaxed), (const char *)words, text,
                           capacity);
}

static size_t common_prefix(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

/* Where the item begins that contains this place; items are separated by commas with a space. */
static size_t item_start(const char *text, size_t at) {
    while (at > 1 && !(text[at - 2] == ',' && text[at - 1] == ' '))
        at--;
    return at > 1 ? at : 0;
}

static void excerpt(const char *text, size_t at, char *out, size_t capacity) {
    static const char dots[] = "\xe2\x80\xa6";
    if (strlen(text) < capacity) {
        snprintf(out, capacity, "%s", text);
        return;
    }
    const char *comma = strstr(text, ", ");
    size_t head = comma ? (size_t)(comma - text) + 2 : 0, start = item_start(text, at), n = 0;
    if (at - start > capacity / 4)
        start = at - capacity / 4;
    if (start > head && head < capacity / 2)
        n = (size_t)snprintf(out, capacity, "%.*s%s, ", (int)head, text, dots);
    else if (start > 0)
        n = (size_t)snprintf(out, capacity, "%s", dots);
    size_t left = capacity - n;
    if ((size_t)snprintf(out + n, left, "%s", text + start) >= left)
        snprintf(out + n + left - sizeof dots, sizeof dots, "%s", dots);
}

void dt__describe_difference(const char *a, const char *b, char *a_out, char *b_out, size_t capacity) {
    size_t at = common_prefix(a, b);
    excerpt(a, at, a_out, capacity);
    excerpt(b, at, b_out, capacity);
}

void dt__describe_ranks(const int64_t *ranks, int64_t n_ranks, char *text, size_t capacity) {
    enum { MAX_RANGES = 16 };
    size_t at = (size_t)snprintf(text, capacity, n_ranks == 1 ? "rank " : "ranks ");
    int n_ranges = 0;
    for (int64_t first = 0, last; first < n_ranks && at < capacity; first = last + 1) {
        if (++n_ranges > MAX_RANGES) {
            snprintf(text + at, capacity - at, ",… (%" PRId64 " in all)", n_ranks);
            return;
        }
        for (last = first; last + 1 < n_ranks && ranks[last + 1] == ranks[last] + 1;)
            last++;
        at += (size_t)snprintf(text + at, capacity - at, "%s%" PRId64, first ? "," : "", ranks[first]);
        if (last > first && at < capacity)
            at += (size_t)snprintf(text + at, capacity - at, "-%" PRId64, ranks[last]);
    }
}

static bool in_set(const uint64_t set[2], int rank) { return set[rank / 64] >> (rank % 64) & 1; }

void dt__describe_set(const uint64_t set[2], uint64_t n_members, char *text, size_t capacity) {
    if (n_members > (uint64_t)__builtin_popcountll(set[0]) + (uint64_t)__builtin_popcountll(set[1])) {
        snprintf(text, capacity, "%" PRIu64 " ranks", n_members);
        return;
    }
    int64_t ranks[128], n = 0;
    for (int rank = 0; rank < 128; rank++)
        if (in_set(set, rank))
            ranks[n++] = rank;
    dt__describe_ranks(ranks, n, text, capacity);
}

static double seconds_since(int64_t start_ns) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)((int64_t)now.tv_sec * 1000000000 + now.tv_nsec - start_ns) * 1e-9;
}

void dt__describe_numbered_operation(const struct dt__recent_operation *operation, char *text, size_t capacity) {
    char operation_text[128], set[128];
    uint64_t members[2] = {atomic_load_explicit(&operation->set[0], memory_order_relaxed),
                           atomic_load_explicit(&operation->set[1], memory_order_relaxed)};
    dt__describe_recent_operation(operation, operation_text, sizeof operation_text);
    dt__describe_set(members, atomic_load_explicit(&operation->members, memory_order_relaxed), set, sizeof set);
    snprintf(text, capacity, "%s, #%" PRIu64 " of %s", operation_text,
             atomic_load_explicit(&operation->seq, memory_order_relaxed), set);
}

void dt__describe_wait_status(int wait_status, char *text, size_t capacity) {
    if (WIFSIGNALED(wait_status)) {
        const char *name = sigabbrev_np(WTERMSIG(wait_status));
        snprintf(text, capacity, "signal %d (SIG%s)", WTERMSIG(wait_status), name ? name : "?");
    } else {
        snprintf(text, capacity, "exit code %d", WEXITSTATUS(wait_status));
    }
}

const struct dt__recent_operation *dt__operation_in_progress(const struct dt__rank_block *block) {
    uint64_t n = atomic_load(&block->n_calls);
    const struct dt__recent_operation *found = NULL;
    for (uint64_t back = 0; back < n && back < DT__N_RECENT; back++) {
        const struct dt__recent_operation *operation = &block->recent[(n - 1 - back) % DT__N_RECENT];
        if (atomic_load_explicit(&operation->state, memory_order_relaxed) == DT_IN_PROGRESS)
            found = operation;
    }
    return found;
}

/* The oldest operation in progress, if any; otherwise the last one. */
static const struct dt__recent_operation *operation_to_report(const struct dt__rank_block *block, bool *running) {
    uint64_t n = atomic_load(&block->n_calls);
    const struct dt__recent_operation *found = dt__operation_in_progress(block);
    *running = found != NULL;
    return found || !n ? found : &block->recent[(n - 1) % DT__N_RECENT];
}

static size_t describe_state(const struct dt__rank_block *block, char *text, size_t capacity) {
    int32_t ended = atomic_load(&block->ended), state = atomic_load(&block->state);
    int32_t error = atomic_load(&block->error_status);
    char ending[64];
    int n = 0;
    if (ended) {
        dt__describe_wait_status(ended - 1, ending, sizeof ending);
        n = snprintf(text, capacity, "ended with %s; ", ending);
    } else if (state == DT__RANK_ABSENT || state == DT__RANK_JOINING) {
        n = snprintf(text, capacity, "%s; ", state == DT__RANK_ABSENT ? "has not called dt_init" : "is in dt_init");
    } else if (error && (state == DT__RANK_FAILED || state == DT__RANK_CLEARING || state == DT__RANK_CLOSED)) {
        char message[sizeof block->error_text];
        memcpy(message, block->error_text, sizeof message);
        message[sizeof message - 1] = 0;
        message[strcspn(message, "\n")] = 0; /* what each rank did then is outdated */
        n = snprintf(text, capacity, "%s %s: %s; ",
                     state == DT__RANK_FAILED     ? "has failed with"
                     : state == DT__RANK_CLEARING ? "is in dt_error_clear after"
                                                  : "has closed its context after",
                     dt_status_name((dt_status)error), message);
    } else if (state == DT__RANK_CLOSED) {
        n = snprintf(text, capacity, "has closed its context; ");
    } else if (state == DT__RANK_CLEARING) {
        n = snprintf(text, capacity, "is in dt_error_clear; ");
    }
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity - 1;
}

void dt__describe_rank(const struct dt__rank_block *block, char *text, size_t capacity) {
    size_t at = describe_state(block, text, capacity);
    bool running;
    char operation_text[320], program[2 * DT__MAX_LABEL];
    const struct dt__recent_operation *operation = operation_to_report(block, &running);
    if (!operation) {
        bool is_elsewhere = !atomic_load(&block->pid) && atomic_load(&block->state) != DT__RANK_ABSENT;
        snprintf(text + at, capacity - at, is_elsewhere ? "on another node" : "no transfers yet");
        return;
    }
    dt__describe_numbered_operation(operation, operation_text, sizeof operation_text);
    dt__describe_program_call(block, atomic_load_explicit(&operation->program, memory_order_relaxed), program,
                              sizeof program);
    int64_t start_ns = atomic_load_explicit(&operation->start_ns, memory_order_relaxed);
    if (running && start_ns)
        snprintf(text + at, capacity - at, "in %s, for %.1f s%s", operation_text, seconds_since(start_ns), program);
    else if (running)
        snprintf(text + at, capacity - at, "in %s%s", operation_text, program);
    else
        snprintf(text + at, capacity - at, "between calls; last: %s%s", operation_text, program);
}
