/* SPDX-License-Identifier: Apache-2.0
 *
 * 14: layout algebra. A layout is a function from an index to an offset in memory, written as a shape and a stride.
 * Functions can be composed and inverted: this program computes where each number of a column-major matrix goes if the
 * matrix is stored in tiles, and moves it there. It needs no ranks.
 *
 *     $ ./14_layouts
 *     $ ./14_layouts 2               # tiles of 2 x 2 instead of 2 x 3
 *     $ dtensor layout '(4,6):(1,4)'               # draws a layout
 */
#include <dtensor/comm.h>
#include <dtensor/layout.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 4, COLUMNS = 6, TILE_ROWS = 2 };

/* The offset of each element of the matrix. */
static void print_matrix(const char *name, const dt_layout *layout) {
    printf("%s %s\n", name, dt_layout_text(layout));
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++)
            printf(" %3d", (int)dt_layout_at(layout, row * COLUMNS + column));
        printf("\n");
    }
}

/* Tiles one after the other, row-major inside. A row has a number of its tile and one inside it, and so has a column:
 * the modes are nested, and the layout is still a function of (row, column). */
static dt_layout *new_tiled(dt_ctx *ctx, int64_t tile_columns) {
    int64_t tile = TILE_ROWS * tile_columns, n_across = COLUMNS / tile_columns;
    dt_tuple row_sizes[] = {dt_tuple_int(ROWS / TILE_ROWS), dt_tuple_int(TILE_ROWS)};
    dt_tuple row_steps[] = {dt_tuple_int(tile * n_across), dt_tuple_int(tile_columns)};
    dt_tuple column_sizes[] = {dt_tuple_int(n_across), dt_tuple_int(tile_columns)};
    dt_tuple column_steps[] = {dt_tuple_int(tile), dt_tuple_int(1)};
    dt_tuple sizes[] = {dt_tuple_list(row_sizes, 2), dt_tuple_list(column_sizes, 2)};
    dt_tuple steps[] = {dt_tuple_list(row_steps, 2), dt_tuple_list(column_steps, 2)};
    dt_tuple shape = dt_tuple_list(sizes, 2), stride = dt_tuple_list(steps, 2);
    return dt_layout_new(ctx, &shape, &stride);
}

int main(int argc, char **argv) {
    dt_ctx *ctx = dt_init(NULL);
    dt_layout *columns = dt_layout_parse(ctx, "(4,6):(1,4)"); /* column-major */
    dt_layout *tiles = new_tiled(ctx, argc > 1 ? atoll(argv[1]) : 3);

    /* The left inverse takes an offset back to the index, and the tiles take that to the new offset. */
    dt_layout *move = dt_layout_composition(tiles, dt_layout_left_inverse(columns));
    if (dt_failed(ctx))
        return dt_close(ctx);
    print_matrix("by columns", columns);
    print_matrix("in tiles", tiles);
    printf("from one to the other %s\n", dt_layout_text(move));

    float old[ROWS * COLUMNS], new[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        old[dt_layout_at(columns, i)] = (float)i;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        new[dt_layout_at(move, i)] = old[i];
    printf("in memory");
    for (int i = 0; i < ROWS * COLUMNS; i++)
        printf(" %g", (double)new[i]);
    printf("\n");

    /* Each row of the matrix skips what its complement reaches. */
    dt_layout *row = dt_layout_parse(ctx, "6:4");
    printf("a row %s, all of them with %s\n", dt_layout_text(row), dt_layout_text(dt_layout_complement(row, 24)));

    /* Not every function is a layout, and an error names the reason. */
    if (!dt_layout_left_inverse(dt_layout_parse(ctx, "(3,2):(2,3)")))
        printf("%s\n", dt_error_text(ctx));
    dt_error_clear(ctx);
    return dt_close(ctx); /* frees the layouts */
}
