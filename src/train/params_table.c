/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of parameters. Rows that differ only in the numbers of their names are one line with a count, so a model of
 * a hundred layers is as long as one layer.
 */
#include "train/param_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME, SHAPE, DTYPE, PLACED, USED, MIB, DECAY, RATE, N_COLUMNS };
static const char *const titles[N_COLUMNS] = {"name", "shape",        "dtype", "placed",
                                              "used", "MiB per rank", "decay", "lr"};

int64_t dt__param_row_bytes(const dt__param_row *row) {
    if (row->spec)
        return row->spec->max_bytes;
    int64_t bytes = (int64_t)dt_dtype_size(row->of.dtype);
    for (int d = 0; d < row->of.n_dims; d++)
        bytes *= row->of.shape[d];
    return bytes;
}

void dt__named_placements_add(const dt_spec *spec, dt__text *out) {
    bool is_first = true;
    for (int m = 0; m < spec->sharding.n_mesh_dims; m++) {
        const dt_placement *placement = &spec->sharding.placements[m];
        const char *name = dt_mesh_dim_name(spec->mesh, m);
        char text[64];
        if (dt_placement_is_replicate(*placement))
            continue;
        if (dt_placements_text(1, placement, sizeof text, text) >= sizeof text)
            (void)snprintf(text, sizeof text, "S(%d:%" PRId64 ",..)", placement->dim, placement->extents[0]);
        dt__text_add(out, "%s%s%s%s", is_first ? "" : ",", name ? name : "", name ? "=" : "", text);
        is_first = false;
    }
    if (is_first)
        dt__text_add(out, "R");
}

static bool has_same_shape(const dt__param_shape *a, const dt__param_shape *b) {
    return a->dtype == b->dtype && a->n_dims == b->n_dims &&
           (a->n_dims == 0 || !memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof *a->shape));
}

/* Whether two meshes, such as those of two stages, read alike in a table. */
static bool is_alike(const dt_spec *a, const dt_spec *b) {
    return a == b || (a && b && a->layout_fingerprint == b->layout_fingerprint);
}

static bool is_repeated(const dt__param_row *a, const dt__param_row *b) {
    char left[DT__PATTERN_BYTES], right[DT__PATTERN_BYTES];
    if (!has_same_shape(&a->of, &b->of) || !is_alike(a->spec, b->spec) || !is_alike(a->use, b->use) ||
        a->decay != b->decay || a->lr != b->lr || a->is_frozen != b->is_frozen || !a->tied != !b->tied)
        return false;
    dt__pattern_of_name(a->of.name, sizeof left, left);
    dt__pattern_of_name(b->of.name, sizeof right, right);
    return !strcmp(left, right);
}

void dt__param_rows_group(int n, const dt__param_row *rows, int *first) {
    for (int i = 0; i < n; i++) {
        first[i] = i;
        for (int k = 0; k < i; k++)
            if (first[k] == k && is_repeated(&rows[k], &rows[i])) {
                first[i] = k;
                break;
            }
    }
}

/* The cells of a row, as texts in the arena. */
static const char *kept(dt__arena *arena, dt__text *text) {
    const char *copy = dt__arena_copy_text(arena, dt__text_chars(text));
    dt__text_clear(text);
    return copy ? copy : "";
}

static void fill_cells(dt__arena *arena, const dt__param_row *row, int count, const char **cells) {
    dt__text text = dt__text_new(arena->ctx);
    char pattern[DT__PATTERN_BYTES];
    dt__pattern_of_name(row->of.name, sizeof pattern, pattern);
    if (count > 1)
        dt__text_add(&text, "%s x%d", pattern, count);
    else
        dt__text_add(&text, "%s", row->of.name);
    cells[NAME] = kept(arena, &text);
    for (int d = 0; d < row->of.n_dims; d++)
        dt__text_add(&text, "%s%" PRId64, d ? "," : "", row->of.shape[d]);
    cells[SHAPE] = kept(arena, &text);
    cells[DTYPE] = dt_dtype_name(row->of.dtype);
    if (row->tied)
        dt__text_add(&text, "as %s", row->tied);
    else if (row->spec)
        dt__named_placements_add(row->spec, &text);
    cells[PLACED] = kept(arena, &text);
    if (row->use && !row->tied) {
        if (row->use->dtype != row->of.dtype)
            dt__text_add(&text, "%s ", dt_dtype_name(row->use->dtype));
        dt__named_placements_add(row->use, &text);
    }
    cells[USED] = kept(arena, &text);
    dt__text_add(&text, "%.3f", row->tied ? 0 : (double)dt__param_row_bytes(row) * count / 0x1p20);
    cells[MIB] = kept(arena, &text);
    if (row->is_frozen)
        dt__text_add(&text, "frozen");
    else
        dt__text_add(&text, "%g", row->decay);
    cells[DECAY] = kept(arena, &text);
    if (!row->is_frozen)
        dt__text_add(&text, "%g", row->lr);
    cells[RATE] = kept(arena, &text);
    dt__text_free(&text);
}

