/* SPDX-License-Identifier: Apache-2.0
 *
 * The counting and failing memory hook: each block carries its size in front, so that wrong sizes are noticed.
 */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 16 };

static void *resize(void *user, void *old, size_t old_size, size_t new_size) {
    test_memory *memory = user;
    unsigned char *block = old ? (unsigned char *)old - HEAD_BYTES : NULL;
    if (block) {
        size_t size;
        memcpy(&size, block, sizeof size);
        if (size != old_size)
            memory->wrong_size = true;
        old_size = size;
    }
    if (new_size == 0) {
        if (block) {
            memory->n_live--;
            memory->live_bytes -= old_size;
        }
        free(block);
        return NULL;
    }
    if (++memory->n_calls == memory->fail_at)
        return NULL;
    unsigned char *fresh = realloc(block, new_size + HEAD_BYTES);
    if (!fresh)
        return NULL;
    memcpy(fresh, &new_size, sizeof new_size);
    memory->n_live += !block;
    memory->live_bytes += new_size - (block ? old_size : 0);
    return fresh + HEAD_BYTES;
}

/* The shared heap counts as one more allocation. */
static bool permit(void *user, size_t bytes) {
    test_memory *memory = user;
    (void)bytes;
    return ++memory->n_calls != memory->fail_at;
}

dt_allocator test_memory_allocator(test_memory *memory) {
    return (dt_allocator){.resize = resize, .user = memory, .permit = permit};
}

void assert_error_says(const dt_ctx *ctx, dt_status status, const char *part) {
    if (dt_error_status(ctx) != status || !strstr(dt_error_text(ctx), part))
        fail_msg("wanted %s with '%s', got %s: %s", dt_status_word(status), part,
                 dt_status_word(dt_error_status(ctx)), dt_error_text(ctx));
}
