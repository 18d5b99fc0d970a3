/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of texts whose columns line up.
 */
#ifndef TOOLS_DTENSOR_TABLE_H
#define TOOLS_DTENSOR_TABLE_H

#include "base/arena.h"
#include "base/text.h"

typedef struct table {
    dt__arena *arena;
    int n_columns, n_rows, room;
    const char **cells; /* row-major, in the arena */
} table;

table table_new(dt__arena *arena, int n_columns);
/* Adds a row; the texts must live as long as the table. A NULL text, or no memory, is an error that is kept. */
dt_status table_add(table *self, const char *const *cells);
/* Appends the rows, indented by two blanks, with two blanks between columns. */
void table_print(const table *self, dt__text *out);

#endif
