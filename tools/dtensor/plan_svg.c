/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures of plans. A column of boxes for each state, a box for each rank; in a box, a map of the tensor with what
 * the rank holds, colored by the rank that each block came from; between columns, arrows whose widths are bytes, all
 * of one scale. The arrows of a box leave and arrive side by side, so that their sum can be seen.
 */
#include "plan_svg.h"

#include "base/size.h"
#include "show/show.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum {
    EDGE = 20,
    BOX_WIDTH = 184,
    GAP = 236, /* between columns */
    PADDING = 4,
    MAP_WIDTH = 56,
    HEAD_LINES = 3,
    STATE_LINES = 2,
    TIP = 7, /* length of an arrow's head */
    MAX_RUNS = 24,
    MIN_PIECE = 3,
    MAX_ORIGINS = 16,
    LARGE_ROWS = 16,   /* up to so many rows are large */
    MANY_ARROWS = 300, /* with more, those of one rank are highlighted */
    MIN_WIDTH = 640,
};

static const char OTHERS_INK[] = "#e4e4e4";

/* How high a row is, and how many lines of text its boxes have. */
typedef struct row_size {
    int pitch, box, n_lines, line;
} row_size;

static const row_size large_rows = {.pitch = 72, .box = 60, .n_lines = 3, .line = 17};
static const row_size small_rows = {.pitch = 30, .box = 24, .n_lines = 1, .line = 17};

typedef struct drawing {
    const dt_spec *from, *to;
    const plan_svg_texts *texts;
    scene shown;
    row_size size;
    int rows_dim, columns_dim; /* tensor dims of the maps; -1: none */
    int top, width, height;
    double scale; /* pixels per byte */
    dt__arena *arena;
    dt__text *out;
} drawing;

static int max(int a, int b) { return a > b ? a : b; }

static int column_x(int column) { return EDGE + column * (BOX_WIDTH + GAP); }
static int row_y(const drawing *self, int row) { return self->top + row * self->size.pitch; }
static int n_columns(const drawing *self) { return self->shown.plan->n_steps + 1; }

/* The first two tensor dims that something cuts, then any others. */
static void choose_dims(drawing *self) {
    int chosen[2] = {-1, -1}, n = 0, n_dims = self->from->sharding.n_dims;
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < n_dims && n < 2; d++) {
            bool cut = false;
            for (int c = 0; c < n_columns(self); c++) {
                const dt__sharding *state = scene_state(&self->shown, self->from, c);
                cut |= state->first_cut[d] < state->first_cut[d + 1];
            }
            if (cut == (pass == 0) && chosen[0] != d)
                chosen[n++] = d;
        }
    bool turned = n == 2 && chosen[0] > chosen[1];
    self->rows_dim = n == 2 ? chosen[turned] : -1;
    self->columns_dim = n == 2 ? chosen[!turned] : chosen[0];
}

/* Ranges of a dim that two shards have in common; *exact: false where there are too many, which are merged. */
static int common_runs(const dt__shard *a, const dt__shard *b, dt_run *out, bool *exact) {
    dt__overlap_run run;
    int64_t at = 0;
    int n = 0;
    while (dt__overlap_next(a, b, &at, &run)) {
        if (n == MAX_RUNS) {
            *exact = false;
            out[0].end = run.end;
            n = 1;
        }
        if (!*exact)
            out[0].end = run.end;
        else
            out[n++] = (dt_run){.begin = run.begin, .end = run.end};
    }
    return n;
}

typedef struct map_frame {
    double x, y, width, height;
} map_frame;

/* The position of a range along an edge of the map: to scale, but never too small to be visible. */
static void place(dt_run run, double size, double edge, double *at, double *length) {
    *length = (double)(run.end - run.begin) / size * edge;
    *length = *length < MIN_PIECE ? MIN_PIECE : *length;
    *at = (double)run.begin / size * edge;
    *at = *at + *length > edge ? edge - *length : *at;
}

static void draw_piece(const drawing *self, const map_frame *frame, dt_run down, dt_run across, const char *fill,
                       bool exact) {
    const int64_t *shape = self->from->sharding.shape;
    double x, y, width, height;
    place(down, self->rows_dim < 0 ? 1 : (double)shape[self->rows_dim], frame->height, &y, &height);
    place(across, self->columns_dim < 0 ? 1 : (double)shape[self->columns_dim], frame->width, &x, &width);
    bool tiny = width < 2 * MIN_PIECE || height < 2 * MIN_PIECE;
    dt__text_add(
        self->out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" class=\"%s\" fill=\"%s\"%s/>\n",
        frame->x + x, frame->y + y, width, height, tiny ? "tiny" : "piece", fill, exact ? "" : " opacity=\"0.5\"");
}

