/* SPDX-License-Identifier: Apache-2.0
 *
 * A convolution of images whose rows are sharded, and its gradients, compared with the same calls on plain tensors of
 * the size of a shard, which fetch no halo: the sum of the local parts. Both take turns, on 2 and 4 ranks that are
 * forked here; times are from the first rank's start to the last rank's end, because ranks may share cores. What a rank
 * receives is compared with a gather of the images.
 *
 *     bench_spatial [--quick]
 */
#include "collectives.h"
#include "settle.h"

#include "dtensor/debug.h"
#include "dtensor/dtensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 8, CHANNELS = 64, SIZE = 56, TAPS = 3 };

/* The tensors of a convolution: f32[8,64,rows,56], its weight, and the gradient of its output. */
typedef struct tensors {
    dt_tensor *image, *weight, *grad;
} tensors;

typedef dt_tensor *call_fn(const tensors *of);
static dt_tensor *forward(const tensors *of) {
    return dt_conv2d(of->image, of->weight, .padding = DT_INTS(TAPS / 2, TAPS / 2));
}
static dt_tensor *grad_of_image(const tensors *of) {
    dt_shape shape = {4, (int64_t[]){BATCH, CHANNELS, dt_tensor_size(of->image, 2), SIZE}};
    return dt_conv_input_backward(of->grad, of->weight, shape, .stride = DT_INTS(1, 1),
                                  .padding = DT_INTS(TAPS / 2, TAPS / 2), .dilation = DT_INTS(1, 1));
}
static dt_tensor *grad_of_weight(const tensors *of) {
    return dt_conv_weight_backward(of->image, of->grad, DT_SHAPE(CHANNELS, CHANNELS, TAPS, TAPS),
                                   .stride = DT_INTS(1, 1), .padding = DT_INTS(TAPS / 2, TAPS / 2),
                                   .dilation = DT_INTS(1, 1));
}
static const struct {
    const char *name;
    call_fn *run;
} calls[] = {{"forward", forward}, {"grad_of_image", grad_of_image}, {"grad_of_weight", grad_of_weight}};
enum { N_CALLS = sizeof calls / sizeof *calls };

static dt_tensor *noise(dt_ctx *ctx, dt_mesh *mesh, const char *place, dt_shape shape) {
    return dt_randn(ctx, shape, .mesh = mesh, .place = place, .generator = dt_generator_new(ctx, 3));
}

static tensors make(dt_ctx *ctx, dt_mesh *mesh, const char *place, int64_t rows) {
    const char *whole = mesh ? "R" : NULL;
    return (tensors){noise(ctx, mesh, place, DT_SHAPE(BATCH, CHANNELS, rows, SIZE)),
                     noise(ctx, mesh, whole, DT_SHAPE(CHANNELS, CHANNELS, TAPS, TAPS)),
                     noise(ctx, mesh, place, DT_SHAPE(BATCH, CHANNELS, rows, SIZE))};
}

typedef struct measurement {
    dt_ctx *ctx;
    const tensors *of;
    call_fn *run;
} measurement;

static double repeat(void *user) {
    const measurement *self = user;
    dt_group *world = dt_group_world(self->ctx);
    if (dt_comm_barrier(world) != DT_OK)
        return -1;
    dt_scope scope = dt_scope_begin(self->ctx);
    double start = bench_now();
    bool made = self->run(self->of) != NULL;
    double times[] = {-start, bench_now()};
    dt_scope_end(scope);
    if (!made)
        return -1;
    return dt_comm_all_reduce(world, times, times, 2, DT_F64, DT_MAX) == DT_OK ? times[0] + times[1] : -1;
}

/* The most bytes that any rank receives. */
static int64_t received(dt_ctx *ctx, const tensors *of, call_fn *run) {
    dt_scope scope = dt_scope_begin(ctx);
    int64_t bytes = -1;
    if (dt_comm_stats_begin(ctx) == DT_OK && run(of))
        bytes = (int64_t)dt_comm_stats(ctx, NULL).bytes;
    dt_comm_stats_end(ctx);
    dt_scope_end(scope);
    return dt_comm_all_reduce(dt_group_world(ctx), &bytes, &bytes, 1, DT_I64, DT_MAX) == DT_OK ? bytes : -1;
}

static int rank_main(dt_ctx *ctx, void *arg) {
    const double budget_s = *(const bool *)arg ? 0.1 : 0.5;
    const int64_t n = dt_world(ctx), gathered = (int64_t)sizeof(float) * BATCH * CHANNELS * SIZE * SIZE * (n - 1) / n;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    bench_bind((int)dt_rank(ctx), (int)n);
    tensors sharded = make(ctx, mesh, "S(2)", SIZE), local = make(ctx, NULL, NULL, SIZE / n);
    bool fine = local.grad != NULL;
    for (int c = 0; c < N_CALLS && fine; c++) {
        measurement both[] = {{ctx, &sharded, calls[c].run}, {ctx, &local, calls[c].run}};
        double best[2];
        const int64_t bytes = received(ctx, &sharded, calls[c].run);
        fine = bytes >= 0 && bench_settle_pair(budget_s, (bench_repeat *const[]){repeat, repeat},
                                               (void *const[]){&both[0], &both[1]}, best);
        if (!fine || dt_rank(ctx) != 0)
            continue;
        printf("%5d %-16s %9.3f %9.3f %6.2f %6s %12lld %12lld\n", (int)n, calls[c].name, best[0] * 1e3, best[1] * 1e3,
               best[1] / best[0], best[1] / best[0] >= 0.85 ? "yes" : "NO", (long long)bytes, (long long)gathered);
        printf("{\"bench\":\"spatial\",\"config\":{\"ranks\":%d,\"call\":\"%s\"},\"ours\":%.5g,\"unit\":\"ms\","
               "\"peer\":\"local\",\"theirs\":%.5g,\"ratio\":%.4g,\"bytes\":%lld,\"gathered\":%lld}\n",
               (int)n, calls[c].name, best[0] * 1e3, best[1] * 1e3, best[1] / best[0], (long long)bytes,
               (long long)gathered);
        fflush(stdout);
    }
    dt_mesh_release(mesh);
    return fine ? 0 : 1;
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && !strcmp(argv[1], "--quick");
    printf("%5s %-16s %9s %9s %6s %6s %12s %12s\n", "ranks", "conv2d 3x3", "ms", "local ms", "ratio", "0.85", "bytes",
           "gathered");
    fflush(stdout);
    for (int ranks = 2; ranks <= 4; ranks += 2) {
        char *error = NULL;
        if (dt_spawn(ranks, rank_main, &quick, &error) == DT_OK)
            continue;
        fprintf(stderr, "bench_spatial: %s\n", error ? error : "out of memory");
        free(error);
        return 1;
    }
    return 0;
}
