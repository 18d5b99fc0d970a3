/* SPDX-License-Identifier: Apache-2.0
 *
 * Running pipelines: losses and gradients of every schedule against a loop over micro-batches on one device; uneven
 * micro-batches, several tensors in a hop, tied parameters, dropout, live activations, the number of reductions, and
 * steps that fail. Ranks 1, 2, 3, 4 and 6 on shm.
 */
#include "support/ranks.h"

#include "dtensor/dtensor.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 6, ROWS = 5, MAX_STAGES = 8, MAX_MICRO = 16 };

typedef struct scenario {
    const char *schedule, *mesh, *hop, *rules;
    int64_t ranks, stages, micro; /* ranks: along pp */
    const int64_t *rows;
    double dropout;
    bool tied;
} scenario;

/* Stage s is a residual block; the first one has an embedding, whose weight the last one may share. */
typedef struct net {
    dt_ctx *ctx;
    const scenario *of;
    dt_params *params;
    dt_tensor *embedding, *head, *weights[MAX_STAGES], *biases[MAX_STAGES];
    dt_tensor *inputs[MAX_MICRO], *targets[MAX_MICRO];
    int64_t fails_at;    /* the stage that fails in its second micro-batch; -1: none */
    char fails_in;       /* F, or in a gradient of its result (I) or of its weight (W) */
    int64_t n_gradients; /* of that kind, so far */
    struct killing *death;
    int line; /* of the call that fails */
} net;

/* Where a rank is killed, and when that was; in memory that the ranks share. */
typedef struct killing {
    int schedule;                  /* in `deadly` */
    int64_t rank, event, n_events; /* events: the beginning of each F, and gradients in each I and each W */
    double at, ended[8];           /* seconds; 0: it was not */
    bool has_line_twice;           /* an error of another rank */
} killing;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void come_to_event(const net *self) {
    killing *death = self->death;
    if (!death || dt_rank(self->ctx) != death->rank || death->n_events++ != death->event)
        return;
    death->at = now();
    raise(SIGKILL);
}

static dt_tensor *come_to_gradient(dt_tensor *grad, void *user) {
    (void)grad;
    come_to_event(user);
    return NULL;
}

static dt_tensor *fail_in_second_gradient(dt_tensor *grad, void *user) {
    net *self = user;
    (void)grad;
    if (self->fails_at < 0 || self->n_gradients++ != 1)
        return NULL;
    self->line = __LINE__ + 1;
    return dt_matmul(grad, dt_zeros(self->ctx, DT_SHAPE(1, 1)));
}

static int64_t rows_of(const scenario *of, int64_t micro) { return of->rows ? of->rows[micro] : ROWS; }

static dt_tensor *run_stage(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    net *self = user;
    come_to_event(self);
    self->line = __LINE__ + 2;
    if (stage == self->fails_at && self->fails_in == 'F' && micro == 1)
        return dt_matmul(x, dt_zeros(self->ctx, DT_SHAPE(1, 1)));
    if (stage == 0)
        x = dt_linear(self->inputs[micro], self->embedding);
    dt_tensor *y = dt_tanh(dt_linear(x, self->weights[stage], self->biases[stage]));
    if (self->death)
        (void)dt_grad_hook_add(y, come_to_gradient, self);
    if (stage == self->fails_at && self->fails_in == 'I')
        (void)dt_grad_hook_add(y, fail_in_second_gradient, self);
    y = self->of->dropout > 0 ? dt_dropout(y, .p = DT_REAL(self->of->dropout)) : y;
    x = dt_add(x, dt_reduced(y));
    if (stage + 1 < self->of->stages)
        return x;
    x = dt_reduced(dt_linear(x, self->head));
    return dt_mse_loss(x, self->targets[micro]);
}

/* The full tensor of a micro-batch; the same numbers on every rank. */
static dt_tensor *numbers(net *self, int64_t micro, double shift, dt_mesh *mesh, const char *place) {
    static double values[ROWS * WIDTH];
    for (int i = 0; i < ROWS * WIDTH; i++)
        values[i] = sin(0.7 * i + 3.1 * (double)micro + shift);
    dt_tensor *all = dt_clone(dt_from_memory(self->ctx, values, DT_SHAPE(rows_of(self->of, micro), WIDTH), DT_F64));
    return mesh ? dt_distribute_tensor(all, mesh, place, .everywhere = true) : all;
}

