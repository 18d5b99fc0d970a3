/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON written straight into a text: answers are built by these on the hot path, without a tree in between.
 */
#ifndef TOOLS_DTENSOR_JSON_TEXT_H
#define TOOLS_DTENSOR_JSON_TEXT_H

#include "base/text.h"

/* Appends text that is JSON already, such as "{\"local\":[". */
void json_add(dt__text *out, const char *json);
void json_add_int(dt__text *out, int64_t value);
/* [1,2,3] */
void json_add_ints(dt__text *out, const int64_t *values, int64_t n);
/* A quoted string; bytes that are not UTF-8 become U+FFFD. */
void json_add_string(dt__text *out, const char *chars);

#endif
