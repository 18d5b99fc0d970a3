/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures of ops. A column per input and output; in it, from top to bottom: name and form, the tensor as it is placed,
 * what moves, the tensor as the op needs it or makes it. All tensors have one scale, but none is too small to be seen.
 */
#include "explain_svg.h"

#include "base/size.h"
#include "show/show.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum {
    EDGE = 20,
    GAP = 44,         /* between columns */
    CELL = 30,        /* of the mesh */
    MAX_TENSOR = 150, /* edges of a drawn tensor */
    MIN_TENSOR = 26,
    MIN_PIECE = 3,
    HEAD_LINES = 2,   /* above a tensor */
    MOVE_HEIGHT = 74, /* between the two rows of tensors */
    MAX_STRIPES = 4,
    MAX_MESH_COLUMNS = 8,
    MAX_RANK_BOXES = 16, /* below the tensors */
    BOXES_IN_A_ROW = 4,
    LABEL = 8, /* width of a character of a label */
    LINE = 17,
};

/* One tensor under one list of placements. */
typedef struct drawn_tensor {
    dt_spec *spec;
    holdings held;
    grid blocks;
    const char *why_not; /* it is not drawn, or NULL */
    const char *place;
} drawn_tensor;

typedef struct column {
    const char *name, *form;
    drawn_tensor before, after; /* of an output only after */
    bool is_output;
    const char *moves[3]; /* lines of text; NULL: fewer */
    int x, width;
    int tensor_width, tensor_height;
} column;

typedef struct drawing {
    const drawn_op *op;
    dt__arena *arena;
    dt__text *out;
    column *columns;
    int n_columns, n_inputs;
    int top, width; /* where columns begin; of the document */
    int mesh_columns, mesh_rows;
    int n_patterns; /* written so far */
} drawing;

static int max(int a, int b) { return a > b ? a : b; }
static int min(int a, int b) { return a < b ? a : b; }

static dt_status place_tensor(const drawing *self, const dt_op_value *value, const dt_placement *placements,
                              drawn_tensor *out) {
    int n = self->op->placed->n_mesh_dims;
    out->spec = dt_spec_new(self->op->mesh, &(dt_spec_desc){.dtype = value->dtype,
                                                            .n_dims = value->n_dims,
                                                            .shape = value->shape,
                                                            .n_placements = n,
                                                            .placements = placements});
    if (!out->spec)
        return dt_error_status(self->arena->ctx);
    out->place = label_placements(n, placements, self->arena);
    DT__TRY(dt__holdings_new(out->spec, self->arena, &out->held));
    DT__TRY(dt__grid_new(&out->held, self->arena, &out->blocks, &out->why_not));
    return out->place ? DT_OK : DT_ERR_MEMORY;
}

static const char *form_text(const drawing *self, const dt_op_value *value) {
    dt__text text = dt__text_new(self->arena->ctx);
    dt__tensor_form_text(value->dtype, value->n_dims, value->shape, NULL, &text);
    return label_keep(&text, self->arena);
}

/* What happens to an input: "all_gather", "96 KiB, 10.8 us"; or "stays". */
static dt_status describe_moves(const drawing *self, int i, column *out) {
    const dt__plan *plan = &self->op->moves->plans[i];
    dt__text kinds = dt__text_new(self->arena->ctx);
    bool made = false;
    for (int m = 0; m < self->op->selected->n_mesh_dims; m++)
        made |= !dt_placement_equal(&self->op->selected->inputs[i][m], &self->op->selected->moved[i][m]);
    for (int s = 0; s < plan->n_steps; s++)
        if (plan->steps[s].collective != DT__STEP_NONE)
            dt__text_add(&kinds, "%s%s", kinds.n_chars ? ", " : "", dt__step_kind_name(plan->steps[s].collective));
    bool sends = kinds.n_chars > 0;
    const char *collectives = label_keep(&kinds, self->arena);
    const char *bytes = label_bytes(plan->bytes, self->arena), *time = label_time(plan->cost_us, self->arena);
    if (!collectives || !bytes || !time)
        return DT_ERR_MEMORY;
    out->moves[0] = sends ? collectives : plan->n_steps ? "cut locally" : "stays";
    out->moves[1] = sends ? label_format(self->arena, "%s, %s", bytes, time) : NULL;
    out->moves[sends ? 2 : 1] = made ? "made partial locally" : NULL;
    return !sends || out->moves[1] ? DT_OK : DT_ERR_MEMORY;
}

