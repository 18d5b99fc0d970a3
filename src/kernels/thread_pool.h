/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread pool that runs one job at a time. It is owned by its creator. Its workers start at the first run that can
 * use them, so that a process that has only created a pool can still fork; between runs they sleep.
 */
#ifndef DT_KERNELS_THREAD_POOL_H
#define DT_KERNELS_THREAD_POOL_H

#include "dtensor/base.h"

typedef struct dt__pool dt__pool;

/* n_threads includes the calling thread, so 1 (or less) means no workers. NULL when out of memory; no error is
 * recorded. If the system starts fewer threads than requested, the pool works with those. */
dt__pool *dt__pool_new(dt_ctx *ctx, int n_threads);
/* NULL is fine. Not during a run. */
void dt__pool_free(dt__pool *pool);

/* At least 1; 1 for NULL. */
int dt__pool_threads(const dt__pool *pool);

typedef void dt__pool_fn(void *arg, int64_t piece);

/* Calls fn(arg, i) for each i from 0 to n_pieces - 1, in any order and on any threads, the calling one included, and
 * returns when all are done. The result of a piece must not depend on the thread or on other pieces. A NULL pool runs
 * them on the calling thread, in order. Not from inside a piece, and from one thread at a time. */
void dt__pool_run(dt__pool *pool, int64_t n_pieces, dt__pool_fn *fn, void *arg);

#endif
