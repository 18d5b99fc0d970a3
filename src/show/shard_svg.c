/* SPDX-License-Identifier: Apache-2.0
 *
 * SVG pictures: title, panels from left to right and then below, legend. Positions are computed before anything is
 * written, because a document begins with its size.
 */
#include "show/labels.h"
#include "show/show.h"
#include "show/svg.h"

#include <string.h>

enum {
    EDGE = 20,         /* around everything */
    MAX_WIDTH = 1000,  /* panels beyond go below */
    GAP = 28,          /* between panels */
    INDEX_HEIGHT = 20, /* above a panel */
    TITLE_HEIGHT = 20, /* of a slice */
};

static const panel_metrics metrics = {
    .max_width = MAX_WIDTH - 80,
    .height = 320,
    .min_height = 64,
    .character = SVG_TEXT_CHARACTER,
    .line = 16,
    .index_character = SVG_INDEX_CHARACTER,
    .padding_across = 14,
    .padding_down = 8,
    .aspect = 1,
    .max_ruled_rows = GRID_MAX_PIECES,
};

/* A panel and where its frame begins. */
typedef struct placed {
    panel shown;
    int x, y;
} placed;

typedef struct picture {
    const holdings *held;
    const grid *drawn;
    int64_t position; /* whose blocks are not faded, or -1 */
    dt__text *out;
    placed *panels;
    int n_panels;
    panel *slice;      /* the panels of one slice */
    int width, bottom; /* of the panels placed so far */
} picture;

static void add_index(dt__text *out, int x, int y, const char *class_name, int64_t index) {
    dt__text_add(out, "<text x=\"%d\" y=\"%d\" class=\"%s\">%lld</text>\n", x, y, class_name, (long long)index);
}

static void add_label(dt__text *out, const char *label, int x, int y, int width, int height) {
    int n_characters = (width - metrics.padding_across) / metrics.character;
    int n_lines = dt__panel_label_lines(label, n_characters);
    int baseline = y + (height - n_lines * metrics.line) / 2 + 12;
    for (int i = 0; i < n_lines; i++) {
        const char *begin;
        int n = dt__panel_label_line(&label, n_characters, &begin);
        bool cut = i + 1 == n_lines && *label;
        dt__svg_add_text(out, x + width / 2, baseline + i * metrics.line, "label", cut ? ".." : begin,
                         cut ? 2 : (size_t)n);
    }
}

static bool is_faded(const picture *self, int block) {
    return self->position >= 0 && !(self->drawn->blocks[block] >> self->position & 1);
}

static void draw_block(const picture *self, int block, int x, int y, int width, int height) {
    dt__text_add(self->out, "<g%s>\n", is_faded(self, block) ? " opacity=\"0.25\"" : "");
    dt__text_add(self->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"block\" fill=\"%s\"/>\n", x,
                 y, width, height, dt__svg_ink(block));
    if (dt__holdings_is_partial(self->held))
        dt__text_add(self->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"" SVG_HATCHED "\"/>\n", x,
                     y, width, height);
    add_label(self->out, self->drawn->labels[block], x, y, width, height);
    dt__text_add(self->out, "</g>\n");
}

static void draw_panel(const picture *self, const panel *shown, int x, int y) {
    const grid_axis *rows = &self->drawn->rows, *columns = &self->drawn->columns;
    const grid_axis *slices = &self->drawn->slices;
    if (slices->tensor_dim >= 0)
        dt__text_add(self->out, "<text x=\"%d\" y=\"%d\" class=\"slice\">dim %d, %lld:%lld%s</text>\n", x,
                     y - INDEX_HEIGHT - 5, slices->tensor_dim, (long long)slices->cuts[shown->slice],
                     (long long)slices->cuts[shown->slice + 1], slices->n_pieces == 1 ? " (all of it)" : "");
    for (int i = 0, left = x; i <= shown->n; left += shown->widths[i++]) {
        if (columns->tensor_dim >= 0)
            add_index(self->out, left, y - 8, "index", columns->cuts[shown->first + i]);
        if (i == shown->n)
            break;
        for (int row = 0, top = y; row < rows->n_pieces; top += shown->heights[row++])
            draw_block(self, dt__grid_block(self->drawn, shown->slice, row, shown->first + i), left, top,
                       shown->widths[i], shown->heights[row]);
    }
    for (int row = 0, top = y; row <= rows->n_pieces && rows->tensor_dim >= 0; top += shown->heights[row++]) {
        add_index(self->out, x - 6, top + 4, "index end", rows->cuts[row]);
        if (row == rows->n_pieces)
            break;
    }
}

static int max(int a, int b) { return a > b ? a : b; }

/* Half of the widest index above a panel, which may reach over its edge. */
static int overhang(const grid *drawn) {
    const grid_axis *columns = &drawn->columns;
    return columns->tensor_dim < 0
               ? 0
               : dt__panel_index_length(columns->cuts[columns->n_pieces]) * SVG_INDEX_CHARACTER / 2;
}

/* Width left of a frame. */
static int left_margin(const grid *drawn) {
    const grid_axis *rows = &drawn->rows;
    int index =
        rows->tensor_dim < 0 ? 0 : dt__panel_index_length(rows->cuts[rows->n_pieces]) * SVG_INDEX_CHARACTER + 8;
    return max(index, overhang(drawn));
}

