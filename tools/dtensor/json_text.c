/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON output: numbers without printf, strings with every escape that JSON wants.
 */
#include "json_text.h"

#include <string.h>

void json_add(dt__text *out, const char *json) { dt__text_add_chars(out, json, strlen(json)); }

void json_add_int(dt__text *out, int64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        digits[--at] = '-';
    dt__text_add_chars(out, digits + at, sizeof digits - at);
}

void json_add_ints(dt__text *out, const int64_t *values, int64_t n) {
    json_add(out, "[");
    for (int64_t i = 0; i < n; i++) {
        if (i)
            json_add(out, ",");
        json_add_int(out, values[i]);
    }
    json_add(out, "]");
}

/* Bytes of the UTF-8 character at p, or 0 where there is none: overlong forms, surrogates and values beyond U+10FFFF
 * are none. p ends with a NUL, so no byte behind the end is read. */
static size_t utf8_length(const unsigned char *p) {
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

void json_add_string(dt__text *out, const char *chars) {
    json_add(out, "\"");
    for (const unsigned char *p = (const unsigned char *)chars; *p;) {
        size_t n = utf8_length(p);
        if (n == 0)
            json_add(out, "\\ufffd");
        else if (*p == '"' || *p == '\\')
            dt__text_add(out, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            dt__text_add(out, "\\u%04x", *p);
        else
            dt__text_add_chars(out, (const char *)p, n);
        p += n ? n : 1;
    }
    json_add(out, "\"");
}
