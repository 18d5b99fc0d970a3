/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout of panels: needs first (labels, indices), then shares of the free room in proportion to sizes.
 */
#include "panel.h"

#include "scale.h"

#include <stdio.h>
#include <string.h>

/* Labels up to this length are kept in one line: tried from left to right until all columns fit into one panel. */
static const int whole_labels[] = {12, 8, 5, 0};
enum { N_TRIES = sizeof whole_labels / sizeof *whole_labels };

static int max(int a, int b) { return a > b ? a : b; }

static int sum(const int *values, int n) {
    int total = 0;
    for (int i = 0; i < n; i++)
        total += values[i];
    return total;
}

int panel_index_length(int64_t index) { return snprintf(NULL, 0, "%lld", (long long)index); }

/* Length of the next piece of a label that is kept in one line: up to and with a comma, without blanks. */
static int word_length(const char *label) {
    int n = (int)strcspn(label, ", ");
    return n + (label[n] == ',');
}

int panel_label_line(const char **label, int n, const char **begin) {
    *begin = *label + strspn(*label, " ");
    int length = 0;
    while ((*begin)[length]) {
        int blanks = (int)strspn(*begin + length, " ");
        int more = blanks + word_length(*begin + length + blanks);
        if (length > 0 && length + more > n)
            break;
        length += more;
    }
    *label = *begin + length;
    return length;
}

int panel_label_lines(const char *label, int n) {
    const char *begin;
    int lines = 0;
    for (; *label && lines < PANEL_MAX_LABEL_LINES; lines++)
        panel_label_line(&label, n, &begin);
    return lines;
}

static int longest_word(const char *label) {
    const char *begin;
    int longest = 0;
    while (*label)
        longest = max(longest, panel_label_line(&label, 1, &begin));
    return longest;
}

/* Width that a column needs for its labels and for the indices above its ends, of which the later is the longer. */
static int needed_width(const grid *drawn, int slice, int column, int whole_label, const panel_metrics *metrics) {
    int need = 1;
    if (drawn->columns.tensor_dim >= 0)
        need = (panel_index_length(drawn->columns.cuts[column + 1]) + 1) * metrics->index_character;
    for (int row = 0; row < drawn->rows.n_pieces; row++) {
        const char *label = drawn->labels[grid_block(drawn, slice, row, column)];
        int whole = (int)strlen(label);
        int n = whole <= whole_label ? whole : max(longest_word(label), whole_label);
        need = max(need, n * metrics->character + metrics->padding_across);
    }
    return need;
}

static int needed_height(const grid *drawn, const panel *shown, int row, const panel_metrics *metrics) {
    int lines = 1;
    for (int i = 0; i < shown->n; i++) {
        const char *label = drawn->labels[grid_block(drawn, shown->slice, row, shown->first + i)];
        int n = (shown->widths[i] - metrics->padding_across) / metrics->character;
        lines = max(lines, panel_label_lines(label, n));
    }
    return lines * metrics->line + metrics->padding_down;
}

/* Columns to rows of the tensor, as a picture of equal units would have it. */
static double proportion(const grid *drawn) {
    const grid_axis *rows = &drawn->rows, *columns = &drawn->columns;
    return (double)columns->cuts[columns->n_pieces] / (double)rows->cuts[rows->n_pieces];
}

static int wanted_width(const grid *drawn, int room, const panel_metrics *metrics) {
    if (drawn->columns.tensor_dim < 0)
        return 0;
    if (drawn->rows.tensor_dim < 0)
        return room;
    double width = metrics->height * metrics->aspect * proportion(drawn);
    return width > room ? room : (int)width;
}

static int wanted_height(const grid *drawn, int width, const panel_metrics *metrics) {
    if (drawn->rows.tensor_dim < 0)
        return metrics->min_height;
    double height = width / proportion(drawn) / metrics->aspect;
    return height > metrics->height ? metrics->height : (int)height;
}

