/* SPDX-License-Identifier: Apache-2.0
 *
 * Where an object that a program holds by pointer was made and freed. A freed object is kept for a while, without what
 * it owned, so that the next use of its pointer is an error that names both lines instead of a read of another object.
 * Each module has a queue of its freed objects and takes memory from the oldest end, once the queue holds the number
 * that its context keeps. Under the address sanitizer the rest of a freed object is poisoned.
 */
#ifndef DT_BASE_LIFETIME_H
#define DT_BASE_LIFETIME_H

#include "base/ctx.h"
#include "base/poison.h"

#include <stddef.h>

enum { DT__FREED_KEPT = 4096 }; /* per kind and context, unless DTENSOR_KEEP_FREED is 1 */

typedef enum dt__kind {
    DT__KIND_TENSOR,
    DT__KIND_LAYOUT,
    DT__KIND_MESH,
    DT__KIND_SPEC,
    DT__KIND_GROUP,
    DT__KIND_GENERATOR,
    DT__KIND_WORK,
    DT__KIND_TRANSFER,
    DT__KIND_OPTIMIZER,
    DT__KIND_PARAMS,
    DT__KIND_REST,
    DT__KIND_SCHEDULE,
    DT__KIND_BATCHES,
} dt__kind;

/* The first member of the object; the second is its context, which stays readable as well. */
typedef struct dt__lifetime {
    const char *made_file; /* NULL: unknown; a literal of the program */
    int made_line, freed_line;
    const char *freed_file;
    const char *freed_by;       /* name of the public call that freed it, or ""; NULL: it is alive */
    struct dt__lifetime *newer; /* the object that was freed next */
} dt__lifetime;

/* Freed objects of one size, oldest first. */
typedef struct dt__freed_queue {
    dt__lifetime *oldest, *newest;
    int64_t n;
} dt__freed_queue;

/* The object, or NULL after an agreed error if it was freed; NULL for NULL. Public functions begin with it, after they
 * entered the call. The second form names the argument, counted from 1. */
#define DT__LIVE(kind, object) DT__LIVE_ARGUMENT(kind, object, 0)
#define DT__LIVE_ARGUMENT(kind, object, argument)                                                                    \
    (dt__is_freed((const dt__lifetime *)(object)) ? (dt__fail_freed(kind, object, argument, __func__), NULL)         \
                                                  : (object))
static inline bool dt__is_freed(const dt__lifetime *life) { return __builtin_expect(life && life->freed_by, 0); }
/* Records the error; function: "dt_" and the name of the call, if none is in progress. */
void dt__fail_freed(dt__kind kind, const void *object, int argument, const char *function);

/* Starts the lifetime of an object, with the site of the call in progress. */
static inline void dt__life_begin(dt__lifetime *life, const dt_ctx *ctx) {
    const dt_site *site = ctx->call.depth ? ctx->call.site : NULL;
    life->made_file = site ? site->file : NULL;
    life->made_line = site ? site->line : 0;
    life->freed_by = NULL; /* the rest is for freed ones */
}

/* Ends it, in the call in progress: the object goes to the newest end of the queue. A call that is too quick to be
 * entered passes its name and site, which are used if no call is in progress. */
#define DT__LIFE_END(queue, object)                                                                                  \
    do {                                                                                                             \
        _Static_assert(offsetof(__typeof__(*(object)), life) == 0, "the lifetime comes first");                      \
        _Static_assert(offsetof(__typeof__(*(object)), ctx) == sizeof(dt__lifetime), "then the context");            \
        dt__life_end(queue, &(object)->life, (object)->ctx, sizeof *(object), "", NULL);                             \
    } while (0)
static inline void dt__life_end(dt__freed_queue *queue, dt__lifetime *life, const dt_ctx *ctx, size_t bytes,
                                const char *name, const dt_site *site) {
    const size_t readable = sizeof *life + sizeof ctx;
    if (ctx->call.depth) {
        name = ctx->call.name ? ctx->call.name : name;
        site = ctx->call.site;
    }
    life->freed_by = name;
    life->freed_file = site ? site->file : NULL;
    life->freed_line = site ? site->line : 0;
    life->newer = NULL;
    if (queue->newest)
        queue->newest->newer = life;
    else
        queue->oldest = life;
    queue->newest = life;
    queue->n++;
    DT__POISON((char *)life + readable, bytes - readable);
}

/* Takes the oldest object from the queue if it holds more than the context keeps; otherwise NULL. */
static inline void *dt__freed_pop(dt__freed_queue *queue, const dt_ctx *ctx, size_t bytes) {
    dt__lifetime *oldest = queue->oldest;
    if (queue->n <= ctx->freed_kept)
        return NULL;
    queue->oldest = oldest->newer;
    if (--queue->n == 0)
        queue->newest = NULL;
    DT__UNPOISON(oldest, bytes);
    return oldest;
}

/* For objects that dt__alloc allocated one by one: frees the oldest, if it is not kept; and frees all. */
void dt__freed_trim(dt__freed_queue *queue, dt_ctx *ctx, size_t bytes);
void dt__freed_free(dt__freed_queue *queue, dt_ctx *ctx, size_t bytes);

#endif
