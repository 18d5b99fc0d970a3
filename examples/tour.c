/* SPDX-License-Identifier: Apache-2.0
 *
 * A tour of redistributions: a matrix of 2048 by 2048 changes its placements on a mesh of 2 by 2 ranks. For each move:
 * which rank holds what before and after, the collectives of its plan, the bytes that the busiest rank receives and
 * the lower bound, the time and that of copying as many bytes, and whether every value is right.
 *
 *     dtrun -n 4 tour [--color]
 *
 * Values are random numbers, which do not depend on placements: the result must be what is drawn with the target's.
 */
#define _GNU_SOURCE
#include <dtensor/dtensor.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 2048, REPEATS = 30 };

static const struct move {
    const char *from, *to, *title;
} moves[] = {
    {"S(0),S(1)", "S(1),S(0)", "Two blocks change places."},
    {"S(0),S(0)", "R,S(1)", "Rows become columns, in two copies."},
    {"S(0:1536,512),S(1)", "S(0),S(0)", "An uneven load is balanced."},
    {"P(sum),S(0)", "R,S(1)", "Partial sums are reduced on the way."},
    {"P(sum),P(sum)", "R,R", "Every rank gets the full sum."},
    {"R,R", "S(0),S(1)", "Nothing moves: every rank has its shard already."},
};
enum { N_MOVES = sizeof moves / sizeof *moves };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* From the first rank's start to the last rank's end; the ranks of a machine share one clock. */
static double span(dt_ctx *ctx, double start) {
    double ends[] = {-start, now()};
    dt_comm_all_reduce(dt_group_world(ctx), ends, ends, 2, DT_F64, DT_MAX);
    return ends[0] + ends[1];
}

/* A picture: 4 by 4 cells, each a quarter of the matrix high and wide; cells with the same owners are one block. */

enum { CELLS = 4, CELL_WIDTH = 6, CANVAS_ROWS = 2 * CELLS + 1, CANVAS_COLUMNS = CELLS * CELL_WIDTH + 1 };

struct canvas {
    char owners[CELLS][CELLS][24];
    int color[CELLS][CELLS]; /* of the first owner; 4: all ranks */
    const char *glyphs[CANVAS_ROWS][CANVAS_COLUMNS];
    char labels[CANVAS_ROWS][CANVAS_COLUMNS][2];
};

static bool has_partial(const dt_spec *spec) {
    const dt_placement *p = dt_spec_placements(spec);
    return dt_placement_is_partial(p[0]) || dt_placement_is_partial(p[1]);
}

/* "0", "0,2", "all", "sum(1,3)". */
static void name_owners(const dt_spec *spec, struct canvas *canvas, int i, int j) {
    int64_t global[] = {(2 * i + 1) * SIZE / (2 * CELLS), (2 * j + 1) * SIZE / (2 * CELLS)}, owner[2], at = 0, rank;
    char list[24] = "", *text = canvas->owners[i][j];
    int n = 0;
    dt_spec_owners(spec, global, owner);
    for (; dt_spec_next_owner(spec, owner, &at, &rank); n++) {
        if (n == 0)
            canvas->color[i][j] = (int)rank;
        snprintf(list + strlen(list), sizeof list - strlen(list), n ? ",%d" : "%d", (int)rank);
    }
    if (n == 4) {
        canvas->color[i][j] = 4;
        strcpy(list, has_partial(spec) ? "0-3" : "all");
    }
    snprintf(text, sizeof canvas->owners[i][j], has_partial(spec) ? "sum(%.12s)" : "%.12s", list);
}

/* Whether there is a line between two cells; outside of the matrix there always is. */
static bool differ(const struct canvas *c, int i, int j, int k, int l) {
    bool in = i >= 0 && j >= 0 && i < CELLS && j < CELLS, other = k >= 0 && l >= 0 && k < CELLS && l < CELLS;
    return in != other || (in && strcmp(c->owners[i][j], c->owners[k][l]) != 0);
}

/* The glyph where four cells meet, by the lines that go up, down, left and right. */
static const char *corner(bool up, bool down, bool left, bool right) {
    static const char *const glyphs[16] = {" ", "─", "─", "─", "│", "┌", "┐", "┬",
                                           "│", "└", "┘", "┴", "│", "├", "┤", "┼"};
    return glyphs[up << 3 | down << 2 | left << 1 | right];
}

