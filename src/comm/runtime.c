/* SPDX-License-Identifier: Apache-2.0
 *
 * The communication state of a context, for the rest of the library: the transport, kernels, threads, memory
 * of the heap.
 */
#include "base/hot.h"
#include "comm/comm.h"

#include "base/options.h"

#include <inttypes.h>
#include <time.h>

#define MIB (1024.0 * 1024.0)

int64_t dt__now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

const char *dt__transport_name(const dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime ? runtime->transport->name : NULL;
}

bool dt__transport_has_data(const dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime && runtime->transport->has_data;
}

const dt__kernels *dt__rank_kernels(const dt_ctx *ctx) {
    const dt__runtime *runtime = dt__runtime_of(ctx);
    return runtime ? runtime->kernels : dt__kernels_best();
}

bool dt__is_in_heap(const dt_ctx *ctx, const void *memory, size_t bytes) {
    return dt__heap_holds(&dt__runtime_of(ctx)->heap, memory, bytes) || dt__is_idle(ctx, memory);
}

dt__pool *dt__pool_of(dt_ctx *ctx) {
    dt__runtime *runtime = dt__runtime_of(ctx);
    if (!runtime)
        return NULL;
    if (!runtime->threads && (ctx->threads > 1 || ctx->estimate))
        runtime->threads = dt__pool_new(ctx, ctx->threads); /* NULL: one thread */
    return runtime->threads;
}

void dt__heap_set_describe(dt_ctx *ctx, dt__describe_fn *describe) {
    if (dt__runtime_of(ctx))
        dt__runtime_of(ctx)->describe_heap = describe;
}

static void fail_heap_full(dt_ctx *ctx, const dt__runtime *runtime, size_t bytes) {
    const dt__heap *heap = &runtime->heap;
    char contents[1024] = "";
    if (runtime->describe_heap)
        runtime->describe_heap(ctx, contents, sizeof contents);
    dt__fail_local(ctx, DT_ERR_MEMORY,
                   "heap: out of memory: %.1f MiB requested, %.1f of %.1f MiB in use in %" PRId64
                   " blocks%s; DTENSOR_HEAP sets the size of each rank's heap",
                   (double)bytes / MIB, (double)heap->stats.live_bytes / MIB, (double)heap->bytes / MIB,
                   heap->stats.n_live, contents);
}

/* The heap that a block belongs to. */
static inline dt__heap *heap_with(dt__runtime *runtime, const void *memory) {
    return dt__is_idle(runtime->ctx, memory) ? &runtime->ctx->estimate->heap : &runtime->heap;
}

DT__HOT static void *alloc_heap(dt_ctx *ctx, size_t bytes, dt_memory_kind kind, bool is_distributed,
                                const dt_site *site) {
    dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    if (!runtime || ctx->is_foreign) /* in a forked process the heap is still the parent's */
        return NULL;
    dt__heap *heap = &runtime->heap;
    if (__builtin_expect(ctx->estimate != NULL, 0) && (is_distributed || ctx->estimate->n_idle))
        heap = &ctx->estimate->heap;
    void *memory = dt__heap_alloc(heap, bytes, kind);
    if (!memory) { /* every tensor needs memory: only a failure enters the call */
        DT__ENTER(ctx, "heap_alloc", site);
        fail_heap_full(ctx, runtime, bytes);
    }
    return memory;
}

DT__HOT void *dt__alloc_heap(dt_ctx *ctx, size_t bytes, dt_memory_kind kind, bool is_distributed) {
    void *memory = alloc_heap(ctx, bytes, kind, is_distributed, NULL);
    if (memory)
        dt__heap_set_tensor(memory);
    return memory;
}

void *dt_heap_alloc_site(dt_ctx *ctx, size_t bytes, const dt_site *site) {
    return alloc_heap(ctx, bytes, DT_MEMORY_SCRATCH, false, site);
}

void dt__set_memory_kind(dt_ctx *ctx, void *memory, dt_memory_kind kind) {
    if (dt__runtime_of(ctx))
        dt__heap_set_kind(heap_with(dt__runtime_of(ctx), memory), memory, kind);
}

const char *dt_memory_kind_name(dt_memory_kind kind) {
    static const char *const names[] = {
#define NAME(name, word) word,
        DT_MEMORY_KIND_LIST(NAME)
#undef NAME
    };
    return (unsigned)kind < DT_N_MEMORY_KINDS ? names[kind] : "?";
}

DT__HOT void dt__free_heap(dt_ctx *ctx, void *memory) {
    if (memory && !ctx->is_foreign)
        (void)dt__heap_free(heap_with(dt__runtime_of(ctx), memory), memory);
}

dt_status dt_heap_free_site(dt_ctx *ctx, void *memory, const dt_site *site) {
    dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    if (!memory)
        return DT_OK;
    if (ctx && ctx->is_foreign)
        return DT_ERR_STATE;
    dt__heap *heap = runtime ? heap_with(runtime, memory) : NULL;
    bool is_tensor = heap && dt__heap_is_tensor(heap, memory);
    if (heap && !is_tensor && dt__heap_free(heap, memory))
        return DT_OK;
    DT__ENTER(ctx, "heap_free", site);
    if (is_tensor)
        return dt__fail_local(ctx, DT_ERR_VALUE,
                              "expected memory of dt_heap_alloc, got that of a tensor, %p; dt_drop drops a tensor",
                              memory);
    return dt__fail_local(ctx, DT_ERR_VALUE, "expected a live block of this rank's heap, got %p", memory);
}

size_t dt_heap_trim(dt_ctx *ctx) {
    dt__runtime *runtime = ctx && !ctx->is_foreign ? dt__runtime_of(ctx) : NULL;
    return runtime ? dt__heap_trim(&runtime->heap) : 0;
}

void dt_heap_stats_sized(const dt_ctx *ctx, dt_heap_statistics *out, size_t out_size) {
    static const dt_heap_statistics none;
    const dt__runtime *runtime = ctx ? dt__runtime_of(ctx) : NULL;
    dt__fill_sized(runtime ? &runtime->heap.stats : &none, sizeof none, out, out_size);
}
