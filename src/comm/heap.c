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
#include <sys/resource.h>
#include <time.h>

enum {
    LINE = 64,
    PAGE = 4096,
    START =
        PAGE - LINE, /* of the first extent: its head is the last line of a page, so that its block starts a page */
    MAX_SMALL = 32 * 1024,
    SLAB_BYTES = 256 * 1024,    /* what a size class allocates from the extents at a time */
    MIN_RELEASED = 16 * PAGE,   /* of an extent */
    IDLE_TICKS = 4,             /* how long an extent keeps its pages */
    CHECKED_BYTES = 64 << 20,   /* new pages after which the memory of the node is checked */
    RESERVED_BYTES = 256 << 20, /* memory is short when less is available */
};
#define IDLE_NS INT64_C(60000000000) /* until DTENSOR_HEAP_IDLE is read */
#define LIVE    UINT64_C(0x6c69766530303031)
#define FREED   UINT64_C(0x6672656564303031)

/* The line before a block. */
struct head {
    uint64_t state;
    size_t requested;  /* bytes */
    size_t bytes;      /* of head and block together */
    struct head *next; /* of the free blocks of its class */
    dt_memory_kind kind;
    bool is_tensor; /* of a tensor: only its last handle frees it */
    int32_t number; /* of the watch */
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
    *heap = (dt__heap){.ctx = ctx,
                       .base = base,
                       .bytes = bytes,
                       .top = START,
                       .shared = shared,
                       .idle_ns = IDLE_NS,
                       .counted_in = heap};
}

/* Returns the whole pages of a range; the end of its last page is the head of the next block. */
static void release_pages(dt__heap *heap, size_t at, size_t bytes) {
    madvise(heap->base + at + LINE, bytes - PAGE, heap->shared ? MADV_REMOVE : MADV_DONTNEED);
}

void dt__heap_close(dt__heap *heap) {
    if (heap->base)
        DT__UNPOISON(heap->base, heap->top);
    dt__free(heap->ctx, heap->free_large, heap->free_capacity * sizeof *heap->free_large);
    dt__free(heap->ctx, heap->slabs, heap->slab_capacity * sizeof *heap->slabs);
    *heap = (dt__heap){0};
}

static void remove_extent(dt__heap *heap, size_t i) {
    heap->n_free--;
    memmove(&heap->free_large[i], &heap->free_large[i + 1], (heap->n_free - i) * sizeof *heap->free_large);
}

/* Free extents that follow each other without a gap: from begin to end - 1 in the list. */
struct run {
    size_t begin, end, bytes;
};

static struct run run_at(const dt__heap *heap, size_t begin) {
    const struct dt__extent *list = heap->free_large;
    struct run run = {begin, begin + 1, list[begin].bytes};
    while (run.end < heap->n_free && list[run.end].at == list[begin].at + run.bytes)
        run.bytes += list[run.end++].bytes;
    return run;
}

/* The bytes without pages of a range from extent i on; the range may end above the top. */
static size_t fresh_bytes(const dt__heap *heap, const struct run *run, size_t i, size_t bytes) {
    size_t fresh = 0;
    for (; i < run->end && bytes > 0; i++) {
        size_t part = heap->free_large[i].bytes < bytes ? heap->free_large[i].bytes : bytes;
        fresh += heap->free_large[i].clean ? part : 0;
        bytes -= part;
    }
    return fresh + bytes;
}

/* The extent of a run at which a block of bytes starts and needs the fewest new pages; before `end`, it fits. */
static size_t best_start(const dt__heap *heap, const struct run *run, size_t end, size_t bytes) {
    size_t best = run->begin, least = SIZE_MAX;
    for (size_t i = run->begin; i < run->end && end - heap->free_large[i].at >= bytes; i++) {
        size_t fresh = fresh_bytes(heap, run, i, bytes);
        if (fresh < least) {
            least = fresh;
            best = i;
        }
    }
    return best;
}

/* The smallest run that is large enough; else the last one, if the unused range above the top follows it. */
static bool find_run(const dt__heap *heap, size_t bytes, struct run *out, size_t *end) {
    struct run run = {0, 0, 0};
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < heap->n_free; i = run.end) {
        run = run_at(heap, i);
        if (run.bytes >= bytes && run.bytes < least) {
            least = run.bytes;
            *out = run;
        }
    }
    if (least < SIZE_MAX) {
        *end = heap->free_large[out->begin].at + out->bytes;
        return true;
    }
    *out = run;
    *end = heap->bytes;
    return run.bytes > 0 && heap->free_large[run.begin].at + run.bytes == heap->top &&
           heap->bytes - heap->free_large[run.begin].at >= bytes;
}