static dt_status fill_column(drawing *self, int i, column *out) {
    const dt__placed_call *placed = self->op->placed;
    int n_inputs = placed->call.n_inputs;
    out->is_output = i >= n_inputs;
    const dt_op_value *value = out->is_output ? &placed->call.outputs[i - n_inputs] : &placed->call.inputs[i];
    out->form = form_text(self, value);
    out->name = !out->is_output               ? label_input(placed, i, self->arena)
                : placed->call.n_outputs == 1 ? "output"
                                              : label_format(self->arena, "output %d", i - n_inputs + 1);
    if (!out->form || !out->name)
        return DT_ERR_MEMORY;
    if (out->is_output)
        return place_tensor(self, value, self->op->selected->outputs[i - n_inputs], &out->after);
    DT__TRY(place_tensor(self, value, placed->inputs[i]->placements, &out->before));
    DT__TRY(place_tensor(self, value, self->op->selected->inputs[i], &out->after));
    return describe_moves(self, i, out);
}

/* Sizes of the dims that are drawn across and down; 1 where the tensor has none. */
static int64_t across(const column *self) {
    const holdings *held = &self->after.held;
    int dim = self->after.why_not ? held->n_dims - 1 : self->after.blocks.columns.tensor_dim;
    return dim < 0 ? 1 : dt__max_i64(held->shape[dim], 1);
}

static int64_t down(const column *self) {
    const holdings *held = &self->after.held;
    int dim = self->after.why_not ? held->n_dims - 2 : self->after.blocks.rows.tensor_dim;
    return dim < 0 ? 1 : dt__max_i64(held->shape[dim], 1);
}

static int text_width(const char *text) { return text ? (int)strlen(text) * SVG_TEXT_CHARACTER : 0; }

static void size_columns(drawing *self) {
    int64_t largest = 1;
    for (int i = 0; i < self->n_columns; i++)
        largest = dt__max_i64(largest, dt__max_i64(across(&self->columns[i]), down(&self->columns[i])));
    double scale = (double)MAX_TENSOR / (double)largest;
    int x = EDGE + max(self->mesh_columns * CELL, text_width(dt_mesh_text(self->op->mesh))) + GAP;
    for (int i = 0; i < self->n_columns; i++) {
        column *one = &self->columns[i];
        one->tensor_width = max(MIN_TENSOR, (int)((double)across(one) * scale));
        one->tensor_height = max(MIN_TENSOR, (int)((double)down(one) * scale));
        one->width = max(one->tensor_width, max(text_width(one->name), text_width(one->form)));
        one->width = max(one->width, max(text_width(one->before.place), text_width(one->after.place)));
        for (int k = 0; k < 3; k++)
            one->width = max(one->width, text_width(one->moves[k]));
        one->x = x;
        x += one->width + GAP;
    }
    self->width = x - GAP + EDGE;
}

static void add_centered(const drawing *self, int x, int y, const char *class_name, const char *text) {
    dt__svg_add_text(self->out, x, y, class_name, text, strlen(text));
}

/* Lengths of the pieces of an axis, in pixels: to scale, but never too small to be visible. */
static void fit_pieces(const grid_axis *axis, int length, int *out) {
    int64_t all = axis->cuts[axis->n_pieces] - axis->cuts[0];
    int used = 0, largest = 0;
    for (int i = 0; i < axis->n_pieces; i++) {
        double share = all ? (double)(axis->cuts[i + 1] - axis->cuts[i]) / (double)all : 1;
        out[i] = max(MIN_PIECE, (int)(share * length));
        used += out[i];
        largest = out[i] > out[largest] ? i : largest;
    }
    if (out[largest] + length - used >= MIN_PIECE) /* rounding goes to the largest */
        out[largest] += length - used;
}

