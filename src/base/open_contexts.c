/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of open contexts. At the end of the process, errors that were neither cleared nor reported are printed:
 * without dt_close, a program that failed would end with exit code 0 and no text. In a forked child every context of
 * the parent gets an error of state: the calls that it refuses cannot disturb the parent or its peers, and no call has
 * to check which process it runs in. A lock protects the list, because each thread may have a context.
 */
#include "base/open_contexts.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static dt_ctx *first;
static uint64_t n_added;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

/* The memory of the context is a copy, so this changes nothing in the parent. Other threads do not exist here, and may
 * have held any lock: nothing is allocated or formatted. */
static void disown(dt_ctx *ctx) {
    static const char text[] =
        "the context was made by the process that forked this one, and only that one may use it; "
        "a forked process calls dt_init before it makes contexts of its own";
    if (ctx->on_fork)
        ctx->on_fork(ctx);
    ctx->on_local_error = NULL;
    ctx->on_error = NULL;
    ctx->hand_over = NULL;
    ctx->is_foreign = true;
    ctx->is_reported = false;
    ctx->status = DT_ERR_STATE;
    memcpy(ctx->text, text, sizeof text);
}

static void disown_all(void) {
    for (dt_ctx *ctx = first; ctx; ctx = ctx->next_open)
        disown(ctx);
    first = NULL;
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void) { (void)pthread_atfork(before_fork, after_fork, disown_all); }

void dt__open_contexts_add(dt_ctx *ctx) {
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    ctx->number = ++n_added;
    ctx->next_open = first;
    first = ctx;
    pthread_mutex_unlock(&lock);
}

void dt__open_contexts_remove(dt_ctx *ctx) {
    pthread_mutex_lock(&lock);
    for (dt_ctx **link = &first; *link; link = &(*link)->next_open)
        if (*link == ctx) {
            *link = ctx->next_open;
            break;
        }
    pthread_mutex_unlock(&lock);
}

uint64_t dt_ctx_number(const dt_ctx *ctx) { return ctx ? ctx->number : 0; }

bool dt_ctx_is_open(uint64_t number) {
    pthread_mutex_lock(&lock);
    const dt_ctx *ctx = first;
    while (ctx && ctx->number != number)
        ctx = ctx->next_open;
    pthread_mutex_unlock(&lock);
    return ctx != NULL;
}

/* A thread that was interrupted by the end of the process may hold the lock. */
__attribute__((destructor)) static void report_unread_errors(void) {
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    for (dt_ctx *ctx = first; ctx; ctx = ctx->next_open)
        dt__report_unread(ctx);
    pthread_mutex_unlock(&lock);
}
