/* SPDX-License-Identifier: Apache-2.0
 *
 * What every fuzz target includes. A target is one function that takes any bytes; it checks not only that nothing
 * breaks, but that what was understood says the same when it is printed and read again. `fuzz.sh` has libFuzzer call
 * it; the tests call it with the files of the corpus (replay.c).
 */
#ifndef DT_FUZZ_FUZZ_H
#define DT_FUZZ_FUZZ_H

#include "base/arena.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Ends the process, which is how a target tells of a finding. */
#define FUZZ_CHECK(holds, ...)                                                                                       \
    do {                                                                                                             \
        if (!(holds)) {                                                                                              \
            fprintf(stderr, "%s:%d: " #holds ": ", __FILE__, __LINE__);                                              \
            fprintf(stderr, __VA_ARGS__);                                                                            \
            fprintf(stderr, "\n");                                                                                   \
            abort();                                                                                                 \
        }                                                                                                            \
    } while (0)

/* The bytes as a text in the arena, ended at the first NUL. */
static inline char *fuzz_text(dt__arena *arena, const uint8_t *bytes, size_t n) {
    char *text = dt__arena_alloc(arena, n + 1, 1);
    FUZZ_CHECK(text, "no memory");
    memcpy(text, bytes, n);
    return text;
}

/* An error was recorded exactly where a call failed, with a text that is there. */
static inline void fuzz_check_status(dt_ctx *ctx, bool ok) {
    FUZZ_CHECK(ok == !dt_failed(ctx), "the call %s, the context says: %s", ok ? "succeeded" : "failed",
               dt_error_text(ctx));
    FUZZ_CHECK(ok || *dt_error_text(ctx), "an error without a text");
}

#endif
