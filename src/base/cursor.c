/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing of text forms. Errors in a long text show only the surroundings of the error.
 */
#include "base/cursor.h"

#include "base/dtype.h"
#include "base/near_miss.h"
#include "base/size.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BEFORE = 60, SHOWN_AFTER = 30 };

dt__cursor dt__cursor_new(dt_ctx *ctx, dt_status status, const char *what, const char *text) {
    return (dt__cursor){.ctx = ctx, .status = status, .what = what, .text = text, .at = text};
}

static bool starts_character(char byte) { return ((unsigned char)byte & 0xc0) != 0x80; }

/* Columns count characters, not bytes, from 1. */
static int column_of(const char *from, const char *at) {
    int column = 1;
    for (; from < at; from++)
        column += starts_character(*from);
    return column;
}

/* Never splits a UTF-8 character. */
static const char *window_begin(const dt__cursor *cursor) {
    const char *begin = cursor->at - cursor->text > SHOWN_BEFORE ? cursor->at - SHOWN_BEFORE : cursor->text;
    while (begin < cursor->at && !starts_character(*begin))
        begin++;
    return begin;
}

static size_t window_bytes(const dt__cursor *cursor, const char *begin) {
    size_t n = (size_t)(cursor->at - begin) + strnlen(cursor->at, SHOWN_AFTER);
    while (begin[n] && n && !starts_character(begin[n]))
        n--;
    return n;
}

dt_status(dt__cursor_fail)(const dt__cursor *cursor, const char *format, ...) {
    char message[512], shown[SHOWN_BEFORE + SHOWN_AFTER + 1];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const char *begin = window_begin(cursor);
    size_t n = window_bytes(cursor, begin);
    memcpy(shown, begin, n);
    shown[n] = 0;
    for (size_t i = 0; i < n; i++)
        if (iscntrl((unsigned char)shown[i]))
            shown[i] = ' ';
    const char *before = begin > cursor->text ? "..." : "", *after = begin[n] ? "..." : "";
    return dt__fail(cursor->ctx, cursor->status, "%s: column %d: %s\n    %s%s%s\n    %*s^", cursor->what,
                    column_of(cursor->text, cursor->at), message, before, shown, after,
                    column_of(begin, cursor->at) - 1 + (int)strlen(before), "");
}

bool dt__cursor_skip(dt__cursor *cursor, const char *text) {
    size_t n = strlen(text);
    if (strncmp(cursor->at, text, n) != 0)
        return false;
    cursor->at += n;
    return true;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

char dt__cursor_peek(dt__cursor *cursor) {
    while (is_blank(*cursor->at))
        cursor->at++;
    return *cursor->at;
}

static bool is_word_character(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool dt__cursor_take(dt__cursor *cursor, const char *word) {
    dt__cursor_peek(cursor);
    const char *start = cursor->at;
    if (!dt__cursor_skip(cursor, word))
        return false;
    if (!is_word_character(cursor->at[-1]) || !is_word_character(*cursor->at))
        return true;
    cursor->at = start;
    return false;
}

dt_status dt__cursor_expect(dt__cursor *cursor, const char *word, const char *where) {
    if (dt__cursor_take(cursor, word))
        return DT_OK;
    return dt__cursor_fail(cursor, "expected '%s' %s", word, where);
}

dt_status dt__cursor_fail_dtype(const dt__cursor *cursor) {
    const char *word = cursor->at + strspn(cursor->at, " \t");
    size_t n = 0;
    while (isalnum((unsigned char)word[n]) || word[n] == '_')
        n++;
    dt__near_miss near = dt__near_miss_of(word, n);
    dt__near_miss_add_list(&near, DT__DTYPE_NAMES);
    return dt__cursor_fail(cursor, "expected a dtype: %.*s%s", (int)sizeof(DT__DTYPE_NAMES) - 3, DT__DTYPE_NAMES,
                           dt__near_miss_hint(&near));
}

dt_status dt__cursor_number(dt__cursor *cursor, int64_t min, int64_t max, const char *what, int64_t *out) {
    bool negative = dt__cursor_peek(cursor) == '-' && min < 0;
    const char *at = cursor->at + negative;
    int64_t value = 0; /* accumulated as a negative number, whose range is larger by one */
    bool fits = true;
    if (!isdigit((unsigned char)*at))
        return dt__cursor_fail(cursor, "expected %s", what);
    for (; isdigit((unsigned char)*at); at++)
        fits = fits && dt__mul_i64(value, 10, &value) && dt__add_i64(value, '0' - *at, &value);
    fits = fits && (negative || dt__mul_i64(value, -1, &value));
    if (!fits || value < min || value > max)
        return dt__cursor_fail(cursor, "%s must be from %" PRId64 " to %" PRId64, what, min, max);
    cursor->at = at;
    *out = value;
    return DT_OK;
}
