/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation of storages and handles. Both come from pools of the context, because each op makes one of each; a handle
 * has capacity for a few dims, or for DT_SPEC_MAX_DIMS. The storage that was freed last is reused first. Handles are
 * reused in the opposite order, oldest first, and only when more are free than the context keeps; the cache lines of
 * the next one are prefetched a call ahead, because they have left the cache.
 */
#include "base/hot.h"
#include "tensor/tensor_state.h"

#include "base/size.h"
#include "comm/comm.h"

#include <stdio.h>
#include <string.h>

enum { PER_BLOCK = 64, N_LARGEST = 3 };
/* A handle of a few dims takes four lines; those of a distributed tensor of up to six dims use the first three. */
enum { FEW_BYTES = 4 * DT__CACHE_LINE, FEW_DIMS = (FEW_BYTES - sizeof(dt_tensor)) / (2 * sizeof(int64_t)) };

/* Objects of one size, taken from blocks that live as long as the context. */
struct dt__pool_block {
    struct dt__pool_block *next;
    size_t bytes;
};

static char *first_object(struct dt__pool_block *block) {
    char *first = (char *)(block + 1);
    return first + -(uintptr_t)first % DT__CACHE_LINE;
}

static bool pool_grow(dt_ctx *ctx, dt__object_pool *pool) {
    size_t bytes = sizeof(struct dt__pool_block) + DT__CACHE_LINE + PER_BLOCK * pool->object_bytes;
    struct dt__pool_block *block = dt__alloc(ctx, bytes);
    if (!block)
        return dt__fail_memory(ctx, bytes, "tensor handles"), false;
    *block = (struct dt__pool_block){pool->blocks, bytes};
    pool->blocks = block;
    char *first = first_object(block);
    for (size_t i = PER_BLOCK; i-- > 0;) { /* so that objects are used in the order of their addresses */
        struct dt__pooled *object = (void *)(first + i * pool->object_bytes);
        *object = (struct dt__pooled){.next = pool->free};
        pool->free = object;
    }
    return true;
}

static inline void *pool_alloc(dt_ctx *ctx, dt__object_pool *pool) {
    if (!pool->free && !pool_grow(ctx, pool))
        return NULL;
    struct dt__pooled *object = pool->free;
    pool->free = object->next;
    return object;
}

static inline void pool_free(dt__object_pool *pool, void *memory) {
    struct dt__pooled *object = memory;
    object->next = pool->free;
    pool->free = object;
}

static void pool_destroy(dt_ctx *ctx, dt__object_pool *pool) {
    while (pool->blocks) {
        struct dt__pool_block *block = pool->blocks;
        pool->blocks = block->next;
        DT__UNPOISON(block, block->bytes);
        dt__free(ctx, block, block->bytes);
    }
}

static size_t round_to_lines(size_t bytes) { return (bytes + DT__CACHE_LINE - 1) / DT__CACHE_LINE * DT__CACHE_LINE; }

void *dt__owned_new(dt_ctx *ctx, size_t bytes, const char *purpose) {
    dt__tensor_state *state = dt__tensor_state_of(ctx);
    if (!state)
        return NULL;
    struct dt__owned *owned = dt__alloc_zeroed(ctx, sizeof *owned + bytes);
    if (!owned)
        return dt__fail_memory(ctx, sizeof *owned + bytes, purpose), NULL;
    owned->bytes = sizeof *owned + bytes;
    owned->next = state->owned;
    if (state->owned)
        state->owned->previous = owned;
    state->owned = owned;
    return owned->memory;
}

void dt__owned_free(dt_ctx *ctx, void *memory) {
    if (!memory)
        return;
    dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    struct dt__owned *owned = (void *)((char *)memory - offsetof(struct dt__owned, memory));
    DT__UNPOISON(owned, owned->bytes);
    if (owned->previous)
        owned->previous->next = owned->next;
    else
        state->owned = owned->next;
    if (owned->next)
        owned->next->previous = owned->previous;
    dt__free(ctx, owned, owned->bytes);
}

_Static_assert(offsetof(dt__storage, n_refs) == offsetof(struct dt__pooled, n_refs), "a free storage has 0");

/* A storage without references is free, or has watchers only and no data. */
static void free_storages(dt__object_pool *pool) {
    for (struct dt__pool_block *block = pool->blocks; block; block = block->next)
        for (size_t i = 0; i < PER_BLOCK; i++) {
            dt__storage *storage = (void *)(first_object(block) + i * pool->object_bytes);
            if (storage->n_refs == 0)
                continue;
            storage->n_refs = 1;
            storage->n_watchers = 0;
            storage->used_copies = NULL; /* which the context owns, as the next */
            storage->writes = NULL;
            dt__storage_release(storage);
        }
}