static bool is_right(int column) { return column == MIB || column == DECAY || column == RATE; }

static void print_line(const char *const *cells, const int *widths, dt__text *out) {
    for (int c = 0; c < N_COLUMNS; c++)
        dt__text_add(out, is_right(c) ? "%s%*s" : "%s%-*s", c ? "  " : "", widths[c], cells[c]);
    while (out->n_chars && out->chars[out->n_chars - 1] == ' ')
        out->chars[--out->n_chars] = 0;
    dt__text_add(out, "\n");
}

/* Elements of all parameters, and bytes of the rank that holds most: stages on different meshes do not add up. */
typedef struct totals {
    double elements, bytes, per_rank;
} totals;

static totals add_up(dt__arena *arena, int n, const dt__param_row *rows) {
    totals sum = {0, 0, 0};
    const dt_mesh **meshes = DT__NEW_ARRAY(arena, const dt_mesh *, n + 1);
    double *held = DT__NEW_ARRAY(arena, double, n + 1);
    int n_meshes = 0;
    for (int i = 0; i < n && meshes && held; i++) {
        double elements = 1;
        const dt_mesh *mesh = rows[i].spec ? rows[i].spec->mesh : NULL;
        int m = 0;
        if (rows[i].tied)
            continue;
        for (int d = 0; d < rows[i].of.n_dims; d++)
            elements *= (double)rows[i].of.shape[d];
        sum.elements += elements;
        sum.bytes += elements * (double)dt_dtype_size(rows[i].of.dtype);
        while (m < n_meshes && meshes[m] != mesh && !(mesh && meshes[m] && dt_mesh_equal(meshes[m], mesh)))
            m++;
        meshes[m] = mesh;
        n_meshes = m == n_meshes ? m + 1 : n_meshes;
        held[m] += (double)dt__param_row_bytes(&rows[i]);
        sum.per_rank = held[m] > sum.per_rank ? held[m] : sum.per_rank;
    }
    return sum;
}

void dt__param_table(dt__arena *arena, int n, const dt__param_row *rows, dt__text *out) {
    int *first = DT__NEW_ARRAY(arena, int, n), *count = DT__NEW_ARRAY(arena, int, n), widths[N_COLUMNS];
    const char **cells = DT__NEW_ARRAY(arena, const char *, (int64_t)n *N_COLUMNS);
    if (!first || !count || !cells)
        return;
    dt__param_rows_group(n, rows, first);
    for (int i = 0; i < n; i++)
        count[first[i]]++;
    for (int c = 0; c < N_COLUMNS; c++)
        widths[c] = (int)strlen(titles[c]);
    for (int i = 0; i < n; i++) {
        const char **of = cells + (int64_t)i * N_COLUMNS;
        if (first[i] == i)
            fill_cells(arena, &rows[i], count[i], of);
        for (int c = 0; c < N_COLUMNS && first[i] == i; c++)
            widths[c] = (int)strlen(of[c]) > widths[c] ? (int)strlen(of[c]) : widths[c];
    }
    print_line(titles, widths, out);
    for (int i = 0; i < n; i++)
        if (first[i] == i)
            print_line(cells + (int64_t)i * N_COLUMNS, widths, out);
    totals sum = add_up(arena, n, rows);
    dt__text_add(out, "%.0f elements in %d parameters, %.3f MiB in total, at most %.3f MiB on a rank\n", sum.elements,
                 n, sum.bytes / 0x1p20, sum.per_rank / 0x1p20);
}