/* On the meshes of a schedule, or plain without one. */
static net net_new(dt_ctx *ctx, const scenario *of, dt_schedule *schedule, dt_mesh *mesh) {
    net self = {.ctx = ctx, .of = of, .fails_at = -1, .fails_in = 'F'};
    const char *place = mesh && strchr(of->hop, ']')[1] ? strchr(of->hop, ']') + 2 : NULL;
    dt_mesh *on[MAX_STAGES] = {NULL};
    for (int64_t s = 0; s < of->stages && mesh; s++)
        on[s] = dt_pipeline_mesh(schedule, mesh, s);
    dt_generator_seed(dt_generator_default(ctx), 11);
    self.params = dt_params_new(ctx, .mesh = mesh, .dtype = DT_F64, .rules = mesh ? of->rules : NULL);
    self.embedding = dt_param(self.params, "embedding", DT_SHAPE(WIDTH, WIDTH), .std = DT_REAL(0.5), .on = on[0]);
    for (int64_t s = 0; s < of->stages; s++) {
        dt_params_begin(self.params, "%d.", (int)s);
        self.weights[s] = dt_param(self.params, "weight", DT_SHAPE(WIDTH, WIDTH), .std = DT_REAL(0.5), .on = on[s]);
        self.biases[s] = dt_param(self.params, "bias", DT_SHAPE(WIDTH), .std = DT_REAL(0.1), .on = on[s]);
        dt_params_end(self.params);
    }
    dt_mesh *last = on[of->stages - 1];
    self.head = of->tied ? dt_param(self.params, "head", DT_SHAPE(WIDTH, WIDTH), .tied = "embedding", .on = last)
                         : dt_param(self.params, "head", DT_SHAPE(WIDTH, WIDTH), .std = DT_REAL(0.5), .on = last);
    for (int64_t m = 0; m < of->micro; m++) {
        self.inputs[m] = numbers(&self, m, 0, on[0], place);
        self.targets[m] = numbers(&self, m, 1, last, place);
    }
    for (int64_t s = 0; s < of->stages; s++)
        dt_mesh_release(on[s]);
    return self;
}

/* The loss of a step on one device, and the gradients of its parameters. */
static double run_plain(net *self) {
    double loss = 0, total = 0;
    for (int64_t m = 0; m < self->of->micro; m++)
        total += (double)rows_of(self->of, m);
    for (int64_t m = 0; m < self->of->micro; m++) {
        dt_scope scope = dt_scope_begin(self->ctx);
        dt_tensor *x = NULL;
        for (int64_t s = 0; s < self->of->stages; s++)
            x = run_stage(s, m, x, self);
        x = dt_mul_scalar(x, (double)rows_of(self->of, m) / total);
        dt_backward(x);
        loss += dt_item(x);
        dt_scope_end(scope);
    }
    return loss;
}

static dt_status run_pipeline(net *self, dt_schedule *schedule, dt_mesh *mesh, double *loss) {
    return dt_pipeline_run(schedule, mesh, run_stage, self, .hop = self->of->hop, .rows = self->of->rows,
                           .params = self->params, .loss = loss);
}

static bool has(const dt_tensor *tensor) {
    int64_t coordinate[8];
    return dt_mesh_coordinate(dt_spec_mesh(dt_tensor_spec(tensor)), coordinate);
}

static int compare(const net *a, const net *b, double tolerance) {
    for (int i = 0; i < dt_params_n(a->params); i++) {
        dt_tensor *mine = dt_params_tensor(a->params, i),
                  *plain = dt_params_get(b->params, dt_params_name(a->params, i));
        if (!has(mine))
            continue;
        CHECK(dt_grad(mine), "%s has no gradient", dt_params_name(a->params, i));
        const double *got = dt_data(dt_full_tensor(dt_grad(mine))), *expected = dt_data(dt_grad(plain));
        for (int64_t k = 0; k < dt_tensor_elements(plain); k++)
            CHECK(fabs(got[k] - expected[k]) <= tolerance, "%s of %s on %s: %s[%d]: %.17g, expected %.17g",
                  a->of->schedule, a->of->mesh, a->of->hop, dt_params_name(a->params, i), (int)k, got[k],
                  expected[k]);
    }
    return 0;
}

static dt_schedule *schedule_of(dt_ctx *ctx, const scenario *of) {
    return dt_schedule_new(ctx, of->schedule, .ranks = DT_INT(of->ranks), .stages = DT_INT(of->stages),
                           .micro = DT_INT(of->micro));
}

static int gradients(dt_ctx *ctx, void *arg) {
    const scenario *of = arg;
    dt_mesh *mesh = dt_mesh_new(ctx, of->mesh);
    dt_schedule *schedule = schedule_of(ctx, of);
    CHECK(mesh && schedule, "%s", dt_error_text(ctx));
    net self = net_new(ctx, of, schedule, mesh), plain = net_new(ctx, of, NULL, NULL);
    const double expected = run_plain(&plain);
    for (int step = 0; step < 2; step++) { /* the second time, channels are open and specs are cached */
        double loss = -1;
        CHECK_OK(ctx, dt_zero_grad(dt_params_list(self.params, NULL)));
        CHECK_OK(ctx, run_pipeline(&self, schedule, mesh, &loss));
        CHECK(fabs(loss - expected) < 1e-12, "%s on %s: loss %.17g, expected %.17g", of->schedule, of->mesh, loss,
              expected);
        if (compare(&self, &plain, 1e-12))
            return 1;
    }
    const double norm = dt_item(dt_grad_norm(dt_params_list(self.params, NULL), .mesh = mesh)),
                 plain_norm = dt_item(dt_grad_norm(dt_params_list(plain.params, NULL)));
    CHECK(fabs(norm - plain_norm) < 1e-12, "norm %.17g, expected %.17g", norm, plain_norm);
    dt_mesh_release(mesh);
    return 0;
}

