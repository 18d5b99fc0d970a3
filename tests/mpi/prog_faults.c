/* SPDX-License-Identifier: Apache-2.0
 *
 * "faults KIND": what ranks get when one of them, the last, does not do as the others do. Each rank prints
 * "rank R: STATUS: TEXT" of each error, and "rank R: sum N" after an all-reduce that works, to the file rank-R in
 * DTENSOR_TEST_FOLDER. Kinds:
 *     late       it comes to the all-reduce after the deadline of the others; late_small: one of few elements
 *     count      it reduces another number of elements
 *     op         it gathers instead
 *     diverge    it makes another call on the tensors of a mesh, which sends nothing
 *     local      instead of each collective in turn it has an error of its own; all ranks clear the errors and reduce
 *                once more
 *     close      it closes its context instead
 *     start      a started operation is not finished when ranks close
 *     kill       it ends with SIGKILL
 *     exit       it returns from main with its context open
 */
#include "dtensor/comm.h"
#include "dtensor/ops.h"
#include "dtensor/redistribute.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 3000 };

/* Ranks share the output, and launchers mix their lines: each has a file of its own. */
static void print(dt_ctx *ctx, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/rank-%lld", getenv("DTENSOR_TEST_FOLDER"), (long long)dt_rank(ctx));
    FILE *file = fopen(path, "ae");
    if (!file || fprintf(file, "rank %lld: %s\n", (long long)dt_rank(ctx), text) < 0 || fclose(file))
        _exit(3);
}

static void print_error(dt_ctx *ctx) {
    char text[8192];
    snprintf(text, sizeof text, "%s: %s", dt_status_name(dt_error_status(ctx)), dt_error_text(ctx));
    print(ctx, text);
}

static bool reduce(dt_ctx *ctx, int64_t count) {
    float values[2 * N];
    for (int64_t i = 0; i < count; i++)
        values[i] = 1;
    if (dt_comm_all_reduce(dt_group_world(ctx), values, values, count, DT_F32, DT_SUM) != DT_OK) {
        print_error(ctx);
        return false;
    }
    char text[64];
    snprintf(text, sizeof text, "sum %g", (double)values[count - 1]);
    print(ctx, text);
    return true;
}

static void gather(dt_ctx *ctx) {
    float value = 1, all[64];
    if (dt_comm_all_gather(dt_group_world(ctx), &value, all, 1, DT_F32) != DT_OK)
        print_error(ctx);
}

static void call_on_mesh(dt_ctx *ctx, bool differs) {
    dt_mesh *mesh = dt_mesh_new(ctx, "tp=*");
    dt_tensor *x = dt_ones(ctx, DT_SHAPE(8, 6), .mesh = mesh, .place = "S(0)");
    dt_tensor *y = differs ? dt_relu(x) : dt_neg(x);
    if (!dt_full_tensor(y))
        print_error(ctx);
    dt_mesh_release(mesh);
}

/* A tensor that does not fit. */
static void fail_alone(dt_ctx *ctx) {
    dt_drop(dt_zeros(ctx, DT_SHAPE((int64_t)1 << 45)));
    print_error(ctx);
}

/* Rooted calls need the last rank: it is the root that has the value, and the root that gathers is the first. */
static void call(dt_ctx *ctx, dt_collective op) {
    static float src[64 * N], dst[64 * N];
    int64_t last = dt_world(ctx) - 1, root = op == DT_BROADCAST || op == DT_SCATTER || op == DT_RECV ? last : 0;
    if (op == DT_SEND || (op == DT_RECV && dt_rank(ctx) > 0)) /* the last rank sends to the first */
        return;
    if (dt_comm_run(
            dt_group_world(ctx),
            &(dt_comm_call){
                .op = op, .src = src, .dst = dst, .count = N, .dtype = DT_F32, .reduce = DT_SUM, .root = root}) !=
        DT_OK)
        print_error(ctx);
}

static void fail_in_each_collective(dt_ctx *ctx, bool fails) {
    for (int op = 0; op < DT_N_COLLECTIVES; op++) {
        if (fails)
            fail_alone(ctx);
        else
            call(ctx, (dt_collective)op);
        if (dt_error_clear(ctx) != DT_OK)
            print_error(ctx);
        reduce(ctx, N);
    }
}

static int64_t count_of(const char *kind) { return strcmp(kind, "late_small") ? N : 5; }

static void run_last(dt_ctx *ctx, const char *kind) {
    if (!strncmp(kind, "late", 4)) {
        usleep(2500000);
        reduce(ctx, count_of(kind));
    } else if (!strcmp(kind, "count")) {
        reduce(ctx, N + 1);
    } else if (!strcmp(kind, "op")) {
        gather(ctx);
    } else if (!strcmp(kind, "kill")) {
        usleep(100000);
        kill(getpid(), SIGKILL);
    }
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "";
    dt_ctx *ctx = dt_init(&(dt_init_options){.timeout_s = strncmp(kind, "late", 4) != 0 ? 30 : 1});
    if (!ctx || !reduce(ctx, N)) /* all start together */
        return 2;
    bool is_last = dt_rank(ctx) == dt_world(ctx) - 1;
    if (!strcmp(kind, "start")) {
        static float values[N];
        if (!is_last && !dt_comm_start(dt_group_world(ctx), &(dt_comm_call){.op = DT_ALL_REDUCE,
                                                                            .src = values,
                                                                            .dst = values,
                                                                            .count = N,
                                                                            .dtype = DT_F32,
                                                                            .reduce = DT_SUM}))
            return 2;
        dt_close(ctx);
        return 0;
    }
    if (is_last && !strcmp(kind, "exit"))
        return 0;
    if (!strcmp(kind, "diverge"))
        call_on_mesh(ctx, is_last);
    else if (!strcmp(kind, "local"))
        fail_in_each_collective(ctx, is_last);
    else if (is_last)
        run_last(ctx, kind);
    else
        reduce(ctx, count_of(kind));
    dt_close(ctx);
    return 0;
}
