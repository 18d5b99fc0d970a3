/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads JSON (RFC 8259) from left to right, for headers and configurations from outside: the library does not link a
 * JSON library. It stores only the strings that the caller takes, so memory is bounded by the text. The first mistake
 * ends the reading: every later call returns false, and `error` has the reason.
 *
 *     dt__json_reader r = dt__json_reader_new(&arena, chars, n);
 *     const char *key;
 *     dt__json_enter(&r, '{');
 *     while (dt__json_next_key(&r, &key))
 *         dt__json_skip(&r);
 *     dt__json_end(&r);
 */
#ifndef DT_BASE_JSON_READER_H
#define DT_BASE_JSON_READER_H

#include "base/arena.h"

enum { DT__JSON_MAX_DEPTH = 64 };

typedef struct dt__json_reader {
    dt__arena *arena; /* of the strings */
    const char *start, *at, *end;
    int depth;
    char close[DT__JSON_MAX_DEPTH];    /* that ends each open object or list */
    bool is_first[DT__JSON_MAX_DEPTH]; /* no comma is needed before its next member */
    bool failed;
    char error[256];
} dt__json_reader;

dt__json_reader dt__json_reader_new(dt__arena *arena, const char *chars, size_t n);

/* Ends the reading with an error, unless it has one already; the byte position is added. Returns false. */
bool dt__json_fail(dt__json_reader *self, const char *format, ...) DT_PRINTF(2);

/* What comes next: one of { [ " t f n, or 0 for a number, or ? for anything else. */
char dt__json_kind(dt__json_reader *self);

/* Enters an object '{' or a list '['. */
bool dt__json_enter(dt__json_reader *self, char bracket);
/* Whether there is another member, which the caller must then take; leaves the list or object at its end. */
bool dt__json_next(dt__json_reader *self);
bool dt__json_next_key(dt__json_reader *self, const char **key);

/* A string, decoded, in the arena. One that is not UTF-8 or has a NUL is an error. */
bool dt__json_take_string(dt__json_reader *self, const char **out);
/* An integer that fits, without fraction and exponent. */
bool dt__json_take_int(dt__json_reader *self, int64_t *out);
/* Any value; strings are checked, but not kept. */
bool dt__json_skip(dt__json_reader *self);

/* Whether nothing follows, and nothing failed. */
bool dt__json_end(dt__json_reader *self);

#endif