static void run__computes_the_gradients_of_a_loop(void **state) {
    (void)state;
    static const int64_t uneven[] = {5, 3, 4, 1, 5, 2, 5};
    static const char plain[] = "f64[5,6]", dp[] = "f64[5,6] dp=S(0)", fsdp[] = "f64[5,6] fsdp=S(0)";
    static const scenario all[] = {
        {"1f1b", "pp=1", plain, NULL, 1, 1, 3, NULL, 0, false},
        {"interleaved", "pp=1", plain, NULL, 1, 3, 3, NULL, 0, true},
        {"gpipe", "pp=2", plain, NULL, 2, 2, 1, NULL, 0, true},
        {"1f1b", "pp=2", plain, NULL, 2, 2, 7, uneven, 0, true},
        {"zb-h1", "pp=3", plain, NULL, 3, 3, 7, uneven, 0, true},
        {"interleaved", "pp=2", plain, NULL, 2, 6, 4, NULL, 0, true},
        {"zb-v", "pp=2", plain, NULL, 2, 4, 7, uneven, 0, true},
        {"dualpipe-v", "pp=3", plain, NULL, 3, 6, 8, NULL, 0, false},
        {"1f1b", "pp=4", plain, NULL, 4, 4, 2, NULL, 0, true},
        {"gpipe", "pp=2,dp=2", dp, NULL, 2, 2, 16, NULL, 0, true},
        {"zb-h1", "dp=3,pp=2", dp, NULL, 2, 2, 7, uneven, 0, true}, /* a micro-batch of 1 row: empty shards */
        {"zb-v", "pp=2,fsdp=2", fsdp, "* fsdp=free", 2, 4, 5, NULL, 0, true},
        {"1f1b", "pp=3,tp=2", plain, "*.weight tp=row\nhead? tp=S(0)", 3, 3, 4, NULL, 0, false},
        {"dualpipe-v", "pp=2,tp=2", plain, "*.weight tp=row", 2, 4, 4, NULL, 0, true},
        {"0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n", "pp=2", plain, NULL, 2, 2, 2, NULL, 0, false},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t n = all[i].ranks;
        for (const char *at = all[i].mesh; (at = strchr(at, '=')); at++)
            n = at == strstr(all[i].mesh, "pp=") + 2 ? n : n * atoi(at + 1);
        run_ranks(n, gradients, (void *)(uintptr_t)&all[i]);
    }
}

/* Dropout draws the same numbers for every schedule and mesh; the next step draws others. */
static int draws(dt_ctx *ctx, void *arg) {
    static const char *const names[] = {"interleaved", "interleaved", "zb-v", "dualpipe-v"};
    (void)arg;
    double losses[4][2];
    for (int i = 0; i < 4; i++) {
        const int64_t n = i ? 2 : 1;
        const scenario of = {names[i], i ? "pp=2,dp=2" : "dp=4", "f64[5,6] dp=S(0)", NULL, n, 4, 4, NULL, 0.3, false};
        dt_mesh *mesh = dt_mesh_new(ctx, of.mesh);
        dt_schedule *schedule = schedule_of(ctx, &of);
        net self = net_new(ctx, &of, schedule, mesh);
        for (int step = 0; step < 2; step++)
            CHECK_OK(ctx, run_pipeline(&self, schedule, mesh, &losses[i][step]));
        CHECK(losses[i][0] != losses[i][1], "both steps have loss %g", losses[i][0]);
        for (int step = 0; step < 2; step++)
            CHECK(fabs(losses[i][step] - losses[0][step]) < 1e-13, "%s: %.17g, expected %.17g", names[i],
                  losses[i][step], losses[0][step]);
        dt_mesh_release(mesh);
    }
    return 0;
}

static void run__draws_by_stage_and_micro_batch(void **state) {
    (void)state;
    run_ranks(4, draws, NULL);
}

/* Several tensors: a skip connection, and integers, which have no gradient. */
typedef struct skips {
    dt_ctx *ctx;
    dt_tensor *w[3];
} skips;

static dt_tensor *run_skips(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    skips *self = user;
    dt_ctx *ctx = self->ctx;
    dt_mesh *mesh = dt_spec_mesh(dt_tensor_spec(self->w[stage]));
    if (stage == 0) {
        dt_tensor *y = dt_mul_scalar(self->w[0], (double)micro + 1);
        dt_pipeline_output(ctx, 1, y);
        dt_pipeline_output(ctx, 2, dt_full(ctx, DT_SHAPE(3), DT_NUMBER(micro), .dtype = DT_I64, .mesh = mesh));
        return dt_square(y);
    }
    dt_tensor *skip = dt_pipeline_input(ctx, 1), *number = dt_pipeline_input(ctx, 2);
    dt_tensor *y = dt_mul(x, self->w[stage]);
    if (stage == 1) {
        dt_pipeline_output(ctx, 1, skip);
        dt_pipeline_output(ctx, 2, number);
        dt_pipeline_metric(ctx, 0, dt_mean(dt_to(number, DT_F64)));
        return y;
    }
    dt_pipeline_metric(ctx, 1, dt_mean(y));
    return dt_sum(dt_add(y, dt_mul(skip, dt_to(number, DT_F64))));
}

