/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables and labels. A table keeps all rows until it is printed, because a column is as wide as its widest cell.
 */
#include "table.h"

#include "base/quantity.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

listed list_of(int64_t n, int max) {
    listed list = {.n = n < max ? (int)n : max};
    for (int i = 0; i < list.n; i++)
        list.items[i] = i;
    if (n > max) {
        list.items[max - 2] = LISTED_GAP;
        list.items[max - 1] = n - 1;
    }
    return list;
}

table table_new(dt__arena *arena, int n_columns) { return (table){.arena = arena, .n_columns = n_columns}; }

dt_status table_add(table *self, const char *const *cells) {
    size_t row_bytes = (size_t)self->n_columns * sizeof *cells;
    if (self->n_rows == self->capacity) {
        int capacity = self->capacity ? self->capacity * 2 : 16;
        const char **more = DT__NEW_ARRAY(self->arena, const char *, (size_t)capacity *(size_t)self->n_columns);
        if (!more)
            return DT_ERR_MEMORY;
        if (self->n_rows > 0)
            memcpy(more, self->cells, (size_t)self->n_rows * row_bytes);
        self->cells = more;
        self->capacity = capacity;
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

const char *label_input(const dt__placed_call *placed, int input, dt__arena *arena) {
    const dt__signature *signature = &placed->info->schema.signatures[placed->bound.overload];
    for (int p = 0; p < signature->n_params; p++) {
        const dt_arg *arg = &placed->call.args[p];
        if (arg->type == DT_ARG_TENSOR && arg->as.first == input)
            return signature->params[p].name;
        for (int i = 0; arg->type == DT_ARG_TENSORS && i < arg->n; i++)
            if (dt_arg_member(arg, i) == input)
                return label_format(arena, "%s[%d]", signature->params[p].name, i);
    }
    return label_format(arena, "input %d", input + 1);
}

const char *label_mesh_dim(const dt_mesh *mesh, int dim, dt__arena *arena) {
    const char *name = dt_mesh_dim_name(mesh, dim);
    return name ? name : label_format(arena, "%d", dim);
}

const char *label_time(double us, dt__arena *arena) {
    if (us < 1000)
        return label_format(arena, "%.3g us", us);
    return us < 1e6 ? label_format(arena, "%.3g ms", us / 1e3) : label_format(arena, "%.4g s", us / 1e6);
}
