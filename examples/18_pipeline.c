/* SPDX-License-Identifier: Apache-2.0
 *
 * 18: a pipeline. An MLP is cut into stages, one per rank of the mesh dim pp; a batch into micro-batches, which the
 * stages work on at the same time. The schedule is a table: it is printed with its timeline before it runs. Losses are
 * those of one rank, whatever the schedule and the number of stages per rank.
 *
 *     $ dtrun -n 4 ./18_pipeline         # up to 12 ranks, a stage each
 *     $ dtrun -n 2 ./18_pipeline
 *
 * An argument is another schedule: gpipe, 1f1b, interleaved, zb-v, dualpipe-v, or the text of a table.
 */
#include <dtensor/dtensor.h>

#include <stdio.h>

enum { LAYERS = 12, WIDTH = 16, MICRO = 8, ROWS = 4, STEPS = 40 };

struct net {
    int64_t stages;
    dt_tensor *weights[LAYERS], *inputs[MICRO], *targets[MICRO]; /* [WIDTH,WIDTH], [ROWS,WIDTH] */
};

static int64_t first_layer(const struct net *net, int64_t stage) { return stage * LAYERS / net->stages; }

/* A stage is some of the layers; the last one ends in the loss. */
static dt_tensor *run_stage(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    const struct net *net = user;
    x = stage == 0 ? net->inputs[micro] : x;
    for (int64_t i = first_layer(net, stage); i < first_layer(net, stage + 1); i++)
        x = dt_add(x, dt_tanh(dt_linear(x, net->weights[i])));
    return stage == net->stages - 1 ? dt_mse_loss(x, net->targets[micro]) : x;
}

/* The parameters of a stage are on its slice of the mesh; the first stage has the inputs, the last one the targets. */
static struct net net_new(dt_ctx *ctx, dt_params *p, dt_schedule *schedule, dt_mesh *mesh) {
    struct net net = {.stages = dt_schedule_n_stages(schedule)};
    dt_mesh *on = NULL;
    for (int64_t stage = 0, i = 0; stage < net.stages; stage++) {
        on = dt_pipeline_mesh(schedule, mesh, stage);
        for (; i < first_layer(&net, stage + 1); i++) {
            dt_params_begin(p, "%d.", (int)i);
            net.weights[i] = dt_param(p, "weight", DT_SHAPE(WIDTH, WIDTH), .std = DT_REAL(0.1), .on = on);
            dt_params_end(p);
        }
    }
    dt_mesh *first = dt_pipeline_mesh(schedule, mesh, 0);
    for (int m = 0; m < MICRO; m++) {
        net.inputs[m] = dt_randn(ctx, DT_SHAPE(ROWS, WIDTH), .mesh = first, .place = "dp=S(0)");
        net.targets[m] = dt_randn(ctx, DT_SHAPE(ROWS, WIDTH), .mesh = on, .place = "dp=S(0)");
    }
    return net;
}

int main(int argc, char **argv) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return 1;
    dt_mesh *mesh = dt_mesh_new(ctx, "pp=*,dp=1"); /* pp=2,dp=2 on four ranks: the same losses */
    dt_schedule *schedule = dt_schedule_new(ctx, argc > 1 ? argv[1] : "zb-h1",
                                            .ranks = DT_INT(dt_mesh_dim_size(mesh, 0)), .micro = DT_INT(MICRO));
    if (dt_rank(ctx) == 0 && schedule)
        printf("%s", dt_schedule_timeline(schedule, NULL));
    dt_generator_seed(dt_generator_default(ctx), 18);
    dt_params *p = dt_params_new(ctx, .mesh = mesh);
    struct net net = net_new(ctx, p, schedule, mesh);
    dt_optimizer *opt = dt_adamw_new(ctx, 0.01, .params = p);
    for (int step = 1; step <= STEPS && !dt_failed(ctx); step++) {
        double loss = 0;
        dt_pipeline_run(schedule, mesh, run_stage, &net, .hop = "f32[4,16] dp=S(0)", .params = p, .loss = &loss);
        dt_clip_grad_norm(dt_params_list(p, NULL), 1.0, .mesh = mesh);
        dt_optimizer_step(opt);
        dt_zero_grad(dt_params_list(p, NULL));
        if (dt_rank(ctx) == 0 && step % 10 == 0)
            printf("step %2d: loss %.3f\n", step, loss);
    }
    return dt_close(ctx);
}
