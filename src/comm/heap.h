/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator of a rank's heap: one address range, reserved once, whose pages are allocated when they are
 * touched. Small blocks come from size classes, large ones from a list of free extents, in which neighbors are merged.
 * A block's size is stored in the line before it. The range never shrinks. Free extents keep their pages, so that a
 * loop reuses those of its last iteration. Pages are returned to the system when they have not been used for some time
 * (DTENSOR_HEAP_IDLE), when memory of the node is short, when another rank of the node lacks memory, or on request.
 */
#ifndef DT_COMM_HEAP_H
#define DT_COMM_HEAP_H

#include "base/ctx.h"
#include "dtensor/comm.h"

#include <stdatomic.h>

enum { DT__N_SIZE_CLASSES = 48 };

struct dt__extent {
    size_t at, bytes;
    bool clean;   /* it has no pages */
    int64_t tick; /* when it was freed, unless it is clean */
};

/* A range that is divided into blocks of one size class. */
struct dt__slab {
    size_t at;
    int class;
    size_t n_free; /* free blocks; valid only while unused slabs are searched */
};

/* Observes every block, for a program that is estimated. */
typedef struct dt__heap_watch {
    /* A block was allocated and counted; the number that it returns is handed to the other functions. */
    int32_t (*allocated)(struct dt__heap_watch *self, size_t bytes, dt_memory_kind kind, bool is_peak);
    void (*set_kind)(struct dt__heap_watch *self, int32_t block, dt_memory_kind kind);
    /* A block is about to be freed. */
    void (*freeing)(struct dt__heap_watch *self, int32_t block);
} dt__heap_watch;

typedef struct dt__heap {
    dt_ctx *ctx;
    unsigned char *base;
    size_t bytes; /* of the range */
    size_t top;   /* nothing above it was ever used */
    bool shared;  /* the range is shared memory */
    void *free_small[DT__N_SIZE_CLASSES];
    struct dt__extent *free_large; /* by address; neighbors that are clean, or of one tick, are merged */
    size_t n_free, free_capacity;
    size_t n_large; /* live large blocks */
    struct dt__slab *slabs;
    size_t n_slabs, slab_capacity;
    size_t idle_bytes;         /* of free extents that have pages */
    int64_t idle_ns;           /* after which unused pages are returned; negative: never */
    int64_t tick;              /* the time, in quarters of idle_ns */
    size_t fresh_bytes;        /* that got pages since the memory of the node was checked */
    size_t (*available)(void); /* memory of the node; or NULL */
    _Atomic uint32_t *n_short; /* counts how often a rank of the node lacked memory; or NULL: there are no others */
    uint32_t n_answered;       /* those that this heap has answered */
    dt_heap_statistics stats;
    struct dt__heap
        *counted_in;       /* the heap whose statistics count its blocks: itself, unless it is idle (estimate.h) */
    dt__heap_watch *watch; /* NULL: none */
} dt__heap;

void dt__heap_open(dt__heap *heap, dt_ctx *ctx, void *base, size_t bytes, bool shared);
/* Drops every block. Pages stay until the range is unmapped: peers may still be reading them. */
void dt__heap_close(dt__heap *heap);
/* NULL without an error recorded when the heap is full. */
void *dt__heap_alloc(dt__heap *heap, size_t bytes, dt_memory_kind kind);
/* Changes what a live block is for; does nothing for other memory. */
void dt__heap_set_kind(dt__heap *heap, void *memory, dt_memory_kind kind);
/* Marks a newly allocated block as the memory of a tensor; and whether memory is such a block. */
void dt__heap_set_tensor(void *memory);
bool dt__heap_is_tensor(const dt__heap *heap, void *memory);
/* The number that the watch has for a block. */
int32_t dt__heap_block_number(const void *memory);
/* false if memory is not a live block. */
bool dt__heap_free(dt__heap *heap, void *memory);
/* Returns pages that were not used for long, or all idle ones if another rank lacks memory; for ranks that wait. */
void dt__heap_tend(dt__heap *heap);
/* Returns all idle pages to the system; the number of bytes. */
size_t dt__heap_trim(dt__heap *heap);

static inline bool dt__heap_holds(const dt__heap *heap, const void *memory, size_t bytes) {
    size_t at = (size_t)((uintptr_t)memory - (uintptr_t)heap->base);
    return at < heap->bytes && bytes <= heap->bytes - at;
}

/* The size of each of n heaps that share this memory of a node, if address space suffices. */
size_t dt__heap_share(size_t memory, int64_t n_ranks);

#endif
