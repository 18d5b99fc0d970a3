/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures in characters. A cell with lines keeps the directions in which they leave it, so that crossings are right
 * whatever is drawn first.
 *
 *        0     4     8        index at which a column begins
 *      0 +-----+-----+
 *        | 0,1 | 2,3 |        ranks that hold the block
 *      2 +-----+-----+        index at which a row begins
 */
#include "show_text.h"

#include <stdio.h>
#include <string.h>

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

typedef struct canvas_cell {
    char letter;        /* 0: none */
    unsigned char line; /* directions */
    unsigned char ink;  /* 0: none */
} canvas_cell;

/* A sheet of characters. */
typedef struct canvas {
    int width, height;
    canvas_cell *cells; /* row-major, in the arena; NULL when memory is out */
} canvas;

/* By directions: UP 1, DOWN 2, LEFT 4, RIGHT 8. */
static const char *const box_lines[16] = {" ", "│", "│", "│", "─", "┘", "┐", "┤",
                                          "─", "└", "┌", "├", "─", "┴", "┬", "┼"};
static const char *const ascii_lines[16] = {" ", "|", "|", "|", "-", "+", "+", "+",
                                            "-", "+", "+", "+", "-", "+", "+", "+"};

/* Light backgrounds of the 256-color table. The number is prime, so that rows of equal length do not line up. */
static const unsigned char inks[] = {153, 223, 157, 217, 189, 229, 159, 216, 151, 225, 187, 183, 152};
enum { N_INKS = sizeof inks / sizeof *inks };

static canvas canvas_new(dt__arena *arena, int width, int height) {
    return (canvas){width, height, DT__NEW_ARRAY(arena, canvas_cell, (size_t)width * (size_t)height)};
}

/* The cell, or NULL outside of the canvas, where nothing is drawn. */
static canvas_cell *at(const canvas *self, int x, int y) {
    bool inside = x >= 0 && y >= 0 && x < self->width && y < self->height;
    return inside ? &self->cells[(size_t)y * (size_t)self->width + (size_t)x] : NULL;
}

static void add_line(canvas *self, int x, int y, int directions) {
    canvas_cell *cell = at(self, x, y);
    if (cell)
        cell->line |= (unsigned char)directions;
}

/* Lines include both ends. */
static void canvas_horizontal(canvas *self, int x0, int x1, int y) {
    for (int x = x0; x <= x1; x++)
        add_line(self, x, y, (x > x0 ? LEFT : 0) | (x < x1 ? RIGHT : 0));
}

static void canvas_vertical(canvas *self, int x, int y0, int y1) {
    for (int y = y0; y <= y1; y++)
        add_line(self, x, y, (y > y0 ? UP : 0) | (y < y1 ? DOWN : 0));
}

static void canvas_write(canvas *self, int x, int y, const char *ascii) {
    for (; *ascii; ascii++, x++) {
        canvas_cell *cell = at(self, x, y);
        if (cell)
            cell->letter = *ascii;
    }
}

/* Both corners are inside; inks count from 0 and repeat. */
static void canvas_fill(canvas *self, int x0, int y0, int x1, int y1, int ink) {
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            canvas_cell *cell = at(self, x, y);
            if (cell)
                cell->ink = (unsigned char)(1 + ink % N_INKS);
        }
}

static bool is_blank(const canvas_cell *cell, const text_style *style) {
    return (!cell->letter || cell->letter == ' ') && !cell->line && !(style->color && cell->ink);
}

static void print_line(const canvas *self, const text_style *style, int y, dt__text *out) {
    int end = self->width, ink = 0;
    while (end > 0 && is_blank(at(self, end - 1, y), style))
        end--;
    for (int x = 0; x < end; x++) {
        const canvas_cell *cell = at(self, x, y);
        if (style->color && cell->ink != ink) {
            ink = cell->ink;
            if (ink)
                dt__text_add(out, "\033[38;5;16;48;5;%dm", inks[ink - 1]);
            else
                dt__text_add(out, "\033[0m");
        }
        if (cell->letter)
            dt__text_add(out, "%c", cell->letter);
        else
            dt__text_add(out, "%s", (style->utf8 ? box_lines : ascii_lines)[cell->line]);
    }
    dt__text_add(out, ink ? "\033[0m\n" : "\n");
}

static void canvas_print(const canvas *self, const text_style *style, dt__text *out) {
    for (int y = 0; y < self->height; y++)
        print_line(self, style, y, out);
}

enum { INDEX_CHARS = 24 };

static void write_index(canvas *sheet, int x, int y, int64_t index, int width) {
    char digits[INDEX_CHARS];
    snprintf(digits, sizeof digits, "%*lld", width, (long long)index);
    canvas_write(sheet, x, y, digits);
}

/* Centered; what does not fit into the block's lines ends in two dots. */
static void write_label(canvas *sheet, const char *label, int x, int y, int width, int height) {
    int n_lines = dt__panel_label_lines(label, width - 2);
    y += (height - n_lines) / 2;
    for (int i = 0; i < n_lines; i++) {
        const char *begin;
        int n = dt__panel_label_line(&label, width - 2, &begin);
        char line[256];
        snprintf(line, sizeof line, "%.*s", n, i + 1 == n_lines && *label ? ".." : begin);
        canvas_write(sheet, x + (width - (int)strlen(line)) / 2, y + i, line);
    }
}

/* The frame of a panel on its sheet: line 0 has the indices, line 1 is the frame's top, `left` its left side. */
typedef struct frame {
    canvas sheet;
    const grid *drawn;
    const panel *shown;
    int left;
} frame;

static void draw_column(frame *self, int i, int x) {
    const panel *shown = self->shown;
    for (int row = 0, y = 2; row < self->drawn->rows.n_pieces; y += shown->heights[row++] + shown->row_rule) {
        int block = dt__grid_block(self->drawn, shown->slice, row, shown->first + i);
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

/* A row's index is written at the line above it, or at its first line where there are no lines between rows. */
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

static dt_status draw_panel(const grid *drawn, const panel *shown, int left, const text_style *style,
                            dt__arena *arena, dt__text *out) {
    frame self = {.drawn = drawn, .shown = shown, .left = left};
    self.sheet = canvas_new(arena, left + shown->width + 2 + INDEX_CHARS, shown->height + 3);
    if (!self.sheet.cells)
        return DT_ERR_MEMORY;
    draw_columns(&self);
    draw_rows(&self);
    canvas_print(&self.sheet, style, out);
    return dt__text_status(out);
}

static dt_status draw_slice(const grid *drawn, int slice, const text_style *style, dt__arena *arena, dt__text *out) {
    const grid_axis *slices = &drawn->slices, *rows = &drawn->rows;
    int left = rows->tensor_dim < 0 ? 2 : dt__panel_index_length(rows->cuts[rows->n_pieces]) + 1;
    int right = dt__panel_index_length(drawn->columns.cuts[drawn->columns.n_pieces]); /* of the last index */
    const panel_metrics metrics = {.max_width = style->width - left - 1 - right,
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
    int n_panels = dt__panel_fit(drawn, slice, &metrics, shown);
    for (int i = 0; i < n_panels; i++)
        DT__TRY(draw_panel(drawn, &shown[i], left, style, arena, out));
    return DT_OK;
}

dt_status show_text_picture(const grid *drawn, const text_style *style, dt__arena *arena, dt__text *out) {
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