/* What coordinates a of one sharding and b of another hold in common, on the map. */
static void draw_common(const drawing *self, const map_frame *frame, const dt__sharding *a, const int64_t *at_a,
                        const dt__sharding *b, const int64_t *at_b, const char *fill) {
    dt_run down[MAX_RUNS + 1] = {{.end = 1}}, across[MAX_RUNS + 1] = {{.end = 1}};
    int n_down = 1, n_across = 1;
    bool exact = true, some = true;
    for (int d = 0; d < a->n_dims; d++) {
        dt__shard x, y;
        dt__shard_at(a, d, at_a, &x);
        dt__shard_at(b, d, at_b, &y);
        some = some && dt__overlap_size(&x, &y) > 0;
        if (d == self->rows_dim)
            n_down = common_runs(&x, &y, down, &exact);
        if (d == self->columns_dim)
            n_across = common_runs(&x, &y, across, &exact);
    }
    for (int i = 0; i < n_down && some; i++)
        for (int j = 0; j < n_across; j++)
            draw_piece(self, frame, down[i], across[j], fill, exact);
}

static bool is_partial(const dt__sharding *state) {
    for (int m = 0; m < state->n_mesh_dims; m++)
        if (dt_placement_is_partial(state->placements[m]) && state->mesh[m] > 1)
            return true;
    return false;
}

static void coordinate_at(const drawing *self, int column, int row, int64_t *out) {
    const dt__sharding *state = scene_state(&self->shown, self->from, column);
    dt__coordinate(state->n_mesh_dims, state->mesh, scene_position(&self->shown, column, row), out);
}

static int n_senders(const scene_step *step, int row) {
    int n = 0;
    for (int64_t i = 0; i < step->n_arrows; i++)
        n += step->arrows[i].to == row;
    return n;
}

/* What rank `origin` held before the step and `row` holds after it, in the color of the origin. */
static void draw_origin(const drawing *self, const map_frame *frame, int column, int row, int origin) {
    const dt__transfer *transfer = self->shown.steps[column - 1].step->transfer;
    int64_t own[DT_SPEC_MAX_DIMS], other[DT_SPEC_MAX_DIMS];
    if (scene_position(&self->shown, column - 1, origin) < 0)
        return;
    coordinate_at(self, column, row, own);
    coordinate_at(self, column - 1, origin, other);
    draw_common(self, frame, transfer->before, other, transfer->after, own, dt__svg_ink(origin));
}

/* Blocks by the ranks that they came from: this one, and the others where they are few. */
static void draw_origins(const drawing *self, const map_frame *frame, int column, int row) {
    const scene_step *step = &self->shown.steps[column - 1];
    draw_origin(self, frame, column, row, row);
    for (int64_t i = 0; i < step->n_arrows && n_senders(step, row) <= MAX_ORIGINS; i++)
        if (step->arrows[i].to == row)
            draw_origin(self, frame, column, row, step->arrows[i].from);
}

/* Whether some blocks do not show the rank that they came from. */
static bool hides_origins(const drawing *self) {
    for (int i = 0; i < self->shown.plan->n_steps; i++)
        for (int row = 0; row < self->shown.n_rows; row++)
            if (self->shown.receiver >= 0 || n_senders(&self->shown.steps[i], row) > MAX_ORIGINS)
                return true;
    return false;
}

static void draw_map(const drawing *self, int column, int row, int x, int y) {
    const dt__sharding *state = scene_state(&self->shown, self->from, column);
    map_frame frame = {x + PADDING, y + PADDING, MAP_WIDTH, self->size.box - 2 * PADDING};
    int64_t own[DT_SPEC_MAX_DIMS];
    coordinate_at(self, column, row, own);
    bool from_others = column && self->shown.steps[column - 1].step->transfer->reduced == 1;
    draw_common(self, &frame, state, own, state, own, from_others ? OTHERS_INK : dt__svg_ink(row));
    if (from_others)
        draw_origins(self, &frame, column, row);
    if (is_partial(state))
        draw_common(self, &frame, state, own, state, own, SVG_HATCHED);
    dt__text_add(self->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"map\"/>\n", x + PADDING,
                 y + PADDING, MAP_WIDTH, self->size.box - 2 * PADDING);
}