static void raise_top(dt__heap *heap, size_t top) {
    heap->top = top;
    heap->stats.held_bytes = top - START;
}

/* Removes a range that starts with extent i from the list. */
static void take_extents(dt__heap *heap, size_t i, size_t bytes) {
    struct dt__extent *list = heap->free_large;
    size_t n = i, at = list[i].at, end = at + bytes;
    for (; n < heap->n_free && list[n].at < end; n++) {
        size_t part = list[n].at + list[n].bytes <= end ? list[n].bytes : end - list[n].at;
        heap->idle_bytes -= list[n].clean ? 0 : part;
        list[n].at += part;
        list[n].bytes -= part;
        if (list[n].bytes)
            break;
    }
    heap->n_free -= n - i;
    memmove(&list[i], &list[n], (heap->n_free - i) * sizeof *list);
    if (end > heap->top)
        raise_top(heap, end);
}

/* Takes a range of free extents, or unused range above the top. */
static bool take_range(dt__heap *heap, size_t bytes, size_t *at) {
    struct run run;
    size_t end;
    if (find_run(heap, bytes, &run, &end)) {
        size_t i = best_start(heap, &run, end, bytes);
        *at = heap->free_large[i].at;
        heap->fresh_bytes += fresh_bytes(heap, &run, i, bytes);
        take_extents(heap, i, bytes);
        return true;
    }
    if (bytes > heap->bytes - heap->top)
        return false;
    *at = heap->top;
    heap->fresh_bytes += bytes;
    raise_top(heap, heap->top + bytes);
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

static bool may_merge(const struct dt__extent *a, const struct dt__extent *b) {
    return a->at + a->bytes == b->at && a->clean == b->clean && (a->clean || a->tick == b->tick);
}

/* Returns the pages of extents that were freed at this tick or before; those that are too small stay as they are. */
static void release_before(dt__heap *heap, int64_t tick) {
    struct dt__extent *list = heap->free_large;
    size_t n = 0;
    for (size_t i = 0; i < heap->n_free; i++) {
        struct dt__extent extent = list[i];
        if (!extent.clean && extent.tick <= tick && extent.bytes >= MIN_RELEASED) {
            release_pages(heap, extent.at, extent.bytes);
            extent.clean = true;
            heap->idle_bytes -= extent.bytes;
        }
        if (n > 0 && may_merge(&list[n - 1], &extent))
            list[n - 1].bytes += extent.bytes;
        else
            list[n++] = extent;
    }
    heap->n_free = n;
}

static int64_t tick_now(const dt__heap *heap) {
    struct timespec now;
    if (heap->idle_ns < 0)
        return 0;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec) / (heap->idle_ns / IDLE_TICKS + 1);
}

void dt__heap_tend(dt__heap *heap) {
    const int64_t tick = tick_now(heap);
    uint32_t n = heap->n_short ? atomic_load_explicit(heap->n_short, memory_order_relaxed) : 0;
    if (n == heap->n_answered && tick == heap->tick)
        return;
    release_before(heap, n != heap->n_answered ? INT64_MAX : tick - IDLE_TICKS - 1);
    heap->n_answered = n;
    heap->tick = tick;
}

/* This rank lacks memory: its peers return idle pages when they use their heaps or wait. */
static void ask_peers(dt__heap *heap) {
    if (heap->n_short)
        heap->n_answered = atomic_fetch_add(heap->n_short, 1) + 1;
}

/* Memory of the node is short if too little is left after new pages are used. */
static void check_node(dt__heap *heap, size_t bytes) {
    if (heap->fresh_bytes < CHECKED_BYTES || !heap->available)
        return;
    heap->fresh_bytes = 0;
    if (heap->available() >= bytes + RESERVED_BYTES)
        return;
    release_before(heap, INT64_MAX);
    ask_peers(heap);
}

