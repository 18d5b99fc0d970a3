/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantities in command lines and environment variables: integers, sizes, durations. One parser for all of them, so
 * that an option and its variable accept the same texts, whatever the program's locale. For any other text these
 * functions return false and leave *out unchanged. Sizes are printed here, too.
 */
#ifndef DT_BASE_QUANTITY_H
#define DT_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DT__DURATION_OFF = -1 };

/* An integer from 1 to `max`. */
bool dt__count_parse(const char *text, int64_t max, int64_t *out);
/* A positive number of bytes: "65536", "512K", "8G", "1.5T" (powers of 1024). */
bool dt__size_parse(const char *text, size_t *out);
/* "512 B", "1.5 KiB", "8 GiB". */
void dt__size_print(size_t bytes, char *text, size_t capacity);
/* A positive time in milliseconds: "500ms", "30s", "1.5m", "2h" or "30" (seconds); "off" is DT__DURATION_OFF. */
bool dt__duration_parse(const char *text, int64_t *out);

#endif