static int64_t held_bytes(const drawing *self, int column, int row) {
    const dt__sharding *state = scene_state(&self->shown, self->from, column);
    int64_t own[DT_SPEC_MAX_DIMS], shape[DT_SPEC_MAX_DIMS], offset[DT_SPEC_MAX_DIMS], n = self->shown.item_bytes;
    coordinate_at(self, column, row, own);
    dt__sharding_local(state, own, shape, offset);
    for (int d = 0; d < state->n_dims; d++)
        n *= shape[d];
    return n;
}

static int64_t received_bytes(const drawing *self, int column, int row) {
    if (!column)
        return 0;
    const scene_step *step = &self->shown.steps[column - 1];
    int64_t n = self->shown.receiver == row ? step->left_out_bytes : 0;
    for (int64_t i = 0; i < step->n_arrows; i++)
        if (step->arrows[i].to == row)
            n += step->arrows[i].bytes;
    return n;
}

static dt_status draw_box(const drawing *self, int column, int row) {
    int x = column_x(column), y = row_y(self, row), text_x = x + 2 * PADDING + MAP_WIDTH + 4;
    int text_y = y + (self->size.box - self->size.n_lines * self->size.line) / 2 + 13;
    const char *held = label_bytes(held_bytes(self, column, row), self->arena);
    const char *got = label_bytes(received_bytes(self, column, row), self->arena);
    char line[64];
    if (!held || !got)
        return DT_ERR_MEMORY;
    dt__text_add(self->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"box\"/>\n", x, y, BOX_WIDTH,
                 self->size.box);
    draw_map(self, column, row, x, y);
    long long rank = self->shown.rows[row].rank;
    bool large = self->size.n_lines > 1;
    int n =
        large ? snprintf(line, sizeof line, "rank %lld", rank) : snprintf(line, sizeof line, "%lld: %s", rank, held);
    dt__svg_add_text(self->out, text_x, text_y, large ? "slice" : "small", line, (size_t)n);
    if (!large)
        return DT_OK;
    n = snprintf(line, sizeof line, "%s", held);
    dt__svg_add_text(self->out, text_x, text_y + self->size.line, "small", line, (size_t)n);
    n = snprintf(line, sizeof line, "receives %s", got);
    if (column && (self->shown.receiver < 0 || self->shown.receiver == row))
        dt__svg_add_text(self->out, text_x, text_y + 2 * self->size.line, "small", line, (size_t)n);
    return DT_OK;
}

static bool sends(const drawing *self, int column, int row) {
    for (int64_t i = 0; column < self->shown.plan->n_steps && i < self->shown.steps[column].n_arrows; i++)
        if (self->shown.steps[column].arrows[i].from == row)
            return true;
    return false;
}

/* A rank that holds nothing before the step and sends what it has reduced. */
static void draw_helper(const drawing *self, int column, int row) {
    int x = column_x(column), y = row_y(self, row);
    char line[64];
    int n = snprintf(line, sizeof line, "rank %lld, once reduced", (long long)self->shown.rows[row].rank);
    dt__text_add(self->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"box\"/>\n", x, y, BOX_WIDTH,
                 self->size.box);
    dt__svg_add_text(self->out, x + 2 * PADDING, y + self->size.box / 2 + 4, "small", line, (size_t)n);
}

/* Where the arrows of a step begin and end. */
typedef struct ends {
    double *from, *to; /* middles, per arrow */
} ends;

/* Side by side, centered on the box, in the order of the arrows. */
static dt_status find_ends(const drawing *self, const scene_step *step, ends *out) {
    int n_rows = self->shown.n_rows;
    double *used[2] = {DT__NEW_ARRAY(self->arena, double, n_rows), DT__NEW_ARRAY(self->arena, double, n_rows)};
    out->from = DT__NEW_ARRAY(self->arena, double, step->n_arrows);
    out->to = DT__NEW_ARRAY(self->arena, double, step->n_arrows);
    if (!used[0] || !used[1] || !out->from || !out->to)
        return DT_ERR_MEMORY;
    for (int64_t i = 0; i < step->n_arrows; i++) { /* half of the sum is above the middle */
        used[0][step->arrows[i].from] -= (double)step->arrows[i].bytes * self->scale / 2;
        used[1][step->arrows[i].to] -= (double)step->arrows[i].bytes * self->scale / 2;
    }
    for (int64_t i = 0; i < step->n_arrows; i++) {
        const scene_arrow *arrow = &step->arrows[i];
        double width = (double)arrow->bytes * self->scale, middle = self->size.box / 2.0;
        out->from[i] = row_y(self, arrow->from) + middle + used[0][arrow->from] + width / 2;
        out->to[i] = row_y(self, arrow->to) + middle + used[1][arrow->to] + width / 2;
        used[0][arrow->from] += width;
        used[1][arrow->to] += width;
    }
    return DT_OK;
}

