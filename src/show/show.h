/* SPDX-License-Identifier: Apache-2.0
 *
 * The pictures of `dtensor show`, in the order they are made: who holds what (holdings), the tensor divided
 * into blocks (grid), where the blocks are drawn (panels), and the drawing itself in characters or as SVG.
 */
#ifndef DT_SHOW_SHOW_H
#define DT_SHOW_SHOW_H

#include "show/labels.h"
#include "show/svg.h"

enum {
    HOLDINGS_MAX_POSITIONS = 4096, /* meshes beyond are not listed rank by rank */
    HOLDINGS_MAX_RUNS = 300        /* of one rank in one dim; what follows is left out */
};

/* What one position of the mesh holds. */
typedef struct holding {
    dt_local local;
    const run_list *runs; /* per tensor dim */
} holding;

typedef struct holdings_mesh_dim {
    const char *name; /* "dp", or "mesh dim 0" for a mesh without names */
    bool is_named;
    const char *placement; /* text form, "S(0)" */
    const char *meaning;   /* "cuts dim 0 into 4" */
    const char *reduce;    /* "sum" where the placement is partial, else NULL */
    int64_t size;
} holdings_mesh_dim;

typedef struct holdings {
    const char *spec;    /* text form */
    const char *summary; /* "8 ranks, 1 MiB of 2 MiB on each" */
    int n_dims;          /* of the tensor */
    const int64_t *shape;
    int n_mesh_dims;
    const holdings_mesh_dim *mesh_dims;
    int64_t n_positions;  /* of the mesh, row-major */
    const int64_t *ranks; /* rank at a position; NULL beyond HOLDINGS_MAX_POSITIONS */
    const holding *of;    /* what each position holds; NULL beyond HOLDINGS_MAX_POSITIONS */
} holdings;

/* Everything is allocated in the arena. */
dt_status dt__holdings_new(const dt_spec *spec, dt__arena *arena, holdings *out);
/* Whether values still have to be reduced. */
bool dt__holdings_is_partial(const holdings *held);
/* Who holds a block, by positions in the mesh: the ranks, or per copy the ranks whose values make it, such as
 * "sum(0,4), sum(1,5)". */
const char *dt__label_holders(const holdings *held, const int64_t *positions, int64_t n, dt__arena *arena);
/* What one position holds; needs no list of the others. */
dt_status dt__holdings_at(const dt_spec *spec, int64_t position, dt__arena *arena, int64_t *rank, holding *out);

enum { GRID_MAX_POSITIONS = 64, GRID_MAX_PIECES = 256, GRID_MAX_CELLS = 4096 };

typedef uint64_t grid_set; /* bit i: position i of the mesh */

/* One dim, cut into pieces cuts[i] .. cuts[i + 1]. */
typedef struct grid_axis {
    int tensor_dim; /* -1: replaces a dim that the tensor does not have */
    int n_pieces;
    int64_t cuts[GRID_MAX_PIECES + 1];
    grid_set holders[GRID_MAX_PIECES];
} grid_axis;

/* A picture is a sequence of slices, each a table of rows and columns. A matrix has one slice, a vector one row. */
typedef struct grid {
    grid_axis slices, rows, columns;
    grid_set blocks[GRID_MAX_POSITIONS + 1]; /* in reading order */
    const char *labels[GRID_MAX_POSITIONS + 1];
    int n_blocks;
    grid_set empty; /* positions that hold no element */
} grid;

/* Fills out, with labels in the arena. *why_not is NULL, or what cannot be drawn: more than three dims, more than
 * 64 ranks, no elements, too many pieces. */
dt_status dt__grid_new(const holdings *held, dt__arena *arena, grid *out, const char **why_not);

static inline grid_set grid_holders(const grid *self, int slice, int row, int column) {
    return self->slices.holders[slice] & self->rows.holders[row] & self->columns.holders[column];
}
/* Which block a cell belongs to: blocks of one number share label and color. */
int dt__grid_block(const grid *self, int slice, int row, int column);

/* The ranks that hold no element, as a label; NULL if there are none. */
dt_status dt__grid_empty_ranks(const holdings *held, const grid *self, dt__arena *arena, const char **out);

typedef struct panel_metrics {
    int max_width;                    /* of a panel */
    int height;                       /* usual height of a picture that is square */
    int min_height;                   /* of a picture with one row */
    int character, line;              /* width and height of a character in a label */
    int index_character;              /* width of a character in an index */
    int padding_across, padding_down; /* around a label */
    int rule;                         /* thickness of the line between blocks */
    int aspect;                       /* units across that look as long as one unit down */
    int max_ruled_rows;               /* with more rows than that there are no lines between them */
} panel_metrics;

typedef struct panel {
    int slice, first, n; /* columns first … first + n - 1 */
    int widths[GRID_MAX_PIECES], heights[GRID_MAX_PIECES];
    int row_rule;      /* thickness of the line between rows */
    int width, height; /* without lines at its edges */
} panel;

enum { PANEL_MAX_LABEL_LINES = 6 };

/* Lays out all panels of a slice and returns how many there are: at most one per column. */
int dt__panel_fit(const grid *drawn, int slice, const panel_metrics *metrics, panel *out);

/* The next line of a label that fits into n characters (at least one word): returns its length and moves the label past
 * it. *begin is where it begins. */
int dt__panel_label_line(const char **label, int n, const char **begin);
/* Lines that a label takes; at most PANEL_MAX_LABEL_LINES. */
int dt__panel_label_lines(const char *label, int n);
/* Number of digits of an index. */
int dt__panel_index_length(int64_t index);

/* Appends the document. Blocks that the position does not hold are faded; -1: none are. */
dt_status dt__show_svg(const holdings *held, const grid *drawn, int64_t position, dt__arena *arena, dt__text *out);

#endif
