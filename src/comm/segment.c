/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates and joins the shared memory of a launch. A memfd has no name that another process could open; only processes
 * that inherit its descriptor can map it, and the nonce distinguishes a valid environment variable from a stale one.
 */
#include "comm/segment.h"

#include "base/quantity.h"
#include "base/size.h"
#include "comm/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x64746e7372303031)
enum { HUGE = 2 << 20, MIN_HEAP = 4 << 20, MIN_RESERVE = 256 << 20 };

static size_t round_up(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

/* What all heaps of a launch may use together: what is available now, less a reserve for private memory, page tables
 * and other programs. */
static size_t heap_memory(void) {
    size_t memory = dt__available_memory(""), reserve = memory / 8;
    return memory - (reserve > MIN_RESERVE ? reserve : memory / 2 < MIN_RESERVE ? memory / 2 : MIN_RESERVE);
}

/* Address space that all heaps together may use: 16 TiB, or half of RLIMIT_AS if that is less. */
static size_t address_space(void) {
    struct rlimit limit;
    size_t limit_bytes = (size_t)1 << 44;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 2 < limit_bytes;
    return limited ? (size_t)limit.rlim_cur / 2 : limit_bytes;
}

size_t dt__heap_bytes_default(int64_t n_ranks) {
    size_t share = address_space() / (size_t)n_ranks, memory = heap_memory() / (size_t)n_ranks;
    memory = memory > MIN_HEAP ? memory : MIN_HEAP;
    return memory < share ? memory : share;
}

bool dt__heap_bytes_from_environment(size_t *bytes, char *error, size_t error_bytes) {
    const char *text = getenv("DTENSOR_HEAP");
    *bytes = 0;
    if (!text || !*text || dt__size_parse(text, bytes))
        return true;
    snprintf(error, error_bytes, "DTENSOR_HEAP: expected a size such as 512M or 8G, got \"%.64s\"", text);
    return false;
}

static bool plan_sizes(struct dt__segment *plan, int64_t n_ranks, int64_t n_heaps, size_t heap_bytes) {
    size_t blocks, heaps;
    if (n_ranks < 1 || n_ranks > DT__MAX_RANKS || n_heaps < 1 || n_heaps > n_ranks || heap_bytes > SIZE_MAX / 2)
        return false;
    if (!heap_bytes)
        heap_bytes = dt__heap_bytes_default(n_heaps);
    plan->n_ranks = n_ranks;
    plan->n_heaps = n_heaps;
    plan->heap_bytes = round_up(heap_bytes, HUGE);
    blocks = sizeof *plan + (size_t)n_ranks * sizeof(struct dt__rank_block);
    plan->heap_at = round_up(blocks, HUGE);
    if (!dt__mul_size(plan->heap_bytes, (size_t)n_heaps, &heaps) || !dt__add_size(heaps, plan->heap_at, &heaps))
        return false;
    plan->bytes = heaps;
    return heaps <= INT64_MAX;
}

_Static_assert(sizeof(struct dt__rank_block) % 4096 == 0, "blocks are mapped one by one");

static struct dt__segment *map_segment(int fd, size_t bytes, int protection, char *error, size_t error_bytes) {
    void *base = mmap(NULL, bytes, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (base != MAP_FAILED)
        return base;
    snprintf(error, error_bytes, "cannot map %zu bytes of shared memory: %s; DTENSOR_HEAP sets a smaller heap", bytes,
             strerror(errno));
    return NULL;
}

/* Beyond RLIMIT_FSIZE, the system would kill the process instead of returning an error. */
static bool set_size(int fd, size_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
        errno = EFBIG;
        return false;
    }
    return ftruncate(fd, (off_t)bytes) == 0;
}

struct dt__segment *dt__segment_new(int64_t n_ranks, size_t heap_bytes, int *fd, char *error, size_t error_bytes) {
    return dt__segment_new_on_node(n_ranks, NULL, n_ranks, heap_bytes, fd, error, error_bytes);
}

struct dt__segment *dt__segment_new_on_node(int64_t n_ranks, const int64_t *local, int64_t n_local, size_t heap_bytes,
                                            int *fd, char *error, size_t error_bytes) {
    struct dt__segment plan = {.magic = MAGIC, .oom_kills = dt__oom_kills("")};
    struct dt__segment *segment = NULL;
    *fd = -1;
    if (n_ranks < 1 || n_ranks > DT__MAX_RANKS) {
        snprintf(error, error_bytes, "number of ranks: expected 1 to %d, got %" PRId64, DT__MAX_RANKS, n_ranks);
        return NULL;
    }
    if (!plan_sizes(&plan, n_ranks, n_local, heap_bytes)) {
        snprintf(error, error_bytes,
                 "heaps too large: %" PRId64 " ranks with %zu bytes each; set a smaller DTENSOR_HEAP", n_local,
                 heap_bytes);
        return NULL;
    }
    if (getrandom(&plan.nonce, sizeof plan.nonce, 0) != sizeof plan.nonce)
        plan.nonce = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&plan;
    int new_fd = memfd_create("dtensor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (new_fd < 0) {
        snprintf(error, error_bytes, "cannot make shared memory: %s", strerror(errno));
        return NULL;
    }
    if (!set_size(new_fd, plan.bytes) || fcntl(new_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        snprintf(
            error, error_bytes, "cannot size shared memory of %" PRIu64 " bytes: %s%s", plan.bytes, strerror(errno),
            errno == EFBIG ? "; raise the limit of file sizes (ulimit -f) or set a smaller heap (DTENSOR_HEAP)" : "");
        goto close_new_fd;
    }
    segment = map_segment(new_fd, plan.bytes, PROT_READ | PROT_WRITE, error, error_bytes);
    if (!segment)
        goto close_new_fd;
    memcpy(segment, &plan, offsetof(struct dt__segment, n_asleep));
    segment->machine = dt__machine_builtin;
    for (int64_t i = 0; local && i < n_local; i++)
        segment->ranks[local[i]].heap = (uint32_t)i + 1;
    *fd = new_fd;
    return segment;

close_new_fd:
    close(new_fd);
    return NULL;
}

/* The header is read once, before the segment is mapped, and trusted only if it describes exactly this file. */
static bool read_header(const dt__ticket *ticket, struct dt__segment *header) {
    struct dt__segment plan = {0};
    struct stat info;
    size_t head = offsetof(struct dt__segment, n_asleep);
    if (fstat(ticket->fd, &info) || pread(ticket->fd, header, head, 0) != (ssize_t)head)
        return false;
    if (header->magic != MAGIC || header->nonce != ticket->nonce || ticket->rank < 0 ||
        ticket->rank >= header->n_ranks)
        return false;
    return plan_sizes(&plan, header->n_ranks, header->n_heaps, header->heap_bytes) &&
           plan.heap_at == header->heap_at && plan.heap_bytes == header->heap_bytes && plan.bytes == header->bytes &&
           header->bytes == (uint64_t)info.st_size;
}

struct dt__segment *dt__segment_join(const dt__ticket *ticket, char *error, size_t error_bytes) {
    struct dt__segment header;
    if (ticket->base)
        return ticket->base;
    if (!read_header(ticket, &header)) {
        snprintf(
            error, error_bytes,
            "DTENSOR_LAUNCH: descriptor %d is not the shared memory of this launch; start ranks with dtrun, or unset "
            "the variable",
            ticket->fd);
        return NULL;
    }
    struct dt__segment *segment = map_segment(ticket->fd, header.bytes, PROT_READ, error, error_bytes);
    if (!segment)
        return NULL;
    char *own_heap = (char *)segment + dt__segment_heap_at(segment, ticket->rank);
    if (mprotect(segment, header.heap_at, PROT_READ | PROT_WRITE) ||
        mprotect(own_heap, header.heap_bytes, PROT_READ | PROT_WRITE)) {
        snprintf(error, error_bytes, "cannot make this rank's heap of %" PRIu64 " bytes writable: %s",
                 header.heap_bytes, strerror(errno));
        munmap(segment, header.bytes);
        return NULL;
    }
    fcntl(ticket->fd, F_SETFD, FD_CLOEXEC);
    return segment;
}

bool dt__segment_separate(struct dt__segment *segment, const int32_t *node_of, int32_t node) {
    for (int64_t first = 0, last; first < segment->n_ranks; first = last) {
        for (last = first; last < segment->n_ranks && node_of[last] != node;)
            last++;
        if (last > first &&
            mmap(&segment->ranks[first], (size_t)(last - first) * sizeof *segment->ranks, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            return false;
        for (; first < last; first++)
            atomic_store(&segment->ranks[first].state, DT__RANK_READY);
        last += last < segment->n_ranks;
    }
    return true;
}

void dt__segment_set_machine(struct dt__segment *segment, const dt__machine *machine) { segment->machine = *machine; }

void dt__segment_unmap(struct dt__segment *segment) {
    if (segment)
        munmap(segment, segment->bytes);
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

void dt__segment_set_numa_node(struct dt__segment *segment, int64_t rank, int node) {
    atomic_store(&segment->ranks[rank].numa_node, node + 1);
}

void dt__segment_set_ended(struct dt__segment *segment, int64_t rank, int wait_status) {
    dt__segment_remove_temporary(segment, rank);
    atomic_store(&segment->ranks[rank].ended, wait_status + 1);
    dt__segment_notify(segment);
}

void dt__segment_wake(struct dt__segment *segment, int64_t rank) {
    struct dt__rank_block *block = &segment->ranks[rank];
    atomic_fetch_add(&block->wake_count, 1);
    if (atomic_load(&block->asleep))
        syscall(SYS_futex, &block->wake_count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void dt__segment_notify(struct dt__segment *segment) {
    atomic_fetch_add(&segment->n_events, 1);
    for (int64_t rank = 0; rank < segment->n_ranks; rank++)
        dt__segment_wake(segment, rank);
}

bool dt__segment_is_open(const struct dt__segment *segment, int64_t rank) {
    int32_t state = atomic_load(&segment->ranks[rank].state);
    return state != DT__RANK_ABSENT && state != DT__RANK_CLOSED;
}

bool dt__segment_failed_by_peer(const struct dt__segment *segment, int64_t rank) {
    for (int i = 0; i < DT__N_RING; i++) {
        int32_t state = atomic_load(&segment->ranks[rank].ring[i].state);
        if (state == DT_ERR_PEER || state == DT_ERR_GROUP)
            return true;
    }
    return false;
}

void dt__describe_wait_status(int wait_status, char *text, size_t capacity) {
    if (WIFSIGNALED(wait_status)) {
        const char *name = sigabbrev_np(WTERMSIG(wait_status));
        snprintf(text, capacity, "signal %d (SIG%s)", WTERMSIG(wait_status), name ? name : "?");
    } else {
        snprintf(text, capacity, "exit code %d", WEXITSTATUS(wait_status));
    }
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
