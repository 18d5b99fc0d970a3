/* SPDX-License-Identifier: Apache-2.0
 *
 * A chain of blocks, each at least twice the one before up to a limit; allocation bumps a cursor in the newest.
 * Memory after the cursor is poisoned, so that the address sanitizer reports a use after a rewind.
 */
#include "base/arena.h"

#include "base/poison.h"
#include "base/size.h"

#include <string.h>

enum { FIRST_BLOCK_BYTES = 1024, MAX_USUAL_BLOCK_BYTES = 256 * 1024, ALIGNMENT = 16 };

struct dt__arena_block {
    struct dt__arena_block *older;
    size_t bytes, used;
    bool is_lent; /* by the caller of dt__arena_on */
    _Alignas(ALIGNMENT) unsigned char memory[];
};
_Static_assert(sizeof(struct dt__arena_block) == DT__ARENA_HEADER, "the header of a block");

dt__arena dt__arena_new(dt_ctx *ctx) { return (dt__arena){.ctx = ctx}; }

dt__arena dt__arena_on(dt_ctx *ctx, void *memory, size_t bytes) {
    struct dt__arena_block *block = memory;
    *block = (struct dt__arena_block){.bytes = bytes - sizeof *block, .is_lent = true};
    DT__POISON(block->memory, block->bytes);
    return (dt__arena){.ctx = ctx, .block = block};
}

static void drop_newest(dt__arena *arena) {
    struct dt__arena_block *block = arena->block;
    arena->block = block->older;
    DT__UNPOISON(block->memory, block->bytes);
    if (!block->is_lent)
        dt__free(arena->ctx, block, sizeof *block + block->bytes);
}

void dt__arena_free(dt__arena *arena) {
    while (arena->block)
        drop_newest(arena);
}

static bool grow(dt__arena *arena, size_t needed) {
    size_t bytes = arena->block ? arena->block->bytes * 2 : FIRST_BLOCK_BYTES;
    if (bytes > MAX_USUAL_BLOCK_BYTES)
        bytes = MAX_USUAL_BLOCK_BYTES;
    if (bytes < needed)
        bytes = needed;
    size_t total;
    struct dt__arena_block *block = NULL;
    if (dt__add_size(bytes, sizeof *block, &total))
        block = dt__alloc(arena->ctx, total);
    if (!block) {
        dt__fail_memory(arena->ctx, bytes, "an arena");
        return false;
    }
    *block = (struct dt__arena_block){.older = arena->block, .bytes = bytes};
    DT__POISON(block->memory, bytes);
    arena->block = block;
    return true;
}

void *dt__arena_alloc(dt__arena *arena, size_t n, size_t item_bytes) {
    size_t bytes;
    if (!dt__mul_size(n, item_bytes, &bytes) || !dt__add_size(bytes, ALIGNMENT - 1, &bytes)) {
        dt__fail_memory(arena->ctx, SIZE_MAX, "an array whose size overflows");
        return NULL;
    }
    bytes &= ~(size_t)(ALIGNMENT - 1);
    if ((!arena->block || arena->block->bytes - arena->block->used < bytes) && !grow(arena, bytes))
        return NULL;
    void *memory = arena->block->memory + arena->block->used;
    arena->block->used += bytes;
    DT__UNPOISON(memory, bytes);
    memset(memory, 0, bytes);
    return memory;
}

void *dt__arena_copy(dt__arena *arena, const void *items, size_t n, size_t item_bytes) {
    void *copy = dt__arena_alloc(arena, n, item_bytes);
    return copy && n ? memcpy(copy, items, n * item_bytes) : copy;
}

char *dt__arena_copy_chars(dt__arena *arena, const char *chars, size_t n) {
    char *copy = dt__arena_alloc(arena, n + 1, 1);
    return copy ? memcpy(copy, chars, n) : NULL;
}

char *dt__arena_copy_text(dt__arena *arena, const char *text) {
    return dt__arena_copy_chars(arena, text, strlen(text));
}

dt__arena_mark dt__arena_begin(const dt__arena *arena) {
    return (dt__arena_mark){arena->block, arena->block ? arena->block->used : 0};
}

void dt__arena_rewind(dt__arena *arena, dt__arena_mark mark) {
    while (arena->block != mark.block)
        drop_newest(arena);
    if (!arena->block)
        return;
    DT__POISON(arena->block->memory + mark.used, arena->block->used - mark.used);
    arena->block->used = mark.used;
}
