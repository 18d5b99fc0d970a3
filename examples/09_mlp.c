/* SPDX-License-Identifier: Apache-2.0
 *
 * 9: a model is one function; how it is parallel is a matter of placements. Two linear layers run with replicated
 * weights and with weights that are sharded as in Megatron, where each rank computes its share of the hidden units.
 * The results are the same, and so are the gradients. Counters show what was sent: one all-reduce forward, and one
 * backward for the gradient of the input. A policy makes hidden transfers an error.
 *
 *     $ dtrun -n 4 ./09_mlp             # any number of ranks computes the same
 */
#include <dtensor/dtensor.h>

#include <stdio.h>

enum { BATCH = 6, IN = 8, HIDDEN = 20, OUT = 5 };

struct mlp {
    dt_tensor *w1, *b1, *w2, *b2; /* [HIDDEN,IN] [HIDDEN] [OUT,HIDDEN] [OUT] */
};

static dt_tensor *mlp_forward(const struct mlp *m, dt_tensor *x) {
    return dt_linear(dt_gelu(dt_linear(x, m->w1, m->b1)), m->w2, m->b2);
}

/* The same numbers for any placements: they follow from the seed and the global index. */
static struct mlp mlp_new(dt_ctx *ctx, dt_mesh *mesh, const char *w1, const char *b1, const char *w2) {
    dt_generator_seed(dt_generator_default(ctx), 6);
    return (struct mlp){
        .w1 = dt_randn(ctx, DT_SHAPE(HIDDEN, IN), .std = DT_REAL(0.3), .mesh = mesh, .place = w1),
        .b1 = dt_randn(ctx, DT_SHAPE(HIDDEN), .std = DT_REAL(0.3), .mesh = mesh, .place = b1),
        .w2 = dt_randn(ctx, DT_SHAPE(OUT, HIDDEN), .std = DT_REAL(0.3), .mesh = mesh, .place = w2),
        .b2 = dt_randn(ctx, DT_SHAPE(OUT), .std = DT_REAL(0.3), .mesh = mesh, .place = "R"),
    };
}

/* The squared distance of two tensors. */
static double distance(dt_tensor *a, dt_tensor *b) {
    dt_tensor *difference = dt_sub(a, b);
    return dt_item(dt_sum(dt_mul(difference, difference)));
}

int main(void) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    bool first = dt_rank(ctx) == 0;
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*"); /* all ranks, however many */
    dt_tensor *x = dt_linspace(ctx, -1, 1, BATCH * IN, .mesh = mesh, .place = "R");
    x = dt_reshape(x, DT_SHAPE(BATCH, IN));
    dt_set_requires_grad(x, true);

    struct mlp replicated = mlp_new(ctx, mesh, "R", "R", "R");
    dt_tensor *expected = mlp_forward(&replicated, x);
    dt_backward(dt_sum(dt_mul(expected, expected)));
    dt_tensor *gradient = dt_clone(dt_grad(x)); /* of the input, as the layer below would need it */
    dt_zero_grad(DT_TENSORS(x));

    /* Hidden units are sharded: rows of w1, elements of b1, columns of w2. 20 units need not divide by the number of
     * ranks. From now on a transfer that the program does not request is an error. */
    dt_comm_policy(ctx, DT_COMM_ERROR);
    struct mlp sharded = mlp_new(ctx, mesh, "S(0)", "S(0)", "S(1)");
    dt_comm_stats_begin(ctx);
    dt_tensor *partial = mlp_forward(&sharded, x); /* P(sum): each rank has what its units contribute */
    dt_tensor *y = dt_reduced(partial);            /* requested: the one all-reduce of the forward pass */
    dt_comm_statistics forward = dt_comm_stats(ctx, NULL);
    dt_backward(dt_sum(dt_mul(y, y)));
    dt_comm_stats_end(ctx);

    double squares = distance(y, expected), of_gradients = distance(dt_grad(x), gradient);
    const float *logits = dt_data(y);
    if (first && logits) {
        printf("logits of the first row:");
        for (int i = 0; i < OUT; i++)
            printf(" %.4f", (double)logits[i]);
        printf("\nas with replicated weights: %s\n", squares < 1e-10 ? "yes" : "no");
        printf("gradients of the input: %s\n", of_gradients < 1e-10 ? "the same" : "different");
        dt_comm_statistics all = dt_comm_stats(ctx, NULL);
        printf("moved: forward %d all-reduce, %d bytes received; backward %d, %d bytes\n", (int)forward.n,
               (int)forward.bytes, (int)(all.n - forward.n), (int)(all.bytes - forward.bytes));
    }

    /* Columns of w1 instead: its product is partial, and gelu is not linear, so the library would have to reduce it
     * on its own. The policy refuses that and names this call. */
    struct mlp wrong = mlp_new(ctx, mesh, "S(1)", "R", "S(1)");
    dt_tensor *hidden = dt_linear(dt_redistribute(x, "S(1)"), wrong.w1, wrong.b1);
    if (!dt_gelu(hidden) && first)
        printf("moved: nothing; %s\n", dt_error_text(ctx));
    dt_error_clear(ctx);

    dt_mesh_release(mesh);
    return dt_close(ctx);
}
