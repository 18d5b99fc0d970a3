/* SPDX-License-Identifier: Apache-2.0
 *
 * 4: redistribution. The same value with other placements: dt_redistribute computes what each rank lacks and fetches
 * exactly that from the ranks that hold it. Partial values are reduced on the way. Nothing moves silently: this is the
 * call that communicates.
 *
 *     $ dtrun -n 4 ./04_redistribute
 *     $ dtrun -n 2 ./04_redistribute    # tp has one rank
 *     $ dtrun -n 6 ./04_redistribute    # and three
 *     $ dtensor plan 'f32[4,6] S(0),R on mesh(dp=2,tp=2)' 'R,S(1)'        # what it would cost, and who sends what
 */
#include <dtensor/dtensor.h>

#include <stdio.h>
#include <string.h>

/* Prints what every rank holds of a matrix, in order, on rank 0. */
static void print_locals(const char *title, dt_tensor *x) {
    enum { CAPACITY = 128, MAX_RANKS = 64 };
    char mine[CAPACITY] = "", all[MAX_RANKS * CAPACITY];
    dt_ctx *ctx = dt_tensor_ctx(x);
    if (!x || dt_world(ctx) > MAX_RANKS) /* a call failed; dt_close prints why */
        return;
    const int64_t *shape = dt_tensor_local_shape(x), *strides = dt_tensor_strides(x);
    const float *local = dt_data(x);
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++)
            snprintf(mine + strlen(mine), CAPACITY - strlen(mine),
                     j   ? " %g"
                     : i ? " | %g"
                         : "%g",
                     (double)local[i * strides[0] + j * strides[1]]);
    dt_comm_gather(dt_group_world(ctx), mine, all, CAPACITY, DT_U8, 0);
    char text[128];
    dt_tensor_text(x, sizeof text, text);
    if (dt_rank(ctx) == 0)
        printf("%s: %s\n", title, text);
    for (int64_t r = 0; dt_rank(ctx) == 0 && r < dt_world(ctx); r++)
        printf("  rank %lld: %s\n", (long long)r, all[r * CAPACITY] ? all + r * CAPACITY : "nothing");
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bool first = dt_rank(ctx) == 0;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=2,tp=*");

    /* A plain matrix that every rank has, placed on the mesh: dp shards its rows, tp replicates. */
    float values[4][6];
    for (int i = 0; i < 24; i++)
        values[i / 6][i % 6] = (float)i;
    dt_tensor *plain = dt_from_memory(ctx, values, DT_SHAPE(4, 6), DT_F32);
    dt_tensor *rows = dt_distribute_tensor(plain, mesh, "S(0),R");
    print_locals("rows", rows);

    /* Columns instead: each rank fetches the missing rows of its columns. */
    dt_tensor *columns = dt_redistribute(rows, "R,S(1)");
    print_locals("columns", columns);

    /* Both sharded: every rank holds its block already, and nothing is sent. */
    print_locals("blocks", dt_redistribute(rows, "S(0),S(1)"));

    /* A placement may have explicit sizes. */
    print_locals("uneven", dt_redistribute(columns, "S(0:3,1),R"));

    /* Values that still have to be added up: here each rank contributes r + 1. */
    dt_tensor *mine = dt_full(ctx, DT_SHAPE(2, 2), (double)dt_rank(ctx) + 1);
    dt_tensor *sum = dt_from_local(ctx, mine, mesh, "P(sum),P(sum)");
    print_locals("partial", sum);
    print_locals("summed over tp", dt_redistribute(sum, "P(sum),R"));
    print_locals("summed over both, sharded", dt_redistribute(sum, "S(0),S(1)"));

    /* Started and waited for: in between the rank may do something else, but not change the tensor. */
    dt_transfer *transfer = dt_redistribute_start(columns, "S(0),R");
    print_locals("started and waited for", dt_transfer_wait(transfer));

    /* The full tensor as a plain one, and an element of it. */
    dt_tensor *full = dt_full_tensor(columns);
    if (first && full)
        printf("full: element (3,5) is %g\n", dt_item(dt_select(dt_select(full, 0, 3), 0, 5)));

    /* A reduction cannot be undone: that is refused on every rank, and nothing is sent. */
    if (!dt_redistribute(rows, "P(sum),R") && first)
        printf("refused: %s\n", dt_error_text(ctx));
    dt_error_clear(ctx);

    dt_mesh_release(mesh);
    return dt_close(ctx); /* frees the tensors that are left */
}
