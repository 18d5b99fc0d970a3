/* SPDX-License-Identifier: Apache-2.0
 *
 * What every fuzz target includes. A target is one function that takes any bytes; it checks not only that nothing
 * crashes, but that a parsed value is the same when it is printed and parsed again. `fuzz.sh` runs it with libFuzzer;
 * the tests run it on the files of the corpus (replay.c).
 */
#ifndef DT_FUZZ_FUZZ_H
#define DT_FUZZ_FUZZ_H

#include "base/arena.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Aborts, which is how a target reports a finding. */
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
    FUZZ_CHECK(text, "out of memory");
    memcpy(text, bytes, n);
    return text;
}

/* An error with a text was recorded if and only if the call failed. */
static inline void fuzz_check_status(dt_ctx *ctx, bool ok) {
    FUZZ_CHECK(ok == !dt_failed(ctx), "the call %s, the error of the context: %s", ok ? "succeeded" : "failed",
               dt_error_text(ctx));
    FUZZ_CHECK(ok || *dt_error_text(ctx), "an error without a text");
}

#endif
