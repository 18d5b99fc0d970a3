/* SPDX-License-Identifier: Apache-2.0
 *
 * The text form of placements: parsing into an arena, and printing. A sink prints into a buffer of the caller's and
 * counts the characters that do not fit.
 */
#ifndef DT_SPEC_PLACEMENT_TEXT_H
#define DT_SPEC_PLACEMENT_TEXT_H

#include "base/arena.h"
#include "base/cursor.h"
#include "dtensor/spec.h"

/* Parses all of the text; extents belong to the arena. */
dt_status dt__placements_parse(dt__arena *arena, const char *text, int *n, dt_placement **out);
/* Parses placements at the cursor, up to the first placement that no comma follows. */
dt_status dt__cursor_placements(dt__cursor *cursor, dt__arena *arena, int *n, dt_placement **out);

typedef struct dt__sink {
    char *chars; /* NUL-terminated if capacity > 0 */
    size_t capacity;
    size_t n_chars; /* of the entire text */
} dt__sink;

dt__sink dt__sink_new(size_t capacity, char *chars);
void dt__sink_add(dt__sink *sink, const char *format, ...) DT_PRINTF(2);
void dt__sink_add_placements(dt__sink *sink, int n, const dt_placement *placements);

#endif
