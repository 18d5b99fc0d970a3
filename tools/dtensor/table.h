/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts for people: tables whose columns line up, lists that are shortened, and labels for sets of ranks, sizes,
 * ranges, times and values that have a text form. Labels are allocated in the arena; NULL when memory is out.
 */
#ifndef TOOLS_DTENSOR_TABLE_H
#define TOOLS_DTENSOR_TABLE_H

#include "base/arena.h"
#include "base/text.h"
#include "dtensor/mesh.h"
#include "dtensor/spec.h"
#include "rules/rules.h"
#include "show/show.h"

/* The labels of the library, for short. */
#define label_keep       dt__label_keep
#define label_format     dt__label_format
#define label_ranks      dt__label_ranks
#define label_add_ranks  dt__label_add_ranks
#define label_runs       dt__label_runs
#define label_spec       dt__label_spec
#define label_placements dt__label_placements
#define label_bytes      dt__label_bytes
#define label_shape      dt__label_shape
#define utf8_length      dt__utf8_length

/* Numbers from 0, with a gap in the middle where there are too many to show. */
enum { MAX_LISTED = 16, LISTED_GAP = -1 };

typedef struct listed {
    int64_t items[MAX_LISTED]; /* numbers, or LISTED_GAP */
    int n;
} listed;

/* All of the numbers below n if these are at most max, which is at most MAX_LISTED; else the first ones, a gap and the
 * last. */
listed list_of(int64_t n, int max);

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

/* The name of a mesh dim, or its number where it has none. */
const char *label_mesh_dim(const dt_mesh *mesh, int dim, dt__arena *arena);
/* The name of the parameter that an input of a call belongs to: "self", or "tensors[1]". */
const char *label_input(const dt__placed_call *placed, int input, dt__arena *arena);
/* "12.5 us", "3 ms", "1.2 s" */
const char *label_time(double us, dt__arena *arena);
#endif
