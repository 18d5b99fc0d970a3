/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocates and frees blocks of the heap. Block sizes, including the header line, are rounded up to a size class (four
 * per doubling, so at most a quarter is lost) up to 32 KiB, and to whole pages above. A large block starts a page:
 * rows of whole pages are read faster than rows that lie across their borders.
 */
#include "comm/heap.h"

#include "base/poison.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE = 64,
    PAGE = 4096,
    START =
        PAGE - LINE, /* of the first extent: its head is the last line of a page, so that its block starts a page */
    MAX_SMALL = 32 * 1024,
    SLAB_BYTES = 256 * 1024,        /* what a size class allocates from the extents at a time */
    IDLE_LIMIT = 256 * 1024 * 1024, /* free bytes that may keep their pages, whatever the peak */
    PEAK_FREES = 16384              /* after how many frees of large blocks a peak is that of the past */
};
#define LIVE  UINT64_C(0x6c69766530303031)
#define FREED UINT64_C(0x6672656564303031)

/* The line before a block. */
struct head {
    uint64_t state;
    size_t requested;  /* bytes */
    size_t bytes;      /* of head and block together */
    struct head *next; /* of the free blocks of its class */
    dt_memory_kind kind;
};

static int class_of(size_t bytes) {
    size_t lines = (bytes + LINE - 1) / LINE;
    if (lines <= 4)
        return (int)lines - 1;
    int log = 63 - __builtin_clzll(lines - 1);                          /* 2^log < lines <= 2^(log+1) */
    size_t quarter = (size_t)1 << (log - 2);                            /* four classes between the two powers */
    size_t step = (lines - ((size_t)1 << log) + quarter - 1) / quarter; /* 1 to 4 */
    return 4 + (log - 2) * 4 + (int)step - 1;
}

static size_t class_bytes(int class) {
    if (class < 4)
        return (size_t)(class + 1) * LINE;
    int log = (class - 4) / 4 + 2, step = (class - 4) % 4 + 1;
    return (((size_t)1 << log) + (size_t)step * ((size_t)1 << (log - 2))) * LINE;
}

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

void dt__heap_open(dt__heap *heap, dt_ctx *ctx, void *base, size_t bytes, bool shared) {
    *heap = (dt__heap){.ctx = ctx, .base = base, .bytes = bytes, .top = START, .shared = shared};
}

/* Its whole pages: of the last one, the end is the head of the block behind. */
static void release_pages(dt__heap *heap, size_t at, size_t bytes) {
    madvise(heap->base + at + LINE, bytes - PAGE, heap->shared ? MADV_REMOVE : MADV_DONTNEED);
}

void dt__heap_close(dt__heap *heap) {
    DT__UNPOISON(heap->base, heap->top);
    dt__free(heap->ctx, heap->free_large, heap->free_capacity * sizeof *heap->free_large);
    dt__free(heap->ctx, heap->slabs, heap->slab_capacity * sizeof *heap->slabs);
    *heap = (dt__heap){0};
}

static void remove_extent(dt__heap *heap, size_t i) {
    heap->n_free--;
    memmove(&heap->free_large[i], &heap->free_large[i + 1], (heap->n_free - i) * sizeof *heap->free_large);
}

/* Takes the smallest free extent that is large enough, split if it is larger; else unused range above the top. */
static bool split_extent(dt__heap *heap, size_t bytes, size_t *at) {
    size_t best = heap->n_free;
    for (size_t i = 0; i < heap->n_free; i++)
        if (heap->free_large[i].bytes >= bytes &&
            (best == heap->n_free || heap->free_large[i].bytes < heap->free_large[best].bytes))
            best = i;
    if (best < heap->n_free) {
        struct dt__extent *extent = &heap->free_large[best];
        *at = extent->at;
        heap->idle_bytes -= extent->clean ? 0 : bytes;
        extent->at += bytes;
        extent->bytes -= bytes;
        if (!extent->bytes)
            remove_extent(heap, best);
        return true;
    }
    if (bytes > heap->bytes - heap->top)
        return false;
    *at = heap->top;
    heap->top += bytes;
    heap->stats.held_bytes = heap->top - START;
    return true;
}