static int tensors(dt_ctx *ctx, void *arg) {
    (void)arg;
    dt_mesh *mesh = dt_mesh_new(ctx, "pp=3");
    static const char *const names[] = {"1f1b", "zb-h1"};
    for (int i = 0; i < 2; i++) {
        dt_schedule *schedule = dt_schedule_new(ctx, names[i], .ranks = DT_INT(3), .micro = DT_INT(3));
        skips self = {.ctx = ctx};
        double loss, metrics[2], weights[] = {1, 2, 1};
        for (int s = 0; s < 3; s++) {
            dt_mesh *on = dt_pipeline_mesh(schedule, mesh, s);
            self.w[s] =
                dt_full(ctx, DT_SHAPE(3), DT_NUMBER(s + 2), .dtype = DT_F64, .mesh = on, .requires_grad = true);
            dt_mesh_release(on);
        }
        CHECK_OK(ctx, dt_pipeline_run(schedule, mesh, run_skips, &self, .hop = "f64[3]; f64[3];i64[3]", .loss = &loss,
                                      .weights = weights, .metrics = metrics, .n_metrics = DT_INT(2)));
        /* y = (w0 k)^2 w1 w2 and k = m + 1; the loss is the sum of 3 (y + w0 k m) with weights 1, 2, 1 of 4 */
        double total = 0, grad = 0, mean = 0;
        for (int m = 0; m < 3; m++) {
            const double k = m + 1, w = weights[m] / 4;
            total += 3 * w * (4 * k * k * 12 + 2 * k * m);
            grad += w * (2 * 2 * k * k * 12 + k * m);
            mean += w * 4 * k * k * 12;
        }
        CHECK(fabs(loss - total) < 1e-12 && fabs(metrics[0] - 1) < 1e-12 && fabs(metrics[1] - mean) < 1e-12,
              "loss %g, metrics %g and %g", loss, metrics[0], metrics[1]);
        if (dt_rank(ctx) == 0) {
            const double *got = dt_data(dt_full_tensor(dt_grad(self.w[0])));
            CHECK(fabs(got[0] - grad) < 1e-12, "gradient %g, expected %g", got[0], grad);
        }
    }
    dt_mesh_release(mesh);
    return 0;
}

static void run__passes_several_tensors(void **state) {
    (void)state;
    run_ranks(3, tensors, NULL);
}

/* Links that carry different tensors: stage s makes a tensor of width s + 4 from one of width s + 3, and the second
 * link has the number of the micro-batch, too. */
static dt_tensor *run_widening(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    skips *self = user;
    dt_mesh *mesh = dt_spec_mesh(dt_tensor_spec(self->w[stage]));
    if (stage == 0)
        x = dt_full(self->ctx, DT_SHAPE(ROWS, 3), DT_NUMBER(micro + 1), .dtype = DT_F64, .mesh = mesh);
    if (stage == 1)
        dt_pipeline_output(self->ctx, 1,
                           dt_full(self->ctx, DT_SHAPE(ROWS), DT_NUMBER(micro), .dtype = DT_I64, .mesh = mesh));
    dt_tensor *y = dt_matmul(x, self->w[stage]);
    if (stage < 2)
        return y;
    return dt_mean(dt_mul(y, dt_unsqueeze(dt_to(dt_pipeline_input(self->ctx, 1), DT_F64), 1)));
}

