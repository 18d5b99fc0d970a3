/* SPDX-License-Identifier: Apache-2.0
 *
 * Suggestions for names that do not exist: the existing name that is nearest to what was written.
 *
 *     dt__near_miss near = dt__near_miss_new("matmull");
 *     dt__near_miss_add(&near, "matmul", 6);
 *     … "there is no op 'matmull'%s", dt__near_miss_hint(&near)          "; did you mean matmul?"
 *
 * A name is near if few letters are inserted, left out, replaced or swapped with their neighbor; case, and a hyphen for
 * an underscore, do not count. A name that begins with what was written is near as well.
 */
#ifndef DT_BASE_NEAR_MISS_H
#define DT_BASE_NEAR_MISS_H

#include <stddef.h>

enum { DT__NEAR_MISS_CHARS = 40 }; /* longer words are not compared */

typedef struct dt__near_miss {
    const char *word; /* must stay valid */
    size_t n_chars;
    size_t distance; /* of the nearest name so far, or the first that is too large */
    char hint[DT__NEAR_MISS_CHARS + 24];
} dt__near_miss;

dt__near_miss dt__near_miss_new(const char *word);
/* A near miss of the first characters of a longer text. */
dt__near_miss dt__near_miss_of(const char *word, size_t n_chars);
/* Compares with a name; the first of equally near ones is kept. */
void dt__near_miss_add(dt__near_miss *self, const char *name, size_t n_chars);
/* Compares with each name of a list such as "self, shm or fake". */
void dt__near_miss_add_list(dt__near_miss *self, const char *names);
/* "; did you mean matmul?", or "" where no name is near. */
const char *dt__near_miss_hint(const dt__near_miss *self);

#endif
