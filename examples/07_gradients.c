/* SPDX-License-Identifier: Apache-2.0
 *
 * 7: gradients. A linear model is fitted to data whose rows are sharded. The weights are replicated, so each rank
 * computes their gradient from its own rows: a partial sum, which dt_backward brings to the placement of the weights.
 * The numbers are those of one rank.
 *
 *     $ dtrun -n 4 ./07_gradients       # any number of ranks computes the same
 */
#include <dtensor/dtensor.h>

#include <stdio.h>

enum { ROWS = 50, COLUMNS = 3, STEPS = 20 };

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bool first = dt_rank(ctx) == 0;
    dt_mesh *mesh = dt_mesh_new(ctx, "dp=*");

    /* Targets are a product with known weights; the fit has to find them. */
    dt_tensor *x = dt_randn(ctx, DT_SHAPE(ROWS, COLUMNS), .dtype = DT_F64, .mesh = mesh, .place = "S(0)");
    dt_tensor *known = dt_linspace(ctx, 1, 2, COLUMNS, .dtype = DT_F64, .mesh = mesh);
    dt_tensor *y = dt_matmul(x, known);

    dt_tensor *w = dt_zeros(ctx, DT_SHAPE(COLUMNS), .dtype = DT_F64, .mesh = mesh, .requires_grad = true);
    dt_optimizer *sgd = dt_sgd_new(ctx, 0.1, .momentum = DT_REAL(0.5));
    dt_comm_policy(ctx, DT_COMM_ERROR); /* gradients are brought to their placements; nothing else may move */
    dt_comm_stats_begin(ctx);
    for (int step = 0; step <= STEPS && !dt_failed(ctx); step++) {
        dt_scope scope =
            dt_scope_begin(ctx); /* tensors of the step are freed with it; gradients belong to the weights */
        dt_tensor *loss = dt_mse_loss(dt_matmul(x, w), y);
        dt_zero_grad(DT_TENSORS(w));
        dt_backward(loss);
        dt_optimizer_step(sgd, .parameters = DT_TENSORS(w));
        if (step % 5 == 0) {
            double value = dt_item(loss);
            if (first)
                printf("step %2d: loss %.6f\n", step, value);
        }
        dt_scope_end(scope);
    }
    dt_comm_stats_end(ctx);
    const double *fitted = dt_data(w);
    if (first && fitted) {
        printf("weights: %.4f %.4f %.4f\n", fitted[0], fitted[1], fitted[2]);
        dt_comm_statistics moved = dt_comm_stats(ctx, &(dt_comm_filter){.op = "backward"});
        printf("moved: %d all-reduces of gradients in %d steps\n", (int)moved.n, STEPS + 1);
    }
    dt_mesh_release(mesh);
    return dt_close(ctx);
}
