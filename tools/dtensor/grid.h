/* SPDX-License-Identifier: Apache-2.0
 *
 * The geometry of a picture: each dim of a tensor cut wherever somebody's part begins or ends, and who holds each
 * piece. What a rank holds is a product of per-dim ranges, so who holds a cell is the intersection of who holds its
 * piece of each dim. Sets of holders are bits, which is why pictures end at 64 ranks. An element has one shard that
 * it belongs to, so two cells have either the same holders or none in common: a *block* is a set of holders.
 */
#ifndef TOOLS_DTENSOR_GRID_H
#define TOOLS_DTENSOR_GRID_H

#include "holdings.h"

enum { GRID_MAX_POSITIONS = 64, GRID_MAX_PIECES = 256, GRID_MAX_CELLS = 4096 };

typedef uint64_t grid_set; /* bit i: position i of the mesh */

/* One dim, cut into pieces cuts[i] .. cuts[i + 1]. */
typedef struct grid_axis {
    int tensor_dim; /* -1: stands in for a dim that the tensor does not have */
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

/* Fills out, with labels in the arena. *why_not stays NULL, or says why there is no picture: more than three dims,
 * more than 64 ranks, nothing to draw, or cut too finely. */
dt_status grid_new(const holdings *held, dt__arena *arena, grid *out, const char **why_not);

static inline grid_set grid_holders(const grid *self, int slice, int row, int column) {
    return self->slices.holders[slice] & self->rows.holders[row] & self->columns.holders[column];
}
/* Which block a cell belongs to: blocks of one number share label and colour. */
int grid_block(const grid *self, int slice, int row, int column);

/* The ranks that hold no element, as a label; NULL if there are none. */
dt_status grid_empty_ranks(const holdings *held, const grid *self, dt__arena *arena, const char **out);

#endif
