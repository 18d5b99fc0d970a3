/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON to a text, for statistics and traces: the library does not link a JSON library. The writer adds commas,
 * quotes and escapes; the caller opens and closes objects and lists in pairs.
 */
#ifndef DT_BASE_JSON_WRITER_H
#define DT_BASE_JSON_WRITER_H

#include "base/text.h"

typedef struct dt__json_writer {
    dt__text *out;
    bool needs_comma; /* before the next key or value */
} dt__json_writer;

static inline dt__json_writer dt__json_writer_new(dt__text *out) { return (dt__json_writer){.out = out}; }

/* bracket is '{' or '[', and '}' or ']'. */
void dt__json_open(dt__json_writer *self, char bracket);
void dt__json_close(dt__json_writer *self, char bracket);
/* The key of the member whose value is written next. */
void dt__json_key(dt__json_writer *self, const char *key);

void dt__json_string(dt__json_writer *self, const char *chars);
void dt__json_bool(dt__json_writer *self, bool value);
void dt__json_int(dt__json_writer *self, int64_t value);
/* With three digits after the point; the value must be finite. */
void dt__json_real(dt__json_writer *self, double value);

#endif
