/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels of pictures and tables: sets of ranks, ranges, sizes, and values that have a text form.
 */
#include "show/labels.h"

#include "base/quantity.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_PROGRESSION = 5, MAX_RUNS_SHOWN = 4 };

const char *dt__label_keep(dt__text *text, dt__arena *arena) {
    const char *copy = dt__text_status(text) == DT_OK ? dt__arena_copy_text(arena, dt__text_chars(text)) : NULL;
    dt__text_free(text);
    return copy;
}

const char *dt__label_format(dt__arena *arena, const char *format, ...) {
    char short_text[256];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(short_text, sizeof short_text, format, values);
    va_end(values);
    if (n < (int)sizeof short_text)
        return dt__arena_copy_text(arena, short_text);
    char *text = DT__NEW_ARRAY(arena, char, n + 1);
    va_start(values, format);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, values);
    va_end(values);
    return text;
}

static int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Length of the arithmetic progression at the front. */
static int64_t progression(const int64_t *ranks, int64_t n) {
    int64_t i = 1;
    while (i + 1 < n && ranks[i + 1] - ranks[i] == ranks[1] - ranks[0])
        i++;
    return n < 2 ? n : i + 1;
}

void dt__label_add_ranks(dt__text *text, const int64_t *ranks, int64_t n) {
    for (int64_t at = 0; at < n;) {
        int64_t many = progression(ranks + at, n - at);
        long long first = ranks[at], second = many > 1 ? ranks[at + 1] : 0, last = ranks[at + many - 1];
        dt__text_add(text, "%s%lld", at ? "," : "", first);
        if (many > 1 && second == first + 1) {
            dt__text_add(text, "%c%lld", many == 2 ? ',' : '-', last);
        } else if (many >= MIN_PROGRESSION) {
            dt__text_add(text, ",%lld,..,%lld", second, last);
        } else {
            many = 1;
        }
        at += many;
    }
}

const char *dt__label_ranks(int64_t *ranks, int64_t n, dt__arena *arena) {
    qsort(ranks, (size_t)n, sizeof *ranks, compare_i64);
    dt__text text = dt__text_new(arena->ctx);
    dt__label_add_ranks(&text, ranks, n);
    return dt__label_keep(&text, arena);
}

const char *dt__label_runs(const dt_run *runs, int64_t n, dt__arena *arena) {
    dt__text text = dt__text_new(arena->ctx);
    for (int64_t i = 0; i < n && i < MAX_RUNS_SHOWN; i++)
        dt__text_add(&text, "%s%lld:%lld", i ? " " : "", (long long)runs[i].begin, (long long)runs[i].end);
    if (n > MAX_RUNS_SHOWN)
        dt__text_add(&text, " ..");
    if (n == 0)
        dt__text_add(&text, "-");
    return dt__label_keep(&text, arena);
}

const char *dt__label_spec(const dt_spec *spec, dt__arena *arena) {
    size_t capacity = dt_spec_text(spec, 0, NULL) + 1;
    char *text = DT__NEW_ARRAY(arena, char, capacity);
    if (text)
        dt_spec_text(spec, capacity, text);
    return text;
}

const char *dt__label_placements(int n, const dt_placement *placements, dt__arena *arena) {
    size_t capacity = dt_placements_text(n, placements, 0, NULL) + 1;
    char *text = DT__NEW_ARRAY(arena, char, capacity);
    if (text)
        dt_placements_text(n, placements, capacity, text);
    return text;
}

const char *dt__label_bytes(int64_t n_bytes, dt__arena *arena) {
    char text[32];
    dt__size_print((size_t)n_bytes, text, sizeof text);
    return dt__label_format(arena, "%s", text);
}

const char *dt__label_shape(const int64_t *shape, int n, dt__arena *arena) {
    dt__text text = dt__text_new(arena->ctx);
    dt__text_add(&text, "[");
    for (int i = 0; i < n; i++)
        dt__text_add(&text, "%s%lld", i ? "," : "", (long long)shape[i]);
    dt__text_add(&text, "]");
    return dt__label_keep(&text, arena);
}

size_t dt__utf8_length(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    static const struct {
        unsigned char mask, lead;
        unsigned min;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t more = 0; more < 4; more++) {
        if ((p[0] & forms[more].mask) != forms[more].lead)
            continue;
        unsigned code = p[0] & (unsigned char)~forms[more].mask;
        for (size_t i = 1; i <= more; i++) {
            if ((p[i] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (p[i] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code < 0xe000;
        return code < forms[more].min || code > 0x10ffff || surrogate ? 0 : more + 1;
    }
    return 0;
}
