/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops over a dim that is sharded, on 2 and 4 ranks that are forked here: as the library runs them, by a row that meets,
 * scans or fetches windows, against moving the tensor so that each rank has whole rows, and running the op there. In
 * turn, and each on tensors that their owners have just written. A time is that of the slowest rank.
 *
 *     bench_meet [--quick]
 */
#include "collectives.h"
#include "dtensor/comm.h"
#include "dtensor/ops.h"
#include "dtensor/redistribute.h"
#include "settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dt_tensor *run_softmax(dt_tensor *x, int64_t columns) {
    (void)columns;
    return dt_softmax(x, 1);
}
static dt_tensor *run_layer_norm(dt_tensor *x, int64_t columns) { return dt_layer_norm(x, DT_SHAPE(columns)); }
static dt_tensor *run_cumsum(dt_tensor *x, int64_t columns) {
    (void)columns;
    return dt_cumsum(x, 1);
}

static dt_tensor *run_flip(dt_tensor *x, int64_t columns) {
    (void)columns;
    return dt_flip(x, DT_DIMS(1));
}
static dt_tensor *run_slice(dt_tensor *x, int64_t columns) { return dt_slice(x, 1, 1, columns, 1); }

static const struct {
    const char *name;
    dt_tensor *(*run)(dt_tensor *x, int64_t columns);
} ops[] = {{"softmax", run_softmax},
           {"layer_norm", run_layer_norm},
           {"cumsum", run_cumsum},
           {"flip", run_flip},
           {"slice", run_slice}};
enum { N_OPS = sizeof ops / sizeof *ops };

struct measurement {
    dt_ctx *ctx;
    dt_group *world;
    dt_tensor *x; /* S(1) */
    int op;
    int64_t rows, columns;
    bool moves;
};

/* Seconds of the slowest rank. */
static double repeat(void *user) {
    const struct measurement *self = user;
    float *data = dt_data(self->x);
    int64_t n = self->rows * (self->columns / dt_world(self->ctx));
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)(i % 97) / 16;
    if (dt_comm_barrier(self->world) != DT_OK)
        return -1;
    double start = bench_now();
    dt_tensor *x = self->moves ? dt_redistribute(self->x, "S(0)") : self->x;
    dt_tensor *y = ops[self->op].run(x, self->columns);
    double seconds = bench_now() - start;
    if (!y)
        return -1;
    dt_drop(y);
    if (self->moves)
        dt_drop(x);
    return dt_comm_all_reduce(self->world, &seconds, &seconds, 1, DT_F64, DT_MAX) == DT_OK ? seconds : -1;
}

static bool measure(dt_ctx *ctx, dt_mesh *mesh, int op, int64_t rows, int64_t columns, double budget_s) {
    struct measurement here = {ctx, dt_group_world(ctx), NULL, op, rows, columns, false}, moved;
    double best[2];
    here.x = dt_empty(ctx, DT_SHAPE(rows, columns), .mesh = mesh, .place = "S(1)");
    if (!here.x)
        return false;
    moved = here;
    moved.moves = true;
    bool fine =
        bench_settle_pair(budget_s, (bench_repeat *const[]){repeat, repeat}, (void *const[]){&here, &moved}, best);
    dt_drop(here.x);
    if (!fine || dt_rank(ctx) != 0)
        return fine;
    int n = (int)dt_world(ctx);
    printf("%-11s [%d,%d] %5d %12.0f %12.0f %8.2f\n", ops[op].name, (int)rows, (int)columns, n, best[0] * 1e6,
           best[1] * 1e6, best[1] / best[0]);
    printf("{\"bench\":\"meet\",\"config\":{\"op\":\"%s\",\"rows\":%d,\"columns\":%d,\"ranks\":%d},\"ours\":%.1f,"
           "\"unit\":\"us\",\"peer\":\"move\",\"theirs\":%.1f,\"ratio\":%.3f}\n",
           ops[op].name, (int)rows, (int)columns, n, best[0] * 1e6, best[1] * 1e6, best[1] / best[0]);
    fflush(stdout);
    return true;
}

static int rank_main(dt_ctx *ctx, void *arg) {
    double budget_s = *(const bool *)arg ? 0.1 : 0.5;
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    bool fine = mesh != NULL;
    bench_bind((int)dt_rank(ctx), (int)dt_world(ctx));
    for (int op = 0; op < N_OPS && fine; op++)
        fine = measure(ctx, mesh, op, 1024, 4096, budget_s) && measure(ctx, mesh, op, 4096, 1024, budget_s);
    dt_mesh_release(mesh);
    return fine ? 0 : 1;
}

int main(int argc, char **argv) {
    bool quick = argc == 2 && !strcmp(argv[1], "--quick");
    if (argc > 1 && !quick) {
        fprintf(stderr, "usage: bench_meet [--quick]\n");
        return 2;
    }
    printf("op          f32 over S(1) ranks     meets us  moved, then run us    times\n");
    fflush(stdout);
    for (int n = 2; n <= 4; n += 2) {
        char *error = NULL;
        if (dt_spawn(n, rank_main, &quick, &error) == DT_OK)
            continue;
        fprintf(stderr, "bench_meet: %s\n", error ? error : "out of memory");
        free(error);
        return 1;
    }
    return 0;
}
