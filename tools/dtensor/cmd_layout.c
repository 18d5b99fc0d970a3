/* SPDX-License-Identifier: Apache-2.0
 *
 * `dtensor layout`: evaluates an expression of layout algebra and draws the result, as text, as SVG or as JSON. A
 * picture is a table of offsets: the last mode runs across, the one before it down, and there is one table per
 * coordinate of the others.
 */
#include "arguments.h"
#include "json.h"
#include "layout_operations.h"
#include "show/show.h"
#include "table.h"

#include <stdio.h>
#include <string.h>

enum {
    MAX_COLUMNS = 16, /* of more, the first ones and the last are printed */
    MAX_ROWS = 16,
    MAX_TABLES = 4,
    MAX_CELLS = 4096, /* of an SVG document */
    MAX_VALUES = 65536,
};

/* Offsets as tables of rows and columns, in the order of the index. */
typedef struct picture {
    session *session;
    const dt__layout *layout;
    const char *text;
    int64_t n_outer; /* modes besides the last two */
    int64_t n_tables, n_rows, n_columns;
} picture;

/* Size of top-level mode i, counted from the last; 1 where there is none. */
static int64_t mode_size(const dt__layout *layout, int64_t i) {
    if (dt_tuple_is_int(&layout->shape))
        return i == 0 ? layout->shape.value : 1;
    int64_t at = layout->shape.n_items - 1 - i;
    return at < 0 ? 1 : dt__layout_size(&(dt__layout){layout->shape.items[at], layout->stride.items[at]});
}

static picture picture_of(session *started, const dt__layout *layout, const char *text) {
    picture self = {.session = started, .layout = layout, .text = text};
    self.n_columns = mode_size(layout, 0);
    self.n_rows = mode_size(layout, 1);
    self.n_tables = dt__layout_size(layout) / (self.n_columns * self.n_rows);
    self.n_outer = layout->shape.n_items > 2 ? layout->shape.n_items - 2 : 0;
    return self;
}

static int64_t offset_at(const picture *self, int64_t number, int64_t row, int64_t column) {
    return dt__layout_at(self->layout, (number * self->n_rows + row) * self->n_columns + column);
}

/* "(1,0,_,_)": the coordinates of a table, with _ for the two modes that it shows. */
static const char *table_title(const picture *self, int64_t number) {
    dt__text text = dt__text_new(self->session->ctx);
    int64_t below = self->n_tables;
    dt__text_add(&text, "(");
    for (int64_t i = 0; i < self->n_outer; i++) {
        below /= mode_size(self->layout, self->n_outer + 1 - i);
        dt__text_add(&text, "%lld,", (long long)(number / below % mode_size(self->layout, self->n_outer + 1 - i)));
    }
    dt__text_add(&text, "_,_)");
    return label_keep(&text, self->session->arena);
}

static const char *number_text(int64_t number, dt__arena *arena) {
    return number == LISTED_GAP ? ".." : label_format(arena, "%lld", (long long)number);
}

static dt_status print_table(const picture *self, int64_t number, dt__text *out) {
    dt__arena *arena = self->session->arena;
    listed rows = list_of(self->n_rows, MAX_ROWS), columns = list_of(self->n_columns, MAX_COLUMNS);
    table offsets = table_new(arena, columns.n + 1);
    const char *cells[MAX_LISTED + 1] = {""};
    for (int i = 0; i < columns.n; i++)
        cells[1 + i] =
            columns.items[i] == LISTED_GAP ? ".." : label_format(arena, "[%lld]", (long long)columns.items[i]);
    DT__TRY(table_add(&offsets, cells));
    for (int row = 0; row < rows.n; row++) {
        bool is_gap = rows.items[row] == LISTED_GAP;
        cells[0] = is_gap ? ".." : label_format(arena, "[%lld]", (long long)rows.items[row]);
        for (int i = 0; i < columns.n; i++)
            cells[1 + i] = number_text(is_gap || columns.items[i] == LISTED_GAP
                                           ? LISTED_GAP
                                           : offset_at(self, number, rows.items[row], columns.items[i]),
                                       arena);
        DT__TRY(table_add(&offsets, cells));
    }
    table_print(&offsets, out);
    return DT_OK;
}

/* "yes", "no", or "unknown" if the answer would take too long. */
static dt_status injective_word(const picture *self, const char **out) {
    dt_ctx *ctx = self->session->ctx;
    bool injective = false;
    dt_status status = dt__layout_is_injective(self->session->arena, self->layout, &injective);
    if (status == DT_ERR_UNSUPPORTED)
        (void)dt_error_clear(ctx);
    else if (status != DT_OK)
        return status;
    *out = status == DT_OK ? injective ? "yes" : "no" : "unknown";
    return DT_OK;
}

static dt_status facts_text(const picture *self, const char **out) {
    const char *injective = NULL;
    DT__TRY(injective_word(self, &injective));
    *out =
        label_format(self->session->arena, "size %lld, cosize %lld, injective: %s",
                     (long long)dt__layout_size(self->layout), (long long)dt__layout_cosize(self->layout), injective);
    return *out ? DT_OK : DT_ERR_MEMORY;
}

