/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables: all rows are kept until they are printed, because a column is as wide as its widest cell.
 */
#include "table.h"

#include <string.h>

table table_new(dt__arena *arena, int n_columns) { return (table){.arena = arena, .n_columns = n_columns}; }

dt_status table_add(table *self, const char *const *cells) {
    size_t row_bytes = (size_t)self->n_columns * sizeof *cells;
    if (self->n_rows == self->room) {
        int room = self->room ? self->room * 2 : 16;
        const char **more = DT__NEW_ARRAY(self->arena, const char *, (size_t)room *(size_t)self->n_columns);
        if (!more)
            return DT_ERR_MEMORY;
        if (self->n_rows > 0)
            memcpy(more, self->cells, (size_t)self->n_rows * row_bytes);
        self->cells = more;
        self->room = room;
    }
    for (int i = 0; i < self->n_columns; i++)
        if (!cells[i])
            return dt__fail_memory(self->arena->ctx, 0, "a table");
    memcpy(self->cells + (size_t)self->n_rows++ * (size_t)self->n_columns, cells, row_bytes);
    return DT_OK;
}

static const char *cell(const table *self, int row, int column) {
    return self->cells[(size_t)row * (size_t)self->n_columns + (size_t)column];
}

void table_print(const table *self, dt__text *out) {
    for (int row = 0; row < self->n_rows; row++) {
        int blanks = 2;
        for (int column = 0; column < self->n_columns; column++) {
            size_t width = 0, length = strlen(cell(self, row, column));
            for (int other = 0; other < self->n_rows; other++)
                width = strlen(cell(self, other, column)) > width ? strlen(cell(self, other, column)) : width;
            if (length > 0)
                dt__text_add(out, "%*s%s", blanks, "", cell(self, row, column));
            blanks = (int)(width - length) + (length > 0 ? 2 : blanks + 2);
        }
        dt__text_add(out, "\n");
    }
}
