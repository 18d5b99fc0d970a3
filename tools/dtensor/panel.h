/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the blocks of a picture stand, in characters or in pixels. A panel shows some columns of one slice; columns
 * that do not fit into the width are continued in a further panel of the same scale. Blocks are to scale, except that
 * each is at least as large as its label needs. What a unit is, and how large a character, is in the metrics.
 */
#ifndef TOOLS_DTENSOR_PANEL_H
#define TOOLS_DTENSOR_PANEL_H

#include "grid.h"

typedef struct panel_metrics {
    int room;                         /* largest width of a panel */
    int height;                       /* usual height of a picture that is square */
    int min_height;                   /* of a picture with one row */
    int character, line;              /* width and height of a character in a label */
    int index_character;              /* width of a character in an index */
    int padding_across, padding_down; /* around a label */
    int rule;                         /* thickness of the line between blocks */
    int aspect;                       /* how many units across look as long as one unit down */
    int max_ruled_rows;               /* with more rows than that there are no lines between them */
} panel_metrics;

typedef struct panel {
    int slice, first, n; /* columns first … first + n - 1 */
    int widths[GRID_MAX_PIECES], heights[GRID_MAX_PIECES];
    int row_rule;      /* thickness of the line between rows */
    int width, height; /* of the whole, without lines at its edges */
} panel;

enum { PANEL_MAX_LABEL_LINES = 6 };

/* Lays out all panels of a slice and returns how many there are: at most one per column, for which out has room. */
int panel_fit(const grid *drawn, int slice, const panel_metrics *metrics, panel *out);

/* The next line of a label that fits into n characters (at least one word): returns its length and moves the label
 * behind it. *begin is where it begins. */
int panel_label_line(const char **label, int n, const char **begin);
/* Lines that a label takes; at most PANEL_MAX_LABEL_LINES. */
int panel_label_lines(const char *label, int n);
/* Number of digits of an index. */
int panel_index_length(int64_t index);

#endif
