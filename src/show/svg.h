/* SPDX-License-Identifier: Apache-2.0
 *
 * What all SVG pictures share: the frame of a document with its style, texts, a legend, and the colors of ranks and
 * blocks. Texts are in a fixed-width font, so that widths are known before anything is drawn.
 */
#ifndef DT_SHOW_SVG_H
#define DT_SHOW_SVG_H

#include "base/text.h"
#include "dtensor/spec.h"

enum {
    SVG_TITLE_CHARACTER = 10, /* widths at their font sizes */
    SVG_TEXT_CHARACTER = 8,
    SVG_INDEX_CHARACTER = 7,
    SVG_LINE = 20,       /* of notes */
    SVG_TITLE_LINE = 22, /* of the title */
};

/* Fill of things that are hatched because they are partial. */
#define SVG_HATCHED "url(#partial)"

/* Begins a document of this size; its title is what a viewer calls it. */
void dt__svg_begin(dt__text *out, int width, int height, const char *title);
void dt__svg_end(dt__text *out);

/* A text element; classes: title, note, slice, label (centered), index (small, centered), index end, small. */
void dt__svg_add_text(dt__text *out, int x, int y, const char *class_name, const char *text, size_t n);
/* The title in as many lines as it needs at this width; returns the y of the next line. */
int dt__svg_add_title(dt__text *out, int x, int y, int width, const char *title);
int dt__svg_title_lines(const char *title, int width);

/* Color number i, and a darker one for lines; they repeat. */
const char *dt__svg_ink(int64_t i);
const char *dt__svg_dark_ink(int64_t i);

/* Lines of text below a picture. */
typedef struct svg_legend {
    const char *lines[DT_SPEC_MAX_DIMS + 8];
    int n, width;
} svg_legend;

/* Adds a line; NULL is an error: out of memory. */
dt_status dt__svg_legend_add(svg_legend *self, const char *line);
void dt__svg_legend_draw(const svg_legend *self, int x, int y, dt__text *out);

#endif
