/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of a pipeline on two ranks: an MLP of 12 layers f32[512,512], cut into a stage per rank, and 8 micro-batches of
 * 64 rows. The time of a step is printed next to the makespan that dt_schedule_simulate_stages computes from the times
 * of F, I and W of each stage, measured in the same step, and of a hop, measured on its own. Then what an action costs
 * besides its stage: what a step takes over its simulated time, per action, if its stages compute almost nothing. The
 * fastest of repeats (settle.h).
 *
 *     bench_pipeline [--quick]
 */
#include <dtensor/dtensor.h>

#include "settle.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RANKS = 2, LAYERS = 12, WIDTH = 512, ROWS = 64, MICRO = 8, MESSAGES = 20 };

typedef struct pipeline {
    dt_ctx *ctx;
    dt_mesh *mesh;
    dt_schedule *schedule;
    dt_params *params;
    int64_t width, rows, layers; /* layers: per stage */
    dt_tensor *weights[LAYERS], *inputs[MICRO], *targets[MICRO];
    char hop[64];
    dt_stage_times times[RANKS]; /* of each stage in the fastest step */
    double best;
} pipeline;

static dt_tensor *run_stage(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    const pipeline *self = user;
    x = stage == 0 ? self->inputs[micro] : x;
    for (int64_t i = stage * self->layers; i < (stage + 1) * self->layers; i++)
        x = dt_relu(dt_linear(x, self->weights[i]));
    return stage == RANKS - 1 ? dt_mse_loss(x, self->targets[micro]) : x;
}

