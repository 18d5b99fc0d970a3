/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures how fast one rank computes, for the times of estimates: products of square matrices of several dtypes and
 * sizes, elementwise ops on arrays that fit each cache and that do not, and the time of a call that computes nothing.
 * Then ops that take longer than their bytes: each runs forward and backward on its own, and every kernel that ran,
 * such as gelu and gelu_backward, gets rates by its name. Each time is the shortest of several runs.
 *
 * In a program, other tensors pass through the caches between two uses of one. So before each run, and between forward
 * and backward, memory of several times the size of a tensor is written: small tensors stay in the nearest cache, large
 * ones do not.
 */
#include "calibration.h"

#include "comm/comm.h"
#include "dispatch/dispatch.h"
#include "dtensor/dtensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_SIDES = 5, N_BYTES = 5, MIN_RUNS = 3, MAX_RUNS = 20000 };

/* Stands for the other tensors of a program: the bytes of four of them. */
typedef struct other_memory {
    volatile unsigned char *data;
    size_t bytes;
} other_memory;

enum { CACHE_LINE = 64, N_OTHERS = 4 };

static other_memory new_others(dt_ctx *ctx, const dt_tensor *like) {
    const size_t bytes = N_OTHERS * (size_t)dt_tensor_elements(like) * dt_dtype_size(dt_tensor_dtype(like));
    dt_tensor *tensor = dt_zeros(ctx, DT_SHAPE((int64_t)bytes), .dtype = DT_U8);
    return (other_memory){tensor ? dt_data(tensor) : NULL, tensor ? bytes : 0};
}

static void use_others(const other_memory *others) {
    for (size_t i = 0; i < others->bytes; i += CACHE_LINE)
        others->data[i]++;
}

/* The shortest time of a call, in microseconds; at least MIN_RUNS, and for as long as the budget lasts. */
static double shortest_us(dt_ctx *ctx, dt_tensor *a, dt_tensor *b, bool multiplies, double budget_us) {
    double best = INFINITY, begin = dt__now_us();
    const other_memory others = new_others(ctx, a);
    for (int i = 0; i < MAX_RUNS && (i < MIN_RUNS || dt__now_us() - begin < budget_us) && !dt_failed(ctx); i++) {
        dt_scope scope = dt_scope_begin(ctx);
        use_others(&others);
        double from = dt__now_us();
        (void)(multiplies ? dt_matmul(a, b) : dt_add(a, b));
        best = fmin(best, dt__now_us() - from);
        dt_scope_end(scope);
    }
    return best;
}

static dt_tensor *new_tensor(dt_ctx *ctx, int64_t rows, int64_t columns, dt_dtype dtype) {
    return dt_to(dt_randn(ctx, DT_SHAPE(rows, columns)), dtype);
}

static double rounded_rate(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return strtod(text, NULL);
}

static void add_rate(dt__machine *out, const dt__op_rate *of, double us) {
    if (out->n_op_rates == DT__MACHINE_MAX_RATES || !(us > 0) || !isfinite(us))
        return;
    out->op_rates[out->n_op_rates] = *of;
    out->op_rates[out->n_op_rates++].per_us = rounded_rate(of->size / us);
}

static void measure_products(dt_ctx *ctx, bool quick, dt__machine *out) {
    static const dt_dtype dtypes[] = {DT_F32, DT_F64, DT_BF16};
    static const int64_t sides[N_SIDES] = {16, 64, 256, 768, 1536};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int i = 0; i < (quick ? N_SIDES - 1 : N_SIDES); i++) {
            dt_scope scope = dt_scope_begin(ctx);
            int64_t n = sides[i];
            dt_tensor *a = new_tensor(ctx, n, n, dtypes[d]), *b = new_tensor(ctx, n, n, dtypes[d]);
            double us = shortest_us(ctx, a, b, true, quick ? 2e4 : 2e5) - out->op_start_us;
            double flops = 2.0 * (double)n * (double)n * (double)n;
            add_rate(out, &(dt__op_rate){.kind = DT__RATE_MULTIPLY, .dtype = dtypes[d], .size = flops}, us);
            dt_scope_end(scope);
        }
}

