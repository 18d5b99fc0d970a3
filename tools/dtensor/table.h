/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts for people: tables whose columns line up, and labels for sets of ranks, sizes, ranges, times and values that
 * have a text form. Labels are allocated in the arena; NULL when memory is out.
 */
#ifndef TOOLS_DTENSOR_TABLE_H
#define TOOLS_DTENSOR_TABLE_H

#include "base/arena.h"
#include "base/text.h"
#include "dtensor/mesh.h"
#include "dtensor/spec.h"
#include "rules/rules.h"

/* Ranges of one tensor dim, ascending, none touching the next. */
typedef struct run_list {
    const dt_run *runs;
    int64_t n;
} run_list;

typedef struct table {
    dt__arena *arena;
    int n_columns, n_rows, capacity;
    const char **cells; /* row-major, in the arena */
} table;

table table_new(dt__arena *arena, int n_columns);
/* Adds a row; the texts must live as long as the table. A NULL text is an error: out of memory. */
dt_status table_add(table *self, const char *const *cells);
/* Appends the rows, indented by two blanks, with two blanks between columns. */
void table_print(const table *self, dt__text *out);

/* Moves a text into the arena. */
const char *label_keep(dt__text *text, dt__arena *arena);
const char *label_format(dt__arena *arena, const char *format, ...) DT_PRINTF(2);
/* "0-3", "0,2,5", "0,8,..,56"; ranks are sorted in place. */
const char *label_ranks(int64_t *ranks, int64_t n, dt__arena *arena);
void label_add_ranks(dt__text *text, const int64_t *sorted_ranks, int64_t n);
/* "0:512"; several runs are joined by blanks, of many only the first are shown. */
const char *label_runs(const dt_run *runs, int64_t n, dt__arena *arena);
/* The text forms of a spec and of placements, however long. */
const char *label_spec(const dt_spec *spec, dt__arena *arena);
const char *label_placements(int n, const dt_placement *placements, dt__arena *arena);
/* The name of a mesh dim, or its number where it has none. */
const char *label_mesh_dim(const dt_mesh *mesh, int dim, dt__arena *arena);
/* The name of the parameter that an input of a call belongs to: "self", or "tensors[1]". */
const char *label_input(const dt__placed_call *placed, int input, dt__arena *arena);
/* "1.5 MiB" */
const char *label_bytes(int64_t n_bytes, dt__arena *arena);
/* "12.5 us", "3 ms", "1.2 s" */
const char *label_time(double us, dt__arena *arena);
/* "[512,512]" */
const char *label_shape(const int64_t *shape, int n, dt__arena *arena);

/* Bytes of the UTF-8 character at the beginning of the text, or 0 where there is none: overlong forms, surrogates and
 * values beyond U+10FFFF are none. The text ends with a NUL, so no byte behind the end is read. */
size_t utf8_length(const char *text);

#endif
