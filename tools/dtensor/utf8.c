/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8.
 */
#include "utf8.h"

#include <stdbool.h>

size_t utf8_length(const char *text) {
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
