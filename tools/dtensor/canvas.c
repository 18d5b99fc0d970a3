/* SPDX-License-Identifier: Apache-2.0
 *
 * Characters in a rectangle. A cell with lines keeps the directions in which they leave it, so that crossings come
 * out right whatever is drawn first.
 */
#include "canvas.h"

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

struct canvas_cell {
    char letter;        /* 0: none */
    unsigned char line; /* directions */
    unsigned char ink;  /* 0: none */
};

/* By directions: UP 1, DOWN 2, LEFT 4, RIGHT 8. */
static const char *const box_lines[16] = {" ", "│", "│", "│", "─", "┘", "┐", "┤",
                                          "─", "└", "┌", "├", "─", "┴", "┬", "┼"};
static const char *const ascii_lines[16] = {" ", "|", "|", "|", "-", "+", "+", "+",
                                            "-", "+", "+", "+", "-", "+", "+", "+"};

/* Light backgrounds of the 256-colour table. The number is prime, so that rows of equal length do not line up. */
static const unsigned char inks[] = {153, 223, 157, 217, 189, 229, 159, 216, 151, 225, 187, 183, 152};
enum { N_INKS = sizeof inks / sizeof *inks };

canvas canvas_new(dt__arena *arena, int width, int height) {
    return (canvas){width, height, DT__NEW_ARRAY(arena, struct canvas_cell, (size_t)width * (size_t)height)};
}

/* NULL outside of the canvas. */
static struct canvas_cell *at(const canvas *self, int x, int y) {
    bool inside = x >= 0 && y >= 0 && x < self->width && y < self->height;
    return inside ? &self->cells[(size_t)y * (size_t)self->width + (size_t)x] : NULL;
}

static void add_line(canvas *self, int x, int y, int directions) {
    struct canvas_cell *cell = at(self, x, y);
    if (cell)
        cell->line |= (unsigned char)directions;
}

void canvas_horizontal(canvas *self, int x0, int x1, int y) {
    for (int x = x0; x <= x1; x++)
        add_line(self, x, y, (x > x0 ? LEFT : 0) | (x < x1 ? RIGHT : 0));
}

void canvas_vertical(canvas *self, int x, int y0, int y1) {
    for (int y = y0; y <= y1; y++)
        add_line(self, x, y, (y > y0 ? UP : 0) | (y < y1 ? DOWN : 0));
}

void canvas_write(canvas *self, int x, int y, const char *ascii) {
    for (; *ascii; ascii++, x++) {
        struct canvas_cell *cell = at(self, x, y);
        if (cell)
            cell->letter = *ascii;
    }
}

void canvas_fill(canvas *self, int x0, int y0, int x1, int y1, int ink) {
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            struct canvas_cell *cell = at(self, x, y);
            if (cell)
                cell->ink = (unsigned char)(1 + ink % N_INKS);
        }
}

static bool is_blank(const struct canvas_cell *cell, const canvas_style *style) {
    return (!cell->letter || cell->letter == ' ') && !cell->line && !(style->colour && cell->ink);
}

static void print_line(const canvas *self, const canvas_style *style, int y, dt__text *out) {
    int end = self->width, ink = 0;
    while (end > 0 && is_blank(at(self, end - 1, y), style))
        end--;
    for (int x = 0; x < end; x++) {
        const struct canvas_cell *cell = at(self, x, y);
        if (style->colour && cell->ink != ink) {
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

void canvas_print(const canvas *self, const canvas_style *style, dt__text *out) {
    for (int y = 0; y < self->height; y++)
        print_line(self, style, y, out);
}
