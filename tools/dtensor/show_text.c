/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures in characters.
 *
 *        0     4     8        index at which a column begins
 *      0 +-----+-----+
 *        | 0,1 | 2,3 |        who holds it
 *      2 +-----+-----+        index at which a row begins
 */
#include "show_text.h"

#include "panel.h"

#include <stdio.h>
#include <string.h>

enum { INDEX_ROOM = 24 };

static void write_index(canvas *sheet, int x, int y, int64_t index, int width) {
    char digits[INDEX_ROOM];
    snprintf(digits, sizeof digits, "%*lld", width, (long long)index);
    canvas_write(sheet, x, y, digits);
}

/* Centred; what does not fit into the block's lines ends in two dots. */
static void write_label(canvas *sheet, const char *label, int x, int y, int width, int height) {
    int n_lines = panel_label_lines(label, width - 2);
    y += (height - n_lines) / 2;
    for (int i = 0; i < n_lines; i++) {
        const char *begin;
        int n = panel_label_line(&label, width - 2, &begin);
        char line[256];
        snprintf(line, sizeof line, "%.*s", n, i + 1 == n_lines && *label ? ".." : begin);
        canvas_write(sheet, x + (width - (int)strlen(line)) / 2, y + i, line);
    }
}

/* The frame of a panel on its sheet: line 0 holds the indices, line 1 is the frame's top, `left` its left side. */
typedef struct frame {
    canvas sheet;
    const grid *drawn;
    const panel *shown;
    int left;
} frame;

static void draw_column(frame *self, int i, int x) {
    const panel *shown = self->shown;
    for (int row = 0, y = 2; row < self->drawn->rows.n_pieces; y += shown->heights[row++] + shown->row_rule) {
        int block = grid_block(self->drawn, shown->slice, row, shown->first + i);
        canvas_fill(&self->sheet, x, y, x + shown->widths[i] - 1, y + shown->heights[row] - 1, block);
        write_label(&self->sheet, self->drawn->labels[block], x, y, shown->widths[i], shown->heights[row]);
    }
}

static void draw_columns(frame *self) {
    const panel *shown = self->shown;
    const grid_axis *columns = &self->drawn->columns;
    for (int i = 0, x = self->left; i <= shown->n; x += shown->widths[i++] + 1) {
        canvas_vertical(&self->sheet, x, 1, shown->height + 2);
        if (columns->tensor_dim >= 0)
            write_index(&self->sheet, x, 0, columns->cuts[shown->first + i], 0);
        if (i == shown->n)
            break;
        draw_column(self, i, x + 1);
    }
}

/* A row's index stands at the line above it, or, where rows are not ruled off, at its first line. */
static void draw_rows(frame *self) {
    const panel *shown = self->shown;
    const grid_axis *rows = &self->drawn->rows;
    int right = self->left + shown->width + 1;
    canvas_horizontal(&self->sheet, self->left, right, 1);
    canvas_horizontal(&self->sheet, self->left, right, shown->height + 2);
    for (int row = 0, y = 2 - shown->row_rule; row <= rows->n_pieces; y += shown->heights[row++] + shown->row_rule) {
        if (shown->row_rule)
            canvas_horizontal(&self->sheet, self->left, right, y);
        if (rows->tensor_dim >= 0)
            write_index(&self->sheet, 0, y, rows->cuts[row], self->left - 1);
        if (row == rows->n_pieces)
            break;
    }
}

static dt_status draw_panel(const grid *drawn, const panel *shown, int left, const canvas_style *style,
                            dt__arena *arena, dt__text *out) {
    frame self = {.drawn = drawn, .shown = shown, .left = left};
    self.sheet = canvas_new(arena, left + shown->width + 2 + INDEX_ROOM, shown->height + 3);
    if (!self.sheet.cells)
        return DT_ERR_MEMORY;
    draw_columns(&self);
    draw_rows(&self);
    canvas_print(&self.sheet, style, out);
    return dt__text_status(out);
}

static dt_status draw_slice(const grid *drawn, int slice, const canvas_style *style, dt__arena *arena,
                            dt__text *out) {
    const grid_axis *slices = &drawn->slices, *rows = &drawn->rows;
    int left = rows->tensor_dim < 0 ? 2 : panel_index_length(rows->cuts[rows->n_pieces]) + 1;
    int right = panel_index_length(drawn->columns.cuts[drawn->columns.n_pieces]); /* of the last index */
    const panel_metrics metrics = {.room = style->width - left - 1 - right,
                                   .height = 16,
                                   .min_height = 3,
                                   .character = 1,
                                   .line = 1,
                                   .index_character = 1,
                                   .padding_across = 2,
                                   .rule = 1,
                                   .aspect = 2,
                                   .max_ruled_rows = 16};
    if (slices->tensor_dim >= 0)
        dt__text_add(out, "dim %d, %lld:%lld%s\n", slices->tensor_dim, (long long)slices->cuts[slice],
                     (long long)slices->cuts[slice + 1], slices->n_pieces == 1 ? " (all of it)" : "");
    panel *shown = DT__NEW_ARRAY(arena, panel, drawn->columns.n_pieces);
    if (!shown)
        return DT_ERR_MEMORY;
    int n_panels = panel_fit(drawn, slice, &metrics, shown);
    for (int i = 0; i < n_panels; i++)
        DT__TRY(draw_panel(drawn, &shown[i], left, style, arena, out));
    return DT_OK;
}

dt_status show_text_picture(const grid *drawn, const canvas_style *style, dt__arena *arena, dt__text *out) {
    if (drawn->rows.tensor_dim >= 0)
        dt__text_add(out, "dim %d down, dim %d across\n", drawn->rows.tensor_dim, drawn->columns.tensor_dim);
    else if (drawn->columns.tensor_dim >= 0)
        dt__text_add(out, "dim %d across\n", drawn->columns.tensor_dim);
    else
        dt__text_add(out, "one value\n");
    for (int slice = 0; slice < drawn->slices.n_pieces; slice++)
        DT__TRY(draw_slice(drawn, slice, style, arena, out));
    return DT_OK;
}
