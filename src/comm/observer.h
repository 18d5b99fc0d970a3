/* SPDX-License-Identifier: Apache-2.0
 *
 * Observing communication: an observer in the context is called for every collective of the program that this rank has
 * finished. Redistributions are reported by their own level (move/move.h). Without an observer (NULL) this costs a
 * comparison.
 */
#ifndef DT_COMM_OBSERVER_H
#define DT_COMM_OBSERVER_H

#include "base/ctx.h"
#include "dtensor/comm.h"

#include <time.h>

/* A collective that this rank took part in and finished. */
typedef struct dt__collective_report {
    dt_collective op;
    int64_t bytes;           /* of this rank's result */
    double begin_us, end_us; /* monotonic clock */
} dt__collective_report;

typedef struct dt__comm_observer {
    void (*collective)(dt_ctx *ctx, const dt__collective_report *report);
    const char *call; /* name of the outermost public call that is running; NULL: none that has a name */
} dt__comm_observer;

static inline double dt__now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Names the call that begins, unless it runs inside another; the result is passed to dt__call_end. */
static inline const char *dt__call_begin(dt_ctx *ctx, const char *name) {
    const char *outer = ctx->observer ? ctx->observer->call : NULL;
    if (ctx->observer && !outer)
        ctx->observer->call = name;
    return outer;
}
static inline void dt__call_end(dt_ctx *ctx, const char *outer) {
    if (ctx->observer)
        ctx->observer->call = outer;
}

#endif
