/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements that all SVG documents share.
 */
#include "show/svg.h"

#include "show/labels.h"

#include <string.h>

static const char *const inks[] = {"#afd7ff", "#ffd7af", "#afffaf", "#ffafaf", "#d7d7ff", "#ffffaf", "#afffff",
                                   "#ffaf87", "#afd7af", "#ffd7ff", "#d7d7af", "#d7afff", "#afd7d7"};
enum { N_INKS = sizeof inks / sizeof *inks };
static const char *const dark_inks[N_INKS] = {"#3a87c8", "#d98a2b", "#3aa83a", "#d04f4f", "#7a7ad8",
                                              "#b8a800", "#1fa3a3", "#e0703a", "#5a965a", "#c060c0",
                                              "#8f8f3f", "#9a5fd0", "#4f9a9a"};

const char *dt__svg_ink(int64_t i) { return inks[i % N_INKS]; }
const char *dt__svg_dark_ink(int64_t i) { return dark_inks[i % N_INKS]; }

/* Escapes the characters that XML reserves; an incomplete character at the end is left out. */
static void svg_add_escaped(dt__text *out, const char *text, size_t n) {
    for (size_t i = 0, length; i < n; i += length ? length : 1) {
        const char *entity = text[i] == '&' ? "&amp;" : text[i] == '<' ? "&lt;" : text[i] == '>' ? "&gt;" : NULL;
        length = dt__utf8_length(text + i);
        if (entity)
            dt__text_add(out, "%s", entity);
        else if ((unsigned char)text[i] >= 0x20 && length <= n - i)
            dt__text_add_chars(out, &text[i], length);
    }
}

void dt__svg_add_text(dt__text *out, int x, int y, const char *class_name, const char *text, size_t n) {
    dt__text_add(out, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class_name);
    svg_add_escaped(out, text, n);
    dt__text_add(out, "</text>\n");
}

/* Characters of the title on one line: up to a blank or a comma, if there is one in its second half. */
static size_t title_line(const char *title, int width) {
    size_t length = strlen(title), max = (size_t)(width / SVG_TITLE_CHARACTER);
    if (length <= max)
        return length;
    for (size_t n = max; n > max / 2; n--)
        if (title[n - 1] == ' ' || title[n - 1] == ',')
            return n;
    return max;
}

int dt__svg_title_lines(const char *title, int width) {
    int n = 0;
    for (; *title; title += title_line(title, width))
        n++;
    return n;
}

int dt__svg_add_title(dt__text *out, int x, int y, int width, const char *title) {
    for (size_t n; *title; title += n, y += SVG_TITLE_LINE) {
        n = title_line(title, width);
        dt__svg_add_text(out, x, y, "title", title, n);
    }
    return y;
}

dt_status dt__svg_legend_add(svg_legend *self, const char *line) {
    if (!line)
        return DT_ERR_MEMORY;
    self->lines[self->n++] = line;
    int width = (int)strlen(line) * SVG_TEXT_CHARACTER;
    self->width = width > self->width ? width : self->width;
    return DT_OK;
}

void dt__svg_legend_draw(const svg_legend *self, int x, int y, dt__text *out) {
    for (int i = 0; i < self->n; i++)
        dt__svg_add_text(out, x, y + i * SVG_LINE, "note", self->lines[i], strlen(self->lines[i]));
}

static const char style[] =
    "<style>\n"
    "text { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 12px; fill: #222 }\n"
    ".title { font-size: 16px; font-weight: bold }\n"
    ".note { fill: #555 }\n"
    ".slice { font-weight: bold }\n"
    ".label { text-anchor: middle }\n"
    ".index { font-size: 11px; fill: #555; text-anchor: middle }\n"
    ".end { text-anchor: end }\n"
    ".small { font-size: 11px; fill: #555 }\n"
    ".block { stroke: #333; stroke-width: 1 }\n"
    "</style>\n"
    "<defs><pattern id=\"partial\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\n"
    "<path d=\"M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4\" stroke=\"#000\" stroke-opacity=\"0.18\"/></pattern></defs>\n";

void dt__svg_begin(dt__text *out, int width, int height, const char *title) {
    dt__text_add(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                 "xml:space=\"preserve\" role=\"img\">\n<title>",
                 width, height, width, height);
    svg_add_escaped(out, title, strlen(title));
    dt__text_add(out, "</title>\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", style, width, height);
}

void dt__svg_end(dt__text *out) { dt__text_add(out, "</svg>\n"); }