/* The fill of a block: the color of the rank, or stripes in the colors of several; gray for many. */
static const char *block_fill(drawing *self, grid_set holders) {
    int64_t ranks[MAX_STRIPES];
    int n = 0;
    for (int position = 0; position < GRID_MAX_POSITIONS; position++)
        if (holders >> position & 1) {
            if (n == MAX_STRIPES)
                return "#e4e4e4";
            ranks[n++] = position;
        }
    if (n <= 1)
        return n ? dt__svg_ink(ranks[0]) : "#fff";
    int number = self->n_patterns++;
    dt__text_add(self->out,
                 "<defs><pattern id=\"stripes%d\" width=\"%d\" height=\"8\" patternUnits=\"userSpaceOnUse\" "
                 "patternTransform=\"rotate(45)\">",
                 number, 7 * n);
    for (int i = 0; i < n; i++)
        dt__text_add(self->out, "<rect x=\"%d\" width=\"7\" height=\"8\" fill=\"%s\"/>", 7 * i,
                     dt__svg_ink(ranks[i]));
    dt__text_add(self->out, "</pattern></defs>\n");
    return label_format(self->arena, "url(#stripes%d)", number);
}

static dt_status draw_block(drawing *self, const drawn_tensor *tensor, int block, int x, int y, int width,
                            int height) {
    const grid *blocks = &tensor->blocks;
    const char *fill = block_fill(self, blocks->blocks[block]), *label = blocks->labels[block];
    if (!fill)
        return DT_ERR_MEMORY;
    dt__text_add(self->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"block\" fill=\"%s\"><title>",
                 x, y, width, height, fill);
    dt__text_add(self->out, "%s</title></rect>\n", label);
    if (dt__holdings_is_partial(&tensor->held))
        dt__text_add(self->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"" SVG_HATCHED "\"/>\n", x,
                     y, width, height);
    if ((int)strlen(label) * LABEL + 4 <= width && height >= LINE)
        add_centered(self, x + width / 2, y + height / 2 + 4, "label", label);
    return DT_OK;
}

/* The first slice of a tensor, whose blocks are colored by the ranks that hold them. */
static dt_status draw_tensor(drawing *self, const column *one, const drawn_tensor *tensor, int y) {
    int x = one->x + (one->width - one->tensor_width) / 2;
    int widths[GRID_MAX_PIECES], heights[GRID_MAX_PIECES];
    add_centered(self, one->x + one->width / 2, y - 8, "place", tensor->place);
    if (tensor->why_not) {
        dt__text_add(self->out,
                     "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"missing\"><title>not drawn: "
                     "%s</title></rect>\n",
                     x, y, one->tensor_width, one->tensor_height, tensor->why_not);
        return DT_OK;
    }
    const grid_axis *rows = &tensor->blocks.rows, *columns = &tensor->blocks.columns;
    fit_pieces(columns, one->tensor_width, widths);
    fit_pieces(rows, one->tensor_height, heights);
    for (int r = 0, top = y; r < rows->n_pieces; top += heights[r++])
        for (int c = 0, left = x; c < columns->n_pieces; left += widths[c++])
            DT__TRY(
                draw_block(self, tensor, dt__grid_block(&tensor->blocks, 0, r, c), left, top, widths[c], heights[r]));
    return DT_OK;
}

static int tallest(const drawing *self, bool with_outputs) {
    int height = 0;
    for (int i = 0; i < self->n_columns; i++)
        if (with_outputs || !self->columns[i].is_output)
            height = max(height, self->columns[i].tensor_height);
    return height;
}

/* An arrow down from the tensor as it is to the tensor as the op needs it, with what moves next to it. */
static void draw_move(const drawing *self, const column *one, int y, int height) {
    int x = one->x + one->width / 2, n = 0;
    bool sends = one->moves[1] && strchr(one->moves[1], ',');
    while (n < 3 && one->moves[n])
        n++;
    dt__text_add(self->out, "<path d=\"M%d,%d v10 M%d,%d v10 m-4,-6 l4,6 l4,-6\" class=\"%s\"/>\n", x, y, x,
                 y + height - 12, sends ? "sends" : "stays");
    int text_y = y + 10 + (height - 22 - n * LINE) / 2 + 13;
    for (int k = 0; k < n; k++)
        add_centered(self, x, text_y + k * LINE, k == 0 && sends ? "label moves" : "label", one->moves[k]);
}

