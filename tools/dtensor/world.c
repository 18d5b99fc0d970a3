/* SPDX-License-Identifier: Apache-2.0
 *
 * A world of threads. One thread launches the ranks and waits for them; the ranks wait for work, which is numbered.
 */
#include "world.h"

#include "comm/launch.h"

#include <pthread.h>
#include <stdlib.h>

struct world {
    int64_t n_ranks;
    pthread_t launcher;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t number;  /* of the work that is to be done; 0: none yet */
    int64_t n_ready; /* ranks that are through with it */
    bool ends, failed;
    dt_rank_fn *fn;
    void *arg;
};

static int be_rank(dt_ctx *ctx, void *arg) {
    world *self = arg;
    int64_t done = 0;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        self->n_ready++;
        pthread_cond_broadcast(&self->changed);
        while (self->number == done && !self->ends)
            pthread_cond_wait(&self->changed, &self->lock);
        if (self->ends)
            break;
        done = self->number;
        pthread_mutex_unlock(&self->lock);
        (void)self->fn(ctx, self->arg);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return 0;
}

static void *launch(void *arg) {
    world *self = arg;
    bool ran = dt__run_threads(self->n_ranks, NULL, be_rank, self, NULL);
    pthread_mutex_lock(&self->lock);
    self->failed = !ran || !self->ends;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* The lock is held. */
static void wait_for_ranks(world *self) {
    while (self->n_ready < self->n_ranks && !self->failed)
        pthread_cond_wait(&self->changed, &self->lock);
}

world *world_open(int64_t n_ranks) {
    world *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->n_ranks = n_ranks;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    if (pthread_create(&self->launcher, NULL, launch, self)) {
        free(self);
        return NULL;
    }
    pthread_mutex_lock(&self->lock);
    wait_for_ranks(self);
    bool failed = self->failed;
    pthread_mutex_unlock(&self->lock);
    if (failed) {
        world_close(self);
        return NULL;
    }
    return self;
}

int64_t world_size(const world *self) { return self->n_ranks; }

void world_run(world *self, dt_rank_fn *fn, void *arg) {
    pthread_mutex_lock(&self->lock);
    self->fn = fn;
    self->arg = arg;
    self->n_ready = 0;
    self->number++;
    pthread_cond_broadcast(&self->changed);
    wait_for_ranks(self);
    pthread_mutex_unlock(&self->lock);
}

void world_close(world *self) {
    if (!self)
        return;
    pthread_mutex_lock(&self->lock);
    self->ends = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->launcher, NULL);
    pthread_mutex_destroy(&self->lock);
    pthread_cond_destroy(&self->changed);
    free(self);
}
