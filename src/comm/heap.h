/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator of a rank's heap: one address range, reserved once, whose pages are allocated when they are
 * touched. Small blocks come from size classes, large ones from a list of free extents, in which neighbours are
 * merged. A block's size is stored in the line before it. The range never shrinks. Pages of large free extents are
 * returned to the system when more are idle than a limit, which follows the peak of what was live: a training step gets
 * the pages of the step before it. When no extent is large enough, everything that is free is merged before the heap
 * counts as full.
 */
#ifndef DT_COMM_HEAP_H
#define DT_COMM_HEAP_H

#include "base/ctx.h"
#include "dtensor/comm.h"

enum { DT__N_SIZE_CLASSES = 48 };

struct dt__extent {
    size_t at, bytes;
    bool clean; /* its pages have been returned to the system */
};

/* A range that is divided into blocks of one size class. */
struct dt__slab {
    size_t at;
    int class;
    size_t n_free; /* free blocks; valid only while unused slabs are searched */
};

typedef struct dt__heap {
    dt_ctx *ctx;
    unsigned char *base;
    size_t bytes; /* of the range */
    size_t top;   /* nothing above it was ever used */
    bool shared;  /* the range is shared memory */
    void *free_small[DT__N_SIZE_CLASSES];
    struct dt__extent *free_large; /* by address; neighbours are merged */
    size_t n_free, free_capacity;
    size_t n_large; /* live large blocks */
    struct dt__slab *slabs;
    size_t n_slabs, slab_capacity;
    size_t idle_bytes; /* of free extents that still have pages */
    size_t peaks[2];   /* of live bytes: since n_freed was 0, and in the period before */
    int64_t n_freed;   /* large blocks, in this period */
    dt_heap_statistics stats;
} dt__heap;

void dt__heap_open(dt__heap *heap, dt_ctx *ctx, void *base, size_t bytes, bool shared);
/* Drops every block. Pages stay until the range is unmapped: peers may still be reading them. */
void dt__heap_close(dt__heap *heap);
/* NULL without an error recorded when the heap is full. */
void *dt__heap_alloc(dt__heap *heap, size_t bytes, dt_memory_kind kind);
/* What a live block is for from now on; nothing for other memory. */
void dt__heap_set_kind(dt__heap *heap, void *memory, dt_memory_kind kind);
/* false if memory is not a live block. */
bool dt__heap_free(dt__heap *heap, void *memory);

static inline bool dt__heap_holds(const dt__heap *heap, const void *memory, size_t bytes) {
    size_t at = (size_t)((uintptr_t)memory - (uintptr_t)heap->base);
    return at < heap->bytes && bytes <= heap->bytes - at;
}

#endif
