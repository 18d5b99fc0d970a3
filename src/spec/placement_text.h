/* SPDX-License-Identifier: Apache-2.0
 *
 * The text form of placements: parsing into an arena, and printing. A list has one placement per mesh dim in the order
 * of the mesh, or names its mesh dims, "tp=S(0),dp=R"; names are resolved against a mesh, which may follow the list in
 * a longer text. A sink prints into a buffer of the caller's and counts the characters that do not fit.
 */
#ifndef DT_SPEC_PLACEMENT_TEXT_H
#define DT_SPEC_PLACEMENT_TEXT_H

#include "base/arena.h"
#include "base/cursor.h"
#include "dtensor/spec.h"

/* Placements as they were written. */
typedef struct dt__placement_list {
    int n;
    dt_placement *placements;
    const char **names; /* of the mesh dims; NULL: one placement per mesh dim, in the order of the mesh */
} dt__placement_list;

/* Dtype and shape: f32[4,3]. */
typedef struct dt__array_text {
    dt_dtype dtype;
    int n_dims;
    int64_t shape[DT_SPEC_MAX_DIMS];
} dt__array_text;
/* Parses one at the cursor. */
dt_status dt__cursor_array(dt__cursor *cursor, dt__array_text *out);

/* Parses one placement at the cursor. */
dt_status dt__cursor_placement(dt__cursor *cursor, dt__arena *arena, dt_placement *out);
/* Parses placements at the cursor, up to the first placement that no comma follows. */
dt_status dt__cursor_placements(dt__cursor *cursor, dt__arena *arena, dt__placement_list *out);
/* Parses all of the text as a list. */
dt_status dt__placement_list_parse(dt__arena *arena, const char *text, dt__placement_list *out);
/* Parses all of the text; extents belong to the arena. Refuses names, for want of a mesh. */
dt_status dt__placements_parse(dt__arena *arena, const char *text, int *n, dt_placement **out);
/* Parses all of the text for a mesh. Mesh dims that a named list leaves out are placed as `others` has them; NULL:
 * Replicate, which is refused for a stage dim. */
dt_status dt__placements_parse_on(dt__arena *arena, const char *text, dt_mesh *mesh, const dt_placement *others,
                                  int *n, dt_placement **out);
/* The placements of a list that was parsed, one per mesh dim; those of a list without names are as they are. */
dt_status dt__placements_resolve_names(dt__arena *arena, const dt__placement_list *list, dt_mesh *mesh,
                                       const dt_placement *others, int *n, dt_placement **out);
/* The mesh dim of pipeline stages, by its name pp; -1: none. */
int dt__stage_dim(const dt_mesh *mesh);

typedef struct dt__sink {
    char *chars; /* NUL-terminated if capacity > 0 */
    size_t capacity;
    size_t n_chars; /* of the entire text */
} dt__sink;

dt__sink dt__sink_new(size_t capacity, char *chars);
void dt__sink_add(dt__sink *sink, const char *format, ...) DT_PRINTF(2);
void dt__sink_add_placements(dt__sink *sink, int n, const dt_placement *placements);

#endif
