/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of an estimate, and the variable that describes it.
 */
#include "comm/comm.h"

#include "base/size.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_WORLD = 1 << 24, MIN_IDLE_LOG = 32, MAX_IDLE_LOG = 45 }; /* 4 GiB to 32 TiB of address space */

/* The number after a key; the text continues after it. */
static bool read_number(const char **text, double *out) {
    char *end;
    errno = 0;
    *out = strtod(*text, &end);
    bool ok = end != *text && errno == 0 && (*end == ',' || *end == '\0');
    *text = *end == ',' ? end + 1 : end;
    return ok;
}

static bool take_key(const char **text, const char *key) {
    size_t n = strlen(key);
    if (strncmp(*text, key, n) != 0 || (*text)[n] != '=')
        return false;
    *text += n + 1;
    return true;
}

static bool is_count(double x, double least) { return x >= least && x <= MAX_WORLD && x == (double)(int64_t)x; }

bool dt__estimate_parse(const char *text, dt__estimate_options *out, char *error, size_t error_bytes) {
    const char *at = text;
    bool ok = true;
    *out = (dt__estimate_options){.world = 1, .value = 1};
    while (*at && ok) {
        double number = 0;
        if (take_key(&at, "value")) {
            ok = read_number(&at, &out->value);
            continue;
        }
        int64_t *counts[] = {&out->world, &out->rank, &out->threads, &out->cores};
        static const char *const keys[] = {"world", "rank", "threads", "cores"};
        static const double least[] = {1, 0, 1, 1};
        int i = 0;
        while (i < 4 && !take_key(&at, keys[i]))
            i++;
        ok = i < 4 && read_number(&at, &number) && is_count(number, least[i]);
        if (ok)
            *counts[i] = (int64_t)number;
    }
    ok = ok && out->rank < out->world;
    if (!ok)
        (void)snprintf(
            error, error_bytes,
            "DTENSOR_ESTIMATE: expected a text such as world=8,rank=3,threads=1,cores=8,value=1 with a rank "
            "of the world, got \"%s\"",
            text);
    return ok;
}

/* As much address space as the system gives, because nothing of it is used but a page for each block. */
static void *reserve(size_t *bytes) {
    for (int log = MAX_IDLE_LOG; log >= MIN_IDLE_LOG; log--) {
        *bytes = (size_t)1 << log;
        void *base = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED)
            return base;
    }
    return NULL;
}

dt_status dt__estimate_open(dt__runtime *runtime, const dt__estimate_options *options) {
    dt_ctx *ctx = runtime->ctx;
    dt__estimate *self = dt__alloc_zeroed(ctx, sizeof *self);
    size_t bytes = 0;
    if (!self)
        return dt__fail_memory(ctx, sizeof *self, "an estimate");
    void *base = reserve(&bytes);
    if (!base) {
        dt__free(ctx, self, sizeof *self);
        return dt__fail(ctx, DT_ERR_SYSTEM, "estimate: cannot reserve address space: %s", strerror(errno));
    }
    self->ctx = ctx;
    self->options = *options;
    madvise(base, bytes, MADV_NOHUGEPAGE);
    dt__heap_open(&self->heap, ctx, base, bytes, false);
    self->heap.idle_ns = -1;
    self->heap.counted_in = &runtime->heap;
    self->kernels = *runtime->kernels;
    self->kernels.idle_at = base;
    self->kernels.idle_bytes = bytes;
    runtime->kernels = &self->kernels;
    dt__block_watch_open(&self->blocks, ctx);
    self->heap.watch = runtime->heap.watch = &self->blocks.watch;
    self->labels = dt__map_new(ctx);
    ctx->estimate = self;
    ctx->notes_sites = true;
    return DT_OK;
}

void dt__estimate_close(dt__runtime *runtime) {
    dt_ctx *ctx = runtime->ctx;
    dt__estimate *self = ctx->estimate;
    while (self->notes) {
        dt__estimate_note *note = self->notes;
        self->notes = note->next;
        dt__free(ctx, note, sizeof *note);
    }
    size_t at = 0;
    for (char *label; (label = dt__map_next(&self->labels, &at));)
        dt__free(ctx, label, strlen(label) + 1);
    dt__map_free(&self->labels);
    runtime->heap.watch = NULL;
    dt__block_watch_close(&self->blocks);
    void *base = self->heap.base;
    size_t bytes = self->heap.bytes;
    dt__heap_close(&self->heap);
    munmap(base, bytes);
    ctx->estimate = NULL;
    dt__free(ctx, self, sizeof *self);
}

void dt__idle_begin(dt_ctx *ctx) {
    if (ctx->estimate->n_idle++ == 0)
        dt__pool_set_idle(dt__pool_of(ctx), true);
}

void dt__idle_end(dt_ctx *ctx) {
    if (--ctx->estimate->n_idle == 0)
        dt__pool_set_idle(dt__pool_of(ctx), false);
}

static void add_note(dt_ctx *ctx, dt__estimate_event event, const char *what, const char *file, int line) {
    dt__estimate_note **link = &ctx->estimate->notes;
    for (; *link; link = &(*link)->next)
        if ((*link)->event == event && (*link)->line == line && (*link)->file == file &&
            !strcmp((*link)->what, what)) {
            (*link)->n++;
            return;
        }
    *link = dt__alloc(ctx, sizeof **link);
    if (*link)
        **link = (dt__estimate_note){.event = event, .what = what, .file = file, .line = line, .n = 1};
}

void dt__estimate_notes_add(dt_ctx *ctx, dt__estimate_event event, const char *what) {
    const dt_site *site = dt__noted_site(ctx);
    add_note(ctx, event, what, site ? site->file : NULL, site ? site->line : 0);
}

void dt__estimate_notes_add_read(dt_ctx *ctx, const char *what, const void *block) {
    int32_t number = block ? dt__heap_block_number(block) : -1;
    const dt__watched_block *made = number >= 0 ? &ctx->estimate->blocks.blocks[number] : NULL;
    if (ctx->call.depth == 0 && made)
        add_note(ctx, DT__STAND_IN, what, made->file, made->line);
    else
        dt__estimate_notes_add(ctx, DT__STAND_IN, what);
}

static uint64_t label_key(uint64_t id) { return dt__hash_u64(id, 23); }

const char *dt__estimate_label(const dt_ctx *ctx, uint64_t id) {
    return dt__map_get(&ctx->estimate->labels, label_key(id), NULL, NULL);
}

const char *dt__estimate_set_label(dt_ctx *ctx, uint64_t id, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = dt__alloc(ctx, bytes);
    if (!copy)
        return NULL;
    memcpy(copy, text, bytes);
    if (dt__map_try_add(&ctx->estimate->labels, label_key(id), copy))
        return copy;
    dt__free(ctx, copy, bytes);
    return NULL;
}

void dt__estimate_label_block(const dt_ctx *ctx, const void *memory, const char *label) {
    int32_t number = dt__heap_block_number(memory);
    if (number >= 0)
        ctx->estimate->blocks.blocks[number].label = label;
}