static void make(pipeline *self, dt_ctx *ctx, dt_mesh *mesh, const char *schedule, int64_t layers, int64_t width,
                 int64_t rows) {
    *self = (pipeline){.ctx = ctx, .mesh = mesh, .width = width, .rows = rows, .layers = layers, .best = 1e9};
    self->schedule = dt_schedule_new(ctx, schedule, .ranks = DT_INT(RANKS), .micro = DT_INT(MICRO));
    self->params = dt_params_new(ctx, .mesh = mesh);
    dt_mesh *on[RANKS];
    for (int s = 0; s < RANKS; s++)
        on[s] = dt_pipeline_mesh(self->schedule, mesh, s);
    for (int i = 0; i < RANKS * layers; i++) {
        dt_params_begin(self->params, "%d.", i);
        self->weights[i] =
            dt_param(self->params, "weight", DT_SHAPE(width, width), .std = DT_REAL(0.05), .on = on[i / layers]);
        dt_params_end(self->params);
    }
    for (int m = 0; m < MICRO; m++) {
        self->inputs[m] = dt_randn(ctx, DT_SHAPE(rows, width), .mesh = on[0]);
        self->targets[m] = dt_randn(ctx, DT_SHAPE(rows, width), .mesh = on[RANKS - 1]);
    }
    for (int s = 0; s < RANKS; s++)
        dt_mesh_release(on[s]);
    snprintf(self->hop, sizeof self->hop, "f32[%d,%d]", (int)rows, (int)width);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The largest of all ranks. */
static double slowest(dt_ctx *ctx, double seconds) {
    dt_comm_all_reduce(dt_group_world(ctx), &seconds, &seconds, 1, DT_F64, DT_MAX);
    return seconds;
}

static double run_step(void *user) {
    pipeline *self = user;
    dt_stage_times times[RANKS] = {0};
    double loss;
    dt_zero_grad(dt_params_list(self->params, NULL));
    dt_comm_barrier(dt_group_world(self->ctx));
    const double begin = now();
    dt_pipeline_run(self->schedule, self->mesh, run_stage, self, .hop = self->hop, .loss = &loss,
                    .stage_times = times);
    const double seconds = slowest(self->ctx, now() - begin);
    dt_comm_all_reduce(dt_group_world(self->ctx), times, times, 4 * RANKS, DT_F64, DT_SUM);
    if (seconds < self->best) {
        self->best = seconds;
        memcpy(self->times, times, sizeof times);
    }
    return dt_failed(self->ctx) ? -1 : seconds;
}

/* A message of a hop there and back, halved. */
static double run_hop(void *user) {
    pipeline *self = user;
    dt_group *world = dt_group_world(self->ctx);
    const int64_t n = self->rows * self->width;
    float *data = dt_heap_alloc(self->ctx, (size_t)n * sizeof *data);
    memset(data, 0, (size_t)n * sizeof *data);
    dt_comm_barrier(world);
    const double begin = now();
    for (int i = 0; i < MESSAGES; i++)
        for (int way = 0; way < 2; way++)
            if (dt_rank(self->ctx) == way)
                dt_comm_send(world, data, n, DT_F32, 1 - way);
            else
                dt_comm_recv(world, data, n, DT_F32, way);
    const double seconds = slowest(self->ctx, now() - begin) / (2 * MESSAGES);
    dt_heap_free(self->ctx, data);
    return dt_failed(self->ctx) ? -1 : seconds;
}

static bool settle(double budget_s, bench_repeat *repeat, void *user, double *best) {
    bench_settle settle = bench_settle_new(budget_s);
    double seconds[BENCH_MAX_BATCH];
    int n;
    do {
        n = bench_settle_batch(&settle);
        for (int i = 0; i < n; i++)
            if ((seconds[i] = repeat(user)) < 0)
                return false;
    } while (bench_settle_continues(&settle, seconds, n));
    *best = settle.best;
    return true;
}

static void print_figure(const char *schedule, const char *what, double ours, const char *peer, double theirs) {
    printf("{\"bench\":\"pipeline\",\"config\":{\"schedule\":\"%s\",\"what\":\"%s\"},\"ours\":%.3f,\"unit\":\"us\","
           "\"peer\":\"%s\",\"theirs\":%.3f}\n",
           schedule, what, ours * 1e6, peer, theirs * 1e6);
}

/* The step by the times of each stage in the fastest one. */
static double simulate(pipeline *self, double hop) {
    for (int s = 0; s < RANKS; s++)
        self->times[s].hop = hop;
    return dt_schedule_simulate_stages(self->schedule, self->times, NULL);
}

static bool report_steps(dt_ctx *ctx, dt_mesh *mesh, double budget_s) {
    static const char *const names[] = {"1f1b", "zb-h1"};
    pipeline all[2];
    double seconds[2], hop;
    for (int i = 0; i < 2; i++)
        make(&all[i], ctx, mesh, names[i], LAYERS / RANKS, WIDTH, ROWS);
    if (!settle(budget_s, run_hop, &all[0], &hop))
        return false;
    if (!bench_settle_pair(budget_s, (bench_repeat *const[]){run_step, run_step}, (void *const[]){&all[0], &all[1]},
                           seconds))
        return false;
    for (int i = 0; i < 2; i++) {
        const double simulated = simulate(&all[i], hop);
        if (dt_rank(ctx) != 0)
            continue;
        printf("%-8s %10.0f %10.0f %8.1f %8.1f", names[i], all[i].best * 1e6, simulated * 1e6,
               100 * (all[i].best / simulated - 1), hop * 1e6);
        for (int s = 0; s < RANKS; s++)
            printf("   %.0f, %.0f, %.0f", all[i].times[s].forward * 1e6, all[i].times[s].input * 1e6,
                   all[i].times[s].weight * 1e6);
        printf("\n");
        print_figure(names[i], "step", all[i].best, "simulated", simulated);
    }
    if (dt_rank(ctx) == 0)
        print_figure("zb-h1", "step", seconds[1], "1f1b", seconds[0]);
    return true;
}

static bool report_actions(dt_ctx *ctx, dt_mesh *mesh, double budget_s) {
    pipeline self;
    double seconds, hop;
    make(&self, ctx, mesh, "zb-h1", 1, 4, 4);
    if (!settle(budget_s, run_hop, &self, &hop) || !settle(budget_s, run_step, &self, &seconds))
        return false;
    const double simulated = simulate(&self, hop),
                 action = (self.best - simulated) / (double)dt_schedule_n_actions(self.schedule, 0);
    if (dt_rank(ctx) == 0) {
        printf("an action without its stage: %.2f us, limit 20\n", action * 1e6);
        print_figure("zb-h1", "action", action, "limit", 20e-6);
    }
    return true;
}

static int run(dt_ctx *ctx, void *arg) {
    const double budget_s = *(const bool *)arg ? 0.1 : 1;
    dt_mesh *mesh = dt_mesh_new(ctx, "pp=2");
    if (dt_rank(ctx) == 0)
        printf("%-8s %10s %10s %8s %8s   %s\n", "step, us", "measured", "simulated", "over, %", "hop",
               "F, I or B, W of each stage");
    if (report_steps(ctx, mesh, budget_s))
        (void)report_actions(ctx, mesh, budget_s);
    dt_mesh_release(mesh);
    return dt_failed(ctx);
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    char *error = NULL;
    if (dt_spawn(RANKS, run, &quick, &error) == DT_OK)
        return 0;
    fprintf(stderr, "bench_pipeline: %s\n", error);
    return 1;
}