static void free_extent(dt__heap *heap, size_t at, size_t bytes) {
    struct dt__extent *list = heap->free_large, new = {.at = at, .bytes = bytes, .tick = heap->tick};
    size_t i = extent_after(heap, at);
    bool merges_before = i > 0 && may_merge(&list[i - 1], &new),
         merges_after = i < heap->n_free && may_merge(&new, &list[i]);
    heap->idle_bytes += bytes;
    if (merges_before) {
        list[i - 1].bytes += bytes + (merges_after ? list[i].bytes : 0);
        if (merges_after)
            remove_extent(heap, i);
    } else if (merges_after) {
        list[i].at = at;
        list[i].bytes += bytes;
    } else {
        memmove(&list[i + 1], &list[i], (heap->n_free - i) * sizeof *list);
        list[i] = new;
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

size_t dt__heap_trim(dt__heap *heap) {
    free_unused_slabs(heap);
    size_t before = heap->idle_bytes;
    release_before(heap, INT64_MAX);
    return before - heap->idle_bytes;
}

static bool alloc_extent(dt__heap *heap, size_t bytes, size_t *at) {
    dt__heap_tend(heap);
    bool taken = take_range(heap, bytes, at);
    if (!taken) {
        free_unused_slabs(heap);
        taken = take_range(heap, bytes, at);
    }
    if (taken)
        check_node(heap, bytes);
    else
        ask_peers(heap);
    return taken;
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
    dt_memory_use *use = &heap->counted_in->stats.by_kind[head->kind];
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
    head->is_tensor = false;
    unsigned char *memory = (unsigned char *)head + LINE;
    DT__UNPOISON(memory, bytes);
    dt_heap_statistics *stats = &heap->counted_in->stats;
    stats->n_live++;
    stats->live_bytes += bytes;
    const bool is_peak = stats->live_bytes > stats->peak_bytes;
    if (is_peak)
        stats->peak_bytes = stats->live_bytes;
    count_kind(heap, head);
    if (__builtin_expect(heap->watch != NULL, 0))
        head->number = heap->watch->allocated(heap->watch, bytes, kind, is_peak);
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
    heap->counted_in->stats.by_kind[head->kind].live_bytes -= head->requested;
    head->kind = kind;
    count_kind(heap, head);
    if (heap->watch)
        heap->watch->set_kind(heap->watch, head->number, kind);
}

void dt__heap_set_tensor(void *memory) {
    ((struct head *)(void *)((unsigned char *)memory - LINE))->is_tensor = true;
}

int32_t dt__heap_block_number(const void *memory) {
    return ((const struct head *)(const void *)((const unsigned char *)memory - LINE))->number;
}

bool dt__heap_is_tensor(const dt__heap *heap, void *memory) {
    const struct head *head = live_head(heap, memory);
    return head && head->is_tensor;
}

bool dt__heap_free(dt__heap *heap, void *memory) {
    struct head *head = live_head(heap, memory);
    if (!head)
        return false;
    head->state = FREED;
    if (__builtin_expect(heap->watch != NULL, 0))
        heap->watch->freeing(heap->watch, head->number);
    dt_heap_statistics *stats = &heap->counted_in->stats;
    stats->n_live--;
    stats->live_bytes -= head->requested;
    stats->by_kind[head->kind].live_bytes -= head->requested;
    DT__POISON(memory, head->bytes - LINE);
    if (head->bytes <= MAX_SMALL) {
        int class = class_of(head->bytes);
        head->next = heap->free_small[class];
        heap->free_small[class] = head;
    } else {
        heap->n_large--;
        dt__heap_tend(heap);
        free_extent(heap, (size_t)((unsigned char *)head - heap->base), head->bytes);
    }
    return true;
}

/* Address space that all heaps together may use: 16 TiB, or half of RLIMIT_AS if that is less. */
static size_t address_space(void) {
    struct rlimit limit;
    size_t limit_bytes = (size_t)1 << 44;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 2 < limit_bytes;
    return limited ? (size_t)limit.rlim_cur / 2 : limit_bytes;
}

enum { MIN_HEAP = 4 << 20 };

size_t dt__heap_share(size_t memory, int64_t n_ranks) {
    size_t share = address_space() / (size_t)n_ranks;
    memory /= (size_t)n_ranks;
    memory = memory > MIN_HEAP ? memory : MIN_HEAP;
    return memory < share ? memory : share;
}
