/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks that wait for the last one: it sums a tensor only when a file of the name in the first argument exists. Each
 * rank prints "ready PID" before. With a second argument, "test", ranks test a started operation instead of waiting.
 */
#include <dtensor/dtensor.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static double sum_tested(dt_ctx *ctx, double own) {
    double sum = 0;
    dt_comm_call call = {
        .op = DT_ALL_REDUCE, .src = &own, .dst = &sum, .count = 1, .dtype = DT_F64, .reduce = DT_SUM};
    dt_work *work = dt_comm_start(dt_group_world(ctx), &call);
    while (work && dt_work_test(work) == DT_IN_PROGRESS)
        usleep(20000);
    return work && dt_work_wait(work) == DT_OK ? sum : -1;
}

int main(int argc, char **argv) {
    dt_ctx *ctx = dt_init(NULL);
    dt_mesh *mesh = dt_mesh_new(ctx, "*");
    dt_tensor *x = dt_relu(dt_ones(ctx, DT_SHAPE(12), .mesh = mesh, .place = "S(0)"));
    if (!x || argc < 2)
        return dt_close(ctx);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (dt_rank(ctx) == dt_world(ctx) - 1 && access(argv[1], F_OK) != 0)
        usleep(5000);
    double sum = argc > 2 && !strcmp(argv[2], "test") ? sum_tested(ctx, 1) : dt_item(dt_sum(x));
    printf("sum %g\n", sum);
    return dt_close(ctx);
}