/* Widths that the columns need; true if all fit beside each other. */
static bool find_needs(const grid *drawn, int slice, int whole_label, const panel_metrics *metrics, int *needs) {
    int n = drawn->columns.n_pieces;
    for (int column = 0; column < n; column++)
        needs[column] = needed_width(drawn, slice, column, whole_label, metrics);
    return sum(needs, n) + (n - 1) * metrics->rule <= metrics->room;
}

/* Puts as many columns into each panel as fit into the room, at least one; returns the number of panels. */
static int split(const grid *drawn, int slice, const int *needs, int room, int rule, panel *out) {
    int n_panels = 0, used = 0;
    for (int column = 0; column < drawn->columns.n_pieces; column++) {
        if (column == 0 || used + needs[column] > room) {
            out[n_panels++] = (panel){.slice = slice, .first = column};
            used = 0;
        }
        out[n_panels - 1].n++;
        used += needs[column] + rule;
    }
    return n_panels;
}

/* As few panels as possible, and those about equally full: the least room that needs no more of them. */
static int split_evenly(const grid *drawn, int slice, const int *needs, const panel_metrics *metrics, panel *out) {
    int n_panels = split(drawn, slice, needs, metrics->room, metrics->rule, out);
    int least = 1, most = metrics->room;
    while (least < most) {
        int middle = (least + most) / 2;
        if (split(drawn, slice, needs, middle, metrics->rule, out) > n_panels)
            least = middle + 1;
        else
            most = middle;
    }
    return split(drawn, slice, needs, n_panels == 1 ? metrics->room : least, metrics->rule, out);
}

static double extent(const grid *drawn, const panel *shown) {
    const int64_t *cuts = drawn->columns.cuts;
    return (double)(cuts[shown->first + shown->n] - cuts[shown->first]);
}

/* One panel takes the tensor's proportions; of several, the largest fills the room and the others have its scale. */
static void fit_columns(const grid *drawn, const int *needs, double largest, const panel_metrics *metrics,
                        panel *out) {
    int room = metrics->room - (out->n - 1) * metrics->rule;
    bool only = out->n == drawn->columns.n_pieces;
    int wanted = only ? wanted_width(drawn, room, metrics) : (int)(room * extent(drawn, out) / largest);
    scale_pieces(&drawn->columns, out->first, out->n, wanted, needs + out->first, out->widths);
    out->width = sum(out->widths, out->n) + (out->n - 1) * metrics->rule;
}

/* The height follows from the width of all panels together, so that they are equally high. */
static void fit_rows(const grid *drawn, int whole_width, const panel_metrics *metrics, panel *out) {
    int needs[GRID_MAX_PIECES] = {0}, n = drawn->rows.n_pieces;
    for (int row = 0; row < n; row++)
        needs[row] = needed_height(drawn, out, row, metrics);
    needs[0] = n == 1 ? max(needs[0], metrics->min_height) : needs[0];
    scale_pieces(&drawn->rows, 0, n, wanted_height(drawn, whole_width, metrics), needs, out->heights);
    out->row_rule = n <= metrics->max_ruled_rows ? metrics->rule : 0;
    out->height = sum(out->heights, n) + (n - 1) * out->row_rule;
}

int panel_fit(const grid *drawn, int slice, const panel_metrics *metrics, panel *out) {
    int needs[GRID_MAX_PIECES] = {0};
    for (int try = 0; try < N_TRIES; try++)
        if (find_needs(drawn, slice, whole_labels[try], metrics, needs))
            break;
    int n_panels = split_evenly(drawn, slice, needs, metrics, out), width = 0;
    double largest = 0;
    for (int i = 0; i < n_panels; i++)
        largest = extent(drawn, &out[i]) > largest ? extent(drawn, &out[i]) : largest;
    for (int i = 0; i < n_panels; i++) {
        fit_columns(drawn, needs, largest, metrics, &out[i]);
        width += out[i].width;
    }
    for (int i = 0; i < n_panels; i++)
        fit_rows(drawn, width, metrics, &out[i]);
    return n_panels;
}