/* Puts panels side by side, and below where the line is full. */
static void place_panels(picture *self, int top) {
    const grid *drawn = self->drawn;
    int head = INDEX_HEIGHT + (drawn->slices.tensor_dim >= 0 ? TITLE_HEIGHT : 0);
    int x = EDGE, y = top, line_height = 0;
    for (int slice = 0; slice < drawn->slices.n_pieces; slice++) {
        int n = dt__panel_fit(drawn, slice, &metrics, self->slice);
        for (int i = 0; i < n; i++) {
            int width = left_margin(drawn) + self->slice[i].width + max(GAP, overhang(drawn) + 8);
            if (x > EDGE && x + width > MAX_WIDTH) {
                x = EDGE;
                y += line_height;
                line_height = 0;
            }
            self->panels[self->n_panels++] = (placed){self->slice[i], x + left_margin(drawn), y + head};
            x += width;
            self->width = max(self->width, x);
            line_height = max(line_height, head + self->slice[i].height + GAP);
        }
    }
    self->bottom = y + line_height;
}

enum { TITLE_WIDTH = MAX_WIDTH - 2 * EDGE };

static dt_status explain_mesh_dims(const holdings *held, dt__arena *arena, svg_legend *out) {
    int name = 0, placement = 0;
    for (int i = 0; i < held->n_mesh_dims; i++) {
        name = max(name, (int)strlen(held->mesh_dims[i].name));
        placement = max(placement, (int)strlen(held->mesh_dims[i].placement));
    }
    for (int i = 0; i < held->n_mesh_dims; i++) {
        const holdings_mesh_dim *dim = &held->mesh_dims[i];
        DT__TRY(dt__svg_legend_add(out, dt__label_format(arena, "%-*s  %-*s  %s", name, dim->name, placement,
                                                         dim->placement, dim->meaning)));
    }
    return DT_OK;
}

static dt_status explain_axes(const grid *drawn, dt__arena *arena, svg_legend *out) {
    if (drawn->columns.tensor_dim < 0)
        return DT_OK;
    dt__text text = dt__text_new(arena->ctx);
    if (drawn->rows.tensor_dim >= 0)
        dt__text_add(&text, "dim %d down, ", drawn->rows.tensor_dim);
    dt__text_add(&text, "dim %d across; in a block: the ranks that hold it", drawn->columns.tensor_dim);
    return dt__svg_legend_add(out, dt__label_keep(&text, arena));
}

static dt_status explain_empty(const holdings *held, const grid *drawn, dt__arena *arena, svg_legend *out) {
    const char *ranks = NULL;
    DT__TRY(dt__grid_empty_ranks(held, drawn, arena, &ranks));
    if (!ranks)
        return DT_OK;
    return dt__svg_legend_add(out, dt__label_format(arena, "no elements: %s", ranks));
}

static dt_status explain(const holdings *held, const grid *drawn, dt__arena *arena, svg_legend *out) {
    *out = (svg_legend){0};
    DT__TRY(explain_mesh_dims(held, arena, out));
    DT__TRY(explain_axes(drawn, arena, out));
    if (dt__holdings_is_partial(held))
        DT__TRY(dt__svg_legend_add(out, "hatched: partial values of the ranks in parentheses, still to be reduced"));
    return explain_empty(held, drawn, arena, out);
}

static void write_document(const picture *self, const svg_legend *notes) {
    int height = self->bottom + notes->n * SVG_LINE + EDGE;
    dt__svg_begin(self->out, self->width, height, self->held->spec);
    int y = dt__svg_add_title(self->out, EDGE, EDGE + 14, TITLE_WIDTH, self->held->spec);
    dt__svg_add_text(self->out, EDGE, y - 2, "note", self->held->summary, strlen(self->held->summary));
    for (int i = 0; i < self->n_panels; i++)
        draw_panel(self, &self->panels[i].shown, self->panels[i].x, self->panels[i].y);
    dt__svg_legend_draw(notes, EDGE, self->bottom + 8, self->out);
    dt__svg_end(self->out);
}

dt_status dt__show_svg(const holdings *held, const grid *drawn, int64_t position, dt__arena *arena, dt__text *out) {
    svg_legend notes;
    picture self = {.held = held, .drawn = drawn, .position = position, .out = out};
    self.panels = DT__NEW_ARRAY(arena, placed, drawn->slices.n_pieces * drawn->columns.n_pieces);
    self.slice = DT__NEW_ARRAY(arena, panel, drawn->columns.n_pieces);
    if (!self.panels || !self.slice)
        return DT_ERR_MEMORY;
    DT__TRY(explain(held, drawn, arena, &notes));
    int title = (int)strlen(held->spec) * SVG_TITLE_CHARACTER;
    self.width = max(notes.width, title < TITLE_WIDTH ? title : TITLE_WIDTH) + 2 * EDGE;
    place_panels(&self, EDGE + dt__svg_title_lines(held->spec, TITLE_WIDTH) * SVG_TITLE_LINE + SVG_LINE + 8);
    write_document(&self, &notes);
    return dt__text_status(out);
}
