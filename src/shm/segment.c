/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates and joins the shared memory of a launch. A memfd has no name that another process could open; only processes
 * that inherit its descriptor can map it, and the nonce distinguishes a valid environment variable from a stale one.
 */
#include "shm/shm.h"

#include "base/size.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x64746e7372303031)
enum { HUGE = 2 << 20 };

static size_t round_up(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

static bool plan_sizes(struct dt__segment *plan, int64_t n_ranks, int64_t n_heaps, size_t heap_bytes) {
    size_t blocks, heaps;
    if (n_ranks < 1 || n_ranks > DT__MAX_RANKS || n_heaps < 1 || n_heaps > n_ranks || !heap_bytes ||
        heap_bytes > SIZE_MAX / 2)
        return false;
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

/* Beyond RLIMIT_FSIZE, the kernel would kill the process instead of returning an error. */
static bool set_size(int fd, size_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
        errno = EFBIG;
        return false;
    }
    return ftruncate(fd, (off_t)bytes) == 0;
}

struct dt__segment *dt__segment_create(int64_t n_ranks, const int64_t *with_heap, int64_t n_heaps, size_t heap_bytes,
                                       int *fd, char *error, size_t error_bytes) {
    struct dt__segment plan = {.magic = MAGIC};
    struct dt__segment *segment = NULL;
    *fd = -1;
    if (n_ranks < 1 || n_ranks > DT__MAX_RANKS) {
        snprintf(error, error_bytes, "number of ranks: expected 1 to %d, got %" PRId64, DT__MAX_RANKS, n_ranks);
        return NULL;
    }
    if (!plan_sizes(&plan, n_ranks, n_heaps, heap_bytes)) {
        snprintf(error, error_bytes,
                 "heaps too large: %" PRId64 " ranks with %zu bytes each; set a smaller DTENSOR_HEAP", n_heaps,
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
    for (int64_t i = 0; with_heap && i < n_heaps; i++)
        segment->ranks[with_heap[i]].heap = (uint32_t)i + 1;
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

void dt__segment_set_machine(struct dt__segment *segment, const dt__machine *machine) { segment->machine = *machine; }

void dt__segment_unmap(struct dt__segment *segment) {
    if (segment)
        munmap(segment, segment->bytes);
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
