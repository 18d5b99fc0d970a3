/* SPDX-License-Identifier: Apache-2.0
 *
 * A sheet of characters to draw on before it is printed: lines that join where they meet, text, and coloured areas.
 * Prints with box characters or in plain ASCII, with or without colour.
 */
#ifndef TOOLS_DTENSOR_CANVAS_H
#define TOOLS_DTENSOR_CANVAS_H

#include "base/arena.h"
#include "base/text.h"

typedef struct canvas_style {
    bool utf8, colour;
    int width; /* columns of the terminal */
} canvas_style;

struct canvas_cell;
typedef struct canvas {
    int width, height;
    struct canvas_cell *cells; /* row-major, in the arena */
} canvas;

/* cells is NULL when memory is out. */
canvas canvas_new(dt__arena *arena, int width, int height);
/* Lines include both ends. What lies outside of the canvas is not drawn. */
void canvas_horizontal(canvas *self, int x0, int x1, int y);
void canvas_vertical(canvas *self, int x, int y0, int y1);
void canvas_write(canvas *self, int x, int y, const char *ascii);
/* Colours the area x0 .. x1, y0 .. y1 (inclusive); ink counts from 0 and repeats after the palette's length. */
void canvas_fill(canvas *self, int x0, int y0, int x1, int y1, int ink);
/* Appends all lines, without blanks at their ends. */
void canvas_print(const canvas *self, const canvas_style *style, dt__text *out);

#endif