static void draw_lines(struct canvas *c) {
    for (int y = 0; y < CANVAS_ROWS; y++)
        for (int x = 0; x < CANVAS_COLUMNS; x++) {
            int i = y / 2, j = x / CELL_WIDTH;
            bool on_row = y % 2 == 0, on_column = x % CELL_WIDTH == 0;
            c->glyphs[y][x] = " ";
            if (on_row && on_column)
                c->glyphs[y][x] = corner(differ(c, i - 1, j - 1, i - 1, j), differ(c, i, j - 1, i, j),
                                         differ(c, i - 1, j - 1, i, j - 1), differ(c, i - 1, j, i, j));
            else if (on_row && differ(c, i - 1, j, i, j))
                c->glyphs[y][x] = "─";
            else if (on_column && differ(c, i, j - 1, i, j))
                c->glyphs[y][x] = "│";
        }
}

/* The label of a block, in its middle. */
static void write_label(struct canvas *c, int i, int j) {
    int last_i = i, last_j = j;
    if ((i > 0 && !differ(c, i - 1, j, i, j)) || (j > 0 && !differ(c, i, j - 1, i, j)))
        return; /* not its first cell */
    while (last_i + 1 < CELLS && !differ(c, last_i + 1, j, i, j))
        last_i++;
    while (last_j + 1 < CELLS && !differ(c, i, last_j + 1, i, j))
        last_j++;
    const char *text = c->owners[i][j];
    int y = i + last_i + 1, x = (j + last_j + 1) * CELL_WIDTH / 2 - (int)strlen(text) / 2;
    for (; *text; text++, x++) {
        c->labels[y][x][0] = *text;
        c->glyphs[y][x] = c->labels[y][x];
    }
}

static void draw(const dt_spec *spec, struct canvas *c) {
    memset(c, 0, sizeof *c);
    for (int i = 0; i < CELLS; i++)
        for (int j = 0; j < CELLS; j++)
            name_owners(spec, c, i, j);
    draw_lines(c);
    for (int i = 0; i < CELLS; i++)
        for (int j = 0; j < CELLS; j++)
            write_label(c, i, j);
}

/* One line of a picture; with colors, a block has that of its first owner. */
static void print_line(const struct canvas *c, int y, bool colored) {
    static const int colors[] = {153, 157, 223, 218, 252};
    for (int x = 0; x < CANVAS_COLUMNS; x++) {
        const char *glyph = c->glyphs[y][x];
        bool inside =
            (unsigned char)glyph[0] < 0x80 && y > 0 && y + 1 < CANVAS_ROWS && x > 0 && x + 1 < CANVAS_COLUMNS;
        if (colored && inside)
            printf("\033[48;5;%d;38;5;16m%s\033[0m", colors[c->color[y / 2 - (y % 2 == 0)][x / CELL_WIDTH]], glyph);
        else
            printf("%s", glyph);
    }
}

/* The text next to the pictures, line by line. */
struct notes {
    int n;
    char lines[CANVAS_ROWS][64];
};

__attribute__((format(printf, 2, 3))) static void note(struct notes *notes, const char *format, ...) {
    va_list args;
    if (notes->n == CANVAS_ROWS)
        return;
    va_start(args, format);
    vsnprintf(notes->lines[notes->n++], sizeof notes->lines[0], format, args);
    va_end(args);
}

