/* SPDX-License-Identifier: Apache-2.0
 *
 * Predicted and measured times of redistributions: what `dtensor plan --machine FILE` prints for the plan that
 * dt_redistribute runs, and what the call takes, from the first rank's start to the last rank's end, on inputs that
 * their owners have just written. The moves, shapes, dtypes and numbers of ranks are not those that `dtensor calibrate`
 * measures. scripts/bench_predictions.sh calibrates first. Prints a table, then JSON lines.
 *
 *     bench_predictions --machine FILE [--quick]
 */
#include "collectives.h"
#include "dtensor/comm.h"
#include "dtensor/ops.h"
#include "dtensor/redistribute.h"
#include "move/move.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct move {
    int n_ranks;
    const char *mesh, *from, *to;
};

static const struct move moves[] = {
    {2, "2", "S(0)", "R"},
    {2, "2", "S(1)", "R"},
    {2, "2", "S(0)", "S(1)"},
    {2, "2", "P(sum)", "R"},
    {2, "2", "P(sum)", "S(0)"},
    {2, "2", "P(sum)", "S(1)"},
    {2, "2", "R", "S(0)"},
    {3, "3", "S(0)", "R"},
    {3, "3", "S(1)", "S(0)"},
    {3, "3", "P(sum)", "R"},
    {3, "3", "P(sum)", "S(0)"},
    {4, "4", "S(0)", "R"},
    {4, "4", "S(0)", "S(1)"},
    {4, "4", "P(sum)", "S(0)"},
    {4, "2x2", "S(0),S(1)", "S(1),S(0)"},
    {4, "2x2", "S(0),S(0)", "R,S(1)"},
    {4, "2x2", "S(0),R", "S(0),S(1)"},
    {4, "2x2", "R,S(1)", "R,R"},
    {4, "2x2", "P(sum),S(0)", "R,S(1)"},
    {4, "2x2", "P(sum),P(sum)", "R,R"},
    {4, "2x2", "P(sum),P(sum)", "S(0),R"},
    {6, "2x3", "S(0),S(1)", "R,R"},
    {6, "2x3", "P(sum),S(0)", "S(1),S(0)"},
    {8, "8", "S(1)", "R"},
    {8, "8", "P(sum)", "R"},
    {8, "2x4", "S(0),S(1)", "S(1),R"},
    {8, "2x2x2", "P(sum),S(0),S(1)", "S(0),S(1),R"},
};
enum { N_MOVES = sizeof moves / sizeof *moves };

/* A matrix; the last one divides by no number of ranks. */
static const struct tensor {
    dt_dtype dtype;
    int64_t rows, columns;
} tensors[] = {
    {DT_F32, 48, 48},
    {DT_BF16, 480, 240},
    {DT_F32, 960, 480},
    {DT_F64, 1001, 1003},
};
enum { N_TENSORS = sizeof tensors / sizeof *tensors, MAX_REPEATS = 200 };

struct result {
    double predicted_us, measured_us;
};

/* In memory that the parent shares with its ranks; rank 0 writes. */
struct run {
    int n_repeats;
    int move; /* of this launch */
    struct result results[N_MOVES][N_TENSORS];
};