/* Closing the context frees everything, whatever the reference counts. */
static void free_state(dt_ctx *ctx, void *slot) {
    dt__tensor_state *state = slot;
    dt__heap_set_describe(ctx, NULL);
    free_storages(&state->storage_pool);
    dt__products_free(state->products);
    while (state->owned)
        dt__owned_free(ctx, state->owned->memory);
    dt__free(ctx, state->scopes, state->capacity * sizeof *state->scopes);
    pool_destroy(ctx, &state->storage_pool);
    pool_destroy(ctx, &state->few_pool);
    pool_destroy(ctx, &state->many_pool);
    dt__free(ctx, state, sizeof *state);
}

/* Keeps the largest storages in descending order, each with its handle of the most elements. */
static void rank_by_size(const dt_tensor *list, const dt_tensor *largest[N_LARGEST]) {
    for (; list; list = list->next) {
        const dt_tensor *tensor = list;
        if (!tensor->storage || !tensor->storage->heap)
            continue;
        for (int i = 0; i < N_LARGEST && tensor; i++) {
            if (largest[i] && largest[i]->storage == tensor->storage) {
                if (dt_tensor_local_elements(tensor) > dt_tensor_local_elements(largest[i]))
                    largest[i] = tensor;
                break;
            }
            if (largest[i] && largest[i]->storage->bytes >= tensor->storage->bytes)
                continue;
            const dt_tensor *next = largest[i];
            largest[i] = tensor;
            tensor = next;
        }
    }
}

/* "; largest tensors: f32[8,6] S(0) on mesh(tp=2) (96 bytes), …" */
static void describe_heap(dt_ctx *ctx, char *text, size_t capacity) {
    const dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    const dt_tensor *largest[N_LARGEST] = {NULL};
    char form[256];
    size_t at = 0;
    for (int64_t depth = 0; depth < state->n_scopes; depth++)
        rank_by_size(state->scopes[depth].newest, largest);
    rank_by_size(state->others, largest);
    for (int i = 0; i < N_LARGEST && largest[i] && at < capacity; i++) {
        (void)dt_tensor_text(largest[i], sizeof form, form);
        at += (size_t)snprintf(text + at, capacity - at, "%s%s (%zu bytes)", i ? ", " : "; largest tensors: ", form,
                               largest[i]->storage->bytes);
    }
}

dt__tensor_state *dt__tensor_state_of(dt_ctx *ctx) {
    if (ctx->slots[DT__SLOT_TENSOR].state)
        return ctx->slots[DT__SLOT_TENSOR].state;
    dt__tensor_state *state = dt__alloc_zeroed(ctx, sizeof *state);
    if (!state)
        return dt__fail_memory(ctx, sizeof *state, "the context's tensors"), NULL;
    state->has_data = dt__transport_has_data(ctx);
    state->new_kind = DT_MEMORY_ACTIVATIONS;
    state->kernels = dt__rank_kernels(ctx);
    state->storage_pool.object_bytes = round_to_lines(sizeof(dt__storage));
    state->few_pool.object_bytes = FEW_BYTES;
    state->many_pool.object_bytes = round_to_lines(sizeof(dt_tensor) + sizeof(int64_t[2][DT_SPEC_MAX_DIMS]));
    if (!dt__scopes_open(ctx, state)) {
        dt__free(ctx, state, sizeof *state);
        return NULL;
    }
    ctx->slots[DT__SLOT_TENSOR].state = state;
    ctx->slots[DT__SLOT_TENSOR].free_state = free_state;
    dt__heap_set_describe(ctx, describe_heap);
    return state;
}

bool dt__has_data(const dt_ctx *ctx) {
    const dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    return state && state->has_data;
}

const dt__kernels *dt__kernels_of(const dt_ctx *ctx) {
    const dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    return state->kernels;
}

static void *take_scratch(dt_ctx *ctx, size_t bytes) { return dt__alloc_heap(ctx, bytes, DT_MEMORY_SCRATCH, false); }
static void free_scratch(dt_ctx *ctx, void *memory, size_t bytes) {
    (void)bytes;
    dt__free_heap(ctx, memory);
}

dt__products *dt__products_of(dt_ctx *ctx) {
    static const dt__scratch_source heap = {take_scratch, free_scratch}, process = {dt__alloc, dt__free};
    dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    if (!state->products) {
        state->products = dt__products_new(ctx, state->kernels, dt__pool_of(ctx), state->has_data ? &heap : &process);
        if (!state->products)
            (void)dt__fail_memory(ctx, 0, "matrix products");
    }
    return state->products;
}

static inline dt__storage *new_storage(dt_ctx *ctx, dt__tensor_state *state) {
    dt__storage *storage = pool_alloc(ctx, &state->storage_pool);
    if (storage)
        *storage = (dt__storage){.ctx = ctx, .n_refs = 1};
    return storage;
}

DT__HOT dt__storage *dt__storage_new(dt_ctx *ctx, size_t bytes, bool is_distributed) {
    dt__tensor_state *state = dt__tensor_state_of(ctx);
    dt__storage *storage = state ? new_storage(ctx, state) : NULL;
    if (!storage)
        return NULL;
    storage->bytes = bytes;
    if (bytes == 0 || !state->has_data)
        return storage;
    storage->data = dt__alloc_heap(ctx, bytes, state->new_kind, is_distributed);
    storage->heap = storage->data;
    if (!storage->data) {
        dt__storage_release(storage);
        return NULL;
    }
    return storage;
}