static void measure_loops(dt_ctx *ctx, bool quick, dt__machine *out) {
    static const int64_t bytes[N_BYTES] = {24 << 10, 384 << 10, 3 << 20, 24 << 20, 192 << 20};
    for (int i = 0; i < (quick ? N_BYTES - 1 : N_BYTES); i++) {
        dt_scope scope = dt_scope_begin(ctx);
        int64_t n = bytes[i] / 3 / (int64_t)sizeof(float);
        dt_tensor *a = new_tensor(ctx, 1, n, DT_F32), *b = new_tensor(ctx, 1, n, DT_F32);
        double us = shortest_us(ctx, a, b, false, quick ? 2e4 : 2e5) - out->op_start_us;
        add_rate(out, &(dt__op_rate){.kind = DT__RATE_TOUCH, .dtype = DT_F32, .size = (double)bytes[i]}, us);
        dt_scope_end(scope);
    }
}

/* The inputs of an op: x f[rows,WIDTH], which requires a gradient, and what some ops take besides. */
enum { WIDTH = 256, HEADS = 8, SEQUENCE = 128, CLASSES = 1024 };
typedef struct op_inputs {
    dt_ctx *ctx;
    int64_t rows;
    dt_tensor *x, *weight, *logits, *table, *indices, *targets; /* weight f[WIDTH], logits f[rows/4,CLASSES] */
    dt_tensor *grad, *state[2];                                 /* of an optimizer: as x, and in f32 */
    other_memory others;
} op_inputs;

static dt_tensor *heads_of(const op_inputs *in) { /* [n,HEADS,SEQUENCE,WIDTH/HEADS] */
    return dt_transpose(dt_reshape(in->x, DT_SHAPE(-1, SEQUENCE, HEADS, WIDTH / HEADS)), 1, 2);
}

static dt_tensor *run_add(const op_inputs *in) { return dt_add(in->x, in->weight); }
static dt_tensor *run_mul(const op_inputs *in) { return dt_mul(in->x, in->x); }
static dt_tensor *run_div(const op_inputs *in) { return dt_div(in->x, in->weight); }
static dt_tensor *run_gelu(const op_inputs *in) { return dt_gelu(in->x); }
static dt_tensor *run_gelu_tanh(const op_inputs *in) { return dt_gelu(in->x, .approximate = "tanh"); }
static dt_tensor *run_relu(const op_inputs *in) { return dt_relu(in->x); }
static dt_tensor *run_silu(const op_inputs *in) { return dt_silu(in->x); }
static dt_tensor *run_tanh(const op_inputs *in) { return dt_tanh(in->x); }
static dt_tensor *run_sigmoid(const op_inputs *in) { return dt_sigmoid(in->x); }
static dt_tensor *run_exp(const op_inputs *in) { return dt_exp(in->x); }
static dt_tensor *run_dropout(const op_inputs *in) { return dt_dropout(in->x, .p = DT_REAL(0.1)); }
static dt_tensor *run_softmax(const op_inputs *in) { return dt_softmax(in->x, -1); }
static dt_tensor *run_log_softmax(const op_inputs *in) { return dt_log_softmax(in->x, -1); }
static dt_tensor *run_sum(const op_inputs *in) { return dt_sum(in->x, .dim = DT_DIMS(0)); }
static dt_tensor *run_mean(const op_inputs *in) { return dt_mean(in->x, .dim = DT_DIMS(-1)); }
static dt_tensor *run_layer_norm(const op_inputs *in) {
    return dt_layer_norm(in->x, DT_SHAPE(WIDTH), .weight = in->weight, .bias = in->weight);
}
static dt_tensor *run_rms_norm(const op_inputs *in) {
    return dt_rms_norm(in->x, DT_SHAPE(WIDTH), .weight = in->weight);
}
static dt_tensor *run_attention(const op_inputs *in) {
    dt_tensor *q = heads_of(in), *k = heads_of(in), *v = heads_of(in);
    return dt_scaled_dot_product_attention(q, k, v, .is_causal = true);
}
static dt_tensor *run_cross_entropy(const op_inputs *in) { return dt_cross_entropy(in->logits, in->targets); }
static dt_tensor *run_embedding(const op_inputs *in) { return dt_embedding(in->indices, in->table); }
static dt_tensor *run_cumsum(const op_inputs *in) { return dt_cumsum(in->x, -1); }
static dt_tensor *run_to(const op_inputs *in) {
    return dt_to(in->x, dt_tensor_dtype(in->x) == DT_F32 ? DT_BF16 : DT_F32);
}
static dt_tensor *run_mse_loss(const op_inputs *in) { return dt_mse_loss(in->x, dt_detach(in->x)); }
static dt_tensor *run_adamw(const op_inputs *in) {
    dt_adamw_(dt_detach(in->x), in->grad, in->state[0], in->state[1], 0, 1);
    return NULL;
}

