/* SPDX-License-Identifier: Apache-2.0
 *
 * Cutting dims into pieces and choosing which dim is drawn how.
 */
#include "grid.h"

#include "labels.h"

#include <stdlib.h>
#include <string.h>

static int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Adds a cut unless it is there; false when there is no room for it. */
static bool add_cut(grid_axis *axis, int *n_cuts, int64_t cut) {
    for (int i = 0; i < *n_cuts; i++)
        if (axis->cuts[i] == cut)
            return true;
    if (*n_cuts > GRID_MAX_PIECES)
        return false;
    axis->cuts[(*n_cuts)++] = cut;
    return true;
}

static bool find_cuts(const holdings *held, int dim, grid_axis *axis) {
    int n_cuts = 0;
    add_cut(axis, &n_cuts, 0);
    if (!add_cut(axis, &n_cuts, held->shape[dim]))
        return false;
    for (int64_t position = 0; position < held->n_positions; position++) {
        run_list list = held->of[position].runs[dim];
        for (int64_t i = 0; i < list.n; i++)
            if (!add_cut(axis, &n_cuts, list.runs[i].begin) || !add_cut(axis, &n_cuts, list.runs[i].end))
                return false;
    }
    qsort(axis->cuts, (size_t)n_cuts, sizeof *axis->cuts, compare_i64);
    axis->n_pieces = n_cuts - 1;
    return true;
}

static bool holds(run_list list, int64_t index) {
    for (int64_t i = 0; i < list.n; i++)
        if (index >= list.runs[i].begin && index < list.runs[i].end)
            return true;
    return false;
}

static bool cut_dim(const holdings *held, int dim, grid_axis *axis) {
    *axis = (grid_axis){.tensor_dim = dim};
    if (!find_cuts(held, dim, axis))
        return false;
    for (int piece = 0; piece < axis->n_pieces; piece++)
        for (int64_t position = 0; position < held->n_positions; position++)
            if (holds(held->of[position].runs[dim], axis->cuts[piece]))
                axis->holders[piece] |= (grid_set)1 << position;
    return true;
}

static bool holds_nothing(const holdings *held, int64_t position) {
    for (int dim = 0; dim < held->n_dims; dim++)
        if (held->of[position].runs[dim].n == 0)
            return true;
    return false;
}

/* A dim that the tensor does not have is one piece that everybody holds. */
static const grid_axis no_dim = {.tensor_dim = -1, .n_pieces = 1, .cuts = {0, 1}, .holders = {~(grid_set)0}};

/* The dim with the fewest pieces becomes the sequence of slices, so that there are few pictures; the others keep
 * their order. */
static void choose_axes(const grid_axis *axes, int n_dims, grid *out) {
    int slice = 0;
    for (int dim = 1; dim < n_dims; dim++)
        if (axes[dim].n_pieces < axes[slice].n_pieces)
            slice = dim;
    const grid_axis *drawn[3] = {&no_dim, &no_dim, &no_dim};
    int n = 0;
    for (int dim = 0; dim < n_dims; dim++)
        if (n_dims < 3 || dim != slice)
            drawn[n++] = &axes[dim];
    out->slices = n_dims == 3 ? axes[slice] : no_dim;
    out->rows = n == 2 ? *drawn[0] : no_dim;
    out->columns = n == 2 ? *drawn[1] : *drawn[0];
}

static int find_block(const grid *self, grid_set holders) {
    for (int i = 0; i < self->n_blocks; i++)
        if (self->blocks[i] == holders)
            return i;
    return -1;
}

int grid_block(const grid *self, int slice, int row, int column) {
    return find_block(self, grid_holders(self, slice, row, column));
}

static const char *name_block(const holdings *held, grid_set holders, dt__arena *arena) {
    int64_t positions[GRID_MAX_POSITIONS], n = 0;
    for (int64_t position = 0; position < held->n_positions; position++)
        if (holders >> position & 1)
            positions[n++] = position;
    return label_holders(held, positions, n, arena);
}

static dt_status name_blocks(const holdings *held, dt__arena *arena, grid *out) {
    grid_set everybody = held->n_positions == 64 ? ~(grid_set)0 : ((grid_set)1 << held->n_positions) - 1;
    out->rows.holders[0] &= out->rows.tensor_dim < 0 ? everybody : ~(grid_set)0;
    for (int slice = 0; slice < out->slices.n_pieces; slice++)
        for (int row = 0; row < out->rows.n_pieces; row++)
            for (int column = 0; column < out->columns.n_pieces; column++) {
                grid_set holders = grid_holders(out, slice, row, column);
                if (find_block(out, holders) >= 0)
                    continue;
                out->labels[out->n_blocks] = name_block(held, holders, arena);
                if (!out->labels[out->n_blocks])
                    return DT_ERR_MEMORY;
                out->blocks[out->n_blocks++] = holders;
            }
    return DT_OK;
}

dt_status grid_new(const holdings *held, dt__arena *arena, grid *out, const char **why_not) {
    grid_axis axes[3];
    memset(out, 0, sizeof *out);
    *why_not = NULL;
    if (held->n_dims > 3)
        *why_not = "a tensor of more than 3 dims";
    else if (held->n_positions > GRID_MAX_POSITIONS)
        *why_not = "a mesh of more than 64 ranks";
    for (int dim = 0; !*why_not && dim < held->n_dims; dim++)
        if (held->shape[dim] == 0)
            *why_not = "a tensor without elements";
        else if (!cut_dim(held, dim, &axes[dim]))
            *why_not = "a dim in more than 256 pieces";
    if (*why_not)
        return DT_OK;
    choose_axes(axes, held->n_dims, out);
    if (out->slices.n_pieces * out->rows.n_pieces * out->columns.n_pieces > GRID_MAX_CELLS) {
        *why_not = "a tensor in more than 4096 pieces";
        return DT_OK;
    }
    for (int64_t position = 0; position < held->n_positions; position++)
        if (holds_nothing(held, position))
            out->empty |= (grid_set)1 << position;
    return name_blocks(held, arena, out);
}

dt_status grid_empty_ranks(const holdings *held, const grid *self, dt__arena *arena, const char **out) {
    int64_t ranks[GRID_MAX_POSITIONS], n = 0;
    for (int64_t position = 0; position < held->n_positions; position++)
        if (self->empty >> position & 1)
            ranks[n++] = held->ranks[position];
    *out = n > 0 ? label_ranks(ranks, n, arena) : NULL;
    return n > 0 && !*out ? DT_ERR_MEMORY : DT_OK;
}
