/* SPDX-License-Identifier: Apache-2.0
 *
 * Text forms of placements and specs inside the library: parsing into an arena, as a whole or from a cursor, and a
 * sink that prints into a buffer of the caller's and goes on counting where the buffer is full.
 */
#ifndef DT_SPEC_PLACEMENT_TEXT_H
#define DT_SPEC_PLACEMENT_TEXT_H

#include "base/arena.h"
#include "base/cursor.h"
#include "dtensor/spec.h"

/* The whole text is placements; extents belong to the arena. */
dt_status dt__placements_parse(dt__arena *arena, const char *text, int *n, dt_placement **out);
/* Placements are what comes next; stops at the first thing that is no comma after a placement. */
dt_status dt__cursor_placements(dt__cursor *cursor, dt__arena *arena, int *n, dt_placement **out);

typedef struct dt__sink {
    char *chars; /* ended by a NUL while capacity > 0 */
    size_t capacity;
    size_t n_chars; /* of the whole text */
} dt__sink;

dt__sink dt__sink_new(size_t capacity, char *chars);
void dt__sink_add(dt__sink *sink, const char *format, ...) DT_PRINTF(2);
void dt__sink_add_placements(dt__sink *sink, int n, const dt_placement *placements);

#endif