static double repeat(dt_group *world, dt_tensor *src, const char *to, int round) {
    double times[2];
    memset(dt_data(src), round & 1, (size_t)dt_spec_local(dt_tensor_spec(src))->bytes);
    if (dt_comm_barrier(world) != DT_OK)
        return -1;
    times[0] = -bench_now();
    dt_tensor *result = dt_redistribute(src, to);
    times[1] = bench_now();
    dt_drop(result);
    bool ok = result && dt_comm_all_reduce(world, times, times, 2, DT_F64, DT_MAX) == DT_OK;
    return ok ? times[0] + times[1] : -1;
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Seconds of the repeat that a quarter of them do not exceed; negative after an error. */
static double measure(dt_group *world, dt_tensor *src, const char *to, int n_repeats) {
    double seconds[MAX_REPEATS];
    for (int i = -1; i < n_repeats; i++) { /* the first prepares the move */
        double one = repeat(world, src, to, i);
        if (one < 0)
            return -1;
        seconds[i < 0 ? 0 : i] = one;
    }
    qsort(seconds, (size_t)n_repeats, sizeof *seconds, compare_seconds);
    return seconds[n_repeats / 4];
}

/* As dtensor plan does. */
static double predict(dt_tensor *src, const char *to) {
    dt_spec *from = dt_tensor_spec(src), *target = dt__spec_with(from, dt_spec_mesh(from), to);
    dt__arena arena = dt__arena_new(from->ctx);
    dt__move move;
    dt__plan plan;
    bool ok = target && dt__move_of_specs(from, target, &move) == DT_OK &&
              dt__plan_new(&arena, &move, DT__PLANNER_DIRECT, from->ctx->machine, &plan) == DT_OK;
    double us = ok ? plan.cost_us : -1;
    dt__arena_free(&arena);
    dt_spec_release(target);
    return us;
}

static int rank_main(dt_ctx *ctx, void *arg) {
    struct run *run = arg;
    const struct move *move = &moves[run->move];
    bench_bind((int)dt_rank(ctx), move->n_ranks);
    dt_mesh *mesh = dt_mesh_new(ctx, move->mesh);
    for (int t = 0; t < N_TENSORS; t++) {
        const struct tensor *tensor = &tensors[t];
        dt_tensor *src =
            dt_empty(ctx, DT_SHAPE(tensor->rows, tensor->columns), tensor->dtype, .mesh = mesh, .place = move->from);
        double predicted = src ? predict(src, move->to) : -1;
        double measured = src ? measure(dt_group_world(ctx), src, move->to, run->n_repeats) : -1;
        dt_drop(src);
        if (predicted < 0 || measured < 0)
            return 1;
        if (dt_rank(ctx) == 0)
            run->results[run->move][t] = (struct result){predicted, measured * 1e6};
    }
    dt_mesh_release(mesh);
    return 0;
}

static double ratio_of(const struct result *result) {
    double ratio = result->predicted_us / result->measured_us;
    return ratio < 1 ? 1 / ratio : ratio;
}

static void print_table(const struct run *run) {
    double worst = 1;
    int n_within = 0;
    printf("Times in microseconds, predicted / measured.\n\n| ranks | mesh | move |");
    for (int t = 0; t < N_TENSORS; t++)
        printf(" %s[%" PRId64 ",%" PRId64 "] |", dt_dtype_name(tensors[t].dtype), tensors[t].rows,
               tensors[t].columns);
    printf("\n|---|---|---|");
    for (int t = 0; t < N_TENSORS; t++)
        printf("---|");
    for (int k = 0; k < N_MOVES; k++) {
        printf("\n| %d | %s | %s to %s |", moves[k].n_ranks, moves[k].mesh, moves[k].from, moves[k].to);
        for (int t = 0; t < N_TENSORS; t++) {
            const struct result *result = &run->results[k][t];
            printf(" %.3g / %.3g |", result->predicted_us, result->measured_us);
            worst = fmax(worst, ratio_of(result));
            n_within += ratio_of(result) <= 2;
        }
    }
    printf("\n\n%d of %d within a factor of 2; the largest ratio is %.2f.\n", n_within, N_MOVES * N_TENSORS, worst);
}

static void print_json(const struct run *run) {
    for (int k = 0; k < N_MOVES; k++)
        for (int t = 0; t < N_TENSORS; t++)
            printf(
                "{\"bench\":\"predictions\",\"config\":{\"ranks\":%d,\"mesh\":\"%s\",\"from\":\"%s\",\"to\":\"%s\","
                "\"dtype\":\"%s\",\"shape\":[%" PRId64 ",%" PRId64 "]},\"ours\":%.5g,\"unit\":\"us\","
                "\"predicted\":%.5g}\n",
                moves[k].n_ranks, moves[k].mesh, moves[k].from, moves[k].to, dt_dtype_name(tensors[t].dtype),
                tensors[t].rows, tensors[t].columns, run->results[k][t].measured_us, run->results[k][t].predicted_us);
}

int main(int argc, char **argv) {
    const char *file = NULL;
    char *error = NULL;
    bool quick = false;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quick"))
            quick = true;
        else if (!strcmp(argv[i], "--machine") && i + 1 < argc)
            file = argv[++i];
    if (!file || setenv("DTENSOR_MACHINE", file, true)) {
        fprintf(stderr, "usage: bench_predictions --machine FILE [--quick]\n");
        return 2;
    }
    struct run *run = mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run == MAP_FAILED)
        return 1;
    run->n_repeats = quick ? 20 : MAX_REPEATS;
    for (run->move = 0; run->move < N_MOVES; run->move++)
        if (dt_spawn(moves[run->move].n_ranks, rank_main, run, &error) != DT_OK) {
            fprintf(stderr, "bench_predictions: %s\n", error ? error : "out of memory");
            free(error);
            return 1;
        }
    print_table(run);
    print_json(run);
    return 0;
}