static dt_status draw_columns(drawing *self, int *bottom) {
    int first = self->top + HEAD_LINES * LINE + LINE + 10, inputs = tallest(self, false);
    int second = first + inputs + MOVE_HEIGHT + LINE;
    *bottom = second + tallest(self, true);
    for (int i = 0; i < self->n_columns; i++) {
        const column *one = &self->columns[i];
        int middle = one->x + one->width / 2,
            head = one->is_output ? second - LINE - 10 - HEAD_LINES * LINE : self->top;
        add_centered(self, middle, head + 12, "label name", one->name);
        add_centered(self, middle, head + 12 + LINE, "label", one->form);
        if (!one->is_output) {
            DT__TRY(draw_tensor(self, one, &one->before, first));
            draw_move(self, one, first + one->tensor_height + 4, inputs - one->tensor_height + MOVE_HEIGHT - 8);
        }
        DT__TRY(draw_tensor(self, one, &one->after, second));
        int sign_x = one->x - GAP / 2, sign_y = second + min(tallest(self, true), MAX_TENSOR) / 2 + 6;
        if (i > 0)
            add_centered(self, sign_x, sign_y, "sign", i == self->n_inputs ? "=" : ",");
    }
    return DT_OK;
}

/* The ranks in the grid of the mesh, each in its color. */
static void draw_mesh(const drawing *self) {
    dt_mesh *mesh = self->op->mesh;
    int64_t coordinate[DT_MESH_MAX_DIMS];
    int n = (int)dt_mesh_size(mesh), y = self->top + HEAD_LINES * LINE + LINE + 10;
    dt__svg_add_text(self->out, EDGE, self->top + 12, "name", "mesh", 4);
    dt__svg_add_text(self->out, EDGE, self->top + 12 + LINE, "form", dt_mesh_text(mesh), strlen(dt_mesh_text(mesh)));
    for (int i = 0; i < n; i++) {
        char rank[24];
        int x = EDGE + i % self->mesh_columns * CELL, top = y + i / self->mesh_columns * CELL;
        dt__coordinate(self->op->placed->n_mesh_dims, self->op->placed->mesh, i, coordinate);
        int length = snprintf(rank, sizeof rank, "%lld", (long long)dt_mesh_rank_at(mesh, coordinate));
        dt__text_add(self->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"rank\" fill=\"%s\"/>\n",
                     x, top, CELL, CELL, dt__svg_ink(i));
        dt__svg_add_text(self->out, x + CELL / 2, top + CELL / 2 + 4, "label", rank, (size_t)length);
    }
}

/* Bytes that the rank at a position receives, over all inputs. */
static dt_status received(const drawing *self, int64_t position, int64_t *out) {
    *out = 0;
    for (int i = 0; i < self->n_inputs; i++) {
        const dt__plan *plan = &self->op->moves->plans[i];
        int64_t item_bytes = (int64_t)dt_dtype_size(self->op->placed->call.inputs[i].dtype);
        for (int s = 0; s < plan->n_steps; s++) {
            dt__flows flows;
            DT__TRY(dt__flows_new(self->arena, plan->steps[s].transfer, position, &flows));
            for (int64_t k = 0; k < flows.n; k++)
                *out += flows.items[k].elements * item_bytes;
        }
    }
    return DT_OK;
}

/* "self 0:4 0:8": the ranges of each dim that a position holds for the op. */
static const char *held_text(const drawing *self, const column *one, int64_t position) {
    dt__text text = dt__text_new(self->arena->ctx);
    const holding *held = &one->after.held.of[position];
    dt__text_add(&text, "%s [", one->name);
    for (int d = 0; d < one->after.held.n_dims; d++) {
        const char *runs = label_runs(held->runs[d].runs, held->runs[d].n, self->arena);
        dt__text_add(&text, "%s%s", d ? "," : "", runs ? runs : "");
    }
    dt__text_add(&text, "]");
    return label_keep(&text, self->arena);
}

