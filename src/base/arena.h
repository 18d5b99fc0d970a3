/* SPDX-License-Identifier: Apache-2.0
 *
 * An arena allocates memory that lives until the arena is rewound or freed. Pure functions allocate their results in
 * an arena that the caller passes, so that nested values need not be freed one by one. A mark and a rewind form a
 * scope within an arena.
 */
#ifndef DT_BASE_ARENA_H
#define DT_BASE_ARENA_H

#include "base/ctx.h"

struct dt__arena_block;

typedef struct dt__arena {
    dt_ctx *ctx;                   /* provides the memory hook and records errors */
    struct dt__arena_block *block; /* newest, linked to the older ones */
} dt__arena;

typedef struct dt__arena_mark {
    struct dt__arena_block *block;
    size_t used;
} dt__arena_mark;

/* Allocates nothing yet. */
dt__arena dt__arena_new(dt_ctx *ctx);
/* An arena that uses the caller's memory first: 16-byte aligned, at least DT__ARENA_HEADER bytes, and valid until the
 * arena is freed. */
enum { DT__ARENA_HEADER = 32 };
dt__arena dt__arena_on(dt_ctx *ctx, void *memory, size_t bytes);
void dt__arena_free(dt__arena *arena);

/* Memory for n items of item_bytes, 16-byte aligned and zeroed; NULL, with the error recorded, when out of memory or if
 * the size overflows. n = 0 returns a valid pointer. */
void *dt__arena_alloc(dt__arena *arena, size_t n, size_t item_bytes);
/* Copies n items into the arena; items may be NULL for n = 0. For a text: n characters, or all; a NUL is added. */
void *dt__arena_copy(dt__arena *arena, const void *items, size_t n, size_t item_bytes);
char *dt__arena_copy_chars(dt__arena *arena, const char *chars, size_t n);
char *dt__arena_copy_text(dt__arena *arena, const char *text);

/* Memory allocated after the mark is freed by the rewind. */
dt__arena_mark dt__arena_begin(const dt__arena *arena);
void dt__arena_rewind(dt__arena *arena, dt__arena_mark mark);

#define DT__NEW(arena, type)          ((type *)dt__arena_alloc((arena), 1, sizeof(type)))
#define DT__NEW_ARRAY(arena, type, n) ((type *)dt__arena_alloc((arena), (size_t)(n), sizeof(type)))

#endif
