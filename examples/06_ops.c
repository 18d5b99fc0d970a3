/* SPDX-License-Identifier: Apache-2.0
 *
 * 6: ops. An op runs on the local tensors of each rank, and the library derives the placements of its result. If no
 * correct way is free with the given placements, it selects the cheapest one; dt_explain shows what it would do and
 * why, counters what it did, and a policy makes transfers that the program did not request an error.
 *
 *     $ dtrun -n 4 ./06_ops
 *     $ dtrun -n 6 ./06_ops             # other placements may be the cheapest
 *     $ dtensor explain 'matmul(f32[64,96] S(0); f32[96,32] S(0)) on mesh(tp=4)'        # the same without a program
 */
#include <dtensor/dtensor.h>

#include <stdio.h>

/* The text of a result, and what was received since the last one. */
static void print_result(const char *call, dt_tensor *x) {
    char text[128];
    dt_ctx *ctx = dt_tensor_ctx(x);
    if (!x) /* a call failed; dt_close prints why */
        return;
    dt_comm_statistics moved = dt_comm_stats(ctx, NULL);
    dt_tensor_text(x, sizeof text, text);
    if (dt_rank(ctx) == 0)
        printf("%-28s %-34s %lld collectives, %lld bytes\n", call, text, (long long)moved.n, (long long)moved.bytes);
    dt_comm_stats_begin(ctx); /* from zero again */
}

/* The placements of results follow from those of the inputs. */
static void follow_placements(dt_tensor *x, dt_tensor *w) {
    print_result("add(x, x)", dt_add(x, x));
    print_result("transpose(x)", dt_transpose(x, 0, 1));
    print_result("matmul(x, w), w replicated", dt_matmul(x, w));
    print_result("sum of each row", dt_sum(x, .dim = DT_DIMS(1)));
    print_result("sum of each column", dt_sum(x, .dim = DT_DIMS(0)));
    print_result("softmax of rows", dt_softmax(x, -1));
    print_result("softmax of columns", dt_softmax(x, 0)); /* ranks exchange a maximum and a sum per column */
    print_result("rows 8 to 63", dt_narrow(x, 0, 8, 56)); /* each rank fetches the rows that it lacks */
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bool first = dt_rank(ctx) == 0;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(64, 96), .mesh = mesh, .place = "S(0)");
    dt_tensor *w = dt_ones(ctx, DT_SHAPE(96, 32), .mesh = mesh);
    dt_comm_stats_begin(ctx);
    follow_placements(x, w);

    /* Both factors sharded by rows: something has to move. The explanation lists the candidates by cost; the star is
     * the one that is run. */
    dt_tensor *v = dt_redistribute(w, "S(0)");
    const char *why = dt_explain(ctx, "matmul", x, v);
    if (first && why)
        printf("\n%s\n", why);
    print_result("matmul(x, v), v by rows", dt_matmul(x, v));

    /* A call by name, as for ops that a program adds itself. */
    print_result("relu, by name", dt_call(ctx, "relu", x));

    /* With only requested transfers allowed, this product is an error on every rank, before anything moves. */
    dt_comm_policy(ctx, DT_COMM_ERROR);
    if (!dt_matmul(x, v) && first)
        printf("\n%s\n", dt_error_text(ctx));
    dt_error_clear(ctx);
    print_result("requested", dt_matmul(x, dt_redistribute(v, "R")));

    dt_mesh_release(mesh);
    return dt_close(ctx);
}