static dt_status print_text(const picture *self, dt__text *out) {
    const char *facts;
    DT__TRY(facts_text(self, &facts));
    dt__text_add(out, "%s\n%s\n\n", self->text, facts);
    listed tables = list_of(self->n_tables, MAX_TABLES);
    for (int i = 0; i < tables.n; i++) {
        if (tables.items[i] == LISTED_GAP) {
            dt__text_add(out, "..\n");
            continue;
        }
        const char *title = self->n_outer ? table_title(self, tables.items[i]) : "";
        if (!title)
            return DT_ERR_MEMORY;
        dt__text_add(out, "%s%s", title, *title ? "\n" : "");
        DT__TRY(print_table(self, tables.items[i], out));
    }
    return DT_OK;
}

static dt_status print_json(const picture *self, dt__text *out) {
    const char *injective = NULL;
    DT__TRY(injective_word(self, &injective));
    int64_t size = dt__layout_size(self->layout);
    json_t *values = size <= MAX_VALUES ? json_array() : json_null();
    for (int64_t i = 0; i < size && size <= MAX_VALUES; i++)
        json_append(&values, json_integer(dt__layout_at(self->layout, i)));
    json_t *answer = json_pack("{s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "text", string_json(self->text), "shape",
                               tuple_json(&self->layout->shape), "stride", tuple_json(&self->layout->stride), "size",
                               (json_int_t)size, "cosize", (json_int_t)dt__layout_cosize(self->layout), "injective",
                               !strcmp(injective, "unknown") ? json_null() : json_boolean(!strcmp(injective, "yes")),
                               "values", values);
    return json_write_line(self->session->ctx, answer, out);
}

enum { EDGE = 20, CELL_HEIGHT = 28, CELL_PADDING = 12, INDEX_HEIGHT = 18, TITLE_HEIGHT = 22, TITLE_WIDTH = 1000 };

static int n_digits(int64_t number) {
    int n = 1;
    while (number /= 10)
        n++;
    return n;
}

/* Where the tables of a document are. */
typedef struct frame {
    int left, top, cell, head, height; /* head: the lines above a table; height: of a table with its head */
} frame;

static void add_number(dt__text *out, int x, int y, const char *class_name, int64_t number) {
    char text[24];
    int n = snprintf(text, sizeof text, "%lld", (long long)number);
    dt__svg_add_text(out, x, y, class_name, text, (size_t)n);
}

/* Cells of one color have offsets within one run of as many as a row has cells. */
static void draw_cell(const picture *self, int64_t offset, int x, int y, int width, dt__text *out) {
    dt__text_add(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" class=\"block\"/>\n", x, y,
                 width, (int)CELL_HEIGHT, dt__svg_ink(offset / self->n_columns));
    add_number(out, x + width / 2, y + CELL_HEIGHT / 2 + 4, "label", offset);
}

static dt_status draw_table(const picture *self, const frame *at, int64_t number, dt__text *out) {
    int top = at->top + (int)number * at->height + at->head;
    if (self->n_outer) {
        const char *title = table_title(self, number);
        if (!title)
            return DT_ERR_MEMORY;
        dt__svg_add_text(out, at->left, top - INDEX_HEIGHT - 4, "slice", title, strlen(title));
    }
    for (int column = 0; column < self->n_columns; column++)
        add_number(out, at->left + column * at->cell + at->cell / 2, top - 6, "index", column);
    for (int row = 0; row < self->n_rows; row++) {
        add_number(out, at->left - 8, top + row * CELL_HEIGHT + CELL_HEIGHT / 2 + 4, "index end", row);
        for (int column = 0; column < self->n_columns; column++)
            draw_cell(self, offset_at(self, number, row, column), at->left + column * at->cell,
                      top + row * CELL_HEIGHT, at->cell, out);
    }
    return DT_OK;
}

static int max(int a, int b) { return a > b ? a : b; }

