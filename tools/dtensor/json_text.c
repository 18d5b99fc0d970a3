/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON output: numbers without printf, strings with every escape that JSON wants.
 */
#include "json_text.h"

#include "utf8.h"

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

void json_add_string(dt__text *out, const char *chars) {
    json_add(out, "\"");
    for (const char *p = chars; *p;) {
        size_t n = utf8_length(p);
        if (n == 0)
            json_add(out, "\\ufffd");
        else if (*p == '"' || *p == '\\')
            dt__text_add(out, "\\%c", *p);
        else if ((unsigned char)*p < 0x20 || *p == 0x7f)
            dt__text_add(out, "\\u%04x", (unsigned)*p);
        else
            dt__text_add_chars(out, p, n);
        p += n ? n : 1;
    }
    json_add(out, "\"");
}