/* A band that bends from one height to another and ends in a head, which is wider than a thin band. */
static void draw_band(const drawing *self, double x0, double y0, double x1, double y1, double width, int ink,
                      double opacity) {
    double half = width / 2, neck = x1 - TIP, middle = (x0 + neck) / 2, head = half < 2 ? 2 : half;
    dt__text_add(self->out,
                 "<path d=\"M%.2f,%.2f C%.2f,%.2f %.2f,%.2f %.2f,%.2f L%.2f,%.2f L%.2f,%.2f L%.2f,%.2f L%.2f,%.2f "
                 "C%.2f,%.2f %.2f,%.2f %.2f,%.2f Z\" fill=\"%s\" stroke=\"%s\" stroke-width=\"0.4\" "
                 "opacity=\"%.2f\">",
                 x0, y0 - half, middle, y0 - half, middle, y1 - half, neck, y1 - half, neck, y1 - head, x1, y1, neck,
                 y1 + head, neck, y1 + half, middle, y1 + half, middle, y0 + half, x0, y0 + half,
                 dt__svg_dark_ink(ink), dt__svg_dark_ink(ink), opacity);
}

static dt_status draw_arrow(const drawing *self, int column, const scene_arrow *arrow, const ends *at, int64_t i,
                            double opacity) {
    const char *bytes = label_bytes(arrow->bytes, self->arena);
    if (!bytes)
        return DT_ERR_MEMORY;
    draw_band(self, column_x(column) + BOX_WIDTH, at->from[i], column_x(column + 1), at->to[i],
              (double)arrow->bytes * self->scale, arrow->from, opacity);
    dt__text_add(self->out, "<title>%lld to %lld: %s</title></path>\n", (long long)self->shown.rows[arrow->from].rank,
                 (long long)self->shown.rows[arrow->to].rank, bytes);
    return DT_OK;
}

static bool is_crowded(const scene *shown) {
    for (int i = 0; i < shown->plan->n_steps; i++)
        if (shown->steps[i].n_arrows > MANY_ARROWS)
            return true;
    return false;
}

/* A dashed line where a rank keeps something. */
static void draw_kept(const drawing *self, int column, int row) {
    const dt__transfer *transfer = self->shown.steps[column].step->transfer;
    int64_t a[DT_SPEC_MAX_DIMS], b[DT_SPEC_MAX_DIMS];
    if (scene_position(&self->shown, column, row) < 0 || scene_position(&self->shown, column + 1, row) < 0)
        return;
    coordinate_at(self, column, row, a);
    coordinate_at(self, column + 1, row, b);
    for (int d = 0; d < transfer->before->n_dims; d++) {
        dt__shard x, y;
        dt__shard_at(transfer->before, d, a, &x);
        dt__shard_at(transfer->after, d, b, &y);
        if (dt__overlap_size(&x, &y) == 0)
            return;
    }
    dt__text_add(self->out, "<path d=\"M%d,%d H%d\" class=\"kept\"/>\n", column_x(column) + BOX_WIDTH,
                 row_y(self, row) + self->size.box / 2, column_x(column + 1));
}

/* Highlighted arrows are drawn last, above the others. */
static dt_status draw_step(const drawing *self, int column) {
    const scene_step *step = &self->shown.steps[column];
    bool crowded = is_crowded(&self->shown);
    ends at;
    DT__TRY(find_ends(self, step, &at));
    for (int row = 0; row < self->shown.n_rows; row++)
        draw_kept(self, column, row);
    for (int pass = crowded ? 0 : 1; pass < 2; pass++)
        for (int64_t i = 0; i < step->n_arrows; i++) {
            bool highlighted = !crowded || step->arrows[i].to == self->shown.max_receiver;
            if (highlighted == (pass == 1))
                DT__TRY(draw_arrow(self, column, &step->arrows[i], &at, i, highlighted ? 0.75 : 0.05));
        }
    return DT_OK;
}

