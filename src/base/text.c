/* SPDX-License-Identifier: Apache-2.0
 *
 * The text builder: one buffer that grows by doubling.
 */
#include "base/text.h"

#include "base/size.h"

#include <stdio.h>
#include <string.h>

dt__text dt__text_new(dt_ctx *ctx) { return (dt__text){.ctx = ctx}; }

void dt__text_free(dt__text *text) {
    dt__free(text->ctx, text->chars, text->capacity);
    *text = dt__text_new(text->ctx);
}

/* Capacity for n more characters and the NUL. */
static bool reserve(dt__text *text, size_t n) {
    size_t needed;
    if (text->broken || !dt__add_size(text->n_chars, n, &needed) || !dt__add_size(needed, 1, &needed))
        return !(text->broken = true);
    if (needed <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    char *chars = dt__resize(text->ctx, text->chars, text->capacity, capacity);
    if (!chars)
        return !(text->broken = true);
    text->chars = chars;
    text->capacity = capacity;
    return true;
}

void dt__text_add_chars(dt__text *text, const char *chars, size_t n) {
    if (!reserve(text, n))
        return;
    if (n)
        memcpy(text->chars + text->n_chars, chars, n);
    text->n_chars += n;
    text->chars[text->n_chars] = 0;
}

void dt__text_add(dt__text *text, const char *format, ...) {
    va_list args, again;
    if (!strchr(format, '%')) {
        dt__text_add_chars(text, format, strlen(format));
        return;
    }
    va_start(args, format);
    va_copy(again, args);
    char small[256];
    int n = vsnprintf(small, sizeof small, format, args);
    if (n >= 0 && (size_t)n < sizeof small) {
        dt__text_add_chars(text, small, (size_t)n);
    } else if (n >= 0 && reserve(text, (size_t)n)) {
        vsnprintf(text->chars + text->n_chars, (size_t)n + 1, format, again);
        text->n_chars += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

void dt__text_clear(dt__text *text) {
    text->n_chars = 0;
    text->broken = false;
    if (text->chars)
        text->chars[0] = 0;
}

const char *dt__text_chars(const dt__text *text) { return text->chars ? text->chars : ""; }

dt_status dt__text_status(const dt__text *text) {
    return text->broken ? dt__fail_memory(text->ctx, text->capacity * 2, "a text") : DT_OK;
}
