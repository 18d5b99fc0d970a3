/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps between the names of a model's files and those of a program, as text (dtensor/params.h has the form). Pure: from
 * names and shapes to names, windows and shapes.
 */
#ifndef DT_TRAIN_NAME_MAP_H
#define DT_TRAIN_NAME_MAP_H

#include "base/text.h"
#include "train/stored_files.h"

enum { DT__MAP_MAX_DIMS = 8, DT__MAP_NAME_BYTES = 512 };

/* n, or n times a size by name. */
typedef struct dt__map_bound {
    int64_t n;
    int size; /* of the map; -1: none */
} dt__map_bound;

/* One dim of a slice: all of it, or begin … end - 1. */
typedef struct dt__map_range {
    bool is_given;
    dt__map_bound begin, end;
} dt__map_range;

/* "FROM[ranges] T -> TO = TIED"; a star in both names is the number of a layer. */
typedef struct dt__map_line {
    int line;
    const char *from, *to, *tied; /* tied NULL: none */
    bool has_star, is_optional, transposed;
    int n_ranges;
    dt__map_range ranges[DT__MAP_MAX_DIMS];
} dt__map_line;

/* "NAME = FROM[dim]" */
typedef struct dt__map_size {
    const char *name, *from;
    int dim;
} dt__map_size;

/* "ignore PATTERN", or "prefix TEXT" */
typedef struct dt__map_word {
    int line;
    const char *text;
} dt__map_word;

typedef struct dt__name_map {
    int n_lines, n_sizes, n_ignored, n_prefixes;
    dt__map_line *lines;
    dt__map_size *sizes;
    dt__map_word *ignored, *prefixes;
} dt__name_map;

/* Parses a map, or the name of a built-in one. An error names line and column. In the arena. */
dt_status dt__name_map_parse(dt__arena *arena, const char *text, dt__name_map *out);

/* A parameter that a map makes of stored tensors. */
typedef struct dt__mapped_param {
    const char *name;
    const char *tied;              /* the other name; NULL: it is stored */
    const dt__stored_entry *entry; /* NULL where tied */
    const dt__stored_window *window;
    int n_dims;
    const int64_t *shape;
} dt__mapped_param;

typedef struct dt__mapped_params {
    int n, capacity;
    dt__mapped_param *params;
} dt__mapped_params;

/* The parameters of the files: one per tensor, under its own name, without a map. One error of the call lists all names
 * that are left over or missing. In the arena. */
dt_status dt__name_map_apply(const dt__name_map *self, dt__arena *arena, const dt__stored_files *files,
                             dt__mapped_params *out);

/* The name of a layer: its number in place of the star. */
void dt__map_expand(const char *pattern, int64_t layer, char out[DT__MAP_NAME_BYTES]);
/* The number that a name has where the pattern has its star; -1: it does not match. */
int64_t dt__map_layer(const char *pattern, const char *name);

/* name_map_texts.c: NULL for a name that is not built in. */
const char *dt__name_map_text(const char *name);

#endif
