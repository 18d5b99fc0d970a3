/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that share memory: the segment of a launch, and the transport on it. The segment is a memfd without a name that
 * starts with control words, followed by one heap per rank. It is sparse: address space is reserved, pages are
 * allocated when they are touched.
 *
 *     [ header | rank blocks (comm/board.h) | heap of rank 0 | heap of rank 1 | … ]
 *
 * Any rank may count itself among the sleepers, and count events and the times that it lacked memory: all of them are
 * atomics. A rank's heap is mapped read-only by its peers.
 */
#ifndef DT_SHM_SHM_H
#define DT_SHM_SHM_H

#include "comm/comm.h"

extern const dt__transport dt__transport_shm;
/* estimate_transport.c: one rank of a world that shares memory, without the others. */
extern const dt__transport dt__transport_estimate;

/* Thresholds between the ways of moving data. */
enum {
    DT__COPIED_BYTES = 512, /* data up to this size is copied even where peers could read it in place */
    DT__EAGER_BYTES = DT__EXCHANGE_COPIED_BYTES, /* data up to this size is copied, and no rank waits at the end */
    DT__AT_ONCE_BYTES = 4 << 20,        /* up to this size two ranks each reduce the full value of an all_reduce */
    DT__STREAM_ABOVE = 8 << 20,         /* results larger than this bypass the caches */
    DT__STAGING_BYTES = 512 << 10,      /* staging buffer in the heap, for memory outside the heap */
    DT__REDUCE_STAGING_BYTES = 4 << 20, /* staging buffer of an all_reduce: half for values, half for results */
};

struct dt__segment {
    uint64_t magic;
    uint64_t nonce;      /* random; also in the launch's environment variable */
    uint64_t bytes;      /* of the segment */
    uint64_t heap_at;    /* offset of rank 0's heap; multiple of 2 MiB */
    uint64_t heap_bytes; /* of each rank */
    int64_t n_ranks;
    int64_t n_heaps;
    int64_t oom_kills;                                /* of the node, when the launch started */
    DT__ALIGNED(DT__LINES) _Atomic uint32_t n_asleep; /* ranks that sleep or are about to */
    _Atomic uint32_t fenced; /* a rank lacks membarrier: publishing ranks must issue a memory barrier themselves */
    DT__ALIGNED(DT__LINES) _Atomic uint32_t n_events; /* changes of ranks' states; waiting ranks check for failures */
    DT__ALIGNED(DT__LINES) _Atomic uint32_t n_short;  /* how often a rank lacked memory (comm/heap.h) */

    dt__machine machine; /* of all ranks; set before they start, then never changed */

    DT__ALIGNED(4096) struct dt__rank_block ranks[];
};

/* Creates and maps a segment for n ranks; *fd is close-on-exec. with_heap lists the n_heaps ranks that have one; NULL:
 * all. The text of a failure is written to error. Used before a context exists: it allocates no other memory. */
struct dt__segment *dt__segment_create(int64_t n_ranks, const int64_t *with_heap, int64_t n_heaps, size_t heap_bytes,
                                       int *fd, char *error, size_t error_bytes);
/* Maps the segment of a ticket for its rank: control words and own heap writable, the other heaps read-only. */
struct dt__segment *dt__segment_join(const dt__ticket *ticket, char *error, size_t error_bytes);
void dt__segment_unmap(struct dt__segment *segment);
/* The model that all ranks adopt in dt_init, in place of the built-in one. Called before ranks start. */
void dt__segment_set_machine(struct dt__segment *segment, const dt__machine *machine);
/* The offset of a rank's heap, if it has one. */
static inline uint64_t dt__segment_heap_at(const struct dt__segment *segment, int64_t rank) {
    uint32_t heap = segment->ranks[rank].heap;
    return segment->heap_at + (heap ? heap - 1 : (uint64_t)rank) * segment->heap_bytes;
}
/* Counts an event and wakes every rank that sleeps. */
void dt__segment_notify(struct dt__segment *segment);
/* Wakes one rank if it sleeps. */
void dt__segment_wake(struct dt__segment *segment, int64_t rank);

/* The segment of a context on this transport; and keeping it mapped when the context closes, because others may still
 * read from it. */
struct dt__segment *dt__segment_of(const dt__runtime *runtime);
void dt__segment_keep_mapped(const dt__runtime *runtime);

#endif