static dt_tensor *(*const measured_ops[])(const op_inputs *in) = {
    run_add,           run_mul,       run_div,     run_gelu,       run_gelu_tanh, run_relu,
    run_silu,          run_tanh,      run_sigmoid, run_exp,        run_dropout,   run_softmax,
    run_log_softmax,   run_sum,       run_mean,    run_layer_norm, run_rms_norm,  run_attention,
    run_cross_entropy, run_embedding, run_cumsum,  run_to,         run_mse_loss,  run_adamw,
};
enum { N_MEASURED_OPS = sizeof measured_ops / sizeof *measured_ops };

/* The shortest times so far, one per measured op, kernel, dtype and size; a rate in the making has microseconds in
 * per_us. */
enum { MAX_TIMES = 2 * DT__MACHINE_MAX_RATES };
typedef struct op_times {
    dt__op_rate list[MAX_TIMES];
    int by[MAX_TIMES]; /* which of the measured ops ran it */
    int n, running;
} op_times;

static void note_op(void *user, const dt_op_call *call, double us) {
    op_times *self = user;
    dt__op_work work = dt__op_work_of(call);
    if (call->op->rule && !call->op->flops && work.flops > 0)
        return; /* a product */
    dt__op_rate rate = {.kind = DT__RATE_OP,
                        .dtype = call->n_inputs ? call->inputs[0].dtype : DT_F32,
                        .size = work.flops > 0 ? work.flops : work.bytes};
    if (rate.size < 1 || strlen(call->name) >= sizeof rate.name)
        return;
    memcpy(rate.name, call->name, strlen(call->name) + 1);
    for (int i = 0; i < self->n; i++) {
        dt__op_rate *known = &self->list[i];
        if (self->by[i] != self->running || known->size != rate.size || known->dtype != rate.dtype ||
            strcmp(known->name, rate.name) != 0)
            continue;
        known->per_us = fmin(known->per_us, us);
        return;
    }
    rate.per_us = us;
    if (self->n == MAX_TIMES)
        return;
    self->by[self->n] = self->running;
    self->list[self->n++] = rate;
}

static void run_op(dt_ctx *ctx, const op_inputs *in, dt_tensor *(*op)(const op_inputs *in)) {
    dt_scope scope = dt_scope_begin(ctx);
    use_others(&in->others);
    dt_tensor *y = op(in);
    use_others(&in->others);
    if (y && dt_requires_grad(y))
        dt_backward(y, .grad = dt_ones_like(y));
    dt_scope_end(scope);
}

