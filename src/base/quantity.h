/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantities as people write them on command lines and in environment variables. One reader for all of them, so that
 * an option and the variable that stands for it take the same texts, whatever the program's locale. What is not such a
 * quantity gives false and leaves *out untouched.
 */
#ifndef DT_BASE_QUANTITY_H
#define DT_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DT__DURATION_OFF = -1 };

/* A whole number from 1 to `most`. */
bool dt__count_parse(const char *text, int64_t most, int64_t *out);
/* A positive number of bytes: "65536", "512K", "8G", "1.5T" (powers of 1024). */
bool dt__size_parse(const char *text, size_t *out);
/* A positive time in milliseconds: "500ms", "30s", "1.5m", "2h" or "30" (seconds); "off" gives DT__DURATION_OFF. */
bool dt__duration_parse(const char *text, int64_t *out);

#endif