static int widening(dt_ctx *ctx, void *arg) {
    static const char *const hops[] = {"f64[5,4]", "f64[5,5]; i64[5]"}, *const wrong[] = {"f64[5,4]", "f64[4,5]"};
    dt_mesh *mesh = dt_mesh_new(ctx, "pp=3");
    dt_schedule *schedule = dt_schedule_new(ctx, arg, .ranks = DT_INT(3), .micro = DT_INT(3));
    skips self = {.ctx = ctx};
    double loss;
    for (int s = 0; s < 3; s++) {
        dt_mesh *on = dt_pipeline_mesh(schedule, mesh, s);
        self.w[s] = dt_full(ctx, DT_SHAPE(s + 3, s + 4), DT_NUMBER(s + 2), .dtype = DT_F64, .mesh = on,
                            .requires_grad = true);
        dt_mesh_release(on);
    }
    CHECK_OK(ctx, dt_pipeline_run(schedule, mesh, run_widening, &self, .hops = hops, .loss = &loss));
    /* Elements of the result are (m + 1) * 3 * 2 * 4 * 3 * 5 * 4, times m: of the mean, (2 + 6) / 3. */
    CHECK(fabs(loss - 1440.0 * 8 / 3) < 1e-9, "loss %.17g", loss);
    /* The loss is linear in each weight, and the elements of a weight count alike. */
    const int64_t rank = dt_rank(ctx), n = (rank + 3) * (rank + 4);
    const double *grad = dt_data(dt_full_tensor(dt_grad(self.w[rank])));
    for (int64_t i = 0; i < n; i++)
        CHECK(fabs(grad[i] * (double)(n * (rank + 2)) - loss) < 1e-9, "gradient %.17g", grad[i]);
    CHECK(dt_pipeline_run(schedule, mesh, run_widening, &self, .hops = wrong) != DT_OK &&
              strstr(dt_error_text(ctx), "hop 1: expected 5 rows, as hop 0 has, got 'f64[4,5]'"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    return 0;
}

static void run__passes_what_each_link_states(void **state) {
    (void)state;
    static char names[][8] = {"1f1b", "zb-h1"};
    for (int i = 0; i < 2; i++)
        run_ranks(3, widening, names[i]);
}

/* Tied copies have the same bits after steps; gradients of dp are reduced once. */
static int trains(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const scenario of = {"1f1b", "pp=2,dp=2", "f64[5,6] dp=S(0)", NULL, 2, 2, 6, NULL, 0, true};
    dt_mesh *mesh = dt_mesh_new(ctx, of.mesh);
    dt_schedule *schedule = schedule_of(ctx, &of);
    net self = net_new(ctx, &of, schedule, mesh);
    dt_optimizer *optimizer = dt_adamw_new(ctx, 0.01, .params = self.params);
    const dt_tensors all = dt_params_list(self.params, NULL);
    double loss, first = 0;
    for (int step = 0; step < 5; step++) {
        dt_comm_stats_begin(ctx);
        CHECK_OK(ctx, run_pipeline(&self, schedule, mesh, &loss));
        dt_comm_stats_end(ctx);
        const dt_comm_statistics sums =
            dt_comm_stats(ctx, &(dt_comm_filter){.collective = "all_reduce", .op = "pipeline_run"});
        CHECK(sums.n <= 4, "%d all-reduces: expected one of gradients, and those of values", (int)sums.n);
        CHECK(dt_clip_grad_norm(all, 1.0, .mesh = mesh), "%s", dt_error_text(ctx));
        CHECK_OK(ctx, dt_optimizer_step(optimizer));
        CHECK_OK(ctx, dt_zero_grad(all));
        first = step ? first : loss;
    }
    CHECK(loss < 0.9 * first, "loss %g after %g", loss, first);
    dt_tensor *here = has(self.embedding) ? self.embedding : self.head;
    double sums[2 * WIDTH * WIDTH], *values = dt_data(dt_to_local(here));
    for (int i = 0; i < WIDTH * WIDTH; i++) {
        sums[i] = values[i];
        sums[WIDTH * WIDTH + i] = -values[i];
    }
    CHECK_OK(ctx, dt_comm_all_reduce(dt_group_world(ctx), sums, sums, 2 * WIDTH * WIDTH, DT_F64, DT_MAX));
    for (int i = 0; i < WIDTH * WIDTH; i++)
        CHECK(sums[i] == -sums[WIDTH * WIDTH + i], "element %d of the copies differs", i);
    dt_mesh_release(mesh);
    return 0;
}

static void run__keeps_tied_copies_equal(void **state) {
    (void)state;
    run_ranks(4, trains, NULL);
}

/* A stage that keeps a known number of bytes for its backward pass. */
enum { LARGE = 1 << 16 };

static dt_tensor *run_large(int64_t stage, int64_t micro, dt_tensor *x, void *user) {
    dt_tensor *const *w = user;
    (void)micro;
    if (stage == 0)
        x = dt_mul_scalar(w[0], 1);
    return stage == 3 ? dt_sum(dt_mul(x, w[3])) : dt_mul(x, w[stage]);
}

/* The tensors that the micro-batches of a stage keep: input and output. The output of the last stage is the loss, and
 * an input from the same rank is the output of the stage before. */
static int64_t kept_by(const dt_schedule *schedule, int64_t stage) {
    const int64_t rank = dt_schedule_rank_of(schedule, stage);
    return 2 - (stage == 3) - (stage > 0 && dt_schedule_rank_of(schedule, stage - 1) == rank);
}

/* The most tensors, and the most micro-batches, that a rank holds in the order of its row. */
static int64_t most_kept(const dt_schedule *schedule, int64_t rank, int64_t *micro_batches) {
    bool is_split[4][8] = {{false}}; /* has an I: lives until its W */
    int64_t kept = 0, live = 0, most = 0;
    dt_action action;
    for (int64_t i = 0; dt_schedule_action(schedule, rank, i, &action); i++)
        is_split[action.stage][action.micro] |= action.kind == 'I';
    *micro_batches = 0;
    for (int64_t i = 0; dt_schedule_action(schedule, rank, i, &action); i++) {
        const bool begins = action.kind == 'F',
                   ends = action.kind == (is_split[action.stage][action.micro] ? 'W' : 'B');
        kept += (begins - ends) * kept_by(schedule, action.stage);
        live += begins - ends;
        most = kept > most ? kept : most;
        *micro_batches = live > *micro_batches ? live : *micro_batches;
    }
    return most;
}

static int lives(dt_ctx *ctx, void *arg) {
    const int64_t n = dt_world(ctx), rank = dt_rank(ctx);
    dt_mesh *mesh = dt_mesh_new(ctx, n == 4 ? "pp=4" : "pp=2");
    dt_schedule *schedule = dt_schedule_new(ctx, arg, .ranks = DT_INT(n), .stages = DT_INT(4), .micro = DT_INT(8));
    dt_tensor *w[4];
    for (int s = 0; s < 4; s++) {
        dt_mesh *on = dt_pipeline_mesh(schedule, mesh, s);
        w[s] = dt_ones(ctx, DT_SHAPE(1, LARGE), .mesh = on, .requires_grad = true);
        dt_mesh_release(on);
    }
    const size_t before = dt_heap_stats(ctx).by_kind[DT_MEMORY_ACTIVATIONS].live_bytes;
    dt_stage_times times[4], mean;
    CHECK_OK(ctx, dt_pipeline_run(schedule, mesh, run_large, w, .hop = "f32[1,65536]", .times = &mean,
                                  .stage_times = times));
    double forward = 0;
    for (int s = 0; s < 4; s++) {
        const bool own = dt_schedule_rank_of(schedule, s) == rank;
        CHECK((times[s].forward > 0) == own && (times[s].input > 0) == own, "times of stage %d", s);
        forward += times[s].forward * (double)n / 4;
    }
    CHECK(fabs(mean.forward - forward) <= 1e-12, "%g, expected %g", mean.forward, forward);
    const dt_memory_use use = dt_heap_stats(ctx).by_kind[DT_MEMORY_ACTIVATIONS];
    CHECK(use.live_bytes == before, "%zu bytes are left", use.live_bytes - before);
    int64_t live;
    const size_t one = sizeof(float) * LARGE, least = one * (size_t)most_kept(schedule, rank, &live),
                 peak = use.peak_bytes - before;
    CHECK(live == dt_schedule_n_live(schedule, rank), "%s: %d micro-batches, the schedule states %d",
          (const char *)arg, (int)live, (int)dt_schedule_n_live(schedule, rank));
    /* and an input and an output that are being made */
    CHECK(peak >= least && peak <= least + 2 * one + 4096, "%s: rank %d: %zu bytes, expected %zu", (const char *)arg,
          (int)rank, peak, least);
    dt_mesh_release(mesh);
    return 0;
}

static void run__has_the_live_activations_of_the_table(void **state) {
    (void)state;
    static char names[][16] = {"gpipe", "1f1b", "zb-h1", "interleaved", "zb-v", "dualpipe-v"};
    for (int i = 0; i < 6; i++)
        run_ranks(i < 3 ? 4 : 2, lives, names[i]); /* four stages */
}

/* A stage that fails in its second micro-batch, in an action of this schedule. */
typedef struct failing {
    const char *schedule, *mesh, *hop;
    int64_t stage;
    char in, action; /* in: F, I or W of the net; action: as errors name it */
} failing;

/* A step that fails in one stage fails on all ranks, leaves no gradient, and can be repeated. */
static int fails(dt_ctx *ctx, void *arg) {
    const failing *at = arg;
    const scenario of = {at->schedule, at->mesh, at->hop, NULL, 2, 2, 4, NULL, 0.2, true};
    const int stage = (int)at->stage;
    dt_mesh *mesh = dt_mesh_new(ctx, of.mesh);
    dt_schedule *schedule = schedule_of(ctx, &of);
    net self = net_new(ctx, &of, schedule, mesh);
    double expected, loss = -1;
    dt_generator_seed(dt_generator_default(ctx), 5);
    CHECK_OK(ctx, run_pipeline(&self, schedule, mesh, &expected));
    CHECK_OK(ctx, dt_zero_grad(dt_params_list(self.params, NULL)));
    dt_generator_seed(dt_generator_default(ctx), 5);
    self.fails_at = stage;
    self.fails_in = at->in;
    if (at->in == 'W' && has(self.weights[stage]))
        (void)dt_grad_hook_add(self.weights[stage], fail_in_second_gradient, &self);
    CHECK(run_pipeline(&self, schedule, mesh, &loss) != DT_OK && loss == -1, "the step did not fail");
    char action[64], inner[64];
    snprintf(action, sizeof action, "pipeline_run: %d%c1: stage %d, micro-batch 1: matmul: ", stage, at->action,
             stage);
    snprintf(inner, sizeof inner, "test_pipeline_run.c:%d)", self.line);
    const bool own = dt_mesh_local_rank(mesh, dt_mesh_dim(mesh, "pp")) == stage;
    CHECK(strstr(dt_error_text(ctx), own ? action : "pipeline_run: "), "expected %s, got: %s", action,
          dt_error_text(ctx));
    const char *line = strstr(dt_error_text(ctx), own ? inner : "test_pipeline_run.c:");
    CHECK(line && strstr(line + 1, "test_pipeline_run.c:"), "both lines: %s", dt_error_text(ctx));
    for (int i = 0; i < dt_params_n(self.params); i++)
        CHECK(!dt_grad(dt_params_tensor(self.params, i)), "%s has a gradient", dt_params_name(self.params, i));
    CHECK_OK(ctx, dt_error_clear(ctx));
    self.fails_at = -1;
    CHECK_OK(ctx, run_pipeline(&self, schedule, mesh, &loss));
    CHECK(loss == expected, "loss %.17g, expected %.17g", loss, expected);
    dt_mesh_release(mesh);
    return 0;
}

static void run__fails_on_all_ranks_and_can_be_repeated(void **state) {
    (void)state;
    static const char dp[] = "f64[5,6] dp=S(0)", plain[] = "f64[5,6]";
    static const failing all[] = {
        {"1f1b", "pp=2,dp=2", dp, 0, 'F', 'F'}, {"1f1b", "pp=2,dp=2", dp, 1, 'F', 'F'},
        {"1f1b", "pp=2,dp=2", dp, 0, 'I', 'B'}, {"zb-h1", "pp=2,dp=2", dp, 1, 'I', 'I'},
        {"zb-h1", "pp=2", plain, 0, 'W', 'W'},  {"zb-h1", "pp=2", plain, 1, 'W', 'W'},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        run_ranks(strstr(all[i].mesh, "dp=2") ? 4 : 2, fails, (void *)(uintptr_t)&all[i]);
}

/* A rank that is killed ends the step of the others with an error about it, wherever that is, within a second. On busy
 * cores any wait may take longer, so each death has several attempts. DTENSOR_TEST_RUNS is the number of rounds over
 * all schedules; without it, there is one of zb-h1. */
enum { N_ATTEMPTS = 10 };

static const struct {
    const char *name;
    int64_t stages;
} deadly[] = {{"zb-h1", 3}, {"gpipe", 3}, {"1f1b", 3}, {"interleaved", 6}, {"zb-v", 6}, {"dualpipe-v", 6}};

static int dies(dt_ctx *ctx, void *arg) {
    killing *death = arg;
    const scenario of = {deadly[death->schedule].name,   "pp=3", "f64[5,6]", NULL, 3,
                         deadly[death->schedule].stages, 4,      NULL,       0,    false};
    dt_mesh *mesh = dt_mesh_new(ctx, of.mesh);
    dt_schedule *schedule = schedule_of(ctx, &of);
    net self = net_new(ctx, &of, schedule, mesh);
    self.death = death;
    double loss;
    for (int64_t s = 0; s < of.stages; s++)
        if (has(self.weights[s]))
            (void)dt_grad_hook_add(self.weights[s], come_to_gradient, &self);
    const dt_status status = run_pipeline(&self, schedule, mesh, &loss);
    death->ended[dt_rank(ctx)] = now();
    const char *text = dt_error_text(ctx), *site = strstr(text, "(at "),
               *again = site ? strstr(site + 1, "(at ") : NULL;
    if (again && again < text + strcspn(text, "\n") && !strstr(text, " after peer: ")) { /* which quotes one */
        fprintf(stderr, "the line is there twice: %s\n", text);
        death->has_line_twice = true;
    }
    return status == (death->at > 0 ? DT_ERR_PEER : DT_OK) ? 0 : 3;
}

/* The seconds from the death of a rank to the end of the last of the others. */
static double kill_at(killing *death, killing at) {
    char *error = NULL;
    double last = 0;
    *death = at;
    assert_int_not_equal(dt_spawn(3, dies, death, &error), DT_OK);
    assert_non_null(strstr(error, "signal 9"));
    free(error);
    assert_false(death->has_line_twice);
    for (int other = 0; other < 3; other++) {
        assert_true(other == at.rank || death->ended[other] >= death->at);
        last = fmax(last, other == at.rank ? 0 : death->ended[other] - death->at);
    }
    return last;
}

static void kill_everywhere(killing *death, int schedule) {
    const int64_t n_events = deadly[schedule].stages * 4; /* F, I and W of each micro-batch, on three ranks */
    for (int64_t rank = 0; rank < 3; rank++) {
        for (int64_t event = 0; event < n_events; event++) {
            const killing at = {.schedule = schedule, .rank = rank, .event = event};
            double least = INFINITY;
            for (int i = 0; i < N_ATTEMPTS && least > 1; i++)
                least = fmin(least, kill_at(death, at));
            if (least > 1)
                fail_msg("%s: event %d of rank %d: ended after %g s", deadly[schedule].name, (int)event, (int)rank,
                         least);
        }
        *death = (killing){.schedule = schedule, .rank = rank, .event = n_events};
        assert_int_equal(dt_spawn(3, dies, death, NULL), DT_OK); /* these are all */
        assert_int_equal(death->n_events, n_events);
    }
}

static void run__ends_where_a_rank_dies(void **state) {
    (void)state;
    const char *runs = getenv("DTENSOR_TEST_RUNS");
    const int n_schedules = runs ? (int)(sizeof deadly / sizeof *deadly) : 1;
    killing *death = mmap(NULL, sizeof *death, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(death, MAP_FAILED);
    for (int round = 0; round < (runs ? atoi(runs) : 1) && !test_started_ranks(); round++)
        for (int i = 0; i < n_schedules; i++)
            kill_everywhere(death, i);
    munmap(death, sizeof *death);
}

/* Refused before anything runs. */
static int refuses(dt_ctx *ctx, void *arg) {
    (void)arg;
    static const scenario of = {"1f1b", "pp=2", "f64[5,6]", NULL, 2, 2, 2, NULL, 0, false};
    dt_mesh *mesh = dt_mesh_new(ctx, of.mesh), *other = dt_mesh_new(ctx, "dp=2");
    dt_schedule *schedule = schedule_of(ctx, &of);
    net self = net_new(ctx, &of, schedule, mesh);
    const int64_t few[] = {5, 0}, many[] = {5, 6};
    const double none[] = {0, 0}, negative[] = {1, -1};
#define REFUSED(text, ...)                                                                                           \
    do {                                                                                                             \
        CHECK(dt_pipeline_run(schedule, __VA_ARGS__) != DT_OK && strstr(dt_error_text(ctx), text), "%s: %s", text,   \
              dt_error_text(ctx));                                                                                   \
        CHECK_OK(ctx, dt_error_clear(ctx));                                                                          \
    } while (0)
    REFUSED("pipeline_run: expected a mesh with pp=2, the ranks of the schedule, got mesh(dp=2)", other, run_stage,
            &self, .hop = of.hop);
    REFUSED("pipeline_run: expected a mesh with pp=2, the ranks of the schedule, got none", NULL, run_stage, &self);
    REFUSED("pipeline_run: the stage function is NULL", mesh, NULL, &self, .hop = of.hop);
    REFUSED("pipeline_run: expected .hop, what crosses between stages", mesh, run_stage, &self);
    REFUSED("hop: ", mesh, run_stage, &self, .hop = "f63[5,6]");
    REFUSED("expected a shape whose dim 0 is the rows of a micro-batch", mesh, run_stage, &self, .hop = "f64[]");
    REFUSED("expected the 5 rows of the first tensor", mesh, run_stage, &self, .hop = "f64[5,6]; f64[4]");
    REFUSED("rows of micro-batch 1: expected 1 to 5, those of the hop, got 0", mesh, run_stage, &self, .hop = of.hop,
            .rows = few);
    REFUSED("rows of micro-batch 1: expected 1 to 5, those of the hop, got 6", mesh, run_stage, &self, .hop = of.hop,
            .rows = many);
    REFUSED("weights: expected a sum above 0, got 0", mesh, run_stage, &self, .hop = of.hop, .weights = none);
    REFUSED("weight of micro-batch 1: expected at least 0, got -1", mesh, run_stage, &self, .hop = of.hop,
            .weights = negative);
    REFUSED("n_metrics: expected 0 to 1024", mesh, run_stage, &self, .hop = of.hop, .n_metrics = DT_INT(1));
    REFUSED("tensor 0 of the hop to stage 1: expected f64[5,7], got f64[5,6]", mesh, run_stage, &self,
            .hop = "f64[5,7]");
    CHECK(!dt_pipeline_mesh(schedule, mesh, 2) && strstr(dt_error_text(ctx), "expected a stage from 0 to 1, got 2"),
          "%s", dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    CHECK(!dt_pipeline_input(ctx, 0) && strstr(dt_error_text(ctx), "expected a call from a stage function"), "%s",
          dt_error_text(ctx));
    CHECK_OK(ctx, dt_error_clear(ctx));
    dt_mesh_release(mesh);
    dt_mesh_release(other);
    return 0;
}

static void run__refuses_what_cannot_run(void **state) {
    (void)state;
    run_ranks(2, refuses, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run__computes_the_gradients_of_a_loop),
        cmocka_unit_test(run__draws_by_stage_and_micro_batch),
        cmocka_unit_test(run__passes_several_tensors),
        cmocka_unit_test(run__passes_what_each_link_states),
        cmocka_unit_test(run__keeps_tied_copies_equal),
        cmocka_unit_test(run__has_the_live_activations_of_the_table),
        cmocka_unit_test(run__fails_on_all_ranks_and_can_be_repeated),
        cmocka_unit_test(run__ends_where_a_rank_dies),
        cmocka_unit_test(run__refuses_what_cannot_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