/* A text of at most n characters, centered; what is longer ends in two dots. */
static void add_centered(const drawing *self, int x, int y, const char *text, int n) {
    char line[128];
    if ((int)strlen(text) > n)
        snprintf(line, sizeof line, "%.*s..", n - 2, text);
    else
        snprintf(line, sizeof line, "%s", text);
    dt__svg_add_text(self->out, x, y, "label", line, strlen(line));
}

static void draw_heads(const drawing *self, int y) {
    int state_length = BOX_WIDTH / SVG_TEXT_CHARACTER, step_length = GAP / SVG_TEXT_CHARACTER - 1;
    for (int column = 0; column < n_columns(self); column++) {
        const char *state = self->texts->states[column];
        int x = column_x(column) + BOX_WIDTH / 2, length = (int)strlen(state), first = state_length;
        while (first > 1 && length > state_length && state[first] != 'S' && state[first] != 'R' &&
               state[first] != 'P' && state[first] != '_')
            first--; /* do not break a placement */
        first -= length > state_length && state[first - 1] == '_';
        first = first > 1 ? first : state_length; /* one that is longer than a line does not */
        if (length > state_length) {
            char line[64];
            snprintf(line, sizeof line, "%.*s", first, state);
            add_centered(self, x, y + SVG_LINE, line, state_length);
            add_centered(self, x, y + 2 * SVG_LINE, state + first, state_length);
        } else
            add_centered(self, x, y + 2 * SVG_LINE, state, state_length);
        for (int i = 0; i < HEAD_LINES && column + 1 < n_columns(self); i++)
            add_centered(self, column_x(column) + BOX_WIDTH + GAP / 2, y + i * SVG_LINE,
                         self->texts->steps[HEAD_LINES * column + i], step_length);
        if (column + 1 < n_columns(self) && self->shown.steps[column].n_left_out) {
            char line[64];
            snprintf(line, sizeof line, "(%lld senders not shown)", (long long)self->shown.steps[column].n_left_out);
            add_centered(self, column_x(column) + BOX_WIDTH + GAP / 2, y - SVG_LINE, line, step_length);
        }
    }
}

static dt_status explain_few(const drawing *self, svg_legend *out) {
    const scene *shown = &self->shown;
    dt__text text = dt__text_new(self->arena->ctx);
    if (shown->receiver >= 0) {
        bool crossing = shown->plan->n_steps && shown->plan->steps[0].transfer->from_mesh;
        dt__text_add(&text, "of %lld", (long long)dt_mesh_size(self->from->mesh));
        if (crossing)
            dt__text_add(&text, " and %lld", (long long)dt_mesh_size(self->to->mesh));
        dt__text_add(&text, " ranks: rank %lld, which receives most, and its largest senders",
                     (long long)shown->rows[shown->receiver].rank);
    } else if (is_crowded(shown))
        dt__text_add(&text, "highlighted: arrows to rank %lld, which receives most",
                     (long long)shown->rows[shown->max_receiver].rank);
    const char *line = label_keep(&text, self->arena);
    return line && !*line ? DT_OK : dt__svg_legend_add(out, line);
}

static dt_status explain_dims(const drawing *self, svg_legend *out) {
    dt__text text = dt__text_new(self->arena->ctx);
    dt__text_add(&text, "in a box: what the rank holds of the tensor");
    if (self->rows_dim >= 0)
        dt__text_add(&text, ", dim %d down", self->rows_dim);
    if (self->columns_dim >= 0)
        dt__text_add(&text, ", dim %d across", self->columns_dim);
    return dt__svg_legend_add(out, label_keep(&text, self->arena));
}

static int64_t largest_arrow(const scene *shown) {
    int64_t max_bytes = 0;
    for (int i = 0; i < shown->plan->n_steps; i++)
        for (int64_t k = 0; k < shown->steps[i].n_arrows; k++)
            max_bytes = dt__max_i64(max_bytes, shown->steps[i].arrows[k].bytes);
    return max_bytes;
}

