/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"

#include <math.h>
#include <string.h>

/* Traces write a few values per op of the program, so that they are made here and not by printf. */
static void add_text(dt__text *out, const char *chars) { dt__text_add_chars(out, chars, strlen(chars)); }

/* Digits of a number, at least so many. */
static void add_digits(dt__text *out, uint64_t number, int least) {
    char digits[24], *at = digits + sizeof digits;
    for (; number || least > 0; number /= 10, least--)
        *--at = (char)('0' + number % 10);
    dt__text_add_chars(out, at, (size_t)(digits + sizeof digits - at));
}

static void begin_value(dt__json_writer *self) {
    if (self->needs_comma)
        dt__text_add_chars(self->out, ",", 1);
    self->needs_comma = true;
}

static bool is_escaped(unsigned char c) { return c < 0x20 || c == '"' || c == '\\'; }

static void add_quoted(dt__text *out, const char *chars) {
    dt__text_add_chars(out, "\"", 1);
    for (size_t n; *chars; chars += n) {
        for (n = 0; chars[n] && !is_escaped((unsigned char)chars[n]);)
            n++;
        dt__text_add_chars(out, chars, n);
        if (n == 0) {
            dt__text_add(out, (unsigned char)*chars < 0x20 ? "\\u%04x" : "\\%c", (unsigned char)*chars);
            n = 1;
        }
    }
    dt__text_add_chars(out, "\"", 1);
}

void dt__json_open(dt__json_writer *self, char bracket) {
    begin_value(self);
    dt__text_add_chars(self->out, &bracket, 1);
    self->needs_comma = false;
}

void dt__json_close(dt__json_writer *self, char bracket) {
    dt__text_add_chars(self->out, &bracket, 1);
    self->needs_comma = true;
}

void dt__json_key(dt__json_writer *self, const char *key) {
    begin_value(self);
    add_quoted(self->out, key);
    dt__text_add_chars(self->out, ":", 1);
    self->needs_comma = false;
}

void dt__json_string(dt__json_writer *self, const char *chars) {
    begin_value(self);
    add_quoted(self->out, chars);
}

void dt__json_bool(dt__json_writer *self, bool value) {
    begin_value(self);
    add_text(self->out, value ? "true" : "false");
}

static void add_sign(dt__text *out, bool is_negative) { dt__text_add_chars(out, "-", is_negative); }

void dt__json_int(dt__json_writer *self, int64_t value) {
    begin_value(self);
    add_sign(self->out, value < 0);
    add_digits(self->out, value < 0 ? -(uint64_t)value : (uint64_t)value, 1);
}

void dt__json_real(dt__json_writer *self, double value) {
    enum { THOUSANDTHS = 1000 };
    begin_value(self);
    if (!(fabs(value) < 1e15)) {
        dt__text_add(self->out, "%.3f", value);
        return;
    }
    uint64_t scaled = (uint64_t)llround(fabs(value) * THOUSANDTHS);
    add_sign(self->out, value < 0);
    add_digits(self->out, scaled / THOUSANDTHS, 1);
    dt__text_add_chars(self->out, ".", 1);
    add_digits(self->out, scaled % THOUSANDTHS, 3);
}