static op_inputs new_inputs(dt_ctx *ctx, int64_t rows, dt_dtype dtype) {
    op_inputs in = {.ctx = ctx, .rows = rows};
    in.x = new_tensor(ctx, rows, WIDTH, dtype);
    in.weight = dt_to(dt_ones(ctx, DT_SHAPE(WIDTH)), dtype);
    in.logits = new_tensor(ctx, rows / 4, CLASSES, dtype);
    in.table = new_tensor(ctx, CLASSES, WIDTH, dtype);
    in.indices = dt_randint(ctx, 0, CLASSES, DT_SHAPE(rows));
    in.targets = dt_randint(ctx, 0, CLASSES, DT_SHAPE(rows / 4));
    in.grad = dt_zeros(ctx, DT_SHAPE(rows, WIDTH), .dtype = dtype);
    for (int i = 0; i < 2; i++)
        in.state[i] = dt_zeros(ctx, DT_SHAPE(rows, WIDTH));
    in.others = new_others(ctx, in.x);
    dt_tensor *const leaves[] = {in.x, in.weight, in.logits, in.table};
    for (int i = 0; i < 4; i++)
        dt_set_requires_grad(leaves[i], true);
    return in;
}

static void measure_sizes(dt_ctx *ctx, bool quick, dt_dtype dtype, op_times *times) {
    static const int64_t rows[] = {128, 1024, 8192};
    const double budget_us = quick ? 3e3 : 3e4;
    for (int i = 0; i < (quick ? 2 : 3); i++) {
        dt_scope scope = dt_scope_begin(ctx);
        op_inputs in = new_inputs(ctx, rows[i], dtype);
        for (times->running = 0; times->running < N_MEASURED_OPS; times->running++) {
            double begin = dt__now_us();
            for (int run = 0; run < MAX_RUNS && (run < MIN_RUNS || dt__now_us() - begin < budget_us); run++)
                run_op(ctx, &in, measured_ops[times->running]);
        }
        dt_scope_end(scope);
    }
}

/* Whether another call of the op stands for this one: one with up to twice the size, because broadcast inputs make
 * sizes that are close to each other and times that are not; or a slower one of its size, because options make
 * variants of an op (gelu with .approximate) and its rates have the time of the slowest. */
static bool is_covered(const op_times *times, int at) {
    const dt__op_rate *of = &times->list[at];
    for (int i = 0; i < times->n; i++) {
        const dt__op_rate *other = &times->list[i];
        if (i == at || other->dtype != of->dtype || strcmp(other->name, of->name) != 0)
            continue;
        const bool is_slower = other->per_us > of->per_us || (other->per_us == of->per_us && i < at);
        if (other->size > of->size ? other->size < 2 * of->size : other->size == of->size && is_slower)
            return true;
    }
    return false;
}

static void measure_ops(dt_ctx *ctx, bool quick, dt__machine *out) {
    static op_times times;
    times.n = 0;
    (void)dt__observe_ops(ctx, note_op, &times);
    measure_sizes(ctx, quick, DT_F32, &times);
    measure_sizes(ctx, quick, DT_BF16, &times);
    (void)dt__observe_ops(ctx, NULL, NULL);
    for (int i = 0; i < times.n; i++)
        if (!is_covered(&times, i))
            add_rate(out, &times.list[i], times.list[i].per_us - out->op_start_us);
}

bool calibration_ops(bool quick, dt__machine *out) {
    dt_ctx *ctx = dt_init(NULL);
    if (!ctx)
        return false;
    dt_scope scope = dt_scope_begin(ctx);
    dt_tensor *one = new_tensor(ctx, 1, 1, DT_F32);
    out->n_op_rates = 0;
    out->op_start_us = rounded_rate(shortest_us(ctx, one, one, false, 1e4));
    dt_scope_end(scope);
    measure_products(ctx, quick, out);
    measure_loops(ctx, quick, out);
    measure_ops(ctx, quick, out);
    dt__machine_derive(out);
    return dt_close(ctx) == 0;
}