dt_memory_kind dt__set_new_kind(dt_ctx *ctx, dt_memory_kind kind) {
    dt__tensor_state *state = ctx->slots[DT__SLOT_TENSOR].state;
    dt_memory_kind before = state->new_kind;
    state->new_kind = kind;
    return before;
}

void dt__storage_set_kind(const dt__storage *storage, dt_memory_kind kind) {
    if (storage->heap)
        dt__set_memory_kind(storage->ctx, storage->data, kind);
}

dt__storage *dt__storage_adopt(dt_ctx *ctx, void *memory, size_t bytes, dt_free_fn *free_memory, void *user) {
    dt__tensor_state *state = dt__tensor_state_of(ctx);
    dt__storage *storage = state ? new_storage(ctx, state) : NULL;
    if (!storage) {
        if (free_memory)
            free_memory(user, memory);
        return NULL;
    }
    storage->data = memory;
    storage->bytes = bytes;
    storage->free_memory = free_memory;
    storage->user = user;
    return storage;
}

static inline void drop_data(dt__storage *storage) {
    if (storage->heap)
        dt__free_heap(storage->ctx, storage->data);
    else if (storage->free_memory)
        storage->free_memory(storage->user, storage->data);
}

/* Frees a storage that is a copy or has copies. While it has watchers, only its version is read until the last one is
 * released. */
static __attribute__((noinline)) bool is_watched(dt__storage *storage) {
    storage->n_watchers++; /* freeing a copy that watches it does not free it */
    if (storage->used_copies)
        dt__used_copies_free(storage);
    if (storage->origin)
        dt__origin_free(storage);
    if (storage->writes)
        storage->writes->free_writes(storage);
    if (--storage->n_watchers == 0)
        return false;
    drop_data(storage);
    storage->heap = false;
    storage->free_memory = NULL;
    storage->data = NULL;
    return true;
}

DT__HOT void dt__storage_release(dt__storage *storage) {
    if (!storage)
        return;
    if (--storage->n_refs > 0) {
        if (__builtin_expect(storage->writes != NULL, 0) && storage->n_refs == storage->n_saved)
            storage->writes->free_writes(storage); /* no handle is left; the storage is freed with its last record */
        return;
    }
    if (__builtin_expect(storage->origin || storage->n_watchers || storage->used_copies || storage->writes, 0) &&
        is_watched(storage))
        return;
    dt__tensor_state *state = storage->ctx->slots[DT__SLOT_TENSOR].state;
    drop_data(storage);
    pool_free(&state->storage_pool, storage);
}

/* The lines of a handle that making a distributed tensor writes. */
static void prefetch_handle(const void *handle) {
    for (int i = 0; i < 3; i++)
        __builtin_prefetch((const char *)handle + i * DT__CACHE_LINE, 1);
}

DT__HOT dt_tensor *dt__handle_new(dt_ctx *ctx, int n_dims) {
    dt__tensor_state *state = dt__tensor_state_of(ctx);
    if (!state)
        return NULL;
    bool large = n_dims > FEW_DIMS;
    dt__object_pool *pool = large ? &state->many_pool : &state->few_pool;
    dt_tensor *tensor = dt__freed_pop(&pool->freed, ctx, pool->object_bytes);
    if (tensor)
        prefetch_handle(pool->freed.oldest);
    else
        tensor = pool_alloc(ctx, pool);
    if (!tensor)
        return NULL;
    dt__life_begin(&tensor->life, ctx);
    tensor->ctx = ctx;
    tensor->n_refs = 1;
    tensor->spec = NULL;
    tensor->record = NULL;
    tensor->special = 0;
    tensor->use = NULL;
    tensor->large = large;
    dt__scope_enter(state, tensor, state->n_scopes - 1);
    return tensor;
}

/* The last tensor of a spec frees it, and perhaps its mesh: these name the call, too. */
static void free_spec(dt_spec *spec, const char *name, const dt_site *site) {
    DT__ENTER(spec->ctx, name, site);
    spec->n_refs = 1;
    dt_spec_release(spec);
}

DT__HOT void dt__handle_free(dt_tensor *tensor, const char *name, const dt_site *site) {
    dt__tensor_state *state = tensor->ctx->slots[DT__SLOT_TENSOR].state;
    dt__object_pool *pool = tensor->large ? &state->many_pool : &state->few_pool;
    dt__storage_release(tensor->storage);
    dt__record_release(tensor->record);
    if (__builtin_expect(tensor->use != NULL, 0))
        dt_spec_release(tensor->use);
    if (tensor->spec && --tensor->spec->n_refs == 0)
        free_spec(tensor->spec, name, site);
    dt__life_end(&pool->freed, &tensor->life, tensor->ctx, pool->object_bytes, name, site);
}
