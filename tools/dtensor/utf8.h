/* SPDX-License-Identifier: Apache-2.0
 *
 * Characters of texts that come from outside, for outputs that must be UTF-8.
 */
#ifndef TOOLS_DTENSOR_UTF8_H
#define TOOLS_DTENSOR_UTF8_H

#include <stddef.h>

/* Bytes of the character at the beginning of the text, or 0 where there is none: overlong forms, surrogates and values
 * beyond U+10FFFF are none. The text ends with a NUL, so no byte behind the end is read. */
size_t utf8_length(const char *text);

#endif
