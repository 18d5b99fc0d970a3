/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator of a rank's heap: one address range, reserved once, whose pages come when they are touched.
 * Small blocks come from size classes, large ones from a list of free extents that join when neighbours are free. A
 * block's size stands in a line in front of it. The heap never shrinks its range; pages of large free extents go back
 * to the system when more than a share of the heap lies idle. When there is no room, everything that is free is put
 * together again before the heap counts as full.
 */
#ifndef DT_COMM_HEAP_H
#define DT_COMM_HEAP_H

#include "base/ctx.h"
#include "dtensor/comm.h"

enum { DT__N_SIZE_CLASSES = 48 };

struct dt__extent {
    size_t at, bytes;
    bool clean; /* its pages have been given back */
};

/* A range that was cut into blocks of one size class. */
struct dt__slab {
    size_t at;
    int class;
    size_t n_free; /* its blocks that are free; known only while slabs are looked for that nobody uses */
};

typedef struct dt__heap {
    dt_ctx *ctx;
    unsigned char *base;
    size_t bytes; /* of the range */
    size_t top;   /* nothing above it was ever used */
    bool shared;  /* the range is shared memory */
    void *free_small[DT__N_SIZE_CLASSES];
    struct dt__extent *free_large; /* by address; neighbours are joined */
    size_t n_free, room_free;
    size_t n_large; /* live large blocks */
    struct dt__slab *slabs;
    size_t n_slabs, room_slabs;
    size_t idle_bytes; /* of free extents that still have pages */
    dt_heap_statistics stats;
} dt__heap;

void dt__heap_open(dt__heap *heap, dt_ctx *ctx, void *base, size_t bytes, bool shared);
/* Forgets every block. Pages stay until the range is unmapped: peers may still be reading them. */
void dt__heap_close(dt__heap *heap);
/* NULL without an error recorded when there is no room. */
void *dt__heap_take(dt__heap *heap, size_t bytes);
/* false if memory is not a live block. */
bool dt__heap_give(dt__heap *heap, void *memory);

static inline bool dt__heap_holds(const dt__heap *heap, const void *memory, size_t bytes) {
    size_t at = (size_t)((uintptr_t)memory - (uintptr_t)heap->base);
    return at < heap->bytes && bytes <= heap->bytes - at;
}

#endif
