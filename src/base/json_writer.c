/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"

#include <inttypes.h>

static void begin_value(dt__json_writer *self) {
    if (self->needs_comma)
        dt__text_add(self->out, ",");
    self->needs_comma = true;
}

static void add_quoted(dt__text *out, const char *chars) {
    dt__text_add(out, "\"");
    for (; *chars; chars++) {
        unsigned char c = (unsigned char)*chars;
        if (c == '"' || c == '\\')
            dt__text_add(out, "\\%c", c);
        else if (c < 0x20)
            dt__text_add(out, "\\u%04x", c);
        else
            dt__text_add_chars(out, chars, 1);
    }
    dt__text_add(out, "\"");
}

void dt__json_open(dt__json_writer *self, char bracket) {
    begin_value(self);
    dt__text_add(self->out, "%c", bracket);
    self->needs_comma = false;
}

void dt__json_close(dt__json_writer *self, char bracket) {
    dt__text_add(self->out, "%c", bracket);
    self->needs_comma = true;
}

void dt__json_key(dt__json_writer *self, const char *key) {
    begin_value(self);
    add_quoted(self->out, key);
    dt__text_add(self->out, ":");
    self->needs_comma = false;
}

void dt__json_string(dt__json_writer *self, const char *chars) {
    begin_value(self);
    add_quoted(self->out, chars);
}

void dt__json_bool(dt__json_writer *self, bool value) {
    begin_value(self);
    dt__text_add(self->out, value ? "true" : "false");
}

void dt__json_int(dt__json_writer *self, int64_t value) {
    begin_value(self);
    dt__text_add(self->out, "%" PRId64, value);
}

void dt__json_real(dt__json_writer *self, double value) {
    begin_value(self);
    dt__text_add(self->out, "%.3f", value);
}
