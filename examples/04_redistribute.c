/* SPDX-License-Identifier: Apache-2.0
 *
 * 4: redistribution. The same value with other placements: dt_redistribute works out what each rank lacks and fetches
 * just that, from wherever it lies. Partial values are reduced on the way. Nothing moves behind your back: this is the
 * call that moves.
 *
 *     $ dtrun -n 4 ./04_redistribute
 *     $ dtensor plan --mesh dp=2,tp=2 --shape 4,6 'S(0),R' 'R,S(1)'        # what it would cost, step by step
 */
#include <dtensor/dtensor.h>

#include <stdio.h>
#include <string.h>

/* Prints what every rank holds of a matrix, in order, on rank 0. */
static void print_parts(const char *title, dt_tensor *x) {
    enum { ROOM = 128 };
    char mine[ROOM] = "", all[4 * ROOM];
    dt_ctx *ctx = dt_tensor_ctx(x);
    if (!x) /* a call failed; dt_close tells why */
        return;
    const int64_t *shape = dt_tensor_local_shape(x), *strides = dt_tensor_strides(x);
    const float *part = dt_data(x);
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++)
            snprintf(mine + strlen(mine), ROOM - strlen(mine),
                     j   ? " %g"
                     : i ? " | %g"
                         : "%g",
                     (double)part[i * strides[0] + j * strides[1]]);
    dt_comm_gather(dt_group_world(ctx), mine, all, ROOM, DT_U8, 0);
    char text[128];
    dt_tensor_text(x, sizeof text, text);
    if (dt_rank(ctx) == 0)
        printf("%s: %s\n", title, text);
    for (int64_t r = 0; dt_rank(ctx) == 0 && r < dt_world(ctx); r++)
        printf("  rank %lld: %s\n", (long long)r, all + r * ROOM);
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bool first = dt_rank(ctx) == 0;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=2");

    /* A plain matrix that every rank has, placed on the mesh: dp cuts its rows, tp has copies. */
    float values[4][6];
    for (int i = 0; i < 24; i++)
        values[i / 6][i % 6] = (float)i;
    dt_tensor *plain = dt_from_memory(ctx, values, DT_SHAPE(4, 6), DT_F32);
    dt_tensor *rows = dt_distribute_tensor(plain, mesh, "S(0),R");
    print_parts("rows", rows);

    /* Columns instead: each rank fetches the rows that it lacks of its columns. */
    dt_tensor *columns = dt_redistribute(rows, "R,S(1)");
    print_parts("columns", columns);

    /* Both cut: every rank holds its block already, and nothing is sent. */
    print_parts("blocks", dt_redistribute(rows, "S(0),S(1)"));

    /* Sizes that come from elsewhere are placements, too. */
    print_parts("uneven", dt_redistribute(columns, "S(0:3,1),R"));

    /* Values that still have to be added up: here each rank's share of a sum is its own number, r + 1. */
    dt_tensor *mine = dt_full(ctx, DT_SHAPE(2, 2), (double)dt_rank(ctx) + 1);
    dt_tensor *sum = dt_from_local(ctx, mine, mesh, "P(sum),P(sum)");
    print_parts("shares", sum);
    print_parts("summed over tp", dt_redistribute(sum, "P(sum),R"));
    print_parts("summed over both, cut", dt_redistribute(sum, "S(0),S(1)"));

    /* In two halves: between them the rank may do something else, as long as it leaves the tensor alone. */
    dt_transfer *transfer = dt_redistribute_start(columns, "S(0),R");
    print_parts("started and waited for", dt_transfer_wait(transfer));

    /* The whole value, here and now, as a plain tensor; and one element of it. */
    dt_tensor *whole = dt_full_tensor(columns);
    if (first && whole)
        printf("whole: element (3,5) is %g\n", dt_item(dt_select(dt_select(whole, 0, 3), 0, 5)));

    /* A value can not be taken apart into shares: that is refused on every rank, and nothing is sent. */
    if (!dt_redistribute(rows, "P(sum),R") && first)
        printf("refused: %s\n", dt_error_text(ctx));
    dt_error_clear(ctx);

    dt_mesh_release(mesh);
    return dt_close(ctx); /* tensors belong to their scope, and at last to the context: nothing to free */
}