static size_t extent_after(const dt__heap *heap, size_t at) {
    size_t low = 0, high = heap->n_free;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (heap->free_large[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Reserves capacity for one more extent, so that freeing memory cannot fail. */
static bool reserve_extent(dt__heap *heap) {
    size_t needed = heap->n_free + heap->n_large + heap->n_slabs + 2;
    if (needed <= heap->free_capacity)
        return true;
    size_t capacity = needed * 2;
    struct dt__extent *extents =
        dt__resize(heap->ctx, heap->free_large, heap->free_capacity * sizeof *extents, capacity * sizeof *extents);
    if (!extents)
        return false;
    heap->free_large = extents;
    heap->free_capacity = capacity;
    return true;
}

/* What was live at the last peaks may be idle now: it will be used again. A peak is forgotten after two periods of
 * frees that do not reach it. */
static size_t idle_limit(const dt__heap *heap) {
    size_t peak = heap->peaks[0] > heap->peaks[1] ? heap->peaks[0] : heap->peaks[1], live = heap->stats.live_bytes;
    return peak > live && peak - live > IDLE_LIMIT ? peak - live : IDLE_LIMIT;
}

/* Returns pages of free extents until no more are idle than the limit. */
static void release_idle(dt__heap *heap) {
    const size_t limit = idle_limit(heap);
    for (size_t i = 0; i < heap->n_free && heap->idle_bytes > limit; i++) {
        struct dt__extent *extent = &heap->free_large[i];
        if (extent->clean)
            continue;
        release_pages(heap, extent->at, extent->bytes);
        extent->clean = true;
        heap->idle_bytes -= extent->bytes;
    }
}

static void count_free(dt__heap *heap) {
    if (++heap->n_freed < PEAK_FREES)
        return;
    heap->peaks[1] = heap->peaks[0];
    heap->peaks[0] = heap->stats.live_bytes;
    heap->n_freed = 0;
    release_idle(heap);
}

static void free_extent(dt__heap *heap, size_t at, size_t bytes) {
    bool clean = false;
    if (heap->idle_bytes + bytes > idle_limit(heap) && bytes >= 16 * PAGE) {
        release_pages(heap, at, bytes);
        clean = true;
    } else {
        heap->idle_bytes += bytes;
    }
    size_t i = extent_after(heap, at);
    struct dt__extent *list = heap->free_large;
    bool merges_before = i > 0 && list[i - 1].at + list[i - 1].bytes == at && list[i - 1].clean == clean;
    bool merges_after = i < heap->n_free && at + bytes == list[i].at && list[i].clean == clean;
    if (merges_before) {
        list[i - 1].bytes += bytes + (merges_after ? list[i].bytes : 0);
        if (merges_after)
            remove_extent(heap, i);
    } else if (merges_after) {
        list[i].at = at;
        list[i].bytes += bytes;
    } else {
        memmove(&list[i + 1], &list[i], (heap->n_free - i) * sizeof *list);
        list[i] = (struct dt__extent){at, bytes, clean};
        heap->n_free++;
    }
}

static int by_offset(const void *left, const void *right) {
    const struct dt__slab *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

static int compare_with_slab(const void *place, const void *slab) {
    size_t at = *(const size_t *)place, first = ((const struct dt__slab *)slab)->at;
    return at < first ? -1 : at >= first + SLAB_BYTES;
}

/* The slab of a small block; slabs are sorted. */
static struct dt__slab *slab_of(const dt__heap *heap, const struct head *head) {
    size_t at = (size_t)((const unsigned char *)head - heap->base);
    return bsearch(&at, heap->slabs, heap->n_slabs, sizeof *heap->slabs, compare_with_slab);
}

static bool is_unused(const struct dt__slab *slab) { return slab->n_free == SLAB_BYTES / class_bytes(slab->class); }

static void count_free_blocks(dt__heap *heap) {
    qsort(heap->slabs, heap->n_slabs, sizeof *heap->slabs, by_offset);
    for (size_t i = 0; i < heap->n_slabs; i++)
        heap->slabs[i].n_free = 0;
    for (int class = 0; class < DT__N_SIZE_CLASSES; class ++)
        for (const struct head *head = heap->free_small[class]; head; head = head->next)
            slab_of(heap, head)->n_free++;
}

static void remove_blocks_of_unused_slabs(dt__heap *heap, int class) {
    struct head *kept = NULL, *next;
    for (struct head *head = heap->free_small[class]; head; head = next) {
        next = head->next;
        if (is_unused(slab_of(heap, head)))
            continue;
        head->next = kept;
        kept = head;
    }
    heap->free_small[class] = kept;
}

/* Slabs without a live block become extents again. */
static void free_unused_slabs(dt__heap *heap) {
    size_t n = 0;
    if (heap->n_slabs == 0)
        return;
    count_free_blocks(heap);
    for (int class = 0; class < DT__N_SIZE_CLASSES; class ++)
        remove_blocks_of_unused_slabs(heap, class);
    for (size_t i = 0; i < heap->n_slabs; i++) {
        if (is_unused(&heap->slabs[i])) {
            DT__POISON(heap->base + heap->slabs[i].at, SLAB_BYTES);
            free_extent(heap, heap->slabs[i].at, SLAB_BYTES);
        } else {
            heap->slabs[n++] = heap->slabs[i];
        }
    }
    heap->n_slabs = n;
}

/* Returns all idle pages to the system, so that every free extent merges with its neighbours, and the last one with
 * the range above. */
static void merge_extents(dt__heap *heap) {
    struct dt__extent *list = heap->free_large;
    size_t n = 0;
    for (size_t i = 0; i < heap->n_free; i++) {
        if (!list[i].clean)
            release_pages(heap, list[i].at, list[i].bytes);
        list[i].clean = true;
        if (n > 0 && list[n - 1].at + list[n - 1].bytes == list[i].at)
            list[n - 1].bytes += list[i].bytes;
        else
            list[n++] = list[i];
    }
    if (n > 0 && list[n - 1].at + list[n - 1].bytes == heap->top)
        heap->top = list[--n].at;
    heap->n_free = n;
    heap->idle_bytes = 0;
}

static bool alloc_extent(dt__heap *heap, size_t bytes, size_t *at) {
    if (split_extent(heap, bytes, at))
        return true;
    free_unused_slabs(heap);
    merge_extents(heap);
    return split_extent(heap, bytes, at);
}

static bool reserve_slab(dt__heap *heap) {
    if (heap->n_slabs < heap->slab_capacity)
        return true;
    size_t capacity = heap->slab_capacity * 2 + 16;
    struct dt__slab *slabs =
        dt__resize(heap->ctx, heap->slabs, heap->slab_capacity * sizeof *slabs, capacity * sizeof *slabs);
    if (!slabs)
        return false;
    heap->slabs = slabs;
    heap->slab_capacity = capacity;
    return true;
}

/* Divides a slab into blocks of the class and puts them on its free list. */
static bool refill(dt__heap *heap, int class) {
    size_t at, bytes = class_bytes(class);
    if (!reserve_extent(heap) || !reserve_slab(heap) || !alloc_extent(heap, SLAB_BYTES, &at))
        return false;
    heap->slabs[heap->n_slabs++] = (struct dt__slab){.at = at, .class = class};
    for (size_t end = at + SLAB_BYTES; at + bytes <= end; at += bytes) {
        struct head *head = (struct head *)(void *)(heap->base + at);
        DT__UNPOISON(head, LINE);
        *head = (struct head){.state = FREED, .bytes = bytes, .next = heap->free_small[class]};
        heap->free_small[class] = head;
        DT__POISON((unsigned char *)head + LINE, bytes - LINE);
    }
    return true;
}

static struct head *alloc_small(dt__heap *heap, size_t total) {
    int class = class_of(total);
    if (!heap->free_small[class] && !refill(heap, class))
        return NULL;
    struct head *head = heap->free_small[class];
    heap->free_small[class] = head->next;
    return head;
}

static struct head *alloc_large(dt__heap *heap, size_t total) {
    size_t at;
    if (!reserve_extent(heap) || !alloc_extent(heap, whole_pages(total), &at))
        return NULL;
    struct head *head = (struct head *)(void *)(heap->base + at);
    DT__UNPOISON(head, LINE);
    head->bytes = whole_pages(total);
    heap->n_large++;
    return head;
}

static void count_kind(dt__heap *heap, const struct head *head) {
    dt_memory_use *use = &heap->stats.by_kind[head->kind];
    use->live_bytes += head->requested;
    if (use->live_bytes > use->peak_bytes)
        use->peak_bytes = use->live_bytes;
}

void *dt__heap_alloc(dt__heap *heap, size_t bytes, dt_memory_kind kind) {
    size_t total;
    const dt_allocator *allocator = &heap->ctx->allocator;
    if (!dt__add_size(bytes, LINE, &total) || total > heap->bytes)
        return NULL;
    if (allocator->permit && !allocator->permit(allocator->user, bytes))
        return NULL;
    struct head *head = total <= MAX_SMALL ? alloc_small(heap, total) : alloc_large(heap, total);
    if (!head)
        return NULL;
    head->state = LIVE;
    head->requested = bytes;
    head->kind = kind;
    unsigned char *memory = (unsigned char *)head + LINE;
    DT__UNPOISON(memory, bytes);
    heap->stats.n_live++;
    heap->stats.live_bytes += bytes;
    if (heap->stats.live_bytes > heap->stats.peak_bytes)
        heap->stats.peak_bytes = heap->stats.live_bytes;
    if (heap->stats.live_bytes > heap->peaks[0])
        heap->peaks[0] = heap->stats.live_bytes;
    count_kind(heap, head);
    return memory;
}

/* The head of a live block; NULL for any other memory. */
static struct head *live_head(const dt__heap *heap, void *memory) {
    struct head *head = (struct head *)(void *)((unsigned char *)memory - LINE);
    if (!dt__heap_holds(heap, head, LINE) || (uintptr_t)memory % LINE ||
        (size_t)((unsigned char *)memory - heap->base) > heap->top || head->state != LIVE)
        return NULL;
    return head;
}

void dt__heap_set_kind(dt__heap *heap, void *memory, dt_memory_kind kind) {
    struct head *head = live_head(heap, memory);
    if (!head || head->kind == kind)
        return;
    heap->stats.by_kind[head->kind].live_bytes -= head->requested;
    head->kind = kind;
    count_kind(heap, head);
}

bool dt__heap_free(dt__heap *heap, void *memory) {
    struct head *head = live_head(heap, memory);
    if (!head)
        return false;
    head->state = FREED;
    heap->stats.n_live--;
    heap->stats.live_bytes -= head->requested;
    heap->stats.by_kind[head->kind].live_bytes -= head->requested;
    DT__POISON(memory, head->bytes - LINE);
    if (head->bytes <= MAX_SMALL) {
        int class = class_of(head->bytes);
        head->next = heap->free_small[class];
        heap->free_small[class] = head;
    } else {
        heap->n_large--;
        count_free(heap);
        free_extent(heap, (size_t)((unsigned char *)head - heap->base), head->bytes);
    }
    return true;
}