static dt_status explain(const drawing *self, svg_legend *out) {
    const scene *shown = &self->shown;
    bool partial = false;
    for (int c = 0; c < n_columns(self); c++)
        partial |= is_partial(scene_state(shown, self->from, c));
    DT__TRY(explain_few(self, out));
    DT__TRY(explain_dims(self, out));
    DT__TRY(dt__svg_legend_add(out, "color: the rank that a block or an arrow comes from"));
    if (hides_origins(self))
        DT__TRY(dt__svg_legend_add(out, "gray: from other ranks"));
    if (partial)
        DT__TRY(dt__svg_legend_add(out, "hatched: partial values, still to be reduced"));
    if (n_columns(self) > 1)
        DT__TRY(dt__svg_legend_add(out, "dashed: the rank keeps some of its data"));
    return DT_OK;
}

/* An arrow of known width with its bytes. */
static dt_status draw_scale(const drawing *self, int y) {
    int64_t widest = largest_arrow(&self->shown);
    const char *bytes = label_bytes(widest, self->arena);
    char line[96];
    if (!bytes)
        return DT_ERR_MEMORY;
    if (widest == 0)
        return DT_OK;
    draw_band(self, EDGE, y, EDGE + 80, y, (double)widest * self->scale, 0, 0.75);
    dt__text_add(self->out, "</path>\n");
    int n = snprintf(line, sizeof line, "the widest arrow: %s", bytes);
    dt__svg_add_text(self->out, EDGE + 92, y + 4, "note", line, (size_t)n);
    return DT_OK;
}

static const char style[] = "<style>\n"
                            ".box { fill: #fff; stroke: #999; stroke-width: 1 }\n"
                            ".map { fill: none; stroke: #555; stroke-width: 1 }\n"
                            ".piece { stroke: #333; stroke-width: 0.3 }\n"
                            ".tiny { stroke: #333; stroke-width: 0.8 }\n"
                            ".kept { fill: none; stroke: #999; stroke-width: 1; stroke-dasharray: 3,4 }\n"
                            "</style>\n";

static dt_status draw(drawing *self) {
    const char *title = self->texts->title;
    svg_legend notes = {0};
    DT__TRY(explain(self, &notes));
    int summary = (int)strlen(self->texts->summary) * SVG_TEXT_CHARACTER;
    self->width =
        max(column_x(n_columns(self) - 1) + BOX_WIDTH, max(EDGE + max(notes.width, summary), MIN_WIDTH)) + EDGE;
    int title_width = self->width - 2 * EDGE, lines = dt__svg_title_lines(title, title_width);
    int head = EDGE + lines * SVG_TITLE_LINE + 2 * SVG_LINE + 20;
    self->top = head + STATE_LINES * SVG_LINE + 16;
    int bottom = row_y(self, self->shown.n_rows), scale = self->size.box;
    self->height = bottom + 16 + scale + notes.n * SVG_LINE + EDGE;
    dt__svg_begin(self->out, self->width, self->height, title);
    dt__text_add(self->out, "%s", style);
    int y = dt__svg_add_title(self->out, EDGE, EDGE + 14, title_width, title);
    dt__svg_add_text(self->out, EDGE, y - 2, "note", self->texts->summary, strlen(self->texts->summary));
    draw_heads(self, head);
    for (int column = 0; column + 1 < n_columns(self); column++)
        DT__TRY(draw_step(self, column));
    for (int column = 0; column < n_columns(self); column++)
        for (int row = 0; row < self->shown.n_rows; row++)
            if (scene_position(&self->shown, column, row) >= 0)
                DT__TRY(draw_box(self, column, row));
            else if (sends(self, column, row))
                draw_helper(self, column, row);
    DT__TRY(draw_scale(self, bottom + 8 + scale / 2));
    dt__svg_legend_draw(&notes, EDGE, bottom + 24 + scale, self->out);
    dt__svg_end(self->out);
    return dt__text_status(self->out);
}

dt_status plan_svg(const dt_spec *from, const dt_spec *to, const dt__plan *plan, const plan_svg_texts *texts,
                   dt__arena *arena, dt__text *out) {
    drawing self = {.from = from, .to = to, .texts = texts, .arena = arena, .out = out};
    DT__TRY(scene_new(arena, from, to, plan, &self.shown));
    self.size = self.shown.n_rows <= LARGE_ROWS ? large_rows : small_rows;
    self.scale = self.shown.max_bytes ? (self.size.box - 4) / (double)self.shown.max_bytes : 0;
    choose_dims(&self);
    return draw(&self);
}