static dt_status print_svg(const picture *self, dt__text *out) {
    const char *facts;
    svg_legend notes = {0};
    int64_t size = dt__layout_size(self->layout);
    if (size > MAX_CELLS)
        return dt__fail(self->session->ctx, DT_ERR_UNSUPPORTED,
                        "layout: too large to draw: expected at most %d cells, got %lld", (int)MAX_CELLS,
                        (long long)size);
    DT__TRY(facts_text(self, &facts));
    DT__TRY(dt__svg_legend_add(&notes, facts));
    DT__TRY(dt__svg_legend_add(&notes, self->n_columns > 1 ? label_format(self->session->arena,
                                                                          "one color: offsets within a block of %lld",
                                                                          (long long)self->n_columns)
                                                           : "a color for each offset"));
    frame at = {.left = EDGE + n_digits(self->n_rows - 1) * SVG_INDEX_CHARACTER + 8,
                .cell = max(n_digits(dt__layout_cosize(self->layout) - 1) * SVG_TEXT_CHARACTER + CELL_PADDING,
                            CELL_HEIGHT + 4),
                .head = INDEX_HEIGHT + (self->n_outer ? TITLE_HEIGHT : 0)};
    at.height = at.head + (int)self->n_rows * CELL_HEIGHT + CELL_PADDING;
    at.top = EDGE + dt__svg_title_lines(self->text, TITLE_WIDTH) * SVG_TITLE_LINE + 4;
    int title = (int)strlen(self->text) * SVG_TITLE_CHARACTER;
    int width = max(max(title < TITLE_WIDTH ? title : TITLE_WIDTH, notes.width) + EDGE,
                    at.left + (int)self->n_columns * at.cell) +
                EDGE;
    int bottom = at.top + (int)self->n_tables * at.height + 8;
    dt__svg_begin(out, width, bottom + notes.n * SVG_LINE + EDGE, self->text);
    (void)dt__svg_add_title(out, EDGE, EDGE + 14, TITLE_WIDTH, self->text);
    for (int64_t i = 0; i < self->n_tables; i++)
        DT__TRY(draw_table(self, &at, i, out));
    dt__svg_legend_draw(&notes, EDGE, bottom + 8, out);
    dt__svg_end(out);
    return DT_OK;
}

/* The text form of a tuple or a layout. */
static const char *value_text(const layout_value *value, dt__arena *arena) {
    dt__text text = dt__text_new(arena->ctx);
    if (value->is_layout)
        dt__layout_print(&text, &value->layout);
    else
        dt__tuple_print(&text, &value->tuple);
    return label_keep(&text, arena);
}

/* An integer or a coordinate: nothing to draw. */
static dt_status print_tuple(session *started, const layout_value *value, const char *text) {
    const arguments *args = started->args;
    if (args_has(args, "svg"))
        return dt__fail(started->ctx, DT_ERR_VALUE, "layout: --svg draws layouts: expected a layout, got %s", text);
    if (args_has(args, "json"))
        return json_write_line(started->ctx,
                               json_pack("{s:o, s:o}", "text", string_json(text), "value", tuple_json(&value->tuple)),
                               started->out);
    dt__text_add(started->out, "%s\n", text);
    return DT_OK;
}

static dt_status run_session(session *started, void *user) {
    (void)user;
    layout_value value;
    DT__TRY(layout_evaluate(started->arena, started->args->words[0], &value));
    const char *text = value_text(&value, started->arena);
    if (!text)
        return DT_ERR_MEMORY;
    if (!value.is_layout)
        return print_tuple(started, &value, text);
    picture self = picture_of(started, &value.layout, text);
    return args_has(started->args, "svg")    ? print_svg(&self, started->out)
           : args_has(started->args, "json") ? print_json(&self, started->out)
                                             : print_text(&self, started->out);
}

static int run_layout(const arguments *args) {
    if (args_has(args, "svg") && args_has(args, "json"))
        return args_misused(args->command, "--svg and --json exclude each other");
    return session_run(args, 0, run_session, NULL);
}

const command layout_command = {
    .name = "layout",
    .summary = "evaluate and draw an expression of layout algebra",
    .synopsis = "[OPTIONS] EXPRESSION",
    .about = "Prints the layout that an expression makes, and the offset at each of its indices: the last mode runs\n"
             "across, the one before it down. A layout is SHAPE:STRIDE, two nested tuples without blanks, such as\n"
             "(4,(2,2)):(8,(1,4)); without a stride it is row-major. An operation is NAME(LAYOUT) or\n"
             "NAME(LAYOUT, OPERAND), and its operands may be operations:\n"
             "  coalesce(A)        the same function with the fewest modes\n"
             "  flatten(A)         the same modes in one list\n"
             "  complement(A, N)   the layout of what A skips below N\n"
             "  composition(A, B)  i -> A(B(i))\n"
             "  right_inverse(A)   the longest R with A(R(i)) = i\n"
             "  left_inverse(A)    an L with L(A(i)) = i\n"
             "  size(A)            the number of indices\n"
             "  cosize(A)          the largest offset plus one\n"
             "  crd2idx(A, C)      the offset at a coordinate, such as (1,(0,1))\n"
             "  idx2crd(A, N)      the coordinate of an offset",
    .options =
        (const command_option[]){
            {.name = "svg", .value = "FILE", .help = "write the drawing as SVG; - is standard output"},
            {.name = "json", .help = "print one JSON object: text, shape, stride, size, cosize, values"},
            {0},
        },
    .examples = "  dtensor layout '(4,2):(1,4)'\n"
                "  dtensor layout 'coalesce((2,(1,6)):(6,(6,1)))'\n"
                "  dtensor layout 'composition((4,2):(1,4), (2,4))' --svg offsets.svg\n"
                "  dtensor layout 'complement((2,2):(4,1), size((4,6)))' --json",
    .min_words = 1,
    .max_words = 1,
    .operand = "an expression, such as '(4,2):(1,4)'",
    .run = run_layout,
};
