/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking on while ranks talk: whoever counts or traces hangs a watch into the context, and whoever moves something
 * tells it. Without one (NULL) that costs a comparison.
 */
#ifndef DT_COMM_WATCH_H
#define DT_COMM_WATCH_H

#include "base/ctx.h"
#include "dtensor/comm.h"

#include <time.h>

/* What this rank took part in and finished. */
typedef struct dt__moved {
    int64_t counts[DT_N_COLLECTIVES]; /* what it counts as */
    int64_t bytes;                    /* that this rank received; of a program's own collective, of its result */
    const void *from, *to;            /* specs of a redistribution; NULL: a program's own collective */
    int planner;                      /* of a redistribution */
    double begin_us, end_us;          /* of the monotonic clock */
} dt__moved;

typedef struct dt__watch {
    void (*moved)(dt_ctx *ctx, const dt__moved *what);
    const char *doing; /* the outermost call that is running, NULL: none that has a name */
} dt__watch;

static inline double dt__now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Names the call that begins, unless one is running; the result is given to dt__done at its end. */
static inline const char *dt__doing(dt_ctx *ctx, const char *name) {
    const char *before = ctx->watch ? ctx->watch->doing : NULL;
    if (ctx->watch && !before)
        ctx->watch->doing = name;
    return before;
}
static inline void dt__done(dt_ctx *ctx, const char *before) {
    if (ctx->watch)
        ctx->watch->doing = before;
}

#endif
