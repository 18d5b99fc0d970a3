/* SPDX-License-Identifier: Apache-2.0
 *
 * The counting and failing memory hook: each block is preceded by its size, so that wrong sizes are detected. Errors of
 * contexts, and a locale with decimal commas.
 */
#include "support/check.h"

#include "base/ctx.h"

#include <locale.h>
#include <stdio.h>
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
    unsigned char *moved = realloc(block, new_size + HEAD_BYTES);
    if (!moved)
        return NULL;
    memcpy(moved, &new_size, sizeof new_size);
    memory->n_live += !block;
    memory->live_bytes += new_size - (block ? old_size : 0);
    return moved + HEAD_BYTES;
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

long assert_survives_failing_allocations(test_body *body, void *user) {
    for (long n = 1;; n++) {
        test_memory memory = {0};
        dt_ctx *ctx = dt__ctx_new(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
        long n_before = memory.n_calls;
        memory.fail_at = n_before + n;
        bool worked = body(ctx, user);
        bool has_failed = memory.n_calls >= memory.fail_at;
        dt_status status = dt_error_status(ctx);
        if (worked == has_failed || status != (has_failed ? DT_ERR_MEMORY : DT_OK))
            fail_msg("allocation %ld %s, the body %s: the error is %s: %s", n, has_failed ? "failed" : "was not made",
                     worked ? "succeeded" : "failed", dt_status_name(status), dt_error_text(ctx));
        dt__ctx_free(ctx);
        if (memory.n_live || memory.wrong_size)
            fail_msg("after allocation %ld failed: %ld blocks leak%s", n, memory.n_live,
                     memory.wrong_size ? " and a size was wrong" : "");
        if (!has_failed)
            return n - 1;
    }
}

long assert_recovers_from_failing_allocations(test_body *body, void *user, long step) {
    long n_failed = 0;
    for (long n = 1;; n += step) {
        test_memory memory = {0};
        dt_ctx *ctx = dt_init(&(dt_init_options){.allocator = test_memory_allocator(&memory)});
        assert_non_null(ctx);
        memory.fail_at = memory.n_calls + n;
        bool worked = body(ctx, user), has_failed = memory.n_calls >= memory.fail_at;
        memory.fail_at = 0;
        if (!worked && (!has_failed || dt_error_status(ctx) != DT_ERR_MEMORY))
            fail_msg("allocation %ld: the error is %s", n, dt_error_text(ctx));
        n_failed += !worked;
        (void)dt_error_clear(ctx);
        if (!worked && !body(ctx, user))
            fail_msg("after allocation %ld failed: %s", n, dt_error_text(ctx));
        assert_int_equal(dt_close(ctx), 0);
        if (memory.n_live || memory.wrong_size)
            fail_msg("after allocation %ld failed: %ld blocks leak%s", n, memory.n_live,
                     memory.wrong_size ? " and a size was wrong" : "");
        if (!has_failed)
            return n_failed;
    }
}

void assert_error_contains(const dt_ctx *ctx, dt_status status, const char *part) {
    if (dt_error_status(ctx) != status || !strstr(dt_error_text(ctx), part))
        fail_msg("expected %s with '%s', got %s: %s", dt_status_name(status), part,
                 dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
}

static char locale_folder[32];

void test_commas_begin(void) {
    char command[128], text[8];
    (void)snprintf(locale_folder, sizeof locale_folder, "/tmp/dtensor-locale-XXXXXX");
    assert_non_null(mkdtemp(locale_folder));
    (void)snprintf(command, sizeof command, "localedef -i de_DE -f ISO-8859-1 %s/commas", locale_folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(setenv("LOCPATH", locale_folder, 1), 0);
    assert_non_null(setlocale(LC_NUMERIC, "commas"));
    (void)snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5");
}

void test_commas_end(void) {
    char command[64];
    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    (void)snprintf(command, sizeof command, "rm -r %s", locale_folder);
    assert_int_equal(system(command), 0);
}
