/* SPDX-License-Identifier: Apache-2.0
 *
 * A text builder. Appending does not return errors: when out of memory, the builder becomes `broken` and keeps its
 * text, and dt__text_status returns the error, so that printing code needs no check per line.
 */
#ifndef DT_BASE_TEXT_H
#define DT_BASE_TEXT_H

#include "base/ctx.h"

typedef struct dt__text {
    dt_ctx *ctx;
    char *chars; /* NUL-terminated, or NULL while empty */
    size_t n_chars, capacity;
    bool broken;
} dt__text;

dt__text dt__text_new(dt_ctx *ctx);
void dt__text_free(dt__text *text);
void dt__text_add(dt__text *text, const char *format, ...) DT_PRINTF(2);
void dt__text_add_chars(dt__text *text, const char *chars, size_t n);
void dt__text_clear(dt__text *text);
/* The text so far; valid until the next call; "" while empty. */
const char *dt__text_chars(const dt__text *text);
/* DT_OK, or out of memory with the error recorded. */
dt_status dt__text_status(const dt__text *text);

#endif