/* Adds what `dtensor plan`, which is installed next to this program, prints; nothing where it is missing. */
static void note_plan(struct notes *notes, const struct move *move) {
    char path[512], command[2048], line[256], word[32], over[16], received[32], bound[32];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
    path[n > 0 ? n : 0] = 0;
    char *slash = strrchr(path, '/');
    if (!slash)
        return;
    strcpy(slash, "/../bin/dtensor");
    snprintf(command, sizeof command,
             "'%s' plan --planner min_cost 'f32[%d,%d] %s on mesh(2x2)' '%s' 2>/dev/null;"
             "'%s' plan 'f32[%d,%d] %s on mesh(2x2)' '%s' 2>/dev/null",
             path, SIZE, SIZE, move->from, move->to, path, SIZE, SIZE, move->from, move->to);
    FILE *plan = access(path, X_OK) == 0 ? popen(command, "r") : NULL;
    bool direct = false, in_steps = false;
    while (plan && fgets(line, sizeof line, plan)) {
        direct = direct || strncmp(line, "direct:", 7) == 0;
        bool is_title = strncmp(line, "  collective ", 13) == 0;
        in_steps = is_title || (in_steps && line[0] == ' ');
        if (!direct && in_steps && !is_title && sscanf(line, "%31s %15s", word, over) == 2) {
            if (strcmp(word, "none") == 0)
                note(notes, "no collective");
            else
                note(notes, "%s over mesh dim%s %s", word, strchr(over, ',') ? "s" : "", over);
        }
        if (direct && sscanf(line, "received by one rank, at most: %31[^(](lower bound of any plan: %31[^)]",
                             received, bound) == 2)
            note(notes, "%sreceived; lower bound %s", received, bound);
    }
    if (plan)
        pclose(plan);
}

/* A tensor of random integers. Of a partial one, coordinate c of a line of n ranks holds c + 1 times the number,
 * so that the sum is n (n + 1) / 2 times it. */
static dt_tensor *make_source(dt_ctx *ctx, dt_mesh *mesh, const char *place, float *factor) {
    dt_generator_seed(dt_generator_default(ctx), 7);
    char replicated[64] = "", copy[64];
    int64_t coordinate[2], at = 0, n = 1, m = 0;
    dt_mesh_coordinate(mesh, coordinate);
    strcpy(copy, place);
    if (!strchr(place, 'P')) {
        *factor = 1;
        return dt_randint(ctx, 0, 1000, DT_SHAPE(SIZE, SIZE), .mesh = mesh, .place = place, .dtype = DT_F32);
    }
    for (char *word = strtok(copy, ","); word; word = strtok(NULL, ","), m++) {
        bool partial = word[0] == 'P';
        strcat(strcat(replicated, m ? "," : ""), partial ? "R" : word);
        at = partial ? at * 2 + coordinate[m] : at;
        n *= partial ? 2 : 1;
    }
    *factor = (float)(n * (n + 1) / 2);
    dt_tensor *x = dt_randint(ctx, 0, 1000, DT_SHAPE(SIZE, SIZE), .mesh = mesh, .place = replicated, .dtype = DT_F32);
    float *local = dt_data(x);
    for (int64_t i = 0; i < dt_tensor_local_elements(x); i++)
        local[i] *= (float)(at + 1);
    return dt_from_local(ctx, dt_to_local(x), mesh, place, .shape = DT_SHAPE(SIZE, SIZE));
}

/* The number of values of all ranks that differ from what is drawn with the target's placements. */
static int64_t count_wrong(dt_ctx *ctx, dt_tensor *got, const char *place, float factor) {
    dt_generator_seed(dt_generator_default(ctx), 7);
    dt_tensor *expected =
        dt_randint(ctx, 0, 1000, DT_SHAPE(SIZE, SIZE), .mesh = dt_tensor_mesh(got), .place = place, .dtype = DT_F32);
    const float *a = dt_data(got), *b = dt_data(expected);
    int64_t wrong = !a || !b;
    for (int64_t i = 0; !wrong && i < dt_tensor_local_elements(got); i++)
        wrong += a[i] != factor * b[i];
    dt_comm_all_reduce(dt_group_world(ctx), &wrong, &wrong, 1, DT_I64, DT_SUM);
    return wrong;
}

static double time_move(dt_ctx *ctx, dt_tensor *x, const char *to) {
    double best = 1e9;
    for (int r = 0; r < REPEATS; r++) {
        dt_scope scope = dt_scope_begin(ctx);
        dt_comm_barrier(dt_group_world(ctx));
        double start = now();
        dt_redistribute(x, to);
        double took = span(ctx, start);
        best = took < best ? took : best;
        dt_scope_end(scope);
    }
    return best;
}

/* Half of what a rank must read and write, so that copying it touches as much. Each partial value is read once, by one
 * of the ranks that get the sum, and the sum by the others. */
