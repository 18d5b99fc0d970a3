/* SPDX-License-Identifier: Apache-2.0
 *
 * A cursor parses a text form from left to right and reports errors that point at a character; all text forms of the
 * library are parsed with it. Tokens are read with or without skipping the blanks before them. An error is recorded in
 * the context and does not move the cursor.
 */
#ifndef DT_BASE_CURSOR_H
#define DT_BASE_CURSOR_H

#include "base/ctx.h"

typedef struct dt__cursor {
    dt_ctx *ctx;
    dt_status status; /* of errors in this text */
    const char *what; /* name of the text form: "placements" */
    const char *text, *at;
} dt__cursor;

dt__cursor dt__cursor_new(dt_ctx *ctx, dt_status status, const char *what, const char *text);

/* Records "placements: column 4: <message>", with the text and a caret below it. */
dt_status dt__cursor_fail(const dt__cursor *cursor, const char *format, ...) DT_PRINTF(2);
#ifdef __clang_analyzer__ /* as dt__fail */
#define dt__cursor_fail(cursor, ...) ((void)(dt__cursor_fail)(cursor, __VA_ARGS__), DT_ERR_VALUE)
#endif
/* Records that a dtype was expected, and suggests the one nearest to the next word. */
dt_status dt__cursor_fail_dtype(const dt__cursor *cursor);

/* Skips this text if it comes next, whatever follows it; does not skip blanks. */
bool dt__cursor_skip(dt__cursor *cursor, const char *text);
/* Skips blanks; returns the next character, 0 at the end. */
char dt__cursor_peek(dt__cursor *cursor);
/* Skips blanks, and the word if it comes next and no letter or digit continues it. */
bool dt__cursor_take(dt__cursor *cursor, const char *word);
/* Skips blanks and a required word: an error if it does not come next. */
dt_status dt__cursor_expect(dt__cursor *cursor, const char *word, const char *where);
/* Skips blanks and reads a decimal integer from min to max; a minus sign is allowed if min is negative. */
dt_status dt__cursor_number(dt__cursor *cursor, int64_t min, int64_t max, const char *what, int64_t *out);

#endif
