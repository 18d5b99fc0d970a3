/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread pool that runs one job at a time. A run is open while it has pieces left. Workers enter an open run, take
 * pieces until none remains, and leave. One word holds both the open flag and the number of workers inside, so that the
 * caller, which closes the run when no pieces are left, waits only for workers that have entered; a worker that wakes
 * up late finds the run closed and sleeps again. A worker that wakes between two runs enters the second, whose fields
 * were all written before it was opened.
 */
#include "kernels/kernels.h"

#include "base/ctx.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 2000 }; /* a few microseconds, while other threads finish the last pieces */

static const uint32_t OPEN = 1u << 31; /* the other bits of `inside` count */

struct dt__pool {
    dt_ctx *ctx;
    int n_threads, n_workers; /* n_workers: started so far */
    bool started, idle;
    _Atomic bool stops;
    _Atomic uint32_t n_wakes; /* futex: counts the times that workers were woken */
    _Atomic uint32_t inside;  /* futex: the caller sleeps on it */
    _Atomic int64_t next;
    int64_t n_pieces;
    dt__pool_fn *fn;
    void *arg;
    pthread_t workers[]; /* n_threads - 1 */
};

static void sleep_on(_Atomic uint32_t *word, uint32_t expected) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0); }

static void relax(void) {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

static size_t pool_bytes(int n_threads) { return sizeof(dt__pool) + (size_t)(n_threads - 1) * sizeof(pthread_t); }

dt__pool *dt__pool_new(dt_ctx *ctx, int n_threads) {
    n_threads = n_threads < 1 ? 1 : n_threads;
    dt__pool *pool = dt__alloc_zeroed(ctx, pool_bytes(n_threads));
    if (!pool)
        return NULL;
    pool->ctx = ctx;
    pool->n_threads = n_threads;
    return pool;
}

int dt__pool_threads(const dt__pool *pool) { return pool ? pool->n_threads : 1; }

static void take_pieces(dt__pool *pool) {
    int64_t piece;
    while ((piece = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed)) < pool->n_pieces)
        pool->fn(pool->arg, piece);
}

static bool enter(dt__pool *pool) {
    uint32_t inside = atomic_load(&pool->inside);
    while (inside & OPEN)
        if (atomic_compare_exchange_weak(&pool->inside, &inside, inside + 1))
            return true;
    return false;
}

static void *run_worker(void *arg) {
    dt__pool *pool = arg;
    for (;;) {
        uint32_t n_wakes = atomic_load(&pool->n_wakes);
        if (atomic_load(&pool->stops))
            return NULL;
        if (!enter(pool)) {
            sleep_on(&pool->n_wakes, n_wakes);
            continue;
        }
        take_pieces(pool);
        if (atomic_fetch_sub(&pool->inside, 1) == 1) /* closed, and this was the last */
            wake_all(&pool->inside);
        if (atomic_load(&pool->n_wakes) == n_wakes)
            sleep_on(&pool->n_wakes, n_wakes);
    }
}

/* With all signals blocked: they are for the program's own threads. */
static void start_workers(dt__pool *pool) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->n_workers < pool->n_threads - 1 &&
           pthread_create(&pool->workers[pool->n_workers], NULL, run_worker, pool) == 0)
        pool->n_workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->started = true;
}

static void wake_workers(dt__pool *pool) {
    atomic_fetch_add(&pool->n_wakes, 1);
    wake_all(&pool->n_wakes);
}

static void wait_until_empty(dt__pool *pool) {
    uint32_t inside;
    for (int spins = 0; (inside = atomic_load(&pool->inside)) != 0; spins++)
        if (spins < SPINS)
            relax();
        else
            sleep_on(&pool->inside, inside);
}

void dt__pool_set_idle(dt__pool *pool, bool idle) { pool->idle = idle; }

void dt__pool_run(dt__pool *pool, int64_t n_pieces, dt__pool_fn *fn, void *arg) {
    if (pool && pool->idle)
        return;
    if (!pool || pool->n_threads == 1 || n_pieces <= 1) {
        for (int64_t piece = 0; piece < n_pieces; piece++)
            fn(arg, piece);
        return;
    }
    if (!pool->started)
        start_workers(pool);
    pool->n_pieces = n_pieces;
    pool->fn = fn;
    pool->arg = arg;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->inside, OPEN);
    wake_workers(pool);
    take_pieces(pool);
    atomic_fetch_and(&pool->inside, ~OPEN);
    wait_until_empty(pool);
}

void dt__pool_free(dt__pool *pool) {
    if (!pool)
        return;
    atomic_store(&pool->stops, true);
    wake_workers(pool);
    for (int i = 0; i < pool->n_workers; i++)
        pthread_join(pool->workers[i], NULL);
    dt__free(pool->ctx, pool, pool_bytes(pool->n_threads));
}