static size_t bytes_to_copy(const dt_tensor *x, const dt_tensor *y) {
    const dt_placement *from = dt_spec_placements(dt_tensor_spec(x)), *to = dt_spec_placements(dt_tensor_spec(y));
    size_t out = (size_t)dt_spec_max_bytes(dt_tensor_spec(y)), terms = 1, copies = 1;
    for (int m = 0; m < 2; m++) {
        terms *= dt_placement_is_partial(from[m]) ? 2 : 1;
        copies *= dt_placement_is_partial(from[m]) && to[m].kind == DT_PLACEMENT_REPLICATE ? 2 : 1;
    }
    return terms == 1 ? out : ((terms + 1) * out / copies + 2 * (out - out / copies)) / 2;
}

/* All ranks copy that much at the same time, from the memory of one tensor to that of the other. */
static double time_copies(dt_ctx *ctx, dt_tensor *x, dt_tensor *y) {
    size_t bytes = bytes_to_copy(x, y), piece = 1 << 18;
    size_t src_bytes = 4 * (size_t)dt_tensor_local_elements(x), dst_bytes = 4 * (size_t)dt_tensor_local_elements(y);
    char *dst = dt_data(y);
    const char *src = dt_data(x);
    double best = 1e9;
    for (int r = 0; r < REPEATS; r++) {
        dt_comm_barrier(dt_group_world(ctx));
        double start = now();
        for (size_t at = 0; at < bytes; at += piece)
            memcpy(dst + at % dst_bytes, src + at % src_bytes, piece);
        double took = span(ctx, start);
        best = took < best ? took : best;
    }
    return best;
}

static void print_move(const struct move *move, const dt_spec *from, const dt_spec *to, const struct notes *notes,
                       bool colored) {
    static struct canvas before, after;
    draw(from, &before);
    draw(to, &after);
    printf("\n%s%s -> %s%s   %s\n", colored ? "\033[1m" : "", move->from, move->to, colored ? "\033[0m" : "",
           move->title);
    for (int y = 0; y < CANVAS_ROWS; y++) {
        printf("  ");
        print_line(&before, y, colored);
        printf(y == CELLS ? "  ->  " : "      ");
        print_line(&after, y, colored);
        int line = y - (CANVAS_ROWS - notes->n) / 2;
        bool has_note = line >= 0 && line < notes->n;
        printf("%s%s\n", has_note ? "   " : "", has_note ? notes->lines[line] : "");
    }
}

static int64_t show(dt_ctx *ctx, dt_mesh *mesh, const struct move *move, bool colored) {
    dt_scope scope = dt_scope_begin(ctx);
    struct notes notes = {0};
    float factor;
    dt_tensor *x = make_source(ctx, mesh, move->from, &factor), *y = dt_redistribute(x, move->to);
    int64_t wrong = y ? count_wrong(ctx, y, move->to, factor) : 1;
    if (y) {
        double took = time_move(ctx, x, move->to), bound = time_copies(ctx, x, y);
        if (dt_rank(ctx) == 0) {
            note_plan(&notes, move);
            note(&notes, "%.2f ms; copying as much: %.2f ms", took * 1e3, bound * 1e3);
            note(&notes, wrong ? "%lld values are WRONG" : "every value is right", (long long)wrong);
            print_move(move, dt_tensor_spec(x), dt_tensor_spec(y), &notes, colored);
        }
    }
    dt_scope_end(scope);
    return wrong;
}

int main(int argc, char **argv) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bool colored = argc > 1 && strcmp(argv[1], "--color") == 0 && !getenv("NO_COLOR");
    dt_mesh *mesh = dt_mesh_new(ctx, "2x2");
    int64_t wrong = 0;
    if (dt_rank(ctx) == 0 && mesh)
        printf("dtensor %s: f32[%d,%d], 16 MiB, on 4 ranks in a mesh of 2 by 2: ranks 0 and 1 above 2 and 3.\n",
               dt_version_text(), SIZE, SIZE);
    for (int i = 0; i < N_MOVES && mesh && !dt_failed(ctx); i++)
        wrong += show(ctx, mesh, &moves[i], colored);
    if (dt_rank(ctx) == 0 && mesh)
        printf("\n%s\n", wrong ? "Some values are WRONG." : "All values are right.");
    dt_mesh_release(mesh);
    return dt_close(ctx) || wrong;
}
