/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads and prints values of defaults and arguments.
 */
#include "rules/literal.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

const char *dt__literal_name(dt__cursor *cursor, dt__arena *arena) {
    size_t n = 0;
    dt__cursor_peek(cursor);
    while (is_name_char(cursor->at[n]))
        n++;
    if (n == 0) {
        dt__cursor_fail(cursor, "expected a name");
        return NULL;
    }
    const char *name = dt__arena_copy_chars(arena, cursor->at, n);
    cursor->at += n;
    return name;
}

static dt_status read_number(dt__cursor *cursor, dt_arg *out) {
    char *end, *end_float;
    long long integer = strtoll(cursor->at, &end, 10);
    double real = strtod(cursor->at, &end_float);
    if (end_float == cursor->at)
        return dt__cursor_fail(cursor, "expected a value");
    *out = end == end_float ? (dt_arg){.type = DT_ARG_INT, .as.i = integer}
                            : (dt_arg){.type = DT_ARG_FLOAT, .as.f = real};
    cursor->at = end_float;
    return DT_OK;
}

static const struct {
    const char *word;
    dt_arg value;
} words[] = {
    {"true", {.type = DT_ARG_BOOL, .as.b = true}},
    {"True", {.type = DT_ARG_BOOL, .as.b = true}},
    {"false", {.type = DT_ARG_BOOL, .as.b = false}},
    {"False", {.type = DT_ARG_BOOL, .as.b = false}},
    {"none", {.type = DT_ARG_NONE}},
    {"None", {.type = DT_ARG_NONE}},
    {"null", {.type = DT_ARG_NONE}},
    {"nan", {.type = DT_ARG_FLOAT, .as.f = NAN}},
    {"inf", {.type = DT_ARG_FLOAT, .as.f = INFINITY}},
};

static dt_status read_word(dt__cursor *cursor, dt__arena *arena, dt_arg *out) {
    const char *name = dt__literal_name(cursor, arena);
    if (!name)
        return dt_error_status(cursor->ctx);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].word, name)) {
            *out = words[i].value;
            return DT_OK;
        }
    *out = (dt_arg){.type = DT_ARG_TEXT, .as.text = name};
    return DT_OK;
}

static dt_status read_quoted(dt__cursor *cursor, dt__arena *arena, dt_arg *out) {
    char quote = *cursor->at;
    const char *begin = cursor->at + 1, *end = strchr(begin, quote);
    if (!end)
        return dt__cursor_fail(cursor, "expected a closing quote");
    const char *text = dt__arena_copy_chars(arena, begin, (size_t)(end - begin));
    if (!text)
        return DT_ERR_MEMORY;
    *out = (dt_arg){.type = DT_ARG_TEXT, .as.text = text};
    cursor->at = end + 1;
    return DT_OK;
}

/* A list of integers, where some may be none, stays one; a number with a point makes all of them floating-point
 * numbers. */
static dt_status read_list(dt__cursor *cursor, dt__arena *arena, dt_arg *out) {
    int capacity = 1, n = 0;
    for (const char *c = cursor->at; *c && *c != ']'; c++)
        capacity += *c == ',';
    int64_t *ints = DT__NEW_ARRAY(arena, int64_t, capacity);
    double *floats = DT__NEW_ARRAY(arena, double, capacity);
    bool all_ints = true;
    if (!ints || !floats)
        return DT_ERR_MEMORY;
    cursor->at++;
    while (dt__cursor_peek(cursor) != ']') {
        dt_arg entry;
        if (n)
            DT__TRY(dt__cursor_expect(cursor, ",", "between the numbers of a list"));
        dt__cursor_peek(cursor);
        if (dt__cursor_skip(cursor, "none"))
            entry = (dt_arg){.type = DT_ARG_INT, .as.i = DT_NONE};
        else
            DT__TRY(read_number(cursor, &entry));
        all_ints = all_ints && entry.type == DT_ARG_INT;
        ints[n] = entry.type == DT_ARG_INT ? entry.as.i : 0;
        floats[n++] = entry.type == DT_ARG_INT ? (double)entry.as.i : entry.as.f;
    }
    cursor->at++;
    *out = all_ints ? (dt_arg){.type = DT_ARG_INTS, .n = n, .as.ints = ints}
                    : (dt_arg){.type = DT_ARG_FLOATS, .n = n, .as.floats = floats};
    return DT_OK;
}

dt_status dt__literal_read(dt__cursor *cursor, dt__arena *arena, dt_arg *out) {
    char c = dt__cursor_peek(cursor);
    if (c == '[')
        return read_list(cursor, arena, out);
    if (c == '"' || c == '\'')
        return read_quoted(cursor, arena, out);
    if (isalpha((unsigned char)c) || c == '_')
        return read_word(cursor, arena, out);
    return read_number(cursor, out);
}

/* The shortest of the usual forms that reads back as the same number. */
static void add_real(double value, dt__text *out) {
    char text[40];
    if (isnan(value)) {
        dt__text_add(out, "nan");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    dt__text_add(out, "%s%s", text, strpbrk(text, ".en") ? "" : ".0"); /* 2.0 is not an integer; inf has an n */
}

static void add_list(const dt_arg *value, dt__text *out) {
    dt__text_add(out, "[");
    for (int i = 0; i < value->n; i++) {
        dt__text_add(out, i ? "," : "");
        if (value->type == DT_ARG_INTS && value->as.ints[i] == DT_NONE)
            dt__text_add(out, "none");
        else if (value->type == DT_ARG_INTS)
            dt__text_add(out, "%" PRId64, value->as.ints[i]);
        else
            add_real(value->as.floats[i], out);
    }
    dt__text_add(out, "]");
}

void dt__literal_text(const dt_arg *value, dt__text *out) {
    switch (value->type) {
    case DT_ARG_INT:
        dt__text_add(out, "%" PRId64, value->as.i);
        break;
    case DT_ARG_FLOAT:
        add_real(value->as.f, out);
        break;
    case DT_ARG_BOOL:
        dt__text_add(out, value->as.b ? "true" : "false");
        break;
    case DT_ARG_COMPLEX:
        dt__text_add(out, "%.17g%+.17gj", value->as.c[0], value->as.c[1]);
        break;
    case DT_ARG_INTS:
    case DT_ARG_FLOATS:
        add_list(value, out);
        break;
    case DT_ARG_DTYPE:
        dt__text_add(out, "%s", dt_dtype_name(value->as.dtype));
        break;
    case DT_ARG_TEXT:
        dt__text_add(out, strchr(value->as.text, '"') ? "'%s'" : "\"%s\"", value->as.text);
        break;
    default:
        dt__text_add(out, "none");
    }
}