/* Lines of the box of a rank: coordinate, what it receives, and what it holds of each tensor. */
static dt_status rank_lines(const drawing *self, int64_t position, const char **lines) {
    const dt_mesh *mesh = self->op->mesh;
    int64_t coordinate[DT_MESH_MAX_DIMS], bytes;
    dt__text at = dt__text_new(self->arena->ctx);
    dt__coordinate(self->op->placed->n_mesh_dims, self->op->placed->mesh, position, coordinate);
    dt__text_add(&at, "rank %lld at ", (long long)dt_mesh_rank_at(mesh, coordinate));
    for (int m = 0; m < dt_mesh_n_dims(mesh); m++)
        dt__text_add(&at, "%s%s%s%lld", m ? ", " : "", dt_mesh_dim_name(mesh, m) ? dt_mesh_dim_name(mesh, m) : "",
                     dt_mesh_dim_name(mesh, m) ? " " : "", (long long)coordinate[m]);
    DT__TRY(received(self, position, &bytes));
    lines[0] = label_keep(&at, self->arena);
    const char *size = label_bytes(bytes, self->arena);
    lines[1] = size && bytes ? label_format(self->arena, "receives %s", size) : "receives nothing";
    for (int i = 0; i < self->n_columns; i++)
        lines[2 + i] = held_text(self, &self->columns[i], position);
    for (int i = 0; i < self->n_columns + 2; i++)
        if (!lines[i])
            return DT_ERR_MEMORY;
    return DT_OK;
}

/* All lines of the boxes; *width is set to that of the longest. */
static dt_status list_ranks(drawing *self, int n, const char **lines, int *width) {
    int n_lines = self->n_columns + 2;
    *width = 0;
    for (int i = 0; i < n; i++) {
        DT__TRY(rank_lines(self, i, &lines[i * n_lines]));
        for (int k = 0; k < n_lines; k++)
            *width = max(*width, text_width(lines[i * n_lines + k]));
    }
    *width += 20;
    return DT_OK;
}

static void draw_ranks(const drawing *self, int n, const char *const *lines, int width, int top) {
    int n_lines = self->n_columns + 2, height = n_lines * LINE + 14;
    for (int i = 0; i < n; i++) {
        int x = EDGE + i % BOXES_IN_A_ROW * (width + 12), y = top + i / BOXES_IN_A_ROW * (height + 12);
        dt__text_add(self->out,
                     "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" class=\"box\" stroke=\"%s\"/>\n", x,
                     y, width, height, dt__svg_dark_ink(i));
        for (int k = 0; k < n_lines; k++)
            dt__svg_add_text(self->out, x + 10, y + 18 + k * LINE, k == 0 ? "name" : "form", lines[i * n_lines + k],
                             strlen(lines[i * n_lines + k]));
    }
}

static dt_status add_notes(const drawing *self, svg_legend *out) {
    bool striped = false, many = false, partial = false;
    for (int i = 0; i < self->n_columns; i++)
        for (int k = self->columns[i].is_output; k < 2; k++) {
            const drawn_tensor *tensor = k ? &self->columns[i].after : &self->columns[i].before;
            for (int b = 0; !tensor->why_not && b < tensor->blocks.n_blocks; b++) {
                int n = __builtin_popcountll(tensor->blocks.blocks[b]);
                striped |= n > 1 && n <= MAX_STRIPES;
                many |= n > MAX_STRIPES;
            }
            partial |= dt__holdings_is_partial(&tensor->held);
            if (tensor->why_not)
                DT__TRY(dt__svg_legend_add(
                    out, label_format(self->arena, "%s is not drawn: %s", self->columns[i].name, tensor->why_not)));
            else if (tensor->blocks.slices.tensor_dim >= 0 && tensor->blocks.slices.n_pieces > 1)
                DT__TRY(dt__svg_legend_add(
                    out,
                    label_format(self->arena, "%s %s: the first of %d slices along dim %d", self->columns[i].name,
                                 tensor->place, tensor->blocks.slices.n_pieces, tensor->blocks.slices.tensor_dim)));
        }
    DT__TRY(dt__svg_legend_add(out, "in a block: the ranks that hold it"));
    if (striped)
        DT__TRY(dt__svg_legend_add(out, "striped: each of these ranks holds it"));
    if (many)
        DT__TRY(dt__svg_legend_add(out, "gray: more than 4 ranks hold it"));
    if (partial)
        DT__TRY(dt__svg_legend_add(out, "hatched: partial values of the ranks in parentheses, still to be reduced"));
    return DT_OK;
}

