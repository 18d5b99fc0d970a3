/* SPDX-License-Identifier: Apache-2.0
 *
 * Follows the blocks of a heap. The largest blocks are looked for only when something is freed after a new peak, so
 * that a program which allocates a thousand tensors in a row searches once. Out of memory, blocks are not followed.
 */
#include "comm/block_watch.h"

#include <string.h>

static int32_t take_number(dt__block_watch *self) {
    if (self->free >= 0) {
        int32_t number = self->free;
        self->free = self->blocks[number].next_free;
        return number;
    }
    if (self->n == self->capacity) {
        int32_t capacity = 2 * self->capacity + 256;
        dt__watched_block *blocks = dt__resize(self->ctx, self->blocks, (size_t)self->capacity * sizeof *blocks,
                                               (size_t)capacity * sizeof *blocks);
        if (!blocks)
            return -1;
        self->blocks = blocks;
        self->capacity = capacity;
    }
    return self->n++;
}

static int32_t on_allocated(dt__heap_watch *watch, size_t bytes, dt_memory_kind kind, bool is_peak) {
    dt__block_watch *self = (dt__block_watch *)watch;
    const dt__public_call *call = &self->ctx->call;
    const dt_site *site = dt__noted_site(self->ctx);
    int32_t number = take_number(self);
    self->at_peak = self->at_peak || is_peak;
    if (number >= 0)
        self->blocks[number] = (dt__watched_block){.bytes = bytes,
                                                   .kind = kind,
                                                   .call = call->depth > 0 ? call->name : NULL,
                                                   .file = site ? site->file : NULL,
                                                   .line = site ? site->line : 0};
    return number;
}

static void on_set_kind(dt__heap_watch *watch, int32_t block, dt_memory_kind kind) {
    if (block >= 0)
        ((dt__block_watch *)watch)->blocks[block].kind = kind;
}

/* Inserts a block into the largest, which are sorted. */
static void insert(dt__block_watch *self, const dt__watched_block *block) {
    int at = self->n_largest;
    while (at > 0 && self->largest[at - 1].bytes < block->bytes)
        at--;
    if (at == DT__N_LARGEST)
        return;
    int n = self->n_largest < DT__N_LARGEST ? self->n_largest++ : DT__N_LARGEST - 1;
    memmove(&self->largest[at + 1], &self->largest[at], (size_t)(n - at) * sizeof *self->largest);
    self->largest[at] = *block;
}

void dt__block_watch_settle(dt__block_watch *self) {
    if (!self->at_peak)
        return;
    self->at_peak = false;
    self->n_largest = 0;
    for (int32_t i = 0; i < self->n; i++)
        if (self->blocks[i].bytes)
            insert(self, &self->blocks[i]);
}

static void on_freeing(dt__heap_watch *watch, int32_t block) {
    dt__block_watch *self = (dt__block_watch *)watch;
    dt__block_watch_settle(self);
    if (block < 0)
        return;
    self->blocks[block] = (dt__watched_block){.next_free = self->free};
    self->free = block;
}

void dt__block_watch_open(dt__block_watch *self, dt_ctx *ctx) {
    *self = (dt__block_watch){.watch = {on_allocated, on_set_kind, on_freeing}, .ctx = ctx, .free = -1};
}

void dt__block_watch_close(dt__block_watch *self) {
    dt__free(self->ctx, self->blocks, (size_t)self->capacity * sizeof *self->blocks);
    self->blocks = NULL;
}