static const char style[] = "<style>\n"
                            ".name { font-weight: bold }\n"
                            ".form { font-size: 12px }\n"
                            ".place { text-anchor: middle; fill: #555 }\n"
                            ".moves { fill: #b03030; font-weight: bold }\n"
                            ".sign { font-size: 22px; text-anchor: middle }\n"
                            ".rank { stroke: #fff; stroke-width: 2 }\n"
                            ".box { fill: #fafafa; stroke-width: 2 }\n"
                            ".missing { fill: none; stroke: #999; stroke-dasharray: 4,4 }\n"
                            ".sends { fill: none; stroke: #b03030; stroke-width: 2 }\n"
                            ".stays { fill: none; stroke: #999; stroke-width: 1 }\n"
                            "</style>\n";

static dt_status draw(drawing *self) {
    const char *title = self->op->title;
    int n_ranks = (int)dt_mesh_size(self->op->mesh), n_boxes = n_ranks <= MAX_RANK_BOXES ? n_ranks : 0, box_width = 0;
    int n_lines = self->n_columns + 2, bottom;
    svg_legend notes = {0};
    const char **lines = DT__NEW_ARRAY(self->arena, const char *, (int64_t)n_boxes *n_lines + 1);
    if (!lines)
        return DT_ERR_MEMORY;
    DT__TRY(list_ranks(self, n_boxes, lines, &box_width));
    DT__TRY(add_notes(self, &notes));
    size_columns(self);
    int boxes = min(n_boxes, BOXES_IN_A_ROW) * (box_width + 12) - 12 + 2 * EDGE;
    self->width = max(max(self->width, boxes), 2 * EDGE + max(notes.width, text_width(self->op->summary)));
    int title_width = self->width - 2 * EDGE;
    self->top = EDGE + dt__svg_title_lines(title, title_width) * SVG_TITLE_LINE + SVG_LINE + 18;
    int rows = self->top + 3 * LINE + 10 +
               max(tallest(self, false) + MOVE_HEIGHT + LINE + tallest(self, true), self->mesh_rows * CELL);
    int box_rows = (n_boxes + BOXES_IN_A_ROW - 1) / BOXES_IN_A_ROW, ranks = rows + 28;
    int legend = ranks + box_rows * (n_lines * LINE + 14 + 12) + 14;
    dt__svg_begin(self->out, self->width, legend + notes.n * SVG_LINE + EDGE, title);
    dt__text_add(self->out, "%s", style);
    int y = dt__svg_add_title(self->out, EDGE, EDGE + 14, title_width, title);
    dt__svg_add_text(self->out, EDGE, y - 2, "note", self->op->summary, strlen(self->op->summary));
    draw_mesh(self);
    DT__TRY(draw_columns(self, &bottom));
    draw_ranks(self, n_boxes, lines, box_width, ranks);
    dt__svg_legend_draw(&notes, EDGE, legend + 8, self->out);
    dt__svg_end(self->out);
    return dt__text_status(self->out);
}

dt_status explain_svg(const drawn_op *op, dt__arena *arena, dt__text *out) {
    const dt_op_call *call = &op->placed->call;
    int64_t n_ranks = dt_mesh_size(op->mesh), last = dt_mesh_dim_size(op->mesh, dt_mesh_n_dims(op->mesh) - 1);
    drawing self = {.op = op, .arena = arena, .out = out, .n_inputs = call->n_inputs};
    if (n_ranks > GRID_MAX_POSITIONS)
        return dt__fail(arena->ctx, DT_ERR_UNSUPPORTED, "--svg: cannot draw a mesh of more than %d ranks, got %lld",
                        (int)GRID_MAX_POSITIONS, (long long)n_ranks);
    self.n_columns = call->n_inputs + call->n_outputs;
    self.columns = DT__NEW_ARRAY(arena, column, self.n_columns);
    if (!self.columns)
        return DT_ERR_MEMORY;
    self.mesh_columns = last <= MAX_MESH_COLUMNS ? (int)last : MAX_MESH_COLUMNS;
    self.mesh_rows = ((int)n_ranks + self.mesh_columns - 1) / self.mesh_columns;
    for (int i = 0; i < self.n_columns; i++)
        DT__TRY(fill_column(&self, i, &self.columns[i]));
    return draw(&self);
}
